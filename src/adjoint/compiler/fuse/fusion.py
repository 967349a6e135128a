"""A plan as units: what the stages from `fuse` on give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from adjoint._tuples import Lasting, NamedTuple
from adjoint.compiler.fuse.kinds import Host, Nest, Unit, View
from adjoint.compiler.targets.target import Tuning
from adjoint.plan.plan import Plan
from adjoint.plan.text import Labels
from adjoint.shapes import Shape, contiguous


class _Parts(NamedTuple):
    plan: Plan
    units: tuple[Unit, ...]
    results: Sequence[int]
    views: Mapping[int, View]
    shapes: Mapping[int, Shape]
    dtypes: Mapping[int, str]
    ready: Mapping[int, int]
    objects: frozenset[int]
    slots: int
    tuning: Tuning


class Fusion(Lasting, _Parts):
    """A plan as units, in the order in which they run. Passes make others of it.

    results  the slots of the plan's results, each an array in order
    views    where each slot that lies in memory is; `shapes` and `dtypes` of these, and the first unit that may read each:
             when it is `ready`
    objects  slots that hold what native code can't read
    slots    how many there are, those of the plan and those that were added
    tuning   the table of the processor that is compiled for
    """

    def with_units(self, units: Iterable[Unit]) -> Fusion:
        """The plan as other units."""
        return self._replace(units=tuple(units))

    def with_slots(self, known: Slots) -> Fusion:
        """The same units, of whose slots so much is known."""
        found = self._replace(
            views=known.views, shapes=known.shapes, dtypes=known.dtypes, ready=known.ready, slots=known.slots
        )
        vars(found)["readers"] = self.readers
        return found

    def __str__(self) -> str:
        labels = Labels(self.plan)
        found = []
        for number, unit in enumerate(self.units, 1):
            first, *rest = unit.lines(labels)
            found += [f"{number:3}  {first}", *[f"     {line}" for line in rest]]
        return "\n".join(found)

    @cached_property
    def readers(self) -> Mapping[int, Sequence[int]]:
        """The units that read each array from memory, in order."""
        return readers_of([self.roots(unit) for unit in self.units])

    def kept(self) -> set[int]:
        """The arrays that are results, or that these lie in."""
        return {self.views[s].root for s in self.results if s not in self.objects}

    def roots(self, unit: Unit) -> set[int]:
        """The arrays in memory that a unit reads."""
        views = self.views
        if isinstance(unit, Host):
            return {views[i].root for i in unit.step.inputs if i in views}
        roots = set() if not isinstance(unit, Nest) else {views[i].root for i in unit.read}
        for one in unit.made if isinstance(unit, Nest) else (unit,):
            roots.update([view.root for view in one.reads])
        return roots


def readers_of(roots: Sequence[set[int]]) -> dict[int, list[int]]:
    """By array the units that read it, of which these are what each reads."""
    found: dict[int, list[int]] = {}
    for index, own in enumerate(roots):
        for root in own:
            found.setdefault(root, []).append(index)
    return found


class Slots:
    """What is known of slots by a pass that adds some: see `Fusion`."""

    views: dict[int, View]
    shapes: dict[int, Shape]
    dtypes: dict[int, str]
    ready: dict[int, int]
    slots: int

    def new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def root(self, slot: int, shape: Shape, dtype: str, ready: int) -> None:
        """Let a slot be an array in memory, in order."""
        self.shapes[slot] = shape
        self.dtypes[slot] = dtype
        self.views[slot] = _new(View, (slot, 0, shape, contiguous(shape)))
        self.ready[slot] = ready


_new = tuple.__new__  # named tuples by their own constructor take twice as long
