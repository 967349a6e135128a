"""What pickles say of NumPy's numbers and arrays, read without calling what they name: a checkpoint's best accuracy, a state of
random numbers."""

from __future__ import annotations

import math
import pickle
import re
from typing import Any

import numpy as np

__all__ = ["NAMES", "Array", "Kind"]

CODE = re.compile(r"b1|[iu][1248]|f[248]|c(8|16)")  # of numbers alone: texts and objects aren't read


class Kind:
    """A dtype, whose byte order is told after it is made."""

    __slots__ = ("code", "order")

    def __init__(self, code: Any, align: Any = False, copy: Any = True) -> None:
        if not isinstance(code, str) or CODE.fullmatch(code) is None:
            raise pickle.UnpicklingError(f"it holds NumPy arrays of the kind {code!r}; numbers are read")
        self.code, self.order = code, "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if len(state) < 2 or state[1] not in ("<", ">", "|", "="):
            raise pickle.UnpicklingError("a NumPy dtype in an unknown byte order")
        self.order = state[1]

    def read(self, data: Any, shape: tuple[Any, ...], by_columns: bool) -> np.ndarray[Any, Any]:
        """The array of these bytes, in this machine's order. Raises pickle.UnpicklingError where they are not as many."""
        kind = np.dtype(self.order + self.code)
        sizes = isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
        if not isinstance(data, (bytes, bytearray)) or not sizes or math.prod(shape) * kind.itemsize != len(data):
            raise pickle.UnpicklingError(f"a NumPy array of shape {shape} whose bytes are others")
        array = np.frombuffer(data, kind).reshape(shape, order="F" if by_columns else "C")
        return array.astype(kind.newbyteorder("="))


class Array:
    """An array, whose contents are told after it is made."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]  # as an array has none: it is no key

    def __init__(self, kind: Any, shape: Any, code: Any) -> None:
        if kind != "numpy.ndarray":
            raise pickle.UnpicklingError("a NumPy array of another class")
        self.value: np.ndarray[Any, Any] | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, by_columns, data = state
        self.value = _kind(kind).read(data, shape, bool(by_columns))


def _kind(kind: Any) -> Kind:
    if not isinstance(kind, Kind):
        raise pickle.UnpicklingError("a NumPy array without a dtype")
    return kind


def _dtype(*args: Any) -> Kind:  # not the class itself, which a pickle could try to change
    return Kind(*args)


def _array(*args: Any) -> Array:
    return Array(*args)


def _number(kind: Any, data: Any = b"") -> Any:
    return _kind(kind).read(data, (), False)[()]


def _from_buffer(data: Any, kind: Any, shape: Any, order: Any, axes: Any = None) -> np.ndarray[Any, Any]:
    if axes is not None or order not in ("C", "F"):
        raise pickle.UnpicklingError("a NumPy array in an unknown order")
    return _kind(kind).read(data, shape, order == "F")


OTHERS = {"multiarray._reconstruct": _array, "multiarray.scalar": _number, "numeric._frombuffer": _from_buffer}
NAMES: dict[str, Any] = {
    "numpy.dtype": _dtype,
    "numpy.ndarray": "numpy.ndarray",
    **{f"numpy.{core}.{name}": f for core in ("core", "_core") for name, f in OTHERS.items()},
}
