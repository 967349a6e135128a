"""Shapes, stacks and parts, with NumPy's own arguments."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import tree
from adjoint.arrays import (
    joining,
    polynomials,
)
from adjoint.numpy import methods
from adjoint.numpy.table import FUNCTIONS, NONE, stands_for
from adjoint.numpy.ufuncs import written
from adjoint.primitives.core import is_scalar
from adjoint.shapes import normalize_axis
from adjoint.tensors import functions as f
from adjoint.tensors.composing import as_tensor, as_tensors, scoped, value_of
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor

__all__: list[str] = []


@stands_for(np.reshape)
def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    t = as_tensor(a)
    if order not in ("C", "F", "A"):
        raise ValueError(f"reshape: order is 'C' or 'F', got {order!r}{at_user()}")
    if order != "F":
        return f.reshape(t, shape)
    sizes = [shape] if is_scalar(shape) else list(shape)
    turned = f.reshape(f.permute_dims(t, tuple(range(t.ndim))[::-1]), tuple(sizes[::-1]))
    return f.permute_dims(turned, tuple(range(turned.ndim))[::-1])


@stands_for(np.transpose)
def transpose(a: Any, axes: Any = None) -> Any:
    t = as_tensor(a)
    return f.permute_dims(t, tuple(range(t.ndim))[::-1] if axes is None else axes)


@stands_for(np.rollaxis)
@scoped
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    t = as_tensor(a)
    place = normalize_axis(axis, t.ndim, "rollaxis")
    to = start + t.ndim if start < 0 else start
    return f.moveaxis(t, place, to - 1 if place < to else to)


@stands_for(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    return f.repeat(a, repeats, axis=axis)


@stands_for(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    flat = f.flatten(joining.atleast_1d(a))
    shape = (new_shape,) if is_scalar(new_shape) else tuple(new_shape)
    size = math.prod(shape)
    return (
        f.zeros(shape, dtype=flat.dtype)
        if not flat.size
        else f.reshape(f.take(flat, np.arange(size) % flat.size), shape)
    )


@stands_for(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    return f.broadcast_to(array, shape)


def _holds_tensor(x: Any) -> bool:
    return any(isinstance(leaf, Tensor) for leaf in tree.flatten(x)[0])


@stands_for(np.broadcast_arrays)
def broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    # NumPy takes what is no number too: Matplotlib's `bar` hands it a None, and lists of tensors
    arrays = tuple([as_tensor(x) if isinstance(x, (list, tuple)) and _holds_tensor(x) else x for x in arrays])
    shape = np.broadcast_shapes(*[np.shape(x) for x in arrays])
    return tuple([f.broadcast_to(x, shape) if isinstance(x, Tensor) else np.broadcast_to(x, shape) for x in arrays])


@stands_for(np.lib.stride_tricks.sliding_window_view)
@scoped
def sliding_window_view(
    x: Any, /, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    t = as_tensor(x)
    if writeable:
        raise ValueError(
            f"sliding_window_view: windows of a tensor are values of their own, not writeable views{at_user()}"
        )
    sizes = (window_shape,) if is_scalar(window_shape) else tuple(window_shape)
    axes = range(t.ndim) if axis is None else (axis,) if is_scalar(axis) else axis
    places = [normalize_axis(k, t.ndim, "sliding_window_view") for k in axes]
    if len(places) != len(sizes):
        raise ValueError(f"sliding_window_view: {len(sizes)} window sizes for {len(places)} axes{at_user()}")
    for place, size in zip(places, map(operator.index, sizes), strict=True):
        count = t.shape[place] - size + 1
        if size < 0 or count < 1:
            raise ValueError(
                f"sliding_window_view: windows of {size} on an axis of {t.shape[place]} elements{at_user()}"
            )
        window = np.arange(count)[:, None] + np.arange(size)
        t = f.moveaxis(f.take(t, window, axis=place), place + 1, -1)
    return t


@stands_for(np.concatenate)
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


@stands_for(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    found = f.stack(list(arrays), axis=axis)
    return written("stack", found if dtype is None else f.astype(found, dtype_of(dtype)), out)


# The keywords that each mode of `np.pad` takes.
PADDED_WITH: dict[Any, set[str]] = {
    "constant": {"constant_values"}, "edge": set(), "wrap": set(), "empty": set(), "linear_ramp": {"end_values"},
    "maximum": {"stat_length"}, "mean": {"stat_length"}, "median": {"stat_length"}, "minimum": {"stat_length"},
    "reflect": {"reflect_type"}, "symmetric": {"reflect_type"},
}  # fmt: skip


@stands_for(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    options = dict(kwargs)
    t = as_tensor(array)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(i, pad_width.get(i - t.ndim, 0)) for i in range(t.ndim)]
        pad_width = [(w, w) if is_scalar(w) else tuple(w) for w in pad_width]
    if callable(mode):
        raise TypeError(f"pad: a function as mode isn't here; ad.concat puts arrays side by side{at_user()}")
    idle = sorted(options.keys() - PADDED_WITH.get(mode, options.keys()))
    if idle:
        raise ValueError(f"pad: mode {mode!r} doesn't take {', '.join(idle)}{at_user()}")
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


@stands_for(np.sort)
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = None
) -> Any:
    t, axis = (f.flatten(as_tensor(a)), 0) if axis is None else (as_tensor(a), axis)
    return f.take_along_axis(t, _order(t, axis), axis=axis) if descending else f.sort(t, axis=axis)


@stands_for(np.argsort)
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = None
) -> Any:
    t, axis = (f.flatten(as_tensor(a)), 0) if axis is None else (as_tensor(a), axis)
    return _order(t, axis) if descending else f.argsort(t, axis=axis)


def _order(t: Tensor, axis: Any) -> Tensor:
    """The indices that sort downwards; NaN comes last even then, which the standard leaves open."""
    return f.argsort(-t, axis=axis) if t.dtype.kind == "f" else f.argsort(t, axis=axis, descending=True)


@stands_for(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    return sort(a, axis)


@stands_for(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    return argsort(a, axis)


@stands_for(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    listed = f.unstack(keys) if isinstance(keys, Tensor) else [as_tensor(k) for k in keys]
    order = f.argsort(listed[0], axis=axis)
    for key in listed[1:]:
        order = f.take_along_axis(order, f.argsort(f.take_along_axis(key, order, axis=axis), axis=axis), axis=axis)
    return order


@stands_for(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    t = f.flatten(joining.atleast_1d(a)) if axis is None else as_tensor(a)
    place = 0 if axis is None else axis
    i = as_tensor(indices)
    n = t.shape[place]
    return written("take", f.take(t, methods.within("take", i, n, mode), axis=place), out)


@stands_for(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    return (
        f.take_along_axis(f.flatten(as_tensor(arr)), indices, axis=0)
        if axis is None
        else f.take_along_axis(arr, indices, axis=axis)
    )


@stands_for(np.diff)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NONE, append: Any = NONE) -> Any:
    ends = {k: v for k, v in (("prepend", prepend), ("append", append)) if v is not NONE}
    return f.diff(a, n=n, axis=axis, **ends) if n else as_tensor(a)


@stands_for(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    steps = f.diff(f.flatten(as_tensor(ary)))
    ends = [None if e is None else f.flatten(joining.atleast_1d(as_tensors(steps, e)[1])) for e in (to_begin, to_end)]
    return f.concat([x for x in (ends[0], steps, ends[1]) if x is not None])


@stands_for(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    return f.squeeze(a, axis)


@stands_for(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    return f.flip(m, axis)


@stands_for(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    return f.roll(a, value_of(shift) if not is_scalar(shift) else shift, axis=axis)


@stands_for(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    return f.expand_dims(a, axis)


@stands_for(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    return f.tril(_square(m), k=k)


@stands_for(np.triu)
def triu(m: Any, k: int = 0) -> Any:
    return f.triu(_square(m), k=k)


def _square(m: Any) -> Tensor:
    """A vector becomes the rows of a square matrix."""
    t = as_tensor(m)
    return f.broadcast_to(t, (t.size, t.size)) if t.ndim == 1 else t


@stands_for(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    return polynomials.vander(x, N, increasing=increasing)


@stands_for(np.meshgrid)
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


@stands_for(np.linspace)
def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0, *,
    device: Any = None,
) -> Any:  # fmt: skip
    found = f.linspace(start, stop, num, endpoint=endpoint, dtype=dtype)
    found = f.moveaxis(found, 0, axis) if axis else found
    return (found, (stop - start) / (num - 1 if endpoint else num)) if retstep else found


@stands_for(np.logspace)
def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    found = f.power(base, f.linspace(start, stop, num, endpoint=endpoint))
    found = f.moveaxis(found, 0, axis) if axis else found
    return found if dtype is None else f.astype(found, dtype_of(dtype))


@stands_for(np.geomspace)
def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    first = as_tensor(start)
    found = f.linspace(0.0, 1.0, num, endpoint=endpoint, dtype=(first * 1.0).dtype)
    found = f.reshape(found, (num, *(1,) * first.ndim))
    found = first * f.exp(found * f.log(as_tensor(stop) / first))
    found = f.moveaxis(found, 0, axis) if axis else found
    return found if dtype is None else f.astype(found, dtype_of(dtype))
