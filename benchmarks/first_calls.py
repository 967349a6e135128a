"""What the first call of a compiled training step costs, a GPT's of width 64 with AdamW: from an empty cache, with 6 layers and
with 48, and what planning costs for each step where machine code is known. Processor time of one thread.

    python -m benchmarks.first_calls [--rounds 5]
"""

from __future__ import annotations

import argparse
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
from time import process_time
from typing import Any

import adjoint as ad
from adjoint.execution import replay
from adjoint.runtime.memory import Pages
from benchmarks import cliffs

SHALLOW, DEEP = 6, 48
# Bytes that are touched and let go before a program runs, off the clock. A virtual machine gives free memory back to its host,
# every other second, and has to ask for it again: that takes up to 0.3 s of the deep call, or nothing, as it happens.
TOUCHED = 1 << 28


def planning_of(layers: int) -> float:
    """Microseconds for each step that numbering, planning, every stage and linking take, once the kernels are there."""
    spent: list[float] = []
    made = replay.Replay.__init__

    def timed(self: replay.Replay, *given: object) -> None:
        started = process_time()
        made(self, *given)  # type: ignore[arg-type]
        spent.append((process_time() - started) / len(self.executable.plan.steps))

    given = [ad.tensor(x) for x in cliffs.tokens()]
    ad.jit(cliffs.step_of(ad, cliffs.gpt, layers + 1))(*given).item()
    replay.Replay.__init__ = timed  # type: ignore[method-assign,assignment]
    ad.jit(cliffs.step_of(ad, cliffs.gpt, layers))(*given).item()
    return spent[-1] * 1e6


def first_call(layers: int) -> float:
    """Seconds of the first call of a step."""
    step = ad.jit(cliffs.step_of(ad, cliffs.gpt, layers))
    given = [ad.tensor(x) for x in cliffs.tokens()]
    aside: list[float] = []
    ran = replay.Replay.run

    def run(self: replay.Replay, *given: Any) -> Any:
        started = process_time()
        touched = Pages(TOUCHED)
        touched.array[:: mmap.PAGESIZE] = 1
        del touched
        aside.append(process_time() - started)
        return ran(self, *given)

    replay.Replay.run = run  # type: ignore[method-assign,assignment]
    started = process_time()
    step(*given).item()
    return process_time() - started - sum(aside)


def in_a_process(name: str, layers: int) -> float:
    """What one of these gives in a process of its own, with an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        alone = {"ADJOINT_CACHE": folder, "ADJOINT_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        code = f"from benchmarks import first_calls; print(first_calls.{name}({layers}))"
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **alone}, check=True, capture_output=True, text=True
        )
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = range(parser.parse_args().rounds)
    calls = [[in_a_process("first_call", n) for n in (SHALLOW, DEEP)] for _ in rounds]
    shallow, deep = (statistics.median(side) for side in zip(*calls, strict=True))
    ratio = statistics.median([b / a for a, b in calls])
    print(f"first call, {SHALLOW} layers   {shallow:.2f} s  (bar 1.0)")
    print(f"first call, {DEEP} layers  {deep:.2f} s, {ratio:.2f} times as long  (bar 1.5)")
    for layers in (SHALLOW, DEEP):
        found = statistics.median([in_a_process("planning_of", layers) for _ in rounds])
        print(f"planning, {layers} layers   {found:.1f} us a step  (bar 15)")


if __name__ == "__main__":
    main()
