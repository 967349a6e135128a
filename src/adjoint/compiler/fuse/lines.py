"""Which units go along an axis: running sums, products, extremes and recurrences, searches and the order of short lines, and
Fourier transforms; of the last one for each axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjoint.compiler.fuse.kinds import Line, View, is_contiguous
from adjoint.compiler.loops.build import ITEMSIZE
from adjoint.compiler.loops.butterflies import factors_of
from adjoint.compiler.loops.running_formulas import FORMULAS
from adjoint.compiler.targets.llvm import PART
from adjoint.compiler.targets.target import target
from adjoint.dtypes import complex_of, int64
from adjoint.graph import StandIn, array_type
from adjoint.plan.plan import Step
from adjoint.primitives.ordering import ARGSORT, LEADING
from adjoint.runtime import llvm
from adjoint.shapes import Shape, contiguous, size_of

if TYPE_CHECKING:
    from adjoint.compiler.fuse.fuse import Fusing

TRANSFORMS = frozenset({"fft", "rfft", "irfft"})
DTYPES = frozenset({"float32", "float64", "complex64", "complex128"})


FFT = StandIn("fft")  # a transform between complex numbers


def place(fusing: Fusing, step: Step) -> bool:
    """Let a step be such a unit; whether native code has it, for these dtypes and extents."""
    return _transform(fusing, step) or _running(fusing, step) or _order(fusing, step)


def _running(fusing: Fusing, step: Step) -> bool:
    """One unit, which reads its operands as they lie or backwards."""
    dtype, shape = step.type.dtype.name, step.type.shape
    known = step.op.name in FORMULAS and dtype in ITEMSIZE and dtype != "bool"
    if not known or any([fusing.dtypes[i] != dtype for i in step.inputs]):
        return False
    axis, views = step.attributes % len(shape), []
    for slot in step.inputs:
        view = fusing.views[slot]
        views.append(view if backwards(view, axis) is not None else fusing.views[fusing.copy(slot)])
    fusing.add(Line("running", step, tuple(views), axis, dtype, views[0].shape[axis]))
    return True


def backwards(view: View, axis: int) -> bool | None:
    """Whether an operand lies in order but for the axis, which is read backwards; None where it lies otherwise."""
    steps = contiguous(view.shape)
    for k, (n, found, wanted) in enumerate(zip(view.shape, view.strides, steps, strict=True)):
        if n != 1 and found != wanted and not (k == axis and found == -wanted):
            return None
    return size_of(view.shape) > 0 and view.shape[axis] > 1 and view.strides[axis] < 0


def _order(fusing: Fusing, step: Step) -> bool:
    """One unit, which reads its operands in order. Of the first of an order all are found: their ranks are."""
    name = step.op.name
    if name not in ("searchsorted", "argsort", "leading") or step.type.size == 0:
        return False
    dtype, shape = fusing.dtypes[step.inputs[0]], fusing.shapes[step.inputs[0]]
    if dtype not in ITEMSIZE or dtype == "bool":
        return False
    # Ranks take the square of a line's length, of which a vector makes as many steps at once as it has lanes; lines of more bytes
    # than a vector has bits are sorted by NumPy in less time.
    axis = -1 if name == "searchsorted" else step.attributes[1 if name == "leading" else 0]
    fits = ITEMSIZE[dtype] >= 4 and shape[axis] * ITEMSIZE[dtype] <= llvm.vector_bits()
    if not (shape[-1] > 0 if name == "searchsorted" else fits):
        return False
    out, result = step.output, step.type.shape
    if step.op is LEADING:
        found = fusing.new_slot()
        step = step._replace(op=ARGSORT, attributes=step.attributes[1:], output=found, type=array_type(shape, int64))
    views = tuple([fusing.views[fusing.copy(slot)] for slot in step.inputs])
    if name == "searchsorted":
        attributes: Any = step.attributes == "right", size_of(views[1].shape) // size_of(shape[:-1])
    else:
        attributes = step.attributes[1]
    fusing.add(Line("order", step, views, axis, dtype, views[0].shape[axis], attributes))
    if step.output != out:
        fusing.views[out] = fusing.views[step.output]._replace(shape=result)
        fusing.ready[out] = fusing.ready[step.output]
    return True


def _transform(fusing: Fusing, step: Step) -> bool:
    """A unit for each axis, that between real and complex numbers first or last. All but one work in place."""
    name = step.op.name
    if name not in TRANSFORMS:
        return False
    (slot,), out, (axes, *_, norm) = step.inputs, step.output, step.attributes
    # of what is transformed, or transformed back: of real numbers where one side is real
    lengths: Shape = step.type.shape if name == "irfft" else fusing.shapes[slot]
    if not target().fma or fusing.dtypes[slot] not in DTYPES or not axes:
        return False
    numbers = [lengths[a] for a in axes]  # complex ones of a line
    if name != "fft":
        if numbers[-1] % 2:
            return False
        numbers[-1] //= 2
    if not all(1 < n <= fusing.tuning.longest_transform and factors_of(n) is not None for n in numbers):
        return False
    view = fusing.views[slot]
    if not is_contiguous(view):
        view = fusing.views[fusing.copy(slot)]
    inverse = step.attributes[1] if name == "fft" else name == "irfft"
    between = out
    if name == "irfft" and len(axes) > 1:
        between = fusing.new_slot()
    for axis in axes[::-1] if name == "rfft" else axes:
        n = lengths[axis]
        scale = n**-0.5 if norm == "ortho" else 1 / n if inverse == (norm == "backward") else 1.0
        one = step._replace(inputs=(view.root,), attributes=((axis,), *step.attributes[1:]))
        if name != "fft" and axis != axes[-1]:  # complex numbers on both sides
            half = array_type(view.shape, complex_of(step.type.dtype))
            one = one._replace(op=FFT, attributes=((axis,), inverse, norm), output=between, type=half)  # type: ignore[arg-type]
        source, to_real, made = fusing.dtypes[view.root], one.op.name == "irfft", one.type
        attributes = source not in PART, one.op.name == "fft" and inverse, scale.hex()
        dtype, length = (source, made.shape[axis]) if to_real else (made.dtype.name, view.shape[axis])
        fusing.add(Line("transform", one, (view,), axis, dtype, length, attributes))
        view = fusing.views[one.output]
    return True
