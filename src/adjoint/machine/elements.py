"""Small arrays written out element by element: each a register, or a number that is known while writing.

What moves elements (reshape, slice, concat, ...) is done while writing and costs nothing; what computes becomes one scalar
operation for each element, equal ones once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.compiler.loops.build import ITEMSIZE, Emitter, Value
from adjoint.compiler.loops.formulas import REDUCTIONS, applied, is_lowered, reduces
from adjoint.plan.plan import Plan, Step
from adjoint.runtime import llvm
from adjoint.shapes import Shape, drop_axes, size_of

__all__ = [
    "MOST_ELEMENTS",
    "MOST_OPERATIONS",
    "BodyWriter",
    "Element",
    "Elements",
    "NotScalar",
    "Positions",
    "reduced_rows",
]

MOST_ELEMENTS = 256  # of one array
MOST_OPERATIONS = 6000  # in a body: more take seconds to compile

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

    def whole(self, shape: Shape) -> Elements:
        """The elements at the full shape: constants are held as single numbers."""
        if self.shape == shape:
            return self
        places = np.broadcast_to(np.arange(len(self.items)).reshape(self.shape), shape).ravel().tolist()
        return Elements([self.items[k] for k in places], shape, self.dtype)


class BodyWriter:
    """Writes the steps of a plan, given the elements of its leaves. One `within` another knows what was computed before."""

    def __init__(self, e: Emitter, plan: Plan, within: BodyWriter | None = None) -> None:
        self.e = e
        self.plan = plan
        self.slots: dict[int, Elements] = {}
        self.several: dict[int, list[Elements]] = {}  # of steps that give several arrays
        self.made: dict[Any, Value] = {} if within is None else dict(within.made)
        self.count: int = 0 if within is None else within.count
        for slot, array in plan.constants.items():
            t = plan.types[slot]
            if array.size > MOST_ELEMENTS or t.dtype.name not in ITEMSIZE:
                raise NotScalar
            self.slots[slot] = Elements(array.ravel().tolist(), array.shape, t.dtype.name)

    def write(self, steps: Sequence[Step] | None = None) -> None:
        """All steps, in order, or these alone."""
        for step in self.plan.steps if steps is None else steps:
            t = step.type
            if type(t) is tuple:
                self.several[step.output] = self.results(step, [self.slots[i] for i in step.inputs])
                continue
            if step.inputs and step.inputs[0] in self.several:
                self.slots[step.output] = self.several[step.inputs[0]][step.attributes]
                continue
            if t.size > MOST_ELEMENTS or t.dtype.name not in ITEMSIZE:
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

    def results(self, step: Step, inputs: list[Elements]) -> list[Elements]:
        """What a step gives that gives several arrays."""
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


def reduced_rows(shape: Shape, axes: tuple[int, ...]) -> list[list[int]]:
    """The numbers of the elements that each element of a reduction is made of."""
    order = (*[k for k in range(len(shape)) if k not in axes], *axes)
    count, length = size_of(drop_axes(shape, axes)), size_of(tuple([shape[k] for k in axes]))
    rows: list[list[int]] = np.arange(size_of(shape)).reshape(shape).transpose(order).reshape(count, length).tolist()
    return rows
