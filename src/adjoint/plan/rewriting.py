"""What passes share that make other steps of a plan's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from adjoint.plan.plan import Plan, Step, step_of
from adjoint.primitives.custom import HOST_CALL


class Rewriting:
    """A plan that is being rewritten: the `types` of its slots and of new ones, and the new `steps`. `single` slots hold one
    number, whatever the shape of their type."""

    def __init__(self, plan: Plan) -> None:
        self.types = list(plan.types)
        self.steps: list[Step] = []
        leaves = len(plan.leaf_types)
        self.single = set(range(leaves, leaves + len(plan.number_types)))
        self.single.update([slot for slot, array in plan.constants.items() if array.ndim == 0])

    def slot(self, type: Any) -> int:
        """A new slot."""
        self.types.append(type)
        return len(self.types) - 1

    def new(self, op: Any, attributes: Any, inputs: tuple[int, ...], type: Any) -> int:
        """The slot of a new step."""
        slot = self.slot(type)
        self.steps.append(step_of(op, attributes, inputs, slot, type))
        return slot


def needed_steps(
    steps: list[Step], outputs: Iterable[int], completed: Callable[[Step], Step] | None = None
) -> list[Step]:
    """The steps that the outputs need, each `completed` once it is known to be. Host code is called whether anybody reads its
    result or not."""
    needed, found = set(outputs), list[Step]()
    for step in reversed(steps):
        if step.output in needed or step.op is HOST_CALL:
            step = step if completed is None else completed(step)
            needed.update(step.inputs)
            found.append(step)
    found.reverse()
    return found
