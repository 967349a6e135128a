"""What a long Python loop costs before it first runs, with its gradient under `jit`, for several lengths: Runge-Kutta's method,
and a recurrent network of 32 units that reads `data[t]`.

`python -m benchmarks.growth [steps ...]` prints, for each length in a process of its own and in processor time: microseconds a
node for recording, and for numbering and matching; seconds for planning and compiling; megabytes at the peak.
"""

from __future__ import annotations

import importlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

from benchmarks import loops

UNITS = 32


def network(steps: int) -> str:
    """A line on a recurrent network over so many steps, which this process must not have measured yet."""
    engine: Any = importlib.import_module("adjoint")
    compiled = importlib.import_module("adjoint.tracer.compiled")
    reroll = importlib.import_module("adjoint.control.reroll")
    planning, _ = _timed(compiled.execution, "Replay")
    finding, _ = _timed(compiled, "reroll")
    _, nodes = _timed(reroll, "numbered")
    numbers = np.random.default_rng(0).normal
    w, u, b = (engine.tensor(0.2 * numbers(size=shape)) for shape in [(UNITS, UNITS), (UNITS, UNITS), (UNITS,)])
    data, zero = engine.tensor(numbers(size=(steps, UNITS))), engine.zeros(UNITS, dtype="float64")

    def loss(w: Any, u: Any, b: Any, data: Any) -> Any:
        state, total = zero, 0.0
        for t in range(steps):
            state = engine.tanh(w @ state + u @ data[t] + b)
            total = total + (state**2).sum()
        return total

    step, before = engine.jit(engine.value_and_grad(loss, argnums=(0, 1, 2, 3))), _peak()
    start = time.process_time()
    step(w, u, b, data)[0].item()
    whole = time.process_time() - start
    recorded, found = 1e6 * (whole - planning[0]) / nodes[0], 1e6 * finding[0] / nodes[0]
    return (
        f"{steps:7,} steps, {nodes[0]:,} nodes: recording {recorded:.1f} µs a node, numbering and matching {found:.1f}; "
        f"planning and compiling {planning[0] - finding[0]:.2f} s; peak {_peak() - before:.0f} MB"
    )


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
    if sys.argv[1:2] == ["one"]:
        print({"orbit": measure, "network": network}[sys.argv[2]](int(sys.argv[3])))
    else:
        for program in ("orbit", "network"):
            print(f"{program}:")
            for length in sys.argv[1:] or ["1000", "10000"]:
                with tempfile.TemporaryDirectory() as folder:
                    command = [sys.executable, "-m", "benchmarks.growth", "one", program, length]
                    subprocess.run(command, env={**os.environ, "ADJOINT_CACHE": folder}, check=True)
