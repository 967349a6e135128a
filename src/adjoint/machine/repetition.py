"""Repetition in a program of single numbers: stretches that do the same again and again become loops.

A loop is a stretch of `period` operations, done several times: operation k + period is of the same case as operation k, and
each of its operands lies a fixed stride behind that of the time before: 0, the same number; `period`, what this time or one
before has made; or any other, one cell after the other of what was there before. Nothing changes its place, so a loop
computes what the stretch does, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.machine.numbers import Numbers
from adjoint.plan import matching
from adjoint.plan.matching import Loop

__all__ = ["Loop", "Stretch", "find_loops", "printed", "stretches"]

Array = np.ndarray[Any, Any]


def find_loops(program: Numbers) -> list[Loop]:
    """The loops of a program, in order. They don't overlap; the longest stretches are taken first."""
    free = np.ones(program.size, bool)
    for hosted in program.hosted:  # its elements have no formula
        free[hosted.start : hosted.stop] = False
    return matching.find_loops(program.case, program.operands, free)


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
