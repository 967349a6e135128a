"""Pooling of signals, images and volumes."""

from __future__ import annotations

import math
from typing import Any, Literal, overload

from adjoint import random
from adjoint.composites import pooling
from adjoint.primitives.core import cast, ops
from adjoint.tensors import Tensor
from adjoint.tensors.shaping import flip

from .convolution import Sizes
from .recording import node_of, recorded, scope, tensor_of

__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "fractional_max_pool2d", "fractional_max_pool3d",
    "lp_pool1d", "lp_pool2d", "lp_pool3d", "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d",
    "max_unpool3d",
]  # fmt: skip

Fitted = int | None | tuple[int | None, ...]


def _max_pool(rank: int, x: Tensor, options: tuple[Any, ...], return_indices: bool) -> Any:
    name, node = f"max_pool{rank}d", node_of(x)
    largest = recorded(name, pooling.max_pool, rank, node, *options)
    if not return_indices:
        return largest
    return largest, recorded(name, pooling.max_pool_indices, rank, node, *options)


def _adaptive_max_pool(rank: int, x: Tensor, output_size: Fitted, return_indices: bool) -> Any:
    node = node_of(x)
    with scope(f"adaptive_max_pool{rank}d", node):
        largest, places = pooling.adaptive_max_pool(rank, node, output_size)
        return (tensor_of(largest), tensor_of(places)) if return_indices else tensor_of(largest)


@overload
def max_pool1d(
    x: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
    ceil_mode: bool = False, return_indices: Literal[False] = False,
) -> Tensor: ...  # fmt: skip
@overload
def max_pool1d(
    x: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
    ceil_mode: bool = False, *, return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
@overload
def max_pool1d(
    x: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]: ...  # fmt: skip
def max_pool1d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window: (N, C, L) to (N, C, length); see `max_pool2d`."""
    found: Tensor | tuple[Tensor, Tensor] = _max_pool(
        1, x, (kernel_size, stride, padding, dilation, ceil_mode), return_indices
    )
    return found


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
    found: Tensor | tuple[Tensor, Tensor] = _max_pool(
        2, x, (kernel_size, stride, padding, dilation, ceil_mode), return_indices
    )
    return found


@overload
def max_pool3d(
    x: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
    ceil_mode: bool = False, return_indices: Literal[False] = False,
) -> Tensor: ...  # fmt: skip
@overload
def max_pool3d(
    x: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
    ceil_mode: bool = False, *, return_indices: Literal[True],
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
@overload
def max_pool3d(
    x: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0, dilation: Sizes = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]: ...  # fmt: skip
def max_pool3d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest element of each window: (N, C, D, H, W) to (N, C, depth, rows, columns); see `max_pool2d`."""
    found: Tensor | tuple[Tensor, Tensor] = _max_pool(
        3, x, (kernel_size, stride, padding, dilation, ceil_mode), return_indices
    )
    return found


def avg_pool1d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """The mean of each window: (N, C, L) to (N, C, length); see `avg_pool2d`."""
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad, None)
    return recorded("avg_pool1d", pooling.avg_pool, 1, node_of(x), *options)


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
    return recorded("avg_pool2d", pooling.avg_pool, 2, node_of(x), *options)


def avg_pool3d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """The mean of each window: (N, C, D, H, W) to (N, C, depth, rows, columns); see `avg_pool2d`."""
    options = (kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return recorded("avg_pool3d", pooling.avg_pool, 3, node_of(x), *options)


def lp_pool1d(
    x: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """`(Σ x^p)^(1/p)` over each window, p = `norm_type`: (N, C, L) to (N, C, length); see `lp_pool2d`."""
    return recorded("lp_pool1d", pooling.lp_pool, 1, node_of(x), norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    x: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """`(Σ x^p)^(1/p)` over each window, p = `norm_type`: (N, C, H, W) to (N, C, rows, columns); one image will do.

    Windows lie `stride` apart (by default side by side); with p = 1 that is their sum, for p = ∞ take `max_pool2d`. With
    `ceil_mode`, windows that reach outside count too. Raises ValueError when no window fits.
    """
    return recorded("lp_pool2d", pooling.lp_pool, 2, node_of(x), norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    x: Tensor, norm_type: float, kernel_size: Sizes, stride: Sizes | None = None, ceil_mode: bool = False
) -> Tensor:
    """`(Σ x^p)^(1/p)` over each window, p = `norm_type`: (N, C, D, H, W) to (N, C, depth, rows, columns); see `lp_pool2d`."""
    return recorded("lp_pool3d", pooling.lp_pool, 3, node_of(x), norm_type, kernel_size, stride, ceil_mode)


def adaptive_avg_pool1d(x: Tensor, output_size: Fitted) -> Tensor:
    """Means over `output_size` windows that cover the signal evenly: see `adaptive_avg_pool2d`."""
    return recorded("adaptive_avg_pool1d", pooling.adaptive_avg_pool, 1, node_of(x), output_size)


def adaptive_avg_pool2d(x: Tensor, output_size: Fitted) -> Tensor:
    """Means over `output_size` windows that cover the image evenly: (N, C, H, W) to (N, C, *output_size).

    Window i of m over n pixels goes from ⌊i·n/m⌋ to ⌈(i+1)·n/m⌉; None keeps an axis as it is. One image (C, H, W) will do.
    """
    return recorded("adaptive_avg_pool2d", pooling.adaptive_avg_pool, 2, node_of(x), output_size)


def adaptive_avg_pool3d(x: Tensor, output_size: Fitted) -> Tensor:
    """Means over `output_size` windows that cover the volume evenly: see `adaptive_avg_pool2d`."""
    return recorded("adaptive_avg_pool3d", pooling.adaptive_avg_pool, 3, node_of(x), output_size)


def adaptive_max_pool1d(x: Tensor, output_size: Fitted, return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest of each of `output_size` windows that cover the signal evenly: see `adaptive_max_pool2d`."""
    found: Tensor | tuple[Tensor, Tensor] = _adaptive_max_pool(1, x, output_size, return_indices)
    return found


def adaptive_max_pool2d(x: Tensor, output_size: Fitted, return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest pixel of each of `output_size` windows that cover the image evenly: (N, C, H, W) to (N, C, *output_size).

    Windows as in `adaptive_avg_pool2d`. `return_indices` gives the numbers of these pixels in the flattened image as well.
    """
    found: Tensor | tuple[Tensor, Tensor] = _adaptive_max_pool(2, x, output_size, return_indices)
    return found


def adaptive_max_pool3d(x: Tensor, output_size: Fitted, return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The largest of each of `output_size` windows that cover the volume evenly: see `adaptive_max_pool2d`."""
    found: Tensor | tuple[Tensor, Tensor] = _adaptive_max_pool(3, x, output_size, return_indices)
    return found


def max_unpool1d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: tuple[int, ...] | None = None,
) -> Tensor:
    """Zeros with each number put where `max_pool1d` found it; see `max_unpool2d`."""
    options = (kernel_size, stride, padding, output_size)
    return recorded("max_unpool1d", pooling.max_unpool, 1, node_of(x), node_of(indices), *options)


def max_unpool2d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: tuple[int, ...] | None = None,
) -> Tensor:
    """Zeros with each number put where `max_pool2d` found it: (N, C, rows, columns) to (N, C, H, W).

    `indices` are those of `max_pool2d(..., return_indices=True)` with these windows. Where its image's size can't be told
    from the number of windows, `output_size` gives it. Raises ValueError when shapes don't fit, IndexError for a position
    outside.
    """
    options = (kernel_size, stride, padding, output_size)
    return recorded("max_unpool2d", pooling.max_unpool, 2, node_of(x), node_of(indices), *options)


def max_unpool3d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Sizes,
    stride: Sizes | None = None,
    padding: Sizes = 0,
    output_size: tuple[int, ...] | None = None,
) -> Tensor:
    """Zeros with each number put where `max_pool3d` found it; see `max_unpool2d`."""
    options = (kernel_size, stride, padding, output_size)
    return recorded("max_unpool3d", pooling.max_unpool, 3, node_of(x), node_of(indices), *options)


def _fractional_max_pool(
    rank: int, x: Tensor, kernel_size: Sizes, output_size: Any, output_ratio: Any, return_indices: bool, samples: Any
) -> Any:
    node = node_of(x)
    with scope(f"fractional_max_pool{rank}d", node):
        sizes, counts = pooling.fractional_sizes(rank, node, kernel_size, output_size, output_ratio)
        lead = node.shape[:-rank]
        if samples is None:
            samples = random.uniform((*lead, rank), dtype=node.dtype)
        given = cast(node_of(samples), node.dtype)
        if math.prod(given.shape) != math.prod(lead) * rank:
            raise ValueError(
                f"fractional_max_pool{rank}d: samples of shape {given.shape} given, {(*lead, rank)} are needed"
            )
        largest, places = pooling.fractional_max_pool(node, ops.reshape(given, (*lead, rank)), sizes, counts)
        return (tensor_of(largest), tensor_of(places)) if return_indices else tensor_of(largest)


def fractional_max_pool2d(
    x: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | tuple[float, ...] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest of windows at random distances: (N, C, H, W) to (N, C, *output_size); one image (C, H, W) will do.

    There are `output_size` windows along each axis, or `output_ratio` (between 0 and 1) times as many as there are pixels. The
    first begins with the first pixel, the last ends with the last one, and those between lie where numbers of [0, 1) say, two
    for each channel, `_random_samples` (N, C, 2) or drawn from the default generator. `return_indices` gives where the maxima are
    in the flattened image as well, int64. Raises ValueError where the windows don't fit. (B. Graham, "Fractional
    max-pooling", 2014.)
    """
    samples = (
        _random_samples if _random_samples is None else flip(_random_samples, axis=-1)
    )  # columns come first in them
    found: Tensor | tuple[Tensor, Tensor] = _fractional_max_pool(
        2, x, kernel_size, output_size, output_ratio, return_indices, samples
    )
    return found


def fractional_max_pool3d(
    x: Tensor,
    kernel_size: Sizes,
    output_size: Sizes | None = None,
    output_ratio: float | tuple[float, ...] | None = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """The largest of windows at random distances: (N, C, D, H, W) to (N, C, *output_size); see `fractional_max_pool2d`.
    `_random_samples` has the shape (N, C, 3)."""
    found: Tensor | tuple[Tensor, Tensor] = _fractional_max_pool(
        3, x, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return found
