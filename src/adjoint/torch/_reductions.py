"""PyTorch's reductions, running totals, and sorting."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from adjoint.arrays import running
from adjoint.dtypes import default_dtype
from adjoint.tensors import functions as core
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import at_user

from ._elementwise import made
from ._names import FUNCTIONS, METHODS, function, make_in_place, pair_type, recorded_at_user
from ._operators import TWO, binary_node
from ._tensor import Core

Dim = Any


def axes_of(dim: Dim) -> Any:
    """The axes that `dim` names; None for all of them."""
    if dim is None:
        return None
    if isinstance(dim, (list, tuple)):
        return tuple(int(d) for d in dim) if len(dim) else None
    return int(dim)


def count_of(x: Any, dim: Dim) -> int:
    """How many elements are reduced into one."""
    axes = axes_of(dim)
    axes = range(x.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
    return math.prod(x.node.type.shape[a] for a in axes)


def is_zero_d(x: Any) -> bool:
    """Whether a tensor has no axes; PyTorch then takes 0 and -1 as one."""
    return x.node.type.ndim == 0


def lifted(x: Any, dim: Dim) -> tuple[Any, bool]:
    """A tensor with one axis where it had none and an axis is named."""
    if is_zero_d(x) and dim is not None:
        check_axis(dim, 0)
        return core.reshape(x, (1,)), True
    return x, False


def check_axis(dim: Dim, ndim: int) -> None:
    """Raise IndexError for an axis that isn't there."""
    high = builtins.max(ndim, 1)
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        if not -high <= d < high:
            raise IndexError(f"dimension out of range: {d} for a tensor with {ndim} axes{at_user()}")


def cast_first(x: Any, dtype: Any) -> Any:
    """A tensor as the dtype to compute in; integers and bools as int64 where none is said."""
    if dtype is not None:
        return core.astype(x, dtype_of(dtype))
    return core.astype(x, "int64") if x.dtype.kind in "biu" else x


@function()
def sum(input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum over some axes, or all. Integers and bools become int64."""
    x, _ = lifted(cast_first(input, dtype), dim)
    out = core.sum(x, axis=axes_of(dim), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


@function()
def nansum(input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum with NaN counted as 0."""
    x = cast_first(input, dtype)
    return sum(core.where(core.isnan(x), 0, x) if x.dtype.inexact else x, dim, keepdim)


def _floating(name: str, x: Any, dtype: Any = None) -> Any:
    if dtype is not None:
        return core.astype(x, dtype_of(dtype))
    if not x.dtype.inexact:
        raise RuntimeError(
            f"{name}: needs floating or complex numbers, got {x.dtype.name}; x.float() makes them{at_user()}"
        )
    return x


@function()
def mean(input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean over some axes, or all. Raises for integers."""
    x, _ = lifted(_floating("mean", input, dtype), dim)
    if count_of(x, dim) == 0:
        return core.sum(x, axis=axes_of(dim), keepdims=keepdim) / 0.0
    out = core.mean(x, axis=axes_of(dim), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


@function()
def nanmean(input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean of what isn't NaN."""
    x = _floating("nanmean", input, dtype)
    there = core.logical_not(core.isnan(x))
    return nansum(x, dim, keepdim) / core.astype(sum(there, dim, keepdim), x.dtype)


@function()
def prod(input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product over one axis, or all."""
    x, _ = lifted(cast_first(input, dtype), dim)
    out = core.prod(x, axis=axes_of(dim), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


def _correction(unbiased: Any, correction: Any) -> Any:
    if unbiased is not None and correction is not None:
        raise TypeError(f"give unbiased or correction, not both{at_user()}")
    if correction is not None:
        return correction
    return 1 if unbiased is None or unbiased else 0


def _spread(name: str, x: Any, dim: Dim, unbiased: Any, keepdim: bool, correction: Any) -> tuple[Any, Any, Any]:
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    x, _ = lifted(_floating(name, x), dim)
    return x, axes_of(dim), _correction(unbiased, correction)


@function()
def var(input: Any, dim: Dim = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
    """The variance: the sum of squared deviations over N - 1 (or N - correction)."""
    x, axes, c = _spread("var", input, dim, unbiased, keepdim, correction)
    n = count_of(x, dim if not isinstance(dim, bool) else None)
    if n - c <= 0:
        deviations = (
            core.var(x, axis=axes, correction=0.0, keepdims=keepdim)
            if n
            else core.sum(core.real(x), axis=axes, keepdims=keepdim)
        )
        return deviations * (n / 0.0 if False else math.nan) if n <= 1 else deviations * math.inf
    out = core.var(x, axis=axes, correction=float(c), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


@function()
def std(input: Any, dim: Dim = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None) -> Any:
    """The standard deviation: the root of `var`."""
    x, axes, c = _spread("std", input, dim, unbiased, keepdim, correction)
    if count_of(x, dim if not isinstance(dim, bool) else None) - c <= 0:
        return core.sqrt(var(input, dim, unbiased, keepdim, correction=correction))
    out = core.std(x, axis=axes, correction=float(c), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


@function(methods=False)
def var_mean(
    input: Any, dim: Dim = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """The variance and the mean."""
    chosen = None if isinstance(dim, bool) else dim
    return var(input, dim, unbiased, keepdim, correction=correction), mean(input, chosen, keepdim)


@function(methods=False)
def std_mean(
    input: Any, dim: Dim = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None
) -> Any:
    """The standard deviation and the mean."""
    chosen = None if isinstance(dim, bool) else dim
    return std(input, dim, unbiased, keepdim, correction=correction), mean(input, chosen, keepdim)


def _arg_extreme(x: Any, dim: int, largest: bool) -> Any:
    """Positions of the extremes along an axis, with the axis kept; the first among equals."""
    y = core.astype(x, "uint8") if x.dtype.kind == "b" else x
    return (core.argmax if largest else core.argmin)(y.detach(), axis=dim, keepdims=True)


def _extreme_along(name: str, x: Any, dim: int, keepdim: bool, largest: bool) -> Any:
    full, was_zero_d = lifted(x, dim)
    check_axis(dim, full.ndim)
    at = _arg_extreme(full, dim, largest)
    values = core.take_along_axis(full, at, axis=dim)
    if not keepdim or was_zero_d:
        values, at = core.squeeze(values, axis=dim), core.squeeze(at, axis=dim)
    return pair_type(name, "values", "indices")(values, at)


def _extreme(name: str, largest: bool) -> Any:
    whole = core.max if largest else core.min

    def called(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        other = dim if isinstance(dim, Core) else other
        if other is not None:
            return made(binary_node(name, TWO["maximum" if largest else "minimum"], input, other))
        if dim is None:
            x = core.astype(input, "uint8") if input.dtype.kind == "b" else input
            return core.astype(whole(x), input.dtype)
        return _extreme_along(name, input, dim, keepdim, largest)

    called.__name__ = name
    called.__doc__ = f"The {name} of all elements; of an axis, with its positions; or of two tensors, elementwise."
    return recorded_at_user(called)


for _name, _largest in (("max", True), ("min", False)):
    FUNCTIONS[_name] = METHODS[_name] = _extreme(_name, _largest)


def _amount(name: str, f: Any) -> None:
    def called(input: Any, dim: Dim = (), keepdim: bool = False) -> Any:
        x, _ = lifted(input, dim if dim != () else None)
        y = core.astype(x, "uint8") if x.dtype.kind == "b" else x
        out = core.astype(f(y, axis=axes_of(dim), keepdims=keepdim), x.dtype)
        return core.reshape(out, ()) if is_zero_d(input) else out

    called.__name__ = name
    called.__doc__ = f"The {name[1:]} over some axes, or all; a gradient is shared among equals."
    FUNCTIONS[name] = METHODS[name] = recorded_at_user(called)


_amount("amax", core.max)
_amount("amin", core.min)


@function()
def aminmax(input: Any, *, dim: Dim = None, keepdim: bool = False) -> Any:
    """The smallest and the largest."""
    return pair_type("aminmax", "min", "max")(
        FUNCTIONS["amin"](input, () if dim is None else dim, keepdim), FUNCTIONS["amax"](input, () if dim is None else dim, keepdim)  # noqa: E501
    )  # fmt: skip


def _position(name: str, f: Any) -> None:
    def called(input: Any, dim: Dim = None, keepdim: bool = False) -> Any:
        if input.dtype.kind == "b":
            raise RuntimeError(f"{name}: bools have none; x.int() makes numbers of them{at_user()}")
        x, was_zero_d = lifted(input, dim)
        if dim is None:
            out = f(core.flatten(x))
            return core.reshape(out, (1,) * input.ndim) if keepdim else out
        out = f(x, axis=dim, keepdims=keepdim)
        return core.reshape(out, ()) if was_zero_d else out

    called.__name__ = name
    called.__doc__ = f"The position of the {name[3:]} along an axis, or in all elements."
    FUNCTIONS[name] = METHODS[name] = recorded_at_user(called)


_position("argmax", core.argmax)
_position("argmin", core.argmin)


def _truth(name: str, f: Any) -> None:
    def called(input: Any, dim: Dim = None, keepdim: bool = False) -> Any:
        x, was_zero_d = lifted(input, dim)
        out = f(x, axis=axes_of(dim), keepdims=keepdim)
        out = core.astype(out, "uint8") if x.dtype == "uint8" else out
        return core.reshape(out, ()) if was_zero_d else out

    called.__name__ = name
    called.__doc__ = f"Whether {name} elements are nonzero."
    FUNCTIONS[name] = METHODS[name] = recorded_at_user(called)


_truth("all", core.all)
_truth("any", core.any)


@function()
def count_nonzero(input: Any, dim: Dim = None) -> Any:
    """How many elements are nonzero."""
    x, _ = lifted(input, dim)
    out = core.count_nonzero(x, axis=axes_of(dim))
    return core.reshape(out, ()) if is_zero_d(input) else out


@function()
def logsumexp(input: Any, dim: Dim, keepdim: bool = False) -> Any:
    """log(sum(exp(x))) without overflow."""
    x = input if input.dtype.inexact else core.astype(input, default_dtype())
    y, _ = lifted(x, dim)
    out = core.logsumexp(y, axis=axes_of(dim), keepdims=keepdim)
    return core.reshape(out, ()) if is_zero_d(input) else out


@function()
def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """exp(x) over its sum along an axis."""
    x = input if dtype is None else core.astype(input, dtype_of(dtype))
    y, was_zero_d = lifted(x, dim)
    out = core.softmax(y, axis=dim)
    return core.reshape(out, ()) if was_zero_d else out


@function()
def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """The logarithm of softmax."""
    x = input if dtype is None else core.astype(input, dtype_of(dtype))
    y, was_zero_d = lifted(x, dim)
    out = core.log_softmax(y, axis=dim)
    return core.reshape(out, ()) if was_zero_d else out


def _running(name: str, f: Any) -> None:
    def called(input: Any, dim: int, *, dtype: Any = None) -> Any:
        x, was_zero_d = lifted(cast_first(input, dtype), dim)
        check_axis(dim, x.ndim)
        out = f(x, axis=dim)
        return core.reshape(out, ()) if was_zero_d else out

    called.__name__ = name
    called.__doc__ = f"The running {name[3:]} along an axis."
    FUNCTIONS[name] = METHODS[name] = recorded_at_user(called)
    make_in_place(name, FUNCTIONS[name])


_running("cumsum", core.cumulative_sum)
_running("cumprod", core.cumulative_prod)


@function()
def logcumsumexp(input: Any, dim: int) -> Any:
    """The running logsumexp along an axis."""
    x, was_zero_d = lifted(input, dim)
    out = running.logcumsumexp(x, axis=dim)
    return core.reshape(out, ()) if was_zero_d else out


def _running_extreme(name: str, larger: Any) -> None:
    def called(input: Any, dim: int) -> Any:
        x, was_zero_d = lifted(input, dim)
        check_axis(dim, x.ndim)
        values = np.moveaxis(np.asarray(x.detach().numpy()), dim, -1)
        best = larger.accumulate(values, axis=-1) if values.size else values
        at = np.where((values == best) | (values != values), np.arange(values.shape[-1]), 0)
        at = np.moveaxis(np.maximum.accumulate(at, axis=-1) if at.size else at, -1, dim).astype(np.int64)
        places = core.tensor(np.ascontiguousarray(at))
        out = core.take_along_axis(x, places, axis=dim)
        if was_zero_d:
            out, places = core.reshape(out, ()), core.reshape(places, ())
        return pair_type(name, "values", "indices")(out, places)

    called.__name__ = name
    called.__doc__ = f"The running {name[3:]} along an axis, with its positions."
    FUNCTIONS[name] = METHODS[name] = recorded_at_user(called)


_running_extreme("cummax", np.maximum)
_running_extreme("cummin", np.minimum)


# Sorting --------------------------------------------------------------------------------------------------------------------


def _sortable(x: Any) -> Any:
    return core.astype(x, "uint8") if x.dtype.kind == "b" else x


@function()
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The positions that sort an axis; equals keep their order."""
    x, was_zero_d = lifted(input, dim)
    out = core.argsort(_sortable(x), axis=dim, descending=descending)
    return core.reshape(out, ()) if was_zero_d else out


@function()
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """An axis in order, with the positions where its elements were."""
    x, was_zero_d = lifted(input, dim)
    at = core.argsort(_sortable(x.detach()), axis=dim, descending=descending)
    values = core.take_along_axis(x, at, axis=dim)
    if was_zero_d:
        values, at = core.reshape(values, ()), core.reshape(at, ())
    return pair_type("sort", "values", "indices")(values, at)


@function()
def msort(input: Any) -> Any:
    """The first axis in order."""
    return sort(input, 0)[0]


def along(x: Any, dim: int, start: int, stop: int) -> Any:
    """A stretch of an axis."""
    return core.take(x, core.arange(start, stop), axis=dim)


@function()
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest (or smallest) along an axis, with their positions."""
    x, was_zero_d = lifted(input, dim)
    if not 0 <= k <= x.shape[dim]:
        raise RuntimeError(f"topk: k is {k} for an axis of {x.shape[dim]}{at_user()}")
    at = along(core.argsort(_sortable(x.detach()), axis=dim, descending=largest), dim, 0, int(k))
    values = core.take_along_axis(x, at, axis=dim)
    if was_zero_d:
        values, at = core.reshape(values, ()), core.reshape(at, ())
    return pair_type("topk", "values", "indices")(values, at)


@function()
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest along an axis, counted from 1, with its position."""
    x, was_zero_d = lifted(input, dim)
    if not 1 <= k <= x.shape[dim]:
        raise RuntimeError(f"kthvalue: k is {k} for an axis of {x.shape[dim]}{at_user()}")
    return _picked("kthvalue", x, core.argsort(x.detach(), axis=dim), k - 1, dim, keepdim, was_zero_d)


def _picked(name: str, x: Any, order: Any, k: Any, dim: int, keepdim: bool, was_zero_d: bool) -> Any:
    at = along(order, dim, k, k + 1) if isinstance(k, int) else core.take_along_axis(order, k, axis=dim)
    values = core.take_along_axis(x, at, axis=dim)
    if not keepdim or was_zero_d:
        values, at = core.squeeze(values, axis=dim), core.squeeze(at, axis=dim)
    return pair_type(name, "values", "indices")(values, at)


def _median(name: str, skip_nan: bool) -> None:
    def called(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        x = core.flatten(input) if dim is None else input
        x, was_zero_d = lifted(x, -1 if dim is None else dim)
        axis = -1 if dim is None else dim
        if x.shape[axis] == 0:
            if dim is None:
                return core.full((), math.nan, dtype=x.dtype)
            raise IndexError(f"{name}: the axis is empty{at_user()}")
        order = core.argsort(x.detach(), axis=axis)  # NaN last
        k: Any = (x.shape[axis] - 1) // 2
        if x.dtype.inexact:
            holes = core.count_nonzero(core.isnan(x), axis=axis, keepdims=True)
            n = x.shape[axis]
            k = core.maximum((n - holes - 1) // 2, 0) if skip_nan else core.where(holes > 0, n - holes, k)
        found = _picked(name, x, order, k, axis, keepdim and dim is not None, was_zero_d)
        return found[0] if dim is None else found

    called.__name__ = name
    called.__doc__ = (
        "The median: of an even number, the lower of the two in the middle; of an axis, with its positions."
    )
    FUNCTIONS[name] = METHODS[name] = recorded_at_user(called)


_median("median", False)
_median("nanmedian", True)


@function()
def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent value of an axis (the smallest of several), with its last position."""
    x, was_zero_d = lifted(input, dim)
    values = np.moveaxis(np.asarray(x.detach().numpy()), dim, -1)
    flat = values.reshape(-1, values.shape[-1])
    at = np.empty(flat.shape[0], np.int64)
    for i, row in enumerate(flat):
        found, counts = np.unique(row, return_counts=True)
        at[i] = np.flatnonzero(row == found[counts.argmax()])[-1]
    places = core.expand_dims(core.tensor(at.reshape(values.shape[:-1])), axis=dim)
    out = core.take_along_axis(x, places, axis=dim)
    if not keepdim or was_zero_d:
        out, places = core.squeeze(out, axis=dim), core.squeeze(places, axis=dim)
    return pair_type("mode", "values", "indices")(out, places)


def _quantile(name: str, skip_nan: bool) -> None:
    def called(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
        if input.dtype.kind != "f":
            raise RuntimeError(f"{name}: needs floating numbers{at_user()}")
        flat = dim is None
        x = core.flatten(input) if flat else lifted(input, dim)[0]
        axis = 0 if flat else dim
        wanted = q if isinstance(q, Core) else core.tensor(float(q), dtype=input.dtype)
        levels = np.atleast_1d(np.asarray(wanted.detach().numpy()))
        if levels.size and not (levels.min() >= 0 and levels.max() <= 1):
            raise RuntimeError(f"{name}: q lies in [0, 1]{at_user()}")
        out = _between(x, core.reshape(wanted, (-1,)), axis, skip_nan, interpolation, name)
        rest = list(x.shape)
        rest[axis] = 1
        out = core.reshape(
            core.moveaxis(out, axis, 0), (levels.size, *[n for i, n in enumerate(rest) if i != axis % x.ndim])
        )
        if keepdim:
            kept = [1] * input.ndim if flat else rest if input.ndim else []
            out = core.reshape(out, (levels.size, *kept))
        elif not input.ndim:
            out = core.reshape(out, (levels.size,))
        return core.reshape(out, tuple(out.shape)[1:]) if not wanted.ndim else out

    called.__name__ = name
    called.__doc__ = "The value below which a part q of an axis lies."
    FUNCTIONS[name] = METHODS[name] = recorded_at_user(called)


def _between(x: Any, q: Any, axis: int, skip_nan: bool, interpolation: str, name: str) -> Any:
    ordered = core.take_along_axis(x, core.argsort(x.detach(), axis=axis), axis=axis)
    holes = core.count_nonzero(core.isnan(x), axis=axis, keepdims=True)
    n = x.shape[axis]
    shape = [1] * x.ndim
    shape[axis] = -1
    last = (
        core.astype(core.maximum(n - holes, 1) - 1, x.dtype)
        if skip_nan
        else core.full(tuple(holes.shape), n - 1.0, dtype=x.dtype)
    )
    place = core.reshape(q, tuple(shape)) * last
    below, above = core.floor(place), core.ceil(place)
    if interpolation == "nearest":
        below = above = core.round(place)
    elif interpolation == "lower":
        above = below
    elif interpolation == "higher":
        below = above
    elif interpolation not in ("linear", "midpoint"):
        raise RuntimeError(f"{name}: unknown interpolation {interpolation!r}{at_user()}")
    low, high = (core.take_along_axis(ordered, core.astype(v.detach(), "int64"), axis=axis) for v in (below, above))
    if interpolation == "midpoint":
        out = (low + high) / 2
    elif interpolation == "linear":
        out = low + (place - below.detach()) * (high - low)
    else:
        out = low
    return core.where(core.broadcast_to(holes == n if skip_nan else holes > 0, tuple(out.shape)), math.nan, out)


_quantile("quantile", False)
_quantile("nanquantile", True)


# Norms ------------------------------------------------------------------------------------------------------------------------


def vector_norm(x: Any, order: Any, dim: Dim, keepdim: bool, dtype: Any = None) -> Any:
    """The vector norm of some order over axes, or all."""
    y = _floating("norm", x, dtype)
    y, _ = lifted(y, dim)
    axes = axes_of(dim)
    if order == math.inf or order == -math.inf:
        moduli = core.abs(y)
        out = (core.max if order > 0 else core.min)(moduli, axis=axes, keepdims=keepdim)
    elif order == 0:
        kind = "float64" if y.dtype.name in ("float64", "complex128") else "float32"
        out = core.astype(core.count_nonzero(y, axis=axes, keepdims=keepdim), kind)
    elif order == 1:
        out = core.sum(core.abs(y), axis=axes, keepdims=keepdim)
    elif order == 2:
        out = core.norm(y, 2, axis=axes, keepdims=keepdim)
    else:
        powered = core.sum(core.power(core.abs(y), float(order)), axis=axes, keepdims=keepdim)
        out = core.where(powered == 0, 0.0, core.power(core.where(powered == 0, 1.0, powered), 1 / float(order))) if order > 0 \
            else core.power(powered, 1 / float(order))  # fmt: skip
    return core.reshape(out, ()) if is_zero_d(x) else out


@function()
def norm(input: Any, p: Any = "fro", dim: Dim = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The norm of all elements or over axes: p a number, "fro" or "nuc"."""
    if p == "nuc":
        return FUNCTIONS["linalg.matrix_norm"](input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if p is None or p == "fro":
        p = 2
    return vector_norm(input, float(p), dim, keepdim, dtype)


@function()
def dist(input: Any, other: Any, p: float = 2) -> Any:
    """The norm of the difference."""
    return vector_norm(input - other, float(p), None, False)


@function(in_place=True)
def renorm(input: Any, p: float, dim: int, maxnorm: float) -> Any:
    """The input with each slice along an axis scaled down to a norm of at most maxnorm."""
    axes = tuple(i for i in range(input.ndim) if i != dim % input.ndim)
    size = vector_norm(input, float(p), axes, True)
    return input * core.where(size > maxnorm, maxnorm / (size + 1e-7), 1.0)


@function()
def trace(input: Any) -> Any:
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, got shape {tuple(input.shape)}{at_user()}")
    return sum(FUNCTIONS["diagonal"](input))


# Counting, on values alone ------------------------------------------------------------------------------------------------


def _values(x: Any) -> Any:
    return np.asarray(x.detach().numpy()) if isinstance(x, Core) else np.asarray(x)


@function()
def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The different elements in order, or slices along an axis. Without derivative."""
    found = np.unique(_values(input), return_inverse=True, return_counts=True, axis=dim)
    values, inverse, counts = (core.tensor(np.ascontiguousarray(v)) for v in found)
    inverse = core.reshape(inverse, (-1,) if dim is not None else tuple(input.shape))
    chosen = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


@function()
def unique_consecutive(input: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    """The input without repetitions side by side. Without derivative."""
    values = _values(input)
    rows = values.reshape(-1) if dim is None else np.moveaxis(values, dim, 0)
    n = rows.shape[0]
    flat = rows.reshape(n, -1)
    fresh = np.concatenate([np.ones(builtins.min(n, 1), bool), (flat[1:] != flat[:-1]).any(axis=1)])
    starts = np.flatnonzero(fresh)
    kept = rows[starts] if dim is None else np.moveaxis(rows[starts], 0, dim)
    inverse = (np.cumsum(fresh) - 1).astype(np.int64)
    counts = np.diff([*starts, n]).astype(np.int64)
    chosen = [core.tensor(np.ascontiguousarray(kept))]
    if return_inverse:
        chosen.append(core.tensor(inverse.reshape(values.shape) if dim is None else inverse))
    if return_counts:
        chosen.append(core.tensor(counts))
    return chosen[0] if len(chosen) == 1 else tuple(chosen)


@function()
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each non-negative integer occurs, or the sum of its weights. Without derivative."""
    values = _values(input)
    if values.ndim != 1 or values.dtype.kind not in "iu" or (values.size and values.min() < 0):
        raise RuntimeError(f"bincount: needs non-negative integers along one axis{at_user()}")
    out = np.bincount(values, None if weights is None else _values(weights), minlength)
    kind = "int64" if weights is None else ("float32" if weights.dtype == "float32" else "float64")
    return core.tensor(out.astype(kind))


@function()
def histc(input: Any, bins: int = 100, min: float = 0, max: float = 0) -> Any:
    """How many elements fall into each of equal bins from min to max (of the data, if both are 0). Without derivative."""
    values = _values(input)
    low, high = (float(values.min()), float(values.max())) if min == max and values.size else (float(min), float(max))
    if low == high:
        low, high = low - 1, high + 1
    counts = np.histogram(values, int(bins), (low, high))[0]
    return core.tensor(counts.astype(values.dtype))


@function(methods=False)
def searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Any:
    """Where each value would have to be put into an ordered axis. Without derivative."""
    right = right or side == "right"
    order, values = _values(sorted_sequence), _values(input)
    if sorter is not None:
        order = np.take_along_axis(order, _values(sorter), axis=-1)
    kind = np.int32 if out_int32 else np.int64
    where = "right" if right else "left"
    if order.ndim == 1:
        return core.tensor(np.asarray(np.searchsorted(order, values, where), dtype=kind))  # type: ignore[call-overload]
    rows = [np.searchsorted(a, b, where) for a, b in zip(order.reshape(-1, order.shape[-1]), values.reshape(-1, values.shape[-1]), strict=True)]  # type: ignore[call-overload]  # fmt: skip  # noqa: E501
    return core.tensor(np.asarray(rows, kind).reshape(values.shape))


@function(methods=False)
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """The bucket between ordered boundaries that each value falls into. Without derivative."""
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


@function(methods=False)
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """The running integral by the trapezoidal rule."""
    return core.cumulative_sum(_trapezoids(y, x, dx, dim), axis=dim)


@function("trapz", methods=False)
def trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """The integral along an axis by the trapezoidal rule."""
    return core.sum(_trapezoids(y, x, dx, dim), axis=dim)


def _trapezoids(y: Any, x: Any, dx: Any, dim: int) -> Any:
    n = y.shape[dim]
    middles = (along(y, dim, 1, n) + along(y, dim, 0, n - 1)) / 2
    if x is None:
        return middles * dx
    if x.ndim == 1 and y.ndim > 1:
        x = core.reshape(x, tuple(-1 if i == dim % y.ndim else 1 for i in range(y.ndim)))
    axis = dim if x.ndim == y.ndim else -1
    m = x.shape[axis]
    return middles * (along(x, axis, 1, m) - along(x, axis, 0, m - 1))


@function()
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The n-th differences along an axis."""
    if not n:
        return input
    parts = [x for x in (prepend, input, append) if x is not None]
    x = core.concat(parts, axis=dim) if len(parts) > 1 else input
    if x.dtype.kind == "b":
        for _ in range(n):
            x = core.logical_xor(along(x, dim, 1, x.shape[dim]), along(x, dim, 0, x.shape[dim] - 1))
        return x
    return core.diff(x, axis=dim, n=builtins.min(n, x.shape[dim])) if n else x


@function()
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariance matrix of variables (rows) over observations (columns)."""
    x = core.reshape(input, (1, -1)) if input.ndim < 2 else input
    weights = None
    if fweights is not None:
        weights = core.astype(fweights, x.dtype)
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    n = x.shape[1]
    if weights is None:
        centered = x - core.sum(x, axis=1, keepdims=True) / builtins.max(n, 1)
        out = core.matmul(centered, core.conj(centered).T) / builtins.max(n - correction, 0) if n - correction > 0 \
            else core.matmul(centered, core.conj(centered).T) * math.nan  # fmt: skip
    else:
        total = core.sum(weights)
        centered = x - core.sum(x * weights, axis=1, keepdims=True) / total
        lost = correction if aweights is None else correction * core.sum(weights * aweights) / total
        out = core.matmul(centered * weights, core.conj(centered).T) / core.maximum(total - lost, 0.0)
    return core.reshape(out, ()) if out.shape[0] == 1 else out


@function()
def corrcoef(input: Any) -> Any:
    """The matrix of correlation coefficients."""
    c = cov(input)
    if not c.ndim:
        return c / c
    d = core.sqrt(core.real(FUNCTIONS["diagonal"](c)))
    return c / core.expand_dims(d, axis=1) / d
