"""A recorded step as a loop that may be recorded: what it carries, what is the same in all steps, and what is computed before.

A product of slices with a constant matrix is computed for all steps at once, before the loop (J. Appleyard, T. Kočiský and
P. Blunsom, "Optimizing performance of recurrent neural networks on GPUs", 2016). It sums in another order, and is left out under
`set_deterministic`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.batch import Batch
from adjoint.control.body import Body, close, closed_over, stand_in
from adjoint.control.rules import recomputed
from adjoint.derive import CHECKPOINT
from adjoint.execution.tiers import tiers
from adjoint.graph import Node, substitute, topological
from adjoint.plan.plan import NEVER_MERGED
from adjoint.primitives.contraction import MATMUL
from adjoint.primitives.random import RANDOM_BITS

__all__ = ["Template", "present"]

Nodes = Sequence[Node]


class Template(NamedTuple):
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
    results: list[int | None]  # of each given result its place among the body's

    @staticmethod
    def of(
        carry_in: Nodes, slices_in: Nodes, carry_out: Nodes, ys: Nodes, wanted: Sequence[bool] | None = None
    ) -> Template:
        """The loop of a recorded step. `wanted` says which final carries anybody reads."""
        carry_in, slices_in = list(carry_in), list(slices_in)
        whole = closed_over([*carry_in, *slices_in], [*carry_out, *ys])
        carry_out, ys = whole[: len(carry_in)], whole[len(carry_in) :]
        passed = [i for i, (x, y) in enumerate(zip(carry_in, carry_out, strict=True)) if x is y]
        alive = _alive(carry_in, carry_out, ys, wanted)
        carried = [i for i in range(len(carry_in)) if i in alive and i not in passed]
        varying = [carry_in[i] for i in carried]
        outputs = [*[carry_out[i] for i in carried], *ys]
        products = [] if tiers.deterministic else _products_first(varying, slices_in, outputs)
        made = {x: stand_in(x, "a slice of a product") for x in products}
        outputs = substitute(outputs, made)
        slices = [*slices_in, *made.values()]
        closed, inside, outside = close([*varying, *slices], outputs, rules=False)
        used = set(topological(closed, lambda x: x.value is None))
        slices = [x for x in slices if x in used]
        origin = {y: x for x, y in made.items()}
        sources = [origin.get(x, x) for x in slices]
        places: dict[int, int] = {i: k for k, i in enumerate(carried)}
        results: list[int | None] = [places.get(i) for i in range(len(carry_in))]
        stacked, which = _once(closed[len(carried) :])
        body = Body((*inside, *varying, *slices), [*closed[: len(carried)], *stacked])
        results += [len(carried) + k for k in which]
        return Template(body.known(), outside, carried, passed, sources, carry_in, slices_in, results)

    def stacked(self, known: Mapping[Node, Node], xs: dict[Node, Node], length: int) -> list[Node]:
        """The body's slices for all steps."""
        products = [x for x in self.slices if x not in xs]
        if not products:
            return [xs[x] for x in self.slices]
        batch = Batch(length, xs)
        made = dict(zip(products, batch.expand(substitute(products, known)), strict=True))
        return [xs[x] if x in xs else present(made[x]) for x in self.slices]


def present(x: Node | None) -> Node:
    """A node that is known to be there."""
    assert x is not None
    return x


def _once(outputs: Nodes) -> tuple[list[Node], list[int]]:
    """The outputs without those that are computed as an earlier one is, and for each of them which one it is."""
    first: dict[Any, int] = {}  # the number of the first node of a kind
    number: dict[Node, int] = {}
    for node in topological(outputs, lambda x: x.value is None):
        key: Any = node
        if node.inputs and node.value is None and node.op not in NEVER_MERGED:
            key = (node.op, node.attributes, node.type, *[number[x] for x in node.inputs])
        try:
            number[node] = first.setdefault(key, len(first))
        except TypeError:  # attributes that can't be compared
            number[node] = first.setdefault(node, len(first))
    kept: dict[int, Node] = {}
    for y in outputs:
        kept.setdefault(number[y], y)
    places = {which: place for place, which in enumerate(kept)}
    return list(kept.values()), [places[number[y]] for y in outputs]


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
    """The products of what needs a slice and no carry with what needs neither; none of those that a checkpoint computes anew."""
    carried, sliced, drawn = set(carries), set(slices), set[Node]()
    products: list[Node] = []
    order = topological(outputs, lambda x: x not in carried and x not in sliced and x.value is None)
    anew = {x for node in order if node.op is CHECKPOINT for x in recomputed(node)}
    for node in order:
        if node in carried or node in sliced or node.value is not None:
            continue
        if any([x in carried for x in node.inputs]):
            carried.add(node)
        elif any([x in sliced for x in node.inputs]):
            if node.op is RANDOM_BITS or any([x in drawn for x in node.inputs]):
                drawn.add(node)  # a draw for all steps at once would be another one
            elif node.op is MATMUL and node not in anew and sum([x in sliced for x in node.inputs]) == 1:
                products.append(node)
            sliced.add(node)
    return products
