"""torch.sparse: matrices by the positions and values of their elements, as far as products with dense ones need them.

A product gathers the rows of the dense matrix and adds them up by the sparse one's rows, so derivatives reach both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.dtypes import DTYPES
from adjoint.graph import get_mode
from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user

from ._creation import given_dtype, on_cpu
from ._missing import getter
from ._names import FUNCTIONS, METHODS, refuse
from ._operators import one_dtype
from ._tensor import Core, Size, Tensor, as_torch

__all__ = ["FloatTensor", "SparseTensor", "mm", "sparse_coo_tensor", "sum"]


class SparseTensor:
    """Elements at positions, all others are 0: `sparse_coo_tensor` and `x.to_sparse()` make it. Values at one position add up.

    It multiplies dense matrices and, element by element, dense tensors of its shape; it scales, adds and converts itself; what
    else is asked of it raises AttributeError.

    >>> import adjoint.torch as torch
    >>> a = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 0]], [3.0, 4.0, 5.0], (2, 3))
    >>> a.to_dense()
    tensor([[0., 0., 3.],
            [9., 0., 0.]])
    >>> a @ torch.ones(3, 1)
    tensor([[3.],
            [9.]])
    """

    __array_priority__ = 1e9
    __hash__ = object.__hash__
    is_sparse, is_sparse_csr = True, False

    def __init__(self, places: Any, values: Any, shape: tuple[int, ...], coalesced: bool) -> None:
        self._places = places  # (axes, elements) in int64, as an array
        self._held = values
        self.shape = Size(shape)
        self._coalesced = coalesced
        self.device = on_cpu(None)

    dtype = property(lambda self: self._held.dtype)
    requires_grad = property(lambda self: self._held.requires_grad)
    ndim = property(lambda self: len(self.shape))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"a sparse tensor has no {name!r} here; use x.to_dense(){at_user()}")

    def __repr__(self) -> str:
        """Positions and values."""
        return (
            f"tensor(indices={_tensor(self._places)!r},\n       values={self._held!r},\n       size={tuple(self.shape)}, "
            f"nnz={self._nnz()}, layout=torch.sparse_coo)"
        )

    def _of(self, values: Any) -> SparseTensor:
        return SparseTensor(self._places, values, tuple(self.shape), self._coalesced)

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the length of an axis."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    def _nnz(self) -> int:
        return int(self._places.shape[1])

    def _indices(self) -> Tensor:
        return _tensor(self._places)

    def _values(self) -> Any:
        return self._held

    def is_coalesced(self) -> bool:
        """Whether positions are in order, each at most once."""
        return self._coalesced

    def indices(self) -> Tensor:
        """The positions (axes, elements), int64. Raises RuntimeError before `coalesce()`."""
        return self._in_order("indices")._indices()

    def values(self) -> Any:
        """The elements (elements,). Raises RuntimeError before `coalesce()`."""
        return self._in_order("values")._held

    def _in_order(self, name: str) -> SparseTensor:
        if not self._coalesced:
            raise RuntimeError(f"{name}: call .coalesce() first, which adds up values at one position{at_user()}")
        return self

    def coalesce(self) -> SparseTensor:
        """The same with positions in order, and the values at one position added up."""
        if self._coalesced:
            return self
        found, of = np.unique(self._linear(), return_inverse=True)
        places = np.stack(np.unravel_index(found, self.shape)) if self.shape else np.zeros((0, len(found)))
        added = _added(self._held, of, len(found))
        return SparseTensor(places.astype(np.int64), added, tuple(self.shape), True)

    def _linear(self) -> Any:
        return np.ravel_multi_index(tuple(self._places), self.shape)

    def to_dense(self, dtype: Any = None, *, masked_grad: Any = None) -> Any:
        """All elements."""
        refuse("to_dense", "masked_grad", masked_grad, True)
        values = self._held if dtype is None else METHODS["to"](self._held, dtype)
        if self._nnz() == 0:
            return FUNCTIONS["zeros"](tuple(self.shape), dtype=values.dtype)
        return FUNCTIONS["reshape"](_added(values, self._linear(), math.prod(self.shape)), tuple(self.shape))

    def to_sparse(self) -> SparseTensor:
        """Itself."""
        return self

    def t(self) -> SparseTensor:
        """The transpose of a matrix."""
        self._matrix("t")
        return SparseTensor(self._places[::-1].copy(), self._held, (self.shape[1], self.shape[0]), False)

    T = property(t)

    def _matrix(self, name: str) -> None:
        if len(self.shape) != 2:
            raise RuntimeError(f"{name}: expected a matrix, got shape {tuple(self.shape)}{at_user()}")

    def mm(self, mat2: Any) -> Any:
        """The product with a dense matrix (n, k), or, as `@` and `matmul`, with a vector (n,): dense.

        Raises RuntimeError where shapes or dtypes don't fit.
        """
        self._matrix("mm")
        if isinstance(mat2, SparseTensor):
            raise RuntimeError(f"mm: the product of two sparse matrices isn't here; use .to_dense() of one{at_user()}")
        if not isinstance(mat2, Core):
            raise TypeError(f"mm: expected a tensor, got {type(mat2).__name__}{at_user()}")
        if mat2.ndim not in (1, 2) or mat2.shape[0] != self.shape[1]:
            raise RuntimeError(f"mm: shapes {tuple(self.shape)} and {tuple(mat2.shape)} don't fit{at_user()}")
        one_dtype("mm", self._held, mat2)
        rows, columns = self._places
        weights = self._held if mat2.ndim == 1 else core.expand_dims(self._held, axis=1)
        return _added(core.take(mat2, core.tensor(columns), axis=0) * weights, rows, self.shape[0])

    matmul = __matmul__ = mv = mm

    def __rmatmul__(self, other: Any) -> Any:
        return (self.t() @ other.mT).mT if other.ndim == 2 else self.t() @ other

    def sum(self) -> Any:
        """The sum of all elements."""
        return FUNCTIONS["sum"](self._held)

    def __mul__(self, other: Any) -> SparseTensor:
        if isinstance(other, SparseTensor):
            return NotImplemented
        if isinstance(other, Core) and other.ndim:  # what is 0 here stays 0
            if tuple(other.shape) != tuple(self.shape):
                raise RuntimeError(f"mul: shapes {tuple(self.shape)} and {tuple(other.shape)} differ{at_user()}")
            return self._of(self._held * other[tuple([_tensor(places) for places in self._places])])
        return self._of(self._held * other)

    __rmul__ = mul = __mul__

    def __truediv__(self, other: Any) -> SparseTensor:
        if isinstance(other, SparseTensor) or (isinstance(other, Core) and other.ndim):
            return NotImplemented
        return self._of(self._held / other)

    div = __truediv__

    def __neg__(self) -> SparseTensor:
        return self._of(-self._held)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, SparseTensor):
            return NotImplemented
        if tuple(other.shape) != tuple(self.shape):
            raise RuntimeError(f"add: shapes {tuple(self.shape)} and {tuple(other.shape)} differ{at_user()}")
        values = FUNCTIONS["cat"]([self._held, other._held])
        places = np.concatenate([self._places, other._places], axis=1)
        return SparseTensor(places, values, tuple(self.shape), False).coalesce()

    add = __add__

    def __radd__(self, other: Any) -> Any:
        """A dense tensor and this one: dense."""
        if not isinstance(other, Core) or not other.ndim:
            return NotImplemented
        if tuple(other.shape) != tuple(self.shape):
            raise RuntimeError(f"add: shapes {tuple(other.shape)} and {tuple(self.shape)} differ{at_user()}")
        return other + self.to_dense()

    def to(self, *args: Any, **keywords: Any) -> SparseTensor:
        """With values of another dtype."""
        return self._of(METHODS["to"](self._held, *args, **keywords))

    def float(self) -> SparseTensor:
        """With values in float32."""
        return self.to(DTYPES["float32"])

    def double(self) -> SparseTensor:
        """With values in float64."""
        return self.to(DTYPES["float64"])

    def cpu(self) -> SparseTensor:
        """Itself."""
        return self

    def detach(self) -> SparseTensor:
        """Without derivative."""
        return self._of(self._held.detach())

    def clone(self) -> SparseTensor:
        """With values of its own."""
        return self._of(self._held.clone())


def _tensor(array: Any) -> Any:
    return as_torch(core.tensor(array))


def _added(values: Any, at: Any, count: int) -> Any:
    """The sums of slices (n, ...) by their number (n,): (count, ...)."""
    zeros = core.zeros((count, *values.shape[1:]), dtype=values.dtype)
    return as_torch(FUNCTIONS["index_add"](as_torch(zeros), 0, _tensor(np.asarray(at, dtype=np.int64)), values))


def sparse_coo_tensor(
    indices: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False, check_invariants: Any = None, is_coalesced: Any = None,
) -> SparseTensor:  # fmt: skip
    """Elements `values` (n,) at positions `indices` (axes, n), of a tensor of shape `size`, by default the smallest.

    Raises RuntimeError for positions outside, and for values with axes of their own.
    """
    refuse("sparse_coo_tensor", "requires_grad", requires_grad, False)
    refuse("sparse_coo_tensor", "check_invariants", check_invariants, True, False)  # they are checked
    on_cpu(device)
    places = np.asarray(indices.detach().numpy() if isinstance(indices, Core) else indices, dtype=np.int64)
    kind = given_dtype(dtype)
    held = values if isinstance(values, Core) else as_torch(core.tensor(values))
    held = held if kind is None or held.dtype is kind else METHODS["to"](held, kind)
    if places.ndim != 2 or held.ndim != 1 or places.shape[1] != held.shape[0]:
        raise RuntimeError(
            f"sparse_coo_tensor: expected indices (axes, n) and values (n,), got {places.shape} and "
            f"{tuple(held.shape)}{at_user()}"
        )
    shape = tuple(int(n) + 1 for n in places.max(axis=1)) if size is None else tuple(int(n) for n in size)
    outside = len(shape) != len(places) or (places < 0).any() or (places >= np.array(shape)[:, None]).any()
    if outside:
        raise RuntimeError(f"sparse_coo_tensor: indices lie outside of size {shape}{at_user()}")
    return SparseTensor(places, held, shape, bool(is_coalesced))


def mm(mat1: Any, mat2: Any, reduce: Any = None) -> Any:
    """The product of a sparse and a dense matrix, dense; derivatives reach the values of one and the other."""
    refuse("sparse.mm", "reduce", reduce, "sum")
    return mat1 @ mat2


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of all elements of a sparse tensor."""
    refuse("sparse.sum", "dim", dim)
    return (input if dtype is None else input.to(dtype)).sum()


def FloatTensor(indices: Any, values: Any, size: Any = None) -> SparseTensor:
    """The old name of `sparse_coo_tensor` with values in float32."""
    return sparse_coo_tensor(indices, values, size, dtype="float32")


def to_sparse(
    self: Any, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None, dense_dim: Any = None
) -> SparseTensor:
    """The elements that aren't 0, with their positions, which are evaluated.

    Raises RuntimeError for what requires a gradient: derivatives by the elements that are 0 would be lost.
    """
    refuse("to_sparse", "sparse_dim", sparse_dim, self.ndim)
    for name, value in (("layout", layout), ("blocksize", blocksize), ("dense_dim", dense_dim)):
        refuse("to_sparse", name, value)
    if self.requires_grad and get_mode().grad:
        raise RuntimeError(
            "to_sparse: derivatives by elements that are 0 would be lost; use the dense tensor, or sparse_coo_tensor(indices, "
            f"values), or x.detach().to_sparse() where a constant is meant{at_user()}"
        )
    places = np.stack(np.nonzero(self.detach().numpy())) if self.ndim else np.zeros((0, 1), np.int64)
    linear = np.ravel_multi_index(tuple(places), tuple(self.shape)) if self.ndim else np.zeros(1, np.int64)
    values = core.take(core.reshape(self, (-1,)), core.tensor(linear.astype(np.int64)), axis=0)
    return SparseTensor(places.astype(np.int64), as_torch(values), tuple(self.shape), True)


METHODS["to_sparse"] = to_sparse
METHODS["to_sparse_coo"] = lambda self: to_sparse(self)
FUNCTIONS["sparse_coo_tensor"] = sparse_coo_tensor
__getattr__ = getter("torch.sparse", globals())
