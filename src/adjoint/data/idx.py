"""The IDX format, in which MNIST and its relatives travel.

Four bytes (0, 0, element type, number of axes), the axes' lengths as big-endian 32-bit integers, then the elements,
big-endian, the last axis fastest (http://yann.lecun.com/exdb/mnist/).
"""

from __future__ import annotations

import gzip
import io
import math
import os
import zlib
from pathlib import Path

import numpy as np

__all__ = ["parse_idx", "read_idx"]

HEADER = 4 + 4 * 255  # bytes, at most
LARGEST = 1 << 31  # bytes that are unpacked from a gzip file
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
    """The contents of a gzipped IDX file. Raises ValueError when it is damaged or cut short; `name` is for the message.

    No more is unpacked than its header promises, and one byte to tell that there is more.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            start = file.read(HEADER)
            rest = max(0, _promised(start) + 1 - len(start))
            if rest > LARGEST:
                raise ValueError(f"{name} promises {rest:,} bytes; more than {LARGEST:,} are not unpacked")
            return start + file.read(rest)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{name} is damaged or cut short, or isn't a gzip file: {error}") from error


def _promised(start: bytes) -> int:
    """How many bytes a file has that starts like this; 0 if it isn't an IDX file."""
    if len(start) < 4 or start[:2] != b"\0\0" or start[2] not in DTYPES:
        return 0
    axes = start[3]
    lengths: list[int] = np.frombuffer(start, ">u4", min(axes, (len(start) - 4) // 4), 4).tolist()
    return 4 + 4 * axes + int(math.prod(lengths)) * int(np.dtype(DTYPES[start[2]]).itemsize)


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
