"""Batches from arrays, in an order that a seed decides and a run can be resumed in."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray

__all__ = ["DataLoader"]


class DataLoader:
    """Batches of an array, or of several arrays of one length that belong together.

    `arrays` is an array (or tensor), or a tuple of them; a batch is a tensor, or a tuple of tensors, of up to
    `batch_size` rows each. Every `iter` starts a new epoch. With `shuffle` each epoch has an order of its own that
    depends on `seed` and the epoch's number alone, on every machine. `drop_last` leaves out a smaller last batch.
    `transform(*arrays)` gets each batch as NumPy arrays and returns the array or the tuple of arrays to hand out.
    `augment(array, generator)`, such as a `data.Augmentation`, first changes the first array of each batch at random.
    With `tensors=False` the batches stay NumPy arrays.

    With `prefetch` a thread prepares the next batch while the caller works on one. It pays where preparing takes
    longer than the 0.05 ms that handing over costs (augmentation, large batches), and a core is idle.
    The batches are the same either way: `augment` draws from a generator of each batch's own, which seed, epoch and the
    batch's number decide.

    `state_dict()` says where in the epoch it is, and a loader that loads it goes on there with the next `iter`, with
    the same batches as if it had never stopped.

    Raises ValueError when there are no rows, when lengths differ, or for a batch size below 1.
    """

    def __init__(
        self,
        arrays: Any,
        batch_size: int,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
        *,
        transform: Callable[..., Any] | None = None,
        augment: Callable[[np.ndarray, np.random.Generator], np.ndarray] | None = None,
        prefetch: bool = False,
        tensors: bool = True,
    ) -> None:
        self.single = not isinstance(arrays, tuple | list)
        self.arrays = tuple(np.asarray(array) for array in ((arrays,) if self.single else arrays))
        lengths = [array.shape[0] if array.ndim else 0 for array in self.arrays]
        if not lengths or min(lengths) == 0:
            raise ValueError(f"DataLoader: there are no rows to make batches of; the arrays have {lengths}")
        if len(set(lengths)) > 1:
            raise ValueError(f"DataLoader: arrays that belong together must be of one length; they have {lengths} rows")
        if batch_size < 1:
            raise ValueError(f"DataLoader: the batch size must be at least 1, not {batch_size}")
        if drop_last and batch_size > lengths[0]:
            raise ValueError(f"DataLoader: with drop_last, {lengths[0]} rows make no batch of {batch_size}")
        self.length = lengths[0]
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.seed = seed
        self.drop_last = drop_last
        self.transform = transform
        self.augment = augment
        self.prefetch = prefetch
        self.tensors = tensors
        self.epoch = 0
        self._batch = 0  # batches handed out of this epoch
        self._resumed = False

    def __len__(self) -> int:
        """How many batches an epoch has."""
        return self.length // self.batch_size if self.drop_last else -(-self.length // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        if not self._resumed and self._batch:  # the last iteration was left before its end
            self.epoch, self._batch = self.epoch + 1, 0
        self._resumed = False
        return self._batches(self.epoch, self._batch)

    def _batches(self, epoch: int, first: int) -> Iterator[Any]:
        order = self.order(epoch) if self.shuffle else None
        count = len(self)

        def make(number: int) -> Any:
            return self._make(epoch, number, order)

        made: Iterator[Any] = _ahead(make, first, count) if self.prefetch else map(make, range(first, count))
        for number, batch in zip(range(first, count), made, strict=True):
            # Counted before it is handed out: whoever saves the state while working on a batch has got this batch.
            self.epoch, self._batch = epoch, number + 1
            yield batch
        self.epoch, self._batch = epoch + 1, 0

    def _make(self, epoch: int, number: int, order: np.ndarray | None) -> Any:
        rows = slice(number * self.batch_size, (number + 1) * self.batch_size)
        batch = [array[rows if order is None else order[rows]] for array in self.arrays]
        if self.augment is not None:
            batch[0] = self.augment(batch[0], self._generator(epoch, number))
        made: Any = batch[0] if self.single else tuple(batch)
        if self.transform is not None:
            made = self.transform(*batch)
        if not self.tensors:
            return made
        if isinstance(made, tuple):
            return tuple(self._tensor(array) for array in made)
        return self._tensor(made)

    def _generator(self, epoch: int, number: int) -> np.random.Generator:
        """The random numbers of one batch: a part of Philox's sequence that no other batch, and no order, draws from."""
        # The lowest 64 bits of the counter run while it draws; the order of an epoch draws where the others are zero.
        counter = [0, number + 1, 0, 0]
        return np.random.Generator(np.random.Philox(counter=counter, key=[self.seed % 2**64, epoch]))

    def _tensor(self, array: Any) -> Tensor:
        # A shuffled batch is a fresh array that nobody else holds; an unshuffled one is a view of the caller's.
        fresh = self.shuffle and isinstance(array, np.ndarray) and array.base is None
        return asarray(array, copy=False if fresh else None)

    def order(self, epoch: int) -> np.ndarray:
        """The rows in the order of this epoch, a permutation of 0 to length - 1.

        It sorts the raw output of Philox, which NumPy never changes, unlike the permutations of its generators.
        """
        keys = np.random.Philox(key=[self.seed % 2**64, epoch]).random_raw(self.length)
        return np.argsort(keys, kind="stable")

    def state_dict(self) -> dict[str, int]:
        """Where it is: the epoch, how many of its batches were handed out, and the seed."""
        return {"epoch": self.epoch, "batch": self._batch, "seed": self.seed}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on at `state` with the next `iter`. Raises ValueError when the epoch has no such batch."""
        epoch, batch, seed = (int(state[name]) for name in ("epoch", "batch", "seed"))
        if epoch < 0 or not 0 <= batch <= len(self):
            raise ValueError(f"DataLoader: an epoch has {len(self)} batches; the state is at {batch} of epoch {epoch}")
        self.epoch, self._batch, self.seed = epoch, batch, seed
        self._resumed = True


def _ahead(make: Callable[[int], Any], first: int, count: int) -> Iterator[Any]:
    """`make(number)` for the numbers from `first` up to `count`, each made by a thread while the one before is in use.

    The thread ends with the iteration, also where that is left early. What `make` raises is raised here.
    """
    if first == count:
        return
    with ThreadPoolExecutor(1, thread_name_prefix="adjoint batches") as pool:
        # Modes such as no_grad belong to a context, of which a new thread would get an empty one.
        context = contextvars.copy_context()
        future = pool.submit(context.run, make, first)
        for number in range(first + 1, count + 1):
            batch = future.result()
            if number < count:
                future = pool.submit(context.run, make, number)
            yield batch
