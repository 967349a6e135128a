"""What the public functions are written with: calling composites inside scopes, refusing arguments of others."""

from __future__ import annotations

from collections.abc import Callable
from sys import _getframe
from typing import Any, NoReturn

import numpy as np

from adjoint.graph import Node
from adjoint.hints import keyword_error
from adjoint.shapes import normalize_axis
from adjoint.tensors.conversion import as_node
from adjoint.tensors.located import MISTAKES, at_user, enter_scope, explained, leave_scope
from adjoint.tensors.named import recorded, wrap
from adjoint.tensors.pending import count_pending
from adjoint.tensors.tensor import Tensor

__all__ = [
    "ARRAYS", "Array", "Axis", "DTypeLike", "Operand", "as_tensor", "axis_of", "composite", "composites", "rearranged",
    "refuse",
]  # fmt: skip

Operand = Tensor | np.ndarray[Any, Any] | complex | Any
Axis = int | tuple[int, ...] | None
DTypeLike = Any
Array = np.ndarray[Any, Any]

ARRAYS = (Tensor, np.ndarray, list, tuple)  # what has elements, where a number will do too


def composite(name: str, function: Callable[..., Node], *args: Any) -> Tensor:
    """Call a composite inside a scope of its name."""
    return wrap(_scoped(name, function, args))


def composites(name: str, function: Callable[..., list[Node]], *args: Any) -> list[Tensor]:
    """Call a composite with several results inside a scope of its name."""
    return [wrap(x) for x in _scoped(name, function, args)]


def _scoped(name: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    token = enter_scope(name, _getframe(3))
    try:
        result = function(*args)
    except MISTAKES as error:
        raise explained(error, name, *args) from None
    finally:
        leave_scope(token)
    if isinstance(result, Node) and not result.tracked:
        count_pending(result)
    return result


def refuse(name: str, keywords: dict[str, Any], shape: Any = None, more: tuple[Any, ...] = ()) -> NoReturn:
    """Raise the TypeError for arguments under names from elsewhere."""
    if more:
        raise TypeError(f"{name}: the shape is one int or one tuple: ad.{name}({(shape, *more)}){at_user()}")
    raise keyword_error(name, keywords, at_user())


def as_tensor(x: Operand) -> Tensor:
    """x as a tensor: the same one if it is one."""
    return x if isinstance(x, Tensor) else wrap(as_node(x))


def rearranged(function: Callable[[Node], Node], x: Any) -> Tensor:
    """Call a function that moves the elements of one array, for the public function that calls this."""
    try:
        node = function(as_node(x))
    except MISTAKES as error:
        raise explained(error, _getframe(1).f_code.co_name, x) from None
    return recorded(node, _getframe(2))


def axis_of(axis: int, node: Node) -> int:
    """A non-negative axis of a node. Raises IndexError when out of bounds."""
    return normalize_axis(axis, node.ndim, "axis")
