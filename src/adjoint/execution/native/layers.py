"""The program of a plan of many equal layers, from the units of a shorter plan (see `plan.shortened`).

What a program needs of a unit is a kernel, and the names of arrays: where its places are, what it makes and reads. Names are put
in numbers, so that those of a unit lie a fixed stride behind those of its like in the layer before: a slot of the plan is its
entry there, and an array that a stage has added the unit that mentions it first. Among the rows of names the loops are found
anew, and as many times are put in as the plan was shortened by. Each row begins where it did, and must end where the row of the
last layer stands in the whole; else nothing is concluded, and the plan goes through the stages itself. Units' places in memory,
calls and blocks are made of the whole then, as ever.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain, islice, repeat
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.compiler.excerpts import NOWHERE, Key
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Host, Scan, Unit, View
from adjoint.compiler.linking import Kernel, Linker, find, keys_of
from adjoint.compiler.pipeline import lowered
from adjoint.compiler.tables import Start
from adjoint.execution.native.program import Native, Outline, Uses, uses_of
from adjoint.plan.listing import NOTHING
from adjoint.plan.matching import Loop, find_loops
from adjoint.plan.plan import Plan, Step
from adjoint.plan.repeated import Left
from adjoint.plan.shortened import Shortened, shortened, sums_of
from adjoint.shapes import Shape

__all__ = ["compile_layers"]

Array = np.ndarray[Any, Any]
Lies = tuple[int, Shape, Shape]  # an offset, a shape, strides
Linked = dict[int, tuple[Kernel, list[Start]]]

ADDED = 1 << 40  # from here on numbers are names of what a stage has added: the unit that mentions it first, and where
MENTIONS = 1 << 12  # names of a unit, at most
FIXED = -2  # and from here down of slots that are the same in every layer
PLACES, MAKES, OVER, TAKES, READS = range(USES := 5)  # what names are of a unit's: see `Row`
FEWEST = 8  # units in a loop
WINDOWS = (4, 32)  # units that are compared at once


class Unfit(Exception):
    """The units of a whole plan don't follow from those of the shorter one."""


class Row(NamedTuple):
    """What a program needs of a unit besides names: these come in the order of the fields.

    kernel    the number of its kernel; `NOTHING` without one, and less for a host step
    spots     which numbers in its key are places, and how many numbers there are
    offsets   of its places
    makes     how many arrays it makes
    over      for each of these, over how many leaves it may lie
    takes     as many as it makes, if one of these takes an array's memory: whose
    reads     how many arrays it reads
    """

    kernel: int
    spots: tuple[tuple[int, ...], int]
    offsets: tuple[int, ...]
    makes: int
    over: tuple[int, ...]
    takes: int
    reads: int


def compile_layers(plan: Plan) -> Native | None:
    """The program of a plan of many equal layers; None where it isn't one, or its units don't follow from those of a few."""
    if "ADJOINT_SHOW" in os.environ:
        return None
    try:
        short = shortened(plan)
        fusion = "" if short is None else lowered(short.plan)
        if short is None or isinstance(fusion, str) or any([isinstance(unit, Scan) for unit in fusion.units]):
            return None
        made = _Layers(plan, short, fusion).program()
    except (Unfit, LookupError, ValueError):  # the shorter plan doesn't know a name, or rows have unlike lengths
        return None
    made.shorter = short.plan
    return made


class _Known:
    """What is known of slots (see `Fusion`): those of the shorter plan, and more and more of the whole."""

    def __init__(self, fusion: Fusion) -> None:
        self.views, self.shapes = dict(fusion.views), dict(fusion.shapes)
        self.dtypes, self.objects = dict(fusion.dtypes), set(fusion.objects)


class _Layers:
    """The units of a shorter plan, and names in numbers."""

    def __init__(self, plan: Plan, short: Shortened, fusion: Fusion) -> None:
        self.plan, self.short, self.fusion = plan, short, fusion
        self.numbers = {NOTHING: NOTHING}
        slots = short.entries.slots[short.places].tolist()
        self.numbers.update(zip(slots, range(len(slots)), strict=True))
        first: dict[Any, int] = {}
        for slot, array in fusion.plan.constants.items():  # numbers that folding gives are the same in every layer
            key = slot if array.ndim else (array.dtype, array.tobytes())
            self.numbers[slot] = FIXED - first.setdefault(key, slot)
        self.entry = dict(zip(short.entries.slots.tolist(), range(len(short.entries.slots)), strict=True))
        self.rows: list[Row] = []
        self.names: list[list[int]] = []  # slots
        self.kernels = self.describe()

    def describe(self) -> list[Kernel]:
        """Write down a row for each unit, and its names; the kernels."""
        fusion, known = self.fusion, dict[Key, int]()
        keyed = keys_of(fusion)
        reads = [fusion.roots(unit) for unit in fusion.units]
        uses = uses_of(fusion, reads)
        for index, unit in enumerate(fusion.units):
            kernel, numbered, makes = NOTHING, list[Start](), list[int]()
            if isinstance(unit, Host):
                kernel, numbered = NOTHING - 1, [_new(Start, (slot, 0)) for slot in self.named_by(unit.step)]
            else:
                makes = [*unit.outputs]
            if index in keyed:
                key, numbered = keyed[index]
                kernel = known.setdefault(key, len(known))
            # what is computed, or read, is numbered too, and has no place itself
            spots = [k for k, place in enumerate(numbered) if type(place) is Start and place is not NOWHERE]
            places = [numbered[k] for k in spots]
            order = {root: k for k, (root, _) in enumerate(places)}
            read = sorted(reads[index], key=lambda root: (order.get(root, MENTIONS), root))
            over = [uses.shares.get(slot, ()) for slot in makes]
            taken = [uses.handed_on.get(slot, NOTHING) for slot in makes]
            taken = taken if max(taken, default=NOTHING) != NOTHING else []
            offsets = tuple([offset for _, offset in places])
            where = tuple(spots), len(numbered)
            self.rows.append(Row(kernel, where, offsets, len(makes), tuple(map(len, over)), len(taken), len(read)))
            self.names.append([*[root for root, _ in places], *makes, *chain.from_iterable(over), *taken, *read])
        found = find(known)
        return [found[key] for key in known]

    def named_by(self, step: Step) -> list[int]:
        """What a host step makes and reads, and the arrays that it finds these in."""
        views = self.fusion.views
        return [step.output, *step.inputs, *[views[slot].root if slot in views else NOTHING for slot in step.inputs]]

    def program(self) -> Native:
        """The program of the whole plan. Raises Unfit where its units don't follow."""
        names = self.numbered()
        whole = _Whole(self.short, self.grown(names), np.array(list(map(len, self.names))))
        units, names = whole.rows(names)
        numbers, views = self.results(whole)
        added = np.sort(np.concatenate([names[names >= ADDED], numbers[numbers >= ADDED]]))
        first = max(self.fusion.slots, len(self.plan.types))

        def slots(numbers: Array) -> Array:
            found = np.where(numbers >= ADDED, first + np.searchsorted(added, numbers), FIXED - numbers)
            is_entry = (numbers >= 0) & (numbers < ADDED)
            found[is_entry] = self.short.entries.slots[numbers[is_entry]]
            found[numbers == NOTHING] = NOTHING
            return found

        known, results = _Known(self.fusion), slots(numbers).tolist()
        known.views.update(
            [(slot, _new(View, (root, *lies))) for (slot, root), lies in zip(results, views, strict=True) if lies]
        )
        columns = _Columns(self.rows, units, slots(names))
        own: list[Unit] = [self.fusion.units[k] for k in units.tolist()]
        linked = self.linked(columns, known, own)
        linker = Linker(own, linked, False)
        uses = self.uses(columns, known)
        fusion = self.fusion._replace(
            plan=self.fusion.plan.with_steps((), outputs=self.plan.outputs), units=tuple(own),
            results=[slot for slot, _ in results], views=known.views, shapes=known.shapes, dtypes=known.dtypes,
            objects=frozenset(known.objects),
        )  # fmt: skip
        made = Native(fusion, linker=linker, outline=Outline(fusion, uses))
        self.check(made, uses)
        return made

    def check(self, made: Native, uses: Uses) -> None:
        """Raise Unfit where something is read that nothing makes."""
        given, fusion = len(self.plan.leaf_types) + len(self.plan.number_types), made.fusion
        read = {*made.places, *[fusion.views[slot].root for slot in fusion.results if slot not in fusion.objects]}
        read -= uses.produced.keys() | fusion.plan.constants.keys()
        read -= {unit.step.output for unit in fusion.units if isinstance(unit, Host)}
        if any([slot >= given for slot in read]):
            raise Unfit

    def numbered(self) -> Array:
        """The names of all units in numbers, one unit's behind the other's."""
        numbers, known = self.numbers, len(self.plan.types)
        for index, names in enumerate(self.names):
            for k, slot in enumerate(names):
                if slot not in numbers:
                    if k >= MENTIONS:
                        raise Unfit
                    numbers[slot] = FIXED - slot if slot < known else ADDED + index * MENTIONS + k
        return np.array([numbers[slot] for names in self.names for slot in names])

    def grown(self, names: Array) -> list[Loop]:
        """The loops of units that are longer in the whole."""
        kinds: dict[Row, int] = {}
        case = np.array([kinds.setdefault(row, len(kinds)) for row in self.rows])
        lengths = np.array(list(map(len, self.names)))
        begin = np.concatenate([[0], np.cumsum(lengths)])
        padded = np.full((len(lengths), lengths.max()), NOTHING)
        padded[np.arange(lengths.max()) < lengths[:, None]] = names
        found = []
        for loop in find_loops(case, sums_of(padded), shortest=FEWEST, windows=WINDOWS):
            first, stride, last = _ends(names[begin[loop.start] : begin[loop.stop]], loop.times)
            known = (first >= 0) & (first < ADDED)
            first, last = self.short.places[first[known]], self.short.places[last[known]]
            if (first + (loop.times + self.short.times - 1) * stride[known] == last).all():
                found.append(loop)
            elif (first + (loop.times - 1) * stride[known] != last).any():
                raise Unfit
        self.check_loops(found)
        return found

    def check_loops(self, loops: list[Loop]) -> None:
        """Raise Unfit where a step of the layers beside the gap, or what they give, is in a unit that doesn't come once more with
        each layer: as a sum over all layers in one nest, which would be a longer one."""
        short = self.short
        beside: set[int] = set()
        for loop in short.loops:
            gap = loop.start + short.kept * loop.period
            for first in (gap - loop.period, gap + short.times * loop.period):
                beside.update(short.entries.slots[first : first + loop.period].tolist())
        midst, within = set[int](), set[int]()
        for loop in loops:
            within.update(range(loop.start, loop.stop))
            midst.update(range(loop.start + loop.period, loop.stop - loop.period))
        beside.update([x for x, n in self.numbers.items() if n >= ADDED and (n - ADDED) // MENTIONS in midst])
        for index, unit in enumerate(self.fusion.units):
            if index not in within and not beside.isdisjoint(
                [*self.names[index], *[step.output for step in unit.computed]]
            ):
                raise Unfit

    def results(self, whole: _Whole) -> tuple[Array, list[Lies | None]]:
        """The slots of all results, and of the arrays that these lie in, in numbers; and how they lie there."""
        short = self.short
        given, lie = self.given_results()
        there = whole.of(given)
        place = {number: k for k, number in enumerate(there[:, 0].tolist())}
        made = dict(zip(place, zip(there.tolist(), lie, strict=True), strict=True))
        for loop in short.loops:
            gap, behind = loop.start + short.kept * loop.period, loop.times - short.times - short.kept
            for number in [n for n in place if gap - loop.period <= n < gap]:
                k, before = place[number], place.get(number - loop.period)
                if before is None or lie[before] != lie[k]:
                    raise Unfit
                stride = there[k] - there[before]
                # loops of units may run the other way, and have their gap a layer sooner
                for ahead in range(short.times + 1, short.times + 1 + behind):
                    last = place.get(number + ahead * loop.period)
                    if last is not None and lie[last] == lie[k] and (there[k] + ahead * stride == there[last]).all():
                        break
                else:
                    raise Unfit
                rest = there[k] + np.arange(1, ahead)[:, None] * stride
                made.update([(row[0], (row, lie[k])) for row in rest.tolist()])
        try:
            found = [made[self.entry.get(slot, FIXED - slot)] for _, _, slot, _ in self.plan.outputs]
        except KeyError:
            raise Unfit from None
        return np.array([row[1:] for row, _ in found]), [lies for _, lies in found]

    def given_results(self) -> tuple[Array, list[Lies | None]]:
        """Of each result of the shorter plan: the output's slot, its own and that of the array that it lies in, in numbers; and
        how it lies there."""
        numbers, known = self.numbers, len(self.plan.types)
        rows, lie = [], list[Lies | None]()
        for (_, _, slot, _), result in zip(self.short.plan.outputs, self.fusion.results, strict=True):
            view = None if result in self.fusion.objects else self.fusion.views[result]
            row = [slot, result, NOTHING if view is None else view.root]
            if any([x >= known and x not in numbers for x in row]):
                raise Unfit
            rows.append([numbers.get(x, FIXED - x) for x in row])
            lie.append(None if view is None else view[1:])
        return np.array(rows), lie

    def linked(self, columns: _Columns, known: _Known, units: list[Unit]) -> Linked:
        """The kernel of each of the units of the whole and where its places are. Host steps get these names, which are `known`
        then."""
        found: Linked = {}
        names, rows = columns.of(PLACES).names, self.rows
        offsets = chain.from_iterable([rows[k].offsets for k in columns.units])
        places = list(map(_new, repeat(Start), zip(names, offsets, strict=True)))
        at = 0
        for index, k in enumerate(columns.units):
            row = rows[k]
            spots, count = row.spots
            behind = at + len(spots)
            if row.kernel >= 0:
                starts = places[at:behind]
                if len(spots) < count:
                    own, starts = starts, [NOWHERE] * count
                    for spot, place in zip(spots, own, strict=True):
                        starts[spot] = place
                found[index] = self.kernels[row.kernel], starts
            elif row.kernel < NOTHING:
                units[index] = self.host(units[index], names[at:behind], known)
            at = behind
        return found

    def uses(self, columns: _Columns, known: _Known) -> Uses:
        """The uses of the arrays of the whole, whose types are `known` then. Raises Unfit where one is read before it is made."""
        rows, units = self.rows, columns.units
        made, read = columns.of(MAKES), columns.of(READS)
        produced = dict(zip(made.names[::-1], made.units[::-1], strict=True))  # by the first unit that makes it
        produced = {slot: produced[slot] for slot in made.names}
        if any([produced.get(slot, index) > index for slot, index in zip(read.names, read.units, strict=True)]):
            raise Unfit
        kinds = [
            [(self.fusion.shapes[slot], self.fusion.dtypes[slot]) for slot in names[len(row.offsets) :][: row.makes]]
            for row, names in zip(rows, self.names, strict=True)
        ]
        for slot, (shape, dtype) in zip(made.names, chain.from_iterable([kinds[k] for k in units]), strict=True):
            known.shapes[slot], known.dtypes[slot] = shape, dtype
        over = iter(columns.of(OVER).names)
        counts = chain.from_iterable([rows[k].over for k in units])
        shares = {slot: tuple(islice(over, n)) for slot, n in zip(made.names, counts, strict=True) if n}
        taking = [slot for slot, unit in zip(made.names, made.units, strict=True) if rows[units[unit]].takes]
        taken = zip(taking, columns.of(TAKES).names, strict=True)
        last = dict(zip(read.names, read.units, strict=True))
        return Uses(produced, last, shares, {slot: x for slot, x in taken if x != NOTHING})

    def host(self, like: Any, names: list[int], known: _Known) -> Host:
        """A host step of the whole that is like one of the shorter plan, on these names. Raises Unfit for one that a stage has
        made."""
        step, views = like.step, self.fusion.views
        made, inputs, roots = names[0], tuple(names[1 : 1 + len(step.inputs)]), names[1 + len(step.inputs) :]
        place = int(self.short.entries.steps[self.entry[made]]) if made in self.entry else NOTHING
        own = self.plan.placed[place]
        if place == NOTHING or own.op is not step.op or own.type is not step.type or own.attributes != step.attributes:
            raise Unfit
        for slot, root, before in zip(inputs, roots, step.inputs, strict=True):
            if root != NOTHING:
                known.views[slot] = _new(View, (root, *views[before][1:]))
        if step.output in known.objects:
            known.objects.add(made)
        else:
            known.shapes[made], known.dtypes[made] = known.shapes[step.output], known.dtypes[step.output]
            known.views[made] = _new(View, (made, *views[step.output][1:]))
        return Host(own._replace(inputs=inputs), like.reason)


class Named(NamedTuple):
    """Names of the same use, and the units that they are names of."""

    names: list[int]
    units: list[int]


class _Columns:
    """Units, by the rows that they are like, and all their names one behind the other."""

    def __init__(self, rows: Sequence[Row], units: Array, names: Array) -> None:
        self.units: list[int] = units.tolist()
        self.names = names
        counts = np.array([(len(x.offsets), x.makes, sum(x.over), x.takes, x.reads) for x in rows])[units]
        several = counts.ravel()
        self.unit, self.use = [np.repeat(x.ravel(), several) for x in np.indices(counts.shape)]  # of each name

    def of(self, use: int) -> Named:
        """The names of one of the uses."""
        (its,) = np.nonzero(self.use == use)
        return Named(self.names[its].tolist(), self.unit[its].tolist())


class _Whole:
    """A list of units with so many names in which loops grow, and what becomes of numbers in it."""

    def __init__(self, short: Shortened, loops: Sequence[Loop], lengths: Array) -> None:
        self.short, self.loops = short, loops
        self.begin = np.concatenate([[0], np.cumsum(lengths)])  # the first name of each unit
        gaps: list[tuple[int, int]] = []
        for loop in loops:
            middle = loop.start + loop.times // 2 * loop.period
            gaps.append((middle + sum([count for _, count in gaps]), short.times * loop.period))
        self.places = Left(gaps).entries(len(lengths) + sum([count for _, count in gaps]))

    def of(self, numbers: Array) -> Array:
        """The numbers of the same names in the whole."""
        found = numbers.copy()
        known, added = (numbers >= 0) & (numbers < ADDED), numbers >= ADDED
        found[known] = self.short.places[numbers[known]]
        unit, mention = np.divmod(numbers[added] - ADDED, MENTIONS)
        found[added] = ADDED + self.places[unit] * MENTIONS + mention
        return found

    def rows(self, names: Array) -> tuple[Array, Array]:
        """The units of the whole, by those of the shorter list that they are like, and their names. Raises Unfit where a loop
        doesn't end where it must."""
        units: list[Array] = []
        parts: list[Array] = []
        at, begin = 0, self.begin
        for loop in self.loops:
            units.append(np.arange(at, loop.start))
            parts.append(self.of(names[begin[at] : begin[loop.start]]))
            first, stride, last = _ends(names[begin[loop.start] : begin[loop.stop]], loop.times)
            first, last = self.of(first), self.of(last)
            times = loop.times + self.short.times
            found = first + np.arange(times)[:, None] * stride
            if (found[-1] != last).any():
                raise Unfit
            units.append(np.tile(np.arange(loop.start, loop.start + loop.period), times))
            parts.append(found.ravel())
            at = loop.stop
        units.append(np.arange(at, len(begin) - 1))
        parts.append(self.of(names[begin[at] :]))
        return np.concatenate(units), np.concatenate(parts)


def _ends(names: Array, times: int) -> tuple[Array, Array, Array]:
    """What is named the first time of so many, the strides, and what is named the last time."""
    block = names.reshape(times, -1)
    return block[0], block[1] - block[0], block[-1]


_new = tuple.__new__  # named tuples by their own constructor take twice as long
