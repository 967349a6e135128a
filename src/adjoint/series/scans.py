"""The coefficients of a scan's results: one scan of the body's own series, which carries all orders along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint.control.body import stand_in
from adjoint.control.scan import SCAN, SCANNED, Scan, Template, public_loop
from adjoint.graph import Node, mode
from adjoint.primitives.core import conform, zeros

__all__ = ["is_scan", "scan_coefficients", "scan_of"]

Coefficients = list[Node | None]
Run = Callable[[dict[Node, Sequence[Node | None]], Sequence[Node], int], list[Coefficients]]


def is_scan(node: Node) -> bool:
    """Whether a node stands for all results of a scan."""
    return node.op is SCAN or node.op is SCANNED


def scan_of(node: Node) -> tuple[Scan, tuple[Node, ...]]:
    """The scan of such a node, with the results that may be read of it, and its inputs."""
    loop: Scan = node.attributes
    if node.op is SCAN:
        return loop, node.inputs
    return public_loop(loop), node.inputs[len(loop.body.outputs) :]


def scan_coefficients(
    loop: Scan, inputs: Sequence[Node], series: Sequence[Coefficients | None], order: int, run: Run
) -> list[Coefficients]:
    """Coefficients 1 to `order` of each result. `series` has those of the inputs, None for what doesn't depend on the curve;
    `run` gives the coefficients, from order 0 on, of the nodes of a graph."""
    outputs, first, behind = loop.body.outputs, loop.constants, loop.constants + loop.carries
    active, carried = loop.active([s is not None for s in series])
    constants, carries, slices = loop.split(loop.body.inputs)
    known: dict[Node, Node] = dict(zip(constants, inputs, strict=False))
    given: dict[Node, Sequence[Node | None]] = {}
    places: dict[str, Any] = {"carries": ([], []), "slices": ([], [])}  # stand-ins, and what they begin with
    with mode(grad=True):
        for i, (x, there) in enumerate(zip(loop.body.inputs, inputs, strict=True)):
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
                    known[dot] = value
                else:
                    ins, values = places["carries" if i < behind else "slices"]
                    ins.append(dot)
                    values.append(value)
            given[x] = dots
        rows = run(given, outputs, order)
        moved = [outputs[i] for i in range(loop.carries)]
        for i in carried:
            moved += [zeros(carries[i].type) if c is None else conform(c, carries[i].type) for c in rows[i][1:]]
        stacked = [
            (j, k) for j in range(loop.carries, len(outputs)) for k in range(1, order + 1) if rows[j][k] is not None
        ]
        ys = [*outputs[loop.carries :], *[y for j, k in stacked if (y := rows[j][k]) is not None]]
        template = Template.of([*carries, *places["carries"][0]], [*slices, *places["slices"][0]], moved, ys)
        init, xs = [*inputs[first:behind], *places["carries"][1]], [*inputs[behind:], *places["slices"][1]]
        made = iter(template.record(known, init, xs, loop.length, loop.reverse, loop.memory)[loop.carries :])
    found: list[Coefficients] = [[None] * order for _ in outputs]
    for i in carried:
        found[i] = [next(made) for _ in range(order)]
    for _ in range(loop.carries, len(outputs)):
        next(made)  # order 0
    for j, k in stacked:
        found[j][k - 1] = next(made)
    return found
