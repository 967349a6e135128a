"""What Python asked of a variable when it chose: `if x > 1`. The page of a picture, in which x is moved, watches it."""

from __future__ import annotations

import functools
import os

from adjoint._tuples import NamedTuple

from adjoint.graph import Node, Variable
from adjoint.graph.node import Site, origin_of
from adjoint.primitives.core import FULL, LEAF, VERSION

__all__ = ["Condition", "note"]

MOST = 8  # conditions that a variable remembers, the last ones


class Condition(NamedTuple):
    """A comparison of a variable with a number: the operation, the number, whether it stood first, and how it came out."""

    operation: str
    number: float
    first: bool
    outcome: bool
    place: str


@functools.lru_cache(maxsize=256)
def _place_of(site: Site, offset: int) -> str:
    origin = origin_of(site, offset)
    return f"{os.path.basename(origin.file)}:{origin.line}"


def note(node: Node, inputs: tuple[Node, ...], outcome: bool) -> None:
    """Called where Python took one of two ways by a node's value; its inputs before it was computed, since it lets go of them."""
    if len(inputs) != 2 or node.op.result != "bool":
        return
    for (x, other), first in ((inputs, False), (inputs[::-1], True)):
        variable = x.attributes
        if x.op in (LEAF, VERSION) and type(variable) is Variable and variable.tracked and other.op is FULL:
            place = _place_of(node.site, node.offset)
            found = Condition(node.op.name, other.attributes, first, outcome, place)
            if found not in variable.asked:
                variable.asked = (*[c for c in variable.asked if c[:3] != found[:3] or c.place != place], found)[-MOST:]
