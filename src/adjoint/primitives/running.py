"""Running extremes and running sums of exponentials along an axis, and extremes gathered at positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.dtypes import int64
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives.core import ops, register, zeros
from adjoint.primitives.indexing import _checked
from adjoint.primitives.reductions import accumulating
from adjoint.shapes import Shape

__all__ = [
    "PRIMITIVES",
    "SCATTER_EXTREME",
    "cumulative_argextreme",
    "cumulative_extreme",
    "logcumsumexp",
    "scatter_extreme",
]


def _arg_kernel(ufunc: Any, beyond: Any) -> Any:
    def of(axis: int, type: Any) -> Any:
        def kernel(x: Any) -> Any:
            rows = np.moveaxis(x, axis, 0)
            best = ufunc.accumulate(rows, 0)
            new = np.ones(rows.shape, bool)
            if len(rows):
                new[1:] = beyond(best[1:], best[:-1])
                if x.dtype.kind == "f":
                    new[1:] |= np.isnan(best[1:]) & ~np.isnan(best[:-1])
            places = np.arange(len(rows)).reshape(-1, *(1,) * (x.ndim - 1))
            return np.moveaxis(np.maximum.accumulate(np.where(new, places, 0), 0), 0, axis)

        return kernel

    return of


CUMULATIVE_ARGMAX = Primitive("cumulative_argmax", _arg_kernel(np.maximum, np.greater), swallows=True)
CUMULATIVE_ARGMIN = Primitive("cumulative_argmin", _arg_kernel(np.minimum, np.less), swallows=True)


@register
def cumulative_argextreme(x: Node, axis: int, largest: bool) -> Node:
    """The index of the first largest (smallest) element up to each one; of the first NaN from there on."""
    if x.dtype.kind == "c":
        raise TypeError("complex numbers have no order")
    return record(CUMULATIVE_ARGMAX if largest else CUMULATIVE_ARGMIN, (x,), axis, array_type(x.shape, int64))


def _extreme_rule(largest: bool) -> Any:
    def rule(u: Node, out: Node, x: Node) -> Node:
        # each cotangent goes to the element that is the extreme there
        axis, shape = out.attributes, x.shape
        grid = [
            cumulative_argextreme(x, axis, largest)
            if i == axis
            else ops.broadcast_to(ops.data(np.arange(n).reshape(n, *(1,) * (len(shape) - 1 - i))), shape)
            for i, n in enumerate(shape)
        ]
        return ops.scatter_add(u, grid, shape)

    return rule


CUMULATIVE_MAX = Primitive("cumulative_max", accumulating(np.maximum), (_extreme_rule(largest=True),), takes_out=True)
CUMULATIVE_MIN = Primitive("cumulative_min", accumulating(np.minimum), (_extreme_rule(largest=False),), takes_out=True)


@register
def cumulative_extreme(x: Node, axis: int, largest: bool) -> Node:
    """The largest (smallest) of the elements up to each one; NaN from the first NaN on."""
    if x.dtype.kind == "c":
        raise TypeError("complex numbers have no order")
    return record(CUMULATIVE_MAX if largest else CUMULATIVE_MIN, (x,), axis, x.type)


def _logcumsumexp_kernel(axis: int, type: Any) -> Any:
    return lambda x: np.logaddexp.accumulate(x, axis)


def _logcumsumexp_rule(u: Node, out: Node, x: Node) -> Node:
    # the sums over i >= j of u_i exp(y_j - y_i), by a recurrence from the end whose factors are at most 1
    axis = out.attributes
    n = x.shape[axis]
    if not n:
        return u
    here = tuple([(0, n - 1, 1) if i == axis else (0, m, 1) for i, m in enumerate(x.shape)])
    after = tuple([(1, n - 1, 1) if i == axis else (0, m, 1) for i, m in enumerate(x.shape)])
    ratio = ops.exp(_difference(ops.slice_(out, here), ops.slice_(out, after)))
    factors = ops.embed(ratio, x.shape, here)
    total = ops.reverse(ops.linear_recurrence(ops.reverse(factors, axis), ops.reverse(u, axis), axis), axis)
    return ops.scale(total, ops.exp(_difference(x, out)))


def _difference(a: Node, b: Node) -> Node:
    """a - b, 0 where both are the same infinity."""
    return ops.where(ops.equal(a, b), zeros(a.type), ops.subtract(a, b))


LOGCUMSUMEXP = Primitive("logcumsumexp", _logcumsumexp_kernel, (_logcumsumexp_rule,))


@register
def logcumsumexp(x: Node, axis: int) -> Node:
    """log of the sums of exp(x) up to each element, without overflow."""
    return record(LOGCUMSUMEXP, (x,), axis, x.type)


# Extremes at positions ------------------------------------------------------------------------------------------------


def _scatter_extreme_kernel(attributes: tuple[Shape, bool], type: Any) -> Any:
    shape, largest = attributes
    dtype = type.dtype.dtype
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    low = -np.inf if dtype.kind == "f" else False if limits is None else limits.min
    high = np.inf if dtype.kind == "f" else True if limits is None else limits.max
    ufunc, start = (np.maximum, low) if largest else (np.minimum, high)

    def kernel(u: Any, *indices: Any) -> Any:
        out = np.full(shape, start, dtype)
        ufunc.at(out, _checked(indices, shape), u)
        return out

    return kernel


def _scatter_extreme_vjp(u: Node, out: Node, wanted: Any) -> list[Node | None]:
    # those that are the extreme of their position share its cotangent evenly
    values, *indices = out.inputs
    chosen = ops.equal(values, ops.gather(out, indices))
    count = ops.scatter_add(ops.astype(chosen, u.dtype), indices, out.shape)
    share = ops.gather(ops.safe_divide(u, count), indices)
    return [ops.where(chosen, share, zeros(values.type)), *(None for _ in indices)]


SCATTER_EXTREME = Primitive("scatter_extreme", _scatter_extreme_kernel, _scatter_extreme_vjp)


@register
def scatter_extreme(u: Node, indices: list[Node], shape: Shape, largest: bool) -> Node:
    """The largest (smallest) of the elements of u that go to each integer position of the leading axes; where none does, the
    smallest (largest) number there is."""
    if u.dtype.kind == "c":
        raise TypeError("complex numbers have no order")
    return record(SCATTER_EXTREME, (u, *indices), (shape, largest), array_type(shape, u.dtype))


PRIMITIVES = (CUMULATIVE_ARGMAX, CUMULATIVE_ARGMIN, CUMULATIVE_MAX, CUMULATIVE_MIN, LOGCUMSUMEXP)
