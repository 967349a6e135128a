"""Reductions in progress: partial results in registers, at least as exact as NumPy's."""

from __future__ import annotations

from adjoint.compiler.loops.build import Emitter, Value
from adjoint.compiler.loops.formulas import REDUCTIONS
from adjoint.plan.plan import Step


class Accumulator:
    """A reduction in progress: partial results in registers, and the total of the blocks before."""

    def __init__(self, e: Emitter, step: Step, dtype: str, blocked: bool, copies: int) -> None:
        self.step = step
        self.dtype = dtype
        initial, self.combine = REDUCTIONS[step.op.name]
        self.identity = e.constant(initial(dtype), dtype)
        self.partial = [e.variable(self.identity) for _ in range(copies)]
        self.blocked = blocked and step.op.name == "sum" and dtype.startswith("float")
        if self.blocked:
            self.total = e.variable(e.constant(0.0, "float64"))
            self.lost = e.variable(e.constant(0.0, "float64"))

    def add(self, e: Emitter, value: Value, copy: int) -> None:
        value = e.cast(value, self.dtype)
        if e.mask is not None:
            value = e.select(Value(e.mask, "bool"), value, self.identity)
        slot = self.partial[copy]
        e.set(slot, self.combine(e, e.get(slot, self.dtype), value))

    def restart(self, e: Emitter) -> None:
        """Begin anew."""
        for slot in self.partial:
            e.set(slot, self.identity)

    def gathered(self, e: Emitter) -> Value:
        values = [e.get(slot, self.dtype) for slot in self.partial]
        while len(values) > 1:
            half = len(values) // 2
            values = [self.combine(e, a, b) for a, b in zip(values[:half], values[half:], strict=True)]
        return values[0]

    def flush(self, e: Emitter) -> None:
        """Add the partial sums to the total, in float64; for float64 with what rounding loses kept beside it."""
        if not self.blocked:
            return
        value = e.cast(self.gathered(e), "float64")
        self.restart(e)
        total = e.get(self.total, "float64")
        after = e.add(total, value)
        e.set(self.total, after)
        if self.dtype == "float64":  # Knuth's TwoSum
            back = e.subtract(after, total)
            error = e.add(e.subtract(total, e.subtract(after, back)), e.subtract(value, back))
            e.set(self.lost, e.add(e.get(self.lost, "float64"), error))

    def each(self, e: Emitter) -> Value:
        """What each lane has."""
        if not self.blocked:
            return self.gathered(e)
        self.flush(e)
        value = e.get(self.total, "float64")
        if self.dtype == "float64":
            full = e.add(value, e.get(self.lost, "float64"))
            value = e.select(e.compare("uno", full, full), value, full)
        return value

    def result(self, e: Emitter) -> Value:
        """All lanes combined, in every lane."""
        value = e.folded(self.each(e), self.combine)
        return e.cast(e.splat(e.first(value), value.dtype), self.dtype)
