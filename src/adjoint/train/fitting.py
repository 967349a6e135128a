"""The training loop for those who don't want to write it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from typing import Any

from adjoint import _optional
from adjoint.data import DataLoader
from adjoint.distributed import DataParallel, data_parallel
from adjoint.nn import Module
from adjoint.optim import AveragedModel, LRScheduler, Optimizer
from adjoint.tensors import Tensor
from adjoint.tensors.conversion import a
from adjoint.tensors.located import at_user
from adjoint.tensors.named import variable_of
from adjoint.tensors.waiting import Waiting

from .history import History
from .log import LogPath
from .progress import NoProgress, Progress, make_progress
from .run import Run
from .stopping import EarlyStopping

__all__ = ["fit"]


def fit(
    model: Module,
    loss: Callable[[Any, Any], Tensor],
    optimizer: Optimizer,
    data: Iterable[tuple[Any, Any]],
    *,
    epochs: int = 1,
    validate: Callable[[Module], Mapping[str, float]] | None = None,
    schedule: Callable[[float], float] | LRScheduler | None = None,
    schedule_each: str = "step",
    clip_norm: float | None = None,
    compile: bool = False,
    average: AveragedModel | None = None,
    early_stopping: EarlyStopping | None = None,
    log: LogPath | Sequence[LogPath] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int | None = None,
    resume: bool = False,
    settings: Mapping[str, Any] | None = None,
    progress: bool | Progress | None = None,
    distributed: bool | DataParallel = False,
) -> History:
    """Train a model: for each batch `(x, y)` of `data`, one step down the gradient of `loss(model(x), y)`.

    `data` is iterated once for each epoch, so a `DataLoader` fits. `validate(model)` measures after each epoch, in evaluation
    mode and without recording; it returns numbers by name, and those whose names end in "accuracy" are shown as percentages.
    With `average`, an `optim.AveragedModel` that is updated after each step, it is the averaged model that is measured, and
    kept by `early_stopping`.

    `schedule` is one of `optim`, stepped after each step or (`schedule_each="epoch"`) each epoch; or a function that gives the
    factor on the optimizer's learning rates when that part of all steps, from 0 to 1, is done, for which `data` must have a
    length. `clip_norm` limits the norm of all gradients together. With `compile` the step goes through `ad.jit`: faster, for a
    model and a loss that need no value while they are recorded.

    `log` is a file that gets a line of JSON for each step and each epoch; one called `tensorboard` is a folder of the files
    that TensorBoard reads, and several may be given: `log=["run/log.jsonl", "run/tensorboard"]`.
    `checkpoint` is a safetensors file that is replaced after each epoch, after every `checkpoint_every` steps, and when Ctrl-C
    ends training. With `resume` training goes on from it, if it is there, and comes to the same weights, bit for bit, as a run
    that was never stopped; if it is damaged, from the one before it, which is kept, too. For that every random number must come
    from `data` or from `ad.random`. `settings` are stored with it, and others are refused when resuming.

    `progress` is True for a bar, False for a line for each epoch, None for what suits the output, or an object that shows it.

    With `distributed` all ranks of a job (`mpiexec -n 4 python program.py`) train together, by what `distributed.data_parallel`
    gives or by its defaults: a `DataLoader` hands each its part of every batch, losses are means over all ranks, every rank
    measures, rank 0 writes and speaks, first of which process is which rank. All ranks can read log and checkpoint.

    Ctrl-C ends training after the step at hand; a second one interrupts at once. Raises FloatingPointError when the
    loss is not finite; TypeError for a batch that is no pair and for a loss or metrics of another type; ValueError when the loss
    is no single number, `data` has no batches, or a checkpoint doesn't fit; OSError where log or checkpoint can't be written,
    which leaves the last checkpoint as it was.
    """
    steps = _length(data)
    _check_kinds(model, loss, optimizer, schedule, epochs)
    _check(callable(schedule) and steps is None, schedule_each, checkpoint, checkpoint_every, resume)
    _warn_of_strangers(model, optimizer)
    parallel = _together(distributed, model, optimizer, data)
    leads = parallel is None or not parallel.group.rank  # who writes and speaks
    run = Run(
        model=model, loss=loss, optimizer=optimizer, data=data, epochs=epochs, steps=steps, validate=validate,
        schedule=schedule, schedule_each=schedule_each, clip_norm=clip_norm, average=average, stopping=early_stopping,
        checkpoint=checkpoint, every=checkpoint_every, settings=dict(settings or {}),
        shown=_display(progress if leads else NoProgress(), parallel), compiled=compile, parallel=parallel,
    )  # fmt: skip
    if resume:
        run.restore()
    return run.train(log if leads else None)


def _length(data: Iterable[Any]) -> int | None:
    """How many batches an epoch has; None where nobody knows: a loader of what is iterated may have no length."""
    try:
        return len(data) if isinstance(data, Sized) else None
    except TypeError:
        return None


def _warn_of_strangers(model: Module, optimizer: Optimizer) -> None:
    """Warn where an optimizer changes nothing of a model that could be trained: it is another model's."""
    trained = [p for p in model.parameters() if p.requires_grad]
    given = [p for group in optimizer.param_groups for p in group["params"]]
    if any(isinstance(p, Waiting) for p in (*trained, *given)):  # which have no variables yet
        return
    own, changed = ({variable_of(p.node) for p in some} for some in (trained, given))
    if own and own.isdisjoint(changed):
        warnings.warn(
            f"fit: the optimizer has none of the parameters of this {type(model).__name__}, which stays as it is{at_user()}",
            UserWarning,
            stacklevel=3,
        )


def _display(progress: bool | Progress | None, parallel: DataParallel | None) -> Progress:
    """What shows how far training is; of several ranks, first which process is which."""
    shown = make_progress(progress) if progress is None or isinstance(progress, bool) else progress
    if parallel is not None:
        shown.line(parallel.group.processes())
    return shown


def _together(
    distributed: bool | DataParallel, model: Module, optimizer: Optimizer, data: Iterable[Any]
) -> DataParallel | None:
    """Who else trains; None for nobody."""
    if distributed is False:
        return None
    parallel = data_parallel(model, optimizer) if distributed is True else distributed
    group = parallel.group
    if group.size == 1:
        return None
    if isinstance(data, DataLoader) and data.part == (0, 1):
        data.part = (group.rank, group.size)
    return parallel


def _check_kinds(model: Any, loss: Any, optimizer: Any, schedule: Any, epochs: Any) -> None:
    """Raise TypeError for what is none, as where two arguments are exchanged."""
    if not (schedule is None or callable(schedule) or isinstance(schedule, LRScheduler)):
        raise TypeError(
            f"fit: schedule is one of optim, or a function of the part that is done, not {schedule!r}{at_user()}"
        )
    for name, given, attribute in (("model", model, "parameters"), ("optimizer", optimizer, "param_groups")):
        if not hasattr(given, attribute):
            raise TypeError(
                f"fit: it takes a model, a loss, an optimizer and data; the {name} is {a(given)}{at_user()}"
            )
    if not callable(loss):
        raise TypeError(
            f"fit: the loss is a function of model(x) and y, such as nn.functional.mse_loss, not {loss!r}{at_user()}"
        )
    if not isinstance(epochs, int):
        raise TypeError(f"fit: epochs is a whole number, not {epochs!r}{at_user()}")


def _check(
    endless: bool,
    schedule_each: str,
    checkpoint: str | os.PathLike[str] | None,
    checkpoint_every: int | None,
    resume: bool,
) -> None:
    """Raise for options that say nothing or exclude each other, and for what is missing when the first checkpoint is due."""
    if endless:
        raise ValueError("fit: a schedule needs data that has a length")
    if schedule_each not in ("step", "epoch"):
        raise ValueError(f"fit: schedule_each is 'step' or 'epoch', not {schedule_each!r}")
    if (resume or checkpoint_every is not None) and checkpoint is None:
        raise ValueError("fit: resume and checkpoint_every need the name of a checkpoint")
    if checkpoint_every is not None and checkpoint_every < 1:
        raise ValueError(f"fit: checkpoint_every must be at least 1, not {checkpoint_every}")
    if checkpoint is not None:  # it should be missed before the work
        _optional.load("safetensors.numpy", purpose="saving checkpoints", extra="train")
