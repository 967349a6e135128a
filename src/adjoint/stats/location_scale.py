"""Distributions of real numbers that are moved and scaled ones of a standard form. Sources as in `continuous`."""

from __future__ import annotations

import math
from typing import Any


import adjoint.tensors.functions as f
from adjoint import special
from adjoint.random import source
from adjoint.stats import draws
from adjoint.stats.base import Distribution, beyond, inside, steep
from adjoint.tensors.tensor import Tensor

__all__ = ["EULER", "HALF_LOG_2PI", "POSITIVE", "Cauchy", "Gumbel", "Laplace", "LogNormal", "Logistic", "Normal"]

EULER = 0.5772156649015329
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
POSITIVE = (0.0, math.inf)


class _LocationScale(Distribution):
    names = ("loc", "scale")
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0) -> None:
        self._set("real", "positive", loc=loc, scale=scale)

    def _standard(self, x: Any) -> Tensor:
        return (self._value(x) - self.loc) / self.scale

    def _whole(self, x: Tensor) -> Tensor:
        """A number for each distribution of the batch."""
        return f.broadcast_to(x, self.batch_shape)


class _Symmetric(_LocationScale):
    """Symmetric around loc: the upper tail is the lower one, mirrored."""

    def sf(self, x: Any) -> Tensor:
        return self.cdf(2 * self.loc - self._value(x))

    def isf(self, p: Any) -> Tensor:
        return 2 * self.loc - self.icdf(p)


def _away(z: Tensor) -> Tensor:
    """The absolute value, whose derivative at 0 is that of the upper side: a cdf's there is the density."""
    return f.where(z < 0, -z, z)


class Normal(_Symmetric):
    """The normal distribution of mean `loc` and standard deviation `scale`.

    >>> import adjoint as ad
    >>> ad.stats.Normal(0.0, 1.0).log_prob(0.0)
    Tensor(-0.9189)
    """

    def log_prob(self, x: Any) -> Tensor:
        z = self._standard(x)
        return -z * z / 2 - f.log(self.scale) - HALF_LOG_2PI

    def cdf(self, x: Any) -> Tensor:
        return special.ndtr(self._standard(x))

    def icdf(self, p: Any) -> Tensor:
        return self.loc + self.scale * special.ndtri(self._value(p))

    def entropy(self) -> Tensor:
        return self._whole(f.log(self.scale) + HALF_LOG_2PI + 0.5)

    @property
    def mean(self) -> Tensor:
        return self._whole(self.loc)

    @property
    def variance(self) -> Tensor:
        return self._whole(self.scale**2)

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return self.loc + self.scale * source(key).normal(shape, dtype=self.dtype)


class LogNormal(_LocationScale):
    """The distribution of eˣ for a normal x of mean `loc` and standard deviation `scale`.

    >>> import adjoint as ad
    >>> ad.stats.LogNormal(0.0, 1.0).mean
    Tensor(1.6487)
    """

    support = POSITIVE

    def _normal(self) -> Normal:
        return Normal(self.loc, self.scale)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        safe = f.where(x > 0, x, 1.0)
        return inside(x > 0, self._normal().log_prob(f.log(safe)) - f.log(safe), x)

    def cdf(self, x: Any) -> Tensor:
        x = self._value(x)
        return f.where(x > 0, self._normal().cdf(f.log(f.where(x > 0, x, 1.0))), beyond(x, 0.0))

    def sf(self, x: Any) -> Tensor:
        x = self._value(x)
        return f.where(x > 0, self._normal().sf(f.log(f.where(x > 0, x, 1.0))), beyond(x, 1.0))

    def isf(self, p: Any) -> Tensor:
        p = self._value(p)
        return f.exp(self._normal().isf(p)) - steep(p)

    def icdf(self, p: Any) -> Tensor:
        p = self._value(p)
        return f.exp(self._normal().icdf(p)) + steep(p)

    def entropy(self) -> Tensor:
        return self._normal().entropy() + self.loc

    @property
    def mean(self) -> Tensor:
        return f.exp(self.loc + self.scale**2 / 2)

    @property
    def variance(self) -> Tensor:
        return f.expm1(self.scale**2) * f.exp(2 * self.loc + self.scale**2)

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return f.exp(self._normal()._draw(shape, key))


class Laplace(_Symmetric):
    """The Laplace distribution, whose density falls as exp(-|x - loc|/scale).

    >>> import adjoint as ad
    >>> ad.stats.Laplace(0.0, 1.0).variance
    Tensor(2.)
    """

    def log_prob(self, x: Any) -> Tensor:
        return -abs(self._standard(x)) - f.log(2 * self.scale)

    def cdf(self, x: Any) -> Tensor:
        z = self._standard(x)
        tail = 0.5 * f.exp(-_away(z))  # exact for small probabilities, where 0.5 - 0.5 (1 - e^z) isn't
        return f.where(z < 0, tail, 1 - tail)

    def icdf(self, p: Any) -> Tensor:
        p = self._value(p)
        low = f.log(2 * f.where(p < 0.5, p, 0.5))
        high = -f.log(2 * f.where(p < 0.5, 0.5, 1 - p))
        return self.loc + self.scale * (low + high)

    def entropy(self) -> Tensor:
        return self._whole(1 + f.log(2 * self.scale))

    @property
    def mean(self) -> Tensor:
        return self._whole(self.loc)

    @property
    def variance(self) -> Tensor:
        return self._whole(2 * self.scale**2)

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.laplace(self.loc, self.scale, shape, key=key)


class Logistic(_Symmetric):
    """The logistic distribution, whose cdf is the sigmoid of (x - loc)/scale.

    >>> import adjoint as ad
    >>> ad.stats.Logistic(0.0, 1.0).cdf(0.0)
    Tensor(0.5)
    """

    def log_prob(self, x: Any) -> Tensor:
        z = abs(self._standard(x))
        return -z - 2 * f.log1p(f.exp(-z)) - f.log(self.scale)

    def cdf(self, x: Any) -> Tensor:
        return f.sigmoid(self._standard(x))

    def icdf(self, p: Any) -> Tensor:
        return self.loc + self.scale * special.logit(self._value(p))

    def entropy(self) -> Tensor:
        return self._whole(f.log(self.scale) + 2)

    @property
    def mean(self) -> Tensor:
        return self._whole(self.loc)

    @property
    def variance(self) -> Tensor:
        return self._whole(self.scale**2 * (math.pi**2 / 3))

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.logistic(self.loc, self.scale, shape, key=key)


class Cauchy(_Symmetric):
    """The Cauchy distribution: no mean, no variance (NaN).

    >>> import adjoint as ad
    >>> ad.stats.Cauchy(0.0, 1.0).icdf(0.75)
    Tensor(1.)
    """

    def log_prob(self, x: Any) -> Tensor:
        return -2 * f.log(f.hypot(1.0, self._standard(x))) - f.log(math.pi * self.scale)

    def cdf(self, x: Any) -> Tensor:
        z = self._standard(x)
        tail = f.atan2(1.0, _away(z)) / math.pi  # exact for small probabilities
        return f.where(z < 0, tail, 1 - tail)

    def icdf(self, p: Any) -> Tensor:
        p = self._value(p)
        inner = f.where((p > 0) & (p < 1), p, 0.5)
        tail = f.minimum(inner, 1 - inner)
        away = f.sign(inner - 0.5) / f.tan(math.pi * f.where(tail == 0.5, 0.25, tail))
        near = f.tan(math.pi * (inner - 0.5))
        ends = f.where(p == 0, -math.inf, f.where(p == 1, math.inf, math.nan))
        standard = f.where(tail < 0.25, away, near)
        return self.loc + self.scale * (f.where((p > 0) & (p < 1), standard, ends) + steep(p))

    def entropy(self) -> Tensor:
        return self._whole(f.log(4 * math.pi * self.scale))

    @property
    def mean(self) -> Tensor:
        return f.full(self.batch_shape, math.nan, dtype=self.dtype)

    @property
    def variance(self) -> Tensor:
        return self.mean

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.cauchy(self.loc, self.scale, shape, key=key)


class Gumbel(_LocationScale):
    """The Gumbel distribution of largest values.

    >>> import adjoint as ad
    >>> ad.stats.Gumbel(0.0, 1.0).mean
    Tensor(0.5772)
    """

    def log_prob(self, x: Any) -> Tensor:
        z = self._standard(x)
        safe = f.where(z > -math.inf, z, 0.0)
        return inside(z > -math.inf, -safe - f.exp(-safe) - f.log(self.scale), z)

    def cdf(self, x: Any) -> Tensor:
        return f.exp(-f.exp(-self._standard(x)))

    def icdf(self, p: Any) -> Tensor:
        p = self._value(p)
        return self.loc - self.scale * (f.log(0.0 - f.log(p)) - steep(p, high=False))

    def sf(self, x: Any) -> Tensor:
        return -f.expm1(-f.exp(-self._standard(x)))

    def isf(self, p: Any) -> Tensor:
        p = self._value(p)
        return self.loc - self.scale * (f.log(0.0 - f.log1p(-p)) + steep(p, low=False))

    def entropy(self) -> Tensor:
        return self._whole(f.log(self.scale) + 1 + EULER)

    @property
    def mean(self) -> Tensor:
        return self.loc + EULER * self.scale

    @property
    def variance(self) -> Tensor:
        return self._whole(self.scale**2 * (math.pi**2 / 6))

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.gumbel(self.loc, self.scale, shape, key=key)
