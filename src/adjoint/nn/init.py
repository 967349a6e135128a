"""Initialisation in place, with PyTorch's names: each gives its tensor new values and returns it.

Random ones are drawn from the default generator (`ad.random.seed`) unless a `generator` is given.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint import random
from adjoint.hints import hinted_module
from adjoint.primitives.special_kernels import erf
from adjoint.tensors import Tensor
from adjoint.tensors.located import at_user

__all__ = [
    "calculate_gain", "constant_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_", "orthogonal_",
    "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip

GAINS = {
    "linear": 1.0, "conv1d": 1.0, "conv2d": 1.0, "conv3d": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2.0),
    "selu": 3 / 4,
}  # fmt: skip


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """What a layer's standard deviation is multiplied by, so that signals keep their size through this activation.

    `"leaky_relu"` takes the negative slope as `param` (0.01). Raises ValueError for an unknown name.
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity not in GAINS:
        names = ", ".join([*GAINS, "leaky_relu"])
        raise ValueError(f"calculate_gain: unknown activation {nonlinearity!r}; there are {names}{at_user()}")
    return GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: random.Generator | None = None) -> Tensor:
    """Uniform in [a, b)."""
    tensor.data = _source(generator).uniform(tensor.shape, a, b, dtype=tensor.dtype)
    return tensor


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: random.Generator | None = None) -> Tensor:
    """Normal with this mean and standard deviation."""
    tensor.data = _source(generator).normal(tensor.shape, mean, std, dtype=tensor.dtype)
    return tensor


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
    generator: random.Generator | None = None,
) -> Tensor:  # fmt: skip
    """Normal with this mean and standard deviation, limited to [a, b] (numbers, not deviations)."""
    if not a < b:
        raise ValueError(f"trunc_normal_: the bounds {a} and {b} leave nothing between{at_user()}")
    low, high = (float(erf((bound - mean) / (std * math.sqrt(2)))) for bound in (a, b))
    share = _source(generator).uniform(tensor.shape, dtype="float64").numpy()
    values = mean + std * math.sqrt(2) * _inverse_erf(low + (high - low) * share)
    tensor.data = np.clip(values, a, b).astype(tensor.dtype.name)
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One number everywhere."""
    tensor.data = np.full(tensor.shape, val, tensor.dtype.name)
    return tensor


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0)


def eye_(tensor: Tensor) -> Tensor:
    """Ones on the diagonal of a matrix, zeros elsewhere. Raises ValueError for what is no matrix."""
    if tensor.ndim != 2:
        raise ValueError(f"eye_: expected a matrix, got shape {tensor.shape}{at_user()}")
    tensor.data = np.eye(tensor.shape[0], tensor.shape[1], dtype=tensor.dtype.name)
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: random.Generator | None = None) -> Tensor:
    """Uniform within ±gain √(6 / (inputs + outputs)) (X. Glorot and Y. Bengio, 2010)."""
    inputs, outputs = _fans("xavier_uniform_", tensor)
    bound = gain * math.sqrt(6 / (inputs + outputs))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: random.Generator | None = None) -> Tensor:
    """Normal with standard deviation gain √(2 / (inputs + outputs)) (X. Glorot and Y. Bengio, 2010)."""
    inputs, outputs = _fans("xavier_normal_", tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2 / (inputs + outputs)), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: random.Generator | None = None,
) -> Tensor:  # fmt: skip
    """Uniform within ±gain √(3 / fan), the gain that of the activation, `a` a leaky relu's slope (K. He et al., 2015)."""
    bound = math.sqrt(3) * _kaiming("kaiming_uniform_", tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
    generator: random.Generator | None = None,
) -> Tensor:  # fmt: skip
    """Normal with standard deviation gain / √fan, the gain that of the activation (K. He et al., 2015)."""
    return normal_(tensor, 0.0, _kaiming("kaiming_normal_", tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Tensor, gain: float = 1.0, generator: random.Generator | None = None) -> Tensor:
    """`gain` times a random matrix, of all axes after the first joined, whose rows or columns are orthonormal.

    The QR decomposition of a normal matrix, its signs made unique. (A. Saxe et al., 2013.)
    """
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_: expected two axes or more, got shape {tensor.shape}{at_user()}")
    if not tensor.size:
        return tensor
    rows, columns = tensor.shape[0], tensor.size // tensor.shape[0]
    drawn = _source(generator).normal((max(rows, columns), min(rows, columns)), dtype="float64").numpy()
    q, r = np.linalg.qr(drawn)
    q = q * np.where(np.diag(r) < 0, -1.0, 1.0)
    tensor.data = (gain * (q.T if rows < columns else q)).reshape(tensor.shape).astype(tensor.dtype.name)
    return tensor


def _source(generator: random.Generator | None) -> random.Generator:
    return random.default_generator if generator is None else generator


def _fans(name: str, tensor: Tensor) -> tuple[int, int]:
    """How many numbers each output of a weight (outputs, inputs, ...) is made of, and each input goes into."""
    if tensor.ndim < 2:
        raise ValueError(f"{name}: expected a weight of two axes or more, got shape {tensor.shape}{at_user()}")
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


def _kaiming(name: str, tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"{name}: mode is 'fan_in' or 'fan_out', not {mode!r}{at_user()}")
    fan = _fans(name, tensor)[mode == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan) if fan else 0.0


def _inverse_erf(y: Any) -> Any:
    """The inverse error function in float64: Winitzki's approximation (2008), then Newton's method."""
    a = 0.147
    edge = np.nextafter(1.0, 0.0)
    y = np.clip(y, -edge, edge)
    logarithm = np.log1p(-y * y)
    middle = 2 / (math.pi * a) + logarithm / 2
    x = np.copysign(np.sqrt(np.sqrt(middle * middle - logarithm / a) - middle), y)
    for _ in range(3):
        x = x - (erf(x) - y) * (math.sqrt(math.pi) / 2) * np.exp(x * x)
    return x


__getattr__ = hinted_module("adjoint.nn.init")
