"""Dropout of elements and of channels, drawn from the default generator (`ad.random.seed`)."""

from __future__ import annotations

import math

from adjoint import random
from adjoint.composites import attention
from adjoint.tensors import Tensor, functions
from adjoint.tensors.located import at_user

from .ranges import check_probability
from .recording import node_of, scope, tensor_of

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]

# Where SELU goes for x → -∞ (G. Klambauer et al., 2017): what is dropped becomes that
SATURATED = -1.7580993408473766


def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, each element becomes 0 with probability p, or else x / (1 - p); otherwise x itself.

    Drawn from the default generator (`ad.random.seed`). Raises ValueError for p outside [0, 1]. (N. Srivastava et al.,
    "Dropout", 2014.)
    """
    return _dropped("dropout", x, p, training, x.shape)


def dropout1d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of x (N, C, L) or (C, L): see `dropout2d`."""
    return _dropped("dropout1d", x, p, training, _channels("dropout1d", x, 1))


def dropout2d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """In training, each channel of x (N, C, H, W) becomes 0 with probability p, or else x / (1 - p); otherwise x itself.

    One image (C, H, W) will do. (J. Tompson et al., "Efficient object localization", 2015.) Raises ValueError for p outside
    [0, 1] and for other shapes.
    """
    return _dropped("dropout2d", x, p, training, _channels("dropout2d", x, 2))


def dropout3d(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Dropout of whole channels of x (N, C, D, H, W) or (C, D, H, W): see `dropout2d`."""
    return _dropped("dropout3d", x, p, training, _channels("dropout3d", x, 3))


def alpha_dropout(x: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean 0 and variance 1: what is dropped becomes SELU's lower limit, and all is scaled and shifted.

    (G. Klambauer et al., "Self-normalizing neural networks", 2017.) Raises ValueError for p outside [0, 1].
    """
    return _alpha("alpha_dropout", x, p, training, x.shape)


def feature_alpha_dropout(x: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels of x (N, C, ...)."""
    return _alpha("feature_alpha_dropout", x, p, training, (*x.shape[:2], *(1,) * (x.ndim - 2)))


def _channels(name: str, x: Tensor, rank: int) -> tuple[int, ...]:
    if x.ndim not in (rank + 1, rank + 2):
        raise ValueError(f"{name}: expected {rank + 2} axes (N, C, ...), or {rank + 1}; got shape {x.shape}{at_user()}")
    return (*x.shape[:-rank], *(1,) * rank)


def _dropped(name: str, x: Tensor, p: float, training: bool, shape: tuple[int, ...]) -> Tensor:
    check_probability(name, p)
    if not training or p == 0:
        return x
    if p == 1:
        return functions.where(False, x, 0.0)
    with scope(name):
        keep = random.bernoulli(1 - p, shape)
        return tensor_of(attention.dropout(node_of(x), functions.broadcast_to(keep, x.shape).node, p))


def _alpha(name: str, x: Tensor, p: float, training: bool, shape: tuple[int, ...]) -> Tensor:
    check_probability(name, p)
    if not training or p == 0:
        return x
    if p == 1:
        return functions.where(False, x, 0.0)
    with scope(name):
        keep = functions.broadcast_to(random.bernoulli(1 - p, shape), x.shape)
        factor = 1 / math.sqrt((1 - p) * (1 + p * SATURATED**2))
        return functions.where(keep, x, SATURATED) * factor - factor * SATURATED * p
