"""Order statistics: quantiles, medians, the k largest. Arguments are NumPy's.

The methods of quantiles are those of Hyndman & Fan, "Sample quantiles in statistical packages", The American Statistician 50,
1996.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.composites.reductions import SHORT
from adjoint.dtypes import int64
from adjoint.primitives.core import inexact, ops
from adjoint.shapes import drop_axes, keep_axes, normalize_axes, normalize_axis, size_of
from adjoint.tensors.composing import Axis, Operand, as_tensor, scoped
from adjoint.tensors.functions import (
    astype,
    broadcast_to,
    clip,
    floor,
    isfinite,
    isnan,
    logical_not,
    moveaxis,
    permute_dims,
    reshape,
    sort,
    sum,
    take_along_axis,
    where,
)  # fmt: skip
from adjoint.tensors.functions import max as largest
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor

__all__ = [
    "kthvalue", "median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile", "topk",
]  # fmt: skip


def real_tensor(name: str, x: Any) -> Tensor:
    """x as a real floating tensor."""
    t = wrap(inexact(as_tensor(x).node))
    if t.dtype.kind == "c":
        raise TypeError(f"{name}: complex numbers have no order{at_user()}")
    return t


# The place of a quantile among n sorted numbers, counted from 0: q n + a + q (1 - a - b) - 1
PARAMETERS = {
    "linear": (1.0, 1.0), "hazen": (0.5, 0.5), "weibull": (0.0, 0.0), "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8), "interpolated_inverted_cdf": (0.0, 1.0),
}  # fmt: skip
STEPS = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "lower", "higher", "midpoint", "nearest")


def _place(q: Any, n: Any, method: str) -> tuple[Any, Any]:
    """The number below a quantile's place among n sorted numbers, and how far the place is from it to the next."""
    down = floor if isinstance(q, Tensor) or isinstance(n, Tensor) else np.floor
    choose: Any = where if isinstance(q, Tensor) or isinstance(n, Tensor) else np.where
    if method in PARAMETERS:
        a, b = PARAMETERS[method]
        place = n * q + (a + q * (1 - a - b)) - 1
        return down(place), place - down(place)
    if method in ("inverted_cdf", "averaged_inverted_cdf"):
        place = n * q - 1
        low = down(place)
        return low, choose(place > low, 1.0, 0.0 if method == "inverted_cdf" else 0.5)
    if method == "closest_observation":
        place = n * q - 1.5
        low = down(place)
        return low, choose((place - low == 0) & (low % 2 == 1), 0.0, 1.0)
    place = (n - 1) * q
    low = down(place)
    rest = place - low
    if method == "nearest":  # halves go to the even one
        return low, choose((rest > 0.5) | ((rest == 0.5) & (low % 2 == 1)), 1.0, 0.0)
    return low, choose(rest > 0, {"lower": 0.0, "higher": 1.0, "midpoint": 0.5}[method], 0.0)


def _gathered_last(x: Tensor, axis: Axis, name: str) -> tuple[Tensor, tuple[int, ...]]:
    """x with the axes merged into a last one, and those axes."""
    axes = normalize_axes(axis, x.ndim, name)
    rest = tuple([i for i in range(x.ndim) if i not in axes])
    return reshape(
        permute_dims(x, (*rest, *axes)), (*drop_axes(x.shape, axes), size_of(tuple([x.shape[a] for a in axes])))
    ), axes


def _quantile(
    name: str, x: Any, q: Any, axis: Axis, method: str, keepdims: bool, skip: bool, scale: float = 1.0
) -> Tensor:
    if method not in (*PARAMETERS, *STEPS):
        raise ValueError(f"{name}: method is one of {', '.join((*PARAMETERS, *STEPS))}, not {method!r}{at_user()}")
    t = real_tensor(name, x)
    wanted = q / scale if isinstance(q, Tensor) else np.asarray(q, np.float64) / scale
    if not isinstance(wanted, Tensor) and not np.all((wanted >= 0) & (wanted <= 1)):
        raise ValueError(f"{name}: {q} is outside of [0, {scale:g}]{at_user()}")
    merged, axes = _gathered_last(t, axis, name)
    count = merged.shape[-1]
    if not count:
        raise ValueError(f"{name}: no quantile of zero elements (shape {t.shape}){at_user()}")
    asked = reshape(wanted, (-1,)) if isinstance(wanted, Tensor) else wanted.reshape(-1)
    n: Any = count
    if skip:
        n = astype(sum(logical_not(isnan(merged)), axis=-1, keepdims=True), "float64")
        asked = asked if isinstance(asked, Tensor) else as_tensor(asked)
    low, share = _place(asked, n, method)
    found = _between(*_neighbours(merged, low, n - 1), share)
    if not skip:
        worst = largest(merged, axis=-1, keepdims=True)
        found = where(isnan(worst), worst, found)
    found = reshape(moveaxis(found, -1, 0), (*wanted.shape, *merged.shape[:-1]))
    return reshape(found, (*wanted.shape, *keep_axes(t.shape, axes))) if keepdims else found


def selected(x: Tensor, places: tuple[int, ...]) -> Tensor:
    """The elements at some places, in order, of the last axis sorted; NaN comes last."""
    return wrap(ops.selected(x.node, places, x.ndim - 1))


def _neighbours(x: Tensor, low: Any, last: Any) -> tuple[Tensor, Tensor]:
    """The elements at a place of the sorted ones, and at the next; `last` is the number of the last one, in each line or all."""
    if isinstance(low, Tensor):
        ordered = sort(x, axis=-1)
        places = [astype(clip(minimum_of(p, last), 0), int64) for p in (low, low + 1)]
    else:
        numbers = [np.clip(p, 0, last).astype(np.int64) for p in (low, low + 1)]
        kept = np.unique(numbers)
        if x.shape[-1] <= SHORT:
            ordered = sort(x, axis=-1)
        else:
            ordered = selected(x, tuple(kept.tolist()))
            numbers = [np.searchsorted(kept, p) for p in numbers]
        places = [as_tensor(p) for p in numbers]
    lead = ordered.shape[:-1]
    a, b = [take_along_axis(ordered, broadcast_to(p, (*lead, p.shape[-1])), axis=-1) for p in places]
    return a, b


def _between(a: Tensor, b: Tensor, share: Any) -> Tensor:
    """Between two neighbours, as far as the share says."""
    weight = astype(as_tensor(share), a.dtype)
    a, b = where(weight == 1, b, a), where(weight == 0, a, b)  # the other one, which doesn't count, may be infinite
    between = where(isfinite(b - a), a + (b - a) * weight, a * (1 - weight) + b * weight)
    return where(a == b, a, between)  # where both are infinite their difference is NaN


def minimum_of(x: Tensor, y: Any) -> Tensor:
    """The smaller of two, a number beside an array included."""
    return clip(x, max=y)


@scoped
def quantile(x: Operand, q: Any, /, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Tensor:
    """The q-quantiles over axes (None: all), q in [0, 1], a number or an array whose axes come first in the result.

    Between two elements it is interpolated, by default linearly; `method` is NumPy's. Differentiable in x, and in q where it
    interpolates. NaN where there is one. Raises ValueError for q out of range, an unknown method or no elements.

    >>> import adjoint as ad
    >>> ad.quantile(ad.tensor([1.0, 2.0, 4.0]), [0.5, 0.75])
    Tensor([2., 3.])
    """
    return _quantile("quantile", x, q, axis, method, keepdims, skip=False)


@scoped
def percentile(x: Operand, q: Any, /, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Tensor:
    """The quantiles for q in percent: `quantile` of q / 100.

    >>> import adjoint as ad
    >>> ad.percentile(ad.tensor([1.0, 2.0, 4.0]), 75)
    Tensor(3.)
    """
    return _quantile("percentile", x, q, axis, method, keepdims, skip=False, scale=100.0)


@scoped
def nanquantile(x: Operand, q: Any, /, axis: Axis = None, *, method: str = "linear", keepdims: bool = False) -> Tensor:
    """The quantiles of what isn't NaN: `quantile` otherwise; NaN where all are.

    >>> import adjoint as ad
    >>> ad.nanquantile(ad.tensor([1.0, ad.nan, 4.0]), 0.5)
    Tensor(2.5)
    """
    return _quantile("nanquantile", x, q, axis, method, keepdims, skip=True)


@scoped
def nanpercentile(
    x: Operand, q: Any, /, axis: Axis = None, *, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """The quantiles of what isn't NaN for q in percent.

    >>> import adjoint as ad
    >>> ad.nanpercentile(ad.tensor([1.0, ad.nan, 4.0]), 50)
    Tensor(2.5)
    """
    return _quantile("nanpercentile", x, q, axis, method, keepdims, skip=True, scale=100.0)


@scoped
def median(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The middle of the sorted elements over axes (None: all), or the mean of the two in the middle. NaN where there is one.

    >>> import adjoint as ad
    >>> ad.median(ad.tensor([1.0, 5.0, 2.0, 3.0]))
    Tensor(2.5)
    """
    return _quantile("median", x, 0.5, axis, "averaged_inverted_cdf", keepdims, skip=False)


@scoped
def nanmedian(x: Operand, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The median of what isn't NaN; NaN where all are.

    >>> import adjoint as ad
    >>> ad.nanmedian(ad.tensor([1.0, ad.nan, 2.0]))
    Tensor(1.5)
    """
    return _quantile("nanmedian", x, 0.5, axis, "averaged_inverted_cdf", keepdims, skip=True)


WHOLE = 64  # elements of a line that is put in order as a whole: native code does that faster than NumPy is called


def _ordered(x: Tensor, axis: int, descending: bool, count: int) -> tuple[Tensor, Tensor]:
    """The first so many along an axis in order, and their indices."""
    if x.shape[axis] > WHOLE:
        order = wrap(ops.leading(x.node, count, axis, descending))
    else:
        order = wrap(ops.argsort(x.node, axis, descending))
        order = order if count == x.shape[axis] else _front(order, axis, 0, count)
    return take_along_axis(x, order, axis=axis), order


def _front(x: Tensor, axis: int, start: int, stop: int) -> Tensor:
    return x[(*(slice(None),) * axis, slice(start, stop))]


@scoped
def topk(x: Operand, k: int, /, axis: int = -1, *, largest: bool = True) -> tuple[Tensor, Tensor]:
    """The k largest elements along an axis in order, or smallest, and their indices, int64. Raises ValueError for k out of range.

    >>> import adjoint as ad
    >>> ad.topk(ad.tensor([1.0, 3.0, 2.0]), 2)
    (Tensor([3., 2.]), Tensor([1, 2]))
    """
    t = as_tensor(x)
    place = normalize_axis(axis, t.ndim, "topk")
    if not 0 <= operator.index(k) <= t.shape[place]:
        raise ValueError(f"topk: {k} of {t.shape[place]} elements along axis {place}{at_user()}")
    return _ordered(t, place, largest, operator.index(k))


@scoped
def kthvalue(x: Operand, k: int, /, axis: int = -1, *, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The k-th smallest element along an axis, k counted from 1, and its index, int64. Raises ValueError for k out of range.

    >>> import adjoint as ad
    >>> ad.kthvalue(ad.tensor([1.0, 3.0, 2.0]), 2)
    (Tensor(2.), Tensor(2))
    """
    t = as_tensor(x)
    place = normalize_axis(axis, t.ndim, "kthvalue")
    if not 1 <= operator.index(k) <= t.shape[place]:
        raise ValueError(f"kthvalue: number {k} of {t.shape[place]} elements along axis {place}, from 1{at_user()}")
    found = [_front(y, place, k - 1, k) for y in _ordered(t, place, descending=False, count=operator.index(k))]
    values, order = found if keepdims else [y.squeeze(place) for y in found]
    return values, order
