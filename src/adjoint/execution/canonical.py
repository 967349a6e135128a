"""The canonical form of what is to be computed: a numbering of the pending graph and the exact key of its plan.

Two evaluations share a plan when their keys are equal, element by element: the same operations and attributes on the
same numbers, leaves of the same types in the same places, the same nodes asked for. Ordinary floats and the values of
leaves are not in the key but among the plan's inputs, so a replay with other numbers is never stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from sys import getrefcount
from typing import Any

from adjoint.derive import PULLBACK
from adjoint.graph import Kept, Node
from adjoint.primitives.core import FULL, LEAF, SELECT, is_literal
from adjoint.primitives.custom import HOST_CALL

FLOAT_SLOT = "a number"


class Canonical:
    """A numbered graph. `order[i]` is node i; `leaves` are those whose values go in; `numbers` the free constants."""

    __slots__ = ("edges", "entries", "leaves", "number", "numbers", "order", "pullbacks", "structural")

    def __init__(self, structural: bool) -> None:
        self.structural = structural
        self.number: dict[Node, int] = {}
        self.order: list[Node] = []
        self.entries: list[Any] = []
        self.edges: list[int] = []
        self.leaves: list[Node] = []
        self.numbers: list[tuple[Any, Node]] = []
        self.pullbacks: list[Node] = []


def canonicalize(roots: Sequence[Node], structural: bool = False, given: Collection[Node] = ()) -> Canonical:
    """Number the pending graph below the roots. Those `given` will have values when the plan runs.

    Where a pullback is pending, everything that was recorded counts and not just what has no value yet: then the walk
    is `structural`, and tracked nodes that hold a value are entered all the same.
    """
    structural = structural or any(
        x.op is SELECT and x.value is None and x.inputs and x.inputs[0].op is PULLBACK and x.inputs[0].value is None
        for x in roots
    )
    c = Canonical(structural)
    number, order, leaves = c.number, c.order, c.leaves
    entry, edge, get = c.entries.append, c.edges.append, c.number.get
    stack = list(roots)[::-1]
    pop, push = stack.pop, stack.append
    while stack:
        node = pop()
        if node in number:
            continue
        inputs = node.inputs
        held = node.value is not None
        if not held and not inputs and node.op is HOST_CALL:
            number[node] = len(order)
            order.append(node)
            c.entries += [HOST_CALL, node.attributes, 0]
            continue
        if inputs and (not held or (structural and node.tracked)):
            # one or two inputs are by far the most common: their numbers are looked up once
            count = len(inputs)
            if count == 2:
                a, b = inputs
                i, j = get(a), get(b)
                if i is None or j is None:
                    push(node)
                    if j is None:
                        push(b)
                    if i is None:
                        push(a)
                    continue
                edge(i)
                edge(j)
            elif count == 1:
                i = get(inputs[0])
                if i is None:
                    if node.op is SELECT and not structural and inputs[0].op is PULLBACK and inputs[0].value is None:
                        return canonicalize(roots, True, given)
                    push(node)
                    push(inputs[0])
                    continue
                edge(i)
            else:
                missing = [x for x in inputs if x not in number]
                if missing:
                    push(node)
                    stack.extend(missing[::-1])
                    continue
                c.edges.extend([number[x] for x in inputs])
            op = node.op
            entry(op)
            entry(node.tracked)
            attributes = node.attributes
            if attributes is not None:
                entry(attributes if op.key is None else op.key(attributes))
            if op.variadic:
                entry(count)
                if op is PULLBACK:
                    c.pullbacks.append(node)
            if held:
                entry("held")
                leaves.append(node)
        elif held or node.op is not FULL:
            if not held and node not in given:
                _refuse_placeholder(node)
            kind = node.type
            entry(node.tracked)
            entry(kind.code if type(kind) is not tuple else tuple([t.code for t in kind]))
            leaves.append(node)
        else:
            value = node.attributes
            entry(FULL)
            entry(node.type.code)
            if is_literal(value):
                entry(value)
            else:
                entry(FLOAT_SLOT)
                c.numbers.append((value, node))
        number[node] = len(order)
        order.append(node)
    return c


class ValueNeededError(RuntimeError):
    """The value of something traced was asked for."""


def _refuse_placeholder(node: Node) -> None:
    what = repr(node.attributes)
    if node.op is LEAF:  # a variable, read by a traced function
        name = None if node.attributes is None else node.attributes.name
        what = f"the variable {name!r}" if name else "a variable"
    raise ValueNeededError(
        f"a value is needed here, but {what} has none: inside a traced function (vmap, jit) shapes are known "
        f"and numbers are not; use ad.where instead of `if`, or keep this input out of the tracing"
    )


def external_references(c: Canonical) -> list[int]:
    """The numbers of the pending nodes that something outside this graph refers to.

    A tensor that somebody holds will be asked for, or not; its value costs little now and a whole evaluation later. A
    reference count above what the graph itself explains shows it. So does a reverse pass of which somebody holds another
    gradient: all its gradients are computed when the first is asked for.
    """
    order = c.order
    explained = Counter(c.edges)
    explained.update([c.number[x] for x in c.pullbacks])  # that list holds them too
    references = reference_counts(order)
    return [
        i
        for i, count in enumerate(references)
        if count > BASELINE + explained[i]
        and order[i].value is None
        and order[i].inputs
        and (type(order[i].type) is not tuple or order[i].op is PULLBACK)
    ]


def reference_counts(nodes: list[Node]) -> list[int]:
    """How many references each node has, those of this list and of the counting included."""
    return list(map(getrefcount, nodes))


# What `reference_counts` gives for a node that only the list holds; a numbered graph holds each node once more.
COUNTED_IN_LIST = reference_counts([Node(FULL, (), 0.0, None, None, 0, False)])[0]
BASELINE = COUNTED_IN_LIST + 1


def value_array(node: Node) -> Any:
    """The array of a node that has one."""
    value = node.value
    return value.array if type(value) is Kept else value
