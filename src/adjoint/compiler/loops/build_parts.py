"""Products of long sums, in parts that add up some of their terms each: the gradient of weights is one, a matrix of a few
hundred rows and columns that sums over all pixels or rows of a batch.

A range of the result's rows would read all of B, and pack it for itself alone; a part reads and packs what belongs to it, and all
of the result stays in the second cache meanwhile. In the end the parts are added up in order.
"""

from __future__ import annotations

from abc import abstractmethod

from adjoint.compiler.fuse.kinds import Product
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import ITEMSIZE, lanes_of
from adjoint.compiler.loops.build_matmul import TiledWriter
from adjoint.compiler.loops.build_products import BatchWriter, LibraryWriter
from adjoint.compiler.schedule.matmul import ProductSchedule
from adjoint.compiler.tables import ALIGNMENT, Arguments
from adjoint.shapes import following


class Parts(BatchWriter):
    """Writes a product as a function of a range of parts of its sums."""

    def __init__(self, product: Product, name: str, arguments: Arguments, schedule: ProductSchedule) -> None:
        super().__init__(product, name, arguments, schedule)
        self.each = schedule.each  # terms
        self.rows = -(-self.k // self.each)  # parts, of which the last may have fewer terms
        self.last = self.k - (self.rows - 1) * self.each
        line = ALIGNMENT // ITEMSIZE[self.dtype]
        self.room = -(-self.n * self.m // line) * line  # elements of a part
        self.sums = arguments.share(f"parts of {name}", self.rows * self.room * ITEMSIZE[self.dtype])
        self.turns = schedule.across and schedule.way == "parts"  # in the end; a row lies as a column does

    @abstractmethod
    def summed(self, a: str, b: str, result: str, rows: int, total: int) -> None:
        """The sums of so many products."""

    def write(self) -> list[L.Function]:
        e, sums = self.e, self.pointer(self.sums)
        left = self.number(self.each * self.a.strides[-1], "a part")
        right = self.number(self.each * self.b.strides[-2], "b part")
        a, b = [
            self.move(self.pointer(view.root), e.times("%lo", by)) for view, by in ((self.a, left), (self.b, right))
        ]
        into = self.move(sums, e.times("%lo", self.number(self.room, "room")))
        if (
            following[0] or self.last != self.each
        ):  # what is written for others, too, serves those whose parts are all alike
            last = self.number(self.rows - 1, "last part")
            with e.when(e.test("eq", "%lo", last)), self.within("last part"):
                self.summed(a, b, into, self.n, self.last)
            with e.when(e.test("ult", "%lo", last)):
                self.summed(a, b, into, self.n, self.each)
        else:
            self.summed(a, b, into, self.n, self.each)
        functions = [self.function()]
        self.write_finish()
        return functions

    def write_finish(self) -> None:
        """The parts' sums, added up in order."""
        with self.another(lanes_of(self.dtype)):
            sums, result = self.pointer(self.sums), self.pointer(self.step.output)
            room, parts = self.number(self.room, "room"), self.number(self.rows, "parts")
            self.add_up(sums, room, parts, self.n * self.m, sums if self.turns else result)
            if self.turns:
                n, m = self.number(self.n, "n"), self.number(self.m, "m")
                self.inputs.tile(self.kernel("across"), sums, m, result, n, m, n)
            self.finish = [self.function("finish")]


class PartsWriter(TiledWriter, Parts):
    """Writes a product by our kernels so."""

    def near_elements(self, rows: int, k: int) -> int:
        return k * self.a.strides[-1]

    def near_from(self, k: int) -> str:
        """Tiles fetch what the next block reads of A."""
        e = self.e
        at = e.plus(e.times("%lo", self.number(self.each, "each")), e.plus(self.at, self.varying(k, "k")))
        return e.times(at, self.number(self.a.strides[-1], "a step"))


class VectorPartsWriter(Parts, LibraryWriter):
    """Writes a product with one row or column by OpenBLAS so, a long sum for each of its few elements."""

    def summed(self, a: str, b: str, result: str, rows: int, total: int) -> None:
        self.by_vector(a, b, result, rows, total)
