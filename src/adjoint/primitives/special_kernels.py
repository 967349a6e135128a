"""NumPy kernels of functions that NumPy lacks: erf and erfc, the normal distribution and its function.

Rational Chebyshev approximations of W. J. Cody, "Rational Chebyshev approximation for the error function",
Mathematics of Computation 23 (1969), 631-637: three ranges, relative error below 1e-16 in exact arithmetic.
"""

from __future__ import annotations

import math
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
        result = result * x + c
    return result


def _gaussian(x: Any, share: float = 1.0) -> Any:
    # exp(-share x²) with x split at 1/16, so that the square is exact and no digit of the exponent is lost
    coarse = np.trunc(x * 16) / 16
    return np.exp(-share * coarse * coarse) * np.exp(-share * (x - coarse) * (x + coarse))


def _erfc_positive(x: Any, gaussian: Any = None) -> Any:
    """erfc for x > 0.46875. `gaussian`: exp(-x²), where it is known better than x."""
    middle = np.minimum(x, 4.0)
    large = np.clip(x, 4.0, 30.0)
    inverse = 1.0 / (large * large)
    tail = INVERSE_SQRT_PI - inverse * _polynomial(LARGE_P, inverse) / _polynomial(LARGE_Q, inverse)
    near = _polynomial(MIDDLE_P, middle) / _polynomial(MIDDLE_Q, middle)
    return (_gaussian(np.minimum(x, 30.0)) if gaussian is None else gaussian) * np.where(x < 4.0, near, tail / large)


def _parts(x: Any) -> tuple[Any, Any, Any]:
    wide = np.asarray(x, np.float64)
    size = np.abs(wide)
    square = np.minimum(size, 0.46875) ** 2
    small = np.clip(wide, -0.46875, 0.46875) * _polynomial(SMALL_P, square) / _polynomial(SMALL_Q, square)
    return wide, size, small


def _finish(result: Any, x: Any, out: Any) -> Any:
    if out is None:
        return np.asarray(result, np.asarray(x).dtype)
    np.copyto(out, result, casting="same_kind")
    return out


def erf(x: Any, out: Any = None) -> Any:
    """The error function, elementwise."""
    wide, size, small = _parts(x)
    large = np.copysign(1.0 - _erfc_positive(np.maximum(size, 0.46875)), wide)
    return _finish(np.where(size <= 0.46875, small, large), x, out)


def erfc(x: Any, out: Any = None) -> Any:
    """One minus the error function, without cancellation."""
    wide, size, small = _parts(x)
    large = _erfc_positive(np.maximum(size, 0.46875))
    return _finish(np.where(size <= 0.46875, 1.0 - small, np.where(wide < 0, 2.0 - large, large)), x, out)


def gaussian(x: Any, out: Any = None) -> Any:
    """exp(-x²/2), elementwise."""
    wide = np.asarray(x, np.float64)
    return _finish(_gaussian(np.clip(wide, -60.0, 60.0), 0.5), x, out)


def normal_cdf(x: Any, out: Any = None) -> Any:
    """The normal distribution function, erfc(-x/√2)/2, to the last digits of its tail."""
    wide, size, small = _parts(np.asarray(x, np.float64) * math.sqrt(0.5))
    bell = _gaussian(np.clip(np.asarray(x, np.float64), -60.0, 60.0), 0.5)
    tail = 0.5 * _erfc_positive(np.maximum(size, 0.46875), bell)
    return _finish(np.where(size <= 0.46875, 0.5 + 0.5 * small, np.where(wide < 0, tail, 1.0 - tail)), x, out)
