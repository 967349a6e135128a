"""The functions of one unit: what runs once before it, and the work as a function of a range of its chunks.

Chunks are the same whatever runs them: how many there are follows from the shapes alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from adjoint.execution.native.emit import NestWriter
from adjoint.execution.native.fuse import Fusion, Move, Nest, Product, Window
from adjoint.execution.native.ir import ITEMSIZE
from adjoint.execution.native.moves import MoveWriter
from adjoint.execution.native.products import BatchWriter, LibraryWriter
from adjoint.execution.native.tables import Own, Table
from adjoint.execution.native.tiled import TiledWriter, TurnedWriter
from adjoint.execution.native.windows import ConvolutionWriter, PoolWriter, writer_of
from adjoint.shapes import size_of

# Nanoseconds that a unit takes on one thread, by a rough guess, from which on others are woken for it: one that sleeps comes
# after 10 to 70 µs.
WORTH_SHARING = 150_000

Writer = BatchWriter | ConvolutionWriter | PoolWriter


class Code(NamedTuple):
    """A unit as LLVM IR: functions, calls to make first and last, the number of chunks. `@unit<index>` runs a range of chunks."""

    functions: list[str]
    first: list[str]
    last: list[str]
    chunks: int
    shared: bool  # whether it is worth waking other threads for


def write_unit(
    fusion: Fusion,
    unit: Nest | Product | Window | Move,
    index: int,
    table: Table,
    own: Own,
    declarations: set[str],
    bits: int,
) -> Code:
    """The code of a unit."""
    if isinstance(unit, Move):
        return Code([MoveWriter(unit, index, table, declarations, bits).write()], [], [], 1, False)
    if isinstance(unit, Product):
        assert unit.choice is not None
        product = product_writer(unit, f"product{index}", index, table, own, unit.choice.rows)
        return _ranges(index, [product], None, unit.choice.rows, product.rows, declarations)
    if isinstance(unit, Window):
        window = writer_of(unit, f"window{index}", index, table, own, bits)
        return _ranges(index, [window], None, window.tile, window.rows, declarations)
    nest = NestWriter(fusion, unit, index, table, own, declarations, bits)
    if not unit.tile:
        return _ranges(index, [], nest, nest.step, nest.extent, declarations)
    # a chunk ends where matrices and images do, though these may lie across the nest's rows
    whole = math.lcm(nest.elements, *[made.grain for made in unit.products]) // nest.elements
    step = max(unit.tile // (nest.elements * whole), 1) * whole
    nest.set_chunks(step)
    elements = min(step, nest.extent) * nest.elements
    for slot in unit.tiles:
        unit.tiles[slot] = own.reserve(index, elements * ITEMSIZE[fusion.dtypes[slot]])
    writers: list[Writer] = []
    for k, made in enumerate(unit.products):
        made.tile = unit.tiles.get(made.step.output)
        name = f"made{index}.{k}"
        if isinstance(made, Product):
            writers.append(product_writer(made, name, index, table, own, elements // made.shape[-1]))
        else:
            writers.append(writer_of(made, name, index, table, own, bits, elements // made.grain))
    followers: list[BatchWriter] = []
    for k, follower in enumerate(unit.followers):
        writer = product_writer(follower, f"follower{index}.{k}", index, table, own, follower.shape[-2])
        writer.cached = unit.tiles
        followers.append(writer)
    return _ranges(index, writers, nest, step, nest.extent, declarations, followers)


def product_writer(product: Product, name: str, index: int, table: Table, own: Own, chunk: int) -> BatchWriter:
    """The writer of a product, in chunks of so many rows, by what was chosen for it."""
    assert product.choice is not None
    kind: type[BatchWriter] = LibraryWriter if product.choice.library else TiledWriter
    if kind is TiledWriter and TurnedWriter.suits(product, chunk):
        kind = TurnedWriter
    return kind(product, name, index, table, own, chunk)


def _ranges(
    index: int,
    writers: list[Writer],
    nest: NestWriter | None,
    step: int,
    extent: int,
    declarations: set[str],
    followers: Sequence[BatchWriter] = (),
) -> Code:
    """`@unit<index>` over chunks of `step` rows, of the nest if there is one, which runs between the two kinds of writers."""
    functions, first, last = [], [], []
    lines = [
        f"define internal void @unit{index}(ptr %table, i64 %first, i64 %last, ptr %own) #0 {{", "entry:",
        "  br label %next", "next:", "  %c = phi i64 [%first, %entry], [%c1, %next]",
        f"  %lo = mul i64 %c, {step}", f"  %up = add i64 %lo, {step}",
        f"  %hi = call i64 @llvm.umin.i64(i64 %up, i64 {extent})",
    ]  # fmt: skip

    def call(k: int, writer: Writer, rows: int, elements: int) -> None:
        """Call a writer, whose `rows` are made for, or of, so many elements of the nest."""
        functions.append(writer.write())
        declarations.update(writer.e.declarations)
        if writer.start is not None:
            functions.append(writer.start)
            first.append(f"  call void @{writer.name}.start(ptr %table, ptr %own)")
        if writer.finish is not None:
            functions.append(writer.finish)
            last.append(f"  call void @{writer.name}.finish(ptr %table, ptr %own)")
        bounds = []
        for end in ("lo", "hi"):
            bounds.append(f"%{end}")
            if nest is not None and nest.elements * rows != elements:  # rows of the nest in rows of the writer
                lines.extend([f"  %{end}.e{k} = mul i64 %{end}, {nest.elements * rows}",
                              f"  %{end}.{k} = udiv i64 %{end}.e{k}, {elements}"])  # fmt: skip
                bounds[-1] = f"%{end}.{k}"
        lines.append(f"  call void @{writer.name}(ptr %table, i64 {bounds[0]}, i64 {bounds[1]}, ptr %own)")

    for k, writer in enumerate(writers):
        call(k, writer, 1, writer.row_elements)
    if nest is not None:
        functions.append(nest.write())
        lines.append(f"  call void @nest{index}(ptr %table, i64 %lo, i64 %hi, i64 %c, ptr %own)")
        start, finish = nest.write_start(), nest.write_finish()
        if start is not None:
            functions.append(start)
            first.append(f"  call void @start{index}(ptr %table)")
        if finish is not None:
            functions.append(finish)
            last.append(f"  call void @finish{index}(ptr %table)")
    for k, follower in enumerate(followers, len(writers)):  # each matrix of the nest goes into one of the follower's
        assert nest is not None
        call(k, follower, follower.n, size_of(nest.nest.domain[-2:]))
    lines += [
        "  %c1 = add i64 %c, 1", "  %again = icmp ult i64 %c1, %last", "  br i1 %again, label %next, label %done",
        "done:", "  ret void", "}",
    ]  # fmt: skip
    chunks, time = -(-extent // step), sum([writer.time for writer in (*writers, *followers)])
    time += nest.time if nest is not None else 0
    return Code([*functions, "\n".join(lines)], first, last, chunks, chunks > 1 and time >= WORTH_SHARING)
