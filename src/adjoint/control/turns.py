"""Loops and branches written out as the turns that they take, for pictures: what is computed stays the same.

A scan becomes its steps, a while loop as many as it takes with the values at hand, a branch all its bodies and a choice
among their results. A loop of too many operations stays the node that it is, and so do a while loop inside another loop and
branches with one inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from adjoint.control.body import Body
from adjoint.control.branch import SWITCH
from adjoint.control.repeat import WHILE
from adjoint.control.scan import SCAN, SCANNED
from adjoint.dtypes import bool_
from adjoint.graph import Located, Node, Scope, mode, topological
from adjoint.picture import Decision, Turn, compute
from adjoint.primitives.core import CAST, PLACEHOLDER, SELECT, ops

__all__ = ["MAX_OPERATIONS", "WrittenOut", "write_out"]

MAX_OPERATIONS = 2_000  # of all loops of a graph; what is more stays one node


@dataclass(slots=True, eq=False, repr=False)
class WrittenOut:
    """A graph with its loops written out.

    new          what became of each node of the graph that was given, where another took its place
    turns        the turns that a node belongs to, the outermost first
    decisions    what has to stay as it is for the turns to be these
    """

    root: Node
    new: dict[Node, Node] = field(default_factory=dict)
    turns: dict[Node, tuple[Turn, ...]] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def write_out(root: Node) -> WrittenOut:
    """The graph of a node with its loops and branches as the turns that they take."""
    found = WrittenOut(root)
    order = topological([root], lambda node: bool(node.inputs))
    loops = [node for node in order if node.op in (SCAN, WHILE, SWITCH)]
    if not loops or _stands_in_a_body(root):
        return found
    found.root = _Writer(found).written([root], found.new, ())[0]
    return found


class _Writer:
    """Writes loops out until as many operations were made as a picture holds."""

    def __init__(self, found: WrittenOut) -> None:
        self.found = found
        self.left = MAX_OPERATIONS
        self.count = 0  # loops so far
        self.lengths: dict[Node, int] = {}

    def written(self, roots: Sequence[Node], new: dict[Node, Node], turns: tuple[Turn, ...]) -> list[Node]:
        """The roots, with `new` for what is known already; what is made belongs to these turns."""
        results: dict[Node, list[Node]] = {}
        for node in self._order(roots, new):
            if node in new:
                continue
            loop = _loop(node.inputs[0]) if node.op is SELECT and node.inputs else None
            if loop is not None and self._length(loop) is not None:
                if loop not in results:
                    results[loop] = self._results(loop, new, turns)
                new[node] = results[loop][node.attributes]
            elif any([x in new for x in node.inputs]):
                inputs = tuple([new.get(x, x) for x in node.inputs])
                attributes = node.attributes
                if node.op.copied is not None:
                    attributes = node.op.copied(node, {**new, **dict(zip(node.inputs, inputs, strict=True))}, False)
                new[node] = Node(node.op, inputs, attributes, node.type, node.site, node.offset, node.tracked)
        return [new.get(root, root) for root in roots]

    def _order(self, roots: Sequence[Node], new: Mapping[Node, Node]) -> list[Node]:
        """The nodes below, inputs first; below a loop that is written out only what it was called with."""
        order: dict[Node, None] = {}
        stack = list(roots)
        while stack:
            node = stack[-1]
            missing = (
                [x for x in self._below(node, new) if x not in order and x not in new] if node not in order else []
            )
            if missing:
                stack += missing
            else:
                order.setdefault(stack.pop())
        return list(order)

    def _below(self, node: Node, new: Mapping[Node, Node]) -> Sequence[Node]:
        if node in new:
            return ()
        if node.op is SCANNED and self._length(_loop(node)) is not None:
            return _loop(node).inputs
        return node.inputs

    def _length(self, loop: Node) -> int | None:
        """How many turns a loop takes; None for one that isn't written out, and for what is no loop."""
        if loop.op not in (SCAN, WHILE, SWITCH):
            return None
        if loop not in self.lengths:
            self.lengths[loop] = self._decided(loop)
        return None if self.lengths[loop] < 0 else self.lengths[loop]

    def _decided(self, loop: Node) -> int:
        bodies = _bodies(loop)
        if loop.op is SWITCH:
            if _has_while(bodies):  # all branches are computed, and one that isn't taken may take turns without end
                self._note("cond: a branch with a while_loop stays one operation")
                return -1
            length = 1
        elif loop.op is WHILE:
            if _stands_in_a_body(loop):  # in each turn around it, it may take other turns
                self._note("while_loop: inside another loop it stays one operation")
                return -1
            length = int(compute([loop], lambda value: int(value[-1]))[loop])
        else:
            length = loop.attributes.length
        work = length * sum(len(topological(body.outputs, lambda x: x.value is None)) for body in bodies)
        if not length:
            return -1
        if work > self.left:
            self._note(f"{loop.op.name}: its {length:,} turns are too many to be written out")
            return -1
        self.left -= work
        return length

    def _note(self, note: str) -> None:
        if note not in self.found.notes:
            self.found.notes.append(note)

    def _results(self, loop: Node, new: Mapping[Node, Node], turns: tuple[Turn, ...]) -> list[Node]:
        inputs = [new.get(x, x) for x in loop.inputs]
        self.count += 1
        if loop.op is SWITCH:
            return self._branches(loop, inputs, turns)
        return self._while(loop, inputs, turns) if loop.op is WHILE else self._scan(loop, inputs, turns)

    def _applied(self, outputs: Sequence[Node], given: Mapping[Node, Node], turns: tuple[Turn, ...]) -> list[Node]:
        """A body's outputs on these inputs, its own loops written out too."""
        own = dict(given)
        found = self.written(outputs, own, turns)
        for old, made in own.items():
            if old not in given:
                self.found.turns.setdefault(made, turns)
        return found

    def _scan(self, loop: Node, inputs: list[Node], turns: tuple[Turn, ...]) -> list[Node]:
        scan, depth = loop.attributes, len(_chain(loop))
        constants, state, sliced = scan.split(inputs)
        scope = _scope_of(scan.body.outputs, depth)
        ys: list[list[Any]] = [[None] * scan.length for _ in scan.body.outputs[scan.carries :]]
        for k, t in enumerate(scan.steps()):
            here = (*turns, Turn(self.count, k, scan.length, depth))
            with mode(site=scope or loop.site, offset=loop.offset):
                slices = [self._slice(here, x, t) for x in sliced]
            given = dict(zip(scan.body.inputs, [*constants, *state, *slices], strict=True))
            found = self._applied(scan.body.outputs, given, here)
            state = found[: scan.carries]
            for y, value in zip(ys, found[scan.carries :], strict=True):
                y[t] = value
        with mode(site=scope or loop.site, offset=loop.offset):
            return [*state, *[self._stacked(turns, y) for y in ys]]

    def _while(self, loop: Node, inputs: list[Node], turns: tuple[Turn, ...]) -> list[Node]:
        repeat, depth, length = loop.attributes, len(_chain(loop)), self.lengths[loop]
        constants, state = inputs[: repeat.constants], inputs[repeat.constants :]
        for k in range(length + 1):
            here = (*turns, Turn(self.count, k, length, depth))
            given = dict(zip(repeat.body.inputs, [*constants, *state], strict=True))
            own = dict(zip(repeat.condition.inputs, [*constants, *state], strict=True))
            (goes_on,) = self._applied(repeat.condition.outputs, own, here)
            said = f"while_loop took {length:,} turns when this was recorded. Now it would take another number"
            self.found.decisions.append(Decision(goes_on, k < length, said))
            if k < length:
                state = self._applied(repeat.body.outputs, given, here)
        with mode(site=loop.site, offset=loop.offset):
            return [*state, ops.full(length, loop.type[-1])]

    def _branches(self, loop: Node, inputs: list[Node], turns: tuple[Turn, ...]) -> list[Node]:
        bodies, depth = loop.attributes, len(_chain(loop))
        index, *operands = inputs
        found = []
        for k, body in enumerate(bodies):
            here = (*turns, Turn(self.count, k, len(bodies), depth, "branch"))
            found.append(self._applied(body.outputs, dict(zip(body.inputs, operands, strict=True)), here))
        scope = next(filter(None, [_scope_of(body.outputs, depth) for body in bodies]), None)
        chosen = found[0]
        with mode(site=scope or loop.site, offset=loop.offset):
            for k, branch in enumerate(found[1:], 1):
                is_it = _is_chosen(index, k, len(bodies))
                chosen = [
                    self._in(turns, ops.where(self._wide(is_it, y, turns), y, x))
                    for x, y in zip(chosen, branch, strict=True)
                ]
        return chosen

    def _wide(self, condition: Node, y: Node, turns: tuple[Turn, ...]) -> Node:
        if not y.ndim:
            return condition
        return self._in(turns, ops.broadcast_to(ops.reshape(condition, (1,) * y.ndim), y.shape))

    def _slice(self, turns: tuple[Turn, ...], x: Node, t: int) -> Node:
        part = self._in(turns, ops.slice_(x, ((t, 1, 1), *[(0, n, 1) for n in x.shape[1:]])))
        return self._in(turns, ops.reshape(part, x.shape[1:]))

    def _stacked(self, turns: tuple[Turn, ...], parts: Sequence[Node]) -> Node:
        return self._in(turns, ops.concat([self._in(turns, ops.reshape(y, (1, *y.shape))) for y in parts], 0))

    def _in(self, turns: tuple[Turn, ...], node: Node) -> Node:
        if turns:
            self.found.turns.setdefault(node, turns)
        return node


def _loop(node: Node) -> Node:
    """The scan whose results a node holds together with its residuals; any other node itself."""
    return node.inputs[0].inputs[0] if node.op is SCANNED else node


def _bodies(loop: Node) -> tuple[Body, ...]:
    """What a loop repeats, or the branches."""
    if loop.op is SWITCH:
        branches: tuple[Body, ...] = loop.attributes
        return branches
    return (loop.attributes.body, loop.attributes.condition) if loop.op is WHILE else (loop.attributes.body,)


def _has_while(bodies: Sequence[Body]) -> bool:
    """Whether there is a while loop in some bodies, however deep."""
    inside = [x for body in bodies for x in topological(body.outputs, lambda x: x.value is None)]
    return any(x.op is WHILE or (x.op in (SCAN, SWITCH) and _has_while(_bodies(x))) for x in inside)


def _stands_in_a_body(root: Node) -> bool:
    """Whether a graph begins at stand-ins, which have no values."""
    return any(node.op is PLACEHOLDER and node.value is None for node in topological([root], lambda x: bool(x.inputs)))


def _is_chosen(index: Node, k: int, count: int) -> Node:
    if count == 2 and index.op is CAST and index.inputs[0].dtype is bool_:
        return index.inputs[0]
    compare = ops.less_equal if k == 0 else ops.greater_equal if k == count - 1 else ops.equal
    made: Node = compare(index, k)
    return made


def _chain(node: Node) -> list[Scope]:
    """The scopes around a node, the innermost first."""
    site = node.site
    scope: Scope | None = site.scope if isinstance(site, Located) else site if isinstance(site, Scope) else None
    chain = []
    while scope is not None:
        chain.append(scope)
        scope = scope.parent
    return chain


def _scope_of(outputs: Sequence[Node], depth: int) -> Scope | None:
    """The scope in which a body was recorded, inside as many others."""
    for node in topological(outputs, lambda x: x.value is None):
        chain = _chain(node)
        if len(chain) > depth and node.inputs:
            return chain[-depth - 1]
    return None
