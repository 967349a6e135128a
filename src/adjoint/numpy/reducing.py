"""Sums, means, quantiles and running sums, with NumPy's own arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.arrays import (
    order_statistics,
    running,
    selecting,
    statistics,
)
from adjoint.numpy.table import FUNCTIONS, NONE, stands_for
from adjoint.numpy.ufuncs import keepdims_of, masked, written
from adjoint.tensors import functions as f
from adjoint.tensors.composing import as_tensor, as_tensors
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor

__all__: list[str] = []


def _reduction(
    name: str, function: Callable[..., Tensor], neutral: Any, combine: Callable[..., Tensor]
) -> Callable[..., Any]:
    def call(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = NONE,
        initial: Any = NONE,
        where: Any = NONE,
    ) -> Any:
        start = None if initial is NONE or initial is None else initial
        t = masked(a, where, start if neutral is None else neutral)
        t = t if dtype is None else f.astype(t, dtype_of(dtype))
        if neutral is None and start is not None and not t.size:  # no element, but the number to begin with
            shape = f.any(t, axis=axis, keepdims=keepdims_of(keepdims)).shape
            found = f.broadcast_to(as_tensors(t, start)[1], shape)
        else:
            found = function(t, axis=axis, keepdims=keepdims_of(keepdims))
        if start is not None:
            found = combine(found, start)
        return written(name, found if dtype is None else f.astype(found, dtype_of(dtype)), out)

    call.__name__ = call.__qualname__ = name
    return call


_sum = _reduction("sum", f.sum, 0, f.add)
_prod = _reduction("prod", f.prod, 1, f.multiply)
FUNCTIONS.update({
    np.sum: _sum, np.prod: _prod,
    np.nansum: _reduction("nansum", statistics.nansum, 0, f.add),
    np.nanprod: _reduction("nanprod", statistics.nanprod, 1, f.multiply),
})  # fmt: skip


def _without_dtype(call: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = NONE, initial: Any = NONE, where: Any = NONE
    ) -> Any:
        return call(a, axis, None, out, keepdims, initial, where)

    extreme.__name__ = call.__name__
    return extreme


for _numpys, _name, _function, _neutral, _combine in (
    ((np.max, np.amax), "max", f.max, None, f.maximum), ((np.min, np.amin), "min", f.min, None, f.minimum),
    ((np.nanmax,), "nanmax", statistics.nanmax, None, selecting.fmax),
    ((np.nanmin,), "nanmin", statistics.nanmin, None, selecting.fmin),
):  # fmt: skip
    for _one in _numpys:
        FUNCTIONS[_one] = _without_dtype(_reduction(_name, _function, _neutral, _combine))


def _truth(name: str, function: Callable[..., Tensor], neutral: bool) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NONE, *, where: Any = NONE) -> Any:
        t = as_tensor(a) if where is NONE else f.where(where, f.not_equal(a, 0), neutral)
        return written(name, function(t, axis=axis, keepdims=keepdims_of(keepdims)), out)

    call.__name__ = name
    return call


FUNCTIONS.update({np.any: _truth("any", f.any, neutral=False), np.all: _truth("all", f.all, neutral=True)})


def _place(name: str, function: Callable[..., Tensor]) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NONE) -> Any:
        return written(name, function(a, axis=axis, keepdims=keepdims_of(keepdims)), out)

    call.__name__ = name
    return call


FUNCTIONS.update({
    np.argmax: _place("argmax", f.argmax), np.argmin: _place("argmin", f.argmin),
    np.nanargmax: _place("nanargmax", statistics.nanargmax), np.nanargmin: _place("nanargmin", statistics.nanargmin),
})  # fmt: skip


@stands_for(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return f.count_nonzero(a, axis, keepdims=keepdims_of(keepdims))


def _chosen(a: Any, where: Any, dtype: Any) -> Tensor:
    """The array with NaN in place of what `where` leaves out."""
    t = as_tensor(a) if dtype is None else f.astype(a, dtype_of(dtype))
    return t if where is NONE or where is True else f.where(where, t, math.nan)


def _moment(
    a: Any, where: Any, dtype: Any, function: Callable[..., Tensor], axis: Any, keepdims: Any, **more: Any
) -> Tensor:
    """A mean or spread of what `where` chooses: one that skips NaN leaves out the rest, and NaN that is chosen stays."""
    found = function(_chosen(a, where, dtype), axis, keepdims=keepdims, **more)
    unknown = f.any(f.logical_and(f.isnan(as_tensor(a)), where), axis=axis, keepdims=keepdims)
    return f.where(unknown, math.nan, found)


def _averaging(
    name: str, plain: Callable[..., Tensor], skipping: Callable[..., Tensor], always: bool
) -> Callable[..., Any]:
    def call(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NONE, *, where: Any = NONE
    ) -> Any:
        given, keep = where is not NONE and where is not True, keepdims_of(keepdims)
        if always and dtype is not None and as_tensor(a).dtype.inexact and not dtype_of(dtype).inexact:
            raise TypeError(f"{name}: of {as_tensor(a).dtype.name} numbers dtype= is inexact{at_user()}")
        if given and not always:
            found = _moment(a, where, dtype, skipping, axis, keep)
        else:
            found = (skipping if always else plain)(_chosen(a, where, dtype), axis, keepdims=keep)
        return written(name, found if dtype is None else f.astype(found, dtype_of(dtype)), out)

    call.__name__ = name
    return call


def _spread_around(t: Tensor, mean: Any, axis: Any, less: Any, keepdims: bool) -> Tensor:
    """The mean square distance from what is given as the mean, of the shape that keepdims= gives it."""
    size = f.abs(t - as_tensor(mean)) ** 2
    total = f.sum(size, axis=axis, keepdims=keepdims)
    spread: Tensor = total / max(t.size // max(total.size, 1) - less, 0)
    return spread


def _spreading(
    name: str, plain: Callable[..., Tensor], skipping: Callable[..., Tensor], always: bool
) -> Callable[..., Any]:
    def call(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NONE, *, where: Any = NONE,
        mean: Any = NONE, correction: Any = NONE,
    ) -> Any:  # fmt: skip
        if correction is not NONE and ddof != 0:
            raise ValueError(f"{name}: ddof= and correction= are two names of one number{at_user()}")
        less = ddof if correction is NONE else correction
        given, keep = where is not NONE and where is not True, keepdims_of(keepdims)
        if dtype is not None and as_tensor(a).dtype.inexact and not dtype_of(dtype).inexact:
            raise TypeError(
                f"{name}: dtype={dtype_of(dtype).name} would drop the fractions of what is summed{at_user()}"
            )
        if mean is not NONE:
            if given or always:
                raise TypeError(f"{name}: mean= isn't taken where elements are left out{at_user()}")
            found = _spread_around(_chosen(a, where, dtype), mean, axis, less, keep)
            found = f.sqrt(found) if name == "std" else found
        elif given and not always:
            found = _moment(a, where, dtype, skipping, axis, keep, correction=less)
        else:
            found = (skipping if always else plain)(_chosen(a, where, dtype), axis, correction=less, keepdims=keep)
        return written(name, found, out)

    call.__name__ = name
    return call


FUNCTIONS.update({
    np.mean: _averaging("mean", f.mean, statistics.nanmean, always=False),
    np.nanmean: _averaging("nanmean", f.mean, statistics.nanmean, always=True),
    np.var: _spreading("var", f.var, statistics.nanvar, always=False),
    np.std: _spreading("std", f.std, statistics.nanstd, always=False),
    np.nanvar: _spreading("nanvar", f.var, statistics.nanvar, always=True),
    np.nanstd: _spreading("nanstd", f.std, statistics.nanstd, always=True),
})  # fmt: skip


def _quantile(name: str, function: Callable[..., Tensor]) -> Callable[..., Any]:
    def call(
        a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
        keepdims: Any = False, *, weights: Any = None,
    ) -> Any:  # fmt: skip
        if weights is not None:
            raise TypeError(f"{name}: weights= isn't here; ad.average weighs means{at_user()}")
        return written(name, function(a, q, axis, method=method, keepdims=keepdims_of(keepdims)), out)

    call.__name__ = name
    return call


for _name in ("quantile", "percentile", "nanquantile", "nanpercentile"):
    FUNCTIONS[getattr(np, _name)] = _quantile(_name, getattr(order_statistics, _name))


def _median(name: str, function: Callable[..., Tensor]) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
        t = as_tensor(a)
        of = function if t.size else f.mean  # NaN of no elements, as the mean
        return written(name, of(t, axis, keepdims=keepdims_of(keepdims)), out)

    call.__name__ = name
    return call


FUNCTIONS.update(
    {
        np.median: _median("median", order_statistics.median),
        np.nanmedian: _median("nanmedian", order_statistics.nanmedian),
    }
)


@stands_for(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NONE) -> Any:
    return written("ptp", statistics.ptp(a, axis, keepdims=keepdims_of(keepdims)), out)


@stands_for(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NONE) -> Any:
    return statistics.average(a, axis, weights, returned=returned, keepdims=keepdims_of(keepdims))


@stands_for(np.cov)
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    found = statistics.cov(m, y, rowvar=rowvar, bias=bias, ddof=ddof, fweights=fweights, aweights=aweights)
    return found if dtype is None else f.astype(found, dtype_of(dtype))


@stands_for(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    found = statistics.corrcoef(x, y, rowvar=rowvar)
    return found if dtype is None else f.astype(found, dtype_of(dtype))


@stands_for(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    return statistics.histogram(a, bins, range, density=bool(density), weights=weights)


def _scanning(name: str, function: Callable[..., Tensor]) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return written(name, function(a, axis, dtype=None if dtype is None else dtype_of(dtype)), out)

    call.__name__ = name
    return call


FUNCTIONS.update({
    np.cumsum: _scanning("cumsum", running.cumsum), np.cumprod: _scanning("cumprod", running.cumprod),
    np.nancumsum: _scanning("nancumsum", statistics.nancumsum), np.nancumprod: _scanning("nancumprod", statistics.nancumprod),
})  # fmt: skip


@stands_for(np.cumulative_sum)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    return written("cumulative_sum", f.cumulative_sum(x, axis, dtype=dtype, include_initial=include_initial), out)


@stands_for(np.cumulative_prod)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    return written("cumulative_prod", f.cumulative_prod(x, axis, dtype=dtype, include_initial=include_initial), out)
