"""A plan written out as operations on single numbers: what `machine` runs and `repetition` looks for loops in.

Every number has a cell: elements of leaves, free numbers, then one for each operation in order, then constants. What only moves
elements (reshape, slice, concat) gives no operation; a reduction or a product of small matrices gives as many as it has
terms. A step that has no such form (a cumulative sum, a gather) is cut out: NumPy computes it between two stretches of
operations, and its elements are operations without a formula. Operations on constants alone are computed here; adding zero,
and multiplying by one, are left out where that changes no bit.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.compiler.loops.build import ITEMSIZE
from adjoint.compiler.loops.formulas import is_lowered, reduces
from adjoint.graph import PRIMITIVES, Primitive
from adjoint.machine.elements import Positions, reduced_rows
from adjoint.plan.plan import Plan, Step
from adjoint.shapes import Shape, size_of

__all__ = ["Case", "Hosted", "Numbers", "NotNumbers", "write_out"]

Array = np.ndarray[Any, Any]

MOST_ELEMENTS = 1 << 14  # of one array
MOST_TERMS = 1 << 14  # of one product of matrices
MOST_OPERATIONS = 1 << 23
FUSED = "multiply_add"
OPERATIONS_PER_HOSTED = 50  # at least: a step that NumPy computes takes as long as many operations
MOST_HOSTED = 1000


class NotNumbers(Exception):
    """The plan holds something that isn't written out element by element."""


class Case(NamedTuple):
    """What an operation does: a primitive's formula on operands of these dtypes."""

    name: str
    attributes: Any
    result: str
    operands: tuple[str, ...]


class Hosted(NamedTuple):
    """A step that NumPy computes: the shape, dtype and cells of each input; its elements are the operations from `start` on."""

    step: Step
    inputs: list[tuple[Shape, str, Array]]
    start: int

    @property
    def stop(self) -> int:
        """Behind its last element."""
        return self.start + int(self.step.type.size)


class Numbers(NamedTuple):
    """The program. `operands` are cells, three for each operation; those that a case doesn't have are 0.

    leaves, numbers   the first cell of each
    constants         the dtype and value in each cell behind the operations
    outputs           of each: its shape, dtype and cells
    hosted            the steps that NumPy computes, in order
    """

    cases: list[Case]
    case: Array
    operands: Array
    first: int
    leaves: list[int]
    numbers: list[int]
    constants: list[tuple[str, Any]]
    outputs: list[tuple[Shape, str, Array]]
    hosted: list[Hosted]

    @property
    def size(self) -> int:
        """How many operations there are."""
        return len(self.case)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.first + self.size + len(self.constants)


def write_out(plan: Plan) -> Numbers:
    """The plan's program. Raises NotNumbers where a step doesn't become one."""
    return _Writer(plan).program()


Recipe = tuple[Callable[..., Any], Any]


class _Writer:
    """Writes the steps one after the other. While writing, constants are numbered -1, -2, ..., operations from `first` on."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.cases: dict[Case, int] = {}
        self.names: list[Case] = []
        self.case: list[int] = []
        self.operands: tuple[list[int], list[int], list[int]] = ([], [], [])
        self.values: list[tuple[str, Any]] = []  # of the constants
        self.interned: dict[tuple[str, bytes], int] = {}
        self.made: dict[tuple[int, int, int, int], int] = {}
        self.positive: set[int] = set()  # numbers that are never -0
        self.adds: set[int] = set()  # cases that add
        self.recipes: dict[Any, Recipe] = {}
        self.elements: dict[int, Sequence[int]] = {}
        self.shapes: dict[int, Shape] = {}
        self.leaves: list[int] = []
        self.numbers: list[int] = []
        self.first = 0
        self.hosted: list[tuple[Step, list[Sequence[int]], int]] = []
        self.refused: set[Any] = set()  # kinds of steps that have no form as operations
        self.place_given()

    def place_given(self) -> None:
        plan = self.plan
        at = 0
        for slot, t in enumerate(plan.types[: len(plan.leaf_types) + len(plan.number_types)]):
            if type(t) is tuple or t.size > MOST_ELEMENTS or t.dtype.name not in ITEMSIZE:
                raise NotNumbers
            number = slot >= len(plan.leaf_types)
            size = 1 if number else t.size
            (self.numbers if number else self.leaves).append(at)
            self.elements[slot] = range(at, at + size)
            self.shapes[slot] = () if number else t.shape
            at += size
        self.first = at
        for slot, array in plan.constants.items():
            t = plan.types[slot]
            if array.size > MOST_ELEMENTS or t.dtype.name not in ITEMSIZE:
                raise NotNumbers
            name = t.dtype.name
            self.elements[slot] = [self.constant(x, name) for x in np.asarray(array).ravel()]
            self.shapes[slot] = array.shape

    def program(self) -> Numbers:
        for step in self.plan.steps:
            self.write(step)
        kept = self.plan.outputs
        if len(self.hosted) * OPERATIONS_PER_HOSTED > len(self.case):
            raise NotNumbers
        ids = [np.array(self.whole(slot), np.int64) for _, _, slot, _ in kept]
        given = [[np.array(x, np.int64) for x in inputs] for _, inputs, _ in self.hosted]
        made = [np.arange(at, at + step.type.size) for step, _, at in self.hosted]
        case, operands = np.array(self.case, np.int32), np.array(self.operands, np.int64).T.copy()
        operands = operands.reshape(-1, 3)
        number, alive = _alive(operands, [*ids, *itertools.chain(*given), *made], self.first)
        case, operands = case[alive], operands[alive]
        behind = self.first + len(case)

        def placed(x: Array) -> Array:
            """The cells of numbers as they were counted while writing."""
            later = number[np.maximum(x - self.first, 0)] if len(number) else x
            found: Array = np.where(x < 0, behind - 1 - x, np.where(x < self.first, x, later))
            return found

        arity = np.array([len(c.operands) for c in self.names], np.int64)
        operands = placed(operands)
        lacking = arity[case][:, None] <= np.arange(3) if len(case) else np.zeros((0, 3), bool)
        operands[lacking] = behind
        cell = self.by_first_use(operands)
        operands = cell[operands]
        operands[lacking] = 0
        outputs = [(self.plan.types[slot].shape, self.plan.types[slot].dtype.name, cell[placed(x)])
                   for (_, _, slot, _), x in zip(kept, ids, strict=True)]  # fmt: skip
        leaves, numbers = cell[self.leaves].tolist(), cell[self.numbers].tolist()
        hosted = [
            Hosted(step, [(self.shapes[i], self.plan.types[i].dtype.name, cell[placed(x)])
                          for i, x in zip(step.inputs, inputs, strict=True)], int(number[at - self.first]) - self.first)
            for (step, _, at), inputs in zip(self.hosted, given, strict=True)
        ]  # fmt: skip
        return Numbers(self.names, case, operands, self.first, leaves, numbers, self.values, outputs, hosted)

    def by_first_use(self, operands: Array) -> Array:
        """The cell of each cell when what is given lies in the order in which it is first used: where a stretch repeats, it
        advances by a fixed stride there."""
        cells = self.first + len(operands) + len(self.values) + 1
        cell = np.arange(cells)
        starts = np.array([*self.leaves, *self.numbers, self.first], np.int64)
        sizes = np.diff(starts)
        if not len(sizes):
            return cell
        group = np.repeat(np.arange(len(sizes)), sizes)
        flat = operands.ravel()
        used, when = np.unique(flat[flat < self.first], return_index=True)
        first_use = np.full(len(sizes), len(flat), np.int64)
        np.minimum.at(first_use, group[used], when)
        order = np.argsort(first_use, kind="stable")
        placed = np.empty(len(sizes), np.int64)
        placed[order] = np.concatenate([[0], np.cumsum(sizes[order])[:-1]])
        cell[: self.first] += np.repeat(placed - starts[:-1], sizes)
        return cell

    def whole(self, slot: int) -> Sequence[int]:
        """A slot's elements at its full shape."""
        items, size = self.elements[slot], self.plan.types[slot].size
        return items if len(items) == size else [items[0]] * size

    # Single numbers

    def constant(self, value: Any, dtype: str) -> int:
        x = np.asarray(value).astype(np.dtype(dtype))
        key = (dtype, x.tobytes())
        found = self.interned.get(key)
        if found is None:
            self.values.append((dtype, x.item()))
            found = self.interned[key] = -len(self.values)
            if x.item() != 0 or not np.signbit(x.astype(float)):
                self.positive.add(found)
        return found

    def number_of(self, case: Case) -> int:
        found = self.cases.get(case)
        if found is None:
            found = self.cases[case] = len(self.names)
            self.names.append(case)
            if case.name == "add":
                self.adds.add(found)
        return found

    def operation(self, case: int, a: int, b: int = 0, c: int = 0, *, merge: bool = True) -> int:
        """The number that an operation gives: an equal one's, one of its operands, or a new one."""
        if a < 0 or b < 0:
            folded = self.folded(case, a, b, c)
            if folded is not None:
                return folded
        if merge:
            key = (case, a, b, c)
            found = self.made.get(key)
            if found is not None:
                return found
        found = self.first + len(self.case)
        if case in self.adds and (a in self.positive or b in self.positive):
            self.positive.add(found)
        self.case.append(case)
        first, second, third = self.operands
        first.append(a)
        second.append(b)
        third.append(c)
        if merge:
            self.made[key] = found
        return found

    def folded(self, number: int, a: int, b: int, c: int) -> int | None:
        """What an operation on constants gives, or one that leaves its other operand as it is."""
        case = self.names[number]
        name, count = case.name, len(case.operands)
        given = (a, b, c)[:count]
        if name == FUSED:
            return None
        if all([x < 0 for x in given]) and PRIMITIVES[name].exact:
            return self.computed(case, [self.values[-1 - x][1] for x in given])
        if count != 2 or case.operands[0] != case.operands[1] or case.result not in ("float32", "float64"):
            return None
        for x, other, right in ((b, a, True), (a, b, False)):
            if x >= 0:
                continue
            value = self.values[-1 - x][1]
            if name == "add" and value == 0:
                if x not in self.positive or other in self.positive:  # -0 + 0 is 0
                    return other
            elif name == "subtract" and right and value == 0:
                return other if x in self.positive else None
            elif value == 1 and (name in ("multiply", "scale") or (name == "divide" and right)):
                return other
            elif value == 0 and (name == "scale" or (name == "safe_divide" and not right)):
                return self.constant(0.0, case.result)
        return None

    def computed(self, case: Case, values: Sequence[Any]) -> int:
        op = PRIMITIVES[case.name]
        given = [np.asarray(v, np.dtype(d)) for v, d in zip(values, case.operands, strict=True)]
        kernel = op.masked or op.kernel(case.attributes, _Result(case.result))
        with np.errstate(all="ignore"):
            return self.constant(kernel(*given), case.result)

    # Steps

    def write(self, step: Step) -> None:
        types, inputs, op = self.plan.types, step.inputs, step.op
        t = step.type
        shapes = self.shapes
        out = step.output
        try:
            key = (op, None if op.key is not None else step.attributes, t.code,
                   *[(types[i].dtype, shapes[i]) for i in inputs])  # fmt: skip
            recipe = self.recipes.get(key)
        except (TypeError, AttributeError, KeyError):  # several results, or attributes that can't be compared
            self.host(step)
            return
        if recipe is None:
            try:
                if key in self.refused or (op.key is not None and not _passes_on(op)):
                    raise NotNumbers
                recipe = self.recipes[key] = self.recipe(step)
            except NotNumbers:
                self.refused.add(key)
                self.host(step)
                return
        write, how = recipe
        self.elements[out] = write(self, how, [self.elements[i] for i in inputs])
        shapes[out] = t.shape
        if len(self.case) > MOST_OPERATIONS:
            raise NotNumbers

    def host(self, step: Step) -> None:
        """Leave a step to NumPy. Raises NotNumbers where its inputs or elements have no cells."""
        t, inputs = step.type, step.inputs
        if type(t) is tuple or not 0 < t.size <= MOST_ELEMENTS or t.dtype.name not in ITEMSIZE:
            raise NotNumbers
        if step.op.opaque or len(self.hosted) >= MOST_HOSTED or any([i not in self.elements for i in inputs]):
            raise NotNumbers
        case = self.number_of(Case(step.op.name, ("hosted", len(self.hosted)), t.dtype.name, ()))
        at = self.first + len(self.case)
        self.hosted.append((step, [self.elements[i] for i in inputs], at))
        self.case += [case] * t.size
        for operands in self.operands:
            operands += [0] * t.size
        self.elements[step.output] = range(at, at + t.size)
        self.shapes[step.output] = t.shape

    def recipe(self, step: Step) -> Recipe:
        """How steps of this kind are written out."""
        t, name = step.type, step.op.name
        if type(t) is tuple or t.size > MOST_ELEMENTS or t.size == 0 or t.dtype.name not in ITEMSIZE:
            raise NotNumbers
        shapes = [self.shapes[i] for i in step.inputs]
        dtypes = [self.plan.types[i].dtype.name for i in step.inputs]
        if (name == "reshape" or _passes_on(step.op)) and size_of(shapes[0]) == t.size:
            return _same, None
        if step.op.rearranges or _passes_on(step.op):
            return _move, self.moved(step, shapes)
        result = t.dtype.name
        if name == "matmul":
            return _multiply, self.product(shapes, dtypes)
        if reduces(name, result, dtypes[0]) and type(step.attributes) is tuple:
            return _reduce, self.reduction(step, shapes[0], dtypes[0])
        if step.op.elementwise and 0 < len(dtypes) <= 3 and is_lowered(name, step.attributes, result, dtypes):
            number = self.number_of(Case(name, None if name == "astype" else step.attributes, result, tuple(dtypes)))
            if t.size == 1:
                return _single, number
            columns = [np.broadcast_to(np.arange(size_of(s)).reshape(s), t.shape).ravel().tolist() for s in shapes]
            return _elementwise, (number, columns)
        raise NotNumbers

    def moved(self, step: Step, shapes: list[Shape]) -> tuple[list[int], int | None]:
        """Which of the inputs' elements, one input after the other, each element of the result is; -1 for a zero."""
        t = step.type
        given: list[Any] = []
        first = 1
        for shape in shapes:
            count = size_of(shape)
            given.append(np.arange(first, first + count).reshape(shape))
            first += count
        found = np.asarray(step.op.kernel(step.attributes, Positions(t))(*given))
        places = np.broadcast_to(found, t.shape).ravel() - 1
        zero = self.constant(0, t.dtype.name) if (places < 0).any() else None
        return places.tolist(), zero

    def product(self, shapes: list[Shape], dtypes: list[str]) -> Any:
        a, b = shapes
        if dtypes[0] not in ("float32", "float64"):
            raise NotNumbers
        n, k, m = a[-2], a[-1], b[-1]
        batch = size_of(a[:-2])
        if batch * n * m * k > MOST_TERMS or not k or a[:-2] != b[:-2]:
            raise NotNumbers
        d = dtypes[0]
        number = self.number_of(Case("multiply", None, d, (d, d)))
        fused = self.number_of(Case(FUSED, None, d, (d, d, d)))
        return number, fused, batch, n, k, m

    def reduction(self, step: Step, shape: Shape, source: str) -> Any:
        axes, dtype, name = step.attributes, step.type.dtype.name, step.op.name
        rows = reduced_rows(shape, axes)
        if not rows or not rows[0]:
            raise NotNumbers
        wide = "float64" if dtype == "float32" and name == "sum" and len(rows[0]) > 2 else dtype
        cast = None if source == wide else self.number_of(Case("astype", None, wide, (source,)))
        back = None if wide == dtype else self.number_of(Case("astype", None, dtype, (wide,)))
        return self.number_of(Case(step.op.combines, None, wide, (wide, wide))), cast, back, rows


def _passes_on(op: Primitive) -> bool:
    """Whether an operation gives its first input, whatever the user's code may do."""
    return op.passes_on and not op.opaque


def _same(w: _Writer, how: Any, inputs: list[Sequence[int]]) -> Sequence[int]:
    return inputs[0]


def _single(w: _Writer, case: int, inputs: list[Sequence[int]]) -> Sequence[int]:
    given: list[int] = [x[0] for x in inputs]
    return (w.operation(case, *given, merge=False),)


def _elementwise(w: _Writer, how: Any, inputs: list[Sequence[int]]) -> Sequence[int]:
    case, columns = how
    rows = zip(*[[x[k] for k in column] for x, column in zip(inputs, columns, strict=True)], strict=True)
    operation = w.operation
    return [operation(case, *row) for row in rows]


def _move(w: _Writer, how: Any, inputs: list[Sequence[int]]) -> Sequence[int]:
    places, zero = how
    items = [x for given in inputs for x in given]
    items.append(zero)
    return [items[k] for k in places]


def _reduce(w: _Writer, how: Any, inputs: list[Sequence[int]]) -> Sequence[int]:
    case, cast, back, rows = how
    (x,) = inputs
    results = []
    for row in rows:
        items = [x[k] for k in row]
        if cast is not None:
            items = [w.operation(cast, i) for i in items]
        total = items[0]
        for i in items[1:]:
            total = w.operation(case, total, i)
        results.append(total if back is None else w.operation(back, total))
    return results


def _multiply(w: _Writer, how: Any, inputs: list[Sequence[int]]) -> Sequence[int]:
    case, fused, batch, n, k, m = how
    a, b = inputs
    results = []
    for t in range(batch):
        for i in range(n):
            row = a[(t * n + i) * k : (t * n + i + 1) * k]
            for j in range(m):
                column = [b[(t * k + r) * m + j] for r in range(k)]
                total = w.operation(case, row[0], column[0])
                for x, y in zip(row[1:], column[1:], strict=True):
                    total = w.operation(fused, x, y, total)
                results.append(total)
    return results


class _Result:
    """The type of one number that a kernel is asked for."""

    def __init__(self, dtype: str) -> None:
        self.shape: Shape = ()
        self.ndim, self.size = 0, 1
        self.dtype = _Dtype(dtype)
        self.inexact = dtype.startswith("float")


class _Dtype:
    def __init__(self, name: str) -> None:
        self.name = name
        self.dtype = np.dtype(name)
        self.kind = self.dtype.kind


def _alive(operands: Array, outputs: list[Array], first: int) -> tuple[Array, Array]:
    """The new number of each operation that an output needs, and which these are."""
    count = len(operands)
    needed = bytearray(count)
    for x in outputs:
        for i in x[x >= first].tolist():
            needed[i - first] = 1
    columns = [(operands[:, k] - first).tolist() for k in range(3)]
    for k, (i, j, m) in enumerate(zip(*[reversed(x) for x in columns], strict=True)):
        if needed[count - 1 - k]:
            if i >= 0:
                needed[i] = 1
            if j >= 0:
                needed[j] = 1
            if m >= 0:
                needed[m] = 1
    alive = np.frombuffer(bytes(needed), bool)
    number = first + np.cumsum(alive, dtype=np.int64) - 1
    return number, alive
