"""Pooling layers over signals, images and volumes."""

from __future__ import annotations

from typing import Any, ClassVar

from adjoint.tensors import Tensor
from adjoint.tensors.located import at_user

from . import functional
from .functional.convolution import Sizes
from .functional.pooling import Fitted
from .module import Module

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d",
    "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip


class _Pooling(Module):
    """What they share: over how many axes they go."""

    rank: ClassVar[int]

    def _of(self, name: str, *arguments: Any) -> Any:
        return getattr(functional, f"{name}{self.rank}d")(*arguments)

    def _as_tuple(self, sizes: Sizes) -> Sizes:
        """Sizes of signals are shown as tuples of one."""
        return (sizes,) if self.rank == 1 and isinstance(sizes, int) else sizes


class _MaxPool(_Pooling):
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
        """The output (N, C, ...) for the input (N, C, ...); with `return_indices`, where it comes from too."""
        options = (self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode, self.return_indices)
        found: Tensor | tuple[Tensor, Tensor] = self._of("max_pool", x, *options)
        return found

    def extra_repr(self) -> str:
        """Its options."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class _AvgPool(_Pooling):
    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        self.kernel_size = self._as_tuple(kernel_size)
        self.stride = self._as_tuple(kernel_size if stride is None else stride)
        self.padding = self._as_tuple(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, x: Tensor) -> Tensor:
        """The output (N, C, ...) for the input (N, C, ...)."""
        options: list[Any] = [self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad]
        if self.rank > 1:
            options.append(self.divisor_override)
        found: Tensor = self._of("avg_pool", x, *options)
        return found

    def extra_repr(self) -> str:
        """Its sizes, as PyTorch shows them."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _LPPool(_Pooling):
    def __init__(
        self, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
    ) -> None:
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, x: Tensor) -> Tensor:
        """The output (N, C, ...) for the input (N, C, ...)."""
        found: Tensor = self._of("lp_pool", x, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
        return found

    def extra_repr(self) -> str:
        """Its options."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class _AdaptiveAvgPool(_Pooling):
    def __init__(self, output_size: Fitted) -> None:
        self.output_size = output_size

    def forward(self, x: Tensor) -> Tensor:
        """The output (N, C, *output_size) for the input (N, C, ...)."""
        found: Tensor = self._of("adaptive_avg_pool", x, self.output_size)
        return found

    def extra_repr(self) -> str:
        """Its output's size."""
        return f"output_size={self.output_size}"


class _AdaptiveMaxPool(_Pooling):
    def __init__(self, output_size: Fitted, return_indices: bool = False) -> None:
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """The output (N, C, *output_size) for the input (N, C, ...); with `return_indices`, where it comes from too."""
        found: Tensor | tuple[Tensor, Tensor] = self._of("adaptive_max_pool", x, self.output_size, self.return_indices)
        return found

    def extra_repr(self) -> str:
        """Its output's size."""
        return f"output_size={self.output_size}"


class _FractionalMaxPool(_Pooling):
    _random_samples: Tensor | None

    def __init__(
        self,
        kernel_size: Sizes,
        output_size: Sizes | None = None,
        output_ratio: float | tuple[float, ...] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{type(self).__name__}: give one of output_size and output_ratio{at_user()}")
        self.kernel_size = kernel_size
        self.output_size = output_size
        self.output_ratio = output_ratio
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor, Tensor]:
        """The output (N, C, *output_size) for the input (N, C, ...); with `return_indices`, where it comes from too."""
        options = (self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples)
        found: Tensor | tuple[Tensor, Tensor] = self._of("fractional_max_pool", x, *options)
        return found


class _MaxUnpool(_Pooling):
    def __init__(self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0) -> None:
        self.kernel_size = self._each(kernel_size)
        self.stride = self._each(kernel_size if stride is None else stride)
        self.padding = self._each(padding)

    def _each(self, sizes: Sizes) -> tuple[int, ...]:
        return (sizes,) * self.rank if isinstance(sizes, int) else tuple(sizes)

    def forward(self, x: Tensor, indices: Tensor, output_size: tuple[int, ...] | None = None) -> Tensor:
        """Zeros (N, C, ...) with each number of x put where the indices say."""
        options = (self.kernel_size, self.stride, self.padding, output_size)
        found: Tensor = self._of("max_unpool", x, indices, *options)
        return found

    def extra_repr(self) -> str:
        """Its sizes."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxPool1d(_MaxPool):
    """The largest element of each window, of signals (N, C, L); see `functional.max_pool1d`."""

    rank = 1


class MaxPool2d(_MaxPool):
    """The largest pixel of each window, `stride` apart (by default side by side); see `functional.max_pool2d`."""

    rank = 2


class MaxPool3d(_MaxPool):
    """The largest element of each window, of volumes (N, C, D, H, W); see `functional.max_pool3d`."""

    rank = 3


class AvgPool1d(_AvgPool):
    """The mean of each window, of signals (N, C, L); see `functional.avg_pool1d`."""

    rank = 1

    def __init__(
        self,
        kernel_size: Sizes,
        stride: Sizes | None = None,
        padding: Sizes = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)


class AvgPool2d(_AvgPool):
    """The mean of each window, `stride` apart (by default side by side); see `functional.avg_pool2d`."""

    rank = 2


class AvgPool3d(_AvgPool):
    """The mean of each window, of volumes (N, C, D, H, W); see `functional.avg_pool3d`."""

    rank = 3


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest of windows at random distances, of images (N, C, H, W); see `functional.fractional_max_pool2d`."""

    rank = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """The largest of windows at random distances, of volumes (N, C, D, H, W); see `functional.fractional_max_pool3d`."""

    rank = 3


class LPPool1d(_LPPool):
    """The norm of each window, `(Σ x^p)^(1/p)`, of signals (N, C, L); see `functional.lp_pool1d`."""

    rank = 1


class LPPool2d(_LPPool):
    """The norm of each window, `(Σ x^p)^(1/p)`, of images (N, C, H, W); see `functional.lp_pool2d`."""

    rank = 2


class LPPool3d(_LPPool):
    """The norm of each window, `(Σ x^p)^(1/p)`, of volumes (N, C, D, H, W); see `functional.lp_pool3d`."""

    rank = 3


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """Means over windows that cover the input evenly, of signals (N, C, L); see `functional.adaptive_avg_pool1d`."""

    rank = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """Means over `output_size` windows that cover the image evenly; None keeps an axis."""

    rank = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """Means over windows that cover the input evenly, of volumes (N, C, D, H, W); see `functional.adaptive_avg_pool3d`."""

    rank = 3


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest of windows that cover the input evenly, of signals (N, C, L); see `functional.adaptive_max_pool1d`."""

    rank = 1


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest of windows that cover the input evenly, of images (N, C, H, W); see `functional.adaptive_max_pool2d`."""

    rank = 2


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest of windows that cover the input evenly, of volumes (N, C, D, H, W); see `functional.adaptive_max_pool3d`."""

    rank = 3


class MaxUnpool1d(_MaxUnpool):
    """Zeros with each number put where the largest was, of signals (N, C, L); see `functional.max_unpool1d`."""

    rank = 1


class MaxUnpool2d(_MaxUnpool):
    """Zeros with each number put where the largest was, of images (N, C, H, W); see `functional.max_unpool2d`."""

    rank = 2


class MaxUnpool3d(_MaxUnpool):
    """Zeros with each number put where the largest was, of volumes (N, C, D, H, W); see `functional.max_unpool3d`."""

    rank = 3
