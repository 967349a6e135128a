"""Pooling over the last axes, as many as a `Pool` has; any axes may lie in front, so that a batch of images is one more of them.

`max_pool` gives values. Its derivative moves cotangents by `max_pool_positions`, the number of each window's largest cell:
`pool_put` and `pool_take` at given positions are linear, and each other's adjoints. So are `pool_sum`, from which averages
are made, and `pool_spread`. An average over windows of unequal sizes is a product of matrices, not a primitive.
"""

from __future__ import annotations

from adjoint._tuples import NamedTuple
from adjoint.dtypes import int32, uint8
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives import pooling_kernels as kernels
from adjoint.primitives.core import register
from adjoint.shapes import Shape, size_of


class Pool(NamedTuple):
    """How windows lie in an image, axis by axis: rows, then columns. `before` counts the cells outside before the first pixel.

    `counts` are the windows along each axis: the last may reach outside. Cells outside are -inf to a maximum, 0 to a sum.
    """

    sizes: Shape
    stride: Shape
    dilation: Shape
    before: Shape
    extents: Shape
    counts: Shape

    @property
    def rank(self) -> int:
        """Over how many axes."""
        return len(self.sizes)

    def over(self, shape: Shape, extents: Shape) -> Shape:
        """A shape whose last axes become these."""
        return (*shape[: len(shape) - len(extents)], *extents)


MAX_POOL = Primitive(
    "max_pool",
    lambda pool, type: lambda x: kernels.largest(x, pool),
    (lambda u, out, x: pool_put(u, max_pool_positions(x, out.attributes), out.attributes),),
    images=(True,),
)
MAX_POOL_POSITIONS = Primitive(
    "max_pool_positions",
    lambda pool, type: lambda x: kernels.positions(x, pool, type.dtype.dtype),
    swallows=True,
    images=(True,),
)
POOL_TAKE = Primitive(
    "pool_take",
    lambda pool, type: lambda x, positions: kernels.take(x, positions, pool),
    (lambda u, out, x, positions: pool_put(u, positions, out.attributes), None),
    images=(True, True),
)
POOL_PUT = Primitive(
    "pool_put",
    lambda pool, type: lambda u, positions: kernels.put(u, positions, pool),
    (lambda t, out, u, positions: pool_take(t, positions, out.attributes), None),
    images=(True, True),
)
POOL_SUM = Primitive(
    "pool_sum",
    lambda pool, type: lambda x: kernels.total(x, pool),
    (lambda u, out, x: pool_spread(u, out.attributes),),
    linear=True,
    images=(True,),
)
POOL_SPREAD = Primitive(
    "pool_spread",
    lambda pool, type: lambda u: kernels.spread(u, pool),
    (lambda t, out, u: pool_sum(t, out.attributes),),
    linear=True,
    images=(True,),
)


@register
def max_pool(x: Node, pool: Pool) -> Node:
    """The largest of each window, NaN where there is one: (..., *extents) to (..., *counts)."""
    return record(MAX_POOL, (x,), pool, array_type(pool.over(x.shape, pool.counts), x.dtype))


@register
def max_pool_positions(x: Node, pool: Pool) -> Node:
    """Which cell of each window holds its largest number, the first of equals, counted row by row, or a NaN's."""
    dtype = uint8 if size_of(pool.sizes) <= 256 else int32
    return record(MAX_POOL_POSITIONS, (x,), pool, array_type(pool.over(x.shape, pool.counts), dtype))


@register
def pool_take(x: Node, positions: Node, pool: Pool) -> Node:
    """One number from each window, by the number of its cell: (..., *extents) to (..., *counts)."""
    return record(POOL_TAKE, (x, positions), pool, array_type(positions.shape, x.dtype))


@register
def pool_put(u: Node, positions: Node, pool: Pool) -> Node:
    """The adjoint of `pool_take`: zeros (..., *extents) to which each u is added in its window's cell."""
    return record(POOL_PUT, (u, positions), pool, array_type(pool.over(u.shape, pool.extents), u.dtype))


@register
def pool_sum(x: Node, pool: Pool) -> Node:
    """The sum of each window: (..., *extents) to (..., *counts)."""
    return record(POOL_SUM, (x,), pool, array_type(pool.over(x.shape, pool.counts), x.dtype))


@register
def pool_spread(u: Node, pool: Pool) -> Node:
    """The adjoint of `pool_sum`: zeros (..., *extents) to which each u is added all over its window."""
    return record(POOL_SPREAD, (u,), pool, array_type(pool.over(u.shape, pool.extents), u.dtype))
