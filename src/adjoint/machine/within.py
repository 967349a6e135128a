"""Loops and branches within a loop over small things: written into it as loops and branches of its own.

A branch is computed where its index chooses it, and nowhere else. A `while_loop` goes round in registers; its reverse pass
remembers the carries before each step in memory of the loop around, and goes back along them. A `scan` is written out turn by
turn where that is short, or is a loop where it neither reads nor makes slices.

A loop that ends by itself might not end, and native code isn't interrupted: after `MOST_TURNS`, or where there is no room for
what is remembered, the loop around ends before that step, which Python then does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import BYTES, ITEMSIZE, Emitter, Value
from adjoint.machine.elements import MOST_ELEMENTS, BodyWriter, Elements, NotScalar
from adjoint.plan.plan import Plan, Step

__all__ = ["NestedWriter", "Surroundings"]

MOST_TURNS = 1 << 16  # of a loop that ends by itself
WRITTEN_OUT = 512  # elements computed in all turns of a scan that is written out
REMEMBERED = 1 << 19  # bytes of the carries that a reverse pass remembers
MOST_REMEMBERED = 4096  # steps


class Surroundings:
    """What all graphs within a loop share: the variable that says that the step can't be done here, if there is one, and the
    memory that is asked for, in bytes, by the pointers' names."""

    def __init__(self) -> None:
        self.stuck: str | None = None
        self.memory: dict[str, int] = {}


class NestedWriter(BodyWriter):
    """Writes a plan whose steps may hold graphs."""

    def __init__(self, e: Emitter, plan: Plan, around: Surroundings, within: NestedWriter | None = None) -> None:
        super().__init__(e, plan, within)
        self.around = around

    def results(self, step: Step, inputs: list[Elements]) -> list[Elements]:
        """What a loop or branch gives."""
        if step.op.graphs is None:
            if not step.op.view:
                raise NotScalar
            return inputs[: len(step.type)]  # it hands them on
        inner = step.op.graphs(step.attributes)
        first = inner[0]
        if first.carries is None:
            return self.branch([one.body for one in inner], inputs[0], inputs[1:])
        if first.back is not None:
            return self.gone_back(first, inputs)
        if first.condition is not None:
            return self.repeated(first, inputs)
        return self.scanned(first, step, inputs)

    # Graphs

    def inner(self, body: Any, inputs: Sequence[Elements]) -> list[Elements]:
        """The outputs of a body."""
        plan, order, picks = body.alone()
        writer = NestedWriter(self.e, plan, self.around, self)
        for leaf, k in enumerate(order):
            writer.slots[leaf] = inputs[k].whole(body.inputs[k].shape)
        writer.write()
        self.count = writer.count
        found = [writer.slots[plan.outputs[place][2]] for place in picks]
        return [x.whole(y.shape) for x, y in zip(found, body.outputs, strict=True)]

    def variables(self, values: Sequence[Elements]) -> list[list[str]]:
        """Variables with these values."""
        return [[self.e.variable(self.value(x, one.dtype)) for x in one.items] for one in values]

    def read(self, variables: Sequence[Sequence[str]], like: Sequence[Elements]) -> list[Elements]:
        """What variables hold now."""
        return [
            Elements([self.e.get(slot, one.dtype) for slot in slots], one.shape, one.dtype)
            for slots, one in zip(variables, like, strict=True)
        ]

    def write_back(self, variables: Sequence[Sequence[str]], values: Sequence[Elements]) -> None:
        """Let variables hold these."""
        found = [[self.value(x, one.dtype) for x in one.items] for one in values]
        for slots, own in zip(variables, found, strict=True):
            for slot, x in zip(slots, own, strict=True):
                self.e.set(slot, x)

    @contextmanager
    def inside(self) -> Iterator[list[Any]]:
        """Statements of their own: what is computed there isn't known behind them."""
        e, before, made, known = self.e, self.e.body, self.made, self.e.known
        e.body, self.made, e.known = [], dict(made), dict(known)
        yield e.body
        e.body, self.made, e.known = before, made, known

    # Branches

    def branch(self, bodies: list[Any], index: Elements, inputs: list[Elements]) -> list[Elements]:
        e, (chosen,) = self.e, index.items
        if not isinstance(chosen, Value):
            return self.inner(bodies[min(max(int(chosen), 0), len(bodies) - 1)], inputs)
        if index.dtype == "uint64":
            raise NotScalar
        number = e.cast(chosen, "int64")
        types = [y.type for y in bodies[0].outputs]
        results = [_zeros(t) for t in types]
        variables = self.variables(results)
        last = len(bodies) - 1
        for k, body in enumerate(bodies):
            relation = "le" if k == 0 else "ge" if k == last else "eq"
            condition = e.first(e.compare(relation, number, k)) if last else None
            with self.inside() as statements:
                self.write_back(variables, self.inner(body, inputs))
            if condition is None:
                e.body += statements
            else:
                e.body.append(L.When(condition, tuple(statements)))
        return self.read(variables, results)

    # Loops

    def turns(self, limit: str, write: Callable[[str], None]) -> str:
        """A loop of at most so many turns, whose statements are written given the turn's number; how many were done."""
        turn, done = self.e.fresh(), self.e.fresh()
        with self.inside() as statements:
            write(turn)
        self.e.body.append(L.Repeat(turn, limit, tuple(statements), done))
        return done

    def repeated(self, loop: Any, inputs: list[Elements]) -> list[Elements]:
        """The last carries of a while loop, and how many turns it took."""
        constants, carries = inputs[: loop.constants], _whole_carries(loop, inputs)
        variables = self.variables(carries)

        def write(turn: str) -> None:
            self.turn(loop, constants, variables, carries)

        done = self.turns(str(MOST_TURNS), write)
        self.bounded(done, MOST_TURNS)
        return [*self.read(variables, carries), Elements([self.e.splat(done, "int64")], (), "int64")]

    def turn(
        self, loop: Any, constants: list[Elements], variables: Any, carries: list[Elements], before: Any = None
    ) -> None:
        """One turn of a while loop, if its condition holds; `before` is told the carries first."""
        state = self.read(variables, carries)
        given = [*constants, *state]
        (going,) = self.inner(loop.condition, given)
        self.e.leave_unless(self.e.first(self.value(going.items[0], "bool")))
        if before is not None:
            before(state)
        self.write_back(variables, self.inner(loop.body, given))

    def bounded(self, done: str, limit: int) -> None:
        """Note that a step can't be done here, where a loop took as many turns as it may."""
        e, around = self.e, self.around
        if around.stuck is None:
            around.stuck = e.allocate("bool", e.lanes)
        with e.when(e.test("eq", done, limit)):
            e.set(around.stuck, e.constant(True, "bool"))

    def gone_back(self, loop: Any, inputs: list[Elements]) -> list[Elements]:
        """The cotangents of a while loop's inputs."""
        if loop.back.condition is None:
            raise NotScalar
        back, places, given = loop.back.derived()
        e, n, count = self.e, loop.constants, loop.constants + loop.carries
        constants, carries = inputs[:n], _whole_carries(loop, inputs)
        u = dict(zip(given, inputs[count:], strict=True))
        types = [x.type for x in loop.body.inputs]
        cotangents = [u[i].whole(types[n + i].shape) if i in u else _zeros(types[n + i]) for i in back.carries]
        cotangents += [_zeros(types[i]) for i in back.constants]
        numbers = [Elements(x.ravel().tolist(), x.shape, x.dtype.name) for x in back.numbers]
        size = sum([len(x.items) * BYTES[x.dtype] for x in carries])
        steps = min(MOST_REMEMBERED, REMEMBERED // max(size, 1))
        memory = [e.fresh() for _ in carries]
        self.around.memory |= {
            name: steps * len(x.items) * BYTES[x.dtype] for name, x in zip(memory, carries, strict=True)
        }

        variables = self.variables(carries)

        def forward(turn: str) -> None:
            def remember(state: list[Elements]) -> None:
                for name, x in zip(memory, state, strict=True):
                    at = e.times(turn, len(x.items))
                    for i, item in enumerate(x.items):
                        e.store_scalar(self.value(item, x.dtype), name, e.plus(at, i))

            self.turn(loop._replace(condition=loop.back.condition), constants, variables, carries, remember)

        done = self.turns(str(steps), forward)
        self.bounded(done, steps)
        moving = self.variables(cotangents)

        def backward(turn: str) -> None:
            at = e.index("sub", e.index("sub", done, 1), turn)
            state = []
            for name, x in zip(memory, carries, strict=True):
                first = e.times(at, len(x.items))
                items = [e.load_scalar(name, e.plus(first, i), x.dtype) for i in range(len(x.items))]
                state.append(Elements(list(items), x.shape, x.dtype))
            self.write_back(
                moving, self.inner(back.body, [*constants, *numbers, *self.read(moving, cotangents), *state])
            )

        self.turns(done, backward)
        found = self.read(moving, cotangents)
        by_input = {n + i: found[k] for k, i in enumerate(back.carries)}
        by_input |= {i: found[len(back.carries) + k] for k, i in enumerate(back.constants)}
        return [by_input[i] for i in places]

    def scanned(self, loop: Any, step: Step, inputs: list[Elements]) -> list[Elements]:
        """The last carries of a scan, and what its turns give, stacked."""
        a, b, length = loop.constants, loop.constants + loop.carries, loop.length
        if length is None:
            raise NotScalar
        constants, carries = inputs[:a], _whole_carries(loop, inputs)
        slices = [x.whole((length, *y.shape)) for x, y in zip(inputs[b:], loop.body.inputs[b:], strict=True)]
        stacked = [y.type for y in loop.body.outputs[loop.carries :]]
        read = [k for k in range(len(stacked)) if loop.read is None or loop.carries + k in loop.read]
        if any([length * stacked[k].size > MOST_ELEMENTS for k in read]):
            raise NotScalar
        plan, _, _ = loop.body.alone()
        work = sum([sum([t.size for t in s.type]) if type(s.type) is tuple else s.type.size for s in plan.steps])
        if length * work > WRITTEN_OUT:
            if slices or read:
                raise NotScalar
            return [*self.round_and_round(loop, constants, carries), *[_zeros(t) for t in step.type[loop.carries :]]]
        parts: list[list[Elements]] = [[] for _ in stacked]
        order = range(length - 1, -1, -1) if loop.reverse else range(length)
        for t in order:
            own = [_part(x, t) for x in slices]
            found = self.inner(loop.body, [*constants, *carries, *own])
            carries = found[: loop.carries]
            for part, y in zip(parts, found[loop.carries :], strict=True):
                part.append(y)
        results = list(carries)
        for part, t in zip(parts, stacked, strict=True):
            ordered = part[::-1] if loop.reverse else part
            items = [x for y in ordered for x in y.items]
            results.append(Elements(items, (length, *t.shape), t.dtype.name))
        return results

    def round_and_round(self, loop: Any, constants: list[Elements], carries: list[Elements]) -> list[Elements]:
        """The last carries of a scan without slices."""
        variables = self.variables(carries)

        def write(turn: str) -> None:
            given = [*constants, *self.read(variables, carries)]
            self.write_back(variables, self.inner(loop.body, given)[: loop.carries])

        self.turns(str(loop.length), write)
        return self.read(variables, carries)


def _zeros(type: Any) -> Elements:
    if type.size > MOST_ELEMENTS or type.dtype.name not in ITEMSIZE:
        raise NotScalar
    return Elements([0] * type.size, type.shape, type.dtype.name)


def _whole_carries(loop: Any, inputs: list[Elements]) -> list[Elements]:
    a, b = loop.constants, loop.constants + loop.carries
    return [x.whole(y.shape) for x, y in zip(inputs[a:b], loop.body.inputs[a:b], strict=True)]


def _part(x: Elements, t: int) -> Elements:
    size = len(x.items) // x.shape[0]
    return Elements(x.items[t * size : (t + 1) * size], x.shape[1:], x.dtype)
