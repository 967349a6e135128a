"""The innermost loop of a loop nest: over the vectors of a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adjoint.compiler.extents import occurs
from adjoint.compiler.fuse.kinds import View
from adjoint.compiler.loops.accumulation import Accumulator
from adjoint.compiler.loops.latency import longest_first
from adjoint.compiler.schedule.nests import Actions

if TYPE_CHECKING:
    from adjoint.compiler.loops.build_nest import NestWriter

__all__ = ["VectorLoop"]


class VectorLoop:
    """The innermost loop of a pass over a row: vectors, and what is left under a mask. So many `copies` of it side by side have
    sums of their own; if sums are added up in blocks, these are loops around."""

    def __init__(self, nest: NestWriter, actions: Actions, accumulators: list[Accumulator], copies: int) -> None:
        self.nest = nest
        self.e = nest.e
        self.actions = actions
        self.accumulators = accumulators
        self.copies = copies
        self.vector = nest.schedule.inner[-1]
        self.blocked = any(a.blocked for a in accumulators)
        self.part: tuple[str, ...] = ()  # which of several stretches

    def number(self, vectors: int, *role: Any) -> str:
        """The element at which so many vectors end."""
        return self.nest.number(vectors * self.e.lanes, role, self.vector.size)

    def write(self) -> None:
        nest, e = self.nest, self.e
        whole, rest = divmod(self.vector.size, e.lanes)
        if not nest.rows:
            nest.begin_padded()
        if nest.schedule.flat:
            self.range()
            done = nest.schedule.extent // e.lanes
            left, behind = occurs(whole - done), occurs(rest)
            if left or behind:
                with e.when(e.test("eq", "%hi", nest.number(nest.schedule.extent, "extent", self.vector.size))):
                    if left:
                        self.stretch(done, whole - done)
                    self.remainder(whole, rest)
        else:
            if whole and not self.accumulators and self.copies == 1 and self.vector.axis in nest.bounded():
                self.stretches(whole)
            elif whole:
                self.stretch(0, whole)
            self.remainder(whole, rest)
        self.flush()
        nest.indices.pop(self.vector.axis, None)

    def range(self) -> None:
        """Whole vectors from %lo to %hi."""
        if self.blocked:
            self.in_blocks("%lo", "%hi", self.nest.schedule.granule)
        else:
            self.run("%lo", "%hi", self.copies)

    def stretches(self, whole: int) -> None:
        """So many vectors, those in which nothing that is read ends without masks."""
        nest, lanes, axis = self.nest, self.e.lanes, self.vector.axis
        limits = [[limit[axis] for limit in step.attributes] for step in nest.nest.steps if step.op.name == "padded"]
        low = min(max([-(-first // lanes) for first, _ in limits]), whole)
        high = max(min([whole, *[behind // lanes for _, behind in limits]]), low)
        for part, start, stop in (("before", 0, low), ("amid", low, high), ("behind", high, whole)):
            nest.amid, self.part = part == "amid", (part,)
            if start < stop:
                self.stretch(start, stop - start)
        nest.amid, self.part = False, ()

    def stretch(self, start: int, count: int) -> None:
        """Vectors from `start` on, `count` of them: in blocks, in groups of copies, one by one."""
        copies, block = self.copies, self.nest.schedule.block
        if self.blocked:
            together = count // copies * copies
            blocks = together // block if together > 2 * block else 0
            size = block * self.e.lanes
            self.between("blocks", start, start + blocks * block, lambda low, high: self.in_blocks(low, high, size))
            start += blocks * block
            count -= blocks * block
        together = count // copies * copies
        if copies > 1 or self.blocked:
            self.between("groups", start, start + together, lambda low, high: self.run(low, high, copies))
            if copies > 1:
                self.between("singles", start + together, start + count, lambda low, high: self.run(low, high, 1))
        elif count:
            role = (self.nest.current, *self.part)
            low = self.number(start, "low", *role) if start else "0"
            self.run(low, self.number(start + count, "high", *role), 1)

    def between(self, name: str, start: int, stop: int, go: Callable[[str, str], None]) -> None:
        """`go(low, high)` from one vector to another, if there are any between them."""
        e, current = self.e, self.nest.current
        low, high = self.number(start, name, "low", current), self.number(stop, name, "high", current)
        if self.vector.size <= self.nest.inputs.literal:
            if start < stop:
                go(low, high)
            return
        with e.when(e.test("slt", low, high)):
            go(low, high)

    def in_blocks(self, low: str, high: str, size: int) -> None:
        """Blocks of so many elements, each with sums of its own."""
        e = self.e
        with e.loop(low, high, size) as i:
            self.run(i, e.index("add nuw nsw", i, size), self.copies)
            self.flush()

    def run(self, start: str, stop: str, unrolled: int) -> None:
        """Vectors between two elements, so many at a time."""
        e = self.e
        with e.loop(start, stop, e.lanes * unrolled) as i:
            for k in range(unrolled):
                self.body(i if k == 0 else e.index("add nuw nsw", i, k * e.lanes), k)
            e.body[:] = longest_first(e.body)

    def remainder(self, whole: int, rest: int) -> None:
        """What is left behind the whole vectors."""
        if occurs(rest):
            with self.nest.inputs.left_over(rest, self.vector.size, "rest"):
                self.body(self.nest.number(whole * self.e.lanes, "whole", self.vector.size), 0)

    def body(self, i: str, copy: int) -> None:
        """One vector, of each of the rows that are gone through together."""
        nest, e = self.nest, self.e
        if self.vector.axis >= 0:
            nest.indices[self.vector.axis] = i
        nest.values, e.known = {}, {}
        for axis, index, row_values, divisors in nest.rows:
            nest.indices[axis], nest.row_values, nest.divisors = index, row_values, divisors
            nest.perform(self.actions, self.accumulators, copy)
            # what was read serves the next row as well if it is the same there
            nest.values = {v: x for v, x in nest.values.items() if type(v) is View and v.strides[axis] == 0}
            e.known = {}
        if not nest.rows:
            nest.perform(self.actions, self.accumulators, copy)
        e.known = {}

    def flush(self) -> None:
        """Add what was summed in this block to the totals."""
        if self.blocked:
            for a in self.accumulators:
                a.flush(self.e)
