"""Node by node: how a graph is computed whose structure is seen for the first time.

One walk counts how often each value is read, one loop computes and lets each array go at its last reading. Nothing is
built for later: most one-off graphs never come back, and one that does gets a plan then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.graph import Node
from adjoint.plan.canonical import value_array
from adjoint.plan.masks import Masking, must_mask
from adjoint.plan.plan import Target, is_algebra, narrowed_attributes
from adjoint.primitives.core import FULL, SELECT


class Interpretation:
    """The steps that give the targets their values: nodes in topological order, and how often each value is read."""

    def __init__(self, targets: Sequence[Target], replaced: dict[Node, Node]) -> None:
        self.targets = targets
        self.replaced = replaced
        # Inputs and values are read here, under the evaluation lock: a node that gets its value forgets its inputs.
        self.order: list[tuple[Node, tuple[Node, ...]]] = []
        self.held: dict[Node, Any] = {}
        self.uses: dict[Node, int] = {}
        self._walk()
        self.attributes = narrowed_attributes(
            [(n, n.op, n.attributes, inputs) for n, inputs in self.order], [x for _, _, x, _ in targets]
        )
        types = [x.type for _, _, x, _ in targets]
        checked = [k for k, t in enumerate(types) if type(t) is not tuple and t.inexact]
        some = any(node.op.masked is not None for node, _ in self.order)
        always = some and (tuple in map(type, types) or must_mask([(n, n.op, inputs) for n, inputs in self.order]))
        self.masking = Masking(always, some, checked)
        self.has_algebra = any(map(is_algebra, {x.op for x, _ in self.order}))

    def _walk(self) -> None:
        uses, replaced = self.uses, self.replaced
        get, emit = uses.get, self.order.append
        stack = [x for _, _, x, _ in self.targets][::-1]
        for x in stack:
            uses[x] = get(x, 0) + 1
        pop, push = stack.pop, stack.append
        entered: set[Node] = set()
        done: set[Node] = set()
        while stack:
            node = pop()
            if node in done:
                continue
            if node.op is FULL:
                done.add(node)
                continue
            if node.value is not None:
                done.add(node)
                self.held[node] = value_array(node)
                continue
            op = node.op
            inputs = (replaced[node],) if op is SELECT and node in replaced else node.inputs
            if op.reads is not None:
                inputs = inputs[: op.reads(node.type)]
            if node in entered:
                done.add(node)
                emit((node, inputs))
                continue
            entered.add(node)
            push(node)
            for x in reversed(inputs):
                uses[x] = get(x, 0) + 1
                if x not in done:
                    push(x)

    def run(self, masked: bool) -> list[Any]:
        """The targets' values."""
        replaced, own = self.replaced, self.attributes
        uses = dict(self.uses)
        values = dict(self.held)
        for node, inputs in self.order:
            op = node.op
            if op is SELECT and node in replaced:
                kernel: Any = _same
            else:
                attributes = own.get(node, node.attributes) if own else node.attributes
                kernel = op.masked if masked and op.masked is not None else op.kernel(attributes, node.type)
            if len(inputs) == 2:
                a, b = inputs
                p, q = values.get(a), values.get(b)
                if p is None:
                    p = values[a] = constant(a)
                if q is None:
                    q = values[b] = constant(b)
                values[node] = kernel(p, q)
            elif len(inputs) == 1:
                (a,) = inputs
                p = values.get(a)
                if p is None:
                    p = values[a] = constant(a)
                values[node] = kernel(p)
            else:
                values[node] = kernel(*[values[x] if x in values else constant(x) for x in inputs])
            for x in inputs:
                left = uses[x] = uses[x] - 1
                if not left:
                    values.pop(x, None)
        return [values[x] if x in values else whole(x) for _, _, x, _ in self.targets]


def constant(node: Node) -> Any:
    """The array of a constant: one number, repeated without taking memory."""
    shape, dtype = node.type.shape, node.type.dtype.dtype
    number = np.array(node.attributes, dtype)
    number.setflags(write=False)
    return np.ndarray(shape, dtype, number, 0, (0,) * len(shape)) if shape else number


def whole(node: Node) -> Any:
    """The array of a constant that is asked for. Zeros, such as an optimizer's moments, lie in memory that isn't touched yet."""
    kind = node.type
    number = np.full((), node.attributes, kind.dtype.dtype)
    if kind.shape == ():
        return number
    return np.full(kind.shape, number) if any(number.tobytes()) else np.zeros(kind.shape, number.dtype)


def _same(x: Any) -> Any:
    return x
