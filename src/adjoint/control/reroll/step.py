"""One step of a loop as a graph, on what stands for its carries and slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from adjoint.control.body import stand_in
from adjoint.control.reroll.loops import Read, Rolled
from adjoint.graph import Node, array_type
from adjoint.primitives.core import FULL, leaf, ops, zeros

__all__ = ["Step", "everything"]

Array = np.ndarray[Any, Any]


class Around(Protocol):
    """The graph around a step: see `Graph`."""

    order: list[Node]
    operands: Array

    def read(self, found: Rolled, e: int, k: int) -> Read: ...
    def value(self, place: int) -> Node: ...
    def rows(self, places: Array) -> list[Node]: ...


class Step:
    """The graph of one step of a loop, on what stands for its carries and slices."""

    def __init__(self, graph: Around, x: Rolled) -> None:
        self.graph = graph
        self.x = x
        self.rows: dict[Any, tuple[Node, Node]] = {}  # what stands for a slice, and all of them
        self.formal: dict[
            tuple[int, int], Node
        ] = {}  # what stands for a carry, by its entry and how many steps back it is
        self.made: dict[int, Node] = {}
        self.remade: dict[Read, Node] = {}
        start, _, _ = x.loop
        for e, steps in x.carried.items():
            for back in range(1, steps + 1):
                self.formal[e, back] = stand_in(graph.order[start + e], "a carry")
        for e in x.last - x.carried.keys() - x.sums.keys() - x.products.keys():
            self.formal[e, 1] = stand_in(graph.order[start + e], "a result")

    @property
    def elements(self) -> int:
        """How many elements a step computes."""
        types = [node.type for node in self.made.values()]
        return sum([t.size for t in types if t.__class__ is not tuple])

    def carries(self) -> tuple[list[Node], list[Node], list[Node], list[bool]]:
        """What stands for the carries, what they are first and then, and whether anybody reads the last ones."""
        graph, (start, period, _) = self.graph, self.x.loop
        init, out, wanted = [], [], []
        for (e, back), formal in self.formal.items():
            known = e in self.x.carried
            init.append(graph.value(start + e - back * period) if known else zeros(formal.type))
            out.append(self.formal[e, back - 1] if back > 1 else self.inside(start + e, period))
            wanted.append(back == 1 and e in self.x.last)
        return list(self.formal.values()), init, out, wanted

    def inside(self, place: int, stride: int) -> Node:
        """What an entry reads, in the step."""
        start, period, _ = self.x.loop
        if stride == 0:
            return self.graph.value(place)
        if (place, stride) in self.x.remade:
            return self.again((place, stride))
        if (place, stride) in self.x.slices:
            return self.slice((place, stride), self.graph.order[place], lambda: self.outside(place, stride))
        e = (place - start) % period
        back = (start + e - place) // period
        return self.formal[e, back] if back else self.entry(e)

    def again(self, read: Read) -> Node:
        """What is computed outside, and again in the step."""
        if read not in self.remade:
            node = self.graph.order[read[0]]
            source = self.inside(*self.x.remade[read])
            self.remade[read] = Node(node.op, (source,), node.attributes, node.type, node.site, node.offset, False)
        return self.remade[read]

    def entry(self, e: int) -> Node:
        """An entry in the step."""
        pending = [e]
        while pending:
            e = pending[-1]
            missing = [k for k in self.needs(e) if k not in self.made] if e not in self.made else []
            if missing:
                pending += missing
                continue
            pending.pop()
            if e not in self.made:
                self.made[e] = self.copied(e)
        return self.made[e]

    def needs(self, e: int) -> list[int]:
        """The entries of the same step that one reads."""
        start = self.x.loop.start
        if e in self.x.moving:
            return []
        return [
            b - start for b in self.graph.operands[start + e].tolist() if start <= b
        ]  # else of a step before, or outside

    def copied(self, e: int) -> Node:
        """An entry in the step whose inputs are made."""
        graph, x = self.graph, self.x
        node = graph.order[x.loop.start + e]
        if e in x.moving:
            return self.slice((graph.read(x, e, 0)[0], x.moving[e], node.type), node, lambda: self.parts(e))
        if e in x.numbers:
            scalar = array_type((), node.dtype)
            formal = self.slice(e, Node(FULL, (), 0.0, scalar, None, 0, False), lambda: self.numbers(e))
            return formal if node.shape == () else ops.widen(formal, node.type)
        if not node.inputs or node.value is not None:
            return node
        inputs = tuple([self.inside(*graph.read(x, e, k)) for k in range(len(node.inputs))])
        return Node(node.op, inputs, node.attributes, node.type, node.site, node.offset, False)

    def slice(self, key: Any, like: Node, rows: Callable[[], Node]) -> Node:
        """What stands for a slice, of the rows that are made when it is first asked for."""
        if key not in self.rows:
            self.rows[key] = stand_in(like, "a slice"), rows()
        return self.rows[key][0]

    def outside(self, place: int, stride: int) -> Node:
        """The rows of what lies outside."""
        places = place + stride * np.arange(self.x.loop.times)
        rows: Node = ops.concat(self.graph.rows(places[::-1] if self.x.backward else places), 0)
        return rows

    def numbers(self, e: int) -> Node:
        """The rows of a number that differs."""
        start, period, times = self.x.loop
        nodes = [self.graph.order[start + e + t * period] for t in range(times)]
        values = np.array([x.attributes for x in nodes], nodes[0].dtype.dtype)
        return leaf(values[::-1].copy() if self.x.backward else values, array_type((times,), nodes[0].dtype))

    def parts(self, e: int) -> Node:
        """The rows of parts of an array at places that advance."""
        start, _, times = self.x.loop
        node = self.graph.order[start + e]
        axis, _, stride, slices = self.x.moving[e]
        first, size, step = slices[axis]
        source = self.graph.value(self.graph.read(self.x, e, 0)[0])
        if self.x.backward:
            first, stride = first + (times - 1) * stride, -stride
        pieces = []
        for k in range(size):
            part = ops.slice_(source, (*slices[:axis], (first + k * step, times, stride), *slices[axis + 1 :]))
            part = ops.permute_dims(part, (axis, *[i for i in range(len(slices)) if i != axis]))
            shape = [1 if i == axis else n for i, (_, n, _) in enumerate(slices)]
            pieces.append(ops.reshape(part, (times, *shape)))
        rows: Node = ops.reshape(ops.concat(pieces, axis + 1), (times, *node.shape))
        return rows


def everything(shape: Sequence[int]) -> list[tuple[int, int, int]]:
    """The slices of all that there is."""
    return [(0, n, 1) for n in shape]
