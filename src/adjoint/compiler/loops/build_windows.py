"""Convolutions and pools as functions of a range of channels-last images."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from adjoint.compiler.fuse import images
from adjoint.compiler.fuse.kinds import Window
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import Value, lanes_of
from adjoint.compiler.loops.build_cells import Cell, Cells, largest
from adjoint.compiler.loops.build_products import write_call
from adjoint.compiler.loops.ranges import RangeWriter
from adjoint.compiler.schedule.windows import WindowSchedule
from adjoint.compiler.tables import Arguments, Shared
from adjoint.runtime import onednn
from adjoint.shapes import size_of


class WindowWriter(RangeWriter):
    """What writers of windows share: the range of images."""

    def __init__(
        self, window: Window, name: str, arguments: Arguments, schedule: WindowSchedule, cells: Cells | None = None
    ) -> None:
        self.cells = cells  # what is made of the result, or what a pool reads
        super().__init__(window.step, name, arguments)
        self.window = window
        self.kind = self.step.op.name
        self.schedule, self.rows, self.tile = schedule, schedule.images, schedule.tile
        self.row_elements = size_of(window.shape[1:])
        self.prepare()

    def prepare(self) -> None:
        """Work out what follows from the window and its schedule."""

    def begin(self, lanes: int) -> None:
        """Begin a function."""
        super().begin(lanes)
        if self.cells is not None:
            self.cells.begin(self.e, self.inputs)

    def number(self, value: int, *role: Any) -> str:
        return self.inputs.number(value, (self.name, *role), abs(value))

    def read(self, k: int) -> str:
        """An input's first element."""
        return self.pointer(self.window.reads[k].root)

    def tiles(self, tile: int, write: Callable[[str, int], None]) -> None:
        """Call `write` with the first of each tile from %lo to %hi, and how many images there are in it."""
        e, total, rest = self.e, self.rows, self.rows % tile
        with ExitStack() as conditions:
            stop = "%hi"
            if rest:
                whole = self.number(total - rest, "whole")
                with e.when(e.test("eq", "%hi", self.number(total, "images"))):
                    write(whole, rest)
                conditions.enter_context(e.when(e.test("ult", "%lo", whole)))
                stop = e.index("umin", "%hi", whole)
            if total > rest:
                row = conditions.enter_context(e.loop("%lo", stop, self.number(tile, "images of a tile")))
                write(row, tile)


class ConvolutionWriter(WindowWriter):
    """A convolution or one of its gradients, by oneDNN."""

    def prepare(self) -> None:
        assert self.window.sizes is not None
        self.sizes = self.window.sizes
        _, self.image, self.becomes, self.weights, self.geometry = self.sizes
        self.parts = self.schedule.parts

    @property
    def time(self) -> float:
        """A guess in nanoseconds, at 70 multiplications in each."""
        return self.rows * size_of(self.becomes) * size_of(self.weights[1:]) / 70

    def primitive(self, count: int, layout: onednn.Descriptor | None = None) -> onednn.Primitive:
        return images.convolution(self.kind, self.sizes, count, layout)

    def write(self) -> list[L.Function]:
        e = self.e
        whole = self.primitive(self.tile)
        self.arguments.keep.append(whole)
        preferred = whole.arguments[
            onednn.WEIGHTS_GRADIENT if self.kind == "convolution_weight_gradient" else onednn.WEIGHTS
        ]
        plain = images.plain_weights(self.weights, self.geometry)
        buffer = Shared(0, f"weights of {self.name}")
        from_image, to_image = self.number(size_of(self.image), "image"), self.number(size_of(self.becomes), "becomes")
        if self.kind == "convolution_weight_gradient":
            size = preferred.nbytes
            self.arguments.share(buffer.purpose, size * self.parts)
            x, u, parts = self.read(0), self.read(1), self.pointer(buffer)

            def add_up(row: str, count: int) -> None:
                part = e.index("udiv", row, self.number(self.tile, "images of a tile"))
                places = [self.move(x, e.times(row, from_image)), self.move(u, e.times(row, to_image)),
                          self.move(parts, e.times(part, self.number(size, "part")), "i8")]  # fmt: skip
                self.call(count, preferred, places)

            self.tiles(self.tile, add_up)
            text = self.function()
            self.write_sum(preferred, plain, buffer)
            return [text]
        source, result = self.read(0), self.result()
        sizes = (from_image, to_image) if self.kind == "convolution" else (to_image, from_image)
        packed = preferred != plain
        weights = self.pointer(buffer) if packed else self.read(1)

        def convolve(row: str, count: int) -> None:
            places = [self.move(source, e.times(row, sizes[0])), weights,
                      self.move(result, e.times(row, sizes[1]))]  # fmt: skip
            self.call(count, preferred, places)

        if packed:
            self.arguments.share(buffer.purpose, preferred.nbytes)
        self.tiles(self.tile, convolve)
        text = self.function()
        if packed:
            with self.another():
                self.reorder(plain, preferred, self.read(1), self.pointer(buffer))
                self.start = [self.function("start")]
        return [text]

    def call(self, count: int, preferred: onednn.Descriptor, places: list[str]) -> None:
        """One call of the library. All tiles have the weights in the layout that a whole one prefers."""
        primitive = self.primitive(count, None if count == self.tile else preferred)
        write_call(self.e, self.arguments, primitive, places)

    def reorder(self, source: onednn.Descriptor, target: onednn.Descriptor, a: str, b: str) -> None:
        write_call(self.e, self.arguments, onednn.reorder(source, target), [a, b])

    def write_sum(self, preferred: onednn.Descriptor, plain: onednn.Descriptor, buffer: Shared) -> None:
        """The parts added up in order, and put into the graph's layout."""
        count = preferred.nbytes // 4
        with self.another(lanes_of("float32")):
            parts = self.pointer(buffer)
            if self.parts > 1:
                self.add_up(parts, self.number(count, "weights"), self.number(self.parts, "parts"), count, parts)
            self.reorder(preferred, plain, parts, self.pointer(self.step.output))
            self.finish = [self.function("finish")]


class PoolWriter(WindowWriter):
    """Pooling, in loops of our own: windows along the rows and columns, vectors along the channels."""

    def prepare(self) -> None:
        self.pool = pool = self.step.attributes
        self.channels = self.window.shape[-1]
        self.dtype = self.window.dtypes[0]
        self.begin(self.schedule.lanes)
        reach = [
            (n - 1) * s + d * (k - 1) - b
            for n, s, d, k, b in zip(pool.counts, pool.stride, pool.dilation, pool.sizes, pool.before, strict=True)
        ]
        self.inside = pool.before == (0, 0) and reach[0] < pool.extents[0] and reach[1] < pool.extents[1]
        # each pixel belongs to one window: it is written once
        self.tiled = (
            pool.stride == pool.sizes and pool.dilation == (1, 1) and pool.before == (0, 0)
            and all(n * k == extent for n, k, extent in zip(pool.counts, pool.sizes, pool.extents, strict=True))
        )  # fmt: skip

    def write(self) -> list[L.Function]:
        e, pool, c = self.e, self.pool, self.number(self.channels, "channels")
        places = [self.read(k) for k in range(len(self.window.reads))] if self.cells is None else []
        result = self.result()
        spreads = self.kind in ("pool_put", "pool_spread")
        if spreads and not self.tiled:
            size = self.number(self.row_elements, "row")
            with e.loop(e.times("%lo", size), e.times("%hi", size), 1) as i:
                e.store_scalar(e.constant(0, self.dtype), result, i)
        self.beside = self.pointer(self.window.positions.output) if self.window.positions else None
        rows, columns = self.number(pool.counts[0], "rows"), self.number(pool.counts[1], "columns")
        height, width = self.number(pool.extents[0], "height"), self.number(pool.extents[1], "width")
        size_of_image = self.number(pool.extents[0] * pool.extents[1] * self.channels, "image")
        with e.loop("%lo", "%hi", 1) as n, e.loop("0", rows, 1) as i, e.loop("0", columns, 1) as j:
            window = e.plus(e.times(n, rows), i)
            window = e.times(e.plus(e.times(window, columns), j), c)
            top = e.index("sub", e.times(i, pool.stride[0]), pool.before[0])
            left = e.index("sub", e.times(j, pool.stride[1]), pool.before[1])
            image = e.times(n, size_of_image)
            cells, offsets = [], []
            for a in range(pool.sizes[0]):
                for b in range(pool.sizes[1]):
                    row, column = e.plus(top, a * pool.dilation[0]), e.plus(left, b * pool.dilation[1])
                    at = e.plus(image, e.times(e.plus(e.times(row, width), column), c))
                    inside = None
                    if not self.inside:
                        # unsigned: what is negative is large
                        inside = e.all_of(e.test("ult", row, height), e.test("ult", column, width))
                    cells.append((at, inside))
                    if self.cells is not None:
                        offsets.append(self.cells.offsets(Cell(n, row, column)))

            def body(channel: str) -> None:
                at = e.plus(window, channel)
                shifted = [(e.plus(cell, channel), inside) for cell, inside in cells]
                if self.kind in ("pool_put", "pool_spread", "pool_take"):
                    self.window_of(places, result, at, shifted)
                    return
                same = {} if self.cells is None else self.cells.same(channel)

                def cell(number: int) -> Value:
                    if self.cells is None:
                        return e.load(places[0], shifted[number][0], self.dtype, 1)
                    (value,) = self.cells.values(offsets[number], channel, same).values()
                    return value

                one_by_one = [inside for _, inside in cells]
                if self.kind == "pool_sum":
                    self.sum_of(result, at, one_by_one, cell)
                else:
                    self.largest_of(result, at, one_by_one, cell)

            self.inputs.vectors(self.channels, body, (self.name, "of channels"))
        return [self.function()]

    @property
    def time(self) -> float:
        """A guess in nanoseconds."""
        return 0.3 * max(size_of(view.shape) for view in self.window.reads)

    def window_of(self, places: list[str], result: str, at: str, cells: list[tuple[str, str | None]]) -> None:
        """One window, for a vector of channels. `at` is its element, `cells` are those that it covers."""
        e, kind, dtype = self.e, self.kind, self.dtype
        if kind in ("pool_put", "pool_spread"):
            given = e.load(places[0], at, dtype, 1)
            chosen = self.positions(places[1], at) if kind == "pool_put" else None
            for number, (cell, inside) in enumerate(cells):
                with e.when(inside):
                    value = given if chosen is None else e.select(e.compare("eq", chosen, number), given, 0)
                    if not self.tiled:
                        value = e.add(e.load(result, cell, dtype, 1), value)
                    e.store(value, result, cell)
            return
        chosen = self.positions(places[1], at)
        self.sum_of(result, at, [inside for _, inside in cells], lambda number: e.select(
            e.compare("eq", chosen, number), e.load(places[0], cells[number][0], dtype, 1), 0
        ))  # fmt: skip

    def sum_of(self, result: str, at: str, inside: list[str | None], cell: Callable[[int], Value]) -> None:
        """The sum of a window's cells."""
        e, dtype = self.e, self.dtype
        total = e.variable(e.constant(0.0, dtype))
        for number, there in enumerate(inside):
            with e.when(there):
                e.set(total, e.add(e.get(total, dtype), cell(number)))
        e.store(e.get(total, dtype), result, at)

    def largest_of(self, result: str, at: str, inside: list[str | None], cell: Callable[[int], Value]) -> None:
        """The largest of a window's cells, and which one it is where somebody asks for it."""
        e, dtype, step = self.e, self.dtype, self.window.positions
        if self.kind == "max_pool_positions":
            step, self.beside = self.step, result
        if step is None:
            found = []
            for number, there in enumerate(inside):
                value = e.variable(e.constant(float("-inf"), dtype))
                with e.when(there):
                    e.set(value, cell(number))
                found.append(e.get(value, dtype))
            e.store(largest(e, found), result, at)
            return
        most, position = e.variable(e.constant(float("-inf"), dtype)), e.variable(e.constant(-1, "int32"))
        for number, there in enumerate(inside):
            with e.when(there):
                given, before, number_before = cell(number), e.get(most, dtype), e.get(position, "int32")
                better = e.either(e.compare("gt", given, before), e.compare("lt", number_before, 0))
                nan = e.both(e.compare("uno", given, given), e.compare("eq", before, before))
                better = e.either(better, nan)
                e.set(most, e.select(better, given, before))
                e.set(position, e.select(better, e.constant(number, "int32"), number_before))
        if self.kind == "max_pool":
            e.store(e.get(most, dtype), result, at)
        assert self.beside is not None
        e.store(e.cast(e.get(position, "int32"), step.type.dtype.name), self.beside, at)

    def positions(self, pointer: str, at: str) -> Value:
        return self.e.cast(self.e.load(pointer, at, self.window.dtypes[1], 1), "int32")
