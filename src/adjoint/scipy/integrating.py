"""Initial value problems and integrals by SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint.control.body import close
from adjoint.derive import reverse
from adjoint.graph import Node, array_type, mode, substitute
from adjoint.primitives import core
from adjoint.primitives.core import placeholder
from adjoint.primitives.custom import custom
from adjoint.scipy.evaluating import compiled, module, told
from adjoint.solvers.adjoint_ode import with_continuous_adjoint
from adjoint.solvers.results import unknowns
from adjoint.solvers.steppers import Field
from adjoint.tensors.located import at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.custom import host_call
from adjoint.transforms.grad import stop_gradient
from adjoint.transforms.jacobians import jacobian
from adjoint.transforms.ravel import ravel_tree
from adjoint.transforms.vmap import vmap

__all__ = ["quad", "solve_ivp"]

IMPLICIT = ("Radau", "BDF", "LSODA")


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

    Methods that take a Jacobian get it. Gives SciPy's result. With `t_eval` its `y` is a tree like y0 whose leaves have an axis
    of times in front, and differentiates by y0, `args` and what the function reads from outside, by the continuous adjoint
    equation, solved by the same method: first derivatives, in reverse mode (others raise RuntimeError). Without, `y` is what
    SciPy chose, an array (n, times) without derivative. Tolerances are a thousand times tighter than SciPy's own.

    >>> import adjoint as ad
    >>> decay = lambda rate: ad.scipy.solve_ivp(lambda t, y, k: -k * y, (0, 1), 1.0, t_eval=[1.0], args=(rate,)).y[0]
    >>> ad.grad(decay)(2.0)
    Tensor(-0.1353)
    """
    _, unravel = unknowns("solve_ivp", y0)
    start = ravel_tree(y0)[0].astype("float64")

    def field(y: Tensor, t: Tensor) -> Tensor:
        return ravel_tree(function(t, unravel(y), *args))[0].astype("float64")

    def run(slope: Field, begin: Any, span: Any, times: Any, **others: Any) -> Any:
        keywords = {**options, **others}
        if method in IMPLICIT:
            by_y = compiled(lambda t, y: jacobian(lambda v: slope(v, t))(y))
            keywords["jac"] = lambda t, y: by_y(t, y)
        called = compiled(lambda t, y: slope(y, t))
        return module("integrate", "solve_ivp").solve_ivp(
            called, span, begin, method=method, t_eval=times, rtol=rtol, atol=atol, **keywords
        )

    first = run(field, np.array(stop_gradient(start)), tuple(float(t) for t in t_span), t_eval)
    if t_eval is None:
        return first

    def solve(slope: Field, begin: Tensor, times: Tensor) -> Tensor:
        given = [placeholder(begin.node.type, "a state", True), placeholder(times[0].node.type, "a time", True)]
        with mode(grad=True):
            out = slope(*[wrap(x) for x in given]).node
        (closed,), inside, outside = close(given, [out])

        def solve_ivp(y: Any, ts: Any, *constants: Any) -> Any:
            known = dict(zip(inside, [core.data(c) for c in constants], strict=True))

            def fixed(y: Tensor, t: Tensor) -> Tensor:
                return wrap(substitute([closed], known | {given[0]: y.node, given[1]: t.node})[0])

            if np.allclose(ts[0], ts[-1]):
                return np.broadcast_to(y, (len(ts), len(y)))
            return run(fixed, y, (ts[0], ts[-1]), ts, events=None).y.T

        # what the field reads is among the arguments: without a rule, a derivative by it raises
        constants = [wrap(x) for x in outside]
        shape = (times.shape[0], begin.shape[0])
        found: Tensor = host_call(solve_ivp, begin, times, *constants, shape=shape, dtype="float64")
        return found

    begin_time = float(t_span[0])
    times = f.asarray(np.asarray(t_eval, np.float64))
    if times.ndim != 1:
        raise ValueError(f"solve_ivp: t_eval is a vector of times, its shape is {times.shape}{at_user()}")
    ends = f.concat([f.full((1,), begin_time, dtype="float64"), times])
    known = f.concat([stop_gradient(start)[None], f.asarray(first.y.T)])
    ys = with_continuous_adjoint(field, _Known(known, solve), start, ends)[1:]
    return told(first, y=vmap(unravel)(ys))


class _Known:
    """A solver whose first answer is there already."""

    def __init__(self, first: Tensor, solve: Callable[[Field, Tensor, Tensor], Tensor]) -> None:
        self.first: Tensor | None = first
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
) -> tuple[Tensor, float]:
    """`scipy.integrate.quad`: the integral of function(x, *args), one number, from a to b, and an estimate of its error.

    The integral differentiates by a and b, by `args` and by what the function reads from outside: the derivative under the
    integral is integrated by SciPy too. Ends may be infinite.

    >>> import adjoint as ad
    >>> ad.grad(lambda s: ad.scipy.quad(lambda x, s: ad.exp(-s * x), 0, float("inf"), (s,))[0])(2.0)
    Tensor(-0.25)
    """
    ends = [f.asarray(x).astype("float64") for x in (a, b)]

    def integrand(x: Tensor) -> Tensor:
        return f.asarray(function(x, *args)).astype("float64")

    scalar = placeholder(array_type((), ends[0].dtype), "where it is integrated", True)
    with mode(grad=True):
        value = integrand(wrap(scalar)).node
    if value.shape != ():
        raise ValueError(f"quad: the function returns shape {value.shape}, not one number{at_user()}")
    (closed,), inside, outside = close([scalar], [value])
    return _integral(closed, scalar, inside, outside, ends, options)


def _integral(
    closed: Node, scalar: Node, inside: list[Node], outside: list[Node], ends: list[Tensor], options: dict[str, Any]
) -> tuple[Tensor, float]:
    def at(x: Tensor, constants: list[Node]) -> Tensor:
        known = dict(zip(inside, constants, strict=True)) | {scalar: x.node}
        return wrap(substitute([closed], known)[0])

    plain = [core.stop_gradient(x) for x in outside]
    evaluated = compiled(lambda x: at(x, plain))
    low, high = (float(np.asarray(stop_gradient(e))) for e in ends)
    found, error = module("integrate", "quad").quad(lambda x: float(evaluated(x)), low, high, **options)[:2]
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

    value = core.data(np.float64(found))
    made = custom([value], [*[e.node for e in ends], *outside], rule, "quad", True)
    return wrap(made), error


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
