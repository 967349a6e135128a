"""In which order samples are taken: functions of a seed and of the epoch's number, on every machine."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from adjoint.tensors import Tensor
from adjoint.tensors.located import at_user

__all__ = [
    "BatchSampler", "DistributedSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler",
    "WeightedRandomSampler", "permutation",
]  # fmt: skip


def permutation(length: int, seed: int, epoch: int) -> np.ndarray:
    """The numbers 0 to length - 1 in an order that seed and epoch decide.

    It sorts the raw output of Philox, which NumPy never changes, unlike the permutations of its generators.
    """
    return np.argsort(raw(length, seed, epoch), kind="stable")


def raw(count: int, seed: int, epoch: int) -> np.ndarray:
    """So many random numbers of 64 bits, of this seed and epoch alone."""
    return np.random.Philox(key=[seed % 2**64, epoch]).random_raw(count)


def sample_numbers(name: str, indices: Any) -> list[int]:
    """Numbers of samples as ints. Raises TypeError for a mask, whose True would be sample 1, and for other numbers."""
    given = indices.numpy() if isinstance(indices, Tensor) else indices
    found = given.tolist() if isinstance(given, np.ndarray) else list(given)
    for number in found:
        if isinstance(number, bool | np.bool_):
            raise TypeError(
                f"{name}: indices are numbers of samples, not a mask; np.flatnonzero(mask) gives them{at_user()}"
            )
        if not hasattr(number, "__index__"):
            raise TypeError(f"{name}: indices are numbers of samples, not {number!r}{at_user()}")
    return [operator.index(number) for number in found]


class Sampler:
    """Base of what says in which order samples are taken. A subclass defines `order(epoch)`: an array of their numbers, or
    anything iterable that gives them, without end if need be. Or it defines `__iter__`, as in PyTorch.

    `iter` gives the order of the epoch that `set_epoch` names, and moves on to the next.

    >>> import adjoint as ad
    >>> class Backwards(ad.data.Sampler):
    ...     def order(self, epoch):
    ...         return [2, 1, 0]
    >>> list(Backwards())
    [2, 1, 0]
    """

    epoch = 0

    def order(self, epoch: int) -> Iterable[int] | np.ndarray:
        """The samples' numbers in the order of this epoch."""
        raise NotImplementedError(f"{type(self).__name__} defines no order")

    def set_epoch(self, epoch: int) -> None:
        """The next `iter` gives the order of this epoch."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        epoch, self.epoch = self.epoch, self.epoch + 1
        return map(int, self.order(epoch))

    def __len__(self) -> int:
        order = None if type(self).order is Sampler.order else self.order(self.epoch)
        if not isinstance(order, Sized):
            raise TypeError(f"{type(self).__name__} has no length: it may never end, or defines no __len__")
        return len(order)


class SequentialSampler(Sampler):
    """All samples in their own order.

    >>> import adjoint as ad
    >>> list(ad.data.SequentialSampler([10, 20, 30]))
    [0, 1, 2]
    """

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def order(self, epoch: int) -> np.ndarray:
        """0, 1, 2, ..."""
        return np.arange(len(self.data_source))


class RandomSampler(Sampler):
    """All samples in random order, or `num_samples` of them; with `replacement` each drawn from all.

    >>> import adjoint as ad
    >>> sorted(ad.data.RandomSampler([10, 20, 30], seed=1))
    [0, 1, 2]
    """

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, *, seed: int = 0
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self.num_samples = len(data_source) if num_samples is None else num_samples
        self.seed = seed
        if self.num_samples < 1:
            raise ValueError(f"RandomSampler: num_samples must be positive, not {self.num_samples}")

    def order(self, epoch: int) -> np.ndarray:
        """A permutation, or as many of them as `num_samples` takes, or numbers drawn one by one."""
        length = len(self.data_source)
        if self.replacement:
            return (raw(self.num_samples, self.seed, epoch) % length).astype(np.int64)
        parts = [permutation(length, self.seed, epoch + 2**32 * part) for part in range(-(-self.num_samples // length))]
        return np.concatenate(parts)[: self.num_samples]


class SubsetRandomSampler(Sampler):
    """The samples of these numbers in random order. Raises TypeError for what isn't whole numbers, such as a mask.

    >>> import adjoint as ad
    >>> sorted(ad.data.SubsetRandomSampler([5, 7, 9]))
    [5, 7, 9]
    """

    def __init__(self, indices: Sequence[int], *, seed: int = 0) -> None:
        self.indices = np.array(sample_numbers("SubsetRandomSampler", indices), np.int64)
        self.seed = seed

    def order(self, epoch: int) -> np.ndarray:
        """The numbers permuted."""
        order: np.ndarray = self.indices[permutation(len(self.indices), self.seed, epoch)]
        return order


class WeightedRandomSampler(Sampler):
    """`num_samples` samples, each drawn with a probability proportional to its weight.

    Without `replacement` no sample comes twice: the largest keys u^(1/weight) of uniform u are taken (P. Efraimidis and P.
    Spirakis, 2006). Raises ValueError for negative weights, and when too few are positive.

    >>> import adjoint as ad
    >>> list(ad.data.WeightedRandomSampler([0.0, 1.0, 0.0], 4))
    [1, 1, 1, 1]
    """

    def __init__(self, weights: Sequence[float], num_samples: int, replacement: bool = True, *, seed: int = 0) -> None:
        self.weights = np.asarray(weights, np.float64)
        self.num_samples = num_samples
        self.replacement = replacement
        self.seed = seed
        some = int((self.weights > 0).sum())
        if self.weights.ndim != 1 or not np.isfinite(self.weights).all() or (self.weights < 0).any() or not some:
            raise ValueError("WeightedRandomSampler: weights are numbers from 0, some of them above it")
        if num_samples < 1 or (not replacement and num_samples > some):
            raise ValueError(f"WeightedRandomSampler: {num_samples} samples can't be drawn from {some}")

    def order(self, epoch: int) -> np.ndarray:
        """The numbers drawn."""
        count = self.num_samples if self.replacement else len(self.weights)
        uniform = (raw(count, self.seed, epoch) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        if self.replacement:
            edges = np.cumsum(self.weights)
            return np.asarray(np.searchsorted(edges, uniform * edges[-1], side="right"))
        with np.errstate(divide="ignore"):
            keys = np.where(self.weights > 0, np.log1p(-uniform) / self.weights, -np.inf)
        return np.argsort(-keys, kind="stable")[: self.num_samples]


class DistributedSampler(Sampler):
    """The part of the samples that one of `num_replicas` processes takes: every num_replicas-th, from its `rank` on.

    Shuffled by seed and epoch alike in all of them (`set_epoch`). The last ones are repeated from the start so that all get as
    many, or with `drop_last` left out. Raises ValueError for a rank that isn't below num_replicas.

    >>> import adjoint as ad
    >>> list(ad.data.DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False))
    [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int = 1,
        rank: int = 0,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if not 0 <= rank < num_replicas:
            raise ValueError(f"DistributedSampler: rank {rank} is not below num_replicas {num_replicas}")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last

    def order(self, epoch: int) -> np.ndarray:
        """This process's part of the epoch's order."""
        length = len(self.dataset)
        order = permutation(length, self.seed, epoch) if self.shuffle else np.arange(length)
        each = length // self.num_replicas if self.drop_last else -(-length // self.num_replicas)
        return np.resize(order, each * self.num_replicas)[self.rank :: self.num_replicas]


class BatchSampler:
    """The numbers that a sampler gives, in lists of `batch_size`; the last may be smaller, or with `drop_last` is left out.

    >>> import adjoint as ad
    >>> list(ad.data.BatchSampler([0, 1, 2, 3, 4], 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if batch_size < 1:
            raise ValueError(f"BatchSampler: the batch size must be at least 1, not {batch_size}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for number in self.sampler:
            batch.append(number)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
