"""torch.utils.data: the core's data sets and loader, whose batches are tensors of PyTorch's kind."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import data as core_data
from adjoint import tree
from adjoint.data.collate import alike
from adjoint.tensors.located import at_user
from adjoint.tensors.pending import force

from ..._creation import default_generator, on_cpu, source, tensor
from ..._errors import as_pytorchs
from ..._missing import getter
from ..._names import FUNCTIONS, refuse
from ..._tensor import Core, as_torch, torch_tensor

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset",
    "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
    "WeightedRandomSampler", "default_collate", "default_convert", "get_worker_info", "random_split",
]  # fmt: skip

ChainDataset, ConcatDataset = core_data.ChainDataset, core_data.ConcatDataset
IterableDataset, Subset = core_data.IterableDataset, core_data.Subset
get_worker_info = core_data.get_worker_info


class Dataset(core_data.Dataset):
    """Base of data sets: `__getitem__` gives a sample, `__len__` their number."""

    def __class_getitem__(cls, kind: Any) -> Any:
        return cls


class TensorDataset(core_data.TensorDataset, Dataset):
    """Rows of tensors of one length."""

    def __init__(self, *tensors: Any) -> None:
        try:
            super().__init__(*tensors)
        except ValueError as error:
            raise as_pytorchs(error, asserts=True) from None

    def __getitem__(self, number: Any) -> tuple[Any, ...]:
        return tuple([as_torch(t)[number] for t in self.tensors])


class StackDataset(Dataset):
    """Samples of several data sets side by side."""

    def __init__(self, *datasets: Any, **named: Any) -> None:
        self.datasets: Any = named or datasets

    def __getitem__(self, number: int) -> Any:
        if isinstance(self.datasets, dict):
            return {k: d[number] for k, d in self.datasets.items()}
        return tuple([d[number] for d in self.datasets])

    def __len__(self) -> int:
        return len(next(iter(self.datasets.values())) if isinstance(self.datasets, dict) else self.datasets[0])


def _seed(generator: Any) -> int:
    """A seed drawn from a generator of PyTorch's kind."""
    return int(source(generator).integers(0, 2**31, ()).item())


class Sampler:
    """Base of what says in which order samples are taken: a subclass defines `__iter__`."""

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __class_getitem__(cls, kind: Any) -> Any:
        return cls

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} defines no __iter__")


class SequentialSampler(Sampler):
    """All samples in their own order."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """Samples in random order; with `replacement` each is drawn from all, however many there are to be."""

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: Any = None, generator: Any = None
    ) -> None:
        super().__init__(data_source)
        self.replacement, self.generator = replacement, generator
        self.num_samples = len(data_source) if num_samples is None else num_samples
        if self.num_samples <= 0:
            raise ValueError(f"RandomSampler: num_samples must be positive, not {self.num_samples}")

    def __iter__(self) -> Iterator[int]:
        left, n = self.num_samples, len(self.data_source)
        while left > 0:
            draw = source(self.generator)
            some = draw.integers(0, n, (min(left, 256),)) if self.replacement else draw.permutation(n)
            yield from some.numpy()[:left].tolist()
            left -= some.shape[0]

    def __len__(self) -> int:
        return int(self.num_samples)


class SubsetRandomSampler(Sampler):
    """Given numbers in random order."""

    def __init__(self, indices: Any, generator: Any = None) -> None:
        super().__init__()
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        order = source(self.generator).permutation(len(self.indices)).numpy().tolist()
        return iter([int(self.indices[i]) for i in order])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Numbers drawn by weights."""

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True, generator: Any = None) -> None:
        super().__init__()
        self.weights = torch_tensor(weights, "float64")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = FUNCTIONS["multinomial"](self.weights, self.num_samples, self.replacement, generator=self.generator)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(core_data.BatchSampler, Sampler):
    """What another sampler gives, in lists of one length."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"BatchSampler: batch_size must be a positive integer, not {batch_size!r}")
        Sampler.__init__(self)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last


def default_collate(batch: Sequence[Any]) -> Any:
    """Samples put together: tensors and arrays stacked, numbers as a tensor (floats as float64), containers field by field."""
    first = batch[0]
    if isinstance(first, Core):
        return FUNCTIONS["stack"](list(batch))
    if isinstance(first, (np.str_, np.bytes_)):
        return batch
    if isinstance(first, (np.ndarray, np.generic)):
        shapes = [np.shape(x) for x in batch]
        if len(set(shapes)) > 1:
            raise RuntimeError(f"default_collate: arrays of one batch have the shapes {shapes}; give a collate_fn")
        return tensor(np.stack([np.asarray(x) for x in batch]))
    if isinstance(first, (bool, int)):
        return tensor(list(batch))
    if isinstance(first, float):
        return tensor(list(batch), dtype="float64")
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return alike(first, {k: default_collate([x[k] for x in batch]) for k in first})
    if isinstance(first, (tuple, list, range)):
        if any(len(x) != len(first) for x in batch):
            raise RuntimeError(
                "default_collate: samples of one batch have different numbers of fields; give a collate_fn"
            )
        fields = [default_collate(field) for field in zip(*batch, strict=True)]
        return type(first)(*fields) if hasattr(first, "_fields") else fields
    raise TypeError(
        f"default_collate: a sample is made of tensors, arrays, numbers and containers, not {type(first).__name__}"
    )


def default_convert(data: Any) -> Any:
    """Arrays as tensors; all else as it is."""
    if isinstance(data, (np.ndarray, np.generic)):
        return tensor(np.asarray(data)) if data.dtype.kind in "biufc" else data
    if isinstance(data, Mapping):
        return alike(data, {k: default_convert(v) for k, v in data.items()})
    if isinstance(data, (tuple, list, range)):
        fields = [default_convert(v) for v in data]
        return type(data)(*fields) if hasattr(data, "_fields") else fields
    return data


class DataLoader(core_data.DataLoader):
    """Batches of a data set, as PyTorch's. With `shuffle`, each pass draws its order from the generator as it is then; so does
    what workers draw.

    Batches come in order, however many workers make them, and the core says how these start and how far ahead they work:
    `multiprocessing_context`, `prefetch_factor`, `pin_memory` and `in_order` change nothing.
    """

    def __init__(self, dataset: Any, batch_size: Any = 1, shuffle: Any = None, sampler: Any = None, batch_sampler: Any = None,
                 num_workers: int = 0, collate_fn: Any = None, pin_memory: bool = False, drop_last: bool = False,
                 timeout: float = 0, worker_init_fn: Any = None, multiprocessing_context: Any = None, generator: Any = None, *,
                 prefetch_factor: Any = None, persistent_workers: bool = False, pin_memory_device: str = "",
                 in_order: bool = True) -> None:  # fmt: skip
        refuse("DataLoader", "multiprocessing_context", multiprocessing_context, "fork", "spawn", "forkserver")
        on_cpu(pin_memory_device or None)
        if num_workers == 0 and (prefetch_factor is not None or persistent_workers):
            asked = "persistent_workers" if prefetch_factor is None else "prefetch_factor"
            raise ValueError(f"DataLoader: {asked} is for workers; give num_workers > 0{at_user()}")
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError(f"DataLoader: prefetch_factor must be 0 or more, got {prefetch_factor}{at_user()}")
        self.generator = generator
        own = (
            None
            if isinstance(dataset, TensorDataset) and all(isinstance(t, Core) for t in dataset.tensors)
            else default_collate
        )
        if isinstance(dataset, Core):
            dataset = list(as_torch(dataset))
        super().__init__(
            dataset, batch_size, bool(shuffle), sampler, batch_sampler, num_workers,
            collate_fn or (own if batch_size is not None or batch_sampler is not None else default_convert),
            pin_memory, drop_last, timeout, worker_init_fn, persistent_workers=persistent_workers,
        )  # fmt: skip
        if batch_sampler is not None:
            self.batch_size = None
        self.prefetch_factor = 2 if prefetch_factor is None and num_workers else prefetch_factor
        self.persistent_workers = persistent_workers

    def __class_getitem__(cls, kind: Any) -> Any:
        return cls

    def _check_samples(self) -> None:
        """Nothing: PyTorch's loader makes no batch of no samples."""

    def _drawn(self, sampler: Any, epoch: int) -> Any:
        """What a sampler gives; who calls its `set_epoch` is the user."""
        return sampler

    def __iter__(self) -> Iterator[Any]:
        if (self.shuffle or self.num_workers) and not self._resumed:
            self.epoch, self._batch = _seed(self.generator), 0  # the order is a function of this number
        return self._converted(super().__iter__())

    def _converted(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            found = _settled(as_torch(batch))
            yield list(found) if type(found) is tuple and self._columns is not None else found


def _settled(batch: Any) -> Any:
    """A batch whose values are computed: how its samples were made is no part of what is computed with them."""
    leaves = tree.flatten(batch, opaque=True)[0]
    pending = [x.node for x in leaves if isinstance(x, Core) and not x.node.tracked and x.node.value is None]
    if pending:
        force(pending)
    return batch


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = default_generator) -> list[Any]:
    """A data set divided at random into parts of these lengths, or of these shares."""
    n = len(dataset)
    if (
        lengths
        and math.isclose(sum(lengths), 1)
        and sum(lengths) <= 1 + 1e-9
        and not all(isinstance(k, int) for k in lengths)
    ):
        counts = [math.floor(n * share) for share in lengths]
        for i in range(n - sum(counts)):
            counts[i % len(counts)] += 1
    else:
        counts = [int(k) for k in lengths]
    if sum(counts) != n:
        raise ValueError(f"random_split: the lengths add up to {sum(counts)}, the data set has {n} samples")
    order = np.asarray(source(generator).permutation(n).numpy()).tolist()
    parts, start = [], 0
    for k in counts:
        parts.append(Subset(dataset, order[start : start + k]))
        start += k
    return parts


__getattr__ = getter("torch.utils.data", globals())
