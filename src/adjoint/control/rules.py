"""Derivative rules of one's own in a graph that a loop repeats or a branch computes.

A rule is called when a derivative is recorded, and may read any tensor. The reverse pass of a loop may be recorded when it runs,
in another place than where the loop was: what a rule reads there would be nobody's input, so that a compiled function wouldn't
see it change, a batch wouldn't have it for each example, and nothing could be differentiated by it. So, before a graph becomes a
body, its rules are recorded once, on placeholders, and what they read outside becomes inputs of the nodes that have them.

A checkpoint's rule computes its outputs anew from its inputs. What is taken out of a body from between the two is one of its
inputs, too: else the outputs would depend on something that gets no cotangent.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from adjoint.derive import CHECKPOINT
from adjoint.graph import Node, depends_on, mode, moved, substitute, topological
from adjoint.primitives.core import FULL, placeholder, select, zeros
from adjoint.primitives.custom import CUSTOM, HOST_CALL, CustomRule, HostFunction, hooks_of, named_rule

__all__ = ["HAVING_RULES", "recomputed", "with_closed_rules"]

Nodes = Sequence[Node]
HAVING_RULES = (CUSTOM, HOST_CALL, CHECKPOINT)


def with_closed_rules(outputs: Nodes, inside: Callable[[Node], bool], given: Collection[Node] = ()) -> list[Node]:
    """The outputs, where what the derivative rules of nodes `inside` read outside is among these nodes' inputs. What is `given`
    stays as it is, and counts as inside where anybody else reads it."""
    order = topological(outputs, inside)
    kept = set(given)
    own = {x for x in order if inside(x)} | kept.intersection(order)
    # What is replaced, and the one copy of what depends on that: what a checkpoint begins at lies in the graph it computes anew.
    closed: dict[Node, Node] = {}
    with mode(grad=True):
        for node in order:
            if node not in own or node in kept:
                continue
            made: Node | None = None
            if node.tracked and node.op is CHECKPOINT:
                made = _closed_checkpoint(node, own, closed)
            elif node.tracked and node.op is CUSTOM and hooks_of(node) is None:
                made = _closed_custom(_Recording(node, own, closed))
            elif node.tracked and node.op is HOST_CALL and node.attributes[0].rule is not None:
                made = _closed_call(_Recording(node, own, closed))
            if made is None and any([x in closed for x in node.inputs]):
                if node.inputs[0].op.stands_for is None:
                    made = moved(node, closed, closed)
                else:
                    (made,) = substitute([node], closed)
            if made is not None:
                closed[node] = made
    return substitute(outputs, closed) if closed else list(outputs)


def _closed_custom(recording: _Recording) -> Node | None:
    """A custom node that has what its rules read as inputs; None where they read nothing outside."""
    node = recording.node
    count, named = node.attributes
    if not recording.reads_outside(named.rule, named.transposed):
        return None
    rules = named.replaced(recording.frozen)
    more, direct = len(recording.read), named.direct
    if direct is not None:

        def without(x: Node) -> Node:
            return Node(CUSTOM, x.inputs[:-more], node.attributes, x.type, x.site, x.offset, x.tracked)

        rules.direct = lambda x: direct(without(x))
    moved, *read = recording.moved()
    inputs = (*moved.inputs, *read)
    return Node(CUSTOM, inputs, (count, rules), node.type, node.site, node.offset, node.tracked)


def _closed_call(recording: _Recording) -> Node | None:
    """A host call's results with its rule as that of a custom node; None where the rule reads nothing outside."""
    node = recording.node
    function, codes = node.attributes
    several = isinstance(node.type, tuple)

    def rule(cotangents: list[Node | None], _: Node) -> Sequence[Node | None]:
        return list(function.adapter(function.rule, cotangents if several else cotangents[0], node))

    if not recording.reads_outside(rule, None):
        return None
    plain = HostFunction(function.call, None, function.batch, function.adapter, function.exact)
    moved, *read = recording.moved()
    call = Node(HOST_CALL, moved.inputs, (plain, codes), node.type, node.site, node.offset, False)
    results = [select(call, i) for i in range(len(node.type))] if several else [call]
    attributes = len(results), named_rule(recording.frozen(rule), function.name)
    inputs = (*results, *moved.inputs, *read)
    return Node(CUSTOM, inputs, attributes, node.type, node.site, node.offset, node.tracked)


def _closed_checkpoint(node: Node, own: set[Node], closed: dict[Node, Node]) -> Node | None:
    """A checkpoint that has as inputs what is outside of that which it computes anew; None where it has already."""
    count = node.attributes
    inputs = set(node.inputs[count:])
    between = recomputed(node)
    border = [y for x in between if x in own for y in x.inputs] + list(node.inputs[:count])
    read = dict.fromkeys([y for y in border if y.tracked and y not in own and y not in inputs])
    if not read:
        return None
    moved, *read_moved = substitute([node, *read], closed)
    return Node(CHECKPOINT, (*moved.inputs, *read_moved), count, node.type, node.site, node.offset, node.tracked)


def recomputed(node: Node) -> list[Node]:
    """What a checkpoint computes anew."""
    count = node.attributes
    inputs = set(node.inputs[count:])
    return [
        x for x in topological(node.inputs[:count], lambda x: x not in inputs and x.value is None) if x not in inputs
    ]


class _Recording:
    """The rules of one node, recorded on placeholders, and what they read beside the cotangents.

    own     the nodes that are inside, as far as anybody but rules reads them, and the node's inputs
    closed  by what nodes before this one are replaced
    """

    def __init__(self, node: Node, own: set[Node], closed: dict[Node, Node]) -> None:
        self.node = node
        self.own = own.union(node.inputs)
        self.closed = closed
        self.read: dict[Node, None] = {}
        self.recorded: dict[CustomRule, tuple[list[Node | None], list[Node | None]]] = {}

    def moved(self) -> list[Node]:
        """The node among the replaced ones, and what is read."""
        return substitute([self.node, *self.read], self.closed)

    def reads_outside(self, *rules: CustomRule | None) -> bool:
        """Record the rules; whether they read anything outside. What is wrong with one is said where its derivative is asked."""
        types = self.node.type if isinstance(self.node.type, tuple) else (self.node.type,)
        outside = False
        for rule in rules:
            if rule is None:
                continue
            given = [placeholder(t, "a cotangent", True) if t.inexact else None for t in types]
            try:
                found = list(rule(given, self.node))
            except Exception:
                return False
            self.recorded[rule] = given, found
            outside = (
                self.note({self.node, *[u for u in given if u is not None]}, [g for g in found if g is not None])
                or outside
            )
        return outside

    def note(self, cotangents: set[Node], found: Nodes) -> bool:
        """Note what is read, as far towards the results as it doesn't depend on cotangents; whether anything of it comes from
        outside."""
        order = topological(found, lambda x: x not in cotangents and x.value is None and x not in self.own)
        depending = depends_on(order, cotangents)
        border = [x for y in order if y in depending and y not in cotangents for x in y.inputs if x not in depending]
        border += [y for y in found if y not in depending]
        self.read.update(dict.fromkeys([x for x in border if x not in self.own and not _is_number(x)]))
        return any([(x.value is not None or not x.inputs) and x not in self.own and x not in cotangents
                    and not _is_number(x) for x in order])  # fmt: skip

    def frozen(self, rule: CustomRule) -> CustomRule:
        """The rule as it was recorded, on other cotangents."""
        given, found = self.recorded[rule]

        def again(cotangents: list[Node | None], node: Node) -> list[Node | None]:
            known: dict[Node, Node] = {**self.closed, self.node: node}
            for u, cotangent in zip(given, cotangents, strict=True):
                if u is not None:
                    known[u] = zeros(u.type) if cotangent is None else cotangent
            there = iter(substitute([g for g in found if g is not None], known))
            return [*[None if g is None else next(there) for g in found], *[None] * len(self.read)]

        return again


def _is_number(x: Node) -> bool:
    return x.op is FULL and x.value is None
