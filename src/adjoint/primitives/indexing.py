"""Reading and writing at integer positions: gather, its adjoint scatter_add, and scatter, which replaces; and latest, which says
which of several that meet wrote last.

All of them take the integer arrays as inputs, of one common shape, for the leading axes of x: the composites move axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives.core import ops, register, zeros
from adjoint.shapes import Shape, size_of


def _checked(indices: tuple[Any, ...], shape: Shape) -> tuple[Any, ...]:
    for axis, (index, n) in enumerate(zip(indices, shape, strict=False)):
        if index.size and (index.min() < -n or index.max() >= n):
            bad = index[(index < -n) | (index >= n)].flat[0]
            raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {n}")
    return indices


def _gather_kernel(attributes: None, type: Any) -> Any:
    return lambda x, *indices: np.asarray(x[_checked(indices, x.shape)])


def _scatter_add_kernel(shape: Shape, type: Any) -> Any:
    dtype = type.dtype.dtype

    def kernel(u: Any, *indices: Any) -> Any:
        out = np.zeros(shape, dtype)
        np.add.at(out, _checked(indices, shape), u)
        return out

    return kernel


def _scatter_kernel(clips: bool | None, type: Any) -> Any:
    def kernel(x: Any, value: Any, *indices: Any) -> Any:
        out = np.array(x)
        if clips:
            indices = tuple([np.clip(i, 0, n - 1) for i, n in zip(indices, x.shape, strict=False)])
        out[_checked(indices, x.shape)] = value
        return out

    return kernel


def _latest_kernel(shape: Shape, type: Any) -> Any:
    def kernel(numbers: Any, *indices: Any) -> Any:
        written = np.empty(shape, type.dtype.dtype)  # what isn't written isn't read
        written[_checked(indices, shape)] = numbers
        return np.asarray(written[indices])

    return kernel


def _gather_vjp(u: Node, out: Node, wanted: Any) -> list[Node | None]:
    x, *indices = out.inputs
    return [scatter_add(u, indices, x.shape), *(None for _ in indices)]


def _scatter_add_vjp(u: Node, out: Node, wanted: Any) -> list[Node | None]:
    _, *indices = out.inputs
    return [gather(u, indices), *(None for _ in indices)]


def _scatter_vjp(u: Node, out: Node, wanted: Any) -> list[Node | None]:
    x, value, *indices = out.inputs
    if out.attributes:
        indices = [
            ops.minimum(ops.maximum(i, ops.full(0, i.type)), ops.full(n - 1, i.type))
            for i, n in zip(indices, x.shape, strict=False)
        ]
    to_x = scatter(u, zeros(value.type), indices) if wanted[0] else None
    to_value = None
    if wanted[1]:
        # where two writes meet, the last one wins: only the winner gets the cotangent
        shape = indices[0].shape
        mine = ops.reshape(ops.iota(size_of(shape)), shape)
        winner = latest(mine, indices, x.shape[: len(indices)])
        won = ops.broadcast_to(
            ops.reshape(ops.equal(winner, mine), shape + (1,) * (value.ndim - len(shape))), value.shape
        )
        to_value = ops.where(won, gather(u, indices), zeros(value.type))
    return [to_x, to_value, *(None for _ in indices)]


GATHER = Primitive("gather", _gather_kernel, _gather_vjp, symbol="[·]", moves=True, linear=True, indices_from=1)
SCATTER_ADD = Primitive("scatter_add", _scatter_add_kernel, _scatter_add_vjp, linear=True, indices_from=1)
SCATTER = Primitive("scatter", _scatter_kernel, _scatter_vjp, moves=True, linear=True, rewrites=True, indices_from=2)

LATEST = Primitive("latest", _latest_kernel, lambda u, out, wanted: [None for _ in out.inputs], indices_from=1)


@register
def gather(x: Node, indices: list[Node]) -> Node:
    """x at integer positions of its leading axes: shape indices.shape + x.shape[len(indices):]."""
    shape = (*indices[0].shape, *x.shape[len(indices) :])
    return record(GATHER, (x, *indices), None, array_type(shape, x.dtype))


@register
def scatter_add(u: Node, indices: list[Node], shape: Shape) -> Node:
    """Zeros of a shape with u added at integer positions of the leading axes; repeated positions add up."""
    return record(SCATTER_ADD, (u, *indices), shape, array_type(shape, u.dtype))


@register
def scatter(x: Node, value: Node, indices: list[Node], clips: bool = False) -> Node:
    """x with the elements at integer positions replaced; of repeated positions the last one wins. Where it clips, a position
    outside stands for the nearest one inside, and negative ones don't count from the end: then it can't fail."""
    return record(SCATTER, (x, value, *indices), True if clips else None, x.type)


@register
def latest(numbers: Node, indices: list[Node], shape: Shape) -> Node:
    """For each position in an array of a shape, which needn't be there, the number (an integer) that is written there last."""
    return record(LATEST, (numbers, *indices), shape, numbers.type)
