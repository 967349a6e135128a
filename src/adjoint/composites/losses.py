"""Losses by class, and those of single numbers; shapes are checked by the functions of tensors."""

from __future__ import annotations

from adjoint.composites.indexing import never_from_the_end
from adjoint.composites.recipes import remembered
from adjoint.dtypes import int64
from adjoint.graph import Node
from adjoint.primitives.core import ops
from adjoint.shapes import size_of


def reduced(losses: Node, reduction: str) -> Node:
    """All losses, their sum, or their mean."""
    if reduction == "none":
        return losses
    total: Node = ops.sum(losses, tuple(range(losses.ndim)))
    return total if reduction == "sum" else ops.divide(total, float(losses.type.size))


def picked(scores: Node, labels: Node, axis: int) -> Node:
    """The score of each sample's class: scores (N, C, ...) and labels (N, ...), or (C,) and ()."""
    rest = labels.shape
    grid = []
    for i, n in enumerate(rest):
        steps = ops.reshape(ops.iota(n), tuple([n if i == j else 1 for j in range(len(rest))]))
        grid.append(ops.broadcast_to(steps, rest))
    return ops.gather(scores, [*grid[:axis], labels, *grid[axis:]])


@remembered
def by_class(
    scores: Node, labels: Node, axis: int, weight: Node | None, ignored: int | None, reduction: str, smoothing: float
) -> Node:
    """The negative log-probabilities of the labels' classes, weighted, `ignored` ones 0; the mean is over the weights.

    With smoothing s, 1 - s of that, and s of the mean over all classes.
    """
    labels = ops.astype(labels, int64)
    counted = None
    if ignored is not None:
        counted = ops.not_equal(labels, ignored)
        labels = ops.where(counted, labels, 0)
    labels = never_from_the_end(labels, scores.shape[axis])
    losses = ops.negative(picked(scores, labels, axis))
    share = None if weight is None else ops.gather(weight, [labels])
    if share is not None:
        losses = ops.multiply(losses, share)
    if smoothing:
        even = scores if weight is None else ops.multiply(scores, _along(weight, scores, axis))
        everywhere = ops.multiply(ops.sum(even, (axis,)), -smoothing / scores.shape[axis])
        losses = ops.add(ops.multiply(losses, 1.0 - smoothing), everywhere)
    if counted is not None:
        losses = ops.where(counted, losses, ops.zeros(losses.type))
        share = ops.astype(counted, losses.dtype) if share is None else ops.where(counted, share, 0.0)
    if reduction != "mean" or share is None:
        return reduced(losses, reduction)
    axes = tuple(range(losses.ndim))
    return ops.divide(ops.sum(losses, axes), ops.sum(share, axes))


@remembered
def by_probability(
    log_scores: Node, target: Node, axis: int, weight: Node | None, reduction: str, smoothing: float
) -> Node:
    """The cross-entropy with probabilities; the mean is over the samples."""
    if smoothing:
        target = ops.add(ops.multiply(target, 1.0 - smoothing), smoothing / target.shape[axis])
    if weight is not None:
        target = ops.multiply(target, _along(weight, target, axis))
    return reduced(ops.negative(ops.sum(ops.multiply(target, log_scores), (axis,))), reduction)


def _along(weight: Node, like: Node, axis: int) -> Node:
    return ops.reshape(weight, (size_of(weight.shape), *(1,) * (like.ndim - axis - 1)))


@remembered
def of_difference(x: Node, y: Node, name: str, limit: float, reduction: str, weight: Node | None) -> Node:
    """A loss of the differences x - y by its name: `limit` is what huber_loss calls delta, and smooth_l1_loss beta.

    The mean with weights is over the weights, but for huber_loss.
    """
    difference = ops.subtract(x, y)
    if name == "mse_loss":
        found = ops.multiply(difference, difference)
    elif name == "l1_loss" or limit == 0:
        found = ops.abs(difference)
    else:
        found = ops.huber(difference, limit)
        if name == "smooth_l1_loss" and limit != 1:
            found = ops.divide(found, limit)
    if weight is None:
        return reduced(found, reduction)
    found = ops.multiply(found, weight)
    if reduction != "mean" or name == "huber_loss":
        return reduced(found, reduction)
    return ops.divide(reduced(found, "sum"), reduced(weight, "sum"))


def logistic(logits: Node, target: Node, weight: Node | None, positive: Node | None) -> Node:
    """-p target log σ(x) - (1 - target) log σ(-x), times the weight; p is the weight of positive answers."""
    if positive is None:
        losses = ops.subtract(ops.softplus(logits), ops.multiply(target, logits))
    else:
        share = ops.add(ops.multiply(target, ops.subtract(positive, 1)), 1)
        against = ops.multiply(ops.subtract(1, target), logits)
        losses = ops.add(against, ops.multiply(share, ops.softplus(ops.negative(logits))))
    return losses if weight is None else ops.multiply(losses, weight)


def divergence(log_scores: Node, target: Node, log_target: bool) -> Node:
    """target (log target - log_scores), 0 where the target is 0."""
    if log_target:
        return ops.multiply(ops.exp(target), ops.subtract(target, log_scores))
    empty = ops.equal(target, 0)
    logarithm = ops.log(ops.where(empty, 1.0, target))
    return ops.multiply(target, ops.subtract(logarithm, log_scores))
