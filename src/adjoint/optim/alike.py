"""Parameters that are alike: what an optimizer records for the first of them is made anew for the others.

An update that goes element by element records the same operations for all parameters whose types, hyperparameters and counts are
the same; so what it recorded once is a list, and others take their places in it. That takes a third of the time, and in a traced
function a half. Constants are shared, so that the graph has one of each and not one for every parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from adjoint.graph import Node, topological
from adjoint.primitives.core import CAST, FULL
from adjoint.tensors import Tensor
from adjoint.tensors.assignment import rebind
from adjoint.unknown import Unknown

__all__ = ["Turn", "Update", "given", "kind_of", "recorded_update"]

Turn = tuple[Tensor, Tensor, Any, Any]  # parameter, gradient, state, group


class Update(NamedTuple):
    """What was recorded for one parameter: constants, then nodes, each with the places of its one or two inputs among what is
    given (parameter, gradient, tensors of the state, constants) and the nodes before; the places of the parameter's new value and
    of those of the state's tensors, by name; its new numbers by name."""

    constants: list[Node]
    steps: list[tuple[Any, int, int | None, Any, Any, Any, int]]
    result: int
    tensors: list[tuple[str, int]]
    numbers: list[tuple[str, Any]]

    def repeat(self, turn: Turn, before: Sequence[Node]) -> None:
        """Record it for a parameter that is alike, and `before` what is given of it. The optimizer settles all of it."""
        parameter, _, state, _ = turn
        nodes = [*before, *self.constants]
        meet = nodes.append
        for op, place, other, attributes, kind, site, offset in self.steps:
            inputs = (nodes[place],) if other is None else (nodes[place], nodes[other])
            meet(Node(op, inputs, attributes, kind, site, offset, False))
        for name, place in self.tensors:
            rebind(dict.__getitem__(state, name), nodes[place], True)
        for name, number in self.numbers:
            state[name] = number
        rebind(parameter, nodes[self.result], True)


def kind_of(turn: Turn, before: Sequence[Node]) -> Any:
    """What decides how a parameter is updated, of which `before` is given; None where more than that may."""
    _, _, state, group = turn
    parameter, gradient, *others = before
    if gradient.op is FULL or parameter.type.dtype.narrow:
        return None
    parts: list[Any] = [id(group), parameter.type.code, gradient.type.code]
    tensors = iter(others)
    for name, value in state.items():
        if isinstance(value, Tensor):
            parts += name, next(tensors).type.code
            continue
        number = state[name]  # which stands for that of each call while a function is traced
        if type(number) is Unknown:
            parts += name, Unknown, number.name
        else:
            parts += name, type(number), number
    return tuple(parts)


def given(turn: Turn) -> list[Node]:
    """The nodes that an update begins with."""
    parameter, gradient, state, _ = turn
    return [parameter.node, gradient.node, *[value.node for value in state.values() if isinstance(value, Tensor)]]


def recorded_update(turn: Turn, before: Sequence[Node], names: Sequence[str], result: Tensor) -> Update | None:
    """What was recorded for a parameter: `before` was given, `names` were the entries of its state, `result` is its new value.
    None where the update may have done anything else."""
    _, _, state, _ = turn
    if list(state) != names or len(set(before)) < len(before):
        return None
    values = {name: value.node for name, value in state.items() if isinstance(value, Tensor)}
    known = set(before)
    found = [x for x in topological([result.node, *values.values()], lambda x: x not in known) if x not in known]
    constants = [x for x in found if x.op is FULL and x.value is None]
    place = {x: k for k, x in enumerate([*before, *constants])}
    steps = []
    for node in found:
        if node in place:
            continue
        inputs, op = node.inputs, node.op
        if not (op.elementwise or op is CAST) or not 1 <= len(inputs) <= 2 or node.tracked or node.value is not None:
            return None
        other = place[inputs[1]] if len(inputs) == 2 else None
        steps.append((op, place[inputs[0]], other, node.attributes, node.type, node.site, node.offset))
        place[node] = len(place)
    tensors = [(name, place[node]) for name, node in values.items()]
    numbers = [(name, state[name]) for name, value in state.items() if not isinstance(value, Tensor)]
    return Update(constants, steps, place[result.node], tensors, numbers)
