"""The IDX format, in which MNIST and its relatives travel.

Four bytes (0, 0, element type, number of axes), the axes' lengths as big-endian 32-bit integers, then the elements,
big-endian, the last axis fastest (http://yann.lecun.com/exdb/mnist/).
"""

from __future__ import annotations

import gzip
import math
import os
import zlib
from pathlib import Path

import numpy as np

__all__ = ["parse_idx", "read_idx"]

DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: str | os.PathLike[str]) -> np.ndarray:
    """The array in an IDX file, gzipped if the name ends in `.gz`, in the machine's byte order.

    Raises FileNotFoundError, and ValueError for a file that is damaged, cut short, or something else.
    """
    data = Path(path).read_bytes()
    if Path(path).suffix == ".gz":
        data = unzip(data, path)
    return parse_idx(data, path)


def unzip(data: bytes, name: str | os.PathLike[str]) -> bytes:
    """The contents of a gzip file. Raises ValueError when it is damaged or cut short; `name` is for the message."""
    try:
        return gzip.decompress(data)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name} is damaged or cut short, or isn't a gzip file: {error}") from error


def parse_idx(data: bytes, name: str | os.PathLike[str]) -> np.ndarray:
    """The array that these bytes are in the IDX format. Raises ValueError, naming `name`, when they aren't."""
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in DTYPES:
        raise ValueError(f"{name} isn't an IDX file: it starts with {data[:4].hex(' ') or 'nothing'}")
    dtype, axes = np.dtype(DTYPES[data[2]]), data[3]
    start = 4 + 4 * axes
    if len(data) < start:
        raise ValueError(f"{name} is cut short: {len(data)} bytes don't hold the lengths of {axes} axes")
    shape = tuple(int(length) for length in np.frombuffer(data, ">u4", axes, 4))
    expected = start + math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        state = "is cut short" if len(data) < expected else "has bytes after its end"
        raise ValueError(
            f"{name} {state}: shape {shape} of {dtype.name} takes {expected} bytes, the file has {len(data)}"
        )
    array = np.frombuffer(data, dtype, offset=start).reshape(shape)
    return array.astype(dtype.newbyteorder("="), copy=False)
