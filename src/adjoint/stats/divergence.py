"""Kullback-Leibler divergences between distributions of one kind, in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint import linalg, special, tree
from adjoint.stats import continuous as c
from adjoint.stats import location_scale as l
from adjoint.stats import discrete as d
from adjoint.stats import multivariate as m
from adjoint.stats.base import Distribution
from adjoint.stats.compound import Transformed
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor

__all__ = ["kl_divergence"]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The divergence of q from p: the expectation under p of log p - log q.

    Both are of one kind: normal (of numbers or vectors), log-normal, half-normal, Laplace, Cauchy, Gumbel, gamma, inverse
    gamma, exponential, beta, Dirichlet, Weibull, uniform, von Mises, Bernoulli, binomial, categorical, Poisson, geometric,
    multinomial and negative binomial (of equal counts), or one of these by the same transforms. Others are a TypeError: average
    p.log_prob(x) - q.log_prob(x) over draws x of p.

    >>> import adjoint as ad
    >>> ad.stats.kl_divergence(ad.stats.Normal(0.0, 1.0), ad.stats.Normal(1.0, 1.0))
    Tensor(0.5)
    """
    if isinstance(p, Transformed) and isinstance(q, Transformed) and _same(p.transforms, q.transforms):
        return kl_divergence(p.base, q.base)
    rule = RULES.get(type(p))
    if rule is None or type(p) is not type(q):
        raise TypeError(
            f"kl_divergence: no closed form for {type(p).__name__} and {type(q).__name__}; average p.log_prob(x) - "
            f"q.log_prob(x) over x = p.sample(...){at_user()}"
        )
    return rule(p, q)


def _same(transforms: Any, others: Any) -> bool:
    """Whether they are the same transforms: of the same kinds, with the same parameters or ones known to be equal."""
    if [type(t) for t in transforms] != [type(t) for t in others]:
        return False
    pairs = zip(tree.flatten(list(transforms))[0], tree.flatten(list(others))[0], strict=True)
    return all([_equal(a, b) for a, b in pairs])


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    values = [x.node.value if isinstance(x, Tensor) else x for x in (a, b)]
    return values[0] is not None and values[1] is not None and bool(np.array_equal(values[0], values[1]))


def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - f.log(ratio))


def _half_normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio - 1 - f.log(ratio))


def _laplace(p: Any, q: Any) -> Any:
    away = abs(p.loc - q.loc)
    return f.log(q.scale / p.scale) + away / q.scale + p.scale / q.scale * f.exp(-away / p.scale) - 1


def _cauchy(p: Any, q: Any) -> Any:
    """F. Chyzak and F. Nielsen, arXiv 1905.10965."""
    return f.log(((p.scale + q.scale) ** 2 + (p.loc - q.loc) ** 2) / (4 * p.scale * q.scale))


def _gumbel(p: Any, q: Any) -> Any:
    ratio, away = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return -f.log(ratio) + l.EULER * (ratio - 1) + f.exp(-away + special.gammaln(1 + ratio)) - 1 + away


def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    shape = (a - b) * special.digamma(a) - special.gammaln(a) + special.gammaln(b)
    return shape + b * f.log(p.rate / q.rate) + a * (q.rate / p.rate - 1)


def _exponential(p: Any, q: Any) -> Any:
    return f.log(p.rate / q.rate) + q.rate / p.rate - 1


def _beta(p: Any, q: Any) -> Any:
    a, b = p.concentration1, p.concentration0
    a2, b2 = q.concentration1, q.concentration0
    own = (a - a2) * special.digamma(a) + (b - b2) * special.digamma(b)
    return special.betaln(a2, b2) - special.betaln(a, b) + own + (a2 - a + b2 - b) * special.digamma(a + b)


def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(axis=-1)
    norms = (
        special.gammaln(total)
        - special.gammaln(b.sum(axis=-1))
        - (special.gammaln(a) - special.gammaln(b)).sum(axis=-1)
    )
    return norms + ((a - b) * (special.digamma(a) - special.digamma(total)[..., None])).sum(axis=-1)


def _weibull(p: Any, q: Any) -> Any:
    """C. Bauckhage, arXiv 1310.3713."""
    k, other = p.concentration, q.concentration
    scales = f.log(p.scale) - l.EULER / k
    sums = f.log(k) - k * f.log(p.scale) - f.log(other) + other * f.log(q.scale) + (k - other) * scales
    return sums + f.exp(other * f.log(p.scale / q.scale) + special.gammaln(other / k + 1)) - 1


def _uniform(p: Any, q: Any) -> Any:
    within = (q.low <= p.low) & (p.high <= q.high)
    return f.where(within, f.log((q.high - q.low) / (p.high - p.low)), math.inf)


def _von_mises(p: Any, q: Any) -> Any:
    k, other = p.concentration, q.concentration
    ratio = special.i1e(k) / special.i0e(k)
    norms = f.log(special.i0e(other) / special.i0e(k)) + other - k
    return norms + ratio * (k - other * f.cos(p.loc - q.loc))


def _bernoulli(p: Any, q: Any) -> Any:
    return d.expected(p.probs, p._log_p - q._log_p) + d.expected(p._q, p._log_q - q._log_q)


def _binomial(p: Any, q: Any) -> Any:
    return f.where(p.total_count == q.total_count, p.total_count * _bernoulli(p, q), math.nan)


def _negative_binomial(p: Any, q: Any) -> Any:
    each = p._log_q - q._log_q + d.expected(p._odds, p._log_p - q._log_p)
    return f.where(p.total_count == q.total_count, p.total_count * each, math.nan)


def _geometric(p: Any, q: Any) -> Any:
    return p._log_p - q._log_p + d.expected(p.mean, p._log_q - q._log_q)


def _poisson(p: Any, q: Any) -> Any:
    return special.xlogy(p.rate, p.rate / q.rate) + q.rate - p.rate


def _categorical(p: Any, q: Any) -> Any:
    return d.expected(p.probs, p.logits - q.logits).sum(axis=-1)


def _multinomial(p: Any, q: Any) -> Any:
    return f.where(p.total_count == q.total_count, p.total_count * _categorical(p, q), math.nan)


def _multivariate(p: Any, q: Any) -> Any:
    n = p.loc.shape[-1]
    mixed = linalg.solve_triangular(q.scale_tril, p.scale_tril, lower=True)
    away = linalg.solve_triangular(q.scale_tril, (q.loc - p.loc)[..., None], lower=True)
    squares = (mixed**2).sum(axis=(-2, -1)) + (away**2).sum(axis=(-2, -1))
    return 0.5 * (squares - n) + q._log_det - p._log_det


RULES: dict[type, Callable[[Any, Any], Tensor]] = {
    l.Normal: _normal, l.LogNormal: _normal, c.HalfNormal: _half_normal, l.Laplace: _laplace, l.Cauchy: _cauchy,
    l.Gumbel: _gumbel, c.Gamma: _gamma, c.InverseGamma: _gamma, c.Exponential: _exponential, c.Beta: _beta,
    c.Weibull: _weibull, c.Uniform: _uniform, c.VonMises: _von_mises, m.Dirichlet: _dirichlet,
    m.MultivariateNormal: _multivariate, d.Bernoulli: _bernoulli, d.Binomial: _binomial, d.Categorical: _categorical,
    d.Geometric: _geometric, d.Multinomial: _multinomial, d.NegativeBinomial: _negative_binomial, d.Poisson: _poisson,
}  # fmt: skip
