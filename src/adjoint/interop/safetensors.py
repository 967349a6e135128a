"""Tensors in files of the safetensors format (https://huggingface.co/docs/safetensors): numbers and names, no code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from adjoint import _files, _optional
from adjoint.nn import Module
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray

__all__ = ["load", "save"]


def save(
    path: str | os.PathLike[str], tensors: Module | Mapping[str, Any], *, metadata: Mapping[str, str] | None = None
) -> None:
    """Write a module's parameters and buffers, or tensors and arrays by name, to a safetensors file.

    `metadata` is text that travels with them. The file appears whole or not at all, and an old one of that name stays
    until the new one is complete. Raises OSError where it can't be written, TypeError for what is no tensor or has a
    dtype that the format lacks, ImportError without the package `safetensors`.
    """
    library = _optional.load("safetensors.numpy", purpose="saving weights", extra="train")
    named = tensors.state_dict() if isinstance(tensors, Module) else tensors
    if not isinstance(named, Mapping):
        raise TypeError(f"save: expected a module or a dictionary of tensors, got {type(named).__name__}")
    arrays = {}
    for name, value in named.items():
        if not isinstance(value, Tensor | np.ndarray | np.generic | int | float):
            raise TypeError(f"save: {name!r} is a {type(value).__name__}; only tensors and arrays can be saved")
        # The writer takes the bytes as they lie in memory.
        arrays[str(name)] = np.array(asarray(value).numpy(), order="C")
    try:
        data = library.save(arrays, dict(metadata) if metadata else None)
    except Exception as error:  # the library raises various kinds for dtypes that the format lacks
        raise TypeError(f"save: these tensors can't be written to a safetensors file: {error}") from error
    with _files.replacing(path) as file:
        file.write(data)


def load(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """The tensors in a safetensors file, by name, to be given to `load_state_dict`.

    Raises OSError where it can't be read, ValueError when it is damaged, cut short or something else, ImportError
    without the package `safetensors`.
    """
    library = _optional.load("safetensors.numpy", purpose="loading weights", extra="train")
    data = Path(path).read_bytes()
    try:
        arrays = library.load(data)
    except Exception as error:  # the library's own class, and others from NumPy for dtypes that it lacks
        raise ValueError(f"{path} is not a safetensors file, or is damaged or cut short: {error}") from error
    return {name: asarray(array) for name, array in arrays.items()}
