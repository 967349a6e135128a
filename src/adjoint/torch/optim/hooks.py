"""Hooks of optimizers: before and after a step, and where a state is saved or loaded."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adjoint.tensors.hooks import HookHandle

__all__ = ["Hooked", "with_step_hooks"]


class Hooked:
    """What PyTorch's optimizers have for hooks. A hook that gives something replaces what it was given."""

    def _hooks(self, kind: str) -> dict[int, Any]:
        held: dict[str, dict[int, Any]] = self.__dict__.setdefault("_hooks_by_kind", {})
        return held.setdefault(kind, {})

    def _hook(self, kind: str, hook: Any, prepend: bool = False) -> HookHandle:
        hooks, number = self._hooks(kind), self.__dict__.get("_hook_count", 0)
        self.__dict__["_hook_count"] = number + 1
        before = [] if not prepend else [(n, hooks.pop(n)) for n in list(hooks)]
        hooks[number] = hook
        hooks.update(before)
        return HookHandle(lambda: hooks.pop(number, None))

    def register_step_pre_hook(self, hook: Any) -> HookHandle:
        """Call `hook(optimizer, args, kwargs)` before every step; a pair that it gives replaces the arguments, of which the
        optimizer is the first."""
        return self._hook("step_pre", hook)

    def register_step_post_hook(self, hook: Any) -> HookHandle:
        """Call `hook(optimizer, args, kwargs)` after every step."""
        return self._hook("step_post", hook)

    def register_state_dict_pre_hook(self, hook: Any, prepend: bool = False) -> HookHandle:
        """Call `hook(optimizer)` before `state_dict()` looks."""
        return self._hook("state_pre", hook, prepend)

    def register_state_dict_post_hook(self, hook: Any, prepend: bool = False) -> HookHandle:
        """Call `hook(optimizer, state)` with what `state_dict()` gives; a dictionary that it gives replaces that."""
        return self._hook("state_post", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Any, prepend: bool = False) -> HookHandle:
        """Call `hook(optimizer, state)` before a state is loaded; a dictionary that it gives is loaded instead."""
        return self._hook("load_pre", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Any, prepend: bool = False) -> HookHandle:
        """Call `hook(optimizer)` after a state was loaded."""
        return self._hook("load_post", hook, prepend)

    def _saved(self, save: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        for hook in list(self._hooks("state_pre").values()):
            hook(self)
        found = save(self)
        for hook in list(self._hooks("state_post").values()):
            found = _or(hook(self, found), found)
        return found

    def _loaded(self, load: Callable[[Any, Any], None], state: dict[str, Any]) -> None:
        state = dict(state)  # which a hook may change
        for hook in list(self._hooks("load_pre").values()):
            state = _or(hook(self, state), state)
        load(self, state)
        for hook in list(self._hooks("load_post").values()):
            hook(self)


def _or(given: Any, held: Any) -> Any:
    return held if given is None else given


def with_step_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step that calls the hooks, once where one step calls that of another class."""

    @functools.wraps(step)
    def hooked(self: Any, *args: Any, **keywords: Any) -> Any:
        if self.__dict__.get("_steps") or "_hooks_by_kind" not in self.__dict__:
            return step(self, *args, **keywords)
        self.__dict__["_steps"] = True
        try:
            given: tuple[Any, Any] = (self, *args), keywords
            for hook in list(self._hooks("step_pre").values()):
                given = _or(hook(self, *given), given)
            found = step(*given[0], **given[1])
            for hook in list(self._hooks("step_post").values()):
                hook(self, *given)
        finally:
            self.__dict__["_steps"] = False
        return found

    return hooked
