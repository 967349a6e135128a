"""Images in other sizes and along other coordinates: interpolation, affine grids, sampling at given points.

Interpolation is separable: along each axis an output is a weighted sum of a few pixels, its taps.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.composites.products import einsum
from adjoint.composites.shaping import at, expand_dims
from adjoint.dtypes import int64
from adjoint.graph import Node
from adjoint.primitives.core import inexact, ops, stop_gradient
from adjoint.shapes import Shape

CUBIC = -0.75  # the coefficient of cubic convolution (R. Keys, 1981)
SMOOTH_CUBIC = -0.5  # the one for antialiasing, as in Pillow
FEW = 4  # taps: more are gathered all at once


class Taps(NamedTuple):
    """A linear map along an axis: output i sums weights[i, k] times the element positions[i, k]."""

    positions: Any
    weights: Any
    ragged: bool = False  # whether some outputs have fewer, and what fills their rows must not count

    @staticmethod
    def of(rows: Iterable[tuple[Sequence[int], Sequence[float]]]) -> Taps:
        """From each output's positions and weights; shorter rows repeat their first position with the weight 0."""
        listed = list(rows)
        most = max(len(places) for places, _ in listed)
        positions = [[*places, *[places[0]] * (most - len(places))] for places, _ in listed]
        weights = [[*shares, *[0.0] * (most - len(shares))] for _, shares in listed]
        return Taps(np.array(positions), np.array(weights), any([len(places) < most for places, _ in listed]))


def resampled(x: Node, axis: int, taps: Taps) -> Node:
    """The map along one axis of x."""
    count, most = taps.positions.shape
    if most == 1 and (taps.weights == 1).all():
        return at(x, axis, taps.positions[:, 0])
    weights = taps.weights.astype(x.dtype.dtype)
    times = ops.scale if taps.ragged else ops.multiply  # an infinity by 0
    behind = (1,) * (x.ndim - axis - 1)
    if most > FEW:
        each = at(x, axis, taps.positions.reshape(-1))
        each = ops.reshape(each, (*x.shape[:axis], count, most, *x.shape[axis + 1 :]))
        beside = ops.data(weights.reshape(count, most, *behind))
        return ops.sum(times(each, ops.broadcast_to(beside, each.shape)), (axis + 1,))
    parts = []
    for k in range(most):
        part = at(x, axis, taps.positions[:, k])
        beside = ops.data(weights[:, k].reshape(count, *behind))
        parts.append(times(part, ops.broadcast_to(beside, part.shape)))
    return functools.reduce(ops.add, parts)


# Where outputs lie in the input ---------------------------------------------------------------------------------------


class Scale(NamedTuple):
    """One axis: its size before and after, and how many input pixels an output pixel is wide (None: as sizes say)."""

    extent: int
    pixels: int
    given: float | None

    def step(self, corners: bool) -> float:
        """Input pixels from one output pixel to the next."""
        if corners:
            return (self.extent - 1) / (self.pixels - 1) if self.pixels > 1 else 0.0
        return self.extent / self.pixels if self.given is None else self.given

    def centers(self, corners: bool) -> Any:
        """The place of every output pixel, in input pixels counted from the first one's centre."""
        place = np.arange(self.pixels, dtype=np.float64)
        return place * self.step(corners=True) if corners else (place + 0.5) * self.step(corners=False) - 0.5


def nearest(scale: Scale, corners: bool, exact: bool = False) -> Taps:
    """The pixel that an output lies in (`exact`: whose centre it lies next to). In 32 bits, as PyTorch computes it."""
    place = np.arange(scale.pixels, dtype=np.float32) + np.float32(0.5 * exact)
    found = np.floor(place * np.float32(scale.step(False))).astype(np.int64)
    return Taps(np.minimum(found, scale.extent - 1)[:, None], np.ones((scale.pixels, 1)))


def linear(scale: Scale, corners: bool) -> Taps:
    """Between the two pixels beside."""
    place = np.maximum(scale.centers(corners), 0)
    first = np.minimum(np.floor(place).astype(np.int64), scale.extent - 1)
    share = np.clip(place - first, 0, 1)
    return Taps(np.stack([first, np.minimum(first + 1, scale.extent - 1)], 1), np.stack([1 - share, share], 1))


def cubic(scale: Scale, corners: bool) -> Taps:
    """Cubic convolution of the four pixels beside; those outside are the last inside."""
    place = scale.centers(corners)
    first = np.floor(place)
    offsets = np.arange(-1, 3)
    weights = cubic_kernel((place - first)[:, None] - offsets, CUBIC)
    return Taps(np.clip(first.astype(np.int64)[:, None] + offsets, 0, scale.extent - 1), weights)


def cubic_kernel(distance: Any, a: float) -> Any:
    """Keys' kernel of cubic convolution."""
    d = np.abs(distance)
    inner = ((a + 2) * d - (a + 3)) * d * d + 1
    outer = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, inner, np.where(d < 2, outer, 0.0))


def smooth(kernel: Callable[[Any], Any], reach: float) -> Callable[[Scale, bool], Taps]:
    """Antialiasing: the kernel made as wide as an output pixel, over all pixels that it covers, its weights made to sum to 1."""

    def taps(scale: Scale, corners: bool) -> Taps:
        step = scale.step(corners)
        width = max(step, 1.0)
        rows = []
        for i in range(scale.pixels):
            center = step * (i + 0.5)
            start = max(int(center - reach * width + 0.5), 0)
            stop = max(min(int(center + reach * width + 0.5), scale.extent), start + 1)
            weights = kernel((np.arange(start, stop) - center + 0.5) / width)
            rows.append((range(start, stop), (weights / weights.sum()).tolist()))
        return Taps.of(rows)

    return taps


MODES: dict[str, Callable[[Scale, bool], Taps]] = {
    "nearest": nearest,
    "nearest-exact": lambda scale, corners: nearest(scale, corners, exact=True),
    "linear": linear,
    "bilinear": linear,
    "trilinear": linear,
    "bicubic": cubic,
}
SMOOTH_MODES = {
    "bilinear": smooth(lambda d: np.maximum(1 - np.abs(d), 0), 1.0),
    "bicubic": smooth(lambda d: cubic_kernel(d, SMOOTH_CUBIC), 2.0),
}


def interpolate(x: Node, scales: Sequence[Scale], mode: str, corners: bool, antialias: bool) -> Node:
    """x (N, C, ...) with its last axes in other sizes."""
    table = SMOOTH_MODES if antialias else MODES
    if mode not in ("nearest", "nearest-exact"):
        x = inexact(x)  # what comes between integers isn't one
    for axis, scale in enumerate(scales, x.ndim - len(scales)):
        if scale.extent != scale.pixels or scale.given not in (None, 1.0):
            x = resampled(x, axis, table[mode](scale, corners))
    return x


# Points in images: coordinates from -1 to 1 over each axis -----------------------------------------------------------


def affine_grid(theta: Node, extents: Shape, corners: bool) -> Node:
    """The points θ (x, y, ..., 1) of an even grid: θ (N, d, d + 1) to (N, *extents, d)."""
    axes = []
    for n in extents:
        along = np.linspace(-1, 1, n) if n > 1 else np.zeros(n)
        axes.append(along if corners else along * ((n - 1) / max(n, 1)))
    grid = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(extents)], -1)
    points = ops.data(grid.reshape(-1, len(extents) + 1).astype(theta.dtype.dtype))
    found = einsum("pk,ndk->npd", [points, theta])
    return ops.reshape(found, (theta.shape[0], *extents, len(extents)))


def grid_sample(x: Node, grid: Node, mode: str, padding: str, corners: bool) -> Node:
    """x (N, C, *extents) at points (N, *counts, d), the last coordinate first: (N, C, *counts)."""
    rank = x.ndim - 2
    places = []
    for axis in range(rank):
        point = ops.slice_(grid, (*[(0, n, 1) for n in grid.shape[:-1]], (rank - 1 - axis, 1, 1)))
        point = ops.reshape(point, grid.shape[:-1])
        n = x.shape[2 + axis]
        half = (n - 1) / 2 if corners else n / 2
        places.append(ops.add(ops.multiply(point, half), (n - 1) / 2))
    pixels = _Pixels(x, padding, corners)
    if mode == "bicubic":
        return pixels.weighted([_cubic_taps(place) for place in places])
    bounded = [pixels.bounded(place, axis) for axis, place in enumerate(places)]
    if mode == "nearest":
        return pixels.weighted([[(ops.round(stop_gradient(place)), None)] for place in bounded])
    return pixels.weighted([_linear_taps(place) for place in bounded])


Weighted = list[tuple[Node, Node | None]]


def _linear_taps(place: Node) -> Weighted:
    first = ops.floor(stop_gradient(place))
    share = ops.subtract(place, first)
    return [(first, ops.subtract(1.0, share)), (ops.add(first, 1.0), share)]


def _cubic_taps(place: Node) -> Weighted:
    first = ops.floor(stop_gradient(place))
    t = ops.subtract(place, first)

    def inner(d: Node) -> Node:
        cube = ops.subtract(ops.multiply(d, CUBIC + 2), CUBIC + 3)
        return ops.add(ops.multiply(cube, ops.multiply(d, d)), 1.0)

    def outer(d: Node) -> Node:
        square = ops.add(ops.multiply(ops.subtract(ops.multiply(d, CUBIC), 5 * CUBIC), d), 8 * CUBIC)
        return ops.subtract(ops.multiply(square, d), 4 * CUBIC)

    weights = [outer(ops.add(t, 1.0)), inner(t), inner(ops.subtract(1.0, t)), outer(ops.subtract(2.0, t))]
    return [(ops.add(first, float(k)), weight) for k, weight in enumerate(weights, -1)]


class _Pixels:
    """The pixels of images, read at positions that may lie outside: zeros there, the nearest inside, or reflected."""

    def __init__(self, x: Node, padding: str, corners: bool) -> None:
        self.extents = x.shape[2:]
        self.last = ops.permute_dims(x, (0, *range(2, x.ndim), 1))
        self.padding, self.corners = padding, corners

    def bounded(self, place: Node, axis: int) -> Node:
        """A coordinate brought inside, unless outside is zeros."""
        n = self.extents[axis]
        if self.padding == "reflection":
            low, span = (0.0, n - 1.0) if self.corners else (-0.5, float(n))
            if not span:
                return ops.multiply(place, 0.0)
            away = ops.abs(ops.subtract(place, low))
            turns = ops.floor(stop_gradient(ops.divide(away, span)))
            extra = ops.subtract(away, ops.multiply(turns, span))
            even = ops.equal(ops.remainder(turns, 2.0), 0.0)
            place = ops.add(ops.where(even, extra, ops.subtract(span, extra)), low)
        if self.padding == "zeros":
            return place
        return ops.minimum(ops.maximum(place, 0.0), n - 1.0)

    def weighted(self, taps: list[Weighted]) -> Node:
        """The sum over all combinations of taps along the axes, of pixel times weights."""
        parts = []
        for corner in itertools.product(*taps):
            value = self.at([position for position, _ in corner])
            for _, weight in corner:
                if weight is not None:
                    value = ops.multiply(value, expand_dims(weight, -1))
            parts.append(value)
        total = functools.reduce(ops.add, parts)
        return ops.permute_dims(total, (0, total.ndim - 1, *range(1, total.ndim - 1)))

    def at(self, positions: list[Node]) -> Node:
        """The pixels (N, ..., C) at whole positions (N, ...) along each axis."""
        shape = positions[0].shape
        batch = ops.reshape(ops.iota(shape[0]), (shape[0], *(1,) * (len(shape) - 1)))
        inside, indices = [], [ops.broadcast_to(batch, shape)]
        for axis, (given, n) in enumerate(zip(positions, self.extents, strict=True)):
            place = stop_gradient(self.bounded(given, axis))
            within = ops.logical_and(ops.greater_equal(place, 0.0), ops.less_equal(place, n - 1.0))
            inside.append(within)
            indices.append(ops.astype(ops.where(within, place, 0.0), int64))
        found = ops.gather(self.last, indices)
        return ops.where(
            ops.broadcast_to(expand_dims(functools.reduce(ops.logical_and, inside), -1), found.shape), found, 0.0
        )


# Channels for pixels -------------------------------------------------------------------------------------------------


def pixel_shuffle(x: Node, factor: int) -> Node:
    """(..., C r², H, W) to (..., C, H r, W r)."""
    *lead, channels, rows, columns = x.shape
    n = len(lead)
    parts = ops.reshape(x, (*lead, channels // factor**2, factor, factor, rows, columns))
    moved = ops.permute_dims(parts, (*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return ops.reshape(moved, (*lead, channels // factor**2, rows * factor, columns * factor))


def pixel_unshuffle(x: Node, factor: int) -> Node:
    """(..., C, H r, W r) to (..., C r², H, W)."""
    *lead, channels, rows, columns = x.shape
    n = len(lead)
    parts = ops.reshape(x, (*lead, channels, rows // factor, factor, columns // factor, factor))
    moved = ops.permute_dims(parts, (*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return ops.reshape(moved, (*lead, channels * factor**2, rows // factor, columns // factor))


def channel_shuffle(x: Node, groups: int) -> Node:
    """The channels (N, g c, ...) dealt out: the first of each group, then the second of each."""
    n, channels, *rest = x.shape
    parts = ops.reshape(x, (n, groups, channels // groups, *rest))
    return ops.reshape(ops.permute_dims(parts, (0, 2, 1, *range(3, parts.ndim))), x.shape)
