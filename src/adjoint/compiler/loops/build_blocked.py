"""Units of one large matrix, block by block: a Cholesky factor, and the cotangent of a matrix by that of its factor. All threads
multiply, and one of them goes ahead to the next block of the diagonal meanwhile.

A unit is a list of calls: each step has some, which all chunks of rows or columns share; what each does is `factors.c`. Where it
stands is a number in memory that all see. The blocks are the same whoever computes them, so the bits are, too.
"""

from __future__ import annotations

from collections.abc import Callable

from adjoint.compiler.excerpts import Stacked
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import BYTES
from adjoint.compiler.loops.build_lapack import LapackWriter
from adjoint.compiler.loops.matmul_tiles import Kernel
from adjoint.compiler.schedule.blocks import BlockSchedule
from adjoint.compiler.tables import FAILURE, Arguments, First, Function
from adjoint.primitives.linalg_kernels import BLOCK

STATES = 3  # numbers that all see, before one for each strip


class BlockedWriter(LapackWriter):
    """Writes the functions of a unit whose only matrix is computed block by block, and lists the calls of them."""

    def __init__(self, unit: Stacked, arguments: Arguments, how: BlockSchedule) -> None:
        super().__init__(unit, arguments, how)
        self.n, self.strip, self.columns = self.rows, how.step, how.columns
        self.state = arguments.share("where it stands", (STATES + self.chunks) * 8)

    def write(self) -> list[L.Function]:
        return self.cholesky() if self.unit.name == "cholesky" else self.cholesky_adjoint()

    def function_of(self, name: str, body: Callable[[str], object]) -> L.Function:
        """A function of a range of chunks."""
        self.begin(self.how.lanes)
        self.order, self.stage = self.number(self.n, "n"), self.inputs.pointer(self.state)
        self.operands = [self.pointer(view.root) for view in self.unit.reads]
        self.out = self.pointer(self.unit.results[0][0])
        with self.e.loop("%first", "%last", 1) as chunk:
            body(chunk)
        return self.inputs.function(name)

    # A Cholesky factor: of the rows below a block first what stands in its columns, then what that takes from the columns behind

    def cholesky(self) -> list[L.Function]:
        call, of, strip = self.call, self.of_library, self.strip
        functions = [
            self.function_of("unit", lambda k: call("blocked_clear", [self.out, self.stage], k, self.order, strip)),
            self.function_of("begin", lambda k: call(
                "blocked_begin", [*self.operands, self.out, self.stage], k, self.order, strip)),
            self.function_of("first", lambda k: call(
                "blocked_first", [self.out, self.stage, of("?potrf_")], self.order, BLOCK, self.chunks)),
            self.function_of("panel", lambda k: call(
                "blocked_panel", [self.out, self.stage, of("cblas_?trsm")], k, self.order, BLOCK, strip)),
            self.function_of("update", lambda k: call(
                "blocked_update", [self.out, self.stage, of("cblas_?gemm"), of("?potrf_")], k, self.order, BLOCK, strip)),
            self.function_of("advance", lambda k: call("blocked_advance", [self.stage], BLOCK)),
            self.function_of("finish", lambda k: self.blame()),
        ]  # fmt: skip
        self.first = [First("begin", None, self.chunks), First("first")]
        for below in range(self.n - BLOCK, 0, -BLOCK):
            strips = -(-below // strip)
            self.first += [First("panel", None, strips), First("update", None, strips), First("advance")]
        return functions

    def blame(self) -> None:
        """Note a matrix that has no factor, unless something is noted already."""
        e = self.e
        failed = e.test("ne", self.call("blocked_failed", [self.stage]), 0)
        with e.when(e.all_of(failed, e.test("eq", e.read_number(e.entry("%table", FAILURE)), 0))):
            self.inputs.fail(self.check(), "0")

    # The cotangent of A = L Lᵀ, block by block from the end: first what the rows below a block make of its columns, then what
    # that takes from the columns before, and last what the block of the diagonal takes from them

    def cholesky_adjoint(self) -> list[L.Function]:
        call, of, last = self.call, self.of_library, (self.n - 1) // BLOCK * BLOCK
        space = self.arguments.share("what rows take from a block", self.chunks * BLOCK * BLOCK * BYTES[self.dtype])

        def given() -> list[str]:
            return [self.operands[0], self.out, self.stage]

        def taken() -> list[str]:
            return [*given(), self.inputs.pointer(space), of("cblas_?gemm")]

        def triangle() -> list[str]:
            return [of("cblas_?trsm"), of("cblas_?trmm"), self.space(BLOCK * BLOCK)]

        functions = [
            self.function_of("unit", lambda k: call(
                "adjoint_mirror", [self.out, self.inputs.pointer(Function("tiles", Kernel("across", self.dtype)))], k, self.order,
                BLOCK, self.strip)),
            self.function_of("begin", lambda k: call(
                "adjoint_begin", [self.operands[1], self.out], k, self.order, self.strip)),
            self.function_of("first", lambda k: call(
                "adjoint_first", [*given(), *triangle()], self.number(last, "last block"), self.order, BLOCK)),
            self.function_of("panel", lambda k: call(
                "adjoint_panel", [*taken(), of("cblas_?trsm")], k, self.order, BLOCK, self.strip)),
            self.function_of("columns", lambda k: call(
                "adjoint_columns", [*taken(), *triangle()], k, self.order, BLOCK, self.strip, self.columns)),
            self.function_of("rows", lambda k: call(
                "adjoint_rows", [*given(), of("cblas_?gemm")], k, self.order, BLOCK, self.columns)),
            self.function_of("advance", lambda k: call("blocked_advance", [self.stage], -BLOCK)),
        ]  # fmt: skip
        self.first = [First("begin", None, self.chunks), First("first")]
        for start in range(last, -1, -BLOCK):
            before, below = -(-start // self.columns), -(-(self.n - start - BLOCK) // self.strip)
            if start < last:
                self.first += [First("advance"), First("panel", None, below), First("columns", None, 1 + 2 * before)]
            if before:
                self.first += [First("rows", None, before)]
        return functions


def factors_writer(unit: Stacked, arguments: Arguments, how: BlockSchedule) -> LapackWriter:
    """Who writes a unit of larger matrices."""
    return (BlockedWriter if how.way == "blocks" else LapackWriter)(unit, arguments, how)
