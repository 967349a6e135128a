"""Iterative walks over graphs, and substitution. No walk recurses: a chain of a million nodes is fine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from adjoint.graph.node import Node
from adjoint.graph.primitive import Primitive

__all__ = ["SEARCHES", "Search", "depends_on", "moved", "substitute", "topological"]

SEARCHES: list[Search] = []


def topological(
    roots: Iterable[Node],
    enter: Callable[[Node], bool] | None = None,
    *,
    below: Callable[[Node], tuple[Node, ...]] | None = None,
) -> list[Node]:
    """The roots and all they depend on, inputs first. `enter(node)` says whether to go on to a node's inputs, `below(node)`
    what those are."""
    order: list[Node] = []
    seen: set[Node] = set()
    stack: list[Node] = list(roots)[::-1]
    while stack:
        node = stack[-1]
        if node in seen:
            stack.pop()
            continue
        ready = True
        if enter is None or enter(node):
            for x in node.inputs if below is None else below(node):
                if x not in seen:
                    stack.append(x)
                    ready = False
        if ready:
            seen.add(node)
            order.append(node)
            stack.pop()
    return order


class Search:
    """Looks for nodes of some operations. `below(root)` gives those that a node depends on by tracked ones, itself among them,
    nearest first, and not beyond a node of the operation `last`; it may be native code (see `runtime.recording`)."""

    __slots__ = ("below", "last", "ops")

    def __init__(self, ops: Iterable[Primitive], last: Primitive) -> None:
        self.ops, self.last = frozenset(ops), last
        self.below: Callable[[Node], list[Node]] = self.walk
        SEARCHES.append(self)

    def walk(self, root: Node) -> list[Node]:
        """The nodes, found by Python."""
        found, seen, order = list[Node](), {root}, [root]
        for node in order:  # which grows on the way
            op = node.op
            if op in self.ops:
                found.append(node)
                if op is self.last:
                    continue
            for x in node.inputs:
                if x.tracked and x not in seen:
                    seen.add(x)
                    order.append(x)
        return found


def depends_on(order: Iterable[Node], sources: Iterable[Node]) -> set[Node]:
    """Those nodes of a topological order that are one of the sources or depend on one."""
    found = set(sources)
    for node in order:
        if node not in found:
            for x in node.inputs:
                if x in found:
                    found.add(node)
                    break
    return found


def _written_out(node: Node) -> tuple[Node, ...]:
    """The inputs of a node; of an output that stands for a graph, that graph."""
    inputs = node.inputs
    stands_for = inputs[0].op.stands_for if inputs else None
    return inputs if stands_for is None else (stands_for(node),)


def substitute(roots: Iterable[Node], replacements: Mapping[Node, Node], *, same_values: bool = False) -> list[Node]:
    """The roots with some nodes replaced. Nodes that depend on none of them are shared with the original graph.

    With `same_values` the replacements are known to have the values of what they replace, so the copies keep theirs.
    """
    roots = list(roots)
    order = topological(roots, lambda node: node not in replacements)
    if any([node.op.stands_for is not None for node in order]):
        order = topological(roots, lambda node: node not in replacements, below=_written_out)
    new: dict[Node, Node] = dict(replacements)
    for node in order:
        if node in new:
            continue
        inputs = node.inputs
        if inputs and inputs[0].op.stands_for is not None:
            (x,) = _written_out(node)
            if x in new:
                new[node] = new[x]
            continue
        for x in inputs:
            if x in new:
                new[node] = moved(node, new, replacements, same_values)
                break
    return [new.get(root, root) for root in roots]


def moved(node: Node, new: Mapping[Node, Node], replacements: Mapping[Node, Node], same_values: bool = False) -> Node:
    """A copy of a node on what became of its inputs. `replacements` is what was replaced to begin with."""
    changed = tuple([new.get(x, x) for x in node.inputs])
    attributes = node.attributes
    if node.op.copied is not None:
        known = {**replacements, **dict(zip(node.inputs, changed, strict=True))}
        attributes = node.op.copied(node, known, same_values)
    tracked = node.tracked and any([y.tracked for y in changed])
    value = node.value if same_values else None
    return Node(node.op, changed, attributes, node.type, node.site, node.offset, tracked, value)
