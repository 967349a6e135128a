"""Activations under PyTorch's names; what differs from the array functions is the argument `dim`."""

from __future__ import annotations

from adjoint.tensors import Tensor, functions
from adjoint.tensors.functions import clip, expm1, relu, sigmoid, silu, tanh, where
from adjoint.tensors.located import at_user

__all__ = [
    "elu", "gelu", "hardtanh", "leaky_relu", "log_softmax", "logsigmoid", "mish", "relu", "relu6", "selu", "sigmoid",
    "silu", "softmax", "softplus", "tanh",
]  # fmt: skip

# G. Klambauer et al., "Self-normalizing neural networks", 2017: they keep mean 0 and variance 1
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


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
    return functions.gelu(x, approximate=approximate)


def softplus(x: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """`log(1 + exp(beta*x)) / beta`, elementwise, without overflow; x itself where `beta*x` is above a threshold below 20.

    From 20 on the two differ by less than 2.1e-9 / beta, and the exact value is given, where PyTorch gives x.
    """
    exact = functions.softplus(x) if beta == 1 else functions.softplus(x * beta) / beta
    return exact if threshold >= 20 else where(x * beta > threshold, x, exact)


def logsigmoid(x: Tensor) -> Tensor:
    """`log(1 / (1 + exp(-x)))`, elementwise, without overflow."""
    return -functions.softplus(-x)


def leaky_relu(x: Tensor, negative_slope: float = 0.01) -> Tensor:
    """x where it is positive, else `negative_slope * x`."""
    return where(x > 0, x, x * negative_slope)


def elu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where it is positive, else `alpha * (exp(x) - 1)` (D. Clevert et al., 2015)."""
    positive = x > 0
    # of 0 where x is positive, so that nothing overflows where it isn't wanted
    return where(positive, x, expm1(where(positive, 0.0, x)) * alpha)


def selu(x: Tensor) -> Tensor:
    """`elu` with the constants that keep mean 0 and variance 1 through the layers (G. Klambauer et al., 2017)."""
    return elu(x, SELU_ALPHA) * SELU_SCALE


def mish(x: Tensor) -> Tensor:
    """`x * tanh(softplus(x))` (D. Misra, 2019)."""
    return x * tanh(functions.softplus(x))


def hardtanh(x: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x limited to [min_val, max_val]; its derivative at the bounds is 1, as that of `clip`."""
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val {min_val} is above max_val {max_val}{at_user()}")
    return clip(x, min_val, max_val)


def relu6(x: Tensor) -> Tensor:
    """x limited to [0, 6]."""
    return clip(x, 0.0, 6.0)
