"""Guards: what must be as it was when a function was traced, as conditions of one form, checked together in each call.

A guard is a Python expression about objects that it holds, and what it says in words. All guards of a trace are written out
as one function: most are one comparison of identity, some 15 ns. What can change without becoming another object (lists,
dictionaries, small arrays) is compared by contents.

The same conditions tell what the function itself has changed: those that don't hold any more when its trace ends.
"""

from __future__ import annotations

from abc import get_cache_token
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from operator import getitem, is_
from typing import Any

from adjoint._tuples import NamedTuple

import numpy as np

from adjoint.tracer.python_source import Writer

__all__ = ["ABSENT", "Guard", "Guards", "bytes_of", "conditions_of", "is_plain", "labels_of", "quoted", "restore"]

ABSENT = object()
MANY = 128  # guards: of so many those on entries of dictionaries are compared together, and those of one condition
FEW = 4  # entries from which native code compares them
PLAIN = (int, bool, str, bytes, float, complex, type(None))  # compared by value
GONE = (AttributeError, LookupError, TypeError, ValueError, RuntimeError)  # what is read no longer has that form


Entry = tuple[dict[Any, Any], Any, Any]  # a dictionary, a key, a value
Compared = Callable[[Sequence[Entry]], "Callable[[], bool] | None"]


class Guard(NamedTuple):
    """A condition: Python with `{0}`, `{1}`, ... for objects; what it is about, for messages; how code changes it, as the
    name of what it stores to (None for contents).

    `restore`: the statement that makes it hold again. `plain`: it fails when a plain value such as a number is another one, which
    may well be that again. `watched`: changes of it by the function raise where they happen, so that others are another thread's.
    """

    condition: str
    objects: tuple[Any, ...]
    about: str
    stored: str | None
    restore: str | None
    plain: bool
    watched: bool

    @property
    def is_entry(self) -> bool:
        """Whether it says of a dictionary what its entry `stored` is."""
        place = f"{{0}}[{quoted(self.stored)}]"
        return self.condition in (f"{place} is {{1}}", f"{place} is {{1}} or same({place}, {{1}})")


_new: Any = tuple.__new__  # named tuples by their own constructor take twice as long


class Protected:
    """Large arrays that are read-only as long as a trace has read them. There is one only where there are such arrays: what a
    signal's handler raises in a finalizer is lost."""

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []

    def add(self, array: np.ndarray) -> None:
        """Make an array read-only, if it isn't."""
        if array.flags.writeable:
            self._arrays.append(array)
            array.flags.writeable = False

    def release(self) -> None:
        """Let the arrays be written to again, those that own their memory first. Another trace that has read them notices."""
        while self._arrays:
            self._arrays.pop().flags.writeable = True

    __del__ = release


@lru_cache(1 << 10)
def conditions_of(place: str, plain: bool) -> tuple[str, str | None]:
    """That a place gives a value, and the statement that makes it so."""
    condition = f"{place} is {{1}} or same({place}, {{1}})" if plain else f"{place} is {{1}}"
    return condition, None if place.endswith(")") else f"{place} = {{1}}"


class Guards:
    """The guards of one trace, in the order in which they were found."""

    def __init__(self) -> None:
        self._protected: Protected | None = None
        self.all: dict[tuple[Any, ...], Guard] = {}
        self._function: Callable[[], bool] | None = None
        self._lasting: Callable[[], bool] | None = None

    def add(
        self,
        condition: str,
        *objects: Any,
        about: str,
        stored: str | None = None,
        restore: str | None = None,
        plain: bool = False,
        watched: bool = False,
    ) -> None:
        """One more condition."""
        key = (condition, *map(id, objects))
        if key not in self.all:
            self.all[key] = _new(Guard, (condition, objects, about, stored, restore, plain, watched))

    def add_value(
        self, place: str, owner: Any, value: Any, about: str, stored: str | None, watched: bool = False
    ) -> None:
        """That `place`, an expression of the owner `{0}`, gives this value: the very object, or an equal plain value."""
        plain = is_plain(value)
        condition, restore = conditions_of(place, plain)
        self.add(condition, owner, value, about=about, stored=stored, restore=restore, plain=plain, watched=watched)

    def add_known(self, how: tuple[str, str | None, str, bool], owner: Any, value: Any, stored: str) -> None:
        """That a place in the owner gives this value, which is watched, put into words already: the condition, the statement that
        makes it so, what it is about, and whether the value is a plain one."""
        condition, restore, about, plain = how
        key = (condition, id(owner), id(value))
        if key not in self.all:
            self.all[key] = _new(Guard, (condition, (owner, value), about, stored, restore, plain, True))

    def discard(self, owner: Any) -> None:
        """Forget what is about an object."""
        for key in [key for key, guard in self.all.items() if guard.objects[0] is owner]:
            del self.all[key]

    def protect(self, array: np.ndarray) -> None:
        """Make an array read-only as long as these guards exist."""
        if self._protected is None:
            self._protected = Protected()
        self._protected.add(array)

    def release(self) -> None:
        """Let such arrays be written to again: the trace has failed."""
        if self._protected is not None:
            self._protected.release()

    def hold(self) -> bool:
        """Whether all hold. Asked for when the trace has ended."""
        if self._function is None:
            self._function = _function(list(self.all.values()))
        return self._function()

    def write(self, w: Writer, otherwise: str, compared: Compared) -> None:
        """Write lines that return something unless all hold. Entries of dictionaries native code looks up, where `compared` makes
        a function of them that says whether they are the very objects; if one isn't, it may be an equal one."""
        guards = list(self.all.values())
        entries = [guard for guard in guards if guard.is_entry and type(guard.objects[0]) is dict]
        found = None
        if len(entries) >= FEW:
            found = compared([(guard.objects[0], guard.stored, guard.objects[1]) for guard in entries])
        if found is None:
            _write(w, guards, otherwise)
            return
        w.name(guards)  # keeps what it compares
        w.add(f"if not {w.name(found)}() and not {w.name(self.hold)}(): return {otherwise}")
        native = set(map(id, entries))
        _write(w, [guard for guard in guards if id(guard) not in native], otherwise)

    def may_return(self) -> bool:
        """Whether all hold but those about plain values, such as `training`."""
        if self._lasting is None:
            self._lasting = _function([guard for guard in self.all.values() if not guard.plain])
        return self._lasting()

    def first_broken(self, chosen: Callable[[Guard], bool] = lambda guard: True) -> Guard | None:
        """The first of the chosen ones that doesn't hold."""
        left = [guard for guard in self.all.values() if chosen(guard)]
        if _function(left)():
            return None
        while len(left) > 1:
            half = left[: len(left) // 2]
            left = left[len(half) :] if _function(half)() else half
        return left[0]


def restore(guard: Guard) -> None:
    """Undo a change, as far as that can be done."""
    if guard.restore is not None:
        with suppress(Exception):  # what can't be assigned to
            exec(guard.restore.format("a", "b", "c"), dict(zip("abc", guard.objects, strict=False)))


def _function(guards: Sequence[Guard]) -> Callable[[], bool]:
    """A function that says whether guards hold."""
    w = Writer()
    _write(w, guards, "False", together=True)
    w.add("return True")
    made: Callable[[], bool] = w.function([])
    return made


def _write(w: Writer, guards: Iterable[Guard], otherwise: str, indent: str = "", together: bool = False) -> None:
    """Write lines that return something unless guards hold. Many of one condition, too, are written `together` where they are
    asked for a few times: a line for each takes 25 us to compile, and 7 ns less in each call."""
    w.objects.update(HELPERS, GONE=GONE)
    guards = list(guards)
    if not guards:
        return
    w.add(f"{indent}try:", f"{indent}    pass")
    many = len(guards) >= MANY
    alike = _alike(guards) if many else [[guard] for guard in guards]
    entries = list(chain(*[same for same in alike if same[0].is_entry])) if many else []
    if entries:
        owners, values = zip(*[guard.objects for guard in entries], strict=True)
        given = ", ".join(map(w.name, (owners, [guard.stored for guard in entries], values)))
        w.add(f"{indent}    if not same_state({given}): return {otherwise}")
        alike = [same for same in alike if not same[0].is_entry]
    for same in alike if together else [[guard] for guard in chain(*alike)]:
        condition, objects, *_ = same[0]
        if len(same) == 1:
            holds = f"({condition.format(*map(w.name, objects))})"
        else:
            names = [f"x{k}" for k in range(len(objects))]
            given = w.name([guard.objects for guard in same])
            holds = f"all([{condition.format(*names)} for {', '.join(names)}, in {given}])"
        w.add(f"{indent}    if not {holds}: return {otherwise}")
    w.add(f"{indent}except GONE: return {otherwise}")


def _alike(guards: Iterable[Guard]) -> list[list[Guard]]:
    """Guards of one condition together."""
    found: dict[tuple[Any, ...], list[Guard]] = {}
    for guard in guards:
        key = guard.condition, guard.stored, len(guard.objects)
        same = found.get(key)
        if same is None:
            found[key] = [guard]
        else:
            same.append(guard)
    return list(found.values())


def is_plain(value: Any) -> bool:
    """Whether a value is compared by value."""
    return type(value) in PLAIN


def quoted(key: Any) -> str:
    """A key as Python, in a condition."""
    return repr(key).replace("{", "{{").replace("}", "}}")


# What conditions call -------------------------------------------------------------------------------------------------


def same(now: Any, then: Any) -> bool:
    """Whether a value is the same object as another, or an equal one of its plain class: 0.0 is not -0.0, and NaN is NaN."""
    if now is then:
        return True
    kind = type(then)
    if kind is not type(now) or kind not in PLAIN:
        return False
    return repr(now) == repr(then) if kind in (float, complex) else bool(now == then)


def same_state(owners: Sequence[Any], names: Sequence[str], then: Sequence[Any]) -> bool:
    """Whether dictionaries hold these values under these names, the very objects or equal plain ones."""
    return all(map(is_, map(getitem, owners, names), then)) or all(map(same, map(getitem, owners, names), then))


def same_items(now: Any, then: Sequence[Any]) -> bool:
    """Whether a list, or what is like one, has the same elements."""
    return len(now) == len(then) and (all(map(is_, now, then)) or all(map(same, now, then)))


def same_entries(now: Any, keys: Sequence[Any], values: Sequence[Any]) -> bool:
    """Whether a dictionary has the same entries in the same order."""
    if len(now) != len(keys):
        return False
    found = now.values()
    if not (all(map(is_, found, values)) or all(map(same, found, values))):
        return False
    return all(map(is_, now, keys)) or all(map(same, now, keys))


def same_members(now: Any, then: Mapping[int, Any]) -> bool:
    """Whether a set has the same members, given by their addresses, or equal plain ones."""
    if len(now) != len(then):
        return False
    if all([id(x) in then for x in now]):
        return True
    return {(type(x), x) for x in now if is_plain(x)} == {(type(x), x) for x in then.values()}


def same_bytes(now: Any, then: bytes, shape: Any, dtype: Any) -> bool:
    """Whether an array has the same contents."""
    return bool(now.shape == shape and now.dtype == dtype and now.tobytes() == then)


def labels_of(array: Any) -> Any:
    """What names the elements of another library's array: pandas' indexes, xarray's coordinates, polars' columns."""
    axes: Any = getattr(array, "axes", None)
    coordinates: Any = getattr(array, "coords", None)
    columns: Any = getattr(array, "columns", None)
    if isinstance(axes, list):
        return list(axes)
    if hasattr(coordinates, "to_dataset"):
        return coordinates.to_dataset().copy(deep=True)
    return list(columns) if isinstance(columns, list) else None


def same_labels(array: Any, then: Any) -> bool:
    """Whether an array's elements have the names that they had."""
    now = labels_of(array)
    if not isinstance(then, list):
        return bool(then is now or (then is not None and then.identical(now)))
    return len(now) == len(then) and all(
        [a is b or (a.equals(b) if hasattr(a, "equals") else a == b) for a, b in zip(now, then, strict=True)]
    )


def still_kept(now: Any, then: Any) -> bool:
    """Whether a cache, of which `lru_cache` says so much, has let go of nothing: it counts from 0 again where it was cleared."""
    grown = now.hits >= then.hits and now.misses >= then.misses and now.currsize >= then.currsize
    return bool(grown and (now.maxsize == 0 or now.misses - now.currsize == then.misses - then.currsize))


def bytes_of(held: Any) -> bytes:
    """The contents of what lends its memory."""
    return memoryview(held).tobytes()


def is_empty(cell: Any) -> bool:
    """Whether a name in a closure has no value."""
    try:
        cell.cell_contents  # noqa: B018 - it raises where there is none
    except ValueError:
        return True
    return False


HELPERS: dict[str, Any] = {
    f.__name__: f
    for f in (
        same,
        still_kept,
        same_state,
        same_items,
        same_entries,
        same_members,
        same_bytes,
        same_labels,
        bytes_of,
        is_empty,
    )
}
HELPERS |= {"items_of": list.copy, "entries_of": dict.copy, "asarray": np.asarray, "ABSENT": ABSENT}
HELPERS["registered"] = get_cache_token
