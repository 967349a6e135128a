"""Distances, similarities, unit vectors and the bilinear map."""

from __future__ import annotations

import numpy as np

from adjoint.tensors import Tensor, functions
from adjoint.tensors.functions import maximum, norm, sum
from adjoint.tensors.located import at_user

from .recording import scope

__all__ = ["bilinear", "cosine_similarity", "normalize", "pairwise_distance", "pdist"]


def normalize(x: Tensor, p: float = 2.0, dim: int | tuple[int, ...] = 1, eps: float = 1e-12) -> Tensor:
    """x divided by its norm of order p over the axis `dim`, or by `eps` where that is larger; of x's shape."""
    with scope("normalize"):
        return x / maximum(norm(x, p, axis=dim, keepdims=True), eps)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between x1 and x2 along the axis `dim`; other axes broadcast.

    Norms below `eps` count as `eps`.
    """
    with scope("cosine_similarity"):
        x1, x2 = functions.broadcast_arrays(x1, x2)
        sizes = [maximum(norm(x, axis=dim, keepdims=True), eps) for x in (x1, x2)]
        return sum((x1 / sizes[0]) * (x2 / sizes[1]), axis=dim)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The norm of order p of `x1 - x2 + eps` over the last axis; the others broadcast."""
    with scope("pairwise_distance"):
        return norm(x1 - x2 + eps, p, axis=-1, keepdims=keepdim)


def pdist(x: Tensor, p: float = 2.0) -> Tensor:
    """The distances of order p between all pairs of rows of x (n, d), those of row 0 first: (n (n - 1) / 2,)."""
    if x.ndim != 2:
        raise ValueError(f"pdist: expected rows (n, d), got shape {x.shape}{at_user()}")
    with scope("pdist"):
        first, second = np.triu_indices(x.shape[0], 1)
        return norm(x[first] - x[second], p, axis=-1)


def bilinear(x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x1ᵀ weight[o] x2 + bias[o]`: x1 (..., a), x2 (..., b), weight (out, a, b), bias (out,), to (..., out).

    Raises ValueError when shapes don't fit.
    """
    if (
        weight.ndim != 3
        or x1.shape[:-1] != x2.shape[:-1]
        or (x1.shape[-1:], x2.shape[-1:]) != (weight.shape[1:2], weight.shape[2:])
    ):
        raise ValueError(
            f"bilinear: expected shapes (..., a), (..., b) and (out, a, b); got {x1.shape}, {x2.shape} and "
            f"{weight.shape}{at_user()}"
        )
    with scope("bilinear"):
        out, a, b = weight.shape
        lead = x1.shape[:-1]
        spread = x1.reshape(-1, a) @ functions.permute_dims(weight, (1, 0, 2)).reshape(a, out * b)
        y = sum(spread.reshape(*lead, out, b) * x2[..., None, :], axis=-1)
        return y if bias is None else y + bias
