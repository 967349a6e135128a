"""Convolution layers over signals, images and volumes, and their transposes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from adjoint import random
from adjoint.composites.convolution import output_extents, paddings
from adjoint.composites.windows import sizes_of
from adjoint.tensors import Tensor
from adjoint.tensors.functions import variable
from adjoint.tensors.located import at_user

from . import functional
from .functional.convolution import Sizes
from .functional.resampling import PADDINGS
from .module import Module, whole

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

PADDING_MODES = ("zeros", *PADDINGS[1:])


class _Convolution(Module):
    """What they share: channels, windows, and the first values of weight and bias."""

    rank: ClassVar[int]
    transposed: ClassVar[bool] = False

    def _set(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, dilation: Any, groups: int,
        bias: bool, padding_mode: str, dtype: Any,
    ) -> None:  # fmt: skip
        name, rank = type(self).__name__, self.rank
        whole(name, in_channels=in_channels, out_channels=out_channels, groups=groups)
        modes = ("zeros",) if self.transposed else PADDING_MODES
        if padding_mode not in modes:
            raise ValueError(f"{name}: padding_mode is one of {', '.join(modes)}; not {padding_mode!r}{at_user()}")
        if groups < 1 or in_channels < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{name}: {in_channels} to {out_channels} channels don't divide into {groups} groups{at_user()}"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = sizes_of(name, "kernel_size", kernel_size, rank)
        self.stride = sizes_of(name, "stride", stride, rank)
        self.dilation = sizes_of(name, "dilation", dilation, rank)
        self.groups = groups
        self.padding_mode = padding_mode
        first, second = (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        shape = (first, second // groups, *self.kernel_size)
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        self.weight = variable(random.uniform(shape, -bound, bound, dtype=dtype))
        self.bias = variable(random.uniform((out_channels,), -bound, bound, dtype=dtype)) if bias else None

    padding: tuple[int, ...] | str
    output_padding: tuple[int, ...]

    def extra_repr(self) -> str:
        """Its sizes and what differs from the defaults, as PyTorch shows them."""
        zeros, ones = (0,) * self.rank, (1,) * self.rank
        shown = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        if self.padding != zeros:
            shown.append(f"padding={self.padding if isinstance(self.padding, tuple) else repr(self.padding)[1:-1]}")
        if self.dilation != ones:
            shown.append(f"dilation={self.dilation}")
        if self.transposed and self.output_padding != zeros:
            shown.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            shown.append(f"groups={self.groups}")
        if self.bias is None:
            shown.append("bias=False")
        if self.padding_mode != "zeros":
            shown.append(f"padding_mode={self.padding_mode}")
        return ", ".join(shown)


class Convolution(_Convolution):
    """Convolution layers; they differ in the number of axes."""

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
        self._set(in_channels, out_channels, kernel_size, stride, dilation, groups, bias, padding_mode, dtype)
        name = type(self).__name__
        self.padding = padding if isinstance(padding, str) else sizes_of(name, "padding", padding, self.rank, 0)
        around = paddings(name, padding, self.kernel_size, self.stride, self.dilation)  # raises for what can't be
        self._around = [n for pair in reversed(around) for n in pair]

    def forward(self, x: Tensor) -> Tensor:
        """The output (N, out_channels, ...) for the input (N, in_channels, ...), or of one example without N."""
        convolve = getattr(functional, f"conv{self.rank}d")
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            x, padding = functional.pad(x, self._around, self.padding_mode), 0
        y: Tensor = convolve(x, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)
        return y


class Conv1d(Convolution):
    """Convolution of signals: (N, in_channels, L) to (N, out_channels, length); see `Conv2d`, and `functional.conv1d`."""

    rank = 1


class Conv2d(Convolution):
    """Convolution: (N, in_channels, H, W) to (N, out_channels, rows, columns); see `functional.conv2d`.

    Sizes are ints or pairs (rows, columns); `padding` may be `"same"` or `"valid"`. Around are zeros, or what `padding_mode`
    says: `"reflect"`, `"replicate"` or `"circular"`. `weight` (out_channels, in_channels / groups, rows, columns) and `bias`
    (out_channels,) start uniform within ±1/√n, where n pixels go into an output, drawn from the default generator
    (`ad.random.seed`), as PyTorch's do.
    """

    rank = 2


class Conv3d(Convolution):
    """Convolution of volumes: (N, in_channels, D, H, W) to (N, out_channels, depth, rows, columns); see `Conv2d`."""

    rank = 3


class TransposedConvolution(_Convolution):
    """Transposed convolution layers; they differ in the number of axes."""

    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:
        self._set(in_channels, out_channels, kernel_size, stride, dilation, groups, bias, padding_mode, dtype)
        name = type(self).__name__
        self.padding: tuple[int, ...] = sizes_of(name, "padding", padding, self.rank, 0)
        self.output_padding = sizes_of(name, "output_padding", output_padding, self.rank, 0)

    def forward(self, x: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """The output (N, out_channels, ...) for the input (N, in_channels, ...), or of one example without N.

        `output_size`, its last axes or all, takes the place of `output_padding`. Raises ValueError for one that can't be.
        """
        spread = getattr(functional, f"conv_transpose{self.rank}d")
        beyond = self.output_padding if output_size is None else self._beyond(x, tuple(output_size))
        y: Tensor = spread(x, self.weight, self.bias, self.stride, self.padding, beyond, self.groups, self.dilation)
        return y

    def _beyond(self, x: Tensor, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """The output_padding that leads to a size."""
        given = x.shape[-self.rank :]
        least = output_extents(given, self.kernel_size, self.stride, self.padding, self.dilation)
        if len(wanted) not in (self.rank, x.ndim):
            raise ValueError(f"{self!r}: output_size {wanted} doesn't fit the input's shape {x.shape}{at_user()}")
        beyond = tuple([n - m for n, m in zip(wanted[-self.rank :], least, strict=True)])
        if any(not 0 <= n < s for n, s in zip(beyond, self.stride, strict=True)):
            raise ValueError(
                f"{self!r}: output_size {wanted} is not within the stride {self.stride} above {least}{at_user()}"
            )
        return beyond


class ConvTranspose1d(TransposedConvolution):
    """Transposed convolution of signals: (N, in_channels, L) to (N, out_channels, length); see `ConvTranspose2d`."""

    rank = 1


class ConvTranspose2d(TransposedConvolution):
    """Transposed convolution: (N, in_channels, H, W) to (N, out_channels, rows, columns); see `functional.conv_transpose2d`.

    With a stride it makes images larger. `weight` (in_channels, out_channels / groups, rows, columns) and `bias`
    (out_channels,) start uniform within ±1/√n, n = out_channels / groups * rows * columns, as PyTorch's do.
    """

    rank = 2


class ConvTranspose3d(TransposedConvolution):
    """Transposed convolution of volumes: (N, in_channels, D, H, W) to (N, out_channels, ...); see `ConvTranspose2d`."""

    rank = 3
