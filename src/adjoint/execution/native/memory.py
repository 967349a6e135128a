"""Where arrays that live inside a plan lie: offsets into one block, reused once nothing reads an array any more."""

from __future__ import annotations

import mmap
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

ALIGNMENT = 64
SLACK = 64  # bytes between arrays, so that their starts don't all fall on the same cache sets


class Lifetime(NamedTuple):
    """An array's size in bytes, and the first and last unit that uses it."""

    key: Hashable
    size: int
    first: int
    last: int


def place(lifetimes: list[Lifetime]) -> tuple[dict[Hashable, int], int]:
    """An offset for each array, and the size of the block. Arrays that live at the same time don't overlap."""
    free: list[tuple[int, int]] = []  # (offset, size), by offset
    offsets: dict[Hashable, int] = {}
    total = 0
    alive: list[tuple[int, int, int]] = []  # (last, offset, size)
    for item in sorted(lifetimes, key=lambda item: item.first):
        for entry in [a for a in alive if a[0] < item.first]:
            alive.remove(entry)
            free.append(entry[1:])
        free = _merged(free)
        size = -(-item.size // ALIGNMENT) * ALIGNMENT + SLACK
        best = min((block for block in free if block[1] >= size), key=lambda block: block[1], default=None)
        if best is None:
            offset = total
            total += size
        else:
            offset = best[0]
            free.remove(best)
            if best[1] > size:
                free.append((offset + size, best[1] - size))
        offsets[item.key] = offset
        alive.append((item.last, offset, size))
    return offsets, total


def _merged(blocks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for offset, size in sorted(blocks):
        if merged and merged[-1][0] + merged[-1][1] == offset:
            merged[-1] = (merged[-1][0], merged[-1][1] + size)
        else:
            merged.append((offset, size))
    return merged


# Blocks ---------------------------------------------------------------------------------------------------------------

SPARE = 4  # blocks that wait for the next run, of whichever plan
LARGEST_SPARE = 1 << 25  # bytes; a larger block goes back to the system after its run
_spare: list[np.ndarray[Any, Any]] = []


def take(size: int) -> np.ndarray[Any, Any]:
    """A block of at least `size` bytes for one run. Pages that were touched before cost nothing to touch again."""
    try:
        block = _spare.pop()
    except IndexError:
        block = None
    if block is not None and block.nbytes >= size:
        return block
    pages = -(-max(size, 1 << 16) // mmap.PAGESIZE)
    return np.frombuffer(mmap.mmap(-1, pages * mmap.PAGESIZE), np.uint8)


def give_back(block: np.ndarray[Any, Any]) -> None:
    """Keep a block for another run."""
    if block.nbytes <= LARGEST_SPARE and len(_spare) < SPARE:
        _spare.append(block)
