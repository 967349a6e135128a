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


class Layout:
    """Where arrays of these shapes lie in a place, one behind the other, and as flat numbers of all ranks; for each half."""

    def __init__(self, place: Place, what: str, arrays: Sequence[Array]) -> None:
        dtype = arrays[0].dtype
        self.dtype = dtype
        self.note = zlib.crc32(f"{what} {dtype.str} {[x.shape for x in arrays]}".encode())
        self.numbers = [[part.view(dtype) for part in half] for half in place.halves]
        rank, size = place.engine.rank, place.engine.size
        ends = list(accumulate([x.size for x in arrays]))
        self.targets = [
            [half[rank][end - x.size : end].reshape(x.shape) for x, end in zip(arrays, ends, strict=True)]
            for half in self.numbers
        ]
        sizes = shares(ends[-1], size)
        self.stretches = [slice(end - n, end) for n, end in zip(sizes, accumulate(sizes), strict=True)]
        self.own = sizes[rank] * dtype.itemsize


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
        self.layouts: dict[Any, Layout] = {}

    def fill(self, what: str, arrays: Sequence[Array]) -> Layout:
        """Write this rank's numbers, one array behind the other; how they lie, for `mean`."""
        self.turn += 1
        key = (what, arrays[0].dtype, *[x.shape for x in arrays])
        layout = self.layouts.get(key)
        if layout is None:
            layout = self.layouts[key] = Layout(self, what, arrays)
        for target, x in zip(layout.targets[self.turn % 2], arrays, strict=True):
            np.copyto(target, x)
        head = self.heads[self.engine.rank]
        head[NOTE] = layout.note
        self.settle()
        head[FILLED] = self.turn
        return layout

    def mean(self, what: str, layout: Layout) -> Array:
        """The mean of what all ranks have written, flat. Raises DistributedError where they wrote different things or one doesn't
        come."""
        engine, rank = self.engine, self.engine.rank
        self.wait(FILLED, what)
        others = [k for k, head in enumerate(self.heads) if head[NOTE] != layout.note]
        if others:
            raise engine.apart(what, others)
        numbers = layout.numbers[self.turn % 2]
        found = new_array(numbers[0].shape, layout.dtype, self.nbytes)
        self.add_up(numbers, layout.stretches[rank], found)
        self.settle()
        self.heads[rank][ADDED] = self.turn
        self.wait(ADDED, what)
        for k, (theirs, stretch) in enumerate(zip(numbers, layout.stretches, strict=True)):
            if k != rank:
                found[stretch] = theirs[stretch]
        # The others read the rest of what was written here, and each of them the mean of this rank's stretch.
        engine.bytes_sent += self.nbytes - layout.own + layout.own * (engine.size - 1)
        return found

    def add_up(self, numbers: Sequence[Array], stretch: slice, found: Array) -> None:
        """Put the mean of a stretch into its place, and over this rank's own numbers, where the others read it."""
        first, second, *others = numbers
        count = len(numbers)
        # Over a power of two both have the same bits, and a product takes less.
        is_product = count & (count - 1) == 0 and first.dtype.kind == "f"
        scaled, factor = (np.multiply, 1 / count) if is_product else (np.divide, count)
        step = max(CHUNK // first.itemsize, 1)
        total = np.empty(min(step, stretch.stop - stretch.start), first.dtype)
        for at in range(stretch.start, stretch.stop, step):
            chunk = slice(at, min(at + step, stretch.stop))
            part = total[: chunk.stop - at]
            np.add(first[chunk], second[chunk], out=part)
            for other in others:
                np.add(part, other[chunk], out=part)
            scaled(part, factor, out=found[chunk], casting="unsafe")
            numbers[self.engine.rank][chunk] = found[chunk]

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
            self.engine.until(come, what, lambda: [int(head[field]) for head in heads])
