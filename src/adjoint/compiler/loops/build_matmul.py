"""Matrix products by kernels of our own, as a function of a range of rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from adjoint.compiler.fuse.fuse import Product, transposed
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import ITEMSIZE
from adjoint.compiler.loops.build_products import BatchWriter, passed
from adjoint.compiler.loops.matmul_tiles import Kernel, lanes_of
from adjoint.compiler.tables import PARAMETERS, Arguments, Function, Shared
from adjoint.compiler.targets.target import tuning
from adjoint.runtime import llvm

PARTS = 8  # of what is packed for all ranges, so that all threads do it


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


class TiledWriter(BatchWriter):
    """Writes a product by our kernels as a function of a range of its rows, counted through the whole batch."""

    def __init__(self, product: Product, name: str, arguments: Arguments, chunk: int) -> None:
        super().__init__(product, name, arguments, chunk)
        self.tuning = tuning()
        bits = llvm.vector_bits()
        self.lanes = lanes_of(self.dtype, bits)
        self.heights = dict(self.tuning.heights)
        self.panels = panels(self.m, self.lanes, max(self.heights))
        self.itemsize = ITEMSIZE[self.dtype]
        self.turned = self.b.strides[-1] != 1 and self.m > 1
        least = self.tuning.packed_from_if_short if self.k <= self.tuning.short else self.tuning.packed_from
        least = self.tuning.packed_from_in_batch if self.batch else least
        self.packs = self.turned or self.n >= least
        self.gathers = gathers(product)
        self.deep = is_deep(product) and (self.packs or self.gathers)
        block = min(self.k, self.tuning.sums) if self.deep else self.k
        self.depth = -(-block // self.lanes) * self.lanes  # of what is packed
        size = self.depth * -(-self.m // self.lanes) * self.lanes * self.itemsize
        # where B is packed once for all ranges, and for other products that read it so
        self.right: Shared | None = None
        if self.packs and not self.batch and not self.deep:
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

    def kernel(self, name: str, rows: int = 1, vectors: int = 1, masked: bool = False, together: str = "") -> str:
        return self.pointer(
            Function("tiles", Kernel(name, self.dtype, int(rows), int(vectors), bool(masked), together))
        )

    def scratch(self, offset: str) -> str:
        e = self.e
        return e.at(e.entry("%own", 0), offset, "i8")

    @contextmanager
    def each(self, panel: Panel, some: tuple[str, str] | None = None) -> Iterator[str]:
        """The first column of each of neighbouring panels, or of some of them, in a loop."""
        e, which = self.e, self.panels.index(panel)
        low, high = some or ("0", self.number(panel.times, "panels", which))
        with e.loop(low, high, 1) as index:
            first = e.times(index, self.width_of(panel))
            yield e.plus(first, self.number(panel.column, "column", which))

    def width_of(self, panel: Panel) -> str:
        """Columns of a panel."""
        return self.number(panel.vectors * self.lanes, "width", self.panels.index(panel))

    # B, packed

    def write_packing(self, place: Shared) -> None:
        """The function of the table and a thread's own that packs B, before any tile. What takes long is cut into parts: some of
        each kind of panels."""
        self.start_time = 0.3 * self.k * self.m
        self.start_chunks = PARTS if self.start_time >= self.tuning.worth_helping else 1
        with self.another() as e:
            b, target = self.pointer(self.b.root), self.pointer(place)
            if self.start_chunks == 1:
                self.pack(b, target, self.k)
            for which, panel in enumerate(self.panels if self.start_chunks > 1 else ()):
                times = self.number(panel.times, "panels", which)
                low, high = [e.index("udiv", e.times(times, part), PARTS) for part in ("%first", "%last")]
                with e.when(e.test("slt", low, high)):
                    self.pack_panels(panel, b, target, self.k, (low, high))
            self.start = [self.function(f"{self.name}.start", PARAMETERS)]

    def pack(self, b: str, target: str, k: int) -> None:
        """k rows of each panel's columns, panel by panel."""
        for which, panel in enumerate(self.panels):
            self.pack_panels(panel, b, target, k, ("0", self.number(panel.times, "panels", which)))

    def pack_panels(self, panel: Panel, b: str, target: str, k: int, some: tuple[str, str]) -> None:
        """k rows of some of neighbouring panels' columns."""
        e, lanes, number, which = self.e, self.lanes, self.number, self.panels.index(panel)
        row, column = number(self.b.strides[-2], "b row"), number(self.b.strides[-1], "b column")
        steps, depth, width = self.varying(k, "k"), number(self.depth, "depth"), self.width_of(panel)
        if not self.turned:
            low, high = some
            first, count = number(panel.column, "column", which), high
            if low != "0":
                first, count = e.plus(e.times(low, width), first), e.index("sub", high, low)
            into = self.move(target, e.times(first, depth))
            function = self.kernel("gather", min(panel.vectors * lanes, self.m - panel.column))
            apart = number(panel.vectors * lanes * self.depth, "apart", which)
            e.call(function, (
                ("ptr", self.move(b, first)), ("i64", row), ("ptr", into), ("i64", width), ("i64", apart), ("i64", steps),
                ("i64", count),
            ))  # fmt: skip
            return
        with self.each(panel, some) as at:
            for v in range(panel.vectors):
                source = self.move(b, e.times(e.plus(at, v * lanes), column))
                into = self.move(target, e.times(at, depth))
                into = self.move(into, str(v * lanes))
                last = panel.masked and v == panel.vectors - 1
                columns = number(self.m % lanes, "last columns") if last else str(lanes)
                e.call(self.kernel("turn"), (
                    ("ptr", source), ("i64", column), ("ptr", into), ("i64", width), ("i64", steps), ("i64", columns),
                ))  # fmt: skip

    # Tiles

    def one(self, a: str, b: str, result: str) -> None:
        self.some(a, b, result, self.n)

    def some(self, a: str, b: str, result: str, rows: int) -> None:
        e = self.e
        if not self.deep:
            self.block(a, b, result, rows, self.k, "false")
            return
        left, right = self.number(self.a.strides[-1], "a step"), self.number(self.b.strides[-2], "b row")

        def block(at: str, k: int, again: str) -> None:
            self.block(self.move(a, e.times(at, left)), self.move(b, e.times(at, right)), result, rows, k, again)

        blocks, rest = divmod(self.k, self.tuning.sums)
        whole = self.number(blocks * self.tuning.sums, "whole blocks")
        with e.loop("0", whole, self.tuning.sums) as at, self.within("block"):
            block(at, self.tuning.sums, e.test("ne", at, 0))
        if rest:
            with self.within("last sums"):
                block(whole, rest, "true")

    def block(self, a: str, b: str, result: str, rows: int, k: int, again: str) -> None:
        """The sums over some k, or these added to the result."""
        if self.right is not None:
            b = self.pointer(self.right)
        elif self.packs:
            place = self.scratch(self.number(self.place, "place of B"))
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
        stride, step = number(self.a.strides[-2], "a row"), number(self.a.strides[-1], "a step")
        target = self.scratch(number(self.gathered, "place of A's rows"))
        place = 0
        highest = self.height(self.panels[0], rows)
        varying = self.varying
        for which, (top, height, count) in enumerate(self.heights_of(rows, highest)):
            at = e.times(e.plus(row, varying(top, "strip row", which)), stride)
            function, into = self.kernel("gather", height), self.move(target, varying(place, "strip place", which))
            e.call(function, (
                ("ptr", self.move(a, at)), ("i64", step), ("ptr", into), ("i64", varying(height, "strip rows", which)),
                ("i64", varying(height * k, "strip", which)), ("i64", varying(k, "k")), ("i64", varying(count, "strips", which)),
            ))  # fmt: skip
            place += count * height * k
        result = self.move(result, e.times(row, number(self.m, "m")))
        self.tiles(target, b, result, rows, k, again, None)

    def heights_of(self, rows: int, highest: int) -> list[tuple[int, int, int]]:
        """First row, height and number of tiles. Where nothing is added to the result, one that covers some rows of the one
        before spares a kernel of another height; else heights differ by one."""
        if rows <= highest:
            return [(0, rows, 1)]
        whole, rest = divmod(rows, highest)
        if not rest:
            return [(0, highest, whole)]
        if not self.deep:
            return [(0, highest, whole), (rows - highest, highest, 1)]
        low, more = divmod(rows, whole + 1)
        tall = [(0, low + 1, more)] if more else []
        return [*tall, (more * (low + 1), low, whole + 1 - more)]

    def tiles(
        self, a: str, b: str, result: str, rows: int, k: int, again: str, strides: tuple[int, ...] | None
    ) -> None:
        """All tiles of some rows, of A as it lies or, without strides, as it was gathered."""
        e, number, varying = self.e, self.number, self.varying
        for panel in self.panels:
            with self.each(panel) as column:
                right = self.move(b, e.times(column, number(self.depth, "depth")) if self.packs else column)
                place = 0
                for which, (top, height, count) in enumerate(self.heights_of(rows, self.height(panel, rows))):
                    role = (self.panels.index(panel), which)
                    with e.loop("0", varying(count, "tiles", *role), 1) as index:
                        first = e.times(index, varying(height, "rows of a tile", *role))
                        first = e.plus(first, varying(top, "first row", *role))
                        if strides is None:
                            at = e.times(index, varying(height * k, "tile of A", *role))
                            at = e.plus(at, varying(place, "place of A", *role))
                        else:
                            at = e.times(first, number(strides[0], "a row"))
                        into = self.move(result, e.times(first, number(self.m, "m")))
                        tile = Tile(panel, height, role, strides)
                        self.tile(tile, self.move(a, at), right, self.move(into, column), k, again)
                    place += count * height * k

    def tile(self, tile: Tile, a: str, b: str, c: str, k: int, again: str) -> None:
        """One tile, in blocks of its sums."""
        e, number, (panel, height, role, strides) = self.e, self.number, tile
        together = "rows" if self.gathers else "steps" if self.a.strides[-1] == 1 else ""
        function = self.kernel("tile", height, panel.vectors, panel.masked, together)
        step = self.width_of(panel) if self.packs else number(self.b.strides[-2], "b row")
        columns, m = number(self.m % self.lanes or self.lanes, "last columns"), number(self.m, "m")
        if strides is None:  # gathered: a strip of as many rows as the tile has
            a_row, a_step = "1", self.varying(height, "rows of a tile", *role)
            ahead_by = a_step
        else:
            a_row, a_step = number(strides[0], "a row"), number(strides[1], "a step")
            ahead_by = self.varying(strides[0] * height, "ahead", *role)

        def call(a: str, b: str, k: int, again: str) -> None:
            ahead = self.move(a, ahead_by)  # the next tile's rows lie behind this one's, or beside them
            steps = str(self.tuning.sums) if k == self.tuning.sums else self.varying(k, "last k" if blocks else "k")
            e.call(function, (
                ("ptr", a), ("i64", a_row), ("i64", a_step), ("ptr", b), ("i64", step), ("ptr", c), ("i64", m),
                ("i64", steps), ("i64", columns), ("i1", again), ("ptr", ahead),
            ))  # fmt: skip

        def at(k: str) -> tuple[str, str]:
            return self.move(a, e.times(k, a_step)), self.move(b, e.times(k, step))

        blocks, rest = divmod(k, self.tuning.sums) if k > self.tuning.deep else (0, k)
        call(a, b, self.tuning.sums if blocks else rest, again)
        whole = self.varying(blocks * self.tuning.sums, "whole blocks")
        if blocks > 1:
            with e.loop(str(self.tuning.sums), whole, self.tuning.sums) as k_:
                call(*at(k_), self.tuning.sums, "true")
        if blocks and rest:
            call(*at(whole), rest, "true")


class Tile(NamedTuple):
    """A tile's panel, its height, what tells it from others, and the strides of A, if A isn't gathered."""

    panel: Panel
    height: int
    role: tuple[Any, ...]
    strides: tuple[int, ...] | None


class TurnedWriter(BatchWriter):
    """Writes a product as the transpose of BᵀAᵀ, so that of two matrices whose k lies together the smaller one is packed."""

    def __init__(self, product: Product, name: str, arguments: Arguments, chunk: int) -> None:
        super().__init__(product, name, arguments, chunk)
        turned = Product(product.step, transposed(product.b), transposed(product.a), (self.m, self.n))
        turned.choice = product.choice
        turned.tile = arguments.reserve(self.n * self.m * ITEMSIZE[self.dtype])
        self.other = TiledWriter(turned, f"{name}.turned", arguments, self.m)
        self.lanes = self.other.lanes
        if self.other.start:  # else B is packed already, or block by block
            with self.another() as e:
                e.call(f"@${self.other.name}.start", passed("%first", "%last"))
                self.start = [*self.other.start, self.function(f"{name}.start", PARAMETERS)]
                self.start_chunks, self.start_time = self.other.start_chunks, self.other.start_time
                self.packs_for_all = self.other.packs_for_all

    @staticmethod
    def suits(product: Product, chunk: int) -> bool:
        """Whether a product, computed in one range, is better computed so."""
        (n, k), m = product.a.shape[-2:], product.b.shape[-1]
        lanes = lanes_of(product.step.type.dtype.name, llvm.vector_bits())
        together = product.a.strides[-1] == 1 and product.b.strides[-2] == 1
        whole = len(product.shape) == 2 and product.tile is None and chunk == n
        return whole and together and n < m and n % lanes == m % lanes == 0 and k >= 2 * lanes

    def one(self, a: str, b: str, result: str) -> None:
        raise AssertionError("a batch is computed as it is")

    def some(self, a: str, b: str, result: str, rows: int) -> None:
        e, turned = self.e, self.other.product.tile
        assert turned is not None
        n, m = self.number(self.n, "n"), self.number(self.m, "m")
        e.call(f"@${self.other.name}", passed("0", m))
        source = e.at(e.entry("%own", 0), self.number(turned, "turned"), "i8")
        function = self.pointer(Function("tiles", Kernel("turn", self.dtype)))
        with e.loop("0", m, self.lanes) as column:
            rows_of = self.move(source, e.times(column, n))
            e.call(function, (
                ("ptr", rows_of), ("i64", n), ("ptr", self.move(result, column)), ("i64", m), ("i64", n),
                ("i64", str(self.lanes)),
            ))  # fmt: skip

    def write(self) -> list[L.Function]:
        return [*self.other.write(), *super().write()]
