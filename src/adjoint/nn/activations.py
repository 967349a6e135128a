"""Activations as modules, so that they can stand in a Sequential."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from adjoint.tensors import Tensor

from . import functional
from .module import Module

__all__ = ["GELU", "LogSoftmax", "ReLU", "SiLU", "Sigmoid", "Softmax", "Softplus", "Tanh"]


class Elementwise(Module):
    """What the activations without options share: a function of one tensor, of the input's shape."""

    function: ClassVar[Callable[..., Tensor]]

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return type(self).function(x)


class ReLU(Elementwise):
    """`max(x, 0)`; its derivative at 0 is 0."""

    function = staticmethod(functional.relu)


class Tanh(Elementwise):
    """The hyperbolic tangent."""

    function = staticmethod(functional.tanh)


class Sigmoid(Elementwise):
    """`1 / (1 + exp(-x))`."""

    function = staticmethod(functional.sigmoid)


class Softplus(Elementwise):
    """`log(1 + exp(x))`."""

    function = staticmethod(functional.softplus)


class SiLU(Elementwise):
    """`x * sigmoid(x)`; also called swish."""

    function = staticmethod(functional.silu)


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
