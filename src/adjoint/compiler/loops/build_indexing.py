"""Units that move elements to where a loop nest can't write them: gather and scatter, joining, writing into a slice.

An index out of bounds is noted in the run's failure, and the unit goes on with another; the program ends after it. A single row
isn't written then, so its array, which may be the caller's, stays what it was. Many rows that
indices select are read by all threads; of those that are written a later one may go to the same place, so each thread writes some
columns of all. Then each chunk has a note of its own, and the last one becomes the failure.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from adjoint.compiler.excerpts import Indexed, Moving, Region
from adjoint.compiler.loops import complex_math
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import ELEMENT, HALVES, ITEMSIZE, Complex, Value, lanes_of
from adjoint.compiler.loops.matmul_tiles import TURNED, Kernel
from adjoint.compiler.schedule.blocks import BlockSchedule
from adjoint.compiler.tables import (
    FAILURE,
    LARGE,
    Arguments,
    Bounds,
    First,
    FirstCheck,
    Items,
    Start,
    UnitWriter,
)
from adjoint.compiler.targets.target import tuning
from adjoint.shapes import contiguous, size_of

MANY = 16  # regions of one form
SHORT = 4  # elements that are copied one by one
NOTE = 16  # bytes of what is noted of an index


class MoveWriter(UnitWriter):
    """Writes the functions of one move."""

    def __init__(self, move: Moving, arguments: Arguments, how: BlockSchedule) -> None:
        super().__init__(arguments, how)
        self.move, self.dtype, self.tail = move, move.plain_dtype, move.tail
        self.cuts = how.way == "regions" and self.chunks > 1  # whether regions are copied in chunks
        self.halved = how.way == "columns"  # whether each chunk writes some columns
        self.wrong: str | None = None  # where a chunk notes an index that is out of bounds

    def write(self) -> list[L.Function]:
        """The function of the move and, where chunks note what is wrong, what runs behind it."""
        indexed, chunks = self.move.indexed, self.chunks > 1
        begin = [self.begin_once()] if self.halved and self.move.regions else []
        if not self.halved:
            self.whole()
        if indexed is not None and self.move.is_single:
            self.elements(indexed)
        elif indexed is not None and indexed.returns:
            self.returned(indexed)
        elif indexed is not None:
            pointers = self.pointer(indexed.rows), self.pointer(self.move.output)
            if self.halved:
                self.columns_in_chunks(indexed, *pointers)
            elif chunks:
                self.rows_in_chunks(indexed, *pointers)
            else:
                self.rows(indexed, *pointers)
        written = [self.inputs.function("unit"), *begin]
        return [*written, self.finish()] if chunks and indexed is not None and not indexed.clips else written

    def begin_once(self) -> L.Function:
        """What comes before all chunks."""
        self.first = [First("begin")]
        with self.another(self.e.lanes):
            self.whole()
            return self.inputs.function("begin")

    def whole(self) -> None:
        """Give everything its number, and copy regions."""
        move = self.move
        if move.number is not None and all([region.before is None for region in move.regions]):
            self.fill(self.pointer(move.output), "0", move.size)
        regions = list(move.regions)
        if move.rewrites:
            source, out = self.pointer(regions[0].view.root), self.pointer(regions[0].place)
            with self.e.when(self.e.apart(source, out)):  # else the result lies where the array does that it replaces
                self.copy(regions.pop(0), source, out)
        for _, alike in itertools.groupby(regions, lambda region: region.form):
            self.copies(list(alike))

    def fill(self, out: str, begin: str, count: int) -> None:
        """Write the array's own number to so many elements."""
        e, number = self.e, self.move.number[1]
        value = e.constant(number, self.move.dtype if self.move.dtype in HALVES else self.dtype)
        self.inputs.vectors(count, lambda i: e.store(value, out, e.plus(begin, i)))

    def sum(self, a: Any, b: Any) -> Any:
        """a + b, of which b may be 0."""
        if not isinstance(a, Complex):
            return self.e.add(a, b)
        return complex_math.add(self.e, a, b if isinstance(b, Complex) else Complex(b, b, a.dtype))

    def copies(self, regions: list[Region]) -> None:
        """Copy regions of one form. Of many the arrays are listed, for LLVM takes ever longer the more loops a function has."""
        if len(regions) < MANY:
            for region in regions:
                self.copy(region, self.pointer(region.view.root), self.pointer(region.place))
            return
        e = self.e
        arrays: Items = [Start(place, 0) for region in regions for place in (region.view.root, region.place)]
        begin = self.inputs.listed(arrays)
        first, last = self.some(str(len(regions))) if self.cuts else ("0", str(len(regions)))
        before, self.cuts = self.cuts, False
        with e.when(e.test("slt", first, last)), e.loop(first, last, 1) as k:
            at = e.plus(begin, e.times(k, 2))
            self.copy(regions[0], e.array(at), e.array(e.plus(at, 1)))
        self.cuts = before

    def some(self, count: str) -> tuple[str, str]:
        """Which of so many the chunks at hand move."""
        e = self.e
        first, last = [e.index("udiv", e.times(chunk, count), self.chunks) for chunk in ("%first", "%last")]
        return first, last

    def copy(self, region: Region, source: str, out: str) -> None:
        """Copy a region's elements, or their sums with 0."""
        e = self.e
        *outer, (count, near, far) = axes_of(region)
        if near > 1 and far == 1 and self.dtype in TURNED and region.before is None and not region.adds_zero:
            lanes = lanes_of(self.dtype)
            for axis, (n, s, _) in enumerate(outer):
                if s == 1 and n >= lanes and count >= tuning().least_turned:
                    self.turned(outer[:axis] + outer[axis + 1 :], outer[axis], (count, near), source, out)
                    return
        read, written = self.steps(near), self.steps(far)
        by, to = [self.inputs.number(stride, extent=abs(stride)) for stride in (near, far)]

        def row(begin: str, end: str) -> None:
            def body(i: str) -> None:
                a, b = e.plus(begin, e.times(i, by)), e.plus(end, e.times(i, to))
                value = e.load(source, a, self.dtype, read) if near else e.load_scalar(source, a, self.dtype)
                e.store(self.sum(value, 0) if region.adds_zero else value, out, b, written)

            if outer and count <= SHORT:
                for k in range(int(count)):
                    a, b = e.plus(begin, e.times(str(k), by)), e.plus(end, e.times(str(k), to))
                    value = e.load_scalar(source, a, self.dtype)
                    e.store_scalar(self.sum(value, 0) if region.adds_zero else value, out, b)
            elif outer or not self.cuts:
                self.inputs.vectors(count, body)
            else:
                self.vectors_of(*self.of_chunks(count), body)

        if region.before is None:
            self.rows_of(outer, row, cut=self.cuts and bool(outer))
            return
        self.fill(self.pointer(self.move.output), "0", region.before)
        whole = self.rows_of(outer, row, count, out)
        self.fill(out, self.inputs.number(whole), self.move.size - region.before - whole)

    def of_chunks(self, count: int) -> tuple[str, str, str]:
        """Which of so many elements the chunks at hand move: the first, beyond the last whole vector, and beyond the last."""
        e, number = self.e, self.inputs.number
        step, end = number(-(-count // (self.chunks * e.lanes)) * e.lanes), number(count)
        low, high = [e.index("umin", e.times(chunk, step), end) for chunk in ("%first", "%last")]
        return low, e.index("sub", high, e.index("urem", e.index("sub", high, low), e.lanes)), high

    def vectors_of(self, low: str, whole: str, high: str, body: Callable[[str], None]) -> None:
        """`body(offset)` for vectors that cover these elements."""
        e = self.e
        with e.when(e.test("slt", low, whole)), e.loop(low, whole, e.lanes) as i:
            body(i)
        with e.when(e.test("ne", whole, high)), e.masked(e.below(e.index("sub", high, whole))):
            body(whole)

    def turned(
        self,
        outer: list[tuple[int, int, int]],
        beside: tuple[int, int, int],
        line: tuple[int, int],
        source: str,
        out: str,
    ) -> None:
        """Copy what lies side by side along another axis than where it goes: square blocks of both are turned in registers."""
        e, element, number = self.e, ELEMENT[self.dtype], self.inputs.number

        def block(begin: str, end: str) -> None:
            first, into = e.at(source, begin, element), e.at(out, end, element)
            given = first, number(line[1]), into, number(beside[2]), number(beside[0]), number(line[0])
            self.inputs.tile(Kernel("across", self.dtype), *given)

        self.rows_of(outer, block, cut=self.cuts)

    def rows_of(
        self, axes: list[tuple[int, int, int]], row: Callable[[str, str], None], length: int = 0, out: str = "",
        begin: str = "0", end: str = "0", cut: bool = False,
    ) -> int:  # fmt: skip
        """`row(begin, end)` for every row of some axes, (count, stride of what is read, of what is written). With a row's length
        the array's own number is written between them; gives how many elements that makes from the first to the last. If the rows
        are `cut`, those of the chunks at hand."""
        e, number = self.e, self.inputs.number
        if not axes:
            with e.when(e.test("eq", "%first", 0) if cut else None):
                row(begin, end)
            return length
        (n, s, t), *inner = axes
        first, last = self.some(number(n)) if cut else ("0", number(n))
        with e.when(e.test("slt", first, last) if cut else None), e.loop(first, last, 1) as i:
            a = e.plus(begin, e.times(i, number(s, extent=abs(s))))
            b = e.plus(end, e.times(i, number(t, extent=abs(t))))
            covered = self.rows_of(inner, row, length, out, a, b)
            if length and t > covered:
                with e.when(e.test("ne", i, number(n - 1, extent=n))):
                    self.fill(out, e.plus(b, number(covered)), t - covered)
        return (n - 1) * t + covered

    def steps(self, stride: int) -> int | str:
        """A stride for a vector: as it is, or a vector of multiples of an argument."""
        if abs(stride) <= self.inputs.literal:
            return stride
        number = self.inputs.number(stride, extent=abs(stride))
        with self.inputs.at_the_beginning():
            return self.e.multiples(number)

    def returned(self, indexed: Indexed) -> None:
        """Write elements to memory where indices say, and read from there what was written last."""
        numbers, out = self.pointer(indexed.rows), self.pointer(self.move.output)
        size = size_of(indexed.shape[: len(indexed.indices)]) * ITEMSIZE[self.dtype]
        memory = self.inputs.pointer(self.arguments.share("what is written", size))
        self.rows(indexed, numbers, memory)
        self.rows(indexed._replace(reads=True), memory, out)

    def rows_in_chunks(self, indexed: Indexed, source: str, out: str) -> None:
        """Some rows for each chunk."""
        e, number = self.e, self.inputs.number
        with e.loop("%first", "%last", 1) as chunk:
            e.known = {}
            if not indexed.clips:
                self.wrong = self.note_of(chunk)
                e.note("i64", "0", self.wrong)
            times = number(indexed.times)
            low, high = [e.index("udiv", e.times(k, times), self.chunks) for k in (chunk, e.plus(chunk, 1))]
            with e.when(e.test("slt", low, high)):
                self.rows(indexed, source, out, (low, high))
        self.wrong = None

    def columns_in_chunks(self, indexed: Indexed, source: str, out: str) -> None:
        """Some columns of all rows, in their order, for the chunks at hand."""
        e = self.e
        if not indexed.clips:
            with e.loop("%first", "%last", 1) as chunk:
                e.note("i64", "0", self.note_of(chunk))
            self.wrong = self.note_of("%first")
        if self.move.number is not None and not self.move.regions:
            part, tail = self.of_chunks(self.tail), self.inputs.number(self.tail)
            value = e.constant(self.move.number[1], self.dtype)
            with e.loop("0", self.inputs.number(self.move.size // self.tail, None, LARGE), 1) as r:
                self.vectors_of(*part, lambda i: e.store(value, out, e.plus(e.times(r, tail), i)))
        self.rows(indexed, source, out)
        self.wrong = None

    def note_of(self, chunk: str) -> str:
        """Where a chunk notes the number of a check that failed, from 1, and the index."""
        notes = self.inputs.pointer(self.arguments.share("indices to blame", self.chunks * NOTE))
        return self.e.at(notes, self.e.times(chunk, 2), "i64")

    def finish(self) -> L.Function:
        """The last index that was noted becomes the failure of the run, whoever has found it."""
        self.begin(1)
        e = self.e
        failure, number = e.entry("%table", FAILURE), self.arguments.number(e, FirstCheck())
        with e.loop("0", self.inputs.number(self.chunks, "chunks"), 1) as chunk:
            note = self.note_of(chunk)
            found = e.read_number(note)
            with e.when(e.test("ne", found, 0)):
                e.note("i64", e.plus(number, found), failure)
                e.note("i64", e.read_number(e.at(note, 1, "i64")), e.at(failure, 1, "i64"))
        return self.inputs.function("finish")

    def rows(self, indexed: Indexed, source: str, out: str, some: tuple[str, str] | None = None) -> None:
        """Copy or add rows, whose elements lie side by side, from where indices say, or to there; maybe some of them."""
        e = self.e
        arrays = [self.pointer(place) for place in indexed.indices]
        tail = self.inputs.number(self.tail)
        part = self.of_chunks(self.tail) if self.halved else None
        with e.loop(*(some or ("0", self.inputs.number(indexed.times))), 1) as r:
            start, place = e.times(r, tail), self.selected(indexed, arrays, [r] * len(arrays))
            if indexed.reads:
                start, place = place, start

            def body(i: str) -> None:
                to = e.plus(place, i)
                value = e.load(source, e.plus(start, i), self.dtype, 1)
                e.store(self.sum(e.load(out, to, self.dtype, 1), value) if indexed.adds else value, out, to)

            with e.when(self.is_right() if self.move.writes_one_row else None):
                if part is None:
                    self.inputs.vectors(self.tail, body)
                else:
                    self.vectors_of(*part, body)

    def is_right(self) -> str:
        """Whether no index has been out of bounds: else the array stays what it was."""
        e = self.e
        return e.test("eq", e.read_number(self.wrong or e.entry("%table", FAILURE)), 0)

    def fail(self, check: Bounds, noted: str) -> None:
        """Note an index that is out of bounds."""
        if self.wrong is None:
            self.inputs.fail(check, noted)
            return
        e = self.e
        e.note("i64", str(self.arguments.note(check) + 1), self.wrong)
        e.note("i64", noted, e.at(self.wrong, 1, "i64"))

    def elements(self, indexed: Indexed) -> None:
        """Read single elements from where indices say, as many at once as a vector has lanes."""
        arrays = [self.pointer(place) for place in indexed.indices]
        if not indexed.length:
            self.line(indexed, arrays, indexed.times, "0", "0")
            return
        length = self.inputs.number(indexed.length)
        with self.e.loop("0", self.inputs.number(indexed.times // indexed.length), 1) as row:
            self.line(indexed, arrays, indexed.length, row, self.e.times(row, length))

    def line(self, indexed: Indexed, arrays: list[str], length: int, row: str, start: str) -> None:
        """Read the elements of a row, which begins at `start`. An index for all of it is looked at once."""
        e, shape = self.e, indexed.shape
        source, out = self.pointer(indexed.rows), self.pointer(self.move.output)

        def at(k: int, i: str) -> str:
            return {"row": row, "column": i}.get(indexed.ways[k]) or e.plus(start, i)

        def found(axes: list[int], i: str, place: Value, wrong: Value) -> tuple[Value, Value]:
            for k in axes:
                extent, by = self.spread(shape[k]), self.spread(contiguous(shape)[k])
                load = e.load_scalar if indexed.ways[k] == "row" else functools.partial(e.load, stride=1)
                number = e.cast(load(arrays[k], at(k, i), indexed.dtypes[k]), "int64")
                number = e.select(e.compare("lt", number, 0), e.add(number, extent), number)
                outside = e.either(e.compare("lt", number, 0), e.compare("ge", number, extent))
                wrong = e.either(wrong, outside)
                place = e.add(place, e.multiply(e.select(outside, 0, number), by))
            return place, wrong

        fixed = [k for k, way in enumerate(indexed.ways) if way == "row"]
        begun = found(fixed, "0", e.constant(0, "int64"), e.constant(False, "bool"))

        def body(i: str) -> None:
            place, wrong = found([k for k in range(len(arrays)) if k not in fixed], i, *begun)
            with e.when_any(wrong), e.masked(None):  # one by one, to say which it is
                stop = e.index("umin", e.plus(i, e.lanes), self.inputs.number(length))
                with e.loop(i, stop, 1) as k:
                    self.selected(indexed, arrays, [at(axis, k) for axis in range(len(arrays))])
            e.store(e.load(source, "0", self.dtype, place.name), out, e.plus(start, i))

        self.inputs.vectors(length, body)

    def spread(self, number: int) -> Value:
        """A number of the unit in every lane."""
        name = self.inputs.number(number)
        return self.e.constant(number, "int64") if name.isdigit() else self.e.splat(name, "int64")

    def selected(self, indexed: Indexed, arrays: list[str], positions: list[str]) -> str:
        """The offset of the row that the indices at these positions select."""
        e, shape = self.e, indexed.shape
        place = "0"
        for axis, (pointer, r, dtype, n, stride) in enumerate(
            zip(arrays, positions, indexed.dtypes, shape, contiguous(shape), strict=False)
        ):
            kind = f"i{8 * ITEMSIZE[dtype]}"
            i = given = e.read_number(e.at(pointer, r, kind), kind, dtype[0] == "i")
            negative = e.test("slt", i, 0)
            extent, by = self.inputs.number(n), self.inputs.number(stride)
            if indexed.clips:
                i = e.choose(negative, "0", i)
                i = e.choose(e.test("ult", i, extent), i, e.plus(extent, "-1"))
            else:
                i = e.choose(negative, e.plus(i, extent), i)
                outside = e.test("uge", i, extent)
                with e.when(outside):
                    self.fail(Bounds(axis, n), given)
                i = e.choose(outside, "0", i)
            place = e.plus(place, e.times(i, by))
        return place


def axes_of(region: Region) -> list[tuple[int, int, int]]:
    """A region's axes: how many, strides of what is read and written. Those that both run through as one are one."""
    merged: list[tuple[int, int, int]] = []
    for n, s, t in zip(region.view.shape, region.view.strides, region.strides, strict=True):
        if n == 1:
            continue
        if merged and merged[-1][1] == n * s and merged[-1][2] == n * t:
            merged[-1] = (merged[-1][0] * n, s, t)
        else:
            merged.append((n, s, t))
    return merged or [(1, 1, 1)]
