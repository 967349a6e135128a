"""The same function for many items, by all ranks: sweeps, ensembles, Monte Carlo."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from adjoint import _optional

from .engine import DistributedError
from .group import Group, world

__all__ = ["MapError", "map"]


class Outcome(NamedTuple):
    """What became of an item."""

    number: int
    value: Any
    error: str | None
    tries: int


class MapError(DistributedError):
    """Items that failed in every try. `results` has the values of the others (None in their places), `errors` the tracebacks
    by the items' numbers."""

    def __init__(self, results: list[Any], errors: dict[int, str]) -> None:
        self.results = results
        self.errors = errors
        number, text = next(iter(errors.items()))
        more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
        super().__init__(f"map: item {number} failed{more}; the first one's traceback:\n{text}")


def map(
    f: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    retries: int = 1,
    chunk: int | None = None,
    progress: bool | None = None,
    group: Group | None = None,
    engine: str | None = None,
) -> list[Any]:
    """`[f(x) for x in items]`, the items shared out among all ranks as they get free; all results, in order, on every rank.

    Every rank calls it with the same items. `f` and what it gives must be picklable. An item that raises is tried `retries`
    times more. `chunk` items are taken at a time (None: few enough that the ranks end together). `progress` shows a bar on rank
    0 (None: where the output is a terminal). `engine="ray"` lets the tasks of a Ray cluster do it instead, whatever their number,
    called by one process; `f` then needn't be importable there.

    Alone, this process does all of it. Raises MapError for items that failed every time, ValueError for another engine.

    >>> import adjoint as ad
    >>> ad.distributed.map(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    work = list(items)
    if engine not in (None, "mpi", "ray"):
        raise ValueError(f"map: engine is 'mpi' or 'ray', not {engine!r}")
    shown = sys.stderr.isatty() if progress is None else progress
    if engine == "ray":
        outcomes = _by_ray(f, work, retries, chunk or 1, shown)
    else:
        here = group or world()
        outcomes = _by_ranks(f, work, retries, chunk, shown and here.rank == 0, here)
    results: list[Any] = [None] * len(work)
    errors = {}
    for outcome in outcomes:
        if outcome.error is None:
            results[outcome.number] = outcome.value
        else:
            errors[outcome.number] = outcome.error
    if errors:
        raise MapError(results, dict(sorted(errors.items())))
    return results


def tried(f: Callable[[Any], Any], number: int, item: Any, retries: int) -> Outcome:
    """What becomes of an item."""
    text = ""
    for attempt in range(1, retries + 2):
        try:
            return Outcome(number, f(item), None, attempt)
        except Exception:
            text = traceback.format_exc()
    return Outcome(number, None, text, retries + 1)


def _by_ranks(f: Any, work: Sequence[Any], retries: int, chunk: int | None, shown: bool, group: Group) -> list[Outcome]:
    size = chunk or max(1, min(64, len(work) // (16 * group.size)))
    counter = group.engine.transport.counter()
    own: list[Outcome] = []
    with Bar(len(work), shown) as bar:
        while True:
            first = counter.add(size)
            if first >= len(work):
                break
            own += [tried(f, k, work[k], retries) for k in range(first, min(first + size, len(work)))]
            bar.reach(min(first + size, len(work)))
    found = [outcome for part in group.collect(own) for outcome in part]
    counter.free()
    return found


def _by_ray(f: Any, work: Sequence[Any], retries: int, size: int, shown: bool) -> list[Outcome]:
    ray: Any = _optional.load("ray", purpose="map(engine='ray')", extra="ray")
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    function = ray.put(f)

    def several(f: Any, first: int, items: Sequence[Any]) -> list[Outcome]:
        return [tried(f, first + k, item, retries) for k, item in enumerate(items)]

    task = ray.remote(max_retries=retries)(several)  # again, elsewhere, where a worker died
    waiting = {}
    for first in range(0, len(work), size):
        waiting[task.remote(function, first, work[first : first + size])] = first
    outcomes: list[Outcome] = []
    with Bar(len(work), shown) as bar:
        while waiting:
            (ready,), _ = ray.wait(list(waiting))
            first = waiting.pop(ready)
            try:
                outcomes += ray.get(ready)
            except ray.exceptions.RayError as error:
                outcomes += [
                    Outcome(k, None, str(error), retries + 1) for k in range(first, min(first + size, len(work)))
                ]
            bar.reach(len(outcomes))
    return outcomes


class Bar:
    """How many items are taken, on a terminal."""

    def __init__(self, count: int, shown: bool) -> None:
        self.count = count
        rich: Any = _optional.try_load("rich.progress") if shown else None
        self.bar = rich.Progress(transient=True) if rich is not None else None

    def __enter__(self) -> Bar:
        if self.bar is not None:
            self.bar.start()
            self.task = self.bar.add_task("map", total=self.count)
        return self

    def reach(self, done: int) -> None:
        """So many items are taken."""
        if self.bar is not None:
            self.bar.update(self.task, completed=done)

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.stop()
