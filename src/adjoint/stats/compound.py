"""Distributions made of others: mixtures, transformed and truncated ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint.transforms.grad import stop_gradient
from adjoint.solvers.implicit import determined
from adjoint.random import source
from adjoint.stats import draws
from adjoint.stats.base import Distribution, end_slope, inside, ordered
from adjoint.stats.discrete import Categorical, expected
from adjoint.stats.transforms import Bijection
from adjoint.tensors.conversion import a
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor

__all__ = ["Mixture", "Transformed", "Truncated"]


class Mixture(Distribution):
    """A mixture of the distributions along the last axis of the batch of `components`, with these weights (..., k).

    Draws differentiate by all parameters where values are numbers with a cdf: a draw keeps its rank (implicit
    reparameterisation).

    >>> import adjoint as ad
    >>> d = ad.stats.Mixture([0.5, 0.5], ad.stats.Normal([-1.0, 1.0], 1.0))
    >>> d.mean, d.variance
    (Tensor(0.), Tensor(2.))
    """

    weights: Categorical
    components: Distribution

    def __init__(self, weights: Any, components: Distribution) -> None:
        self.weights = weights if isinstance(weights, Categorical) else Categorical(probs=weights)
        if not isinstance(components, Distribution) or not components.batch_shape:
            raise ValueError(
                f"Mixture: components are one distribution with a batch of them, got {a(components)}{at_user()}"
            )
        if self.weights.logits.shape[-1] != components.batch_shape[-1]:
            raise ValueError(
                f"Mixture: {self.weights.logits.shape[-1]} weights for {components.batch_shape[-1]} components{at_user()}"
            )
        self.components = components

    def __repr__(self) -> str:
        return f"Mixture({self.weights!r}, {self.components!r})"

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """Whether values are counts."""
        return self.components.discrete

    @property
    def reparameterised(self) -> bool:  # type: ignore[override]
        """Whether draws differentiate."""
        return self.components.reparameterised and not self.components.event_dims

    @property
    def support(self) -> Any:
        """Where values lie."""
        return self.components.support

    @property
    def dtype(self) -> Any:
        return self.components.dtype

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(np.broadcast_shapes(self.weights.batch_shape, self.components.batch_shape[:-1]))

    @property
    def event_shape(self) -> tuple[int, ...]:
        return self.components.event_shape

    def _beside(self, x: Tensor) -> Tensor:
        """Values with an axis of components."""
        place = x.ndim - self.components.event_dims if self.components.event_dims else x.ndim
        return f.expand_dims(x, place)

    def log_prob(self, x: Any) -> Tensor:
        each = self.components.log_prob(self._beside(self._value(x)))
        if "probs" not in vars(self.weights):
            return f.logsumexp(self.weights.logits + each, axis=-1)
        p = self.weights.probs
        none = (p == 0) & f.ones_like(each).astype("bool")
        present = f.logsumexp(f.where(none, -math.inf, f.log(f.where(none, 1.0, p)) + each), axis=-1)
        # what weighs nothing adds nothing, and has its density as the derivative by its weight all the same
        largest = float(np.finfo(self.dtype.dtype).max)
        beside = f.where(present == -math.inf, -largest, present)[..., None]
        ratio = f.minimum(f.where(none & (each > -math.inf), each, -math.inf) - beside, math.log(largest) - 1.0)
        return present + f.log1p((p * f.exp(ratio)).sum(axis=-1))

    def cdf(self, x: Any) -> Tensor:
        return (self.weights.probs * self.components.cdf(self._beside(self._value(x)))).sum(axis=-1)

    def sf(self, x: Any) -> Tensor:
        return (self.weights.probs * self.components.sf(self._beside(self._value(x)))).sum(axis=-1)

    def _averaged(self, x: Tensor) -> Tensor:
        weights = self.weights.probs
        for _ in self.event_shape:
            weights = weights[..., None]
        return expected(weights, x).sum(axis=-1 - len(self.event_shape))

    @property
    def mean(self) -> Tensor:
        return self._averaged(self.components.mean)

    @property
    def variance(self) -> Tensor:
        centre = f.expand_dims(self.mean, -1 - len(self.event_shape))
        return self._averaged(self.components.variance + (self.components.mean - centre) ** 2)

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        generator = source(key)
        front = shape[: len(shape) - len(self.event_shape)]
        logits = f.broadcast_to(self.weights.logits, (*front, self.weights.logits.shape[-1]))
        chosen = draws.categorical(logits, key=generator)
        count = logits.shape[-1]
        every = self.components._draw((*front, count, *self.event_shape), generator)
        index = f.reshape(chosen, (*front, 1, *(1,) * len(self.event_shape)))
        index = f.broadcast_to(index, (*front, 1, *self.event_shape))
        value = f.take_along_axis(stop_gradient(every), index, axis=len(front))
        value = f.reshape(value, shape)
        if not self.reparameterised:
            return value
        rank = stop_gradient(self.cdf(value))
        return determined(value, lambda v: self.cdf(v) - rank, elementwise=True)


class Transformed(Distribution):
    """The distribution of y = transforms(x) for x of a base distribution: a bijection, or a list of them, applied in order.

    >>> import adjoint as ad
    >>> d = ad.stats.Transformed(ad.stats.Normal(0.0, 1.0), [ad.stats.Exp()])
    >>> d.log_prob(2.0) - ad.stats.LogNormal(0.0, 1.0).log_prob(2.0)
    Tensor(0.)
    """

    base: Distribution
    transforms: Any

    def __init__(self, base: Distribution, transforms: Bijection | Sequence[Bijection]) -> None:
        self.base = base
        self.transforms = (transforms,) if isinstance(transforms, Bijection) else tuple(transforms)
        for t in self.transforms:
            if not isinstance(t, Bijection):
                raise TypeError(f"Transformed: a transform is an ad.stats.Bijection, got {a(t)}{at_user()}")

    def __repr__(self) -> str:
        return f"Transformed({self.base!r}, {list(self.transforms)!r})"

    @property
    def reparameterised(self) -> bool:  # type: ignore[override]
        """Whether draws differentiate."""
        return self.base.reparameterised

    @property
    def dtype(self) -> Any:
        return self.base.dtype

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.base.batch_shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        return self.base.event_shape

    def log_prob(self, y: Any) -> Tensor:
        y = self._value(y)
        given = y.sum(axis=-1) if self.event_shape else y
        within: Any = True
        total: Any = 0.0
        for t in reversed(self.transforms):
            good = t.image(y)
            within = good & within
            x = t.inverse(y)
            slope = f.where(good, t.log_slope(f.where(good, x, t.point)), 0.0)
            total = total + (slope.sum(axis=-1) if self.event_shape else slope)
            y = f.where(good, x, t.point)
        within = within.all(axis=-1) if self.event_shape else within
        return inside(within, self.base.log_prob(y) - total, given)

    def _rising(self) -> bool | Tensor:
        rising: Any = True
        for t in self.transforms:
            rising = rising == t.rising
        return rising

    def cdf(self, y: Any) -> Tensor:
        return self._one_side(self.base.cdf, self.base.sf, y)

    def sf(self, y: Any) -> Tensor:
        return self._one_side(self.base.sf, self.base.cdf, y)

    def _one_side(self, rising: Callable[[Any], Tensor], falling: Callable[[Any], Tensor], y: Any) -> Tensor:
        y = self._value(y)
        for t in reversed(self.transforms):
            y = t.bounded_inverse(y)
        return self._by_direction(rising, falling, y)

    def icdf(self, p: Any) -> Tensor:
        return self._image(self._by_direction(self.base.icdf, self.base.isf, self._value(p)))

    def isf(self, p: Any) -> Tensor:
        return self._image(self._by_direction(self.base.isf, self.base.icdf, self._value(p)))

    def _by_direction(self, rising: Callable[[Any], Tensor], falling: Callable[[Any], Tensor], x: Tensor) -> Tensor:
        """One function of x where the transforms rise, the other where they fall."""
        rises = self._rising()
        if isinstance(rises, bool):
            return rising(x) if rises else falling(x)
        return f.where(rises, rising(x), falling(x))

    def _image(self, x: Tensor) -> Tensor:
        for t in self.transforms:
            x = t(x)
        return x

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        x = self.base._draw(shape, key)
        for t in self.transforms:
            x = t(x)
        return x


class Truncated(Distribution):
    """A distribution of numbers within [low, high]. Draws are its own icdf of uniform numbers, and differentiate.

    Above the base's median all is computed from its `sf` where that has a formula, so that far tails keep their digits. Where no
    probability is left in float64 between the ends, values are NaN.

    >>> import adjoint as ad
    >>> ad.stats.Truncated(ad.stats.Normal(0.0, 1.0), low=0.0).prob(ad.tensor([-1.0, 0.0]))
    Tensor([0.    , 0.7979])
    """

    base: Distribution
    low: Tensor
    high: Tensor

    def __init__(self, base: Distribution, low: Any = -math.inf, high: Any = math.inf) -> None:
        if base.discrete or base.event_shape:
            raise TypeError(f"Truncated: the base has real numbers as values, got {base!r}{at_user()}")
        self.base = base
        self.low, self.high = (_end(x, base.dtype) for x in (low, high))
        ordered("Truncated", self.low, self.high)

    def __repr__(self) -> str:
        return f"Truncated({self.base!r}, {self.low!r}, {self.high!r})"

    @property
    def dtype(self) -> Any:
        return self.base.dtype

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(np.broadcast_shapes(self.base.batch_shape, self.low.shape, self.high.shape))

    def _between(self, probability: Callable[[Any], Tensor], below: float) -> tuple[Tensor, Tensor]:
        """A tail's probability at the lower and the upper end; `below` is that of minus infinity."""
        ends = []
        for x, infinite in ((self.low, below), (self.high, 1 - below)):
            finite = f.isfinite(x)
            ends.append(f.where(finite, probability(f.where(finite, x, 0.5)), infinite))
        return ends[0], ends[1]

    def _mass(self) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
        """The probability below the lower end, that above it, whether to compute with upper tails (None: never), and what lies
        between the ends."""
        begin, end = self._between(self.base.cdf, 0.0)
        if type(self.base).sf is Distribution.sf:
            mass = end - begin
            return begin, 1 - begin, None, f.where(mass > 0, mass, math.nan)
        above, rest = self._between(self.base.sf, 1.0)
        upper = stop_gradient(begin) > 0.5
        mass = f.where(upper, above - rest, end - begin)
        return begin, above, upper, f.where(mass > 0, mass, math.nan)

    def log_prob(self, x: Any) -> Tensor:
        x = self._value(x)
        mass = self._mass()[-1]
        within = (x >= self.low) & (x <= self.high)
        safe = f.where(
            within, x, f.where(f.isfinite(self.low), self.low, f.where(f.isfinite(self.high), self.high, 0.5))
        )
        return inside(within, self.base.log_prob(safe) - f.log(mass), x)

    def cdf(self, x: Any) -> Tensor:
        x = self._value(x)
        begin, above, upper, mass = self._mass()
        reached = self.base.cdf(x) - begin
        if upper is not None:
            reached = f.where(upper, above - self.base.sf(x), reached)
        return f.clip(reached / mass, 0.0, 1.0)

    def sf(self, x: Any) -> Tensor:
        x = self._value(x)
        lower, end, rest = self._far_end()
        left = f.where(lower, end - self.base.cdf(x), self.base.sf(x) - rest)
        return f.clip(left / self._mass()[-1], 0.0, 1.0)

    def _far_end(self) -> tuple[Tensor, Tensor, Tensor]:
        """Whether to compute what lies above a value with lower tails; the probability below the upper end, and that above it."""
        end, rest = self._between(self.base.cdf, 0.0)[1], self._between(self.base.sf, 1.0)[1]
        return stop_gradient(end) < 0.5, end, rest

    def icdf(self, p: Any) -> Tensor:
        p = self._value(p)
        x = self._at_rank(p)
        return x + end_slope(self, x, f.broadcast_to(p, x.shape))

    def _at_rank(self, p: Tensor) -> Tensor:
        """The icdf, whose derivatives by p hold between 0 and 1."""
        begin, above, upper, mass = self._mass()
        share = f.where((p < 0) | (p > 1), math.nan, p) * mass
        if upper is None:
            inner = self.base.icdf(begin + share)
        else:
            inner = f.where(
                upper,
                self.base.isf(f.where(upper, above - share, 0.5)),
                self.base.icdf(f.where(upper, 0.5, begin + share)),
            )
        return self._ending(inner, p, self.low, self.high)

    def isf(self, p: Any) -> Tensor:
        p = self._value(p)
        _, _, upper, mass = self._mass()
        if upper is None:
            return self.icdf(1 - p)
        share = f.where((p < 0) | (p > 1), math.nan, p) * mass
        lower, end, rest = self._far_end()
        inner = f.where(
            lower,
            self.base.icdf(f.where(lower, end - share, 0.5)),
            self.base.isf(f.where(lower, 0.5, rest + share)),
        )
        x = self._ending(inner, p, self.high, self.low)
        return x - end_slope(self, x, f.broadcast_to(p, x.shape))

    def _ending(self, inner: Tensor, p: Tensor, first: Tensor, last: Tensor) -> Tensor:
        """A value between the ends, where rounding may have carried it outside, or one of them where p is 0 or 1."""
        inner = inner + stop_gradient(f.clip(inner, self.low, self.high) - inner)
        return f.where(p == 0, first, f.where(p == 1, last, inner))

    @property
    def mean(self) -> Tensor:
        """By quadrature of the icdf."""
        return self._moment(lambda x: x)

    @property
    def variance(self) -> Tensor:
        """By quadrature of the icdf."""
        mean = self.mean
        return self._moment(lambda x: (x - mean) ** 2)

    def entropy(self) -> Tensor:
        """By quadrature of the icdf."""
        return -self._moment(self.log_prob)

    def _moment(self, g: Callable[[Tensor], Tensor]) -> Tensor:
        """The expectation of g: the integral over the ranks, whose ends are spread by the substitution t²(3 - 2t), twice."""
        nodes, weights = np.polynomial.legendre.leggauss(200)
        t, weights = (nodes + 1) / 2, weights / 2
        for _ in range(2):
            weights = weights * 6 * t * (1 - t)
            t = t * t * (3 - 2 * t)
        ranks = f.asarray(t, dtype=self.dtype)
        lead = (len(t), *(1,) * len(self.batch_shape))
        values = g(self._at_rank(f.reshape(ranks, lead)))
        return (f.reshape(f.asarray(weights, dtype=self.dtype), lead) * values).sum(axis=0)

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        smallest = 2.0**-54 if self.dtype.dtype.itemsize == 8 else 2.0**-25
        return self._at_rank(source(key).uniform(shape, dtype=self.dtype) + smallest)


def _end(x: Any, dtype: Any) -> Tensor:
    """An end of an interval; a number keeps a value that is known."""
    return x.astype(dtype) if isinstance(x, Tensor) else f.asarray(x, dtype=dtype)
