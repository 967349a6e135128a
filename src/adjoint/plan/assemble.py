"""An array of one number with other arrays written into it: zeros with slices or diagonals put in. One step does what else
takes an array of zeros for each part, and additions of those."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.graph import ArrayType, StandIn
from adjoint.plan.plan import Step
from adjoint.primitives.structural import Slices
from adjoint.shapes import Shape, contiguous, reshaped_strides, size_of

if TYPE_CHECKING:
    from adjoint.plan.simplify import Simplifier


class Placement(NamedTuple):
    """Where the elements of a part go in the flat array: from an offset on, at a stride for each axis of the part.

    adds_zero    0 is added to each, as where the part was one term of a sum and the others were 0 there: -0 becomes 0
    """

    offset: int
    sizes: Shape
    strides: tuple[int, ...]
    adds_zero: bool = False


class Filled(NamedTuple):
    """The attributes of such a step: the number, and a placement for each input. Where two of them meet, the later one is
    on top."""

    number: Any
    placements: tuple[Placement, ...]


class Pieces(StandIn):
    """The whole of which parts are given; no graph has such a node, only a simplified plan."""

    variadic = True

    @staticmethod
    def kernel(attributes: Filled, type: ArrayType) -> Callable[..., Any]:
        """The NumPy function of the parts."""

        def kernel(*parts: Any) -> Any:
            out = np.full(type.size, attributes.number, type.dtype.dtype)
            for part, place in zip(parts, attributes.placements, strict=True):
                strides = tuple([s * out.itemsize for s in place.strides])
                view = np.lib.stride_tricks.as_strided(out[place.offset :], place.sizes, strides)
                view[...] = part + part.dtype.type(0) if place.adds_zero else part
            return out.reshape(type.shape)

        return kernel


PIECES = Pieces("pieces")


def pieces(attributes: Filled, inputs: tuple[int, ...], output: int, type: ArrayType) -> Step:
    """The step."""
    kernel = PIECES.kernel(attributes, type)
    return Step(PIECES, attributes, kernel, kernel, inputs, output, type)  # type: ignore[arg-type]


def placed(slices: Slices, shape: Shape, adds_zero: bool = False) -> Placement:
    """Where an array goes that is put at slices."""
    steps = contiguous(shape)
    offset = sum([start * s for (start, _, _), s in zip(slices, steps, strict=True)])
    strides = tuple([by * s for (_, _, by), s in zip(slices, steps, strict=True)])
    return Placement(offset, tuple([n for _, n, _ in slices]), strides, adds_zero)


class Parts:
    """Arrays put into zeros at places that don't meet, as a tree of sums: one, in `slot` and put at `slices`, or all of two
    others. A sum that grows by one array at a time would take a list of all before for each if they were lists."""

    __slots__ = ("box", "count", "halves", "others", "places", "slices", "slot")
    count: int
    box: list[tuple[int, int]]  # the first and the last place along each axis
    # Of parts that are one place along an axis and the same along the others: the axis with those, and the places. A larger sum
    # takes the set of the one that it grows from, which has none any more.
    others: Any
    places: set[int] | None

    def __init__(self, slot: int, slices: Slices, halves: tuple[Parts, ...] = ()) -> None:
        self.slot, self.slices, self.halves = slot, slices, halves
        self.others = self.places = None
        if halves:
            left, right = halves
            small, large = (left, right) if left.count < right.count else (right, left)
            places, more = large.places, small.places
            if places and more and left.others == right.others:
                places |= more
                self.others, self.places, large.places = large.others, places, None
            self.count = left.count + right.count
            self.box = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(left.box, right.box, strict=True)]
        else:
            self.count = 1
            axis = next((k for k, (start, n, _) in enumerate(slices) if n == 1 and type(start) is int), None)
            if axis is not None:
                self.others, self.places = (axis, *slices[:axis], *slices[axis + 1 :]), {slices[axis][0]}
            ends = [(start, start + (n - 1) * by) for start, n, by in slices]
            self.box = [(a, b) if a <= b else (b, a) for a, b in ends]

    def each(self) -> Iterator[Parts]:
        """The single ones, in order."""
        pending = [self]
        while pending:
            part = pending.pop()
            if part.halves:
                pending += part.halves[::-1]
            else:
                yield part


def sum_of_embedded(s: Simplifier, step: Step) -> Step | None:
    """Arrays put into zeros at places that don't meet and then added up are put into the same zeros, each plus 0. Most such
    sums are terms of the next one, so `assembled` writes the placements for those alone that are read in the end."""
    if step.inputs[0] not in s.embedded or step.type.dtype.kind not in "fiu":
        return None
    left, right = [s.embedded.get(slot) for slot in step.inputs]
    if left is None or right is None or any([s.types[slot].shape != step.type.shape for slot in step.inputs]):
        return None
    if _meet(left, right):
        return None
    parts = s.embedded[step.output] = Parts(step.output, (), (left, right))
    return Step(PIECES, parts, None, None, step.inputs, step.output, step.type)  # type: ignore[arg-type]


def assembled(s: Simplifier, step: Step) -> Step:
    """The step of such a sum with its placements."""
    moved = [
        _before_reshaping(s, x.slot, placed(x.slices, step.type.shape, adds_zero=True)) for x in step.attributes.each()
    ]
    filled = Filled(0, tuple([place for _, place in moved]))
    return pieces(filled, tuple([slot for slot, _ in moved]), step.output, step.type)


def _before_reshaping(s: Simplifier, slot: int, place: Placement) -> tuple[int, Placement]:
    """What was reshaped to a part, and where it goes: a reshape may need a copy, a placement in other axes doesn't."""
    step = s.behind(slot, "reshape")
    if step is None or step.inputs[0] in s.single:
        return slot, place
    sizes = s.types[step.inputs[0]].shape
    strides = reshaped_strides(place.sizes, place.strides, sizes)
    return (
        (slot, place) if strides is None else (step.inputs[0], Placement(place.offset, sizes, strides, place.adds_zero))
    )


def note_embedded(s: Simplifier, step: Step) -> None:
    """Remember where a step, `embed`, puts an array into zeros."""
    if step.inputs[0] not in s.single and step.type.size:
        s.embedded[step.output] = Parts(step.inputs[0], step.attributes[1])


def _meet(left: Parts, right: Parts) -> bool:
    """Whether a part of one may have an element in common with a part of the other: their extents overlap along every axis."""
    if left.places and right.places and left.others == right.others:
        return not left.places.isdisjoint(right.places)
    pending = [(left, right)]
    while pending:
        a, b = pending.pop()
        if any([high < bottom or top < low for (low, high), (bottom, top) in zip(a.box, b.box, strict=True)]):
            continue
        if a.count == b.count == 1:
            return True
        if a.count >= b.count:
            pending += [(part, b) for part in a.halves]
        else:
            pending += [(a, part) for part in b.halves]
    return False


def fills_everything(attributes: Filled, size: int) -> bool:
    """Whether the parts leave nothing of the array's own number: they don't meet, unless the first of them is everywhere."""
    return sum([size_of(place.sizes) for place in attributes.placements]) >= size
