"""What is called before and after a module's forward pass."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from adjoint import tracing

__all__ = ["HookHandle", "Hooks"]

Registered = dict[int, tuple[Callable[..., Any], bool]]  # by number: the hook, and whether it takes keywords

_numbers = itertools.count()


class HookHandle:
    """What takes a hook out again: by `remove()`, or at the end of a `with` block."""

    def __init__(self, owner: object, registered: Registered, number: int) -> None:
        self.owner = owner
        self.registered = registered
        self.number = number

    def remove(self) -> None:
        """Take the hook out; nothing happens the second time."""
        if self.number in self.registered:
            tracing.changed(self.owner, f"the hooks of {type(self.owner).__name__}")
            del self.registered[self.number]

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class Hooks:
    """The hooks of one module, in the order of their calls."""

    def __init__(self) -> None:
        self.pre: Registered = {}
        self.post: Registered = {}

    def add(
        self, owner: object, registered: Registered, hook: Callable[..., Any], prepend: bool, with_kwargs: bool
    ) -> HookHandle:
        """Register a hook of the owner, last or (`prepend`) first."""
        number = next(_numbers)
        others = dict(registered) if prepend else {}
        if prepend:
            registered.clear()
        registered[number] = (hook, with_kwargs)
        registered.update(others)
        return HookHandle(owner, registered, number)

    def before(
        self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments after all hooks. Raises TypeError for a hook whose result can't be taken."""
        for hook, with_kwargs in list(self.pre.values()):
            if with_kwargs:
                found = hook(module, args, kwargs)
                if found is None:
                    continue
                if not (isinstance(found, tuple) and len(found) == 2):
                    raise TypeError(f"a forward pre-hook with keywords returns None or (args, kwargs), not {found!r}")
                args, kwargs = found
            else:
                found = hook(module, args)
                if found is not None:
                    args = found if isinstance(found, tuple) else (found,)
        return args, kwargs

    def after(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        """The output after all hooks."""
        for hook, with_kwargs in list(self.post.values()):
            found = hook(module, args, kwargs, output) if with_kwargs else hook(module, args, output)
            if found is not None:
                output = found
        return output
