"""The coefficients of what holds a graph: a loop's are one loop of its body's own series, which carries all orders along, and a
branch's are a branch among the series of all.

The reverse pass of a loop is J(p)ᵀu. Along a curve, with J(p(t)) = Σ Aᵢtⁱ, its coefficient k is Σⱼ Aₖ₋ⱼᵀuⱼ. The loop of series
has ∂yₖ/∂pⱼ = Aₖ₋ⱼ; so one reverse pass of that loop, with uⱼ as the cotangent of y_(order - j), gives coefficient k as that
of p_(order - k) (B. Christianson, "Reverse accumulation and accurate rounding error estimates for Taylor series coefficients",
Optimization Methods and Software 1, 1992).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from adjoint.control.body import Body, stand_in
from adjoint.control.branch import SWITCH, record_switch
from adjoint.control.lean import LOOP_REVERSE, Marked
from adjoint.control.repeat import WHILE, Repeat, record_while
from adjoint.control.scan import SCAN, SCANNED, Scan, public_loop, record_loop
from adjoint.control.template import Template
from adjoint.graph import Node, mode
from adjoint.primitives.core import conform, zeros

__all__ = ["held_coefficients", "holds_graph", "inputs_of"]

Nodes = Sequence[Node]
Coefficients = list[Node | None]
Given = Sequence[Coefficients | None]
Run = Callable[[dict[Node, Sequence[Node | None]], Nodes, int], list[Coefficients]]
HOLDING = frozenset((SCAN, SCANNED, WHILE, SWITCH, LOOP_REVERSE))


def holds_graph(node: Node) -> bool:
    """Whether a node stands for all results of a loop, a branch, or a loop's reverse pass."""
    return node.op in HOLDING


def inputs_of(node: Node) -> tuple[Node, ...]:
    """What the coefficients of such a node are made of: not what a scan keeps for a reverse pass."""
    return node.inputs[len(node.attributes.body.outputs) :] if node.op is SCANNED else node.inputs


def held_coefficients(node: Node, inputs: Nodes, series: Given, order: int, run: Run) -> list[Coefficients]:
    """Coefficients 1 to `order` of each result of a node that holds a graph.

    inputs   its inputs where the curve begins
    series   the coefficients of these, from the first on; None for what doesn't depend on the curve
    run      gives the coefficients, from order 0 on, of the nodes of a graph
    """
    if node.op is SWITCH:
        return _switch(node.attributes, inputs, series, order, run)
    if node.op is LOOP_REVERSE:
        return _loop_reverse(node, inputs, series, order, run)
    loop = public_loop(node.attributes) if node.op is SCANNED else node.attributes
    return _loop(loop, inputs, series, order, run)


def _loop(loop: object, inputs: Nodes, series: Given, order: int, run: Run) -> list[Coefficients]:
    if isinstance(loop, Repeat):
        return _while(loop, inputs, series, order, run)
    assert isinstance(loop, Scan)
    return _scan(loop, inputs, series, order, run)


@dataclass(slots=True)
class _Along:
    """A loop's body on stand-ins for coefficients: `given` has them by input, `known` what those of constants stand for."""

    known: dict[Node, Node]
    given: dict[Node, Sequence[Node | None]] = field(default_factory=dict)
    carries: list[Node] = field(default_factory=list)
    begin: list[Node] = field(default_factory=list)  # what the coefficients of carries start with
    slices: list[Node] = field(default_factory=list)
    stacked: list[Node] = field(default_factory=list)

    @staticmethod
    def of(loop: Scan | Repeat, inputs: Nodes, series: Given, order: int) -> tuple[_Along, list[int]]:
        """The stand-ins, and the numbers of the carries that move along the curve."""
        body, first, behind = loop.body, loop.constants, loop.constants + loop.carries
        active, carried = loop.active([s is not None for s in series])
        along = _Along(dict(zip(body.inputs[:first], inputs, strict=False)))
        for i, (x, there) in enumerate(zip(body.inputs, inputs, strict=True)):
            if x not in active:
                continue
            dots: Coefficients = []
            for c in series[i] or [None] * order:
                if c is None and not first <= i < behind:
                    dots.append(None)
                    continue
                dot = stand_in(x, "a coefficient")
                value = zeros(there.type) if c is None else conform(c, there.type)
                dots.append(dot)
                if i < first:
                    along.known[dot] = value
                elif i < behind:
                    along.carries.append(dot)
                    along.begin.append(value)
                else:
                    along.slices.append(dot)
                    along.stacked.append(value)
            along.given[x] = dots
        return along, carried


def _moved(rows: Sequence[Coefficients], outputs: Nodes, carried: Sequence[int]) -> list[Node]:
    """The coefficients of the carries that move, one after the other."""
    return [zeros(outputs[i].type) if c is None else conform(c, outputs[i].type) for i in carried for c in rows[i][1:]]


def _scan(loop: Scan, inputs: Nodes, series: Given, order: int, run: Run) -> list[Coefficients]:
    outputs = loop.body.outputs
    _, carries, slices = loop.split(loop.body.inputs)
    _, init, xs = loop.split(inputs)
    with mode(grad=True):
        along, carried = _Along.of(loop, inputs, series, order)
        rows = run(along.given, outputs, order)
        moved = [*outputs[: loop.carries], *_moved(rows, outputs, carried)]
        stacked = [
            (j, k) for j in range(loop.carries, len(outputs)) for k in range(1, order + 1) if rows[j][k] is not None
        ]
        ys = [*outputs[loop.carries :], *[y for j, k in stacked if (y := rows[j][k]) is not None]]
        template = Template.of([*carries, *along.carries], [*slices, *along.slices], moved, ys)
        init, xs = [*init, *along.begin], [*xs, *along.stacked]
        made = record_loop(template, along.known, init, xs, loop.length, loop.reverse, loop.memory)
    found = _by_carry(made[loop.carries :], carried, len(outputs), order)
    behind = loop.carries + len(carried) * order + len(outputs) - loop.carries  # ys of order 0 are there already
    for (j, k), y in zip(stacked, made[behind:], strict=True):
        found[j][k - 1] = y
    return found


def _while(loop: Repeat, inputs: Nodes, series: Given, order: int, run: Run) -> list[Coefficients]:
    body, n = loop.body, loop.constants
    with mode(grad=True):
        along, carried = _Along.of(loop, inputs, series, order)
        rows = run(along.given, body.outputs, order)
        moved = [*body.outputs, *_moved(rows, body.outputs, carried)]
        (condition,) = loop.condition.applied(body.inputs)
        carries, begin = [*body.inputs[n:], *along.carries], [*inputs[n:], *along.begin]
        made = record_while(carries, condition, moved, begin, along.known, loop.memory)
    return _by_carry(made[loop.carries :], carried, loop.carries + 1, order)


def _by_carry(made: Sequence[Node | None], carried: Sequence[int], count: int, order: int) -> list[Coefficients]:
    """By result of a loop, the coefficients of carries, which are the first of these nodes."""
    found: list[Coefficients] = [[None] * order for _ in range(count)]
    for at, i in enumerate(carried):
        found[i] = list(made[at * order : (at + 1) * order])
    return found


def _switch(bodies: tuple[Body, ...], inputs: Nodes, series: Given, order: int, run: Run) -> list[Coefficients]:
    index, *operands = inputs
    known = dict(zip(bodies[0].inputs, operands, strict=True))
    given: dict[Node, Sequence[Node | None]] = {}
    with mode(grad=True):
        for x, coefficients in zip(bodies[0].inputs, series[1:], strict=True):
            if coefficients is not None:
                given[x] = dots = [None if c is None else stand_in(x, "a coefficient") for c in coefficients]
                known |= {dot: conform(c, x.type) for dot, c in zip(dots, coefficients, strict=True) if dot and c}
        rows = [run(given, body.outputs, order) for body in bodies]
        wanted = [
            (j, k)
            for j in range(len(rows[0]))
            for k in range(1, order + 1)
            if any([row[j][k] is not None for row in rows])
        ]
        outputs = bodies[0].outputs
        branches = [
            [zeros(outputs[j].type) if (c := row[j][k]) is None else conform(c, outputs[j].type) for j, k in wanted]
            for row in rows
        ]
        made = record_switch(index, branches, lambda x: True, known) if wanted else []
    found: list[Coefficients] = [[None] * order for _ in outputs]
    for (j, k), y in zip(wanted, made, strict=True):
        found[j][k - 1] = y
    return found


def _loop_reverse(node: Node, inputs: Nodes, series: Given, order: int, run: Run) -> list[Coefficients]:
    loop, places, given = node.attributes
    count = len(inputs) - len(given)
    orders = [
        [None if c is None else conform(c, x.type) for c in s or [None] * order]
        for x, s in zip(inputs, series, strict=True)
    ]
    for i in places:  # cotangents are asked for at every order, zero or not
        orders[i] = [zeros(inputs[i].type) if c is None else c for c in orders[i]]
    flat = [*inputs[:count], *[c for row in orders[:count] for c in row if c is not None]]
    marked = Marked(flat)
    moved, there = marked.nodes[:count], iter(marked.nodes[count:])
    along = [[None if c is None else next(there) for c in row] for row in orders[:count]]
    with mode(grad=True):
        rows = _loop(loop, moved, [row if any(row) else None for row in along], order, run)
        values = loop.record(moved)
        pairs: list[tuple[Node | None, Node | None]] = []
        for j, first, us in zip(given, inputs[count:], orders[count:], strict=True):
            pairs += zip(reversed([values[j], *rows[j]]), [first, *us], strict=True)
        found = dict(
            zip(marked.nodes, marked.freed(marked.reverse([y for y, _ in pairs], [u for _, u in pairs])), strict=True)
        )
    results: list[Coefficients] = []
    for i in places:
        by_order = [moved[i], *along[i]]
        results.append([None if (x := by_order[order - k]) is None else found[x] for k in range(1, order + 1)])
    return results
