"""Images with their channels last, from one convolution to the next.

Convolution and pooling run fastest over arrays (N, H, W, C), while the graph speaks of (N, C, H, W). This pass rewrites a
plan's steps: a convolution or pool that native code serves works on channels-last arrays, and what is elementwise between
two of them follows, as do images side by side and parts of them. A `permute_dims` gives the step's own slot, for whoever
reads it in the graph's order: that is a view, and a copy is made only where the images end, as at a flattening.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.compiler.fuse import images
from adjoint.compiler.loops.formulas import REDUCTIONS
from adjoint.graph import array_type
from adjoint.plan.plan import Plan, Step, step_of
from adjoint.plan.rewriting import Rewriting
from adjoint.primitives.contraction import MATMUL
from adjoint.primitives.structural import EMBED, PERMUTE, RESHAPE, SLICE, Slices, sliced_shape
from adjoint.shapes import Shape, size_of

LAST = (0, 2, 3, 1)  # from (N, C, H, W) to (N, H, W, C)
FIRST = (0, 3, 1, 2)  # and back


def channels_last(plan: Plan) -> Plan:
    """The plan with steps on images in their channels-last form, and types for new slots."""
    if not any(step.op.images for step in plan.steps):
        return plan
    rewriting = _Rewriting(plan)
    return plan.with_steps(rewriting.steps, types=rewriting.types)


class _Rewriting(Rewriting):
    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.last: dict[int, int] = {}  # the channels-last form of a slot
        self.matrices: dict[Any, int] = {}  # of pixels by channels, by the slot and the stride
        self.born: set[int] = set()  # the slots that are computed in that form
        for step in plan.steps:
            self.rewrite(step)

    def permuted(self, slot: int) -> int:
        """The channels-last form of a slot with four axes."""
        found = self.last.get(slot)
        if found is None:
            t = self.types[slot]
            form = array_type(tuple([t.shape[a] for a in LAST]), t.dtype)
            found = self.last[slot] = self.new(PERMUTE, LAST, (slot,), form)
        return found

    def rewrite(self, step: Step) -> None:
        types, name = self.types, step.op.name
        if step.op.images and images.is_product(step, types):
            self.product(step)
        elif step.op.images and images.serves(step, types):
            inputs = [
                self.permuted(i) if is_image else i for i, is_image in zip(step.inputs, step.op.images, strict=True)
            ]
            if name == "convolution_weight_gradient":
                self.steps.append(
                    step_of(images.form(step.op.name), step.attributes, tuple(inputs), step.output, step.type)
                )
            else:
                self.made(step, images.form(step.op.name), step.attributes, inputs)
        elif (step.op.elementwise or _passes_on(step)) and self.follows(step):
            form = tuple([self.operand(i, step) for i in step.inputs])
            self.made(step, step.op, step.attributes, form)
        elif name == "concat" and all(i in self.born for i in step.inputs):
            beside = tuple([self.last[i] for i in step.inputs])
            axis = LAST.index(step.attributes)
            self.made(step, step.op, axis, beside)
        elif name == "slice" and step.inputs[0] in self.born:
            parts, image = tuple([step.attributes[a] for a in LAST]), (self.last[step.inputs[0]],)
            self.made(step, step.op, parts, image)
        elif name in REDUCTIONS and step.inputs[0] in self.born and step.attributes and self.keeps_order(step):
            axes = tuple(sorted([LAST.index(a) for a in step.attributes]))
            self.steps.append(step_of(step.op, axes, (self.last[step.inputs[0]],), step.output, step.type))
        else:
            self.steps.append(step)

    def product(self, step: Step) -> None:
        """A convolution of 1×1, or a gradient of it, as a product of matrices: of pixels by channels."""
        name, t = step.op.name, step.type
        geometry = step.attributes if name == "convolution" else step.attributes[0]
        back, stride = name == "convolution_input_gradient", geometry.stride
        pixels = self.pixels(step.inputs[0], (1, 1) if back else stride)
        if name == "convolution_weight_gradient":
            weights = self.multiplied(self.turned_over(self.pixels(step.inputs[1])), pixels)
            self.steps.append(step_of(RESHAPE, t.shape, (weights,), step.output, t))
            return
        shape = self.types[step.inputs[1]].shape[:2]
        weights = self.new(RESHAPE, shape, step.inputs[1:], array_type(shape, t.dtype))
        made = self.multiplied(pixels, self.turned_over(weights) if name == "convolution" else weights)
        op, form = RESHAPE, self.turned(step)
        attributes: Any = form.shape
        if back and stride != (1, 1):  # zeros are all around what was met
            met = _met(form.shape, stride)
            shape = sliced_shape(met)
            op, attributes = EMBED, (form.shape, met)
            made = self.new(RESHAPE, shape, (made,), array_type(shape, t.dtype))
        self.made(step, op, attributes, (made,))

    def pixels(self, slot: int, stride: tuple[int, ...] = (1, 1)) -> int:
        """Images as a matrix with a row of channels for each pixel, or for each that a stride meets."""
        found = self.matrices.get((slot, stride))
        if found is None:
            form, dtype = self.permuted(slot), self.types[slot].dtype
            if stride != (1, 1):
                met = _met(self.types[form].shape, stride)
                form = self.new(SLICE, met, (form,), array_type(sliced_shape(met), dtype))
            *extents, channels = self.types[form].shape
            shape = (size_of(tuple(extents)), channels)
            found = self.matrices[slot, stride] = self.new(RESHAPE, shape, (form,), array_type(shape, dtype))
        return found

    def turned_over(self, matrix: int) -> int:
        """A matrix's transpose."""
        t = self.types[matrix]
        return self.new(PERMUTE, (1, 0), (matrix,), array_type(t.shape[::-1], t.dtype))

    def multiplied(self, a: int, b: int) -> int:
        """A product of two matrices."""
        (n, _), (_, m), dtype = self.types[a].shape, self.types[b].shape, self.types[a].dtype
        return self.new(MATMUL, None, (a, b), array_type((n, m), dtype))

    def turned(self, step: Step) -> Any:
        return array_type(tuple([step.type.shape[a] for a in LAST]), step.type.dtype)

    def made(self, step: Step, op: Any, attributes: Any, inputs: Sequence[int]) -> None:
        """What a step makes in channels-last form by this operation, and its own slot as a view of it."""
        self.last[step.output] = form = self.new(op, attributes, tuple(inputs), self.turned(step))
        self.born.add(step.output)
        self.steps.append(step_of(PERMUTE, FIRST, (form,), step.output, step.type))

    def follows(self, step: Step) -> bool:
        """Whether an elementwise step reads what is channels-last, at its own shape."""
        if type(step.type) is tuple or len(step.type.shape) != 4:
            return False
        given = self.inputs_of(step)
        return any(i in self.born and self.types[i].shape == step.type.shape for i in given)

    def inputs_of(self, step: Step) -> Sequence[int]:
        return step.inputs[:1] if _passes_on(step) else step.inputs

    def operand(self, slot: int, step: Step) -> int:
        """An input in the form that broadcasts to the channels-last shape."""
        t = self.types[slot]
        if slot in self.last:
            return self.last[slot]
        if slot in self.single or t.shape == ():
            return slot
        if len(t.shape) < 4:
            slot = self.new(RESHAPE, (1,) * (4 - len(t.shape)) + t.shape, (slot,),
                            array_type((1,) * (4 - len(t.shape)) + t.shape, t.dtype))  # fmt: skip
        return self.permuted(slot)

    def keeps_order(self, step: Step) -> bool:
        """Whether the axes that a reduction keeps come in the same order either way."""
        kept = [LAST.index(a) for a in range(4) if a not in step.attributes]
        return kept == sorted(kept)


def _met(shape: Shape, stride: tuple[int, ...]) -> Slices:
    """The pixels of channels-last images that a stride meets."""
    return tuple([(0, -(-n // by), by) for n, by in zip(shape, (1, *stride, 1), strict=True)])


def _passes_on(step: Step) -> bool:
    """Whether a step gives its first input, without waiting for others."""
    return step.op.passes_on and not step.op.waits
