"""Batches made by other processes, in their order, handed over in shared memory."""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import pickle
import random as python_random
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker, shared_memory
from pathlib import Path
from typing import Any

import numpy as np
from numpy import random as numpy_random

from adjoint import random, tree
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray

__all__ = ["WorkerInfo", "asked_who", "by_workers", "get_worker_info", "seed_everything"]

LARGE = 1 << 14  # bytes from which an array goes through shared memory rather than through the pipe
AHEAD = 2  # batches that each worker prepares before they are asked for
PATIENCE = 0.5  # seconds that a worker has for ending
SHARED_FILES = Path("/dev/shm")  # where Linux has shared memory, of which there may be little

# The batches of a worker, by its number and by what gives the next task.
Batches = Callable[[int, Callable[[], Any]], Iterator[Any]]


@dataclass(frozen=True)
class WorkerInfo:
    """Which worker of a loader a process is: its number `id`, how many there are, the loader's seed, its data set.

    >>> import adjoint as ad
    >>> ad.data.WorkerInfo(id=0, num_workers=2, seed=0, dataset=None).num_workers
    2
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_here: WorkerInfo | None = None
_asked_who = False


def get_worker_info() -> WorkerInfo | None:
    """Which worker of a `DataLoader` this process is; None in the main process.

    An `IterableDataset` asks for it in `__iter__`, so that each worker gives samples of its own.

    >>> import adjoint as ad
    >>> class Count(ad.data.IterableDataset):
    ...     def __iter__(self):
    ...         info = ad.data.get_worker_info()
    ...         return iter(range(6) if info is None else range(info.id, 6, info.num_workers))
    >>> [batch.tolist() for batch in ad.data.DataLoader(Count(), 2, num_workers=2)]
    [[0, 2], [1, 3], [4], [5]]
    """
    global _asked_who
    _asked_who = True
    return _here


def asked_who() -> bool:
    """Whether code of this worker has asked which one it is."""
    return _asked_who


def seed_everything(*entropy: int) -> None:
    """Start the generators that all code may share (Python's, NumPy's and adjoint's) anew, from a few numbers from 0."""
    first, second = numpy_random.SeedSequence(entropy).generate_state(2)
    python_random.seed(int(first) << 32 | int(second))
    numpy_random.seed(first)
    random.seed(int(first) << 31 | int(second) >> 1)


class Shared:
    """An array in shared memory: where it is, its shape and dtype. Raises OSError where there is no room."""

    def __init__(self, array: np.ndarray) -> None:
        memory = shared_memory.SharedMemory(create=True, size=array.nbytes)
        try:
            _reserve(memory)
        except OSError:
            memory.close()
            memory.unlink()
            raise
        np.ndarray(array.shape, array.dtype, memory.buf)[...] = array
        self.name, self.shape, self.dtype = memory.name, array.shape, array.dtype
        memory.close()

    def taken(self) -> np.ndarray:
        """The array, out of the shared memory, which is given back."""
        memory = shared_memory.SharedMemory(self.name)
        array = np.ndarray(self.shape, self.dtype, memory.buf).copy()
        memory.close()
        memory.unlink()
        return array


class OfTensor:
    """The values of a tensor, on their way."""

    def __init__(self, values: Any) -> None:
        self.values = values


def _reserve(memory: Any) -> None:
    """Have the system find the memory now: where it has none left, a process that writes there is killed."""
    path = SHARED_FILES / memory.name.lstrip("/")
    if hasattr(os, "posix_fallocate") and path.exists():
        file = os.open(path, os.O_RDWR)
        try:
            os.posix_fallocate(file, 0, memory.size)
        finally:
            os.close(file)


def _sent(x: Any) -> Any:
    if isinstance(x, Tensor):
        return OfTensor(_sent(x.numpy()))
    if isinstance(x, np.ndarray) and x.nbytes >= LARGE and not x.dtype.hasobject:
        with contextlib.suppress(OSError):  # no room: through the pipe, then
            return Shared(x)
    return x


def _received_array(x: Any) -> Any:
    if isinstance(x, OfTensor):
        return asarray(_received_array(x.values), copy=False)
    return x.taken() if isinstance(x, Shared) else x


class _End:
    """What a worker sends when it has no more batches."""


def _work(pipe: Any, batches: Batches, info: WorkerInfo, start: Callable[[int], Any] | None) -> None:
    """Hand over the next batch with each task that comes, until the pipe is closed."""
    global _here, _asked_who
    _here, _asked_who = info, False
    with contextlib.suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        made: Iterator[Any] | None = None
        tasks: deque[Any] = deque(maxlen=1)
        while (task := pipe.recv()) is not None:
            sent = None
            tasks.append(task)
            try:
                if made is None:
                    if start is not None:
                        start(info.id)
                    made = iter(batches(info.id, tasks.pop))
                sent = tree.map(_sent, next(made, _End()))
                pipe.send((True, sent))
            except Exception as error:
                tree.map(_received_array, sent)  # shared memory that couldn't be handed over is given back
                pipe.send((False, _told(error, info.id)))


def _told(error: Exception, worker: int) -> Exception:
    """An error for another process: as it is, if it can be sent, with the lines of the worker as a note."""
    lines = "".join(traceback.format_exception(error))
    note = f"In worker {worker} of a DataLoader:\n{lines}"
    error.add_note(note)
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"DataLoader: worker {worker} raised {type(error).__name__}: {error}")
        error.add_note(note)
    return error


def by_workers(
    batches: Batches,
    tasks: Iterator[Any],
    first: int,
    workers: int,
    timeout: float,
    start: Callable[[int], Any] | None,
    seed: int,
    dataset: Any,
) -> Iterator[Any]:
    """The batches of up to so many forked processes, which take turns in getting the tasks, one for each batch; one that
    has no more batches is passed over. What they raise is raised here. `first` is the number of the first batch, for
    messages."""
    resource_tracker.ensure_running()  # before the fork, so that all processes have the same one
    context = multiprocessing.get_context("fork")
    pipes: list[Any] = []
    processes: list[Any] = []
    turns: deque[int] = deque()  # the workers that have tasks, in the tasks' order

    def ask(worker: int) -> None:
        for task in itertools.islice(tasks, 1):
            _asked(pipes[worker], task)
            turns.append(worker)

    try:
        for task in itertools.islice(tasks, workers):
            ours, theirs = context.Pipe()
            info = WorkerInfo(len(pipes), workers, seed, dataset)
            process = context.Process(target=_work, args=(theirs, batches, info, start), daemon=True)
            process.start()
            theirs.close()
            turns.append(len(pipes))
            pipes.append(ours)
            processes.append(process)
            _asked(ours, task)
        for _ in range(AHEAD - 1):
            for worker in range(len(pipes)):
                ask(worker)
        number = first
        while turns:
            worker = turns.popleft()
            found = _received(pipes[worker], processes[worker], number, timeout)
            if isinstance(found, _End):
                continue
            number += 1
            ask(worker)
            yield found
    finally:
        for pipe, process in zip(pipes, processes, strict=True):
            _ended(pipe, process)


def _asked(pipe: Any, task: Any) -> None:
    """Give a worker a task, or let it end (None). One that has died is found out where its batch is waited for."""
    with contextlib.suppress(OSError):
        pipe.send(task)


def _received(pipe: Any, process: Any, number: int, timeout: float) -> Any:
    if timeout and not pipe.poll(timeout):
        raise RuntimeError(f"DataLoader: batch {number} didn't come within {timeout} seconds")
    try:
        fine, found = pipe.recv()
    except (EOFError, ConnectionResetError) as error:
        process.join(PATIENCE)
        raise RuntimeError(
            f"DataLoader: the worker that should make batch {number} has died ({_cause(process.exitcode)})"
        ) from error
    if not fine:
        raise found
    return tree.map(_received_array, found)


def _cause(exit_code: int | None) -> str:
    """Why a process ended. The system's killer of processes that take too much memory sends signal 9."""
    if exit_code is None or exit_code >= 0:
        return f"exit code {exit_code}"
    return f"signal {-exit_code}" + (": memory may have run out" if exit_code == -9 else "")


def _ended(pipe: Any, process: Any) -> None:
    """Let a worker end, and give back the memory of batches that nobody took. One that takes too long is stopped."""
    _asked(pipe, None)
    with contextlib.suppress(EOFError, OSError, ImportError):  # the last where the interpreter itself ends
        while pipe.poll(PATIENCE):
            fine, found = pipe.recv()
            if fine:
                tree.map(_received_array, found)
    pipe.close()
    process.join(PATIENCE)
    if process.is_alive():
        process.terminate()
        process.join()
