"""The functions of one unit: what runs once before it, and the work as a function of a range of its chunks.

They are written from the unit's key alone (see `excerpts`). Chunks are the same whatever runs them: how many there are follows
from the shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.excerpts import Excerpt, Key, remade
from adjoint.compiler.fuse.kinds import Nest, Product, Window
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import BYTES
from adjoint.compiler.loops.build_blocked import factors_writer
from adjoint.compiler.loops.build_cells import Cells
from adjoint.compiler.loops.build_direct import DirectWriter
from adjoint.compiler.loops.build_indexing import MoveWriter
from adjoint.compiler.loops.build_matmul import TiledWriter, TurnedWriter
from adjoint.compiler.loops.build_matrices import MatricesWriter
from adjoint.compiler.loops.build_nest import NestWriter
from adjoint.compiler.loops.build_ordering import RankWriter, SearchWriter
from adjoint.compiler.loops.build_parts import PartsWriter, VectorPartsWriter
from adjoint.compiler.loops.build_products import BatchWriter, LibraryWriter
from adjoint.compiler.loops.build_running import RunningWriter
from adjoint.compiler.loops.build_totals import write_finish, write_start
from adjoint.compiler.loops.build_transform import TransformWriter
from adjoint.compiler.loops.build_vector import RowPartsWriter, RowWriter, VectorWriter
from adjoint.compiler.loops.build_windows import ConvolutionWriter, PoolWriter
from adjoint.compiler.loops.build_winograd import WinogradWriter
from adjoint.compiler.loops.ranges import RangeWriter, passed
from adjoint.compiler.schedule.blocks import BLOCKS, BlockSchedule
from adjoint.compiler.schedule.matmul import ProductSchedule
from adjoint.compiler.schedule.nests import NestSchedule
from adjoint.compiler.schedule.schedule import Schedule, schedule
from adjoint.compiler.schedule.windows import WindowSchedule
from adjoint.compiler.tables import LARGE, Arguments, First, Writer
from adjoint.compiler.targets.llvm import source_of
from adjoint.runtime import code
from adjoint.shapes import size_of

WRITERS: dict[str, Any] = {  # who writes all functions of a unit
    "move": MoveWriter, "matrices": MatricesWriter, "factors": factors_writer, "transform": TransformWriter,
    "running": RunningWriter, "search": SearchWriter, "ranks": RankWriter,
}  # fmt: skip


WAYS: dict[str, Any] = {  # who writes a product or window, by the way of its schedule
    "tiles": TiledWriter, "turned": TurnedWriter, "parts": PartsWriter, "row": RowWriter, "row parts": RowPartsWriter,
    "vector": VectorWriter, "library": LibraryWriter, "library parts": VectorPartsWriter, "oneDNN": ConvolutionWriter,
    "2×2 outputs": WinogradWriter, "strips": DirectWriter, "loops": PoolWriter,
}  # fmt: skip


class Written(NamedTuple):
    """A unit as loops. Of its functions `unit` runs a range of chunks; `first` and `last` run once, before and behind it. All
    chunks together take about so many nanoseconds (`time`)."""

    functions: tuple[L.Function, ...]
    names: tuple[str, ...]
    arguments: Arguments
    first: list[First]
    last: list[str]
    chunks: int
    time: float

    @property
    def source(self) -> code.Source:
        """The functions for LLVM."""
        found = source_of(self.functions, self.names)
        called = self.arguments.in_c
        return found._replace(text=f"{found.text}\n{code.functions_in_c('factors', called)}") if called else found


def schedule_of(key: Key) -> Schedule | BlockSchedule | None:
    """How all units that have this key run; None for scans, of which nothing is decided here."""
    if key[0] in BLOCKS:
        return BLOCKS[key[0]](key[1])
    return None if key[0] == "scan" else schedule(*remade(key))


def write_unit(key: Key, how: Schedule | BlockSchedule | None = None) -> Written:
    """The code of all units that have this key, by another schedule than their own if one is given."""
    return _Unit().write(key, how)


class _Unit(Writer):
    """A unit that is being written."""

    def __init__(self) -> None:
        super().__init__(Arguments())
        self.functions: list[L.Function] = []
        self.first: list[First] = []
        self.last: list[str] = []
        self.time = 0.0

    def number(self, value: int) -> str:
        """A number that follows from the unit's extents, in the function of the unit itself."""
        return self.inputs.number(value, None, LARGE)

    def write(self, key: Key, how: Schedule | BlockSchedule | None) -> Written:
        chunks, how = 1, how or schedule_of(key)
        if isinstance(how, BlockSchedule):
            unit = WRITERS[key[0]](key[1], self.arguments, how)
            self.functions += unit.write()
            self.first += unit.first
            before = {one.name for one in unit.first}
            self.last += [function.name for function in self.functions[1:] if function.name not in before]
            self.time, chunks = how.time, how.chunks
        elif how is None:
            scan = key[1]
            self.functions += scan.code.write(scan, self.arguments)
            self.time = float(scan.operations)
        else:
            chunks = self.scheduled(*remade(key), how)
        names = tuple(dict.fromkeys(["unit", *[one.name for one in self.first], *self.last]))
        return Written(tuple(self.functions), names, self.arguments, self.first, self.last, chunks, self.time)

    def scheduled(self, unit: Nest | Product | Window, excerpt: Excerpt | None, how: Schedule) -> int:
        """A unit that has a schedule; the number of its chunks."""
        if isinstance(unit, Nest) and excerpt is not None and how.nest is not None:
            return self.nest(excerpt, unit, how.nest, how)
        (own,) = how.before
        if isinstance(unit, Product):
            product = self.writer(unit, "product", own)
            return self.ranges([product], None, product.chunk, product.rows)
        cells = Cells(excerpt, unit) if isinstance(unit, Nest) and excerpt is not None else None
        window = self.writer(unit if isinstance(unit, Window) else unit.made[0], "window", own, cells)
        return self.ranges([window], None, window.tile, window.rows)

    def nest(self, excerpt: Excerpt, unit: Nest, loops: NestSchedule, how: Schedule) -> int:
        nest = NestWriter(excerpt, unit, loops, self.arguments)
        elements, reserve = min(loops.step, loops.extent) * loops.row, self.arguments.reserve
        nest.tiles = {slot: reserve(elements * BYTES[excerpt.dtypes[slot]]) for slot in unit.tiles}
        before, behind = [
            [self.writer(one, f"{name}{k}", own) for k, (one, own) in enumerate(zip(made, schedules, strict=True))]
            for name, made, schedules in (("made", unit.products, how.before), ("follower", unit.followers, how.behind))
        ]
        for writer in before:
            writer.tile_at = nest.tiles.get(writer.step.output)
        for writer in behind:
            writer.cached = nest.tiles
        return self.ranges(before, nest, loops.step, loops.extent, behind)

    def writer(self, one: Product | Window, name: str, how: ProductSchedule | WindowSchedule, *more: Any) -> Any:
        """Who writes a product or window as it is scheduled."""
        return WAYS[how.way](one, name, self.arguments, how, *more)

    def ranges(
        self,
        writers: Sequence[RangeWriter],
        nest: NestWriter | None,
        step: int,
        extent: int,
        followers: Sequence[BatchWriter] = (),
    ) -> int:
        """`@$unit` over chunks of `step` rows, of the nest if there is one, which runs between the two kinds of writers; the
        number of chunks."""
        e, by, end = self.e, self.number(step), self.number(extent)
        if nest is None and writers[0].joins:
            (writer,) = writers
            self.call(writer, nest, 1, 1, (e.times("%first", by), e.index("umin", e.times("%last", by), end)))
            self.functions.append(self.inputs.function("unit"))
            return -(-extent // step)
        with e.loop("%first", "%last", 1) as c:
            lo = e.times(c, by)
            hi = e.index("umin", e.plus(lo, by), end)
            for writer in writers:
                self.call(writer, nest, 1, writer.row_elements, (lo, hi))
            if nest is not None:
                self.call_nest(nest, (lo, hi), c)
            for follower in followers:
                assert nest is not None  # each matrix of the nest goes into one of the follower's
                self.call(follower, nest, follower.n, size_of(nest.nest.domain[-2:]), (lo, hi))
        self.functions.append(self.inputs.function("unit"))
        return -(-extent // step)

    def call_nest(self, nest: NestWriter, bounds: tuple[str, str], chunk: str) -> None:
        """Write the nest's functions, and call it for a range of its rows."""
        self.functions.append(nest.write())
        given = passed(*bounds)
        self.e.call("@$nest", (*given[:3], ("i64", chunk), *given[3:]))
        start, finish = write_start(nest), write_finish(nest)
        if start is not None:
            self.functions.append(start)
            self.first.append(First("start"))
        if finish is not None:
            self.functions.append(finish)
            self.last.append("finish")
        self.time += nest.schedule.time

    def call(
        self, writer: RangeWriter, nest: NestWriter | None, rows: int, elements: int, bounds: tuple[str, str]
    ) -> None:
        """Write a writer's functions, and call it. Its `rows` are made for, or of, so many elements of the nest, whose rows
        `bounds` are."""
        e = self.e
        self.functions += writer.write()
        self.time += writer.time
        if writer.start:
            self.functions += writer.start
            self.first.append(First(f"{writer.name}.start", writer.packs_for_all, writer.start_chunks))
        if writer.finish:
            self.functions += writer.finish
            self.last.append(f"{writer.name}.finish")
        if nest is not None and nest.schedule.row * rows != elements:  # rows of the nest in rows of the writer
            by, of = self.number(nest.schedule.row * rows), self.number(elements)
            bounds = (e.index("udiv", e.times(bounds[0], by), of), e.index("udiv", e.times(bounds[1], by), of))
        e.call(f"@${writer.name}", passed(*bounds))
