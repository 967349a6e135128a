"""Native code that makes Python's objects and looks at them: nodes, and whether a graph is one that was met before (see
`plan.recognised`).

It is `recording.c`, which comes with the package as machine code for x86-64 (`recording.x86_64`). Elsewhere it is compiled from
LLVM's text (`recording.ll`): there once it is in the cache or LLVM is loaded anyway. Without it, and where Python's objects
aren't as it has them, functions of Python's do the same.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.graph import SEARCHES, Kept, Node, Search
from adjoint.primitives.core import FULL, VERSION
from adjoint.runtime import entries, known_calls, shipped
from adjoint.runtime.memory import LAYOUT

if TYPE_CHECKING:
    from adjoint.plan.recognised import Expected

__all__ = ["ASKED", "FOR_LONG", "is_there", "matcher", "storer"]

# What is asked of a node's attributes, in the order in which `recording.c` numbers it (see `Expected`).
ASKED = ("any", "none", "some", "same", "literal", "free")
CONTENTS, SIZE, LISTED, BASE = 32, 16, 24, 48  # where `recording.c` looks in objects
FIELDS = ("op", "inputs", "attributes", "type", "tracked", "value", "site", "offset", "number")
FUNCTIONS = ("PyList_New", "PyList_SetItem", "PyTuple_New", "PyTuple_SetItem", "PyObject_RichCompareBool", "PyFloat_AsDouble",
             "Py_IncRef", "Py_DecRef", "PyMem_Malloc", "PyMem_Free", "PyErr_NoMemory", "PyType_GenericAlloc", "PySet_New",
             "PySet_Contains", "PySet_Add", "PyList_Append", "PyObject_IsTrue", "PyObject_Vectorcall", "PyContextVar_Get",
             "PyFrame_GetCode", "PyFrame_GetBack", "PyFrame_GetLasti", "PyLong_FromLong", "PyLong_AsLong", "PyObject_GetAttr",
             "PyUnicode_Tailmatch", "PyLong_FromVoidPtr", "PyDict_GetItemWithError")  # fmt: skip
CALLED_AT = 56  # where a class's class says at which place its classes have what is called
OPEN = 0x5ADC0DE15ADC0DE2  # the number in `recording.c` that becomes an address
ZERO = 0  # the number of a node without a place
NOTHING: tuple[()] = ()  # the inputs of a node that has forgotten them
AGAIN = "again"  # what says of a pullback whether it may come another time
FOR_LONG = 2048  # times that a graph is met: from then on LLVM is loaded, where the code doesn't come with the package
WIDTH = 11  # numbers that say what a node is


@functools.cache
def _places() -> tuple[int, ...] | None:
    """Where Python's objects have what native code reads: their class, a tuple's items, then a node's fields; None where that
    isn't so."""
    basic: Any = list.__basicsize__  # behind the address of the items there is how many fit
    if LAYOUT is None or (LAYOUT.type, LAYOUT.contents, basic) != (8, CONTENTS, LISTED + 16):
        return None
    at = ctypes.c_void_p.from_address
    samples: Any = ((1, 2), [1, 2, 3], (), [None] * 5, {}, {1: 2, "3": 4})
    sizes = [ctypes.c_ssize_t.from_address(id(x) + SIZE).value for x in samples]
    listed = [object(), object()]
    items = at(id(listed) + LISTED).value or 0
    array = np.zeros(3)
    view = array[:2]
    if at(id(array) + BASE).value is not None or at(id(view) + BASE).value != id(array):
        return None
    if sizes != [len(x) for x in samples] or [at(items).value, at(items + 8).value] != [id(x) for x in listed]:
        return None
    fields = {name: object() for name in FIELDS}
    node = Node.__new__(Node)
    for name, value in fields.items():
        setattr(node, name, value)
    words = {at(id(node) + k).value: k for k in range(16, Node.__basicsize__, 8)}
    places = [words.get(id(fields[name])) for name in FIELDS]
    kept, counted = Kept(node), ctypes.c_ssize_t.from_address(id(node)).value
    places.append(16 if at(id(kept) + 16).value == id(node) and counted == 2 else None)  # it counts those two
    return None if None in places else (LAYOUT.type, LAYOUT.items, *[place for place in places if place is not None])


@functools.cache
def _python() -> Any:
    """What native code is told of Python, in memory that stays."""
    places = _places()
    if places is None:
        return None
    numbers = [
        *map(entries.function_of_c, FUNCTIONS),
        id(None),
        id(True),
        id(False),
        id(float),
        id(ZERO),
        id(_made),
        id(Node),
        id(Kept),
        id(np.ndarray),
        id(NOTHING),
        *places,
    ]
    return (ctypes.c_int64 * len(numbers))(*numbers)


def _made(*arguments: Any, **keywords: Any) -> Node:
    """A node, made as Python makes objects."""
    node = Node.__new__(Node)
    Node.__init__(node, *arguments, **keywords)
    return node


_loaded: dict[str, int] = {}  # where the functions are


def _code(compiling: bool) -> dict[str, int]:
    """Where the functions are, if they can be had without loading LLVM, or with `compiling`."""
    if not _loaded:
        python = ctypes.addressof(_python())
        names = ("match", "make", "below", "store", "filled")
        _loaded.update(shipped.addresses("recording", names, (OPEN, python), compiling))
        if _loaded:
            _install(_loaded["make"], _loaded["filled"])
            for search in SEARCHES:
                _improve(search, _loaded["below"])
            known_calls.load(python, compiling)
    return _loaded


def _improve(search: Search, below: int) -> None:
    """Let native code search from now on."""
    ops = [id(op) for op in search.ops]
    function = entries.made("below", below, [ctypes.addressof(_python()), id(search.last), len(ops), *ops], True)
    search.below = function or search.below


def _install(make: int, filled: int) -> None:
    """Let native code make nodes from now on: what Python calls first where a class is called, a field of the class. Only what is
    as it is known to be is changed, and changed back if what is made isn't right."""
    place = ctypes.c_ssize_t.from_address(id(type) + CALLED_AT).value
    size: Any = type.__basicsize__
    if not 0 < place <= size - 8 or ctypes.CFUNCTYPE(ctypes.c_void_p)(filled)() != ctypes.addressof(_python()):
        return
    called, *others = [ctypes.c_void_p.from_address(id(x) + place) for x in (Node, list, tuple, dict, type)]
    if called.value is not None or not all([other.value for other in others]):  # those in C have something there
        return
    called.value = make
    if not _is_right():
        called.value = None
    kept = (_python(), _made)  # also while the interpreter ends, when finalizers may make nodes
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def _is_right() -> bool:
    given = [object() for _ in range(8)]
    call: Any = Node
    made = [call(*given[:7]), call(*given), call(*given[:7], value=given[7])]
    expected = [[*given[:7], None, 0], [*given, 0], [*given, 0]]
    names = ("op", "inputs", "attributes", "type", "site", "offset", "tracked", "value", "number")
    found = [[getattr(x, name) for name in names] for x in made]
    return found == expected and {type(x) for x in made} == {Node}


def is_there() -> bool:
    """Whether there is native code, without loading LLVM for it."""
    return _python() is not None and bool(_code(compiling=False))


def matcher(
    nodes: Sequence[Expected], roots: int, compiling: bool = False
) -> tuple[Callable[[list[Node]], Any], Any, Any] | None:
    """A function of a graph's roots: its nodes in order, leaves, free numbers, their nodes, pullbacks, the attributes that are
    given back, and the leaves' arrays if they are all that, each as a list, and whether each node has as many references as is
    noted, if the nodes are what is expected, else None; the array in which that is noted; and what has to stay while it is
    called. None where there is no native code for it. With `compiling`, LLVM may be loaded for that."""
    python = _python()
    found = {} if python is None else _code(compiling)
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
    held = (ctypes.c_int64 * (len(nodes) + 1))(-1)
    numbers = [
        *map(ctypes.addressof, (python, table, numbered)),
        *counts,
        2 << len(nodes).bit_length(),
        ctypes.addressof(held),
    ]
    function = entries.made("match", found["match"], numbers, True)
    return None if function is None else (function, held, (nodes, table, numbered))


def storer(nodes: Sequence[Expected], outputs: Sequence[Any]) -> Callable[..., bool] | None:
    """A function of a graph's nodes in order, its leaves, its pullbacks, and the results of a plan with these outputs: it puts
    them where they belong, as `evaluate` would, and says whether it did. None where there is no native code for it."""
    python = _python()
    if python is None or not _loaded:
        return None
    table = list[int]()
    for i, index, _, is_kept in outputs:
        node = nodes[i]
        if index is not None or node.op is FULL or node.tracked is None:
            return None
        table += [i, is_kept, not is_kept and (not node.tracked or node.op is VERSION)]
    numbers = [ctypes.addressof(python), id(AGAIN), len(outputs), *table]
    return entries.made("store", _loaded["store"], numbers, None)
