"""What a function being traced for `ad.jit` shares with the layers below and above: who traces, and what changed.

`epoch` moves whenever plain Python state of any module or optimizer changes. A compiled function that finds it moved looks
whether what it has read itself is still what it was (`api.attributes`); one comparison of numbers is all while nothing
moves. State that is tensors or numbers needs no epoch: a compiled function reads it anew.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, Protocol

from adjoint._setting import Setting


class Tracer(Protocol):
    """What the objects that a traced function uses ask of its trace."""

    def number(self, owner: Any, name: str, value: Any) -> Any:
        """The number that an owner holds under a name, as one that the compiled function reads anew."""

    def set_number(self, owner: Any, name: str, value: Any) -> None:
        """Note that the function gives an owner's number a new value."""

    def alike(self, owners: Sequence[Any], name: str) -> None:
        """Note that what these owners hold under a name is one number for all of them, as long as it is the same."""

    def refuse_change(self, owner: object, what: str, where: str | None = None, instead: str | None = None) -> None:
        """Raise for a change of plain Python state, unless the owner was made by the traced function itself."""

    def hooks(self, variable: Any) -> None:
        """Note that the function calls the hooks of a variable, if it has any."""

    def made(self, owner: object) -> None:
        """Note an object that the traced function makes."""


ACTIVE: ContextVar[Tracer | None] = ContextVar("adjoint_trace", default=None)
active = ACTIVE.get

_epochs = itertools.count(1)
epoch = 0


class Watched:
    """Base of what a traced function reads by attributes. While one is traced it has a `__getattribute__` that notes them."""

    __slots__ = ()


class Drawn:
    """Base of what holds a number that each reader has to himself, such as a random generator's counter: a compiled function
    that changes one takes its share before it computes, so that two threads never have the same."""


class Versioned:
    """Base of containers that say by a number when their contents are others, as far as that matters to a trace."""

    version = 0


class VersionedList(Versioned, list[Any]):
    """A list that counts its changes. They are errors while it is traced."""


def _counted(name: str) -> Any:
    plain = getattr(list, name)

    @functools.wraps(plain)
    def method(self: VersionedList, *args: Any, **keywords: Any) -> Any:
        refuse(self, "a list of an optimizer")
        try:
            return plain(self, *args, **keywords)
        finally:
            self.version += 1
            changed()

    return method


for _name in (
    "append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse",
    "__setitem__", "__delitem__", "__iadd__", "__imul__",
):  # fmt: skip
    setattr(VersionedList, _name, _counted(_name))


def changed() -> None:
    """Called after plain Python state of something watched has changed."""
    global epoch
    epoch = next(_epochs)


def refuse(owner: object, what: str, instead: str | None = None) -> None:
    """Called before plain Python state changes, `what` as in `Linear.bias`. Raises RuntimeError while that is traced, and may
    say what to write instead."""
    tracer = active()
    if tracer is not None:
        tracer.refuse_change(owner, what, instead=instead)


def is_number(value: Any) -> bool:
    """Whether a value is a Python number that a compiled function reads anew: no bool, which decides what is traced."""
    return isinstance(value, int | float) and not isinstance(value, bool)


class unobserved:
    """Inside, code of the engine alone runs, which nothing is to be learnt from: it is three times as fast without a listener."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        self.before: Any = sys.getprofile()
        if hasattr(self.before, "observes"):
            sys.setprofile(None)

    def __exit__(self, *exception: object) -> None:
        if hasattr(self.before, "observes"):
            sys.setprofile(self.before)


class paused(Setting[Tracer | None]):
    """Inside, what happens happens for good: nothing is traced."""

    def __init__(self) -> None:
        super().__init__(ACTIVE)

    def __enter__(self) -> None:
        self.set(None)
