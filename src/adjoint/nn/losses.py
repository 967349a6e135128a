"""Losses as modules: the functions of `nn.functional` with their options held."""

from __future__ import annotations

from typing import Any

from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray

from . import functional
from .module import Module

__all__ = [
    "BCEWithLogitsLoss", "CrossEntropyLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "NLLLoss", "SmoothL1Loss",
]  # fmt: skip


class Loss(Module):
    """What the losses share: how the losses of the samples are put together (`"mean"`, `"sum"` or `"none"`)."""

    def __init__(self, *, reduction: str = "mean") -> None:
        functional.check_reduction(type(self).__name__, reduction)
        self.reduction = reduction

    def extra_repr(self) -> str:
        """Nothing for the usual mean, else the reduction."""
        return "" if self.reduction == "mean" else f"reduction={self.reduction!r}"


class Weighted(Loss):
    """Losses with a weight for each class or element: a buffer, in the state when there is one."""

    weight: Tensor | None

    def __init__(self, weight: Any = None, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.register_buffer("weight", None if weight is None else asarray(weight))


class CrossEntropyLoss(Weighted):
    """`functional.cross_entropy` as a module."""

    def __init__(
        self, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, logits: Tensor, target: Any) -> Tensor:
        """The loss of logits (N, C, ...) for class numbers (N, ...) or probabilities (N, C, ...)."""
        return functional.cross_entropy(
            logits, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )  # fmt: skip


class NLLLoss(Weighted):
    """`functional.nll_loss` as a module."""

    def __init__(self, weight: Any = None, *, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__(weight, reduction=reduction)
        self.ignore_index = ignore_index

    def forward(self, log_probabilities: Tensor, target: Any) -> Tensor:
        """The loss of log-probabilities (N, C, ...) for class numbers (N, ...)."""
        return functional.nll_loss(
            log_probabilities, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class BCEWithLogitsLoss(Weighted):
    """`functional.binary_cross_entropy_with_logits` as a module."""

    pos_weight: Tensor | None

    def __init__(self, weight: Any = None, *, reduction: str = "mean", pos_weight: Any = None) -> None:
        super().__init__(weight, reduction=reduction)
        self.register_buffer("pos_weight", None if pos_weight is None else asarray(pos_weight))

    def forward(self, logits: Tensor, target: Any) -> Tensor:
        """The loss of logits for probabilities of the same shape."""
        return functional.binary_cross_entropy_with_logits(logits, target, self.weight, self.reduction, self.pos_weight)


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


class HuberLoss(Loss):
    """`functional.huber_loss` as a module."""

    def __init__(self, *, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, prediction: Tensor, target: Any) -> Tensor:
        """The loss of a prediction for a target of the same shape."""
        return functional.huber_loss(prediction, target, self.reduction, self.delta)


class SmoothL1Loss(Loss):
    """`functional.smooth_l1_loss` as a module."""

    def __init__(self, *, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.beta = beta

    def forward(self, prediction: Tensor, target: Any) -> Tensor:
        """The loss of a prediction for a target of the same shape."""
        return functional.smooth_l1_loss(prediction, target, self.reduction, self.beta)


class KLDivLoss(Module):
    """`functional.kl_div` as a module; `reduction` may be `"batchmean"` too."""

    def __init__(self, *, reduction: str = "mean", log_target: bool = False) -> None:
        if reduction != "batchmean":
            functional.check_reduction("KLDivLoss", reduction, ", 'batchmean'")
        self.reduction = reduction
        self.log_target = log_target

    def forward(self, log_probabilities: Tensor, target: Any) -> Tensor:
        """The loss of log-probabilities for probabilities of the same shape."""
        return functional.kl_div(log_probabilities, target, self.reduction, self.log_target)
