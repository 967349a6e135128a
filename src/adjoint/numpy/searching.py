"""Searching and sets, with NumPy's own arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.arrays import (
    joining,
    sets,
)
from adjoint.numpy.table import stands_for
from adjoint.shapes import normalize_axes
from adjoint.tensors import functions as f
from adjoint.tensors.composing import as_tensor
from adjoint.tensors.located import at_user
from adjoint.tensors.pending import force_selection

__all__: list[str] = []


@stands_for(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    return sets.searchsorted(a, v, side=side, sorter=sorter)


@stands_for(np.unique)
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None, *,
    equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    t = as_tensor(ar)
    array = sets.ordered_array(force_selection(t.node))
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


@stands_for(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    return sets.isin(element, test_elements, invert=invert)


@stands_for(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    return unique(f.concat([f.flatten(as_tensor(x)) for x in (ar1, ar2)]))


@stands_for(np.intersect1d)
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    first, second = f.flatten(as_tensor(ar1)), f.flatten(as_tensor(ar2))
    a, b = (sets.ordered_array(force_selection(x.node)) for x in (first, second))
    _, i, j = np.intersect1d(a, b, return_indices=True)
    found = f.take(first, i).astype(f.result_type(first, second))
    return (found, as_tensor(i), as_tensor(j)) if return_indices else found


@stands_for(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    values = f.flatten(as_tensor(ar1)) if assume_unique else unique(ar1)
    return values[sets.isin(values, ar2, invert=True)]


@stands_for(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    a, b = unique(ar1), unique(ar2)
    return f.sort(f.concat([a[sets.isin(a, b, invert=True)], b[sets.isin(b, a, invert=True)]]))


@stands_for(np.argwhere)
def argwhere(a: Any) -> Any:
    return f.stack(f.nonzero(a), axis=1) if as_tensor(a).ndim else f.zeros((int(bool(as_tensor(a))), 0), dtype="int64")


@stands_for(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    return f.nonzero(f.flatten(joining.atleast_1d(a)))[0]


@stands_for(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    return f.flatten(as_tensor(arr))[flatnonzero(condition)]


@stands_for(np.trim_zeros)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    t = as_tensor(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"trim_zeros: trim is 'fb', 'f' or 'b', got {trim!r}{at_user()}")
    axes = normalize_axes(axis, t.ndim, "trim_zeros")
    places = np.argwhere(force_selection(t.node))
    if len(places):
        low, high = places.min(0), places.max(0) + 1
        kept = [slice(a if "f" in trim else None, b if "b" in trim else None) for a, b in zip(low, high, strict=True)]
    else:
        kept = [slice(0, 0)] * t.ndim  # whichever side is trimmed
    return t[tuple([kept[a] if a in axes else slice(None) for a in range(t.ndim)])]
