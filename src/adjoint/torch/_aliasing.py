"""What changes in place of axes and of history leave behind for the views that were made before: they go on seeing the tensor
as it was.

The notes are kept beside the tensors, by address, for hardly any tensor has some; they go when the tensor goes.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from adjoint._references import COUNTED_IN_LIST, reference_counts
from adjoint.graph import Node

__all__ = [
    "after_turns",
    "before_turns",
    "found_same",
    "give_other_memory",
    "laid",
    "memories",
    "memory_of",
    "note_same",
    "note_turn",
    "turned",
    "turned_layout",
    "turns",
]

Apply = Callable[[Node], Node]
Layout = Callable[[Any], Any]


class Turns(NamedTuple):
    """The changes of a tensor's axes: of its node, back again, and of where its elements lie; `first` says where they lay."""

    tensor: weakref.ref[Any]
    first: Callable[[], Any]
    steps: list[tuple[Apply, Apply, Layout]]


class Same(NamedTuple):
    """A tensor that was detached in place, or became a leaf: the addresses of its nodes before, and its node since then."""

    tensor: weakref.ref[Any]
    before: set[int]
    now: Node
    how: str


class Memory:
    """What a tensor's views have together. `holder` is the tensor that has their memory, once the one that they were made of has
    other memory."""

    __slots__ = ("__weakref__", "holder")

    def __init__(self) -> None:
        self.holder: Any = None


turned: dict[int, Turns] = {}
# By the addresses of tensors with views. One without views may be gone, and its entry is that of what lies there next.
memories: dict[int, Memory] = {}
_given: dict[int, weakref.ref[Memory]] = {}  # by the addresses of tensors that hold what others have left
_same: dict[int, Same] = {}


def _forgotten(table: dict[int, Any], key: int) -> Callable[[Any], None]:
    """What takes an entry out of a table when its tensor goes. It holds the table: globals are gone before the last tensors."""
    return lambda _: table.pop(key, None)


def note_turn(x: Any, first: Callable[[], Any], forth: Apply, back: Apply, layout: Layout) -> None:
    """Note that a tensor's axes have changed: `forth` of its node, and `back` again."""
    key = id(x)
    if key not in turned:
        turned[key] = Turns(weakref.ref(x, _forgotten(turned, key)), first, [])
    turned[key].steps.append((forth, back, layout))


def turns(x: Any) -> int:
    """How often a tensor's axes were changed in place."""
    return len(turned[id(x)].steps) if id(x) in turned else 0


def before_turns(x: Any, count: int, node: Node) -> Node:
    """A tensor's node with its axes as they were after so many changes."""
    if id(x) in turned:
        for _, back, _ in reversed(turned[id(x)].steps[count:]):
            node = back(node)
    return node


def after_turns(x: Any, count: int, node: Node) -> Node:
    """A node whose axes are those of a tensor after so many changes, as they are now."""
    if id(x) in turned:
        for forth, _, _ in turned[id(x)].steps[count:]:
            node = forth(node)
    return node


def turned_layout(x: Any, count: int) -> Any:
    """Where a tensor's elements lay after so many changes; None where that is unknown."""
    if id(x) not in turned:
        return x._layout()
    _, first, steps = turned[id(x)]
    found = first()
    for _, _, change in steps[:count]:
        found = None if found is None else change(found)
    return found


def laid(base: Any, count: int, lay: Layout | None) -> Any:
    """Where a view's elements lie, of a base whose axes had changed so often when it was made."""
    below = turned_layout(base, count)
    return None if lay is None or below is None else lay(below)


def note_same(x: Any, before: Node, how: str) -> None:
    """Note that a tensor's node has another history now, and the same value as the one before."""
    key, found = id(x), _same.get(id(x))
    known = found.before if found is not None and found.now is before else set()
    _same[key] = Same(weakref.ref(x, _forgotten(_same, key)), {*known, id(before)}, x.node, how)


def found_same(x: Any, seen: Node | None, now: Node) -> str | None:
    """How a tensor came from the node that a view saw to the one that it has now, if its value is the same; None if it isn't.

    The node that was seen is alive, and was when the others were made, so its address says which it is.
    """
    found = _same.get(id(x))
    return found.how if found is not None and found.now is now and id(seen) in found.before else None


def memory_of(x: Any) -> Memory:
    """What the views of a tensor that are made now have together. They keep the tensor."""
    return memories.get(id(x)) or _new_memory(id(x))


MOST_MEMORIES = 1 << 10  # entries, before those are forgotten that no view has
_limit = [MOST_MEMORIES]


def _new_memory(key: int) -> Memory:
    noted = _given.get(key)
    found = None if noted is None else noted()
    if found is not None:
        return found
    if len(memories) >= _limit[0]:
        held = list(memories.items())
        for (old, _), count in zip(held, reference_counts([memory for _, memory in held]), strict=True):
            if count <= COUNTED_IN_LIST + 2:  # those of the table and of `held`
                memories.pop(old, None)
        _limit[0] = max(MOST_MEMORIES, 2 * len(memories))
    return memories.setdefault(key, Memory())


def _note_given(key: int, memory: Memory) -> None:
    table = _given  # globals are gone before the last tensors are

    def forget(gone: Any) -> None:
        if table.get(key) is gone:
            del table[key]

    memories.pop(key, None)  # of a tensor that lay there before
    _given[key] = weakref.ref(memory, forget)


def give_other_memory(x: Any, holder: Any) -> None:
    """Let the views of a tensor be those of another one, which has its node, since the tensor gets other memory."""
    key, old = id(holder), id(x)
    noted = _given.pop(old, None)
    memory = None if noted is None else noted()
    if memory is None:
        memory = memories.pop(old, None)
    if memory is not None:
        memory.holder = holder
        _note_given(key, memory)
    if old in turned:
        turned[key] = turned.pop(old)._replace(tensor=weakref.ref(holder, _forgotten(turned, key)))
    if old in _same:
        _same[key] = _same.pop(old)._replace(tensor=weakref.ref(holder, _forgotten(_same, key)))
