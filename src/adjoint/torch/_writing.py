"""How a PyTorch tensor is read and written at an index."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import tensors
from adjoint.graph import Node
from adjoint.primitives.core import cast, ops
from adjoint.tensors.located import at_user
from adjoint.tensors.named import new

__all__ = ["fitted", "ints", "is_basic", "nodes"]

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


def fitted(value: Node, own: Node) -> Any:
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
