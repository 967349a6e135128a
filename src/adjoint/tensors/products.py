"""Sums of products: matrices, vectors, Einstein's notation."""

from __future__ import annotations

from typing import Any

from adjoint.composites import products
from adjoint.tensors.composing import Operand, composite
from adjoint.tensors.conversion import as_node
from adjoint.tensors.tensor import Tensor

__all__ = ["dot", "einsum", "matmul", "outer", "tensordot", "vecdot"]


def matmul(x: Operand, y: Operand, /) -> Tensor:
    """The matrix product over the last two axes; 1-d operands are vectors, leading axes broadcast.

    Raises ValueError where the inner sizes differ or an operand is 0-d.
    """
    return composite("matmul", products.matmul, as_node(x), as_node(y))


def dot(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's dot: the sum of products over the last axis of x and the second-to-last of y."""
    return composite("dot", products.dot, as_node(x), as_node(y))


def vecdot(x: Operand, y: Operand, /, axis: int = -1) -> Tensor:
    """The sum of conj(x) * y over an axis of both, in their common dtype. Axes before it are broadcast, never this one."""
    return composite("vecdot", products.vecdot, as_node(x), as_node(y), axis)


def outer(x: Operand, y: Operand, /) -> Tensor:
    """All products of an element of x with one of y, both flattened."""
    return composite("outer", products.outer, as_node(x), as_node(y))


def tensordot(x: Operand, y: Operand, /, *, axes: Any = 2) -> Tensor:
    """The sum of products over axes: the last of x with the first of y (an int), or two lists of axes."""
    return composite("tensordot", products.tensordot, as_node(x), as_node(y), axes)


def einsum(subscripts: str, /, *operands: Operand) -> Tensor:
    """Einstein summation in NumPy's notation, contracted pairwise from left to right.

    >>> import adjoint as ad
    >>> ad.einsum("ij,j->i", ad.ones((2, 3)), ad.arange(3.0))
    Tensor([3., 3.])
    """
    return composite("einsum", products.einsum, subscripts, [as_node(x) for x in operands])
