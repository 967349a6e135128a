"""Convolution over any number of axes, as three primitives that are each other's derivatives.

With the trilinear form T(x, w, u) = Σ u[n,o,i,...] w[o,c,a,...] x[n, c, i·stride + a·dilation - padding, ...], each of the three
is the gradient of T by one of its arguments. So the rule of each is made of the other two, and every order follows.
A bias is added outside, by broadcasting. (Cross-correlation, in truth: the kernel isn't flipped, as in every network.)
"""

from __future__ import annotations

from typing import NamedTuple

from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives import convolution_kernels as kernels
from adjoint.primitives.core import register, same_type
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


@register
def convolution(x: Node, w: Node, geometry: Geometry) -> Node:
    """x (N, C, *extents) under w (O, C / groups, *sizes), to (N, O, *counts). Raises TypeError unless both are real."""
    x, w = same_type("convolution", [x, w])
    if x.dtype.kind != "f":
        raise TypeError(f"convolution: not defined for {x.dtype.name}; it takes floating arrays")
    shape = (x.shape[0], w.shape[0], *geometry.counts(x.shape[2:], w.shape[2:]))
    return record(CONVOLUTION, (x, w), geometry, array_type(shape, x.dtype))


@register
def convolution_input_gradient(u: Node, w: Node, geometry: Geometry, extents: Shape) -> Node:
    """The adjoint of `convolution` in x: u (N, O, *counts) to (N, C, *extents)."""
    shape = (u.shape[0], w.shape[1] * geometry.groups, *extents)
    return record(CONVOLUTION_INPUT_GRADIENT, (u, w), (geometry, extents), array_type(shape, u.dtype))


@register
def convolution_weight_gradient(x: Node, u: Node, geometry: Geometry, sizes: Shape) -> Node:
    """The adjoint of `convolution` in w: x (N, C, *extents) and u (N, O, *counts) to (O, C / groups, *sizes)."""
    shape = (u.shape[1], x.shape[1] // geometry.groups, *sizes)
    return record(CONVOLUTION_WEIGHT_GRADIENT, (x, u), (geometry, sizes), array_type(shape, x.dtype))
