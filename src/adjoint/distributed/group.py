"""Who takes part: all ranks, or some of them."""

from __future__ import annotations

import atexit
import os
import pickle
import platform
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Any

import numpy as np

from adjoint.tensors.located import at_user

from .engine import Alone, Engine, Exchange, Transport
from .mpi import MPITransport, launched
from .shared import Means, Place

__all__ = ["Group", "rank", "use", "world", "world_size"]

Array = np.ndarray[Any, Any]
_PASSED_ON = 0.5  # seconds that a launcher has to pass on what a rank wrote last


class Group:
    """Ranks that exchange values. `rank` is this process's number among them, `size` how many they are.

    `ad.distributed.world()` is all of them, `world().split([0, 1])` the group of some, which every rank calls; it gives None
    in the ranks that are not among them.
    """

    def __init__(self, transport: Transport, ranks: Sequence[int]) -> None:
        self.engine = Engine(transport)
        self.ranks = tuple(ranks)  # of the world
        self._behind: Background | None = None
        self._functions: dict[Any, Callable[..., Any]] = {}

    @property
    def rank(self) -> int:
        """This process's number in the group, from 0."""
        return self.engine.rank

    @property
    def size(self) -> int:
        """How many ranks the group has."""
        return self.engine.size

    def split(self, ranks: Sequence[int]) -> Group | None:
        """The group of some of its ranks, in this order. Every rank of this group calls it; those outside get None."""
        chosen = [int(k) for k in ranks]
        if len(set(chosen)) != len(chosen) or not chosen or not all(0 <= k < self.size for k in chosen):
            raise ValueError(f"split: different ranks from 0 to {self.size - 1}, not {list(ranks)}{at_user()}")
        transport = self.engine.transport.split(chosen)
        return None if transport is None else Group(transport, [self.ranks[k] for k in chosen])

    def barrier(self) -> None:
        """Wait until all ranks of the group are here."""
        self.engine.barrier()

    def collect(self, value: Any) -> list[Any]:
        """A picklable value of every rank, in the order of the ranks. Called by every rank."""
        data = np.frombuffer(pickle.dumps(value), np.uint8)
        lengths = [int(n) for n in self.engine.gather("lengths", np.array(len(data), np.int64))]
        padded = np.zeros(max(lengths), np.uint8)
        padded[: len(data)] = data
        rows = self.engine.gather("values", padded)
        return [pickle.loads(row[:length].tobytes()) for row, length in zip(rows, lengths, strict=True)]

    def share(self, value: Any) -> Any:
        """The picklable value of rank 0. Called by every rank."""
        return self.collect(value if self.rank == 0 else None)[0]

    def processes(self) -> str:
        """Which process is which rank, for people: what a launcher says of one that was killed is its number. Called by every
        rank."""
        hosts: dict[str, list[str]] = {}
        for rank, (host, process) in enumerate(self.collect((platform.node(), os.getpid()))):
            hosts.setdefault(host, []).append(f"rank {rank} is process {process}")
        return "; ".join(f"on {host or 'this machine'} {', '.join(ranks)}" for host, ranks in hosts.items())

    @property
    def background(self) -> Background:
        """The thread that exchanges while this one computes. The first use is by every rank of the group."""
        if self._behind is None:
            everyone = self.engine.transport.split(range(self.size))
            assert everyone is not None
            self._behind = Background(Engine(everyone))
        return self._behind

    def function(self, kind: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
        """`kind(group, *arguments, ...)` with these given: the same object each time, by which compiled code knows it."""
        key = (kind, arguments)
        if key not in self._functions:
            self._functions[key] = partial(kind, self, *arguments)
        return self._functions[key]

    def __repr__(self) -> str:
        return f"<group of {self.size}: rank {self.rank}>"


class Background:
    """A thread that makes means over the ranks while this one computes, by exchanges of its own."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        engine.wanted = False
        self.means = Means(engine)
        self.waiting: queue.SimpleQueue[Exchange] = queue.SimpleQueue()
        self.begun: dict[int, tuple[Exchange, Place | None]] = {}
        self.count = 0
        self.blocked = 0.0  # seconds in which results were waited for
        threading.Thread(target=self._work, name="adjoint exchanges", daemon=True).start()

    def begin(self, what: str, arrays: Sequence[Array], soon: bool = False) -> int:
        """Begin with the mean of arrays of one dtype over the ranks; the number by which to ask for it. They may change
        afterwards. The thread makes it, unless it is asked for `soon`, with nothing else to do meanwhile."""
        place = self.means.take(sum([x.nbytes for x in arrays]))
        if place is not None:
            exchange = Exchange(partial(place.mean, what, place.fill(what, arrays)))
        else:
            flat = np.concatenate([x.reshape(-1) for x in arrays])
            exchange = Exchange(partial(self.engine.mean, what, flat))
        self.count += 1
        self.begun[self.count] = exchange, place
        if not soon:
            self.waiting.put(exchange)
        return self.count

    def finish(self, number: int) -> Array:
        """The mean that was begun under a number, flat."""
        started = time.perf_counter()
        self.engine.wanted = True
        for earlier in [k for k in self.begun if k < number]:  # in the same order on every rank
            self.begun[earlier][0].run()
        exchange, place = self.begun.pop(number)
        try:
            found = exchange.result()
        finally:
            self.engine.wanted = False
            self.blocked += time.perf_counter() - started
        if place is not None:
            self.means.leave(place)
        return found

    def _work(self) -> None:
        while True:
            self.waiting.get().run()


_world: list[Group] = []


def world() -> Group:
    """All ranks. Without MPI or Ray it is this process alone.

    A process that an MPI launcher started (`mpiexec`, `srun`, `adjoint train --workers`) takes part from the first use on.

    Raises ImportError where a launcher started it and mpi4py is missing.

    >>> import adjoint as ad
    >>> ad.distributed.world()
    <group of 1: rank 0>
    """
    if not _world:
        use(MPITransport() if launched() else Alone())
    return _world[0]


def use(transport: Transport, watched: bool = True) -> Group:
    """Let this process take part in a world that a transport connects. What is `watched` ends together, by its own means."""
    group = Group(transport, range(transport.size))
    _world[:] = [group]
    if group.size > 1 and watched:
        _end_together(group)
    return group


def rank() -> int:
    """This process's number, from 0."""
    return world().rank


def world_size() -> int:
    """How many processes there are."""
    return world().size


# The end of one rank ----------------------------------------------------------------------------------------------------


def _end_together(group: Group) -> None:
    """An error that nobody catches ends all ranks: the others would wait for this one."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _report(group, kind, error, trace)
        group.engine.transport.abort(130 if issubclass(kind, KeyboardInterrupt) else 1)

    def thread_hook(arguments: Any) -> None:
        if arguments.exc_type is not SystemExit:
            _report(group, arguments.exc_type, arguments.exc_value, arguments.exc_traceback)
            group.engine.transport.abort(1)

    sys.excepthook, threading.excepthook = hook, thread_hook


def _report(group: Group, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    lines = "".join(traceback.format_exception(kind, error, trace))
    text = f"rank {group.rank} of {group.size} (process {os.getpid()}) ends the job:\n{lines}"
    os.write(2, text.encode())  # in one piece, whatever the others write
    # An abort may overtake what the launcher hasn't passed on yet, and the reason would be lost.
    time.sleep(_PASSED_ON)


def _forget() -> None:
    _world.clear()


atexit.register(_forget)
