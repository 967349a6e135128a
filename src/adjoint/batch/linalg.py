"""Batching rules of linear algebra: one more leading axis; where one matrix serves all examples, they are its columns."""

from __future__ import annotations

from typing import Any

from adjoint.graph import Node
from adjoint.primitives import factorizations, spectra
from adjoint.primitives.core import ops


def stacked(b: Any, node: Node, xs: list[Node], mapped: list[bool]) -> Any:
    """The same operation on one more leading axis."""
    return b.record(node, b.all_mapped(xs, mapped), node.attributes)


def solved(b: Any, node: Node, xs: list[Node], mapped: list[bool]) -> Any:
    """A system with one matrix: the examples' right sides lie side by side."""
    *shared, side = xs
    if any(mapped[:-1]) or shared[0].ndim != 2:
        return stacked(b, node, xs, mapped)
    n, k = side.shape[1:]
    columns = ops.reshape(ops.permute_dims(side, (1, 0, 2)), (n, b.size * k))
    given = {
        factorizations.SOLVE: lambda: factorizations.solve(shared[0], columns),
        factorizations.SOLVE_TRIANGULAR: lambda: factorizations.solve_triangular(shared[0], columns, *node.attributes),
        factorizations.SOLVE_FACTORED: lambda: factorizations.solve_factored(*shared, columns, *node.attributes),
    }
    return ops.permute_dims(ops.reshape(given[node.op](), (n, b.size, k)), (1, 0, 2))


for _op in (*factorizations.PRIMITIVES, *spectra.PRIMITIVES):
    _op.batch = stacked
for _op in (factorizations.SOLVE, factorizations.SOLVE_TRIANGULAR, factorizations.SOLVE_FACTORED):
    _op.batch = solved
