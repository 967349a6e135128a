"""Convolutions of few channels by the definition: a strip of outputs stays in registers.

With one or three channels there is too little to add up for products of matrices. So for some neighbouring outputs vectors of
channels are summed up in registers: for each tap a vector of weights is loaded once, and multiplied by one number of each
output's. Images with padding are copied amid zeros first, so that no pixel is a special case.
"""

from __future__ import annotations

from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import Value, lanes_of
from adjoint.compiler.loops.build_cells import Cell
from adjoint.compiler.loops.build_windows import ConvolutionWriter
from adjoint.compiler.loops.winograd_tiles import Finish
from adjoint.compiler.schedule.windows import together
from adjoint.compiler.tables import Shared


class DirectWriter(ConvolutionWriter):
    """A convolution of few channels."""

    def prepare(self) -> None:
        super().prepare()
        self.outputs, self.depth, *self.taps = self.weights
        self.lanes, self.strip = self.schedule.lanes, self.schedule.strip
        self.vectors = -(-self.outputs // self.lanes)
        self.counts = self.becomes[1:]
        pool = None if self.cells is None else self.cells.pool
        self.down, self.across = together(pool)
        if pool is not None:
            rows, columns = pool.step.attributes.counts
            self.counts = (rows * self.down, columns * self.across)
        stride, dilation, padding = self.geometry.stride, self.geometry.dilation, self.geometry.padding
        # of the image that is read: rows and columns
        self.room = tuple([n + sum(p) for n, p in zip(self.image[1:], padding, strict=True)])
        self.stride, self.dilation, self.padded = stride, dilation, any(map(any, padding))
        self.place = self.arguments.reserve(4 * self.depth * self.room[0] * self.room[1]) if self.padded else 0
        # weights: for each vector of outputs, those of all taps; and room for whole vectors, as they are turned
        self.steps, widest = self.depth * self.taps[0] * self.taps[1], lanes_of("float32")
        self.apart = (-(-self.steps // widest) * widest + widest // self.lanes) * self.lanes

    def write(self) -> list[L.Function]:
        self.begin(self.lanes)
        packed = Shared(0, f"weights of {self.name}")
        self.arguments.share(packed.purpose, 4 * self.vectors * self.apart)
        source, weights, size = self.read(0), self.pointer(packed), self.number(self.image_size, "image")
        e = self.e
        with e.loop("%lo", "%hi", 1) as n:
            image = self.move(source, e.times(n, size))
            self.strips(n, self.amid_zeros(image) if self.padded else image, weights)
        functions = [self.function()]
        self.begin(self.lanes)
        self.turn_weights(self.read(1), self.pointer(packed))
        self.start = [self.function("start")]
        return functions

    @property
    def image_size(self) -> int:
        """Elements of an image."""
        channels, rows, columns = self.image
        return channels * rows * columns

    def turn_weights(self, weights: str, target: str) -> None:
        """Weights (O, C, rows, columns) as vectors of outputs, those of all taps one after the other."""
        e, steps = self.e, self.number(self.steps, "taps")
        with e.loop("0", str(self.vectors), 1) as v:
            first = e.times(v, self.lanes)
            count = e.index("umin", e.index("sub", self.number(self.outputs, "outputs"), first), self.lanes)
            into = self.move(target, e.times(v, self.number(self.apart, "apart")))
            mine = self.move(weights, e.times(first, steps))
            self.inputs.tile(self.kernel("turn"), mine, steps, into, self.lanes, steps, count)

    def amid_zeros(self, image: str) -> str:
        """An image in the thread's own memory, with zeros around it."""
        e, (rows, columns), (height, width) = self.e, self.image[1:], self.room
        target = self.own(self.place, "place")
        zero, whole = e.constant(0.0, "float32"), height * width * self.depth
        self.inputs.vectors(whole, lambda at: e.store(zero, target, at), "zeros")
        (above, _), (before, _) = self.geometry.padding
        corner = self.move(target, self.number((above * width + before) * self.depth, "corner"))
        line, step = columns * self.depth, self.number(width * self.depth, "line")
        with e.loop("0", self.number(rows, "rows"), 1) as row:
            read = self.move(image, e.times(row, self.number(line, "line of the image")))
            into = self.move(corner, e.times(row, step))
            self.inputs.vectors(line, lambda at: e.store(e.load(read, at, "float32", 1), into, at), "line")
        return target

    def strips(self, n: str, image: str, weights: str) -> None:
        """All outputs of an image, some rows and columns at a time."""
        e, (rows, columns) = self.e, self.counts
        last = self.number(columns - self.strip, "last strip")
        masked = self.outputs % self.lanes != 0
        with (
            e.loop("0", self.number(rows, "rows made"), self.down) as row,
            e.loop("0", self.number(columns, "columns made"), self.strip) as begin,
        ):
            column = e.index("umin", begin, last)  # the last strip may cover some columns again
            places = [(e.plus(row, i), e.plus(column, j)) for i in range(self.down) for j in range(self.strip)]
            finish = self.finisher(n, row, column, places)
            first = e.times(row, self.stride[0])
            lines = [e.plus(first, i * self.stride[0]) for i in range(self.down)]
            left = e.times(column, self.stride[1] * self.depth)
            with e.loop("0", str(self.vectors), 1) as v:
                taps = self.move(weights, e.times(v, self.number(self.apart, "apart")))
                values = self.sums(image, lines, left, taps)
                channel = e.times(v, self.lanes)
                mask = e.below(e.index("sub", self.number(self.outputs, "outputs"), channel)) if masked else None
                with e.masked(mask):
                    finish(channel, values)

    def sums(self, image: str, lines: list[str], left: str, weights: str) -> list[Value]:
        """A strip of outputs for a vector of channels: the rows of the image, and the element of a row, at which it begins."""
        e, (height, width), depth = self.e, self.taps, self.depth
        totals = [e.variable(e.constant(0.0, "float32")) for _ in range(self.down * self.strip)]
        step = self.number(self.room[1] * depth, "line")
        with e.loop("0", str(depth), 1) as k, e.loop("0", str(height), 1) as a:
            row = e.times(a, self.dilation[0])
            start = e.plus(left, k)
            pixels = [self.move(image, e.plus(e.times(e.plus(line, row), step), start)) for line in lines]
            taps = self.move(weights, e.times(e.plus(e.times(k, height), a), width * self.lanes))
            # written out, a pixel would be kept in a register for all its taps
            with e.loop("0", str(width), 1) as b:
                tap = e.load(taps, e.times(b, self.lanes), "float32", 1)
                for i, line in enumerate(pixels):
                    first = self.move(line, e.times(b, self.dilation[1] * depth))
                    for j in range(self.strip):
                        total = totals[i * self.strip + j]
                        pixel = e.load_scalar(first, str(j * self.stride[1] * depth), "float32")
                        e.set(total, e.fma(pixel, tap, e.get(total, "float32")))
        return [e.get(total, "float32") for total in totals]

    def finisher(self, n: str, row: str, column: str, places: list[tuple[str, str]]) -> Finish:
        """The function that stores a strip of outputs, or what is made of it."""
        e, cells = self.e, self.cells
        if cells is None:
            result, line = self.result(), self.becomes[2]
            starts = []
            for y, x in places:
                at = e.plus(e.times(y, self.number(line, "columns")), x)
                at = e.plus(
                    e.times(n, self.number(self.row_elements, "made")),
                    e.times(at, self.number(self.outputs, "outputs")),
                )
                starts.append(at)

            def store(channel: str, values: list[Value]) -> None:
                for value, at in zip(values, starts, strict=True):
                    e.store(value, result, e.plus(at, channel))

            return store
        spots = [Cell(n, y, x) for y, x in places]
        offsets = [cells.offsets(spot) for spot in spots]

        def finish(channel: str, values: list[Value]) -> None:
            same = cells.same(channel)
            found = [cells.values(at, channel, same, value) for at, value in zip(offsets, values, strict=True)]
            if cells.pool is None:
                for spot, made in zip(spots, found, strict=True):
                    cells.store(spot, channel, made)
                return
            top = e.index("udiv", row, self.down)
            first = e.index("udiv", column, self.across)
            for j in range(self.strip // self.across):
                window = [
                    found[a * self.strip + j * self.across + b] for a in range(self.down) for b in range(self.across)
                ]
                cells.store_pooled(Cell(n, top, e.plus(first, j)), channel, window)

        return finish
