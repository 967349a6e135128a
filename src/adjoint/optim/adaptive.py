"""Optimizers that give each parameter a step of its own: Adagrad, Adadelta, Adafactor, and Adam's relatives."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Unpack

from adjoint.arrays.standard import finfo
from adjoint.tensors import Tensor
from adjoint.tensors.elementwise import maximum
from adjoint.tensors.functions import (
    abs,
    any,
    full_like,
    mean,
    minimum,
    norm,
    sign,
    sqrt,
    square,
    where,
    zeros,
    zeros_like,
)

from .optimizer import Group, Optimizer, Options, State, betas_in_range, keep

__all__ = ["Adadelta", "Adafactor", "Adagrad", "Adamax", "Lion", "NAdam", "RAdam", "SparseAdam"]

Parameters = Iterable[Tensor] | Iterable[dict[str, Any]]


def _decayed(parameter: Tensor, gradient: Tensor, group: Group) -> Tensor:
    """The gradient with that of the weight decay."""
    if group["weight_decay"]:
        gradient = gradient + group["weight_decay"] * parameter
    return gradient


class Adagrad(Optimizer):
    """Adagrad (J. Duchi, E. Hazan and Y. Singer, 2011), as PyTorch has it.

        gradient  = gradient + weight_decay * parameter
        sum       = sum + gradient²
        parameter = parameter - lr / (1 + (t - 1) * lr_decay) * gradient / (√sum + eps)

    The sum starts as `initial_accumulator_value`. Raises ValueError for negative hyperparameters.
    """

    options = ("maximize", "foreach", "differentiable", "fused")

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            parameters, options, lr=lr, lr_decay=lr_decay, weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value, eps=eps,
        )  # fmt: skip

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        for name in ("lr_decay", "initial_accumulator_value"):
            if group[name] < 0:
                raise ValueError(f"Adagrad: {name} must not be negative; it is {group[name]}")

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The sum at its first value."""
        return {"step": 0, "sum": full_like(parameter, group["initial_accumulator_value"])}

    def is_rowwise(self, group: Group) -> bool:
        """See `Optimizer`. Weight decay moves every row."""
        return not group["weight_decay"]

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        state["step"] += 1
        gradient = _decayed(parameter, gradient, group)
        total = keep(state, "sum", state["sum"] + square(gradient))
        rate = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        updated: Tensor = parameter - rate * (gradient / (sqrt(total) + group["eps"]))
        return updated


class Adadelta(Optimizer):
    """Adadelta (M. Zeiler, 2012), as PyTorch has it.

        gradient  = gradient + weight_decay * parameter
        square    = rho * square + (1 - rho) * gradient²
        change    = √(changes + eps) / √(square + eps) * gradient
        changes   = rho * changes + (1 - rho) * change²
        parameter = parameter - lr * change

    Raises ValueError for negative hyperparameters and for rho outside of [0, 1].
    """

    options = ("maximize", "foreach", "capturable", "differentiable")

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(parameters, options, lr=lr, rho=rho, eps=eps, weight_decay=weight_decay)

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        if not 0 <= group["rho"] <= 1:
            raise ValueError(f"Adadelta: rho must be from 0 to 1; it is {group['rho']}")

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The averages at 0, before the first step."""
        return {"step": 0, "square_avg": zeros_like(parameter), "acc_delta": zeros_like(parameter)}

    def is_elementwise(self, group: Group) -> bool:
        """See `Optimizer`."""
        return True

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        rho, eps = group["rho"], group["eps"]
        state["step"] += 1
        gradient = _decayed(parameter, gradient, group)
        squares = keep(state, "square_avg", rho * state["square_avg"] + (1 - rho) * square(gradient))
        change = sqrt(state["acc_delta"] + eps) / sqrt(squares + eps) * gradient
        keep(state, "acc_delta", rho * state["acc_delta"] + (1 - rho) * square(change))
        updated: Tensor = parameter - group["lr"] * change
        return updated


class Adamax(Optimizer):
    """Adamax (D. Kingma and J. Ba, 2015): Adam with the largest gradient, decaying, in place of the mean square.

        gradient  = gradient + weight_decay * parameter
        average   = average + (1 - beta1) * (gradient - average)
        largest   = max(beta2 * largest, |gradient| + eps)
        parameter = parameter - lr / (1 - beta1^t) * average / largest

    Raises ValueError for negative hyperparameters and for betas outside of [0, 1).
    """

    options = ("maximize", "foreach", "capturable", "differentiable")

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(parameters, options, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        betas_in_range("Adamax", group["betas"])

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The averages at 0, before the first step."""
        return {"step": 0, "exp_avg": zeros_like(parameter), "exp_inf": zeros_like(parameter)}

    def is_elementwise(self, group: Group) -> bool:
        """See `Optimizer`."""
        return True

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        beta1, beta2 = group["betas"]
        state["step"] += 1
        gradient = _decayed(parameter, gradient, group)
        average = keep(state, "exp_avg", state["exp_avg"] + (1 - beta1) * (gradient - state["exp_avg"]))
        largest = keep(state, "exp_inf", maximum(beta2 * state["exp_inf"], abs(gradient) + group["eps"]))
        updated: Tensor = parameter - group["lr"] / (1 - beta1 ** state["step"]) * (average / largest)
        return updated


class _Averaged(Optimizer):
    """What NAdam and RAdam share: Adam's two averages, and weight decay of either kind."""

    options = ("maximize", "foreach", "capturable", "differentiable")

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        betas_in_range(type(self).__name__, group["betas"])

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The averages at 0, before the first step."""
        return {"step": 0, "exp_avg": zeros_like(parameter), "exp_avg_sq": zeros_like(parameter)}

    def is_elementwise(self, group: Group) -> bool:
        """See `Optimizer`."""
        return True

    def averages(
        self, parameter: Tensor, gradient: Tensor, state: State, group: Group
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The parameter and gradient after weight decay, and the new averages."""
        beta1, beta2 = group["betas"]
        state["step"] += 1
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                parameter = parameter * (1 - group["lr"] * group["weight_decay"])
            else:
                gradient = gradient + group["weight_decay"] * parameter
        average = keep(state, "exp_avg", state["exp_avg"] + (1 - beta1) * (gradient - state["exp_avg"]))
        squares = keep(state, "exp_avg_sq", beta2 * state["exp_avg_sq"] + (1 - beta2) * square(gradient))
        return parameter, gradient, average, squares


class NAdam(_Averaged):
    """Adam with Nesterov's momentum (T. Dozat, 2016), as PyTorch has it.

        average, square as in Adam
        mu_t      = beta1 * (1 - 0.96^(t * momentum_decay) / 2), and its product over all steps so far
        root      = √(square / (1 - beta2^t)) + eps
        parameter = parameter - lr * (1 - mu_t) / (1 - product) * gradient / root
                              - lr * mu_(t+1) / (1 - product * mu_(t+1)) * average / root

    Raises ValueError for negative hyperparameters and for betas outside of [0, 1).
    """

    numbers = frozenset({"mu_product"})

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            parameters, options, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay,
        )  # fmt: skip

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The averages at 0 and the product at 1, before the first step."""
        return {**super().prepare(parameter, group), "mu_product": 1.0}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        beta1, beta2 = group["betas"]
        parameter, gradient, average, squares = self.averages(parameter, gradient, state, group)
        now, then = [beta1 * (1 - 0.5 * 0.96 ** ((state["step"] + k) * group["momentum_decay"])) for k in (0, 1)]
        state["mu_product"] = product = state["mu_product"] * now
        root = sqrt(squares * (1 / (1 - beta2 ** state["step"]))) + group["eps"]
        first = group["lr"] * (1 - now) / (1 - product)
        second = group["lr"] * then / (1 - product * then)
        updated: Tensor = parameter - (first * gradient + second * average) / root
        return updated


class RAdam(_Averaged):
    """Adam whose step is rectified while its averages are young (L. Liu et al., 2020), as PyTorch has it.

        average, square as in Adam; rho = 2 / (1 - beta2) - 1, rho_t = rho - 2 t beta2^t / (1 - beta2^t)
        parameter = parameter - lr * average / (1 - beta1^t) * r * √(1 - beta2^t) / (√square + eps)
        with r    = √((rho_t - 4) (rho_t - 2) rho / ((rho - 4) (rho - 2) rho_t))

    While rho_t is at most 5 the step is `lr * average / (1 - beta1^t)`. Raises ValueError for negative hyperparameters and for
    betas outside of [0, 1).
    """

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled_weight_decay: bool = False,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(
            parameters, options, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay,
            decoupled_weight_decay=decoupled_weight_decay,
        )  # fmt: skip

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        beta1, beta2 = group["betas"]
        parameter, _, average, squares = self.averages(parameter, gradient, state, group)
        step = state["step"]
        unbiased = 1 - beta2**step
        rho = 2 / (1 - beta2) - 1
        now = rho - 2 * step * beta2**step / unbiased
        updated: Tensor
        if now > 5:
            rectified = ((now - 4) * (now - 2) * rho / ((rho - 4) * (rho - 2) * now)) ** 0.5
            size = group["lr"] / (1 - beta1**step) * rectified * unbiased**0.5
            updated = parameter - size * (average / (sqrt(squares) + group["eps"]))
        else:
            updated = parameter - group["lr"] / (1 - beta1**step) * average
        return updated


class Lion(Optimizer):
    """Lion (X. Chen et al., "Symbolic discovery of optimization algorithms", 2023): steps of one size by sign.

        direction = sign(beta1 * average + (1 - beta1) * gradient)
        parameter = parameter - lr * (direction + weight_decay * parameter)
        average   = beta2 * average + (1 - beta2) * gradient

    Raises ValueError for negative hyperparameters and for betas outside of [0, 1).
    """

    options = ("maximize",)

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0.0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(parameters, options, lr=lr, betas=betas, weight_decay=weight_decay)

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        betas_in_range("Lion", group["betas"])

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The average at 0, before the first step."""
        return {"exp_avg": zeros_like(parameter)}

    def is_elementwise(self, group: Group) -> bool:
        """See `Optimizer`."""
        return True

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        (beta1, beta2), average = group["betas"], state["exp_avg"]
        direction = sign(beta1 * average + (1 - beta1) * gradient)
        updated: Tensor = parameter * (1 - group["lr"] * group["weight_decay"]) - group["lr"] * direction
        keep(state, "exp_avg", beta2 * average + (1 - beta2) * gradient)
        return updated


class SparseAdam(Optimizer):
    """Adam for tables of which a step uses few rows: rows whose gradient is zero, and their averages, stay as they are.

    PyTorch's takes gradients that are sparse; here a row counts as used where its gradient isn't all zeros. Of a table whose
    gradient is known by its rows (`nn.Embedding(sparse=True)`) no others are looked at.
    Raises ValueError for negative hyperparameters and for betas outside of [0, 1).
    """

    options = ("maximize",)

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(parameters, options, lr=lr, betas=betas, eps=eps)

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        betas_in_range("SparseAdam", group["betas"])

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The averages at 0, before the first step."""
        return {"step": 0, "exp_avg": zeros_like(parameter), "exp_avg_sq": zeros_like(parameter)}

    def is_rowwise(self, group: Group) -> bool:
        """See `Optimizer`."""
        return True

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        beta1, beta2 = group["betas"]
        state["step"] += 1
        axes = tuple(range(1, gradient.ndim))
        used = any(gradient != 0, axis=axes, keepdims=True) if axes else gradient != 0
        average, squares = state["exp_avg"], state["exp_avg_sq"]
        average = keep(state, "exp_avg", where(used, average + (1 - beta1) * (gradient - average), average))
        squares = keep(state, "exp_avg_sq", where(used, squares + (1 - beta2) * (square(gradient) - squares), squares))
        size = group["lr"] * (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
        return where(used, parameter - size * (average / (sqrt(squares) + group["eps"])), parameter)


class Adafactor(Optimizer):
    """Adafactor (N. Shazeer and M. Stern, 2018), as PyTorch has it: of a matrix it keeps a mean square for rows and columns.

        share     = t^beta2_decay
        rows, columns = (1 - share) * themselves + share * mean of gradient² along columns and rows
        square    = rows * columns / mean(rows)          (a vector keeps its own mean square)
        update    = gradient / √max(square, eps[0]²)
        size      = max(eps[1], rms(parameter)) * min(lr, 1 / √t)
        parameter = parameter * (1 - lr * weight_decay) - size / max(1, rms(update) / d) * update

    rms is the root of the mean square, eps[0] the dtype's spacing at 1 unless given. Raises ValueError for negative
    hyperparameters.
    """

    options = ("maximize", "foreach")

    def __init__(
        self,
        parameters: Parameters,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(parameters, options, lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay)

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(Group({name: value for name, value in group.items() if name != "eps"}))
        if group["beta2_decay"] > 0 or group["d"] < 1:
            raise ValueError(
                f"Adafactor: beta2_decay must not be positive, nor d below 1; they are {group['beta2_decay']} and {group['d']}"
            )
        if min([value or 0.0 for value in group["eps"]]) < 0:
            raise ValueError(f"Adafactor: eps must not be negative; they are {group['eps']}")

    def prepare(self, parameter: Tensor, group: Group) -> dict[str, Any]:
        """The mean squares at 0, before the first step."""
        if parameter.ndim < 2:
            return {"step": 0, "variance": zeros_like(parameter)}
        *lead, rows, columns = parameter.shape
        return {
            "step": 0,
            "row_var": zeros((*lead, rows, 1), dtype=parameter.dtype),
            "col_var": zeros((*lead, 1, columns), dtype=parameter.dtype),
        }

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        """The new value of a parameter."""
        state["step"] += 1
        step, lr, (small, least) = state["step"], group["lr"], group["eps"]
        if small is None:
            small = finfo(parameter.dtype).eps
        share = step ** group["beta2_decay"]
        squares = maximum(self._squares(gradient, state, share, small), small * small)
        update = gradient / sqrt(squares)
        root = math.sqrt(max(parameter.size, 1))
        size = maximum(norm(parameter) / root, least) * (
            minimum(lr, 1 / step**0.5) if isinstance(lr, Tensor) else min(lr, 1 / step**0.5)
        )
        denominator = maximum(norm(update) / (root * group["d"]), 1.0)
        updated: Tensor = parameter * (1 - lr * group["weight_decay"]) - size / denominator * update
        return updated

    def shape_of(self, key: str, parameter: Tensor) -> tuple[int, ...]:
        """The shape of an entry of a parameter's state: a mean square for each row, or column."""
        *lead, rows, columns = parameter.shape if parameter.ndim > 1 else (0, 0)
        return {"row_var": (*lead, rows, 1), "col_var": (*lead, 1, columns)}.get(key, parameter.shape)

    def _squares(self, gradient: Tensor, state: State, share: Any, small: float) -> Tensor:
        """The estimate of the mean square of the gradient."""
        if gradient.ndim < 2:
            return keep(state, "variance", state["variance"] + share * (square(gradient) - state["variance"]))
        for name, axis in (("row_var", -1), ("col_var", -2)):
            along = mean(square(gradient), axis=axis, keepdims=True)
            keep(state, name, state[name] + share * (along - state[name]))
        rows = state["row_var"]
        estimate: Tensor = rows * state["col_var"] / maximum(mean(rows, axis=-2, keepdims=True), small)
        return estimate
