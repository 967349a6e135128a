"""NumPy kernels of functions that NumPy lacks: erf and erfc, the normal distribution and its function.

Rational Chebyshev approximations of W. J. Cody, "Rational Chebyshev approximation for the error function",
Mathematics of Computation 23 (1969), 631-637: three ranges, relative error below 1e-16 in exact arithmetic.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

# |x| <= 0.46875: erf(x) = x P(x²)/Q(x²)
SMALL_P = (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2, 3.20937758913846947e3)  # fmt: skip  # noqa: E501
SMALL_Q = (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3)
# 0.46875 <= x <= 4: erfc(x) = exp(-x²) P(x)/Q(x)
MIDDLE_P = (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3)  # fmt: skip  # noqa: E501
MIDDLE_Q = (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3, 3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3)  # fmt: skip  # noqa: E501
# x >= 4: erfc(x) = exp(-x²)/x (1/sqrt(pi) - P(1/x²)/(x² Q(1/x²)))
LARGE_P = (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4)  # fmt: skip  # noqa: E501
LARGE_Q = (1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3)  # fmt: skip  # noqa: E501
INVERSE_SQRT_PI = 0.56418958354775628695


def _polynomial(coefficients: tuple[float, ...], x: Any) -> Any:
    result = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        result *= x
        result += c
    return result


def _gaussian(x: Any, share: float = 1.0) -> Any:
    # exp(-share x²) with x split at 1/16, so that the square is exact and no digit of the exponent is lost
    coarse = np.trunc(x * 16) / 16
    return np.exp(-share * coarse * coarse) * np.exp(-share * (x - coarse) * (x + coarse))


def _erfc_positive(x: Any, gaussian: Any = None) -> Any:
    """erfc for x > 0.46875. `gaussian`: exp(-x²), where it is known better than x."""
    middle = np.minimum(x, 4.0)
    near = _polynomial(MIDDLE_P, middle) / _polynomial(MIDDLE_Q, middle)
    if gaussian is None:
        gaussian = _gaussian(np.minimum(x, 30.0))
    if np.all(x < 4.0):
        return gaussian * near
    large = np.clip(x, 4.0, 30.0)
    inverse = 1.0 / (large * large)
    tail = INVERSE_SQRT_PI - inverse * _polynomial(LARGE_P, inverse) / _polynomial(LARGE_Q, inverse)
    return gaussian * np.where(x < 4.0, near, tail / large)


def _parts(x: Any) -> tuple[Any, Any, Any]:
    wide = np.asarray(x, np.float64)
    size = np.abs(wide)
    square = np.minimum(size, 0.46875) ** 2
    small = np.clip(wide, -0.46875, 0.46875) * _polynomial(SMALL_P, square) / _polynomial(SMALL_Q, square)
    return wide, size, small


def _finish(result: Any, x: Any, out: Any) -> Any:
    with np.errstate(over="ignore"):
        if out is None:
            return np.asarray(result, np.asarray(x).dtype)
        np.copyto(out, result, casting="same_kind")
    return out


BLOCK = 1 << 13  # elements: what is computed of so many stays in the processor's cache


def _block_by_block(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise kernel with many passes, which takes large arrays a block at a time."""

    @functools.wraps(kernel)
    def call(x: Any, out: Any = None) -> Any:
        x = np.asarray(x)
        if x.size <= BLOCK or not (out is None or out.flags.c_contiguous):
            return kernel(x, out)
        result = np.empty(x.shape, x.dtype) if out is None else out
        given, made = x.reshape(-1), result.reshape(-1)
        for i in range(0, x.size, BLOCK):
            kernel(given[i : i + BLOCK], made[i : i + BLOCK])
        return result

    return call


@_block_by_block
def erf(x: Any, out: Any = None) -> Any:
    """The error function, elementwise."""
    wide, size, small = _parts(x)
    large = np.copysign(1.0 - _erfc_positive(np.maximum(size, 0.46875)), wide)
    return _finish(np.where(size <= 0.46875, small, large), x, out)


@_block_by_block
def erfc(x: Any, out: Any = None) -> Any:
    """One minus the error function, without cancellation."""
    wide, size, small = _parts(x)
    large = _erfc_positive(np.maximum(size, 0.46875))
    return _finish(np.where(size <= 0.46875, 1.0 - small, np.where(wide < 0, 2.0 - large, large)), x, out)


@_block_by_block
def gaussian(x: Any, out: Any = None) -> Any:
    """exp(-x²/2), elementwise."""
    wide = np.asarray(x, np.float64)
    return _finish(_gaussian(np.clip(wide, -60.0, 60.0), 0.5), x, out)


@_block_by_block
def normal_cdf(x: Any, out: Any = None) -> Any:
    """The normal distribution function, erfc(-x/√2)/2, to the last digits of its tail."""
    wide, size, small = _parts(np.asarray(x, np.float64) * math.sqrt(0.5))
    bell = _gaussian(np.clip(np.asarray(x, np.float64), -60.0, 60.0), 0.5)
    tail = 0.5 * _erfc_positive(np.maximum(size, 0.46875), bell)
    return _finish(np.where(size <= 0.46875, 0.5 + 0.5 * small, np.where(wide < 0, tail, 1.0 - tail)), x, out)


def gelu(x: Any, out: Any = None) -> Any:
    """x Φ(x) (D. Hendrycks and K. Gimpel, "Gaussian error linear units", 2016)."""
    return np.multiply(x, normal_cdf(x), out=out)


@_block_by_block
def gelu_derivative(x: Any, out: Any = None) -> Any:
    """Φ(x) + x exp(-x²/2) / √(2π)."""
    wide = np.asarray(x, np.float64)
    return _finish(normal_cdf(wide) + np.clip(wide, -60.0, 60.0) * gaussian(wide) / math.sqrt(2 * math.pi), x, out)


# What follows is made of Cody's approximations, so that it needs NumPy alone ---------------------------------------------


def erfcx(x: Any, out: Any = None) -> Any:
    """exp(x²) erfc(x): Cody's quotients without their exponential."""
    wide, size, _ = _parts(x)
    middle = np.clip(size, 0.46875, 4.0)
    large = np.maximum(size, 4.0)
    inverse = 1.0 / (large * large)
    tail = (INVERSE_SQRT_PI - inverse * _polynomial(LARGE_P, inverse) / _polynomial(LARGE_Q, inverse)) / large
    positive = np.where(size < 4.0, _polynomial(MIDDLE_P, middle) / _polynomial(MIDDLE_Q, middle), tail)
    with np.errstate(over="ignore"):
        square = np.exp(np.minimum(size, 30.0) ** 2)
        near = square * erfc(np.clip(wide, -0.46875, 0.46875))
        coarse = np.trunc(np.minimum(size, 30.0) * 16) / 16
        rest = (np.minimum(size, 30.0) - coarse) * (np.minimum(size, 30.0) + coarse)
        negative = 2.0 * np.exp(coarse * coarse) * np.exp(rest) - positive
    result = np.where(size <= 0.46875, near, np.where(wide < 0, negative, positive))
    return _finish(np.where(np.isnan(wide), np.nan, result), x, out)


def log_ndtr(x: Any, out: Any = None) -> Any:
    """The logarithm of the normal distribution function, without cancellation on either side."""
    wide = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        left = np.minimum(wide, -1.0)
        below = -0.5 * left * left + np.log(0.5 * erfcx(-left * np.sqrt(0.5)))
        above = np.log1p(-0.5 * erfc(np.maximum(wide, -1.0) * np.sqrt(0.5)))
    return _finish(np.where(wide < -1.0, below, above), x, out)


def ndtri(p: Any, out: Any = None) -> Any:
    """The inverse of the normal distribution function: a first guess, then Halley's method on its logarithm, or in the middle
    Newton's on what is left from 1/2.

    The guess is 26.2.23 of Abramowitz & Stegun, "Handbook of Mathematical Functions"; each step cubes its error of 4.5e-4.
    """
    wide = np.asarray(p, np.float64)
    with np.errstate(all="ignore"):
        side = np.where(wide > 0.5, 1.0 - wide, wide)
        t = np.sqrt(-2.0 * np.log(side))
        x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))))
        for _ in range(3):
            # f = log ndtr(x) - log p, f' = h = φ/ndtr, f'' = -h (x + h)
            h = np.sqrt(2 / np.pi) / erfcx(-x * np.sqrt(0.5))
            step = (log_ndtr(x) - np.log(side)) / h
            x = x - step / (1.0 + 0.5 * step * (x + h))
        x = np.where(wide > 0.5, -x, x)
        centre = np.clip(wide, 0.3, 0.7) - 0.5
        middle = np.sqrt(2 * np.pi) * centre
        for _ in range(5):
            density = np.exp(-0.5 * middle * middle) / np.sqrt(2 * np.pi)
            middle = middle - (0.5 * erf(middle * np.sqrt(0.5)) - centre) / density
        x = np.where(np.abs(wide - 0.5) < 0.2, middle, x)
        x = np.where(wide == 0, -np.inf, np.where(wide == 1, np.inf, np.where((wide < 0) | (wide > 1), np.nan, x)))
    return _finish(x, p, out)
