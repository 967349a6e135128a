"""Normalization: a mean taken off, a standard deviation divided out, a scale and a shift for each feature."""

from __future__ import annotations

import numpy as np

from adjoint.composites.recipes import remembered
from adjoint.graph import Node
from adjoint.primitives.core import inexact, ops
from adjoint.primitives.normalized import batch_normalized, rms_normalized, standardized
from adjoint.shapes import Shape, keep_axes, size_of


def moments(x: Node, axes: Shape) -> tuple[Node, Node, Node]:
    """The mean over axes, x without it, and the mean square of what is left; the axes kept at size one."""
    kept, count = keep_axes(x.shape, axes), float(size_of(tuple([x.shape[a] for a in axes])))
    mean = ops.reshape(ops.divide(ops.sum(x, axes), count), kept)
    centered = ops.subtract(x, mean)
    variance = ops.reshape(ops.divide(ops.sum(ops.multiply(centered, centered), axes), count), kept)
    return mean, centered, variance


def standard(x: Node, axes: Shape, epsilon: float) -> tuple[Node, Node, Node]:
    """x without its mean over axes, divided by the square root of its variance plus epsilon; the mean and the variance, the axes
    kept at size one."""
    mean, centered, variance = moments(x, axes)
    root = ops.sqrt(ops.add(variance, epsilon))
    return standardized(ops.divide(centered, root), x, root), mean, variance


def affine(x: Node, weight: Node | None, bias: Node | None) -> Node:
    """x times a weight plus a bias, both of shapes that broadcast to x's."""
    if weight is not None:
        x = ops.multiply(x, weight)
    return x if bias is None else ops.add(x, bias)


@remembered
def layer_norm(x: Node, shape: Shape, weight: Node | None, bias: Node | None, epsilon: float) -> Node:
    axes = _trailing("layer_norm", x, shape, weight, bias)
    return affine(standard(x, axes, epsilon)[0], weight, bias)


@remembered
def rms_norm(x: Node, shape: Shape, weight: Node | None, epsilon: float | None) -> Node:
    x = inexact(x)
    axes = _trailing("rms_norm", x, shape, weight, None)
    count = float(size_of(shape))
    if epsilon is None:
        epsilon = float(np.finfo(x.dtype.dtype).eps)
    squares = ops.divide(ops.sum(ops.multiply(x, x), axes), count)
    root = ops.sqrt(ops.add(ops.reshape(squares, keep_axes(x.shape, axes)), epsilon))
    return affine(rms_normalized(ops.divide(x, root), x, root), weight, None)


def _trailing(name: str, x: Node, shape: Shape, weight: Node | None, bias: Node | None) -> Shape:
    rank = len(shape)
    if not rank or x.shape[max(x.ndim - rank, 0) :] != shape:
        raise ValueError(f"{name}: the input's last axes must have the shape {shape}; its shape is {x.shape}")
    _check_features(name, shape, weight, bias)
    return tuple(range(x.ndim - rank, x.ndim))


def _check_features(name: str, shape: Shape, weight: Node | None, bias: Node | None) -> None:
    for what, given in (("weight", weight), ("bias", bias)):
        if given is not None and given.shape != shape:
            raise ValueError(f"{name}: the {what} must have shape {shape}; it has {given.shape}")


@remembered
def group_norm(x: Node, groups: int, weight: Node | None, bias: Node | None, epsilon: float) -> Node:
    name = "group_norm"
    if x.ndim < 2:
        raise ValueError(f"{name}: expected shape (N, C, ...), got {x.shape}")
    n, channels = x.shape[:2]
    if groups < 1 or channels % groups:
        raise ValueError(f"{name}: {channels} channels don't divide into {groups} groups")
    _check_features(name, (channels,), weight, bias)
    normal, _, _ = standard(ops.reshape(x, (n, groups, x.type.size // max(n * groups, 1))), (2,), epsilon)
    return affine(ops.reshape(normal, x.shape), *(_of_channels(p, x) for p in (weight, bias)))


def _of_channels(p: Node | None, x: Node) -> Node | None:
    return None if p is None else ops.reshape(p, (x.shape[1], *(1,) * (x.ndim - 2)))


def instance_norm(x: Node, weight: Node | None, bias: Node | None, epsilon: float) -> tuple[Node, Node, Node]:
    """x (N, C, ...) normalized for each channel of each example, and these means and variances (N, C)."""
    n, channels = x.shape[:2]
    _check_features("instance_norm", (channels,), weight, bias)
    if 0 < x.type.size <= n * channels:
        raise ValueError(f"instance_norm: a channel needs more than one value; the input's shape is {x.shape}")
    y, mean, variance = standard(x, tuple(range(2, x.ndim)), epsilon)
    y = affine(y, *(_of_channels(p, x) for p in (weight, bias)))
    return y, ops.reshape(mean, (n, channels)), ops.reshape(variance, (n, channels))


def local_response_norm(x: Node, size: int, alpha: float, beta: float, k: float) -> Node:
    """x divided by a power of the mean square over neighbouring channels."""
    channels, squares, total = x.shape[1], ops.multiply(x, x), None
    for shift in range(-(size // 2), (size - 1) // 2 + 1):
        start, stop = max(shift, 0), channels + min(shift, 0)
        if start >= stop:
            continue
        spans = [(0, n, 1) for n in x.shape]
        taken, put = [(*spans[:1], (at, stop - start, 1), *spans[2:]) for at in (start, start - shift)]
        part = ops.embed(ops.slice_(squares, taken), x.shape, put)
        total = part if total is None else ops.add(total, part)
    return ops.divide(x, ops.power(ops.add(ops.multiply(total, alpha / size), k), beta))


# Over a batch ---------------------------------------------------------------------------------------------------------


def batch_norm(
    x: Node, mean: Node | None, variance: Node | None, weight: Node | None, bias: Node | None, epsilon: float
) -> tuple[Node, Node, Node]:
    """x (N, C, ...) normalized for each channel, by a given mean and variance (C,) or its own; and those two.

    The scale and the root are joined, for each channel, before anything of x's size is touched.
    """
    if x.ndim < 2:
        raise ValueError(f"batch_norm: expected shape (N, C) or (N, C, ...), got {x.shape}")
    channels = x.shape[1]
    for what, given in (("running mean", mean), ("running variance", variance), ("weight", weight), ("bias", bias)):
        if given is not None and given.shape != (channels,):
            raise ValueError(
                f"batch_norm: the input of shape {x.shape} has {channels} channels; the {what} has shape {given.shape}"
            )
    if mean is None or variance is None:
        axes = tuple([i for i in range(x.ndim) if i != 1])
        if 0 < x.type.size <= channels:
            raise ValueError(
                f"batch_norm: in training a channel needs more than one value; the input's shape is {x.shape}"
            )
        kept_mean, centered, kept_variance = moments(x, axes)
        mean, variance = ops.reshape(kept_mean, (channels,)), ops.reshape(kept_variance, (channels,))
        root = ops.sqrt(ops.add(kept_variance, epsilon))
        factor = ops.divide(1.0 if weight is None else ops.reshape(weight, root.shape), root)
        y = batch_normalized(ops.multiply(centered, factor), centered, factor, root, x, weight)
    else:
        centered = ops.subtract(x, _of_channels(mean, x))
        root = ops.sqrt(ops.add(variance, epsilon))
        if weight is None:
            y = ops.divide(centered, _of_channels(root, x))
        else:
            y = ops.multiply(centered, _of_channels(ops.divide(weight, root), x))
    return affine(y, None, _of_channels(bias, x)), mean, variance
