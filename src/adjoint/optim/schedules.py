"""Learning rate schedules under PyTorch's names, each a formula for the rate at a given step.

PyTorch multiplies the rate on from step to step where it can; here every rate is computed from the first one, so that a
loaded schedule goes on with the same bits. The two agree but for rounding. Where the rate isn't what a schedule left, because
another schedule of the same optimizer or the program has set it, the schedule goes on from there as PyTorch's does.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from adjoint import tracing
from adjoint.tensors.located import at_user

from .optimizer import Optimizer
from .rates import give_rate, has_rate, rate_of

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "StepLR",
]


class LRScheduler:
    """Base of the schedules: `step()` sets the learning rate of every group of the optimizer.

    A subclass defines `rate(step, base)`, the rate at a step counted from 0 of a group that started with the rate `base`.
    Making one sets the rates of step 0. Call `step()` after `optimizer.step()`, for each batch or for each epoch: a
    schedule counts its own calls. `last_epoch` is that count, as PyTorch calls it.
    """

    unsaved: tuple[str, ...] = ("optimizer",)  # attributes that state_dict leaves out
    # whether `rate` is affine in the base and goes on from a rate that somebody else has set, a group's that was added later too,
    # as PyTorch's of that name does
    chains: ClassVar[bool] = False
    _first: int = 0  # the step that it begins with
    _untouched: Sequence[float] = ()  # the rates that it had set before another state was loaded

    def __init__(self, optimizer: Optimizer) -> None:
        found: Any = optimizer  # or one of one's own, with groups as ours
        if not isinstance(found, Optimizer) and not isinstance(getattr(found, "param_groups", None), list):
            raise TypeError(f"{type(self).__name__} schedules an optimizer, not {type(optimizer).__name__}{at_user()}")
        self.optimizer = optimizer
        if self._first and any("initial_lr" not in group for group in optimizer.param_groups):
            raise KeyError(
                f"{type(self).__name__}: to go on from an epoch, groups need their 'initial_lr'; load the optimizer's state "
                f"before{at_user()}"
            )
        for group in optimizer.param_groups:
            # Of several schedules in a SequentialLR, each starts from the rate that was there before the first.
            group.setdefault("initial_lr", rate_of(group))
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = self._first
        self._set()

    def begin(self) -> None:
        """Set the rates of the step where it stands, whatever they are."""
        self._give(self.rates(self.last_epoch))

    def rate(self, step: int, base: float) -> float:
        """The learning rate at this step, of a group whose first rate is `base`."""
        raise NotImplementedError

    def rates(self, step: int) -> list[float]:
        """The learning rate of every group at this step."""
        return [self.rate(step, base) for base in self.base_lrs]

    def step(self) -> None:
        """Go one step on. Raises RuntimeError inside a function that `ad.jit` compiles: call it after that function."""
        tracing.refuse(self, f"the count of steps of {type(self).__name__}")
        self.last_epoch += 1
        self._set()

    def _set(self) -> None:
        step = self.last_epoch
        self._welcome(step)
        found = self.rates(step)
        if self.chains:
            left = self.rates(step - 1) if step else self.base_lrs
            for i, group in enumerate(self.optimizer.param_groups):
                if not has_rate(group, left[i]) and (not self._untouched or not has_rate(group, self._untouched[i])):
                    found[i] = self.follow(rate_of(group), step, found[i] - left[i])
        self._give(found)

    def _welcome(self, step: int) -> None:
        """Find the first rates of groups that have been added to the optimizer: those that lead to what they have."""
        for group in self.optimizer.param_groups[len(self.base_lrs) :]:
            if not self.chains:
                raise ValueError(
                    f"{type(self).__name__}: the optimizer has {len(self.optimizer.param_groups)} groups of parameters now, "
                    f"{len(self.base_lrs)} when the schedule was made; make it anew after add_param_group(){at_user()}"
                )
            offset = self.rate(step - 1, 0.0)
            slope = self.rate(step - 1, 1.0) - offset
            self.base_lrs.append((rate_of(group) - offset) / slope if slope else rate_of(group))

    def _give(self, rates: Sequence[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            give_rate(group, rate)
        self._last_lr = list(rates)
        self._untouched = ()

    def follow(self, lr: float, step: int, change: float) -> float:
        """The rate at a step after `lr`, which this schedule didn't leave: as if it had started with the base that leads to `lr`.

        Where all bases lead to one rate, `lr` and the change that there would have been.
        """
        if not step:
            return self.rate(0, lr)
        offset = self.rate(step - 1, 0.0)
        slope = self.rate(step - 1, 1.0) - offset
        return self.rate(step, (lr - offset) / slope) if slope else lr + change

    def get_last_lr(self) -> list[float]:
        """The learning rate of every group, as the last step left it."""
        return list(self._last_lr)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and functions: numbers, and lists of numbers."""
        return {n: value for n, value in vars(self).items() if n not in self.unsaved and n != "_untouched"}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict()`; the optimizer's rates come with the optimizer's own state, or with the next step.

        Raises ValueError for the state of another kind of schedule, or of another number of groups; nothing is changed
        then. Entries that this schedule doesn't know, such as those that only PyTorch has, are passed over.
        """
        own = self.state_dict()
        missing = sorted(set(own) - set(state) - {"_last_lr"})
        if missing:
            raise ValueError(f"{type(self).__name__}: the state lacks {', '.join(missing)}; is it of another schedule?")
        if len(state["base_lrs"]) != len(self.base_lrs):
            raise ValueError(
                f"{type(self).__name__}: the state has {len(state['base_lrs'])} groups, the optimizer {len(self.base_lrs)}"
            )
        self._untouched = self._last_lr
        vars(self).update({name: state[name] for name in own if name in state})


class StepLR(LRScheduler):
    """The rate times `gamma` after every `step_size` steps."""

    chains = True

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1) -> None:
        self.step_size = at_least_one("StepLR", "step_size", step_size)
        self.gamma = gamma
        super().__init__(optimizer)

    def rate(self, step: int, base: float) -> float:
        """`base * gamma ** (step // step_size)`."""
        return base * self.gamma ** (step // self.step_size)


class MultiStepLR(LRScheduler):
    """The rate times `gamma` at each of the `milestones`, numbers of steps."""

    chains = True

    def __init__(self, optimizer: Optimizer, milestones: Sequence[int], gamma: float = 0.1) -> None:
        self.milestones = sorted(milestones)
        self.gamma = gamma
        super().__init__(optimizer)

    def rate(self, step: int, base: float) -> float:
        """`base * gamma ** (how many milestones have been reached)`."""
        return base * self.gamma ** bisect_right(self.milestones, step)


class ConstantLR(LRScheduler):
    """The rate times `factor` for the first `total_iters` steps, then the rate itself."""

    chains = True

    def __init__(self, optimizer: Optimizer, factor: float = 1 / 3, total_iters: int = 5) -> None:
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer)

    def rate(self, step: int, base: float) -> float:
        """`base * factor` before `total_iters`, then `base`."""
        return base * self.factor if step < self.total_iters else base


class LinearLR(LRScheduler):
    """From the rate times `start_factor` to the rate times `end_factor` in `total_iters` equal steps: a warm-up."""

    chains = True

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1 / 3, end_factor: float = 1.0, total_iters: int = 5
    ) -> None:
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise ValueError(
                "LinearLR: start_factor must be above 0 and at most 1, end_factor from 0 to 1; "
                f"they are {start_factor} and {end_factor}"
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = at_least_one("LinearLR", "total_iters", total_iters)
        super().__init__(optimizer)

    def rate(self, step: int, base: float) -> float:
        """`base * (start_factor + (end_factor - start_factor) * step / total_iters)`, constant from `total_iters` on."""
        done = min(step, self.total_iters) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * done)


class ExponentialLR(LRScheduler):
    """The rate times `gamma` after every step."""

    chains = True

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        self.gamma = gamma
        super().__init__(optimizer)

    def rate(self, step: int, base: float) -> float:
        """`base * gamma ** step`."""
        rate: float = base * self.gamma**step
        return rate


class PolynomialLR(LRScheduler):
    """From the rate to zero in `total_iters` steps, as a power of the part that is left."""

    chains = True

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0) -> None:
        self.total_iters = at_least_one("PolynomialLR", "total_iters", total_iters)
        self.power = power
        super().__init__(optimizer)

    def rate(self, step: int, base: float) -> float:
        """`base * (1 - step / total_iters) ** power`, zero from `total_iters` on."""
        rate: float = base * (1 - min(step, self.total_iters) / self.total_iters) ** self.power
        return rate


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the rate to `eta_min` in `T_max` steps (I. Loshchilov and F. Hutter, 2017, without restarts,
    https://arxiv.org/abs/1608.03983); further steps follow the cosine up again.
    """

    chains = True

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0) -> None:
        self.T_max = at_least_one("CosineAnnealingLR", "T_max", T_max)
        self.eta_min = eta_min
        super().__init__(optimizer)

    def rate(self, step: int, base: float) -> float:
        """`eta_min + (base - eta_min) * (1 + cos(π * step / T_max)) / 2`."""
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * step / self.T_max)) / 2


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the rate down to `eta_min` along half a cosine in `T_0` steps, then anew, each time `T_mult` times as long.

    (I. Loshchilov and F. Hutter, 2017, https://arxiv.org/abs/1608.03983.)
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0) -> None:
        self.T_0 = at_least_one("CosineAnnealingWarmRestarts", "T_0", T_0)
        self.T_mult = at_least_one("CosineAnnealingWarmRestarts", "T_mult", T_mult)
        self.eta_min = eta_min
        super().__init__(optimizer)

    def rate(self, step: int, base: float) -> float:
        """`eta_min + (base - eta_min) * (1 + cos(π * s / T)) / 2`, s steps into a stretch of T."""
        length = self.T_0
        if self.T_mult == 1:
            step %= length
        while step >= length:
            step -= length
            length *= self.T_mult
        return self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * step / length)) / 2


class LambdaLR(LRScheduler):
    """The rate times `lr_lambda(step)`; a list gives a function for each group. Functions aren't part of the state."""

    unsaved = ("optimizer", "lr_lambdas")

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]
    ) -> None:
        self.lr_lambdas = functions_of_groups("LambdaLR", optimizer, lr_lambda)
        super().__init__(optimizer)

    def rates(self, step: int) -> list[float]:
        """`base * lr_lambda(step)` for every group."""
        return [base * factor(step) for base, factor in zip(self.base_lrs, self.lr_lambdas, strict=True)]


class MultiplicativeLR(LRScheduler):
    """The rate times `lr_lambda(step)` at every step from 1 on; a list gives a function for each group. Functions aren't part of
    the state.

    >>> import adjoint as ad
    >>> optimizer = ad.optim.SGD([ad.variable(1.0)], lr=1.0)
    >>> schedule = ad.optim.MultiplicativeLR(optimizer, lambda step: 0.5)
    >>> schedule.step(), schedule.step(), optimizer.lr
    (None, None, 0.25)
    """

    unsaved = ("optimizer", "lr_lambdas")

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]]
    ) -> None:
        self.lr_lambdas = functions_of_groups("MultiplicativeLR", optimizer, lr_lambda)
        super().__init__(optimizer)

    def rates(self, step: int) -> list[float]:
        """The rates that there are, times `lr_lambda(step)`."""
        return self._multiplied(step) if step else [rate_of(group) for group in self.optimizer.param_groups]

    def begin(self) -> None:
        """Take over from another schedule: the rates that there are, times `lr_lambda(0)`."""
        self._give(self._multiplied(self.last_epoch))

    def _multiplied(self, step: int) -> list[float]:
        groups = self.optimizer.param_groups
        return [rate_of(group) * factor(step) for group, factor in zip(groups, self.lr_lambdas, strict=True)]


def functions_of_groups(
    schedule: str, optimizer: Optimizer, given: Callable[[int], float] | Sequence[Callable[[int], float]]
) -> list[Callable[[int], float]]:
    """A function for each group. Raises ValueError for a list of another length."""
    groups = len(optimizer.param_groups)
    found = list(given) if isinstance(given, Sequence) else [given] * groups
    if len(found) != groups:
        raise ValueError(f"{schedule}: {len(found)} functions for {groups} groups of parameters")
    return found


def at_least_one(schedule: str, name: str, value: int) -> int:
    """The value. Raises ValueError for a number of steps below 1."""
    if value < 1:
        raise ValueError(f"{schedule}: {name} must be at least 1, not {value}")
    return value
