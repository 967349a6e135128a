"""The same function for many items, by all ranks: sweeps, ensembles, Monte Carlo."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from adjoint import _optional

from .engine import DistributedError
from .group import Group, world
from .ray_engine import connect

__all__ = ["MapError", "map"]

PORTION = 0.1  # seconds that the items should take that are taken at a time
PARTS = 3  # what is left is taken in so many portions for each of those who share, or more
AHEAD = 2  # portions that wait at Ray for each of its cores: one is computed, one is on its way


class Outcome(NamedTuple):
    """What became of an item."""

    number: int
    value: Any
    error: str | None
    tries: int


class Portions:
    """How many items to take at a time: as many as take a tenth of a second, and less towards the end, so that those who share
    them end together. The first alone, since nobody knows how long it takes. `fixed` says it once and for all."""

    def __init__(self, count: int, sharers: int, fixed: int | None) -> None:
        self.count = count
        self.sharers = sharers
        self.fixed = fixed
        self.items = 0
        self.seconds = 0.0

    def size(self, taken: int) -> int:
        """How many to take when so many are taken already."""
        if self.fixed is not None or not self.items:
            return self.fixed or 1
        lasting = PORTION * self.items / max(self.seconds, 1e-9)
        return int(max(1, min(lasting, (self.count - taken) // (PARTS * self.sharers))))

    def note(self, items: int, seconds: float) -> None:
        """So long took so many of them."""
        self.items += items
        self.seconds += seconds


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
    times more. `chunk` items are taken at a time (None: by how long they take, so that the ranks end together). `progress` shows
    a bar on rank 0 (None: where the output is a terminal). `engine="ray"` lets the tasks of a Ray cluster do it instead, whatever
    their number, called by one process; `f` then needn't be importable there.

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
        outcomes = _by_ray(f, work, retries, chunk, shown)
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


def several(f: Callable[[Any], Any], first: int, items: Sequence[Any], retries: int) -> tuple[float, list[Outcome]]:
    """What becomes of some items, and the seconds that it took."""
    started = time.perf_counter()
    found = [tried(f, first + k, item, retries) for k, item in enumerate(items)]
    return time.perf_counter() - started, found


def _by_ranks(f: Any, work: Sequence[Any], retries: int, chunk: int | None, shown: bool, group: Group) -> list[Outcome]:
    portions = Portions(len(work), group.size, chunk)
    counter = group.engine.transport.counter()
    own: list[Outcome] = []
    end = 0
    with Bar(len(work), shown) as bar:
        while True:
            size = portions.size(end)
            first = counter.add(size)
            if first >= len(work):
                break
            end = min(first + size, len(work))
            seconds, found = several(f, first, work[first:end], retries)
            own += found
            portions.note(len(found), seconds)
            bar.reach(end)
    everything = [outcome for part in group.collect(own) for outcome in part]
    counter.free()
    return everything


def _by_ray(f: Any, work: Sequence[Any], retries: int, chunk: int | None, shown: bool) -> list[Outcome]:
    ray: Any = _optional.load("ray", purpose="map(engine='ray')", extra="ray")
    connect(ray, told=False)
    function = ray.put(f)
    cores = max(int(ray.cluster_resources().get("CPU", 1)), 1)
    portions = Portions(len(work), cores, chunk)
    task = ray.remote(max_retries=retries)(several)  # again, elsewhere, where a worker died
    waiting: dict[Any, tuple[int, int]] = {}
    outcomes: list[Outcome] = []
    begun = 0
    with Bar(len(work), shown) as bar:
        while waiting or begun < len(work):
            while begun < len(work) and len(waiting) < AHEAD * cores:
                end = min(begun + portions.size(begun), len(work))
                waiting[task.remote(function, begun, work[begun:end], retries)] = begun, end
                begun = end
            (ready,), _ = ray.wait(list(waiting))
            first, end = waiting.pop(ready)
            try:
                seconds, found = ray.get(ready)
                portions.note(len(found), seconds)
                outcomes += found
            except ray.exceptions.RayError as error:
                outcomes += [Outcome(k, None, str(error), retries + 1) for k in range(first, end)]
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
