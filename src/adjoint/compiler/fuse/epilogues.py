"""Which products are computed tile by tile together with the loop nest that reads them, while the tile is in the cache.

So a bias, an activation, an optimizer's update or another product added to this one cost no trip through memory; and a
product that nothing else reads is never in memory as a whole.
"""

from __future__ import annotations

from typing import Any

from adjoint.compiler.fuse.batches import follow
from adjoint.compiler.fuse.cells import join_cells
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Choice, Nest, Product, Window
from adjoint.compiler.schedule.matmul import choose, in_parts, tile_rows
from adjoint.compiler.targets.target import tuning
from adjoint.shapes import following, size_of


def join(fusion: Fusion) -> Fusion:
    """Move products into the nests that read them, and choose how every product is computed."""
    readers = fusion.readers
    kept = fusion.kept()
    units = list(fusion.units)
    at = list(range(len(units)))  # where each unit runs
    chosen: dict[Any, Choice] = {}  # for products that are alike
    join_cells(fusion, units, readers, kept, at)
    for index, unit in enumerate(units):
        if not isinstance(unit, Product | Window) or at[index] != index:
            continue
        slot = unit.step.output
        places = readers.get(slot, [])
        nest = units[places[0]] if places else None
        tile = (nest.tile or _tile(unit)) if isinstance(nest, Nest) and _fits(fusion, unit, nest) else None
        if isinstance(unit, Product):
            kind = (unit.a[2:], unit.b[2:], unit.shape, unit.step.type.dtype, tile)
            choice = None if following[0] else chosen.get(kind)
            if choice is None:
                choice = choose(unit, None if tile is None else tile // unit.shape[-1], fusion.plan.alone)
                if not following[0]:  # sizes can't be looked up
                    chosen[kind] = choice
            units[index] = unit = unit._replace(choice=choice)
        if isinstance(nest, Nest) and tile is not None:
            at[index] = places[0]
            tiles = (*nest.tiles, slot) if len(places) == 1 and slot not in kept else nest.tiles
            units[places[0]] = nest._replace(products=(*nest.products, unit), tile=tile, tiles=tiles)
    follow(fusion, units, readers, kept, at)
    return fusion.with_units([unit for index, unit in enumerate(units) if at[index] == index])


def _tile(unit: Product | Window) -> int:
    """Elements in a tile: whole images or matrices of a batch, or as many rows as suit who computes them."""
    if isinstance(unit, Window):
        least = unit.sizes.together if unit.sizes is not None else 1
        return max(tuning().joined_tile // unit.grain, least) * unit.grain
    return tile_rows(unit) * unit.shape[-1]


def _fits(fusion: Fusion, unit: Product | Window, nest: Nest) -> bool:
    """Whether a nest can run on a product's rows as they come: it reads each element of them where it is."""
    size, m, slot, domain = size_of(unit.shape), unit.shape[-1], unit.step.output, nest.domain
    if nest.by_cells or unit.step.op.name == "convolution_weight_gradient":  # which adds up over the images
        return False
    if (
        size < fusion.tuning.joined_from
        or size_of(domain) != size
        or len(domain) < 2
        or domain[-1] != m
        or m < 16
        or size == m
    ):
        return False
    if isinstance(unit, Product) and in_parts(unit):  # neither does it come row by row
        return False
    if nest.is_one_row or not nest.stored or unit.grain > 8 * fusion.tuning.joined_tile or nest.tile % unit.grain:
        return False
    whole = nest.whole(slot)  # else in another order
    return all([view.root != slot or view == whole for view in [fusion.views[i] for i in nest.read]])
