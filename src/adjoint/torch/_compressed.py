"""Sparse matrices in compressed rows: where each row begins among the elements, and the elements' columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user

from ._creation import given_dtype, layout, on_cpu
from ._names import FUNCTIONS, METHODS, refuse
from ._tensor import Core, Tensor, as_torch
from .sparse import SparseTensor, to_sparse

__all__ = ["CompressedTensor", "sparse_csr_tensor"]

sparse_coo, sparse_csr = layout("sparse_coo"), layout("sparse_csr")


class CompressedTensor(SparseTensor):
    """A matrix by rows: `sparse_csr_tensor` and `x.to_sparse_csr()` make it. Each position is there once, in order.

    >>> import adjoint.torch as torch
    >>> a = torch.sparse_csr_tensor([0, 1, 3], [2, 0, 1], [3.0, 4.0, 5.0], (2, 3))
    >>> a @ torch.ones(3, 1)
    tensor([[3.],
            [9.]])
    >>> a.crow_indices()
    tensor([0, 1, 3])
    """

    is_sparse, is_sparse_csr = False, True
    layout = sparse_csr

    def __repr__(self) -> str:
        """Where rows begin, columns and values."""
        return (
            f"tensor(crow_indices={self.crow_indices()!r},\n       col_indices={self.col_indices()!r},\n       "
            f"values={self._held!r}, size={tuple(self.shape)}, nnz={self._nnz()},\n       layout=torch.sparse_csr)"
        )

    def _of(self, values: Any) -> CompressedTensor:
        return CompressedTensor(self._places, values, tuple(self.shape), True)

    def crow_indices(self) -> Tensor:
        """Where each row begins among the elements, and where the last one ends, int64."""
        counts = np.bincount(self._places[0], minlength=self.shape[0])
        return as_torch(core.tensor(np.concatenate([[0], counts.cumsum()]).astype(np.int64)))

    def col_indices(self) -> Tensor:
        """The column of each element, int64."""
        return as_torch(core.tensor(self._places[1].copy()))

    def to_sparse(self) -> SparseTensor:
        """By positions."""
        return SparseTensor(self._places, self._held, tuple(self.shape), True)

    to_sparse_coo = to_sparse

    def __add__(self, other: Any) -> Any:
        found = SparseTensor.__add__(self, other)
        return compressed(found) if isinstance(other, CompressedTensor) else found

    add = __add__


def compressed(x: SparseTensor) -> CompressedTensor:
    """A sparse matrix by rows."""
    x._matrix("to_sparse_csr")
    x = x.coalesce()
    return CompressedTensor(x._places, x._held, tuple(x.shape), True)


def _integers(x: Any, name: str) -> Any:
    array = np.asarray(x.detach().numpy() if isinstance(x, Core) else x)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise RuntimeError(
            f"sparse_csr_tensor: {name} are integers along one axis, not {array.dtype} of shape {array.shape}{at_user()}"
        )
    return array.astype(np.int64)


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False, check_invariants: Any = None,
) -> CompressedTensor:  # fmt: skip
    """A matrix from where its rows begin, and columns and values of its elements, which stand in order in each row.

    Raises RuntimeError where these don't make a matrix of shape `size`, by default the smallest.
    """
    refuse("sparse_csr_tensor", "requires_grad", requires_grad, False)
    refuse("sparse_csr_tensor", "check_invariants", check_invariants, True, False)  # they are checked
    on_cpu(device)
    starts, columns = _integers(crow_indices, "crow_indices"), _integers(col_indices, "col_indices")
    kind = given_dtype(dtype)
    held = values if isinstance(values, Core) else as_torch(core.tensor(values))
    held = held if kind is None or held.dtype is kind else METHODS["to"](held, kind)
    if held.ndim != 1 or held.shape[0] != len(columns):
        raise RuntimeError(
            f"sparse_csr_tensor: {len(columns)} columns and values of shape {tuple(held.shape)} don't fit{at_user()}"
        )
    smallest = (len(starts) - 1, int(columns.max(initial=-1)) + 1)
    shape = smallest if size is None else tuple(int(n) for n in size)
    counts = np.diff(starts)
    fits = len(starts) and starts[0] == 0 and starts[-1] == len(columns) and (counts >= 0).all()
    if not fits or len(shape) != 2 or shape[0] != len(counts):
        raise RuntimeError(
            "sparse_csr_tensor: crow_indices, one more than there are rows, grow from 0 to the number of elements; got "
            f"{len(starts)} of them for size {shape} and {len(columns)} elements{at_user()}"
        )
    if (columns < 0).any() or (columns >= shape[1]).any():
        raise RuntimeError(f"sparse_csr_tensor: col_indices lie outside of size {shape}{at_user()}")
    places = np.stack([np.repeat(np.arange(shape[0]), counts), columns])
    linear = np.ravel_multi_index(tuple(places), shape) if len(columns) else columns
    if (np.diff(linear) <= 0).any():
        raise RuntimeError(f"sparse_csr_tensor: in each row col_indices grow, and none comes twice{at_user()}")
    return CompressedTensor(places, held, shape, True)


def to_sparse_csr(self: Any, dense_dim: Any = None) -> CompressedTensor:
    """A matrix by rows of its elements that aren't 0. Raises RuntimeError for what requires a gradient, as `to_sparse` does."""
    refuse("to_sparse_csr", "dense_dim", dense_dim)
    return compressed(to_sparse(self) if isinstance(self, Core) else self)


METHODS["to_sparse_csr"] = to_sparse_csr
SparseTensor.to_sparse_csr = to_sparse_csr  # type: ignore[attr-defined]
SparseTensor.layout = sparse_coo  # type: ignore[attr-defined]
FUNCTIONS["sparse_csr_tensor"] = sparse_csr_tensor
