"""Kernels of linear algebra: NumPy's LAPACK over stacks of matrices, with errors that name the matrix.

A matrix that isn't finite gives NaN and no error, as elementwise functions do. What has no answer raises LinAlgError.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.errors import LinAlgError
from adjoint.primitives import lapack
from adjoint.primitives.lapack import conjugate_transpose

Array = np.ndarray[Any, Any]


def which(index: tuple[int, ...], lead: tuple[int, ...]) -> str:
    """The matrix of a batch, in a message."""
    if not lead:
        return "the matrix"
    place = index[0] if len(index) == 1 else index
    return f"matrix {place} of the batch of shape {lead}"


def attempt(name: str, problem: str, function: Callable[..., Any], a: Array, *others: Array) -> Any:
    """NumPy's function of stacks of matrices. Those of `a` that aren't finite give NaN (LAPACK may give anything); an error
    names the matrix that is to blame."""
    finite = np.isfinite(a)
    if not finite.all():
        sound = np.asarray(finite.all(axis=(-2, -1)))
        stand_in = np.where(sound[..., None, None], a, np.eye(*a.shape[-2:], dtype=a.dtype))
        results = attempt(name, problem, function, stand_in, *others)
        for result in results if isinstance(results, tuple) else (results,):
            result[~sound] = np.nan
        return results
    try:
        return function(a, *others)
    except np.linalg.LinAlgError:
        lead = a.shape[:-2]
        for index in np.ndindex(lead):
            try:
                function(a[index], *[x[index] for x in others])
            except np.linalg.LinAlgError:
                raise LinAlgError(f"{name}: {which(index, lead)} {problem}") from None
        raise


def require(name: str, problem: str, wrong: Array) -> None:
    """Raise for the first matrix of a batch where `wrong` holds."""
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise LinAlgError(f"{name}: {which(index, wrong.shape)} {problem}")


# Cholesky's reverse pass ----------------------------------------------------------------------------------------------

BLOCK = 64


def cholesky_adjoint(factor: Array, u: Array) -> Array:
    """The Hermitian cotangent of A = L Lᴴ from L and the cotangent of L, block by block from the end (Murray 2016, 4.2).

    A third of the work of the formula on whole matrices, nearly all of it in products.
    """
    n = factor.shape[-1]
    if n <= BLOCK:
        return _cholesky_adjoint(factor, u)
    g = np.tril(u)
    for end in range(n, 0, -BLOCK):
        start = max(0, end - BLOCK)
        rows, below, before = slice(start, end), slice(end, n), slice(0, start)
        diagonal, row = factor[..., rows, rows], factor[..., rows, before]
        if end < n:
            th = lapack.solve_triangular(
                diagonal, conjugate_transpose(g[..., below, rows]), lower=True, adjoint=True, unit=False
            )
            t = conjugate_transpose(th)
            g[..., below, before] -= t @ row
            g[..., rows, rows] -= th @ factor[..., below, rows]
            g[..., rows, before] -= th @ factor[..., below, before]
            g[..., below, rows] = 0.5 * t
        h = _cholesky_adjoint(diagonal, g[..., rows, rows])
        g[..., rows, before] -= 2 * h @ row
        g[..., rows, rows] = h
    below_diagonal = np.tril(g, -1)
    diagonal = np.einsum("...ii->...i", g)
    result = below_diagonal + conjugate_transpose(below_diagonal)
    np.einsum("...ii->...i", result)[...] = diagonal
    return result


def _cholesky_adjoint(factor: Array, u: Array) -> Array:
    """The Hermitian part of L⁻ᴴ Φ(Lᴴ u) L⁻¹, where Φ keeps the lower triangle and half the diagonal."""
    phi = np.tril(conjugate_transpose(factor) @ np.tril(u))
    np.einsum("...ii->...i", phi)[...] *= 0.5
    left = lapack.solve_triangular(factor, phi, lower=True, adjoint=True, unit=False)
    found = lapack.solve_triangular(factor, conjugate_transpose(left), lower=True, adjoint=True, unit=False)
    return np.asarray(0.5 * (found + conjugate_transpose(found)))


# Systems and factors --------------------------------------------------------------------------------------------------

SINGULAR = "is singular"


def cholesky(a: Array) -> Array:
    """L with A = L Lᴴ, from the lower triangle of A."""
    return np.asarray(attempt("cholesky", "is not positive definite", np.linalg.cholesky, a))


def solve(a: Array, b: Array) -> Array:
    """X with A X = B."""
    return np.asarray(attempt("solve", SINGULAR, np.linalg.solve, a, b))


def inv(a: Array) -> Array:
    """The inverse."""
    return np.asarray(attempt("inv", SINGULAR, np.linalg.inv, a))


def lu_solve(packed: Array, pivots: Array, b: Array, adjoint: bool) -> Array:
    """X with A X = B or Aᴴ X = B by A's LU factors. Raises LinAlgError where U has a zero on its diagonal."""
    require("solve", SINGULAR, (np.diagonal(packed, axis1=-2, axis2=-1) == 0).any(-1))
    return lapack.lu_solve(packed, pivots, b, adjoint)


def solve_triangular(a: Array, b: Array, lower: bool, adjoint: bool, unit: bool, out: Array | None = None) -> Array:
    """X with A X = B or Aᴴ X = B, of one triangle of A. Raises LinAlgError where its diagonal has a zero."""
    if not unit:
        require("solve_triangular", SINGULAR, (np.diagonal(a, axis1=-2, axis2=-1) == 0).any(-1))
    return lapack.solve_triangular(a, b, lower, adjoint, unit, out)


def slogdet(a: Array) -> tuple[Array, Array]:
    """Sign and logarithm of the absolute value of the determinant."""
    sign, size = np.linalg.slogdet(a)
    return np.asarray(sign, a.dtype), np.asarray(size, a.real.dtype)


def _without_one(s: Array) -> Array:
    """The products of all other numbers along the last axis, without dividing by one that may be zero."""
    ones = np.ones_like(s[..., :1])
    before = np.cumprod(np.concatenate([ones, s[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([ones, s[..., :0:-1]], -1), -1)[..., ::-1]
    return np.asarray(before * after)


def _turned(a: Array) -> tuple[Array, Array, Array, Array]:
    """The SVD of matrices whose determinants are differentiated, and the determinant of its unitary factors."""
    u, s, vh = attempt("det", "has no singular value decomposition", np.linalg.svd, a)
    return u, s, vh, (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def cofactors(a: Array) -> Array:
    """The derivative of the determinant by each element, det(A) A⁻ᵀ where A is invertible, by the SVD: it exists anyway."""
    if not a.size:
        return np.zeros_like(a)
    u, s, vh, turn = _turned(a)
    inner = np.conj(u) * _without_one(s)[..., None, :]
    return np.asarray(turn * (inner @ np.conj(vh)), a.dtype)


def cofactors_along(a: Array, e: Array) -> Array:
    """The derivative of the cofactors along e, for singular matrices too: those of S + t Uᴴ E V, which is nearly diagonal."""
    n = a.shape[-1]
    if a.size <= 1 or n == 1:
        return np.zeros_like(a)
    u, s, vh, turn = _turned(a)
    e = np.conj(np.swapaxes(u, -1, -2)) @ e @ np.conj(np.swapaxes(vh, -1, -2))
    others = np.zeros(e.shape, s.dtype)  # the products of all singular values but two
    for k in range(n):
        keep = [i for i in range(n) if i != k]
        others[..., keep, k] = _without_one(s[..., keep])
    inner = -np.swapaxes(e, -1, -2) * others
    diagonal = np.einsum("...kk,...ik->...i", e, others)
    inner[..., range(n), range(n)] = diagonal
    return np.asarray(turn * (np.conj(u) @ inner @ np.conj(vh)), a.dtype)


def conditioned(a: Array, name: str) -> Array:
    """The matrices themselves, where none is singular to rounding; for a rank singular values, where all are known."""
    if name == "matrix_rank":
        require(name, UNDETERMINED[name], np.asarray(np.isnan(a).any(-1)))
    elif a.size and np.isfinite(a).all():
        s = svdvals(a)
        require(name, UNDETERMINED[name], s[..., -1] <= 4 * a.shape[-1] * np.finfo(s.dtype).eps * s[..., 0])
    return a


UNDETERMINED = {
    "det": "is singular, where its third derivative has no formula here",
    "matrix_rank": "holds infinities or NaN, so it has no rank",
    "eig": "can't be diagonalized, so its eigenvalues and eigenvectors have no derivative",
}


def qr(a: Array, complete: bool) -> tuple[Array, Array]:
    """Q with orthonormal columns and R upper triangular."""
    q, r = np.linalg.qr(a, "complete" if complete else "reduced")
    return q, r


def pinv(a: Array, rtol: Any) -> Array:
    """The pseudoinverse; singular values up to rtol times the largest count as zero."""
    function = lambda x: np.linalg.pinv(x, np.asarray(rtol))  # noqa: E731 - NumPy's with one argument
    return np.asarray(attempt("pinv", "has no singular value decomposition", function, a))


# Eigenvalues and singular values --------------------------------------------------------------------------------------

UNSETTLED = "has eigenvalues that did not converge"


def eigh(a: Array, upper: bool) -> tuple[Array, Array]:
    """Eigenvalues in ascending order and eigenvectors of Hermitian matrices, from one triangle."""
    function = lambda x: lapack.eigh(x, upper) or tuple(np.linalg.eigh(x, "U" if upper else "L"))  # noqa: E731 - of one array
    w, v = attempt("eigh", UNSETTLED, function, a)
    return w, v


def eigvalsh(a: Array, upper: bool) -> Array:
    """Eigenvalues of Hermitian matrices."""
    return np.asarray(attempt("eigvalsh", UNSETTLED, lambda x: np.linalg.eigvalsh(x, "U" if upper else "L"), a))


def eig(a: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of length one, complex always."""
    w, v = attempt("eig", UNSETTLED, lambda x: tuple(np.linalg.eig(x)), a)
    wide = complex_of(a)
    return w.astype(wide, copy=False), v.astype(wide, copy=False)


def eigvals(a: Array) -> Array:
    """Eigenvalues, complex always."""
    return np.asarray(attempt("eigvals", UNSETTLED, np.linalg.eigvals, a)).astype(complex_of(a), copy=False)


def complex_of(a: Array) -> Any:
    """The complex dtype of an array's precision."""
    return np.result_type(a.dtype, np.complex64)


def svd(a: Array, full: bool) -> tuple[Array, Array, Array]:
    """U, singular values in descending order, Vᴴ."""
    function = lambda x: lapack.svd(x, full) or tuple(np.linalg.svd(x, full_matrices=full))  # noqa: E731 - of one array
    u, s, vh = attempt("svd", "has singular values that did not converge", function, a)
    return u, s, vh


def svdvals(a: Array) -> Array:
    """Singular values in descending order."""
    function = lambda x: np.linalg.svd(x, compute_uv=False)  # noqa: E731 - NumPy's with one argument
    return np.asarray(attempt("svdvals", "has singular values that did not converge", function, a))


def inverse_gaps(w: Array, sums: bool) -> Array:
    """1 / (w_j - w_i), or 1 / (w_j + w_i), and 0 where that gap is no more than rounding of the largest |w|.

    A gap cut between two values warns: eigenvectors have no derivative there, only what doesn't depend on their choice.
    """
    n = w.shape[-1]
    gaps = w[..., None, :] + (w if sums else -w)[..., :, None]
    size = np.max(np.abs(w), axis=-1, initial=0)[..., None, None]
    cut = np.abs(gaps) <= 4 * n * np.finfo(size.dtype).eps * size
    if not sums and n > 1 and np.count_nonzero(cut) > cut[..., 0].size:
        warnings.warn(
            "the derivative of eigenvectors or singular vectors was asked for where values coincide: inside such a "
            "group it is taken as 0, which is right only for what doesn't depend on the choice of vectors in the group "
            "and doesn't weigh them by their values; expm, logm, sqrtm, pinv and norms have rules without this limit",
            RuntimeWarning,
            stacklevel=2,
        )
    return np.asarray(np.divide(1, gaps, out=np.zeros_like(gaps), where=~cut))


def polar(a: Array) -> Array:
    """The unitary factor U Vᴴ of the SVD, without the directions whose singular value is zero."""
    u, s, vh = svd(a, full=False)
    size = np.max(s, axis=-1, initial=0, keepdims=True)
    kept = s > max(a.shape[-2:]) * np.finfo(s.dtype).eps * size
    return np.asarray((u * kept[..., None, :]) @ vh)
