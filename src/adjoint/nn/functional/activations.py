"""Activations under PyTorch's names; what differs from the array functions is the argument `dim`."""

from __future__ import annotations

from typing import Any

from adjoint import random
from adjoint.tensors import Tensor, functions
from adjoint.tensors.functions import clip, expm1, sigmoid, split, tanh, where
from adjoint.tensors.located import at_user

from .recording import scope

__all__ = [
    "celu", "elu", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu",
    "log_softmax", "logsigmoid", "mish", "prelu", "relu", "relu6", "rrelu", "selu", "sigmoid", "silu", "softmax", "softmin",
    "softplus", "softshrink", "softsign", "tanh", "tanhshrink", "threshold",
]  # fmt: skip

# `inplace` is taken for PyTorch's sake and changes nothing: tensors are values.

# G. Klambauer et al., "Self-normalizing neural networks", 2017: they keep mean 0 and variance 1
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def softmax(x: Tensor, dim: int = -1, dtype: Any = None) -> Tensor:
    """`exp(x) / sum(exp(x))` along the axis `dim`, without overflow; of x's shape and dtype, or of x cast to `dtype`."""
    return functions.softmax(x if dtype is None else x.astype(dtype), axis=dim)


def log_softmax(x: Tensor, dim: int = -1, dtype: Any = None) -> Tensor:
    """The logarithm of `softmax(x, dim)`, without overflow; of x's shape and dtype, or of x cast to `dtype`."""
    return functions.log_softmax(x if dtype is None else x.astype(dtype), axis=dim)


def softmin(x: Tensor, dim: int = -1, dtype: Any = None) -> Tensor:
    """`softmax(-x)` along the axis `dim`; of x's shape and dtype, or of x cast to `dtype`."""
    return softmax(-x, dim, dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """A random one-hot vector along the axis `dim`, softened: `softmax((logits + noise) / tau)`, of logits' shape.

    The noise is Gumbel's, from the default generator, so the largest entry is at i with the probability that softmax gives i.
    With `hard` the values are 0 and 1, and the gradient that of the soft ones. (E. Jang, S. Gu and B. Poole, 2017.) Raises
    ValueError for a temperature tau that isn't positive.
    """
    if not tau > 0:
        raise ValueError(f"gumbel_softmax: tau must be positive, not {tau}{at_user()}")
    with scope("gumbel_softmax"):
        u = random.uniform(logits.shape, dtype=logits.dtype)
        # 1 - u is in (0, 1], and its logarithm zero only where the noise would be infinite
        noise = -functions.log(functions.maximum(-functions.log(1.0 - u), 1e-38))
        soft = softmax((logits + noise) / tau, dim)
        if not hard:
            return soft
        places = functions.argmax(soft, dim, keepdims=True)
        cells = functions.arange(logits.shape[dim]).reshape(
            [-1 if i == dim % soft.ndim else 1 for i in range(soft.ndim)]
        )
        chosen = (cells == places).astype(soft.dtype)
        return chosen + (soft - soft.detach())


def relu(x: Tensor, inplace: bool = False) -> Tensor:
    """x where it is positive, else 0; its derivative at 0 is 0."""
    return functions.relu(x)


def silu(x: Tensor, inplace: bool = False) -> Tensor:
    """`x * sigmoid(x)`; also called swish."""
    return functions.silu(x)


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


def leaky_relu(x: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where it is positive, else `negative_slope * x`."""
    return where(x > 0, x, x * negative_slope)


def elu(x: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, else `alpha * (exp(x) - 1)` (D. Clevert et al., 2015)."""
    positive = x > 0
    # of 0 where x is positive, so that nothing overflows where it isn't wanted
    return where(positive, x, expm1(where(positive, 0.0, x)) * alpha)


def selu(x: Tensor, inplace: bool = False) -> Tensor:
    """`elu` with the constants that keep mean 0 and variance 1 through the layers (G. Klambauer et al., 2017)."""
    return elu(x, SELU_ALPHA) * SELU_SCALE


def mish(x: Tensor, inplace: bool = False) -> Tensor:
    """`x * tanh(softplus(x))` (D. Misra, 2019)."""
    return x * tanh(functions.softplus(x))


def hardtanh(x: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x limited to [min_val, max_val]; its derivative at the bounds is 1, as that of `clip`."""
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val {min_val} is above max_val {max_val}{at_user()}")
    return clip(x, min_val, max_val)


def relu6(x: Tensor, inplace: bool = False) -> Tensor:
    """x limited to [0, 6]."""
    return clip(x, 0.0, 6.0)


def hardsigmoid(x: Tensor, inplace: bool = False) -> Tensor:
    """`x / 6 + 1/2` limited to [0, 1]: the sigmoid in straight lines."""
    with scope("hardsigmoid"):
        return clip(x + 3.0, 0.0, 6.0) / 6.0


def hardswish(x: Tensor, inplace: bool = False) -> Tensor:
    """`x * hardsigmoid(x)` (A. Howard et al., "Searching for MobileNetV3", 2019)."""
    with scope("hardswish"):
        return x * clip(x + 3.0, 0.0, 6.0) / 6.0


def celu(x: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, else `alpha * (exp(x / alpha) - 1)`, whose slope has no jump (J. Barron, 2017)."""
    if alpha == 0:
        raise ValueError(f"celu: alpha must not be 0{at_user()}")
    with scope("celu"):
        positive = x > 0
        return where(positive, x, expm1(where(positive, 0.0, x) / alpha) * alpha)


def softsign(x: Tensor) -> Tensor:
    """`x / (1 + |x|)`."""
    with scope("softsign"):
        return x / (1.0 + abs(x))


def tanhshrink(x: Tensor) -> Tensor:
    """`x - tanh(x)`."""
    with scope("tanhshrink"):
        return x - tanh(x)


def softshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved by `lambd` towards 0, and 0 where it is nearer. Raises ValueError for a negative lambd."""
    if lambd < 0:
        raise ValueError(f"softshrink: lambd must not be negative, not {lambd}{at_user()}")
    with scope("softshrink"):
        return where(x > lambd, x - lambd, where(x < -lambd, x + lambd, where(functions.isnan(x), x, 0.0)))


def hardshrink(x: Tensor, lambd: float = 0.5) -> Tensor:
    """x, and 0 where it lies within ±`lambd`."""
    with scope("hardshrink"):
        return where((x >= -lambd) & (x <= lambd), 0.0, x)


def threshold(x: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where it is above the threshold, else the value."""
    with scope("threshold"):
        return where(x <= threshold, value, x)


def glu(x: Tensor, dim: int = -1) -> Tensor:
    """The first half of x along the axis `dim` times the sigmoid of the second (Y. Dauphin et al., 2017).

    Raises ValueError where the axis doesn't halve.
    """
    if not -x.ndim <= dim < x.ndim or x.shape[dim] % 2:
        raise ValueError(f"glu: shape {x.shape} doesn't halve along the axis {dim}{at_user()}")
    with scope("glu"):
        first, second = split(x, 2, axis=dim)
        return first * sigmoid(second)


def prelu(x: Tensor, weight: Tensor) -> Tensor:
    """x where it is positive, else `weight * x`, with one weight or one for each channel (axis 1) of x.

    (K. He et al., "Delving deep into rectifiers", 2015.) Raises ValueError for another number of weights.
    """
    channels = x.shape[1] if x.ndim > 1 else 1
    if weight.ndim > 1 or weight.size not in (1, channels):
        raise ValueError(
            f"prelu: {channels} channels take 1 or {channels} weights, not shape {weight.shape}{at_user()}"
        )
    with scope("prelu"):
        slope = weight.reshape(weight.size, *(1,) * (x.ndim - 2)) if x.ndim > 1 else weight.reshape(())
        return where(x > 0, x, slope * x)


def rrelu(
    x: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """x where it is positive, else x times a slope: in training uniform in [lower, upper) for each, else their mean.

    (B. Xu et al., "Empirical evaluation of rectified activations", 2015.) Raises ValueError when lower is above upper.
    """
    if lower > upper:
        raise ValueError(f"rrelu: lower {lower} is above upper {upper}{at_user()}")
    with scope("rrelu"):
        slope = random.uniform(x.shape, lower, upper, dtype=x.dtype) if training else (lower + upper) / 2
        return where(x > 0, x, x * slope)
