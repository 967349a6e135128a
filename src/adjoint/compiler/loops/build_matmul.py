"""Matrix products by kernels of our own, as a function of a range of rows."""

from __future__ import annotations

from typing import Any

from adjoint.compiler.fuse.kinds import Product
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import ITEMSIZE
from adjoint.compiler.loops.build_products import BatchWriter
from adjoint.compiler.loops.ranges import RangeWriter, passed
from adjoint.compiler.schedule.matmul import Panel, ProductSchedule
from adjoint.compiler.tables import LARGE, Arguments, Function, Shared, Start

WHOLE = (0, 1, 1)  # of what is packed: from which part to which, of how many


class TiledWriter(BatchWriter):
    """Writes a product by our kernels as a function of a range of its rows, counted through the whole batch."""

    def __init__(self, product: Product, name: str, arguments: Arguments, schedule: ProductSchedule) -> None:
        super().__init__(product, name, arguments, schedule)
        self.lanes, self.panels = schedule.lanes, schedule.panels
        self.itemsize = ITEMSIZE[self.dtype]
        self.turned = self.b.strides[-1] != 1 and self.m > 1
        block = min(self.k, schedule.block) if schedule.block else self.k
        for_all = schedule.packing == "once"
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
        elif schedule.packing:
            self.place = arguments.reserve(size)
        if schedule.gathered:
            rows = min(schedule.gathered, self.n) + schedule.height(self.panels[0])
            self.gathered = arguments.reserve(rows * block * self.itemsize)

    def width(self, panel: Panel) -> int:
        """Columns of a panel."""
        return panel.vectors * self.lanes

    # B, packed

    def write_packing(self, place: Shared) -> None:
        """The function of the table and a thread's own that packs B, before any tile. What takes long is cut into parts: some of
        each kind of panels."""
        self.start_chunks = self.schedule.packing_parts
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
        size = self.schedule.block
        if not size:
            self.block(a, b, result, rows, total, "false")
            return
        left, right = self.number(self.a.strides[-1], "a step"), self.number(self.b.strides[-2], "b row")

        def block(at: str, k: int, again: str) -> None:
            self.block(self.move(a, e.times(at, left)), self.move(b, e.times(at, right)), result, rows, k, again, at)

        blocks, rest = divmod(total, size)
        whole = self.varying(blocks * size, "whole blocks")
        if blocks:
            with e.loop("0", whole, size) as at, self.within("block"):
                block(at, size, e.test("ne", at, 0))
        if rest:
            with self.within("last sums"):
                block(whole, rest, "true" if blocks else "false")

    def block(self, a: str, b: str, result: str, rows: int, k: int, again: str, at: str = "0") -> None:
        """The sums over some k from `at` on, or these added to the result."""
        self.skipped, self.fetches, self.at = "0", "true", at
        if self.schedule.block and not self.schedule.each:
            self.fetches = self.e.test("eq", self.varying(self.k - k, "before the last"), at)
        if self.right is not None:
            b, self.skipped = self.pointer(self.right), at
        elif self.schedule.packing:
            place = self.own(self.place, "place of B")
            self.pack(b, place, k)
            b = place
        together = self.schedule.gathered
        if not together:
            self.tiles(a, b, result, rows, k, again, self.a.strides[-2:])
            return
        whole, rest = divmod(rows, together)
        stop = self.varying(whole * together, "gathered")
        if whole:
            with self.e.loop("0", stop, together) as row, self.within("gathered"):
                self.gather(a, b, result, row, together, k, again)
        if rest:
            with self.within("last gathered"):
                self.gather(a, b, result, stop, rest, k, again)

    def gather(self, a: str, b: str, result: str, row: str, rows: int, k: int, again: str) -> None:
        """Some rows, A's gathered first: tile by tile, as the tiles read them."""
        e, number = self.e, self.number
        stride = self.a.strides[-2]
        target = self.own(self.gathered, "place of A's rows")
        strips = self.schedule.strips(self.panels[0], rows)
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
        together = "rows" if self.schedule.gathered else "steps" if self.a.strides[-1] == 1 else ""
        items: list[int | Function | Start] = [*self.fetched(rows, k), len(self.panels)]
        for panel in self.panels:
            strips = self.schedule.strips(panel, rows)
            width = self.width(panel)
            items += [
                panel.column,
                panel.times,
                width,
                width if self.schedule.packing else self.b.strides[-2],
                len(strips),
            ]
            place = 0
            for top, height, count in strips:
                if strides is None:  # gathered: a strip of as many rows as the tile has
                    items += [top, height, count, place, height * k, 1, height, height]
                else:
                    row, step = strides
                    items += [top, height, count, top * row, height * row, row, step, height * row]
                items.append(self.listed("tile", height, panel.vectors, masked=panel.masked, together=together))
                place += count * height * k
        sums = k if self.schedule.block else self.schedule.sums or k
        by, last = number(self.depth, "depth") if self.schedule.packing else 1, self.m % self.lanes or self.lanes
        self.go_through(self.kernel("tiles"), items, a, b, result, by, number(self.m, "m"), self.varying(k, "k"),
                        self.varying(sums, "sums"), number(last, "last columns"), again, self.skipped,
                        self.near_from(k) if self.schedule.near else 0, self.fetches)  # fmt: skip

    def fetched(self, rows: int, k: int) -> list[int | Start]:
        """What a list of tiles says of `near`."""
        near = self.schedule.near
        if not near:
            return [0, 0, 0]
        tiles = sum([
            panel.times * sum([count for _, _, count in self.schedule.strips(panel, rows)])
            for panel in self.panels
        ])  # fmt: skip
        part = -(-self.near_elements(rows, k) * len(near) // tiles)
        return [len(near), part, -(-part // k), *[Start(slot, 0) for slot in near]]

    def near_elements(self, rows: int, k: int) -> int:
        """Of each array that is near."""
        return rows * self.m

    def near_from(self, k: int) -> str:
        """Elements of these arrays before the first that is fetched."""
        return self.e.times("%lo", self.number(self.m, "m"))


class TurnedWriter(RangeWriter):
    """Writes a product as the transpose of BᵀAᵀ, so that of two matrices whose k lies together the smaller one is packed: as a
    whole or, if it is a unit of its own, as a function of a range of its columns."""

    def __init__(self, product: Product, name: str, arguments: Arguments, schedule: ProductSchedule) -> None:
        super().__init__(product.step, name, arguments)
        assert schedule.within is not None
        self.n, self.m = n, m = product.shape
        columns = schedule.within.rows
        self.whole = columns == m
        self.rows, self.row_elements = (n, m) if self.whole else (m, n)
        self.lanes, self.chunk = schedule.lanes, schedule.rows
        self.turned = arguments.reserve(n * columns * ITEMSIZE[self.dtype])
        self.other = TiledWriter(product.turned(), f"{name}.turned", arguments, schedule.within)
        self.other.tile_at = self.turned
        if self.other.start:  # else B is packed already
            with self.another() as e:
                e.call(f"@${self.other.name}.start", passed("%first", "%last"))
                self.start = [*self.other.start, self.function("start")]
                self.start_chunks = self.other.start_chunks
                self.packs_for_all = self.other.packs_for_all

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
            self.inputs.tile(self.kernel("turn"), rows_of, n, self.move(result, column), m, n, self.lanes)
        return [*self.other.write(), self.function()]
