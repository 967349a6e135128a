"""Reductions over axes, scans along one axis, and order. Axes are sorted, non-negative and dropped from the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.dtypes import bool_, int64, uint64
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives.core import conjugate, data, ops, register, zeros
from adjoint.shapes import drop_axes, size_of

Axes = tuple[int, ...]

# Sums and products ----------------------------------------------------------------------------------------------------


def _reducing(ufunc: Any) -> Any:
    def kernel(axes: Axes, type: Any) -> Any:
        dtype, reduce = type.dtype.dtype, ufunc.reduce
        return lambda x, out=None: reduce(x, axes, dtype, out)

    return kernel


def _sum_rule(u: Node, out: Node, x: Node) -> Node:
    return ops.expand(u, out.attributes, x.shape)


SUM = Primitive("sum", _reducing(np.add), (_sum_rule,), takes_out=True, symbol="Σ", linear=True, combines="add")


def accumulated(dtype: Any) -> Any:
    """The dtype of a sum or product, as the Array API has it: small integers and bools widen to 64 bits."""
    return {"b": int64, "i": int64, "u": uint64}.get(dtype.kind, dtype)


@register
def sum(x: Node, axes: Axes) -> Node:
    """The sum over axes."""
    type = x.type
    if not axes and type.inexact:
        return x
    return record(SUM, (x,), axes, array_type(drop_axes(type.shape, axes), accumulated(type.dtype)))


def _prod_rule(u: Node, out: Node, x: Node) -> Node:
    # the product of all the others, by exclusive products from both ends: right however many elements are zero
    (axis,) = out.attributes
    left = ops.exclusive_cumulative_prod(x, axis)
    right = ops.reverse(ops.exclusive_cumulative_prod(ops.reverse(x, axis), axis), axis)
    return ops.scale(ops.expand(u, (axis,), x.shape), conjugate(ops.scale(left, right)))


PROD = Primitive("prod", _reducing(np.multiply), (_prod_rule,), takes_out=True, symbol="Π", combines="multiply")


@register
def prod(x: Node, axes: Axes) -> Node:
    """The product over axes."""
    if len(axes) != 1:
        x, axes = merge_axes(x, axes)
    return record(PROD, (x,), axes, array_type(drop_axes(x.shape, axes), accumulated(x.dtype)))


def merge_axes(x: Node, axes: Axes) -> tuple[Node, Axes]:
    """x with the axes moved to the end and merged into one."""
    rest = tuple(i for i in range(x.ndim) if i not in axes)
    kept = tuple(x.shape[i] for i in rest)
    merged = ops.reshape(ops.permute_dims(x, rest + axes), (*kept, size_of(tuple(x.shape[i] for i in axes))))
    return merged, (len(kept),)


# Extremes: ties share the cotangent evenly ----------------------------------------------------------------------------


def _extreme_rule(u: Node, out: Node, x: Node) -> Node:
    axes, shape = out.attributes, x.shape
    chosen = ops.equal(x, ops.expand(out, axes, shape))
    count = sum(ops.astype(chosen, u.dtype), axes)
    share = ops.safe_divide(u, count)
    return ops.where(chosen, ops.expand(share, axes, shape), zeros(x.type))


MAX = Primitive("max", _reducing(np.maximum), (_extreme_rule,), takes_out=True, combines="maximum")
MIN = Primitive("min", _reducing(np.minimum), (_extreme_rule,), takes_out=True, combines="minimum")
ANY = Primitive("any", _reducing(np.logical_or), takes_out=True, swallows=True, combines="logical_or")
ALL = Primitive("all", _reducing(np.logical_and), takes_out=True, swallows=True, combines="logical_and")


def _extreme(op: Primitive, x: Node, axes: Axes) -> Node:
    if x.dtype.kind == "c":
        raise TypeError(f"{op.name}: complex numbers have no order")
    if size_of(tuple(x.shape[a] for a in axes)) == 0 and axes:
        raise ValueError(f"{op.name}: no largest or smallest of zero elements (shape {x.shape}, axes {axes})")
    return record(op, (x,), axes, array_type(drop_axes(x.shape, axes), x.dtype)) if axes else x


@register
def max(x: Node, axes: Axes) -> Node:
    """The largest element over axes; NaN where there is one. Raises ValueError for an empty range."""
    return _extreme(MAX, x, axes)


@register
def min(x: Node, axes: Axes) -> Node:
    """The smallest element over axes; NaN where there is one. Raises ValueError for an empty range."""
    return _extreme(MIN, x, axes)


@register
def any(x: Node, axes: Axes) -> Node:
    """Whether an element over axes is nonzero."""
    return record(ANY, (x,), axes, array_type(drop_axes(x.shape, axes), bool_))


@register
def all(x: Node, axes: Axes) -> Node:
    """Whether all elements over axes are nonzero."""
    return record(ALL, (x,), axes, array_type(drop_axes(x.shape, axes), bool_))


def _arg_kernel(function: Any) -> Any:
    return lambda axis, type: lambda x: function(x, axis)


ARGMAX = Primitive("argmax", _arg_kernel(np.argmax), swallows=True)
ARGMIN = Primitive("argmin", _arg_kernel(np.argmin), swallows=True)


def _arg_extreme(op: Primitive, x: Node, axis: int) -> Node:
    if x.shape[axis] == 0:
        raise ValueError(f"{op.name}: no largest or smallest of zero elements (shape {x.shape}, axis {axis})")
    return record(op, (x,), axis, array_type(drop_axes(x.shape, (axis,)), int64))


@register
def argmax(x: Node, axis: int) -> Node:
    """The index of the first largest element along an axis."""
    return _arg_extreme(ARGMAX, x, axis)


@register
def argmin(x: Node, axis: int) -> Node:
    """The index of the first smallest element along an axis."""
    return _arg_extreme(ARGMIN, x, axis)


# Scans ----------------------------------------------------------------------------------------------------------------


def accumulating(ufunc: Any) -> Any:
    """The kernel of a universal function over the elements up to each one along an axis."""

    def kernel(axis: int, type: Any) -> Any:
        dtype = type.dtype.dtype
        return lambda x, out=None: ufunc.accumulate(x, axis, dtype, out)

    return kernel


def _recurrence_kernel(axis: int, type: Any) -> Any:
    def kernel(a: Any, b: Any, out: Any = None) -> Any:
        out = np.array(b) if out is None else out
        np.copyto(out, b)
        rows, factors = np.moveaxis(out, axis, 0), np.moveaxis(a, axis, 0)
        if (
            out.size == len(rows) and out.dtype == np.float64
        ):  # Python's own numbers take a tenth of the time of NumPy's
            total, terms = 0.0, zip(factors.ravel().tolist(), rows.ravel().tolist(), strict=True)
            found = [total := x if k == 0 else total * f + x for k, (f, x) in enumerate(terms)]
            out[...] = np.reshape(found, out.shape)
            return out
        for i in range(1, len(rows)):  # along the scan itself; everything else at once
            rows[i] += factors[i] * rows[i - 1]
        return out

    return kernel


def _shift(x: Node, axis: int, by: int) -> Node:
    """x moved by one place along an axis, a zero coming in."""
    n = x.shape[axis]
    if n == 0:
        return x
    keep = tuple([(0, m, 1) if i != axis else (1 if by < 0 else 0, n - 1, 1) for i, m in enumerate(x.shape)])
    put = tuple([(0, m, 1) if i != axis else (0 if by < 0 else 1, n - 1, 1) for i, m in enumerate(x.shape)])
    return ops.embed(ops.slice_(x, keep), x.shape, put)


def _recurrence_vjp_b(u: Node, out: Node, a: Node, b: Node) -> Node:
    # y[i] = a[i] y[i-1] + b[i]; backwards the same recurrence runs from the end, with a moved by one place
    axis = out.attributes
    factors = ops.reverse(_shift(a, axis, -1), axis)
    return ops.reverse(linear_recurrence(conjugate(factors), ops.reverse(u, axis), axis), axis)


def _recurrence_vjp_a(u: Node, out: Node, a: Node, b: Node) -> Node:
    return ops.scale(_recurrence_vjp_b(u, out, a, b), conjugate(_shift(out, out.attributes, 1)))


CUMULATIVE_SUM = Primitive(
    "cumulative_sum",
    accumulating(np.add),
    (lambda u, out, x: ops.reverse(cumulative_sum(ops.reverse(u, out.attributes), out.attributes), out.attributes),),
    takes_out=True,
    linear=True,
)


def _cumulative_prod_rule(u: Node, out: Node, x: Node) -> Node:
    axis = out.attributes
    factors = ops.reverse(_shift(x, axis, -1), axis)
    gathered = ops.reverse(linear_recurrence(conjugate(factors), ops.reverse(u, axis), axis), axis)
    return ops.scale(gathered, conjugate(exclusive_cumulative_prod(x, axis)))


CUMULATIVE_PROD = Primitive("cumulative_prod", accumulating(np.multiply), (_cumulative_prod_rule,), takes_out=True)
RECURRENCE = Primitive("linear_recurrence", _recurrence_kernel, (_recurrence_vjp_a, _recurrence_vjp_b), takes_out=True)


@register
def cumulative_sum(x: Node, axis: int) -> Node:
    """Sums of the elements up to each one."""
    return record(CUMULATIVE_SUM, (x,), axis, array_type(x.shape, accumulated(x.dtype)))


@register
def cumulative_prod(x: Node, axis: int) -> Node:
    """Products of the elements up to each one."""
    return record(CUMULATIVE_PROD, (x,), axis, array_type(x.shape, accumulated(x.dtype)))


@register
def exclusive_cumulative_prod(x: Node, axis: int) -> Node:
    """Products of the elements before each one."""
    n = x.shape[axis]
    if n == 0:
        return x
    ones = ops.full(1.0 if x.dtype.kind == "f" else 1, array_type((*x.shape[:axis], 1, *x.shape[axis + 1 :]), x.dtype))
    head = tuple([(0, n - 1, 1) if i == axis else (0, m, 1) for i, m in enumerate(x.shape)])
    return ops.concat([ones, cumulative_prod(ops.slice_(x, head), axis)], axis)


@register
def linear_recurrence(a: Node, b: Node, axis: int) -> Node:
    """y with y[0] = b[0] and y[i] = a[i] y[i-1] + b[i] along an axis."""
    return record(RECURRENCE, (a, b), axis, b.type)


@register
def reverse(x: Node, axis: int) -> Node:
    """The elements in reverse order along an axis."""
    n = x.shape[axis]
    return ops.slice_(x, tuple([(n - 1, n, -1) if i == axis and n else (0, m, 1) for i, m in enumerate(x.shape)]))


@register
def iota(n: int, dtype: Any = int64) -> Node:
    """0, 1, ..., n-1."""
    return data(np.arange(n, dtype=dtype.dtype), dtype)
