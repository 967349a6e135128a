"""Bijections of real numbers, for `Transformed`."""

from __future__ import annotations

import math
from typing import Any

import adjoint.tensors.functions as f
from adjoint import special, tree
from adjoint.stats.draws import floating
from adjoint.tensors.tensor import Tensor

__all__ = ["Affine", "Bijection", "Exp", "Power", "Sigmoid", "Softplus", "Tanh"]


class Bijection:
    """An invertible function of numbers, elementwise: call it, or its `inverse`. Subclasses define both, `log_slope(x)`, the
    logarithm of |derivative|, and the interval `low`, `high` that it maps onto.

    >>> import adjoint as ad
    >>> ad.stats.Exp().inverse(ad.stats.Exp()(2.0))
    Tensor(2.)
    """

    low, high = -math.inf, math.inf
    rising: Any = True  # or decreasing
    point = 1.0  # where it is defined, and its inverse

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        tree.register(
            cls, lambda t: (list(vars(t).values()), tuple(vars(t))), lambda key, parts: _made(cls, key, parts)
        )

    def __call__(self, x: Any) -> Tensor:
        """The function."""
        raise NotImplementedError

    def inverse(self, y: Any) -> Tensor:
        """The x that it maps to y."""
        raise NotImplementedError

    def log_slope(self, x: Any) -> Tensor:
        """The logarithm of |derivative| at x."""
        raise NotImplementedError

    def image(self, y: Tensor) -> Tensor:
        """Whether y is a value of it."""
        return (y > self.low) & (y < self.high)

    def bounded_inverse(self, y: Tensor) -> Tensor:
        """The inverse, and at or beyond an end of the image the infinity that belongs there."""
        good = self.image(y)
        middle = f.where(good, y, self(f.full_like(y, self.point)))
        ends = f.where(y <= self.low, -math.inf, math.inf)
        return f.where(good, self.inverse(middle), ends)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"


def _made(cls: type[Bijection], names: Any, parts: list[Any]) -> Bijection:
    made: Bijection = object.__new__(cls)
    for name, part in zip(names, parts, strict=True):
        setattr(made, name, part)
    return made


class Affine(Bijection):
    """loc + scale·x; the scale may be negative, and not 0.

    >>> import adjoint as ad
    >>> ad.stats.Affine(1.0, 2.0)(3.0)
    Tensor(7.)
    """

    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0) -> None:
        self.loc, self.scale = floating(loc, scale)

    @property
    def rising(self) -> Any:
        """Whether it increases."""
        return self.scale > 0

    def __call__(self, x: Any) -> Tensor:
        return self.loc + self.scale * x

    def inverse(self, y: Any) -> Tensor:
        return (y - self.loc) / self.scale

    def log_slope(self, x: Any) -> Tensor:
        return f.log(abs(self.scale)) + 0 * f.asarray(x)

    def bounded_inverse(self, y: Tensor) -> Tensor:
        return self.inverse(y)


class Exp(Bijection):
    """eˣ.

    >>> import adjoint as ad
    >>> ad.stats.Exp()(0.0)
    Tensor(1.)
    """

    low = 0.0

    def __call__(self, x: Any) -> Tensor:
        return f.exp(x)

    def inverse(self, y: Any) -> Tensor:
        return f.log(y)

    def log_slope(self, x: Any) -> Tensor:
        return f.asarray(x)


class Sigmoid(Bijection):
    """1/(1 + e⁻ˣ).

    >>> import adjoint as ad
    >>> ad.stats.Sigmoid()(0.0)
    Tensor(0.5)
    """

    low, high = 0.0, 1.0

    def __call__(self, x: Any) -> Tensor:
        return f.sigmoid(x)

    def inverse(self, y: Any) -> Tensor:
        return special.logit(y)

    def log_slope(self, x: Any) -> Tensor:
        return special.log_expit(x) + special.log_expit(-f.asarray(x))


class Tanh(Bijection):
    """The hyperbolic tangent.

    >>> import adjoint as ad
    >>> ad.stats.Tanh()(0.0)
    Tensor(0.)
    """

    low, high = -1.0, 1.0

    def __call__(self, x: Any) -> Tensor:
        return f.tanh(x)

    def inverse(self, y: Any) -> Tensor:
        return f.atanh(y)

    def log_slope(self, x: Any) -> Tensor:
        x = f.asarray(x)
        return 2 * (math.log(2) - x - f.softplus(-2 * x))


class Softplus(Bijection):
    """log(1 + eˣ).

    >>> import adjoint as ad
    >>> ad.stats.Softplus()(0.0)
    Tensor(0.6931)
    """

    low = 0.0

    def __call__(self, x: Any) -> Tensor:
        return f.softplus(x)

    def inverse(self, y: Any) -> Tensor:
        return y + f.log(-f.expm1(-f.asarray(y)))

    def log_slope(self, x: Any) -> Tensor:
        return special.log_expit(x)


class Power(Bijection):
    """x to a constant power, for positive x.

    >>> import adjoint as ad
    >>> ad.stats.Power(2.0).inverse(9.0)
    Tensor(3.)
    """

    low = 0.0
    exponent: Tensor

    def __init__(self, exponent: Any) -> None:
        (self.exponent,) = floating(exponent)

    @property
    def rising(self) -> Any:
        """Whether it increases."""
        return self.exponent > 0

    def __call__(self, x: Any) -> Tensor:
        return f.asarray(x) ** self.exponent

    def inverse(self, y: Any) -> Tensor:
        return f.asarray(y) ** (1 / self.exponent)

    def log_slope(self, x: Any) -> Tensor:
        return f.log(abs(self.exponent)) + (self.exponent - 1) * f.log(x)
