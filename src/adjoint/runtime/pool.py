"""Threads of our own that run a unit's chunks beside the caller: parked inside native code, woken for a moment.

A job is a function of a range of chunks. Whoever takes part has a part of them that lie together, from which it claims chunk by
chunk by an atomic counter, and then from the others' parts: so a thread that loses its core to another process holds up one chunk
and no more, and one that doesn't come in time isn't waited for.
Idle threads look for work for some microseconds, then for a millisecond between giving way to other threads, then sleep on a
condition variable. They are woken for what is worth it; what is shorter they help with if they are awake anyway. One caller
at a time has the pool; another that finds it taken runs its chunks alone. Which chunks there are never depends on the number of
threads, so neither do results.

What runs in them is `pool.c`, which comes with the package as machine code for x86-64 (`pool.x86_64`); elsewhere it is compiled
from LLVM's text (`pool.ll`). How many take part is said in `execution.threads`. Without POSIX threads (Windows) it is one. Before
a fork all threads end; parent and child start new ones when they need them.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from typing import Any

import numpy as np

from adjoint.runtime import shipped, threads
from adjoint.runtime.interrupts import Uninterrupted

# The pool's memory, as `pool.c` has it: bytes from its beginning, and within the job.
STATE, JOB, MUTEX, CONDITION, SIZE = 0, 64, 256, 384, 4672
OPENMP, QUIT = 32, 40
OPEN = 1 << 31  # in the state
PTHREAD = ("pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_wait", "pthread_cond_broadcast", "sched_yield")


class Pool:
    """The process's pool. Its memory stays where it is; in a forked child it starts again without threads."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.memory = np.zeros(SIZE + 64, np.uint8)
        self.address = self.memory.ctypes.data + -self.memory.ctypes.data % 64
        self.functions = (ctypes.c_void_p * len(PTHREAD))()
        self.code: dict[str, int] = {}  # where its functions are
        self.libc: Any = None
        self.workers: list[tuple[ctypes.c_ulong, Any]] = []

    def prepare(self) -> int:
        """Start what threads are missing; how many take part, the caller's included."""
        count = threads.get_num_threads()
        if len(self.workers) >= count - 1 and self.code:
            return count
        with Uninterrupted(), self.lock:  # a thread that isn't noted would never be waited for
            if not self.code:
                self.load()
            for k in range(len(self.workers) + 1, count):
                argument = (ctypes.c_void_p * 3)(self.address, k, ctypes.addressof(self.functions))
                handle = ctypes.c_ulong()
                worker = ctypes.c_void_p(self.address_of("worker"))
                if self.libc.pthread_create(ctypes.byref(handle), None, worker, ctypes.byref(argument)):
                    break  # the system gives no more threads: those that there are do the work
                self.workers.append((handle, argument))
        return count

    def address_of(self, name: str) -> int:
        """Where a function of the pool's code is."""
        return self.code[name]

    def load(self) -> None:
        """Find the pool's code, and what it calls."""
        found = shipped.addresses("pool", ("worker", "launch", "open"))
        if os.name == "posix":
            self.libc = ctypes.CDLL(None)
            for k, name in enumerate(PTHREAD):
                self.functions[k] = ctypes.cast(getattr(self.libc, name), ctypes.c_void_p).value
            self.libc.pthread_mutex_init(ctypes.c_void_p(self.address + MUTEX), None)
            self.libc.pthread_cond_init(ctypes.c_void_p(self.address + CONDITION), None)
        self.code = found

    def single(self, setter: int) -> None:
        """A function that sets OpenMP's number of threads for the thread that calls it: jobs start with it."""
        self._job(OPENMP).value = setter

    def _job(self, field: int) -> ctypes.c_int64:
        return ctypes.c_int64.from_address(self.address + JOB + field)

    def pointer(self, name: str) -> int:
        """What the function `launch` is and takes first: (memory, functions, unit, table, chunks, threads, block, wake)."""
        self.prepare()
        if name == "launch":
            return self.address_of("launch")
        return self.address if name == "memory" else ctypes.addressof(self.functions)

    def stop(self) -> None:
        """End all threads and wait for them; they start again when they are needed."""
        with self.lock:
            if not self.workers:
                return
            self._job(QUIT).value = 1
            opener = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(self.address_of("open"))
            opener(self.address, ctypes.addressof(self.functions))
            for handle, _ in self.workers:
                self.libc.pthread_join(handle, None)
            self.workers.clear()
            self._job(QUIT).value = 0
            ctypes.c_int64.from_address(self.address + STATE).value &= ~OPEN

    def forked(self) -> None:
        """In a child: the parent's threads aren't here, and one of them may have held the lock."""
        self.lock = threading.Lock()
        self.workers = []
        setter = self._job(OPENMP).value
        ctypes.memset(self.address, 0, SIZE)
        self._job(OPENMP).value = setter
        if self.libc is not None:
            self.libc.pthread_mutex_init(ctypes.c_void_p(self.address + MUTEX), None)
            self.libc.pthread_cond_init(ctypes.c_void_p(self.address + CONDITION), None)


pool = Pool()
atexit.register(pool.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=pool.stop, after_in_child=pool.forked)
