"""`explain`: how something is computed, as a table of kernels or stage by stage."""

from __future__ import annotations

import textwrap
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.execution.kernels import Kernel
from adjoint.execution.numpy_programs import Streaming
from adjoint.execution.stages import Nested, Subject, nested, subject_of
from adjoint.plan.plan import Plan
from adjoint.plan.text import Labels


class Explanation:
    """How something would be computed; prints as a table.

    backend   "native" or "numpy"
    kernels   in order, each with kind, shape, operations, bytes, flops, seconds, shared, lines and reason
    reason    why it isn't native, if it isn't
    inside    what loops repeat and branches choose: the kernel's number, how often or which, and how that is computed, whose
              times are those of one time, on ones
    when      when this is what runs, if something else runs before
    """

    def __init__(
        self,
        backend: str,
        kernels: Sequence[Any],
        reason: str = "",
        when: str = "",
        inside: Sequence[tuple[int, str, Explanation]] = (),
    ) -> None:
        self.backend = backend
        self.kernels = kernels
        self.reason = reason
        self.when = when
        self.inside = inside

    @classmethod
    def of(cls, subject: Subject) -> Explanation:
        """How a plan is computed, with what its loops repeat and its branches choose."""
        if subject.report is None:
            kernels: list[Any] = _interpreted(subject.plan, subject.leaves, subject.numbers)
            steps = dict(enumerate(subject.plan.steps))
        else:
            kernels, steps = subject.report.kernels(subject.leaves, subject.numbers), subject.report.hosts()
        inside: list[tuple[int, str, Explanation]] = []
        for k, step in steps.items():
            if step.op.graphs is not None:
                kernels[k] = kernels[k]._replace(kind=step.op.name, reason="")
                inside += [(k + 1, part.label, cls._nested(part)) for part in nested(step)]
        return cls(subject.backend, kernels, subject.reason, subject.when, inside)

    @classmethod
    def _nested(cls, part: Nested) -> Explanation:
        if part.loop is None:
            return cls.of(part.subject)
        names = tuple([step.op.name for step in part.subject.plan.steps])
        flops = sum([step.type.size for step in part.subject.plan.steps if step.op.elementwise])
        return cls("native", [Kernel("one loop", (), names, 0, flops, part.seconds())])

    @property
    def seconds(self) -> float:
        """The kernels' times together."""
        return float(sum(kernel.seconds for kernel in self.kernels))

    def __str__(self) -> str:
        if not self.kernels:
            return "nothing is computed"
        rows: list[tuple[str, ...]] = [
            ("", "kernel", "shape", "operations", "read and written", "", "time", "", "units", "lines")
        ]
        at = 0
        while at < len(self.kernels):
            period, times = _repetition(self.kernels, at)
            for number, kernel in enumerate(self.kernels[at : at + period], at + 1):
                rows.append((str(number), kernel.kind, "×".join(map(str, kernel.shape)) or "1", *_row(kernel)))
            if times > 1:
                again = self.kernels[at + period : at + period * times]
                before = f"kernel {at + 1}" if period == 1 else f"kernels {at + 1} to {at + period}"
                rows.append(
                    (f"to {at + period * times}", f"{before}, {times - 1:,} times more", "", "", *_sums(again), "", "")
                )
            at += period * times
        widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
        right = {0, 4, 5, 6, 7, 8}
        lines = [
            "  ".join(cell.rjust(w) if k in right else cell.ljust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True)))
            for row in rows
        ]  # fmt: skip
        total = sum(kernel.bytes for kernel in self.kernels), sum(kernel.flops for kernel in self.kernels)
        lines.append(
            f"{len(self.kernels)} kernel{'s' * (len(self.kernels) != 1)} ({self.backend}): "
            f"{_short(total[0])}B, {_short(total[1])}FLOP, "
            f"{self.seconds * 1e6:.1f} µs"
        )
        reasons: dict[str, list[int]] = {}
        for k, kernel in enumerate(self.kernels, 1):
            if kernel.reason:
                reasons.setdefault(kernel.reason, []).append(k)
        for reason, which in reasons.items():
            more = f" and {len(which) - 1:,} more are" if len(which) > 1 else " is"
            lines.append(f"kernel {which[0]}{more} not native: {reason}")
        if self.reason:
            lines.append(f"not native: {self.reason}")
        if self.when:
            lines.append(self.when)
        for number, label, inside in self.inside:
            lines += [f"kernel {number}, {label}:", textwrap.indent(str(inside), "  ")]
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        return str(self)


def explain(*outputs: Any, stage: str | None = None, target: str | None = None) -> Any:
    """How pending tensors would be computed, or how a jitted function is: a table of kernels, or any stage as text.

    outputs: tensors that are pending, or lists, tuples and dictionaries of them, such as gradients; or one compiled function.

    Without a stage, an `Explanation`: the kernels in order, the operations fused in each, the bytes that it reads and writes, its
    floating operations, the time that it takes on the values at hand (the best of five runs; for a function, on ones), how
    many units share its code, and the user's lines; then what did not become native, and why. Native kernels where native code
    would run, else the interpreter's steps. Fills in no value.

    With one, its text: "plan" (the steps as recorded), "together", "simplify", "restrict", "channels_last", "fuse",
    "rematerialize", "tiles", "pieces", "units" (what is compiled), "loops", "llvm" or "assembly"; with "all" every one of them,
    in order and under its name. A function must have been called; its latest trace is shown. The line of a step is that of the
    function which was compiled first, where two have the same graph.
    The environment variable ADJOINT_SHOW prints stages of whatever is compiled: `ADJOINT_SHOW=units,loops python train.py`, or
    `ADJOINT_SHOW=all`.

    With a `target` the stage is that of a processor of another kind, which nobody needs to have: "neon", "avx2", "sse", "avx512",
    "zen" or "zen2", the rows of `compiler.targets.target.TUNING`. It is read and never run; the libraries are this machine's.

    Raises ValueError for tensors that all have their values and for a stage or target that there isn't, TypeError for what is
    no tensor.

    >>> import adjoint as ad
    >>> x = ad.variable([1.0, 2.0], name="x")
    >>> print(ad.execution.explain(ad.sin(x) * 2, stage="plan").splitlines()[0])
    steps 2, leaves 1, free numbers 0, results 1
    """
    subject = subject_of(outputs)
    if stage is None:
        if target is not None:
            raise ValueError(
                f"explain: times are this processor's; for {target!r} name a stage too, such as stage='loops'"
            )
        return Explanation.of(subject)
    return subject.text(stage, target)


def _interpreted(plan: Plan, leaves: list[Any], numbers: list[Any]) -> list[Kernel]:
    steps, labels = plan.steps, Labels(plan)
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
        line = labels.line(step.output)
        found.append(Kernel("numpy", shape, (step.op.name,), size, flops, seconds, 1, line))
    return found


PERIOD = 64  # kernels that may repeat together
FEW = 3  # times that are written out


def _repetition(kernels: Sequence[Any], at: int) -> tuple[int, int]:
    """How many kernels from here on are repeated at once, and how often they are done in all; 1 and 1 where none are."""
    alike = [(k.kind, k.shape, k.operations, k.lines, k.reason) for k in kernels[at : at + PERIOD * FEW]]
    for period in range(1, PERIOD + 1):
        if alike[:period] * FEW == alike[: period * FEW] and len(alike) >= period * FEW:
            end = at + period
            while end < len(kernels) and _is_alike(kernels[end], kernels[end - period]):
                end += 1
            return period, (end - at) // period
    return 1, 1


def _is_alike(x: Any, y: Any) -> bool:
    return (x.kind, x.shape, x.operations, x.lines, x.reason) == (y.kind, y.shape, y.operations, y.lines, y.reason)


def _row(kernel: Any) -> tuple[str, ...]:
    names: dict[str, int] = {}
    for name in kernel.operations:
        names[name] = names.get(name, 0) + 1
    text = " ".join(name if count == 1 else f"{name}·{count}" for name, count in names.items())
    return (text if len(text) <= 60 else text[:57] + "...", *_sums([kernel]), str(kernel.shared), kernel.lines)


def _sums(kernels: Sequence[Any]) -> tuple[str, ...]:
    """Bytes, operations, time and rate of kernels together."""
    nbytes, flops, seconds = [
        sum(column) for column in zip(*[(k.bytes, k.flops, k.seconds) for k in kernels], strict=True)
    ]
    rate = flops / seconds / 1e9 if seconds else 0.0
    time = f"{seconds * 1e6:.1f} µs" if seconds > 2e-7 else f"{seconds * 1e9:.1f} ns"
    return f"{_short(nbytes)}B", f"{_short(flops)}FLOP", time, f"{rate:.1f} GFLOP/s"


def _short(number: float) -> str:
    for unit in ("", "k", "M", "G"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} T"
