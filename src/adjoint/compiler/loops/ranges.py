"""What all writers of products and windows have in common: a function of a range of rows or images."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.matmul_tiles import Kernel
from adjoint.compiler.tables import PARAMETERS, Arguments, Function, Items, Writer
from adjoint.compiler.targets.llvm import memory
from adjoint.plan.plan import Step

RANGE = (("ptr", "%table"), ("i64", "%lo"), ("i64", "%hi"), ("ptr", "%own"), ("ptr", "%args"))


def passed(first: str, last: str) -> tuple[tuple[str, str], ...]:
    """What a function over a range hands on to one over another."""
    return (("ptr", "%table"), ("i64", first), ("i64", last), ("ptr", "%own"), ("ptr", "%args"))


class RangeWriter(Writer, ABC):
    """Writes what a step computes as a function of a range of its `rows`, of which each has so many elements. A nest around may
    keep a tile of the result in the thread's own memory, and say where (`tile_at`)."""

    rows: int
    row_elements: int
    tile_at: int | None = None
    joins = False  # whether neighbouring ranges may be done as one, with the same bits

    def __init__(self, step: Step, name: str, arguments: Arguments) -> None:
        super().__init__(arguments)
        self.step, self.name = step, name
        self.dtype = step.type.dtype.name
        self.start: list[L.Function] = []  # before all, in so many chunks
        self.start_chunks = 1
        self.packs_for_all: str | None = None  # what `start` packs, where other units may read it, too
        self.finish: list[L.Function] = []

    @property
    @abstractmethod
    def time(self) -> float:
        """A guess in nanoseconds."""

    @abstractmethod
    def write(self) -> list[L.Function]:
        """The function of (table, first row, row after the last, own table, block), and others that it calls."""

    @abstractmethod
    def number(self, value: int, *role: Any) -> str:
        """A number that follows from extents, by what it is."""

    def function(self, part: str = "") -> L.Function:
        """The function that was written: of a range, or what runs once, by its name."""
        if part:
            return self.inputs.function(f"{self.name}.{part}", PARAMETERS)
        return self.inputs.function(self.name, RANGE, True)

    def move(self, pointer: str, offset: str, element: str = "") -> str:
        """The pointer so many elements further."""
        return pointer if offset == "0" else self.e.at(pointer, offset, element or memory(self.dtype))

    def own(self, offset: int, *role: Any) -> str:
        """A pointer into the thread's own memory."""
        return self.e.at(self.e.entry("%own", 0), self.number(offset, *role), "i8")

    def kernel(self, name: str, rows: int = 1, vectors: int = 1, *, masked: bool = False, together: str = "") -> Kernel:
        """A kernel that products share, of numbers of the result's dtype."""
        return Kernel(name, self.dtype, int(rows), int(vectors), bool(masked), together)

    def listed(self, name: str, *size: int, **how: Any) -> Function:
        """Such a kernel in a list."""
        return Function("tiles", self.kernel(name, *size, **how))

    def go_through(self, kernel: Kernel, items: Items, *values: str | int) -> None:
        """Call a kernel that goes through a list."""
        self.inputs.tile(kernel, "%table", "%args", self.inputs.listed(items), *values)

    def result(self) -> str:
        """Where the result's first element is, or would be if a tile began with it: the tile holds the rows from %lo on."""
        if self.tile_at is None:
            return self.pointer(self.step.output)
        back = self.e.times("%lo", self.number(-self.row_elements, "-row"))
        return self.move(self.own(self.tile_at, "tile"), back, memory(self.step.type.dtype.name))

    def add_up(self, sums: str, room: str, parts: str, count: int, target: str) -> None:
        """So many elements of each of some parts, which lie apart, added up in order."""
        e = self.e

        def add(i: str) -> None:
            total = e.variable(e.load(sums, i, self.dtype, 1))
            with e.loop("1", parts, 1) as part:
                more = e.load(sums, e.plus(i, e.times(part, room)), self.dtype, 1)
                e.set(total, e.add(e.get(total, self.dtype), more))
            e.store(e.get(total, self.dtype), target, i)

        self.inputs.vectors(count, add, (self.name, "elements"))
