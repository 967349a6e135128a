"""The nodes of a graph in a list, inputs first, the kind of each, and the places of its inputs: what repetition is found in."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.graph import Node
from adjoint.primitives.core import FULL
from adjoint.primitives.random import RANDOM_BITS
from adjoint.unknown import Unknown

__all__ = ["NOTHING", "Listing", "Only", "listed", "numbered", "with_kinds"]

Array = np.ndarray[Any, Any]

NOTHING = -1  # in place of an input that a node doesn't have
PLACE = np.int32  # a graph of more nodes doesn't fit into memory


class Listing(NamedTuple):
    """Nodes, inputs first.

    case       the kind of each, as a number
    operands   the places of its inputs, `NOTHING` for those that it doesn't have or that are too many
    kinds      the kind of each number: (operation, attributes, type, number of inputs); for a leaf, and for a node of more inputs
               than fit, something of its own
    """

    order: list[Node]
    case: Array
    operands: Array
    kinds: list[Any]


class Only(NamedTuple):
    """Which graphs are listed: of so many nodes at least, of arrays of so many elements at most (None: of any, several arrays
    together too), with the places of so many inputs each."""

    nodes: int
    elements: int | None
    inputs: int


class Numbered(NamedTuple):
    """Nodes, inputs first; `ends` are the places of those without inputs or with values. `first` and `second` are the places of
    what each node reads, `NOTHING` where it reads less; `more` are those of nodes that read more, by their places."""

    order: list[Node]
    ends: list[int]
    first: array[int]
    second: array[int]
    more: dict[int, list[int]]

    def operands(self, width: int) -> Array:
        """The places of so many inputs of each node."""
        found = np.full((len(self.order), width), NOTHING, PLACE)
        found[:, 0], found[:, 1] = self.first, self.second
        for k, places in self.more.items():
            found[k, : len(places)] = places[:width]
        return found

    def counts(self) -> list[int]:
        """How many inputs each node has."""
        found = (np.array(self.first) >= 0) + (np.array(self.second) >= 0).astype(np.intp)
        for k, places in self.more.items():
            found[k] = len(places)
        return found.tolist()  # type: ignore[no-any-return]


def numbered(roots: Sequence[Node], only: Only, gap: int = 0, most: float = math.inf) -> Numbered | None:
    """The nodes below the roots in a list, inputs first; None for other graphs than `only` says, those that draw random
    numbers, and those of which more than `most` nodes lie in a `gap` of so many between two that are like no other. Numbers the
    nodes, so the evaluation lock must be held."""
    largest = only.elements
    found = Numbered([], [], array("i"), array("i"), {})
    order, first, second = found.order, found.first.append, found.second.append
    stack = list(roots)[::-1]
    pop, push, meet = stack.pop, stack.append, order.append
    count, alone = 0, -1  # the last node that is like no other
    while stack:
        node = pop()
        i = node.number
        if i < count and order[i] is node:
            continue
        while True:  # down to a node whose inputs have numbers
            inputs = node.inputs
            if not inputs or node.value is not None:
                found.ends.append(count)
                if node.op is not FULL or node.value is not None:
                    if count - alone <= gap:
                        most -= count - alone
                        if most < 0:
                            return None
                    alone = count
                i = j = NOTHING
                break
            several = len(inputs)
            if several == 2:
                x, y = inputs
                i, j = x.number, y.number
                if i >= count or order[i] is not x:  # it comes first: sums that grow over the steps go along with them
                    push(node)
                    if j >= count or order[j] is not y:
                        push(y)
                    node = x
                    continue
                if j >= count or order[j] is not y:
                    push(node)
                    node = y
                    continue
            elif several == 1:
                (x,) = inputs
                i, j = x.number, NOTHING
                if i >= count or order[i] is not x:
                    push(node)
                    node = x
                    continue
            else:
                waiting = [x for x in inputs if (i := x.number) >= count or order[i] is not x]
                if waiting:
                    push(node)
                    stack += waiting[:0:-1]
                    node = waiting[0]
                    continue
                places = found.more[count] = [x.number for x in inputs]
                i, j = places[:2]
            if node.op is RANDOM_BITS:
                return None
            if largest is not None:
                t = node.type
                if t.__class__ is tuple or t.size > largest:
                    return None
            break
        node.number = count
        meet(node)
        first(i)
        second(j)
        count += 1
    return None if count < only.nodes else found


def listed(roots: Sequence[Node], given: Collection[Node], only: Only) -> Listing | None:
    """The nodes below the roots, whose leaves are `given` or have values; None where `numbered` gives none, and where attributes
    can't be compared."""
    found = numbered(roots, only)
    return None if found is None else with_kinds(found, given, only.inputs)


def with_kinds(found: Numbered, given: Collection[Node], width: int) -> Listing | None:
    """The list of nodes that were just numbered, with the places of so many inputs each; None where attributes can't be
    compared."""
    case: list[int] = []
    kinds: dict[Any, int] = {}
    add, number = case.append, kinds.setdefault
    try:
        for node, several in zip(found.order, found.counts(), strict=True):
            kind: Any = node.op, node.attributes, node.type, several
            if not several:
                kind = _leaf_kind(node, given)
            elif several > width:
                kind = id(node)
            add(number(kind, len(kinds)))
    except TypeError:
        return None
    return Listing(found.order, np.array(case, np.int32), found.operands(width), list(kinds))


def _leaf_kind(node: Node, given: Collection[Node]) -> Any:
    """What a node without inputs is: a number is the same as an equal one, all else is only itself."""
    value = node.attributes
    if node.op is FULL and node.value is None and node not in given and type(value) is not Unknown:
        return (FULL, type(value), value or repr(value), node.type)  # -0 isn't 0
    return id(node)
