"""What native code is called with: a table of pointers for each run, one of its own for each thread in it, and for each unit a
block that says where in these it finds what it needs.

Code belongs to kernels, which units of many plans share; so it knows positions in a unit's block alone. What stands there is
a position in the run's table, or a number. A block is the same in every run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint._tuples import NamedTuple
from adjoint.compiler.extents import occurs, plain
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.build import Emitter, mask_of
from adjoint.compiler.targets.target import tuning
from adjoint.errors import LinAlgError
from adjoint.primitives.lapack import ROW_MAJOR
from adjoint.primitives.linalg_kernels import which
from adjoint.runtime import onednn
from adjoint.shapes import Shape

if TYPE_CHECKING:
    from adjoint.compiler.schedule.blocks import BlockSchedule

ALIGNMENT = 64
LARGE = 1 << 61  # in place of the extent of a number that is an argument whatever it follows from
# The table's first positions: the threads' own tables; where it is noted that an index is out of bounds; that a library failed.
OWNS, FAILURE, STATUS = range(3)
HEADER = 3
# Of a kernel's functions: a range of its chunks.
PARAMETERS = (("ptr", "%table"), ("i64", "%first"), ("i64", "%last"), ("ptr", "%own"), ("ptr", "%args"))


class Bounds(NamedTuple):
    """A check of indices: the axis that they select along, and its length."""

    axis: int
    length: int

    def error(self, noted: int) -> Exception:
        """What is raised for an index that was noted."""
        return IndexError(f"index {noted} is out of bounds for axis {self.axis} with size {self.length}")


class Unsolvable(NamedTuple):
    """A check of matrices in a stack of shape `batch`: the operation, and what is wrong with one that is to blame."""

    name: str
    problem: str
    batch: Shape

    def error(self, noted: int) -> Exception:
        """What is raised for a matrix that was noted, by its position in the stack."""
        index = tuple([int(i) for i in np.unravel_index(noted, self.batch)])
        return LinAlgError(f"{self.name}: {which(index, self.batch)} {self.problem}")


class Unended(Exception):
    """A loop that ends by itself took so long that the program must be run by one that can be interrupted."""


class Unfinished(NamedTuple):
    """A check of a loop that ends by itself, by its operation."""

    name: str

    def error(self, noted: int) -> Exception:
        """What is raised for one that native code has left."""
        return Unended(f"{self.name} takes more than {noted:,} steps")


class First(NamedTuple):
    """A function that runs before a unit: what it packs, where other units may read that, too; its chunks."""

    name: str
    packs: str | None = None
    chunks: int = 1


class Start(NamedTuple):
    """Where a view of an array starts: the array's slot, and the number of elements before."""

    root: int
    offset: int


class Function(NamedTuple):
    """A function outside of a kernel. `library` is "C", "OpenBLAS", "oneDNN" or, of tiles of matrix products, "tiles"."""

    library: str
    name: Any


class Shared(NamedTuple):
    """Scratch space that all threads see while a unit runs, and what it is for."""

    unit: int
    purpose: str


@dataclass(frozen=True)
class Numbered:
    """What stands in a block or in a table for one of several, by its number."""

    number: int = 0


class Handle(Numbered):
    """A primitive of oneDNN, by its number in the program or kernel."""


class Loop(Numbered):
    """What a frame has for a loop that is a program of its own, by its unit's number in the program."""


class Calls(Numbered):
    """The position in the threads' own tables of the pointers for a call of oneDNN, by the call's number. Not in the table."""


class FirstCheck(Numbered):
    """The number of the first check of indices in a unit. Not in the table."""


class Number(Numbered):
    """A number that follows from the unit's extents, by its place among the kernel's. Not in the table."""


class Listed(Numbered):
    """Where a list begins in the block, behind what else is there, by its number. Not in the table."""


Key = Start | Function | Shared | Handle | Loop | Calls | FirstCheck | Number | Listed
Items = Sequence[int | Function | Start]  # numbers, and functions and arrays, whose position in the table stands there


def numbers_of(items: Items) -> list[int]:
    """The numbers in a list, and zeros where positions go."""
    return [0 if type(x) is Function or type(x) is Start else x for x in items]  # type: ignore[misc]


class Arguments:
    """What a kernel reads through its block, and what else it needs: scratch space for each thread and for all, primitives of
    oneDNN, checks of indices. Its own unit is number 0."""

    def __init__(self) -> None:
        self.positions: dict[Key, int] = {}
        self.shared: dict[str, int] = {}  # bytes, by purpose
        self.packed: dict[Any, str] = {}  # where matrices are packed, by their views
        self.scratch = 0  # bytes of each thread's own scratch space
        self.primitives: list[onednn.Primitive] = []
        self.recipes: dict[int, onednn.Product] = {}  # of those that follow from extents, by their numbers
        self.keep: list[onednn.Primitive] = []  # that own descriptors in use
        self.checks: list[Bounds | Unsolvable | Unfinished] = []
        self.numbers: list[int] = []
        self.roles: dict[Any, Number] = {}
        self.lists: list[Items] = []
        self.in_c: set[str] = set()  # functions of `factors.c` that it calls

    def given(self, value: int, role: Any = None) -> Number:
        """The key of a number that the code isn't to depend on. Numbers of the same role are one."""
        found = None if role is None else self.roles.get(role)
        if found is None:
            found = Number(len(self.numbers))
            self.numbers.append(value)
            if role is not None:
                self.roles[role] = found
        elif self.numbers[found.number] != value:
            raise AssertionError(f"two numbers in one role, {role}: {self.numbers[found.number]} and {value}")
        return found

    @property
    def functions(self) -> list[Function]:
        """The functions outside of the kernel."""
        return [x for x in [*self.positions, *itertools.chain(*self.lists)] if type(x) is Function]

    def block(self) -> list[int]:
        """A unit's block as it begins: the numbers, and zeros where positions go."""
        starts, end = [], len(self.positions)
        for one in self.lists:
            starts.append(end)
            end += len(one)
        found = [
            self.numbers[key.number] if type(key) is Number else starts[key.number] if type(key) is Listed else 0
            for key in self.positions
        ]
        return found + [x for one in self.lists for x in numbers_of(one)]

    def places(self) -> list[tuple[int, Key]]:
        """Where in the block positions go, and of what."""
        found = [
            (place, key) for key, place in self.positions.items() if type(key) is not Number and type(key) is not Listed
        ]
        listed = enumerate(itertools.chain(*self.lists), len(self.positions))
        return [*found, *[(place, x) for place, x in listed if type(x) is Function or type(x) is Start]]

    def at(self, key: Key) -> int:
        """The position of a key in the block."""
        return self.positions.setdefault(key, len(self.positions))

    def number(self, e: Emitter, key: Key) -> str:
        """What stands in the block."""
        return e.argument(self.at(key))

    def pointer(self, e: Emitter, key: Key) -> str:
        """The pointer in the run's table."""
        return e.array(self.at(key), key)

    def share(self, purpose: str, size: int) -> Shared:
        """Scratch space that all threads see while the unit runs."""
        self.shared[purpose] = size
        return Shared(0, purpose)

    def reserve(self, size: int) -> int:
        """The offset of scratch space in each thread's own."""
        offset = self.scratch
        self.scratch = offset + -(-size // ALIGNMENT) * ALIGNMENT
        return offset

    def call(self, primitive: onednn.Primitive | onednn.Product) -> int:
        """The number of a call of a primitive, or of one that follows from extents."""
        number = len(self.primitives)
        if not isinstance(primitive, onednn.Primitive):
            self.recipes[number] = primitive
            primitive = onednn.made(plain(primitive))
        self.primitives.append(primitive)
        return number

    def remake(self, recipes: Sequence[onednn.Product]) -> None:
        """Take the primitives of these recipes in place of those that there are."""
        self.primitives = self.primitives.copy()
        for number, recipe in zip(self.recipes, recipes, strict=True):
            self.primitives[number] = onednn.made(recipe)
        self.recipes = dict(zip(self.recipes, recipes, strict=True))

    def note(self, check: Bounds | Unsolvable | Unfinished) -> int:
        """The number of a check, among the kernel's."""
        self.checks.append(check)
        return len(self.checks) - 1


class Inputs:
    """A function being written, and what it reads from its block at its beginning. Extents and strides up to `literal` stand in
    the code."""

    def __init__(self, e: Emitter, arguments: Arguments) -> None:
        self.e = e
        self.arguments = arguments
        self.literal = tuning().literal
        self.body: list[Any] = []
        self.names: dict[Any, str] = {}

    def at_the_beginning(self) -> AbstractContextManager[None]:
        """Add statements before all others."""
        return self.e.inside(self.body)

    def listed(self, items: Items) -> str:
        """Where in the block a list begins."""
        self.arguments.lists.append(items)
        with self.at_the_beginning():
            return self.arguments.number(self.e, Listed(len(self.arguments.lists) - 1))

    def once(self, key: Any, make: Callable[[], str]) -> str:
        """What is made at the beginning, and has a name by this key from then on."""
        found = self.names.get(key)
        if found is None:
            e, before = self.e, self.e.body
            e.body = self.body
            found = self.names[key] = make()
            e.body = before
        return found

    def pointer(self, key: Key) -> str:
        """The pointer in the run's table."""
        return self.once(key, lambda: self.arguments.pointer(self.e, key))

    def number(self, value: int, role: Any = None, extent: int | None = None) -> str:
        """A number that follows from the unit's extents, which it reads as an argument if what it follows from is large. Numbers
        of the same role are one."""
        if (value if extent is None else extent) <= self.literal:
            return str(value)
        key = self.arguments.given(value, role)
        return self.once(key, lambda: self.arguments.number(self.e, key))

    def tile(self, kernel: matmul_tiles.Kernel, *values: str | int) -> None:
        """Call a kernel that products share, with these in the order of its parameters."""
        matmul_tiles.call(self.e, self.pointer(Function("tiles", kernel)), kernel.name, *values)

    def blas(self, name: str, numbers: Sequence[int | str], *given: tuple[str, str]) -> None:
        """Call a function of OpenBLAS: modes and sizes, then factors and pointers with their types, and the lengths of rows."""
        kinds = [*[("i32", str(x)) for x in (ROW_MAJOR, *numbers)], *given]
        narrow = [
            (k, self.e.made(L.Cast, "trunc", "i64", k, 0, x) if k == "i32" and not x.isdigit() else x) for k, x in kinds
        ]
        self.e.call(self.pointer(Function("OpenBLAS", f"cblas_{name}")), narrow)

    def fail(self, check: Bounds | Unsolvable | Unfinished, noted: str) -> None:
        """Note that a check has failed, and what is to be said of it: the program ends behind this unit."""
        e = self.e
        failure, number = e.entry("%table", FAILURE), self.arguments.number(e, FirstCheck())
        for place, value in enumerate((e.plus(number, self.arguments.note(check) + 1), noted)):
            e.note("i64", value, e.at(failure, place, "i64"))

    def own(self, size: int) -> str:
        """So many bytes of the thread's own memory."""
        offset = self.arguments.reserve(size)
        with self.at_the_beginning():
            return self.e.at(self.e.entry("%own", 0), offset, "i8")

    def function(self, name: str, parameters: L.Parameters = PARAMETERS, internal: bool = False) -> L.Function:
        """What was written."""
        for libm, k in self.e.libm.items():
            key = Function("C", libm)
            self.body.append(L.Array(f"%libm{k}", self.arguments.at(key), key))
        return self.e.function(name, parameters, internal, self.body)

    def vectors(self, count: int, body: Callable[[str], None], role: Any = None) -> None:
        """`body(offset)` for vectors that cover `count` elements, the last one under a mask."""
        e = self.e
        whole, rest = divmod(count, e.lanes)
        stop = self.number(whole * e.lanes, None if role is None else (role, "whole"), count)
        if whole:
            with e.loop("0", stop, e.lanes) as i:
                body(i)
        if occurs(rest):
            own = ("the unit's", len(self.arguments.numbers)) if role is None else (role, "rest")
            with self.left_over(rest, count, own):
                body(stop)

    @contextmanager
    def left_over(self, rest: int, count: int, role: Any) -> Iterator[None]:
        """Compute what whole vectors of so many elements leave over: under a mask, and where they leave nothing not at all."""
        e, mask = self.e, self.mask(rest, count, role)
        left = None if count <= self.literal else e.test("ne", self.number(rest, role, LARGE), 0)
        with e.when(left), e.masked(mask):
            yield

    def mask(self, rest: int, count: int, role: Any) -> str:
        """The mask of the last vector of so many elements, of which the rest counts."""
        if count <= self.literal:
            return mask_of(rest, self.e.lanes)
        left = self.number(rest, role, LARGE)
        return self.once(("mask", role), lambda: self.e.below(left))


class Writer:
    """Writes functions of a unit, one at a time: `e` and `inputs` are those of the one at hand."""

    def __init__(self, arguments: Arguments, lanes: int = 1) -> None:
        self.arguments = arguments
        self.begin(lanes)

    def begin(self, lanes: int) -> None:
        """Begin a function."""
        self.e = Emitter(lanes)
        self.inputs = Inputs(self.e, self.arguments)

    @contextmanager
    def another(self, lanes: int = 1) -> Iterator[Emitter]:
        """Write another function meanwhile."""
        before = self.e, self.inputs
        self.begin(lanes)
        yield self.e
        self.e, self.inputs = before

    def pointer(self, key: Key | int) -> str:
        """The array behind the number of a place or, with a key, what that stands for."""
        return self.inputs.pointer(Start(key, 0) if type(key) is int else key)  # type: ignore[arg-type]


class UnitWriter(Writer):
    """Writes the functions of a unit that falls into chunks of blocks, each computed alike, as it is scheduled."""

    first: Sequence[First] = ()  # what is called before, in order

    def __init__(self, arguments: Arguments, how: BlockSchedule) -> None:
        super().__init__(arguments, how.lanes)
        self.how, self.count, self.chunks = how, how.blocks, how.chunks

    def write(self) -> list[L.Function]:
        """The function of a range of chunks, and others."""
        number, e = self.inputs.number, self.e
        step, count = number(self.how.step, "step", self.how.step + 9), number(self.count, "count")
        self.prepare()
        with e.loop("%first", "%last", 1) as chunk:
            self.begin_chunk(chunk)
            low = e.times(chunk, step)
            with e.loop(low, e.index("umin", e.plus(low, step), count), self.how.together) as i:
                self.block(i)
        return [self.inputs.function("unit")]

    def over(self, size: int, stop: str, body: Callable[[str, int], None], start: int = 0) -> None:
        """`body(offset, count)` for vectors from `start` on, the last one under a mask; whole ones end at `stop`."""
        e, lanes, rest = self.e, self.e.lanes, size % self.e.lanes
        if size - rest > start:
            with e.loop(str(start), stop, lanes) as i:
                body(i, lanes)
        if rest:
            with e.masked(mask_of(rest, lanes)):
                body(stop, rest)

    def prepare(self) -> None:
        """Read what all chunks need."""

    def begin_chunk(self, chunk: str) -> None:
        """Do what comes before the first block of a chunk."""

    def block(self, i: str) -> None:
        """Compute what is counted from the i-th on."""
        raise NotImplementedError


class Table:
    """A program's table of pointers: a position for each array, function and piece of scratch space."""

    def __init__(self) -> None:
        self.positions: dict[Key, int] = {}
        self.shared: dict[Shared, int] = {}  # bytes
        self.until: dict[Shared, int] = {}  # the last unit that reads such space, if it isn't that one
        self.packed: dict[Any, Shared] = {}  # where matrices are packed, by their views
        self.primitives: dict[int, tuple[int, onednn.Primitive]] = {}  # the number of each, by identity
        self.checks: list[Bounds | Unsolvable | Unfinished] = []

    @property
    def size(self) -> int:
        return HEADER + len(self.positions)

    def handle(self, primitive: onednn.Primitive) -> Handle:
        """The key of a primitive of oneDNN."""
        return Handle(self.primitives.setdefault(id(primitive), (len(self.primitives), primitive))[0])


class Own:
    """What each thread has for itself: scratch space, and memory objects for the primitives of oneDNN that it calls.

    Its table has the scratch space first, then for each primitive the array of arguments and the memory objects in it.
    """

    def __init__(self) -> None:
        self.calls: list[onednn.Primitive] = []
        self.places: dict[int, int] = {}  # by the identity of the primitive
        self.length = 1
        self.scratch = 0  # bytes

    def call(self, primitive: onednn.Primitive) -> int:
        """The first position of a primitive's pointers: one call of it runs at a time."""
        first = self.places.get(id(primitive))
        if first is None:
            first = self.places[id(primitive)] = self.length
            self.calls.append(primitive)
            self.length += 1 + len(primitive.arguments)
        return first
