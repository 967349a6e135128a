"""What iterative solvers give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import adjoint.tensors.functions as f
from adjoint import tree
from adjoint.dtypes import default_dtype
from adjoint.solvers.implicit import LinearSolver, determined
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import standing_for, stop_gradient
from adjoint.transforms.ravel import ravel_tree

__all__ = ["Solution", "differentiable", "precision", "unknowns"]


class Solution(NamedTuple):
    """What `root`, `fixed_point` and `minimize` give.

    x        the solution, a tree like the starting point; its derivatives are NaN where `success` is false
    fun      what the function is there
    success  a bool: whether the tolerance was reached
    nit      how many steps were taken

    >>> import adjoint as ad
    >>> ad.root(lambda x: x * x - 2, 1.0).success
    Tensor(True)
    """

    x: Any
    fun: Any
    success: Tensor
    nit: Tensor


def precision(x: Tensor, tolerance: float | None) -> float:
    """The tolerance of a solver: the root of the dtype's precision, where none is given."""
    return float(np.finfo(x.dtype.dtype).eps) ** 0.5 if tolerance is None else float(tolerance)


def unknowns(operation: str, x0: Any) -> tuple[Tensor, Callable[[Any], Any]]:
    """A starting point as a vector of floating numbers, without derivative, and the function back to the tree."""
    kind = default_dtype()
    start, unravel = ravel_tree(
        tree.map(
            lambda leaf: standing_for(leaf, (x if (x := f.asarray(leaf)).dtype.inexact else x.astype(kind)).node), x0
        )
    )
    if start.dtype.kind == "c":
        raise TypeError(f"{operation}: the unknowns are complex; solve for real and imaginary parts{at_user()}")
    return stop_gradient(start), unravel


def differentiable(
    x: Tensor, success: Tensor, condition: Callable[[Tensor], Tensor], linear_solver: LinearSolver | None = None
) -> Tensor:
    """The vector x with the derivatives that the condition gives it, or NaN where the solver failed."""
    spoiled = f.where(success, 0.0, float("nan")).astype(x.dtype)
    return determined(x, lambda v: condition(v) + spoiled * v, linear_solver)
