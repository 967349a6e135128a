"""Loops that are said: `scan` and `while_loop` with their gradients, beside JAX's and CasADi's."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.arrays import buffered, jitted
from benchmarks.compiled import first_call
from benchmarks.harness import Case, Work

STEPS = 1000
RATES = np.array([1.5, 1.0, 1.0, 3.0])  # of Lotka and Volterra's equations
LENGTH, START = 0.01, (1.0, 1.0)


def runge_kutta(field: Callable[[Any, Any], Any], p: Any, y: Any) -> Any:
    """One step of the classical method of fourth order."""
    a = field(p, y)
    b = field(p, y + LENGTH / 2 * a)
    c = field(p, y + LENGTH / 2 * b)
    d = field(p, y + LENGTH * c)
    return y + LENGTH / 6 * (a + 2 * b + 2 * c + d)


def lotka_volterra(stack: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda p, y: stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def orbit_ours(ad: Any) -> Case:
    field = lotka_volterra(ad.stack)

    def end(p: Any) -> Any:
        start = ad.tensor(START, dtype="float64")
        return ad.scan(lambda y, _: (runge_kutta(field, p, y), None), start, length=STEPS)[0].sum()

    return jitted(ad, end, RATES)


def unrolled_ours(ad: Any) -> Case:
    """The same as a loop in Python, which records every step."""
    field = lotka_volterra(ad.stack)

    def end(p: Any) -> Any:
        y = ad.tensor(START, dtype="float64")
        for _ in range(STEPS):
            y = runge_kutta(field, p, y)
        return y.sum()

    return jitted(ad, end, RATES)


def orbit_jax(jax: Any) -> Case:
    field = lotka_volterra(jax.numpy.stack)

    def end(p: Any) -> Any:
        start = jax.numpy.asarray(START, float)
        return jax.lax.scan(lambda y, _: (runge_kutta(field, p, y), None), start, None, length=STEPS)[0].sum()

    return jitted(jax, end, RATES)


def orbit_casadi(ca: Any) -> Case:
    """Its interpreter of scalar graphs, the whole loop written out; called with buffers of its own."""
    p = ca.SX.sym("p", 4)
    y = ca.DM(START)
    field = lotka_volterra(lambda parts: ca.vertcat(*parts))
    for _ in range(STEPS):
        y = runge_kutta(field, p, y)
    end = ca.sum1(y)
    function = ca.Function("orbit", [p], [end, ca.gradient(end, p)])
    return buffered(function, RATES, [np.zeros(1), np.zeros(4)])


POINTS, WIDTHS = 100, (2, 16, 16, 1)


def network_loss(tanh: Callable[[Any], Any], weights: Callable[[int, int, int], Any], zero: Any) -> Any:
    """The squared error of a network of single numbers, written out; `weights(layer, i, j)` with j = -1 for a bias."""
    rng = np.random.default_rng(0)
    inputs, targets = rng.normal(size=(POINTS, 2)), rng.normal(size=POINTS)
    loss = zero
    for point, target in zip(inputs.tolist(), targets.tolist(), strict=True):
        values: list[Any] = point
        for layer, width in enumerate(WIDTHS[1:]):
            sums = []
            for i in range(width):
                total = weights(layer, i, -1)
                for j, x in enumerate(values):
                    total = total + weights(layer, i, j) * x
                sums.append(total)
            values = sums if layer == len(WIDTHS) - 2 else [tanh(x) for x in sums]
        loss = loss + (values[0] - target) * (values[0] - target)
    return loss


def _places() -> dict[tuple[int, int, int], int]:
    """Where each weight lies in the vector of all."""
    keys = [
        (layer, i, j) for layer, (a, b) in enumerate(itertools.pairwise(WIDTHS)) for i in range(b) for j in range(-1, a)
    ]
    return {key: k for k, key in enumerate(keys)}


def _weights() -> Any:
    return np.random.default_rng(1).normal(size=len(_places())) * 0.5


def network_ours(ad: Any) -> Case:
    places = _places()

    def loss(w: Any) -> Any:
        parts = [w[k] for k in range(len(places))]
        zero = ad.tensor(0.0, dtype="float64")
        return network_loss(ad.tanh, lambda layer, i, j: parts[places[layer, i, j]], zero)

    return jitted(ad, loss, _weights())


def network_casadi(ca: Any) -> Case:
    places = _places()
    w = ca.SX.sym("w", len(places))
    loss = network_loss(ca.tanh, lambda layer, i, j: w[places[layer, i, j]], ca.SX(0))
    function = ca.Function("network", [w], [loss, ca.gradient(loss, w)])
    return buffered(function, _weights(), [np.zeros(1), np.zeros(len(places))])


LONG = 10_000


def swing(module: Any, a: Any, carry: Any) -> Any:
    x, v, k = carry
    return x + 1e-3 * v, v - 1e-3 * (a[0] * module.sin(x) + a[1] * v), k + 1


def pendulum_ours(memory: int | None) -> Callable[[Any], Case]:
    def build(ad: Any) -> Case:
        def angle(a: Any) -> Any:
            return ad.while_loop(
                lambda c: c[2] < LONG, lambda c: swing(ad, a, c), (1.0 + 0 * a[0], 0 * a[0], 0), memory=memory
            )[0]

        return jitted(ad, angle, np.array([9.81, 0.1]))

    return build


def pendulum_jax(jax: Any) -> Case:
    """JAX's while_loop has no reverse mode: a scan of as many steps."""

    def angle(a: Any) -> Any:
        start = (1.0 + 0 * a[0], 0 * a[0], 0)
        return jax.lax.scan(lambda c, _: (swing(jax.numpy, a, c), None), start, None, length=LONG)[0][0]

    return jitted(jax, angle, np.array([9.81, 0.1]))


NUMBER, VECTOR = np.array(1.3), np.linspace(0.0, 1.0, 20)
MATRIX = np.random.default_rng(0).normal(size=(20, 20)) / 5
STEP, ROUGHLY = 10, 1e-12


def recurrence(array: Any, scan: Any, total: Any, a: Any) -> Any:
    """Ten steps of a logistic map, and what they add up to."""
    return total(scan(lambda c, _: (a * c * (1.0 - c), c), array(0.3), None, length=STEP)[1])


def powers(array: Any, repeat: Any, tanh: Any, total: Any, v: Any) -> Any:
    """A 20 by 20 matrix applied ten times, bent each time."""
    matrix = array(MATRIX)
    return total(repeat(0, STEP, lambda _, c: tanh(matrix @ c), v))


def root(while_loop: Any, a: Any) -> Any:
    """A square root by Newton's method."""
    return while_loop(lambda c: abs(c * c - a) > ROUGHLY, lambda c: (c + a / c) / 2, a)


def short(kind: str, engine: str, ad: Any) -> Case:
    """A short loop, called; its value and gradient, of Newton's method, which has no gradient in JAX, the value."""
    if engine == "jax":
        ad.config.update("jax_enable_x64", True)
    lax = ad.lax if engine == "jax" else ad
    array = ad.numpy.asarray if engine == "jax" else lambda x: ad.tensor(x, dtype="float64")
    bend, total = (ad.numpy.tanh, ad.numpy.sum) if engine == "jax" else (ad.tanh, ad.sum)
    if kind == "root":
        f = ad.jit(lambda a: root(lax.while_loop, a))
        given = array(NUMBER)
    elif kind == "recurrence":
        f = ad.jit(ad.value_and_grad(lambda a: recurrence(array, lax.scan, total, a)))
        given = array(NUMBER)
    else:
        f = ad.jit(ad.value_and_grad(lambda v: powers(array, lax.fori_loop, bend, total, v)))
        given = array(VECTOR)

    def parts(found: Any) -> list[Any]:
        return [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]

    return Case(lambda _: parts(f(given)), check=lambda: [float(x) for y in parts(f(given)) for x in np.ravel(y)])


def shorts(kind: str) -> dict[str, Callable[[Any], Case]]:
    return {engine: lambda ad, engine=engine: short(kind, engine, ad) for engine in ("adjoint", "jax")}  # type: ignore[misc]


FIRST_CASES: dict[str, Callable[[Any], Case]] = {"adjoint": orbit_ours, "jax": orbit_jax}

WORKS = [
    Work(
        "1,000 steps of Runge-Kutta in a Python loop beside lax.scan, gradient",
        0.08,
        {"adjoint": unrolled_ours, "jax": orbit_jax},
        unit="µs",
        tolerance=1e-7,
    ),
    Work(
        "1,000 steps of Runge-Kutta by scan beside lax.scan, gradient",
        0.08,
        {"adjoint": orbit_ours, "jax": orbit_jax},
        unit="µs",
        tolerance=1e-7,
    ),
    Work(
        "first call of 1,000 steps of Runge-Kutta by scan",
        0.6,
        {
            "adjoint": first_call("adjoint", "adjoint", False, "loops"),
            "jax": first_call("jax", "jax", False, "loops"),
        },
        returned=True,
    ),
    Work(
        "1,000 steps of Runge-Kutta in a Python loop, gradient",
        0.5,
        {"adjoint": unrolled_ours, "casadi": orbit_casadi, "jax": orbit_jax},
        unit="µs",
        tolerance=1e-7,
    ),
    Work(
        "network of single numbers on 100 points, gradient",
        0.5,
        {"adjoint": network_ours, "casadi": network_casadi},
        unit="µs",
        tolerance=1e-7,
    ),
    Work(
        "1,000 steps of Runge-Kutta by scan, gradient",
        0.5,
        {"adjoint": orbit_ours, "jax": orbit_jax, "casadi": orbit_casadi},
        unit="µs",
        tolerance=1e-7,
    ),
    Work("ten steps of a scan on a number, gradient", 0.8, shorts("recurrence"), unit="µs", tolerance=1e-9),
    Work("ten steps of a matrix by a vector, gradient", 0.6, shorts("powers"), unit="µs", tolerance=1e-9),
    Work("Newton's method by while_loop", 0.9, shorts("root"), unit="µs", tolerance=1e-9),
    Work(
        "while_loop of 10,000 steps, gradient",
        1.0,
        {"adjoint": pendulum_ours(None), "jax": pendulum_jax},
        unit="µs",
        tolerance=1e-7,
    ),
    Work(
        "while_loop of 10,000 steps within 100 carries, gradient",
        1.0,
        {"adjoint": pendulum_ours(100), "jax": pendulum_jax},
        unit="µs",
        tolerance=1e-7,
    ),
]
