"""Distributions of counts and classes: the core's, with PyTorch's names, supports and dtypes."""

from __future__ import annotations

import math
from typing import Any

from adjoint import stats
from adjoint.tensors.located import at_user

from .._tensor import as_torch
from . import constraints
from ._base import Computed, Distribution, ExponentialFamily, broadcast_all
from ._program import torch

__all__ = [
    "Bernoulli", "Binomial", "Categorical", "Geometric", "Multinomial", "NegativeBinomial", "OneHotCategorical",
    "OneHotCategoricalStraightThrough", "Poisson",
]  # fmt: skip


def clamped(probs: Any) -> Any:
    """Probabilities, away from 0 and 1 by the dtype's spacing at 1."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


def one_of(name: str, probs: Any, logits: Any) -> None:
    """Raise unless one of both is given."""
    if (probs is None) == (logits is None):
        raise ValueError(f"{name}: either probs or logits must be given, not both{at_user()}")


class _ByProbability(Computed):
    """With `probs` or `logits`: the other one is worked out. Logits of probabilities are finite, as PyTorch's are."""

    names: tuple[str, ...] = ("logits",)
    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}

    def _choose(self, probs: Any, logits: Any, validate_args: Any, **others: Any) -> None:
        one_of(type(self).__name__, probs, logits)
        *tensors, given = broadcast_all(*others.values(), probs if logits is None else logits)
        for name, value in zip(others, tensors, strict=True):
            setattr(self, name, value.to(given.dtype))
        self._derived = ("logits",) if logits is None else ("probs",)
        setattr(self, "probs" if logits is None else "logits", given)
        self.parameters = dict.fromkeys((*others, "probs" if logits is None else "logits"), 0)
        Distribution.__init__(self, given.shape, (), validate_args)

    def __getattr__(self, name: str) -> Any:
        if name == "logits" and "probs" in self.__dict__:
            p = clamped(self.probs)
            return p.log() - torch.log1p(-p)
        if name == "probs" and "logits" in self.__dict__:
            return torch.sigmoid(self.logits)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def param_shape(self) -> Any:
        """The shape of probs, or logits."""
        return self._batch_shape

    @property
    def mean(self) -> Any:
        """The expectation."""
        return self.probs

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.probs * (1 - self.probs)


class Bernoulli(_ByProbability, ExponentialFamily):
    """1 with probability `probs`, else 0."""

    core, support, has_enumerate_support = stats.Bernoulli, constraints.boolean, True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self._choose(probs, logits, validate_args)

    def _draw(self, sample_shape: Any) -> Any:
        shape = self._extended_shape(sample_shape)
        return torch.bernoulli(self.probs.expand(shape))

    def entropy(self) -> Any:
        """The expectation of -log_prob."""
        return torch.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    @property
    def mode(self) -> Any:
        """The likelier value, NaN where both are equally likely."""
        p = self.probs
        return torch.where(p == 0.5, math.nan, (p >= 0.5).to(p.dtype))

    def enumerate_support(self, expand: bool = True) -> Any:
        """0 and 1."""
        return enumerated(2, self.probs.dtype, self._batch_shape, expand)


def enumerated(n: int, dtype: Any, batch_shape: Any, expand: bool) -> Any:
    """The numbers below n, along a first axis before those of the batch."""
    values = torch.arange(n, dtype=dtype).view((-1, *(1,) * len(batch_shape)))
    return values.expand((-1, *batch_shape)) if expand else values


class Geometric(_ByProbability):
    """The number of failures before the first success."""

    core, support = stats.Geometric, constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self._choose(probs, logits, validate_args)
        if self._validate and probs is not None and not bool((self.probs > 0).detach().all()):
            raise ValueError(f"Geometric: probs must be above 0{at_user()}")

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of so many failures; by probs that were given, and not by logits, which are finite."""
        if "probs" not in self.__dict__:
            return super().log_prob(value)
        probs, value = broadcast_all(self.probs, self._checked(value))
        return value * torch.log1p(-torch.where(value == 0, 0.0, probs)) + probs.log()

    @property
    def mean(self) -> Any:
        """1 / probs - 1."""
        return 1 / self.probs - 1

    @property
    def mode(self) -> Any:
        """0."""
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        """(1 / probs - 1) / probs."""
        return (1 / self.probs - 1) / self.probs


class Binomial(_ByProbability):
    """The number of successes among `total_count` attempts."""

    core, names, has_enumerate_support = stats.Binomial, ("total_count", "logits"), True
    arg_constraints = {"total_count": constraints.nonnegative_integer, **_ByProbability.arg_constraints}

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self._choose(probs, logits, validate_args, total_count=total_count)

    @property
    def support(self) -> Any:
        """0 to total_count."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        """total_count · probs."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        """The likeliest count."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        """total_count · probs · (1 - probs)."""
        return self.total_count * self.probs * (1 - self.probs)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All counts. Raises NotImplementedError where the numbers of attempts differ."""
        counts = self.total_count.detach()
        n = int(counts.max())
        if int(counts.min()) != n:
            raise NotImplementedError(f"Binomial: enumerate_support needs one total_count{at_user()}")
        return enumerated(n + 1, self._core().dtype, self._batch_shape, expand)


class NegativeBinomial(_ByProbability):
    """The number of successes before `total_count` failures."""

    core, names, support = stats.NegativeBinomial, ("total_count", "logits"), constraints.nonnegative_integer
    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self._choose(probs, logits, validate_args, total_count=total_count)

    @property
    def mean(self) -> Any:
        """total_count · e^logits."""
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Any:
        """The likeliest count."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        """mean / (1 - probs)."""
        return self.mean / torch.sigmoid(-self.logits)


class Poisson(Computed, ExponentialFamily):
    """The Poisson distribution of a rate."""

    core, names, parameters = stats.Poisson, ("rate",), {"rate": 0}
    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: Any = None) -> None:
        (self.rate,) = broadcast_all(rate)
        Distribution.__init__(self, self.rate.shape, (), validate_args)

    @property
    def mode(self) -> Any:
        """The rate, rounded down."""
        return self.rate.floor()


# Classes ------------------------------------------------------------------------------------------------------------------


class Categorical(Computed):
    """A class 0, 1, ..., by probabilities or logits along the last axis; they are normalised."""

    core, names, has_enumerate_support = stats.Categorical, ("logits",), True
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        one_of("Categorical", probs, logits)
        given = probs if logits is None else logits
        if given.dim() < 1:
            raise ValueError(f"Categorical: probs or logits must have an axis of classes{at_user()}")
        if logits is None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._derived = ("logits",) if logits is None else ("probs",)
        self.parameters = {"probs" if logits is None else "logits": 1}
        self._num_events = given.size(-1)
        Distribution.__init__(self, given.shape[:-1], (), validate_args)

    def __getattr__(self, name: str) -> Any:
        if name == "logits" and "probs" in self.__dict__:
            return torch.log(clamped(self.probs))
        if name == "probs" and "logits" in self.__dict__:
            return torch.softmax(self.logits, -1)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def param_shape(self) -> Any:
        """The shape of probs, or logits."""
        return self.logits.shape

    @property
    def support(self) -> Any:
        """The numbers of the classes."""
        return constraints.integer_interval(0, self._num_events - 1)

    def _draw(self, sample_shape: Any) -> Any:
        return as_torch(self._core()._draw(tuple(self._extended_shape(sample_shape)), None)).to(torch.int64)

    def entropy(self) -> Any:
        """The expectation of -log_prob."""
        least = torch.finfo(self.logits.dtype).min
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)

    @property
    def mean(self) -> Any:
        """NaN: classes are no numbers."""
        return torch.full(self._extended_shape(), math.nan, dtype=self.probs.dtype)

    @property
    def mode(self) -> Any:
        """The likeliest class."""
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Any:
        """NaN."""
        return self.mean

    def enumerate_support(self, expand: bool = True) -> Any:
        """All classes."""
        return enumerated(self._num_events, torch.int64, self._batch_shape, expand)


class _OneAxis(Distribution):
    """Of vectors over the classes of a Categorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _categorical: Categorical

    @property
    def probs(self) -> Any:
        """The probabilities of the classes."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of probs, or logits."""
        return self._categorical.param_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with a larger batch."""
        made = object.__new__(type(self)) if _instance is None else _instance
        made.__dict__.update(self.__dict__)
        made._categorical = self._categorical.expand(batch_shape)
        made._batch_shape = torch.Size(batch_shape)
        return made

    def _wrap(self, probs: Any, logits: Any, validate_args: Any) -> None:
        self._categorical = Categorical(probs, logits, validate_args)
        self._derived = ("probs", "logits")
        shape = self._categorical.param_shape
        Distribution.__init__(self, shape[:-1], shape[-1:], validate_args)


class OneHotCategorical(_OneAxis):
    """A class as a vector with one 1."""

    support, has_enumerate_support = constraints.one_hot, True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self._wrap(probs, logits, validate_args)

    def _hot(self, classes: Any) -> Any:
        return torch.nn.functional.one_hot(classes, self.event_shape[0]).to(self.probs.dtype)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, as constants to every derivative."""
        return self._hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability."""
        return self._categorical.log_prob(self._checked(value).argmax(-1))

    def entropy(self) -> Any:
        """The expectation of -log_prob."""
        return self._categorical.entropy()

    @property
    def mean(self) -> Any:
        """The probabilities."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The likeliest class."""
        return self._hot(self.probs.argmax(dim=-1))

    @property
    def variance(self) -> Any:
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All classes."""
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self.probs.dtype).view((n, *(1,) * len(self.batch_shape), n))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same, with draws whose derivative is that of the probabilities (Y. Bengio et al., 2013)."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that differentiate like the probabilities."""
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(_OneAxis):
    """How often each class comes in `total_count` draws."""

    def __init__(self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError(f"Multinomial: total_count is one int{at_user()}")
        self.total_count = total_count
        self._wrap(probs, logits, validate_args)

    @property
    def support(self) -> Any:
        """Vectors of counts."""
        return constraints.multinomial(self.total_count)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, as constants to every derivative."""
        drawn = self._categorical.sample((self.total_count, *sample_shape))
        hot = torch.nn.functional.one_hot(drawn, self.event_shape[0])
        return hot.sum(0).to(self.probs.dtype)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the probability of counts, whatever their sum is: that of as many draws."""
        value = self._checked(value)
        logits, value = torch.broadcast_tensors(self.logits, value)
        possible = ~((value == 0) & (logits == -math.inf))
        powers = (torch.where(possible, logits, 0.0) * value).sum(-1)
        return torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1) + powers

    def entropy(self) -> Any:
        """The expectation of -log_prob."""
        n = self.total_count
        each = n * self._categorical.entropy() - math.lgamma(n + 1)
        counts = enumerated(n + 1, self.probs.dtype, self.param_shape, expand=False)[1:]
        chances = Binomial(n, self.probs, validate_args=False).log_prob(counts).exp()
        return each + (chances * torch.lgamma(counts + 1)).sum(dim=(0, -1))

    @property
    def mean(self) -> Any:
        """total_count · probs."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        """total_count · probs · (1 - probs)."""
        return self.total_count * self.probs * (1 - self.probs)
