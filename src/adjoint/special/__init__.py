"""Special functions: gamma and beta, error functions, Bessel functions, exponential integrals, entropies, softmax.

Elementwise, with broadcasting, for float32 and float64; integers become the default floating dtype, complex numbers are a
TypeError but to `wofz`. Outside a function's domain the result is NaN, as SciPy's is. Derivatives are closed forms in the
same functions, of every order; where none is known by a parameter, asking for that derivative raises RuntimeError.

Values come from SciPy, the extra `adjoint[science]`: without it ImportError says so. NumPy alone is enough for the error
functions and the normal distribution but their inverses `erfinv` and `erfcinv`, for logarithms of products, `sinc`, `cbrt`,
`exp2`, `logit`, `expit`, `logsumexp` and softmax.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.composites import reductions, special as composites
from adjoint.hints import hinted_module
from adjoint.primitives import special as primitives
from adjoint.primitives.core import inexact, is_scalar, ops
from adjoint.special.bessel import i0, i0e, i1, i1e, iv, ive, j0, j1, jv, k0, k0e, k1, k1e, kv, kve, y0, y1, yv
from adjoint.special.integrals import (
    binom, boxcox, boxcox1p, dawsn, ellipe, ellipk, exprel, factorial, fresnel, gammasgn, huber, hyp1f1, hyp2f1, kl_div, lambertw,
    poch, pseudo_huber, rgamma, shichi, sici, voigt_profile, wofz,
)  # fmt: skip
from adjoint.tensors.conversion import as_node
from adjoint.tensors.elementwise import _binary, _unary, erf, erfc
from adjoint.tensors.composing import Operand, composite
from adjoint.tensors.functions import log_softmax as _log_softmax, softmax as _softmax
from adjoint.tensors.named import Named
from adjoint.tensors.tensor import Tensor


def gammaln(x: Operand, /) -> Tensor:
    """The logarithm of |Γ(x)|, elementwise; inf at 0 and the negative integers. Derivative: digamma.

    >>> import adjoint as ad
    >>> ad.special.gammaln(ad.tensor([1.0, 5.0]))
    Tensor([0.    , 3.1781])
    """
    return _unary(primitives.gammaln, x)


def digamma(x: Operand, /) -> Tensor:
    """The derivative of log Γ(x), elementwise. Derivative: polygamma(1, x).

    >>> import adjoint as ad
    >>> ad.special.digamma(1.0)
    Tensor(-0.5772)
    """
    return _unary(primitives.digamma, x)


def gamma(x: Operand, /) -> Tensor:
    """Γ(x), elementwise; NaN at negative integers.

    >>> import adjoint as ad
    >>> ad.special.gamma(ad.tensor([0.5, 5.0]))
    Tensor([ 1.7725, 24.    ])
    """
    return _unary(primitives.gamma, x)


def erfinv(x: Operand, /) -> Tensor:
    """The inverse of erf on [-1, 1], elementwise.

    >>> import adjoint as ad
    >>> ad.special.erfinv(0.5)
    Tensor(0.4769)
    """
    return _unary(primitives.erfinv, x)


def erfcinv(x: Operand, /) -> Tensor:
    """The inverse of erfc on [0, 2], elementwise.

    >>> import adjoint as ad
    >>> ad.special.erfcinv(0.5)
    Tensor(0.4769)
    """
    return _unary(primitives.erfcinv, x)


def erfcx(x: Operand, /) -> Tensor:
    """exp(x²) erfc(x) without overflow, elementwise.

    >>> import adjoint as ad
    >>> ad.special.erfcx(ad.tensor([0.0, 100.0]))
    Tensor([1.    , 0.0056])
    """
    return _unary(primitives.erfcx, x)


def ndtr(x: Operand, /) -> Tensor:
    """The normal distribution function, elementwise, with its relative accuracy in the lower tail.

    >>> import adjoint as ad
    >>> ad.special.ndtr(ad.tensor([-1.0, 0.0]))
    Tensor([0.1587, 0.5   ])
    """
    return _unary(primitives.ndtr, x)


def ndtri(x: Operand, /) -> Tensor:
    """The inverse of `ndtr` on [0, 1], elementwise.

    >>> import adjoint as ad
    >>> ad.special.ndtri(0.975)
    Tensor(1.96)
    """
    return _unary(primitives.ndtri, x)


def log_ndtr(x: Operand, /) -> Tensor:
    """The logarithm of `ndtr` without cancellation on either side, elementwise.

    >>> import adjoint as ad
    >>> ad.special.log_ndtr(-100.0)
    Tensor(-5005.5244)
    """
    return _unary(primitives.log_ndtr, x)


def entr(x: Operand, /) -> Tensor:
    """-x log x, elementwise: 0 at 0, -inf for x < 0.

    >>> import adjoint as ad
    >>> ad.special.entr(0.5)
    Tensor(0.3466)
    """
    return _unary(primitives.entr, x)


def sinc(x: Operand, /) -> Tensor:
    """sin(πx)/(πx), elementwise: 1 at 0.

    >>> import adjoint as ad
    >>> ad.special.sinc(ad.tensor([0.0, 0.5]))
    Tensor([1.    , 0.6366])
    """
    return _unary(primitives.sinc, x)


def cbrt(x: Operand, /) -> Tensor:
    """The real cube root, elementwise.

    >>> import adjoint as ad
    >>> ad.special.cbrt(ad.tensor([-8.0, 27.0]))
    Tensor([-2.,  3.])
    """
    return _unary(primitives.cbrt, x)


def exp2(x: Operand, /) -> Tensor:
    """2 to the power x, elementwise.

    >>> import adjoint as ad
    >>> ad.special.exp2(3.0)
    Tensor(8.)
    """
    return _unary(primitives.exp2, x)


def expi(x: Operand, /) -> Tensor:
    """The exponential integral: the principal value of ∫ exp(t)/t dt from -inf to x, elementwise.

    >>> import adjoint as ad
    >>> ad.special.expi(1.0)
    Tensor(1.8951)
    """
    return _unary(primitives.expi, x)


def spence(x: Operand, /) -> Tensor:
    """∫ log(t)/(1 - t) dt from 1 to x, elementwise: the dilogarithm of 1 - x. NaN for x < 0.

    >>> import adjoint as ad
    >>> ad.special.spence(0.0)
    Tensor(1.6449)
    """
    return _unary(primitives.spence, x)


def beta(x: Operand, y: Operand, /) -> Tensor:
    """Γ(x) Γ(y) / Γ(x + y), elementwise.

    >>> import adjoint as ad
    >>> ad.special.beta(2.0, 3.0)
    Tensor(0.0833)
    """
    return _binary(primitives.beta, x, y)


def betaln(x: Operand, y: Operand, /) -> Tensor:
    """The logarithm of |beta(x, y)|, elementwise.

    >>> import adjoint as ad
    >>> ad.special.betaln(2.0, 3.0)
    Tensor(-2.4849)
    """
    return _binary(primitives.betaln, x, y)


def gammainc(x: Operand, y: Operand, /) -> Tensor:
    """The regularized lower incomplete gamma function P(x, y), elementwise, x > 0, y >= 0.

    Its derivative by x, the parameter, has no closed form: asking for it raises RuntimeError.

    >>> import adjoint as ad
    >>> ad.special.gammainc(2.0, 1.0)
    Tensor(0.2642)
    """
    return _binary(primitives.gammainc, x, y)


def gammaincc(x: Operand, y: Operand, /) -> Tensor:
    """The regularized upper incomplete gamma function Q(x, y) = 1 - P(x, y), elementwise.

    Its derivative by x, the parameter, has no closed form: asking for it raises RuntimeError.

    >>> import adjoint as ad
    >>> ad.special.gammaincc(2.0, 1.0)
    Tensor(0.7358)
    """
    return _binary(primitives.gammaincc, x, y)


def owens_t(x: Operand, y: Operand, /) -> Tensor:
    """Owen's T function of h = x and a = y, elementwise: ∫ exp(-h²(1 + t²)/2) / (1 + t²) dt from 0 to a, by 2π.

    >>> import adjoint as ad
    >>> ad.special.owens_t(1.0, 1.0)
    Tensor(0.0667)
    """
    return _binary(primitives.owens_t, x, y)


def xlogy(x: Operand, y: Operand, /) -> Tensor:
    """x log y, and 0 where x is 0 and y isn't NaN, elementwise.

    >>> import adjoint as ad
    >>> ad.special.xlogy(0.0, 0.0)
    Tensor(0.)
    """
    return _binary(primitives.xlogy, x, y)


def xlog1py(x: Operand, y: Operand, /) -> Tensor:
    """x log(1 + y), and 0 where x is 0 and y isn't NaN, elementwise.

    >>> import adjoint as ad
    >>> ad.special.xlog1py(0.0, -1.0)
    Tensor(0.)
    """
    return _binary(primitives.xlog1py, x, y)


def rel_entr(x: Operand, y: Operand, /) -> Tensor:
    """x log(x / y), elementwise: 0 where x is 0 and y >= 0, inf for negative numbers.

    >>> import adjoint as ad
    >>> ad.special.rel_entr(1.0, 0.5)
    Tensor(0.6931)
    """
    return _binary(primitives.rel_entr, x, y)


def _order(name: str, n: Any) -> int:
    try:
        found = operator.index(n)
    except TypeError:
        raise TypeError(f"special.{name}: n is a Python integer, got {n!r}") from None
    if found < 0:
        raise ValueError(f"special.{name}: n is at least 0, got {found}")
    return found


def polygamma(n: int, x: Operand, /) -> Tensor:
    """The n-th derivative of digamma, elementwise in x; n is a Python integer, at least 0.

    >>> import adjoint as ad
    >>> ad.special.polygamma(1, 1.0)
    Tensor(1.6449)
    """
    order = _order("polygamma", n)
    return _unary(lambda node: primitives.polygamma(node, order), x)


def expn(n: int, x: Operand, /) -> Tensor:
    """The exponential integral ∫ exp(-xt) / tⁿ dt from 1 to inf, elementwise in x; n is a Python integer, at least 0.

    >>> import adjoint as ad
    >>> ad.special.expn(1, 1.0)
    Tensor(0.2194)
    """
    order = _order("expn", n)
    return _unary(lambda node: primitives.expn(node, order), x)


def zeta(x: Operand, q: Any = None, /) -> Tensor:
    """Hurwitz' zeta function, the sum of 1 / (k + q)ˣ over k = 0, 1, …, elementwise, x > 1; without q Riemann's, of any real x.

    Its derivative by x has no closed form: asking for it raises RuntimeError.

    >>> import adjoint as ad
    >>> ad.special.zeta(2.0, 1.0)
    Tensor(1.6449)
    """
    return _unary(primitives.riemann_zeta, x) if q is None else _binary(primitives.zeta, x, q)


def betainc(a: Operand, b: Operand, x: Operand, /) -> Tensor:
    """The regularized incomplete beta function, elementwise, a > 0, b > 0, 0 <= x <= 1.

    Its derivatives by a and b have no closed form: they are quadratures, good to some eleven digits.

    >>> import adjoint as ad
    >>> ad.special.betainc(2.0, 3.0, 0.5)
    Tensor(0.6875)
    """
    operands = [y if is_scalar(y) else as_node(y) for y in (a, b, x)]
    if all(is_scalar(y) for y in operands):
        operands = [as_node(y) for y in operands]
    return composite("betainc", primitives.betainc, *operands)


def logit(x: Operand, /) -> Tensor:
    """log(x / (1 - x)), the inverse of `expit` on [0, 1], elementwise.

    >>> import adjoint as ad
    >>> ad.special.logit(0.75)
    Tensor(1.0986)
    """
    return composite("logit", composites.logit, as_node(x))


def expit(x: Operand, /) -> Tensor:
    """1 / (1 + exp(-x)), elementwise: `ad.sigmoid`.

    >>> import adjoint as ad
    >>> ad.special.expit(0.0)
    Tensor(0.5)
    """
    return _unary(ops.sigmoid, x)


def log_expit(x: Operand, /) -> Tensor:
    """log(expit(x)) without overflow or cancellation, elementwise.

    >>> import adjoint as ad
    >>> ad.special.log_expit(-1000.0)
    Tensor(-1000.)
    """
    return _unary(lambda node: ops.negative(ops.softplus(ops.negative(inexact(node)))), x)


def softmax(x: Operand, /, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """exp(x) divided by its sum over axes (None: all, as in SciPy), without overflow.

    >>> import adjoint as ad
    >>> ad.special.softmax(ad.tensor([0.0, 0.0]))
    Tensor([0.5, 0.5])
    """
    return _softmax(x, _axes(x, axis))


def log_softmax(x: Operand, /, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """log(softmax(x)) over axes (None: all, as in SciPy), without overflow or cancellation.

    >>> import adjoint as ad
    >>> ad.special.log_softmax(ad.tensor([0.0, -1000.0]))
    Tensor([    0., -1000.])
    """
    return _log_softmax(x, _axes(x, axis))


def _axes(x: Any, axis: Any) -> Any:
    return tuple(range(np.ndim(x) if not isinstance(x, Named) else x.ndim)) if axis is None else axis


def multigammaln(x: Operand, d: int, /) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension d, elementwise; x > (d - 1) / 2.

    >>> import adjoint as ad
    >>> ad.special.multigammaln(3.0, 2)
    Tensor(1.5502)
    """
    return composite("multigammaln", composites.multigammaln, as_node(x), _order("multigammaln", d))


def logsumexp(x: Operand, /, axis: Any = None, b: Any = None, keepdims: bool = False) -> Tensor:
    """log of the sum of b exp(x) over axes (None: all), without overflow; b: weights (default 1) that broadcast with x.

    -inf for an empty sum, NaN for a negative one.

    >>> import adjoint as ad
    >>> ad.special.logsumexp(ad.tensor([1000.0, 1000.0]), b=ad.tensor([0.25, 0.75]))
    Tensor(1000.)
    """
    if b is None:
        return composite("logsumexp", reductions.logsumexp, as_node(x), axis, keepdims)
    return composite("logsumexp", composites.weighted_logsumexp, as_node(x), as_node(b), axis, keepdims)


__all__ = [
    "beta", "betainc", "betaln", "binom", "boxcox", "boxcox1p", "cbrt", "dawsn", "digamma", "ellipe", "ellipk", "entr",
    "erf", "erfc", "erfcinv", "erfcx", "erfinv", "exp2", "expi", "expit", "expn", "exprel", "factorial", "fresnel", "gamma",
    "gammainc", "gammaincc", "gammaln", "gammasgn", "huber", "hyp1f1", "hyp2f1", "i0", "i0e", "i1", "i1e", "iv", "ive", "j0",
    "j1", "jv", "k0", "k0e", "k1", "k1e", "kl_div", "kv", "kve", "lambertw", "log_expit", "log_ndtr", "log_softmax", "logit",
    "logsumexp", "multigammaln", "ndtr", "ndtri", "owens_t", "poch", "polygamma", "pseudo_huber", "rel_entr", "rgamma",
    "shichi", "sici", "sinc", "softmax", "spence", "voigt_profile", "wofz", "xlog1py", "xlogy", "y0", "y1", "yv", "zeta",
]  # fmt: skip


__getattr__ = hinted_module("adjoint.special")
