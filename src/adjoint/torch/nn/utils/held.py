"""Weights that are computed where they are read, from parameters and buffers of other names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.tensors.located import at_user
from adjoint.transforms.modes import no_grad

from ..._tensor import Parameter, as_torch

__all__ = ["HELD", "check_free", "hold", "let_go", "release"]

HELD = "_held_weights"  # the attribute with what is computed: name -> (kind, function of the module)


def _computed(compute: Callable[[Any], Any]) -> property:
    return property(lambda self: as_torch(compute(self)))


def _with_weights(module: Any, held: dict[str, Any]) -> None:
    """Give a module the class that computes these weights where they are read, which also works while a function is traced."""
    base = type(module).__dict__.get("_without_held", type(module))
    made = base
    if held:
        body = {name: _computed(compute) for name, (_, compute) in held.items()}
        made = type(base.__name__, (base,), {**body, "_without_held": base, "__module__": base.__module__})
    module.__dict__[HELD] = held
    object.__setattr__(module, "__class__", made)


def hold(module: Any, kind: str, name: str, compute: Callable[[Any], Any]) -> Any:
    """Let a weight of a module, which has no attribute of this name, be what is computed of the module; gives the module back."""
    _with_weights(module, {**module.__dict__.get(HELD, {}), name: (kind, compute)})
    return module


def let_go(module: Any, name: str) -> None:
    """The weight is computed no more."""
    _with_weights(module, {key: held for key, held in module.__dict__[HELD].items() if key != name})


def check_free(module: Any, kind: str, name: str) -> Any:
    """The weight's value. Raises RuntimeError where it is computed already."""
    held = module.__dict__.get(HELD, {})
    if name in held:
        raise RuntimeError(f"{kind}: {name!r} has a {held[name][0]} already{at_user()}")
    return getattr(module, name).detach()


def release(module: Any, kind: str, name: str, parts: tuple[str, ...]) -> Any:
    """Make the weight a parameter again, with the value that it has. Raises ValueError where it isn't computed so."""
    held = module.__dict__.get(HELD, {})
    if name not in held or held[name][0] != kind:
        raise ValueError(f"remove_{kind}: {type(module).__name__} has no {kind} of {name!r}{at_user()}")
    with no_grad():
        value = getattr(module, name).detach().clone()
    let_go(module, name)
    for part in parts:
        delattr(module, part)
    module.register_parameter(name, Parameter(value))
    return module
