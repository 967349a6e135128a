"""Derivatives along all unit arrays at once, of which nearly all elements are one number.

A Jacobian batches the derivative over the rows of an identity matrix. What is elementwise in the function keeps nearly all
of that zero: a value with the batch in front has, at each of its other places, something to say for a few rows of the batch
alone. Such a value is a `Band`: a few diagonals, each an array without the batch's axis, and the ground, one such array for
all the other rows (mostly one number; but zeros may differ in sign). Steps on it are computed on its diagonals, and where a
step needs it whole it is put together: the Hessian of a sum of terms of neighbours is a few diagonals written into zeros.
Every element is what it would have been.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.graph import ArrayType, array_type
from adjoint.plan.assemble import Filled, Placement, pieces
from adjoint.plan.plan import Step
from adjoint.shapes import Shape, contiguous, reshaped_strides, size_of

if TYPE_CHECKING:
    from adjoint.plan.simplify import Simplifier

SMALLEST = 16  # examples: with fewer there is little to save
LARGEST_MADE = 1 << 14  # elements of a constant array, which stays in memory as long as the plan
SPARSE = 4  # at most one diagonal for so many examples
Box = tuple[tuple[int, int], ...]  # from where to where along each axis


class Diagonal(NamedTuple):
    """The elements in example `first + sum(strides * place)` for every place in the box; outside of it the array is the
    ground's."""

    slot: int
    box: Box


class Band(NamedTuple):
    """A batch of arrays of a shape that are the ground but for their diagonals, by `first`; all have the same strides.

    The derivative of `x[1:] - x[:-1]` by the 4 elements of x, one after another, is a batch of 4 arrays of shape (3,), on the
    ground 0, with strides (1,) and two diagonals: 1 from `first` = 1 on, and -1 from 0 on. Place p has 1 in example p + 1 and
    -1 in example p.
    """

    batch: int
    shape: Shape
    ground: int
    strides: tuple[int, ...]
    diagonals: dict[int, Diagonal]


class Whole(NamedTuple):
    """A band on its way out, in another order of axes or another shape."""

    number: Any
    parts: list[tuple[int, Placement]]


class Bands:
    """The bands among the slots of a plan that is being simplified."""

    def __init__(self, s: Simplifier) -> None:
        self.s = s
        self.found: dict[int, Band | Whole] = {}
        self.made: set[int] = set()  # those that were put together

    def take(self, step: Step) -> bool:
        """Whether a step gives a band, so that it needn't be computed. If not, the bands that it reads are put together."""
        name = step.op.name
        result = None
        if name == "reshape":
            result = self.reshaped(step)
        elif not self.found or self.found.keys().isdisjoint(step.inputs):
            return False
        elif step.op.passes_on and len(step.inputs) == 1:
            result = self.found.get(step.inputs[0])
        elif step.op.elementwise:
            result = self.elementwise(step)
        elif name == "concat":
            result = self.joined(step)
        elif name in MOVED:
            band = self.found.get(step.inputs[0])
            result = MOVED[name](self, band, step) if isinstance(band, Band) else None
        if result is None:
            for slot in step.inputs:
                self.complete(slot)
            return False
        self.found[step.output] = result
        return True

    def complete(self, slot: int, inner: bool = True) -> None:
        """Put a band together, into its own slot; one of numbers alone that stays inside the plan is made now."""
        band = self.found.get(slot)
        if band is None or slot in self.made:
            return
        self.made.add(slot)
        type = self.s.types[slot]
        whole = self.taken_apart(band, contiguous((band.batch, *band.shape))) if isinstance(band, Band) else band
        places = tuple([place for _, place in whole.parts])
        step = pieces(Filled(whole.number, places), tuple([part for part, _ in whole.parts]), slot, type)
        values = [self.value(i) for i in step.inputs]
        if inner and type.size <= LARGEST_MADE and all(x is not None for x in values):
            self.s.constants[slot] = array = step.kernel(*values)
            array.flags.writeable = False  # it may be a result, too
        else:
            self.s.steps.append(step)

    # How each operation acts on a band

    def reshaped(self, step: Step) -> Band | Whole | None:
        source, shape = step.inputs[0], step.type.shape
        band = self.found.get(source)
        if band is None:
            return self.basis(step)
        if isinstance(band, Whole):
            return band
        rest = shape[1:]
        if shape[:1] == (band.batch,):
            strides = reshaped_strides(band.shape, band.strides, rest)
            whole = all(d.box == _whole(band.shape) for d in band.diagonals.values())
            if strides is not None and whole:
                diagonals = {
                    first: Diagonal(self.moved("reshape", rest, d.slot, rest), _whole(rest))
                    for first, d in band.diagonals.items()
                }
                return Band(band.batch, rest, self.moved("reshape", rest, band.ground, rest), strides, diagonals)
        return self.taken_apart(band, contiguous((band.batch, *band.shape)))

    def basis(self, step: Step) -> Band | None:
        """Ones on the diagonal of zeros, each row in a shape."""
        ones = self.s.behind(step.inputs[0], "embed")
        shape = step.type.shape
        if (
            ones is None
            or step.type.dtype.kind != "f"
            or len(shape) < 2
            or shape[0] < SMALLEST
            or size_of(shape[1:]) != shape[0]
        ):
            return None
        n, rest = shape[0], shape[1:]
        if ones.attributes != ((n * n,), ((0, n, n + 1),)) or self.s.number(ones.inputs[0]) != 1:
            return None
        slot = self.s.constant(self.s.number(ones.inputs[0]), array_type(rest, step.type.dtype))
        ground = self.s.constant(0.0, array_type(rest, step.type.dtype))
        return Band(n, rest, ground, contiguous(rest), {0: Diagonal(slot, _whole(rest))})

    def elementwise(self, step: Step) -> Band | None:
        inputs = step.inputs
        bands = [self.found.get(i) for i in inputs]
        given = [b for b in bands if isinstance(b, Band)]
        kinds = {(b.batch, b.shape, _plain(b.strides, b.shape)) for b in given}
        if len(given) < sum(b is not None for b in bands) or len(kinds) > 1 or step.type.dtype.kind == "c":
            return None
        batch, shape, _, strides, _ = given[0]
        if step.type.shape != (batch, *shape):
            return None
        operands = [None if b is not None else self.operand(i, shape) for i, b in zip(inputs, bands, strict=True)]
        if any(b is None and x is None for b, x in zip(bands, operands, strict=True)):
            return None
        boxes: dict[int, Box] = {}
        for known in given:
            for first, d in known.diagonals.items():
                boxes[first] = _around(boxes.get(first, d.box), d.box)
        if not self.fits(boxes, strides, batch):
            return None
        type = array_type(shape, step.type.dtype)

        def on(first: int | None) -> int:
            """The step on the diagonals that begin there, or on the grounds."""
            slots = []
            for band, operand in zip(bands, operands, strict=True):
                if isinstance(band, Band):
                    diagonal = None if first is None else band.diagonals.get(first)
                    operand = band.ground if diagonal is None else diagonal.slot
                assert operand is not None
                slots.append(operand)
            return self.computed(step, slots, type)

        return Band(batch, shape, on(None), strides, {first: Diagonal(on(first), box) for first, box in boxes.items()})

    def everywhere(self, step: Step, known: list[Any]) -> Any:
        """The number that an elementwise step gives everywhere, from those among its inputs; None if it isn't one."""
        if all(x is not None for x in known):
            with np.errstate(all="ignore"):
                return np.asarray(step.masked(*[np.asarray(x) for x in known]), step.type.dtype.dtype).item()
        none = [x is not None and x == 0 for x in known]
        if (step.op.name == "scale" and any(none)) or (step.op.name == "safe_divide" and none[0]):
            return 0.0
        if step.op.name == "where" and known[1] is not None and known[2] is not None and _same(known[1], known[2]):
            return known[1].item()
        return None

    def value(self, slot: int) -> Any:
        """The number that a slot holds everywhere, of its own type; None if there is none."""
        number = self.s.number(slot)
        return None if number is None else self.s.types[slot].dtype.dtype.type(number)

    def operand(self, slot: int, shape: Shape) -> int | None:
        """A slot with the operand of every example, which must be the same; it broadcasts to the shape."""
        type = self.s.types[slot]
        number = self.s.number(slot)
        if number is not None:
            return self.s.constant(number, array_type(shape, type.dtype))
        if slot in self.s.single:
            return slot
        if len(type.shape) <= len(shape):
            return slot
        if type.shape[0] == 1:
            return self.moved("reshape", type.shape[1:], slot, type.shape[1:])
        before = self.s.behind(slot, "broadcast_to")
        return None if before is None else self.operand(before.inputs[0], shape)

    def computed(self, step: Step, slots: list[int], type: ArrayType) -> int:
        """The slot of an elementwise step without the batch."""
        s = self.s
        number = self.everywhere(step, [self.value(i) for i in slots])
        if number is not None:
            return s.constant(number, type)
        if not any(i not in s.single and s.types[i].shape == type.shape for i in slots):
            wide = array_type(type.shape, s.types[slots[0]].dtype)
            slots[0] = s.emit("broadcast_to", type.shape, (slots[0],), wide)
        return s.emit(step.op.name, step.attributes, tuple(slots), type)

    def moved(self, name: str, attributes: Any, slot: int, shape: Shape) -> int:
        """The slot of a movement: of a number that fills an array, that number."""
        type = array_type(shape, self.s.types[slot].dtype)
        number = self.s.number(slot)
        if number is not None:
            return self.s.constant(number, type)
        if slot in self.s.single or (self.s.types[slot].shape == shape and name == "reshape"):
            return slot
        return self.s.emit(name, attributes, (slot,), type)

    def broadcast(self, band: Band, step: Step) -> Band | None:
        shape = step.type.shape
        if len(shape) != len(band.shape) + 1 or shape[0] != band.batch:
            return None
        rest = shape[1:]
        strides = tuple([0 if n != m else s for n, m, s in zip(band.shape, rest, band.strides, strict=True)])
        diagonals = {}
        for first, d in band.diagonals.items():
            box = tuple([(0, m) if n == 1 else b for n, m, b in zip(band.shape, rest, d.box, strict=True)])
            diagonals[first] = Diagonal(self.moved("broadcast_to", rest, d.slot, rest), box)
        return Band(band.batch, rest, self.moved("broadcast_to", rest, band.ground, rest), strides, diagonals)

    def permuted(self, band: Band, step: Step) -> Band | Whole | None:
        axes = step.attributes
        if axes[0] != 0:
            steps = contiguous(step.type.shape)
            return self.taken_apart(band, tuple([steps[axes.index(a)] for a in range(len(axes))]))
        order = tuple([a - 1 for a in axes[1:]])
        shape = tuple([band.shape[a] for a in order])
        diagonals = {
            first: Diagonal(self.moved("permute_dims", order, d.slot, shape), tuple([d.box[a] for a in order]))
            for first, d in band.diagonals.items()
        }
        ground = self.moved("permute_dims", order, band.ground, shape)
        return Band(band.batch, shape, ground, tuple([band.strides[a] for a in order]), diagonals)

    def sliced(self, band: Band, step: Step) -> Band | None:
        if step.attributes[0] != (0, band.batch, 1):
            return None
        slices = step.attributes[1:]
        shape = tuple([n for _, n, _ in slices])
        if 0 in shape or any(by < 0 for _, _, by in slices):
            return None
        shift = sum([start * s for (start, _, _), s in zip(slices, band.strides, strict=True)])
        strides = tuple([by * s for (_, _, by), s in zip(slices, band.strides, strict=True)])
        diagonals = {}
        for first, d in band.diagonals.items():
            box = []
            for (start, n, by), (low, high) in zip(slices, d.box, strict=True):
                box.append((max(-(-(low - start) // by), 0), min(-(-(high - start) // by), n)))
            if all(low < high for low, high in box):
                diagonals[first + shift] = Diagonal(self.moved("slice", slices, d.slot, shape), tuple(box))
        return Band(band.batch, shape, self.moved("slice", slices, band.ground, shape), strides, diagonals)

    def embedded(self, band: Band, step: Step) -> Band | None:
        (_, *rest), (batch, *slices) = step.attributes
        if batch != (0, band.batch, 1) or any(by != 1 for _, _, by in slices):
            return None
        shape = tuple(rest)
        shift = sum([start * s for (start, _, _), s in zip(slices, band.strides, strict=True)])

        def put(slot: int) -> int:
            number = self.value(slot)
            of = array_type(shape, self.s.types[slot].dtype)
            if number is not None and _same(number, type(number)(0)):
                return self.s.constant(number.item(), of)
            return self.s.emit("embed", (shape, tuple(slices)), (self.filled(slot, band.shape),), of)

        diagonals = {}
        for first, d in band.diagonals.items():
            box = tuple([(low + start, high + start) for (low, high), (start, _, _) in zip(d.box, slices, strict=True)])
            diagonals[first - shift] = Diagonal(put(d.slot), box)
        return Band(band.batch, shape, put(band.ground), band.strides, diagonals)

    def joined(self, step: Step) -> Band | None:
        axis, shape = step.attributes - 1, step.type.shape[1:]
        bands = [b for b in map(self.found.get, step.inputs) if isinstance(b, Band)]
        batch, _, _, strides, _ = bands[0]
        if len(bands) < len(step.inputs) or axis < 0 or any(b.strides != strides for b in bands):
            return None
        starts = [sum([b.shape[axis] for b in bands[:k]]) for k in range(len(bands))]
        boxes: dict[int, Box] = {}
        for band, start in zip(bands, starts, strict=True):
            for first, d in band.diagonals.items():
                box = tuple([(p + start * (k == axis), q + start * (k == axis)) for k, (p, q) in enumerate(d.box)])
                first -= start * strides[axis]
                boxes[first] = _around(boxes.get(first, box), box)
        if not self.fits(boxes, strides, batch):
            return None

        def on(first: int | None) -> int:
            slots = []
            for band, start in zip(bands, starts, strict=True):
                found = None if first is None else band.diagonals.get(first + start * strides[axis])
                slots.append(self.filled(band.ground if found is None else found.slot, band.shape))
            return self.s.emit("concat", axis, tuple(slots), array_type(shape, step.type.dtype))

        numbers = [self.value(b.ground) for b in bands]
        same = all(x is not None and _same(x, numbers[0]) for x in numbers)
        ground = self.s.constant(numbers[0].item(), array_type(shape, step.type.dtype)) if same else on(None)
        return Band(batch, shape, ground, strides, {first: Diagonal(on(first), box) for first, box in boxes.items()})

    def fits(self, boxes: dict[int, Box], strides: tuple[int, ...], batch: int) -> bool:
        """Whether diagonals are few, and every place in their boxes belongs to an example."""
        return len(boxes) * SPARSE <= batch and all(_inside(k, strides, box, batch) for k, box in boxes.items())

    def filled(self, slot: int, shape: Shape) -> int:
        """A slot whose array has its full shape, as what isn't elementwise needs it."""
        if slot not in self.s.single:
            return slot
        return self.s.emit("broadcast_to", shape, (slot,), array_type(shape, self.s.types[slot].dtype))

    def taken_apart(self, band: Band, steps: tuple[int, ...]) -> Whole:
        """Where the diagonals go in an array with these strides: the batch's, then those of the other axes."""
        number = self.value(band.ground)
        parts = [] if number is not None else [(band.ground, Placement(0, (band.batch, *band.shape), steps))]
        for first, (slot, box) in band.diagonals.items():
            sizes = tuple([high - low for low, high in box])
            if box != _whole(band.shape):
                slices = tuple([(low, high - low, 1) for low, high in box])
                slot = self.moved("slice", slices, slot, sizes)
            start = first + sum([low * s for (low, _), s in zip(box, band.strides, strict=True)])
            offset = start * steps[0] + sum([low * s for (low, _), s in zip(box, steps[1:], strict=True)])
            strides = tuple([s * steps[0] + t for s, t in zip(band.strides, steps[1:], strict=True)])
            parts.append((slot, Placement(offset, sizes, strides)))
        return Whole(0 if number is None else number.item(), parts)


MOVED: dict[str, Any] = {
    "broadcast_to": Bands.broadcast, "permute_dims": Bands.permuted, "slice": Bands.sliced, "embed": Bands.embedded,
}  # fmt: skip


def _whole(shape: Shape) -> Box:
    return tuple([(0, n) for n in shape])


def _plain(strides: tuple[int, ...], shape: Shape) -> tuple[int, ...]:
    """Strides with 0 along axes of one element, where they mean nothing until somebody embeds them."""
    return tuple([0 if n == 1 else s for n, s in zip(shape, strides, strict=True)])


def _around(a: Box, b: Box) -> Box:
    """The smallest box around two."""
    return tuple([(min(p, r), max(q, s)) for (p, q), (r, s) in zip(a, b, strict=True)])


def _inside(first: int, strides: tuple[int, ...], box: Box, batch: int) -> bool:
    """Whether every place in a box belongs to an example."""
    ends = [sorted((low * s, (high - 1) * s)) for (low, high), s in zip(box, strides, strict=True)]
    return first + sum([low for low, _ in ends]) >= 0 and first + sum([high for _, high in ends]) < batch


def _same(a: Any, b: Any) -> bool:
    """Whether two numbers are the same, their signs included."""
    return bool(a == b) and (a.dtype.kind != "f" or math.copysign(1.0, a) == math.copysign(1.0, b))
