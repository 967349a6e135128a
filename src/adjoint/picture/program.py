"""A picture's graph as a program that its page computes: the reverse pass is in it, made by the engine's own rules.

A page moves leaves. What depends on one is sent as operations, everything else as numbers. A leaf from which an operation
is reached that pages don't know stays still, and the page says why.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

import numpy as np

from adjoint.derive import AFTER
from adjoint.graph import Node, Primitive, topological
from adjoint.picture.flow import Flow, compute, is_leaf, is_settled
from adjoint.picture.steps import BEFORE, computed
from adjoint.primitives.core import FULL, IDENTITY
from adjoint.primitives.custom import CUSTOM, HOST_CALL
from adjoint.primitives.random import RANDOM_BITS
from adjoint.primitives.spectra import EIG, EIGH, EIGVALS, SVD

__all__ = ["Program", "plain", "program_of", "scripts_of"]

MAX_SLOTS, MAX_ELEMENTS, MAX_WORK = 30_000, 400_000, 8_000_000
LISTED = 12  # elements up to which an array is written as numbers rather than as bytes


@dataclass(frozen=True, slots=True)
class Program:
    """What a page computes.

    data: types and slots as JSON has them. slots: the number of each node's slot. still: why a leaf can't be moved, by
    its slot, None for one that can. reason: why nothing can be moved, if so. notes: what else stays as it was.
    """

    data: dict[str, Any] | None
    slots: Mapping[Node, int]
    still: Mapping[int, str | None]
    reason: str = ""
    notes: tuple[str, ...] = ()

    def moved(self) -> set[Node]:
        """The leaves that the page moves."""
        return {node for node, slot in self.slots.items() if self.still.get(slot, "") is None}

    def with_decisions(self, decisions: Iterable[tuple[Node, bool, str]]) -> Program:
        """The same with conditions that the page watches: their nodes, how they decided, and what that was."""
        if self.data is None:
            return self
        watched = [[self.slots[node], outcome, said] for node, outcome, said in decisions if node in self.slots]
        return replace(self, data=self.data | {"decisions": watched}) if watched else self


def program_of(flow: Flow, asked: Iterable[Node]) -> Program:
    """The program that computes these nodes from the leaves of a flow."""
    asked = list(asked)
    order = topological(asked, lambda node: not is_leaf(node))
    still = _still(order, _given(flow))
    moving = _following(order, {leaf for leaf, why in still.items() if why is None})
    if not moving:
        return Program(None, {}, {}, next(filter(None, still.values()), _without_leaves(flow, still)))
    if len(moving) > MAX_SLOTS:
        return Program(None, {}, {}, f"pages don't compute graphs of {len(moving):,} operations")
    used = {x for node in moving for x in node.inputs} | set(asked)
    shown = [node for node in order if node in moving or node in used]
    values = compute([node for node in shown if node not in moving and type(node.type) is not tuple])
    if sum(map(_work, moving)) > MAX_WORK or sum(map(np.size, values.values())) > MAX_ELEMENTS:
        return Program(None, {}, {}, "the arrays are too large for a page to compute")
    data, slots = _written([node for node in shown if node in moving or node in values], moving, values)
    return Program(
        data, slots, {slots[leaf]: why for leaf, why in still.items() if leaf in slots}, notes=_notes(flow, moving)
    )


def _notes(flow: Flow, moving: Iterable[Node]) -> tuple[str, ...]:
    """What stays as it was although a page moves what it may depend on."""
    found = ["random numbers stay as they were drawn"] if any(node.op is RANDOM_BITS for node in flow.order) else []
    settled = sorted({x.op.symbol for node in moving for x in node.inputs if is_settled(x)})
    if settled:
        found.append(f"computed before this picture was made, these stay as they were: {', '.join(settled)}")
    return tuple(found)


def scripts_of(data: Mapping[str, Any] | None) -> list[str]:
    """The scripts of rare operations that a page of this program needs, in the order in which they are read."""
    if data is None:
        return []
    used = {slot[0] for slot in data["slots"]}
    needed = {name for name, operations in computed().scripts.items() if operations & used}
    if any(dtype.startswith("complex") for dtype, _ in data["types"]):
        needed.add("complex")
    needed.update(*(BEFORE.get(name, ()) for name in needed))
    return [name for name in computed().scripts if name in needed]


def _without_leaves(flow: Flow, still: Collection[Node]) -> str:
    """Why nothing can be moved where no operation forbids it."""
    if still:
        return "nothing is computed from it"
    return "it is computed from no floating number"


def _given(flow: Flow) -> list[Node]:
    """What a page may move: floating and complex leaves, and the real numbers that the user wrote into a formula."""
    users: dict[Node, list[Node]] = {}
    for (node, _), source in flow.sources.items():
        users.setdefault(source, []).append(node)
    found = []
    for node in flow.order:
        if is_leaf(node) and type(node.type) is not tuple and node.type.inexact and node.type.size:
            written = node is not node.type.zero and all(type(user.site) is CodeType for user in users.get(node, ()))
            if node.op is not FULL or (written and node.type.real_inexact):
                found.append(node)
    return found


def _still(order: Iterable[Node], leaves: Iterable[Node]) -> dict[Node, str | None]:
    """Why each leaf can't be moved: an operation that depends on it and that the page doesn't know; None if none does."""
    why: dict[Node, str | None] = dict.fromkeys(leaves)
    bit = {leaf: 1 << i for i, leaf in enumerate(why)}
    reached: dict[Node, int] = {}  # the leaves that each node depends on, as bits
    blocked: list[tuple[int, str]] = []
    for node in order:
        bits = bit.get(node, 0)
        if not is_leaf(node):
            for x in node.inputs:
                bits |= reached[x]
            if bits and not _known(node):
                blocked.append((bits, _reason(node)))
        reached[node] = bits
    for bits, reason in blocked:
        for leaf, mine in bit.items():
            if bits & mine and why[leaf] is None:
                why[leaf] = reason
    return why


def _known(node: Node) -> bool:
    known = computed().complex if _is_complex(node) else computed().operations
    return node.op.name in known and not _has_edges_of_values(node)


def _is_complex(node: Node) -> bool:
    """Whether a result or an input is complex."""
    types = [t for x in (node, *node.inputs) for t in (x.type if isinstance(x.type, tuple) else (x.type,))]
    return any(t.dtype.kind == "c" for t in types)


def _has_edges_of_values(node: Node) -> bool:
    """Whether a search is in edges that were found by values when it was recorded, as a histogram's: y - stop_gradient(y)
    stands for what they have moved since, which a page would take for 0."""
    return node.op.name == "searchsorted" and any(
        x.op.name == "subtract" and x.inputs[1].op.name == "stop_gradient" and x.inputs[1].inputs[0] is x.inputs[0]
        for x in topological([node.inputs[0]], lambda x: not is_leaf(x))
    )


def _reason(node: Node) -> str:
    if node.op is HOST_CALL:
        return f"{node.attributes[0].name} is host code, which a page doesn't have"
    if _has_edges_of_values(node):
        return "the edges of a histogram stay as they were found by its values"
    if node.op.name in computed().operations:
        return f"pages know {node.op.name} of real numbers alone"
    return f"pages don't know {node.op.name}"


def _following(order: Iterable[Node], sources: set[Node]) -> set[Node]:
    """The computed nodes of an order that depend on these leaves."""
    found: set[Node] = set()
    for node in order:
        if not is_leaf(node) and any(x in found or x in sources for x in node.inputs):
            found.add(node)
    return found


def _work(node: Node) -> int:
    """About how many multiplications or copies a node takes."""
    factored = node.op.name in computed().factored
    if type(node.type) is tuple and not factored:
        return 0
    size: int = node.inputs[0].type.size if factored else node.type.size
    if node.op.name in ("fft", "rfft", "irfft"):
        lengths = max(node, node.inputs[0], key=lambda x: x.type.size).shape
        return 4 * size * sum(sum(_prime_factors(lengths[axis])) for axis in node.attributes[0])
    if node.op.name in computed().cubic and node.inputs[0].ndim > 1:
        return computed().cubic[node.op.name] * size * node.inputs[0].shape[-1]
    largest = max((x.type.size for x in node.inputs if type(x.type) is not tuple), default=1)
    if node.op.name.startswith("convolution"):
        return size * largest
    return max(size, largest)


def _prime_factors(n: int) -> list[int]:
    found, p = [], 2
    while n > 1:
        while n % p == 0:
            found.append(p)
            n //= p
        p = p + 1 if p * p <= n else n
    return found


def _written(
    shown: Iterable[Node], moving: Collection[Node], values: Mapping[Node, Any]
) -> tuple[dict[str, Any], dict[Node, int]]:
    types: dict[tuple[str, tuple[int, ...]], int] = {}
    slots: dict[Node, int] = {}
    written: list[list[Any]] = []
    vectors = _vectors(moving)

    def type_of(t: Any) -> Any:
        if isinstance(t, tuple):
            return [type_of(one) for one in t]
        return types.setdefault((t.dtype.name, t.shape), len(types))

    for node in shown:
        slots[node] = len(slots)
        if node in moving:
            inputs = [slots[x] for x in node.inputs]
            attributes = [*plain(node.attributes or ()), *vectors[node]] if node in vectors else _attributes(node)
            written.append([node.op.name, inputs, attributes, type_of(node.type)])
        elif node.op is FULL:
            written.append(["full", [], plain(node.attributes), type_of(node.type)])
        else:
            written.append(["value", [], _payload(values[node]), type_of(node.type)])
    return {"types": [[name, shape] for name, shape in types], "slots": written}, slots


def _vectors(moving: Iterable[Node]) -> dict[Node, list[Any]]:
    """The eigenvectors or singular vectors of each node that has them, in columns: the signs from which a page starts; and
    the complex eigenvalues, in the order from which it starts."""
    starts: dict[Primitive, Callable[[Any], Any]] = {
        EIGH: lambda found: found[1:],
        SVD: lambda found: (found[0], found[2].swapaxes(-1, -2)),
        EIG: lambda found: found,
        EIGVALS: lambda found: (found,),
    }
    factored = compute([node for node in moving if node.op in starts])
    return {
        node: [_payload(x.astype(np.result_type(x, np.float64))) for x in starts[node.op](found)]
        for node, found in factored.items()
    }


def _attributes(node: Node) -> Any:
    if node.op is CUSTOM:
        return node.attributes[0]  # how many outputs it has; the rule is written out in the reverse pass
    return None if node.op is IDENTITY or node.op is AFTER else plain(node.attributes)


def plain(value: Any) -> Any:
    """Numbers as JSON knows them; what is not finite as text, complex ones as pairs."""
    if isinstance(value, (tuple, list)):
        return [plain(x) for x in value]
    if isinstance(value, (complex, np.complexfloating)):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else str(float(value))
    return int(value) if isinstance(value, np.integer) else value


def _payload(value: Any) -> Any:
    """An array's elements: one number if all are the same, a list if they are few, else their bytes."""
    array = np.asarray(value)
    if array.dtype.kind == "c":
        array = np.ascontiguousarray(array).reshape(-1).view(array.real.dtype)
    if array.size and (
        array.size == 1 or ((array == array.flat[0]).all() and (array.flat[0] or not np.signbit(array).any()))
    ):
        return plain(array.flat[0].item())
    if array.size <= LISTED:
        return plain(array.ravel().tolist())
    if array.dtype.name in ("int64", "uint64"):
        array = array.astype(np.float64)  # as the page holds them
    return {
        "bytes": base64.b64encode(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()).decode()
    }
