"""Products of a constant sparse matrix, one of SciPy's, with vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.dtypes import as_dtype
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives.core import cast, ops, register

__all__ = ["SPARSE_PRODUCT", "SparseMatrix"]


class SparseMatrix:
    """A sparse matrix in rows, a copy, and its transpose when it is needed. Equal to one with the same entries."""

    __slots__ = ("hash", "matrix", "transposed")

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix.tocsr(copy=True)
        self.transposed: SparseMatrix | None = None
        self.hash = hash((self.matrix.shape, self.matrix.dtype.str, *[part.tobytes() for part in self._parts()]))

    def _parts(self) -> tuple[Any, ...]:
        return self.matrix.indptr, self.matrix.indices, self.matrix.data

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, SparseMatrix) or self.hash != other.hash:
            return False
        same = self.matrix.shape == other.matrix.shape and self.matrix.dtype == other.matrix.dtype
        pairs = zip(self._parts(), other._parts(), strict=True)
        return same and all([x.tobytes() == y.tobytes() for x, y in pairs])

    def __hash__(self) -> int:
        return self.hash

    @property
    def T(self) -> SparseMatrix:
        """The transpose, whose transpose is this one."""
        if self.transposed is None:
            self.transposed = SparseMatrix(self.matrix.T)
            self.transposed.transposed = self
        return self.transposed


def _kernel(matrix: SparseMatrix, type: Any) -> Any:
    return lambda x: np.ascontiguousarray(matrix.matrix @ x, type.dtype.dtype)


def _vjp(u: Node, out: Node, x: Node) -> Node:
    if u.dtype.kind == "c":
        return ops.conj(ops.sparse_product(out.attributes.T, ops.conj(u)))
    return ops.sparse_product(out.attributes.T, u)


SPARSE_PRODUCT = Primitive("sparse_product", _kernel, (_vjp,), linear=True)


def _batched(b: Any, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    (x,) = xs
    if x.ndim == 2:
        return ops.matrix_transpose(ops.sparse_product(node.attributes, ops.matrix_transpose(x)))
    size, n, k = x.shape
    wide = ops.reshape(ops.permute_dims(x, (1, 0, 2)), (n, size * k))
    y = ops.sparse_product(node.attributes, wide)
    return ops.permute_dims(ops.reshape(y, (y.shape[0], size, k)), (1, 0, 2))


SPARSE_PRODUCT.batch = _batched


@register
def sparse_product(matrix: SparseMatrix, x: Node) -> Node:
    """A sparse matrix (m, n) times a vector (n,) or a matrix (n, k). Raises ValueError where shapes don't fit."""
    m, n = matrix.matrix.shape
    if x.ndim not in (1, 2) or x.shape[0] != n:
        raise ValueError(f"matmul: a sparse matrix of shape {(m, n)} and an array of shape {x.shape}")
    kind = np.result_type(matrix.matrix.dtype, x.dtype.dtype)
    x = cast(x, x.dtype if kind == x.dtype.dtype else as_dtype(kind))
    return record(SPARSE_PRODUCT, (x,), matrix, array_type((m, *x.shape[1:]), x.dtype))
