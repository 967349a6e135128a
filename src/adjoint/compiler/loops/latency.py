"""The order of statements in an innermost loop: those first on which most waits.

A processor looks ahead for what it can begin, but only so far: as many results as it has registers for. Formulas are written one
behind the other, each a chain in which every operation waits for the one before. In the order of how long what follows takes,
chains that don't depend on each other go side by side. Nothing else changes, and no bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adjoint.compiler.loops import ir as L
from adjoint.plan.order import first_ready

SHORTEST = 40  # statements from which their order matters
CYCLES = {"fdiv": 12, "llvm.sqrt": 12, "llvm.ldexp": 8}  # until a result can be used
USUAL = 4  # of other operations on vectors
PLAIN = (L.Op, L.Cast, L.Load, L.Single, L.Store, L.Spread, L.Get, L.Set)


def longest_first(body: Sequence[Any]) -> list[Any]:
    """The statements in that order, between those that are more than a result or a store."""
    found: list[Any] = []
    run: list[Any] = []
    for statement in body:
        if isinstance(statement, PLAIN) and not _decides(statement):
            run.append(statement)
        else:
            found += [*_ordered(run), statement]
            run = []
    return found + _ordered(run)


def _decides(statement: Any) -> bool:
    """Whether a statement asks something of numbers, chooses one of them, or reads or writes one."""
    if statement.lanes if isinstance(statement, L.Op | L.Load | L.Store) else True:
        return False
    return not isinstance(statement, L.Op) or statement.dtype == "i1" or statement.op.startswith(("icmp", "select"))


def _ordered(run: list[Any]) -> list[Any]:
    if len(run) < SHORTEST:
        return run
    waiting, readers = _dependencies(run)
    height = [0] * len(run)
    for k in reversed(range(len(run))):
        statement = run[k]
        own = CYCLES.get(statement.op, USUAL) if isinstance(statement, L.Op) and statement.lanes else 1
        height[k] = own + max([height[j] for j in readers[k]], default=0)
    return [run[k] for k in first_ready(waiting, readers, [-n for n in height])]


def _dependencies(run: Sequence[Any]) -> tuple[list[int], list[list[int]]]:
    """For each statement how many it must come behind, and which must come behind it: who reads what it makes; of loads and
    stores, and of what a variable holds, those after it."""
    made: dict[str, int] = {}  # by name; of a variable, who read or set it last
    waiting, readers = [0] * len(run), [list[int]() for _ in run]
    loads: list[int] = []
    stored: list[int] = []  # the last store
    for k, statement in enumerate(run):
        before = {made[name] for name in _names(statement) if name in made}
        if isinstance(statement, L.Store):
            before.update(loads, stored)
            stored, loads = [k], []
        elif isinstance(statement, L.Load | L.Single):
            before.update(stored)
            loads.append(k)
        if isinstance(statement, L.Get | L.Set):
            made[statement.variable] = k
        if not isinstance(statement, L.Store | L.Set):
            made[statement.to] = k
        waiting[k] = len(before)
        for j in before:
            readers[j].append(k)
    return waiting, readers


def _names(statement: Any) -> Iterator[str]:
    """All that a statement mentions, names among it."""
    for x in statement:
        if isinstance(x, str):
            yield x
        elif type(x) is tuple:
            yield from [y for y in x if isinstance(y, str)]
