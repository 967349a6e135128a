"""More special functions, whose kernels are SciPy's: scaled Bessel functions, elliptic, hypergeometric and other integrals.

The formulas of derivatives are those of the NIST Digital Library of Mathematical Functions (https://dlmf.nist.gov): 4.13
(Lambert's W), 5.5 (the reciprocal of gamma), 6.2 (sine and cosine integrals), 7.2, 7.10, 7.12 (Dawson's integral, Fresnel's,
Faddeeva's function), 10.29 (Bessel functions), 13.3, 15.5 (hypergeometric functions), 19.4, 19.5 (elliptic integrals). Where
one divides by what becomes 0, or subtracts what is nearly equal, a series stands in for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adjoint.graph import Node, Primitive, record
from adjoint.primitives.core import binary, conjugate, match, ops, register, unary
from adjoint.primitives.special import (
    HALF_ROOT_PI,
    by_scipy,
    far_slope,
    finished,
    near,
    near_zero,
    polynomial,
    real,
    scipy_function,
    sinc,
    times,
    unknown_derivative,
)  # fmt: skip

# Bessel functions, scaled by exp(-|x|) and exp(x) ---------------------------------------------------------------------


def _scaled(function: str, factor: float, own: Callable[[Node], Node]) -> Callable[..., Node]:
    """The rule for x: both neighbours by a factor, and the function itself by the scale's logarithmic derivative."""

    def rule(u: Node, out: Node, v: Node, x: Node) -> Node:
        neighbour = getattr(ops, function)
        both = ops.add(neighbour(ops.subtract(v, 1), x), neighbour(ops.add(v, 1), x))
        close = ops.add(ops.multiply(both, factor), ops.scale(own(x), out))
        return times(u, far_slope(x, v, close, 2 * factor))

    return rule


binary("ive", finished(partial(near_zero, "ive"), 2), unknown_derivative("ive", "the order v"),
       _scaled("ive", 0.5, lambda x: ops.negative(ops.sign(x))), kinds="f")  # fmt: skip
binary("kve", by_scipy("kve", 2), unknown_derivative("kve", "the order v"),
       _scaled("kve", -0.5, lambda x: ops.full(1.0, x.type)), kinds="f")  # fmt: skip

# Those of integer orders, by SciPy's quicker functions


def _of_second(function: str, x: Node) -> Node:
    found: Node = getattr(ops, function)(ops.full(2.0, x.type), x)
    return found


def _mean(first: Node, second: Node, sign: float) -> Node:
    return ops.add(ops.multiply(first, 0.5), ops.multiply(second, 0.5 * sign))


j0 = unary("j0", by_scipy("j0"), lambda u, out, x: ops.negative(times(u, j1(x))), kinds="f")
j1 = unary("j1", by_scipy("j1"), lambda u, out, x: times(u, _mean(j0(x), _of_second("jv", x), -1.0)), kinds="f")
y0 = unary("y0", by_scipy("y0"), lambda u, out, x: ops.negative(times(u, y1(x))), kinds="f")
y1 = unary("y1", by_scipy("y1"), lambda u, out, x: times(u, _mean(y0(x), _of_second("yv", x), -1.0)), kinds="f")
k0 = unary("k0", by_scipy("k0"), lambda u, out, x: ops.negative(times(u, k1(x))), kinds="f")
k1 = unary(
    "k1", by_scipy("k1"), lambda u, out, x: ops.negative(times(u, _mean(k0(x), _of_second("kv", x), 1.0))), kinds="f"
)
k0e = unary(
    "k0e", by_scipy("k0e"), lambda u, out, x: times(u, far_slope(x, 0, ops.subtract(out, k1e(x)), -1.0)), kinds="f"
)
k1e = unary(
    "k1e",
    by_scipy("k1e"),
    lambda u, out, x: times(u, far_slope(x, 1, ops.subtract(out, _mean(k0e(x), _of_second("kve", x), 1.0)), -1.0)),
    kinds="f",
)

# Gamma's kin ----------------------------------------------------------------------------------------------------------


def _rgamma_slope(x: Node) -> Node:
    """-ψ(x) / Γ(x), and left of ½ the derivative of sin(πx) Γ(1 - x) / π, which is finite at gamma's poles."""
    left = ops.less(x, 0.5)
    right = ops.where(left, ops.full(1.0, x.type), x)
    rest = ops.subtract(1, ops.where(left, x, ops.full(0.0, x.type)))
    angle = ops.multiply(ops.where(left, x, ops.full(0.0, x.type)), math.pi)
    slope = ops.subtract(ops.cos(angle), ops.multiply(ops.multiply(ops.sin(angle), ops.digamma(rest)), 1 / math.pi))
    return ops.where(left, times(slope, ops.gamma(rest)), ops.negative(times(rgamma(right), ops.digamma(right))))


rgamma = unary("rgamma", by_scipy("rgamma"), lambda u, out, x: times(u, _rgamma_slope(x)), kinds="f")
gammasgn = unary("gammasgn", by_scipy("gammasgn"), kinds="f")


def _sum_digamma(z: Node, m: Node) -> Node:
    return ops.digamma(ops.add(z, m))


poch = binary(
    "poch",
    by_scipy("poch", 2),
    lambda u, out, z, m: times(u, out, ops.subtract(_sum_digamma(z, m), ops.digamma(z))),
    lambda u, out, z, m: times(u, out, _sum_digamma(z, m)),
    kinds="f",
)


def _rest_digamma(n: Node, k: Node) -> Node:
    return ops.digamma(ops.add(ops.subtract(n, k), 1))


binom = binary(
    "binom",
    by_scipy("binom", 2),
    lambda u, out, n, k: times(u, out, ops.subtract(ops.digamma(ops.add(n, 1)), _rest_digamma(n, k))),
    lambda u, out, n, k: times(u, out, ops.subtract(_rest_digamma(n, k), ops.digamma(ops.add(k, 1)))),
    kinds="f",
)

# Losses and divergences -----------------------------------------------------------------------------------------------

kl_div = binary(
    "kl_div",
    by_scipy("kl_div", 2),
    lambda u, out, x, y: times(u, ops.log(ops.divide(x, y))),
    lambda u, out, x, y: ops.safe_divide(times(u, ops.subtract(y, x)), y),
    kinds="f",
)
# With h = sqrt(δ² + r²) the loss is δ (h - δ)
pseudo_huber = binary(
    "pseudo_huber",
    by_scipy("pseudo_huber", 2),
    lambda u, out, delta, r: ops.safe_divide(
        times(u, *[ops.subtract(ops.hypot(delta, r), delta)] * 2), ops.hypot(delta, r)
    ),
    lambda u, out, delta, r: ops.safe_divide(times(u, delta, r), ops.hypot(delta, r)),
    kinds="f",
)

# Lambert's W ----------------------------------------------------------------------------------------------------------


def _real_lambertw(branch: int) -> Callable[..., Any]:
    def kernel(x: Any) -> Any:
        found = scipy_function("lambertw")(np.asarray(x, np.float64), branch)
        # SciPy's is complex: real on the principal branch from -1/e, on the lower one from there to 0
        inside = (x >= -math.exp(-1)) if branch == 0 else (x >= -math.exp(-1)) & (x <= 0)
        return np.where(x == -math.exp(-1), -1.0, np.where(inside, found.real, np.nan))

    return finished(kernel)


LAMBERTW = Primitive(
    "lambertw",
    lambda branch, type: _real_lambertw(branch),
    (lambda u, out, x: ops.safe_divide(times(u, ops.exp(ops.negative(out))), ops.add(out, 1)),),
    elementwise=True,
)


@register
def lambertw(x: Node, branch: int) -> Node:
    """The real w with w exp(w) = x."""
    x = real("lambertw", x)
    return record(LAMBERTW, (x,), branch, x.type)


# Elliptic integrals of the parameter m --------------------------------------------------------------------------------

# K(m) = π/2 Σ c_k m^k and E(m) = -π/2 Σ c_k m^k / (2k - 1), with c_k = (binom(2k, k) / 4^k)²
CENTRAL = tuple((math.comb(2 * k, k) / 4.0**k) ** 2 * math.pi / 2 for k in range(36))
ELLIPK_SLOPE = tuple(k * c for k, c in enumerate(CENTRAL))[1:]
ELLIPE_SLOPE = tuple(-k * c / (2 * k - 1) for k, c in enumerate(CENTRAL))[1:]


def _ellipk_slope(m: Node) -> Node:
    def formula(m: Node) -> Node:
        rest = ops.subtract(1, m)
        difference = ops.subtract(ellipe(m), ops.multiply(rest, ellipk(m)))
        return ops.divide(difference, ops.multiply(ops.multiply(m, rest), 2.0))

    return near(m, 0.2, lambda t: polynomial(t, ELLIPK_SLOPE), formula)


def _ellipe_slope(m: Node) -> Node:
    def formula(m: Node) -> Node:
        return ops.divide(ops.subtract(ellipe(m), ellipk(m)), ops.multiply(m, 2.0))

    return near(m, 0.2, lambda t: polynomial(t, ELLIPE_SLOPE), formula)


ellipk = unary("ellipk", by_scipy("ellipk"), lambda u, out, m: times(u, _ellipk_slope(m)), kinds="f")
ellipe = unary("ellipe", by_scipy("ellipe"), lambda u, out, m: times(u, _ellipe_slope(m)), kinds="f")

# Hypergeometric functions ---------------------------------------------------------------------------------------------


def _hypergeometric(name: str, above: int) -> Callable[..., Node]:
    """Register the function of `above` upper parameters, a lower one and x: its derivative by x is that of parameters one
    higher, times the upper ones by the lower one."""

    def rule(u: Node, out: Node, *inputs: Node) -> Node:
        factor = inputs[0] if above == 1 else ops.multiply(inputs[0], inputs[1])
        higher = apply(*(ops.add(p, 1) for p in inputs[:-1]), inputs[-1])
        return times(u, ops.divide(factor, inputs[above]), higher)

    parameters = "abc"[: above + 1]
    primitive = Primitive(
        name,
        lambda attributes, type: by_scipy(name, above + 2),
        (*(unknown_derivative(name, p) for p in parameters), rule),
        elementwise=True,
    )

    def apply(*operands: Any) -> Node:
        nodes = [real(name, n) for n in match(name, *operands)]
        return record(primitive, tuple(nodes), None, nodes[0].type)

    return register(apply, name)


hyp1f1 = _hypergeometric("hyp1f1", 1)
hyp2f1 = _hypergeometric("hyp2f1", 2)

# Integrals ------------------------------------------------------------------------------------------------------------


def _output(name: str, index: int) -> Callable[..., Any]:
    """One of the outputs of SciPy's function of that name."""
    return finished(lambda x: scipy_function(name)(x)[index])


def _turned(x: Node) -> Node:
    return ops.multiply(ops.multiply(x, x), math.pi / 2)


fresnel_sine = unary("fresnel_sine", _output("fresnel", 0), lambda u, out, x: times(u, ops.sin(_turned(x))), kinds="f")
fresnel_cosine = unary(
    "fresnel_cosine", _output("fresnel", 1), lambda u, out, x: times(u, ops.cos(_turned(x))), kinds="f"
)
# sinh(x)/x = Σ x^2k / (2k + 1)!
SINHC = tuple(1 / math.factorial(2 * k + 1) for k in range(14))


def _sinhc(x: Node) -> Node:
    return near(x, 1.0, lambda t: polynomial(ops.multiply(t, t), SINHC), lambda t: ops.divide(ops.sinh(t), t))


sine_integral = unary(
    "sine_integral", _output("sici", 0), lambda u, out, x: times(u, sinc(ops.multiply(x, 1 / math.pi))), kinds="f"
)
cosine_integral = unary(
    "cosine_integral", _output("sici", 1), lambda u, out, x: ops.safe_divide(times(u, ops.cos(x)), x), kinds="f"
)
hyperbolic_sine_integral = unary(
    "hyperbolic_sine_integral", _output("shichi", 0), lambda u, out, x: times(u, _sinhc(x)), kinds="f"
)
hyperbolic_cosine_integral = unary(
    "hyperbolic_cosine_integral",
    _output("shichi", 1),
    lambda u, out, x: ops.safe_divide(times(u, ops.cosh(x)), x),
    kinds="f",
)

# The sum of (2k - 1)!! t^k from k = 1, of t = 1/(2z²): how far 2 z D(z), and √π z w(z) / i, are from 1 for large |z|
DOUBLE_FACTORIALS = (0.0, *(float(math.prod(range(1, 2 * k, 2))) for k in range(1, 20)))


def _dawsn_slope(x: Node) -> Node:
    """1 - 2 x D(x), which cancels for large x: there by its asymptotic series."""
    far = ops.greater(ops.abs(x), 8.0)
    large = ops.where(far, x, ops.full(8.0, x.type))
    series = polynomial(ops.divide(0.5, ops.multiply(large, large)), DOUBLE_FACTORIALS)
    close = ops.where(far, ops.full(0.0, x.type), x)
    direct = ops.subtract(1, ops.multiply(ops.multiply(close, dawsn(close)), 2.0))
    return ops.where(far, ops.negative(series), direct)


dawsn = unary("dawsn", by_scipy("dawsn"), lambda u, out, x: times(u, _dawsn_slope(x)), kinds="f")


def _wofz_slope(z: Node) -> Node:
    """2i/√π - 2 z w(z), which cancels for large |z|: there by its asymptotic series, which holds in the upper half plane."""
    far = ops.logical_and(ops.greater(ops.abs(z), 10.0), ops.greater_equal(ops.imag(z), 0.0))
    large = ops.where(far, z, ops.full(10.0, z.type))
    series = polynomial(ops.divide(0.5, ops.multiply(large, large)), DOUBLE_FACTORIALS)
    close = ops.where(far, ops.full(0.0, z.type), z)
    direct = ops.subtract(ops.full(1j / HALF_ROOT_PI, z.type), ops.multiply(ops.multiply(close, wofz(close)), 2.0))
    return ops.where(far, ops.multiply(series, ops.full(-1j / HALF_ROOT_PI, z.type)), direct)


wofz = unary("wofz", by_scipy("wofz"), lambda u, out, z: ops.multiply(u, conjugate(_wofz_slope(z))), kinds="c")
