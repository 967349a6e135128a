"""Loops found in a program of single numbers as machine code: the body once, as straight-line code.

What one time makes for itself or for the next few stays in registers; what is the same for all times is read before the loop.
What is read at a stride, and what somebody else reads, is in the program's cells. The code depends on the body alone: where
cells are, how far strides go and how often it runs are arguments, so that loops of all lengths share it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.compiler.loops.build import ITEMSIZE, Emitter, Value
from adjoint.compiler.loops.formulas import applied, is_ordinary
from adjoint.compiler.targets.llvm import source_of
from adjoint.machine.numbers import FUSED, Case, Numbers
from adjoint.machine.repetition import Loop
from adjoint.machine.tape import machine
from adjoint.runtime import code, llvm

__all__ = ["Rolled", "apply", "read_cells", "roll"]

Array = np.ndarray[Any, Any]

CELL = 8  # bytes
LITERALS = (0, 1, -1, 2)  # constants that the code holds; others are in cells, so that programs share code
FARTHEST = 4  # times back that a number is carried in registers

LOCAL, CARRIED, INVARIANT, STRIDED = range(4)


class Operands(NamedTuple):
    """Where the operands of a loop's body come from, an entry for each operation and operand.

    kind      LOCAL, CARRIED, INVARIANT or STRIDED
    place     for LOCAL and CARRIED the operation of the body that makes it, else its cell the first time
    distance  for CARRIED how many times before, for STRIDED how many cells on each time
    """

    kind: Array
    place: Array
    distance: Array


class Rolled(NamedTuple):
    """A loop's code and its arguments."""

    source: code.Source
    arguments: Array
    times: int


def operands_of(program: Numbers, loop: Loop) -> Operands:
    """The operands of a loop's body."""
    period, base = loop.period, program.first + loop.start
    first = program.operands[loop.start : loop.start + period]
    stride = program.operands[loop.start + period : loop.start + 2 * period] - first
    times, place = np.divmod(first - base, period)
    back = -times
    own = (stride == period) & (back >= 0) & (back <= min(FARTHEST, loop.times - 1))
    kind = np.where(own & (back == 0), LOCAL, np.where(own, CARRIED, np.where(stride == 0, INVARIANT, STRIDED)))
    return Operands(kind, np.where(own, place, first), np.where(own, back, stride))


def read_cells(program: Numbers, loop: Loop, operands: Operands) -> Array:
    """The cells that a loop reads from memory."""
    whole = program.operands[loop.start : loop.stop].reshape(loop.times, loop.period, 3)
    read = [operands.place[operands.kind == INVARIANT], whole[:, operands.kind == STRIDED].ravel()]
    for back in range(1, FARTHEST + 1):
        read.append(whole[:back, (operands.kind == CARRIED) & (operands.distance == back)].ravel())
    return np.concatenate(read)


def apply(e: Emitter, case: Case, given: list[Value]) -> Value:
    """What a case's formula gives."""
    if case.name == FUSED:
        x, y, total = given
        return e.fma(x, y, total) if llvm.has_fma() else e.add(e.multiply(x, y), total)
    return applied(e, case.name, case.attributes, case.result, *given)


def roll(program: Numbers, loop: Loop, operands: Operands, needed: Array, edges: Array) -> Rolled:
    """A loop's code. `needed` says which cells somebody reads; cells between two of the `edges` move together when a program
    of the same structure is of another length."""
    return _Roller(program, loop, operands, needed, edges).rolled()


LOOP = (("ptr", "%cells"), ("ptr", "%arguments"), ("i64", "%count"), ("ptr", "%libm"))


class _Roller:
    """Writes the function of one loop."""

    def __init__(self, program: Numbers, loop: Loop, operands: Operands, needed: Array, edges: Array) -> None:
        self.program, self.loop, self.operands, self.edges = program, loop, operands, edges
        self.e = Emitter(1)
        self.arguments: list[int] = []
        self.cases = [program.cases[k] for k in program.case[loop.start : loop.start + loop.period].tolist()]
        base = program.first + loop.start
        used: Array = needed[base : base + loop.period * loop.times].reshape(loop.times, loop.period)
        self.stored: Array = np.asarray(used[:-1].any(axis=0))
        self.last: Array = used[loop.times - 1, :] & ~self.stored
        self.made: list[Value] = []
        self.invariants: dict[int, Value] = {}
        self.carried: dict[int, list[str]] = {}  # stack slots of the numbers made 1, 2, ... times before
        self.pointers: dict[tuple[int, int], tuple[str, int]] = {}  # of each group, and its reference cell
        self.finals: dict[int, str] = {}

    def rolled(self) -> Rolled:
        e, loop = self.e, self.loop
        self.read_invariants()
        self.start_carried()
        groups = self.find_groups()
        self.finals = {j: e.allocate(self.cases[j].result, 1) for j in np.flatnonzero(self.last).tolist()}
        start, step = self.argument((self.program.first + loop.start) * CELL), str(loop.period * CELL)
        with e.loop("0", "%count", 1) as i:
            for key, (first, stride, cell) in groups.items():
                self.pointers[key] = self.pointer(first, stride, i), cell
            base = self.pointer(start, step, i)
            for j in range(loop.period):
                self.write(j, base)
            self.carry_on()
        base = self.pointer(start, step, e.index("sub", "%count", 1))
        for j, slot in self.finals.items():
            self.store(e.get(slot, self.cases[j].result), base, j * CELL)
        source = source_of([e.function("loop", LOOP, internal=False, prologue=machine.lookups(e))], ("loop",))
        return Rolled(source, np.array(self.arguments, np.int64), loop.times)

    def argument(self, number: int) -> str:
        """A number that is given when the loop is run."""
        where = self.e.at("%arguments", len(self.arguments), "i64")
        self.arguments.append(number)
        return self.e.read_number(where)

    def pointer(self, start: str, stride: str, i: str) -> str:
        """The address `start + i·stride` bytes behind the first cell."""
        return self.e.at("%cells", self.e.plus(start, self.e.times(i, stride)), "i8")

    def load(self, pointer: str, nbytes: int, dtype: str) -> Value:
        where = self.e.at(pointer, nbytes, "i8") if nbytes else pointer
        return self.e.load_scalar(where, "0", dtype)

    def store(self, value: Value, pointer: str, nbytes: int) -> None:
        where = self.e.at(pointer, nbytes, "i8") if nbytes else pointer
        self.e.store_scalar(value, where, "0")

    def used(self, kind: int) -> list[tuple[int, int]]:
        """The operations and operands of a kind, those that a case has."""
        return [(j, k) for j, k in np.argwhere(self.operands.kind == kind).tolist() if k < len(self.cases[j].operands)]

    def read_invariants(self) -> None:
        program = self.program
        constants = program.first + program.size
        for j, k in self.used(INVARIANT):
            cell, dtype = int(self.operands.place[j, k]), self.cases[j].operands[k]
            if cell in self.invariants:
                continue
            if cell >= constants and program.constants[cell - constants][1] in LITERALS:
                kind, value = program.constants[cell - constants]
                self.invariants[cell] = self.e.constant(value, kind)
            elif cell >= constants or cell < program.first + self.loop.start:
                where = self.e.at("%cells", self.argument(cell * CELL), "i8")
                value = self.invariants[cell] = self.e.load_scalar(where, "0", dtype)
                if cell >= constants and is_ordinary(program.constants[cell - constants][1]):
                    self.e.ordinary.add(value.name)

    def start_carried(self) -> None:
        e, base = self.e, self.program.first + self.loop.start
        farthest: dict[int, int] = {}
        for j, k in self.used(CARRIED):
            place, back = int(self.operands.place[j, k]), int(self.operands.distance[j, k])
            farthest[place] = max(farthest.get(place, 0), back)
        for place, most in farthest.items():
            slots = []
            for back in range(1, most + 1):
                where = self.argument((base + place - back * self.loop.period) * CELL)
                value = self.load(e.at("%cells", where, "i8"), 0, self.cases[place].result)
                slots.append(e.variable(value))
            self.carried[place] = slots

    def find_groups(self) -> dict[tuple[int, int], tuple[str, str, int]]:
        """What is read at a stride in groups that move together: start, stride, and the cell that the start is."""
        groups: dict[tuple[int, int], tuple[str, str, int]] = {}
        inner = [(j, k) for j, k in self.used(INVARIANT) if int(self.operands.place[j, k]) not in self.invariants]
        for j, k in [*self.used(STRIDED), *inner]:
            cell = int(self.operands.place[j, k])
            key = self.group(j, k)
            if key not in groups:
                groups[key] = self.argument(cell * CELL), self.argument(key[0] * CELL), cell
        return groups

    def group(self, j: int, k: int) -> tuple[int, int]:
        cell, stride = int(self.operands.place[j, k]), int(self.operands.distance[j, k])
        return stride, int(np.searchsorted(self.edges, cell, side="right"))

    def operand(self, j: int, k: int) -> Value:
        kind, place = int(self.operands.kind[j, k]), int(self.operands.place[j, k])
        if kind == LOCAL:
            return self.made[place]
        dtype = self.cases[j].operands[k]
        if kind == CARRIED:
            return self.e.get(self.carried[place][int(self.operands.distance[j, k]) - 1], dtype)
        if kind == INVARIANT and place in self.invariants:
            return self.invariants[place]
        pointer, cell = self.pointers[self.group(j, k)]
        return self.load(pointer, (place - cell) * CELL, dtype)

    def write(self, j: int, base: str) -> None:
        case = self.cases[j]
        value = apply(self.e, case, [self.operand(j, k) for k in range(len(case.operands))])
        self.made.append(value)
        if self.stored[j]:
            self.store(value, base, j * CELL)
        elif j in self.finals:
            self.e.set(self.finals[j], value)

    def carry_on(self) -> None:
        e = self.e
        for place, slots in self.carried.items():
            dtype = self.cases[place].result
            for later, earlier in zip(reversed(slots[1:]), reversed(slots[:-1]), strict=True):
                e.set(later, e.get(earlier, dtype))
            e.set(slots[0], self.made[place])


assert max(ITEMSIZE.values()) <= CELL
