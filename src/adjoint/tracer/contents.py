"""How the walk of a trace goes through what holds other objects and isn't found by attributes: containers, arrays, references.

Each function here guards one kind of thing by its contents and tells the walk (`api.reach`) where to go on.
"""

from __future__ import annotations

import array
import ctypes
import functools
import io
import mmap
import operator
import types
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import tracing
from adjoint.runtime.frozen import is_frozen
from adjoint.tensors.located import at_user
from adjoint.tracer.guards import ABSENT, bytes_of, is_plain, labels_of, quoted

if TYPE_CHECKING:
    from adjoint.tracer.reach import Reach

__all__ = ["CONTENTS", "follow_element", "follow_foreign_array", "follow_stream"]

SMALL = 1 << 16  # bytes of an array that is compared by contents in each call; larger ones are made read-only
MOST = 100_000  # elements of a container that are compared in each call
FEW = 4  # elements of a container whose comparisons are written out
WRITABLE = (str, int, bool, bytes, type(None))  # keys that are written out
CTYPES = (*ctypes.c_int.__bases__, ctypes.Array, ctypes.Structure, ctypes.Union, ctypes._Pointer)
BUILT_IN = frozenset({list, tuple, deque, dict, set, frozenset, bytearray, array.array, OrderedDict, defaultdict})


def _container(follow: Callable[[Reach, Any, str], None]) -> Callable[[Reach, Any, str], None]:
    """The same for containers that aren't too large; those of a class of the user's have attributes as well."""

    def follow_all(reach: Reach, value: Any, path: str) -> None:
        if len(value) > MOST and not isinstance(value, tuple | frozenset):
            raise RuntimeError(
                f"{reach.trace.function}: {path} holds {len(value)} elements, too many to compare them in each call. Make it a "
                f"tuple or a frozenset, which can't change, or pass what is needed as an argument{at_user()}"
            )
        follow(reach, value, path)
        if type(value) not in BUILT_IN:
            reach.follow_object(value, path)

    return follow_all


@_container
def _list(reach: Reach, value: Any, path: str) -> None:
    about = f"the list {path}"
    items = list(value)
    if type(value) is list and len(items) <= FEW:
        reach.guards.add("len({0}) == {1}", value, len(items), items, about=about, restore="{0}[:] = {2}")
        for k, x in enumerate(items):
            reach.guards.add_value(f"{{0}}[{k}]", value, x, about, None)
    else:
        whole = "list({0})" if isinstance(value, deque) else "{0}" if type(value) is list else "items_of({0})"
        plain = all(map(is_plain, items))
        undo = "{0}.clear(); {0}.extend({1})"
        reach.guards.add(f"same_items({whole}, {{1}})", value, items, about=about, restore=undo, plain=plain)
    _elements(reach, items, path)


@_container
def _fixed(reach: Reach, value: Any, path: str) -> None:
    _elements(reach, value, path)


def _elements(reach: Reach, items: Any, path: str) -> None:
    for k, x in enumerate(items):
        if not is_plain(x):
            reach.go_on(x, f"{path}[{k}]")


@_container
def _dictionary(reach: Reach, value: Any, path: str) -> None:
    about = f"the dictionary {path}"
    entries = dict.copy(value)
    keys = list(entries)
    if type(value) is dict and len(keys) <= FEW and all([type(x) in WRITABLE for x in keys]):
        undo = "{0}.clear(); {0}.update({2})"
        reach.guards.add("same_items([*{0}], {1})", value, keys, entries, about=about, restore=undo)
        for key, x in entries.items():
            reach.guards.add_value(f"{{0}}[{quoted(key)}]", value, x, f"{path}[{key!r}]", None)
    else:
        whole = "{0}" if type(value) in (dict, defaultdict, OrderedDict) else "entries_of({0})"
        values = list(entries.values())
        plain = all(map(is_plain, values))
        undo = "{0}.clear(); {0}.update(zip({1}, {2}))"
        held = (value, keys, values)
        reach.guards.add(f"same_entries({whole}, {{1}}, {{2}})", *held, about=about, restore=undo, plain=plain)
    _entries(reach, entries, path)
    if isinstance(value, defaultdict):
        reach.go_on(value.default_factory, path)


def _proxy(reach: Reach, value: Any, path: str) -> None:
    keys, values = list(value), list(value.values())
    reach.guards.add("same_entries({0}, {1}, {2})", value, keys, values, about=f"the dictionary {path}")
    _entries(reach, dict(zip(keys, values, strict=True)), path)


def _entries(reach: Reach, entries: dict[Any, Any], path: str) -> None:
    for key, x in entries.items():
        if not is_plain(key):
            reach.go_on(key, path)
        if not is_plain(x):
            reach.go_on(x, f"{path}[{key!r}]")


@_container
def _set(reach: Reach, value: Any, path: str) -> None:
    undo = "{0}.clear(); {0}.update({1}.values())"
    reach.guards.add("same_members({0}, {1})", value, {id(x): x for x in value}, about=f"the set {path}", restore=undo)
    for x in value:
        reach.go_on(x, path)


@_container
def _bytes(reach: Reach, value: Any, path: str) -> None:
    reach.guards.add("bytes({0}) == {1}", value, bytes(value), about=f"the contents of {path}")


def _buffer(reach: Reach, value: Any, path: str) -> None:
    """Guard memory that others may write to. Raises RuntimeError where it is large."""
    if (
        isinstance(value, ctypes._Pointer) or memoryview(value).nbytes > SMALL
    ):  # nobody knows where an array ends behind a pointer
        raise _unseen(reach, value, path)
    known = bytes_of(value)
    reach.guards.add("bytes_of({0}) == {1}", value, known, about=f"the contents of {path}")


def _record(reach: Reach, value: np.void, path: str) -> None:
    """A record of an array of records is a view of it."""
    if value.dtype.hasobject:
        raise _unseen(reach, value, path)
    reach.guards.add("{0}.tobytes() == {1}", value, value.tobytes(), about=f"the contents of {path}")


def _unseen(reach: Reach, value: Any, path: str) -> RuntimeError:
    return RuntimeError(
        f"{reach.trace.function}: {path} is a {type(value).__name__}, whose changes can't be seen. Pass what is needed of "
        f"it as an argument, or make a tensor of it outside of the function{at_user()}"
    )


def follow_element(reach: Reach, value: Any, path: str) -> None:
    """Guard a node of an XML tree, and those below it."""
    for name in ("tag", "text", "tail"):
        reach.guards.add_value(f"{{0}}.{name}", value, getattr(value, name), f"{path}.{name}", name)
    reach.go_on(value.attrib, f"{path}.attrib")
    children = list(value)
    reach.guards.add("same_items(list({0}), {1})", value, children, about=f"the children of {path}")
    _elements(reach, children, path)


# Arrays ---------------------------------------------------------------------------------------------------------------


def _array(reach: Reach, value: np.ndarray, path: str) -> None:
    about = f"the array {path}"
    if type(value) is not np.ndarray:
        reach.follow_attributes(value, path)
    if value.dtype == object:
        items = value.ravel().tolist()
        reach.guards.add("same_items({0}.ravel().tolist(), {1})", value, items, about=about)
        _elements(reach, items, path)
        return
    chain = [value]
    while isinstance(chain[-1].base, np.ndarray):
        chain.append(chain[-1].base)
    open_to_others = _is_open(chain[-1].base)
    if open_to_others or any([x.flags.writeable for x in chain]):
        if value.nbytes <= SMALL:
            known = (value.tobytes(), value.shape, value.dtype)
            reach.guards.add("same_bytes({0}, {1}, {2}, {3})", value, *known, about=about)
            return
        if open_to_others:
            raise RuntimeError(
                f"{reach.trace.function}: the array {path} of {value.nbytes} bytes lies in memory that something other than "
                f"NumPy can write to, so that a change would not be seen. Pass it as an argument, or make a tensor of it "
                f"outside of the function{at_user()}"
            )
        for x in chain:
            reach.guards.protect(x)
    for x in chain:
        reach.guards.add("not {0}.flags.writeable", x, about=about)


def _is_open(base: Any) -> bool:
    """Whether memory below NumPy's arrays may be written to by others."""
    if (
        base is None or isinstance(base, bytes) or hasattr(base, "lent_once") or is_frozen(base)
    ):  # these two are tensors'
        return False
    try:
        return not memoryview(base).readonly
    except TypeError:
        return True


def follow_foreign_array(reach: Reach, value: Any, path: str) -> None:
    """Guard an array of another library. Raises RuntimeError for a large one."""
    found = np.asarray(value)
    if found.nbytes > SMALL or found.dtype == object:
        raise _unseen(reach, value, path)
    known = (found.tobytes(), found.shape, found.dtype)
    reach.guards.add("same_bytes(asarray({0}), {1}, {2}, {3})", value, *known, about=f"the contents of {path}")
    labels = labels_of(value)
    if labels is not None:
        reach.guards.add("same_labels({0}, {1})", value, labels, about=f"the labels of {path}")


# References -----------------------------------------------------------------------------------------------------------


def _versioned(reach: Reach, value: tracing.Versioned, path: str) -> None:
    about = f"the contents of {path}"
    reach.guards.add("{0}.version == {1}", value, value.version, about=about, watched=True)


def _method(reach: Reach, value: types.MethodType, path: str) -> None:
    # what adjoint's own methods read of their objects is up to them
    if not (getattr(value.__func__, "__module__", None) or "").startswith("adjoint."):
        reach.go_on(value.__self__, path)
    reach.go_on(value.__func__, path)


def _partial(reach: Reach, value: functools.partial[Any], path: str) -> None:
    for x in (value.func, value.args, value.keywords):
        reach.go_on(x, path)
    reach.follow_attributes(value, path)


def _weak(reach: Reach, value: weakref.ref[Any], path: str) -> None:
    held = value()
    about = f"what {path} refers to"
    if isinstance(value, weakref.WeakMethod) and held is not None:  # makes a method anew for each that asks
        reach.guards.add("{0}() == {1}", value, held, about=about)
    else:
        reach.guards.add_value("{0}()", value, held, about, None)
    reach.go_on(held, path)


def _context(reach: Reach, value: ContextVar[Any], path: str) -> None:
    held = value.get(ABSENT)
    reach.guards.add_value("{0}.get(ABSENT)", value, held, f"the context variable {value.name!r}", None)
    reach.go_on(held, path)


# What is consumed -----------------------------------------------------------------------------------------------------


def _file(reach: Reach, value: io.IOBase, path: str) -> None:
    if value.readable() and value.seekable():
        reach.streams.append((path, value.tell, repr(value.tell())))


def follow_stream(reach: Reach, value: Any, path: str) -> None:
    """Remember where a generator of random numbers, Python's or NumPy's, is."""
    value = getattr(value, "bit_generator", value)
    for name in ("getstate", "get_state", "state"):
        if hasattr(value, name):
            read = functools.partial(getattr, value, name) if name == "state" else getattr(value, name)
            reach.streams.append((path, read, repr(read())))
            return


Follow = Callable[["Reach", Any, str], None]
CONTENTS: tuple[tuple[Any, Follow], ...] = (  # the first kind that fits
    (tracing.Versioned, _versioned),
    (np.ndarray, _array),
    ((list, deque), _list),
    ((tuple, frozenset), _fixed),
    (dict, _dictionary),
    (set, _set),
    ((bytearray, array.array), _bytes),
    ((memoryview, mmap.mmap, *CTYPES), _buffer),
    (np.void, _record),
    (types.MethodType, _method),
    (functools.partial, _partial),
    (
        (type({}.keys()), type({}.values()), type({}.items())),
        lambda reach, value, path: reach.go_on(value.mapping, path),
    ),
    (types.MappingProxyType, _proxy),
    (weakref.ref, _weak),
    (io.IOBase, _file),
    ((operator.attrgetter, operator.methodcaller), lambda reach, value, path: reach.read_everything()),
    (ContextVar, _context),
)
