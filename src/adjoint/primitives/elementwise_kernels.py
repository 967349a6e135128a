"""NumPy kernels of elementwise primitives that aren't one of its functions alone. Each may be given memory to write into."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def _complex_masked(ufunc: Any, a: Any, b: Any, out: Any, dead: Any) -> Any:
    """A product or quotient of complex numbers: where it is finite a zero has made it zero, so only the rest is looked at."""
    out = ufunc(a, b, out=out)
    if not np.isfinite(out).all():
        out = np.asarray(out)
        np.copyto(out, 0, where=np.broadcast_to(dead(), out.shape) & ~np.isfinite(out))
    return out


def masked_multiply(a: Any, b: Any, out: Any = None) -> Any:
    """a·b, and 0 where either is 0."""
    if a.dtype.kind == "c":
        return _complex_masked(np.multiply, a, b, out, lambda: (a == 0) | (b == 0))
    zero = _zero(a.dtype)
    dead = np.logical_or(np.equal(a, zero), np.equal(b, zero))
    out = np.asarray(np.multiply(a, b, out=out))
    np.copyto(out, zero, where=dead)
    return out


def masked_divide(u: Any, b: Any, out: Any = None) -> Any:
    """u / b, and 0 where u is 0."""
    if u.dtype.kind == "c":
        return _complex_masked(np.divide, u, b, out, lambda: u == 0)
    zero = _zero(u.dtype)
    dead = np.equal(u, zero)
    out = np.asarray(np.divide(u, b, out=out))
    np.copyto(out, zero, where=dead)
    return out


@functools.cache
def _zero(dtype: Any) -> Any:
    """Zero as an array: comparing with Python's takes three times as long where arrays are small."""
    return np.zeros((), dtype)


def power_by(exponent: float, type: Any) -> Any:
    """The kernel of x to the power of a number, of results of a type."""
    if exponent == 2:
        return np.square
    if exponent == 3:
        return lambda x, out=None: np.multiply(np.multiply(x, x), x, out=out)
    if exponent == 4 and type.real_inexact:  # as native code has it
        return lambda x, out=None: np.square(np.square(x, out=out), out=out)
    if exponent == -1 and type.inexact:
        return np.reciprocal
    if exponent == 0.5 and type.real_inexact:
        return _root_power
    power = np.array(exponent, type.dtype.dtype)
    return lambda x, out=None: np.power(x, power, out=out)


def _root_power(x: Any, out: Any = None) -> Any:
    """x to the power 1/2: unlike the root, that of -inf is inf and that of -0 is 0 (C's pow, IEEE 754)."""
    low = np.equal(x, -np.inf)
    root = np.add(np.sqrt(x, out=out), 0, out=out)
    if not np.any(low):
        return root
    if out is None:
        return np.where(low, -x, root)
    np.copyto(out, np.inf, where=low)
    return out


def power(x: Any, y: Any, out: Any = None) -> Any:
    """x to the power y. Where one y stands for many, NumPy takes 1/2 for the root."""
    halves = np.equal(y, 0.5)
    if not np.any(halves) or np.result_type(x, y).kind != "f":
        return np.power(x, y, out=out)
    corners = halves & ((x == 0) | (x == -np.inf))
    known = np.abs(x)
    result = np.power(x, y, out=out)
    if out is None:
        return np.where(corners, known, result)
    np.copyto(out, known, where=corners)
    return out


def clip(x: Any, low: Any, high: Any, out: Any = None) -> Any:
    """x between two bounds."""
    return np.minimum(np.maximum(x, low), high, out=out)


def sigmoid(x: Any, out: Any = None) -> Any:
    """1 / (1 + exp(-x))."""
    out = np.negative(x, out=out)
    if not isinstance(out, np.ndarray):
        return np.reciprocal(1 + np.exp(out))
    np.exp(out, out=out)
    np.add(out, 1, out=out)
    return np.reciprocal(out, out=out)


def softplus(x: Any, out: Any = None) -> Any:
    """log(1 + exp(x))."""
    return np.logaddexp(x, np.zeros((), np.asarray(x).dtype), out=out)


def relu(x: Any, out: Any = None) -> Any:
    """The larger of x and 0; NaN stays."""
    return np.maximum(x, np.zeros((), np.asarray(x).dtype), out=out)


def silu(x: Any, out: Any = None) -> Any:
    """x·sigmoid(x)."""
    return np.multiply(x, sigmoid(x), out=out)


def silu_derivative(x: Any, out: Any = None) -> Any:
    """The derivative of silu, whose factors don't overflow."""
    size = np.minimum(np.abs(x), np.asarray(800, np.asarray(x).dtype))
    small = np.exp(-size)
    share = 1 / (1 + small)
    return np.multiply(
        np.where(x < 0, small, 1) * share,
        1 + size * share * np.where(x < 0, np.asarray(-1, small.dtype), small),
        out=out,
    )


def where(c: Any, a: Any, b: Any, out: Any = None) -> Any:
    """a where c, else b."""
    if out is None:
        return np.where(c, a, b)
    np.copyto(out, b)
    np.copyto(out, a, where=c)
    return out


def real(x: Any, out: Any = None) -> Any:
    """The real parts, copied."""
    return _part(np.real(x), out)


def imag(x: Any, out: Any = None) -> Any:
    """The imaginary parts, copied."""
    return _part(np.imag(x), out)


def _part(x: Any, out: Any) -> Any:
    if out is None:
        return np.array(x)
    np.copyto(out, x)
    return out
