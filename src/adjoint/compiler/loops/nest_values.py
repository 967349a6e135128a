"""What a loop nest reads and computes: where its arrays are, and the values of its steps at one point of its loops."""

from __future__ import annotations

from typing import Any

from adjoint.compiler.excerpts import Excerpt
from adjoint.compiler.fuse.kinds import Nest, View
from adjoint.compiler.loops.build import BYTES, ELEMENT, Emitter, Value
from adjoint.compiler.loops.division import Divisor, divisor, quotient
from adjoint.compiler.loops.formulas import computed, scaled_plainly
from adjoint.compiler.schedule.nests import Dimension, NestFacts, NestSchedule, Strides
from adjoint.compiler.tables import LARGE, Arguments, Function, Key, Start, Writer
from adjoint.plan.plan import Step
from adjoint.shapes import contiguous, size_of


class NestValues(NestFacts, Writer):
    """Writes what is read and computed in the loops that stand around: those of `indices`. What is the same all along a row is
    computed before, once."""

    def __init__(self, excerpt: Excerpt, nest: Nest, schedule: NestSchedule, arguments: Arguments) -> None:
        NestFacts.__init__(self, excerpt, nest)
        Writer.__init__(self, arguments, schedule.lanes)
        self.schedule = schedule
        self.partial = schedule.partial  # as far as pointers are to what each chunk has for itself
        self.current = 0  # which pass over the rows
        self.scratch: dict[Any, int] = {}  # bytes of a row, by key
        self.tiles: dict[int, int] = {}  # where in a thread's own space arrays are of which only a tile is kept
        self.indices: dict[int, str] = {}  # of the loops around, by axis
        self.row_values: dict[Any, Value] = {}
        self.divisors: dict[int, Divisor] = {}  # of the divisions by one number for the whole row, by slot
        # those gone through together: axis, index, values and divisors of each
        self.rows: list[tuple[int, str, dict[Any, Value], dict[int, Divisor]]] = []
        self.values: dict[Any, Value] = {}
        self.pitches: dict[View, str] = {}  # of what was turned
        self.turned_row = ("", "")  # which of those that were turned together, counted from both ends
        self.amid = False  # whether the vectors that are written touch no bound
        self.streaming: tuple[int, ...] = ()  # what goes past the caches where the code is
        self.plainly: set[int] = set()  # the products by numbers that are known to be ordinary where the code is

    def restart(self, lanes: int) -> Emitter:
        """Begin another function."""
        self.begin(lanes)
        self.indices, self.row_values, self.values, self.divisors = {}, {}, {}, {}
        return self.e

    # Places and numbers

    def pointer(self, key: Any) -> str:
        """Where an array is that is read or written, or scratch space by its key."""
        return self.inputs.once(("nest", key), lambda: self.place(key))

    def place(self, key: Any) -> str:
        """As `pointer`, at the beginning of the function."""
        e, dtypes = self.e, self.excerpt.dtypes
        if key in self.partial:
            size = size_of(self.excerpt.shapes[key]) * BYTES[dtypes[key]]
            every, by = self.inputs.pointer(self.share_partial(key)), self.number(size, ("totals", key), size)
            return e.at(every, e.times("%chunk", by), "i8")
        if key in self.tiles:  # a tile holds the rows from %lo on
            tile, by = self.own(self.tiles[key]), self.number(-self.schedule.row, "tile", self.schedule.row)
            return e.at(tile, e.times("%lo", by), ELEMENT[dtypes[key]])
        if type(key) is tuple and key[0] == "scratch":
            return self.own(self.arguments.reserve(self.scratch[key]))
        return self.inputs.pointer(key if type(key) is Function else Start(key, 0))

    def share_partial(self, slot: int) -> Key:
        """Where the chunks' totals of a slot are."""
        size = size_of(self.excerpt.shapes[slot]) * BYTES[self.excerpt.dtypes[slot]]
        return self.arguments.share(f"totals of {slot}", size * self.schedule.chunks)

    def own(self, offset: int) -> str:
        """A pointer into the scratch space of the thread that runs."""
        place = self.number(offset, ("own", offset), LARGE)
        return self.e.at(self.e.entry("%own", 0), place, "i8")

    def number(self, value: int, role: Any, extent: int | None = None) -> str:
        """A number that follows from the nest's extents: as it stands, or as an argument if what it follows from is large."""
        return self.inputs.number(value, role, extent)

    def extent_of(self, d: Dimension) -> str:
        return self.number(d.size, ("extent", d.axis))

    def stride(self, strides: Strides, axis: int) -> int | str:
        """The stride along an axis, for a vector: 0 and 1 as they are, else a vector of multiples."""
        stride = strides[axis] if axis >= 0 else 1
        if abs(stride) <= self.inputs.literal:
            return stride
        number = self.number(stride, ("stride", strides, axis), LARGE)
        return self.inputs.once(("steps", strides, axis), lambda: self.e.multiples(number))

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

    def kept_at(self, slot: int) -> tuple[Any, Strides]:
        """Where an element-level slot is kept: its array, or scratch space of one row."""
        nest = self.nest
        if slot in nest.into:
            return nest.into[slot].root, nest.into[slot].strides
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
                if all(view.strides[d.axis] == 0 for d in self.schedule.inner if d.axis >= 0):
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
        if not step.op.quotient or not self.schedule.reciprocals:
            return
        slot = step.inputs[1]
        if slot in self.divisors or not self.excerpt.dtypes[slot].startswith("float"):
            return
        if self.inside(slot):
            by = self.row(slot) if self.nest.level[slot] != "element" else None
        else:
            view = self.spread(self.outside(slot))
            same = all(view.strides[d.axis] == 0 for d in self.schedule.inner if d.axis >= 0)
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
        return slot in self.schedule.saved and self.schedule.saved[slot] < self.current

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
                key, strides = self.kept_at(slot)
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
        if found is None and view in self.schedule.turned:
            i = self.indices.get(self.schedule.inner[-1].axis, "0")
            row = self.turned_row[view.strides[self.schedule.outer[-1].axis] < 0]
            at = self.e.plus(self.e.times(row, self.pitches[view]), i)
            found = self.values[view] = self.e.load(self.pointer(("scratch", view)), at, dtype, 1)
        elif found is None:
            stride = self.stride(view.strides, self.schedule.inner[-1].axis)
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
        e, last, indices = self.e, self.schedule.inner[-1].axis, self.indices
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
        axis, mask = self.schedule.inner[-1].axis, e.mask
        row, lanes = self.row_values["padded", step.output]
        stride, offset = self.stride(view.strides, axis), self.along(row, view.strides, axis)
        inside = self.inside_of(step, axis, lanes)
        if inside is not None:
            mask = inside if mask is None else e.both(Value(inside, "bool"), Value(mask, "bool")).name
        with e.masked(mask):
            return e.load(self.pointer(view.root), offset, dtype, stride)

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
        return self.padded(step) if step.op.name == "padded" else computed(self.e, step, inputs)
