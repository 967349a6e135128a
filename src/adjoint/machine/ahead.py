"""What the steps of a loop over small things compute of slices and constants alone, ahead of them: no step waits for another
there, so as many steps at once as a vector has lanes.

In the reverse pass of a loop that is most of the work: of what was remembered before each step, functions and their
derivatives; what one step hands to the next is a few products. Each lane does what the step would have done, so no bit changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adjoint.compiler.loops.build import Emitter, Value
from adjoint.compiler.loops.formulas import is_lowered
from adjoint.compiler.targets.target import target
from adjoint.machine.elements import BodyWriter, Elements
from adjoint.plan.plan import Plan, Step

__all__ = ["Ahead"]

FEWEST_LANES = 4
WORTH = 12  # statements for each number that is handed on: what is less is computed as fast in its step
LONG_LINES = 64  # bits of the elements that lanes are counted by: the widest


class Ahead:
    """What is computed ahead in a loop of steps of this plan; `slices` and `fixed` are the leaves that advance and that don't.

    steps   those computed ahead, and what they are made of
    handed  the slots that other steps read of them, or that are results
    rest    the other steps
    """

    def __init__(self, plan: Plan, slices: Iterable[int], fixed: Iterable[int]) -> None:
        self.plan = plan
        self.lanes = target().vector_bits // LONG_LINES
        made = {step.output: step for step in plan.steps}
        free, advancing, early = {*slices, *fixed, *plan.constants}, set(slices), set[int]()
        for step in plan.steps:
            if not _is_written(plan, step) or not free.issuperset(step.inputs):
                continue
            free.add(step.output)
            if not advancing.isdisjoint(step.inputs):
                advancing.add(step.output)
                if step.op.elementwise and (not step.op.cheap or not early.isdisjoint(step.inputs)):
                    early.add(step.output)
        read = {i for step in plan.steps if step.output not in early for i in step.inputs}
        read |= {slot for _, _, slot, _ in plan.outputs}
        self.handed = sorted(early & read)
        self.steps = _leading_to(plan, made, self.handed, ())
        self.rest = _leading_to(plan, made, [slot for _, _, slot, _ in plan.outputs], self.handed)

    def write(
        self, e: Emitter, turn: str, count: str, first: str, step: str, load: Callable[[int, str], Elements]
    ) -> dict[int, Elements] | None:
        """Write what is computed ahead into the body of a loop of `count` turns, at slices first, first + step, ...; the elements
        of what is handed on, at a turn. `load` gives a leaf's elements given the lowest number of the slices. None where it isn't
        worth it."""
        lanes = self.lanes
        if not self.handed or lanes < FEWEST_LANES:
            return None
        before, known, declared = len(e.body), e.known, list[Any]()
        number = e.index("and", turn, lanes - 1)
        begun = e.index("sub", turn, number)
        length = e.index("umin", e.index("sub", count, begun), lanes)
        start = e.plus(first, e.times(begun, step))
        last = e.plus(start, e.times(e.index("sub", length, 1), step))
        low = e.index("umin", start, last)
        e.lanes, e.known = lanes, {}
        with e.when(e.test("eq", number, 0)), e.masked(e.below(length)):
            writer = BodyWriter(e, self.plan)
            for leaf in self.leaves():
                writer.slots[leaf] = load(leaf, low)
            writer.write(self.steps)
            handed = {slot: writer.slots[slot] for slot in self.handed}
            kept = {x.name: x for y in handed.values() for x in y.items if isinstance(x, Value)}
            written = len(e.body)
            with e.inside(declared):
                slots = {name: e.allocate(x.dtype, lanes) for name, x in kept.items()}
            for name, x in kept.items():
                e.set(slots[name], x)
        e.lanes, e.known = 1, known
        if written < WORTH * len(kept):
            del e.body[before:]
            return None
        e.body[before:before] = declared
        own = e.index("sub", e.plus(first, e.times(turn, step)), low)
        items = {name: e.lane(slots[name], x.dtype, lanes, own) for name, x in kept.items()}
        return {
            slot: Elements([items[x.name] if isinstance(x, Value) else x for x in y.items], y.shape, y.dtype)
            for slot, y in handed.items()
        }

    def leaves(self) -> list[int]:
        """The leaves that what is computed ahead reads."""
        made = {step.output for step in self.steps} | self.plan.constants.keys()
        return sorted({i for step in self.steps for i in step.inputs} - made)


def _is_written(plan: Plan, step: Step) -> bool:
    """Whether a step moves elements, or computes floats of floats, each for itself."""
    if type(step.type) is tuple or any([type(plan.types[i]) is tuple for i in step.inputs]):
        return False
    dtypes = [plan.types[i].dtype.name for i in step.inputs]
    if {step.type.dtype.name, *dtypes} - {"float32", "float64"}:
        return False
    if step.op.rearranges or (step.op.passes_on and not step.op.opaque):
        return True
    return step.op.elementwise and is_lowered(step.op.name, step.attributes, step.type.dtype.name, dtypes)


def _leading_to(plan: Plan, made: dict[int, Step], slots: Sequence[int], known: Sequence[int]) -> list[Step]:
    """The steps on which slots depend, in order, with what is known."""
    needed, stack = set(known), [slot for slot in slots if slot not in known]
    while stack:
        slot = stack.pop()
        if slot not in needed and slot in made:
            needed.add(slot)
            stack += made[slot].inputs
    return [step for step in plan.steps if step.output in needed and step.output not in known]
