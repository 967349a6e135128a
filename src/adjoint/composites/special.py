"""Composites of special functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.dtypes import complex_of, float64
from adjoint.graph import Node, array_type
from adjoint.primitives import special, special_integrals
from adjoint.primitives.core import cast, data, inexact, match, ops, register, stop_gradient, zeros
from adjoint.shapes import drop_axes, normalize_axes


def logit(x: Node) -> Node:
    x = inexact(x)
    return ops.subtract(ops.log(x), ops.log1p(ops.negative(x)))


def of_parts(real: Node, imag: Node) -> Node:
    """Real + i imag, of parts of one type. A product with i mixes them, and infinity times 0 is NaN; so that is chosen."""
    kind = complex_of(real.dtype)
    wide = array_type(imag.shape, kind)
    beyond, finite = ops.full(complex(0, math.nan), wide), ops.isfinite(imag)
    for sign, bound in ((ops.greater, math.inf), (ops.less, -math.inf)):
        beyond = ops.where(sign(imag, 0.0), ops.full(complex(0, bound), wide), beyond)
    turned = ops.multiply(cast(ops.where(finite, imag, zeros(imag.type)), kind), 1j)
    return ops.add(cast(real, kind), ops.where(finite, turned, beyond))


def multigammaln(x: Node, d: int) -> Node:
    x = inexact(x)
    total = ops.full(0.25 * d * (d - 1) * math.log(math.pi), x.type)
    for k in range(d):
        total = ops.add(total, ops.gammaln(ops.subtract(x, 0.5 * k)))
    return total


def weighted_logsumexp(x: Node, b: Node, axis: Any, keepdims: bool) -> Node:
    x, b = match("logsumexp", inexact(x), b)
    axes = normalize_axes(axis, x.ndim, "logsumexp")
    dead = ops.equal(b, 0)  # what weighs nothing decides nothing, though it be infinite
    values = ops.where(dead, ops.full(-math.inf, x.type), x)
    if values.type.size:
        top = stop_gradient(ops.max(values, axes)) if axes else stop_gradient(values)
        shift = ops.where(ops.isfinite(top), top, zeros(top.type))
    else:
        shift = zeros(ops.sum(values, axes).type)
    wide = ops.expand(shift, axes, x.shape) if axes else shift
    terms = ops.where(dead, zeros(x.type), ops.multiply(b, ops.exp(ops.subtract(values, wide))))
    result = ops.add(ops.log(ops.sum(terms, axes)), shift)
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    return ops.reshape(result, kept if keepdims else drop_axes(x.shape, axes))


# (exp(x) - 1) / x = Σ x^k / (k + 1)!
EXPREL = tuple(1 / math.factorial(k + 1) for k in range(20))


def exprel(x: Node) -> Node:
    x = inexact(x)
    found = special.near(x, 1.0, lambda t: special.polynomial(t, EXPREL), lambda t: ops.divide(ops.expm1(t), t))
    return ops.where(ops.equal(x, math.inf), x, found)


def factorial(x: Node) -> Node:
    x = inexact(x)
    return ops.where(ops.less(x, 0), zeros(x.type), ops.gamma(ops.add(x, 1)))


def boxcox(x: Node, exponent: Node, one_more: bool) -> Node:
    """(x^λ - 1) / λ, the logarithm for λ = 0; of x + 1 if `one_more`."""
    x, exponent = (inexact(n) for n in match("boxcox", x, exponent))
    logarithm = ops.log1p(x) if one_more else ops.log(x)
    endless = ops.logical_and(ops.isinf(logarithm), ops.equal(exponent, 0))
    power = ops.where(endless, zeros(x.type), ops.multiply(exponent, logarithm))
    small = ops.less(ops.abs(power), 1.0)
    series = ops.multiply(logarithm, special.polynomial(ops.where(small, power, zeros(x.type)), EXPREL))
    large = ops.where(small, ops.full(1.0, x.type), power)
    return ops.where(small, series, ops.divide(ops.expm1(large), ops.where(small, ops.full(1.0, x.type), exponent)))


def huber(delta: Node, r: Node) -> Node:
    delta, r = (inexact(n) for n in match("huber", delta, r))
    size = ops.abs(r)
    square, line = (
        ops.multiply(ops.multiply(r, r), 0.5),
        ops.multiply(delta, ops.subtract(size, ops.multiply(delta, 0.5))),
    )
    return ops.where(
        ops.less(delta, 0), ops.full(math.inf, r.type), ops.where(ops.less_equal(size, delta), square, line)
    )


# By exp-sinh quadrature (H. Takahasi and M. Mori, 1974): ∫ f(v) dv over v > 0 as a sum over v = exp(π/2 sinh u), which takes
# in all scales of f at once.
STEP = 1 / 32
_U = np.arange(-3.9, 3.3, STEP)
POINTS = np.exp(math.pi / 2 * np.sinh(_U))
WEIGHTS = STEP * math.pi / 2 * np.cosh(_U) * POINTS


@register
def betainc_slope(a: Node, b: Node, x: Node, rest: Node) -> Node:
    """∂I_x(a, b)/∂a, with `rest` = 1 - x; all of one type. 0 at the ends of [0, 1].

    It is the integral of (log t - ψ(a) + ψ(a + b)) times the density below x, and of its negative above. That is taken which
    has the smaller part of the distribution, where both terms have one sign, with t = x e^-v (or 1 - t = (1 - x) e^-v).
    """
    kind = x.dtype
    a, b, x, rest = (cast(n, float64) for n in (a, b, x, rest))
    within = ops.logical_and(ops.greater(x, 0), ops.greater(rest, 0))
    above = ops.greater(ops.multiply(x, b), ops.multiply(rest, a))  # the mean is a / (a + b)
    near, far = ops.where(above, rest, x), ops.where(above, x, rest)
    near, far = (ops.where(within, n, ops.full(0.5, x.type)) for n in (near, far))
    p, q = ops.where(above, b, a), ops.where(above, a, b)

    ratio = ops.divide(near, far)
    bend = ops.subtract(q, 1)
    fall = ops.abs(ops.subtract(p, ops.multiply(bend, ratio)))
    curve = ops.sqrt(ops.divide(ops.multiply(ops.abs(bend), ratio), far))
    scale = stop_gradient(ops.divide(1.0, ops.add(fall, curve)))

    def spread(n: Node) -> Node:
        return ops.broadcast_to(ops.reshape(n, (*x.shape, 1)), (*x.shape, len(POINTS)))

    v = ops.multiply(spread(scale), data(POINTS))
    log_near = ops.subtract(spread(ops.log(near)), v)  # of t, or of 1 - t
    log_far = ops.log1p(ops.negative(ops.exp(log_near)))
    level = spread(ops.subtract(ops.digamma(a), ops.digamma(ops.add(a, b))))
    log_t = ops.where(spread(above), log_far, log_near)
    powers = ops.add(ops.multiply(spread(p), log_near), ops.multiply(spread(bend), log_far))
    density = ops.exp(ops.subtract(powers, spread(ops.betaln(a, b))))
    each = ops.multiply(ops.multiply(ops.subtract(log_t, level), density), data(WEIGHTS))
    total = ops.multiply(ops.sum(each, (x.ndim,)), scale)
    total = ops.where(above, ops.negative(total), total)
    return cast(ops.where(within, total, ops.multiply(x, 0.0)), kind)


def voigt_profile(x: Node, sigma: Node, gamma: Node) -> Node:
    """Re w(z) / (σ sqrt(2π)) at z = (x + iγ) / (σ sqrt(2)), with Faddeeva's function w."""
    x, sigma, gamma = (inexact(n) for n in match("voigt_profile", x, sigma, gamma))
    none = ops.equal(sigma, zeros(x.type))
    # A branch that is not taken must have derivatives all the same.
    width = ops.where(none, ops.full(1.0, x.type), sigma)
    complex_type = complex_of(x.dtype)
    i = ops.full(1j, array_type(x.shape, complex_type))
    z = ops.add(cast(x, complex_type), ops.multiply(i, cast(gamma, complex_type)))
    scaled = ops.divide(z, cast(ops.multiply(width, math.sqrt(2)), complex_type))
    found = ops.divide(ops.real(special_integrals.wofz(scaled)), ops.multiply(width, math.sqrt(2 * math.pi)))
    # without any width all of it lies at 0; without the normal part it is Cauchy's density
    cauchy = ops.divide(ops.divide(gamma, math.pi), ops.add(ops.multiply(x, x), ops.multiply(gamma, gamma)))
    point = ops.where(ops.equal(x, zeros(x.type)), ops.full(math.inf, x.type), zeros(x.type))
    narrow = ops.where(ops.equal(gamma, zeros(x.type)), point, cauchy)
    return ops.where(none, narrow, found)
