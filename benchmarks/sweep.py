"""`python -m benchmarks.sweep`: whether a training step costs what its neighbours predict, by depth, length, batch and width.

A transformer is made larger and larger along one axis. What a step takes at one size is compared with what its neighbours say of
it: the sizes below and above by a power law between them; the size below alone, for work grows by a known power of the size; and
the size above alone, for more isn't less work. More than 1.5 times the least of these is a cliff: the sweep prints it and fails.
So a single slow size is found, and so is one from which on all are slow, the largest among them.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Sequence

import adjoint as ad
from benchmarks.cliffs import BATCH, LENGTH, WIDTH, gpt, step_of, tokens

CLIFF = 1.5
AGAIN = 2  # times that what looks like a cliff is measured anew: other processes are on the machine
SECONDS, FEWEST, WARM = 0.3, 5, 3  # a step is repeated for so long, and so often at least, after so many off the record
AXES: dict[str, Sequence[int]] = {
    "depth": (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64),
    "length": (8, 15, 16, 31, 32, 50, 64, 100, 128, 200, 256, 400, 512, 1000, 1024, 1500, 2048),
    "batch": (1, 2, 3, 4, 7, 8, 13, 16, 31, 32, 50, 64, 100, 128, 200, 256, 400, 512),
    "width": (8, 12, 16, 20, 32, 48, 64, 100, 128, 160, 256, 384, 512),
}

GROWTH = {"depth": 1, "length": 2, "batch": 1, "width": 2}  # by which power of the size work grows, at most


def milliseconds(axis: str, size: int) -> float:
    """What a step takes, of the processor's time."""
    # a sequence alone where it is long, so that memory holds the scores of attention; one layer where others are large
    layers = size if axis == "depth" else 1
    length = size if axis == "length" else 32 if axis in ("batch", "depth") else LENGTH
    batch = size if axis == "batch" else 1 if axis == "length" else BATCH
    width = size if axis == "width" else WIDTH
    step = ad.jit(step_of(ad, lambda engine, depth: gpt(engine, depth, width, max(length, LENGTH)), layers))
    given = [ad.tensor(x) for x in tokens(length, batch)]
    for _ in range(WARM):
        step(*given).item()
    found: list[float] = []
    while sum(found) < SECONDS or len(found) < FEWEST:
        started = time.process_time()
        step(*given).item()
        found.append(time.process_time() - started)
    return 1000 * statistics.median(found)


def predicted(sizes: Sequence[int], found: Sequence[float], k: int, growth: int) -> float:
    """What its neighbours give at most for the k-th size: between both by a power law, from the one below by the power by which
    work grows, and what the one above takes."""
    given = []
    if k > 0:
        given.append(found[k - 1] * (sizes[k] / sizes[k - 1]) ** growth)
    if k + 1 < len(sizes):
        given.append(found[k + 1])
    if len(given) == 2:
        low, here, high = (math.log(n) for n in sizes[k - 1 : k + 2])
        share = (here - low) / (high - low)
        given.append(found[k - 1] ** (1 - share) * found[k + 1] ** share)
    return min(given)


def main(axes: Sequence[str]) -> int:
    """Sweep along these axes; how many cliffs there are."""
    cliffs = 0
    for axis in axes or AXES:
        sizes = AXES[axis]
        found = [milliseconds(axis, n) for n in sizes]
        print(f"{axis:>8}  {'ms':>8}  of what its neighbours predict")
        for k, n in enumerate(sizes):
            for _ in range(AGAIN):
                if found[k] > CLIFF * predicted(sizes, found, k, GROWTH[axis]):
                    found[k] = min(found[k], milliseconds(axis, n))
            ratio = found[k] / predicted(sizes, found, k, GROWTH[axis])
            cliffs += ratio > CLIFF
            print(f"{n:8}  {found[k]:8.2f}  {ratio:.2f}{'  a cliff' if ratio > CLIFF else ''}")
    return cliffs


if __name__ == "__main__":
    ad.set_num_threads(1)
    sys.exit(min(main(sys.argv[1:]), 1))
