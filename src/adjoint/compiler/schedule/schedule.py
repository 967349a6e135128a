"""How a unit runs, as one value: the schedule of its loops, and those of the products and windows with them."""

from __future__ import annotations

from adjoint._tuples import NamedTuple
from adjoint.compiler.excerpts import Excerpt
from adjoint.compiler.fuse.kinds import Nest, Product, Window
from adjoint.compiler.schedule.matmul import ProductSchedule, is_batch, schedule_product
from adjoint.compiler.schedule.nests import NestFacts, NestSchedule, schedule_nest
from adjoint.compiler.schedule.windows import WindowSchedule, schedule_window
from adjoint.compiler.targets.target import tuning
from adjoint.shapes import contiguous


class Schedule(NamedTuple):
    """All that is decided of a unit. Of one without loops of its own the only part is that of its product or window."""

    nest: NestSchedule | None
    before: tuple[ProductSchedule | WindowSchedule, ...] = ()
    behind: tuple[ProductSchedule, ...] = ()

    def __str__(self) -> str:
        """In words, the parts in the order in which they run."""
        if self.nest is None or not (self.before or self.behind):
            return str(self.nest or self.before[0])
        parts = ("before", self.before), ("loops", (self.nest,)), ("behind", self.behind)
        return " | ".join([f"{where}: {one}" for where, some in parts for one in some])


def schedule(unit: Nest | Product | Window, excerpt: Excerpt | None = None) -> Schedule:
    """How a unit runs on the processor that is compiled for; `excerpt` is what is known of a nest's slots."""
    if isinstance(unit, Product):
        assert unit.choice is not None
        return Schedule(None, (schedule_product(unit, unit.choice.rows, alone=True),))
    if isinstance(unit, Window):
        return Schedule(None, (schedule_window(unit),))
    if unit.by_cells:
        ((window,), pool) = unit.products or unit.followers, next(iter(unit.followers), None)
        assert isinstance(window, Window) and not isinstance(pool, Product)
        return Schedule(None, (schedule_window(window, None, pool),))
    assert excerpt is not None
    loops = schedule_nest(excerpt, unit)
    elements = min(loops.step, loops.extent) * loops.row
    before = [
        _before(excerpt, unit, made, elements)
        if isinstance(made, Product)
        else schedule_window(made, elements // made.grain)
        for made in unit.products
    ]
    behind = [schedule_product(made, made.shape[-2]) for made in unit.followers if isinstance(made, Product)]
    return Schedule(loops, tuple(before), tuple(behind))


def _before(excerpt: Excerpt, nest: Nest, made: Product, elements: int) -> ProductSchedule:
    """How a product runs before a nest, so many elements of it at a time."""
    found = schedule_product(made, elements // made.shape[-1], in_tile=made.step.output in nest.tiles)
    meanwhile = found.way == "tiles" and not is_batch(made) and not found.gathered
    return found._replace(near=_nearby(NestFacts(excerpt, nest), made)) if meanwhile else found


def _nearby(facts: NestFacts, product: Product) -> tuple[int, ...]:
    """Arrays that a nest stores or reads element by element, as it reads a product: while that is computed, memory has nothing
    else to do."""
    unit, dtypes = facts.nest, facts.excerpt.dtypes
    dtype, steps = product.step.type.dtype.name, contiguous(unit.domain)
    stored = [slot for slot in unit.stored if unit.level[slot] == "element" and slot not in unit.tiles]
    made = {other.step.output for other in unit.products}
    read = [
        view.root
        for step in unit.steps
        for i in step.inputs
        if not facts.inside(i) and dtypes[i] == dtype
        for view in [facts.outside(i)]
        if view.offset == 0 and view.shape == unit.domain and view.strides == steps and view.root not in made
    ]
    found = dict.fromkeys([*[slot for slot in stored if dtypes[slot] == dtype], *read])
    return tuple(found)[: tuning().most_fetched]
