"""PyTorch's products of matrices, and its linear algebra outside of torch.linalg."""

from __future__ import annotations

import functools
import math
from collections import Counter
from typing import Any

import numpy as np

from adjoint import linalg as core_linalg
from adjoint.composites import products
from adjoint.dtypes import AUTOCAST, int64
from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user

from . import linalg
from ._elementwise import made
from ._names import FUNCTIONS, METHODS, function, numbers_between, pair_type, recorded_at_user
from ._operators import binary_node, one_dtype, promoted
from ._operators import matmul as matmul_node
from ._reductions import vector_norm
from ._tensor import Core, node_of
from ._views import axis_of


def _axes(name: str, *wanted: tuple[Any, int]) -> None:
    for x, n in wanted:
        if x.ndim != n:
            raise RuntimeError(f"{name}: expected {n} axes, got shape {tuple(x.shape)}{at_user()}")


def _product(a: Any, b: Any) -> Any:
    return made(matmul_node(node_of(a), node_of(b)))


@function(follows=True)
def matmul(input: Any, other: Any) -> Any:
    """The product of matrices or vectors; leading axes broadcast."""
    return made(binary_node("matmul", matmul_node, input, other))


def _plain_mm(args: tuple[Any, ...]) -> Any:
    """The product of two floating matrices of one dtype that fit; None for others."""
    if len(args) == 2 and isinstance(args[0], Core) and isinstance(args[1], Core):
        a, b = args[0].node, args[1].node
        s, t = a.type.shape, b.type.shape
        if len(s) == 2 and len(t) == 2 and s[1] == t[0] and a.type.inexact and a.type.dtype is b.type.dtype:
            return products.matmul(a, b)
    return None


@function(quick=_plain_mm, follows=True)
def mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices."""
    _axes("mm", (input, 2), (mat2, 2))
    return _product(input, mat2)


FUNCTIONS["spmm"] = FUNCTIONS["mm"]  # of a sparse matrix or a dense one


@function(follows=True)
def bmm(input: Any, mat2: Any) -> Any:
    """The products of two batches of matrices."""
    _axes("bmm", (input, 3), (mat2, 3))
    if input.shape[0] != mat2.shape[0]:
        raise RuntimeError(f"bmm: {input.shape[0]} and {mat2.shape[0]} matrices{at_user()}")
    return _product(input, mat2)


@function(follows=True)
def mv(input: Any, vec: Any) -> Any:
    """A matrix times a vector."""
    _axes("mv", (input, 2), (vec, 1))
    return _product(input, vec)


@function(follows=True)
def dot(input: Any, tensor: Any) -> Any:
    """The product of two vectors."""
    _axes("dot", (input, 1), (tensor, 1))
    return _product(input, tensor)


@function(follows=True)
def vdot(input: Any, other: Any) -> Any:
    """The product of two vectors, the first conjugated."""
    _axes("vdot", (input, 1), (other, 1))
    return _product(core.conj(input), other)


@function(follows=True)
def inner(input: Any, other: Any) -> Any:
    """The products along the last axes."""
    if not input.ndim or not other.ndim:
        return input * other
    return core.tensordot(input, other, axes=([-1], [-1]))


@function("ger", follows=True)
def outer(input: Any, vec2: Any) -> Any:
    """All products of elements of two vectors."""
    _axes("outer", (input, 1), (vec2, 1))
    return core.reshape(input, (-1, 1)) * core.reshape(vec2, (1, -1))


@function(follows=True)
def kron(input: Any, other: Any) -> Any:
    """The Kronecker product."""
    return core_linalg.kron(input, other)


def _weighted(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    if product.dtype.kind in "iu":
        beta, alpha = int(beta), int(alpha)
    if product.dtype.kind == "b":
        beta, alpha = bool(beta), bool(alpha)
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:
        return scaled
    out = (input if beta == 1 else input * beta) + scaled
    if tuple(out.shape) != tuple(product.shape):
        raise RuntimeError(
            f"a tensor of shape {tuple(input.shape)} can't be added to {tuple(product.shape)}{at_user()}"
        )
    return out


@function(in_place=True, follows=True)
@numbers_between("beta", "alpha")
def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat1 @ mat2."""
    one_dtype("addmm", input, mat1)
    return _weighted(input, mm(mat1, mat2), beta, alpha)


@function(in_place=True, follows=True)
@numbers_between("beta", "alpha")
def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * mat @ vec."""
    one_dtype("addmv", input, mat)
    return _weighted(input, mv(mat, vec), beta, alpha)


@function(in_place=True, follows=True)
@numbers_between("beta", "alpha")
def addr(input: Any, vec1: Any, vec2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * outer(vec1, vec2)."""
    return _weighted(input, outer(vec1, vec2), beta, alpha)


@function(in_place=True, follows=True)
@numbers_between("beta", "alpha")
def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * bmm(batch1, batch2)."""
    one_dtype("baddbmm", input, batch1)
    return _weighted(input, bmm(batch1, batch2), beta, alpha)


@function(in_place=True, follows=True)
@numbers_between("beta", "alpha")
def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta * input + alpha * the sum of bmm(batch1, batch2)."""
    one_dtype("addbmm", input, batch1)
    return _weighted(input, core.sum(bmm(batch1, batch2), axis=0), beta, alpha)


@function(methods=False)
def chain_matmul(*matrices: Any) -> Any:
    """The product of matrices."""
    one_dtype("chain_matmul", *matrices)
    return core_linalg.multi_dot(list(matrices))


@function(methods=False, follows=True)
def einsum(equation: Any, *operands: Any) -> Any:
    """Einstein summation; also with operands and lists of axes in turn."""
    if not isinstance(equation, str):
        equation, operands = _letters((equation, *operands))
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    equation = equation.replace(" ", "")
    if len({x.dtype.name for x in operands if isinstance(x, Core)}) > 1:
        if _sums_one_dtype(equation, operands):
            operands = _of_one_dtype(operands)
        one_dtype("einsum", *operands)
    return core.einsum(equation, *_summed_as_integers(equation, operands))


def _sums_one_dtype(equation: str, operands: tuple[Any, ...]) -> bool:
    """Whether operands that are summed over one axis together have one dtype: then the rest is multiplied, which promotes."""
    inputs, _, result = equation.partition("->")
    terms = [set(term) - {"."} for term in inputs.split(",")]
    if len(terms) != len(operands) or not all(isinstance(x, Core) for x in operands):
        return False
    kept = set(result) if "->" in equation else {c for c, n in Counter(inputs).items() if n == 1}
    summed = set().union(*terms) - kept
    return all(len({x.dtype.name for x, term in zip(operands, terms, strict=True) if c in term}) < 2 for c in summed)


def _of_one_dtype(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands in the dtype of their product, in which those without axes count like others, for they are given axes."""
    if AUTOCAST.get() is not None:
        return operands
    kind = functools.reduce(promoted, [x.dtype for x in operands])
    return tuple([core.astype(x, kind) for x in operands])


def _summed_as_integers(equation: str, operands: tuple[Any, ...]) -> list[Any]:
    """The operands, in int64 those of integers that are summed over an axis which no other has, as `sum` gives it."""
    inputs, _, result = equation.partition("->")
    terms = inputs.split(",")
    letters = Counter("".join(map("".join, map(set, terms))).replace(".", ""))
    kept = set(result) if "->" in equation else {c for c, n in Counter(inputs).items() if n == 1}
    return [
        core.astype(x, int64)
        if x.dtype.kind in "biu" and any(letters[c] == 1 and c not in kept for c in term if c != ".")
        else x
        for x, term in zip(operands, terms, strict=False)
    ] + list(operands[len(terms) :])


def _letters(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    def written(axes: Any) -> str:
        return "".join(
            "..." if a is Ellipsis else "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[a] for a in axes
        )

    pairs = list(zip(given[::2], given[1::2], strict=False))
    text = ",".join(written(axes) for _, axes in pairs)
    return (f"{text}->{written(given[-1])}" if len(given) % 2 else text), tuple(x for x, _ in pairs)


@function(methods=False)
def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """The sum of products over axes."""
    one_dtype("tensordot", a, b)
    if isinstance(dims, Core):
        dims = dims.tolist()
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot: dims={dims} of tensors with {a.ndim} and {b.ndim} axes{at_user()}")
        return core.tensordot(a, b, axes=dims)
    first, second = (list(v) if isinstance(v, (list, tuple)) else [v] for v in dims)
    for i, j in zip(first, second, strict=False):  # an axis of one meets an axis of any size
        if a.shape[i] == 1 != b.shape[j]:
            b = core.sum(b, axis=j, keepdims=True)
        elif b.shape[j] == 1 != a.shape[i]:
            a = core.sum(a, axis=i, keepdims=True)
    return core.tensordot(a, b, axes=[first, second])


@function(follows=True)
def cross(input: Any, other: Any, dim: Any = None) -> Any:
    """The cross product along an axis of three (the first one, if none is said)."""
    one_dtype("cross", input, other)
    if dim is None:
        dim = next((i for i, n in enumerate(input.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError(f"cross: no axis of three in {tuple(input.shape)}{at_user()}")
    return core_linalg.cross(*core.broadcast_arrays(input, other), axis=dim)


@function(methods=False, follows=True)
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: Any = None) -> Any:
    """The distances of all rows of one matrix from all rows of another."""
    one_dtype("cdist", x1, x2)
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(f"cdist: rows of {x1.shape[-1]} and {x2.shape[-1]} numbers{at_user()}")
    if not x1.shape[-1]:
        return core.sum(core.expand_dims(x1, axis=-2) - core.expand_dims(x2, axis=-3), axis=-1)
    return vector_norm(core.expand_dims(x1, axis=-2) - core.expand_dims(x2, axis=-3), float(p), -1, keepdim=False)


@function()
def logdet(input: Any) -> Any:
    """The logarithm of the determinant; NaN where that is negative."""
    sign, size = core_linalg.slogdet(input)
    if input.dtype.kind == "c":
        return core.log(sign) + size
    return core.where(sign < 0, math.nan, size)


for _name in ("det", "matrix_power", "matrix_exp"):
    FUNCTIONS[_name] = METHODS[_name] = getattr(linalg, _name)


@function()
def slogdet(input: Any) -> Any:
    """Sign and logarithm of the determinant."""
    return pair_type("slogdet", "sign", "logabsdet")(*linalg.slogdet(input))


FUNCTIONS["lu"] = METHODS["lu"] = recorded_at_user(lambda A, pivot=True, get_infos=False: _lu(A, pivot, get_infos))


def _lu(A: Any, pivot: bool, get_infos: bool) -> Any:
    found = linalg.lu_factor(A, pivot=pivot)
    return (*found, core.zeros(tuple(A.shape)[:-2], dtype="int32")) if get_infos else tuple(found)


FUNCTIONS["inverse"] = METHODS["inverse"] = linalg.inv


@function()
def pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """The pseudoinverse."""
    return linalg.pinv(input, rcond)


FUNCTIONS["cholesky"] = METHODS["cholesky"] = recorded_at_user(
    lambda input, upper=False: linalg.cholesky(input, upper=upper)
)


@function()
def geqrf(input: Any) -> Any:
    """The factors of LAPACK's QR decomposition: R with the reflections below it, and their scales."""
    return _geqrf(input)


@function()
def qr(input: Any, some: bool = True) -> Any:
    """Q and R."""
    return pair_type("qr", "Q", "R")(*linalg.qr(input, "reduced" if some else "complete"))


@function()
def svd(input: Any, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S and V with input = U diag(S) Vᴴ."""
    if not compute_uv:
        m, n = tuple(input.shape)[-2:]
        lead = tuple(input.shape)[:-2]
        empty = [core.zeros((*lead, k, k), dtype=input.dtype) for k in (m, n)]
        return pair_type("svd", "U", "S", "V")(empty[0], linalg.svdvals(input), empty[1])
    U, S, Vh = linalg.svd(input, full_matrices=not some)
    return pair_type("svd", "U", "S", "V")(U, S, core.conj(core.matrix_transpose(Vh)))


@function()
def cholesky_solve(input: Any, input2: Any, upper: bool = False) -> Any:
    """X with A X = B, of the Cholesky factor of A."""
    one_dtype("cholesky_solve", input, input2)
    low = core.conj(core.matrix_transpose(input2)) if upper else input2
    half = core_linalg.solve_triangular(low, input, lower=True)
    return core_linalg.solve_triangular(core.conj(core.matrix_transpose(low)), half, lower=False)


@function()
def cholesky_inverse(input: Any, upper: bool = False) -> Any:
    """The inverse of A, of its Cholesky factor."""
    eye = core.broadcast_to(core.eye(input.shape[-1], dtype=input.dtype), tuple(input.shape))
    return cholesky_solve(eye, core.triu(input) if upper else core.tril(input), upper)


@function()
def triangular_solve(
    input: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """X with A X = input for triangular A, and a copy of A."""
    x = core_linalg.solve_triangular(
        A, input, lower=not upper, trans=1 if transpose else 0, unit_diagonal=unitriangular
    )
    return pair_type("triangular_solve", "solution", "cloned_coefficient")(x, A.clone())


@function()
def lu_solve(input: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """X with A X = input, of the factors of A."""
    return linalg.lu_solve(LU_data, LU_pivots, input)


@function(methods=False)
def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L and U of the factors in one matrix."""
    m, n = tuple(LU_data.shape)[-2:]
    k = min(m, n)
    empty = core.zeros((0,), dtype=LU_data.dtype)
    L = U = P = empty
    if unpack_data:
        L = core.tril(LU_data[..., :, :k], k=-1) + core.eye(m, k, dtype=LU_data.dtype)
        U = core.triu(LU_data[..., :k, :])
    if unpack_pivots:
        P = core.tensor(_permutations(np.asarray(LU_pivots.numpy()), m).astype(LU_data.dtype.dtype))
    return pair_type("lu_unpack", "P", "L", "U")(P, L, U)


def _permutations(pivots: Any, m: int) -> Any:
    flat = pivots.reshape(-1, pivots.shape[-1])
    out = np.zeros((len(flat), m, m))
    for i, row in enumerate(flat):
        order = np.arange(m)
        for j, p in enumerate(row):
            order[[j, p - 1]] = order[[p - 1, j]]
        out[i, order, np.arange(m)] = 1
    return out.reshape(*pivots.shape[:-1], m, m)


def _geqrf(A: Any) -> Any:
    if A.requires_grad:
        raise RuntimeError(f"geqrf: it has no derivative, here as in PyTorch; use linalg.qr, or detach(){at_user()}")
    values = np.asarray(A.detach().numpy())
    if values.ndim < 2:
        raise RuntimeError(f"geqrf: expected matrices, got shape {values.shape}{at_user()}")
    h, tau = np.linalg.qr(values, mode="raw")
    return pair_type("geqrf", "a", "tau")(core.tensor(np.ascontiguousarray(h.swapaxes(-1, -2))), core.tensor(tau))


@function(methods=False)
def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Any:
    """U, S and V of the q largest singular values of A - M, nearly, by products with random vectors.

    N. Halko, P. Martinsson and J. Tropp, "Finding structure with randomness" (SIAM Review, 2011), algorithm 4.4.
    """
    x = A if M is None else A - core.broadcast_to(M, tuple(A.shape))
    m, n = tuple(x.shape)[-2:]
    columns = 6 if q is None else q
    if not 0 <= columns <= min(m, n):
        raise ValueError(f"svd_lowrank: q is at most the smaller of {m} and {n}, got {columns}{at_user()}")
    adjoint = core.conj(core.matrix_transpose(x))
    found = core.matmul(x, FUNCTIONS["randn"](n, columns, dtype=x.dtype))
    Q = core_linalg.qr(found)[0]
    for _ in range(2 if niter is None else niter):
        Q = core_linalg.qr(core.matmul(adjoint, Q))[0]
        Q = core_linalg.qr(core.matmul(x, Q))[0]
    U, S, Vh = core_linalg.svd(core.matmul(core.conj(core.matrix_transpose(Q)), x), full_matrices=False)
    return core.matmul(Q, U), S, core.conj(core.matrix_transpose(Vh))


@function(methods=False)
def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """U, S and V of the q principal directions of the rows of A, nearly; `center` takes their mean away first."""
    m, n = tuple(A.shape)[-2:]
    columns = min(6, m, n) if q is None else q
    if not 0 <= columns <= min(m, n):
        raise ValueError(f"pca_lowrank: q is at most the smaller of {m} and {n}, got {columns}{at_user()}")
    if niter < 0:
        raise ValueError(f"pca_lowrank: niter isn't negative, got {niter}{at_user()}")
    return svd_lowrank(A - core.mean(A, axis=-2, keepdims=True) if center else A, columns, niter)


@function()
def orgqr(input: Any, input2: Any) -> Any:
    """The product of Householder matrices (`input`, with the factors `input2`)."""
    return core_linalg.householder_product(input, input2)


@function(methods=False)
def gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> Any:
    """Central differences along axes."""
    axes = range(input.ndim) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if len({axis_of(d, input.ndim) for d in axes}) != len(tuple(axes)):
        raise RuntimeError(f"gradient: an axis is named twice: {dim}{at_user()}")
    steps = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(list(axes))
    return tuple(_gradient(input, h, d % input.ndim, edge_order) for h, d in zip(steps, axes, strict=True))


def _gradient(x: Any, h: Any, d: int, edge_order: int) -> Any:
    n = x.shape[d]
    h = 1 if h is None else h
    if n <= edge_order:
        raise RuntimeError(f"gradient: an axis of {n} is too short{at_user()}")

    def part(a: int, b: int) -> Any:
        return core.take(x, core.arange(a, b), axis=d)

    at = np.asarray(h.detach().numpy(), np.float64) if isinstance(h, Core) and h.ndim else np.arange(n) * float(h)
    steps = np.diff(at)
    shape = tuple(-1 if i == d else 1 for i in range(x.ndim))
    kind = x.dtype if x.dtype.inexact else core.tensor(0.0).dtype
    a, b = steps[:-1], steps[1:]

    def weights(values: Any) -> Any:
        return core.reshape(core.tensor(np.asarray(values), dtype=kind), shape)

    pieces = []
    if n > 2:
        inner_part = part(0, n - 2) * weights(-b / (a * (a + b))) + part(1, n - 1) * weights((b - a) / (a * b)) + part(2, n) * weights(a / (b * (a + b)))  # fmt: skip  # noqa: E501
        pieces.append(inner_part)
    if edge_order == 1:
        first = (part(1, 2) - part(0, 1)) / float(steps[0])
        last = (part(n - 1, n) - part(n - 2, n - 1)) / float(steps[-1])
    else:
        first = _edge(part(0, 1), part(1, 2), part(2, 3), steps[0], steps[1], 1)
        last = _edge(part(n - 1, n), part(n - 2, n - 1), part(n - 3, n - 2), steps[-1], steps[-2], -1)
    return core.concat([first, *pieces, last], axis=d)


def _edge(x0: Any, x1: Any, x2: Any, a: float, b: float, sign: int) -> Any:
    return (x0 * (-(2 * a + b) / (a * (a + b))) + x1 * ((a + b) / (a * b)) - x2 * (a / (b * (a + b)))) * sign
