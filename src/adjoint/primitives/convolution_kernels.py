"""NumPy's convolution: windows are copied out a tile at a time, and BLAS multiplies.

A tile is a few images, or some rows of one, so that its columns fit into a buffer of bounded size. Copies run along whole
tiles where they can: in an image stored row after row, all windows' cell (a, b) together are one shifted stretch of
memory, if the windows that would wrap around a row's end are computed as well and dropped. With a stride, that holds for
each phase of the image (its rows r, r + stride, ...), so images are first staged phase by phase, with their padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from adjoint.primitives.convolution import Geometry, Pair

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

    def __init__(self, geometry: Geometry, extents: Pair, sizes: Pair, channels: int, outputs: int, dtype: Any) -> None:
        self.geometry, self.sizes, self.channels, self.outputs, self.dtype = geometry, sizes, channels, outputs, dtype
        self.counts = geometry.counts(extents, sizes)
        self.extents = extents
        self.rows, self.columns = (
            Cells(k, s, d, before, n, count)
            for k, s, d, (before, _), n, count in zip(
                sizes, geometry.stride, geometry.dilation, geometry.padding, extents, self.counts, strict=True
            )
        )
        self.depth = channels * sizes[0] * sizes[1]
        self.flat = self.columns.staged <= WASTE * self.counts[1]
        self.width = self.columns.staged if self.flat else self.counts[1]  # of a row of windows in a tile
        self.direct = geometry.stride == (1, 1) and geometry.padding == ((0, 0), (0, 0))
        self.buffers: dict[Any, Any] = {}

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
        shape = (self.rows.staged, self.columns.staged)
        staged = self.buffer("stage", len(self.rows.phases) * len(self.columns.phases), *x.shape[:2], *shape)
        for place, ((to_rows, rows), (to_columns, columns)) in enumerate(self.moves()):
            staged[place, :, :, to_rows, to_columns] = x[:, :, rows, columns]
        return staged.reshape(*staged.shape[:3], -1)

    def unstage(self, staged: Any, x: Any) -> None:
        """The adjoint of `stage`, into x: padding is dropped, and what no window reads stays zero."""
        staged = staged.reshape(*staged.shape[:3], self.rows.staged, self.columns.staged)
        for place, ((to_rows, rows), (to_columns, columns)) in enumerate(self.moves()):
            x[:, :, rows, columns] = staged[place, :, :, to_rows, to_columns]

    def moves(self) -> list[Any]:
        """For each phase its slices along both axes: see `Cells.moves`."""
        return [(r, c) for r in self.rows.moves for c in self.columns.moves]

    def cells(self, staged: Any, rows: slice) -> Iterator[tuple[int, Any]]:
        """For each cell of a window what all windows of these rows read: (C, n, stretch) views of the staged images."""
        width, count = self.columns.staged, rows.stop - rows.start
        grid = None if self.flat else staged.reshape(*staged.shape[:3], self.rows.staged, width)
        for a, (row_phase, down) in enumerate(self.rows.cells):
            for b, (column_phase, right) in enumerate(self.columns.cells):
                place = row_phase * len(self.columns.phases) + column_phase
                top = rows.start + down
                if grid is None:
                    start = top * width + right
                    view = staged[place, :, :, start : start + (count - 1) * width + self.counts[1]]
                else:
                    view = grid[place, :, :, top : top + count, right : right + self.counts[1]]
                yield a * self.sizes[1] + b, view.swapaxes(0, 1)

    def in_tile(self, tile: Any, rows: slice) -> Any:
        """The part of a tile (..., n, rows * width) that corresponds to the views of `cells`."""
        count = rows.stop - rows.start
        if self.flat:
            return tile[..., : (count - 1) * self.width + self.counts[1]]
        return tile.reshape(*tile.shape[:-1], count, self.width)

    def gather(self, staged: Any, rows: slice) -> Any:
        """The columns of a tile: (groups, C / groups * kh * kw, n * rows * width)."""
        n, length = staged.shape[1], (rows.stop - rows.start) * self.width
        tile = self.buffer("columns", self.channels, self.sizes[0] * self.sizes[1], n, length)
        inner = self.in_tile(tile, rows)
        for cell, view in self.cells(staged, rows):
            inner[:, cell] = view
        return tile.reshape(self.geometry.groups, -1, n * length)

    def add_back(self, tile: Any, staged: Any, rows: slice) -> None:
        """The adjoint of `gather`: columns added to the staged images."""
        n, length = staged.shape[1], (rows.stop - rows.start) * self.width
        inner = self.in_tile(tile.reshape(self.channels, self.sizes[0] * self.sizes[1], n, length), rows)
        for cell, view in self.cells(staged, rows):
            view += inner[:, cell]

    def outgoing(self, u: Any, rows: slice) -> Any:
        """Cotangents (n, O, rows, columns) side by side: (groups, O / groups, n * rows * width), zero where wrapped."""
        n, count = len(u), rows.stop - rows.start
        side = self.buffer("outgoing", self.outputs, n, count, self.width)
        side[..., : self.counts[1]] = u[:, :, rows].swapaxes(0, 1)
        return side.reshape(self.geometry.groups, -1, n * count * self.width)


def _grouped(w: Any, groups: int) -> Any:
    return np.ascontiguousarray(w).reshape(groups, len(w) // groups, -1)


def _is_product(geometry: Geometry, sizes: Pair, x: Any) -> bool:
    """Whether it is a matrix product for each image: a 1×1 window at every pixel."""
    plain = sizes == (1, 1) and geometry.stride == (1, 1) and geometry.padding == ((0, 0), (0, 0))
    return plain and bool(x.flags.c_contiguous)


def forward(x: Any, w: Any, geometry: Geometry) -> Any:
    """x (N, C, H, W) under w (O, C / groups, kh, kw), to (N, O, rows, columns)."""
    sizes, extents, groups = w.shape[2:], x.shape[2:], geometry.groups
    weights = _grouped(w, groups)
    y = np.empty((len(x), len(w), *geometry.counts(extents, sizes)), x.dtype)
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
            found = product.reshape(len(w), len(target), -1, windows.width)[..., : windows.counts[1]]
            target[:, :, rows] = found.swapaxes(0, 1)
    return y


def input_gradient(u: Any, w: Any, geometry: Geometry, extents: Pair) -> Any:
    """The adjoint of `forward` in x: u (N, O, rows, columns) to (N, C, *extents)."""
    sizes, groups = w.shape[2:], geometry.groups
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


def weight_gradient(x: Any, u: Any, geometry: Geometry, sizes: Pair) -> Any:
    """The adjoint of `forward` in w: x (N, C, H, W) and u (N, O, rows, columns) to (O, C / groups, *sizes)."""
    groups, outputs = geometry.groups, u.shape[1]
    shape = (outputs, x.shape[1] // groups, *sizes)
    total = np.zeros((groups, outputs // groups, shape[1] * sizes[0] * sizes[1]), x.dtype)
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
