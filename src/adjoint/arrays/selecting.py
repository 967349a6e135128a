"""Elementwise choices and combinations that are made of others."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.arrays.standard import finfo
from adjoint.primitives.core import is_scalar
from adjoint.tensors.composing import Operand, as_tensor, scoped
from adjoint.tensors.conversion import as_node
from adjoint.tensors.functions import (
    abs,
    all,
    broadcast_arrays,
    equal,
    isfinite,
    isnan,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    reshape,
    result_type,
    sqrt,
    subtract,
    where,
    zeros_like,
)  # fmt: skip
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor

__all__ = [
    "allclose", "array_equal", "fmax", "fmin", "heaviside", "isclose", "lerp", "masked_fill", "nan_to_num", "piecewise",
    "rsqrt", "select",
]  # fmt: skip


def beside(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Two operands as tensors; a number takes the dtype of the array beside it."""
    first = as_node(x, as_node(y).dtype if is_scalar(x) and not is_scalar(y) else None)
    return wrap(first), wrap(as_node(y, first.dtype if is_scalar(y) else None))


@scoped
def fmax(x: Operand, y: Operand, /) -> Tensor:
    """The larger of x and y, elementwise with broadcasting; where one is NaN, the other. Derivatives as `maximum`'s.

    >>> import adjoint as ad
    >>> ad.fmax(ad.tensor([1.0, ad.nan]), 0.5)
    Tensor([1. , 0.5])
    """
    a, b = beside(x, y)
    return where(isnan(a), b, where(isnan(b), a, maximum(a, b)))


@scoped
def fmin(x: Operand, y: Operand, /) -> Tensor:
    """The smaller of x and y, elementwise with broadcasting; where one is NaN, the other. Derivatives as `minimum`'s.

    >>> import adjoint as ad
    >>> ad.fmin(ad.tensor([1.0, ad.nan]), 0.5)
    Tensor([0.5, 0.5])
    """
    a, b = beside(x, y)
    return where(isnan(a), b, where(isnan(b), a, minimum(a, b)))


@scoped
def rsqrt(x: Operand, /) -> Tensor:
    """1 / sqrt(x), elementwise: inf at 0, NaN below.

    >>> import adjoint as ad
    >>> ad.rsqrt(4.0)
    Tensor(0.5)
    """
    return 1 / sqrt(x)


@scoped
def lerp(x: Operand, y: Operand, weight: Operand, /) -> Tensor:
    """x + weight (y - x), elementwise with broadcasting: x at weight 0, y at weight 1.

    >>> import adjoint as ad
    >>> ad.lerp(ad.tensor([0.0, 10.0]), 20.0, 0.25)
    Tensor([ 5. , 12.5])
    """
    a, b = beside(x, y)
    w = beside(weight, a)[0]
    return where(w < 0.5, a + w * (b - a), b - (b - a) * (1 - w))


@scoped
def heaviside(x: Operand, y: Operand, /) -> Tensor:
    """0 where x < 0, y where x is 0, 1 where x > 0, elementwise with broadcasting. Its derivative by x is 0.

    >>> import adjoint as ad
    >>> ad.heaviside(ad.tensor([-1.0, 0.0, 2.0]), 0.5)
    Tensor([0. , 0.5, 1. ])
    """
    a, b = broadcast_arrays(*beside(x, y))
    a, b = a.astype(result_type(a, b)), b.astype(result_type(a, b))
    return where(isnan(a), a * 0, where(equal(a, 0), b, where(a < 0, zeros_like(a), zeros_like(a) + 1)))


@functools.partial(scoped, widened=False)  # the dtype has its own largest number
def nan_to_num(x: Operand, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """x with NaN and infinities replaced, infinities by the dtype's largest numbers unless said. Derivative: 1 where x is finite.

    >>> import adjoint as ad
    >>> ad.nan_to_num(ad.tensor([1.0, ad.nan, ad.inf]), posinf=9.0)
    Tensor([1., 0., 9.])
    """
    t = as_tensor(x)
    if t.dtype.kind == "c":
        real = nan_to_num(t.real, nan=nan, posinf=posinf, neginf=neginf)
        return real + 1j * nan_to_num(t.imag, nan=nan, posinf=posinf, neginf=neginf)
    if t.dtype.kind != "f":
        return t
    limits = finfo(t.dtype)
    high = float(limits.max) if posinf is None else posinf
    low = float(limits.min) if neginf is None else neginf
    found = where(equal(t, math.inf), high, where(equal(t, -math.inf), low, t))
    return where(isnan(t), nan, found)


@scoped
def isclose(x: Operand, y: Operand, /, rtol: float = 1e-5, atol: float = 1e-8, *, equal_nan: bool = False) -> Tensor:
    """Whether |x - y| <= atol + rtol |y|, elementwise with broadcasting, as bool; infinities are close to themselves.

    >>> import adjoint as ad
    >>> ad.isclose(ad.tensor([1.0, 2.0]), ad.tensor([1.000001, 2.1]))
    Tensor([ True, False])
    """
    a, b = beside(x, y)
    if a.dtype.kind == "b" or b.dtype.kind == "b":
        a, b = a.astype("float64"), b.astype("float64")
    near = logical_and(less_equal(abs(subtract(a, b)), atol + rtol * abs(b)), logical_and(isfinite(a), isfinite(b)))
    near = logical_or(near, equal(a, b))
    return logical_or(near, logical_and(isnan(a), isnan(b))) if equal_nan else near


@scoped
def allclose(x: Operand, y: Operand, /, rtol: float = 1e-5, atol: float = 1e-8, *, equal_nan: bool = False) -> Tensor:
    """Whether all elements are close in the sense of `isclose`, as a bool tensor without axes.

    >>> import adjoint as ad
    >>> ad.allclose(ad.ones(2), ad.ones(2) + 1e-9)
    Tensor(True)
    """
    return all(isclose(x, y, rtol, atol, equal_nan=equal_nan))


@scoped
def array_equal(x: Operand, y: Operand, /) -> Tensor:
    """Whether shapes and all elements are equal, as a bool tensor without axes.

    >>> import adjoint as ad
    >>> ad.array_equal(ad.ones(2), ad.ones(3))
    Tensor(False)
    """
    a, b = as_tensor(x), as_tensor(y)
    return all(equal(a, b)) if a.shape == b.shape else as_tensor(np.asarray(False))


@scoped
def masked_fill(x: Operand, mask: Operand, value: Operand, /) -> Tensor:
    """x with `value` where the mask holds, broadcast together. The mask is bool, else TypeError.

    >>> import adjoint as ad
    >>> ad.masked_fill(ad.tensor([1.0, -2.0]), ad.tensor([False, True]), 0.0)
    Tensor([1., 0.])
    """
    m = as_tensor(mask)
    if m.dtype.kind != "b":
        raise TypeError(f"masked_fill: the mask is bool, got {m.dtype.name}{at_user()}")
    return where(m, value, x)


@scoped
def select(conditions: Sequence[Operand], choices: Sequence[Operand], default: Operand = 0) -> Tensor:
    """The first of the choices whose condition holds, elementwise with broadcasting, else the default.

    Raises ValueError for lists of different or no length.

    >>> import adjoint as ad
    >>> x = ad.arange(5.0)
    >>> ad.select([x < 2, x > 3], [x, 10 * x], -1.0)
    Tensor([ 0.,  1., -1., -1., 40.])
    """
    if len(conditions) != len(choices) or not conditions:
        raise ValueError(f"select: {len(conditions)} conditions and {len(choices)} choices{at_user()}")
    dtype = result_type(*[c if is_scalar(c) else as_tensor(c) for c in (*choices, default)])
    found = wrap(as_node(default, dtype)).astype(dtype)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        found = where(condition, wrap(as_node(choice, dtype)).astype(dtype), found)
    return found


def _leading(mask: Tensor, ndim: int) -> Tensor:
    """A mask of the leading axes, beside arrays of `ndim` axes."""
    return reshape(mask, (*mask.shape, *(1,) * (ndim - mask.ndim))) if 0 < mask.ndim < ndim else mask


@scoped
def piecewise(x: Operand, conditions: Any, functions: Sequence[Any], /, *args: Any, **keywords: Any) -> Tensor:
    """Functions, or numbers, each where its condition holds; of several that hold the last counts, without any 0.

    One function more than conditions is for where none holds. Each function is called with the whole of x, and what isn't
    selected has no influence, on derivatives neither. Raises ValueError for another number of functions.

    >>> import adjoint as ad
    >>> ad.piecewise(ad.tensor([-2.0, 3.0]), [ad.tensor([True, False])], [lambda v: -v, lambda v: v**2])
    Tensor([2., 9.])
    """
    t = as_tensor(x)
    listed = conditions if isinstance(conditions, (list, tuple)) else [conditions]
    if listed and is_scalar(listed[0]) and t.ndim:
        listed = [listed]
    masks = [_leading(as_tensor(c), t.ndim) for c in listed]
    if len(functions) not in (len(masks), len(masks) + 1):
        raise ValueError(f"piecewise: {len(masks)} conditions and {len(functions)} functions{at_user()}")
    if len(functions) > len(masks):
        rest = masks[0]
        for mask in masks[1:]:
            rest = logical_or(rest, mask)
        masks.append(logical_not(rest))
    found = zeros_like(t)
    for mask, function in zip(masks, functions, strict=True):
        piece = function(t, *args, **keywords) if callable(function) else function
        found = where(mask, wrap(as_node(piece, t.dtype)).astype(t.dtype), found)
    return found
