"""The functions of one unit: what runs once before it, and the work as a function of a range of its chunks.

They are written from the unit's key alone (see `excerpts`). Chunks are the same whatever runs them: how many there are follows
from the shapes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from adjoint.execution.native import compiler
from adjoint.execution.native.code import Source
from adjoint.execution.native.emit import NestWriter
from adjoint.execution.native.excerpts import Excerpt, Key, nest_of, product_of, window_of
from adjoint.execution.native.fuse import Nest, Product
from adjoint.execution.native.ir import ITEMSIZE
from adjoint.execution.native.moves import MoveWriter
from adjoint.execution.native.products import BatchWriter, LibraryWriter
from adjoint.execution.native.tables import PARAMETERS, Arguments
from adjoint.execution.native.tiled import TiledWriter, TurnedWriter
from adjoint.execution.native.windows import ConvolutionWriter, PoolWriter, writer_of
from adjoint.shapes import size_of

# Nanoseconds that a unit takes on one thread, by a rough guess, from which on others are woken for it: one that sleeps comes
# after 10 to 70 µs.
WORTH_SHARING = 150_000

Writer = BatchWriter | ConvolutionWriter | PoolWriter


class Written(NamedTuple):
    """A unit as LLVM IR. Of its functions `unit` runs a range of chunks; `first` and `last` run once, before and behind it. With
    a function that runs first goes what it packs, where other units may read that, too."""

    source: Source
    arguments: Arguments
    first: list[tuple[str, str | None]]
    last: list[str]
    chunks: int
    shared: bool  # whether it is worth waking other threads for
    text: str  # the loops, for people


def write_unit(key: Key) -> Written:
    """The code of all units that have this key."""
    return _Unit().write(key)


class _Unit:
    """A unit that is being written."""

    def __init__(self) -> None:
        self.bits = compiler.vector_bits()
        self.arguments = Arguments()
        self.declarations = {"declare i64 @llvm.umin.i64(i64, i64)"}
        self.functions: list[str] = []
        self.first: list[tuple[str, str | None]] = []
        self.last: list[str] = []
        self.time = 0.0
        self.text = ""
        self.loads: list[str] = []  # of the numbers that the function of the unit itself reads

    def number(self, value: int) -> str:
        """A number that follows from the unit's extents, in the function of the unit itself."""
        position = self.arguments.at(self.arguments.given(value))
        name = f"%number{position}"
        self.loads += [
            f"  {name}.at = getelementptr i64, ptr %args, i64 {position}",
            f"  {name} = load i64, ptr {name}.at",
        ]
        return name

    def write(self, key: Key) -> Written:
        kind, chunks = key[0], 1
        if kind == "move":
            self.functions.append(MoveWriter(key[1], self.arguments, self.declarations, self.bits).write())
        elif kind == "product":
            product = product_of(key)
            assert product.choice is not None
            rows = product.choice.rows
            writer = product_writer(product, "product", self.arguments, rows)
            chunks = self.ranges([writer], None, rows, writer.rows)
        elif kind == "window":
            window = writer_of(window_of(key), "window", self.arguments, self.bits)
            chunks = self.ranges([window], None, window.tile, window.rows)
        else:
            chunks = self.nest(*nest_of(key))
        names = ("unit", *[name for name, _ in self.first], *self.last)
        source = Source("\n".join(self.functions), frozenset(self.declarations), names)
        shared = chunks > 1 and self.time >= WORTH_SHARING
        return Written(source, self.arguments, self.first, self.last, chunks, shared, self.text)

    def nest(self, excerpt: Excerpt, unit: Nest) -> int:
        nest = NestWriter(excerpt, unit, self.arguments, self.declarations, self.bits)
        self.text = str(nest)
        if not unit.tile:
            return self.ranges([], nest, nest.step, nest.extent)
        # a chunk ends where matrices and images do, though these may lie across the nest's rows
        whole = math.lcm(nest.elements, *[made.grain for made in unit.products]) // nest.elements
        step = max(unit.tile // (nest.elements * whole), 1) * whole
        nest.set_chunks(step)
        elements = min(step, nest.extent) * nest.elements
        for slot in unit.tiles:
            unit.tiles[slot] = self.arguments.reserve(elements * ITEMSIZE[excerpt.dtypes[slot]])
        writers: list[Writer] = []
        for k, made in enumerate(unit.products):
            made.tile = unit.tiles.get(made.step.output)
            name = f"made{k}"
            if isinstance(made, Product):
                writers.append(product_writer(made, name, self.arguments, elements // made.shape[-1]))
            else:
                writers.append(writer_of(made, name, self.arguments, self.bits, elements // made.grain))
        followers: list[BatchWriter] = []
        for k, follower in enumerate(unit.followers):
            writer = product_writer(follower, f"follower{k}", self.arguments, follower.shape[-2])
            writer.cached = unit.tiles
            followers.append(writer)
        return self.ranges(writers, nest, step, nest.extent, followers)

    def ranges(
        self,
        writers: Sequence[Writer],
        nest: NestWriter | None,
        step: int,
        extent: int,
        followers: Sequence[BatchWriter] = (),
    ) -> int:
        """`@$unit` over chunks of `step` rows, of the nest if there is one, which runs between the two kinds of writers; the
        number of chunks."""
        by, end = self.number(step), self.number(extent)
        lines = [
            "  br label %next", "next:", "  %c = phi i64 [%first, %entry], [%c1, %next]",
            f"  %lo = mul i64 %c, {by}", f"  %up = add i64 %lo, {by}", f"  %hi = call i64 @llvm.umin.i64(i64 %up, i64 {end})",
        ]  # fmt: skip
        for k, writer in enumerate(writers):
            lines += self.call(k, writer, nest, 1, writer.row_elements)
        if nest is not None:
            self.functions.append(nest.write())
            lines.append("  call void @$nest(ptr %table, i64 %lo, i64 %hi, i64 %c, ptr %own, ptr %args)")
            start, finish = nest.write_start(), nest.write_finish()
            if start is not None:
                self.functions.append(start)
                self.first.append(("start", None))
            if finish is not None:
                self.functions.append(finish)
                self.last.append("finish")
            self.time += nest.time
        for k, follower in enumerate(followers, len(writers)):
            assert nest is not None  # each matrix of the nest goes into one of the follower's
            lines += self.call(k, follower, nest, follower.n, size_of(nest.nest.domain[-2:]))
        lines += [
            "  %c1 = add i64 %c, 1", "  %again = icmp ult i64 %c1, %last", "  br i1 %again, label %next, label %done",
            "done:", "  ret void", "}",
        ]  # fmt: skip
        self.functions.append("\n".join([f"define void @$unit({PARAMETERS}) #0 {{", "entry:", *self.loads, *lines]))
        return -(-extent // step)

    def call(self, k: int, writer: Writer, nest: NestWriter | None, rows: int, elements: int) -> list[str]:
        """Write a writer's functions; lines that call it. Its `rows` are made for, or of, so many elements of the nest."""
        self.functions.append(writer.write())
        self.declarations |= writer.e.declarations
        self.time += writer.time
        if writer.start is not None:
            self.functions.append(writer.start)
            self.first.append((f"{writer.name}.start", writer.packs_for_all))
        if writer.finish is not None:
            self.functions.append(writer.finish)
            self.last.append(f"{writer.name}.finish")
        lines, bounds = [], ["%lo", "%hi"]
        if nest is not None and nest.elements * rows != elements:  # rows of the nest in rows of the writer
            by, of = self.number(nest.elements * rows), self.number(elements)
            for end in ("lo", "hi"):
                lines += [f"  %{end}.e{k} = mul i64 %{end}, {by}", f"  %{end}.{k} = udiv i64 %{end}.e{k}, {of}"]
            bounds = [f"%lo.{k}", f"%hi.{k}"]
        arguments = f"ptr %table, i64 {bounds[0]}, i64 {bounds[1]}, ptr %own, ptr %args"
        return [*lines, f"  call void @${writer.name}({arguments})"]


def product_writer(product: Product, name: str, arguments: Arguments, chunk: int) -> BatchWriter:
    """The writer of a product, in chunks of so many rows, by what was chosen for it."""
    assert product.choice is not None
    kind: type[BatchWriter] = LibraryWriter if product.choice.library else TiledWriter
    if kind is TiledWriter and TurnedWriter.suits(product, chunk):
        kind = TurnedWriter
    return kind(product, name, arguments, chunk)
