"""Units that differ in extents alone: what was written for one of them tells what would be written for the others.

The second unit of a structure is written with the numbers that differ from the first one's as sizes (see `extents`). So it is
known for which others the code is the same, and what stands in their blocks of arguments; these are written no more.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from adjoint._tuples import NamedTuple
from adjoint.compiler import units
from adjoint.compiler.excerpts import Key, Moving, Region
from adjoint.compiler.extents import Formula, Sheet, Size, Values, holds_sizes, plain
from adjoint.compiler.fuse.kinds import View
from adjoint.compiler.tables import Arguments, Function, Start, numbers_of
from adjoint.compiler.units import Written
from adjoint.graph import ArrayType, array_type
from adjoint.runtime.code import Source
from adjoint.shapes import Shape, size_of

if TYPE_CHECKING:
    from adjoint.compiler.linking import Kernel

T = TypeVar("T")
MOST_FORMULAS = 64  # for each structure: with more, looking for the right one would take as long as writing


class Mapping(NamedTuple):
    """What to make of the numbers of a key: of a shape or strides, and of a type."""

    shape: Callable[[Shape], Any]
    type: Callable[[ArrayType], Any]

    def number(self, n: int) -> Any:
        """What becomes of one number."""
        return self.shape((n,))[0]

    def view(self, view: View) -> Any:
        """A view with other extents and strides."""
        return View(view.root, view.offset, self.shape(view.shape), self.shape(view.strides))


def mapped(key: Key, m: Mapping) -> Any:
    """A key with other numbers in the place of those that follow from extents. Which these are follows from its structure."""
    if key[0] == "move":
        return ("move", _moving(key[1], m))
    if key[0] == "nest":
        return _nest(key, m)
    return _product(key, m) if key[0] == "product" else key


def _product(key: Key, m: Mapping) -> Any:
    kind, type_, output, a, b, shape, choice = key
    chosen = choice._replace(rows=m.number(choice.rows))
    return (kind, m.type(type_), output, m.view(a), m.view(b), m.shape(shape), chosen)


def _nest(key: Key, m: Mapping) -> Any:
    kind, domain, split, tile, steps, outside, stored, before, behind, tiles, writes_much, into = key
    own = [(name, _limits(attributes, m) if name == "padded" else attributes, m.type(type_), inputs, output, level, dtype,
            m.shape(shape), by_row)
           for name, attributes, type_, inputs, output, level, dtype, shape, by_row in steps]  # fmt: skip
    given = [(number, (m.view(view), dtype, literal)) for number, (view, dtype, literal) in outside]
    products = [tuple([_product(p, m) for p in made]) for made in (before, behind)]
    return (
        kind,
        m.shape(domain),
        split,
        m.number(tile),
        tuple(own),
        tuple(given),
        stored,
        *products,
        tiles,
        writes_much,
        tuple([(slot, piece._replace(strides=m.shape(piece.strides))) for slot, piece in into]),
    )


def _limits(attributes: Any, m: Mapping) -> Any:
    limits = tuple([m.shape(shape) for shape in attributes[1]])
    return limits, limits


def _moving(moving: Moving, m: Mapping) -> Moving:
    regions = [
        Region(
            m.view(r.view), r.place, m.shape(r.strides), r.adds_zero, None if r.before is None else m.number(r.before)
        )
        for r in moving.regions
    ]
    indexed = moving.indexed
    if indexed is not None:
        shape, times, length = m.shape(indexed.shape), m.number(indexed.times), m.number(indexed.length)
        indexed = indexed._replace(shape=shape, times=times, length=length)
    return Moving(
        moving.rewrites, moving.dtype, moving.output, m.number(moving.size), moving.number, tuple(regions), indexed
    )


def follows(key: Key) -> bool:
    """Whether the code of units like this one takes extents as arguments: windows and what goes line by line get code for
    each."""
    return key[0] in ("product", "move") or (key[0] == "nest" and all([p[0] == "product" for p in (*key[7], *key[8])]))


def structure_of(key: Key) -> tuple[Any, Values]:
    """What a key is without the numbers that follow from extents, and these."""
    numbers: list[int] = []

    def taken(shape: Shape) -> Any:
        numbers.extend(shape)
        return ("#",) * len(shape)

    def taken_type(t: ArrayType) -> Any:
        return (t.dtype.name, taken(t.shape))

    return mapped(key, Mapping(taken, taken_type)), tuple(numbers)


def pattern_of(numbers: Values) -> Values:
    """Which of some numbers are equal, and which are 0 or 1. Units of one structure that differ in this are of several kinds,
    such as products of square matrices and of others: little follows for one kind from the other."""
    seen = {0: -2, 1: -1}
    return tuple([seen.setdefault(n, k) for k, n in enumerate(numbers)])


def with_numbers(key: Key, numbers: Sequence[Any]) -> Key:
    """A key with other numbers, sizes among them."""
    left: Iterator[Any] = iter(numbers)

    def put(shape: Shape) -> Shape:
        return tuple([next(left) for _ in shape])

    def put_type(t: ArrayType) -> ArrayType:
        shape = put(t.shape)
        if holds_sizes(shape):
            return type_of(shape, t)
        return array_type(shape, t.dtype) if holds_sizes(t.shape) else t

    found: Key = mapped(key, Mapping(put, put_type))
    return found


def type_of(shape: Shape, like: ArrayType) -> ArrayType:
    """A type of its own, whose shape has sizes in it."""
    found = copy.copy(like)
    found.shape, found.size, found.zero = shape, size_of(shape), None
    return found


class Followed:
    """A unit that was written with sizes: for which numbers of a key of this structure its code serves, and how what it is
    called with follows. `places` has for each number the symbol that it is, or -1 for one that is as it was."""

    def __init__(self, numbers: Values, places: Sequence[int], formula: Formula) -> None:
        self.formula = formula
        self.made_of = numbers, places
        firsts = [places.index(symbol) for symbol in range(max(places) + 1)]
        same = [k for k, symbol in enumerate(places) if symbol < 0]
        again = [k for k, symbol in enumerate(places) if symbol >= 0 and firsts[symbol] != k]
        self.symbols = _getter(firsts)
        self.same, self.base = _getter(same), _getter(same)(numbers)
        self.again, self.like = _getter(again), _getter([firsts[places[k]] for k in again])

    def __reduce__(self) -> Any:
        return Followed, (*self.made_of, self.formula)

    def results(self, numbers: Values) -> Any:
        """What follows for these numbers; None if other code serves them."""
        if self.same(numbers) != self.base or self.again(numbers) != self.like(numbers):
            return None
        return self.formula(self.symbols(numbers))


def _getter(places: Sequence[int]) -> Callable[[Values], Values]:
    """A function that gives what is at some places."""
    if len(places) > 1:
        return itemgetter(*places)
    return (lambda numbers: (numbers[places[0]],)) if places else lambda numbers: ()


class Symbols:
    """Numbers of which those that vary are sizes. Two that were alike in another one of the same kind, too, are one size."""

    def __init__(self, sheet: Sheet, first: Values, numbers: Values, varying: Iterable[int]) -> None:
        known: dict[tuple[int, int], int] = {}
        sizes: list[Size] = []
        self.numbers = numbers
        self.places = [-1] * len(numbers)  # of each number, which symbol it is
        for k in sorted(varying):
            pair = first[k], numbers[k]
            if pair not in known:
                known[pair] = len(sizes)
                sizes.append(sheet.symbol(numbers[k]))
            self.places[k] = known[pair]
        self.given = [n if k < 0 else sizes[k] for n, k in zip(numbers, self.places, strict=True)]


class Kindred(Generic[T]):
    """What was found out about those of one structure: the numbers of the first, which of them vary, and what serves whom."""

    def __init__(self, numbers: Values) -> None:
        self.first = numbers
        self.varying: set[int] = set()
        self.known: list[tuple[Followed, T]] = []

    def met(self, numbers: Values) -> None:
        """Note which numbers another one has otherwise."""
        self.varying.update([k for k, (a, b) in enumerate(zip(self.first, numbers, strict=True)) if a != b])

    def serving(self, numbers: Values) -> tuple[T, Any] | None:
        """What serves these numbers, and what follows for them."""
        for k, (followed, found) in enumerate(self.known):
            results = followed.results(numbers)
            if results is not None:
                if k:  # likely to serve the next one, too
                    self.known.insert(0, self.known.pop(k))
                return found, results
        return None


class Family(Kindred["Kernel"]):
    """The units of one structure, and of one pattern of numbers."""

    def kernel(self, numbers: Values) -> Kernel | None:
        """The kernel for these numbers, if one that is known serves them."""
        found = self.serving(numbers)
        return None if found is None else _adapted(*found)

    @property
    def state(self) -> Any:
        """What `write` goes by, besides the key."""
        return self.first, sorted(self.varying), len(self.known) >= MOST_FORMULAS

    def write(self, key: Key, numbers: Values) -> tuple[Written, Source, Followed | None]:
        """The code of a unit of this structure, and for which others it serves."""
        self.met(numbers)
        if not self.varying or len(self.known) >= MOST_FORMULAS:
            written = units.write_unit(key)
            return written, written.source, None
        with Sheet() as sheet, sheet.hashing():
            symbols = Symbols(sheet, self.first, numbers, self.varying)
            written = units.write_unit(with_numbers(key, symbols.given))
            source = written.source
            formula = sheet.formula(_called_with(written))
            results = plain(_called_with(written))
        written = written._replace(chunks=results[-2], time=results[-1])
        _set(written.arguments, results)
        return written, source, Followed(numbers, symbols.places, formula)


def _called_with(written: Written) -> Any:
    """All that a kernel is called with and that follows from extents."""
    arguments = written.arguments
    packed = [(view.shape, view.strides) for view in arguments.packed]
    lists = [numbers_of(one) for one in arguments.lists]
    shared = list(arguments.shared.values())
    recipes = list(arguments.recipes.values())
    return (
        arguments.numbers, lists, arguments.checks, shared, packed, recipes, arguments.scratch, written.chunks, written.time
    )  # fmt: skip


def _set(arguments: Arguments, results: Any) -> None:
    """Let a kernel be called with other numbers."""
    arguments.numbers, lists, arguments.checks, shared, packed, recipes, arguments.scratch, *_ = results
    if recipes:
        arguments.remake(recipes)
    arguments.lists = [
        [old if type(old) is Function or type(old) is Start else x for old, x in zip(*pair, strict=True)]
        for pair in zip(arguments.lists, lists, strict=True)
    ]
    arguments.shared = dict(zip(arguments.shared, shared, strict=True))
    arguments.packed = {
        view._replace(shape=shape, strides=strides): purpose
        for (view, purpose), (shape, strides) in zip(arguments.packed.items(), packed, strict=True)
    }


def _adapted(kernel: Kernel, results: Any) -> Kernel:
    """A kernel for units with other extents."""
    arguments = copy.copy(kernel.arguments)
    _set(arguments, results)
    return kernel._replace(arguments=arguments, chunks=results[-2], time=results[-1], numbers=arguments.block())
