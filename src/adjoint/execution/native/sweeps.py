"""The reverse pass over a stretch of a loop within little memory, as one native call.

Given the carries before the first step, the loop runs forward and every so many steps its carries are remembered. Then, from
the last of these pieces to the first, a piece is run again, the carries before each of its steps stacked, and gone through
backwards. The three loops are those of `scalars`.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.machine.scalars import ScalarLoop
from adjoint.runtime import code
from adjoint.runtime.memory import address

__all__ = ["pieces_of", "sweep"]

Array = np.ndarray[Any, Any]

RELATIVE, COPIED = 3, 3  # numbers: an entry of a table, an address and bytes a step; a state, its first copy and bytes

SWEEP = f"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i64 @llvm.smin.i64(i64, i64)
define void @$sweep(ptr %run, ptr %run.table, ptr %trace, ptr %trace.table, ptr %back, ptr %back.table,
                    ptr %relative, ptr %relative.end, ptr %copied, ptr %copied.end,
                    i64 %first, i64 %step, i64 %piece, i64 %count) #0 {{
entry:
  %before = sub i64 %piece, 1
  %rounded = add i64 %count, %before
  %pieces = sdiv i64 %rounded, %piece
  %final = sub i64 %pieces, 1
  %backwards = sub i64 0, %step
  br label %forward
forward:
  %i = phi i64 [0, %entry], [%i.next, %going]
  call void @$copy(ptr %copied, ptr %copied.end, i64 %i, i1 false)
  %i.next = add i64 %i, 1
  %i.last = icmp eq i64 %i, %final
  br i1 %i.last, label %reverse, label %going
going:
  %i.done = mul i64 %i, %piece
  %i.along = mul i64 %i.done, %step
  %i.at = add i64 %first, %i.along
  %i.ran = call i64 %run(ptr %run.table, i64 %i.at, i64 %step, i64 %piece)
  br label %forward
reverse:
  %k = phi i64 [%final, %forward], [%k.next, %placed]
  call void @$copy(ptr %copied, ptr %copied.end, i64 %k, i1 true)
  %k.done = mul i64 %k, %piece
  %left = sub i64 %count, %k.done
  %length = call i64 @llvm.smin.i64(i64 %left, i64 %piece)
  %k.along = mul i64 %k.done, %step
  %from = add i64 %first, %k.along
  %whole = sub i64 %length, 1
  %way = mul i64 %whole, %step
  %to = add i64 %from, %way
  %low = call i64 @llvm.smin.i64(i64 %from, i64 %to)
  br label %placing
placing:
  %row = phi ptr [%relative, %reverse], [%row.next, %place]
  %all = icmp eq ptr %row, %relative.end
  br i1 %all, label %placed, label %place
place:
  %entry.at = load ptr, ptr %row
  %base.at = getelementptr i64, ptr %row, i64 1
  %base = load i64, ptr %base.at
  %bytes.at = getelementptr i64, ptr %row, i64 2
  %bytes = load i64, ptr %bytes.at
  %behind = mul i64 %low, %bytes
  %where = sub i64 %base, %behind
  store i64 %where, ptr %entry.at
  %row.next = getelementptr i64, ptr %row, i64 {RELATIVE}
  br label %placing
placed:
  %traced = call i64 %trace(ptr %trace.table, i64 %from, i64 %step, i64 %length)
  %gone = call i64 %back(ptr %back.table, i64 %to, i64 %backwards, i64 %length)
  %k.next = sub i64 %k, 1
  %more = icmp sge i64 %k.next, 0
  br i1 %more, label %reverse, label %end
end:
  ret void
}}
define internal void @$copy(ptr %rows, ptr %rows.end, i64 %i, i1 %return) #0 {{
entry:
  br label %next
next:
  %row = phi ptr [%rows, %entry], [%row.next, %one]
  %all = icmp eq ptr %row, %rows.end
  br i1 %all, label %end, label %one
one:
  %state = load ptr, ptr %row
  %copies.at = getelementptr ptr, ptr %row, i64 1
  %copies = load ptr, ptr %copies.at
  %bytes.at = getelementptr i64, ptr %row, i64 2
  %bytes = load i64, ptr %bytes.at
  %behind = mul i64 %i, %bytes
  %copy = getelementptr i8, ptr %copies, i64 %behind
  %to = select i1 %return, ptr %state, ptr %copy
  %from = select i1 %return, ptr %copy, ptr %state
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  %row.next = getelementptr i64, ptr %row, i64 {COPIED}
  br label %next
end:
  ret void
}}"""


@functools.cache
def _function() -> tuple[code.Code, Any]:
    (found,) = code.load([code.Source(SWEEP, frozenset(), ("sweep",))])
    kinds = [ctypes.c_void_p] * 10 + [ctypes.c_int64] * 4
    return found, ctypes.CFUNCTYPE(None, *kinds)(found.addresses["sweep"])


def pieces_of(count: int, slots: int) -> int | None:
    """How long the pieces of so many steps are, where at most `slots` carries are remembered: those at the pieces' ends and
    those of a piece's steps together; None where there are too many steps for that."""
    piece = max(math.isqrt(count), min(slots // 2, count))
    while piece + -(-count // piece) > slots:
        piece -= 1
        if piece * 4 < math.isqrt(count) or piece < 1:
            return None
    return piece


def sweep(
    loops: tuple[ScalarLoop, ScalarLoop, ScalarLoop],
    constants: Sequence[Any],
    starts: Sequence[Sequence[Any]],
    slices: Sequence[Any],
    back_constants: Sequence[Any],
    cotangents: Sequence[Any],
    back_slices: Sequence[Any],
    stacks: Sequence[Any],
    parts: Sequence[range],
    piece: int,
) -> list[Any]:
    """Go back over the parts of a loop, the last one first; what the cotangents of the carries are before the first.

    loops         forward; forward, with the carries before each step stacked; backward
    constants, starts, slices                what goes forward: `starts` has the carries before each part's first step
    back_constants, cotangents, back_slices  what goes back, the carries before each step apart, which are its first slices
    stacks        where the backward loop writes what it stacks

    All are arrays in C order. Slices and stacks are whole; `parts` have the numbers of theirs.
    """
    run, trace, back = loops
    now = [np.array(x, order="C") for x in starts[-1]]
    going = [np.array(x, order="C") for x in cotangents]
    pieces = -(-max(map(len, parts)) // piece)
    copies = [np.empty((pieces, *x.shape), x.dtype) for x in now]
    traced = [np.empty((piece, *x.shape), x.dtype) for x in now]
    run_table = run.table([*constants, *now, *slices, *now])
    trace_table = trace.table([*constants, *now, *slices, *now, *traced])
    back_table = back.table([*back_constants, *going, *traced, *back_slices, *going, *stacks])
    behind = len(constants) + len(now) + len(slices) + len(now)
    first = len(back_constants) + len(going)
    relative = np.array(
        [
            (ctypes.addressof(table) + 8 * (at + k), address(x), x[0].nbytes)
            for table, at in ((trace_table, behind), (back_table, first))
            for k, x in enumerate(traced)
        ],
        np.int64,
    ).reshape(-1, RELATIVE)
    copied = np.array([(address(x), address(y), x.nbytes) for x, y in zip(now, copies, strict=True)], np.int64)
    _, function = _function()
    given = (
        run.address, ctypes.addressof(run_table), trace.address, ctypes.addressof(trace_table), back.address,
        ctypes.addressof(back_table), address(relative), address(relative) + relative.nbytes, address(copied),
        address(copied) + copied.nbytes,
    )  # fmt: skip
    for state, steps in zip(reversed(starts), reversed(parts), strict=True):
        for x, value in zip(now, state, strict=True):
            x[...] = value
        function(*given, steps.start, steps.step, piece, len(steps))
    return going
