"""Leaves that nobody can read any more once a graph is evaluated: their memory may become that of results.

The moments of an optimizer are such leaves: its step has rebound their names already, and the pending update forgets its
inputs when it has its value. Whether the graph forgets a leaf is part of its structure, found once for each plan; whether
somebody else holds it, reference counts show at each evaluation.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from adjoint._references import COUNTED_IN_LIST, reference_counts
from adjoint.derive import PULLBACK
from adjoint.graph import Node
from adjoint.plan.canonical import Canonical
from adjoint.primitives.core import VERSION

LEAST = 1 << 17  # bytes: less fits the cache beside the result


def forgotten_leaves(c: Canonical) -> tuple[tuple[int, int], ...]:
    """The large leaves that no node refers to after the evaluation: (position, uses in the graph). A tracked node keeps
    its inputs; any other forgets them once it has its value, or is gone."""
    large = {
        x: k
        for k, x in enumerate(c.leaves)
        if type(x.type) is not tuple and x.type.size * x.type.dtype.itemsize >= LEAST and not x.inputs
    }
    if not large:
        return ()
    needed: set[Node] = set()
    stack = [x for x in c.order if x.op is not VERSION and (x.tracked or x.op is PULLBACK)]
    while stack:
        for x in stack.pop().inputs:
            if x not in needed:
                needed.add(x)
                if x.op is not VERSION and x in c.number:
                    stack.append(x)
    uses = Counter(c.edges)
    return tuple([(k, uses[c.number[x]]) for x, k in large.items() if x not in needed and uses[c.number[x]]])


def donated_leaves(c: Canonical, forgotten: tuple[tuple[int, int], ...], arrays: list[Any]) -> frozenset[int]:
    """Those of the forgotten leaves that nothing but this graph holds, nor their arrays anything but the leaf."""
    nodes = reference_counts([c.leaves[k] for k, _ in forgotten])
    values = reference_counts([arrays[k] for k, _ in forgotten])
    return frozenset(
        [
            k
            for (k, uses), node, value in zip(forgotten, nodes, values, strict=True)
            # the leaf: in `order` and `leaves`, maybe in `places`, and in its users' inputs; the array: in the leaf and `arrays`
            if node == COUNTED_IN_LIST + 2 + (c.places is not None) + uses
            and value == COUNTED_IN_LIST + 2
            and is_ours(arrays[k])
        ]
    )


def is_ours(array: Any) -> bool:
    """Whether nobody else can see the array's memory."""
    if type(array) is not np.ndarray or not array.flags.writeable:
        return False
    return array.base is None or getattr(array.base, "lent_once", False)
