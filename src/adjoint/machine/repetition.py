"""Repetition in a program of single numbers: stretches that do the same again and again become loops.

A loop is a stretch of `period` operations, done several times: operation k + period is of the same case as operation k, and
each of its operands lies a fixed stride behind that of the time before: 0, the same number; `period`, what this time or one
before has made; or any other, one cell after the other of what was there before. Nothing changes its place, so a loop
computes what the stretch does, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from adjoint.machine.numbers import Numbers

__all__ = ["Loop", "Stretch", "find_loops", "printed", "stretches"]

Array = np.ndarray[Any, Any]

WINDOWS = (16, 256, 4096)  # operations that are compared at once
LEAST = 4  # times
SHORTEST = 192  # operations in all
WIDEST = 1500  # operations of a body: more take seconds to compile
MIXED = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))


class Loop(NamedTuple):
    """The operations from `start` on, `period` at a time."""

    start: int
    period: int
    times: int

    @property
    def stop(self) -> int:
        """Behind the last operation."""
        return self.start + self.period * self.times


class _Candidate(NamedTuple):
    start: int
    stop: int
    period: int


def find_loops(program: Numbers) -> list[Loop]:
    """The loops of a program, in order. They don't overlap; the longest stretches are taken first."""
    case = program.case
    if len(case) < SHORTEST:
        return []
    taken: list[Loop] = []
    waiting = sorted(_candidates(case), key=lambda c: (c.start - c.stop, c.period))
    free = np.ones(len(case), bool)
    for hosted in program.hosted:  # its elements have no formula
        free[hosted.start : hosted.stop] = False
    for candidate in waiting:
        for start, stop in _free_parts(free, candidate):
            for loop in _verified(program, start, stop, candidate.period):
                taken.append(loop)
                free[loop.start : loop.stop] = False
    return sorted(taken)


def _candidates(case: Array) -> Iterator[_Candidate]:
    """Stretches whose cases repeat at some distance."""
    seen = set()
    with np.errstate(over="ignore"):
        codes = case.astype(np.uint64) * MIXED[0] + MIXED[1]
        codes ^= codes >> np.uint64(29)
        width = 1
        for window in WINDOWS:
            while width < window and len(codes) > 2 * width:
                codes = (codes[:-width] * MIXED[0]) ^ (codes[width:] * MIXED[1] + (codes[width:] >> np.uint64(31)))
                width *= 2
            if width < window:
                return
            order = np.argsort(codes, kind="stable")
            same = codes[order[1:]] == codes[order[:-1]]
            gap = np.zeros(len(codes), np.int64)
            gap[order[:-1][same]] = (order[1:] - order[:-1])[same]
            edges = np.flatnonzero(np.diff(gap)) + 1
            starts, stops = np.concatenate([[0], edges]), np.concatenate([edges, [len(gap)]])
            gaps = gap[starts]
            good = (gaps > 0) & (gaps <= WIDEST) & (stops - starts + gaps + width >= SHORTEST)
            for start, stop, period in zip(
                starts[good].tolist(), stops[good].tolist(), gaps[good].tolist(), strict=True
            ):
                found = _Candidate(start, stop + period + width - 1, period)
                if found.stop - found.start >= LEAST * period and found not in seen:
                    seen.add(found)
                    yield found


def _free_parts(free: Array, candidate: _Candidate) -> list[tuple[int, int]]:
    """The parts of a candidate that no loop has."""
    part = free[candidate.start : candidate.stop]
    if part.all():
        return [(candidate.start, candidate.stop)]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], part, [False]]).astype(np.int8))) + candidate.start
    least = max(SHORTEST, LEAST * candidate.period)
    return [(a, b) for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True) if b - a >= least]


def _verified(program: Numbers, start: int, stop: int, period: int) -> Iterator[Loop]:
    """The loops of a period in a stretch: where operands advance by fixed strides."""
    case, operands = program.case[start:stop], program.operands[start:stop]
    if len(case) < 3 * period:
        return
    stride = operands[period:] - operands[:-period]
    fits = (stride[period:] == stride[:-period]).all(axis=1)
    fits &= case[2 * period :] == case[period:-period]
    fits &= case[period:-period] == case[: -2 * period]
    edges = np.flatnonzero(np.diff(np.concatenate([[False], fits, [False]]).astype(np.int8)))
    for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        count = (b - a) // period + 2
        if count >= LEAST and count * period >= SHORTEST:
            yield Loop(start + a, period, count)


class Stretch(NamedTuple):
    """Some operations, done so many times; `operations` has how many there are of each name, the most frequent first."""

    start: int
    stop: int
    times: int
    operations: dict[str, int]

    @property
    def label(self) -> str:
        """How often it is done."""
        return "once" if self.times == 1 else f"{self.times:,} times"


def stretches(program: Numbers, loops: Sequence[Loop]) -> list[Stretch]:
    """The whole program in order: what is done once, and what is done how often."""
    found, at = [], 0
    for loop in [*loops, Loop(program.size, 0, 0)]:
        if loop.start > at:
            found.append(Stretch(at, loop.start, 1, _named(program, at, loop.start)))
        if loop.times:
            names = _named(program, loop.start, loop.start + loop.period)
            found.append(Stretch(loop.start, loop.stop, loop.times, names))
        at = loop.stop
    return found


def printed(program: Sequence[Stretch]) -> str:
    """A program as text, a line for each stretch."""
    lines = []
    for found in program:
        parts = [name if count == 1 else f"{name}·{count}" for name, count in found.operations.items()]
        lines.append(f"{found.label}: {sum(found.operations.values()):,} operations ({' '.join(parts)})")
    return "\n".join(lines)


def _named(program: Numbers, start: int, stop: int) -> dict[str, int]:
    """How many operations of each name there are."""
    names: dict[str, int] = {}
    kinds, counts = np.unique(program.case[start:stop], return_counts=True)
    for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True):
        name = program.cases[kind].name
        names[name] = names.get(name, 0) + count
    return dict(sorted(names.items(), key=lambda x: -x[1]))
