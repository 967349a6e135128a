"""Normalized values with derivative rules of their own: each is its first input, which ordinary operations have made, and its
derivative is the closed formula that reads the result, where the chain rule through these operations would read more arrays and
divide element by element.

The other inputs are for the rule alone. Forward mode and higher derivatives follow from the rules as always; Taylor mode and
sparsity patterns go through the operations that made the first input.
"""

from __future__ import annotations

from typing import Any

from adjoint.graph import Node, Primitive, record
from adjoint.primitives.core import ops
from adjoint.primitives.elementwise import divide, multiply, safe_divide, scale, subtract

__all__ = ["NORMALIZED", "batch_normalized", "rms_normalized", "softmaxed", "standardized"]


def _total(x: Node, like: Node) -> Node:
    """The sum over the axes along which another node has size one, of its shape."""
    axes = tuple([i for i, n in enumerate(like.shape) if n == 1])
    return ops.reshape(ops.sum(x, axes), like.shape)


def _mean(x: Node, like: Node) -> Node:
    return divide(_total(x, like), x.type.size / max(like.type.size, 1))


def _softmax_rule(u: Node, out: Node, made: Node, x: Node, total: Node) -> Node:
    """(u - Σ u r) r."""
    return scale(subtract(u, _total(scale(u, out), total)), out)


def _standard_rule(u: Node, out: Node, made: Node, x: Node, root: Node) -> Node:
    """(u - mean(u) - r mean(u r)) / root."""
    centered = subtract(u, _mean(u, root))
    return scale(subtract(centered, scale(_mean(scale(u, out), root), out)), divide(1, root))


def _rms_rule(u: Node, out: Node, made: Node, x: Node, root: Node) -> Node:
    """(u - r mean(u r)) / root."""
    return scale(subtract(u, scale(_mean(scale(u, out), root), out)), divide(1, root))


def _batch_rule(
    u: Node, out: Node, made: Node, centered: Node, factor: Node, root: Node, x: Node, *weight: Node
) -> Node:
    """factor (u - mean(u)) - centered factor mean(u centered) / root²."""
    slope = safe_divide(_mean(scale(u, centered), root), multiply(root, root))
    return subtract(scale(subtract(u, _mean(u, root)), factor), scale(centered, scale(slope, factor)))


def _batch_weight_rule(
    u: Node, out: Node, made: Node, centered: Node, factor: Node, root: Node, x: Node, weight: Node
) -> Node:
    """Σ u centered / root."""
    return ops.reshape(
        safe_divide(_total(scale(u, centered), root), root), weight.shape
    )  # no number where the batch is empty


def _primitive(name: str, *rules: Any) -> Primitive:
    return Primitive(
        name,
        lambda attributes, type: lambda made, *others: made,
        rules,
        view=True,
        passes_on=True,
        reads=lambda type: 1,
    )


SOFTMAX = _primitive("softmax", None, _softmax_rule, None)
STANDARDIZED = _primitive("standardized", None, _standard_rule, None)
RMS_NORMALIZED = _primitive("rms_normalized", None, _rms_rule, None)
BATCH_NORMALIZED = _primitive("batch_normalized", None, None, None, None, _batch_rule, _batch_weight_rule)
NORMALIZED = (SOFTMAX, STANDARDIZED, RMS_NORMALIZED, BATCH_NORMALIZED)


def _noted(op: Primitive, made: Node, *others: Node) -> Node:
    """The formulas are those of real numbers; complex ones keep the chain rule."""
    return record(op, (made, *others), None, made.type) if made.dtype.kind == "f" else made


def softmaxed(made: Node, x: Node, total: Node) -> Node:
    """exp(x - max) / total, given made; `total` has size one along the axes that it is over."""
    return _noted(SOFTMAX, made, x, total)


def standardized(made: Node, x: Node, root: Node) -> Node:
    """(x - mean) / root, given made, with root the square root of the mean square of x - mean plus a constant; it has size one
    along the axes of the means."""
    return _noted(STANDARDIZED, made, x, root)


def rms_normalized(made: Node, x: Node, root: Node) -> Node:
    """x / root, given made, with root the square root of the mean of x² plus a constant; it has size one along its axes."""
    return _noted(RMS_NORMALIZED, made, x, root)


def batch_normalized(made: Node, centered: Node, factor: Node, root: Node, x: Node, weight: Node | None) -> Node:
    """(x - mean) factor, given made, with factor = weight / root, or 1 / root, and root the square root of the mean square of
    x - mean plus a constant; factor and root have size one along the axes of the means."""
    return _noted(BATCH_NORMALIZED, made, centered, factor, root, x, *(() if weight is None else (weight,)))
