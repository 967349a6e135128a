"""Coefficients of what solves an equation, by that equation's own coefficients.

A system A y = b has Σ Aⱼ yₖ₋ⱼ = bₖ, so that yₖ solves a system with the same matrix A₀; a recurrence yᵢ = aᵢ yᵢ₋₁ + bᵢ goes the
same way. A function of matrices is that of the block Toeplitz matrix of the coefficients, whose first row of blocks is theirs
(N. Higham, "Functions of Matrices", 2008, theorem 3.6). Their derivative rules would give these too, but each derivative of a
system has two systems of its own, and each derivative of a function of matrices is one of twice as many rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from adjoint.graph import Node, record
from adjoint.primitives.core import conform, ops, zeros
from adjoint.primitives.matrix_parts import adjoint, first_columns, first_rows, part

__all__ = ["RULES", "WRITTEN_OUT", "matrix_function_coefficients"]

Coefficient = Node | None


class Known(Protocol):
    """What gives coefficients."""

    def coefficient(self, node: Node, k: int) -> Coefficient: ...
    def start(self, node: Node) -> Node: ...


def _system(known: Known, node: Node, k: int) -> Coefficient:
    """A y = b or Aᴴ y = b, by A, by one triangle of it, or by its factors."""
    a, b = node.inputs[0], node.inputs[-1]

    def changed(c: Node) -> Node:
        if node.op.name == "solve_triangular":
            lower, is_adjoint, unit = node.attributes
            c = part(c, ("strict" if unit else "lower") if lower else ("above" if unit else "upper"))
            return adjoint(c) if is_adjoint else c
        return adjoint(c) if node.op.name == "solve_factored" and node.attributes[0] else c

    left = known.coefficient(b, k)
    for j in range(1, k + 1):
        x, y = known.coefficient(a, j), known.coefficient(node, k - j)
        if x is not None and y is not None:
            left = _less(left, ops.matmul(changed(x), y))
    if left is None:
        return None
    return record(node.op, (*[known.start(x) for x in node.inputs[:-1]], left), node.attributes, node.type)


def _less(a: Coefficient, b: Node) -> Node:
    return ops.negative(b) if a is None else ops.subtract(a, b)


def _recurrence(known: Known, node: Node, k: int) -> Coefficient:
    """y[i] = a[i] y[i - 1] + b[i] along an axis."""
    a, b = node.inputs
    axis, n = node.attributes, node.shape[node.attributes]
    right = known.coefficient(b, k)
    behind = tuple([(1 if i == axis else 0, m - 1 if i == axis else m, 1) for i, m in enumerate(node.shape)])
    before = tuple([(0, m - 1 if i == axis else m, 1) for i, m in enumerate(node.shape)])
    for j in range(1, k + 1 if n else 0):
        x, y = known.coefficient(a, j), known.coefficient(node, k - j)
        if x is not None and y is not None:
            term = ops.embed(ops.scale(ops.slice_(x, behind), ops.slice_(y, before)), node.shape, behind)
            right = term if right is None else ops.add(right, term)
    return None if right is None else record(node.op, (known.start(a), right), axis, node.type)


RULES: dict[str, Callable[[Known, Node, int], Coefficient]] = {
    "solve": _system,
    "solve_triangular": _system,
    "solve_factored": _system,
    "linear_recurrence": _recurrence,
}

# What is written out ---------------------------------------------------------------------------------------------------


def _cumulative_product(node: Node, axis: int) -> Node:
    """As a recurrence whose first element is given."""
    (x,) = node.inputs
    if not x.shape[axis]:
        return x
    first = tuple([(0, 1 if i == axis else m, 1) for i, m in enumerate(x.shape)])
    return ops.linear_recurrence(x, ops.embed(ops.slice_(x, first), x.shape, first), axis)


def _product(node: Node) -> Node:
    (axis,), (x,) = node.attributes, node.inputs
    n = x.shape[axis]
    if not n:
        return node
    last = tuple([(n - 1, 1, 1) if i == axis else (0, m, 1) for i, m in enumerate(x.shape)])
    return ops.reshape(ops.slice_(_cumulative_product(node, axis), last), node.shape)


WRITTEN_OUT: dict[str, Callable[[Node], Node]] = {
    "prod": _product,
    "cumulative_prod": lambda node: _cumulative_product(node, node.attributes),
}

# Functions of matrices ----------------------------------------------------------------------------------------------------


def matrix_function_coefficients(
    node: Node, inputs: Sequence[Node], series: Sequence[Sequence[Coefficient] | None], order: int
) -> list[Coefficient]:
    """Coefficients 1 to `order` of a function of matrices, or of its derivative at A in the direction E."""
    a, *e = [
        [x, *[zeros(x.type) if c is None else conform(c, x.type) for c in cs or [None] * order]]
        for x, cs in zip(inputs, series, strict=True)
    ]
    if e:
        a = [_blocks([x, y]) for x, y in zip(a, e[0], strict=True)]
    n, m = a[0].shape[-1], node.shape[-1]
    row = first_rows(ops.matrix_function(node.attributes, _blocks(a)), 0, m)
    return [first_columns(row, (k + 1) * n - m, m) for k in range(1, order + 1)]


def _blocks(first: Sequence[Node]) -> Node:
    """The block matrix that is upper triangular and Toeplitz, by its first row."""
    axis, nothing = first[0].ndim - 1, zeros(first[0].type)
    rows = [ops.concat([*[nothing] * i, *first[: len(first) - i]], axis) for i in range(len(first))]
    return ops.concat(rows, axis - 1)
