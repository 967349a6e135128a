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
from adjoint.primitives.elementwise import divide, scale, subtract

__all__ = ["NORMALIZED", "rms_normalized", "softmaxed", "standardized"]


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


def _primitive(name: str, rule: Any) -> Primitive:
    return Primitive(
        name,
        lambda attributes, type: lambda made, *others: made,
        (None, rule, None),
        view=True,
        passes_on=True,
        reads=lambda type: 1,
    )


SOFTMAX = _primitive("softmax", _softmax_rule)
STANDARDIZED = _primitive("standardized", _standard_rule)
RMS_NORMALIZED = _primitive("rms_normalized", _rms_rule)
NORMALIZED = (SOFTMAX, STANDARDIZED, RMS_NORMALIZED)


def _noted(op: Primitive, made: Node, x: Node, total: Node) -> Node:
    """The formulas are those of real numbers; complex ones keep the chain rule."""
    return record(op, (made, x, total), None, made.type) if made.dtype.kind == "f" else made


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
