"""Convolution over any number of axes, as three primitives that are each other's derivatives.

With the trilinear form T(x, w, u) = Σ u[n,o,i,...] w[o,c,a,...] x[n, c, i·stride + a·dilation - padding, ...], each of the three
is the gradient of T by one of its arguments. So the rule of each is made of the other two, and every order follows.
A bias is added outside, by broadcasting. (Cross-correlation, in truth: the kernel isn't flipped, as in every network.)
"""

from __future__ import annotations

import math

from adjoint._tuples import NamedTuple
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives import convolution_kernels as kernels
from adjoint.primitives.core import ops, register, same_type
from adjoint.shapes import Shape


class Geometry(NamedTuple):
    """How windows lie in an image, axis by axis (rows, then columns); `padding` counts the zeros before and after."""

    stride: Shape
    padding: tuple[tuple[int, int], ...]
    dilation: Shape
    groups: int

    def counts(self, extents: Shape, sizes: Shape) -> Shape:
        """How many windows of these sizes fit into an image of these extents."""
        return tuple(
            [
                (n + before + after - d * (k - 1) - 1) // s + 1
                for n, k, s, (before, after), d in zip(
                    extents, sizes, self.stride, self.padding, self.dilation, strict=True
                )
            ]
        )


CONVOLUTION = Primitive(
    "convolution",
    lambda geometry, type: lambda x, w: kernels.forward(x, w, geometry),
    (
        lambda u, out, x, w: convolution_input_gradient(u, w, out.attributes, x.shape[2:]),
        lambda u, out, x, w: convolution_weight_gradient(x, u, out.attributes, w.shape[2:]),
    ),
    symbol="∗",
    bilinear=True,
    images=(True, False),
)
CONVOLUTION_INPUT_GRADIENT = Primitive(
    "convolution_input_gradient",
    lambda attributes, type: lambda u, w: kernels.input_gradient(u, w, *attributes),
    (
        lambda t, out, u, w: convolution(t, w, out.attributes[0]),
        lambda t, out, u, w: convolution_weight_gradient(t, u, out.attributes[0], w.shape[2:]),
    ),
    images=(True, False),
)
CONVOLUTION_WEIGHT_GRADIENT = Primitive(
    "convolution_weight_gradient",
    lambda attributes, type: lambda x, u: kernels.weight_gradient(x, u, *attributes),
    (
        lambda t, out, x, u: convolution_input_gradient(u, t, out.attributes[0], x.shape[2:]),
        lambda t, out, x, u: convolution(x, t, out.attributes[0]),
    ),
    images=(True, True),
)
CONVOLUTIONS = frozenset([op.name for op in (CONVOLUTION, CONVOLUTION_INPUT_GRADIENT, CONVOLUTION_WEIGHT_GRADIENT)])


LARGE = 16  # pixels: larger windows that lie side by side are rows of a product of matrices
FEW_CHANNELS = 16  # fewer don't fill a vector


def _are_side_by_side(geometry: Geometry, extents: Shape, sizes: Shape) -> bool:
    """Whether windows of these sizes lie side by side and are all there is: each pixel belongs to one."""
    plain = geometry.groups == 1 and set(geometry.dilation) == {1} and not any(map(any, geometry.padding))
    return plain and geometry.stride == sizes and not any(n % k for n, k in zip(extents, sizes, strict=True))


@register
def convolution(x: Node, w: Node, geometry: Geometry) -> Node:
    """x (N, C, *extents) under w (O, C / groups, *sizes), to (N, O, *counts). Raises TypeError unless both are real."""
    x, w = same_type("convolution", [x, w])
    if x.dtype.kind != "f":
        raise TypeError(f"convolution: not defined for {x.dtype.name}; it takes floating arrays")
    extents, sizes = x.shape[2:], w.shape[2:]
    if math.prod(sizes) > LARGE and _are_side_by_side(geometry, extents, sizes):
        return _of_windows(x, w)
    shape = (x.shape[0], w.shape[0], *geometry.counts(extents, sizes))
    return record(CONVOLUTION, (x, w), geometry, array_type(shape, x.dtype))


@register
def convolution_input_gradient(u: Node, w: Node, geometry: Geometry, extents: Shape) -> Node:
    """The adjoint of `convolution` in x: u (N, O, *counts) to (N, C, *extents)."""
    sizes = w.shape[2:]
    wide = math.prod(sizes) > LARGE or w.shape[1] < FEW_CHANNELS
    if wide and math.prod(sizes) > 1 and _are_side_by_side(geometry, extents, sizes):
        return _to_windows(u, w)
    shape = (u.shape[0], w.shape[1] * geometry.groups, *extents)
    return record(CONVOLUTION_INPUT_GRADIENT, (u, w), (geometry, extents), array_type(shape, u.dtype))


def _of_windows(x: Node, w: Node) -> Node:
    """A convolution whose windows lie side by side, as a product: a row is a window's channels and pixels."""
    rank, (count, channels, *extents), sizes = x.ndim - 2, x.shape, w.shape[2:]
    counts = [n // k for n, k in zip(extents, sizes, strict=True)]
    pairs = [m for pair in zip(counts, sizes, strict=True) for m in pair]
    order = (0, *range(2, 2 * rank + 2, 2), 1, *range(3, 2 * rank + 2, 2))
    parts = ops.permute_dims(ops.reshape(x, (count, channels, *pairs)), order)
    pixels = channels * math.prod(sizes)
    rows, columns = ops.reshape(parts, (count * math.prod(counts), pixels)), ops.reshape(w, (w.shape[0], pixels))
    found = ops.reshape(ops.matmul(rows, ops.permute_dims(columns, (1, 0))), (count, *counts, w.shape[0]))
    return ops.permute_dims(found, (0, rank + 1, *range(1, rank + 1)))


def _to_windows(u: Node, w: Node) -> Node:
    """The adjoint of `_of_windows` in x."""
    rank, (count, outputs, *counts), (_, channels, *sizes) = u.ndim - 2, u.shape, w.shape
    rows = ops.reshape(ops.permute_dims(u, (0, *range(2, rank + 2), 1)), (count * math.prod(counts), outputs))
    columns = ops.reshape(w, (outputs, channels * math.prod(sizes)))
    parts = ops.reshape(ops.matmul(rows, columns), (count, *counts, channels, *sizes))
    pairs = [axis for k in range(1, rank + 1) for axis in (k, k + rank + 1)]
    extents = [n * k for n, k in zip(counts, sizes, strict=True)]
    return ops.reshape(ops.permute_dims(parts, (0, rank + 1, *pairs)), (count, channels, *extents))


@register
def convolution_weight_gradient(x: Node, u: Node, geometry: Geometry, sizes: Shape) -> Node:
    """The adjoint of `convolution` in w: x (N, C, *extents) and u (N, O, *counts) to (O, C / groups, *sizes)."""
    shape = (u.shape[1], x.shape[1] // geometry.groups, *sizes)
    return record(CONVOLUTION_WEIGHT_GRADIENT, (x, u), (geometry, sizes), array_type(shape, x.dtype))
