"""Loops over small things: a body of small arrays written out element by element, carried on in registers.

What moves elements (reshape, slice, concat, ...) is done while writing and costs nothing; what computes becomes one scalar
operation for each element, equal ones once. So a step of a Runge-Kutta method or of a filter is straight-line code, and a
loop of a million such steps is compiled as fast as one of ten.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import ITEMSIZE, Emitter, Value
from adjoint.compiler.loops.text import functions_text
from adjoint.compiler.pipeline import source_text
from adjoint.compiler.targets.llvm import source_of
from adjoint.machine.ahead import Ahead
from adjoint.machine.elements import MOST_ELEMENTS, Element, Elements, NotScalar
from adjoint.machine.within import NestedWriter, Surroundings
from adjoint.plan.plan import Plan
from adjoint.runtime import code, libraries
from adjoint.runtime.memory import address

__all__ = ["ScalarLoop", "loop_of"]

FEW = 24  # constants that are loaded before the loop

LOOP = (("ptr", "%table"), ("i64", "%first"), ("i64", "%step"), ("i64", "%count"))


class ScalarLoop:
    """A compiled loop. `run` takes arrays in C order, of the types of the body's inputs and outputs. One that `may_stop` ends
    before a step that it can't do: see `within`."""

    def __init__(self, written: Any, libm: dict[str, int], places: int, around: Surroundings) -> None:
        self.written = written
        self.may_stop = around.stuck is not None
        self.memory = list(around.memory.values())
        (self.code,) = code.load([self.source()])
        signature = ctypes.CFUNCTYPE(
            ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64
        )  # without the interpreter's lock: a loop may take long
        self.address = self.code.addresses["loop"]
        self.function = signature(self.address)
        self.fixed = [libraries.mathematics(name) for name in libm]
        self.places = places

    def source(self) -> code.Source:
        """LLVM's text of it."""
        return source_of([self.written], ("loop",))

    def text(self, stage: str) -> str:
        """The loop as such, LLVM's text or machine code."""
        return source_text(self.source(), stage) if stage in ("llvm", "assembly") else functions_text([self.written])

    def table(self, arrays: Sequence[Any]) -> Any:
        """What the function is given for these arrays, and memory of its own."""
        return (ctypes.c_void_p * (self.places + len(self.fixed)))(*[address(x) for x in arrays], *self.fixed)

    def run(self, arrays: Sequence[Any], first: int, step: int, count: int) -> int:
        """Go through the slices numbered first, first + step, ...; how many steps were done."""
        memory = [np.empty(nbytes, np.uint8) for nbytes in self.memory]
        table = self.table([*arrays, *memory])
        return int(self.function(ctypes.addressof(table), first, step, count))


def loop_of(
    plan: Plan,
    order: Sequence[int],
    inputs: Sequence[Any],
    results: Sequence[Any],
    constants: int,
    carries: int,
    picks: Sequence[int],
    condition: int | None = None,
) -> ScalarLoop | None:
    """The loop of a plan of one step (see `SmallStep`), None where that isn't small.

    The arrays of `run` are the constants, the carries, the slices, the results of the carries, the stacks.
    """
    try:
        return _alone(SmallStep(plan, order, inputs, results, constants, carries, picks, condition))
    except NotScalar:
        return None


class SmallStep:
    """A step of a loop over small things, for whatever function the loop stands in.

    order      for each leaf of the plan the number of the body's input that it is
    inputs     the types of the inputs: constants, carries, slices
    results    the types of the outputs: carries, then what is stacked
    picks      for each output of the body its position among the plan's outputs
    condition  the position of the bool that is asked before each step, if there is one
    """

    def __init__(
        self, plan: Plan, order: Sequence[int], inputs: Sequence[Any], results: Sequence[Any], constants: int, carries: int,
        picks: Sequence[int], condition: int | None,
    ) -> None:  # fmt: skip
        self.plan, self.order, self.inputs, self.results = plan, order, inputs, results
        self.constants, self.carries, self.picks, self.condition = constants, carries, picks, condition
        self.around = Surroundings()
        self.operations = 0

    def write(self, e: Emitter, pointers: Sequence[str], first: str, step: str, count: str) -> str:
        """Write the loop over `count` slices numbered first, first + step, ...; how many steps were done. The pointers are those
        of the constants, the carries, the slices, the results of the carries, the stacks."""
        inputs, constants, carries = self.inputs, self.constants, self.carries
        for t in inputs:
            if t.size > MOST_ELEMENTS or t.dtype.name not in ITEMSIZE:
                raise NotScalar
        read = set(self.order)
        early = sum(inputs[k].size for k in range(constants) if k in read) <= FEW
        given: dict[int, list[Element]] = {}

        def load(k: int, at: str = "0", apart: int = 0) -> list[Element]:
            dtype = inputs[k].dtype.name
            places = [str(i) if at == "0" else e.plus(at, i) for i in range(inputs[k].size)]
            if apart:
                return [e.load(pointers[k], place, dtype, apart) for place in places]
            return [e.load_scalar(pointers[k], place, dtype) for place in places]

        def load_ahead(leaf: int, low: str) -> Elements:
            k = self.order[leaf]
            size = inputs[k].size if k >= constants + carries else 0
            items = load(k, e.times(low, size), size) if size else load(k)
            return Elements(items, inputs[k].shape, inputs[k].dtype.name)

        if early:
            given.update({k: load(k) for k in range(constants) if k in read})
        kept: dict[int, list[str]] = {}
        for k in range(constants, constants + carries):
            kept[k] = [e.variable(x) for x in load(k) if isinstance(x, Value)]
        done, outer = e.fresh(), e.body
        e.body = []
        at = e.plus(first, e.times(done, step))
        if not early:
            given.update({k: load(k) for k in range(constants) if k in read})
        for k, slots in kept.items():
            given[k] = [e.get(slot, inputs[k].dtype.name) for slot in slots]
        ahead = self.ahead()
        handed = ahead.write(e, done, count, first, step, load_ahead)
        for k in range(constants + carries, len(inputs)):
            if k in read:
                given[k] = load(k, e.times(at, inputs[k].size))
        around = self.around = Surroundings()
        writer = NestedWriter(e, self.plan, around)
        for leaf, k in enumerate(self.order):
            writer.slots[leaf] = Elements(given[k], inputs[k].shape, inputs[k].dtype.name)
        writer.slots.update(handed or {})
        writer.write(None if handed is None else ahead.rest)
        self.operations = writer.count
        outputs = [writer.slots[slot] for _, _, slot, _ in self.plan.outputs]
        if around.stuck is not None:
            e.body.insert(0, L.Set(around.stuck, e.constant(False, "bool").name, "bool", 1))
            e.leave_unless(e.first(e.invert(e.get(around.stuck, "bool"))))
        if self.condition is not None:
            going = writer.value(outputs[self.condition].items[0], "bool")
            e.leave_unless(e.first(going))
        for k, place in enumerate(self.picks):
            found = outputs[place]
            items = found.whole(self.results[k].shape).items
            if k < carries:
                for slot, x in zip(kept[constants + k], items, strict=True):
                    e.set(slot, writer.value(x, found.dtype))
                continue
            base = e.times(at, len(items))
            for i, x in enumerate(items):
                e.store_scalar(writer.value(x, found.dtype), pointers[len(inputs) + k], e.plus(base, i))
        ran = e.fresh()
        outer.append(L.Repeat(done, count, tuple(e.body), ran))
        e.body = outer
        for k in range(carries):
            for i, slot in enumerate(kept[constants + k]):
                e.store_scalar(e.get(slot, inputs[constants + k].dtype.name), pointers[len(inputs) + k], str(i))
        return ran

    def ahead(self) -> Ahead:
        """What steps compute of slices and constants alone."""
        places = list(enumerate(self.order))
        slices = [leaf for leaf, k in places if k >= self.constants + self.carries]
        return Ahead(self.plan, slices, [leaf for leaf, k in places if k < self.constants])


def _alone(step: SmallStep) -> ScalarLoop:
    """A loop as a function of its own."""
    e = Emitter(1)
    pointers = [f"%p{k}" for k in range(len(step.inputs) + len(step.picks))]
    ran = step.write(e, pointers, "%first", "%step", "%count")
    around = step.around
    names = [*pointers, *around.memory, *[f"%libm{k}" for k in e.libm.values()]]
    prologue = [L.Entry(name, "%table", str(k)) for k, name in enumerate(names)]
    function = e.function("loop", LOOP, internal=False, prologue=prologue)._replace(result=ran)
    return ScalarLoop(function, e.libm, len(pointers) + len(around.memory), around)
