"""Hooks of all modules, which torch.nn.modules.module has."""

from __future__ import annotations

import functools
from typing import Any

from adjoint import nn as core_nn

from .._tensor import as_torch

__all__ = ["SHARED_HOOKS", "with_pytorchs"]


def with_pytorchs(hook: Any) -> Any:
    """A hook that is called with tensors of PyTorch's kind."""

    def called(module: Any, *given: Any) -> Any:
        return hook(module, *[as_torch(x) for x in given])

    called.__wrapped__ = hook  # type: ignore[attr-defined]
    return called


def _registering(name: str) -> Any:
    register = getattr(core_nn, name)

    @functools.wraps(register)
    def registered(hook: Any, **keywords: Any) -> Any:
        return register(with_pytorchs(hook), **keywords)

    return registered


SHARED_HOOKS = {name: _registering(name) for name in core_nn.__all__ if name.startswith("register_module_")}
