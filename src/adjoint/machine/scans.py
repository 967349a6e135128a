"""Loops as units of native programs: they stand among the program's calls, and Python isn't asked.

One that ends by itself is left after so many turns, and so is what lies around it: then the program is run by another one, in
which Python goes from turn to turn and can be interrupted."""

from __future__ import annotations

from typing import Any

from adjoint.compiler.fuse.scans import Scans
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import Emitter
from adjoint.compiler.tables import LARGE, Arguments, Inputs, Loop, Start, Unfinished
from adjoint.machine.elements import NotScalar
from adjoint.machine.scalars import SmallStep
from adjoint.machine.within import MOST_TURNS

__all__ = ["CALLED", "CHOSEN", "ScanPart", "part_of"]


class ScanPart:
    """What a scan repeats, as a value: equal ones are written alike. `operations`: of one step."""

    def __init__(self, key: Any, step: SmallStep) -> None:
        self.key = key
        self.hash = hash(key)
        self.step = step
        self.operations = step.operations
        self.may_stop = step.around.stuck is not None
        self.code = self

    def said(self, length: int) -> str:
        """What people are told."""
        return f"{length:,} steps of {self.operations} operations, carried on in registers"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, ScanPart) and self.hash == other.hash and self.key == other.key)

    def __hash__(self) -> int:
        return self.hash

    def write(self, scan: Scans, arguments: Arguments) -> list[L.Function]:
        """The function of a unit. How many steps there are stands in no code."""
        e = Emitter(1)
        inputs = Inputs(e, arguments)
        pointers = [inputs.pointer(Start(number, 0)) for number in (*scan.reads, *scan.results)]
        count = inputs.number(scan.length, "length", LARGE)
        first, step = (e.index("sub", count, "1"), "-1") if scan.reverse else ("0", "1")
        ran = self.step.write(e, pointers, first, step, count)
        for name, size in self.step.around.memory.items():
            offset = arguments.reserve(size)
            with inputs.at_the_beginning():
                e.body.append(L.At(name, e.entry("%own", 0), "i8", str(offset)))
        if self.may_stop:
            with e.when(e.test("slt", ran, count)):
                inputs.fail(Unfinished("while_loop"), str(MOST_TURNS))
        return [inputs.function("unit")]


class Called:
    """The code of a scan whose step is a program of its own: a call of what runs that for one step after the other."""

    def write(self, scan: Scans, arguments: Arguments) -> list[L.Function]:
        """The function of a unit."""
        e = Emitter(1)
        inputs = Inputs(e, arguments)
        loop = inputs.pointer(Loop(0))
        begin = inputs.listed([Start(number, 0) for number in (*scan.reads, *scan.results)])
        e.call(e.entry(loop, 0), (("ptr", "%table"), ("ptr", e.at("%args", begin, "i64")), ("ptr", loop)))
        return [inputs.function("unit")]


class Chosen:
    """The code of a choice among programs: a call of what runs the one that the first operand says."""

    def write(self, scan: Scans, arguments: Arguments) -> list[L.Function]:
        """The function of a unit."""
        e = Emitter(1)
        inputs = Inputs(e, arguments)
        choice, (first, *reads) = inputs.pointer(Loop(0)), scan.reads
        index = e.first(e.cast(e.load_scalar(inputs.pointer(Start(first, 0)), "0", scan.first), "int64"))
        begin = inputs.listed([Start(number, 0) for number in (*reads, *scan.results)])
        given = (("ptr", "%table"), ("ptr", e.at("%args", begin, "i64")), ("ptr", choice), ("i64", index))
        e.call(e.entry(choice, 0), given)
        return [inputs.function("unit")]


CALLED, CHOSEN = Called(), Chosen()


def part_of(key: Any, step: SmallStep) -> ScanPart | None:
    """A step as part of a native program; None where it isn't small."""
    try:
        step.write(Emitter(1), [f"%p{k}" for k in range(len(step.inputs) + len(step.picks))], "0", "1", "%count")
    except NotScalar:
        return None
    return ScanPart(key, step)
