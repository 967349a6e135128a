"""What runs before and behind a loop nest for the totals that it leaves in memory: they begin with their identities, and those of
its chunks are put together in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.accumulation import Accumulator
from adjoint.compiler.loops.build import Value, lanes_for
from adjoint.compiler.loops.build_nest import NestWriter
from adjoint.compiler.loops.formulas import REDUCTIONS
from adjoint.compiler.tables import LARGE, Start
from adjoint.shapes import size_of


def write_start(nest: NestWriter) -> L.Function | None:
    """A function that fills the totals in memory with their identities; None if there are none."""
    unit = nest.nest
    totals = [s for s in unit.stored if unit.level[s] == "total" and s not in unit.by_row]
    if not totals:
        return None
    e = nest.restart(_lanes(nest, totals))
    for slot in totals:
        dtype = nest.excerpt.dtypes[slot]
        identity = e.constant(REDUCTIONS[nest.producer[slot].op.name][0](dtype), dtype)
        is_partial, count = slot in nest.partial, size_of(nest.excerpt.shapes[slot])
        count *= nest.schedule.chunks if is_partial else 1
        totals_at = nest.inputs.pointer(nest.share_partial(slot) if is_partial else Start(slot, 0))
        for i, single in _elements(nest, count, ("filled", slot)):
            (e.store_scalar if single else e.store)(identity, totals_at, i)
    return nest.inputs.function("start")


def write_finish(nest: NestWriter) -> L.Function | None:
    """A function that puts the chunks' totals together; None if there are none."""
    if not nest.partial:
        return None
    partial, by_row = nest.partial, nest.row_partial()
    e = nest.restart(1 if by_row else _lanes(nest, partial))
    for slot in partial:
        count, whole = size_of(nest.excerpt.shapes[slot]), slot not in nest.nest.by_row
        parts = nest.inputs.pointer(nest.share_partial(slot))
        each = nest.number(count, ("total", slot), LARGE if whole else 1)
        if not whole:
            nest.row_values[slot] = _put_together(nest, slot, parts, "0", each, single=True)
            continue
        whole_at = nest.inputs.pointer(Start(slot, 0))
        for i, single in _elements(nest, count, ("put together", slot)):
            value = _put_together(nest, slot, parts, i, each, single)
            (e.store_scalar if single else e.store)(value, whole_at, i)
    if by_row:
        nest.partial = ()  # from here on a pointer is that of the whole
        nest.store_rows()
        nest.partial = partial
    return nest.inputs.function("finish")


def _lanes(nest: NestWriter, slots: Sequence[int]) -> int:
    """How many totals there are in a vector."""
    if any(nest.excerpt.dtypes[slot].startswith("complex") for slot in slots):
        return 1
    return min([lanes_for(nest.schedule.lanes, size_of(nest.excerpt.shapes[slot])) for slot in slots])


def _elements(nest: NestWriter, count: int, role: Any) -> Iterator[tuple[str, bool]]:
    """Loops over so many elements, by vectors and then one by one: the offset, and whether it is that of one element."""
    e, whole = nest.e, count // nest.e.lanes * nest.e.lanes
    stop, end = (nest.number(n, (role, which), LARGE) for n, which in ((whole, "whole"), (count, "all")))
    vectors = e.lanes > 1 and whole > 0
    if vectors:
        with e.loop("0", stop, e.lanes) as i:
            yield i, False
    if not vectors or whole < count:
        with e.loop(stop if vectors else "0", end, 1) as i:
            yield i, True


def _put_together(nest: NestWriter, slot: int, parts: str, i: str, each: str, single: bool) -> Value:
    """The total at an element, or those of a vector, of all chunks' in order; `each` chunk has so many."""
    e, dtype = nest.e, nest.excerpt.dtypes[slot]
    total = Accumulator(e, nest.producer[slot], dtype, blocked=True, copies=1)
    with e.loop("0", nest.number(nest.schedule.chunks, "chunks", LARGE), 1) as c:
        at = e.plus(i, e.times(c, each))
        total.add(e, e.load_scalar(parts, at, dtype) if single else e.load(parts, at, dtype, 1), 0)
        total.flush(e)
    return e.cast(total.each(e), dtype)
