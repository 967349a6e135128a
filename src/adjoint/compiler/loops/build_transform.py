"""Units of Fourier transforms along one axis: as many lines as a vector has lanes go through the whole transform together.

Lines that lie side by side are loaded as they lie; those whose own elements lie side by side are turned in registers on the way
in and out. In between their numbers stand in the thread's own memory, line by line in the lanes: a radix's pass reads and writes
the same places, the first one reads the source and the last one, which knows the order, writes the result (W. Gentleman and
G. Sande, AFIPS Conf. Proc. 29 (1966), 563). A transform of real numbers of even length is a complex one of half as many, of which
the two halves of the spectrum are made or which is made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from adjoint.compiler.excerpts import Along
from adjoint.compiler.loops import butterflies, complex_math
from adjoint.compiler.loops.build import ITEMSIZE, Complex, Value
from adjoint.compiler.schedule.blocks import BlockSchedule
from adjoint.compiler.tables import Arguments, UnitWriter
from adjoint.compiler.targets.llvm import ELEMENT, PART

Source = Callable[[str], Complex]
Sink = Callable[[str, Complex], None]


class TransformWriter(UnitWriter):
    """Writes the function of a unit of transforms: fft, rfft or irfft. `length` is that of the real numbers, if one side has
    some; attributes say whether the source has, whether it is an inverse one, and by how much it is multiplied."""

    def __init__(self, lines: Along, arguments: Arguments, how: BlockSchedule) -> None:
        super().__init__(arguments, how)
        self.lines = lines
        self.part = PART[lines.dtype]
        self.halved = lines.name != "fft"
        self.core = lines.length // 2 if self.halved else lines.length  # numbers of the complex transform
        self.beside = lines.times if how.way == "rows" else lines.beside  # lines that may go together
        self.real, inverse, scale = lines.attributes
        self.scale, self.source = float.fromhex(scale), lines.reads[0][0]
        self.inverse = inverse or lines.name == "irfft"
        factors = butterflies.factors_of(self.core)
        assert factors is not None
        self.factors = factors
        self.read = self.core + 1 if lines.name == "irfft" else lines.length if lines.name == "rfft" else self.core
        self.written = self.core + 1 if lines.name == "rfft" else lines.length if lines.name == "irfft" else self.core

    @property
    def lanes(self) -> int:
        """Lines that are transformed together."""
        return self.e.lanes

    def prepare(self) -> None:
        size = 2 * (self.core + 1) * self.lanes
        self.memory, self.other = [self.inputs.own(size * ITEMSIZE[self.part]) for _ in range(2)]

    def block(self, i: str) -> None:
        if self.how.way == "rows":  # the elements of a line lie side by side
            self.block_of_rows(i)
        else:
            self.block_of_columns(i)

    def array(self, number: int, offset: str, real: bool) -> str:
        """Where an array's elements from an offset on are."""
        by = offset if real else self.e.times(offset, 2)
        return self.e.at(self.pointer(number), by, ELEMENT[self.part])

    # Lines whose elements lie side by side

    def block_of_rows(self, block: str) -> None:
        """So many rows, where they end the last one in several lanes."""
        e, last = self.e, self.inputs.number(self.beside - 1, "last line")
        first = e.times(block, self.lanes)
        places = [e.index("umin", e.plus(first, q), last) if self.beside > 1 else "0" for q in range(self.lanes)]
        kind, real_result = self.lines.name, self.lines.name == "irfft"
        sources = [self.array(self.source, e.times(at, self.read), self.real) for at in places]
        results = [self.array(self.lines.result, e.times(at, self.written), real_result) for at in places]
        spread = self.real and not self.halved  # real numbers that become complex ones
        self.turn_in(sources, self.read * (1 if self.real else 2), 2 if spread else 1)
        if kind == "irfft":
            self.join_halves(self.from_memory(self.memory), self.to_memory(self.memory))
        source = self.real_from_memory if spread else self.from_memory(self.memory)
        self.passes(source, self.to_memory(self.other))
        if kind == "rfft":
            self.part_halves(self.from_memory(self.other), self.to_memory(self.other))
        self.turn_out(results, self.written * (1 if real_result else 2))

    def turn_in(self, sources: list[str], size: int, apart: int) -> None:
        """Rows of real numbers into memory, so that those at one place lie side by side, each number so many vectors apart."""

        def some(at: str, count: int) -> None:
            lines = [self.e.load(row, at, self.part, 1) for row in sources]
            for k, value in enumerate(self.e.transposed(lines)[:count]):
                place = self.e.times(self.e.plus(at, k), apart * self.lanes)
                with self.e.masked(None):
                    self.e.store(value, self.memory, place)

        self.over(size, str(size // self.lanes * self.lanes), some)

    def turn_out(self, results: list[str], size: int) -> None:
        """Back again."""

        def some(at: str, count: int) -> None:
            with self.e.masked(None):
                places = [self.e.times(self.e.plus(at, k), self.lanes) for k in range(count)]
                lines = [self.e.load(self.other, place, self.part, 1) for place in places]
            lines += [lines[0]] * (self.lanes - count)
            for row, value in zip(results, self.e.transposed(lines), strict=True):
                self.e.store(value, row, at)

        self.over(size, str(size // self.lanes * self.lanes), some)

    # Lines that lie side by side

    def block_of_columns(self, block: str) -> None:
        """So many columns, where they end under a mask."""
        e, lines = self.e, self.lines
        groups = self.inputs.number(-(-self.beside // self.lanes), "groups")
        which, column = e.index("udiv", block, groups), e.times(e.index("urem", block, groups), self.lanes)
        beside = self.inputs.number(lines.beside, "beside", 9 + lines.beside)
        start = [e.plus(e.times(which, e.times(beside, size)), column) for size in (self.read, self.written)]
        source = self.array(self.source, start[0], self.real)
        result = self.array(lines.result, start[1], lines.name == "irfft")
        self.masks: tuple[str | None, str | None, str | None] = (None, None, None)
        if self.beside % self.lanes:
            left = e.index("umin", e.index("sub", beside, column), self.lanes)
            both = e.times(left, 2)
            first = e.index("umin", both, self.lanes)
            self.masks = (e.below(left), e.below(first), e.below(e.index("sub", both, first)))

        def row(pointer: str, k: str, parts: int) -> str:
            return e.at(pointer, e.times(k, e.times(beside, parts)), ELEMENT[self.part])

        def real_source(k: str) -> Complex:
            return Complex(self.load(row(source, k, 1)), e.constant(0.0, self.part), lines.dtype)

        def pair_source(k: str) -> Complex:
            at = row(source, e.times(k, 2), 1)
            return Complex(self.load(at), self.load(e.at(at, beside, ELEMENT[self.part])), lines.dtype)

        def pair_sink(k: str, x: Complex) -> None:
            at = row(result, e.times(k, 2), 1)
            self.store(x.re, at)
            self.store(x.im, e.at(at, beside, ELEMENT[self.part]))

        def complex_source(k: str) -> Complex:
            return self.load_complex(row(source, k, 2))

        def complex_sink(k: str, x: Complex) -> None:
            self.store_complex(x, row(result, k, 2))

        if lines.name == "rfft":
            self.passes(pair_source, self.to_memory(self.other))
            self.part_halves(self.from_memory(self.other), complex_sink)
        elif lines.name == "irfft":
            self.join_halves(complex_source, self.to_memory(self.memory))
            self.passes(self.from_memory(self.memory), pair_sink)
        else:
            self.passes(real_source if self.real else complex_source, complex_sink)

    def load(self, pointer: str, mask: int = 0, offset: int = 0) -> Value:
        with self.e.masked(self.masks[mask]):
            return self.e.load(pointer, str(offset), self.part, 1)

    def store(self, x: Value, pointer: str, mask: int = 0, offset: int = 0) -> None:
        with self.e.masked(self.masks[mask]):
            self.e.store(x, pointer, str(offset))

    def load_complex(self, pointer: str) -> Complex:
        """Numbers side by side, their parts taken apart."""
        lanes = self.lanes
        a, c = self.load(pointer, 1), self.load(pointer, 2, lanes)
        even, odd = range(0, 2 * lanes, 2), range(1, 2 * lanes, 2)
        return Complex(self.e.shuffle(a, c, even), self.e.shuffle(a, c, odd), self.lines.dtype)

    def store_complex(self, x: Complex, pointer: str) -> None:
        """As they were read."""
        lanes = self.lanes
        both = [k for i in range(lanes) for k in (i, lanes + i)]
        self.store(self.e.shuffle(x.re, x.im, both[:lanes]), pointer, 1)
        self.store(self.e.shuffle(x.re, x.im, both[lanes:]), pointer, 2, lanes)

    # Numbers in the thread's own memory

    def from_memory(self, memory: str) -> Source:
        def source(k: str) -> Complex:
            at = self.e.times(k, 2 * self.lanes)
            parts = (
                self.e.load(memory, at, self.part, 1),
                self.e.load(memory, self.e.plus(at, self.lanes), self.part, 1),
            )
            return Complex(*parts, self.lines.dtype)

        return source

    def to_memory(self, memory: str) -> Sink:
        def sink(k: str, x: Complex) -> None:
            at = self.e.times(k, 2 * self.lanes)
            self.e.store(x.re, memory, at)
            self.e.store(x.im, memory, self.e.plus(at, self.lanes))

        return sink

    def real_from_memory(self, k: str) -> Complex:
        re = self.e.load(self.memory, self.e.times(k, 2 * self.lanes), self.part, 1)
        return Complex(re, self.e.constant(0.0, self.part), self.lines.dtype)

    # The complex transform

    def passes(self, source: Source, sink: Sink) -> None:
        """All passes: between the first one's source and the last one's result the numbers stay in memory."""
        # Where the parts are exchanged on the way into memory is known to who puts them there: see `join_halves`.
        factors, kind = self.factors, self.lines.name
        turn = self.inverse and kind == "fft"
        given: Source = (lambda k: butterflies.exchanged(source(k))) if turn else source
        by = self.scale if kind == "fft" else 1.0

        def taken(k: str, x: Complex) -> None:
            x = complex_math.scaled(self.e, x, by)
            sink(k, butterflies.exchanged(x) if self.inverse else x)

        inner, into = self.from_memory(self.memory), self.to_memory(self.memory)
        length, reader = self.core, given
        for radix in factors[:-1]:
            self.one_pass(radix, length, reader, into)
            length, reader = length // radix, inner
        self.last_pass(factors, reader, taken)

    def one_pass(self, radix: int, length: int, source: Source, sink: Sink) -> None:
        """Each block of `length` numbers becomes `radix` blocks, in place."""
        e, core = self.e, self.core
        apart = length // radix
        j_s = np.arange(apart)[:, None] * np.arange(1, radix)
        table = self.table(j_s.ravel(), length)
        with e.loop("0", str(apart), 1) as j:
            turns = [self.twiddle(table, e.plus(e.times(j, radix - 1), s)) for s in range(radix - 1)]
            with ExitStack() as stack:
                base = j if length == core else e.plus(j, stack.enter_context(e.loop("0", str(core), length)))
                places = [e.plus(base, q * apart) for q in range(radix)]
                found = butterflies.butterfly(e, [source(place) for place in places])
                for s, (place, x) in enumerate(zip(places, found, strict=True)):
                    sink(place, butterflies.multiply(e, x, *turns[s - 1]) if s else x)

    def last_pass(self, factors: list[int], source: Source, sink: Sink) -> None:
        """The last radix's, whose results go where they belong: which one a block's are, its number says backwards."""
        e, radix = self.e, factors[-1]
        begin, place, apart, step = "0", "0", self.core, 1
        with ExitStack() as stack:
            for factor in factors[:-1]:
                apart //= factor
                digit = stack.enter_context(e.loop("0", str(factor), 1))
                begin, place = e.plus(begin, e.times(digit, apart)), e.plus(place, e.times(digit, step))
                step *= factor
            found = butterflies.butterfly(e, [source(e.plus(begin, q)) for q in range(radix)])
            for s, x in enumerate(found):
                sink(e.plus(place, s * step), x)

    # Tables

    def table(self, powers: Any, n: int) -> str:
        """Where powers of a root of unity stand, in the unit's block."""
        parts = [np.asarray(x, self.part) for x in butterflies.roots_of_unity(powers, n)]
        numbers = np.stack(parts, -1).ravel().view(np.int64)
        begin = self.inputs.listed(list(numbers.tolist()))
        with self.inputs.at_the_beginning():
            return self.e.at("%args", begin, "i64")

    def twiddle(self, table: str, k: str) -> tuple[Value, Value]:
        """The k-th of them, in all lanes."""
        at = self.e.times(k, 2)
        return self.e.load_scalar(table, at, self.part), self.e.load_scalar(table, self.e.plus(at, 1), self.part)

    # Halves of the spectrum of real numbers

    def part_halves(self, source: Source, sink: Sink) -> None:
        """The transform of n real numbers from that of n/2 complex ones, z[j] = x[2j] + i x[2j + 1]."""
        e, m = self.e, self.core
        zero, by = e.constant(0.0, self.part), self.scale
        ends = source("0")
        first = Complex(e.add(ends.re, ends.im), zero, ends.dtype)
        last = Complex(e.subtract(ends.re, ends.im), zero, ends.dtype)
        if m % 2 == 0:
            middle = complex_math.scaled(e, complex_math.conjugate(e, source(str(m // 2))), by)
        if m > 2:
            table = self.table(np.arange(m // 2 + m % 2), self.lines.length)
            with e.loop("1", str(m // 2 + m % 2), 1) as k:
                other = e.index("sub", str(m), k)
                a, c = source(k), complex_math.conjugate(e, source(other))
                even = complex_math.scaled(e, complex_math.add(e, a, c), 0.5 * by)
                odd = complex_math.scaled(e, butterflies.turned(e, complex_math.subtract(e, a, c)), 0.5 * by)
                odd = butterflies.multiply(e, odd, *self.twiddle(table, k))
                sink(k, complex_math.add(e, even, odd))
                sink(other, complex_math.conjugate(e, complex_math.subtract(e, even, odd)))
        sink("0", complex_math.scaled(e, first, by))
        sink(str(m), complex_math.scaled(e, last, by))
        if m % 2 == 0:
            sink(str(m // 2), middle)

    def join_halves(self, source: Source, sink: Sink) -> None:
        """What `part_halves` undoes, unscaled, with parts exchanged for the inverse transform. Of the ends the imaginary parts
        aren't read."""
        e, m = self.e, self.core
        by = self.scale

        def put(k: str, x: Complex) -> None:
            sink(k, butterflies.exchanged(complex_math.scaled(e, x, by)))

        first, last = source("0"), source(str(m))
        ends = Complex(e.add(first.re, last.re), e.subtract(first.re, last.re), first.dtype)
        if m % 2 == 0:
            middle = complex_math.scaled(e, complex_math.conjugate(e, source(str(m // 2))), 2.0)
        if m > 2:
            table = self.table(np.arange(m // 2 + m % 2), self.lines.length)
            with e.loop("1", str(m // 2 + m % 2), 1) as k:
                other = e.index("sub", str(m), k)
                a, c = source(k), complex_math.conjugate(e, source(other))
                re, im = self.twiddle(table, k)
                even, odd = (
                    complex_math.add(e, a, c),
                    butterflies.multiply(e, complex_math.subtract(e, a, c), re, e.negative(im)),
                )
                # even + i odd, and of the other one conj(even) + i conj(odd)
                put(k, Complex(e.subtract(even.re, odd.im), e.add(even.im, odd.re), a.dtype))
                put(other, Complex(e.add(even.re, odd.im), e.subtract(odd.re, even.im), a.dtype))
        put("0", ends)
        if m % 2 == 0:
            put(str(m // 2), middle)
