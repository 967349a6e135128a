"""Activations as modules, so that they can stand in a Sequential.

`inplace` is taken for PyTorch's sake and changes nothing: tensors are values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from adjoint.tensors import Tensor
from adjoint.tensors.functions import full, variable
from adjoint.tensors.located import at_user

from . import functional
from .module import Module

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin",
    "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
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


class Softmin(Softmax):
    """Softmax of -x along the axis `dim`."""

    def forward(self, x: Tensor) -> Tensor:
        """The probabilities, of the input's shape."""
        return functional.softmin(x, self.dim)


class Softmax2d(Module):
    """Softmax over the channels of each pixel: (N, C, H, W) or (C, H, W)."""

    def forward(self, x: Tensor) -> Tensor:
        """The probabilities, of the input's shape. Raises ValueError for other shapes."""
        if x.ndim not in (3, 4):
            raise ValueError(f"Softmax2d: expected (N, C, H, W) or (C, H, W), got {x.shape}{at_user()}")
        return functional.softmax(x, -3)


class Hardsigmoid(InPlace):
    """`x / 6 + 1/2` limited to [0, 1]."""

    function = staticmethod(functional.hardsigmoid)

    def extra_repr(self) -> str:
        """Nothing, as PyTorch."""
        return ""


class Hardswish(Hardsigmoid):
    """`x * hardsigmoid(x)`."""

    function = staticmethod(functional.hardswish)


class Softsign(Elementwise):
    """`x / (1 + |x|)`."""

    function = staticmethod(functional.softsign)


class Tanhshrink(Elementwise):
    """`x - tanh(x)`."""

    function = staticmethod(functional.tanhshrink)


class Softshrink(Module):
    """x moved by `lambd` towards 0, and 0 where it is nearer."""

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return functional.softshrink(x, self.lambd)

    def extra_repr(self) -> str:
        """Its bound."""
        return str(self.lambd)


class Hardshrink(Module):
    """x, and 0 where it lies within ±`lambd`."""

    def __init__(self, lambd: float = 0.5) -> None:
        self.lambd = lambd

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return functional.hardshrink(x, self.lambd)

    def extra_repr(self) -> str:
        """Its bound."""
        return str(self.lambd)


class CELU(Module):
    """x where it is positive, else `alpha * (exp(x / alpha) - 1)`."""

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return functional.celu(x, self.alpha)

    def extra_repr(self) -> str:
        """Its factor."""
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class Threshold(Module):
    """x where it is above the threshold, else `value`."""

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return functional.threshold(x, self.threshold, self.value)

    def extra_repr(self) -> str:
        """Its options."""
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" if self.inplace else "")


class GLU(Module):
    """The first half of x along the axis `dim` times the sigmoid of the second."""

    def __init__(self, dim: int = -1) -> None:
        self.dim = dim

    def forward(self, x: Tensor) -> Tensor:
        """The output, half as long along the axis."""
        return functional.glu(x, self.dim)

    def extra_repr(self) -> str:
        """Its axis."""
        return f"dim={self.dim}"


class PReLU(Module):
    """x where it is positive, else `weight * x`, with one slope learned, or one for each of `num_parameters` channels."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        self.num_parameters = num_parameters
        self.init = init
        self.weight = variable(full(num_parameters, float(init), dtype=dtype))

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return functional.prelu(x, self.weight)

    def extra_repr(self) -> str:
        """How many slopes."""
        return f"num_parameters={self.num_parameters}"


class RReLU(Module):
    """x where it is positive, else x times a slope, random in training; see `functional.rrelu`."""

    def __init__(self, lower: float = 1 / 8, upper: float = 1 / 3, inplace: bool = False) -> None:
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, x: Tensor) -> Tensor:
        """The function of x, elementwise."""
        return functional.rrelu(x, self.lower, self.upper, self.training)

    def extra_repr(self) -> str:
        """Its bounds."""
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")
