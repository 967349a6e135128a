"""Numbers that matrices are measured by: determinants, norms, ranks, traces."""

from __future__ import annotations

from typing import Any, NamedTuple

from adjoint.composites import linalg, reductions
from adjoint.tensors.conversion import as_node, dtype_of
from adjoint.tensors.composing import Operand, composite, composites, value_of
from adjoint.tensors.tensor import Tensor


class SlogdetResult(NamedTuple):
    """What `slogdet` gives.

    >>> import adjoint as ad
    >>> ad.linalg.slogdet(ad.tensor([[0.0, 1.0], [1.0, 0.0]])).sign
    Tensor(-1.)
    """

    sign: Tensor
    logabsdet: Tensor


def det(x: Operand, /) -> Tensor:
    """The determinant (...) of (..., n, n). Up to n = 3 it is written out; larger ones by LU.

    Its derivative, the cofactors, and its second derivatives are right for singular matrices too. So are higher ones up to n = 3;
    for larger singular matrices these raise LinAlgError.

    >>> import adjoint as ad
    >>> ad.linalg.det(ad.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor(-2.)
    """
    return composite("det", linalg.det, as_node(x))


def slogdet(x: Operand, /) -> SlogdetResult:
    """The sign of the determinant of (..., n, n), or its complex phase, and the logarithm of its absolute value.

    A singular matrix gives 0 and -inf; its derivative raises LinAlgError.

    >>> import adjoint as ad
    >>> ad.linalg.slogdet(ad.tensor([[2.0, 0.0], [0.0, 0.5]])).logabsdet
    Tensor(0.)
    """
    return SlogdetResult(*composites("slogdet", linalg.slogdet, as_node(x)))


def trace(x: Operand, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """The sum (...) of the diagonal of (..., m, n), or of one above it (offset > 0) or below; in `dtype` if given.

    >>> import adjoint as ad
    >>> ad.linalg.trace(ad.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor(5.)
    """
    return composite("trace", linalg.traced, as_node(x), None if dtype is None else dtype_of(dtype), offset)


def diagonal(x: Operand, /, *, offset: int = 0) -> Tensor:
    """The diagonal of (..., m, n) as the last axis, or one above it (offset > 0) or below. Any dtype.

    >>> import adjoint as ad
    >>> ad.linalg.diagonal(ad.tensor([[1, 2], [3, 4]]))
    Tensor([1, 4])
    """
    return composite("diagonal", linalg.diagonal, as_node(x), offset)


def vector_norm(x: Operand, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """The norm of order `ord` over axes (None: all), real: `ad.norm`. Its derivative at 0 is 0.

    >>> import adjoint as ad
    >>> ad.linalg.vector_norm(ad.tensor([3.0, 4.0]))
    Tensor(5.)
    """
    return composite("vector_norm", reductions.norm, as_node(x), ord, axis, keepdims)


def matrix_norm(x: Operand, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    """A norm (...) of matrices (..., m, n), real: "fro", "nuc" (sum of singular values), 2 and -2 (largest and smallest
    singular value), 1 and -1 (column sums), inf and -inf (row sums).

    "nuc" is right where singular values coincide, and where some are 0 its derivative is that of the others. ValueError for
    another order.

    >>> import adjoint as ad
    >>> ad.linalg.matrix_norm(ad.tensor([[3.0, 0.0], [0.0, -4.0]]), ord="nuc")
    Tensor(7.)
    """
    return composite("matrix_norm", linalg.matrix_norm, as_node(x), ord, keepdims)


def norm(x: Operand, /, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    """NumPy's `linalg.norm`: of vectors (one axis) in any order, of matrices (two axes) as `matrix_norm`; the root of the sum
    of squares where no order is given.

    >>> import adjoint as ad
    >>> ad.linalg.norm(ad.tensor([[3.0, 0.0], [0.0, 4.0]]), 2)
    Tensor(4.)
    """
    return composite("norm", linalg.norm, as_node(x), ord, axis, keepdims)


def cond(x: Operand, /, p: Any = None) -> Tensor:
    """The condition number (...) of (..., m, n): the largest by the smallest singular value, or for p = "fro", "nuc", 1, -1,
    inf, -inf the norm of square x by that of its inverse. Infinite for singular matrices; with those p LinAlgError.

    >>> import adjoint as ad
    >>> ad.linalg.cond(ad.tensor([[2.0, 0.0], [0.0, 0.5]]))
    Tensor(4.)
    """
    return composite("cond", linalg.cond, as_node(x), p)


def matrix_rank(x: Operand, /, *, rtol: Any = None, tol: Any = None) -> Tensor:
    """How many singular values of (..., m, n) are above `tol`, or above rtol times the largest (default: max(m, n) times the
    precision), as int64. Both may be arrays, a number for each matrix. Without derivative.

    >>> import adjoint as ad
    >>> ad.linalg.matrix_rank(ad.tensor([[1.0, 2.0], [2.0, 4.0]]))
    Tensor(1)
    """
    return composite("matrix_rank", linalg.matrix_rank, as_node(x), value_of(rtol), value_of(tol))
