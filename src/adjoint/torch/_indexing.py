"""PyTorch's functions that read and write at positions."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from adjoint.arrays import scattering
from adjoint.arrays.matrices import fill_diagonal
from adjoint.composites.recipes import remembered_as_given
from adjoint.dtypes import int64
from adjoint.graph import Node
from adjoint.nn.functional.ranges import all_below
from adjoint.plan.canonical import ValueNeededError
from adjoint.primitives.core import cast, ops
from adjoint.shapes import broadcast_shapes
from adjoint.tensors import functions as core
from adjoint.tensors.composing import composite
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap

from ._elementwise import made
from ._errors import OutOfBounds
from ._names import FUNCTIONS, METHODS, function, like, method, recorded_at_user, refuse
from ._now import gathered_now, picked_now, put_now, selected_now
from ._operators import one_dtype
from ._reductions import lifted
from ._tensor import Core
from ._views import axis_of
from ._writing import without_bytes


def _positions(name: str, index: Any, ndim: int) -> Any:
    if math.prod(index.node.type.shape) and (index.dtype.kind not in "iu" or index.dtype == "uint8"):
        raise RuntimeError(f"{name}: positions are int64, got {index.dtype.name}{at_user()}")
    if math.prod(index.node.type.shape) and index.ndim != ndim and not (index.ndim <= 1 and ndim <= 1):
        raise RuntimeError(f"{name}: positions of shape {tuple(index.shape)} for a tensor with {ndim} axes{at_user()}")
    return core.reshape(index, (-1,)) if ndim == 1 and not index.ndim else index


def _from_the_start(name: str, index: Any, n: int, error: type[Exception]) -> Any:
    """Positions to read at along an axis of n, of which PyTorch lets none count from the end. Known ones are checked here,
    without evaluating anything; others raise IndexError when evaluated."""
    known = index.node.value
    if isinstance(known, np.ndarray):
        if known.dtype.kind in "iu" and not all_below(known, n):
            raise error(f"{name}: a position is outside of an axis of {n}{at_user()}")
        return index
    return core.where(index < 0, n, core.astype(index, "int64")) if index.dtype.kind == "i" else index


def _trimmed(x: Any, shape: tuple[int, ...], dim: int, name: str) -> Any:
    """x cut, along the axes other than one, to a shape."""
    for i, (n, m) in enumerate(zip(shape, tuple(x.shape), strict=True)):
        if i != dim and n > m:
            raise RuntimeError(
                f"{name}: positions of shape {shape} don't fit a tensor of shape {tuple(x.shape)}{at_user()}"
            )
    cut = tuple(
        slice(None) if i == dim or n == m else slice(0, n)
        for i, (n, m) in enumerate(zip(shape, tuple(x.shape), strict=True))
    )
    return x if all(c == slice(None) for c in cut) else Core.__getitem__(x, cut)


@function()
def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """Elements at positions along an axis; the result has the shape of the positions."""
    refuse("gather", "sparse_grad", sparse_grad, False)
    found = gathered_now(input.node, dim, index.node)
    if found is not None:
        return made(found)
    x, _ = lifted(input, dim)
    at = _positions("gather", index, x.ndim)
    axis = axis_of(dim, x.ndim)
    if not math.prod(tuple(at.shape)):
        return core.zeros(tuple(index.shape), dtype=input.dtype)
    places = _from_the_start("gather", at, x.shape[axis], RuntimeError)
    out = core.take_along_axis(_trimmed(x, tuple(at.shape), axis, "gather"), places, axis=axis)
    return core.reshape(out, tuple(index.shape))


@function()
def take_along_dim(input: Any, indices: Any, dim: Any = None) -> Any:
    """Elements at positions along an axis, the others broadcast."""
    if dim is None:
        return core.take(core.flatten(input), core.flatten(indices), axis=0)
    axis = axis_of(dim, input.ndim)
    if indices.ndim != input.ndim:
        raise RuntimeError(f"take_along_dim: {indices.ndim} axes of positions for {input.ndim}{at_user()}")
    shape = list(
        np.broadcast_shapes(*[tuple(1 if i == axis else n for i, n in enumerate(x.shape)) for x in (input, indices)])
    )
    both = []
    for x in (input, indices):
        shape[axis] = x.shape[axis]
        both.append(core.broadcast_to(x, tuple(shape)))
    return core.take_along_axis(*both, axis=axis)  # type: ignore[arg-type,misc]


@function()
def take(input: Any, index: Any) -> Any:
    """Elements at positions in all of them."""
    found = picked_now(input.node, index.node)
    if found is not None:
        return made(found)
    flat = core.flatten(input) if input.ndim else core.reshape(input, (1,))
    return core.reshape(core.take(flat, core.reshape(index, (-1,)), axis=0), tuple(index.shape))


@function()
def index_select(input: Any, dim: int, index: Any) -> Any:
    """Slices at positions along an axis."""
    found = selected_now(input.node, dim, index.node)
    if found is not None:
        return made(found)
    if index.ndim > 1:
        raise IndexError(f"index_select: positions along one axis, got shape {tuple(index.shape)}{at_user()}")
    x, was_zero_d = lifted(input, dim)
    axis = axis_of(dim, x.ndim)
    places = _from_the_start("index_select", core.reshape(index, (-1,)), x.shape[axis], IndexError)
    out = core.take(x, places, axis=axis)
    return core.reshape(out, ()) if was_zero_d else out


@function()
def masked_select(input: Any, mask: Any) -> Any:
    """The elements where a mask holds, along one axis."""
    if mask.dtype.kind != "b":
        raise RuntimeError(f"masked_select: the mask is bool, got {mask.dtype.name}{at_user()}")
    shape = broadcast_shapes("masked_select", tuple(input.shape), tuple(mask.shape))
    x, m = core.broadcast_to(input, shape), core.broadcast_to(mask, shape)
    return core.reshape(x, (-1,))[core.reshape(m, (-1,))]


def _checked(name: str, index: Any, n: int) -> Any:
    """Positions along an axis of n, of which none is negative or beyond it: PyTorch knows no negative ones here. What only a
    later run knows raises there."""
    values = index.node.value
    if type(values) is not np.ndarray:
        try:
            values = np.asarray(index.detach().numpy())
        except ValueNeededError:
            return core.where(index < 0, n, index)
    if not all_below(values, n):
        raise OutOfBounds(f"{name}: a position is outside of an axis of {n}{at_user()}")
    return index


@remembered_as_given
def _flat_places(at: Node, shape: tuple[int, ...], dim: int, doubtful: bool) -> Node:
    """Positions along an axis of a shape as positions in all of its elements; those that may lie outside of the axis, which are
    `doubtful`, as one outside of all."""
    rest: Any = np.zeros((), np.int64)
    for i, n in enumerate(at.shape):
        if i != dim:
            rest = rest + (np.arange(n) * math.prod(shape[i + 1 :])).reshape(
                [-1 if j == i else 1 for j in range(at.ndim)]
            )
    places = ops.add(ops.multiply(at, math.prod(shape[dim + 1 :])), ops.data(rest))
    if doubtful:  # beyond the axis there may be elements of the next row
        places = ops.where(ops.less(at, shape[dim]), places, ops.full(math.prod(shape), places.type))
    return ops.reshape(places, (math.prod(at.shape),))


def _check_enough(name: str, src: Any, given: Any, at: Any) -> None:
    if any([n > m for n, m in zip(at.shape, given.shape, strict=True)]):
        raise RuntimeError(
            f"{name}: values of shape {tuple(src.shape)} are fewer than positions {tuple(at.shape)}{at_user()}"
        )


def _scattered(name: str, input: Any, dim: int, index: Any, src: Any, how: str) -> Any:
    x, was_zero_d = lifted(input, dim)
    at = _positions(name, index, x.ndim)
    axis = axis_of(dim, x.ndim)
    if not math.prod(tuple(at.shape)):
        return input.clone()
    if isinstance(src, Core):
        if src.dtype is not input.dtype:
            raise RuntimeError(f"{name}: values of {src.dtype.name} for a {input.dtype.name} tensor{at_user()}")
        given = core.reshape(src, (1,)) if not src.ndim else src
        _check_enough(name, src, given, at)
    else:
        given = core.full(tuple(at.shape), src, dtype=x.dtype)
    for i, (n, m) in enumerate(zip(at.shape, x.shape, strict=True)):
        if i != axis and n > m:
            raise RuntimeError(
                f"{name}: positions of shape {tuple(index.shape)} don't fit {tuple(input.shape)}{at_user()}"
            )
    return _along(name, x, axis, at, given, how, True, was_zero_d)


def _along(name: str, x: Any, axis: int, at: Any, given: Any, how: str, own: bool, was_zero_d: bool) -> Any:
    """The input combined with values at positions along an axis; its `own` elements count or don't where something goes."""
    place = _checked(name, at, x.node.type.shape[axis])
    out = composite(name, _combined_along, x.node, place.node, given.node, axis, how, own, place is not at)
    return core.reshape(out, ()) if was_zero_d else out


@remembered_as_given
def _combined_along(x: Node, at: Node, given: Node, axis: int, how: str, own: bool, doubtful: bool) -> Node:
    shape, count = at.type.shape, at.type.size
    places = _flat_places(cast(at, int64), x.type.shape, axis, doubtful)
    values = ops.slice_(given, tuple([(0, n, 1) for n in shape]))
    flat = wrap(ops.reshape(x, (x.type.size,)))
    found = combined_at(flat, wrap(places), wrap(ops.reshape(values, (count,))), how, own)
    return ops.reshape(found.node, x.type.shape)


def combined_at(flat: Any, places: Any, values: Any, how: str, include_self: bool = True) -> Any:
    """A vector with values put, or combined with what is there, at positions."""
    if how == "put":
        return scattering.scatter(flat, places, values, axis=0)
    if how == "add" or (how == "sum" and include_self):
        return core.scatter_add(flat, places, values, axis=0)
    if how == "mean":
        return _mean_at(flat, places, values, include_self)
    if include_self:  # an element beside what comes to its place: what is equal among them shares a derivative evenly
        own = core.arange(flat.shape[0], dtype=places.dtype)
        places, values = core.concat([own, places]), core.concat([flat, values])
    kinds = {"sum": "sum", "prod": "prod", "amax": "max", "amin": "min"}
    return scattering.scatter_reduce(flat, places, values, reduce=kinds[how], include_self=False)


def _mean_at(flat: Any, places: Any, values: Any, include_self: bool) -> Any:
    """Means of what is put at each position, of integers rounded down."""
    total = combined_at(flat, places, values, "sum", include_self)
    hits = core.scatter_add(core.zeros((flat.shape[0],), dtype="int64"), places, 1, axis=0)
    count = core.astype(core.clip(hits + 1 if include_self else hits, min=1), flat.dtype)
    return total / count if flat.dtype.inexact else core.floor_divide(total, count)


@function(in_place=True)
def scatter(input: Any, dim: int, index: Any, src: Any = None, *, value: Any = None, reduce: Any = None) -> Any:
    """The input with values put at positions along an axis; or added or multiplied there."""
    values = src if src is not None else value
    found = None if reduce is not None else put_now(input.node, dim, index.node, values)
    if found is not None:
        return made(found)
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError(f"scatter: reduce is 'add' or 'multiply', got {reduce!r}{at_user()}")
    return _scattered("scatter", input, dim, index, values, {None: "put", "add": "add", "multiply": "prod"}[reduce])


@function(in_place=True)
def scatter_add(input: Any, dim: int, index: Any, src: Any) -> Any:
    """The input with values added at positions along an axis."""
    return _scattered("scatter_add", input, dim, index, src, "add")


@function(in_place=True)
def scatter_reduce(input: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True) -> Any:
    """The input combined with values at positions along an axis: "sum", "prod", "mean", "amax" or "amin"."""
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"scatter_reduce: reduce is sum, prod, mean, amax or amin, got {reduce!r}{at_user()}")
    x, was_zero_d = lifted(input, dim)
    at = _positions("scatter_reduce", index, x.ndim)
    axis = axis_of(dim, x.ndim)
    if not math.prod(tuple(at.shape)):
        return input.clone()
    given = core.reshape(src, (1,)) if not src.ndim else src
    _check_enough("scatter_reduce", src, given, at)
    return _along("scatter_reduce", x, axis, at, given, reduce, include_self, was_zero_d)


def _slices(name: str, input: Any, dim: int, index: Any, source: Any) -> tuple[Any, int, Any, Any]:
    """The input with an axis at least, the axis, positions along it, and the values of the slices there."""
    x, _ = lifted(input, dim)
    axis = axis_of(dim, x.ndim)
    at = core.reshape(index, (-1,)) if index.ndim != 1 else index
    own = x.node.type.shape
    shape = (*own[:axis], at.node.type.shape[0], *own[axis + 1 :])
    if not isinstance(source, Core):
        return x, axis, at, core.full(shape, source, dtype=x.dtype)
    given = core.reshape(source, shape) if source.ndim < x.ndim else source
    if source.dtype is not input.dtype:
        raise RuntimeError(f"{name}: values of {source.dtype.name} for a {input.dtype.name} tensor{at_user()}")
    if given.node.type.shape != shape:
        raise RuntimeError(f"{name}: values of shape {tuple(source.shape)} for slices of shape {shape}{at_user()}")
    return x, axis, at, given


def _at_slices(name: str, input: Any, dim: int, index: Any, source: Any, how: str, include_self: bool = True) -> Any:
    x, axis, at, values = _slices(name, input, dim, index, source)
    shape = values.node.type.shape
    if not math.prod(shape):
        return input.clone()
    if how in ("add", "put"):  # a slice at a time
        place = _checked(name, at, x.node.type.shape[axis])
        found = (core.scatter_add if how == "add" else scattering.scatter)(x, place, values, axis=axis)
        return found if found.ndim == input.ndim else core.reshape(found, tuple(input.shape))
    wide = core.broadcast_to(core.reshape(at, tuple(-1 if i == axis else 1 for i in range(x.ndim))), shape)
    return core.reshape(_along(name, x, axis, wide, values, how, include_self, False), tuple(input.shape))


@function(in_place=True)
def index_add(input: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """The input with slices added at positions along an axis."""
    return _at_slices("index_add", input, dim, index, source if alpha == 1 else source * alpha, "add")


@function(in_place=True)
def index_copy(input: Any, dim: int, index: Any, source: Any) -> Any:
    """The input with slices put at positions along an axis."""
    return _at_slices("index_copy", input, dim, index, source, "put")


def _chosen(index: Any, count: int) -> Any:
    """Which of so many places an index names, which may count from the end."""
    if index.dtype.kind not in "iu":
        raise OutOfBounds(f"index_fill: an index is of integers, not {index.dtype.name}{at_user()}")
    place = core.reshape(index, (-1,))
    try:
        values = np.asarray(place.detach().numpy())
    except ValueNeededError:
        place = _checked("index_fill", core.where(place < 0, place + count, place), count)
        yes = core.ones(place.shape, dtype="bool")
        return scattering.scatter(core.zeros((count,), dtype="bool"), place, yes, axis=0)
    if values.size and not (-count <= values.min() and values.max() < count):
        raise OutOfBounds(f"index_fill: a position is outside of an axis of {count}{at_user()}")
    mask = np.zeros(count, bool)
    mask[values] = True
    return core.tensor(mask)


@function(in_place=True)
def index_fill(input: Any, dim: int, index: Any, value: Any) -> Any:
    """The input with a number put into slices along an axis."""
    x, _ = lifted(input, dim)
    axis = axis_of(dim, x.ndim)
    count = x.shape[axis]
    chosen = core.reshape(_chosen(index, count), (count, *(1,) * (x.ndim - axis - 1)))
    given = isinstance(value, Core)
    number = core.reshape(core.astype(value, x.dtype), ()) if given else core.full((), value, dtype=x.dtype)
    return core.reshape(core.where(chosen, number, x), tuple(input.shape))


@function(in_place=True)
def index_reduce(input: Any, dim: int, index: Any, source: Any, reduce: str, *, include_self: bool = True) -> Any:
    """The input combined with slices at positions along an axis: "prod", "mean", "amax" or "amin"."""
    return _at_slices("index_reduce", input, dim, index, source, reduce, include_self)


@function(in_place=True)
def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """The input with values put, or added, at x[indices]."""
    one_dtype("index_put", input, values)
    where = tuple(slice(None) if i is None else without_bytes(i) for i in indices)
    out = input.clone()
    if not accumulate:
        Core.__setitem__(out, where, values)
        return out
    order = core.reshape(core.arange(math.prod(tuple(input.shape))), tuple(input.shape))
    places = Core.__getitem__(order, where)
    spread = core.reshape(core.broadcast_to(values, tuple(places.shape)), (-1,))
    added = core.scatter_add(core.reshape(input, (-1,)), core.reshape(places, (-1,)), spread, axis=0)
    return core.reshape(added, tuple(input.shape))


@function(in_place=True)
def put(input: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """The input with values put, or added, at positions in all elements."""
    places, n = core.reshape(index, (-1,)), math.prod(tuple(input.shape))
    places = core.where(places < 0, places + n, places)
    out = combined_at(core.reshape(input, (-1,)), places, core.reshape(source, (-1,)), "add" if accumulate else "put")
    return core.reshape(out, tuple(input.shape))


@function(in_place=True)
def masked_scatter(input: Any, mask: Any, source: Any) -> Any:
    """The input with the first elements of another tensor put where a mask holds."""
    one_dtype("masked_scatter", input, source)
    if mask.dtype.kind != "b":
        raise RuntimeError(f"masked_scatter: the mask is bool, got {mask.dtype.name}{at_user()}")
    shape = broadcast_shapes("masked_scatter", tuple(input.shape), tuple(mask.shape))
    x, m = core.broadcast_to(input, shape), np.broadcast_to(np.asarray(mask.detach().numpy()), shape)
    places = np.flatnonzero(m)
    flat = core.reshape(source, (-1,))
    if len(places) > flat.shape[0]:
        raise RuntimeError(f"masked_scatter: {flat.shape[0]} values for {len(places)} places{at_user()}")
    out = combined_at(core.reshape(x, (-1,)), core.tensor(places), flat[: len(places)], "put")
    return core.reshape(out, shape)


@function()
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The positions of nonzero elements, a row for each; or a tensor for each axis."""
    if not input.ndim:
        found = core.nonzero(core.reshape(input, (1,)))
        return tuple(found) if as_tuple else core.zeros((found[0].shape[0], 0), dtype="int64")
    found = core.nonzero(input)
    return tuple(found) if as_tuple else core.stack(list(found), axis=1)


@function()
def argwhere(input: Any) -> Any:
    """The positions of nonzero elements, a row for each."""
    return nonzero(input)


def _written_into(name: str, take: Any) -> None:
    def called(input: Any, src: Any, *args: Any, **keywords: Any) -> Any:
        out = input.clone()
        target = take(out, *args, **keywords)
        if tuple(target.shape) != tuple(src.shape):
            raise RuntimeError(f"{name}: values of shape {tuple(src.shape)} for {tuple(target.shape)}{at_user()}")
        target.copy_(src)
        return out

    FUNCTIONS[name] = METHODS[name] = like(called, take, SOURCE)


SOURCE = inspect.Parameter("src", inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _sliced(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return input[(slice(None),) * axis_of(dim, input.ndim) + (slice(start, end, step),)]


_written_into("slice_scatter", _sliced)
_written_into("select_scatter", lambda input, dim, index: FUNCTIONS["select"](input, dim, index))
_written_into(
    "diagonal_scatter", lambda input, offset=0, dim1=0, dim2=1: FUNCTIONS["diagonal"](input, offset, dim1, dim2)
)
_written_into(
    "as_strided_scatter",
    lambda input, size, stride, storage_offset=None: input.as_strided(size, stride, storage_offset),
)


@method("copy_")
def copy_(self: Any, other: Any, non_blocking: bool = False) -> Any:
    """New values, in place."""
    return self._replace(other, "copy_")


def _elementwise_python(name: str, count: int) -> None:
    """The in-place method that calls a function of Python for each element, of `count` more tensors beside."""

    def in_place(self: Any, *given: Any) -> Any:
        *others, callable = given
        if len(others) != count:
            raise TypeError(f"{name}: expected {count} tensors and a function, got {len(given)} arguments{at_user()}")
        if any([x.requires_grad for x in (self, *others)]):
            raise RuntimeError(
                f"{name}: Python's functions have no derivative here; use x.detach().{name}(...){at_user()}"
            )
        rows = [np.broadcast_to(np.asarray(x.tolist()), self.shape).ravel().tolist() for x in (self, *others)]
        values = [callable(*row) for row in zip(*rows, strict=True)]
        made = FUNCTIONS["tensor"](np.reshape(values, tuple(self.shape)).tolist(), dtype=self.dtype)
        return self._replace(made, name)

    METHODS[name] = recorded_at_user(in_place)


for _name, _count in {"apply_": 0, "map_": 1, "map2_": 2}.items():
    _elementwise_python(_name, _count)


@method("fill_")
def fill_(self: Any, value: Any) -> Any:
    """One number everywhere, in place."""
    return self._replace(_number_for(self, value), "fill_")


def _number_for(x: Any, value: Any) -> Any:
    """A number of Python's as one of x's dtype. RuntimeError for what integers can't hold, and for complex ones in real tensors;
    negative ones wrap where these are unsigned."""
    if isinstance(value, complex) and x.dtype.kind not in "cb":
        raise RuntimeError(f"{value} doesn't fit a {x.dtype.name} tensor{at_user()}")
    if not isinstance(value, (bool, int, float)):
        return value
    if x.dtype.kind == "b":
        return bool(value)
    if x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype.dtype)
        low = limits.min if limits.min or isinstance(value, float) else -limits.max
        if not low <= value <= limits.max:
            raise RuntimeError(f"{value} doesn't fit a {x.dtype.name} tensor{at_user()}")
        return int(value) if limits.min else int(value) % (limits.max + 1)
    return value


@method("zero_")
def zero_(self: Any) -> Any:
    """Zeros, in place."""
    return self._replace(0, "zero_")


@method("fill_diagonal_")
def fill_diagonal_(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    """One number where all indices are equal, in place; with `wrap`, a tall matrix has one every so many rows."""
    return self._replace(fill_diagonal(self, _number_for(self, fill_value), wrap=wrap), "fill_diagonal_")


FUNCTIONS["zero_"], FUNCTIONS["fill_"] = METHODS["zero_"], METHODS["fill_"]


@function(methods=False)
def fill(input: Any, value: Any) -> Any:
    """One number in the input's shape and dtype."""
    if isinstance(value, Core):
        return core.broadcast_to(core.astype(value, input.dtype), tuple(input.shape))
    return core.full_like(input, value)
