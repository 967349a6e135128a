"""torch.optim.swa_utils: averages of models."""

from __future__ import annotations

from typing import Any

from adjoint import optim as core_optim
from adjoint.optim import (
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_avg_fn,
    get_swa_multi_avg_fn,
)  # fmt: skip

from .._creation import on_cpu
from ..nn.modules import Module
from .lr_scheduler import made

SWALR = made("SWALR")


class AveragedModel(Module, core_optim.AveragedModel):
    """A copy of a model for averaged weights: see `adjoint.optim.AveragedModel`."""

    def __init__(
        self, model: Any, device: Any = None, avg_fn: Any = None, multi_avg_fn: Any = None, use_buffers: bool = False
    ) -> None:
        on_cpu(device)
        core_optim.AveragedModel.__init__(self, model, avg_fn, use_buffers, multi_avg_fn)


def update_bn(loader: Any, model: Any, device: Any = None) -> None:
    """The running statistics of batch normalisation anew, from one pass through a loader."""
    on_cpu(device)
    core_optim.update_bn(loader, model)


__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]
