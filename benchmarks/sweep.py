"""`python -m benchmarks.sweep`: whether a training step costs what its neighbours predict, by depth, length, batch and width.

A transformer is made larger and larger along one axis. What a step takes at one size is compared with what the sizes below and
above it give by a power law between them. More than 1.5 times that is a cliff: the sweep prints it and fails.
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


def predicted(sizes: Sequence[int], found: Sequence[float], k: int) -> float:
    """What the sizes on both sides of the k-th give for it, by a power law; infinity at either end."""
    if k in (0, len(sizes) - 1):
        return math.inf
    low, here, high = (math.log(n) for n in sizes[k - 1 : k + 2])
    share = (here - low) / (high - low)
    return float(found[k - 1] ** (1 - share) * found[k + 1] ** share)


def main(axes: Sequence[str]) -> int:
    """Sweep along these axes; how many cliffs there are."""
    cliffs = 0
    for axis in axes or AXES:
        sizes = AXES[axis]
        found = [milliseconds(axis, n) for n in sizes]
        print(f"{axis:>8}  {'ms':>8}  of what its neighbours predict")
        for k, n in enumerate(sizes):
            for _ in range(AGAIN):
                if found[k] > CLIFF * predicted(sizes, found, k):
                    found[k] = min(found[k], milliseconds(axis, n))
            ratio = found[k] / predicted(sizes, found, k)
            cliffs += ratio > CLIFF
            print(
                f"{n:8}  {found[k]:8.2f}  {'' if ratio == 0 else f'{ratio:.2f}'}{'  a cliff' if ratio > CLIFF else ''}"
            )
    return cliffs


if __name__ == "__main__":
    ad.set_num_threads(1)
    sys.exit(min(main(sys.argv[1:]), 1))
