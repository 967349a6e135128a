"""Distributions of real numbers that the core hasn't, by their formulas."""

from __future__ import annotations

import math
from typing import Any

from adjoint.tensors.located import at_user

from . import constraints
from ._base import Distribution, ExponentialFamily, broadcast_all
from ._numbers import Gamma, _Numbers
from ._program import torch

__all__ = [
    "ContinuousBernoulli", "FisherSnedecor", "GeneralizedPareto", "Kumaraswamy", "Pareto",
]  # fmt: skip

REAL: Any = constraints.real
POSITIVE: Any = constraints.positive
NONNEGATIVE: Any = constraints.nonnegative


class _Formulas(_Numbers):
    """A distribution of numbers with formulas of its own; draws are its icdf of uniform numbers."""

    has_rsample = True

    def _uniform(self, sample_shape: Any) -> Any:
        like = getattr(self, next(iter(self.parameters)))
        tiny = torch.finfo(like.dtype).tiny
        return torch.rand(self._extended_shape(sample_shape), dtype=like.dtype).clamp(tiny, 1 - 2**-24)

    def _draw(self, sample_shape: Any) -> Any:
        return self.icdf(self._uniform(sample_shape))

    def _ask(self, what: str, value: Any = None) -> Any:
        raise self._missing(what)


class Pareto(_Formulas):
    """The Pareto distribution of a least value, the scale, and an exponent alpha."""

    parameters = {"scale": 0, "alpha": 0}
    arg_constraints = {"alpha": POSITIVE, "scale": POSITIVE}

    def __init__(self, scale: Any, alpha: Any, validate_args: Any = None) -> None:
        self._set(validate_args, scale=scale, alpha=alpha)

    @property
    def support(self) -> Any:
        """From the scale on."""
        return constraints.greater_than_eq(self.scale)

    def log_prob(self, value: Any) -> Any:
        """log(alpha) + alpha log(scale) - (alpha + 1) log(value)."""
        value = self._checked(value)
        return self.alpha.log() + self.alpha * self.scale.log() - (self.alpha + 1) * value.log()

    def cdf(self, value: Any) -> Any:
        """1 - (scale / value)^alpha."""
        return 1 - (self.scale / self._checked(value)) ** self.alpha

    def icdf(self, value: Any) -> Any:
        """The value whose cdf this is."""
        return self.scale * torch.exp(-torch.log1p(-value) / self.alpha)

    def entropy(self) -> Any:
        """log(scale / alpha) + 1 + 1 / alpha."""
        return (self.scale / self.alpha).log() + 1 + 1 / self.alpha

    @property
    def mean(self) -> Any:
        """Infinite for an alpha of at most 1."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Any:
        """The scale."""
        return self.scale

    @property
    def variance(self) -> Any:
        """Infinite for an alpha of at most 2."""
        a = self.alpha.clamp(min=2)
        return self.scale.square() * a / ((a - 1).square() * (a - 2))


class GeneralizedPareto(_Formulas):
    """The generalized Pareto distribution of exceedances: (1 + k z)^(-1/k) is the probability above z = (x - loc) / scale."""

    parameters = {"loc": 0, "scale": 0, "concentration": 0}
    arg_constraints = {"loc": REAL, "scale": POSITIVE, "concentration": REAL}

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: Any = None) -> None:
        self._set(validate_args, loc=loc, scale=scale, concentration=concentration)

    @property
    def support(self) -> Any:
        """From loc on, and for a negative concentration k up to loc - scale / k."""
        k = self.concentration
        end = torch.where(k < 0, self.loc - self.scale / torch.where(k < 0, k, -1.0), math.inf)
        return constraints.interval(self.loc, end)

    def _exponent(self, z: Any) -> Any:
        """log(1 + k z) / k. Near k = 0, where that is 0 / 0, it is its series, so that derivatives by k hold there as well."""
        k = self.concentration
        near = ((k * z).abs() < 1e-4) | (k == 0)
        x = torch.where(near & (z < math.inf), k * z, 0.0)
        series = z * (1 - x * (1 / 2 - x * (1 / 3 - x * (1 / 4 - x / 5))))
        safe = torch.where(near, 1.0, k)
        return torch.where(near, series, torch.log1p(safe * torch.where(near, 1.0, z)) / safe)

    def log_prob(self, value: Any) -> Any:
        """-(1 + 1/k) log(1 + k z) - log(scale)."""
        z = (self._checked(value) - self.loc) / self.scale
        return -(1 + self.concentration) * self._exponent(z) - self.scale.log()

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the probability of more than this value."""
        z = (self._checked(value) - self.loc) / self.scale
        return -self._exponent(z)

    def _stretched(self, e: Any) -> Any:
        """(exp(k e) - 1) / k, the inverse."""
        k = self.concentration
        near = ((k * e).abs() < 1e-4) | (k == 0)
        x = torch.where(near & (e < math.inf), k * e, 0.0)
        series = e * (1 + x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5))))
        safe = torch.where(near, 1.0, k)
        return torch.where(near, series, torch.expm1(safe * torch.where(near, 1.0, e)) / safe)

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of the cdf."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        """The probability of at most this value."""
        return 1 - torch.exp(self.log_survival_function(value))

    def icdf(self, value: Any) -> Any:
        """The value whose cdf this is."""
        return self.loc + self.scale * self._stretched(-torch.log1p(-value))

    def entropy(self) -> Any:
        """log(scale) + k + 1."""
        return self.scale.log() + self.concentration + 1

    @property
    def mean(self) -> Any:
        """loc + scale / (1 - k), NaN for k of at least 1."""
        k = self.concentration
        return torch.where(k < 1, self.loc + self.scale / torch.where(k < 1, 1 - k, 1.0), math.nan)

    @property
    def mode(self) -> Any:
        """The least value."""
        return self.loc

    @property
    def variance(self) -> Any:
        """scale² / ((1 - k)² (1 - 2k)), NaN for k of at least 1/2."""
        k = torch.where(self.concentration < 0.5, self.concentration, 0.0)
        found = self.scale.square() / ((1 - k).square() * (1 - 2 * k))
        return torch.where(self.concentration < 0.5, found, math.nan)


class Kumaraswamy(_Formulas):
    """The Kumaraswamy distribution on (0, 1): 1 - (1 - x^a)^b is its cdf."""

    parameters = {"concentration1": 0, "concentration0": 0}
    arg_constraints = {"concentration1": POSITIVE, "concentration0": POSITIVE}
    support = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: Any = None) -> None:
        self._set(validate_args, concentration1=concentration1, concentration0=concentration0)

    def log_prob(self, value: Any) -> Any:
        """log(a b) + (a - 1) log(x) + (b - 1) log(1 - x^a)."""
        value = self._checked(value)
        a, b = self.concentration1, self.concentration0
        return (a * b).log() + (a - 1) * value.log() + (b - 1) * torch.log1p(-(value**a))

    def cdf(self, value: Any) -> Any:
        """The probability of at most this value."""
        inner = torch.log1p(-(self._checked(value) ** self.concentration1))
        return -torch.expm1(self.concentration0 * inner)

    def icdf(self, value: Any) -> Any:
        """The value whose cdf this is."""
        found = (-torch.expm1(torch.log1p(-value) / self.concentration0)) ** (1 / self.concentration1)
        return found - torch.sqrt(torch.where((value == 1) & (self.concentration0 > 1), 1 - value, 0.0))  # steep at 1

    def _moment(self, n: int) -> Any:
        b, place = self.concentration0, 1 + n / self.concentration1
        return torch.exp(torch.lgamma(place) + torch.lgamma(b) - torch.lgamma(place + b)) * b

    @property
    def mean(self) -> Any:
        """b B(1 + 1/a, b)."""
        return self._moment(1)

    @property
    def variance(self) -> Any:
        """The second moment without the square of the first."""
        return self._moment(2) - self._moment(1).square()

    @property
    def mode(self) -> Any:
        """((a - 1) / (a b - 1))^(1/a), NaN where a or b is below 1."""
        a, b = self.concentration1, self.concentration0
        inner = torch.exp((torch.log1p(-1 / a.clamp(min=1)) - torch.log(b - 1 / a).nan_to_num(0)) / a)
        return torch.where((a < 1) | (b < 1), math.nan, inner)

    def entropy(self) -> Any:
        """(1 - 1/b) + (1 - 1/a) H(b) - log(a b), with the harmonic number H."""
        a, b = self.concentration1, self.concentration0
        harmonic = torch.digamma(b + 1) + 0.5772156649015329
        return (1 - 1 / b) + (1 - 1 / a) * harmonic - a.log() - b.log()


class FisherSnedecor(_Formulas):
    """The F distribution: the ratio of two chi-squared variates, each over its degrees of freedom."""

    parameters = {"df1": 0, "df2": 0}
    arg_constraints = {"df1": POSITIVE, "df2": POSITIVE}
    support = POSITIVE

    def __init__(self, df1: Any, df2: Any, validate_args: Any = None) -> None:
        self._set(validate_args, df1=df1, df2=df2)

    def _draw(self, sample_shape: Any) -> Any:
        shape = self._extended_shape(sample_shape)
        above, below = (
            Gamma(df.expand(self.batch_shape) * 0.5, df.expand(self.batch_shape), validate_args=False)
            for df in (self.df1, self.df2)
        )
        tiny = torch.finfo(self.df2.dtype).tiny
        return (above._draw(sample_shape) / below._draw(sample_shape).clamp(min=tiny)).reshape(shape)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        value = self._checked(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        norm = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return norm + a * ratio.log() + (a - 1) * value.log() - (a + b) * torch.log1p(ratio * value)

    @property
    def mean(self) -> Any:
        """df2 / (df2 - 2), NaN for a df2 of at most 2."""
        wide = torch.where(self.df2 > 2, self.df2, math.nan)
        return wide / (wide - 2)

    @property
    def mode(self) -> Any:
        """(df1 - 2) / df1 · df2 / (df2 + 2), NaN for a df1 of at most 2."""
        return torch.where(self.df1 > 2, (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2), math.nan)

    @property
    def variance(self) -> Any:
        """NaN for a df2 of at most 4."""
        wide = torch.where(self.df2 > 4, self.df2, math.nan)
        return 2 * wide.square() * (self.df1 + wide - 2) / (self.df1 * (wide - 2).square() * (wide - 4))


class ContinuousBernoulli(_Formulas, ExponentialFamily):
    """The density on [0, 1] that is proportional to p^x (1 - p)^(1 - x) (G. Loaiza-Ganem and J. Cunningham, 2019).

    Where `probs` lies within `lims`, around 1/2, formulas that would divide by nearly 0 are Taylor polynomials.
    """

    parameters = {"_given": 0}
    arg_constraints = {"probs": constraints.unit_interval, "logits": REAL}
    support = constraints.unit_interval

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: Any = (0.499, 0.501), validate_args: Any = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError(f"ContinuousBernoulli: give either probs or logits, not both{at_user()}")
        (self._given,) = broadcast_all(probs if logits is None else logits)
        self._by_probs, self._lims = logits is None, lims
        self._derived = ("logits",) if self._by_probs else ("probs",)
        Distribution.__init__(self, self._given.shape, (), validate_args)
        if self._by_probs:
            eps = torch.finfo(self._given.dtype).eps
            self._given = self._given.clamp(eps, 1 - eps)

    @property
    def probs(self) -> Any:
        """The parameter."""
        return self._given if self._by_probs else torch.sigmoid(self._given)

    @property
    def logits(self) -> Any:
        """Its logit."""
        return self._given.log() - torch.log1p(-self._given) if self._by_probs else self._given

    def _away(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _split(self) -> tuple[Any, Any, Any]:
        """Where probs is away from 1/2; probs there, and a stand-in elsewhere; and its distance from 1/2."""
        away = self._away()
        return away, torch.where(away, self.probs, self._lims[0]), self.probs - 0.5

    def _log_norm(self) -> Any:
        away, p, x = self._split()
        low, high = p.clamp(max=0.5), p.clamp(min=0.5)
        gap = torch.where(p <= 0.5, torch.log1p(-2 * low), torch.log(2 * high - 1))
        outside = torch.log((torch.log1p(-p) - p.log()).abs()) - gap
        series = math.log(2.0) + (4 / 3 + 104 / 45 * x.square()) * x.square()
        return torch.where(away, outside, series)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        value = self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        plain = -torch.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return plain + self._log_norm()

    def cdf(self, value: Any) -> Any:
        """The probability of at most this value."""
        value = self._checked(value)
        away, p, _ = self._split()
        inner = (p**value * (1 - p) ** (1 - value) + p - 1) / (2 * p - 1)
        found = torch.where(away, inner, value)
        return torch.where(value <= 0, 0.0, torch.where(value >= 1, 1.0, found))

    def icdf(self, value: Any) -> Any:
        """The value whose cdf this is."""
        away, p, _ = self._split()
        inner = (torch.log1p(-p + value * (2 * p - 1)) - torch.log1p(-p)) / (p.log() - torch.log1p(-p))
        return torch.where(away, inner, value)

    @property
    def mean(self) -> Any:
        """The expectation."""
        away, p, x = self._split()
        inner = p / (2 * p - 1) + 1 / (torch.log1p(-p) - p.log())
        return torch.where(away, inner, 0.5 + (1 / 3 + 16 / 45 * x.square()) * x)

    @property
    def variance(self) -> Any:
        """The variance."""
        away, p, x = self._split()
        inner = p * (p - 1) / (1 - 2 * p).square() + 1 / (torch.log1p(-p) - p.log()).square()
        x = x.square()
        return torch.where(away, inner, 1 / 12 - (1 / 15 - 128 / 945 * x) * x)

    def entropy(self) -> Any:
        """The expectation of -log_prob."""
        low = torch.log1p(-self.probs)
        return self.mean * (low - self.probs.log()) - self._log_norm() - low
