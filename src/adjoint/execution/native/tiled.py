"""Matrix products by kernels of our own, as a function of a range of rows."""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

from adjoint.execution.native import compiler
from adjoint.execution.native.fuse import Product
from adjoint.execution.native.ir import ITEMSIZE
from adjoint.execution.native.kernels import ROWS, Kernel, lanes_of, registers
from adjoint.execution.native.products import BatchWriter
from adjoint.execution.native.tables import Own, Table

# Sums of so many products are added up one after the other; longer ones in blocks of it, whose rounding is that of their number.
BLOCK = 512
# Rows from which packing B costs less than reading it at its stride.
PACKED_FROM = 96
# Steps from which A is packed where its columns are what lies together: each of its rows would touch so many lines.
GATHERED_FROM = 256
# Rows that are packed together.
GATHERED = 48


class Panel(NamedTuple):
    """Neighbouring columns, `count` times `vectors` vectors of them, `column` the first."""

    column: int
    vectors: int
    count: int
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

    def __init__(self, product: Product, name: str, unit: int, table: Table, own: Own, chunk: int) -> None:
        super().__init__(product, name, unit, table, own, chunk)
        bits = compiler.vector_bits()
        self.lanes = lanes_of(self.dtype, bits)
        self.heights = ROWS[registers(bits)]
        self.panels = panels(self.m, self.lanes, max(self.heights))
        self.depth = -(-self.k // self.lanes) * self.lanes  # of what is packed
        self.itemsize = ITEMSIZE[self.dtype]
        b = self.b.strides[-2:]
        self.turned = b[1] != 1 and self.m > 1
        self.packs = self.turned or self.n >= (24 if self.batch else PACKED_FROM)
        self.gathers = self.a.strides[-2] == 1 and self.a.strides[-1] != 1 and self.k >= GATHERED_FROM
        self.right = f"packed for {name}"
        if self.packs and not self.batch:
            table.share(unit, self.right, self.packed_size)
            self.write_packing()
        elif self.packs:
            self.place = own.reserve(unit, self.packed_size)
        if self.gathers:
            tiles = -(-min(GATHERED, self.n) // self.height(self.panels[0])) + 1
            self.gathered = own.reserve(unit, tiles * self.height(self.panels[0]) * self.k * self.itemsize)

    @property
    def packed_size(self) -> int:
        return self.depth * -(-self.m // self.lanes) * self.lanes * self.itemsize

    def height(self, panel: Panel, rows: int | None = None) -> int:
        """Rows of a tile. Where A is gathered, all panels share what was gathered."""
        highest = self.heights[max(self.heights) if self.gathers else panel.vectors]
        return highest if rows is None else min(highest, rows)

    def kernel(self, name: str, rows: int = 1, vectors: int = 1, masked: bool = False) -> str:
        return self.pointer(("kernel", Kernel(name, self.dtype, rows, vectors, masked)))

    def scratch(self, offset: int) -> str:
        e = self.e
        return e.assign(f"getelementptr i8, ptr {e.assign('load ptr, ptr %own')}, i64 {offset}")

    # B, packed

    def write_packing(self) -> None:
        """The function of the table and the first thread's own that packs B, before any tile."""
        with self.another() as e:
            self.pack(self.move(self.pointer(self.b.root), str(self.b.offset)), self.pointer((self.unit, self.right)))
            self.start = self.function(f"{self.name}.start", e, "ptr %table, ptr %own")

    def pack(self, b: str, target: str) -> None:
        """Each panel's columns, row by row."""
        e, lanes = self.e, self.lanes
        row, column = self.b.strides[-2:]
        for panel in self.panels:
            width = panel.vectors * lanes
            if not self.turned:
                into = self.move(target, str(panel.column * self.depth))
                used = min(width, self.m - panel.column)
                e.line(f"call void {self.kernel('gather', used)}(ptr {self.move(b, str(panel.column))}, i64 {row}, "
                       f"ptr {into}, i64 {width}, i64 {width * self.depth}, i64 {self.k}, i64 {panel.count})")  # fmt: skip
                continue
            with ExitStack() as loops:
                first: str | int = panel.column
                if panel.count > 1:
                    index = loops.enter_context(e.loop("0", str(panel.count), 1))
                    first = e.assign(f"add i64 {e.assign(f'mul i64 {index}, {width}')}, {panel.column}")
                for v in range(panel.vectors):
                    at = e.assign(f"add i64 {first}, {v * lanes}")
                    source = self.move(b, e.assign(f"mul i64 {at}, {column}"))
                    into = self.move(target, e.assign(f"mul i64 {first}, {self.depth}"))
                    into = self.move(into, str(v * lanes))
                    columns = self.m % lanes if panel.masked and v == panel.vectors - 1 else lanes
                    e.line(f"call void {self.kernel('turn')}(ptr {source}, i64 {column}, ptr {into}, i64 {width}, "
                           f"i64 {self.k}, i64 {columns})")  # fmt: skip

    # Tiles

    def one(self, a: str, b: str, result: str) -> None:
        if self.packs:
            place = self.scratch(self.place)
            self.pack(b, place)
            b = place
        self.some(a, b, result, self.n)

    def some(self, a: str, b: str, result: str, rows: int) -> None:
        if self.packs and not self.batch:
            b = self.pointer((self.unit, self.right))
        if not self.gathers:
            self.tiles(a, b, result, rows, self.a.strides[-2:])
            return
        whole, rest = divmod(rows, GATHERED)
        if whole:
            with self.e.loop("0", str(whole * GATHERED), GATHERED) as row:
                self.gather(a, b, result, row, GATHERED)
        if rest:
            self.gather(a, b, result, str(whole * GATHERED), rest)

    def gather(self, a: str, b: str, result: str, row: str, rows: int) -> None:
        """Some rows, A's gathered first: tile by tile, as the tiles read them."""
        e = self.e
        height = self.height(self.panels[0], rows)
        stride, step = self.a.strides[-2:]
        target = self.scratch(self.gathered)
        function = self.kernel("gather", height)
        whole, rest = divmod(rows, height)

        def call(top: int, into: str, strips: int) -> None:
            at = e.assign(f"mul i64 {e.assign(f'add i64 {row}, {top}')}, {stride}")
            e.line(f"call void {function}(ptr {self.move(a, at)}, i64 {step}, ptr {into}, i64 {height}, "
                   f"i64 {height * self.k}, i64 {self.k}, i64 {strips})")  # fmt: skip

        call(0, target, whole)
        if rest:
            call(rows - height, self.move(target, str(whole * height * self.k)), 1)
        result = self.move(result, e.assign(f"mul i64 {row}, {self.m}"))
        self.tiles(target, b, result, rows, (1, height), height * self.k)

    def tops(self, rows: int, height: int) -> Tops:
        return Tops(self, rows, height)

    def tiles(self, a: str, b: str, result: str, rows: int, strides: tuple[int, ...], apart: int = 0) -> None:
        """All tiles of some rows. `apart` is how far tiles of A lie from each other, if they are gathered."""
        e, lanes = self.e, self.lanes
        for panel in self.panels:
            width, height = panel.vectors * lanes, self.height(panel, rows)
            with ExitStack() as loops:
                column = str(panel.column)
                if panel.count > 1:
                    index = loops.enter_context(e.loop("0", str(panel.count), 1))
                    column = e.assign(f"add i64 {e.assign(f'mul i64 {index}, {width}')}, {panel.column}")
                right = self.move(b, e.assign(f"mul i64 {column}, {self.depth}") if self.packs else column)
                top, number = loops.enter_context(self.tops(rows, height))
                left = self.move(a, e.assign(f"mul i64 {number}, {apart}" if apart else f"mul i64 {top}, {strides[0]}"))
                into = self.move(self.move(result, e.assign(f"mul i64 {top}, {self.m}")), column)
                self.tile(panel, height, left, right, into, strides)

    def tile(self, panel: Panel, height: int, a: str, b: str, c: str, strides: tuple[int, ...]) -> None:
        """One tile: the sums of the first block, and then those of the others added to them."""
        e = self.e
        function = self.kernel("tile", height, panel.vectors, panel.masked)
        step = panel.vectors * self.lanes if self.packs else self.b.strides[-2]
        columns = self.m % self.lanes or self.lanes

        # the next tile's rows lie behind this one's, or beside them
        ahead_step = height if strides[1] == 1 else strides[1]

        def call(a: str, b: str, k: int, again: bool) -> None:
            ahead = self.move(a, str(strides[0] * height))
            e.line(f"call void {function}(ptr {a}, i64 {strides[0]}, i64 {strides[1]}, ptr {b}, i64 {step}, ptr {c}, "
                   f"i64 {self.m}, i64 {k}, i64 {columns}, i1 {str(again).lower()}, ptr {ahead}, "
                   f"i64 {ahead_step})")  # fmt: skip

        def at(k: str) -> tuple[str, str]:
            return self.move(a, e.assign(f"mul i64 {k}, {strides[1]}")), self.move(b, e.assign(f"mul i64 {k}, {step}"))

        blocks, rest = divmod(self.k, BLOCK)
        call(a, b, BLOCK if blocks else rest, False)
        if blocks > 1:
            with e.loop(str(BLOCK), str(blocks * BLOCK), BLOCK) as k:
                call(*at(k), BLOCK, True)
        if blocks and rest:
            call(*at(str(blocks * BLOCK)), rest, True)


class Tops:
    """The first row of each tile and the tile's number, in a loop. The last tile may cover some rows of the one before."""

    def __init__(self, writer: TiledWriter, rows: int, height: int) -> None:
        self.writer, self.rows, self.height = writer, rows, height
        self.loops = ExitStack()

    def __enter__(self) -> tuple[str, str]:
        e, tiles = self.writer.e, -(-self.rows // self.height)
        if tiles == 1:
            return "0", "0"
        e.declarations.add("declare i64 @llvm.umin.i64(i64, i64)")
        number = self.loops.enter_context(e.loop("0", str(tiles), 1))
        top = e.assign(f"mul i64 {number}, {self.height}")
        if self.rows % self.height:
            top = e.assign(f"call i64 @llvm.umin.i64(i64 {top}, i64 {self.rows - self.height})")
        return top, number

    def __exit__(self, *error: object) -> None:
        self.loops.close()
