"""What PyTorch counts, and where values lie among others: on values alone, without derivative."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from adjoint.arrays.sets import ordered_array
from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user

from ._names import function, pair_type
from ._tensor import Core

__all__: list[str] = []


def _values(x: Any) -> Any:
    return np.asarray(x.detach().numpy()) if isinstance(x, Core) else np.asarray(x)


@function()
def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The different elements in order, or slices along an axis; each NaN is one of its own. Without derivative."""
    array = _values(input)
    found = np.unique(ordered_array(array), return_inverse=True, return_counts=True, axis=dim, equal_nan=False)
    values, inverse, counts = (core.tensor(np.ascontiguousarray(v)) for v in (found[0].astype(array.dtype), *found[1:]))
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
    if int(bins) < 1:
        raise RuntimeError(f"histc: there is at least one bin, not {bins}{at_user()}")
    counts = np.histogram(values, int(bins), (low, high))[0]
    return core.tensor(counts.astype(values.dtype))


def _edges(name: str, values: Any, bins: Any, low_high: Any) -> Any:
    """The edges of the bins of a histogram: those that are given, or equal ones."""
    if isinstance(bins, Core):
        return _values(bins)
    if low_high is None:
        low_high = (values.min(), values.max()) if values.size else (0.0, 1.0)
        if low_high[0] == low_high[1]:
            low_high = (low_high[0] - 0.5, low_high[1] + 0.5)
    low, high = (float(v) for v in low_high)
    if int(bins) < 1 or not low <= high or not np.isfinite([low, high]).all():
        raise RuntimeError(f"{name}: {bins} bins from {low} to {high}{at_user()}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, int(bins) + 1, dtype=values.dtype)


def _histogram(name: str, points: Any, edges: list[Any], weight: Any, density: bool) -> Any:
    """The counts, or sums of weights, of points (n, d) between the edges of each axis, the last of which are closed."""
    kind = points.dtype
    weights = np.ones(points.shape[0], kind) if weight is None else _values(weight).reshape(-1)
    if weights.shape[0] != points.shape[0]:
        raise RuntimeError(f"{name}: {weights.shape[0]} weights for {points.shape[0]} values{at_user()}")
    found = np.histogramdd(points, edges, weights=weights, density=density)[0]
    return core.tensor(found.astype(kind))


def _floating_values(name: str, input: Any) -> Any:
    values = _values(input)
    if values.dtype.kind != "f":
        raise RuntimeError(f"{name}: needs floating numbers, got {values.dtype.name}{at_user()}")
    return values


@function()
def histogram(input: Any, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """How many elements, or which sum of weights, fall between edges: so many equal bins, or edges; and the edges."""
    values = _floating_values("histogram", input).reshape(-1)
    edges = _edges("histogram", values, bins, range)
    found = _histogram("histogram", values[:, None], [edges], weight, density)
    return pair_type("histogram", "hist", "bin_edges")(found, core.tensor(edges))


@function()
def histogramdd(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """The histogram of points, the last axis of the input; and the edges along each of its axes."""
    values = _floating_values("histogramdd", input)
    if values.ndim < 2:
        raise RuntimeError(f"histogramdd: expected points along the last axis, got shape {values.shape}{at_user()}")
    points = values.reshape(-1, values.shape[-1])
    d = points.shape[1]
    each = [bins] * d if isinstance(bins, int) else list(bins)
    bounds = [None] * d if range is None else [tuple(range[2 * i : 2 * i + 2]) for i in builtins.range(d)]
    if len(each) != d:
        raise RuntimeError(f"histogramdd: {len(each)} counts of bins for points of {d} numbers{at_user()}")
    edges = [_edges("histogramdd", points[:, i], b, r) for i, (b, r) in enumerate(zip(each, bounds, strict=True))]
    found = _histogram("histogramdd", points, edges, weight, density)
    return pair_type("histogramdd", "hist", "bin_edges")(found, tuple(core.tensor(e) for e in edges))


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
    if not values.size:
        return core.zeros(tuple(values.shape), dtype=np.dtype(kind).name)
    rows = [np.searchsorted(a, b, where) for a, b in zip(order.reshape(-1, order.shape[-1]), values.reshape(-1, values.shape[-1]), strict=True)]  # type: ignore[call-overload]  # fmt: skip  # noqa: E501
    return core.tensor(np.asarray(rows, kind).reshape(values.shape))


@function(methods=False)
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """The bucket between ordered boundaries that each value falls into. Without derivative."""
    if isinstance(boundaries, Core) and boundaries.ndim != 1:
        raise RuntimeError(f"bucketize: boundaries lie along one axis, not {tuple(boundaries.shape)}{at_user()}")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)
