"""Algorithms on small matrices as formulas over an emitter: each lane has matrices of its own.

A formula is written once and comes in two forms, unrolled and in loops: see `matrix_workspaces`. Each takes its operands as
matrices that it may change, and gives its results with the lanes in which an operand is to blame (or None).
Sources: G. Golub & C. Van Loan, "Matrix Computations", 3.4 (elimination with partial pivoting) and 4.2 (Cholesky); I. Murray,
arXiv:1602.07527; A. Al-Mohy & N. Higham, SIAM J. Matrix Anal. Appl. 30 (2009), 1639-1657 (the exponential with its derivative).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.loops import vector_math
from adjoint.compiler.loops.build import BITS_OF, Emitter, Value
from adjoint.compiler.loops.matrix_workspaces import Cell, Index, Matrix, Unrolled, Workspace
from adjoint.compiler.loops.routines import Routine
from adjoint.primitives.matrix_function_kernels import PADE, REACH

MOST_SQUARINGS = 1100  # more than an exponent of float64 can ask for


# Pieces ---------------------------------------------------------------------------------------------------------------


def _less(e: Emitter, c: Value, a: Value, b: Value) -> Value:
    """c - a b."""
    return e.fma(e.negative(a), b, c)


def transposed(w: Workspace, a: Matrix) -> Matrix:
    made = w.matrix(a.columns, a.rows, a.dtype)
    for i in w.span(0, a.rows):
        for j in w.span(0, a.columns, inner=True):
            made.set(j, i, a.get(i, j))
    return made


def finite(w: Workspace, a: Matrix) -> Value:
    """Whether all elements are."""
    e = w.e
    total = Cell(e, e.constant(0.0, a.dtype))
    for i in w.span(0, a.rows):
        for j in w.span(0, a.columns, inner=True):
            total.set(e.fma(a.get(i, j), 0.0, total.get()))
    return e.compare("eq", total.get(), 0.0)


def _or_nan(w: Workspace, sound: Value, x: Matrix) -> None:
    """NaN where a matrix isn't finite, of which LAPACK may make anything."""
    for i in w.span(0, x.rows):
        for j in w.span(0, x.columns, inner=True):
            x.set(i, j, w.e.select(sound, x.get(i, j), float("nan")))


def _eliminate(w: Workspace, a: Matrix, others: Sequence[Matrix], sign: Cell | None = None) -> Value:
    """A's upper factor in place of A, the other matrices changed alike; where it is singular."""
    e, n = w.e, a.rows
    singular = Cell(e, e.constant(False, "bool"))
    for k in w.span(0, n):
        w.pivot(a, k, others, sign)
        pivot = a.get(k, k)
        none = e.compare("eq", pivot, 0.0)
        singular.set(e.either(singular.get(), none))
        below = w.next(k)
        for i in w.span(below, n):
            factor = e.select(none, 0.0, e.divide(a.get(i, k), pivot))
            for j in w.span(below, n):
                a.set(i, j, _less(e, a.get(i, j), factor, a.get(k, j)))
            for b in others:
                for j in w.span(0, b.columns, inner=True):
                    b.set(i, j, _less(e, b.get(i, j), factor, b.get(k, j)))
    return singular.get()


def _substitute(w: Workspace, a: Matrix, b: Matrix, lower: bool, unit: bool = False) -> Value:
    """X in place of B with A X = B, of one triangle of A; where A has a zero on its diagonal."""
    e, n = w.e, a.rows
    singular = Cell(e, e.constant(False, "bool"))
    for k in w.span(0, n) if lower else w.down(n):
        if not unit:
            pivot = a.get(k, k)
            singular.set(e.either(singular.get(), e.compare("eq", pivot, 0.0)))
            for j in w.span(0, b.columns, inner=True):
                b.set(k, j, e.divide(b.get(k, j), pivot))
        for i in w.span(w.next(k), n) if lower else w.span(0, k):
            factor = a.get(i, k)
            for j in w.span(0, b.columns, inner=True):
                b.set(i, j, _less(e, b.get(i, j), factor, b.get(k, j)))
    return singular.get()


def product(w: Workspace, a: Matrix, b: Matrix) -> Matrix:
    """A B, each element a sum from first to last."""
    e, made = w.e, w.matrix(a.rows, b.columns, a.dtype)
    for i in w.span(0, a.rows):
        for j in w.span(0, b.columns, isinstance(w, Unrolled)):
            total = Cell(e, e.multiply(a.get(i, 0), b.get(0, j)))
            for k in w.span(1, a.columns, inner=True):
                total.set(e.fma(a.get(i, k), b.get(k, j), total.get()))
            made.set(i, j, total.get())
    return made


def _combined(w: Workspace, one: float, terms: Sequence[tuple[float, Matrix]]) -> Matrix:
    """A number on the diagonal, and multiples of matrices."""
    e, model = w.e, terms[0][1]

    def element(i: Index, j: Index) -> Value:
        total = e.multiply(terms[0][1].get(i, j), terms[0][0])
        for factor, x in terms[1:]:
            total = e.fma(x.get(i, j), factor, total)
        return total

    made = w.each(model, element)
    if one:
        for i in w.span(0, model.rows):
            made.set(i, i, e.add(made.get(i, i), one))
    return made


# Formulas: (workspace, attributes, operands) to results, and where an operand is to blame ------------------------------------

Results = tuple[list[Matrix], Value | None]


def _solve(w: Workspace, attributes: Any, a: Matrix, b: Matrix) -> Results:
    sound = finite(w, a)
    singular = _eliminate(w, a, [b])
    _substitute(w, a, b, lower=False)
    _or_nan(w, sound, b)
    return [b], w.e.both(singular, sound)


def _inv(w: Workspace, attributes: Any, a: Matrix) -> Results:
    return _solve(w, None, a, w.filled(a.rows, a.rows, a.dtype, 1.0))


def _solve_triangular(w: Workspace, attributes: Any, a: Matrix, b: Matrix) -> Results:
    lower, is_adjoint, unit = attributes
    singular = _substitute(w, transposed(w, a) if is_adjoint else a, b, lower != is_adjoint, unit)
    return [b], None if unit else singular


def _cholesky(w: Workspace, attributes: Any, a: Matrix) -> Results:
    e, n = w.e, a.rows
    sound = finite(w, a)
    factor = w.filled(n, n, a.dtype)
    indefinite = Cell(e, e.constant(False, "bool"))
    for k in w.span(0, n):
        square = a.get(k, k)
        indefinite.set(e.either(indefinite.get(), e.invert(e.compare("gt", square, 0.0))))
        root = e.intrinsic("sqrt", square)
        factor.set(k, k, root)
        below = w.next(k)
        for i in w.span(below, n):
            factor.set(i, k, e.divide(a.get(i, k), root))
        for i in w.span(below, n):
            left = factor.get(i, k)
            for j in w.span(below, w.next(i)):
                a.set(i, j, _less(e, a.get(i, j), left, factor.get(j, k)))
    _or_nan(w, sound, factor)
    return [factor], e.both(indefinite.get(), sound)


def _cholesky_adjoint(w: Workspace, attributes: Any, factor: Matrix, u: Matrix) -> Results:
    e, n = w.e, factor.rows
    phi = w.filled(n, n, factor.dtype)
    for i in w.span(0, n):
        for j in w.span(0, w.next(i)):
            total = Cell(e, e.constant(0.0, factor.dtype))
            for k in w.span(i, n):
                total.set(e.fma(factor.get(k, i), u.get(k, j), total.get()))
            phi.set(i, j, total.get())
        phi.set(i, i, e.multiply(phi.get(i, i), 0.5))
    upper = transposed(w, factor)
    _substitute(w, upper, phi, lower=False)
    found = transposed(w, phi)
    _substitute(w, upper, found, lower=False)
    return [w.each(found, lambda i, j: e.multiply(e.add(found.get(i, j), found.get(j, i)), 0.5))], None


def _determinants(w: Workspace, a: Matrix) -> Cell:
    sign = Cell(w.e, w.e.constant(1.0, a.dtype))
    _eliminate(w, a, [], sign)
    return sign


def _det(w: Workspace, attributes: Any, a: Matrix) -> Results:
    total, e = _determinants(w, a), w.e
    for k in w.span(0, a.rows):
        total.set(e.multiply(total.get(), a.get(k, k)))
    made = w.matrix(1, 1, a.dtype)
    made.set(0, 0, total.get())
    return [made], None


def _slogdet(w: Workspace, attributes: Any, a: Matrix) -> Results:
    sign, e = _determinants(w, a), w.e
    size = Cell(e, e.constant(0.0, a.dtype))
    for k in w.span(0, a.rows):
        pivot = a.get(k, k)
        turned = e.select(e.compare("lt", pivot, 0.0), e.negative(sign.get()), sign.get())
        turned = e.select(e.compare("eq", pivot, 0.0), 0.0, turned)
        sign.set(e.select(e.compare("uno", pivot, pivot), pivot, turned))
        e.known = {}
        size.set(e.add(size.get(), vector_math.log(e, e.absolute(pivot))))
    made = [w.matrix(1, 1, a.dtype), w.matrix(1, 1, a.dtype)]
    made[0].set(0, 0, sign.get())
    made[1].set(0, 0, size.get())
    return made, None


def _matmul(w: Workspace, attributes: Any, a: Matrix, b: Matrix) -> Results:
    return [product(w, a, b)], None


# The exponential, and its derivative in a direction -----------------------------------------------------------------------


class _Dual(NamedTuple):
    """A matrix and its derivative, or the matrix alone."""

    value: Matrix
    slope: Matrix | None

    def by(self, w: Workspace, other: _Dual) -> _Dual:
        """The product."""
        value = product(w, self.value, other.value)
        if self.slope is None or other.slope is None:
            return _Dual(value, None)
        first, second = product(w, self.slope, other.value), product(w, self.value, other.slope)
        return _Dual(value, _combined(w, 0.0, [(1.0, first), (1.0, second)]))


def _sum(w: Workspace, one: float, terms: Sequence[tuple[float, _Dual]]) -> _Dual:
    slopes = [(c, x.slope) for c, x in terms if x.slope is not None]
    return _Dual(_combined(w, one, [(c, x.value) for c, x in terms]), _combined(w, 0.0, slopes) if slopes else None)


def _solved(w: Workspace, a: Matrix, b: Matrix) -> Matrix:
    """The solution, with copies of both."""
    x = w.each(b, b.get)
    copy = w.each(a, a.get)
    _eliminate(w, copy, [x])
    _substitute(w, copy, x, lower=False)
    return x


def _scaling(w: Workspace, a: Matrix) -> tuple[Value, Value]:
    """How often a matrix is to be halved for the approximant, and the power of two that does it."""
    e, dtype = w.e, a.dtype
    largest = Cell(e, e.constant(0.0, dtype))
    for j in w.span(0, a.columns):
        total = Cell(e, e.constant(0.0, dtype))
        for i in w.span(0, a.rows, inner=True):
            total.set(e.add(total.get(), e.absolute(a.get(i, j))))
        largest.set(vector_math.maximum(e, largest.get(), total.get()))
    integer, mantissa, bias = BITS_OF[dtype], vector_math.MANTISSA[dtype], vector_math.BIAS[dtype]
    bits = e.bits(e.multiply(largest.get(), 1 / REACH[13]))
    halvings = e.subtract(e.shift("lshr", bits, mantissa), bias)
    rest = e.bitwise("and", bits, (1 << mantissa) - 1)
    halvings = e.add(halvings, e.cast(e.compare("ne", rest, 0), integer))
    scaled = e.both(e.compare("gt", halvings, 0), e.compare("lt", largest.get(), float("inf")))
    halvings = e.select(scaled, halvings, 0)
    return halvings, e.from_bits(e.shift("shl", e.subtract(e.constant(bias, integer), halvings), mantissa))


def _scaled(w: Workspace, a: Matrix, factor: Value) -> Matrix:
    return w.each(a, lambda i, j: w.e.multiply(a.get(i, j), factor))


def _exponential(w: Workspace, a: Matrix, slope: Matrix | None) -> _Dual:
    b = PADE[13]
    halvings, factor = _scaling(w, a)
    scaled = _Dual(_scaled(w, a, factor), None if slope is None else _scaled(w, slope, factor))
    second = scaled.by(w, scaled)
    fourth = second.by(w, second)
    sixth = fourth.by(w, second)
    powers = (second, fourth, sixth)
    parts = []
    for first in (1, 0):  # the odd and the even terms
        high = sixth.by(w, _sum(w, 0.0, list(zip(b[8 + first :: 2], powers, strict=True))))
        low = list(zip(b[2 + first : 8 : 2], powers, strict=True))
        parts.append(_sum(w, b[first], [*low, (1.0, high)]))
    odd, even = scaled.by(w, parts[0]), parts[1]
    below = _sum(w, 0.0, [(1.0, even), (-1.0, odd)])
    above = _sum(w, 0.0, [(1.0, even), (1.0, odd)])
    value = _solved(w, below.value, above.value)
    found = _Dual(value, None)
    if below.slope is not None and above.slope is not None:
        right = _combined(w, 0.0, [(1.0, above.slope), (-1.0, product(w, below.slope, value))])
        found = _Dual(value, _solved(w, below.value, right))
    return _squared(w, found, halvings)


def _squared(w: Workspace, x: _Dual, times: Value) -> _Dual:
    """Squared as often as each lane asks for."""
    e = w.e
    kept = _Dual(w.each(x.value, x.value.get, True), None if x.slope is None else w.each(x.slope, x.slope.get, True))
    left = Cell(e, times)
    with e.repeat(str(MOST_SQUARINGS)):
        again = e.compare("gt", left.get(), 0)
        e.leave_unless(e.any_lane(again))
        square = kept.by(w, kept)
        for target, source in ((kept.value, square.value), (kept.slope, square.slope)):
            if target is not None and source is not None:
                for i in w.span(0, target.rows):
                    for j in w.span(0, target.columns, inner=True):
                        target.set(i, j, e.select(again, source.get(i, j), target.get(i, j)))
        left.set(e.subtract(left.get(), e.constant(1, times.dtype)))
    return kept


def _expm(w: Workspace, attributes: Any, a: Matrix) -> Results:
    return [_exponential(w, a, None).value], None


def _expm_derivative(w: Workspace, attributes: Any, a: Matrix, slope: Matrix) -> Results:
    found = _exponential(w, a, slope).slope
    assert found is not None
    return [found], None


FORMULAS: dict[str, Routine] = {
    "solve": Routine("solve", "is singular", lambda n, k: n * n * (n + 2 * k) + n * k, formula=_solve),
    "inv": Routine("inv", "is singular", lambda n, k: 3 * n**3, formula=_inv),
    "solve_triangular": Routine("solve_triangular", "is singular", lambda n, k: n * n * k, formula=_solve_triangular),
    "cholesky": Routine("cholesky", "is not positive definite", lambda n, k: n**3 // 3 + 2 * n * n, formula=_cholesky),
    "cholesky_adjoint": Routine("cholesky_adjoint", "", lambda n, k: 2 * n**3, formula=_cholesky_adjoint),
    "det": Routine("det", "", lambda n, k: n**3, formula=_det),
    "slogdet": Routine("slogdet", "", lambda n, k: n**3 + 40 * n, formula=_slogdet),
    "expm": Routine("expm", "", lambda n, k: 9 * n**3, formula=_expm),
    "expm_derivative": Routine("expm_derivative", "", lambda n, k: 24 * n**3, formula=_expm_derivative),
    "matmul": Routine("matmul", "", lambda n, k: n * n * k, formula=_matmul),
}


LOWERED = FORMULAS.keys() | {"matrix_function", "matrix_function_derivative"}  # primitives that may be such a unit


def formula_name(name: str, attributes: Any) -> str:
    """The name in `FORMULAS` of a primitive with these attributes."""
    if name == "matrix_function":
        return str(attributes)
    return f"{attributes}_derivative" if name == "matrix_function_derivative" else name
