"""Which results may be written over which leaves.

The caller of a program may donate leaves: arrays that nobody reads after the run, such as the moments of an optimizer that
its step replaces. Where a loop nest reads a leaf only at the element that it writes, the result may lie in the leaf's
memory: no page is touched for the first time, and half as many lines pass through the cache.
"""

from __future__ import annotations

from adjoint.execution.native.fuse import Fusion, Host, Nest, Product, View, contiguous


def overwritable(fusion: Fusion, results: list[int]) -> dict[int, int]:
    """A leaf for each result that may take its memory. No leaf serves two."""
    leaves = len(fusion.plan.leaf_types)
    last_host = max([k for k, unit in enumerate(fusion.units) if isinstance(unit, Host)], default=-1)
    last_reader: dict[int, int] = {}
    for index, unit in enumerate(fusion.units):
        for root in _roots(fusion, unit):
            last_reader[root] = index
    kept = {fusion.views[s].root for s in fusion.results if s not in fusion.objects}
    taken: set[int] = set()
    found: dict[int, int] = {}
    for index, unit in enumerate(fusion.units):
        # after host code, which may fail: a run that failed must find its leaves as they were
        if not isinstance(unit, Nest) or unit.by_row or index <= last_host:
            continue
        for result in results:
            if result not in unit.stored or unit.level[result] != "element":
                continue
            for leaf in range(leaves):
                if (
                    leaf not in taken
                    and leaf not in kept
                    and last_reader.get(leaf) == index
                    and fusion.shapes.get(leaf) == fusion.shapes[result]
                    and fusion.dtypes[leaf] == fusion.dtypes[result]
                    and _only_at_its_element(fusion, unit, leaf)
                ):
                    taken.add(leaf)
                    found[result] = leaf
                    break
    return found


def _roots(fusion: Fusion, unit: Nest | Product | Host) -> set[int]:
    """The arrays in memory that a unit may read."""
    if isinstance(unit, Product):
        return {unit.a.root, unit.b.root}
    steps = unit.steps if isinstance(unit, Nest) else [unit.step]
    found = {fusion.views[i].root for step in steps for i in step.inputs if i in fusion.views}
    for product in unit.products if isinstance(unit, Nest) else []:
        found |= {product.a.root, product.b.root}
    return found


def _only_at_its_element(fusion: Fusion, nest: Nest, leaf: int) -> bool:
    if any(leaf in (product.a.root, product.b.root) for product in nest.products):
        return False
    whole = View(leaf, 0, nest.domain, contiguous(nest.domain))
    for step in nest.steps:
        for i in step.inputs:
            view = fusion.views.get(i)
            if view is not None and view.root == leaf and view != whole:
                return False
    return True
