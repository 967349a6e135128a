"""What Winograd's convolutions do with a block of tiles (see `build_winograd`), as functions that all of them share: pixels,
results and cotangents transformed, results by the definition. Each comes in the forms of `FORMS`.

Extents are a list in the unit's block: those of the images that are read and of those that are made (`FIELDS` of each), then
`OTHERS`, then, where results are made, the function that computes them by the definition.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from adjoint._tuples import NamedTuple
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.build import Emitter, Value
from adjoint.compiler.loops.matmul_tiles import Kernel

WEIGHTS, TAPS = 16, 9  # matrices that weights of 3×3 are transformed to, in every form
# Of images with their channels last; `room` is the channels in whole vectors, `line` and `image` are the elements of a line of
# pixels and of an image, `apart` those from one place to the next in a block of tiles.
FIELDS = ("channels", "rows", "columns", "room", "line", "image", "apart")
# Tiles of an image, and in a row of them; the padding before; how far apart weights are for neighbours in what is made, and in
# what is read; the first tap and the step to the next. By the definition a tap of a row reads the row that is `up` times that
# row, less the padding and more the tap, divided by `down`, if there is such a row.
OTHERS = ("tiles", "across", "above", "left of", "own", "other", "first tap", "next tap", "up", "down")
NEXT = 4  # tiles: so far ahead the lines that a tile is the first to read are fetched, for no processor guesses them
BLOCK = f"{matmul_tiles.LISTED}, ptr %source, ptr %target, ptr %images, ptr %weights, i64 %begin, i64 %count"


# Transforms of a row or column: each result as a sum of the given ones, by their numbers -------------------------------------

Along = Callable[[Emitter, Sequence[Value]], list[Value]]


def sums(results: str) -> Along:
    """A transform by additions alone: "0+1 2-3 -1" gives x₀ + x₁, x₂ - x₃ and -x₁."""
    return lambda e, x: [_sum(e, x, result) for result in results.split()]


def _sum(e: Emitter, x: Sequence[Value], terms: str) -> Value:
    total = None
    for sign, number in re.findall(r"([+-]?)(\d)", terms):
        one = x[int(number)]
        if total is None:
            total = e.negative(one) if sign == "-" else one
        else:
            total = e.subtract(total, one) if sign == "-" else e.add(total, one)
    assert total is not None
    return total


def of_three(e: Emitter, g: Sequence[Value]) -> list[Value]:
    """G g."""
    outer, middle = e.multiply(e.add(g[0], g[2]), 0.5), e.multiply(g[1], 0.5)
    return [g[0], e.add(outer, middle), e.subtract(outer, middle), g[2]]


def to_three(e: Emitter, n: Sequence[Value]) -> list[Value]:
    """Gᵀ n."""
    total, difference = e.multiply(e.add(n[1], n[2]), 0.5), e.multiply(e.subtract(n[1], n[2]), 0.5)
    return [e.add(n[0], total), difference, e.add(total, n[3])]


class Form(NamedTuple):
    """Along an axis: a tile makes so many results of `window` pixels, those of the next tile `step` further, the first one's
    `begin` behind the padding. At each place a kind of transformed pixels (or cotangents, where weights are summed up) meets
    a kind of transformed weights."""

    made: int
    window: int
    step: int
    begin: int
    of_pixels: Along  # Bᵀ d, each value of it once, as of G g and A y
    to_results: Along  # Aᵀ m
    of_taps: Along  # G g
    of_cotangents: Along  # A y
    to_taps: Along  # Gᵀ n
    pixels: tuple[int, ...]
    cotangents: tuple[int, ...]
    weights: tuple[int, ...]

    @property
    def side(self) -> int:
        """Places along an axis."""
        return len(self.weights)


FOUR, FIVE = (0, 1, 2, 3), (0, 1, 2, 3, 4)
# With a stride of two the outer ones and the middle one of the five that two results read meet two taps, the others one.
STRIDED = sums("0 0+2 2 1"), sums("0 0+1 1"), sums("0+1 3 1+2")  # G g, A y, Gᵀ n
FORMS = {
    "": Form(2, 4, 2, 0, sums("0-2 1+2 2-1 1-3"), sums("0+1+2 1-2-3"), of_three, sums("0 0+1 0-1 -1"), to_three,
             FOUR, FOUR, FOUR),
    "strided": Form(2, 5, 4, 0, sums("0-2 2 4-2 1 3"), sums("0+1+3 1+2+4"), *STRIDED, FIVE, (0, 1, 2, 0, 2), (0, 1, 2, 3, 3)),
    # the gradient by the pixels of what is strided, with a padding of one: of three that four pixels' gradients read
    "spread": Form(4, 3, 2, 1, sums("0-1 1 2-1 0"), sums("3 0+1 4 1+2"), *STRIDED, (0, 1, 2, 3, 1), FIVE, (0, 1, 2, 3, 3)),
}  # fmt: skip


def both_ways(e: Emitter, matrix: list[Value], along: Along) -> list[Value]:
    """A square matrix transformed along its columns, then along its rows."""
    size = int(len(matrix) ** 0.5)
    down = [along(e, matrix[b::size]) for b in range(size)]
    return [value for a in range(len(down[0])) for value in along(e, [column[a] for column in down])]


def places(e: Emitter, pointer: str, offset: str, apart: str, side: int = 4) -> list[tuple[str, str]]:
    """A pointer and an offset for each of `side` times `side` places."""
    row = e.times(apart, side)
    pointers, offsets = [pointer], [offset]
    for _ in range(side - 1):
        pointers.append(e.at(pointers[-1], row, "float"))
        offsets.append(e.plus(offsets[-1], apart))
    return [(a, b) for a in pointers for b in offsets]


# Functions of a block --------------------------------------------------------------------------------------------------


class Tile(NamedTuple):
    """Where a tile is: its number in the block, its image, and in this how many tiles are above and left of it; the first row and
    column of its outputs."""

    number: str
    image: str
    above: str
    left: str
    row: str
    column: str


class Edge(NamedTuple):
    """What of the pixels of a tile lies inside of an image: the condition for each row; for each column how many channels there
    are, none where it lies in the padding, and the masks of these, if they are the same for all vectors."""

    down: list[str]
    limits: list[str]
    masks: list[str] | None


Finish = Callable[[str, list[Value]], None]  # does what is to be done with a vector of channels of a tile's outputs


class Block:
    """A function that goes through the tiles of a block. `masked`: the channels aren't whole vectors."""

    def __init__(self, e: Emitter, kernel: Kernel, form: Form = FORMS[""]) -> None:
        self.e, self.form = e, form
        self.masked = kernel.masked
        names = [*[f"source {x}" for x in FIELDS], *[f"made {x}" for x in FIELDS], *OTHERS]
        self.numbers = {name: e.argument(e.plus("%list", k)) for k, name in enumerate(names)}

    def move(self, pointer: str, offset: str) -> str:
        return self.e.at(pointer, offset, "float")

    def each_tile(self, write: Callable[[Tile], None]) -> None:
        """Call `write` for each tile."""
        e, numbers = self.e, self.numbers
        with e.loop("0", "%count", 1) as t:
            at = e.plus("%begin", t)
            image, within = e.index("udiv", at, numbers["tiles"]), e.index("urem", at, numbers["tiles"])
            row, column = e.index("udiv", within, numbers["across"]), e.index("urem", within, numbers["across"])
            made = self.form.made
            write(Tile(t, image, row, column, e.times(row, made), e.times(column, made)))

    def image_of(self, kind: str, pointer: str, number: str) -> str:
        """The pointer to an image."""
        return self.move(pointer, self.e.times(number, self.numbers[f"{kind} image"]))

    def vectors(self, kind: str, write: Callable[[str, str], None]) -> None:
        """Call `write` for each vector of channels, with how many are left."""
        e, numbers = self.e, self.numbers
        with e.loop("0", numbers[f"{kind} room"], e.lanes) as channel:
            write(channel, e.index("sub", numbers[f"{kind} channels"], channel))

    def pixels(self) -> None:
        """Bᵀ d B of each tile."""
        e, numbers, form = self.e, self.numbers, self.form
        line, step, along = numbers["source line"], numbers["source channels"], range(form.window)
        ahead = e.times(step, NEXT * form.step)

        def one(tile: Tile) -> None:
            top, left = [
                e.index("sub", e.plus(e.times(before, form.step), form.begin), padding)
                for before, padding in ((tile.above, numbers["above"]), (tile.left, numbers["left of"]))
            ]
            image = self.image_of("source", "%source", tile.image)
            rows = [self.move(image, e.plus(e.times(top, line), e.times(left, step)))]
            for _ in along[1:]:
                rows.append(self.move(rows[-1], line))
            into = self.move("%target", e.times(tile.number, numbers["source room"]))

            def read(edge: Edge | None) -> None:
                def vector(channel: str, rest: str) -> None:
                    columns = [channel]
                    for _ in along[1:]:
                        columns.append(e.plus(columns[-1], step))
                    for row in rows[-form.step :]:
                        for column in columns[-form.step :]:
                            e.prefetch(self.move(row, e.plus(column, ahead)))
                    if edge is None:
                        with e.masked(e.below(rest) if self.masked else None):
                            pixels = [e.load(rows[a], columns[b], "float32", 1) for a in along for b in along]
                    else:
                        pixels = self.amid_zeros(rows, columns, edge, rest)
                    self.put(both_ways(e, pixels, form.of_pixels), into, channel, "source")

                self.vectors("source", vector)

            self.inside(top, left, read)

        self.each_tile(one)

    def inside(self, top: str, left: str, write: Callable[[Edge | None], None]) -> None:
        """Call `write` once for tiles that lie inside of an image, and once for others, with what of them does."""
        e, numbers = self.e, self.numbers
        rows, columns, along = numbers["source rows"], numbers["source columns"], range(self.form.window)
        last = along[-1]
        fits = e.all_of(
            e.all_of(e.test("slt", "-1", top), e.test("slt", e.plus(top, last), rows)),
            e.all_of(e.test("slt", "-1", left), e.test("slt", e.plus(left, last), columns)),
        )
        with e.when(fits):
            write(None)
        with e.when(e.test("eq", e.choose(fits, "1", "0"), 0)):
            # unsigned: what is negative is large
            down = [e.test("ult", e.plus(top, a), rows) for a in along]
            right = [e.test("ult", e.plus(left, b), columns) for b in along]
            # without a last vector that isn't full, masks are the same for all vectors
            count = numbers["source channels"] if self.masked else str(e.lanes)
            limits = [e.choose(condition, count, "0") for condition in right]
            write(Edge(down, limits, None if self.masked else [e.below(limit) for limit in limits]))

    def amid_zeros(self, rows: list[str], columns: list[str], edge: Edge, rest: str) -> list[Value]:
        """A vector of each pixel, zero where it lies in the padding."""
        e = self.e
        masks = edge.masks or [e.below(e.index("umin", limit, rest)) for limit in edge.limits]
        size = self.form.window
        pixels = [e.variable(e.constant(0.0, "float32")) for _ in range(size * size)]
        for a, there in enumerate(edge.down):
            with e.when(there):
                for b, mask in enumerate(masks):
                    with e.masked(mask):
                        e.set(pixels[size * a + b], e.load(rows[a], columns[b], "float32", 1))
        return [e.get(pixel, "float32") for pixel in pixels]

    def put(self, values: list[Value], into: str, offset: str, kind: str) -> None:
        """A vector of each kind."""
        spots = places(self.e, into, offset, self.numbers[f"{kind} apart"], int(len(values) ** 0.5))
        for value, (pointer, at) in zip(values, spots, strict=True):
            self.e.store(value, pointer, at)

    def outputs(self, images: str, tile: Tile) -> list[tuple[str, str | None]]:
        """The pointers to the outputs of a tile, each with the condition that it is there, if it may not be."""
        e, numbers, along = self.e, self.numbers, range(1, self.form.made)
        line, step = numbers["made line"], numbers["made channels"]
        corner = self.image_of("made", images, tile.image)
        pointer = self.move(corner, e.plus(e.times(tile.row, line), e.times(tile.column, step)))
        down, right = [
            [None, *[e.test("ult", e.plus(first, k), numbers[f"made {what}"]) for k in along]]
            for first, what in ((tile.row, "rows"), (tile.column, "columns"))
        ]
        found: list[tuple[str, str | None]] = []
        for row in down:
            at = pointer
            for column in right:
                found.append((at, e.all_of(row, column) if row is not None and column is not None else row or column))
                at = self.move(at, step)
            pointer = self.move(pointer, line)
        return found

    def results(self, begin: Callable[[Tile], Finish] | None = None) -> None:
        """Aᵀ m A of each tile, and the block anew if something isn't finite. Who begins a tile says what becomes of its outputs;
        else they are stored."""
        e, numbers, form, begin_tile = self.e, self.numbers, self.form, begin or self.store
        definition = e.array(e.plus("%list", len(numbers)))
        spoilt = e.variable(e.constant(0.0, "float32"))

        def one(tile: Tile, again: bool = False) -> None:
            at = self.move("%source", e.times(tile.number, numbers["made room"]))
            finish = begin_tile(tile)

            def vector(channel: str, rest: str) -> None:
                spots = places(e, at, channel, numbers["made apart"], form.side)
                values = [e.load(p, o, "float32", 1) for p, o in (spots[: form.made**2] if again else spots)]
                if not again:
                    values = both_ways(e, values, form.to_results)
                    for value in values:
                        e.set(spoilt, e.fma(value, 0.0, e.get(spoilt, "float32")))
                with e.masked(e.below(rest) if self.masked else None):
                    finish(channel, values)

            self.vectors("made", vector)

        self.each_tile(one)
        total = e.get(spoilt, "float32")
        with e.when_any(e.compare("uno", total, total)):
            e.call(definition, matmul_tiles.parameters(kernel_name("results", "")))
            if begin is not None:  # it has put them to the first places
                self.each_tile(lambda tile: one(tile, True))

    def store(self, tile: Tile) -> Finish:
        """Store the outputs of a tile."""
        e, outputs = self.e, self.outputs("%target", tile)

        def finish(channel: str, values: list[Value]) -> None:
            for value, (pointer, there) in zip(values, outputs, strict=True):
                with e.when(there):
                    e.store(value, pointer, channel)

        return finish

    def nothing_yet(self, mask: str) -> str:
        """Sums of nothing; NaN where there is no channel."""
        e = self.e
        return e.variable(e.select(Value(mask, "bool"), e.constant(0.0, "float32"), math.nan))

    @contextmanager
    def when_a_number(self, total: str) -> Iterator[None]:
        """Go on adding up unless all sums are NaN, which they stay: training that has diverged mustn't slow down."""
        now = self.e.get(total, "float32")
        with self.e.when_any(self.e.compare("eq", now, now)):
            yield

    def definition(self, in_place: bool) -> None:
        """The outputs of each tile by the definition; `in_place`, to the first places of what was to become results."""
        e, numbers, made = self.e, self.numbers, self.form.made
        depth, apart = numbers["source channels"], e.multiples(numbers["own"])

        def one(tile: Tile) -> None:
            pixels = self.image_of("source", "%images", tile.image)
            results = "%source" if in_place else self.image_of("made", "%target", tile.image)
            with e.loop("0", str(made), 1) as down, e.loop("0", str(made), 1) as right:
                y, x = e.plus(tile.row, down), e.plus(tile.column, right)
                there = e.all_of(e.test("ult", y, numbers["made rows"]), e.test("ult", x, numbers["made columns"]))
                to = e.times(e.plus(e.times(y, numbers["made columns"]), x), numbers["made channels"])
                if in_place:
                    place = e.times(e.plus(e.times(down, made), right), numbers["made apart"])
                    to = e.plus(e.times(tile.number, numbers["made room"]), place)
                top = e.index("sub", e.times(y, numbers["up"]), numbers["above"])
                left = e.index("sub", e.times(x, numbers["up"]), numbers["left of"])

                def vector(channel: str, rest: str) -> None:
                    mask = e.below(rest)
                    total = self.nothing_yet(mask)
                    with e.loop("0", "3", 1) as a, e.loop("0", "3", 1) as b:
                        steps = [e.plus(first, tap) for first, tap in ((top, a), (left, b))]
                        row, column = [e.index("udiv", at, numbers["down"]) for at in steps]
                        met = [
                            e.test("eq", e.times(met, numbers["down"]), at)
                            for met, at in zip((row, column), steps, strict=True)
                        ]
                        at = e.times(e.plus(e.times(row, numbers["source columns"]), column), depth)
                        tap = e.times(e.plus(e.times(a, 3), b), numbers["next tap"])
                        weight = e.plus(e.times(channel, numbers["own"]), e.plus(tap, numbers["first tap"]))
                        inside = e.all_of(
                            e.test("ult", row, numbers["source rows"]), e.test("ult", column, numbers["source columns"])
                        )
                        inside = e.all_of(inside, e.all_of(*met))
                        with e.when(inside), self.when_a_number(total), e.loop("0", depth, 1) as k:
                            value = e.load_scalar(pixels, e.plus(at, k), "float32")
                            with e.masked(mask):
                                by = e.load("%weights", e.plus(weight, e.times(k, numbers["other"])), "float32", apart)
                            e.set(total, e.fma(value, by, e.get(total, "float32")))
                    with e.masked(mask):
                        e.store(e.get(total, "float32"), results, e.plus(to, channel))

                with e.when(there):
                    self.vectors("made", vector)

        self.each_tile(one)

    def cotangents(self) -> None:
        """A y Aᵀ of each tile."""
        e, numbers = self.e, self.numbers

        def one(tile: Tile) -> None:
            outputs = self.outputs("%source", tile)
            into = self.move("%target", e.times(tile.number, numbers["made room"]))

            def vector(channel: str, rest: str) -> None:
                mask, given = e.below(rest) if self.masked else None, []
                for pointer, there in outputs:
                    cotangent = e.variable(e.constant(0.0, "float32"))
                    with e.when(there), e.masked(mask):
                        e.set(cotangent, e.load(pointer, channel, "float32", 1))
                    given.append(e.get(cotangent, "float32"))
                self.put(both_ways(e, given, self.form.of_cotangents), into, channel, "made")

            self.vectors("made", vector)

        self.each_tile(one)

    def weights_definition(self) -> None:
        """The gradient by the weights by the definition, of `%count` images: `%source` were read, `%images` are the cotangents.
        Rows of an image are added up, then their sums."""
        e, numbers = self.e, self.numbers
        channels, outputs = numbers["source channels"], numbers["made channels"]
        height, width = numbers["source rows"], numbers["source columns"]
        apart = e.multiples(str(TAPS))
        with e.loop("0", outputs, 1) as o, e.loop("0", "3", 1) as a, e.loop("0", "3", 1) as b:

            def vector(channel: str, rest: str) -> None:
                mask = e.below(rest)
                total = self.nothing_yet(mask)
                with e.loop("0", "%count", 1) as n, e.loop("0", numbers["made rows"], 1) as i:
                    row = e.index("sub", e.plus(e.times(i, numbers["up"]), a), numbers["above"])
                    with e.when(e.test("ult", row, height)), self.when_a_number(total):
                        line = e.variable(e.constant(0.0, "float32"))
                        made = e.times(e.plus(e.times(n, numbers["made rows"]), i), numbers["made columns"])
                        read = e.times(e.plus(e.times(n, height), row), width)
                        with e.loop("0", numbers["made columns"], 1) as j:
                            column = e.index("sub", e.plus(e.times(j, numbers["up"]), b), numbers["left of"])
                            with e.when(e.test("ult", column, width)):
                                u = e.load_scalar("%images", e.plus(e.times(e.plus(made, j), outputs), o), "float32")
                                at = e.plus(e.times(e.plus(read, column), channels), channel)
                                with e.masked(mask):
                                    x = e.load("%source", at, "float32", 1)
                                e.set(line, e.fma(u, x, e.get(line, "float32")))
                        e.set(total, e.add(e.get(total, "float32"), e.get(line, "float32")))
                with e.masked(mask):
                    weight = e.plus(e.times(e.plus(e.times(o, channels), channel), TAPS), e.plus(e.times(a, 3), b))
                    e.store(e.get(total, "float32"), "%target", weight, apart)

            self.vectors("source", vector)


def _block(write: Callable[[Block], None], form: Form, e: Emitter, kernel: Kernel) -> None:
    write(Block(e, kernel, form))


def _definition(form: Form, e: Emitter, kernel: Kernel) -> None:
    Block(e, kernel, form).definition(kernel.together == "places")


def _taps(form: Form, e: Emitter, kernel: Kernel) -> None:
    """G g Gᵀ of a strip of k times 9 vectors of taps, to rows `width` apart of each of the matrices; turned, the last tap is the
    first."""
    with e.loop("0", "%k", 1) as k:
        at = e.times(k, TAPS * e.lanes)
        taps = [e.load("%strip", e.plus(at, tap * e.lanes), "float32", 1) for tap in range(TAPS)]
        if kernel.together == "turned":
            taps.reverse()
        spots = places(e, "%target", e.times(k, "%width"), "%apart")
        for value, (pointer, offset) in zip(both_ways(e, taps, form.of_taps), spots, strict=True):
            e.store(value, pointer, offset)


def kernel_name(name: str, form: str) -> str:
    """What one of the functions is called in a form."""
    return f"winograd_{name}_{form}" if form else f"winograd_{name}"


_WRITERS: dict[str, Callable[[Form, Emitter, Kernel], None]] = {
    "definition": _definition, "taps": _taps, "pixels": partial(_block, Block.pixels), "results": partial(_block, Block.results),
    "cotangents": partial(_block, Block.cotangents), "weights_definition": partial(_block, Block.weights_definition),
}  # fmt: skip

for _form in FORMS:
    for _part, _writer in _WRITERS.items():
        _name = kernel_name(_part, _form)
        matmul_tiles.WRITERS[_name] = partial(_writer, FORMS[_form])
        matmul_tiles.PARAMETERS[_name] = (
            "ptr %strip, ptr %target, i64 %k, i64 %width, i64 %apart" if _part == "taps" else BLOCK
        )
