"""Factors L D Lᵀ of symmetric and Hermitian matrices that need not be definite, laid out as LAPACK's sytrf and hetrf give them.

The pivoting is that of J. R. Bunch and L. Kaufman, "Some stable methods for calculating inertia and solving symmetric linear
systems" (Mathematics of Computation, 1977): blocks of D are numbers, or 2 x 2 where no number is large enough to divide by.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["factorized", "solved"]

ALPHA = (1 + math.sqrt(17)) / 8  # of the growth that one and two steps allow, the smallest bound


def factorized(matrices: Any, hermitian: bool) -> tuple[Any, Any, Any]:
    """L below the diagonal of D in one matrix each, the rows exchanged, and 0 or the number of the first zero on the diagonal.

    `matrices` (..., n, n) are read below and on their diagonals. Rows count from 1; those of a 2 x 2 block are negative.
    """
    lead, n = matrices.shape[:-2], matrices.shape[-1]
    factors = np.tril(matrices).reshape(math.prod(lead), n, n)
    pivots = np.zeros((len(factors), n), np.int32)
    info = np.zeros(len(factors), np.int32)
    for i, A in enumerate(factors):
        info[i] = _factorize(A, pivots[i], hermitian)
    return np.tril(factors).reshape(matrices.shape), pivots.reshape(*lead, n), info.reshape(lead)


def _factorize(A: Any, pivots: Any, hermitian: bool) -> int:
    """Replace the lower triangle of A by its factors."""
    n, k, info = len(A), 0, 0
    while k < n:
        step, p = _pivot(A, k, hermitian)
        if not step:  # the column is zero, or NaN is in its way
            info, step = info or k + 1, 1
            pivots[k] = k + 1
        else:
            last = k + step - 1
            if p != last:
                _exchange(A, k, last, p, hermitian)
            if hermitian:
                A[range(k, last + 1), range(k, last + 1)] = A[range(k, last + 1), range(k, last + 1)].real
            below = A[last + 1 :, k : last + 1].copy()
            L = np.linalg.solve(_block(A, k, step, hermitian).T, below.T).T
            A[last + 1 :, last + 1 :] -= L @ _turned(below, hermitian)
            A[last + 1 :, k : last + 1] = L
            pivots[k : last + 1] = p + 1 if step == 1 else -(p + 1)
        k += step
    return info


def _pivot(A: Any, k: int, hermitian: bool) -> tuple[int, int]:
    """How many columns the next block of D has (0 where there is none), and which row goes to its end."""
    own = abs(A[k, k].real) if hermitian else _size(A[k, k])
    below = _size(A[k + 1 :, k])
    largest = below.max() if below.size else 0.0
    if max(own, largest) == 0 or np.isnan(own):
        return 0, k
    if own >= ALPHA * largest:
        return 1, k
    row = k + 1 + int(below.argmax())
    beside = np.concatenate([_size(A[row, k:row]), _size(A[row + 1 :, row])]).max()
    if own >= ALPHA * largest * (largest / beside):
        return 1, k
    other = abs(A[row, row].real) if hermitian else _size(A[row, row])
    return (1 if other >= ALPHA * beside else 2), row


def _size(x: Any) -> Any:
    """|re| + |im|, by which LAPACK compares complex numbers."""
    return np.abs(x.real) + np.abs(x.imag) if np.iscomplexobj(x) else np.abs(x)


def _exchange(A: Any, k: int, last: int, p: int, hermitian: bool) -> None:
    """Rows and columns `last` and p of the part of A that isn't factorized yet, of which the lower triangle is stored."""
    A[p + 1 :, [last, p]] = A[p + 1 :, [p, last]]
    between = A[last + 1 : p, last].copy()
    A[last + 1 : p, last] = A[p, last + 1 : p].conj() if hermitian else A[p, last + 1 : p]
    A[p, last + 1 : p] = between.conj() if hermitian else between
    if hermitian:
        A[p, last] = A[p, last].conj()
    A[[last, p], [last, p]] = A[[p, last], [p, last]]
    if last > k:
        A[[last, p], k] = A[[p, last], k]


def _block(A: Any, k: int, step: int, hermitian: bool) -> Any:
    """A block of D, whole."""
    low = np.tril(A[k : k + step, k : k + step])
    return low + _turned(np.tril(low, -1), hermitian)


def _turned(x: Any, hermitian: bool) -> Any:
    return x.conj().T if hermitian else x.T


def solved(factors: Any, pivots: Any, B: Any, hermitian: bool) -> Any:
    """X with A X = B, of A's factors: shapes (..., n, n), (..., n) and (..., n, m), whose leading axes broadcast."""
    n, m = B.shape[-2:]
    lead = np.broadcast_shapes(factors.shape[:-2], B.shape[:-2])
    X = np.broadcast_to(B, (*lead, n, m)).reshape(math.prod(lead), n, m).copy()
    all_factors = np.broadcast_to(factors, (*lead, n, n)).reshape(len(X), n, n)
    all_pivots = np.broadcast_to(pivots, (*lead, n)).reshape(len(X), n)
    for A, rows, x in zip(all_factors, all_pivots, X, strict=True):
        _solve(A, rows, x, hermitian)
    return X.reshape(*lead, n, m)


def _solve(A: Any, rows: Any, x: Any, hermitian: bool) -> None:
    """Replace x by the solution: through L and D block by block, then back through L's transpose."""
    n, k = len(A), 0
    blocks = []
    while k < n:
        step = 1 if rows[k] > 0 else 2
        last, p = k + step - 1, abs(int(rows[k])) - 1
        blocks.append((k, last, p))
        x[[last, p]] = x[[p, last]]
        x[last + 1 :] -= A[last + 1 :, k : last + 1] @ x[k : last + 1]
        x[k : last + 1] = np.linalg.solve(_block(A, k, step, hermitian), x[k : last + 1])
        k += step
    for k, last, p in reversed(blocks):
        x[k : last + 1] -= _turned(A[last + 1 :, k : last + 1], hermitian) @ x[last + 1 :]
        x[[last, p]] = x[[p, last]]
