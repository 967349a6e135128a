"""What a loop nest computes between a convolution and a pool, cell by cell: on vectors of channels that are in registers.

A cell is a pixel of channels-last images. The nest's other operands are read where the cell is; what it stores goes to memory,
or is compared with the other cells of a pool's window.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.excerpts import Excerpt
from adjoint.compiler.fuse.kinds import Nest, View, Window, broadcast
from adjoint.compiler.loops.build import Emitter, Value
from adjoint.compiler.loops.formulas import computed
from adjoint.compiler.tables import Inputs, Start
from adjoint.plan.plan import Step
from adjoint.shapes import contiguous

Same = dict[View, Value]  # operands that are the same for all cells, for a vector of channels


class Cell(NamedTuple):
    """The numbers of an image, of a row and of a column."""

    image: str
    row: str
    column: str


class Cells:
    """Writes the steps of a nest for one cell, into the function that is being written."""

    def __init__(self, excerpt: Excerpt, nest: Nest) -> None:
        self.excerpt, self.nest = excerpt, nest
        self.pool: Window | None = nest.followers[0] if nest.followers else None  # type: ignore[assignment]
        self.producer: dict[int, Step] = {step.output: step for step in nest.steps}
        self.made = {made.step.output for made in nest.products}  # what is given, and not read
        read = dict.fromkeys([i for step in nest.steps for i in step.inputs if i not in self.producer])
        self.views = {i: broadcast(excerpt.views[i], nest.domain) for i in read}

    def begin(self, e: Emitter, inputs: Inputs) -> None:
        """What follows goes into this function."""
        self.e, self.inputs = e, inputs

    def number(self, value: int, *role: Any) -> str:
        return self.inputs.number(value, ("cells", *role), abs(value))

    def offset(self, cell: Cell, strides: Sequence[int], *role: Any) -> str:
        """The element of an array with these strides at which a cell begins."""
        e, total = self.e, "0"
        for axis, (index, stride) in enumerate(zip(cell, strides, strict=False)):
            if stride:
                total = e.plus(total, e.times(index, self.number(stride, *role, axis)))
        return total

    def same(self, channel: str) -> Same:
        """The operands that are the same for all cells, where all that follows can see them."""
        return {
            view: self.load(view, self.excerpt.dtypes[i], "0", channel)
            for i, view in self.views.items()
            if not any(view.strides[:-1]) and view.root not in self.made
        }

    def load(self, view: View, dtype: str, offset: str, channel: str) -> Value:
        """A vector of an operand's channels, of which the cell's begin at an offset."""
        constant = self.excerpt.constants.get(view.root)
        if constant is not None and not constant.ndim:
            return self.e.constant(constant.item(), dtype)
        pointer = self.inputs.pointer(Start(view.root, 0))
        if not view.strides[-1]:
            return self.e.load_scalar(pointer, offset, dtype)
        return self.e.load(pointer, self.e.plus(offset, channel), dtype, 1)

    def offsets(self, cell: Cell) -> dict[View, str]:
        """Where a cell's part of each operand begins that isn't the same for all."""
        found = {view: i for i, view in self.views.items() if any(view.strides[:-1]) and view.root not in self.made}
        return {view: self.offset(cell, view.strides, view) for view in found}

    def values(
        self, offsets: Mapping[View, str], channel: str, same: Same, given: Value | None = None
    ) -> dict[int, Value]:
        """What is stored, by slot, of a vector of a cell's channels, of which a convolution has given its result."""
        e, found = self.e, dict[int, Value]()

        def value(slot: int) -> Value:
            if slot in found:
                return found[slot]
            step = self.producer.get(slot)
            if step is not None:
                found[slot] = computed(e, step, [value(i) for i in step.inputs])
            elif self.views[slot].root in self.made:
                assert given is not None
                found[slot] = given
            else:
                view = self.views[slot]
                found[slot] = same.get(view) or self.load(view, self.excerpt.dtypes[slot], offsets[view], channel)
            return found[slot]

        e.known = {}
        stored = {slot: value(slot) for slot in self.nest.stored}
        e.known = {}
        return stored

    def store(self, cell: Cell, channel: str, values: Mapping[int, Value]) -> None:
        """Store what isn't for a pool alone."""
        at = self.e.plus(self.offset(cell, contiguous(self.nest.domain), "stored"), channel)
        for slot, value in values.items():
            self.e.store(value, self.inputs.pointer(Start(slot, 0)), at)

    def store_pooled(self, cell: Cell, channel: str, values: Sequence[Mapping[int, Value]]) -> None:
        """Store the largest of the cells of a pool's window, or their sum, which is a cell of its result."""
        assert self.pool is not None
        (slot,) = self.nest.stored
        found = [value[slot] for value in values]
        if self.pool.step.op.name == "max_pool":
            total = largest(self.e, found)
        else:
            total = functools.reduce(self.e.add, found, self.e.constant(0.0, found[0].dtype))
        strides = contiguous(self.pool.shape)
        at = self.e.plus(self.offset(cell, strides, "pooled"), channel)
        self.e.store(total, self.inputs.pointer(Start(self.pool.step.output, 0)), at)


def largest(e: Emitter, values: Sequence[Value]) -> Value:
    """The largest, the first of equals, NaN if one is: of two, an instruction each, and one comparison looks at two for NaN."""
    total = values[0]
    for value in values[1:]:
        total = e.select(e.compare("gt", value, total), value, total)
    unordered = [e.compare("uno", a, b) for a, b in zip(values[::2], [*values[1::2], values[0]], strict=False)]
    return e.select(functools.reduce(e.either, unordered), math.nan, total)
