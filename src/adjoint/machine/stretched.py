"""A program of single numbers for a graph of very many equal steps, from those of three shorter graphs (see `plan.repeated`).

The programs of n and n + 1 times fall into the same loops, and stretches between them. Whatever a stretch or the first time of a
loop reads lies as much farther in the second program as one time takes, or where it was; so for all times it lies as many times
that farther. The program of n + 2 times must be what follows for it, to the last cell; else nothing is concluded.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.machine.numbers import Numbers
from adjoint.machine.repetition import find_loops
from adjoint.plan.matching import Loop

__all__ = ["extrapolated"]

Array = np.ndarray[Any, Any]
Part = tuple[Array, Array, Array, int, int]  # cases, operands the first time, strides, times, times more


def extrapolated(programs: Sequence[Numbers], more: int) -> tuple[Numbers, list[Loop]] | None:
    """The program of n + `more` times, and its loops, from those of n, n + 1 and n + 2; None where they don't say."""
    first, second, third = programs
    parts = _parts(first, find_loops(first), second, find_loops(second))
    if parts is None:
        return None
    checked, _ = _put_together(parts, first, second, 2)
    if not _are_equal(checked, third):
        return None
    return _put_together(parts, first, second, more)


def _parts(first: Numbers, loops: list[Loop], second: Numbers, longer: list[Loop]) -> list[tuple[Part, Part]] | None:
    """The same part of both programs, in order: loops, and what stands between them."""
    if len(loops) != len(longer) or not _are_alike(first, second):
        return None
    pairs: list[tuple[Part, Part]] = []
    at = [0, 0]
    ends = [Loop(first.size, 0, 0), Loop(second.size, 0, 0)]
    for one, other in zip([*loops, ends[0]], [*longer, ends[1]], strict=True):
        grown = other.times - one.times
        if one.start - at[0] != other.start - at[1] or one.period != other.period or grown not in (0, 1):
            return None
        pairs.append((_straight(first, at[0], one.start), _straight(second, at[1], other.start)))
        if one.period:
            pairs.append((_repeated(first, one, grown), _repeated(second, other, grown)))
        at = [one.stop, other.stop]
    if any([not (a[0] == b[0]).all() or not (a[2] == b[2]).all() for a, b in pairs]):
        return None
    return pairs


def _straight(program: Numbers, start: int, stop: int) -> Part:
    operands = program.operands[start:stop]
    return program.case[start:stop], operands, np.zeros_like(operands), 1, 0


def _repeated(program: Numbers, loop: Loop, grown: int) -> Part:
    start, middle, stop = loop.start, loop.start + loop.period, loop.start + 2 * loop.period
    operands = program.operands[start:middle]
    return program.case[start:middle], operands, program.operands[middle:stop] - operands, loop.times, grown


def _are_alike(a: Numbers, b: Numbers) -> bool:
    """Whether two programs are given the same, and give results of the same types."""
    return (
        not a.hosted
        and not b.hosted
        and a.cases == b.cases
        and (a.first, a.leaves, a.numbers) == (b.first, b.leaves, b.numbers)
        and repr(a.constants) == repr(b.constants)
        and [(s, d, len(c)) for s, d, c in a.outputs] == [(s, d, len(c)) for s, d, c in b.outputs]
    )


def _are_equal(a: Numbers, b: Numbers) -> bool:
    outputs = itertools.chain([(a.case, b.case), (a.operands, b.operands)],
                              [(x, y) for (_, _, x), (_, _, y) in zip(a.outputs, b.outputs, strict=False)])  # fmt: skip
    return _are_alike(a, b) and all([np.array_equal(x, y) for x, y in outputs])


def _put_together(
    parts: list[tuple[Part, Part]], first: Numbers, second: Numbers, more: int
) -> tuple[Numbers, list[Loop]]:
    counts = [times + more * grown for (_, _, _, times, grown), _ in parts]
    total = sum([len(pair[0][0]) * times for pair, times in zip(parts, counts, strict=True)])
    cases, operands = np.empty(total, first.case.dtype), np.empty((total, 3), first.operands.dtype)
    loops: list[Loop] = []
    at = 0
    for ((case, reads, stride, _, _), (_, later, _, _, _)), times in zip(parts, counts, strict=True):
        if len(case) and (times > 1 or stride.any()):
            loops.append(Loop(at, len(case), times))
        behind = at + len(case) * times
        cases[at:behind].reshape(times, len(case))[:] = case
        whole = operands[at:behind].reshape(
            times, len(case), 3
        )  # written where it stays: it may be a hundred megabytes
        np.multiply(np.arange(times, dtype=operands.dtype)[:, None, None], stride, out=whole)
        whole += reads + more * (later - reads)
        at = behind
    outputs = [
        (shape, dtype, cells + more * (later - cells))
        for (shape, dtype, cells), (_, _, later) in zip(first.outputs, second.outputs, strict=True)
    ]
    found = first._replace(case=cases, operands=operands, outputs=outputs)
    return found, loops
