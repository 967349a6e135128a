"""Ranks of von Mises variates: relative errors in the tails, against quadrature in thirty digits, and derivatives."""

from typing import Any

import mpmath
import numpy as np
import pytest

import adjoint as ad
from derivative_checks import check_derivatives
from support import double, equal

S = ad.stats


@pytest.mark.parametrize(
    ("k", "loc", "x"),
    [
        (300.0, 0.0, 1.0),
        (300.0, 40.0, 1.5),
        (20.0, 0.3, 2.9),
        (20.0, -2.5, 0.2),
        (2.0, 3.0, 3.1),
        (2e4, 0.0, 0.1),
        (1e8, 1.0, 1.001),
    ],
)
def test_tails_of_angles_have_small_relative_errors(k: float, loc: float, x: float):
    """They were differences of numbers of about one half."""
    d, begin, end = S.VonMises(double(loc), k), float(-np.pi), float(np.pi)

    def density(t: Any) -> Any:
        """Relative to the density at x, for quad's errors are absolute."""
        at_t, at_x = (mpmath.sin((u - mpmath.mpf(loc)) / 2) ** 2 for u in (t, mpmath.mpf(x)))
        return mpmath.exp(2 * k * (at_x - at_t))

    with mpmath.workdps(30):
        scale = 2 * mpmath.pi * mpmath.besseli(0, k) * mpmath.exp(-k * mpmath.cos(x - mpmath.mpf(loc)))
        width = 200 / (1 + k * abs(mpmath.sin(x - mpmath.mpf(loc))))
        at = ad.variable(x, dtype="float64")
        for value, low, high in ((d.cdf(at), begin, x), (d.sf(at), x, end)):
            if value.item() > 0.1:
                continue
            near = (max(low, x - width), x) if high == x else (x, min(high, x + width))
            far = (low, near[0]) if high == x else (near[1], high)
            expected = mpmath.quad(density, mpmath.linspace(*near, 31)) + mpmath.quad(
                density, mpmath.linspace(*far, 31)
            )
            equal(value / float(expected / scale), 1.0, 1e-9 if k > 1e6 else 1e-12)
            slope = float(1 / scale) * (1 if high == x else -1)
            equal(ad.gradients(value, [at])[0] / slope, 1.0, 1e-9 if k > 1e6 else 1e-12)


@pytest.mark.parametrize("name", ["cdf", "sf"])
def test_second_derivatives_of_ranks_of_angles(name: str):
    def rank(x: Any, loc: Any, k: Any) -> Any:
        return [getattr(S.VonMises(loc, k), name)(x)]

    for at in ((0.4, 0.1, 3.0), (-3.0, 0.1, 0.7), (2.0, 2.5, 4.0), (-2.0, 9.0, 1.5)):
        check_derivatives(rank, [np.array(v) for v in at])


def test_an_angle_of_a_tiny_rank():
    d = S.VonMises(double(0.3), 30.0)
    equal(d.cdf(d.icdf(double(1e-20))) / 1e-20, 1.0, 1e-9)
    equal(d.sf(d.isf(double(1e-20))) / 1e-20, 1.0, 1e-9)
