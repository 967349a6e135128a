"""Losses of margins and of similarity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.composites import losses
from adjoint.tensors import Tensor, functions
from adjoint.tensors.functions import asarray, maximum, minimum, relu, where
from adjoint.tensors.located import at_user

from .distance import pairwise_distance
from .losses import check_reduction, matching
from .ranges import check_range
from .recording import scope, tensor_of

__all__ = [
    "cosine_embedding_loss", "hinge_embedding_loss", "margin_ranking_loss", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss", "soft_margin_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip


def reduced(values: Tensor, reduction: str) -> Tensor:
    """All losses, their sum, or their mean."""
    return tensor_of(losses.reduced(values.node, reduction))


def hinge_embedding_loss(x: Tensor, target: Any, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """x where the target is 1, `max(0, margin - x)` where it is -1, for two tensors of one shape: mean, sum, or all."""
    name = "hinge_embedding_loss"
    check_reduction(name, reduction)
    given = matching(name, x, target)
    with scope(name):
        near = where(given == -1, 0.0, x)
        far = where(given == 1, 0.0, relu(margin - x))
        return reduced(near + far, reduction)


def soft_margin_loss(x: Tensor, target: Any, reduction: str = "mean") -> Tensor:
    """`log(1 + exp(-target * x))` for targets 1 and -1, two tensors of one shape: mean, sum, or all."""
    name = "soft_margin_loss"
    check_reduction(name, reduction)
    given = matching(name, x, target).astype(x.dtype)
    with scope(name):
        return reduced(functions.softplus(-given * x), reduction)


def margin_ranking_loss(x1: Tensor, x2: Tensor, target: Any, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """`max(0, margin - target * (x1 - x2))`: target 1 wants x1 above x2, -1 below. One shape; mean, sum, or all."""
    name = "margin_ranking_loss"
    check_reduction(name, reduction)
    second, given = matching(name, x1, x2), matching(name, x1, target).astype(x1.dtype)
    with scope(name):
        return reduced(relu(margin - given * (x1 - second)), reduction)


def cosine_embedding_loss(x1: Tensor, x2: Tensor, target: Any, margin: float = 0.0, reduction: str = "mean") -> Tensor:
    """`1 - cos` where the target is 1, `max(0, cos - margin)` where it is -1: x1, x2 (N, d) and target (N,), or (d,) and ().

    cos is the cosine of the angle between the vectors. Mean, sum, or all. Raises ValueError when shapes don't fit.
    """
    name = "cosine_embedding_loss"
    check_reduction(name, reduction)
    second, given = matching(name, x1, x2), asarray(target)
    if x1.ndim not in (1, 2) or given.shape != x1.shape[:-1]:
        raise ValueError(
            f"{name}: expected vectors (N, d) and a target (N,), or (d,) and (); got {x1.shape} and "
            f"{given.shape}{at_user()}"
        )
    with scope(name):
        squares = [functions.sum(x * x, axis=-1) + 1e-12 for x in (x1, second)]
        cosine = functions.sum(x1 * second, axis=-1) / functions.sqrt(squares[0] * squares[1])
        apart = where(given == -1, relu(cosine - margin), 0.0)
        return reduced(where(given == 1, 1.0 - cosine, apart), reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, d(anchor, positive) - d(anchor, negative) + margin)` for vectors (N, d) or (d,): mean, sum, or all.

    d is `pairwise_distance` of order p. With `swap`, the smaller of the negative's two distances counts. (V. Balntas et al.,
    2016.) Raises ValueError when shapes don't fit.
    """

    def distance(a: Tensor, b: Tensor) -> Tensor:
        return pairwise_distance(a, b, p, eps)

    return _triplet("triplet_margin_loss", (anchor, positive, negative), distance, margin, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own: a function of two tensors (N, d), to (N,)."""
    name = "triplet_margin_with_distance_loss"
    return _triplet(name, (anchor, positive, negative), distance_function or pairwise_distance, margin, swap, reduction)


def _triplet(
    name: str, given: tuple[Tensor, Tensor, Tensor], distance: Callable[..., Tensor], margin: float, swap: bool, reduction: str
) -> Tensor:  # fmt: skip
    check_reduction(name, reduction)
    if margin <= 0:
        raise ValueError(f"{name}: margin is positive, got {margin}{at_user()}")
    anchor, positive, negative = given
    if not anchor.ndim == positive.ndim == negative.ndim:
        shapes = ", ".join(str(x.shape) for x in given)
        raise ValueError(f"{name}: the three tensors need as many axes each; their shapes are {shapes}{at_user()}")
    with scope(name):
        far = distance(anchor, negative)
        if swap:
            far = minimum(far, distance(positive, negative))
        return reduced(relu(distance(anchor, positive) - far + margin), reduction)


def multi_margin_loss(
    x: Tensor, target: Any, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """`Σ max(0, margin - x[right] + x[other])^p / C` over the other classes: x (N, C) and target (N,), or (C,) and ().

    One sample's target is () or (1,), and so is what it gives; a single score is one of one class. p is 1 or 2; `weight` (C,)
    counts each class so much. Mean, sum, or all. Raises ValueError when shapes don't fit,
    IndexError for a class number out of range.
    """
    name = "multi_margin_loss"
    check_reduction(name, reduction)
    labels, samples = asarray(target), x.shape[0] if x.ndim == 2 else 1
    fits = x.ndim <= 2 and labels.shape in ((samples,), () if samples == 1 else (samples,))
    if p not in (1, 2) or not fits or labels.dtype.kind not in "iu":
        raise ValueError(
            f"{name}: expected p 1 or 2, scores (N, C) and class numbers (N,), or (C,) and (); got p = {p}, {x.shape} and "
            f"{labels.shape} of {labels.dtype}{at_user()}"
        )
    x = x.reshape(*labels.shape, -1 if x.size else x.shape[-1])
    count = x.shape[-1]
    if weight is not None and weight.shape != (count,):
        raise ValueError(f"{name}: weight has shape {(count,)}, not {weight.shape}{at_user()}")
    check_range(name, "class number", labels, count, "classes")
    with scope(name):
        places = labels.astype("int64")[..., None]
        below = relu(margin - functions.take_along_axis(x, places, axis=-1) + x)
        if p == 2:
            below = below * below
        if weight is not None:
            below = below * functions.take(weight, places, axis=0)
        others = where(functions.arange(count) == places, 0.0, below)
        return reduced(functions.sum(others, axis=-1) / count, reduction)


def multilabel_margin_loss(x: Tensor, target: Any, reduction: str = "mean") -> Tensor:
    """`Σ max(0, 1 - (x[right] - x[wrong])) / C` over pairs of a right and a wrong class: x (N, C), or (C,).

    The target, integers of x's shape, lists each sample's right classes first; what follows the first -1 counts nothing.
    Mean, sum, or all. Raises ValueError when shapes differ, IndexError for a class number out of range.
    """
    name = "multilabel_margin_loss"
    check_reduction(name, reduction)
    x, labels = (v.reshape(1) if v.shape in ((), (1,)) else v for v in (x, asarray(target)))  # one class, one listed
    labels = matching(name, x, labels)
    if labels.dtype.kind not in "iu" or x.ndim not in (1, 2) or not x.shape[-1]:
        raise ValueError(f"{name}: expected scores (N, C) and integers; got {x.shape} and {labels.dtype}{at_user()}")
    count = x.shape[-1]
    check_range(name, "class number", maximum(labels, 0), count, "classes")
    with scope(name):
        listed = functions.cumulative_sum((labels < 0).astype("int64"), axis=-1) == 0
        places = where(listed, labels, 0).astype("int64")
        cells = functions.arange(count)
        right = functions.any((places[..., None] == cells) & listed[..., None], axis=-2)
        gaps = 1.0 - (functions.take_along_axis(x, places, axis=-1)[..., None] - x[..., None, :])
        counted = listed[..., None] & functions.logical_not(right)[..., None, :]
        return reduced(functions.sum(where(counted, relu(gaps), 0.0), axis=(-2, -1)) / count, reduction)


def multilabel_soft_margin_loss(
    x: Tensor, target: Any, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """The mean over the classes of `binary_cross_entropy_with_logits`: x and target (N, C), `weight` (C,); mean, sum, or all."""
    name = "multilabel_soft_margin_loss"
    check_reduction(name, reduction)
    given = matching(name, x, target).astype(x.dtype)
    with scope(name):
        each = functions.softplus(x) - given * x
        if weight is not None:
            each = each * weight
        return reduced(functions.mean(each, axis=-1), reduction)
