"""Averages, spreads, covariances, NaN left out, counts. Arguments are NumPy's."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import linalg
from adjoint.arrays.sets import searchsorted
from adjoint.dtypes import int64
from adjoint.primitives.core import inexact
from adjoint.shapes import drop_axes, normalize_axes, normalize_axis
from adjoint.tensors.composing import Axis, Operand, as_tensor, as_tensors, scoped, value_of
from adjoint.tensors.functions import (
    argmax,
    argmin,
    astype,
    broadcast_to,
    clip,
    concat,
    conj,
    cumulative_prod,
    cumulative_sum,
    isnan,
    linspace,
    logical_and,
    logical_not,
    matmul,
    mean,
    moveaxis,
    multiply,
    ones_like,
    outer,
    prod,
    reshape,
    result_type,
    scatter_add,
    sqrt,
    sum,
    where,
    zeros,
)  # fmt: skip
from adjoint.tensors.functions import max as _max
from adjoint.tensors.functions import min as _min
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.pending import force_selection
from adjoint.tensors.tensor import Tensor

__all__ = [
    "average", "bincount", "corrcoef", "cov", "digitize", "histogram", "nanargmax", "nanargmin", "nancumprod", "nancumsum",
    "nanmax", "nanmean", "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "ptp",
]  # fmt: skip


# Averages and spreads -------------------------------------------------------------------------------------------------


@scoped
def ptp(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The largest element less the smallest, over axes (None: all).

    >>> import adjoint as ad
    >>> ad.ptp(ad.tensor([1.0, 4.0, 2.0]))
    Tensor(3.)
    """
    return _max(x, axis, keepdims=keepdims) - _min(x, axis, keepdims=keepdims)


@scoped
def average(
    x: Operand, /, axis: Axis = None, weights: Any = None, *, returned: bool = False, keepdims: bool = False
) -> Any:
    """The weighted mean over axes (None: all); with `returned`, also the sum of the weights.

    Weights have x's shape, or that of the axes. Raises ValueError for others.

    >>> import adjoint as ad
    >>> ad.average(ad.tensor([1.0, 4.0]), weights=ad.tensor([3.0, 1.0]))
    Tensor(1.75)
    """
    t = wrap(inexact(as_tensor(x).node))
    if weights is None:
        found = mean(t, axis, keepdims=keepdims)
        return (found, zeros(found.shape, dtype=found.dtype) + t.size / max(found.size, 1)) if returned else found
    w = _beside_axes(t, as_tensors(t, weights)[1], axis)
    total = sum(w, axis, keepdims=keepdims)
    found = sum(multiply(t, w), axis, keepdims=keepdims) / total
    return (found, astype(broadcast_to(total, found.shape), found.dtype)) if returned else found


def _beside_axes(t: Tensor, w: Tensor, axis: Axis) -> Tensor:
    """Weights in the shape of what they weigh."""
    if w.shape == t.shape:
        return w
    axes = (
        ()
        if axis is None
        else tuple(normalize_axis(a, t.ndim, "average") for a in (axis if isinstance(axis, tuple) else (axis,)))
    )
    if not axes or w.shape != tuple([t.shape[a] for a in axes]):
        raise ValueError(f"average: weights of shape {w.shape} for axis {axis} of shape {t.shape}{at_user()}")
    placed = reshape(w, (*w.shape, *(1,) * (t.ndim - w.ndim)))
    return broadcast_to(moveaxis(placed, tuple(range(len(axes))), axes), t.shape)


@scoped
def cov(
    x: Operand, y: Any = None, /, *, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None,
) -> Tensor:  # fmt: skip
    """The covariances of variables, the rows of x (and y), or its columns with `rowvar` False.

    Sums are divided by N - 1, with `bias` by N, with `ddof` by N - ddof; `fweights` count observations, `aweights` weigh them.

    >>> import adjoint as ad
    >>> ad.cov(ad.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 7.0]]))
    Tensor([[1.    , 2.5   ],
            [2.5   , 6.3333]])
    """
    t = _variables("cov", x, rowvar)
    if y is not None:
        t = concat([t, _variables("cov", y, rowvar)], axis=0)
    less = ddof if ddof is not None else 0 if bias else 1
    weights = None
    for given in (fweights, aweights):
        if given is not None:
            number = as_tensor(given).astype(t.real.dtype)
            weights = number if weights is None else weights * number
    count = t.shape[1]
    if weights is None:
        center = t - mean(t, axis=1, keepdims=True)
        found = matmul(center, conj(center).mT) / max(count - less, 0)
    else:
        total = sum(weights)
        center = t - sum(t * weights, axis=1, keepdims=True) / total
        extra = total if aweights is None else sum(weights * as_tensor(aweights).astype(t.real.dtype)) / total
        divisor = total - less * (1 if aweights is None else extra)
        found = matmul(center * weights, conj(center).mT) / divisor
    return found.squeeze()


def _variables(name: str, x: Any, rowvar: bool) -> Tensor:
    t = wrap(inexact(as_tensor(x).node))
    if t.ndim > 2:
        raise ValueError(f"{name}: expected at most two axes, got shape {t.shape}{at_user()}")
    if t.ndim < 2:
        return reshape(t, (1, t.size))
    return t if rowvar else t.mT


@scoped
def corrcoef(x: Operand, y: Any = None, /, *, rowvar: bool = True) -> Tensor:
    """The correlation coefficients of variables, the rows of x (and y), or its columns with `rowvar` False; within [-1, 1].

    >>> import adjoint as ad
    >>> ad.corrcoef(ad.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    Tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    c = cov(x, y, rowvar=rowvar)
    if not c.ndim:
        return c / c
    spread = sqrt(linalg.diagonal(c).real)
    found = c / outer(spread, spread)
    return found if found.dtype.kind == "c" else clip(found, -1, 1)


# NaN left out ---------------------------------------------------------------------------------------------------------


def _without_nan(x: Any, instead: float) -> Tensor:
    t = as_tensor(x)
    return where(isnan(t), instead, t) if t.dtype.inexact else t


@scoped
def nansum(x: Operand, /, axis: Axis = None, *, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The sum of what isn't NaN.

    >>> import adjoint as ad
    >>> ad.nansum(ad.tensor([1.0, ad.nan, 2.0]))
    Tensor(3.)
    """
    return sum(_without_nan(x, 0), axis, keepdims=keepdims, dtype=dtype)


@scoped
def nanprod(x: Operand, /, axis: Axis = None, *, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The product of what isn't NaN.

    >>> import adjoint as ad
    >>> ad.nanprod(ad.tensor([3.0, ad.nan, 2.0]))
    Tensor(6.)
    """
    return prod(_without_nan(x, 1), axis, keepdims=keepdims, dtype=dtype)


def _how_many(t: Tensor, axis: Axis) -> Tensor:
    return sum(astype(logical_not(isnan(t)), wrap(inexact(t.node)).real.dtype), axis, keepdims=True)


def _dropped(t: Tensor, shape: tuple[int, ...], axis: Axis, keepdims: bool) -> Tensor:
    return t if keepdims else reshape(t, drop_axes(shape, normalize_axes(axis, len(shape), "axis")))


@scoped
def nanmean(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The mean of what isn't NaN; NaN where all are.

    >>> import adjoint as ad
    >>> ad.nanmean(ad.tensor([1.0, ad.nan, 2.0]))
    Tensor(1.5)
    """
    t = wrap(inexact(as_tensor(x).node))
    return _dropped(sum(_without_nan(t, 0), axis, keepdims=True) / _how_many(t, axis), t.shape, axis, keepdims)


@scoped
def nanvar(x: Operand, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The variance of what isn't NaN; NaN where all are.

    >>> import adjoint as ad
    >>> ad.nanvar(ad.tensor([1.0, ad.nan, 3.0]))
    Tensor(1.)
    """
    t = wrap(inexact(as_tensor(x).node))
    count = _how_many(t, axis)
    away = t - sum(_without_nan(t, 0), axis, keepdims=True) / count
    squares = multiply(away, conj(away)).real if t.dtype.kind == "c" else away * away
    left = count - correction
    found = sum(where(isnan(t), 0.0, squares), axis, keepdims=True) / where(left > 0, left, math.nan)
    return _dropped(found, t.shape, axis, keepdims)


@scoped
def nanstd(x: Operand, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """The standard deviation of what isn't NaN; its derivative is 0 where it is 0.

    >>> import adjoint as ad
    >>> ad.nanstd(ad.tensor([1.0, ad.nan, 3.0]))
    Tensor(1.)
    """
    v = nanvar(x, axis, correction=correction, keepdims=keepdims)
    return where(v == 0, 0.0, sqrt(v))


def _nan_extreme(function: Callable[..., Tensor], x: Any, axis: Axis, keepdims: bool, instead: float) -> Tensor:
    t = as_tensor(x)
    if not t.dtype.inexact:
        return function(t, axis, keepdims=keepdims)
    found = function(_without_nan(t, instead), axis, keepdims=keepdims)
    return where(isnan(t).all(axis, keepdims=keepdims), math.nan, found)


@scoped
def nanmax(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The largest element that isn't NaN; NaN where all are.

    >>> import adjoint as ad
    >>> ad.nanmax(ad.tensor([1.0, ad.nan, 2.0]))
    Tensor(2.)
    """
    return _nan_extreme(_max, x, axis, keepdims, -math.inf)


@scoped
def nanmin(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The smallest element that isn't NaN; NaN where all are.

    >>> import adjoint as ad
    >>> ad.nanmin(ad.tensor([1.0, ad.nan, 2.0]))
    Tensor(1.)
    """
    return _nan_extreme(_min, x, axis, keepdims, math.inf)


@scoped
def nanargmax(x: Operand, /, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The index of the first largest element that isn't NaN; of the first where all are.

    >>> import adjoint as ad
    >>> ad.nanargmax(ad.tensor([1.0, ad.nan, 2.0]))
    Tensor(2)
    """
    return argmax(_without_nan(x, -math.inf), axis, keepdims=keepdims)


@scoped
def nanargmin(x: Operand, /, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The index of the first smallest element that isn't NaN; of the first where all are.

    >>> import adjoint as ad
    >>> ad.nanargmin(ad.tensor([1.0, ad.nan, 2.0]))
    Tensor(0)
    """
    return argmin(_without_nan(x, math.inf), axis, keepdims=keepdims)


@scoped
def nancumsum(x: Operand, /, axis: int | None = None, *, dtype: Any = None) -> Tensor:
    """Sums up to each element, NaN counting as 0 (axis None: of the flattened x).

    >>> import adjoint as ad
    >>> ad.nancumsum(ad.tensor([1.0, ad.nan, 2.0]))
    Tensor([1., 1., 3.])
    """
    t = _without_nan(x, 0)
    return cumulative_sum(t.flatten() if axis is None else t, axis or 0, dtype=dtype)


@scoped
def nancumprod(x: Operand, /, axis: int | None = None, *, dtype: Any = None) -> Tensor:
    """Products up to each element, NaN counting as 1 (axis None: of the flattened x).

    >>> import adjoint as ad
    >>> ad.nancumprod(ad.tensor([3.0, ad.nan, 2.0]))
    Tensor([3., 3., 6.])
    """
    t = _without_nan(x, 1)
    return cumulative_prod(t.flatten() if axis is None else t, axis or 0, dtype=dtype)


# Counts ---------------------------------------------------------------------------------------------------------------


@scoped
def bincount(x: Operand, /, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each of 0, 1, ... occurs in the integers x (n,), as int64; with weights, their sums, differentiable in them.

    As long as the largest integer asks for, which evaluates x, and at least `minlength`. Raises ValueError for negative
    integers or another shape, TypeError for other dtypes.

    >>> import adjoint as ad
    >>> ad.bincount(ad.tensor([0, 2, 2]), ad.tensor([0.5, 1.0, 2.0]))
    Tensor([0.5, 0. , 3. ])
    """
    t = as_tensor(x)
    if t.dtype.kind not in "biu":
        raise TypeError(f"bincount: expected integers, got {t.dtype.name}{at_user()}")
    if t.ndim != 1:
        raise ValueError(f"bincount: expected one axis, got shape {t.shape}{at_user()}")
    values = force_selection(t.node)
    if values.size and values.min() < 0:
        raise ValueError(f"bincount: {values.min()} is negative{at_user()}")
    length = max(int(values.max()) + 1 if values.size else 0, operator.index(minlength))
    return _counted(t, None if weights is None else as_tensor(weights), length)


def _counted(places: Tensor, weights: Tensor | None, length: int) -> Tensor:
    added = ones_like(places, dtype=int64) if weights is None else weights
    if not added.dtype.inexact:
        added = astype(added, int64)  # sums of small integers would wrap around, and sums of bools be bools
    return scatter_add(zeros(length, dtype=added.dtype), astype(places, int64), added)


@scoped
def digitize(x: Operand, bins: Operand, /, right: bool = False) -> Tensor:
    """The number of the bin of each element, int64: i where bins[i-1] <= x < bins[i], for bins in order, up or down.

    With `right` the intervals are closed on the right. No derivative.

    >>> import adjoint as ad
    >>> ad.digitize(ad.tensor([0.5, 1.5, 9.0]), ad.tensor([0.0, 1.0, 2.0]))
    Tensor([1, 2, 3])
    """
    edges = as_tensor(bins)
    if edges.ndim != 1:
        raise ValueError(f"digitize: bins have one axis, got shape {edges.shape}{at_user()}")
    values = force_selection(edges.node)
    steps = np.diff(values)
    if np.all(steps >= 0):
        return searchsorted(edges, x, side="left" if right else "right")
    if np.all(steps <= 0):
        return as_tensor(values.size - searchsorted(edges.flip(), x, side="left" if right else "right"))
    raise ValueError(f"digitize: bins are neither increasing nor decreasing{at_user()}")


@scoped
def histogram(
    x: Operand, /, bins: Any = 10, range: Any = None, *, density: bool = False, weights: Any = None
) -> tuple[Tensor, Tensor]:
    """How many elements of the flattened x lie in each bin, and the edges of the bins, the last of which is closed.

    bins: how many equal ones over `range` (default: from the smallest to the largest element), the edges, or the name of one of
    NumPy's rules. With `weights` their sums, differentiable in them; with `density`, divided so that the integral is 1. Where
    neither edges nor a range are given, finding them evaluates x.

    >>> import adjoint as ad
    >>> ad.histogram(ad.tensor([1.0, 2.0, 2.5]), bins=[1.0, 2.0, 3.0])[0]
    Tensor([1, 2])
    """
    t = as_tensor(x).flatten()
    if np.ndim(value_of(bins)):
        edges = as_tensor(bins)
        if edges.ndim != 1 or np.any(np.diff(force_selection(edges.node)) < 0):
            raise ValueError(f"histogram: edges are one axis of numbers that increase{at_user()}")
    else:
        known = range is not None and not isinstance(bins, str)
        sample = np.zeros(0) if known else force_selection(t.node)
        edges = as_tensor(np.histogram_bin_edges(sample, value_of(bins), range))
        if range is None and t.dtype.kind == "f" and t.size:  # which move with the smallest and the largest element
            moving = linspace(_min(t), _max(t), edges.size)
            edges = edges + (moving - moving.detach()).astype(edges.dtype)
    if t.dtype.kind == "f" and edges.dtype.kind == "f":
        t, edges = (y.astype(result_type(t, edges)) for y in (t, edges))
    n = edges.shape[0] - 1
    place = searchsorted(edges, t, side="right") - 1
    inside = logical_and(t >= edges[0], t <= edges[-1])
    place = where(t == edges[-1], n - 1, place)
    added = as_tensors(t, weights)[1].flatten() if weights is not None else ones_like(place)
    added = where(inside, added, zeros((), dtype=added.dtype))
    found = _counted(where(inside, place, 0), added, n)
    if density:
        widths = edges[1:] - edges[:-1]
        found = found / widths / sum(found)
    return found, edges
