"""The transpose of a linear map that is known by what it does forward.

Forward mode reverses the reverse pass. What has a rule for forward mode needs no reverse pass for that: a node stands for
its transpose, is never computed, and has the forward rule as its own reverse rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint.batch import Batch
from adjoint.graph import Node, Primitive, record
from adjoint.primitives.core import no_kernel, placeholder, select

__all__ = ["record_transpose"]

Tangents = Sequence[Node | None]
Push = Callable[[Sequence[Node], Tangents], Sequence[Node | None]]


def record_transpose(
    inputs: Sequence[Node], u: Sequence[Node | None], wanted: Sequence[bool], push: Push
) -> list[Node | None]:
    """What stands for the cotangents of the wanted inputs, given those of the outputs; `push(inputs, tangents)` gives the
    tangents of the outputs."""
    given = [j for j, g in enumerate(u) if g is not None]
    places = [i for i, w in enumerate(wanted) if w and inputs[i].dtype.inexact]
    types = tuple([inputs[i].type for i in places])
    node = record(TRANSPOSE, (*inputs, *[g for g in u if g is not None]), (push, tuple(places), tuple(given)), types)
    found: list[Node | None] = [None] * len(inputs)
    for k, i in enumerate(places):
        found[i] = select(node, k)
    return found


def _vjp(t: Any, node: Node, wanted: Sequence[bool]) -> list[Node | None]:
    push, places, given = node.attributes
    count = len(node.inputs) - len(given)
    tangents: list[Node | None] = [None] * count
    for i, tangent in zip(places, t, strict=True):
        tangents[i] = tangent
    found = push(node.inputs[:count], tangents)
    return [*[None] * count, *[found[j] for j in given]]


TRANSPOSE = Primitive("transpose_of", no_kernel, _vjp, moves=True)


def _batch(b: Batch, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    """The transpose of the forward rule for every example: that is recorded for one, and batched."""
    push, places, given = node.attributes
    count, size, outside = len(node.inputs) - len(given), b.size, b.given

    def push_all(inputs: Sequence[Node], tangents: Tangents) -> list[Node | None]:
        one = [placeholder(x.type, "an input of one example", x.type.inexact) for x in node.inputs[:count]]
        moving = [
            None if t is None else placeholder(x.type, "a tangent of one example", True)
            for x, t in zip(one, tangents, strict=True)
        ]
        stand_ins = dict(zip(one, inputs, strict=True))
        stand_ins |= {x: t for x, t in zip(moving, tangents, strict=True) if x is not None and t is not None}
        return Batch(size, {**outside, **stand_ins}).expand(push(one, moving))

    return b.record(node, b.all_mapped(xs, mapped), (push_all, places, given))


TRANSPOSE.batch = _batch
