"""Gradients of tables, of which a step uses few rows: which rows, and what goes to each.

The gradient of a lookup is zeros to which rows are added. As long as nobody asks for its value it is known by its rows, and an
update of the table needs to touch no others.
"""

from __future__ import annotations

from adjoint._tuples import NamedTuple
from adjoint.dtypes import int32
from adjoint.graph import PRIMITIVES, ArrayType, Node
from adjoint.primitives.core import ops
from adjoint.primitives.indexing import SCATTER_ADD
from adjoint.shapes import size_of


class Rows(NamedTuple):
    """Zeros of a shape to which `rows` (..., *rest) are added at `indices` (...) of the first axis."""

    rows: Node
    indices: Node

    def whole(self, type: ArrayType) -> Node:
        """The gradient, of this type; it isn't tracked."""
        return Node(SCATTER_ADD, tuple(self), type.shape, type, None, 0, False)


def rows_of(gradient: Node) -> Rows | None:
    """The rows of a gradient that is known by them; None for any other."""
    if gradient.op is not SCATTER_ADD or len(gradient.inputs) != 2 or not gradient.inputs[1].type.size:
        return None
    return Rows(*gradient.inputs)


def gathered(gradient: Node) -> Node:
    """A sum of gradients that are known by their rows as one of that kind; any other gradient as it is."""
    parts: list[Rows] = []
    pending = [gradient]
    while pending:
        node = pending.pop()
        if node.op is PRIMITIVES["add"] and node.inputs:
            pending += node.inputs[::-1]
            continue
        found = rows_of(node)
        if (
            found is None
            or node.type is not gradient.type
            or found.indices.dtype is not (parts or [found])[0].indices.dtype
        ):
            return gradient
        parts.append(found)
    if len(parts) == 1:
        return gradient
    rest = gradient.shape[1:]
    counts = [size_of(part.indices.shape) for part in parts]
    rows = ops.concat([ops.reshape(part.rows, (n, *rest)) for part, n in zip(parts, counts, strict=True)], 0)
    indices = ops.concat([ops.reshape(part.indices, (n,)) for part, n in zip(parts, counts, strict=True)], 0)
    total: Node = ops.scatter_add(rows, [indices], gradient.shape)
    return total


def added_up(rows: Rows, count: int) -> Rows:
    """The same, flat, where each row is the sum of all rows with its index, in order. `count` is the table's number of rows."""
    n, rest = size_of(rows.indices.shape), rows.rows.shape[rows.indices.ndim :]
    indices, flat = ops.reshape(rows.indices, (n,)), ops.reshape(rows.rows, (n, *rest))
    # which of those with this index stands for all: the last one that wrote its number down
    place = ops.latest(ops.iota(n, int32), [indices], (count,))
    return Rows(ops.gather(ops.scatter_add(flat, [place], flat.shape), [place]), indices)
