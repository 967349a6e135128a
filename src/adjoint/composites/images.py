"""Convolution and pooling of images as users call them: sizes given once or twice, padding by name, batches or not."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.graph import Node
from adjoint.primitives.convolution import Geometry, Pair
from adjoint.primitives.core import ops
from adjoint.primitives.pooling import Pool


def pair(name: str, what: str, value: Any, least: int = 1) -> Pair:
    """Two ints from one or two. Raises TypeError for anything else, ValueError for one that is too small."""
    items = value if isinstance(value, tuple | list) else (value, value)
    try:
        found = tuple([operator.index(item) for item in items])
    except TypeError:
        found = ()
    if len(found) != 2:
        raise TypeError(f"{name}: {what} is an int or a pair of ints, not {value!r}")
    if min(found) < least:
        raise ValueError(f"{name}: {what} must be at least {least}, not {value!r}")
    return found[0], found[1]


def paddings(name: str, padding: Any, sizes: Pair, stride: Pair, dilation: Pair) -> tuple[Pair, Pair]:
    """The zeros before and after each axis. `"same"` puts an odd one after, as PyTorch does."""
    if padding == "valid":
        return (0, 0), (0, 0)
    if padding == "same":
        if stride != (1, 1):
            raise ValueError(f"{name}: padding='same' needs stride 1, not {stride}")
        both = [d * (k - 1) for k, d in zip(sizes, dilation, strict=True)]
        return (both[0] // 2, both[0] - both[0] // 2), (both[1] // 2, both[1] - both[1] // 2)
    if isinstance(padding, str):
        raise ValueError(f"{name}: padding is 'valid', 'same', an int or a pair of ints, not {padding!r}")
    rows, columns = pair(name, "padding", padding, 0)
    return (rows, rows), (columns, columns)


def of_batch(name: str, x: Node, function: Callable[[Node], Node]) -> Node:
    """A function of images (N, C, H, W), on one image (C, H, W) too."""
    if x.ndim == 4:
        return function(x)
    if x.ndim != 3:
        raise ValueError(f"{name}: expected images of shape (N, C, H, W) or (C, H, W), got shape {x.shape}")
    found = function(ops.reshape(x, (1, *x.shape)))
    return ops.reshape(found, found.shape[1:])


def conv2d(x: Node, weight: Node, bias: Node | None, stride: Any, padding: Any, dilation: Any, groups: int) -> Node:
    name = "conv2d"
    if weight.ndim != 4:
        raise ValueError(f"{name}: the weight has shape (out, in / groups, rows, columns); its shape is {weight.shape}")
    sizes, channels = (weight.shape[2], weight.shape[3]), weight.shape[1] * groups
    steps, gaps = pair(name, "stride", stride), pair(name, "dilation", dilation)
    geometry = Geometry(steps, paddings(name, padding, sizes, steps, gaps), gaps, groups)
    if groups < 1 or weight.shape[0] % groups:
        raise ValueError(f"{name}: {weight.shape[0]} output channels don't divide into {groups} groups")
    if x.ndim in (3, 4) and x.shape[-3] != channels:
        raise ValueError(
            f"{name}: a weight of shape {weight.shape} in {groups} group{'s' * (groups > 1)} takes {channels} channels; "
            f"the input of shape {x.shape} has {x.shape[-3]}"
        )
    if x.ndim in (3, 4) and min(geometry.counts((x.shape[-2], x.shape[-1]), sizes)) < 1:
        raise ValueError(
            f"{name}: a kernel of {sizes} with dilation {gaps} and padding {padding} does not fit images of shape {x.shape}"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"{name}: the bias has shape {weight.shape[:1]}, not {bias.shape}")
    if bias is not None and bias.dtype.kind == "c":
        raise TypeError(f"{name}: the bias is {bias.dtype.name}; convolutions are of real numbers, not complex ones")

    def convolved(images: Node) -> Node:
        y = ops.convolution(images, weight, geometry)
        return y if bias is None else ops.add(y, ops.reshape(bias, (weight.shape[0], 1, 1)))

    return of_batch(name, x, convolved)


# Pooling --------------------------------------------------------------------------------------------------------------


def windows(name: str, x: Node, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Pool:
    """Where the windows lie. With `ceil_mode` a last one may reach outside if it starts inside, padding in front included."""
    sizes, gaps = pair(name, "kernel_size", kernel_size), pair(name, "dilation", dilation)
    steps = sizes if stride is None else pair(name, "stride", stride)
    before = pair(name, "padding", padding, 0)
    if x.ndim not in (3, 4):
        raise ValueError(f"{name}: expected images of shape (N, C, H, W) or (C, H, W), got shape {x.shape}")
    if x.dtype.kind != "f":
        raise TypeError(f"{name}: not defined for {x.dtype.name}; it takes floating arrays")
    if any(2 * p > k for p, k in zip(before, sizes, strict=True)):
        raise ValueError(f"{name}: padding {padding} is more than half of kernel_size {kernel_size}")
    counts = []
    for n, k, s, p, d in zip(x.shape[-2:], sizes, steps, before, gaps, strict=True):
        free = n + 2 * p - d * (k - 1) - 1
        count = (-(-free // s) if ceil_mode else free // s) + 1
        if ceil_mode and (count - 1) * s >= n + p:
            count -= 1
        counts.append(count)
    if min(counts) < 1:
        raise ValueError(f"{name}: a window of {sizes} does not fit images of shape {x.shape} with padding {padding}")
    return Pool(sizes, steps, gaps, before, (x.shape[-2], x.shape[-1]), (counts[0], counts[1]))


def max_pool2d(x: Node, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Node:
    return ops.max_pool(x, windows("max_pool2d", x, kernel_size, stride, padding, dilation, ceil_mode))


def max_pool2d_indices(x: Node, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Node:
    """The positions of the maxima in the flattened image, as PyTorch returns them."""
    pool = windows("max_pool2d", x, kernel_size, stride, padding, dilation, ceil_mode)
    cells = ops.astype(ops.max_pool_positions(x, pool), ops.iota(1).dtype)
    (_, kw), (dh, dw), width = pool.sizes, pool.dilation, pool.extents[1]
    starts = [np.arange(n) * s - p for n, s, p in zip(pool.counts, pool.stride, pool.before, strict=True)]
    corner = ops.data(starts[0][:, None] * width + starts[1])
    down, right = ops.floor_divide(cells, kw), ops.remainder(cells, kw)
    return ops.add(ops.add(ops.multiply(down, dh * width), ops.multiply(right, dw)), corner)


def avg_pool2d(
    x: Node, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool, divisor: int | None
) -> Node:
    pool = windows("avg_pool2d", x, kernel_size, stride, padding, 1, ceil_mode)
    if divisor is not None and divisor < 1:
        raise ValueError(f"avg_pool2d: divisor_override must be positive, not {divisor}")
    summed = ops.pool_sum(x, pool)
    if divisor is not None:
        return ops.divide(summed, float(divisor))
    sides = []
    for axis in range(2):
        starts = np.arange(pool.counts[axis]) * pool.stride[axis] - pool.before[axis]
        n, p = pool.extents[axis], pool.before[axis] if count_include_pad else 0
        # what lies beyond the padding, as in a last window of ceil_mode, never counts
        sides.append(np.minimum(starts + pool.sizes[axis], n + p) - np.maximum(starts, -p))
    sizes = sides[0][:, None] * sides[1]
    if (sizes == sizes[0, 0]).all():
        return ops.divide(summed, float(sizes[0, 0]))
    return ops.divide(summed, ops.data(sizes.astype(x.dtype.dtype)))


def adaptive_avg_pool2d(x: Node, output_size: Any) -> Node:
    name = "adaptive_avg_pool2d"
    if x.ndim not in (3, 4):
        raise ValueError(f"{name}: expected images of shape (N, C, H, W) or (C, H, W), got shape {x.shape}")
    if x.dtype.kind != "f":
        raise TypeError(f"{name}: not defined for {x.dtype.name}; it takes floating arrays")
    items = output_size if isinstance(output_size, tuple | list) else (output_size, output_size)
    kept = [n if m is None else m for m, n in zip(items, x.shape[-2:], strict=False)]
    counts = pair(name, "output_size", tuple(kept) if len(items) == 2 else output_size)
    extents = (x.shape[-2], x.shape[-1])
    if not math.prod(extents):
        raise ValueError(f"{name}: nothing to average in images of shape {x.shape}")
    if counts == (1, 1):
        return ops.divide(
            ops.reshape(ops.sum(x, (x.ndim - 2, x.ndim - 1)), (*x.shape[:-2], 1, 1)), float(math.prod(extents))
        )
    if all(n % m == 0 for n, m in zip(extents, counts, strict=True)):
        size = (extents[0] // counts[0], extents[1] // counts[1])
        pool = Pool(size, size, (1, 1), (0, 0), extents, counts)
        return ops.divide(ops.pool_sum(x, pool), float(math.prod(size)))
    rows, columns = [_averages(n, m, x) for n, m in zip(extents, counts, strict=True)]
    lead = x.shape[:-2]
    wide = ops.reshape(x, (math.prod(lead) * extents[0], extents[1]))  # one product of many rows
    narrow = ops.reshape(ops.matmul(wide, ops.matrix_transpose(columns)), (*lead, extents[0], counts[1]))
    return ops.matmul(ops.broadcast_to(rows, (*lead, *rows.shape)), narrow)


def _averages(extent: int, count: int, like: Node) -> Node:
    """The matrix (count, extent) of averages over windows from ⌊i·n/m⌋ to ⌈(i+1)·n/m⌉."""
    matrix = np.zeros((count, extent), like.dtype.dtype)
    for i in range(count):
        start, stop = i * extent // count, -(-(i + 1) * extent // count)
        matrix[i, start:stop] = 1 / (stop - start)
    return ops.data(matrix)
