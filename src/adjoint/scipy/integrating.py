"""Initial value problems and integrals by SciPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint import tree
from adjoint.control.body import close
from adjoint.derive import reverse
from adjoint.graph import Node, array_type, mode, substitute
from adjoint.plan.canonical import ValueNeededError
from adjoint.primitives import core
from adjoint.primitives.core import placeholder
from adjoint.primitives.custom import custom
from adjoint.scipy.evaluating import arrays, compiled, module, told, with_values
from adjoint.solvers.adjoint_ode import with_continuous_adjoint
from adjoint.solvers.results import unknowns
from adjoint.solvers.steppers import Field
from adjoint.tensors.conversion import array_node
from adjoint.tensors.leaving import custom_code
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.tracer.jit import jit
from adjoint.transforms.grad import stop_gradient
from adjoint.transforms.host_calls import host_call
from adjoint.transforms.jacobians import jacobian
from adjoint.transforms.ravel import ravel_tree
from adjoint.transforms.vmap import vmap

__all__ = ["quad", "solve_ivp"]

IMPLICIT = ("Radau", "BDF", "LSODA")


@with_values("ad.odeint, or solve_ivp with t_eval,")
def solve_ivp(
    function: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    args: tuple[Any, ...] = (),
    *,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    **options: Any,
) -> Any:
    """`scipy.integrate.solve_ivp` of y' = function(t, y, *args) for a tree y of tensors, from t_span[0] to t_span[1].

    Methods that take a Jacobian get it; `events` are functions of t, y and args. Gives SciPy's result; its `y` is a tree like y0
    whose leaves have an axis of times at the end, (n, times) for a vector as in SciPy, at the times `t_eval` or those that SciPy
    chose, up to an event that ends it. It differentiates by y0, `args`, what the function reads from outside and the times, where
    these are tensors, by the continuous adjoint equation, solved by the same method: first derivatives, in reverse mode (others
    raise RuntimeError), NaN where that can't be solved backwards, as in stiff equations. Under `jit` and `vmap` the result has
    `t` and `y` alone, and `t_eval` must be given. Tolerances are a thousand times tighter than SciPy's own. Raises ValueError
    where the function gives another number of numbers than the state.

    >>> import adjoint as ad
    >>> decay = lambda rate: ad.scipy.solve_ivp(lambda t, y, k: -k * y, (0, 1), 1.0, args=(rate,)).y[-1]
    >>> ad.grad(decay)(2.0)
    Tensor(-0.1353)
    """
    y0 = arrays(y0)
    _, unravel = unknowns("solve_ivp", y0)
    start = ravel_tree(y0)[0].astype("float64")

    def field(y: Tensor, t: Tensor) -> Tensor:
        slopes = ravel_tree(function(t, unravel(y), *args))[0].astype("float64")
        if slopes.shape != y.shape:
            raise ValueError(f"solve_ivp: the function gives {slopes.size} numbers for a state of {y.size}{at_user()}")
        return slopes

    if options.get("events") is not None:
        options["events"] = _events(options["events"], unravel, args)

    def run(slope: Field, begin: Any, span: Any, times: Any, **others: Any) -> Any:
        keywords = {**options, **others}
        if method in IMPLICIT:
            by_y = compiled(lambda t, y: jacobian(lambda v: slope(v, t))(y))
            keywords["jac"] = lambda t, y: by_y(t, y)
        called = compiled(lambda t, y: slope(y, t))
        return module("integrate", "solve_ivp").solve_ivp(
            called, span, begin, method=method, t_eval=times, rtol=rtol, atol=atol, **keywords
        )

    begin_time, end_time = (f.asarray(t).astype("float64") for t in t_span)
    times = None if t_eval is None else f.asarray(t_eval).astype("float64")
    if times is not None and times.ndim != 1:
        raise ValueError(f"solve_ivp: t_eval is a vector of times, its shape is {times.shape}{at_user()}")
    try:
        span = float(stop_gradient(begin_time)), float(stop_gradient(end_time))
        wanted = None if times is None else np.array(stop_gradient(times))
        first = run(field, np.array(stop_gradient(start)), span, wanted)
    except ValueNeededError:
        if times is None:
            raise
        first = None  # within a trace: all that is computed is computed by its calls
    else:
        times = f.asarray(first.t) if times is None else times[: len(first.t)]

    ends = f.concat([begin_time[None], times])
    known = None if first is None else f.concat([stop_gradient(start)[None], f.asarray(first.y.T)])
    allowed = float(np.max(rtol)) ** 0.5, float(np.max(atol)) ** 0.5
    ys = with_continuous_adjoint(field, _Known(known, partial(_integrated, run)), start, ends, allowed)[1:]
    y = tree.map(lambda leaf: f.moveaxis(leaf, 0, -1), vmap(unravel)(ys))
    if first is None:
        return module("optimize", "solve_ivp").OptimizeResult(t=times, y=y)
    return told(first, y=y)


def _integrated(run: Callable[..., Any], slope: Field, begin: Tensor, times: Tensor) -> Tensor:
    """The states at the times, by `run` as a call of the host: its own inputs are all that the field reads."""
    given = [placeholder(begin.node.type, "a state", True), placeholder(times[0].node.type, "a time", True)]
    with mode(grad=True):
        out = slope(*[wrap(x) for x in given]).node
    (closed,), inside, outside = close(given, [out])

    def solve_ivp(y: Any, ts: Any, *constants: Any) -> Any:
        known = dict(zip(inside, [core.data(c) for c in constants], strict=True))

        def fixed(y: Tensor, t: Tensor) -> Tensor:
            return wrap(substitute([closed], known | {given[0]: y.node, given[1]: t.node})[0])

        if ts[0] == ts[-1]:  # SciPy gives one time then
            return np.broadcast_to(y, (len(ts), len(y)))
        if not np.isfinite(y).all():  # the adjoint lost its way back; SciPy refuses to begin there
            return np.full((len(ts), len(y)), np.nan)
        way = np.sign(ts[-1] - ts[0])
        once, places = np.unique(
            way * ts, return_inverse=True
        )  # SciPy takes no time twice, and the first is where it begins
        found = run(fixed, y, (ts[0], ts[-1]), way * once, events=None)
        if not found.success:
            raise RuntimeError(f"solve_ivp: {found.message}")
        return found.y.T[places]

    # what the field reads is among the arguments: without a rule, a derivative by it raises
    constants = [wrap(x) for x in outside]
    shape = (times.shape[0], begin.shape[0])
    found: Tensor = host_call(solve_ivp, begin, times, *constants, shape=shape, dtype="float64")
    return found


def _events(events: Any, unravel: Callable[[Any], Any], args: tuple[Any, ...]) -> list[Callable[..., float]]:
    """Events of times, trees and `args` as SciPy's, of times and vectors."""

    def of_vectors(event: Callable[..., Any]) -> Callable[..., float]:
        def called(t: float, y: Any) -> float:
            with custom_code():
                return float(f.asarray(event(t, unravel(_constant(y)), *stop_gradient(args))))

        for name in ("terminal", "direction"):
            if hasattr(event, name):
                setattr(called, name, getattr(event, name))
        return called

    return [of_vectors(e) for e in (events if isinstance(events, (list, tuple)) else [events])]


class _Known:
    """A solver whose first answer may be there already."""

    def __init__(self, first: Tensor | None, solve: Callable[[Field, Tensor, Tensor], Tensor]) -> None:
        self.first = first
        self.solve = solve

    def __call__(self, field: Field, y: Tensor, ts: Tensor) -> Tensor:
        found, self.first = self.first, None
        return self.solve(field, y, ts) if found is None else found


def quad(
    function: Callable[..., Any],
    a: Any,
    b: Any,
    args: tuple[Any, ...] = (),
    **options: Any,
) -> tuple[Tensor, Any]:
    """`scipy.integrate.quad`: the integral of function(x, *args), one number, from a to b, and an estimate of its error.

    The integral differentiates by a and b, by `args` and by what the function reads from outside: the derivative under the
    integral is integrated by SciPy too. Ends may be infinite. Works under `jit`, `vmap` and in loops, where the estimate of the
    error is a tensor.

    >>> import adjoint as ad
    >>> ad.grad(lambda s: ad.scipy.quad(lambda x, s: ad.exp(-s * x), 0, float("inf"), (s,))[0])(2.0)
    Tensor(-0.25)
    """
    ends = [f.asarray(x).astype("float64") for x in (a, b)]

    def integrand(x: Tensor) -> Tensor:
        return f.asarray(function(x, *args)).astype("float64")

    scalar = placeholder(array_type((), ends[0].dtype), "where it is integrated", True)
    with mode(grad=True):
        value = integrand(wrap(scalar, number=True)).node
    if value.shape != ():
        raise ValueError(f"quad: the function returns shape {value.shape}, not one number{at_user()}")
    (closed,), inside, outside = close([scalar], [value])
    return _integral(closed, scalar, inside, outside, ends, options)


def _integral(
    closed: Node, scalar: Node, inside: list[Node], outside: list[Node], ends: list[Tensor], options: dict[str, Any]
) -> tuple[Tensor, Any]:
    def at(x: Tensor, constants: list[Node]) -> Tensor:
        known = dict(zip(inside, constants, strict=True)) | {scalar: x.node}
        return wrap(substitute([closed], known)[0])

    plain = [core.stop_gradient(x) for x in outside]
    whole = jit(lambda x, *constants: stop_gradient(at(x, [c.node for c in constants])))

    def quad(a: Any, b: Any, *constants: Any) -> Any:
        with custom_code():
            given = [_constant(c) for c in constants]
            evaluated = lambda x: whole(_constant(np.float64(x)), *given).item()  # noqa: E731
            return np.array(module("integrate", "quad").quad(evaluated, float(a), float(b), **options)[:2])

    try:
        low, high = (np.asarray(stop_gradient(e)) for e in ends)
        found, error = quad(low, high, *[np.asarray(wrap(x)) for x in plain])
        value = core.data(np.float64(found))
    except ValueNeededError:  # within a trace: it is computed when the values are there
        both = host_call(quad, *stop_gradient(ends), *[wrap(x) for x in plain], shape=(2,), dtype="float64")
        value, error = core.stop_gradient(both[0].node), both[1]
    floating = [i for i, x in enumerate(inside) if x.dtype.inexact]

    def rule(cotangents: list[Node | None], node: Node) -> list[Node | None]:
        (u,) = cotangents
        results: list[Node | None] = [None] * (2 + len(inside))
        if u is None:
            return results
        a, b, *constants = [wrap(x) for x in node.inputs[1:]]
        nodes = [c.node for c in constants]
        results[0], results[1] = [
            (sign * wrap(u) * f.where(f.isfinite(e), at(f.where(f.isfinite(e), e, 0.0), nodes), 0.0)).node
            for sign, e in ((-1.0, a), (1.0, b))
        ]
        with mode(grad=True):
            slopes = reverse([closed], [core.full(1.0, closed.type)], [inside[i] for i in floating], stop=True)
        for i, slope in zip(floating, slopes, strict=True):
            if slope is not None:
                results[2 + i] = (wrap(u) * _each(slope, scalar, inside, nodes, [a, b], options)).node
        return results

    made = custom([value], [*[e.node for e in ends], *outside], rule, "quad", single=True)
    return wrap(made), error


def _constant(x: Any) -> Tensor:
    return wrap(array_node(np.array(x), None, False))


def _each(
    slope: Node, scalar: Node, inside: list[Node], constants: list[Node], ends: list[Tensor], options: dict[str, Any]
) -> Tensor:
    """The integrals of all elements of a derivative."""
    flat = core.ops.reshape(slope, (slope.type.size,))
    parts = []
    for k in range(slope.type.size):
        one = core.ops.reshape(core.ops.slice_(flat, ((k, 1, 1),)), ())
        parts.append(_integral(core.cast(one, ends[0].dtype), scalar, inside, constants, ends, options)[0])
    return f.reshape(f.stack(parts), slope.shape).astype(slope.dtype)
