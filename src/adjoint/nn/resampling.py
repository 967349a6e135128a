"""Layers that change the size of images, and exchange channels and pixels."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.tensors import Tensor

from . import functional
from .functional.convolution import Sizes
from .module import Module

__all__ = [
    "ChannelShuffle", "Fold", "PixelShuffle", "PixelUnshuffle", "Unfold", "Upsample", "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]  # fmt: skip

Factors = float | Sequence[float]


class Upsample(Module):
    """The last axes of (N, C, ...) in another size, given as `size` or `scale_factor`; see `functional.interpolate`."""

    def __init__(
        self,
        size: int | Sequence[int] | None = None,
        scale_factor: Factors | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        self.size = size
        if isinstance(scale_factor, Sequence):
            scale_factor = tuple([float(f) for f in scale_factor])
        elif scale_factor is not None:
            scale_factor = float(scale_factor)
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, x: Tensor) -> Tensor:
        """The input in its new size."""
        return functional.interpolate(
            x, self.size, self.scale_factor, self.mode, self.align_corners, self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        """The size or the factor, and the mode."""
        given = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{given}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Images larger, by the nearest pixel: `Upsample` with the mode `"nearest"`."""

    def __init__(self, size: int | Sequence[int] | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Images larger, by the pixels around: `Upsample` with the mode `"bilinear"` and aligned corners."""

    def __init__(self, size: int | Sequence[int] | None = None, scale_factor: Factors | None = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)


class PixelShuffle(Module):
    """Channels become pixels: (..., C r², H, W) to (..., C, H r, W r); see `functional.pixel_shuffle`."""

    def __init__(self, upscale_factor: int) -> None:
        self.upscale_factor = upscale_factor

    def forward(self, x: Tensor) -> Tensor:
        """The larger images."""
        return functional.pixel_shuffle(x, self.upscale_factor)

    def extra_repr(self) -> str:
        """Its factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Pixels become channels: (..., C, H r, W r) to (..., C r², H, W); see `functional.pixel_unshuffle`."""

    def __init__(self, downscale_factor: int) -> None:
        self.downscale_factor = downscale_factor

    def forward(self, x: Tensor) -> Tensor:
        """The smaller images."""
        return functional.pixel_unshuffle(x, self.downscale_factor)

    def extra_repr(self) -> str:
        """Its factor."""
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """The channels of (N, C, ...) dealt out among groups; see `functional.channel_shuffle`."""

    def __init__(self, groups: int) -> None:
        self.groups = groups

    def forward(self, x: Tensor) -> Tensor:
        """The input with its channels in another order."""
        return functional.channel_shuffle(x, self.groups)

    def extra_repr(self) -> str:
        """How many groups."""
        return f"groups={self.groups}"


class Unfold(Module):
    """The windows of images as columns: (N, C, H, W) to (N, C kh kw, windows); see `functional.unfold`."""

    def __init__(self, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> None:
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """The columns."""
        return functional.unfold(x, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """Its sizes."""
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"


class Fold(Module):
    """Columns (N, C kh kw, windows) added up in images (N, C, *output_size): the adjoint of `Unfold`."""

    def __init__(
        self, output_size: Sizes, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1
    ) -> None:
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        """The images."""
        return functional.fold(x, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        """Its sizes."""
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )
