"""One thread for the OpenBLAS inside NumPy, while a plan runs.

Its threads spin while they wait: on a machine where another process holds a core, a product of 0.1 ms takes 50. On one thread
results don't depend on the number of cores either. NumPy's setting is put back afterwards.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
from typing import Any

import numpy as np

PREFIXES = ("scipy_openblas", "openblas")
SUFFIXES = ("64_", "")


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


class SingleThreaded:
    """A context in which NumPy's products use one thread; may be entered from several threads at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.before = 1
        self.functions: tuple[Any, Any] | None = None
        self.looked = False

    def __enter__(self) -> None:
        with self.lock:
            if not self.looked:
                self.functions, self.looked = _find(), True
            self.inside += 1
            if self.functions is not None and self.inside == 1:
                getter, setter = self.functions
                self.before = getter()
                if self.before != 1:
                    setter(1)

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.inside -= 1
            if self.functions is not None and self.inside == 0 and self.before != 1:
                self.functions[1](self.before)


single_threaded = SingleThreaded()
