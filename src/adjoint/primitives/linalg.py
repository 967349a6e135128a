"""Linear algebra: factorizations, systems, spectra and functions of matrices, on the last two axes.

Every rule is linear in the cotangent, so forward mode is its transpose, and made of the primitives here, so every order
follows. Sources: M. Giles, "Collected matrix derivative results for forward and reverse mode AD" (2008); I. Murray,
"Differentiation of the Cholesky decomposition" (2016, arXiv:1602.07527); S. Walter & L. Lehmann, "Algorithmic
differentiation of linear algebra functions" (2010, arXiv:1001.1654); Z. Wan & S. Zhang, "AD for complex valued SVD" (2019,
arXiv:1909.02659); G. Golub & V. Pereyra, SIAM J. Numer. Anal. 10 (1973), 413-432 (pseudoinverse).

Of Hermitian matrices one triangle is read, as LAPACK does; their derivatives are those in Hermitian directions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.dtypes import complex_of, int32, real_of
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives import lapack, matrix_function_kernels
from adjoint.primitives import linalg_kernels as kernels
from adjoint.primitives.core import cast, conjugate, leaf, ops, register, select, zeros

# Pieces of rules ------------------------------------------------------------------------------------------------------


def adjoint(x: Node) -> Node:
    """The conjugate transpose."""
    return conjugate(ops.matrix_transpose(x))


def hermitian(x: Node) -> Node:
    """Half of x and its conjugate transpose."""
    return ops.multiply(ops.add(x, adjoint(x)), 0.5)


def chain(*factors: Node) -> Node:
    """A product of matrices, from left to right."""
    result = factors[0]
    for x in factors[1:]:
        result = ops.matmul(result, x)
    return result


@functools.lru_cache(maxsize=64)
def _mask(rows: int, columns: int, kind: str, dtype: str) -> Any:
    """Constant factors: "lower" and "upper" triangles, "strict" ones below the diagonal, "half" with 1/2 on it, "one"."""
    makers: dict[str, Callable[[], Any]] = {
        "lower": lambda: np.tri(rows, columns),
        "strict": lambda: np.tri(rows, columns, -1),
        "upper": lambda: 1 - np.tri(rows, columns, -1),
        "above": lambda: 1 - np.tri(rows, columns),
        "half": lambda: np.tri(rows, columns) - 0.5 * np.eye(rows, columns),
        "one": lambda: np.eye(rows, columns),
    }
    mask = makers[kind]().astype(dtype)
    mask.flags.writeable = False
    return mask


def constant_matrix(kind: str, rows: int, columns: int, dtype: Any) -> Node:
    """One of the constants of `_mask` as a node."""
    return leaf(_mask(rows, columns, kind, dtype.name), array_type((rows, columns), dtype))


def part(x: Node, kind: str) -> Node:
    """x by a constant of `_mask`: a triangle of each matrix."""
    rows, columns = x.shape[-2:]
    mask = constant_matrix(kind, rows, columns, x.dtype)
    return ops.scale(x, ops.broadcast_to(mask, x.shape))


def one_matrix(like: Node) -> Node:
    """The unit matrix as large as square ones, broadcast to their batch."""
    n = like.shape[-1]
    return ops.broadcast_to(constant_matrix("one", n, n, like.dtype), (*like.shape[:-1], n))


def diagonal_matrix(d: Node) -> Node:
    """(..., n) on the diagonal of (..., n, n)."""
    n = d.shape[-1]
    spread = ops.broadcast_to(ops.reshape(d, (*d.shape, 1)), (*d.shape, n))
    return ops.scale(spread, ops.broadcast_to(constant_matrix("one", n, n, d.dtype), spread.shape))


def diagonal_of(x: Node) -> Node:
    """(..., n, n) to its diagonal (..., n)."""
    return ops.sum(part(x, "one"), (x.ndim - 1,))


def columns_scaled(x: Node, d: Node) -> Node:
    """Each column of x (..., m, n) by one of the factors d (..., n): the product with a diagonal matrix."""
    factors = ops.reshape(cast(d, x.dtype), (*d.shape[:-1], 1, d.shape[-1]))
    return ops.scale(x, ops.broadcast_to(factors, x.shape))


def by_number(u: Node, x: Node) -> Node:
    """x (..., m, n) by one number u (...) for each matrix."""
    factors = ops.reshape(cast(u, x.dtype), (*u.shape, 1, 1))
    return ops.scale(ops.broadcast_to(factors, x.shape), x)


def first_columns(x: Node, start: int, size: int) -> Node:
    """Columns from `start`."""
    return ops.slice_(x, (*[(0, n, 1) for n in x.shape[:-1]], (start, size, 1)))


def first_rows(x: Node, start: int, size: int) -> Node:
    """Rows from `start`."""
    return ops.slice_(x, (*[(0, n, 1) for n in x.shape[:-2]], (start, size, 1), (0, x.shape[-1], 1)))


def _plain(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return lambda attributes, type: kernel


def _with_attributes(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return lambda attributes, type: lambda *arrays: kernel(*arrays, *attributes)


def _outputs(node: Node) -> list[Node]:
    """The outputs of a node that has several."""
    return [select(node, i) for i in range(len(node.type))]


def _either(a: Node | None, b: Node | None) -> Node | None:
    return b if a is None else a if b is None else ops.add(a, b)


# Cholesky -------------------------------------------------------------------------------------------------------------


def _phi(x: Node) -> Node:
    """The lower triangle with half the diagonal: Murray's Φ."""
    return part(x, "half")


def _between(factor: Node, x: Node) -> Node:
    """The lower triangle of L⁻¹ X L⁻ᴴ with half its diagonal, for Hermitian X."""
    left = solve_triangular(factor, x, True, False, False)
    return _phi(solve_triangular(factor, adjoint(left), True, False, False))


def _adjoint_rule_factor(v: Node, out: Node, factor: Node, u: Node) -> Node:
    # of G = herm(L⁻ᴴ Φ(Lᴴ u) L⁻¹): through Φ, and through both inverses
    x = hermitian(v)
    inner = ops.matmul(part(u, "lower"), adjoint(_between(factor, x)))
    outer = ops.matmul(out, adjoint(solve_triangular(factor, x, True, False, False)))
    return part(ops.subtract(inner, ops.multiply(outer, 2.0)), "lower")


CHOLESKY = Primitive("cholesky", _plain(kernels.cholesky), (lambda u, out, a: cholesky_adjoint(out, u),))
CHOLESKY_ADJOINT = Primitive(
    "cholesky_adjoint",
    _plain(kernels.cholesky_adjoint),
    (_adjoint_rule_factor, lambda v, out, factor, u: part(ops.matmul(factor, _between(factor, hermitian(v))), "lower")),
)


@register
def cholesky_adjoint(factor: Node, u: Node) -> Node:
    """The Hermitian cotangent of A from its Cholesky factor and the cotangent of that."""
    return record(CHOLESKY_ADJOINT, (factor, u), None, u.type)


@register
def cholesky(a: Node) -> Node:
    """Lower triangular L (..., n, n) with A = L Lᴴ."""
    return record(CHOLESKY, (a,), None, a.type)


# Systems --------------------------------------------------------------------------------------------------------------


def _triangle(lower: bool, unit: bool) -> str:
    return ("strict" if unit else "lower") if lower else ("above" if unit else "upper")


def _triangular_rule_a(u: Node, out: Node, a: Node, b: Node) -> Node:
    lower, is_adjoint, unit = out.attributes
    g = solve_triangular(a, u, lower, not is_adjoint, unit)
    product = ops.matmul(out, adjoint(g)) if is_adjoint else ops.matmul(g, adjoint(out))
    return ops.negative(part(product, _triangle(lower, unit)))


def _triangular_rule_b(u: Node, out: Node, a: Node, b: Node) -> Node:
    lower, is_adjoint, unit = out.attributes
    return solve_triangular(a, u, lower, not is_adjoint, unit)


SOLVE_TRIANGULAR = Primitive(
    "solve_triangular",
    lambda modes, type: lambda a, b, out=None: kernels.solve_triangular(a, b, modes[0], modes[1], modes[2], out),
    (_triangular_rule_a, _triangular_rule_b),
    takes_out=True,
)
SOLVE = Primitive(
    "solve",
    _plain(kernels.solve),
    (
        lambda u, out, a, b: ops.negative(ops.matmul(solve(adjoint(a), u), adjoint(out))),
        lambda u, out, a, b: solve(adjoint(a), u),
    ),
)


def _lu_solve_rule_a(u: Node, out: Node, a: Node, packed: Node, pivots: Node, b: Node) -> Node:
    (is_adjoint,) = out.attributes
    g = solve_factored(a, packed, pivots, u, not is_adjoint)
    return ops.negative(ops.matmul(out, adjoint(g)) if is_adjoint else ops.matmul(g, adjoint(out)))


# The factors are constants to the rule: it speaks of the matrix itself, and uses them again for the adjoint system.
SOLVE_FACTORED = Primitive(
    "solve_factored",
    lambda attributes, type: lambda a, packed, pivots, b: kernels.lu_solve(packed, pivots, b, *attributes),
    (
        _lu_solve_rule_a,
        None,
        None,
        lambda u, out, a, packed, pivots, b: solve_factored(a, packed, pivots, u, not out.attributes[0]),
    ),
)


@register
def solve_triangular(a: Node, b: Node, lower: bool, is_adjoint: bool, unit: bool) -> Node:
    """X with A X = B or Aᴴ X = B: one triangle of A (..., n, n) is read; B (..., n, k)."""
    return record(SOLVE_TRIANGULAR, (a, b), (lower, is_adjoint, unit), b.type)


@register
def solve(a: Node, b: Node) -> Node:
    """X with A X = B, factored for this one system: A (..., n, n), B (..., n, k)."""
    return record(SOLVE, (a, b), None, b.type)


@register
def solve_factored(a: Node, packed: Node, pivots: Node, b: Node, is_adjoint: bool) -> Node:
    """X with A X = B or Aᴴ X = B, by A's LU factors."""
    return record(SOLVE_FACTORED, (a, packed, pivots, b), (is_adjoint,), b.type)


INV = Primitive("inv", _plain(kernels.inv), (lambda u, out, a: ops.negative(chain(adjoint(out), u, adjoint(out))),))


@register
def inv(a: Node) -> Node:
    """The inverse of (..., n, n)."""
    return record(INV, (a,), None, a.type)


# LU -------------------------------------------------------------------------------------------------------------------


def _lu_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    g = u[0]
    if g is None:
        return [None]
    packed, pivots = _outputs(out)
    m, n = packed.shape[-2:]
    k = min(m, n)
    square = first_columns(first_rows(packed, 0, k), 0, k)
    core = first_columns(first_rows(g, 0, k), 0, k)
    rest: Node | None = None
    if m > n:  # the rows below are A₂ U⁻¹
        below = first_rows(packed, k, m - k)
        rest = adjoint(solve_triangular(square, adjoint(first_rows(g, k, m - k)), False, False, False))
        core = ops.subtract(core, part(ops.matmul(adjoint(below), rest), "upper"))
    elif m < n:  # the columns to the right are L⁻¹ A₂
        right = first_columns(packed, k, n - k)
        rest = solve_triangular(square, first_columns(g, k, n - k), True, True, True)
        core = ops.subtract(core, part(ops.matmul(rest, adjoint(right)), "strict"))
    lower = ops.add(part(square, "strict"), one_matrix(square))
    upper = part(square, "upper")
    inner = ops.add(
        part(ops.matmul(adjoint(lower), part(core, "strict")), "strict"),
        part(ops.matmul(part(core, "upper"), adjoint(upper)), "upper"),
    )
    half = solve_triangular(square, inner, True, True, True)
    found = adjoint(solve_triangular(square, adjoint(half), False, False, False))
    if rest is not None:
        found = ops.concat([found, rest], found.ndim - 2 if m > n else found.ndim - 1)
    return [permute_rows(found, pivots, True)]


LU = Primitive("lu", _plain(lapack.lu), _lu_vjp)
PERMUTE_ROWS = Primitive(
    "permute_rows",
    _with_attributes(lapack.permute_rows),
    (lambda u, out, b, pivots: permute_rows(u, pivots, not out.attributes[0]), None),
)


def lu(a: Node) -> list[Node]:
    """L and U in one array (..., m, n), and pivots (..., min(m, n)): the row exchanged in each step, as int32."""
    pivots = array_type((*a.shape[:-2], min(a.shape[-2:])), int32)
    return _outputs(record(LU, (a,), None, (a.type, pivots)))


@register
def permute_rows(b: Node, pivots: Node, inverse: bool) -> Node:
    """The rows of each matrix exchanged as elimination did, or put back."""
    return record(PERMUTE_ROWS, (b, pivots), (inverse,), b.type)


# Determinants ---------------------------------------------------------------------------------------------------------


def _slogdet_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    turn, growth = u
    (a,) = out.inputs
    factor = None if growth is None else cast(growth, a.dtype)
    if turn is not None and a.dtype.kind == "c":
        angle = ops.imag(ops.multiply(conjugate(select(out, 0)), turn))
        factor = _either(factor, ops.multiply(cast(angle, a.dtype), 1j))
    return [None if factor is None else by_number(factor, adjoint(inv(a)))]


SLOGDET = Primitive("slogdet", _plain(kernels.slogdet), _slogdet_vjp)
DET = Primitive("det", _plain(np.linalg.det), (lambda u, out, a: by_number(u, conjugate(cofactors(a))),))


def _cofactors_rule(u: Node, out: Node, a: Node) -> Node:
    # C = det(A) A⁻ᵀ, by the derivatives of both factors
    inverse = adjoint(inv(a))
    weight = ops.sum(ops.multiply(u, conjugate(out)), (u.ndim - 2, u.ndim - 1))
    turned = chain(conjugate(out), ops.matrix_transpose(u), inverse)
    return ops.subtract(by_number(weight, inverse), turned)


COFACTORS = Primitive("cofactors", _plain(kernels.cofactors), (_cofactors_rule,))


def slogdet(a: Node) -> list[Node]:
    """Sign (of a's dtype) and logarithm of the absolute value (real) of the determinants, shape (...)."""
    lead = a.shape[:-2]
    return _outputs(record(SLOGDET, (a,), None, (array_type(lead, a.dtype), array_type(lead, real_of(a.dtype)))))


@register
def det(a: Node) -> Node:
    """The determinants, shape (...)."""
    return record(DET, (a,), None, array_type(a.shape[:-2], a.dtype))


@register
def cofactors(a: Node) -> Node:
    """The derivative of the determinant by each element."""
    return record(COFACTORS, (a,), None, a.type)


# QR -------------------------------------------------------------------------------------------------------------------


def _complement_gauge(first: Node, u: Node | None, rest: Node, u_rest: Node | None) -> Node | None:
    """The cotangent of orthonormal columns when others complete them: these turn with them, and no more than they must."""
    if u_rest is None:
        return u
    return _either(u, ops.negative(chain(rest, adjoint(u_rest), first)))


def _split_columns(u: Node | None, k: int) -> tuple[Node | None, Node | None]:
    if u is None:
        return None, None
    return first_columns(u, 0, k), first_columns(u, k, u.shape[-1] - k) if u.shape[-1] > k else None


def _qr_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    q, r = _outputs(out)
    n = r.shape[-1]
    q_bar, rest_bar = _split_columns(u[0], n)
    first = first_columns(q, 0, n)
    if rest_bar is not None:
        q_bar = _complement_gauge(first, q_bar, first_columns(q, n, q.shape[-1] - n), rest_bar)
    r, r_bar = first_rows(r, 0, n), None if u[1] is None else part(first_rows(u[1], 0, n), "upper")
    inner = None if r_bar is None else ops.matmul(r_bar, adjoint(r))
    if q_bar is not None:
        turned = ops.negative(ops.matmul(adjoint(first), q_bar))
        inner = _either(inner, turned)
    if inner is None:
        return [None]
    upper = part(inner, "upper")
    symmetric = ops.subtract(ops.add(upper, adjoint(upper)), cast(ops.real(part(upper, "one")), upper.dtype)
                             if upper.dtype.kind == "c" else part(upper, "one"))  # fmt: skip
    found = ops.matmul(first, symmetric)
    found = found if q_bar is None else ops.add(found, q_bar)
    return [adjoint(solve_triangular(r, adjoint(found), False, False, False))]


QR = Primitive("qr", _with_attributes(kernels.qr), _qr_vjp)


def qr(a: Node, complete: bool) -> list[Node]:
    """Q and R of (..., m, n) with m >= n: (..., m, k) and (..., k, n), where k is n, or m if complete."""
    *lead, m, n = a.shape
    k = m if complete else n
    types = array_type((*lead, m, k), a.dtype), array_type((*lead, k, n), a.dtype)
    return _outputs(record(QR, (a,), (complete,), types))


# Gaps between eigenvalues ---------------------------------------------------------------------------------------------


def _gaps_rule(u: Node, out: Node, w: Node) -> Node:
    (sums,) = out.attributes
    t = ops.scale(u, ops.multiply(out, out))
    columns, rows = ops.sum(t, (t.ndim - 2,)), ops.sum(t, (t.ndim - 1,))
    return ops.negative(ops.add(columns, rows)) if sums else ops.subtract(rows, columns)


INVERSE_GAPS = Primitive("inverse_gaps", _with_attributes(kernels.inverse_gaps), (_gaps_rule,))


@register
def inverse_gaps(w: Node, sums: bool = False) -> Node:
    """1 / (w_j - w_i), or with `sums` 1 / (w_j + w_i), as (..., n, n); 0 where that gap is rounding. Real w (..., n)."""
    return record(INVERSE_GAPS, (w,), (sums,), array_type((*w.shape, w.shape[-1]), w.dtype))


def _complex_gaps(w: Node) -> Node:
    """1 / (w_j - w_i) of complex eigenvalues, 0 where they coincide to rounding."""
    n = w.shape[-1]
    wide = (*w.shape, n)
    columns = ops.broadcast_to(ops.reshape(w, (*w.shape[:-1], 1, n)), wide)
    rows = ops.broadcast_to(ops.reshape(w, (*w.shape, 1)), wide)
    gaps = ops.subtract(columns, rows)
    size = ops.expand(ops.max(ops.abs(w), (w.ndim - 1,)), (w.ndim - 1, w.ndim), wide)
    bound = ops.multiply(size, 4.0 * n * float(np.finfo(w.dtype.dtype).eps))
    cut = ops.less_equal(ops.abs(gaps), bound)
    safe = ops.where(cut, ops.add(zeros(gaps.type), 1), gaps)
    return ops.where(cut, zeros(gaps.type), ops.divide(1, safe))


# Eigenvalues ----------------------------------------------------------------------------------------------------------


def _eigh_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    w, v = _outputs(out)
    inner = None if u[0] is None else diagonal_matrix(cast(u[0], v.dtype))
    if u[1] is not None:
        gaps = cast(inverse_gaps(w), v.dtype)
        inner = _either(inner, ops.scale(ops.matmul(adjoint(v), u[1]), gaps))
    return [None if inner is None else hermitian(chain(v, inner, adjoint(v)))]


def _eigvalsh_rule(u: Node, out: Node, a: Node) -> Node:
    _, v = eigh(a, *out.attributes)
    return hermitian(ops.matmul(columns_scaled(v, u), adjoint(v)))


def _real_if(x: Node, like: Node) -> Node:
    return x if like.dtype.kind == "c" else cast(x, like.dtype)


def _eig_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    w, v = _outputs(out)
    (a,) = out.inputs
    inner = None if u[0] is None else diagonal_matrix(u[0])
    if u[1] is not None:
        p = ops.matmul(adjoint(v), u[1])
        lengths = cast(ops.real(diagonal_of(p)), p.dtype)  # what would change the lengths, which stay one
        p = ops.subtract(p, columns_scaled(ops.matmul(adjoint(v), v), lengths))
        inner = _either(inner, ops.scale(p, conjugate(_complex_gaps(w))))
    if inner is None:
        return [None]
    return [_real_if(general_solve(adjoint(v), ops.matmul(inner, adjoint(v))), a)]


def _eigvals_rule(u: Node, out: Node, a: Node) -> Node:
    _, v = eig(a)
    vh = adjoint(v)
    return _real_if(general_solve(vh, ops.matmul(diagonal_matrix(u), vh)), a)


EIGH = Primitive("eigh", _with_attributes(kernels.eigh), _eigh_vjp)
EIGVALSH = Primitive("eigvalsh", _with_attributes(kernels.eigvalsh), (_eigvalsh_rule,))
EIG = Primitive("eig", _plain(kernels.eig), _eig_vjp)
EIGVALS = Primitive("eigvals", _plain(kernels.eigvals), (_eigvals_rule,))


def eigh(a: Node, upper: bool) -> list[Node]:
    """Eigenvalues (..., n), real and ascending, and eigenvectors (..., n, n) in columns, of Hermitian matrices."""
    return _outputs(record(EIGH, (a,), (upper,), (array_type(a.shape[:-1], real_of(a.dtype)), a.type)))


@register
def eigvalsh(a: Node, upper: bool) -> Node:
    """Eigenvalues (..., n), real and ascending, of Hermitian matrices."""
    return record(EIGVALSH, (a,), (upper,), array_type(a.shape[:-1], real_of(a.dtype)))


def eig(a: Node) -> list[Node]:
    """Complex eigenvalues (..., n) and eigenvectors (..., n, n) of length one in columns."""
    wide = complex_of(a.dtype)
    return _outputs(record(EIG, (a,), None, (array_type(a.shape[:-1], wide), array_type(a.shape, wide))))


@register
def eigvals(a: Node) -> Node:
    """Complex eigenvalues (..., n)."""
    return record(EIGVALS, (a,), None, array_type(a.shape[:-1], complex_of(a.dtype)))


# Singular values ------------------------------------------------------------------------------------------------------


def _half(u: Node, n: int) -> Node:
    """The first n columns of a factor that may have more."""
    return u if u.shape[-1] == n else first_columns(u, 0, n)


def _turns(p: Node | None, q: Node | None, s: Node) -> Node | None:
    """The cotangent of Uᴴ dA V from P = Uᴴ Ū and Q = Vᴴ V̄: only differences and sums of singular values divide.

    With K = Uᴴ dA V, the turns Uᴴ dU = (K + Kᴴ) F⁻ / 2 + (K - Kᴴ) F⁺ / 2 and Vᴴ dV = (K + Kᴴ) F⁻ / 2 - (K - Kᴴ) F⁺ / 2,
    element by element, where F⁻ and F⁺ are the inverse differences and sums.
    """
    if p is not None:
        both, difference = (p, p) if q is None else (ops.add(p, q), ops.subtract(p, q))
    elif q is not None:
        both, difference = q, ops.negative(q)
    else:
        return None
    x = ops.scale(both, cast(inverse_gaps(s), both.dtype))
    y = ops.scale(difference, cast(inverse_gaps(s, True), both.dtype))
    return ops.multiply(ops.add(ops.add(x, adjoint(x)), ops.subtract(y, adjoint(y))), 0.5)


def _inverse(s: Node) -> Node:
    """1 / s, and 0 where s is 0 to rounding: half the diagonal of the inverse sums."""
    return ops.multiply(diagonal_of(inverse_gaps(s, True)), 2.0)


def _outside(u: Node, x: Node) -> Node:
    """The part of x orthogonal to the columns of u."""
    return ops.subtract(x, chain(u, ops.matmul(adjoint(u), x)))


def _svd_vjp(bar: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    u, s, vh = _outputs(out)
    k = s.shape[-1]
    v = adjoint(vh)
    u_bar, u_rest = _split_columns(bar[0], k)
    v_bar, v_rest = _split_columns(None if bar[2] is None else adjoint(bar[2]), k)
    first, other = _half(u, k), _half(v, k)
    u_bar = (
        _complement_gauge(first, u_bar, first_columns(u, k, u.shape[-1] - k), u_rest) if u_rest is not None else u_bar
    )
    v_bar = (
        _complement_gauge(other, v_bar, first_columns(v, k, v.shape[-1] - k), v_rest) if v_rest is not None else v_bar
    )
    p = None if u_bar is None else ops.matmul(adjoint(first), u_bar)
    q = None if v_bar is None else ops.matmul(adjoint(other), v_bar)
    inner = _turns(p, q, s)
    if bar[1] is not None:
        inner = _either(inner, diagonal_matrix(cast(bar[1], u.dtype)))
    total = None if inner is None else chain(first, inner, adjoint(other))
    if u_bar is not None and first.shape[-2] > k:
        total = _either(total, ops.matmul(columns_scaled(_outside(first, u_bar), _inverse(s)), adjoint(other)))
    if v_bar is not None and other.shape[-2] > k:
        total = _either(total, ops.matmul(columns_scaled(first, _inverse(s)), adjoint(_outside(other, v_bar))))
    return [total]


def _svdvals_rule(u: Node, out: Node, a: Node) -> Node:
    left, _, right = svd(a, False)
    return ops.matmul(columns_scaled(left, u), right)


SVD = Primitive("svd", _with_attributes(kernels.svd), _svd_vjp)
SVDVALS = Primitive("svdvals", _plain(kernels.svdvals), (_svdvals_rule,))


def svd(a: Node, full: bool) -> list[Node]:
    """U (..., m, k), singular values (..., k) in descending order, Vᴴ (..., k, n); full: U (..., m, m), Vᴴ (..., n, n)."""
    *lead, m, n = a.shape
    k = min(m, n)
    types = (
        array_type((*lead, m, m if full else k), a.dtype),
        array_type((*lead, k), real_of(a.dtype)),
        array_type((*lead, n if full else k, n), a.dtype),
    )
    return _outputs(record(SVD, (a,), (full,), types))


@register
def svdvals(a: Node) -> Node:
    """Singular values (..., min(m, n)) in descending order."""
    return record(SVDVALS, (a,), None, array_type((*a.shape[:-2], min(a.shape[-2:])), real_of(a.dtype)))


# The sum of singular values, and its derivative the polar factor: neither divides by differences of singular values -----


def _polar_rule(g: Node, out: Node, a: Node) -> Node:
    u, s, vh = svd(a, False)
    v = adjoint(vh)
    m = chain(adjoint(u), g, v)
    inner = ops.scale(ops.subtract(m, adjoint(m)), cast(inverse_gaps(s, True), m.dtype))
    total = chain(u, inner, vh)
    inverse = _inverse(s)
    rows, columns = a.shape[-2:]
    if rows > s.shape[-1]:
        total = ops.add(total, ops.matmul(columns_scaled(_outside(u, ops.matmul(g, v)), inverse), vh))
    if columns > s.shape[-1]:
        outer = adjoint(_outside(v, ops.matmul(adjoint(g), u)))
        total = ops.add(total, ops.matmul(columns_scaled(u, inverse), outer))
    return total


POLAR = Primitive("polar", _plain(kernels.polar), (_polar_rule,))
NUCLEAR_NORM = Primitive(
    "nuclear_norm",
    lambda attributes, type: lambda a: np.asarray(np.sum(kernels.svdvals(a), axis=-1)),
    (lambda u, out, a: by_number(u, record(POLAR, (a,), None, a.type)),),
)


@register
def nuclear_norm(a: Node) -> Node:
    """The sum of the singular values, shape (...)."""
    return record(NUCLEAR_NORM, (a,), None, array_type(a.shape[:-2], real_of(a.dtype)))


# Pseudoinverse --------------------------------------------------------------------------------------------------------


def _pinv_rule(u: Node, out: Node, a: Node) -> Node:
    # for changes that keep the rank
    y, yh, uh = out, adjoint(out), adjoint(u)
    total = ops.negative(chain(yh, u, yh))
    left = ops.matmul(ops.subtract(uh, chain(a, ops.matmul(y, uh))), ops.matmul(y, yh))
    right = ops.matmul(ops.matmul(yh, y), ops.subtract(uh, chain(uh, ops.matmul(y, a))))
    return ops.add(total, ops.add(left, right))


PINV = Primitive("pinv", _with_attributes(kernels.pinv), (_pinv_rule,))


@register
def pinv(a: Node, rtol: Any) -> Node:
    """The pseudoinverse (..., n, m) of (..., m, n). rtol: a number, or nested tuples of them for a batch."""
    *lead, m, n = a.shape
    return record(PINV, (a,), (rtol,), array_type((*lead, n, m), a.dtype))


# Functions of matrices ------------------------------------------------------------------------------------------------


def _function_rule(u: Node, out: Node, a: Node) -> Node:
    return matrix_function_derivative(out.attributes, adjoint(a), u)


def _blocks(diagonal: Node, corner: Node) -> Node:
    """[[D, C], [0, D]]."""
    axis = diagonal.ndim - 1
    upper = ops.concat([diagonal, corner], axis)
    return ops.concat([upper, ops.concat([zeros(diagonal.type), diagonal], axis)], axis - 1)


def _derivative_rule(u: Node, out: Node, a: Node, e: Node) -> Node:
    # the derivative of f at [[A, E], [0, A]] holds that of f's derivative: its adjoint, from the corner to both diagonal blocks
    n = a.shape[-1]
    nothing = zeros(u.type)
    axis = u.ndim - 1
    cotangent = ops.concat([ops.concat([nothing, u], axis), ops.concat([nothing, nothing], axis)], axis - 1)
    found = matrix_function_derivative(out.attributes, adjoint(_blocks(a, e)), cotangent)
    first = first_columns(first_rows(found, 0, n), 0, n)
    return ops.add(first, first_columns(first_rows(found, n, n), n, n))


MATRIX_FUNCTION = Primitive(
    "matrix_function", lambda name, type: matrix_function_kernels.FUNCTIONS[name][0], (_function_rule,)
)
MATRIX_FUNCTION_DERIVATIVE = Primitive(
    "matrix_function_derivative",
    lambda name, type: matrix_function_kernels.FUNCTIONS[name][1],
    (_derivative_rule, lambda u, out, a, e: matrix_function_derivative(out.attributes, adjoint(a), u)),
)


@register
def matrix_function(name: str, a: Node) -> Node:
    """expm, logm or sqrtm of (..., n, n)."""
    return record(MATRIX_FUNCTION, (a,), name, a.type)


@register
def matrix_function_derivative(name: str, a: Node, e: Node) -> Node:
    """The derivative of a function of matrices at A in the direction E."""
    return record(MATRIX_FUNCTION_DERIVATIVE, (a, e), name, a.type)


# Which way a system is solved -----------------------------------------------------------------------------------------

SMALL = 16  # up to here a matrix is factored for each system: that costs less than keeping its factors


@register
def general_solve(a: Node, b: Node) -> Node:
    """X with A X = B; of larger matrices the factors are shared by all systems with A and Aᴴ."""
    if a.shape[-1] <= SMALL:
        return solve(a, b)
    packed, pivots = lu(a)
    return solve_factored(a, packed, pivots, b, False)


PRIMITIVES = [
    CHOLESKY, CHOLESKY_ADJOINT, SOLVE_TRIANGULAR, SOLVE, SOLVE_FACTORED, INV, LU, PERMUTE_ROWS, SLOGDET, DET, COFACTORS,
    QR, INVERSE_GAPS, EIGH, EIGVALSH, EIG, EIGVALS, SVD, SVDVALS, POLAR, NUCLEAR_NORM, PINV, MATRIX_FUNCTION,
    MATRIX_FUNCTION_DERIVATIVE,
]  # fmt: skip
