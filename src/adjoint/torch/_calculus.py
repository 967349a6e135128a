"""PyTorch's differences, integrals of samples, and covariances."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user

from ._names import FUNCTIONS, function
from ._sorting import stretch
from ._tensor import as_torch

__all__: list[str] = []


@function(methods=False, follows=True)
def cumulative_trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """The running integral by the trapezoidal rule."""
    return core.cumulative_sum(_trapezoids(y, x, dx, dim), axis=dim)


@function("trapz", methods=False, follows=True)
def trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """The integral along an axis by the trapezoidal rule."""
    return core.sum(_trapezoids(y, x, dx, dim), axis=dim)


def _trapezoids(y: Any, x: Any, dx: Any, dim: int) -> Any:
    if y.dtype.kind == "b":
        raise RuntimeError(f"trapezoid: not defined for bools{at_user()}")
    y, x = (v if v is None or v.dtype.inexact else core.astype(v, "int64") for v in (y, x))  # sums of bytes would wrap
    n = y.shape[dim]
    middles = (stretch(y, dim, 1, n) + stretch(y, dim, 0, n - 1)) / 2
    if x is None:
        return middles * dx
    if x.ndim == 1 and y.ndim > 1:
        x = core.reshape(x, tuple(-1 if i == dim % y.ndim else 1 for i in range(y.ndim)))
    axis = dim if x.ndim == y.ndim else -1
    m = x.shape[axis]
    return middles * (stretch(x, axis, 1, m) - stretch(x, axis, 0, m - 1))


@function(follows=True)
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The n-th differences along an axis."""
    if not n:
        return as_torch(input).clone()
    parts = [x for x in (prepend, input, append) if x is not None]
    x = core.concat(parts, axis=dim) if len(parts) > 1 else input
    if x.dtype.kind == "b":
        for _ in range(n):
            x = core.logical_xor(stretch(x, dim, 1, x.shape[dim]), stretch(x, dim, 0, x.shape[dim] - 1))
        return x
    return core.diff(x, axis=dim, n=builtins.min(n, x.shape[dim]))


def _check_weights(name: str, weights: Any, count: int, kinds: str) -> None:
    """Raise for weights of `cov` that aren't one number for each observation."""
    if weights is None:
        return
    if weights.ndim > 1 or weights.dtype.kind not in kinds or math.prod(weights.shape) != count:
        wanted = "integers" if kinds == "iu" else "floating numbers"
        raise RuntimeError(
            f"cov: {name} are {count} {wanted}, got shape {tuple(weights.shape)} of {weights.dtype.name}{at_user()}"
        )
    known = weights.node.value
    if type(known) is np.ndarray and (known < 0).any():
        raise RuntimeError(f"cov: {name} can't be negative{at_user()}")


@function()
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """The covariance matrix of variables (rows) over observations (columns)."""
    x = core.reshape(input, (1, -1)) if input.ndim < 2 else input
    if input.ndim > 2:
        raise RuntimeError(f"cov: expected at most two axes, got shape {tuple(input.shape)}{at_user()}")
    _check_weights("fweights", fweights, x.shape[1], "iu")
    _check_weights("aweights", aweights, x.shape[1], "f")
    weights = None
    if fweights is not None:
        weights = core.astype(fweights, x.dtype)
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    n = x.shape[1]
    if weights is None:
        centered = x - core.sum(x, axis=1, keepdims=True) / builtins.max(n, 1)
        out = core.matmul(centered, core.conj(centered).T) / builtins.max(n - correction, 0) if n - correction > 0 \
            else core.matmul(centered, core.conj(centered).T) * math.nan  # fmt: skip
    else:
        total = core.sum(weights)
        centered = x - core.sum(x * weights, axis=1, keepdims=True) / total
        lost = correction if aweights is None else correction * core.sum(weights * aweights) / total
        out = core.matmul(centered * weights, core.conj(centered).T) / core.maximum(core.real(total - lost), 0.0)
    return core.reshape(out, ()) if out.shape[0] == 1 else out


@function()
def corrcoef(input: Any) -> Any:
    """The matrix of correlation coefficients."""
    c = cov(input)
    if not c.ndim:
        return c / c
    d = core.sqrt(core.real(FUNCTIONS["diagonal"](c)))
    found = c / core.expand_dims(d, axis=1) / d
    if found.dtype.kind != "c":
        return core.clip(found, -1.0, 1.0)
    re, im = (core.clip(part(found), -1.0, 1.0) for part in (core.real, core.imag))
    return core.astype(re, found.dtype) + core.astype(im, found.dtype) * 1j
