"""What a long Python loop costs before it first runs: Runge-Kutta's method with its gradient under `jit`, for several lengths.

`python -m benchmarks.growth [steps ...]` prints, for each length in a process of its own and in processor time: microseconds a
node for recording, and for numbering and matching; seconds for planning and compiling; megabytes at the peak.
"""

from __future__ import annotations

import importlib
import resource
import subprocess
import sys
import time
from typing import Any

from benchmarks import loops


def measure(steps: int) -> str:
    """A line on so many steps, which this process must not have measured yet."""
    engine: Any = importlib.import_module("adjoint")
    replay = importlib.import_module("adjoint.execution.replay")
    evaluation = importlib.import_module("adjoint.execution.evaluate")
    planning, _ = _timed(replay, "planned_by_loops")
    matching, repeated = _timed(evaluation, "find_repetition")
    loops.STEPS = steps
    before = _peak()
    case = loops.unrolled_ours(engine)
    start = time.process_time()
    case.step(0)
    whole = time.process_time() - start
    (nodes,) = repeated  # its reverse pass included
    recorded, found = 1e6 * (whole - planning[0]) / nodes, 1e6 * matching[0] / nodes
    return (
        f"{steps:7,} steps, {nodes:,} nodes: recording {recorded:.1f} µs a node, numbering and matching {found:.1f}; "
        f"planning and compiling {planning[0] - matching[0]:.2f} s; peak {_peak() - before:.0f} MB"
    )


def _timed(module: Any, name: str) -> tuple[list[float], list[int]]:
    """The seconds that a function of a module will have taken, and how many nodes were in the graphs that it found."""
    plain, total, nodes = getattr(module, name), [0.0], list[int]()

    def timed(*arguments: Any) -> Any:
        start = time.process_time()
        try:
            found = plain(*arguments)
            nodes.extend([len(found.order)] if hasattr(found, "order") else [])
            return found
        finally:
            total[0] += time.process_time() - start

    setattr(module, name, timed)
    return total, nodes


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    lengths = sys.argv[1:] or ["1000", "10000"]
    if len(lengths) == 1:
        print(measure(int(lengths[0])))
    else:
        for length in lengths:
            subprocess.run([sys.executable, "-m", "benchmarks.growth", length], check=True)
