"""Which loop nests are computed cell by cell of an image, on what a convolution or a pool has in registers.

Bias and activation between a convolution and a pool then cost no trip through memory: a pool reads what the nest would have
read, and computes the nest's steps on each cell of its windows; a convolution of our own computes them, and the pool, on its
results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Nest, Unit, Window, broadcast
from adjoint.compiler.loops.build import lanes_of
from adjoint.compiler.loops.formulas import lowered
from adjoint.shapes import size_of

MOST_TOGETHER = 9  # cells of a pool's window that are computed together, in registers


def join_cells(
    fusion: Fusion, units: list[Unit], readers: Mapping[int, Sequence[int]], kept: set[int], at: list[int]
) -> None:
    """Move pools behind the nests that only they read, and convolutions before those that alone read them. `at` says where each
    unit runs, joined ones elsewhere than they stand."""
    made = {unit.step.output: index for index, unit in enumerate(units) if isinstance(unit, Window)}
    if not made:
        return
    made = {slot: index for slot, index in made.items() if len(readers.get(slot, ())) == 1}
    for index, nest in enumerate(units):
        if not isinstance(nest, Nest) or not _is_plain(fusion, nest):
            continue
        pool = _pool_behind(units, nest, readers, kept)
        if pool is not None:
            at[pool] = index
            nest = nest._replace(followers=(_window(units, pool),), tiles=nest.stored[:1])
        source = _convolution_before(fusion, units, nest, made, kept)
        if source is not None:
            window = _window(units, source)
            at[source] = index
            nest = nest._replace(products=(window,), tiles=(*nest.tiles, window.step.output))
        units[index] = nest


def _window(units: list[Unit], index: int) -> Window:
    """The window that is this unit."""
    unit = units[index]
    assert isinstance(unit, Window)
    return unit


def _is_plain(fusion: Fusion, nest: Nest) -> bool:
    """Whether a nest computes numbers of one dtype from such numbers at each cell of channels-last images, and nothing else."""
    domain, level, dtypes = nest.domain, nest.level, fusion.dtypes
    if len(domain) != 4 or nest.split is not None or not nest.stored or len(nest.steps) > fusion.tuning.most_by_cells:
        return False
    dtype = dtypes[nest.stored[0]]
    if dtype not in ("float32", "float64") or any(dtypes[slot] != dtype for slot in nest.stored):
        return False
    channels = domain[-1]
    lanes = lanes_of("float32", channels)
    fills = 4 * channels >= 3 * -(-channels // lanes) * lanes  # else loops over all cells have fewer vectors
    for step in nest.steps:
        if not (fills or step.op.light or lowered(step.op.name) is None):
            return False
        if level[step.output] != "element" or dtypes[step.output] not in (dtype, "bool") or step.op.name == "padded":
            return False
        for slot in step.inputs:
            if slot not in level:
                view = fusion.views[slot]
                if dtypes[slot] != dtype or broadcast(view, domain).strides[-1] not in (0, 1):
                    return False
    return True


def _pool_behind(units: list[Unit], nest: Nest, readers: Mapping[int, Sequence[int]], kept: set[int]) -> int | None:
    """The unit of the pool that alone reads what a nest stores, each cell once."""
    slot = nest.stored[0]
    found = readers.get(slot, [])
    if len(nest.stored) > 1 or slot in kept or len(found) != 1:
        return None
    pool = units[found[0]]
    if not isinstance(pool, Window) or pool.step.op.name not in ("max_pool", "pool_sum"):
        return None
    cells = pool.step.attributes
    once = all(s >= d * (n - 1) + 1 for n, s, d in zip(cells.sizes, cells.stride, cells.dilation, strict=True))
    return found[0] if once and pool.reads == (nest.whole(slot),) else None


def _convolution_before(
    fusion: Fusion, units: list[Unit], nest: Nest, made: dict[int, int], kept: set[int]
) -> int | None:
    """The unit of the convolution by kernels of our own that a nest reads, each cell where it is; `made` says which units make
    what but one reads. The results that belong to a window of a pool behind the nest must be computed together."""
    read = [fusion.views[i] for i in sorted(nest.read)]
    for root in {view.root for view in read}.intersection(made) - kept:
        if all(view == nest.whole(root) for view in read if view.root == root) and _may_finish(
            _window(units, made[root]), nest
        ):
            return made[root]
    return None


def _may_finish(window: Window, nest: Nest) -> bool:
    """Whether a convolution may compute a nest on its results, and the pool behind it."""
    if window.step.op.name == "convolution_weight_gradient" or not window.is_ours:
        return False
    if window.step.op.name == "convolution_input_gradient" and window.step.attributes[0].stride != (1, 1):
        return False  # which come four by four
    if not nest.followers:
        return True
    (pool,) = nest.followers
    assert isinstance(pool, Window)
    cells = pool.step.attributes
    if pool.positions is not None or cells.stride != cells.sizes or cells.before != (0, 0) or cells.dilation != (1, 1):
        return False
    whole = all(n * k <= extent for n, k, extent in zip(cells.counts, cells.sizes, cells.extents, strict=True))
    return whole and (cells.sizes == (2, 2) if window.in_tiles else size_of(cells.sizes) <= MOST_TOGETHER)
