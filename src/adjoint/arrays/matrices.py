"""Diagonals and triangles, and sums of products of other shapes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.composites.linalg import diagonal
from adjoint.primitives.core import ops
from adjoint.tensors.composing import Operand, as_tensor, as_tensors, scoped
from adjoint.tensors.conversion import as_node, dtype_of
from adjoint.tensors.functions import (
    conj,
    flatten,
    norm,
    ones,
    reshape,
    tensordot,
    tril,
)  # fmt: skip
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor

__all__ = ["cdist", "diag", "diag_embed", "diagflat", "fill_diagonal", "inner", "tri", "vdot"]


@scoped
def diag_embed(x: Operand, /, offset: int = 0) -> Tensor:
    """Matrices (..., m, m) of zeros with x (..., n) on a diagonal, m = n + |offset|.

    >>> import adjoint as ad
    >>> ad.diag_embed(ad.tensor([1.0, 2.0]))
    Tensor([[1., 0.],
            [0., 2.]])
    """
    node = as_node(x)
    if not node.ndim:
        raise ValueError(f"diag_embed: expected at least one axis, got a number{at_user()}")
    *lead, n = node.shape
    k = operator.index(offset)
    m = n + (k if k > 0 else -k)
    diagonal = (-k * m if k < 0 else k, n, m + 1)
    flat = ops.embed(node, (*lead, m * m), (*[(0, size, 1) for size in lead], diagonal))
    return wrap(ops.reshape(flat, (*lead, m, m)))


@scoped
def diag(x: Operand, /, k: int = 0) -> Tensor:
    """The k-th diagonal of a matrix, or a matrix of zeros with x (n,) on it. Raises ValueError for other shapes.

    >>> import adjoint as ad
    >>> ad.diag(ad.tensor([[1.0, 2.0], [3.0, 4.0]]))
    Tensor([1., 4.])
    """
    t = as_tensor(x)
    if t.ndim == 1:
        return diag_embed(t, k)
    if t.ndim != 2:
        raise ValueError(f"diag: expected one or two axes, got shape {t.shape}{at_user()}")
    return wrap(diagonal(t.node, k))


@scoped
def diagflat(x: Operand, /, k: int = 0) -> Tensor:
    """A matrix of zeros with all elements of x on its k-th diagonal.

    >>> import adjoint as ad
    >>> ad.diagflat(ad.tensor([[1.0], [2.0]]))
    Tensor([[1., 0.],
            [0., 2.]])
    """
    return diag_embed(flatten(as_tensor(x)), k)


@scoped
def fill_diagonal(x: Operand, value: Operand, /, wrap: bool = False) -> Tensor:
    """x with its main diagonal replaced by a number, or by the elements of an array over and over. `wrap` starts the diagonal
    anew below, in a tall matrix. More than two axes must be equally long, else ValueError.

    >>> import adjoint as ad
    >>> ad.fill_diagonal(ad.zeros((2, 2)), 5.0)
    Tensor([[5., 0.],
            [0., 5.]])
    """
    t, number = as_tensors(x, value)
    if t.ndim < 2 or (t.ndim > 2 and len(set(t.shape)) > 1):
        raise ValueError(f"fill_diagonal: expected a matrix or equally long axes, got shape {t.shape}{at_user()}")
    flat = np.zeros(t.shape, bool)
    np.fill_diagonal(flat, True, wrap=wrap)
    places = np.flatnonzero(flat)
    new = flatten(number)
    if new.size != 1 and places.size:
        new = new[np.arange(places.size) % new.size]
    result = flatten(t) + 0
    result[places] = new if new.size > 1 else new.reshape(())
    return reshape(result, t.shape)


@scoped
def tri(rows: int, columns: int | None = None, /, k: int = 0, *, dtype: Any = None) -> Tensor:
    """Ones on and below the k-th diagonal of a matrix of zeros.

    >>> import adjoint as ad
    >>> ad.tri(2, 3)
    Tensor([[1., 0., 0.],
            [1., 1., 0.]])
    """
    m = rows if columns is None else columns
    return tril(ones((rows, m), dtype=None if dtype is None else dtype_of(dtype)), k=k)


@scoped
def inner(x: Operand, y: Operand, /) -> Tensor:
    """The sums of products over the last axis of both; a plain product where one is a number.

    >>> import adjoint as ad
    >>> ad.inner(ad.tensor([1.0, 2.0]), ad.tensor([3.0, 4.0]))
    Tensor(11.)
    """
    a, b = as_tensors(x, y)
    return tensordot(a, b, axes=((-1,), (-1,))) if a.ndim and b.ndim else a * b


@scoped
def vdot(x: Operand, y: Operand, /) -> Tensor:
    """The sum of conj(x) y over all elements of both.

    >>> import adjoint as ad
    >>> ad.vdot(ad.tensor([[1.0], [2.0]]), ad.tensor([3.0, 4.0]))
    Tensor(11.)
    """
    a, b = as_tensors(x, y)
    return tensordot(conj(flatten(a)), flatten(b), axes=1)


@scoped
def cdist(x: Operand, y: Operand, /, p: float = 2.0) -> Tensor:
    """The distances (..., m, n) of points x (..., m, d) from points y (..., n, d), in the norm of order p > 0.

    Its derivative is 0 where two points coincide. Raises ValueError where points have different lengths.

    >>> import adjoint as ad
    >>> ad.cdist(ad.tensor([[0.0, 0.0]]), ad.tensor([[3.0, 4.0], [0.0, 1.0]]))
    Tensor([[5., 1.]])
    """
    a, b = as_tensors(x, y)
    if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-1]:
        raise ValueError(f"cdist: expected points (..., m, d) and (..., n, d), got {a.shape} and {b.shape}{at_user()}")
    return norm(a[..., :, None, :] - b[..., None, :, :], p, axis=-1)
