"""torch.linalg: the core's linear algebra under PyTorch's names, arguments and results."""

from __future__ import annotations

import builtins
import contextlib
import functools
import math
from typing import Any

import numpy as np

from adjoint import linalg as core_linalg
from adjoint import tracing
from adjoint.errors import LinAlgError
from adjoint.execution import ValueNeededError
from adjoint.tensors import functions as core
from adjoint.tensors.conversion import dtype_of
from adjoint.tensors.located import at_user
from adjoint.tensors.pending import force
from adjoint.transforms.host_calls import host_call

from ._handlers import is_handled
from ._indefinite import factorized, solved
from ._missing import getter
from ._names import FUNCTIONS, METHODS, pair_type, recorded_at_user, refuse
from ._operators import one_dtype
from ._reductions import axes_of
from ._reductions import vector_norm as _vector_norm
from ._tensor import Core

__all__ = ["LinAlgError"]


# What may fail because of its operands' values.
FAILING = {"cholesky", "inv", "matrix_power", "solve", "tensorinv", "tensorsolve"}


def _at_once(f: Any) -> Any:
    """The function, computed where it is called if somebody may handle its error there, as there. In a trace, whose operands have
    no values yet, it is computed, and may fail, when the traced function is called."""

    @functools.wraps(f)
    def called(*args: Any, **keywords: Any) -> Any:
        made = f(*args, **keywords)
        if tracing.active() is None and is_handled():
            with contextlib.suppress(ValueNeededError):
                force([made.node])
        return made

    return called


def _public(f: Any) -> Any:
    called = recorded_at_user(_at_once(f) if f.__name__ in FAILING else f)
    name = f.__name__.rstrip("_")
    FUNCTIONS[f"linalg.{name}"] = called
    __all__.append(name)
    globals()[name] = called
    return called


def _square(name: str, A: Any) -> None:
    if not isinstance(A, Core) or A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"linalg.{name}: expected square matrices, got shape {tuple(getattr(A, 'shape', ()))}{at_user()}"
        )
    _inexact(name, A)


def _inexact(name: str, A: Any) -> None:
    if not A.dtype.inexact:
        raise RuntimeError(f"linalg.{name}: expected floating or complex numbers, got {A.dtype.name}{at_user()}")


def _of_square(name: str, f: Any) -> Any:
    def called(A: Any) -> Any:
        _square(name, A)
        return f(A)

    called.__name__ = name
    called.__doc__ = f"`linalg.{name}` of square matrices."
    return _public(called)


inv = _of_square("inv", core_linalg.inv)
for _name in ("det", "eigvals"):
    _of_square(_name, getattr(core_linalg, _name))
_of_square("matrix_exp", core_linalg.expm)
_of_square("slogdet", lambda A: pair_type("linalg_slogdet", "sign", "logabsdet")(*core_linalg.slogdet(A)))
_of_square("eig", lambda A: pair_type("linalg_eig", "eigenvalues", "eigenvectors")(*core_linalg.eig(A)))


@_public
def inv_ex(A: Any, *, check_errors: bool = False) -> Any:
    """The inverse, and 0 for each matrix that has one. For others the number of the first pivot that is zero, counted from 1,
    and an inverse of NaNs, unless `check_errors` asks for the error."""
    _square("inv_ex", A)
    if check_errors:
        return pair_type("linalg_inv_ex", "inverse", "info")(inv(A), core.zeros(A.shape[:-2], dtype="int32"))
    info = _first_zero(core_linalg.lu_factor(A.detach())[0])
    return pair_type("linalg_inv_ex", "inverse", "info")(_where_well(info, core_linalg.inv, A), info)


def _first_zero(LU: Any) -> Any:
    """The number of the first zero on each diagonal, counted from 1; 0 where there is none."""
    zero = core_linalg.diagonal(LU) == 0
    if not zero.shape[-1]:
        return core.zeros(zero.shape[:-1], dtype="int32")
    return core.astype(core.where(core.any(zero, axis=-1), core.argmax(zero, axis=-1) + 1, 0), "int32")


def _where_well(info: Any, f: Any, A: Any) -> Any:
    """What f gives for the matrices that `info` finds well, and NaNs for the others, which f isn't given."""
    well = core.expand_dims(info == 0, axis=(-2, -1))
    return core.where(well, f(core.where(well, A, core.eye(A.shape[-1], dtype=A.dtype))), math.nan)


def _indefinite_minors(a: Any) -> Any:
    """For each matrix the order of the first leading minor whose lower triangle has no Cholesky factor, or 0."""
    found = np.zeros(a.shape[:-2], np.int32)
    for place in np.ndindex(found.shape):
        if _indefinite(a[place]):
            matrix = a[place]
            found[place] = next(k for k in range(1, len(matrix) + 1) if _indefinite(matrix[:k, :k]))
    return found


def _indefinite(matrix: Any) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return True
    return False


@_public
def cholesky(A: Any, *, upper: bool = False) -> Any:
    """The triangular factor L of A = L Lᴴ, or U of A = Uᴴ U."""
    _square("cholesky", A)
    return core_linalg.cholesky(A, upper=upper)


@_public
def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The triangular factor, and 0 for each matrix that has one. For others the order of the first leading minor that isn't
    positive definite, and a factor of NaNs, unless `check_errors` asks for the error."""
    _square("cholesky_ex", A)
    pair = pair_type("linalg_cholesky_ex", "L", "info")
    if check_errors:
        return pair(cholesky(A, upper=upper), core.zeros(A.shape[:-2], dtype="int32"))
    given = (core.conj(core.matrix_transpose(A)) if upper else A).detach()
    info = host_call(_indefinite_minors, given, shape=tuple(A.shape[:-2]), dtype="int32", vmap=_indefinite_minors)
    factor = _where_well(info, lambda x: core_linalg.cholesky(x, upper=upper), A)
    return pair(factor, info)


@_public
def eigh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues in ascending order and eigenvectors of symmetric or Hermitian matrices, of one triangle."""
    _square("eigh", A)
    return pair_type("linalg_eigh", "eigenvalues", "eigenvectors")(*core_linalg.eigh(A, UPLO.upper()))


@_public
def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """Eigenvalues in ascending order of symmetric or Hermitian matrices, of one triangle."""
    _square("eigvalsh", A)
    return core_linalg.eigvalsh(A, UPLO.upper())


@_public
def qr(A: Any, mode: str = "reduced") -> Any:
    """Q and R with A = Q R; Q is empty in the mode "r"."""
    _inexact("qr", A)
    kind = pair_type("linalg_qr", "Q", "R")
    if mode == "r":
        return kind(core.zeros((0,), dtype=A.dtype), core_linalg.qr(A, mode="reduced")[1])
    return kind(*core_linalg.qr(A, mode=mode))


@_public
def svd(A: Any, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """U, S and Vh with A = U diag(S) Vh."""
    refuse("linalg.svd", "driver", driver)
    _inexact("svd", A)
    return pair_type("linalg_svd", "U", "S", "Vh")(*core_linalg.svd(A, full_matrices=full_matrices))


@_public
def svdvals(A: Any, *, driver: Any = None) -> Any:
    """Singular values in descending order."""
    refuse("linalg.svdvals", "driver", driver)
    _inexact("svdvals", A)
    return core_linalg.svdvals(A)


@_public
def matrix_power(A: Any, n: int) -> Any:
    """A times itself, n times; the inverse's power for negative n."""
    _square("matrix_power", A)
    return core_linalg.matrix_power(A, n)


@_public
def multi_dot(tensors: Any) -> Any:
    """The product of matrices in the order that takes the fewest multiplications."""
    one_dtype("linalg.multi_dot", *tensors)
    return core_linalg.multi_dot(list(tensors))


def _is_vector(A: Any, B: Any) -> bool:
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and tuple(B.shape) == tuple(A.shape)[:-1])


@_public
def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """X with A X = B (X A = B where left is False); B may be a vector, or a batch of them."""
    _square("solve", A)
    one_dtype("linalg.solve", A, B)
    if _is_vector(A, B):
        if not left:
            raise RuntimeError(f"linalg.solve: with left=False, B is no vector{at_user()}")
        return core.squeeze(core_linalg.solve(A, core.expand_dims(B, axis=-1)), axis=-1)
    return core_linalg.solve(A, B) if left else core.matrix_transpose(core_linalg.solve(core.matrix_transpose(A), core.matrix_transpose(B)))  # fmt: skip  # noqa: E501


@_public
def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False) -> Any:
    """The solution, and 0 for each matrix that is regular. For others the number of the first pivot that is zero, counted from
    1, and a solution of NaNs, unless `check_errors` asks for the error."""
    if check_errors:
        return pair_type("linalg_solve_ex", "result", "info")(
            solve(A, B, left=left), core.zeros(A.shape[:-2], dtype="int32")
        )
    _square("solve_ex", A)
    info = _first_zero(core_linalg.lu_factor(A.detach())[0])
    well = core.expand_dims(info == 0, axis=(-2, -1))
    result = solve(core.where(well, A, core.eye(A.shape[-1], dtype=A.dtype)), B, left=left)
    return pair_type("linalg_solve_ex", "result", "info")(
        core.where(core.squeeze(well, axis=-1) if _is_vector(A, B) else well, result, math.nan), info
    )


@_public
def solve_triangular(A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:
    """X with A X = B for triangular A (X A = B where left is False)."""
    _inexact("solve_triangular", A)
    if left:
        return core_linalg.solve_triangular(A, B, lower=not upper, unit_diagonal=unitriangular)
    turned = core_linalg.solve_triangular(
        core.matrix_transpose(A), core.matrix_transpose(B), lower=upper, unit_diagonal=unitriangular
    )
    return core.matrix_transpose(turned)


@_public
def tensorinv(A: Any, ind: int = 2) -> Any:
    """The inverse for tensordot."""
    return core_linalg.tensorinv(A, ind)


@_public
def tensorsolve(A: Any, B: Any, dims: Any = None) -> Any:
    """X with tensordot(A, X) = B."""
    return core_linalg.tensorsolve(A, B, None if dims is None else tuple(dims))


@_public
def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: Any = None) -> Any:
    """The solution of least squares, with residuals, ranks and singular values."""
    one_dtype("linalg.lstsq", A, B)
    if driver not in (None, "gelsy", "gelsd", "gelss", "gels"):
        raise RuntimeError(f"linalg.lstsq: unknown driver {driver!r}{at_user()}")
    vector = _is_vector(A, B)
    b = core.expand_dims(B, axis=-1) if vector else B
    m, n = tuple(A.shape)[-2:]
    x = core.matmul(core_linalg.pinv(A, rtol=None if driver == "gels" else rcond), b)
    full_rank = m > n
    residuals = (
        core.sum(core.square(core.abs(core.matmul(A, x) - b)), axis=-2)
        if full_rank
        else core.real(core.zeros((0,), dtype=A.dtype))
    )
    gels = driver == "gels"
    empty = core.zeros((0,), dtype="int64")
    rank = empty if gels else core_linalg.matrix_rank(A, rtol=rcond)
    values = core_linalg.svdvals(A) if driver in ("gelsd", "gelss") else core.real(core.zeros((0,), dtype=A.dtype))
    x = core.squeeze(x, axis=-1) if vector else x
    return pair_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")(x, residuals, rank, values)


@_public
def pinv(A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """The pseudoinverse."""
    _inexact("pinv", A)
    cut = rcond if rtol is None else rtol
    if hermitian:
        A = A + (_hermitian(A) - A).detach()  # the values of one triangle, the derivative of any matrix
    if isinstance(cut, Core) or isinstance(atol, Core) or atol is not None:
        return _pinv_cut(A, atol, cut)
    return core_linalg.pinv(A, rtol=cut)


def _hermitian(A: Any) -> Any:
    low = core.tril(A, k=-1)
    d = core.tril(core.triu(A))
    d = core.astype(core.real(d), A.dtype) if A.dtype.kind == "c" else d
    return low + d + core.conj(core.matrix_transpose(low))


def _pinv_cut(A: Any, atol: Any, rtol: Any) -> Any:
    U, S, Vh = core_linalg.svd(A, full_matrices=False)
    top = core.max(S, axis=-1, keepdims=True) if S.shape[-1] else S
    a, r = (core.expand_dims(v, axis=-1) if isinstance(v, Core) else (0.0 if v is None else v) for v in (atol, rtol))
    if rtol is None and atol is None:
        r = builtins.max(tuple(A.shape)[-2:]) * float(np.finfo(S.dtype.dtype).eps)
    keep = core.maximum(r * top, a * core.ones_like(top)) < S
    inverse = core.where(keep, 1 / core.where(keep, S, 1.0), 0.0)
    return core.matmul(
        core.conj(core.matrix_transpose(Vh)) * core.expand_dims(inverse, axis=-2), core.conj(core.matrix_transpose(U))
    )


@_public
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """How many singular values are above a tolerance."""
    _inexact("matrix_rank", A)
    if tol is not None:
        atol, rtol = tol, 0.0
    x = _hermitian(A) if hermitian else A
    S = core_linalg.svdvals(x)
    if not S.shape[-1]:
        return core.zeros(tuple(A.shape)[:-2], dtype="int64")
    top = core.max(S, axis=-1)
    if rtol is None:
        rtol = (
            builtins.max(tuple(A.shape)[-2:]) * float(np.finfo(S.dtype.dtype).eps)
            if atol is None or isinstance(atol, Core)
            else 0.0
        )
    bound = core.maximum(rtol * top, (0.0 if atol is None else atol) * core.ones_like(top))
    return core.count_nonzero(core.expand_dims(bound, axis=-1) < S, axis=-1)


@_public
def cond(A: Any, p: Any = None) -> Any:
    """The condition number."""
    _inexact("cond", A)
    return core_linalg.cond(A, p)


@_public
def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """The sum of conj(x) * y along an axis."""
    one_dtype("linalg.vecdot", x, y)
    return core.sum(core.conj(x) * y, axis=dim)


@_public
def cross(input: Any, other: Any, *, dim: int = -1) -> Any:
    """The cross product along an axis of three."""
    one_dtype("linalg.cross", input, other)
    if input.ndim != other.ndim:
        raise RuntimeError(f"linalg.cross: {input.ndim} and {other.ndim} axes{at_user()}")
    if input.shape[dim] != 3 or other.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: axis {dim} of {tuple(input.shape)} or {tuple(other.shape)} isn't three{at_user()}"
        )
    return core_linalg.cross(*core.broadcast_arrays(input, other), axis=dim)


@_public
def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """A diagonal of two axes, along a new last axis, as a view."""
    return FUNCTIONS["diagonal"](A, offset, dim1, dim2)


@_public
def vander(x: Any, *, N: int | None = None) -> Any:
    """The Vandermonde matrices of vectors."""
    x = core.reshape(x, (1,)) if not x.ndim else x
    x = x if x.dtype.inexact else core.astype(x, "int64")
    n = x.shape[-1] if N is None else N
    if n <= 1 and N is not None:
        raise RuntimeError(f"linalg.vander: N is greater than 1, got {N}{at_user()}")
    return core.stack([core.ones_like(x) if p == 0 else core.power(x, p) for p in range(n)], axis=-1)


@_public
def vector_norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The vector norm over axes, or all."""
    return _vector_norm(x, ord, dim, keepdim, dtype)


@_public
def matrix_norm(A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The matrix norm over two axes: "fro", "nuc", 2, -2, 1, -1, inf or -inf."""
    _inexact("matrix_norm", A)
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: two axes, got {dim}{at_user()}")
    x = A if dtype is None else core.astype(A, dtype_of(dtype))
    a, b = (d % A.ndim for d in dim)
    if a == b:
        raise RuntimeError(f"linalg.matrix_norm: the axes are the same{at_user()}")
    if ord == "fro":
        return _vector_norm(x, 2, (a, b), keepdim)
    if ord in ("nuc", 2, -2):
        values = core_linalg.svdvals(core.moveaxis(x, (a, b), (-2, -1)))
        out = core.sum(values, axis=-1) if ord == "nuc" else _extreme(values, -1, ord)
    elif ord in (1, -1, math.inf, -math.inf):
        summed, kept = (a, b) if abs(ord) == 1 else (b, a)
        sums = core.sum(core.abs(x), axis=summed)
        out = _extreme(sums, kept - (kept > summed), ord)
    else:
        raise RuntimeError(f"linalg.matrix_norm: unknown order {ord!r}{at_user()}")
    return core.expand_dims(out, axis=tuple(sorted((a, b)))) if keepdim else out


def _extreme(x: Any, axis: int, order: float) -> Any:
    """The largest along an axis, 0 of none; or for a negative order the smallest."""
    if order < 0:
        return core.min(x, axis=axis)
    return core.max(x, axis=axis) if x.shape[axis] else core.sum(x, axis=axis)


@_public
def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of vectors or matrices, by the number of axes."""
    _inexact("norm", A)
    if isinstance(ord, str) or (
        ord is not None and (len(dim) == 2 if isinstance(dim, (tuple, list)) else dim is None and A.ndim == 2)
    ):
        if dim is None and A.ndim != 2:
            raise RuntimeError(f"linalg.norm: the order {ord!r} is one of matrices{at_user()}")
        return matrix_norm(A, ord, tuple(dim) if dim is not None else (-2, -1), keepdim, dtype=dtype)
    if ord is not None and dim is None and A.ndim > 2:
        raise RuntimeError(f"linalg.norm: with an order and without dim, one or two axes{at_user()}")
    return _vector_norm(A, 2 if ord is None else ord, axes_of(dim), keepdim, dtype)


def ormqr(input: Any, input2: Any, input3: Any, left: bool = True, transpose: bool = False) -> Any:
    """The product of the matrix `input3` and the unitary one, whole, of Householder vectors, or with its adjoint.

    The vectors are the columns of `input`, with the factors `input2`. Each one's reflection is applied to the matrix in turn.
    """
    tau, other = input2, input3
    _inexact("ormqr", input)
    n = input.shape[-2]
    if not left:  # other · Q is the adjoint of Q* · other*
        turned = ormqr(input, tau, core.conj(other).mT, left=True, transpose=not transpose)
        return core.conj(turned).mT
    if other.shape[-2] != n or tau.shape[-1] > min(n, input.shape[-1]):
        raise RuntimeError(
            f"ormqr: vectors of shape {tuple(input.shape)}, {tau.shape[-1]} factors, a matrix of {tuple(other.shape)}{at_user()}"
        )
    count = tau.shape[-1]
    places = core.reshape(core.arange(n), (n, 1))
    found = other
    for i in range(count) if transpose else reversed(range(count)):
        column = input[..., :, i : i + 1]
        v = core.where(places > i, column, core.astype(places == i, column.dtype))
        factor = tau[..., i : i + 1, None]
        factor = core.conj(factor) if transpose else factor
        found = found - factor * core.matmul(v, core.matmul(core.conj(v).mT, found))
    return found


FUNCTIONS["ormqr"] = METHODS["ormqr"] = recorded_at_user(ormqr)


@_public
def householder_product(A: Any, tau: Any) -> Any:
    """The product of Householder matrices."""
    _inexact("householder_product", A)
    return core_linalg.householder_product(A, tau)


@_public
def lu_factor(A: Any, *, pivot: bool = True) -> Any:
    """The factors in one matrix, and the rows exchanged, counted from 1."""
    _pivoted("lu_factor", pivot)
    LU, pivots = core_linalg.lu_factor(A)
    return pair_type("linalg_lu_factor", "LU", "pivots")(LU, core.astype(pivots + 1, "int32"))


def _pivoted(name: str, pivot: bool) -> None:
    if not pivot:
        raise RuntimeError(f"linalg.{name}: rows are always exchanged here; leave pivot out{at_user()}")


@_public
def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """As `lu_factor`, with the number of the first pivot that is zero, counted from 1, or 0. `check_errors` raises for one."""
    LU, pivots = lu_factor(A, pivot=pivot)
    info = _first_zero(LU.detach())
    if check_errors and bool(core.any(info != 0)):
        raise LinAlgError(f"linalg.lu_factor_ex: a matrix is singular{at_user()}")
    return pair_type("linalg_lu_factor_ex", "LU", "pivots", "info")(LU, pivots, info)


@_public
def lu(A: Any, *, pivot: bool = True) -> Any:
    """P, L and U with A = P L U."""
    _pivoted("lu", pivot)
    return pair_type("linalg_lu", "P", "L", "U")(*core_linalg.lu(A))


@_public
def lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """X with A X = B (X A = B where left is False), of the factors of A."""
    factors = (LU, core.astype(pivots, "int64") - 1)
    if left:
        return core_linalg.lu_solve(factors, B, trans=2 if adjoint else 0)
    turned = core.conj(core.matrix_transpose(B))
    return core.conj(core.matrix_transpose(core_linalg.lu_solve(factors, turned, trans=0 if adjoint else 2)))


@_public
def ldl_factor(A: Any, *, hermitian: bool = False) -> Any:
    """The factors of A = L D Lᵀ (L D Lᴴ if `hermitian`) in one matrix, and the rows exchanged, counted from 1; negative in 2 x 2
    blocks of D. A is symmetric (Hermitian), of shape (..., n, n). Raises RuntimeError for a matrix with a zero block."""
    LD, pivots, info = ldl_factor_ex(A, hermitian=hermitian)
    wrong = np.flatnonzero(info.numpy())
    if wrong.size:
        raise LinAlgError(f"linalg.ldl_factor: D of matrix {wrong[0]} has a zero on its diagonal{at_user()}")
    return pair_type("linalg_ldl_factor", "LD", "pivots")(LD, pivots)


@_public
def ldl_factor_ex(A: Any, *, hermitian: bool = False, check_errors: bool = False) -> Any:
    """As `ldl_factor`, with the number of the first zero of each D, counted from 1, or 0."""
    _square("ldl_factor_ex", A)
    if check_errors:
        zeros = core.zeros(A.shape[:-2], dtype="int32")
        return pair_type("linalg_ldl_factor_ex", "LD", "pivots", "info")(*ldl_factor(A, hermitian=hermitian), zeros)
    found = factorized(_value_of("ldl_factor", A), hermitian and A.dtype.kind == "c")
    return pair_type("linalg_ldl_factor_ex", "LD", "pivots", "info")(*[core.tensor(x) for x in found])


def _value_of(name: str, x: Any) -> Any:
    if x.requires_grad:
        raise RuntimeError(
            f"linalg.{name}: it has no derivative, here as in PyTorch; use solve or eigh, or detach(){at_user()}"
        )
    return x.detach().numpy()


@_public
def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False) -> Any:
    """X with A X = B, of what `ldl_factor` gives for A; B has the shape (..., n, m)."""
    _square("ldl_solve", LD)
    if pivots.dtype.kind not in "iu" or tuple(pivots.shape) != tuple(LD.shape)[:-1]:
        raise RuntimeError(
            f"linalg.ldl_solve: expected pivots of shape {tuple(LD.shape)[:-1]} and of integers, got {tuple(pivots.shape)} of "
            f"{pivots.dtype.name}{at_user()}"
        )
    if B.ndim < 2 or B.shape[-2] != LD.shape[-1]:
        raise RuntimeError(
            f"linalg.ldl_solve: expected B of shape (..., {LD.shape[-1]}, m), got {tuple(B.shape)}{at_user()}"
        )
    if B.dtype is not LD.dtype:
        raise RuntimeError(f"linalg.ldl_solve: LD is {LD.dtype.name}, B is {B.dtype.name}{at_user()}")
    values = [_value_of("ldl_solve", x) for x in (LD, B)]
    return core.tensor(solved(values[0], pivots.numpy(), values[1], hermitian and LD.dtype.kind == "c"))


@_public
def matmul(input: Any, other: Any) -> Any:
    """The product of matrices."""
    return FUNCTIONS["matmul"](input, other)


__getattr__ = getter("torch.linalg", globals())
