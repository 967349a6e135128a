"""Derivatives of what a condition determines, by the implicit function theorem.

Where F(x, θ) = 0 and the matrix J = ∂F/∂x is invertible, x is a function of θ with dx = -J⁻¹ (∂F/∂θ) dθ, however x was found. The
reverse pass of that is one system: the cotangent u of x gives w with Jᵀw = u, and θ the cotangent -(∂F/∂θ)ᵀw. Both are recorded
on x itself, so that derivatives of every order follow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import linalg, tree
from adjoint.batch import Batch
from adjoint.control.body import close
from adjoint.derive import reverse
from adjoint.graph import Node, mode, substitute
from adjoint.primitives import core
from adjoint.primitives.core import data, ops, placeholder
from adjoint.primitives.custom import custom
from adjoint.solvers.linear import bicgstab
from adjoint.tensors.conversion import a, as_node
from adjoint.tensors.leaving import custom_code
from adjoint.tensors.located import at_user, recording_at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import _is_array, stop_gradient
from adjoint.transforms.ravel import ravel_tree

__all__ = ["determined", "implicit"]

DENSE = 1024  # unknowns up to which the matrix of the condition is made as a whole
LinearSolver = Callable[[Callable[[Tensor], Tensor], Tensor], Tensor]


def implicit(
    solver: Callable[..., Any], condition: Callable[..., Any], *, linear_solver: LinearSolver | None = None
) -> Callable[..., Any]:
    """The function `solver`, with derivatives from the condition that its result fulfils: condition(x, *args) = 0.

    solver(*args) gives x, a tensor or tree of them; it may be any code, NumPy's and SciPy's too, and is not differentiated.
    condition(x, *args) returns a tree with as many numbers as x, made of tensors. Arguments are differentiated by where the
    condition depends on them, and so is what it reads from outside: a starting point has derivative zero. Derivatives of every
    order, in both modes, under `vmap` and `jit` where the solver itself works there.

    Up to 1,024 unknowns the derivative solves with the matrix ∂F/∂x; above, products with it alone are used, in the
    stabilised bi-conjugate gradient method (H. van der Vorst, 1992). `linear_solver(matvec, b)` takes the place of both: it
    gives x with matvec(x) = b, for vectors.

    Raises ValueError where the condition has not as many numbers as x, numpy.linalg.LinAlgError in the derivative where the
    condition doesn't determine x.

    >>> import adjoint as ad
    >>> from scipy.optimize import brentq
    >>> kepler = ad.implicit(
    ...     lambda e, mean: brentq(lambda x: x - e.item() * np.sin(x) - mean.item(), 0, 7),
    ...     lambda x, e, mean: x - e * ad.sin(x) - mean,
    ... )
    >>> import numpy as np
    >>> ad.grad(kepler, argnums=(0, 1))(0.3, 1.0)
    (Tensor(1.048), Tensor(1.0913))
    """
    for what, f in (("solver", solver), ("condition", condition)):
        if not callable(f):
            raise TypeError(f"implicit: the {what} is a function, got {a(f)}{at_user()}")

    @functools.wraps(solver, assigned=("__module__", "__name__", "__qualname__", "__doc__"), updated=())
    def solved(*args: Any) -> Any:
        with custom_code(), mode(grad=False):
            found = solver(*stop_gradient(args))
        leaves, structure = tree.flatten(found)
        floating = []
        for leaf, path in zip(leaves, tree.paths(found), strict=True):
            if not _is_array(leaf):
                raise TypeError(
                    f"implicit: the solver returned {a(leaf)} as x{path}, not a tensor or an array{at_user()}"
                )
            floating.append(as_node(leaf))
        start, unravel = ravel_tree(structure.unflatten([wrap(core.stop_gradient(x)) for x in floating]))

        def flat(x: Tensor) -> Tensor:
            return ravel_tree(condition(unravel(x), *args))[0]

        return unravel(determined(start, flat, linear_solver))

    return solved


def determined(
    x: Tensor,
    condition: Callable[[Tensor], Tensor],
    linear_solver: LinearSolver | None = None,
    elementwise: bool = False,
) -> Tensor:
    """The vector x with the derivatives that `condition(x) = 0`, a vector as long, gives it. Where the condition is elementwise
    x has any shape."""
    with recording_at_user():
        value = core.stop_gradient(x.node)
        unknown = placeholder(value.type, "a solution", True)
        with mode(grad=True):
            residual = condition(wrap(unknown)).node
        if residual.type.size != value.type.size:
            raise ValueError(
                f"implicit: the condition has {residual.type.size} numbers for {value.type.size} unknowns{at_user()}"
            )
        (closed,), inside, outside = close([unknown], [core.cast(residual, value.dtype)])
        rule = _Rule(unknown, closed, inside, linear_solver, elementwise)
        return wrap(custom([value], outside, rule, "implicit", single=True))


class _Rule:
    """The derivative rule of one condition, F(unknown, inside) = closed."""

    def __init__(
        self,
        unknown: Node,
        closed: Node,
        inside: Sequence[Node],
        linear_solver: LinearSolver | None,
        elementwise: bool,
    ) -> None:
        self.unknown, self.closed, self.inside = unknown, closed, list(inside)
        self.linear_solver, self.elementwise = linear_solver, elementwise
        self.by = [x for x in self.inside if x.dtype.inexact]
        self.transposed: tuple[Node, list[Node | None]] | None = None

    def __call__(self, cotangents: list[Node | None], node: Node) -> list[Node | None]:
        (u,) = cotangents
        if u is None:
            return [None] * len(self.inside)
        known = dict(zip(self.inside, node.inputs[1:], strict=True)) | {self.unknown: node}
        if self.transposed is None:
            w = placeholder(self.closed.type, "a cotangent")
            with mode(grad=True):
                self.transposed = w, reverse([self.closed], [w], [self.unknown, *self.by], stop=True)
        w, (matvec, *pulled) = self.transposed
        solution = ops.negative(self._solved(u, w, matvec, known))
        wanted = [g for g in pulled if g is not None]
        found = iter(substitute(wanted, known | {w: solution}))
        given = {x: None if g is None else next(found) for x, g in zip(self.by, pulled, strict=True)}
        return [given.get(x) for x in self.inside]

    def _solved(self, u: Node, w: Node, matvec: Node | None, known: dict[Node, Node]) -> Node:
        """The w with Jᵀw = u, where `matvec` is Jᵀw."""
        n = w.type.size
        if matvec is None:  # the condition doesn't depend on x at all
            matvec = ops.zeros(w.type)
        if self.elementwise:
            (diagonal,) = substitute([matvec], known | {w: ops.full(1.0, w.type)})
            return ops.safe_divide(u, diagonal)
        if self.linear_solver is None and n <= DENSE:
            rows = Batch(n, {w: data(np.eye(n, dtype=w.dtype.dtype))}).expand([matvec])[0]
            assert rows is not None
            (matrix,) = substitute([rows], known)
            return linalg.solve(linalg.matrix_transpose(wrap(matrix)), wrap(u)).node

        def times(v: Tensor) -> Tensor:
            return wrap(substitute([matvec], known | {w: v.node})[0])

        find = self.linear_solver or bicgstab
        right = wrap(u)
        return determined(stop_gradient(find(times, stop_gradient(right))), lambda v: times(v) - right, find).node
