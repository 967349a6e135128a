"""Rows of tables by number, one by one and added up in bags."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.arrays.scattering import segment_max, segment_min, segment_sum
from adjoint.arrays.sets import searchsorted
from adjoint.composites import attention
from adjoint.execution import ValueNeededError
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
    row `padding_idx` counts nothing. A bag with nothing in it gives zeros. Compiled functions may be given the
    offsets: those that fall, or lie beyond the indices, are an IndexError there. The rest is as for `embedding`. Raises
    ValueError when shapes don't fit, TypeError for indices that aren't integers, IndexError for one that is out of range.
    """
    name = "embedding_bag"
    numbers = _numbers(name, indices, weight)
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"{name}: mode is 'sum', 'mean' or 'max', not {mode!r}{at_user()}")
    if per_sample_weights is not None and (mode != "sum" or per_sample_weights.shape != numbers.shape):
        raise ValueError(f"{name}: per_sample_weights go with mode='sum' and have the indices' shape{at_user()}")
    if numbers.ndim == 1 and offsets is None:
        raise ValueError(f"{name}: indices {numbers.shape} need offsets, where each bag starts{at_user()}")
    if numbers.ndim not in (1, 2) or (numbers.ndim == 2 and offsets is not None):
        raise ValueError(f"{name}: indices are (bags, n), or (n,) with offsets; got {numbers.shape}{at_user()}")
    used = functions.ones_like(numbers, dtype="bool")
    if padding_idx is not None:
        used = numbers != padding_idx % weight.shape[0]
    rows = embedding(numbers, weight, None, max_norm, norm_type, scale_grad_by_freq, sparse)
    with scope(name):
        if per_sample_weights is not None:
            rows = rows * per_sample_weights[..., None]
        if numbers.ndim == 2:
            return _put_together(rows, used[..., None], mode)
        starts, known = _starts(name, numbers.shape[0], offsets, include_last_offset)
        if known is not None and mode == "max":  # which segments take five times as long for
            table, there = _table(known, numbers.shape[0], include_last_offset)
            used = functions.take(used, table, axis=0) & there
            return _put_together(functions.take(rows, table, axis=0), used[..., None], mode)
        return _by_segment(rows, used, starts, include_last_offset, mode, known is not None)


def _put_together(rows: Tensor, used: Tensor, mode: str) -> Tensor:
    """Rows (bags, n, width), those that are used (bags, n, 1), as one for each bag."""
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


def _by_segment(rows: Tensor, used: Tensor, starts: Tensor, include_last: bool, mode: str, checked: bool) -> Tensor:
    """Rows (n, width), those that are used (n,), as one for each bag. `checked`: the starts are known to be right."""
    count, bags = rows.shape[0], starts.shape[0] - include_last
    if not bags or not count:
        return functions.zeros((bags, rows.shape[1]), dtype=rows.dtype)
    places = functions.arange(count)
    bag = searchsorted(starts[:bags], places, side="right") - 1
    if include_last:
        used = used & (places < starts[-1])
    if not checked:  # a bag that isn't there is an error where the sums are computed
        fall = functions.any(starts[1:] < starts[:-1])
        bag = where((starts[0] != 0) | fall | (starts[-1] > count), bags, bag)
    if mode == "max":
        shown = where(used[:, None], rows.detach(), -np.inf)
        largest = functions.take(segment_max(shown, bag, bags), bag, axis=0)
        first = segment_min(
            where((shown == largest) | functions.isnan(shown), places[:, None], count - 1), bag, bags
        )  # of equals
        first = functions.minimum(first, count - 1)
        found = functions.take_along_axis(rows, first, axis=0)
        return where(segment_sum(used, bag, bags)[:, None] > 0, found, 0.0)
    total = segment_sum(where(used[:, None], rows, 0.0), bag, bags)
    if mode == "sum":
        return total
    return total / functions.maximum(segment_sum(used, bag, bags), 1)[:, None].astype(rows.dtype)


def _starts(name: str, count: int, offsets: Any, include_last: bool) -> tuple[Tensor, np.ndarray[Any, Any] | None]:
    """Where bags start, and the numbers, checked, where they are known."""
    starts = asarray(offsets)
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or (include_last and not starts.size):
        raise ValueError(f"{name}: offsets are integers (bags,), the first of them 0{at_user()}")
    try:
        known = starts.numpy()
    except ValueNeededError:
        return starts, None
    if known.size and known[0] != 0:
        raise ValueError(f"{name}: offsets are integers (bags,), the first of them 0{at_user()}")
    if (known[1:] < known[:-1]).any() or known.max(initial=0) > count:
        raise ValueError(f"{name}: offsets must not fall, nor lie beyond the {count} indices{at_user()}")
    return starts, known


def _table(starts: np.ndarray[Any, Any], count: int, include_last: bool) -> tuple[Tensor, Tensor]:
    """Which indices each bag has, in rows of the largest bag's length, and which of them are real."""
    edges = starts if include_last else np.append(starts, count)
    sizes = np.diff(edges)
    cells = np.arange(sizes.max(initial=0))
    there = cells < sizes[:, None]
    return asarray(np.where(there, edges[:-1, None] + cells, 0)), asarray(there)
