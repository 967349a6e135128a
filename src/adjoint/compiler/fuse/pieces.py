"""Arrays whose pieces are all made by one loop nest: it stores them where they belong, and nothing is copied.

So the gradient of four gates, which a cell takes apart by their columns, is written once.
"""

from __future__ import annotations

from types import MappingProxyType

from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Move, Nest, Piece, Unit
from adjoint.shapes import size_of


def in_place(fusion: Fusion) -> Fusion:
    """Let nests store pieces where they belong."""
    moves = [
        (k, unit) for k, unit in enumerate(fusion.units) if isinstance(unit, Move) and unit.step.op.name == "pieces"
    ]
    if not moves:
        return fusion
    units: dict[int, Unit] = dict(enumerate(fusion.units))
    kept, readers = fusion.kept(), fusion.readers
    made = {slot: index for index, unit in units.items() for slot in unit.outputs}
    for index, move in moves:
        slots = [view.root for view in move.reads]
        place = made.get(slots[0], -1)
        nest = units.get(place)
        alone = all(readers[slot] == [index] and slot not in kept and made.get(slot) == place for slot in slots)
        if alone and isinstance(nest, Nest) and _fit(fusion, move, nest):
            into = {
                slot: Piece(move.step.output, at.offset, tuple(at.strides), at.adds_zero)
                for slot, at in zip(slots, move.step.attributes.placements, strict=True)
            }
            units[place] = nest._replace(into=MappingProxyType({**nest.into, **into}))
            del units[index]
    return fusion.with_units(units.values())


def _fit(fusion: Fusion, move: Move, nest: Nest) -> bool:
    """Whether the nest's elements are the pieces' in order, each written by whole vectors, and all of the array is pieces."""
    step, domain, slots = move.step, nest.domain, [view.root for view in move.reads]
    if nest.made or nest.by_row or len(set(slots)) < len(slots) or len(slots) * size_of(domain) != step.type.size:
        return False
    return all(
        view == nest.whole(view.root)
        and nest.level.get(view.root) == "element"
        and view.root in nest.stored
        and tuple(at.sizes) == domain
        and _side_by_side(at.sizes, at.strides)
        and fusion.dtypes[view.root] == step.type.dtype.name
        for view, at in zip(move.reads, step.attributes.placements, strict=True)
    )


def _side_by_side(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether elements along the axis of vectors, the last one that isn't of length one, follow each other in memory."""
    return next((stride for n, stride in zip(sizes[::-1], strides[::-1], strict=True) if n > 1), 0) == 1
