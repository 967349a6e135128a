"""torch.optim.lr_scheduler: the core's schedules."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adjoint import optim as core_optim
from adjoint.optim.rates import rate_of
from adjoint.tensors.located import at_user

from .._missing import getter

NAMES = """ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR ExponentialLR LambdaLR LinearLR
MultiStepLR MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau SequentialLR StepLR""".split()

__all__ = [*NAMES, "LRScheduler"]


class LRScheduler(core_optim.LRScheduler):
    """Base of schedules of one's own: a subclass defines `get_lr`, the rates of all groups at `self.last_epoch`."""

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        with _beginning(self, optimizer, last_epoch):
            super().__init__(optimizer)

    def get_lr(self) -> list[float]:
        """The learning rate of every group."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr")

    def rates(self, step: int) -> list[float]:
        """What `get_lr` says."""
        return list(self.get_lr())

    def get_last_lr(self) -> list[float]:
        """The learning rate of every group, as the last step left it."""
        return [rate_of(group) for group in self.optimizer.param_groups]


_LRScheduler = LRScheduler


# whose rate at a step follows from the first rate, or from that which there is
ANYWHERE = """ConstantLR CosineAnnealingLR ExponentialLR LambdaLR LinearLR MultiStepLR PolynomialLR StepLR""".split()


KEEPING = {
    "CosineAnnealingLR",
    "ExponentialLR",
    "LinearLR",
    "PolynomialLR",
}  # which leave the rate that there is at first


@contextmanager
def _beginning(schedule: Any, optimizer: Any, last_epoch: int) -> Iterator[None]:
    """What is made inside begins with the step after `last_epoch`."""
    if last_epoch == -1:
        yield
        return
    schedule._first = last_epoch + 1
    rates = [rate_of(group) for group in optimizer.param_groups]
    yield
    del schedule._first
    if type(schedule).__name__ in KEEPING:
        schedule._give(rates)


def _from_start(name: str, last_epoch: int) -> None:
    if last_epoch != -1 and name not in ANYWHERE:
        raise RuntimeError(f"{name}: to go on from an epoch, load_state_dict() of the schedule saved there{at_user()}")


def made(name: str) -> type:
    """The core's schedule, with the `last_epoch` that PyTorch's takes last."""
    core = getattr(core_optim, name)
    signature = inspect.signature(core.__init__)
    if name not in ("ChainedScheduler", "ReduceLROnPlateau"):
        last = inspect.Parameter("last_epoch", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=-1)
        signature = signature.replace(parameters=[*signature.parameters.values(), last])

    def __init__(self: Any, *args: Any, **keywords: Any) -> None:
        try:
            given = signature.bind(self, *args, **keywords).arguments
        except TypeError as error:
            raise TypeError(f"{name}: {error}{at_user()}") from None
        del given["self"]
        last_epoch = given.pop("last_epoch", -1)
        _from_start(name, last_epoch)
        with _beginning(self, given.get("optimizer"), last_epoch):
            core.__init__(self, **given)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    body = {"__init__": __init__, "__doc__": core.__doc__, "__module__": __name__}
    if name not in ("ChainedScheduler", "MultiplicativeLR", "ReduceLROnPlateau", "SequentialLR"):
        body["step"] = _stepped(core)
    return type(name, (core,), body)


def _stepped(core: type) -> Any:
    def step(self: Any, epoch: float | None = None) -> None:
        """Go one step on, or to an epoch; CosineAnnealingWarmRestarts takes fractions of one."""
        if epoch is None:
            core.step(self)  # type: ignore[attr-defined]
            return
        self.last_epoch = math.floor(epoch)
        self._give(self.rates(epoch))

    return step


globals().update({name: made(name) for name in NAMES})

__getattr__ = getter("torch.optim.lr_scheduler", globals())
