"""Composites that move elements: flips, rolls, padding, tiling, stacking, windows."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.composites.recipes import remembered_as_given
from adjoint.dtypes import real_of
from adjoint.graph import Node, array_type
from adjoint.primitives.core import cast, constant, inexact, match, ops
from adjoint.shapes import normalize_axes, normalize_axis, size_of


def permute(x: Node, axes: Sequence[int]) -> Node:
    order = tuple(normalize_axis(a, x.ndim, "permute_dims") for a in axes)
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"permute_dims: axes {tuple(axes)} are not a permutation of the {x.ndim} axes of {x.shape}")
    return ops.permute_dims(x, order)


def moveaxis(x: Node, source: Any, destination: Any) -> Node:
    sources = [normalize_axis(a, x.ndim, "moveaxis") for a in (source if isinstance(source, Sequence) else (source,))]
    targets = [
        normalize_axis(a, x.ndim, "moveaxis")
        for a in (destination if isinstance(destination, Sequence) else (destination,))
    ]
    if len(sources) != len(targets):
        raise ValueError(f"moveaxis: {len(sources)} sources but {len(targets)} destinations")
    if len(set(sources)) < len(sources) or len(set(targets)) < len(targets):
        raise ValueError(f"moveaxis: {source} to {destination} names an axis twice")
    order = [a for a in range(x.ndim) if a not in sources]
    for target, a in sorted(zip(targets, sources, strict=True)):
        order.insert(target, a)
    return ops.permute_dims(x, tuple(order))


def swapaxes(x: Node, first: int, second: int) -> Node:
    order = list(range(x.ndim))
    a, b = normalize_axis(first, x.ndim, "swapaxes"), normalize_axis(second, x.ndim, "swapaxes")
    order[a], order[b] = b, a
    return ops.permute_dims(x, tuple(order))


def expand_dims(x: Node, axis: Any) -> Node:
    items = axis if isinstance(axis, (tuple, list)) else (axis,)
    rank = x.ndim + len(items)
    axes = {normalize_axis(a, rank, "expand_dims") for a in items}
    if len(axes) != len(items):
        raise ValueError(f"expand_dims: axis {axis} names an axis twice")
    sizes = iter(x.shape)
    return ops.reshape(x, tuple(1 if i in axes else next(sizes) for i in range(rank)))


def squeeze(x: Node, axis: Any) -> Node:
    if axis is None:
        return ops.reshape(x, tuple(n for n in x.shape if n != 1))
    axes = normalize_axes(axis, x.ndim, "squeeze")
    for a in axes:
        if x.shape[a] != 1:
            raise ValueError(f"squeeze: axis {a} of shape {x.shape} has size {x.shape[a]}, not 1")
    return ops.reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in axes))


def flip(x: Node, axis: Any) -> Node:
    for a in normalize_axes(axis, x.ndim, "flip"):
        x = ops.reverse(x, a)
    return x


def span(x: Node, axis: int, start: int, size: int, step: int = 1) -> Node:
    """So many elements along an axis, a step apart."""
    return ops.slice_(x, tuple((start, size, step) if i == axis else (0, n, 1) for i, n in enumerate(x.shape)))


def spread(x: Node, axis: int, count: int) -> Node:
    """One slice repeated along its axis."""
    return ops.broadcast_to(x, tuple([count if i == axis else n for i, n in enumerate(x.shape)]))


def at(x: Node, axis: int, positions: Any) -> Node:
    """The elements at known positions along an axis. Those that lie a step apart, go back one by one, are all one, or each
    repeated side by side, are moved as they lie."""
    count, extent = len(positions), x.shape[axis]
    if extent and count % extent == 0 and (positions == np.repeat(np.arange(extent), count // extent)).all():
        return x if count == extent else repeat(x, count // extent, axis)
    steps = set(np.diff(positions).tolist()) or {1}
    step = steps.pop()
    if not count or steps or step < -1:
        return ops.take(x, ops.data(positions), axis)
    if step == 0:
        return spread(span(x, axis, int(positions[0]), 1), axis, count)
    part = span(x, axis, int(min(positions[0], positions[-1])), count, abs(step))
    return part if step > 0 else ops.reverse(part, axis)


def roll(x: Node, shift: Any, axis: Any) -> Node:
    if axis is None:
        flat = ops.reshape(x, (x.type.size,))
        return ops.reshape(roll(flat, sum(shift) if isinstance(shift, Sequence) else shift, 0), x.shape)
    axes = [normalize_axis(a, x.ndim, "roll") for a in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    if len(axes) != len(shifts) and 1 not in (len(axes), len(shifts)):
        raise ValueError(f"roll: {len(shifts)} shifts but {len(axes)} axes")
    count = min(len(axes), len(shifts)) and max(len(axes), len(shifts))  # one of either goes with all of the other
    for i in range(count):
        a, s = axes[i % len(axes)], operator.index(shifts[i % len(shifts)])
        n = x.shape[a]
        s = s % n if n else 0
        if s:
            x = ops.concat([span(x, a, n - s, s), span(x, a, 0, n - s)], a)
    return x


def widths_of(x: Node, widths: Any) -> list[tuple[int, int]]:
    """How much is padded before and behind, for each axis, from what NumPy's `pad` takes."""
    given = np.asarray(widths)
    if given.dtype.kind not in "iu" and given.size:
        raise TypeError(f"pad: widths are integers, got {widths!r}")
    pairs = np.broadcast_to(given, (x.ndim, 2)).tolist() if x.ndim else []
    if any(w < 0 for pair in pairs for w in pair):
        raise ValueError(f"pad: negative width in {widths}")
    return pairs


def pad(x: Node, widths: Any, value: Any) -> Node:
    pairs = widths_of(x, widths)
    shape = tuple(n + a + b for n, (a, b) in zip(x.shape, pairs, strict=True))
    slices = tuple((a, n, 1) for n, (a, _) in zip(x.shape, pairs, strict=True))
    if isinstance(value, Node):
        filled = ops.broadcast_to(value, shape)
    elif value == 0:
        return ops.embed(x, shape, slices)
    else:
        filled = constant(value, array_type(shape, x.dtype))
    return ops.update_slice(ops.astype(filled, x.dtype), x, slices)


def stack(xs: Sequence[Node], axis: int) -> Node:
    if not xs:
        raise ValueError("stack: expected at least one array")
    if any(x.shape != xs[0].shape for x in xs):
        raise ValueError(f"stack: shapes differ: {', '.join(str(x.shape) for x in xs)}")
    axis = normalize_axis(axis, xs[0].ndim + 1, "stack")
    return ops.concat([expand_dims(x, axis) for x in xs], axis)


def concat(xs: Sequence[Node], axis: int | None) -> Node:
    if axis is None:
        return ops.concat([ops.reshape(x, (x.type.size,)) for x in xs], 0)
    if not xs:
        raise ValueError("concat: expected at least one array")
    return ops.concat(xs, normalize_axis(axis, xs[0].ndim, "concat"))


def split(x: Node, sections: Any, axis: int) -> list[Node]:
    axis = normalize_axis(axis, x.ndim, "split")
    n = x.shape[axis]
    if isinstance(sections, (list, tuple, np.ndarray)):
        edges = [0, *(int(min(max(i + n if i < 0 else i, 0), n)) for i in sections), n]
    else:
        count = operator.index(sections)
        if count <= 0 or n % count:
            raise ValueError(f"split: axis {axis} of size {n} does not divide into {count} equal parts")
        edges = list(range(0, n + 1, n // count)) if n else [0] * (count + 1)
    return [span(x, axis, a, max(b - a, 0)) for a, b in itertools.pairwise(edges)]


def unstack(x: Node, axis: int) -> list[Node]:
    axis = normalize_axis(axis, x.ndim, "unstack")
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    before, after = [tuple([(0, n, 1) for n in part]) for part in (x.shape[:axis], x.shape[axis + 1 :])]
    return [ops.index(x, (*before, (i, 1, 1), *after), shape) for i in range(x.shape[axis])]


def tile(x: Node, repetitions: Any) -> Node:
    counts = list(repetitions) if isinstance(repetitions, Sequence) else [repetitions]
    rank = max(len(counts), x.ndim)
    counts = [1] * (rank - len(counts)) + [operator.index(c) for c in counts]
    if min(counts, default=0) < 0:
        raise ValueError(f"tile: negative number of repetitions in {repetitions}")
    shape = (1,) * (rank - x.ndim) + x.shape
    paired = [m for n, c in zip(shape, counts, strict=True) for m in (c, n)]
    ready = ops.reshape(x, tuple(m for n in shape for m in (1, n)))
    repeated = ops.broadcast_to(ready, tuple(paired))
    return ops.reshape(repeated, tuple(n * c for n, c in zip(shape, counts, strict=True)))


def repeat(x: Node, repeats: Any, axis: int | None) -> Node:
    if axis is None:
        x, axis = ops.reshape(x, (x.type.size,)), 0
    axis = normalize_axis(axis, x.ndim, "repeat")
    if not np.ndim(repeats):
        count = operator.index(repeats)
        if count < 0:
            raise ValueError(f"repeat: the number of repetitions is {count}, which is negative")
        spread = ops.broadcast_to(
            ops.reshape(x, (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :])),
            (*x.shape[: axis + 1], count, *x.shape[axis + 1 :]),
        )
        return ops.reshape(spread, (*x.shape[:axis], x.shape[axis] * count, *x.shape[axis + 1 :]))
    positions = np.repeat(np.arange(x.shape[axis]), np.asarray(repeats))
    return ops.take(x, ops.data(positions), axis)


@remembered_as_given
def triangle(x: Node, k: int, upper: bool) -> Node:
    if x.ndim < 2:
        raise ValueError(f"{'triu' if upper else 'tril'}: expected at least two axes, got shape {x.shape}")
    rows, columns = x.shape[-2:]
    across, down = ops.data(np.arange(columns)), ops.data(np.arange(rows)[:, None] + k)
    keep = (ops.greater_equal if upper else ops.less_equal)(across, down)
    return ops.where(ops.broadcast_to(keep, x.shape), x, ops.zeros(x.type))


@remembered_as_given
def one_hot(x: Node, classes: int, dtype: Any) -> Node:
    if x.dtype.kind not in "iu":
        raise TypeError(f"one_hot: expected an integer array, got {x.dtype.name}")
    cells = ops.astype(ops.iota(classes), x.dtype)
    return ops.astype(ops.equal(expand_dims(x, -1), cells), dtype)


def linspace(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any) -> Node:
    """`num` numbers from start to stop, broadcast together, along a new first axis."""
    start, stop = [inexact(x) for x in match("linspace", start, stop)]
    shares = np.linspace(0.0, 1.0, num, endpoint=endpoint).reshape(num, *(1,) * start.ndim)
    steps, rest = (ops.data(x, real_of(start.dtype)) for x in (shares, 1.0 - shares))  # exact at both ends
    spaced = ops.add(ops.multiply(start, rest), ops.multiply(stop, steps))
    if dtype is None:
        return spaced
    return cast(ops.floor(spaced) if dtype.kind in "iu" and spaced.dtype.kind == "f" else spaced, dtype)


# im2col ---------------------------------------------------------------------------------------------------------------


def pair(value: Any) -> tuple[int, int]:
    """Two ints from one or two."""
    return (value, value) if isinstance(value, int) else (value[0], value[1])


def unfold(x: Node, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Node:
    if x.ndim != 4:
        raise ValueError(f"unfold: expected shape (N, C, H, W), got {x.shape}")
    rows, columns = pair(padding)
    x = pad(x, ((0, 0), (0, 0), (rows, rows), (columns, columns)), 0)
    attributes = _windows("unfold", pair(kernel), pair(stride), pair(dilation), x.shape[2:])
    found = ops.windows(x, attributes)
    n, c, kh, kw, oh, ow = found.shape
    return ops.reshape(found, (n, c * kh * kw, oh * ow))


def fold(x: Node, size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Node:
    (height, width), (rows, columns), (kh, kw) = pair(size), pair(padding), pair(kernel)
    padded = (height + 2 * rows, width + 2 * columns)
    attributes = _windows("fold", (kh, kw), pair(stride), pair(dilation), padded)
    counts = tuple(
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(padded, (kh, kw), pair(stride), pair(dilation), strict=True)
    )
    if x.ndim != 3 or x.shape[1] % (kh * kw) or x.shape[2] != size_of(counts):
        raise ValueError(
            f"fold: shape {x.shape} does not fit output size {(height, width)}: expected (N, C*{kh * kw}, {size_of(counts)})"
        )
    n, channels = x.shape[0], x.shape[1] // (kh * kw)
    summed = ops.fold_windows(ops.reshape(x, (n, channels, kh, kw, *counts)), attributes)
    return ops.slice_(summed, ((0, n, 1), (0, channels, 1), (rows, height, 1), (columns, width, 1)))


def _windows(name: str, kernel: Any, stride: Any, dilation: Any, extents: Any) -> Any:
    for k, s, d, n in zip(kernel, stride, dilation, extents, strict=True):
        if k < 1 or s < 1 or d < 1 or d * (k - 1) + 1 > n:
            raise ValueError(
                f"{name}: kernel {kernel} with dilation {dilation}, stride {stride} does not fit {extents}"
            )
    return (kernel, stride, dilation, tuple(extents))
