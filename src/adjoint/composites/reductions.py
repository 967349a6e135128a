"""Composites that reduce, normalize and order: everything here is made of primitives, so every derivative follows."""

from __future__ import annotations

import math
import operator
from typing import Any

from adjoint.composites.recipes import remembered
from adjoint.dtypes import DType
from adjoint.graph import Node, array_type
from adjoint.primitives.core import cast, conjugate, inexact, ops, stop_gradient, zeros
from adjoint.primitives.normalized import softmaxed
from adjoint.shapes import Shape, drop_axes, keep_axes, normalize_axes, normalize_axis, size_of

Axis = int | tuple[int, ...] | None


def reduced(x: Node, axes: Shape) -> Shape:
    """The shape with the axes kept at size one."""
    return keep_axes(x.shape, axes)


def reduce(name: str, x: Node, axis: Axis, keepdims: bool, dtype: DType | None = None) -> Node:
    """A reducing primitive over axes given as users give them. With a dtype, all is added up in it, and wraps as it does."""
    axes = normalize_axes(axis, x.ndim, name)
    result = getattr(ops, name)(x if dtype is None else cast(x, dtype), axes)
    if dtype is not None:
        result = cast(result, dtype)  # small integers were added up as wide ones, and have the same last bits
    return ops.reshape(result, keep_axes(x.shape, axes)) if keepdims else result


@remembered
def mean(x: Node, axis: Axis, keepdims: bool) -> Node:
    x = inexact(x)
    axes = normalize_axes(axis, x.ndim, "mean")
    count = size_of(tuple(x.shape[a] for a in axes))
    return ops.divide(reduce("sum", x, axes, keepdims), float(count))


@remembered
def var(x: Node, axis: Axis, correction: float, keepdims: bool) -> Node:
    x = inexact(x)
    axes = normalize_axes(axis, x.ndim, "var")
    count = float(size_of(tuple(x.shape[a] for a in axes)))
    # The variance is the same whatever is taken off. So the mean's rounding error, which may be large beside the deviations,
    # doesn't count: what it leaves is taken off as the square of the deviations' own mean.
    shifted = ops.subtract(x, stop_gradient(mean(x, axes, True)))
    left = ops.subtract(_sum_of_squares(shifted, axes), ops.divide(_squared(ops.sum(shifted, axes)), count))
    result = ops.divide(_not_below_zero(left), max(count - correction, 0.0))
    return ops.reshape(result, keep_axes(x.shape, axes)) if keepdims else result


def _squared(x: Node) -> Node:
    """The square of the modulus."""
    return ops.multiply(x, x) if x.dtype.kind == "f" else ops.real(ops.multiply(x, conjugate(x)))


def _sum_of_squares(x: Node, axes: Shape) -> Node:
    return ops.sum(_squared(x), axes)


def _not_below_zero(x: Node) -> Node:
    """x where rounding left it no less than 0, else 0, with x's derivative."""
    return ops.where(ops.less(x, 0), ops.subtract(x, stop_gradient(x)), x)


def root_of_squares(s: Node) -> Node:
    """The square root of a sum of squares, with derivative 0 (not infinity times 0) where it is 0."""
    dead = ops.equal(s, 0)
    return ops.where(dead, zeros(s.type), ops.sqrt(s))


@remembered
def std(x: Node, axis: Axis, correction: float, keepdims: bool) -> Node:
    return root_of_squares(var(x, axis, correction, keepdims))


@remembered
def norm(x: Node, order: float, axis: Axis, keepdims: bool) -> Node:
    x = inexact(x)
    axes = normalize_axes(axis, x.ndim, "norm")
    size = ops.abs(x)
    if order == 2:
        squares = ops.multiply(x, x) if x.dtype.kind == "f" else ops.multiply(size, size)
        return root_of_squares(reduce("sum", squares, axes, keepdims))
    if order == 1:
        return reduce("sum", size, axes, keepdims)
    if order == 0:
        return reduce("sum", ops.astype(ops.not_equal(x, 0), size.dtype), axes, keepdims)
    if math.isinf(order):
        if order > 0 and not size_of(tuple([x.shape[a] for a in axes])):  # the norm of no numbers
            return reduce("sum", size, axes, keepdims)
        return reduce("max" if order > 0 else "min", size, axes, keepdims)
    total = reduce("sum", ops.power_constant(size, order), axes, keepdims)
    return ops.where(ops.equal(total, 0), zeros(total.type), ops.power_constant(total, 1.0 / order))


def count_nonzero(x: Node, axis: Axis, keepdims: bool) -> Node:
    return reduce("sum", ops.not_equal(x, 0), axis, keepdims)


def _shift(x: Node, axes: Shape) -> Node:
    """The maximum over axes as a constant to derivatives, zero where it is not finite, with size-one axes."""
    top = stop_gradient(reduce("max", x, axes, keepdims=True))
    return ops.where(ops.isfinite(top), top, zeros(top.type))


@remembered
def logsumexp(x: Node, axis: Axis, keepdims: bool) -> Node:
    x = inexact(x)
    axes = normalize_axes(axis, x.ndim, "logsumexp")
    if not size_of(tuple(x.shape[a] for a in axes)):  # the logarithm of an empty sum
        shape = keep_axes(x.shape, axes) if keepdims else drop_axes(x.shape, axes)
        return ops.full(-math.inf, array_type(shape, x.dtype))
    shift = _shift(x, axes)
    total = ops.log(reduce("sum", ops.exp(ops.subtract(x, shift)), axes, keepdims=True))
    result = ops.add(total, shift)
    return result if keepdims else ops.reshape(result, tuple(n for i, n in enumerate(x.shape) if i not in axes))


@remembered
def softmax(x: Node, axis: int | tuple[int, ...]) -> Node:
    x = inexact(x)
    axes = normalize_axes(axis, x.ndim, "softmax")
    powers = ops.exp(ops.subtract(x, stop_gradient(reduce("max", x, axes, keepdims=True)))) if x.type.size else x
    total = reduce("sum", powers, axes, keepdims=True)
    return softmaxed(ops.divide(powers, total), x, total)


@remembered
def log_softmax(x: Node, axis: int | tuple[int, ...]) -> Node:
    x = inexact(x)
    axes = normalize_axes(axis, x.ndim, "log_softmax")
    if not x.type.size:
        return x
    shifted = ops.subtract(x, stop_gradient(reduce("max", x, axes, keepdims=True)))
    return ops.subtract(shifted, ops.log(reduce("sum", ops.exp(shifted), axes, keepdims=True)))


def arg_extreme(name: str, x: Node, axis: int | None, keepdims: bool) -> Node:
    if axis is None:
        result = getattr(ops, name)(ops.reshape(x, (x.type.size,)), 0)
        return ops.reshape(result, (1,) * x.ndim) if keepdims else result
    axis = normalize_axis(axis, x.ndim, name)
    result = getattr(ops, name)(x, axis)
    return ops.reshape(result, keep_axes(x.shape, (axis,))) if keepdims else result


def scan(name: str, x: Node, axis: int | None, include_initial: bool, dtype: DType | None) -> Node:
    if axis is None:
        if x.ndim > 1:
            raise ValueError(f"{name}: axis is needed for an array with {x.ndim} axes")
        axis = 0
        x = ops.reshape(x, (x.type.size,))
    axis = normalize_axis(axis, x.ndim, name)
    result: Node = getattr(ops, name)(x if dtype is None else cast(x, dtype), axis)
    if dtype is not None:
        result = cast(result, dtype)
    if include_initial:
        kind = result.dtype.kind
        start: Any = 0 if name.endswith("sum") else 1
        start = float(start) if kind in "fc" else bool(start) if kind == "b" else start
        first = ops.full(start, array_type((*x.shape[:axis], 1, *x.shape[axis + 1 :]), result.dtype))
        result = ops.concat([first, result], axis)
    return result


SHORT = 16  # elements of a line, up to which native code has its order


def sort(x: Node, axis: int, descending: bool) -> Node:
    axis = normalize_axis(axis, x.ndim, "sort")
    if x.shape[axis] <= SHORT:
        return ops.take_along_axis(x, ops.argsort(x, axis, descending), axis)
    return ops.sort(x, axis, descending)


@remembered
def gelu_tanh(x: Node) -> Node:
    x = inexact(x)
    inner = ops.multiply(ops.add(x, ops.multiply(ops.power_constant(x, 3), 0.044715)), math.sqrt(2 / math.pi))
    return ops.multiply(ops.multiply(x, 0.5), ops.add(ops.tanh(inner), 1))


def bounded(x: Node, low: Node | float | None, high: Node | float | None) -> Node:
    """clip with either bound left out."""
    if low is None and high is None:
        return x
    limits = {"f": (-math.inf, math.inf)}
    if x.dtype.kind in "iu":
        span = 2 ** (x.dtype.bits - (x.dtype.kind == "i"))
        limits[x.dtype.kind] = (-span if x.dtype.kind == "i" else 0, span - 1)
    smallest, largest = limits.get(x.dtype.kind, (False, True))
    return ops.clip(x, smallest if low is None else low, largest if high is None else high)


def diff(x: Node, axis: int, n: int, before: Node | None = None, after: Node | None = None) -> Node:
    axis = normalize_axis(axis, x.ndim, "diff")
    end = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    ends = [e if e is None or e.ndim else ops.broadcast_to(e, end) for e in (before, after)]
    if before is not None or after is not None:
        x = ops.concat([e for e in (ends[0], x, ends[1]) if e is not None], axis)
    if operator.index(n) < 0:
        raise ValueError(f"diff: n says how often to take differences; it is {n}, which is negative")
    for _ in range(n):
        size = max(x.shape[axis] - 1, 0)
        offset = min(1, x.shape[axis])
        upper = tuple((offset, size, 1) if i == axis else (0, m, 1) for i, m in enumerate(x.shape))
        lower = tuple((0, size, 1) if i == axis else (0, m, 1) for i, m in enumerate(x.shape))
        a, b = ops.slice_(x, upper), ops.slice_(x, lower)
        x = ops.not_equal(a, b) if x.dtype.kind == "b" else ops.subtract(a, b)
    return x
