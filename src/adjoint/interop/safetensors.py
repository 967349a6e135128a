"""Tensors in files of the safetensors format (https://huggingface.co/docs/safetensors): numbers and names, no code."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adjoint import _files, _optional
from adjoint.nn import Module
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray
from adjoint.tensors.located import at_user

__all__ = ["load", "load_metadata", "save"]

METADATA = "__metadata__"  # where the format keeps text
CHECKSUM = "crc32"  # the metadata that tells a flipped bit, which the format itself doesn't


def save(
    path: str | os.PathLike[str], tensors: Module | Mapping[str, Any], *, metadata: Mapping[str, str] | None = None
) -> None:
    """Write a module's parameters and buffers, or tensors and arrays by name, to a safetensors file.

    `metadata` is text that travels with them, beside a checksum. The file appears whole or not at all, and an old one of
    that name stays until the new one is complete. Raises OSError where it can't be written, TypeError for what is no
    tensor or has a dtype that the format lacks, ImportError without the package `safetensors`.
    """
    if isinstance(tensors, str | os.PathLike):
        raise TypeError(f"save: the path comes first: ad.save({os.fspath(tensors)!r}, tensors){at_user()}")
    library = _optional.load("safetensors.numpy", purpose="saving weights", extra="train")
    named = tensors.state_dict() if isinstance(tensors, Module) else tensors
    if not isinstance(named, Mapping):
        raise TypeError(f"save: expected a module or a dictionary of tensors, got {type(named).__name__}")
    if METADATA in named:
        raise ValueError(f"save: no tensor can have the name {METADATA!r}, under which the format keeps its text")
    arrays = {}
    for name, value in named.items():
        if not isinstance(value, Tensor | np.ndarray | np.generic | int | float):
            raise TypeError(f"save: {name!r} is a {type(value).__name__}; only tensors and arrays can be saved")
        # The writer takes the bytes as they lie in memory.
        arrays[str(name)] = np.array(asarray(value).numpy(), order="C")
    try:
        data = library.save(arrays, {**(metadata or {}), CHECKSUM: _checksum(arrays)})
    except Exception as error:  # the library raises various kinds for dtypes that the format lacks
        raise TypeError(f"save: these tensors can't be written to a safetensors file: {error}") from error
    with _files.replacing(path) as file:
        header, rest = _ordered(data)
        file.write(header)
        file.write(rest)


def _ordered(data: bytes) -> tuple[bytes, memoryview]:
    """A file's header, its text in the order of the names, and the rest: the library's writer orders it by chance."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    text = header.pop(METADATA, {})
    entries = sorted(header.items(), key=lambda item: (item[1]["data_offsets"], item[0]))
    written = json.dumps({METADATA: dict(sorted(text.items())), **dict(entries)}, separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)  # the format asks for data that begin at a multiple of 8
    return len(written).to_bytes(8, "little") + written, memoryview(data)[end:]


def load(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """The tensors in a safetensors file, by name, to be given to `load_state_dict`.

    Raises OSError where it can't be read, ValueError when it is damaged, cut short or something else, ImportError
    without the package `safetensors`. Pickles, such as PyTorch's `.pt`, are never read: they may run any code.
    """
    return load_with_metadata(path)[0]


def load_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """The text that travels with the tensors of a safetensors file. Raises what `load` raises."""
    return load_with_metadata(path)[1]


def load_with_metadata(path: str | os.PathLike[str]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors in a safetensors file, and the text that travels with them. Raises what `load` raises."""
    library = _optional.load("safetensors.numpy", purpose="loading weights", extra="train")
    data = Path(path).read_bytes()
    _refuse_other_formats(path, data)
    try:
        arrays = library.load(data)
        # The library's reader of bytes passes over the metadata; a length of 8 bytes precedes the header, which is JSON.
        metadata = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")]).get(METADATA) or {}
        if any(type(text) is not str for text in metadata.values()):
            raise ValueError("its metadata isn't text")
    except Exception as error:  # the library's own class, and others from NumPy for dtypes that it lacks
        raise ValueError(f"{path} is not a safetensors file, or is damaged or cut short: {error}") from error
    if metadata.get(CHECKSUM, _checksum(arrays)) != _checksum(arrays):
        raise ValueError(f"{path} is damaged: its tensors don't have the checksum that was saved with them")
    # by name: the library's reader gives them in an order that differs from one run to the next
    return {name: asarray(array) for name, array in sorted(arrays.items())}, metadata


def _refuse_other_formats(path: str | os.PathLike[str], data: bytes) -> None:
    """Raise ValueError for what NumPy and PyTorch write, with the way to read it."""
    name = os.fspath(path)
    numpys = name.endswith((".npy", ".npz"))
    if numpys or data.startswith(b"\x93NUMPY"):
        raise ValueError(
            f"{name} is a file of NumPy's, not of safetensors: ad.tensor(np.load({name!r})) reads an .npy, and "
            f"{{k: ad.tensor(v) for k, v in np.load({name!r}).items()}} an .npz{at_user()}"
        )
    if data.startswith((b"PK\x03\x04", b"\x80")):
        raise ValueError(
            f"{name} is a pickle, as PyTorch writes them, which may run any code when it is read. Where PyTorch is, write it "
            f"anew: safetensors.torch.save_file(torch.load({name!r}), 'model.safetensors'); ad.load reads that{at_user()}"
        )


def _checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """The CRC-32 of the tensors' bytes, in the order of their names."""
    total = 0
    for _, array in sorted(arrays.items()):
        total = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"", total)
    return f"{total:08x}"
