"""Loop rerolling: what a loop in Python unrolled into a graph becomes scans again.

A loop in Python records each step anew, and the reverse pass does too. The nodes are listed inputs first, and the stretches that
repeat are found (see `plan.matching`): step t of a loop has the same operations as step 0, and what each of them reads lies at
b + t * stride. So it is one of these:

    a constant       stride 0
    a carry          what one of the steps before computed
    a slice          what lies outside, a row for each step: what another loop computed, or numbers that differ

Parts taken of an array at places that advance by a fixed stride (`data[t]`, `data[t - 1]`) are slices of it. Parts that are added
up at such places, the gradient of those, are stacked and added after the loop. What is read of a loop from outside is stacked
too, but for what its last step alone gives. A loop that carries nothing on is computed for all steps at once, and so is a sum of
products over the steps (J. Appleyard, T. Kočiský and P. Blunsom, "Optimizing performance of recurrent neural networks on
GPUs", 2016): these sum in another order, and are left out under `set_deterministic`. Nothing else changes any bit.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from adjoint.control.reroll.graph import Graph
from adjoint.control.reroll.loops import INPUTS, LEAST, slices_of
from adjoint.control.scan import SCAN
from adjoint.derive import PULLBACK, expand
from adjoint.execution.evaluate import evaluation_lock
from adjoint.graph import Node, mode, topological
from adjoint.graph.collector import without_collector
from adjoint.plan.canonical import begin_walk, is_latest
from adjoint.plan.listing import NOTHING, Listing, Only, listed, numbered, with_kinds
from adjoint.plan.matching import Loop, find_loops
from adjoint.plan.plan import NEVER_MERGED
from adjoint.primitives.core import FULL, SELECT
from adjoint.primitives.structural import INDEX, SLICE

__all__ = ["reroll"]

Array = np.ndarray[Any, Any]
Merged = tuple[
    Listing, dict[Node, int]
]  # a list, and the places of the roots and of what nodes with too many inputs read
PENDING = "pullbacks are pending"

WORTH = Only(15_000, None, INPUTS)  # a smaller graph is planned as it is
# Of fewer nodes than so many, graphs of arrays of so few elements on average stay: single numbers need no compiler, see
# `machine.numbers`.
FEWEST_NUMBERS, NUMBERS_ON_AVERAGE = 20_000, 4
# A scan costs as much to start as so many nodes in a program, on arrays and on single numbers.
NODES_A_SCAN, NUMBERS_A_SCAN = 750, 7_500
INNER_LOOPS = 16  # that may become one scan in another
GAP = 256  # nodes between two of kinds that come once: half of a graph must lie in such gaps
WORTH_AGAIN = Only(500, None, INPUTS)  # a graph in which loops were found
SHORTEST, WIDEST = 48, 512  # nodes of a loop, and of its body
LEFT = 0.6  # of the nodes may be left where loops were found
# Nodes of the body, and times, of an inner loop that isn't left written out in the outer one's body.
INNER, LONG_INNER = 64, 64
NUMBERS = (float, int)  # which may differ from step to step
ALONE = frozenset({INDEX, SLICE, *NEVER_MERGED})  # what isn't merged with what is equal


def reroll(roots: Sequence[Node], given: Collection[Node], count: int | None = None) -> list[Node] | None:
    """Nodes with the values of the roots, in which loops are scans; None where there are none. Values are `given` for these
    nodes. Loops in loops are found inside first, and then the loop of scans around them. Pending pullbacks are written out first:
    what they stand for is derived from the graph as it was recorded. To be told the `count` of nodes saves time."""
    with evaluation_lock():
        listing = without_collector(_first_listed, roots, given, count)
    if listing is None:
        return None
    nodes = list(roots)
    plain = None
    if listing is PENDING:  # with pullbacks written out it is another graph, whose rules have been called
        plain = nodes = expand(roots)
        listing = _listed(nodes, given, WORTH)
    if listing is None:
        return plain
    most = len(listing[0].order) // (NODES_A_SCAN if _mean_size(listing[0]) >= NUMBERS_ON_AVERAGE else NUMBERS_A_SCAN)
    found = _in_passes(listing, nodes, given, most)
    return plain if found is None or _scans(found) > most else found


def _in_passes(listing: Merged | None, nodes: list[Node], given: Collection[Node], most: int) -> list[Node] | None:
    """The listed nodes in which loops are scans, and loops of these; None where there are none, or so many that more than `most`
    will be left of them."""
    before: list[Node] | None = None
    found: list[Node] | None = None
    size = np.inf
    while listing is not None:
        if len(listing[0].order) > LEFT * size:  # what was read one by one takes as many nodes
            return before
        before, size = found, len(listing[0].order)
        with mode(grad=False):
            again = without_collector(_rerolled, listing, nodes, INNER_LOOPS * most)
        if again is None:
            return found
        found = nodes = again
        listing = _listed(nodes, given, WORTH_AGAIN)
    return found


def _scans(roots: Sequence[Node]) -> int:
    """How many scans a graph runs, those in scans in each of their steps."""
    found = [x.attributes for x in topological(roots, lambda x: x.value is None) if x.op is SCAN]
    return sum(
        [1 + loop.length * loop.body.remembered("scans", lambda loop=loop: _scans(loop.body.outputs)) for loop in found]
    )


def _mean_size(listing: Listing) -> float:
    """The elements of an array, on average; those of graphs with loops or branches among them count as many."""
    if any([x.op.graphs is not None for x in listing.order]):
        return np.inf
    size: int = sum([x.type.size for x in listing.order if x.type.__class__ is not tuple])
    return size / len(listing.order)


def _listed(roots: Sequence[Node], given: Collection[Node], only: Only) -> Merged | None:
    """The list of the nodes, and the places of the roots and of what nodes with too many inputs read; None for other graphs than
    `only` says."""
    with evaluation_lock():
        walk = begin_walk()
        found = without_collector(listed, roots, given, only)
        return None if found is None or not is_latest(walk) else _merged(found, roots, only is WORTH)


def _first_listed(roots: Sequence[Node], given: Collection[Node], count: int | None) -> Any:
    """The same of a graph in which loops may be: it is large, its reverse pass included, and most of it lies where all kinds of
    nodes come again. Networks of many layers don't: each has parameters of its own. PENDING where pullbacks are to be written
    out."""
    walk = begin_walk()
    least = WORTH.nodes // 3
    if count is not None and count < least:
        return None
    numbers = numbered(roots, WORTH._replace(nodes=least), GAP, np.inf if count is None else count / 2 + 1)
    if numbers is None:
        return None
    order, ends = numbers.order, numbers.ends
    pending = any([x.op is PULLBACK and x.value is None for x in order])
    if len(order) < WORTH.nodes and not pending:
        return None
    alone = [k for k in ends if order[k].op is not FULL or order[k].value is not None]
    if not _comes_again(alone, len(order)):  # to know these costs less than to know all kinds
        return None
    found = with_kinds(numbers, given, INPUTS)
    if found is None or not is_latest(walk):
        return None
    case = _relaxed(found, loose=True)
    if not _comes_again(np.flatnonzero(np.bincount(case)[case] == 1), len(case)):
        return None
    return PENDING if pending else _merged(found, roots, first=True)


def _comes_again(alone: Sequence[int] | Array, count: int) -> bool:
    """Whether most of so many nodes lie where all kinds come again; at these places kinds don't."""
    gaps = np.diff(np.concatenate([[-1], alone, [count]]))
    return bool(gaps[gaps > GAP].sum() > count / 2)


def _merged(found: Listing, roots: Sequence[Node], first: bool) -> Merged | None:
    """The list without nodes that compute what an earlier one does, just numbered: a reverse pass takes the same transpose in
    each step. None for what is better planned as it is.

    Parts of arrays stay, each where its step is; so do calls of functions of the user's.
    """
    if first and len(found.order) < FEWEST_NUMBERS and _mean_size(found) < NUMBERS_ON_AVERAGE:
        return None
    wide = [x for node in found.order if len(node.inputs) > INPUTS and node.value is None for x in node.inputs]
    places = {x: x.number for x in (*roots, *wide)}
    alone = np.array([k.__class__ is not tuple or k[0] in ALONE for k in found.kinds])[found.case].tolist()
    known: dict[tuple[int, ...], int] = {}
    kept: list[int] = []
    new: list[int] = []  # the place of each node
    for k, (case, row) in enumerate(zip(found.case.tolist(), found.operands.tolist(), strict=True)):
        if alone[k]:
            new.append(len(kept))
            kept.append(k)
            continue
        place = known.setdefault((case, *[new[i] for i in row if i >= 0]), len(kept))
        if place == len(kept):
            kept.append(k)
        new.append(place)
    sequence = _selected_at_once(
        [found.order[k] for k in kept], np.array(new, found.operands.dtype)[found.operands[kept, 0]]
    )
    moved_to = np.empty_like(sequence)
    moved_to[sequence] = np.arange(len(sequence))
    table = np.append(moved_to[new], NOTHING).astype(found.operands.dtype)  # the last one is that of NOTHING
    kept = np.array(kept)[sequence].tolist()
    listing = Listing([found.order[k] for k in kept], found.case[kept], table[found.operands[kept]], found.kinds)
    return listing, {x: int(table[k]) for x, k in places.items()}


def _selected_at_once(order: list[Node], first: Array) -> Array:
    """The places of nodes in an order where each of several results follows the node that gives them, not where it is read: in
    loops of scans a step reads of other steps what can be stacked. `first` are the places of first inputs."""
    keys = np.arange(len(order), dtype=np.float64)
    for k, node in enumerate(order):
        if node.op is SELECT and node.inputs:
            source = int(first[k])
            keys[k] = keys[source] + (node.attributes + 1) / (len(order[source].type) + 2)
    return np.argsort(keys, kind="stable")


def _rerolled(found: Merged, roots: Sequence[Node], most: int) -> list[Node] | None:
    listing, places = found
    for loose in (False, True):
        loops = _loops(_relaxed(listing, loose), listing.operands)
        if 0 < len(loops) <= most:
            graph = Graph(listing, places)
            if graph.take(loops, roots):
                return graph.rebuilt(roots)
    return None


def _loops(case: Array, operands: Array) -> list[Loop]:
    """The loops of a list, in order. Long ones of small bodies come first: the outer one of two loops is found around the scan
    that the inner one becomes, unless the inner one is so short that it may stay written out."""
    free = np.ones(len(case), bool)
    inner = find_loops(case, operands, free, SHORTEST, 0.0, INNER)
    for loop in inner:
        free[loop.start : loop.stop] = loop.times < LONG_INNER
    inner = [loop for loop in inner if loop.times >= LONG_INNER]
    outer = find_loops(case, operands, free, SHORTEST, 0.0, WIDEST)
    return sorted([*inner, *[loop for loop in outer if loop.times >= LEAST]])


def _relaxed(listing: Listing, loose: bool) -> Array:
    """The kinds of nodes, where places that may advance don't count; nor do numbers, if `loose`."""
    known: dict[Any, int] = {}
    table = np.empty(len(listing.kinds), np.int32)
    for k, kind in enumerate(listing.kinds):
        table[k] = known.setdefault(_relaxed_kind(kind, loose), k)
    return table[listing.case]


def _relaxed_kind(kind: Any, loose: bool) -> Any:
    if kind.__class__ is not tuple:
        return kind
    op, attributes, type, count = kind
    if op is FULL:  # then these are the type of the number, the number, and the type of the array
        return (op, attributes, count) if loose and attributes in NUMBERS else kind
    slices = slices_of(op, attributes)
    return kind if slices is None else (op, type, count, tuple([(size, step) for _, size, step in slices]))
