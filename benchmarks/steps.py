"""Loops over matrices, images and layers; an adaptive integrator; a robot's arm; gradients by function, recorded anew."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.arrays import buffered, jitted, sums
from benchmarks.harness import Case, Work

# The likelihood of a Kalman filter, 500 steps of six states ------------------------------------------------------------

STATES, OBSERVATIONS = 6, 500


def filter_data() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    transition = 0.9 * np.linalg.qr(rng.normal(size=(STATES, STATES)))[0]
    return {
        "scales": np.array([0.3, 0.5]),  # of both noises
        "transition": transition,
        "seen": rng.normal(size=(STATES, STATES)),
        "observations": rng.normal(size=(OBSERVATIONS, STATES)),
    }


def likelihood(engine: Any, scan: Callable[..., Any], eye: Any) -> Callable[..., Any]:
    """Minus the logarithm of the likelihood, by the noises' scales."""
    slogdet, solve = engine.linalg.slogdet, engine.linalg.solve

    def loss(scales: Any, transition: Any, seen: Any, observations: Any) -> Any:
        state_noise, noise = scales[0] * eye, scales[1] * eye

        def step(carry: Any, z: Any) -> Any:
            mean, covariance, total = carry
            mean = transition @ mean
            covariance = transition @ covariance @ transition.T + state_noise
            spread = seen @ covariance @ seen.T + noise
            gain = solve(spread, seen @ covariance).T
            wrong = z - seen @ mean
            total = total + 0.5 * (slogdet(spread)[1] + wrong @ solve(spread, wrong))
            return (mean + gain @ wrong, covariance - gain @ spread @ gain.T, total), None

        start = (0.0 * observations[0], eye, 0.0 * observations[0, 0])
        return scan(step, start, observations)[0][2]

    return loss


def filter_ours(ad: Any) -> Case:
    return jitted(ad, likelihood(ad, ad.scan, ad.tensor(np.eye(STATES))), *filter_data().values())


def filter_jax(jax: Any) -> Case:
    jax.config.update("jax_enable_x64", True)
    return jitted(jax, likelihood(jax.numpy, jax.lax.scan, jax.numpy.eye(STATES)), *filter_data().values())


# The heat equation on 64 x 64 points, 200 steps ------------------------------------------------------------------------

POINTS, TIMES = 64, 200


def warmth(pad: Callable[..., Any], scan: Callable[..., Any]) -> Callable[[Any], Any]:
    """The squared temperatures after all steps, by the temperatures before."""

    def step(u: Any, _: Any) -> Any:
        wide = pad(u, 1)
        around = wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2]
        return u + 0.2 * (around - 4.0 * u), None

    return lambda u: (scan(step, u, None, length=TIMES)[0] ** 2).sum()


def heat_ours(ad: Any) -> Case:
    return jitted(ad, warmth(ad.pad, ad.scan), np.random.default_rng(0).normal(size=(POINTS, POINTS)))


def heat_jax(jax: Any) -> Case:
    jax.config.update("jax_enable_x64", True)
    return jitted(jax, warmth(jax.numpy.pad, jax.lax.scan), np.random.default_rng(0).normal(size=(POINTS, POINTS)))


# An LSTM of 128 units over 64 steps, batch 32, float32 ------------------------------------------------------------------

UNITS, LENGTH, BATCH = 128, 64, 32


def recurrent_data() -> list[Any]:
    rng = np.random.default_rng(0)
    shapes = [(4 * UNITS, UNITS), (4 * UNITS, UNITS), (4 * UNITS,), (4 * UNITS,), (LENGTH, BATCH, UNITS)]
    return [rng.normal(size=shape).astype("f") * (1.0 if len(shape) == 3 else 0.08) for shape in shapes]


def cell(ad: Any, parameters: Any, x: Any, h: Any, c: Any) -> Any:
    w, u, a, b = parameters
    gates = x @ w.T + a + h @ u.T + b
    i, f, g, o = (gates[:, k * UNITS : (k + 1) * UNITS] for k in range(4))
    c = ad.sigmoid(f) * c + ad.sigmoid(i) * ad.tanh(g)
    return ad.sigmoid(o) * ad.tanh(c), c


def recurrent_ours(said: bool) -> Callable[[Any], Case]:
    def build(ad: Any) -> Case:
        *parameters, x = map(ad.tensor, recurrent_data())
        zero = ad.zeros((BATCH, UNITS))

        def by_loop(parameters: Any, x: Any) -> Any:
            h, c, total = zero, zero, 0.0
            for t in range(LENGTH):
                h, c = cell(ad, parameters, x[t], h, c)
                total = total + (h * h).sum()
            return total

        def by_scan(parameters: Any, x: Any) -> Any:
            def step(carry: Any, part: Any) -> Any:
                h, c = cell(ad, parameters, part, *carry)
                return (h, c), h

            hidden = ad.scan(step, (zero, zero), x)[1]
            return (hidden * hidden).sum()

        both = ad.jit(ad.value_and_grad(by_scan if said else by_loop, argnums=(0, 1)))

        def run(_: Any) -> Any:
            value, (by_parameters, by_x) = both(parameters, x)
            return [value.numpy(), *[g.numpy() for g in by_parameters], by_x.numpy()]

        return Case(run, check=lambda: sums(run(0)))

    return build


def recurrent_torch(torch: Any) -> Case:
    w, u, a, b, x = map(torch.from_numpy, recurrent_data())
    layer = torch.nn.LSTM(UNITS, UNITS)
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    with torch.no_grad():
        for name, value in zip(names, (w, u, a, b), strict=True):
            getattr(layer, name).copy_(value)

    def run(_: Any) -> Any:
        given = x.detach().requires_grad_()
        hidden = layer(given)[0]
        value = (hidden * hidden).sum()
        found = torch.autograd.grad(value, [*[getattr(layer, name) for name in names], given])
        return [value.detach(), *found]

    return Case(run, check=lambda: sums(run(0)))


# Dormand and Prince's pair on Lotka and Volterra's equations ------------------------------------------------------------

RATES, BEGINNING, END = np.array([1.5, 1.0, 1.0, 3.0]), (1.0, 1.0), 15.0
RELATIVE, ABSOLUTE = 1e-7, 1e-8


def hunt(stack: Callable[..., Any], y: Any, p: Any) -> Any:
    return stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def integrated_ours(ad: Any) -> Case:
    start, times = ad.tensor(BEGINNING, dtype="float64"), ad.tensor([0.0, END], dtype="float64")

    def end(p: Any) -> Any:
        field = lambda y, t, p: hunt(ad.stack, y, p)  # noqa: E731
        found = ad.odeint(field, start, times, p, rtol=RELATIVE, atol=ABSOLUTE)
        return found[-1].sum()

    return jitted(ad, end, RATES)


def integrated_diffrax(diffrax: Any) -> Case:
    jax = importlib.import_module("jax")  # which diffrax is built on
    jax.config.update("jax_enable_x64", True)
    term = diffrax.ODETerm(lambda t, y, p: hunt(jax.numpy.stack, y, p))
    control = diffrax.PIDController(rtol=RELATIVE, atol=ABSOLUTE)

    def end(p: Any) -> Any:
        found = diffrax.diffeqsolve(
            term, diffrax.Dopri5(), 0.0, END, None, jax.numpy.asarray(BEGINNING, float), p, stepsize_controller=control
        )
        return found.ys[-1].sum()

    return jitted(jax, end, RATES)


# The arm of a robot with seven joints: Hessian of its squared reach, Jacobian of where its hand is ------------------------

JOINTS = 7
ANGLES = np.linspace(0.1, 0.7, JOINTS)
LINKS = [0.4, 0.3, 0.35, 0.25, 0.2, 0.15, 0.1]


def hand(engine: Any, q: Any, matrix: Callable[..., Any]) -> Any:
    """Where the hand is: every joint turns about the next axis of three, every link goes along the turned x axis."""
    turned = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    place: list[Any] = [0.0, 0.0, 0.0]
    for k, length in enumerate(LINKS):
        s, c = engine.sin(q[k]), engine.cos(q[k])
        a, b = (k + 1) % 3, (k + 2) % 3
        turned = [
            [
                row[k % 3] if j == k % 3 else (row[a] * c + row[b] * s if j == a else row[b] * c - row[a] * s)
                for j in range(3)
            ]
            for row in turned
        ]
        place = [p + length * row[0] for p, row in zip(place, turned, strict=True)]
    return matrix(place)


def reach_ours(ad: Any) -> Case:
    def reach(q: Any) -> Any:
        place = hand(ad, q, ad.stack)
        return (place * place).sum()

    q, hessian = ad.tensor(ANGLES), ad.jit(ad.hessian(reach))
    return Case(lambda _: hessian(q), check=lambda: sums(hessian(q).numpy()))


def reach_casadi(ca: Any) -> Case:
    q = ca.SX.sym("q", JOINTS)
    place = hand(ca, q, lambda parts: ca.vertcat(*parts))
    function = ca.Function("reach", [q], [ca.densify(ca.hessian(ca.dot(place, place), q)[0])])
    case = buffered(function, ANGLES, [np.zeros((JOINTS, JOINTS))])
    return replace(case, check=lambda: sums(case.step(0)[0]))


def velocity_ours(ad: Any) -> Case:
    q, jacobian = ad.tensor(ANGLES), ad.jit(ad.jacobian(lambda q: hand(ad, q, ad.stack)))
    return Case(lambda _: jacobian(q), check=lambda: sums(jacobian(q).numpy()))


def velocity_casadi(ca: Any) -> Case:
    q = ca.SX.sym("q", JOINTS)
    function = ca.Function("velocity", [q], [ca.jacobian(hand(ca, q, lambda parts: ca.vertcat(*parts)), q)])
    return Case(lambda _: function(ANGLES), check=lambda: sums(function(ANGLES).full()))


# 200 operations on eight elements, recorded anew in every step ------------------------------------------------------------

NUMBERS = np.linspace(0.1, 1.0, 8)


def chain(engine: Any, x: Any) -> Any:
    for _ in range(100):
        x = engine.sin(x) * 1.01
    return x.sum()


def by_gradients(ad: Any) -> Case:
    x = ad.variable(NUMBERS)

    def run(_: Any) -> Any:
        y = chain(ad, x)
        (g,) = ad.gradients(y, [x])
        ad.evaluate(y, g)
        return y.numpy(), g.numpy()

    return Case(run, check=lambda: sums(run(0)))


def by_grad(ad: Any) -> Case:
    x, both = ad.tensor(NUMBERS), ad.value_and_grad(lambda x: chain(ad, x))

    def run(_: Any) -> Any:
        y, g = ad.evaluate(*both(x))
        return y.numpy(), g.numpy()

    return Case(run, check=lambda: sums(run(0)))


def by_torch(torch: Any) -> Case:
    x = torch.from_numpy(NUMBERS).requires_grad_()

    def run(_: Any) -> Any:
        y = chain(torch, x)
        (g,) = torch.autograd.grad(y, [x])
        return y.detach().numpy(), g.numpy()

    return Case(run, check=lambda: sums(run(0)))


def anew_ours(ad: Any) -> Case:
    q = ad.tensor(ANGLES)

    def run(_: Any) -> Any:
        return ad.jacobian(lambda q: hand(ad, q, ad.stack))(q).numpy()

    return Case(run, check=lambda: sums(run(0)))


WORKS = [
    Work(
        "likelihood of a Kalman filter, 500 steps, gradient",
        0.4,
        {"adjoint": filter_ours, "jax": filter_jax},
        tolerance=1e-7,
    ),
    Work(
        "heat equation 64x64, 200 steps, gradient",
        0.7,
        {"adjoint": heat_ours, "jax": heat_jax},
        tolerance=1e-7,
    ),
    Work(
        "LSTM of 128 units, 64 steps in a Python loop, forward and backward",
        0.7,
        {"adjoint": recurrent_ours(False), "torch": recurrent_torch},
        tolerance=1e-4,
    ),
    Work(
        "the same LSTM by scan, forward and backward",
        0.7,
        {"adjoint": recurrent_ours(True), "torch": recurrent_torch},
        tolerance=1e-4,
    ),
    Work(
        "adaptive Dormand-Prince, gradient",
        0.7,
        {"adjoint": integrated_ours, "diffrax": integrated_diffrax},
        unit="µs",
        tolerance=1e-4,
    ),
    Work(
        "Hessian of an arm's squared reach, seven joints",
        1.0,
        {"adjoint": reach_ours, "casadi": reach_casadi},
        unit="µs",
    ),
    Work(
        "Jacobian of an arm's hand by a plain call",
        0.25,
        {"adjoint": velocity_ours, "casadi": velocity_casadi},
        unit="µs",
    ),
    Work(
        "200 operations on 8 elements by ad.gradients, recorded anew",
        0.5,
        {"adjoint": by_gradients, "torch": by_torch},
        unit="µs",
    ),
    Work(
        "200 operations on 8 elements by ad.value_and_grad, recorded anew",
        0.5,
        {"adjoint": by_grad, "torch": by_torch},
        unit="µs",
    ),
]
