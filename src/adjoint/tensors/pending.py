"""Pending values: forcing them, and seeing to it that what nobody reads doesn't pile up."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import tracing
from adjoint._setting import Setting
from adjoint.execution import ValueNeededError
from adjoint.execution.evaluate import evaluate
from adjoint.graph import Node, topological
from adjoint.graph.node import place_of
from adjoint.primitives.core import is_traced
from adjoint.tensors.leaving import at_asker, instead_of_scipys
from adjoint.tensors.located import at_user

if TYPE_CHECKING:
    from adjoint.tensors.named import Named


def force(nodes: Sequence[Node]) -> None:
    """Evaluate nodes; an error names the line that recorded the operation, or that asked for a value too early."""
    try:
        evaluate(nodes)
    except ValueNeededError as error:
        instead = instead_of_scipys()
        raise ValueNeededError(f"{error}{instead and f'. {instead}'}{at_asker()}") from None


def force_selection(node: Node) -> Any:
    """The array that decides how many elements something has. Under a trace nobody knows it."""
    try:
        return force_array(node)
    except ValueNeededError:
        raise ValueNeededError(
            "the shape of this depends on values, which a traced function (jit, vmap) doesn't know: how many elements a mask "
            "selects, or are nonzero. ad.where(mask, x, 0) keeps the shape, and its sums are those of x[mask]; or select outside "
            f"of the traced function{at_user()}"
        ) from None


def force_array(node: Node) -> Any:
    """The array of a node, evaluated if needed."""
    if type(node.value) is not np.ndarray:
        force([node])
    return node.value


# Tensors updated in place and not read yet. Whatever evaluates for the sake of memory evaluates them too.
_accumulators: dict[int, weakref.ref[Named]] = {}  # by id, since == on tensors is elementwise


def accumulating(tensor: Named) -> None:
    """Remember a tensor that was updated in place."""
    if tracing.active() is not None:
        return
    if len(_accumulators) > 1024:
        for key in [key for key, reference in _accumulators.items() if reference() is None]:
            del _accumulators[key]
    _accumulators[id(tensor)] = weakref.ref(tensor)


def settle(nodes: Sequence[Node], weight: int | None = None) -> None:
    """Evaluate nodes together with what is being accumulated, so that a loop of updates never piles up. `weight` is that of
    what else was recorded since the last look, where what belongs to the nodes isn't to count."""
    if weight is not None:
        recorded_since[0] = weight
    if tracing.active() is not None:
        return  # nothing has a value there, and nothing piles up
    pending = []
    if _accumulators:
        held = [reference() for reference in _accumulators.values()]
        _accumulators.clear()
        asked = set(nodes)
        pending = [t.node for t in held if t is not None and t.node.value is None and t.node not in asked]
    try:
        try:
            evaluate([*nodes, *pending])
        except ValueNeededError:  # some were recorded in a trace that has ended
            pending = [x for x in pending if not _is_traced(x)]
            evaluate([*nodes, *pending])
    except Exception as error:
        # What is wrong with an accumulated value is raised where that is read. It names an operation, with what that raised as
        # its cause; what a signal's handler raises doesn't.
        if not pending or error.__cause__ is None:
            raise
        evaluate(nodes)


def _is_traced(*nodes: Node) -> bool:
    return any(is_traced(x) for x in topological(nodes, lambda x: x.value is None))


LOOK_AFTER = 1 << 22  # elements, each operation counting as 1024 more
LONG_PENDING = 2048  # nodes
LARGE_PENDING = 1024  # nodes, of more than LOOK_AFTER elements together
LONGEST_TURN = 1 << 13  # nodes of large arrays: a turn of a loop that isn't over by then isn't waited for
MOST_TURNS = 64
# Where nodes were recorded that were evaluated because much was pending below them; how many turns of a loop at a time.
_turns: dict[Any, int] = {}
recorded_since = [0, 0]  # the weight of what was recorded since the last look; how many looks there were
# Whether an optimizer is recording a step that it will evaluate.
SETTLING: ContextVar[bool] = ContextVar("adjoint_settling", default=False)


class evaluated_soon(Setting[bool]):
    """Inside, nothing is evaluated because much is pending: the caller gives it, and the `weight` from before, to `settle`."""

    def __init__(self) -> None:
        super().__init__(SETTLING)

    def __enter__(self) -> evaluated_soon:
        self.weight = recorded_since[0]
        self.set(True)
        return self


def count_pending(node: Node) -> None:
    """Called for every untracked operation: now and then, evaluate one that much is pending below.

    So an average that is updated in a loop and never read doesn't grow. What else is alive in that graph gets its value too.
    """
    state = recorded_since
    state[0] += node.type.size + 1024
    if state[0] >= LOOK_AFTER and not SETTLING.get() and tracing.active() is None:
        state[1] += 1
        state[0] = -1031 * (state[1] % 13)  # not in step with a loop: every operation of it gets its turn
        due, large = _due(node)
        for x in due:
            evaluate([x], remember=large)


def _due(node: Node) -> tuple[list[Node], bool]:
    """Which nodes to evaluate if much is pending below this one, and whether that is large. Nobody may hold other nodes of that
    graph when they are evaluated, for what is held is computed and kept."""
    below = topological([node], lambda x: x.value is None)
    pending = elements = 0
    for x in below:
        if is_traced(x):
            return [], False
        if x.value is None and type(x.type) is not tuple:
            pending += 1
            elements += x.type.size
    if elements <= LOOK_AFTER:
        return ([node] if pending > LONG_PENDING else []), False
    if pending <= LARGE_PENDING:  # the next look comes when there may be so many
        missing = (LARGE_PENDING - pending) * (elements // pending + 1024)
        recorded_since[0] = min(recorded_since[0], LOOK_AFTER - missing)
        return [], False
    found = _where_to_cut(below)
    if not found:
        if pending > LONGEST_TURN:
            return [node], True
        recorded_since[0] -= elements // 4  # a long graph is looked at again when a good part of it more is recorded
    return found, True


def _where_to_cut(below: Sequence[Node]) -> list[Node]:
    """Which nodes to evaluate, one after the other, where much is pending below the last of these: those that end so many turns
    of a loop as were evaluated together before. So the same graphs come back, and have programs. None while a turn isn't over."""
    chain = _longest_chain(below)
    known = {x[:2] for x in _turns}
    found: dict[Any, list[Node]] = {}
    for x in chain:
        if (x.op, x.type) in known and (mark := _mark(x)) in _turns:
            found.setdefault(mark, []).append(x)
    if found:
        mark, its = next(iter(found.items()))
        turns = _turns.get(mark, 1)
        return its[turns - 1 :: turns]
    marks = [_mark(x) for x in chain if not x.tracked]
    counts = Counter(marks)  # what is recorded once in a turn isn't inside of another loop, as one over layers
    mark = min(marks[len(marks) // 2 :], key=counts.__getitem__)
    if len(_turns) >= MOST_TURNS:
        _turns.clear()
    _turns[mark] = turns = max(counts[mark] * 3 // 4, 1)  # for at the next look there may be fewer
    return [x for x in chain if not x.tracked and _mark(x) == mark][turns - 1 :: turns]


def _mark(x: Node) -> Any:
    """What a node has in common with those that are recorded in the same place."""
    return x.op, x.type, place_of(x.site, x.offset)


def _longest_chain(below: Sequence[Node]) -> list[Node]:
    """The longest chain of pending nodes, each of which is an input of the next one; it ends with the last of these."""
    lengths: dict[Node, int] = {}
    for x in below:
        if x.value is None:
            longest = 0
            for y in x.inputs:
                length = lengths.get(y, 0)
                if length > longest:
                    longest = length
            lengths[x] = longest + 1
    chain = [below[-1]]
    while True:
        longer = [y for y in chain[-1].inputs if y in lengths]
        if not longer:
            return chain[::-1]
        chain.append(longer[0] if len(longer) == 1 else max(longer, key=lengths.__getitem__))
