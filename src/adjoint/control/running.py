"""How loops run: as native code where the body is small, else step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.control.body import Body, as_arrays, planned_alone
from adjoint.execution.tiers import native_backend, tiers
from adjoint.graph import Node, record
from adjoint.primitives.core import placeholder, select
from adjoint.runtime.memory import new_array

__all__ = ["Inside", "narrowed", "native_loop", "run_loop", "stack_of"]

FEW = 4  # steps of a loop that are done one by one
LONG = 256  # steps of a loop from which on its body is compiled at once
PATIENCE = 1024  # steps that a body runs on the interpreter, in several loops, before it is compiled
STRETCH = 1 << 20  # steps of native code between two looks at signals
STEPS_AT_ONCE = 1 << 8  # of a loop that holds loops which end by themselves
UNKNOWN = 1 << 62  # steps of a loop that ends by itself


class Back(NamedTuple):
    """How a loop is gone back: the condition on which its steps were done (None: their number is known); and, when asked for, the
    step back (see `lean.Backward`), the places of the inputs whose cotangents are computed, and of the results that come with
    cotangents."""

    condition: Body | None
    derived: Callable[[], tuple[Any, Sequence[int], Sequence[int]]]


class Inside(NamedTuple):
    """A graph that an operation repeats or chooses, to be explained or compiled: how often, and as which part of which loop.

    label      how often, for people
    constants, carries   how many of the body's first inputs these are; carries of None: it is no loop
    condition  of a loop that ends by itself, of the same inputs
    length, reverse, read   of a scan, its steps, whether they go from the last to the first, and the results that anybody reads
                            (None: all)
    back       of a loop that is gone back
    """

    label: str
    body: Body
    constants: int = 0
    carries: int | None = None
    condition: Body | None = None
    length: int | None = None
    reverse: bool = False
    read: frozenset[int] | None = None
    back: Back | None = None

    def loop(self) -> Any:
        """The native loop over all steps where the body is small; else None, and each step is a program's run."""
        if self.carries is None:
            return None
        return native_loop(self.body, self.constants, self.carries, LONG, self.condition)

    def part(self) -> Any:
        """A scan of single numbers as part of a native program (see `machine.scans`); None where it can't be one."""
        return self._part("part", self._small)

    def stepped(self) -> Any:
        """A scan whose step is a native program as part of another one (see `execution.native.inner`); None where it can't be
        one."""
        return self._part("stepped", self._program)

    def once(self, op: Any, attributes: Any, given: Sequence[Any], result: Any) -> Any:
        """A loop of single numbers that ends by itself, its reverse pass, or a choice among branches, as part of a native
        program; None where it can't be one. It is this operation with these attributes, on inputs of these types."""
        native = native_backend()
        key = ("once", op, attributes, *given)
        if native is not None and key not in self.body.derived:
            inputs = [placeholder(t, "an operand", False) for t in given]
            node = record(op, tuple(inputs), attributes, result)
            whole = Body(inputs, [select(node, k) for k in range(len(result))])
            plan, order, picks = whole.alone()
            step = native.SmallStep(plan, order, given, result, len(inputs), 0, picks, None)
            self.body.derived[key] = native.part_of((whole, len(inputs), 0), step)
        return None if native is None else self.body.derived[key]

    def chosen(self, bodies: Sequence[Body], given: Sequence[Any], result: Sequence[Any]) -> Any:
        """A choice among these branches, of which this is the first, as part of a native program, on inputs of these types; None
        where it can't be one."""
        native = native_backend()
        key = ("chosen", tuple(bodies))
        if native is not None and key not in self.body.derived:
            branches = [body.alone() for body in bodies]
            self.body.derived[key] = native.choice_part_of(branches, [*given, *result])
        return None if native is None else self.body.derived[key]

    def _part(self, name: str, make: Callable[[Any, Body, int], Any]) -> Any:
        native = native_backend()
        if native is None or self.carries is None or self.condition is not None or self.length is None:
            return None
        key = (name, self.constants, self.carries, self.read)
        if key not in self.body.derived:
            self.body.derived[key] = make(native, narrowed(self.body, self.carries, self.read), self.carries)
        return self.body.derived[key]

    def _small(self, native: Any, body: Body, carries: int) -> Any:
        plan, order, picks = body.alone()
        types, results = [x.type for x in body.inputs], [y.type for y in body.outputs]
        step = native.SmallStep(plan, order, types, results, self.constants, carries, picks, None)
        return native.part_of((body, self.constants, carries), step)

    def _program(self, native: Any, body: Body, carries: int) -> Any:
        plan, order, picks = body.alone()
        types = [x.type for x in (*body.inputs, *body.outputs)]
        return native.loop_part_of(plan, order, picks, self.constants, carries, types)

    def timed(self, loop: Any, steps: int) -> float:
        """The seconds that a step of this native loop takes, on ones."""
        inputs = [np.ones(x.shape, x.dtype.dtype) for x in self.body.inputs]
        arrays = [*inputs, *[np.empty(y.shape, y.dtype.dtype) for y in self.body.outputs]]
        start = perf_counter()
        done = loop.run(arrays, 0, 0, steps)  # all of them read and write the first slice
        return (perf_counter() - start) / max(int(done), 1)


def narrowed(body: Body, carries: int, read: frozenset[int] | None) -> Body:
    """A scan's body with those results alone that anybody reads, and the carries; with all (None)."""
    places = [i for i in range(carries, len(body.outputs)) if read is None or i in read]
    if len(places) == len(body.outputs) - carries:
        return body
    outputs = [*body.outputs[:carries], *[body.outputs[i] for i in places]]
    return body.remembered(("narrowed", tuple(places)), lambda: body.with_outputs(outputs))


def stack_of(x: Node, count: int) -> Any:
    """An array for a value at so many steps, not initialized. Its pages come back, as those of all large results do."""
    dtype = x.dtype.dtype
    return new_array((count, *x.shape), dtype, count * x.type.size * dtype.itemsize)


def run_loop(
    body: Body,
    constants: Sequence[Any],
    carries: Sequence[Any],
    slices: Sequence[Any],
    stacks: Sequence[Any],
    steps: range,
    condition: Body | None = None,
) -> tuple[list[Any], int]:
    """Repeat body(constants, carries, slices) -> (carries, ys), and write the ys into the stacks. `steps` are the numbers of
    the slices, in order; with a condition, of the same inputs, the loop ends where that is false.

    Gives the last carries, which may be those given, and how many steps were done.
    """
    carries = list(carries)
    native = native_loop(body, len(constants), len(carries), len(steps), condition) if steps else None
    if native is None:
        if condition is None and len(steps) >= FEW:
            return _driven(body, list(constants), carries, slices, stacks, steps), len(steps)
        if condition is not None:
            return _driven_while(body, condition, list(constants), carries, stacks, steps)
        return _step_by_step(body, list(constants), carries, slices, stacks, steps, condition)
    fixed = [np.ascontiguousarray(x) for x in constants]
    moving = [np.ascontiguousarray(x) for x in slices]
    done = 0
    while done < len(steps):
        part = steps[done : done + STRETCH]
        finals = [np.empty(np.shape(x), np.asarray(x).dtype) for x in carries]
        given = [np.ascontiguousarray(x) for x in carries]
        if native.may_stop:
            part = part[:STEPS_AT_ONCE]
        count = native.run([*fixed, *given, *moving, *finals, *stacks], part.start, part.step, len(part))
        carries = finals
        done += count
        if count < len(part):
            if not native.may_stop:
                break
            step = steps[done : done + 1]  # the condition doesn't hold, or a loop within takes long
            carries, count = _step_by_step(body, list(constants), carries, slices, stacks, step, condition)
            done += count
            if not count:
                break
    return carries, done


def _step_by_step(
    body: Body, constants: list[Any], carries: list[Any], slices: Sequence[Any], stacks: Sequence[Any], steps: range,
    condition: Body | None,
) -> tuple[list[Any], int]:  # fmt: skip
    done, count = 0, len(carries)
    for t in steps:
        inputs = [*constants, *carries, *[x[t, ...] for x in slices]]
        if condition is not None and not condition(inputs)[0]:
            break
        results = body(inputs)
        carries = results[:count]
        for stack, y in zip(stacks, results[count:], strict=True):
            stack[t, ...] = y
        done += 1
    return list(as_arrays(carries, inputs)) if done else carries, done


def _driven(
    body: Body, constants: list[Any], carries: list[Any], slices: Sequence[Any], stacks: Sequence[Any], steps: range
) -> list[Any]:
    """The last carries. Once the body's program is compiled, native code goes from step to step."""
    for first in (0, 1, 2):
        stepper = _stepper(body)
        if stepper is not None:
            fixed, moving = [np.ascontiguousarray(x) for x in constants], [np.ascontiguousarray(x) for x in slices]
            found = stepper.run(fixed, carries, moving, stacks, steps[first:])
            if found is not None:
                return found  # type: ignore[no-any-return]
            break
        if first < 2:
            carries, _ = _step_by_step(body, constants, carries, slices, stacks, steps[first : first + 1], None)
    return _step_by_step(body, constants, carries, slices, stacks, steps[first:], None)[0]


def _driven_while(
    body: Body, condition: Body, constants: list[Any], carries: list[Any], stacks: Sequence[Any], steps: range
) -> tuple[list[Any], int]:
    """The last carries, and how many steps were done. Once the program of a step and its condition is compiled, native code goes
    from step to step. It computes a step beside its condition; where that step fails, Python asks first."""
    asked = body.remembered(
        ("asked", condition), lambda: body.with_outputs((*body.outputs, *condition.applied(body.inputs)))
    )
    done = 0
    while done < len(steps):
        stepper = _stepper(asked)
        if stepper is not None:
            fixed = [np.ascontiguousarray(x) for x in constants]
            found = stepper.run_while(fixed, [np.asarray(x) for x in carries], [], stacks, steps[done:])
            if found is None:  # another thread's turn
                break
            carries, count, failed = found
            done += count
            if not failed:
                return carries, done
            carries, count = _step_by_step(body, constants, carries, [], stacks, steps[done : done + 1], condition)
        elif asked.steps > PATIENCE:  # it isn't worth compiling, or not native code alone
            break
        elif condition([*constants, *carries])[0]:
            asked.steps += 1
            step = steps[done : done + 1]
            carries, count = _step_by_step(asked, constants, carries, [], [*stacks, _Nowhere()], step, None)
        else:
            count = 0
        done += count
        if not count:
            return carries, done
    carries, count = _step_by_step(body, constants, carries, [], stacks, steps[done:], condition)
    return carries, done + count


class _Nowhere:
    """Takes what nobody reads."""

    def __setitem__(self, at: Any, value: Any) -> None:
        pass


def _stepper(body: Body) -> Any:
    """What runs the body's program natively for many steps (see `execution.native.stepping`); None where it isn't compiled, or
    isn't native code alone."""
    program = body.program
    compiled = None if program is None else program.executable.program
    if program is None or compiled is None or not compiled.alone:
        return None
    key = ("stepper", id(compiled))
    if key not in body.derived:
        native = native_backend()
        made = None if native is None else native.stepper_of(compiled, program.order, program.picks)
        body.derived[key] = compiled, made
    return body.derived[key][1]


def native_loop(body: Body, constants: int, carries: int, steps: int, condition: Body | None) -> Any:
    """The native loop of a body of small arrays (see `machine.scalars`); None where there is none, or where so few
    steps aren't worth it."""
    key = ("native loop", constants, carries, condition)
    if key not in body.derived:
        if tiers.backend != "native" and steps < LONG:
            body.steps += steps
            if tiers.deterministic or body.steps < PATIENCE:
                return None
        body.derived[key] = _compiled(body, constants, carries, condition)
    return body.derived[key]


def _compiled(body: Body, constants: int, carries: int, condition: Body | None) -> Any:
    native = native_backend()
    if native is None:
        return None
    outputs = (*body.outputs, *(() if condition is None else condition.applied(body.inputs)))
    plan, order, picks = planned_alone(body.inputs, outputs)
    asked = None if condition is None else picks.pop()
    types = [x.type for x in body.inputs]
    results = [y.type for y in body.outputs]
    return native.loop_of(plan, order, types, results, constants, carries, picks, asked)
