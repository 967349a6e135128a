"""Convolution and pooling of images."""

from __future__ import annotations

from typing import Literal, overload

from adjoint.composites import images
from adjoint.tensors import Tensor

from .recording import node_of, optional, recorded

__all__ = ["adaptive_avg_pool2d", "avg_pool2d", "conv2d", "max_pool2d"]

Sizes = int | tuple[int, int]


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Images (N, C, H, W) under kernels (O, C / groups, kh, kw), plus bias (O,): (N, O, rows, columns).

    Output pixel (i, j) sums the weights (a, b) times the pixels (i*stride + a*dilation - padding, ...), zeros outside; the
    kernels aren't flipped. There are `⌊(H + 2*padding - dilation*(kh - 1) - 1) / stride⌋ + 1` rows. Sizes are ints or pairs
    (rows, columns); `padding` may be `"valid"`, none, or `"same"`, as many rows as there were, with stride 1. With groups,
    the channels are that many separate convolutions side by side. One image (C, H, W) will do. float32 or float64.
    Raises ValueError when shapes don't fit.
    """
    return recorded(
        "conv2d", images.conv2d, node_of(x), node_of(weight), optional(bias), stride, padding, dilation, groups
    )


@overload
def max_pool2d(
    x: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
    ceil_mode: bool = False, return_indices: Literal[False] = False,
) -> Tensor: ...  # fmt: skip
@overload
def max_pool2d(
    x: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
    ceil_mode: bool = False, *, return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
@overload
def max_pool2d(
    x: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]: ...  # fmt: skip
def max_pool2d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest pixel of each window: (N, C, H, W) to (N, C, rows, columns); one image (C, H, W) will do.

    Windows lie `stride` apart (by default side by side); what lies in the padding, at most half a window, is never the
    largest. With `ceil_mode`, windows that reach outside count too. A NaN is larger than any number. The gradient goes to
    the first of equal pixels. `return_indices` gives their numbers in the flattened image as well, int64.
    Raises ValueError when no window fits.
    """
    options = (kernel_size, stride, padding, dilation, ceil_mode)
    largest = recorded("max_pool2d", images.max_pool2d, node_of(x), *options)
    if not return_indices:
        return largest
    return largest, recorded("max_pool2d", images.max_pool2d_indices, node_of(x), *options)


def avg_pool2d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window: (N, C, H, W) to (N, C, rows, columns); one image (C, H, W) will do.

    Windows lie `stride` apart (by default side by side), among zeros of `padding`, which count into the mean unless
    `count_include_pad` is False. With `ceil_mode`, windows that reach outside count too. `divisor_override` replaces the
    number that sums are divided by. Raises ValueError when no window fits.
    """
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return recorded("avg_pool2d", images.avg_pool2d, node_of(x), *options)


def adaptive_avg_pool2d(x: Tensor, output_size: Sizes | tuple[int | None, int | None]) -> Tensor:
    """Means over `output_size` windows that cover the image evenly: (N, C, H, W) to (N, C, *output_size).

    Window i of m over n pixels goes from ⌊i·n/m⌋ to ⌈(i+1)·n/m⌉; None keeps an axis as it is. One image (C, H, W) will do.
    """
    return recorded("adaptive_avg_pool2d", images.adaptive_avg_pool2d, node_of(x), output_size)
