"""The order of a plan's steps: each result as soon as what it is made of is there.

Depth first from the results, in the order in which they were asked for, gives the new weights in the order of the parameters:
that of the first layer comes first, and needs the whole reverse pass, whose cotangents wait for the gradients of all other
weights. Taken by their depth instead, results come as reverse mode has them. The gradient of a weight is computed beside the
cotangent of its layer, which is in the cache then, and free afterwards, as the layer's input is.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any

from adjoint.plan.inlining import results_of
from adjoint.primitives.callees import CALL

__all__ = ["first_ready", "ordered"]

LARGE = 1 << 10  # elements: without an array of so many the order makes no difference


def ordered(steps: Sequence[Any], outputs: Sequence[int], types: Sequence[Any], leaves: int) -> Sequence[Any]:
    """The steps, those of the least deep of the outputs first, each output preceded by what it needs. Equally deep ones stay in
    the order in which they were asked for.

    A result that replaces a leaf, as an optimizer's does, follows whatever else reads that leaf, so that it can lie in its
    memory. `types` are those of all slots, of which the first are the leaves.
    """
    asked = list(dict.fromkeys(outputs))
    if len(asked) < 2 or not any(type(t) is not tuple and t.size >= LARGE for t in types):
        return steps
    depth = [0] * len(types)
    made: list[Any] = [None] * len(types)
    for step in steps:
        op, _, _, _, inputs, output, _ = step
        deepest = 0
        for i in inputs:
            if depth[i] > deepest:
                deepest = depth[i]
        if op is CALL:
            for i in results_of(step):
                depth[i], made[i] = deepest + 1, step
        else:
            depth[output], made[output] = deepest + 1, step
    nearest = sorted(asked, key=depth.__getitem__)
    if nearest == asked:
        return steps
    readers = _readers(steps, types, leaves)
    found = _Sequence(made)
    seen: set[int] = set()
    for slot in nearest:
        for leaf in _replaced(slot, made, types, leaves, seen):
            for reader in readers[leaf]:
                found.reach(reader)
        found.reach(slot)
    return found.steps


def first_ready(waiting: Sequence[int], readers: Sequence[Sequence[int]], ranks: Sequence[int]) -> list[int]:
    """Numbers from 0 on, each behind all those that it reads, of which so many it is `waiting` for. Of those that may come next
    the one of the lowest rank does, of equal ones the first."""
    left = list(waiting)
    ready = [(ranks[k], k) for k, count in enumerate(left) if not count]
    heapq.heapify(ready)
    found = []
    while ready:
        _, k = heapq.heappop(ready)
        found.append(k)
        for reader in readers[k]:
            left[reader] -= 1
            if not left[reader]:
                heapq.heappush(ready, (ranks[reader], reader))
    return found


class _Sequence:
    """Steps in an order that is being made; `waiting` are those that are not in it yet, by their slots."""

    def __init__(self, waiting: Sequence[Any]) -> None:
        self.waiting = list(waiting)
        self.steps: list[Any] = []

    def reach(self, slot: int) -> None:
        """Let a slot's step come next, behind all that it needs."""
        waiting, come = self.waiting, self.steps.append
        stack = [slot]
        pop, push = stack.pop, stack.append
        while stack:
            slot = pop()
            step = waiting[slot]
            if step is None:
                continue
            ready = True
            op, _, _, _, inputs, output, _ = step
            for i in reversed(inputs):
                if waiting[i] is not None:
                    if ready:  # it comes again behind what it needs
                        push(slot)
                        ready = False
                    push(i)
            if ready:
                come(step)
                waiting[slot] = None
                if op is CALL:
                    for i in output:
                        waiting[i] = None


def _readers(steps: Sequence[Any], types: Sequence[Any], leaves: int) -> list[list[int]]:
    """The steps that read each leaf, through views of it as well, but for those that compute it anew element by element."""
    readers: list[list[int]] = [[] for _ in range(leaves)]
    source = list(range(leaves)) + [-1] * (len(types) - leaves)  # the leaf that a slot is a view of
    for step in steps:
        op, _, _, _, inputs, output, _ = step
        for i in inputs:
            leaf = source[i]
            if leaf >= 0:
                if op.view and i == inputs[0]:
                    source[output] = leaf
                elif not op.elementwise and op is not CALL:
                    readers[leaf].append(output)
    return readers


def _replaced(slot: int, made: Sequence[Any], types: Sequence[Any], leaves: int, seen: set[int]) -> list[int]:
    """The leaves of a result's type of which it is made element by element, but for those found from other results: all that was
    `seen` on the way to these. Each slot is looked at once, however many results are made of it."""
    if slot in seen:
        return []
    kind = types[slot]
    found: list[int] = []
    seen.add(slot)
    stack = [slot]
    while stack:
        step = made[stack.pop()]
        if step is None:
            continue
        op, _, _, _, inputs, _, _ = step
        if not (op.elementwise or op.view or op is CALL):
            continue
        for i in inputs:
            if i not in seen and types[i] is kind:
                seen.add(i)
                (found if i < leaves else stack).append(i)
    return found
