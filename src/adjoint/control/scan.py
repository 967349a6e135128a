"""`scan`: a body repeated a known number of times, with what it carries on, slices of what it reads and writes.

The reverse pass of a scan is a scan in the other direction. It reads what the body computed: so a tracked scan also stacks
those values, its residuals, and `SCANNED`, the identity on the results, holds them for its rule. Forward mode is a scan of
the body beside its tangents. Both are derived from the body's graph by `derive`, so every order works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adjoint import derive
from adjoint._tuples import NamedTuple
from adjoint.batch import Batch
from adjoint.control.body import Body, as_arrays, for_examples, stand_in
from adjoint.control.formal import record_transpose
from adjoint.control.lean import Backward, Reversal, active_carries, record_loop_reverse
from adjoint.control.running import Inside, narrowed, run_loop, stack_of
from adjoint.control.template import Template, present
from adjoint.control.transposed import summed_product, transposed
from adjoint.derive import forward
from adjoint.graph import ArrayType, Node, Primitive, array_type, get_mode, record, substitute, topological
from adjoint.primitives.core import conform, ops, select, zeros
from adjoint.primitives.custom import first_inputs

__all__ = ["SCAN", "SCANNED", "Scan", "public_loop", "pushforward", "record_loop"]

Nodes = Sequence[Node]


@dataclass(frozen=True, slots=True)
class Scan:
    """What a scan does: body(constants, carries, slices) -> (carries, ys), `length` times.

    public   how many results are the user's, carries first; behind them are residuals
    memory   how many carries the reverse pass may remember; None: all that it reads
    read     which results anybody reads; None: all
    """

    body: Body
    constants: int
    carries: int
    length: int
    reverse: bool
    public: int
    memory: int | None = None
    read: frozenset[int] | None = None

    def split(self, inputs: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Constants, carries and slices apart."""
        a, b = self.constants, self.constants + self.carries
        return list(inputs[:a]), list(inputs[a:b]), list(inputs[b:])

    def types(self) -> tuple[ArrayType, ...]:
        """The types of the results."""
        outputs = self.body.outputs
        stacked = [array_type((self.length, *y.shape), y.dtype) for y in outputs[self.carries :]]
        return (*[y.type for y in outputs[: self.carries]], *stacked)

    def record(self, inputs: Nodes) -> list[Node]:
        """The results as nodes."""
        return record_scan(self, tuple(inputs))

    def batched(self, b: Batch, inputs: Nodes) -> list[Node]:
        """The results for every example, as nodes; all inputs have the batch axis in front."""
        return batch_scan(b, self, inputs, [True] * len(inputs))

    def pushforward(self, inputs: Nodes, tangents: Sequence[Node | None]) -> list[Node | None]:
        """The tangents of the results as nodes."""
        return pushforward(self, inputs, tangents)

    def active(self, wanted: Sequence[bool]) -> tuple[set[Node], list[int]]:
        """The inputs of the body that depend on wanted ones, and the numbers of the carries among them."""
        return active_carries(self, wanted)

    def run_back(self, back: Backward, arrays: list[Any], u: list[Any]) -> list[Any]:
        """The cotangents of the inputs (None for those without), remembering at most `memory` carries."""
        walk = Reversal(back, self, arrays, u)
        walk.go_back(self.split(arrays)[1], self.steps(), self.memory)
        return walk.found()

    def steps(self) -> range:
        """The slices' numbers in the order of the steps."""
        return range(self.length - 1, -1, -1) if self.reverse else range(self.length)


# Recording ------------------------------------------------------------------------------------------------------------


def record_loop(
    template: Template, known: Mapping[Node, Node], init: Nodes, xs: Nodes, length: int, reverse: bool,
    memory: int | None = None,
) -> list[Node | None]:  # fmt: skip
    """The results of a template's loop: final carries (None where nobody reads one), then the stacked ys."""
    known = {**known, **{template.carry_in[i]: init[i] for i in template.passed}}
    constants = substitute(template.constants, known) if known else template.constants
    stacked = template.stacked(known, dict(zip(template.slices_in, xs, strict=True)), length)
    inputs = (*constants, *[init[i] for i in template.carried], *stacked)
    body = template.body
    loop = Scan(body, len(constants), len(template.carried), length, reverse, len(body.outputs), memory)
    made = record_scan(loop, inputs)
    found: list[Node | None] = [None if k is None else made[k] for k in template.results]
    for i in template.passed:
        found[i] = init[i]
    return found


def record_scan(loop: Scan, inputs: tuple[Node, ...]) -> list[Node]:
    """The results of a scan. Where they are tracked, what the reverse pass will read is stacked beside them."""
    if not inputs:  # each step gives the same, made of literals
        return [ops.broadcast_to(y, (loop.length, *y.shape)) for y in _copies(loop.body.outputs[: loop.public])]
    tracked = get_mode().grad and any([x.tracked for x in inputs])
    if not tracked or loop.memory is not None:
        node = record(SCAN, inputs, loop, loop.types())
        return [select(node, i) for i in range(loop.public)]
    wanted = tuple([x.tracked for x in inputs])
    given = tuple([y.dtype.inexact for y in loop.body.outputs])
    residuals = transposed(loop, wanted, given).residuals
    whole = _extended(loop, residuals)
    raw = record(SCAN, inputs, whole, whole.types())
    read = [select(raw, i) for i in range(len(whole.body.outputs))]
    node = record(SCANNED, (*read, *inputs), whole, loop.types())
    return [select(node, i) for i in range(loop.public)]


def _copies(outputs: Nodes) -> list[Node]:
    """The same graph made of other nodes: those of a body must stay without values."""
    copies: dict[Node, Node] = {}
    for x in topological(outputs, lambda x: True):
        inputs = tuple([copies[y] for y in x.inputs])
        copies[x] = Node(x.op, inputs, x.attributes, x.type, x.site, x.offset, False)
    return [copies[y] for y in outputs]


def _extended(loop: Scan, residuals: Nodes) -> Scan:
    """The same loop with more of what it computes among its results."""
    outputs = loop.body.outputs
    known = set(outputs[loop.carries :])
    more = [x for x in residuals if x not in known]
    if not more:
        return loop
    body = loop.body.remembered(("extended", tuple(more)), lambda: loop.body.with_outputs((*outputs, *more)))
    body.derived["public", len(outputs)] = loop.body
    return replace(loop, body=body)


def _public(whole: Scan, count: int) -> Scan:
    """The loop without residuals."""
    outputs = whole.body.outputs[:count]
    return replace(whole, body=whole.body.remembered(("public", count), lambda: whole.body.with_outputs(outputs)))


def public_loop(loop: Scan) -> Scan:
    """The loop with the user's results alone."""
    return loop if len(loop.body.outputs) == loop.public else _public(loop, loop.public)


# Reverse mode ---------------------------------------------------------------------------------------------------------


def transpose(
    loop: Scan, inputs: Nodes, u: Sequence[Node | None], wanted: Sequence[bool], stacks: Mapping[Node, Node]
) -> list[Node | None]:
    """The cotangents of a scan's inputs, by the stacked values of what its reverse pass reads."""
    back = transposed(loop, tuple(wanted), tuple([g is not None for g in u]))
    constants, _, _ = loop.split(loop.body.inputs)
    outer_constants, _, outer_slices = loop.split(inputs)
    finals = [u[i] for i in back.carries]
    types = [x.type for x in loop.body.outputs]
    init = [zeros(types[i]) if g is None else g for i, g in zip(back.carries, finals, strict=True)]
    kept = [k for k in range(len(back.constants)) if k not in back.products]
    init += [zeros(constants[back.constants[k]].type) for k in kept]
    xs = [present(u[j]) for j in back.given]
    xs += [stacks[x] for x in back.residuals] + [outer_slices[i] for i in back.reread]
    known = dict(zip(constants, outer_constants, strict=True))
    made = record_loop(back.template, known, init, xs, loop.length, not loop.reverse)
    n = len(back.carries)
    finals, sums, ys = made[:n], made[n : n + len(kept)], made[n + len(kept) :]
    results: list[Node | None] = [None] * len(inputs)
    for k, total in zip(kept, sums, strict=True):
        results[back.constants[k]] = total
    for k, (left, right) in back.products.items():
        a, b = [present((xs if factor.given else ys)[factor.place]) for factor in (left, right)]
        results[back.constants[k]] = summed_product(a, b, left.turned, right.turned)
    for i, g in zip(back.carries, finals, strict=True):
        results[loop.constants + i] = g
    for i, g in zip(back.slices, ys, strict=False):
        results[loop.constants + loop.carries + i] = g
    return [g if w else None for g, w in zip(results, wanted, strict=True)]


def _scan_vjp(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    loop: Scan = node.attributes
    if loop.memory is not None:
        return record_loop_reverse(loop, node.inputs, u, wanted)
    back = transposed(loop, tuple(wanted), tuple([g is not None for g in u]))
    whole = _extended(loop, back.residuals)
    source = node if whole is loop else record(SCAN, node.inputs, whole, whole.types())
    return transpose(loop, node.inputs, u, wanted, _stacks(whole, back.residuals, lambda i: select(source, i)))


def _scanned_vjp(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    whole: Scan = node.attributes
    count, total = len(node.type), len(whole.body.outputs)
    loop = _public(whole, count)
    inputs, own = node.inputs[total:], tuple(wanted[total:])
    back = transposed(loop, own, tuple([g is not None for g in u]))
    known = set(whole.body.outputs[whole.carries :])
    if not all([x in known for x in back.residuals]):  # not recorded for so much
        raw = _scan_vjp(list(u), Node(SCAN, inputs, loop, loop.types(), node.site, node.offset, True), own)
        return [*[None] * total, *raw]
    stacks = _stacks(whole, back.residuals, lambda i: node.inputs[i])
    return [*[None] * total, *transpose(loop, inputs, u, own, stacks)]


def _stacks(whole: Scan, residuals: Nodes, result: Any) -> dict[Node, Node]:
    place = {x: i for i, x in enumerate(whole.body.outputs) if i >= whole.carries}
    return {x: result(place[x]) for x in residuals}


# Forward mode ---------------------------------------------------------------------------------------------------------


class Pushed(NamedTuple):
    """The loop of a body beside its tangents. `dotted` are the numbers of the carries with tangents, `outputs` those of the
    ys."""

    template: Template
    dots: dict[int, Node]  # by the number of the input
    carried: list[int]
    outputs: list[int]


def _pushed(loop: Scan, given: tuple[bool, ...]) -> Pushed:
    return loop.body.remembered(("pushed", loop.constants, loop.carries, given), lambda: _push(loop, given))


def _push(loop: Scan, given: Sequence[bool]) -> Pushed:
    body = loop.body
    active, carried = active_carries(loop, given)
    dots = {i: stand_in(x, "a tangent") for i, x in enumerate(body.inputs) if x in active}
    wrt = [body.inputs[i] for i in dots]
    found = forward(body.outputs, wrt, list(dots.values()))
    _, carries, slices = loop.split(body.inputs)
    a, b = loop.constants, loop.constants + loop.carries
    moving = [
        zeros(body.outputs[i].type) if found[i] is None else conform(present(found[i]), body.outputs[i].type)
        for i in carried
    ]
    ys = [j for j in range(loop.carries, len(body.outputs)) if found[j] is not None]
    template = Template.of(
        [*carries, *[dots[a + i] for i in carried]],
        [*slices, *[dots[i] for i in dots if i >= b]],
        [*body.outputs[: loop.carries], *moving],
        [conform(present(found[j]), body.outputs[j].type) for j in ys],
        [False] * loop.carries + [True] * len(carried),
    )
    return Pushed(template, dots, carried, ys)


def pushforward(loop: Scan, inputs: Nodes, tangents: Sequence[Node | None]) -> list[Node | None]:
    """The tangents of a scan's results."""
    if all([t is None for t in tangents]):
        return [None] * len(loop.body.outputs)
    push = _pushed(loop, tuple([t is not None for t in tangents]))
    known = dict(zip(loop.body.inputs[: loop.constants], inputs[: loop.constants], strict=True))
    a, b = loop.constants, loop.constants + loop.carries

    def tangent(i: int) -> Node:
        t = tangents[i]
        return zeros(inputs[i].type) if t is None else t

    known |= {dot: tangent(i) for i, dot in push.dots.items() if i < a}
    init = [*inputs[a:b], *[tangent(a + i) for i in push.carried]]
    xs = [*inputs[b:], *[tangent(i) for i in push.dots if i >= b]]
    made = record_loop(push.template, known, init, xs, loop.length, loop.reverse, loop.memory)
    results: list[Node | None] = [None] * len(loop.body.outputs)
    for i, t in zip(push.carried, made[loop.carries :], strict=False):
        results[i] = t
    for j, t in zip(push.outputs, made[loop.carries + len(push.carried) :], strict=True):
        results[j] = t
    return results


def _scan_linear(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    loop: Scan = node.attributes
    return record_transpose(node.inputs, u, wanted, lambda inputs, tangents: pushforward(loop, inputs, tangents))


def _through(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    return [*u, *[None] * (len(node.inputs) - len(u))]


# Running and batching -------------------------------------------------------------------------------------------------


def _scan_kernel(loop: Scan, type: Any) -> Any:
    count, read = loop.carries, loop.read
    body = narrowed(loop.body, count, read)
    places = [i for i in range(count, len(loop.body.outputs)) if read is None or i in read]

    def kernel(*arrays: Any) -> tuple[Any, ...]:
        values = [np.asarray(x) for x in arrays]
        stacks = [stack_of(body.outputs[i], loop.length) for i in range(count, len(body.outputs))]
        carries, _ = run_loop(body, *loop.split(values), stacks, loop.steps())
        found: list[Any] = [*as_arrays(carries, values), *[None] * (len(type) - count)]
        for i, stack in zip(places, stacks, strict=True):
            found[i] = stack
        return tuple(found)

    return kernel


def batch_scan(b: Batch, loop: Scan, xs: Nodes, mapped: Sequence[bool]) -> list[Node]:
    """The results of a scan for every example, with the batch axis in front."""
    body, n, count = loop.body, loop.constants, loop.carries
    batched = list(mapped)
    while True:  # until no more carries come to differ between examples
        stand_ins = {x: for_examples(b, x) for x, m in zip(body.inputs, batched, strict=True) if m}
        inner = Batch(b.size, stand_ins)
        found = inner.run(body.outputs)
        more = [i for i in range(count) if found[i] is not None and not batched[n + i]]
        if not more:
            break
        for i in more:
            batched[n + i] = True
    whole = [present(y) for y in inner.expand(body.outputs)]
    shared = [y if z is None else z for y, z in zip(body.outputs, found, strict=True)]
    inputs = [stand_ins.get(x, x) for x in body.inputs]
    _, carries, slices = loop.split(inputs)
    carry_out = [whole[i] if batched[n + i] else shared[i] for i in range(count)]
    template = Template.of(carries, slices, carry_out, shared[count:])
    outer = [x if m or not w else b.repeated(x) for x, m, w in zip(xs, mapped, batched, strict=True)]
    own_constants, init, given = loop.split(outer)
    given = [ops.permute_dims(x, (1, 0, *range(2, x.ndim))) if m else x
             for x, m in zip(given, batched[n + count :], strict=True)]  # fmt: skip
    known = dict(zip(inputs[:n], own_constants, strict=True))
    made = record_loop(template, known, init, given, loop.length, loop.reverse, loop.memory)
    results: list[Node] = []
    for i, y in enumerate(made):
        y = present(y)
        if i < count:
            results.append(y if batched[n + i] else b.repeated(y))
        else:
            results.append(ops.permute_dims(y, (1, 0, *range(2, y.ndim))) if found[i] is not None else b.repeated(y))
    return results


def _batch_scan(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Any:
    return batch_scan(b, node.attributes, xs, mapped)


def _batch_scanned(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Any:
    whole: Scan = node.attributes
    count, total = len(node.type), len(whole.body.outputs)
    loop = _public(whole, count)
    return batch_scan(b, loop, xs[total:], mapped[total:])


SCAN = Primitive("scan", _scan_kernel, _scan_vjp, moves=True, narrowed=lambda loop, used: replace(loop, read=used))
SCANNED = Primitive(
    "scanned", lambda loop, type: first_inputs(len(type), type), _scanned_vjp, view=True, reads=lambda type: len(type)
)
SCAN.batch = _batch_scan
SCAN.graphs = lambda loop: [
    Inside(
        f"{loop.length:,} times", loop.body, loop.constants, loop.carries, None, loop.length, loop.reverse, loop.read
    )
]
SCANNED.batch = _batch_scanned
derive.transposes(SCAN, _scan_linear)
derive.transposes(SCANNED, _through)
