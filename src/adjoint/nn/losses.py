"""Losses as modules: the functions of `nn.functional` with their options held."""

from __future__ import annotations

from typing import Any

from adjoint.tensors import Tensor

from . import functional
from .module import Module

__all__ = ["BCEWithLogitsLoss", "CrossEntropyLoss", "L1Loss", "MSELoss", "NLLLoss"]


class Loss(Module):
    """What the losses share: how the losses of the samples are put together (`"mean"`, `"sum"` or `"none"`)."""

    def __init__(self, reduction: str = "mean") -> None:
        functional.check_reduction(type(self).__name__, reduction)
        self.reduction = reduction

    def extra_repr(self) -> str:
        """Nothing for the usual mean, else the reduction."""
        return "" if self.reduction == "mean" else f"reduction={self.reduction!r}"


class CrossEntropyLoss(Loss):
    """`functional.cross_entropy` as a module."""

    def forward(self, logits: Tensor, target: Any) -> Tensor:
        """The loss of logits (N, C, ...) for class numbers (N, ...) or probabilities (N, C, ...)."""
        return functional.cross_entropy(logits, target, self.reduction)


class NLLLoss(Loss):
    """`functional.nll_loss` as a module."""

    def forward(self, log_probabilities: Tensor, target: Any) -> Tensor:
        """The loss of log-probabilities (N, C, ...) for class numbers (N, ...)."""
        return functional.nll_loss(log_probabilities, target, self.reduction)


class MSELoss(Loss):
    """`functional.mse_loss` as a module."""

    def forward(self, prediction: Tensor, target: Any) -> Tensor:
        """The loss of a prediction for a target of the same shape."""
        return functional.mse_loss(prediction, target, self.reduction)


class L1Loss(Loss):
    """`functional.l1_loss` as a module."""

    def forward(self, prediction: Tensor, target: Any) -> Tensor:
        """The loss of a prediction for a target of the same shape."""
        return functional.l1_loss(prediction, target, self.reduction)


class BCEWithLogitsLoss(Loss):
    """`functional.binary_cross_entropy_with_logits` as a module."""

    def forward(self, logits: Tensor, target: Any) -> Tensor:
        """The loss of logits for probabilities of the same shape."""
        return functional.binary_cross_entropy_with_logits(logits, target, self.reduction)
