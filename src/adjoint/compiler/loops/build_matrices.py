"""Units of small matrices: each lane takes a matrix of its own, and goes through the whole algorithm.

Of a stack of matrices as many as a vector has lanes are computed together; a single one is computed by numbers. Where an operand
is to blame (a singular matrix) the first such matrix of each chunk is noted in memory of that chunk, and what runs behind
takes the first of all, so which one is named depends on no thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from adjoint.compiler.excerpts import Stacked
from adjoint.compiler.fuse.kinds import View, stack_stride
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import Value, mask_of
from adjoint.compiler.loops.matrix_formulas import FORMULAS, formula_name, transposed
from adjoint.compiler.loops.matrix_workspaces import Index, Matrix, Workspace, workspace
from adjoint.compiler.loops.routines import Routine
from adjoint.compiler.schedule.blocks import BlockSchedule
from adjoint.compiler.tables import FAILURE, Arguments, UnitWriter, Unsolvable

NOTE = 8  # bytes of the number of a matrix


class StackWriter(UnitWriter):
    """Writes the functions of a unit of matrices. Each chunk notes one that is to blame."""

    def __init__(self, unit: Stacked, arguments: Arguments, how: BlockSchedule, routine: Routine) -> None:
        super().__init__(arguments, how)
        self.unit, self.routine = unit, routine
        self.noted = arguments.share("matrices to blame", self.chunks * NOTE) if routine.problem else None

    def write(self) -> list[L.Function]:
        """The function of a range of chunks and, if an operand may be to blame, what runs behind it."""
        functions = super().write()
        return functions if self.noted is None else [*functions, self.finish()]

    def begin_chunk(self, chunk: str) -> None:
        self.note = self.note_at(chunk)
        if self.note is not None:
            self.e.note("i64", "0", self.note)

    def note_at(self, chunk: str) -> str | None:
        """Where a chunk notes its first matrix that is to blame, from 1."""
        return None if self.noted is None else self.e.at(self.inputs.pointer(self.noted), chunk, "i64")

    def check(self) -> Unsolvable:
        """What is said of a matrix that is to blame."""
        return Unsolvable(self.routine.operation, self.routine.problem, self.unit.batch)

    def finish(self) -> L.Function:
        """The first matrix that some chunk has noted becomes the failure of the run."""
        self.begin(1)
        e = self.e
        failure = e.entry("%table", FAILURE)
        with e.loop("0", self.inputs.number(self.chunks, "chunks"), 1) as c:
            at = self.note_at(c)
            assert at is not None
            found = e.read_number(at)
            with e.when(e.all_of(e.test("ne", found, 0), e.test("eq", e.read_number(failure), 0))):
                self.inputs.fail(self.check(), e.plus(found, -1))
        return self.inputs.function("finish")


class MatricesWriter(StackWriter):
    """Writes the functions of a unit of small matrices, each in a lane."""

    def __init__(self, unit: Stacked, arguments: Arguments, how: BlockSchedule) -> None:
        self.lowered = FORMULAS[formula_name(unit.name, unit.attributes)]
        self.operations = self.lowered.operations(unit.reads[0].shape[-1], unit.reads[-1].shape[-1])
        super().__init__(unit, arguments, how, self.lowered)

    def block(self, i: str) -> None:
        """As many matrices as there are lanes, from the i-th on. Where the stack ends, the last one is in several lanes."""
        w = workspace(self.e, self.operations, self.inputs.own)
        self.places = [i]
        if self.e.lanes > 1:
            last = self.inputs.number(self.count - 1, "last matrix")
            some_miss = self.count % self.e.lanes
            every = [self.e.plus(i, q) if q else i for q in range(self.e.lanes)]
            self.places = [self.e.index("umin", at, last) if q and some_miss else at for q, at in enumerate(every)]
        operands = [self.loaded(w, view, i) for view in self.unit.reads]
        assert self.lowered.formula is not None
        results, blamed = self.lowered.formula(w, self.unit.attributes, *operands)
        for (slot, _, _), x in zip(self.unit.results, results, strict=True):
            self.stored(w, x, self.pointer(slot), i)
        if blamed is not None and self.note is not None:
            self.blame(i, blamed, self.note)

    # Matrices from memory and back. What lies together is read as it lies, and turned in registers: gathering costs far more.

    def loaded(self, w: Workspace, view: View, b: str) -> Matrix:
        """An operand's matrices, from the b-th on."""
        (rows, columns), (along, across), stride = view.shape[-2:], view.strides[-2:], stack_stride(view)
        assert stride is not None
        size, lanes = rows * columns, self.e.lanes
        if lanes > 1 and stride >= size > 1:
            if (across == 1 or columns == 1) and (along == columns or rows == 1):
                return self.turned_in(w, view, stride, rows, columns)
            if (along == 1 or rows == 1) and (across == rows or columns == 1):
                return transposed(w, self.turned_in(w, view, stride, columns, rows))
        e, dtype, pointer = self.e, self.unit.dtype, self.pointer(view.root)
        base, by = e.times(b, stride), self.steps(b, stride)
        made = w.matrix(rows, columns, dtype)
        for i in w.span(0, rows):
            for j in w.span(0, columns, inner=True):
                at = self.offset(base, (i, along), (j, across))
                made.set(i, j, e.load(pointer, at, dtype, by) if stride else e.load_scalar(pointer, at, dtype))
        return made

    def steps(self, b: str, stride: int) -> int | str:
        """Elements from lane to lane, or where the stack ends the offsets of the lanes."""
        e = self.e
        if e.lanes == 1 or not self.count % e.lanes:
            return stride if e.lanes > 1 else 1
        lane = Value(e.multiples("1"), "int64")
        last = e.splat(e.index("sub", self.inputs.number(self.count - 1, "last matrix"), b), "int64")
        return e.multiply(e.select(e.compare("lt", lane, last), lane, last), stride).name

    def offset(self, base: str, *terms: tuple[Index, int]) -> str:
        """A number of elements, and multiples of indices."""
        known = 0
        for i, stride in terms:
            if isinstance(i, int):
                known += i * stride
            else:
                base = self.e.plus(base, self.e.times(i, stride))
        return self.e.plus(base, known) if known else base

    def turned_in(self, w: Workspace, view: View, stride: int, rows: int, columns: int) -> Matrix:
        """Matrices whose elements lie together, row by row."""
        e, dtype, pointer = self.e, self.unit.dtype, self.pointer(view.root)
        starts = [e.times(at, stride) for at in self.places]
        made = w.matrix(rows, columns, dtype)
        for first, count in self.blocks(w, rows * columns):
            with self.first_lanes(count):
                lines = [e.load(pointer, self.offset(start, (first, 1)), dtype, 1) for start in starts]
            for k, value in enumerate(self.e.transposed(lines)[:count]):
                made.set_at(first, k, value)
        return made

    def stored(self, w: Workspace, x: Matrix, pointer: str, b: str) -> None:
        """Write the matrices of a result, which lie together."""
        e, size = self.e, x.rows * x.columns
        if e.lanes == 1 or size == 1:
            with e.masked(
                e.below(e.index("sub", self.inputs.number(self.count, "count"), b)) if self.count % e.lanes else None
            ):
                for i in w.span(0, x.rows):
                    for j in w.span(0, x.columns, inner=True):
                        e.store(x.get(i, j), pointer, self.offset(e.times(b, size), (i, x.columns), (j, 1)))
            return
        starts = [e.times(at, size) for at in self.places]
        for first, count in self.blocks(w, size):
            lines = [x.get_at(first, k) for k in range(count)]
            lines += [lines[0]] * (e.lanes - count)
            with self.first_lanes(count):
                for start, line in zip(starts, self.e.transposed(lines), strict=True):
                    e.store(line, pointer, self.offset(start, (first, 1)))

    def blocks(self, w: Workspace, size: int) -> Iterator[tuple[Index, int]]:
        """So many elements by as many as there are lanes: the first of each block, and how many it has."""
        lanes = self.e.lanes
        whole = size // lanes
        for block in w.span(0, whole):
            yield block * lanes if isinstance(block, int) else self.e.times(block, lanes), lanes
        if size % lanes:
            yield whole * lanes, size % lanes

    @contextmanager
    def first_lanes(self, count: int) -> Iterator[None]:
        """The mask of so many lanes, if these aren't all."""
        with self.e.masked(mask_of(count, self.e.lanes) if count < self.e.lanes else None):
            yield

    # What is to blame

    def blame(self, b: str, blamed: Value, note: str) -> None:
        """Note the first matrix of those in the lanes that is to blame, if none is noted yet."""
        e = self.e
        flags = self.inputs.own(e.lanes)
        with e.when_any(blamed):
            e.store(blamed, flags, "0")
            with e.loop("0", str(e.lanes), 1) as lane:
                number, before = e.plus(b, lane), e.read_number(note)
                found = e.test("ne", e.read_number(e.at(flags, lane, "i8"), "i8", False), 0)
                first = e.all_of(found, e.test("eq", before, 0))
                e.note("i64", e.choose(first, e.plus(number, 1), before), note)
