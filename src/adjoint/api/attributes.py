"""What a traced function has read of the attributes of modules and optimizers, and whether that is still so."""

from __future__ import annotations

from typing import Any

from adjoint import tracing

__all__ = ["Attributes"]

ABSENT = object()
PLAIN = (int, bool, str, bytes, float, type(None))  # compared by value
LONGEST = 1000  # longer containers are compared as objects, and not by what is in them


class Attributes:
    """Attributes as they were when they were first read.

    An attribute is what the object's own dictionary holds, which may be nothing (methods, defaults of the class: it must go
    on holding nothing), or what a property with a setter, or another such descriptor, gives. Values are compared by
    identity, plain ones by value, and containers by their elements. `__dict__` is an attribute too: who reads it reads all.
    """

    def __init__(self) -> None:
        self.epoch = tracing.epoch  # what is read from now on holds while this stands still
        self.found: dict[int, _Read] = {}

    def note(self, owner: Any, name: str) -> None:
        """The traced function reads an attribute."""
        read = self.found.get(id(owner))
        if read is None:
            read = self.found[id(owner)] = _Read(owner)
        if name in read.held or name in read.given:
            return
        if not _is_given(type(owner), name):
            read.held[name] = _mark(_state(owner).get(name, ABSENT))
            return
        with tracing.paused():
            read.given[name] = _mark(_given(owner, name))

    def forget(self, owner: Any) -> None:
        """The object belongs to the traced function itself."""
        self.found.pop(id(owner), None)

    def are_same(self) -> bool:
        """Whether all that was read is as it was. Quick while no epoch has passed."""
        now = tracing.epoch
        if self.epoch != now:
            if not all([read.is_same() for read in self.found.values()]):
                return False
            self.epoch = now
        return True

    def may_return(self) -> bool:
        """Whether all that was read is as it was, or differs in plain values alone, such as `training`."""
        return all([read.is_same(PLAIN) for read in self.found.values()])


class _Read:
    """What was read of one object: what its own dictionary holds, and what descriptors give."""

    __slots__ = ("given", "held", "owner")

    def __init__(self, owner: Any) -> None:
        self.owner = owner
        self.held: dict[str, Any] = {}
        self.given: dict[str, Any] = {}

    def is_same(self, passed_over: tuple[type, ...] = ()) -> bool:
        """Whether it is as it was; what was of the types `passed_over` may be anything."""
        state = _state(self.owner)
        for name, mark in self.held.items():
            value = state.get(name, ABSENT)
            if value is not mark and not _is_same(mark, value) and type(mark) not in passed_over:
                return False
        return all([_is_same(mark, _given(self.owner, name)) for name, mark in self.given.items()])


def _state(owner: Any) -> dict[str, Any]:
    state: dict[str, Any] = object.__getattribute__(owner, "__dict__")
    return state


def _is_given(kind: type, name: str) -> bool:
    """Whether an attribute is given by a descriptor that can be set.

    What a property without a setter gives changes with what it reads itself, which is noted as well.
    """
    for base in kind.__mro__:
        if name in vars(base):
            found = vars(base)[name]
            return hasattr(type(found), "__set__") and not (isinstance(found, property) and found.fset is None)
    return False


def _given(owner: Any, name: str) -> Any:
    try:
        return getattr(owner, name)
    except Exception:
        return object()  # the same as nothing else


class _Sequence:
    """A list or a tuple, as it was."""

    __slots__ = ("kind", "marks")

    def __init__(self, value: Any, depth: int) -> None:
        self.kind = type(value)
        self.marks = [_mark(x, depth) for x in value]

    def is_same(self, value: Any) -> bool:
        """Whether a value has the same elements."""
        return type(value) is self.kind and len(value) == len(self.marks) and all(map(_is_same, self.marks, value))


class _Dictionary:
    """A dictionary, as it was."""

    __slots__ = ("marks",)

    def __init__(self, value: dict[Any, Any], depth: int) -> None:
        self.marks = {key: _mark(x, depth) for key, x in value.items()}

    def is_same(self, value: Any) -> bool:
        """Whether a value has the same entries in the same order."""
        return (
            type(value) is dict
            and list(value) == list(self.marks)
            and all(map(_is_same, self.marks.values(), value.values()))
        )


class _Version:
    """A container that counts its changes itself."""

    __slots__ = ("value", "version")

    def __init__(self, value: tracing.Versioned) -> None:
        self.value = value
        self.version = value.version

    def is_same(self, value: Any) -> bool:
        """Whether a value is the same container, unchanged."""
        return value is self.value and self.value.version == self.version


def _mark(value: Any, depth: int = 3) -> Any:
    kind = type(value)
    if isinstance(value, tracing.Versioned):
        return _Version(value)
    if kind in (list, tuple, dict) and depth and len(value) <= LONGEST:
        return _Dictionary(value, depth - 1) if kind is dict else _Sequence(value, depth - 1)
    return value


def _is_same(mark: Any, value: Any) -> bool:
    if mark is value:
        return True
    kind = type(mark)
    if kind in (_Sequence, _Dictionary, _Version):
        same: bool = mark.is_same(value)
        return same
    if kind is not type(value) or kind not in PLAIN:
        return False
    return str(mark) == str(value) if kind is float else bool(mark == value)  # 0.0 is not -0.0, and NaN is NaN
