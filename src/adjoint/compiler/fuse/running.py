"""Which running sums, products, extremes and recurrences native code has, and the unit that one becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.compiler.fuse.kinds import Running, View
from adjoint.compiler.loops.build import ITEMSIZE
from adjoint.compiler.loops.build_running import FORMULAS
from adjoint.plan.plan import Step
from adjoint.shapes import contiguous, size_of

if TYPE_CHECKING:
    from adjoint.compiler.fuse.fuse import Fusion


def is_native(fusion: Fusion, step: Step) -> bool:
    """Whether native code has it, for these dtypes."""
    dtype = step.type.dtype.name
    known = step.op.name in FORMULAS and dtype in ITEMSIZE and dtype != "bool"
    return known and all([fusion.dtypes[i] == dtype for i in step.inputs])


def place(fusion: Fusion, step: Step) -> None:
    """A unit of its own, which reads its operands as they lie or backwards."""
    axis, views = step.attributes % len(step.type.shape), []
    for slot in step.inputs:
        view = fusion.views[slot]
        views.append(view if backwards(view, axis) is not None else fusion.views[fusion.copy(slot)])
    fusion.units.append(Running(step, views, axis))
    fusion.root(step.output, step.type.shape, step.type.dtype.name, len(fusion.units))


def backwards(view: View, axis: int) -> bool | None:
    """Whether an operand lies in order but for the axis, which is read backwards; None where it lies otherwise."""
    steps = contiguous(view.shape)
    for k, (n, found, wanted) in enumerate(zip(view.shape, view.strides, steps, strict=True)):
        if n != 1 and found != wanted and not (k == axis and found == -wanted):
            return None
    return size_of(view.shape) > 0 and view.shape[axis] > 1 and view.strides[axis] < 0
