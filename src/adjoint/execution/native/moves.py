"""Units that move elements to where a loop nest can't write them: gather and scatter, joining, writing into a slice.

An index out of bounds is noted in the frame's failure, and the unit goes on with another; the program ends after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from adjoint.execution.native.fuse import INDEXED, Move, View, contiguous
from adjoint.execution.native.ir import ITEMSIZE, Emitter
from adjoint.execution.native.tables import FAILURE, Table
from adjoint.execution.pieces import fills_everything
from adjoint.shapes import size_of


class MoveWriter:
    """Writes the function of one move: `@unit<index>`, whose one chunk is everything."""

    def __init__(self, move: Move, index: int, table: Table, declarations: set[str], bits: int) -> None:
        self.move = move
        self.index = index
        self.table = table
        dtype = move.step.type.dtype.name
        self.dtype = "uint8" if dtype == "bool" else dtype
        self.tail = 1
        if move.indices:
            self.tail = size_of(move.indexed_shape[len(move.indices) :])
        widest = self.tail if move.indices else move.step.type.size
        lanes = bits // (8 * ITEMSIZE[self.dtype])
        while lanes > 1 and lanes >= 2 * widest:
            lanes //= 2
        self.e = Emitter(lanes, declarations, {})

    def write(self) -> str:
        e, step, name = self.e, self.move.step, self.move.step.op.name
        out = self.pointer(step.output)
        if name in ("scatter_add", "embed"):
            self.fill(out, step.type.size, 0)
        if name == "pieces" and not fills_everything(step.attributes, step.type.size):
            self.fill(out, step.type.size, step.attributes.number)
        if name in ("scatter", "update_slice"):
            self.copy(self.move.views[0], out, 0, contiguous(step.type.shape))
        if name == "gather":
            with self.selected() as (row, place):
                self.run(self.pointer(self.move.views[0].root), place, out, row, add=False)
        elif name in INDEXED:
            with self.selected() as (row, place):
                self.run(
                    self.pointer(self.move.views[self.move.first_index - 1].root),
                    row,
                    out,
                    place,
                    name == "scatter_add",
                )
        elif name == "concat":
            strides, start = contiguous(step.type.shape), 0
            for view in self.move.views:
                self.copy(view, out, start, strides)
                start += view.shape[step.attributes] * strides[step.attributes]
        elif name == "pieces":
            for view, place in zip(self.move.views, step.attributes.placements, strict=True):
                self.copy(view, out, place.offset, place.strides, place.adds_zero)
        else:
            slices = step.attributes[1] if name == "embed" else step.attributes
            strides = contiguous(step.type.shape)
            start = sum(first * s for (first, _, _), s in zip(slices, strides, strict=True))
            steps = tuple([s * by for (_, _, by), s in zip(slices, strides, strict=True)])
            self.copy(self.move.views[-1], out, start, steps)
        head = f"define internal void @unit{self.index}(ptr %table, i64 %first, i64 %last, ptr %own) #0 {{"
        return "\n".join([head, "entry:", *e.allocations, *e.lines, "  ret void", "}"])

    def pointer(self, root: Any) -> str:
        at = self.e.assign(f"getelementptr ptr, ptr %table, i64 {self.table.at(root)}")
        return self.e.assign(f"load ptr, ptr {at}")

    def selected(self) -> _Selected:
        return _Selected(self)

    def stretch(self, count: int, body: Any) -> None:
        """`body(offset)` for vectors that cover `count` elements, the last one under a mask."""
        e = self.e
        whole, rest = divmod(count, e.lanes)
        if whole:
            with e.loop("0", str(whole * e.lanes), e.lanes) as i:
                body(i)
        if rest:
            e.mask = "<" + ", ".join(f"i1 {int(k < rest)}" for k in range(e.lanes)) + ">"
            body(str(whole * e.lanes))
            e.mask = None

    def fill(self, out: str, count: int, number: Any) -> None:
        self.stretch(count, lambda i: self.e.store(self.e.constant(number, self.dtype), out, i))

    def run(self, source: str, start: str, out: str, place: str, add: bool) -> None:
        """Copy or add one row's elements, which lie side by side."""
        e = self.e

        def body(i: str) -> None:
            to = e.assign(f"add i64 {place}, {i}")
            value = e.load(source, e.assign(f"add i64 {start}, {i}"), self.dtype, 1)
            e.store(e.add(e.load(out, to, self.dtype, 1), value) if add else value, out, to)

        self.stretch(self.tail, body)

    def copy(self, view: View, out: str, start: int, strides: Sequence[int], adds_zero: bool = False) -> None:
        """Copy a view's elements to an offset, at strides, or their sums with 0."""
        e, source = self.e, self.pointer(view.root)
        axes = [(n, s, t) for n, s, t in zip(view.shape, view.strides, strides, strict=True) if n != 1]
        merged: list[tuple[int, int, int]] = []
        for n, s, t in axes:
            if merged and merged[-1][1] == n * s and merged[-1][2] == n * t:
                merged[-1] = (merged[-1][0] * n, s, t)
            else:
                merged.append((n, s, t))
        *outer, (count, near, far) = merged or [(1, 1, 1)]
        with ExitStack() as loops:
            begin, end = str(view.offset), str(start)
            for n, s, t in outer:
                i = loops.enter_context(e.loop("0", str(n), 1))
                begin = e.assign(f"add i64 {begin}, {e.assign(f'mul i64 {i}, {s}')}")
                end = e.assign(f"add i64 {end}, {e.assign(f'mul i64 {i}, {t}')}")

            def body(i: str) -> None:
                a = e.assign(f"add i64 {begin}, {e.assign(f'mul i64 {i}, {near}')}")
                b = e.assign(f"add i64 {end}, {e.assign(f'mul i64 {i}, {far}')}")
                value = e.load(source, a, self.dtype, near)
                e.store(e.add(value, 0) if adds_zero else value, out, b, far)

            self.stretch(count, body)


class _Selected:
    """A loop over the indices: the offset of each row on the side without indices, and on the side with them."""

    def __init__(self, writer: MoveWriter) -> None:
        self.writer = writer
        self.loops = ExitStack()

    def __enter__(self) -> tuple[str, str]:
        writer, e, move = self.writer, self.writer.e, self.writer.move
        arrays = [writer.pointer(view.root) for view in move.indices]
        self.failure = writer.pointer(FAILURE)
        r = self.loops.enter_context(e.loop("0", str(size_of(move.indices[0].shape)), 1))
        shape = move.indexed_shape
        place = "0"
        for axis, (pointer, dtype, n, stride) in enumerate(
            zip(arrays, move.index_dtypes, shape, contiguous(shape), strict=False)
        ):
            kind = f"i{8 * ITEMSIZE[dtype]}"
            at = e.assign(f"getelementptr {kind}, ptr {pointer}, i64 {r}")
            i = e.assign(f"load {kind}, ptr {at}")
            if kind != "i64":
                i = e.assign(f"{'sext' if dtype[0] == 'i' else 'zext'} {kind} {i} to i64")
            negative = e.assign(f"icmp slt i64 {i}, 0")
            given = i
            i = e.assign(f"select i1 {negative}, i64 {e.assign(f'add i64 {i}, {n}')}, i64 {i}")
            inside = e.assign(f"icmp ult i64 {i}, {n}")
            i = e.assign(f"select i1 {inside}, i64 {i}, i64 0")
            self.note(inside, writer.table.check(axis, n), given)
            place = e.assign(f"add i64 {place}, {e.assign(f'mul i64 {i}, {stride}')}")
        return e.assign(f"mul i64 {r}, {writer.tail}"), place

    def note(self, inside: str, check: int, given: str) -> None:
        """Unless an index is inside its bounds, note which check failed, and the index."""
        e = self.writer.e
        for offset, value in enumerate((str(check + 1), given)):
            at = e.assign(f"getelementptr i64, ptr {self.failure}, i64 {offset}")
            before = e.assign(f"load i64, ptr {at}")
            e.line(f"store i64 {e.assign(f'select i1 {inside}, i64 {before}, i64 {value}')}, ptr {at}")

    def __exit__(self, *error: Any) -> None:
        self.loops.__exit__(*error)
