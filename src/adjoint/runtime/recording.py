"""Native code that looks at Python's objects: whether a graph is one that was met before (see `plan.recognised`).

It is `recording.c`, of which `recording.ll` is LLVM's text. It is there once it is in the cache or LLVM is loaded anyway; without
it, and where Python's objects aren't as it has them, functions of Python's do the same.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjoint.graph import Node
from adjoint.runtime import code, entries, llvm
from adjoint.runtime.memory import LAYOUT

if TYPE_CHECKING:
    from adjoint.plan.recognised import Expected

__all__ = ["ASKED", "matcher"]

# What is asked of a node's attributes, in the order in which `recording.c` numbers it (see `Expected`).
ASKED = ("any", "none", "some", "same", "literal", "free")
CONTENTS, SIZE, ITEMS = 32, 16, 24  # where `recording.c` looks in objects
FIELDS = ("op", "inputs", "attributes", "type", "tracked", "value")
FUNCTIONS = ("PyList_New", "PyList_SetItem", "PyTuple_New", "PyTuple_SetItem", "PyObject_RichCompareBool", "PyFloat_AsDouble",
             "Py_IncRef", "Py_DecRef")  # fmt: skip
WIDTH = 11  # numbers that say what a node is


@functools.cache
def _places() -> tuple[int, ...] | None:
    """Where Python's objects have what native code reads: their class, then a node's fields; None where that isn't so."""
    if LAYOUT is None or (LAYOUT.type, LAYOUT.contents, LAYOUT.items) != (8, CONTENTS, ITEMS):
        return None
    at = ctypes.c_void_p.from_address
    samples = ((1, 2), [1, 2, 3], (), [None] * 5)
    sizes = [ctypes.c_ssize_t.from_address(id(x) + SIZE).value for x in samples]
    listed = [object(), object()]
    items = at(id(listed) + ITEMS).value or 0
    if sizes != [len(x) for x in samples] or [at(items).value, at(items + 8).value] != [id(x) for x in listed]:
        return None
    fields = {name: object() for name in FIELDS}
    node = Node.__new__(Node)
    for name, value in fields.items():
        setattr(node, name, value)
    words = {at(id(node) + k).value: k for k in range(16, Node.__basicsize__, 8)}
    places = [words.get(id(fields[name])) for name in FIELDS]
    return None if None in places else (LAYOUT.type, *[place for place in places if place is not None])


@functools.cache
def _python() -> Any:
    """What native code is told of Python, in memory that stays."""
    places = _places()
    if places is None:
        return None
    numbers = [*map(entries.function_of_c, FUNCTIONS), id(None), id(float), *places]
    return (ctypes.c_int64 * len(numbers))(*numbers)


@functools.cache
def _source() -> code.Source:
    return code.Source(Path(__file__).with_suffix(".ll").read_text("utf-8"), frozenset(), ("match",))


_loaded: list[code.Code] = []


def _code() -> list[code.Code]:
    """The machine code, if it can be had without loading LLVM."""
    if not _loaded:
        _loaded[:] = code.load([_source()]) if llvm.is_loaded() else code.find(_source())
    return _loaded


def matcher(nodes: Sequence[Expected], roots: int) -> tuple[Callable[[list[Node]], Any], Any] | None:
    """A function of a graph's roots: its nodes in order, leaves, free numbers, pullbacks and the attributes that are given back,
    each as a list, if the nodes are what is expected, else None; and what has to stay while it is called. None where there is no
    native code for it."""
    python = _python()
    found = [] if python is None else _code()
    if not found or any([e.asked == "free" and e.number is not float for e in nodes]):
        return None
    table, edges = (ctypes.c_int64 * (WIDTH * len(nodes)))(), [k for e in nodes for k in e.edges or ()]
    for i, e in enumerate(nodes):
        objects = [0 if x is None else id(x) for x in (e.op, e.type, e.tracked, e.attributes, e.number)]
        inputs = -1 if e.edges is None else len(e.edges)
        said = (e.held, ASKED.index(e.asked), inputs, e.leaf, e.pulled, e.given)
        table[WIDTH * i : WIDTH * (i + 1)] = [*objects, *said]
    numbered = (ctypes.c_int64 * len(edges))(*edges)
    counts = [len(nodes), roots]
    counts += [
        sum(column) for column in zip(*[(e.leaf, e.asked == "free", e.pulled, e.given) for e in nodes], strict=True)
    ]
    numbers = [*map(ctypes.addressof, (python, table, numbered)), *counts, 2 << len(nodes).bit_length()]
    function = entries.made("match", found[0].addresses["match"], numbers, True)
    return None if function is None else (function, (nodes, table, numbered, found))
