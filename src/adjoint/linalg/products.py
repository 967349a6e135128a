"""Products, arrangements and functions of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adjoint.composites import linalg
from adjoint.tensors.conversion import as_node, as_nodes
from adjoint.tensors.composing import Operand, composite
from adjoint.tensors.functions import matmul, matrix_transpose, outer, tensordot, vecdot
from adjoint.tensors.tensor import Tensor

__all__ = [
    "block_diag", "cross", "expm", "kron", "logm", "matmul", "matrix_power", "matrix_transpose", "multi_dot", "outer",
    "sqrtm", "tensordot", "toeplitz", "vecdot",
]  # fmt: skip


def cross(x: Operand, y: Operand, /, *, axis: int = -1) -> Tensor:
    """The vector product of vectors of three components along an axis; the other axes broadcast.

    >>> import adjoint as ad
    >>> ad.linalg.cross(ad.tensor([1.0, 0.0, 0.0]), ad.tensor([0.0, 1.0, 0.0]))
    Tensor([0., 0., 1.])
    """
    return composite("cross", linalg.cross, *as_nodes((x, y)), axis)


def kron(x: Operand, y: Operand, /) -> Tensor:
    """The Kronecker product: every element of x times y. Any number of axes.

    >>> import adjoint as ad
    >>> ad.linalg.kron(ad.tensor([1.0, 10.0]), ad.tensor([1.0, 2.0]))
    Tensor([ 1.,  2., 10., 20.])
    """
    return composite("kron", linalg.kron, *as_nodes((x, y)))


def multi_dot(arrays: Sequence[Operand], /) -> Tensor:
    """The product of two or more matrices, in the order that multiplies least; the first and the last may be vectors.

    >>> import adjoint as ad
    >>> ad.linalg.multi_dot([ad.ones((2, 3)), ad.ones((3, 4)), ad.ones(4)])
    Tensor([12., 12.])
    """
    return composite("multi_dot", linalg.multi_dot, as_nodes(arrays))


def matrix_power(x: Operand, n: int, /) -> Tensor:
    """x (..., m, m) multiplied with itself n times, by squaring, in x's dtype; negative n: the inverse, of integers in floating
    point. LinAlgError if that is singular.

    >>> import adjoint as ad
    >>> ad.linalg.matrix_power(ad.tensor([[1.0, 1.0], [0.0, 1.0]]), 5)
    Tensor([[1., 5.],
            [0., 1.]])
    """
    return composite("matrix_power", linalg.matrix_power, as_node(x), n)


def block_diag(*arrays: Operand) -> Tensor:
    """The matrices (..., m, n) along the diagonal of a larger one, zero elsewhere; vectors are rows.

    >>> import adjoint as ad
    >>> ad.linalg.block_diag([[1.0, 2.0]], [[3.0]])
    Tensor([[1., 2., 0.],
            [0., 0., 3.]])
    """
    return composite("block_diag", linalg.block_diag, as_nodes(arrays))


def toeplitz(c: Operand, r: Any = None, /) -> Tensor:
    """The matrix (..., m, n) with constant diagonals: first column c (..., m), first row r (..., n) but for its first element
    (default: the conjugate of c).

    >>> import adjoint as ad
    >>> ad.linalg.toeplitz(ad.tensor([1.0, 2.0]), ad.tensor([0.0, 5.0, 6.0]))
    Tensor([[1., 5., 6.],
            [2., 1., 5.]])
    """
    return composite("toeplitz", linalg.toeplitz, as_node(c), None if r is None else as_node(r))


def expm(x: Operand, /) -> Tensor:
    """The exponential of square matrices (..., n, n), by scaling and squaring (Al-Mohy & Higham 2009).

    >>> import adjoint as ad
    >>> ad.linalg.expm(ad.tensor([[0.0, 1.0], [0.0, 0.0]]))
    Tensor([[1., 1.],
            [0., 1.]])
    """
    return composite("expm", linalg.matrix_function, "expm", as_node(x))


def logm(x: Operand, /) -> Tensor:
    """The principal logarithm of square matrices (..., n, n): eigenvalues with imaginary parts in (-π, π].

    Raises LinAlgError for a singular matrix, and for a real one with a negative eigenvalue: give it as complex.

    >>> import adjoint as ad
    >>> ad.linalg.logm(ad.tensor([[1.0, 1.0], [0.0, 1.0]]))
    Tensor([[0., 1.],
            [0., 0.]])
    """
    return composite("logm", linalg.matrix_function, "logm", as_node(x))


def sqrtm(x: Operand, /) -> Tensor:
    """The principal square root of square matrices (..., n, n): eigenvalues with real parts >= 0.

    Raises LinAlgError for a real matrix with a negative eigenvalue (give it as complex), and for one that has no root. There is
    no derivative at a singular matrix.

    >>> import adjoint as ad
    >>> ad.linalg.sqrtm(ad.tensor([[4.0, 0.0], [0.0, 9.0]]))
    Tensor([[2., 0.],
            [0., 3.]])
    """
    return composite("sqrtm", linalg.matrix_function, "sqrtm", as_node(x))
