"""Distributions of real numbers. Most are the core's, with PyTorch's names, arguments, supports and modes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from adjoint import stats
from adjoint.tensors.located import at_user

from . import constraints
from ._base import Computed, Distribution, ExponentialFamily, broadcast_all
from ._program import torch

__all__ = [
    "Beta", "Cauchy", "Chi2", "Exponential", "Gamma", "Gumbel", "HalfCauchy", "HalfNormal", "InverseGamma", "Laplace",
    "LogNormal", "Normal", "StudentT", "Uniform", "VonMises", "Weibull",
]  # fmt: skip

REAL: Any = constraints.real
POSITIVE: Any = constraints.positive
NONNEGATIVE: Any = constraints.nonnegative


class _Numbers(Computed):
    """A distribution of numbers whose parameters all broadcast against each other."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The parameters."""

    def _set(self, validate_args: Any, **given: Any) -> None:
        for name, value in zip(given, broadcast_all(*given.values()), strict=True):
            setattr(self, name, value)
        Distribution.__init__(self, getattr(self, next(iter(given))).shape, (), validate_args)


class _LocationScale(_Numbers):
    names, parameters = ("loc", "scale"), {"loc": 0, "scale": 0}
    arg_constraints = {"loc": REAL, "scale": POSITIVE}
    support, has_rsample = REAL, True

    def __init__(self, loc: Any, scale: Any, validate_args: Any = None) -> None:
        self._set(validate_args, loc=loc, scale=scale)

    @property
    def mode(self) -> Any:
        """The location."""
        return self.loc


class Normal(_LocationScale, ExponentialFamily):
    """The normal distribution of a mean and a standard deviation.

    >>> import adjoint.torch as torch
    >>> d = torch.distributions.Normal(0.0, torch.tensor([1.0, 2.0]))
    >>> d.batch_shape, d.log_prob(torch.tensor(0.0))
    (torch.Size([2]), tensor([-0.9189, -1.6121]))
    """

    core = stats.Normal


class Laplace(_LocationScale):
    """The Laplace distribution of a location and a scale."""

    core = stats.Laplace


class Cauchy(_LocationScale):
    """The Cauchy distribution of a location and a scale."""

    core = stats.Cauchy

    @property
    def variance(self) -> Any:
        """Infinite."""
        return torch.full_like(self.loc, math.inf)


class Gumbel(_LocationScale):
    """The Gumbel distribution of largest values."""

    core = stats.Gumbel


class LogNormal(_LocationScale):
    """The distribution of the exponential of a normal variate."""

    core, support = stats.LogNormal, POSITIVE

    @property
    def mode(self) -> Any:
        """exp(loc - scale²)."""
        return (self.loc - self.scale.square()).exp()


class _Scale(_Numbers):
    names, parameters = ("scale",), {"scale": 0}
    arg_constraints = {"scale": POSITIVE}
    support, has_rsample = NONNEGATIVE, True

    def __init__(self, scale: Any, validate_args: Any = None) -> None:
        self._set(validate_args, scale=scale)

    @property
    def mode(self) -> Any:
        """0."""
        return torch.zeros_like(self.scale)


class HalfNormal(_Scale):
    """The distribution of the modulus of a normal variate of mean 0."""

    core = stats.HalfNormal


class HalfCauchy(_Scale):
    """The distribution of the modulus of a Cauchy variate around 0."""

    def _whole_line(self) -> Any:
        return Cauchy(torch.zeros_like(self.scale), self.scale, validate_args=False)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        value = self._checked(value)
        inner = self._whole_line().log_prob(value) + math.log(2)
        return torch.where(value >= 0, inner, -math.inf)

    def cdf(self, value: Any) -> Any:
        """The probability of at most this value."""
        return 2 * self._whole_line().cdf(self._checked(value)) - 1

    def icdf(self, prob: Any) -> Any:
        """The value whose cdf this is."""
        return self._whole_line().icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        """log(2π scale)."""
        return self._whole_line().entropy() - math.log(2)

    def _draw(self, sample_shape: Any) -> Any:
        return self._whole_line()._draw(sample_shape).abs()

    @property
    def mean(self) -> Any:
        """Infinite."""
        return torch.full_like(self.scale, math.inf)

    @property
    def variance(self) -> Any:
        """Infinite."""
        return self.mean


class StudentT(_Numbers):
    """Student's t distribution of `df` degrees of freedom."""

    core, names, parameters = stats.StudentT, ("df", "loc", "scale"), {"df": 0, "loc": 0, "scale": 0}
    arg_constraints = {"df": POSITIVE, "loc": REAL, "scale": POSITIVE}
    support, has_rsample = REAL, True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: Any = None) -> None:
        self._set(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mode(self) -> Any:
        """The location."""
        return self.loc


class _ConcentrationRate(_Numbers):
    names, parameters = ("concentration", "rate"), {"concentration": 0, "rate": 0}
    arg_constraints = {"concentration": POSITIVE, "rate": POSITIVE}
    support, has_rsample = NONNEGATIVE, True

    def __init__(self, concentration: Any, rate: Any, validate_args: Any = None) -> None:
        self._set(validate_args, concentration=concentration, rate=rate)


class Gamma(_ConcentrationRate, ExponentialFamily):
    """The gamma distribution of a concentration and a rate."""

    core = stats.Gamma

    @property
    def mode(self) -> Any:
        """(concentration - 1) / rate, at least 0."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)


class InverseGamma(_ConcentrationRate):
    """The distribution of 1/x for a gamma variate x."""

    core, support = stats.InverseGamma, POSITIVE

    @property
    def mode(self) -> Any:
        """rate / (concentration + 1)."""
        return self.rate / (self.concentration + 1)


class Chi2(Gamma):
    """The chi-squared distribution of `df` degrees of freedom."""

    arg_constraints = {"df": POSITIVE}

    def __init__(self, df: Any, validate_args: Any = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args)

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2


class Exponential(_Numbers, ExponentialFamily):
    """The exponential distribution of a rate."""

    core, names, parameters = stats.Exponential, ("rate",), {"rate": 0}
    arg_constraints = {"rate": POSITIVE}
    support, has_rsample = NONNEGATIVE, True

    def __init__(self, rate: Any, validate_args: Any = None) -> None:
        self._set(validate_args, rate=rate)

    @property
    def mode(self) -> Any:
        """0."""
        return torch.zeros_like(self.rate)


class Beta(_Numbers, ExponentialFamily):
    """The beta distribution of two concentrations, of successes and of failures."""

    core, names = stats.Beta, ("concentration1", "concentration0")
    parameters = {"concentration1": 0, "concentration0": 0}
    arg_constraints = {"concentration1": POSITIVE, "concentration0": POSITIVE}
    support, has_rsample = constraints.unit_interval, True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: Any = None) -> None:
        self._set(validate_args, concentration1=concentration1, concentration0=concentration0)

    @property
    def mode(self) -> Any:
        """(a - 1) / (a + b - 2), with 0 for what is negative; 1 where both concentrations are below 1."""
        a, b = self.concentration1, self.concentration0
        above, below = (a - 1).clamp(min=0), (b - 1).clamp(min=0)
        return torch.where((a < 1) & (b < 1), 1.0, above / (above + below))


class Weibull(_Numbers):
    """The Weibull distribution of a scale and a concentration."""

    core, names, parameters = stats.Weibull, ("scale", "concentration"), {"scale": 0, "concentration": 0}
    arg_constraints = {"scale": POSITIVE, "concentration": POSITIVE}
    support, has_rsample = POSITIVE, True

    def __init__(self, scale: Any, concentration: Any, validate_args: Any = None) -> None:
        self._set(validate_args, scale=scale, concentration=concentration)

    @property
    def mode(self) -> Any:
        """scale ((k - 1) / k)^(1/k) for a concentration k."""
        k = self.concentration
        return self.scale * ((k - 1) / k) ** (1 / k)


class Uniform(_Numbers):
    """The uniform distribution on [low, high)."""

    core, names, parameters = stats.Uniform, ("low", "high"), {"low": 0, "high": 0}
    arg_constraints = {"low": constraints.dependent, "high": constraints.dependent}
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: Any = None) -> None:
        self._set(validate_args, low=low, high=high)
        if self._validate and not bool((self.low < self.high).detach().all()):
            raise ValueError(f"Uniform: low must be below high{at_user()}")

    @property
    def support(self) -> Any:
        """From low to high."""
        return constraints.interval(self.low, self.high)

    def log_prob(self, value: Any) -> Any:
        """-log(high - low), and -inf outside of [low, high)."""
        value = self._checked(value)
        return torch.where((self.low <= value) & (value < self.high), -(self.high - self.low).log(), -math.inf)

    @property
    def mode(self) -> Any:
        """NaN: no value is more probable than others."""
        return math.nan * self.high


class VonMises(_Numbers):
    """The von Mises distribution of angles; `variance` is the circular one."""

    core, names, parameters = stats.VonMises, ("loc", "concentration"), {"loc": 0, "concentration": 0}
    arg_constraints = {"loc": REAL, "concentration": POSITIVE}
    support = REAL

    def __init__(self, loc: Any, concentration: Any, validate_args: Any = None) -> None:
        self._set(validate_args, loc=loc, concentration=concentration)

    @property
    def mode(self) -> Any:
        """The mean direction."""
        return self.loc


# Made of others ----------------------------------------------------------------------------------------------------------
