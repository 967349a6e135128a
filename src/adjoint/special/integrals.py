"""Integrals and kin of the gamma function; losses that statisticians take for special functions, as SciPy does."""

from __future__ import annotations

from typing import Any

from adjoint.composites import special as composites
from adjoint.dtypes import complex_of
from adjoint.graph import Node
from adjoint.primitives import special_integrals as primitives
from adjoint.primitives.core import cast, inexact, is_scalar
from adjoint.tensors.composing import Operand, composite
from adjoint.tensors.conversion import as_node
from adjoint.tensors.elementwise import _binary, _unary
from adjoint.tensors.tensor import Tensor

__all__ = [
    "binom", "boxcox", "boxcox1p", "dawsn", "ellipe", "ellipk", "exprel", "factorial", "fresnel", "gammasgn", "huber", "hyp1f1",
    "hyp2f1", "kl_div", "lambertw", "poch", "pseudo_huber", "rgamma", "shichi", "sici", "voigt_profile", "wofz",
]  # fmt: skip


def _operands(*given: Operand) -> list[Any]:
    """Numbers as they are, beside what isn't one."""
    alone = all(is_scalar(x) for x in given)
    return [x if is_scalar(x) and not alone else as_node(x) for x in given]


def rgamma(x: Operand, /) -> Tensor:
    """1/Γ(x), elementwise: 0 at the poles of gamma, where its derivative is finite too.

    >>> import adjoint as ad
    >>> ad.special.rgamma(4.0)
    Tensor(0.1667)
    """
    return _unary(primitives.rgamma, x)


def gammasgn(x: Operand, /) -> Tensor:
    """The sign of Γ(x), elementwise: 1 or -1, NaN at negative integers. Its derivative is 0.

    >>> import adjoint as ad
    >>> ad.special.gammasgn(-0.5)
    Tensor(-1.)
    """
    return _unary(primitives.gammasgn, x)


def factorial(x: Operand, /) -> Tensor:
    """Γ(x + 1), elementwise, which is x! for whole numbers; 0 where x is negative.

    >>> import adjoint as ad
    >>> ad.special.factorial(4.0)
    Tensor(24.)
    """
    return composite("factorial", composites.factorial, as_node(x))


def binom(n: Operand, k: Operand, /) -> Tensor:
    """Γ(n + 1) / (Γ(k + 1) Γ(n - k + 1)), elementwise: n over k.

    >>> import adjoint as ad
    >>> ad.special.binom(5.0, 2.0)
    Tensor(10.)
    """
    return _binary(primitives.binom, n, k)


def poch(z: Operand, m: Operand, /) -> Tensor:
    """Γ(z + m) / Γ(z), elementwise: the rising factorial z (z + 1) … for whole m.

    >>> import adjoint as ad
    >>> ad.special.poch(3.0, 2.0)
    Tensor(12.)
    """
    return _binary(primitives.poch, z, m)


def lambertw(x: Operand, /, k: int = 0) -> Tensor:
    """The real w with w exp(w) = x, elementwise: the principal branch (k = 0) for x >= -1/e, or the lower one (k = -1) for
    -1/e <= x <= 0, and NaN elsewhere. SciPy's is complex.

    Raises ValueError for other k. Its derivative is infinite at -1/e.

    >>> import adjoint as ad
    >>> ad.special.lambertw(1.0)
    Tensor(0.5671)
    """
    if k not in (0, -1):
        raise ValueError(f"special.lambertw: k is 0 or -1, where branches are real, got {k!r}")
    return _unary(lambda node: primitives.lambertw(node, k), x)


def ellipk(x: Operand, /) -> Tensor:
    """The complete elliptic integral of the first kind ∫ (1 - m sin²t)^-½ dt from 0 to π/2, elementwise in the parameter m < 1.

    >>> import adjoint as ad
    >>> ad.special.ellipk(0.5)
    Tensor(1.8541)
    """
    return _unary(primitives.ellipk, x)


def ellipe(x: Operand, /) -> Tensor:
    """The complete elliptic integral of the second kind ∫ (1 - m sin²t)^½ dt from 0 to π/2, elementwise in the parameter m <= 1.

    >>> import adjoint as ad
    >>> ad.special.ellipe(0.5)
    Tensor(1.3506)
    """
    return _unary(primitives.ellipe, x)


def hyp1f1(a: Operand, b: Operand, x: Operand, /) -> Tensor:
    """Kummer's confluent hypergeometric function ₁F₁(a; b; x), elementwise.

    Its derivatives by a and b have no closed form: asking for them raises RuntimeError.

    >>> import adjoint as ad
    >>> ad.special.hyp1f1(1.0, 2.0, 0.5)
    Tensor(1.2974)
    """
    return composite("hyp1f1", primitives.hyp1f1, *_operands(a, b, x))


def hyp2f1(a: Operand, b: Operand, c: Operand, x: Operand, /) -> Tensor:
    """Gauss' hypergeometric function ₂F₁(a, b; c; x), elementwise, x < 1.

    Its derivatives by a, b and c have no closed form: asking for them raises RuntimeError.

    >>> import adjoint as ad
    >>> ad.special.hyp2f1(1.0, 1.0, 2.0, 0.5)
    Tensor(1.3863)
    """
    return composite("hyp2f1", primitives.hyp2f1, *_operands(a, b, c, x))


def dawsn(x: Operand, /) -> Tensor:
    """Dawson's integral exp(-x²) ∫ exp(t²) dt from 0 to x, elementwise.

    >>> import adjoint as ad
    >>> ad.special.dawsn(1.0)
    Tensor(0.5381)
    """
    return _unary(primitives.dawsn, x)


def wofz(z: Operand, /) -> Tensor:
    """Faddeeva's function exp(-z²) erfc(-iz), elementwise in the complex plane: complex for real z too.

    >>> import adjoint as ad
    >>> ad.special.wofz(1.0)
    Tensor(0.3679+0.6072j, dtype=complex64)
    """
    return _unary(_complex_wofz, z)


def _complex_wofz(z: Node) -> Node:
    z = inexact(z)
    return primitives.wofz(z if z.dtype.kind == "c" else cast(z, complex_of(z.dtype)))


def voigt_profile(x: Operand, sigma: Operand, gamma: Operand, /) -> Tensor:
    """The density at x of a normal distribution of deviation sigma > 0 convolved with Cauchy's of half width gamma >= 0.

    >>> import adjoint as ad
    >>> ad.special.voigt_profile(0.5, 1.0, 0.3)
    Tensor(0.289)
    """
    return composite("voigt_profile", composites.voigt_profile, *_operands(x, sigma, gamma))


def fresnel(x: Operand, /) -> tuple[Tensor, Tensor]:
    """Fresnel's integrals of sin(πt²/2) and cos(πt²/2) from 0 to x, elementwise.

    >>> import adjoint as ad
    >>> ad.special.fresnel(1.0)
    (Tensor(0.4383), Tensor(0.7799))
    """
    return _unary(primitives.fresnel_sine, x), _unary(primitives.fresnel_cosine, x)


def sici(x: Operand, /) -> tuple[Tensor, Tensor]:
    """The sine integral ∫ sin(t)/t dt from 0 to x, and the cosine integral γ + log x + ∫ (cos(t) - 1)/t dt, elementwise.

    >>> import adjoint as ad
    >>> ad.special.sici(1.0)
    (Tensor(0.9461), Tensor(0.3374))
    """
    return _unary(primitives.sine_integral, x), _unary(primitives.cosine_integral, x)


def shichi(x: Operand, /) -> tuple[Tensor, Tensor]:
    """The hyperbolic sine and cosine integrals: ∫ sinh(t)/t dt from 0 to x, and γ + log x + ∫ (cosh(t) - 1)/t dt, elementwise.

    >>> import adjoint as ad
    >>> ad.special.shichi(1.0)
    (Tensor(1.0573), Tensor(0.8379))
    """
    return _unary(primitives.hyperbolic_sine_integral, x), _unary(primitives.hyperbolic_cosine_integral, x)


def exprel(x: Operand, /) -> Tensor:
    """(exp(x) - 1) / x, elementwise, 1 at 0.

    >>> import adjoint as ad
    >>> ad.special.exprel(0.5)
    Tensor(1.2974)
    """
    return composite("exprel", composites.exprel, as_node(x))


def boxcox(x: Operand, lmbda: Operand, /) -> Tensor:
    """Box and Cox' transformation (x^λ - 1) / λ, elementwise, log x for λ = 0; x > 0.

    >>> import adjoint as ad
    >>> ad.special.boxcox(2.0, 0.5)
    Tensor(0.8284)
    """
    return composite("boxcox", composites.boxcox, *_operands(x, lmbda), False)


def boxcox1p(x: Operand, lmbda: Operand, /) -> Tensor:
    """Box and Cox' transformation of 1 + x, exact for small x, elementwise; x > -1.

    >>> import adjoint as ad
    >>> ad.special.boxcox1p(2.0, 0.5)
    Tensor(1.4641)
    """
    return composite("boxcox1p", composites.boxcox, *_operands(x, lmbda), True)


def kl_div(x: Operand, y: Operand, /) -> Tensor:
    """x log(x / y) - x + y, elementwise: 0 where x = y, y where x is 0, inf for negative numbers.

    >>> import adjoint as ad
    >>> ad.special.kl_div(1.0, 0.5)
    Tensor(0.1931)
    """
    return _binary(primitives.kl_div, x, y)


def huber(delta: Operand, r: Operand, /) -> Tensor:
    """Huber's loss r²/2 where |r| <= delta, delta (|r| - delta/2) beyond; inf for negative delta. Elementwise.

    >>> import adjoint as ad
    >>> ad.special.huber(1.0, 3.0)
    Tensor(2.5)
    """
    return composite("huber", composites.huber, *_operands(delta, r))


def pseudo_huber(delta: Operand, r: Operand, /) -> Tensor:
    """The smooth loss delta² (sqrt(1 + (r/delta)²) - 1), elementwise; inf for negative delta.

    >>> import adjoint as ad
    >>> ad.special.pseudo_huber(1.0, 3.0)
    Tensor(2.1623)
    """
    return _binary(primitives.pseudo_huber, delta, r)
