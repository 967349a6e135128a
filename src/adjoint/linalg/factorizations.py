"""Factorizations and spectra."""

from __future__ import annotations

from typing import Any, NamedTuple

from adjoint.composites import linalg
from adjoint.tensors.conversion import as_node
from adjoint.tensors.composing import Operand, composite, composites
from adjoint.tensors.tensor import Tensor


class EigResult(NamedTuple):
    """What `eig` gives.

    >>> import adjoint as ad
    >>> ad.linalg.eig(ad.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues
    Tensor([0.+1.j, 0.-1.j], dtype=complex64)
    """

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """What `eigh` gives.

    >>> import adjoint as ad
    >>> ad.linalg.eigh(ad.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    Tensor([1., 2.])
    """

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """What `qr` gives.

    >>> import adjoint as ad
    >>> ad.linalg.qr(ad.tensor([[3.0, 1.0], [4.0, 2.0]])).R.shape
    (2, 2)
    """

    Q: Tensor
    R: Tensor


class SVDResult(NamedTuple):
    """What `svd` gives.

    >>> import adjoint as ad
    >>> ad.linalg.svd(ad.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    Tensor([4., 3.])
    """

    U: Tensor
    S: Tensor
    Vh: Tensor


class LUResult(NamedTuple):
    """What `lu` gives.

    >>> import adjoint as ad
    >>> ad.linalg.lu(ad.tensor([[1.0, 2.0], [4.0, 2.0]])).U
    Tensor([[4. , 2. ],
            [0. , 1.5]])
    """

    P: Tensor
    L: Tensor
    U: Tensor


def cholesky(x: Operand, /, *, upper: bool = False) -> Tensor:
    """The Cholesky factor of Hermitian positive definite x (..., n, n): lower triangular L with x = L Lᴴ, or with `upper` U
    with x = Uᴴ U.

    Only that triangle of x is read. Raises LinAlgError for a matrix that isn't positive definite. Derivative: Murray 2016,
    arXiv:1602.07527, in Hermitian directions: the gradient is Hermitian, half of each element off the diagonal in either
    triangle, though only one of them is read.

    >>> import adjoint as ad
    >>> ad.linalg.cholesky(ad.tensor([[4.0, 2.0], [2.0, 5.0]]))
    Tensor([[2., 0.],
            [1., 2.]])
    """
    return composite("cholesky", linalg.cholesky, as_node(x), upper)


def cho_factor(x: Operand, /, *, lower: bool = False) -> tuple[Tensor, bool]:
    """The Cholesky factor of x (..., n, n) and whether it is the lower one, for `cho_solve`. Raises as `cholesky` does.

    >>> import adjoint as ad
    >>> factor, lower = ad.linalg.cho_factor(ad.tensor([[4.0, 2.0], [2.0, 5.0]]), lower=True)
    >>> ad.linalg.cho_solve((factor, lower), ad.tensor([8.0, 12.0]))
    Tensor([1., 2.])
    """
    return composite("cho_factor", linalg.cholesky, as_node(x), not lower), bool(lower)


def lu(x: Operand, /, *, permute_l: bool = False) -> Any:
    """x (..., m, n) = P L U with partial pivoting: P (..., m, m) a permutation, L (..., m, k) with ones on its diagonal, U
    (..., k, n), k = min(m, n).

    `permute_l` gives P L and U alone. The derivative needs the leading k columns and rows to be invertible; P has none.

    >>> import adjoint as ad
    >>> p, l, u = ad.linalg.lu(ad.tensor([[1.0, 2.0], [4.0, 2.0]]))
    >>> p @ l @ u
    Tensor([[1., 2.],
            [4., 2.]])
    """
    found = composites("lu", linalg.lu, as_node(x), permute_l)
    return tuple(found) if permute_l else LUResult(*found)


def lu_factor(x: Operand, /) -> tuple[Tensor, Tensor]:
    """L and U of x (..., m, n) in one array, and the pivots (..., min(m, n)), int32: the row that each step exchanged,
    counted from 0. For `lu_solve`.

    >>> import adjoint as ad
    >>> factors = ad.linalg.lu_factor(ad.tensor([[1.0, 2.0], [4.0, 2.0]]))
    >>> ad.linalg.lu_solve(factors, ad.tensor([5.0, 8.0]))
    Tensor([1., 2.])
    """
    packed, pivots = composites("lu_factor", linalg.lu_factor, as_node(x))
    return packed, pivots


def qr(x: Operand, /, *, mode: str = "reduced") -> Any:
    """x (..., m, n) = Q R with orthonormal columns Q (..., m, k) and R (..., k, n) upper triangular.

    mode: "reduced" has k = min(m, n), "complete" k = m, "r" gives R alone. The derivative needs the first min(m, n) columns to
    be independent. The columns that complete Q are only given as a space: their derivative is the smallest turn that keeps
    them orthogonal. Raises ValueError for another mode.

    >>> import adjoint as ad
    >>> q, r = ad.linalg.qr(ad.tensor([[3.0, 1.0], [4.0, 3.0]]))
    >>> abs(r)
    Tensor([[5., 3.],
            [0., 1.]])
    """
    q, r = composites("qr", linalg.qr, as_node(x), mode)
    return r if mode == "r" else QRResult(q, r)


def svd(x: Operand, /, *, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """The singular value decomposition x = U diag(S) Vh of (..., m, n): U (..., m, m), S (..., k) real and descending, Vh
    (..., n, n), k = min(m, n).

    Without `full_matrices` U (..., m, k) and Vh (..., k, n); without `compute_uv` S alone. Complex singular vectors are
    differentiated with their phases turning evenly; columns beyond k by the smallest turn. Where singular values coincide or
    are 0 see the module's text. Raises LinAlgError where LAPACK doesn't converge.

    >>> import adjoint as ad
    >>> u, s, vh = ad.linalg.svd(ad.tensor([[3.0, 0.0], [4.0, 0.0]]), full_matrices=False)
    >>> s
    Tensor([5., 0.])
    """
    if not compute_uv:
        return composite("svdvals", linalg.svdvals, as_node(x))
    return SVDResult(*composites("svd", linalg.svd, as_node(x), full_matrices))


def svdvals(x: Operand, /) -> Tensor:
    """The singular values (..., min(m, n)) of (..., m, n), real and descending.

    >>> import adjoint as ad
    >>> ad.linalg.svdvals(ad.tensor([[3.0, 0.0], [0.0, 4.0]]))
    Tensor([4., 3.])
    """
    return composite("svdvals", linalg.svdvals, as_node(x))


def eigh(x: Operand, /, UPLO: str = "L") -> EighResult:
    """Eigenvalues (..., n), real and ascending, and orthonormal eigenvectors (..., n, n) in columns, of Hermitian x.

    The lower triangle of x is read, or with UPLO="U" the upper one; the derivative is that in Hermitian directions, so the
    gradient is Hermitian, half of each element off the diagonal in either triangle. The phase of a complex eigenvector is
    differentiated as constant. Where eigenvalues coincide see the module's text. Raises LinAlgError where LAPACK fails.

    >>> import adjoint as ad
    >>> w, v = ad.linalg.eigh(ad.tensor([[2.0, 1.0], [1.0, 2.0]]))
    >>> w
    Tensor([1., 3.])
    """
    return EighResult(*composites("eigh", linalg.eigh, as_node(x), UPLO))


def eigvalsh(x: Operand, /, UPLO: str = "L") -> Tensor:
    """The eigenvalues (..., n), real and ascending, of Hermitian x (..., n, n), from one triangle.

    >>> import adjoint as ad
    >>> ad.linalg.eigvalsh(ad.tensor([[2.0, 1.0], [1.0, 2.0]]))
    Tensor([1., 3.])
    """
    return composite("eigvalsh", linalg.eigvalsh, as_node(x), UPLO)


def eig(x: Operand, /) -> EigResult:
    """Eigenvalues (..., n) and eigenvectors (..., n, n) of length one in columns, of any square x. Complex always.

    The phases of the eigenvectors are differentiated as constant. Where x can't be diagonalized, derivatives raise LinAlgError.

    >>> import adjoint as ad
    >>> w, v = ad.linalg.eig(ad.tensor([[1.0, 2.0], [0.0, 3.0]]))
    >>> w
    Tensor([1.+0.j, 3.+0.j], dtype=complex64)
    """
    return EigResult(*composites("eig", linalg.eig, as_node(x)))


def eigvals(x: Operand, /) -> Tensor:
    """The eigenvalues (..., n) of any square x (..., n, n). Complex always.

    >>> import adjoint as ad
    >>> ad.linalg.eigvals(ad.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    Tensor([0.+1.j, 0.-1.j], dtype=complex64)
    """
    return composite("eigvals", linalg.eigvals, as_node(x))


def householder_product(x: Operand, tau: Operand, /) -> Tensor:
    """The first n columns (..., m, n) of H₁ H₂ … Hₖ with Hᵢ = 1 - tauᵢ vᵢ vᵢᴴ; vᵢ is column i of x (..., m, n) below its
    diagonal, with 1 on it and 0 above. tau (..., k), k <= n <= m: LAPACK's orgqr.

    >>> import adjoint as ad
    >>> ad.linalg.householder_product(ad.tensor([[0.0], [1.0]]), ad.tensor([1.0]))
    Tensor([[ 0.],
            [-1.]])
    """
    return composite("householder_product", linalg.householder_product, as_node(x), as_node(tau))
