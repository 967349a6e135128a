"""Activations under PyTorch's names; what differs from the array functions is the argument `dim`."""

from __future__ import annotations

import math

from adjoint.tensors import Tensor, functions
from adjoint.tensors.functions import relu, sigmoid, silu, softplus, tanh

__all__ = ["gelu", "log_softmax", "relu", "sigmoid", "silu", "softmax", "softplus", "tanh"]


def softmax(x: Tensor, dim: int = -1) -> Tensor:
    """`exp(x) / sum(exp(x))` along the axis `dim`, without overflow; of x's shape and dtype."""
    return functions.softmax(x, axis=dim)


def log_softmax(x: Tensor, dim: int = -1) -> Tensor:
    """The logarithm of `softmax(x, dim)`, without overflow; of x's shape and dtype."""
    return functions.log_softmax(x, axis=dim)


def gelu(x: Tensor, approximate: str = "none") -> Tensor:
    """`x` times the normal distribution's cumulative probability at x, of x's shape and dtype.

    `approximate="tanh"` takes the tanh formula of Hendrycks and Gimpel, 2016 (https://arxiv.org/abs/1606.08415).
    Raises ValueError for another name.
    """
    if approximate == "none":
        return functions.gelu(x)
    if approximate != "tanh":
        raise ValueError(f"gelu: approximate must be 'none' or 'tanh', not {approximate!r}")
    return 0.5 * x * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
