"""Muon: momentum made orthogonal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from adjoint.tensors import Tensor
from adjoint.tensors.elementwise import maximum
from adjoint.tensors.functions import norm, zeros_like

from .optimizer import Group, Optimizer, State, keep

__all__ = ["Muon"]


class Muon(Optimizer):
    """Muon (K. Jordan et al., 2024) for the matrices of a network, as PyTorch has it.

        momentum' = momentum * average + (1 - momentum) * gradient
        direction = (1 - momentum) * gradient + momentum * average (nesterov), else the average, made nearly orthogonal
        parameter = parameter * (1 - lr * weight_decay) - lr * √max(1, rows / columns) * direction

    Orthogonal by `ns_steps` steps of Newton and Schulz, x → a x + (b x xᵀ + c (x xᵀ)²) x with `ns_coefficients` (a, b, c), which
    bring all singular values near 1; here in the parameters' precision, where PyTorch takes bfloat16. `adjust_lr_fn`
    `"match_rms_adamw"` multiplies the rate by 0.2 √max(rows, columns) instead. Raises ValueError for what is no matrix and for
    negative hyperparameters.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        super().__init__(
            parameters, lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
            ns_coefficients=ns_coefficients, eps=eps, ns_steps=ns_steps, adjust_lr_fn=adjust_lr_fn,
        )  # fmt: skip

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        if group["momentum"] < 0:
            raise ValueError(f"Muon: momentum must not be negative; it is {group['momentum']}")
        if group["adjust_lr_fn"] not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Muon: adjust_lr_fn is 'original' or 'match_rms_adamw', not {group['adjust_lr_fn']!r}")
        for parameter in group["params"]:
            if parameter.ndim != 2:
                raise ValueError(
                    f"Muon trains matrices; a parameter has shape {parameter.shape}. Give the others to AdamW"
                )

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The average at 0, before the first step."""
        return {"momentum_buffer": zeros_like(parameter)}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        momentum, average = group["momentum"], state["momentum_buffer"]
        average = keep(state, "momentum_buffer", average + (1 - momentum) * (gradient - average))
        direction = gradient + momentum * (average - gradient) if group["nesterov"] else average
        rows, columns = parameter.shape
        factor = math.sqrt(max(1.0, rows / columns))
        if group["adjust_lr_fn"] == "match_rms_adamw":
            factor = 0.2 * math.sqrt(max(rows, columns))
        updated: Tensor = parameter * (1 - group["lr"] * group["weight_decay"]) - group["lr"] * factor * _orthogonal(
            direction, group["ns_coefficients"], group["ns_steps"], group["eps"]
        )
        return updated


def _orthogonal(x: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> Tensor:
    """A matrix with the singular vectors of x and singular values near 1."""
    a, b, c = coefficients
    tall = x.shape[0] > x.shape[1]
    y = x.mT if tall else x
    y = y / maximum(norm(y), eps)
    for _ in range(steps):
        gram = y @ y.mT
        y = a * y + (b * gram + c * (gram @ gram)) @ y
    found: Tensor = y.mT if tall else y
    return found
