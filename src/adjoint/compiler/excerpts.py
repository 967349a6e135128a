"""What the code of a unit depends on, as a value that can be compared: units that are equal in it share their code.

Slots are numbered anew in order of first mention, and so is each place in memory where some view starts; whose they are, and what
offset they have, only the unit's block of arguments says. A writer is given the unit that is made anew of this value, so it can't
depend on anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.compiler.fuse.fuse import COPY
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.indices import ways_of
from adjoint.compiler.fuse.kinds import (
    Choice,
    Line,
    Matrices,
    Move,
    Nest,
    Piece,
    Product,
    Scan,
    View,
    Window,
    reading,
)
from adjoint.compiler.fuse.padded import PADDED
from adjoint.compiler.fuse.scans import Scans
from adjoint.compiler.loops.build import BYTES, HALVES
from adjoint.compiler.loops.formulas import REDUCTIONS, has_formula
from adjoint.compiler.tables import Start
from adjoint.dtypes import DTYPES
from adjoint.graph import PRIMITIVES
from adjoint.graph.primitive import no_kernel
from adjoint.plan.assemble import fills_everything
from adjoint.plan.plan import Step
from adjoint.shapes import Shape, contiguous, size_of

# An array's own number is written around a region, and not everywhere, if all is at most so many times what the region is.
MOST_AROUND = 4
MOST_FORMS = 32  # of parts that are joined


class Region(NamedTuple):
    """A view's elements, and where they go: the number of a place, and a stride for each axis. Maybe 0 is added to each. With
    `before`, the region is one piece amid a number's: so many elements lie before the place."""

    view: View
    place: int
    strides: tuple[int, ...]
    adds_zero: bool = False
    before: int | None = None

    @property
    def form(self) -> tuple[Any, ...]:
        """What regions have in common that one loop can copy."""
        alone = self.place if self.before is not None else None
        return (self.view.shape, self.view.strides, self.strides, self.adds_zero, alone)


class Indexed(NamedTuple):
    """Rows that are moved by indices: `reads` from what the indices select in (gather), or they say where to write; what was
    written last is read back from there, and nothing else is kept (`returns`)."""

    reads: bool
    adds: bool
    rows: int
    indices: tuple[int, ...]
    dtypes: tuple[str, ...]
    shape: Shape  # that the indices select in
    times: int  # so many rows
    ways: tuple[str, ...]  # how the indices are gone through: see `fuse.indices`
    length: int  # of a row of indices; 0 where these lie as they are used, all of them
    clips: bool  # an index outside stands for the nearest inside; else it is an error
    returns: bool


class Moving(NamedTuple):
    """A unit that moves elements, as its code knows it: first everything gets a number, then regions are copied, then rows.
    The first region `rewrites` an array: it needn't be copied where the result lies in the array's place."""

    rewrites: bool
    dtype: str
    output: int
    size: int
    number: Any
    regions: tuple[Region, ...]
    indexed: Indexed | None

    @property
    def plain_dtype(self) -> str:
        """A dtype whose elements are as long, and can be moved."""
        return "uint8" if self.dtype == "bool" else "uint16" if self.dtype in HALVES else self.dtype

    @property
    def tail(self) -> int:
        """Elements of a row that an index selects."""
        return 1 if self.indexed is None else size_of(self.indexed.shape[len(self.indexed.indices) :])

    @property
    def writes_one_row(self) -> bool:
        """Whether one row is written into an array, unless its index is out of bounds."""
        rows = self.indexed
        return self.rewrites and rows is not None and rows.times == 1 and not rows.clips

    @property
    def is_single(self) -> bool:
        """Whether single elements are read, which is done at once as far as offsets fit into vectors."""
        return self.indexed is not None and self.indexed.reads and self.tail == 1


class Stacked(NamedTuple):
    """A unit of small matrices, as its code knows it: a primitive, the views of its operands, the shape of the stack, and of each
    result its number, rows and columns."""

    name: str
    attributes: Any
    dtype: str
    batch: Shape
    reads: tuple[View, ...]
    results: tuple[tuple[int, int, int], ...]


class Along(NamedTuple):
    """A unit along an axis, as its code knows it: a primitive, its dtype and attributes; elements of a line, how many lines lie
    side by side, and how often; of each operand its number and whether it is read backwards; the number of the result."""

    name: str
    dtype: str
    attributes: Any
    length: int
    beside: int
    times: int
    reads: tuple[tuple[int, bool], ...]
    result: int


class Excerpt:
    """What a nest's writer knows of slots: see `Fusion`. `writes_much`: megabytes, and little is read."""

    def __init__(self) -> None:
        self.views: dict[int, View] = {}
        self.dtypes: dict[int, str] = {}
        self.shapes: dict[int, Shape] = {}
        self.constants: dict[int, Any] = {}
        self.writes_much = False


Key = tuple[Any, ...]
STAND_INS = {op.name: op for op in (COPY, PADDED)}  # what a nest has in the place of primitives


def exact(x: Any) -> Any:
    """Something equal for equal attributes alone: 0.0 isn't -0.0, and 1 isn't True."""
    if isinstance(x, tuple):
        return (type(x).__name__, *[exact(y) for y in x])
    return x.hex() if type(x) is float else (type(x).__name__, x)


class Numbering:
    """The slots and places of one unit, in order of first mention."""

    def __init__(self, fusion: Fusion) -> None:
        self.fusion = fusion
        self.numbers: dict[Any, int] = {}

    def of(self, what: int | Start | View) -> int:
        """The number of a slot, of a place in memory, or of what is read through a view."""
        return self.numbers.setdefault(what, len(self.numbers))

    def view(self, view: View) -> View:
        """The view from the place on where it starts."""
        root, offset, shape, strides = view
        numbers, start = self.numbers, _new(Start, (root, offset)) if offset else root
        return _new(View, (numbers.setdefault(start, len(numbers)), 0, shape, strides))

    def starts(self, inner: Container[int] = (), stored: Container[int] = ()) -> list[Start]:
        """The place that each number stands for, if it does; `inner` slots have one if they are `stored`."""
        return [
            x if type(x) is not int else NOWHERE if x in inner and x not in stored else _new(Start, (x, 0))
            for x in self.numbers
        ]


NOWHERE = Start(-1, 0)
_new = tuple.__new__  # named tuples by their own constructor take twice as long


def key_of(fusion: Fusion, unit: Nest | Product | Window | Matrices | Scan | Move | Line) -> tuple[Key, list[Start]]:
    """What the unit's code depends on, and where each of its places is."""
    n = Numbering(fusion)
    if isinstance(unit, Nest):
        return _nest(n, unit), n.starts(unit.level, set(unit.stored).difference(unit.into))
    return DESCRIBED[type(unit)](n, unit), n.starts()


def _attributes(attributes: Any) -> Any:
    return None if attributes is None else (exact(attributes), attributes)


def _nest(n: Numbering, nest: Nest) -> Key:
    fusion, of, numbers = n.fusion, n.of, n.numbers
    dtypes, shapes, views, level = fusion.dtypes, fusion.shapes, fusion.views, nest.level
    constants, by_row = fusion.plan.constants, nest.by_row
    known: dict[int, int] = {}  # the numbers of slots that are computed or were read
    steps: list[Key] = []
    outside: dict[int, Key] = {}
    number_of = numbers.setdefault
    for op, attributes, _, _, given, output, kind in nest.steps:
        inputs = []
        for slot in given:
            number = known.get(slot)
            if number is None:
                root, offset, shape, strides = views[slot]
                start = number_of(_new(Start, (root, offset)) if offset else root, len(numbers))
                view = _new(View, (start, 0, shape, strides))  # who reads the same elements reads the same
                number = known[slot] = number_of(view, len(numbers))
                if number not in outside:
                    outside[number] = (view, dtypes[slot], _literal(fusion, root) if root in constants else None)
            inputs.append(number)
        name = op.name
        known[output] = number = number_of(output, len(numbers))
        if attributes is not None:  # a movement's say nothing that its views don't
            known_by_it = name in REDUCTIONS or has_formula(name)
            attributes = (
                _attributes(attributes) if known_by_it else (attributes, attributes) if name == "padded" else None
            )
        steps.append((name, attributes, kind, tuple(inputs), number, level[output], dtypes[output], shapes[output],
                      output in by_row))  # fmt: skip
    before, behind = [_beside(n, made) if made else () for made in (nest.products, nest.followers)]
    return ("nest", nest.domain, nest.split, nest.tile, tuple(steps), tuple(outside.items()),
            tuple([of(s) for s in nest.stored]), before, behind, tuple([of(s) for s in nest.tiles]),
            _writes_much(fusion, nest), tuple([_piece(n, s, piece) for s, piece in nest.into.items()]))  # fmt: skip


def _piece(n: Numbering, slot: int, piece: Piece) -> Key:
    root, offset, strides, adds_zero = piece
    return n.of(slot), Piece(n.of(Start(root, offset) if offset else root), 0, strides, adds_zero)


def _beside(n: Numbering, made: Sequence[Product | Window]) -> tuple[Key, ...]:
    return tuple([_product(n, p) if isinstance(p, Product) else _window(n, p) for p in made])


def _literal(fusion: Fusion, root: int) -> tuple[str, bytes] | None:
    """A constant of the plan that is one number stands in the code itself."""
    constant = fusion.plan.constants.get(root)
    return None if constant is None or constant.ndim else (constant.dtype.name, constant.tobytes())


def _writes_much(fusion: Fusion, nest: Nest) -> bool:
    written = size_of(nest.domain) * sum([BYTES[fusion.dtypes[slot]] for slot in nest.stored])
    if written < fusion.tuning.jammed_from:
        return False
    roots = {fusion.views[i].root for step in nest.steps for i in step.inputs if i not in nest.level}
    return written >= 4 * sum([size_of(fusion.shapes[r]) * BYTES[fusion.dtypes[r]] for r in roots])


def _product(n: Numbering, product: Product) -> Key:
    return ("product", product.step.type, n.of(product.step.output), n.view(product.a), n.view(product.b), product.shape,
            product.choice)  # fmt: skip


def _window(n: Numbering, window: Window) -> Key:
    step, positions = window.step, window.positions
    beside = None if positions is None else (positions.type, n.of(positions.output))
    return ("window", step.op.name, _attributes(step.attributes), step.type, n.of(step.output),
            tuple([n.view(v) for v in window.reads]), window.dtypes, beside)  # fmt: skip


def _matrices(n: Numbering, unit: Matrices) -> Stacked:
    shapes = [n.fusion.shapes[slot] for slot in unit.outputs]
    batch = unit.batch
    results = [(n.of(slot), *(shape[len(batch) :] or (1, 1))) for slot, shape in zip(unit.outputs, shapes, strict=True)]
    dtype = n.fusion.dtypes[unit.reads[0].root]
    return Stacked(unit.step.op.name, unit.step.attributes, dtype, batch, tuple([n.view(v) for v in unit.reads]),
                   tuple(results))  # type: ignore[arg-type]  # fmt: skip


def _scans(n: Numbering, unit: Scan) -> Scans:
    reads = tuple([n.view(view).root for view in unit.reads])
    results, first = tuple([n.of(slot) for slot in unit.outputs]), n.fusion.dtypes[unit.step.inputs[0]]
    return Scans(unit.part.code, unit.length, unit.reverse, unit.operations, reads, results, first)


def _line(n: Numbering, unit: Line) -> Key:
    shape, out = unit.reads[0].shape, unit.step.output
    axis = unit.axis % len(shape)
    beside, times = size_of(shape[axis + 1 :]), size_of(shape[:axis])
    turns = unit.kind == "running" and shape[axis] > 1  # what it reads may lie backwards
    lines = tuple([(n.view(one).root, turns and one.strides[axis] < 0) for one in unit.reads])
    along = Along(unit.step.op.name, unit.dtype, unit.attributes, unit.length, beside, times, lines, n.of(out))
    return unit.kind if unit.kind != "order" else "search" if len(lines) > 1 else "ranks", along


def _moving(n: Numbering, move: Move) -> Moving:
    step, name = move.step, move.step.op.name
    shape, attributes, out = step.type.shape, step.attributes, step.output
    steps = contiguous(shape)
    number: Any = None
    regions: list[Region] = []
    indexed: Indexed | None = None

    def place(offset: int) -> int:
        return n.of(Start(out, offset))

    if name in ("scatter_add", "embed"):
        number = 0
    if name == "pieces" and not fills_everything(attributes, step.type.size):
        number = attributes.number
    if step.op.rewrites:
        regions.append(Region(n.view(move.reads[0]), n.of(out), steps))
    if move.indices:
        first = step.op.indices_from
        moved = move.reads[first - 1]
        indexed = Indexed(name == "gather", name == "scatter_add", n.view(moved).root,
                          tuple([n.view(v).root for v in move.indices]), move.dtypes[first:], move.indexed_shape,
                          size_of(move.indices[0].shape), *ways_of(move.indices), move.clips, name == "latest")  # fmt: skip
    elif name == "concat":
        start = 0
        for view in move.reads:
            regions.append(Region(n.view(view), place(start), steps))
            start += view.shape[attributes] * steps[attributes]
        regions = _by_form(regions)
    elif name == "pieces":
        for view, at in zip(move.reads, attributes.placements, strict=True):
            regions.append(Region(n.view(view), place(at.offset), at.strides, at.adds_zero))
    elif name in ("embed", "update_slice"):
        slices = attributes[1] if name == "embed" else attributes
        start = sum([first * s for (first, _, _), s in zip(slices, steps, strict=True)])
        strides = tuple([s * by for (_, _, by), s in zip(slices, steps, strict=True)])
        view = n.view(move.reads[-1])
        amid = name == "embed" and _lies_amid(view.shape, strides, step.type.size)
        regions.append(Region(view, place(start), strides, before=start if amid else None))
    exactly = None if number is None else (exact(number), number)
    return Moving(step.op.rewrites, step.type.dtype.name, n.of(out), step.type.size, exactly, tuple(regions), indexed)


DESCRIBED: dict[type, Callable[[Numbering, Any], Key]] = {
    Product: _product,
    Window: _window,
    Matrices: lambda n, unit: ("matrices" if unit.routine.formula else "factors", _matrices(n, unit)),
    Scan: lambda n, unit: ("scan", _scans(n, unit)),
    Line: _line,
    Move: lambda n, unit: ("move", _moving(n, unit)),
}


def _by_form(regions: list[Region]) -> list[Region]:
    """Regions that don't meet, those of one form next to each other, for one loop copies them."""
    groups: list[list[Region]] = []
    for region in regions:
        found = next((one for one in groups if one[0].form == region.form), None)
        if found is not None:
            found.append(region)
        elif len(groups) < MOST_FORMS:
            groups.append([region])
        else:
            return regions
    return [region for one in groups for region in one]


def _lies_amid(sizes: Shape, strides: Shape, size: int) -> bool:
    """Whether a region's rows lie in order among so many elements, and the rest isn't far more."""
    if not sizes or sizes[-1] < 2 or strides[-1] != 1 or any([s < 0 for s in strides]):
        return False
    return 0 < size <= MOST_AROUND * size_of(sizes)


# Units made anew -------------------------------------------------------------------------------------------------------


def _step(name: str, attributes: Any, inputs: tuple[int, ...], output: int, type: Any) -> Step:
    given = None if attributes is None else attributes[1]
    op = STAND_INS.get(name) or PRIMITIVES[name]
    return _new(Step, (op, given, no_kernel, no_kernel, inputs, output, type))


def nest_of(key: Key) -> tuple[Excerpt, Nest]:
    """The nest of a key, and what its writer knows."""
    _, domain, split, tile, steps, outside, stored, before, behind, tiles, writes_much, into = key
    excerpt, made, levels = Excerpt(), list[Step](), dict[int, str]()
    excerpt.writes_much = writes_much
    for slot, (view, dtype, literal) in outside:
        excerpt.views[slot], excerpt.dtypes[slot] = view, dtype
        if literal is not None:
            excerpt.constants[view.root] = np.frombuffer(literal[1], DTYPES[literal[0]].dtype).reshape(())
    for name, attributes, type_, inputs, output, level, dtype, shape, _ in steps:
        made.append(_step(name, attributes, inputs, output, type_))
        levels[output] = level
        excerpt.dtypes[output], excerpt.shapes[output] = dtype, shape
    by_row = frozenset([step[4] for step in steps if step[8]])
    products, followers = [
        tuple([product_of(p) if p[0] == "product" else window_of(p) for p in own]) for own in (before, behind)
    ]
    for one in products:
        excerpt.dtypes[one.step.output] = one.step.type.dtype.name
    level, read, pieces = MappingProxyType(levels), reading(made, levels), MappingProxyType(dict(into))
    return excerpt, Nest(
        domain, split, tuple(made), level, by_row, read, stored, products, followers, tile, tiles, pieces
    )


def product_of(key: Key) -> Product:
    """The product of a key."""
    _, type_, output, a, b, shape, choice = key
    return Product(_step("matmul", None, (a.root, b.root), output, type_), a, b, shape, Choice(*choice))


def window_of(key: Key) -> Window:
    """The convolution or pool of a key."""
    _, name, attributes, type_, output, reads, dtypes, beside = key
    positions = None if beside is None else _step("max_pool_positions", None, (), beside[1], beside[0])
    return Window(_step(name, attributes, (), output, type_), reads, dtypes, positions)


def remade(key: Key) -> tuple[Nest | Product | Window, Excerpt | None]:
    """The nest, product or window of a key, and what is known of a nest's slots."""
    if key[0] == "nest":
        excerpt, nest = nest_of(key)
        return nest, excerpt
    return product_of(key) if key[0] == "product" else window_of(key), None
