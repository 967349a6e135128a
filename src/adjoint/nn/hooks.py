"""What is called before and after a module's forward pass."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Protocol

from adjoint import tracing

__all__ = ["HookHandle", "Hooks"]

Registered = dict[int, tuple[Callable[..., Any], bool]]  # by number: the hook, and whether it takes keywords

_numbers = itertools.count()


class Hooked(Protocol):
    """What has hooks: a module."""

    _hooks: Hooks | None


class HookHandle:
    """What takes a hook out again: by `remove()`, or at the end of a `with` block."""

    def __init__(self, owner: Hooked, number: int) -> None:
        self.owner = owner
        self.number = number

    def remove(self) -> None:
        """Take the hook out; nothing happens the second time."""
        hooks = self.owner._hooks
        if hooks is not None and (self.number in hooks.pre or self.number in hooks.post):
            tracing.refuse(self.owner, f"the hooks of {type(self.owner).__name__}")
            rest = hooks.without(self.number)
            if rest.pre or rest.post:
                self.owner._hooks = rest
            else:
                del self.owner._hooks  # as it was before there were any

    def __enter__(self) -> HookHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class Hooks:
    """The hooks of one module, in the order of their calls. A module with other hooks has another object of this class."""

    def __init__(self, pre: Registered | None = None, post: Registered | None = None) -> None:
        self.pre = pre or {}
        self.post = post or {}

    def with_one(self, kind: str, hook: Callable[..., Any], prepend: bool, with_kwargs: bool) -> tuple[Hooks, int]:
        """These and one more, a `pre` or a `post` hook, last or (`prepend`) first; and its number."""
        number = next(_numbers)
        one, own = {number: (hook, with_kwargs)}, self.pre if kind == "pre" else self.post
        own = one | own if prepend else own | one
        return Hooks(own, self.post) if kind == "pre" else Hooks(self.pre, own), number

    def without(self, number: int) -> Hooks:
        """These but the one of this number."""
        kept = [{k: x for k, x in registered.items() if k != number} for registered in (self.pre, self.post)]
        return Hooks(*kept)

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
