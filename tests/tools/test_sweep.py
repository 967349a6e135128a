"""The sweep for cliffs finds one wherever it lies: a size that is slow alone, and one from which on all are; and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from benchmarks.sweep import AXES, CLIFF, GROWTH, predicted


def cliffs(axis: str, sizes: Sequence[int], found: Sequence[float]) -> list[int]:
    return [n for k, n in enumerate(sizes) if found[k] > CLIFF * predicted(sizes, found, k, GROWTH[axis])]


COSTS: dict[str, Callable[[int], float]] = {
    "a constant": lambda n: 1.0,
    "work beside a constant": lambda n: 2.0 + 0.1 * n,
    "work": lambda n: 0.03 * n,
    "rows beside work": lambda n: 0.4 + 0.1 * n,
}


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("axis", AXES)
def test_every_cliff_is_found_and_nothing_else(axis: str, cost: str) -> None:
    sizes = AXES[axis]
    smooth = [COSTS[cost](n) for n in sizes]
    if GROWTH[axis] == 2:
        smooth = [one + 1e-3 * n * n for one, n in zip(smooth, sizes, strict=True)]
    assert cliffs(axis, sizes, smooth) == []
    for k, n in enumerate(sizes):
        alone = [*smooth[:k], 6 * smooth[k], *smooth[k + 1 :]]
        assert n in cliffs(axis, sizes, alone), f"{n} alone takes six times as long"
        from_there = [*smooth[:k], *[6 * one for one in smooth[k:]]]
        if k:
            assert cliffs(axis, sizes, from_there) == [n], f"from {n} on all take six times as long"
