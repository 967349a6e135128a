"""A plan's native program, read stage by stage and unit by unit: what each computes, its code, who shares it, its time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.compiler import linking
from adjoint.compiler.excerpts import Key
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import (
    Host,
    Nest,
    Scan,
    Unit,
)
from adjoint.compiler.loops.build import BYTES
from adjoint.compiler.loops.formulas import REDUCTIONS, has_formula
from adjoint.compiler.loops.text import functions_text
from adjoint.compiler.pipeline import WRITTEN, Listing, source_text
from adjoint.execution.kernels import Kernel
from adjoint.execution.native.frames import Frame
from adjoint.execution.native.program import Native, chosen
from adjoint.machine.machine import CELL, NumberMachine
from adjoint.machine.tape import Tape, machine
from adjoint.plan.plan import Plan, Step
from adjoint.plan.text import Labels
from adjoint.shapes import size_of

ROUNDS = 5


class Report:
    """What the compiler makes of a plan, through the very stages that it runs through. `reason` says why there is no native
    program. What is `running` may be the plan's program that waits for others."""

    def __init__(self, plan: Plan, for_good: bool, running: Any = None) -> None:
        self.plan = plan
        self.before: dict[str, str] = {}  # stages whose results later ones change, as they were
        self.reason = ""
        self.program: Native | NumberMachine | Tape | None = None
        found = chosen(plan, for_good, self.note)
        if isinstance(found, Native) and isinstance(running, Native) and running.patient is not None:
            found = running.patient
        if isinstance(found, str):
            self.reason = found
        else:
            self.program = found
        if isinstance(found, Native):
            self.listing = Listing(found.fusion)
            self.shares = Counter(self.listing.keys.values())
        self.units: list[Unit] = self.listing.units if isinstance(found, Native) else []

    def note(self, name: str, state: Any) -> None:
        self.before[name] = str(state)

    # Stages

    def text(self, stage: str) -> str:
        """A stage as text."""
        if isinstance(self.program, Tape):
            return self.tape_text(self.program, stage)
        if isinstance(self.program, NumberMachine):
            return self.numbers_text(self.program, stage)
        if stage not in WRITTEN and stage != "units":
            return self.before.get(stage) or f"the plan doesn't come so far: {self.reason}"
        if self.program is None:
            return f"no native code: {self.reason}"
        return "\n\n".join([self.unit_text(index, stage) for index in range(len(self.units))])

    def unit_text(self, index: int, stage: str) -> str:
        """A unit at a stage: units, loops, llvm or assembly."""
        key, text = self.listing.keys.get(index), self.listing.of(index, stage)
        return text if key is None or stage != "units" else f"{text}\n{self.sharing(key)}"

    def sharing(self, key: Key) -> str:
        """A line on who runs a unit's code."""
        kernel = linking.find([key])[key]
        here = self.shares[key]
        elsewhere = linking.uses(kernel) - here  # this report's own program is among them
        chunks = "1 chunk" if kernel.chunks == 1 else f"{kernel.chunks} chunks"
        threads = ", for all threads" if linking.is_shared(kernel) else ""
        return f"       {chunks}{threads}; its code serves {here} here and {elsewhere} of other programs"

    def tape_text(self, tape: Tape, stage: str) -> str:
        """A tape's instructions, or the code of their kinds."""
        if stage == "plan" or stage not in (*WRITTEN, "units"):
            return str(self.plan)
        head = f"{len(tape.program)} instructions for the tape machine, of {len(tape.cases)} kinds"
        if stage == "units":
            return f"{head}\n{self.plan}"
        texts = []
        for case in tape.cases:
            kinds = ", ".join(
                [f"{d}{' (one number)' if s else ''}" for d, s in zip(case.operands, case.single, strict=True)]
            )
            name = f"{case.name}({kinds}) -> {case.result}, {case.lanes} at a time"
            loops = stage == "loops"
            text = functions_text([machine.written(case)]) if loops else source_text(machine.source(case), stage)
            texts.append(f"{name}\n{text}")
        return "\n\n".join([head, *texts])

    def numbers_text(self, program: NumberMachine, stage: str) -> str:
        """What a program of single numbers does once and what it repeats, or the code of the loops' bodies."""
        if stage == "plan" or stage not in (*WRITTEN, "units"):
            left = "" if self.plan.repeats is None else f"{self.plan.repeats[1]:,} times are left out of each loop; "
            return left + str(self.plan)
        if stage == "units":
            return str(program)
        texts = [source.text if stage == "loops" else source_text(source, stage) for source in program.sources]
        return "\n\n".join([str(program), *texts])

    def unit_of(self, slot: int) -> int | None:
        """The unit that computes a slot, or the array that it is a view of; None where no code does."""
        if not isinstance(self.program, Native):
            return None
        fusion = self.program.fusion
        slot = fusion.plan.same.get(slot, slot)
        view = fusion.views.get(slot)
        for wanted in (slot, None if view is None else view.root):
            for index, unit in enumerate(self.units):
                if wanted in unit.outputs or any(step.output == wanted for step in unit.computed):
                    return index
        return None

    # Times

    def kernels(self, leaves: list[Any], numbers: list[Any]) -> list[Kernel]:
        """The units in order, each timed on these values, the best of some runs."""
        if isinstance(self.program, Tape):
            return [self.tape_kernel(self.program, leaves, numbers)]
        if isinstance(self.program, NumberMachine):
            return _stretches(self.program, leaves, numbers)
        assert isinstance(self.program, Native)
        fusion = self.program.fusion
        program = Native(fusion, timed=True)
        seconds = _timed(program, len(self.units), leaves, numbers)
        found, keys = [], self.listing.keys
        for index, (unit, taken) in enumerate(zip(self.units, seconds, strict=True)):
            found.append(
                _kernel(fusion, unit, taken)._replace(
                    shared=self.shares[keys[index]] if index in keys else 1,
                    lines=self.listing.labels.lines([step.output for step in unit.computed]),
                    reason=unit.reason if isinstance(unit, Host) else "",
                )
            )
        return found

    def hosts(self) -> dict[int, Step]:
        """The steps that aren't compiled, and loops, by the numbers of their kernels."""
        return {index: unit.step for index, unit in enumerate(self.units) if isinstance(unit, Host | Scan)}

    def tape_kernel(self, tape: Tape, leaves: list[Any], numbers: list[Any]) -> Kernel:
        """All of a tape as one kernel."""
        seconds = float("inf")
        for _ in range(ROUNDS):
            start = time.perf_counter()
            tape.run(leaves, numbers, True)
            seconds = min(seconds, time.perf_counter() - start)
        steps = self.plan.steps
        elements = sum([step.type.size for step in steps])
        nbytes = sum([step.type.size * step.type.dtype.itemsize for step in steps])
        names = tuple([step.op.name for step in steps])
        lines = Labels(self.plan).lines([step.output for step in steps])
        return Kernel(
            "tape", max([step.type.shape for step in steps], key=size_of), names, nbytes, elements, seconds, 1, lines
        )


def _forgiven(frame: Frame) -> None:
    """Go on where a check failed: what stands in for values that aren't known may be singular, or out of bounds."""
    frame.failure[0] = 0


def _timed(program: Native, count: int, leaves: list[Any], numbers: list[Any]) -> list[float]:
    spent: list[float] = []

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> None:
            start = time.perf_counter()
            function(*arguments)
            spent.append(time.perf_counter() - start)

        return run

    program.calls = [(timed(function) if function is not None else None, step) for function, step in program.calls]
    program.run_host = timed(program.run_host)  # type: ignore[method-assign]
    program.fail = _forgiven  # type: ignore[method-assign]
    seconds = [float("inf")] * count
    for _ in range(ROUNDS):
        spent.clear()
        with np.errstate(all="ignore"):
            program.run(leaves, numbers, True)
        seconds = [min(pair) for pair in zip(seconds, spent, strict=True)]
    return seconds


def _stretches(machine: NumberMachine, leaves: list[Any], numbers: list[Any]) -> list[Kernel]:
    """The stretches of a program of single numbers."""
    seconds = machine.timed(leaves, numbers, ROUNDS)
    return [
        Kernel(
            found.label,
            (),
            tuple([name for name, count in found.operations.items() for _ in range(count)]),
            CELL * 3 * (found.stop - found.start),
            found.stop - found.start,
            taken,
        )
        for found, taken in zip(machine.stretches, seconds, strict=True)
    ]


def _kernel(fusion: Fusion, unit: Unit, seconds: float) -> Kernel:
    if isinstance(unit, Nest):
        names = [f"{p.name} {_flat(p.step.type.shape)}" for p in unit.products]
        names += [
            s.op.name for s in unit.steps if has_formula(s.op.name) or s.op.name in REDUCTIONS or s.op.name == "copy"
        ]
        names += [f"{p.name} {_flat(p.step.type.shape)}" for p in unit.followers]
        flops = sum(p.operations for p in unit.made)
        for step in unit.steps:
            if has_formula(step.op.name) or step.op.name in REDUCTIONS:
                per_row = unit.level[step.output] != "element" and step.op.name not in REDUCTIONS
                flops += size_of(fusion.shapes[step.output]) if per_row else size_of(unit.domain)
        return Kernel("loops", unit.domain, tuple(names), _traffic(fusion, unit), flops, seconds)
    shape = unit.step.type.shape if type(unit.step.type) is not tuple else ()
    return Kernel(unit.kind, shape, (unit.name,), _traffic(fusion, unit), unit.operations, seconds)


def _flat(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "1"


def _traffic(fusion: Fusion, unit: Unit) -> int:
    """Bytes of the arrays that a unit reads and writes, each counted once."""
    roots: set[int] = set()
    if isinstance(unit, Nest):
        inner = set(unit.level) - set(unit.stored)
        tiles = set(unit.tiles)
        for step in unit.steps:
            roots |= {fusion.views[i].root for i in step.inputs if i in fusion.views and i not in unit.level}
        roots |= set(unit.stored)  # of pieces each counts as much as the part that it is
        for product in unit.made:
            roots |= {*[view.root for view in product.reads], product.step.output}
        roots -= inner | tiles
    elif isinstance(unit, Host):
        roots = {fusion.views[i].root for i in (*unit.step.inputs, unit.step.output) if i in fusion.views}
    else:
        roots = {*[view.root for view in unit.reads], *unit.outputs}
    return sum(size_of(fusion.shapes[r]) * BYTES[fusion.dtypes[r]] for r in roots if r in fusion.shapes)
