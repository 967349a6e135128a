"""Distributions made of others: independent axes, transformed ones, mixtures, and those with relaxed classes."""

from __future__ import annotations

import math
from typing import Any

from adjoint.tensors.located import at_user

from . import constraints
from ._base import Distribution, broadcast_all
from ._counts import Bernoulli, Categorical, clamped
from ._numbers import Normal
from ._program import torch
from ._transform import ComposeTransform, Transform, summed
from .transforms import ExpTransform, SigmoidTransform, StickBreakingTransform

__all__ = [
    "Independent", "LogisticNormal", "MixtureSameFamily", "RelaxedBernoulli", "RelaxedOneHotCategorical",
    "TransformedDistribution",
]  # fmt: skip


class Independent(Distribution):
    """A distribution whose last axes of the batch are taken as one value: their log densities are added.

    >>> import adjoint.torch as torch
    >>> d = torch.distributions.Independent(torch.distributions.Normal(torch.zeros(3), 1.0), 1)
    >>> d.batch_shape, d.event_shape, d.log_prob(torch.zeros(3))
    (torch.Size([]), torch.Size([3]), tensor(-2.7568))
    """

    def __init__(self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: Any = None) -> None:
        n = reinterpreted_batch_ndims
        if n > len(base_distribution.batch_shape):
            raise ValueError(
                f"Independent: {n} axes of a batch of shape {tuple(base_distribution.batch_shape)}{at_user()}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, n
        shape = base_distribution.batch_shape + base_distribution.event_shape
        cut = len(base_distribution.batch_shape) - n
        Distribution.__init__(self, shape[:cut], shape[cut:], validate_args)

    @property
    def has_rsample(self) -> Any:
        """The base's."""
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> Any:
        """The base's, where no axis is taken."""
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @property
    def support(self) -> Any:
        """The base's, of all parts."""
        n = self.reinterpreted_batch_ndims
        return constraints.independent(self.base_dist.support, n) if n else self.base_dist.support

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with a larger batch."""
        own = self.event_shape[: self.reinterpreted_batch_ndims]
        return Independent(
            self.base_dist.expand((*batch_shape, *own)), self.reinterpreted_batch_ndims, validate_args=False
        )

    def sample(self, sample_shape: Any = ()) -> Any:
        """The base's."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """The base's."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """The base's, summed."""
        return summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        """The base's, summed."""
        return summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        """The base's, where no axis is taken."""
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError(f"Independent: all values of several numbers aren't enumerated{at_user()}")
        return self.base_dist.enumerate_support(expand)

    @property
    def mean(self) -> Any:
        """The base's."""
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        """The base's."""
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        """The base's."""
        return self.base_dist.variance

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The distribution of transforms(x) for x of a base distribution."""

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: Any = None) -> None:
        listed = [transforms] if isinstance(transforms, Transform) else list(transforms)
        for t in listed:
            if not isinstance(t, Transform):
                raise ValueError(
                    f"TransformedDistribution: a transform is a Transform, not {type(t).__name__}{at_user()}"
                )
        self.transforms = listed
        whole = ComposeTransform(listed)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(shape) < whole.domain.event_dim:
            raise ValueError(
                f"TransformedDistribution: the base has {len(shape)} axes, {whole.domain.event_dim} are needed{at_user()}"
            )
        forward = whole.forward_shape(shape)
        grown = whole.inverse_shape(forward)
        if tuple(grown) != tuple(shape):
            base_distribution = base_distribution.expand(grown[: len(grown) - len(base_distribution.event_shape)])
        taken = whole.domain.event_dim - len(base_distribution.event_shape)
        self.base_dist: Any = Independent(base_distribution, taken) if taken > 0 else base_distribution
        change = whole.codomain.event_dim - whole.domain.event_dim
        cut = len(forward) - max(whole.codomain.event_dim, len(self.base_dist.event_shape) + change)
        Distribution.__init__(self, forward[:cut], forward[cut:], validate_args)

    @property
    def has_rsample(self) -> Any:
        """The base's."""
        return self.base_dist.has_rsample

    @property
    def support(self) -> Any:
        """The last codomain."""
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with a larger batch."""
        whole = ComposeTransform(self.transforms)
        shape = whole.inverse_shape((*batch_shape, *self.event_shape))
        base = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return TransformedDistribution(base, self.transforms, validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, as constants to every derivative."""
        with torch.no_grad():
            return self._forward(self.base_dist.sample(sample_shape)).detach()

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that differentiate by the parameters."""
        return self._forward(self.base_dist.rsample(sample_shape))

    def _forward(self, x: Any) -> Any:
        for t in self.transforms:
            x = t(x)
        return x

    def log_prob(self, value: Any) -> Any:
        """The base's, less the logarithms of the slopes."""
        y = self._checked(value)
        axes, total = len(self.event_shape), 0.0
        for t in reversed(self.transforms):
            x = t.inv(y)
            axes += t.domain.event_dim - t.codomain.event_dim
            total = total - summed(t.log_abs_det_jacobian(x, y), axes - t.domain.event_dim)
            y = x
        return total + summed(self.base_dist.log_prob(y), axes - len(self.base_dist.event_shape))

    def _sign(self) -> Any:
        sign: Any = 1
        for t in self.transforms:
            sign = sign * t.sign
        return sign

    def cdf(self, value: Any) -> Any:
        """The probability of at most this value."""
        value = self._checked(value)
        for t in reversed(self.transforms):
            value = t.inv(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        """The value whose cdf this is."""
        return self._forward(self.base_dist.icdf(self._turned(value)))

    def _turned(self, p: Any) -> Any:
        sign = self._sign()
        return p if isinstance(sign, int) and sign == 1 else sign * (p - 0.5) + 0.5

    def __repr__(self) -> str:
        return f"TransformedDistribution({self.base_dist!r}, {self.transforms!r})"


class LogisticNormal(TransformedDistribution):
    """Probabilities by breaking a stick at normal variates."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support, has_rsample = constraints.simplex, True

    def __init__(self, loc: Any, scale: Any, validate_args: Any = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """The means of the normal variates."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """Their standard deviations."""
        return self.base_dist.base_dist.scale


class MixtureSameFamily(Distribution):
    """A mixture of the distributions along the last axis of the components' batch, with a Categorical's weights."""

    def __init__(self, mixture_distribution: Any, component_distribution: Any, validate_args: Any = None) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(f"MixtureSameFamily: the weights are a Categorical{at_user()}")
        if not isinstance(component_distribution, Distribution):
            raise ValueError(f"MixtureSameFamily: the components are a distribution{at_user()}")
        own, others = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for a, b in zip(own, others, strict=False):
            if a != 1 and b != 1 and a != b:
                raise ValueError(f"MixtureSameFamily: batches of {tuple(own)} and {tuple(others)} don't fit{at_user()}")
        count, there = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if count != there:
            raise ValueError(f"MixtureSameFamily: {count} weights for {there} components{at_user()}")
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        self._event_ndims = len(component_distribution.event_shape)
        Distribution.__init__(self, others, component_distribution.event_shape, validate_args)

    @property
    def mixture_distribution(self) -> Any:
        """The weights."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    @property
    def support(self) -> Any:
        """What the components take."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with a larger batch."""
        components = self._component_distribution
        return MixtureSameFamily(
            self._mixture_distribution.expand(batch_shape),
            components.expand((*batch_shape, components.batch_shape[-1])),
            validate_args=False,
        )

    def _weights(self) -> Any:
        p = self._mixture_distribution.probs
        return p.reshape((*p.shape, *(1,) * self._event_ndims))

    def _averaged(self, x: Any) -> Any:
        return (self._weights() * x).sum(dim=-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        """The weighted mean."""
        return self._averaged(self._component_distribution.mean)

    @property
    def variance(self) -> Any:
        """The mean of the variances, and the variance of the means."""
        means = self._component_distribution.mean
        away = means - self.mean.unsqueeze(-1 - self._event_ndims)
        return self._averaged(self._component_distribution.variance) + self._averaged(away.square())

    def _beside(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def cdf(self, x: Any) -> Any:
        """The weighted sum of the components'."""
        return (self._component_distribution.cdf(self._beside(x)) * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Any) -> Any:
        """The logarithm of the weighted sum of densities."""
        x = self._checked(x)
        logs = self._component_distribution.log_prob(self._beside(x))
        return torch.logsumexp(logs + torch.log_softmax(self._mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, as constants to every derivative."""
        with torch.no_grad():
            n = self._event_ndims
            chosen = self._mixture_distribution.sample(sample_shape)
            every = self._component_distribution.sample(sample_shape)
            shape = (*self._extended_shape(sample_shape)[: every.dim() - 1 - n], 1, *every.shape[every.dim() - n :])
            index = chosen.reshape((*chosen.shape, *(1,) * (n + 1))).expand(shape)
            return torch.gather(every, every.dim() - 1 - n, index).squeeze(-1 - n)

    def __repr__(self) -> str:
        return f"MixtureSameFamily({self._mixture_distribution!r}, {self._component_distribution!r})"


# Relaxed --------------------------------------------------------------------------------------------------------------------


class LogitRelaxedBernoulli(Distribution):
    """The logit of a relaxed Bernoulli variate."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support, has_rsample = constraints.real, True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self.temperature = temperature
        self._bernoulli = Bernoulli(probs, logits, validate_args)
        self._derived = ("probs", "logits")
        Distribution.__init__(self, self._bernoulli.batch_shape, (), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with a larger batch."""
        made = object.__new__(type(self)) if _instance is None else _instance
        made.__dict__.update(self.__dict__)
        made._bernoulli = self._bernoulli.expand(batch_shape)
        made._batch_shape = torch.Size(batch_shape)
        return made

    @property
    def probs(self) -> Any:
        """The probability of 1."""
        return self._bernoulli.probs

    @property
    def logits(self) -> Any:
        """Its logit."""
        return self._bernoulli.logits

    @property
    def param_shape(self) -> Any:
        """The shape of probs, or logits."""
        return self._bernoulli.param_shape

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that differentiate by the parameters."""
        probs = clamped(self.probs.expand(self._extended_shape(sample_shape)))
        uniform = clamped(torch.rand(probs.shape, dtype=probs.dtype))
        noise = uniform.log() - torch.log1p(-uniform)
        return (noise + probs.log() - torch.log1p(-probs)) / self.temperature

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        logits, value = broadcast_all(self.logits, self._checked(value))
        away = logits - value * self.temperature
        return torch.as_tensor(self.temperature).log() + away - 2 * torch.nn.functional.softplus(away)


class _Relaxed(TransformedDistribution):
    """What comes of a relaxed distribution: its parameters are those of its base."""

    @property
    def temperature(self) -> Any:
        """How far from classes."""
        return self.base_dist.temperature

    @property
    def probs(self) -> Any:
        """The probability of 1, or of each class."""
        return self.base_dist.probs

    @property
    def logits(self) -> Any:
        """Its logit, or the logarithms of the classes' probabilities."""
        return self.base_dist.logits


class RelaxedBernoulli(_Relaxed):
    """Numbers between 0 and 1, near the ends for a low temperature (C. Maddison et al., E. Jang et al., 2017)."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support, has_rsample = constraints.unit_interval, True
    _derived = ("probs", "logits")

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        super().__init__(
            LogitRelaxedBernoulli(temperature, probs, logits, validate_args), SigmoidTransform(), validate_args
        )


class ExpRelaxedCategorical(Distribution):
    """The logarithms of relaxed classes."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support, has_rsample = constraints.real_vector, True

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        self._categorical, self.temperature = Categorical(probs, logits, validate_args), temperature
        self._derived = ("probs", "logits")
        Distribution.__init__(self, self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with a larger batch."""
        made = object.__new__(type(self)) if _instance is None else _instance
        made.__dict__.update(self.__dict__)
        made._categorical = self._categorical.expand(batch_shape)
        made._batch_shape = torch.Size(batch_shape)
        return made

    @property
    def probs(self) -> Any:
        """The probabilities of the classes."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Their logarithms."""
        return self._categorical.logits

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that differentiate by the parameters: Gumbel variates beside the logits."""
        uniform = clamped(torch.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits - (-(uniform.log())).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        n = self.event_shape[-1]
        logits, value = torch.broadcast_tensors(self.logits, self._checked(value))
        norm = math.lgamma(n) + (n - 1) * torch.as_tensor(self.temperature).log()
        score = logits - value * self.temperature
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + norm


class RelaxedOneHotCategorical(_Relaxed):
    """Probabilities, near a class for a low temperature (C. Maddison et al., E. Jang et al., 2017)."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support, has_rsample = constraints.simplex, True
    _derived = ("probs", "logits")

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: Any = None) -> None:
        super().__init__(
            ExpRelaxedCategorical(temperature, probs, logits, validate_args), ExpTransform(), validate_args
        )
