"""Small exact simplifications of a plan, each with its name. Native code runs the simplified plan, the interpreter the plan as
it was recorded, so comparing the two checks these as well.

A rule looks at one step whose inputs are simplified already, and says which slot has its value, what simpler step computes
it, or nothing. Every rule keeps every bit, the signs of zeros included, but for one: a product that treats zero times infinity as
zero becomes a plain one where a factor is a finite constant, and gives -0 for 0 where a negative factor meets a zero.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container
from itertools import chain
from typing import Any

import numpy as np

from adjoint.graph import PRIMITIVES, ArrayType, array_type
from adjoint.plan.assemble import Parts, assembled, note_embedded, sum_of_embedded
from adjoint.plan.bands import Bands
from adjoint.plan.extremes import first_extreme
from adjoint.plan.overlapping import layered
from adjoint.plan.plan import Plan, Step, step_of
from adjoint.plan.rewriting import Rewriting, needed_steps
from adjoint.plan.shifts import part_of_shifted
from adjoint.primitives.structural import BROADCAST, EMBED, RESHAPE

LARGEST_FOLDED = 1 << 10  # elements of a constant array that is computed when compiling


class Simplifier(Rewriting):
    """The steps simplified so far: `producer` has the step behind each slot, `same` the slot that stands for another."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.constants = dict(plan.constants)
        self.producer: dict[int, Step] = {}
        self.same: dict[int, int] = {}
        self.bands = Bands(self)
        self.embedded: dict[int, Parts] = {}  # arrays put into zeros, and sums of them
        self.outer: set[int] = set()  # multiplications that were products
        self.numbers = {slot: array.item() for slot, array in plan.constants.items() if array.ndim == 0}
        self.reads = Counter(chain.from_iterable([step.inputs for step in plan.steps]))
        self.reads.update([slot for _, _, slot, _ in plan.outputs])
        self.renamed, self.known = self.same.keys(), self.numbers.keys()

    def number(self, slot: int) -> Any:
        """The number that a slot is known to hold everywhere; None if there is none."""
        return self.numbers.get(slot)

    def behind(self, slot: int, name: str) -> Step | None:
        """The step of this name that computes a slot."""
        step = self.producer.get(slot)
        return step if step is not None and step.op.name == name else None

    def stands_for(self, slot: int, step: Step) -> bool:
        """Whether a slot has the type of the step's result, in full."""
        t = self.types[slot]
        return slot not in self.single and t.shape == step.type.shape and t.dtype is step.type.dtype

    def emit(self, name: str, attributes: Any, inputs: tuple[int, ...], type: ArrayType) -> int:
        """The slot of a step that wasn't recorded."""
        slot = self.slot(type)
        self.add(made(name, attributes, inputs, slot, type))
        return self.same.get(slot, slot)

    def add(self, step: Step) -> None:
        """Simplify a step and all that it becomes."""
        op, _, _, _, inputs, output, _ = step
        if not self.renamed.isdisjoint(inputs):
            inputs = tuple([self.same.get(i, i) for i in inputs])
            step = step._replace(inputs=inputs)
        if op.name in WITHOUT_NUMBERS or not self.known.isdisjoint(inputs):
            found = self.rewritten(step)
            if found.__class__ is int:
                if found != output:
                    self.same[output] = found
                return
            step = found  # type: ignore[assignment]
            op = step.op
        if (op is RESHAPE or self.bands.found) and self.bands.take(step):
            return
        self.steps.append(step)
        self.producer[output] = step
        if op is EMBED:
            note_embedded(self, step)

    def rewritten(self, step: Step) -> int | Step:
        """What a step becomes by the rules, each in its turn: another step, or a slot that has its value."""
        numbers, inputs = self.numbers, step.inputs
        if self.known.isdisjoint(inputs):
            rules = WITHOUT_NUMBERS.get(step.op.name)
        else:
            if inputs[0] in numbers and inputs[-1] in numbers and all([i in numbers for i in inputs]):
                folded = None if type(step.type) is tuple else fold_constants(self, step)  # a loop has several results
                if folded is not None:
                    return folded
            rules = BY_NAME.get(step.op.name)
        if rules is None:
            return step
        at = 0
        while at < len(rules):
            turn, rule = rules[at]
            at += 1
            found = rule(self, step)
            if found is None:
                continue
            if found.__class__ is int:
                return found
            step = found  # type: ignore[assignment]
            rules, at = [later for later in BY_NAME.get(step.op.name, ()) if later[0] > turn], 0
        return step

    def constant(self, number: float, type: ArrayType) -> int:
        """The slot of a number that stands for an array of it."""
        slot = self.slot(type)
        self.constants[slot] = np.asarray(number, type.dtype.dtype)
        self.numbers[slot] = number
        self.single.add(slot)
        return slot


def made(name: str, attributes: Any, inputs: tuple[int, ...], output: int, type: ArrayType) -> Step:
    """A step of the operation of a name."""
    return step_of(PRIMITIVES[name], attributes, inputs, output, type)


Rule = Callable[[Simplifier, Step], "int | Step | None"]


def fold_constants(s: Simplifier, step: Step) -> int | None:
    """A small step on numbers alone is computed now."""
    if not step.op.elementwise or step.type.size > LARGEST_FOLDED:
        return None
    numbers = [s.number(i) for i in step.inputs]
    if not numbers or any(number is None for number in numbers):
        return None
    given = [np.asarray(n, s.types[i].dtype.dtype) for n, i in zip(numbers, step.inputs, strict=True)]
    with np.errstate(all="ignore"):
        value = np.asarray(step.masked(*given), step.type.dtype.dtype)
    s.constants[step.output] = np.full(step.type.shape, value)
    s.numbers[step.output] = value.item()
    return step.output


def moved_number(s: Simplifier, step: Step) -> None:
    """A number that is repeated or reshaped is known to be that number; the movement stays, it costs nothing."""
    if step.op in (BROADCAST, RESHAPE) and step.inputs[0] in s.numbers:
        s.numbers[step.output] = s.numbers[step.inputs[0]]


def factor_one(s: Simplifier, step: Step) -> int | None:
    """x·1, 1·x, x/1 and x¹ are x."""
    name, inputs, numbers = step.op.name, step.inputs, s.numbers
    if name == "power_constant":
        one = step.attributes == 1 and step.type.dtype.kind in "fiu" and s.stands_for(inputs[0], step)
        return inputs[0] if one else None
    if numbers.keys().isdisjoint(inputs) or step.type.dtype.kind not in "fiu":
        return None
    for x, one in (inputs, inputs[::-1]):
        if numbers.get(one) == 1 and s.stands_for(x, step) and (name == "multiply" or one == inputs[1]):
            return x
    return None


def term_zero(s: Simplifier, step: Step) -> int | None:
    """x - 0 and x + -0 are x, and x + 0 among integers; with floats -0 + 0 is 0, so that one stays."""
    if s.numbers.keys().isdisjoint(step.inputs) or step.type.dtype.kind not in "fiu":
        return None
    pairs = [step.inputs] if step.op.name == "subtract" else [step.inputs, step.inputs[::-1]]
    for x, zero in pairs:
        number = s.number(zero)
        if number == 0 and s.stands_for(x, step):
            negative = math.copysign(1.0, number) < 0
            if step.type.dtype.kind != "f" or negative == (step.op.name == "add"):
                return x
    return None


def twice_is_not_at_all(s: Simplifier, step: Step) -> int | None:
    """Two negations, or two inversions of truth values, are none."""
    before = s.behind(step.inputs[0], step.op.name)
    return before.inputs[0] if before is not None and s.stands_for(before.inputs[0], step) else None


def there_and_back(s: Simplifier, step: Step) -> int | None:
    """A float made wider and then narrow again is as it was."""
    if step.op.name != "astype":
        return None
    before = s.behind(step.inputs[0], "astype")
    if before is None or not s.stands_for(before.inputs[0], step) or step.type.dtype.kind != "f":
        return None
    return (
        before.inputs[0]
        if before.type.dtype.kind == "f" and before.type.dtype.itemsize > step.type.dtype.itemsize
        else None
    )


def one_movement(s: Simplifier, step: Step) -> int | Step | None:
    """Two transposes or two reshapes are one, or none."""
    name, source = step.op.name, step.inputs[0] if step.inputs else -1
    if name == "reshape":
        before = s.behind(source, name)
        first = source if before is None else before.inputs[0]
        if s.stands_for(first, step):
            return first
        if before is not None and first not in s.single:
            return made(name, step.attributes, (first,), step.output, step.type)
    if name == "permute_dims":
        before = s.behind(source, name)
        if before is not None and before.inputs[0] not in s.single:
            axes = tuple([before.attributes[a] for a in step.attributes])
            if axes == tuple(range(len(axes))):
                return before.inputs[0]
            return made(name, axes, (before.inputs[0],), step.output, step.type)
    return None


def choice_of_one(s: Simplifier, step: Step) -> int | None:
    """where(c, x, x) is x, and so is where with a condition that is known."""
    if step.op.name != "where":
        return None
    condition, x, y = step.inputs
    known = s.number(condition)
    chosen = x if x == y or known is True else y if known is False else None
    return chosen if chosen is not None and s.stands_for(chosen, step) else None


def finite_factor(s: Simplifier, step: Step) -> Step | None:
    """A product in which zero times infinity is zero needs no care where one factor is a constant that is neither."""
    if s.numbers.keys().isdisjoint(step.inputs) or step.type.dtype.kind != "f":
        return None
    numbers = [n for n in map(s.number, step.inputs) if n is not None]
    if not any(n != 0 and math.isfinite(n) for n in numbers):
        return None
    return made("multiply", None, step.inputs, step.output, step.type)


def transposed(s: Simplifier, slot: int) -> int:
    """The slot with the last two axes of another exchanged."""
    type = s.types[slot]
    *lead, n, m = range(len(type.shape))
    return s.emit(
        "permute_dims", (*lead, m, n), (slot,), array_type((*type.shape[:-2], *type.shape[:-3:-1]), type.dtype)
    )


def transposed_sum(s: Simplifier, step: Step) -> Step | None:
    """A sum of matrix products that is read transposed is the sum of the transposes: products can be computed that way round,
    and no sum needs to be copied into another order."""
    if step.op.name != "permute_dims" or s.reads[step.inputs[0]] != 1:
        return None
    axes = tuple(range(len(step.type.shape)))
    total = s.behind(step.inputs[0], "add")
    if total is None or step.attributes != (*axes[:-2], *axes[:-3:-1]):
        return None
    if any(s.behind(i, "matmul") is None or s.reads[i] != 1 for i in total.inputs):
        return None
    left, right = total.inputs
    return made("add", None, (transposed(s, left), transposed(s, right)), step.output, step.type)


def outer_product(s: Simplifier, step: Step) -> Step | None:
    """A matrix product that sums nothing is a multiplication of every element of a column by every one of a row. What a
    product adds up begins with 0, so that it never gives -0: 0 is added here, too."""
    if step.op.name == "permute_dims" and s.reads[step.inputs[0]] == 1:  # transposed, it is that of the transposes
        before = s.behind(step.inputs[0], "add")
        product = s.behind(before.inputs[0], "multiply") if before is not None else None
        axes = tuple(range(len(step.type.shape)))
        if product is None or product.output not in s.outer or step.attributes != (*axes[:-2], *axes[:-3:-1]):
            return None
        left, right = product.inputs
    elif step.op.name == "matmul" and step.type.dtype.kind == "f" and s.types[step.inputs[0]].shape[-1] == 1:
        left, right = step.inputs
    else:
        return None
    if step.op.name == "permute_dims":
        left, right = transposed(s, right), transposed(s, left)
    product_slot = s.emit("multiply", None, (left, right), step.type)
    s.outer.add(product_slot)
    return made("add", None, (product_slot, s.constant(0.0, step.type)), step.output, step.type)


# Each with the operations that it is about, in the order in which they are tried; a * marks those of which it needs to know a
# number that they are given. Before them comes `fold_constants`, for any.
RULES: tuple[tuple[Rule, str], ...] = (
    (moved_number, "broadcast_to* reshape*"),
    (finite_factor, "scale*"),
    (factor_one, "power_constant multiply* divide*"),
    (term_zero, "add* subtract*"),
    (twice_is_not_at_all, "negative logical_not bitwise_invert"),
    (there_and_back, "astype"),
    (one_movement, "reshape permute_dims"),
    (choice_of_one, "where"),
    (outer_product, "matmul permute_dims"),
    (transposed_sum, "permute_dims"),
    (sum_of_embedded, "add"),
    (part_of_shifted, "slice"),
    (first_extreme, "argmax argmin"),
)
BY_NAME: dict[str, list[tuple[int, Rule]]] = {}
WITHOUT_NUMBERS: dict[str, list[tuple[int, Rule]]] = {}
for _turn, (_rule, _names) in enumerate(RULES):
    for _name in _names.split():
        BY_NAME.setdefault(_name.rstrip("*"), []).append((_turn, _rule))
        if not _name.endswith("*"):
            WITHOUT_NUMBERS.setdefault(_name, []).append((_turn, _rule))


def simplified(plan: Plan) -> Plan:
    """The plan with every rule applied, and without what nothing reads any more. The given plan stays as it is."""
    s = Simplifier(plan)
    add = s.add
    for step in plan.steps:
        add(step)
    outputs = []
    for number, index, slot, kept in plan.outputs:
        slot = s.same.get(slot, slot)
        s.bands.complete(slot, inner=False)
        outputs.append((number, index, slot, kept))
    asked = [slot for _, _, slot, _ in outputs]
    alive = needed_steps(s.steps, asked, lambda x: assembled(s, x) if x.attributes.__class__ is Parts else x)
    alive = layered(s, alive, asked)
    leaves = len(plan.leaf_types)
    steps = tables_last(beside_their_readers(alive, leaves + len(plan.number_types), s.constants), leaves)
    return plan.with_steps(steps, types=s.types, constants=s.constants, outputs=outputs, same=s.same)


def tables_last(steps: list[Step], leaves: int) -> list[Step]:
    """The steps with those at the end that write into a leaf what is a result and nothing else: such as rows into a table, by an
    optimizer. They can do so where the leaf lies, if nothing that comes later may fail."""
    if not any([step.op.rewrites for step in steps]):
        return steps
    read: set[int] = set()
    for step in reversed(steps):
        if not (step.op.passes_on and len(step.inputs) == 1) or step.output in read:
            read.update(step.inputs)
    late: dict[int, Step] = {}
    for step in steps:
        writes = step.op.rewrites and step.inputs[0] < leaves
        if step.output not in read and (writes or (step.op.passes_on and step.inputs[0] in late)):
            late[step.output] = step
    return [*[step for step in steps if step.output not in late], *late.values()] if late else steps


def beside_their_readers(steps: list[Step], given: int, constants: Container[int]) -> list[Step]:
    """The steps with those that only read what is given (an optimizer's `momentum * velocity`) put off until somebody reads
    them: computed early, they would pass through memory instead of being fused with their readers. The slots below
    `given` are leaves and numbers."""
    waiting: dict[int, Step] = {}
    ordered: list[Step] = []

    def emit(step: Step) -> None:
        waiting[step.output] = step
        stack = [step]
        while stack:
            if stack[-1].output not in waiting:  # another step needed it, too
                stack.pop()
                continue
            needed = [waiting[i] for i in stack[-1].inputs if i in waiting]
            if needed:
                stack += needed[::-1]
            else:
                ordered.append(waiting.pop(stack.pop().output))

    slots = waiting.keys()
    for step in steps:
        op, _, _, _, inputs, output, _ = step
        if op.elementwise:
            for i in inputs:
                if i >= given and i not in constants and i not in waiting:
                    break
            else:
                waiting[output] = step
                continue
        if waiting and not slots.isdisjoint(inputs):
            emit(step)
        else:
            ordered.append(step)
    while waiting:
        emit(waiting[next(iter(waiting))])
    return ordered
