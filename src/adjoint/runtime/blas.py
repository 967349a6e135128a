"""One thread for the OpenBLAS inside NumPy, while a plan runs.

Its threads spin while they wait: on a machine where another process holds a core, a product of 0.1 ms takes 50. On one thread
results don't depend on the number of cores either. NumPy's setting is put back afterwards.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from adjoint import _forks

PREFIXES = ("scipy_openblas", "openblas")
SUFFIXES = ("64_", "")

P = ParamSpec("P")
T = TypeVar("T")


def _find() -> tuple[Any, Any] | None:
    """The functions that read and set the number of threads; None where NumPy's wheel carries no OpenBLAS."""
    package = os.path.dirname(np.__file__)
    for folder in (os.path.join(os.path.dirname(package), "numpy.libs"), os.path.join(package, ".dylibs")):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if "openblas" not in name:
                continue
            try:
                library = ctypes.CDLL(os.path.join(folder, name))
            except OSError:
                continue
            for prefix, suffix in itertools.product(PREFIXES, SUFFIXES):
                getter = getattr(library, f"{prefix}_get_num_threads{suffix}", None)
                setter = getattr(library, f"{prefix}_set_num_threads{suffix}", None)
                if getter is not None and setter is not None:
                    return getter, setter
    return None


class Depth(threading.local):
    """How often this thread is inside."""

    here = 0


class SingleThreaded:
    """Calls functions while NumPy's products use one thread; several threads of Python may do so at once."""

    def __init__(self) -> None:
        # A signal's handler may come in a thread that holds it, and compute something, too.
        self.lock = _forks.rlock()
        self.inside = 0  # of all threads
        self.depth = Depth()
        self.before = 1
        self.functions: tuple[Any, Any] | None = None
        self.looked = False
        _forks.forked(self)

    def __call__(self, function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
        """What a function gives. No context manager: an interrupt could come as its code for leaving is entered. Nor is there
        a call between counting and noting that it was counted."""
        if not self.looked:
            self.functions, self.looked = _find(), True
        if self.functions is None:
            return function(*arguments, **keywords)
        getter, setter = self.functions
        with self.lock:  # where it is so anyway nobody here will put another number back
            is_so = self.inside == 0 and getter() == 1
        if is_so:
            return function(*arguments, **keywords)
        entered = False
        try:
            with self.lock:
                self.inside += 1
                self.depth.here += 1
                entered = True
                if self.inside == 1:
                    self.before = getter()
                    if self.before != 1:
                        setter(1)
            return function(*arguments, **keywords)
        finally:
            if entered:
                with self.lock:
                    self.depth.here -= 1
                    self.inside -= 1
                    if self.inside == 0 and self.before != 1:
                        setter(self.before)

    def forked(self) -> None:
        """In the child of a fork: only the thread that forked can be inside."""
        entered, self.inside = self.inside, self.depth.here
        if entered and not self.inside and self.before != 1 and self.functions is not None:
            self.functions[1](self.before)


single_threaded = SingleThreaded()
