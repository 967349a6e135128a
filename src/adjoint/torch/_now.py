"""What is computed at once: few elements of data, read, written and put together in less time than that is recorded.

What a program computes of them is then one graph wherever in the data they lie, and needs one plan: each window of a text, say.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import tensors, tracing
from adjoint.composites import indexing
from adjoint.graph import Node, array_type
from adjoint.nn.functional.ranges import all_below
from adjoint.primitives.core import FULL, leaf, ops
from adjoint.tensors.assignment import mapped
from adjoint.tensors.named import variable_of
from adjoint.tensors.pending import force_selection

from ._aliasing import turned

__all__ = [
    "FEW", "changed_now", "few", "gathered_now", "joined", "known", "part_of", "picked_now", "put_now", "selected_now",
    "taken_now", "times", "written_now",
]  # fmt: skip

FEW = 1 << 13  # elements
times = [0]  # how often something was computed at once: what is recorded around that doesn't follow from types alone

Core = tensors.Tensor


def _found(value: Any, dtype: Any) -> Node:
    """What was computed at once, as data."""
    times[0] += 1
    return leaf(value, array_type(value.shape, dtype))


def _are_data(nodes: Sequence[Node]) -> bool:
    """Whether nodes have values, and no derivative is asked by them."""
    return all([type(x.value) is np.ndarray and not x.tracked for x in nodes]) and tracing.active() is None


def part_of(x: Node, index: Any) -> Node:
    """The elements at an index of ints, slices, None and an ellipsis."""
    if not x.tracked and type(x.value) is np.ndarray and tracing.active() is None:
        try:
            part = x.value[index]
        except (IndexError, ValueError):  # what is wrong is said below
            part = None
        if part is not None and part.size <= FEW:
            return _found(np.array(part, order="C"), x.type.dtype)
    return mapped("index", indexing.getitem, x, index, force_selection)


def few(node: Node) -> Any:
    """The value of a node of few elements by which no derivative is asked; None for others."""
    value = node.value
    if node.tracked or type(value) is not np.ndarray or value.size > FEW or tracing.active() is not None:
        return None
    return value


def taken_now(x: Node, index: Any) -> Node | None:
    """The elements at positions, or where one mask holds, that are tensors of values; None where that isn't so, or wrong."""
    if x.tracked or type(x.value) is not np.ndarray:
        return None
    items = index if type(index) is tuple else (index,)
    places: list[Any] = []
    count, axes = 1, 0
    for item in items:
        at = few(item.node) if isinstance(item, Core) else None
        if at is None or not at.ndim:
            return None
        if at.dtype.kind == "b" and len(items) == 1:
            axes += at.ndim
        elif at.dtype.kind == "i":
            axes += 1
        else:
            return None
        if not places or at.shape != places[0].shape:
            count *= at.size
        places.append(at)
    if axes > x.type.ndim or count * math.prod(x.type.shape[axes:]) > FEW:
        return None
    try:
        found = x.value[tuple(places)]
    except IndexError:  # what is wrong is said by who is asked next
        return None
    return _found(found, x.type.dtype)


@functools.lru_cache(1 << 8)
def _grids(shape: tuple[int, ...], axis: int) -> tuple[list[Any], list[Any]]:
    """The positions along the axes before one, and behind it, of all elements of a shape."""
    grids = [np.arange(n).reshape([-1 if j == i else 1 for j in range(len(shape))]) for i, n in enumerate(shape)]
    return grids[:axis], grids[axis + 1 :]


def _places(x: Node, dim: Any, at: Node) -> tuple[Any, ...] | None:
    """Where positions along an axis are in a tensor of values, as an index; None where all isn't known, small and right."""
    shape, own = at.type.shape, x.type.shape
    positions = few(at)
    if positions is None or type(dim) is not int or len(shape) != len(own) or not -len(own) <= dim < len(own):
        return None
    if not positions.size or positions.dtype.kind != "i" or not all_below(positions, own[dim]):
        return None
    axis = dim % len(own)
    for i, n in enumerate(shape):
        if n > own[i] and i != axis:
            return None
    before, behind = _grids(shape, axis)
    return (*before, positions, *behind)


def gathered_now(x: Node, dim: Any, at: Node) -> Node | None:
    """The elements at positions along an axis, all of them values; None where that isn't so, or wrong."""
    if x.tracked or type(x.value) is not np.ndarray:
        return None
    places = _places(x, dim, at)
    return None if places is None else _found(x.value[places], x.type.dtype)


def put_now(x: Node, dim: Any, at: Node, given: Any) -> Node | None:
    """Few elements with some, or a float, put at positions along an axis, all of them values; None where that isn't so."""
    own = few(x)
    if own is None or x.type.dtype.kind != "f" or x.type.dtype.narrow:
        return None
    new: Any = given
    if isinstance(given, Core):
        new = few(given.node) if given.node.type.dtype is x.type.dtype else None
        if new is None or new.ndim != own.ndim:
            return None
    elif type(given) is not float:
        return None
    places = _places(x, dim, at)
    if places is None:
        return None
    if new is not given:
        if any([n > m for n, m in zip(at.type.shape, new.shape, strict=True)]):
            return None
        new = new[tuple([slice(0, n) for n in at.type.shape])]
    made = np.array(own, order="C")
    made[places] = new
    return _found(made, x.type.dtype)


def selected_now(x: Node, dim: Any, at: Node) -> Node | None:
    """The slices at positions along an axis, all of them values; None where that isn't so, or wrong."""
    positions, shape = few(at), x.type.shape
    if positions is None or x.tracked or type(x.value) is not np.ndarray or positions.ndim != 1 or type(dim) is not int:
        return None
    if not -len(shape) <= dim < len(shape) or positions.dtype.kind != "i" or not all_below(positions, shape[dim]):
        return None
    if positions.size * x.type.size > FEW * shape[dim]:
        return None
    found = x.value.take(positions, dim)
    return _found(found, x.type.dtype)


def picked_now(x: Node, at: Node) -> Node | None:
    """The elements at positions among all, all of them values; None where that isn't so, or wrong."""
    positions = few(at)
    if positions is None or x.tracked or type(x.value) is not np.ndarray or positions.dtype.kind != "i":
        return None
    if not all_below(positions, x.type.size):
        return None
    return _found(x.value.reshape(-1)[positions.reshape(-1)].reshape(positions.shape), x.type.dtype)


def joined(nodes: Sequence[Node], axis: int) -> Node:
    """Tensors of one dtype joined along an axis."""
    if type(nodes[0].value) is np.ndarray and sum([x.type.size for x in nodes]) <= FEW and _are_data(nodes):
        try:
            value = np.concatenate([x.value for x in nodes], axis)
        except ValueError:  # as above
            value = None
        if value is not None:
            return _found(value, nodes[0].type.dtype)
    return mapped("cat", ops.concat, nodes, axis)


def written_now(x: Any, index: Any, value: Any) -> bool:
    """Write into a small tensor of data, where all that it takes has values; False where that isn't so.

    Data put together element by element would be a graph of its own each time.
    """
    node = x.node
    if node.tracked or node.type.size > FEW or tracing.active() is not None or variable_of(node) is not None:
        return False
    array = known(node)
    given = known(value.node) if isinstance(value, Core) and not value.node.tracked else value
    places = [known(i.node) if isinstance(i, Core) else i for i in (index if type(index) is tuple else (index,))]
    if (
        array is None
        or given is None
        or isinstance(given, (Core, list, tuple))
        or any(i is None for i in places if i is not index)
    ):
        return False
    if isinstance(given, complex) or (isinstance(given, np.ndarray) and given.dtype.kind == "c"):
        return False
    made = np.array(array)
    made[tuple(places)] = given.reshape(()) if isinstance(given, np.ndarray) and given.size == 1 else given
    x.node = leaf(made, node.type)
    return True


EXACT = {  # operators whose result is the same bits whatever computes it
    "in-place add": np.add, "in-place sub": np.subtract, "in-place mul": np.multiply,
}  # fmt: skip


def changed_now(x: Any, operation: str, other: Any) -> bool:
    """Change a view that is a part of small data, as `x[i] += 1` does; False where that isn't so, or more than data is asked."""
    base, at = x._base, getattr(x, "_at", None)
    if at is None or base._base is not None or turned or x._memory.holder is not None or operation not in EXACT:
        return False
    node = base.node
    array = known(node) if not node.tracked and node.type.size <= FEW and tracing.active() is None else None
    if array is None or node.type.dtype.kind not in "iuf" or node.type.dtype.narrow or any(type(i) is Node for i in at):
        return False
    dtype = array.dtype
    if isinstance(other, Core):
        given = known(other.node) if other.node.type.dtype is node.type.dtype and not other.node.tracked else None
    elif type(other) is int or (type(other) is float and dtype.kind == "f"):
        given = _of_dtype(other, dtype)
    else:
        return False
    if given is None or given.shape not in ((), x._cached.type.shape):
        return False
    made = np.array(array)
    with np.errstate(all="ignore"):
        made[at] = EXACT[operation](made[at], given)
    base._assign(leaf(made, node.type), operation)
    x._seen = None
    return True


def _of_dtype(number: Any, dtype: Any) -> Any:
    """A number as an array of a dtype; None for one that doesn't fit."""
    try:
        return np.asarray(number, dtype)
    except OverflowError:
        return None


def known(node: Node) -> Any:
    """The value of a node that has one; None for others."""
    if type(node.value) is np.ndarray:
        return node.value
    if node.op is FULL and isinstance(node.attributes, (bool, int, float)):
        return np.full(node.type.shape, node.attributes, node.type.dtype.dtype)
    return None
