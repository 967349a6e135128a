"""Units of larger matrices: LAPACK treats each, called by the address of its function within the native program.

What is done for one matrix is `factors.c`; here is who calls it, for which matrices, and where in memory everything is. A matrix
that is to blame is noted as in `build_matrices`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from adjoint.compiler.excerpts import Stacked
from adjoint.compiler.fuse.kinds import stack_stride
from adjoint.compiler.loops import complex_math, vector_math
from adjoint.compiler.loops.build import Complex, Value
from adjoint.compiler.loops.build_matrices import StackWriter
from adjoint.compiler.loops.build_products import leading
from adjoint.compiler.loops.routines import ROUTINES
from adjoint.compiler.schedule.blocks import BlockSchedule
from adjoint.compiler.tables import Arguments, Bounds, Function
from adjoint.compiler.targets.llvm import BYTES, ELEMENT, PART
from adjoint.primitives.lapack import (
    ADJOINT,
    DIVIDE,
    LETTERS,
    LOWER,
    PANEL,
    PLAIN,
    UNIT,
    UPPER,
    eigh_work,
    svd_work,
)


class LapackWriter(StackWriter):
    """Writes the functions of a unit whose matrices LAPACK treats, one after another."""

    def __init__(self, unit: Stacked, arguments: Arguments, how: BlockSchedule) -> None:
        super().__init__(unit, arguments, how, ROUTINES[unit.name])
        self.dtype = unit.dtype
        self.part = PART.get(unit.dtype, unit.dtype)
        self.parts = self.parts_of(unit.dtype)  # real numbers in an element
        self.rows, self.columns = unit.reads[0].shape[-2:]
        self.right = unit.reads[-1].shape[-1]
        self.width = how.columns  # of what is solved for, in a chunk
        self.ranges = -(-self.right // self.width)

    def block(self, i: str) -> None:
        """The i-th matrix, or range of columns."""
        ranges = self.number(self.ranges, "ranges")
        self.range = self.e.index("urem", i, ranges) if self.ranges > 1 else "0"
        self.b = i = self.e.index("udiv", i, ranges) if self.ranges > 1 else i
        self.operands = []
        for k, view in enumerate(self.unit.reads):
            stride = stack_stride(view)
            assert stride is not None
            parts, element = (1, "i32") if self.is_pivots(k) else (self.parts, ELEMENT[self.part])
            by = self.inputs.number(stride * parts, ("operand", k))
            self.operands.append(self.e.at(self.pointer(view.root), self.e.times(i, by), element))
        self.found = 0
        EMIT[self.unit.name](self)

    def is_pivots(self, k: int) -> bool:
        """Whether an operand is a list of exchanged rows."""
        return k == 1 and self.routine.pivots

    def result(self, dtype: str | None = None) -> str:
        """Where the next result goes, of this dtype or the unit's."""
        slot, *sizes = self.unit.results[self.found]
        dtype = dtype or self.dtype
        by = self.inputs.number(math.prod(sizes) * self.parts_of(dtype), ("result", self.found))
        self.found += 1
        return self.e.at(self.pointer(slot), self.e.times(self.b, by), ELEMENT[PART.get(dtype, dtype)])

    # Numbers, and memory of the thread's own

    @staticmethod
    def parts_of(dtype: str) -> int:
        return 2 if dtype in PART else 1

    def number(self, value: int, *role: Any) -> str:
        """A number that follows from the unit's extents, by what it is."""
        return self.inputs.number(value, role)

    def numbers(self, **roles: int) -> list[str]:
        """Such numbers, by what they are."""
        return [self.number(value, role) for role, value in roles.items()]

    def space(self, count: int, dtype: str | None = None) -> str:
        """Memory of the thread's own for so many elements. Where it is stands in no code, which serves all extents."""
        offset = self.arguments.given(self.arguments.reserve(count * BYTES[dtype or self.dtype]))
        with self.inputs.at_the_beginning():
            return self.e.at(self.e.entry("%own", 0), self.arguments.number(self.e, offset), "i8")

    # Calls

    def of_library(self, name: str) -> str:
        """A function of OpenBLAS; `?` is the letter of the dtype."""
        return self.inputs.pointer(Function("OpenBLAS", name.replace("?", LETTERS[self.dtype])))

    def call(self, name: str, pointers: Sequence[str], *numbers: int | str) -> str:
        """Call a function of `factors.c`; what it gives."""
        full = f"{name}_{LETTERS[self.dtype]}"
        self.arguments.in_c.add(full)
        return self.e.call(f"@${full}", [*[("ptr", x) for x in pointers], *[("i64", str(x)) for x in numbers]], "i64")

    # What is to blame

    def blame_if(self, info: str) -> None:
        """Note this matrix if LAPACK says that it is to blame, and none is noted yet."""
        e = self.e
        assert self.note is not None
        before = e.read_number(self.note)
        first = e.all_of(e.test("sgt", info, 0), e.test("eq", before, 0))
        e.note("i64", e.choose(first, e.plus(self.b, 1), before), self.note)

    def check_pivots(self, wrong: str, noted: str) -> None:
        """Note a pivot that isn't one of the rows, if there is one."""
        with self.e.when(self.e.test("ne", wrong, 0)):
            self.inputs.fail(Bounds(1, self.rows), self.e.read_number(noted))


# Of each primitive what is done for one matrix ------------------------------------------------------------------------


def _cholesky(w: LapackWriter) -> None:
    w.blame_if(w.call("cholesky", [*w.operands, w.result(), w.of_library("?potrf_")], w.number(w.rows, "n")))


def _cholesky_adjoint(w: LapackWriter) -> None:
    functions = map(w.of_library, ("cblas_?trmm", "cblas_?trsm"))
    w.call("cholesky_adjoint", [*w.operands, w.result(), w.space(w.rows**2), *functions], w.number(w.rows, "n"))


def _solve_triangular(w: LapackWriter) -> None:
    lower, is_adjoint, unit = w.unit.attributes
    e, n, k = w.e, w.number(w.rows, "n"), w.number(w.right, "columns")
    modes = (LOWER if lower else UPPER, ADJOINT if is_adjoint else PLAIN, UNIT if unit else DIVIDE)
    if not unit:
        w.blame_if(w.call("has_zero", w.operands[:1], n))
    if w.right == 1:
        w.call("solve_vector", [*w.operands, w.result(), w.of_library("cblas_?trsv")], n, *modes)
        return
    low, columns = "0", k
    if w.ranges > 1:
        low = e.times(w.range, w.number(w.width, "width"))
        columns = e.index("umin", e.index("sub", k, low), w.number(w.width, "width"))
    w.call("solve_triangular", [*w.operands, w.result(), w.of_library("cblas_?trsm")], n, k, low, columns, *modes)


def _lu(w: LapackWriter) -> None:
    results, space = (w.result(), w.result("int32")), w.space(w.rows * w.columns)
    sizes = w.numbers(m=w.rows, n=w.columns)
    w.call("lu", [*w.operands, *results, space, w.of_library("?getrf_")], *sizes)


def _solve_factored(w: LapackWriter) -> None:
    (is_adjoint,) = w.unit.attributes
    n, k, noted = w.number(w.rows, "n"), w.number(w.right, "columns"), w.space(1, "int64")
    w.blame_if(w.call("has_zero", w.operands[:1], n))
    given = [*w.operands, w.result(), w.of_library("cblas_?trsm"), noted]
    w.check_pivots(w.call("solve_factored", given, n, k, int(is_adjoint)), noted)


def _permute_rows(w: LapackWriter) -> None:
    (inverse,) = w.unit.attributes
    (b, pivots), noted = w.operands, w.space(1, "int64")
    sizes = w.numbers(n=w.rows, columns=w.columns, steps=w.unit.reads[1].shape[-2])
    w.check_pivots(w.call("permute_rows", [b, pivots, w.result(), noted], *sizes, int(inverse)), noted)


def _solve(w: LapackWriter) -> None:
    spaces = w.space(w.rows**2), w.space(w.rows, "int32")
    functions = map(w.of_library, ("?getrf_", "cblas_?trsm"))
    given = [*w.operands, w.result(), *spaces, *functions]
    w.blame_if(w.call("solve", given, *w.numbers(n=w.rows, columns=w.right)))


def _inv(w: LapackWriter) -> None:
    room = w.rows * PANEL
    spaces = w.space(w.rows, "int32"), w.space(room)
    functions = map(w.of_library, ("?getrf_", "?getri_"))
    w.blame_if(w.call("inv", [*w.operands, w.result(), *spaces, *functions], *w.numbers(n=w.rows, work=room)))


def _determinants(w: LapackWriter) -> tuple[list[str], str]:
    """Variables with the sign (of a complex matrix two parts) and the logarithm of the size of a determinant."""
    e, n = w.e, w.rows
    a, pivots = w.space(n * n), w.space(n, "int32")
    w.call("factored", [*w.operands, a, pivots, w.of_library("?getrf_")], w.number(n, "n"))
    signs = [e.allocate(w.part, e.lanes) for _ in range(w.parts)]
    size = e.allocate(w.part, e.lanes)
    for slot, start in zip((*signs, size), (1.0, 0.0, 0.0) if w.parts == 2 else (1.0, 0.0), strict=True):
        e.set(slot, e.constant(start, w.part))
    with e.loop("0", w.number(n, "order"), 1) as i:
        e.known = {}
        x: Any = e.load_scalar(a, e.times(i, w.number(n + 1, "along the diagonal")), w.dtype)
        if isinstance(x, Complex):
            length, turn = complex_math.absolute(e, x), complex_math.sign(e, x)
            before = Complex(e.get(signs[0], w.part), e.get(signs[1], w.part), w.dtype)
            product = complex_math.multiply(e, before, turn)
            e.set(signs[0], product.re)
            e.set(signs[1], product.im)
        else:
            length, sign = e.absolute(x), e.get(signs[0], w.part)
            turned = e.select(e.compare("lt", x, 0.0), e.negative(sign), sign)
            turned = e.select(e.compare("eq", x, 0.0), 0.0, turned)
            e.set(signs[0], e.select(e.compare("uno", x, x), x, turned))
        e.set(size, e.add(e.get(size, w.part), vector_math.log(e, length)))
        with e.when(e.test("ne", e.read_number(e.at(pivots, i, "i32"), "i32"), e.plus(i, 1))):
            for slot in signs:
                e.set(slot, e.negative(e.get(slot, w.part)))
    e.known = {}
    return signs, size


def _sign(w: LapackWriter, signs: Sequence[str], by: Value | None = None) -> Any:
    e = w.e
    found = [e.get(slot, w.part) for slot in signs]
    if by is not None:
        found = [e.multiply(x, by) for x in found]
    return Complex(found[0], found[1], w.dtype) if len(found) == 2 else found[0]


def _slogdet(w: LapackWriter) -> None:
    out, logarithm = w.result(), w.result(w.part)
    signs, size = _determinants(w)
    w.e.store_scalar(_sign(w, signs), out, "0")
    w.e.store_scalar(w.e.get(size, w.part), logarithm, "0")


def _det(w: LapackWriter) -> None:
    out = w.result()
    signs, size = _determinants(w)
    w.e.store_scalar(_sign(w, signs, vector_math.exp(w.e, w.e.get(size, w.part))), out, "0")


def _qr(w: LapackWriter) -> None:
    (complete,) = w.unit.attributes
    m, n = w.rows, w.columns
    k = m if complete else n
    results, spaces = (w.result(), w.result()), (w.space(m * k), w.space(n), w.space(k * PANEL))
    functions = map(w.of_library, ("?geqrf_", "?ungqr_" if w.parts == 2 else "?orgqr_"))
    sizes = w.numbers(m=m, n=n, k=k, work=k * PANEL)
    w.call("qr", [*w.operands, *results, *spaces, *functions], *sizes)


def _eigenvalues(w: LapackWriter, vectors: bool) -> None:
    (upper,) = w.unit.attributes
    n, values, out = w.rows, w.result(w.part), w.result() if vectors else "null"
    size, real, integers = eigh_work(n, w.parts == 2, vectors)
    spaces = w.space(n * n), w.space(size), w.space(real, w.part) if real else "null", w.space(integers, "int32")
    function = w.of_library("?heevd_" if w.parts == 2 else "?syevd_")
    rooms = [w.number(x, role) for x, role in ((size, "work"), (real, "real work"), (integers, "integers"))]
    given = [*w.operands, values, out, *spaces, function]
    w.blame_if(w.call("eigenvalues", given, w.number(n, "n"), int(upper), *rooms))


def _singular_values(w: LapackWriter, kind: str) -> None:
    """`kind` is A for all vectors, S for as many as there are values, N for none."""
    m, n, some = w.rows, w.columns, kind != "N"
    k = min(m, n)
    wide, high = (m, n) if kind == "A" else (k, k)
    u_out, values, vh_out = w.result() if some else "null", w.result(w.part), w.result() if some else "null"
    size, real, integers = svd_work(m, n, w.parts == 2)
    a, work, whole = w.space(m * n), w.space(size), w.space(integers, "int32")
    u, vh = (w.space(m * wide), w.space(high * n)) if some else (a, a)
    given = [*w.operands, u_out, values, vh_out, a, work, w.space(real, w.part) if real else "null", whole, u, vh]
    sizes = w.numbers(m=m, n=n, wide=wide, high=high, work=size)
    w.blame_if(w.call("singular_values", [*given, w.of_library("?gesdd_")], *sizes, ord(kind)))


def _product(w: LapackWriter) -> None:
    # Of complex matrices, each of which lies by rows or by columns.
    (m, k), n = w.unit.reads[0].shape[-2:], w.right
    modes, steps = zip(*[leading(view) for view in w.unit.reads], strict=True)
    sizes = w.numbers(m=m, n=n, k=k)
    apart = [w.number(x, "leading", role) for role, x in enumerate(steps)]
    w.call("product", [*w.operands, w.result(), w.of_library("cblas_?gemm")], *sizes, *modes, *apart)


EMIT: dict[str, Callable[[LapackWriter], None]] = {
    "matmul": _product,
    "cholesky": _cholesky, "cholesky_adjoint": _cholesky_adjoint, "solve_triangular": _solve_triangular, "lu": _lu,
    "solve_factored": _solve_factored, "permute_rows": _permute_rows, "solve": _solve, "inv": _inv, "slogdet": _slogdet,
    "det": _det, "qr": _qr, "eigh": lambda w: _eigenvalues(w, vectors=True), "eigvalsh": lambda w: _eigenvalues(w, vectors=False),
    "svd": lambda w: _singular_values(w, "A" if w.unit.attributes[0] else "S"),
    "svdvals": lambda w: _singular_values(w, "N"),
}  # fmt: skip
