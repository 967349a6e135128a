"""The names under which a program holds its tensors, for pictures and printed plans."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from adjoint.tensors.tensor import Tensor

__all__ = ["argument_names", "named_by", "named_tensors"]

MAX_ITEMS = 10_000  # of a list or dict whose tensors get names


def _name_items(found: dict[str, Tensor], name: str, value: Any, depth: int = 0) -> None:
    """Names such as `ws[17]` and `p['w'][0]` for the tensors in nested lists, tuples and dicts."""
    if len(value) > MAX_ITEMS or depth > 3:
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, Tensor):
            found[f"{name}[{key!r}]"] = item
        elif isinstance(item, (list, tuple, dict)):
            _name_items(found, f"{name}[{key!r}]", item, depth + 1)


def named_tensors(names: Mapping[str, Any]) -> dict[str, Tensor]:
    """Tensors by name: first those named themselves, then parameters of modules (dotted), then items of containers and what
    optimizers keep."""
    found = {name: value for name, value in names.items() if isinstance(value, Tensor)}
    for name, value in names.items():
        if hasattr(type(value), "named_parameters"):  # a module; asking the object itself could run its code
            found |= {f"{name}.{path}": parameter for path, parameter in value.named_parameters()}
    for name, value in names.items():
        if isinstance(value, (list, tuple, dict)):
            _name_items(found, name, value)
    known = {id(x): name for name, x in found.items()}
    for name, value in names.items():
        if hasattr(type(value), "named_state"):  # an optimizer
            found |= {f"{name}.{path}": x for path, x in value.named_state(known)}
    return found


def named_by(function: Any) -> dict[str, Tensor]:
    """The tensors that a function reads from around it, by the names that it has for what holds them."""
    function = function.func if isinstance(function, functools.partial) else function
    names: dict[str, Any] = {}
    owner = getattr(function, "__self__", None)
    function = getattr(function, "__func__", function)
    if inspect.isfunction(function):
        code = function.__code__
        names = {k: function.__globals__[k] for k in code.co_names if k in function.__globals__}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            with suppress(ValueError):  # it is empty
                names[name] = cell.cell_contents
        if owner is not None and code.co_varnames:
            names[code.co_varnames[0]] = owner
    elif owner is None and hasattr(type(function), "named_parameters"):
        names = {"self": function}
    return named_tensors(names)


def argument_names(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[int, str]:
    """What a function calls the leaves of its arguments, of which numbers stand in the places."""
    found: dict[int, str] = {}
    try:
        bound = inspect.signature(function).bind_partial(*args, **keywords)
    except (TypeError, ValueError):  # no signature is known
        return found
    for name, value in bound.arguments.items():
        if bound.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            for key, item in value.items():
                _name_places(found, key, item)
        else:
            _name_places(found, name, value)
    return found


def _name_places(found: dict[int, str], name: str, value: Any) -> None:
    if type(value) is int:
        found[value] = name
    elif isinstance(value, (list, tuple, dict)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            _name_places(found, f"{name}[{key!r}]", item)
