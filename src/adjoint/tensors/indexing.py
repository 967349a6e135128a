"""Elements by integer positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

import numpy as np

from adjoint.composites import indexing
from adjoint.tensors.composing import Operand, composite, functions_of, refuse
from adjoint.tensors.conversion import array_node, as_node
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.pending import force_selection
from adjoint.tensors.tensor import Tensor


def take(x: Operand, indices: Operand, /, axis: int | None = None, **others: Never) -> Tensor:
    """Slices at integer positions along an axis (needed unless x is 1-d)."""
    if others:
        refuse("take", others)
    node = as_node(x)
    if axis is None:
        if node.ndim != 1:
            raise ValueError(f"take: axis is needed for an array of shape {node.shape}{at_user()}")
        axis = 0
    return composite("take", indexing.take, node, as_node(indices), axis)


def take_along_axis(x: Operand, indices: Operand, /, axis: int = -1, **others: Never) -> Tensor:
    """Elements at integer positions along an axis, the other axes matched one to one."""
    if others:
        refuse("take_along_axis", others)
    return composite("take_along_axis", indexing.take_along_axis, as_node(x), as_node(indices), axis)


def scatter_add(x: Operand, indices: Operand, updates: Operand, /, axis: int = 0, **others: Never) -> Tensor:
    """x with updates added at integer positions along an axis; repeated positions add up.

    updates: x's shape with the axis replaced by the shape of the indices, or what broadcasts to it.
    """
    if others:
        refuse("scatter_add", others)
    node = as_node(x)
    return composite("scatter_add", indexing.scatter_add, node, as_node(indices), as_node(updates, node.dtype), axis)


def nonzero(x: Operand, /, **others: Never) -> tuple[Tensor, ...]:
    """The indices of the nonzero elements, an int64 tensor for each axis. Evaluates x: their number is its value."""
    if others:
        refuse("nonzero", others)
    found = np.nonzero(force_selection(as_node(x)))
    return tuple(wrap(array_node(i, None, False)) for i in found)


if not TYPE_CHECKING:
    __all__ = functions_of(globals())
