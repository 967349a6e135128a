"""`cond` and `switch`: of several bodies the one that an index chooses is computed, and no other.

The derivative of a branch is a branch: a reverse pass chooses among the reverse passes, each of which computes what it needs
of its branch again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import derive
from adjoint.batch import Batch
from adjoint.control.body import Body, as_arrays, for_examples, number_inside, stand_in
from adjoint.control.formal import record_transpose
from adjoint.control.rules import HAVING_RULES, with_closed_rules
from adjoint.control.running import Inside
from adjoint.graph import Node, Primitive, depends_on, mode, record, substitute, topological
from adjoint.primitives.core import FULL, conform, ops, select, zeros

__all__ = ["SWITCH", "record_switch"]

Nodes = Sequence[Node]


def record_switch(
    index: Node, branches: Sequence[Nodes], inside: Callable[[Node], bool], known: Mapping[Node, Node]
) -> list[Node]:
    """The outputs of the branch with the number `index`, a 0-d integer.

    What is `inside`, or depends on the placeholders in `known`, belongs to the branches; all else that they read, computed
    whichever is chosen, becomes an operand, and so do the placeholders, for which `known` gives the nodes that they stand for.
    """
    outputs = [y for branch in branches for y in branch]
    order = topological(outputs, lambda x: x not in known and x.value is None)
    depending = depends_on(order, known)
    if any([x.op in HAVING_RULES for x in order]):

        def own(x: Node) -> bool:
            return x not in known and x.value is None and bool(x.inputs) and (x in depending or inside(x))

        outputs = with_closed_rules(outputs, own)
        depending = depends_on(topological(outputs, lambda x: x not in known and x.value is None), known)
    replaced: dict[Node, Node] = {}
    sources: dict[Node, Node] = {}  # the nodes outside, by what stands for them
    stack, seen = list(outputs), set[Node]()
    with mode(grad=True):
        while stack:
            x = stack.pop()
            if x in seen:
                continue
            seen.add(x)
            if x.op is FULL and x.value is None:
                replaced[x] = number_inside(x, sources)
            elif x in known or x.value is not None or not x.inputs or not (x in depending or inside(x)):
                operand = stand_in(x, "an operand")
                sources[operand] = known.get(x, x)
                replaced[x] = operand
            else:
                stack += x.inputs
        closed = substitute(outputs, replaced)
    count = len(branches[0])
    bodies = tuple([Body(sources, closed[k * count : (k + 1) * count]) for k in range(len(branches))])
    node = record(SWITCH, (index, *sources.values()), bodies, tuple([y.type for y in branches[0]]))
    return [select(node, i) for i in range(count)]


def _everything(node: Node) -> bool:
    return True


def _kernel(bodies: tuple[Body, ...], type: Any) -> Any:
    def kernel(index: Any, *arrays: Any) -> tuple[Any, ...]:
        values = [np.asarray(x) for x in arrays]
        chosen = min(max(int(index), 0), len(bodies) - 1)
        return as_arrays(bodies[chosen](values), values)

    return kernel


def _vjp(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    bodies: tuple[Body, ...] = node.attributes
    index, *operands = node.inputs
    inputs = bodies[0].inputs
    places = [i for i, (x, w) in enumerate(zip(inputs, wanted[1:], strict=True)) if w and x.dtype.inexact]
    by = [inputs[i] for i in places]
    given = [None if g is None else stand_in(g, "a cotangent") for g in u]
    branches = []
    with mode(grad=True):
        for body in bodies:
            found = derive.reverse(body.outputs, given, by, stop=True)
            branches.append(
                [zeros(x.type) if g is None else conform(g, x.type) for x, g in zip(by, found, strict=True)]
            )
    known = dict(zip(inputs, operands, strict=True)) | {x: g for x, g in zip(given, u, strict=True) if x is not None}
    results: list[Node | None] = [None] * len(node.inputs)
    if places:
        for i, g in zip(places, record_switch(index, branches, _everything, known), strict=True):
            results[i + 1] = g
    return results


def _linear(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    return record_transpose(
        node.inputs, u, wanted, lambda inputs, tangents: _pushforward(node.attributes, inputs, tangents)
    )


def _pushforward(bodies: tuple[Body, ...], inputs: Nodes, tangents: Sequence[Node | None]) -> list[Node | None]:
    """The tangents of the results: a branch of those of each body."""
    own = bodies[0].inputs
    moving = {x: t for x, t in zip(own, tangents[1:], strict=True) if t is not None}
    dots = {x: stand_in(x, "a tangent") for x in moving}
    places = [j for j, y in enumerate(bodies[0].outputs) if y.dtype.inexact]
    branches = []
    with mode(grad=True):
        for body in bodies:
            found = derive.forward([body.outputs[j] for j in places], list(dots), list(dots.values()))
            types = [body.outputs[j].type for j in places]
            branches.append([zeros(t) if g is None else conform(g, t) for g, t in zip(found, types, strict=True)])
    known = dict(zip(own, inputs[1:], strict=True)) | {dots[x]: t for x, t in moving.items()}
    results: list[Node | None] = [None] * len(bodies[0].outputs)
    for j, t in zip(places, record_switch(inputs[0], branches, _everything, known), strict=True):
        results[j] = t
    return results


def _batch(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> list[Node]:
    bodies: tuple[Body, ...] = node.attributes
    inputs = bodies[0].inputs
    if mapped[0]:  # examples choose for themselves: every branch is computed, and one selected
        index = ops.clip(xs[0], 0, len(bodies) - 1)
        own = dict(zip(inputs, xs[1:], strict=True))
        batched = {x: y for (x, y), m in zip(own.items(), mapped[1:], strict=True) if m}
        shared = {x: y for (x, y), m in zip(own.items(), mapped[1:], strict=True) if not m}
        found = [_given(b, substitute(body.outputs, shared), batched) for body in bodies]
        return [_chosen(index, list(values)) for values in zip(*found, strict=True)]
    stand_ins = {x: for_examples(b, x) for x, m in zip(inputs, mapped[1:], strict=True) if m}
    branches = [_given(b, body.outputs, stand_ins) for body in bodies]
    known = {stand_ins.get(x, x): y for x, y in zip(inputs, xs[1:], strict=True)}
    return record_switch(xs[0], branches, _everything, known)


def _given(b: Batch, outputs: Nodes, stand_ins: Mapping[Node, Node]) -> list[Node]:
    return [y for y in Batch(b.size, stand_ins).expand(outputs) if y is not None]


def _chosen(index: Node, values: list[Node]) -> Node:
    result = values[0]
    for k, value in enumerate(values[1:], 1):
        wide = ops.reshape(ops.equal(index, k), (*index.shape, *(1,) * (value.ndim - 1)))
        result = ops.where(ops.broadcast_to(wide, value.shape), value, result)
    return result


SWITCH = Primitive("switch", _kernel, _vjp, moves=True)
SWITCH.graphs = lambda bodies: [Inside(f"branch {k}", body) for k, body in enumerate(bodies)]
SWITCH.batch = _batch
derive.transposes(SWITCH, _linear)
