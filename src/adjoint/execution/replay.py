"""A recorded graph as a function of some of its leaves: numbered and planned once, run with new values each time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint.execution.evaluate import evaluation_lock, located, planned, planned_by_loops, prepared, run
from adjoint.graph import Node
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.donation import is_ours
from adjoint.plan.stores import forwarded
from adjoint.runtime.memory import compact

Rewritten = Callable[[Sequence[Node], Collection[Node], "int | None"], "list[Node] | None"]


class Replay:
    """The values of `roots` for arrays in place of `leaves`, nodes that need no value of their own.

    `unknowns` are the numbers in the graph, in the order in which `run` takes them. What `rewritten` makes of the roots takes
    their place, where it makes anything: see `control.reroll`, which this layer is below. It is told how many nodes there are, if
    that is known.
    """

    def __init__(self, roots: Sequence[Node], leaves: Sequence[Node], rewritten: Rewritten | None = None) -> None:
        given = set(leaves)
        # a plan of its own: what else is computed mustn't depend on whether this was compiled
        by_loops = planned_by_loops(roots, given)
        filled, count = forwarded(roots) if by_loops is None else (None, None)
        if filled is not None:
            roots, count = filled, None
            by_loops = planned_by_loops(roots, given)
        self.by_loops = by_loops is not None  # whether the plan is that of a shorter graph
        if by_loops is None:
            roots = (None if rewritten is None else rewritten(roots, given, count)) or roots
            c, self.executable = planned("replay", roots, given)
        else:
            c, (self.executable, roots) = by_loops
        self.constants = [(k, value_array(x)) for k, x in enumerate(c.leaves) if x not in given]
        place = {x: i for i, x in enumerate(c.leaves)}
        self.count = len(c.leaves)
        self.places = [(place[x], k) for k, x in enumerate(leaves) if x in place]
        self.unknowns = [v for v, _ in c.numbers]
        numbers = {x: i for i, x in enumerate(c.order[: c.roots])}
        outputs = self.executable.plan.outputs
        order = {number: k for k, (number, _, _, _) in enumerate(outputs)}
        self.picks = [order[numbers[x]] for x in roots]
        if self.picks == list(range(len(outputs))):
            self.picks = []  # the results are in order as they come
        self.program = prepared(self.executable, at_once=True)

    def station(self, partners: dict[int, int]) -> Any:
        """The native program's own frame for the caller (see `native.program.Station`), where that will do; else None.

        `partners` are positions of leaves by the positions of roots that would best take their memory.
        """
        make = getattr(self.program, "station", None)
        if self.picks or make is None:
            return None
        found = {position: k for k, position in self.places}
        station = make({root: found[x] for root, x in partners.items() if x in found})
        if station is not None:
            station.hold(self.constants)
        return station

    def run(self, arrays: Sequence[Any], numbers: list[Any]) -> list[Any]:
        """The values of the roots, which may share memory with the arrays."""
        values: list[Any] = [None] * self.count
        for k, value in self.constants:
            values[k] = value
        for k, position in self.places:
            values[k] = arrays[position]
        results = [compact(x) for x in run(self.executable, values, numbers)]
        return [results[k] for k in self.picks] if self.picks else results


def located_anew(error: Exception, roots: Sequence[Node], values: Mapping[Node, Any]) -> Exception:
    """An error that a replay raised with the line that recorded what fails, found in the same graph recorded anew, whose
    leaves get these values."""
    with evaluation_lock():
        c = canonicalize(roots, given=values)
    for node, value in values.items():
        node.value = value
    return located(error, c) or error


def own(results: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    """The results as arrays of their own, where they may be one of these arrays or share memory with it."""
    given = set(map(id, arrays))
    return [x if id(x) not in given and is_ours(x) else np.array(x) for x in results]


def apart(result: Any, arrays: Sequence[Any]) -> Any:
    """The result, or a copy where it may share memory with one of these arrays."""
    return np.array(result) if any([np.may_share_memory(result, x) for x in arrays]) else result
