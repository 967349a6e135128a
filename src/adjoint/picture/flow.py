"""The numbers of a picture: what every edge carries in the reverse pass, and values without touching the user's nodes.

The engine adds cotangents up as they meet. A picture wants them apart, so the rules are applied here once more, one
edge at a time, and everything is computed by a small interpreter that fills in nothing and forgets nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint.derive import CHECKPOINT, value_of
from adjoint.dtypes import complex128, float64
from adjoint.graph import Node, array_type, mode, topological
from adjoint.primitives.core import CAST, FULL, IDENTITY, LEAF, PLACEHOLDER, SELECT, VERSION, ops
from adjoint.primitives.custom import CUSTOM, HOST_CALL
from adjoint.primitives.random import RANDOM_BITS
from adjoint.primitives.structural import BROADCAST, RESHAPE

__all__ = [
    "Flow",
    "compute",
    "depends_on_differentiably",
    "is_leaf",
    "is_plumbing",
    "is_settled",
    "shown_inputs",
    "slopes",
    "trace",
]

Edge = tuple[Node, int]  # an input of a node, by its position among the shown inputs
WITH_SLOPES = 5_000  # shown nodes up to which single numbers get their local derivatives
MOVES = (BROADCAST, RESHAPE, CAST)


def is_leaf(node: Node) -> bool:
    """Whether a picture shows the node as given: nothing below it matters to a derivative, or is still known.

    So is what a transformation such as `grad` differentiates by: a marker, tracked, of something that isn't.
    """
    inputs = node.inputs
    if node.op in (LEAF, VERSION, FULL, PLACEHOLDER) or not inputs:
        return True
    return node.op is IDENTITY and node.tracked and not inputs[0].tracked


def is_settled(node: Node) -> bool:
    """Whether the node was computed and, as no derivative needs them, its inputs were let go: what it would be for other
    numbers isn't known."""
    return not node.inputs and node.op not in (LEAF, VERSION, FULL, PLACEHOLDER)


def shown_inputs(node: Node) -> tuple[Node, ...]:
    """The inputs that an edge is drawn to. A custom rule is drawn on what it was called with, what a checkpoint computes as if
    there were none, and random bits without the key and the counter that they follow from."""
    if is_leaf(node) or (node.op is RANDOM_BITS and all([is_leaf(x) for x in node.inputs])):
        return ()
    if node.op is CHECKPOINT:
        return node.inputs[: node.attributes]
    if _is_checkpointed(node):
        return (node.inputs[0].inputs[node.attributes],)
    return node.inputs[node.attributes[0] :] if node.op is CUSTOM else node.inputs


def is_plumbing(node: Node) -> bool:
    """Whether the node only fits an array to what is beside it, without the user having asked for that."""
    if is_leaf(node):
        return False
    if node.op is CHECKPOINT or _is_checkpointed(node):
        return type(node.type) is not tuple
    return node.op is IDENTITY or (node.op in MOVES and node.op.name not in node.origin.scopes)


def _is_checkpointed(node: Node) -> bool:
    return node.op is SELECT and bool(node.inputs) and node.inputs[0].op is CHECKPOINT


def trace(node: Node, hidden: Callable[[Node], bool]) -> tuple[Node, list[Node]]:
    """The first node from here down that is not hidden, and the hidden ones passed, from the consumer's side."""
    passed = []
    while hidden(node):
        passed.append(node)
        node = shown_inputs(node)[0]
    return node, passed


def in_reading_order(root: Node) -> list[Node]:
    """The nodes below a root, inputs first and the first input first, as one reads the formula."""
    order: list[Node] = []
    seen: set[Node] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        missing = [x for x in shown_inputs(node) if x not in seen]
        if missing:
            stack.append(node)
            stack.extend(reversed(missing))
        else:
            seen.add(node)
            order.append(node)
    return order


class Flow:
    """The reverse pass with its contributions kept apart, as graph.

    order          the shown nodes, inputs first
    sources        for each edge the shown node it comes from
    carried        for each edge the cotangent that it brings to its source; no entry where none flows
    local          for each edge between single numbers, the derivative of the consumer by the source
    cotangents     for each node the sum of what its consumers bring
    """

    def __init__(
        self,
        root: Node,
        cotangent: Node | None,
        wrt: Sequence[Node] | None,
        *,
        plumbing: bool = False,
    ) -> None:
        self.root = root
        self.hidden: dict[Node, bool] = {}
        every = in_reading_order(root)
        for node in every:
            self.hidden[node] = not plumbing and node is not root and is_plumbing(node)
        self.order = [node for node in every if not self.hidden[node]]
        self.sources: dict[Edge, Node] = {}
        self.carried: dict[Edge, Node] = {}
        self.local: dict[Edge, Node] = {}
        self.cotangents: dict[Node, Node] = {}
        self.active: set[Node] = set()
        self._passed: dict[Edge, list[Node]] = {}
        for node in self.order:
            for position, x in enumerate(shown_inputs(node)):
                self.sources[node, position], self._passed[node, position] = trace(x, self.hidden.__getitem__)
        if cotangent is not None:
            wanted = [x for x in every if x.tracked and is_leaf(x)] if wrt is None else list(wrt)
            self.active = depends_on_differentiably(every, wanted)
            if root in self.active:
                with mode(grad=False):
                    self._reverse(cotangent)

    def _reverse(self, cotangent: Node) -> None:
        with_local = len(self.order) <= WITH_SLOPES
        self.cotangents[self.root] = cotangent
        several: dict[Node, list[Node | None]] = {}
        for node in reversed(self.order):
            u = self.cotangents.get(node)
            if (u is None and node not in several) or is_leaf(node):
                continue
            wants = [x in self.active for x in shown_inputs(node)]
            if node.op is SELECT and not _is_checkpointed(node):
                source = self.sources[node, 0]
                if type(source.type) is tuple:
                    slots = several.setdefault(source, [None] * len(source.type))
                    old = slots[node.attributes]
                    slots[node.attributes] = u if old is None or u is None else ops.add(old, u)
                    if u is not None:
                        self.carried[node, 0] = u
                continue
            for position, v in enumerate(pull_back(node, several.get(node, u), wants)):
                edge = node, position
                v = self._through(edge, v)
                if v is None:
                    continue
                self.carried[edge] = v
                source = self.sources[edge]
                old = self.cotangents.get(source)
                self.cotangents[source] = v if old is None else ops.add(old, v)
            if with_local and type(node.type) is not tuple and not node.type.ndim and node.type.real_inexact:
                self._slopes(node, wants)

    def _slopes(self, node: Node, wants: list[bool]) -> None:
        for position, v in enumerate(pull_back(node, ops.full(1.0, node.type), wants)):
            edge = node, position
            v = self._through(edge, v)
            if v is not None and not v.type.ndim and v.type.real_inexact:
                self.local[edge] = v

    def _through(self, edge: Edge, v: Node | None) -> Node | None:
        """A cotangent brought down through the hidden nodes of an edge."""
        for hidden in self._passed[edge]:
            if v is None or hidden not in self.active:
                return None
            (v,) = pull_back(hidden, v, [True])
        return v


def pull_back(node: Node, u: Any, wants: Sequence[bool]) -> list[Node | None]:
    """The cotangent of each shown input by the primitive's own rule."""
    if node.op is CHECKPOINT or _is_checkpointed(node):
        return [u]
    rules = node.op.vjp
    inputs = node.inputs
    if isinstance(rules, tuple):
        return [rule(u, node, *inputs) if want and rule else None for rule, want in zip(rules, wants, strict=True)]
    if rules is None:
        return [None] * len(wants)
    skipped = len(inputs) - len(wants)
    found = rules(u, node, [False] * skipped + list(wants))[skipped:]
    return [v if want else None for v, want in zip(found, wants, strict=True)]


def depends_on_differentiably(order: Iterable[Node], sources: Iterable[Node]) -> set[Node]:
    """Those nodes of an order through which the root depends on the sources and a cotangent can flow."""
    found = set(sources)
    for node in order:
        if node not in found and node.tracked and (type(node.type) is tuple or node.type.inexact):
            for x in shown_inputs(node):
                if x in found:
                    found.add(node)
                    break
    return found


# Numbers --------------------------------------------------------------------------------------------------------------


def compute(
    roots: Iterable[Node],
    summary: Callable[[Any], Any] = lambda array: array,
    *,
    given: Mapping[Node, Any] | None = None,
    wide: bool = False,
) -> dict[Node, Any]:
    """A summary of each root's value, the nodes left as they are. Arrays are let go as soon as nothing needs them.

    `given` replaces nodes' values; with `wide` floating numbers are computed in 64 bits, from the leaves up, and values
    that nodes already hold don't count.
    """
    given = given or {}
    wanted = set(roots)

    def computed(node: Node) -> bool:
        return node not in given and (value_of(node) is None or (wide and not is_leaf(node)))

    order = topological(wanted, computed)
    uses = Counter(x for node in order if computed(node) for x in node.inputs)
    arrays: dict[Node, Any] = {}
    results: dict[Node, Any] = {}
    with np.errstate(all="ignore"):
        for node in order:
            if not computed(node):
                value: Any = given[node] if node in given else value_of(node)
                if wide:
                    value = _widened(value)
            else:
                kind = _wide_type(node.type) if wide else node.type
                kernel = node.op.masked or node.op.kernel(node.attributes, kind)
                value = kernel(*[arrays[x] for x in node.inputs])
                for x in set(node.inputs):
                    uses[x] -= node.inputs.count(x)
                    if not uses[x]:
                        del arrays[x]
            if type(value) is not tuple:
                value = np.asarray(value)
            if uses[node]:
                arrays[node] = value
            if node in wanted:
                results[node] = summary(value)
    return results


def _wide_type(type: Any) -> Any:
    if isinstance(type, tuple):
        return tuple(_wide_type(t) for t in type)
    if not type.inexact:
        return type
    return array_type(type.shape, float64 if type.real_inexact else complex128)


def _widened(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_widened(x) for x in value)
    array = np.asarray(value)
    return array.astype({"f": np.float64, "c": np.complex128}.get(array.dtype.kind, array.dtype))


MAX_PROBES = 32  # elements of a leaf that are moved one by one


def slopes(root: Node, leaf: Node, gradient: Any) -> tuple[Any, Any, str]:
    """What the reverse pass says about a leaf, and the same by central differences of the value in 64 bits.

    A small leaf is compared element by element. A larger one is moved along its gradient, whose length is the slope
    there. The third item says which it was.
    """
    order = topological([root], lambda node: bool(node.inputs))
    wide = all(node.op is not HOST_CALL for node in order)
    at = np.asarray(compute([leaf])[leaf])
    at = at.astype(np.float64 if wide else at.dtype)
    gradient = np.asarray(gradient)
    roundoff = float(np.finfo(at.dtype).eps)
    step = roundoff ** (1 / 3) * max(1.0, float(np.abs(at).max(initial=0)))

    def along(direction: Any) -> float:
        ends = [
            float(compute([root], given={leaf: at + sign * step * direction}, wide=wide)[root].sum())
            for sign in (1, -1)
        ]
        return float((ends[0] - ends[1]) / (2 * step))

    if at.size <= MAX_PROBES:
        found = np.empty(at.shape)
        for index in np.ndindex(at.shape):
            direction = np.zeros_like(at)
            direction[index] = 1
            found[index] = along(direction)
        return gradient, found, "each element moved by itself"
    length = float(np.sqrt((gradient.astype(np.float64) ** 2).sum()))
    if not length:
        return 0.0, 0.0, "the gradient is zero"
    return (
        np.array(length),
        np.array(along((gradient / length).astype(at.dtype))),
        "moved along the gradient: its length",
    )
