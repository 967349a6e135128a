"""L-BFGS: steps of Newton's kind, from differences of gradients, with a line search."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray
from adjoint.transforms.modes import enable_grad, no_grad

from .optimizer import Group, Optimizer
from .rates import rate_of

__all__ = ["LBFGS"]

Vector = np.ndarray[Any, Any]
SUFFICIENT, CURVATURE = 1e-4, 0.9  # Wolfe's conditions


@dataclass
class Trial:
    """A point on a line: how far along it, and the loss, the gradient and the slope there."""

    step: float
    loss: float
    gradient: Vector
    slope: float


class LBFGS(Optimizer):
    """L-BFGS (D. Liu and J. Nocedal, 1989), as PyTorch has it; `step(closure)` needs a function that computes the loss anew.

    A step is up to `max_iter` iterations. In each the direction is the gradient times an approximation of the inverse Hessian,
    made of the last `history_size` changes of parameters and gradients; the step along it is `lr`, or what a line search for
    Wolfe's strong conditions finds (`line_search_fn="strong_wolfe"`; J. Nocedal and S. Wright, Numerical Optimization, 3.5).
    It ends after `max_eval` evaluations (1.25 `max_iter` unless given), when no gradient is above `tolerance_grad`, or when loss
    and parameters change by less than `tolerance_change`. There is one group of parameters. The computation between evaluations
    is NumPy's: a step can't be compiled, but the closure can.

    >>> import adjoint as ad
    >>> w = ad.variable([3.0, -2.0])
    >>> optimizer = ad.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - ad.tensor([1.0, 5.0])) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure).item(), w
    (53.0, Tensor([1., 5.], requires_grad=True))
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        super().__init__(
            parameters, lr=lr, max_iter=max_iter, max_eval=max_iter * 5 // 4 if max_eval is None else max_eval,
            tolerance_grad=tolerance_grad, tolerance_change=tolerance_change, history_size=history_size,
            line_search_fn=line_search_fn,
        )  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS has one group of parameters: its directions are of all of them together")

    def check(self, group: Group) -> None:
        """Raise ValueError for hyperparameters that can't be meant."""
        super().check(group)
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise ValueError(f"LBFGS: line_search_fn is None or 'strong_wolfe', not {group['line_search_fn']!r}")

    @no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Go on by up to `max_iter` iterations; gives the loss that the closure computed first."""
        if closure is None:
            raise TypeError(
                "LBFGS: step takes a function that clears gradients, computes the loss, calls backward, returns it"
            )
        group, state = self.param_groups[0], self._states[0]
        if not state:
            state.update({"func_evals": 0, "n_iter": 0})
        first = self._evaluated(closure)
        loss, gradient, evaluations = float(first), self._gradient(), 1
        iterations = 0
        while iterations < group["max_iter"] and np.abs(gradient).max(initial=0) > group["tolerance_grad"]:
            iterations += 1
            state["n_iter"] += 1
            direction = self._direction(gradient)
            slope = float(gradient @ direction)
            step = rate_of(group) * (min(1.0, 1 / float(np.abs(gradient).sum())) if state["n_iter"] == 1 else 1.0)
            state["d"], state["prev_flat_grad"], state["prev_loss"] = asarray(direction), asarray(gradient), loss
            state["t"] = step
            if slope > -group["tolerance_change"]:
                break
            before, here = loss, Trial(0.0, loss, gradient, slope)
            left = group["max_eval"] - evaluations if group["line_search_fn"] is not None else None
            found, tried = self._moved(closure, here, step, direction, iterations == group["max_iter"], left)
            loss, gradient, state["t"] = found.loss, found.gradient, found.step
            evaluations += tried
            if (
                evaluations >= group["max_eval"]
                or np.abs(direction * found.step).max() <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        state["func_evals"] += evaluations
        return first

    def _moved(
        self, closure: Callable[[], Any], here: Trial, step: float, direction: Vector, last: bool, most: int | None
    ) -> tuple[Trial, int]:
        """The point that the parameters are moved to along a direction, and how often the closure was called: about `most` times
        where the point is searched for."""
        start = self._values()

        def at(step: float) -> Trial:
            self._set(start + step * direction)
            loss = float(self._evaluated(closure))
            gradient = self._gradient()
            return Trial(step, loss, gradient, float(gradient @ direction))

        if most is not None:
            narrow = self.param_groups[0]["tolerance_change"] / float(np.abs(direction).max())
            found, tried = _searched(at, here, step, most, narrow)
            self._set(start + found.step * direction)
            return found, tried
        if not last:
            return at(step), 1
        self._set(start + step * direction)
        return Trial(step, here.loss, here.gradient, here.slope), 0

    def _direction(self, gradient: Vector) -> Vector:
        """Minus the approximate inverse Hessian times the gradient; the last change is taken into the history."""
        state = self._states[0]
        if state["n_iter"] == 1:
            state.update({"old_dirs": [], "old_stps": [], "ro": [], "H_diag": 1.0})
            return -gradient
        changes, moves = state["old_dirs"], state["old_stps"]
        change = gradient - state["prev_flat_grad"].numpy()
        move = state["d"].numpy() * state["t"]
        product = float(change @ move)
        if product > 1e-10:
            state["old_dirs"], state["old_stps"], state["ro"] = [
                [*kept, new][-self.param_groups[0]["history_size"] :]
                for kept, new in ((changes, asarray(change)), (moves, asarray(move)), (state["ro"], 1 / product))
            ]
            state["H_diag"] = product / float(change @ change)
        pairs = [
            (y.numpy(), s.numpy(), r) for y, s, r in zip(state["old_dirs"], state["old_stps"], state["ro"], strict=True)
        ]
        found, factors = -gradient, []
        for y, s, r in reversed(pairs):
            factors.append(r * float(s @ found))
            found = found - factors[-1] * y
        found = found * state["H_diag"]
        for (y, s, r), factor in zip(pairs, reversed(factors), strict=True):
            found = found + (factor - r * float(y @ found)) * s
        result: Vector = found.astype(gradient.dtype)
        return result

    # the parameters as one vector

    def _evaluated(self, closure: Callable[[], Any]) -> Any:
        with enable_grad():
            loss = closure()
        return loss.detach() if isinstance(loss, Tensor) else loss

    def _parameters(self) -> list[Tensor]:
        parameters: list[Tensor] = self.param_groups[0]["params"]
        return parameters

    def _values(self) -> Vector:
        return np.concatenate([p.detach().numpy().ravel() for p in self._parameters()])

    def _gradient(self) -> Vector:
        parts = [
            np.zeros(p.size, p.dtype.name) if p.grad is None else p.grad.numpy().ravel() for p in self._parameters()
        ]
        return np.concatenate(parts)

    def _set(self, values: Vector) -> None:
        start = 0
        for parameter in self._parameters():
            part = values[start : start + parameter.size]
            parameter.data = part.reshape(parameter.shape).astype(parameter.dtype.name)
            start += parameter.size

    def _restored(self, what: str, key: str, value: Any, parameter: Tensor) -> Any:
        """An entry of a loaded state: vectors of all parameters, lists of them, and numbers."""
        if isinstance(value, list | tuple):
            return [self._restored(what, key, item, parameter) for item in value if item is not None]
        if isinstance(value, bool | int | float | None):
            return value
        if key in ("ro", "H_diag", "t", "prev_loss") or getattr(value, "ndim", 1) == 0:
            return float(value)
        return asarray(value, dtype=parameter.dtype).detach()


def _searched(at: Callable[[float], Trial], here: Trial, step: float, most: int, narrow: float) -> tuple[Trial, int]:
    """A point that meets Wolfe's strong conditions, or the best one found, and how many were tried: one, and up to `most` more. A
    bracket that is `narrow` isn't looked into."""

    def rises(trial: Trial) -> bool:
        return trial.loss > here.loss + SUFFICIENT * trial.step * here.slope

    def is_flat(trial: Trial) -> bool:
        return abs(trial.slope) <= -CURVATURE * here.slope

    before, now, tried = here, at(step), 1
    while tried <= most:  # larger and larger steps, until there is a minimum between two of them
        if rises(now) or (tried > 2 and now.loss >= before.loss) or (now.slope >= 0 and not is_flat(now)):
            break
        if is_flat(now):
            return now, tried
        step = _lowest(before, now, now.step + 0.01 * (now.step - before.step), 10 * now.step)
        before, now = now, at(step)
        tried += 1
    else:
        before = here
    ends = [before, now]
    low = int(not before.loss <= now.loss)  # which of them is lower, the first of equal ones
    stalled = False
    while tried <= most:
        left, right = sorted([end.step for end in ends])
        if right - left < narrow:
            break
        step, margin = _lowest(ends[0], ends[1], left, right), 0.1 * (right - left)
        at_edge = min(right - step, step - left) < margin
        moved = at_edge and (stalled or step >= right or step <= left)  # away from the edge, the second time in a row
        if moved:
            step = right - margin if abs(step - right) < abs(step - left) else left + margin
        stalled = at_edge and not moved
        now = at(step)
        tried += 1
        if rises(now) or now.loss >= ends[low].loss:
            ends[1 - low] = now
            low = int(not ends[0].loss <= ends[1].loss)
            continue
        if is_flat(now):
            return now, tried
        if now.slope * (ends[1 - low].step - ends[low].step) >= 0:
            ends[1 - low] = ends[low]
        ends[low] = now
    return ends[low], tried


def _lowest(a: Trial, b: Trial, left: float, right: float) -> float:
    """The minimum within bounds of the cubic with these values and slopes (Nocedal and Wright, formula 3.59)."""
    if a.step > b.step:
        a, b = b, a
    distance = b.step - a.step
    mean = a.slope + b.slope - 3 * (b.loss - a.loss) / distance
    root = mean * mean - a.slope * b.slope
    if not root >= 0:
        return (left + right) / 2
    root = math.sqrt(root)
    above, below = b.slope + root - mean, b.slope - a.slope + 2 * root
    if not below:  # as of a linear loss, whose minimum is as far as the bounds allow
        return (left + right) / 2 if not above else left if above > 0 else right
    place = b.step - distance * above / below
    return min(max(place, left), right)
