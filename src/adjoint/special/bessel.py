"""Bessel functions. By the order there is no derivative in closed form: asking for it raises RuntimeError."""

from __future__ import annotations

from adjoint.primitives import special as primitives, special_integrals as further
from adjoint.primitives.core import ops
from adjoint.tensors.composing import Operand
from adjoint.tensors.elementwise import _binary, _unary
from adjoint.tensors.tensor import Tensor

__all__ = [
    "i0", "i0e", "i1", "i1e", "iv", "ive", "j0", "j1", "jv", "k0", "k0e", "k1", "k1e", "kv", "kve", "y0", "y1", "yv",
]  # fmt: skip


def i0(x: Operand, /) -> Tensor:
    """The modified Bessel function of the first kind of order 0, elementwise.

    >>> import adjoint as ad
    >>> ad.special.i0(1.0)
    Tensor(1.2661)
    """
    return _unary(primitives.i0, x)


def i0e(x: Operand, /) -> Tensor:
    """exp(-|x|) I₀(x), elementwise; its derivative at 0 is 0.

    >>> import adjoint as ad
    >>> ad.special.i0e(100.0)
    Tensor(0.0399)
    """
    return _unary(primitives.i0e, x)


def i1(x: Operand, /) -> Tensor:
    """The modified Bessel function of the first kind of order 1, elementwise.

    >>> import adjoint as ad
    >>> ad.special.i1(1.0)
    Tensor(0.5652)
    """
    return _unary(primitives.i1, x)


def i1e(x: Operand, /) -> Tensor:
    """exp(-|x|) I₁(x), elementwise; its derivative at 0 is 1/2.

    >>> import adjoint as ad
    >>> ad.special.i1e(100.0)
    Tensor(0.0397)
    """
    return _unary(primitives.i1e, x)


def iv(x: Operand, y: Operand, /) -> Tensor:
    """The modified Bessel function of the first kind of order x at y, elementwise.

    Its derivative by the order has no closed form: asking for it raises RuntimeError. So have `kv`, `jv` and `yv` none.

    >>> import adjoint as ad
    >>> ad.special.iv(0.5, 1.0)
    Tensor(0.9377)
    """
    return _binary(ops.iv, x, y)


def kv(x: Operand, y: Operand, /) -> Tensor:
    """The modified Bessel function of the second kind of order x at y > 0, elementwise. No derivative by the order.

    >>> import adjoint as ad
    >>> ad.special.kv(0.5, 1.0)
    Tensor(0.4611)
    """
    return _binary(ops.kv, x, y)


def jv(x: Operand, y: Operand, /) -> Tensor:
    """The Bessel function of the first kind of order x at y, elementwise. No derivative by the order.

    >>> import adjoint as ad
    >>> ad.special.jv(0.5, 1.0)
    Tensor(0.6714)
    """
    return _binary(ops.jv, x, y)


def yv(x: Operand, y: Operand, /) -> Tensor:
    """The Bessel function of the second kind of order x at y > 0, elementwise. No derivative by the order.

    >>> import adjoint as ad
    >>> ad.special.yv(0.5, 1.0)
    Tensor(-0.4311)
    """
    return _binary(ops.yv, x, y)


def j0(x: Operand, /) -> Tensor:
    """The Bessel function of the first kind of order 0, elementwise.

    >>> import adjoint as ad
    >>> ad.special.j0(1.0)
    Tensor(0.7652)
    """
    return _unary(further.j0, x)


def j1(x: Operand, /) -> Tensor:
    """The Bessel function of the first kind of order 1, elementwise.

    >>> import adjoint as ad
    >>> ad.special.j1(1.0)
    Tensor(0.4401)
    """
    return _unary(further.j1, x)


def y0(x: Operand, /) -> Tensor:
    """The Bessel function of the second kind of order 0, elementwise for x > 0.

    >>> import adjoint as ad
    >>> ad.special.y0(1.0)
    Tensor(0.0883)
    """
    return _unary(further.y0, x)


def y1(x: Operand, /) -> Tensor:
    """The Bessel function of the second kind of order 1, elementwise for x > 0.

    >>> import adjoint as ad
    >>> ad.special.y1(1.0)
    Tensor(-0.7812)
    """
    return _unary(further.y1, x)


def k0(x: Operand, /) -> Tensor:
    """The modified Bessel function of the second kind of order 0, elementwise for x > 0.

    >>> import adjoint as ad
    >>> ad.special.k0(1.0)
    Tensor(0.421)
    """
    return _unary(further.k0, x)


def k1(x: Operand, /) -> Tensor:
    """The modified Bessel function of the second kind of order 1, elementwise for x > 0.

    >>> import adjoint as ad
    >>> ad.special.k1(1.0)
    Tensor(0.6019)
    """
    return _unary(further.k1, x)


def k0e(x: Operand, /) -> Tensor:
    """exp(x) K₀(x), elementwise for x > 0.

    >>> import adjoint as ad
    >>> ad.special.k0e(1.0)
    Tensor(1.1445)
    """
    return _unary(further.k0e, x)


def k1e(x: Operand, /) -> Tensor:
    """exp(x) K₁(x), elementwise for x > 0.

    >>> import adjoint as ad
    >>> ad.special.k1e(1.0)
    Tensor(1.6362)
    """
    return _unary(further.k1e, x)


def ive(x: Operand, y: Operand, /) -> Tensor:
    """exp(-|y|) Iᵥ(y) of order v = x, elementwise: what doesn't overflow. No derivative by the order.

    >>> import adjoint as ad
    >>> ad.special.ive(0.5, 1.0)
    Tensor(0.345)
    """
    return _binary(ops.ive, x, y)


def kve(x: Operand, y: Operand, /) -> Tensor:
    """exp(y) Kᵥ(y) of order v = x, for y > 0, elementwise: what doesn't underflow. No derivative by the order.

    >>> import adjoint as ad
    >>> ad.special.kve(0.5, 1.0)
    Tensor(1.2533)
    """
    return _binary(ops.kve, x, y)
