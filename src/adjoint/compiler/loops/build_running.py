"""Units of running sums, products, extremes and recurrences: each result along an axis is made of the one before it.

Lines that lie side by side go on together, a row of vectors after the other. Of lines whose own elements lie side by side as
many as a vector has lanes are turned in registers, and a single one is computed number by number, in vectors of one lane. Only a
running sum of exponentials, whose steps take long, is then computed by vectors: over 2, 4, 8 ... neighbours in a vector, and then
with what came before all of them (W. Hillis and G. Steele, Comm. ACM 29 (1986), 1170).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from adjoint.compiler.excerpts import Along
from adjoint.compiler.loops import vector_math
from adjoint.compiler.loops.build import ITEMSIZE, Value, mask_of
from adjoint.compiler.loops.running_formulas import FORMULAS, State
from adjoint.compiler.schedule.blocks import BESIDE, BlockSchedule
from adjoint.compiler.tables import Arguments, UnitWriter


class RunningWriter(UnitWriter):
    """Writes the function of a unit."""

    def __init__(self, runs: Along, arguments: Arguments, how: BlockSchedule) -> None:
        super().__init__(arguments, how)
        self.runs = runs
        self.formula = FORMULAS[runs.name]

    def prepare(self) -> None:
        self.length = self.inputs.number(self.runs.length, "length", self.runs.length + 9)

    def block(self, i: str) -> None:
        if self.how.way == "side by side":
            self.side_by_side(i)
        elif self.how.way == "by doubling":
            self.doubling(i)
        else:
            self.turned(i)

    def offset(self, base: str, i: str, backwards: bool, by: str = "1") -> str:
        """Where an element is, whose line begins at a base."""
        return self.e.index("sub" if backwards else "add", base, i if by == "1" else self.e.times(i, by))

    def side_by_side(self, block: str) -> None:
        """Some of the lines beside each other."""
        e, runs, lanes = self.e, self.runs, self.e.lanes
        groups = self.inputs.number(-(-runs.beside // BESIDE), "groups")
        beside = self.inputs.number(runs.beside, "beside", runs.beside + 9)
        which, begin = e.index("udiv", block, groups), e.times(e.index("urem", block, groups), BESIDE)
        end = e.index("umin", e.plus(begin, BESIDE), beside)
        base = e.times(which, e.times(beside, self.length))
        out = self.pointer(runs.result)

        carried: list[str] = []

        def row(i: str, is_first: bool) -> None:
            with e.loop(begin, end, lanes) as j:
                with e.masked(e.below(e.index("sub", end, j)) if runs.beside % lanes else None):
                    given = [e.load(self.pointer(number), self.offset(e.plus(base, j), i, backwards, beside), runs.dtype, 1)
                             for number, backwards in runs.reads[-1 if is_first else 0 :]]  # fmt: skip
                    place = e.index("sub", j, begin)
                    if is_first:
                        state = self.formula.start(e, given[0])
                        carried.extend([self.inputs.own(BESIDE * ITEMSIZE[runs.dtype]) for _ in state])
                    else:
                        state = self.formula.step(e, tuple([e.load(c, place, runs.dtype, 1) for c in carried]), *given)
                    for pointer, value in zip(carried, state, strict=True):
                        e.store(value, pointer, place)
                    e.store(
                        self.formula.result(e, state), out, self.offset(e.plus(base, j), i, backwards=False, by=beside)
                    )
                e.known = {}

        row("0", True)
        if runs.length > 1:
            with e.loop("1", self.length, 1) as i:
                row(i, False)

    def carry(self, state: State) -> Callable[[], State]:
        """Variables for what is carried on; `self.carried` are they. Who reads them."""
        e = self.e
        self.carried = [e.variable(x) for x in state]
        return lambda: tuple([e.get(slot, self.runs.dtype) for slot in self.carried])

    def carry_on(self, state: State) -> None:
        for slot, x in zip(self.carried, state, strict=True):
            self.e.set(slot, x)

    def doubling(self, line: str) -> None:
        """A line, a vector at a time."""
        e, runs, lanes = self.e, self.runs, self.e.lanes
        base, out = e.times(line, self.length), self.pointer(runs.result)
        ((number, backwards),) = runs.reads
        dtype = runs.dtype
        zero, one, nothing = [e.constant(x, dtype) for x in (0.0, 1.0, -math.inf)]
        before = self.carry((nothing, zero))

        def some(i: str, count: int) -> None:
            x = self.several(number, base, i, count, backwards)
            largest, total = before()
            top = x
            for by in self.doublings():
                top = vector_math.maximum(e, self.moved(nothing, top, by), top)
            top = vector_math.maximum(e, largest, top)
            last = self.moved(largest, top, 1)
            smaller, rises = vector_math.exp_of_difference(e, x, last), e.compare("gt", x, last)
            factor, term = e.select(rises, smaller, one), e.select(rises, one, smaller)  # total by factor, and term
            for by in self.doublings():
                term = e.fma(factor, self.moved(zero, term, by), term)
                factor = e.multiply(factor, self.moved(one, factor, by))
            state = top, e.fma(factor, total, term)
            e.store(self.formula.result(e, state), out, e.plus(base, i))
            self.carry_on(tuple([e.shuffle(x, None, [lanes - 1] * lanes) for x in state]))
            e.known = {}

        self.over(runs.length, self.whole_vectors(), some)

    def doublings(self) -> list[int]:
        """1, 2, 4 ... below the number of lanes."""
        return [1 << k for k in range(self.e.lanes.bit_length() - 1)]

    def moved(self, before: Value, x: Value, by: int) -> Value:
        """The lanes moved up, others' first ones coming in, which are alike."""
        lanes = self.e.lanes
        return self.e.shuffle(before, x, [0] * by + [lanes + k for k in range(lanes - by)])

    def several(self, number: int, base: str, i: str, count: int, backwards: bool) -> Value:
        """So many elements of a line in their order, under the mask."""
        e, lanes = self.e, self.e.lanes
        if not backwards:
            return e.load(self.pointer(number), e.plus(base, i), self.runs.dtype, 1)
        x = e.load(self.pointer(number), e.plus(self.offset(base, i, backwards=True), 1 - count), self.runs.dtype, 1)
        return e.shuffle(x, None, [max(count - 1 - k, 0) for k in range(lanes)])

    def turned(self, block: str) -> None:
        """As many lines as there are lanes; where they end the last one is in several."""
        e, runs, lanes = self.e, self.runs, self.e.lanes
        last = self.inputs.number(runs.times - 1, "last line", runs.times + 9)
        first = e.times(block, lanes)
        places = [
            e.index("umin", e.plus(first, q), last) if runs.times % lanes and q else e.plus(first, q)
            for q in range(lanes)
        ]
        bases = [e.times(at, self.length) for at in places]
        out = self.pointer(runs.result)
        before: Callable[[], State] | None = None

        def some(i: str, count: int) -> None:
            given = [
                e.transposed([self.several(number, base, i, count, back) for base in bases])
                for number, back in runs.reads
            ]
            nonlocal before
            state, made = () if before is None else before(), []
            for k in range(count):
                xs = [operand[k] for operand in given]
                state = self.formula.step(e, state, *xs) if state else self.formula.start(e, xs[-1])
                made.append(self.formula.result(e, state))
                e.known = {}
            if before is None:
                before = self.carry(state)
            else:
                self.carry_on(state)
            for base, line in zip(bases, e.transposed([*made, *made[:1] * (lanes - count)]), strict=True):
                e.store(line, out, e.plus(base, i))

        first_ones = min(runs.length, lanes)
        with e.masked(mask_of(first_ones, lanes) if first_ones < lanes else None):
            some("0", first_ones)
        if runs.length > lanes:
            self.over(runs.length, self.whole_vectors(), some, lanes)

    def whole_vectors(self) -> str:
        """Where the whole vectors of a line end."""
        n = self.runs.length
        return self.inputs.number(n // self.e.lanes * self.e.lanes, "whole", n + 9)
