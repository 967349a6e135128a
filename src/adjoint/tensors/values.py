"""What a tensor gives to who asks for its value: NumPy, Python and print."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from sys import _getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.composites import shaping
from adjoint.primitives import elementwise
from adjoint.tensors.conditions import note
from adjoint.runtime.frozen import VALUE, maker
from adjoint.tensors.conversion import read_only
from adjoint.tensors.leaving import leave, leave_unasked
from adjoint.tensors.located import at_user
from adjoint.tensors.named import Named, recorded
from adjoint.tensors.outside import waits_for_us
from adjoint.tensors.pending import force

if TYPE_CHECKING:
    from adjoint.tensors.tensor import Tensor

__all__ = ["Values", "to_tens"]


def to_tens(t: Any, step: int) -> Any:
    """Integers as the nearest multiples of a step, halves to even ones."""
    wide = t.astype("uint64" if t.dtype.name == "uint64" else "int64")
    if step > 2**62:
        return t * 0
    down = wide // step
    rest = wide - down * step
    up = (rest > step // 2) | ((rest == step // 2) & (down % 2 == 1))
    return ((down + up) * step).astype(t.dtype)


class Values(Named):
    """The part of a tensor that its value concerns. What asks for it evaluates what is pending."""

    __slots__ = ()

    def _array(self) -> Any:
        node = self.node
        if type(node.value) is not np.ndarray:
            force([node])
        return node.value

    def numpy(self) -> np.ndarray[Any, Any]:
        """The value as a NumPy array that shares the tensor's memory. It is read-only, and can't be made writable.

        Raises RuntimeError in a function that is being differentiated by what the tensor depends on.
        """
        node = self.node
        array = node.value if type(node.value) is np.ndarray else self._array()
        if node.tracked:
            leave(node, "numpy()")
        made = maker[0]
        return read_only(array) if made is None else made((VALUE, array))  # type: ignore[no-any-return]

    def item(self) -> Any:
        """The value of a tensor with one element as a Python number.

        Raises ValueError for any other size, RuntimeError in a function that is being differentiated by what it depends on.
        """
        node = self.node
        if type(node.value) is not np.ndarray:
            force([node])
        if node.value.size != 1:
            self._number()
        if node.tracked:
            leave(node, "item()")
        return node.value.item()

    def _number(self) -> Any:
        array = self._array()
        if array.size != 1:
            raise ValueError(f"item: only a tensor with one element has it, this one has shape {self.shape}{at_user()}")
        return array.item()

    def tolist(self) -> Any:
        """The value as nested lists of Python numbers. Raises RuntimeError as `numpy` does."""
        nested = self._array().tolist()
        if self.node.tracked:
            leave(self.node, "tolist()")
        return nested

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if waits_for_us(_getframe(1)):  # then Python asks the tensor, which records the product
            return _held(self)
        array: np.ndarray[Any, Any] = read_only(self._array())
        if self.node.tracked:
            leave_unasked(self.node, "np.asarray()", _getframe(1))
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"cannot give {array.dtype} as {dtype} without a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        array = self._array()
        if self.node.tracked:
            leave_unasked(self.node, "__dlpack__", _getframe(1))
        # A value never changes: who understands read-only memory shares it, others write into what they import, unless they
        # say that they don't.
        versioned = max_version is not None and max_version[0] >= 1
        if copy or (copy is None and not versioned):
            array = np.array(array)
        elif versioned:
            array = read_only(array)
        return array.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        """The module that has the functions of the Array API standard. Raises ValueError for a version unknown to it."""
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
            raise ValueError(f"__array_namespace__: versions up to 2025.12 are known, not {api_version!r}{at_user()}")
        return sys.modules["adjoint"]

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                f"the truth of a tensor with {self.size} elements (shape {self.shape}) is ambiguous; use t.any() or "
                f"t.all(), or ad.where to choose element by element{at_user()}"
            )
        inputs = self.node.inputs
        outcome = bool(self._array().item())
        note(self.node, inputs, outcome)
        return outcome

    def __int__(self) -> int:
        number = self._number()
        if self.node.tracked:
            leave_unasked(self.node, "int()", _getframe(1))
        return int(number)

    def __float__(self) -> float:
        number = self._number()
        if self.node.tracked:
            leave_unasked(self.node, "float()", _getframe(1))
        return float(number)

    def __complex__(self) -> complex:
        number = self._number()
        if self.node.tracked:
            leave_unasked(self.node, "complex()", _getframe(1))
        return complex(number)

    def __round__(self, digits: int | None = None) -> Any:
        """`round(t)`: to integers, halves to even; with digits, to that many decimals, and integers to tens. The derivative
        is 0."""
        if not digits:
            return recorded(elementwise.rint(self.node), _getframe(1))
        if not self.node.dtype.inexact:
            return self if digits > 0 else to_tens(self, 10**-digits)
        up, down = elementwise.multiply, elementwise.divide
        if digits < 0:  # a power of ten of a negative exponent isn't exact
            up, down = down, up
        factor = 10.0 ** abs(digits)
        return recorded(down(elementwise.rint(up(self.node, factor)), factor), _getframe(1))

    # Python's integers lose no derivative: that of a step function is 0

    def __floor__(self) -> int:
        number: float = self._number()
        return math.floor(number)

    def __ceil__(self) -> int:
        number: float = self._number()
        return math.ceil(number)

    def __trunc__(self) -> int:
        number: float = self._number()
        return math.trunc(number)

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return other // self, other % self

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError(f"only an integer tensor with one element can be an index, this one is {self.dtype.name}")
        return int(self._number())

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        frame = _getframe(1)
        return iter([recorded(x, frame) for x in shaping.unstack(self.node, 0)])

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self.size != 1:
            raise TypeError(
                f"format: {spec!r} is for one number, this tensor has shape {self.shape}; take an element, or "
                f"t.tolist(){at_user()}"
            )
        return format(self._number(), spec)


def _held(x: Any) -> np.ndarray[Any, Any]:
    """An array of no axes that holds an object."""
    array = np.empty((), object)
    array[()] = x
    return array
