"""One run of `fit`: the loop over epochs and steps, and what of it a checkpoint holds."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adjoint import _files, random
from adjoint.distributed import DataParallel
from adjoint.distributed.parallel import own_stream
from adjoint.nn import Module
from adjoint.nn.utils import clip_grad_norm_
from adjoint.optim import AveragedModel, LRScheduler, Optimizer
from adjoint.optim.rates import give_rate, rate_of
from adjoint.tensors import Tensor
from adjoint.tensors.conversion import a
from adjoint.tracer.jit import jit
from adjoint.transforms.modes import deterministically, no_grad

from .checkpoints import DamagedCheckpoint, load_checkpoint, previous, save_checkpoint
from .history import Epoch, History, describe
from .interrupt import StopOnInterrupt
from .log import LogPath, Logs
from .progress import Progress
from .stopping import EarlyStopping

__all__ = ["Run"]


@dataclasses.dataclass
class Run:
    """The arguments of `fit`, and where training is."""

    model: Module
    loss: Callable[[Any, Any], Tensor]
    optimizer: Optimizer
    data: Iterable[tuple[Any, Any]]
    epochs: int
    steps: int | None
    validate: Callable[[Module], Mapping[str, float]] | None
    schedule: Callable[[float], float] | LRScheduler | None
    schedule_each: str
    clip_norm: float | None
    average: AveragedModel | None
    stopping: EarlyStopping | None
    checkpoint: str | os.PathLike[str] | None
    every: int | None
    settings: dict[str, Any]
    shown: Progress
    compiled: bool
    parallel: DataParallel | None = None
    history: History = dataclasses.field(default_factory=History)
    first: int = 0  # how many steps were done when the epoch at hand began

    def __post_init__(self) -> None:
        self.rates = [rate_of(group) for group in self.optimizer.param_groups]
        self.descend = jit(self._descend) if self.compiled else self._descend
        self.stopping_together = False

    @property
    def step(self) -> int:
        """How many steps are done."""
        return len(self.history.losses)

    def train(self, log_path: LogPath | Sequence[LogPath] | None) -> History:
        """Do the epochs that are left."""
        history = self.history
        try:
            with contextlib.ExitStack() as stack:
                stack.enter_context(deterministically())  # a resumed run must come to the same bits
                log = stack.enter_context(Logs(log_path, history.resumed_at or None)) if log_path else None
                stop = stack.enter_context(StopOnInterrupt())
                while len(history.epochs) < self.epochs and not history.stopped_early and not history.interrupted:
                    self._epoch(stop, log)
            if history.stopped_early and self.stopping is not None:
                self.stopping.restore(self._measured())
        finally:
            self.shown.close()
            if not isinstance(self.schedule, LRScheduler):
                self._set_rates(1.0)
        return history

    def _epoch(self, stop: StopOnInterrupt, log: Logs | None) -> None:
        number = len(self.history.epochs) + 1
        started = time.perf_counter()
        self.model.train()
        self.shown.start(number, self.epochs, self.steps)
        for batch in self._batches():
            self._one(batch, number, stop)
            loss = self.history.losses[-1]
            if log is not None:
                log.write(step=self.step, epoch=number, loss=loss, rate=self.history.rates[-1])
            self.shown.advance(loss)
            if self.stopping_together:
                break
            if self.every is not None and self.step % self.every == 0:
                self.save()
        if self.step == self.first:
            raise ValueError("fit: the data has no batches (an iterator serves for one epoch only)")
        if self.stopping_together:  # before the epoch is closed: who resumes goes on in the middle of it
            self.history.interrupted = True
            self.save()
        self._close(number, started, log)

    def _batches(self) -> Iterator[Any]:
        """The batches that are left of the epoch."""
        done = self.step - self.first
        # A loader that was restored goes on by itself; anything else begins anew, and what was done is passed over.
        return iter(self.data) if hasattr(self.data, "load_state_dict") else itertools.islice(self.data, done, None)

    def _one(self, batch: Any, epoch: int, stop: StopOnInterrupt) -> None:
        """One step."""
        if callable(self.schedule) and self.steps:
            self._set_rates(self.schedule(min(self.step / (self.epochs * self.steps), 1.0)))
        rate = float(self.optimizer.param_groups[0]["lr"])
        where = f"step {self.step - self.first + 1} of epoch {epoch}"
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            found = f"{len(batch)} parts" if isinstance(batch, tuple | list) else a(batch)
            raise TypeError(
                f"fit: a batch is a pair (inputs, targets); that of {where} is {found}. Of two arrays "
                "DataLoader((inputs, targets), batch_size=...) makes pairs, of other samples its transform or collate_fn"
            )
        inputs, targets = batch
        if 0 in getattr(inputs, "shape", ())[:1]:
            raise ValueError(f"fit: the batch of {where} is empty; its inputs have the shape {inputs.shape}")
        try:
            value = self.descend(inputs, targets, *self._weight())
        except IndexError as error:
            raise IndexError(f"{error} (at {where}; is a label outside of the model's classes?)") from error
        number = float(value.item())  # read after the step, whose one evaluation has computed it on the way
        self.stopping_together = stop.requested
        if self.parallel is not None:
            number, self.stopping_together = self.parallel.mean(number, stop.requested)
        if not math.isfinite(number):
            raise FloatingPointError(
                f"the loss became {number} at {where}. A smaller learning rate often helps, or clip_norm; so does looking "
                "for NaN in the data. ad.explain_nan(loss) shows where it began"
            )
        if self.average is not None:
            self.average.update_parameters(self.model)
        if isinstance(self.schedule, LRScheduler) and self.schedule_each == "step":
            self.schedule.step()
        self.history.losses.append(number)
        self.history.rates.append(rate)

    def _weight(self) -> tuple[float, ...]:
        """What the loss of this rank's part of the batch counts, where the parts differ: their mean is that of the batch."""
        share = getattr(self.data, "share", None)
        if self.parallel is None or share is None:
            return ()
        return (share[0] * self.parallel.group.size / share[1],)

    def _descend(self, inputs: Any, targets: Any, *weight: Any) -> Tensor:
        """One step down the gradient; gives the loss."""
        value = self.loss(self.model(inputs), targets)
        if weight:
            value = value * weight[0]
        if not isinstance(value, Tensor):
            raise TypeError(f"fit: the loss must be a tensor of a single number, not a {type(value).__name__}")
        if value.shape != ():
            raise ValueError(f"fit: the loss must be a single number; its shape is {value.shape}")
        self.optimizer.zero_grad()
        value.backward()
        if self.clip_norm is not None:
            clip_grad_norm_(self.model.parameters(), self.clip_norm)
        self.optimizer.step()
        return value

    def _close(self, number: int, started: float, log: Logs | None) -> None:
        """What follows the last step of an epoch: measuring, stopping, saving."""
        history = self.history
        mean = float(np.mean(history.losses[self.first :]))
        metrics = self._measure()
        epoch = Epoch(number, mean, metrics, time.perf_counter() - started)
        history.epochs.append(epoch)
        self.shown.line(describe(epoch, self.epochs))
        if history.interrupted:  # an epoch that isn't whole stands in no log and in no checkpoint
            return
        if log is not None:
            log.write(step=self.step, epoch=number, mean_loss=mean, seconds=round(epoch.seconds, 3), **metrics)
        if self.stopping is not None:
            history.stopped_early = self.stopping.update(number, {"loss": mean, **metrics}, self._measured())
        if isinstance(self.schedule, LRScheduler) and self.schedule_each == "epoch":
            self.schedule.step()
        self.first = self.step
        self.save()

    def _measured(self) -> Module:
        return self.model if self.average is None else self.average.module

    def _measure(self) -> dict[str, float]:
        if self.validate is None:
            return {}
        model = self._measured()
        model.eval()
        try:
            with no_grad():
                found = self.validate(model)
                if not isinstance(found, Mapping):
                    raise TypeError(f"fit: validate returns numbers by name, not a {type(found).__name__}")
                return {name: float(value) for name, value in found.items()}
        finally:
            model.train()

    def _set_rates(self, factor: float) -> None:
        for group, rate in zip(self.optimizer.param_groups, self.rates, strict=True):
            give_rate(group, factor * rate)

    # ---------------------------------------------------------------- checkpoints

    def _parts(self) -> dict[str, Any]:
        """Everything whose state training goes on from."""
        parts = {
            "model": self.model,
            "optimizer": self.optimizer,
            "schedule": self.schedule if isinstance(self.schedule, LRScheduler) else None,
            "average": self.average,
            "early stopping": self.stopping,
            "data": self.data if hasattr(self.data, "load_state_dict") else None,
            "history": self.history,
        }
        return {name: part for name, part in parts.items() if part is not None}

    def save(self) -> None:
        """Write the checkpoint, if there is to be one."""
        if self.checkpoint is None:
            return
        place: dict[str, Any] = {"first": self.first}
        if self.parallel is not None:
            self.parallel.check()
            place["streams"] = self.parallel.group.collect(random.default_generator.__getstate__())
            if self.parallel.group.rank:
                self.optimizer.state_dict()  # which all ranks make together, where each keeps a part
                return
        save_checkpoint(self.checkpoint, place=place, settings=self.settings, **self._parts())

    def restore(self) -> None:
        """Go on from the checkpoint, or from the one before it where that is damaged; without one, from the start."""
        assert self.checkpoint is not None
        path = Path(self.checkpoint)
        _files.remove_leftovers(path.parent, path.name)
        if not path.exists() and not previous(path).exists():
            self.shown.line(f"no checkpoint {path} yet: training from the start")
            return
        try:
            found = self._load(path)
        except (DamagedCheckpoint, FileNotFoundError) as error:
            if not previous(path).exists():
                raise
            self.shown.line(f"{error}; going on from the one before it")
            found = self._load(previous(path))
            if path.exists():  # else the next save would keep the damaged one, and give up the good one
                path.replace(path.with_name(f"{path.stem}.damaged{path.suffix}"))
        self.first = found["place"]["first"]
        if self.parallel is not None:
            self._own_stream(found["place"].get("streams", ()))
        self.history.resumed_at = self.step
        if len(self.history.epochs) < self.epochs:
            self.shown.line(f"resumed at step {self.step}, in epoch {len(self.history.epochs) + 1}")

    def _own_stream(self, streams: Sequence[Any]) -> None:
        """Go on with this rank's random numbers; of another number of ranks, with what follows from rank 0's."""
        assert self.parallel is not None
        group = self.parallel.group
        if len(streams) == group.size:
            random.default_generator.state = streams[group.rank]
        else:
            own_stream(group)

    def _load(self, path: Path) -> dict[str, Any]:
        return load_checkpoint(path, check=self._check, **self._parts())

    def _check(self, values: Mapping[str, Any]) -> None:
        """Raise ValueError when a checkpoint was made with other settings."""
        saved = values.get("settings", {})
        names = sorted(set(saved) | set(self.settings))
        differ = [
            f"{name} was {saved.get(name)!r} and is {self.settings.get(name)!r}"
            for name in names
            if saved.get(name) != self.settings.get(name)
        ]
        if differ:
            raise ValueError(
                f"it was made with other settings: {'; '.join(differ)}. Resume with those, or train anew elsewhere"
            )
