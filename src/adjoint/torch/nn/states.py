"""What modules save and load, with PyTorch's hooks and methods for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from adjoint.nn.module import BUFFER, PARAMETER, KeyMismatch
from adjoint.nn.module import Module as CoreModule
from adjoint.tensors.located import at_user

from .._tensor import Parameter, as_torch

__all__ = ["Saving"]

EXTRA = "_extra_state"
Hook = Callable[..., Any]


class _IncompatibleKeys(KeyMismatch):
    """What a state and a module don't have in common."""

    def __repr__(self) -> str:
        return super().__repr__() if any(self) else "<All keys matched successfully>"

    __str__ = __repr__


class _Handle:
    """Takes a hook out again."""

    def __init__(self, hooks: dict[object, Hook]) -> None:
        self._hooks, self._key = hooks, object()

    def remove(self) -> None:
        """The hook isn't called any more."""
        self._hooks.pop(self._key, None)


class Saving(CoreModule):
    """The part of a module that concerns its state."""

    _state_hooks: dict[str, dict[object, Hook]] | None = None

    def state_dict(self, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and saved buffers by dotted name. They share memory with the module, as in PyTorch."""
        found = OrderedDict() if destination is None else destination
        modules: list[tuple[str, Any]] = [
            (prefix + (f"{path}." if path else ""), module)
            for path, module in self.named_modules(remove_duplicate=False)
        ]
        for start, module in modules:
            for hook in _hooks(module, "before saving"):
                hook(module, start, keep_vars)
            module._save_to_state_dict(found, start, keep_vars)
        for start, module in reversed(modules):  # children first
            for hook in _hooks(module, "after saving"):
                hook(module, found, start, {})
        return found

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put this module's own tensors, and what `get_extra_state` gives, into a state."""
        for kind in (PARAMETER, BUFFER):
            for name, tensor in self._own(kind):
                destination[prefix + name] = tensor if keep_vars else as_torch(tensor).data
        if type(self).get_extra_state is not Saving.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """What a subclass saves besides its tensors. Here nothing is."""
        raise RuntimeError(f"{type(self).__name__} defines no get_extra_state{at_user()}")

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` gave."""
        raise RuntimeError(f"{type(self).__name__} saves more than tensors and defines no set_extra_state{at_user()}")

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Give parameters and buffers the values of `state_dict`. Raises RuntimeError where it doesn't fit."""
        extra = []
        if isinstance(state_dict, Mapping):
            state_dict, missing, unexpected, errors = OrderedDict(state_dict), [], [], []  # type: ignore[var-annotated]
            below: list[tuple[str, Any]] = list(self.named_modules(remove_duplicate=False))
            for path, module in below:
                start = f"{path}." if path else ""
                module._load_from_state_dict(state_dict, start, {}, strict, missing, unexpected, errors)
                if type(module).get_extra_state is not Saving.get_extra_state:
                    if start + EXTRA in state_dict:
                        extra.append((module, state_dict.pop(start + EXTRA)))
                    else:
                        missing.append(start + EXTRA)
            if strict:
                errors += [f"missing: {', '.join(missing)}"] * bool(missing)
                errors += [f"unexpected: {', '.join(unexpected)}"] * bool(unexpected)
            if errors:
                raise RuntimeError(
                    f"the state doesn't fit {type(self).__name__}:\n  " + "\n  ".join(map(str, errors)) + at_user()
                )
        before = [(tensor, tensor.detach().clone()) for _, tensor in self._saved()] if assign else []
        try:
            found = CoreModule.load_state_dict(self, state_dict, strict)
        except ValueError as error:
            raise RuntimeError(str(error)) from None
        if assign:
            self._adopt(state_dict)
            for tensor, value in before:  # those that the module had stay what they were
                tensor._put_data(value)
        for owner, value in extra:
            owner.set_extra_state(value)
        keys = _IncompatibleKeys(*found)
        if isinstance(state_dict, Mapping):
            keys.missing_keys.extend(missing)
            keys.unexpected_keys.extend(unexpected)
        for each in reversed(list(self.modules())):
            for hook in _hooks(each, "after loading"):
                hook(each, keys)
        return keys

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any, unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:  # fmt: skip
        """Called for each module before a state is compared with it. Who overrides it may change the state, which is a copy, and
        add to the lists; the values come after all modules were asked."""
        for hook in _hooks(self, "before loading"):
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def _adopt(self, state: Any) -> None:
        """Take the tensors of a state themselves, with their dtypes, for parameters and buffers."""
        for path, module in self.named_modules(remove_duplicate=False):
            for name, kind in list(module._kinds.items()):
                key = f"{path}.{name}" if path else name
                old = getattr(module, name)
                if key not in state or old is None or kind not in (PARAMETER, BUFFER):
                    continue
                value = as_torch(state[key])
                setattr(module, name, Parameter(value, old.requires_grad) if kind == PARAMETER else value)

    def register_state_dict_pre_hook(self, hook: Hook) -> Any:
        """Call `hook(module, prefix, keep_vars)` before the module's state is collected."""
        return _kept(self, "before saving", hook)

    def register_state_dict_post_hook(self, hook: Hook) -> Any:
        """Call `hook(module, state_dict, prefix, local_metadata)` on the state; it may change it. The metadata are empty here."""
        return _kept(self, "after saving", hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> Any:
        """Before loading: `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`.

        It may change the state, for that is a copy, and the lists.
        """
        return _kept(self, "before loading", hook)

    def _register_load_state_dict_pre_hook(self, hook: Hook, with_module: bool = False) -> Any:
        return _kept(self, "before loading", hook if with_module else lambda _, *given: hook(*given))

    def register_load_state_dict_post_hook(self, hook: Hook) -> Any:
        """Call `hook(module, incompatible_keys)` after a state was loaded; it may change the keys."""
        return _kept(self, "after loading", hook)


def _hooks(module: Any, when: str) -> list[Hook]:
    return [] if module._state_hooks is None else list(module._state_hooks.get(when, {}).values())


def _kept(module: Any, when: str, hook: Hook) -> _Handle:
    if module._state_hooks is None:
        module.__dict__["_state_hooks"] = {}
    hooks = module._state_hooks.setdefault(when, {})
    handle = _Handle(hooks)
    hooks[handle._key] = hook
    return handle
