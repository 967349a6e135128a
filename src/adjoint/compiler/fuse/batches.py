"""Which products of a batch run behind the loop nest that makes or reads one of their matrices, while it is in the cache.

So attention is computed matrix by matrix: scores, their softmax, its product with the values; and on the way back four
products around one nest. Weights that only such products read are never in memory as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Nest, Product, Unit, View
from adjoint.compiler.schedule.matmul import is_batch
from adjoint.shapes import contiguous, size_of


def follow(
    fusion: Fusion, units: list[Unit], readers: Mapping[int, Sequence[int]], kept: set[int], at: list[int]
) -> None:
    """Move products behind nests. `at` says where each unit runs, joined ones elsewhere than they stand."""
    made: dict[int, int] = {}  # where each array is complete
    for index, unit in enumerate(units):
        made.update(dict.fromkeys(unit.outputs, at[index]))
    for index, unit in enumerate(units):
        if not isinstance(unit, Product) or at[index] != index or not is_batch(unit):
            continue
        for view in unit.reads:
            places = [made.get(view.root, -1), *[at[k] for k in readers.get(view.root, ())]]
            found = [p for p in places if p >= 0 and _may_follow(fusion, units[p], unit, view, p, made)]
            found = [p for p in found if all(at[k] > p for k in readers.get(unit.step.output, ()))]
            if found:
                nest = units[found[0]]
                assert isinstance(nest, Nest)
                matrix = size_of(nest.domain[-2:])
                tile = nest.tile or max(fusion.tuning.followed_tile // matrix, 1) * matrix
                units[found[0]] = nest._replace(followers=(*nest.followers, unit), tile=tile)
                at[index] = made[unit.step.output] = found[0]
                break
    for index, unit in enumerate(units):
        if isinstance(unit, Nest) and unit.followers and not unit.by_cells:
            read = {view.root for follower in unit.followers for view in follower.reads}
            behind = {follower.step.output for follower in unit.followers}
            alone = [
                slot
                for slot in read.intersection(unit.stored) - kept
                if all(at[k] == index != k and units[k].outputs[0] in behind for k in readers[slot])
            ]
            if alone:
                units[index] = unit._replace(tiles=(*unit.tiles, *alone))


def _may_follow(fusion: Fusion, nest: Unit, product: Product, view: View, place: int, made: dict[int, int]) -> bool:
    """Whether a product may run behind the unit at a place: it is a nest, which passes over the matrices of the view, and what
    else the product reads is there by then, and what is computed anew for a checkpoint wouldn't be computed early."""
    if not isinstance(nest, Nest) or nest.by_cells or not _passes_over(fusion, nest, product, view):
        return False
    if any(fusion.ready[i] > place + (fusion.views[i].root in nest.stored) for i in product.step.inputs):
        return False
    return all(made.get(v.root, -1) < place or (v.root in nest.stored and _passes_over(fusion, nest, product, v))
               for v in product.reads)  # fmt: skip


def _passes_over(fusion: Fusion, nest: Nest, product: Product, view: View) -> bool:
    """Whether a nest makes or reads the matrices that a product reads through a view, in the order of the batch."""
    domain = nest.domain
    if nest.is_one_row or len(domain) < 3 or domain[-1] < 16 or size_of(domain) < fusion.tuning.followed_from:
        return False
    matrix, steps = size_of(domain[-2:]), contiguous(domain)
    if matrix > fusion.tuning.followed_matrix or nest.tile % matrix or not nest.stored:
        return False
    if nest.level.get(view.root) != "element" or view.root not in nest.stored:
        whole = View(view.root, 0, domain, steps)
        if not any(fusion.views.get(i) == whole for step in nest.steps for i in step.inputs if i not in nest.level):
            return False
    batch = domain[:-2] == product.shape[:-2] == view.shape[:-2] and view.strides[:-2] == steps[:-2]
    as_it_is = view.shape[-2:] == domain[-2:] and view.strides[-2:] == steps[-2:]
    turned = view.shape[-2:] == domain[:-3:-1] and view.strides[-2:] == steps[:-3:-1]
    return batch and view.offset == 0 and (as_it_is or turned)
