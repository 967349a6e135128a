"""What is remembered of graphs that were evaluated: their plans, within so many bytes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from adjoint.plan.plan import Plan

LIMIT = 1 << 28  # bytes of plans, with their programs and what these own


class Remembered:
    """The plans of one graph by what they compute of it: (numbers of nodes, whether also what a reverse pass will read).

    `last` has the reference counts that the last evaluation found and the plan it took: the graph and its counts say who
    holds what of it, and so decide what to compute.
    """

    __slots__ = ("last", "plans")

    def __init__(self) -> None:
        self.plans: dict[Any, Plan] = {}
        self.last: tuple[list[int] | None, Plan | None] = (None, None)


class PlanCache:
    """What is remembered of graphs by their keys, the least recently met forgotten first. Used under the evaluation lock."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.graphs: OrderedDict[Any, Remembered] = OrderedDict()
        self.nbytes = 0

    def get(self, key: Any) -> Remembered | None:
        found = self.graphs.get(key)
        if found is not None:
            self.graphs.move_to_end(key)
        return found

    def put(self, key: Any, computed: Any, plan: Plan) -> None:
        """Remember a plan."""
        graph = self.graphs.get(key) or Remembered()
        graph.plans[computed] = plan
        self.graphs[key] = graph
        plan.remembered = 0
        self.weigh(plan)

    def weigh(self, plan: Plan) -> None:
        """Count what a plan takes now: its program was made, or made anew. Forget others where that is too much."""
        if plan.remembered is None:
            return
        nbytes = plan.nbytes
        self.nbytes += nbytes - plan.remembered
        plan.remembered = nbytes
        while self.nbytes > self.limit and len(self.graphs) > 1:
            _, old = self.graphs.popitem(last=False)
            for forgotten in old.plans.values():
                self.nbytes -= forgotten.remembered or 0
                forgotten.remembered = None
