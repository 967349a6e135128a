"""How units without loops of their own run, as a value: moves, matrices and lines along an axis, in chunks of equal blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.excerpts import Along, Moving, Stacked
from adjoint.compiler.loops.build import ITEMSIZE, lanes_of
from adjoint.compiler.loops.butterflies import factors_of
from adjoint.compiler.loops.matrix_formulas import FORMULAS, formula_name
from adjoint.compiler.loops.routines import ROUTINES
from adjoint.compiler.schedule.chunks import evenly
from adjoint.compiler.targets.llvm import ELEMENT, PART
from adjoint.compiler.targets.target import tuning
from adjoint.primitives.linalg_kernels import BLOCK
from adjoint.shapes import size_of

PARTS = 8  # of a long move, so that all threads do it
SIDES = 2  # of rows that are written, if each has some lines: more would go through the rows again and again
LEAST_ROW = 256  # bytes
BESIDE = 512  # elements of lines side by side that go on together: what was made last is still near
COSTLY = 40  # operations of a step of logcumsumexp
LEAST_COLUMNS, MOST_RANGES = 128, 8  # of a triangular system with many right sides, whose columns are solved in ranges
BLOCKED_FROM = {
    "cholesky": 6 * BLOCK,
    "cholesky_adjoint": BLOCK + 1,
}  # rows of a matrix that is computed block by block
STRIPS = ((1024, 96, 128), (0, 64, 64))  # rows of a chunk, and columns of one, from so many rows of a matrix on


class BlockSchedule(NamedTuple):
    """All that is decided of such a unit: the way in which it is done, elements of a vector, chunks, and about how many
    nanoseconds all take together; of how many blocks `step` are a chunk, of which `together` are computed at once; columns of
    a matrix at a time, where not all are."""

    way: str
    lanes: int
    chunks: int
    time: float
    blocks: int = 1
    step: int = 1
    together: int = 1
    columns: int = 0

    def __str__(self) -> str:
        """In words: `side by side, vectors of 8, 2 of 16 at a time`."""
        words = [self.way, f"vectors of {self.lanes}"] if self.lanes > 1 else [self.way]
        words += [f"{self.together} together"] * (self.together > 1) + [f"{self.columns} columns"] * (self.columns > 0)
        return ", ".join([*words, f"{self.step} of {self.blocks} at a time"] if self.step < self.blocks else words)


def _divided(
    way: str, lanes: int, count: int, work: int, time: float, together: int = 1, columns: int = 0
) -> BlockSchedule:
    """So many blocks, each of about so much work."""
    step = evenly(-(-count // together), max(tuning().chunk // (work * together), 1)) * together
    return BlockSchedule(way, lanes, -(-count // step), time, count, step, together, columns)


def schedule_move(move: Moving) -> BlockSchedule:
    """How elements are moved. A long move of regions that are the whole, and don't meet, has chunks: of each region some rows or
    elements, and of many some regions. Of rows that indices select each chunk reads some, or writes some columns of all."""
    rows, time = move.indexed, 0.15 * move.size
    if rows is None:
        plain = move.number is None and not move.rewrites
        apart = sum([size_of(one.view.shape) for one in move.regions]) == move.size  # no region lies on another
        cut = plain and apart and time >= tuning().worth_helping
        return BlockSchedule("regions", lanes_of(move.plain_dtype, move.size), PARTS if cut else 1, time)
    if move.is_single:
        return BlockSchedule("single elements", lanes_of("int64", rows.length or rows.times), 1, time)
    lanes, moved = lanes_of(move.plain_dtype, move.tail), 0.3 * rows.times * move.tail
    if not rows.returns and moved >= tuning().worth_helping:
        if rows.reads:
            return BlockSchedule("rows", lanes, PARTS, moved)
        if move.tail * ITEMSIZE[PART.get(move.plain_dtype, move.plain_dtype)] >= LEAST_ROW:
            return BlockSchedule("columns", lanes, SIDES, moved)
    return BlockSchedule("rows", lanes, 1, time)


def schedule_formula(unit: Stacked) -> BlockSchedule:
    """How small matrices are computed, one in each lane."""
    count, lanes = size_of(unit.batch), lanes_of(unit.dtype, size_of(unit.batch))
    formula = FORMULAS[formula_name(unit.name, unit.attributes)]
    operations = formula.operations(unit.reads[0].shape[-1], unit.reads[-1].shape[-1])
    return _divided("a formula", lanes, count, 4 * operations, count * (operations / lanes + 10), lanes)


def schedule_routine(unit: Stacked) -> BlockSchedule:
    """How LAPACK is called for larger matrices: one after another, or a large one block by block."""
    parts, batch = 2 if unit.dtype in PART else 1, size_of(unit.batch)
    (rows, columns), right = unit.reads[0].shape[-2:], unit.reads[-1].shape[-1]
    lanes = lanes_of(PART.get(unit.dtype, unit.dtype), rows * columns * parts)
    operations = max(ROUTINES[unit.name].operations(rows, max(columns, right)), 1) * parts**2
    if batch == 1 and unit.dtype in ELEMENT and columns >= BLOCKED_FROM.get(unit.name, columns + 1):
        strip, width = next((strip, width) for least, strip, width in STRIPS if rows >= least)
        return BlockSchedule("blocks", lanes, -(-rows // strip), operations / 8 + 300, rows, strip, columns=width)
    width = right  # columns of what is solved for, in a chunk
    if unit.name == "solve_triangular" and batch < MOST_RANGES:
        width = max(LEAST_COLUMNS, -(-evenly(right, -(-right // MOST_RANGES)) // lanes) * lanes)
    ranges = -(-right // width)
    operations, count = -(-operations // ranges), batch * ranges
    return _divided("LAPACK", lanes, count, 4 * operations, count * (operations / 8 + 300), columns=width)


def schedule_transform(lines: Along) -> BlockSchedule:
    """How many lines of Fourier transforms go together."""
    core = lines.length if lines.name == "fft" else lines.length // 2
    rows, factors = lines.beside == 1, len(factors_of(core) or ())
    lanes = lanes_of(PART[lines.dtype], lines.times if rows else lines.beside)
    count = -(-lines.times // lanes) if rows else -(-lines.beside // lanes) * lines.times
    time = count * lines.length * (factors + 2) * 1.5
    return _divided("rows" if rows else "columns", lanes, count, 4 * lines.length * lanes * factors, time)


def schedule_running(runs: Along) -> BlockSchedule:
    """How running sums and their kin go along their lines."""
    widest, n, costs = lanes_of(runs.dtype), runs.length, COSTLY if runs.name == "logcumsumexp" else 4
    if runs.beside > 1:
        way, lanes = "side by side", lanes_of(runs.dtype, runs.beside)
        count, work = -(-runs.beside // BESIDE) * runs.times, n * min(runs.beside, BESIDE)
    elif runs.name == "logcumsumexp" and runs.times < widest:
        way, lanes, count, work = "by doubling", lanes_of(runs.dtype, n), runs.times, n
    else:
        way, lanes = "turned", lanes_of(runs.dtype, runs.times) if runs.times >= widest else 1
        count, work = -(-runs.times // lanes), n * lanes
    return _divided(way, lanes, count, costs * work, count * work * costs / 4)


def schedule_search(searches: Along) -> BlockSchedule:
    """How many values of a row are searched for at a time."""
    values, lanes = searches.attributes[1], lanes_of("int64", searches.attributes[1])  # positions have 64 bits
    cost = max(2 * searches.length.bit_length(), 1)  # nanoseconds of a value, or so
    step = min(max(tuning().chunk // cost // lanes, 1) * lanes, values)
    chunks = -(-values // step) * searches.times
    return BlockSchedule("searches", lanes, chunks, values * searches.times * cost / 4, values, step)


def schedule_ranks(ranks: Along) -> BlockSchedule:
    """How many lines are ordered at a time."""
    lanes, lines = lanes_of(ranks.dtype, ranks.length), ranks.beside * ranks.times
    cost = max(ranks.length * ranks.length // lanes, 1)
    return _divided("ranks", lanes, lines, cost, float(lines * cost))


# By the kinds of keys
BLOCKS: dict[str, Callable[[Any], BlockSchedule]] = {
    "move": schedule_move, "matrices": schedule_formula, "factors": schedule_routine, "transform": schedule_transform,
    "running": schedule_running, "search": schedule_search, "ranks": schedule_ranks,
}  # fmt: skip
