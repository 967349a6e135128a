"""The NumPy interpreter's three ways to run a plan's steps.

`Streaming` walks the steps with an environment of arrays, freeing each after its last use: for large arrays. `Bound`
owns small buffers and holds every argument ready, so that a step costs one call. `Grouped` is bound too, but runs single
numbers that share an operation and a level of the graph as one array operation: for large graphs of scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

import numpy as np

from adjoint import _forks
from adjoint.plan.plan import PRODUCTS, Plan, Step, is_algebra
from adjoint.primitives.contraction import MATMUL
from adjoint.primitives.custom import HOST_CALL
from adjoint.shapes import Shape

Array = np.ndarray[Any, Any]
Call = tuple[Callable[..., Any], tuple[Any, ...]]

SMALL_ARRAY = 1 << 15  # bytes: above this, copying leaves into buffers costs more than it saves
SMALL_PLAN = 1 << 25  # bytes of buffers that one remembered plan may own
REUSE_FROM = 1 << 12  # elements: below this a fresh array is as fast as an old one
TINY = 256  # elements
SMALL_MATRIX = 1 << 10  # elements: OpenBLAS uses threads from nine times as many on
FEW = 8
MOSTLY = 0.75  # of the steps
CALL_BYTES = 400  # of Python's objects for a step
GROUP_FROM = 256  # steps: smaller graphs gain nothing from grouping


class Streaming:
    """Steps over an environment of arrays."""

    masks = False  # whether zero times infinity is always zero, and not just when asked for
    alone = False  # whether NumPy has no part in it, so that its warnings needn't be looked after

    def __init__(self, plan: Plan) -> None:
        fixed = len(plan.leaf_types) + len(plan.number_types)
        alive = {slot for _, _, slot, _ in plan.outputs}  # slots read later, going backwards
        alive.update(plan.constants)
        calls: list[Any] = []
        reusable = _reusable(plan)
        for step in reversed(plan.steps):
            free: list[int] = []
            for i in step.inputs:
                if i not in alive and i >= fixed:
                    alive.add(i)
                    free.append(i)
            into = None
            if free and reusable and step.op.elementwise and isinstance(step.kernel, np.ufunc):
                for i in free:
                    if i in reusable and plan.types[i].code == step.type.code:
                        into = i
                        break
            calls.append((step.kernel, step.inputs if into is None else (*step.inputs, into), step.output, free))
        calls.reverse()
        self.calls = [calls, calls]
        if plan.masking.some:  # the masked kernels are rarely needed, and take no array to write into
            self.calls[1] = [
                (s.masked, c[1] if s.masked is s.kernel else s.inputs, c[2], c[3])
                for s, c in zip(plan.steps, calls, strict=True)
            ]
        self.plan = plan.with_steps(())

    @property
    def nbytes(self) -> int:
        """About the bytes that it takes."""
        return CALL_BYTES * len(self.calls[0])

    def run(self, leaves: list[Any], numbers: list[Any], masked: bool, donated: Collection[int] = ()) -> list[Any]:
        plan = self.plan
        env: list[Any] = leaves + [np.array(v, t.dtype.dtype) for v, t in zip(numbers, plan.number_types, strict=True)]
        env += [None] * (len(plan.types) - len(env))
        for slot, array in plan.constants.items():
            env[slot] = array
        for kernel, inputs, output, free in self.calls[masked]:
            if len(inputs) == 2:
                env[output] = kernel(env[inputs[0]], env[inputs[1]])
            elif len(inputs) == 1:
                env[output] = kernel(env[inputs[0]])
            else:
                env[output] = kernel(*[env[i] for i in inputs])
            for i in free:
                env[i] = None
        return [env[slot] for _, _, slot, _ in plan.outputs]


def _reusable(plan: Plan) -> set[int]:
    """Slots of large arrays that a later step may write over: made here, and never seen through a view."""
    large = {s.output for s in plan.steps if type(s.type) is not tuple and s.type.size >= REUSE_FROM and not s.op.view}
    if large:
        for step in plan.steps:
            if step.op.view:
                large.difference_update(step.inputs)
    return large


def is_small(plan: Plan) -> bool:
    """Whether a plan's arrays are small enough to own."""
    for t in plan.types:
        if isinstance(t, tuple) or t.size * t.dtype.itemsize > SMALL_ARRAY:
            return False
    return all(step.type.size for step in plan.steps)


def _may_be_threaded(plan: Plan, step: Step) -> bool:
    """Whether BLAS or LAPACK may give a step to several threads; those on small matrices it computes on one."""
    if step.op in PRODUCTS and step.op is not MATMUL:
        return True
    return is_algebra(step.op) and any([plan.types[i].size > SMALL_MATRIX for i in (*step.inputs, step.output)])


class Bound:
    """Steps with every argument in place, in memory of their own: one run at a time. `threaded` says whether BLAS may use several
    threads in it."""

    masks = False
    alone = False

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.threaded = any([_may_be_threaded(plan, step) for step in plan.steps])
        self.lock = _forks.rlock()
        self.running = False
        _forks.forked(self)
        self.owned: list[Array] = []  # all that a run writes into
        self.arrays: list[Any] = [None] * len(plan.types)
        self.calls: list[list[Call]] = [[], []]
        self.pools: dict[Any, list[Array]] = {}
        self.bind_inputs()
        self.bind_steps()
        self.results = [self.arrays[slot] for _, _, slot, _ in plan.outputs]
        self.plan = plan.with_steps(())

    def new(self, shape: Shape, dtype: Any) -> Array:
        """Memory that runs write into."""
        array: Array = np.empty(shape, dtype)
        self.owned.append(array)
        return array

    @property
    def nbytes(self) -> int:
        """About the bytes that it takes."""
        return sum([x.nbytes for x in self.owned]) + CALL_BYTES * len(self.calls[0])

    def bind_inputs(self) -> None:
        plan, arrays = self.plan, self.arrays
        for i, t in enumerate(plan.leaf_types):
            arrays[i] = self.new(t.shape, t.dtype.dtype)
        self.leaf_buffers = arrays[: len(plan.leaf_types)]
        self.number_blocks: list[tuple[Array, list[int]]] = []
        self.numbers: list[Any] | None = None  # that stand there
        self.has_complex = any([t.dtype.kind == "c" for t in plan.number_types])
        by_dtype: dict[Any, list[int]] = {}
        for k, t in enumerate(plan.number_types):
            by_dtype.setdefault(t.dtype.dtype, []).append(k)
        base = len(plan.leaf_types)
        for dtype, members in by_dtype.items():
            block = self.new((len(members),), dtype)
            self.number_blocks.append((block, members))
            for k, member in enumerate(members):
                arrays[base + member] = block[k : k + 1].reshape(())
        for slot, array in plan.constants.items():
            arrays[slot] = array

    def bind_steps(self) -> None:
        """Give each step a buffer, reused once nothing reads it or a view of it any more."""
        plan, arrays = self.plan, self.arrays
        root = list(range(len(plan.types)))
        views = {step.output for step in plan.steps if step.op.view}
        for step in plan.steps:
            if step.op.view:
                root[step.output] = root[step.inputs[0]]
        last: dict[int, int] = {}
        for k, step in enumerate(plan.steps):
            for i in step.inputs:
                last[root[i]] = k
        for _, _, slot, _ in plan.outputs:
            last[root[slot]] = len(plan.steps)
        first_free = len(plan.leaf_types) + len(plan.number_types)
        dying: list[list[int]] = [[] for _ in plan.steps]
        for slot, k in last.items():
            if slot >= first_free and slot not in plan.constants and k < len(plan.steps):
                dying[k].append(slot)
        for k, step in enumerate(plan.steps):
            inputs = tuple([arrays[i] for i in step.inputs])
            if step.op.view:
                view = step.kernel(*inputs)
                if np.may_share_memory(view, inputs[0]):
                    arrays[step.output] = view
                    continue
            if step.op.elementwise:
                inputs = _without_axes(inputs, step.type.shape)
            pool = self.pools.get(step.type.code)
            if pool and not step.op.view:
                buffer = pool.pop()
            else:
                buffer = self.new(step.type.shape, step.type.dtype.dtype)
            arrays[step.output] = buffer
            self.emit(step, inputs, buffer)
            for slot in dying[k]:
                if slot != step.output and slot not in views:
                    self.pools.setdefault(plan.types[slot].code, []).append(arrays[slot])

    def emit(self, step: Step, inputs: tuple[Any, ...], buffer: Array) -> None:
        for calls, kernel in zip(self.calls, (step.kernel, step.masked), strict=True):
            if step.op.variadic and step.op.takes_out:
                calls.append((partial(kernel, out=buffer), inputs))
            elif step.op.takes_out:
                calls.append((kernel, (*inputs, buffer)))
            else:
                calls.append((_copy_result, (buffer, kernel, inputs)))

    def fill(self, leaves: list[Any], numbers: list[Any]) -> None:
        for buffer, value in zip(self.leaf_buffers, leaves, strict=True):
            buffer[...] = value
        if numbers != self.numbers or 0 in numbers or self.has_complex:  # others stand there; 0 equals -0
            self.numbers = None  # in case of an interrupt
            for block, members in self.number_blocks:
                block[:] = [numbers[k] for k in members]
            self.numbers = list(numbers)

    def run(self, leaves: list[Any], numbers: list[Any], masked: bool, donated: Collection[int] = ()) -> list[Any]:
        with self.lock:
            if self.running:
                return self.run_between(leaves, numbers, masked)
            try:
                self.running = True
                return self.compute(leaves, numbers, masked)
            finally:
                self.running = False

    def forked(self) -> None:
        """In the child of a fork: another thread's run isn't here."""
        self.running = False

    def compute(self, leaves: list[Any], numbers: list[Any], masked: bool) -> list[Any]:
        self.fill(leaves, numbers)
        for function, arguments in self.calls[masked]:
            function(*arguments)
        return [x.copy() for x in self.results]

    def run_between(self, leaves: list[Any], numbers: list[Any], masked: bool) -> list[Any]:
        """Run in the middle of a run of this thread, which a finalizer or a signal's handler has interrupted."""
        before, stood = [x.copy() for x in self.owned], self.numbers
        try:
            return self.compute(leaves, numbers, masked)
        finally:
            self.numbers = None
            for array, contents in zip(self.owned, before, strict=True):
                array[...] = contents
            self.numbers = stood


def _without_axes(inputs: tuple[Any, ...], shape: Shape) -> tuple[Any, ...]:
    """The operands of an elementwise step, single numbers beside an array without axes: NumPy broadcasts those at no cost."""
    if not any([x.shape == shape for x in inputs]) or all([x.shape == shape or x.size > 1 for x in inputs]):
        return inputs
    return tuple([x if x.shape == shape or x.size > 1 else x.reshape(()) for x in inputs])


def _copy_result(buffer: Array, kernel: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    buffer[...] = kernel(*inputs)


class Grouped(Bound):
    """Single numbers run level by level, all that share an operation at once, in one arena for each dtype."""

    def bind_steps(self) -> None:
        plan = self.plan
        groups = _levels(plan)
        self.lay_out(groups)
        scratch: dict[tuple[Any, int], Array] = {}
        for members in groups:
            first = members[0]
            if not _groupable(plan, first):
                self.single(first)
                continue
            columns = [self.column([step.inputs[k] for step in members], k, scratch) for k in range(len(first.inputs))]
            start = self.position[first.output]
            out = self.arenas[first.type.dtype.dtype][start : start + len(members)]
            for calls, kernel in zip(self.calls, (first.kernel, first.masked), strict=True):
                calls.append((kernel, (*columns, out)))
        for _, _, slot, _ in plan.outputs:
            self.arrays[slot] = self.array(slot)

    def lay_out(self, groups: Sequence[list[Step]]) -> None:
        """A position in its dtype's arena for every slot of one element: inputs first, then group after group."""
        plan = self.plan
        self.position: dict[int, int] = {}
        sizes: dict[Any, int] = {}
        fixed = len(plan.leaf_types) + len(plan.number_types)
        members = [step.output for group in groups for step in group if step.type.size == 1]
        for slot in [*range(fixed), *plan.constants, *members]:
            if np.size(self.arrays[slot]) == 1:  # a slot not bound yet counts as one element
                dtype = plan.types[slot].dtype.dtype
                self.position[slot] = sizes.get(dtype, 0)
                sizes[dtype] = self.position[slot] + 1
        self.arenas = {dtype: self.new((n,), dtype) for dtype, n in sizes.items()}
        self.scattered: list[tuple[Array, list[int]]] = []
        by_dtype: dict[Any, list[int]] = {}
        for slot, at in self.position.items():
            dtype = plan.types[slot].dtype.dtype
            if slot < fixed:
                by_dtype.setdefault(dtype, []).append(slot)
            elif slot in plan.constants:
                self.arenas[dtype][at] = plan.constants[slot].reshape(())
        for dtype, slots in by_dtype.items():
            start = self.position[slots[0]]
            self.scattered.append((self.arenas[dtype][start : start + len(slots)], slots))
        self.large = [i for i in range(len(plan.leaf_types)) if i not in self.position]
        self.shapes = {slot: np.shape(self.arrays[slot]) for slot in self.position if self.arrays[slot] is not None}

    def array(self, slot: int) -> Any:
        """The array of a slot: for single numbers, a view of the arena."""
        if slot not in self.position:
            return self.arrays[slot]
        t, at = self.plan.types[slot], self.position[slot]
        return self.arenas[t.dtype.dtype][at : at + 1].reshape(self.shapes.get(slot, t.shape))

    def column(self, slots: list[int], column: int, scratch: dict[tuple[Any, int], Array]) -> Any:
        """One operand of a group: a slice of the arena where it is contiguous, else a gather into scratch memory."""
        arena = self.arenas[self.plan.types[slots[0]].dtype.dtype]
        positions = [self.position[s] for s in slots]
        first, count = positions[0], len(positions)
        if positions[-1] - first == count - 1 and positions == list(range(first, first + count)):
            return arena[first : first + count]
        if positions.count(first) == count:
            return arena[first : first + 1]
        buffer = scratch.get((arena.dtype, column))
        if buffer is None or len(buffer) < count:
            buffer = scratch[arena.dtype, column] = self.new((max(count, 1024),), arena.dtype)
        target = buffer[:count]
        index = np.array(positions)
        for calls in self.calls:
            calls.append((arena.take, (index, None, target, "clip")))
        return target

    def single(self, step: Step) -> None:
        """A step that is not one number by one operation."""
        inputs = tuple([self.array(i) for i in step.inputs])
        if step.output in self.position:
            buffer = self.array(step.output)
        else:
            if step.op.view:
                view = step.kernel(*inputs)
                if np.may_share_memory(view, inputs[0]):
                    self.arrays[step.output] = view
                    return
            buffer = self.new(step.type.shape, step.type.dtype.dtype)
            self.arrays[step.output] = buffer
        self.emit(step, inputs, buffer)

    def fill(self, leaves: list[Any], numbers: list[Any]) -> None:
        values = leaves + numbers
        for block, slots in self.scattered:
            block[:] = [values[s].item() if s < len(leaves) else values[s] for s in slots]
        for i in self.large:
            self.leaf_buffers[i][...] = leaves[i]


def _groupable(plan: Plan, step: Step) -> bool:
    return step.op.elementwise and step.type.size == 1 and all(plan.types[i].size == 1 for i in step.inputs)


def _levels(plan: Plan) -> list[list[Step]]:
    """Steps in groups that can run together: same level, operation and types; others alone."""
    level = [0] * len(plan.types)
    groups: dict[Any, list[Step]] = {}
    for k, step in enumerate(plan.steps):
        depth = 1 + max([level[i] for i in step.inputs], default=0)
        level[step.output] = depth
        key: Any = (depth, k)
        if _groupable(plan, step):
            codes = tuple([plan.types[i].dtype.name for i in step.inputs])
            key = (depth, step.op.name, step.attributes, codes, step.type.dtype.name)
        groups.setdefault(key, []).append(step)
    return [groups[key] for key in sorted(groups, key=lambda key: key[0])]


def is_tiny(plan: Plan) -> bool:
    """Whether a step costs more to start than to run: arrays of a few hundred elements on average."""
    return bool(sum(plan.sizes()) <= TINY * plan.length)  # asked once: of plans with sizes it is a condition


def is_scalar(plan: Plan) -> bool:
    """Whether most steps are on single numbers, or on arrays of a few, and the others aren't much larger."""
    sizes = [step.type.size for step in plan.steps if type(step.type) is not tuple]
    if len(sizes) < len(plan.steps):
        return False
    most = 4 * FEW if sum([size <= FEW for size in sizes]) >= MOSTLY * len(sizes) else FEW
    return bool(sum(sizes) <= most * len(sizes))


def is_grouped(plan: Plan) -> bool:
    """Whether many single numbers share their operations and levels."""
    return len(plan.steps) >= GROUP_FROM and len(_levels(plan)) * 4 <= len(plan.steps)


def choose(plan: Plan) -> Streaming | Bound:
    """The program for a plan. It holds all that it needs of the plan's steps."""
    if not is_small(plan) or any(
        step.op is HOST_CALL for step in plan.steps
    ):  # host code may come back to this very plan
        return Streaming(plan)
    program = Grouped(plan) if is_grouped(plan) else Bound(plan)
    if program.nbytes > SMALL_PLAN:
        return Streaming(plan)
    return program
