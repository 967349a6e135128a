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
from adjoint.compiler.loops.formulas import REDUCTIONS, applied, is_lowered, reduces
from adjoint.compiler.loops.text import functions_text
from adjoint.compiler.pipeline import source_text
from adjoint.compiler.targets.llvm import source_of
from adjoint.plan.plan import Plan, Step
from adjoint.runtime import code, libraries, llvm
from adjoint.runtime.memory import address
from adjoint.shapes import Shape, drop_axes, size_of

__all__ = ["Positions", "ScalarLoop", "loop_of", "reduced_rows"]

MOST_ELEMENTS = 256  # of one array
MOST_OPERATIONS = 6000  # in a body: more take seconds to compile
FEW = 24  # constants that are loaded before the loop

LOOP = (("ptr", "%table"), ("i64", "%first"), ("i64", "%step"), ("i64", "%count"))

Element = Value | float | int | bool  # in a register, or known while writing


class NotScalar(Exception):
    """The body holds something that isn't written out element by element."""


class Elements:
    """The elements of one array, in row-major order."""

    __slots__ = ("dtype", "items", "shape")

    def __init__(self, items: list[Element], shape: tuple[int, ...], dtype: str) -> None:
        self.items = items
        self.shape = shape
        self.dtype = dtype


class BodyWriter:
    """Writes the steps of a plan, given the elements of its leaves."""

    def __init__(self, e: Emitter, plan: Plan) -> None:
        self.e = e
        self.plan = plan
        self.slots: dict[int, Elements] = {}
        self.made: dict[Any, Value] = {}
        self.count = 0
        for slot, array in plan.constants.items():
            t = plan.types[slot]
            if array.size > MOST_ELEMENTS or t.dtype.name not in ITEMSIZE:
                raise NotScalar
            self.slots[slot] = Elements(array.ravel().tolist(), array.shape, t.dtype.name)

    def write(self) -> None:
        """All steps, in order."""
        for step in self.plan.steps:
            t = step.type
            if type(t) is tuple or t.size > MOST_ELEMENTS or t.dtype.name not in ITEMSIZE:
                raise NotScalar
            inputs = [self.slots[i] for i in step.inputs]
            name = step.op.name
            if step.op.rearranges or (step.op.passes_on and not step.op.opaque):
                items = self.moved(step, inputs)
            elif name == "matmul":
                items = self.product(inputs[0], inputs[1])
            elif reduces(name, t.dtype.name, inputs[0].dtype) and type(step.attributes) is tuple:
                items = self.reduced(step, inputs[0])
            elif step.op.elementwise and is_lowered(name, step.attributes, t.dtype.name, [x.dtype for x in inputs]):
                items = self.elementwise(step, inputs)
            else:
                raise NotScalar
            self.slots[step.output] = Elements(items, t.shape, t.dtype.name)
            if self.count > MOST_OPERATIONS:
                raise NotScalar

    def value(self, x: Element, dtype: str) -> Value:
        return x if isinstance(x, Value) else self.e.constant(x, dtype)

    def operation(self, name: str, attributes: Any, dtype: str, inputs: Sequence[tuple[Element, str]]) -> Element:
        """One operation on one element of each operand; equal ones are computed once."""
        folded = _folded(name, inputs)
        if folded is not None:
            return folded
        key = (name, attributes, dtype, *[(x.name if isinstance(x, Value) else (repr(x), d)) for x, d in inputs])
        found = self.made.get(key)
        if found is None:
            self.count += 1
            self.e.known = {}
            found = self.made[key] = applied(self.e, name, attributes, dtype, *[self.value(x, d) for x, d in inputs])
        return found

    def moved(self, step: Step, inputs: list[Elements]) -> list[Element]:
        """The elements where the primitive's own kernel puts their numbers; 0 stands for a zero that it makes."""
        numbers: list[Any] = []
        items: list[Element] = [0]
        first = 1
        for x in inputs:
            count = len(x.items)
            numbers.append(np.arange(first, first + count).reshape(x.shape))
            items += x.items
            first += count
        places = np.asarray(step.op.kernel(step.attributes, Positions(step.type))(*numbers)).ravel()
        if len(places) != step.type.size:
            places = np.broadcast_to(places.reshape(-1), step.type.shape).ravel()
        return [items[k] for k in places.tolist()]

    def elementwise(self, step: Step, inputs: list[Elements]) -> list[Element]:
        shape, dtype = step.type.shape, step.type.dtype.name
        columns = []
        for x in inputs:
            places = np.broadcast_to(np.arange(len(x.items)).reshape(x.shape), shape).ravel().tolist()
            columns.append([(x.items[k], x.dtype) for k in places])
        return [self.operation(step.op.name, step.attributes, dtype, row) for row in zip(*columns, strict=True)]

    def reduced(self, step: Step, x: Elements) -> list[Element]:
        axes, dtype = step.attributes, step.type.dtype.name
        initial, combine = REDUCTIONS[step.op.name]
        results: list[Element] = []
        for row in reduced_rows(x.shape, axes):
            total: Element | None = None
            for k in row:
                value = self.e.cast(self.value(x.items[k], x.dtype), dtype)
                if total is None:
                    total = value
                elif step.op.name == "sum" and isinstance(total, Value):
                    total = self.sum_of(total, value, dtype)
                else:
                    self.count += 1
                    total = combine(self.e, self.value(total, dtype), value)
            results.append(initial(dtype) if total is None else total)
        return results

    def sum_of(self, a: Value, b: Value, dtype: str) -> Value:
        self.count += 1
        return self.e.add(a, b)

    def product(self, a: Elements, b: Elements) -> list[Element]:
        if a.dtype not in ("float32", "float64"):
            raise NotScalar
        n, k, m = a.shape[-2], a.shape[-1], b.shape[-1]
        batch = size_of(a.shape[:-2])
        if batch * n * m * k > MOST_OPERATIONS or not k:
            raise NotScalar
        results: list[Element] = []
        for t in range(batch):
            for i in range(n):
                row = [self.value(x, a.dtype) for x in a.items[(t * n + i) * k : (t * n + i + 1) * k]]
                for j in range(m):
                    column = [self.value(b.items[(t * k + r) * m + j], b.dtype) for r in range(k)]
                    total = self.e.multiply(row[0], column[0])
                    for x, y in zip(row[1:], column[1:], strict=True):
                        total = self.e.fma(x, y, total) if llvm.has_fma() else self.e.add(total, self.e.multiply(x, y))
                    results.append(total)
                    self.count += k
        return results


class Int64:
    """The dtype of positions, as kernels ask for it."""

    dtype = np.dtype(np.int64)
    kind = "i"
    name = "int64"


class Positions:
    """The type that a kernel of a movement is asked for when it moves numbers of elements."""

    dtype = Int64()
    inexact = False

    def __init__(self, type: Any) -> None:
        self.shape, self.ndim, self.size = type.shape, type.ndim, type.size


def _folded(name: str, inputs: Sequence[tuple[Element, str]]) -> Element | None:
    """What an operation with a known operand gives, where that is one of its operands or zero."""
    if len(inputs) != 2:
        return None
    (a, _), (b, _) = inputs
    for x, other in ((a, b), (b, a)):
        if isinstance(x, Value):
            continue
        if name == "add" and x == 0 and type(x) is int:  # a zero that something was put into
            return other
        if name in ("multiply", "scale") and x == 1 and type(x) is not bool:
            return other
        if name == "scale" and x == 0:
            return 0
    return None


class ScalarLoop:
    """A compiled loop. `run` takes arrays in C order, of the types of the body's inputs and outputs."""

    def __init__(self, written: Any, libm: dict[str, int], places: int) -> None:
        self.written = written
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
        """What the function is given for these arrays."""
        return (ctypes.c_void_p * (self.places + len(self.fixed)))(*[address(x) for x in arrays], *self.fixed)

    def run(self, arrays: Sequence[Any], first: int, step: int, count: int) -> int:
        """Go through the slices numbered first, first + step, ...; how many steps were done."""
        table = self.table(arrays)
        return int(self.function(ctypes.addressof(table), first, step, count))


def reduced_rows(shape: Shape, axes: tuple[int, ...]) -> list[list[int]]:
    """The numbers of the elements that each element of a reduction is made of."""
    order = (*[k for k in range(len(shape)) if k not in axes], *axes)
    count, length = size_of(drop_axes(shape, axes)), size_of(tuple([shape[k] for k in axes]))
    rows: list[list[int]] = np.arange(size_of(shape)).reshape(shape).transpose(order).reshape(count, length).tolist()
    return rows


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
    """The loop of a plan of one step, None where that isn't small.

    order      for each leaf of the plan the number of the body's input that it is
    inputs     the types of the inputs: constants, carries, slices
    results    the types of the outputs: carries, then what is stacked
    picks      for each output of the body its position among the plan's outputs
    condition  the position of the bool that is asked before each step, if there is one

    The arrays of `run` are the constants, the carries, the slices, the results of the carries, the stacks.
    """
    try:
        return _written(plan, order, inputs, results, constants, carries, picks, condition)
    except NotScalar:
        return None


def _written(
    plan: Plan,
    order: Sequence[int],
    inputs: Sequence[Any],
    results: Sequence[Any],
    constants: int,
    carries: int,
    picks: Sequence[int],
    condition: int | None,
) -> ScalarLoop:
    e = Emitter(1)
    for t in inputs:
        if t.size > MOST_ELEMENTS or t.dtype.name not in ITEMSIZE:
            raise NotScalar
    pointers = [f"%p{k}" for k in range(len(inputs) + len(picks))]
    read = set(order)
    early = sum(inputs[k].size for k in range(constants) if k in read) <= FEW
    given: dict[int, list[Element]] = {}

    def load(k: int, at: str = "0") -> list[Element]:
        dtype = inputs[k].dtype.name
        return [
            e.load_scalar(pointers[k], str(i) if at == "0" else e.plus(at, i), dtype) for i in range(inputs[k].size)
        ]

    if early:
        given.update({k: load(k) for k in range(constants) if k in read})
    kept: dict[int, list[str]] = {}
    for k in range(constants, constants + carries):
        kept[k] = [e.variable(x) for x in load(k) if isinstance(x, Value)]
    done, outer = e.fresh(), e.body
    e.body = []
    at = e.plus("%first", e.times(done, "%step"))
    if not early:
        given.update({k: load(k) for k in range(constants) if k in read})
    for k, slots in kept.items():
        given[k] = [e.get(slot, inputs[k].dtype.name) for slot in slots]
    for k in range(constants + carries, len(inputs)):
        if k in read:
            given[k] = load(k, e.times(at, inputs[k].size))
    writer = BodyWriter(e, plan)
    for leaf, k in enumerate(order):
        writer.slots[leaf] = Elements(given[k], inputs[k].shape, inputs[k].dtype.name)
    writer.write()
    outputs = [writer.slots[slot] for _, _, slot, _ in plan.outputs]
    if condition is not None:
        going = writer.value(outputs[condition].items[0], "bool")
        e.body.append(L.Leave(e.first(going)))
    for k, place in enumerate(picks):
        found = outputs[place]
        items = _whole(found, results[k].shape)
        if k < carries:
            for slot, x in zip(kept[constants + k], items, strict=True):
                e.set(slot, writer.value(x, found.dtype))
            continue
        base = e.times(at, len(items))
        for i, x in enumerate(items):
            e.store_scalar(writer.value(x, found.dtype), pointers[len(inputs) + k], e.plus(base, i))
    ran = e.fresh()
    outer.append(L.Repeat(done, "%count", tuple(e.body), ran))
    e.body = outer
    for k in range(carries):
        for i, slot in enumerate(kept[constants + k]):
            e.store_scalar(e.get(slot, inputs[constants + k].dtype.name), pointers[len(inputs) + k], str(i))
    names = [*pointers, *[f"%libm{k}" for k in e.libm.values()]]
    prologue = [L.Entry(name, "%table", str(k)) for k, name in enumerate(names)]
    function = e.function("loop", LOOP, False, prologue)._replace(result=ran)
    return ScalarLoop(function, e.libm, len(pointers))


def _whole(x: Elements, shape: tuple[int, ...]) -> list[Element]:
    """The elements at the full shape: constants are held as single numbers."""
    if x.shape == shape:
        return x.items
    places = np.broadcast_to(np.arange(len(x.items)).reshape(x.shape), shape).ravel().tolist()
    return [x.items[k] for k in places]
