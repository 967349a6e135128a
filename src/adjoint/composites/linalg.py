"""Linear algebra on nodes: arguments checked and broadcast, and what is composed of its primitives."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.composites import products, reductions, shaping
from adjoint.dtypes import int64, real_of
from adjoint.graph import Node, array_type
from adjoint.primitives import factorizations, matrix_parts, spectra
from adjoint.primitives.core import cast, conjugate, inexact, ops, same_type
from adjoint.shapes import Shape, broadcast_shapes, normalize_axis, size_of

# Arguments ------------------------------------------------------------------------------------------------------------


def matrices(name: str, x: Node, square: bool = False) -> Node:
    """A stack of matrices, floating or complex. Raises ValueError for fewer than two axes, or matrices that aren't square."""
    if x.ndim < 2:
        raise ValueError(f"{name}: expected matrices, (..., m, n), got shape {x.shape}")
    if square and x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{name}: expected square matrices, (..., n, n), got shape {x.shape}")
    return inexact(x)


def _with_lead(x: Node, lead: Shape) -> Node:
    return ops.broadcast_to(x, (*lead, *x.shape[-2:]))


def _side(name: str, a: Node, b: Node) -> tuple[Node, Node, bool]:
    """The two sides of systems A X = B in one dtype, B as matrices, and whether it was a vector."""
    a = matrices(name, a, square=True)
    b = inexact(b)
    a, b = same_type(name, [a, b])
    vector = b.ndim == 1
    if not b.ndim or b.shape[0 if vector else -2] != a.shape[-1]:
        raise ValueError(
            f"{name}: the right side of {a.shape[-1]} equations is ({a.shape[-1]},) or (..., {a.shape[-1]}, k), got shape "
            f"{b.shape}" + ("; did you mean b[..., None]?" if b.ndim > 1 and b.shape[-1] == a.shape[-1] else "")
        )
    return a, ops.reshape(b, (*b.shape, 1)) if vector else b, vector


def _solved(name: str, a: Node, b: Node, solver: Any) -> Node:
    """`solver(a, b)` on equal leading axes. One matrix with many right sides has them side by side as columns."""
    a, b, vector = _side(name, a, b)
    if a.ndim == 2 and b.ndim > 2:
        front = b.ndim - 2
        rows = ops.permute_dims(b, (front, *range(front), front + 1))
        x = solver(a, ops.reshape(rows, (rows.shape[0], size_of(rows.shape[1:]))))
        return ops.permute_dims(ops.reshape(x, rows.shape), (*range(1, front + 1), 0, front + 1))
    lead = broadcast_shapes(name, a.shape[:-2], b.shape[:-2])
    x = solver(_with_lead(a, lead), _with_lead(b, lead))
    return ops.reshape(x, x.shape[:-1]) if vector else x


# Systems --------------------------------------------------------------------------------------------------------------


def solve(a: Node, b: Node) -> Node:
    return _solved("solve", a, b, ops.general_solve)


TRANSPOSED = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def _trans(name: str, trans: Any) -> int:
    if isinstance(trans, bool) or trans not in TRANSPOSED:
        raise ValueError(
            f"{name}: trans is 0 or 'N' (A), 1 or 'T' (its transpose), 2 or 'C' (conjugate), got {trans!r}"
        )
    return TRANSPOSED[trans]


def solve_triangular(a: Node, b: Node, trans: Any, lower: bool, unit: bool) -> Node:
    kind = _trans("solve_triangular", trans)

    def solver(a: Node, b: Node) -> Node:
        given = conjugate(a) if kind == 1 else a
        return ops.solve_triangular(given, b, bool(lower), kind > 0, bool(unit))

    return _solved("solve_triangular", a, b, solver)


def cho_solve(c: Node, lower: bool, b: Node) -> Node:
    def solver(c: Node, b: Node) -> Node:
        first = ops.solve_triangular(c, b, bool(lower), not lower, unit=False)
        return ops.solve_triangular(c, first, bool(lower), bool(lower), unit=False)

    return _solved("cho_solve", c, b, solver)


def lu_solve(packed: Node, pivots: Node, b: Node, trans: Any) -> Node:
    kind = _trans("lu_solve", trans)
    matrices("lu_solve", packed, square=True)
    if pivots.shape != packed.shape[:-1] or pivots.dtype.kind not in "iu":
        raise ValueError(
            f"lu_solve: factors of shape {packed.shape} have integer pivots of shape {packed.shape[:-1]}, got "
            f"{pivots.dtype.name} of shape {pivots.shape}"
        )

    def solver(a: Node, b: Node) -> Node:
        exchanges = ops.broadcast_to(pivots, a.shape[:-1])
        if kind == 0:
            y = ops.solve_triangular(
                a, ops.permute_rows(b, exchanges, inverse=False), lower=True, is_adjoint=False, unit=True
            )
            return ops.solve_triangular(a, y, lower=False, is_adjoint=False, unit=False)
        given = conjugate(a) if kind == 1 else a
        y = ops.solve_triangular(given, b, lower=False, is_adjoint=True, unit=False)
        return ops.permute_rows(
            ops.solve_triangular(given, y, lower=True, is_adjoint=True, unit=True), exchanges, inverse=True
        )

    return _solved("lu_solve", packed, b, solver)


def inv(a: Node) -> Node:
    return ops.inv(matrices("inv", a, square=True))


def tensorinv(a: Node, ind: int) -> Node:
    if ind <= 0:
        raise ValueError(f"tensorinv: ind is positive, got {ind}")
    front, back = a.shape[:ind], a.shape[ind:]
    if size_of(front) != size_of(back):
        raise ValueError(f"tensorinv: the first {ind} axes of shape {a.shape} hold {size_of(front)} elements, the others "
                         f"{size_of(back)}; they must be as many")  # fmt: skip
    return ops.reshape(inv(ops.reshape(a, (size_of(front), size_of(back)))), back + front)


def tensorsolve(a: Node, b: Node, axes: Any) -> Node:
    if axes is not None:
        moved = [normalize_axis(i, a.ndim, "tensorsolve") for i in axes]
        a = ops.permute_dims(a, (*[i for i in range(a.ndim) if i not in moved], *moved))
    shape = a.shape[b.ndim :]
    if size_of(a.shape[: b.ndim]) != b.type.size or size_of(shape) != b.type.size:
        raise ValueError(
            f"tensorsolve: shape {a.shape} doesn't begin with as many elements as {b.shape} has, followed by as many"
        )
    n = b.type.size
    return ops.reshape(solve(ops.reshape(a, (n, n)), ops.reshape(b, (n,))), shape)


# Factors --------------------------------------------------------------------------------------------------------------


def cholesky(a: Node, upper: bool) -> Node:
    a = matrices("cholesky", a, square=True)
    return matrix_parts.adjoint(ops.cholesky(matrix_parts.adjoint(a))) if upper else ops.cholesky(a)


def lu_factor(a: Node) -> list[Node]:
    return factorizations.lu(matrices("lu_factor", a))


def lu(a: Node, permute_l: bool) -> list[Node]:
    packed, pivots = factorizations.lu(matrices("lu", a))
    m, n = packed.shape[-2:]
    k = min(m, n)
    left = matrix_parts.first_columns(packed, 0, k)
    one = ops.broadcast_to(matrix_parts.constant_matrix("one", m, k, packed.dtype), left.shape)
    lower = ops.add(matrix_parts.part(left, "strict"), one)
    upper = matrix_parts.part(matrix_parts.first_rows(packed, 0, k), "upper")
    if permute_l:
        return [ops.permute_rows(lower, pivots, inverse=True), upper]
    whole = ops.broadcast_to(matrix_parts.constant_matrix("one", m, m, packed.dtype), (*packed.shape[:-1], m))
    return [ops.permute_rows(whole, pivots, inverse=True), lower, upper]


def qr(a: Node, mode: str) -> list[Node]:
    a = matrices("qr", a)
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr: mode is 'reduced', 'complete' or 'r', got {mode!r}")
    m, n = a.shape[-2:]
    if m >= n:
        q, r = factorizations.qr(a, mode == "complete")
    else:  # the first columns decide Q; the others are multiplied by it
        q, first = factorizations.qr(matrix_parts.first_columns(a, 0, m), complete=False)
        rest = ops.matmul(matrix_parts.adjoint(q), matrix_parts.first_columns(a, m, n - m))
        r = ops.concat([first, rest], a.ndim - 1)
    return [q, matrix_parts.part(r, "upper")]


def svd(a: Node, full: bool) -> list[Node]:
    return spectra.svd(matrices("svd", a), bool(full))


def svdvals(a: Node) -> Node:
    return ops.svdvals(matrices("svdvals", a))


def _upper(name: str, triangle: Any) -> bool:
    if triangle not in ("L", "U", "l", "u"):
        raise ValueError(f"{name}: UPLO is 'L' or 'U', got {triangle!r}")
    return triangle in "Uu"


def eigh(a: Node, triangle: str) -> list[Node]:
    return spectra.eigh(matrices("eigh", a, square=True), _upper("eigh", triangle))


def eigvalsh(a: Node, triangle: str) -> Node:
    return ops.eigvalsh(matrices("eigvalsh", a, square=True), _upper("eigvalsh", triangle))


def eig(a: Node) -> list[Node]:
    return spectra.eig(matrices("eig", a, square=True))


def eigvals(a: Node) -> Node:
    return ops.eigvals(matrices("eigvals", a, square=True))


def householder_product(a: Node, tau: Node) -> Node:
    """Q's first n columns: H₁ H₂ … applied to those of the unit matrix, from the last."""
    a, tau = same_type("householder_product", [matrices("householder_product", a), inexact(tau)])
    *lead, m, n = a.shape
    k = tau.shape[-1] if tau.ndim else -1
    if tau.shape[:-1] != tuple(lead) or not 0 <= k <= n or m < n:
        raise ValueError(f"householder_product: expected (..., m, n) with m >= n and (..., k) with k <= n, got shapes "
                         f"{a.shape} and {tau.shape}")  # fmt: skip
    one = matrix_parts.constant_matrix("one", m, n, a.dtype)
    q = ops.broadcast_to(one, a.shape)
    vectors = ops.add(matrix_parts.part(a, "strict"), q)
    for i in reversed(range(k)):
        v = matrix_parts.first_columns(vectors, i, 1)
        scale = ops.slice_(tau, (*[(0, s, 1) for s in tau.shape[:-1]], (i, 1, 1)))
        turned = ops.matmul(v, ops.matmul(matrix_parts.adjoint(v), q))
        q = ops.subtract(q, matrix_parts.by_number(ops.reshape(scale, tuple(lead)), turned))
    return q


# Determinants, norms, ranks -------------------------------------------------------------------------------------------


def _element(a: Node, i: int, j: int) -> Node:
    cut = ops.slice_(a, (*[(0, n, 1) for n in a.shape[:-2]], (i, 1, 1), (j, 1, 1)))
    return ops.reshape(cut, a.shape[:-2])


def det(a: Node) -> Node:
    a = matrices("det", a, square=True)
    n = a.shape[-1]
    if n == 0:
        return ops.add(ops.zeros(array_type(a.shape[:-2], a.dtype)), 1)
    if n > 3:
        return ops.det(a)
    e = [[_element(a, i, j) for j in range(n)] for i in range(n)]

    def minor(j: int, k: int) -> Node:
        return ops.subtract(ops.multiply(e[n - 2][j], e[n - 1][k]), ops.multiply(e[n - 2][k], e[n - 1][j]))

    if n < 3:
        return e[0][0] if n == 1 else minor(0, 1)
    terms = [ops.multiply(e[0][i], minor(*[j for j in range(3) if j != i])) for i in range(3)]
    return ops.add(ops.subtract(terms[0], terms[1]), terms[2])


def slogdet(a: Node) -> list[Node]:
    return factorizations.slogdet(matrices("slogdet", a, square=True))


def matrix_norm(x: Node, order: Any, keepdims: bool) -> Node:
    x = matrices("matrix_norm", x)
    axes = (x.ndim - 2, x.ndim - 1)
    if order == "fro":
        return reductions.norm(x, 2, axes, keepdims)
    if order == "nuc":
        result = ops.nuclear_norm(x)
    elif order in (2, -2):
        result = _extreme(ops.svdvals(x), order > 0, x.ndim - 2)
    elif order in (1, -1, math.inf, -math.inf):
        summed = x.ndim - 2 if abs(order) == 1 else x.ndim - 1
        result = _extreme(ops.sum(ops.abs(x), (summed,)), order > 0, x.ndim - 2)
    else:
        raise ValueError(f"matrix_norm: ord is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, got {order!r}")
    return ops.reshape(result, (*x.shape[:-2], 1, 1)) if keepdims else result


def _extreme(x: Node, largest: bool, axis: int) -> Node:
    if largest and not x.shape[axis]:  # the norm of an empty matrix
        return ops.zeros(array_type((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype))
    return (ops.max if largest else ops.min)(x, (axis,))


def norm(x: Node, order: Any, axis: Any, keepdims: bool) -> Node:
    """NumPy's `linalg.norm`: of vectors or of matrices, by the number of axes."""
    if order is None:
        return reductions.norm(x, 2, axis, keepdims)
    axes = tuple(range(x.ndim)) if axis is None else tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    if len(axes) == 1 and not isinstance(order, str):
        return reductions.norm(x, order, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm: order {order!r} is for vectors or matrices; axis={axis} of shape {x.shape} is neither")
    first, second = (normalize_axis(a, x.ndim, "norm") for a in axes)
    if first == second:
        raise ValueError(f"norm: axis {axis} names an axis twice")
    moved = shaping.moveaxis(x, (first, second), (-2, -1))
    result = matrix_norm(moved, order, keepdims=False)
    return (
        ops.reshape(result, tuple(1 if i in (first, second) else n for i, n in enumerate(x.shape)))
        if keepdims
        else result
    )


def cond(x: Node, order: Any) -> Node:
    x = matrices("cond", x, square=order not in (None, 2, -2))
    if not x.shape[-1] or not x.shape[-2]:
        raise ValueError(f"cond: matrices of shape {x.shape} have no elements")
    if order in (None, 2, -2):
        s = ops.svdvals(x)
        large, small = _extreme(s, largest=True, axis=s.ndim - 1), _extreme(s, largest=False, axis=s.ndim - 1)
        return _infinite_if_singular(x, ops.divide(small, large) if order == -2 else ops.divide(large, small))
    return ops.multiply(matrix_norm(x, order, keepdims=False), matrix_norm(ops.inv(x), order, keepdims=False))


def _infinite_if_singular(x: Node, ratio: Node) -> Node:
    """0 / 0 and inf / inf are infinite, as NumPy has it, unless the matrix has a NaN itself."""
    unknown = ops.any(ops.isnan(x), (x.ndim - 2, x.ndim - 1))
    singular = ops.logical_and(ops.isnan(ratio), ops.logical_not(unknown))
    return ops.where(singular, ops.full(math.inf, ratio.type), ratio)


def default_rtol(x: Node) -> float:
    """The relative size up to which a singular value counts as zero: max(m, n) times the precision."""
    return max(x.shape[-2:]) * float(np.finfo(x.dtype.dtype).eps)


def _as_real(rtol: Any, s: Node) -> Any:
    """A relative bound as a number, or one for each matrix of a batch beside the values that it is relative to."""
    return float(rtol) if not np.ndim(rtol) else ops.data(np.asarray(rtol, s.dtype.dtype))


def matrix_rank(x: Node, rtol: Any, tol: Any = None) -> Node:
    x = matrices("matrix_rank", x)
    s = ops.conditioned(ops.svdvals(x), "matrix_rank")  # of NaN there is no rank, and no integer to say so
    if not s.shape[-1]:
        return ops.zeros(array_type(s.shape[:-1], int64))
    if tol is not None:
        bound: Node = ops.data(np.asarray(tol, s.dtype.dtype))
    else:
        bound = ops.multiply(
            _extreme(s, largest=True, axis=s.ndim - 1), default_rtol(x) if rtol is None else _as_real(rtol, s)
        )
    wide = ops.reshape(bound, (*bound.shape, 1))
    return ops.sum(ops.greater(s, wide), (s.ndim - 1,))


def pinv(a: Node, rtol: Any) -> Node:
    a = matrices("pinv", a)
    if not a.type.size:
        return ops.zeros(array_type((*a.shape[:-2], a.shape[-1], a.shape[-2]), a.dtype))
    return ops.pinv(a, default_rtol(a) if rtol is None else _nested(np.asarray(rtol, np.float64).tolist()))


def _nested(rows: Any) -> Any:
    """Nested lists as tuples, which can be part of a key."""
    return tuple([_nested(row) for row in rows]) if isinstance(rows, list) else rows


def lstsq(a: Node, b: Node, rtol: Any) -> list[Node]:
    """Solution of least norm, sums of squared residuals, rank, singular values."""
    a, b = same_type("lstsq", [matrices("lstsq", a), inexact(b)])
    vector = b.ndim == 1
    side = ops.reshape(b, (*b.shape, 1)) if vector else b
    m, n = a.shape[-2:]
    if side.ndim < 2 or side.shape[-2] != m:
        raise ValueError(f"lstsq: {m} equations have a right side of shape ({m},) or (..., {m}, k), got {b.shape}")
    x = products.matmul(pinv(a, rtol), side)
    rest = ops.abs(ops.subtract(side, products.matmul(a, x)))
    residuals = ops.sum(ops.multiply(rest, rest), (rest.ndim - 2,))
    if vector:
        x = ops.reshape(x, x.shape[:-1])
    if m <= n:  # solved exactly: NumPy gives an empty array
        residuals = ops.zeros(array_type((0,), real_of(a.dtype)))
    return [x, residuals, matrix_rank(a, rtol), ops.svdvals(a)]


# Products and arrangements --------------------------------------------------------------------------------------------


def matrix_power(x: Node, n: Any) -> Node:
    exponent = operator.index(n)
    # integers stay integers, as in NumPy: floats would lose digits of large ones
    whole = x if exponent >= 0 and not x.dtype.inexact else None
    x = matrices("matrix_power", x, square=True)
    if whole is not None:
        x = whole
    if exponent == 0:
        return matrix_parts.one_matrix(x)
    if exponent < 0:
        x, exponent = ops.inv(x), -exponent
    result: Node | None = None
    while exponent:
        if exponent & 1:
            result = x if result is None else ops.matmul(result, x)
        exponent >>= 1
        if exponent:
            x = ops.matmul(x, x)
    assert result is not None
    return result


def cross(a: Node, b: Node, axis: int) -> Node:
    shape = broadcast_shapes("cross", a.shape, b.shape)
    a, b = same_type("cross", [ops.broadcast_to(a, shape), ops.broadcast_to(b, shape)])
    axis = normalize_axis(axis, len(shape), "cross")
    if shape[axis] != 3:
        raise ValueError(f"cross: vectors have three components, got {shape[axis]} along axis {axis} of shape {shape}")
    left, right = (
        (shaping.roll(a, -1, axis), shaping.roll(b, -2, axis)),
        (shaping.roll(a, -2, axis), shaping.roll(b, -1, axis)),
    )
    return ops.subtract(ops.multiply(*left), ops.multiply(*right))


def kron(a: Node, b: Node) -> Node:
    rank = max(a.ndim, b.ndim)
    first = (1,) * (rank - a.ndim) + a.shape
    second = (1,) * (rank - b.ndim) + b.shape
    left = ops.reshape(a, tuple(m for n in first for m in (n, 1)))
    right = ops.reshape(b, tuple(m for n in second for m in (1, n)))
    return ops.reshape(ops.multiply(left, right), tuple(m * n for m, n in zip(first, second, strict=True)))


def diagonal(x: Node, offset: int) -> Node:
    if x.ndim < 2:
        raise ValueError(f"diagonal: expected matrices, (..., m, n), got shape {x.shape}")
    m, n = x.shape[-2:]
    size = max(min(m + min(offset, 0), n - max(offset, 0)), 0)
    start = offset if offset >= 0 else -offset * n
    if size == 0:
        return ops.zeros(array_type((*x.shape[:-2], 0), x.dtype))
    flat = ops.reshape(x, (*x.shape[:-2], m * n))
    return ops.slice_(flat, (*[(0, s, 1) for s in x.shape[:-2]], (start, size, n + 1)))


def trace(x: Node, offset: int) -> Node:
    d = diagonal(x, offset)
    return ops.sum(d, (d.ndim - 1,))


def multi_dot(arrays: Sequence[Node]) -> Node:
    """A chain of products in the order that multiplies least (dynamic programming)."""
    if len(arrays) < 2:
        raise ValueError("multi_dot: expected at least two arrays")
    nodes = same_type("multi_dot", list(arrays))
    if any(x.ndim != 2 for x in nodes[1:-1]) or any(x.ndim not in (1, 2) for x in (nodes[0], nodes[-1])):
        shapes = ", ".join(str(x.shape) for x in nodes)
        raise ValueError(f"multi_dot: expected matrices, the first and the last maybe vectors, got shapes {shapes}")
    starts_flat, ends_flat = nodes[0].ndim == 1, nodes[-1].ndim == 1
    if starts_flat:
        nodes[0] = ops.reshape(nodes[0], (1, *nodes[0].shape))
    if ends_flat:
        nodes[-1] = ops.reshape(nodes[-1], (*nodes[-1].shape, 1))
    sizes = [nodes[0].shape[0], *[x.shape[1] for x in nodes]]
    best: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(len(nodes))}
    for width in range(1, len(nodes)):
        for i in range(len(nodes) - width):
            j = i + width
            best[i, j] = min(
                (best[i, k][0] + best[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )

    def product(i: int, j: int) -> Node:
        if i == j:
            return nodes[i]
        k = best[i, j][1]
        return products.matmul(product(i, k), product(k + 1, j))

    result = product(0, len(nodes) - 1)
    rows, columns = result.shape
    return ops.reshape(result, (*(() if starts_flat else (rows,)), *(() if ends_flat else (columns,))))


def block_diag(arrays: Sequence[Node]) -> Node:
    blocks = [ops.reshape(x, (1,) * (2 - x.ndim) + x.shape) if x.ndim < 2 else x for x in arrays]
    if not blocks:
        raise ValueError("block_diag: expected at least one matrix")
    blocks = same_type("block_diag", blocks)
    lead = broadcast_shapes("block_diag", *(x.shape[:-2] for x in blocks))
    rows, columns = sum(x.shape[-2] for x in blocks), sum(x.shape[-1] for x in blocks)
    total: Node | None = None
    row = column = 0
    for x in blocks:
        m, n = x.shape[-2:]
        whole = tuple((0, k, 1) for k in lead)
        put = ops.embed(_with_lead(x, lead), (*lead, rows, columns), (*whole, (row, m, 1), (column, n, 1)))
        total = put if total is None else ops.add(total, put)
        row, column = row + m, column + n
    assert total is not None
    return total


def toeplitz(c: Node, r: Node | None) -> Node:
    """Element (i, j) is c[i - j], or r[j - i] above the diagonal."""
    if r is None:
        r = conjugate(c)
    c, r = same_type("toeplitz", [c, r])
    if not c.ndim or not r.ndim:
        raise ValueError(f"toeplitz: expected a column (..., m) and a row (..., n), got shapes {c.shape} and {r.shape}")
    lead = broadcast_shapes("toeplitz", c.shape[:-1], r.shape[:-1])
    m, n = c.shape[-1], r.shape[-1]
    if not m or not n:
        return ops.zeros(array_type((*lead, m, n), c.dtype))
    front = tuple((0, k, 1) for k in lead)
    c, r = ops.broadcast_to(c, (*lead, m)), ops.broadcast_to(r, (*lead, n))
    row = ops.slice_(r, (*front, (1, n - 1, 1)))
    values = ops.concat([ops.reverse(c, len(lead)), row], len(lead))  # c[m-1] … c[0], r[1] … r[n-1]
    windows = ops.windows(values, ((n,), (1,), (1,), (m + n - 1,)))  # (..., n, m): window k holds values[k : k + n]
    return ops.reverse(ops.matrix_transpose(windows), len(lead))


def matrix_function(name: str, a: Node) -> Node:
    return ops.matrix_function(name, matrices(name, a, square=True))


def traced(x: Node, dtype: Any, offset: int) -> Node:
    """The trace, summed in a dtype if one is given."""
    return trace(x if dtype is None else cast(x, dtype), offset)
