"""Plans: a numbered graph turned into one list of steps, once for each structure.

Building expands pending pullbacks into the graphs they stand for, merges common subexpressions, lets elementwise steps
broadcast by themselves, decides what to keep for a later reverse pass, and notes when each array is last read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from adjoint.derive import PULLBACK, derive_pullback, reverse
from adjoint.execution.canonical import Canonical, value_array
from adjoint.graph import ArrayType, Node, Primitive, mode, topological
from adjoint.primitives.core import FULL, SELECT, conform, placeholder
from adjoint.primitives.custom import CUSTOM, HOST_CALL
from adjoint.primitives.random import RANDOM_BITS
from adjoint.primitives.structural import BROADCAST

NEVER_MERGED = frozenset({HOST_CALL, RANDOM_BITS})


class Step(NamedTuple):
    """One primitive applied to slots. `masked` is the kernel to use when a zero met an infinity."""

    op: Primitive
    attributes: Any
    kernel: Callable[..., Any]
    masked: Callable[..., Any]
    inputs: tuple[int, ...]
    output: int
    type: Any


class Plan:
    """Steps over numbered slots. The first slots are the leaves, then the free numbers; `constants` fill others.

    outputs    (canonical number, index, slot, kept): whose value to store, which of its values if it has several (else
               None), and whether it is for the reverse pass only
    checked    positions in `outputs` that are wrong if not finite, unless the masked kernels computed them
    """

    def __init__(self, leaf_types: list[Any], number_types: list[ArrayType]) -> None:
        self.leaf_types = leaf_types
        self.number_types = number_types
        self.constants: dict[int, Any] = {}
        self.steps: list[Step] = []
        self.types: list[Any] = [*leaf_types, *number_types]
        self.outputs: list[tuple[int, int | None, int, bool]] = []
        self.checked: list[int] = []
        self.always_masked = False
        self.has_masked = False
        self.runs = 0
        self.program: Any = None  # the fast form, made by `programs` at the second run
        self.streaming: Any = None
        self.lock = threading.Lock()

    @property
    def weight(self) -> int:
        """What it costs to remember, in steps and leaves."""
        return len(self.steps) + len(self.types) + 16


class Builder:
    """Turns nodes into steps. `slot_of` holds the slots of nodes with a value or already placed."""

    def __init__(self, plan: Plan, slot_of: dict[Node, int]) -> None:
        self.plan = plan
        self.slot_of = slot_of
        self.scalars: set[int] = set()  # slots of constants: one number, whatever the shape
        self.merged: dict[Any, int] = {}
        self.after_mask: set[int] = set()  # slots that depend on a masked step

    def new_slot(self, type: Any) -> int:
        self.plan.types.append(type)
        return len(self.plan.types) - 1

    def constant(self, array: Any, type: Any) -> int:
        slot = self.new_slot(type)
        self.plan.constants[slot] = array
        return slot

    def add(self, op: Primitive, attributes: Any, inputs: tuple[int, ...], type: Any) -> int:
        """The slot of a step: an equal earlier one, or a new one."""
        key = None
        if op not in NEVER_MERGED:
            code = type.code if isinstance(type, ArrayType) else tuple([t.code for t in type])
            key = (op, attributes if op.key is None else op.key(attributes), inputs, code)
            found = self.merged.get(key)
            if found is not None:
                return found
        slot = self.new_slot(type)
        kernel = op.kernel(attributes, type)
        plan = self.plan
        plan.steps.append(Step(op, attributes, kernel, op.masked or kernel, inputs, slot, type))
        if key is not None:
            self.merged[key] = slot
        if op.masked is not None:
            plan.has_masked = True
            self.after_mask.add(slot)
        else:
            for i in inputs:
                if i in self.after_mask:
                    self.after_mask.add(slot)
                    if op.swallows and any(j in self.after_mask for j in _judged(op, inputs)):
                        plan.always_masked = True
                    break
        if op is HOST_CALL:
            plan.always_masked = True  # it may act on the world: a second run must never be needed
        return slot

    def place(self, order: list[Node], resolve: Callable[[Node], Node]) -> None:
        """Add steps for nodes in topological order."""
        slot_of = self.slot_of
        for node in order:
            if node in slot_of:
                continue
            op, type = node.op, node.type
            if op is FULL:
                slot_of[node] = self.constant(np.full((), node.attributes, type.dtype.dtype), type)
                self.scalars.add(slot_of[node])
                continue
            if node.value is not None:
                slot_of[node] = self.constant(value_array(node), type)
                continue
            if not node.inputs:
                raise RuntimeError(f"{op.name}: a value is needed that this graph does not have")
            inputs = [resolve(x) for x in node.inputs]
            if op.elementwise:
                slots = self.broadcasting(inputs, resolve, type)
            else:
                slots = [self.whole(x) for x in inputs]
            slot_of[node] = self.add(op, node.attributes, tuple(slots), type)

    def whole(self, x: Node) -> int:
        """The slot of a node at its full shape: constants are held as single numbers and broadcast here."""
        slot = self.slot_of[x]
        if slot in self.scalars and x.type.shape != ():
            return self.add(BROADCAST, x.type.shape, (slot,), x.type)
        return slot

    def broadcasting(self, inputs: list[Node], resolve: Callable[[Node], Node], type: ArrayType) -> list[int]:
        """The slots of an elementwise step's inputs, without broadcasts that NumPy does by itself."""
        shape = type.shape
        slots, full_shape = [], False
        for x in inputs:
            source = x
            while source.op is BROADCAST and source.value is None:
                source = resolve(source.inputs[0])
            slot = self.slot_of[source]
            slots.append(slot)
            full_shape = full_shape or (source.type.shape == shape and (slot not in self.scalars or shape == ()))
        if not full_shape:
            slots[0] = self.whole(inputs[0])
        return slots


def _judged(op: Primitive, inputs: tuple[int, ...]) -> tuple[int, ...]:
    """The inputs that decide without passing on: a condition, for `where`."""
    return inputs[:1] if op.name == "where" else inputs


def build(c: Canonical, wanted: Sequence[int], keep: bool) -> Plan:
    """The plan that computes the nodes numbered `wanted`; with `keep`, also what a later reverse pass will read."""
    plan = Plan([x.type for x in c.leaves], [x.type for _, x in c.numbers])
    slot_of: dict[Node, int] = {x: i for i, x in enumerate(c.leaves)}
    for i, (_, x) in enumerate(c.numbers):
        slot_of[x] = len(c.leaves) + i
    replaced: dict[Node, Node] = {}
    derived = _expand_pullbacks(c, replaced) if c.pullbacks else {}

    def resolve(node: Node) -> Node:
        return replaced.get(node, node)

    order = c.order
    kept = _residuals(c, [order[i] for i in wanted]) if keep else []
    builder = Builder(plan, slot_of)
    builder.scalars.update(range(len(c.leaves), len(c.leaves) + len(c.numbers)))
    asked = set(wanted)
    targets: list[tuple[int, int | None, Node, bool]] = []
    for i in wanted:
        if order[i] in derived:
            targets += [(i, k, x, False) for k, x in enumerate(derived[order[i]])]
        else:
            targets.append((i, None, resolve(order[i]), False))
    targets += [(c.number[x], None, x, True) for x in kept if c.number[x] not in asked]
    builder.place(_resolved_order([x for _, _, x, _ in targets], resolve, slot_of), resolve)
    plan.outputs = [(i, k, builder.whole(x), is_kept) for i, k, x, is_kept in targets]
    plan.checked = [
        place
        for place, (_, _, slot, _) in enumerate(plan.outputs)
        if slot in builder.after_mask and plan.types[slot].inexact
    ]
    return plan


def _resolved_order(targets: list[Node], resolve: Callable[[Node], Node], cut: dict[Node, int]) -> list[Node]:
    order: list[Node] = []
    seen: set[Node] = set()
    stack = targets[::-1]
    while stack:
        node = stack[-1]
        if node in seen:
            stack.pop()
            continue
        ready = True
        if node not in cut and node.value is None:
            for x in node.inputs:
                source = resolve(x)
                if source not in seen:
                    stack.append(source)
                    ready = False
        if ready:
            seen.add(node)
            order.append(node)
            stack.pop()
    return order


def _expand_pullbacks(c: Canonical, replaced: dict[Node, Node]) -> dict[Node, list[Node]]:
    derived: dict[Node, list[Node]] = {}
    for node in c.order:
        if node.op is PULLBACK and node.value is None:
            derived[node] = [conform(g, t) for g, t in zip(derive_pullback(node), node.type, strict=True)]
        elif node.op is SELECT and node.inputs and node.inputs[0] in derived:
            replaced[node] = derived[node.inputs[0]][node.attributes]
    return derived


def _residuals(c: Canonical, roots: list[Node]) -> list[Node]:
    """What the reverse pass of the tracked roots will read of the nodes computed now, cheap ones recomputed instead."""
    computed = {x for x in c.order if x.value is None and x.inputs}
    tracked = [x for x in roots if x.tracked and type(x.type) is not tuple and x.type.inexact]
    if any(x.op is CUSTOM or x.op is HOST_CALL for x in computed):
        # a custom rule runs the user's code, so it isn't asked ahead of time what it will read
        reads = {x for x in computed if x.tracked}
    else:
        boundary = [x for x in c.order if x.tracked and x not in computed and type(x.type) is not tuple]
        with mode(grad=False):
            found = reverse(tracked, [placeholder(x.type, "cotangent", False) for x in tracked], boundary, stop=True)
        reads = set()
        for node in topological([g for g in found if g is not None], lambda node: node not in computed):
            if node not in computed:
                reads.update(x for x in node.inputs if x in computed)
    kept: list[Node] = []
    seen: set[Node] = set()
    stack = list(reads)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op.cheap:
            stack.extend(x for x in node.inputs if x in computed)
        elif type(node.type) is not tuple:
            kept.append(node)
    return sorted(kept, key=c.number.__getitem__)
