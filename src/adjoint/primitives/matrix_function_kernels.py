"""Functions of matrices, and their derivatives in a direction: exponential, logarithm, square root.

expm: scaling and squaring with Padé approximants, Al-Mohy & Higham, SIAM J. Matrix Anal. Appl. 30 (2009), 1639-1657, which
gives the derivative too. logm, sqrtm: N. J. Higham, "Functions of Matrices" (SIAM 2008), chapters 11 and 6, on the Schur
form: inverse scaling and squaring with a Padé approximant in partial fractions, and the Björck-Hammarling recurrence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.errors import LinAlgError
from adjoint.primitives import lapack
from adjoint.primitives.lapack import conjugate_transpose
from adjoint.primitives.linalg_kernels import which

Array = np.ndarray[Any, Any]

# The coefficients of the [m/m] Padé approximants to exp, and the 1-norms up to which each is exact to double precision
PADE: dict[int, tuple[float, ...]] = {
    3: (120, 60, 12, 1),
    5: (30240, 15120, 3360, 420, 30, 1),
    7: (17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1),
    9: (17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1),
    13: (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
         670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1),
}  # fmt: skip
REACH = {3: 1.495585217958292e-2, 5: 2.539398330063230e-1, 7: 9.504178996162932e-1, 9: 2.097847961257068, 13: 4.25}


def one_norm(a: Array) -> Array:
    """The largest absolute column sum of each matrix."""
    return np.asarray(np.max(np.sum(np.abs(a), axis=-2), axis=-1, initial=0))


# The exponential ------------------------------------------------------------------------------------------------------


def expm(a: Array) -> Array:
    """The exponential of each matrix."""
    return _exponential(a, None)[0]


def expm_derivative(a: Array, e: Array) -> Array:
    """The derivative of the exponential at each matrix in a direction."""
    result = _exponential(a, e)[1]
    return np.zeros_like(a) if result is None else result


def _exponential(a: Array, e: Array | None) -> tuple[Array, Array | None]:
    if not a.size:
        return np.zeros_like(a), None
    size = one_norm(a)
    finite = np.isfinite(size)
    largest = float(np.max(size, initial=0, where=finite))
    order = next((m for m in PADE if largest <= REACH[m]), 13)
    squarings = np.zeros(size.shape, int)
    if largest > REACH[13]:
        with np.errstate(divide="ignore"):
            needed = np.ceil(np.log2(size / REACH[13]))
        squarings = np.where(finite, np.maximum(needed, 0), 0).astype(int)
    factor = np.ldexp(np.ones(size.shape, a.real.dtype), -squarings)[..., None, None]
    a = a * factor
    r, d = _pade(a, None if e is None else e * factor, order)
    for k in range(int(squarings.max(initial=0))):
        again = (squarings > k)[..., None, None]
        if d is not None:
            d = np.where(again, r @ d + d @ r, d)
        r = np.where(again, r @ r, r)
    return r, d


def _pade(a: Array, e: Array | None, m: int) -> tuple[Array, Array | None]:
    """The [m/m] approximant (V - U)⁻¹ (V + U), and its derivative in direction e."""
    b = PADE[m]
    one = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    powers: list[Array] = [one, a @ a]
    slopes: list[Array | None] = [None, None if e is None else a @ e + e @ a]
    for _ in range(2, (m - 1) // 2 + 1 if m < 13 else 4):
        last, slope, square = powers[-1], slopes[-1], slopes[1]
        powers.append(last @ powers[1])
        slopes.append(None if slope is None or square is None else last @ square + slope @ powers[1])

    def sums(first: int) -> tuple[Array, Array | None]:
        """The polynomial in A² of every other coefficient, from the first."""
        low = list(b[first::2])
        if m < 13:
            return _combined(low, powers), _combined_slopes(low, slopes)
        # of degree 12: the upper half times A⁶
        upper, lower = [0, *low[4:]], low[:4]
        high, high_slope = _combined(upper, powers), _combined_slopes(upper, slopes)
        value = powers[3] @ high + _combined(lower, powers)
        rest, sixth = _combined_slopes(lower, slopes), slopes[3]
        if rest is None or high_slope is None or sixth is None:
            return value, None
        return value, sixth @ high + powers[3] @ high_slope + rest

    w, dw = sums(1)
    v, dv = sums(0)
    u = a @ w
    r = np.linalg.solve(v - u, v + u)
    if e is None or dw is None or dv is None:
        return r, None
    du = a @ dw + e @ w
    return r, np.linalg.solve(v - u, du + dv + (du - dv) @ r)


def _combined(coefficients: list[float], powers: list[Array]) -> Array:
    total = coefficients[0] * powers[0]
    for c, x in zip(coefficients[1:], powers[1:], strict=False):
        total = total + c * x
    return np.asarray(total, powers[0].dtype)


def _combined_slopes(coefficients: list[float], slopes: list[Array | None]) -> Array | None:
    total: Array | None = None
    for c, x in zip(coefficients[1:], slopes[1:], strict=False):
        if x is not None:
            total = c * x if total is None else total + c * x
    return total


# Square root and logarithm, by the Schur form -------------------------------------------------------------------------


def sqrtm(a: Array) -> Array:
    """The principal square root of each matrix."""
    return _by_schur("sqrtm", _triangular_root, a)


def logm(a: Array) -> Array:
    """The principal logarithm of each matrix."""
    return _by_schur("logm", _triangular_logarithm, a)


def _by_schur(name: str, function: Callable[[Array], Array], a: Array) -> Array:
    """f(A) = Z f(T) Zᴴ for each matrix; a real one must have a real answer."""
    result = np.empty_like(a)
    lead = a.shape[:-2]
    for index in np.ndindex(lead):
        matrix = a[index]
        if not np.isfinite(matrix).all():
            result[index] = np.nan
            continue
        t, z = lapack.schur(matrix)
        values = np.diagonal(t)
        tiny = 8 * len(t) * np.finfo(t.dtype).eps * np.max(np.abs(values), initial=0)
        if (np.abs(values) <= tiny).any() and (name == "logm" or _defect_at_zero(t, tiny)):
            raise LinAlgError(f"{name}: {which(index, lead)} is singular")
        if a.dtype.kind == "f" and ((values.real < -tiny) & (np.abs(values.imag) <= tiny)).any():
            raise LinAlgError(
                f"{name}: {which(index, lead)} has a negative eigenvalue, so its principal {name} isn't real; "
                "give it as complex128"
            )
        found = z @ function(t) @ conjugate_transpose(z)
        result[index] = found if a.dtype.kind == "c" else found.real
    return result


def _defect_at_zero(t: Array, tiny: float) -> bool:
    """Whether a triangular matrix has an eigenvalue 0 that may have no square root: zeros on the diagonal coupled."""
    zero = np.flatnonzero(np.abs(np.diagonal(t)) <= tiny)
    return bool((np.abs(np.triu(t[np.ix_(zero, zero)], 1)) > tiny).any())


def _triangular_root(t: Array) -> Array:
    """The square root of an upper triangular matrix, one superdiagonal after another."""
    n = len(t)
    r = np.diag(np.sqrt(np.diagonal(t)))
    for k in range(1, n):
        i = np.arange(n - k)
        inner = np.zeros(n - k, t.dtype)
        for m in range(1, k):
            inner += r[i, i + m] * r[i + m, i + k]
        below = r[i, i] + r[i + k, i + k]
        r[i, i + k] = np.divide(t[i, i + k] - inner, below, out=np.zeros(n - k, t.dtype), where=below != 0)
    return r


def _triangular_logarithm(t: Array) -> Array:
    """The logarithm of an upper triangular matrix: roots until it is close to 1, then a Padé approximant."""
    n, roots = len(t), 0
    one = np.eye(n, dtype=t.dtype)
    logarithms = np.log(np.diagonal(t))
    while one_norm(t - one) > 0.25 and roots < 100:
        t = _triangular_root(t)
        roots += 1
    nodes, weights = np.polynomial.legendre.leggauss(12)
    x, total = t - one, np.zeros_like(t)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        total += weight * np.linalg.solve(one + node * x, x)
    total = np.ldexp(total.real, roots) + 1j * np.ldexp(total.imag, roots)
    np.fill_diagonal(total, logarithms)
    return np.asarray(total, t.dtype)


def sqrtm_derivative(a: Array, e: Array) -> Array:
    """D with X D + D X = E where X is the square root of A: Sylvester's equation on the Schur form of X."""
    result = np.empty_like(a)
    lead = a.shape[:-2]
    for index in np.ndindex(lead):
        if not np.isfinite(a[index]).all():
            result[index] = np.nan
            continue
        t, z = lapack.schur(a[index])
        t = _triangular_root(t)
        f = conjugate_transpose(z) @ e[index] @ z
        n = len(t)
        y, one = np.zeros_like(t), np.eye(n, dtype=t.dtype)
        for j in range(n):
            side = f[:, j] - y[:, :j] @ t[:j, j]
            system = t + t[j, j] * one
            if (np.diagonal(system) == 0).any():
                raise LinAlgError(f"sqrtm: the derivative at {which(index, lead)}, which is singular, doesn't exist")
            y[:, j] = lapack.solve_triangular(system, side[:, None], lower=False, adjoint=False, unit=False)[:, 0]
        found = z @ y @ conjugate_transpose(z)
        result[index] = found if a.dtype.kind == "c" else found.real
    return result


def logm_derivative(a: Array, e: Array) -> Array:
    """The derivative of the logarithm in a direction: the corner of the logarithm of [[A, E], [0, A]]."""
    n = a.shape[-1]
    size = one_norm(a) / np.maximum(one_norm(e), np.finfo(a.dtype).tiny)
    size = np.where(np.isfinite(size) & (size > 0), size, 1)[..., None, None]
    below = np.concatenate([np.zeros_like(a), a], axis=-1)
    block = np.concatenate([np.concatenate([a, (e * size).astype(a.dtype)], axis=-1), below], axis=-2)
    return np.asarray(logm(block)[..., :n, n:] / size, a.dtype)


FUNCTIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Array, Array], Array]]] = {
    "expm": (expm, expm_derivative),
    "logm": (logm, logm_derivative),
    "sqrtm": (sqrtm, sqrtm_derivative),
}
