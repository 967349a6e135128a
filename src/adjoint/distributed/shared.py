"""Means over the ranks of one machine, through memory that all of them see: nothing is sent, and nobody is asked for anything.

Each rank writes its numbers where the others can read them. Then it adds up one stretch of all ranks' numbers, in the order of
the ranks, and writes the mean over its own numbers there; then it reads the other stretches from their ranks. It does what an
exchange of messages does, with the same bits, and reads as many bytes of others as messages would carry.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from adjoint.runtime.memory import new_array

from .engine import Engine, SharedMemory, shares

__all__ = ["Means", "Place"]

Array = np.ndarray[Any, Any]

HEAD = 64  # bytes in front of a rank's numbers: a line of the cache
FILLED, ADDED, NOTE = 0, 1, 2  # 64-bit integers of the head: turns that were written, turns that were added up, of what
CHUNK = 1 << 15  # bytes that are added up at a time, so that the sum stays in the cache


class Means:
    """Places for the means that are under way. Every rank takes and leaves them in the same order."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.free: dict[int, list[Place]] = {}
        self.available = True

    def take(self, nbytes: int) -> Place | None:
        """A place for so many bytes; None where the ranks have no memory in common."""
        if not self.available:
            return None
        waiting = self.free.setdefault(nbytes, [])
        if waiting:
            return waiting.pop()
        self.engine.agree("room for gradients", np.empty(0, f"V{max(nbytes, 1)}"))
        memory = self.engine.transport.shared(HEAD + 2 * nbytes)
        self.available = memory is not None
        return None if memory is None else Place(self.engine, memory, nbytes)

    def leave(self, place: Place) -> None:
        """Let a place be taken again."""
        self.free[place.nbytes].append(place)


class Place:
    """Where numbers of all ranks meet, again and again, in two halves by turns: whoever writes one half again has got a mean from
    the other half since, so that everybody had read the first."""

    def __init__(self, engine: Engine, memory: SharedMemory, nbytes: int) -> None:
        self.engine = engine
        self.settle = memory.settle
        self.nbytes = nbytes
        self.heads = [part[:HEAD].view(np.int64) for part in memory.parts]
        self.halves = [[part[HEAD + k * nbytes : HEAD + (k + 1) * nbytes] for part in memory.parts] for k in (0, 1)]
        self.turn = 0
        self.note = 0

    def fill(self, what: str, arrays: Sequence[Array]) -> None:
        """Write this rank's numbers, one array behind the other."""
        self.turn += 1
        target = self.halves[self.turn % 2][self.engine.rank]
        start = 0
        for x in arrays:
            end = start + x.nbytes
            np.copyto(target[start:end].view(x.dtype).reshape(x.shape), x)
            start = end
        self.note = zlib.crc32(f"{what} {arrays[0].dtype.str} {[x.shape for x in arrays]}".encode())
        head = self.heads[self.engine.rank]
        head[NOTE] = self.note
        self.settle()
        head[FILLED] = self.turn

    def mean(self, what: str, dtype: np.dtype[Any]) -> Array:
        """The mean of what all ranks have written, flat. Raises DistributedError where they wrote different things or one doesn't
        come."""
        engine, rank = self.engine, self.engine.rank
        self.wait(FILLED, what)
        others = [k for k, head in enumerate(self.heads) if head[NOTE] != self.note]
        if others:
            raise engine.apart(what, others)
        numbers = [half.view(dtype) for half in self.halves[self.turn % 2]]
        sizes = shares(len(numbers[0]), engine.size)
        ends = list(accumulate(sizes))
        found = new_array(numbers[0].shape, dtype, self.nbytes)
        self.add_up(numbers, ends[rank] - sizes[rank], ends[rank], found)
        self.settle()
        self.heads[rank][ADDED] = self.turn
        self.wait(ADDED, what)
        for k, (theirs, size, end) in enumerate(zip(numbers, sizes, ends, strict=True)):
            if k != rank:
                found[end - size : end] = theirs[end - size : end]
        stretch = (
            sizes[rank] * dtype.itemsize
        )  # the others read the rest of what was written here, and each the mean of it
        engine.bytes_sent += self.nbytes - stretch + stretch * (engine.size - 1)
        return found

    def add_up(self, numbers: Sequence[Array], start: int, end: int, found: Array) -> None:
        """Put the mean of a stretch into its place, and over this rank's own numbers, where the others read it."""
        first, *others = numbers
        step = max(CHUNK // first.itemsize, 1)
        total = np.empty(min(step, end - start), first.dtype)
        for at in range(start, end, step):
            stretch = slice(at, min(at + step, end))
            part = total[: stretch.stop - at]
            np.add(first[stretch], others[0][stretch], out=part)
            for other in others[1:]:
                np.add(part, other[stretch], out=part)
            np.divide(part, len(numbers), out=found[stretch], casting="unsafe")
            numbers[self.engine.rank][stretch] = found[stretch]

    def wait(self, field: int, what: str) -> None:
        """Wait until all ranks have come as far as this one."""
        heads, turn = self.heads, self.turn

        def come() -> bool:
            for head in heads:
                if head[field] < turn:
                    return False
            self.settle()
            return True

        if not come():
            self.engine.until(come, what, lambda: [int(head[field]) for head in heads], spin=0.0)
