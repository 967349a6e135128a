"""Ordinary differential equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Never

import numpy as np

import adjoint.tensors.functions as f
from adjoint.hints import keyword_error
from adjoint.solvers.adjoint_ode import with_continuous_adjoint
from adjoint.solvers.implicit import determined
from adjoint.solvers.results import unknowns
from adjoint.solvers.steppers import METHODS, Field, Method, initial_length, runge_kutta, size
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import stop_gradient
from adjoint.transforms.loops import fori_loop, scan, while_loop
from adjoint.transforms.ravel import ravel_tree
from adjoint.transforms.vmap import vmap

__all__ = ["DenseSolution", "Event", "odeint"]


class Event(NamedTuple):
    """Where an event of `odeint` happened: t and the state y there, both NaN where `happened` is false.

    >>> import adjoint as ad
    >>> falling = lambda y, t: ad.stack([y[1], -9.81])
    >>> _, ground = ad.odeint(falling, ad.tensor([10.0, 0.0]), ad.tensor([0.0, 5.0]), event=lambda y, t: y[0])
    >>> ground.t
    Tensor(1.4278)
    """

    t: Tensor
    y: Any
    happened: Tensor


class DenseSolution:
    """The solution of `odeint(..., dense=True)`: call it with a time, or a tensor of times, between the first and the last.

    Outside of these, and where the solver needed more than `max_steps`, it gives NaN.

    >>> import adjoint as ad
    >>> solution = ad.odeint(lambda y, t: -y, 1.0, ad.tensor([0.0, 2.0]), dense=True)
    >>> solution(ad.tensor([0.5, 1.0]))
    Tensor([0.6065, 0.3679])
    """

    def __init__(
        self, starts: Tensor, lengths: Tensor, curves: Tensor, ends: Tensor, unravel: Callable[[Any], Any]
    ) -> None:
        self.starts, self.lengths, self.curves, self.ends, self.unravel = starts, lengths, curves, ends, unravel

    def __call__(self, t: Any) -> Any:
        """The state at a time, or a tree of states at a vector of times."""
        times = f.asarray(t, dtype=self.starts.dtype) if not isinstance(t, Tensor) else t
        if times.ndim > 1:
            raise ValueError(f"odeint: a time or a vector of times is needed, got shape {times.shape}{at_user()}")
        return vmap(self._at)(times) if times.ndim else self._at(times)

    def _at(self, t: Tensor) -> Any:
        sign = f.sign(self.ends[1] - self.ends[0])
        begun = (self.lengths != 0) & (sign * (t - self.starts) >= 0)
        i = f.maximum(begun.astype("int64").sum() - 1, 0)
        part = (t - self.starts[i]) / f.where(self.lengths[i] == 0, 1.0, self.lengths[i])
        inside = (sign * (t - self.ends[0]) >= 0) & (sign * (t - self.ends[1]) <= 0) & (part <= 1 + 1e-6)
        return self.unravel(f.where(inside, _polynomial(self.curves[i], part), float("nan")))


def odeint(
    function: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    method: str = "dopri5",
    rtol: float | None = None,
    atol: float | None = None,
    max_steps: int = 10_000,
    substeps: int = 1,
    derivative: str = "steps",
    event: Callable[..., Any] | None = None,
    dense: bool = False,
    memory: int | None = None,
    **others: Never,
) -> Any:
    """The solution y of y' = function(y, t, *args) with y(t[0]) = y0, at all times t (T,): a tree like y0 whose leaves have an
    axis of length T in front.

    method: "dopri5" (Dormand and Prince, order 5 with error control), "rodas4" (Rosenbrock, order 4 with error control, for
    stiff equations; it makes the Jacobian of the function) or "rk4" (classical Runge-Kutta with `substeps` equal steps between
    two times). Error control keeps the estimated error of a step below atol + rtol·|y|, in the root mean square (default for
    float64 1.49e-8 each, for float32 1e-5). Values between steps come from the method's own interpolation, so times are as
    many as you like; they increase or decrease. What isn't reached within `max_steps` is NaN.

    Differentiates by y0, t, `args` and what the function reads from outside, to every order. derivative: "steps" goes back
    through the steps that were taken, whose lengths count as constants (`memory=` as in `while_loop`); "adjoint" solves the
    continuous adjoint equation backwards, in memory that doesn't grow with the number of steps; its gradients are accurate to the
    tolerance, and NaN where the state can't be solved backwards (half of the tolerance's digits are lost), as in stiff equations.

    With `event`, a function event(y, t, *args) of one number, the result is a pair with an `Event`: where that number first
    changes its sign, found on the interpolation; later states are NaN. With `dense`, t holds two times and the result is a
    `DenseSolution`, a function of time; at most `max_steps` steps are kept, which are 1,000 if not given otherwise.

    Raises ValueError for an unknown method or derivative, or times that aren't a vector or not in order; TypeError where the
    function doesn't return a tree like y0.

    >>> import adjoint as ad
    >>> decay = lambda rate: ad.odeint(lambda y, t: -rate * y, 1.0, ad.tensor([0.0, 1.0, 2.0]))
    >>> decay(1.0)
    Tensor([1.    , 0.3679, 0.1353])
    >>> ad.jacobian(decay)(1.0)[1:]
    Tensor([-0.3679, -0.2707])
    """
    if others:
        raise keyword_error("odeint", others, at_user())
    if method not in ("rk4", *METHODS):
        raise ValueError(f"odeint: method is one of 'rk4', {', '.join(map(repr, METHODS))}, got {method!r}{at_user()}")
    if derivative not in ("steps", "adjoint"):
        raise ValueError(f"odeint: derivative is 'steps' or 'adjoint', got {derivative!r}{at_user()}")
    if (event is not None or dense) and (method == "rk4" or derivative == "adjoint"):
        raise ValueError(f"odeint: events and dense output need error control and derivatives by steps{at_user()}")
    unravel = unknowns("odeint", y0)[1]
    start = ravel_tree(y0)[0]
    start = start if start.dtype.inexact else unknowns("odeint", y0)[0]
    times = _times(t, start.dtype)

    def field(y: Tensor, time: Tensor) -> Tensor:
        slope = ravel_tree(function(unravel(y), time, *args))[0]
        if slope.shape != y.shape:
            raise TypeError(f"odeint: the function returns {slope.size} numbers for a state of {y.size}{at_user()}")
        return slope.astype(y.dtype)

    if method == "rk4":
        solve, allowed = _fixed_steps(int(substeps), memory), (1e-2, 0.0)
    else:
        eps = 1e-5 if start.dtype.dtype.itemsize == 4 else 1.49e-8
        control = _Control(
            METHODS[method], eps if rtol is None else rtol, eps if atol is None else atol, max_steps, memory
        )
        if dense:
            if max_steps == 10_000:
                control = control._replace(most=1000)
            return _dense(control, field, start, times, unravel)
        if event is not None:
            return _until(control, field, start, times, lambda y, s: event(unravel(y), s, *args), unravel)
        solve, allowed = control.solve, (control.rtol**0.5, control.atol**0.5)
    adjoint = derivative == "adjoint"
    ys = with_continuous_adjoint(field, solve, start, times, allowed) if adjoint else solve(field, start, times)
    return vmap(unravel)(_checked(ys, times))


def _times(t: Any, dtype: Any) -> Tensor:
    times = f.asarray(t)
    if times.ndim != 1 or times.shape[0] == 0:
        raise ValueError(
            f"odeint: t is a vector of times, the first of which belongs to y0; its shape is {times.shape}{at_user()}"
        )
    value = times.node.value
    if value is not None:
        order = np.diff(np.asarray(value))
        if not ((order > 0).all() or (order < 0).all()):
            raise ValueError(f"odeint: the times t increase or decrease strictly{at_user()}")
    return times if times.dtype is dtype else times.astype(dtype)


def _checked(ys: Tensor, times: Tensor) -> Tensor:
    """NaN for times out of order, where these weren't known before."""
    if times.node.value is not None or times.shape[0] < 3:
        return ys
    order = f.diff(stop_gradient(times))
    return f.where((order > 0).all() | (order < 0).all(), ys, float("nan"))


Solve = Callable[[Field, Tensor, Tensor], Tensor]


def _fixed_steps(substeps: int, memory: int | None) -> Solve:
    """Classical Runge-Kutta with so many steps between two times."""
    if substeps < 1:
        raise ValueError(f"odeint: substeps is a number from 1 on, got {substeps}{at_user()}")

    def solve(field: Field, y0: Tensor, ts: Tensor) -> Tensor:
        def advance(y: Tensor, x: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            t, h = x[0], (x[1] - x[0]) / substeps
            if substeps == 1:
                y = runge_kutta(field, y, t, h)
            else:
                y = fori_loop(0, substeps, lambda i, v: runge_kutta(field, v, t + i * h, h), y)
            return y, y

        _, ys = scan(advance, y0, (ts[:-1], ts[1:]), memory=memory)
        return f.concat([y0[None], ys])

    return solve


class _State(NamedTuple):
    """Where an integration is: y at t, f there, the next step's length; the last step, from `before` over `length`."""

    y: Tensor
    slope: Tensor
    t: Tensor
    h: Tensor
    before: Tensor
    length: Tensor
    curve: Tensor
    tries: Tensor
    over: Tensor  # nothing more will be computed: too many steps, too short ones, or an event
    sign: Tensor  # of the event function


class _Control(NamedTuple):
    """A method with its tolerances."""

    method: Method
    rtol: float
    atol: float
    most: int
    memory: int | None

    def solve(self, field: Field, y0: Tensor, ts: Tensor) -> Tensor:
        """The states at all times."""
        return self.states(field, y0, ts, None)[1]

    def states(self, field: Field, y0: Tensor, ts: Tensor, event: Field | None) -> tuple[_State, Tensor]:
        """The last state of the integration, and those at all times."""
        end = stop_gradient(ts[-1])
        begin = self.begin(field, y0, ts[0], end, event)

        def advance(state: _State, target: Tensor) -> tuple[_State, Tensor]:
            goal = stop_gradient(target)
            state = while_loop(
                lambda s: ~s.over & _before(s.t, goal, end - s.t),
                lambda s: self.step(field, s, end, event),
                state,
                memory=self.memory,
            )
            part = (target - state.before) / f.where(state.length == 0, 1.0, state.length)
            return state, f.where(part <= 1 + 1e-6, _polynomial(state.curve, part), float("nan"))

        last, ys = scan(advance, begin, ts[1:], memory=self.memory)
        return last, f.concat([y0[None], ys])

    def begin(self, field: Field, y: Tensor, t: Tensor, end: Tensor, event: Field | None) -> _State:
        slope = field(y, t)
        fixed, there = stop_gradient((y, t))
        scale = self.atol + self.rtol * abs(fixed)
        h = initial_length(field, fixed, stop_gradient(slope), there, end - there, self.method.order, scale)
        nothing = f.zeros((self.method.coefficients, *y.shape), dtype=y.dtype)
        sign = f.zeros_like(h) if event is None else f.sign(stop_gradient(event(y, t))).astype(h.dtype)
        h = stop_gradient(h)
        return _State(y, slope, t, h, t, f.zeros_like(h), nothing, f.asarray(0), ~f.isfinite(h), sign)

    def step(self, field: Field, s: _State, end: Tensor, event: Field | None) -> _State:
        """One attempt: a step, or a shorter one to try next."""
        left = stop_gradient(end - s.t)
        h = f.where(abs(s.h) < abs(left), s.h, left)
        h = f.where(
            h == 0, 1e-6, h
        )  # under vmap a problem that has ended goes on beside the others, and is thrown away
        found = self.method.step(field, s.y, s.slope, s.t, h)
        scale = self.atol + self.rtol * f.maximum(abs(s.y), abs(found.y))
        error = stop_gradient(size(found.error / scale))
        good = error <= 1
        factor = f.where(error > 0, 0.9 * f.where(error > 0, error, 1.0) ** (-1 / (self.method.order + 1)), 10.0)
        factor = f.where(f.isfinite(error), f.clip(factor, 0.2, 10.0), 0.2)
        following = h * f.where(good, factor, f.minimum(factor, 0.9))
        eps = float(np.finfo(s.y.dtype.dtype).eps)
        over = (s.tries + 1 >= self.most) | (abs(following) < 4 * eps * abs(stop_gradient(s.t)))
        sign = s.sign
        if event is not None:
            new = f.sign(stop_gradient(event(found.y, s.t + h))).astype(sign.dtype)
            over = over | (good & (new * sign <= 0) & (sign != 0))
            sign = f.where(good & ~over, new, sign)
        y, slope, t = [f.where(good, x, y) for x, y in ((found.y, s.y), (found.slope, s.slope), (s.t + h, s.t))]
        before, length, curve = [
            f.where(good, x, y) for x, y in ((s.t, s.before), (h, s.length), (found.curve, s.curve))
        ]
        return _State(y, slope, t, following, before, length, curve, s.tries + 1, over, sign)


def _before(t: Tensor, goal: Tensor, direction: Tensor) -> Tensor:
    """Whether t is before a goal, by more than rounding."""
    t, direction = stop_gradient((t, direction))
    eps = float(np.finfo(t.dtype.dtype).eps)
    return (goal - t) * f.sign(direction) > 4 * eps * f.maximum(abs(t), abs(goal))


def _polynomial(curve: Tensor, part: Tensor) -> Tensor:
    total = curve[-1]
    for i in reversed(range(curve.shape[0] - 1)):
        total = total * part + curve[i]
    return total


def _until(
    control: _Control, field: Field, y0: Tensor, ts: Tensor, event: Field, unravel: Callable[[Any], Any]
) -> tuple[Any, Event]:
    """The states up to an event, and the event: found by bisection of the last step's interpolation."""
    last, ys = control.states(field, y0, ts, event)
    curve, before, length = last.curve, last.before, last.length

    def number(part: Tensor) -> Tensor:
        return event(_polynomial(curve, part), before + part * length)

    fixed, start = stop_gradient(number(f.ones_like(length))), f.zeros_like(length)
    happened = last.over & (f.sign(fixed).astype(last.sign.dtype) * last.sign <= 0) & (last.sign != 0)

    def halve(_: Tensor, ends: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        low, high = ends
        middle = (low + high) / 2
        same = f.sign(stop_gradient(number(middle))).astype(last.sign.dtype) == last.sign
        return f.where(same, middle, low), f.where(same, high, middle)

    low, high = fori_loop(0, 60, halve, (start, f.ones_like(length)))
    part = determined(((low + high) / 2)[None], lambda p: number(p[0])[None])[0]
    nan = float("nan")
    t = f.where(happened, before + part * length, nan)
    y = f.where(happened, _polynomial(curve, part), nan)
    late = happened & (stop_gradient((ts - t) * f.sign(length)) > 0)
    ys = f.where(late[:, None], nan, _checked(ys, ts))
    return vmap(unravel)(ys), Event(t, unravel(y), happened)


def _dense(control: _Control, field: Field, y0: Tensor, ts: Tensor, unravel: Callable[[Any], Any]) -> DenseSolution:
    if ts.shape != (2,):
        raise ValueError(f"odeint: with dense, t holds the first and the last time; its shape is {ts.shape}{at_user()}")
    end = stop_gradient(ts[1])

    def advance(state: _State, _: None) -> tuple[_State, tuple[Tensor, ...]]:
        """On to the next step that is accepted."""
        there = stop_gradient(state.t)
        new = while_loop(
            lambda s: ~s.over & (s.t == there) & _before(s.t, end, end - s.t),
            lambda s: control.step(field, s, end, None),
            state,
        )
        moved = stop_gradient(new.t) != there
        return new, (new.before, f.where(moved, new.length, 0.0), new.curve)

    begin = control.begin(field, y0, ts[0], end, None)
    _, (starts, lengths, curves) = scan(advance, begin, length=control.most)
    return DenseSolution(starts, lengths, curves, ts, unravel)
