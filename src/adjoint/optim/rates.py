"""Learning rates that are tensors: a compiled function reads one anew in each call, whoever has changed it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjoint.dtypes import DType
from adjoint.tensors import Tensor
from adjoint.tensors.located import at_user

if TYPE_CHECKING:
    from .optimizer import Group

__all__ = ["check_rate", "give_rate", "has_rate", "rate_as", "rate_of"]


def rate_of(group: Group) -> float:
    """The rate of a group as a number."""
    rate = group["lr"]
    return rate.item() if isinstance(rate, Tensor) else rate  # type: ignore[no-any-return]


def give_rate(group: Group, rate: Any) -> None:
    """Set the rate of a group. A tensor stays the same object, with another value."""
    held = group["lr"]
    if isinstance(held, Tensor):
        held.data = rate
    else:
        group["lr"] = rate


def has_rate(group: Group, rate: float) -> bool:
    """Whether a group's rate is this one, in the precision that it has there."""
    held = group["lr"]
    if isinstance(held, Tensor):
        return bool(held.numpy() == held.numpy().dtype.type(rate))
    return bool(held == rate)


def check_rate(name: str, rate: Tensor) -> None:
    """Raise ValueError for a tensor that can be no rate."""
    if rate.shape or rate.dtype.kind != "f":
        raise ValueError(
            f"{name}: lr is one floating number; it has shape {rate.shape} and dtype {rate.dtype}{at_user()}"
        )
    if not rate.item() >= 0:
        raise ValueError(f"{name}: lr must not be negative; it is {rate.item()}{at_user()}")


def rate_as(rate: Tensor, dtype: DType) -> Tensor:
    """A rate as what is computed for a parameter of this dtype takes it: that no number has more bits for its sake, and no rate
    the few of bfloat16 and float16."""
    return rate.detach().astype("float32" if dtype.itemsize < 4 else dtype)
