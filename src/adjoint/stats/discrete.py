"""Distributions of counts, as in N. Johnson, A. Kemp and S. Kotz, "Univariate Discrete Distributions" (2005); parameters have
PyTorch's names."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import adjoint.tensors.functions as f
from adjoint import special, tracing
from adjoint.shapes import as_shape
from adjoint.random import source
from adjoint.stats import draws
from adjoint.transforms.grad import stop_gradient
from adjoint.stats.base import Distribution, beyond, checked, inside, steep
from adjoint.tensors.conversion import a as described
from adjoint.tensors.located import at_user
from adjoint.tensors.pending import force_array
from adjoint.tensors.tensor import Tensor

__all__ = ["Bernoulli", "Binomial", "Categorical", "Geometric", "Multinomial", "NegativeBinomial", "Poisson"]

COUNTS = (0.0, math.inf)
MANY = 1 << 20  # counts from which on an entropy isn't summed
FEW = 1 << 12  # of the first ones, which are summed all the same


def _is_count(x: Tensor) -> Tensor:
    return (x >= 0) & (x == f.floor(x)) & (x < math.inf)


class _Counts(Distribution):
    discrete = True
    reparameterised = False
    support: Any = COUNTS


class _WorkedOut:
    """An attribute that follows from others, where the instance has none of its own."""

    def __init__(self, follow: Callable[[Any], Tensor]) -> None:
        self._follow = follow

    def __get__(self, d: Any, kind: Any = None) -> Any:
        return self if d is None else self._follow(d)


def _names(*others: str) -> Any:
    """The names of the parameters: that of the probabilities is the one that was given."""
    return property(lambda d: (*others, "probs" if "probs" in vars(d) else "logits"))


class _ByProbability(_Counts):
    """With `probs` or `logits`: the one that was given is the parameter. Probabilities that went by their logits would lose
    the derivatives at 0 and 1, where these are infinite."""

    chances: ClassVar[str] = "probability"  # which probabilities it takes
    names: ClassVar[Any] = _names()
    probs: Any = _WorkedOut(lambda d: f.sigmoid(d.logits))
    logits: Any = _WorkedOut(lambda d: special.logit(d.probs))

    def _choose(self, probs: Any, logits: Any, **others: Any) -> None:
        name = type(self).__name__
        if (probs is None) == (logits is None):
            raise ValueError(f"{name}: give either probs or logits{at_user()}")
        given = logits if probs is None else probs
        *tensors, value = draws.floating(*others.values(), given)
        for key, tensor in zip(others, tensors, strict=True):
            setattr(self, key, checked(name, tensor, key, "nonnegative"))
        if probs is not None:
            checked(name, value, "probs", self.chances)
        setattr(self, "logits" if probs is None else "probs", value)
        self._fits()

    @property
    def _by_probs(self) -> bool:
        return "probs" in vars(self)

    @property
    def _q(self) -> Tensor:
        """The probability of a failure."""
        return 1 - self.probs if self._by_probs else f.sigmoid(-self.logits)

    @property
    def _odds(self) -> Tensor:
        return self.probs / self._q if self._by_probs else f.exp(self.logits)

    @property
    def _log_p(self) -> Tensor:
        return f.log(self.probs) if self._by_probs else special.log_expit(self.logits)

    @property
    def _log_q(self) -> Tensor:
        return f.log1p(-self.probs) if self._by_probs else special.log_expit(-self.logits)


def _times_log(n: Tensor, log: Tensor) -> Tensor:
    """n·log, 0 for n = 0 even where the logarithm is infinite. Where it isn't, it is the derivative by n at 0 too."""
    return n * f.where((n == 0) & ~f.isfinite(log), 0.0, log)


def expected(p: Tensor, log: Tensor) -> Tensor:
    """p·log, 0 for p = 0 even where the logarithm is infinite: as that of p itself, it is the derivative by p all the same."""
    ends = (p == 0) & (abs(log) == math.inf)
    inner = f.where((p == 0) & ~f.isfinite(log), 0.0, log)
    return f.where(ends, special.xlogy(p, f.where(ends, f.exp(log), 1.0)), p * inner)


class Bernoulli(_ByProbability):
    """1 with probability `probs` (or the sigmoid of `logits`), else 0.

    >>> import adjoint as ad
    >>> ad.stats.Bernoulli(0.25).log_prob(ad.tensor([0, 1]))
    Tensor([-0.2877, -1.3863])
    """

    support: Any = (0.0, 1.0)

    def __init__(self, probs: Any = None, logits: Any = None) -> None:
        self._choose(probs, logits)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        return inside((x == 0) | (x == 1), _times_log(x, self._log_p) + _times_log(1 - x, self._log_q), x)

    def cdf(self, x: Any) -> Tensor:
        x = self._value(x)
        return f.where(x < 0, 0.0, f.where(x < 1, self._q, beyond(x, 1.0)))

    def sf(self, x: Any) -> Tensor:
        x = self._value(x)
        return f.where(x < 0, 1.0, f.where(x < 1, self.probs, beyond(x, 0.0)))

    def entropy(self) -> Tensor:
        return -expected(self.probs, self._log_p) - expected(self._q, self._log_q)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def variance(self) -> Tensor:
        return self.probs * self._q

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return (source(key).uniform(shape, dtype=self.dtype) < self.probs).astype("int64")


class Binomial(_ByProbability):
    """The number of successes among `total_count` attempts, each of probability `probs`.

    >>> import adjoint as ad
    >>> ad.stats.Binomial(4, 0.5).prob(2)
    Tensor(0.375)
    """

    names: ClassVar[Any] = _names("total_count")
    total_count: Tensor

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None) -> None:
        self._choose(probs, logits, total_count=total_count)

    def log_prob(self, x: Any) -> Tensor:
        x, n = self._value(x), self.total_count
        good = _is_count(x) & (x <= n)
        k = f.where(good, x, 0.0)
        ways = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
        return inside(good, ways + _times_log(k, self._log_p) + _times_log(n - k, self._log_q), x)

    def cdf(self, x: Any) -> Tensor:
        k, n = f.floor(self._value(x)), self.total_count
        good = (k >= 0) & (k < n)
        safe = f.where(good, k, 0.0)
        value = special.betainc(f.maximum(n - safe, 1.0), safe + 1, self._q)
        return f.where(k < 0, 0.0, f.where(k >= n, 1.0, beyond(k, value)))

    def sf(self, x: Any) -> Tensor:
        k, n = f.floor(self._value(x)), self.total_count
        safe = f.where((k >= 0) & (k < n), k, 0.0)
        value = special.betainc(safe + 1, f.maximum(n - safe, 1.0), self.probs)
        return f.where(k < 0, 1.0, f.where(k >= n, 0.0, beyond(k, value)))

    def entropy(self) -> Tensor:
        """By the sum over all counts; TypeError under `jit`, where these aren't known."""
        summed = _summed_entropy(self, _most(self.total_count, "Binomial") + 1)
        return summed + f.where(self.total_count > 0, _rising(self.probs) + _rising(self._q), 0.0)

    def icdf(self, p: Any) -> Tensor:
        found = super().icdf(p)
        return f.where(found == math.inf, self.total_count, found)

    def isf(self, p: Any) -> Tensor:
        found = super().isf(p)
        return f.where(found == math.inf, self.total_count, found)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * self._q

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.binomial(self.total_count, self.probs, shape, key=key)


def _most(counts: Tensor, name: str) -> int:
    """The largest of the counts, which are computed unless a function is traced."""
    if counts.node.value is None and tracing.active() is not None:
        raise TypeError(f"{name}: the entropy is a sum over all counts, and how many there are isn't known{at_user()}")
    return int(np.max(force_array(counts.node), initial=0))


def _summed_entropy(d: Distribution, terms: int) -> Tensor:
    counts = f.reshape(f.arange(terms, dtype=d.dtype), (terms, *(1,) * len(d.batch_shape)))
    logs = d.log_prob(counts)
    return _entropies(logs).sum(axis=0)


def _entropies(logs: Tensor) -> Tensor:
    """What values of these log densities add to an entropy."""
    possible = logs > -math.inf
    return -f.where(possible, f.exp(logs) * f.where(possible, logs, 0.0), 0.0)


def _rising(p: Tensor) -> Tensor:
    """0, with an infinite derivative where p is 0: that of an entropy where a count becomes possible, -p log p."""
    return steep(p, high=False)


class Poisson(_Counts):
    """The Poisson distribution of a rate.

    >>> import adjoint as ad
    >>> ad.stats.Poisson(3.0).cdf(2)
    Tensor(0.4232)
    """

    names = ("rate",)
    rate: Tensor

    def __init__(self, rate: Any) -> None:
        self._set("nonnegative", rate=rate)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        good = _is_count(x)
        k = f.where(good, x, 0.0)
        return inside(good, special.xlogy(k, self.rate) - self.rate - special.gammaln(k + 1), x)

    def cdf(self, x: Any) -> Tensor:
        k = f.floor(self._value(x))
        return f.where(k < 0, 0.0, special.gammaincc(f.maximum(k, 0.0) + 1, self.rate))

    def sf(self, x: Any) -> Tensor:
        k = f.floor(self._value(x))
        return f.where(k < 0, 1.0, special.gammainc(f.maximum(k, 0.0) + 1, self.rate))

    def entropy(self) -> Tensor:
        """By the sum of 150 terms up to a rate of 50, by the asymptotic series above."""
        r = f.maximum(self.rate, 50.0)
        series = 0.5 * f.log(2 * math.pi * math.e * r) - 1 / (12 * r) - 1 / (24 * r**2) - 19 / (360 * r**3)
        summed = _summed_entropy(Poisson(f.minimum(self.rate, 50.0)), 150) + _rising(self.rate)
        return f.where(self.rate < 50, summed, series)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def variance(self) -> Tensor:
        return self.rate

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.poisson(self.rate, shape, key=key)


class Geometric(_ByProbability):
    """The number of failures before the first success, from 0 on.

    >>> import adjoint as ad
    >>> ad.stats.Geometric(0.25).mean
    Tensor(3.)
    """

    chances = "possible"

    def __init__(self, probs: Any = None, logits: Any = None) -> None:
        self._choose(probs, logits)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        good = _is_count(x)
        return inside(good, _times_log(f.where(good, x, 0.0), self._log_q) + self._log_p, x)

    def cdf(self, x: Any) -> Tensor:
        k = f.floor(self._value(x))
        more = -f.expm1((f.maximum(k, 1.0) + 1) * self._log_q)
        return f.where(k < 0, 0.0, f.where(k == 0, self.probs, more))

    def sf(self, x: Any) -> Tensor:
        k = f.floor(self._value(x))
        more = f.exp((f.maximum(k, 1.0) + 1) * self._log_q)
        return f.where(k < 0, 1.0, f.where(k == 0, self._q, more))

    def entropy(self) -> Tensor:
        return -(expected(self._q, self._log_q) + expected(self.probs, self._log_p)) / self.probs

    @property
    def mean(self) -> Tensor:
        return self._q / self.probs if self._by_probs else f.exp(-self.logits)

    @property
    def variance(self) -> Tensor:
        return self.mean / self.probs

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.geometric(self.probs, shape, key=key)


class NegativeBinomial(_ByProbability):
    """The number of successes, each of probability `probs`, before `total_count` failures (which need not be an integer).

    >>> import adjoint as ad
    >>> ad.stats.NegativeBinomial(3.0, 0.5).mean
    Tensor(3.)
    """

    names: ClassVar[Any] = _names("total_count")
    total_count: Tensor

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None) -> None:
        self._choose(probs, logits, total_count=total_count)

    def log_prob(self, x: Any) -> Tensor:
        x, r = self._value(x), self.total_count
        good = _is_count(x)
        k = f.where(good, x, 0.0)
        ways = special.gammaln(r + k) - special.gammaln(k + 1) - special.gammaln(r)
        return inside(good, ways + r * self._log_q + _times_log(k, self._log_p), x)

    def cdf(self, x: Any) -> Tensor:
        k = f.floor(self._value(x))
        return f.where(k < 0, 0.0, special.betainc(self.total_count, f.maximum(k, 0.0) + 1, self._q))

    def sf(self, x: Any) -> Tensor:
        k = f.floor(self._value(x))
        return f.where(k < 0, 1.0, special.betainc(f.maximum(k, 0.0) + 1, self.total_count, self.probs))

    def entropy(self) -> Tensor:
        """By the sum over the counts but those of the tail below the dtype's precision, whose values must be known: not under
        `jit`. Where these are more than a million, from 4,096 on by an integral."""
        eps = float(np.finfo(self.dtype.dtype).eps)
        last = np.asarray(stop_gradient(self.icdf(1 - 4 * eps)))
        if np.isinf(last).any():  # rounding keeps the cdf below that rank; tails fall at least as exp(-k q)
            far = np.asarray(stop_gradient(self.mean + 40 * (f.sqrt(self.variance) + 1 / self._q)))
            last = np.where(np.isinf(last) & np.isfinite(far), np.ceil(far), last)
        terms = 2 * int(np.max(last, initial=0)) + 2
        if terms <= MANY:
            return _summed_entropy(self, terms) + _rising(self.probs)
        first = np.asarray(stop_gradient(self.icdf(eps**1.5)))
        return _summed_entropy(self, FEW) + self._far_entropy(first, last) + _rising(self.probs)

    def _far_entropy(self, first: Any, last: Any) -> Tensor:
        """What the counts from FEW on add to the entropy: the integral over their logarithms, from half a count below."""
        nodes, weights = np.polynomial.legendre.leggauss(400)
        low = np.log(np.maximum(first, FEW) - 0.5)
        length = np.maximum(np.log(np.maximum(last, FEW)) - low, 0.0)
        lead = (-1, *(1,) * length.ndim)
        level = low + length * (nodes.reshape(lead) + 1) / 2
        k, share = (f.asarray(v, dtype="float64") for v in (np.exp(level), length * weights.reshape(lead) / 2))
        r, log_p, log_q = (v.astype("float64") for v in (self.total_count, self._log_p, self._log_q))
        logs = r * log_q + k * log_p - special.betaln(r, k + 1) - f.log(r + k)
        return (share * k * _entropies(logs)).sum(axis=0).astype(self.dtype)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self._odds

    @property
    def variance(self) -> Tensor:
        return self.mean / self._q

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.negative_binomial(self.total_count, self.probs, shape, key=key)


# Classes --------------------------------------------------------------------------------------------------------------


class _OfClasses(_Counts):
    names: ClassVar[Any] = _names()
    probs: Any = _WorkedOut(lambda d: f.exp(d.logits))
    logits: Any = _WorkedOut(lambda d: f.log(d.probs))

    def _classes(self, probs: Any, logits: Any) -> None:
        name = type(self).__name__
        if (probs is None) == (logits is None):
            raise ValueError(f"{name}: give either probs or logits{at_user()}")
        (value,) = draws.floating(logits if probs is None else probs)
        if value.ndim == 0:
            raise ValueError(
                f"{name}: the last axis is that of the classes; got {described(value)} without axes{at_user()}"
            )
        if probs is not None:
            checked(name, value, "probs", "nonnegative")
            self.probs = value / value.sum(axis=-1, keepdims=True)
        else:
            self.logits = f.log_softmax(value, axis=-1)

    @property
    def _each(self) -> tuple[int, ...]:
        """The shape of the parameter: the batch's, and the classes."""
        return tuple(getattr(self, self.names[-1]).shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self._each[:-1]


class Categorical(_OfClasses):
    """A class 0, 1, ..., by probabilities or logits along the last axis; they are normalised.

    >>> import adjoint as ad
    >>> ad.stats.Categorical([1.0, 3.0]).log_prob(1)
    Tensor(-0.2877)
    """

    def __init__(self, probs: Any = None, logits: Any = None) -> None:
        self._classes(probs, logits)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        n = self._each[-1]
        good = _is_count(x) & (x < n)
        index = f.where(good, x, 0.0).astype("int64")
        shape = np.broadcast_shapes(index.shape, self.batch_shape)
        logits = f.broadcast_to(self.logits, (*shape, n))
        found = f.take_along_axis(logits, f.broadcast_to(index, shape)[..., None], axis=-1)[..., 0]
        return inside(good, found, x)

    def cdf(self, x: Any) -> Tensor:
        x = self._value(x)
        reached = f.arange(self._each[-1], dtype=self.dtype) <= x[..., None]
        return beyond(x, f.where(reached, self.probs, 0.0).sum(axis=-1))

    def entropy(self) -> Tensor:
        return -expected(self.probs, self.logits).sum(axis=-1)

    @property
    def mean(self) -> Tensor:
        return (self.probs * f.arange(self._each[-1], dtype=self.dtype)).sum(axis=-1)

    @property
    def variance(self) -> Tensor:
        classes = f.arange(self._each[-1], dtype=self.dtype)
        return (self.probs * (classes - self.mean[..., None]) ** 2).sum(axis=-1)

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.categorical(self.logits, shape[: len(shape) - len(self.batch_shape)], key=key)


class Multinomial(_OfClasses):
    """How often each class comes in `total_count` draws: values have the classes along their last axis.

    >>> import adjoint as ad
    >>> ad.stats.Multinomial(2, [0.5, 0.5]).prob([1, 1])
    Tensor(0.5)
    """

    names: ClassVar[Any] = _names("total_count")
    event_dims = 1
    total_count: Tensor

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None) -> None:
        self._classes(probs, logits)
        (count,) = draws.floating(total_count)
        checked("Multinomial", count, "total_count", "count")
        self.total_count = count.astype(getattr(self, self.names[-1]).dtype)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(np.broadcast_shapes(self.total_count.shape, self._each[:-1]))

    @property
    def event_shape(self) -> tuple[int, ...]:
        return self._each[-1:]

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        good = _is_count(x).all(axis=-1) & (x.sum(axis=-1) == self.total_count)
        k = f.where(good[..., None], x, 0.0)
        ways = special.gammaln(self.total_count + 1) - special.gammaln(k + 1).sum(axis=-1)
        return inside(good, ways + _times_log(k, self.logits).sum(axis=-1), x.sum(axis=-1))

    @property
    def mean(self) -> Tensor:
        return self.total_count[..., None] * self.probs

    @property
    def variance(self) -> Tensor:
        return self.total_count[..., None] * self.probs * (1 - self.probs)

    def entropy(self) -> Tensor:
        """By sums over the counts of each class; TypeError under `jit`, where total_count isn't known."""
        n, p = self.total_count, self.probs
        counts = f.reshape(f.arange(_most(n, "Multinomial") + 1, dtype=self.dtype), (-1, *(1,) * (p.ndim or 1)))
        each = Binomial(n[..., None], p)
        spread = (f.exp(each.log_prob(counts)) * special.gammaln(counts + 1)).sum(axis=0).sum(axis=-1)
        return n * -expected(p, self.logits).sum(axis=-1) - special.gammaln(n + 1) + spread

    def icdf(self, p: Any) -> Tensor:
        raise self._missing("icdf")

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        front = shape[: len(shape) - len(self._each)]
        return draws.multinomial(self.total_count, self.probs, as_shape(front, "sample"), key=key)
