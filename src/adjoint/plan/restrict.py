"""Of each array only the part that is read is computed.

`logits(x[:, -1])` reads one row of what a network computes for all. Where all readers of an array take the same part along an
axis, that part is all that its step computes: the slice moves before what is elementwise, before products along their rows or
columns, before reductions and movements along other axes, up to what needs the array whole, or reads other elements for each
element. Attention's keys and values stay as they are; its queries, scores and all that comes behind them become a row.

A product of few rows may be added up in another order than one of many, so this is left out under `set_deterministic`. What may
fail (an index out of bounds), draws numbers or calls Python is never left out, nor computed in part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.graph import Operation, array_type
from adjoint.plan.plan import Plan, Step, step_of
from adjoint.plan.rewriting import Rewriting
from adjoint.primitives.contraction import MATMUL
from adjoint.primitives.core import DETACH, IDENTITY, VERSION
from adjoint.primitives.custom import HOST_CALL
from adjoint.primitives.normalized import NORMALIZED
from adjoint.primitives.structural import BROADCAST, CONCAT, PERMUTE, RESHAPE, SLICE
from adjoint.shapes import Shape

FEWEST = 1 << 10  # elements of an array, of which computing a part is worth it
LEAST = 2  # times as much must have been computed: where nearly all is read, all is computed, as it lies


class Part(NamedTuple):
    """`length` elements along an axis, from `start` on, each `by` behind the one before; what lies along other axes is all."""

    axis: int
    start: int
    length: int
    by: int


# For an operation: which part of each input is needed for this part of the result, None for those that are needed whole; and
# the attributes with which it computes that. None where that can't be told.
Needed = tuple[Sequence[Part | None], Any]
Rule = Callable[[Step, Part, Sequence[Shape]], "Needed | None"]


def restricted(plan: Plan) -> Plan:
    """The plan in which steps compute the part of their results that is read; itself where all is. The given plan stays as it
    is."""
    if plan.ordered or not _begins(plan):
        return plan
    found = _Restriction(plan)
    found.ask()
    return found.plan_made() if found.gains else plan


def _begins(plan: Plan) -> bool:
    """Whether there is an array of which all readers are slices that take the same small part, and whose step has a rule: where
    there is none, as in most plans, all is needed whole."""
    slices = [step for step in plan.steps if step.op is SLICE]
    sources = {step.inputs[0] for step in slices}.difference([slot for _, _, slot, _ in plan.outputs])
    if not sources:
        return False
    types = {step.output: step.type for step in plan.steps if step.output in sources and _rule_of(step.op) is not None}
    parts: dict[int, Part | None] = {}
    for step in slices:
        slot = step.inputs[0]
        if slot in types:
            taken = _taken(step, types[slot].shape)
            parts[slot] = taken if slot not in parts or parts[slot] == taken else None
    left = {slot for slot, taken in parts.items() if taken is not None}
    for step in plan.steps if left else ():
        if step.op is not SLICE and not left.isdisjoint(step.inputs):
            left.difference_update(step.inputs)
    return bool(left)


def _taken(step: Step, shape: Shape) -> Part | None:
    """The first part that is small, of those that a slice takes along each axis."""
    for axis, ((start, count, by), n) in enumerate(zip(step.attributes, shape, strict=True)):
        if by >= 1 and count * LEAST <= n:
            return Part(axis, start, count, by)
    return None


class _Restriction(Rewriting):
    """What is read of each slot: `parts` has None for those that are needed whole. `narrowed` are the steps that compute a part,
    with what they need, by their results."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.plan = plan
        self.parts: dict[int, Part | None] = {slot: None for _, _, slot, _ in plan.outputs}
        self.narrowed: dict[int, Needed] = {}
        self.gains = False
        self.same: dict[int, int] = {}  # slices that are all of what is left of an array
        self.sliced: dict[
            int, list[tuple[Part, int]]
        ] = {}  # the parts that were taken of arrays that are there as a whole

    # What is read ----------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        """Go from the results back, and note what is read of each slot."""
        parts = self.parts
        for step in reversed(self.plan.steps):
            slot, inputs = step.output, step.inputs
            if slot not in parts:
                if step.op is not HOST_CALL:
                    continue  # nobody reads it
                parts[slot] = None
            part = parts[slot]
            needed = self.needed(step, part)
            if needed is None:
                parts.update(dict.fromkeys(inputs))
                continue
            self.narrowed[slot] = needed
            computes = part is not None and not (step.op.view or step.op.moves)
            self.gains = self.gains or (computes and step.type.size >= FEWEST)
            for i, own in zip(inputs, needed[0], strict=True):
                if i not in self.single:
                    parts[i] = own if i not in parts or parts[i] == own else None

    def needed(self, step: Step, part: Part | None) -> Needed | None:
        """What a step needs for this part of its result; None if it computes and needs all."""
        rule = _rule_of(step.op) if part is not None or step.op is SLICE else None
        if rule is None or (not step.op.elementwise and not self.single.isdisjoint(step.inputs)):
            return None
        shapes = [() if i in self.single else self.types[i].shape for i in step.inputs]
        if part is None:
            taken = _taken(step, shapes[0])
            return None if taken is None else ([taken], _whole_along(step.attributes, taken.axis, taken.length))
        return rule(step, part, shapes)

    # The steps -------------------------------------------------------------------------------------------------------

    def plan_made(self) -> Plan:
        """The plan with steps that compute parts, and slices of what is whole."""
        plan = self.plan
        sites, steps, same = dict(plan.sites), self.steps, self.same
        for step in plan.steps:
            slot = step.output
            if slot not in self.parts:
                continue
            needed = self.narrowed.get(slot)
            if needed is None or (self.parts[slot] is None and self.is_whole(step.inputs[0])):
                inputs = tuple([same.get(i, i) for i in step.inputs])
                steps.append(step if inputs == step.inputs else step._replace(inputs=inputs))
                continue
            before = len(steps)
            inputs = tuple([self.read(i, part) for i, part in zip(step.inputs, needed[0], strict=True)])
            sites.update([(new.output, sites[slot]) for new in steps[before:] if slot in sites])
            self.narrow(step, inputs, needed[1])
        renamed = {old: same.get(slot, slot) for old, slot in plan.same.items()} | same
        outputs = [(number, index, same.get(slot, slot), kept) for number, index, slot, kept in plan.outputs]
        return plan.with_steps(steps, types=self.types, sites=sites, same=renamed, outputs=outputs)

    def is_whole(self, slot: int) -> bool:
        """Whether all of a slot is computed."""
        return slot not in self.narrowed or self.parts[slot] is None

    def read(self, slot: int, part: Part | None) -> int:
        """The slot of what a step needs of another one, which may have to be taken out of the whole."""
        slot = self.same.get(slot, slot)
        if part is None or slot in self.single or not self.is_whole(slot):
            return slot
        known = self.sliced.setdefault(slot, [])
        for one, found in known:
            if one == part:
                return found
        type = self.types[slot]
        slices: Any = tuple([(0, n, 1) for n in type.shape])
        slices = (*slices[: part.axis], tuple(part[1:]), *slices[part.axis + 1 :])
        found = self.new(SLICE, slices, (slot,), array_type(_shape_of(type.shape, part), type.dtype))
        known.append((part, found))
        return found

    def narrow(self, step: Step, inputs: tuple[int, ...], attributes: Any) -> None:
        """Add a step that computes the part of its result that is read."""
        slot, type = step.output, step.type
        part = self.parts[slot]
        if part is not None:
            type = self.types[slot] = array_type(_shape_of(type.shape, part), type.dtype)
        if step.op is SLICE and all([by == 1 for _, _, by in attributes]) and self.types[inputs[0]].shape == type.shape:
            self.same[slot] = inputs[0]  # what is left of an array is that slice
            return
        self.steps.append(step_of(step.op, attributes, inputs, slot, type))


def _shape_of(shape: Shape, part: Part) -> Shape:
    return (*shape[: part.axis], part.length, *shape[part.axis + 1 :])


# Rules ----------------------------------------------------------------------------------------------------------------


def _along(part: Part, shape: Shape, shapes: Sequence[Shape]) -> list[Part | None]:
    """The parts of inputs that broadcast to a shape: of one that is repeated along the axis all is needed."""
    found: list[Part | None] = []
    for own in shapes:
        axis = part.axis - len(shape) + len(own)
        repeated = axis < 0 or own[axis] != shape[part.axis]
        found.append(None if repeated else part._replace(axis=axis))
    return found


def _elementwise(step: Step, part: Part, shapes: Sequence[Shape]) -> Needed:
    return _along(part, step.type.shape, shapes), step.attributes


def _repeated(step: Step, part: Part, shapes: Sequence[Shape]) -> Needed:
    return _along(part, step.type.shape, shapes), _shape_of(step.type.shape, part)


def _handed_on(step: Step, part: Part, shapes: Sequence[Shape]) -> Needed | None:
    return ([part], step.attributes) if len(shapes) == 1 and len(shapes[0]) == len(step.type.shape) else None


def _permuted(step: Step, part: Part, shapes: Sequence[Shape]) -> Needed:
    return [part._replace(axis=step.attributes[part.axis])], step.attributes


def _product(step: Step, part: Part, shapes: Sequence[Shape]) -> Needed:
    """Rows of the first matrix, columns of the second, or matrices of a batch."""
    rows, columns = len(step.type.shape) - 2, len(step.type.shape) - 1
    return [None if part.axis == columns else part, None if part.axis == rows else part], step.attributes


def _reduced(step: Step, part: Part, shapes: Sequence[Shape]) -> Needed:
    kept = [axis for axis in range(len(shapes[0])) if axis not in step.attributes]
    return [part._replace(axis=kept[part.axis])], step.attributes


def _joined(step: Step, part: Part, shapes: Sequence[Shape]) -> Needed | None:
    return None if part.axis == step.attributes else ([part] * len(shapes), step.attributes)


def _sliced(step: Step, part: Part, shapes: Sequence[Shape]) -> Needed | None:
    axis, begin, count, by = part
    start, _, apart = step.attributes[axis]
    if apart < 1:
        return None
    return [Part(axis, start + begin * apart, count, by * apart)], _whole_along(step.attributes, axis, count)


def _whole_along(slices: Any, axis: int, count: int) -> Any:
    """Slices that take along an axis all there is."""
    return (*slices[:axis], (0, count, 1), *slices[axis + 1 :])


def _reshaped(step: Step, part: Part, shapes: Sequence[Shape]) -> Needed | None:
    """An axis that stays; and one element of an axis that is split from others before it, or becomes one with these, is one in
    every so many: the last position of each text, among all positions of all."""
    axis, start, count, by = part
    shape, given = step.type.shape, shapes[0]
    n, before, behind = shape[axis], math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    found, total = None, 1
    for own, size in enumerate(given):
        if size == n and total == before:
            found = Part(own, start, count, by)
        elif total * size == before * n and math.prod(given[own + 1 :]) == behind:
            if count == 1 and n < size and size % n == 0:
                found = _merged(shape, axis, own, start, total)
            elif size < n and by == size and count * by == n and start < size:
                found = Part(own, start, 1, 1)
        if found is not None:
            return [found], _shape_of(shape, part)
        total = total * size
    return None


def _merged(shape: Shape, axis: int, own: int, start: int, before: int) -> Part | None:
    """One element of an axis, as a part of the axis that it is in with those before it, from the first that has so much before
    it."""
    first, total = 0, 1
    while total != before and first < axis:
        total, first = total * shape[first], first + 1
    return Part(own, start, math.prod(shape[first:axis]), shape[axis]) if total == before else None


HANDED_ON = (IDENTITY, DETACH, VERSION, *NORMALIZED)
_RULES: dict[Operation, Rule] = {
    MATMUL: _product, BROADCAST: _repeated, PERMUTE: _permuted, RESHAPE: _reshaped, SLICE: _sliced, CONCAT: _joined,
    **dict.fromkeys(HANDED_ON, _handed_on),
}  # fmt: skip


def _rule_of(op: Operation) -> Rule | None:
    """The rule of an operation, if it has one."""
    return _elementwise if op.elementwise else _reduced if op.combines else _RULES.get(op)
