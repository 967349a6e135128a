"""Two optimizers from before deep networks: averaged gradient descent, and steps by the sign of the gradient."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack

from adjoint.tensors import Tensor
from adjoint.tensors.functions import clip, full_like, sign, where, zeros_like

from .optimizer import Group, Optimizer, Options, State, keep
from .rates import rate_of

__all__ = ["ASGD", "Rprop"]

Parameters = Iterable[Tensor] | Iterable[dict[str, Any]]


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (B. Polyak and A. Juditsky, 1992), as PyTorch has it.

        gradient  = gradient + weight_decay * parameter
        parameter = parameter * (1 - lambd * eta) - eta * gradient
        average   = average + mu * (parameter - average)          (the state's `ax`)
        eta, mu   = lr / (1 + lambd * lr * t)^alpha, 1 / max(1, t - t0)

    Raises ValueError for negative hyperparameters.

    >>> import adjoint as ad
    >>> w = ad.variable(1.0)
    >>> optimizer = ad.optim.ASGD([w], lr=0.25)
    >>> (w * w).backward()
    >>> optimizer.step()
    >>> w
    Tensor(0.5, requires_grad=True)
    """

    numbers = frozenset({"eta", "mu"})
    options = ("maximize", "foreach", "capturable", "differentiable")

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(parameters, options, lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay)

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The first rate, and no average yet."""
        return {"step": 0, "eta": rate_of(group), "mu": 1.0, "ax": zeros_like(parameter)}

    def is_elementwise(self, group: Group) -> bool:
        """See `Optimizer`."""
        return True

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        state["step"] += 1
        step, eta, mu, lr = state["step"], state["eta"], state["mu"], rate_of(group)
        if group["weight_decay"]:
            gradient = gradient + group["weight_decay"] * parameter
        updated: Tensor = parameter * (1 - group["lambd"] * eta) - eta * gradient
        keep(state, "ax", state["ax"] + mu * (updated - state["ax"]))
        state["eta"] = lr / (1 + group["lambd"] * lr * step) ** group["alpha"]
        state["mu"] = 1 / max(1, step - group["t0"])
        return updated


class Rprop(Optimizer):
    """Resilient backpropagation (M. Riedmiller and H. Braun, 1993), as PyTorch has it: for gradients of all the data.

    Each element has a step of its own, `lr` at first. It grows by the second of `etas` where the gradient keeps its sign, up to
    the second of `step_sizes`; where the sign changes it shrinks by the first, down to the first, and the element rests.
    Raises ValueError unless 0 < etas[0] < 1 < etas[1].

    >>> import adjoint as ad
    >>> w = ad.variable([1.0, -3.0])
    >>> optimizer = ad.optim.Rprop([w], lr=0.25)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    Tensor([ 0.75, -2.75], requires_grad=True)
    """

    options = ("maximize", "foreach", "capturable", "differentiable")

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        **options: Unpack[Options],
    ) -> None:
        super().__init__(parameters, options, lr=lr, etas=etas, step_sizes=step_sizes)

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        shrinking, growing = group["etas"]
        if not 0 < shrinking < 1 < growing:
            raise ValueError(f"Rprop: etas are a factor below 1 and one above; they are {group['etas']}")

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """No gradient before, and steps of `lr`."""
        return {"step": 0, "prev": zeros_like(parameter), "step_size": full_like(parameter, rate_of(group))}

    def is_elementwise(self, group: Group) -> bool:
        """See `Optimizer`."""
        return True

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        state["step"] += 1
        (shrinking, growing), (least, most) = group["etas"], group["step_sizes"]
        agrees, size = gradient * state["prev"], state["step_size"]
        size = where(agrees > 0, growing * size, where(agrees < 0, shrinking * size, size))
        size = keep(state, "step_size", clip(size, least, most))
        moving = where(agrees < 0, 0.0, gradient)
        keep(state, "prev", moving)
        updated: Tensor = parameter - sign(moving) * size
        return updated
