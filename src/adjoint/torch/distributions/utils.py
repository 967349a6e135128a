"""torch.distributions.utils: what distributions of one's own are written with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._missing import getter
from .._names import FUNCTIONS
from .._settings import enable_grad, finfo
from ._base import broadcast_all

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits"]


class lazy_property:
    """A property that is computed when it is first asked for, with derivatives, and kept as an attribute from then on."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def clamp_probs(probs: Any) -> Any:
    """Probabilities between the dtype's epsilon and one less that."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Probabilities of logits: of one event each, or of classes along the last axis."""
    return FUNCTIONS["sigmoid"](logits) if is_binary else FUNCTIONS["softmax"](logits, dim=-1)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """Logits of probabilities, which are kept away from 0 and 1."""
    logs = clamp_probs(probs).log()
    return logs - FUNCTIONS["log1p"](-clamp_probs(probs)) if is_binary else logs


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Normal draws, by the name that libraries import."""
    return FUNCTIONS["randn"](tuple(shape), dtype=dtype, device=device)


__getattr__ = getter("torch.distributions.utils", globals())
