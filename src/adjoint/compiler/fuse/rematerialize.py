"""Values that are computed again where they are read, because what they come from takes less memory than they do.

Where a derivative reads x/2 and -x/√2, which cost one multiplication each and come from the same x, x goes to memory instead of
both, and the nest that reads them makes them again.
"""

from __future__ import annotations

from adjoint.compiler.fuse.fuse import Fusion
from adjoint.compiler.fuse.kinds import Nest, View
from adjoint.compiler.fuse.through import compute, read_through
from adjoint.plan.plan import Step
from adjoint.shapes import contiguous


def recompute(fusion: Fusion) -> Fusion:
    """Store what two cheap values come from, not these, where only nests over the same domain read them; the same fusion."""
    readers = fusion.readers()
    kept = {fusion.views[s].root for s in fusion.results if s in fusion.views}
    for nest in fusion.units:
        if not isinstance(nest, Nest):
            continue
        inner = [slot for slot in nest.stored if slot not in kept and slot in readers]
        if not inner:
            continue
        producer = {step.output: step for step in nest.steps}
        families: dict[int, list[int]] = {}
        for slot in inner:
            parent = _parent(fusion, nest, producer.get(slot))
            if parent is not None and _read_by_like(fusion, nest, slot, readers[slot]):
                families.setdefault(parent, []).append(slot)
        for parent, slots in families.items():
            if parent not in nest.stored and len(slots) < 2:
                continue
            if parent not in nest.stored:
                nest.stored.append(parent)
            fusion.known_readers = None
            for slot in slots:
                nest.stored.remove(slot)
                for unit in readers[slot]:
                    compute(fusion, unit, [slot], producer[slot], parent)
    for nest in fusion.units:
        if isinstance(nest, Nest):
            read_through(fusion, nest, kept)
    return fusion


def _parent(fusion: Fusion, nest: Nest, step: Step | None) -> int | None:
    """The one value of the nest that a cheap step needs besides what is in memory; None if it isn't of that kind."""
    if step is None or not step.op.light or nest.level[step.output] != "element":
        return None
    inner = {i for i in step.inputs if i in nest.level}
    if len(inner) != 1:
        return None
    view = fusion.views[inner.pop()]  # of a value that a step passes on, the value itself
    parent, whole = view.root, View(view.root, 0, nest.domain, contiguous(nest.domain))
    same = view == whole and fusion.dtypes[parent] == fusion.dtypes[step.output]
    return parent if nest.level.get(parent) == "element" and same else None


def _read_by_like(fusion: Fusion, nest: Nest, slot: int, readers: list[int]) -> bool:
    """Whether all that read an array are nests over the same domain, which read each element where it is."""
    if fusion.views[slot] != View(slot, 0, nest.domain, contiguous(nest.domain)):
        return False
    for index in readers:
        unit = fusion.units[index]
        if (
            not isinstance(unit, Nest)
            or unit is nest
            or unit.domain != nest.domain
            or len(unit.steps) >= fusion.tuning.most_steps
        ):
            return False
        if [i for i in fusion.given(unit) if fusion.views[i].root == slot] != [slot]:
            return False
    return bool(readers)
