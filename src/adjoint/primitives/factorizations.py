"""Linear algebra by factors: Cholesky, LU and QR, systems, inverses and determinants, on the last two axes.

Every rule is linear in the cotangent, so forward mode is its transpose, and made of the primitives of linear algebra, so every
order follows. Sources: M. Giles, "Collected matrix derivative results for forward and reverse mode AD" (2008); I. Murray,
"Differentiation of the Cholesky decomposition" (2016, arXiv:1602.07527); S. Walter & L. Lehmann, "Algorithmic
differentiation of linear algebra functions" (2010, arXiv:1001.1654).

Of Hermitian matrices one triangle is read, as LAPACK does; their derivatives are those in Hermitian directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.dtypes import int32, real_of
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives import lapack
from adjoint.primitives import linalg_kernels as kernels
from adjoint.primitives.core import cast, conjugate, ops, register, select
from adjoint.primitives.matrix_parts import (
    adjoint,
    by_number,
    chain,
    complement_gauge,
    diagonal_of,
    either,
    first_columns,
    first_rows,
    hermitian,
    one_matrix,
    outputs,
    part,
    plain,
    split_columns,
    with_attributes,
)
from adjoint.shapes import size_of

# Cholesky -------------------------------------------------------------------------------------------------------------


def _phi(x: Node) -> Node:
    """The lower triangle with half the diagonal: Murray's Φ."""
    return part(x, "half")


def _between(factor: Node, x: Node) -> Node:
    """The lower triangle of L⁻¹ X L⁻ᴴ with half its diagonal, for Hermitian X."""
    left = solve_triangular(factor, x, lower=True, is_adjoint=False, unit=False)
    return _phi(solve_triangular(factor, adjoint(left), lower=True, is_adjoint=False, unit=False))


def _adjoint_rule_factor(v: Node, out: Node, factor: Node, u: Node) -> Node:
    # of G = herm(L⁻ᴴ Φ(Lᴴ u) L⁻¹): through Φ, and through both inverses
    x = hermitian(v)
    inner = ops.matmul(part(u, "lower"), adjoint(_between(factor, x)))
    outer = ops.matmul(out, adjoint(solve_triangular(factor, x, lower=True, is_adjoint=False, unit=False)))
    return part(ops.subtract(inner, ops.multiply(outer, 2.0)), "lower")


CHOLESKY = Primitive("cholesky", plain(kernels.cholesky), (lambda u, out, a: cholesky_adjoint(out, u),))
CHOLESKY_ADJOINT = Primitive(
    "cholesky_adjoint",
    plain(kernels.cholesky_adjoint),
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
    plain(kernels.solve),
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


INV = Primitive("inv", plain(kernels.inv), (lambda u, out, a: ops.negative(chain(adjoint(out), u, adjoint(out))),))


@register
def inv(a: Node) -> Node:
    """The inverse of (..., n, n)."""
    return record(INV, (a,), None, a.type)


# LU -------------------------------------------------------------------------------------------------------------------


def _lu_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    g = u[0]
    if g is None:
        return [None]
    packed, pivots = outputs(out)
    m, n = packed.shape[-2:]
    k = min(m, n)
    square = first_columns(first_rows(packed, 0, k), 0, k)
    core = first_columns(first_rows(g, 0, k), 0, k)
    rest: Node | None = None
    if m > n:  # the rows below are A₂ U⁻¹
        below = first_rows(packed, k, m - k)
        rest = adjoint(
            solve_triangular(square, adjoint(first_rows(g, k, m - k)), lower=False, is_adjoint=False, unit=False)
        )
        core = ops.subtract(core, part(ops.matmul(adjoint(below), rest), "upper"))
    elif m < n:  # the columns to the right are L⁻¹ A₂
        right = first_columns(packed, k, n - k)
        rest = solve_triangular(square, first_columns(g, k, n - k), lower=True, is_adjoint=True, unit=True)
        core = ops.subtract(core, part(ops.matmul(rest, adjoint(right)), "strict"))
    lower = ops.add(part(square, "strict"), one_matrix(square))
    upper = part(square, "upper")
    inner = ops.add(
        part(ops.matmul(adjoint(lower), part(core, "strict")), "strict"),
        part(ops.matmul(part(core, "upper"), adjoint(upper)), "upper"),
    )
    half = solve_triangular(square, inner, lower=True, is_adjoint=True, unit=True)
    found = adjoint(solve_triangular(square, adjoint(half), lower=False, is_adjoint=False, unit=False))
    if rest is not None:
        found = ops.concat([found, rest], found.ndim - 2 if m > n else found.ndim - 1)
    return [permute_rows(found, pivots, inverse=True)]


LU = Primitive("lu", plain(lapack.lu), _lu_vjp)
PERMUTE_ROWS = Primitive(
    "permute_rows",
    with_attributes(lapack.permute_rows),
    (lambda u, out, b, pivots: permute_rows(u, pivots, not out.attributes[0]), None),
)


def lu(a: Node) -> list[Node]:
    """L and U in one array (..., m, n), and pivots (..., min(m, n)): the row exchanged in each step, as int32."""
    pivots = array_type((*a.shape[:-2], min(a.shape[-2:])), int32)
    return outputs(record(LU, (a,), None, (a.type, pivots)))


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
        factor = either(factor, ops.multiply(cast(angle, a.dtype), 1j))
    return [None if factor is None else by_number(factor, adjoint(inv(a)))]


SLOGDET = Primitive("slogdet", plain(kernels.slogdet), _slogdet_vjp)
DET = Primitive("det", plain(np.linalg.det), (lambda u, out, a: by_number(u, conjugate(cofactors(a))),))


def _cofactors_rule(u: Node, out: Node, a: Node) -> Node:
    return conjugate(cofactors_along(a, conjugate(u)))


def _along_rule(u: Node, out: Node, a: Node, e: Node) -> Node:
    """By a: the third derivative of the determinant, along e and u, of an invertible matrix, by those of det(A) and A⁻ᵀ."""
    u = conjugate(u)
    inverse = inv(conditioned(a, "det"))
    moved, c = cofactors_along(a, u), cofactors(a)
    turned = ops.matrix_transpose(ops.matmul(inverse, e))
    back = ops.matrix_transpose(ops.matmul(inverse, u))
    one = ops.subtract(by_number(_trace(turned), moved), ops.matmul(moved, turned))
    two = ops.subtract(by_number(_trace(ops.matmul(turned, back)), c), chain(c, turned, back))
    return conjugate(ops.subtract(one, two))


def _trace(x: Node) -> Node:
    return ops.sum(diagonal_of(x), (x.ndim - 2,))


COFACTORS = Primitive("cofactors", plain(kernels.cofactors), (_cofactors_rule,))
COFACTORS_ALONG = Primitive(
    "cofactors_along",
    plain(kernels.cofactors_along),
    (_along_rule, lambda u, out, a, e: conjugate(cofactors_along(a, conjugate(u)))),
)
CONDITIONED = Primitive("conditioned", with_attributes(kernels.conditioned), (lambda u, out, a: u,))


def slogdet(a: Node) -> list[Node]:
    """Sign (of a's dtype) and logarithm of the absolute value (real) of the determinants, shape (...)."""
    lead = a.shape[:-2]
    return outputs(record(SLOGDET, (a,), None, (array_type(lead, a.dtype), array_type(lead, real_of(a.dtype)))))


@register
def det(a: Node) -> Node:
    """The determinants, shape (...)."""
    return record(DET, (a,), None, array_type(a.shape[:-2], a.dtype))


@register
def cofactors(a: Node) -> Node:
    """The derivative of the determinant by each element."""
    return record(COFACTORS, (a,), None, a.type)


def cofactors_along(a: Node, e: Node) -> Node:
    """The derivative of the cofactors of a along e, which is symmetric in e and what it is multiplied by."""
    return record(COFACTORS_ALONG, (a, e), None, a.type)


@register
def conditioned(a: Node, name: str) -> Node:
    """The matrices themselves; an error of `name` where one is singular to rounding."""
    return record(CONDITIONED, (a,), (name,), a.type)


# QR -------------------------------------------------------------------------------------------------------------------


def _qr_vjp(u: Any, out: Node, wanted: Sequence[bool]) -> list[Node | None]:
    q, r = outputs(out)
    n = r.shape[-1]
    q_bar, rest_bar = split_columns(u[0], n)
    first = first_columns(q, 0, n)
    if rest_bar is not None:
        q_bar = complement_gauge(first, q_bar, first_columns(q, n, q.shape[-1] - n), rest_bar)
    r, r_bar = first_rows(r, 0, n), None if u[1] is None else part(first_rows(u[1], 0, n), "upper")
    inner = None if r_bar is None else ops.matmul(r_bar, adjoint(r))
    if q_bar is not None:
        turned = ops.negative(ops.matmul(adjoint(first), q_bar))
        inner = either(inner, turned)
    if inner is None:
        return [None]
    upper = part(inner, "upper")
    symmetric = ops.subtract(ops.add(upper, adjoint(upper)), cast(ops.real(part(upper, "one")), upper.dtype)
                             if upper.dtype.kind == "c" else part(upper, "one"))  # fmt: skip
    found = ops.matmul(first, symmetric)
    found = found if q_bar is None else ops.add(found, q_bar)
    return [adjoint(solve_triangular(r, adjoint(found), lower=False, is_adjoint=False, unit=False))]


QR = Primitive("qr", with_attributes(kernels.qr), _qr_vjp)


def qr(a: Node, complete: bool) -> list[Node]:
    """Q and R of (..., m, n) with m >= n: (..., m, k) and (..., k, n), where k is n, or m if complete."""
    *lead, m, n = a.shape
    k = m if complete else n
    types = array_type((*lead, m, k), a.dtype), array_type((*lead, k, n), a.dtype)
    return outputs(record(QR, (a,), (complete,), types))


# Which way a system is solved -----------------------------------------------------------------------------------------

SMALL = 16  # up to here a matrix is factored for each system: that costs less than keeping its factors
SMALL_STACKED, STACK = (
    32,
    8,
)  # and up to here those of a stack of so many real matrices, of which native code takes one in each lane


@register
def general_solve(a: Node, b: Node) -> Node:
    """X with A X = B; of larger matrices the factors are shared by all systems with A and Aᴴ."""
    stacked = a.dtype.kind == "f" and size_of(a.shape[:-2]) >= STACK
    if a.shape[-1] <= (SMALL_STACKED if stacked else SMALL):
        return solve(a, b)
    packed, pivots = lu(a)
    return solve_factored(a, packed, pivots, b, is_adjoint=False)


PRIMITIVES = [
    CHOLESKY, CHOLESKY_ADJOINT, SOLVE_TRIANGULAR, SOLVE, SOLVE_FACTORED, INV, LU, PERMUTE_ROWS, SLOGDET, DET, COFACTORS,
    COFACTORS_ALONG, CONDITIONED, QR,
]  # fmt: skip
