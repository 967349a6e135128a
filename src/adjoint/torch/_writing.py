"""How a PyTorch tensor is read and written at an index."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import tensors, tracing
from adjoint.graph import Node
from adjoint.primitives.core import FULL, cast, leaf, ops
from adjoint.tensors.located import at_user
from adjoint.tensors.named import new

__all__ = ["FEW", "fitted", "ints", "is_basic", "known", "nodes", "written_now"]

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


def ints(index: Any) -> Any:
    """A basic index whose slices are bounded by plain ints."""
    if type(index) is tuple:
        return tuple([ints(i) for i in index])
    if type(index) is slice and any(isinstance(v, Core) for v in (index.start, index.stop, index.step)):
        return slice(*(int(v) if isinstance(v, Core) else v for v in (index.start, index.stop, index.step)))
    return index


def nodes(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple([i.node if isinstance(i, Core) else ints(i) for i in index])
    return index.node if isinstance(index, Core) else index


FEW = 1 << 13  # elements that are copied in less time than a write is recorded


def written_now(x: Core, index: Any, value: Any) -> bool:
    """Write into a small tensor of data at once, where all that it takes has values: recording it would take longer, and data put
    together element by element would be a graph of its own each time."""
    node = x.node
    if node.tracked or node.type.size > FEW or tracing.active() is not None:
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
    made[tuple(places)] = given
    x.node = leaf(made, node.type)
    return True


def known(node: Node) -> Any:
    """The value of a node that has one; None for others."""
    if type(node.value) is np.ndarray:
        return node.value
    if node.op is FULL and isinstance(node.attributes, (bool, int, float)):
        return np.full(node.type.shape, node.attributes, node.type.dtype.dtype)
    return None


def fitted(value: Node, own: Node, index: Any) -> Any:
    """A value with the dtype of the tensor that it is written into, and without leading axes of size one too many."""
    if value.dtype is not own.dtype:
        value = cast(value, own.dtype)
    while value.ndim > own.ndim and value.shape[0] == 1:
        value = ops.reshape(value, value.shape[1:])
    return _of_node(value)


def _of_node(node: Node) -> Core:
    found = new(Core)
    found.node = node
    return found
