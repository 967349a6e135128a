"""Distributions of real numbers. Densities as in N. Johnson, S. Kotz and N. Balakrishnan, "Continuous Univariate Distributions"
(1994); parameters have PyTorch's names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint import special
from adjoint.transforms.grad import stop_gradient
from adjoint.solvers.implicit import determined
from adjoint.random import source
from adjoint.stats import draws
from adjoint.stats.base import Distribution, beyond, inside, ordered, steep
from adjoint.stats.location_scale import EULER, HALF_LOG_2PI, POSITIVE, Normal
from adjoint.stats.sensitivity import gamma_slope, moved_by, von_mises_between
from adjoint.tensors.tensor import Tensor

__all__ = ["Beta", "Exponential", "Gamma", "HalfNormal", "InverseGamma", "StudentT", "Uniform", "VonMises", "Weibull"]


class HalfNormal(Distribution):
    """The distribution of |x| for a normal x of mean 0 and standard deviation `scale`.

    >>> import adjoint as ad
    >>> ad.stats.HalfNormal(1.0).mean
    Tensor(0.7979)
    """

    names = ("scale",)
    support = POSITIVE
    scale: Tensor

    def __init__(self, scale: Any = 1.0) -> None:
        self._set("positive", scale=scale)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        return inside(x >= 0, Normal(0.0, self.scale).log_prob(x) + math.log(2), x)

    def cdf(self, x: Any) -> Tensor:
        return f.erf(f.clip(self._value(x), 0.0) / (self.scale * math.sqrt(2)))

    def sf(self, x: Any) -> Tensor:
        return f.erfc(f.clip(self._value(x), 0.0) / (self.scale * math.sqrt(2)))

    def isf(self, p: Any) -> Tensor:
        p = self._value(p)
        return self.scale * math.sqrt(2) * special.erfcinv(f.where(p > 1, math.nan, p))

    def icdf(self, p: Any) -> Tensor:
        return self.scale * math.sqrt(2) * special.erfinv(f.where(self._value(p) < 0, math.nan, self._value(p)))

    def entropy(self) -> Tensor:
        return f.log(self.scale) + HALF_LOG_2PI + 0.5 - math.log(2)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale**2 * (1 - 2 / math.pi)

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return abs(Normal(0.0, self.scale)._draw(shape, key))


class StudentT(Distribution):
    """Student's t distribution of `df` degrees of freedom.

    >>> import adjoint as ad
    >>> ad.stats.StudentT(3.0).variance
    Tensor(3.)
    """

    names = ("df", "loc", "scale")
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0) -> None:
        self._set("positive", "real", "positive", df=df, loc=loc, scale=scale)

    def log_prob(self, x: Any) -> Tensor:
        z = (self._value(x) - self.loc) / self.scale
        norm = f.log(self.scale) + 0.5 * f.log(self.df) + special.betaln(0.5 * self.df, 0.5)
        return -0.5 * (self.df + 1) * f.log1p(z * z / self.df) - norm

    def cdf(self, x: Any) -> Tensor:
        z = (self._value(x) - self.loc) / self.scale
        # where the square loses the derivative, the first terms of the series are all digits
        at_loc = z * z * (self.df + 1) < 1e-10 * self.df
        cubic = z - z**3 * (self.df + 1) / (6 * self.df)
        density = f.exp(-0.5 * f.log(self.df) - special.betaln(0.5 * self.df, 0.5))
        square = f.where(at_loc, 1.0, z * z)
        tail = 0.5 * special.betainc(self.df / 2, 0.5, self.df / (self.df + square))
        near = 0.5 - 0.5 * special.betainc(0.5, self.df / 2, square / (self.df + square))
        # The one loses small probabilities to rounding, the other of many degrees of freedom the digits of the square.
        by_half = (square < self.df) & ((square < 1) | (near * self.df > 2))
        tail = f.where(by_half, near, tail)
        # Of many degrees of freedom both do; it is nearly normal then (Hill, Algorithm 395, Comm. ACM 13, 1970).
        many = f.maximum(self.df, 1e5) - 0.5
        turned = f.sqrt(many * f.log1p(square / self.df))
        normal = special.ndtr(-turned - (turned**3 + 3 * turned) / (48 * many * many))
        tail = f.where(self.df > 1e5, normal, tail)
        return f.where(at_loc, 0.5 + density * cubic, f.where(z > 0, 1 - tail, tail))

    def sf(self, x: Any) -> Tensor:
        return self.cdf(2 * self.loc - self._value(x))

    def isf(self, p: Any) -> Tensor:
        return 2 * self.loc - self.icdf(p)

    def entropy(self) -> Tensor:
        half = (self.df + 1) / 2
        shape = half * (special.digamma(half) - special.digamma(self.df / 2))
        norm = f.log(self.scale) + 0.5 * f.log(self.df) + special.betaln(0.5 * self.df, 0.5)
        return f.broadcast_to(shape + norm, self.batch_shape)

    @property
    def mean(self) -> Tensor:
        return f.broadcast_to(f.where(self.df > 1, self.loc, math.nan), self.batch_shape)

    @property
    def variance(self) -> Tensor:
        finite = self.scale**2 * self.df / f.where(self.df > 2, self.df - 2, 1.0)
        heavy = f.where(self.df > 1, math.inf, math.nan)
        return f.broadcast_to(f.where(self.df > 2, finite, heavy), self.batch_shape)

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.student_t(self.df, self.loc, self.scale, shape, key=key)


class Gamma(Distribution):
    """The gamma distribution of a concentration and a rate: mean concentration / rate.

    >>> import adjoint as ad
    >>> d = ad.stats.Gamma(2.0, 4.0)
    >>> d.mean, d.cdf(0.5)
    (Tensor(0.5), Tensor(0.594))
    """

    names = ("concentration", "rate")
    support = POSITIVE
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Any, rate: Any = 1.0) -> None:
        self._set("positive", "positive", concentration=concentration, rate=rate)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        a, b = self.concentration, self.rate
        within = (x >= 0) & (x < math.inf)
        safe = f.where(within, x, 1.0)
        return inside(within, special.xlogy(a - 1, safe) + a * f.log(b) - b * safe - special.gammaln(a), x)

    def cdf(self, x: Any) -> Tensor:
        return _gamma_cdf(self.concentration, self.rate * f.clip(self._value(x), 0.0))

    def sf(self, x: Any) -> Tensor:
        return _gamma_cdf(self.concentration, self.rate * f.clip(self._value(x), 0.0), upper=True)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - f.log(self.rate) + special.gammaln(a) + (1 - a) * special.digamma(a)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate**2

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.gamma(self.concentration, self.rate, shape, key=key)


def _gamma_cdf(a: Tensor, z: Tensor, upper: bool = False) -> Tensor:
    """P(a, z), or with `upper` Q(a, z), with a derivative by a too: -p(z) times that of a variate at its rank."""
    a, z = f.broadcast_arrays(a, z)
    sign = -1.0 if upper else 1.0

    def slopes(value: Tensor, a: Tensor, z: Tensor) -> list[Tensor]:
        within = (z > 0) & (z < math.inf)
        safe = f.where(within, z, 1.0)
        density = f.exp(special.xlogy(a - 1, safe) - safe - special.gammaln(a))
        at_zero = f.where(a < 1, math.inf, f.where(a > 1, 0.0, f.exp(-z)))
        return [
            f.where(within, -sign * density * gamma_slope(safe, a), 0.0),
            f.where(within, sign * density, f.where(z == 0, sign * at_zero, 0.0)),
        ]

    return moved_by(special.gammaincc(a, z) if upper else special.gammainc(a, z), [a, z], slopes)


class InverseGamma(Distribution):
    """The distribution of 1/x for a gamma variate x of a concentration and a rate.

    >>> import adjoint as ad
    >>> ad.stats.InverseGamma(3.0, 2.0).mean
    Tensor(1.)
    """

    names = ("concentration", "rate")
    support = POSITIVE
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Any, rate: Any = 1.0) -> None:
        self._set("positive", "positive", concentration=concentration, rate=rate)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        a, b = self.concentration, self.rate
        safe = f.where(x > 0, x, 1.0)
        return inside(x > 0, a * f.log(b) - special.gammaln(a) - (a + 1) * f.log(safe) - b / safe, x)

    def cdf(self, x: Any) -> Tensor:
        return self._beside(x, 0.0, upper=True)

    def sf(self, x: Any) -> Tensor:
        return self._beside(x, 1.0, upper=False)

    def _beside(self, x: Any, below: float, upper: bool) -> Tensor:
        """The probability of a reciprocal above that of x, or below it; as it is `below` the support."""
        x = self._value(x)
        found = _gamma_cdf(self.concentration, self.rate / f.where(x > 0, x, 1.0), upper)
        return f.where(x > 0, found, beyond(x, below))

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + f.log(self.rate) + special.gammaln(a) - (1 + a) * special.digamma(a)

    @property
    def mean(self) -> Tensor:
        a = self.concentration
        return f.where(a > 1, self.rate / f.where(a > 1, a - 1, 1.0), math.inf)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        safe = f.where(a > 2, a, 3.0)
        return f.where(a > 2, self.rate**2 / ((safe - 1) ** 2 * (safe - 2)), math.inf)

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return 1 / draws.gamma(self.concentration, self.rate, shape, key=key)


class Exponential(Distribution):
    """The exponential distribution of a rate.

    >>> import adjoint as ad
    >>> ad.stats.Exponential(2.0).icdf(0.5)
    Tensor(0.3466)
    """

    names = ("rate",)
    support = POSITIVE
    rate: Tensor

    def __init__(self, rate: Any = 1.0) -> None:
        self._set("positive", rate=rate)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        return inside(x >= 0, f.log(self.rate) - self.rate * x, x)

    def cdf(self, x: Any) -> Tensor:
        return -f.expm1(-self.rate * f.clip(self._value(x), 0.0))

    def icdf(self, p: Any) -> Tensor:
        p = self._value(p)
        return -f.log1p(-f.where(p < 0, math.nan, p)) / self.rate

    def sf(self, x: Any) -> Tensor:
        return f.exp(-self.rate * f.clip(self._value(x), 0.0))

    def isf(self, p: Any) -> Tensor:
        p = self._value(p)
        return -f.log(f.where(p > 1, math.nan, p)) / self.rate

    def entropy(self) -> Tensor:
        return 1 - f.log(self.rate)

    @property
    def mean(self) -> Tensor:
        return 1 / self.rate

    @property
    def variance(self) -> Tensor:
        return 1 / self.rate**2

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.exponential(self.rate, shape, key=key)


class Beta(Distribution):
    """The beta distribution, of density proportional to x^(concentration1 - 1) (1 - x)^(concentration0 - 1).

    >>> import adjoint as ad
    >>> ad.stats.Beta(2.0, 2.0).cdf(0.5)
    Tensor(0.5)
    """

    names = ("concentration1", "concentration0")
    support = (0.0, 1.0)
    concentration1: Tensor
    concentration0: Tensor

    def __init__(self, concentration1: Any, concentration0: Any) -> None:
        self._set("positive", "positive", concentration1=concentration1, concentration0=concentration0)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        a, b = self.concentration1, self.concentration0
        safe = f.clip(x, 0.0, 1.0)
        density = special.xlogy(a - 1, safe) + special.xlog1py(b - 1, -safe) - special.betaln(a, b)
        return inside((x >= 0) & (x <= 1), density, x)

    def cdf(self, x: Any) -> Tensor:
        return special.betainc(self.concentration1, self.concentration0, f.clip(self._value(x), 0.0, 1.0))

    def sf(self, x: Any) -> Tensor:
        part = f.clip(self._value(x), 0.0, 1.0)
        # Rounding 1 - x moves the result by the density, rounding the result by 1: so tiny x go the other way.
        below = (part < 0.5) & (self.log_prob(part) > 0)
        rest = 1 - special.betainc(self.concentration1, self.concentration0, f.where(below, part, 0.5))
        return f.where(below, rest, special.betainc(self.concentration0, self.concentration1, 1 - part))

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        own = (a - 1) * special.digamma(a) + (b - 1) * special.digamma(b)
        return special.betaln(a, b) - own + (a + b - 2) * special.digamma(a + b)

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def variance(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return a * b / ((a + b) ** 2 * (a + b + 1))

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.beta(self.concentration1, self.concentration0, shape, key=key)


class Weibull(Distribution):
    """The Weibull distribution, with cdf 1 - exp(-(x/scale)^concentration).

    >>> import adjoint as ad
    >>> ad.stats.Weibull(1.0, 2.0).mean
    Tensor(0.8862)
    """

    names = ("scale", "concentration")
    support = POSITIVE
    scale: Tensor
    concentration: Tensor

    def __init__(self, scale: Any, concentration: Any) -> None:
        self._set("positive", "positive", scale=scale, concentration=concentration)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        k = self.concentration
        within = (x >= 0) & (x < math.inf)
        z = f.where(within & (x > 0), x, 1.0) / self.scale
        positive = f.log(k / self.scale) + (k - 1) * f.log(z) - z**k
        at_zero = f.where(k < 1, math.inf, f.where(k > 1, -math.inf, -f.log(self.scale)))
        return inside(within, f.where(x > 0, positive, at_zero), x)

    def cdf(self, x: Any) -> Tensor:
        x = self._value(x)
        z = f.where(x >= 0, x, 1.0) / self.scale
        return f.where(x >= 0, -f.expm1(-(z**self.concentration)), beyond(x, 0.0))

    def sf(self, x: Any) -> Tensor:
        x = self._value(x)
        z = f.where(x >= 0, x, 1.0) / self.scale
        return f.where(x >= 0, f.exp(-(z**self.concentration)), beyond(x, 1.0))

    def isf(self, p: Any) -> Tensor:
        p = self._value(p)
        return self.scale * ((-f.log(f.where(p > 1, math.nan, p))) ** (1 / self.concentration) - steep(p, high=False))

    def icdf(self, p: Any) -> Tensor:
        p = self._value(p)
        return self.scale * ((-f.log1p(-f.where(p < 0, math.nan, p))) ** (1 / self.concentration) + steep(p, low=False))

    def entropy(self) -> Tensor:
        k = self.concentration
        return EULER * (1 - 1 / k) + f.log(self.scale / k) + 1

    @property
    def mean(self) -> Tensor:
        return self.scale * f.exp(special.gammaln(1 + 1 / self.concentration))

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        return self.scale**2 * (f.exp(special.gammaln(1 + 2 / k)) - f.exp(2 * special.gammaln(1 + 1 / k)))

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.weibull(self.scale, self.concentration, shape, key=key)


class Uniform(Distribution):
    """The uniform distribution on [low, high).

    >>> import adjoint as ad
    >>> ad.stats.Uniform(0.0, 4.0).prob(1.0)
    Tensor(0.25)
    """

    names = ("low", "high")
    low: Tensor
    high: Tensor

    def __init__(self, low: Any = 0.0, high: Any = 1.0) -> None:
        self._set("real", "real", low=low, high=high)
        ordered("Uniform", self.low, self.high)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        return inside((x >= self.low) & (x <= self.high), -f.log(self.high - self.low), x)

    def cdf(self, x: Any) -> Tensor:
        return f.clip((self._value(x) - self.low) / (self.high - self.low), 0.0, 1.0)

    def icdf(self, p: Any) -> Tensor:
        p = self._value(p)
        return self.low + f.where((p < 0) | (p > 1), math.nan, p) * (self.high - self.low)

    def entropy(self) -> Tensor:
        return f.log(self.high - self.low)

    @property
    def mean(self) -> Tensor:
        return (self.low + self.high) / 2

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low) ** 2 / 12

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return self.low + (self.high - self.low) * source(key).uniform(shape, dtype=self.dtype)


class VonMises(Distribution):
    """The von Mises distribution of angles in [-π, π), around `loc`; `variance` is the circular one, 1 - I₁(κ)/I₀(κ).

    >>> import adjoint as ad
    >>> ad.stats.VonMises(0.0, 1.0).cdf(0.0)
    Tensor(0.5)
    """

    names = ("loc", "concentration")
    support = (-math.pi, math.pi)
    loc: Tensor
    concentration: Tensor

    def __init__(self, loc: Any, concentration: Any) -> None:
        self._set("real", "positive", loc=loc, concentration=concentration)

    def log_prob(self, x: Any) -> Tensor:
        k = self.concentration
        return -2 * k * f.sin((self._value(x) - self.loc) / 2) ** 2 - math.log(2 * math.pi) - f.log(special.i0e(k))

    def cdf(self, x: Any) -> Tensor:
        """The probability of the angles from -π to x."""
        x = f.clip(self._value(x), -math.pi, math.pi)
        return von_mises_between(-math.pi - self.loc, x - self.loc, self.concentration)

    def sf(self, x: Any) -> Tensor:
        x = f.clip(self._value(x), -math.pi, math.pi)
        return von_mises_between(x - self.loc, math.pi - self.loc, self.concentration)

    def icdf(self, p: Any) -> Tensor:
        """By bisection, written out: a loop of so large a body would be compiled for long."""
        p = self._value(p)
        shape = np.broadcast_shapes(p.shape, self.batch_shape)
        wanted = f.broadcast_to(p, shape)
        target, fixed = stop_gradient((wanted, self))
        low, high = f.full(shape, -math.pi, dtype=p.dtype), f.full(shape, math.pi, dtype=p.dtype)
        for _ in range(50 if p.dtype.dtype.itemsize == 8 else 26):
            middle = (low + high) / 2
            below = fixed.cdf(middle) < target
            low, high = f.where(below, middle, low), f.where(below, high, middle)
        x = determined((low + high) / 2, lambda v: self.cdf(v) - wanted, elementwise=True)
        return f.where((target >= 0) & (target <= 1), x, math.nan)

    def entropy(self) -> Tensor:
        k = self.concentration
        ratio = special.i1e(k) / special.i0e(k)
        return f.broadcast_to(math.log(2 * math.pi) + f.log(special.i0e(k)) + k * (1 - ratio), self.batch_shape)

    @property
    def mean(self) -> Tensor:
        """The mean direction."""
        return f.broadcast_to(self.loc, self.batch_shape)

    @property
    def variance(self) -> Tensor:
        """The circular variance."""
        k = self.concentration
        return f.broadcast_to(1 - special.i1e(k) / special.i0e(k), self.batch_shape)

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.von_mises(self.loc, self.concentration, shape, key=key)
