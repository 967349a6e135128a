"""Loops over large bodies: the compiled program of a body, run for one step after the other inside one native call.

Before each step a row for every array of the caller's writes down where it is this time: a constant where it always is, a slice
and what is stacked so many bytes further on, a carry in one of two buffers in turns, or in one where each element is written
over the one that it is made of. So a step costs no Python, and what is stacked is written where it belongs. What reads these rows
is `stepping.c`.
"""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint import _forks
from adjoint._tuples import NamedTuple
from adjoint.compiler.fuse.kinds import View, is_contiguous
from adjoint.compiler.programs import PLACE
from adjoint.compiler.tables import Unfinished
from adjoint.dtypes import DTYPES
from adjoint.execution.native.frames import Frame, loop_address
from adjoint.execution.native.program import Native
from adjoint.runtime import code
from adjoint.runtime.memory import ALIGNMENT, Pages, address, whole_pages
from adjoint.runtime.pool import pool
from adjoint.shapes import size_of

__all__ = ["Stepper", "stepper_of"]

Array = np.ndarray[Any, Any]
Where = tuple[int, int, int]  # an address, bytes further on each step, bytes further on in odd steps

SECONDS = 0.05  # between two looks at signals
ROW = 4  # numbers: position in the table, address, bytes further on each step, bytes further on in odd steps
MOST_COPIES = 1024  # of a result in a step
COPY = 7  # numbers: those of the target and of the source without the position, and how many bytes
PATCH = 3  # numbers: of a loop within another program an operand of the unit, bytes to add, and where its address goes


@functools.cache
def driver() -> tuple[code.Code, Any]:
    """The code of `stepping.c`, and what does the steps."""
    (found,) = code.load([code.in_c("stepping", ("drive", "scan", "choose", "nothing", "sweep"))])
    integer, pointer = ctypes.c_int64, ctypes.c_void_p
    kinds = (*[pointer] * 7, integer, integer, pointer, pointer, pointer)
    return found, ctypes.CFUNCTYPE(integer, *kinds)(found.addresses["drive"])


def stepper_of(program: Any, order: Sequence[int], picks: Sequence[int]) -> Stepper | None:
    """What runs a body's program step by step; None where that isn't one stretch of native code on whole arrays."""
    if not isinstance(program, Native) or not program.alone or len(program.calls) != 1:
        return None
    if any([type(check) is Unfinished for check in program.table.checks]):
        return None
    fusion = program.fusion
    made: dict[int, Made] = {}
    for slot in fusion.results:
        if slot in fusion.objects:
            return None
        view = fusion.views[slot]
        starts = starts_of(view)
        if starts is None or (view.root >= len(order) and view.root not in program.fresh):
            return None
        size = size_of(view.shape)
        whole = not view.offset and len(starts) == 1 and size == size_of(fusion.shapes[view.root])
        made[slot] = Made(view.root, starts, size // max(len(starts), 1), whole)
    return Stepper(program, order, [made[fusion.results[k]] for k in picks])


class Made(NamedTuple):
    """What a result is made of: stretches of a root's elements, as long as each other, by their first elements. `whole`: of all,
    in order."""

    root: int
    starts: Array
    length: int
    whole: bool

    def copies(self, target: Where, source: Where, itemsize: int) -> Array:
        """Rows for what is to be copied, from where the root is."""
        rows = np.empty((len(self.starts), COPY), np.int64)
        rows[:, 0] = target[0] + np.arange(len(rows)) * (self.length * itemsize)
        rows[:, 1:3], rows[:, 4:6] = target[1:], source[1:]
        rows[:, 3] = source[0] + self.starts * itemsize
        rows[:, 6] = self.length * itemsize
        return rows


def starts_of(view: View) -> Array | None:
    """The first elements of the stretches that make up a view, in order; None where these are many."""
    size = size_of(view.shape)
    if not size or is_contiguous(view):
        return np.array([view.offset], np.int64)
    row = view.shape[-1] if view.strides[-1] == 1 else 1
    if size > MOST_COPIES * row:
        return None
    at = np.full(view.shape, view.offset, np.int64)
    for axis, (count, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        at += (np.arange(count) * stride).reshape(-1, *[1] * (len(view.shape) - 1 - axis))
    return at.ravel()[::row]


def own_frame(program: Native, threads: int) -> Frame:
    """A frame with memory of its own, in which nothing is moved before a run."""
    frame = Frame(program, threads)
    if frame.block_size:
        frame.use(Pages(whole_pages(frame.block_size)).array, program)
    frame.all_records[0, PLACE["MOVES"]] = frame.all_records[0, PLACE["MOVES_END"]] = 0
    return frame


def aligned(likes: Sequence[Any]) -> list[Array]:
    """Arrays of the same kinds whose vectors don't straddle cache lines, in one piece of memory, not initialized."""
    starts, size = [], 0
    for x in likes:
        starts.append(size)
        size += -(-x.nbytes // ALIGNMENT) * ALIGNMENT
    raw = np.empty(size + ALIGNMENT, np.uint8)
    first = -address(raw) % ALIGNMENT
    return [np.ndarray(x.shape, x.dtype, raw, first + start) for x, start in zip(likes, starts, strict=True)]


class Stepper:
    """A body's program with a frame of its own. One loop at a time; `run` gives None while another one runs."""

    def __init__(self, program: Native, order: Sequence[int], outputs: list[Made]) -> None:
        self.program = program
        self.lock = _forks.lock()
        self.inputs = {k: leaf for leaf, k in enumerate(order)}  # the root that each of the body's inputs is
        self.outputs = outputs
        self.inner: dict[int, Array] = {}  # arrays that are read by views alone
        self.frame: Frame | None = None

    def run(
        self,
        constants: Sequence[Any],
        carries: Sequence[Any],
        slices: Sequence[Any],
        stacks: Sequence[Any],
        steps: range,
    ) -> list[Any] | None:
        """The carries after all steps; what is stacked is written into `stacks`. All are arrays in C order."""
        found = self.run_while(constants, carries, slices, stacks, steps, asks=False)
        return None if found is None else found[0]

    def run_while(
        self, constants: Sequence[Any], carries: Sequence[Any], slices: Sequence[Any], stacks: Sequence[Any], steps: range,
        asks: bool = True,
    ) -> tuple[list[Any], int, bool] | None:  # fmt: skip
        """The carries after the last step, how many were done, and whether the next one failed. If it `asks`, the last output of
        the body is a condition, and the steps end before that for which it doesn't hold; else they are all done, or raise."""
        if not self.lock.acquire(blocking=False):
            return None
        try:
            frame = self.prepared()
            buffers = self.buffers(len(constants), carries, asks)
            answer = np.zeros(1, np.bool_) if asks else None
            rows, copies = self.placed(constants, buffers, slices, stacks, steps, answer)
            done = self.drive(frame, rows, copies, len(steps), answer)
            failed = bool(frame.status.value or frame.failure[0])
            frame.failure[0] = frame.status.value = 0
            return [pair[done % 2] for pair in buffers], done, failed
        finally:
            self.lock.release()

    def buffers(self, constants: int, carries: Sequence[Any], apart: bool) -> list[tuple[Array, Array]]:
        """Two arrays for each carry, the first with its value: see `pairs`."""
        found = self.pairs(constants, carries, apart)
        for (a, _), x in zip(found, carries, strict=True):
            a[...] = x
        return found

    def pairs(self, constants: int, likes: Sequence[Any], apart: bool) -> list[tuple[Array, Array]]:
        """Two arrays for each carry, of these kinds: one and the same where a step may write it in place, unless they must be
        `apart`, so that what a step has begun with stays."""
        in_place = [False] * len(likes) if apart else self.in_place(constants, len(likes))
        others = iter(aligned([*likes, *[x for x, one in zip(likes, in_place, strict=True) if not one]]))
        first = [next(others) for _ in likes]
        return [(a, a if one else next(others)) for a, one in zip(first, in_place, strict=True)]

    def in_place(self, constants: int, carries: int) -> list[bool]:
        """For each carry, whether a step may write it where it was read."""
        found: list[bool] = []
        taken: set[int] = set()
        for k, made in enumerate(self.outputs[:carries]):
            shares = self.program.shares.get(made.root, ())
            found.append(made.whole and made.root not in taken and self.inputs.get(constants + k) in shares)
            taken.add(made.root)
        return found

    def prepared(self) -> Frame:
        """The frame, for as many threads as there are now."""
        program = self.program
        threads = pool.prepare() if program.launches else 1
        frame = self.frame
        if frame is None or frame.threads != threads:
            frame = self.frame = own_frame(program, threads)
        return frame

    def placed(
        self, constants: Sequence[Any], buffers: Sequence[tuple[Any, Any]], slices: Sequence[Any], stacks: Sequence[Any],
        steps: range, answer: Array | None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Where everything is in each step: rows for the table, and what is to be copied."""
        inputs: list[Where] = [(address(x), 0, 0) for x in constants]
        inputs += [(address(a), 0, address(b) - address(a)) for a, b in buffers]
        results = [(address(b), 0, address(a) - address(b)) for a, b in buffers]
        for wheres, arrays in ((inputs, slices), (results, stacks)):
            for x in arrays:
                nbytes = x.itemsize * size_of(x.shape[1:])
                wheres.append((address(x) + steps.start * nbytes, steps.step * nbytes, 0))
        if answer is not None:
            results.append((address(answer), 0, 0))
        return self.rows(inputs, results, self.inner)

    def rows(self, inputs: Sequence[Where], results: Sequence[Where], inner: dict[int, Array]) -> tuple[Array, Array]:
        """Where everything is in each step, given where inputs and results are. `inner`: arrays that are read by views alone."""
        where = {leaf: inputs[k] for k, leaf in self.inputs.items()}
        fusion = self.program.fusion
        copies: list[Array] = []
        for made, target in zip(self.outputs, results, strict=True):
            if made.whole:
                where.setdefault(made.root, target)
        for made, target in zip(self.outputs, results, strict=True):
            root, dtype = made.root, DTYPES[fusion.dtypes[made.root]].dtype
            if root not in where:  # no result has all of it
                inner[root] = np.empty(fusion.shapes[root], dtype)
                where[root] = address(inner[root]), 0, 0
            if where[root] is not target:
                copies.append(made.copies(target, where[root], dtype.itemsize))
        rows = [
            (at, start + nbytes, stride, other)
            for root, (start, stride, other) in where.items()
            for at, nbytes in self.program.places.get(root, ())
        ]
        moved = np.concatenate(copies) if copies else np.empty((0, COPY), np.int64)
        return np.array(rows, np.int64).reshape(-1, ROW), moved

    def drive(self, frame: Frame, rows: Array, copies: Array, count: int, answer: Array | None) -> int:
        """Do the steps; how many were done. One that fails raises, unless the steps end by themselves."""
        _, drive = driver()
        done, part = 0, 1
        while done < count:
            begun, before = time.perf_counter(), done
            last = min(done + part, count)
            done = drive(loop_address(), frame.records[0], address(frame.table), address(rows),
                         address(rows) + rows.nbytes, address(copies), address(copies) + copies.nbytes, done, last,
                         ctypes.addressof(frame.failure), ctypes.addressof(frame.status),
                         None if answer is None else address(answer))  # fmt: skip
            if answer is None and (frame.status.value or frame.failure[0]):
                self.program.fail(frame)
            if done < last:
                break
            each = (time.perf_counter() - begun) / max(done - before, 1)
            part = max(1, int(SECONDS / max(each, 1e-9)))
        return done
