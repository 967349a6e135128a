"""Convolutions of 3×3 and their gradients with fewer multiplications, by kernels of our own.

Two by two neighbouring outputs are computed together from the four by four pixels that they read: 16 multiplications in place of
36 for each pair of channels (Winograd's F(2×2, 3×3); Lavin and Gray, "Fast algorithms for convolutional neural networks", 2016).
Pixels d and weights g are transformed, by additions and halves alone; at each of the 16 places a matrix product adds up over
the channels; and its results are transformed back: y = Aᵀ[(G g Gᵀ) ∘ (Bᵀ d B)]A. The gradient by the pixels is such a convolution
with turned weights; that by the weights is Gᵀ[(Bᵀ d B) ∘ (A y Aᵀ)]G, added up over the tiles.

With a stride of two and a padding of one, two neighbours of a line of outputs read five pixels: the first, third and fifth meet
the two outer taps, which is a convolution without a stride that three multiplications do in place of four; the others meet the
middle tap. So there are 25 places in place of 36 multiplications, whose transforms are additions alone. Where several places meet
the same transformed pixels or weights these are there once. The gradient by the pixels makes four by four of them from three by
three cotangents, in 25 places, too.

A block of tiles goes through all of it in the second cache. A rounding error is relative to the largest pixel of a tile, not to
the output. What isn't finite would spread over a tile: so a block in which something isn't finite is computed anew from the
definition, and results are infinite or NaN exactly where the definition's are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import Value
from adjoint.compiler.loops.build_cells import Cell, Cells
from adjoint.compiler.loops.build_windows import ConvolutionWriter
from adjoint.compiler.loops.matmul_tiles import parameters
from adjoint.compiler.loops.winograd_tiles import (
    FIELDS,
    FORMS,
    TAPS,
    WEIGHTS,
    Block,
    Finish,
    Tile,
    both_ways,
    kernel_name,
    places,
)
from adjoint.compiler.schedule.matmul import Panel
from adjoint.compiler.tables import LARGE, Function, Shared
from adjoint.compiler.targets.target import tuning

LINE = 16  # elements of a cache line


class Images(NamedTuple):
    """Channels-last images: the role of their extents among the kernel's numbers, their channels, rows and columns; `room` is
    the channels in whole vectors."""

    role: str
    channels: int
    rows: int
    columns: int
    room: int


class WinogradWriter(ConvolutionWriter):
    """A convolution of 3×3 or one of its gradients."""

    def prepare(self) -> None:
        super().prepare()
        schedule = self.schedule
        assert schedule.product is not None
        self.lanes, self.block, self.product = schedule.lanes, schedule.block, schedule.product
        self.panels = self.product.panels
        self.adds_up = self.kind == "convolution_weight_gradient"
        self.turned = self.kind == "convolution_input_gradient"
        self.form = form = FORMS[schedule.form]
        before, made = tuple([p[0] for p in self.geometry.padding]), self.becomes
        source = self.image
        if self.turned:
            before, source, made = tuple([2 - p for p in before]), made, source
        self.before = before
        self.source, self.made = self.images("source", source), self.images("made", made)
        self.across = -(-self.made.columns // form.made)
        self.tiles_of_image = -(-self.made.rows // form.made) * self.across
        self.weights_room = (-(-self.source.channels * self.made.room // LINE) | 1) * LINE  # of one place, as `apart`
        kinds = form.pixels, form.cotangents if self.adds_up else range(form.side)
        self.left, self.right = [
            self.arguments.reserve((max(of) + 1) ** 2 * self.apart(images) * 4)
            for of, images in zip(kinds, (self.source, self.made), strict=True)
        ]

    def images(self, role: str, shape: tuple[int, ...]) -> Images:
        channels, rows, columns = shape
        return Images(role, channels, rows, columns, -(-channels // self.lanes) * self.lanes)

    def apart(self, images: Images) -> int:
        """Elements from one place's block to the next one's: an odd number of lines, so that they share no sets of a cache."""
        return int((-(-self.block * images.room // LINE) | 1) * LINE)

    # Numbers and pointers

    def extent(self, images: Images, what: str) -> str:
        """A number of images, by its name: channels, rows, columns, room, line (of pixels), image, apart."""
        return self.number(self.size(images, what), images.role, what)

    def size(self, images: Images, what: str) -> int:
        """A number of images, by its name."""
        if what == "line":
            return images.columns * images.channels
        if what == "image":
            return images.rows * images.columns * images.channels
        return self.apart(images) if what == "apart" else int(getattr(images, what))

    def number(self, value: int, *role: Any) -> str:
        """As of other windows, but never in the code: so convolutions of many sizes share it."""
        return self.inputs.number(value, (self.name, *role), LARGE)

    def named(self, name: str) -> str:
        """What a function of `winograd_tiles` is called in this form."""
        return kernel_name(name, self.schedule.form)

    def add_extents(self) -> str:
        """Where in the block what `winograd_tiles` asks for begins."""
        turned, (above, left) = self.turned, self.before
        own, other = TAPS, TAPS * (self.made if turned else self.source).channels
        items: list[int | Function] = [
            self.size(images, what) for images in (self.source, self.made) for what in FIELDS
        ]
        items += [self.tiles_of_image, self.across, above, left]
        items += [own, other, TAPS - 1, -1] if turned else [other, own, 0, 1]
        stride = self.geometry.stride[0]
        items += [1, stride] if turned else [stride, 1]
        if not self.adds_up:
            items.append(self.listed(self.named("definition"), together="" if self.cells is None else "places"))
        return self.inputs.listed(items)

    def on_block(self, name: str, source: str, target: str, images: str, first: str, count: str) -> None:
        """Call one of the functions of `winograd_tiles`."""
        of = self.source if name in ("pixels", "weights_definition") else self.made
        kernel = self.kernel(self.named(name), masked=of.room != of.channels)
        weights = images if self.adds_up else self.read(1)
        self.inputs.tile(kernel, "%table", "%args", self.extents, source, target, images, weights, first, count)

    @property
    def of_block(self) -> L.Parameters:
        """What the functions of `winograd_tiles` that go through a block take."""
        return parameters(self.named("results"))

    # The functions

    def write(self) -> list[L.Function]:
        self.begin(self.lanes)
        self.extents = self.add_extents()
        transformed = Shared(0, f"weights of {self.name}")
        size = WEIGHTS * self.weights_room * 4
        self.arguments.share(transformed.purpose, size * (self.parts if self.adds_up else 1))
        images = [self.read(0), self.read(1) if self.adds_up else self.result() if self.cells is None else self.read(0)]
        weights = self.pointer(transformed)
        from_source, from_made = self.extent(self.source, "image"), self.extent(self.made, "image")

        def convolve(row: str, count: int) -> None:
            e = self.e
            left, right = self.move(images[0], e.times(row, from_source)), self.move(images[1], e.times(row, from_made))
            if not self.adds_up:
                self.blocks(count, lambda first, tiles: self.forward(left, weights, right, first, tiles, row))
                return
            part = e.index("udiv", row, self.number(self.tile, "images of a tile"))
            sums = self.move(weights, e.times(part, self.number(size, "part")), "i8")
            self.blocks(count, lambda first, tiles: self.backward(left, right, sums, first, tiles))

        self.tiles(self.tile, convolve)
        functions = [self.function()]
        if self.cells is not None:
            functions.append(self.results_by_cells(self.cells))
        self.begin(self.lanes)
        if self.adds_up:
            self.extents = self.add_extents()
            self.transform_back(self.pointer(transformed))
            self.finish = [self.function("finish")]
        else:
            self.transform_weights(self.read(1), self.pointer(transformed))
            self.start = [self.function("start")]
            self.start_chunks = self.made.room // self.lanes
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

    def counted(self, count: int) -> str:
        """How many tiles there are in a block."""
        return self.number(count, "tiles of a block", count)

    # Forward

    def forward(self, images: str, weights: str, results: str, first: str, count: int, image: str) -> None:
        """A block of tiles of a convolution, counted from an image on."""
        e = self.e
        left, right = self.own(self.left, "place of pixels"), self.own(self.right, "place of results")
        self.on_block("pixels", images, left, images, first, self.counted(count))
        # weights come from afar: tiles fetch the next panel
        items: list[int | Function] = [0, 0, LINE, len(self.panels)]
        for panel in self.panels:
            width, tiles = panel.vectors * self.lanes, self.product.strips(panel, count)
            items += [panel.column, panel.times, width, width, len(tiles)]
            room = self.source.room
            for top, height, times in tiles:
                items += [top, height, times, top * room, height * room, room, 1, height * room]
                items.append(self.listed("tile", height, panel.vectors, together="steps"))
        depth = self.extent(self.source, "channels")
        sums = self.number(self.product.sums, "sums") if self.product.sums else depth
        form = self.form
        with self.each_place() as place:
            a = self.at_place(left, place, form.pixels, self.extent(self.source, "apart"))
            b = self.at_place(weights, place, form.weights, self.number(self.weights_room, "weights of a place"))
            c = self.at_place(right, place, range(form.side), self.extent(self.made, "apart"))
            self.call_tiles(items, a, b, c, depth, depth, sums, "false")
        if self.cells is None:
            self.on_block("results", right, results, images, first, self.counted(count))
            return
        given = ("%table", "%args", self.extents, right, results, images, self.read(1), first, self.counted(count))
        names = [(kind, value) for (kind, _), value in zip(self.of_block, given, strict=True)]
        e.call(f"@${self.name}.results", (*names, ("i64", image)))

    @contextmanager
    def each_place(self) -> Iterator[tuple[str, str]]:
        """Loops over the places: the row and the column of each."""
        side = str(self.form.side)
        with self.e.loop("0", side, 1) as row, self.e.loop("0", side, 1) as column:
            yield row, column

    def at_place(self, pointer: str, place: tuple[str, str], kinds: Sequence[int], apart: str) -> str:
        """What meets at a place: of kinds along each axis, those that the table names, `apart` from each other."""
        e, found = self.e, []
        for index in place:
            kind = index
            for k, n in enumerate(kinds):
                if n != k:
                    kind = e.choose(e.test("eq", index, k), str(n), kind)
            found.append(kind)
        row, column = found
        return self.move(pointer, e.times(e.plus(e.times(row, max(kinds) + 1), column), apart))

    def results_by_cells(self, cells: Cells) -> L.Function:
        """The function of a block that finishes its results by what `cells` say."""
        self.begin(self.lanes)
        made, e = self.made, self.e
        pool = None if cells.pool is None else cells.pool.step.attributes

        def begin(tile: Tile) -> Finish:
            image = e.plus("%image", tile.image)
            rows, columns = [[first, e.plus(first, 1)] for first in (tile.row, tile.column)]
            spots = [Cell(image, row, column) for row in rows for column in columns]
            offsets = [cells.offsets(spot) for spot in spots]
            down = e.test("ult", rows[1], self.extent(made, "rows")) if made.rows % 2 else None
            right = e.test("ult", columns[1], self.extent(made, "columns")) if made.columns % 2 else None
            window = Cell(image, e.index("udiv", tile.row, 2), e.index("udiv", tile.column, 2))

            def finish(channel: str, values: list[Value]) -> None:
                same = cells.same(channel)
                if pool is not None:
                    with e.when(down, right):
                        found = [
                            cells.values(at, channel, same, value) for at, value in zip(offsets, values, strict=True)
                        ]
                        cells.store_pooled(window, channel, found)
                    return
                there = (), (right,), (down,), (down, right)
                for spot, at, value, conditions in zip(spots, offsets, values, there, strict=True):
                    with e.when(*conditions):
                        cells.store(spot, channel, cells.values(at, channel, same, value))

            return finish

        kernel = self.kernel(self.named("results"), masked=made.room != made.channels)
        Block(e, kernel, self.form).results(begin)
        return self.inputs.function(f"{self.name}.results", (*self.of_block, ("i64", "%image")), internal=True)

    def call_tiles(
        self, items: list[int | Function], a: str, b: str, c: str, by: str, k: str, sums: str, again: str
    ) -> None:
        """All tiles of one matrix product."""
        room = self.extent(self.made, "room")
        self.go_through(self.kernel("tiles"), items, a, b, c, by, room, k, sums, self.lanes, again, 0, 0, "false")

    # Weights

    def each_panel(self, column: str, write: Callable[[Panel], None]) -> None:
        """Call `write` for the kind of panels that a column is in."""
        for panel in self.panels:
            conditions: list[str] = []
            if len(self.panels) > 1:
                end = panel.column + panel.times * panel.vectors * self.lanes
                begins = self.e.test("ule", self.number(panel.column, "begin", panel.column), column)
                ends = self.e.test("ult", column, self.number(end, "end", panel.column))
                conditions = [self.e.all_of(begins, ends)]
            with self.e.when(*conditions):
                write(panel)

    def transform_weights(self, weights: str, target: str) -> None:
        """G g Gᵀ of all weights, a vector of what is made at a time, put into panels as the products read them."""
        e, source, made = self.e, self.source, self.made
        strip = self.own(
            self.arguments.reserve((TAPS * source.channels + self.lanes) * self.lanes * 4), "place of taps"
        )
        taps = self.number(TAPS * source.channels, "taps")
        with e.loop("%first", "%last", 1) as v:
            column = e.times(v, self.lanes)
            count = e.index("umin", e.index("sub", self.extent(made, "channels"), column), self.lanes)
            if self.turned:
                mine = self.move(weights, e.times(column, TAPS))
                step = self.number(TAPS * made.channels, "taps of a channel")
                with e.loop("0", self.extent(source, "channels"), 1) as k:
                    # what is read is a few lines here and there: no processor guesses the next ones
                    ahead = self.move(mine, e.times(e.plus(k, tuning().fetched_ahead), step))
                    for line in range(0, TAPS * self.lanes + LINE, LINE):
                        e.prefetch(self.move(ahead, str(line)))
                    some, into = self.move(mine, e.times(k, step)), self.move(strip, e.times(k, TAPS * self.lanes))
                    self.inputs.tile(self.kernel("turn"), some, TAPS, into, self.lanes, TAPS, count)
            else:
                some = self.move(weights, e.times(column, taps))
                self.inputs.tile(self.kernel("turn"), some, taps, strip, self.lanes, taps, count)
            self.each_panel(column, lambda panel: self.put_weights(strip, target, column, panel))

    def put_weights(self, strip: str, target: str, column: str, panel: Panel) -> None:
        """Transform a strip of taps, and put it into its panel."""
        e, depth, width = self.e, self.extent(self.source, "channels"), panel.vectors * self.lanes
        inside = e.index("urem", e.index("sub", column, panel.column), width)
        begin = e.plus(e.times(e.index("sub", column, inside), depth), inside)
        kernel = self.kernel(self.named("taps"), together="turned" if self.turned else "")
        apart = self.number(self.weights_room, "weights of a place")
        self.inputs.tile(kernel, strip, self.move(target, begin), depth, width, apart)

    # The gradient by the weights

    def backward(self, images: str, cotangents: str, sums: str, first: str, count: int) -> None:
        """Add up a block of tiles."""
        e, source, made = self.e, self.source, self.made
        left, right = self.own(self.left, "place of pixels"), self.own(self.right, "place of cotangents")
        self.on_block("pixels", images, left, images, first, self.counted(count))
        self.on_block("cotangents", cotangents, right, images, first, self.counted(count))
        items: list[int | Function] = [0, 0, 0, len(self.panels)]
        for panel in self.panels:
            tiles = self.product.strips(panel, source.channels)
            items += [panel.column, panel.times, panel.vectors * self.lanes, made.room, len(tiles)]
            for top, height, times in tiles:
                items += [top, height, times, top, height, 1, source.room, height]
                items.append(self.listed("tile", height, panel.vectors))
        k, form = self.counted(count), self.form
        with self.each_place() as place:
            a = self.at_place(left, place, form.pixels, self.extent(source, "apart"))
            b = self.at_place(right, place, form.cotangents, self.extent(made, "apart"))
            c = self.at_place(sums, place, form.weights, self.number(self.weights_room, "weights of a place"))
            again = first
            for index in place:  # what meets weights that were met already is added to the sums
                again = e.choose(e.test("eq", index, 4), "1", again) if form.side > 4 else again
            self.call_tiles(items, a, b, c, "1", k, k, e.test("ne", again, 0))

    def transform_back(self, sums: str) -> None:
        """Gᵀ n G of all sums, those of the parts added up in order; all anew if something isn't finite."""
        e, source, made = self.e, self.source, self.made
        result, taps = self.pointer(self.step.output), TAPS * source.channels
        spoilt = e.variable(e.constant(0.0, "float32"))
        step, of_place = self.number(taps, "taps"), self.number(self.weights_room, "weights of a place")
        if self.parts > 1:
            size = WEIGHTS * self.weights_room
            self.add_up(sums, self.number(size, "weights of a part"), self.number(self.parts, "parts"), size, sums)
        turns = made.room == made.channels and taps % self.lanes == 0
        strip = self.own(self.arguments.reserve(taps * self.lanes * 4), "place of taps")
        with e.loop("0", self.extent(made, "room"), self.lanes) as column:
            mask = None if turns else e.below(e.index("sub", self.extent(made, "channels"), column))
            apart = "" if turns else e.multiples(step)
            with e.loop("0", self.extent(source, "channels"), 1) as k:
                offset = e.plus(e.times(k, self.extent(made, "room")), column)
                given = [e.load(p, o, "float32", 1) for p, o in places(e, sums, offset, of_place)]
                values = both_ways(e, given, self.form.to_taps)
                for tap, value in enumerate(values):
                    e.set(spoilt, e.fma(value, 0.0, e.get(spoilt, "float32")))
                    if turns:
                        e.store(value, strip, e.times(e.plus(e.times(k, TAPS), tap), self.lanes))
                    else:
                        with e.masked(mask):
                            e.store(value, result, e.plus(e.times(column, step), e.plus(e.times(k, TAPS), tap)), apart)
            if turns:
                with e.loop("0", step, self.lanes) as first:
                    several = self.move(strip, e.times(first, self.lanes))
                    into = self.move(result, e.plus(e.times(column, step), first))
                    self.inputs.tile(self.kernel("turn"), several, self.lanes, into, step, self.lanes, self.lanes)
        sum_ = e.get(spoilt, "float32")
        with e.when_any(e.compare("uno", sum_, sum_)):
            read = self.read(0)
            self.on_block("weights_definition", read, result, self.read(1), "0", self.number(self.rows, "images"))
