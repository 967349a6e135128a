"""The nodes of a graph in a list, inputs first, the kind of each, and the places of its inputs: what repetition is found in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from adjoint.graph import Node
from adjoint.primitives.core import FULL
from adjoint.primitives.random import RANDOM_BITS
from adjoint.unknown import Unknown

__all__ = ["NOTHING", "Listing", "Only", "listed", "numbered", "with_kinds"]

Array = np.ndarray[Any, Any]

NOTHING = -1  # in place of an input that a node doesn't have
PACKED = 1 << 16  # nodes
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


def numbered(roots: Sequence[Node], only: Only) -> tuple[list[Node], list[int]] | None:
    """The nodes below the roots in a list, inputs first, and the places of those without inputs or with values; None for other
    graphs than `only` says, and those that draw random numbers. Numbers the nodes, so the evaluation lock must be held."""
    largest = only.elements
    order: list[Node] = []
    ends: list[int] = []
    stack = list(roots)[::-1]
    pop, push, meet = stack.pop, stack.append, order.append
    count = 0
    while stack:
        node = pop()
        i = node.number
        if i < count and order[i] is node:
            continue
        inputs = node.inputs
        if not inputs or node.value is not None:
            ends.append(count)
        else:
            several = len(inputs)
            if several == 2:
                x, y = inputs
                i, j = x.number, y.number
                if (
                    i >= count or order[i] is not x
                ):  # the first one comes next: sums that grow over the steps go along with them
                    push(node)
                    if j >= count or order[j] is not y:
                        push(y)
                    push(x)
                    continue
                if j >= count or order[j] is not y:
                    push(node)
                    push(y)
                    continue
            elif several == 1:
                (x,) = inputs
                i = x.number
                if i >= count or order[i] is not x:
                    push(node)
                    push(x)
                    continue
            else:
                waiting = [x for x in inputs if (i := x.number) >= count or order[i] is not x]
                if waiting:
                    push(node)
                    stack += waiting[::-1]
                    continue
            if node.op is RANDOM_BITS:
                return None
            if largest is not None:
                t = node.type
                if t.__class__ is tuple or t.size > largest:
                    return None
        node.number = count
        meet(node)
        count += 1
    return None if count < only.nodes else (order, ends)


def listed(roots: Sequence[Node], given: Collection[Node], only: Only) -> Listing | None:
    """The nodes below the roots, whose leaves are `given` or have values; None where `numbered` gives none, and where attributes
    can't be compared."""
    found = numbered(roots, only)
    return None if found is None else with_kinds(found[0], given, only.inputs)


def with_kinds(order: list[Node], given: Collection[Node], width: int) -> Listing | None:
    """The list of nodes that were just numbered, with the places of so many inputs each; None where attributes can't be
    compared."""
    none = [NOTHING] * width
    fill = none[2:]
    case: list[int] = []
    kinds: dict[Any, int] = {}
    operands: list[int] = []
    packed: list[tuple[Array, Array]] = []  # of those before, in a third of the memory
    add, number, read = case.append, kinds.setdefault, operands.extend
    for node in order:
        inputs = node.inputs
        kind: Any
        if not inputs or node.value is not None:
            kind = _leaf_kind(node, given)
            read(none)
        else:
            several = len(inputs)
            if several == 2:
                x, y = inputs
                read((x.number, y.number, *fill))
            elif several == 1:
                read((inputs[0].number, NOTHING, *fill))
            else:
                read(([x.number for x in inputs[:width]] + none)[:width])
            kind = (node.op, node.attributes, node.type, several) if several <= width else id(node)
        try:
            add(number(kind, len(kinds)))
        except TypeError:
            return None
        if len(case) == PACKED:
            packed.append(_packed(case, operands))
    packed.append(_packed(case, operands))
    cases, places = zip(*packed, strict=True)
    return Listing(order, np.concatenate(cases), np.concatenate(places).reshape(-1, width), list(kinds))


def _packed(case: list[int], operands: list[int]) -> tuple[Array, Array]:
    """Lists as arrays, and emptied."""
    found = np.array(case, np.int32), np.array(operands, PLACE)
    case.clear()
    operands.clear()
    return found


def _leaf_kind(node: Node, given: Collection[Node]) -> Any:
    """What a node without inputs is: a number is the same as an equal one, all else is only itself."""
    value = node.attributes
    if node.op is FULL and node.value is None and node not in given and type(value) is not Unknown:
        return (FULL, type(value), value or repr(value), node.type)  # -0 isn't 0
    return id(node)
