"""Sums of many arrays amid zeros that meet, as few sums: the gradient of what is taken in overlapping parts.

A loop that reads x[0:3], x[1:4], ... adds up one array amid zeros for each part, each addition over the whole. Of the terms that
meet at an element the first ones, of all elements, are written into one array, the second ones into another, and so on: parts
are cut where that number changes. Then these few arrays are added. Each element is the sum of the same numbers in the same order,
zeros left out, so no bit changes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.graph import PRIMITIVES, array_type
from adjoint.plan.assemble import Filled, Placement, pieces, placed
from adjoint.plan.plan import Step, step_of
from adjoint.primitives.structural import EMBED
from adjoint.shapes import size_of

if TYPE_CHECKING:
    from adjoint.plan.simplify import Simplifier

FEWEST = 16  # parts: few are read in place by the loop nest that adds them, see compiler.fuse.padded
FEWER = 4  # times fewer arrays than parts, at least
MOST = 1 << 20  # elements of all parts
ADD = PRIMITIVES["add"]


class Chain(NamedTuple):
    """A sum of parts, one after the other: the array that it begins with, if it isn't zeros; the parts, as slots with their
    places; and the steps that it is made of."""

    base: int | None
    parts: list[tuple[int, Placement]]
    steps: list[Step]


def layered(s: Simplifier, steps: list[Step], outputs: list[int]) -> list[Step]:
    """The steps with such sums replaced."""
    if sum([step.op is EMBED for step in steps]) < FEWEST:
        return steps
    reads = Counter([i for step in steps for i in step.inputs])
    reads.update(outputs)
    own: dict[int, Step] = {step.output: step for step in steps if _parts(s, step) and reads[step.output] == 1}
    chains: dict[int, Chain] = {}
    for step in steps:
        if step.op is not ADD or step.type.dtype.kind not in "fiu" or step.attributes is not None:
            continue
        found = _longer(s, step, own, {i: chains[i] for i in step.inputs if i in chains and reads[i] == 1})
        if found is not None:
            chains[step.output] = found
            for i in step.inputs:
                if reads[i] == 1:
                    chains.pop(i, None)
    replaced: dict[int, list[Step]] = {}
    gone: set[int] = set()
    for slot, chain in chains.items():
        made = _in_layers(s, slot, chain) if len(chain.parts) >= FEWEST else None
        if made is not None:
            replaced[slot] = made
            gone.update([step.output for step in chain.steps])
    return [x for step in steps for x in replaced.get(step.output, () if step.output in gone else (step,))]


def _parts(s: Simplifier, step: Step) -> list[tuple[int, Placement]]:
    """The arrays that a step puts into zeros, and where."""
    if step.op is EMBED:
        return [(step.inputs[0], placed(step.attributes[1], step.type.shape))] if step.inputs[0] not in s.single else []
    if isinstance(step.attributes, Filled) and step.attributes.number == 0:
        return list(zip(step.inputs, step.attributes.placements, strict=True))
    return []


def _longer(s: Simplifier, step: Step, own: dict[int, Step], chains: dict[int, Chain]) -> Chain | None:
    """The chain that an addition makes longer, or begins."""
    shape = step.type.shape
    if any([i in s.single or s.types[i].shape != shape for i in step.inputs]):
        return None
    a, b = step.inputs
    if a == b:
        return None
    if b in chains or (a in own and b not in own):  # a sum of two is the same either way round
        a, b = b, a
    if b not in own:
        return None
    more = _parts(s, own[b])
    if a in chains:
        base, parts, steps = chains[a]
        return Chain(base, parts + more, [*steps, own[b], step])
    if a in own:
        return Chain(None, _parts(s, own[a]) + more, [own[a], own[b], step])
    return Chain(a, more, [own[b], step])


def _in_layers(s: Simplifier, slot: int, chain: Chain) -> list[Step] | None:
    """The steps of a chain's sum; None where it would be no shorter."""
    t = s.types[slot]
    given = [x for _, place in chain.parts for x in (place.offset, *place.sizes, *place.strides)]
    if type(t.size) is not int or any([type(x) is not int for x in given]):  # numbers that follow from extents
        return None
    if sum([size_of(place.sizes) for _, place in chain.parts]) > MOST:
        return None
    met = np.zeros(t.size, np.int64)
    layers: list[list[tuple[int, Placement]]] = []
    steps: list[Step] = []
    for part, place in chain.parts:
        at = np.full(place.sizes, place.offset)
        for axis, (n, stride) in enumerate(zip(place.sizes, place.strides, strict=True)):
            at += (np.arange(n) * stride).reshape(-1, *[1] * (len(place.sizes) - 1 - axis))
        turn = met[at]
        met[at] += 1
        cut = _cuts(turn)
        if cut is None:
            return None
        axis, starts = cut
        for first, behind in zip(starts, [*starts[1:], turn.shape[axis] if turn.ndim else 1], strict=True):
            piece, where = part, place._replace(adds_zero=True)
            if len(starts) > 1:
                sizes = (*place.sizes[:axis], behind - first, *place.sizes[axis + 1 :])
                slices = tuple([(first if k == axis else 0, n, 1) for k, n in enumerate(sizes)])
                piece = s.slot(array_type(sizes, t.dtype))
                steps.append(step_of(PRIMITIVES["slice"], slices, (part,), piece, s.types[piece]))
                where = Placement(place.offset + first * place.strides[axis], sizes, place.strides, adds_zero=True)
            number = int(turn[(0,) * axis + (first,) + (0,) * (turn.ndim - 1 - axis)]) if turn.ndim else int(turn)
            while len(layers) <= number:
                layers.append([])
            layers[number].append((piece, where))
    if len(layers) * FEWER > len(chain.parts):
        return None
    total = chain.base
    for k, layer in enumerate(layers):
        last = k == len(layers) - 1
        whole = slot if last and total is None else s.slot(t)
        steps.append(pieces(Filled(0, tuple([x for _, x in layer])), tuple([x for x, _ in layer]), whole, t))
        if total is not None:
            added = slot if last else s.slot(t)
            steps.append(step_of(ADD, None, (total, whole), added, t))
            whole = added
        total = whole
    return steps


def _cuts(turn: np.ndarray) -> tuple[int, list[int]] | None:
    """The axis along which the numbers change, and the places from which on they are others; None where they change along
    several."""
    if turn.ndim == 0 or (turn == turn.flat[0]).all():
        return 0, [0]
    axes = [k for k in range(turn.ndim) if (np.diff(turn, axis=k) != 0).any()]
    if len(axes) != 1:
        return None
    (axis,) = axes
    line = np.moveaxis(turn, axis, 0).reshape(turn.shape[axis], -1)[:, 0]
    return axis, [0, *(np.flatnonzero(np.diff(line)) + 1).tolist()]
