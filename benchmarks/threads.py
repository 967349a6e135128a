"""What a second thread brings: every work of ours that takes more than a millisecond, with one thread and with two.

`python -m benchmarks.threads` on two idle cores; with other work on them a thread waits for its core, and the figures mean
nothing. Nor do they where a virtual machine's two cores are for a while threads of one: so before and behind each round the same
is measured of arithmetic in registers, which two cores do in half the time, and only rounds count in which they did.
Both sides are adjoint, in processes of their own; a figure is the median over the rounds that count of the paired ratio.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks import arrays, cliffs, compiled, engine, loops, native, networks, training, transformations
from benchmarks.harness import OURS, Case, Work, Worker, disagreement, spread

MODULES: tuple[ModuleType, ...] = (engine, networks, native, compiled, training, transformations, arrays, cliffs, loops)
BAR = 0.6
LEAST = 1e-3  # seconds, from which a work is judged


def timed(work: Work) -> bool:
    """Whether a work's samples are times of a process that goes on: one that starts others can't be held to threads."""
    return OURS in work.engines and not work.returned and not work.name.startswith(("process", "the same, twice"))


def arithmetic(engine: Any) -> Case:
    """What so many cores do in as much less time: a hundred operations on each element."""

    def chain(x: Any) -> Any:
        y = x
        for _ in range(50):
            y = y * 0.5 + x
        return y

    function, x = engine.jit(chain), engine.full((1 << 17,), 0.7)
    return Case(lambda _: function(x).numpy())


PROBE = Work("arithmetic", BAR, {OURS: arithmetic})
WORKS = [PROBE]  # where a worker finds it
CORES = 1.2  # times a thread's share of it, up to which all threads had a core


class Found(NamedTuple):
    """The median time on one thread; the ratio of so many threads' time to it, its median, 10th and 90th percentile, over the
    rounds that `counted`, or, if none did, over all."""

    one: float
    ratio: tuple[float, float, float]
    counted: int


def paired(workers: Sequence[Worker], backwards: bool) -> list[float]:
    """A sample of each."""
    found = {id(worker): worker.sample() for worker in (workers[::-1] if backwards else workers)}
    return [found[id(worker)] for worker in workers]


def ratio(work: Work, module: str, threads: int, rounds: int) -> Found | None:
    """What is found in so many rounds that count, or four times as many in all; None for what is done in less than the least.
    Raises RuntimeError where a worker fails, or the numbers aren't the same."""
    with ExitStack() as stack:
        workers, probes = [
            [stack.enter_context(Worker(where, one, OURS, count, exact=True)) for count in (1, threads)]
            for where, one in ((module, work), ("benchmarks.threads", PROBE))
        ]
        one, other = [worker.answer()["values"] for worker in workers]
        if one and disagreement(other, one):
            raise RuntimeError(f"{work.name}: {threads} threads give other numbers than one")
        for worker in probes:
            worker.answer()

        def had_cores() -> bool:
            alone, together = paired(probes, backwards=False)
            return together <= CORES / threads * alone

        pairs: list[list[float]] = []
        counted: list[list[float]] = []
        before = had_cores()
        while len(counted) < rounds and len(pairs) < 4 * rounds:
            pairs.append(paired(workers, backwards=len(pairs) % 2 == 0))
            if pairs[0][0] < LEAST:
                return None
            behind = had_cores()
            counted += [pairs[-1]] * (before and behind)
            before = behind
        judged = counted or pairs
        ratios = spread([second / first for first, second in judged])
        return Found(spread([first for first, _ in judged])[0], ratios, len(counted))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; the exit status is 1 where results differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="works with NAME in their name (repeatable)")
    parser.add_argument("--threads", type=int, default=2, help="threads that are compared with one (2)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds that count, for each work (9)")
    options = parser.parse_args(arguments)
    failed = 0
    for module in MODULES:
        for work in module.WORKS:
            if not timed(work) or (options.only and not any(part in work.name for part in options.only)):
                continue
            try:
                found = ratio(work, module.__name__, options.threads, options.rounds)
            except RuntimeError as error:
                failed = 1
                print(error)
                continue
            if found is not None:
                middle, low, high = found.ratio
                verdict = "cores weren't free" if not found.counted else "ok" if middle <= BAR else "miss"
                figures = f"{found.one * 1e3:9.3g} ms  {middle:.2f}  {low:.2f}–{high:.2f}  of {found.counted}"
                print(f"{work.name:60} {figures}  {verdict}", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} (ours included)")
    return failed


if __name__ == "__main__":
    sys.exit(main())
