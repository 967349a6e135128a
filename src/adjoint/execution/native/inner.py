"""Loops and choices within native programs: programs of their own, which native code of the program around runs.

What one run at a time may use of them stands in that program's frames: a frame for each, memory for carries, and a description of
where everything is, which a unit's function is given (see `stepping` for that code, and `machine.scans`)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.compiler.fuse.kinds import Product
from adjoint.execution.native.frames import loop_address
from adjoint.execution.native.program import compile_nests
from adjoint.execution.native.stepping import COPY, PATCH, Stepper, Where, driver, own_frame, stepper_of
from adjoint.machine.scans import CALLED, CHOSEN
from adjoint.plan.plan import Plan
from adjoint.runtime.memory import address

__all__ = ["ChoicePart", "LoopPart", "choice_part_of", "loop_part_of"]

Array = np.ndarray[Any, Any]

MOST_MEMORY = 1 << 20  # bytes of a loop within another program, of which each frame of that has as many
CALL_TIME = 50  # nanoseconds of a step, besides its units
OUTSIDE = 48  # bits of an address; above them stands, before it is known, the number of the operand, from 1


class LoopPart:
    """What a scan repeats, as a program that the native code of another one runs for step after step (see `machine.scans` for
    steps that are written out). `operations`: about how many nanoseconds a step takes."""

    code, may_stop = CALLED, False

    def __init__(self, stepper: Stepper, constants: int, carries: int, types: Sequence[Any]) -> None:
        self.stepper = stepper
        self.constants, self.carries = constants, carries
        self.types = types  # of the inputs, then of the outputs
        self.operations = int(stepper.program.linked.time) + CALL_TIME

    def said(self, length: int) -> str:
        """What people are told."""
        return f"{length:,} steps of {len(self.stepper.program.linked.calls)} calls each"

    def frame(self, length: int, reverse: bool) -> LoopFrame:
        """What one run at a time of the program around may use."""
        return LoopFrame(self, length, reverse)


class LoopFrame:
    """A frame of a loop's program, two arrays for each carry, and what says where everything is, at `address`."""

    def __init__(self, part: LoopPart, length: int, reverse: bool) -> None:
        stepper, types = part.stepper, part.types
        frame = self.frame = own_frame(stepper.program, 1)
        first, behind, count = part.constants, part.constants + part.carries, len(types) - len(stepper.outputs)
        sizes = [t.size * t.dtype.itemsize for t in types]
        start, by = (length - 1, -1) if reverse else (0, 1)

        def outside(k: int, sliced: bool) -> Where:
            along = sizes[k] if sliced else 0
            return ((k + 1) << OUTSIDE) + start * along, by * along, 0

        likes = [np.empty(types[k].shape, types[k].dtype.dtype) for k in range(first, behind)]
        pairs = stepper.pairs(first, likes, False)
        inputs = [outside(k, False) for k in range(first)]
        inputs += [(address(a), 0, address(b) - address(a)) for a, b in pairs]
        inputs += [outside(k, True) for k in range(behind, count)]
        results: list[Where] = [(address(b), 0, address(a) - address(b)) for a, b in pairs]
        results += [outside(k, True) for k in range(count + part.carries, len(types))]
        self.inner: dict[int, Array] = {}
        rows, copies = stepper.rows(inputs, results, self.inner)
        patches = [_patches(table, column) for table, column in ((rows, 1), (copies, 0), (copies, 3))]
        begins = [(first + k, address(a), sizes[first + k]) for k, (a, _) in enumerate(pairs)]
        ends = [(count + k, address(pair[length % 2]), sizes[first + k]) for k, pair in enumerate(pairs)]
        self.tables = [rows, copies, np.concatenate(patches), np.array(begins, np.int64), np.array(ends, np.int64)]
        self.pairs = pairs
        runs = loop_address(), frame.records[0], address(frame.table)
        self.loop = _described(
            runs, self.tables, length, ctypes.addressof(frame.failure), ctypes.addressof(frame.status)
        )
        self.address = address(self.loop)


def _described(runs: Sequence[Any], tables: Sequence[Array], length: int, failure: int, status: int) -> Array:
    """What a loop says of itself (`struct loop` of `stepping.c`)."""
    places = [x for table in tables for x in (address(table), address(table) + table.nbytes)]
    found, _ = driver()
    return np.array([found.addresses["scan"], *runs, *places[:4], length, failure, status, *places[4:]], np.int64)


class PassPart:
    """A branch that hands on what it is given: for each result, the number of the input."""

    operations = CALL_TIME

    def __init__(self, sources: Sequence[int], types: Sequence[Any]) -> None:
        self.sources, self.types = sources, types

    def frame(self, length: int, reverse: bool) -> PassFrame:
        """What says where everything is."""
        return PassFrame(self)


class PassFrame:
    """What a branch copies, at `address`."""

    def __init__(self, part: PassPart) -> None:
        count = len(part.types) - len(part.sources)
        copies = np.zeros((len(part.sources), COPY), np.int64)
        for row, source, t in zip(copies, part.sources, part.types[count:], strict=True):
            row[3], row[6] = (source + 1) << OUTSIDE, t.size * t.dtype.itemsize
        copies[:, 0] = np.arange(count + 1, len(part.types) + 1) << OUTSIDE
        none = np.empty((0, PATCH), np.int64)
        patches = np.concatenate([_patches(copies, 0), _patches(copies, 3)])
        self.tables = [none, copies, patches, none, none]
        self.fine = np.zeros(2, np.int64)  # no failure, no status
        found, _ = driver()
        runs = found.addresses["nothing"], 0, 0
        self.loop = _described(runs, self.tables, 1, address(self.fine), address(self.fine))
        self.address = address(self.loop)


class ChoicePart:
    """Branches as programs of which the native code of another one runs one (see `machine.scans`)."""

    code, may_stop = CHOSEN, False

    def __init__(self, parts: Sequence[LoopPart | PassPart]) -> None:
        self.parts = parts
        self.operations = max([part.operations for part in parts])

    def said(self, length: int) -> str:
        """What people are told."""
        return f"one of {len(self.parts)} programs"

    def frame(self, length: int, reverse: bool) -> ChoiceFrame:
        """What one run at a time of the program around may use."""
        return ChoiceFrame(self)


class ChoiceFrame:
    """A frame for each branch, and what says which is which, at `address`."""

    def __init__(self, part: ChoicePart) -> None:
        self.frames = [one.frame(1, False) for one in part.parts]
        self.loops = np.array([frame.address for frame in self.frames], np.int64)
        found, _ = driver()
        self.choice = np.array([found.addresses["choose"], len(self.loops), address(self.loops)], np.int64)
        self.address = address(self.choice)


def choice_part_of(
    branches: Sequence[tuple[Plan, Sequence[int], Sequence[int]]], types: Sequence[Any]
) -> ChoicePart | None:
    """Branches as part of a native program, each a plan of inputs and outputs of these types; None where one can't be."""
    parts: list[LoopPart | PassPart] = []
    for plan, order, picks in branches:
        slots = [plan.outputs[k][2] for k in picks]
        part: LoopPart | PassPart | None
        if plan.steps:
            part = loop_part_of(plan, order, picks, len(types) - len(picks), 0, types)
        else:
            part = PassPart([order[slot] for slot in slots], types) if max(slots, default=0) < len(order) else None
        if part is None:
            return None
        parts.append(part)
    return ChoicePart(parts)


def _patches(table: Array, column: int) -> Array:
    """What is to be patched in a column: entries that say which operand they begin in."""
    at = np.flatnonzero(table[:, column] >> OUTSIDE) if len(table) else np.empty(0, np.int64)
    found = np.empty((len(at), PATCH), np.int64)
    found[:, 0] = (table[at, column] >> OUTSIDE) - 1
    found[:, 1] = table[at, column] & ((1 << OUTSIDE) - 1)
    found[:, 2] = address(table) + (at * table.shape[1] + column) * table.itemsize
    return found


def loop_part_of(
    plan: Plan, order: Sequence[int], picks: Sequence[int], constants: int, carries: int, types: Sequence[Any]
) -> LoopPart | None:
    """A scan's body as part of a native program; None where it isn't native alone, may fail, has work for several threads, or
    needs much memory."""
    program = compile_nests(plan)
    if program is None or program.launches or program.table.checks or program.linked.own.calls:
        return None
    if any([isinstance(unit, Product) and unit.is_cut for unit in program.fusion.units]):
        program = compile_nests(plan._replace(alone=True))
    stepper = stepper_of(program, order, picks)
    carried = sum([t.size * t.dtype.itemsize for t in types[constants : constants + carries]])
    if program is None or stepper is None or carried + program.scratch_start + program.scratch_size > MOST_MEMORY:
        return None
    return LoopPart(stepper, constants, carries, types)
