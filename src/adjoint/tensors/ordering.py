"""Scans along an axis, and order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

import numpy as np

from adjoint.composites import reductions
from adjoint.primitives.core import ops
from adjoint.tensors.composing import DTypeLike, Operand, axis_of, composite, functions_of, refuse
from adjoint.tensors.conversion import as_node, dtype_of
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor


def cumulative_sum(
    x: Operand, /, axis: int | None = None, *, dtype: DTypeLike = None, include_initial: bool = False, **others: Never
) -> Tensor:
    """Sums of the elements up to each one along an axis; with `include_initial`, a 0 before them. dtypes as in `sum`."""
    if others:
        refuse("cumulative_sum", others)
    return _scan("cumulative_sum", x, axis, include_initial, dtype)


def _scan(name: str, x: Any, axis: int | None, include_initial: bool, dtype: DTypeLike) -> Tensor:
    chosen = None if dtype is None else dtype_of(dtype)
    return composite(name, reductions.scan, name, as_node(x), axis, include_initial, chosen)


def cumulative_prod(
    x: Operand, /, axis: int | None = None, *, dtype: DTypeLike = None, include_initial: bool = False, **others: Never
) -> Tensor:
    """Products of the elements up to each one along an axis; with `include_initial`, a 1 before them. dtypes as in `sum`."""
    if others:
        refuse("cumulative_prod", others)
    return _scan("cumulative_prod", x, axis, include_initial, dtype)


def _check_order(operation: str, descending: Any) -> None:
    if not isinstance(descending, (bool, np.bool_)):
        raise TypeError(f"{operation}: descending is True or False, not {descending!r}{at_user()}")


def sort(x: Operand, /, axis: int = -1, *, descending: bool = False, stable: bool = True, **others: Never) -> Tensor:
    """The elements in order along an axis; equal ones keep theirs, whatever `stable` says. NaN counts as the greatest."""
    if others:
        refuse("sort", others)
    _check_order("sort", descending)
    return composite("sort", reductions.sort, as_node(x), axis, descending)


def argsort(x: Operand, /, axis: int = -1, *, descending: bool = False, stable: bool = True, **others: Never) -> Tensor:
    """The indices that sort along an axis, as int64; equal elements keep their order, whatever `stable` says."""
    if others:
        refuse("argsort", others)
    _check_order("argsort", descending)
    node = as_node(x)
    return composite("argsort", lambda: ops.argsort(node, axis_of(axis, node), descending))


def diff(
    x: Operand, /, n: int = 1, axis: int = -1, *, prepend: Any = None, append: Any = None, **others: Never
) -> Tensor:
    """Differences of neighbours along an axis, n times over, with what is put before and after the elements first.

    The second argument is n, as in NumPy and PyTorch.
    """
    if others:
        refuse("diff", others)
    ends = [None if e is None else as_node(e, as_node(x).dtype) for e in (prepend, append)]
    return composite("diff", reductions.diff, as_node(x), axis, n, *ends)


if not TYPE_CHECKING:
    __all__ = functions_of(globals())
