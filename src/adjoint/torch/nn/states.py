"""What modules save and load, with PyTorch's hooks and methods for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from adjoint.nn.module import Module as CoreModule
from adjoint.nn.states import BEFORE_LOADING, BEFORE_SAVING, BUFFER, PARAMETER, KeyMismatch, state_hooks
from adjoint.primitives.core import cast
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import at_user
from adjoint.tensors.waiting import Waiting

from .._shared import leave_memory
from .._tensor import Parameter, as_torch
from .._view_tensors import View

__all__ = ["Saving"]

EXTRA = "_extra_state"
REPLACED = "saved, and may be replaced"
Hook = Callable[..., Any]


class _IncompatibleKeys(KeyMismatch):
    """What a state and a module don't have in common."""

    def __repr__(self) -> str:
        return super().__repr__() if any(self) else "<All keys matched successfully>"

    __str__ = __repr__


class Saving(CoreModule):
    """The part of a module that concerns its state."""

    mismatch = _IncompatibleKeys

    def state_dict(self, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and saved buffers by dotted name. They share memory with the module, as in PyTorch."""
        found = OrderedDict() if destination is None else destination
        for start, module in self._places(prefix):
            for hook in state_hooks(module, BEFORE_SAVING):
                hook(module, start, keep_vars)
            module._save_to_state_dict(found, start, keep_vars)
        self._run_saved(found, prefix)
        for start, module in reversed(list(self._places(prefix))):
            for hook in state_hooks(module, REPLACED):
                other = hook(module, found, start, {})
                if module is self and other is not None:
                    found = other
        return found

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put this module's own tensors, and what `get_extra_state` gives, into a state."""
        for kind in (PARAMETER, BUFFER):
            for name, tensor in self._own(kind):
                destination[prefix + name] = tensor if keep_vars else as_torch(as_torch(tensor).data)
        if type(self).get_extra_state is not Saving.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """What a subclass saves besides its tensors. Here nothing is."""
        raise RuntimeError(f"{type(self).__name__} defines no get_extra_state{at_user()}")

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` gave."""
        raise RuntimeError(f"{type(self).__name__} saves more than tensors and defines no set_extra_state{at_user()}")

    def _cast(self, dtype: Any) -> Any:
        """Cast floating parameters and buffers: in memory of their own, so that their views, and tensors in whose memory they
        lay, stay what they were."""
        to = dtype_of(dtype)
        for tensor in (*self.parameters(), *self.buffers()):
            if tensor.dtype.kind == "f" and tensor.dtype is not to and not isinstance(tensor, Waiting):
                leave_memory(tensor)
                if type(tensor) is View:  # whose base is its own now
                    tensor._below().node = cast(tensor.node, to)
        return CoreModule._cast(self, dtype)

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Give parameters and buffers the values of `state_dict`. Raises RuntimeError where it doesn't fit."""
        if not isinstance(state_dict, Mapping):
            return CoreModule.load_state_dict(self, state_dict)  # which says what is wrong
        extra = []
        state_dict, missing, unexpected, errors = OrderedDict(state_dict), [], [], []  # type: ignore[var-annotated]
        for start, module in self._places():
            module._load_from_state_dict(state_dict, start, {}, strict, missing, unexpected, errors)
            if type(module).get_extra_state is not Saving.get_extra_state:
                if start + EXTRA in state_dict:
                    extra.append((module, state_dict.pop(start + EXTRA)))
                else:
                    missing.append(start + EXTRA)
        before = (
            [(tensor, tensor.detach().clone()) for _, tensor in self._saved() if not isinstance(tensor, Waiting)]
            if assign
            else []
        )

        def finish() -> None:
            if assign:
                self._adopt(state_dict)
                for tensor, value in before:  # those that the module had stay what they were
                    tensor._put_data(value)
            for owner, value in extra:
                owner.set_extra_state(value)

        try:
            return self._load(state_dict, strict, missing, unexpected, errors, finish)
        except ValueError as error:
            raise RuntimeError(str(error)) from None

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any, unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:  # fmt: skip
        """Called for each module before a state is compared with it. Who overrides it may change the state, which is a copy, and
        add to the lists; the values come after all modules were asked."""
        for hook in state_hooks(self, BEFORE_LOADING):
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

    def _register_load_state_dict_pre_hook(self, hook: Hook, with_module: bool = False) -> Any:
        return self._state_hook(BEFORE_LOADING, hook if with_module else lambda _, *given: hook(*given))

    def _register_state_dict_hook(self, hook: Hook) -> Any:
        """As `register_state_dict_post_hook`; what it returns, unless None, is the state of the module that was asked."""
        return self._state_hook(REPLACED, hook)
