"""The functions of one unit: what runs once before it, and the work as a function of a range of its chunks.

They are written from the unit's key alone (see `excerpts`). Chunks are the same whatever runs them: how many there are follows
from the shapes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.excerpts import Excerpt, Key, nest_of, product_of, window_of
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
from adjoint.compiler.loops.build_vector import VectorWriter
from adjoint.compiler.loops.build_windows import ConvolutionWriter, PoolWriter
from adjoint.compiler.loops.build_winograd import WinogradWriter
from adjoint.compiler.loops.ranges import RangeWriter, passed
from adjoint.compiler.schedule.matmul import schedule_product
from adjoint.compiler.schedule.nests import schedule_nest
from adjoint.compiler.schedule.windows import schedule_window
from adjoint.compiler.tables import LARGE, Arguments, First, Writer
from adjoint.compiler.targets.llvm import source_of
from adjoint.compiler.targets.target import tuning
from adjoint.runtime import code
from adjoint.shapes import contiguous, size_of

WRITERS: dict[str, Any] = {  # who writes all functions of a unit, and knows its chunks
    "move": MoveWriter, "matrices": MatricesWriter, "factors": factors_writer, "transform": TransformWriter,
    "running": RunningWriter, "search": SearchWriter, "ranks": RankWriter,
}  # fmt: skip


PRODUCTS: dict[str, Any] = {  # who writes a product, by the way of its schedule
    "tiles": TiledWriter, "turned": TurnedWriter, "parts": PartsWriter, "vector": VectorWriter, "library": LibraryWriter,
    "library parts": VectorPartsWriter,
}  # fmt: skip


WINDOWS: dict[str, Any] = {
    "oneDNN": ConvolutionWriter, "tiles": WinogradWriter, "strips": DirectWriter, "loops": PoolWriter,
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


def write_unit(key: Key) -> Written:
    """The code of all units that have this key."""
    return _Unit().write(key)


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

    def write(self, key: Key) -> Written:
        kind, chunks = key[0], 1
        if kind in WRITERS:
            unit = WRITERS[kind](key[1], self.arguments)
            self.functions += unit.write()
            self.first += unit.first
            before = {one.name for one in unit.first}
            self.last += [function.name for function in self.functions[1:] if function.name not in before]
            self.time, chunks = unit.time, unit.chunks
        elif kind == "scan":
            scan = key[1]
            self.functions += scan.code.write(scan, self.arguments)
            self.time = float(scan.operations)
        elif kind == "product":
            product = product_of(key)
            assert product.choice is not None
            writer = self.product(product, "product", product.choice.rows, True)
            chunks = self.ranges([writer], None, writer.chunk, writer.rows)
        elif kind == "window":
            window = self.window(window_of(key), "window")
            chunks = self.ranges([window], None, window.tile, window.rows)
        else:
            chunks = self.nest(*nest_of(key))
        names = tuple(dict.fromkeys(["unit", *[one.name for one in self.first], *self.last]))
        return Written(tuple(self.functions), names, self.arguments, self.first, self.last, chunks, self.time)

    def nest(self, excerpt: Excerpt, unit: Nest) -> int:
        if unit.by_cells:
            return self.cells(excerpt, unit)
        schedule = schedule_nest(excerpt, unit)
        nest, step = NestWriter(excerpt, unit, schedule, self.arguments), schedule.step
        if not unit.tile:
            return self.ranges([], nest, step, schedule.extent)
        elements = min(step, schedule.extent) * nest.elements
        tiles = nest.tiles = {
            slot: self.arguments.reserve(elements * BYTES[excerpt.dtypes[slot]]) for slot in unit.tiles
        }
        writers: list[RangeWriter] = []
        for k, made in enumerate(unit.products):
            name, place = f"made{k}", tiles.get(made.step.output)
            if isinstance(made, Product):
                writer = self.product(made, name, elements // made.shape[-1], in_tile=place is not None)
                if type(writer) is TiledWriter and not writer.batch and not writer.schedule.gathered:
                    writer.near = nearby(nest, made)
            else:
                writer = self.window(made, name, elements // made.grain)
            writer.tile_at = place
            writers.append(writer)
        followers: list[BatchWriter] = []
        for k, follower in enumerate(unit.followers):
            assert isinstance(follower, Product)
            writer = self.product(follower, f"follower{k}", follower.shape[-2])
            writer.cached = tiles
            followers.append(writer)
        return self.ranges(writers, nest, step, schedule.extent, followers)

    def product(self, product: Product, name: str, rows: int, alone: bool = False, in_tile: bool = False) -> Any:
        """The writer of a product, in ranges of so many rows."""
        schedule = schedule_product(product, rows, alone, in_tile)
        return PRODUCTS[schedule.way](product, name, self.arguments, schedule)

    def window(self, window: Window, name: str, tile: int | None = None, cells: Cells | None = None) -> Any:
        """The writer of a window's function; `tile` is how many images it is asked for at a time, `cells` what is computed on
        what it has in registers."""
        schedule = schedule_window(window, tile, None if cells is None else cells.pool)
        return WINDOWS[schedule.way](window, name, self.arguments, schedule, cells)

    def cells(self, excerpt: Excerpt, unit: Nest) -> int:
        """A nest that is computed on what a convolution before it, or a pool behind it, has in registers."""
        (window,) = unit.products or unit.followers
        assert isinstance(window, Window)
        writer = self.window(window, "window", cells=Cells(excerpt, unit))
        return self.ranges([writer], None, writer.tile, writer.rows)

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
        if nest is not None and nest.elements * rows != elements:  # rows of the nest in rows of the writer
            by, of = self.number(nest.elements * rows), self.number(elements)
            bounds = (e.index("udiv", e.times(bounds[0], by), of), e.index("udiv", e.times(bounds[1], by), of))
        e.call(f"@${writer.name}", passed(*bounds))


def nearby(nest: NestWriter, product: Product) -> tuple[int, ...]:
    """Arrays that a nest stores or reads element by element, as it reads a product: while that is computed, memory has nothing
    else to do."""
    unit, dtypes = nest.nest, nest.excerpt.dtypes
    dtype, steps = product.step.type.dtype.name, contiguous(unit.domain)
    stored = [slot for slot in unit.stored if unit.level[slot] == "element" and slot not in unit.tiles]
    made = {other.step.output for other in unit.products}
    read = [
        view.root
        for step in unit.steps
        for i in step.inputs
        if not nest.inside(i) and dtypes[i] == dtype
        for view in [nest.outside(i)]
        if view.offset == 0 and view.shape == unit.domain and view.strides == steps and view.root not in made
    ]
    found = dict.fromkeys([*[slot for slot in stored if dtypes[slot] == dtype], *read])
    return tuple(found)[: tuning().most_fetched]
