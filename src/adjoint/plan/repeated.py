"""Repetition in a recorded graph: a graph of many equal steps as one of a few, from which the plan of all of them follows.

A loop in Python records each step anew, and the reverse pass does too. Planned at its full length, a graph of ten thousand
steps costs as much as ten thousand bodies. Here the nodes are put in the order of a walk that meets inputs first, and the
stretches that repeat are found as `machine.repetition` finds them among operations on single numbers: node k + period is of
node k's kind, and each of its inputs lies a fixed stride behind that of the time before. Where all that repeats so does so often,
the same number of times is left out in the midst of every loop: what follows then reads what it would read had the loop been
that much shorter. The shorter graphs of n, n + 1 and n + 2 times are planned, and `machine.stretched` extends what they have in
common to all times.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from adjoint.graph import Node
from adjoint.plan.canonical import begin_walk, is_latest
from adjoint.plan.listing import NOTHING, PLACE, Only, listed
from adjoint.plan.matching import Loop, find_loops

__all__ = ["Left", "Repeated", "find_repetition", "left_out"]

Array = np.ndarray[Any, Any]

INPUTS = 3  # of a node in a loop, at most
WORTH = Only(20_000, 1024, INPUTS)  # a smaller graph is planned as it is, and so are loops over larger arrays
LEFT = 12  # times that are left of the shortest loop, at least,
LEFT_NODES = 2000  # and nodes: fewer operations are no loop
COVERED = 0.8  # of the nodes must be in loops


class Repeated:
    """A graph in which loops were found. `times` may be left out of each of them, behind its first few."""

    def __init__(
        self, order: list[Node], operands: Array, places: dict[Node, int], roots: Sequence[Node], loops: list[Loop]
    ) -> None:
        self.order = order
        self.operands = operands
        self.places = places  # of the roots, and of the inputs of nodes that have too many for `operands`
        self.roots = [places[x] for x in roots]
        self.loops = loops
        left = _left_of(loops)
        self.kept = left // 2  # times from the beginning
        self.times = min([loop.times for loop in loops]) - left

    @property
    def key(self) -> tuple[Any, ...]:
        """What it has besides the nodes that are left."""
        return (self.times, self.kept, *self.loops)

    def shortened(self, times: int) -> list[Node] | None:
        """The roots with so many times left out of each loop; None where what is left would read what isn't there."""
        found = left_out(self.operands, self.loops, self.kept, times)
        return None if found is None else self.rebuilt(*found)

    def rebuilt(self, left: Left, places: Array, expected: Array) -> list[Node] | None:
        """The roots on the nodes at these places, with inputs as expected."""
        made: list[Node] = []
        for place, inputs in zip(places.tolist(), expected.tolist(), strict=True):
            node = self.order[place]
            if len(node.inputs) > INPUTS and not (inputs := left.found([self.places[x] for x in node.inputs])):
                return None
            made.append(_on(node, [] if inputs[0] == NOTHING else [made[i] for i in inputs[: len(node.inputs)]]))
        return [made[i] for i in left.found(self.roots)] or None


class Left:
    """What is left of a list with gaps: the first entry that is left out, and how many are."""

    def __init__(self, gaps: Sequence[tuple[int, int]]) -> None:
        self.gaps = gaps

    def places(self, places: Array) -> Array:
        """Where entries are then."""
        found = places.copy()
        for first, count in self.gaps:
            found -= np.clip(places - first, 0, count)
        return found

    def entries(self, size: int) -> Array:
        """The entries that are left of so many."""
        starts = [0, *[first + count for first, count in self.gaps]]
        return np.concatenate(
            [np.arange(a, b) for a, b in zip(starts, [*[x for x, _ in self.gaps], size], strict=True)]
        )

    def has(self, places: Array) -> Array:
        """Whether entries are left."""
        there = np.ones(places.shape, bool)
        for first, count in self.gaps:
            there &= (places < first) | (places >= first + count)
        return there

    def found(self, entries: Sequence[int]) -> list[int]:
        """Where entries are then; nothing if one of them isn't left."""
        places = np.array(entries, PLACE)
        return self.places(places).tolist() if self.has(places).all() else []


def left_out(operands: Array, loops: Sequence[Loop], kept: int, times: int) -> tuple[Left, Array, Array] | None:
    """A list without so many times of each loop behind its first `kept`: what is left of it, the entries that are, and where the
    operands of each of these then are; None where what is left would read what isn't there.

    In the shorter list, too, each operand of a loop advances by its stride from where it is the first time; so the last time it
    must be where it is in the whole list.
    """
    width = operands.shape[1]
    left = Left([(loop.start + kept * loop.period, times * loop.period) for loop in loops])
    places = left.entries(len(operands))
    read = operands[places]
    expected, present = left.places(read), left.has(read)
    for loop in loops:
        block = operands[loop.start : loop.stop].reshape(loop.times, loop.period, width)
        stride = np.where(block[0] == NOTHING, 0, block[1] - block[0])
        ends = block[[0, -1]]
        first, last = left.places(ends)
        if not left.has(ends).all() or (first + (loop.times - times - 1) * stride != last).any():
            return None
        (start,) = left.places(np.array([loop.start]))
        inside = slice(start, start + (loop.times - times) * loop.period)
        number = np.arange(loop.times - times)
        expected[inside] = (first + number[:, None, None] * stride).reshape(-1, width)
        present[inside] = True
    return (left, places, expected) if present.all() else None


def _on(node: Node, inputs: list[Node]) -> Node:
    """A node on other inputs; itself, if these are its own or it has none."""
    if not inputs or all([x is y for x, y in zip(node.inputs, inputs, strict=True)]):
        return node
    return Node(node.op, tuple(inputs), node.attributes, node.type, node.site, node.offset, node.tracked)


def find_repetition(roots: Sequence[Node], given: Collection[Node]) -> Repeated | None:
    """The loops of a graph whose leaves are `given` or have values; None where most of it doesn't repeat. Numbers the nodes, so
    the evaluation lock must be held."""
    walk = begin_walk()
    found = listed(roots, given, WORTH)
    if found is None or not is_latest(walk):
        return None
    order, case, operands, kinds = found
    alone = np.array([kind.__class__ is not tuple for kind in kinds])[case]  # among them the nodes with too many inputs
    places = _forgotten(order, [*roots, *[x for k in np.flatnonzero(alone).tolist() for x in order[k].inputs]])
    loops = find_loops(case, operands)
    loops = [loop for loop in loops if loop.times > 2 * _left_of([loop])]
    if not loops or min([loop.times for loop in loops]) <= 2 * _left_of(loops):
        return None
    if sum([loop.stop - loop.start for loop in loops]) < COVERED * len(order):
        return None
    return Repeated(order, operands, places, roots, loops)


def _forgotten(order: list[Node], read: Sequence[Node]) -> dict[Node, int]:
    """The numbers that will be read again; those of all other nodes are forgotten, for they take a sixth of the memory."""
    places = {x: x.number for x in read}
    for node in order:
        node.number = 0
    return places


def _left_of(loops: Sequence[Loop]) -> int:
    """How many times are left of loops, at least."""
    return max(LEFT, *[1 + LEFT_NODES // loop.period for loop in loops])
