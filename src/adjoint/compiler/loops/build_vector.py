"""A matrix whose rows lie together times a vector: each element is read once, in the order in which it lies in memory."""

from __future__ import annotations

from adjoint.compiler.loops.build_products import BatchWriter
from adjoint.compiler.loops.matmul_tiles import Kernel


class VectorWriter(BatchWriter):
    """Writes a product with one row, of a matrix that is read transposed, or with one column."""

    def some(self, a: str, b: str, result: str, rows: int) -> None:
        if self.n == 1:
            matrix, vector, count, apart = b, a, self.number(self.m, "m"), self.number(self.b.strides[-1], "b column")
        else:
            matrix, vector, count, apart = a, b, self.varying(rows, "rows"), self.number(self.a.strides[-2], "a row")
        self.inputs.tile(Kernel("dots", self.dtype), matrix, apart, vector, result, count, self.number(self.k, "k"))
