"""Which Fourier transforms native code has, and the units that they become: one for each axis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.compiler.fuse.kinds import Transform, is_contiguous
from adjoint.compiler.loops.butterflies import factors_of
from adjoint.compiler.targets.target import target
from adjoint.dtypes import complex_of
from adjoint.graph import StandIn, array_type
from adjoint.plan.plan import Step
from adjoint.shapes import Shape

if TYPE_CHECKING:
    from adjoint.compiler.fuse.fuse import Fusion

NAMES = frozenset({"fft", "rfft", "irfft"})
DTYPES = frozenset({"float32", "float64", "complex64", "complex128"})


FFT = StandIn("fft")  # a transform between complex numbers


def is_native(fusion: Fusion, step: Step) -> bool:
    """Whether native code has the transform along each of its axes."""
    if step.op.name not in NAMES:
        return False
    axes, lengths = step.attributes[0], _lengths(fusion, step)
    if not target().fma or fusion.dtypes[step.inputs[0]] not in DTYPES or not axes:
        return False
    numbers = [lengths[a] for a in axes]  # complex ones of a line
    if step.op.name != "fft":
        if numbers[-1] % 2:
            return False
        numbers[-1] //= 2
    return all(1 < n <= fusion.tuning.longest_transform and factors_of(n) is not None for n in numbers)


def _lengths(fusion: Fusion, step: Step) -> Shape:
    """The shape of what is transformed, or transformed back: of real numbers where one side is real."""
    shape: Shape = step.type.shape if step.op.name == "irfft" else fusion.shapes[step.inputs[0]]
    return shape


def place(fusion: Fusion, step: Step) -> None:
    """A unit for each axis, that between real and complex numbers first or last. All but one work in place."""
    name, (slot,), out, lengths = step.op.name, step.inputs, step.output, _lengths(fusion, step)
    (axes, *_, norm), view = step.attributes, fusion.views[slot]
    if not is_contiguous(view):
        view = fusion.views[fusion.copy(slot)]
    inverse = step.attributes[1] if name == "fft" else name == "irfft"
    between = out
    if name == "irfft" and len(axes) > 1:
        between = fusion.new_slot()
    for axis in axes[::-1] if name == "rfft" else axes:
        n = lengths[axis]
        scale = n**-0.5 if norm == "ortho" else 1 / n if inverse == (norm == "backward") else 1.0
        one = step._replace(inputs=(view.root,), attributes=((axis,), *step.attributes[1:]))
        if name != "fft" and axis != axes[-1]:  # complex numbers on both sides
            half = array_type(view.shape, complex_of(step.type.dtype))
            one = one._replace(op=FFT, attributes=((axis,), inverse, norm), output=between, type=half)  # type: ignore[arg-type]
        fusion.units.append(Transform(one, view, axis, scale))
        fusion.root(one.output, one.type.shape, one.type.dtype.name, len(fusion.units))
        view = fusion.views[one.output]
