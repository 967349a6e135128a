"""`scan`: a body repeated a known number of times, with what it carries on, slices of what it reads and writes.

The reverse pass of a scan is a scan in the other direction. It reads what the body computed: so a tracked scan also stacks
those values, its residuals, and `SCANNED`, the identity on the results, holds them for its rule. Forward mode is a scan of
the body beside its tangents. Both are derived from the body's graph by `derive`, so every order works.

A product of slices with a constant matrix is computed for all steps at once, before the loop, and a sum over the steps of
products, the gradient of such a matrix, as one product after it (J. Appleyard, T. Kočiský and P. Blunsom, "Optimizing
performance of recurrent neural networks on GPUs", 2016). These sum in another order, and are left out under
`set_deterministic`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from adjoint import derive
from adjoint.batch import Batch
from adjoint.control.body import Body, as_arrays, close, stand_in
from adjoint.control.formal import record_transpose
from adjoint.control.lean import Backward, Reversal, active_carries, record_loop_reverse
from adjoint.control.running import run_loop, stack_of
from adjoint.derive import forward, reverse
from adjoint.execution.tiers import tiers
from adjoint.graph import ArrayType, Node, Primitive, array_type, get_mode, mode, record, substitute, topological
from adjoint.primitives.contraction import MATMUL
from adjoint.primitives.core import SELECT, conform, ops, placeholder, select, zeros
from adjoint.primitives.custom import first_inputs
from adjoint.primitives.random import RANDOM_BITS
from adjoint.primitives.structural import PERMUTE

__all__ = ["SCAN", "SCANNED", "Scan", "Template", "public_loop", "pushforward"]

Nodes = Sequence[Node]
# What costs less to compute again than to stack and read back, where arrays are this small.
LIGHT = frozenset(
    "add subtract multiply scale negative abs relu where equal not_equal less less_equal greater greater_equal "
    "logical_and logical_or logical_xor logical_not concat sum maximum minimum".split()
)
SMALL = 64  # elements


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


@dataclass(slots=True)
class Template:
    """A loop whose constants, initial carries and stacked slices aren't given yet.

    constants   the nodes whose values the body's constants get, on placeholders that `record` is given the nodes for
    carried     which of the given carries the body carries on; what it passes on unchanged is a constant
    slices      what the body's slices are, on the given slices: one of these, or a product made of them for all steps
    """

    body: Body
    constants: list[Node]
    carried: list[int]
    passed: list[int]
    slices: list[Node]
    carry_in: list[Node]
    slices_in: list[Node]
    results: list[int | None] = field(default_factory=list)  # of each given result its place among the body's

    @staticmethod
    def of(
        carry_in: Nodes, slices_in: Nodes, carry_out: Nodes, ys: Nodes, wanted: Sequence[bool] | None = None
    ) -> Template:
        """The loop of a recorded step. `wanted` says which final carries anybody reads."""
        carry_in, slices_in = list(carry_in), list(slices_in)
        passed = [i for i, (x, y) in enumerate(zip(carry_in, carry_out, strict=True)) if x is y]
        alive = _alive(carry_in, carry_out, ys, wanted)
        carried = [i for i in range(len(carry_in)) if i in alive and i not in passed]
        varying = [carry_in[i] for i in carried]
        outputs = [*[carry_out[i] for i in carried], *ys]
        products = [] if tiers.deterministic else _products_first(varying, slices_in, outputs)
        made = {x: stand_in(x, "a slice of a product") for x in products}
        outputs = substitute(outputs, made)
        slices = [*slices_in, *made.values()]
        closed, inside, outside = close([*varying, *slices], outputs)
        used = set(topological(closed, lambda x: x.value is None))
        slices = [x for x in slices if x in used]
        origin = {y: x for x, y in made.items()}
        sources = [origin.get(x, x) for x in slices]
        body = Body((*inside, *varying, *slices), closed)
        places: dict[int, int] = {i: k for k, i in enumerate(carried)}
        results: list[int | None] = [places.get(i) for i in range(len(carry_in))]
        results += [len(carried) + k for k in range(len(ys))]
        return Template(body, outside, carried, passed, sources, carry_in, slices_in, results)

    def record(
        self, known: Mapping[Node, Node], init: Nodes, xs: Nodes, length: int, reverse: bool, memory: int | None = None
    ) -> list[Node | None]:
        """The results: final carries (None where nobody reads one), then the stacked ys."""
        known = {**known, **{self.carry_in[i]: init[i] for i in self.passed}}
        constants = substitute(self.constants, known)
        stacked = self.stacked(known, dict(zip(self.slices_in, xs, strict=True)), length)
        inputs = (*constants, *[init[i] for i in self.carried], *stacked)
        loop = Scan(self.body, len(constants), len(self.carried), length, reverse, len(self.body.outputs), memory)
        made = record_scan(loop, inputs)
        found: list[Node | None] = [None if k is None else made[k] for k in self.results]
        for i in self.passed:
            found[i] = init[i]
        return found

    def stacked(self, known: Mapping[Node, Node], xs: dict[Node, Node], length: int) -> list[Node]:
        """The body's slices for all steps."""
        products = [x for x in self.slices if x not in xs]
        if not products:
            return [xs[x] for x in self.slices]
        batch = Batch(length, xs)
        made = dict(zip(products, batch.expand(substitute(products, known)), strict=True))
        return [xs[x] if x in xs else _present(made[x]) for x in self.slices]


def _present(x: Node | None) -> Node:
    assert x is not None
    return x


def _alive(carry_in: Nodes, carry_out: Nodes, ys: Nodes, wanted: Sequence[bool] | None) -> set[int]:
    """Which carries the results depend on."""
    if wanted is None:
        return set(range(len(carry_in)))
    place = {x: i for i, x in enumerate(carry_in)}
    alive = {i for i, w in enumerate(wanted) if w}
    pending: list[Node] = [*ys, *[carry_out[i] for i in alive]]
    while pending:
        read = {place[x] for x in topological(pending, lambda x: x.value is None) if x in place}
        pending = [carry_out[i] for i in read - alive]
        alive |= read
    return alive


def _products_first(carries: Nodes, slices: Nodes, outputs: list[Node]) -> list[Node]:
    """The products of what needs a slice and no carry with what needs neither."""
    carried, sliced, drawn = set(carries), set(slices), set[Node]()
    products: list[Node] = []
    for node in topological(outputs, lambda x: x not in carried and x not in sliced and x.value is None):
        if node in carried or node in sliced or node.value is not None:
            continue
        if any([x in carried for x in node.inputs]):
            carried.add(node)
        elif any([x in sliced for x in node.inputs]):
            if node.op is RANDOM_BITS or any([x in drawn for x in node.inputs]):
                drawn.add(node)  # a draw for all steps at once would be another one
            elif node.op is MATMUL and sum([x in sliced for x in node.inputs]) == 1:
                products.append(node)
            sliced.add(node)
    return products


def record_scan(loop: Scan, inputs: tuple[Node, ...]) -> list[Node]:
    """The results of a scan. Where they are tracked, what the reverse pass will read is stacked beside them."""
    tracked = get_mode().grad and any([x.tracked for x in inputs])
    if not tracked or loop.memory is not None:
        node = record(SCAN, inputs, loop, loop.types())
        return [select(node, i) for i in range(loop.public)]
    wanted = tuple([x.tracked for x in inputs])
    given = tuple([y.dtype.inexact for y in loop.body.outputs])
    residuals = _transposed(loop, wanted, given).residuals
    whole = _extended(loop, residuals)
    raw = record(SCAN, inputs, whole, whole.types())
    read = [select(raw, i) for i in range(len(whole.body.outputs))]
    node = record(SCANNED, (*read, *inputs), whole, loop.types())
    return [select(node, i) for i in range(loop.public)]


def _extended(loop: Scan, residuals: Nodes) -> Scan:
    """The same loop with more of what it computes among its results."""
    outputs = loop.body.outputs
    known = set(outputs[loop.carries :])
    more = [x for x in residuals if x not in known]
    if not more:
        return loop
    body = _derived(loop.body, ("extended", tuple(more)), lambda: loop.body.with_outputs((*outputs, *more)))
    body.derived["public", len(outputs)] = loop.body
    return replace(loop, body=body)


def _public(whole: Scan, count: int) -> Scan:
    """The loop without residuals."""
    outputs = whole.body.outputs[:count]
    return replace(whole, body=_derived(whole.body, ("public", count), lambda: whole.body.with_outputs(outputs)))


def public_loop(loop: Scan) -> Scan:
    """The loop with the user's results alone."""
    return loop if len(loop.body.outputs) == loop.public else _public(loop, loop.public)


def _derived(body: Body, key: Any, make: Any) -> Any:
    found = body.derived.get(key)
    if found is None:
        found = body.derived[key] = make()
    return found


# Reverse mode ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Transposed:
    """The reverse pass of a loop, as a loop.

    residuals   the nodes of the body that it reads of every step
    reread      the numbers of the slices that it reads again
    carries, constants, slices   the numbers of those that cotangents are computed of
    given       the numbers of the results that come with cotangents, carries apart
    products    for a constant whose cotangent is a sum of products over the steps: its factors
    """

    template: Template
    residuals: list[Node]
    reread: list[int]
    carries: list[int]
    constants: list[int]
    slices: list[int]
    given: list[int]
    products: dict[int, tuple[Factor, Factor]]


class Factor(NamedTuple):
    """A factor at every step, stacked: a result of the reverse pass, or one of the arrays that it is `given`. `turned`: what is
    stacked is its transpose."""

    given: bool
    place: int
    turned: bool


def _transposed(loop: Scan, wanted: tuple[bool, ...], given: tuple[bool, ...]) -> Transposed:
    key = ("transposed", loop.constants, loop.carries, wanted, given, tiers.deterministic)
    return _derived(loop.body, key, lambda: _transpose(loop, wanted, given))  # type: ignore[no-any-return]


def _transpose(loop: Scan, wanted: Sequence[bool], given: Sequence[bool]) -> Transposed:
    body = loop.body
    constants, carries, slices = loop.split(body.inputs)
    active, carried = active_carries(loop, wanted)
    cotangents: list[Node | None] = [None] * len(body.outputs)
    for i in carried:
        cotangents[i] = stand_in(body.outputs[i], "a carry's cotangent")
    ys = [j for j in range(loop.carries, len(body.outputs)) if given[j] and body.outputs[j].dtype.inexact]
    for j in ys:
        cotangents[j] = stand_in(body.outputs[j], "a result's cotangent")
    for_constants = [i for i, x in enumerate(constants) if x in active]
    for_slices = [i for i, x in enumerate(slices) if x in active]
    wrt = [carries[i] for i in carried] + [constants[i] for i in for_constants] + [slices[i] for i in for_slices]
    with mode(grad=True):
        found = [
            zeros(x.type) if g is None else conform(g, x.type)
            for x, g in zip(wrt, reverse(body.outputs, cotangents, wrt, stop=True), strict=True)
        ]
        read = _reads(body, found, set(constants))
        residuals = [x for x in read if x not in set(slices)]
        reread = [i for i, x in enumerate(slices) if x in read]
        stand_ins = [stand_in(x, "a residual") for x in residuals]
        found = substitute(found, dict(zip(residuals, stand_ins, strict=True)))
        a, b = len(carried), len(carried) + len(for_constants)
        sums = [stand_in(x, "a sum over the steps") for x in found[a:b]]
        totals = [ops.add(s, g) for s, g in zip(sums, found[a:b], strict=True)]
        outputs = found[b:]
        given_to_it = [_present(cotangents[j]) for j in ys] + stand_ins + [slices[i] for i in reread]
        products: dict[int, tuple[Factor, Factor]] = {}
        if not tiers.deterministic:
            for k, g in enumerate(found[a:b]):
                if g.op is MATMUL and g.ndim == 2:
                    left, right = [_factor(x, given_to_it, outputs) for x in g.inputs]
                    products[k] = left, right
        kept = [k for k in range(len(sums)) if k not in products]
        template = Template.of(
            [_present(cotangents[i]) for i in carried] + [sums[k] for k in kept],
            given_to_it,
            found[:a] + [totals[k] for k in kept],
            outputs,
        )
    return Transposed(template, residuals, reread, carried, for_constants, for_slices, ys, products)


def _factor(x: Node, given: list[Node], outputs: list[Node]) -> Factor:
    """Where a matrix is stacked: what isn't stacked anyway joins the outputs."""
    turned = x.op is PERMUTE and x.attributes == (1, 0)
    base = x.inputs[0] if turned else x
    if base in given:
        return Factor(True, given.index(base), turned)
    if base not in outputs:
        outputs.append(base)
    return Factor(False, outputs.index(base), turned)


def _reads(body: Body, found: Nodes, constants: set[Node]) -> list[Node]:
    """The nodes of the body that its reverse pass reads; what is cheap is computed again from what it is made of."""
    inputs = set(body.inputs)
    own = set(topological(body.outputs, lambda x: x.value is None)) | inputs
    varying = inputs - constants
    for node in topological(body.outputs, lambda x: x not in inputs and x.value is None):
        if any([x in varying for x in node.inputs]):
            varying.add(node)

    def part(x: Node) -> bool:
        """One of several results of a node of the body: these are read, for what has several results can't be stacked."""
        return x.op is SELECT and x.inputs[0] in own

    def remade(x: Node) -> bool:
        light = x.op.name in LIGHT and type(x.type) is not tuple and x.type.size <= SMALL
        return (x.op.cheap or light) and x not in inputs and x.op is not SELECT

    stack = [x for x in topological(found, lambda x: x not in own and not part(x)) if x in own or part(x)]
    varying.update([x for x in stack if part(x) and x.inputs[0] in varying])
    read = dict.fromkeys([x for x in stack if x in varying and not remade(x)])
    seen = set(read)
    while stack:
        node = stack.pop()
        if node in seen or node not in varying:
            continue
        seen.add(node)
        if remade(node) and not (node.op.elementwise and _is_less(node, varying, read, remade)):
            stack += node.inputs
        else:
            read[node] = None
    return list(read)


def _is_less(node: Node, varying: set[Node], read: Container[Node], remade: Callable[[Node], bool]) -> bool:
    """Whether to read an elementwise result is less than to read what it is made of, and isn't read anyway."""
    size: int = node.type.size
    if size <= SMALL:
        return False
    more = 0  # elements to read besides
    seen = set(node.inputs)
    stack = list(seen)
    while stack and more <= size:
        x = stack.pop()
        if x not in varying or x in read:
            continue
        if remade(x):
            stack += set(x.inputs) - seen
            seen.update(x.inputs)
        else:
            more += x.type.size
    return more > size


def transpose(
    loop: Scan, inputs: Nodes, u: Sequence[Node | None], wanted: Sequence[bool], stacks: Mapping[Node, Node]
) -> list[Node | None]:
    """The cotangents of a scan's inputs, by the stacked values of what its reverse pass reads."""
    back = _transposed(loop, tuple(wanted), tuple([g is not None for g in u]))
    constants, _, _ = loop.split(loop.body.inputs)
    outer_constants, _, outer_slices = loop.split(inputs)
    finals = [u[i] for i in back.carries]
    types = [x.type for x in loop.body.outputs]
    init = [zeros(types[i]) if g is None else g for i, g in zip(back.carries, finals, strict=True)]
    kept = [k for k in range(len(back.constants)) if k not in back.products]
    init += [zeros(constants[back.constants[k]].type) for k in kept]
    xs = [_present(u[j]) for j in back.given]
    xs += [stacks[x] for x in back.residuals] + [outer_slices[i] for i in back.reread]
    known = dict(zip(constants, outer_constants, strict=True))
    made = back.template.record(known, init, xs, loop.length, not loop.reverse)
    n = len(back.carries)
    finals, sums, ys = made[:n], made[n : n + len(kept)], made[n + len(kept) :]
    results: list[Node | None] = [None] * len(inputs)
    for k, total in zip(kept, sums, strict=True):
        results[back.constants[k]] = total
    for k, (left, right) in back.products.items():
        a, b = [_present((xs if factor.given else ys)[factor.place]) for factor in (left, right)]
        results[back.constants[k]] = _summed_product(a, b, left.turned, right.turned)
    for i, g in zip(back.carries, finals, strict=True):
        results[loop.constants + i] = g
    for i, g in zip(back.slices, ys, strict=False):
        results[loop.constants + loop.carries + i] = g
    return [g if w else None for g, w in zip(results, wanted, strict=True)]


def _summed_product(left: Node, right: Node, left_turned: bool, right_turned: bool) -> Node:
    """The sum over the steps of left[t] @ right[t], as one product; what is turned stands for its transpose."""
    if right_turned:
        right = ops.permute_dims(right, (0, 2, 1))
    steps, k, n = right.shape
    right = ops.reshape(right, (steps * k, n))
    if left_turned:
        wide = ops.permute_dims(ops.reshape(left, (steps * k, left.shape[2])), (1, 0))
    else:
        wide = ops.reshape(ops.permute_dims(left, (1, 0, 2)), (left.shape[1], steps * k))
    return ops.matmul(wide, right)


def _scan_vjp(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    loop: Scan = node.attributes
    if loop.memory is not None:
        return record_loop_reverse(loop, node.inputs, u, wanted)
    back = _transposed(loop, tuple(wanted), tuple([g is not None for g in u]))
    whole = _extended(loop, back.residuals)
    source = node if whole is loop else record(SCAN, node.inputs, whole, whole.types())
    return transpose(loop, node.inputs, u, wanted, _stacks(whole, back.residuals, lambda i: select(source, i)))


def _scanned_vjp(u: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    whole: Scan = node.attributes
    count, total = len(node.type), len(whole.body.outputs)
    loop = _public(whole, count)
    inputs, own = node.inputs[total:], tuple(wanted[total:])
    back = _transposed(loop, own, tuple([g is not None for g in u]))
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


@dataclass(slots=True)
class Pushed:
    """The loop of a body beside its tangents. `dotted` are the numbers of the carries with tangents, `outputs` those of the
    ys."""

    template: Template
    dots: dict[int, Node]  # by the number of the input
    carried: list[int]
    outputs: list[int]


def _pushed(loop: Scan, given: tuple[bool, ...]) -> Pushed:
    return _derived(loop.body, ("pushed", loop.constants, loop.carries, given), lambda: _push(loop, given))  # type: ignore[no-any-return]


def _push(loop: Scan, given: Sequence[bool]) -> Pushed:
    body = loop.body
    active, carried = active_carries(loop, given)
    dots = {i: stand_in(x, "a tangent") for i, x in enumerate(body.inputs) if x in active}
    wrt = [body.inputs[i] for i in dots]
    found = forward(body.outputs, wrt, list(dots.values()))
    _, carries, slices = loop.split(body.inputs)
    a, b = loop.constants, loop.constants + loop.carries
    moving = [
        zeros(body.outputs[i].type) if found[i] is None else conform(_present(found[i]), body.outputs[i].type)
        for i in carried
    ]
    ys = [j for j in range(loop.carries, len(body.outputs)) if found[j] is not None]
    template = Template.of(
        [*carries, *[dots[a + i] for i in carried]],
        [*slices, *[dots[i] for i in dots if i >= b]],
        [*body.outputs[: loop.carries], *moving],
        [conform(_present(found[j]), body.outputs[j].type) for j in ys],
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
    made = push.template.record(known, init, xs, loop.length, loop.reverse, loop.memory)
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
    body, count = loop.body, loop.carries
    places = [i for i in range(count, len(body.outputs)) if loop.read is None or i in loop.read]
    if len(places) < len(body.outputs) - count:
        outputs = [*body.outputs[:count], *[body.outputs[i] for i in places]]
        body = _derived(body, ("narrowed", tuple(places)), lambda: body.with_outputs(outputs))

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
    whole = [_present(y) for y in inner.expand(body.outputs)]
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
    made = template.record(known, init, given, loop.length, loop.reverse, loop.memory)
    results: list[Node] = []
    for i, y in enumerate(made):
        y = _present(y)
        if i < count:
            results.append(y if batched[n + i] else b.repeated(y))
        else:
            results.append(ops.permute_dims(y, (1, 0, *range(2, y.ndim))) if found[i] is not None else b.repeated(y))
    return results


def for_examples(b: Batch, x: Node) -> Node:
    """A placeholder of a batch of what x stands for."""
    return placeholder(b.with_axis(x.type), "examples", x.type.inexact)


def _batch_scan(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Any:
    return batch_scan(b, node.attributes, xs, mapped)


def _batch_scanned(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Any:
    whole: Scan = node.attributes
    count, total = len(node.type), len(whole.body.outputs)
    loop = _public(whole, count)
    return batch_scan(b, loop, xs[total:], mapped[total:])


SCAN = Primitive("scan", _scan_kernel, _scan_vjp, narrowed=lambda loop, used: replace(loop, read=used))
SCANNED = Primitive(
    "scanned", lambda loop, type: first_inputs(len(type), type), _scanned_vjp, view=True, reads=lambda type: len(type)
)
SCAN.batch = _batch_scan
SCANNED.batch = _batch_scanned
derive.transposes(SCAN, _scan_linear)
derive.transposes(SCANNED, _through)
