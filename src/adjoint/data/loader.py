"""Batches of samples, in an order that a seed decides and a run can be resumed in."""

from __future__ import annotations

import contextvars
import itertools
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray
from adjoint.tensors.located import at_user

from .collate import alike, converted, default_convert
from .datasets import TensorDataset
from .samplers import Sampler, permutation
from .workers import asked_who, by_workers, seed_everything

__all__ = ["DataLoader"]

Array = np.ndarray


class _Columns:
    """Arrays of one length, of which whole batches are taken at once: one, a tuple, or a dictionary of them."""

    def __init__(self, given: Any) -> None:
        self.names = list(given) if isinstance(given, Mapping) else None
        self.single = self.names is None and not isinstance(given, tuple)
        items = given.values() if isinstance(given, Mapping) else (given,) if self.single else given
        self.arrays = [array.numpy() if isinstance(array, Tensor) else np.asarray(array) for array in items]
        shapes = [array.shape for array in self.arrays]
        if not shapes or () in shapes:
            raise ValueError(f"DataLoader: there are no rows to make batches of; the arrays have {shapes}{at_user()}")
        lengths = [shape[0] for shape in shapes]
        if len(set(lengths)) > 1:
            rows: Any = lengths if self.names is None else dict(zip(self.names, lengths, strict=True))
            raise ValueError(
                f"DataLoader: arrays that belong together must be of one length; they have {rows} rows{at_user()}"
            )
        self.length = lengths[0]

    def rows(self, index: Any) -> list[Array]:
        """The rows of each array."""
        return [array[index] for array in self.arrays]

    def together(self, arrays: list[Array]) -> Any:
        """Arrays in the form in which they were given."""
        if self.names is not None:
            return dict(zip(self.names, arrays, strict=True))
        return arrays[0] if self.single else tuple(arrays)


def _is_array(x: Any) -> bool:
    return isinstance(x, Tensor | np.ndarray)


def _columns(dataset: Any, collate_fn: Any) -> _Columns | None:
    """The data as arrays, unless it is samples, or a function of one's own takes these."""
    if hasattr(dataset, "iloc"):  # of pandas, which takes numbers for labels
        dataset = {name: dataset[name].to_numpy() for name in dataset} if dataset.ndim == 2 else dataset.to_numpy()
    if isinstance(dataset, TensorDataset):
        return None if collate_fn is not None else _Columns(dataset.columns)
    several = isinstance(dataset, Mapping) or (isinstance(dataset, tuple) and all(map(_is_array, dataset)))
    if several or _is_array(dataset) or np.isscalar(dataset):
        if isinstance(dataset, Mapping) and any([hasattr(x, "column_names") for x in dataset.values()]):
            names = ", ".join(map(repr, dataset))
            raise TypeError(f"DataLoader: a dictionary of data sets has no samples; give it one of {names}{at_user()}")
        if collate_fn is None:
            return _Columns(dataset)
        if isinstance(dataset, Mapping):
            raise TypeError(f"DataLoader: a collate_fn takes samples; a dictionary of arrays has none{at_user()}")
    return None


class DataLoader:
    """Batches of a data set, with PyTorch's name, arguments and defaults: one sample a batch, in the data's own order.

    `dataset` is one of

    - an array or tensor, a tuple of them that belong together, or a dictionary of them (whole batches are taken at once; arrays
      may be memory-mapped), or a data frame, which is a dictionary of its columns;
    - anything with `__getitem__` and `__len__`: a `Dataset`, a list of samples, a Hugging Face data set;
    - anything that can be iterated: an `IterableDataset`, a generator.

    A batch has up to `batch_size` samples (None: single samples, not put together). `collate_fn(samples)` puts samples together,
    unless given `default_collate`, which knows arrays, tensors, numbers, texts and containers of these. With `shuffle` each
    epoch has an order of its own that depends on `seed` and the epoch's number alone, on every machine. A `sampler` says the
    order instead (a `Sampler`, or anything iterable that gives numbers), a `batch_sampler` the batches' numbers; both may go on
    without end, since numbers are drawn as batches are made (two batches ahead for each worker). `drop_last`
    leaves out a smaller last batch. Every `iter` starts a new epoch.

    `transform(*arrays)`, for arrays, gets each batch as NumPy arrays and returns the array or the tuple of arrays to hand out.
    `augment(array, generator)`, such as a `data.Augmentation`, first changes the first array of each batch at random. With
    `tensors=False` batches stay NumPy arrays.

    `num_workers` processes prepare batches, forked anew for each epoch and handing over in shared memory (not on Windows);
    `worker_init_fn(number)` is called in each first, `timeout` is how many seconds to wait for a batch (0: for ever). In a
    worker, Python's, NumPy's and adjoint's own random numbers start anew with each batch, from seed, epoch and the batch's
    number: samples that are changed at random depend on nothing else. What can be iterated is iterated by each worker, which
    `get_worker_info()` tells its number, and they take turns. With
    `prefetch` a thread prepares the next batch instead, which pays where preparing takes longer than the 0.05 ms that handing
    over costs and a core is idle. The batches are the same in all cases: `augment` draws from a generator of each batch's
    own, which seed, epoch and the batch's number decide. `pin_memory` and `persistent_workers` are taken for PyTorch's sake
    and change nothing.

    With `part=(k, n)` each batch is the k-th of n parts of what it would be: of several processes that train together each gets
    its own samples, and all of them together those of one process, augmented alike. Where a batch has fewer samples than n,
    some parts are a sample that counts for nothing: `share` says how many samples of how many the last batch stands for.

    `state_dict()` says where in the epoch it is, and a loader that loads it goes on there with the next `iter`, with
    the same batches as if it had never stopped. (What is iterated goes on there by being iterated anew up to that batch,
    unless it can't start anew.)

    Raises ValueError when there are no samples, when lengths differ, for a batch size below 1, and for options that exclude each
    other.

    >>> import adjoint as ad
    >>> samples = [({"x": [float(i), 1.0]}, i % 2) for i in range(5)]
    >>> for inputs, label in ad.data.DataLoader(samples, batch_size=2):
    ...     print(label.tolist())
    [0, 1]
    [0, 1]
    [0]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool = False,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        *,
        seed: int = 0,
        transform: Callable[..., Any] | None = None,
        augment: Callable[[Array, np.random.Generator], Array] | None = None,
        prefetch: bool = False,
        tensors: bool = True,
        persistent_workers: bool = False,
        part: tuple[int, int] = (0, 1),
    ) -> None:
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = bool(shuffle)
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.seed = seed
        self.transform = transform
        self.augment = augment
        self.prefetch = prefetch
        self.tensors = tensors
        self.part = part
        self._columns = _columns(dataset, collate_fn)
        self._streams = self._columns is None and not (hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__"))
        if self._columns is None and isinstance(dataset, tuple) and all(map(_is_array, dataset)):
            self.dataset = TensorDataset(*dataset)
        self._check()
        self.epoch = 0
        self._batch = 0  # batches handed out of this epoch
        self.share = (1, 1)
        self._counts: dict[int, int] = {}  # samples of the batches that are on their way
        self._resumed = False

    def _check(self) -> None:
        self._check_kinds()
        self._check_order()
        self._check_numbers()
        self._check_samples()

    def _check_kinds(self) -> None:
        """That each argument is something of its kind, and has something to do."""
        name = "DataLoader"
        if self._streams and not hasattr(self.dataset, "__iter__"):
            raise TypeError(
                f"{name}: a {type(self.dataset).__name__} has neither samples by number nor an iterator{at_user()}"
            )
        for argument, given in (("batch_size", self.batch_size), ("num_workers", self.num_workers)):
            if given is not None and not isinstance(given, int | np.integer):
                raise TypeError(f"{name}: {argument} is a whole number, not {given!r}{at_user()}")
        if self.collate_fn is not None and not callable(self.collate_fn):
            raise TypeError(
                f"{name}: collate_fn is a function of a list of samples, not {self.collate_fn!r}{at_user()}"
            )
        if self._columns is None and (self.transform is not None or self.augment is not None):
            raise ValueError(
                f"{name}: transform and augment take arrays; of samples, the data set or collate_fn does that{at_user()}"
            )

    def _check_order(self) -> None:
        """That one argument alone says which samples come when."""
        name = "DataLoader"
        given = self.batch_size != 1 or self.shuffle or self.sampler is not None or self.drop_last
        if self.batch_sampler is not None and given:
            raise ValueError(f"{name}: a batch_sampler excludes batch_size, shuffle, sampler and drop_last{at_user()}")
        if self.sampler is not None and self.shuffle:
            raise ValueError(f"{name}: a sampler says the order; it excludes shuffle{at_user()}")
        ordered = self.shuffle or self.sampler is not None or self.batch_sampler is not None
        if self._streams and ordered:
            raise ValueError(f"{name}: what is iterated has an order of its own: no shuffle, no sampler{at_user()}")
        if self._streams and self.num_workers and iter(self.dataset) is self.dataset:
            raise ValueError(
                f"{name}: workers iterate each for itself; a {type(self.dataset).__name__} can't start anew{at_user()}"
            )

    def _check_numbers(self) -> None:
        """That the numbers are in their ranges."""
        name = "DataLoader"
        if self.batch_size is None and self.drop_last:
            raise ValueError(f"{name}: drop_last leaves out a smaller batch; batch_size=None makes none{at_user()}")
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError(f"{name}: the batch size must be at least 1, not {self.batch_size}{at_user()}")
        if self.timeout < 0:
            raise ValueError(f"{name}: timeout is 0 or more seconds, not {self.timeout}{at_user()}")
        k, parts = self.part
        if not 0 <= k < parts or (parts > 1 and self.batch_size is None and self.batch_sampler is None):
            raise ValueError(
                f"{name}: part=(k, n) is the k-th of n parts of batches, from 0 to n - 1; it is {self.part}{at_user()}"
            )
        if self.num_workers < 0 or (self.num_workers and self.prefetch):
            raise ValueError(
                f"{name}: num_workers is 0 or more, and excludes prefetch; it is {self.num_workers}{at_user()}"
            )

    def _check_samples(self) -> None:
        """That there is something to make batches of."""
        if not self._streams and not self.length:
            kind = "samples" if self._columns is None else "rows"
            raise ValueError(f"DataLoader: there are no {kind} to make batches of{at_user()}")
        if not self._streams and self.drop_last and self._batch_count() == 0:
            raise ValueError(
                f"DataLoader: with drop_last, {self._count()} rows make no batch of {self.batch_size}{at_user()}"
            )

    def _count(self) -> int:
        """How many samples an epoch has."""
        if self.sampler is not None:
            return len(self.sampler)  # type: ignore[arg-type]
        return self._columns.length if self._columns is not None else len(self.dataset)

    @property
    def length(self) -> int:
        """How many samples the data set has."""
        return self._columns.length if self._columns is not None else len(self.dataset)

    def __len__(self) -> int:
        """How many batches an epoch has. Raises TypeError for what is iterated and has no length."""
        if self.batch_sampler is not None:
            return len(self.batch_sampler)  # type: ignore[arg-type]
        count, size = len(self.dataset) if self._streams else self._count(), self.batch_size or 1
        return count // size if self.drop_last else -(-count // size)

    def _batch_count(self) -> int | None:
        """How many batches an epoch has; None where that isn't known before its end."""
        try:
            return len(self)
        except TypeError:
            return None

    def __iter__(self) -> Iterator[Any]:
        if not self._resumed and self._batch:  # the last iteration was left before its end
            self.epoch, self._batch = self.epoch + 1, 0
        self._resumed = False
        return self._batches(self.epoch, self._batch)

    def _batches(self, epoch: int, first: int) -> Iterator[Any]:
        made = self._streamed(epoch, first) if self._streams else self._made(epoch, first)
        for number, batch in enumerate(made, first):
            # Counted before it is handed out: whoever saves the state while working on a batch has got this batch.
            self.epoch, self._batch = epoch, number + 1
            self.share = self._share(number)
            yield batch
        self.epoch, self._batch = epoch + 1, 0

    def _made(self, epoch: int, first: int) -> Iterator[Any]:
        """The batches of an epoch from some number on."""
        tasks = self._tasks(epoch, first)

        def make(number: int, rows: Any) -> Any:
            return self._make(epoch, number, rows)

        def share(worker: int, asked: Callable[[], Any]) -> Iterator[Any]:
            while True:
                number, rows = asked()
                seed_everything(self.seed % 2**64, epoch, number)
                yield make(number, rows)

        if self.num_workers:
            return map(self._taken, self._by_workers(share, tasks, first))
        # a generator, in which a StopIteration of the data set is an error; it would end a map
        made = _ahead(make, tasks) if self.prefetch else (make(*task) for task in tasks)
        return map(self._finished, made) if self._columns is not None else made

    def _tasks(self, epoch: int, first: int) -> Iterator[tuple[int, Any]]:
        """Numbers and rows of the batches from some number on, one by one: a sampler may never end."""
        for number, rows in itertools.islice(enumerate(self._rows(epoch)), first, None):
            self._counts[number] = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
            yield number, rows

    def _rows(self, epoch: int) -> Iterator[Any]:
        """The rows of each batch of an epoch: a slice, or a list of numbers; of arrays that are shuffled an array of them."""
        size = self.batch_size or 1
        if self.batch_sampler is not None:
            yield from map(list, self._drawn(self.batch_sampler, epoch))
        elif self.sampler is not None or (self.shuffle and self._columns is None):
            drawn = iter(self._drawn(self.sampler, epoch) if self.sampler is not None else self.order(epoch).tolist())
            while (rows := list(itertools.islice(drawn, size))) and (len(rows) == size or not self.drop_last):
                yield rows
        else:
            order = self.order(epoch) if self.shuffle else None
            for start in range(0, len(self) * size, size):
                some = slice(start, min(start + size, self.length))
                yield some if order is None else order[some]

    def _drawn(self, sampler: Any, epoch: int) -> Iterable[Any]:
        """What a sampler gives in an epoch, as it gives it."""
        if isinstance(sampler, Sampler) and type(sampler).__iter__ is Sampler.__iter__:
            found = sampler.order(epoch)
        else:
            found = sampler
            for one in (sampler, getattr(sampler, "sampler", None)):  # that of a BatchSampler
                start = getattr(one, "set_epoch", None)
                if start is not None:
                    start(epoch)
        return found.tolist() if isinstance(found, np.ndarray | Tensor) else found

    def _make(self, epoch: int, number: int, rows: Any) -> Any:
        """A batch: of arrays as NumPy's, of samples as `collate_fn` makes it."""
        if self._columns is None:
            numbers = range(rows.start, rows.stop) if isinstance(rows, slice) else rows
            return self._collated(_fetched(self.dataset, numbers[self._own(len(numbers))]))
        if isinstance(rows, list):
            rows = np.array([operator.index(number) for number in rows], np.intp)
        shared = self.part[1] > 1
        if shared and self.augment is None:
            rows = self._part_of(rows)
        if self.batch_size is None and self.batch_sampler is None:  # one sample, without an axis for samples
            rows = rows.start if isinstance(rows, slice) else rows[0]
        batch = self._columns.rows(rows)
        if self.augment is not None:
            batch[0] = self.augment(batch[0], self._generator(epoch, number))
            if shared:  # what is drawn for a sample depends on the whole batch
                own = self._own(len(batch[0]))
                batch = [column[own] for column in batch]
        return self._columns.together(batch) if self.transform is None else self.transform(*batch)

    def _part_of(self, rows: Any) -> Any:
        """This part of the numbers of a batch."""
        if not isinstance(rows, slice):
            return rows[self._own(len(rows))]
        own = self._own(rows.stop - rows.start)
        return slice(rows.start + own.start, rows.start + own.stop)

    def _span(self, count: int) -> tuple[int, int]:
        """Where this part of a batch of so many samples begins and ends: parts as equal as can be, the first ones larger."""
        k, parts = self.part
        least, more = divmod(count, parts)
        start = k * least + min(k, more)
        return start, start + least + (k < more)

    def _own(self, count: int) -> slice:
        """The samples of this part of a batch; the first one, where it has none."""
        start, stop = self._span(count)
        return slice(start, stop) if stop > start else slice(0, 1)

    def _share(self, number: int) -> tuple[int, int]:
        """How many of how many samples this part of a batch stands for."""
        count = self._counts.pop(number)
        if self.part[1] == 1:
            return 1, 1
        start, stop = self._span(count)
        return stop - start, count

    def _collated(self, samples: list[Any]) -> Any:
        if self.batch_size is None and self.batch_sampler is None:
            return default_convert(samples[0], self.tensors) if self.collate_fn is None else self.collate_fn(samples[0])
        if self.collate_fn is not None:
            return self.collate_fn(samples)
        return converted(samples, self.tensors and not self.num_workers)

    def _by_workers(self, batches: Any, tasks: Iterator[Any], first: int) -> Iterator[Any]:
        start, seed = self.worker_init_fn, self.seed
        return by_workers(batches, tasks, first, self.num_workers, self.timeout, start, seed, self.dataset)

    def _streamed(self, epoch: int, first: int) -> Iterator[Any]:
        """The batches of what is iterated, from some number on: by workers, of which each iterates for itself."""
        if not self.num_workers:
            for number, batch in enumerate(self._cut(self.dataset, first), first):
                self._counts = {number: len(batch)}
                yield self._collated(batch[self._own(len(batch))])
            return

        def share(worker: int, asked: Callable[[], Any]) -> Iterator[Any]:
            seed_everything(self.seed % 2**64, epoch, 2**32 + worker)
            own = _share_of(self.dataset, worker, self.num_workers)
            for number, batch in enumerate(self._cut(own, 0)):
                if number == worker == 0 and self.num_workers > 1 and own is self.dataset and not asked_who():
                    warnings.warn(
                        f"DataLoader: each of {self.num_workers} workers iterates all of the {type(own).__name__}, so "
                        "each sample comes so many times; its __iter__ can ask adjoint.data.get_worker_info()",
                        stacklevel=1,
                    )
                yield len(batch), self._collated(batch[self._own(len(batch))])

        made = enumerate(self._by_workers(share, itertools.repeat(True), 0))
        for number, (count, found) in itertools.islice(made, first, None):
            self._counts = {number: count}
            yield self._taken(found)

    def _cut(self, dataset: Any, first: int) -> Iterator[list[Any]]:
        """What is iterated, in batches, from some number on."""
        samples = iter(dataset)
        anew = samples is not dataset  # else it goes on where it was left
        size = self.batch_size or 1
        if anew:
            samples = itertools.islice(samples, first * size, None)
        while True:
            batch = list(itertools.islice(samples, size))
            if not batch or (self.drop_last and len(batch) < size):
                return
            yield batch

    def _taken(self, made: Any) -> Any:
        """A batch of a worker in the form to hand out: what a function of one's own has made stays as it is."""
        return made if self._columns is None and self.collate_fn is not None else self._finished(made)

    def _finished(self, made: Any) -> Any:
        """A batch of arrays in the form to hand out."""
        if not self.tensors:
            return made
        if isinstance(made, Mapping):
            return alike(made, {name: self._finished(array) for name, array in made.items()})
        if isinstance(made, tuple | list):
            fields = [self._finished(array) for array in made]
            return type(made)(*fields) if hasattr(made, "_fields") else type(made)(fields)
        if isinstance(made, np.ndarray | np.generic):
            return self._tensor(made) if made.dtype.kind in "biufc" else made
        return made if self._columns is None or isinstance(made, str | bytes) else asarray(made)

    def _generator(self, epoch: int, number: int) -> np.random.Generator:
        """The random numbers of one batch: a part of Philox's sequence that no other batch, and no order, draws from."""
        # The lowest 64 bits of the counter run while it draws; the order of an epoch draws where the others are zero.
        counter = [0, number + 1, 0, 0]
        return np.random.Generator(np.random.Philox(counter=counter, key=[self.seed % 2**64, epoch]))

    def _tensor(self, array: Any) -> Tensor:
        # A shuffled batch is a fresh array that nobody else holds; an unshuffled one is a view of the caller's.
        fresh = (self.shuffle or self.num_workers) and isinstance(array, np.ndarray) and array.base is None
        return asarray(array, copy=False if fresh else None)

    def order(self, epoch: int) -> Array:
        """The samples' numbers in the order of this epoch: a permutation of 0 to length - 1, or what the sampler says."""
        if self.sampler is not None:
            return np.asarray(list(self._drawn(self.sampler, epoch)))
        return permutation(self.length, self.seed, epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where it is: the epoch, how many of its batches were handed out, and the seed; and how large batches are and how many
        samples there are, None where nothing says so."""
        return {"epoch": self.epoch, "batch": self._batch, "seed": self.seed, **self._sizes()}

    def _sizes(self) -> dict[str, int | None]:
        size = None if self.batch_size is None or self.batch_sampler is not None else int(self.batch_size)
        return {"batch_size": size, "samples": None if self._streams else self.length}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on at `state` with the next `iter`. Raises ValueError when the epoch has no such batch, when it is no loader's
        state, and when it stands in the middle of an epoch of batches of another size, or of another number of samples."""
        if not isinstance(state, Mapping) or not {"epoch", "batch", "seed"} <= state.keys():
            raise ValueError(f"DataLoader: a loader's state has epoch, batch and seed; this one is {state!r:.80}")
        epoch, batch, seed = (int(state[name]) for name in ("epoch", "batch", "seed"))
        count = self._batch_count()
        if epoch < 0 or batch < 0 or (count is not None and batch > count):
            raise ValueError(f"DataLoader: an epoch has {count} batches; the state is at {batch} of epoch {epoch}")
        for name, own in self._sizes().items():
            if batch and state.get(name, own) != own:
                raise ValueError(
                    f"DataLoader: the state is in the middle of an epoch with {name} {state[name]}; here it is {own}"
                )
        self.epoch, self._batch, self.seed = epoch, batch, seed
        self._resumed = True


def _share_of(dataset: Any, worker: int, workers: int) -> Any:
    """What a worker iterates: its shards of a streamed data set of Hugging Face, all of any other."""
    if not (hasattr(dataset, "shard") and hasattr(dataset, "num_shards")):
        return dataset
    parts = min(workers, dataset.num_shards)
    return dataset.shard(parts, worker) if worker < parts else ()


def _fetched(dataset: Any, numbers: Iterable[int]) -> list[Any]:
    """The samples of these numbers, at once where the data set can."""
    several = getattr(dataset, "__getitems__", None)
    return list(several(list(numbers))) if several is not None else [dataset[number] for number in numbers]


def _ahead(make: Callable[..., Any], tasks: Iterator[Any]) -> Iterator[Any]:
    """`make(*task)` for each task, made by a thread while the one before is in use.

    The thread ends with the iteration, also where that is left early. What `make` raises is raised here.
    """
    task = next(tasks, None)
    if task is None:
        return
    with ThreadPoolExecutor(1, thread_name_prefix="adjoint batches") as pool:
        # Modes such as no_grad belong to a context, of which a new thread would get an empty one.
        context = contextvars.copy_context()
        future = pool.submit(context.run, make, *task)
        for task in tasks:
            batch = future.result()
            future = pool.submit(context.run, make, *task)
            yield batch
        yield future.result()
