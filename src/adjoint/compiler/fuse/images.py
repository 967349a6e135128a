"""Convolution and pooling over channels-last images: which steps native code serves, and oneDNN's primitives for them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.targets.target import tuning
from adjoint.graph import PRIMITIVES, StandIn
from adjoint.plan.plan import Step
from adjoint.primitives.convolution import CONVOLUTIONS as CONVOLUTIONS
from adjoint.primitives.convolution import Geometry
from adjoint.runtime import onednn
from adjoint.shapes import size_of


class ChannelsLast(StandIn):
    """Stands for a primitive whose images have their channels last."""


@functools.cache
def _form(name: str) -> ChannelsLast:
    return ChannelsLast(name)


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
    given = sizes(step, [types[i].shape for i in step.inputs], step.type.shape)
    if in_tiles(*given) or (step.op.name == "convolution" and in_strips(*given)):
        return True
    if not onednn.available():
        return False
    try:
        made = convolution(step.op.name, *given)
    except RuntimeError:  # a geometry that it doesn't have
        return False
    return not made.implementation.startswith("ref")


def is_product(step: Step, types: list[Any]) -> bool:
    """Whether a convolution, or a gradient of it, is a product of matrices: of each pixel's channels by the weights."""
    if step.op.name not in CONVOLUTIONS or types[step.inputs[0]].dtype.name != "float32":
        return False
    if any(len(types[i].shape) != 4 for i in step.inputs):
        return False
    *_, weights, geometry = sizes(step, [types[i].shape for i in step.inputs], step.type.shape)
    if weights[2:] != (1, 1) or geometry.groups != 1 or any(p for sides in geometry.padding for p in sides):
        return False
    return min(weights[:2]) >= tuning().pointwise_from


def with_channels_last(step: Step, inputs: list[int], output: int, type: Any) -> Step:
    """A step on images whose channels are last."""
    return Step(_form(step.op.name), step.attributes, _nothing, _nothing, tuple(inputs), output, type)  # type: ignore[arg-type]


def _nothing(*arguments: Any) -> Any:
    raise AssertionError("a channels-last step has no NumPy kernel")


Sizes = tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...], Geometry]


def sizes(step: Step, inputs: list[tuple[int, ...]], result: tuple[int, ...]) -> Sizes:
    """The number of images, the shapes (C, H, W) of an image and (O, rows, columns) of what it becomes, the weights' shape
    and the geometry, from shapes in the graph's order."""
    return _sizes(step.op.name, step.attributes, inputs, result)


def _sizes(name: str, attributes: Any, inputs: list[tuple[int, ...]], result: tuple[int, ...]) -> Sizes:
    if name == "convolution":
        image, weights, becomes, geometry = inputs[0], inputs[1], result, attributes
    elif name == "convolution_input_gradient":
        image, weights, becomes, geometry = result, inputs[1], inputs[0], attributes[0]
    else:
        image, weights, becomes, geometry = inputs[0], result, inputs[1], attributes[0]
    return image[0], image[1:], becomes[1:], weights, geometry


def in_tiles(
    count: int, image: tuple[int, ...], becomes: tuple[int, ...], weights: tuple[int, ...], geometry: Geometry
) -> bool:
    """Whether a convolution, or a gradient of it, is computed by kernels of our own (`build_winograd`)."""
    table, ones = tuning(), (1, 1)
    if weights[2:] != (3, 3) or geometry.dilation != ones or geometry.groups != 1:
        return False
    if geometry.stride != ones and (geometry.stride != (2, 2) or any(before != 1 for before, _ in geometry.padding)):
        return False
    if any(not 0 <= p <= 2 for sides in geometry.padding for p in sides) or min(weights[:2]) < table.winograd_from:
        return False
    tiles = count * -(-becomes[1] // 2) * -(-becomes[2] // 2)
    return tiles >= table.winograd_least and matmul_tiles.available()


def in_strips(
    count: int, image: tuple[int, ...], becomes: tuple[int, ...], weights: tuple[int, ...], geometry: Geometry
) -> bool:
    """Whether a convolution is computed by kernels of our own, strip by strip (`build_direct`)."""
    table, (outputs, channels, *_) = tuning(), weights
    if geometry.groups != 1 or channels > table.few_channels or outputs < table.narrowest:
        return False
    if any(p < 0 for sides in geometry.padding for p in sides):
        return False
    room = channels * size_of(tuple([n + sum(p) for n, p in zip(image[1:], geometry.padding, strict=True)]))
    return room <= table.pool_tile and matmul_tiles.available()


def sizes_of(name: str, attributes: object, reads: Sequence[tuple[int, ...]], result: tuple[int, ...]) -> Sizes:
    """`sizes` of a step on channels-last images."""
    inputs = [
        _first(shape) if is_image else shape for shape, is_image in zip(reads, PRIMITIVES[name].images, strict=True)
    ]
    return _sizes(name, attributes, inputs, result if name == "convolution_weight_gradient" else _first(result))


def _first(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A channels-last shape in the graph's order."""
    n, rows, columns, channels = shape
    return n, channels, rows, columns


def convolution(
    name: str,
    count: int,
    image: tuple[int, ...],
    becomes: tuple[int, ...],
    weights: tuple[int, ...],
    geometry: Geometry,
    layout: onednn.Descriptor | None = None,
) -> onednn.Primitive:
    """oneDNN's primitive for so many images, or RuntimeError. Images have their channels last; the layout of the weights is
    its own choice, or the one given."""
    return onednn.convolution(
        name, _described(count, image), layout or onednn.described(_grouped(weights, geometry), onednn.ANY),
        _described(count, becomes), geometry.stride, tuple([d - 1 for d in geometry.dilation]),
        tuple([p[0] for p in geometry.padding]), tuple([p[1] for p in geometry.padding]),
    )  # fmt: skip


def _described(count: int, image: tuple[int, ...]) -> onednn.Descriptor:
    channels, rows, columns = image
    return onednn.described((count, *image), (rows * columns * channels, 1, columns * channels, channels))


def _grouped(weights: tuple[int, ...], geometry: Geometry) -> tuple[int, ...]:
    if geometry.groups == 1:
        return weights
    return (geometry.groups, weights[0] // geometry.groups, *weights[1:])


def plain_weights(weights: tuple[int, ...], geometry: Geometry) -> onednn.Descriptor:
    """Weights as the graph has them, in rows."""
    shape = _grouped(weights, geometry)
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return onednn.described(shape, strides[::-1])
