"""Convolutions of 3×3 and their gradients with fewer multiplications, by kernels of our own.

Two by two neighbouring outputs are computed together from the four by four pixels that they read: 16 multiplications in place of
36 for each pair of channels (Winograd's F(2×2, 3×3); Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016).
Pixels d and weights g are transformed, by additions and halves alone; at each of the 16 places a matrix product adds up over
the channels; and its results are transformed back: y = Aᵀ[(G g Gᵀ) ∘ (Bᵀ d B)]A. The gradient by the pixels is such a convolution
with turned weights; that by the weights is Gᵀ[(Bᵀ d B) ∘ (A y Aᵀ)]G, added up over the tiles.

A block of tiles goes through all of it in the second cache. A rounding error is relative to the largest pixel of a tile, not to
the output. What isn't finite would spread over a tile: so a block in which something isn't finite is computed anew from the
definition, and results are infinite or NaN exactly where the definition's are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from adjoint.compiler.fuse.kinds import Window
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import Value
from adjoint.compiler.loops.build_matmul import Panel, heights_of, panels
from adjoint.compiler.loops.build_products import RANGE
from adjoint.compiler.loops.build_windows import ConvolutionWriter
from adjoint.compiler.loops.matmul_tiles import Kernel
from adjoint.compiler.tables import PARAMETERS, Arguments, Function, Shared
from adjoint.compiler.targets.target import tuning

PLACES, TAPS = 16, 9
BLOCK = (("ptr", "%table"), ("ptr", "%own"), ("ptr", "%args"), ("ptr", "%source"), ("ptr", "%target"), ("ptr", "%images"),
         ("i64", "%begin"), ("i64", "%count"))  # fmt: skip
LINE = 16  # elements of a cache line


class Images(NamedTuple):
    """Channels-last images: the role of their extents among the kernel's numbers, their channels, rows and columns; `room` is
    the channels in whole vectors."""

    role: str
    channels: int
    rows: int
    columns: int
    room: int


class Tile(NamedTuple):
    """Where a tile is: the first row and column of its outputs."""

    row: str
    column: str


class WinogradWriter(ConvolutionWriter):
    """A convolution of 3×3 or one of its gradients."""

    def __init__(self, window: Window, name: str, arguments: Arguments, bits: int, tile: int | None) -> None:
        super().__init__(window, name, arguments, bits, tile)
        self.lanes = bits // 32
        self.adds_up = self.kind == "convolution_weight_gradient"
        self.turned = self.kind == "convolution_input_gradient"
        before, made = tuple([p[0] for p in self.geometry.padding]), self.becomes
        source = self.image
        if self.turned:
            before, source, made = tuple([2 - p for p in before]), made, source
        self.before = before
        self.source, self.made = self.images("source", source), self.images("made", made)
        self.across = -(-self.made.columns // 2)
        self.tiles_of_image = -(-self.made.rows // 2) * self.across
        if self.adds_up:  # a part adds up enough to be worth its sums
            least = -(-4 * tuning().winograd_sums // self.tiles_of_image)
            self.tile = min(max(self.tile, least), self.rows)
            self.parts = -(-self.rows // self.tile)
        most = tuning().winograd_sums if self.adds_up else tuning().winograd_tiles
        count = -(-self.tile * self.tiles_of_image // most)
        self.panels = panels(self.made.channels, self.lanes, max(dict(tuning().heights)))
        together = 1 if self.adds_up else dict(tuning().heights)[self.panels[0].vectors]  # rows of a tile of a product
        self.block = -(-self.tile * self.tiles_of_image // (count * together)) * together  # tiles
        self.weights_room = self.source.channels * self.made.room  # of one place
        self.left, self.right = [
            arguments.reserve(PLACES * self.apart(images) * 4) for images in (self.source, self.made)
        ]

    def images(self, role: str, shape: tuple[int, ...]) -> Images:
        channels, rows, columns = shape
        return Images(role, channels, rows, columns, -(-channels // self.lanes) * self.lanes)

    def apart(self, images: Images) -> int:
        """Elements from one place's block to the next one's: an odd number of lines, so that they share no sets of a cache."""
        return (-(-self.block * images.room // LINE) | 1) * LINE

    # Numbers and pointers

    def scratch(self, offset: int, role: str) -> str:
        return self.e.at(self.e.entry("%own", 0), self.number(offset, role), "i8")

    def extent(self, images: Images, what: str) -> str:
        """A number of images, by its name: channels, rows, columns, room, line (of pixels), image, apart."""
        if what == "line":
            value = images.columns * images.channels
        elif what == "image":
            value = images.rows * images.columns * images.channels
        else:
            value = self.apart(images) if what == "apart" else getattr(images, what)
        return self.number(value, images.role, what)

    def kernel(self, name: str, rows: int = 1, vectors: int = 1, together: str = "") -> Function:
        return Function("tiles", Kernel(name, "float32", int(rows), int(vectors), False, together))

    # The functions

    def write(self) -> list[L.Function]:
        self.begin(self.lanes)
        transformed = Shared(0, f"weights of {self.name}")
        size = PLACES * self.weights_room * 4
        self.arguments.share(transformed.purpose, size * (self.parts if self.adds_up else 1))
        images = [self.read(0), self.read(1) if self.adds_up else self.result()]
        weights = self.pointer(transformed)
        from_source, from_made = self.extent(self.source, "image"), self.extent(self.made, "image")

        def convolve(row: str, count: int) -> None:
            e = self.e
            left, right = self.move(images[0], e.times(row, from_source)), self.move(images[1], e.times(row, from_made))
            if not self.adds_up:
                self.blocks(count, lambda first, tiles: self.forward(left, weights, right, first, tiles))
                return
            part = e.index("udiv", row, self.number(self.tile, "images of a tile"))
            sums = self.move(weights, e.times(part, self.number(size, "part")), "i8")
            self.blocks(count, lambda first, tiles: self.backward(left, right, sums, first, tiles))

        self.tiles(self.tile, convolve)
        functions = [self.function(self.name, RANGE), self.written("pixels", self.transform)]
        if self.adds_up:
            functions.append(self.written("cotangents", self.transform_cotangents))
        else:
            functions.append(self.written("results", self.transform_results))
            functions.append(self.written("definition", self.define_results))
        self.begin(self.lanes)
        if self.adds_up:
            self.transform_back(self.pointer(transformed))
            self.finish = [self.function(f"{self.name}.finish", PARAMETERS)]
        else:
            self.transform_weights(self.read(1), self.pointer(transformed))
            self.start = [self.function(f"{self.name}.start", PARAMETERS)]
            self.start_chunks = self.made.room // self.lanes
            self.start_time = 2.0 * self.weights_room
        return functions

    def blocks(self, images: int, write: Callable[[str, int], None]) -> None:
        """Call `write` with the first tile of each block of some images, and how many there are in it."""
        whole, rest = divmod(images * self.tiles_of_image, self.block)
        role = "tiles" if images == self.tile else "last tiles"
        stop = self.number(whole * self.block, role)
        if whole:
            with self.e.loop("0", stop, self.number(self.block, "block")) as first:
                write(first, self.block)
        if rest:
            write(stop, rest)

    def written(self, name: str, write: Callable[[], None]) -> L.Function:
        """A function of a block: what it reads, what it writes, the images that all begins with, the first tile, their count."""
        self.begin(self.lanes)
        write()
        return self.e.function(f"{self.name}.{name}", BLOCK, True, self.inputs.body)

    def on_block(self, name: str, source: str, target: str, images: str, first: str, count: str) -> None:
        """Call such a function."""
        given = (("ptr", source), ("ptr", target), ("ptr", images), ("i64", first), ("i64", count))
        self.e.call(f"@${self.name}.{name}", (*BLOCK[:3], *given))

    def counted(self, count: int) -> str:
        """How many tiles there are in a block."""
        return self.number(count, "tiles of a block", count)

    def each_tile(self, write: Callable[[str, str, Tile], None]) -> None:
        """Call `write` with the number of each tile of a block, that of its image, and where its first output is."""
        e = self.e
        per_image, across = self.number(self.tiles_of_image, "tiles of image"), self.number(self.across, "across")
        with e.loop("0", "%count", 1) as t:
            at = e.plus("%begin", t)
            image, within = e.index("udiv", at, per_image), e.index("urem", at, per_image)
            row, column = e.index("udiv", within, across), e.index("urem", within, across)
            write(t, image, Tile(e.times(row, 2), e.times(column, 2)))

    def image_of(self, images: Images, pointer: str, number: str) -> str:
        """The pointer to an image."""
        return self.move(pointer, self.e.times(number, self.extent(images, "image")))

    def vectors(self, images: Images, write: Callable[[str, str], None]) -> None:
        """Call `write` for each vector of channels, with how many are left."""
        e = self.e
        with e.loop("0", self.extent(images, "room"), self.lanes) as channel:
            write(channel, e.index("sub", self.extent(images, "channels"), channel))

    # Pixels

    def transform(self) -> None:
        """Bᵀ d B of each tile of a block."""
        e, source = self.e, self.source

        def one(t: str, image: str, tile: Tile) -> None:
            top, left = [
                e.index("sub", at, before) for at, before in zip((tile.row, tile.column), self.before, strict=True)
            ]
            line, step = self.extent(source, "line"), self.extent(source, "channels")
            corner = self.move(self.image_of(source, "%source", image), e.plus(e.times(top, line), e.times(left, step)))
            rows = [corner]
            for _ in range(3):
                rows.append(self.move(rows[-1], line))
            into = self.move("%target", e.times(t, self.extent(source, "room")))

            def read(limits: list[list[str]] | None) -> None:
                def vector(channel: str, rest: str) -> None:
                    columns = [channel]
                    for _ in range(3):
                        columns.append(e.plus(columns[-1], step))
                    pixels = []
                    if source.room != source.channels and limits is None:
                        e.mask = e.below(rest)
                    for a in range(4):
                        for b in range(4):
                            if limits is not None:
                                e.mask = e.below(e.index("umin", limits[a][b], rest))
                            pixels.append(e.load(rows[a], columns[b], "float32", 1))
                    e.mask = None
                    self.put(self.of_pixels(pixels), into, channel, source)

                self.vectors(source, vector)

            self.inside(top, left, read)

        self.each_tile(one)

    def inside(self, top: str, left: str, write: Callable[[list[list[str]] | None], None]) -> None:
        """Call `write` once for tiles that lie inside of an image, and once for others, with how many channels of each pixel
        there are: none where a pixel lies in the padding."""
        e, source = self.e, self.source
        rows, columns = self.extent(source, "rows"), self.extent(source, "columns")
        whole = source.rows >= 4 and source.columns >= 4
        if whole:
            fits = e.all_of(
                e.test("ult", top, self.number(source.rows - 3, "rows of corners")),
                e.test("ult", left, self.number(source.columns - 3, "columns of corners")),
            )
            with e.when(fits):
                write(None)
            if self.before == (0, 0) and self.made.rows % 2 == self.made.columns % 2 == 0:
                return  # all do
        with ExitStack() as otherwise:
            if whole:
                otherwise.enter_context(e.when(e.test("eq", e.choose(fits, "1", "0"), 0)))
            # unsigned: what is negative is large
            down = [e.test("ult", e.plus(top, a), rows) for a in range(4)]
            right = [e.test("ult", e.plus(left, b), columns) for b in range(4)]
            count = self.extent(source, "channels")
            write([[e.choose(e.all_of(down[a], right[b]), count, "0") for b in range(4)] for a in range(4)])

    def of_pixels(self, d: list[Value]) -> list[Value]:
        """Bᵀ d B."""
        return self.both_ways(d, self.of_four)

    def of_four(self, d: Sequence[Value]) -> list[Value]:
        e = self.e
        return [e.subtract(d[0], d[2]), e.add(d[1], d[2]), e.subtract(d[2], d[1]), e.subtract(d[1], d[3])]

    def both_ways(self, matrix: list[Value], along: Callable[[Sequence[Value]], list[Value]]) -> list[Value]:
        """A square matrix transformed along its columns, then along its rows."""
        size = int(len(matrix) ** 0.5)
        down = [along(matrix[b::size]) for b in range(size)]
        return [value for a in range(len(down[0])) for value in along([column[a] for column in down])]

    def put(self, values: list[Value], into: str, offset: str, images: Images) -> None:
        """A vector at each of the 16 places."""
        for value, (pointer, at) in zip(values, self.places(into, offset, self.extent(images, "apart")), strict=True):
            self.e.store(value, pointer, at)

    def places(self, pointer: str, offset: str, apart: str) -> list[tuple[str, str]]:
        """A pointer and an offset for each of the 16 places."""
        e = self.e
        four = e.times(apart, 4)
        pointers, offsets = [pointer], [offset]
        for _ in range(3):
            pointers.append(self.move(pointers[-1], four))
            offsets.append(e.plus(offsets[-1], apart))
        return [(a, b) for a in pointers for b in offsets]

    # Forward

    def forward(self, images: str, weights: str, results: str, first: str, count: int) -> None:
        """A block of tiles of a convolution."""
        e = self.e
        left, right = self.scratch(self.left, "place of pixels"), self.scratch(self.right, "place of results")
        self.on_block("pixels", images, left, images, first, self.counted(count))
        k, heights = self.source.channels, dict(tuning().heights)
        items: list[int | Function] = [len(self.panels)]
        for panel in self.panels:
            width, highest = panel.vectors * self.lanes, min(heights[panel.vectors], count)
            tiles = heights_of(count, highest, True)
            items += [panel.column, panel.times, width, width, len(tiles)]
            room = self.source.room
            for top, height, times in tiles:
                items += [top, height, times, top * room, height * room, room, 1, height * room]
                items.append(self.kernel("tile", height, panel.vectors, "steps"))
        depth, limit = self.extent(self.source, "channels"), tuning()
        sums = self.number(limit.sums, "sums") if k > limit.deep else depth
        with e.loop("0", str(PLACES), 1) as place:
            a = self.move(left, e.times(place, self.extent(self.source, "apart")))
            b = self.move(weights, e.times(place, self.number(self.weights_room, "weights of a place")))
            c = self.move(right, e.times(place, self.extent(self.made, "apart")))
            self.call_tiles(items, a, b, c, depth, depth, sums, "false")
        self.on_block("results", right, results, images, first, self.counted(count))

    def call_tiles(
        self, items: list[int | Function], a: str, b: str, c: str, by: str, k: str, sums: str, again: str
    ) -> None:
        """All tiles of one matrix product."""
        e, function = self.e, self.pointer(self.kernel("tiles"))
        with self.inputs.at_the_beginning():
            start = self.arguments.add_list(e, items)
        e.call(function, (
            ("ptr", "%table"), ("ptr", "%args"), ("i64", start), ("ptr", a), ("ptr", b), ("ptr", c), ("i64", by),
            ("i64", self.extent(self.made, "room")), ("i64", k), ("i64", sums), ("i64", str(self.lanes)), ("i1", again),
        ))  # fmt: skip

    def transform_results(self) -> None:
        """Aᵀ m A of each tile of a block, and the block anew if something isn't finite."""
        e, made = self.e, self.made
        spoilt = e.variable(e.constant(0.0, "float32"))

        def one(t: str, image: str, tile: Tile) -> None:
            at = self.move("%source", e.times(t, self.extent(made, "room")))
            pixels = self.pixels_of("%target", image, tile)

            def vector(channel: str, rest: str) -> None:
                given = [e.load(p, o, "float32", 1) for p, o in self.places(at, channel, self.extent(made, "apart"))]
                values = self.both_ways(given, self.to_two)
                for value in values:
                    e.set(spoilt, e.fma(value, 0.0, e.get(spoilt, "float32")))
                mask = e.below(rest) if made.room != made.channels else None
                for value, (pointer, there) in zip(values, pixels, strict=True):
                    with ExitStack() as conditions:
                        if there is not None:
                            conditions.enter_context(e.when(there))
                        e.mask = mask
                        e.store(value, pointer, channel)
                        e.mask = None

            self.vectors(made, vector)

        self.each_tile(one)
        sum_ = e.get(spoilt, "float32")
        with e.when_any(e.compare("uno", sum_, sum_)):
            self.on_block("definition", "%images", "%target", "%images", "%begin", "%count")

    def to_two(self, m: Sequence[Value]) -> list[Value]:
        e = self.e
        return [e.add(e.add(m[0], m[1]), m[2]), e.subtract(e.subtract(m[1], m[2]), m[3])]

    def pixels_of(self, images: str, image: str, tile: Tile) -> list[tuple[str, str | None]]:
        """The pointers to the four pixels that a tile makes, each with the condition that it is there, if it may not be."""
        e, made = self.e, self.made
        line, step = self.extent(made, "line"), self.extent(made, "channels")
        corner = self.move(
            self.image_of(made, images, image), e.plus(e.times(tile.row, line), e.times(tile.column, step))
        )
        below = self.move(corner, line)
        down = right = None
        if made.rows % 2:
            down = e.test("ult", e.plus(tile.row, 1), self.extent(made, "rows"))
        if made.columns % 2:
            right = e.test("ult", e.plus(tile.column, 1), self.extent(made, "columns"))
        both = e.all_of(down, right) if down and right else down or right
        return [(corner, None), (self.move(corner, step), right), (below, down), (self.move(below, step), both)]

    def define_results(self) -> None:
        """A block of tiles by the definition."""
        e, source, made = self.e, self.source, self.made
        weights, depth = self.read(1), self.extent(source, "channels")
        rows, columns = self.extent(source, "rows"), self.extent(source, "columns")
        # how far apart weights are for neighbours in what is made and in what is read, tap by tap
        own, other = (TAPS, TAPS * made.channels) if self.turned else (TAPS * source.channels, TAPS)
        own_, other_ = self.number(own, "weights apart"), self.number(other, "weights of a channel")
        apart = e.multiples(own_)

        def one(t: str, image: str, tile: Tile) -> None:
            pixels = self.image_of(source, "%source", image)
            results = self.image_of(made, "%target", image)
            with e.loop("0", "2", 1) as down, e.loop("0", "2", 1) as right:
                y, x = e.plus(tile.row, down), e.plus(tile.column, right)
                there = e.all_of(
                    e.test("ult", y, self.extent(made, "rows")), e.test("ult", x, self.extent(made, "columns"))
                )
                to = e.times(e.plus(e.times(y, self.extent(made, "columns")), x), self.extent(made, "channels"))
                top, left = e.index("sub", y, self.before[0]), e.index("sub", x, self.before[1])

                def vector(channel: str, rest: str) -> None:
                    total, mask = e.variable(e.constant(0.0, "float32")), e.below(rest)
                    with e.loop("0", "3", 1) as a, e.loop("0", "3", 1) as b:
                        row, column, tap = e.plus(top, a), e.plus(left, b), e.plus(e.times(a, 3), b)
                        at = e.times(e.plus(e.times(row, columns), column), depth)
                        tap = e.index("sub", str(TAPS - 1), tap) if self.turned else tap
                        weight = e.plus(e.times(channel, own_), tap)
                        inside = e.all_of(e.test("ult", row, rows), e.test("ult", column, columns))
                        with e.when(inside), e.loop("0", depth, 1) as k:
                            value = e.load_scalar(pixels, e.plus(at, k), "float32")
                            e.mask = mask
                            by = e.load(weights, e.plus(weight, e.times(k, other_)), "float32", apart)
                            e.mask = None
                            e.set(total, e.fma(value, by, e.get(total, "float32")))
                    e.mask = mask
                    e.store(e.get(total, "float32"), results, e.plus(to, channel))
                    e.mask = None

                with e.when(there):
                    self.vectors(made, vector)

        self.each_tile(one)

    # Weights

    def each_panel(self, column: str, write: Callable[[Panel], None]) -> None:
        """Call `write` for the kind of panels that a column is in."""
        for panel in self.panels:
            with ExitStack() as conditions:
                if len(self.panels) > 1:
                    end = panel.column + panel.times * panel.vectors * self.lanes
                    begins = self.e.test("ule", self.number(panel.column, "begin", panel.column), column)
                    ends = self.e.test("ult", column, self.number(end, "end", panel.column))
                    conditions.enter_context(self.e.when(self.e.all_of(begins, ends)))
                write(panel)

    def transform_weights(self, weights: str, target: str) -> None:
        """G g Gᵀ of all weights, a vector of what is made at a time, put into panels as the products read them."""
        e, source, made = self.e, self.source, self.made
        strip = self.scratch(
            self.arguments.reserve((TAPS * source.channels + self.lanes) * self.lanes * 4), "place of taps"
        )
        turn, taps = self.pointer(self.kernel("turn")), self.number(TAPS * source.channels, "taps")
        with e.loop("%first", "%last", 1) as v:
            column = e.times(v, self.lanes)
            count = e.index("umin", e.index("sub", self.extent(made, "channels"), column), self.lanes)
            if self.turned:
                mine = self.move(weights, e.times(column, TAPS))
                step = self.number(TAPS * made.channels, "taps of a channel")
                with e.loop("0", self.extent(source, "channels"), 1) as k:
                    self.turn(turn, self.move(mine, e.times(k, step)), str(TAPS), self.move(strip, e.times(k, TAPS * self.lanes)),
                              str(self.lanes), str(TAPS), count)  # fmt: skip
            else:
                self.turn(turn, self.move(weights, e.times(column, taps)), taps, strip, str(self.lanes), taps, count)
            self.each_panel(column, lambda panel: self.put_weights(strip, target, column, panel))

    def turn(self, function: str, source: str, step: str, target: str, width: str, k: str, columns: str) -> None:
        self.e.call(function, (
            ("ptr", source), ("i64", step), ("ptr", target), ("i64", width), ("i64", k), ("i64", columns),
        ))  # fmt: skip

    def put_weights(self, strip: str, target: str, column: str, panel: Panel) -> None:
        """Transform a strip of taps, and put it into its panel."""
        e, depth, width = self.e, self.extent(self.source, "channels"), panel.vectors * self.lanes
        inside = e.index("urem", e.index("sub", column, panel.column), width)
        begin = e.plus(e.times(e.index("sub", column, inside), depth), inside)
        apart = self.number(self.weights_room, "weights of a place")
        with e.loop("0", depth, 1) as k:
            at = e.times(k, TAPS * self.lanes)
            taps = [e.load(strip, e.plus(at, tap * self.lanes), "float32", 1) for tap in range(TAPS)]
            if self.turned:
                taps.reverse()
            places = self.places(target, e.plus(begin, e.times(k, width)), apart)
            for value, (pointer, offset) in zip(self.both_ways(taps, self.of_three), places, strict=True):
                e.store(value, pointer, offset)

    def of_three(self, g: Sequence[Value]) -> list[Value]:
        e = self.e
        outer, middle = e.multiply(e.add(g[0], g[2]), 0.5), e.multiply(g[1], 0.5)
        return [g[0], e.add(outer, middle), e.subtract(outer, middle), g[2]]

    # The gradient by the weights

    def backward(self, images: str, cotangents: str, sums: str, first: str, count: int) -> None:
        """Add up a block of tiles."""
        e, source, made = self.e, self.source, self.made
        left, right = self.scratch(self.left, "place of pixels"), self.scratch(self.right, "place of cotangents")
        self.on_block("pixels", images, left, images, first, self.counted(count))
        self.on_block("cotangents", cotangents, right, images, first, self.counted(count))
        heights = dict(tuning().heights)
        items: list[int | Function] = [len(self.panels)]
        for panel in self.panels:
            tiles = heights_of(source.channels, min(heights[panel.vectors], source.channels), False)
            items += [panel.column, panel.times, panel.vectors * self.lanes, made.room, len(tiles)]
            for top, height, times in tiles:
                items += [top, height, times, top, height, 1, source.room, height]
                items.append(self.kernel("tile", height, panel.vectors))
        k = self.counted(count)
        with e.loop("0", str(PLACES), 1) as place:
            a = self.move(left, e.times(place, self.extent(source, "apart")))
            b = self.move(right, e.times(place, self.extent(made, "apart")))
            c = self.move(sums, e.times(place, self.number(self.weights_room, "weights of a place")))
            self.call_tiles(items, a, b, c, "1", k, k, e.test("ne", first, 0))

    def transform_cotangents(self) -> None:
        """A y Aᵀ of each tile of a block."""
        e, made = self.e, self.made

        def one(t: str, image: str, tile: Tile) -> None:
            pixels = self.pixels_of("%source", image, tile)
            into = self.move("%target", e.times(t, self.extent(made, "room")))
            all_ = self.extent(made, "channels")
            limits = [None if there is None else e.choose(there, all_, "0") for _, there in pixels]

            def vector(channel: str, rest: str) -> None:
                given = []
                for (pointer, _), limit in zip(pixels, limits, strict=True):
                    if limit is not None or made.room != made.channels:
                        e.mask = e.below(rest if limit is None else e.index("umin", limit, rest))
                    given.append(e.load(pointer, channel, "float32", 1))
                    e.mask = None
                self.put(self.both_ways(given, self.from_two), into, channel, made)

            self.vectors(made, vector)

        self.each_tile(one)

    def from_two(self, y: Sequence[Value]) -> list[Value]:
        e = self.e
        return [y[0], e.add(y[0], y[1]), e.subtract(y[0], y[1]), e.negative(y[1])]

    def transform_back(self, sums: str) -> None:
        """Gᵀ n G of all sums, those of the parts added up in order; all anew if something isn't finite."""
        e, source, made = self.e, self.source, self.made
        result, taps = self.pointer(self.step.output), TAPS * source.channels
        spoilt = e.variable(e.constant(0.0, "float32"))
        step = self.number(taps, "taps")
        turns = made.room == made.channels and taps % self.lanes == 0
        strip = self.scratch(self.arguments.reserve(taps * self.lanes * 4), "place of taps")
        turn = self.pointer(self.kernel("turn")) if turns else ""
        with e.loop("0", self.extent(made, "room"), self.lanes) as column:
            mask = None if turns else e.below(e.index("sub", self.extent(made, "channels"), column))
            apart = "" if turns else e.multiples(step)
            with e.loop("0", self.extent(source, "channels"), 1) as k:
                values = self.both_ways(self.added_up(sums, column, k), self.to_three)
                for tap, value in enumerate(values):
                    e.set(spoilt, e.fma(value, 0.0, e.get(spoilt, "float32")))
                    if turns:
                        e.store(value, strip, e.times(e.plus(e.times(k, TAPS), tap), self.lanes))
                    else:
                        e.mask = mask
                        e.store(value, result, e.plus(e.times(column, step), e.plus(e.times(k, TAPS), tap)), apart)
                        e.mask = None
            if turns:
                lanes = str(self.lanes)
                with e.loop("0", step, self.lanes) as first:
                    several = self.move(strip, e.times(first, self.lanes))
                    into = self.move(result, e.plus(e.times(column, step), first))
                    self.turn(turn, several, lanes, into, step, lanes, lanes)
        sum_ = e.get(spoilt, "float32")
        with e.when_any(e.compare("uno", sum_, sum_)):
            self.define_weights(result)

    def added_up(self, sums: str, column: str, k: str) -> list[Value]:
        """The 16 vectors of one channel that is read, those of all parts."""
        e = self.e
        offset = e.plus(e.times(k, self.extent(self.made, "room")), column)
        apart = self.number(self.weights_room, "weights of a place")
        found = [e.load(p, o, "float32", 1) for p, o in self.places(sums, offset, apart)]
        for part in range(1, self.parts):
            more = self.move(sums, self.number(part * PLACES * self.weights_room, "part", part))
            values = [e.load(p, o, "float32", 1) for p, o in self.places(more, offset, apart)]
            found = [e.add(a, b) for a, b in zip(found, values, strict=True)]
        return found

    def to_three(self, n: Sequence[Value]) -> list[Value]:
        e = self.e
        sum_, difference = e.multiply(e.add(n[1], n[2]), 0.5), e.multiply(e.subtract(n[1], n[2]), 0.5)
        return [e.add(n[0], sum_), difference, e.add(sum_, n[3])]

    def define_weights(self, result: str) -> None:
        """The gradient by the definition; rows of an image are added up, then their sums."""
        e, source, made = self.e, self.source, self.made
        images, cotangents = self.read(0), self.read(1)
        channels, outputs = self.extent(source, "channels"), self.extent(made, "channels")
        width, height = self.extent(source, "columns"), self.extent(source, "rows")
        count = self.number(self.rows, "images")
        apart = e.multiples(str(TAPS))
        with e.loop("0", outputs, 1) as o, e.loop("0", "3", 1) as a, e.loop("0", "3", 1) as b:

            def vector(channel: str, rest: str) -> None:
                total, mask = e.variable(e.constant(0.0, "float32")), e.below(rest)
                with e.loop("0", count, 1) as n, e.loop("0", self.extent(made, "rows"), 1) as i:
                    row = e.index("sub", e.plus(i, a), self.before[0])
                    with e.when(e.test("ult", row, height)):
                        line = e.variable(e.constant(0.0, "float32"))
                        from_ = e.times(e.plus(e.times(n, self.extent(made, "rows")), i), self.extent(made, "columns"))
                        of = e.times(e.plus(e.times(n, height), row), width)
                        with e.loop("0", self.extent(made, "columns"), 1) as j:
                            column = e.index("sub", e.plus(j, b), self.before[1])
                            with e.when(e.test("ult", column, width)):
                                u = e.load_scalar(cotangents, e.plus(e.times(e.plus(from_, j), outputs), o), "float32")
                                e.mask = mask
                                at = e.plus(e.times(e.plus(of, column), channels), channel)
                                x = e.load(images, at, "float32", 1)
                                e.mask = None
                                e.set(line, e.fma(u, x, e.get(line, "float32")))
                        e.set(total, e.add(e.get(total, "float32"), e.get(line, "float32")))
                e.mask = mask
                weight = e.plus(e.times(e.plus(e.times(o, channels), channel), TAPS), e.plus(e.times(a, 3), b))
                e.store(e.get(total, "float32"), result, weight, apart)
                e.mask = None

            self.vectors(source, vector)
