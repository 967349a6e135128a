"""Adam and AdamW."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adjoint.tensors import Tensor
from adjoint.tensors.elementwise import maximum
from adjoint.tensors.functions import sqrt, square, zeros_like

from .optimizer import Group, Optimizer, State, betas_in_range, keep

__all__ = ["Adam", "AdamW"]


class Adam(Optimizer):
    """Adam (Kingma and Ba, 2015, https://arxiv.org/abs/1412.6980), in the form in which PyTorch computes it.

        gradient  = gradient + weight_decay * parameter
        average   = average + (1 - beta1) * (gradient - average)
        square    = beta2 * square + (1 - beta2) * gradient²
        parameter = parameter - lr / (1 - beta1^t) * average / (√square / √(1 - beta2^t) + eps)

    With `amsgrad` the largest `square` so far takes its place in the last line (S. Reddi, S. Kale and S. Kumar, 2018,
    https://arxiv.org/abs/1904.09237).

    Raises ValueError for negative hyperparameters and for betas outside of [0, 1).
    """

    def __init__(
        self,
        parameters: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
    ) -> None:
        super().__init__(parameters, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, amsgrad=amsgrad)

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        betas_in_range(type(self).__name__, group["betas"])

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The averages at 0, before the first step."""
        names = ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])]
        return {"step": 0, **{name: zeros_like(parameter) for name in names}}

    def is_rowwise(self, group: Group) -> bool:
        """See `Optimizer`."""
        return True

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * parameter
        return self.descend(parameter, gradient, state, group)

    def descend(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter, weight decay apart."""
        beta1, beta2 = group["betas"]
        state["step"] += 1
        average = state["exp_avg"] + (1 - beta1) * (gradient - state["exp_avg"])
        squares = beta2 * state["exp_avg_sq"] + (1 - beta2) * square(gradient)
        keep(state, "exp_avg", average)
        keep(state, "exp_avg_sq", squares)
        size = group["lr"] / (1 - beta1 ** state["step"])
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"] if "max_exp_avg_sq" in state else zeros_like(gradient)
            squares = keep(state, "max_exp_avg_sq", maximum(largest, squares))
        # a division for each element would cost as much as a root
        root = sqrt(squares) * (1 / (1 - beta2 ** state["step"]) ** 0.5)
        updated: Tensor = parameter - size * (average / (root + group["eps"]))
        return updated


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019, https://arxiv.org/abs/1711.05101).

    The parameter shrinks by the factor `1 - lr * weight_decay` before Adam's step; the averages don't see the decay.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
    ) -> None:
        super().__init__(parameters, lr, betas, eps, weight_decay, amsgrad)

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        return self.descend(parameter * (1 - group["lr"] * group["weight_decay"]), gradient, state, group)
