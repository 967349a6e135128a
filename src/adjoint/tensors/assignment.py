"""Reading and writing at an index, and new values under an old name."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.composites import indexing
from adjoint.graph import Node, Variable, get_mode
from adjoint.primitives.core import IDENTITY, LEAF, VERSION, cast, is_scalar, leaf, marker, stop_gradient, version
from adjoint.tensors.conversion import as_node
from adjoint.tensors.located import MISTAKES, at_user, explained, give_site
from adjoint.tensors.named import Named, recorded
from adjoint.tensors.pending import SETTLING, accumulating, force_selection, settle

if TYPE_CHECKING:
    from adjoint.tensors.tensor import Tensor

__all__ = ["Assignment", "mapped", "rebind"]


class Assignment(Named):
    """The part of a tensor that indices and in-place operations concern. In place means that the name gets a new node."""

    __slots__ = ()

    def _assign(self, node: Node, operation: str) -> None:
        """Rebind this name to the result of an in-place operation."""
        own = self.node.type
        if node.type is not own:
            if node.type.shape != own.shape:
                raise ValueError(
                    f"{operation}: the result has shape {node.type.shape}, the tensor {own.shape}{at_user()}"
                )
            if "buifc".index(node.type.dtype.kind) > "buifc".index(own.dtype.kind):
                raise TypeError(
                    f"{operation}: a {node.type.dtype.name} result does not fit a {own.dtype.name} tensor{at_user()}"
                )
            node = cast(node, own.dtype)
        if node.tracked and not get_mode().grad:  # what was computed before, and is written over all elements
            node = stop_gradient(node)
        variable = _written(self.node)
        if variable is not None and variable.tracked:
            if get_mode().grad:
                raise RuntimeError(
                    f"{operation} writes in place to a variable, whose history would be lost. To give it a new value:\n"
                    "    with ad.no_grad():\n        w -= lr * w.grad\n"
                    f"or\n    w.data -= lr * w.grad{at_user()}"
                )
            rebind(self, node)
        elif variable is not None and variable.grad is not None and not node.tracked:
            rebind(self, node)
        else:
            self.node = node
            if not node.tracked:
                accumulating(self)

    def __setitem__(self, index: Any, value: Any) -> None:
        changed = mapped(
            "assignment", indexing.setitem, self.node, _index(index), _value(value, self.dtype), force_selection
        )
        give_site(changed, _getframe(1))
        self._assign(changed, "assignment")

    def __getitem__(self, index: Any) -> Tensor:
        node = self.node
        at = index if type(index) is int else _index(index)
        try:
            found = indexing.getitem(node, at, force_selection)
        except MISTAKES as error:
            raise explained(error, "index", node, at) from None
        return recorded(found, _getframe(1))


def _written(node: Node) -> Variable | None:
    """The variable that a write to a leaf gives a new value; also one that was frozen and keeps its gradient."""
    if node.op in (LEAF, VERSION) or (node.op is IDENTITY and not node.tracked):
        variable: Variable | None = node.attributes
        return variable
    return None


def rebind(tensor: Named, node: Node, settled: bool = False, old: Node | None = None) -> None:
    """Give a tensor a new value. A variable gets a new version, whose gradient lands in the same `.grad`. What will be `settled`
    by who calls this needn't be remembered, nor does who knows the `old` node have it looked up."""
    old = tensor.node if old is None else old
    variable = _written(old)
    if variable is None or not variable.tracked:
        tensor.node = stop_gradient(node) if node.tracked else node
        if node.value is None and not settled:
            accumulating(tensor)  # a running statistic, say, that nobody reads
        if variable is not None and variable.name is not None:
            tensor.name = variable.name
        if variable is not None and variable.grad is not None:
            tensor.node = marker(tensor.node, variable)
        return
    if old.op is VERSION and old.value is None:
        settle([old])
    value = node.value
    if type(value) is np.ndarray:
        tensor.node = leaf(value, node.type, variable)
    else:
        tensor.node = version(node, variable)
        if not SETTLING.get():
            accumulating(tensor)  # the next update of any of them evaluates all that are pending, in one go


def _index(index: Any) -> Any:
    """An index with tensors replaced by their nodes."""
    if isinstance(index, tuple):
        return tuple([i.node if isinstance(i, Named) else i for i in index])
    return index.node if isinstance(index, Named) else index


def _value(value: Any, beside: Any) -> Any:
    return value if is_scalar(value) else as_node(value, beside)


def mapped(operation: str, function: Callable[..., Node], *args: Any) -> Node:
    """Call a function of nodes; its complaints gain the operation, the shapes and the user's line."""
    try:
        return function(*args)
    except MISTAKES as error:
        raise explained(error, operation, *args) from None
