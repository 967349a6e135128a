"""Products of long sums, in parts that add up some of their terms each: the gradient of weights is one, a matrix of a few
hundred rows and columns that sums over all pixels or rows of a batch.

A range of the result's rows would read all of B, and pack it for itself alone; a part reads and packs what belongs to it, and all
of the result stays in the second cache meanwhile. In the end the parts are added up in order.
"""

from __future__ import annotations

from adjoint.compiler.extents import larger, smaller
from adjoint.compiler.fuse.kinds import Product, transposed
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.build_matmul import TiledWriter
from adjoint.compiler.loops.matmul_tiles import Kernel, lanes_of
from adjoint.compiler.tables import Arguments, Function
from adjoint.compiler.targets.target import tuning
from adjoint.runtime import llvm


class PartsWriter(TiledWriter):
    """Writes a product as a function of a range of parts of its sums."""

    in_blocks = True

    def __init__(self, product: Product, name: str, arguments: Arguments, chunk: int) -> None:
        (n, m), turned = product.shape, product
        self.across = n < m  # of two matrices the smaller one is packed
        if self.across:
            turned = Product(product.step, transposed(product.b), transposed(product.a), (m, n))
            turned.choice = product.choice
        super().__init__(turned, name, arguments, 1)
        table, k = self.tuning, self.k
        self.each = -(-larger(table.least_part, -(-k // table.most_parts)) // table.sums) * table.sums
        self.rows = -(-k // self.each)  # parts, of which the last may have fewer terms
        self.last = k - (self.rows - 1) * self.each
        self.room = -(-self.n * self.m // self.lanes) * self.lanes  # elements of a part
        self.sums = arguments.share(f"parts of {name}", self.rows * self.room * self.itemsize)
        self.near = (self.a.root,)

    @staticmethod
    def suits(product: Product) -> bool:
        """Whether a product that is alone has such sums."""
        (n, k), m, table = product.a.shape[-2:], product.b.shape[-1], tuning()
        together = product.a.strides[-2] == 1 and product.b.strides[-1] == 1
        if not together or len(product.shape) != 2 or k < table.parted_from or not matmul_tiles.available():
            return False
        lanes = lanes_of(product.step.type.dtype.name, llvm.vector_bits())
        return min(n, m) >= lanes and n * m * smaller(table.most_parts, k // table.least_part) <= table.largest_parts

    @property
    def time(self) -> float:
        return self.n * self.k * self.m * (1 if self.dtype == "float32" else 2) / 85

    def write(self) -> list[L.Function]:
        e, sums = self.e, self.pointer(self.sums)
        left = self.number(self.each * self.a.strides[-1], "a part")
        right = self.number(self.each * self.b.strides[-2], "b part")
        a, b = [
            self.move(self.pointer(view.root), e.times("%lo", by)) for view, by in ((self.a, left), (self.b, right))
        ]
        into = self.move(sums, e.times("%lo", self.number(self.room, "room")))
        if self.last != self.each:
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

    def near_elements(self, rows: int, k: int) -> int:
        return k * self.a.strides[-1]

    def near_from(self, k: int) -> str:
        """Tiles fetch what the next block reads of A."""
        e = self.e
        at = e.plus(e.times("%lo", self.number(self.each, "each")), e.plus(self.at, self.varying(k, "k")))
        return e.times(at, self.number(self.a.strides[-1], "a step"))

    def write_finish(self) -> None:
        """The parts' sums, added up in order."""
        with self.another(self.lanes) as e:
            sums, result = self.pointer(self.sums), self.pointer(self.step.output)
            room, parts = self.number(self.room, "room"), self.number(self.rows, "parts")
            target = sums if self.across else result

            def add_up(i: str) -> None:
                total = e.variable(e.load(sums, i, self.dtype, 1))
                with e.loop("1", parts, 1) as part:
                    more = e.load(sums, e.plus(i, e.times(part, room)), self.dtype, 1)
                    e.set(total, e.add(e.get(total, self.dtype), more))
                e.store(e.get(total, self.dtype), target, i)

            self.inputs.vectors(self.n * self.m, add_up, (self.name, "elements"))
            if self.across:
                n, m = self.number(self.n, "n"), self.number(self.m, "m")
                function = self.pointer(Function("tiles", Kernel("across", self.dtype)))
                e.call(function, (
                    ("ptr", sums), ("i64", m), ("ptr", result), ("i64", n), ("i64", m), ("i64", n),
                ))  # fmt: skip
            self.finish = [self.function("finish")]
