"""torch.utils: data, and checkpoints of computations."""

from __future__ import annotations

from typing import Any

from .._missing import missing
from . import _pytree, checkpoint, data
from .data.distributed import DistributedSampler

data.DistributedSampler = DistributedSampler

__all__ = ["_pytree", "checkpoint", "data"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise missing("torch.utils", name, __all__)
