"""PyTorch's sorting, and what is read off an order: the largest, medians, quantiles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.arrays import order_statistics
from adjoint.arrays.sets import ordered_array
from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user

from ._names import FUNCTIONS, METHODS, function, pair_type, recorded_at_user, with_positions
from ._now import known
from ._reductions import lifted
from ._tensor import Core
from ._view_tensors import following

__all__ = ["stretch"]


def _sortable(x: Any) -> Any:
    return core.astype(x, "uint8") if x.dtype.kind == "b" else x


@function(follows=True)
def argsort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The positions that sort an axis; equals keep their order."""
    x, was_zero_d = lifted(input, dim)
    out = core.argsort(_sortable(x), axis=dim, descending=descending)
    return core.reshape(out, ()) if was_zero_d else out


@function()
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """An axis in order, with the positions where its elements were."""
    return _sort(input, dim, descending)


@with_positions
def _sort(input: Any, dim: int, descending: bool) -> Any:
    x, was_zero_d = lifted(input, dim)
    at = core.argsort(_sortable(x.detach()), axis=dim, descending=descending)
    values = core.take_along_axis(x, at, axis=dim)
    return (core.reshape(values, ()), core.reshape(at, ())) if was_zero_d else (values, at)


@function(follows=True)
def msort(input: Any) -> Any:
    """The first axis in order."""
    return sort(input, 0)[0]


def stretch(x: Any, dim: int, start: int, stop: int) -> Any:
    """A stretch of an axis."""
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, stop),)]


@function()
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest (or smallest) along an axis, with their positions."""
    return _topk(input, k, dim, largest)


@with_positions
def _topk(input: Any, k: int, dim: int, largest: bool) -> Any:
    x, was_zero_d = lifted(input, dim)
    if not 0 <= k <= x.shape[dim]:
        raise RuntimeError(f"topk: k is {k} for an axis of {x.shape[dim]}{at_user()}")
    values, at = order_statistics.topk(x, int(k), axis=dim, largest=largest)
    return (core.reshape(values, ()), core.reshape(at, ())) if was_zero_d else (values, at)


@function()
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest along an axis, counted from 1, with its position."""
    return _kthvalue(input, k, dim, keepdim)


@with_positions
def _kthvalue(input: Any, k: int, dim: int, keepdim: bool) -> Any:
    x, was_zero_d = lifted(input, dim)
    if not 1 <= k <= x.shape[dim]:
        raise RuntimeError(f"kthvalue: k is {k} for an axis of {x.shape[dim]}{at_user()}")
    return order_statistics.kthvalue(x, int(k), axis=dim, keepdims=keepdim and not was_zero_d)


def _median(name: str, skip_nan: bool) -> None:
    def whole(input: Any) -> Any:
        x = core.reshape(core.flatten(input), (-1,))
        if not x.shape[0]:
            return core.full((), math.nan, dtype=x.dtype)
        if skip_nan:
            return core.reshape(along(x, 0, False)[0], ())
        value = core.reshape(order_statistics.selected(_sortable(x), ((x.shape[0] - 1) // 2,)), ())
        worst = core.max(x)
        return core.where(core.isnan(worst), worst, value) if x.dtype.inexact else core.astype(value, x.dtype)

    def of_axis(input: Any, dim: int, keepdim: bool) -> Any:
        x, was_zero_d = lifted(input, dim)
        n = x.shape[dim]
        if not n:
            raise IndexError(f"{name}: the axis is empty{at_user()}")
        order = core.argsort(x.detach(), axis=dim)  # NaN last
        at = stretch(order, dim, (n - 1) // 2, (n - 1) // 2 + 1)
        if x.dtype.inexact:
            holes = core.count_nonzero(core.isnan(x), axis=dim, keepdims=True)
            k = core.maximum((n - holes - 1) // 2, 0) if skip_nan else core.where(holes > 0, n - holes, (n - 1) // 2)
            at = core.take_along_axis(order, k, axis=dim)
        values = core.take_along_axis(x, at, axis=dim)
        if not keepdim or was_zero_d:
            values, at = core.squeeze(values, axis=dim), core.squeeze(at, axis=dim)
        return values, at

    of_axis.__name__ = name
    along = with_positions(of_axis)

    def called(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return whole(input) if dim is None else along(input, dim, keepdim)

    called.__name__ = name
    called.__doc__ = (
        "The median: of an even number, the lower of the two in the middle; of an axis, with its positions."
    )
    FUNCTIONS[name] = METHODS[name] = following(recorded_at_user(called))


_median("median", skip_nan=False)
_median("nanmedian", skip_nan=True)


@function()
def mode(input: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent value of an axis (the smallest of several), with its last position."""
    x, was_zero_d = lifted(input, dim)
    values = np.moveaxis(ordered_array(np.asarray(x.detach().numpy())), dim, -1)
    flat = values.reshape(-1, values.shape[-1])
    at = np.empty(flat.shape[0], np.int64)
    for i, row in enumerate(flat):
        found, counts = np.unique(row, return_counts=True)
        often = found[counts.argmax()]
        at[i] = np.flatnonzero(row == often if often == often else np.isnan(row))[-1]
    places = core.expand_dims(core.tensor(at.reshape(values.shape[:-1])), axis=dim)
    out = core.take_along_axis(x, places, axis=dim)
    if not keepdim or was_zero_d:
        out, places = core.squeeze(out, axis=dim), core.squeeze(places, axis=dim)
    return pair_type("mode", "values", "indices")(out, places)


def _quantile(name: str, f: Any) -> None:
    def called(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
        if input.dtype.kind != "f":
            raise RuntimeError(f"{name}: needs floating numbers{at_user()}")
        if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
            raise RuntimeError(f"{name}: unknown interpolation {interpolation!r}{at_user()}")
        wanted = q if isinstance(q, Core) else core.tensor(float(q), dtype=input.dtype)
        if wanted.ndim > 1:
            raise RuntimeError(f"{name}: q is a number or a vector; its shape is {tuple(wanted.shape)}{at_user()}")
        if wanted.dtype is not input.dtype:
            raise RuntimeError(f"{name}: q must have the input's dtype, {input.dtype.name}{at_user()}")
        parts = known(wanted.node)
        if parts is not None and ((parts < 0) | (parts > 1)).any():
            raise RuntimeError(f"{name}: q lies from 0 to 1, and is {q}{at_user()}")
        x, was_zero_d = (input, False) if dim is None else lifted(input, dim)
        try:
            out = f(x, wanted, axis=dim, method=interpolation, keepdims=keepdim and not was_zero_d)
        except ValueError as error:
            raise RuntimeError(str(error)) from None
        return out

    called.__name__ = name
    called.__doc__ = "The value below which a part q of an axis lies."
    FUNCTIONS[name] = METHODS[name] = recorded_at_user(called)


_quantile("quantile", order_statistics.quantile)
_quantile("nanquantile", order_statistics.nanquantile)
