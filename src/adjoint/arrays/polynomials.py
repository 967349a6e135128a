"""Polynomials as NumPy's `polyval` and its kin have them: coefficients from the highest power down."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint import linalg
from adjoint.fft import convolve
from adjoint.primitives.core import inexact
from adjoint.tensors.composing import Operand, as_tensor, as_tensors, scoped
from adjoint.tensors.functions import concat, full_like, multiply, ones, reshape, result_type, sqrt, stack, sum, zeros
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.pending import force_selection
from adjoint.tensors.tensor import Tensor

__all__ = [
    "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "roots", "vander",
]  # fmt: skip


def _coefficients(name: str, p: Any) -> Tensor:
    t = as_tensor(p)
    if t.ndim > 1:
        raise ValueError(f"{name}: coefficients have one axis, got shape {t.shape}{at_user()}")
    return reshape(t, (t.size,))


@scoped
def polyval(p: Operand, x: Operand, /) -> Tensor:
    """The polynomial p[0] x**(n-1) + ... + p[n-1] at x, by Horner's rule.

    >>> import adjoint as ad
    >>> ad.polyval(ad.tensor([1.0, 0.0, -2.0]), 3.0)
    Tensor(7.)
    """
    coefficients, t = as_tensors(p, x)
    coefficients = _coefficients("polyval", coefficients)
    found = full_like(t, 0, dtype=result_type(coefficients, t))
    for i in range(coefficients.shape[0]):
        found = found * t + coefficients[i]
    return found


def _aligned(name: str, p: Any, q: Any) -> tuple[Tensor, Tensor]:
    a, b = (_coefficients(name, y) for y in as_tensors(p, q))
    n = max(a.size, b.size)
    first, second = (concat([zeros(n - y.size, dtype=y.dtype), y]) if y.size < n else y for y in (a, b))
    return first, second


@scoped
def polyadd(p: Operand, q: Operand, /) -> Tensor:
    """The sum of two polynomials.

    >>> import adjoint as ad
    >>> ad.polyadd(ad.tensor([1.0, 2.0]), ad.tensor([1.0, 0.0, 1.0]))
    Tensor([1., 1., 3.])
    """
    a, b = _aligned("polyadd", p, q)
    return a + b


@scoped
def polysub(p: Operand, q: Operand, /) -> Tensor:
    """The difference of two polynomials.

    >>> import adjoint as ad
    >>> ad.polysub(ad.tensor([1.0, 2.0]), ad.tensor([1.0, 0.0, 1.0]))
    Tensor([-1.,  1.,  1.])
    """
    a, b = _aligned("polysub", p, q)
    return a - b


@scoped
def polymul(p: Operand, q: Operand, /) -> Tensor:
    """The product of two polynomials.

    >>> import adjoint as ad
    >>> ad.polymul(ad.tensor([1.0, 2.0]), ad.tensor([1.0, -2.0]))
    Tensor([ 1.,  0., -4.])
    """
    a, b = as_tensors(p, q)
    return convolve(_coefficients("polymul", a), _coefficients("polymul", b), method="direct")


@scoped
def polydiv(p: Operand, q: Operand, /) -> tuple[Tensor, Tensor]:
    """The quotient and the remainder of two polynomials; the remainder has one coefficient less than q, at least one.

    NumPy leaves out its leading zeros, whose number depends on values.

    >>> import adjoint as ad
    >>> ad.polydiv(ad.tensor([1.0, 0.0, -1.0]), ad.tensor([1.0, 1.0]))
    (Tensor([ 1., -1.]), Tensor([0.]))
    """
    a, b = (wrap(inexact(_coefficients("polydiv", y).node)) for y in as_tensors(p, q))
    rest, m = a, b.size
    found: list[Tensor] = []
    for i in range(a.size - m + 1):
        factor = rest[0] / b[0]
        found.append(factor)
        rest = concat([rest[1:m] - factor * b[1:], rest[m:]])
        if not rest.size and i < a.size - m:
            break
    if not found:
        return zeros(1, dtype=a.dtype), a
    return stack(found), rest if rest.size else zeros(1, dtype=a.dtype)


@scoped
def polyder(p: Operand, /, m: int = 1) -> Tensor:
    """The m-th derivative of a polynomial.

    >>> import adjoint as ad
    >>> ad.polyder(ad.tensor([1.0, 1.0, 1.0]))
    Tensor([2., 1.])
    """
    t = _coefficients("polyder", p)
    if operator.index(m) < 0:
        raise ValueError(f"polyder: the order of a derivative is {m}, which is negative{at_user()}")
    for _ in range(m):
        t = t[:-1] * as_tensor(np.arange(t.size - 1, 0, -1))
    return t


@scoped
def polyint(p: Operand, /, m: int = 1, k: Any = None) -> Tensor:
    """The m-th antiderivative of a polynomial, with constants of integration k (a number, or one for each), 0 unless said.

    >>> import adjoint as ad
    >>> ad.polyint(ad.tensor([2.0, 1.0]), k=5.0)
    Tensor([1., 1., 5.])
    """
    t = wrap(inexact(_coefficients("polyint", p).node))
    constants = as_tensor(0.0 if k is None else k).flatten()
    for i in range(operator.index(m)):
        c = constants[i : i + 1] if constants.size > 1 else constants
        t = concat([t / as_tensor(np.arange(t.size, 0, -1)), c.astype(t.dtype)])
    return t


@scoped
def poly(roots: Operand, /) -> Tensor:
    """The coefficients of the polynomial with leading coefficient 1 and these roots (n,), or of the characteristic polynomial
    of a matrix (n, n), which is real where the matrix is: (n + 1,). Raises ValueError for another shape.

    >>> import adjoint as ad
    >>> ad.poly(ad.tensor([1.0, 2.0]))
    Tensor([ 1., -3.,  2.])
    """
    t = wrap(inexact(as_tensor(roots).node))
    square = t.ndim == 2 and t.shape[0] == t.shape[1] > 0
    if t.ndim > 1 and not square:
        raise ValueError(f"poly: expected roots (n,) or a square matrix with elements, got shape {t.shape}{at_user()}")
    is_real = square and not t.dtype.is_complex
    t = linalg.eigvals(t) if square else t.flatten()
    found = ones(1, dtype=t.dtype)
    for i in range(t.size):
        found = concat([found, zeros(1, dtype=t.dtype)]) - concat([zeros(1, dtype=t.dtype), found * t[i]])
    return found.real if is_real else found


@scoped
def roots(p: Operand, /) -> Tensor:
    """The zeros of a polynomial, complex, as eigenvalues of its companion matrix. Leading and trailing zeros are looked for,
    which evaluates p. The derivative of a multiple zero is infinite.

    >>> import adjoint as ad
    >>> ad.roots(ad.tensor([1.0, -3.0, 2.0])).real
    Tensor([2., 1.])
    """
    t = wrap(inexact(_coefficients("roots", p).node))
    places = np.flatnonzero(force_selection(t.node))
    if not places.size:
        return zeros(0, dtype=t.dtype)
    first, last = int(places[0]), int(places[-1])
    trailing = t.size - 1 - last
    t = t[first : last + 1]
    n = t.size - 1
    if n:
        below = as_tensor(np.eye(n - 1, n)).astype(t.dtype)
        found = linalg.eigvals(concat([reshape(-t[1:] / t[0], (1, n)), below]))
    else:
        found = zeros(0, dtype=result_type(t, 1j))
    return concat([found, zeros(trailing, dtype=found.dtype)]) if trailing else found


@scoped
def vander(x: Operand, /, n: int | None = None, *, increasing: bool = False) -> Tensor:
    """The powers of each element of x (m,) as a row (m, n): from x**(n-1) down to 1, or up with `increasing`; n is m unless said.

    >>> import adjoint as ad
    >>> ad.vander(ad.tensor([2.0, 3.0]), 3)
    Tensor([[4., 2., 1.],
            [9., 3., 1.]])
    """
    t = as_tensor(x)
    if t.ndim != 1:
        raise ValueError(f"vander: expected one axis, got shape {t.shape}{at_user()}")
    if not t.dtype.inexact and t.dtype.dtype.itemsize < 8:
        t = t.astype("int64")  # powers of small integers would wrap around
    count = t.size if n is None else operator.index(n)
    if not count:
        return reshape(t[:0], (t.size, 0)) if not t.size else zeros((t.size, 0), dtype=t.dtype)
    powers = range(count) if increasing else range(count - 1, -1, -1)
    return stack([t**k if k else full_like(t, 1) for k in powers], axis=1)


@scoped
def polyfit(x: Operand, y: Operand, degree: int, /, rcond: float | None = None, *, w: Any = None) -> Tensor:
    """The coefficients of the polynomial of a degree that is nearest to the points (x, y) by least squares, with weights w.

    y is (n,) or (n, k). Differentiable in x, y and w. Raises ValueError where lengths differ.

    >>> import adjoint as ad
    >>> ad.polyfit(ad.tensor([0.0, 1.0, 2.0]), ad.tensor([1.0, 3.0, 5.0]), 1)
    Tensor([2., 1.])
    """
    a, b = (wrap(inexact(as_tensor(v).node)) for v in (x, y))
    if a.ndim != 1 or not b.ndim or b.shape[0] != a.shape[0]:
        raise ValueError(f"polyfit: x of shape {a.shape} and y of shape {b.shape} don't fit{at_user()}")
    common = result_type(a, b)
    a, b = a.astype(common), b.astype(common)
    rows = vander(a, operator.index(degree) + 1)
    if w is not None:
        weights = as_tensor(w)
        rows = rows * weights[:, None]
        b = multiply(b, weights if b.ndim == 1 else weights[:, None])
    size = sqrt(sum(multiply(rows, rows), axis=0))
    found = linalg.lstsq(rows / size, b, rcond=a.size * float(np.finfo(a.dtype.dtype).eps) if rcond is None else rcond)[
        0
    ]
    return found / (size if b.ndim == 1 else size[:, None])
