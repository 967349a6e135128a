"""Rows of tables by number, one by one and added up in bags."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.composites import attention
from adjoint.tensors import Tensor, functions
from adjoint.tensors.functions import asarray, where
from adjoint.tensors.located import at_user
from adjoint.tensors.named import variable_of
from adjoint.transforms.modes import no_grad

from .ranges import check_range
from .recording import node_of, recorded, scope

__all__ = ["embedding", "embedding_bag"]


def embedding(
    indices: Any,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of a table: indices (...) into weight (rows, width), to (..., width).

    The row `padding_idx` gets no gradient from here. With `max_norm`, rows that are named here and whose norm (of order
    `norm_type`) is larger are first scaled down to it, in the table itself. `scale_grad_by_freq` divides a row's gradient by
    how often it is named. `sparse`: `backward()` keeps the gradient of the weight, a variable, as rows until somebody reads it,
    and SGD without momentum, Adagrad, Adam and its relatives update no other rows: see `optim.Optimizer`. Raises TypeError for
    indices that aren't integers, IndexError for one that is out of range; negative ones are.
    """
    name = "embedding"
    numbers = _numbers(name, indices, weight)
    if padding_idx is not None:
        if not -weight.shape[0] <= padding_idx < weight.shape[0]:
            raise ValueError(f"{name}: padding_idx {padding_idx} is no row of {weight.shape[0]}{at_user()}")
        padding_idx %= weight.shape[0]
    if max_norm is not None:
        _limit(weight, numbers, max_norm, norm_type)
    if sparse:
        variable = variable_of(weight.node)
        if variable is not None:
            variable.sparse = True
    rows = recorded(name, attention.embedding, node_of(weight), numbers.node, padding_idx)
    return _by_frequency(rows, numbers, weight.shape[0]) if scale_grad_by_freq else rows


def _numbers(name: str, indices: Any, weight: Tensor) -> Tensor:
    numbers: Tensor = asarray(indices)
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"{name}: the indices must be integers, not {numbers.dtype}{at_user()}")
    if weight.ndim != 2:
        raise ValueError(f"{name}: the weight has shape (rows, width); its shape is {weight.shape}{at_user()}")
    check_range(name, "index", numbers, weight.shape[0], "rows")
    return numbers


def _counts(numbers: Tensor, rows: int) -> Tensor:
    """How often each row is named, int64."""
    flat = numbers.reshape(-1)
    return functions.scatter_add(functions.zeros(rows, dtype="int64"), flat, functions.ones_like(flat, dtype="int64"))


@no_grad()
def _limit(weight: Tensor, numbers: Tensor, most: float, order: float) -> None:
    """Scale down the rows that are named and whose norm is above `most`."""
    size = functions.norm(weight, order, axis=1, keepdims=True)
    too_long = (_counts(numbers, weight.shape[0]) > 0)[:, None] & (size > most)
    weight.data = where(too_long, weight * (most / (size + 1e-7)), weight)


def _by_frequency(rows: Tensor, numbers: Tensor, count: int) -> Tensor:
    """The same rows, whose gradient is divided by how often each is named."""
    with scope("embedding"):
        often = functions.take(_counts(numbers, count), numbers, axis=0)[..., None]
        constant = rows.detach()
        return constant + (rows - constant) / often.astype(rows.dtype)


def embedding_bag(
    indices: Any,
    weight: Tensor,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Rows of a table put together in bags: their sum, mean or largest numbers (`mode`), (bags, width).

    Indices (bags, n) are bags of one size; indices (n,) take `offsets` (bags,), where each bag starts (with
    `include_last_offset` the end as well). `per_sample_weights`, of the indices' shape, multiply rows (mode `"sum"` only). The
    row `padding_idx` counts nothing. A bag with nothing in it gives zeros. The rest is as for `embedding`. Raises ValueError when
    shapes don't fit, TypeError for indices that aren't integers, IndexError for one that is out of range.
    """
    name = "embedding_bag"
    numbers = _numbers(name, indices, weight)
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"{name}: mode is 'sum', 'mean' or 'max', not {mode!r}{at_user()}")
    if per_sample_weights is not None and (mode != "sum" or per_sample_weights.shape != numbers.shape):
        raise ValueError(f"{name}: per_sample_weights go with mode='sum' and have the indices' shape{at_user()}")
    used = functions.ones_like(numbers, dtype="bool")
    if numbers.ndim == 1:
        if offsets is None:
            raise ValueError(f"{name}: indices {numbers.shape} need offsets, where each bag starts{at_user()}")
        table, used = _bags(name, numbers.shape[0], offsets, include_last_offset)
        numbers = functions.take(numbers, table, axis=0)
        if per_sample_weights is not None:
            per_sample_weights = functions.take(per_sample_weights, table, axis=0)
    elif numbers.ndim != 2 or offsets is not None:
        raise ValueError(f"{name}: indices are (bags, n), or (n,) with offsets; got {numbers.shape}{at_user()}")
    if padding_idx is not None:
        used = used & (numbers != padding_idx % weight.shape[0])
    rows = embedding(numbers, weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
    return _put_together(rows, used[..., None], mode, per_sample_weights)


def _put_together(rows: Tensor, used: Tensor, mode: str, shares: Tensor | None) -> Tensor:
    """Rows (bags, n, width), those that are used (bags, n, 1), as one for each bag."""
    with scope("embedding_bag"):
        if shares is not None:
            rows = rows * shares[..., None]
        if not rows.shape[1]:
            return functions.zeros((rows.shape[0], rows.shape[2]), dtype=rows.dtype)
        if mode == "max":
            # the first of equals, as a maximum over a window
            lowest = where(used, rows, -np.inf)
            place = functions.argmax(lowest, 1, keepdims=True)
            largest = functions.take_along_axis(rows, place, axis=1)[:, 0]
            return where(functions.any(used, axis=1), largest, 0.0)
        total = functions.sum(where(used, rows, 0.0), axis=1)
        if mode == "sum":
            return total
        return total / functions.maximum(functions.sum(used, axis=1), 1).astype(rows.dtype)


def _bags(name: str, count: int, offsets: Any, include_last: bool) -> tuple[Tensor, Tensor]:
    """Which indices each bag has, in rows of the largest bag's length, and which of them are real."""
    starts = asarray(offsets).numpy()
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or (len(starts) and starts[0] != 0):
        raise ValueError(f"{name}: offsets are integers (bags,), the first of them 0{at_user()}")
    edges = starts if include_last else np.append(starts, count)
    sizes = np.diff(edges)
    if (sizes < 0).any() or edges[-1] > count:
        raise ValueError(f"{name}: offsets must not fall, nor lie beyond the {count} indices{at_user()}")
    cells = np.arange(sizes.max(initial=0))
    used = cells < sizes[:, None]
    return asarray(np.where(used, edges[:-1, None] + cells, 0)), asarray(used)
