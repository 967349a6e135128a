"""What all distributions have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import adjoint.tensors.functions as f
from adjoint import tree
from adjoint.transforms.loops import fori_loop, while_loop
from adjoint.transforms.grad import stop_gradient
from adjoint.shapes import as_shape
from adjoint.solvers.implicit import determined
from adjoint.stats.draws import floating
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor

__all__ = ["Distribution", "beyond", "checked", "end_slope", "inside", "ordered", "steep"]

CONDITIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "positive": (lambda v: v > 0, "positive"),
    "nonnegative": (lambda v: v >= 0, "0 or more"),
    "count": (lambda v: (v >= 0) & (v == np.floor(v)), "a whole number, 0 or more"),
    "possible": (lambda v: (v > 0) & (v <= 1), "in (0, 1]"),
    "probability": (lambda v: (v >= 0) & (v <= 1), "in [0, 1]"),
    "real": (lambda v: ~np.isnan(v), "a number"),
}


def checked(name: str, value: Tensor, what: str, condition: str) -> Tensor:
    """A parameter, where its value is known already: ValueError if it isn't what it must be."""
    known = value.node.value
    test, words = CONDITIONS[condition]
    if known is not None and not bool(np.all(test(np.asarray(known)))):
        raise ValueError(f"{name}: {what} must be {words}{at_user()}")
    return value


def ordered(name: str, low: Tensor, high: Tensor) -> None:
    """Raises ValueError where both ends are known already and high isn't above low."""
    ends = low.node.value, high.node.value
    if ends[0] is not None and ends[1] is not None and not bool(np.all(np.asarray(ends[0]) < np.asarray(ends[1]))):
        raise ValueError(f"{name}: high must be above low{at_user()}")


def beyond(x: Tensor, value: Any) -> Tensor:
    """What holds where x is outside of the support; NaN where x is NaN."""
    return f.where(f.isnan(x), math.nan, value)


def inside(within: Tensor, value: Tensor, x: Tensor) -> Tensor:
    """A log density at x: -inf outside of the support, NaN where x is NaN."""
    return f.where(within, value, beyond(x, -math.inf))


def steep(p: Tensor, low: Any = True, high: Any = True) -> Tensor:
    """0 for each rank, with an infinite derivative where it is 0 (by `low`) or 1 (by `high`): that of an icdf which has no
    density there, and whose formula has a constant at its end, or multiplies by 0."""
    return f.sqrt(f.where((p == 0) & low, p, 0.0)) - f.sqrt(f.where((p == 1) & high, 1 - p, 0.0))


class Distribution:
    """A distribution, or a batch of them: parameters broadcast against each other, and what is computed against values.

    log_prob(x), prob(x), cdf(x), sf(x), icdf(p), isf(p), sample(shape, key=), rsample(shape, key=), entropy(), mean, variance,
    stddev; `ad.stats.kl_divergence(p, q)`. Draws have the shape (*shape, *batch_shape, *event_shape). Everything is
    differentiable by the parameters, of every order, unless it says so; it works under `vmap` and `jit`, and a distribution may
    be passed to and from transformed functions, a tree of its parameters. What has no closed form is a TypeError that says so.
    Values that are NaN have a NaN as their log density and cdf.

    Parameters that are known are checked: ValueError. `discrete` says whether values are counts, `support` where they lie.

    >>> import adjoint as ad
    >>> d = ad.stats.Normal([0.0, 1.0], 2.0)
    >>> d.batch_shape, d.sample((3,)).shape, d.stddev
    ((2,), (3, 2), Tensor([2., 2.]))
    """

    names: ClassVar[tuple[str, ...]] = ()  # of the parameters, as the constructor takes them
    discrete: ClassVar[bool] = False
    reparameterised: ClassVar[bool] = True
    support: Any = (-math.inf, math.inf)
    event_dims: ClassVar[int] = 0

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        tree.register(cls, _parts, lambda key, parts: _rebuilt(cls, key, parts))

    def _set(self, *conditions: str, **parameters: Any) -> None:
        """Check the parameters, and note them as tensors of one floating dtype."""
        tensors = floating(*parameters.values())
        for (name, _), value, condition in zip(parameters.items(), tensors, conditions, strict=True):
            setattr(self, name, checked(type(self).__name__, value, name, condition))
        self._fits()

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.names)
        return f"{type(self).__name__}({given})"

    # Shapes

    def _fits(self) -> None:
        """Raises ValueError where the parameters' shapes don't broadcast."""
        shapes = [getattr(self, name).shape for name in self.names]
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            listed = ", ".join(f"{name} {shape}" for name, shape in zip(self.names, shapes, strict=True))
            raise ValueError(
                f"{type(self).__name__}: the parameters' shapes don't broadcast: {listed}{at_user()}"
            ) from None

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape of the batch of distributions."""
        return tuple(np.broadcast_shapes(*[getattr(self, name).shape for name in self.names]))

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one value."""
        return ()

    @property
    def dtype(self) -> Any:
        """The dtype of the parameters, and of values that aren't counts."""
        return getattr(self, self.names[0]).dtype

    def _value(self, x: Any) -> Tensor:
        value = f.asarray(x)
        return value if value.dtype is self.dtype else value.astype(self.dtype)

    def _shape(self, shape: Any) -> tuple[int, ...]:
        return (*as_shape(shape, "sample"), *self.batch_shape, *self.event_shape)

    # Values

    def log_prob(self, x: Any) -> Tensor:
        """The logarithm of the density, or of the probability of a count; -inf outside of the support."""
        raise self._missing("log_prob")

    def prob(self, x: Any) -> Tensor:
        """The density, or the probability of a count."""
        return f.exp(self.log_prob(x))

    def cdf(self, x: Any) -> Tensor:
        """The probability of at most x."""
        raise self._missing("cdf")

    def icdf(self, p: Any) -> Tensor:
        """The value whose cdf is p (of counts: the smallest whose cdf is at least p); NaN outside of [0, 1]."""
        return _least_count(self, self._value(p)) if self.discrete else _inverted(self, self._value(p))

    def sf(self, x: Any) -> Tensor:
        """The probability of more than x, 1 - cdf(x): small probabilities are exact where the distribution has a formula."""
        return 1 - self.cdf(x)

    def isf(self, p: Any) -> Tensor:
        """The value whose sf is p (of counts: the smallest whose sf is at most p); NaN outside of [0, 1]."""
        if type(self).sf is Distribution.sf:
            return self.icdf(1 - self._value(p))
        found = _least_count if self.discrete else _inverted
        return found(self, self._value(p), upper=True)

    def entropy(self) -> Tensor:
        """The expectation of -log_prob."""
        raise self._missing("entropy")

    @property
    def mean(self) -> Tensor:
        """The expectation."""
        raise self._missing("mean")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise self._missing("variance")

    @property
    def stddev(self) -> Tensor:
        """The standard deviation."""
        return f.sqrt(self.variance)

    def rsample(self, shape: Any = (), *, key: Any = None) -> Tensor:
        """Draws that differentiate by the parameters. Raises TypeError for counts."""
        if not self.reparameterised:
            raise TypeError(
                f"{type(self).__name__}.rsample: these draws have no derivative; use sample, and log_prob for a score-function "
                f"gradient{at_user()}"
            )
        return self._draw(self._shape(shape), key)

    def sample(self, shape: Any = (), *, key: Any = None) -> Tensor:
        """Draws, as constants to every derivative. `key` is an explicit key or a generator."""
        drawn: Tensor = stop_gradient(self._draw(self._shape(shape), key))
        return drawn

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        raise self._missing("sample")

    def _missing(self, what: str) -> TypeError:
        return TypeError(f"{type(self).__name__}: {what} has no closed form{at_user()}")


def _parts(d: Distribution) -> tuple[list[Any], Any]:
    names = tuple(vars(d))
    return [getattr(d, name) for name in names], names


def _rebuilt(cls: type[Distribution], names: Any, parts: list[Any]) -> Distribution:
    made: Distribution = object.__new__(cls)
    for name, part in zip(names, parts, strict=True):
        setattr(made, name, part)
    return made


# Inverse distribution functions -------------------------------------------------------------------------------------------


def _to_line(x: Tensor, low: float, high: float) -> Tensor:
    """From the whole line into the support, increasing."""
    if low == -math.inf:
        return x if high == math.inf else high - f.exp(-x)
    return low + f.exp(x) if high == math.inf else low + (high - low) * f.sigmoid(x)


def _inverted(d: Distribution, p: Tensor, upper: bool = False) -> Tensor:
    """By bisection on the line that the support is mapped to; derivatives as cdf(x) = p, or sf(x) = p, determines x."""
    low, high = d.support
    shape = np.broadcast_shapes(p.shape, d.batch_shape)
    wanted = f.broadcast_to(p, shape)
    target = stop_gradient(wanted)
    farthest = float(np.finfo(p.dtype.dtype).max) / 4
    chance, first, last = (d.sf, target < 1, target > 0) if upper else (d.cdf, target > 0, target < 1)

    def below(x: Tensor) -> Tensor:
        found = stop_gradient(chance(_to_line(x, low, high)))
        return found > target if upper else found < target

    def wider(ends: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        a, b = ends
        return f.where(below(a), a, 2 * a), f.where(below(b), 2 * b, b)

    def open_end(ends: tuple[Tensor, Tensor]) -> Tensor:
        a, b = ends
        return (((~below(a) & first) | (below(b) & last)) & (f.maximum(abs(a), b) < farthest)).any()

    def halve(_: Tensor, ends: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        a, b = ends
        middle = (a + b) / 2
        return f.where(below(middle), middle, a), f.where(below(middle), b, middle)

    start = (f.full(shape, -1.0, dtype=p.dtype), f.full(shape, 1.0, dtype=p.dtype))
    a, b = fori_loop(0, 70, halve, while_loop(open_end, wider, start))
    x = determined(_to_line((a + b) / 2, low, high), lambda v: chance(v) - wanted, elementwise=True)
    x = f.where(first, f.where(last, x, high), low)
    slope = end_slope(d, x, wanted)
    return f.where((target >= 0) & (target <= 1), x - slope if upper else x + slope, math.nan)


def end_slope(d: Distribution, x: Tensor, p: Tensor) -> Tensor:
    """0, with the derivative by p that icdf has where p is 0 or 1: one over the density there."""
    end = (p == 0) | (p == 1)
    slope = stop_gradient(f.exp(-d.log_prob(f.where(end, x, math.nan))))
    slope = f.where(f.isnan(slope), math.inf, slope)
    finite = f.where(end & (slope < math.inf), slope, 0.0) * (p - stop_gradient(p))
    return finite + steep(p, slope == math.inf, slope == math.inf)


def _least_count(d: Distribution, p: Tensor, upper: bool = False) -> Tensor:
    """By doubling and bisection among the counts."""
    shape = np.broadcast_shapes(p.shape, d.batch_shape)
    target = stop_gradient(f.broadcast_to(p, shape))
    last = target <= 0 if upper else target >= 1

    def reached(k: Tensor) -> Tensor:
        if upper:
            return stop_gradient(d.sf(k)) <= target * (1 + 1e-14)
        return stop_gradient(d.cdf(k)) >= target * (1 - 1e-14)

    def halve(_: Tensor, ends: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        a, b = ends
        middle = f.floor((a + b) / 2)
        return f.where(reached(middle), a, middle), f.where(reached(middle), middle, b)

    top = f.full(shape, 1.0, dtype=p.dtype)
    top = while_loop(lambda b: (~reached(b) & ~last & (b < 1e15)).any(), lambda b: f.where(reached(b), b, 2 * b), top)
    _, k = fori_loop(0, 52, halve, (f.full(shape, -1.0, dtype=p.dtype), top))
    k = f.where(last, d.support[1], k)
    return f.where((target >= 0) & (target <= 1), k, math.nan)
