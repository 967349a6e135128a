"""Reductions over axes. Each records what it is composed of under its own name as a scope."""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING, Any, Never

from adjoint.composites import reductions
from adjoint.dtypes import as_dtype
from adjoint.primitives.core import ops
from adjoint.tensors.composing import ARRAYS, Axis, DTypeLike, Operand, composite, functions_of, refuse
from adjoint.tensors.conversion import a, as_node
from adjoint.tensors.located import MISTAKES, at_user, explained
from adjoint.tensors.named import recorded
from adjoint.tensors.tensor import Tensor


def _reduction(name: str, x: Any, axis: Any, keepdims: bool, dtype: DTypeLike = None) -> Tensor:
    node = as_node(x)
    try:
        if axis is None and not keepdims and dtype is None:
            result = getattr(ops, name)(node, tuple(range(node.type.ndim)))
        else:
            result = reductions.reduce(name, node, axis, keepdims, None if dtype is None else as_dtype(dtype))
    except MISTAKES as error:
        raise explained(error, name, node) from None
    return recorded(result, _getframe(2))


def sum(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, dtype: DTypeLike = None, **others: Never
) -> Tensor:
    """The sum over axes (None: all). Bools and small integers add up as 64-bit integers, unless `dtype` says otherwise: then
    in that one, wrapping around as it does.

    >>> import adjoint as ad
    >>> ad.sum(ad.ones((2, 3)), axis=0)
    Tensor([2., 2., 2.])
    """
    if others:
        refuse("sum", others)
    return _reduction("sum", x, axis, keepdims, dtype)


def prod(
    x: Operand, /, axis: Axis = None, *, keepdims: bool = False, dtype: DTypeLike = None, **others: Never
) -> Tensor:
    """The product over axes (None: all). Its derivatives are right however many elements are zero. dtypes as in `sum`."""
    if others:
        refuse("prod", others)
    return _reduction("prod", x, axis, keepdims, dtype)


def max(x: Operand, /, axis: Axis = None, *, keepdims: bool = False, **others: Never) -> Tensor:
    """The largest element over axes (None: all); NaN where there is one. Ties share the gradient evenly.

    Raises ValueError for an empty range.
    """
    if others:
        refuse("max", others)
    return _reduction("max", x, axis, keepdims)


def min(x: Operand, /, axis: Axis = None, *, keepdims: bool = False, **others: Never) -> Tensor:
    """The smallest element over axes (None: all); NaN where there is one. Ties share the gradient evenly.

    Raises ValueError for an empty range.
    """
    if others:
        refuse("min", others)
    return _reduction("min", x, axis, keepdims)


def any(x: Operand, /, axis: Axis = None, *, keepdims: bool = False, **others: Never) -> Tensor:
    """Whether an element over axes (None: all) is nonzero, as bool."""
    if others:
        refuse("any", others)
    return _reduction("any", x, axis, keepdims)


def all(x: Operand, /, axis: Axis = None, *, keepdims: bool = False, **others: Never) -> Tensor:
    """Whether all elements over axes (None: all) are nonzero, as bool."""
    if others:
        refuse("all", others)
    return _reduction("all", x, axis, keepdims)


def mean(x: Operand, /, axis: Axis = None, *, keepdims: bool = False, **others: Never) -> Tensor:
    """The mean over axes (None: all). Integers become the default floating dtype."""
    if others:
        refuse("mean", others)
    return composite("mean", reductions.mean, as_node(x), axis, keepdims)


def var(
    x: Operand, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False, **others: Never
) -> Tensor:
    """The variance over axes (None: all): squared deviations summed and divided by (count - correction)."""
    if others:
        refuse("var", others)
    return composite("var", reductions.var, as_node(x), axis, correction, keepdims)


def std(
    x: Operand, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False, **others: Never
) -> Tensor:
    """The square root of `var`; its derivative is 0 where it is 0."""
    if others:
        refuse("std", others)
    return composite("std", reductions.std, as_node(x), axis, correction, keepdims)


def norm(x: Operand, /, ord: Any = 2, *, axis: Axis = None, keepdims: bool = False, **others: Never) -> Tensor:
    """The vector norm of order `ord` over axes (None: all); its derivative is 0 where it is 0."""
    if others:
        refuse("norm", others)
    if isinstance(ord, ARRAYS):
        raise TypeError(f"norm: ord is a number, got {a(ord)}{at_user()}")
    return composite("norm", reductions.norm, as_node(x), ord, axis, keepdims)


def count_nonzero(x: Operand, /, axis: Axis = None, *, keepdims: bool = False, **others: Never) -> Tensor:
    """How many elements over axes (None: all) are nonzero, as int64."""
    if others:
        refuse("count_nonzero", others)
    return composite("count_nonzero", reductions.count_nonzero, as_node(x), axis, keepdims)


def argmax(x: Operand, /, axis: int | None = None, *, keepdims: bool = False, **others: Never) -> Tensor:
    """The index of the first largest element along an axis (None: of the flattened array), as int64."""
    if others:
        refuse("argmax", others)
    return composite("argmax", reductions.arg_extreme, "argmax", as_node(x), axis, keepdims)


def argmin(x: Operand, /, axis: int | None = None, *, keepdims: bool = False, **others: Never) -> Tensor:
    """The index of the first smallest element along an axis (None: of the flattened array), as int64."""
    if others:
        refuse("argmin", others)
    return composite("argmin", reductions.arg_extreme, "argmin", as_node(x), axis, keepdims)


def logsumexp(x: Operand, /, axis: Axis = None, *, keepdims: bool = False, **others: Never) -> Tensor:
    """log(sum(exp(x))) over axes (None: all) without overflow."""
    if others:
        refuse("logsumexp", others)
    return composite("logsumexp", reductions.logsumexp, as_node(x), axis, keepdims)


def softmax(x: Operand, /, axis: int | tuple[int, ...] = -1, **others: Never) -> Tensor:
    """exp(x) divided by its sum over an axis, without overflow."""
    if others:
        refuse("softmax", others)
    return composite("softmax", reductions.softmax, as_node(x), axis)


def log_softmax(x: Operand, /, axis: int | tuple[int, ...] = -1, **others: Never) -> Tensor:
    """log(softmax(x)) without overflow or cancellation."""
    if others:
        refuse("log_softmax", others)
    return composite("log_softmax", reductions.log_softmax, as_node(x), axis)


if not TYPE_CHECKING:
    __all__ = functions_of(globals())
