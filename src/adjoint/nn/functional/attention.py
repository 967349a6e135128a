"""Dropout, embedding, one-hot vectors and attention under PyTorch's names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint import random
from adjoint.composites import attention
from adjoint.tensors import Tensor, functions
from adjoint.tensors.functions import asarray
from adjoint.tensors.located import at_user

from .recording import node_of, optional, recorded, scope, tensor_of

__all__ = ["check_probability", "dropout", "embedding", "one_hot", "scaled_dot_product_attention"]


def check_probability(name: str, p: float) -> None:
    """Raise ValueError unless p is between 0 and 1."""
    if not 0 <= p <= 1:
        raise ValueError(f"{name}: p is a probability, from 0 to 1, not {p!r}{at_user()}")


def dropout(x: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """In training, each element becomes 0 with probability p, or else x / (1 - p); otherwise x itself.

    Drawn from the default generator (`ad.random.seed`). Raises ValueError for p outside [0, 1]. (N. Srivastava et al.,
    "Dropout", 2014.)
    """
    check_probability("dropout", p)
    if not training or p == 0:
        return x
    if p == 1:
        return functions.where(False, x, 0.0)
    with scope("dropout"):
        keep = random.bernoulli(1 - p, x.shape)
        return tensor_of(attention.dropout(node_of(x), keep.node, p))


def embedding(indices: Any, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """Rows of a table: indices (...) into weight (rows, width), to (..., width).

    The row `padding_idx` gets no gradient from here. Raises TypeError for indices that aren't integers, IndexError for one
    that is out of range; negative ones are.
    """
    name = "embedding"
    numbers: Tensor = asarray(indices)
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"{name}: the indices must be integers, not {numbers.dtype}{at_user()}")
    if weight.ndim != 2:
        raise ValueError(f"{name}: the weight has shape (rows, width); its shape is {weight.shape}{at_user()}")
    check_range(name, "index", numbers, weight.shape[0], "rows")
    if padding_idx is not None:
        if not -weight.shape[0] <= padding_idx < weight.shape[0]:
            raise ValueError(f"{name}: padding_idx {padding_idx} is no row of {weight.shape[0]}{at_user()}")
        padding_idx %= weight.shape[0]
    return recorded(name, attention.embedding, node_of(weight), numbers.node, padding_idx)


def check_range(name: str, what: str, numbers: Tensor, count: int, of: str) -> None:
    """Raise IndexError for numbers out of range, if they are known yet; else indexing will, when evaluated."""
    known = numbers.node.value
    if type(known) is not np.ndarray or not known.size:
        return
    low, high = int(known.min()), int(known.max())
    if low < 0 or high >= count:
        wrong = low if low < 0 else high
        where = tuple(int(i) for i in np.argwhere(known == wrong)[0])
        raise IndexError(f"{name}: {what} {wrong} at {list(where)} is out of range for {count} {of}{at_user()}")


def one_hot(x: Any, num_classes: int = -1) -> Tensor:
    """1 at each class number and 0 elsewhere: (...) to (..., num_classes), int64.

    With -1 there are as many classes as the largest number needs, which must be known then. Raises TypeError for what
    isn't integers, IndexError for a number out of range; one that is known only later, in `ad.jit`, gives zeros.
    """
    numbers: Tensor = asarray(x)
    if numbers.dtype.kind not in "iu":
        raise TypeError(f"one_hot: class numbers must be integers, not {numbers.dtype}{at_user()}")
    if num_classes == -1:
        num_classes = int(numbers.numpy().max(initial=-1)) + 1
    check_range("one_hot", "class number", numbers, num_classes, "classes")
    return functions.one_hot(numbers, num_classes, dtype="int64")


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """`softmax(scale * query @ keyᵀ + mask) @ value`: (..., L, E), (..., S, E), (..., S, V) to (..., L, V).

    The leading axes broadcast. `scale` is 1/√E unless given. A bool `attn_mask`, broadcast to (..., L, S), says which
    keys a query sees, a floating one is added to the scores; with `is_causal`, query i sees keys up to i. Where a
    query sees none, the result is 0. Weights are dropped with probability `dropout_p`, always. Raises ValueError when
    shapes don't fit. (A. Vaswani et al., "Attention is all you need", 2017.)
    """
    name = "scaled_dot_product_attention"
    q, k, v = node_of(query), node_of(key), node_of(value)
    if min(q.ndim, k.ndim, v.ndim) < 2 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(
            f"{name}: expected shapes (..., L, E), (..., S, E) and (..., S, V); "
            f"got {q.shape}, {k.shape} and {v.shape}{at_user()}"
        )
    mask = optional(attn_mask)
    with scope(name, q, k, v):
        factor = 1 / math.sqrt(max(q.shape[-1], 1)) if scale is None else scale
        weights = attention.attention_weights(q, k, mask, is_causal, factor)
        if dropout_p:
            weights = dropout(tensor_of(weights), dropout_p).node
        return tensor_of(attention.product(weights, v))
