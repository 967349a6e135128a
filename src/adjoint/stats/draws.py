"""Draws from distributions, differentiable by their parameters where these are continuous.

Parameters are numbers or tensors and broadcast; `shape` is the shape of the result (default: theirs). `key` is an explicit key
or a generator (default: the default generator). A draw from a discrete distribution has no derivative.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint import linalg
from adjoint.transforms.grad import stop_gradient
from adjoint.dtypes import default_dtype, float64, int64, promote, uint64
from adjoint.primitives.core import cast, ops
from adjoint.random import source
from adjoint.shapes import as_shape
from adjoint.stats.sensitivity import gamma_slope, moved_by, von_mises_slope
from adjoint.tensors.conversion import a
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor

__all__ = [
    "beta", "binomial", "categorical", "cauchy", "choice", "dirichlet", "exponential", "gamma", "geometric", "gumbel",
    "laplace", "logistic", "multinomial", "multivariate_normal", "negative_binomial", "poisson", "student_t", "von_mises",
    "weibull",
]  # fmt: skip


def floating(*parameters: Any) -> list[Tensor]:
    """Parameters as tensors of one floating dtype."""
    tensors = [f.asarray(p) for p in parameters]
    inexact = [t.dtype for t, p in zip(tensors, parameters, strict=True) if t.dtype.inexact and not _weak(p)]
    kind = functools.reduce(promote, inexact) if inexact else default_dtype()
    made = []
    for t, p in zip(tensors, parameters, strict=True):
        if t.dtype is not kind:  # a number or list keeps a value that is known, so that it can be checked
            t = t.astype(kind) if isinstance(p, Tensor) else f.asarray(p, dtype=kind)
        made.append(t)
    return made


def _weak(p: Any) -> bool:
    return isinstance(p, (bool, int, float))


def _shaped(name: str, shape: Any, *parameters: Any) -> tuple[Any, list[Tensor]]:
    """The shape of the result, and the parameters broadcast to it."""
    tensors = floating(*parameters)
    own = np.broadcast_shapes(*[t.shape for t in tensors])
    whole = own if shape is None else as_shape(shape, name)
    if len(own) > len(whole) or any([n not in (1, m) for n, m in zip(own[::-1], whole[::-1], strict=False)]):
        raise ValueError(f"{name}: parameters of shape {own} don't broadcast to the shape {whole}{at_user()}")
    return whole, [t if t.shape == whole else f.broadcast_to(t, whole) for t in tensors]


def _unit(shape: Any, like: Tensor, key: Any) -> Tensor:
    """Uniform in (0, 1): never 0 or 1."""
    smallest = 2.0**-54 if like.dtype is float64 else 2.0**-25
    return source(key).uniform(shape, dtype=like.dtype) + smallest


def variates(name: str, shape: Any, parameters: list[Tensor], dtype: Any, key: Any) -> Tensor:
    """What NumPy's generator draws by that name, without derivative."""
    seed = source(key)._bits((2,), uint64)
    given = [cast(stop_gradient(p).node, float64 if p.dtype.inexact else int64) for p in parameters]
    kind = float64 if dtype.inexact else int64
    return wrap(cast(ops.random_variates(seed, given, name, shape, kind), dtype))


def exponential(rate: Any = 1.0, shape: Any = None, *, key: Any = None) -> Tensor:
    """Exponential numbers of a rate.

    >>> import adjoint as ad
    >>> ad.random.exponential(2.0, (3,)).shape
    (3,)
    """
    whole, (rate,) = _shaped("exponential", shape, rate)
    return -f.log(_unit(whole, rate, key)) / rate


def gamma(concentration: Any, rate: Any = 1.0, shape: Any = None, *, key: Any = None) -> Tensor:
    """Gamma numbers of a concentration and a rate; derivatives by both, of every order.

    >>> import adjoint as ad
    >>> ad.random.gamma(ad.tensor([0.5, 2.0])).shape
    (2,)
    """
    whole, (concentration, rate) = _shaped("gamma", shape, concentration, rate)
    return standard_gamma(whole, concentration, key) / rate


def standard_gamma(shape: Any, concentration: Tensor, key: Any) -> Tensor:
    """Gamma numbers of rate 1, whose concentration has their shape."""
    drawn = variates("standard_gamma", shape, [concentration], concentration.dtype, key)
    least = float(np.finfo(concentration.dtype.dtype).tiny)
    return moved_by(f.maximum(drawn, least), [concentration], lambda z, c: [gamma_slope(z, c)])


def beta(concentration1: Any, concentration0: Any, shape: Any = None, *, key: Any = None) -> Tensor:
    """Beta numbers, with density proportional to x^(concentration1 - 1) (1 - x)^(concentration0 - 1).

    >>> import adjoint as ad
    >>> ad.random.beta(2.0, 3.0, (4,)).shape
    (4,)
    """
    whole, (one, zero) = _shaped("beta", shape, concentration1, concentration0)
    generator = source(key)
    first, second = standard_gamma(whole, one, generator), standard_gamma(whole, zero, generator)
    return first / (first + second)


def dirichlet(concentration: Any, shape: Any = (), *, key: Any = None) -> Tensor:
    """Dirichlet vectors, along the last axis of the concentrations; `shape` goes in front.

    >>> import adjoint as ad
    >>> ad.random.dirichlet([1.0, 2.0, 3.0]).shape
    (3,)
    """
    (concentration,) = floating(concentration)
    if concentration.ndim == 0:
        raise ValueError(f"dirichlet: concentrations are a vector, got one number{at_user()}")
    whole = (*as_shape(shape, "dirichlet"), *concentration.shape)
    drawn = standard_gamma(whole, f.broadcast_to(concentration, whole), key)
    return drawn / drawn.sum(axis=-1, keepdims=True)


def student_t(df: Any, loc: Any = 0.0, scale: Any = 1.0, shape: Any = None, *, key: Any = None) -> Tensor:
    """Student's t numbers of `df` degrees of freedom.

    >>> import adjoint as ad
    >>> ad.random.student_t(4.0, shape=(2, 2)).shape
    (2, 2)
    """
    whole, (df, loc, scale) = _shaped("student_t", shape, df, loc, scale)
    generator = source(key)
    z = generator.normal(whole, dtype=df.dtype)
    return loc + scale * z * f.sqrt(df / 2 / standard_gamma(whole, df / 2, generator))


def laplace(loc: Any = 0.0, scale: Any = 1.0, shape: Any = None, *, key: Any = None) -> Tensor:
    """Laplace numbers.

    >>> import adjoint as ad
    >>> ad.random.laplace(0.0, 2.0, (5,)).shape
    (5,)
    """
    whole, (loc, scale) = _shaped("laplace", shape, loc, scale)
    u = _unit(whole, scale, key) - 0.5
    return loc - scale * f.sign(u) * f.log1p(-2 * abs(u))


def logistic(loc: Any = 0.0, scale: Any = 1.0, shape: Any = None, *, key: Any = None) -> Tensor:
    """Logistic numbers.

    >>> import adjoint as ad
    >>> ad.random.logistic(shape=(2,)).shape
    (2,)
    """
    whole, (loc, scale) = _shaped("logistic", shape, loc, scale)
    u = _unit(whole, scale, key)
    return loc + scale * (f.log(u) - f.log1p(-u))


def cauchy(loc: Any = 0.0, scale: Any = 1.0, shape: Any = None, *, key: Any = None) -> Tensor:
    """Cauchy numbers.

    >>> import adjoint as ad
    >>> ad.random.cauchy(1.0, 2.0).shape
    ()
    """
    whole, (loc, scale) = _shaped("cauchy", shape, loc, scale)
    return loc + scale * f.tan(math.pi * (_unit(whole, scale, key) - 0.5))


def gumbel(loc: Any = 0.0, scale: Any = 1.0, shape: Any = None, *, key: Any = None) -> Tensor:
    """Gumbel numbers.

    >>> import adjoint as ad
    >>> ad.random.gumbel(shape=(3,)).shape
    (3,)
    """
    whole, (loc, scale) = _shaped("gumbel", shape, loc, scale)
    return loc - scale * f.log(-f.log(_unit(whole, scale, key)))


def weibull(scale: Any, concentration: Any, shape: Any = None, *, key: Any = None) -> Tensor:
    """Weibull numbers.

    >>> import adjoint as ad
    >>> ad.random.weibull(1.0, 2.0, (3,)).shape
    (3,)
    """
    whole, (scale, concentration) = _shaped("weibull", shape, scale, concentration)
    return scale * (-f.log(_unit(whole, scale, key))) ** (1 / concentration)


def von_mises(loc: Any, concentration: Any, shape: Any = None, *, key: Any = None) -> Tensor:
    """Von Mises angles in [-π, π).

    >>> import adjoint as ad
    >>> bool(abs(ad.random.von_mises(0.0, 100.0)) < 1)
    True
    """
    whole, (loc, concentration) = _shaped("von_mises", shape, loc, concentration)
    drawn = variates("vonmises", whole, [f.zeros_like(concentration), concentration], concentration.dtype, key)
    centred = moved_by(drawn, [concentration], lambda z, k: [von_mises_slope(z, k)])
    angle = loc + centred
    return angle - stop_gradient(f.floor((angle + math.pi) / (2 * math.pi))) * (2 * math.pi)


def multivariate_normal(mean: Any, covariance: Any, shape: Any = (), *, key: Any = None) -> Tensor:
    """Normal vectors (*shape, n) of a mean (n,) and a covariance matrix (n, n), or of batches of these.

    >>> import adjoint as ad
    >>> ad.random.multivariate_normal(ad.zeros(2), ad.eye(2), (5,)).shape
    (5, 2)
    """
    mean, covariance = floating(mean, covariance)
    factor = linalg.cholesky(covariance)
    batch = np.broadcast_shapes(mean.shape[:-1], covariance.shape[:-2])
    noise = source(key).normal((*as_shape(shape, "multivariate_normal"), *batch, mean.shape[-1]), dtype=mean.dtype)
    return mean + (factor @ noise[..., None])[..., 0]


# Discrete -------------------------------------------------------------------------------------------------------------


def poisson(rate: Any, shape: Any = None, *, key: Any = None) -> Tensor:
    """Poisson counts, as int64.

    >>> import adjoint as ad
    >>> ad.random.poisson(3.0, (4,)).dtype
    adjoint.int64
    """
    whole, (rate,) = _shaped("poisson", shape, rate)
    return variates("poisson", whole, [rate], int64, key)


def binomial(total_count: Any, probs: Any, shape: Any = None, *, key: Any = None) -> Tensor:
    """Binomial counts, as int64: successes among `total_count` attempts.

    >>> import adjoint as ad
    >>> bool(ad.random.binomial(10, 0.3) <= 10)
    True
    """
    whole, (count, probs) = _shaped("binomial", shape, total_count, probs)
    return variates("binomial", whole, [f.round(count).astype(int64), probs], int64, key)


def geometric(probs: Any, shape: Any = None, *, key: Any = None) -> Tensor:
    """Geometric counts, as int64: failures before the first success, from 0 on.

    >>> import adjoint as ad
    >>> bool(ad.random.geometric(0.5) >= 0)
    True
    """
    whole, (probs,) = _shaped("geometric", shape, probs)
    return variates("geometric", whole, [probs], int64, key) - 1


def negative_binomial(total_count: Any, probs: Any, shape: Any = None, *, key: Any = None) -> Tensor:
    """Negative binomial counts, as int64: successes, each of probability `probs`, before `total_count` failures.

    >>> import adjoint as ad
    >>> bool(ad.random.negative_binomial(5.0, 0.5) >= 0)
    True
    """
    whole, (count, probs) = _shaped("negative_binomial", shape, total_count, probs)
    generator = source(key)
    rates = variates("standard_gamma", whole, [count], float64, generator) * (probs / (1 - probs))
    return variates("poisson", whole, [rates], int64, generator)


def categorical(logits: Any, shape: Any = (), *, key: Any = None) -> Tensor:
    """Numbers of classes, as int64, by their logits (..., classes); `shape` goes in front. Draws by E. Gumbel's maximum.

    >>> import adjoint as ad
    >>> ad.random.categorical([0.0, -1e9, -1e9]).item()
    0
    """
    (logits,) = floating(logits)
    if logits.ndim == 0:
        raise ValueError(f"categorical: logits have an axis of classes, got one number{at_user()}")
    whole = (*as_shape(shape, "categorical"), *logits.shape)
    return f.argmax(stop_gradient(logits) + gumbel(0.0, f.ones((), dtype=logits.dtype), whole, key=key), axis=-1)


def multinomial(total_count: Any, probs: Any, shape: Any = (), *, key: Any = None) -> Tensor:
    """Counts of classes (..., classes), as int64, in `total_count` draws with probabilities `probs`; `shape` goes in front.

    >>> import adjoint as ad
    >>> ad.random.multinomial(10, [0.5, 0.5]).sum().item()
    10
    """
    (probs,) = floating(probs)
    probs = probs.astype(float64)
    whole = (*as_shape(shape, "multinomial"), *probs.shape)
    counts = f.broadcast_to(f.asarray(total_count).astype(int64), whole[:-1])
    chances = f.broadcast_to(probs / probs.sum(axis=-1, keepdims=True), whole)
    return variates("multinomial", whole[:-1], [counts, chances], int64, key)


def choice(x: Any, shape: Any = (), *, replace: bool = True, p: Any = None, key: Any = None) -> Tensor:
    """Elements of x along its first axis (of 0, ..., x - 1 for an int), with probabilities p (default: equal ones).

    Without `replace` no element comes twice: the largest of log p and Gumbel noise. Raises ValueError where more are wanted
    than there are.

    >>> import adjoint as ad
    >>> sorted(ad.random.choice(4, (4,), replace=False).tolist())
    [0, 1, 2, 3]
    """
    items = None if isinstance(x, int) else f.asarray(x)
    n = x if isinstance(x, int) else int(items.shape[0]) if items is not None and items.ndim else 0
    if items is not None and not items.ndim:
        raise TypeError(
            f"choice: expected how many there are, or an array of them, got {a(x)}; "
            f"a key comes by name: key=...{at_user()}"
        )
    whole = as_shape(shape, "choice")
    count = math.prod(whole)
    if n < 1 or (not replace and count > n):
        raise ValueError(f"choice: {count} of {n} elements{'' if replace else ' without replacement'}{at_user()}")
    (weights,) = floating(f.ones(n) if p is None else p)
    if weights.shape != (n,):
        raise ValueError(f"choice: p has shape {weights.shape} for {n} elements, got {a(p)}{at_user()}")
    logits = f.log(stop_gradient(weights))
    if replace:
        indices = categorical(logits, (count,), key=key)
    else:
        indices = f.argsort(logits + gumbel(0.0, f.ones((), dtype=logits.dtype), (n,), key=key), descending=True)[
            :count
        ]
    indices = f.reshape(indices, whole)
    return indices if items is None else f.take(items, indices, axis=0)
