"""Schedules that are more than a formula of the rate: one cycle, one schedule after the other, steps when progress stops."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adjoint import tracing

from .optimizer import Group, Optimizer
from .rates import give_rate, rate_of
from .schedules import LRScheduler

__all__ = ["ChainedScheduler", "CyclicLR", "OneCycleLR", "ReduceLROnPlateau", "SequentialLR"]


class OneCycleLR(LRScheduler):
    """Up to `max_lr` and down again to nearly nothing (L. Smith and N. Topin, 2017, https://arxiv.org/abs/1708.07120).

    The rate starts at `max_lr / div_factor`, is `max_lr` after the part `pct_start` of all steps, and ends at the first
    rate divided by `final_div_factor`; in three phases it comes down as it went up, and then goes to the end.
    `anneal_strategy` is `"cos"` or `"linear"`. With `cycle_momentum`, momentum (or the first of Adam's betas) goes
    the opposite way between `max_momentum` and `base_momentum`. `max_lr` is a number, or one for each group. The number
    of steps is `total_steps`, or `epochs * steps_per_epoch`.

    Raises ValueError for missing numbers of steps, factors that make no sense, an optimizer without momentum; and when
    it is stepped more than `total_steps` times.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float = 0.85,
        max_momentum: float = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
    ) -> None:
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("OneCycleLR: give total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        if total_steps < 1 or not 0 <= pct_start <= 1:
            raise ValueError(
                "OneCycleLR: total_steps must be at least 1, pct_start from 0 to 1; "
                f"they are {total_steps} and {pct_start}"
            )
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"OneCycleLR: anneal_strategy must be 'cos' or 'linear', not {anneal_strategy!r}")
        if cycle_momentum and not {"momentum", "betas"} & set(optimizer.defaults):
            raise ValueError(f"OneCycleLR: {type(optimizer).__name__} has no momentum; pass cycle_momentum=False")
        peaks = of_groups("max_lr", optimizer, max_lr)
        self.total_steps = total_steps
        self.anneal_strategy = anneal_strategy
        self.cycle_momentum = cycle_momentum
        self.peaks = peaks
        self.div_factor, self.final_div_factor = div_factor, final_div_factor
        self.momenta = [max_momentum, base_momentum]
        turn, last = pct_start * total_steps - 1.0, float(total_steps - 1)
        self.ends = [turn, 2 * turn, last] if three_phase else [turn, last]
        for group, peak in zip(optimizer.param_groups, peaks, strict=True):
            group["initial_lr"] = peak / div_factor
        super().__init__(optimizer)

    def _between(self, step: int, levels: Sequence[float]) -> float:
        """The value at a step on the way through these levels, one more than there are phases."""
        start = 0.0
        for phase, end in enumerate(self.ends):
            if step <= end or phase == len(self.ends) - 1:
                done = (step - start) / (end - start) if end != start else 1.0
                a, b = levels[phase], levels[phase + 1]
                if self.anneal_strategy == "linear":
                    return (b - a) * done + a
                return b + (a - b) / 2 * (math.cos(math.pi * done) + 1)
            start = end
        raise AssertionError("the last phase takes every step")

    def rates(self, step: int) -> list[float]:
        """The learning rate of every group at this step."""
        if step > self.total_steps:
            raise ValueError(f"OneCycleLR: step {step} of a cycle of {self.total_steps} steps")
        found = []
        for peak in self.peaks:
            low = peak / self.div_factor
            back = [low] if len(self.ends) == 3 else []
            found.append(self._between(step, [low, peak, *back, low / self.final_div_factor]))
        return found

    def _give(self, rates: Sequence[float]) -> None:
        super()._give(rates)
        if not self.cycle_momentum:
            return
        high, low = self.momenta
        momentum = self._between(self.last_epoch, [high, low, high, high][: len(self.ends) + 1])
        for group in self.optimizer.param_groups:
            give_momentum(group, momentum)


def give_momentum(group: Group, momentum: float) -> None:
    """Set the momentum of a group, or the first of Adam's betas."""
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


class CyclicLR(LRScheduler):
    """Up from `base_lr` to `max_lr` in `step_size_up` steps and down again in `step_size_down`, over and over (L. Smith, 2017,
    https://arxiv.org/abs/1506.01186).

    The height of a cycle is that of the first times a factor: 1 (`mode="triangular"`), 2 to the power 1 - cycle
    (`"triangular2"`), `gamma` to the power of the step (`"exp_range"`), or `scale_fn` of the number of the cycle, from 1
    on (`scale_mode="cycle"`), or of the step (`"iterations"`). With `cycle_momentum` the momentum (or the first of Adam's
    betas) goes the opposite way, between `max_momentum` and `base_momentum`. Rates and momenta are numbers, or one for each
    group. Raises ValueError for other modes, and for an optimizer without momentum.

    >>> import adjoint as ad
    >>> optimizer = ad.optim.SGD([ad.variable(1.0)], lr=1.0)
    >>> schedule = ad.optim.CyclicLR(optimizer, 0.1, 0.5, step_size_up=2, cycle_momentum=False)
    >>> [round(schedule.rates(step)[0], 2) for step in range(5)]
    [0.1, 0.3, 0.5, 0.3, 0.1]
    """

    unsaved = ("optimizer", "scale_fn")

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
    ) -> None:
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"CyclicLR: mode must be 'triangular', 'triangular2' or 'exp_range', not {mode!r}")
        if scale_mode not in ("cycle", "iterations"):
            raise ValueError(f"CyclicLR: scale_mode must be 'cycle' or 'iterations', not {scale_mode!r}")
        if cycle_momentum and not {"momentum", "betas"} & set(optimizer.defaults):
            raise ValueError(f"CyclicLR: {type(optimizer).__name__} has no momentum; pass cycle_momentum=False")
        down = step_size_up if step_size_down is None else step_size_down
        self.mode, self.gamma, self.scale_fn = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.max_lrs = of_groups("max_lr", optimizer, max_lr)
        self.cycle_momentum = cycle_momentum
        self.base_momentums = of_groups("base_momentum", optimizer, base_momentum)
        self.max_momentums = of_groups("max_momentum", optimizer, max_momentum)
        rates = of_groups("base_lr", optimizer, base_lr)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group.setdefault("initial_lr", rate)
        super().__init__(optimizer)  # from the rate that was there before another schedule, as PyTorch's does
        self.base_lrs = rates

    def _height(self, step: int) -> float:
        """How far up it is, as a part of the first cycle's height."""
        cycle = 1 + math.floor(step / self.total_size)
        done = 1.0 + step / self.total_size - cycle
        ratio = self.step_ratio
        up = done / ratio if done <= ratio else (done - 1) / (ratio - 1)
        place = cycle if self.scale_mode == "cycle" else step
        if self.scale_fn is not None:
            return up * self.scale_fn(place)
        factors = {"triangular": 1.0, "triangular2": 2.0 ** (1 - cycle), "exp_range": self.gamma**place}
        return up * factors[self.mode]

    def rates(self, step: int) -> list[float]:
        """The learning rate of every group at this step."""
        height = self._height(step)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def _give(self, rates: Sequence[float]) -> None:
        super()._give(rates)
        if not self.cycle_momentum:
            return
        height = self._height(self.last_epoch)
        ends = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
        for group, low, high in ends:
            give_momentum(group, high - (high - low) * height)


def of_groups(name: str, optimizer: Optimizer, value: float | Sequence[float]) -> list[float]:
    """A number for each group of parameters. Raises ValueError for a list of another length."""
    groups = len(optimizer.param_groups)
    found = list(value) if isinstance(value, Sequence) else [value] * groups
    if len(found) != groups:
        raise ValueError(f"{len(found)} values of {name} for {groups} groups of parameters")
    return found


class ChainedScheduler:
    """Several schedules of one optimizer, all stepped at once: each goes on from the rate that the one before has set.

    Raises ValueError for none, and for schedules of different optimizers.

    >>> import adjoint as ad
    >>> optimizer = ad.optim.SGD([ad.variable(1.0)], lr=1.0)
    >>> parts = [ad.optim.ConstantLR(optimizer, 0.1, total_iters=1), ad.optim.ExponentialLR(optimizer, 0.5)]
    >>> schedule = ad.optim.ChainedScheduler(parts)
    >>> first = optimizer.lr
    >>> schedule.step()
    >>> first, optimizer.lr
    (0.1, 0.5)
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueError("ChainedScheduler: it needs at least one schedule")
        self.optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        if any(getattr(schedule, "optimizer", None) is not self.optimizer for schedule in schedulers):
            raise ValueError("ChainedScheduler: every part must be a schedule of the same optimizer")
        self.schedulers = list(schedulers)
        self._last_lr = [rate_of(group) for group in self.optimizer.param_groups]

    def step(self) -> None:
        """Go one step on, with each."""
        for schedule in self.schedulers:
            schedule.step()
        self._last_lr = [rate_of(group) for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list[float]:
        """The learning rate of every group, as the last step left it."""
        return list(self._last_lr)

    def state_dict(self) -> dict[str, Any]:
        """The state of every part."""
        return {"_schedulers": [schedule.state_dict() for schedule in self.schedulers], "_last_lr": self._last_lr}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict()`. Raises ValueError when the parts differ."""
        load_parts("ChainedScheduler", self.schedulers, state)
        self._last_lr = state.get("_last_lr", self._last_lr)


def load_parts(name: str, schedulers: Sequence[LRScheduler], state: Mapping[str, Any]) -> None:
    """Give each part of a schedule its state. Raises ValueError when their number differs."""
    parts = state.get("_schedulers", ())
    if len(parts) != len(schedulers):
        raise ValueError(f"{name}: the state has {len(parts)} schedules, this one {len(schedulers)}")
    for schedule, part in zip(schedulers, parts, strict=True):
        schedule.load_state_dict(part)


class SequentialLR(LRScheduler):
    """One schedule after the other: the next takes over, from its own step 0, at each of the `milestones`.

    >>> import adjoint as ad
    >>> optimizer = ad.optim.SGD([ad.variable(1.0)], lr=0.1)
    >>> warm_up = ad.optim.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> cosine = ad.optim.CosineAnnealingLR(optimizer, T_max=4)
    >>> schedule = ad.optim.SequentialLR(optimizer, [warm_up, cosine], milestones=[2])
    >>> found = []
    >>> for step in range(6):
    ...     found.append(round(optimizer.lr, 3))
    ...     schedule.step()
    >>> found
    [0.05, 0.075, 0.1, 0.085, 0.05, 0.015]

    Raises ValueError unless there is one milestone less than there are schedules, each of this optimizer.
    """

    unsaved = ("optimizer", "schedulers")

    def __init__(self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int]) -> None:
        if len(milestones) != len(schedulers) - 1 or list(milestones) != sorted(milestones):
            raise ValueError(
                f"SequentialLR: {len(schedulers)} schedules need {max(len(schedulers) - 1, 0)} milestones in "
                f"ascending order; they are {list(milestones)}"
            )
        for schedule in schedulers:
            if not isinstance(schedule, LRScheduler) or schedule.optimizer is not optimizer:
                raise ValueError("SequentialLR: every part must be a schedule of the same optimizer")
        self.schedulers = list(schedulers)
        self.milestones = list(milestones)
        for group in optimizer.param_groups:  # what the parts have set when they were made is undone
            give_rate(group, group.get("initial_lr", rate_of(group)))
        super().__init__(optimizer)

    def _at(self, step: int) -> tuple[LRScheduler, int]:
        """The schedule in charge, and its own step."""
        number = bisect_right(self.milestones, step)
        return self.schedulers[number], step - (self.milestones[number - 1] if number else 0)

    def rates(self, step: int) -> list[float]:
        """The learning rate of every group at this step."""
        schedule, own = self._at(step)
        return schedule.rates(own)

    def _set(self) -> None:
        schedule, own = self._at(self.last_epoch)
        schedule.last_epoch = own
        if own or not self.last_epoch:
            schedule._set()
        else:
            schedule.begin()
        self._last_lr = schedule.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        """The count of steps, and the state of every part."""
        return {**super().state_dict(), "_schedulers": [schedule.state_dict() for schedule in self.schedulers]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict()`. Raises ValueError when the parts differ."""
        load_parts("SequentialLR", self.schedulers, state)
        for name in ("base_lrs", "last_epoch", "milestones", "_last_lr"):
            setattr(self, name, state.get(name, getattr(self, name)))


class ReduceLROnPlateau:
    """The rates times `factor` when what `step(metric)` is told hasn't improved for more than `patience` calls.

    `mode` is `"min"` for a metric that should fall and `"max"` for one that should rise. An improvement is one by more
    than `threshold`, of the best so far (`threshold_mode="rel"`) or as such (`"abs"`). After a change nothing is
    counted for `cooldown` calls. No rate goes below `min_lr`, nor changes by less than `eps`. Raises ValueError for
    other modes and for a factor of 1 or more.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if not 0 <= factor < 1:
            raise ValueError(f"ReduceLROnPlateau: factor must be from 0 up to 1, not {factor}")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(
                "ReduceLROnPlateau: mode is 'min' or 'max', threshold_mode 'rel' or 'abs', "
                f"not {mode!r} and {threshold_mode!r}"
            )
        self.optimizer = optimizer
        self.mode, self.factor, self.patience = mode, factor, patience
        self.threshold, self.threshold_mode = threshold, threshold_mode
        self.cooldown, self.min_lr, self.eps = cooldown, min_lr, eps
        self.best = math.inf if mode == "min" else -math.inf
        self.last_epoch = self.num_bad_epochs = self.cooldown_counter = 0

    def step(self, metric: float) -> None:
        """Take note of the metric, and lower the rates when it's time."""
        tracing.refuse(self, "what ReduceLROnPlateau has counted")
        value = float(metric)
        self.last_epoch += 1
        if self._better(value):
            self.best, self.num_bad_epochs = value, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group in self.optimizer.param_groups:
                rate = max(rate_of(group) * self.factor, self.min_lr)
                if rate_of(group) - rate > self.eps:
                    give_rate(group, rate)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def _better(self, value: float) -> bool:
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "abs" or math.isinf(self.best):
            margin = self.threshold if self.threshold_mode == "abs" else 0.0
            return sign * value > sign * self.best + margin
        return sign * value > sign * (self.best * (1 + sign * self.threshold))

    def get_last_lr(self) -> list[float]:
        """The learning rate of every group."""
        return [rate_of(group) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict()`."""
        own = self.state_dict()
        vars(self).update({name: value for name, value in state.items() if name in own})
