"""Nested values as JSON and tensors by name: what files of tensors can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adjoint.tensors import Tensor
from adjoint.tensors.conversion import a

__all__ = ["pack", "unpack"]

Plain = bool | int | float | str | None


def pack(value: Any, path: str, tensors: dict[str, Any], operation: str) -> Any:
    """The value as JSON, its tensors and arrays put aside under the path that leads to them, with primes where that is taken.

    It is made of numbers, text, None, tensors, arrays, lists, tuples, dictionaries with keys that are numbers or text, and of
    objects with a `state_dict()`, which is what is kept of them. Raises TypeError for anything else.
    """
    if isinstance(value, Plain):
        return value
    if isinstance(value, Tensor | np.ndarray):
        while path in tensors:  # {"a": {"b": ...}, "a.b": ...} and {1: ..., "1": ...} have two of one path
            path += "'"
        tensors[path] = value
        return {"tensor": path, "array": isinstance(value, np.ndarray)}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        strange = [key for key in value if not isinstance(key, Plain)]
        if strange:
            raise TypeError(f"{operation}: {path or 'it'} has a key {strange[0]!r}; keys are numbers or text")
        return {"items": [[key, pack(item, _join(path, key), tensors, operation)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        items = [pack(item, _join(path, number), tensors, operation) for number, item in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    if hasattr(value, "state_dict"):
        return pack(value.state_dict(), path, tensors, operation)
    raise TypeError(f"{operation}: {path or 'it'} is {a(value)}, which can't be saved")


def _join(path: str, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def unpack(value: Any, tensors: Mapping[str, Tensor], *, arrays: bool = True) -> Any:
    """What was packed; without `arrays`, with tensors in place of arrays.

    Raises LookupError, TypeError or ValueError for what `pack` didn't write.
    """
    if isinstance(value, list):
        return [unpack(item, tensors, arrays=arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        found = tensors[value["tensor"]]
        return found.numpy() if value["array"] and arrays else found
    if "tuple" in value:
        return tuple(unpack(item, tensors, arrays=arrays) for item in value["tuple"])
    return {key: unpack(item, tensors, arrays=arrays) for key, item in value["items"]}
