"""What is to be known of operations on matrices before their code is written, and which of them LAPACK computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.primitives.linalg_kernels import BLOCK


class Routine(NamedTuple):
    """The operation that messages name, what they say of a matrix that is to blame (if one may be), and about how many operations
    it takes on n rows, with k columns to the right. By LAPACK, matrices of more than `most` rows or columns are left to NumPy:
    there a call from Python is no cost, and native code would copy what NumPy's way needn't."""

    operation: str
    problem: str
    operations: Callable[[int, int], int]
    most: int = 0
    first: int = 0  # the operand that is read first; the one before is only for the rule of derivatives
    pivots: bool = False  # whether the second operand that is read is a list of exchanged rows
    either_way: bool = False  # whether matrices are read as they lie, by rows or by columns
    alone: int = 0  # rows up to which a matrix of real numbers that is no stack's is computed block by block
    formula: Callable[..., Any] | None = None  # for small matrices, each in a lane: see `matrix_formulas`


FACTORS, SPECTRA = 512, 256

ROUTINES: dict[str, Routine] = {
    "matmul": Routine("matmul", "", lambda n, k: n * k * k, 1 << 30, either_way=True),  # of complex numbers
    "cholesky": Routine("cholesky", "is not positive definite", lambda n, k: n**3 // 3, 1 << 14),
    "cholesky_adjoint": Routine("cholesky_adjoint", "", lambda n, k: n**3, BLOCK, alone=1 << 14),
    "solve_triangular": Routine("solve_triangular", "is singular", lambda n, k: n * n * k, 1 << 14),
    "lu": Routine("lu", "", lambda n, k: n * n * k, FACTORS),
    "solve_factored": Routine("solve", "is singular", lambda n, k: 2 * n * n * k, 1 << 14, first=1, pivots=True),
    "permute_rows": Routine("permute_rows", "", lambda n, k: n * k, 1 << 14, pivots=True),
    "solve": Routine("solve", "is singular", lambda n, k: n * n * (n + 2 * k), FACTORS),
    "inv": Routine("inv", "is singular", lambda n, k: 2 * n**3, FACTORS),
    "slogdet": Routine("slogdet", "", lambda n, k: n**3, FACTORS),
    "det": Routine("det", "", lambda n, k: n**3, FACTORS),
    "qr": Routine("qr", "", lambda n, k: 4 * n * k * k, SPECTRA),
    "eigh": Routine("eigh", "has eigenvalues that did not converge", lambda n, k: 12 * n**3, SPECTRA),
    "eigvalsh": Routine("eigvalsh", "has eigenvalues that did not converge", lambda n, k: 4 * n**3, SPECTRA),
    "svd": Routine("svd", "has singular values that did not converge", lambda n, k: 22 * n * k * min(n, k), SPECTRA),
    "svdvals": Routine("svdvals", "has singular values that did not converge", lambda n, k: 8 * n * k * min(n, k), SPECTRA),
}  # fmt: skip
