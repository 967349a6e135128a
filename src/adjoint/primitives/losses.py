"""Losses that are elementwise primitives, for their derivatives are shorter than those of what they are made of."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from adjoint.graph import Node
from adjoint.primitives.core import FULL, binary, is_literal, ops


def _huber_kernel(x: Any, limit: Any, out: Any = None) -> Any:
    near = np.minimum(np.maximum(x, np.negative(limit)), limit)
    return np.multiply(near, np.subtract(x, np.multiply(near, _half(limit.dtype))), out=out)


@functools.cache
def _half(dtype: Any) -> Any:
    return np.full((), 0.5, dtype)


def _nearest(x: Node, limit: Node) -> Node:
    """x limited to ±limit."""
    known = (
        limit.op is FULL and limit.value is None and is_literal(limit.attributes)
    )  # else it may be an input of the plan
    return ops.clip(x, ops.full(-limit.attributes, limit.type) if known else ops.negative(limit), limit)


# P. J. Huber's loss (1964): x²/2 within ±limit, and beyond it the line that goes on from there. Both are n (x - n/2), where n is
# the number within the limits that is nearest to x; and n is the slope.
huber = binary(
    "huber",
    _huber_kernel,
    lambda u, out, x, limit: ops.scale(u, _nearest(x, limit)),
    lambda u, out, x, limit: ops.scale(u, ops.abs(ops.subtract(x, _nearest(x, limit)))),
    kinds="f",
)
