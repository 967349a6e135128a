"""Composites of special functions."""

from __future__ import annotations

import math
from typing import Any

from adjoint.graph import Node
from adjoint.primitives import special  # noqa: F401 - registers what is used here
from adjoint.primitives.core import inexact, match, ops, stop_gradient, zeros
from adjoint.shapes import drop_axes, normalize_axes


def logit(x: Node) -> Node:
    x = inexact(x)
    return ops.subtract(ops.log(x), ops.log1p(ops.negative(x)))


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
