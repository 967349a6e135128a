"""`explain`: the plan of what is pending, as a table of kernels."""

from __future__ import annotations

import importlib
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from adjoint.execution.canonical import canonicalize, value_array
from adjoint.execution.evaluate import evaluation_lock
from adjoint.execution.plan import Plan, build
from adjoint.execution.programs import Streaming
from adjoint.execution.tiers import tiers
from adjoint.graph import Node


class Explanation:
    """How something would be computed. `kernels` are those of `native.report`, in order; prints as a table."""

    def __init__(self, backend: str, kernels: Sequence[Any]) -> None:
        self.backend = backend
        self.kernels = kernels

    @property
    def seconds(self) -> float:
        """The kernels' times together."""
        return float(sum(kernel.seconds for kernel in self.kernels))

    def __str__(self) -> str:
        rows = [("", "kernel", "shape", "operations", "read and written", "", "time", "")]
        for number, kernel in enumerate(self.kernels, 1):
            names: dict[str, int] = {}
            for name in kernel.operations:
                names[name] = names.get(name, 0) + 1
            text = " ".join(name if count == 1 else f"{name}·{count}" for name, count in names.items())
            rate = kernel.flops / kernel.seconds / 1e9 if kernel.seconds else 0.0
            rows.append(
                (
                    str(number),
                    kernel.kind,
                    "×".join(map(str, kernel.shape)) or "1",
                    text if len(text) <= 60 else text[:57] + "...",
                    f"{_short(kernel.bytes)}B",
                    f"{_short(kernel.flops)}FLOP",
                    f"{kernel.seconds * 1e6:.1f} µs",
                    f"{rate:.1f} GFLOP/s",
                )
            )
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        right = {0, 4, 5, 6, 7}
        lines = [
            "  ".join(cell.rjust(w) if k in right else cell.ljust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True)))
            for row in rows
        ]  # fmt: skip
        total = sum(kernel.bytes for kernel in self.kernels), sum(kernel.flops for kernel in self.kernels)
        lines.append(
            f"{len(self.kernels)} kernels ({self.backend}): {_short(total[0])}B, {_short(total[1])}FLOP, "
            f"{self.seconds * 1e6:.1f} µs"
        )
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        return str(self)


class Operation(NamedTuple):
    """One step of the interpreter, in the form of a kernel."""

    kind: str
    shape: tuple[int, ...]
    operations: tuple[str, ...]
    bytes: int
    flops: int
    seconds: float


def explain(*outputs: Any) -> Explanation:
    """The plan that would compute the pending tensors: its kernels, the operations fused in each, the bytes that it reads and
    writes, its floating operations, and the time that it takes on the values at hand, the best of five runs.

    Fills in no value. Native kernels where native code would run, else the interpreter's steps. Raises ValueError for
    tensors that all have their values, TypeError for what is no tensor.
    """
    nodes = [x.node if hasattr(x, "node") else x for x in outputs]
    for x in nodes:
        if not isinstance(x, Node):
            raise TypeError(f"explain: expected tensors, got a {type(x).__name__}")
    pending = [x for x in nodes if x.value is None]
    if not pending:
        raise ValueError("explain: everything here has been computed; explain it before its value is asked for")
    with evaluation_lock():
        c = canonicalize(pending)
    plan = build(c, list(dict.fromkeys(c.number[x] for x in pending)), False)
    leaves, numbers = [value_array(x) for x in c.leaves], [v for v, _ in c.numbers]
    if tiers.backend != "numpy":
        native = importlib.import_module("adjoint.execution.native")
        if native.missing() is None:
            report = importlib.import_module("adjoint.execution.native.report")
            found = report.kernels(plan, leaves, numbers)
            if found is not None:
                return Explanation("native", found)
    return Explanation("numpy", _interpreted(plan, leaves, numbers))


def _interpreted(plan: Plan, leaves: list[Any], numbers: list[Any]) -> list[Operation]:
    steps = plan.steps
    program = Streaming(plan)
    best = [float("inf")] * len(steps)
    calls, spent = program.calls[1], [0.0]

    def timed(kernel: Any) -> Any:
        def run(*inputs: Any) -> Any:
            start = time.perf_counter()
            result = kernel(*inputs)
            spent.append(time.perf_counter() - start)
            return result

        return run

    program.calls[1] = [(timed(kernel), *rest) for kernel, *rest in calls]
    for _ in range(5):
        spent.clear()
        with np.errstate(all="ignore"):
            program.run(leaves, numbers, True)
        best = [min(pair) for pair in zip(best, spent, strict=True)]
    found = []
    for step, seconds in zip(steps, best, strict=True):
        types = [t for t in (*[plan.types[i] for i in step.inputs], step.type) if type(t) is not tuple]
        size = sum(t.size * t.dtype.itemsize for t in types if t.shape != ())
        flops = step.type.size if step.op.elementwise else 0
        if step.op.name == "matmul":
            flops = 2 * step.type.size * plan.types[step.inputs[0]].shape[-1]
        shape = () if type(step.type) is tuple else step.type.shape
        found.append(Operation("numpy", shape, (step.op.name,), size, flops, seconds))
    return found


def _short(number: float) -> str:
    for unit in ("", "k", "M", "G"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} T"
