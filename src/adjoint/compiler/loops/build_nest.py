"""Loop nests as LLVM IR: one function for each, over a range of its rows."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import ExitStack

from adjoint.compiler.extents import occurs
from adjoint.compiler.fuse.kinds import View
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.accumulation import Accumulator
from adjoint.compiler.loops.build import BYTES, ELEMENT, Value, lanes_of
from adjoint.compiler.loops.formulas import REDUCTIONS, is_plain
from adjoint.compiler.loops.matmul_tiles import Kernel
from adjoint.compiler.loops.nest_values import NestValues
from adjoint.compiler.loops.vector_loop import VectorLoop
from adjoint.compiler.schedule.nests import Actions, Dimension
from adjoint.compiler.tables import LARGE

NEST = (("ptr", "%table"), ("i64", "%lo"), ("i64", "%hi"), ("i64", "%chunk"), ("ptr", "%own"), ("ptr", "%args"))


class NestWriter(NestValues):
    """Writes one loop nest, as a function of a range of its rows: indices of the outermost loop, below `extent`; of a nest
    that is one long loop its elements, in multiples of `granule`, and what is left behind the last of them belongs to it.
    """

    def write(self) -> L.Function:
        e, scaled = self.e, self.schedule.scaled
        if scaled:  # the same loops twice: see `formulas.scaled_plainly`
            factors = dict.fromkeys([self.producer[slot].inputs[k] for slot, k in scaled])
            plain = [is_plain(e, self.uniform(self.outside(i), self.excerpt.dtypes[i])) for i in factors]
            ordinary = functools.reduce(e.both, plain)
            for self.plainly, condition in (({slot for slot, _ in scaled}, ordinary), (set(), e.invert(ordinary))):
                self.row_values, self.values, self.divisors, e.known = {}, {}, {}, {}
                with e.when_any(condition):
                    self.loops()
        elif self.schedule.streamed:
            # twice as well: arrays may begin anywhere, and the code may serve rows of other lengths
            aligned = e.test("eq", e.index("and", self.extent_of(self.schedule.inner[-1]), e.lanes - 1), 0)
            for slot in self.schedule.streamed:
                aligned = e.all_of(aligned, e.aligned(self.pointer(slot)))
            with e.when(aligned):
                self.streaming = self.schedule.streamed
                self.loops()
                e.fence()
            with e.when(e.test("eq", e.choose(aligned, "1", "0"), 0)):
                self.streaming = ()
                self.row_values, self.values, self.divisors, e.known = {}, {}, {}, {}
                self.loops()
        else:
            self.loops()
        return self.inputs.function("nest", NEST, internal=True)

    def loops(self) -> None:
        e, nest, schedule = self.e, self.nest, self.schedule
        together = schedule.jammed or schedule.columns
        with ExitStack() as loops:
            for d in schedule.outer[:-1] if together or schedule.turned else schedule.outer:
                self.indices[d.axis] = loops.enter_context(e.loop(*self.bounds(d), 1))
            if schedule.turned:
                self.rows_turned(schedule.outer[-1], loops)
            if schedule.jammed:
                self.rows_together(schedule.outer[-1])
            if schedule.columns:
                self.by_column(schedule.outer[-1])
            for phase, one in enumerate(schedule.passes):
                if one.actions and not together:
                    self.row_pass(phase, *one)
            if not self.row_partial():
                self.store_rows()
            else:
                for slot in self.partial:
                    if slot in nest.by_row:
                        e.store_scalar(self.row_values[slot], self.pointer(slot), "0")

    def bounds(self, d: Dimension) -> tuple[str, str]:
        """Where a loop begins and ends: that which is cut into chunks, with the one at hand."""
        return ("%lo", "%hi") if d.axis == self.schedule.cut else ("0", self.extent_of(d))

    def rows_together(self, d: Dimension) -> None:
        """The loop over rows, some at once, and what is left of them one by one."""
        e = self.e
        if len(self.schedule.outer) > 1:
            together = self.number(d.size // self.schedule.jammed * self.schedule.jammed, "together", d.size)
            ranges = [("0", together, self.schedule.jammed)]
            if occurs(d.size % self.schedule.jammed):
                ranges.append((together, self.extent_of(d), 1))
            for low, high, count in ranges:
                with e.loop(low, high, count) as i:
                    self.jam(d, i, count)
            return
        rest = e.index("urem", e.index("sub", "%hi", "%lo"), self.schedule.jammed)
        middle = e.index("sub", "%hi", rest)
        for low, high, count in (("%lo", middle, self.schedule.jammed), (middle, "%hi", 1)):
            with e.when(e.test("slt", low, high)), e.loop(low, high, count) as i:
                self.jam(d, i, count)

    def jam(self, d: Dimension, first: str, count: int) -> None:
        """So many rows from the first on, a vector of each in turn."""
        ((actions, _),) = self.schedule.passes
        self.rows = []
        for k in range(count):
            index = first if k == 0 else self.e.index("add nuw nsw", first, k)
            self.indices[d.axis], self.row_values, self.divisors = index, {}, {}
            self.current = 0
            self.prepare([slot for _, slot in actions], [])
            self.begin_padded()
            self.rows.append((d.axis, index, self.row_values, self.divisors))
        VectorLoop(self, actions, [], 1).write()
        self.rows = []

    def rows_turned(self, d: Dimension, loops: ExitStack) -> None:
        """Begin the loop over rows, some at a time, of which what lies across the rows is turned first, into the thread's own
        memory."""
        e, last, count = self.e, self.schedule.inner[-1], self.schedule.turned_rows
        low, high = self.bounds(d)
        first = loops.enter_context(e.loop(low, high, count))
        behind = e.index("umin", e.plus(first, count), high)
        start = e.index("sub", behind, count)  # of the last rows some are turned again, as blocks are square
        final, size = e.index("sub", behind, 1), self.number(last.size, "turned", LARGE)
        for view in self.schedule.turned:
            self.indices[d.axis] = start if view.strides[d.axis] > 0 else final  # the row that lies first
            dtype, lanes = self.dtype_of(view), lanes_of(self.dtype_of(view))
            # one vector more: rows whose lengths are powers of two would share sets of the cache
            pitch = -(-last.size // lanes) * lanes + lanes
            self.scratch["scratch", view] = pitch * -(-count // lanes) * lanes * BYTES[dtype]
            self.pitches[view] = self.number(pitch, ("pitch", dtype), LARGE)
            step = self.number(view.strides[last.axis], ("stride", view.strides, last.axis), LARGE)
            source = e.at(self.pointer(view.root), self.offset(view.offset, view.strides), ELEMENT[dtype])
            into = self.pointer(("scratch", view))
            self.inputs.tile(Kernel("across", dtype), source, step, into, self.pitches[view], count, size)
        self.indices[d.axis] = loops.enter_context(e.loop(first, behind, 1))
        self.turned_row = e.index("sub", self.indices[d.axis], start), e.index("sub", final, self.indices[d.axis])

    def dtype_of(self, view: View) -> str:
        """The dtype of what is read through a view."""
        return next(self.excerpt.dtypes[i] for i, own in self.excerpt.views.items() if own.root == view.root)

    def by_column(self, d: Dimension) -> None:
        """The loop over rows where sums by column stay in registers: after so many rows as a block has vectors, for each of those
        that are gone through at once, they are added to what is in memory."""
        e, actions, count = self.e, self.schedule.passes[0].actions, self.schedule.columns
        self.current = 0
        low, high = self.bounds(d)
        slots = [slot for kind, slot in actions if kind == "reduce"]
        sums = [
            [self.accumulator(s, blocked=False, copies=count) for s in slots]
            for _ in range(-(-self.schedule.inner[-1].size // e.lanes))
        ]
        with e.loop(low, high, self.schedule.block * count) as first:
            behind = e.index("umin", e.plus(first, self.schedule.block * count), high)
            for sums_of_vector in sums:
                for a in sums_of_vector:
                    a.restart(e)
            middle = e.index("sub", behind, e.index("urem", e.index("sub", behind, first), count))
            for start, stop, together in ((first, middle, count), (middle, behind, 1))[: 2 if count > 1 else 1]:
                with e.when(e.test("slt", start, stop)), e.loop(start, stop, together) as i:
                    for copy in range(together):
                        self.indices[d.axis] = e.index("add nuw nsw", i, copy) if copy else i
                        self.row_values, self.divisors = {}, {}
                        self.prepare([slot for kind, slot in actions if kind != "reduce"], slots)
                        self.begin_padded()
                        for k in self.vectors(len(sums)):
                            self.perform(actions, sums[k], copy)
            del self.indices[d.axis]
            for k in self.vectors(len(sums)):
                for a in sums[k]:
                    self.add_to_memory(a.step.output, a.gathered(e))

    def vectors(self, count: int) -> Iterator[int]:
        """The vectors of a row one after the other, the last one under its mask."""
        e, last = self.e, self.schedule.inner[-1]
        for k in range(count):
            self.indices[last.axis], self.values, e.known = str(k * e.lanes), {}, {}
            e.mask = self.inputs.mask(last.size % e.lanes, last.size, "rest") if last.size < (k + 1) * e.lanes else None
            yield k
        e.mask, e.known = None, {}
        del self.indices[last.axis]

    def row_partial(self) -> bool:
        """Whether what all of the domain is reduced to comes in parts."""
        return any(slot in self.nest.by_row for slot in self.partial)

    def store_rows(self) -> None:
        for slot in self.nest.stored:
            if self.nest.level[slot] == "row" or slot in self.nest.by_row:
                value = self.row(slot)
                self.e.store_scalar(value, self.pointer(slot), self.offset(0, self.result_strides(slot)))

    def row_pass(self, phase: int, actions: Actions, copies: int) -> None:
        e = self.e
        self.current = phase
        reduced = [slot for kind, slot in actions if kind == "reduce"]
        self.prepare([slot for kind, slot in actions if kind != "reduce"], reduced)
        vector = self.schedule.inner[-1]
        blocked = self.schedule.blocked
        by_row = [self.accumulator(s, blocked, copies) for s in reduced if s in self.nest.by_row]
        with ExitStack() as loops:
            for d in self.schedule.inner[:-1]:
                self.indices[d.axis] = loops.enter_context(e.loop(*self.bounds(d), 1))
            # totals along the innermost loop go to memory after it; the others at every point
            along = [
                self.accumulator(s, blocked, copies)
                for s in reduced
                if s not in self.nest.by_row and (vector.axis < 0 or self.result_strides(s)[vector.axis] == 0)
            ]
            accumulators = by_row + along
            VectorLoop(self, actions, accumulators, copies).write()
            for a in along:
                slot = a.step.output
                pointer, offset = self.pointer(slot), self.offset(0, self.result_strides(slot))
                before = e.load_scalar(pointer, offset, a.dtype)
                e.store_scalar(a.combine(e, before, a.result(e)), pointer, offset)
        for d in self.schedule.inner[:-1]:
            del self.indices[d.axis]
        for a in by_row:
            self.row_values[a.step.output] = a.result(e)

    def accumulator(self, slot: int, blocked: bool, copies: int) -> Accumulator:
        return Accumulator(self.e, self.producer[slot], self.excerpt.dtypes[slot], blocked, copies)

    def perform(self, actions: Actions, accumulators: list[Accumulator], copy: int) -> None:
        e = self.e
        running = {a.step.output: a for a in accumulators}
        done = []
        for kind, slot in actions:
            source = self.producer[slot].inputs[0] if kind == "reduce" else slot
            done.append((kind, slot, self.element(source)))
        for kind, slot, value in done:
            if kind != "reduce":
                key, strides = self.kept_at(slot)
                if slot in self.nest.into and self.nest.into[slot].adds_zero:
                    value = e.add(value, 0)
                e.store(value, self.pointer(key), self.offset(0, strides), streamed=slot in self.streaming)
            elif slot in running:
                running[slot].add(e, value, copy)
            else:
                self.add_to_memory(slot, value)

    def add_to_memory(self, slot: int, value: Value) -> None:
        e = self.e
        dtype, strides = self.excerpt.dtypes[slot], self.result_strides(slot)
        pointer, offset, stride = (
            self.pointer(slot),
            self.offset(0, strides),
            self.stride(strides, self.schedule.inner[-1].axis),
        )
        before = e.load(pointer, offset, dtype, stride)
        combine = REDUCTIONS[self.producer[slot].op.name][1]
        e.store(combine(e, before, e.cast(value, dtype)), pointer, offset, stride)
