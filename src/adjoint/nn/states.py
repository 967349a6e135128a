"""What a module saves and loads, and the hooks that are called then."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adjoint import tracing
from adjoint._tuples import NamedTuple
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray
from adjoint.tensors.hooks import HookHandle
from adjoint.tensors.leaving import leave
from adjoint.tensors.located import at_user
from adjoint.tensors.waiting import Waiting

__all__ = [
    "BEFORE_LOADING", "BEFORE_SAVING", "BUFFER", "CHILD", "PARAMETER", "UNSAVED", "KeyMismatch", "States", "join",
    "state_hooks",
]  # fmt: skip

PARAMETER = "parameter"
BUFFER = "buffer"
UNSAVED = "unsaved buffer"
CHILD = "module"

BEFORE_SAVING, SAVED, BEFORE_LOADING, LOADED = "before saving", "saved", "before loading", "loaded"

_numbers = itertools.count()


class KeyMismatch(NamedTuple):
    """What `load_state_dict(strict=False)` passed over."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class States(tracing.Watched):
    """The part of a module that concerns its state."""

    mismatch: ClassVar[type[KeyMismatch]] = KeyMismatch
    _since: tuple[str, ...] = ()  # entries that states of earlier versions don't have: without them what is there stays
    _state_hooks: Mapping[str, Mapping[int, Callable[..., Any]]] = {}

    if TYPE_CHECKING:
        named_modules: Callable[..., Iterator[tuple[str, Any]]]

        def _own(self, *kinds: str) -> Iterator[tuple[str, Any]]: ...

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """The values of all parameters and saved buffers by dotted name, with PyTorch's keys in PyTorch's order.

        The tensors are values, not aliases: training on doesn't change them. A shared parameter appears under each of
        its names. `prefix` is what all keys begin with, such as `"encoder."`.
        """
        found: dict[str, Any] = {}
        for start, module in self._places(prefix):
            for hook in state_hooks(module, BEFORE_SAVING):
                hook(module, start, False)
            found |= {start + name: tensor.detach() for name, tensor in module._saved_here()}
        self._run_saved(found, prefix)
        return found

    def _run_saved(self, found: Any, prefix: str) -> None:
        """Call the hooks of what has been collected, those of children first."""
        for start, module in reversed(list(self._places(prefix))):
            for hook in state_hooks(module, SAVED):
                if hook(module, found, start, {}) is not None:
                    raise RuntimeError(
                        f"a state_dict post-hook changes the state that it is given, and returns None{at_user()}"
                    )

    def _places(self, prefix: str = "") -> Iterator[tuple[str, Any]]:
        """All modules from this one on, each under every name that it has, with what its keys begin with."""
        for path, module in self.named_modules(remove_duplicate=False):
            yield prefix + join(path, ""), module

    def _saved_here(self) -> Iterator[tuple[str, Tensor]]:
        """The parameters and saved buffers that are this module's own."""
        for kind in (PARAMETER, BUFFER):
            yield from self._own(kind)

    def _saved(self) -> Iterator[tuple[str, Tensor]]:
        for start, module in self._places():
            for name, tensor in module._saved_here():
                yield start + name, tensor

    def load_state_dict(self, state: Mapping[str, Any] | Any, strict: bool = True) -> KeyMismatch:
        """Give parameters and buffers the values of `state`: tensors or arrays by the keys of `state_dict`.

        Values are cast to the dtype that each parameter has. Raises ValueError that lists every missing key, unexpected
        key and differing shape, and TypeError for what is no mapping; nothing is changed then. `strict=False` passes over
        missing and unexpected keys, and returns them.
        """
        if not isinstance(state, Mapping):
            raise TypeError(_no_state(state))
        missing: list[str] = []
        unexpected: list[str] = []
        problems: list[str] = []
        if any(module._state_hooks for _, module in self.named_modules()):
            state = dict(state)  # which hooks may change
            for start, module in self._places():
                for hook in state_hooks(module, BEFORE_LOADING):
                    hook(module, state, start, {}, strict, missing, unexpected, problems)
        return self._load(state, strict, missing, unexpected, problems)

    def _load(
        self, state: Mapping[str, Any], strict: bool, missing: list[str], unexpected: list[str], problems: list[str],
        then: Callable[[], object] = lambda: None,
    ) -> KeyMismatch:  # fmt: skip
        """What `load_state_dict` does after its hooks have seen the state, and noted what they noted. `then` is called when the
        values are in their places."""
        modules = list(self.named_modules())
        for path, module in modules:
            module._prepare_to_load(state, join(path, ""))
        own = dict(self._saved())
        later = {start + name for start, module in self._places() for name in module._since}
        missing += [key for key in own if key not in state and key not in later]
        unexpected += [key for key in state if key not in own]
        shapes = {key: tuple(np.shape(state[key])) for key in own if key in state}
        for key, shape in shapes.items():
            expected = (0,) if isinstance(own[key], Waiting) else own[key].shape
            if shape != expected:
                problems.append(f"shape of {key}: the module has {expected}, the state {shape}")
        keys = self.mismatch(missing, unexpected)
        hooks = [(module, hook) for _, module in reversed(modules) for hook in state_hooks(module, LOADED)]
        if problems or (strict and any(keys) and not hooks):
            raise ValueError(self._misfit(keys, strict, problems))
        filled = [key for key in shapes if not isinstance(own[key], Waiting)]
        before = [(own[key], own[key].detach()) for key in filled] if hooks else []
        for key in filled:
            value = asarray(state[key], dtype=own[key].dtype)
            if value.requires_grad:
                leave(value.node, "load_state_dict()")
            own[key].data = value
        then()
        try:
            for module, hook in hooks:
                hook(module, keys)
            if strict and any(keys):  # what the hooks have left
                raise ValueError(self._misfit(keys, strict, []))
        except BaseException:
            for tensor, value in before:
                tensor.data = value
            raise
        return keys

    def _misfit(self, keys: KeyMismatch, strict: bool, problems: list[str]) -> str:
        lines = [
            f"{what}: {', '.join(k)}" for what, k in zip(("missing", "unexpected"), keys, strict=True) if strict and k
        ]
        lost, given = keys
        prefixes = [name.removesuffix(lost[0]) for name in given if lost and name.endswith(f".{lost[0]}")]
        if prefixes and {f"{prefixes[0]}{name}" for name in lost} <= set(given):
            n = len(prefixes[0])
            lines.append(
                f"names begin with {prefixes[0]!r}; leave that out: {{name[{n}:]: t for name, t in state.items()}}"
            )
        return (
            f"the state doesn't fit {type(self).__name__}:\n  " + "\n  ".join([*lines, *map(str, problems)]) + at_user()
        )

    def _prepare_to_load(self, state: Mapping[str, Any], prefix: str) -> None:
        """Called before a state is compared, whose entries for this module begin with the prefix: for what learns its sizes."""

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(module, prefix, keep_vars)` before the module's state is collected; `keep_vars` is False."""
        return self._state_hook(BEFORE_SAVING, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` on what `state_dict` has collected, which it may change.

        The module's own keys begin with the prefix; the metadata are empty. `remove()` of the handle takes the hook out again.
        When it is called: raises RuntimeError for a result other than None.
        """
        return self._state_hook(SAVED, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Before loading: `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`.

        It may change the state, for that is a copy, and the lists: what is in `error_msgs` is part of the error that follows.
        """
        return self._state_hook(BEFORE_LOADING, hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(module, incompatible_keys)` after a state was loaded.

        What it takes out of `missing_keys` and `unexpected_keys` is no error. After an error the module has the values that it
        had before.
        """
        return self._state_hook(LOADED, hook)

    def _state_hook(self, when: str, hook: Callable[..., Any]) -> HookHandle:
        number, hooks = next(_numbers), self._state_hooks
        self.__dict__["_state_hooks"] = {**hooks, when: {**hooks.get(when, {}), number: hook}}

        def take_out() -> None:
            now = self._state_hooks
            self.__dict__["_state_hooks"] = {**now, when: {k: x for k, x in now.get(when, {}).items() if k != number}}

        return HookHandle(take_out)


def state_hooks(module: States, when: str) -> list[Callable[..., Any]]:
    """The hooks that a module calls at a time, in the order in which they came."""
    return list(module._state_hooks.get(when, {}).values())


def join(path: str, name: str) -> str:
    """The dotted name of what is called `name` below a path."""
    return f"{path}.{name}" if path else name


def _no_state(given: Any) -> str:
    """The message for what was given in place of a state."""
    path = isinstance(given, str | os.PathLike)
    way = f"; a file is read first: load_state_dict(ad.load({os.fspath(given)!r}))" if path else ""
    return f"load_state_dict: expected tensors by name, got {type(given).__name__}{way}{at_user()}"
