"""What carries arrays between processes: nothing (one process), MPI, or Ray.

A transport moves bytes and says who takes part; what is computed from them is done here, in NumPy, in the order of the ranks.
So the bits of a sum depend on the number of ranks alone, not on the MPI, its version or what the network does.

Every exchange begins with a note of what it is. Ranks whose notes differ would wait for each other for ever, or worse, add up
what doesn't belong together: they raise instead. A rank that waits longer than `set_timeout` says raises too, and names the ranks
that have not come.
"""

from __future__ import annotations

import os
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

__all__ = [
    "Alone", "Counter", "DistributedError", "Engine", "Exchange", "SharedMemory", "Transport", "get_timeout", "set_timeout",
    "shares",
]  # fmt: skip

Array = np.ndarray[Any, Any]

SMALL = 1 << 12  # bytes up to which everybody sends everything to everybody: one round instead of two
NOTE = 8  # bytes of the note in front of what is sent
PATIENCE = 1e-3  # seconds of looking again and again, while others may have the core, before sleeping
SHORTEST_NAP, NAP = 2e-5, 2e-3  # seconds of sleep

_let_others_run: Callable[[], Any] = getattr(os, "sched_yield", lambda: time.sleep(0))
_timeout = float(os.environ.get("ADJOINT_DISTRIBUTED_TIMEOUT", "300"))


class DistributedError(RuntimeError):
    """Ranks that don't do the same, or one that doesn't come."""


def set_timeout(seconds: float) -> None:
    """How long a rank waits for the others before it raises: 300 seconds, or what ADJOINT_DISTRIBUTED_TIMEOUT says.

    Raises ValueError for what is not above 0.
    """
    global _timeout
    if not seconds > 0:
        raise ValueError(f"set_timeout: seconds must be above 0, not {seconds!r}")
    _timeout = float(seconds)


def get_timeout() -> float:
    """How long a rank waits for the others, in seconds."""
    return _timeout


class Counter(Protocol):
    """A number that all ranks share."""

    def add(self, step: int) -> int:
        """Add to it; what it was before."""

    def free(self) -> None:
        """Give it up. Called by every rank."""


class SharedMemory(NamedTuple):
    """Bytes of each rank that all ranks see; `settle()` lets what was written be there for the others before what comes next."""

    parts: Sequence[Array]
    settle: Callable[[], Any]


class Transport(Protocol):
    """What an engine gives: who is there, and moving bytes. All but `send` and `receive` are called by every rank."""

    rank: int
    size: int

    def all_gather(self, sent: Array, received: Array) -> Any:
        """Begin: `sent` of every rank, one after another, in `received`. Bytes; gives a request."""

    def all_to_all(self, sent: Array, sizes: Sequence[int], received: Array, come: Sequence[int]) -> Any:
        """Begin: the k-th stretch of `sent` to rank k; in `received` what the ranks sent here. Bytes; gives a request."""

    def send(self, sent: Array, to: int, tag: int) -> Any:
        """Begin: bytes to one rank; gives a request."""

    def receive(self, received: Array, source: int, tag: int) -> Any:
        """Begin: bytes from one rank; gives a request."""

    def done(self, request: Any) -> bool:
        """Whether what was begun is done. Doesn't wait."""

    def split(self, ranks: Sequence[int]) -> Any:
        """A transport between some of the ranks, numbered anew in their order; None in the others. Called by every rank."""

    def abort(self, code: int) -> None:
        """End all ranks at once."""

    def counter(self) -> Counter:
        """A new number, 0, that all ranks share. Called by every rank."""

    def arrived(self) -> Sequence[int]:
        """How many exchanges each rank has begun, as far as that can be seen without its help."""

    def shared(self, nbytes: int) -> SharedMemory | None:
        """Memory that all ranks see, so many bytes for each rank, the first 64 of them 0; None where they aren't on one machine.
        Called by every rank, with the same number."""


class Alone:
    """One process: what it sends it gets."""

    rank, size = 0, 1

    def __init__(self) -> None:
        self.kept: dict[int, list[Array]] = {}

    def all_gather(self, sent: Array, received: Array) -> Any:
        """See `Transport`."""
        received[:] = sent

    def all_to_all(self, sent: Array, sizes: Sequence[int], received: Array, come: Sequence[int]) -> Any:
        """See `Transport`."""
        received[:] = sent

    def send(self, sent: Array, to: int, tag: int) -> Any:
        """See `Transport`."""
        self.kept.setdefault(tag, []).append(sent.copy())

    def receive(self, received: Array, source: int, tag: int) -> Any:
        """See `Transport`."""
        waiting = self.kept.get(tag)
        if not waiting:
            raise DistributedError("recv: this process is alone and has sent nothing to itself")
        received[:] = waiting.pop(0)

    def done(self, request: Any) -> bool:
        """See `Transport`."""
        return True

    def split(self, ranks: Sequence[int]) -> Alone | None:
        """See `Transport`."""
        return Alone() if 0 in ranks else None

    def abort(self, code: int) -> None:
        """See `Transport`."""
        os._exit(code)

    def counter(self) -> Counter:
        """See `Transport`."""
        return OwnCounter()

    def arrived(self) -> Sequence[int]:
        """See `Transport`."""
        return [0]

    def shared(self, nbytes: int) -> SharedMemory | None:
        """See `Transport`."""
        return None


class OwnCounter:
    """A number of this process alone."""

    value = 0

    def add(self, step: int) -> int:
        """Add to it; what it was before."""
        self.value += step
        return self.value - step

    def free(self) -> None:
        """Nothing is held."""


class Engine:
    """Exchanges over a transport, one at a time and in the same order on every rank."""

    def __init__(self, transport: Transport, name: str = "world") -> None:
        self.transport = transport
        self.name = name
        self.lock = threading.RLock()
        self.bytes_sent = 0  # of payload, to other ranks
        self.waited = 0.0  # seconds in which this rank did nothing but wait
        self.wanted = True  # whether somebody stands still for what is waited for: a thread behind waits without hurry

    @property
    def rank(self) -> int:
        """This process's number."""
        return self.transport.rank

    @property
    def size(self) -> int:
        """How many ranks there are."""
        return self.transport.size

    # Rounds -----------------------------------------------------------------------------------------------------------

    def gather(self, what: str, array: Array) -> Array:
        """An array of every rank, stacked in the order of the ranks: (size, *shape). Shapes and dtypes must agree."""
        array = np.asarray(array, order="C")
        sent = _noted(what, array)
        received = np.empty(self.size * sent.size, np.uint8)
        with self.lock:
            self.wait(self.transport.all_gather(sent, received), what)
        rows = received.reshape(self.size, -1)
        self.check(what, array, rows[:, :NOTE])
        self.bytes_sent += array.nbytes * (self.size - 1)
        found: Array = np.ascontiguousarray(rows[:, NOTE:]).view(array.dtype).reshape(self.size, *array.shape)
        return found

    def exchange(self, what: str, array: Array, sizes: Sequence[int], come: Sequence[int]) -> Array:
        """Stretches of a flat array to the ranks, `sizes[k]` elements to rank k; what came from them, `come[k]` from rank k."""
        array = np.ascontiguousarray(array)
        width = array.dtype.itemsize
        received = np.empty(sum(come), array.dtype)
        with self.lock:
            request = self.transport.all_to_all(
                array.view(np.uint8), [n * width for n in sizes], received.view(np.uint8), [n * width for n in come]
            )
            self.wait(request, what)
        self.bytes_sent += (sum(sizes) - sizes[self.rank]) * width
        return received

    def agree(self, what: str, array: Array) -> None:
        """Raise DistributedError unless every rank is about to do the same with an array of this shape and dtype."""
        note = np.frombuffer(_note(what, array), np.uint8)
        notes = np.empty(self.size * NOTE, np.uint8)
        with self.lock:
            self.wait(self.transport.all_gather(note, notes), what)
        self.check(what, array, notes.reshape(self.size, NOTE))

    def check(self, what: str, array: Array, notes: Array) -> None:
        """Raise DistributedError unless the notes of all ranks are this one's."""
        own = np.frombuffer(_note(what, array), np.uint8)
        others = np.flatnonzero((notes != own).any(axis=1))
        if len(others):
            raise self.apart(f"{what} of {array.dtype}{list(array.shape)}", others)

    def apart(self, what: str, others: Sequence[int] | Array) -> DistributedError:
        """The error of a rank that is at something else than others."""
        return DistributedError(
            f"rank {self.rank} of {self.size} is at {what}, and {_ranks(others)} at something else: all ranks must evaluate the "
            "same collective operations in the same order (a value that only one rank asks for, as in "
            "`if rank() == 0: print(loss)`, is one way to differ)"
        )

    # What is made of them -----------------------------------------------------------------------------------------------

    def sum(self, what: str, array: Array) -> Array:
        """The sum over the ranks, added up in their order. Large arrays: each rank adds one stretch, and all get all stretches,
        which sends 2 (n - 1) / n of the array's bytes, the least there can be (Patarasuk and Yuan 2009)."""
        return self.reduce(what, array, np.add)

    def mean(self, what: str, array: Array) -> Array:
        """The mean over the ranks, of floating-point numbers: the sum, of which each rank divides the stretch that it adds up."""
        return self.reduce(what, array, np.add, self.size)

    def reduce(self, what: str, array: Array, combine: Callable[..., Any], divisor: int = 1) -> Array:
        """What `combine(a, b)` makes of the ranks' arrays, in the order of the ranks, over a divisor."""
        array = np.asarray(array)
        if self.size == 1:
            return array.copy()
        if array.nbytes <= SMALL:
            return _divided(_combined(self.gather(what, array), combine), divisor)
        self.agree(what, array)
        flat = np.ascontiguousarray(array).reshape(-1)
        sizes = shares(flat.size, self.size)
        own = sizes[self.rank]
        parts = self.exchange(what, flat, sizes, [own] * self.size).reshape(self.size, own)
        total = _divided(_combined(parts, combine), divisor)
        found = self.exchange(what, np.tile(total, self.size), [own] * self.size, sizes)
        return found.reshape(array.shape)

    def scatter_sum(self, what: str, array: Array) -> Array:
        """The sum over the ranks of this rank's part of the first axis, which the number of ranks must divide."""
        if self.size == 1:
            return array.copy()
        self.agree(what, array)
        rows = array.shape[0] // self.size
        flat = np.ascontiguousarray(array).reshape(-1)
        count = flat.size // self.size
        parts = self.exchange(what, flat, [count] * self.size, [count] * self.size)
        return _combined(parts.reshape(self.size, rows, *array.shape[1:]), np.add)

    def swap(self, what: str, array: Array) -> Array:
        """The k-th part of the first axis to rank k; what came from the ranks, in their order."""
        if self.size == 1:
            return array.copy()
        self.agree(what, array)
        flat = np.ascontiguousarray(array).reshape(-1)
        count = flat.size // self.size
        return self.exchange(what, flat, [count] * self.size, [count] * self.size).reshape(array.shape)

    def broadcast(self, what: str, array: Array, root: int) -> Array:
        """The array of one rank."""
        if self.size == 1:
            return array.copy()
        self.agree(what, array)
        flat = np.ascontiguousarray(array).reshape(-1)
        here = self.rank == root
        sent = np.tile(flat, self.size) if here else flat[:0]
        sizes = [flat.size if here else 0] * self.size
        come = [flat.size if k == root else 0 for k in range(self.size)]
        return self.exchange(what, sent, sizes, come).reshape(array.shape)

    def barrier(self) -> None:
        """Wait until every rank is here."""
        if self.size > 1:
            self.agree("barrier", np.empty(0, np.uint8))

    def send(self, array: Array, to: int, tag: int) -> None:
        """Send an array to a rank."""
        sent = _noted("send", np.asarray(array, order="C"))
        self.wait(self.transport.send(sent, to, tag), f"send to rank {to}")
        self.bytes_sent += array.nbytes if to != self.rank else 0

    def receive(self, shape: tuple[int, ...], dtype: Any, source: int, tag: int) -> Array:
        """An array that a rank sends."""
        expected = np.empty(shape, dtype)
        received = np.empty(NOTE + expected.nbytes, np.uint8)
        self.wait(self.transport.receive(received, source, tag), f"recv from rank {source}")
        if bytes(received[:NOTE]) != _note("send", expected):
            raise DistributedError(f"recv: rank {source} sent something else than {expected.dtype}{list(shape)}")
        found: Array = received[NOTE:].view(dtype).reshape(shape)
        return found

    # Waiting ----------------------------------------------------------------------------------------------------------

    def wait(self, request: Any, what: str) -> None:
        """Wait for what was begun."""
        if not self.transport.done(request):
            self.until(lambda: self.transport.done(request), what, self.transport.arrived)

    def until(self, done: Callable[[], bool], what: str, arrived: Callable[[], Sequence[int]]) -> None:
        """Wait politely for something to happen, since ranks may outnumber the cores: look for a while if somebody stands still
        for it, then now and then.

        `arrived` counts how far each rank has come. Raises DistributedError, naming those behind, after `set_timeout` seconds.
        """
        started = time.perf_counter()
        hurried: float | None = None
        nap = SHORTEST_NAP
        while not done():
            now = time.perf_counter()
            passed = now - started
            if passed > _timeout:
                raise DistributedError(self.late(what, passed, list(arrived())))
            hurried = (hurried or now) if self.wanted else None
            if hurried is not None and now - hurried < PATIENCE:
                _let_others_run()
            else:
                time.sleep(nap)
                nap = min(1.5 * nap, NAP, max(passed / 8, SHORTEST_NAP))
        self.waited += time.perf_counter() - started

    def late(self, what: str, passed: float, arrived: Sequence[int]) -> str:
        """What is said of ranks that don't come."""
        behind = [k for k, count in enumerate(arrived) if count < arrived[self.rank]]
        whom = _ranks(behind) if behind else "the others"
        return (
            f"rank {self.rank} of {self.size} has waited {passed:.0f} s at {what} for {whom}. Did it stop, or does it do "
            "something else? (ad.distributed.set_timeout says how long ranks wait)"
        )


class Exchange:
    """Something that whoever comes first does: the thread behind, while the program goes on, or the program when it needs it."""

    def __init__(self, work: Callable[[], Array]) -> None:
        self.work: Callable[[], Array] | None = work  # None once it has been done
        self.found: Array | None = None
        self.error: BaseException | None = None
        self.lock = threading.Lock()

    def run(self) -> None:
        """Do it, or wait until it is done."""
        with self.lock:
            work, self.work = self.work, None
            if work is not None:
                try:
                    self.found = work()
                except BaseException as error:  # raised where it is waited for
                    self.error = error

    def result(self) -> Array:
        """What was found, once; what was raised is raised here."""
        self.run()
        if self.error is not None:
            raise self.error
        found, self.found = self.found, None  # whoever gets it is alone with it, and needn't copy it
        assert found is not None
        return found


def _note(what: str, array: Array) -> bytes:
    return zlib.crc32(f"{what} {array.dtype.str} {array.shape}".encode()).to_bytes(NOTE, "little")


def _noted(what: str, array: Array) -> Array:
    """The bytes of an array behind a note of what is done with it."""
    sent = np.empty(NOTE + array.nbytes, np.uint8)
    sent[:NOTE] = np.frombuffer(_note(what, array), np.uint8)
    sent[NOTE:] = array.reshape(-1).view(np.uint8)
    return sent


def _combined(rows: Array, combine: Callable[..., Any]) -> Array:
    found: Array = np.array(rows[0])  # of one number too
    for row in rows[1:]:
        combine(found, row, out=found)
    return found


def _divided(array: Array, divisor: int) -> Array:
    return array if divisor == 1 else np.divide(array, divisor, out=array, casting="unsafe")


def shares(count: int, parts: int) -> list[int]:
    """How many of `count` elements each of the parts has: as equal as can be, the first ones larger."""
    return [count // parts + (k < count % parts) for k in range(parts)]


def _ranks(numbers: Sequence[int] | Array) -> str:
    names = ", ".join(str(int(k)) for k in numbers)
    return f"rank {names}" if len(numbers) == 1 else f"ranks {names}"
