"""Minima, by Newton's method and by L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Never

import numpy as np

import adjoint.tensors.functions as f
from adjoint import linalg
from adjoint.hints import keyword_error
from adjoint.solvers.implicit import DENSE
from adjoint.solvers.linear import conjugate_gradients
from adjoint.solvers.results import Solution, differentiable, precision, unknowns
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import grad, stop_gradient, value_and_grad
from adjoint.transforms.jacobians import hessian
from adjoint.transforms.loops import while_loop

__all__ = ["minimize"]

Pair = tuple[Tensor, Tensor]
ValueAndGradient = Callable[[Tensor], Pair]
MEMORY = 10  # steps that L-BFGS remembers
ROUNDING = 10.0  # precisions of the value: a smaller change of it means nothing


def minimize(
    function: Callable[..., Any],
    x0: Any,
    *args: Any,
    method: str = "l-bfgs",
    tolerance: float | None = None,
    max_steps: int = 10_000,
    **others: Never,
) -> Solution:
    """x where function(x, *args), one number, is least near x0, a tensor or tree of them.

    method: "l-bfgs" (D. Liu and J. Nocedal, Math. Programming 45, 1989; ten steps are remembered, steps fulfil Wolfe's
    conditions) or "newton" (the Hessian with its eigenvalues' absolute values, so that saddles repel; for up to some hundred
    unknowns). It ends where the largest element of the gradient is at most `tolerance` times max(1, |value|), or where the
    value can't be told from a smaller one any more and the gradient is below the root of that. Default: the root of the
    precision.

    x differentiates by `args` and by what the function reads from outside: ∂x = -H⁻¹ ∂(gradient), the implicit function
    theorem at gradient zero; its derivative by x0 is zero. Works under `vmap` and `jit`. See `Solution` for what it gives.

    Raises ValueError for an unknown method, TypeError for complex unknowns.

    >>> import adjoint as ad
    >>> rosenbrock = lambda x, a: (a - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    >>> ad.minimize(rosenbrock, ad.zeros(2), 2.0, method="newton").x
    Tensor([2., 4.])
    >>> ad.jacobian(lambda a: ad.minimize(rosenbrock, ad.zeros(2), a, method="newton").x)(2.0)
    Tensor([1., 4.])
    """
    if others:
        raise keyword_error("minimize", others, at_user())
    if method not in METHODS:
        raise ValueError(f"minimize: method is one of {', '.join(map(repr, METHODS))}, got {method!r}{at_user()}")
    start, unravel = unknowns("minimize", x0)

    def value(v: Tensor) -> Any:
        return function(unravel(v), *args)

    def fixed(v: Tensor) -> Pair:
        y, g = value_and_grad(value)(v)
        return stop_gradient(y), stop_gradient(g)

    x, success, count = METHODS[method](fixed, value, start, precision(start, tolerance), max_steps)
    large = start.size > DENSE
    x = differentiable(x, success, grad(value), conjugate_gradients if large else None)
    return Solution(unravel(x), value(x), success, count)


class _Point(NamedTuple):
    """Where a minimisation is."""

    x: Tensor
    y: Tensor
    g: Tensor
    tries: Tensor
    done: Tensor
    stuck: Tensor


def _begin(fixed: ValueAndGradient, start: Tensor, tolerance: float) -> _Point:
    y, g = fixed(start)
    return _Point(start, y, g, f.asarray(0), _small(g, y, tolerance), f.asarray(False))


def _small(g: Tensor, y: Tensor, tolerance: float) -> Tensor:
    return abs(g).max() <= tolerance * f.maximum(abs(y), 1.0) if g.size else f.asarray(True)


def _end(p: _Point, tolerance: float) -> tuple[Tensor, Tensor, Tensor]:
    success = p.done | (p.stuck & _small(p.g, p.y, tolerance**0.5))
    return p.x, success & f.isfinite(p.x).all(), p.tries


# The line search ------------------------------------------------------------------------------------------------------


class _Trial(NamedTuple):
    """A step length t between `low`, which is too short, and `high`, which is too long (infinite: none known)."""

    t: Tensor
    low: Tensor
    slope: Tensor  # at low
    high: Tensor
    y: Tensor
    g: Tensor
    accepted: Tensor
    tries: Tensor


def _search(fixed: ValueAndGradient, x: Tensor, y: Tensor, g: Tensor, direction: Tensor, first: Tensor) -> _Trial:
    """A step along a direction of descent that fulfils Wolfe's conditions, by bisection and the secant of the slopes. Where
    values differ by rounding alone, the slopes decide (W. Hager and H. Zhang, SIAM J. Optimization 16, 2005)."""
    slope = (g * direction).sum()
    noise = ROUNDING * float(np.finfo(x.dtype.dtype).eps) * abs(y)

    def judged(t: Tensor, low: Tensor, at_low: Tensor, high: Tensor, count: Tensor) -> _Trial:
        value, gradient = fixed(x + t * direction)
        rise = (gradient * direction).sum()
        enough = value <= y + 1e-4 * t * slope
        enough = enough | ((value <= y + noise) & (rise <= -0.9998 * slope))
        flat = (rise >= 0.9 * slope) & (abs(rise) <= f.maximum(-0.9 * slope, 0.0))
        accepted = enough & flat & f.isfinite(value)
        too_long = ~enough | (rise > 0) | ~f.isfinite(value)
        high = f.where(too_long, t, high)
        low, at_low = f.where(too_long, low, t), f.where(too_long, at_low, rise)
        middle = (low + high) / 2
        secant = low - at_low * (t - low) / f.where(rise == at_low, 1.0, rise - at_low)
        inside = too_long & enough & (secant > low + 0.1 * (high - low)) & (secant < high - 0.1 * (high - low))
        following = f.where(f.isfinite(high), f.where(inside, secant, middle), 2 * t)
        return _Trial(f.where(accepted, t, following), low, at_low, high, value, gradient, accepted, count + 1)

    start = judged(first, f.zeros_like(y), slope, f.full_like(y, float("inf")), f.asarray(0))
    end: _Trial = while_loop(
        lambda c: ~c.accepted & (c.tries < 40), lambda c: judged(c.t, c.low, c.slope, c.high, c.tries), start
    )
    return end


def _moved(p: _Point, trial: _Trial, direction: Tensor, tolerance: float) -> _Point:
    ok = trial.accepted
    x = f.where(ok, p.x + trial.t * direction, p.x)
    y, g = f.where(ok, trial.y, p.y), f.where(ok, trial.g, p.g)
    return _Point(x, y, g, p.tries + 1, _small(g, y, tolerance), ~ok)


# The methods ----------------------------------------------------------------------------------------------------------


def _newton(
    fixed: ValueAndGradient, value: Callable[[Tensor], Any], start: Tensor, tolerance: float, most: int
) -> tuple[Tensor, Tensor, Tensor]:
    eps = float(np.finfo(start.dtype.dtype).eps)

    def body(p: _Point) -> _Point:
        curvature = stop_gradient(hessian(value)(p.x))
        values, vectors = linalg.eigh(curvature)
        size = abs(values)
        least = eps * size.max()
        size = f.maximum(size, f.where(least > 0, least, 1.0))
        direction = -(vectors @ ((vectors.mT @ p.g) / size))
        return _moved(p, _search(fixed, p.x, p.y, p.g, direction, f.ones_like(p.y)), direction, tolerance)

    begin = _begin(fixed, start, tolerance)
    return _end(while_loop(lambda p: ~p.done & ~p.stuck & (p.tries < most), body, begin), tolerance)


class _History(NamedTuple):
    """The last steps, newest first: how x and the gradient changed, and one over the product of the two (0: no step)."""

    steps: Tensor
    changes: Tensor
    weights: Tensor


def _lbfgs(
    fixed: ValueAndGradient, value: Callable[[Tensor], Any], start: Tensor, tolerance: float, most: int
) -> tuple[Tensor, Tensor, Tensor]:
    def body(carry: tuple[_Point, _History]) -> tuple[_Point, _History]:
        p, h = carry
        direction = -_product(h, p.g)
        descends = (direction * p.g).sum() < 0
        direction = f.where(descends, direction, -p.g)
        fresh = f.where((h.weights[0] > 0) & descends, 1.0, f.minimum(1.0, 1 / abs(p.g).sum()))
        new = _moved(p, _search(fixed, p.x, p.y, p.g, direction, fresh), direction, tolerance)
        return new, _remembered(h, new.x - p.x, new.g - p.g)

    n = start.shape[0]
    empty = f.zeros((MEMORY, n), dtype=start.dtype)
    begin = (_begin(fixed, start, tolerance), _History(empty, empty, f.zeros((MEMORY,), dtype=start.dtype)))

    def going(carry: tuple[_Point, _History]) -> Tensor:
        p = carry[0]
        return ~p.done & ~p.stuck & (p.tries < most)

    return _end(while_loop(going, body, begin)[0], tolerance)


def _remembered(h: _History, step: Tensor, change: Tensor) -> _History:
    product = (step * change).sum()
    weight = f.where(product > 0, 1 / f.where(product > 0, product, 1.0), 0.0)
    return _History(
        f.concat([step[None], h.steps[:-1]]),
        f.concat([change[None], h.changes[:-1]]),
        f.concat([weight[None], h.weights[:-1]]),
    )


def _product(h: _History, g: Tensor) -> Tensor:
    """The approximate inverse Hessian times g, by the two loops of J. Nocedal (1980)."""
    factors = []
    for i in range(MEMORY):
        factors.append(h.weights[i] * (h.steps[i] * g).sum())
        g = g - factors[i] * h.changes[i]
    squares = (h.changes[0] ** 2).sum() * h.weights[0]
    g = g * f.where(squares > 0, 1 / f.where(squares > 0, squares, 1.0), 1.0)
    for i in reversed(range(MEMORY)):
        g = g + (factors[i] - h.weights[i] * (h.changes[i] * g).sum()) * h.steps[i]
    return g


METHODS = {"l-bfgs": _lbfgs, "newton": _newton}
