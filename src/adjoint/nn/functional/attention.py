"""One-hot vectors and attention under PyTorch's names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.composites import attention
from adjoint.graph import NARROW
from adjoint.primitives.core import ops
from adjoint.tensors import Tensor, functions
from adjoint.tensors.functions import asarray
from adjoint.tensors.located import at_user

from .ranges import check_range
from .recording import node_of, optional, recorded, scope, tensor_of
from .regularization import dropout

__all__ = ["one_hot", "rotary", "scaled_dot_product_attention"]


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
    enable_gqa: bool = False,
) -> Tensor:
    """`softmax(scale * query @ keyᵀ + mask) @ value`: (..., L, E), (..., S, E), (..., S, V) to (..., L, V).

    The leading axes broadcast. `scale` is 1/√E unless given. A bool `attn_mask`, broadcast to (..., L, S), says which
    keys a query sees, a floating one is added to the scores; with `is_causal`, query i sees keys up to i. Where a
    query sees none, the result is 0. Weights are dropped with probability `dropout_p`, always. With `enable_gqa`, queries
    (..., H, L, E) have more heads than keys and values, a multiple: each of these serves as many queries in a row (J. Ainslie et
    al., 2023). Raises ValueError when shapes don't fit, TypeError for a mask of integers. (A. Vaswani et al., "Attention is
    all you need", 2017.)
    """
    name = "scaled_dot_product_attention"
    q, k, v = node_of(query), node_of(key), node_of(value)
    a, b, c = q.type.shape, k.type.shape, v.type.shape
    if len(a) < 2 or len(b) < 2 or len(c) < 2 or a[-1] != b[-1] or b[-2] != c[-2]:
        raise ValueError(
            f"{name}: expected shapes (..., L, E), (..., S, E) and (..., S, V); "
            f"got {q.shape}, {k.shape} and {v.shape}{at_user()}"
        )
    mask = optional(attn_mask)
    if mask is not None and mask.dtype.kind in "iu":
        raise TypeError(
            f"{name}: a mask is bool, True where a key is seen, or floating, not {mask.dtype.name}{at_user()}"
        )
    factor = 1 / math.sqrt(max(a[-1], 1)) if scale is None else scale
    if not dropout_p and not enable_gqa and not NARROW:  # of 16 bits the weights are rounded, too
        return recorded(name, attention.attended, q, k, v, mask, is_causal, factor)
    with scope(name, q, k, v):
        shape = q.shape
        if enable_gqa:
            q, mask, is_causal = attention.grouped(q, k, v, mask, is_causal)
        weights = attention.attention_weights(q, k, mask, is_causal, factor)
        if dropout_p:
            weights = dropout(tensor_of(weights), dropout_p).node
        y = attention.product(weights, v)
        return tensor_of(ops.reshape(y, (*shape[:-1], v.shape[-1])) if enable_gqa else y)


def rotary(x: Tensor, positions: Any, base: float = 10000.0, interleaved: bool = False) -> Tensor:
    """Queries or keys x (..., L, E) turned by their positions (L,): what their products see is the difference of positions.

    Features i and i + E/2 (with `interleaved`, 2i and 2i + 1) are a point in the plane, turned by the angle
    `position * base**(-2i/E)`. (J. Su et al., "RoFormer", 2021.) Positions are ints or a tensor (L,), or broadcast to (..., L).
    Raises ValueError when E is odd.
    """
    if x.ndim < 2 or x.shape[-1] % 2:
        raise ValueError(f"rotary: expected (..., L, E) with an even E, got {x.shape}{at_user()}")
    with scope("rotary"):
        half = x.shape[-1] // 2
        rates = asarray(base ** (-np.arange(half) / half), dtype="float64")
        angles = (asarray(positions).astype("float64")[..., None] * rates).astype(x.dtype)
        cosine, sine = functions.cos(angles), functions.sin(angles)
        if interleaved:
            first, second = x[..., ::2], x[..., 1::2]
        else:
            first, second = x[..., :half], x[..., half:]
        turned = [first * cosine - second * sine, second * cosine + first * sine]
        if not interleaved:
            return functions.concat(turned, axis=-1)
        return functions.stack(turned, axis=-1).reshape(x.shape)
