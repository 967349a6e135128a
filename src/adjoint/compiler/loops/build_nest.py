"""Loop nests as LLVM IR: one function for each, over a range of its rows."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from adjoint.compiler.excerpts import Excerpt
from adjoint.compiler.fuse.kinds import Nest, View
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.accumulation import Accumulator
from adjoint.compiler.loops.build import BYTES, ELEMENT, Emitter, Value, mask_of
from adjoint.compiler.loops.division import Divisor, divisor, quotient
from adjoint.compiler.loops.formulas import REDUCTIONS, formula_of, is_plain, scaled_plainly
from adjoint.compiler.loops.matmul_tiles import Kernel, lanes_of
from adjoint.compiler.loops.vector_loop import VectorLoop
from adjoint.compiler.schedule.nests import Dimension, NestPlan, Strides
from adjoint.compiler.tables import LARGE, Arguments, Function, Key, Start
from adjoint.plan.plan import Step
from adjoint.runtime import llvm
from adjoint.shapes import contiguous, size_of

SCALED = 3  # products by one number in a loop that reads neighbours, from which it is written for ordinary numbers, too
NEST = (("ptr", "%table"), ("i64", "%lo"), ("i64", "%hi"), ("i64", "%chunk"), ("ptr", "%own"), ("ptr", "%args"))


class NestWriter(NestPlan):
    """Writes one loop nest, as a function of a range of its rows: indices of the outermost loop, below `extent`; of a nest
    that is one long loop its elements, in multiples of `granule`, and what is left behind the last of them belongs to it.
    """

    def __init__(self, excerpt: Excerpt, nest: Nest, arguments: Arguments, bits: int) -> None:
        super().__init__(excerpt, nest, bits)
        self.arguments = arguments
        self.e = Emitter(self.lanes)
        self.pointers: dict[Any, str] = {}
        self.prologue: list[Any] = []
        self.numbers: dict[Any, str] = {}  # extents and strides in this function, by role
        self.scratch: dict[Any, int] = {}  # bytes of a row, by key
        self.indices: dict[int, str] = {}  # of the loops around, by axis
        self.row_values: dict[Any, Value] = {}
        self.divisors: dict[int, Divisor] = {}  # of the divisions by one number for the whole row, by slot
        # those gone through together: axis, index, values and divisors of each
        self.rows: list[tuple[int, str, dict[Any, Value], dict[int, Divisor]]] = []
        self.values: dict[Any, Value] = {}
        self.pitches: dict[View, str] = {}  # of what was turned
        self.turned_row = ""  # which of those that were turned together
        self.amid = False  # whether the vectors that are written touch no bound
        self.plainly: set[int] = set()  # the products by numbers that are known to be ordinary where the code is

    def pointer(self, key: Any) -> str:
        name = self.pointers.get(key)
        if name is None:
            name = self.pointers[key] = f"%base{len(self.pointers)}"
            if key in self.partial:
                size = size_of(self.excerpt.shapes[key]) * BYTES[self.excerpt.dtypes[key]]
                self.load_pointer(f"{name}.all", self.share_partial(key))
                by = self.number(size, ("totals", key), size)
                self.prologue += [
                    L.Index(f"{name}.by", "mul", "%chunk", by),
                    L.At(name, f"{name}.all", "i8", f"{name}.by"),
                ]
            elif key in self.nest.tiles:  # a tile holds the rows from %lo on
                dtype = self.excerpt.dtypes[key]
                self.load_own(f"{name}.tile", self.nest.tiles[key])
                by = self.number(-self.elements, "tile", self.elements)
                self.prologue += [
                    L.Index(f"{name}.by", "mul", "%lo", by),
                    L.At(name, f"{name}.tile", ELEMENT[dtype], f"{name}.by"),
                ]
            elif type(key) is tuple and key[0] == "scratch":
                self.load_own(name, self.arguments.reserve(self.scratch[key]))
            else:
                self.load_pointer(name, key if type(key) is Function else Start(key, 0))
        return name

    def load_pointer(self, name: str, key: Key) -> None:
        self.prologue.append(L.Array(name, self.arguments.at(key), key))

    def share_partial(self, slot: int) -> Key:
        """Where the chunks' totals of a slot are."""
        size = size_of(self.excerpt.shapes[slot]) * BYTES[self.excerpt.dtypes[slot]]
        return self.arguments.share(f"totals of {slot}", size * self.chunks)

    def load_own(self, name: str, offset: int) -> None:
        """A pointer into the scratch space of the thread that runs."""
        place = self.number(offset, ("own", offset), LARGE)
        self.prologue += [L.Entry(f"{name}.own", "%own", "0"), L.At(name, f"{name}.own", "i8", place)]

    def number(self, value: int, role: Any, extent: int | None = None) -> str:
        """A number that follows from the nest's extents: as it stands, or as an argument if what it follows from is large."""
        if (value if extent is None else extent) <= self.tuning.literal:
            return str(value)
        key = self.arguments.given(value, role)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = f"%number{len(self.numbers)}"
            self.prologue.append(L.Argument(found, self.arguments.at(key)))
        return found

    def extent_of(self, d: Dimension) -> str:
        return self.number(d.size, ("extent", d.axis))

    def stride(self, strides: Strides, axis: int) -> int | str:
        """The stride along an axis, for a vector: 0 and 1 as they are, else a vector of multiples."""
        stride = strides[axis] if axis >= 0 else 1
        if abs(stride) <= self.tuning.literal:
            return stride
        role, e = ("steps", strides, axis), self.e
        found = self.numbers.get(role)
        if found is None:
            number = self.number(stride, ("stride", strides, axis), LARGE)
            found = self.numbers[role] = f"%steps{len(self.numbers)}"
            self.prologue.append(L.Multiples(found, e.lanes, number))
        return found

    def offset(self, start: int, strides: Strides) -> str:
        """The element of an access at the loops' indices."""
        total = str(start)
        for axis in self.indices:
            total = self.along(total, strides, axis)
        return total

    def along(self, start: str, strides: Strides, axis: int) -> str:
        """The element of an access at a loop's index, from an element on."""
        e, i, stride = self.e, self.indices.get(axis, "0"), strides[axis] if axis >= 0 else 0
        if not stride:
            return start
        by = self.number(stride, ("stride", strides, axis), abs(stride))
        term = i if stride == 1 else e.index("mul nsw", i, by)
        return term if start == "0" else e.index("add nsw", start, term)

    def write(self) -> L.Function:
        e, scaled = self.e, self.scaled_by_number()
        if len(scaled) < SCALED:
            self.loops()
        else:  # the same loops twice: see `formulas.scaled_plainly`
            factors = dict.fromkeys([self.producer[slot].inputs[k] for slot, k in scaled.items()])
            plain = [is_plain(e, self.uniform(self.outside(i), self.excerpt.dtypes[i])) for i in factors]
            ordinary = functools.reduce(e.both, plain)
            for self.plainly, condition in ((set(scaled), ordinary), (set(), e.invert(ordinary))):
                self.row_values, self.values, self.divisors, e.known = {}, {}, {}, {}
                with e.when_any(condition):
                    self.loops()
        return self.function("nest", NEST)

    def scaled_by_number(self) -> dict[int, int]:
        """The products by one number for all of a nest that reads neighbours, with the place of that operand."""
        nest, found = self.nest, dict[int, int]()
        if not self.bounded() or not llvm.has_fma():
            return found
        for step in nest.steps:
            dtype = self.excerpt.dtypes[step.output]
            if step.op.name == "scale" and nest.level[step.output] == "element" and dtype in ("float32", "float64"):
                for k, i in enumerate(step.inputs):
                    if not self.inside(i) and not any(self.outside(i).strides):
                        found[step.output] = k
        return found

    def loops(self) -> None:
        e, nest = self.e, self.nest
        with ExitStack() as loops:
            for k, d in enumerate(self.outer[:-1] if self.jammed or self.columns or self.turned else self.outer):
                bounds = ("%lo", "%hi") if k == 0 else ("0", self.extent_of(d))
                self.indices[d.axis] = loops.enter_context(e.loop(*bounds, 1))
            if self.turned:
                self.rows_turned(self.outer[-1], loops)
            if self.jammed:
                self.rows_together(self.outer[-1])
            if self.columns:
                self.by_column(self.outer[-1])
            for phase, actions in enumerate(self.actions):
                if actions and not self.jammed and not self.columns:
                    self.row_pass(phase, actions)
            if not self.row_partial():
                self.store_rows()
            else:
                for slot in self.partial:
                    if slot in nest.by_row:
                        e.store_scalar(self.row_values[slot], self.pointer(slot), "0")

    def rows_together(self, d: Dimension) -> None:
        """The loop over rows, some at once, and what is left of them one by one."""
        e = self.e
        if len(self.outer) > 1:
            together = self.number(d.size // self.tuning.jammed * self.tuning.jammed, "together", d.size)
            ranges = [("0", together, self.tuning.jammed)]
            if d.size % self.tuning.jammed:
                ranges.append((together, self.extent_of(d), 1))
            for low, high, count in ranges:
                with e.loop(low, high, count) as i:
                    self.jam(d, i, count)
            return
        rest = e.index("urem", e.index("sub", "%hi", "%lo"), self.tuning.jammed)
        middle = e.index("sub", "%hi", rest)
        for low, high, count in (("%lo", middle, self.tuning.jammed), (middle, "%hi", 1)):
            with e.when(e.test("slt", low, high)), e.loop(low, high, count) as i:
                self.jam(d, i, count)

    def jam(self, d: Dimension, first: str, count: int) -> None:
        """So many rows from the first on, a vector of each in turn."""
        (actions,) = self.actions
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
        e, last, count = self.e, self.inner[-1], self.turned_rows
        low, high = ("%lo", "%hi") if len(self.outer) == 1 else ("0", self.extent_of(d))
        first = loops.enter_context(e.loop(low, high, count))
        behind = e.index("umin", e.plus(first, count), high)
        start = e.index("sub", behind, count)  # of the last rows some are turned again, as blocks are square
        self.indices[d.axis], size = start, self.number(last.size, "turned", LARGE)
        for view in self.turned:
            dtype, lanes = self.dtype_of(view), lanes_of(self.dtype_of(view), llvm.vector_bits())
            # one vector more: rows whose lengths are powers of two would share sets of the cache
            pitch = -(-last.size // lanes) * lanes + lanes
            self.scratch["scratch", view] = pitch * -(-count // lanes) * lanes * BYTES[dtype]
            self.pitches[view] = self.number(pitch, ("pitch", dtype), LARGE)
            step = self.number(view.strides[last.axis], ("stride", view.strides, last.axis), LARGE)
            source = e.at(self.pointer(view.root), self.offset(view.offset, view.strides), ELEMENT[dtype])
            e.call(self.pointer(Function("tiles", Kernel("across", dtype))), (
                ("ptr", source), ("i64", step), ("ptr", self.pointer(("scratch", view))), ("i64", self.pitches[view]),
                ("i64", str(count)), ("i64", size),
            ))  # fmt: skip
        self.indices[d.axis] = loops.enter_context(e.loop(first, behind, 1))
        self.turned_row = e.index("sub", self.indices[d.axis], start)

    def dtype_of(self, view: View) -> str:
        """The dtype of what is read through a view."""
        return next(self.excerpt.dtypes[i] for i, own in self.excerpt.views.items() if own.root == view.root)

    def by_column(self, d: Dimension) -> None:
        """The loop over rows where sums by column stay in registers: after so many rows as a block has vectors, for each of those
        that are gone through at once, they are added to what is in memory."""
        e, (actions, *_), count = self.e, self.actions, self.columns
        self.current = 0
        low, high = ("%lo", "%hi") if len(self.outer) == 1 else ("0", self.extent_of(d))
        slots = [slot for kind, slot in actions if kind == "reduce"]
        sums = [[self.accumulator(s, False, count) for s in slots] for _ in range(-(-self.inner[-1].size // e.lanes))]
        with e.loop(low, high, self.block * count) as first:
            behind = e.index("umin", e.plus(first, self.block * count), high)
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
        e, last = self.e, self.inner[-1]
        for k in range(count):
            self.indices[last.axis], self.values, e.known = str(k * e.lanes), {}, {}
            e.mask = self.mask_of(last.size % e.lanes, last) if last.size < (k + 1) * e.lanes else None
            yield k
        e.mask, e.known = None, {}
        del self.indices[last.axis]

    def function(self, name: str, parameters: L.Parameters) -> L.Function:
        for libm, k in self.e.libm.items():
            self.load_pointer(f"%libm{k}", Function("C", libm))
        return self.e.function(name, parameters, name == "nest", self.prologue)

    def row_partial(self) -> bool:
        """Whether what all of the domain is reduced to comes in parts."""
        return any(slot in self.nest.by_row for slot in self.partial)

    def store_rows(self) -> None:
        for slot in self.nest.stored:
            if self.nest.level[slot] == "row" or slot in self.nest.by_row:
                value = self.row(slot)
                self.e.store_scalar(value, self.pointer(slot), self.offset(0, self.result_strides(slot)))

    def restart(self, lanes: int) -> Emitter:
        """Begin another function."""
        self.e = Emitter(lanes)
        self.pointers, self.prologue, self.numbers = {}, [], {}
        self.indices, self.row_values, self.values, self.divisors = {}, {}, {}, {}
        return self.e

    def row_pass(self, phase: int, actions: list[tuple[str, int]]) -> None:
        e = self.e
        self.current = phase
        reduced = [slot for kind, slot in actions if kind == "reduce"]
        self.prepare([slot for kind, slot in actions if kind != "reduce"], reduced)
        vector = self.inner[-1]
        whole = vector.size // e.lanes
        elements = 1
        for d in self.inner:
            elements *= d.size
        blocked = elements > 32 * e.lanes
        light = sum(self.cost[s] for _, s in actions) <= 16
        copies = self.tuning.unroll if reduced and light and whole >= 2 * self.tuning.unroll else 1
        by_row = [self.accumulator(s, blocked, copies) for s in reduced if s in self.nest.by_row]
        with ExitStack() as loops:
            for k, d in enumerate(self.inner[:-1]):
                ranged = k == 0 and not self.outer and self.extent == d.size and not any(self.actions[1:])
                bounds = ("%lo", "%hi") if ranged else ("0", self.extent_of(d))
                self.indices[d.axis] = loops.enter_context(e.loop(*bounds, 1))
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
        for d in self.inner[:-1]:
            del self.indices[d.axis]
        for a in by_row:
            self.row_values[a.step.output] = a.result(e)

    def accumulator(self, slot: int, blocked: bool, copies: int) -> Accumulator:
        return Accumulator(self.e, self.producer[slot], self.excerpt.dtypes[slot], blocked, copies)

    def mask_of(self, rest: int, vector: Dimension) -> str:
        """The mask of the last vector, of which so many lanes count."""
        if vector.size <= self.tuning.literal:
            return mask_of(rest, self.e.lanes)
        found = self.numbers.get("mask")
        if found is None:
            count = self.number(rest, "rest", LARGE)
            with self.e.inside(self.prologue):
                found = self.numbers["mask"] = self.e.below(count)
        return found

    def perform(self, actions: list[tuple[str, int]], accumulators: list[Accumulator], copy: int) -> None:
        e = self.e
        running = {a.step.output: a for a in accumulators}
        done = []
        for kind, slot in actions:
            source = self.producer[slot].inputs[0] if kind == "reduce" else slot
            done.append((kind, slot, self.element(source)))
        for kind, slot, value in done:
            if kind != "reduce":
                key, strides = self.place_of(slot)
                e.store(value, self.pointer(key), self.offset(0, strides))
            elif slot in running:
                running[slot].add(e, value, copy)
            else:
                self.add_to_memory(slot, value)

    def add_to_memory(self, slot: int, value: Value) -> None:
        e = self.e
        dtype, strides = self.excerpt.dtypes[slot], self.result_strides(slot)
        pointer, offset, stride = self.pointer(slot), self.offset(0, strides), self.stride(strides, self.inner[-1].axis)
        before = e.load(pointer, offset, dtype, stride)
        combine = REDUCTIONS[self.producer[slot].op.name][1]
        e.store(combine(e, before, e.cast(value, dtype)), pointer, offset, stride)

    def place_of(self, slot: int) -> tuple[Any, Strides]:
        """Where an element-level slot is kept: its array, or scratch space of one row."""
        nest = self.nest
        if slot in nest.stored:
            return slot, contiguous(nest.domain)
        key = ("scratch", slot)
        split = nest.split or 0
        self.scratch[key] = size_of(nest.domain[split:]) * BYTES[self.excerpt.dtypes[slot]]
        return key, (0,) * split + contiguous(nest.domain[split:])

    # Values

    def prepare(self, slots: list[int], reduced: list[int]) -> None:
        """Compute before the loops what is the same all along a row."""
        stack = slots + [self.producer[s].inputs[0] for s in reduced]
        seen: set[int] = set()
        while stack:
            slot = stack.pop()
            if slot in seen:
                continue
            seen.add(slot)
            if not self.inside(slot):
                view = self.spread(self.outside(slot))
                if all(view.strides[d.axis] == 0 for d in self.inner if d.axis >= 0):
                    self.uniform(view, self.excerpt.dtypes[slot])
            elif self.nest.level[slot] != "element":
                self.row(slot)
            elif self.producer[slot].op.name == "padded":
                continue  # beyond the ends of the array there may be no memory
            elif slot in slots or not self.is_kept(slot):
                stack.extend(self.producer[slot].inputs)
                self.prepare_division(self.producer[slot])

    def prepare_division(self, step: Step) -> None:
        """Of a division by what is the same all along a row, the reciprocal is computed before the loops."""
        if not step.op.quotient or self.inner[-1].size < self.tuning.divided_from * self.e.lanes:
            return
        if not llvm.has_fma():  # a function call then
            return
        slot = step.inputs[1]
        if slot in self.divisors or not self.excerpt.dtypes[slot].startswith("float"):
            return
        if self.inside(slot):
            by = self.row(slot) if self.nest.level[slot] != "element" else None
        else:
            view = self.spread(self.outside(slot))
            same = all(view.strides[d.axis] == 0 for d in self.inner if d.axis >= 0)
            by = self.uniform(view, self.excerpt.dtypes[slot]) if same else None
        if by is not None:
            self.divisors[slot] = divisor(self.e, by)

    def uniform(self, view: View, dtype: str) -> Value:
        found = self.row_values.get(view)
        if found is None:
            found = self.scalar(view.root, dtype)
            if found is None:
                found = self.e.load_scalar(self.pointer(view.root), self.offset(view.offset, view.strides), dtype)
            self.row_values[view] = found
        return found

    def scalar(self, root: int, dtype: str) -> Value | None:
        """A constant of the plan that is one number stands in the code itself."""
        constant = self.excerpt.constants.get(root)
        if constant is None or constant.ndim:
            return None
        return self.e.constant(constant.item(), dtype)

    def is_kept(self, slot: int) -> bool:
        return slot in self.saved and self.saved[slot] < self.current

    def row(self, slot: int) -> Value:
        """A value of which there is one for each row, in every lane."""
        found = self.row_values.get(slot)
        if found is None:
            step = self.producer[slot]
            given = []
            for i in step.inputs:
                if self.inside(i):
                    given.append(self.row(i))
                else:
                    view = self.outside(i)
                    given.append(self.uniform(View(view.root, view.offset, (), self.row_strides(view, step.type.shape)),
                                              self.excerpt.dtypes[i]))  # fmt: skip
            found = self.row_values[slot] = self.apply(step, given)
        return found

    def element(self, slot: int) -> Value:
        """A vector of an element-level value, or a row's value in every lane."""
        found = self.values.get(slot)
        if found is None:
            if not self.inside(slot):
                found = self.loaded(self.spread(self.outside(slot)), self.excerpt.dtypes[slot])
            elif self.nest.level[slot] != "element":
                found = self.row(slot)
            elif self.is_kept(slot):
                key, strides = self.place_of(slot)
                found = self.e.load(self.pointer(key), self.offset(0, strides), self.excerpt.dtypes[slot], 1)
            else:
                step = self.producer[slot]
                given = [self.element(i) for i in step.inputs] if step.op.name != "padded" else []
                by = self.divisors.get(step.inputs[-1]) if step.op.quotient else None
                if slot in self.plainly:
                    found = scaled_plainly(self.e, *given)
                else:
                    found = self.apply(step, given) if by is None else self.divided(step, given[0], by)
            self.values[slot] = found
        return found

    def loaded(self, view: View, dtype: str) -> Value:
        found = self.row_values.get(view) or self.values.get(view)
        if found is None and view in self.turned:
            i = self.indices.get(self.inner[-1].axis, "0")
            at = self.e.plus(self.e.times(self.turned_row, self.pitches[view]), i)
            found = self.values[view] = self.e.load(self.pointer(("scratch", view)), at, dtype, 1)
        elif found is None:
            stride = self.stride(view.strides, self.inner[-1].axis)
            offset = self.offset(view.offset, view.strides)
            if stride == 0:
                found = self.e.load_scalar(self.pointer(view.root), offset, dtype)
            else:
                found = self.e.load(self.pointer(view.root), offset, dtype, stride)
            self.values[view] = found
        return found

    def begin_padded(self) -> None:
        """Work out for each view with limits, before the loop over vectors, where its row is and how many lanes of it count: none
        beyond its limits, where the first row inside is read, for processors take long over masked vectors where there is no
        memory."""
        e, last, indices = self.e, self.inner[-1].axis, self.indices
        for step in self.nest.steps:
            if step.op.name != "padded":
                continue
            inside = None
            outer = {axis: i for axis, i in indices.items() if axis != last}
            for axis, (n, first, behind) in enumerate(zip(self.nest.domain, *step.attributes, strict=True)):
                if axis == last or (first <= 0 and behind >= n):
                    continue
                i, start = outer.get(axis, "0"), self.limit(step, 0, axis)
                own = e.test("slt", i, self.limit(step, 1, axis))
                own = e.all_of(e.test("sle", start, i), own) if first > 0 else own
                outer[axis] = e.choose(own, i, start)
                inside = own if inside is None else e.all_of(inside, own)
            view, self.indices = self.outside(step.inputs[0]), outer
            offset = self.offset(view.offset, view.strides)
            lanes = None if inside is None else e.choose(inside, str(e.lanes), "0")
            self.row_values["padded", step.output] = offset, lanes  # type: ignore[assignment]
            self.indices = indices

    def padded(self, step: Step) -> Value:
        """A vector of a view inside its limits, zeros elsewhere."""
        e, view, dtype = self.e, self.outside(step.inputs[0]), self.excerpt.dtypes[step.output]
        axis, before = self.inner[-1].axis, e.mask
        row, lanes = self.row_values["padded", step.output]
        stride, offset = self.stride(view.strides, axis), self.along(row, view.strides, axis)
        mask = self.inside_of(step, axis, lanes)
        if mask is not None:
            e.mask = mask if before is None else e.both(Value(mask, "bool"), Value(before, "bool")).name
        found = e.load(self.pointer(view.root), offset, dtype, stride)
        e.mask = before
        return found

    def inside_of(self, step: Step, axis: int, lanes: str | None) -> str | None:
        """The mask of a vector's lanes that are inside a view's limits; `lanes` of them are if all along the row is."""
        e, low, high = self.e, None, lanes
        if axis >= 0 and not self.amid:
            (first, behind), i = (limit[axis] for limit in step.attributes), self.indices[axis]
            if first > 0:
                low = self.left(i, self.limit(step, 0, axis))
            if behind < self.nest.domain[axis]:
                high = self.left(i, self.limit(step, 1, axis))
                high = high if lanes is None else e.index("umin", high, lanes)
        if low is None:
            return None if high is None else e.below(high)
        high = str(e.lanes) if high is None else high
        low = low if lanes is None else e.index("umin", low, lanes)
        return e.bitwise("xor", Value(e.below(high), "bool"), Value(e.below(low), "bool")).name

    def limit(self, step: Step, which: int, axis: int) -> str:
        """The first index inside a view's limits (0) or behind them (1). It is one number for all views that share it, so that
        what follows from it is computed once."""
        value = step.attributes[which][axis]
        padded = [other for other in self.nest.steps if other.op.name == "padded"]
        first = next(other for other in padded if other.attributes[which][axis] == value)
        return self.number(value, ("limit", which, first.output, axis))

    def left(self, i: str, limit: str) -> str:
        """How many elements there are from one to a limit."""
        return self.e.choose(self.e.test("slt", i, limit), self.e.index("sub", limit, i), "0")

    def divided(self, step: Step, a: Value, by: Divisor) -> Value:
        found = quotient(self.e, a, by)
        return found if step.op.name == "divide" else self.e.select(self.e.compare("eq", a, 0.0), 0.0, found)

    def apply(self, step: Step, inputs: list[Value]) -> Value:
        dtype = step.type.dtype.name
        if step.op.name == "padded":
            return self.padded(step)
        formula = formula_of(step.op.name, dtype, [x.dtype for x in inputs])
        return inputs[0] if formula is None else formula(self.e, step.attributes, dtype, *inputs)
