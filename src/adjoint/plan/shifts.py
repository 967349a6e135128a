"""Arrays put into wider zeros at several places and added up, of which the middle is read: what the reverse pass of a stencil
does. The terms become parts of the array in the midst of zeros, which lie there once, and the sum one loop over what is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.graph import array_type
from adjoint.plan.plan import Step
from adjoint.primitives.structural import Slices

if TYPE_CHECKING:
    from adjoint.plan.simplify import Simplifier

MOST = 64  # steps between the arrays and what is read


def part_of_shifted(s: Simplifier, step: Step) -> Step | None:
    """A slice of what is computed elementwise of embedded arrays, and that nothing else reads, is computed on that part alone.
    Of each array there is one copy in the midst of zeros, and each term a part of it: the same numbers, added in the same
    order."""
    top = s.producer.get(step.inputs[0])
    if top is None or not top.op.elementwise or any([by != 1 for _, _, by in step.attributes]):
        return None
    between = _between(s, top)
    if between is None:
        return None
    steps, terms = between
    made_of: dict[int, int] = {}
    sources = {source for source, _ in terms.values()}
    if len(terms) == len(sources):
        return None  # one copy each, as before
    for source in sources:
        shifted = {slot: at for slot, (x, at) in terms.items() if x == source}
        made_of |= _parts(s, source, shifted, step.attributes)
    shape = step.type.shape
    for each in reversed(steps):
        inputs = tuple([made_of.get(i, i) for i in each.inputs])
        if each is top:
            return each._replace(
                kernel=each.op.kernel(each.attributes, step.type),
                masked=each.op.masked or each.op.kernel(each.attributes, step.type),
                inputs=inputs,
                output=step.output,
                type=step.type,
            )
        made_of[each.output] = s.emit(each.op.name, each.attributes, inputs, array_type(shape, each.type.dtype))
    return None


def _between(s: Simplifier, top: Step) -> tuple[list[Step], dict[int, tuple[int, Slices]]] | None:
    """The elementwise steps from a result down, each read once, and what they are made of: embedded arrays, and where they lie.
    None where they are made of anything else but single numbers."""
    steps: list[Step] = []
    terms: dict[int, tuple[int, Slices]] = {}
    pending = [top.output]
    while pending:
        slot = pending.pop()
        if slot in s.single:
            continue
        found = s.producer.get(slot)
        if found is None or s.reads[slot] != 1 or found.type.shape != top.type.shape or len(steps) > MOST:
            return None
        if found.op.elementwise:
            steps.append(found)
            pending += found.inputs
        elif found.op.name == "embed" and found.inputs[0] not in s.single:
            slices = found.attributes[1]
            if any([by != 1 for _, _, by in slices]):
                return None
            terms[slot] = found.inputs[0], slices
        else:
            return None
    return steps, terms


def _parts(s: Simplifier, source: int, shifted: dict[int, Slices], read: Slices) -> dict[int, int]:
    """For each term the slot of its part that is read, on one copy of the array in the midst of zeros."""
    type = s.types[source]
    counts = [n for _, n, _ in read]
    ahead = {slot: [at - start for (at, _, _), (start, _, _) in zip(places, read, strict=True)]
             for slot, places in shifted.items()}  # fmt: skip
    axes = range(len(counts))
    before = [max(0, *[d[k] for d in ahead.values()]) for k in axes]
    after = [max(0, *[counts[k] - type.shape[k] - d[k] for d in ahead.values()]) for k in axes]
    wide = tuple([b + n + a for b, n, a in zip(before, type.shape, after, strict=True)])
    whole = source
    if wide != type.shape:
        places = tuple([(b, n, 1) for b, n in zip(before, type.shape, strict=True)])
        whole = s.emit("embed", (wide, places), (source,), array_type(wide, type.dtype))
    parts: dict[int, int] = {}
    for slot, d in ahead.items():
        slices = tuple([(b - x, n, 1) for b, x, n in zip(before, d, counts, strict=True)])
        if wide == tuple(counts) and all([start == 0 for start, _, _ in slices]):
            parts[slot] = whole
        else:
            parts[slot] = s.emit("slice", slices, (whole,), array_type(tuple(counts), type.dtype))
    return parts
