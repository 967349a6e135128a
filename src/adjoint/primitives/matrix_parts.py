"""Pieces of the rules of linear algebra: triangles, diagonals, products and parts of matrices, which are the last two axes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.graph import Node, array_type
from adjoint.primitives.core import cast, conjugate, leaf, ops, select


def adjoint(x: Node) -> Node:
    """The conjugate transpose."""
    return conjugate(ops.matrix_transpose(x))


def hermitian(x: Node) -> Node:
    """Half of x and its conjugate transpose."""
    return ops.multiply(ops.add(x, adjoint(x)), 0.5)


def chain(*factors: Node) -> Node:
    """A product of matrices, from left to right."""
    result = factors[0]
    for x in factors[1:]:
        result = ops.matmul(result, x)
    return result


@functools.lru_cache(maxsize=64)
def _mask(rows: int, columns: int, kind: str, dtype: str) -> Any:
    """Constant factors: "lower" and "upper" triangles, "strict" ones below the diagonal, "half" with 1/2 on it, "one"."""
    makers: dict[str, Callable[[], Any]] = {
        "lower": lambda: np.tri(rows, columns),
        "strict": lambda: np.tri(rows, columns, -1),
        "upper": lambda: 1 - np.tri(rows, columns, -1),
        "above": lambda: 1 - np.tri(rows, columns),
        "half": lambda: np.tri(rows, columns) - 0.5 * np.eye(rows, columns),
        "one": lambda: np.eye(rows, columns),
    }
    mask = makers[kind]().astype(dtype)
    mask.flags.writeable = False
    return mask


def constant_matrix(kind: str, rows: int, columns: int, dtype: Any) -> Node:
    """One of the constants of `_mask` as a node."""
    return leaf(_mask(rows, columns, kind, dtype.name), array_type((rows, columns), dtype))


def part(x: Node, kind: str) -> Node:
    """x by a constant of `_mask`: a triangle of each matrix."""
    rows, columns = x.shape[-2:]
    mask = constant_matrix(kind, rows, columns, x.dtype)
    return ops.scale(x, ops.broadcast_to(mask, x.shape))


def one_matrix(like: Node) -> Node:
    """The unit matrix as large as square ones, broadcast to their batch."""
    n = like.shape[-1]
    return ops.broadcast_to(constant_matrix("one", n, n, like.dtype), (*like.shape[:-1], n))


def diagonal_matrix(d: Node) -> Node:
    """(..., n) on the diagonal of (..., n, n)."""
    n = d.shape[-1]
    spread = ops.broadcast_to(ops.reshape(d, (*d.shape, 1)), (*d.shape, n))
    return ops.scale(spread, ops.broadcast_to(constant_matrix("one", n, n, d.dtype), spread.shape))


def diagonal_of(x: Node) -> Node:
    """(..., n, n) to its diagonal (..., n)."""
    return ops.sum(part(x, "one"), (x.ndim - 1,))


def columns_scaled(x: Node, d: Node) -> Node:
    """Each column of x (..., m, n) by one of the factors d (..., n): the product with a diagonal matrix."""
    factors = ops.reshape(cast(d, x.dtype), (*d.shape[:-1], 1, d.shape[-1]))
    return ops.scale(x, ops.broadcast_to(factors, x.shape))


def by_number(u: Node, x: Node) -> Node:
    """x (..., m, n) by one number u (...) for each matrix."""
    factors = ops.reshape(cast(u, x.dtype), (*u.shape, 1, 1))
    return ops.scale(ops.broadcast_to(factors, x.shape), x)


def first_columns(x: Node, start: int, size: int) -> Node:
    """Columns from `start`."""
    return ops.slice_(x, (*[(0, n, 1) for n in x.shape[:-1]], (start, size, 1)))


def first_rows(x: Node, start: int, size: int) -> Node:
    """Rows from `start`."""
    return ops.slice_(x, (*[(0, n, 1) for n in x.shape[:-2]], (start, size, 1), (0, x.shape[-1], 1)))


def plain(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A primitive's kernel as it is."""
    return lambda attributes, type: kernel


def with_attributes(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A primitive's kernel that gets its attributes behind the arrays."""
    return lambda attributes, type: lambda *arrays: kernel(*arrays, *attributes)


def outputs(node: Node) -> list[Node]:
    """The outputs of a node that has several."""
    return [select(node, i) for i in range(len(node.type))]


def either(a: Node | None, b: Node | None) -> Node | None:
    """The sum of what there is of two."""
    return b if a is None else a if b is None else ops.add(a, b)


def complement_gauge(first: Node, u: Node | None, rest: Node, u_rest: Node | None) -> Node | None:
    """The cotangent of orthonormal columns when others complete them: these turn with them, and no more than they must."""
    if u_rest is None:
        return u
    return either(u, ops.negative(chain(rest, adjoint(u_rest), first)))


def split_columns(u: Node | None, k: int) -> tuple[Node | None, Node | None]:
    """The first k columns, and the others if there are any."""
    if u is None:
        return None, None
    return first_columns(u, 0, k), first_columns(u, k, u.shape[-1] - k) if u.shape[-1] > k else None
