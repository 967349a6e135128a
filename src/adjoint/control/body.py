"""The graph that a loop repeats or a branch computes, as a value: two bodies are equal when they compute the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.batch import Batch
from adjoint.control.rules import HAVING_RULES, with_closed_rules
from adjoint.execution.evaluate import evaluation_lock, key_of, planned, run
from adjoint.graph import Node, array_type, mode, substitute, topological
from adjoint.graph.collector import without_collector
from adjoint.graph.node import place_of
from adjoint.plan.canonical import canonicalize
from adjoint.plan.plan import Plan, build
from adjoint.primitives.core import FULL, full, is_literal, ops, placeholder
from adjoint.primitives.custom import CUSTOM
from adjoint.primitives.structural import BROADCAST

__all__ = [
    "Body", "Planned", "as_arrays", "close", "closed_over", "for_examples", "number_inside", "planned_alone", "stand_in",
]  # fmt: skip

Nodes = Sequence[Node]
T = TypeVar("T")


class Body:
    """A graph as a function of its inputs, which are placeholders. It holds no value and no free number: see `close`.

    Equal bodies compute the same: they have equal keys. `derived` remembers what was derived from this one.
    """

    __slots__ = ("__weakref__", "derived", "hash", "inputs", "key", "outputs", "program", "steps")

    def __init__(self, inputs: Iterable[Node], outputs: Iterable[Node]) -> None:
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        with evaluation_lock():
            c = without_collector(canonicalize, self.outputs, given=set(self.inputs))
        place = {x: i for i, x in enumerate(self.inputs)}
        order = tuple([place[x] for x in c.leaves])
        results = tuple([c.number[y] for y in self.outputs])
        # of a rule of somebody's own the plan's key says nothing, and a loop's reverse pass is derived from what is equal to it
        rules = [x.attributes for x in topological(self.outputs, lambda x: x.value is None) if x.op is CUSTOM]
        self.key = (key_of(c), order, results, tuple([x.type.code for x in self.inputs]), *rules)
        self.hash = hash(self.key)
        self.program: Program | None = None
        self.steps = 0  # that the interpreter has run
        self.derived: dict[Any, Any] = {}

    def known(self) -> Body:
        """The body that was recorded at these lines before and computes the same, with what was derived from it; else this one.

        So a layer that is recorded anew in every step of training isn't transposed anew.
        """
        nodes = topological(self.outputs, lambda x: x.value is None)
        sites = dict.fromkeys([(x.site, x.offset) for x in nodes])
        lines = [place_of(*site) for site in sites]
        place = (self.hash, *lines)
        found = _bodies.get(place)
        if found is None or found != self:
            found = _bodies[place] = self
        return found

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Body) and self.hash == other.hash and self.key == other.key)

    def __hash__(self) -> int:
        return self.hash

    def __repr__(self) -> str:
        return f"<body of {len(self.inputs)} inputs, {len(self.outputs)} outputs>"

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        """The outputs for arrays in place of the inputs. They may share memory with these."""
        if self.program is None:
            self.program = Program(self)
        return self.program(arrays)

    def alone(self) -> Planned:
        """A plan of its own, which isn't remembered among those of graphs."""
        return self.remembered("alone", lambda: planned_alone(self.inputs, self.outputs))

    def remembered(self, key: Any, make: Callable[[], T]) -> T:
        """What was derived from this body under a key; made when first asked for."""
        found: T | None = self.derived.get(key)
        if found is None:
            found = self.derived[key] = make()
        return found

    def with_outputs(self, outputs: Iterable[Node]) -> Body:
        """The same graph with other results."""
        return Body(self.inputs, outputs)

    def applied(self, inputs: Nodes) -> list[Node]:
        """The outputs as part of the graph of these inputs."""
        return substitute(self.outputs, dict(zip(self.inputs, inputs, strict=True)))


_bodies: WeakValueDictionary[Any, Body] = WeakValueDictionary()

SMALL = 64  # elements of a constant that a body takes its parts of itself


class Planned(NamedTuple):
    """A plan of a graph: for each leaf of the plan the number of the graph's input that it is, and for each output of the graph
    its position among the plan's."""

    plan: Plan
    order: list[int]
    picks: list[int]


def planned_alone(inputs: Nodes, outputs: Nodes) -> Planned:
    """A plan of the graph of these outputs that isn't remembered."""
    with evaluation_lock():
        return without_collector(_planned, inputs, outputs)


def _planned(inputs: Nodes, outputs: Nodes) -> Planned:
    c = canonicalize(outputs, given=set(inputs))
    plan = build(c, list(dict.fromkeys([c.number[y] for y in outputs])), keep=False)
    place = {x: i for i, x in enumerate(inputs)}
    position = {number: k for k, (number, _, _, _) in enumerate(plan.outputs)}
    return Planned(plan, [place[x] for x in c.leaves], [position[c.number[y]] for y in outputs])


class Program:
    """How a body runs: its plan, and which input goes where."""

    def __init__(self, body: Body) -> None:
        c, self.executable = planned("body", body.outputs, set(body.inputs))
        place = {x: i for i, x in enumerate(body.inputs)}
        self.order = [place[x] for x in c.leaves]
        position = {number: k for k, (number, _, _, _) in enumerate(self.executable.plan.outputs)}
        self.picks = [position[c.number[y]] for y in body.outputs]

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        # NumPy gives single numbers as scalars of its own, which native code can't take for arrays.
        found = run(self.executable, [arrays[i] for i in self.order], [])
        results = [x if type(x) is np.ndarray else np.asarray(x) for x in found]
        return [results[k] for k in self.picks]


def stand_in(x: Node, label: str) -> Node:
    """A placeholder of a node's type, tracked if that can have a derivative."""
    return placeholder(x.type, label, x.type.inexact)


def for_examples(b: Batch, x: Node) -> Node:
    """A placeholder of a batch of what x stands for."""
    return placeholder(b.with_axis(x.type), "examples", x.type.inexact)


def close(
    varying: Nodes, outputs: Nodes, known: Mapping[Node, Node] | None = None, rules: bool = True
) -> tuple[list[Node], list[Node], list[Node]]:
    """The outputs with all that doesn't depend on `varying` taken out: computed once, outside, and read as inputs.

    Gives the outputs on these inputs, the inputs, and the nodes outside whose values they get. `known` are placeholders
    that the outputs read, by the nodes outside that they stand for. Literals stay, and so do broadcasts and parts of small
    arrays: what these are made of is read instead. What derivative rules read is an input as well, unless `rules` is False, for
    what is not differentiated any more.
    """
    known = known or {}
    outputs = closed_over(varying, outputs) if rules else outputs
    order, inner = _inner(varying, outputs)
    frontier = dict.fromkeys([x for node in order if node in inner for x in node.inputs if x not in inner])
    frontier.update(dict.fromkeys([y for y in outputs if y not in inner]))
    replaced: dict[Node, Node] = {}
    sources: dict[Node, Node] = {}  # the nodes outside, by what stands for them
    stack = list(frontier)
    seen: set[Node] = set()
    with mode(grad=True):
        while stack:
            x = stack.pop()
            if x in seen:
                continue
            seen.add(x)
            if x.op is FULL and x.value is None:
                replaced[x] = number_inside(x, sources)
            elif x.value is None and x not in known and _is_part(x):
                stack += x.inputs
            else:
                inside = stand_in(x, "a constant")
                sources[inside] = x
                replaced[x] = inside
        outside = substitute(sources.values(), known) if known else list(sources.values())
        return substitute(outputs, replaced), list(sources), outside


def number_inside(x: Node, sources: dict[Node, Node]) -> Node:
    """What a body has in place of a constant: a literal of its own, for the one outside may get its value, or an input, which is
    noted in `sources`."""
    if is_literal(x.attributes):
        return Node(FULL, (), x.attributes, x.type, x.site, x.offset, False)
    scalar = full(x.attributes, array_type((), x.dtype))
    inside = placeholder(scalar.type, "a number", False)
    sources[inside] = scalar
    return inside if x.shape == () else ops.widen(inside, x.type)


def closed_over(varying: Nodes, outputs: Nodes) -> list[Node]:
    """The outputs, where what derivative rules read is an input of the nodes that have them."""
    order, inner = _inner(varying, outputs)
    if any([node.op in HAVING_RULES for node in order]):
        return with_closed_rules(outputs, inner.difference(varying).__contains__, varying)
    return list(outputs)


def _inner(varying: Nodes, outputs: Nodes) -> tuple[list[Node], set[Node]]:
    """The outputs' graph down to what varies, and what of it depends on that."""
    inner = set(varying)
    order = topological(outputs, lambda x: x not in inner and x.value is None)
    for node in order:
        if node not in inner and any([x in inner for x in node.inputs]) and node.value is None:
            inner.add(node)
    return order, inner


def _is_part(x: Node) -> bool:
    """Whether a node is a broadcast, or a view of a small array."""
    return x.op is BROADCAST or (x.op.view and x.op.cheap and x.inputs[0].type.size <= SMALL)


def as_arrays(values: Iterable[Any], given: Sequence[Any]) -> tuple[Any, ...]:
    """Arrays of their own: none is one of those given, or a view of one."""
    theirs = set(map(id, given))
    return tuple(
        [x if type(x) is np.ndarray and x.base is None and id(x) not in theirs else np.array(x) for x in values]
    )
