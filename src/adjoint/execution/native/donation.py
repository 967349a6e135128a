"""Which results may be written over which leaves.

The caller of a program may donate leaves: arrays that nobody reads after the run, such as the moments of an optimizer that
its step replaces. Where a loop nest reads a leaf only at the element that it writes, the result may lie in the leaf's
memory: no page is touched for the first time, and half as many lines pass through the cache.
"""

from __future__ import annotations

from typing import Any

from adjoint.execution.memory import ALIGNMENT, address
from adjoint.execution.native.fuse import Fusion, Host, Move, Nest, Product, Unit, View, Window, contiguous


def overwritable(fusion: Fusion, results: list[int]) -> dict[int, tuple[int, ...]]:
    """The leaves whose memory each result may take."""
    leaves = len(fusion.plan.leaf_types)
    failing = [k for k, u in enumerate(fusion.units) if isinstance(u, Host) or (isinstance(u, Move) and u.indices)]
    last_failing = max(failing, default=-1)
    roots = [_roots(fusion, unit) for unit in fusion.units]
    last_reader = {root: index for index, read in enumerate(roots) for root in read}
    kept = {fusion.views[s].root for s in fusion.results if s not in fusion.objects}
    wanted = set(results)
    found: dict[int, tuple[int, ...]] = {}
    for index, unit in enumerate(fusion.units):
        # after host code and checks of indices, which may fail: a run that failed must find its leaves as they were
        if not isinstance(unit, Nest) or unit.by_row or index <= last_failing:
            continue
        made = [s for s in unit.stored if s in wanted and unit.level[s] == "element"]
        if not made:
            continue
        free = [
            leaf for leaf in sorted(roots[index])
            if leaf < leaves and leaf not in kept and last_reader[leaf] == index and _only_at_its_element(fusion, unit, leaf)
        ]  # fmt: skip
        for result in made:
            shape, dtype = fusion.shapes[result], fusion.dtypes[result]
            found[result] = tuple([x for x in free if fusion.shapes.get(x) == shape and fusion.dtypes[x] == dtype])
    return found


def is_lendable(array: Any) -> bool:
    """Whether a result may lie in this memory: it can be written, and vectors in it don't straddle cache lines."""
    return address(array) % ALIGNMENT == 0 and bool(array.flags.writeable)


def _roots(fusion: Fusion, unit: Unit) -> set[int]:
    """The arrays in memory that a unit may read."""
    if isinstance(unit, Product | Window | Move):
        return {view.root for view in unit.reads}
    steps = unit.steps if isinstance(unit, Nest) else [unit.step]
    products = unit.made if isinstance(unit, Nest) else []
    roots = {fusion.views[i].root for step in steps for i in step.inputs if i in fusion.views}
    return roots | {view.root for product in products for view in product.reads}


def _only_at_its_element(fusion: Fusion, nest: Nest, leaf: int) -> bool:
    if any(view.root == leaf for product in nest.made for view in product.reads):
        return False
    whole = View(leaf, 0, nest.domain, contiguous(nest.domain))
    for step in nest.steps:
        for i in step.inputs:
            view = fusion.views.get(i)
            if view is not None and view.root == leaf and view != whole:
                return False
    return True
