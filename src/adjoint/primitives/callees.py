"""A few elementwise operations on arrays of one shape as one node, which calls them: what an optimizer does to a parameter.

Recording, numbering and finding the plan of a graph cost by the node. A plan has the operations one by one, and whoever reads a
graph as graph gets them written out. Calls are never tracked: what is differentiated is recorded as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any
from weakref import WeakValueDictionary

from adjoint._tuples import NamedTuple
from adjoint.graph import ArrayType, Node, Primitive
from adjoint.graph.node import Site
from adjoint.primitives.core import SELECT

__all__ = ["CALL", "Callee", "CalledStep", "call", "callee_of", "written_out"]


class CalledStep(NamedTuple):
    """An operation on values at places: what a call is given comes first, then the steps in order."""

    op: Primitive
    attributes: Any
    places: tuple[int, ...]
    type: ArrayType
    site: Site
    offset: int


class Callee:
    """The operations of a call: of so many values `given`, by `steps`, those at the places `outputs`. Two that do the same are
    one object, so that a plan's key has that in place of the steps."""

    __slots__ = (
        "__weakref__", "alone", "every_type", "given", "kernels", "last", "masks", "outputs", "sites", "steps", "takes",
        "types",
    )  # fmt: skip

    def __init__(self, given: int, steps: tuple[CalledStep, ...], outputs: tuple[int, ...]) -> None:
        self.given, self.steps, self.outputs = given, steps, outputs
        self.types = tuple([steps[k - given].type for k in outputs])
        self.kernels = [step.op.kernel(step.attributes, step.type) for step in steps]
        # whether a NaN may come or go in it, which steps tell one by one
        self.masks = any([step.op.masked is not None or step.op.swallows for step in steps])
        self.sites = [(step.site, step.offset) for step in steps]
        self.every_type = [step.type for step in steps]
        self.takes = [_taking(step.places) for step in steps]  # what a step reads, of all values
        # the steps on arrays that read nothing but what is given, which may be numbers alone, and where
        self.alone = [(k, x.places) for k, x in enumerate(steps) if x.type.shape != () and max(x.places) < given]
        last = {place: k for k, step in enumerate(steps) for place in step.places if place >= given}
        self.last: list[list[int]] = [[] for _ in steps]  # the places that nobody reads after each step
        for place, k in last.items():
            if place not in outputs:
                self.last[k].append(place)

    def __repr__(self) -> str:
        return f"<{len(self.steps)} operations>"

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """The outputs, by NumPy's kernels."""
        values = list(arrays)
        for kernel, step, last in zip(self.kernels, self.steps, self.last, strict=True):
            values.append(kernel(*[values[k] for k in step.places]))
            for place in last:
                values[place] = None
        return tuple([values[k] for k in self.outputs])


def _taking(places: tuple[int, ...]) -> Callable[[list[Any]], tuple[Any, ...]]:
    """A function of a list that gives what it has at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    (place,) = places
    return lambda values: (values[place],)


_known: WeakValueDictionary[Any, Callee] = WeakValueDictionary()


def callee_of(given: int, steps: Sequence[CalledStep], outputs: Sequence[int]) -> Callee:
    """The callee with these operations."""
    key = (given, tuple([(*step[:3], step.type.code) for step in steps]), tuple(outputs))
    found = _known.get(key)
    if found is None:
        found = _known[key] = Callee(given, tuple(steps), tuple(outputs))
    return found


def call(callee: Callee, inputs: Sequence[Node]) -> list[Node]:
    """The outputs of a call. Where that takes fewer nodes, the operations are recorded themselves."""
    outputs = callee.outputs
    if len(callee.steps) <= len(outputs) + 1:
        return written_out(callee, inputs)
    node = Node(CALL, tuple(inputs), callee, callee.types, None, 0, False)
    return [Node(SELECT, (node,), k, type, None, 0, False) for k, type in enumerate(callee.types)]


def written_out(callee: Callee, inputs: Sequence[Node]) -> list[Node]:
    """The outputs of a call as ordinary graph of its inputs."""
    nodes = list(inputs)
    for op, attributes, places, type, site, offset in callee.steps:
        nodes.append(Node(op, tuple([nodes[k] for k in places]), attributes, type, site, offset, False))
    return [nodes[k] for k in callee.outputs]


def _kernel(callee: Callee, type: Any) -> Callable[..., Any]:
    return callee


CALL = Primitive("call", _kernel)
