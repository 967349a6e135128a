"""Bytes between the workers of a Ray cluster: an actor in which they meet. Placement, elasticity and restarts are Ray's."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import _optional

from .engine import DistributedError, SharedMemory
from .group import use

__all__ = ["RayTransport", "connect", "run_on_ray"]

Array = np.ndarray[Any, Any]
STARTS = 4  # attempts to start a cluster
GRACE = 60.0  # seconds in which a cluster must give at least one worker
SETTLED = 15.0  # seconds after which cores that are still held are somebody else's


class Meeting:
    """Where ranks exchange: an actor whose methods wait for each other."""

    def __init__(self) -> None:
        self.rounds: dict[Any, dict[int, Any]] = {}
        self.full: dict[Any, asyncio.Event] = {}
        self.left: dict[Any, int] = {}
        self.numbers: dict[Any, int] = {}
        self.begun: dict[Any, dict[int, int]] = {}

    async def meet(self, name: Any, sequence: int, size: int, rank: int, value: Any) -> Any:
        """The values of all ranks of one round, once all of them are there; of lists, each rank's own part of each."""
        key = (name, sequence)
        self.begun.setdefault(name, {})[rank] = sequence
        there = self.rounds.setdefault(key, {})
        event = self.full.setdefault(key, asyncio.Event())
        there[rank] = value
        if len(there) == size:
            event.set()
        await event.wait()
        found = [there[k][rank] if isinstance(there[k], list) else there[k] for k in range(size)]
        self.left[key] = self.left.get(key, 0) + 1
        if self.left[key] == size:
            del self.rounds[key], self.full[key], self.left[key]
        return found

    async def post(self, key: Any, value: Any) -> None:
        """Leave something for `take`."""
        self._box(key).put_nowait(value)

    async def take(self, key: Any) -> Any:
        """What was left first under a key."""
        return await self._box(key).get()

    def _box(self, key: Any) -> asyncio.Queue[Any]:
        found = self.rounds.setdefault(("box", key), {})
        box: asyncio.Queue[Any] = found.setdefault(0, asyncio.Queue())
        return box

    async def add(self, name: Any, step: int) -> int:
        """Add to a number; what it was before."""
        before = self.numbers.get(name, 0)
        self.numbers[name] = before + step
        return before

    async def arrived(self, name: Any, size: int) -> list[int]:
        """The round that each rank has come to."""
        return [self.begun.get(name, {}).get(k, 0) for k in range(size)]


class RayTransport:
    """What `engine.Transport` says, through a `Meeting`."""

    def __init__(self, ray: Any, meeting: Any, rank: int, size: int, name: str = "world") -> None:
        self.ray = ray
        self.meeting = meeting
        self.rank = rank
        self.size = size
        self.name = name
        self.sequence = 0
        self.parts = 0

    def _meet(self, value: Any, received: Array) -> Any:
        self.sequence += 1
        return self.meeting.meet.remote(self.name, self.sequence, self.size, self.rank, value), received

    def all_gather(self, sent: Array, received: Array) -> Any:
        """See `Transport`."""
        return self._meet(sent, received)

    def all_to_all(self, sent: Array, sizes: Sequence[int], received: Array, come: Sequence[int]) -> Any:
        """See `Transport`."""
        ends = np.cumsum(sizes)
        return self._meet([sent[end - size : end] for size, end in zip(sizes, ends, strict=True)], received)

    def send(self, sent: Array, to: int, tag: int) -> Any:
        """See `Transport`."""
        return self.meeting.post.remote((self.name, self.rank, to, tag), sent.copy()), None

    def receive(self, received: Array, source: int, tag: int) -> Any:
        """See `Transport`."""
        return self.meeting.take.remote((self.name, source, self.rank, tag)), received

    def done(self, request: Any) -> bool:
        """See `Transport`."""
        reference, received = request
        if not self.ray.wait([reference], timeout=0)[0]:
            return False
        found = self.ray.get(reference)
        if received is not None:
            together = np.concatenate(found) if isinstance(found, list) else found
            if together.size != received.size:
                raise DistributedError(f"rank {self.rank} expected {received.size} bytes, and {together.size} came")
            received[:] = together
        return True

    def split(self, ranks: Sequence[int]) -> RayTransport | None:
        """See `Transport`."""
        self.parts += 1
        if self.rank not in ranks:
            return None
        name = f"{self.name}.{self.parts}.{min(ranks)}"
        return RayTransport(self.ray, self.meeting, list(ranks).index(self.rank), len(ranks), name)

    def counter(self) -> MeetingCounter:
        """See `Transport`."""
        self.parts += 1
        return MeetingCounter(self.ray, self.meeting, f"{self.name}.{self.parts}")

    def abort(self, code: int) -> None:
        """See `Transport`. The one who started the workers ends the others."""
        os._exit(code)

    def arrived(self) -> Sequence[int]:
        """See `Transport`."""
        found: Sequence[int] = self.ray.get(self.meeting.arrived.remote(self.name, self.size))
        return found

    def shared(self, nbytes: int) -> SharedMemory | None:
        """See `Transport`."""
        return None


class MeetingCounter:
    """A number that the meeting keeps."""

    def __init__(self, ray: Any, meeting: Any, name: str) -> None:
        self.ray = ray
        self.meeting = meeting
        self.name = name

    def add(self, step: int) -> int:
        """Add to it; what it was before."""
        before: int = self.ray.get(self.meeting.add.remote(self.name, step))
        return before

    def free(self) -> None:
        """It goes with the meeting."""


def run_on_ray(
    function: Callable[..., Any],
    *arguments: Any,
    workers: int,
    address: str | None = None,
    restarts: int = 3,
    environment: dict[str, str] | None = None,
    again: Callable[[tuple[Any, ...]], tuple[Any, ...]] = lambda arguments: arguments,
    say: Callable[[str], Any] = print,
) -> list[Any]:
    """Call `function(*arguments)` in so many workers of a Ray cluster, in which they are the ranks; what they give, in order.

    `address` is the cluster's ("auto": the one that this machine belongs to; None: what RAY_ADDRESS says, else one of its own). A
    worker that dies or raises ends the others; then all begin again, up to `restarts` times, with `again(arguments)` and as many
    workers as the cluster has room for by then. `environment` is set for the workers. Raises DistributedError, with the last
    cause, when that was not enough; ImportError without ray.
    """
    ray: Any = _optional.load("ray", purpose="training on a Ray cluster", extra="ray")
    started = connect(ray, address)
    try:
        cause: BaseException | None = None
        for attempt in range(restarts + 1):
            count = _room(ray, workers)
            if attempt:
                say(f"restart {attempt} of {restarts}, with {count} of {workers} workers, after: {_first_line(cause)}")
                arguments = again(arguments)
            try:
                return _once(ray, function, arguments, count, environment or {})
            except (ray.exceptions.RayError, DistributedError) as error:
                cause = error
        raise DistributedError(f"the workers failed {restarts + 1} times; the last time: {cause}") from cause
    finally:
        if started:
            ray.shutdown()


def connect(ray: Any, address: str | None = None, told: bool = True) -> bool:
    """Connect to a cluster, or start one of this machine; False where that has been done already. What workers print is shown
    where it is `told`."""
    if ray.is_initialized():
        return False
    where = address or os.environ.get("RAY_ADDRESS") or "local"
    for attempt in range(STARTS):
        try:
            ray.init(address=where, log_to_driver=told, configure_logging=False)
            break
        except (
            Exception
        ):  # a busy machine takes longer than Ray waits for one of its parts, and it has no one class for that
            if where != "local" or attempt == STARTS - 1:
                raise
            ray.shutdown()
    return True


def _once(
    ray: Any, function: Callable[..., Any], arguments: tuple[Any, ...], count: int, environment: dict[str, str]
) -> list[Any]:
    meeting = ray.remote(num_cpus=0, max_concurrency=1000)(Meeting).remote()
    worker = ray.remote(num_cpus=1, max_restarts=0)(_Worker)
    made = [worker.options(runtime_env={"env_vars": environment}).remote() for _ in range(count)]
    try:
        waiting = [one.run.remote(meeting, k, count, function, arguments) for k, one in enumerate(made)]
        order = {reference: k for k, reference in enumerate(waiting)}
        found: list[Any] = [None] * count
        while waiting:
            (ready,), waiting = ray.wait(waiting)
            found[order[ready]] = ray.get(ready)  # raises what the first to fail has raised
        return found
    finally:
        for one in [*made, meeting]:
            ray.kill(one)


class _Worker:
    """One rank."""

    def run(self, meeting: Any, rank: int, size: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Take part as this rank, and call the function."""
        ray: Any = _optional.load("ray", purpose="training on a Ray cluster", extra="ray")
        use(RayTransport(ray, meeting, rank, size), watched=False)
        return function(*arguments)


def _room(ray: Any, workers: int) -> int:
    """How many of so many workers the cluster has cores for. Waits for the first, and for a while for those that ended workers
    still hold."""
    started = time.monotonic()
    while (waited := time.monotonic() - started) < GRACE:
        free = int(ray.available_resources().get("CPU", 0))
        wanted = min(workers, int(ray.cluster_resources().get("CPU", 0)))
        if free >= max(wanted, 1) or (free and waited > SETTLED):
            return min(workers, free)
        time.sleep(0.2)
    raise DistributedError(f"the Ray cluster had no free core for {GRACE:.0f} s")


def _first_line(error: BaseException | None) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[-1].strip() if lines else type(error).__name__
