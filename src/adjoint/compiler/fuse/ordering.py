"""Which searches and orders native code has, and the unit that one becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.compiler.fuse.kinds import Ordering
from adjoint.compiler.loops.build import ITEMSIZE
from adjoint.dtypes import int64
from adjoint.graph import array_type
from adjoint.plan.plan import Step
from adjoint.primitives.ordering import ARGSORT, LEADING
from adjoint.runtime import llvm

if TYPE_CHECKING:
    from adjoint.compiler.fuse.fuse import Fusion


def is_native(fusion: Fusion, step: Step) -> bool:
    """Whether native code has it, for these dtypes and extents."""
    name = step.op.name
    if name not in ("searchsorted", "argsort", "leading") or step.type.size == 0:
        return False
    dtype, shape = fusion.dtypes[step.inputs[0]], fusion.shapes[step.inputs[0]]
    if dtype not in ITEMSIZE or dtype == "bool":
        return False
    if name == "searchsorted":
        return shape[-1] > 0
    # Ranks take the square of a line's length, of which a vector makes as many steps at once as it has lanes; lines of more bytes
    # than a vector has bits are sorted by NumPy in less time.
    axis = step.attributes[1 if name == "leading" else 0]
    return ITEMSIZE[dtype] >= 4 and shape[axis] * ITEMSIZE[dtype] <= llvm.vector_bits()


def place(fusion: Fusion, step: Step) -> None:
    """A unit of its own, which reads its operands in order. Of the first of an order all are found: their ranks are."""
    if step.op is LEADING:
        (slot,), (_, *order) = step.inputs, step.attributes
        whole, out = array_type(fusion.shapes[slot], int64), step.output
        found = fusion.new_slot()
        place(fusion, step._replace(op=ARGSORT, attributes=tuple(order), output=found, type=whole))
        fusion.views[out] = fusion.views[found]._replace(shape=step.type.shape)
        fusion.ready[out] = fusion.ready[found]
        return
    views = [fusion.views[fusion.copy(slot)] for slot in step.inputs]
    axis = step.attributes[0] if step.op.name == "argsort" else -1
    fusion.units.append(Ordering(step, views, axis))
    fusion.root(step.output, step.type.shape, step.type.dtype.name, len(fusion.units))
