"""How the functions here record a composite: in a scope of its name, with errors that show the user's line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.graph import Node
from adjoint.tensors import Tensor
from adjoint.tensors.located import MISTAKES, enter_scope, explained, leave_scope, user_frame
from adjoint.tensors.pending import count_pending
from adjoint.tensors.tensor import as_node, wrap

__all__ = ["node_of", "recorded"]


def recorded(name: str, function: Callable[..., Node], *args: Any) -> Tensor:
    """The tensor of a function of nodes, called inside a scope of this name."""
    token = enter_scope(name, user_frame(2))
    try:
        result = function(*args)
    except MISTAKES as error:
        raise explained(error, name, *args) from None
    finally:
        leave_scope(token)
    if not result.tracked:
        count_pending(result)
    return wrap(result)


def node_of(x: Any) -> Node:
    """The node of a tensor, or of what can be made one."""
    return x.node if isinstance(x, Tensor) else as_node(x)
