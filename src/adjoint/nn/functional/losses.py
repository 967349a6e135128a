"""Losses. Shapes must match: a loss that broadcasts is nearly always a mistake that trains badly in silence."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.composites import losses
from adjoint.composites.reductions import log_softmax
from adjoint.graph import Node
from adjoint.primitives.core import cast, ops
from adjoint.shapes import broadcasts_to
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray
from adjoint.tensors.located import at_user

from .ranges import check_range, range_of
from .recording import optional, recorded, scope, tensor_of

__all__ = [
    "binary_cross_entropy_with_logits", "check_reduction", "cross_entropy", "huber_loss", "kl_div", "l1_loss", "mse_loss",
    "nll_loss", "smooth_l1_loss",
]  # fmt: skip


def mse_loss(prediction: Tensor, target: Any, reduction: str = "mean", weight: Any = None) -> Tensor:
    """The squared differences of two tensors of one shape: their mean, their sum, or (`"none"`) all of them.

    `weight`, of the same shape, multiplies each; the mean is then the sum divided by that of the weights.
    Raises ValueError when the shapes differ.
    """
    return _of_difference("mse_loss", prediction, target, reduction, 0.0, weight)


def l1_loss(prediction: Tensor, target: Any, reduction: str = "mean", weight: Any = None) -> Tensor:
    """The absolute differences of two tensors of one shape: their mean, their sum, or (`"none"`) all of them.

    `weight`, of the same shape, multiplies each; the mean is then the sum divided by that of the weights.
    Raises ValueError when the shapes differ.
    """
    return _of_difference("l1_loss", prediction, target, reduction, 0.0, weight)


def huber_loss(
    prediction: Tensor, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None
) -> Tensor:
    """`d²/2` for differences d within ±delta, beyond it `delta * (|d| - delta/2)`: their mean, their sum, or all.

    `weight`, of the same shape, multiplies each; the mean stays one over their number, as PyTorch has it here. Raises ValueError
    when the shapes differ, or for a delta that isn't positive. (P. Huber, 1964.)
    """
    if not delta > 0:
        raise ValueError(f"huber_loss: delta must be positive, not {delta}{at_user()}")
    return _of_difference("huber_loss", prediction, target, reduction, delta, weight)


def smooth_l1_loss(prediction: Tensor, target: Any, reduction: str = "mean", beta: float = 1.0) -> Tensor:
    """`d²/(2 beta)` for differences d within ±beta, beyond it `|d| - beta/2`: their mean, their sum, or all.

    With beta 0 that is `l1_loss`. Raises ValueError when the shapes differ, or for a negative beta.
    """
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: beta must not be negative, not {beta}{at_user()}")
    return _of_difference("smooth_l1_loss", prediction, target, reduction, beta)


def kl_div(log_probabilities: Tensor, target: Any, reduction: str = "mean", log_target: bool = False) -> Tensor:
    """`target * (log(target) - log_probabilities)`, two tensors of one shape: how far the target is from the prediction.

    With `log_target`, the target holds logarithms too. `reduction` is `"mean"` over all elements, `"batchmean"` over the
    first axis (the divergence itself), `"sum"` or `"none"`. Raises ValueError when the shapes differ.
    """
    name = "kl_div"
    if reduction != "batchmean":
        check_reduction(name, reduction, ", 'batchmean'")
    log_probabilities = asarray(log_probabilities)
    target = matching(name, log_probabilities, target)
    with scope(name):
        found = losses.divergence(log_probabilities.node, cast(target.node, log_probabilities.dtype), log_target)
        if reduction != "batchmean":
            return tensor_of(losses.reduced(found, reduction))
        count = float(log_probabilities.shape[0] if log_probabilities.ndim else 1)
        return tensor_of(ops.divide(losses.reduced(found, "sum"), count))


def binary_cross_entropy_with_logits(
    logits: Tensor,
    target: Any,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`-p*target*log(sigmoid(logits)) - (1 - target)*log(1 - sigmoid(logits))` for two tensors of one shape, times `weight`.

    Computed with softplus, which neither overflows nor loses digits. The target holds probabilities or 0 and 1; bools will
    do. `weight` and p, the `pos_weight`, broadcast to that shape. Raises ValueError when shapes differ.
    """
    name = "binary_cross_entropy_with_logits"
    check_reduction(name, reduction)
    logits = asarray(logits)
    target = matching(name, logits, target)
    for what, given in (("weight", weight), ("pos_weight", pos_weight)):
        if given is not None and not broadcasts_to(given.shape, logits.shape):
            raise ValueError(f"{name}: {what} of shape {given.shape} does not broadcast to {logits.shape}{at_user()}")

    def loss(x: Node, t: Node, w: Node | None, p: Node | None) -> Node:
        return losses.reduced(losses.logistic(x, cast(t, x.dtype), w, p), reduction)

    return recorded(name, loss, logits.node, target.node, optional(weight), optional(pos_weight))


def cross_entropy(
    logits: Tensor,
    target: Any,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The negative logarithm of the probability that softmax gives to the right class.

    `logits` are (N, C) or (C,), or (N, C, ...) with the classes along axis 1. `target` holds class numbers from 0 to
    C - 1 and lacks that axis, or it holds probabilities and has the shape of `logits`. `weight` (C,) counts each class
    so much; samples of the class `ignore_index` count nothing. With `label_smoothing` s, the target is 1 - s of what it
    says and s of all classes alike. The loss is the mean over the samples (over their weights, for class numbers), their
    sum, or (`"none"`) one for each. Raises ValueError when shapes don't fit, IndexError for a class number out of range.
    """
    name = "cross_entropy"
    check_reduction(name, reduction)
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"{name}: label_smoothing is a share, from 0 to 1, not {label_smoothing}{at_user()}")
    logits = asarray(logits)
    given: Tensor = asarray(target)
    axis = _class_axis(name, logits)
    weights = _class_weights(name, logits.shape[axis], weight)
    if given.dtype.kind != "f":
        return _by_class(name, logits, given, weights, ignore_index, reduction, label_smoothing, normalize=True)
    if given.shape != logits.shape:
        raise ValueError(
            f"{name}: probabilities must have the shape of the logits, {logits.shape}; theirs is {given.shape}"
            + (". Class numbers must be integers: target.astype('int64')" if given.ndim < logits.ndim else "")
            + at_user()
        )
    with scope(name):
        found = log_softmax(logits.node, axis)
        target_node = cast(given.node, found.dtype)
        return tensor_of(losses.by_probability(found, target_node, axis, weights, reduction, label_smoothing))


def nll_loss(
    log_probabilities: Tensor,
    target: Any,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """The negative of the entry of the right class: `cross_entropy` of what is logarithms of probabilities already.

    `log_probabilities` are (N, C) or (C,), or (N, C, ...) with the classes along axis 1; `target` holds class numbers
    and lacks that axis. `weight` (C,) counts each class so much; samples of the class `ignore_index` count nothing.
    Raises ValueError when the shapes don't fit, IndexError for a class number out of range.
    """
    name = "nll_loss"
    check_reduction(name, reduction)
    log_probabilities = asarray(log_probabilities)
    weights = _class_weights(name, log_probabilities.shape[_class_axis(name, log_probabilities)], weight)
    return _by_class(name, log_probabilities, asarray(target), weights, ignore_index, reduction, 0.0, normalize=False)


def check_reduction(name: str, reduction: str, others: str = "") -> None:
    """Raise ValueError unless the reduction is `"mean"`, `"sum"` or `"none"`."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{name}: reduction must be 'mean', 'sum'{others} or 'none', not {reduction!r}{at_user()}")


def _of_difference(
    name: str, prediction: Tensor, target: Any, reduction: str, limit: float, weight: Any = None
) -> Tensor:
    check_reduction(name, reduction)
    prediction = asarray(prediction)
    given = matching(name, prediction, target)
    if weight is not None:
        weight = asarray(weight)
        if weight.shape != prediction.shape:
            raise ValueError(
                f"{name}: the weight must have the prediction's shape {prediction.shape}, not {weight.shape}{at_user()}"
            )
        weight = cast(weight.node, prediction.dtype)
    return recorded(name, losses.of_difference, prediction.node, given.node, name, limit, reduction, weight)


def matching(name: str, prediction: Tensor, target: Any) -> Tensor:
    """The target as a tensor of the prediction's shape. Raises ValueError that says how to make it one."""
    given: Tensor = asarray(target)
    if given.shape == prediction.shape:
        return given
    message = f"{name}: the prediction has shape {prediction.shape} and the target {given.shape}; they must be the same"
    if prediction.shape == (*given.shape, 1):
        message += ". Write prediction.squeeze(axis=-1), or target[:, None]"
    elif given.shape == (*prediction.shape, 1):
        message += ". Write target.squeeze(axis=-1), or prediction[:, None]"
    raise ValueError(message + at_user())


def _class_axis(name: str, scores: Tensor) -> int:
    if scores.ndim == 0:
        raise ValueError(f"{name}: the scores must have an axis of classes; they are a single number{at_user()}")
    return 0 if scores.ndim == 1 else 1


def _class_weights(name: str, count: int, weight: Tensor | None) -> Node | None:
    if weight is not None and weight.shape != (count,):
        raise ValueError(
            f"{name}: {count} classes need a weight of shape {(count,)}; its shape is {weight.shape}{at_user()}"
        )
    return optional(weight)


def _by_class(
    name: str, scores: Tensor, target: Tensor, weight: Node | None, ignored: int, reduction: str, smoothing: float,
    *, normalize: bool,
) -> Tensor:  # fmt: skip
    """The loss for class numbers, of logits (to be normalized) or of logarithms of probabilities."""
    axis = 0 if scores.ndim == 1 else 1
    shape = scores.shape
    expected = shape[:axis] + shape[axis + 1 :]
    if target.dtype.kind not in "iu":
        raise TypeError(f"{name}: class numbers must be integers, not {target.dtype}{at_user()}")
    if target.shape != expected:
        message = f"{name}: scores of shape {shape} need class numbers of shape {expected}; theirs is {target.shape}"
        if target.shape == (*expected, 1):
            message += ". Write target.squeeze(axis=-1)"
        elif target.shape == shape:
            message += ". Is it one-hot? Then write target.astype(scores.dtype), or target.argmax(axis=1)"
        raise ValueError(message + at_user())
    some = _check_classes(name, target, shape[axis], ignored)
    with scope(name):
        found = log_softmax(scores.node, axis) if normalize else scores.node
        skipped = ignored if some else None
        return tensor_of(losses.by_class(found, target.node, axis, weight, skipped, reduction, smoothing))


def _check_classes(name: str, target: Tensor, count: int, ignored: int) -> bool:
    """Whether any sample may have to be ignored. Raises IndexError for a class number out of range, if they are known."""
    labels = target.node.value
    if type(labels) is not np.ndarray:
        return True
    if not labels.size:
        return False
    smallest, largest = range_of(labels)
    if smallest >= 0 and largest < count and not 0 <= ignored < count:
        return False
    skipped = labels == ignored
    check_range(name, "class number", asarray(np.where(skipped, 0, labels)), count, "classes")
    return bool(skipped.any())
