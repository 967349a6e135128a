"""Checks of arguments that several functions share."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.tensors import Tensor
from adjoint.tensors.located import at_user

__all__ = ["all_below", "check_probability", "check_range", "range_of"]


def check_probability(name: str, p: float) -> None:
    """Raise ValueError unless p is between 0 and 1."""
    if not 0 <= p <= 1:
        raise ValueError(f"{name}: p is a probability, from 0 to 1, not {p!r}{at_user()}")


FEW = 256  # numbers that Python looks through faster than NumPy, which takes microseconds to start


def range_of(numbers: Any) -> tuple[int, int]:
    """The smallest and the largest of some integers."""
    if numbers.size <= FEW:
        listed = numbers.ravel().tolist()
        return min(listed), max(listed)
    return int(numbers.min()), int(numbers.max())


def all_below(numbers: Any, count: int) -> bool:
    """Whether all integers of an array lie in [0, count): without their sign, negative ones are larger than the others."""
    if numbers.size <= FEW:
        return not numbers.size or 0 <= range_of(numbers)[0] <= range_of(numbers)[1] < count
    bits = 8 * numbers.itemsize - (numbers.dtype.kind == "i")
    return bool(numbers.view(f"u{numbers.itemsize}").max() < min(count, 1 << bits))


def check_range(name: str, what: str, numbers: Tensor, count: int, of: str) -> None:
    """Raise IndexError for numbers out of range, if they are known yet; else indexing will, when evaluated."""
    known = numbers.node.value
    if type(known) is not np.ndarray or all_below(known, count):
        return
    low, high = range_of(known)
    if low < 0 or high >= count:
        wrong = low if low < 0 else high
        where = tuple(int(i) for i in np.argwhere(known == wrong)[0])
        raise IndexError(f"{name}: {what} {wrong} at {list(where)} is out of range for {count} {of}{at_user()}")
