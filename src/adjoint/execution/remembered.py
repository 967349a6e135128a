"""What is remembered of graphs that were evaluated: their plans, within so many bytes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from adjoint.graph import Node
from adjoint.plan.canonical import Canonical
from adjoint.plan.executable import Executable
from adjoint.plan.recognised import Recognizer, comes_with_code, recognizer

LIMIT = 1 << 28  # bytes of plans, with their programs and what these own
OFTEN = 32  # times
SOON = 8  # times, where native code needn't be compiled
MOST_ALIKE = 3  # graphs with roots of one kind that are recognised


class Remembered:
    """The plans of one graph by what they compute of it: (numbers of nodes, whether also what a reverse pass will read).

    `last` has the reference counts that the last evaluation found and the plan it took: the graph and its counts say who
    holds what of it, and so decide what to compute. `met` counts how often the last plan was taken again; where that is often,
    `recognizer` finds the graph without its key.
    """

    __slots__ = ("last", "met", "plans", "recognizer")

    def __init__(self) -> None:
        self.plans: dict[Any, Executable] = {}
        self.last: tuple[list[int] | None, Executable | None] = (None, None)
        self.met = 0
        self.recognizer: Recognizer | None = None


class PlanCache:
    """What is remembered of graphs by their keys, the least recently met forgotten first. Used under the evaluation lock."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.graphs: OrderedDict[Any, Remembered] = OrderedDict()
        self.nbytes = 0
        self.often: dict[Any, list[tuple[Any, Remembered]]] = {}  # by what is said of roots, the last that was met last

    def get(self, key: Any) -> Remembered | None:
        found = self.graphs.get(key)
        if found is not None:
            self.graphs.move_to_end(key)
        return found

    def met_again(self, key: Any, graph: Remembered, c: Canonical, native: bool) -> None:
        """Note that a graph was found by its key, and its last plan taken again. `native` code may find it from now on."""
        graph.met += 1
        due = graph.met % OFTEN == 0 or (graph.met == SOON and native and comes_with_code())
        if due and graph.recognizer is None and self.graphs.get(key) is graph:
            graph.recognizer = recognizer(c, native)
            if graph.recognizer is not None:
                found = self.often.setdefault(_kind(c.order[: c.roots], key[-1]), [])
                if len(found) == MOST_ALIKE:
                    found.pop(0)[1].recognizer = None
                found.append((key, graph))

    def recognised(self, roots: list[Node], native: bool, setting: Any) -> tuple[Remembered, Any] | None:
        """What is remembered of a graph that was met often, by its roots, and what its recognizer found. `native` code may find
        it."""
        known = self.often.get(_kind(roots, setting))
        if not known:
            return None
        for i in range(len(known) - 1, -1, -1):
            key, graph = known[i]
            recognizer = graph.recognizer
            if recognizer is None or recognizer.credit <= 0:
                graph.recognizer = None
                del known[i]
                continue
            if recognizer.noted is not graph.last:
                recognizer.note(graph.last)
            found = recognizer.look(roots)
            if found is not None:
                if i < len(known) - 1:
                    known.append(known.pop(i))
                graph.met += 1
                if graph.met % OFTEN == 0:
                    if self.get(key) is not graph:  # it counts as met by its key, now and then
                        graph.recognizer = None
                    elif native:
                        recognizer.improve(graph.met)
                return graph, found
        return None

    def put(self, key: Any, computed: Any, executable: Executable) -> None:
        """Remember a plan and how it runs."""
        graph = self.graphs.get(key) or Remembered()
        graph.plans[computed] = executable
        self.graphs[key] = graph
        executable.remembered = 0
        self.weigh(executable)

    def weigh(self, executable: Executable) -> None:
        """Count what a plan takes now: its program was made, or made anew. Forget others where that is too much."""
        if executable.remembered is None:
            return
        nbytes = executable.nbytes
        self.nbytes += nbytes - executable.remembered
        executable.remembered = nbytes
        while self.nbytes > self.limit and len(self.graphs) > 1:
            _, old = self.graphs.popitem(last=False)
            if old.recognizer is not None:
                for found in self.often.values():
                    found[:] = [(key, graph) for key, graph in found if graph is not old]
            for forgotten in old.plans.values():
                self.nbytes -= forgotten.remembered or 0
                forgotten.remembered = None


def _kind(roots: list[Node], setting: Any) -> tuple[Any, ...]:
    """What is seen of a graph at its roots, and the setting that its key ends with."""
    first = roots[0]
    return len(roots), first.op, first.type, setting
