"""Dropout, embedding and attention."""

from __future__ import annotations

import math

from adjoint.composites.indexing import never_from_the_end
from adjoint.composites.recipes import remembered
from adjoint.dtypes import int64
from adjoint.graph import Node
from adjoint.primitives.core import ops, same_type, stop_gradient
from adjoint.primitives.normalized import softmaxed
from adjoint.shapes import broadcast_shapes, keep_axes


def dropout(x: Node, keep: Node, probability: float) -> Node:
    """x / (1 - probability) where `keep`, else 0."""
    return ops.where(keep, ops.multiply(x, 1.0 / (1.0 - probability)), ops.zeros(x.type))


def embedding(weight: Node, indices: Node, padding: int | None) -> Node:
    """Rows of a table by number. The row `padding` gets no gradient."""
    rows = ops.gather(weight, [never_from_the_end(indices, weight.shape[0])])
    if padding is None:
        return rows
    is_padding = ops.reshape(ops.equal(indices, padding), (*indices.shape, 1))
    return ops.where(is_padding, stop_gradient(rows), rows)


def causal(queries: int, keys: int) -> Node:
    """Whether query i may see key j: where j <= i."""
    rows = ops.reshape(ops.iota(queries, int64), (queries, 1))
    return ops.greater_equal(rows, ops.iota(keys, int64))


def masked(scores: Node, mask: Node) -> Node:
    """Scores with -inf where a bool mask is False, or with a floating mask added."""
    if mask.dtype.kind == "b":
        return ops.where(mask, scores, -math.inf)
    return ops.add(scores, ops.astype(mask, scores.dtype))


@remembered
def attention_weights(query: Node, key: Node, mask: Node | None, is_causal: bool, scale: float) -> Node:
    """softmax(scale · query keyᵀ + masks) over the keys: all 0 where a mask leaves none."""
    scores = product(ops.multiply(query, scale), ops.matrix_transpose(key))
    some_see_nothing = mask is not None  # under the causal mask alone, all see the first key
    if is_causal:
        mask = joined_masks(mask, causal(query.shape[-2], key.shape[-2]))
    if mask is not None:
        scores = masked(scores, mask)
    if not scores.type.size:
        return scores
    axis = scores.ndim - 1
    kept = keep_axes(scores.shape, (axis,))
    top = stop_gradient(ops.reshape(ops.max(scores, (axis,)), kept))
    if some_see_nothing:  # -inf - -inf is no number
        top = ops.where(ops.equal(top, -math.inf), 0.0, top)
    powers = ops.exp(ops.subtract(scores, top))
    total = ops.reshape(ops.sum(powers, (axis,)), kept)
    if some_see_nothing:
        total = ops.where(ops.equal(total, 0), 1.0, total)
    return softmaxed(ops.divide(powers, total), scores, total)


@remembered
def attended(query: Node, key: Node, value: Node, mask: Node | None, is_causal: bool, scale: float) -> Node:
    """The values that these weights pick."""
    return product(attention_weights(query, key, mask, is_causal, scale), value)


def grouped(q: Node, k: Node, v: Node, mask: Node | None, is_causal: bool) -> tuple[Node, Node | None, bool]:
    """Queries of several heads that share a head of keys, as more queries of that head; their mask; whether it is causal.

    Raises ValueError unless the heads divide.
    """
    heads, shared = (x.shape[-3] if x.ndim > 2 else 0 for x in (q, k))
    if not heads or not shared or heads % shared or v.shape[-3] != shared:
        raise ValueError(
            f"attention: enable_gqa takes (..., H, L, E) and keys and values of G heads, H a multiple of G; got {q.shape}, "
            f"{k.shape} and {v.shape}"
        )
    group, (length, width), keys = heads // shared, q.shape[-2:], k.shape[-2]
    if is_causal:
        mask = joined_masks(mask, causal(length, keys))
    if mask is not None:
        lead = mask.shape[:-3] if mask.ndim > 3 else ()
        whole = ops.broadcast_to(mask, (*lead, heads, length, keys))
        mask = ops.reshape(whole, (*lead, shared, group * length, keys))
    return ops.reshape(q, (*q.shape[:-3], shared, group * length, width)), mask, False


def product(a: Node, b: Node) -> Node:
    """A matrix product whose leading axes broadcast."""
    a, b = same_type("attention", [a, b])
    if a.shape[:-2] != b.shape[:-2]:
        lead = broadcast_shapes("attention", a.shape[:-2], b.shape[:-2])
        a, b = ops.broadcast_to(a, (*lead, *a.shape[-2:])), ops.broadcast_to(b, (*lead, *b.shape[-2:]))
    return ops.matmul(a, b)


def joined_masks(first: Node | None, second: Node | None) -> Node | None:
    """One mask that does what both do."""
    if first is None or second is None:
        return second if first is None else first
    if first.dtype.kind == "b" and second.dtype.kind == "b":
        return ops.logical_and(first, second)
    if first.dtype.kind == "b":
        first, second = second, first
    if second.dtype.kind == "b":
        return masked(ops.broadcast_to(first, broadcast_shapes("attention", first.shape, second.shape)), second)
    return ops.add(first, second)


def split_heads(x: Node, heads: int) -> Node:
    """(N, L, heads · size) to (N, heads, L, size)."""
    n, length, width = x.shape
    return ops.permute_dims(ops.reshape(x, (n, length, heads, width // heads)), (0, 2, 1, 3))


def join_heads(x: Node) -> Node:
    """(N, heads, L, size) to (N, L, heads · size)."""
    n, heads, length, size = x.shape
    return ops.reshape(ops.permute_dims(x, (0, 2, 1, 3)), (n, length, heads * size))
