"""Matrix products by kernels of our own, as a function of a range of rows."""

from __future__ import annotations

from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.fuse.kinds import Product, transposed
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import ITEMSIZE, lanes_of
from adjoint.compiler.loops.build_products import BatchWriter
from adjoint.compiler.loops.matmul_tiles import Kernel
from adjoint.compiler.loops.ranges import RangeWriter, passed
from adjoint.compiler.tables import LARGE, Arguments, Function, Shared, Start
from adjoint.compiler.targets.target import tuning

PARTS = 8  # of what is packed for all ranges, so that all threads do it
WHOLE = (0, 1, 1)  # of what is packed: from which part to which, of how many


def is_deep(product: Product) -> bool:
    """Whether a product is computed block by block of its sums."""
    k, m = product.b.shape[-2:]
    return k > tuning().deep and (gathers(product) or k * m > tuning().most_packed)


def gathers(product: Product) -> bool:
    """Whether A is packed."""
    row, step = product.a.strides[-2:]
    return row == 1 and step != 1 and product.a.shape[-1] >= tuning().gathered_from


class Panel(NamedTuple):
    """Neighbouring columns, `times` times `vectors` vectors of them, `column` the first."""

    column: int
    vectors: int
    times: int
    masked: bool


def panels(m: int, lanes: int, widest: int) -> list[Panel]:
    """m columns in as few panels as there must be, all about as wide. An incomplete vector is in one of its own kind."""
    vectors = -(-m // lanes)
    count = -(-vectors // widest)
    base, more = divmod(vectors, count)
    found, column = [], 0
    for width, times in ((base + 1, more), (base, count - more)):
        last = column + width * times * lanes
        masked = last > m
        if times > masked:
            found.append(Panel(column, width, times - masked, False))
        if masked:
            found.append(Panel(last - width * lanes, width, 1, True))
        column = last
    return found


def heights_of(rows: int, highest: int, once: bool) -> list[tuple[int, int, int]]:
    """Tiles of so many rows: first row, height and number. Where nothing is added to the result (`once`), a tile that covers some
    rows of the one before spares a kernel of another height, if these are few of all: one of the highest, or of the height that
    makes as few tiles and all about alike. Else heights differ by one."""
    if rows <= highest:
        return [(0, rows, 1)]
    whole, rest = divmod(rows, highest)
    if not rest:
        return [(0, highest, whole)]
    if once and (highest - rest) * tuning().twice <= rows:
        return [(0, highest, whole), (rows - highest, highest, 1)]
    low, more = divmod(rows, whole + 1)
    if more and once and (whole + 1 - more) * tuning().twice <= rows:
        return [(0, low + 1, whole), (rows - low - 1, low + 1, 1)]
    tall = [(0, low + 1, more)] if more else []
    return [*tall, (more * (low + 1), low, whole + 1 - more)]


class TiledWriter(BatchWriter):
    """Writes a product by our kernels as a function of a range of its rows, counted through the whole batch."""

    in_blocks = False  # whether it is computed block by block of its sums whatever it is

    def __init__(self, product: Product, name: str, arguments: Arguments, chunk: int) -> None:
        super().__init__(product, name, arguments, chunk)
        self.tuning = tuning()
        self.lanes = lanes_of(self.dtype)
        self.heights = dict(self.tuning.heights)
        self.panels = panels(self.m, self.lanes, max(self.heights))
        self.itemsize = ITEMSIZE[self.dtype]
        # arrays of which the rows of a range are read or written behind it, fetched while it is computed
        self.near: tuple[int, ...] = ()
        self.turned = self.b.strides[-1] != 1 and self.m > 1
        least = self.tuning.packed_from_if_short if self.k <= self.tuning.short else self.tuning.packed_from
        least = self.tuning.packed_from_in_batch if self.batch else least
        self.packs = self.turned or self.n >= least or self.in_blocks
        self.gathers = gathers(product)
        self.deep = self.in_blocks or (is_deep(product) and (self.packs or self.gathers))
        block = min(self.k, self.tuning.sums) if self.deep else self.k
        for_all = self.packs and not self.batch and not self.in_blocks
        packed = self.k if for_all else block  # at a time
        self.depth = -(-packed // self.lanes) * self.lanes
        size = self.depth * -(-self.m // self.lanes) * self.lanes * self.itemsize
        # where B is packed once for all ranges, and for other products that read it so
        self.right: Shared | None = None
        if for_all:
            purpose = arguments.packed.get(self.b)
            if purpose is None:
                purpose = self.packs_for_all = arguments.packed[self.b] = f"packed for {name}"
                self.write_packing(arguments.share(purpose, size))
            self.right = Shared(0, purpose)
        elif self.packs:
            self.place = arguments.reserve(size)
        if self.gathers:
            rows = min(self.tuning.gathered, self.n) + self.height(self.panels[0])
            self.gathered = arguments.reserve(rows * block * self.itemsize)

    def height(self, panel: Panel, rows: int | None = None) -> int:
        """Rows of a tile. Where A is gathered, all panels share what was gathered."""
        highest = self.heights[max(self.heights) if self.gathers else panel.vectors]
        return highest if rows is None else min(highest, rows)

    def kernel(self, name: str, rows: int = 1, vectors: int = 1, masked: bool = False, together: str = "") -> Kernel:
        """A kernel that all products share."""
        return Kernel(name, self.dtype, int(rows), int(vectors), bool(masked), together)

    def listed(self, name: str, *how: Any) -> Function:
        """Such a kernel in a list."""
        return Function("tiles", self.kernel(name, *how))

    def width(self, panel: Panel) -> int:
        """Columns of a panel."""
        return panel.vectors * self.lanes

    # B, packed

    def write_packing(self, place: Shared) -> None:
        """The function of the table and a thread's own that packs B, before any tile. What takes long is cut into parts: some of
        each kind of panels."""
        self.start_time = (0.03 if self.turned else 0.018) * self.itemsize * self.k * self.m
        self.start_chunks = PARTS if self.start_time >= self.tuning.worth_helping else 1
        with self.another():
            b, target = self.pointer(self.b.root), self.pointer(place)
            self.pack(b, target, self.k, ("%first", "%last", self.number(self.start_chunks, "parts")))
            self.start = [self.function("start")]

    def pack(self, b: str, target: str, k: int, some: tuple[str | int, ...] = WHOLE) -> None:
        """k rows of each panel's columns, panel by panel, or some parts of them."""
        row, column = self.b.strides[-2:]
        steps, depth = self.varying(k, "k"), self.number(self.depth, "depth")
        items: list[int | Function] = [len(self.panels)]
        if self.turned:
            items.append(self.listed("turn"))
            for panel in self.panels:
                last = self.m % self.lanes if panel.masked else self.lanes
                items += [panel.column, panel.times, self.width(panel), panel.vectors, last]
            step = self.number(column, "b column")
            self.go_through(self.kernel("turns"), items, b, step, target, depth, steps, *some)
            return
        for panel in self.panels:
            width = self.width(panel)
            gather = self.listed("gather", min(width, self.m - panel.column))
            items += [panel.column, panel.column * self.depth, width, width * self.depth, panel.times, gather]
        by = self.number(row, "b row")
        self.go_through(self.kernel("gathers"), items, b, by, target, steps, *some)

    # Tiles

    def some(self, a: str, b: str, result: str, rows: int) -> None:
        self.summed(a, b, result, rows, self.k)

    def summed(self, a: str, b: str, result: str, rows: int, total: int) -> None:
        """Some rows, of sums of so many products."""
        e = self.e
        if not self.deep:
            self.block(a, b, result, rows, total, "false")
            return
        left, right = self.number(self.a.strides[-1], "a step"), self.number(self.b.strides[-2], "b row")

        def block(at: str, k: int, again: str) -> None:
            self.block(self.move(a, e.times(at, left)), self.move(b, e.times(at, right)), result, rows, k, again, at)

        blocks, rest = divmod(total, self.tuning.sums)
        whole = self.varying(blocks * self.tuning.sums, "whole blocks")
        if blocks:
            with e.loop("0", whole, self.tuning.sums) as at, self.within("block"):
                block(at, self.tuning.sums, e.test("ne", at, 0))
        if rest:
            with self.within("last sums"):
                block(whole, rest, "true" if blocks else "false")

    def block(self, a: str, b: str, result: str, rows: int, k: int, again: str, at: str = "0") -> None:
        """The sums over some k from `at` on, or these added to the result."""
        self.skipped, self.fetches, self.at = "0", "true", at
        if self.deep and not self.in_blocks:
            self.fetches = self.e.test("eq", self.varying(self.k - k, "before the last"), at)
        if self.right is not None:
            b, self.skipped = self.pointer(self.right), at
        elif self.packs:
            place = self.own(self.place, "place of B")
            self.pack(b, place, k)
            b = place
        if not self.gathers:
            self.tiles(a, b, result, rows, k, again, self.a.strides[-2:])
            return
        whole, rest = divmod(rows, self.tuning.gathered)
        stop = self.varying(whole * self.tuning.gathered, "gathered")
        if whole:
            with self.e.loop("0", stop, self.tuning.gathered) as row, self.within("gathered"):
                self.gather(a, b, result, row, self.tuning.gathered, k, again)
        if rest:
            with self.within("last gathered"):
                self.gather(a, b, result, stop, rest, k, again)

    def gather(self, a: str, b: str, result: str, row: str, rows: int, k: int, again: str) -> None:
        """Some rows, A's gathered first: tile by tile, as the tiles read them."""
        e, number = self.e, self.number
        stride = self.a.strides[-2]
        target = self.own(self.gathered, "place of A's rows")
        strips = heights_of(rows, self.height(self.panels[0], rows), not self.deep)
        items: list[int | Function] = [len(strips)]
        place = 0
        for top, height, count in strips:
            items += [top * stride, place, height, height * k, count, self.listed("gather", height)]
            place += count * height * k
        source = self.move(a, e.times(row, number(stride, "a row")))
        step, steps = number(self.a.strides[-1], "a step"), self.varying(k, "k")
        self.go_through(self.kernel("gathers"), items, source, step, target, steps, *WHOLE)
        result = self.move(result, e.times(row, number(self.m, "m")))
        self.tiles(target, b, result, rows, k, again, None)

    def tiles(
        self, a: str, b: str, result: str, rows: int, k: int, again: str, strides: tuple[int, ...] | None
    ) -> None:
        """All tiles of some rows, of A as it lies or, without strides, as it was gathered."""
        number = self.number
        together = "rows" if self.gathers else "steps" if self.a.strides[-1] == 1 else ""
        items: list[int | Function | Start] = [*self.fetched(rows, k), len(self.panels)]
        for panel in self.panels:
            strips = heights_of(rows, self.height(panel, rows), not self.deep)
            width = self.width(panel)
            items += [panel.column, panel.times, width, width if self.packs else self.b.strides[-2], len(strips)]
            place = 0
            for top, height, count in strips:
                if strides is None:  # gathered: a strip of as many rows as the tile has
                    items += [top, height, count, place, height * k, 1, height, height]
                else:
                    row, step = strides
                    items += [top, height, count, top * row, height * row, row, step, height * row]
                items.append(self.listed("tile", height, panel.vectors, panel.masked, together))
                place += count * height * k
        sums = self.tuning.sums if k > self.tuning.deep else k
        by, last = number(self.depth, "depth") if self.packs else 1, self.m % self.lanes or self.lanes
        self.go_through(self.kernel("tiles"), items, a, b, result, by, number(self.m, "m"), self.varying(k, "k"),
                        self.varying(sums, "sums"), number(last, "last columns"), again, self.skipped,
                        self.near_from(k) if self.near else 0, self.fetches)  # fmt: skip

    def fetched(self, rows: int, k: int) -> list[int | Start]:
        """What a list of tiles says of `near`."""
        if not self.near:
            return [0, 0, 0]
        tiles = sum([
            panel.times * sum([count for _, _, count in heights_of(rows, self.height(panel, rows), not self.deep)])
            for panel in self.panels
        ])  # fmt: skip
        part = -(-self.near_elements(rows, k) * len(self.near) // tiles)
        return [len(self.near), part, -(-part // k), *[Start(slot, 0) for slot in self.near]]

    def near_elements(self, rows: int, k: int) -> int:
        """Of each array that is near."""
        return rows * self.m

    def near_from(self, k: int) -> str:
        """Elements of these arrays before the first that is fetched."""
        return self.e.times("%lo", self.number(self.m, "m"))


class TurnedWriter(RangeWriter):
    """Writes a product as the transpose of BᵀAᵀ, so that of two matrices whose k lies together the smaller one is packed: as a
    whole or, if it is a unit of its own, as a function of a range of its columns."""

    def __init__(self, product: Product, name: str, arguments: Arguments, chunk: int) -> None:
        super().__init__(product.step, name, arguments)
        (n, _), m = product.a.shape[-2:], product.b.shape[-1]
        self.n, self.m, self.whole = n, m, chunk == n
        self.rows, self.row_elements = (n, m) if self.whole else (m, n)
        self.lanes = lanes_of(self.dtype)
        columns = m if self.whole else -(-m // (-(-n // chunk) * self.lanes)) * self.lanes
        self.chunk = n if self.whole else columns
        self.turned = arguments.reserve(n * columns * ITEMSIZE[self.dtype])
        other = Product(product.step, transposed(product.b), transposed(product.a), (m, n), product.choice)
        self.other = TiledWriter(other, f"{name}.turned", arguments, columns)
        self.other.tile_at = self.turned
        if self.other.start:  # else B is packed already
            with self.another() as e:
                e.call(f"@${self.other.name}.start", passed("%first", "%last"))
                self.start = [*self.other.start, self.function("start")]
                self.start_chunks, self.start_time = self.other.start_chunks, self.other.start_time
                self.packs_for_all = self.other.packs_for_all

    @staticmethod
    def suits(product: Product, chunk: int, alone: bool) -> bool:
        """Whether a product, in ranges of so many rows, is better computed so. In several ranges the result, which is turned,
        must be small beside what needn't be packed."""
        (n, k), m = product.a.shape[-2:], product.b.shape[-1]
        lanes = lanes_of(product.step.type.dtype.name)
        together = product.a.strides[-1] == 1 and product.b.strides[-2] == 1
        simple = len(product.shape) == 2 and together
        if not simple or n >= m or n % lanes != 0 or m % lanes != 0 or k < 2 * lanes:
            return False
        return chunk == n or (alone and k > tuning().deep and 4 * n * m <= (m - n) * k)

    @property
    def time(self) -> float:
        return self.other.time

    def number(self, value: int, *role: Any) -> str:
        return self.inputs.number(value, (self.name, *role), LARGE)

    def write(self) -> list[L.Function]:
        e = self.e
        n, m = self.number(self.n, "n"), self.number(self.m, "m")
        first, beyond = ("0", m) if self.whole else ("%lo", "%hi")
        e.call(f"@${self.other.name}", passed(first, beyond))
        source, result = self.own(self.turned, "turned"), self.pointer(self.step.output)
        with e.loop(first, beyond, self.lanes) as column:
            rows_of = self.move(source, e.times(e.index("sub", column, first), n))
            self.inputs.tile(Kernel("turn", self.dtype), rows_of, n, self.move(result, column), m, n, self.lanes)
        return [*self.other.write(), self.function()]
