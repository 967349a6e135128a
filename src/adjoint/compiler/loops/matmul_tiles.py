"""The inner loops of matrix products: a tile of C = AB that stays in registers, and packing of what it reads.

A tile is a few rows of C by a few vectors. For each k, the vectors of B's row k are loaded once, and each of A's elements of
column k is broadcast and multiplied into them: 24 sums that don't wait for each other keep both units busy (Goto and van de
Geijn, "Anatomy of high-performance matrix multiplication", 2008). Kernels are compiled when a plan first needs them, and called
through the plan's table of pointers: many shapes share few kernels.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import ELEMENT, Emitter, Value, lanes_of
from adjoint.compiler.targets.llvm import source_of
from adjoint.compiler.targets.target import tuning
from adjoint.runtime import llvm
from adjoint.runtime.code import Source


class Kernel(NamedTuple):
    """`name` is one of the functions below; `masked`: the last vector isn't full. What of A lies together, "steps" or
    the "rows" of a gathered strip, is known to a tile when it is compiled: that saves it adding up addresses."""

    name: str
    dtype: str
    rows: int = 1
    vectors: int = 1
    masked: bool = False
    together: str = ""

    def __str__(self) -> str:
        size = (
            f"_{self.rows}x{self.vectors}" if self.name == "tile" else f"_{self.rows}" if self.name == "gather" else ""
        )
        return f"{self.name}{size}_{self.dtype}{'_masked' if self.masked else ''}{'_' * bool(self.together)}{self.together}"


def available() -> bool:
    """Whether the processor multiplies and adds in one instruction."""
    return llvm.has_fma()


def source(kernel: Kernel) -> Source:
    """The LLVM IR of a kernel."""
    return source_of([written(kernel)], ("tile",))


def written(kernel: Kernel) -> L.Function:
    """A kernel as loops."""
    e = Emitter(lanes_of(kernel.dtype))
    WRITERS[kernel.name](e, kernel)
    return e.function("tile", parameters(kernel.name), False)


@functools.cache
def parameters(name: str) -> L.Parameters:
    """The parameters of a kernel."""
    return tuple([(kind, name) for kind, _, name in [one.rpartition(" ") for one in PARAMETERS[name].split(", ")]])


def call(e: Emitter, function: str, name: str, *values: str | int) -> None:
    """Call a kernel, by what it is called and its pointer, with these in the order of its parameters."""
    e.call(function, [(kind.split()[0], str(x)) for (kind, _), x in zip(parameters(name), values, strict=True)])


# Helpers ----------------------------------------------------------------------------------------------------------------


class Number:
    """A number on the stack."""

    kind = "i64"

    def __init__(self, e: Emitter, start: str) -> None:
        self.e = e
        self.slot = e.allocate(self.kind, 0)
        self.set(start)

    def get(self) -> str:
        """What it is."""
        return self.e.made(L.Get, self.slot, self.kind, 0)

    def set(self, to: str) -> None:
        """Make it another one."""
        self.e.body.append(L.Set(self.slot, to, self.kind, 0))


class Pointer(Number):
    """A pointer on the stack that walks through an array."""

    kind = "ptr"

    def __init__(self, e: Emitter, dtype: str, start: str) -> None:
        self.element = ELEMENT[dtype]
        super().__init__(e, start)

    def advance(self, by: str) -> None:
        self.set(self.after(self.get(), by))

    def after(self, pointer: str, by: str) -> str:
        return self.e.at(pointer, by, self.element)


# Kernels: each writes its body. Steps and strides are in elements. ---------------------------------------------------------


def _tile(e: Emitter, kernel: Kernel) -> None:
    """c = a b, or c + a b: rows of c by vectors. `columns` of the last vector count, if it is masked. What the
    next tile reads of A is fetched into the cache meanwhile, one line for each k, and so is what lies `near`, by steps."""
    dtype, rows, vectors = kernel.dtype, kernel.rows, kernel.vectors
    mask = e.below("%columns") if kernel.masked else None

    def load(pointer: str, v: int) -> Value:
        with e.masked(mask if v == vectors - 1 else None):
            return e.load(pointer, str(v * e.lanes), dtype, 1)

    again = e.choose("%again", "1", "0")
    with e.when(e.test("eq", again, 1)):  # what is added to is fetched while the sums are formed
        row = Pointer(e, dtype, "%c")
        for _ in range(rows):
            line = row.get()
            for v in range(vectors):
                e.prefetch(e.at(line, str(v * e.lanes), ELEMENT[dtype]) if v else line)
            row.advance("%c_row")

    sums = [e.variable(e.constant(0, dtype)) for _ in range(rows * vectors)]
    a_step = {"steps": "1", "rows": str(rows)}.get(kernel.together, "%a_step")
    a_row = "1" if kernel.together == "rows" else "%a_row"
    # One pointer for every three rows of A: what lies one and two rows further the processor adds for nothing.
    group = rows if kernel.together == "rows" else 3
    bases = [Pointer(e, dtype, "%a")]
    for _ in range(group, rows, group):
        bases.append(Pointer(e, dtype, bases[-1].after(bases[-1].get(), e.times(a_row, group))))
    offsets = ["0", *[e.times(a_row, r) for r in range(1, group)]]
    b = Pointer(e, dtype, "%b")

    def step() -> None:
        right = [load(b.get(), v) for v in range(vectors)]
        for r in range(rows):
            left = e.load_scalar(bases[r // group].get(), offsets[r % group], dtype)
            for v in range(vectors):
                total = sums[r * vectors + v]
                e.set(total, e.fma(left, right[v], e.get(total, dtype)))
        b.advance("%b_step")
        for base in bases:
            base.advance(a_step)

    # Where ways meet, each sum that lives on is one more value to keep apart: LLVM took twice as long over a tile that jumped
    # over its loop, finished what two steps at a time leave, and added to the result before a common end.
    ahead, near = Pointer(e, dtype, "%ahead"), Pointer(e, dtype, "%near")
    with e.loop("0", "%k", 1):  # there is a first step
        if kernel.together != "rows":  # these were gathered just now
            line = ahead.get()
            e.prefetch(line)
            ahead.set(ahead.after(line, str(rows) if kernel.together == "steps" else a_step))
        line = near.get()
        e.prefetch(line)
        near.set(near.after(line, "%near_step"))
        step()

    def finish(added: bool) -> None:
        c = Pointer(e, dtype, "%c")
        for r in range(rows):
            for v in range(vectors):
                total = e.get(sums[r * vectors + v], dtype)
                total = e.add(total, load(c.get(), v)) if added else total
                with e.masked(mask if v == vectors - 1 else None):
                    e.store(total, c.get(), str(v * e.lanes))
            c.advance("%c_row")

    for added in (True, False):
        with e.when(e.test("eq", again, int(added))):
            finish(added)


def _gather(e: Emitter, kernel: Kernel) -> None:
    """Of each of k rows of `source`, `strips` times `rows` neighbours. A strip has those of all k one after the other, each
    in `width` elements; the next strip lies `apart` from it."""
    dtype, rows = kernel.dtype, kernel.rows
    row, into = Pointer(e, dtype, "%source"), Pointer(e, dtype, "%target")
    widest = e.lanes
    with e.loop("0", "%k", 1):
        source, target = Pointer(e, dtype, row.get()), Pointer(e, dtype, into.get())
        distant = source.after(source.get(), e.times("%step", tuning().fetched_ahead))
        ahead = Pointer(e, dtype, distant)
        with e.loop("0", "%strips", 1):
            e.prefetch(ahead.get())
            ahead.advance(str(rows))
            offset = 0
            while offset < rows:  # in vectors, and what is left in halves of one, quarters, ...
                e.lanes = widest
                while e.lanes > rows - offset:
                    e.lanes //= 2
                e.store(e.load(source.get(), str(offset), dtype, 1), target.get(), str(offset))
                offset += e.lanes
            source.advance(str(rows))
            target.advance("%apart")
        row.advance("%step")
        into.advance("%width")


def _turn(e: Emitter, kernel: Kernel) -> None:
    """A strip of one vector from a matrix that lies transposed: k elements of each of `columns` rows, `step` apart, every
    `width` elements. The target has room for k rounded up to a whole vector."""
    dtype = kernel.dtype
    final = e.index("sub", "%columns", 1)
    rows: list[str] = []
    for k in range(e.lanes):  # beyond the last, the last again
        row = e.index("umin", final, k)
        rows.append(e.at("%source", e.times(row, "%step"), ELEMENT[dtype]))
    target = Pointer(e, dtype, "%target")

    with e.loop("0", "%k", e.lanes) as at:
        ahead = e.plus(at, tuning().fetched_ahead * e.lanes)
        for row in rows:
            e.prefetch(e.at(row, ahead, ELEMENT[dtype]))
        with e.masked(e.below(e.index("sub", "%k", at))):
            values = [e.load(row, at, dtype, 1) for row in rows]
        for value in e.transposed(values):
            e.store(value, target.get(), "0")
            target.advance("%width")


TURNED = ("float32", "float64", "int32", "int64", "uint32", "uint64")  # dtypes whose blocks are turned in registers


def _across(e: Emitter, kernel: Kernel) -> None:
    """`rows` neighbours of each of `size` lines, `step` apart, as so many rows, `pitch` apart: in square blocks in registers, the
    last of which cover some of the ones before again; line by line where there are fewer."""
    dtype, lanes, element = kernel.dtype, e.lanes, ELEMENT[kernel.dtype]
    last_row, last = e.index("sub", "%rows", lanes), e.index("sub", "%size", lanes)
    square = e.all_of(e.test("slt", "-1", last_row), e.test("slt", "-1", last))
    with e.when(square), e.loop("0", "%rows", lanes) as block:
        row = e.index("umin", block, last_row)
        across, into = e.at("%source", row, element), e.at("%target", e.times(row, "%pitch"), element)
        with e.loop("0", "%size", lanes) as begin:
            at, values = e.index("umin", begin, last), []
            line = Pointer(e, dtype, e.at(across, e.times(at, "%step"), element))
            for _ in range(lanes):
                values.append(e.load(line.get(), "0", dtype, 1))
                line.advance("%step")
            target = Pointer(e, dtype, e.at(into, at, element))
            for value in e.transposed(values):
                e.store(value, target.get(), "0")
                target.advance("%pitch")
    with e.when(e.test("eq", e.choose(square, "1", "0"), 0)):
        apart = e.multiples("%pitch")
        rows = e.loop("0", "%rows", lanes)
        with rows as row, e.loop("0", "%size", 1) as at, e.masked(e.below(e.index("sub", "%rows", row))):
            value = e.load("%source", e.plus(row, e.times(at, "%step")), dtype, 1)
            e.store(value, "%target", e.plus(at, e.times(row, "%pitch")), apart)


SUMS = 4  # of each product with a vector: additions that don't wait for each other
ADDED = 8  # rows of a matrix that are read side by side, and added up before they are added to a sum


def _dots(e: Emitter, kernel: Kernel) -> None:
    """The products of `count` rows of k elements, `step` apart, with a vector. One row after the other: memory gives most where
    it is read in order."""
    dtype, lanes = kernel.dtype, e.lanes
    zero = e.constant(0, dtype)
    sums = [e.variable(zero) for _ in range(SUMS)]
    rest = e.index("urem", "%k", SUMS * lanes)
    whole = e.index("sub", "%k", rest)
    row, into = Pointer(e, dtype, "%matrix"), Pointer(e, dtype, "%result")

    def accumulate(at: str, total: str) -> None:
        left, right = e.load(row.get(), at, dtype, 1), e.load("%vector", at, dtype, 1)
        e.set(total, e.fma(left, right, e.get(total, dtype)))

    with e.loop("0", "%count", 1):
        for total in sums:
            e.set(total, zero)
        with e.when(e.test("ne", whole, 0)), e.loop("0", whole, SUMS * lanes) as at:
            for number, total in enumerate(sums):
                accumulate(e.plus(at, number * lanes), total)
        with (
            e.when(e.test("ne", rest, 0)),
            e.loop(whole, "%k", lanes) as at,
            e.masked(e.below(e.index("sub", "%k", at))),
        ):
            accumulate(at, sums[0])
        values = [e.get(total, dtype) for total in sums]
        while len(values) > 1:
            values = [e.add(a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
        e.store_scalar(e.folded(values[0], Emitter.add), into.get(), "0")
        row.advance("%step")
        into.advance("1")


def _columns(e: Emitter, kernel: Kernel) -> None:
    """A vector of k numbers, `apart` from each other, times `count` columns of a matrix whose rows lie `step` apart. Some rows
    are read side by side, as memory gives most; what they make is added up before it is added to the columns' sums, so that
    rounding errors grow with fewer terms. Each column's sum is the same, whichever others are computed with it."""
    dtype, element = kernel.dtype, ELEMENT[kernel.dtype]
    rest, left = e.index("urem", "%k", ADDED), e.index("urem", "%count", e.lanes)
    whole, full = e.index("sub", "%k", rest), e.index("sub", "%count", left)

    def vectors(body: Callable[[str], None]) -> None:
        with e.when(e.test("ne", full, 0)), e.loop("0", full, e.lanes) as column:
            body(column)
        with e.when(e.test("ne", left, 0)), e.masked(e.below(left)):
            body(full)

    def some(at: str, rows: int) -> None:
        places = [e.plus(at, row) if row else at for row in range(rows)]
        factors = [e.load_scalar("%vector", e.times(place, "%apart"), dtype) for place in places]
        lines = [e.at("%matrix", e.times(place, "%step"), element) for place in places]

        def add(column: str) -> None:
            total = e.multiply(factors[0], e.load(lines[0], column, dtype, 1))
            for factor, line in zip(factors[1:], lines[1:], strict=True):
                total = e.fma(factor, e.load(line, column, dtype, 1), total)
            e.store(e.add(e.load("%result", column, dtype, 1), total), "%result", column)

        vectors(add)

    zero = e.constant(0, dtype)
    vectors(lambda column: e.store(zero, "%result", column))
    with e.when(e.test("ne", whole, 0)), e.loop("0", whole, ADDED) as at:
        some(at, ADDED)
    with e.when(e.test("ne", rest, 0)), e.loop(whole, "%k", 1) as at:
        some(at, 1)


# Kernels that go through lists in the unit's block: what a product's extents make of its tiles is data. ---------------------


class Each(NamedTuple):
    """Of a list the part that comes as many times as the number of this name says."""

    times: str
    entries: tuple[Any, ...]


# What the entries of the lists are called, in the order in which the kernels read them.
LISTS: dict[str, tuple[Any, ...]] = {
    "tiles": (
        "arrays to fetch", "for a tile", "for a step", Each("arrays to fetch", ("array",)), "kinds of panels",
        Each("kinds of panels", (
            "column", "panels", "width", "B's step", "kinds of tiles",
            Each("kinds of tiles", (
                "row", "rows", "tiles", "A from", "A's next", "A's row", "A's step", "fetch ahead", "by",
            )),
        )),
    ),
    "gathers": ("kinds", Each("kinds", ("source", "target", "width", "next", "strips", "by"))),
    "turns": ("kinds", "by", Each("kinds", ("column", "panels", "width", "vectors", "columns of the last"))),
}  # fmt: skip


class List(Number):
    """Reads a list, in order: the place of what comes next."""

    def numbers(self, count: int) -> list[str]:
        """The next numbers."""
        at = self.get()
        found = [self.e.argument(self.e.plus(at, k) if k else at) for k in range(count)]
        self.set(self.e.plus(at, count))
        return found

    def function(self) -> str:
        """The next one is a function."""
        at = self.get()
        found = self.e.array(at)
        self.set(self.e.plus(at, 1))
        return found


def _some(e: Emitter, count: str) -> tuple[str, str]:
    """Which of so many a call is to pack."""
    low, high = [e.index("udiv", e.times(count, part), "%parts") for part in ("%first", "%last")]
    return low, high


def _tiles(e: Emitter, kernel: Kernel) -> None:
    """All tiles of some rows. The list has what others will read or write next, of which each tile fetches a part: how many
    arrays, how many elements of one a tile fetches, how many for each k, and the arrays; these rows begin `c_first` elements
    behind their starts. Where there are no arrays that is of what lies behind a panel of B: of the next one, if B is packed. Then
    come the number of kinds of panels, and for each kind: the first column, how many such panels, how wide they are, the step
    from one row of B to the next in it, and the number of kinds of tiles. For each of these: the first row, the rows of a tile,
    how many such tiles; where the first one's part of A begins, how far from it the next one's; A's strides, how far ahead to
    fetch; and the tile's function. A column's part of B lies `b_by` times the column behind B's start, and of it the first
    `skipped` rows aren't read. More than `sums` products are added up in blocks of so many."""
    element = ELEMENT[kernel.dtype]

    def further(pointer: str, by: str) -> str:
        return e.at(pointer, by, element)

    reader = List(e, "%list")
    arrays, part, near_step = reader.numbers(3)
    nearby = reader.get()
    reader.set(e.plus(nearby, arrays))
    (panels,) = reader.numbers(1)
    turn, near = Number(e, e.plus("0", 0)), Pointer(e, kernel.dtype, "%c")
    fetched, behind = e.times(near_step, "%k"), e.choose(e.test("ne", near_step, 0), "%b_by", "0")
    with e.loop("0", panels, 1):
        column, times, width, b_step, kinds = reader.numbers(5)
        begin = reader.get()
        with e.loop("0", times, 1) as panel:
            first = e.plus(e.times(panel, width), column)
            b, c = further("%b", e.plus(e.times(first, "%b_by"), e.times("%skipped", b_step))), further("%c", first)
            near.set(further(b, e.times(width, behind)))  # the next panel
            reader.set(begin)
            with e.loop("0", kinds, 1):
                top, rows, count, place, apart, a_row, a_step, ahead = reader.numbers(8)
                function = reader.function()
                a_first, c_first = further("%a", place), further(c, e.times(top, "%c_row"))
                c_apart = e.times(rows, "%c_row")
                with e.loop("0", count, 1) as index:
                    a, into = further(a_first, e.times(index, apart)), further(c_first, e.times(index, c_apart))
                    with e.when(e.all_of("%fetches", e.test("ne", arrays, 0))):
                        number = turn.get()
                        turn.set(e.plus(number, 1))
                        array = e.array(e.plus(nearby, e.index("urem", number, arrays)))
                        begin_at = e.plus(e.times(e.index("udiv", number, arrays), part), "%c_first")
                        near.set(further(array, begin_at))

                    def tile(a: str, b: str, k: str, again: str, near: str) -> None:
                        call(e, function, "tile", a, a_row, a_step, b, b_step, into, "%c_row", k, "%columns", again,
                             further(a, ahead), near, near_step)  # fmt: skip

                    tile(a, b, e.index("umin", "%k", "%sums"), "%again", near.get())
                    with e.when(e.test("slt", "%sums", "%k")), e.loop("%sums", "%k", "%sums") as at:
                        left = e.index("umin", e.index("sub", "%k", at), "%sums")
                        ways = (a, a_step), (b, b_step), (near.get(), near_step)
                        a_later, b_later, near_later = [further(p, e.times(at, step)) for p, step in ways]
                        tile(a_later, b_later, left, "true", near_later)
                    near.advance(fetched)


def _gathers(e: Emitter, kernel: Kernel) -> None:
    """Strips of several widths. The list has the number of kinds, and for each: where its source and its target begin, how wide
    a strip is, how far the next one lies, how many there are, and the function that gathers them."""
    element = ELEMENT[kernel.dtype]
    reader = List(e, "%list")
    (kinds,) = reader.numbers(1)
    with e.loop("0", kinds, 1):
        begin, place, width, apart, strips = reader.numbers(5)
        function, (low, high) = reader.function(), _some(e, strips)
        source = e.at("%source", e.plus(begin, e.times(low, width)), element)
        target = e.at("%target", e.plus(place, e.times(low, apart)), element)
        with e.when(e.test("slt", low, high)):
            call(e, function, "gather", source, "%step", target, width, apart, "%k", e.index("sub", high, low))


def _turns(e: Emitter, kernel: Kernel) -> None:
    """The columns of a matrix that lies transposed, panel by panel. The list has the number of kinds of panels, and for each: the
    first column, how many such panels, how wide they are, of how many vectors, and how many columns of the last one count. Then
    comes the function that turns a vector's."""
    element = ELEMENT[kernel.dtype]
    reader = List(e, "%list")
    (kinds,) = reader.numbers(1)
    function = reader.function()
    with e.loop("0", kinds, 1):
        column, times, width, vectors, last = reader.numbers(5)
        low, high = _some(e, times)
        with e.when(e.test("slt", low, high)), e.loop(low, high, 1) as panel:
            first = e.plus(e.times(panel, width), column)
            into = e.at("%target", e.times(first, "%depth"), element)
            with e.loop("0", vectors, 1) as v:
                lanes = e.times(v, e.lanes)
                source = e.at("%source", e.times(e.plus(first, lanes), "%step"), element)
                columns = e.choose(e.test("eq", e.plus(v, 1), vectors), last, str(e.lanes))
                call(e, function, "turn", source, "%step", e.at(into, lanes, element), width, "%k", columns)


WRITERS: dict[str, Callable[[Emitter, Kernel], None]] = {
    "tile": _tile, "gather": _gather, "turn": _turn, "across": _across, "dots": _dots, "tiles": _tiles, "gathers": _gathers,
    "turns": _turns, "columns": _columns,
}  # fmt: skip

LISTED = "ptr %table, ptr %args, i64 %list"  # of those that go through a list
SOME = "i64 %first, i64 %last, i64 %parts"  # of what is packed, of each kind of it
PARAMETERS = {
    "tile": "ptr noalias %a, i64 %a_row, i64 %a_step, ptr noalias %b, i64 %b_step, ptr noalias %c, i64 %c_row, i64 %k, "
            "i64 %columns, i1 %again, ptr %ahead, ptr %near, i64 %near_step",
    "gather": "ptr noalias %source, i64 %step, ptr noalias %target, i64 %width, i64 %apart, i64 %k, i64 %strips",
    "turn": "ptr noalias %source, i64 %step, ptr noalias %target, i64 %width, i64 %k, i64 %columns",
    "across": "ptr noalias %source, i64 %step, ptr noalias %target, i64 %pitch, i64 %rows, i64 %size",
    "dots": "ptr noalias %matrix, i64 %step, ptr noalias %vector, ptr noalias %result, i64 %count, i64 %k",
    "columns": "ptr noalias %matrix, i64 %step, ptr noalias %vector, i64 %apart, ptr noalias %result, i64 %count, i64 %k",
    "tiles": f"{LISTED}, ptr %a, ptr %b, ptr %c, i64 %b_by, i64 %c_row, i64 %k, i64 %sums, i64 %columns, i1 %again, "
             "i64 %skipped, i64 %c_first, i1 %fetches",
    "gathers": f"{LISTED}, ptr %source, i64 %step, ptr %target, i64 %k, {SOME}",
    "turns": f"{LISTED}, ptr %source, i64 %step, ptr %target, i64 %depth, i64 %k, {SOME}",
}  # fmt: skip
