"""Which products are computed tile by tile together with the loop nest that reads them, while the tile is in the cache.

So a bias, an activation, an optimizer's update or another product added to this one cost no trip through memory; and a
product that nothing else reads is never in memory as a whole.
"""

from __future__ import annotations

from adjoint.execution.native.fuse import Fusion, Host, Nest, Product, View, contiguous
from adjoint.execution.native.ir import ITEMSIZE
from adjoint.execution.native.products import choose
from adjoint.shapes import size_of

JOINED_FROM = 1 << 16  # elements of a product: smaller ones stay in the cache anyway
TILE = 1 << 15  # elements of a tile
MIN_ROWS = 64


def join(fusion: Fusion) -> None:
    """Move products into the nests that read them, and choose how every product is computed."""
    readers = _readers(fusion)
    kept = {fusion.views[s].root for s in fusion.results if s in fusion.views}
    joined: set[int] = set()
    for index, unit in enumerate(fusion.units):
        if not isinstance(unit, Product):
            continue
        (n, k), m = unit.a.shape[-2:], unit.b.shape[-1]
        batch, slot = size_of(unit.shape[:-2]), unit.step.output
        places = readers.get(slot, [])
        nest = fusion.units[places[0]] if places else None
        rows = None
        if isinstance(nest, Nest) and _fits(fusion, unit, nest):
            rows = nest.tile_rows = nest.tile_rows or _tile_rows(batch, n, m)
            joined.add(index)
            nest.products.append(unit)
            if len(places) == 1 and slot not in kept:
                nest.tiles[slot] = -1  # given a place when it is written
        unit.choice = choose(unit.step.type.dtype.name, batch, n, k, m, rows)
    fusion.units = [unit for index, unit in enumerate(fusion.units) if index not in joined]


def _tile_rows(batch: int, n: int, m: int) -> int:
    """Rows in a tile: whole matrices of a batch, or a multiple of MIN_ROWS."""
    block = n if batch > 1 else MIN_ROWS
    return max(TILE // (m * block), 1) * block


def _readers(fusion: Fusion) -> dict[int, list[int]]:
    """The units that read each array from memory, in order."""
    readers: dict[int, list[int]] = {}
    for index, unit in enumerate(fusion.units):
        if isinstance(unit, Nest):
            read = {
                i for step in unit.steps for i in step.inputs if not (fusion.home.get(i) == index and i in unit.level)
            }
        elif isinstance(unit, Host):
            read = set(unit.step.inputs)
        else:
            read = set()
        roots = {fusion.views[i].root for i in read if i in fusion.views}
        if isinstance(unit, Product):
            roots = {unit.a.root, unit.b.root}
        for root in roots:
            readers.setdefault(root, []).append(index)
    return readers


def _fits(fusion: Fusion, product: Product, nest: Nest) -> bool:
    """Whether a nest can run on a product's rows as they come: it reads each element of them where it is."""
    size, slot, domain, (n, m) = size_of(product.shape), product.step.output, nest.domain, product.shape[-2:]
    batched = size > n * m
    if size < JOINED_FROM or size_of(domain) != size or len(domain) < 2 or domain[-1] != m or m < 16 or size == m:
        return False
    if nest.split == 0 or not nest.stored or (batched and n * m > 4 * TILE):
        return False
    if nest.tile_rows and batched and nest.tile_rows % n:
        return False
    produced = {step.output for step in nest.steps}
    for step in nest.steps:
        for i in step.inputs:
            if i in produced or i not in fusion.views or fusion.views[i].root != slot:
                continue
            if fusion.views[i] != View(slot, 0, domain, contiguous(domain)):
                return False  # it is read in another order
    return True


def tile_bytes(product: Product, rows: int) -> int:
    """Bytes of a tile of so many rows."""
    return rows * product.shape[-1] * ITEMSIZE[product.step.type.dtype.name]
