"""Order along an axis: sorted values, the indices that sort, and those of the first few.

Equal elements keep their order, NaN comes last, or first if the order is descending. NumPy sorts values and, in no particular
order of equal ones, indices with vector instructions; what is equal is put right afterwards, which takes less time than a stable
sort of all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.dtypes import int64
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives.core import ops, register
from adjoint.shapes import Shape

__all__ = ["ARGSORT", "LEADING", "SELECTED", "SORT", "argsort", "leading", "selected", "sort"]

Array = np.ndarray[Any, Any]

QUICK_FROM = 64  # elements of a line
MOST_SELECTED = 8  # places of a line that are found each for itself
NUMPYS = frozenset("biuf")  # the kinds of dtypes that NumPy's quick sorts know


def _order(x: Array, axis: int) -> Array:
    """The indices that sort, ascending."""
    if x.shape[axis] < QUICK_FROM or x.dtype.kind not in NUMPYS:
        return np.argsort(x, axis, kind="stable")
    if axis != x.ndim - 1:
        return np.moveaxis(_order(np.ascontiguousarray(np.moveaxis(x, axis, -1)), x.ndim - 1), -1, axis)
    order = np.argsort(x, -1)
    ordered = np.take_along_axis(x, order, -1)
    equal = ordered[..., 1:] == ordered[..., :-1]
    if x.dtype.kind == "f":
        equal |= np.isnan(ordered[..., :-1])  # behind NaN comes nothing else
    if not equal.any():
        return order
    # an element's run of equal ones by number, and its index: sorted as one number, runs stay where they are
    n = x.shape[-1]
    first = np.ones(order.shape, bool)
    first[..., 1:] = ~equal
    shared = ~first
    shared[..., :-1] |= equal
    at = np.flatnonzero(shared)
    keys = np.cumsum(first.reshape(-1), dtype=np.int64)[at] * n
    keys += order.reshape(-1)[at]
    keys.sort()
    order.reshape(-1)[at] = keys % n
    return order


def _argsort_kernel(attributes: tuple[int, bool], type: Any) -> Any:
    axis, descending = attributes
    if not descending:
        return lambda x: _order(x, axis)

    def kernel(x: Any) -> Any:
        if x.dtype.kind == "f" and x.shape[axis] < QUICK_FROM and not np.isnan(x.sum()):  # or infinities of both signs
            return np.argsort(-x, axis, kind="stable")
        # equal elements are the other way round twice
        return x.shape[axis] - 1 - np.flip(_order(np.flip(x, axis), axis), axis)

    return kernel


ARGSORT = Primitive("argsort", _argsort_kernel, swallows=True)


@register
def argsort(x: Node, axis: int, descending: bool) -> Node:
    """The indices that sort along an axis; equal elements keep their order, NaN comes last (first if descending)."""
    if x.dtype.kind == "c":
        raise TypeError("argsort: complex numbers have no order")
    return record(ARGSORT, (x,), (axis, descending), array_type(x.shape, int64))


def _sort_kernel(attributes: tuple[int, bool], type: Any) -> Any:
    axis, descending = attributes
    indices = _argsort_kernel(attributes, type)

    def kernel(x: Any) -> Any:
        if x.dtype.kind not in NUMPYS or _has_both_zeros(x):
            return np.take_along_axis(x, indices(x), axis)
        ordered = np.sort(x, axis)
        return np.flip(ordered, axis) if descending else ordered

    return kernel


def _has_both_zeros(x: Array) -> bool:
    """Whether there are zeros of both signs, which are equal but not the same."""
    if x.dtype.kind != "f":
        return False
    zero = x == 0
    if not zero.any():
        return False
    signs = np.signbit(x[zero])
    return bool(signs.any() and not signs.all())


def _put_back(u: Node, order: Node, axis: int, shape: Shape) -> Node:
    """Each cotangent goes to the element that came there, by its index along the axis."""
    grid = [
        order
        if i == axis
        else ops.broadcast_to(ops.data(np.arange(n).reshape(n, *(1,) * (len(shape) - 1 - i))), u.shape)
        for i, n in enumerate(shape)
    ]
    return ops.scatter_add(u, grid, shape)


def _sort_rule(u: Node, out: Node, x: Node) -> Node:
    axis, descending = out.attributes
    return _put_back(u, argsort(x, axis, descending), axis, x.shape)


SORT = Primitive("sort", _sort_kernel, (_sort_rule,))


@register
def sort(x: Node, axis: int, descending: bool) -> Node:
    """The elements in order along an axis, as `argsort` says."""
    if x.dtype.kind == "c":
        raise TypeError("sort: complex numbers have no order")
    return record(SORT, (x,), (axis, descending), x.type)


def _selected_kernel(attributes: tuple[tuple[int, ...], int], type: Any) -> Any:
    places, axis = attributes
    ordered = _sort_kernel((axis, False), type)

    def kernel(x: Any) -> Any:
        few = len(places) <= MOST_SELECTED and x.shape[axis] >= QUICK_FROM
        if few and x.dtype.kind in NUMPYS and not _has_both_zeros(x):
            return np.partition(x, places, axis).take(places, axis)
        return ordered(x).take(places, axis)

    return kernel


def _selected_rule(u: Node, out: Node, x: Node) -> Node:
    places, axis = out.attributes
    order = argsort(x, axis, descending=False)
    parts = [
        ops.slice_(order, tuple([(k, 1, 1) if i == axis else (0, n, 1) for i, n in enumerate(x.shape)])) for k in places
    ]
    return _put_back(u, ops.concat(parts, axis), axis, x.shape)


SELECTED = Primitive("selected", _selected_kernel, (_selected_rule,))


@register
def selected(x: Node, places: tuple[int, ...], axis: int) -> Node:
    """The elements at some places of what `sort` gives, without sorting all."""
    if x.dtype.kind == "c":
        raise TypeError("selected: complex numbers have no order")
    shape = tuple([len(places) if i == axis else n for i, n in enumerate(x.shape)])
    return record(SELECTED, (x,), (places, axis), array_type(shape, x.dtype))


def _leading_kernel(attributes: tuple[int, int, bool], type: Any) -> Any:
    count, axis, descending = attributes
    everything = _argsort_kernel((axis, descending), type)

    def kernel(x: Any) -> Any:
        n = x.shape[axis]
        if n < QUICK_FROM or 2 * count > n or not count or x.dtype.kind not in NUMPYS:
            return everything(x) if count == n else everything(x).take(range(count), axis)
        rows = np.ascontiguousarray(np.moveaxis(x, axis, -1))
        kth = n - count if descending else count - 1
        last = np.partition(rows, kth, -1)[..., kth, None]
        if x.dtype.kind == "f" and np.isnan(rows.sum(-1)).any():  # or infinities of both signs
            return everything(x).take(range(count), axis)
        at = np.flatnonzero(rows >= last if descending else rows <= last)
        if len(at) != last.size * count:  # of those that equal the last one, the first are taken
            line = at // n
            level = rows.reshape(-1)[at] == last.reshape(-1)[line]
            before, equal = [np.bincount(line[x], minlength=last.size) for x in (~level, level)]
            rank = np.cumsum(level) - (np.cumsum(equal) - equal)[line]  # among the equal ones of its line, from 1
            at = at[~level | (rank <= (count - before)[line])]
        places = (at % n).reshape(*rows.shape[:-1], count)
        order = _argsort_kernel((rows.ndim - 1, descending), type)(np.take_along_axis(rows, places, -1))
        return np.moveaxis(np.take_along_axis(places, order, -1), -1, axis)

    return kernel


LEADING = Primitive("leading", _leading_kernel, swallows=True)


@register
def leading(x: Node, count: int, axis: int, descending: bool) -> Node:
    """The first so many of the indices that sort along an axis."""
    if x.dtype.kind == "c":
        raise TypeError("leading: complex numbers have no order")
    shape = tuple([count if i == axis else n for i, n in enumerate(x.shape)])
    return record(LEADING, (x,), (count, axis, descending), array_type(shape, int64))
