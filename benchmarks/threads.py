"""What a second thread brings: every work of ours that takes more than a millisecond, with one thread and with two.

`python -m benchmarks.threads` on two idle cores; with other work on them a thread waits for its core, and the figures mean
nothing.
Both sides are adjoint, in processes of their own; a figure is the median over rounds of the paired ratio.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from types import ModuleType

from benchmarks import arrays, cliffs, compiled, engine, loops, native, networks, training, transformations
from benchmarks.harness import OURS, Work, Worker, disagreement, spread

MODULES: tuple[ModuleType, ...] = (engine, networks, native, compiled, training, transformations, arrays, cliffs, loops)
BAR = 0.6
LEAST = 1e-3  # seconds, from which a work is judged


def timed(work: Work) -> bool:
    """Whether a work's samples are times of a process that goes on: one that starts others can't be held to threads."""
    return OURS in work.engines and not work.returned and not work.name.startswith(("process", "the same, twice"))


def ratio(work: Work, module: str, threads: int, rounds: int) -> tuple[float, tuple[float, float, float]] | None:
    """The median time on one thread, and the ratio of so many threads' time to it; None for what is done in less than the least.
    Raises RuntimeError where a worker fails, or the numbers aren't the same."""
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(module, work, OURS, count, exact=True)) for count in (1, threads)]
        one, other = [worker.answer()["values"] for worker in workers]
        if one and disagreement(other, one):
            raise RuntimeError(f"{work.name}: {threads} threads give other numbers than one")
        pairs = []
        for number in range(rounds):
            order = workers if number % 2 else workers[::-1]
            found = {id(worker): worker.sample() for worker in order}
            pairs.append([found[id(worker)] for worker in workers])
            if number == 0 and pairs[0][0] < LEAST:
                return None
        return spread([first for first, _ in pairs])[0], spread([second / first for first, second in pairs])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; the exit status is 1 where results differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="works with NAME in their name (repeatable)")
    parser.add_argument("--threads", type=int, default=2, help="threads that are compared with one (2)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds for each work (9)")
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
                one, (middle, low, high) = found
                verdict = "ok" if middle <= BAR else "miss"
                print(f"{work.name:60} {one * 1e3:9.3g} ms  {middle:.2f}  {low:.2f}–{high:.2f}  {verdict}", flush=True)
    print(f"load {os.getloadavg()[0]:.1f} (ours included)")
    return failed


if __name__ == "__main__":
    sys.exit(main())
