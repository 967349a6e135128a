"""Losses as modules: the functions of `nn.functional` with their options held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray

from . import functional
from .module import Module

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
    "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss", "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss",
    "TripletMarginLoss", "TripletMarginWithDistanceLoss",
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


class BCELoss(Weighted):
    """`functional.binary_cross_entropy` as a module."""

    def forward(self, probabilities: Tensor, target: Any) -> Tensor:
        """The loss of probabilities for probabilities of the same shape."""
        return functional.binary_cross_entropy(probabilities, target, self.weight, self.reduction)


class PoissonNLLLoss(Loss):
    """`functional.poisson_nll_loss` as a module."""

    def __init__(
        self, log_input: bool = True, full: bool = False, *, eps: float = 1e-8, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, x: Tensor, target: Any) -> Tensor:
        """The loss of expected counts, or their logarithms, for counts of the same shape."""
        return functional.poisson_nll_loss(x, target, self.log_input, self.full, self.eps, self.reduction)


class GaussianNLLLoss(Loss):
    """`functional.gaussian_nll_loss` as a module."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, x: Tensor, target: Any, var: Any) -> Tensor:
        """The loss of means for numbers of the same shape, with a variance."""
        return functional.gaussian_nll_loss(x, target, var, self.full, self.eps, self.reduction)


class CTCLoss(Loss):
    """`functional.ctc_loss` as a module."""

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Any, input_lengths: Any, target_lengths: Any) -> Tensor:
        """The loss of log-probabilities (T, N, C) for targets (N, S) or (sum of lengths,)."""
        return functional.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class HingeEmbeddingLoss(Loss):
    """`functional.hinge_embedding_loss` as a module."""

    def __init__(self, margin: float = 1.0, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin

    def forward(self, x: Tensor, target: Any) -> Tensor:
        """The loss of distances for targets 1 and -1 of the same shape."""
        return functional.hinge_embedding_loss(x, target, self.margin, self.reduction)


class SoftMarginLoss(Loss):
    """`functional.soft_margin_loss` as a module."""

    def forward(self, x: Tensor, target: Any) -> Tensor:
        """The loss of scores for targets 1 and -1 of the same shape."""
        return functional.soft_margin_loss(x, target, self.reduction)


class MarginRankingLoss(Loss):
    """`functional.margin_ranking_loss` as a module."""

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin

    def forward(self, x1: Tensor, x2: Tensor, target: Any) -> Tensor:
        """The loss of two scores for targets 1 (the first is above) and -1, all of one shape."""
        return functional.margin_ranking_loss(x1, x2, target, self.margin, self.reduction)


class CosineEmbeddingLoss(Loss):
    """`functional.cosine_embedding_loss` as a module."""

    def __init__(self, margin: float = 0.0, *, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.margin = margin

    def forward(self, x1: Tensor, x2: Tensor, target: Any) -> Tensor:
        """The loss of vectors (N, d) for targets 1 (alike) and -1 (N,)."""
        return functional.cosine_embedding_loss(x1, x2, target, self.margin, self.reduction)


class TripletMarginLoss(Loss):
    """`functional.triplet_margin_loss` as a module."""

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, *, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss of vectors (N, d) that should be near positive ones and far from negative ones."""
        options = (self.margin, self.p, self.eps, self.swap, self.reduction)
        return functional.triplet_margin_loss(anchor, positive, negative, *options)


class TripletMarginWithDistanceLoss(Loss):
    """`functional.triplet_margin_with_distance_loss` as a module."""

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.distance_function = distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss of vectors (N, d) that should be near positive ones and far from negative ones."""
        return functional.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip


class MultiMarginLoss(Weighted):
    """`functional.multi_margin_loss` as a module."""

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Any = None, *, reduction: str = "mean") -> None:
        super().__init__(weight, reduction=reduction)
        self.p = p
        self.margin = margin

    def forward(self, x: Tensor, target: Any) -> Tensor:
        """The loss of scores (N, C) for class numbers (N,)."""
        return functional.multi_margin_loss(x, target, self.p, self.margin, self.weight, self.reduction)


class MultiLabelMarginLoss(Loss):
    """`functional.multilabel_margin_loss` as a module."""

    def forward(self, x: Tensor, target: Any) -> Tensor:
        """The loss of scores (N, C) for lists of classes (N, C) that end with -1."""
        return functional.multilabel_margin_loss(x, target, self.reduction)


class MultiLabelSoftMarginLoss(Weighted):
    """`functional.multilabel_soft_margin_loss` as a module."""

    def forward(self, x: Tensor, target: Any) -> Tensor:
        """The loss of scores (N, C) for targets 0 and 1 (N, C)."""
        return functional.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)
