"""Units that search sorted rows, and that say in which order short lines are.

A search halves what is left of a row the same number of times for every value, so that a vector of values goes on together and
nothing is predicted. Elements of a line are ordered by their ranks: how many come before each one.
"""

from __future__ import annotations

from typing import Any

from adjoint.compiler.excerpts import Along
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import BITS_OF, ITEMSIZE, Emitter, Value
from adjoint.compiler.schedule.blocks import BlockSchedule
from adjoint.compiler.tables import Arguments, UnitWriter


def _wide(e: Emitter, number: str) -> Value:
    """A number of the unit in every lane."""
    return e.constant(int(number), "int64") if number.isdigit() else e.splat(number, "int64")


class SearchWriter(UnitWriter):
    """Writes the function of a search in sorted rows. Attributes say whether it finds the place after equal elements or before
    them, and how many values there are for each row."""

    def __init__(self, searches: Along, arguments: Arguments, how: BlockSchedule) -> None:
        super().__init__(arguments, how)
        self.searches = searches
        self.after, self.values = searches.attributes
        self.halvings = searches.length.bit_length()

    def write(self) -> list[L.Function]:
        """The function of a range of chunks."""
        e, given = self.e, self.searches
        lanes = e.lanes
        (one, _), (other, _) = given.reads
        rows, values, out = [self.pointer(number) for number in (one, other, given.result)]
        by = -(-self.values // self.how.step)
        parts, step = self.inputs.number(by, "parts", by), self.inputs.number(self.how.step, "step")
        count, length = self.inputs.number(self.values, "values"), self.inputs.number(given.length, "length")
        with self.inputs.at_the_beginning():
            all_of_it = _wide(e, length)
        with e.loop("%first", "%last", 1) as chunk:
            which, begin = e.index("udiv", chunk, parts), e.times(e.index("urem", chunk, parts), step)
            end, row = e.index("umin", e.plus(begin, step), count), e.times(which, length)
            base = e.times(which, count)
            with e.loop(begin, end, lanes) as i:
                with e.masked(e.below(e.index("sub", end, i)) if self.values % lanes else None):
                    x = e.load(values, e.plus(base, i), given.dtype, 1)
                    with e.masked(None):  # every lane searches for something: zeros where it is off
                        found = self.found(rows, row, x, all_of_it)
                    e.store(found, out, e.plus(base, i))
                e.known = {}
        return [self.inputs.function("unit")]

    def found(self, rows: str, row: str, x: Value, length: Value) -> Value:
        """How many elements of a row come before each value."""
        e = self.e
        place, nan = e.constant(0, "int64"), e.compare("uno", x, x) if x.kind == "f" else None
        for k in reversed(range(self.halvings)):
            there = e.add(place, 1 << k)
            inside = e.compare("le", there, length)
            last = e.select(inside, there, length)
            element = e.load(rows, e.plus(row, -1), x.dtype, last.name)
            place = e.select(e.both(inside, self.precedes(element, x, nan)), there, place)
        return place

    def precedes(self, element: Value, x: Value, nan: Value | None) -> Value:
        """Whether an element of a row comes before a value, NaN being the last of all."""
        e = self.e
        if self.after:
            return e.compare("le", element, x) if nan is None else e.either(e.compare("le", element, x), nan)
        smaller = e.compare("lt", element, x)
        return smaller if nan is None else e.either(smaller, e.both(nan, e.compare("eq", element, element)))


class RankWriter(UnitWriter):
    """Writes the function of an order, whose attribute says whether it is descending."""

    def __init__(self, ranks: Along, arguments: Arguments, how: BlockSchedule) -> None:
        super().__init__(arguments, how)
        self.ranks = ranks

    def prepare(self) -> None:
        e, ranks = self.e, self.ranks
        self.beside = self.inputs.number(ranks.beside, "beside")
        self.by: Any = 1
        if ranks.beside > 1:
            with self.inputs.at_the_beginning():
                self.by = e.multiples(self.beside)
        self.key = BITS_OF.get(ranks.dtype, ranks.dtype)
        self.keys = self.inputs.own(ranks.length * ITEMSIZE[ranks.dtype])

    def block(self, i: str) -> None:
        """The order of one line."""
        e, ranks, n = self.e, self.ranks, self.ranks.length
        outer = e.times(e.index("udiv", i, self.beside), n)
        base = e.plus(e.times(outer, self.beside), e.index("urem", i, self.beside))
        source, out = self.pointer(ranks.reads[0][0]), self.pointer(ranks.result)

        def kept(i: str) -> None:
            x = e.load(source, e.plus(base, e.times(i, self.beside)), ranks.dtype, self.by)
            e.store(self.sortable(x), self.keys, i)
            e.known = {}

        self.inputs.vectors(n, kept)
        number = e.variable(e.cast(Value(e.multiples("1"), "int64"), self.key))

        def ranked(i: str) -> None:
            x, own = e.load(self.keys, i, self.key, 1), e.get(number, self.key)
            before, other = e.variable(e.constant(0, self.key)), e.variable(e.constant(0, self.key))
            with e.loop("0", self.inputs.number(n, "length"), 1) as j:
                y, one = e.load_scalar(self.keys, j, self.key), e.get(other, self.key)
                earlier = e.both(e.compare("eq", y, x), e.compare("lt", one, own))
                comes = e.either(e.compare("lt", y, x), earlier)
                e.set(before, e.add(e.get(before, self.key), e.cast(comes, self.key)))
                e.set(other, e.add(one, 1))
            places = e.multiply(e.cast(e.get(before, self.key), "int64"), _wide(e, self.beside))
            e.store(e.cast(own, "int64"), out, base, places.name)
            e.set(number, e.add(own, e.lanes))
            e.known = {}

        self.inputs.vectors(n, ranked)

    def sortable(self, x: Value) -> Value:
        """Integers in the order that the elements are to have: zeros are equal, NaN comes last."""
        e = self.e
        if x.kind == "f":
            zero_or_more = e.bits(e.add(x, 0.0))  # -0 + 0 = 0
            bits = 8 * ITEMSIZE[x.dtype]
            sign = e.shift("ashr", zero_or_more, bits - 1)
            key = e.bitwise("xor", zero_or_more, e.shift("lshr", sign, 1))
            key = e.select(e.compare("uno", x, x), e.constant((1 << (bits - 1)) - 1, key.dtype), key)
        else:
            key = x
        return e.invert(key) if self.ranks.attributes else key
