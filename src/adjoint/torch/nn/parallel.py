"""torch.nn.parallel: there is one device here."""

from __future__ import annotations

from typing import Any

from adjoint.tensors.located import at_user

from .._missing import getter
from .modules import Module

__all__ = ["DataParallel", "DistributedDataParallel"]


class DataParallel(Module):
    """A module on the one device that there is. Like PyTorch's where there is no graphics processor, it is that module alone,
    whatever `device_ids` and `output_device` say."""

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        if dim:
            raise TypeError(f"DataParallel: dim={dim} isn't here; leave dim out{at_user()}")
        self.module = module

    def forward(self, *args: Any, **keywords: Any) -> Any:
        """The module's own."""
        return self.module(*args, **keywords)


class DistributedDataParallel(Module):
    """Raises: there is one process."""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise RuntimeError(f"DistributedDataParallel: adjoint trains in one process; leave it out{at_user()}")


__getattr__ = getter("torch.nn.parallel", globals())
