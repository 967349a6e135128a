"""Batching rules of convolution: a batch of images is more images, a batch of kernels more channels.

Where both operands are batched, each example is a group of channels of its own. With a batch of one operand only, its
channels lie side by side, inside the groups that there are.
"""

from __future__ import annotations

from typing import Any, Protocol

from adjoint.graph import ArrayType, Node
from adjoint.primitives.convolution import Geometry
from adjoint.primitives.core import ops
from adjoint.shapes import Shape


class Batched(Protocol):
    """A batch: how many examples there are, and the type of all of them together."""

    size: int

    def with_axis(self, type: ArrayType) -> ArrayType:
        """The type with the batch axis in front."""


def _joined(x: Node, axis: int) -> Node:
    """The batch axis in front merged into an axis of the examples: (B, ..., n, ...) to (..., B * n, ...)."""
    moved = ops.permute_dims(x, (*range(1, axis + 1), 0, *range(axis + 1, x.ndim)))
    shape = moved.shape
    return ops.reshape(moved, (*shape[:axis], shape[axis] * shape[axis + 1], *shape[axis + 2 :]))


def _joined_in_groups(x: Node, axis: int, groups: int) -> Node:
    """The same inside each group of channels: (B, ..., g * n, ...) to (..., g * B * n, ...)."""
    lead, channels, rest = x.shape[: axis + 1], x.shape[axis + 1], x.shape[axis + 2 :]
    joined = _joined(ops.reshape(x, (*lead, groups, channels // groups, *rest)), axis + 1)
    return ops.reshape(joined, (*lead[1:], lead[0] * channels, *rest))


def _parted(y: Node, size: int, axis: int, groups: int = 1) -> Node:
    """What `_joined` or `_joined_in_groups` merged, taken apart: the batch axis in front again."""
    lead, channels, rest = y.shape[:axis], y.shape[axis], y.shape[axis + 1 :]
    split = ops.reshape(y, (*lead, groups, size, channels // (groups * size), *rest))
    front = ops.permute_dims(split, (axis + 1, *range(axis + 1), *range(axis + 2, split.ndim)))
    return ops.reshape(front, (size, *lead, channels // size, *rest))


def _folded(x: Node) -> Node:
    return ops.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))


def _unfolded(y: Node, size: int, shape: Shape) -> Node:
    return ops.reshape(y, (size, *shape))


def _in_groups_of_their_own(geometry: Geometry, size: int) -> Geometry:
    return geometry._replace(groups=geometry.groups * size)


def convolution(b: Batched, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    """Of images, of kernels, or of both."""
    x, w = xs
    if not b.size:
        return ops.zeros(b.with_axis(node.type))
    geometry, size = node.attributes, b.size
    if all(mapped):
        y = ops.convolution(_joined(x, 1), _joined(w, 0), _in_groups_of_their_own(geometry, size))
        return _parted(y, size, 1)
    if mapped[0]:
        return _unfolded(ops.convolution(_folded(x), w, geometry), size, node.shape)
    y = ops.convolution(x, _joined_in_groups(w, 0, geometry.groups), geometry)
    return _parted(y, size, 1, geometry.groups)


def input_gradient(b: Batched, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    """Of cotangents, of kernels, or of both."""
    u, w = xs
    if not b.size:
        return ops.zeros(b.with_axis(node.type))
    (geometry, extents), size = node.attributes, b.size
    if all(mapped):
        wider = _in_groups_of_their_own(geometry, size)
        return _parted(ops.convolution_input_gradient(_joined(u, 1), _joined(w, 0), wider, extents), size, 1)
    if mapped[0]:
        return _unfolded(ops.convolution_input_gradient(_folded(u), w, geometry, extents), size, node.shape)
    x = ops.convolution_input_gradient(u, _joined(w, 1), geometry, extents)
    return _parted(x, size, 1, geometry.groups)


def weight_gradient(b: Batched, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    """Of images, of cotangents, or of both: the sum over an example's images stays inside its own channels."""
    x, u = xs
    if not b.size:
        return ops.zeros(b.with_axis(node.type))
    (geometry, sizes), size, groups = node.attributes, b.size, node.attributes[0].groups
    if all(mapped):
        wider = _in_groups_of_their_own(geometry, size)
        return _parted(ops.convolution_weight_gradient(_joined(x, 1), _joined(u, 1), wider, sizes), size, 0)
    if mapped[0]:
        w = ops.convolution_weight_gradient(_joined_in_groups(x, 1, groups), u, geometry, sizes)
        return _parted(w, size, 1)
    w = ops.convolution_weight_gradient(x, _joined_in_groups(u, 1, groups), geometry, sizes)
    return _parted(w, size, 0, groups)


def pooled(b: Any, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    """Pooling takes any axes in front of an image's own."""
    found: Node = b.record(node, b.all_mapped(xs, mapped), node.attributes)
    return found
