"""Which scans stand in native programs as units: those of known length whose step computes a few numbers, written out with the
loop around it, or is a native program of its own, which native code runs for one step after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from adjoint.compiler.fuse.kinds import Scan, is_contiguous
from adjoint.compiler.loops.build import BYTES
from adjoint.plan.plan import Step

if TYPE_CHECKING:
    from adjoint.compiler.fuse.fuse import Fusion

MOST_WORK = 1 << 27  # operations in all steps, a nanosecond each or less: native programs aren't interrupted
FEW, MOST_OPERATIONS = 64, 512  # operations in a step, for fewer steps: more take longer to compile than they save


class Scans(NamedTuple):
    """A unit as its code knows it: who writes that, how often it repeats what it does and in which direction, about how many
    operations it is in all, the numbers of operands and results."""

    code: Any
    length: int
    reverse: bool
    operations: int
    reads: tuple[int, ...]
    results: tuple[int, ...]


def place(fusion: Fusion, step: Step) -> bool:
    """Let a scan be a unit; whether it can be one."""
    if step.op.graphs is None or step.output in fusion.asked:
        return False
    first, *others = step.op.graphs(step.attributes)
    if others or not first.length or not all([i in fusion.views for i in step.inputs]):
        return False
    types = [x.type for x in first.body.inputs]
    slices = first.constants + first.carries
    for k, (slot, t) in enumerate(zip(step.inputs, types, strict=True)):
        shape = t.shape if k < slices else (first.length, *t.shape)
        if fusion.dtypes[slot] != t.dtype.name or fusion.views[slot].shape != shape or t.dtype.name not in BYTES:
            return False
    part = first.part()
    if part is None or (part.operations > MOST_OPERATIONS and first.length < FEW):
        part = first.stepped()
    if part is None or part.operations * first.length > MOST_WORK:
        return False
    slots = [i if is_contiguous(fusion.views[i]) else fusion.copy(i) for i in step.inputs]
    outputs = fusion.outputs_of(step)
    kept = [slot for k, slot in enumerate(outputs) if first.read is None or k < first.carries or k in first.read]
    fusion.units.append(Scan(step, [fusion.views[i] for i in slots], kept, part, first.length, first.reverse))
    fusion.given_by(step, outputs)
    return True


def hand_on(fusion: Fusion, step: Step) -> bool:
    """Let the results of a step that is the identity on its first inputs be those; whether native code knows all of them."""
    given = step.inputs[: len(step.type)]
    if not step.op.view or step.output in fusion.asked or not all([i in fusion.views for i in given]):
        return False
    fusion.parts[step.output] = list(given)
    return True
