"""Constants that are cut from a graph: they get their values with it, or each would keep all that it was computed from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint._references import COUNTED_IN_LIST, reference_counts
from adjoint.graph import Node
from adjoint.plan.canonical import Canonical
from adjoint.primitives.core import WATCHED


def cut_from(c: Canonical) -> list[Node]:
    """The watched constants that somebody still holds and whose source this graph computes; forget the settled ones."""
    if all([x in c for x in WATCHED]):
        WATCHED.clear()
        return []
    alive = _held()
    found = [x for x in alive if x.inputs[0] in c and x not in c]
    WATCHED[:] = [x for x in alive if x not in c and x.inputs[0] not in c]
    return found


def recognised_with_cut(roots: list[Node], recognised: Callable[[list[Node]], Any]) -> tuple[list[Node], Any]:
    """These roots with the watched constants that are cut from their graph, if such a graph is recognised, and what that found:
    it was met as one of all of these. It is tried with all constants that are watched, and with those that are cut from roots."""
    alive, asked = _held(), set(roots)
    for cut in (alive, [x for x in alive if x.inputs[0] in asked]):
        both = [*roots, *[x for x in cut if x not in asked]]
        met = recognised(both) if len(both) > len(roots) else None
        if met is not None:
            WATCHED[:] = [x for x in alive if x not in both]
            return both, met
    return roots, None


def _held() -> list[Node]:
    """The watched constants without a value that somebody still holds."""
    counts = reference_counts(WATCHED)
    return [x for x, count in zip(WATCHED, counts, strict=True) if x.value is None and count > COUNTED_IN_LIST]
