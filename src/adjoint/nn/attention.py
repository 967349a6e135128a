"""Attention with several heads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.composites import attention
from adjoint.dtypes import default_dtype
from adjoint.graph import Node, array_type
from adjoint.primitives.core import data, ops
from adjoint.tensors import Tensor
from adjoint.tensors.functions import arange, broadcast_to, take, variable, zeros
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap

from . import functional, init
from .functional.ranges import check_probability
from .functional.recording import node_of, optional, scope, tensor_of
from .linear import Linear
from .module import Module, whole

__all__ = ["KeyValueCache", "MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention in `num_heads` parts of `embed_dim / num_heads` features each, projected in and out.

    Each head takes softmax(queries · keysᵀ / √features) of its projections, and with these weights the mean of the values.
    Queries are (L, N, embed_dim), keys (S, N, kdim), values (S, N, vdim); with `batch_first` N comes first, and without
    a batch there is none. `kdim` and `vdim` are `embed_dim` unless given. `in_proj_weight` (3 embed_dim, embed_dim), the
    projections of queries, keys and values one below the other (or three matrices, where their inputs differ in size),
    starts as Xavier's uniform, `out_proj` as Linear, the biases 0. `dropout` acts on the weights in training. All queries see
    one learned key and value more with `add_bias_kv`, zeros with `add_zero_attn`. (A. Vaswani et al., "Attention is all you
    need", 2017.)
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        dtype: Any = None,
    ) -> None:
        whole("MultiheadAttention", embed_dim=embed_dim, num_heads=num_heads)
        if embed_dim < 1 or num_heads < 1 or embed_dim % num_heads:
            raise ValueError(f"MultiheadAttention: {embed_dim} features don't divide into {num_heads} heads{at_user()}")
        check_probability("MultiheadAttention: dropout", dropout)
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        kind = default_dtype() if dtype is None else dtype

        def weight(rows: int, columns: int) -> Tensor:
            return init.xavier_uniform_(variable(zeros((rows, columns), dtype=kind)))

        alike = self.kdim == embed_dim and self.vdim == embed_dim
        self.q_proj_weight = None if alike else weight(embed_dim, embed_dim)
        self.k_proj_weight = None if alike else weight(embed_dim, self.kdim)
        self.v_proj_weight = None if alike else weight(embed_dim, self.vdim)
        self.in_proj_weight = weight(3 * embed_dim, embed_dim) if alike else None
        self.in_proj_bias = variable(zeros(3 * embed_dim, dtype=kind)) if bias else None
        self.bias_k, self.bias_v = [_beside(embed_dim, kind) if add_bias_kv else None for _ in range(2)]
        self.add_zero_attn = add_zero_attn
        self.out_proj = Linear(embed_dim, embed_dim, bias, dtype)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """The output, of the query's shape, and the weights (N, L, S): the mean over the heads, or (N, num_heads, L, S).

        Bool masks are True where a key must not be seen, floating ones are added to the scores: `key_padding_mask`
        (N, S) for all queries, `attn_mask` (L, S) or (N * num_heads, L, S). With `is_causal`, query i sees keys up to i.
        Where a query sees none, its weights are 0. With `need_weights=False` the second result is None. Raises ValueError when
        shapes don't fit.
        """
        q, k, v = node_of(query), node_of(key), node_of(value)
        with scope("attention", q, k, v):
            batched = q.ndim == 3
            q, k, v = self._batches(q, k, v)
            mask = self._mask(q, k, optional(key_padding_mask), optional(attn_mask))
            alike = query is key and key is value
            projected, mask, is_causal = self._with_more(self._projected(q, k, v, alike), mask, is_causal)
            heads = [attention.split_heads(p, self.num_heads) for p in projected]
            scale = 1 / math.sqrt(self.embed_dim // self.num_heads)
            weights = attention.attention_weights(heads[0], heads[1], mask, is_causal, scale)
            kept = weights
            if self.dropout and self.training:
                kept = functional.dropout(tensor_of(weights), self.dropout).node
            joined = attention.join_heads(attention.product(kept, heads[2]))
            if not self.batch_first and batched:
                joined = ops.permute_dims(joined, (1, 0, 2))
            elif not batched:
                joined = ops.reshape(joined, joined.shape[1:])
            output: Tensor = self.out_proj(wrap(joined))
            if not need_weights:
                return output, None
            if average_attn_weights:
                kept = ops.divide(ops.sum(kept, (1,)), float(self.num_heads))
            return output, tensor_of(kept if batched else ops.reshape(kept, kept.shape[1:]))

    def _batches(self, q: Node, k: Node, v: Node) -> list[Node]:
        """The inputs with the batch in front. Raises ValueError when their shapes don't fit."""
        order = "(N, L, E), (N, S, kdim)" if self.batch_first else "(L, N, E), (S, N, kdim)"
        if not q.ndim == k.ndim == v.ndim or q.ndim not in (2, 3):
            raise ValueError(
                f"attention: expected shapes such as {order}, or without N; got {q.shape}, {k.shape}, {v.shape}"
            )
        if q.ndim == 2:
            q, k, v = [ops.reshape(x, (1, *x.shape)) for x in (q, k, v)]
        elif not self.batch_first:
            q, k, v = [ops.permute_dims(x, (1, 0, 2)) for x in (q, k, v)]
        sizes = (q.shape[2], k.shape[2], v.shape[2])
        if sizes != (self.embed_dim, self.kdim, self.vdim):
            wanted = (self.embed_dim, self.kdim, self.vdim)
            raise ValueError(f"attention: queries, keys and values must have {wanted} features; they have {sizes}")
        if k.shape[:2] != v.shape[:2] or q.shape[0] != k.shape[0]:
            raise ValueError(
                f"attention: {q.shape[0]} examples of queries, {k.shape[0]} of {k.shape[1]} keys, "
                f"{v.shape[0]} of {v.shape[1]} values"
            )
        return [q, k, v]

    def _projected(self, q: Node, k: Node, v: Node, alike: bool) -> list[Node]:
        """The projections of the three inputs: in one product where they are one tensor."""
        size = self.embed_dim
        bias = optional(self.in_proj_bias)
        if self.in_proj_weight is not None and alike:
            both = _linear(q, self.in_proj_weight.node, bias)
            return [
                ops.slice_(both, ((0, both.shape[0], 1), (0, both.shape[1], 1), (i * size, size, 1))) for i in range(3)
            ]
        if self.in_proj_weight is not None:
            whole = self.in_proj_weight.node
            weights = [ops.slice_(whole, ((i * size, size, 1), (0, size, 1))) for i in range(3)]
        else:
            weights = [w.node for w in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight) if w is not None]
        biases = [None if bias is None else ops.slice_(bias, ((i * size, size, 1),)) for i in range(3)]
        return [_linear(x, w, b) for x, w, b in zip((q, k, v), weights, biases, strict=True)]

    def _with_more(
        self, projected: list[Node], mask: Node | None, is_causal: bool
    ) -> tuple[list[Node], Node | None, bool]:
        """The keys and values with those that all queries see, and a mask that lets them."""
        q, k, v = projected
        more = [[optional(self.bias_k), optional(self.bias_v)]] if self.bias_k is not None else []
        if self.add_zero_attn:
            more.append([None, None])
        if not more:
            return projected, mask, is_causal
        if is_causal:
            mask = attention.joined_masks(mask, attention.causal(q.shape[1], k.shape[1]))
        one = (k.shape[0], 1, k.shape[2])
        for pair in more:
            ends = [
                ops.zeros(array_type(one, k.dtype)) if end is None else ops.broadcast_to(ops.astype(end, k.dtype), one)
                for end in pair
            ]
            k, v = ops.concat([k, ends[0]], 1), ops.concat([v, ends[1]], 1)
        if mask is not None:
            seen = True if mask.dtype.kind == "b" else 0.0
            shape = (*mask.shape[:-1], len(more))
            mask = ops.concat([mask, ops.full(seen, array_type(shape, mask.dtype))], mask.ndim - 1)
        return [q, k, v], mask, False

    def _mask(self, q: Node, k: Node, padding: Node | None, given: Node | None) -> Node | None:
        """All masks as one, broadcast to (N, num_heads, L, S); bool ones are True where a key may be seen."""
        (n, queries), keys = q.shape[:2], k.shape[1]
        mask = None
        if given is not None:
            if given.shape == (queries, keys):
                mask = _seen(given)
            elif given.shape == (n * self.num_heads, queries, keys):
                mask = _seen(ops.reshape(given, (n, self.num_heads, queries, keys)))
            else:
                raise ValueError(
                    f"attention: attn_mask must have the shape {(queries, keys)} or {(n * self.num_heads, queries, keys)}; "
                    f"its shape is {given.shape}"
                )
        if padding is not None:
            if padding.shape not in ((n, keys), (keys,) if n == 1 else (n, keys)):
                raise ValueError(
                    f"attention: key_padding_mask must have the shape {(n, keys)}; its shape is {padding.shape}"
                )
            mask = attention.joined_masks(mask, _seen(ops.reshape(padding, (n, 1, 1, keys))))
        return mask


def _beside(features: int, dtype: Any) -> Tensor:
    """A learned key or value, first normal as Xavier's."""
    return init.xavier_normal_(variable(zeros((1, 1, features), dtype=dtype)))


def _seen(mask: Node) -> Node:
    if mask.dtype.kind in "iu":
        raise TypeError(f"attention: a mask is bool or floating, not {mask.dtype.name}")
    return ops.logical_not(mask) if mask.dtype.kind == "b" else mask


def _linear(x: Node, weight: Node, bias: Node | None) -> Node:
    n, length, size = x.shape
    product = ops.matmul(ops.reshape(x, (n * length, size)), ops.matrix_transpose(weight))
    if bias is not None:
        product = ops.add(product, bias)
    return ops.reshape(product, (n, length, weight.shape[0]))


class KeyValueCache(Module):
    """The keys and values of the positions that a generating network has seen, for attention of the next ones.

    `keys` and `values` are buffers (batch, heads, length, features) that start as zeros, `position` counts the positions that
    are filled. All is of one shape from the first position to the last, so a step compiled by `ad.jit` is compiled once.

    >>> import adjoint as ad
    >>> cache = ad.nn.KeyValueCache(1, 2, 8, 4)
    >>> q, k, v = (ad.random.normal((1, 2, 1, 4)) for _ in range(3))
    >>> cache.attend(q, k, v).shape, cache.position.item()
    ((1, 2, 1, 4), 1)
    """

    keys: Tensor
    values: Tensor
    position: Tensor

    def __init__(self, batch: int, heads: int, length: int, features: int, dtype: Any = None) -> None:
        if min(batch, heads, length, features) < 1:
            sizes = (batch, heads, length, features)
            raise ValueError(f"KeyValueCache: sizes must be positive, not {sizes}{at_user()}")
        self.register_buffer("keys", zeros((batch, heads, length, features), dtype=dtype))
        self.register_buffer("values", zeros((batch, heads, length, features), dtype=dtype))
        self.register_buffer("position", zeros((), dtype="int64"))

    def reset(self) -> None:
        """Forget all positions, and what was there: a NaN that no query sees would reach all results."""
        self.values.data = zeros(self.values.shape, dtype=self.values.dtype)
        self.position.data = zeros((), dtype="int64")

    def update(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Write keys and values (batch, heads, L, features) of the next L positions.

        Gives all keys and values (batch, heads, length, features) and a mask (L, length): which of them each new position
        sees, itself and those before. Gradients don't flow through the cache. Raises ValueError when shapes don't fit, IndexError
        when there is no room, which a compiled step finds as it runs.
        """
        shape, length, new = self.keys.shape, self.keys.shape[2], key.shape[2] if key.ndim == 4 else 0
        expected = (*shape[:2], new, shape[3])
        if not new or key.shape != expected or value.shape != expected:
            raise ValueError(
                f"KeyValueCache: expected keys and values {(*shape[:2], 'L', shape[3])}, got {key.shape} and "
                f"{value.shape}{at_user()}"
            )
        with scope("cache"):
            cells = arange(length)
            last = take(cells, self.position + (new - 1), axis=0)  # an IndexError beyond the end
            places = last - (new - 1) + arange(new)
            # Rows that can be written wherever they are asked to go may lie where the cache does, and nothing else is touched.
            example, head = np.indices((*shape[:2], new))[:2]
            rows = [data(example), data(head), broadcast_to(places, (*shape[:2], new)).node]
            for cache, given in ((self.keys, key), (self.values, value)):
                row = given.detach().astype(cache.dtype)
                cache.data = wrap(ops.scatter(cache.node, row.node, rows, clips=True))
            self.position.data = last + 1
            return self.keys, self.values, cells <= places[:, None]

    def attend(
        self, query: Tensor, key: Tensor, value: Tensor, scale: float | None = None, enable_gqa: bool = False
    ) -> Tensor:
        """Write keys and values as `update`, and the attention of queries (batch, H, L, features) to all positions so far."""
        keys, values, mask = self.update(key, value)
        return functional.scaled_dot_product_attention(query, keys, values, mask, scale=scale, enable_gqa=enable_gqa)

    def extra_repr(self) -> str:
        """Its sizes."""
        batch, heads, length, features = self.keys.shape
        return f"batch={batch}, heads={heads}, length={length}, features={features}"
