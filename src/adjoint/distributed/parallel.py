"""Training the same model on every rank, each on its part of every batch."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adjoint import random
from adjoint.derive import AFTER
from adjoint.graph import record
from adjoint.nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Module
from adjoint.optim import Optimizer
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray, concat, full, zeros
from adjoint.tensors.hooks import add_together
from adjoint.tensors.named import wrap
from adjoint.transforms.host_calls import exact_call
from adjoint.transforms.modes import is_deterministic, no_grad, set_deterministic

from .collectives import all_gather, all_reduce
from .engine import DistributedError
from .group import Group, world

__all__ = ["DataParallel", "Sharing", "data_parallel", "own_stream", "synchronize_batch_norm"]

BUCKET = 1 << 20  # bytes of gradients that are summed together: enough for the bandwidth, few enough to begin early

Array = np.ndarray[Any, Any]
BATCH_NORMS = (BatchNorm1d, BatchNorm2d, BatchNorm3d)


class DataParallel:
    """What `data_parallel` sets up, and a handle on it: `check()`, `remove()`, what was sent and how long was waited."""

    def __init__(self, model: Module, group: Group, bucket_bytes: int) -> None:
        self.model = model
        self.group = group
        self.bucket_bytes = bucket_bytes
        self.sharing: Sharing | None = None
        self.synchronized = False
        self.was_deterministic = is_deterministic()
        self.parameters = [p for p in model.parameters() if p.node.tracked]
        self.handles = [add_together(p, self._average) for p in self.parameters] if group.size > 1 else []

    def remove(self) -> None:
        """Let `backward()` give each rank its own gradients again, and `set_deterministic` be as it was."""
        if self.handles:
            set_deterministic(self.was_deterministic)
        for handle in self.handles:
            handle.remove()
        self.handles = []

    @property
    def bytes_sent(self) -> int:
        """How many bytes of gradients this rank has sent to others so far."""
        return self.group.background.engine.bytes_sent if self.group.size > 1 else 0

    @property
    def seconds_waited(self) -> float:
        """How long steps have stood still for the others' gradients so far."""
        return self.group.background.blocked if self.group.size > 1 else 0.0

    def check(self) -> None:
        """Raise DistributedError, naming what and where, unless the parameters are the same bits on all ranks.

        Called by every rank.
        """
        if self.group.size == 1:
            return
        named = list(self.model.named_parameters())
        own = np.array([zlib.crc32(x.numpy().tobytes()) for _, x in named], np.int64)
        all_ranks = self.group.engine.gather("the check of the parameters", own)
        for (name, _), column in zip(named, all_ranks.T, strict=True):
            others = np.flatnonzero(column != column[0])
            if len(others):
                raise DistributedError(f"{name} differs between rank 0 and rank {', '.join(map(str, others))}")

    def mean(self, loss: float, stop: bool = False) -> tuple[float, bool]:
        """The mean of a number over the ranks, and whether one of them wants to stop. Called by every rank, after each step.

        Floating-point buffers (running statistics) become the means over the ranks as well.
        """
        group = self.group
        buffers = [] if self.synchronized else [x for x in self.model.buffers() if x.dtype.inexact]
        values = [x.numpy() for x in buffers]
        flat = np.concatenate([np.array([loss, stop]), *[v.reshape(-1) for v in values]], dtype=np.float64)
        total = group.engine.sum("the loss", flat)
        start = 2
        for x, value in zip(buffers, values, strict=True):
            mean = total[start : start + value.size] / group.size
            x.data = asarray(mean.reshape(value.shape).astype(value.dtype))
            start += value.size
        return float(total[0] / group.size), bool(total[1])

    def _average(self, tensors: Sequence[Tensor]) -> None:
        """Put the mean over the ranks in the place of gradients that `backward()` has just left."""
        with no_grad():
            group = self.group
            pieces = list(self._buckets([t for t in reversed(tensors) if t.grad is not None]))
            tickets: list[Tensor] = []
            for piece in pieces:
                before = tickets[-1:]  # so that all ranks begin them in one order
                begin = group.function(_begin, len(before), piece is pieces[-1])
                tickets.append(exact_call(begin, *before, *[t.grad for t in piece], shape=(), dtype="int64"))
            means = []
            for piece, ticket in zip(pieces, tickets, strict=True):
                # After the last has begun: what waits keeps the reverse pass from going on.
                finish = group.function(_finish)
                count = sum(t.size for t in piece)
                means.append(exact_call(finish, ticket, tickets[-1], shape=(count,), dtype=piece[0].dtype))
            everything = [mean.node for mean in means]
            for piece, mean in zip(pieces, means, strict=True):
                # Nothing is updated before all means are there: what follows host code may lie where the old values are.
                mean = wrap(record(AFTER, (mean.node, *everything), None, mean.node.type))
                start = 0
                for t in piece:
                    t.grad = mean[start : start + t.size].reshape(t.shape)
                    start += t.size

    def _buckets(self, tensors: Sequence[Tensor]) -> Iterator[list[Tensor]]:
        """Tensors that are summed together: of one dtype, in the order in which the reverse pass has their gradients."""
        piece: list[Tensor] = []
        size = 0
        for t in tensors:
            if piece and (t.dtype != piece[0].dtype or size >= self.bucket_bytes):
                yield piece
                piece, size = [], 0
            piece.append(t)
            size += t.size * t.dtype.itemsize
        if piece:
            yield piece


def _begin(group: Group, before: int, soon: bool, *arrays: Array) -> Array:
    return np.array(group.background.begin("gradients", arrays[before:], soon), np.int64)


def _finish(group: Group, ticket: Array, last: Array) -> Array:
    return group.background.finish(int(ticket))


def data_parallel(
    model: Module,
    optimizer: Optimizer | None = None,
    group: Group | None = None,
    *,
    bucket_bytes: int = BUCKET,
    shard_state: bool = False,
    sync_batch_norm: bool = False,
) -> DataParallel:
    """Train a model by all ranks together, each on its part of every batch: `backward()` leaves the mean over the ranks in
    `.grad`.

    Parameters and buffers become those of rank 0, and so does the optimizer's state. From then on the parameters stay the same
    bits on every rank: gradients are added up in the order of the ranks, in buckets of about `bucket_bytes`, compiled steps
    included, and `ad.set_deterministic` is on from here on, so that every run has the same bits. A thread begins with each
    bucket as soon as the program has it. Draws of `ad.random` (dropout) differ between ranks from here on.

    With `shard_state` each rank keeps the optimizer's state of a part of the parameters alone, updates those, and gets the
    others' new values from their ranks (S. Rajbhandari et al., "ZeRO", 2020, stage 1). With `sync_batch_norm` the model's batch
    normalizations take mean and variance of all ranks' batches together.

    Alone, nothing changes. Called by every rank. Raises DistributedError where the ranks' models differ in their shapes,
    ValueError for a model without parameters.

    >>> import adjoint as ad
    >>> model = ad.nn.Linear(3, 2)
    >>> parallel = ad.distributed.data_parallel(model, ad.optim.SGD(model.parameters(), lr=0.1))
    >>> parallel.check()
    """
    here = group or world()
    if shard_state and optimizer is None:
        raise ValueError("data_parallel: shard_state needs the optimizer")
    made = DataParallel(model, here, bucket_bytes)
    if not made.parameters:
        raise ValueError("data_parallel: the model has no parameters to train")
    if here.size > 1:
        set_deterministic()  # else time decides when a structure is compiled, on each rank for itself
        _take_over(here, model, optimizer)
        own_stream(here)
        if sync_batch_norm:
            synchronize_batch_norm(model, here)
            made.synchronized = True
        if shard_state and optimizer is not None:
            optimizer.sharing = made.sharing = Sharing(optimizer, here)
    return made


def _take_over(group: Group, model: Module, optimizer: Optimizer | None) -> None:
    """Take rank 0's parameters, buffers and optimizer's state, and where its random numbers are."""
    tensors = [x for _, x in [*model.named_parameters(), *model.named_buffers()]]
    with no_grad():
        for x in tensors:
            x.data = asarray(group.engine.broadcast("the parameters", x.numpy(), 0))
    state = None if optimizer is None else optimizer.state_dict()
    state, generator = group.share((state, random.default_generator.__getstate__()))
    if optimizer is not None:
        optimizer.load_state_dict(state)
    random.default_generator.state = generator


def own_stream(group: Group) -> None:
    """Let the default generator draw other numbers on each rank: what follows from its key and the rank; on rank 0 as it was."""
    if group.rank:
        key, counter = random.default_generator.__getstate__()
        mixed = np.random.SeedSequence([key, group.rank]).generate_state(1, np.uint64)[0]
        random.default_generator.state = [int(mixed), counter]


class Sharing:
    """Which rank keeps the optimizer's state of which parameters, and updates them."""

    def __init__(self, optimizer: Optimizer, group: Group) -> None:
        self.group = group
        parameters = [p for g in optimizer.param_groups for p in g["params"]]
        self.owners = _balanced([p.size * p.dtype.itemsize for p in parameters], group.size)
        for number, state in enumerate(optimizer._states):
            if not self.mine(number):
                state.clear()

    def mine(self, number: int) -> bool:
        """Whether this rank updates the parameter of this number."""
        return self.owners[number] == self.group.rank

    def spread(self, numbered: Sequence[tuple[int, Tensor]]) -> None:
        """Give all ranks the new values of those parameters that were updated, each by its owner."""
        kinds = dict.fromkeys(p.dtype for _, p in numbered)
        for kind in kinds:
            parts: list[list[Tensor]] = [[] for _ in range(self.group.size)]
            for number, p in numbered:
                if p.dtype == kind:
                    parts[self.owners[number]].append(p)
            longest = max(sum(p.size for p in part) for part in parts)
            own = [p.data.reshape(-1) for p in parts[self.group.rank]]
            short = longest - sum(p.size for p in own)
            flat = concat([*own, zeros(short, dtype=kind)]) if short or not own else concat(own)
            rows = all_gather(flat, self.group)
            for owner, part in enumerate(parts):
                start = 0
                for p in part:
                    if owner != self.group.rank:
                        p.data = rows[owner, start : start + p.size].reshape(p.shape)
                    start += p.size

    def whole(self, entries: dict[int, Any]) -> dict[int, Any]:
        """The state of all parameters, by number, from the ranks that keep them. Called by every rank."""
        found: dict[int, Any] = {}
        for part in self.group.collect({k: entry for k, entry in entries.items() if self.mine(k)}):
            found.update(part)
        return {k: found[k] for k in sorted(found)}


def _balanced(sizes: Sequence[int], parts: int) -> list[int]:
    """A part for each of the sizes, so that the parts' sums are about equal: the largest first, each to the least so far."""
    loads = [0] * parts
    owners = [0] * len(sizes)
    for number in sorted(range(len(sizes)), key=lambda k: -sizes[k]):
        owners[number] = loads.index(min(loads))
        loads[owners[number]] += sizes[number]
    return owners


# Batch normalization --------------------------------------------------------------------------------------------------


def synchronize_batch_norm(model: Module, group: Group | None = None) -> int:
    """Let a model's batch normalizations take mean and variance of all ranks' batches together; how many there are."""
    here = group or world()
    found = [layer for layer in model.modules() if isinstance(layer, BATCH_NORMS)]
    for layer in found:
        layer.statistics = functools.partial(statistics, group=here)
    return len(found)


def statistics(x: Tensor, group: Group) -> tuple[Tensor, Tensor, Tensor]:
    """Mean and variance (without correction) of the channels of all ranks' x, and how many values each has."""
    axes = (0, *range(2, x.ndim))
    count = all_reduce(full((), float(x.size // x.shape[1]), dtype=x.dtype), group=group)
    mean = all_reduce(x.sum(axis=axes), group=group) / count
    away = x - mean.reshape((-1, *[1] * (x.ndim - 2)))
    return mean, all_reduce((away * away).sum(axis=axes), group=group) / count, count
