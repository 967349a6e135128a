"""Linear algebra: factorizations, systems, spectra, norms, functions of matrices.

Matrices are the last two axes, whatever lies in front is a batch. float32, float64, complex64 and complex128; integers become
the default floating dtype. Everything is differentiable to every order in both modes, unless it says so.

Where a matrix has no answer `numpy.linalg.LinAlgError` (a RuntimeError, too) is raised when the value is computed, with the
number of the matrix in its batch and the line that asked. Matrices with NaN or infinities give NaN. Arrays without elements are
allowed.

Of Hermitian matrices (`cholesky`, `eigh`, `eigvalsh`) one triangle is read, as NumPy does, and derivatives are those in
Hermitian directions. Where eigenvalues or singular values coincide the derivatives of the values, norms, `pinv`, `expm`,
`logm` and `sqrtm` are right. Eigenvectors and singular vectors have none there: the part inside a group of equal values is
taken as 0, with a RuntimeWarning. That is right for what depends on the group as a whole (a projector onto it), and not for
what weighs its vectors by functions of the values.
"""

from __future__ import annotations

import adjoint.batch.linalg as _batching  # noqa: F401 - fills in the batching rules
from adjoint.hints import hinted_module
from adjoint.linalg.factorizations import (
    EighResult, EigResult, LUResult, QRResult, SVDResult, cho_factor, cholesky, eig, eigh, eigvals, eigvalsh,
    householder_product, lu, lu_factor, qr, svd, svdvals,
)  # fmt: skip
from adjoint.linalg.measures import (
    SlogdetResult, cond, det, diagonal, matrix_norm, matrix_rank, norm, slogdet, trace, vector_norm,
)  # fmt: skip
from adjoint.linalg.products import (
    block_diag, cross, expm, kron, logm, matmul, matrix_power, matrix_transpose, multi_dot, outer, sqrtm, tensordot,
    toeplitz, vecdot,
)  # fmt: skip
from adjoint.linalg.systems import (
    LstsqResult, cho_solve, inv, lstsq, lu_solve, pinv, solve, solve_triangular, tensorinv, tensorsolve,
)  # fmt: skip

__all__ = [
    "EigResult", "EighResult", "LUResult", "LstsqResult", "QRResult", "SVDResult", "SlogdetResult", "block_diag",
    "cho_factor", "cho_solve", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "expm", "householder_product", "inv", "kron", "logm", "lstsq", "lu", "lu_factor", "lu_solve", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr",
    "slogdet", "solve", "solve_triangular", "sqrtm", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve",
    "toeplitz", "trace", "vecdot", "vector_norm",
]  # fmt: skip


__getattr__ = hinted_module("adjoint.linalg")
