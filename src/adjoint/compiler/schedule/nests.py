"""How a loop nest runs, as a value: its passes over a row, its loops, its chunks. Who writes it decides nothing."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from types import MappingProxyType

from adjoint._tuples import NamedTuple
from adjoint.compiler.excerpts import Excerpt
from adjoint.compiler.fuse.kinds import Nest, Product, View, broadcast
from adjoint.compiler.loops.build import BYTES, lanes_of
from adjoint.compiler.loops.formulas import REDUCTIONS, lowered
from adjoint.compiler.loops.matmul_tiles import TURNED
from adjoint.compiler.schedule.chunks import even, rows_of_chunk
from adjoint.compiler.schedule.matmul import tile_height
from adjoint.compiler.targets.target import target, tuning
from adjoint.shapes import Shape, contiguous, size_of

Strides = tuple[int, ...]
Actions = tuple[tuple[str, int], ...]  # "store", "save" or "reduce", and the slot
STREAMED = ("float32", "float64", "int32", "int64")
SCALED = 3  # products by one number in a loop that reads neighbours, from which it is written for ordinary numbers, too


class Dimension(NamedTuple):
    """Merged axes of a domain: how many elements, and the last of the axes, whose strides are theirs."""

    size: int
    axis: int


class Pass(NamedTuple):
    """One way through a row: which values are stored, kept for a later pass ("save") or reduced, so many sums side by side."""

    actions: Actions
    copies: int


class NestSchedule(NamedTuple):
    """All that is decided of a nest."""

    passes: tuple[Pass, ...]
    saved: Mapping[int, int]  # the pass in which an element-level value is written, for those that are read from there
    outer: tuple[Dimension, ...]  # the loops over rows,
    inner: tuple[Dimension, ...]  # and along a row: the last one goes by vectors
    lanes: int
    flat: bool  # one long loop, cut in multiples of a `granule`
    granule: int
    extent: int  # of what is cut into chunks of `step`: rows, or elements of one long loop
    step: int
    cut: int | None  # the axis of that, if it isn't one long loop
    row: int  # elements of the domain in each
    partial: tuple[int, ...]  # what each chunk has totals of its own for
    block: int  # vectors summed in one go,
    blocked: bool  # if sums are long
    jammed: int  # rows gone through together, a vector of each in turn; 0: one after the other
    columns: int  # rows added to sums by column that stay in registers; 0: these are in memory
    turned: tuple[View, ...]  # what lies across the rows, and is turned before, so many rows at a time
    turned_rows: int
    streamed: tuple[int, ...]  # what goes to memory past the caches
    scaled: tuple[tuple[int, int], ...]  # products by one number that is mostly ordinary, and which operand that is
    reciprocals: bool  # a row is divided by one number by way of its reciprocal
    work: int  # about so many operations in all

    @property
    def chunks(self) -> int:
        return -(-self.extent // self.step)

    @property
    def time(self) -> float:
        """A guess in nanoseconds."""
        return self.work * 0.05

    def __str__(self) -> str:
        """In words: `rows 6; vectors of 8 along 40; 2 passes`."""
        last = self.inner[-1].size
        along = "×".join([str(d.size) for d in self.inner])
        words = [f"rows {'×'.join([str(d.size) for d in self.outer])}"] if self.outer else []
        vectors = f"{'one loop' if self.flat else 'vectors'} of {self.lanes} along {along}"
        words += [vectors if last > 1 else "single numbers", *([f"{len(self.passes)} passes"] * (len(self.passes) > 1))]
        copies = max([one.copies for one in self.passes])
        words += [f"{copies} sums side by side"] * (copies > 1)
        words += [f"sums in blocks of {self.block} vectors"] * self.blocked
        words += [f"{self.jammed} rows together"] * (self.jammed > 0)
        words += [f"sums by column in registers, {self.columns} rows at once"] * (self.columns > 0)
        words += [f"{len(self.turned)} turned, {self.turned_rows} rows at a time"] * bool(self.turned)
        words += ["past the caches"] * bool(self.streamed)
        words += ["by reciprocals"] * self.reciprocals
        words += [f"{self.chunks} chunks of {self.step}"] * (self.chunks > 1)
        return "; ".join(words)


class NestFacts:
    """Where the values of a nest are made and read."""

    def __init__(self, excerpt: Excerpt, nest: Nest) -> None:
        self.excerpt = excerpt
        self.nest = nest
        self.producer = {step.output: step for step in nest.steps}

    def inside(self, slot: int) -> bool:
        return slot in self.producer

    def bounded(self) -> set[int]:
        """The axes along which something that is read ends before the domain does."""
        return {
            axis
            for step in self.nest.steps
            if step.op.name == "padded"
            for axis, (n, first, behind) in enumerate(zip(self.nest.domain, *step.attributes, strict=True))
            if first > 0 or behind < n
        }

    def outside(self, slot: int) -> View:
        return self.excerpt.views[slot]

    def spread(self, view: View) -> View:
        return broadcast(view, self.nest.domain)

    def row_strides(self, view: View, shape: Shape) -> Strides:
        """The strides of a row-level operand along the leading axes of the domain."""
        split = self.nest.split or 0
        return broadcast(view, shape).strides[:split] + (0,) * (len(self.nest.domain) - split)

    def result_strides(self, slot: int) -> Strides:
        """Where a value that isn't one for each element goes: strides over the domain, 0 along what was reduced."""
        nest = self.nest
        step = self.producer[slot]
        if slot in nest.by_row or step.op.name not in REDUCTIONS or nest.level[slot] == "row":
            split = nest.split or 0
            return contiguous(nest.domain[:split]) + (0,) * (len(nest.domain) - split)
        kept = tuple(n for axis, n in enumerate(nest.domain) if axis not in step.attributes)
        strides = iter(contiguous(kept))
        return tuple([0 if axis in step.attributes else next(strides) for axis in range(len(nest.domain))])


class _Scheduler(NestFacts):
    """What is decided of a nest, one after the other."""

    def __init__(self, excerpt: Excerpt, nest: Nest) -> None:
        super().__init__(excerpt, nest)
        self.tuning = tuning()
        self.block = self.tuning.block
        self.plan_passes()
        self.dimensions(nest.split)
        count = self.inner[-1].size
        single = any(
            excerpt.dtypes[s] in ("float32", "complex64") for step in nest.steps for s in (*step.inputs, step.output)
        )
        self.lanes = lanes_of("float32" if single else "float64", count)
        self.measure()

    def schedule(self) -> NestSchedule:
        """All of it."""
        by_rows = not (self.jammed or self.columns)
        sums = by_rows and any(kind == "reduce" for actions in self.actions for kind, _ in actions)
        blocked = bool(sums and size_of(tuple([d.size for d in self.inner])) > 32 * self.lanes)
        return NestSchedule(
            tuple([Pass(tuple(actions), self.copies(actions) if by_rows else 1) for actions in self.actions]),
            MappingProxyType(self.saved), tuple(self.outer), tuple(self.inner), self.lanes, self.flat, self.granule,
            self.extent, self.step, self.ranged, self.row(), tuple(self.partial), self.block, blocked,
            self.tuning.jammed if self.jammed else 0, self.columns, tuple(self.turned), self.turned_rows,
            tuple(self.streamed), self.scaled_by_number(), self.by_reciprocals(), self.work,
        )  # fmt: skip

    # What is done in which pass over a row

    def plan_passes(self) -> None:
        nest = self.nest
        self.phase: dict[int, int] = {}
        self.cost: dict[int, int] = {}
        for step in nest.steps:
            known = [i for i in step.inputs if self.inside(i)]
            phase = max([self.phase[i] for i in known], default=0)
            self.phase[step.output] = phase + (step.output in nest.by_row)
            light = step.op.light or nest.level[step.output] == "row" or lowered(step.op.name) is None
            self.cost[step.output] = (1 if light else 10) + sum(
                self.cost[i] for i in known if nest.level[i] == "element"
            )
        self.actions: list[list[tuple[str, int]]] = [[] for _ in range(max(self.phase.values(), default=0) + 1)]
        work: list[tuple[int, int]] = []

        def act(kind: str, slot: int, source: int, phase: int) -> None:
            self.actions[phase].append((kind, slot))
            work.append((source, phase))

        stored = set(nest.stored)
        wanted_rows = [s for s in nest.stored if nest.level[s] != "element"]
        for slot in nest.stored:
            if nest.level[slot] == "element":
                act("store", slot, slot, self.phase[slot])
        self.saved: dict[int, int] = {s: self.phase[s] for s in stored if nest.level[s] == "element"}
        self.reduced: set[int] = set()  # the reductions that are computed
        reduced = self.reduced
        seen: set[tuple[int, int]] = set()

        def reduce(slot: int) -> None:
            if slot not in reduced:
                reduced.add(slot)
                (source,) = self.producer[slot].inputs
                act("reduce", slot, source, self.phase.get(source, 0))

        rows = list(wanted_rows)
        while work or rows:
            if rows:
                slot = rows.pop()
                if not self.inside(slot):
                    continue
                if self.producer[slot].op.name in REDUCTIONS and nest.level[slot] in ("row", "total"):
                    reduce(slot)
                else:
                    rows += [i for i in self.producer[slot].inputs if self.inside(i)]
                continue
            slot, phase = work.pop()
            if (slot, phase) in seen or not self.inside(slot):
                continue
            seen.add((slot, phase))
            if nest.level[slot] != "element":
                rows.append(slot)
                continue
            if self.phase[slot] < phase and (slot in self.saved or self.cost[slot] > self.tuning.recomputed):
                if slot not in self.saved:
                    self.saved[slot] = self.phase[slot]
                    act("save", slot, slot, self.phase[slot])
                continue
            work += [(i, phase) for i in self.producer[slot].inputs]

    # The loops

    def accesses(self) -> list[Strides]:
        nest, n = self.nest, len(self.nest.domain)
        found = [contiguous(nest.domain)] if any(nest.level[s] == "element" for s in nest.stored) else []
        found += [piece.strides for piece in nest.into.values()]
        for step in nest.steps:
            if nest.level[step.output] == "element" or step.op.name in REDUCTIONS:
                found += [self.spread(self.outside(i)).strides for i in step.inputs if not self.inside(i)]
            else:
                found += [self.row_strides(self.outside(i), step.type.shape) for i in step.inputs if not self.inside(i)]
            if nest.level[step.output] != "element":
                found.append(self.result_strides(step.output))
        if any(slot not in set(nest.stored) for slot in self.saved):
            split = nest.split or 0
            found.append((0,) * split + contiguous(nest.domain[split:]))
        assert all(len(strides) == n for strides in found)
        return found

    def dimensions(self, split: int | None) -> None:
        """Merge axes that every access runs through as one; leave the ones that are left as loops."""
        accesses = self.accesses()
        merged: list[list[int]] = []
        boundary = split or 0
        bounded = self.bounded()
        for axis, n in enumerate(self.nest.domain):
            if n == 1:
                continue
            if (
                merged
                and not (self.nest.tile and axis == len(self.nest.domain) - 1)
                and (merged[-1][1] >= boundary) == (axis >= boundary)
                and axis not in bounded
                and merged[-1][1] not in bounded
                and all(a[merged[-1][1]] == a[axis] * n for a in accesses)
            ):
                merged[-1] = [merged[-1][0] * n, axis]
            else:
                merged.append([n, axis])
        dims = [Dimension(*m) for m in merged]
        self.outer = [d for d in dims if d.axis < boundary]
        self.inner = [d for d in dims if d.axis >= boundary]
        if split is None and len(self.inner) > 1:
            self.outer, self.inner = self.inner[:-1], self.inner[-1:]
        if not self.inner:
            self.inner = [Dimension(1, -1)]

    def measure(self) -> None:
        """How far the range of rows goes, whether the nest is one long loop, and how it falls into chunks."""
        self.turned_rows = 0
        self.turned = self.views_to_turn()
        nest, lanes, last = self.nest, self.lanes, self.inner[-1]
        single_pass = not any(self.actions[1:])  # nothing needs the whole domain's reductions for its elements
        self.flat = not self.outer and len(self.inner) == 1 and single_pass
        self.ranged: int | None = None  # the axis that is cut into chunks, if it isn't that of one long loop
        granule = lanes * (self.block if any(step.op.name in REDUCTIONS for step in nest.steps) else 1)
        self.flat = self.flat and last.size >= granule
        self.granule = granule if self.flat else 1
        if self.flat:
            self.extent = last.size // granule * granule
        else:
            first = self.outer or (self.inner[:-1] if single_pass else [])
            self.extent = first[0].size if first else 1
            self.ranged = first[0].axis if first else None
        self.work = work = size_of(nest.domain) * max(sum(min(self.cost[s], 50) for s in self.wanted()), 1)
        most = min(work // self.tuning.chunk, self.extent // self.granule, self.tuning.most_chunks)
        totals = sum([size_of(self.excerpt.shapes[s]) for s in self.totals()])
        if totals:  # which are filled before, and put together behind, by one thread
            most = min(most, max(size_of(nest.domain) // (totals * self.tuning.for_total), self.tuning.least_chunks))
        chunks = 1 if work < self.tuning.shared_from else even(most)
        self.step = max(-(-self.extent // max(chunks, 1) // self.granule), 1) * self.granule
        self.jammed = self.may_jam()
        if self.jammed and len(self.outer) == 1 and self.extent >= 4 * self.tuning.jammed:
            self.step = -(-self.step // self.tuning.jammed) * self.tuning.jammed
        if self.turned and len(self.outer) == 1:
            self.step = -(-self.step // self.turned_rows) * self.turned_rows
        if nest.tile:
            self.step = self.rows_of_tile()
        self.partial = self.totals_of_chunks(-(-self.extent // self.step))
        self.streamed = self.may_stream()
        self.columns = self.rows_in_registers()

    def row(self) -> int:
        """Elements of the domain in each row."""
        return 1 if self.flat else size_of(self.nest.domain) // self.extent

    def rows_of_tile(self) -> int:
        """How many rows of the nest a tile has: chunks end where matrices and images do, though these may lie across the rows."""
        nest, elements = self.nest, self.row()
        grains = [made.grain for made in nest.products] + [size_of(nest.domain[-2:])] * bool(nest.followers)
        whole = functools.reduce(_common_multiple, grains, elements) // elements
        single = any([isinstance(one, Product) and one.shape[-1] == elements * whole for one in nest.products])
        step = max(nest.tile // (elements * whole), 1)
        return rows_of_chunk(-(-self.extent // whole), step, tile_height() if single else 1) * whole

    def copies(self, actions: list[tuple[str, int]]) -> int:
        """How many sums a pass adds up side by side."""
        reduced, unroll = any(kind == "reduce" for kind, _ in actions), self.tuning.unroll
        light = sum(self.cost[s] for _, s in actions) <= 16
        return unroll if reduced and light and self.inner[-1].size // self.lanes >= 2 * unroll else 1

    def by_reciprocals(self) -> bool:
        """Whether a row that is divided by one number is so long that its reciprocal is worth computing."""
        if not target().fma or not any(step.op.quotient for step in self.nest.steps):  # a function call then
            return False
        return bool(self.inner[-1].size >= self.tuning.divided_from * self.lanes)

    def scaled_by_number(self) -> tuple[tuple[int, int], ...]:
        """The products by one number for all of a nest that reads neighbours, with the place of that operand, if these are many:
        then the same loops are written twice."""
        nest, found = self.nest, dict[int, int]()
        if not self.bounded() or not target().fma:
            return ()
        for step in nest.steps:
            dtype = self.excerpt.dtypes[step.output]
            if step.op.name == "scale" and nest.level[step.output] == "element" and dtype in ("float32", "float64"):
                for k, i in enumerate(step.inputs):
                    if not self.inside(i) and not any(self.outside(i).strides):
                        found[step.output] = k
        return tuple(found.items()) if len(found) >= SCALED else ()

    def rows_in_registers(self) -> int:
        """How many rows at once are added to the sums by column, if these stay in registers all along the rows; else 0. A sum in
        memory can take a number only when the one before has been stored: with short rows, all else waits for that."""
        nest, last, strides = self.nest, self.inner[-1], self.result_strides
        (actions, *others) = self.actions
        slots = [slot for kind, slot in actions if kind == "reduce"]
        if not slots or any(others) or not self.outer or nest.split is not None or nest.tile or last.axis < 0:
            return 0
        if self.turned:
            return 0
        for slot in slots:
            along_rows = strides(slot)[self.outer[-1].axis] or not strides(slot)[last.axis]
            if slot in nest.by_row or along_rows or self.excerpt.dtypes[slot].startswith("complex"):
                return 0
        return min(self.tuning.column_sums // (-(-last.size // self.lanes) * len(slots)), self.tuning.unroll)

    def views_to_turn(self) -> list[View]:
        """What is read through views whose elements lie together not along a row, but from one row to the next: some rows of it
        are turned before they are gone through. The loop over these rows becomes the innermost of those around."""
        nest, last, table = self.nest, self.inner[-1], self.tuning
        if nest.tile or not self.outer or len(self.inner) > 1 or last.size > table.longest_turned or self.bounded():
            return []
        slots = [i for step in nest.steps for i in step.inputs if not self.inside(i)]
        views = {i: self.spread(self.outside(i)) for i in dict.fromkeys(slots) if self.excerpt.dtypes[i] in TURNED}
        views = {i: view for i, view in views.items() if abs(view.strides[last.axis]) > 1}
        sums = any(level == "total" for level in nest.level.values())
        for d in self.outer[-1:] if sums else self.outer:
            found = list(dict.fromkeys([view for view in views.values() if abs(view.strides[d.axis]) == 1]))
            sizes = [BYTES[self.excerpt.dtypes[i]] for i, view in views.items() if view in found]
            if found and last.size >= table.least_turned and d.size >= table.turned_bytes // min(sizes):
                self.outer = [*[other for other in self.outer if other != d], d]
                self.turned_rows = table.turned_bytes // min(sizes)
                return found
        return []

    def may_jam(self) -> bool:
        """Whether to go through several rows at once: one row after the other, a nest that writes far more than it reads
        waits for the memory of each page that it comes to."""
        nest = self.nest
        if (
            not self.outer
            or self.outer[-1].size < self.tuning.jammed
            or nest.split is not None
            or nest.tile
            or self.turned
        ):
            return False
        (actions, *others) = self.actions
        if (
            others
            or any(kind != "store" for kind, _ in actions)
            or len(nest.steps) * self.tuning.jammed > self.tuning.most_jammed
        ):
            return False
        sizes = [BYTES[self.excerpt.dtypes[slot]] for slot in nest.stored]
        return bool(sizes) and self.inner[-1].size * min(sizes) >= self.tuning.jammed_row and self.excerpt.writes_much

    def may_stream(self) -> list[int]:
        """What goes to memory past the caches: nearly all that the nest does is write, and more than they keep until somebody
        reads it. So no line is read first only to be overwritten. Vectors must lie in whole lines."""
        nest, dtypes = self.nest, self.excerpt.dtypes
        written = size_of(nest.domain) * sum([BYTES[dtypes[slot]] for slot in nest.stored])
        if not (self.jammed and self.inner[-1].size % self.lanes == 0 and written >= self.tuning.streamed_from):
            return []
        whole = [s for s in nest.stored if s not in nest.into and dtypes[s] in STREAMED]
        return [s for s in whole if self.lanes >= lanes_of(dtypes[s])]

    def totals_of_chunks(self, chunks: int) -> list[int]:
        """What each of several chunks has its own total of: what is reduced over all of them. These are put together in order, so
        that it doesn't matter who computed which. Of sums that keep the axis that is cut, as those over the middle axis, each
        belongs to one chunk already."""
        nest = self.nest
        if chunks <= 1:
            return []
        one_row = not self.outer  # the leading axes, if there are some, have length one
        return self.totals() + [s for s in nest.level if one_row and s in nest.by_row and s in self.reduced]

    def totals(self) -> list[int]:
        """The totals in memory that each chunk has for itself."""
        nest = self.nest
        total = [s for s in nest.stored if nest.level[s] == "total" and s not in nest.by_row]
        return [s for s in total if not self.kept_apart(s)]

    def kept_apart(self, slot: int) -> bool:
        """Whether no two chunks add to the same total."""
        return self.ranged is not None and self.result_strides(slot)[self.ranged] != 0

    def wanted(self) -> list[int]:
        """What the passes store, keep or reduce."""
        return [
            slot if kind != "reduce" else self.producer[slot].output
            for actions in self.actions
            for kind, slot in actions
        ]


def schedule_nest(excerpt: Excerpt, nest: Nest) -> NestSchedule:
    """How a nest runs, by the table of the processor that is compiled for."""
    return _Scheduler(excerpt, nest).schedule()


def _common_multiple(a: int, b: int) -> int:
    """The least common multiple."""
    if a % b == 0 or b % a == 0:  # as it nearly always is
        return max(a, b)
    x, y = a, b
    while y:
        x, y = y, x % y
    return a // x * b
