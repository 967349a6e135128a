"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from adjoint.tensors import Tensor
from adjoint.tensors.functions import zeros_like

from .optimizer import Group, Optimizer, Options, State, keep

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent, with momentum, Nesterov's momentum and weight decay as PyTorch's SGD computes them.

        direction = gradient + weight_decay * parameter
        velocity  = momentum * velocity + (1 - dampening) * direction      (the first step: velocity = direction)
        direction = direction + momentum * velocity if nesterov else velocity
        parameter = parameter - lr * direction

    Raises ValueError for negative hyperparameters, and for `nesterov` without momentum or with dampening.
    """

    options = ("maximize", "foreach", "differentiable", "fused")

    def __init__(
        self,
        parameters: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            parameters,
            options,
            lr=lr,
            momentum=momentum,
            dampening=dampening,
            weight_decay=weight_decay,
            nesterov=nesterov,
        )

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        if group["momentum"] < 0:
            raise ValueError(f"SGD: momentum must not be negative; it is {group['momentum']}")
        if group["nesterov"] and (group["momentum"] == 0 or group["dampening"] != 0):
            raise ValueError("SGD: nesterov needs a momentum and no dampening")

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """A velocity of 0, if there is momentum. With dampening, which spares the first step, whether that is over."""
        if not group["momentum"]:
            return {}
        velocity = {"momentum_buffer": zeros_like(parameter)}
        return {**velocity, "started": 0} if group["dampening"] else velocity

    def is_rowwise(self, group: Group) -> bool:
        """See `Optimizer`. Momentum and weight decay move every row."""
        return not group["momentum"] and not group["weight_decay"]

    def is_elementwise(self, group: Group) -> bool:
        """See `Optimizer`."""
        return True

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        direction = gradient
        if group["weight_decay"]:
            direction = direction + group["weight_decay"] * parameter
        momentum = group["momentum"]
        if momentum:
            fresh = direction
            if "started" not in state or state["started"]:
                dampening = group["dampening"]
                fresh = (1 - dampening) * direction if dampening else direction
            else:
                state["started"] = 1
            velocity = keep(state, "momentum_buffer", momentum * state["momentum_buffer"] + fresh)
            direction = direction + momentum * velocity if group["nesterov"] else velocity
        updated: Tensor = parameter - direction * group["lr"]
        return updated
