"""torch.distributions.kl: divergences. Of two distributions of one kind they are the core's; of two, where PyTorch has them,
-entropy(p) - E[log q], by the few moments of p that log q is made of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from adjoint.stats import divergence
from adjoint.tensors.located import at_user

from .._tensor import as_torch
from . import _compound as compound
from . import _counts as counts
from . import _formulas as formulas
from . import _numbers as numbers
from . import _vectors as vectors
from ._base import Distribution
from ._program import torch
from ._transform import summed

__all__ = ["kl_divergence", "register_kl"]

EULER = 0.5772156649015329
REGISTERED: dict[tuple[type, type], Callable[[Any, Any], Any]] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Callable[[Any, Any], Any]], Callable[[Any, Any], Any]]:
    """Register a function of two distributions as the divergence between those of two classes, and of their subclasses."""
    if not all(isinstance(t, type) and issubclass(t, Distribution) for t in (type_p, type_q)):
        raise TypeError(f"register_kl: two classes of distributions, not {type_p!r} and {type_q!r}{at_user()}")

    def register(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        REGISTERED[type_p, type_q] = f
        return f

    return register


def kl_divergence(p: Any, q: Any) -> Any:
    """The divergence of q from p: the expectation under p of log p - log q.

    Raises NotImplementedError where no closed form is registered.
    """
    found = _closest(type(p), type(q))
    if found is None:
        raise NotImplementedError(
            f"kl_divergence: none is registered for {type(p).__name__} and {type(q).__name__}; average p.log_prob(x) - "
            f"q.log_prob(x) over x = p.sample(...){at_user()}"
        )
    return found(p, q)


def _closest(p: type, q: type) -> Callable[[Any, Any], Any] | None:
    """The function of the nearest classes: those whose subclasses are least far away."""
    fitting = [(p.__mro__.index(a) + q.__mro__.index(b), f) for (a, b), f in REGISTERED.items() if a in p.__mro__ and b in q.__mro__]  # fmt: skip  # noqa: E501
    return min(fitting, key=lambda pair: pair[0])[1] if fitting else None


# Of one kind --------------------------------------------------------------------------------------------------------------


def _cores(p: Any, q: Any) -> Any:
    a, b = p._core(), q._core()
    out = as_torch(divergence.RULES[type(a)](a, b))
    shape = torch.broadcast_shapes(p.batch_shape, q.batch_shape)
    return out if tuple(out.shape) == tuple(shape) else out.expand(shape)


SAME: tuple[Any, ...] = (
    numbers.Normal, numbers.Laplace, numbers.Gumbel, numbers.LogNormal, numbers.HalfNormal, numbers.Gamma, numbers.Weibull,
    numbers.InverseGamma,
    numbers.Exponential, numbers.Beta, numbers.Cauchy, vectors.Dirichlet, vectors.MultivariateNormal,
    counts.Geometric, counts.Poisson, counts.Bernoulli,
)  # fmt: skip
for _kind in SAME:
    register_kl(_kind, _kind)(_cores)


@register_kl(counts.Categorical, counts.Categorical)
def _categorical(p: Any, q: Any) -> Any:
    each = p.probs * (p.logits - q.logits)
    impossible = (q.probs == 0).expand_as(each)
    unneeded = (p.probs == 0).expand_as(each)
    return torch.where(unneeded, 0.0, torch.where(impossible, math.inf, each)).sum(-1)


@register_kl(counts.OneHotCategorical, counts.OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(counts.Binomial, counts.Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(f"kl_divergence: no closed form for a first total_count that is smaller{at_user()}")
    each = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return torch.where(p.total_count > q.total_count, math.inf, each)


@register_kl(numbers.HalfCauchy, numbers.HalfCauchy)
def _half_cauchy(p: Any, q: Any) -> Any:
    return kl_divergence(p._whole_line(), q._whole_line())


@register_kl(formulas.Kumaraswamy, formulas.Kumaraswamy)
def _kumaraswamy(p: Any, q: Any) -> Any:
    pairs = ((p.concentration1, q.concentration1), (p.concentration0, q.concentration0))
    if not all(bool((a == b).all()) for a, b in pairs):
        raise NotImplementedError(f"kl_divergence: no closed form for Kumaraswamy distributions that differ{at_user()}")
    return p.concentration1 * 0.0


@register_kl(numbers.Uniform, numbers.Uniform)
def _uniform(p: Any, q: Any) -> Any:
    inside = (q.low <= p.low) & (p.high <= q.high)
    return torch.where(inside, ((q.high - q.low) / (p.high - p.low)).log(), math.inf)


@register_kl(formulas.Pareto, formulas.Pareto)
def _pareto(p: Any, q: Any) -> Any:
    scales, alphas = p.scale / q.scale, q.alpha / p.alpha
    found = q.alpha * scales.log() - alphas.log() + alphas - 1
    return torch.where(p.scale < q.scale, math.inf, found)


@register_kl(formulas.ContinuousBernoulli, formulas.ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    ends = torch.log1p(-p.probs) - torch.log1p(-q.probs)
    return p.mean * (p.logits - q.logits) + p._log_norm() - q._log_norm() + ends


@register_kl(vectors.LowRankMultivariateNormal, vectors.LowRankMultivariateNormal)
@register_kl(vectors.LowRankMultivariateNormal, vectors.MultivariateNormal)
@register_kl(vectors.MultivariateNormal, vectors.LowRankMultivariateNormal)
def _normal_vectors(p: Any, q: Any) -> Any:
    if tuple(p.event_shape) != tuple(q.event_shape):
        raise ValueError(f"kl_divergence: vectors of {p.event_shape[0]} and of {q.event_shape[0]} numbers{at_user()}")
    factor, other = q.scale_tril, p.scale_tril
    mixed = torch.linalg.solve_triangular(factor, other, upper=False).square().sum((-2, -1))
    away = vectors.whitened(factor, q.loc - p.loc).square().sum(-1)
    return vectors.log_det(factor) - vectors.log_det(other) + 0.5 * (mixed + away - p.event_shape[0])


@register_kl(vectors.Wishart, vectors.Wishart)
def _wishart(p: Any, q: Any) -> Any:
    n, factor = p._n, q.scale_tril
    mixed = torch.linalg.solve_triangular(factor, p.scale_tril, upper=False).square().sum((-2, -1))
    places = 0.5 * (p.df.unsqueeze(-1) - torch.arange(n, dtype=p.df.dtype))
    norms = q._log_gamma() - p._log_gamma() + 0.5 * (p.df - q.df) * torch.digamma(places).sum(-1)
    return q.df * (vectors.log_det(factor) - vectors.log_det(p.scale_tril)) + 0.5 * p.df * (mixed - n) + norms


@register_kl(compound.TransformedDistribution, compound.TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or tuple(p.event_shape) != tuple(q.event_shape):
        raise NotImplementedError(f"kl_divergence: the transforms differ{at_user()}")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(compound.Independent, compound.Independent)
def _independent(p: Any, q: Any) -> Any:
    n = p.reinterpreted_batch_ndims
    if n != q.reinterpreted_batch_ndims:
        raise NotImplementedError(f"kl_divergence: {n} and {q.reinterpreted_batch_ndims} axes are one value{at_user()}")
    return summed(kl_divergence(p.base_dist, q.base_dist), n)


# Of two kinds -----------------------------------------------------------------------------------------------------------------


ENDS: dict[Any, Callable[[Any], Any]] = {
    numbers.Exponential: lambda p: (0.0, math.inf),
    numbers.Gamma: lambda p: (0.0, math.inf),
    numbers.Beta: lambda p: (0.0, 1.0),
    formulas.ContinuousBernoulli: lambda p: (0.0, 1.0),
    numbers.Uniform: lambda p: (p.low, p.high),
    formulas.Pareto: lambda p: (p.scale, math.inf),
}


def mean_log(p: Any) -> Any:
    """The expectation of the logarithm."""
    return of_kind(MEAN_LOG, p)(p)


def of_kind(table: dict[Any, Callable[..., Any]], p: Any) -> Callable[..., Any]:
    """What a table has for the class of a distribution, or for one above it."""
    return next(table[kind] for kind in type(p).__mro__ if kind in table)


MEAN_LOG: dict[Any, Callable[[Any], Any]] = {
    numbers.Beta: lambda p: torch.digamma(p.concentration1) - torch.digamma(p.concentration1 + p.concentration0),
    numbers.Gamma: lambda p: torch.digamma(p.concentration) - p.rate.log(),
    numbers.Exponential: lambda p: -EULER - p.rate.log(),
    numbers.Uniform: lambda p: (torch.xlogy(p.high, p.high) - torch.xlogy(p.low, p.low)) / (p.high - p.low) - 1,
    formulas.Pareto: lambda p: p.scale.log() + 1 / p.alpha,
}
# the expectation of exp(-x t)
LAPLACE_TRANSFORM: dict[Any, Callable[[Any, Any], Any]] = {
    numbers.Normal: lambda p, t: torch.exp(-p.loc * t + 0.5 * (p.scale * t).square()),
    numbers.Gamma: lambda p, t: (1 + t / p.rate) ** -p.concentration,
    numbers.Exponential: lambda p, t: p.rate / (p.rate + t),
    numbers.Uniform: lambda p, t: (torch.exp(-p.low * t) - torch.exp(-p.high * t)) / (t * (p.high - p.low)),
}


def _normal(p: Any, q: Any) -> Any:
    return -0.5 * ((p.variance + (p.mean - q.loc).square()) / q.scale.square() + math.log(2 * math.pi)) - q.scale.log()


def _exponential(p: Any, q: Any) -> Any:
    return q.rate.log() - q.rate * p.mean


def _gamma(p: Any, q: Any) -> Any:
    a, rate = q.concentration, q.rate
    return a * rate.log() - torch.lgamma(a) + (a - 1) * mean_log(p) - rate * p.mean


def _flat(p: Any, q: Any) -> Any:
    return -(q.high - q.low).log()


def _beta(p: Any, q: Any) -> Any:
    """Of uniform values: 1 - x is uniform too."""
    a, b = q.concentration1, q.concentration0
    mirrored = numbers.Uniform(1 - p.high, 1 - p.low, validate_args=False)
    norm = torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)
    ends = MEAN_LOG[numbers.Uniform]
    return (a - 1) * ends(p) + (b - 1) * ends(mirrored) - norm


def _continuous(p: Any, q: Any) -> Any:
    return p.mean * q.logits + torch.log1p(-q.probs) + q._log_norm()


def _power(p: Any, q: Any) -> Any:
    return q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * mean_log(p)


def _gumbel(p: Any, q: Any) -> Any:
    t = 1 / q.scale
    return t.log() - (p.mean - q.loc) * t - torch.exp(q.loc * t) * of_kind(LAPLACE_TRANSFORM, p)(p, t)


def _laplace(p: Any, q: Any) -> Any:
    """Of normal values: the mean of a folded normal variate."""
    away = p.loc - q.loc
    z = away / p.scale
    mean = p.scale * math.sqrt(2 / math.pi) * torch.exp(-0.5 * z.square()) + away * torch.erf(z / math.sqrt(2))
    return -(2 * q.scale).log() - mean / q.scale


def _ends(p: Any) -> tuple[Any, Any]:
    """Where values lie."""
    found: tuple[Any, Any] = next((ENDS[k](p) for k in type(p).__mro__ if k in ENDS), (-math.inf, math.inf))
    return found


def _crossed(expected: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """-entropy - E[log q] where all values of p are possible under q, else infinite."""

    def divergence_of(p: Any, q: Any) -> Any:
        (low, high), (least, most) = _ends(p), _ends(q)
        zero = torch.zeros(torch.broadcast_shapes(p.batch_shape, q.batch_shape), dtype=p.mean.dtype)
        inside = (least <= low + zero) & (high + zero <= most)
        return torch.where(inside, -p.entropy() - expected(p, q), math.inf)

    return divergence_of


def _infinite(p: Any, q: Any) -> Any:
    shape = torch.broadcast_shapes(p.batch_shape, q.batch_shape)
    return torch.full(shape, math.inf, dtype=p.mean.dtype)


EXPECTED = {
    "Normal": _normal, "Exponential": _exponential, "Gamma": _gamma, "Uniform": _flat, "Beta": _beta,
    "ContinuousBernoulli": _continuous, "Pareto": _power, "Gumbel": _gumbel, "Laplace": _laplace,
}  # fmt: skip
# by q: the p of which there is a closed form, and those some of whose values q doesn't have
FINITE = {
    "Normal": "Beta ContinuousBernoulli Exponential Gamma Gumbel Laplace Pareto Uniform",
    "Exponential": "Beta ContinuousBernoulli Gamma Pareto Uniform",
    "Gamma": "Beta Exponential Pareto Uniform",
    "Uniform": "Beta ContinuousBernoulli",
    "Beta": "Uniform",
    "ContinuousBernoulli": "Beta Uniform",
    "Pareto": "Uniform",
    "Gumbel": "Exponential Gamma Normal Uniform",
    "Laplace": "Normal",
}
INFINITE = {
    "Beta": "Exponential Gamma Gumbel Laplace Normal Pareto",
    "ContinuousBernoulli": "Exponential Gamma Gumbel Laplace Normal Pareto",
    "Pareto": "Beta ContinuousBernoulli Exponential Gamma Gumbel Laplace Normal",
    "Uniform": "Exponential Gamma Gumbel Laplace Normal Pareto",
    "Exponential": "Gumbel Laplace Normal",
    "Gamma": "Gumbel Laplace Normal",
}


def _named(name: str) -> type:
    found: type = getattr(numbers, name, None) or getattr(formulas, name)
    return found


for _q, _names in FINITE.items():
    for _p in _names.split():
        register_kl(_named(_p), _named(_q))(_crossed(EXPECTED[_q]))
for _q, _names in INFINITE.items():
    for _p in _names.split():
        register_kl(_named(_p), _named(_q))(_infinite)


@register_kl(counts.Bernoulli, counts.Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(counts.Poisson, counts.Bernoulli)
@register_kl(counts.Poisson, counts.Binomial)
def _poisson_bounded(p: Any, q: Any) -> Any:
    return _infinite(p, q)
