"""Images in other sizes, at other points, with channels for pixels; padding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from adjoint.composites import padding, pooling, resampling, shaping
from adjoint.tensors import Tensor
from adjoint.tensors.located import at_user

from .convolution import Sizes
from .recording import node_of, recorded

__all__ = [
    "affine_grid", "channel_shuffle", "fold", "grid_sample", "interpolate", "pad", "pixel_shuffle", "pixel_unshuffle",
    "unfold",
]  # fmt: skip

RANKS = {"linear": (1,), "bilinear": (2,), "bicubic": (2,), "trilinear": (3,)}
PADDINGS = ("constant", "reflect", "replicate", "circular")


def interpolate(
    x: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """x (N, C, ...) with its last one, two or three axes in another size: `size`, or ⌊`scale_factor` times theirs⌋.

    `mode` is `"nearest"`, `"nearest-exact"` or `"area"` (means) for any of them, `"linear"` for one axis, `"bilinear"` or
    `"bicubic"` (R. Keys, 1981) for two, `"trilinear"` for three. Pixels are squares whose outer edges coincide before and
    after; with `align_corners` the centres of the outer ones do. `antialias` widens the kernel of `"bilinear"` and
    `"bicubic"` where an image becomes smaller, as Pillow does. Coordinates use `scale_factor` as it was given, unless
    `recompute_scale_factor`. The numbers are PyTorch's; weighted integers become floating. Raises ValueError
    for what doesn't go together.
    """
    name, rank = "interpolate", x.ndim - 2
    if rank not in (1, 2, 3):
        raise ValueError(f"{name}: expected shape (N, C, ...) with one to three axes more, got {x.shape}{at_user()}")
    if mode not in resampling.MODES and mode != "area":
        modes = ", ".join([*resampling.MODES, "area"])
        raise ValueError(f"{name}: mode is one of {modes}; not {mode!r}{at_user()}")
    if rank not in RANKS.get(mode, (1, 2, 3)):
        raise ValueError(
            f"{name}: mode {mode!r} takes {RANKS[mode][0]} axes after (N, C); the input has {rank}{at_user()}"
        )
    if align_corners is not None and mode not in RANKS:
        raise ValueError(f"{name}: align_corners goes with {', '.join(RANKS)}; not with {mode!r}{at_user()}")
    if antialias and mode not in resampling.SMOOTH_MODES:
        raise ValueError(f"{name}: antialias goes with bilinear and bicubic, not with {mode!r}{at_user()}")
    scales = _scales(x, rank, size, scale_factor, recompute_scale_factor)
    if mode == "area":
        counts = tuple([scale.pixels for scale in scales])
        return recorded(name, pooling.adaptive_avg_pool, rank, node_of(x), counts)
    return recorded(name, resampling.interpolate, node_of(x), scales, mode, bool(align_corners), antialias)


def _scales(x: Tensor, rank: int, size: Any, factor: Any, recompute: bool | None) -> list[resampling.Scale]:
    """What happens to each axis. Raises ValueError unless either a size or a factor is given, once or for each."""
    if (size is None) == (factor is None):
        raise ValueError(f"interpolate: give either size or scale_factor{at_user()}")
    given = size if factor is None else factor
    each = list(given) if isinstance(given, Sequence) else [given] * rank
    if len(each) != rank:
        raise ValueError(f"interpolate: {given} doesn't fit the {rank} axes after (N, C) of {x.shape}{at_user()}")
    extents = x.shape[2:]
    counts = each if factor is None else [math.floor(n * f) for n, f in zip(extents, each, strict=True)]
    if min(counts) < 1 or min(extents) < 1:
        raise ValueError(f"interpolate: sizes {extents} to {tuple(counts)}: both must be positive{at_user()}")
    steps = [None] * rank if factor is None or recompute else [1 / f for f in each]
    return [resampling.Scale(n, int(m), step) for n, m, step in zip(extents, counts, steps, strict=True)]


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool = False) -> Tensor:
    """The points that an affine map takes an even grid to: θ (N, 2, 3) and size (N, C, H, W) give (N, H, W, 2).

    Points are (x, y) from -1 to 1, for `grid_sample`; (x', y') = θ (x, y, 1). With θ (N, 3, 4) and size (N, C, D, H, W),
    they are (x, y, z). -1 and 1 are the outer edges of the image, or with `align_corners` the centres of its outer pixels.
    """
    rank = len(size) - 2
    if rank not in (2, 3) or theta.shape != (size[0], rank, rank + 1):
        raise ValueError(
            f"affine_grid: theta (N, 2, 3) goes with a size (N, C, H, W), (N, 3, 4) with (N, C, D, H, W); got "
            f"{theta.shape} and {tuple(size)}{at_user()}"
        )
    return recorded("affine_grid", resampling.affine_grid, node_of(theta), tuple(size[2:]), align_corners)


def grid_sample(
    x: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> Tensor:
    """The values of images at points: x (N, C, H, W) at grid (N, rows, columns, 2) gives (N, C, rows, columns).

    A point is (x, y), from -1 at one edge of the image to 1 at the other (with `align_corners`, at the centres of the outer
    pixels). `mode` is `"bilinear"`, `"nearest"` or, for images, `"bicubic"`; what lies outside is `"zeros"`, the nearest
    pixel (`"border"`), or what a mirror shows (`"reflection"`). Volumes (N, C, D, H, W) take points (x, y, z). Differentiable
    in both, by pieces. (M. Jaderberg et al., "Spatial transformer networks", 2015.) Raises ValueError when shapes don't fit.
    """
    name, rank = "grid_sample", x.ndim - 2
    if rank not in (2, 3) or grid.ndim != x.ndim or grid.shape[-1] != rank or grid.shape[0] != x.shape[0]:
        raise ValueError(
            f"{name}: images (N, C, H, W) take a grid (N, rows, columns, 2), volumes (N, C, D, H, W) one of (..., 3); got "
            f"{x.shape} and {grid.shape}{at_user()}"
        )
    if mode not in ("bilinear", "nearest", "bicubic") or (mode == "bicubic" and rank == 3):
        raise ValueError(f"{name}: mode is 'bilinear', 'nearest' or for images 'bicubic', not {mode!r}{at_user()}")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"{name}: padding_mode is 'zeros', 'border' or 'reflection', not {padding_mode!r}{at_user()}")
    return recorded(name, resampling.grid_sample, node_of(x), node_of(grid), mode, padding_mode, align_corners)


def pixel_shuffle(x: Tensor, upscale_factor: int) -> Tensor:
    """Channels become pixels: (..., C r², H, W) to (..., C, H r, W r) for the factor r.

    (W. Shi et al., "Real-time single image and video super-resolution", 2016.) Raises ValueError when they don't divide.
    """
    if x.ndim < 3 or upscale_factor < 1 or x.shape[-3] % upscale_factor**2:
        raise ValueError(f"pixel_shuffle: the channels of shape {x.shape} don't divide by {upscale_factor}²{at_user()}")
    return recorded("pixel_shuffle", resampling.pixel_shuffle, node_of(x), upscale_factor)


def pixel_unshuffle(x: Tensor, downscale_factor: int) -> Tensor:
    """Pixels become channels: (..., C, H r, W r) to (..., C r², H, W) for the factor r; the inverse of `pixel_shuffle`."""
    if x.ndim < 3 or downscale_factor < 1 or x.shape[-1] % downscale_factor or x.shape[-2] % downscale_factor:
        raise ValueError(
            f"pixel_unshuffle: the rows and columns of shape {x.shape} don't divide by {downscale_factor}{at_user()}"
        )
    return recorded("pixel_unshuffle", resampling.pixel_unshuffle, node_of(x), downscale_factor)


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """The channels of x (N, C, ...) dealt out: the first of each group, then the second of each, and so on."""
    if x.ndim < 3 or groups < 1 or x.shape[1] % groups:
        raise ValueError(f"channel_shuffle: shape {x.shape} doesn't divide into {groups} groups{at_user()}")
    return recorded("channel_shuffle", resampling.channel_shuffle, node_of(x), groups)


def pad(x: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """x with elements added around: `pad` counts those before and after the last axis, then the axis before it, and so on.

    `mode` is `"constant"` (`value`, by default 0), `"reflect"` (a mirror whose edge is the last element), `"replicate"`
    (the last element) or `"circular"`. Negative counts leave elements out. Raises ValueError when they don't fit.
    """
    widths = [int(n) for n in pad]
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise ValueError(f"pad: {tuple(widths)} are no pairs for the last axes of shape {x.shape}{at_user()}")
    if mode not in PADDINGS:
        raise ValueError(f"pad: mode is one of {', '.join(PADDINGS)}; not {mode!r}{at_user()}")
    if value is not None and mode != "constant":
        raise ValueError(f"pad: mode {mode!r} takes no value{at_user()}")
    pairs = [(widths[i], widths[i + 1]) for i in range(0, len(widths), 2)]
    each = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
    return recorded("pad", padding.pad, node_of(x), each, mode, 0.0 if value is None else value)


def unfold(x: Tensor, kernel_size: Sizes, dilation: Sizes = 1, padding: Sizes = 0, stride: Sizes = 1) -> Tensor:
    """The windows of images as columns: (N, C, H, W) to (N, C kh kw, windows); one image (C, H, W) will do."""
    node = node_of(x)
    if x.ndim == 3:
        whole = recorded("unfold", shaping.unfold, node_of(x[None]), kernel_size, stride, padding, dilation)
        return whole[0]
    return recorded("unfold", shaping.unfold, node, kernel_size, stride, padding, dilation)


def fold(
    x: Tensor,
    output_size: Sizes,
    kernel_size: Sizes,
    dilation: Sizes = 1,
    padding: Sizes = 0,
    stride: Sizes = 1,
) -> Tensor:
    """The adjoint of `unfold`: columns (N, C kh kw, windows) added up in images (N, C, *output_size)."""
    if x.ndim == 2:
        return recorded("fold", shaping.fold, node_of(x[None]), output_size, kernel_size, stride, padding, dilation)[0]
    return recorded("fold", shaping.fold, node_of(x), output_size, kernel_size, stride, padding, dilation)
