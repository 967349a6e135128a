"""Units of larger matrices: LAPACK treats each, called by the address of its function within the native program.

LAPACK knows matrices by columns. Where what is found depends on that, it is given a copy in that order, in the thread's own
memory; a Cholesky factor, an inverse and a determinant are as well found of the transpose, which is the matrix as it lies. What
it takes by reference stands in cells of that memory. Matrices that aren't finite give NaN; one that is to blame is noted as in
`build_matrices`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adjoint.compiler.fuse.kinds import stack_stride
from adjoint.compiler.loops import complex_math, vector_math
from adjoint.compiler.loops.build import ITEMSIZE, Complex, Value, lanes_for, literal
from adjoint.compiler.loops.build_matrices import Stacked, StackWriter
from adjoint.compiler.loops.build_products import leading
from adjoint.compiler.loops.routines import ROUTINES
from adjoint.compiler.schedule.chunks import evenly
from adjoint.compiler.tables import Arguments, Bounds, Function
from adjoint.compiler.targets.llvm import BYTES, ELEMENT, PART
from adjoint.primitives.lapack import (
    ADJOINT,
    DIVIDE,
    LEFT,
    LETTERS,
    LOWER,
    PANEL,
    PLAIN,
    UNIT,
    UPPER,
    eigh_work,
    svd_work,
)
from adjoint.shapes import size_of

CELL = 8  # bytes of what is passed by reference
LEAST_COLUMNS, MOST_RANGES = 128, 8  # of a triangular system with many right sides, whose columns are solved in ranges
ONE = {"complex64": ("1065353216", "0"), "complex128": (str(0x3FF << 52), "0")}  # 1 + 0i as the bits of two cells


class LapackWriter(StackWriter):
    """Writes the functions of a unit whose matrices LAPACK treats, one after another."""

    def __init__(self, unit: Stacked, arguments: Arguments, bits: int) -> None:
        routine = ROUTINES[unit.name]
        self.dtype = unit.dtype
        self.part = PART.get(unit.dtype, unit.dtype)
        self.parts = self.parts_of(unit.dtype)  # real numbers in an element
        self.rows, self.columns = unit.reads[0].shape[-2:]
        self.right = unit.reads[-1].shape[-1]
        lanes = lanes_for(bits // (8 * ITEMSIZE[self.part]), self.rows * self.columns * self.parts)
        operations = max(routine.operations(self.rows, max(self.columns, self.right)), 1) * self.parts**2
        super().__init__(unit, arguments, lanes, operations, routine.operation, routine.problem)
        self.width = self.right  # columns of what is solved for, in a chunk
        if unit.name == "solve_triangular" and size_of(unit.batch) < MOST_RANGES:
            self.width = max(LEAST_COLUMNS, -(-evenly(self.right, -(-self.right // MOST_RANGES)) // lanes) * lanes)
        self.ranges = -(-self.right // self.width)
        operations = -(-operations // self.ranges)
        self.divide(size_of(unit.batch) * self.ranges, 4 * operations)
        self.time = self.count * (operations / 8 + 300)
        self.by_reference: dict[str, str] = {}

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
        return k == 1 and ROUTINES[self.unit.name].pivots

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

    def space(self, count: int, dtype: str | None = None) -> str:
        """Memory for so many elements."""
        return self.reserve(count * BYTES[dtype or self.dtype])

    def reserve(self, size: int) -> str:
        """Memory of the thread's own. Where it is stands in no code, which serves all extents."""
        offset = self.arguments.given(self.arguments.reserve(size))
        with self.inputs.at_the_beginning():
            return self.e.at(self.e.entry("%own", 0), self.arguments.number(self.e, offset), "i8")

    def cell(self, value: str) -> str:
        """Where a number that is the same for all matrices stands."""
        found = self.by_reference.get(value)
        if found is None:
            found = self.by_reference[value] = self.place()
            with self.inputs.at_the_beginning():
                self.e.note("i64", value, found)
        return found

    def place(self) -> str:
        return self.reserve(CELL)

    def letter(self, x: str) -> str:
        """Where a character stands: the first byte of a number."""
        return self.cell(str(ord(x)))

    # Calls

    def lapack(self, name: str, *given: str, letters: int = 0) -> str:
        """Call a function; `?` is the letter of the dtype. What it says of success: 0, or what is wrong. Behind the arguments
        go the lengths of those that are characters."""
        e = self.e
        info = self.cell_for("info")
        e.note("i64", "0", info)
        function = self.inputs.pointer(Function("OpenBLAS", name.replace("?", LETTERS[self.dtype])))
        e.call(function, (*[("ptr", x) for x in (*given, info)], *[("i64", "1")] * letters))
        return e.read_number(info, "i32")

    def cell_for(self, purpose: str) -> str:
        """A cell that changes."""
        if purpose not in self.by_reference:
            self.by_reference[purpose] = self.place()
        return self.by_reference[purpose]

    def factor(self, x: float) -> tuple[str, str]:
        """A number as the functions of cblas take it: a complex one, which is 0 or 1, by reference."""
        if self.parts == 1:
            return ELEMENT[self.dtype], literal(x, self.dtype)
        found = self.by_reference.get(f"{x}")
        if found is None:
            found = self.by_reference[f"{x}"] = self.reserve(2 * CELL)
            with self.inputs.at_the_beginning():
                for k, bits in enumerate(ONE[self.dtype] if x else ("0", "0")):
                    self.e.note("i64", bits, self.e.at(found, k, "i64"))
        return "ptr", found

    def blas(self, name: str, numbers: Sequence[int | str], *given: float | tuple[str, str]) -> None:
        """Call a function of OpenBLAS for modes and sizes, then factors, and matrices with the lengths of their rows."""
        kinds: list[tuple[str, str]] = []
        for x in given:
            kinds += [self.factor(x)] if isinstance(x, float) else [("ptr", x[0]), ("i32", x[1])]
        self.inputs.blas(f"{LETTERS[self.dtype]}{name}", numbers, *kinds)

    def triangular(
        self, a: str, x: str, n: int, k: int, modes: tuple[int, int, int], name: str = "trsm", columns: str = ""
    ) -> None:
        """X in place with T X = X, or by "trmm" T X, of a triangle of A: `modes` are which, how it is turned, its diagonal. X may
        be some `columns` of one that has k."""
        rows, pitch = self.number(n, "triangle", "n"), self.number(k, "triangle", "k")
        self.blas(name, (LEFT, *modes, rows, columns or pitch), 1.0, (a, rows), (x, pitch))

    # Copies

    def copy(self, source: str, target: str | None, size: int, role: Any, check: bool = False) -> str:
        """Copy elements that lie together, if there is a target. With `check`, whether one isn't finite: 1 or 0."""
        e = self.e
        total = e.variable(e.constant(0.0, self.part)) if check else ""

        def some(offset: str) -> None:
            x = e.load(source, offset, self.part, 1)
            if target is not None:
                e.store(x, target, offset)
            if check:
                e.set(total, e.fma(x, 0.0, e.get(total, self.part)))

        self.inputs.vectors(size * self.parts, some, (role, "size"))
        return self.flag(e.compare("ne", e.get(total, self.part), 0.0), "bad") if check else "0"

    def is_bad(self, source: str, size: int, role: Any) -> str:
        """Whether an element isn't finite: 1 or 0."""
        return self.copy(source, None, size, role, True)

    def flag(self, condition: Value, purpose: str) -> str:
        """1 where a condition holds in some lane, else 0."""
        e, place = self.e, self.cell_for(purpose)
        e.note("i64", "0", place)
        with e.when_any(condition):
            e.note("i64", "1", place)
        return e.read_number(place)

    def fill(self, target: str, size: int, value: float, role: Any, dtype: str | None = None) -> None:
        """Write the same number everywhere."""
        dtype = dtype or self.dtype
        x = self.e.constant(value, PART.get(dtype, dtype))
        self.inputs.vectors(size * self.parts_of(dtype), lambda offset: self.e.store(x, target, offset), (role, "size"))

    def turned_over(
        self, source: str, target: str, rows: int, columns: int, role: Any, conjugate: bool = False
    ) -> None:
        """A matrix (rows, columns) transposed to (columns, rows); maybe the complex conjugate."""
        e = self.e
        n, m = self.number(rows, role, "rows"), self.number(columns, role, "columns")
        with e.loop("0", n, 1) as i, e.loop("0", m, 1) as j:
            x: Any = e.load_scalar(source, e.plus(e.times(i, m), j), self.dtype)
            if conjugate and isinstance(x, Complex):
                x = complex_math.conjugate(e, x)
            e.store_scalar(x, target, e.plus(e.times(j, n), i))

    def cleared(self, x: str, rows: int, columns: int, above: bool, role: Any) -> None:
        """Zeros above the diagonal of a matrix, or below it."""
        e = self.e
        m = self.number(columns, role, "columns")
        zero = e.constant(0.0, self.dtype)
        if above and columns > 1:
            last = min(rows, columns - 1)
            with e.loop("0", self.number(last, role, "rows"), 1) as i, e.loop(e.plus(i, 1), m, 1) as j:
                e.store_scalar(zero, x, e.plus(e.times(i, m), j))
        elif not above and rows > 1:
            with e.loop("1", self.number(rows, role, "rows"), 1) as i, e.loop("0", e.index("umin", i, m), 1) as j:
                e.store_scalar(zero, x, e.plus(e.times(i, m), j))

    def halved_diagonal(self, x: str, n: int, role: Any) -> None:
        e = self.e
        with e.loop("0", self.number(n, role), 1) as i:
            at = e.times(i, self.number(n + 1, role, "diagonal"))
            e.store_scalar(self.scaled(e.load_scalar(x, at, self.dtype), 0.5), x, at)

    def scaled(self, x: Any, by: float) -> Any:
        return complex_math.scaled(self.e, x, by) if isinstance(x, Complex) else self.e.multiply(x, by)

    # What is to blame

    def blame_if(self, info: str) -> None:
        """Note this matrix if LAPACK says that it is to blame, and none is noted yet."""
        e = self.e
        assert self.note is not None
        before = e.read_number(self.note)
        first = e.all_of(e.test("sgt", info, 0), e.test("eq", before, 0))
        e.note("i64", e.choose(first, e.plus(self.b, 1), before), self.note)

    def blame_zeros(self, a: str, n: int) -> None:
        """Note a matrix with a zero on its diagonal."""
        e = self.e
        found = self.cell_for("zeros")
        e.note("i64", "0", found)
        with e.loop("0", self.number(n, "diagonal"), 1) as i:
            x: Any = e.load_scalar(a, e.times(i, self.number(n + 1, "along the diagonal")), self.dtype)
            zero = complex_math.is_zero(e, x) if isinstance(x, Complex) else e.compare("eq", x, 0.0)
            with e.when_any(zero):
                e.note("i64", "1", found)
        self.blame_if(e.read_number(found))

    def sound(self, bad: str) -> Any:
        """What is done for a matrix that is finite."""
        return self.e.when(self.e.test("eq", bad, 0))

    def unsound(self, bad: str) -> Any:
        """What is done for one that isn't."""
        return self.e.when(self.e.test("ne", bad, 0))

    @contextmanager
    def finite(self, bad: str, *results: tuple[str, int, str, str]) -> Iterator[None]:
        """What is done for a matrix that is finite; results of another one (where, how many, role, dtype) are NaN."""
        with self.sound(bad):
            yield
        with self.unsound(bad):
            for target, size, role, dtype in results:
                self.fill(target, size, math.nan, role, dtype)

    # Rows

    def permuted(self, x: str, pivots: str, steps: int, rows: int, columns: int, inverse: bool, first: int) -> None:
        """Exchange rows of a matrix in place as elimination did, or back. Pivots count from `first`."""
        e = self.e
        count, n, m = self.number(steps, "steps"), self.number(rows, "rows"), columns * self.parts
        wide = self.number(m, "row")
        with e.loop("0", count, 1) as step:
            i = e.index("sub", e.plus(count, -1), step) if inverse else step
            p = e.plus(e.read_number(e.at(pivots, i, "i32"), "i32"), -first)
            if not first:
                with e.when(e.test("uge", p, n)):
                    self.inputs.fail(Bounds(1, rows), p)
                p = e.choose(e.test("ult", p, n), p, i)
            with e.when(e.test("ne", p, i)):
                here, there = [e.at(x, e.times(k, wide), ELEMENT[self.part]) for k in (i, p)]

                def some(offset: str) -> None:
                    a, b = [e.load(pointer, offset, self.part, 1) for pointer in (here, there)]
                    e.store(b, here, offset)
                    e.store(a, there, offset)

                self.inputs.vectors(m, some, "row's elements")


# Of each primitive what is done for one matrix ------------------------------------------------------------------------


def _cholesky(w: LapackWriter) -> None:
    # The upper triangle of the columns is the lower one of the rows; of the conjugate, whose factor is the conjugate.
    n, out = w.rows, w.result()
    bad = w.copy(w.operands[0], out, n * n, "matrix", True)
    with w.finite(bad, (out, n * n, "matrix", w.dtype)):
        order = w.cell(w.number(n, "n"))
        w.blame_if(w.lapack("?potrf_", w.letter("U"), order, out, order, letters=1))
        w.cleared(out, n, n, True, "above")


def _cholesky_adjoint(w: LapackWriter) -> None:
    # half of F and its adjoint, where F = L⁻ᴴ Φ(Lᴴ u) L⁻¹ and Φ keeps the lower triangle and half the diagonal
    e, n, out = w.e, w.rows, w.result()
    factor, u = w.operands
    other = w.space(n * n)
    modes = (LOWER, ADJOINT, DIVIDE)
    w.copy(u, out, n * n, "matrix")
    w.cleared(out, n, n, True, "above")
    w.triangular(factor, out, n, n, modes, "trmm")
    w.cleared(out, n, n, True, "above")
    w.halved_diagonal(out, n, "half")
    w.triangular(factor, out, n, n, modes)
    w.turned_over(out, other, n, n, "turned", True)
    w.triangular(factor, other, n, n, modes)
    m = w.number(n, "n")
    with e.loop("0", m, 1) as i, e.loop("0", m, 1) as j:
        x: Any
        y: Any
        x, y = [e.load_scalar(other, e.plus(e.times(r, m), c), w.dtype) for r, c in ((i, j), (j, i))]
        adjoint = complex_math.add(e, x, complex_math.conjugate(e, y)) if isinstance(x, Complex) else e.add(x, y)
        e.store_scalar(w.scaled(adjoint, 0.5), out, e.plus(e.times(i, m), j))


def _solve_triangular(w: LapackWriter) -> None:
    lower, is_adjoint, unit = w.unit.attributes
    a, b = w.operands
    n, k, out = w.rows, w.right, w.result()
    modes = (LOWER if lower else UPPER, ADJOINT if is_adjoint else PLAIN, UNIT if unit else DIVIDE)
    if not unit:
        w.blame_zeros(a, n)
    if w.ranges == 1:
        w.copy(b, out, n * k, "right")
        w.triangular(a, out, n, k, modes)
        return
    e, row = w.e, w.number(k * w.parts, "row")
    low = e.times(w.range, w.number(w.width, "width"))
    columns = e.index("umin", e.index("sub", w.number(k, "columns"), low), w.number(w.width, "width"))
    source, target = [e.at(x, e.times(low, w.parts), ELEMENT[w.part]) for x in (b, out)]
    with e.loop("0", w.number(n, "rows"), 1) as i, e.loop("0", e.times(columns, w.parts), e.lanes) as j:
        e.known = {}
        at = e.plus(e.times(i, row), j)
        with e.masked(e.below(e.index("sub", e.times(columns, w.parts), j))):
            e.store(e.load(source, at, w.part, 1), target, at)
    w.triangular(a, target, n, k, modes, columns=columns)


def _factored(w: LapackWriter, a: str, rows: int, columns: int, pivots: str) -> str:
    """LU factors in place of a matrix (rows, columns) by columns; what LAPACK says."""
    m, n = w.cell(w.number(rows, "m")), w.cell(w.number(columns, "n"))
    return w.lapack("?getrf_", m, n, a, m, pivots)


def _lu(w: LapackWriter) -> None:
    e, m, n = w.e, w.rows, w.columns
    out, pivots = w.result(), w.result("int32")
    a = w.space(m * n)
    bad = w.is_bad(w.operands[0], m * n, "matrix")
    count = w.number(min(m, n), "pivots")
    with w.finite(bad, (out, m * n, "matrix", w.dtype)):
        w.turned_over(w.operands[0], a, m, n, "in")
        _factored(w, a, m, n, pivots)
        w.turned_over(a, out, n, m, "out")
        with e.loop("0", count, 1) as i:  # LAPACK counts from 1
            at = e.at(pivots, i, "i32")
            e.note("i32", e.index("trunc", e.plus(e.read_number(at, "i32"), -1), "i32"), at)
    with w.unsound(bad), e.loop("0", count, 1) as i:
        e.note("i32", e.index("trunc", i, "i32"), e.at(pivots, i, "i32"))


def _solve_factored(w: LapackWriter) -> None:
    (is_adjoint,) = w.unit.attributes
    packed, pivots, b = w.operands
    n, k, out = w.rows, w.right, w.result()
    w.blame_zeros(packed, n)
    w.copy(b, out, n * k, "right")
    if is_adjoint:
        w.triangular(packed, out, n, k, (UPPER, ADJOINT, DIVIDE))
        w.triangular(packed, out, n, k, (LOWER, ADJOINT, UNIT))
    w.permuted(out, pivots, n, n, k, is_adjoint, 0)
    if not is_adjoint:
        w.triangular(packed, out, n, k, (LOWER, PLAIN, UNIT))
        w.triangular(packed, out, n, k, (UPPER, PLAIN, DIVIDE))


def _permute_rows(w: LapackWriter) -> None:
    (inverse,) = w.unit.attributes
    b, pivots = w.operands
    out = w.result()
    w.copy(b, out, w.rows * w.columns, "right")
    w.permuted(out, pivots, w.unit.reads[1].shape[-2], w.rows, w.columns, inverse, 0)


def _solve(w: LapackWriter) -> None:
    # The factors lie by columns: read by rows, they are transposed.
    a, b = w.operands
    n, k, out = w.rows, w.right, w.result()
    packed, pivots = w.space(n * n), w.space(n, "int32")
    bad = w.is_bad(a, n * n, "matrix")
    with w.finite(bad, (out, n * k, "right", w.dtype)):
        w.turned_over(a, packed, n, n, "in")
        w.blame_if(_factored(w, packed, n, n, pivots))
        w.copy(b, out, n * k, "right")
        w.permuted(out, pivots, n, n, k, False, 1)
        w.triangular(packed, out, n, k, (UPPER, TRANSPOSED, UNIT))
        w.triangular(packed, out, n, k, (LOWER, TRANSPOSED, DIVIDE))


def _inv(w: LapackWriter) -> None:
    n, out = w.rows, w.result()
    pivots, work = w.space(n, "int32"), w.space(n * PANEL)
    bad = w.copy(w.operands[0], out, n * n, "matrix", True)
    with w.finite(bad, (out, n * n, "matrix", w.dtype)):
        w.blame_if(_factored(w, out, n, n, pivots))
        order = w.cell(w.number(n, "n"))
        w.lapack("?getri_", order, out, order, pivots, work, w.cell(w.number(n * PANEL, "work")))


def _determinants(w: LapackWriter) -> tuple[list[str], str]:
    """Variables with the sign (of a complex matrix two parts) and the logarithm of the size of a determinant."""
    e, n = w.e, w.rows
    a, pivots = w.space(n * n), w.space(n, "int32")
    w.copy(w.operands[0], a, n * n, "matrix")
    _factored(w, a, n, n, pivots)
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
    e, m, n = w.e, w.rows, w.columns
    k = m if complete else n
    q, r = w.result(), w.result()
    a, tau, work = w.space(m * k), w.space(n), w.space(k * PANEL)
    w.turned_over(w.operands[0], a, m, n, "in")
    rows, columns, every, room = [
        w.cell(w.number(x, role)) for x, role in ((m, "m"), (n, "n"), (k, "k"), (k * PANEL, "work"))
    ]
    w.lapack("?geqrf_", rows, columns, a, rows, tau, work, room)
    width = w.number(n, "width")
    with e.loop("0", width, 1) as i, e.loop("0", width, 1) as j:
        at = e.plus(e.times(j, w.number(m, "height")), i)
        e.store_scalar(e.load_scalar(a, at, w.dtype), r, e.plus(e.times(i, width), j))
    if k > n:
        rest = e.at(r, w.number(n * n * w.parts, "square"), ELEMENT[w.part])
        w.fill(rest, (k - n) * n, 0.0, "rest")
    w.cleared(r, n, n, False, "below")
    w.lapack("?ungqr_" if w.parts == 2 else "?orgqr_", rows, every, columns, a, rows, tau, work, room)
    w.turned_over(a, q, k, m, "out")


def _eigenvalues(w: LapackWriter, vectors: bool) -> None:
    (upper,) = w.unit.attributes
    n, values = w.rows, w.result(w.part)
    out = w.result() if vectors else ""
    size, real, integers = eigh_work(n, w.parts == 2, vectors)
    a, work, whole = w.space(n * n), w.space(size), w.space(integers, "int32")
    bad = w.is_bad(w.operands[0], n * n, "matrix")
    found = [(values, n, "values", w.part), *([(out, n * n, "matrix", w.dtype)] if vectors else [])]
    with w.finite(bad, *found):
        w.turned_over(w.operands[0], a, n, n, "in")
        order = w.cell(w.number(n, "n"))
        given = [w.letter("V" if vectors else "N"), w.letter("U" if upper else "L"), order, a, order, values,
                 work, w.cell(w.number(size, "work"))]  # fmt: skip
        if w.parts == 2:
            given += [w.space(real, w.part), w.cell(w.number(real, "real work"))]
        given += [whole, w.cell(w.number(integers, "integers"))]
        w.blame_if(w.lapack("?heevd_" if w.parts == 2 else "?syevd_", *given, letters=2))
        if vectors:
            w.turned_over(a, out, n, n, "out")


def _singular_values(w: LapackWriter, kind: str) -> None:
    """`kind` is A for all vectors, S for as many as there are values, N for none."""
    m, n = w.rows, w.columns
    k = min(m, n)
    wide, high = (m, n) if kind == "A" else (k, k)
    u_out = "" if kind == "N" else w.result()
    values = w.result(w.part)
    vh_out = "" if kind == "N" else w.result()
    size, real, integers = svd_work(m, n, w.parts == 2)
    a, work, whole = w.space(m * n), w.space(size), w.space(integers, "int32")
    u, vh = (w.space(m * wide), w.space(high * n)) if kind != "N" else (a, a)
    bad = w.is_bad(w.operands[0], m * n, "matrix")
    found = [(values, k, "values", w.part)]
    if kind != "N":
        found += [(u_out, m * wide, "u of nan", w.dtype), (vh_out, high * n, "vh of nan", w.dtype)]
    with w.finite(bad, *found):
        w.turned_over(w.operands[0], a, m, n, "in")
        rows, columns, tall, room = [
            w.cell(w.number(x, role)) for x, role in ((m, "m"), (n, "n"), (high, "high"), (size, "work"))
        ]
        given = [w.letter(kind), rows, columns, a, rows, values, u, rows, vh, tall, work, room]
        if w.parts == 2:
            given.append(w.space(real, w.part))
        w.blame_if(w.lapack("?gesdd_", *given, whole, letters=1))
        if kind != "N":
            w.turned_over(u, u_out, wide, m, "u")
            w.turned_over(vh, vh_out, n, high, "vh")


def _product(w: LapackWriter) -> None:
    # Of complex matrices, each of which lies by rows or by columns.
    (m, k), n = w.unit.reads[0].shape[-2:], w.right
    modes, steps = zip(*[leading(view) for view in w.unit.reads], strict=True)
    sizes = [w.number(x, role) for role, x in (("m", m), ("n", n), ("k", k))]
    a, b = [(x, w.number(step, "leading", role)) for role, (x, step) in enumerate(zip(w.operands, steps, strict=True))]
    w.blas("gemm", (*modes, *sizes), 1.0, a, b, 0.0, (w.result(), sizes[1]))


TRANSPOSED = 112

EMIT: dict[str, Callable[[LapackWriter], None]] = {
    "matmul": _product,
    "cholesky": _cholesky, "cholesky_adjoint": _cholesky_adjoint, "solve_triangular": _solve_triangular, "lu": _lu,
    "solve_factored": _solve_factored, "permute_rows": _permute_rows, "solve": _solve, "inv": _inv, "slogdet": _slogdet,
    "det": _det, "qr": _qr, "eigh": lambda w: _eigenvalues(w, True), "eigvalsh": lambda w: _eigenvalues(w, False),
    "svd": lambda w: _singular_values(w, "A" if w.unit.attributes[0] else "S"),
    "svdvals": lambda w: _singular_values(w, "N"),
}  # fmt: skip
