"""A machine for single numbers: what a plan of small arrays is written out to, run by one native loop.

Operations stand in a row as records: the cell to write, the cells to read. Those of one level of the graph that are equal follow
each other, as a run of a function that is compiled once for its case; functions that take long (exp, sin, ...) have a form for
a whole vector of operations. So a new program costs no compilation. Stretches that repeat (see `repetition`) are loops, whose
bodies are compiled.
"""

from __future__ import annotations

import ctypes
import itertools
import time
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from adjoint import _forks
from adjoint.compiler.loops.build import ITEMSIZE, Emitter, Value
from adjoint.compiler.targets.llvm import lines_of, source_of
from adjoint.graph.collector import without_collector
from adjoint.machine import numbers, repetition, rolled, stretched
from adjoint.machine.numbers import Case, Hosted, Numbers
from adjoint.machine.tape import ROWS, machine
from adjoint.plan.plan import Plan
from adjoint.runtime import code, llvm
from adjoint.runtime.memory import address

__all__ = ["NumberMachine", "compile_numbers"]

Array = np.ndarray[Any, Any]

CELL = 8  # bytes
PART = 24
HEAVY = 16  # lines of code: formulas from here on are worth a gather for each operand
COPY = "copy"


class Functions:
    """The functions of cases, compiled when first met in the process."""

    def __init__(self) -> None:
        self.lock = _forks.waited_for()
        self.known: dict[tuple[Case, int], int] = {}
        self.heavy: dict[Case, bool] = {}
        self.codes: list[code.Code] = []
        self.run: Any = None

    def load(self, wanted: Collection[tuple[Case, int]], loops: Sequence[code.Source]) -> list[code.Code]:
        """Compile what is new; the code of the loops."""
        with self.lock:
            missing = [x for x in dict.fromkeys(wanted) if x not in self.known]
            first = [] if self.run is not None else [code.in_c(*ROWS)]
            found = code.load([*first, *[_source(case, lanes) for case, lanes in missing], *loops])
            if first:
                self.codes.append(found[0])
                pointer = ctypes.c_void_p
                self.run = ctypes.PYFUNCTYPE(None, pointer, pointer, pointer, pointer)(found[0].addresses["runs"])
            ours = found[len(first) : len(first) + len(missing)]
            self.codes += ours
            for x, one in zip(missing, ours, strict=True):
                self.known[x] = one.addresses["case"]
            return found[len(first) + len(missing) :]

    def lanes(self, case: Case) -> int:
        """How many operations of a case are worth doing at once."""
        heavy = self.heavy.get(case)
        if heavy is None:
            e = Emitter(1)
            _apply(e, case, [Value("%x", d) for d in case.operands])
            heavy = self.heavy[case] = len(lines_of(e.body)) >= HEAVY and not e.libm
        if not heavy:
            return 1
        return llvm.vector_bits() // (8 * max([ITEMSIZE[d] for d in (case.result, *case.operands)]))


functions = Functions()


def _apply(e: Emitter, case: Case, given: list[Value]) -> Value:
    return given[0] if case.name == COPY else rolled.apply(e, case, given)


CASE = (("ptr", "%cells"), ("ptr", "%records"), ("i64", "%count"), ("ptr", "%libm"))


def _source(case: Case, lanes: int) -> code.Source:
    """The function of a run: (cells, records, count, libm). A record is four numbers of cells, the result's first; with more
    lanes than one, `count` is of vectors of records."""
    e = Emitter(lanes)
    with e.loop("0", "%count", 1) as i:
        record = e.at("%records", e.times(i, 4 * lanes), "i32")

        def place(k: int, dtype: str) -> str:
            scale = CELL // ITEMSIZE[dtype]
            if lanes == 1:
                cell = e.read_number(e.at(record, k, "i32"), "i32")
                return cell if scale == 1 else e.times(cell, scale)
            wide = e.cast(e.load(record, str(k), "int32", 4), "int64")
            return e.multiply(wide, scale).name

        given = []
        for k, dtype in enumerate(case.operands, 1):
            at = place(k, dtype)
            given.append(e.load_scalar("%cells", at, dtype) if lanes == 1 else e.load("%cells", "0", dtype, at))
        value, at = _apply(e, case, given), place(0, case.result)
        if lanes == 1:
            e.store_scalar(value, "%cells", at)
        else:
            e.store(value, "%cells", "0", at)
    return source_of([e.function("case", CASE, internal=False, prologue=machine.lookups(e))], ("case",))


class Layout:
    """Where operations go: runs of equal ones, level by level, and loops between them."""

    def __init__(self, program: Numbers, loops: Sequence[repetition.Loop]) -> None:
        self.program = program
        self.records: list[Array] = []
        self.size = 0
        # (case, lanes), a loop's number or a step for NumPy; the first record; how many
        self.parts: list[tuple[Any, int, int]] = []
        self.bounds = [0]  # behind the last part of each stretch
        at = 0
        for number, loop in enumerate(loops):
            self.between(at, loop.start)
            self.parts.append((number, 0, loop.times))
            self.bounds.append(len(self.parts))
            at = loop.stop
        self.between(at, program.size)

    def between(self, start: int, stop: int) -> None:
        """The operations from `start` to `stop`: what NumPy computes, and the others in runs."""
        if stop <= start:
            return
        at = start
        for hosted in self.program.hosted:
            if start <= hosted.start < stop:
                self.straight(at, hosted.start)
                self.parts.append((hosted, 0, 0))
                at = hosted.stop
        self.straight(at, stop)
        self.bounds.append(len(self.parts))

    def straight(self, start: int, stop: int) -> None:
        """The operations from `start` to `stop`, in runs."""
        if stop <= start:
            return
        program = self.program
        operands, case = program.operands[start:stop], program.case[start:stop]
        level = np.array(_levels((operands - (program.first + start)).tolist()), np.int64)
        order = np.lexsort((case, level))
        records = np.empty((stop - start, 4), np.int32)
        records[:, 0] = program.first + start + order
        records[:, 1:] = operands[order]
        ordered = np.stack([level[order], case[order]])
        edges = np.flatnonzero((ordered[:, 1:] != ordered[:, :-1]).any(axis=0)) + 1
        bounds = [0, *edges.tolist(), stop - start]
        for a, b in itertools.pairwise(bounds):
            self.add(program.cases[int(case[order[a]])], a, b)
        self.records.append(records)
        self.size += len(records)

    def add(self, case: Case, start: int, stop: int) -> None:
        lanes = functions.lanes(case)
        whole = (stop - start) // lanes if lanes > 1 else 0
        if whole:
            self.parts.append(((case, lanes), self.size + start, whole))
        if start + whole * lanes < stop:
            self.parts.append(((case, 1), self.size + start + whole * lanes, stop - start - whole * lanes))

    def copies(self, dtype: str, sources: Array, first: int) -> None:
        """Copy cells side by side."""
        records = np.zeros((len(sources), 4), np.int32)
        records[:, 0] = first + np.arange(len(sources))
        records[:, 1] = sources
        self.add(Case(COPY, None, dtype, (dtype,)), 0, len(sources))
        self.records.append(records)
        self.size += len(records)


def _levels(rows: list[list[int]]) -> list[int]:
    """How many operations each one waits for, one after the other."""
    level = [0] * len(rows)
    for k, (a, b, c) in enumerate(rows):
        deepest = level[a] if 0 <= a < k else -1
        if 0 <= b < k and level[b] > deepest:
            deepest = level[b]
        if 0 <= c < k and level[c] > deepest:
            deepest = level[c]
        level[k] = deepest + 1
    return level


class NumberMachine:
    """A plan as a program of single numbers. One run at a time."""

    masks = True

    def __init__(self, plan: Plan, program: Numbers, loops: Sequence[repetition.Loop]) -> None:
        self.lock = _forks.rlock()
        self.running = False
        self.alone = not program.hosted
        self.stretches = repetition.stretches(program, loops)
        self.sources: list[code.Source] = []  # of the loops' bodies
        self.repeats = 2 * sum([loop.stop - loop.start for loop in loops]) > program.size
        layout = Layout(program, loops)
        self.bounds = layout.bounds
        behind = program.cells
        copied: dict[str, list[tuple[int, Array]]] = {}
        for k, (_, dtype, cells) in enumerate(program.outputs):
            copied.setdefault(dtype, []).append((k, cells))
        self.places: dict[int, int] = {}  # the first cell of the copy of each output
        for dtype, members in copied.items():
            for k, cells in members:
                self.places[k] = behind
                layout.copies(dtype, cells, behind)
                behind += len(cells)
        self.cells = np.zeros(behind, np.int64)
        self.operations = program.first  # the cell of the first operation
        for cell, (dtype, value) in enumerate(program.constants, program.first + program.size):
            self.typed(dtype, cell, 1)[...] = value
        self.link(program, loops, layout)
        self.bind(plan, program)

    def link(self, program: Numbers, loops: Sequence[repetition.Loop], layout: Layout) -> None:
        """Point to the functions of all parts."""
        operands = [rolled.operands_of(program, loop) for loop in loops]
        bodies = [
            rolled.roll(program, loop, given, needed, edges)
            for needed, edges in [(_needed(program, loops, operands), _edges(program, loops))]
            for loop, given in zip(loops, operands, strict=True)
        ]
        self.bodies = functions.load([key for key, _, _ in layout.parts if type(key) is tuple],
                                     [body.source for body in bodies])  # fmt: skip
        self.sources = [body.source for body in bodies]
        self.libm = machine.functions_of_libm()
        self.records = np.concatenate(layout.records) if layout.records else np.zeros((0, 4), np.int32)
        self.arguments = [body.arguments for body in bodies]
        self.parts = np.empty((len(layout.parts), 3), np.int64)
        start = address(self.records)
        for row, (key, first, count) in zip(self.parts, layout.parts, strict=True):
            if type(key) is tuple:
                row[:] = functions.known[key], start + 16 * first, count
            elif isinstance(key, Hosted):
                row[:] = 0
            else:
                row[:] = self.bodies[key].addresses["loop"], address(self.arguments[key]), count
        self.first, self.base = address(self.parts), address(self.cells)
        self.hosted = {k: key for k, (key, _, _) in enumerate(layout.parts) if isinstance(key, Hosted)}
        self.ends = [*self.hosted, len(self.parts)]

    def go(self, first: int, last: int) -> None:
        """Run these parts."""
        for end in self.ends:
            if first <= end:
                stop = min(end, last)
                if stop > first:
                    functions.run(self.first + first * PART, self.first + stop * PART, self.base, self.libm)
                if end >= last:
                    return
                self.compute_hosted(self.hosted[end])
                first = end + 1

    def compute_hosted(self, hosted: Hosted) -> None:
        """Have NumPy compute a step."""
        whole = len(self.cells)
        given = [self.typed(dtype, 0, whole)[cells].reshape(shape) for shape, dtype, cells in hosted.inputs]
        t = hosted.step.type
        place = self.typed(t.dtype.name, self.operations + hosted.start, t.size).reshape(t.shape)
        place[...] = hosted.step.masked(*given)

    def bind(self, plan: Plan, program: Numbers) -> None:
        """Views of what is given and of what is asked for."""
        self.leaves = [
            (k, self.typed(t.dtype.name, cell, t.size).reshape(t.shape))
            for k, (t, cell) in enumerate(zip(plan.leaf_types, program.leaves, strict=True))
        ]
        by_dtype: dict[str, list[int]] = {}
        for k, t in enumerate(plan.number_types):
            by_dtype.setdefault(t.dtype.name, []).append(k)
        self.numbers = [
            (self.typed(dtype, 0, len(self.cells)), np.array([program.numbers[k] for k in members]), members)
            for dtype, members in by_dtype.items()
        ]
        self.written: list[Any] = []
        self.results = [
            self.typed(dtype, self.places[k], len(cells)).reshape(shape)
            for k, (shape, dtype, cells) in enumerate(program.outputs)
        ]

    def typed(self, dtype: str, first: int, count: int) -> Array:
        """Some cells as numbers of a dtype."""
        found: Array = self.cells[first : first + count].view(np.dtype(dtype))[:: CELL // ITEMSIZE[dtype]]
        return found

    def __str__(self) -> str:
        return repetition.printed(self.stretches)

    @property
    def nbytes(self) -> int:
        """About the bytes that it takes."""
        return int(self.cells.nbytes + self.records.nbytes + self.parts.nbytes) + 500 * len(self.leaves)

    def station(self, partners: dict[int, int]) -> None:
        """It has no frame for one caller alone."""

    def run(self, leaves: list[Any], numbers: list[Any], masked: bool, donated: Collection[int] = ()) -> list[Any]:
        """The values of the outputs."""
        with self.lock:
            if self.running:
                return self.run_between(leaves, numbers)
            try:
                self.running = True
                return self.compute(leaves, numbers)
            finally:
                self.running = False

    def compute(self, leaves: list[Any], numbers: list[Any]) -> list[Any]:
        for k, place in self.leaves:
            place[...] = leaves[k]
        if numbers != self.written or 0 in numbers:  # 0 equals -0
            self.written = []  # an interrupt may come before all of them are written
            for view, cells, members in self.numbers:
                view[cells] = [numbers[k] for k in members]
            self.written = list(numbers)
        self.go(0, len(self.parts))
        return [x.copy() for x in self.results]

    def timed(self, leaves: list[Any], numbers: list[Any], rounds: int) -> list[float]:
        """The seconds that each stretch takes on these values, the best of some rounds."""
        best = [float("inf")] * len(self.stretches)
        with self.lock:
            for _ in range(rounds):
                self.compute(leaves, numbers)
                for k, (a, b) in enumerate(itertools.pairwise(self.bounds)):
                    start = time.perf_counter()
                    self.go(a, b)
                    best[k] = min(best[k], time.perf_counter() - start)
        return best

    def run_between(self, leaves: list[Any], numbers: list[Any]) -> list[Any]:
        """Run in the middle of a run of this thread, which a finalizer or a signal's handler has interrupted."""
        before, written = self.cells.copy(), self.written
        try:
            self.written = []
            return self.compute(leaves, numbers)
        finally:
            self.cells[...] = before
            self.written = written


def _needed(program: Numbers, loops: Sequence[repetition.Loop], operands: Sequence[rolled.Operands]) -> Array:
    """Which cells are read from memory."""
    needed = np.zeros(program.cells, bool)
    for _, _, cells in program.outputs:
        needed[cells] = True
    straight = np.ones(program.size, bool)
    for loop, given in zip(loops, operands, strict=True):
        straight[loop.start : loop.stop] = False
        needed[rolled.read_cells(program, loop, given)] = True
    for hosted in program.hosted:
        for _, _, cells in hosted.inputs:
            needed[cells] = True
    needed[program.operands[straight].ravel()] = True
    return needed


def _edges(program: Numbers, loops: Sequence[repetition.Loop]) -> Array:
    """Where stretches of cells begin that keep their distances in programs of other lengths."""
    first = program.first
    edges = {*program.leaves, *program.numbers[:1], first, first + program.size}
    edges.update([first + at for loop in loops for at in (loop.start, loop.stop)])
    return np.array(sorted(edges), np.int64)


def compile_numbers(plan: Plan) -> NumberMachine | None:
    """The plan on the machine; None where a step isn't written out as operations on single numbers."""
    return without_collector(_compiled, plan)


def _compiled(plan: Plan) -> NumberMachine | None:
    try:
        program = numbers.write_out(plan)
        if plan.repeats is not None:
            longer, more = plan.repeats
            found = stretched.extrapolated([program, *map(numbers.write_out, longer)], more)
            return None if found is None else NumberMachine(plan, *found)
    except numbers.NotNumbers:
        return None
    if not program.size:
        return None
    return NumberMachine(plan, program, repetition.find_loops(program))
