"""`np.r_` and `np.c_` of tensors."""

from __future__ import annotations

from typing import Any

import numpy

from adjoint.numpy.standing import holds_tensor
from adjoint.tensors import functions as f
from adjoint.tensors.composing import as_tensor
from adjoint.tensors.conversion import stacked
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor


class Concatenator:
    """What `r_[...]` and `c_[...]` do: numbers, ranges, arrays and lists, joined along an axis.

    axis, ndmin, start: along which axis parts are joined, how many axes they have at least, and where the axes of a part with
    fewer come among them, -1 for last. A string as the first part gives them, as in NumPy ("0,2,1"). Raises ValueError for
    other strings (NumPy's matrices among them), for one in another place, and where shapes don't agree.
    """

    def __init__(self, axis: int, ndmin: int, start: int) -> None:
        self.axis, self.ndmin, self.start = axis, ndmin, start

    def __getitem__(self, key: Any) -> Tensor:
        parts = key if isinstance(key, tuple) else (key,)
        if parts and isinstance(parts[0], str):
            return self._directed(parts[0])[parts[1:]]
        if not parts or any(isinstance(part, str) for part in parts):
            raise ValueError("np.r_: takes parts to join, after a string that gives axes if there is one")
        arrays = [_values(part) for part in parts]
        # Beside an array a Python number doesn't decide the dtype.
        strong = [not isinstance(part, (int, float, complex)) for part in parts]
        dtype = f.result_type(
            *(x if own or not any(strong) else y for x, y, own in zip(arrays, parts, strong, strict=True))
        )
        return f.concat([self._raised(f.astype(x, dtype)) for x in arrays], axis=self.axis)

    def _directed(self, text: str) -> Concatenator:
        try:
            numbers = [int(number) for number in text.split(",")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise ValueError(f"np.r_: the string is 'axis', 'axis,ndmin' or 'axis,ndmin,start', got {text!r}")
        return Concatenator(*numbers, *(self.axis, self.ndmin, self.start)[len(numbers) :])

    def _raised(self, x: Tensor) -> Tensor:
        """A part with at least as many axes as there have to be."""
        if x.ndim == 0:
            return f.reshape(x, (1,) * max(self.ndmin, 1))
        missing = self.ndmin - x.ndim
        if missing <= 0:
            return x
        before = missing + 1 + self.start if self.start < 0 else self.start
        if not 0 <= before <= missing:
            raise ValueError(f"np.r_: {missing} axes are added to shape {x.shape}; start can't be {self.start}")
        return f.reshape(x, (1,) * before + x.shape + (1,) * (missing - before))


def _values(part: Any) -> Tensor:
    """The tensor that a part says: a slice is a range, with an imaginary step so many numbers evenly apart."""
    if isinstance(part, (list, tuple)) and holds_tensor(part):
        return wrap(stacked(part))
    if not isinstance(part, slice):
        return as_tensor(part) if holds_tensor(part) else f.asarray(numpy.asarray(part))
    start, step = 0 if part.start is None else part.start, 1 if part.step is None else part.step
    if isinstance(step, complex):
        return f.asarray(numpy.linspace(start, part.stop, int(abs(step))))
    return f.asarray(numpy.arange(start, part.stop, step))
