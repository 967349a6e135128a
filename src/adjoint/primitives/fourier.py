"""Fourier, cosine and sine transforms. They are linear, so the rule of each is a transform again: its adjoint.

Axes count from the end, so that one more in front changes nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.dtypes import complex_of, real_of
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives import fourier_kernels as kernels
from adjoint.primitives.core import cast, leaf, ops, register

Axes = tuple[int, ...]

# The scale of a transform stays that of its adjoint, whose direction is the other one
OTHER = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _along(weights: Any, x: Node, axis: int) -> Node:
    """x by constants along an axis counted from the end."""
    shape = (len(weights), *(1,) * (-axis - 1))
    factors = cast(leaf(weights, array_type(weights.shape, real_of(x.dtype))), x.dtype)
    return ops.scale(x, ops.broadcast_to(ops.reshape(factors, shape), x.shape))


@functools.lru_cache(maxsize=64)
def _ends(size: int, ends: tuple[float, ...], inner: float, dtype: str) -> Any:
    """Constants along an axis: `ends` are its first and last elements (or the first alone), `inner` all others."""
    weights = np.full(size, inner, dtype)
    if size:
        weights[-1 if len(ends) > 1 else 0] = ends[-1]
        weights[0] = ends[0]
    weights.flags.writeable = False
    return weights


def ends_weighed(x: Node, axis: int, ends: tuple[float, ...], inner: float) -> Node:
    """x by `ends` at the ends of an axis and by `inner` between them."""
    return _along(_ends(x.shape[axis], ends, inner, real_of(x.dtype).name), x, axis)


# Fourier transforms ---------------------------------------------------------------------------------------------------


def _fft_rule(u: Node, out: Node, x: Node) -> Node:
    axes, inverse, norm = out.attributes
    return cast(fft(u, axes, not inverse, OTHER[norm]), x.dtype)  # real x: the real part


def _twins_weighed(x: Node, axis: int, n: int, factor: float) -> Node:
    """A half spectrum of n numbers, those of its elements multiplied that have a conjugate twin in the other half."""
    return ends_weighed(x, axis, (1.0,) if n % 2 else (1.0, 1.0), factor)


def _rfft_rule(u: Node, out: Node, x: Node) -> Node:
    axes, norm = out.attributes
    n = x.shape[axes[-1]]
    return irfft(_twins_weighed(u, axes[-1], n, 0.5), axes, n, OTHER[norm])


def _irfft_rule(u: Node, out: Node, x: Node) -> Node:
    axes, n, norm = out.attributes
    return _twins_weighed(rfft(u, axes, OTHER[norm]), axes[-1], n, 2.0)


def _irfft_kernel(attributes: Any, type: Any) -> Any:
    axes, n, norm = attributes
    shape, dtype = type.shape, type.dtype.dtype
    return lambda x, out=None, spent=False: kernels.irfft(x, axes, n, norm, shape, dtype, out, spent)


def _with_type(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that is told the shape and dtype of its result."""
    return lambda attributes, type: lambda x, out=None: kernel(x, *attributes, type.shape, type.dtype.dtype, out)


FFT = Primitive("fft", _with_type(kernels.fft), (_fft_rule,), takes_out=True)
RFFT = Primitive("rfft", _with_type(kernels.rfft), (_rfft_rule,), takes_out=True)
IRFFT = Primitive("irfft", _irfft_kernel, (_irfft_rule,), takes_out=True, spends=True)


@register
def fft(x: Node, axes: Axes, inverse: bool, norm: str) -> Node:
    """The transform over axes, complex; `norm` says which direction divides by the number of elements."""
    return record(FFT, (x,), (axes, inverse, norm), array_type(x.shape, complex_of(x.dtype)))


def _resized(x: Node, axis: int, n: int) -> tuple[int, ...]:
    at = x.ndim + axis
    return (*x.shape[:at], n, *x.shape[at + 1 :])


@register
def rfft(x: Node, axes: Axes, norm: str) -> Node:
    """The transform of real x: of the last of the axes the first n // 2 + 1 elements."""
    shape = _resized(x, axes[-1], x.shape[axes[-1]] // 2 + 1)
    return record(RFFT, (x,), (axes, norm), array_type(shape, complex_of(x.dtype)))


@register
def irfft(x: Node, axes: Axes, n: int, norm: str) -> Node:
    """The inverse of `rfft`, n elements along the last of the axes; the imaginary parts of what has no twin are not read."""
    return record(IRFFT, (x,), (axes, n, norm), array_type(_resized(x, axes[-1], n), real_of(x.dtype)))


# Cosine and sine transforms -------------------------------------------------------------------------------------------


def _trigonometric_rule(u: Node, out: Node, x: Node) -> Node:
    # type 2 is the adjoint of type 3, 4 is symmetric, and so is 1, but for factors at the ends
    kind, number, axes = out.attributes
    for axis in axes:
        u = _before_adjoint(u, kind, number, axis)
    u = trigonometric(u, kind, {2: 3, 3: 2}.get(number, number), axes)
    for axis in axes:
        u = _after_adjoint(u, kind, number, axis)
    return u


def _before_adjoint(u: Node, kind: str, number: int, axis: int) -> Node:
    if kind == "c" and number == 1:
        return ends_weighed(u, axis, (1.0, 1.0), 0.5)
    if number == 2:
        return one_end(u, kind, axis, 2.0)
    return u


def _after_adjoint(u: Node, kind: str, number: int, axis: int) -> Node:
    if kind == "c" and number == 1:
        return ends_weighed(u, axis, (1.0, 1.0), 2.0)
    if number == 3:
        return one_end(u, kind, axis, 0.5)
    return u


def one_end(u: Node, kind: str, axis: int, factor: float) -> Node:
    """The first element of a cosine transform's axis, or the last of a sine transform's, by a factor."""
    size = u.shape[axis]
    if size == 1:
        return ops.multiply(u, factor)
    return ends_weighed(u, axis, (factor,) if kind == "c" else (1.0, factor), 1.0)


TRIGONOMETRIC = Primitive(
    "trigonometric_transform",
    lambda attributes, type: lambda x: kernels.trigonometric(x, *attributes),
    (_trigonometric_rule,),
)


@register
def trigonometric(x: Node, kind: str, number: int, axes: Axes) -> Node:
    """The cosine ("c") or sine ("s") transform of type 1 to 4 over axes, unscaled."""
    return record(TRIGONOMETRIC, (x,), (kind, number, axes), x.type)


PRIMITIVES = [FFT, RFFT, IRFFT, TRIGONOMETRIC]
