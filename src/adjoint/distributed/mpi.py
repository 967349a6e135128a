"""Bytes between processes by MPI, through mpi4py."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import _optional

from .engine import SharedMemory

__all__ = ["MPITransport", "launched"]

Array = np.ndarray[Any, Any]

ANSWERS_EVERY = 1e-3  # seconds
PAGE = 1 << 12  # bytes: no two ranks' parts are on one page
# What launchers set for the processes they start: MPICH's and Intel's, Open MPI's, PMIx (Slurm, PRRTE), MVAPICH's.
STARTED = ("PMI_RANK", "PMI_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK")


def launched() -> bool:
    """Whether an MPI launcher started this process. Doesn't load MPI."""
    return any(name in os.environ for name in STARTED)


class MPITransport:
    """A communicator. Everything is begun without blocking, and looked at."""

    def __init__(self, communicator: Any = None) -> None:
        self.mpi = _optional.load("mpi4py.MPI", purpose="distributed training", extra="mpi")
        self.communicator = self.mpi.COMM_WORLD.Dup() if communicator is None else communicator
        self.rank = int(self.communicator.Get_rank())
        self.size = int(self.communicator.Get_size())
        # The ranks of one machine see how far the others have come without their help: one that has stopped gives none.
        self.near = self.communicator.Split_type(self.mpi.COMM_TYPE_SHARED, self.rank)
        self.window = self.mpi.Win.Allocate_shared(8, 8, comm=self.near)
        self.begun = np.frombuffer(self.window.tomemory(), np.int64)
        self.begun[:] = 0
        atexit.register(self.window.Free)  # before mpi4py ends MPI

    def all_gather(self, sent: Array, received: Array) -> Any:
        """See `Transport`."""
        self.begun += 1
        return self.communicator.Iallgather(self.bytes(sent), self.bytes(received))

    def all_to_all(self, sent: Array, sizes: Sequence[int], received: Array, come: Sequence[int]) -> Any:
        """See `Transport`."""
        self.begun += 1
        byte = self.mpi.BYTE
        return self.communicator.Ialltoallv(
            [sent, (sizes, _starts(sizes)), byte], [received, (come, _starts(come)), byte]
        )

    def bytes(self, array: Array) -> Any:
        """An array as MPI takes it."""
        return [array, self.mpi.BYTE]

    def send(self, sent: Array, to: int, tag: int) -> Any:
        """See `Transport`."""
        return self.communicator.Isend(self.bytes(sent), to, tag)

    def receive(self, received: Array, source: int, tag: int) -> Any:
        """See `Transport`."""
        return self.communicator.Irecv(self.bytes(received), source, tag)

    def done(self, request: Any) -> bool:
        """See `Transport`."""
        return bool(request.Test())

    def split(self, ranks: Sequence[int]) -> MPITransport | None:
        """See `Transport`."""
        inside = self.rank in ranks
        made = self.communicator.Split(0 if inside else self.mpi.UNDEFINED, ranks.index(self.rank) if inside else 0)
        return MPITransport(made) if inside else None

    def abort(self, code: int) -> None:
        """See `Transport`."""
        self.mpi.COMM_WORLD.Abort(code)
        os._exit(code)  # should the call return

    def counter(self) -> SharedCounter:
        """See `Transport`."""
        return SharedCounter(self.mpi, self.communicator, self.near.Get_size() == self.size)

    def arrived(self) -> Sequence[int]:
        """The ranks' counts, read without their help; of ranks on several machines all are as this one's."""
        if self.near.Get_size() < self.size:
            return [int(self.begun[0])] * self.size
        return [int(np.frombuffer(self.window.Shared_query(k)[0], np.int64)[0]) for k in range(self.size)]

    def shared(self, nbytes: int) -> SharedMemory | None:
        """See `Transport`."""
        if self.near.Get_size() < self.size:
            return None
        window = self.mpi.Win.Allocate_shared(-(-nbytes // PAGE) * PAGE, 1, comm=self.near)
        window.Lock_all(self.mpi.MODE_NOCHECK)  # an access for good: within one, `Sync` orders what is written
        atexit.register(window.Free)
        atexit.register(window.Unlock_all)  # which comes before
        parts = [np.frombuffer(window.Shared_query(k)[0], np.uint8) for k in range(self.size)]
        parts[self.rank][:64] = 0
        window.Sync()
        self.near.Barrier()
        return SharedMemory(parts, window.Sync)


class SharedCounter:
    """A number in rank 0's memory, added to without its help: where the ranks are `near`, by the processor; else a thread of
    rank 0 lets MPI answer the others while the rank computes."""

    def __init__(self, mpi: Any, communicator: Any, near: bool) -> None:
        self.mpi = mpi
        first = communicator.Get_rank() == 0
        make = mpi.Win.Allocate_shared if near else mpi.Win.Allocate
        self.window = make(8 if first else 0, 8, comm=communicator)
        if first:
            np.frombuffer(self.window, np.int64)[:] = 0
        self.ended = threading.Event()
        self.answering = threading.Thread(target=self._answer, args=(communicator,), daemon=True)
        if first and not near:
            self.answering.start()
        communicator.Barrier()
        self.window.Lock_all()

    def _answer(self, communicator: Any) -> None:
        while not self.ended.wait(ANSWERS_EVERY):
            communicator.Iprobe(self.mpi.ANY_SOURCE, self.mpi.ANY_TAG)

    def add(self, step: int) -> int:
        """Add to it; what it was before."""
        before = np.zeros(1, np.int64)
        self.window.Fetch_and_op(np.array([step], np.int64), before, 0, 0, self.mpi.SUM)
        self.window.Flush(0)
        return int(before[0])

    def free(self) -> None:
        """Give the memory back. Called by every rank."""
        self.ended.set()
        if self.answering.is_alive():
            self.answering.join()
        self.window.Unlock_all()
        self.window.Free()


def _starts(sizes: Sequence[int]) -> list[int]:
    starts, at = [], 0
    for size in sizes:
        starts.append(at)
        at += size
    return starts
