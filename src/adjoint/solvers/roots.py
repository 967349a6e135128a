"""Roots and fixed points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Never

import numpy as np

import adjoint.tensors.functions as f
from adjoint import linalg
from adjoint.hints import keyword_error
from adjoint.solvers.results import Solution, differentiable, precision, unknowns
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import stop_gradient
from adjoint.transforms.jacobians import jacfwd
from adjoint.transforms.loops import while_loop
from adjoint.transforms.ravel import ravel_tree

__all__ = ["fixed_point", "root"]


def root(
    function: Callable[..., Any],
    x0: Any,
    *args: Any,
    tolerance: float | None = None,
    max_steps: int = 100,
    **others: Never,
) -> Solution:
    """x with function(x, *args) = 0, by Newton's method with step halving, damped where its matrix is singular.

    x0, a tensor or tree of them, is where it starts; the function returns a tree of as many numbers. It ends with the first
    step that is shorter than `tolerance` times the length of x (default: the root of the precision, so that what is left is
    rounding). x differentiates by `args` and by what the function reads from outside, by the implicit function theorem; its
    derivative by x0 is zero. Works under `vmap` and `jit`. See `Solution` for what it gives.

    Raises ValueError where the function has not as many numbers as x0, TypeError for complex unknowns.

    >>> import adjoint as ad
    >>> ad.grad(lambda a: ad.root(lambda x: x * x - a, 1.0).x)(4.0)
    Tensor(0.25)
    """
    if others:
        raise keyword_error("root", others, at_user())
    start, unravel = unknowns("root", x0)

    def flat(v: Tensor) -> Tensor:
        out = ravel_tree(function(unravel(v), *args))[0]
        if out.shape != v.shape:
            raise ValueError(f"root: the function returns {out.size} numbers for {v.size} unknowns{at_user()}")
        return out.astype(v.dtype)

    x, success, count = _newton(flat, start, precision(start, tolerance), max_steps)
    x = differentiable(x, success, flat)
    return Solution(unravel(x), function(unravel(x), *args), success, count)


class _Newton(NamedTuple):
    x: Tensor
    fun: Tensor
    tries: Tensor
    done: Tensor
    stuck: Tensor


def _newton(
    flat: Callable[[Tensor], Tensor], start: Tensor, tolerance: float, most: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The root of a function of vectors, whether it is one, and the number of steps."""

    def body(c: _Newton) -> _Newton:
        step, regular = _direction(stop_gradient(jacfwd(flat)(c.x)), c.fun)
        last = regular & (linalg.norm(step) <= tolerance * (linalg.norm(c.x) + tolerance))
        scale = _halved(lambda t: linalg.norm(stop_gradient(flat(c.x - t * step))), linalg.norm(c.fun), last)
        stuck = scale < SHORTEST
        x = f.where(stuck, c.x, c.x - scale * step)
        fun = stop_gradient(flat(x))
        return _Newton(x, fun, c.tries + 1, last | (fun == 0).all(), stuck)

    fun = stop_gradient(flat(start))
    begin = _Newton(start, fun, f.asarray(0), (fun == 0).all(), f.asarray(False))
    end = while_loop(lambda c: ~c.done & ~c.stuck & (c.tries < most), body, begin)
    return end.x, end.done & f.isfinite(end.x).all(), end.tries


SHORTEST = 1e-12  # of a step: what is still tried


def _halved(size: Callable[[Tensor], Tensor], before: Tensor, whole: Tensor) -> Tensor:
    """The largest of 1, 1/2, 1/4, ... by which a step makes the residual smaller (by a part of what the linear model says)."""

    def too_long(t: Tensor) -> Tensor:
        return ~(size(t) <= (1 - 1e-4 * t) * before) & (t >= SHORTEST) & ~whole

    length: Tensor = while_loop(too_long, lambda t: t / 2, f.ones_like(before))
    return length


def _direction(matrix: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The solution of a system, and whether there is one; where its matrix is singular to rounding, the step of K. Levenberg
    (1944) and D. Marquardt (1963) with the length of b as damping (J. Fan and Y. Yuan, Computing 74, 2005)."""
    if not b.size:
        return b, f.asarray(True)
    eps = float(np.finfo(b.dtype.dtype).eps)
    q, r = linalg.qr(matrix)
    diagonal = abs(linalg.diagonal(r))
    regular = diagonal.min() > 10 * eps * diagonal.max()
    unit = f.eye(b.shape[0], dtype=b.dtype)
    newton = linalg.solve_triangular(f.where(regular, r, unit), q.mT @ b)
    gram = matrix.mT @ matrix
    damping = linalg.norm(b) + eps * linalg.trace(gram) + float(np.finfo(b.dtype.dtype).tiny)
    return f.where(regular, newton, linalg.solve(gram + damping * unit, matrix.mT @ b)), regular


def fixed_point(
    function: Callable[..., Any],
    x0: Any,
    *args: Any,
    tolerance: float | None = None,
    max_steps: int = 1000,
    history: int = 5,
    **others: Never,
) -> Solution:
    """x with x = function(x, *args), by repeating it from x0.

    `history` earlier steps are combined with each (D. Anderson, J. ACM 12, 1965; regularised least squares); with 0 it is the
    plain iteration. It ends where the step is shorter than `tolerance` times the length of x (default: the root of the
    precision). x differentiates as `root`'s does. The function keeps the shapes of x0.

    Raises ValueError where it doesn't, TypeError for complex unknowns.

    >>> import adjoint as ad
    >>> ad.fixed_point(ad.cos, 1.0).x
    Tensor(0.7391)
    >>> ad.grad(lambda a: ad.fixed_point(lambda x: ad.cos(a * x), 1.0).x)(1.0)
    Tensor(-0.2975)
    """
    if others:
        raise keyword_error("fixed_point", others, at_user())
    start, unravel = unknowns("fixed_point", x0)

    def flat(v: Tensor) -> Tensor:
        out = ravel_tree(function(unravel(v), *args))[0]
        if out.shape != v.shape:
            raise ValueError(f"fixed_point: the function returns {out.size} numbers for {v.size} unknowns{at_user()}")
        return out.astype(v.dtype)

    x, success, count = _anderson(
        lambda v: stop_gradient(flat(v)), start, precision(start, tolerance), max_steps, int(history)
    )
    x = differentiable(x, success, lambda v: v - flat(v))
    return Solution(unravel(x), function(unravel(x), *args), success, count)


class _Anderson(NamedTuple):
    x: Tensor
    moved: Tensor  # f(x) - x
    steps: Tensor  # (history, n) differences of f(x), newest first
    changes: Tensor  # (history, n) differences of f(x) - x
    tries: Tensor
    done: Tensor


def _anderson(
    flat: Callable[[Tensor], Tensor], start: Tensor, tolerance: float, most: int, history: int
) -> tuple[Tensor, Tensor, Tensor]:
    n = start.shape[0]
    eps = float(np.finfo(start.dtype.dtype).eps)

    def body(c: _Anderson) -> _Anderson:
        mapped = c.x + c.moved
        if history:
            gram = c.changes @ c.changes.mT
            gram = gram + (10 * eps * linalg.trace(gram) + float(np.finfo(start.dtype.dtype).tiny)) * f.eye(
                history, dtype=start.dtype
            )
            mapped = mapped - linalg.solve(gram, c.changes @ c.moved) @ c.steps
        mapped = f.where(f.isfinite(mapped).all(), mapped, c.x + c.moved)
        image = flat(mapped)
        moved = image - mapped
        done = linalg.norm(moved) <= tolerance * (linalg.norm(mapped) + tolerance)
        if not history:
            return _Anderson(mapped, moved, c.steps, c.changes, c.tries + 1, done)
        steps = f.concat([(image - c.x - c.moved)[None], c.steps[:-1]])
        changes = f.concat([(moved - c.moved)[None], c.changes[:-1]])
        return _Anderson(mapped, moved, steps, changes, c.tries + 1, done)

    empty = f.zeros((history, n), dtype=start.dtype)
    first = flat(start) - start
    begin = _Anderson(start, first, empty, empty, f.asarray(0), abs(first).sum() == 0)
    end = while_loop(lambda c: ~c.done & (c.tries < most), body, begin)
    # one more step of the map itself: it costs nothing, and brings what converges linearly nearer
    return end.x + end.moved, end.done & f.isfinite(end.x).all(), end.tries
