"""torch.utils.data.distributed: the part of the samples that one of several processes takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adjoint.data import DistributedSampler as Shares

from ...distributed import get_rank, get_world_size
from . import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler):
    """Every num_replicas-th sample, from the `rank`-th on, in an order by seed and epoch (`set_epoch`) that all processes share.

    The last ones are repeated from the start so that all get as many, or with `drop_last` left out. The orders are other ones
    than PyTorch's. Raises ValueError for a rank that isn't below num_replicas, which are 1 unless given.
    """

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True, seed: int = 0,
        drop_last: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.dataset, self.shuffle, self.seed, self.drop_last, self.epoch = dataset, shuffle, seed, drop_last, 0
        self.num_replicas = get_world_size() if num_replicas is None else num_replicas
        self.rank = get_rank() if rank is None else rank
        self._shares = Shares(dataset, self.num_replicas, self.rank, shuffle, seed, drop_last)

    def set_epoch(self, epoch: int) -> None:
        """Order as this epoch does."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        return iter(self._shares.order(self.epoch).tolist())

    def __len__(self) -> int:
        return len(self._shares.order(0))
