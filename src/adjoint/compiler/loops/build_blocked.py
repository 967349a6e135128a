"""Units of one large matrix, block by block: a Cholesky factor, and the cotangent of a matrix by that of its factor. All threads
multiply, and one of them goes ahead to the next block of the diagonal meanwhile.

A unit is a list of calls: each step has some, which all chunks of rows or columns share. Where it stands is a number in memory
that all see. The blocks are the same whoever computes them, so the bits are, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import ELEMENT
from adjoint.compiler.loops.build_lapack import CELL, TRANSPOSED, LapackWriter
from adjoint.compiler.loops.build_matrices import Stacked
from adjoint.compiler.loops.matmul_tiles import Kernel
from adjoint.compiler.tables import FAILURE, Arguments, First, Unsolvable
from adjoint.primitives.lapack import DIVIDE, LEFT, LOWER, PLAIN
from adjoint.primitives.linalg_kernels import BLOCK
from adjoint.shapes import size_of

RIGHT = 142
STRIPS = ((1024, 96), (0, 64))  # rows of a chunk, from so many rows of a matrix on
COLUMNS = 128  # of a chunk of the cotangent
PLACE, BAD, FAILED, STATES = range(4)  # the numbers that all see; from the last one on one for each strip


class BlockedWriter(LapackWriter):
    """Writes the functions of a unit whose only matrix is computed block by block, and lists the calls of them."""

    def __init__(self, unit: Stacked, arguments: Arguments, bits: int) -> None:
        super().__init__(unit, arguments, bits)
        self.n, self.lanes = self.rows, self.e.lanes
        self.strip = next(rows for least, rows in STRIPS if self.n >= least)
        self.chunks = -(-self.n // self.strip)
        self.state = arguments.share("where it stands", (STATES + self.chunks) * CELL)

    @staticmethod
    def suits(unit: Stacked) -> bool:
        """Whether a unit is one such matrix, of real numbers."""
        n = unit.reads[0].shape[-1]
        return unit.name in PARTS and size_of(unit.batch) == 1 and unit.dtype in ELEMENT and n >= PARTS[unit.name][0]

    def write(self) -> list[L.Function]:
        return PARTS[self.unit.name][1](self)

    def function_of(self, name: str, body: Callable[[str], None]) -> L.Function:
        """A function of a range of chunks."""
        self.begin(self.lanes)
        self.by_reference, self.found = {}, 0
        self.order = self.number(self.n, "n")
        self.operands = [self.pointer(view.root) for view in self.unit.reads]
        self.out = self.pointer(self.unit.results[0][0])
        with self.e.loop("%first", "%last", 1) as chunk:
            self.e.known = {}
            body(chunk)
        return self.inputs.function(name)

    # Where things are

    def shared(self, number: int | str) -> str:
        """Where a number stands that all threads see."""
        return self.e.at(self.inputs.pointer(self.state), number, "i64")

    def element(self, matrix: str, row: str, column: str) -> str:
        """An element of a matrix."""
        return self.e.at(matrix, self.e.plus(self.e.times(row, self.order), column), ELEMENT[self.dtype])

    def least(self, a: str, b: str | int) -> str:
        return self.e.index("umin", a, b)

    def less(self, a: str, b: str) -> str:
        return self.e.index("sub", a, b)

    def strip_of(self, chunk: str, start: str | int = 0) -> tuple[str, str]:
        """The first row of a chunk's strip, and how many it has; of the rows from some on."""
        low = self.e.plus(self.e.times(chunk, self.strip), start)
        return low, self.least(self.less(self.order, low), self.strip)

    def each_row(self, chunk: str, row: Callable[[str], None]) -> None:
        """Go through the rows of a chunk's strip."""
        low, count = self.strip_of(chunk)
        with self.e.loop(low, self.e.plus(low, count), 1) as i:
            self.e.known = {}
            row(self.e.times(i, self.order))

    # Calls of OpenBLAS, of parts of matrices whose rows are as long as those of the whole, or of blocks

    def add_product(
        self, modes: tuple[int, int], sizes: tuple[str, str, str], factor: float, a: str, b: str, c: str
    ) -> None:
        """C + factor A B in place of C, of parts of whole matrices: rows, columns, and what is summed."""
        n = self.order
        self.blas("gemm", (*modes, *sizes), factor, (a, n), (b, n), 1.0, (c, n))

    # A Cholesky factor: of the rows below a block first what stands in its columns, then what that takes from the columns behind

    def cholesky(self) -> list[L.Function]:
        functions = [
            self.function_of("unit", self.clear),
            self.function_of("begin", self.copy_strip),
            self.function_of("first", self.first_block),
            self.function_of("panel", self.panel),
            self.function_of("update", self.update),
            self.function_of("advance", lambda _: self.advance(BLOCK)),
            self.function_of("finish", self.blame),
        ]
        self.first = [First("begin", None, self.chunks), First("first")]
        for below in range(self.n - BLOCK, 0, -BLOCK):
            strips = -(-below // self.strip)
            self.first += [First("panel", None, strips), First("update", None, strips), First("advance")]
        return functions

    def copy_strip(self, chunk: str) -> None:
        """Copy some rows, and note whether an element isn't finite."""
        e = self.e
        total = e.variable(e.constant(0.0, self.dtype))

        def row(at: str) -> None:
            def some(j: str) -> None:
                x = e.load(self.operands[0], e.plus(at, j), self.dtype, 1)
                e.store(x, self.out, e.plus(at, j))
                e.set(total, e.fma(x, 0.0, e.get(total, self.dtype)))

            self.inputs.vectors(self.n, some, "row")

        self.each_row(chunk, row)
        bad = self.flag(e.compare("ne", e.get(total, self.dtype), 0.0), "bad")
        e.note("i64", bad, self.shared(e.plus(chunk, STATES)))

    def first_block(self, _: str) -> None:
        e = self.e
        for number in (PLACE, BAD, FAILED):
            e.note("i64", "0", self.shared(number))
        with (
            e.loop("0", self.number(self.chunks, "chunks"), 1) as c,
            e.when(e.test("ne", e.read_number(self.shared(e.plus(c, STATES))), 0)),
        ):
            e.note("i64", "1", self.shared(BAD))
        self.factored("0")

    def factored(self, start: str) -> None:
        """The factor of the block of the diagonal that begins there."""
        e = self.e
        size = self.cell_for("size")
        e.note("i64", self.least(self.less(self.order, start), BLOCK), size)
        info = self.lapack(
            "?potrf_", self.letter("U"), size, self.element(self.out, start, start), self.cell(self.order), letters=1
        )
        with e.when(e.test("sgt", info, 0)):
            e.note("i64", "1", self.shared(FAILED))

    def panel(self, chunk: str) -> None:
        start = self.e.read_number(self.shared(PLACE))
        low, count = self.strip_of(chunk, self.e.plus(start, BLOCK))
        block = (self.element(self.out, start, start), self.order)
        rows = (self.element(self.out, low, start), self.order)
        self.blas("trsm", (RIGHT, LOWER, TRANSPOSED, DIVIDE, count, BLOCK), 1.0, block, rows)

    def update(self, chunk: str) -> None:
        e, out = self.e, self.out
        start = e.read_number(self.shared(PLACE))
        behind = e.plus(start, BLOCK)
        low, count = self.strip_of(chunk, behind)
        width = self.less(e.plus(low, count), behind)
        left, right = self.element(out, low, start), self.element(out, behind, start)
        self.add_product(
            (PLAIN, TRANSPOSED), (count, width, str(BLOCK)), -1.0, left, right, self.element(out, low, behind)
        )
        with e.when(e.test("eq", chunk, 0)):
            self.factored(behind)

    def advance(self, by: int) -> None:
        at = self.shared(PLACE)
        self.e.note("i64", self.e.plus(self.e.read_number(at), by), at)

    def clear(self, chunk: str) -> None:
        """Zeros above the diagonal; NaN everywhere, if an element wasn't finite."""
        e = self.e
        nan, zero = e.constant(math.nan, self.dtype), e.constant(0.0, self.dtype)
        bad = e.read_number(self.shared(BAD))
        with self.unsound(bad):
            self.each_row(chunk, lambda at: self.inputs.vectors(
                self.n, lambda j: e.store(nan, self.out, e.plus(at, j)), "row"))  # fmt: skip
        with self.sound(bad):
            low, count = self.strip_of(chunk)
            with e.loop(low, e.plus(low, count), 1) as i:
                e.known = {}
                behind, at = e.plus(i, 1), e.times(i, self.order)
                some = e.loop(behind, self.order, self.lanes)
                with e.when(e.test("ult", behind, self.order)), some as j, e.masked(e.below(self.less(self.order, j))):
                    e.store(zero, self.out, e.plus(at, j))

    def blame(self, _: str) -> None:
        e = self.e
        failed = e.test("ne", e.read_number(self.shared(FAILED)), 0)
        sound = e.test("eq", e.read_number(self.shared(BAD)), 0)
        none = e.test("eq", e.read_number(e.entry("%table", FAILURE)), 0)
        with e.when(e.all_of(failed, e.all_of(sound, none))):
            self.inputs.fail(Unsolvable(self.blamed, self.problem, self.unit.batch), "0")

    # The cotangent of A = L Lᵀ, block by block from the end (see `linalg_kernels.cholesky_adjoint`). What the rows below a block
    # make of its columns stays there, twice what it is in the result.

    def cholesky_adjoint(self) -> list[L.Function]:
        functions = [
            self.function_of("unit", self.mirror),
            self.function_of("begin", self.copy_rows),
            self.function_of("first", self.last_block),
            self.function_of("columns", self.columns_before),
            self.function_of("advance", lambda _: self.advance(-BLOCK)),
        ]
        self.first = [First("begin", None, self.chunks), First("first")]
        for start in range((self.n - 1) // BLOCK * BLOCK, 0, -BLOCK):
            self.first += [First("columns", None, 1 + -(-(start - BLOCK) // COLUMNS)), First("advance")]
        return functions

    def copy_rows(self, chunk: str) -> None:
        e = self.e

        def row(at: str) -> None:
            self.inputs.vectors(
                self.n,
                lambda j: e.store(e.load(self.operands[1], e.plus(at, j), self.dtype, 1), self.out, e.plus(at, j)),
                "row",
            )

        self.each_row(chunk, row)

    def last_block(self, _: str) -> None:
        start = self.number((self.n - 1) // BLOCK * BLOCK, "last block")
        self.e.note("i64", start, self.shared(PLACE))
        self.diagonal(start)

    def columns_before(self, chunk: str) -> None:
        """What a block's rows, and those below it, take from some of the columns before it: first those of the next block."""
        e, (factor, _), g, n = self.e, self.operands, self.out, self.order
        start = e.read_number(self.shared(PLACE))
        end = self.least(e.plus(start, BLOCK), n)
        height, below, following = self.less(end, start), self.less(n, end), e.plus(start, -BLOCK)
        is_next = e.test("eq", chunk, 0)
        low = e.choose(is_next, following, e.times(e.plus(chunk, -1), COLUMNS))
        width = e.choose(is_next, str(BLOCK), self.least(self.less(following, low), COLUMNS))
        t, h = self.element(g, end, start), self.element(g, start, start)
        row, rows = self.element(factor, start, low), self.element(factor, end, low)
        into, under = self.element(g, start, low), self.element(g, end, low)
        with e.when(e.test("ne", below, 0)):
            self.add_product((PLAIN, PLAIN), (below, width, height), -1.0, t, row, under)
            self.add_product((TRANSPOSED, PLAIN), (height, width, below), -1.0, t, rows, into)
        self.add_product((PLAIN, PLAIN), (height, width, height), -2.0, h, row, into)
        with e.when(is_next):
            self.diagonal(following)

    def diagonal(self, start: str) -> None:
        """What is left of a block's columns and, from there, its block of the diagonal."""
        e, (factor, _), g, n = self.e, self.operands, self.out, self.order
        end = self.least(e.plus(start, BLOCK), n)
        height, below = self.less(end, start), self.less(n, end)
        t, h, block = (
            self.element(g, end, start),
            self.element(g, start, start),
            (self.element(factor, start, start), n),
        )
        with e.when(e.test("ne", below, 0)):
            self.blas("trsm", (RIGHT, LOWER, PLAIN, DIVIDE, below, height), 1.0, block, (t, n))
            rows = self.element(factor, end, start)
            self.add_product((TRANSPOSED, PLAIN), (height, height, below), -1.0, t, rows, h)
        phi, wide = self.space(BLOCK * BLOCK), str(BLOCK)
        self.triangle_of(h, phi, height, 1.0)
        for name, factor_of in (("trmm", 0.5), ("trsm", 1.0)):
            self.blas(name, (LEFT, LOWER, TRANSPOSED, DIVIDE, height, height), 1.0, block, (phi, wide))
            if name == "trmm":
                self.triangle_of(phi, phi, height, factor_of, BLOCK)
        self.blas("trsm", (RIGHT, LOWER, PLAIN, DIVIDE, height, height), 1.0, block, (phi, wide))
        with e.loop("0", height, 1) as i, e.loop("0", height, 1) as j:
            e.known = {}
            x, y = [e.load_scalar(phi, e.plus(e.times(a, BLOCK), b), self.dtype) for a, b in ((i, j), (j, i))]
            e.store_scalar(e.multiply(e.add(x, y), 0.5), h, e.plus(e.times(i, n), j))

    def triangle_of(self, source: str, target: str, height: str, diagonal: float, pitch: int | None = None) -> None:
        """The lower triangle of a block, and zeros above it, with the diagonal times a number."""
        e = self.e
        apart = self.order if pitch is None else str(pitch)
        with e.loop("0", height, 1) as i:
            e.known = {}
            here, there = e.times(i, apart), e.times(i, BLOCK)
            with e.loop("0", height, self.lanes) as j:
                behind = self.less(e.plus(i, 1), j)
                lower = e.below(e.choose(e.test("slt", behind, 0), "0", behind))
                inside = e.below(self.less(height, j))
                with e.masked(lower):
                    x = e.load(source, e.plus(here, j), self.dtype, 1)  # zeros where the mask is off
                with e.masked(inside):
                    e.store(x, target, e.plus(there, j))
            if diagonal != 1:
                x = e.load_scalar(target, e.plus(there, i), self.dtype)
                e.store_scalar(e.multiply(x, diagonal), target, e.plus(there, i))

    def mirror(self, chunk: str) -> None:
        """Half of what stands below the blocks of the diagonal, and the same above them."""
        e, g, n = self.e, self.out, self.order
        low, count = self.strip_of(chunk)
        behind = e.plus(low, count)
        with e.loop(e.index("udiv", low, BLOCK), e.index("udiv", e.plus(behind, BLOCK - 1), BLOCK), 1) as block:
            e.known = {}
            before = e.times(block, BLOCK)
            with e.when(e.test("ne", before, 0)):
                begin = e.choose(e.test("ult", before, low), low, before)
                rows = self.less(self.least(e.plus(before, BLOCK), behind), begin)
                with e.loop(begin, e.plus(begin, rows), 1) as i, e.loop("0", before, self.lanes) as j:
                    e.known = {}
                    at = e.plus(e.times(i, n), j)
                    with e.masked(e.below(self.less(before, j))):
                        e.store(e.multiply(e.load(g, at, self.dtype, 1), 0.5), g, at)
                below, beside = self.element(g, begin, "0"), self.element(g, "0", begin)
                self.inputs.tile(Kernel("across", self.dtype), below, n, beside, n, before, rows)


# From how many rows on a matrix is computed so, and who writes it
PARTS: dict[str, tuple[int, Callable[[BlockedWriter], list[L.Function]]]] = {
    "cholesky": (6 * BLOCK, BlockedWriter.cholesky),
    "cholesky_adjoint": (BLOCK + 1, BlockedWriter.cholesky_adjoint),
}


def factors_writer(unit: Stacked, arguments: Arguments, bits: int) -> LapackWriter:
    """Who writes a unit of larger matrices."""
    return (BlockedWriter if BlockedWriter.suits(unit) else LapackWriter)(unit, arguments, bits)
