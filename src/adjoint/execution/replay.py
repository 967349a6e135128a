"""A recorded graph as a function of some of its leaves: numbered and planned once, run with new values each time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.execution.canonical import canonicalize, value_array
from adjoint.execution.evaluate import plan_of, run
from adjoint.graph import Node


class Replay:
    """The values of `roots` for new arrays in place of `leaves` (nodes that hold any value of the right type)."""

    def __init__(self, roots: Sequence[Node], leaves: Sequence[Node]) -> None:
        c = canonicalize(roots)
        self.plan = plan_of(c, list(dict.fromkeys(c.number[x] for x in roots)), False)
        self.values = [value_array(x) for x in c.leaves]
        self.numbers = [v for v, _ in c.numbers]
        place = {x: i for i, x in enumerate(c.leaves)}
        self.places = [place.get(x) for x in leaves]
        order = {number: k for k, (number, _, _, _) in enumerate(self.plan.outputs)}
        self.picks = [order[c.number[x]] for x in roots]

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        values = list(self.values)
        for place, array in zip(self.places, arrays, strict=True):
            if place is not None:
                values[place] = array
        results = run(self.plan, values, self.numbers)
        return [_own(results[k], arrays) for k in self.picks]


def _own(result: Any, arrays: Sequence[Any]) -> Any:
    """The result as an array that isn't the caller's memory."""
    array = np.asarray(result)
    return array.copy() if array.base is not None or any(array is x for x in arrays) else array
