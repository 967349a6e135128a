"""The reverse pass over a stretch of a loop within little memory, as one native call.

Given the carries before the first step, the loop runs forward and every so many steps its carries are remembered. Then, from
the last of these pieces to the first, a piece is run again, the carries before each of its steps stacked, and gone through
backwards. The three loops are those of `scalars`, and what calls them is `stepping.c`.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.execution.native.stepping import driver
from adjoint.machine.scalars import ScalarLoop
from adjoint.runtime import code
from adjoint.runtime.memory import address

__all__ = ["pieces_of", "sweep"]

Array = np.ndarray[Any, Any]

RELATIVE = 3  # numbers: an entry of a table, an address and bytes a step


@functools.cache
def _function() -> tuple[code.Code, Any]:
    found, _ = driver()
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
