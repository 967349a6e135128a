"""`while_loop`: a body repeated as long as a condition holds.

How often that is, is known once the loop has run, so its reverse pass runs it again, remembers the carries, and goes back
along them: see `lean`. A loop over single numbers keeps its carries for a reverse pass that will come next, if one did before:
running it costs no more with them, and what it does follows from what it is given, to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint import derive
from adjoint._tuples import NamedTuple
from adjoint.batch import Batch
from adjoint.control.body import Body, as_arrays, close, for_examples, stand_in
from adjoint.control.formal import record_transpose
from adjoint.control.lean import Backward, Reversal, Starts, Trail, active_carries, record_loop_reverse, sections
from adjoint.control.running import UNKNOWN, Inside, native_loop, run_loop, stack_of
from adjoint.derive import forward
from adjoint.dtypes import int64
from adjoint.graph import ArrayType, Node, Primitive, array_type, record
from adjoint.primitives.core import conform, ops, placeholder, select, zeros

__all__ = ["WHILE", "Repeat", "record_while"]

Nodes = Sequence[Node]
FIRST_PIECE = 64  # steps whose carries are stacked in one piece; each further piece has twice as many
MOST_KEPT = 1 << 24  # bytes of the carries that a loop keeps for its reverse pass
Pieces = list[tuple[list[Any], int]]


class Walk(NamedTuple):
    """What a loop did: the bytes of what it was given, how many steps it took; while they are kept, the carries before each
    step, stacked in pieces, and how many there are in each piece, or those before some steps; whether its reverse pass came next,
    now or the last time."""

    given: tuple[bytes, ...]
    steps: int
    pieces: Pieces | None
    starts: Starts | None
    gone_back: bool


@dataclass(frozen=True, slots=True)
class Repeat:
    """What a while loop does: body(constants, carries) -> carries, while condition(constants, carries) is true.

    The last result is how often. `memory`: how many carries the reverse pass may remember; None: all.
    """

    condition: Body
    body: Body
    constants: int
    carries: int
    memory: int | None = None

    def types(self) -> tuple[ArrayType, ...]:
        """The types of the results."""
        return (*[y.type for y in self.body.outputs], array_type((), int64))

    def record(self, inputs: Nodes) -> list[Node]:
        """The results as nodes."""
        node = record(WHILE, tuple(inputs), self, self.types())
        return [select(node, i) for i in range(self.carries + 1)]

    def active(self, wanted: Sequence[bool]) -> tuple[set[Node], list[int]]:
        """The inputs of the body that depend on wanted ones, and the numbers of the carries among them."""
        return active_carries(self, wanted)

    def batched(self, b: Batch, inputs: Nodes) -> list[Node]:
        """The results for every example, as nodes; all inputs have the batch axis in front."""
        return batch_while(b, self, inputs, [True] * len(inputs))

    def pushforward(self, inputs: Nodes, tangents: Sequence[Node | None]) -> list[Node | None]:
        """The tangents of the results as nodes: a loop of the body beside its tangents."""
        results: list[Node | None] = [None] * (self.carries + 1)
        if all([t is None for t in tangents]):
            return results
        body, n = self.body, self.constants
        active, carried = self.active([t is not None for t in tangents])
        dots = {i: stand_in(x, "a tangent") for i, x in enumerate(body.inputs) if x in active}
        found = forward(body.outputs, [body.inputs[i] for i in dots], list(dots.values()))
        moving = [zeros(y.type) if t is None else conform(t, y.type) for y, t in
                  [(body.outputs[i], found[i]) for i in carried]]  # fmt: skip
        given = [zeros(x.type) if t is None else t for x, t in zip(inputs, tangents, strict=True)]
        known = {dot: given[i] for i, dot in dots.items() if i < n}
        known |= dict(zip(body.inputs[:n], inputs[:n], strict=True))
        carries = [*body.inputs[n:], *[dots[n + i] for i in carried]]
        (condition,) = self.condition.applied(body.inputs)
        init = [*inputs[n:], *[given[n + i] for i in carried]]
        made = record_while(carries, condition, [*body.outputs, *moving], init, known, self.memory)
        for i, t in zip(carried, made[self.carries :], strict=False):
            results[i] = t
        return results

    def run(self, constants: Sequence[Any], state: list[Any], most: int = UNKNOWN) -> tuple[list[Any], int]:
        """The carries after the last step, or after `most` steps; how many there were."""
        return run_loop(self.body, constants, state, [], [], range(most), self.condition)

    def run_forward(self, constants: Sequence[Any], state: list[Any]) -> tuple[list[Any], int]:
        """The carries after the last step; how many there were. A loop over single numbers notes what it did: if its reverse
        pass came next the last time, the carries are kept for it, all or those from which it will start."""
        if native_loop(self.body, self.constants, self.carries, UNKNOWN, self.condition) is None:
            return self.run(constants, state)
        key, given, pieces, starts = self.walked, _bytes([*constants, *state]), None, None
        last: Walk | None = self.body.derived.get(key)
        asked = last is not None and last.pieces is None and last.starts is None  # for what was kept the last time
        gone_back = last is not None and last.gone_back and asked
        count, ended = 0, False
        if gone_back and self.memory is None:
            pieces, state, ended = self.traced(constants, state, MOST_KEPT // max(self.nbytes, 1))
            count = sum([count for _, count in pieces])
        elif gone_back and last is not None:
            starts, state, count = self.by_sections(constants, state, last.steps)
            ended = starts is not None
        if not ended:
            state, more = self.run(constants, state)
            count, pieces = count + more, None
        self.body.derived[key] = Walk(given, count, pieces, starts, gone_back)
        return state, count

    def by_sections(
        self, constants: Sequence[Any], state: list[Any], steps: int
    ) -> tuple[Starts | None, list[Any], int]:
        """The carries before each section of a loop that takes about so many steps, the last carries, and how many steps there
        were; no sections where their reverse pass has none, and they and the rest of the loop where it takes far more."""
        schedule = None if self.memory is None or steps <= self.memory else sections(steps, self.memory)
        if schedule is None:
            return None, state, 0
        starts, total = Starts(schedule[0], []), 0
        while len(starts.states) * starts.apart <= steps:
            starts.states.append(state)
            state, count = self.run(constants, state, starts.apart)
            total += count
            if count < starts.apart:
                break
        else:
            state, count = self.run(constants, state)
            total += count
        del starts.states[max(1, -(-total // starts.apart)) :]
        return starts, state, total

    @property
    def walked(self) -> Any:
        """The key of what the loop did the last time."""
        return "walked", self.constants, self.condition, self.memory

    @property
    def nbytes(self) -> int:
        """The bytes of the carries before one step."""
        return sum([x.type.size * x.dtype.dtype.itemsize for x in self.body.inputs[self.constants :]])

    def last_walk(self, arrays: list[Any]) -> Walk | None:
        """What the loop did when it was given this, if that is what it did last. The carries are kept no longer."""
        key = self.walked
        walk: Walk | None = self.body.derived.get(key)
        if walk is None or walk.given != _bytes(arrays):
            return None
        self.body.derived[key] = Walk(walk.given, walk.steps, None, None, gone_back=True)
        return walk

    def run_back(self, back: Backward, arrays: list[Any], u: list[Any]) -> list[Any]:
        """The cotangents of the inputs (None for those without), remembering at most `memory` carries."""
        constants, state = arrays[: self.constants], arrays[self.constants :]
        walk, last = Reversal(back, self, arrays, u), self.last_walk(arrays)
        if self.memory is None:
            pieces = None if last is None else last.pieces
            for states, count in reversed(self.traced(constants, state)[0] if pieces is None else pieces):
                walk.backward([x[:count] for x in states], range(count))
            return walk.found()
        if native_loop(self.body, self.constants, self.carries, UNKNOWN, self.condition) is not None:
            count = self.run(constants, state)[1] if last is None else last.steps
            walk.go_back(state, range(count), self.memory, None if last is None else last.starts)
            return walk.found()
        trail, done, count = Trail(self.memory), 0, 1
        while count:
            distance = trail.keep(state)
            state, count = self.run(constants, state, distance)
            done += count
            if count < distance:
                break
        for k in range(len(trail.states) - 1, -1, -1):
            start = trail.states.pop()
            walk.go_back(start, range(min(done, (k + 1) * trail.distance) - k * trail.distance), self.memory - k - 1)
        return walk.found()

    def traced(self, constants: Sequence[Any], state: list[Any], most: int = UNKNOWN) -> tuple[Pieces, list[Any], bool]:
        """The carries before every step, stacked in pieces, and how many there are in each piece; the last carries; whether these
        are all, which else would be more than `most`. One piece is enough where the loop takes no more steps than before."""
        body = self.body
        before = body.inputs[self.constants :]
        traced = body.remembered("traced", lambda: body.with_outputs((*body.outputs, *before)))
        pieces: Pieces = []
        size, room = max(FIRST_PIECE, body.derived.get("last time", 0) + 1), most
        while size <= room:
            stacks = [stack_of(x, size) for x in before]
            state, count = run_loop(traced, constants, state, [], stacks, range(size), self.condition)
            pieces.append((stacks, count))
            if count < size:
                body.derived["last time"] = sum([count for _, count in pieces])
                return pieces, state, True
            room -= size
            size *= 2
        return pieces, state, False


def record_while(
    carry_in: Nodes,
    condition: Node,
    carry_out: Nodes,
    init: Nodes,
    known: Mapping[Node, Node] | None = None,
    memory: int | None = None,
) -> list[Node]:
    """The final carries of a recorded step and condition, and how often it ran."""
    closed, inside, outside = close(carry_in, [condition, *carry_out], known)
    inputs = (*inside, *carry_in)
    loop = Repeat(Body(inputs, closed[:1]), Body(inputs, closed[1:]), len(inside), len(carry_in), memory)
    return loop.record((*outside, *init))


def _bytes(arrays: Sequence[Any]) -> tuple[bytes, ...]:
    return tuple([np.asarray(x).tobytes() for x in arrays])


def _kernel(loop: Repeat, type: Any) -> Any:
    def kernel(*arrays: Any) -> tuple[Any, ...]:
        values = [np.asarray(x) for x in arrays]
        state, count = loop.run_forward(values[: loop.constants], values[loop.constants :])
        return (*as_arrays(state, values), np.array(count, np.int64))

    return kernel


def _vjp(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    return record_loop_reverse(node.attributes, node.inputs, u[:-1], wanted)


def _linear(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    return record_transpose(node.inputs, u, wanted, node.attributes.pushforward)


def _batch(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> list[Node]:
    return batch_while(b, node.attributes, xs, mapped)


def batch_while(b: Batch, loop: Repeat, xs: Nodes, mapped: Sequence[bool]) -> list[Node]:
    """The results for every example. Where the condition differs between them, the loop goes on until none goes on, and
    what has ended keeps what it has."""
    n, batched = loop.constants, list(mapped)
    inputs = loop.body.inputs
    (condition,) = loop.condition.applied(inputs)
    while True:  # until no more carries come to differ between examples
        stand_ins = {x: for_examples(b, x) for x, m in zip(inputs, batched, strict=True) if m}
        inner = Batch(b.size, stand_ins)
        going, *found = inner.run([condition, *loop.body.outputs])
        more = [i for i, y in enumerate(found) if (y is not None or going is not None) and not batched[n + i]]
        if not more:
            break
        for i in more:
            batched[n + i] = True
    whole = inner.expand(loop.body.outputs)
    outer = [x if m or not w else b.repeated(x) for x, m, w in zip(xs, mapped, batched, strict=True)]
    carries = [stand_ins.get(x, x) for x in inputs[n:]]
    carry_out = [w if m else inner.shared[y] for w, m, y in zip(whole, batched[n:], loop.body.outputs, strict=True)]
    count = placeholder(array_type((b.size,), int64), "how often", False)
    if going is not None:
        own = ops.any(going, (0,))
        carry_out = [
            ops.where(_beside(going, y), y, x) for x, y in zip(carries, carry_out, strict=True) if y is not None
        ]
        carries = [*carries, count]
        carry_out = [*carry_out, ops.add(count, ops.astype(going, int64))]
        outer = [*outer, ops.full(0, count.type)]
    else:
        own = inner.shared[condition]
    known = {stand_ins.get(x, x): y for x, y in zip(inputs[:n], outer[:n], strict=True)}
    made = record_while(carries, own, [y for y in carry_out if y is not None], outer[n:], known, loop.memory)
    results = [y if m else b.repeated(y) for y, m in zip(made, batched[n:], strict=False)]
    return [*results, made[-2] if going is not None else b.repeated(made[-1])]


def _beside(going: Node, x: Node) -> Node:
    """A condition for each example with the axes of what it selects."""
    return ops.broadcast_to(ops.reshape(going, (*going.shape, *(1,) * (x.ndim - 1))), x.shape)


WHILE = Primitive("while_loop", _kernel, _vjp, moves=True)
WHILE.graphs = lambda loop: [Inside("each time", loop.body, loop.constants, loop.carries, loop.condition)]
WHILE.batch = _batch
derive.transposes(WHILE, _linear)
