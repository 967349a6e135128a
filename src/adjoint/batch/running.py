"""Batching rules of running extremes and of extremes at positions."""

from __future__ import annotations

from typing import Any

from adjoint.batch.rules import _behind, _positions, _shifted_axis, _to_front
from adjoint.graph import Node
from adjoint.primitives import running
from adjoint.primitives.core import ops


def _scatter_extreme(b: Any, node: Node, xs: list[Node], mapped: list[bool]) -> Any:
    u, *indices = xs
    (shape, largest), k = node.attributes, len(indices)
    if not any(mapped[1:]):
        u = _behind(u, indices[0].ndim)
        return _to_front(ops.scatter_extreme(u, indices, (*shape[:k], b.size, *shape[k:]), largest), k)
    (u,) = b.all_mapped([u], mapped[:1])
    return ops.scatter_extreme(u, _positions(b, indices, mapped[1:]), (b.size, *shape), largest)


running.SCATTER_EXTREME.batch = _scatter_extreme
for _op in running.PRIMITIVES:
    _op.batch = _shifted_axis
