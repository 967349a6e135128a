"""Convolution over two axes, as three primitives that are each other's derivatives.

With the trilinear form T(x, w, u) = Σ u[n,o,i,j] w[o,c,a,b] x[n, c, i·stride + a·dilation - padding, ...], each of the three
is the gradient of T by one of its arguments. So the rule of each is made of the other two, and every order follows.
A bias is added outside, by broadcasting. (Cross-correlation, in truth: the kernel isn't flipped, as in every network.)
"""

from __future__ import annotations

from typing import NamedTuple

from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives import convolution_kernels as kernels
from adjoint.primitives.core import register, same_type

Pair = tuple[int, int]


class Geometry(NamedTuple):
    """How windows lie in an image: rows first, then columns; `padding` counts the zeros before and after."""

    stride: Pair
    padding: tuple[Pair, Pair]
    dilation: Pair
    groups: int

    def counts(self, extents: Pair, sizes: Pair) -> Pair:
        """How many windows of these sizes fit into an image of these extents."""
        rows, columns = [
            (n + before + after - d * (k - 1) - 1) // s + 1
            for n, k, s, (before, after), d in zip(
                extents, sizes, self.stride, self.padding, self.dilation, strict=True
            )
        ]
        return rows, columns


def _two(shape: tuple[int, ...]) -> Pair:
    return shape[-2], shape[-1]


CONVOLUTION = Primitive(
    "convolution",
    lambda geometry, type: lambda x, w: kernels.forward(x, w, geometry),
    (
        lambda u, out, x, w: convolution_input_gradient(u, w, out.attributes, _two(x.shape)),
        lambda u, out, x, w: convolution_weight_gradient(x, u, out.attributes, _two(w.shape)),
    ),
    symbol="∗",
)
CONVOLUTION_INPUT_GRADIENT = Primitive(
    "convolution_input_gradient",
    lambda attributes, type: lambda u, w: kernels.input_gradient(u, w, *attributes),
    (
        lambda t, out, u, w: convolution(t, w, out.attributes[0]),
        lambda t, out, u, w: convolution_weight_gradient(t, u, out.attributes[0], _two(w.shape)),
    ),
)
CONVOLUTION_WEIGHT_GRADIENT = Primitive(
    "convolution_weight_gradient",
    lambda attributes, type: lambda x, u: kernels.weight_gradient(x, u, *attributes),
    (
        lambda t, out, x, u: convolution_input_gradient(u, t, out.attributes[0], _two(x.shape)),
        lambda t, out, x, u: convolution(x, t, out.attributes[0]),
    ),
)


@register
def convolution(x: Node, w: Node, geometry: Geometry) -> Node:
    """x (N, C, H, W) under w (O, C / groups, kh, kw), to (N, O, rows, columns). Raises TypeError unless both are real."""
    x, w = same_type("convolution", [x, w])
    if x.dtype.kind != "f":
        raise TypeError(f"convolution: not defined for {x.dtype.name}; it takes floating arrays")
    shape = (x.shape[0], w.shape[0], *geometry.counts(_two(x.shape), _two(w.shape)))
    return record(CONVOLUTION, (x, w), geometry, array_type(shape, x.dtype))


@register
def convolution_input_gradient(u: Node, w: Node, geometry: Geometry, extents: Pair) -> Node:
    """The adjoint of `convolution` in x: u (N, O, rows, columns) to (N, C, *extents)."""
    shape = (u.shape[0], w.shape[1] * geometry.groups, *extents)
    return record(CONVOLUTION_INPUT_GRADIENT, (u, w), (geometry, extents), array_type(shape, u.dtype))


@register
def convolution_weight_gradient(x: Node, u: Node, geometry: Geometry, sizes: Pair) -> Node:
    """The adjoint of `convolution` in w: x (N, C, H, W) and u (N, O, rows, columns) to (O, C / groups, *sizes)."""
    shape = (u.shape[1], x.shape[1] // geometry.groups, *sizes)
    return record(CONVOLUTION_WEIGHT_GRADIENT, (x, u), (geometry, sizes), array_type(shape, x.dtype))
