"""A tape machine: long plans of elementwise steps on small arrays, one instruction for each step.

Compiling thousands of unrolled steps would take longer than they ever run. Here an instruction is a pointer to a function
for its case (primitive, dtypes, which operands are single numbers) with the addresses and the length to work on; the machine
calls one after the other. A case is generated from the formula that loop nests use, compiled when first met in the process,
and kept on disk like all code. Values live in one arena, whose places are used again once nothing reads them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection
from typing import Any

import numpy as np

from adjoint import _forks
from adjoint._tuples import NamedTuple
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import ITEMSIZE, Emitter, Value, lanes_for
from adjoint.compiler.loops.formulas import applied, is_lowered
from adjoint.compiler.targets.llvm import source_of
from adjoint.plan.plan import Plan, Step
from adjoint.runtime import code, libraries, llvm
from adjoint.runtime.memory import address

Array = np.ndarray[Any, Any]

LARGEST = 1 << 12  # elements of an array: more are worth a loop nest
ARENA = 1 << 27  # bytes
ALIGNMENT = 64
FIELDS = 6  # of an instruction: function, result, three operands, length


class Case(NamedTuple):
    """What one function of the machine does. `single` says of each operand whether it is one number for all elements."""

    name: str
    attributes: Any
    result: str
    operands: tuple[str, ...]
    single: tuple[bool, ...]
    lanes: int


class Machine:
    """The functions compiled so far in this process, and the loop that calls them."""

    def __init__(self) -> None:
        self.lock = _forks.waited_for()
        self.cases: dict[Case, int] = {}
        self.codes: list[code.Code] = []
        self.table: list[int] = []  # addresses of functions of the C library
        self.positions: dict[str, int] = {}
        self.run: Any = None

    def functions(self, cases: Collection[Case]) -> None:
        """Compile the cases that are new."""
        with self.lock:
            missing = [case for case in dict.fromkeys(cases) if case not in self.cases]
            loops = [] if self.run is not None else [code.in_c(*ROWS)]
            found = code.load([*loops, *[self.source(case) for case in missing]])
            self.codes += found
            if loops:
                signature = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
                self.run = signature(found[0].addresses["tape"])
            for case, one in zip(missing, found[len(loops) :], strict=True):
                self.cases[case] = one.addresses["case"]
            self.pointers = self.functions_of_libm()

    def functions_of_libm(self) -> Any:
        """The functions of the C library that code written so far looks up."""
        with self.lock:
            return (ctypes.c_void_p * max(len(self.table), 1))(*self.table)

    def lookups(self, e: Emitter) -> list[Any]:
        """The statements that look up the functions of the C library that an emitter's code calls."""
        found = []
        with self.lock:
            for name, k in e.libm.items():
                if name not in self.positions:
                    self.table.append(libraries.mathematics(name))
                    self.positions[name] = len(self.table) - 1  # after it is there: an interrupt may come before
                found.append(L.Entry(f"%libm{k}", "%libm", str(self.positions[name])))
        return found

    def source(self, case: Case) -> code.Source:
        return source_of([self.written(case)], ("case",))

    def written(self, case: Case) -> L.Function:
        """A case as loops."""
        e = Emitter(case.lanes)
        write_sum(e, case) if case.name == "sum" else write_elementwise(e, case)
        return e.function("case", CASE, False, self.lookups(e))


CASE = (("ptr", "%out"), ("ptr", "%in0"), ("ptr", "%in1"), ("ptr", "%in2"), ("i64", "%n"), ("ptr", "%libm"))
ROWS = ("rows", ("tape", "runs"))  # the loops over instructions, of this machine and of that for single numbers

machine = Machine()


def _vectors(e: Emitter, body: Any) -> None:
    """`body(offset)` for every vector of n elements, the last one under a mask."""
    if e.lanes == 1:
        with e.loop("0", "%n", 1) as i:
            body(i)
        return
    whole = e.index("and", "%n", -e.lanes)
    with e.when(e.test("ne", whole, 0)), e.loop("0", whole, e.lanes) as i:
        body(i)
    rest = e.index("sub", "%n", whole)
    with e.when(e.test("ne", rest, 0)), e.masked(e.below(rest)):
        body(whole)


def write_elementwise(e: Emitter, case: Case) -> None:
    """One primitive on every element."""
    numbers = {
        k: e.load_scalar(f"%in{k}", "0", dtype)
        for k, (dtype, single) in enumerate(zip(case.operands, case.single, strict=True))
        if single
    }

    def body(i: str) -> None:
        e.known = {}
        given = [numbers.get(k) or e.load(f"%in{k}", i, dtype, 1) for k, dtype in enumerate(case.operands)]
        e.store(applied(e, case.name, case.attributes, case.result, *given), "%out", i)

    _vectors(e, body)


def write_sum(e: Emitter, case: Case) -> None:
    """All elements added up, float32 in float64."""
    (source,) = case.operands
    wide = "float64" if case.result.startswith("float") else case.result
    total = e.variable(e.constant(0, wide))

    def body(i: str) -> None:
        value = e.cast(e.load("%in0", i, source, 1), wide)
        if e.mask is not None:
            value = e.select(Value(e.mask, "bool"), value, 0)
        e.set(total, e.add(e.get(total, wide), value))

    _vectors(e, body)
    e.store_scalar(e.cast(e.folded(e.get(total, wide), Emitter.add), case.result), "%out", "0")


class Tape:
    """A plan as instructions. One run at a time."""

    masks = True
    alone = True

    def __init__(self, plan: Plan, cases: list[Case], slots: list[tuple[int, ...]], layout: Layout) -> None:
        self.lock = _forks.rlock()
        self.running = False
        self.runs = [0]  # how often it was run, or programs like it: see `execution.budget`
        _forks.forked(self)
        self.cases = tuple(dict.fromkeys(cases))
        self.arena = np.zeros(layout.size + ALIGNMENT, np.uint8)
        self.arena = self.arena[-address(self.arena) % ALIGNMENT :][: layout.size]
        base = address(self.arena)
        machine.functions(set(cases))
        offsets = np.array(slots, np.int64)  # result, operands, length: offsets in the arena
        program = np.empty((len(cases), FIELDS), np.int64)
        numbered = {case: k for k, case in enumerate(dict.fromkeys(cases))}
        addresses = np.array([machine.cases[case] for case in numbered], np.int64)
        program[:, 0] = addresses[[numbered[case] for case in cases]]
        program[:, 1:5] = offsets[:, :4] + base
        program[:, 5] = offsets[:, 4]
        self.program = program
        self.first = address(program)
        self.last = self.first + program.nbytes

        def view(slot: int) -> Array:
            t = plan.types[slot]
            dtype, shape = t.dtype.dtype, layout.shapes[slot]
            count = int(np.prod(shape, dtype=np.int64))
            start = layout.places[slot]
            found: Array = self.arena[start : start + count * dtype.itemsize].view(dtype).reshape(shape)
            return found

        leaves = len(plan.leaf_types)
        self.leaves = [(k, view(k)) for k in range(leaves) if k in layout.places]
        self.numbers = [view(leaves + k) for k in range(len(plan.number_types))]
        for slot, array in plan.constants.items():
            if slot in layout.places:
                view(slot)[...] = array
        self.results = []
        for _, _, slot, _ in plan.outputs:
            array = view(slot)
            self.results.append(np.broadcast_to(array, plan.types[slot].shape))
        self.written: list[Any] = []

    @property
    def nbytes(self) -> int:
        """About the bytes that it takes."""
        return int(self.arena.nbytes + self.program.nbytes) + 500 * (len(self.leaves) + len(self.numbers))

    def station(self, partners: dict[int, int]) -> None:
        """A tape has no frame for one caller alone."""

    def run(self, leaves: list[Any], numbers: list[Any], masked: bool, donated: Collection[int] = ()) -> list[Any]:
        """The values of the outputs."""
        self.runs[0] += 1
        with self.lock:
            if self.running:
                return self.run_between(leaves, numbers)
            try:
                self.running = True
                return self.compute(leaves, numbers)
            finally:
                self.running = False

    def forked(self) -> None:
        """In the child of a fork: another thread's run isn't here."""
        self.running = False

    def compute(self, leaves: list[Any], numbers: list[Any]) -> list[Any]:
        for k, place in self.leaves:
            place[...] = leaves[k]
        if numbers != self.written or 0 in numbers:  # 0 equals -0
            self.written = []  # an interrupt may come before all of them are written
            for place, number in zip(self.numbers, numbers, strict=True):
                place[...] = number
            self.written = list(numbers)
        machine.run(self.first, self.last, machine.pointers)
        return [x.copy() for x in self.results]

    def run_between(self, leaves: list[Any], numbers: list[Any]) -> list[Any]:
        """Run in the middle of a run of this thread, which a finalizer or a signal's handler has interrupted."""
        before, written = self.arena.copy(), self.written
        try:
            self.written = []
            return self.compute(leaves, numbers)
        finally:
            self.arena[...] = before
            self.written = written


class Layout:
    """Places in the arena, given back once nothing reads them any more."""

    def __init__(self) -> None:
        self.places: dict[int, int] = {}
        self.shapes: dict[int, tuple[int, ...]] = {}
        self.size = 0
        self.free: dict[int, list[int]] = {}

    def take(self, slot: int, shape: tuple[int, ...], nbytes: int) -> None:
        size = -(-nbytes // 8) * 8 if nbytes <= 32 else -(-nbytes // ALIGNMENT) * ALIGNMENT
        waiting = self.free.get(size)
        if waiting:
            self.places[slot] = waiting.pop()
        else:
            start = self.size if size < ALIGNMENT else -(-self.size // ALIGNMENT) * ALIGNMENT
            self.places[slot] = start
            self.size = start + size
        self.shapes[slot] = shape

    def give(self, slot: int, nbytes: int) -> None:
        size = -(-nbytes // 8) * 8 if nbytes <= 32 else -(-nbytes // ALIGNMENT) * ALIGNMENT
        self.free.setdefault(size, []).append(self.places[slot])


def compile_tape(plan: Plan) -> Tape | None:
    """The plan on the tape machine; None where a step isn't elementwise or an array isn't small."""
    widest = llvm.vector_bits()
    types = plan.types
    for t in types:
        if type(t) is tuple or t.size > LARGEST or t.size == 0 or t.dtype.name not in ITEMSIZE:
            return None
    leaves = len(plan.leaf_types)
    fixed = leaves + len(plan.number_types)
    layout = Layout()
    root: dict[int, int] = {}
    single: set[int] = set()  # slots of which one number is held, whatever their shape
    for slot in [*range(fixed), *plan.constants]:
        t = types[slot]
        scalar = leaves <= slot < fixed or (slot in plan.constants and plan.constants[slot].ndim == 0)
        shape = () if scalar else t.shape
        layout.take(slot, shape, (1 if scalar else t.size) * t.dtype.itemsize)
        root[slot] = slot
        if scalar or t.size == 1:
            single.add(slot)
    moved = _aliases(plan, root, single)
    if moved is None:
        return None
    computed, last = moved
    cases: list[Case] = []
    rows: list[tuple[int, ...]] = []
    kept = {root[slot] for _, _, slot, _ in plan.outputs}
    known: dict[Any, Case] = {}
    for position, step in enumerate(computed):
        operands = [root[i] for i in step.inputs]
        t = step.type
        if step.op.name == "sum":
            count = types[step.inputs[0]].size
            flags: tuple[bool, ...] = (False,)
        else:
            count = t.size
            flags = tuple([i in single and count > 1 for i in step.inputs])
        width = _lanes(count, widest, t.dtype.name, *[types[i].dtype.name for i in operands])
        key = (step.op, step.attributes if step.op.key is None else None, t.dtype, flags, width,
               *[types[i].dtype for i in operands])  # fmt: skip
        case = known.get(key)
        if case is None:
            names = tuple([types[i].dtype.name for i in operands])
            attributes = None if step.op.name in ("sum", "astype") else step.attributes
            case = known[key] = Case(step.op.name, attributes, t.dtype.name, names, flags, width)
        layout.take(step.output, t.shape, t.size * t.dtype.itemsize)
        places = layout.places
        given = [places[i] for i in operands]
        given += [0] * (3 - len(given))
        cases.append(case)
        rows.append((places[step.output], *given, count))
        for i in set(operands):
            if last[i] == position and i >= fixed and i not in kept and i not in plan.constants:
                layout.give(i, types[i].size * types[i].dtype.itemsize)
        if last.get(step.output, -1) < 0 and step.output not in kept:
            layout.give(step.output, t.size * t.dtype.itemsize)
        if layout.size > ARENA:
            return None
    for _, _, slot, _ in plan.outputs:
        if root[slot] != slot:
            layout.places[slot] = layout.places[root[slot]]
            held = layout.shapes[root[slot]]
            count = types[slot].size
            layout.shapes[slot] = () if root[slot] in single and count > 1 else (types[slot].shape if held else held)
    return Tape(plan, cases, rows, layout) if cases else None


def _aliases(plan: Plan, root: dict[int, int], single: set[int]) -> tuple[list[Step], dict[int, int]] | None:
    """The steps that compute something, and the last of them that reads each slot. What only moves elements is an alias."""
    types = plan.types
    computed: list[Step] = []
    last: dict[int, int] = {}
    lowered: dict[Any, bool] = {}
    for step in plan.steps:
        op, name, out = step.op, step.op.name, step.output
        source = step.inputs[0] if step.inputs else -1
        if (op.passes_on and not op.opaque) or name == "reshape" or (name == "broadcast_to" and source in single):
            root[out] = root[source]
            if source in single:
                single.add(out)
            continue
        if name == "sum":
            if types[source].size != 1 and (source in single or step.type.size != 1):
                return None
            if types[source].dtype.name not in ITEMSIZE:
                return None
        else:
            names = tuple([types[i].dtype.name for i in step.inputs])
            key = (step.op, step.attributes if step.op.key is None else None, step.type.dtype, names)
            if key not in lowered:
                lowered[key] = bool(step.op.elementwise and step.inputs and len(step.inputs) <= 3) and is_lowered(
                    name, step.attributes, step.type.dtype.name, list(names)
                )
            if not lowered[key]:
                return None
            for i in step.inputs:
                if i not in single and types[i].shape != step.type.shape and types[i].size != step.type.size:
                    return None
        position = len(computed)
        for i in step.inputs:
            last[root[i]] = position
        computed.append(step)
        root[out] = out
        if step.type.size == 1:
            single.add(out)
    return computed, last


def _lanes(count: int, bits: int, *dtypes: str) -> int:
    widest = bits // (8 * max(ITEMSIZE[d] for d in dtypes if d != "bool") if any(d != "bool" for d in dtypes) else 32)
    return lanes_for(widest, count)
