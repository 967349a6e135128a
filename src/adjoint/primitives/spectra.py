"""Linear algebra by eigenvalues and singular values, and functions of matrices, on the last two axes.

Rules are as in `factorizations`. Sources: M. Giles, "Collected matrix derivative results for forward and reverse mode AD" (2008);
Z. Wan & S. Zhang, "AD for complex valued SVD" (2019, arXiv:1909.02659); G. Golub & V. Pereyra, SIAM J. Numer. Anal. 10
(1973), 413-432 (pseudoinverse).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.dtypes import complex_of, real_of
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives import linalg_kernels as kernels
from adjoint.primitives import matrix_function_kernels
from adjoint.primitives.core import cast, conjugate, ops, register, zeros
from adjoint.primitives.matrix_parts import (
    adjoint,
    by_number,
    chain,
    columns_scaled,
    complement_gauge,
    diagonal_matrix,
    diagonal_of,
    either,
    first_columns,
    first_rows,
    hermitian,
    outputs,
    plain,
    split_columns,
    with_attributes,
)

# Gaps between eigenvalues ---------------------------------------------------------------------------------------------


def _gaps_rule(u: Node, out: Node, w: Node) -> Node:
    (sums,) = out.attributes
    t = ops.scale(u, conjugate(ops.multiply(out, out)))
    columns, rows = ops.sum(t, (t.ndim - 2,)), ops.sum(t, (t.ndim - 1,))
    return ops.negative(ops.add(columns, rows)) if sums else ops.subtract(rows, columns)


INVERSE_GAPS = Primitive("inverse_gaps", with_attributes(kernels.inverse_gaps), (_gaps_rule,))


@register
def inverse_gaps(w: Node, sums: bool = False) -> Node:
    """1 / (w_j - w_i), or with `sums` 1 / (w_j + w_i), as (..., n, n); 0 where that gap is rounding. Of w (..., n)."""
    return record(INVERSE_GAPS, (w,), (sums,), array_type((*w.shape, w.shape[-1]), w.dtype))


# Eigenvalues ----------------------------------------------------------------------------------------------------------


def _eigh_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    w, v = outputs(out)
    inner = None if u[0] is None else diagonal_matrix(cast(u[0], v.dtype))
    if u[1] is not None:
        gaps = cast(inverse_gaps(w), v.dtype)
        inner = either(inner, ops.scale(ops.matmul(adjoint(v), u[1]), gaps))
    return [None if inner is None else hermitian(chain(v, inner, adjoint(v)))]


def _eigvalsh_rule(u: Node, out: Node, a: Node) -> Node:
    _, v = eigh(a, *out.attributes)
    return hermitian(ops.matmul(columns_scaled(v, u), adjoint(v)))


def _real_if(x: Node, like: Node) -> Node:
    return x if like.dtype.kind == "c" else cast(x, like.dtype)


def _eig_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    w, v = outputs(out)
    (a,) = out.inputs
    v = ops.conditioned(v, "eig")
    inner = None if u[0] is None else diagonal_matrix(u[0])
    if u[1] is not None:
        p = ops.matmul(adjoint(v), u[1])
        lengths = cast(ops.real(diagonal_of(p)), p.dtype)  # what would change the lengths, which stay one
        p = ops.subtract(p, columns_scaled(ops.matmul(adjoint(v), v), lengths))
        inner = either(inner, ops.scale(p, conjugate(inverse_gaps(w))))
    if inner is None:
        return [None]
    return [_real_if(ops.general_solve(adjoint(v), ops.matmul(inner, adjoint(v))), a)]


def _eigvals_rule(u: Node, out: Node, a: Node) -> Node:
    _, v = eig(a)
    vh = adjoint(ops.conditioned(v, "eig"))
    return _real_if(ops.general_solve(vh, ops.matmul(diagonal_matrix(u), vh)), a)


EIGH = Primitive("eigh", with_attributes(kernels.eigh), _eigh_vjp)
EIGVALSH = Primitive("eigvalsh", with_attributes(kernels.eigvalsh), (_eigvalsh_rule,))
EIG = Primitive("eig", plain(kernels.eig), _eig_vjp)
EIGVALS = Primitive("eigvals", plain(kernels.eigvals), (_eigvals_rule,))


def eigh(a: Node, upper: bool) -> list[Node]:
    """Eigenvalues (..., n), real and ascending, and eigenvectors (..., n, n) in columns, of Hermitian matrices."""
    return outputs(record(EIGH, (a,), (upper,), (array_type(a.shape[:-1], real_of(a.dtype)), a.type)))


@register
def eigvalsh(a: Node, upper: bool) -> Node:
    """Eigenvalues (..., n), real and ascending, of Hermitian matrices."""
    return record(EIGVALSH, (a,), (upper,), array_type(a.shape[:-1], real_of(a.dtype)))


def eig(a: Node) -> list[Node]:
    """Complex eigenvalues (..., n) and eigenvectors (..., n, n) of length one in columns."""
    wide = complex_of(a.dtype)
    return outputs(record(EIG, (a,), None, (array_type(a.shape[:-1], wide), array_type(a.shape, wide))))


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
    y = ops.scale(difference, cast(inverse_gaps(s, sums=True), both.dtype))
    return ops.multiply(ops.add(ops.add(x, adjoint(x)), ops.subtract(y, adjoint(y))), 0.5)


def _inverse(s: Node) -> Node:
    """1 / s, and 0 where s is 0 to rounding: half the diagonal of the inverse sums."""
    return ops.multiply(diagonal_of(inverse_gaps(s, sums=True)), 2.0)


def _outside(u: Node, x: Node) -> Node:
    """The part of x orthogonal to the columns of u."""
    return ops.subtract(x, chain(u, ops.matmul(adjoint(u), x)))


def _svd_vjp(bar: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    u, s, vh = outputs(out)
    k = s.shape[-1]
    v = adjoint(vh)
    u_bar, u_rest = split_columns(bar[0], k)
    v_bar, v_rest = split_columns(None if bar[2] is None else adjoint(bar[2]), k)
    first, other = _half(u, k), _half(v, k)
    u_bar = (
        complement_gauge(first, u_bar, first_columns(u, k, u.shape[-1] - k), u_rest) if u_rest is not None else u_bar
    )
    v_bar = (
        complement_gauge(other, v_bar, first_columns(v, k, v.shape[-1] - k), v_rest) if v_rest is not None else v_bar
    )
    p = None if u_bar is None else ops.matmul(adjoint(first), u_bar)
    q = None if v_bar is None else ops.matmul(adjoint(other), v_bar)
    inner = _turns(p, q, s)
    if bar[1] is not None:
        inner = either(inner, diagonal_matrix(cast(bar[1], u.dtype)))
    total = None if inner is None else chain(first, inner, adjoint(other))
    if u_bar is not None and first.shape[-2] > k:
        total = either(total, ops.matmul(columns_scaled(_outside(first, u_bar), _inverse(s)), adjoint(other)))
    if v_bar is not None and other.shape[-2] > k:
        total = either(total, ops.matmul(columns_scaled(first, _inverse(s)), adjoint(_outside(other, v_bar))))
    return [total]


def _svdvals_rule(u: Node, out: Node, a: Node) -> Node:
    left, _, right = svd(a, full=False)
    return ops.matmul(columns_scaled(left, u), right)


SVD = Primitive("svd", with_attributes(kernels.svd), _svd_vjp)
SVDVALS = Primitive("svdvals", plain(kernels.svdvals), (_svdvals_rule,))


def svd(a: Node, full: bool) -> list[Node]:
    """U (..., m, k), singular values (..., k) in descending order, Vᴴ (..., k, n); full: U (..., m, m), Vᴴ (..., n, n)."""
    *lead, m, n = a.shape
    k = min(m, n)
    types = (
        array_type((*lead, m, m if full else k), a.dtype),
        array_type((*lead, k), real_of(a.dtype)),
        array_type((*lead, n if full else k, n), a.dtype),
    )
    return outputs(record(SVD, (a,), (full,), types))


@register
def svdvals(a: Node) -> Node:
    """Singular values (..., min(m, n)) in descending order."""
    return record(SVDVALS, (a,), None, array_type((*a.shape[:-2], min(a.shape[-2:])), real_of(a.dtype)))


# The sum of singular values, and its derivative the polar factor: neither divides by differences of singular values -----


def _polar_rule(g: Node, out: Node, a: Node) -> Node:
    u, s, vh = svd(a, full=False)
    v = adjoint(vh)
    m = chain(adjoint(u), g, v)
    inner = ops.scale(ops.subtract(m, adjoint(m)), cast(inverse_gaps(s, sums=True), m.dtype))
    total = chain(u, inner, vh)
    inverse = _inverse(s)
    rows, columns = a.shape[-2:]
    if rows > s.shape[-1]:
        total = ops.add(total, ops.matmul(columns_scaled(_outside(u, ops.matmul(g, v)), inverse), vh))
    if columns > s.shape[-1]:
        outer = adjoint(_outside(v, ops.matmul(adjoint(g), u)))
        total = ops.add(total, ops.matmul(columns_scaled(u, inverse), outer))
    return total


POLAR = Primitive("polar", plain(kernels.polar), (_polar_rule,))
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


PINV = Primitive("pinv", with_attributes(kernels.pinv), (_pinv_rule,))


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


PRIMITIVES = [
    INVERSE_GAPS, EIGH, EIGVALSH, EIG, EIGVALS, SVD, SVDVALS, POLAR, NUCLEAR_NORM, PINV, MATRIX_FUNCTION,
    MATRIX_FUNCTION_DERIVATIVE,
]  # fmt: skip
