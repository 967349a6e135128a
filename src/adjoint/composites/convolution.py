"""Convolution and its transpose as users call them, over one, two or three axes."""

from __future__ import annotations

import functools
import math
from typing import Any

from adjoint.composites.shaping import pad as filled
from adjoint.composites.shaping import span
from adjoint.composites.windows import THINGS, as_image, as_signal, check_rank, of_batch, sizes_of
from adjoint.graph import Node
from adjoint.primitives.convolution import Geometry
from adjoint.primitives.core import ops, same_type
from adjoint.shapes import Shape

Paddings = tuple[tuple[int, int], ...]


def paddings(name: str, padding: Any, sizes: Shape, stride: Shape, dilation: Shape) -> Paddings:
    """The zeros before and after each axis. `"same"` puts an odd one after, as PyTorch does."""
    rank = len(sizes)
    if padding == "valid":
        return ((0, 0),) * rank
    if padding == "same":
        if stride != (1,) * rank:
            raise ValueError(f"{name}: padding='same' needs stride 1, not {stride}")
        both = [d * (k - 1) for k, d in zip(sizes, dilation, strict=True)]
        return tuple([(n // 2, n - n // 2) for n in both])
    if isinstance(padding, str):
        raise ValueError(f"{name}: padding is 'valid', 'same', an int or one for each axis, not {padding!r}")
    return tuple([(n, n) for n in sizes_of(name, "padding", padding, rank, 0)])


def convolve(
    rank: int, x: Node, weight: Node, bias: Node | None, stride: Any, padding: Any, dilation: Any, groups: int
) -> Node:
    """x (N, C, *extents) under a weight (O, C / groups, *sizes): `conv1d`, `conv2d`, `conv3d`."""
    name = f"conv{rank}d"
    _check_weight(name, rank, weight, "(out, in / groups,")
    sizes, channels = weight.shape[2:], weight.shape[1] * groups
    steps, gaps = sizes_of(name, "stride", stride, rank), sizes_of(name, "dilation", dilation, rank)
    geometry = Geometry(steps, paddings(name, padding, sizes, steps, gaps), gaps, groups)
    check_rank(name, x, rank)
    if groups < 1 or weight.shape[0] % groups:
        raise ValueError(f"{name}: {weight.shape[0]} output channels don't divide into {groups} groups")
    _check_channels(name, x, rank, weight, channels, groups)
    if min(geometry.counts(x.shape[-rank:], sizes)) < 1:
        raise ValueError(
            f"{name}: a kernel of {sizes} with dilation {gaps} and padding {padding} does not fit {THINGS[rank]} of shape "
            f"{x.shape}"
        )
    _check_bias(name, bias, weight.shape[0])

    def convolved(batch: Node) -> Node:
        if rank > 1:
            return _biased((_of_volumes if rank > 2 else ops.convolution)(batch, weight, geometry), bias)
        flat = geometry._replace(stride=(1, *steps), padding=((0, 0), *geometry.padding), dilation=(1, *gaps))
        return _biased(as_signal(ops.convolution(as_image(batch), as_image(weight), flat)), bias)

    return of_batch(name, x, rank, convolved)


def _of_volumes(x: Node, weight: Node, geometry: Geometry) -> Node:
    """The convolution of volumes as one of images: the images below one kernel, each in its depth, are channels of one."""
    x, weight = same_type("conv3d", [x, weight])
    count, channels, _, *extents = x.shape
    deep = weight.shape[2]
    x = filled(x, ((0, 0), (0, 0), geometry.padding[0], (0, 0), (0, 0)), 0.0)
    layers = _layers(x.shape[2], deep, geometry)
    depth = layers[0][1]
    parts = [ops.reshape(span(x, 2, *layer), (count, channels, 1, depth, *extents)) for layer in layers]
    images = ops.permute_dims(ops.concat(parts, 2), (0, 3, 1, 2, 4, 5))
    y = ops.convolution(
        ops.reshape(images, (count * depth, channels * deep, *extents)), _flat(weight), _of_images(geometry)
    )
    return ops.permute_dims(ops.reshape(y, (count, depth, *y.shape[1:])), (0, 2, 1, 3, 4))


def _volumes_spread(u: Node, weight: Node, geometry: Geometry, extents: Shape) -> Node:
    """The adjoint of `_of_volumes` in x."""
    count, outputs, depth, *counts = u.shape
    deep, (before, after) = weight.shape[2], geometry.padding[0]
    flat = ops.reshape(ops.permute_dims(u, (0, 2, 1, 3, 4)), (count * depth, outputs, *counts))
    y = ops.convolution_input_gradient(flat, _flat(weight), _of_images(geometry), extents[1:])
    channels = y.shape[1] // deep
    y = ops.permute_dims(ops.reshape(y, (count, depth, channels, deep, *extents[1:])), (0, 2, 3, 1, 4, 5))
    whole = (count, channels, extents[0] + before + after, *extents[1:])
    parts = []
    for k, layer in enumerate(_layers(whole[2], deep, geometry)):
        part = ops.reshape(span(y, 2, k, 1), (count, channels, depth, *extents[1:]))
        parts.append(ops.embed(part, whole, tuple([layer if i == 2 else (0, n, 1) for i, n in enumerate(whole)])))
    return span(functools.reduce(ops.add, parts), 2, before, extents[0])


def _layers(extent: int, deep: int, geometry: Geometry) -> list[tuple[int, int, int]]:
    """Where in a padded volume the images lie that each depth of a kernel meets: (first, how many, step)."""
    step, gap = geometry.stride[0], geometry.dilation[0]
    depth = (extent - gap * (deep - 1) - 1) // step + 1
    return [(k * gap, depth, step) for k in range(deep)]


def _flat(weight: Node) -> Node:
    """The weight of volumes as one of images, whose channels are those of each depth."""
    outputs, channels, deep, *sizes = weight.shape
    return ops.reshape(weight, (outputs, channels * deep, *sizes))


def _of_images(geometry: Geometry) -> Geometry:
    return Geometry(geometry.stride[1:], geometry.padding[1:], geometry.dilation[1:], geometry.groups)


def transpose(
    rank: int,
    x: Node,
    weight: Node,
    bias: Node | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Node:
    """The adjoint of convolution in its input, as a layer: x (N, C, *counts) under a weight (C, O / groups, *sizes)."""
    name = f"conv_transpose{rank}d"
    _check_weight(name, rank, weight, "(in, out / groups,")
    sizes, outputs = weight.shape[2:], weight.shape[1] * groups
    steps, gaps = sizes_of(name, "stride", stride, rank), sizes_of(name, "dilation", dilation, rank)
    around = sizes_of(name, "padding", padding, rank, 0)
    beyond = sizes_of(name, "output_padding", output_padding, rank, 0)
    check_rank(name, x, rank)
    if groups < 1 or weight.shape[0] % groups:
        raise ValueError(f"{name}: {weight.shape[0]} input channels don't divide into {groups} groups")
    _check_channels(name, x, rank, weight, weight.shape[0], groups)
    if any(more >= max(s, d) for more, s, d in zip(beyond, steps, gaps, strict=True)):
        raise ValueError(f"{name}: output_padding {beyond} must be smaller than stride {steps} or dilation {gaps}")
    extents = output_extents(x.shape[-rank:], sizes, steps, around, gaps)
    whole = tuple([n + more for n, more in zip(extents, beyond, strict=True)])
    if min(whole) < 1:
        raise ValueError(f"{name}: a kernel of {sizes} with padding {around} leaves nothing of shape {x.shape}")
    _check_bias(name, bias, outputs)
    # what is asked for at the end is taken from what padding has cut off there; beyond that is zeros. Less than a stride needs no
    # other padding: it belongs to the windows that there are
    ends = [p if more < s else p - min(more, p) for p, more, s in zip(around, beyond, steps, strict=True)]
    reached = tuple(
        [
            n + (min(more, p) if more >= s else more)
            for n, p, more, s in zip(extents, around, beyond, steps, strict=True)
        ]
    )
    geometry = Geometry(steps, tuple(zip(around, ends, strict=True)), gaps, groups)
    given, kernel = same_type(name, [x, weight])
    if given.dtype.kind != "f":
        raise TypeError(f"{name}: not defined for {given.dtype.name}; it takes floating arrays")

    def spread(batch: Node) -> Node:
        if rank > 1:
            y = (_volumes_spread if rank > 2 else ops.convolution_input_gradient)(batch, kernel, geometry, reached)
        else:
            flat = geometry._replace(stride=(1, *steps), padding=((0, 0), *geometry.padding), dilation=(1, *gaps))
            y = as_signal(ops.convolution_input_gradient(as_image(batch), as_image(kernel), flat, (1, *reached)))
        y = ops.embed(y, (*y.shape[:2], *whole), tuple([(0, n, 1) for n in y.shape]))
        return _biased(y, bias)

    return of_batch(name, given, rank, spread)


def output_extents(counts: Shape, sizes: Shape, stride: Shape, padding: Shape, dilation: Shape) -> Shape:
    """What a transposed convolution makes of so many pixels, without output_padding."""
    return tuple(
        [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, k, s, p, d in zip(counts, sizes, stride, padding, dilation, strict=True)
        ]
    )


def _biased(y: Node, bias: Node | None) -> Node:
    return y if bias is None else ops.add(y, ops.reshape(bias, (bias.type.size, *(1,) * (y.ndim - 2))))


def _check_weight(name: str, rank: int, weight: Node, channels: str) -> None:
    if weight.ndim != rank + 2:
        window = {1: "size)", 2: "rows, columns)", 3: "depth, rows, columns)"}[rank]
        raise ValueError(f"{name}: the weight has shape {channels} {window}; its shape is {weight.shape}")


def _check_channels(name: str, x: Node, rank: int, weight: Node, channels: int, groups: int) -> None:
    if x.shape[-rank - 1] != channels or not math.prod(weight.shape[:2]):
        raise ValueError(
            f"{name}: a weight of shape {weight.shape} in {groups} group{'s' * (groups > 1)} takes {channels} channels; "
            f"the input of shape {x.shape} has {x.shape[-rank - 1]}"
        )


def _check_bias(name: str, bias: Node | None, count: int) -> None:
    if bias is not None and bias.shape != (count,):
        raise ValueError(f"{name}: the bias has shape {(count,)}, not {bias.shape}")
    if bias is not None and bias.dtype.kind == "c":
        raise TypeError(f"{name}: the bias is {bias.dtype.name}; convolutions are of real numbers, not complex ones")
