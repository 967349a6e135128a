"""Sums of products: matrices, vectors, Einstein's notation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.composites import products
from adjoint.tensors.composing import Operand, composite, functions_of
from adjoint.tensors.conversion import as_nodes
from adjoint.tensors.tensor import Tensor
from adjoint.tensors.located import at_user


# Of subscripts that are numbers, in the order in which letters are sorted.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def matmul(x: Operand, y: Operand, /) -> Tensor:
    """The matrix product over the last two axes; 1-d operands are vectors, leading axes broadcast.

    Raises ValueError where the inner sizes differ or an operand is 0-d.
    """
    return composite("matmul", products.matmul, *as_nodes((x, y)))


def dot(x: Operand, y: Operand, /) -> Tensor:
    """NumPy's dot: the sum of products over the last axis of x and the second-to-last of y."""
    return composite("dot", products.dot, *as_nodes((x, y)))


def vecdot(x: Operand, y: Operand, /, axis: int = -1) -> Tensor:
    """The sum of conj(x) * y over an axis of both, in their common dtype. Axes before it are broadcast, never this one."""
    return composite("vecdot", products.vecdot, *as_nodes((x, y)), axis)


def outer(x: Operand, y: Operand, /) -> Tensor:
    """All products of an element of x with one of y, both flattened."""
    return composite("outer", products.outer, *as_nodes((x, y)))


def tensordot(x: Operand, y: Operand, /, *, axes: Any = 2) -> Tensor:
    """The sum of products over axes: the last of x with the first of y (an int), or two lists of axes."""
    return composite("tensordot", products.tensordot, *as_nodes((x, y)), axes)


def einsum(subscripts: Any, /, *operands: Any) -> Tensor:
    """Einstein summation in NumPy's notation, contracted pairwise from left to right.

    Subscripts are a string before the operands, or as in NumPy a list of numbers after each operand and, to say the result's,
    one at the end. Raises ValueError where they don't fit the operands.

    >>> import adjoint as ad
    >>> ad.einsum("ij,j->i", ad.ones((2, 3)), ad.arange(3.0))
    Tensor([3., 3.])
    >>> ad.einsum(ad.ones((2, 3)), [0, 1], ad.arange(3.0), [1], [0])
    Tensor([3., 3.])
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _interleaved((subscripts, *operands))
    return composite("einsum", products.einsum, subscripts, as_nodes(operands))


def _interleaved(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Subscripts as a string, of operands that are each followed by a list of numbers."""
    lists = (*given[1::2], given[-1]) if len(given) % 2 else given[1::2]
    if len(given) < 2 or not all(isinstance(numbers, (list, tuple)) for numbers in lists):
        raise TypeError(
            f"einsum: takes a string of subscripts first, or a list of numbers after each operand{at_user()}"
        )
    texts = ["".join(_subscript(number) for number in numbers) for numbers in lists]
    inputs = given[0 : len(given) - len(given) % 2 : 2]
    return ",".join(texts[: len(inputs)]) + ("->" + texts[-1] if len(given) % 2 else ""), inputs


def _subscript(number: Any) -> str:
    """The letter for a number from 0 to 51."""
    if number is Ellipsis:
        return "..."
    if not isinstance(number, (int, np.integer)) or not 0 <= number < len(LETTERS):
        raise ValueError(
            f"einsum: a subscript is a whole number from 0 to 51 or an ellipsis, got {number!r}{at_user()}"
        )
    return LETTERS[number]


if not TYPE_CHECKING:
    __all__ = functions_of(globals())
