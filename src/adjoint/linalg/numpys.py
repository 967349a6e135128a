"""The functions of `numpy.linalg` with NumPy's own arguments, for tensors handed to them.

Where `hermitian=True` NumPy reads the lower triangle alone, and so does what stands here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.composites.shaping import moveaxis
from adjoint.linalg import factorizations, measures, products, systems
from adjoint.numpy.ufuncs import written
from adjoint.tensors.composing import as_tensor
from adjoint.tensors.conversion import as_nodes
from adjoint.tensors.functions import conj, real, tril
from adjoint.tensors.named import wrap

__all__ = ["FUNCTIONS"]


def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = as_nodes((a, b))
    first, second = (wrap(moveaxis(node, n, -1)) for node, n in ((x, axisa), (y, axisb)))
    return wrap(moveaxis(products.cross(first, second).node, -1, axisc))


def _read(a: Any, hermitian: bool) -> Any:
    """The Hermitian matrices of lower triangles, where they are said to be Hermitian."""
    if not hermitian:
        return a
    t = as_tensor(a)
    below = tril(t, k=-1)
    return below + real(tril(t) - below) + conj(below).mT


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    return factorizations.svd(_read(a, hermitian), full_matrices=full_matrices, compute_uv=compute_uv)


def _qr(a: Any, mode: str = "reduced") -> Any:
    return factorizations.qr(a, mode=mode)


def _pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    return systems.pinv(_read(a, hermitian), rtol=rcond if rtol is None else rtol)


def _matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    return measures.matrix_rank(_read(A, hermitian), rtol=rtol, tol=tol)


def _multi_dot(arrays: Any, *, out: Any = None) -> Any:
    return written("multi_dot", products.multi_dot(list(arrays)), out)


FUNCTIONS: dict[Any, Any] = {
    np.kron: products.kron, np.cross: _cross,
    np.linalg.svd: _svd, np.linalg.qr: _qr, np.linalg.pinv: _pinv, np.linalg.matrix_rank: _matrix_rank,
    np.linalg.trace: measures.trace, np.linalg.diagonal: measures.diagonal, np.linalg.cross: products.cross,
    np.linalg.multi_dot: _multi_dot, np.linalg.norm: measures.norm,
    **{
        getattr(np.linalg, f.__name__): f
        for f in (
            factorizations.cholesky, factorizations.eig, factorizations.eigh, factorizations.eigvals,
            factorizations.eigvalsh, factorizations.svdvals, measures.cond, measures.det, measures.matrix_norm,
            measures.slogdet, measures.vector_norm, products.matmul, products.matrix_power, products.matrix_transpose,
            products.outer, products.tensordot, products.vecdot, systems.inv, systems.lstsq, systems.solve,
            systems.tensorinv, systems.tensorsolve,
        )
    },
}  # fmt: skip
