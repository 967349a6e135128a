"""Sorted arrays and sets of elements. How many distinct elements there are is a value, so that evaluates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import adjoint.batch.searching as _batching  # noqa: F401 - fills in the batching rules
from adjoint.dtypes import int64
from adjoint.graph import Node
from adjoint.primitives import searching as _searching  # noqa: F401 - registers what `ops` has
from adjoint.primitives.core import cast, is_scalar, ops
from adjoint.tensors.composing import Operand, composite
from adjoint.tensors.conversion import as_node
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.pending import force_selection
from adjoint.tensors.tensor import Tensor

__all__ = [
    "UniqueAllResult", "UniqueCountsResult", "UniqueInverseResult", "isin", "searchsorted", "unique_all", "unique_counts",
    "unique_inverse", "unique_values",
]  # fmt: skip


class UniqueAllResult(NamedTuple):
    """What `unique_all` gives.

    >>> import adjoint as ad
    >>> ad.unique_all(ad.tensor([3, 1, 3])).indices
    Tensor([1, 0])
    """

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """What `unique_counts` gives.

    >>> import adjoint as ad
    >>> ad.unique_counts(ad.tensor([3, 1, 3])).counts
    Tensor([1, 2])
    """

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """What `unique_inverse` gives.

    >>> import adjoint as ad
    >>> ad.unique_inverse(ad.tensor([3, 1, 3])).inverse_indices
    Tensor([1, 0, 1])
    """

    values: Tensor
    inverse_indices: Tensor


def ordered_array(array: Any) -> Any:
    """An array that NumPy can sort: it has no order of bfloat16 with NaN among them."""
    return array.astype("float32") if array.dtype.name == "bfloat16" else array


def unique_all(x: Operand, /) -> UniqueAllResult:
    """The distinct elements of x in order, the index of the first of each in the flattened x, for each element of x the number
    of its value (in x's shape), and how often each value occurs.

    Each NaN is a value of its own. The values are elements of x: their derivative goes to those at `indices`.

    >>> import adjoint as ad
    >>> values, indices, inverse, counts = ad.unique_all(ad.tensor([2.0, 1.0, 2.0]))
    >>> values, counts
    (Tensor([1., 2.]), Tensor([1, 2]))
    """
    node = as_node(x)
    array = force_selection(node)
    _, first, inverse, counts = np.unique(
        ordered_array(array), return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    flat = ops.reshape(node, (node.type.size,))
    found = wrap(ops.take(flat, ops.data(first, int64), 0))
    numbers = [wrap(ops.data(n, int64)) for n in (first, inverse.reshape(array.shape), counts)]
    return UniqueAllResult(found, *numbers)


def unique_counts(x: Operand, /) -> UniqueCountsResult:
    """The distinct elements of x in order, and how often each occurs. See `unique_all`.

    >>> import adjoint as ad
    >>> ad.unique_counts(ad.tensor([2.0, 1.0, 2.0])).values
    Tensor([1., 2.])
    """
    values, _, _, counts = unique_all(x)
    return UniqueCountsResult(values, counts)


def unique_inverse(x: Operand, /) -> UniqueInverseResult:
    """The distinct elements of x in order, and for each element of x the number of its value. See `unique_all`.

    >>> import adjoint as ad
    >>> values, inverse = ad.unique_inverse(ad.tensor([2.0, 1.0, 2.0]))
    >>> values[inverse]
    Tensor([2., 1., 2.])
    """
    values, _, inverse, _ = unique_all(x)
    return UniqueInverseResult(values, inverse)


def unique_values(x: Operand, /) -> Tensor:
    """The distinct elements of x in order. See `unique_all`.

    >>> import adjoint as ad
    >>> ad.unique_values(ad.tensor([2.0, 1.0, 2.0]))
    Tensor([1., 2.])
    """
    return unique_all(x).values


def searchsorted(x1: Operand, x2: Operand, /, *, side: str = "left", sorter: Any = None) -> Tensor:
    """Where to insert each element of x2 into the sorted 1-d x1 so that it stays sorted, as int64 in x2's shape.

    side: "left", before equal elements, or "right", after them. sorter: integers that sort x1. There is no derivative.
    Raises ValueError for x1 of another rank or another side, TypeError for complex numbers.

    >>> import adjoint as ad
    >>> ad.searchsorted(ad.tensor([1.0, 2.0, 3.0]), ad.tensor([0.5, 2.0, 9.0]))
    Tensor([0, 1, 3])
    """
    rows = as_node(x1)
    values = as_node(x2, rows.dtype)
    if rows.ndim != 1:
        raise ValueError(f"searchsorted: x1 is a sorted array with one axis, got shape {rows.shape}{at_user()}")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is 'left' or 'right', got {side!r}{at_user()}")
    order = None if sorter is None else as_node(sorter)

    def search() -> Node:
        return ops.searchsorted(rows if order is None else ops.take(rows, order, 0), values, side)

    return composite("searchsorted", search)


def isin(x1: Operand, x2: Operand, /, *, invert: bool = False) -> Tensor:
    """Whether each element of x1 is in x2, as bool in x1's shape; with `invert`, whether it isn't. A NaN is in nothing.

    >>> import adjoint as ad
    >>> ad.isin(ad.tensor([1, 2, 3]), ad.tensor([2, 3]))
    Tensor([False,  True,  True])
    """
    pool = as_node(x2, as_node(x1).dtype if is_scalar(x2) else None)
    return composite("isin", _isin, as_node(x1, pool.dtype if is_scalar(x1) else None), pool, invert)


def _isin(x: Node, pool: Node, invert: bool) -> Node:
    n = pool.type.size
    flat = ops.reshape(pool, (n,))
    if x.dtype.kind == "c" or pool.dtype.kind == "c":  # which have no order: one comparison for each pair
        found = ops.any(ops.equal(ops.reshape(x, (*x.shape, 1)), flat), (x.ndim,))
    elif not n:
        found = ops.broadcast_to(ops.data(np.zeros((), np.bool_)), x.shape)
    else:
        ordered = ops.sort(flat, 0, descending=False)
        place = ops.minimum(ops.searchsorted(ordered, x, "left"), cast(ops.data(n - 1), int64))
        found = ops.equal(ops.take(ordered, place, 0), x)
    return ops.logical_not(found) if invert else found
