"""Values written, added or combined at integer positions, and by segments."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import adjoint.batch.running as _batching  # noqa: F401 - fills in the batching rules
from adjoint.composites.indexing import getitem
from adjoint.composites.recipes import remembered_as_given
from adjoint.dtypes import int64
from adjoint.graph import Node, array_type
from adjoint.primitives.core import cast, inexact, ops
from adjoint.shapes import normalize_axis, size_of
from adjoint.tensors.composing import Operand, composite
from adjoint.tensors.conversion import as_node
from adjoint.tensors.located import at_user
from adjoint.tensors.named import Named
from adjoint.tensors.pending import force_selection
from adjoint.tensors.tensor import Tensor

__all__ = [
    "index_add", "put_along_axis", "scatter", "scatter_reduce", "segment_max", "segment_mean", "segment_min", "segment_prod",
    "segment_sum",
]  # fmt: skip

REDUCTIONS = ("sum", "prod", "max", "min", "mean")


def _combined(flat: Node, places: Node, n: int, reduce: str) -> Node:
    """For each of n positions the elements of flat (k, ...) that go there, combined; its neutral element where none does."""
    shape = (n, *flat.shape[1:])
    if reduce == "sum":
        return ops.scatter_add(flat, [places], shape)
    if reduce in ("max", "min"):
        return ops.scatter_extreme(flat, [places], shape, reduce == "max")
    return _product(flat, places, shape)


def _product(flat: Node, places: Node, shape: tuple[int, ...]) -> Node:
    """Products by position: sorted by position, a running product that starts anew where the position changes; the last of each
    run is the whole product. Right in every order, however many zeros there are."""
    ones = ops.full(_typed(1, flat), array_type(shape, flat.dtype))
    k = flat.shape[0]
    if not k:
        return ones
    order = ops.argsort(places, 0, descending=False)
    values, sorted_places = ops.gather(flat, [order]), ops.gather(places, [order])
    tail = ops.slice_(sorted_places, ((1, k - 1, 1),))
    head = ops.slice_(sorted_places, ((0, k - 1, 1),))
    goes_on = ops.concat([ops.data(np.zeros(1, np.bool_)), ops.equal(tail, head)], 0)
    wide = ops.broadcast_to(ops.reshape(goes_on, (k, *(1,) * (flat.ndim - 1))), flat.shape)
    zero = ops.zeros(values.type)
    running = ops.linear_recurrence(ops.where(wide, values, zero), ops.where(wide, zero, values), 0)
    return ops.scatter(ones, running, [sorted_places])


def _typed(value: int, x: Node) -> Any:
    kind = x.dtype.kind
    return float(value) if kind == "f" else complex(value) if kind == "c" else bool(value) if kind == "b" else value


def _both(x: Node, y: Node, reduce: str) -> Node:
    return {"sum": ops.add, "prod": ops.multiply, "max": ops.maximum, "min": ops.minimum}[reduce](x, y)


@remembered_as_given
def _reduced(x: Node, indices: Node, updates: Node, axis: int, reduce: str, include_self: bool = True) -> Node:
    axis = normalize_axis(axis, x.ndim, "scatter_reduce")
    if reduce not in REDUCTIONS:
        raise ValueError(f"scatter_reduce: reduce is one of {', '.join(REDUCTIONS)}, not {reduce!r}{at_user()}")
    x = inexact(x) if reduce == "mean" else x
    expected = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    updates = cast(ops.broadcast_to(updates, expected), x.dtype)
    k, n = indices.ndim, x.shape[axis]
    front = (*range(axis, axis + k), *range(axis), *range(axis + k, updates.ndim))
    rest = (*x.shape[:axis], *x.shape[axis + 1 :])
    flat = ops.reshape(ops.permute_dims(updates, front), (size_of(indices.shape), *rest))
    places = ops.reshape(cast(indices, int64), (size_of(indices.shape),))
    places = ops.where(ops.less(places, 0), ops.add(places, n), places)
    own = ops.permute_dims(x, (axis, *[i for i in range(x.ndim) if i != axis]))
    kind = "sum" if reduce == "mean" else reduce
    found = _combined(flat, places, n, kind)
    counted = ops.scatter_add(ops.full(1, array_type((places.shape[0],), int64)), [places], (n,))
    wide = ops.broadcast_to(ops.reshape(counted, (n, *(1,) * len(rest))), own.shape)
    written = ops.greater(wide, 0)
    together = _both(own, found, kind) if include_self else found
    if reduce == "mean":
        together = ops.divide(together, cast(ops.add(wide, 1 if include_self else 0), together.dtype))
    result = ops.where(written, together, own)
    return ops.permute_dims(result, (*range(1, axis + 1), 0, *range(axis + 1, x.ndim)))


def scatter_reduce(
    x: Operand, indices: Operand, updates: Operand, /, axis: int = 0, *, reduce: str = "sum", include_self: bool = True
) -> Tensor:
    """x with the updates combined into it at integer positions along an axis: "sum", "prod", "max", "min" or "mean".

    updates: x's shape with the axis replaced by the shape of the indices, or what broadcasts to it. Without `include_self` x's
    own elements don't count where an update goes. Of extremes, equal updates share the derivative evenly.

    >>> import adjoint as ad
    >>> ad.scatter_reduce(ad.zeros(2), ad.tensor([0, 0, 1]), ad.tensor([3.0, 5.0, -1.0]), reduce="max")
    Tensor([5., 0.])
    """
    x_, i = as_node(x), as_node(indices)
    return composite("scatter_reduce", _reduced, x_, i, as_node(updates, x_.dtype), axis, reduce, include_self)


@remembered_as_given
def _scattered(x: Node, indices: Node, updates: Node, axis: int) -> Node:
    axis = normalize_axis(axis, x.ndim, "scatter")
    expected = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    updates = cast(ops.broadcast_to(updates, expected), x.dtype)
    k = indices.ndim
    front = (*range(axis, axis + k), *range(axis), *range(axis + k, updates.ndim))
    own = ops.permute_dims(x, (axis, *[i for i in range(x.ndim) if i != axis]))
    written = ops.scatter(own, ops.permute_dims(updates, front), [cast(indices, int64)])
    return ops.permute_dims(written, (*range(1, axis + 1), 0, *range(axis + 1, x.ndim)))


def scatter(x: Operand, indices: Operand, updates: Operand, /, axis: int = 0) -> Tensor:
    """x with its slices at integer positions along an axis replaced by the updates; of repeated positions the last wins.

    updates: x's shape with the axis replaced by the shape of the indices, or what broadcasts to it.

    >>> import adjoint as ad
    >>> ad.scatter(ad.zeros(3), ad.tensor([2, 0]), ad.tensor([1.0, 5.0]))
    Tensor([5., 0., 1.])
    """
    node = as_node(x)
    return composite("scatter", _scattered, node, as_node(indices), as_node(updates, node.dtype), axis)


def put_along_axis(x: Operand, indices: Operand, values: Operand, /, axis: int = -1) -> Tensor:
    """x with the elements that `take_along_axis` would take replaced by values; of repeated positions the last wins.

    >>> import adjoint as ad
    >>> ad.put_along_axis(ad.zeros((2, 2)), ad.tensor([[1], [0]]), 5.0)
    Tensor([[0., 5.],
            [5., 0.]])
    """
    node, i = as_node(x), as_node(indices)
    new = as_node(values, node.dtype)

    def put() -> Node:
        place = normalize_axis(axis, node.ndim, "put_along_axis")
        if i.ndim != node.ndim:
            raise ValueError(f"indices have shape {i.shape}, the array {node.shape}; ranks must be equal")
        shape = tuple([i.shape[a] if a == place else n for a, n in enumerate(node.shape)])
        grid = [
            ops.data(np.broadcast_to(np.arange(n).reshape([-1 if b == a else 1 for b in range(node.ndim)]), shape))
            if a != place
            else ops.broadcast_to(cast(i, int64), shape)
            for a, n in enumerate(node.shape)
        ]
        return ops.scatter(node, cast(ops.broadcast_to(new, shape), node.dtype), grid)

    return composite("put_along_axis", put)


def index_add(x: Operand, index: Any, updates: Operand, /, *, reduce: str = "sum") -> Tensor:
    """x with the updates added at any index expression of NumPy's, repeated positions adding up: a new value, as `np.add.at`
    makes it in place. reduce: "sum", "prod", "max", "min" combine otherwise.

    >>> import adjoint as ad
    >>> ad.index_add(ad.zeros((2, 2)), (ad.tensor([0, 0]), 1), 2.0)
    Tensor([[0., 4.],
            [0., 0.]])
    """
    node = as_node(x)
    items = index if isinstance(index, tuple) else (index,)
    bare = tuple([i.node if isinstance(i, Named) else i for i in items])
    new = as_node(updates, node.dtype)

    def added() -> Node:
        n = node.type.size
        places = getitem(ops.reshape(ops.iota(n), node.shape), bare, force_selection)
        spread = ops.broadcast_to(cast(new, node.dtype), places.shape)
        k = places.type.size
        found = _reduced(ops.reshape(node, (n,)), ops.reshape(places, (k,)), ops.reshape(spread, (k,)), 0, reduce)
        return ops.reshape(found, node.shape)

    return composite("index_add", added)


# Segments -------------------------------------------------------------------------------------------------------------


def _segments(name: str, reduce: str, x: Any, ids: Any, count: int | None) -> Tensor:
    node, i = as_node(x), as_node(ids)
    if i.ndim != 1 or i.dtype.kind not in "iu" or not node.ndim or node.shape[0] != i.shape[0]:
        raise ValueError(
            f"{name}: segment ids are integers, one for each slice of an array of shape {node.shape}, not {i.type}{at_user()}"
        )
    if node.dtype.kind == "b" and reduce in ("sum", "prod"):
        node = cast(node, int64)  # how many hold, as `sum` has it
    if count is None:
        values = force_selection(i)
        count = int(values.max()) + 1 if values.size else 0
    n = operator.index(count)

    def found() -> Node:
        places = cast(i, int64)
        if reduce != "mean":
            return _combined(node, places, n, reduce)
        whole = inexact(node)
        total = _combined(whole, places, n, "sum")
        ones = ops.full(_typed(1, whole), array_type(i.shape, whole.dtype))
        number = ops.reshape(ops.scatter_add(ones, [places], (n,)), (n, *(1,) * (node.ndim - 1)))
        return ops.divide(total, number)

    return composite(name, found)


def segment_sum(x: Operand, segment_ids: Operand, /, num_segments: int | None = None) -> Tensor:
    """The sums of the slices of x (n, ...) that have the same id (n,): (segments, ...), 0 for an id that nothing has.

    How many segments there are is one more than the largest id, which is evaluated, unless said.

    >>> import adjoint as ad
    >>> ad.segment_sum(ad.tensor([1.0, 2.0, 4.0]), ad.tensor([0, 1, 0]))
    Tensor([5., 2.])
    """
    return _segments("segment_sum", "sum", x, segment_ids, num_segments)


def segment_mean(x: Operand, segment_ids: Operand, /, num_segments: int | None = None) -> Tensor:
    """The means of the slices that have the same id, NaN for an id that nothing has. See `segment_sum`.

    >>> import adjoint as ad
    >>> ad.segment_mean(ad.tensor([1.0, 2.0, 4.0]), ad.tensor([0, 1, 0]))
    Tensor([2.5, 2. ])
    """
    return _segments("segment_mean", "mean", x, segment_ids, num_segments)


def segment_prod(x: Operand, segment_ids: Operand, /, num_segments: int | None = None) -> Tensor:
    """The products of the slices that have the same id, 1 for an id that nothing has. See `segment_sum`.

    >>> import adjoint as ad
    >>> ad.segment_prod(ad.tensor([1.0, 2.0, 4.0]), ad.tensor([0, 1, 0]))
    Tensor([4., 2.])
    """
    return _segments("segment_prod", "prod", x, segment_ids, num_segments)


def segment_max(x: Operand, segment_ids: Operand, /, num_segments: int | None = None) -> Tensor:
    """The largest of the slices that have the same id, the least number there is for an id that nothing has.

    >>> import adjoint as ad
    >>> ad.segment_max(ad.tensor([1.0, 2.0, 4.0]), ad.tensor([0, 1, 0]))
    Tensor([4., 2.])
    """
    return _segments("segment_max", "max", x, segment_ids, num_segments)


def segment_min(x: Operand, segment_ids: Operand, /, num_segments: int | None = None) -> Tensor:
    """The smallest of the slices that have the same id, the greatest number there is for an id that nothing has.

    >>> import adjoint as ad
    >>> ad.segment_min(ad.tensor([1.0, 2.0, 4.0]), ad.tensor([0, 1, 0]))
    Tensor([1., 2.])
    """
    return _segments("segment_min", "min", x, segment_ids, num_segments)
