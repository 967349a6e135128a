"""The library of oneDNN: found, loaded and checked; its engine and stream; one thread of OpenMP."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ctypes import byref, c_int, c_size_t, c_void_p
from typing import Any

from adjoint.runtime.pool import pool

WHEEL = "onednn-cpu-gomp"
ABOUT = "onednn_cpu_gomp-"  # how the name of the folder of its metadata starts
LIBRARY = "libdnnl.so.3"
MAJOR = 3
OPENMP = 2  # dnnl_cpu_runtime_omp
CPU, IN_ORDER = 1, 1

state: dict[str, Any] = {}


class _Version(ctypes.Structure):
    _fields_ = [
        ("major", c_int), ("minor", c_int), ("patch", c_int), ("hash", ctypes.c_char_p),
        ("cpu_runtime", ctypes.c_uint), ("gpu_runtime", ctypes.c_uint),
    ]  # fmt: skip


def path() -> str | None:
    """Where the wheel's metadata says that the library is."""
    # importlib.metadata takes longer to import than all the rest of native execution
    for folder in sys.path:
        with suppress(OSError):  # where no folder is, or no record in it
            for about in [name for name in os.listdir(folder or ".") if name.startswith(ABOUT)]:
                with open(os.path.join(folder, about, "RECORD"), encoding="utf-8") as record:
                    for name in [line.partition(",")[0] for line in record]:
                        if name.endswith(f"/{LIBRARY}"):
                            return os.path.realpath(os.path.join(folder, name))
    return None


def load() -> str | None:
    """Load the library; what is wrong with it, or None."""
    found = path()
    if found is None:
        return f"it isn't installed (pip install {WHEEL})"
    try:
        library = ctypes.CDLL(found)
        library.dnnl_version.restype = ctypes.POINTER(_Version)
        version = library.dnnl_version().contents
        if version.major != MAJOR or version.cpu_runtime != OPENMP:
            return f"its version is {version.major}.{version.minor}, with runtime {version.cpu_runtime}"
        library.dnnl_memory_desc_get_size.restype = c_size_t
        library.dnnl_primitive_desc_query_md.restype = c_void_p
        library.dnnl_primitive_execute.argtypes = [c_void_p, c_void_p, c_int, c_void_p]
        # the copy of OpenMP that this library is linked with, which need not be the only one in the process
        library.omp_get_max_threads.restype = c_int
        library.omp_set_num_threads.argtypes = [c_int]
        state["library"] = library
        engine, stream = c_void_p(), c_void_p()
        check(library.dnnl_engine_create(byref(engine), CPU, c_size_t(0)), "an engine")
        check(library.dnnl_stream_create(byref(stream), engine, IN_ORDER), "a stream")
        state["engine"], state["stream"] = engine, stream
        pool.single(address("omp_set_num_threads"))
        return None
    except (AttributeError, OSError, RuntimeError) as error:
        return str(error)


def address(name: str) -> int:
    """Where a function of the library is."""
    return int(ctypes.cast(getattr(state["library"], name), c_void_p).value or 0)


def stream() -> int:
    return int(state["stream"].value)


def check(status: int, what: str) -> None:
    if status:
        raise RuntimeError(f"oneDNN: status {status} from {what}")


@contextmanager
def one_thread() -> Iterator[None]:
    """Primitives are made for the number of threads that OpenMP would use."""
    library = state["library"]
    before = library.omp_get_max_threads()
    library.omp_set_num_threads(1)
    try:
        yield
    finally:
        library.omp_set_num_threads(before)
