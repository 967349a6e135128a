"""Convolution and pooling over channels-last images: which steps native code serves, and oneDNN's primitives for them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.targets.target import tuning
from adjoint.graph import PRIMITIVES, StandIn
from adjoint.plan.plan import Step
from adjoint.primitives.convolution import CONVOLUTIONS as CONVOLUTIONS
from adjoint.primitives.convolution import Geometry
from adjoint.runtime import onednn
from adjoint.shapes import Shape, contiguous, size_of


class ChannelsLast(StandIn):
    """Stands for a primitive whose images have their channels last."""


@functools.cache
def form(name: str) -> ChannelsLast:
    return ChannelsLast(name)


class Sizes(NamedTuple):
    """Of a convolution or a gradient of it the number of images, the shapes (C, H, W) of an image and (O, rows, columns) of what
    it becomes, the weights' shape, and the geometry."""

    images: int
    image: Shape
    becomes: Shape
    weights: Shape
    geometry: Geometry

    @property
    def in_tiles(self) -> bool:
        """Whether it is computed by kernels of our own (`build_winograd`)."""
        table, ones, (_, _, _, weights, geometry) = tuning(), (1, 1), self
        if weights[2:] != (3, 3) or geometry.dilation != ones or geometry.groups != 1:
            return False
        if geometry.stride != ones and (
            geometry.stride != (2, 2) or any(before != 1 for before, _ in geometry.padding)
        ):
            return False
        if any(not 0 <= p <= 2 for sides in geometry.padding for p in sides) or min(weights[:2]) < table.winograd_from:
            return False
        return self.images * self.tiles >= table.winograd_least and matmul_tiles.available()

    @property
    def tiles(self) -> int:
        """Tiles of an image in these."""
        return -(-self.becomes[1] // 2) * -(-self.becomes[2] // 2)

    @property
    def together(self) -> int:
        """Images that are computed together, at least: all weights are read anew for each range of them."""
        return -(-tuning().winograd_least // self.tiles) if self.in_tiles else 1

    @property
    def in_strips(self) -> bool:
        """Whether a convolution is computed by kernels of our own, strip by strip (`build_direct`)."""
        table, (outputs, channels, *_), geometry = tuning(), self.weights, self.geometry
        if geometry.groups != 1 or channels > table.few_channels or outputs < table.narrowest:
            return False
        if any(p < 0 for sides in geometry.padding for p in sides):
            return False
        room = channels * size_of(tuple([n + sum(p) for n, p in zip(self.image[1:], geometry.padding, strict=True)]))
        return room <= table.pool_tile and matmul_tiles.available()


def sizes(name: str, attributes: Any, inputs: Sequence[Shape], result: Shape) -> Sizes:
    """The sizes from shapes in the graph's order."""
    if name == "convolution":
        image, weights, becomes, geometry = inputs[0], inputs[1], result, attributes
    elif name == "convolution_input_gradient":
        image, weights, becomes, geometry = result, inputs[1], inputs[0], attributes[0]
    else:
        image, weights, becomes, geometry = inputs[0], result, inputs[1], attributes[0]
    return Sizes(image[0], image[1:], becomes[1:], weights, geometry)


def serves(step: Step, types: list[Any]) -> bool:
    """Whether native code computes a step on channels-last images."""
    if any(len(types[i].shape) != 4 for i in step.inputs):
        return False
    dtype = types[step.inputs[0]].dtype.name
    if step.op.name not in CONVOLUTIONS:
        cells = step.attributes.sizes
        return dtype in ("float32", "float64") and len(cells) == 2 and size_of(cells) <= tuning().most_cells
    if dtype != "float32":
        return False
    given = sizes(step.op.name, step.attributes, [types[i].shape for i in step.inputs], step.type.shape)
    if given.in_tiles or (step.op.name == "convolution" and given.in_strips):
        return True
    if not onednn.available():
        return False
    try:
        made = convolution(step.op.name, given, given.images)
    except RuntimeError:  # a geometry that it doesn't have
        return False
    return not made.implementation.startswith("ref")


def is_product(step: Step, types: list[Any]) -> bool:
    """Whether a convolution, or a gradient of it, is a product of matrices: of each pixel's channels by the weights."""
    if step.op.name not in CONVOLUTIONS or types[step.inputs[0]].dtype.name != "float32":
        return False
    if any(len(types[i].shape) != 4 for i in step.inputs):
        return False
    *_, weights, geometry = sizes(step.op.name, step.attributes, [types[i].shape for i in step.inputs], step.type.shape)
    if weights[2:] != (1, 1) or geometry.groups != 1 or any(p for sides in geometry.padding for p in sides):
        return False
    return min(weights[:2]) >= tuning().pointwise_from


def sizes_of(name: str, attributes: Any, reads: Sequence[Shape], result: Shape) -> Sizes:
    """`sizes` of a step on channels-last images."""
    inputs = [
        _first(shape) if is_image else shape for shape, is_image in zip(reads, PRIMITIVES[name].images, strict=True)
    ]
    return sizes(name, attributes, inputs, result if name == "convolution_weight_gradient" else _first(result))


def _first(shape: Shape) -> Shape:
    """A channels-last shape in the graph's order."""
    n, rows, columns, channels = shape
    return n, channels, rows, columns


def convolution(name: str, sizes: Sizes, count: int, layout: onednn.Descriptor | None = None) -> onednn.Primitive:
    """oneDNN's primitive for so many images, or RuntimeError. Images have their channels last; the layout of the weights is
    its own choice, or the one given."""
    _, image, becomes, weights, geometry = sizes
    return onednn.convolution(
        name, _described(count, image), layout or onednn.described(_grouped(weights, geometry), onednn.ANY),
        _described(count, becomes), geometry.stride, tuple([d - 1 for d in geometry.dilation]),
        tuple([p[0] for p in geometry.padding]), tuple([p[1] for p in geometry.padding]),
    )  # fmt: skip


def _described(count: int, image: Shape) -> onednn.Descriptor:
    channels, rows, columns = image
    return onednn.described((count, *image), (rows * columns * channels, 1, columns * channels, channels))


def _grouped(weights: Shape, geometry: Geometry) -> Shape:
    if geometry.groups == 1:
        return weights
    return (geometry.groups, weights[0] // geometry.groups, *weights[1:])


def plain_weights(weights: Shape, geometry: Geometry) -> onednn.Descriptor:
    """Weights as the graph has them, in rows."""
    shape = _grouped(weights, geometry)
    return onednn.described(shape, contiguous(shape))
