"""Gradients by function as one node, whose reverse pass evaluation finds by the structure of what was recorded.

What `backward()` leaves is such a node; `gradients`, `grad`, `value_and_grad` and `vjp` leave one too, wherever a reverse pass is
long enough to be worth it and nobody needs to see it yet: outside of traced functions and of other transformations, and where
no custom rule is on the way, for its code may look at values.
"""

from __future__ import annotations

from collections.abc import Sequence

from adjoint import tracing
from adjoint.derive import PULLBACK, pullback
from adjoint.graph import Node
from adjoint.primitives.core import FULL, LEAF, PLACEHOLDER, VERSION
from adjoint.primitives.custom import CLOSED, CUSTOM, HOST_CALL
from adjoint.tensors.leaving import is_differentiating

__all__ = ["Deferral", "deferral"]

FEWEST = 24  # nodes: fewer are written down at once, and can be looked at


class Deferral:
    """What lies below an output whose reverse pass may wait.

    alone   nothing but the nodes to differentiate by makes the output tracked
    """

    __slots__ = ("alone", "below", "output")

    def __init__(self, output: Node, below: set[Node], alone: bool) -> None:
        self.output = output
        self.below = below
        self.alone = alone

    def cotangents(
        self, cotangent: Node, wrt: Sequence[Node], *, stop: bool, tracked: bool, again: bool
    ) -> list[Node | None]:
        """The cotangents of `wrt`, None where the output doesn't depend on it: see `derive.pullback`."""
        reached = [x for x in wrt if x in self.below]
        found = iter(pullback(self.output, cotangent, reached, stop=stop, tracked=tracked, again=again))
        return [next(found) if x in self.below else None for x in wrt]


def deferral(output: Node, wrt: Sequence[Node]) -> Deferral | None:
    """How the reverse pass from an output may wait; None where it is to be written down at once.

    A computed node that is tracked and has its value is part of a graph that was evaluated before and may go back far: the key
    of a pullback would hold all of it.
    """
    if not output.tracked or tracing.active() is not None or is_differentiating():
        return None
    wanted = set(wrt)
    below = {output}
    order = [output]
    meet = order.append
    alone = True
    for node in order:  # which grows on the way
        op = node.op
        if op in _LOOKED_AT:
            if op is not LEAF and op is not VERSION:
                if op is not PULLBACK or node.tracked:
                    return None
            elif node.value is None and op is LEAF:
                return None
            elif node.tracked:
                alone = alone and node in wanted
        elif node.tracked and node.value is not None:
            return None
        if node in wanted and not any([x.value is None for x in node.inputs]):
            alone = alone and not any([x.tracked for x in node.inputs])
            continue
        for x in node.inputs:
            if (x.tracked or x.value is None) and x not in below:
                below.add(x)
                if x.op is not FULL:
                    meet(x)
    return None if len(order) < FEWEST else Deferral(output, below, alone)


_LOOKED_AT = frozenset({LEAF, VERSION, CUSTOM, HOST_CALL, CLOSED, PLACEHOLDER, PULLBACK})
