"""How a PyTorch tensor is read and written at an index."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from adjoint import tensors, tracing
from adjoint.graph import Node
from adjoint.primitives.core import cast, ops
from adjoint.tensors.located import at_user
from adjoint.tensors.named import new

__all__ = ["cut", "fitted", "in_steps", "ints", "is_basic", "nodes", "selecting"]

Core = tensors.Tensor


def is_basic(index: Any) -> bool:
    """Whether an index takes a view: of ints, slices, None and an ellipsis alone."""
    for item in index if type(index) is tuple else (index,):
        kind = type(item)
        if kind is slice and item.step is not None and item.step <= 0:
            raise ValueError(f"index: the step of a slice is positive, not {item.step}; use flip(){at_user()}")
        if kind is int or kind is slice or item is None or item is Ellipsis or isinstance(item, np.integer):
            continue
        return False
    return True


def selecting(x: Node, index: Any) -> tuple[Any, ...] | None:
    """An index that takes a view of a tensor, as a tuple; None for one that copies.

    An integer tensor without axes is an int to PyTorch. Here it is one for data, and else stays a node: so what is computed of a
    row of a table is one graph for all rows.
    """
    found: list[Any] = []
    is_data = not x.tracked and x.value is not None and tracing.active() is None
    for item in index if type(index) is tuple else (index,):
        if isinstance(item, (Core, np.ndarray)) and _is_int(item) and item.dtype.name != "uint8":
            if isinstance(item, Core) and not (is_data and type(item.node.value) is np.ndarray):
                found.append(item.node)
            else:
                found.append(int(item.node.value if isinstance(item, Core) else item))
        elif is_basic(item):
            found.append(ints(item))
        else:
            return None
    return tuple(found)


def in_steps(index: Any, ndim: int) -> tuple[Any, Any]:
    """An index and another one, or None, for what the first has taken, which are together PyTorch's reading of an index.

    PyTorch takes ints first. NumPy counts them among the arrays, and where all these don't stand side by side, puts the axes of
    the arrays in front: `x[0, :, [1, 2]]` has the axes of `x[0][:, [1, 2]]` in the one, of their transpose in the other. And
    PyTorch takes a short list that holds lists, arrays, slices, None or an ellipsis for a tuple, and bytes for a mask.
    """
    if type(index) is list and len(index) < LISTED and any(_is_part(i) for i in index):
        index = tuple(index)
    if type(index) is not tuple:
        return _without_bytes(index), None
    index = tuple([_without_bytes(i) for i in index])
    places = [k for k, i in enumerate(index) if i is Ellipsis]
    if len(places) == 1:  # which separates arrays in NumPy even where it stands for no axis
        taken = sum([0 if i is None or i is Ellipsis else 1 if _is_between(i) else _axes_of(i) for i in index])
        slices = (slice(None),) * max(ndim - taken, 0)
        index = index[: places[0]] + slices + index[places[0] + 1 :]
    kinds = ["int" if _is_int(i) else "other" if _is_between(i) else "array" for i in index]
    counted = [k for k, kind in enumerate(kinds) if kind != "other"]
    if "int" not in kinds or "array" not in kinds or counted[-1] - counted[0] == len(counted) - 1:
        return index, None
    first: list[Any] = []
    then: list[Any] = []
    for i, kind in zip(index, kinds, strict=True):
        if kind == "array":
            first += [slice(None)] * _axes_of(i)
            then.append(i)
        else:
            first.append(i)
            then += [] if kind == "int" else [slice(None)]
    return tuple(first), tuple(then)


def _without_bytes(item: Any) -> Any:
    """One entry of an index: bytes are a mask to PyTorch, as they were before there were bools. It says so."""
    if not isinstance(item, (Core, np.ndarray)) or item.dtype.name != "uint8":
        return item
    warnings.warn(f"index: uint8 is a mask, as in PyTorch; write mask.bool(), or index.long(){at_user()}", stacklevel=4)
    return item != 0


LISTED = 32  # PyTorch takes longer lists for positions


def _is_part(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, (Core, np.ndarray, list, tuple, slice))


def _is_between(item: Any) -> bool:
    return item is None or item is Ellipsis or isinstance(item, slice)


def _is_int(item: Any) -> bool:
    if isinstance(item, (Core, np.ndarray)):
        return item.ndim == 0 and item.dtype.kind in "iu"
    return isinstance(item, (int, np.integer)) and not isinstance(item, bool)


def _axes_of(item: Any) -> int:
    """How many axes an array takes: a mask those that it has."""
    array = item if isinstance(item, (Core, np.ndarray)) else np.asarray(item)
    return array.ndim if array.dtype.kind == "b" else 1


def ints(index: Any) -> Any:
    """A basic index whose slices are bounded by plain ints."""
    if type(index) is tuple:
        for i in index:
            if type(i) is slice and not _is_plain(i):
                return tuple([ints(i) for i in index])
        return index
    if type(index) is slice and any(isinstance(v, Core) for v in (index.start, index.stop, index.step)):
        return slice(*(int(v) if isinstance(v, Core) else v for v in (index.start, index.stop, index.step)))
    return index


PLAIN = frozenset({int, type(None)})


def _is_plain(item: slice) -> bool:
    return type(item.start) in PLAIN and type(item.stop) in PLAIN and type(item.step) in PLAIN


def nodes(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple([i.node if isinstance(i, Core) else ints(i) for i in index])
    return index.node if isinstance(index, Core) else index


def fitted(value: Node, own: Node) -> Any:
    """A value with the dtype of the tensor that it is written into, and without leading axes of size one too many."""
    value = cut(value, own)
    while value.ndim > own.ndim and value.shape[0] == 1:
        value = ops.reshape(value, value.shape[1:])
    return _of_node(value)


def cut(value: Node, own: Node) -> Node:
    """A value in the dtype of the tensor that it is written into. That imaginary parts are lost is said."""
    if value.dtype is own.dtype:
        return value
    if value.dtype.kind == "c" and own.dtype.kind not in "cb":
        text = f"complex values are written into a {own.dtype.name} tensor, which has no imaginary parts; say .real{at_user()}"
        warnings.warn(text, UserWarning, stacklevel=4)
    return cast(value, own.dtype)


def _of_node(node: Node) -> Core:
    found = new(Core)
    found.node = node
    return found
