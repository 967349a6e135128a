"""How a draw moves with a parameter where no formula transforms noise: implicit reparameterisation.

A draw z with distribution function F(z; a) keeps its rank u = F(z; a) when a moves: dz/da = -(∂F/∂a)/p(z) (M. Figurnov, S.
Mohamed and A. Mnih, "Implicit reparameterization gradients", NeurIPS 2018). For the gamma and von Mises distributions that
quotient is an integral of a smooth function times an exponential of at most 0: it is computed by Gauss-Legendre quadrature, as
graph, so that derivatives of every order follow; for small gamma variates by a series.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import adjoint.tensors.functions as f
from adjoint import special
from adjoint.transforms.grad import stop_gradient
from adjoint.graph import Node
from adjoint.primitives import core
from adjoint.primitives.core import ops
from adjoint.primitives.custom import custom
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor

__all__ = ["gamma_slope", "moved_by", "von_mises_between", "von_mises_slope"]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2
DEPTH = 40.0  # e⁻⁴⁰ of the integrand's largest value counts as nothing
SMALL = 1.5  # a gamma variate up to here goes by the series
TERMS = 32

Slopes = Callable[..., Sequence[Tensor]]


def moved_by(value: Tensor, parameters: Sequence[Tensor], slopes: Slopes) -> Tensor:
    """A value with derivatives of its own by parameters of its shape: slopes(value, *parameters) gives one for each."""

    def rule(cotangents: list[Node | None], node: Node) -> list[Node | None]:
        (u,) = cotangents
        if u is None:
            return [None] * len(parameters)
        given = [wrap(x) for x in node.inputs[1:]]
        return [ops.scale(u, s.node) for s in slopes(wrap(node), *given)]

    nodes = [p.node for p in parameters]
    return wrap(custom([core.stop_gradient(value.node)], nodes, rule, "moved_by", single=True))


def _integral(upper: Tensor, integrand: Callable[[Tensor], Tensor]) -> Tensor:
    """∫ from 0 to `upper`; the integrand takes one more axis, of points."""
    nodes, weights = (f.asarray(x, dtype=upper.dtype) for x in (NODES, WEIGHTS))
    return upper * (integrand(upper[..., None] * nodes) * weights).sum(axis=-1)


def gamma_slope(z: Tensor, a: Tensor) -> Tensor:
    """∂z/∂a of a standard gamma variate z with concentration a, at fixed rank; both positive, of one shape."""
    small = z <= SMALL
    return f.where(
        small, _gamma_series(f.where(small, z, 1.0), a), _gamma_quadrature(f.where(small, 2.0 * SMALL, z), a)
    )


def _gamma_series(z: Tensor, a: Tensor) -> Tensor:
    """By P(a, z) = zᵃ e⁻ᶻ Σ zⁿ/Γ(a + n + 1)  (DLMF 8.7.1)."""
    level = f.log(z) - special.digamma(a) - 1 / a
    term = z / a
    total = term * level
    for n in range(1, TERMS):
        term = term * z / (a + n)
        level = level - 1 / (a + n)
        total = total + term * level
    return -total


def _gamma_quadrature(z: Tensor, a: Tensor) -> Tensor:
    """The integral of (log t - ψ(a)) p(t)/p(z) over the tail that z cuts off, with t = z eᵛ."""
    below = stop_gradient(z < a)
    gap = abs(z - a)
    third = z / 3
    quadratic = (f.sqrt(gap**2 + 4 * DEPTH * third) - gap) / (2 * third)
    lower = f.where(quadratic <= 1, quadratic, (DEPTH + z) / a)
    upper = (f.sqrt(gap**2 + 2 * DEPTH * z) - gap) / z
    level = (f.log(z) - special.digamma(a))[..., None]
    sign = f.where(below, -1.0, 1.0).astype(z.dtype)[..., None]
    zs, concentrations = z[..., None], a[..., None]

    def integrand(v: Tensor) -> Tensor:
        moved = sign * v
        return sign * (level + moved) * f.exp(concentrations * moved - zs * f.expm1(moved))

    return z * _integral(stop_gradient(f.where(below, lower, upper)), integrand)


def _reach(angle: Tensor, concentration: Tensor) -> Tensor:
    """How far from an angle in [0, π] towards π the von Mises density has fallen to nothing, beside what it is there."""
    depth = DEPTH / f.maximum(concentration, 1e-6)
    sine, cosine = f.sin(angle) * (2 / np.pi), f.maximum(f.cos(angle), 0.0) * (2 / np.pi**2)
    return 2 * depth / (sine + f.sqrt(sine**2 + 4 * cosine * depth) + 1e-30)


def von_mises_slope(z: Tensor, concentration: Tensor) -> Tensor:
    """∂z/∂κ of a von Mises variate z in [-π, π] around 0, at fixed rank."""
    angle = abs(z)
    ratio = (special.i1e(concentration) / special.i0e(concentration))[..., None]
    upper = f.minimum(np.pi - angle, _reach(angle, concentration))
    angles, kappa = angle[..., None], concentration[..., None]

    def integrand(v: Tensor) -> Tensor:
        there = f.cos(angles + v)
        return (there - ratio) * f.exp(kappa * (there - f.cos(angles)))

    return f.sign(z) * _integral(upper, integrand)


def von_mises_between(low: Tensor, high: Tensor, concentration: Tensor) -> Tensor:
    """The probability that a von Mises variate around 0 lies between two angles, at most a turn apart. A sum of integrals of what
    is positive and falls, each from where it is largest: so small probabilities have small relative errors."""
    low, high, concentration = f.broadcast_arrays(low, high, concentration)

    def slopes(value: Tensor, low: Tensor, high: Tensor, k: Tensor) -> Sequence[Tensor]:
        below, above = (f.exp(-2 * k * f.sin(z / 2) ** 2) / _von_mises_scale(k) for z in (low, high))
        ratio = (special.i1e(k) / special.i0e(k))[..., None]
        return [-below, above, _von_mises_turn(low, high, k, lambda t: f.cos(t) - ratio)]

    return moved_by(_von_mises_turn(low, high, concentration), [low, high, concentration], slopes)


def _von_mises_scale(k: Tensor) -> Tensor:
    return 2 * np.pi * special.i0e(k)


def _von_mises_turn(low: Tensor, high: Tensor, k: Tensor, factor: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """The integral of the density, times a factor, between two angles: in four parts, up to half a turn on either side of 0."""
    turns = 2 * np.pi * stop_gradient(f.round(low / (2 * np.pi)))
    low, high = low - turns, high - turns
    past, high = f.maximum(high - 2 * np.pi, -np.pi), f.minimum(high, np.pi)  # what goes on beyond π begins again at -π
    zero = f.zeros_like(past)
    begin = f.stack([f.maximum(low, 0.0), f.maximum(-high, 0.0), zero, f.maximum(-past, 0.0)])
    end = f.stack([f.maximum(high, 0.0), f.maximum(-low, 0.0), f.maximum(past, 0.0), zero + np.pi])
    length = f.minimum(end - begin, stop_gradient(_reach(begin, k)))

    def integrand(moved: Tensor) -> Tensor:
        angles = begin[..., None] + moved
        density = f.exp(-2 * k[..., None] * f.sin(angles / 2) ** 2)
        return density if factor is None else factor(angles) * density

    return _integral(length, integrand).sum(axis=0) / _von_mises_scale(k)
