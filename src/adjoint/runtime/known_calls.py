"""Native code for calls that record what an earlier call of their kind did (`graph.known_calls`): what `known_calls.c`
reads of an interface, of its functions, and of the kinds that are known, in memory that stays where it is."""

from __future__ import annotations

import ctypes
import sys
from types import CodeType
from typing import Any

from adjoint import dtypes
from adjoint.graph import CALLS, MODE, NARROW, Calls, Located, Mode, Scope, Surface
from adjoint.graph.known_calls import HOW, MOST_KINDS, OF_VIEW, ON_CALLS, ON_KIND, WHERE, Kind, unknown
from adjoint.runtime import entries, shipped
from adjoint.runtime.memory import LAYOUT
from adjoint.tracing import ACTIVE

__all__ = ["load"]

LAST = 64  # kinds from which on those that were replaced long ago are forgotten
HEAD = 3  # numbers before those of kinds
NEW_VIEW = ("_changed", "_of_leaf", "_at", "_turns")  # what a new view has always
SCOPE = ("name", "site", "offset", "parent", "user")
FILE = "co_filename"
_native: list[int] = []  # where Python's functions are described, and the code
_surfaces: dict[int, Any] = {}  # interfaces, by their addresses, as native code reads them


def load(python: int, compiling: bool) -> None:
    """Let native code know of calls from now on, if it can be had without loading LLVM, or with `compiling`. `python` is what it
    is told of Python."""
    if _native or _places(Scope, SCOPE) is None or _places(Mode, ("grad", "site", "offset")) is None:
        return
    found = shipped.addresses("known_calls", ("again",), None, compiling)
    if found:
        _native[:] = [python, found["again"]]
        ON_CALLS[:], ON_KIND[:] = [prepare], [_add]
        for calls in CALLS:
            calls.again = unknown


def prepare(calls: Calls) -> None:
    """Give a function its native part, if there can be one."""
    calls.again = None
    surface = None
    if _native:
        key = id(calls.surface)
        surface = _surfaces[key] = _surfaces.get(key) or _surface(calls.surface)
    if surface is not None:
        calls.kinds = (ctypes.c_int64 * (HEAD + MOST_KINDS))()
        numbers = [ctypes.addressof(surface), ctypes.addressof(calls.kinds), id(calls.level), calls.looks]
        calls.again = entries.made("again", _native[1], numbers, None)


def _places(kind: type, names: tuple[str, ...]) -> list[int] | None:
    """Where objects of a class have these slots; None where that can't be made out."""
    if LAYOUT is None:
        return None
    sample: Any = object.__new__(kind)
    found = list[int]()
    for name in names:
        slot = next((vars(c)[name] for c in kind.__mro__ if name in vars(c)), None)
        mark = object()
        try:
            slot.__set__(sample, mark)  # type: ignore[union-attr]
        except (AttributeError, TypeError):
            return None
        size: Any = kind.__basicsize__
        words = [k for k in range(16, size, 8) if ctypes.c_void_p.from_address(id(sample) + k).value == id(mark)]
        slot.__delete__(sample)  # type: ignore[union-attr]
        if len(words) != 1:
            return None
        found += words
    return found


def _surface(surface: Surface) -> Any:
    """An interface as native code reads it; None where it can't."""
    view = surface.view
    nodes = {tuple(_places(kind, ("bare_node",)) or ()) for kind in (surface.tensor, surface.also)}
    of_view: Any = [0] * 14
    if view is not None:
        places = _places(view, ("_base", "_memory", "_seen", "_cached", *OF_VIEW, *NEW_VIEW))
        holder = _places(surface.memory, ("holder",)) if surface.memory is not None else None
        if places is None or holder is None:
            return None
        of_view = [*places[:2], *holder, *places[2:]]
    if len(nodes) != 1 or not next(iter(nodes)):
        return None
    mode, scope = _places(Mode, ("grad", "site", "offset")), _places(Scope, SCOPE)
    objects = (MODE, ACTIVE), (CodeType, Scope, Located), (NARROW, dtypes._default, surface.waiting)
    functions = (sys._getframe, surface.locate, surface.counted, surface.cut, surface.watch)
    numbers = [
        _native[0],
        id(surface.tensor),
        id(surface.also),
        0 if view is None else id(view),
        *next(iter(nodes)),
        *of_view,
        id(surface.memories),
        id(surface.turned),
    ]
    numbers += [*map(id, objects[0]), *(mode or ()), *map(id, objects[1]), *(scope or ()), *map(id, objects[2])]
    numbers += [*map(id, functions), id(surface.constant), id(FILE), id(surface.package), surface.limit]
    made = (ctypes.c_int64 * len(numbers))(*numbers)
    ctypes.pythonapi.Py_IncRef(
        ctypes.py_object((made, surface, objects, functions))
    )  # for as long as there are functions
    return made


def _add(calls: Calls, kind: Kind, key: Any) -> None:
    """Let native code know of a kind of calls; of many the one that was met least lately is forgotten."""
    nodes = [a for a in kind.arguments if a.how == "tensor"]
    arguments = [n for a in kind.arguments
                 for n in (HOW.index(a.how), id(a.what), id(a.tracked), a.pending, a.first)]  # fmt: skip
    places = [(ctypes.c_int64 * len(step.places))(*step.places) for step in kind.steps]
    steps = [n for step, at in zip(kind.steps, places, strict=True)
             for n in (0 if step.op is None else id(step.op), id(step.attributes), id(step.type), id(step.tracked),
                       len(step.places), WHERE.index(step.where), step.source, ctypes.addressof(at))]  # fmt: skip
    tables = [(ctypes.c_int64 * len(numbers))(*numbers) for numbers in (arguments, steps)]
    names = [id(name) for name in kind.names] + [0] * (2 - len(kind.names))
    counts = [kind.within, kind.looks, len(kind.arguments), len(nodes), len(kind.steps), kind.result, kind.weight]
    of_view = [id(x) for x in (kind.base, *kind.view)] if kind.base else [0] * (1 + len(OF_VIEW))
    numbers = [id(kind.dtype), id(kind.grad), *names, *of_view, *counts, *map(ctypes.addressof, tables)]
    made = (ctypes.c_int64 * len(numbers))(*numbers)
    calls.kept.append((made, kind, nodes, places, tables))
    count = min(calls.kinds[0], MOST_KINDS - 1)
    calls.known.pop(calls.kinds[HEAD + count], None)
    calls.known[ctypes.addressof(made)] = key
    calls.kinds[HEAD + count], calls.kinds[0] = ctypes.addressof(made), count + 1
    if len(calls.kept) > LAST:
        used = set(calls.kinds[HEAD : HEAD + count + 1])
        calls.kept[:] = [x for x in calls.kept[:-MOST_KINDS] if ctypes.addressof(x[0]) in used] + calls.kept[
            -MOST_KINDS:
        ]
