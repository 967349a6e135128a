"""NumPy's convolution: windows are copied out a tile at a time, and BLAS multiplies.

A tile is a few images, or some rows of one, so that its columns fit into a buffer of bounded size. Copies run along whole
tiles where they can: in an image stored row after row, all windows' cell (a, b) together are one shifted stretch of
memory, if the windows that would wrap around a row's end are computed as well and dropped. With a stride, that holds for
each phase of the image (its rows r, r + stride, ...), so images are first staged phase by phase, with their padding.
Volumes and signals go the same way: the first axis is cut into tiles, the others are a row.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.shapes import Shape

if TYPE_CHECKING:
    from adjoint.primitives.convolution import Geometry

TILE = 1 << 21  # bytes that a tile's columns and products may take: what stays in a core's cache
WASTE = 1.25  # more windows than this, wrapped ones among them, and only the real ones are copied, row by row


class Cells:
    """Along one axis: for each cell of a window the phase it reads, and how far it is shifted in it."""

    def __init__(self, size: int, stride: int, dilation: int, before: int, extent: int, count: int) -> None:
        offsets = [a * dilation for a in range(size)]
        self.phases = sorted({o % stride for o in offsets})
        self.cells = [(self.phases.index(o % stride), o // stride) for o in offsets]
        self.staged = count + offsets[-1] // stride  # positions of a phase that windows read
        self.moves = []  # for each phase where the image lies in it: (slice of the phase, slice of the image)
        for phase in self.phases:
            start = max(0, -((phase - before) // stride))  # the first position inside the image
            stop = max(start, min(self.staged, -((phase - before - extent) // stride)))
            first = start * stride + phase - before
            self.moves.append((slice(start, stop), slice(first, first + (stop - start) * stride, stride)))


class Windows:
    """The windows of a convolution, and the tiles in which they are gone through."""

    def __init__(
        self, geometry: Geometry, extents: Shape, sizes: Shape, channels: int, outputs: int, dtype: Any
    ) -> None:
        self.geometry, self.sizes, self.channels, self.outputs, self.dtype = geometry, sizes, channels, outputs, dtype
        self.counts = geometry.counts(extents, sizes)
        self.axes = [
            Cells(k, s, d, before, n, count)
            for k, s, d, (before, _), n, count in zip(
                sizes, geometry.stride, geometry.dilation, geometry.padding, extents, self.counts, strict=True
            )
        ]
        self.staged = tuple([axis.staged for axis in self.axes])
        self.depth = channels * math.prod(sizes)
        row, real = math.prod(self.staged[1:]), math.prod(self.counts[1:])
        self.flat = row <= WASTE * real
        self.width = row if self.flat else real  # of a row of windows in a tile
        self.inner = self.staged[1:] if self.flat else self.counts[1:]
        self.reach = 1 + self.offset([n - 1 for n in self.counts[1:]])  # in a flat row, to its last real window
        self.direct = geometry.stride == (1,) * len(sizes) and not any(map(any, geometry.padding))
        self.buffers: dict[Any, Any] = {}

    def offset(self, places: Any) -> int:
        """Where a place lies in a staged row: the axes after the first, one number for all."""
        found = 0
        for place, extent in zip(places, self.staged[1:], strict=True):
            found = found * extent + place
        return found

    @property
    def real(self) -> tuple[Any, ...]:
        """An index that picks the real windows of a row from those that were computed."""
        return (..., *[slice(n) for n in self.counts[1:]])

    def tiles(self, images: int) -> Iterator[tuple[slice, list[slice]]]:
        """Images, and the stretches of rows to go through in them."""
        rows = self.counts[0]
        row = (self.depth + self.outputs) * self.width * self.dtype.itemsize
        fit = max(1, TILE // max(1, row))
        several = max(1, fit // rows)
        at_once = rows if fit >= rows else fit
        stretches = [slice(i, min(i + at_once, rows)) for i in range(0, rows, at_once)]
        for n in range(0, images, several):
            yield slice(n, min(n + several, images)), stretches

    def buffer(self, name: str, *shape: int) -> Any:
        """Memory that starts as zeros and is used again for the next tile of this shape."""
        found = self.buffers.get((name, shape))
        if found is None:
            found = self.buffers[name, shape] = np.zeros(shape, self.dtype)
        return found

    def stage(self, x: Any) -> Any:
        """Images (n, C, H, W) by phases: (phases, n, C, rows * columns), zeros around them."""
        if self.direct and x.flags.c_contiguous:
            return x.reshape(1, *x.shape[:2], -1)
        phases = math.prod([len(axis.phases) for axis in self.axes])
        staged = self.buffer("stage", phases, *x.shape[:2], *self.staged)
        for place, moves in enumerate(self.moves()):
            staged[(place, ..., *[to for to, _ in moves])] = x[(..., *[pixels for _, pixels in moves])]
        return staged.reshape(*staged.shape[:3], -1)

    def unstage(self, staged: Any, x: Any) -> None:
        """The adjoint of `stage`, into x: padding is dropped, and what no window reads stays zero."""
        staged = staged.reshape(*staged.shape[:3], *self.staged)
        for place, moves in enumerate(self.moves()):
            x[(..., *[pixels for _, pixels in moves])] = staged[(place, ..., *[to for to, _ in moves])]

    def moves(self) -> Iterator[Any]:
        """For each phase its slices along all axes: see `Cells.moves`."""
        return itertools.product(*[axis.moves for axis in self.axes])

    def cells(self, staged: Any, rows: slice) -> Iterator[tuple[int, Any]]:
        """For each cell of a window what all windows of these rows read: (C, n, stretch) views of the staged images."""
        width, count = math.prod(self.staged[1:]), rows.stop - rows.start
        grid = None if self.flat else staged.reshape(*staged.shape[:3], *self.staged)
        for cell, places in enumerate(itertools.product(*[axis.cells for axis in self.axes])):
            phase = 0
            for axis, (number, _) in zip(self.axes, places, strict=True):
                phase = phase * len(axis.phases) + number
            top, shifts = rows.start + places[0][1], [shift for _, shift in places[1:]]
            if grid is None:
                start = top * width + self.offset(shifts)
                view = staged[phase, :, :, start : start + (count - 1) * width + self.reach]
            else:
                spans = [slice(shift, shift + n) for shift, n in zip(shifts, self.counts[1:], strict=True)]
                view = grid[(phase, slice(None), slice(None), slice(top, top + count), *spans)]
            yield cell, view.swapaxes(0, 1)

    def in_tile(self, tile: Any, rows: slice) -> Any:
        """The part of a tile (..., n, rows * width) that corresponds to the views of `cells`."""
        count = rows.stop - rows.start
        if self.flat:
            return tile[..., : (count - 1) * self.width + self.reach]
        return tile.reshape(*tile.shape[:-1], count, *self.counts[1:])

    def gather(self, staged: Any, rows: slice) -> Any:
        """The columns of a tile: (groups, C / groups * cells, n * rows * width)."""
        n, length = staged.shape[1], (rows.stop - rows.start) * self.width
        tile = self.buffer("columns", self.channels, math.prod(self.sizes), n, length)
        inner = self.in_tile(tile, rows)
        for cell, view in self.cells(staged, rows):
            inner[:, cell] = view
        return tile.reshape(self.geometry.groups, -1, n * length)

    def add_back(self, tile: Any, staged: Any, rows: slice) -> None:
        """The adjoint of `gather`: columns added to the staged images."""
        n, length = staged.shape[1], (rows.stop - rows.start) * self.width
        inner = self.in_tile(tile.reshape(self.channels, math.prod(self.sizes), n, length), rows)
        for cell, view in self.cells(staged, rows):
            view += inner[:, cell]

    def outgoing(self, u: Any, rows: slice) -> Any:
        """Cotangents (n, O, *counts) side by side: (groups, O / groups, n * rows * width), zero where wrapped."""
        n, count = len(u), rows.stop - rows.start
        side = self.buffer("outgoing", self.outputs, n, count, *self.inner)
        side[self.real] = u[:, :, rows].swapaxes(0, 1)
        return side.reshape(self.geometry.groups, -1, n * count * self.width)


def _grouped(w: Any, groups: int) -> Any:
    return np.ascontiguousarray(w).reshape(groups, len(w) // groups, -1)


def _is_product(geometry: Geometry, sizes: Shape, x: Any) -> bool:
    """Whether it is a matrix product for each image: a window of one pixel at every pixel."""
    plain = set(sizes) <= {1} and set(geometry.stride) <= {1} and not any(map(any, geometry.padding))
    return plain and bool(x.flags.c_contiguous)


def _idle(geometry: Geometry, extents: Shape, sizes: Shape) -> int:
    """How many axes in front have one pixel, one cell and no padding: a signal is an image of one row."""
    count = 0
    while count < len(sizes) - 1 and extents[count] == sizes[count] == 1 and not any(geometry.padding[count]):
        count += 1
    return count


def _without(geometry: Geometry, axes: int) -> Geometry:
    """The geometry of the axes after the first few."""
    return geometry._replace(
        stride=geometry.stride[axes:], padding=geometry.padding[axes:], dilation=geometry.dilation[axes:]
    )


def _dropped(x: Any, axes: int) -> Any:
    return x.reshape(*x.shape[:2], *x.shape[2 + axes :])


def forward(x: Any, w: Any, geometry: Geometry) -> Any:
    """x (N, C, *extents) under w (O, C / groups, *sizes), to (N, O, *counts)."""
    sizes, extents, groups = w.shape[2:], x.shape[2:], geometry.groups
    counts = geometry.counts(extents, sizes)
    idle = _idle(geometry, extents, sizes)
    if idle:
        return forward(_dropped(x, idle), _dropped(w, idle), _without(geometry, idle)).reshape(len(x), len(w), *counts)
    weights = _grouped(w, groups)
    y = np.empty((len(x), len(w), *counts), x.dtype)
    if not y.size or not w.size:
        y[...] = 0
        return y
    if _is_product(geometry, sizes, x):
        np.matmul(weights, x.reshape(len(x), groups, -1, y[0, 0].size), out=y.reshape(len(x), groups, -1, y[0, 0].size))
        return y
    windows = Windows(geometry, extents, sizes, x.shape[1], len(w), x.dtype)
    for images, stretches in windows.tiles(len(x)):
        staged = windows.stage(x[images])
        target = y[images]
        for rows in stretches:
            columns = windows.gather(staged, rows)
            product = windows.buffer("product", groups, len(w) // groups, columns.shape[2])
            np.matmul(weights, columns, out=product)
            found = product.reshape(len(w), len(target), -1, *windows.inner)[windows.real]
            target[:, :, rows] = found.swapaxes(0, 1)
    return y


def input_gradient(u: Any, w: Any, geometry: Geometry, extents: Shape) -> Any:
    """The adjoint of `forward` in x: u (N, O, *counts) to (N, C, *extents)."""
    sizes, groups = w.shape[2:], geometry.groups
    idle = _idle(geometry, extents, sizes)
    if idle:
        x = input_gradient(_dropped(u, idle), _dropped(w, idle), _without(geometry, idle), extents[idle:])
        return x.reshape(*x.shape[:2], *extents)
    x = np.zeros((len(u), w.shape[1] * groups, *extents), u.dtype)
    if not u.size or not w.size:
        return x
    weights = _grouped(w, groups).swapaxes(1, 2)
    if _is_product(geometry, sizes, u):
        np.matmul(weights, u.reshape(len(u), groups, -1, x[0, 0].size), out=x.reshape(len(x), groups, -1, x[0, 0].size))
        return x
    windows = Windows(geometry, extents, sizes, x.shape[1], len(w), u.dtype)
    for images, stretches in windows.tiles(len(u)):
        target = x[images]
        staged = windows.stage(target)  # zeros, or the target itself
        for rows in stretches:
            side = windows.outgoing(u[images], rows)
            tile = windows.buffer("columns", groups, windows.depth // groups, side.shape[2])
            (np.multiply if side.shape[1] == 1 else np.matmul)(weights, side, out=tile)  # far faster for depthwise ones
            windows.add_back(tile, staged, rows)
        if not windows.direct:
            windows.unstage(staged, target)
            staged[...] = 0  # for the next tile
    return x


def weight_gradient(x: Any, u: Any, geometry: Geometry, sizes: Shape) -> Any:
    """The adjoint of `forward` in w: x (N, C, *extents) and u (N, O, *counts) to (O, C / groups, *sizes)."""
    groups, outputs = geometry.groups, u.shape[1]
    shape = (outputs, x.shape[1] // groups, *sizes)
    idle = _idle(geometry, x.shape[2:], sizes)
    if idle:
        found = weight_gradient(_dropped(x, idle), _dropped(u, idle), _without(geometry, idle), sizes[idle:])
        return found.reshape(shape)
    total = np.zeros((groups, outputs // groups, shape[1] * math.prod(sizes)), x.dtype)
    if not x.size or not u.size:
        return total.reshape(shape)
    windows = Windows(geometry, x.shape[2:], sizes, x.shape[1], outputs, x.dtype)
    part = np.empty_like(total)
    for images, stretches in windows.tiles(len(x)):
        staged = windows.stage(x[images])
        for rows in stretches:
            columns = windows.gather(staged, rows)
            np.matmul(windows.outgoing(u[images], rows), columns.swapaxes(1, 2), out=part)
            total += part
    return total.reshape(shape)
