"""Convolution and its transpose, over signals, images and volumes."""

from __future__ import annotations

from adjoint.composites import convolution
from adjoint.tensors import Tensor

from .recording import node_of, optional, recorded

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]

Sizes = int | tuple[int, ...]


def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Signals (N, C, L) under kernels (O, C / groups, k), plus bias (O,): (N, O, length).

    `conv2d` over one axis; sizes are ints. One signal (C, L) will do.
    """
    options = (stride, padding, dilation, groups)
    return recorded("conv1d", convolution.convolve, 1, node_of(x), node_of(weight), optional(bias), *options)


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
    Raises ValueError when shapes don't fit, TypeError for other dtypes.
    """
    options = (stride, padding, dilation, groups)
    return recorded("conv2d", convolution.convolve, 2, node_of(x), node_of(weight), optional(bias), *options)


def conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes | str = 0,
    dilation: Sizes = 1,
    groups: int = 1,
) -> Tensor:
    """Volumes (N, C, D, H, W) under kernels (O, C / groups, kd, kh, kw), plus bias (O,): (N, O, depth, rows, columns).

    `conv2d` over three axes; sizes are ints or triples (depth, rows, columns). One volume (C, D, H, W) will do.
    """
    options = (stride, padding, dilation, groups)
    return recorded("conv3d", convolution.convolve, 3, node_of(x), node_of(weight), optional(bias), *options)


def conv_transpose1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """The adjoint of `conv1d`, as a layer: (N, C, L) under (C, O / groups, k) to (N, O, length).

    `conv_transpose2d` over one axis; sizes are ints.
    """
    options = (stride, padding, output_padding, groups, dilation)
    return recorded("conv_transpose1d", convolution.transpose, 1, node_of(x), node_of(weight), optional(bias), *options)


def conv_transpose2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """The adjoint of `conv2d` in its images, as a layer: (N, C, H, W) under (C, O / groups, kh, kw) to (N, O, rows, columns).

    Every pixel is spread over a window times its weights, windows `stride` apart: there are
    `(H - 1)*stride - 2*padding + dilation*(kh - 1) + output_padding + 1` rows. `padding` takes rows and columns away on all
    sides, `output_padding`, smaller than stride or dilation, adds some at the end, which a convolution with this stride
    couldn't tell apart. Bias (O,), sizes, groups and dtypes as for `conv2d`. Raises ValueError when shapes don't fit.
    """
    options = (stride, padding, output_padding, groups, dilation)
    return recorded("conv_transpose2d", convolution.transpose, 2, node_of(x), node_of(weight), optional(bias), *options)


def conv_transpose3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: int = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """The adjoint of `conv3d`, as a layer: (N, C, D, H, W) under (C, O / groups, kd, kh, kw) to (N, O, depth, rows, columns).

    `conv_transpose2d` over three axes; sizes are ints or triples (depth, rows, columns).
    """
    options = (stride, padding, output_padding, groups, dilation)
    return recorded("conv_transpose3d", convolution.transpose, 3, node_of(x), node_of(weight), optional(bias), *options)
