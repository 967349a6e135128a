"""The matrix product, over equal batch shapes. Everything else that contracts is composed from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.graph import NARROW, Node, Primitive, array_type, get_mode, record
from adjoint.primitives.core import conjugate, ops, register


def _rule_a(u: Node, out: Node, a: Node, b: Node) -> Node:
    return matmul(u, conjugate(ops.matrix_transpose(b)))


def _rule_b(u: Node, out: Node, a: Node, b: Node) -> Node:
    return matmul(conjugate(ops.matrix_transpose(a)), u)


def _batched(a: Any, b: Any, out: Any = None) -> Any:
    if a.shape[-1] == 1:  # outer products, as of per-example gradients: four times as fast as matmul's
        return np.einsum("...i,...j->...ij", a[..., 0], b[..., 0, :], out=out)
    return np.matmul(a, b, out=out)


SHORT = 1 << 14  # products
EXACT = 1 << 53  # float64 holds the integers up to it


def _of_integers(a: Any, b: Any, out: Any = None) -> Any:
    """By float64 where it holds every sum exactly, in any order: NumPy multiplies integers one by one, 20 times as slowly."""
    k = a.shape[-1]
    if a.size * b.shape[-1] < SHORT or k * _largest(a) * _largest(b) > EXACT:
        return _batched(a, b, out) if a.ndim > 2 else np.matmul(a, b, out=out)
    found = np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
    if out is None:
        return found.astype(a.dtype, copy=False)  # what is narrower wraps around, as sums in it do
    np.copyto(out, found, casting="unsafe")
    return out


def _largest(x: Any) -> int:
    return max(int(x.max()), -int(x.min()))


def _kernel(attributes: None, type: Any) -> Any:
    if type.size and type.dtype.kind in "iu":
        return _of_integers
    if type.ndim > 2 and type.size:
        return _batched
    if type.size == 0 or type.dtype.kind in "fc":
        return np.matmul
    return lambda a, b, out=None: np.matmul(a, b, out=out)


MATMUL = Primitive("matmul", _kernel, (_rule_a, _rule_b), takes_out=True, symbol="@", bilinear=True)


@register
def matmul(a: Node, b: Node) -> Node:
    """(..., n, k) by (..., k, m), same dtype, same leading axes."""
    left = a.type
    shape = (*left.shape[:-1], b.type.shape[-1])
    if NARROW:
        return record(MATMUL, (a, b), None, array_type(shape, left.dtype))
    mode = get_mode()
    return Node(MATMUL, (a, b), None, array_type(shape, left.dtype), mode.site, mode.offset,
                mode.grad and (a.tracked or b.tracked))  # fmt: skip
