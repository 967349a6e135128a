"""The batch norm of many processes, which is that of one here."""

from __future__ import annotations

from typing import Any, ClassVar

from adjoint.nn import BatchNorm1d, BatchNorm2d, BatchNorm3d
from adjoint.tensors.located import at_user

__all__ = ["SyncBatchNorm"]

CONVERTED = (BatchNorm1d, BatchNorm2d, BatchNorm3d)


class SyncBatchNorm(BatchNorm1d):
    """Batch norm of inputs (N, C, ...) with any number of axes. Like PyTorch's in one process, it takes the statistics of the
    batch that it is given; `ad.distributed.data_parallel(..., sync_batch_norm=True)` takes those of all processes."""

    ranks: ClassVar[Any] = range(2, 65)
    expected = "(N, C, ...)"

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        if process_group is not None:
            raise RuntimeError(f"SyncBatchNorm: there are no process groups here; leave process_group out{at_user()}")
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype, bias=bias)

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """The module with each batch norm in it as one of these, which has the same parameters and buffers."""
        pairs: list[tuple[Any, str, Any]] = [(None, "", module)]
        top = None
        while pairs:
            parent, name, old = pairs.pop()
            new = cls._like(old, process_group)
            pairs += [(new, key, child) for key, child in reversed(list(old.named_children()))]
            if parent is None:
                top = new
            elif new is not old:
                parent.add_module(name, new)
        return top

    @classmethod
    def _like(cls, old: Any, process_group: Any) -> Any:
        if not isinstance(old, CONVERTED):
            return old
        new: Any = cls(
            old.num_features, old.eps, old.momentum, old.affine, old.track_running_stats, process_group,
            bias=old.bias is not None,
        )  # fmt: skip
        for name in ("weight", "bias", "running_mean", "running_var", "num_batches_tracked", "training"):
            setattr(new, name, getattr(old, name))
        return new
