"""Batching rules of searching: one row serves all examples, or each example has its own."""

from __future__ import annotations

from typing import Any

from adjoint.graph import Node
from adjoint.primitives import searching
from adjoint.primitives.core import ops
from adjoint.shapes import size_of


def _searchsorted(b: Any, node: Node, xs: list[Node], mapped: list[bool]) -> Any:
    rows, values = xs
    if not mapped[0] and rows.ndim == 1:
        return b.record(node, xs, node.attributes)
    rows, values = b.all_mapped(xs, mapped)
    if rows.ndim == 2:  # one row of each example for all its values
        flat = ops.reshape(values, (b.size, size_of(values.shape[1:])))
        return ops.reshape(ops.searchsorted(rows, flat, node.attributes), values.shape)
    return b.record(node, [rows, values], node.attributes)


searching.SEARCHSORTED.batch = _searchsorted
