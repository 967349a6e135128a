"""Arrays in the midst of zeros that are never written down: a loop nest reads the array itself, under a mask.

A stencil pads its array, and reads it once for each neighbour; its reverse pass puts cotangents into zeros and adds them up. So
that neither costs a trip through memory, a step `padded` of a nest reads a view that may reach beyond the array, and has zeros
where it does.
"""

from __future__ import annotations

from adjoint._tuples import NamedTuple
from adjoint.compiler.fuse.kinds import View
from adjoint.compiler.targets.llvm import BYTES, PART
from adjoint.graph import StandIn
from adjoint.plan.plan import Plan, Step
from adjoint.shapes import Shape

PADDED = StandIn("padded")  # reads a view inside its bounds, zeros elsewhere
Limits = tuple[Shape, Shape]  # along each axis the first index inside, and the first behind


class Padded(NamedTuple):
    """An array in the midst of zeros: its slot, and at which index along each axis it begins."""

    slot: int
    begins: tuple[int, ...]

    def part(self, starts: tuple[int, ...]) -> Padded:
        """What is left of it from an index along each axis on."""
        return Padded(self.slot, tuple([a - b for a, b in zip(self.begins, starts, strict=True)]))

    def view(self, view: View, shape: Shape) -> View:
        """The array's view, as if it went on beyond its ends."""
        strides = tuple([s or 1 for s in view.strides])  # of axes of one element
        offset = view.offset - sum([a * s for a, s in zip(self.begins, strides, strict=True)])
        return View(view.root, offset, shape, strides)

    def limits(self, own: Shape, shape: Shape) -> Limits:
        """Which indices are inside."""
        first = tuple([min(max(a, 0), n) for a, n in zip(self.begins, shape, strict=True)])
        behind = tuple([max(min(a + k, n), 0) for a, k, n in zip(self.begins, own, shape, strict=True)])
        return first, behind


def read_in_place(plan: Plan) -> dict[int, bool]:
    """The arrays put into zeros that only nests will read, themselves or parts of them; and whether they are read themselves."""
    embedded = {step.output: step for step in plan.steps if step.op.name == "embed" and _is_plain(plan, step)}
    if not embedded:
        return {}
    found = dict.fromkeys(embedded, False)
    parts: dict[int, int] = {}
    for step in plan.steps:
        computed = step.op.elementwise or step.op.name == "sum"
        for slot in step.inputs:
            whole = parts.get(slot, slot)
            if whole not in found:
                continue
            if step.op.name == "slice" and all([by == 1 for _, _, by in step.attributes]):
                parts[step.output] = whole
            elif not computed:
                del found[whole]
            elif slot == whole:
                found[whole] = True
    for _, _, slot, _ in plan.outputs:
        found.pop(parts.get(slot, slot), None)
    return found


def _is_plain(plan: Plan, step: Step) -> bool:
    """Whether an array lies in zeros element beside element, is one whose elements lie in memory, and is no single number."""
    (slot,), (_, slices) = step.inputs, step.attributes
    leaves, dtype = len(plan.leaf_types), step.type.dtype.name
    if slot in plan.constants or leaves <= slot < leaves + len(plan.number_types):
        return False
    return dtype in BYTES and dtype not in PART and len(slices) > 0 and all([by == 1 for _, _, by in slices])
