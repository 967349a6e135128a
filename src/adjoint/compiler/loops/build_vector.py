"""A matrix times a vector: each of its elements is read once, in the order in which it lies in memory."""

from __future__ import annotations

from adjoint.compiler.fuse.kinds import Product
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build_parts import Parts
from adjoint.compiler.loops.build_products import BatchWriter
from adjoint.compiler.schedule.matmul import ProductSchedule
from adjoint.compiler.tables import Arguments


class VectorWriter(BatchWriter):
    """Writes a product with one column, of a matrix whose rows lie together."""

    @property
    def time(self) -> float:
        return self.read_once

    def some(self, a: str, b: str, result: str, rows: int) -> None:
        row = self.number(self.a.strides[-2], "a row")
        count, k = self.varying(rows, "rows"), self.number(self.k, "k")
        self.inputs.tile(self.kernel("dots"), a, row, b, result, count, k)

    def by_columns(self, matrix: str, vector: str, result: str, count: str, k: int) -> None:
        """So many columns of a matrix, of k rows, by a vector."""
        step, apart = self.number(self.b.strides[-2], "b row"), self.number(self.a.strides[-1], "a step")
        self.inputs.tile(self.kernel("columns"), matrix, step, vector, apart, result, count, self.varying(k, "k"))


class RowWriter(VectorWriter):
    """Writes a product with one row, or the transpose of one with a column, as a function of a range of columns of a matrix
    whose rows or columns lie together. Each is computed by itself, so neighbouring ranges may be done as one."""

    joins = True

    def __init__(self, product: Product, name: str, arguments: Arguments, schedule: ProductSchedule) -> None:
        super().__init__(product, name, arguments, schedule)
        self.rows, self.row_elements = self.m, 1

    def write(self) -> list[L.Function]:
        e, by = self.e, self.number(self.b.strides[-1], "b column")
        vector, count = self.pointer(self.a.root), e.index("sub", "%hi", "%lo")
        matrix = self.move(self.pointer(self.b.root), e.times("%lo", by))
        result = self.move(self.pointer(self.step.output), "%lo")
        if self.b.strides[-2] == 1:
            self.inputs.tile(self.kernel("dots"), matrix, by, vector, result, count, self.number(self.k, "k"))
        else:
            self.by_columns(matrix, vector, result, count, self.k)
        return [self.function()]


class RowPartsWriter(Parts, VectorWriter):
    """Writes a product with one row, or the transpose of one with a column, in parts of the matrix's rows, which lie
    together."""

    def summed(self, a: str, b: str, result: str, rows: int, total: int) -> None:
        self.by_columns(b, a, result, self.number(self.m, "m"), total)
