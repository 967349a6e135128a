"""Batches made by other processes, in their order, handed over in shared memory."""

from __future__ import annotations

import contextlib
import multiprocessing
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker, shared_memory
from typing import Any

import numpy as np

from adjoint import tree
from adjoint.tensors import Tensor

__all__ = ["by_workers"]

LARGE = 1 << 14  # bytes from which an array goes through shared memory rather than through the pipe
AHEAD = 2  # batches that each worker prepares before they are asked for
PATIENCE = 0.5  # seconds that a worker has for ending


class Shared:
    """An array in shared memory: where it is, its shape and dtype."""

    def __init__(self, array: np.ndarray) -> None:
        memory = shared_memory.SharedMemory(create=True, size=array.nbytes)
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


def _sent(x: Any) -> Any:
    if isinstance(x, Tensor):
        x = x.numpy()
    return Shared(x) if isinstance(x, np.ndarray) and x.nbytes >= LARGE and not x.dtype.hasobject else x


def _work(
    pipe: Any, make: Callable[[int], Any], first: int, count: int, step: int, start: Callable[[int], Any] | None
) -> None:
    """Make every so many-th batch, when asked to, until the pipe is closed."""
    try:
        if start is not None:
            start(first % step)
        for number in range(first, count, step):
            if pipe.recv() is None:
                return
            try:
                pipe.send((True, tree.map(_sent, make(number))))
            except Exception as error:
                pipe.send((False, error))
    except (EOFError, KeyboardInterrupt, BrokenPipeError):
        pass


def by_workers(
    make: Callable[[int], Any], first: int, count: int, workers: int, timeout: float, start: Callable[[int], Any] | None
) -> Iterator[Any]:
    """`make(number)` for the numbers from `first` up to `count`, by so many forked processes; what it raises is raised here."""
    resource_tracker.ensure_running()  # before the fork, so that all processes have the same one
    context = multiprocessing.get_context("fork")
    pipes, processes = [], []
    try:
        for worker in range(min(workers, count - first)):
            ours, theirs = context.Pipe()
            arguments = (theirs, make, first + worker, count, workers, start)
            process = context.Process(target=_work, args=arguments, daemon=True)
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
            for number in range(first + worker, count, workers)[:AHEAD]:
                _asked(ours, number)
        for number in range(first, count):
            pipe = pipes[(number - first) % workers]
            yield _received(pipe, number, timeout)
            if number + AHEAD * workers < count:
                _asked(pipe, number)
    finally:
        for pipe, process in zip(pipes, processes, strict=True):
            _ended(pipe, process)


def _asked(pipe: Any, number: int | None) -> None:
    """Let a worker go on. One that has died is found out where its batch is waited for."""
    with contextlib.suppress(OSError):
        pipe.send(number)


def _received(pipe: Any, number: int, timeout: float) -> Any:
    if timeout and not pipe.poll(timeout):
        raise RuntimeError(f"DataLoader: batch {number} didn't come within {timeout} seconds")
    try:
        fine, found = pipe.recv()
    except (EOFError, ConnectionResetError) as error:
        raise RuntimeError(f"DataLoader: the worker that should make batch {number} has died") from error
    if not fine:
        raise found
    return tree.map(lambda x: x.taken() if isinstance(x, Shared) else x, found)


def _ended(pipe: Any, process: Any) -> None:
    """Let a worker end, and give back the memory of batches that nobody took. One that takes too long is stopped."""
    _asked(pipe, None)
    with contextlib.suppress(EOFError, OSError):
        while pipe.poll(PATIENCE):
            fine, found = pipe.recv()
            if fine:
                tree.map(lambda x: x.taken() if isinstance(x, Shared) else x, found)
    pipe.close()
    process.join(PATIENCE)
    if process.is_alive():
        process.terminate()
        process.join()
