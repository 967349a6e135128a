"""The conditions on variables by which Python chose while a graph was recorded, for the page that moves these variables."""

from __future__ import annotations

from collections.abc import Mapping

from adjoint.graph import Node, Variable, mode, topological
from adjoint.picture import Decision, compute
from adjoint.picture.model import number_text
from adjoint.primitives.core import ops
from adjoint.tensors.conditions import Condition

__all__ = ["asked_of"]


def asked_of(root: Node, names: Mapping[Node, str]) -> list[Decision]:
    """The conditions on the variables below a node that still come out as they did, and nodes that compute them."""
    decisions = []
    for x in topological([root], lambda node: bool(node.inputs)):
        if type(x.attributes) is Variable:
            name = names.get(x) or x.attributes.name or "a variable"
            found = [_decision(x, name, asked) for asked in x.attributes.asked]
            decisions += [
                d for d in found if bool(compute([d.node])[d.node].item()) == d.outcome
            ]  # it has the value of then
    return decisions


def _decision(x: Node, name: str, asked: Condition) -> Decision:
    sides = ((x, name), (ops.full(asked.number, x.type), number_text(asked.number)))[:: -1 if asked.first else 1]
    with mode(grad=False):
        node = getattr(ops, asked.operation)(*[side for side, _ in sides])
    formula = f" {node.op.symbol} ".join(text for _, text in sides)
    held = "held" if asked.outcome else "did not hold"
    said = f"Python asked whether {formula} ({asked.place}), which {held} when this was recorded. Now it would take the other way"
    return Decision(node, asked.outcome, said)
