"""Activations as modules, so that they can stand in a Sequential.

`inplace` is taken for PyTorch's sake and changes nothing: tensors are values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from adjoint.tensors import Tensor

from . import functional
from .module import Module

__all__ = [
    "ELU", "GELU", "Hardtanh", "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid",
    "Softmax", "Softplus", "Tanh",
]  # fmt: skip


class Elementwise(Module):
    """What the activations without options share: a function of one tensor, of the input's shape."""

    function: ClassVar[Callable[..., Tensor]]

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return type(self).function(x)


class InPlace(Elementwise):
    """Those that PyTorch can compute in place."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Whether PyTorch would work in place."""
        return "inplace=True" if self.inplace else ""


class Tanh(Elementwise):
    """The hyperbolic tangent."""

    function = staticmethod(functional.tanh)


class Sigmoid(Elementwise):
    """`1 / (1 + exp(-x))`."""

    function = staticmethod(functional.sigmoid)


class LogSigmoid(Elementwise):
    """The logarithm of the sigmoid, without overflow."""

    function = staticmethod(functional.logsigmoid)


class ReLU(InPlace):
    """`max(x, 0)`; its derivative at 0 is 0."""

    function = staticmethod(functional.relu)


class SiLU(InPlace):
    """`x * sigmoid(x)`; also called swish."""

    function = staticmethod(functional.silu)


class Mish(InPlace):
    """`x * tanh(softplus(x))`."""

    function = staticmethod(functional.mish)


class SELU(InPlace):
    """`elu` with the constants that keep mean 0 and variance 1 through the layers."""

    function = staticmethod(functional.selu)


class LeakyReLU(Module):
    """x where it is positive, else `negative_slope * x`."""

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return functional.leaky_relu(x, self.negative_slope)

    def extra_repr(self) -> str:
        """Its slope."""
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class ELU(Module):
    """x where it is positive, else `alpha * (exp(x) - 1)`."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return functional.elu(x, self.alpha)

    def extra_repr(self) -> str:
        """Its factor."""
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class Hardtanh(Module):
    """x limited to [min_val, max_val]; its derivative at the bounds is 1, as that of `clip`."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return functional.hardtanh(x, self.min_val, self.max_val)

    def extra_repr(self) -> str:
        """Its bounds."""
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class ReLU6(Hardtanh):
    """x limited to [0, 6]."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        """Whether PyTorch would work in place."""
        return "inplace=True" if self.inplace else ""


class Softplus(Module):
    """`log(1 + exp(beta*x)) / beta`, and x itself where `beta*x` is above a threshold below 20."""

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        self.beta = beta
        self.threshold = threshold

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return functional.softplus(x, self.beta, self.threshold)

    def extra_repr(self) -> str:
        """Its options."""
        return f"beta={self.beta}, threshold={self.threshold}"


class GELU(Module):
    """`x` times the normal distribution's cumulative probability at x; `approximate` is `"none"` or `"tanh"`."""

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return functional.gelu(x, self.approximate)

    def extra_repr(self) -> str:
        """Which formula it takes."""
        return f"approximate={self.approximate!r}"


class Softmax(Module):
    """`exp(x) / sum(exp(x))` along the axis `dim`."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        """The probabilities, of the input's shape."""
        return functional.softmax(x, self.dim)

    def extra_repr(self) -> str:
        """Its axis."""
        return f"dim={self.dim}"


class LogSoftmax(Softmax):
    """The logarithm of softmax along the axis `dim`, without overflow."""

    def forward(self, x: Tensor) -> Tensor:
        """The logarithms of the probabilities, of the input's shape."""
        return functional.log_softmax(x, self.dim)
