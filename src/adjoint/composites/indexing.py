"""NumPy's indexing, read and assigned, on top of slice, gather and scatter.

An index is parsed once into the slice of the basic part and the integer arrays of the advanced part. As in NumPy, the
axes of the arrays go where the first of them stood if they stand together, else to the front.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.composites.recipes import remembered_as_given
from adjoint.dtypes import int64
from adjoint.graph import ArrayType, Node, Primitive, array_type, get_mode
from adjoint.primitives.core import cast, conform, data, marker, ops, register
from adjoint.primitives.structural import INDEX, Slices, moved, sliced_shape
from adjoint.shapes import Shape, broadcast_shapes, normalize_axis

Force = Callable[[Node], Any]  # gives the array of a node, evaluating it: masks need it, for their shape


class Index(NamedTuple):
    """A parsed index: slices of every axis, the shape after them, and the arrays with the axes they index."""

    slices: Slices
    shape: Shape  # after slicing, size-one axes of ints removed and new axes put in
    arrays: list[Node]
    axes: list[int]  # of `shape`, one for each array
    front: bool  # whether the arrays' axes go to the front


def parse(shape: Shape, index: Any, force: Force) -> Index:
    """Parse NumPy's index expression for an array of a shape. Raises IndexError as NumPy does."""
    items = list(index) if isinstance(index, tuple) else [index]
    items = [_normalized(item, force) for item in items]
    used = sum(_consumes(item) for item in items)
    places = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index can have only one ellipsis ('...')")
    if used > len(shape):
        raise IndexError(f"too many indices for an array of shape {shape}: {used} were given")
    at = places[0] if places else len(items)
    # one that stands for no axis stays: as in NumPy it separates the arrays on its two sides
    items[at : at + 1] = [slice(None)] * (len(shape) - used) or items[at : at + 1]
    slices: list[tuple[int, int, int]] = []
    out: list[int] = []
    arrays: list[Node] = []
    axes: list[int] = []
    stands: list[int] = []
    advanced = any(isinstance(item, (Node, list)) for item in items)
    for position, item in enumerate(items):
        axis = len(slices)
        if item is None:
            out.append(1)
        elif item is Ellipsis:
            continue
        elif isinstance(item, slice):
            try:
                start, stop, step = item.indices(shape[axis])
            except TypeError:
                raise IndexError("slice indices must be integers, None or have an __index__ method") from None
            size = len(range(start, stop, step))
            slices.append((start if size else 0, size, step))
            out.append(size)
        elif isinstance(item, int):
            n = shape[axis]
            if not -n <= item < n:
                raise IndexError(f"index {item} is out of bounds for axis {axis} with size {n}")
            slices.append((item % n, 1, 1))
            if advanced:  # beside arrays, an int acts as one of them: it decides whether they stand together
                stands.append(position)
                arrays.append(data(np.zeros((), np.int64)))
                axes.append(len(out))
                out.append(1)
        elif isinstance(item, _Mask) and not item.shape:  # an axis of size one, taken once or not at all
            stands.append(position)
            arrays.append(data(np.zeros(int(item.mask), np.int64)))
            axes.append(len(out))
            out.append(1)
        else:
            if isinstance(item, _Mask):
                _check_mask(item.shape, shape[axis:])
            for array in item if isinstance(item, list) else [item]:
                n = shape[len(slices)]
                slices.append((0, n, 1))
                arrays.append(_in_bounds(array, len(slices) - 1, n))
                axes.append(len(out))
                stands.append(position)
                out.append(n)
    together = all(b - a <= 1 for a, b in itertools.pairwise(stands))
    return Index(tuple(slices), tuple(out), arrays, axes, not together)


def _normalized(item: Any, force: Force) -> Any:
    """An item as None, Ellipsis, slice, int, an integer Node, or a list of Nodes (a mask)."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    if isinstance(item, (bool, np.bool_)):
        item = np.asarray(item)
    if not isinstance(item, (Node, np.ndarray, list, tuple, range)):
        try:
            return operator.index(item)
        except TypeError:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and integer or boolean arrays are valid indices, "
                f"got {type(item).__name__}"
            ) from None
    if isinstance(item, (list, tuple, range)):
        item = np.asarray(item)
        item = item if item.size else item.astype(np.int64)  # [] and [[]] hold no numbers of any dtype
    kind = item.dtype.kind
    if kind == "b" and item.shape == (0,):  # to NumPy an empty list of positions, like any empty list
        item, kind = np.zeros(0, np.int64), "i"
    if kind == "b":
        mask = force(item) if isinstance(item, Node) else item
        return _Mask([data(i) for i in np.nonzero(mask)] if mask.ndim else [], mask.shape, mask)
    if kind not in "iu":
        raise IndexError(f"arrays used as indices must be integer or boolean, got {item.dtype}")
    if isinstance(item, np.ndarray):
        if item.ndim == 0:
            return int(item)
        item = data(item.astype(np.int64))
    return cast(item, int64)


class _Mask(list):  # type: ignore[type-arg]
    """The positions where a mask is true, one array for each of its axes."""

    def __init__(self, positions: list[Node], shape: Shape, mask: Any) -> None:
        super().__init__(positions)
        self.shape = shape
        self.mask = mask


def _consumes(item: Any) -> int:
    if item is None or item is Ellipsis:
        return 0
    return len(item.shape) if isinstance(item, _Mask) else 1


def _in_bounds(index: Node, axis: int, n: int) -> Node:
    """Integer positions made non-negative. Those known already are checked here, at the user's line."""
    value = index.value
    if isinstance(value, np.ndarray) and value.size:
        if (
            value.dtype == np.int64 and np.maximum.reduce(value.view(np.uint64), None) < n
        ):  # negative ones are large there
            return index
        least = value.min()
        if least < -n or value.max() >= n:
            bad = (value < -n) | (value >= n)
            raise IndexError(f"index {value[bad].flat[0]} is out of bounds for axis {axis} with size {n}")
        return data(np.where(value < 0, value + n, value)) if least < 0 else index
    return index  # checked when evaluated; NumPy's kernels take negative positions as they are


def never_from_the_end(numbers: Node, count: int) -> Node:
    """Positions below `count`, of which negative ones are out of range (less by `count`); known ones have been checked."""
    if numbers.value is not None or numbers.dtype.kind == "u":
        return numbers
    numbers = cast(numbers, int64)
    return ops.where(ops.less(numbers, 0), ops.subtract(numbers, count), numbers)


def _check_mask(mask: Shape, shape: Shape) -> None:
    """Its axes are as long as the array's, or empty: then it selects nothing."""
    if len(mask) > len(shape) or any([m != n and m != 0 for m, n in zip(mask, shape, strict=False)]):
        raise IndexError(f"mask of shape {mask} does not match the indexed shape {shape}")


def _arranged(parsed: Index) -> tuple[list[Node], Shape, tuple[int, ...]]:
    """The arrays broadcast together; the permutation that brings their axes to the front."""
    together = broadcast_shapes("index", *(a.shape for a in parsed.arrays))
    arrays = [ops.broadcast_to(a, together) for a in parsed.arrays]
    rest = tuple(i for i in range(len(parsed.shape)) if i not in parsed.axes)
    return arrays, together, (*parsed.axes, *rest)


# What taking a row of an array is: attributes of `index` and the result's type. The same objects each time, for a long loop
# records the same few again and again.
_rows: dict[tuple[int, ArrayType], tuple[tuple[Slices, Shape], ArrayType]] = {}
MOST_ROWS = 1 << 14


def _row(x: Node, at: int) -> Node | None:
    """x[at], from the beginning and in range; None for any other index."""
    kind = x.type
    found = _rows.get((at, kind))
    if found is None:
        shape = kind.shape
        if not shape or not 0 <= at < shape[0]:
            return None
        if shape[0] == 1:
            return ops.reshape(x, shape[1:])
        row: Slices = ((at, 1, 1), *[(0, n, 1) for n in shape[1:]])
        found = (row, shape[1:]), array_type(shape[1:], kind.dtype)
        if PLAIN.issuperset(map(type, shape)):  # not of extents that are followed: see `compiler.extents`
            if len(_rows) >= MOST_ROWS:
                _rows.clear()
            _rows[at, kind] = found
    mode = get_mode()
    return Node(INDEX, (x,), found[0], found[1], mode.site, mode.offset, mode.grad and x.tracked)


MOST_PARSED = 1 << 12
PLAIN = frozenset({int, type(None), type(Ellipsis), type})
# What taking an index of slices, ints, None and an ellipsis of a shape is: an operation, its attributes and the result's
# shape; or nothing, for all of it.
_parsed: dict[Any, tuple[Primitive, Any, Shape] | tuple[()]] = {}


def _basic(shape: Shape, index: Any) -> Any:
    """A shape and such an index as what may be looked up; None for others."""
    key: list[Any] = [shape]
    for item in index if type(index) is tuple else (index,):
        kind = type(item)
        if kind is slice:
            key += (item.start, item.stop, item.step, slice)
        elif kind is int or item is None or item is Ellipsis:
            key.append(item)
        else:
            return None
    return tuple(key) if PLAIN.issuperset(map(type, key[1:])) else None


def getitem(x: Node, index: Any, force: Force) -> Node:
    """x[index]."""
    if type(index) is int:
        row = _row(x, index)
        if row is not None:
            return row
    shape = x.type.shape
    if type(index) is Node and index.type.dtype is int64 and index.type.shape and shape:
        return ops.gather(x, [_in_bounds(index, 0, shape[0])])
    key = _basic(shape, index)
    known = None if key is None else _parsed.get(key)
    if known is not None:
        return moved(known[0], x, known[1], known[2]) if known else x
    if key is None and type(index) is tuple and 0 not in shape:
        sliced = _at_an_end(index)
        if sliced is not None:
            found = getitem(x, sliced, force)
            return marker(x) if found is x else found  # arrays take copies
    parsed = parse(shape, index, force)
    part = ops.index(x, parsed.slices, parsed.shape)
    if not parsed.arrays:
        if key is not None:
            if len(_parsed) >= MOST_PARSED:
                _parsed.clear()
            _parsed[key] = () if part is x else (part.op, part.attributes, part.type.shape)
        return part
    arrays, together, order = _arranged(parsed)
    found = ops.gather(ops.permute_dims(part, order), arrays)
    if parsed.front:
        return found
    at, k = min(parsed.axes), len(together)
    rank = found.ndim
    order = (*range(k, k + at), *range(k), *range(k + at, rank))
    return ops.permute_dims(found, order)


ENDS = {0: slice(0, 1), -1: slice(-1, None)}


def _at_an_end(index: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """An index of slices in which one list holds one position, the first or the last, with a slice in its place. Those of other
    positions would be graphs of their own, for each."""
    found = None
    for k, item in enumerate(index):
        kind = type(item)
        if kind is list and found is None and len(item) == 1 and type(item[0]) is int and item[0] in ENDS:
            found = k
        elif kind is not slice and item is not Ellipsis and item is not None:
            return None
    return None if found is None else (*index[:found], ENDS[index[found][0]], *index[found + 1 :])


def setitem(x: Node, index: Any, value: Any, force: Force) -> Node:
    """x with x[index] replaced by a node or Python scalar, broadcast and cast as NumPy does."""
    whole_mask = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if isinstance(whole_mask, (Node, np.ndarray)) and whole_mask.dtype.kind == "b":
        mask = whole_mask if isinstance(whole_mask, Node) else data(whole_mask)
        matches = mask.shape == x.shape[: mask.ndim]
        if matches and (not isinstance(value, Node) or value.shape == ()):
            wide = ops.reshape(mask, mask.shape + (1,) * (x.ndim - mask.ndim))
            return ops.where(ops.broadcast_to(wide, x.shape), _as_value(value, x, x.shape), x)
    parsed = parse(x.shape, index, force)
    if not parsed.arrays:
        part = _as_value(value, x, parsed.shape)
        return ops.update_slice(x, ops.reshape(part, sliced_shape(parsed.slices)), parsed.slices)
    arrays, together, order = _arranged(parsed)
    rest = tuple(parsed.shape[i] for i in order[len(parsed.axes) :])
    if parsed.front:
        selected: Shape = together + rest
        to_front: tuple[int, ...] = tuple(range(len(selected)))
    else:
        at, k = min(parsed.axes), len(together)
        selected = rest[:at] + together + rest[at:]
        to_front = (*range(at, at + k), *range(at), *range(at + k, len(selected)))
    values = ops.permute_dims(_as_value(value, x, selected), to_front)
    part = ops.permute_dims(ops.index(x, parsed.slices, parsed.shape), order)
    written = ops.permute_dims(ops.scatter(part, values, arrays), tuple(np.argsort(order).tolist()))
    return ops.update_slice(x, ops.reshape(written, sliced_shape(parsed.slices)), parsed.slices)


def _as_value(value: Any, x: Node, shape: Shape) -> Node:
    kind = x.dtype.kind
    if kind not in "cb" and (value.dtype.kind == "c" if isinstance(value, Node) else isinstance(value, complex)):
        raise TypeError(
            f"cannot assign complex numbers into a {x.dtype.name} array, which would lose a part: say .real"
        )
    if not isinstance(value, Node):
        value = (
            float(value)
            if kind == "f"
            else complex(value)
            if kind == "c"
            else int(value)
            if kind in "iu"
            else bool(value)
        )
        return ops.full(value, array_type(shape, x.dtype))
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = ops.reshape(value, value.shape[1:])
    if broadcast_shapes("assignment", value.shape, shape) != shape:
        raise ValueError(f"assignment: shape {value.shape} does not fit the selected shape {shape}")
    return conform(value, array_type(shape, x.dtype))


@register
def take(x: Node, indices: Node, axis: int) -> Node:
    """Slices of x at integer positions along an axis."""
    axis = normalize_axis(axis, x.ndim, "take")
    return getitem(x, (slice(None),) * axis + (indices,), _refuse)


@register
def take_along_axis(x: Node, indices: Node, axis: int) -> Node:
    """Elements at integer positions along an axis, the other axes matched one to one."""
    axis = normalize_axis(axis, x.ndim, "take_along_axis")
    if indices.ndim != x.ndim or indices.dtype.kind not in "iu":
        return getitem(x, _along(x, indices, axis), _refuse)
    return _taken_along(x, _in_bounds(cast(indices, int64), axis, x.shape[axis]), axis)


@remembered_as_given
def _taken_along(x: Node, indices: Node, axis: int) -> Node:
    """`take_along_axis` for positions that are right, as far as they are known."""
    grid = _along(x, indices, axis)
    shape = broadcast_shapes("take_along_axis", *(a.shape for a in grid))
    return ops.gather(x, [ops.broadcast_to(a, shape) for a in grid])


def _along(x: Node, indices: Node, axis: int) -> tuple[Node, ...]:
    if indices.ndim != x.ndim:
        raise ValueError(
            f"take_along_axis: indices have shape {indices.shape}, the array {x.shape}; ranks must be equal"
        )
    grid = []
    shape = tuple(
        n if i == axis else broadcast_shapes("take_along_axis", (n,), (x.shape[i],))[0]
        for i, n in enumerate(indices.shape)
    )
    for i, n in enumerate(shape):
        if i == axis:
            grid.append(ops.broadcast_to(indices, shape))
        else:
            steps = np.arange(x.shape[i]).reshape([-1 if j == i else 1 for j in range(x.ndim)])
            grid.append(data(steps if x.shape[i] == n else np.zeros_like(steps)))
    return tuple(grid)


def scatter_add(x: Node, indices: Node, updates: Node, axis: int) -> Node:
    """x with updates added at integer positions along an axis; repeated positions add up."""
    axis = normalize_axis(axis, x.ndim, "scatter_add")
    return _added_along(x, _in_bounds(cast(indices, int64), axis, x.shape[axis]), updates, axis)


@remembered_as_given
def _added_along(x: Node, indices: Node, updates: Node, axis: int) -> Node:
    """`scatter_add` for positions that are right, as far as they are known."""
    expected = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    updates = ops.astype(ops.broadcast_to(updates, expected), x.dtype)
    k = indices.ndim
    to_front = (*range(axis, axis + k), *range(axis), *range(axis + k, updates.ndim))
    order = (axis, *(i for i in range(x.ndim) if i != axis))
    added = ops.scatter_add(ops.permute_dims(updates, to_front), [indices], tuple(x.shape[i] for i in order))
    return ops.add(x, ops.permute_dims(added, tuple(np.argsort(order).tolist())))


def _refuse(node: Node) -> Any:
    raise TypeError("indices must be integers, got a boolean array")
