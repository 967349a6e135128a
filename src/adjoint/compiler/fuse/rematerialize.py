"""Values that are computed again where they are read, because what they come from takes less memory than they do.

Where a derivative reads x/2 and -x/√2, which cost one multiplication each and come from the same x, x goes to memory instead of
both, and the nest that reads them makes them again. The reverse pass of a stencil reads the neighbours of k·g: if g lies in
memory, the nest that adds up the neighbours may read those of g and multiply each, and no nest has to write the products down
first.
"""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.compiler.fuse.fusion import Fusion, Slots
from adjoint.compiler.fuse.kinds import Nest, Unit, View, repeats
from adjoint.compiler.fuse.padded import PADDED
from adjoint.compiler.loops.formulas import REDUCTIONS
from adjoint.graph import array_type
from adjoint.plan.plan import Step
from adjoint.shapes import contiguous, size_of

MOST = 8  # times that a value is computed for each element


def recompute(fusion: Fusion) -> Fusion:
    """Store what two cheap values come from, not these, where only nests over the same domain read them."""
    readers, kept, units = fusion.readers, fusion.kept(), list(fusion.units)
    known, changed = _Known(fusion), False
    given, fusion = fusion, fusion.with_slots(known)
    for index, nest in enumerate(units):
        if not isinstance(nest, Nest):
            continue
        inner = [slot for slot in nest.stored if slot not in kept and slot in readers]
        if not inner:
            continue
        producer = {step.output: step for step in nest.steps}
        families: dict[int, list[int]] = {}
        for slot in inner:
            parent = _parent(fusion, nest, producer.get(slot))
            if parent is not None and _read_by_like(fusion, units, index, slot, readers[slot]):
                families.setdefault(parent, []).append(slot)
        stored = nest.stored
        for parent, slots in families.items():
            if parent not in stored and len(slots) < 2:
                continue
            stored = tuple([s for s in dict.fromkeys([*stored, parent]) if s not in slots])
            for slot in slots:
                for unit in readers[slot]:
                    units[unit] = computing(known, units[unit], unit, [slot], producer[slot], parent)
        if stored != nest.stored:
            units[index], changed = nest._replace(stored=stored), True
    fusion = fusion.with_units(units) if changed else fusion
    for index, nest in enumerate(units):
        if isinstance(nest, Nest) and not kept.issuperset(nest.stored):
            fusion = read_through(fusion, known, index, kept)
    return given if fusion.units is given.units else fusion.with_slots(known)


class _Known(Slots):
    """What is known of slots, with those that this pass adds."""

    def __init__(self, fusion: Fusion) -> None:
        self.views, self.shapes = dict(fusion.views), dict(fusion.shapes)
        self.dtypes, self.ready, self.slots = dict(fusion.dtypes), dict(fusion.ready), fusion.slots

    def another(self, view: View, like: int) -> int:
        """A new slot that is a view, of the dtype of another one, and ready when that is."""
        slot = self.new_slot()
        self.views[slot], self.shapes[slot] = view, view.shape
        self.ready[slot], self.dtypes[slot] = self.ready[like], self.dtypes[like]
        return slot


def _parent(fusion: Fusion, nest: Nest, step: Step | None) -> int | None:
    """The one value of the nest that a cheap step needs besides what is in memory; None if it isn't of that kind."""
    if step is None or not step.op.light or nest.level[step.output] != "element":
        return None
    inner = {i for i in step.inputs if i in nest.level}
    if len(inner) != 1:
        return None
    view = fusion.views[inner.pop()]  # of a value that a step passes on, the value itself
    parent = view.root
    same = view == nest.whole(parent) and fusion.dtypes[parent] == fusion.dtypes[step.output]
    return parent if nest.level.get(parent) == "element" and same else None


def _read_by_like(fusion: Fusion, units: list[Unit], maker: int, slot: int, readers: Sequence[int]) -> bool:
    """Whether all that read an array are other nests than its maker over the same domain, which read each element where it is."""
    nest = units[maker]
    assert isinstance(nest, Nest)
    if fusion.views[slot] != nest.whole(slot):
        return False
    for index in readers:
        unit = units[index]
        if not isinstance(unit, Nest) or index == maker or unit.domain != nest.domain:
            return False
        if len(unit.steps) >= fusion.tuning.most_steps:
            return False
        if [i for i in unit.read if fusion.views[i].root == slot] != [slot]:
            return False
    return bool(readers)


# Of one array, read in other places than it is made


def read_through(fusion: Fusion, known: _Known, maker: int, kept: set[int]) -> Fusion:
    """Let the readers of what a nest makes of one array, and of single numbers, read that array, if all of them are nests."""
    nest = fusion.units[maker]
    assert isinstance(nest, Nest)
    producer = {step.output: step for step in nest.steps}
    read = {i for step in nest.steps for i in step.inputs}
    for slot in [s for s in nest.stored if s not in kept and s in producer and s not in read]:
        step = producer[slot]
        source = _only_array(fusion, nest, step)
        if source is None or not step.op.light or nest.level[slot] != "element":
            continue
        readers = fusion.readers.get(slot, ())
        parts = {index: _parts(fusion, index, slot, step, source) for index in readers}
        if not 0 < sum([len(found) if found else MOST + 1 for found in parts.values()]) <= MOST:
            continue
        if all([fusion.views[i] == nest.whole(slot) for found in parts.values() for i in found or ()]):
            continue  # each element is read where it is made: what could be one nest is one
        units = list(fusion.units)
        nest = units[maker] = nest._replace(stored=tuple([s for s in nest.stored if s != slot]))
        for index, found in parts.items():
            units[index] = computing(known, units[index], index, found or [], step, source)
        fusion = fusion.with_units(units)
    return fusion


def _only_array(fusion: Fusion, nest: Nest, step: Step) -> int | None:
    """The one array that an elementwise step reads, in order and as a whole, beside single numbers; all of them in memory."""
    found = None
    for i in step.inputs:
        if i in nest.level or fusion.dtypes[i] != fusion.dtypes[step.output] or found == i:
            return None
        view = fusion.views[i]
        if not any(view.strides):
            continue
        if found is not None or view.shape != nest.domain or view.strides != contiguous(nest.domain):
            return None
        found = i
    return found


def _parts(fusion: Fusion, index: int, slot: int, step: Step, source: int) -> list[int] | None:
    """The parts of an array that a unit reads, as slots, where it can compute them itself; else None."""
    nest = fusion.units[index]
    if not isinstance(nest, Nest):
        return None
    steps = [s for s in nest.steps if any([i in fusion.views and fusion.views[i].root == slot for i in s.inputs])]
    found = list(
        dict.fromkeys([i for s in steps for i in s.inputs if i not in nest.level and fusion.views[i].root == slot])
    )
    if len(nest.steps) + 2 * len(found) > fusion.tuning.most_steps:
        return None
    if not all([fusion.views[i].shape == nest.domain and not repeats(fusion.views[i]) for i in found]):
        return None
    if size_of(nest.domain) > 2 * size_of(fusion.shapes[slot]):  # a small array amid many zeros
        return None
    by_element = all([s.op.name in REDUCTIONS or nest.level[s.output] == "element" for s in steps])
    keeps_zeros = step.op.masked is not None and step.inputs[0] == source  # and makes none of them negative
    return found if by_element and (keeps_zeros or all([s.op.name != PADDED.name for s in steps])) else None


def computing(known: _Known, nest: Unit, index: int, parts: list[int], step: Step, source: int) -> Nest:
    """The nest, which is this unit, that computes the parts that it reads of what a step of another one gives."""
    assert isinstance(nest, Nest)
    views, ready, another, level = known.views, known.ready, known.another, dict(nest.level)
    whole, type_ = views[source], array_type(nest.domain, step.type.dtype)
    single = [
        i for i in step.inputs if i != source and not any(views[i].strides) and views[i].shape not in ((), nest.domain)
    ]
    given = dict(zip(step.inputs, step.inputs, strict=True))
    given |= {i: another(View(*views[i][:2], (), ()), i) for i in single}
    reads = {i: another(View(whole.root, whole.offset + views[i].offset, *views[i][2:]), source) for i in parts}
    made: dict[int, int] = {}
    steps: list[Step] = []

    def computed(read: int, out: int) -> Step:
        return step._replace(
            inputs=tuple([read if i == source else given[i] for i in step.inputs]), output=out, type=type_
        )

    def inside() -> int:
        """A slot that this nest computes."""
        slot = another(nest.whole(known.slots), source)
        level[slot], ready[slot] = "element", index + 1
        return slot

    for s in nest.steps:
        if s.op.name == PADDED.name and s.inputs[0] in reads:
            amid = inside()
            steps += [s._replace(inputs=(reads[s.inputs[0]],), output=amid), computed(amid, s.output)]
            continue
        for i in s.inputs:
            if i in reads and i not in made:
                made[i] = inside()
                steps.append(computed(reads[i], made[i]))
        steps.append(
            s._replace(inputs=tuple([made.get(i, i) for i in s.inputs])) if not made.keys().isdisjoint(s.inputs) else s
        )
    return nest.computing(steps, level)
