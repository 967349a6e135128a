"""NumPy's functions of its main namespace with NumPy's own arguments, for tensors handed to them and as `adjoint.numpy`."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.arrays import (
    calculus,
    joining,
    mapping,
    matrices,
    polynomials,
    running,
    scattering,
    selecting,
    sets,
    standard,
    statistics,
)
from adjoint.numpy import methods
from adjoint.numpy.ufuncs import keepdims_of, masked, written
from adjoint.primitives.core import is_scalar
from adjoint.tensors import functions as f
from adjoint.tensors.composing import as_tensor, scoped, value_of
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import at_user
from adjoint.tensors.pending import force_selection
from adjoint.tensors.tensor import Tensor

__all__ = ["FUNCTIONS"]

NONE = np._NoValue
FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def _for(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what stands for functions of NumPy's."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for numpys in functions:
            FUNCTIONS[numpys] = function
        return function

    return register


# Reductions -----------------------------------------------------------------------------------------------------------


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
    ((np.nanmax,), "nanmax", statistics.nanmax, None, f.maximum), ((np.nanmin,), "nanmin", statistics.nanmin, None, f.minimum),
):  # fmt: skip
    for _one in _numpys:
        FUNCTIONS[_one] = _without_dtype(_reduction(_name, _function, _neutral, _combine))


def _truth(name: str, function: Callable[..., Tensor], neutral: bool) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NONE, *, where: Any = NONE) -> Any:
        t = as_tensor(a) if where is NONE else f.where(where, f.not_equal(a, 0), neutral)
        return written(name, function(t, axis=axis, keepdims=keepdims_of(keepdims)), out)

    call.__name__ = name
    return call


FUNCTIONS.update({np.any: _truth("any", f.any, False), np.all: _truth("all", f.all, True)})


def _place(name: str, function: Callable[..., Tensor]) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NONE) -> Any:
        return written(name, function(a, axis=axis, keepdims=keepdims_of(keepdims)), out)

    call.__name__ = name
    return call


FUNCTIONS.update({
    np.argmax: _place("argmax", f.argmax), np.argmin: _place("argmin", f.argmin),
    np.nanargmax: _place("nanargmax", statistics.nanargmax), np.nanargmin: _place("nanargmin", statistics.nanargmin),
})  # fmt: skip


@_for(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return f.count_nonzero(a, axis, keepdims=keepdims_of(keepdims))


def _chosen(a: Any, where: Any, dtype: Any) -> Tensor:
    """The array with NaN in place of what `where` leaves out."""
    t = as_tensor(a) if dtype is None else f.astype(a, dtype_of(dtype))
    return t if where is NONE or where is True else f.where(where, t, math.nan)


def _averaging(
    name: str, plain: Callable[..., Tensor], skipping: Callable[..., Tensor], always: bool
) -> Callable[..., Any]:
    def call(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NONE, *, where: Any = NONE
    ) -> Any:
        function = plain if (where is NONE or where is True) and not always else skipping
        found = function(_chosen(a, where, dtype), axis, keepdims=keepdims_of(keepdims))
        return written(name, found if dtype is None else f.astype(found, dtype_of(dtype)), out)

    call.__name__ = name
    return call


def _spreading(
    name: str, plain: Callable[..., Tensor], skipping: Callable[..., Tensor], always: bool
) -> Callable[..., Any]:
    def call(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NONE, *, where: Any = NONE,
        mean: Any = NONE, correction: Any = NONE,
    ) -> Any:  # fmt: skip
        less = ddof if correction is NONE else correction
        function = plain if (where is NONE or where is True) and not always else skipping
        return written(
            name, function(_chosen(a, where, dtype), axis, correction=less, keepdims=keepdims_of(keepdims)), out
        )

    call.__name__ = name
    return call


FUNCTIONS.update({
    np.mean: _averaging("mean", f.mean, statistics.nanmean, False),
    np.nanmean: _averaging("nanmean", f.mean, statistics.nanmean, True),
    np.var: _spreading("var", f.var, statistics.nanvar, False), np.std: _spreading("std", f.std, statistics.nanstd, False),
    np.nanvar: _spreading("nanvar", f.var, statistics.nanvar, True),
    np.nanstd: _spreading("nanstd", f.std, statistics.nanstd, True),
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
    FUNCTIONS[getattr(np, _name)] = _quantile(_name, getattr(statistics, _name))


def _median(name: str, function: Callable[..., Tensor]) -> Callable[..., Any]:
    def call(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
        return written(name, function(a, axis, keepdims=keepdims_of(keepdims)), out)

    call.__name__ = name
    return call


FUNCTIONS.update(
    {np.median: _median("median", statistics.median), np.nanmedian: _median("nanmedian", statistics.nanmedian)}
)


@_for(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NONE) -> Any:
    return written("ptp", statistics.ptp(a, axis, keepdims=keepdims_of(keepdims)), out)


@_for(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NONE) -> Any:
    return statistics.average(a, axis, weights, returned=returned, keepdims=keepdims_of(keepdims))


@_for(np.cov)
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    found = statistics.cov(m, y, rowvar=rowvar, bias=bias, ddof=ddof, fweights=fweights, aweights=aweights)
    return found if dtype is None else f.astype(found, dtype_of(dtype))


@_for(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    found = statistics.corrcoef(x, y, rowvar=rowvar)
    return found if dtype is None else f.astype(found, dtype_of(dtype))


@_for(np.histogram)
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


@_for(np.cumulative_sum)
def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    return written("cumulative_sum", f.cumulative_sum(x, axis, dtype=dtype, include_initial=include_initial), out)


@_for(np.cumulative_prod)
def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Any:
    return written("cumulative_prod", f.cumulative_prod(x, axis, dtype=dtype, include_initial=include_initial), out)


# Elementwise ----------------------------------------------------------------------------------------------------------


@_for(np.clip)
def clip(
    a: Any, a_min: Any = NONE, a_max: Any = NONE, out: Any = None, *, min: Any = NONE, max: Any = NONE, **idle: Any
) -> Any:
    low, high = (x if y is NONE else y for x, y in ((a_min, min), (a_max, max)))
    low, high = (None if x is NONE else x for x in (low, high))
    return written("clip", f.clip(a, low, high), out)


@_for(np.round, np.around)
def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    t = as_tensor(a)
    factor = 10.0 ** operator.index(decimals)
    found = f.round(t) if not decimals or t.dtype.kind != "f" else f.round(t * factor) / factor
    return written("round", found, out)


@_for(np.fix)
def fix(x: Any, out: Any = None) -> Any:
    return written("fix", f.trunc(x), out)


@_for(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return selecting.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@_for(np.where)
def where(condition: Any, /, *choices: Any) -> Any:
    return f.where(condition, *choices) if choices else f.nonzero(condition)


@_for(np.angle)
@scoped
def angle(z: Any, deg: bool = False) -> Any:
    t = as_tensor(z)
    found = f.atan2(f.imag(t), f.real(t)) if t.dtype.kind != "b" else t * 0.0
    return found * (180 / math.pi) if deg else found


@_for(np.unwrap)
@scoped
def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * math.pi) -> Any:
    t = as_tensor(p)
    steps = f.diff(t, axis=axis)
    limit = period / 2 if discont is None else max(discont, period / 2)
    wrapped = (steps + period / 2) % period - period / 2
    wrapped = f.where(f.logical_and(wrapped == -period / 2, steps > 0), period / 2, wrapped)
    fixes = f.where(f.abs(steps) < limit, 0.0, wrapped - steps)
    return t + f.moveaxis(
        f.cumulative_sum(f.pad(f.moveaxis(fixes, axis, -1), ((0, 0),) * (t.ndim - 1) + ((1, 0),)), -1), -1, axis
    )


@_for(np.real_if_close)
def real_if_close(a: Any, tol: float = 100) -> Any:
    t = as_tensor(a)
    if t.dtype.kind != "c":
        return t
    limit = tol * float(np.finfo(t.dtype.dtype).eps) if tol > 1 else tol
    return t.real if bool(np.all(np.abs(force_selection(t.imag.node)) < limit)) else t


@_for(np.iscomplex)
def iscomplex(x: Any) -> Any:
    return f.imag(x) != 0


@_for(np.isreal)
def isreal(x: Any) -> Any:
    return f.imag(x) == 0


@_for(np.isposinf)
def isposinf(x: Any, out: Any = None) -> Any:
    return written("isposinf", as_tensor(x) == math.inf, out)


@_for(np.isneginf)
def isneginf(x: Any, out: Any = None) -> Any:
    return written("isneginf", as_tensor(x) == -math.inf, out)


@_for(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    return selecting.select(condlist, choicelist, default)


@_for(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    return selecting.piecewise(x, condlist, funclist, *args, **kw)


# Shapes ---------------------------------------------------------------------------------------------------------------


@_for(np.reshape)
def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    t = as_tensor(a)
    if order not in ("C", "F", "A"):
        raise ValueError(f"reshape: order is 'C' or 'F', got {order!r}{at_user()}")
    if order != "F":
        return f.reshape(t, shape)
    sizes = [shape] if is_scalar(shape) else list(shape)
    turned = f.reshape(f.permute_dims(t, tuple(range(t.ndim))[::-1]), tuple(sizes[::-1]))
    return f.permute_dims(turned, tuple(range(turned.ndim))[::-1])


@_for(np.transpose)
def transpose(a: Any, axes: Any = None) -> Any:
    t = as_tensor(a)
    return f.permute_dims(t, tuple(range(t.ndim))[::-1] if axes is None else axes)


@_for(np.rollaxis)
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    t = as_tensor(a)
    place = axis % t.ndim
    to = start + t.ndim if start < 0 else start
    return f.moveaxis(t, place, to - 1 if place < to else to)


@_for(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    return f.repeat(a, repeats, axis=axis)


@_for(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    flat = f.flatten(joining.atleast_1d(a))
    shape = (new_shape,) if is_scalar(new_shape) else tuple(new_shape)
    size = math.prod(shape)
    return (
        f.zeros(shape, dtype=flat.dtype)
        if not flat.size
        else f.reshape(f.take(flat, np.arange(size) % flat.size), shape)
    )


@_for(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    return f.broadcast_to(array, shape)


@_for(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    # NumPy takes what is no number too: Matplotlib's `bar` hands it a None
    shape = np.broadcast_shapes(*[np.shape(x) for x in arrays])
    return tuple([f.broadcast_to(x, shape) if isinstance(x, Tensor) else np.broadcast_to(x, shape) for x in arrays])


@_for(np.concatenate)
def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    found = f.concat(list(arrays), axis=axis)
    return written("concatenate", found if dtype is None else f.astype(found, dtype_of(dtype)), out)


def _stacking(name: str, function: Callable[..., Tensor]) -> Callable[..., Any]:
    def call(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
        found = function(list(tup))
        return found if dtype is None else f.astype(found, dtype_of(dtype))

    call.__name__ = name
    return call


FUNCTIONS.update({
    np.hstack: _stacking("hstack", joining.hstack), np.vstack: _stacking("vstack", joining.vstack),
    np.dstack: _stacking("dstack", joining.dstack), np.column_stack: _stacking("column_stack", joining.column_stack),
})  # fmt: skip


@_for(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    found = f.stack(list(arrays), axis=axis)
    return written("stack", found if dtype is None else f.astype(found, dtype_of(dtype)), out)


@_for(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    options = dict(kwargs)
    t = as_tensor(array)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(i, pad_width.get(i - t.ndim, 0)) for i in range(t.ndim)]
        pad_width = [(w, w) if is_scalar(w) else tuple(w) for w in pad_width]
    if callable(mode):
        raise TypeError(f"pad: a function as mode isn't here; ad.concat puts arrays side by side{at_user()}")
    value = options.pop("constant_values", 0)
    if mode == "constant" and not is_scalar(value) and np.size(value) > 1:
        return _padded_by(t, pad_width, np.broadcast_to(np.asarray(value), (t.ndim, 2)))
    value = value if is_scalar(value) or isinstance(value, Tensor) else np.asarray(value).reshape(())
    return f.pad(t, pad_width, mode, value=value, **options)


def _padded_by(t: Tensor, widths: Any, values: Any) -> Tensor:
    pairs = np.broadcast_to(np.asarray(widths), (t.ndim, 2)).tolist()
    for axis, ((before, after), ends) in enumerate(zip(pairs, values.tolist(), strict=True)):
        sides = [
            f.full((*t.shape[:axis], w, *t.shape[axis + 1 :]), v, dtype=t.dtype)
            for w, v in zip((before, after), ends, strict=True)
        ]
        t = f.concat([sides[0], t, sides[1]], axis=axis)
    return t


@_for(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return f.sort(f.flatten(as_tensor(a)), axis=0) if axis is None else f.sort(a, axis=axis)


@_for(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return f.argsort(f.flatten(as_tensor(a)), axis=0) if axis is None else f.argsort(a, axis=axis)


@_for(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    return sort(a, axis)


@_for(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    return argsort(a, axis)


@_for(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    listed = f.unstack(keys) if isinstance(keys, Tensor) else [as_tensor(k) for k in keys]
    order = f.argsort(listed[0], axis=axis)
    for key in listed[1:]:
        order = f.take_along_axis(order, f.argsort(f.take_along_axis(key, order, axis=axis), axis=axis), axis=axis)
    return order


@_for(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    t = f.flatten(joining.atleast_1d(a)) if axis is None else as_tensor(a)
    place = 0 if axis is None else axis
    i = as_tensor(indices)
    n = t.shape[place]
    i = i % n if mode == "wrap" else f.clip(i, 0, n - 1) if mode == "clip" else i
    return written("take", f.take(t, i, axis=place), out)


@_for(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    return (
        f.take_along_axis(f.flatten(as_tensor(arr)), indices, axis=0)
        if axis is None
        else f.take_along_axis(arr, indices, axis=axis)
    )


@_for(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NONE, append: Any = NONE) -> Any:
    ends = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not NONE}
    return f.diff(a, n=n, axis=axis, **ends)


@_for(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    steps = f.diff(f.flatten(as_tensor(ary)))
    ends = [None if e is None else f.flatten(joining.atleast_1d(e)) for e in (to_begin, to_end)]
    return f.concat([x for x in (ends[0], steps, ends[1]) if x is not None])


@_for(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    return f.squeeze(a, axis)


@_for(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    return f.flip(m, axis)


@_for(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    return f.roll(a, value_of(shift) if not is_scalar(shift) else shift, axis=axis)


@_for(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    return f.expand_dims(a, axis)


@_for(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    return f.tril(m, k=k)


@_for(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    return f.triu(m, k=k)


@_for(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    return polynomials.vander(x, N, increasing=increasing)


@_for(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    grids = f.meshgrid(*[f.flatten(joining.atleast_1d(x)) for x in xi], indexing=indexing)
    if not sparse:
        return grids
    places = list(range(len(grids)))
    if indexing == "xy" and len(places) > 1:
        places[0], places[1] = 1, 0
    return tuple([
        g[tuple([slice(None) if i == p else slice(0, 1) for i in range(g.ndim)])] for g, p in zip(grids, places, strict=True)
    ])  # fmt: skip


@_for(np.linspace)
def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0, *,
    device: Any = None,
) -> Any:  # fmt: skip
    found = f.linspace(start, stop, num, endpoint=endpoint, dtype=dtype)
    found = f.moveaxis(found, 0, axis) if axis else found
    return (found, (stop - start) / (num - 1 if endpoint else num)) if retstep else found


@_for(np.logspace)
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    found = f.power(base, f.linspace(start, stop, num, endpoint=endpoint))
    found = f.moveaxis(found, 0, axis) if axis else found
    return found if dtype is None else f.astype(found, dtype_of(dtype))


@_for(np.geomspace)
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    first = as_tensor(start)
    found = f.linspace(0.0, 1.0, num, endpoint=endpoint, dtype=(first * 1.0).dtype)
    found = f.reshape(found, (num, *(1,) * first.ndim))
    found = first * f.exp(found * f.log(as_tensor(stop) / first))
    found = f.moveaxis(found, 0, axis) if axis else found
    return found if dtype is None else f.astype(found, dtype_of(dtype))


# Searching and sets ---------------------------------------------------------------------------------------------------


@_for(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return sets.searchsorted(a, v, side=side, sorter=sorter)


@_for(np.unique)
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None, *,
    equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    t = as_tensor(ar)
    array = force_selection(t.node)
    _, first, inverse, counts = np.unique(
        array, return_index=True, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan
    )
    values = f.take(f.flatten(t), first) if axis is None else f.take(t, first, axis=axis)
    more = [
        as_tensor(n)
        for n, asked in ((first, return_index), (inverse, return_inverse), (counts, return_counts))
        if asked
    ]
    return (values, *more) if more else values


@_for(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    return sets.isin(element, test_elements, invert=invert)


@_for(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    return unique(f.concat([f.flatten(as_tensor(x)) for x in (ar1, ar2)]))


@_for(np.intersect1d)
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    first, second = f.flatten(as_tensor(ar1)), f.flatten(as_tensor(ar2))
    _, i, j = np.intersect1d(force_selection(first.node), force_selection(second.node), return_indices=True)
    found = f.take(first, i)
    return (found, as_tensor(i), as_tensor(j)) if return_indices else found


@_for(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    values = f.flatten(as_tensor(ar1)) if assume_unique else unique(ar1)
    return values[sets.isin(values, ar2, invert=True)]


@_for(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    a, b = unique(ar1), unique(ar2)
    return f.sort(f.concat([a[sets.isin(a, b, invert=True)], b[sets.isin(b, a, invert=True)]]))


@_for(np.argwhere)
def argwhere(a: Any) -> Any:
    return f.stack(f.nonzero(a), axis=1) if as_tensor(a).ndim else f.zeros((int(bool(as_tensor(a))), 0), dtype="int64")


@_for(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    return f.nonzero(f.flatten(joining.atleast_1d(a)))[0]


@_for(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    return f.flatten(as_tensor(arr))[flatnonzero(condition)]


@_for(np.trim_zeros)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    t = as_tensor(filt)
    places = np.argwhere(force_selection(t.node))
    if not len(places):
        return t[(slice(0, 0),) * t.ndim]
    low, high = places.min(0), places.max(0) + 1
    front, back = ("f" in trim.lower()), ("b" in trim.lower())
    return t[tuple([slice(a if front else None, b if back else None) for a, b in zip(low, high, strict=True)])]


# In place: the tensor's name gets a new value -------------------------------------------------------------------------


def _target(name: str, a: Any) -> Tensor:
    if not isinstance(a, Tensor):
        raise TypeError(
            f"{name}: it writes into NumPy's array, in which a tensor has no derivative; make it a tensor before: a = "
            f"ad.tensor(a){at_user()}"
        )
    return a


@_for(np.fill_diagonal)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    t = _target("fill_diagonal", a)
    t._assign(matrices.fill_diagonal(t, val, wrap=wrap).node, "fill_diagonal")


@_for(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    t = _target("copyto", dst)
    new = f.broadcast_to(as_tensor(src), t.shape).astype(t.dtype)
    t._assign((new if where is True else f.where(where, new, t)).node, "copyto")


@_for(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    t = _target("putmask", a)
    new = f.flatten(joining.atleast_1d(values))
    spread = f.reshape(f.take(new, np.arange(t.size) % new.size), t.shape).astype(t.dtype)
    t._assign(f.where(mask, spread, t).node, "putmask")


@_for(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    t = _target("place", arr)
    places = np.flatnonzero(force_selection(as_tensor(mask).node))
    methods.put(t, places, vals)


@_for(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    methods.put(_target("put", a), ind, v, mode)


@_for(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any = -1) -> None:
    t = _target("put_along_axis", arr)
    t._assign(scattering.put_along_axis(t, indices, values, axis=axis).node, "put_along_axis")


# Functions, polynomials, products -------------------------------------------------------------------------------------


@_for(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    return mapping.apply_along_axis(func1d, axis, arr, *args, **kwargs)


@_for(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    t = as_tensor(a)
    for axis in [axes] if is_scalar(axes) else axes:
        found = as_tensor(func(t, axis))
        t = found if found.ndim == t.ndim else f.expand_dims(found, axis)
    return t


@_for(np.polyfit)
def polyfit(x: Any, y: Any, deg: int, rcond: Any = None, full: bool = False, w: Any = None, cov: bool = False) -> Any:
    if full or cov:
        raise TypeError(f"polyfit: full= and cov= aren't here; ad.linalg.lstsq gives residuals and rank{at_user()}")
    return polynomials.polyfit(x, y, deg, rcond, w=w)


@_for(np.polyint)
def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    return polynomials.polyint(p, m, k)


@_for(np.interp)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    return calculus.interp(x, xp, fp, left, right, period)


@_for(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    return calculus.gradient(f, *varargs, axis=axis, edge_order=edge_order)


@_for(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    return calculus.trapezoid(y, x, dx, axis)


@_for(np.dot)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    return written("dot", f.dot(a, b), out)


@_for(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    return written("outer", f.outer(a, b), out)


@_for(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    return f.tensordot(a, b, axes=axes)


@_for(np.einsum)
def einsum(*operands: Any, out: Any = None, optimize: Any = False, **idle: Any) -> Any:
    return written("einsum", f.einsum(*operands), out)


@_for(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    return joining.insert(arr, obj, values, axis)


@_for(np.astype)
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return f.astype(x, dtype, device=device)


def _like(function: Callable[..., Tensor]) -> Callable[..., Any]:
    def call(
        a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
    ) -> Any:
        found = function(a, dtype=dtype)
        return found if shape is None else f.full(shape, 1 if function is f.ones_like else 0, dtype=found.dtype)

    call.__name__ = function.__name__
    return call


@_for(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    t = as_tensor(a)
    return (
        f.full_like(t, fill_value, dtype=dtype) if shape is None else f.full(shape, fill_value, dtype=dtype or t.dtype)
    )


@_for(np.sort_complex)
def sort_complex(a: Any) -> Any:
    t = as_tensor(a)
    order = f.argsort(f.imag(t), axis=-1)
    order = f.take_along_axis(order, f.argsort(f.take_along_axis(f.real(t), order, axis=-1), axis=-1), axis=-1)
    found = f.take_along_axis(t, order, axis=-1)
    return found if found.dtype.kind == "c" else found + 0j


def _indices(function: Any) -> Callable[..., Any]:
    return lambda arr, k=0: function(as_tensor(arr).shape[0], k, as_tensor(arr).shape[1])


FUNCTIONS.update({
    np.zeros_like: _like(f.zeros_like), np.ones_like: _like(f.ones_like), np.empty_like: _like(f.zeros_like),
    np.copy: lambda a, order="K", subok=False: methods.copy(a), np.diagonal: methods.diagonal, np.trace: methods.trace,
    np.choose: methods.choose,
    np.compress: lambda condition, a, axis=None, out=None: methods.compress(a, condition, axis, out),
    np.ravel: joining.ravel, np.moveaxis: lambda a, source, destination: f.moveaxis(a, source, destination),
    np.swapaxes: lambda a, axis1, axis2: f.swapaxes(a, axis1, axis2),
    np.matrix_transpose: lambda x, /: f.matrix_transpose(x), np.nonzero: lambda a: f.nonzero(a),
    np.tile: lambda A, reps: f.tile(A, reps), np.real: lambda val: f.real(val), np.imag: lambda val: f.imag(val),
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: int(a.size) if axis is None else a.shape[axis],
    np.split: lambda ary, indices_or_sections, axis=0: f.split(ary, indices_or_sections, axis),
    np.array_split: lambda ary, indices_or_sections, axis=0: joining.array_split(ary, indices_or_sections, axis),
    np.hsplit: lambda ary, indices_or_sections: joining.hsplit(ary, indices_or_sections),
    np.vsplit: lambda ary, indices_or_sections: joining.vsplit(ary, indices_or_sections),
    np.dsplit: lambda ary, indices_or_sections: joining.dsplit(ary, indices_or_sections),
    np.unstack: lambda x, /, *, axis=0: f.unstack(x, axis=axis),
    np.atleast_1d: joining.atleast_1d, np.atleast_2d: joining.atleast_2d, np.atleast_3d: joining.atleast_3d,
    np.block: lambda arrays: joining.block(arrays),
    np.append: lambda arr, values, axis=None: joining.append(arr, values, axis),
    np.delete: lambda arr, obj, axis=None: joining.delete(arr, obj, axis),
    np.rot90: lambda m, k=1, axes=(0, 1): joining.rot90(m, k, axes), np.fliplr: lambda m: joining.fliplr(m),
    np.flipud: lambda m: joining.flipud(m),
    np.diag: lambda v, k=0: matrices.diag(v, k), np.diagflat: lambda v, k=0: matrices.diagflat(v, k),
    np.inner: lambda a, b, /: matrices.inner(a, b), np.vdot: lambda a, b, /: matrices.vdot(a, b),
    np.bincount: lambda x, /, weights=None, minlength=0: statistics.bincount(x, weights, minlength),
    np.digitize: lambda x, bins, right=False: statistics.digitize(x, bins, right),
    np.poly: lambda seq_of_zeros: polynomials.poly(seq_of_zeros), np.roots: lambda p: polynomials.roots(p),
    np.polyadd: lambda a1, a2: polynomials.polyadd(a1, a2), np.polysub: lambda a1, a2: polynomials.polysub(a1, a2),
    np.polymul: lambda a1, a2: polynomials.polymul(a1, a2), np.polydiv: lambda u, v: polynomials.polydiv(u, v),
    np.polyder: lambda p, m=1: polynomials.polyder(p, m), np.polyval: lambda p, x: polynomials.polyval(p, x),
    np.unique_all: lambda x: sets.unique_all(x), np.unique_counts: lambda x: sets.unique_counts(x),
    np.unique_inverse: lambda x: sets.unique_inverse(x), np.unique_values: lambda x: sets.unique_values(x),
    np.result_type: lambda *args: f.result_type(*args).dtype,
    np.can_cast: lambda from_, to, casting="safe": standard.can_cast(from_, to),
    np.diag_indices_from: lambda arr: np.diag_indices(arr.shape[0], arr.ndim),
    np.tril_indices_from: _indices(np.tril_indices), np.triu_indices_from: _indices(np.triu_indices),
})  # fmt: skip
