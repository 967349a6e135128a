"""The reverse pass of a loop that remembers carries alone, all of them or only so many, and computes the rest again.

A loop of n steps that may remember s carries is reversed by the schedule of A. Griewank and A. Walther, "Algorithm 799:
revolve", ACM TOMS 26 (2000): with s carries and each step computed at most t + 1 times, C(s + t, s) steps can be reversed.
Where n isn't known, carries are remembered at equal distances; when there are too many, every second one is let go and the
distance doubles (after P. Stumm and A. Walther, SIAM J. Sci. Comput. 32, 2010); what lies between two is reversed by the
schedule.

The reverse of this reverse pass needs no rule of its own for steps: it is the reverse pass of the loop beside its tangents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import comb
from typing import Any, Protocol

import numpy as np

from adjoint import derive
from adjoint._tuples import NamedTuple
from adjoint.control.body import Body, close, stand_in
from adjoint.control.formal import record_transpose
from adjoint.control.running import STRETCH, Back, Inside, native_loop, run_loop, stack_of
from adjoint.execution.evaluate import evaluate
from adjoint.execution.tiers import native_backend
from adjoint.graph import Node, Primitive, get_mode, mode, record, substitute, topological
from adjoint.primitives.core import FULL, conform, marker, ops, select, zeros

__all__ = [
    "LOOP_REVERSE",
    "Backward",
    "Reversal",
    "Trail",
    "Marked",
    "active_carries",
    "record_loop_reverse",
    "reversed_parts",
    "step_back",
]

Nodes = Sequence[Node]
Arrays = list[Any]


class Loop(Protocol):
    """What a loop knows of itself: `body`, its first inputs the constants, then the carries, then slices."""

    @property
    def body(self) -> Body: ...
    @property
    def constants(self) -> int: ...
    @property
    def carries(self) -> int: ...
    @property
    def memory(self) -> int | None: ...

    def record(self, inputs: Nodes) -> list[Node]: ...
    def pushforward(self, inputs: Nodes, tangents: Sequence[Node | None]) -> list[Node | None]: ...
    def batched(self, b: Any, inputs: Nodes) -> list[Node]: ...
    def active(self, wanted: Sequence[bool]) -> tuple[set[Node], list[int]]: ...
    def run_back(self, back: Backward, arrays: Arrays, u: list[Any]) -> list[Any]: ...


class Backward(NamedTuple):
    """One step back, as the body of a loop: (constants, then numbers; cotangents of carries, then sums of those of constants;
    the step's carries, its slices, cotangents of its ys) -> (the same carries; cotangents of slices).

    carries, constants, slices   the numbers of those that cotangents are computed of
    given                        the numbers of the results that come with cotangents, carries apart
    """

    body: Body
    numbers: Arrays
    carries: list[int]
    constants: list[int]
    slices: list[int]
    given: list[int]


class StepBack(NamedTuple):
    """The cotangents of a step's inputs, as graph: those of the active carries, constants and slices, in this order.

    found, constants, slices, given   the cotangents; the numbers of those constants and slices, and of the results that come with
                                      cotangents, carries apart
    moving, coming                    what stands for the cotangents of the carries and of the other results
    """

    found: list[Node]
    constants: list[int]
    slices: list[int]
    given: list[int]
    moving: list[Node]
    coming: list[Node]


def step_back(loop: Loop, active: set[Node], carried: list[int], given: Sequence[bool]) -> StepBack:
    """The reverse pass of one step of a loop, by the active inputs of its body."""
    body, n, m = loop.body, loop.constants, loop.constants + loop.carries
    inputs, outputs = body.inputs, body.outputs
    ys = [j for j in range(loop.carries, len(outputs)) if given[j] and outputs[j].dtype.inexact]
    moving = [stand_in(outputs[i], "a carry's cotangent") for i in carried]
    coming = [stand_in(outputs[j], "a result's cotangent") for j in ys]
    cotangents: list[Node | None] = [None] * len(outputs)
    for j, u in zip([*carried, *ys], [*moving, *coming], strict=True):
        cotangents[j] = u
    for_constants = [i for i, x in enumerate(inputs[:n]) if x in active]
    for_slices = [i for i, x in enumerate(inputs[m:]) if x in active]
    wrt = [inputs[n + i] for i in carried] + [inputs[i] for i in for_constants] + [inputs[m + i] for i in for_slices]
    with mode(grad=True):
        found = derive.reverse(outputs, cotangents, wrt, stop=True)
        results = [zeros(x.type) if g is None else conform(g, x.type) for x, g in zip(wrt, found, strict=True)]
    return StepBack(results, for_constants, for_slices, ys, moving, coming)


def backward_of(loop: Loop, active: set[Node], carried: list[int], given: Sequence[bool]) -> Backward:
    """The step back of a loop by the active inputs of its body."""
    inputs, n = loop.body.inputs, loop.constants
    back = step_back(loop, active, carried, given)
    results = list(back.found)
    sums = [stand_in(inputs[i], "a sum over the steps") for i in back.constants]
    with mode(grad=True):
        for k, total in enumerate(sums, len(carried)):
            results[k] = ops.add(total, results[k])
    carries = [*back.moving, *sums]
    closed, inside, outside = close([*inputs, *carries, *back.coming], results, rules=False)
    numbers = _values(outside)
    order = (*inputs[:n], *inside, *carries, *inputs[n:], *back.coming)
    return Backward(Body(order, closed), numbers, carried, back.constants, back.slices, back.given)


def _values(nodes: Nodes) -> Arrays:
    """The values of constants. Copies are evaluated: what is theirs may be part of a body, which holds no values."""
    copies: dict[Node, Node] = {}
    for x in topological(nodes, lambda x: x.value is None):
        copies[x] = x
        if x.value is None:
            inputs = tuple([copies[y] for y in x.inputs])
            copies[x] = Node(x.op, inputs, x.attributes, x.type, x.site, x.offset, False)
    evaluate([copies[x] for x in nodes if x.value is None and x.op is not FULL])
    return [
        np.full(x.shape, x.attributes, x.dtype.dtype) if y.value is None else y.value
        for x, y in [(x, copies[x]) for x in nodes]
    ]


def active_carries(loop: Loop, wanted: Sequence[bool]) -> tuple[set[Node], list[int]]:
    """The inputs of the body that depend on wanted ones, and the numbers of the carries among them."""
    body = loop.body
    carries = body.inputs[loop.constants : loop.constants + loop.carries]
    active = {x for x, w in zip(body.inputs, wanted, strict=True) if w and x.dtype.inexact}
    while True:
        reached = derive.differentiable(body.outputs[: loop.carries], active)
        more = {x for x, y in zip(carries, body.outputs, strict=False) if y in reached and x.dtype.inexact} - active
        if not more:
            return active, [i for i, x in enumerate(carries) if x in active]
        active |= more


class Reversal:
    """The cotangents of a loop's inputs while its steps are gone through backwards."""

    def __init__(self, back: Backward, loop: Loop, arrays: Arrays, u: list[Any]) -> None:
        self.back = back
        self.loop = loop
        self.first, self.behind = loop.constants, loop.constants + loop.carries
        self.arrays = arrays
        self.u = [u[j] for j in back.given]
        self.constants = [*arrays[: self.first], *back.numbers]
        zero = [_zeros(arrays[self.first + i]) for i in back.carries]
        self.carried: Arrays = [z if u[i] is None else u[i] for i, z in zip(back.carries, zero, strict=True)]
        self.carried += [_zeros(arrays[i]) for i in back.constants]
        self.slices = [_zeros(arrays[self.behind + i]) for i in back.slices]

    def going(self, keep: bool) -> Body:
        """The loop's body without what it stacks; with `keep`, it stacks the carries before each step."""
        body, count = self.loop.body, self.loop.carries
        key = ("carries alone", count, keep)
        before = body.inputs[self.first : self.behind] if keep else ()
        return body.remembered(key, lambda: body.with_outputs((*body.outputs[:count], *before)))

    def forward(self, state: Arrays, steps: range, keep: bool) -> tuple[Arrays, Arrays]:
        """The carries after these steps; with `keep`, those before each of them, stacked as the slices are."""
        before = self.loop.body.inputs[self.first : self.behind] if keep else ()
        low, order = _relative(steps)
        stacks = [stack_of(x, len(steps)) for x in before]
        slices = [x[low : low + len(steps)] for x in self.arrays[self.behind :]]
        state, _ = run_loop(self.going(keep), self.arrays[: self.first], state, slices, stacks, order)
        return state, stacks

    def backward(self, states: Arrays, steps: range) -> None:
        """Go back over these steps, given the carries before each of them."""
        low, order = _relative(steps)
        part = slice(low, low + len(steps))
        slices = [*states, *[x[part] for x in self.arrays[self.behind :]], *[g[part] for g in self.u]]
        stacks = [x[part] for x in self.slices]
        self.carried, _ = run_loop(self.back.body, self.constants, self.carried, slices, stacks, order[::-1])

    def go_back(self, state: Arrays, steps: range, free: int | None, starts: Starts | None = None) -> None:
        """Go back over these steps, given the carries before the first, and before others if they are known; `free` more may be
        remembered (None: all)."""
        if not state:  # no step depends on another
            self.backward([], steps)
            return
        if free is not None and len(steps) > free and self.swept(state, steps, free, starts):
            return

        def advance(state: Arrays, low: int, high: int) -> Arrays:
            return self.forward(state, steps[low:high], keep=False)[0]

        for low, high, at in reversed_parts(len(steps), state, free, advance):
            _, states = self.forward(at, steps[low:high], keep=True)
            self.backward(states, steps[low:high])

    def swept(self, state: Arrays, steps: range, free: int, known: Starts | None) -> bool:
        """Go back over these steps by native sweeps, if there are such: each within what its section's start leaves free."""
        native, schedule = native_backend(), sections(len(steps), free)
        if native is None or schedule is None:
            return False
        counts = (self.first, self.behind - self.first, len(steps), None)
        loops = [native_loop(self.going(keep), *counts) for keep in (False, True)]
        loops.append(native_loop(self.back.body, len(self.constants), len(self.carried), len(steps), None))
        if None in loops or any([loop.may_stop or loop.memory for loop in loops]):  # none has memory of its own there
            return False
        length, piece = schedule
        parts = [steps[low : low + length] for low in range(0, len(steps), length)]
        starts = [state]
        if known is not None and known.apart == length:
            starts = known.states[: len(parts)]
        for part in parts[len(starts) - 1 : -1]:
            starts.append(self.forward(starts[-1], part, keep=False)[0])
        constants, back = (
            [np.ascontiguousarray(x) for x in given] for given in (self.arrays[: self.first], self.constants)
        )
        slices, u = ([np.ascontiguousarray(x) for x in given] for given in (self.arrays[self.behind :], self.u))
        self.carried = native.sweep(
            loops, constants, starts, slices, back, self.carried, [*slices, *u], self.slices, parts, piece
        )
        return True

    def found(self) -> Arrays:
        """The cotangents, by input; None where there is none."""
        results: Arrays = [None] * len(self.arrays)
        back, n = self.back, len(self.back.carries)
        for i, g in zip(back.carries, self.carried, strict=False):
            results[self.first + i] = g
        for i, g in zip(back.constants, self.carried[n:], strict=True):
            results[i] = g
        for i, g in zip(back.slices, self.slices, strict=True):
            results[self.behind + i] = g
        return results


def _zeros(x: Any) -> Any:
    return np.zeros(x.shape, x.dtype)


def sections(count: int, free: int) -> tuple[int, int] | None:
    """How long sections of so many steps are, and the pieces of each: where a carry is remembered for each section but the
    first, the others are enough for the pieces. None where they never are, or there is no native code."""
    native = native_backend()
    for number in range(1, free if native is not None else 0):
        length = -(-count // number)
        piece = native.pieces_of(length, free + 1 - number)
        if piece is not None and length <= STRETCH:
            return length, piece
    return None


def _relative(steps: range) -> tuple[int, range]:
    """The lowest of the numbers, and all of them counted from there."""
    low = min(steps[0], steps[-1]) if steps else 0
    return low, range(steps.start - low, steps.stop - low, steps.step)


# The schedule ---------------------------------------------------------------------------------------------------------


def reversed_parts(
    count: int, state: Any, slots: int | None, advance: Callable[[Any, int, int], Any]
) -> Iterator[tuple[int, int, Any]]:
    """(first, last, state before it): parts of `count` steps, the last one first, short enough to remember a state before each
    of their steps. `state` is that before the first step; at most `slots` others are remembered at a time (None: all).
    `advance(state, first, last)` computes steps."""
    pieces = [(0, count, state)]  # the parts that aren't reversed yet, the next one last
    while pieces:
        low, high, state = pieces.pop()
        free = None if slots is None else max(slots - len(pieces), 0)
        if free is None or high - low - 1 <= free:
            if high > low:
                yield low, high, state
        elif not free:  # nothing can be remembered: from the start, for each
            for k in range(high - 1, low - 1, -1):
                yield k, k + 1, advance(state, low, k)
        else:
            middle = low + _first_part(high - low, free)
            pieces += [(low, middle, state), (middle, high, advance(state, low, middle))]


def _first_part(count: int, slots: int) -> int:
    """How many of so many steps to take before a state is remembered again."""
    times = 1
    while comb(slots + times, slots) < count:
        times += 1
    return max(1, min(comb(slots + times - 1, slots), count - 1))


class Starts(NamedTuple):
    """The carries before every so many steps, from the first on."""

    apart: int
    states: list[Arrays]


class Trail:
    """States at equal distances along a way whose length isn't known: at most `slots` of them."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self.distance = 1
        self.states: list[Any] = []

    def keep(self, state: Any) -> int:
        """Remember the state before step `len(states) * distance`; how many steps to go to the next one."""
        if len(self.states) >= self.slots:
            del self.states[1::2]
            self.distance *= 2
            if len(self.states) * 2 > self.slots:  # an odd number: this state lies between two that stay
                return self.distance // 2
        self.states.append(state)
        return self.distance


# The primitive --------------------------------------------------------------------------------------------------------


def record_loop_reverse(
    loop: Loop, inputs: Nodes, u: Sequence[Node | None], wanted: Sequence[bool]
) -> list[Node | None]:
    """The cotangents of a loop's wanted inputs."""
    places = tuple([i for i, w in enumerate(wanted) if w and inputs[i].dtype.inexact])
    given = tuple([j for j, g in enumerate(u) if g is not None])
    types = tuple([inputs[i].type for i in places])
    node = record(LOOP_REVERSE, (*inputs, *[g for g in u if g is not None]), (loop, places, given), types)
    found: list[Node | None] = [None] * len(inputs)
    for k, i in enumerate(places):
        found[i] = select(node, k)
    return found


def _split(node: Node) -> tuple[Loop, tuple[int, ...], tuple[int, ...], list[Node], list[Node]]:
    loop, places, given = node.attributes
    count = len(node.inputs) - len(given)
    return loop, places, given, list(node.inputs[:count]), list(node.inputs[count:])


def _kernel(attributes: Any, type: Any) -> Any:
    loop, places, given = attributes

    def kernel(*arrays: Any) -> tuple[Any, ...]:
        values = [np.asarray(x) for x in arrays]
        count = len(values) - len(given)
        wanted = [False] * count
        for i in places:
            wanted[i] = True
        u: list[Any] = [None] * len(loop.body.outputs)
        for j, g in zip(given, values[count:], strict=True):
            u[j] = g
        found = loop.run_back(_backward(loop, tuple(wanted), tuple([g is not None for g in u])), values[:count], u)
        return tuple([np.array(found[i]) for i in places])

    return kernel


def _backward(loop: Loop, wanted: tuple[bool, ...], given: tuple[bool, ...]) -> Backward:
    key = ("backward", loop.constants, loop.carries, wanted, given)
    return loop.body.remembered(key, lambda: backward_of(loop, *loop.active(wanted), given))


def _inside(loop: Loop, places: tuple[int, ...], given: tuple[int, ...]) -> Inside:
    def derived() -> tuple[Backward, Sequence[int], Sequence[int]]:
        wanted = tuple([i in places for i in range(loop.constants + loop.carries)])
        return _backward(loop, wanted, tuple([j in given for j in range(len(loop.body.outputs))])), places, given

    back = Back(getattr(loop, "condition", None), derived)
    return Inside("each step again, before it is gone back", loop.body, loop.constants, loop.carries, back=back)


def _vjp(w: Any, node: Node, wants: Sequence[bool]) -> list[Node | None]:
    # With G(p, u) = J(p)ᵀu: ⟨w, G⟩ = ⟨J(p)w, u⟩, so its derivative by u is J(p)w, and that by p is a reverse pass of J(p)w.
    loop, places, given, inputs, u = _split(node)
    marked = Marked(inputs)
    with mode(grad=True):
        dots = loop.pushforward(marked.nodes, _placed(w, places, len(inputs)))
        outputs = [dots[j] for j in given]
        found = marked.reverse(outputs, u) if any(wants[: len(inputs)]) else [None] * len(inputs)
    return marked.freed([*found, *outputs])


def _linear(w: Any, node: Node, wants: Sequence[bool]) -> list[Node | None]:
    loop, places, given, inputs, _ = _split(node)

    def push(nodes: Nodes, tangents: Sequence[Node | None]) -> list[Node | None]:
        p, u = nodes[: len(inputs)], nodes[len(inputs) :]
        marked = Marked(p)
        with mode(grad=True):
            dots = loop.pushforward(marked.nodes, tangents[: len(inputs)])
            results = loop.record(marked.nodes)
            outputs = [*[dots[j] for j in given], *[results[j] for j in given]]
            found = marked.reverse(outputs, [*u, *tangents[len(inputs) :]])
        return marked.freed([found[i] for i in places])

    return record_transpose(node.inputs, w, wants, push)


class Marked:
    """Inputs as nodes to differentiate by, where gradients are on. `freed` puts the inputs back."""

    def __init__(self, inputs: Nodes) -> None:
        self.inputs = inputs
        self.grad = get_mode().grad
        self.nodes = [marker(x, tracked=True) if x.dtype.inexact else x for x in inputs]

    def reverse(self, outputs: Sequence[Node | None], u: Sequence[Node | None]) -> list[Node | None]:
        """The cotangents of the inputs."""
        pairs = [(y, g) for y, g in zip(outputs, u, strict=True) if y is not None and g is not None]
        if not pairs:
            return [None] * len(self.nodes)
        by = [m for m, x in zip(self.nodes, self.inputs, strict=True) if m is not x]
        found = iter(derive.reverse([y for y, _ in pairs], [g for _, g in pairs], by, stop=True))
        return [None if m is x else next(found) for m, x in zip(self.nodes, self.inputs, strict=True)]

    def freed(self, results: Sequence[Node | None]) -> list[Node | None]:
        """The results on the inputs themselves, tracked as these are."""
        replaced = {m: x for m, x in zip(self.nodes, self.inputs, strict=True) if m is not x}
        given = [r for r in results if r is not None]
        found = substitute(given, replaced)
        if not self.grad:
            for old, new in zip(given, found, strict=True):
                if new is not old:  # else it may be anybody's: a cotangent that passes through
                    new.tracked = False
        remaining = iter(found)
        return [None if r is None else next(remaining) for r in results]


def _placed(values: Sequence[Any], places: Sequence[int], count: int) -> list[Any]:
    found: list[Any] = [None] * count
    for i, x in zip(places, values, strict=True):
        found[i] = x
    return found


LOOP_REVERSE = Primitive("loop_reverse", _kernel, _vjp, moves=True)
LOOP_REVERSE.graphs = lambda attributes: [_inside(*attributes)]
derive.transposes(LOOP_REVERSE, _linear)


def _batch(b: Any, node: Node, xs: list[Node], mapped: list[bool]) -> list[Node]:
    """Every example has cotangents of its own, also of what all share: so everything is given for each."""
    loop, places, given, inputs, _ = _split(node)
    whole = b.all_mapped(xs, mapped)
    count = len(inputs)
    marked = Marked(whole[:count])
    with mode(grad=True):
        made = loop.batched(b, marked.nodes)
        found = marked.reverse([made[j] for j in given], whole[count:])
    results = marked.freed([found[i] for i in places])
    return [zeros(whole[i].type) if g is None else g for i, g in zip(places, results, strict=True)]


LOOP_REVERSE.batch = _batch
