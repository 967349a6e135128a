"""NumPy's pooling: cell by cell of the window, for all windows at once.

A maximum or a sum over a window is one over its rows and then over its columns, so it takes as many passes as a window has
rows and columns together, not cells. Cells outside the image take part in nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from adjoint.primitives.pooling import Pool


def _stretches(pool: Pool, axis: int) -> list[tuple[slice, slice]]:
    """For each cell along an axis: the windows that have it inside the image, and the pixels that they read there."""
    stride, before, extent = pool.stride[axis], pool.before[axis], pool.extents[axis]
    found = []
    for cell in range(pool.sizes[axis]):
        offset = cell * pool.dilation[axis] - before
        start = max(0, -(offset // stride))
        stop = max(start, min(pool.counts[axis], -((offset - extent) // stride)))
        first = start * stride + offset
        found.append((slice(start, stop), slice(first, first + (stop - start) * stride, stride)))
    return found


def _cells(pool: Pool) -> Iterator[tuple[int, Any, Any]]:
    """For each cell of a window: its number, the windows that have it inside, and the pixels, as indices."""
    along = [_stretches(pool, axis) for axis in range(pool.rank)]
    for number, places in enumerate(itertools.product(*along)):
        yield number, (..., *[windows for windows, _ in places]), (..., *[pixels for _, pixels in places])


def _overlap(pool: Pool) -> bool:
    return any(d * (k - 1) + 1 > s for k, s, d in zip(pool.sizes, pool.stride, pool.dilation, strict=True))


def _covers(stretches: list[tuple[slice, slice]], count: int) -> bool:
    """Whether every window has every cell inside the image."""
    return all(windows.stop - windows.start == count for windows, _ in stretches)


def _reduced(x: Any, pool: Pool, axis: int, ufunc: Any, start: float) -> Any:
    """A ufunc over the windows' cells along an axis, counted from the end: -1 columns."""
    stretches, count = _stretches(pool, axis + pool.rank), pool.counts[axis]
    tail: Any = (slice(None),) * (-1 - axis)
    parts = [x[(..., pixels, *tail)] for _, pixels in stretches]
    if _covers(stretches, count):
        if len(parts) == 1:
            return parts[0]
        result = ufunc(parts[0], parts[1])
        for part in parts[2:]:
            ufunc(result, part, out=result)
        return result
    shape = (*x.shape[:axis], count, *x.shape[x.ndim + axis + 1 :])
    result = np.full(shape, start, x.dtype)
    for part, (windows, _) in zip(parts, stretches, strict=True):
        target = result[(..., windows, *tail)]
        ufunc(target, part, out=target)
    return result


def _along(x: Any, pool: Pool, ufunc: Any, start: float) -> Any:
    """A ufunc over the windows' rows, then over their columns."""
    result = x
    for axis in range(-pool.rank, 0):
        result = _reduced(result, pool, axis, ufunc, start)
    return np.array(result) if np.may_share_memory(result, x) else result


def largest(x: Any, pool: Pool) -> Any:
    """The largest of each window."""
    return _along(x, pool, np.maximum, -np.inf)


def total(x: Any, pool: Pool) -> Any:
    """The sum of each window."""
    return _along(x, pool, np.add, 0.0)


def spread(u: Any, pool: Pool) -> Any:
    """The adjoint of `total`: columns first, then rows."""
    result = u
    for axis in range(-1, -pool.rank - 1, -1):
        tail: Any = (slice(None),) * (-1 - axis)
        extent = pool.extents[axis]
        wide = np.zeros((*result.shape[:axis], extent, *result.shape[result.ndim + axis + 1 :]), u.dtype)
        for windows, pixels in _stretches(pool, axis + pool.rank):
            wide[(..., pixels, *tail)] += result[(..., windows, *tail)]
        result = wide
    return result


def positions(x: Any, pool: Pool, dtype: Any) -> Any:
    """The number of each window's first cell that holds the largest number; of the last NaN, if there is one."""
    top = largest(x, pool)
    found = np.zeros(top.shape, dtype)
    cells = list(_cells(pool))
    for number, windows, pixels in reversed(
        cells
    ):  # 0 where this cell is the largest, else one more than from the next on
        if number + 1 < len(cells):
            found += 1
        part = found[windows]
        np.multiply(part, x[pixels] != top[windows], out=part)
    if np.isnan(top).any():
        for number, windows, pixels in cells:
            np.copyto(found[windows], dtype.type(number), where=np.isnan(x[pixels]))
    return found


def _bits(x: Any) -> Any:
    return np.ascontiguousarray(x).view(f"i{x.dtype.itemsize}")


def take(x: Any, positions: Any, pool: Pool) -> Any:
    """The number in one cell of each window. Numbers are selected by their bits, in a third of `np.where`'s time."""
    result = np.zeros(positions.shape, x.dtype)
    given, target = _bits(x), _bits(result)
    for number, windows, pixels in _cells(pool):
        here = np.negative(positions[windows] == number, dtype=given.dtype)  # all bits, or none
        target[windows] |= given[pixels] & here
    return result


def put(u: Any, positions: Any, pool: Pool) -> Any:
    """The adjoint of `take`."""
    result = np.zeros(pool.over(u.shape, pool.extents), u.dtype)
    given, target = _bits(u), _bits(result)
    overlap = _overlap(pool)
    for number, windows, pixels in _cells(pool):
        here = np.negative(positions[windows] == number, dtype=given.dtype)
        if overlap:
            result[pixels] += (given[windows] & here).view(u.dtype)
        else:
            np.bitwise_and(given[windows], here, out=target[pixels])
    return result
