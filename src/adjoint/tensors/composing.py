"""What the public functions are written with: calling composites inside scopes, refusing arguments of others."""

from __future__ import annotations

import functools
from collections.abc import Callable
from sys import _getframe
from types import FunctionType
from typing import Any, NoReturn, TypeVar

import numpy as np

from adjoint import tree
from adjoint.dtypes import DType, float32, promote
from adjoint.graph import NARROW, Node
from adjoint.hints import keyword_error
from adjoint.primitives.core import cast, in_float32, is_narrow
from adjoint.shapes import normalize_axis
from adjoint.tensors.conversion import as_node, as_nodes
from adjoint.tensors.located import MISTAKES, at_user, enter_scope, explained, leave_scope
from adjoint.tensors.named import recorded, wrap
from adjoint.tensors.pending import count_pending, force_array
from adjoint.tensors.repeating import recorded_as_before
from adjoint.tensors.tensor import Tensor

__all__ = [
    "ARRAYS", "Array", "Axis", "DTypeLike", "Operand", "as_tensor", "as_tensors", "axis_of", "composite", "composites",
    "functions_of", "on_cpu", "rearranged", "refuse", "refuse_spread", "scoped", "value_of",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
Operand = Tensor | np.ndarray[Any, Any] | complex | Any
Axis = int | tuple[int, ...] | None
DTypeLike = Any
Array = np.ndarray[Any, Any]

ARRAYS = (Tensor, np.ndarray, list, tuple)  # what has elements, where a number will do too


def functions_of(module: dict[str, Any]) -> list[str]:
    """The public functions that a module defines, of its `globals()`: what it exports at run time, with no list to keep. Type
    checkers, which need none, know them by their definitions."""
    return [
        name
        for name, value in module.items()
        if type(value) is FunctionType and value.__module__ == module["__name__"] and not name.startswith("_")
    ]


def composite(name: str, function: Callable[..., Node], *args: Any) -> Tensor:
    """Call a composite inside a scope of its name."""
    return wrap(_scoped(name, function, args))


def composites(name: str, function: Callable[..., list[Node]], *args: Any) -> list[Tensor]:
    """Call a composite with several results inside a scope of its name."""
    return [wrap(x) for x in _scoped(name, function, args)]


def _scoped(name: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    frame = _getframe(3)
    known = recorded_as_before(name, function, args, frame)
    if known is not None:
        return known
    token = enter_scope(name, frame)
    try:
        # A dtype among the arguments is what the caller wants the result to have.
        if NARROW and is_narrow(args) and not any([isinstance(x, DType) for x in args]):
            result = in_float32(function, args)
        else:
            result = function(*args)
    except MISTAKES as error:
        raise explained(error, name, *args) from None
    finally:
        leave_scope(token)
    if isinstance(result, Node) and not result.tracked:
        count_pending(result)
    return result


def scoped(function: F, widened: bool = True) -> F:
    """A public function that is written with other public functions: it records them inside a scope of its name. With numbers of
    16 bits it computes in float32, and rounds what it gives, if it may be `widened`."""
    name = function.__name__

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        token = enter_scope(name, 2)
        try:
            if widened and NARROW and keywords.get("dtype") is None:
                return _in_float32(function, args, keywords)
            return function(*args, **keywords)
        except MISTAKES as error:
            raise explained(error, name, *args) from None
        finally:
            leave_scope(token)

    return call  # type: ignore[return-value]


def _in_float32(function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a function of tensors. Where these promote to a floating dtype of 16 bits it computes in float32, and what it gives
    in float32 is rounded once."""
    leaves, structure = tree.flatten([args, keywords], opaque=True)
    nodes = [x.node for x in leaves if isinstance(x, Tensor)]
    if not is_narrow(nodes):
        return function(*args, **keywords)
    narrow = functools.reduce(promote, [node.type.dtype for node in nodes if node.type.inexact])

    def wide(x: Any) -> Any:
        return wrap(cast(x.node, float32)) if isinstance(x, Tensor) and x.dtype.inexact else x

    def rounded(x: Any) -> Any:
        return wrap(cast(x.node, narrow)) if isinstance(x, Tensor) and x.dtype is float32 else x

    given, named = structure.unflatten([wide(x) for x in leaves])
    return tree.map(rounded, function(*given, **named))


def refuse(name: str, keywords: dict[str, Any], shape: Any = None, more: tuple[Any, ...] = ()) -> NoReturn:
    """Raise the TypeError for arguments under names from elsewhere."""
    if more:
        raise TypeError(f"{name}: the shape is one int or one tuple: ad.{name}({(shape, *more)}){at_user()}")
    raise keyword_error(name, keywords, at_user())


def refuse_spread(name: str, what: str, given: tuple[Any, ...]) -> NoReturn:
    """Raise the TypeError for numbers given side by side that come in one tuple."""
    raise TypeError(f"{name}: {what} come in one tuple: ad.{name}(x, {given}){at_user()}")


def on_cpu(name: str, device: Any) -> None:
    """Check a device that a user named: there is one. Raises ValueError for another."""
    if device is not None and str(device) != "cpu":
        raise ValueError(
            f"{name}: tensors lie in main memory and are computed on the CPU: device is 'cpu' or None, not {device!r}{at_user()}"
        )


def as_tensors(*operands: Operand) -> list[Tensor]:
    """Operands that belong together as tensors: numbers, and lists of them, take the dtype of the arrays beside them."""
    return [wrap(node) for node in as_nodes(operands)]


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


def value_of(x: Any) -> Any:
    """The value of a tensor that is an option of a function, as an array; anything else as it is."""
    return force_array(x.node) if isinstance(x, Tensor) else x


def axis_of(axis: int, node: Node) -> int:
    """A non-negative axis of a node. Raises IndexError when out of bounds."""
    return normalize_axis(axis, node.ndim, "axis")
