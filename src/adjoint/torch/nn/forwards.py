"""Layers that compute by the functions of `nn.functional`, where those differ from the core's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import functional

__all__ = ["FORWARDS"]


def _softmax(name: str) -> Callable[..., Any]:
    f = getattr(functional, name)
    return lambda self, input: f(input, self.dim)  # without dim, the axis that PyTorch guesses, with a warning


def _padded(self: Any, input: Any) -> Any:
    return functional.pad(input, self.padding, self.mode)


FORWARDS: dict[str, Callable[..., Any]] = {
    "Softmax": _softmax("softmax"), "LogSoftmax": _softmax("log_softmax"), "Softmin": _softmax("softmin"),
    **{f"{kind}Pad{n}d": _padded for kind in ("Reflection", "Replication", "Circular") for n in (1, 2, 3)},
    "RMSNorm": lambda self, input: functional.rms_norm(input, self.normalized_shape, self.weight, self.eps),
    "Flatten": lambda self, input: input.flatten(self.start_dim, self.end_dim),  # a view
    "Unflatten": lambda self, input: input.unflatten(self.dim, self.unflattened_size),
    "BCELoss": lambda self, input, target: functional.binary_cross_entropy(
        input, target, self.weight, reduction=self.reduction
    ),
    "BCEWithLogitsLoss": lambda self, input, target: functional.binary_cross_entropy_with_logits(
        input, target, self.weight, reduction=self.reduction, pos_weight=self.pos_weight
    ),
    "KLDivLoss": lambda self, input, target: functional.kl_div(
        input, target, reduction=self.reduction, log_target=self.log_target
    ),
    "PoissonNLLLoss": lambda self, log_input, target: functional.poisson_nll_loss(
        log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
    ),
    "GaussianNLLLoss": lambda self, input, target, var: functional.gaussian_nll_loss(
        input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
    ),
    "NLLLoss": lambda self, input, target: functional.nll_loss(
        input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
    ),
    "CrossEntropyLoss": lambda self, input, target: functional.cross_entropy(
        input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
        label_smoothing=self.label_smoothing,
    ),
}  # fmt: skip
