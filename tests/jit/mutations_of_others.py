"""Ways to change objects of the standard library's and of installed packages' classes: more cases for test_jit_mutations.py."""

from __future__ import annotations

import configparser
import ctypes
import functools
import mmap
import multiprocessing
import queue
import sqlite3
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import numpy as np

import adjoint as ad

X = ad.tensor([1.0, 2.0, 3.0])
CASES: dict[str, Callable[[Any], tuple[Callable[[], Any], Callable[[int], Any]]]] = {}


def case(name: str, make: Callable[[], Any], read: Callable[[Any], float], change: Callable[[Any, int], Any]) -> None:
    """An object, a number that is read of it, and how it is changed for the k-th time."""

    def prepare(jit: Any) -> tuple[Callable[[], Any], Callable[[int], Any]]:
        held = make()

        def f() -> Any:
            return X * read(held)

        return jit(f), lambda k: change(held, k)

    CASES[f"others: {name}"] = prepare


def put(owner: Any, key: Any, value: Any) -> None:
    owner[key] = value


def parser(kind: Any = configparser.ConfigParser) -> Any:
    made = kind()
    made.read_string("[a]\nb = 1")
    return made


def event() -> Any:
    return threading.Event()


def toggle(flag: Any, k: int) -> None:
    flag.set() if k % 2 == 0 else flag.clear()


def filled(kind: Any) -> Any:
    made = kind()
    made.put(1.0)
    return made


class Cell:
    def __init__(self, value: float) -> None:
        self.value = value


class Holder:
    """Weak dictionaries beside what keeps their members."""

    def __init__(self) -> None:
        self.cell = Cell(1.0)
        self.by_name = weakref.WeakValueDictionary(a=self.cell)
        self.by_cell = weakref.WeakKeyDictionary({self.cell: 1.0})

    def replace(self, k: int) -> None:
        self.cell = Cell(3.0 + k)
        self.by_name["a"] = self.cell
        self.by_cell = weakref.WeakKeyDictionary({self.cell: 2.0 + k})


class Parser(configparser.ConfigParser):
    """A class of the user's that keeps its state in one of the library's."""


class Interface:
    """What hands out its memory as images do: no `__array__`."""

    def __init__(self) -> None:
        self._values = np.ones(3)

    @property
    def __array_interface__(self) -> Any:
        return self._values.__array_interface__


class Bound:
    def __init__(self) -> None:
        self.value = 1.0
        self.weak = weakref.WeakMethod(self.read)

    def read(self) -> float:
        return self.value


DATABASES: list[sqlite3.Connection] = []  # that are open


def opened() -> sqlite3.Connection:
    """A database in memory, which whoever runs the case closes."""
    DATABASES.append(sqlite3.connect(":memory:"))
    return DATABASES[-1]


class Labelled:
    """What names its rows, as pandas does."""

    def __init__(self) -> None:
        self.axes = [["a", "b"]]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([1.0, 2.0])

    def at(self, name: str) -> float:
        return float(np.asarray(self)[self.axes[0].index(name)])


class Named(float):
    """A number with attributes."""

    extra = 1.0


class Rows(np.ndarray):
    """An array with attributes."""

    extra = 1.0


class Remembered:
    def __init__(self) -> None:
        self.value = 1.0
        self.cached = functools.lru_cache(lambda k: self.value * k)
        self.cached(2)

    def replace(self, k: int) -> None:
        self.value = 4.0 + k
        self.cached.cache_clear()


case("ConfigParser", parser, lambda p: p.getfloat("a", "b"), lambda p, k: p.set("a", "b", str(k + 2)))
case("a section", lambda: parser()["a"], lambda s: float(s["b"]), lambda s, k: put(s, "b", str(k + 2)))
case("a class made of ConfigParser", lambda: parser(Parser), lambda p: p.getfloat("a", "b"),
     lambda p, k: p.set("a", "b", str(k + 2)))  # fmt: skip
case("Event", event, lambda e: 2.0 if e.is_set() else 1.0, toggle)
case("Semaphore", lambda: threading.Semaphore(99), lambda s: float(s._value), lambda s, k: s.acquire())
case("Queue", lambda: filled(queue.Queue), lambda q: float(q.qsize()), lambda q, k: q.put(1.0))
case("weak values", Holder, lambda h: h.by_name["a"].value, lambda h, k: h.replace(k))
case("weak values' attributes", Holder, lambda h: h.by_name["a"].value, lambda h, k: setattr(h.cell, "value", 5.0 + k))
case("weak keys", Holder, lambda h: h.by_cell[h.cell], lambda h, k: h.replace(k))
case("what lru_cache keeps", Remembered, lambda r: r.cached(2), lambda r, k: r.replace(k))
case("memoryview", lambda: memoryview(bytearray(b"\x01\x02")), lambda v: float(v[0]), lambda v, k: put(v, 0, 9 + k))
case("mmap", lambda: mmap.mmap(-1, 8), lambda m: float(m[0]), lambda m, k: put(m, 0, 9 + k))
case("ctypes array", lambda: (ctypes.c_double * 2)(1, 2), lambda a: a[0], lambda a, k: put(a, 0, 9.0 + k))
case("ctypes number", lambda: ctypes.c_double(1), lambda a: a.value, lambda a, k: setattr(a, "value", 9.0 + k))
case("a number of processes", lambda: multiprocessing.Value("d", 1.0), lambda a: a.value,
     lambda a, k: setattr(a, "value", 9.0 + k))  # fmt: skip
case("record", lambda: np.ones(2, [("a", "f8")])[0], lambda r: float(r["a"]), lambda r, k: put(r, "a", 9.0 + k))
case("array interface", Interface, lambda a: float(np.asarray(a).sum()), lambda a, k: put(a._values, 0, 9.0 + k))
case(
    "XML text",
    lambda: ElementTree.fromstring("<a>2</a>"),
    lambda e: float(e.text),
    lambda e, k: setattr(e, "text", str(k)),
)
case(
    "XML attribute",
    lambda: ElementTree.fromstring("<a v='2'/>"),
    lambda e: float(e.get("v")),
    lambda e, k: e.set("v", str(k)),
)
case("XML children", lambda: ElementTree.fromstring("<a><b/></a>"), lambda e: float(len(e)),
     lambda e, k: e.append(ElementTree.Element("b")))  # fmt: skip
case("a missing name of a module", lambda: types.ModuleType("made"), lambda m: getattr(m, "rate", 1.0),
     lambda m, k: setattr(m, "rate", 3.0 + k))  # fmt: skip

case("labels", Labelled, lambda a: a.at("a"), lambda a, k: put(a.axes, 0, [["b", "a"], ["a", "b"]][k % 2]))
case("a number's attribute", lambda: Named(2.0), lambda n: n * n.extra, lambda n, k: setattr(n, "extra", 3.0 + k))
case(
    "an array's attribute", lambda: np.ones(2).view(Rows), lambda a: a.extra, lambda a, k: setattr(a, "extra", 3.0 + k)
)
case("an attribute of partial", lambda: functools.partial(float, 2), lambda p: p() * getattr(p, "extra", 1.0),
     lambda p, k: setattr(p, "extra", 3.0 + k))  # fmt: skip
case("a method held weakly", Bound, lambda b: b.weak()(), lambda b, k: setattr(b, "value", 3.0 + k))

# What can't be seen raises.
case(
    "raises: ctypes pointer", lambda: ctypes.pointer(ctypes.c_double(1)), lambda p: p.contents.value, lambda p, k: None
)
case("raises: SimpleQueue", lambda: filled(queue.SimpleQueue), lambda q: float(q.qsize()), lambda q, k: q.put(1.0))
case("raises: lock", threading.Lock, lambda lock: float(lock.locked()), lambda lock, k: lock.acquire(blocking=False))
case("raises: database", opened, lambda d: float(d.execute("select 1").fetchone()[0]),
     lambda d, k: None)  # fmt: skip
case("raises: large memory", lambda: memoryview(bytearray(1 << 17)), lambda v: float(v[0]), lambda v, k: put(v, 0, 9))
