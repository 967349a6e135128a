"""The canonical form of what is to be computed: a numbering of the pending graph and the exact key of its plan.

Two evaluations share a plan when their keys are equal, element by element: the same operations and attributes on the
same numbers, leaves of the same types in the same places, the same nodes asked for. Ordinary floats and the values of
leaves are not in the key but among the plan's inputs, so a replay with other numbers is never stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from sys import _getframe
from types import FrameType
from typing import Any

from adjoint._references import COUNTED_IN_LIST
from adjoint.derive import PULLBACK
from adjoint.graph import Kept, Node
from adjoint.primitives.core import FULL, LEAF, SELECT, is_literal
from adjoint.primitives.custom import HOST_CALL
from adjoint.unknown import Unknown

FLOAT_SLOT = "a number"
TRACERS = ("adjoint.tracer.", "adjoint.transforms.")  # modules whose functions trace
_walks = [0]  # how many graphs were numbered


def begin_walk() -> int:
    """The number of a walk that numbers nodes, from now on the latest."""
    _walks[0] += 1
    return _walks[0]


def is_latest(walk: int) -> bool:
    """Whether nodes were not numbered anew since that walk began."""
    return walk == _walks[0]


class Canonical:
    """A numbered graph. `order[i]` is node i, the roots first; `leaves` are those whose values go in; `numbers` the free
    constants, and `alike` those that are one of these: (node, which). Of a graph that native code recognised, `arrays` are the
    values of the leaves, if they are all arrays, and `unchanged` says whether its nodes are held as they were the last time."""

    __slots__ = (
        "alike",
        "arrays",
        "edges",
        "entries",
        "leaves",
        "numbers",
        "order",
        "places",
        "pullbacks",
        "roots",
        "structural",
        "unchanged",
        "walk",
    )

    def __init__(self, roots: Sequence[Node], structural: bool) -> None:
        self.walk = begin_walk()
        self.structural = structural
        self.order: list[Node] = list(dict.fromkeys(roots))
        self.roots = len(self.order)
        self.places: dict[Node, int] | None = None
        self.entries: list[Any] = []
        self.edges: list[int] = []
        self.leaves: list[Node] = []
        self.numbers: list[tuple[Any, Node]] = []
        self.alike: list[tuple[Node, int]] = []
        self.pullbacks: list[Node] = []
        self.arrays: list[Any] | None = None
        self.unchanged: bool | None = None

    @property
    def number(self) -> dict[Node, int]:
        """The number of each node."""
        if self.places is None:
            self.places = {x: i for i, x in enumerate(self.order)}
        return self.places

    @property
    def is_latest(self) -> bool:
        """Whether no other graph was numbered since. Under the lock only a finalizer that evaluates does that, and its values
        may make this graph another one."""
        return self.walk == _walks[0]

    def note_numbers(self) -> None:
        """Let the nodes note their numbers, where the order was found without them."""
        for i, node in enumerate(self.order):
            node.number = i

    def join_numbers(self) -> tuple[int, ...]:
        """Let free constants of a type that are the same unknown number be one; for each of them, which one it is now."""
        places: dict[Any, int] = {}
        found: list[int] = []
        kept: list[tuple[Any, Node]] = []
        for value, node in self.numbers:
            same = (value.ledger, value.name, node.type) if type(value) is Unknown else node
            place = places.setdefault(same, len(kept))
            if place == len(kept):
                kept.append((value, node))
            else:
                self.alike.append((node, place))
            found.append(place)
        self.numbers = kept
        return tuple(found)

    def __contains__(self, node: Node) -> bool:
        """Whether a node has a number here. To be asked before another graph is numbered."""
        i = node.number
        return i < len(self.order) and self.order[i] is node


def canonicalize(roots: Sequence[Node], structural: bool = False, given: Collection[Node] = ()) -> Canonical:
    """Number the pending graph below the roots, in the order in which a walk from them meets its nodes first. Those `given`
    will have values when the plan runs.

    A node notes its number itself, which is faster than a dictionary: so this is done under the evaluation lock. What it
    notes counts only if that place in the order is its own, whatever older walks have left.

    Where a pullback is pending, everything that was recorded counts and not just what has no value yet: then the walk
    is `structural`, and tracked nodes that hold a value are entered all the same.
    """
    c = Canonical(roots, structural)
    passed = False  # whether the walk took a node for a leaf that a structural one would have entered
    order, leaves, count = c.order, c.leaves, c.roots
    entry, edge, meet = c.entries.append, c.edges.append, order.append
    for i, node in enumerate(order):
        node.number = i
    for node in order:  # which grows on the way
        inputs = node.inputs
        held = node.value is not None
        if inputs and (not held or (structural and node.tracked)):
            for x in inputs:
                i = x.number
                if i >= count or order[i] is not x:
                    x.number = i = count
                    meet(x)
                    count += 1
                edge(i)
            op = node.op
            entry(op)
            entry(node.tracked)
            attributes = node.attributes
            if attributes is not None:
                entry(attributes if op.key is None else op.key(attributes))
            if op.variadic:
                entry(len(inputs))
                if op is PULLBACK:
                    c.pullbacks.append(node)
                elif op is SELECT and not structural and inputs[0].op is PULLBACK and inputs[0].value is None:
                    if passed:
                        return canonicalize(roots, True, given)
                    structural = c.structural = True
            if held:
                entry("held")
                leaves.append(node)
        elif held or node.op is not FULL:
            if not held and not inputs and node.op is HOST_CALL:
                c.entries += [HOST_CALL, node.attributes, 0]
                continue
            if not held and node not in given:
                _refuse_placeholder(node)
            passed = passed or (node.tracked and bool(inputs))
            kind = node.type
            entry(node.tracked)
            entry(kind.code if type(kind) is not tuple else tuple([t.code for t in kind]))
            leaves.append(node)
        else:
            value = node.attributes
            entry(FULL)
            entry(node.type.code)
            if is_literal(value):
                entry(value)
            else:
                entry(FLOAT_SLOT)
                c.numbers.append((value, node))
    return c if c.is_latest else canonicalize(roots, c.structural, given)


class ValueNeededError(RuntimeError):
    """The value of something traced was asked for."""


def _refuse_placeholder(node: Node) -> None:
    what = repr(node.attributes)
    if node.op is LEAF:  # a variable, read by a traced function
        name = None if node.attributes is None else node.attributes.name
        what = f"the variable {name!r}" if name else "a variable"
    if not _is_tracing():
        raise ValueNeededError(
            f"this tensor has no value: it was made while a function was traced, where {what} stood for the value of each call. "
            f"Return it from that function (under jit or vmap) instead of keeping it elsewhere"
        )
    raise ValueNeededError(
        f"a value is needed here, but {what} has none: inside a traced function (vmap, jit, a loop's body) shapes are known "
        "and numbers are not; use ad.where or ad.cond instead of `if`, ad.while_loop instead of `while`, ad.stack instead of "
        "np.array, return a tensor and take its number (float, item, numpy, print) from the result, or keep this input out of "
        "the tracing"
    )


def _is_tracing() -> bool:
    """Whether this is called from inside a traced function: below a frame of what traces."""
    frame: FrameType | None = _getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(TRACERS) and frame.f_code.co_name not in (
            "evaluate",
            "run",
        ):
            return True
        frame = frame.f_back
    return False


def external_references(c: Canonical, references: Sequence[int]) -> list[int]:
    """The numbers of the pending nodes that something outside this graph refers to, by the `reference_counts` of its order.

    A tensor that somebody holds will be asked for, or not; its value costs little now and a whole evaluation later. A
    reference count above what the graph itself explains shows it. So does a reverse pass of which somebody holds another
    gradient: all its gradients are computed when the first is asked for.
    """
    order = c.order
    explained = Counter(c.edges)
    explained.update([x.number for x in c.pullbacks])  # that list holds them too
    return [
        i
        for i, count in enumerate(references)
        if count > COUNTED_IN_LIST + explained[i] and order[i].value is None and order[i].inputs
    ]


def value_array(node: Node) -> Any:
    """The array of a node that has one."""
    value = node.value
    return value.array if type(value) is Kept else value
