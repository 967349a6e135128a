"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adjoint.tensors import Tensor

from .optimizer import Group, Optimizer, keep

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent, with momentum, Nesterov's momentum and weight decay as PyTorch's SGD computes them.

        direction = gradient + weight_decay * parameter
        velocity  = momentum * velocity + (1 - dampening) * direction      (the first step: velocity = direction)
        direction = direction + momentum * velocity if nesterov else velocity
        parameter = parameter - lr * direction

    Raises ValueError for negative hyperparameters, and for `nesterov` without momentum or with dampening.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(
            parameters, lr=lr, momentum=momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov
        )

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        if group["momentum"] < 0:
            raise ValueError(f"SGD: momentum must not be negative; it is {group['momentum']}")
        if group["nesterov"] and (group["momentum"] == 0 or group["dampening"] != 0):
            raise ValueError("SGD: nesterov needs a momentum and no dampening")

    def update(self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: Group) -> Tensor:
        """The new value of a parameter."""
        direction = gradient
        if group["weight_decay"]:
            direction = direction + group["weight_decay"] * parameter
        momentum = group["momentum"]
        if momentum:
            velocity = direction
            if "momentum_buffer" in state:
                dampening = group["dampening"]
                fresh = (1 - dampening) * direction if dampening else direction
                velocity = momentum * state["momentum_buffer"] + fresh
            keep(state, "momentum_buffer", velocity)
            direction = direction + momentum * velocity if group["nesterov"] else velocity
        updated: Tensor = parameter - group["lr"] * direction
        return updated
