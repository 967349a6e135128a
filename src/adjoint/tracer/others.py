"""Objects of others' classes, the standard library's and installed packages': their code isn't looked at as it runs, so what its
methods mention is what they can read.

What such an object keeps for itself while it is used (caches, counters) is no reason to raise: its attributes are guarded as
they are when the trace ends.
"""

from __future__ import annotations

import functools
import types
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from adjoint.tracer.guards import ABSENT, quoted
from adjoint.tracer.mentions import MADE_IN_PYTHON, mentions

if TYPE_CHECKING:
    from adjoint.tracer.reach import Reach

__all__ = ["functions_of_entry", "guard_others", "state_of", "strange_classes"]

MOST = 1000  # guards on what others' objects hold; a figure or a process pool holds half of its library
# whose state says what is printed or tested, or only what kind of class it is
APART = frozenset(
    {"logging", "abc", "typing", "typing_extensions", "enum", "unittest", "_pytest", "pluggy", "tqdm", "rich"}
)

_mentioned: WeakKeyDictionary[type, frozenset[str]] = WeakKeyDictionary()


def strange_classes(reach: Reach, kind: type) -> list[type]:
    """The classes written in Python by others among those that a class is made of; none where arrays stand for its objects."""
    if hasattr(kind, "__array__"):
        return []
    return [
        x for x in kind.__mro__ if x.__flags__ & MADE_IN_PYTHON and not reach.users.has_class(x) and not _is_apart(x)
    ]


def _is_apart(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in APART or kind.__module__.startswith("adjoint.")


def guard_others(reach: Reach) -> None:
    """Guard what the objects in `reach.others` hold, and what those hold in turn, when the trace has ended."""
    limit = len(reach.guards.all) + MOST
    while reach.others:
        value, path = reach.others.popleft()
        _guard_attributes(reach, value, path)
        while reach.pending and len(reach.guards.all) < limit:
            with suppress(
                RuntimeError
            ):  # an iterator, a large array in foreign memory: what the user's own code gets hold of raises
                reach.step(*reach.pending.popleft())
        if len(reach.guards.all) >= limit:
            reach.others.clear()
            reach.pending.clear()


def _guard_attributes(reach: Reach, value: Any, path: str) -> None:
    classes = strange_classes(reach, type(value))
    state = state_of(value)
    for name in {name for x in classes for name in _names_in(x)}:
        about = f"{path}.{name}"
        raw = next((vars(x)[name] for x in classes if name in vars(x)), ABSENT)
        if isinstance(raw, types.MemberDescriptorType):
            held = getattr(value, name, ABSENT)
            reach.guards.add_value(f"getattr({{0}}, {name!r}, ABSENT)", value, held, about, name)
            reach.go_on(held, about)
        elif name in state:
            reach.guards.add_value(f"{{0}}[{quoted(name)}]", state, state[name], about, name)
            reach.go_on(state[name], about)
        elif raw is not ABSENT and not functions_of_entry(raw) and hasattr(value, "__dict__"):  # a default of the class
            reach.guards.add(f"{quoted(name)} not in {{0}}", state, about=about, stored=name)


def _names_in(kind: type) -> frozenset[str]:
    """The names of attributes in the code of a class, and its slots."""
    found = _mentioned.get(kind)
    if found is None:
        entries = list(vars(kind).items())
        names = {name for name, raw in entries if isinstance(raw, types.MemberDescriptorType)}
        functions = [function for _, raw in entries for function in functions_of_entry(raw)]
        found = _mentioned[kind] = frozenset(names.union(*[mentions(f.__code__).attributes for f in functions]))
    return found


def state_of(owner: Any) -> dict[str, Any]:
    """The dictionary of an object's attributes; an empty one where it has none."""
    try:
        state: dict[str, Any] = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return state if isinstance(state, dict) else {}


def functions_of_entry(raw: Any) -> list[types.FunctionType]:
    """The functions that an entry of a class is made of."""
    if isinstance(raw, types.FunctionType):
        return [raw]
    if isinstance(raw, property):
        return [f for f in (raw.fget, raw.fset, raw.fdel) if isinstance(f, types.FunctionType)]
    if isinstance(raw, staticmethod | classmethod):
        return functions_of_entry(raw.__func__)
    if isinstance(raw, functools.cached_property | functools.partialmethod):
        return functions_of_entry(raw.func)
    return []
