"""Losses. Shapes must match: a loss that broadcasts is nearly always a mistake that trains badly in silence."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.tensors import Tensor
from adjoint.tensors.functions import abs, asarray, log_softmax, mean, softplus, square, sum, take_along_axis
from adjoint.tensors.located import at_user

__all__ = [
    "binary_cross_entropy_with_logits",
    "check_reduction",
    "cross_entropy",
    "l1_loss",
    "mse_loss",
    "nll_loss",
]


def mse_loss(prediction: Tensor, target: Any, reduction: str = "mean") -> Tensor:
    """The squared differences of two tensors of one shape: their mean, their sum, or (`"none"`) all of them.

    Raises ValueError when the shapes differ.
    """
    return _reduce("mse_loss", square(prediction - _matching("mse_loss", prediction, target)), reduction)


def l1_loss(prediction: Tensor, target: Any, reduction: str = "mean") -> Tensor:
    """The absolute differences of two tensors of one shape: their mean, their sum, or (`"none"`) all of them.

    Raises ValueError when the shapes differ.
    """
    return _reduce("l1_loss", abs(prediction - _matching("l1_loss", prediction, target)), reduction)


def binary_cross_entropy_with_logits(logits: Tensor, target: Any, reduction: str = "mean") -> Tensor:
    """`-target*log(sigmoid(logits)) - (1 - target)*log(1 - sigmoid(logits))` for two tensors of one shape.

    Computed as `softplus(logits) - target*logits`, which neither overflows nor loses digits. The target holds
    probabilities or 0 and 1; bools will do. Raises ValueError when the shapes differ.
    """
    name = "binary_cross_entropy_with_logits"
    target = _matching(name, logits, target)
    if target.dtype != logits.dtype:
        target = target.astype(logits.dtype)
    return _reduce(name, softplus(logits) - target * logits, reduction)


def cross_entropy(logits: Tensor, target: Any, reduction: str = "mean") -> Tensor:
    """The negative logarithm of the probability that softmax gives to the right class.

    `logits` are (N, C) or (C,), or (N, C, ...) with the classes along axis 1. `target` holds class numbers from 0 to
    C - 1 and lacks that axis, or it holds probabilities and has the shape of `logits`. The loss is the mean over the
    samples, their sum, or (`"none"`) one for each. Raises ValueError when the shapes don't fit, IndexError for a class
    number out of range.
    """
    target = asarray(target)
    if target.dtype.kind != "f":
        return _pick("cross_entropy", log_softmax(logits, axis=_class_axis("cross_entropy", logits)), target, reduction)
    if target.shape != logits.shape:
        raise ValueError(
            f"cross_entropy: probabilities must have the shape of the logits, {logits.shape}; theirs is {target.shape}"
            + (". Class numbers must be integers: target.astype('int64')" if target.ndim < logits.ndim else "")
            + at_user()
        )
    axis = _class_axis("cross_entropy", logits)
    losses = -sum(target * log_softmax(logits, axis=axis), axis=axis)
    return _reduce("cross_entropy", losses, reduction)


def nll_loss(log_probabilities: Tensor, target: Any, reduction: str = "mean") -> Tensor:
    """The negative of the entry of the right class: `cross_entropy` of what is logarithms of probabilities already.

    `log_probabilities` are (N, C) or (C,), or (N, C, ...) with the classes along axis 1; `target` holds class numbers
    and lacks that axis. Raises ValueError when the shapes don't fit, IndexError for a class number out of range.
    """
    _class_axis("nll_loss", log_probabilities)
    return _pick("nll_loss", log_probabilities, asarray(target), reduction)


def check_reduction(name: str, reduction: str) -> None:
    """Raise ValueError unless the reduction is `"mean"`, `"sum"` or `"none"`."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{name}: reduction must be 'mean', 'sum' or 'none', not {reduction!r}{at_user()}")


def _reduce(name: str, losses: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return mean(losses)
    check_reduction(name, reduction)
    return sum(losses) if reduction == "sum" else losses


def _matching(name: str, prediction: Tensor, target: Any) -> Tensor:
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


def _pick(name: str, log_probabilities: Tensor, target: Tensor, reduction: str) -> Tensor:
    """The reduced negatives of the entries that the class numbers name."""
    axis = 0 if log_probabilities.ndim == 1 else 1
    shape = log_probabilities.shape
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
    _check_classes(name, target, shape[axis])
    picked = take_along_axis(log_probabilities, target.expand_dims(axis=axis), axis=axis)
    return _reduce(name, -picked.squeeze(axis=axis), reduction)


def _check_classes(name: str, target: Tensor, count: int) -> None:
    """Raise IndexError for class numbers out of range, if they are known yet; else indexing will, when evaluated."""
    labels = target.node.value
    if type(labels) is not np.ndarray or not labels.size:
        return
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= count:
        wrong = low if low < 0 else high
        where = tuple(int(i) for i in np.argwhere(labels == wrong)[0])
        message = f"{name}: class number {wrong} at {list(where)} is out of range for {count} classes"
        raise IndexError(message + at_user())
