"""Tensors in files of the safetensors format (https://huggingface.co/docs/safetensors): numbers and names, no code."""

from __future__ import annotations

import functools
import json
import os
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adjoint import _files, _optional
from adjoint.nn import Module
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray
from adjoint.tensors.located import at_user

from .bits import as_bits, from_bits, from_eight_bits
from .nesting import pack, unpack
from .torch_files import is_torch_file, load_torch

__all__ = ["load", "load_metadata", "save"]

METADATA = "__metadata__"  # where the format keeps text
STRUCTURE = "adjoint structure"  # the metadata that holds the JSON of a nested value
CHECKSUM = "crc32"  # the metadata that tells a flipped bit, which the format itself doesn't


def save(path: str | os.PathLike[str], tensors: Any, *, metadata: Mapping[str, str] | None = None) -> None:
    """Write tensors to a safetensors file: a module's, a dictionary of them by name, or any nesting of values.

    A module, or a dictionary of nothing but tensors and arrays, makes a file that any reader of the format understands. Else
    the value may be made of tensors, arrays, numbers, text, None, lists, tuples, dictionaries, and objects with a
    `state_dict()`, which is what is kept of them; its structure goes into the file's text, and `load` gives it back.

    `metadata` is text that travels with them, beside a checksum. The file appears whole or not at all, and an old one of
    that name stays until the new one is complete. Raises OSError where it can't be written, TypeError for what can't be
    saved or has a dtype that the format lacks, ImportError without the package `safetensors`.

    >>> import adjoint as ad, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ad.save(f"{folder}/run.safetensors", {"weights": [ad.ones(2), ad.zeros(1)], "epoch": 3})
    ...     ad.load(f"{folder}/run.safetensors")
    {'weights': [Tensor([1., 1.]), Tensor([0.])], 'epoch': 3}
    """
    if isinstance(tensors, str | os.PathLike):
        raise TypeError(f"save: the path comes first: ad.save({os.fspath(tensors)!r}, tensors){at_user()}")
    library = _optional.load("safetensors.numpy", purpose="saving weights", extra="train")
    named = tensors.state_dict() if isinstance(tensors, Module) else tensors
    text = dict(metadata or {})
    if not _is_flat(named):
        named, text[STRUCTURE] = _flattened(named)
    if METADATA in named:
        raise ValueError(f"save: no tensor can have the name {METADATA!r}, under which the format keeps its text")
    # The writer takes the bytes as they lie in memory.
    values = {str(name): asarray(value) for name, value in named.items()}
    arrays = {name: as_bits(np.array(value.numpy(), order="C")) for name, value in values.items()}
    halves = {name for name, value in values.items() if value.dtype.name == "bfloat16"}
    try:
        data = library.save(arrays, {**text, CHECKSUM: _checksum(arrays)})
    except Exception as error:  # the library raises various kinds for dtypes that the format lacks
        raise TypeError(f"save: these tensors can't be written to a safetensors file: {error}") from error
    with _files.replacing(path) as file:
        header, rest = _ordered(data, halves)
        file.write(header)
        file.write(rest)


def _is_flat(value: Any) -> bool:
    """Whether these are tensors by name and nothing else."""
    return isinstance(value, Mapping) and all(
        isinstance(key, str) and isinstance(item, Tensor | np.ndarray | np.generic) for key, item in value.items()
    )


def _flattened(value: Any) -> tuple[dict[str, Any], str]:
    """The tensors of a nested value by their paths, and its structure."""
    tensors: dict[str, Any] = {}
    try:
        return tensors, json.dumps(pack(value, "", tensors, "save"))
    except RecursionError as error:
        raise ValueError("save: the value contains itself, or is nested too deeply") from error


def _ordered(data: bytes, halves: set[str]) -> tuple[bytes, memoryview]:
    """A file's header, its text in the order of the names, and the rest: the library's writer orders it by chance. The tensors
    `halves`, which were given to it as bits, are of bfloat16."""
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    text = header.pop(METADATA, {})
    for name in halves:
        header[name]["dtype"] = "BF16"
    entries = sorted(header.items(), key=lambda item: (item[1]["data_offsets"], item[0]))
    written = json.dumps({METADATA: dict(sorted(text.items())), **dict(entries)}, separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)  # the format asks for data that begin at a multiple of 8
    return len(written).to_bytes(8, "little") + written, memoryview(data)[end:]


def load(path: str | os.PathLike[str]) -> Any:
    """What `save` wrote: tensors by name, to be given to `load_state_dict`, or a nested value. Arrays come back as tensors.

    It reads any safetensors file, also the parts of one that a `*.safetensors.index.json` names, and files of plain tensors that
    PyTorch's `torch.save` wrote, in which what requires gradients becomes a variable: no code in them is run. Floats of 8 bits
    become float32, which holds them exactly, and so does bfloat16 where the package ml_dtypes isn't there. Raises OSError where
    it can't be read, ValueError when it is damaged, cut short or something else, ImportError without the package `safetensors`.
    """
    if os.fspath(path).endswith(".json"):
        return _load_parts(Path(path))
    with open(path, "rb") as file:
        start = file.read(9)
    if is_torch_file(start) and not os.fspath(path).endswith(".npz"):
        return load_torch(path)
    tensors, metadata = load_with_metadata(path)
    if STRUCTURE not in metadata:
        return tensors
    try:
        return unpack(json.loads(metadata[STRUCTURE]), tensors, arrays=False)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged: what it says of its tensors can't be read ({error!r})") from error


def _load_parts(path: Path) -> dict[str, Tensor]:
    """The tensors of a model in several files, by the index beside them."""
    try:
        index = json.loads(path.read_text())["weight_map"]
        files = sorted(set(index.values()))
        if any(Path(file).name != file for file in files):
            raise ValueError("it names files in other folders")
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is no index of safetensors files: {error}") from error
    tensors: dict[str, Tensor] = {}
    for file in files:
        tensors.update(load_with_metadata(path.parent / file)[0])
    missing = sorted(set(index) - set(tensors))
    if missing:
        raise ValueError(f"{path}: its files have no {', '.join(missing[:5])}")
    return tensors


def load_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """The text that travels with the tensors of a safetensors file. Raises what `load` raises."""
    return load_with_metadata(path)[1]


def load_with_metadata(path: str | os.PathLike[str]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors in a safetensors file, and the text that travels with them. Raises what `load` raises."""
    library = _optional.load("safetensors.numpy", purpose="loading weights", extra="train")
    data = Path(path).read_bytes()
    _refuse_other_formats(path, data)
    try:
        readable, bits = _as_bits(data)
        arrays = library.load(readable)
        # The library's reader of bytes passes over the metadata; a length of 8 bytes precedes the header, which is JSON.
        metadata = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")]).get(METADATA) or {}
        if any(type(text) is not str for text in metadata.values()):
            raise ValueError("its metadata isn't text")
    except Exception as error:  # the library's own class, and others from NumPy for dtypes that it lacks
        raise ValueError(f"{path} is not a safetensors file, or is damaged or cut short: {error}") from error
    if CHECKSUM in metadata and metadata[CHECKSUM] != _checksum(arrays):
        raise ValueError(f"{path} is damaged: its tensors don't have the checksum that was saved with them")
    # by name: the library's reader gives them in an order that differs from one run to the next
    arrays = {name: NAMELESS[bits[name]][1](array) if name in bits else array for name, array in sorted(arrays.items())}
    return {name: asarray(array) for name, array in arrays.items()}, metadata


def _refuse_other_formats(path: str | os.PathLike[str], data: bytes) -> None:
    """Raise ValueError for what NumPy and PyTorch write, with the way to read it."""
    name = os.fspath(path)
    numpys = name.endswith((".npy", ".npz"))
    if numpys or data.startswith(b"\x93NUMPY"):
        raise ValueError(
            f"{name} is a file of NumPy's, not of safetensors: ad.tensor(np.load({name!r})) reads an .npy, and "
            f"{{k: ad.tensor(v) for k, v in np.load({name!r}).items()}} an .npz{at_user()}"
        )


# What NumPy has no dtype for: what its bits are called, and what makes numbers of them.
NAMELESS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "BF16": ("U16", from_bits),
    **{
        word: ("U8", functools.partial(from_eight_bits, name=name))
        for word, name in (("F8_E4M3", "float8_e4m3fn"), ("F8_E5M2", "float8_e5m2"), ("F8_E8M0", "float8_e8m0fnu"))
    },
}


def _as_bits(data: bytes) -> tuple[bytes, dict[str, str]]:
    """The file with dtypes that NumPy lacks called by what their bits are; and what they are, by the names of the tensors."""
    end = 8 + int.from_bytes(data[:8], "little")
    if b"BF16" not in data[8:end] and b"F8_" not in data[8:end]:
        return data, {}
    header = json.loads(data[8:end])
    found = {name: entry["dtype"] for name, entry in header.items() if name != METADATA and entry["dtype"] in NAMELESS}
    for name, dtype in found.items():
        header[name]["dtype"] = NAMELESS[dtype][0]
    written = json.dumps(header).encode()
    return len(written).to_bytes(8, "little") + written + data[end:], found


def _checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """The CRC-32 of the tensors' bytes, in the order of their names."""
    total = 0
    for _, array in sorted(arrays.items()):
        total = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"", total)
    return f"{total:08x}"
