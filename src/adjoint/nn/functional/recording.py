"""How the functions here record a composite: in a scope of its name, with errors that show the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.graph import NARROW, Node
from adjoint.primitives.core import in_float32, is_narrow
from adjoint.tensors import Tensor
from adjoint.tensors.conversion import as_node
from adjoint.tensors.located import MISTAKES, enter_scope, explained, leave_scope
from adjoint.tensors.named import wrap
from adjoint.tensors.pending import count_pending
from adjoint.tensors.repeating import recorded_as_before

__all__ = ["node_of", "optional", "recorded", "scope", "tensor_of"]


class scope:
    """Record what is inside in a scope of this name. Errors gain the operands' shapes and the user's line."""

    # a class and not a generator, whose frames would seem to be the user's

    def __init__(self, name: str, *operands: Any) -> None:
        self.name = name
        self.operands = operands

    def __enter__(self) -> None:
        self.token = enter_scope(self.name, 2)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        leave_scope(self.token)
        if isinstance(error, MISTAKES):
            raise explained(error, self.name, *self.operands) from None


def recorded(name: str, function: Callable[..., Node], *args: Any) -> Tensor:
    """The tensor of a function of nodes, called inside a scope of this name."""
    known = recorded_as_before(name, function, args, 3)
    if known is not None:
        return wrap(known)
    token = enter_scope(name, 1)
    try:
        node = in_float32(function, args) if NARROW and is_narrow(args) else function(*args)
    except MISTAKES as error:
        raise explained(error, name, *args) from None
    finally:
        leave_scope(token)
    return tensor_of(node)


def tensor_of(node: Node) -> Tensor:
    """The tensor of a node just recorded."""
    if not node.tracked:
        count_pending(node)
    return wrap(node)


def node_of(x: Any) -> Node:
    """The node of a tensor, or of what can be made one."""
    return x.node if isinstance(x, Tensor) else as_node(x)


def optional(x: Any) -> Node | None:
    """The node of a tensor, or None for None."""
    return None if x is None else node_of(x)
