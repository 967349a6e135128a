"""RMSprop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from adjoint.tensors import Tensor
from adjoint.tensors.functions import sqrt, square, zeros_like

from .optimizer import Group, Optimizer, Options, State, keep

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """RMSprop (T. Tieleman and G. Hinton, 2012, lecture 6e of Neural Networks for Machine Learning), as PyTorch has it.

        gradient  = gradient + weight_decay * parameter
        square    = alpha * square + (1 - alpha) * gradient²
        average   = average + (1 - alpha) * (gradient - average)            (centered only)
        direction = gradient / (√square + eps), or gradient / (√(square - average²) + eps) if centered
        velocity  = momentum * velocity + direction                         (with momentum: it is the direction then)
        parameter = parameter - lr * direction

    Centered (A. Graves, 2013, https://arxiv.org/abs/1308.0850), the gradient is divided by an estimate of its deviation.
    Raises ValueError for negative hyperparameters.
    """

    options = ("maximize", "foreach", "capturable", "differentiable")

    def __init__(
        self,
        parameters: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            parameters,
            options,
            lr=lr,
            alpha=alpha,
            eps=eps,
            weight_decay=weight_decay,
            momentum=momentum,
            centered=centered,
        )

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        for name in ("alpha", "momentum"):
            if group[name] < 0:
                raise ValueError(f"RMSprop: {name} must not be negative; it is {group[name]}")

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The averages at 0, before the first step."""
        wanted = {"square_avg": True, "grad_avg": group["centered"], "momentum_buffer": group["momentum"]}
        return {"step": 0, **{name: zeros_like(parameter) for name, needed in wanted.items() if needed}}

    def is_elementwise(self, group: Group) -> bool:
        """See `Optimizer`."""
        return True

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        alpha = group["alpha"]
        if "step" in state:
            state["step"] += 1  # no formula reads it, but PyTorch, who keeps one, asks for it
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * parameter
        squares = keep(state, "square_avg", alpha * state["square_avg"] + (1 - alpha) * square(gradient))
        if group["centered"]:
            average = state["grad_avg"] if "grad_avg" in state else zeros_like(gradient)
            average = keep(state, "grad_avg", average + (1 - alpha) * (gradient - average))
            squares = squares - square(average)
        direction = gradient / (sqrt(squares) + group["eps"])
        if group["momentum"]:
            velocity = state["momentum_buffer"] if "momentum_buffer" in state else zeros_like(gradient)
            direction = keep(state, "momentum_buffer", group["momentum"] * velocity + direction)
        updated: Tensor = parameter - group["lr"] * direction
        return updated
