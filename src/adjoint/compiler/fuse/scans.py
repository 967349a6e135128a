"""Which scans stand in native programs as units: those of known length whose step computes a few numbers, written out with the
loop around it, or is a native program of its own, which native code runs for one step after the other; and loops over a few
numbers that end by themselves, their reverse passes, and choices among branches over as few, or that are programs."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.fuse.kinds import Scan, is_contiguous
from adjoint.compiler.loops.build import BYTES
from adjoint.plan.plan import Step

if TYPE_CHECKING:
    from adjoint.compiler.fuse.fuse import Fusing

MOST_WORK = 1 << 27  # operations in all steps, a nanosecond each or less: native programs aren't interrupted
FEW, MOST_OPERATIONS = 64, 512  # operations in a step, for fewer steps: more take longer to compile than they save
MOST_AROUND_TURNS = (
    2048  # operations around and in a loop that ends by itself, which are done in each of its many turns
)


class Scans(NamedTuple):
    """A unit as its code knows it: who writes that, how often it repeats what it does and in which direction, about how many
    operations it is in all, the numbers of operands and results; the dtype of the first operand."""

    code: Any
    length: int
    reverse: bool
    operations: int
    reads: tuple[int, ...]
    results: tuple[int, ...]
    first: str


def place(fusing: Fusing, step: Step) -> bool:
    """Let a loop be a unit; whether it can be one."""
    if step.op.graphs is None or step.output in fusing.asked:
        return False
    first, *others = step.op.graphs(step.attributes)
    if not all([i in fusing.views for i in step.inputs]):
        return False
    if others or first.carries is None or first.condition is not None or first.back is not None:
        return _done_once(fusing, step, first)
    if not first.length:
        return False
    types = [x.type for x in first.body.inputs]
    slices = first.constants + first.carries
    for k, (slot, t) in enumerate(zip(step.inputs, types, strict=True)):
        shape = t.shape if k < slices else (first.length, *t.shape)
        if fusing.dtypes[slot] != t.dtype.name or fusing.views[slot].shape != shape or t.dtype.name not in BYTES:
            return False
    part = first.part()
    if part is None or (first.length < FEW and _is_long(part)) or (part.may_stop and fusing.patient):
        part = first.stepped()
    if part is None or part.operations * first.length > MOST_WORK:
        return False
    read = range(len(step.type)) if first.read is None else {*range(first.carries), *first.read}
    _add(fusing, step, part, first.length, first.reverse, read)
    return True


def _done_once(fusing: Fusing, step: Step, inside: Any) -> bool:
    """Let a loop that ends by itself, its reverse pass, or a choice among branches be a unit that is done once."""
    types = [fusing.plan.types[i] for i in step.inputs]
    for slot, t in zip(step.inputs, types, strict=True):
        known = type(t) is not tuple and t.dtype.name in BYTES and fusing.dtypes[slot] == t.dtype.name
        if not known or fusing.views[slot].shape != t.shape or not all([type(n) is int for n in t.shape]):
            return False
    part = inside.once(step.op, step.attributes, types, step.type)
    if part is None or _is_long(part) or (part.may_stop and fusing.patient):
        part = inside.chosen(step.attributes, types[1:], step.type) if inside.carries is None else None
    if part is None:
        return False
    _add(fusing, step, part, 1, False, range(len(step.type)))
    return True


def _is_long(part: Any) -> bool:
    """Whether so much code takes longer to compile than it saves."""
    return part.operations > (MOST_AROUND_TURNS if part.may_stop else MOST_OPERATIONS)  # type: ignore[no-any-return]


def _add(fusing: Fusing, step: Step, part: Any, length: int, reverse: bool, read: Container[int]) -> None:
    slots = [i if is_contiguous(fusing.views[i]) else fusing.copy(i) for i in step.inputs]
    outputs = fusing.outputs_of(step)
    kept = [slot for k, slot in enumerate(outputs) if k in read]
    fusing.add(Scan(step, tuple([fusing.views[i] for i in slots]), tuple(kept), part, length, reverse), outputs)


def hand_on(fusing: Fusing, step: Step) -> bool:
    """Let the results of a step that is the identity on its first inputs be those; whether native code knows all of them."""
    given = step.inputs[: len(step.type)]
    if not step.op.view or step.op.waits or step.output in fusing.asked or not all([i in fusing.views for i in given]):
        return False
    fusing.parts[step.output] = list(given)
    return True
