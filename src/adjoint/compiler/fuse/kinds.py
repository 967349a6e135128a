"""The kinds of units that a plan becomes, and the views through which they read what lies in memory.

A loop nest runs over the elements of its `domain`. Its steps have values at two levels: `element`, one for each point of the
domain, and `row`, one for each point of the leading axes, which the reductions over the trailing axes give. So a softmax or
layer norm is one nest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.fuse import images
from adjoint.compiler.loops.routines import Routine
from adjoint.plan.assemble import PIECES
from adjoint.plan.plan import Step
from adjoint.plan.text import PLAIN, Labels, beside, shape_text, step_text
from adjoint.shapes import Shape, contiguous, reshaped_strides, size_of


class View(NamedTuple):
    """Elements of a slot's memory: an offset and a stride for each axis, in elements."""

    root: int
    offset: int
    shape: Shape
    strides: tuple[int, ...]

    def text(self, labels: Labels = PLAIN) -> str:
        """The array, and which of its elements if these aren't all in order."""
        name = f"{labels.name(self.root)}[{shape_text(self.shape)}]"
        if is_contiguous(self) and not self.offset:
            return name
        return f"{name} from {self.offset} on by {self.strides}"


_new = tuple.__new__  # named tuples by their own constructor take twice as long


def is_contiguous(view: View) -> bool:
    if view.strides == contiguous(view.shape):
        return True
    return all(n == 1 or s == c for n, s, c in zip(view.shape, view.strides, contiguous(view.shape), strict=True))


def repeats(view: View) -> bool:
    """Whether some element stands at several indices."""
    return any([s == 0 and n != 1 for n, s in zip(view.shape, view.strides, strict=True)])


def broadcast(view: View, shape: Shape) -> View:
    """The view repeated to a shape, by NumPy's rules."""
    extra = len(shape) - len(view.shape)
    strides = [0] * extra + [
        0 if n == 1 and m != 1 else s for n, m, s in zip(view.shape, shape[extra:], view.strides, strict=True)
    ]
    return View(view.root, view.offset, shape, tuple(strides))


def reshaped(view: View, shape: Shape) -> View | None:
    """The view in another shape; None where only a copy has it."""
    if is_contiguous(view):
        return _new(View, (view.root, view.offset, shape, contiguous(shape)))
    strides = reshaped_strides(view.shape, view.strides, shape)
    return None if strides is None else View(view.root, view.offset, shape, strides)


def moved(view: View, step: Step) -> View | None:
    """The view that a movement makes of a view; None where it needs a copy."""
    return view if step.op.passes_on else VIEWS[step.op.name](view, step.attributes, step.type.shape)


def _permuted(view: View, axes: tuple[int, ...], shape: Shape) -> View:
    root, offset, _, strides = view
    return _new(View, (root, offset, shape, tuple([strides[a] for a in axes])))


def _sliced(view: View, slices: tuple[tuple[int, int, int], ...], shape: Shape) -> View:
    offset = view.offset + sum(start * s for (start, _, _), s in zip(slices, view.strides, strict=True))
    return View(view.root, offset, shape, tuple([s * by for (_, _, by), s in zip(slices, view.strides, strict=True)]))


# The views that movements make: of a view, the step's attributes, and the shape of the result.
VIEWS: dict[str, Callable[[View, Any, Shape], View | None]] = {
    "reshape": lambda view, attributes, shape: reshaped(view, shape),
    "broadcast_to": lambda view, attributes, shape: broadcast(view, shape),
    "permute_dims": _permuted,
    "slice": _sliced,
}


def is_movement(step: Step) -> bool:
    """Whether what a step gives is a view of its first input, or a copy of one."""
    return step.op.passes_on or step.op.name in VIEWS


def stack_stride(view: View) -> int | None:
    """Elements from one matrix of a stack to the next, in order; None where they don't lie at one stride."""
    stride, length = 0, 1
    for n, s in zip(reversed(view.shape[:-2]), reversed(view.strides[:-2]), strict=True):
        if n == 1:
            continue
        if length == 1:
            stride = s
        elif s != stride * length:
            return None
        length *= n
    return stride


class Printed:
    """What `lines` prints for people."""

    __slots__ = ()

    def lines(self, labels: Labels = PLAIN) -> list[str]:
        """The lines, with the names and places of what they mention."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(self.lines())


class Single(Printed):
    """A unit that computes one `step` of views of what lies in memory, which it `reads`; `kind` is the first word of its line."""

    __slots__ = ()
    kind: str = ""
    step: Any
    reads: Any

    @property
    def name(self) -> str:
        """What is computed, and by which library if by one."""
        return f"{self.step.op.name} ({self.library})" if self.library else str(self.step.op.name)

    @property
    def library(self) -> str:
        """Who computes it; empty for code of our own."""
        return ""

    @property
    def operations(self) -> int:
        """About how many there are in all."""
        return 0

    @property
    def may_fail(self) -> bool:
        """Whether an operand may be to blame."""
        return False

    @property
    def outputs(self) -> Sequence[int]:
        """The slots of what it makes."""
        return [self.step.output]

    @property
    def computed(self) -> list[Step]:
        """The steps that it computes."""
        return [self.step]

    @property
    def word(self) -> str:
        """The first word of its line."""
        return self.kind

    @property
    def how(self) -> str:
        """What people are told of how it is computed."""
        return ""

    def lines(self, labels: Labels = PLAIN) -> list[str]:
        """The step for people."""
        head = beside(f"{self.word} {step_text(self.step, labels)}", labels.line(self.step.output))
        return [head, f"  {self.how}"] if self.how else [head]


class Piece(NamedTuple):
    """Where what a nest stores lies in another array: from an element on, at a stride for each axis of the domain. Maybe 0 is
    added to each."""

    root: int
    offset: int
    strides: tuple[int, ...]
    adds_zero: bool


def reading(steps: Sequence[Step], level: Mapping[int, str]) -> frozenset[int]:
    """The slots that steps read and don't compute."""
    return frozenset().union(*[step.inputs for step in steps]).difference(level)


class _Nest(NamedTuple):
    domain: Shape
    split: int | None  # the number of leading axes once a reduction made rows of the trailing ones
    steps: tuple[Step, ...]
    level: Mapping[int, str]  # of the slots computed here: "element", "row" or "total" (nobody reads it here)
    by_row: frozenset[int]  # the reductions that give one value for each row
    read: frozenset[int]  # the slots that it reads from memory
    stored: tuple[int, ...] = ()  # slots that go to memory
    # computed tile by tile: each read by the nest while it is in the cache, or from what the nest leaves there
    products: tuple[Product | Window, ...] = ()
    followers: tuple[Product | Window, ...] = ()
    tile: int = 0  # elements, if there are products or followers
    tiles: tuple[int, ...] = ()  # arrays of which nothing but the tile is kept
    # slots that aren't stored as arrays of their own, but as pieces of another
    into: Mapping[int, Piece] = MappingProxyType({})


class Nest(_Nest, Printed):
    """A loop nest over a domain."""

    __slots__ = ()
    may_fail = False

    def computing(self, steps: Sequence[Step], level: Mapping[int, str]) -> Nest:
        """The nest with other steps."""
        return self._replace(steps=tuple(steps), level=MappingProxyType(level), read=reading(steps, level))

    @property
    def made(self) -> tuple[Product | Window, ...]:
        """The products before and behind the loops."""
        return self.products + self.followers

    @property
    def outputs(self) -> list[int]:
        """The arrays that it makes, or what is computed with it."""
        found = [one.positions.output for one in self.made if isinstance(one, Window) and one.positions]
        found += dict.fromkeys([self.into[s].root if s in self.into else s for s in self.stored])
        found += [one.step.output for one in self.made]
        return [slot for slot in found if slot not in self.tiles] if self.tiles else found

    @property
    def computed(self) -> list[Step]:
        """The steps that it computes, and those computed with it."""
        return [*self.steps, *[one.step for one in self.made]]

    @property
    def by_cells(self) -> bool:
        """Whether it is computed on what a convolution before it, or a pool behind it, has in registers."""
        return bool(self.made) and not self.tile

    @property
    def is_one_row(self) -> bool:
        """Whether a reduction makes one number of the whole domain."""
        return self.split is not None and size_of(self.domain[: self.split]) == 1

    def whole(self, slot: int) -> View:
        """An array of the domain's shape, each element read where it is."""
        return View(slot, 0, self.domain, contiguous(self.domain))

    def lines(self, labels: Labels = PLAIN) -> list[str]:
        """The nest for people: its domain, its steps, what is read and stored."""
        rows = f", a row is {shape_text(self.domain[self.split :])}" if self.split is not None else ""
        tiles = f", {self.tile} elements at a time" if self.tile else ""
        found = [f"loops over {shape_text(self.domain)}{rows}{tiles}"]
        for kind, made in (("before", self.products), ("behind", self.followers)):
            for one in made:
                first, *rest = one.lines(labels)
                part = "nothing" if self.by_cells else "only a tile"
                note = f"; {part} of it is kept" if one.step.output in self.tiles else ""
                found += [f"  {kind}: {first}{note}", *[f"    {line}" for line in rest]]
        one_each = {"row": "  (one for each row)", "total": "  (total)"}
        for step in self.steps:
            level = one_each.get(self.level[step.output], "")
            found.append(beside(f"  {step_text(step, labels)}{level}", labels.line(step.output)))
        read = dict.fromkeys([i for step in self.steps for i in step.inputs if i in self.read])
        kept = [labels.name(s) for s in self.stored if s not in self.tiles and s not in self.into]
        kept += [f"{labels.name(s)} in {labels.name(piece.root)}" for s, piece in self.into.items()]
        found.append(f"  reads {', '.join(map(labels.name, read)) or 'nothing'}; stores {', '.join(kept) or 'nothing'}")
        return found


class Choice(NamedTuple):
    """How a product is computed: by oneDNN, OpenBLAS or, if empty, kernels of our own; so many rows at a time."""

    library: str
    rows: int


class _Product(NamedTuple):
    step: Step
    a: View
    b: View
    shape: Shape
    choice: Choice | None = None


class Product(_Product, Single):
    """A matrix product, `a` by `b` into a row-major array of `shape`: the step's result or its transpose."""

    __slots__ = ()
    kind = "product"

    @property
    def reads(self) -> tuple[View, ...]:
        """Its factors."""
        return (self.a, self.b)

    @property
    def operations(self) -> int:
        """Multiplications and additions."""
        return 2 * size_of(self.step.type.shape) * self.a.shape[-1]

    def turned(self) -> Product:
        """The transpose of the result, of that of B by that of A."""
        *batch, n, m = self.shape
        return self._replace(a=transposed(self.b), b=transposed(self.a), shape=(*batch, m, n))

    @property
    def is_cut(self) -> bool:
        """Whether it is computed in several ranges of its rows."""
        return self.choice is not None and self.choice.rows < self.shape[-2]

    @property
    def library(self) -> str:
        """Who computes it; empty for kernels of our own."""
        return self.choice.library if self.choice is not None else ""

    @property
    def grain(self) -> int:
        """Elements of the result that are computed together, at least: a row, or in a batch a matrix."""
        n, m = self.shape[-2:]
        return n * m if size_of(self.shape) > n * m else m

    def lines(self, labels: Labels = PLAIN) -> list[str]:
        """The product for people."""
        rows = f", in ranges of {self.choice.rows} rows" if self.choice is not None else ""
        head = f"product {labels.name(self.step.output)}[{shape_text(self.shape)}]"
        by = f"by {self.library or 'tiles of our own'}{rows}"
        return [
            beside(f"{head} = {self.a.text(labels)} @ {self.b.text(labels)}", labels.line(self.step.output)),
            f"  {by}",
        ]


class _Window(NamedTuple):
    step: Step
    reads: tuple[View, ...]
    dtypes: tuple[str, ...]
    positions: Step | None = None  # of the largest numbers, if they are asked for too


class Window(_Window, Single):
    """A convolution or pool over channels-last images. The result is in rows, in the step's shape."""

    __slots__ = ()
    kind = "window"

    @property
    def shape(self) -> Shape:
        """That of the result."""
        return self.step.type.shape  # type: ignore[no-any-return]

    @property
    def operations(self) -> int:
        """Multiplications and additions of a convolution or one of its derivatives; of a pool, 0."""
        result, first, second = self.shape, self.reads[0].shape, self.reads[-1].shape
        images_and_weights = {
            "convolution": (result, second),
            "convolution_input_gradient": (first, second),
            "convolution_weight_gradient": (second, result),
        }.get(self.step.op.name)
        if images_and_weights is None:
            return 0
        pixels, weights = images_and_weights
        return 2 * size_of(pixels) * size_of(weights[1:])

    @property
    def outputs(self) -> Sequence[int]:
        """The slots of what it makes."""
        return [self.step.output, *([self.positions.output] if self.positions else [])]

    @property
    def library(self) -> str:
        """Who computes it; empty for loops of our own."""
        return "oneDNN" if self.step.op.name in images.CONVOLUTIONS and not self.is_ours else ""

    @property
    def sizes(self) -> images.Sizes | None:
        """The sizes of a convolution."""
        name, shapes = self.step.op.name, [view.shape for view in self.reads]
        return images.sizes_of(name, self.step.attributes, shapes, self.shape) if name in images.CONVOLUTIONS else None

    @property
    def in_tiles(self) -> bool:
        """Whether it is a convolution with fewer multiplications, by kernels of our own."""
        return self.sizes is not None and self.sizes.in_tiles

    @property
    def in_strips(self) -> bool:
        """Whether it is a convolution of few channels, by kernels of our own."""
        return self.step.op.name == "convolution" and self.sizes is not None and self.sizes.in_strips

    @property
    def is_ours(self) -> bool:
        """Whether it is a convolution that kernels of our own compute."""
        return self.in_tiles or self.in_strips

    @property
    def grain(self) -> int:
        """Elements of the result that are computed together, at least."""
        return size_of(self.shape[1:])

    def lines(self, labels: Labels = PLAIN) -> list[str]:
        """The convolution or pool for people."""
        by = self.library or f"{'tiles' if self.in_tiles else 'strips' if self.in_strips else 'loops'} of our own"
        beside_it = "" if self.positions is None else f", with the positions in {labels.name(self.positions.output)}"
        head = beside(f"window {step_text(self.step, labels)}{beside_it}", labels.line(self.step.output))
        return [head, f"  by {by}, channels last"]


def fills_regions(step: Step) -> bool:
    """Whether a step writes each of its inputs into a region of the result, or copies the result there."""
    return step.op.name == PIECES.name or (step.op.rearranges and not step.op.view)


class _Move(NamedTuple):
    step: Step
    reads: tuple[View, ...]
    dtypes: tuple[str, ...]


class Move(_Move, Single):
    """A step that puts elements into places that a loop nest can't reach. `reads` are its inputs, in order where they are
    indices or moved by them."""

    __slots__ = ()
    kind = "move"

    @property
    def indices(self) -> tuple[View, ...]:
        """One for each leading axis that they select along."""
        first = self.step.op.indices_from
        return self.reads[first:] if first else ()

    @property
    def clips(self) -> bool:
        """Whether an index outside stands for the nearest inside."""
        return self.step.op.name == "scatter" and bool(self.step.attributes)

    @property
    def indexed_shape(self) -> Shape:
        """The shape in which the indices select."""
        given = self.step.op.name in ("scatter_add", "latest")
        shape: Shape = self.step.attributes if given else self.reads[0].shape
        return shape


class _Matrices(NamedTuple):
    step: Step
    reads: tuple[View, ...]
    outputs: tuple[int, ...]
    routine: Routine


class Matrices(_Matrices, Single):
    """A step on stacks of matrices: small ones by a formula, each in a lane of its own, larger ones by LAPACK, one after
    another."""

    __slots__ = ()
    kind = "matrices"

    @property
    def batch(self) -> Shape:
        """The shape of the stack."""
        return self.reads[0].shape[:-2]

    @property
    def may_fail(self) -> bool:
        return bool(self.routine.problem) or self.routine.pivots

    @property
    def library(self) -> str:
        return "" if self.routine.formula else "OpenBLAS"

    @property
    def name(self) -> str:
        """What is computed, and by which library if by one."""
        return self.routine.operation if self.routine.formula else super().name

    @property
    def operations(self) -> int:
        """About how many there are in all."""
        n, m = self.reads[0].shape[-2:]
        return size_of(self.batch) * self.routine.operations(n, max(m, self.reads[-1].shape[-1]))

    @property
    def how(self) -> str:
        way = "one in a lane" if self.routine.formula else "one after another"
        each = "one matrix" if size_of(self.batch) == 1 else f"{shape_text(self.batch)} matrices, {way}"
        return f"{each}, by {'' if self.routine.either_way else 'the LAPACK of '}OpenBLAS" if self.library else each


class _Scan(NamedTuple):
    step: Step
    reads: tuple[View, ...]
    outputs: tuple[int, ...]
    part: Any  # knows how a step is written, or is run
    length: int
    reverse: bool


class Scan(_Scan, Single):
    """A loop of known length."""

    __slots__ = ()
    kind = "scan"

    @property
    def may_fail(self) -> bool:
        return bool(self.part.may_stop)

    @property
    def operations(self) -> int:
        """About how many there are in all."""
        return int(self.part.operations * self.length)

    @property
    def word(self) -> str:
        return "loop" if self.length > 1 else "once"

    @property
    def how(self) -> str:
        return str(self.part.said(self.length))


class _Line(NamedTuple):
    kind: str  # "transform", "running" or "order"
    step: Step
    reads: tuple[View, ...]
    axis: int
    dtype: str
    length: int  # elements of a line
    attributes: Any = None


class Line(_Line, Single):
    """A step along an axis of what it reads: a Fourier transform, a result made of the one before it, a search in sorted rows, or
    the order of short lines. Its code is told a dtype, attributes, and the elements of a line."""

    __slots__ = ()

    @property
    def operations(self) -> int:
        """About how many there are in all: of what is no transform, one for each result."""
        n, shape = self.length, self.reads[0].shape
        if self.kind != "transform":
            return size_of(self.step.type.shape)
        lines, real = size_of(shape) // max(shape[self.axis], 1), self.step.op.name != "fft"
        return int(5 * n * max(n.bit_length() - 1, 1) * lines) // (1 + real)

    @property
    def how(self) -> str:
        return f"along axis {self.axis}, a line of {self.length} in a lane" if self.kind == "transform" else ""


class _Host(NamedTuple):
    step: Step
    reason: str


class Host(_Host, Single):
    """A step that NumPy runs, and the reason; none for what others compute: loops and branches, which are programs of their
    own, and what takes one of several results."""

    __slots__ = ()
    kind = "numpy"
    reads = ()

    @property
    def may_fail(self) -> bool:
        return True

    @property
    def word(self) -> str:
        return "numpy" if self.step.op.graphs is None else "runs"  # a program of its own, native or not

    @property
    def how(self) -> str:
        return f"not native: {self.reason}" if self.reason else ""


Unit = Nest | Product | Window | Matrices | Scan | Move | Line | Host


def transposed(view: View) -> View:
    """The last two axes exchanged."""
    (*batch, n, m), (*steps, s, t) = view.shape, view.strides
    return View(view.root, view.offset, (*batch, m, n), (*steps, t, s))
