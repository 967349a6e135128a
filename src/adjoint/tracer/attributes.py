"""What a traced function reads of modules and optimizers: exactly that, for reading an attribute of them is noted.

What an object's own dictionary holds under a name becomes a guard (`api.guards`), and the walk goes on from there
(`api.reach`). What it doesn't hold (methods, defaults of a class, hooks) it must go on not holding, and containers that count
their changes must have the same count: these are compared only where `tracing.epoch` has moved, that is, where any module or
optimizer has changed.
"""

from __future__ import annotations

from functools import cached_property
from sys import _getframe
from types import FunctionType, MemberDescriptorType
from typing import Any

from adjoint import tracing
from adjoint.graph import Variable
from adjoint.tracer.guards import ABSENT, conditions_of, is_plain
from adjoint.tracer.reach import LEAVES, Reach, is_leaf

__all__ = ["Attributes"]

CACHING = cached_property.__get__.__code__  # it writes to the dictionary of an object
OWN = frozenset({"_kinds", "_hooks"})  # entries of modules that only their own methods change


class Attributes:
    """Attributes as they were when they were first read."""

    def __init__(self, reach: Reach) -> None:
        self.epoch = tracing.epoch  # what is read from now on holds while this stands still
        self._reach = reach
        self.read: dict[int, tuple[Any, dict[str, Any]]] = {}  # by object: it, and what was found under each name
        self._versions: dict[int, tuple[tracing.Versioned, int]] = {}
        self._hooks: dict[int, tuple[Variable, Any]] = {}
        self._classes: dict[
            tuple[type, str], tuple[Any, bool]
        ] = {}  # what they hold by a name, and whether one of the user's does
        # by class, name and type of the value, how to guard what nothing is to be followed from; None: nothing more is to be said
        self._known: dict[tuple[Any, ...], tuple[str, str | None, str, bool] | None] = {}

    def note(self, owner: Any, name: str) -> None:
        """The traced function reads an attribute that it hasn't read before."""
        kind, read = type(owner), self.read.get(id(owner))
        if read is None:
            read = self.read[id(owner)] = (owner, {})
            self._reach.visit(kind, kind.__name__)
        state = _state(owner)
        value = state.get(name, ABSENT)
        if name in OWN:
            read[1][name] = _mark(value)
            return
        read[1][name] = value
        key = (kind, name, None if value is ABSENT else type(value))
        if key in self._known:  # a network's layers are many of one kind
            known = self._known[key]
            if known is not None:
                self._reach.guards.add_known(known, state, value, name)
        else:
            self._meet(owner, name, state, value, key)

    def _meet(self, owner: Any, name: str, state: dict[str, Any], value: Any, key: tuple[Any, ...]) -> None:
        """Guard an attribute, and note how if others of this `key` are guarded like it."""
        if name == "__dict__":  # who reads it reads all
            if _getframe(3).f_code is not CACHING:
                self._reach.visit(state, f"vars({type(owner).__name__})")
            return
        about = f"{type(owner).__name__}.{name}"
        if value is not ABSENT:
            plain = is_plain(value)
            how = (*conditions_of(f"{{0}}[{name!r}]", plain), about, plain)
            self._reach.guards.add_known(how, state, value, name)
            if not is_leaf(value):
                self._follow(value, about)
            elif issubclass(type(value), LEAVES):  # not so for what stands for another object
                self._known[key] = how
        elif self._inherited(owner, name, state, about):
            self._known[key] = None

    def _inherited(self, owner: Any, name: str, state: dict[str, Any], about: str) -> bool:
        """An attribute that the object gets from its class. What that holds is the walk's to guard. Whether all is said of others
        of this class, too."""
        kind = type(owner)
        known = self._classes.get((kind, name))
        if known is None:
            held = [vars(base)[name] for base in kind.__mro__ if name in vars(base)]
            users = any([name in vars(base) for base in self._reach.users_classes(kind)])
            known = self._classes[kind, name] = (held[0] if held else ABSENT, users)
        raw, users = known
        guards = self._reach.guards
        if isinstance(raw, MemberDescriptorType):
            with tracing.paused():
                value = getattr(owner, name, ABSENT)
            guards.add_value(f"getattr({{0}}, {name!r}, ABSENT)", owner, value, about, name, watched=True)
            if not is_leaf(value):
                self._follow(value, about)
            return False
        if isinstance(raw, cached_property):
            self._reach.late.append((state, name, about))
            self.read[id(owner)][1][name] = None
            return False
        if raw is not ABSENT and users:
            guards.add(f"{name!r} not in {{0}}", state, about=about, stored=name, watched=True)
            return False
        if isinstance(raw, FunctionType) and not name.startswith("_"):  # ours, which may be replaced: no epoch tells
            guards.add(f"{{0}}.{name} is {{1}}", kind, raw, about=about, stored=name, restore=f"{{0}}.{name} = {{1}}")
        return True

    def _follow(self, value: Any, path: str) -> None:
        """Go on from what was found, which is no leaf: to what is in it, where it counts its changes itself."""
        if not issubclass(type(value), tracing.Versioned):
            self._reach.visit(value, path)
        elif id(value) not in self._versions:
            self._versions[id(value)] = (value, value.version)
            items: Any = dict.values(value) if isinstance(value, dict) else value
            for item in items:
                if not is_leaf(item):
                    self._follow(item, path)

    def note_hooks(self, variable: Variable) -> None:
        """The traced function calls the hooks that a variable has now."""
        self._hooks.setdefault(id(variable), (variable, variable.hooks))

    def forget(self, owner: Any) -> None:
        """The object belongs to the traced function itself."""
        if self.read.pop(id(owner), None) is not None:
            self._reach.guards.discard(_state(owner))

    def are_same(self) -> bool:
        """Whether all is as it was that is compared here. Quick while no epoch has passed."""
        now = tracing.epoch
        if self.epoch != now:
            if not self.hold():
                return False
            self.epoch = now
        return True

    def hold(self) -> bool:
        """Whether what wasn't there still isn't, and what counts its changes hasn't changed."""
        return self.first_changed() is None

    def first_changed(self) -> str | None:
        """What isn't as it was, in words; None where all is."""
        for owner, found in self.read.values():
            state = _state(owner)
            for name, mark in found.items():
                if mark is ABSENT and name in state:
                    return f"{type(owner).__name__}.{name}"
                if name in OWN and _mark(state.get(name, ABSENT)) != mark:
                    return f"the parts or hooks of {type(owner).__name__}"
        for container, version in self._versions.values():
            if container.version != version:
                return f"the contents of {type(container).__name__}"
        for variable, hooks in self._hooks.values():
            if variable.hooks is not hooks:
                return "the hooks of a tensor"
        return None


def _state(owner: Any) -> dict[str, Any]:
    state: dict[str, Any] = object.__getattribute__(owner, "__dict__")
    return state


def _mark(value: Any) -> Any:
    """What an entry of a module's own is compared by: which names it has, and of what kind, or itself."""
    return list(value.items()) if isinstance(value, dict) else value
