"""A matrix whose rows lie together times a vector: each element is read once, in the order in which it lies in memory."""

from __future__ import annotations

from adjoint.compiler.fuse.kinds import Product
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.loops.build_products import BatchWriter
from adjoint.compiler.loops.matmul_tiles import Kernel
from adjoint.compiler.targets.target import tuning
from adjoint.shapes import size_of


class VectorWriter(BatchWriter):
    """Writes a product with one row, of a matrix that is read transposed, or with one column."""

    @staticmethod
    def suits(product: Product) -> bool:
        """Whether the numbers that are summed up lie together, in both, and are neither few nor so many that they would have to
        be added up in blocks."""
        (n, k), m = product.a.shape[-2:], product.b.shape[-1]
        if size_of(product.shape[:-2]) > 1 or not (n == 1 or m == 1) or not matmul_tiles.available():
            return False
        fits = tuning().dotted_from <= k and k <= tuning().longest_dotted
        return fits and product.a.strides[-1] == 1 and product.b.strides[-2] == 1

    def some(self, a: str, b: str, result: str, rows: int) -> None:
        if self.n == 1:
            matrix, vector, count, apart = b, a, self.number(self.m, "m"), self.number(self.b.strides[-1], "b column")
        else:
            matrix, vector, count, apart = a, b, self.varying(rows, "rows"), self.number(self.a.strides[-2], "a row")
        self.inputs.tile(Kernel("dots", self.dtype), matrix, apart, vector, result, count, self.number(self.k, "k"))
