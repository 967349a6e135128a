"""Which results may be written over which leaves, and which inner arrays over others.

The caller of a program may donate leaves: arrays that nobody reads after the run, such as the moments of an optimizer that
its step replaces. Where a loop nest reads a leaf only at the element that it writes, the result may lie in the leaf's
memory: no page is touched for the first time, and half as many lines pass through the cache. Where rows are written into a
table, or a slice into an array, nothing else is touched at all. An inner array that such a nest reads last hands its memory on to
one that the nest makes, for the same reason: a line that is written must be in the cache, and there it is already.
"""

from __future__ import annotations

from typing import Any

from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Move, Nest, View, is_contiguous
from adjoint.runtime.memory import ALIGNMENT, address
from adjoint.shapes import contiguous, size_of


def overwritable(
    fusion: Fusion, results: list[int], roots: list[set[int]], last_reader: dict[int, int]
) -> dict[int, tuple[int, ...]]:
    """The leaves whose memory each result may take, those read first before others; `roots` are the arrays that each unit reads,
    and `last_reader` says which one reads an array last."""
    # after host code and checks of indices, which may fail: a run that failed must find its leaves as they were
    first = _last_failing(fusion)
    if first < 0 or not _checks_first(fusion.units[first]):
        first += 1
    kept = fusion.kept()
    wanted = set(results)
    found: dict[int, tuple[int, ...]] = {}
    leaves = len(fusion.plan.leaf_types)
    reader = {x: index for index in reversed(range(len(roots))) for x in roots[index]}
    for index, unit in enumerate(fusion.units[first:], first):
        if isinstance(unit, Nest):
            made = [s for s in _written_where_read(unit) if s in wanted]
        elif isinstance(unit, Move) and unit.step.op.rewrites:
            made = [s for s in (unit.step.output,) if s in wanted]
        else:
            continue
        free: list[int] = []
        if made:
            free = [x for x in roots[index] if x < leaves and x not in kept and last_reader[x] == index]
            free.sort(key=lambda x: (reader[x], x))
        if free and isinstance(unit, Nest):
            elsewhere = _read_elsewhere(fusion, unit, set(free))
            free = [leaf for leaf in free if leaf not in elsewhere]
        elif isinstance(unit, Move):
            free = [leaf for leaf in free if _only_rewrites(unit, leaf)]
        for result in made:
            shape, dtype = fusion.shapes[result], fusion.dtypes[result]
            found[result] = tuple([x for x in free if fusion.shapes.get(x) == shape and fusion.dtypes[x] == dtype])
    return found


def handed_on(
    fusion: Fusion, produced: dict[int, int], results: list[int], roots: list[set[int]], last_reader: dict[int, int]
) -> dict[int, int]:
    """The array whose memory an inner array takes, for those that are made where one as large is read last. `produced` says which
    unit makes an array."""
    inner, found = produced.keys() - set(results), dict[int, int]()
    for index, unit in enumerate(fusion.units):
        made = [s for s in _written_where_read(unit) if s in inner] if isinstance(unit, Nest) else []
        dying = (
            sorted([x for x in roots[index] if x in inner and produced[x] < index == last_reader[x]]) if made else []
        )
        if not dying:
            continue
        assert isinstance(unit, Nest)
        elsewhere = _read_elsewhere(fusion, unit, set(dying))
        for slot in made:
            size, dtype = size_of(fusion.shapes[slot]), fusion.dtypes[slot]
            for x in dying:
                if x not in elsewhere and size_of(fusion.shapes[x]) == size and fusion.dtypes[x] == dtype:
                    found[slot] = x
                    elsewhere.add(x)
                    break
    return found


def _written_where_read(nest: Nest) -> list[int]:
    """The arrays of which a nest writes each element once, when it has read what it reads at the same element."""
    if nest.by_row or nest.by_cells:  # which may compute a cell twice
        return []
    return [slot for slot in nest.stored if nest.level[slot] == "element" and slot not in nest.tiles]


def _last_failing(fusion: Fusion) -> int:
    """The last unit that may fail, -1 if there is none. A check of indices can't if they were checked before, against the same
    extent."""
    last = -1
    checked: set[tuple[Any, int]] = set()
    for index, unit in enumerate(fusion.units):
        if unit.may_fail:
            last = index
        elif isinstance(unit, Move) and unit.indices and not unit.clips:
            checks = set(zip(map(_elements, unit.indices), unit.indexed_shape, strict=False))
            if not checks <= checked:
                last = index
            checked |= checks
        elif isinstance(unit, Move) and unit.step.op.name == "concat" and len(unit.step.type.shape) == 1:
            parts = [{n for elements, n in checked if elements == _elements(view)} for view in unit.reads]
            whole = (unit.step.output, 0, unit.step.type.size)
            checked |= {(whole, n) for n in set.intersection(*parts)}
    return last


def _checks_first(unit: Any) -> bool:
    """Whether a unit that fails has written nothing: one row into an array."""
    if not isinstance(unit, Move) or not unit.step.op.rewrites or not unit.indices:
        return False
    return all([size_of(view.shape) == 1 for view in unit.indices])


def _elements(view: View) -> Any:
    """Which elements of which array a view has, whatever their shape, where they lie in order."""
    return (view.root, view.offset, size_of(view.shape)) if is_contiguous(view) else view


def is_lendable(array: Any) -> bool:
    """Whether a result may lie in this memory: it can be written, and vectors in it don't straddle cache lines."""
    return address(array) % ALIGNMENT == 0 and bool(array.flags.writeable)


def _only_rewrites(move: Move, leaf: int) -> bool:
    """Whether a move puts something into a leaf that it reads for nothing else."""
    whole, *others = move.reads
    return whole == View(leaf, 0, whole.shape, contiguous(whole.shape)) and all(view.root != leaf for view in others)


def _read_elsewhere(fusion: Fusion, nest: Nest, leaves: set[int]) -> set[int]:
    """Those of the leaves of which a nest, or what is made with it, may read elements besides the one that it writes."""
    found = {view.root for product in nest.made for view in product.reads}
    for view in [fusion.views[slot] for slot in nest.read]:
        if view.root in leaves and view != nest.whole(view.root):
            found.add(view.root)
    return found
