"""The functions of one unit: what runs once before it, and the work as a function of a range of its chunks.

Chunks are the same whatever runs them: how many there are follows from the shapes alone.
"""

from __future__ import annotations

from typing import NamedTuple

from adjoint.execution.native.emit import NestWriter
from adjoint.execution.native.fuse import Fusion, Nest, Product
from adjoint.execution.native.joining import tile_bytes
from adjoint.execution.native.products import ProductWriter
from adjoint.execution.native.tables import Own, Table


class Code(NamedTuple):
    """A unit as LLVM IR: functions, calls to make first, the number of chunks. `@unit<index>` runs a range of chunks."""

    functions: list[str]
    first: list[str]
    chunks: int


def write_unit(
    fusion: Fusion, unit: Nest | Product, index: int, table: Table, own: Own, declarations: set[str], bits: int
) -> Code:
    """The code of a unit."""
    if isinstance(unit, Product):
        writer = ProductWriter(unit, f"product{index}", index, table, own)
        text = writer.write()
        declarations |= writer.e.declarations
        return _ranges(index, [text], [writer], None, writer.choice.rows, writer.rows)
    # nests first: where the tiles are is part of how they are written
    nest = NestWriter(fusion, unit, index, table, own, declarations, bits)
    if not unit.products:
        return _ranges(index, [nest.write()], [], nest, nest.extent, nest.extent)
    count = nest.elements // unit.domain[-1]  # rows of the products in one of the nest
    step = max(unit.tile_rows // count, 1)
    texts, writers = [], []
    for k, product in enumerate(unit.products):
        rows = min(step, nest.extent) * count
        if product.step.output in unit.tiles:
            product.tile = unit.tiles[product.step.output] = own.reserve(index, tile_bytes(product, rows))
        writers.append(ProductWriter(product, f"product{index}.{k}", index, table, own))
        texts.append(writers[-1].write())
        declarations |= writers[-1].e.declarations
    return _ranges(index, [*texts, nest.write()], writers, nest, step, nest.extent, count)


def _ranges(
    index: int, functions: list[str], products: list[ProductWriter], nest: NestWriter | None, step: int, extent: int,
    count: int = 1,
) -> Code:  # fmt: skip
    """`@unit<index>` over chunks of `step` rows; a row of the nest is `count` rows of the products."""
    first = []
    for writer in products:
        if writer.start is not None:
            functions.append(writer.start)
            first.append(f"  call void @{writer.name}.start(ptr %table, ptr %own)")
    if nest is not None:
        start = nest.write_start()
        if start is not None:
            functions.append(start)
            first.append(f"  call void @start{index}(ptr %table)")
    lines = [
        f"define internal void @unit{index}(ptr %table, i64 %first, i64 %last, ptr %own) #0 {{", "entry:",
        "  br label %next", "next:", "  %c = phi i64 [%first, %entry], [%c1, %next]",
        f"  %lo = mul i64 %c, {step}", f"  %up = add i64 %lo, {step}",
        f"  %hi = call i64 @llvm.umin.i64(i64 %up, i64 {extent})",
    ]  # fmt: skip
    names = ("%lo", "%hi")
    if count > 1:
        lines += [f"  %rlo = mul i64 %lo, {count}", f"  %rhi = mul i64 %hi, {count}"]
        names = ("%rlo", "%rhi")
    for writer in products:
        lines.append(f"  call void @{writer.name}(ptr %table, i64 {names[0]}, i64 {names[1]}, ptr %own)")
    if nest is not None:
        lines.append(f"  call void @nest{index}(ptr %table, i64 %lo, i64 %hi, ptr %own)")
    lines += [
        "  %c1 = add i64 %c, 1", "  %again = icmp ult i64 %c1, %last", "  br i1 %again, label %next, label %done",
        "done:", "  ret void", "}",
    ]  # fmt: skip
    return Code([*functions, "\n".join(lines)], first, -(-extent // step))
