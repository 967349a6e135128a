"""Pooling as users call it, over one, two or three axes: largest numbers and means of windows, given or fitted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.composites.indexing import never_from_the_end
from adjoint.composites.resampling import Taps, resampled
from adjoint.composites.windows import THINGS, as_image, as_signal, check_rank, sizes_of
from adjoint.dtypes import int64
from adjoint.graph import Node, array_type
from adjoint.primitives.core import ops
from adjoint.primitives.pooling import Pool
from adjoint.shapes import Shape

MOST_CELLS = 64  # of a window that is gone through cell by cell; a larger one that is the whole image is a line


def _checked(name: str, rank: int, x: Node) -> None:
    check_rank(name, x, rank)
    if x.dtype.kind != "f":
        raise TypeError(f"{name}: not defined for {x.dtype.name}; it takes floating arrays")


def windows(
    name: str, rank: int, x: Node, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Pool:
    """Where the windows lie. With `ceil_mode` a last one may reach outside if it starts inside, padding in front included."""
    sizes, gaps = sizes_of(name, "kernel_size", kernel_size, rank), sizes_of(name, "dilation", dilation, rank)
    steps = sizes if stride is None else sizes_of(name, "stride", stride, rank)
    before = sizes_of(name, "padding", padding, rank, 0)
    _checked(name, rank, x)
    if any(2 * p > k for p, k in zip(before, sizes, strict=True)):
        raise ValueError(f"{name}: padding {padding} is more than half of kernel_size {kernel_size}")
    extents, counts = x.shape[-rank:], []
    for n, k, s, p, d in zip(extents, sizes, steps, before, gaps, strict=True):
        free = n + 2 * p - d * (k - 1) - 1
        count = (-(-free // s) if ceil_mode else free // s) + 1
        if ceil_mode and (count - 1) * s >= n + p:
            count -= 1
        counts.append(count)
    if min(counts) < 1:
        raise ValueError(
            f"{name}: a window of {sizes} does not fit {THINGS[rank]} of shape {x.shape} with padding {padding}"
        )
    return Pool(sizes, steps, gaps, before, extents, tuple(counts))


def _flat(pool: Pool) -> Pool:
    """The pool of a signal as that of an image of one row."""
    front = {"before": 0}
    return Pool(**{field: (front.get(field, 1), *value) for field, value in pool._asdict().items()})


def _covers(pool: Pool) -> bool:
    """Whether there is one window, the whole image."""
    return pool.sizes == pool.extents and not any(pool.before) and math.prod(pool.sizes) > MOST_CELLS


def _first_largest(x: Node, rank: int) -> tuple[Node, Node]:
    """Images as lines, and where each has its largest pixel."""
    lead = x.shape[: x.ndim - rank]
    n = math.prod(x.shape[x.ndim - rank :])
    flat = ops.reshape(x, (*lead, n))
    numbers = ops.broadcast_to(ops.iota(n), flat.shape)
    last = ops.max(ops.where(ops.isnan(flat), numbers, -1), (len(lead),))  # of several NaN, as in smaller windows
    place = ops.where(ops.greater_equal(last, 0), last, ops.argmax(flat, len(lead)))
    return flat, ops.reshape(place, (*lead, 1))


def _largest(x: Node, pool: Pool) -> Node:
    if _covers(pool):
        flat, place = _first_largest(x, pool.rank)
        found = ops.take_along_axis(flat, place, flat.ndim - 1)
        return ops.reshape(found, (*x.shape[: x.ndim - pool.rank], *pool.counts))
    return ops.max_pool(x, pool) if pool.rank > 1 else as_signal(ops.max_pool(as_image(x), _flat(pool)))


def _total(x: Node, pool: Pool) -> Node:
    return ops.pool_sum(x, pool) if pool.rank > 1 else as_signal(ops.pool_sum(as_image(x), _flat(pool)))


def _indices(x: Node, pool: Pool) -> Node:
    """The positions of the maxima in the flattened image, as PyTorch returns them."""
    if _covers(pool):
        return ops.reshape(_first_largest(x, pool.rank)[1], (*x.shape[: x.ndim - pool.rank], *pool.counts))
    if pool.rank == 1:
        return as_signal(_indices(as_image(x), _flat(pool)))
    cells = ops.astype(ops.max_pool_positions(x, pool), int64)
    found = ops.data(_corners(pool))
    step, inner = 1, 1
    for axis in reversed(range(pool.rank)):
        along = ops.remainder(ops.floor_divide(cells, inner), pool.sizes[axis])
        found = ops.add(ops.multiply(along, pool.dilation[axis] * step), found)
        step, inner = step * pool.extents[axis], inner * pool.sizes[axis]
    return found


def _corners(pool: Pool) -> Any:
    """The position of each window's first cell, which may lie outside, in the flattened image."""
    found = np.zeros((), np.int64)
    for count, stride, before, extent in zip(pool.counts, pool.stride, pool.before, pool.extents, strict=True):
        found = found[..., None] * extent + np.arange(count) * stride - before
    return found


def max_pool(rank: int, x: Node, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Node:
    name = f"max_pool{rank}d"
    return _largest(x, windows(name, rank, x, kernel_size, stride, padding, dilation, ceil_mode))


def max_pool_indices(
    rank: int, x: Node, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Node:
    name = f"max_pool{rank}d"
    return _indices(x, windows(name, rank, x, kernel_size, stride, padding, dilation, ceil_mode))


def avg_pool(
    rank: int,
    x: Node,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
) -> Node:
    name = f"avg_pool{rank}d"
    pool = windows(name, rank, x, kernel_size, stride, padding, 1, ceil_mode)
    if divisor == 0:
        raise ValueError(f"{name}: divisor_override must not be zero")
    summed = _total(x, pool)
    if divisor is not None:
        return ops.divide(summed, float(divisor))
    sizes = _cells(pool, count_include_pad)
    if (sizes == sizes.flat[0]).all():
        return ops.divide(summed, float(sizes.flat[0]))
    return ops.divide(summed, ops.data(sizes.astype(x.dtype.dtype)))


def _cells(pool: Pool, padding_counts: bool) -> Any:
    """How many cells of each window count; what lies beyond the padding, as in a last one of ceil_mode, never does."""
    found = np.ones((), np.int64)
    for axis in range(pool.rank):
        starts = np.arange(pool.counts[axis]) * pool.stride[axis] - pool.before[axis]
        n, p = pool.extents[axis], pool.before[axis] if padding_counts else 0
        found = found[..., None] * (np.minimum(starts + pool.sizes[axis], n + p) - np.maximum(starts, -p))
    return found


def lp_pool(rank: int, x: Node, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool) -> Node:
    """(Σ x^p)^(1/p) over each window; a last one of ceil_mode counts as if it were full."""
    name = f"lp_pool{rank}d"
    if norm_type == 0:
        raise ValueError(f"{name}: norm_type must not be 0")
    pool = windows(name, rank, x, kernel_size, stride, 0, 1, ceil_mode)
    powers = ops.power(x, float(norm_type))
    means = ops.divide(_total(powers, pool), ops.data(_cells(pool, padding_counts=True).astype(x.dtype.dtype)))
    return ops.power(ops.multiply(means, float(math.prod(pool.sizes))), 1.0 / norm_type)


# Windows that are fitted: number i of m over n pixels goes from ⌊i·n/m⌋ to ⌈(i+1)·n/m⌉ ----------------------------------


def _fitted(name: str, rank: int, x: Node, output_size: Any) -> Shape:
    """How many windows there are along each axis; None keeps an axis. Raises ValueError when there is nothing in them."""
    _checked(name, rank, x)
    extents = x.shape[-rank:]
    items = output_size if isinstance(output_size, tuple | list) else (output_size,) * rank
    kept = tuple([n if m is None else m for m, n in zip(items, extents, strict=False)])
    counts = sizes_of(name, "output_size", kept if len(items) == rank else output_size, rank)
    if not math.prod(extents):
        raise ValueError(f"{name}: nothing to average in {THINGS[rank]} of shape {x.shape}")
    return counts


def _even(extents: Shape, counts: Shape) -> Pool | None:
    """The pool with these windows where all are of one size."""
    if any(n % m for n, m in zip(extents, counts, strict=True)):
        return None
    size = tuple([n // m for n, m in zip(extents, counts, strict=True)])
    return Pool(size, size, (1,) * len(size), (0,) * len(size), extents, counts)


def _stretch(extent: int, count: int) -> list[range]:
    return [range(i * extent // count, -(-(i + 1) * extent // count)) for i in range(count)]


def adaptive_avg_pool(rank: int, x: Node, output_size: Any) -> Node:
    name = f"adaptive_avg_pool{rank}d"
    counts = _fitted(name, rank, x, output_size)
    extents = x.shape[-rank:]
    if set(counts) == {1}:
        total = ops.sum(x, tuple(range(x.ndim - rank, x.ndim)))
        return ops.divide(ops.reshape(total, (*x.shape[:-rank], *counts)), float(math.prod(extents)))
    pool = _even(extents, counts)
    if pool is not None:
        return ops.divide(_total(x, pool), float(math.prod(pool.sizes)))
    for axis, (n, m) in enumerate(zip(extents, counts, strict=True), x.ndim - rank):
        x = resampled(x, axis, Taps.of([(part, [1 / len(part)] * len(part)) for part in _stretch(n, m)]))
    return x


def adaptive_max_pool(rank: int, x: Node, output_size: Any) -> tuple[Node, Node]:
    """The largest of each fitted window, and its position in the flattened image."""
    name = f"adaptive_max_pool{rank}d"
    counts = _fitted(name, rank, x, output_size)
    extents, lead = x.shape[-rank:], x.shape[:-rank]
    pool = _even(extents, counts)
    if pool is not None:
        return _largest(x, pool), _indices(x, pool)
    table = ops.data(_positions(extents, counts))
    flat = ops.reshape(x, (*lead, math.prod(extents)))
    first = ops.argmax(ops.take(flat, table, len(lead)), x.ndim - rank + 1)
    own = ops.broadcast_to(ops.iota(table.shape[0]), (*lead, table.shape[0]))
    places = ops.gather(table, [own, ops.astype(first, int64)])
    largest = ops.take_along_axis(flat, places, len(lead))
    return ops.reshape(largest, (*lead, *counts)), ops.reshape(places, (*lead, *counts))


def fractional_sizes(rank: int, x: Node, kernel_size: Any, output_size: Any, output_ratio: Any) -> tuple[Shape, Shape]:
    """The windows' sizes and how many of them there are along each axis. Raises ValueError where they don't fit."""
    name = f"fractional_max_pool{rank}d"
    _checked(name, rank, x)
    extents, sizes = x.shape[-rank:], sizes_of(name, "kernel_size", kernel_size, rank)
    if (output_size is None) == (output_ratio is None):
        raise ValueError(f"{name}: give one of output_size and output_ratio")
    if output_ratio is None:
        counts = sizes_of(name, "output_size", output_size, rank)
    else:
        ratios = tuple(output_ratio) if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * rank
        if len(ratios) != rank or not all([0 < r < 1 for r in ratios]):
            raise ValueError(f"{name}: output_ratio must lie between 0 and 1, one number or {rank}; got {output_ratio}")
        counts = tuple([int(n * r) for n, r in zip(extents, ratios, strict=True)])
    for n, m, k in zip(extents, counts, sizes, strict=True):
        if m < 1 or m + k - 1 > n:
            raise ValueError(f"{name}: {m} windows of {k} don't fit into {n}")
    return sizes, counts


def fractional_max_pool(x: Node, samples: Node, sizes: Shape, counts: Shape) -> tuple[Node, Node]:
    """The largest of each window, and its position in the flattened image. `samples` (..., axes) in [0, 1), of x's dtype, say
    where the windows of each channel lie."""
    rank = len(sizes)
    extents, lead = x.shape[-rank:], x.shape[:-rank]
    ones = (1,) * rank
    positions: Node | None = None  # (*lead, *counts, *sizes)
    for axis, (n, k, m) in enumerate(zip(extents, sizes, counts, strict=True)):
        u = ops.slice_(samples, (*[(0, s, 1) for s in lead], (axis, 1, 1)))
        first = ops.reshape(_starts(u, n, k, m), (*lead, *ones[:axis], m, *ones[axis + 1 :], *ones))
        cells = ops.reshape(ops.iota(k), (*ones, *ones[:axis], k, *ones[axis + 1 :]))
        own = ops.add(first, ops.reshape(cells, (*(1,) * len(lead), *cells.shape)))
        positions = own if positions is None else ops.add(ops.multiply(positions, n), own)
    assert positions is not None
    windows, cells_of_each = math.prod(counts), math.prod(sizes)
    table = ops.reshape(positions, (*lead, windows, cells_of_each))
    flat = ops.reshape(x, (*lead, math.prod(extents)))
    each = ops.take_along_axis(flat, ops.reshape(table, (*lead, windows * cells_of_each)), len(lead))
    greatest = ops.argmax(ops.reshape(each, table.shape), len(lead) + 1)
    own = ops.reshape(ops.astype(greatest, int64), (*lead, windows, 1))
    places = ops.reshape(ops.take_along_axis(table, own, len(lead) + 1), (*lead, windows))
    largest = ops.take_along_axis(flat, places, len(lead))
    return ops.reshape(largest, (*lead, *counts)), ops.reshape(places, (*lead, *counts))


def _starts(u: Node, extent: int, size: int, count: int) -> Node:
    """Where the windows begin: (..., count) for the numbers (..., 1), the last at the end."""
    last = ops.full(extent - size, array_type((*u.shape[:-1], 1), int64))
    if count == 1:
        return last
    gap = (extent - size) / (count - 1)
    steps = ops.multiply(ops.add(ops.iota(count - 1, u.dtype), u), gap)
    begin = ops.subtract(ops.astype(ops.floor(steps), int64), ops.astype(ops.floor(ops.multiply(u, gap)), int64))
    return ops.concat([begin, last], begin.ndim - 1)


def _positions(extents: Shape, counts: Shape) -> Any:
    """The cells of each window in the flattened image: (windows, most cells), the first repeated in smaller ones."""
    cells: list[list[int]] = [[0]]
    for n, m in zip(extents, counts, strict=True):
        cells = [[place * n + i for place in outer for i in part] for outer in cells for part in _stretch(n, m)]
    most = max(map(len, cells))
    return np.array([part + [part[0]] * (most - len(part)) for part in cells])


def max_unpool(
    rank: int, x: Node, indices: Node, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Node:
    """Zeros with each number put where `max_pool` found it."""
    name = f"max_unpool{rank}d"
    _checked(name, rank, x)
    if indices.shape != x.shape or indices.dtype.kind not in "iu":
        raise ValueError(f"{name}: indices must be integers of the shape {x.shape}; got {indices.type}")
    sizes = sizes_of(name, "kernel_size", kernel_size, rank)
    steps = sizes if stride is None else sizes_of(name, "stride", stride, rank)
    before = sizes_of(name, "padding", padding, rank, 0)
    counts, lead = x.shape[-rank:], x.shape[:-rank]
    extents = tuple([(n - 1) * s + k - 2 * p for n, k, s, p in zip(counts, sizes, steps, before, strict=True)])
    if output_size is not None:
        wanted = tuple(output_size)[-rank:]
        fits = [abs(n - m) < s for n, m, s in zip(wanted, extents, steps, strict=False)]
        if len(wanted) != rank or not all(fits):
            raise ValueError(f"{name}: output_size {tuple(output_size)} is too far from {extents}, which windows cover")
        extents = wanted
    flat, places = [ops.reshape(y, (*lead, math.prod(counts))) for y in (x, ops.astype(indices, int64))]
    grid = []  # the positions along the axes in front
    for axis, n in enumerate(lead):
        along = ops.reshape(ops.iota(n), tuple([n if i == axis else 1 for i in range(flat.ndim)]))
        grid.append(ops.broadcast_to(along, flat.shape))
    zeros = ops.zeros(array_type((*lead, math.prod(extents)), x.dtype))
    places = never_from_the_end(places, math.prod(extents))
    return ops.reshape(ops.scatter(zeros, flat, [*grid, places]), (*lead, *extents))
