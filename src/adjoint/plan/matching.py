"""Stretches of a list that do the same again and again: of nodes, or of operations on single numbers.

An entry of the list is of a kind, `case`, and reads earlier ones, its `operands`. A loop is a stretch of `period` entries, done
several times: entry k + period is of the same kind as entry k, and each of its operands lies a fixed stride behind that of the
time before. Stretches whose kinds repeat are found by hashes of what stands in a window from each entry on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple

__all__ = ["Loop", "find_loops"]

Array = np.ndarray[Any, Any]

WINDOWS = (16, 256, 4096)  # entries that are compared at once
LEAST = 4  # times
SHORTEST = 192  # entries in all
WIDEST = 1500  # entries of a body: more take seconds to compile
MOST_ALIKE = 6  # parts of a body that are of the same kinds one after the other, and read different operands
REST = 0.02  # of the entries that are in no loop: fewer are left alone
MIXED = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))


class Loop(NamedTuple):
    """The entries from `start` on, `period` at a time."""

    start: int
    period: int
    times: int

    @property
    def stop(self) -> int:
        """Behind the last entry."""
        return self.start + self.period * self.times


class _Candidate(NamedTuple):
    start: int
    stop: int
    period: int


def find_loops(
    case: Array, operands: Array, free: Array | None = None, shortest: int = SHORTEST, rest: float = REST,
    widest: int = WIDEST, windows: Sequence[int] = WINDOWS,
) -> list[Loop]:  # fmt: skip
    """The loops of a list, in order, where it is `free`, of so many entries at least, with so many in a
    body at most. They don't overlap; those that repeat over the widest windows are taken first, of these the longest. Narrower
    windows are for what is left, if that is more than this part of the list."""
    if len(case) < shortest:
        return []
    taken: list[Loop] = []
    free = np.ones(len(case), bool) if free is None else free
    for window in reversed(windows):
        for candidate in sorted(
            _candidates(case, window, shortest, widest), key=lambda c: (c.start - c.stop, c.period)
        ):
            for times in range(1, MOST_ALIKE + 1):
                whole = candidate._replace(period=times * candidate.period)
                if whole.period > widest:
                    break
                for start, stop in _free_parts(free, whole, shortest):
                    for loop in _verified(case[start:stop], operands[start:stop], start, whole.period, shortest):
                        taken.append(loop)
                        free[loop.start : loop.stop] = False
        if np.count_nonzero(free) < max(shortest, rest * len(case)):
            break
    return sorted(taken)


def _candidates(case: Array, window: int, shortest: int, widest: int) -> list[_Candidate]:
    """Stretches whose cases repeat at some distance."""
    if len(case) < 2 * window:
        return []
    codes = _codes(case, window)
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    same = codes[1:] == codes[:-1]
    gap = np.zeros(len(codes), np.int64)
    del codes
    gap[order[:-1][same]] = (order[1:] - order[:-1])[same]
    edges = np.flatnonzero(np.diff(gap)) + 1
    starts, stops = np.concatenate([[0], edges]), np.concatenate([edges, [len(gap)]])
    gaps = gap[starts]
    good = (gaps > 0) & (gaps <= widest) & (stops - starts + gaps + window >= shortest)
    found = [
        _Candidate(start, stop + period + window - 1, period)
        for start, stop, period in zip(starts[good].tolist(), stops[good].tolist(), gaps[good].tolist(), strict=True)
    ]
    return [x for x in found if x.stop - x.start >= LEAST * x.period]


def _codes(case: Array, window: int) -> Array:
    """A hash of the cases in the window from each entry on."""
    with np.errstate(over="ignore"):
        codes = case.astype(np.uint64) * MIXED[0] + MIXED[1]
        codes ^= codes >> np.uint64(29)
        width = 1
        while width < window:
            codes = (codes[:-width] * MIXED[0]) ^ (codes[width:] * MIXED[1] + (codes[width:] >> np.uint64(31)))
            width *= 2
    return codes


def _free_parts(free: Array, candidate: _Candidate, shortest: int) -> list[tuple[int, int]]:
    """The parts of a candidate that no loop has."""
    part = free[candidate.start : candidate.stop]
    if part.all():
        return [(candidate.start, candidate.stop)]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], part, [False]]).astype(np.int8))) + candidate.start
    least = max(shortest, LEAST * candidate.period)
    return [(a, b) for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True) if b - a >= least]


def _verified(case: Array, operands: Array, start: int, period: int, shortest: int) -> Iterator[Loop]:
    """The loops of a period in the stretch from `start` on: where operands advance by fixed strides."""
    if len(case) < 3 * period:
        return
    stride = operands[period:] - operands[:-period]
    fits = (stride[period:] == stride[:-period]).all(axis=1)
    fits &= case[2 * period :] == case[period:-period]
    fits &= case[period:-period] == case[: -2 * period]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], fits, [False]]).astype(np.int8)))
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        count = (b - a) // period + 2
        if count >= LEAST and count * period >= shortest:
            yield Loop(start + a, period, count)
