"""Layers for images: convolution and pooling."""

from __future__ import annotations

import math
from typing import Any

from adjoint import random
from adjoint.composites.images import paddings, pair
from adjoint.tensors import Tensor
from adjoint.tensors.functions import variable
from adjoint.tensors.located import at_user

from . import functional
from .functional.images import Sizes
from .module import Module

__all__ = ["AdaptiveAvgPool2d", "AvgPool2d", "Conv2d", "MaxPool2d"]


class Conv2d(Module):
    """Convolution: (N, in_channels, H, W) to (N, out_channels, rows, columns); see `functional.conv2d`.

    Sizes are ints or pairs (rows, columns); `padding` may be `"same"` or `"valid"`, with zeros (`padding_mode` has no
    other here). `weight` (out_channels, in_channels / groups, rows, columns) and `bias` (out_channels,) start uniform
    within ±1/√n, where n pixels go into an output, drawn from the default generator (`ad.random.seed`), as PyTorch's do.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:
        name = "Conv2d"
        if padding_mode != "zeros":
            raise ValueError(
                f"{name}: padding_mode is 'zeros', not {padding_mode!r}; other kinds: pad the input{at_user()}"
            )
        if groups < 1 or in_channels < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{name}: {in_channels} to {out_channels} channels don't divide into {groups} groups{at_user()}"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = pair(name, "kernel_size", kernel_size)
        self.stride = pair(name, "stride", stride)
        self.dilation = pair(name, "dilation", dilation)
        self.padding = padding if isinstance(padding, str) else pair(name, "padding", padding, 0)
        paddings(name, padding, self.kernel_size, self.stride, self.dilation)  # raises for what can't be
        self.groups = groups
        self.padding_mode = padding_mode
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        self.weight = variable(random.uniform(shape, -bound, bound, dtype=dtype))
        self.bias = variable(random.uniform((out_channels,), -bound, bound, dtype=dtype)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """The output (N, out_channels, rows, columns) for images (N, in_channels, H, W), or of one without N."""
        return functional.conv2d(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        """Its sizes and what differs from the defaults, as PyTorch shows them."""
        shown = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        if self.padding != (0, 0):
            shown.append(f"padding={self.padding}")
        if self.dilation != (1, 1):
            shown.append(f"dilation={self.dilation}")
        if self.groups != 1:
            shown.append(f"groups={self.groups}")
        if self.bias is None:
            shown.append("bias=False")
        return ", ".join(shown)


class MaxPool2d(Module):
    """The largest pixel of each window, `stride` apart (by default side by side); see `functional.max_pool2d`."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """The output (N, C, rows, columns) for images (N, C, H, W); with `return_indices`, where it comes from too."""
        return functional.max_pool2d(
            x, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices
        )

    def extra_repr(self) -> str:
        """Its options."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class AvgPool2d(Module):
    """The mean of each window, `stride` apart (by default side by side); see `functional.avg_pool2d`."""

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, x: Tensor) -> Tensor:
        """The output (N, C, rows, columns) for images (N, C, H, W)."""
        return functional.avg_pool2d(
            x,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        """Its sizes, as PyTorch shows them."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AdaptiveAvgPool2d(Module):
    """Means over `output_size` windows that cover the image evenly; None keeps an axis."""

    def __init__(self, output_size: Sizes | tuple[int | None, int | None]) -> None:
        self.output_size = output_size

    def forward(self, x: Tensor) -> Tensor:
        """The output (N, C, *output_size) for images (N, C, H, W)."""
        return functional.adaptive_avg_pool2d(x, self.output_size)

    def extra_repr(self) -> str:
        """Its output's size."""
        return f"output_size={self.output_size}"
