"""Optimizers, high-order derivatives and samplers, beside SciPy with jax.jit, jax.experimental.jet and blackjax."""

from __future__ import annotations

import functools
import importlib
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.harness import Case, Work


def rosenbrock(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


# A minimum by L-BFGS-B ---------------------------------------------------------------------------------------------------

START = np.full(100, -0.5)
OPTIONS = {"maxiter": 2000, "maxfun": 5000, "ftol": 1e-14, "gtol": 1e-8}


def minimum_ours(ad: Any) -> Case:
    def run(_: int = 0) -> Any:
        return ad.scipy.minimize(rosenbrock, START, method="L-BFGS-B", options=OPTIONS)

    return Case(run, check=lambda: [round(float(run().fun.item()), 6)])


def minimum_jax(jax: Any) -> Case:
    jax.config.update("jax_enable_x64", True)
    optimize: Any = importlib.import_module("scipy.optimize")
    function = jax.jit(jax.value_and_grad(rosenbrock))

    def evaluated(x: Any) -> tuple[float, Any]:
        value, gradient = function(x)
        return float(value), np.asarray(gradient)

    def run(_: int = 0) -> Any:
        return optimize.minimize(evaluated, START, jac=True, method="L-BFGS-B", options=OPTIONS)

    return Case(run, check=lambda: [round(float(run().fun), 6)])


# The tenth derivative of exp(sin(x)) at a million points -----------------------------------------------------------------

POINTS = np.linspace(-2, 2, 1_000_000)
ORDER = 10


def tenth_ours(ad: Any) -> Case:
    x = ad.tensor(POINTS)
    function = ad.jit(lambda x: ad.taylor(lambda x: ad.exp(ad.sin(x)), x, ORDER)[-1] * math.factorial(ORDER))

    def check() -> list[float]:
        return [float(v) for v in function(x).numpy()[::100_000]]

    return Case(lambda _: ad.evaluate([function(x)]), check=check)


def tenth_jax(jax: Any) -> Case:
    jax.config.update("jax_enable_x64", True)
    jet = importlib.import_module("jax.experimental.jet").jet
    x = jax.numpy.asarray(POINTS)

    def derivative(x: Any) -> Any:
        series = [jax.numpy.ones_like(x), *[jax.numpy.zeros_like(x)] * (ORDER - 1)]
        return jet(lambda x: jax.numpy.exp(jax.numpy.sin(x)), (x,), (series,))[1][-1]

    function = jax.jit(derivative)

    def check() -> list[float]:
        return [float(v) for v in np.asarray(function(x))[::100_000]]

    return Case(lambda _: function(x).block_until_ready(), check=check)


# The Hessian of a trajectory, banded: a pendulum on a rope, 500 times, with penalties for missing its equations ------------

TIMES, STEP = 500, 0.02
MULTIPLIERS = np.random.default_rng(0).normal(size=(TIMES - 1, 3))
TRAJECTORY = 0.3 * np.random.default_rng(1).normal(size=(TIMES, 4)) + [0, 0, 1.5, 0]


def trajectory(columns: Any, sin: Any, cos: Any, total: Any, multipliers: Any) -> Any:
    """The cost of a pull, and the defects of the trapezoidal rule: with multipliers, and squared."""
    angle, speed, rope, pull = columns
    rates = (speed, -9.81 * sin(angle) / rope + pull * cos(angle) - 0.1 * speed**3, pull * sin(angle) - rope)
    cost = STEP * total(pull**2 + 0.1 * speed**2)
    for k, (state, rate) in enumerate(zip((angle, speed, rope), rates, strict=True)):
        defect = state[1:] - state[:-1] - STEP / 2 * (rate[1:] + rate[:-1])
        cost = cost + total(multipliers[k] * defect + 50 * defect**2)
    return cost


def hessian_ours(ad: Any) -> Case:
    multipliers = [ad.tensor(m) for m in MULTIPLIERS.T]

    def cost(z: Any) -> Any:
        columns = ad.unstack(ad.reshape(z, (TIMES, 4)), axis=1)
        return trajectory(columns, ad.sin, ad.cos, ad.sum, multipliers)

    hessian, x = ad.sparse_hessian(cost), ad.tensor(TRAJECTORY.ravel())
    return Case(lambda _: hessian(x), check=lambda: told(hessian(x)))


def hessian_casadi(casadi: Any) -> Case:
    z = casadi.SX.sym("z", 4 * TIMES)
    rows = casadi.reshape(z, 4, TIMES).T
    multipliers = [casadi.DM(m) for m in MULTIPLIERS.T]
    cost = trajectory([rows[:, k] for k in range(4)], casadi.sin, casadi.cos, casadi.sum1, multipliers)
    hessian, x = casadi.Function("hessian", [z], [casadi.hessian(cost, z)[0]]), TRAJECTORY.ravel()
    return Case(lambda _: hessian(x), check=lambda: told(hessian(x).sparse()))


def told(matrix: Any) -> list[float]:
    dense = matrix.toarray()
    return [float(matrix.nnz), float(np.abs(dense).sum()), *map(float, dense[7, :14])]


# No-U-turn sampling: time for each effective sample of the number that has fewest -----------------------------------------

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
CHAINS, DRAWS, WARMUP = 4, 1000, 1000
SCHOOLS = {"level": np.zeros(()), "log_spread": np.zeros(()), "scaled": np.zeros(8)}


def schools(p: Any, exp: Any, log1p: Any, y: Any, error: Any) -> Any:
    """Coaching in eight schools (D. Rubin, 1981), by standardized effects; level N(0, 5), spread half-Cauchy(5)."""
    spread = exp(p["log_spread"])
    residuals = (y - p["level"] - spread * p["scaled"]) / error
    prior = -0.5 * (p["level"] / 5) ** 2 - log1p((spread / 5) ** 2) + p["log_spread"] - 0.5 * (p["scaled"] ** 2).sum()
    return prior - 0.5 * (residuals**2).sum()


def regression() -> tuple[Any, Any]:
    """1,000 rows of 20 numbers, and labels drawn from a logistic model."""
    rng = np.random.default_rng(0)
    rows, weights = rng.normal(size=(1000, 20)), rng.normal(size=20)
    return rows, (rng.uniform(size=1000) < 1 / (1 + np.exp(-rows @ weights))).astype(float)


def logistic(p: Any, softplus: Any, rows: Any, labels: Any) -> Any:
    z = rows @ p["weights"]
    return (labels * z - softplus(z)).sum() - 0.5 * (p["weights"] ** 2).sum()


def densities(
    array: Callable[[Any], Any], exp: Any, log1p: Any, softplus: Any
) -> dict[str, tuple[Any, Mapping[str, Any]]]:
    rows, labels = map(array, regression())
    first = functools.partial(schools, exp=exp, log1p=log1p, y=array(EFFECTS), error=array(ERRORS))
    second = functools.partial(logistic, softplus=softplus, rows=rows, labels=labels)
    return {"schools": (first, SCHOOLS), "logistic": (second, {"weights": np.zeros(20)})}


def least(draws: Mapping[str, Any]) -> float:
    """The smallest effective sample size (bulk) of any number; both sides by the same function."""
    size: Any = importlib.import_module("adjoint").sample.effective_sample_size
    return min(float(np.min(size(np.asarray(x)))) for x in draws.values())


def moments(run: Callable[[int], Mapping[str, Any]]) -> list[float]:
    """Means and standard deviations of all numbers, which agree to some hundredths of the largest."""
    flat = [np.asarray(x).reshape(CHAINS * DRAWS, -1) for _, x in sorted(run(0).items())]
    return [float(v) for x in flat for v in (*x.mean(0), *x.std(0))]


def case(run: Callable[[int], Mapping[str, Any]]) -> Case:
    """A step gives microseconds for each effective sample: a whole run, warm-up included, compiled before."""

    def step(index: int) -> float:
        start = time.process_time()
        draws = run(index)
        return 1e6 * (time.process_time() - start) / least(draws)

    return Case(step, check=lambda: moments(run))


def sampler_ours(which: str) -> Callable[[Any], Case]:
    def build(ad: Any) -> Case:
        density, initial = densities(ad.tensor, ad.exp, ad.log1p, ad.softplus)[which]
        return case(
            lambda key: ad.sample.nuts(density, initial, key=key, draws=DRAWS, warmup=WARMUP, chains=CHAINS).arrays()
        )

    return build


def sampler_blackjax(which: str) -> Callable[[Any], Case]:
    def build(blackjax: Any) -> Case:
        jax: Any = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", True)
        density, initial = densities(jax.numpy.asarray, jax.numpy.exp, jax.numpy.log1p, jax.nn.softplus)[which]

        def chain(key: Any, start: Any) -> Any:
            first, second = jax.random.split(key)
            (state, parameters), _ = blackjax.window_adaptation(blackjax.nuts, density).run(
                first, start, num_steps=WARMUP
            )
            kernel = blackjax.nuts(density, **parameters).step
            keys = jax.random.split(second, DRAWS)
            return jax.lax.scan(lambda s, k: (kernel(k, s)[0],) * 2, state, keys)[1].position

        chains = jax.jit(jax.vmap(chain))

        def run(index: int) -> Mapping[str, Any]:
            rng = np.random.default_rng(index)
            start = {k: v + rng.uniform(-1, 1, (CHAINS, *v.shape)) for k, v in initial.items()}
            found: Mapping[str, Any] = jax.block_until_ready(
                chains(jax.random.split(jax.random.key(index), CHAINS), start)
            )
            return found

        return case(run)

    return build


WORKS = [
    Work(
        "L-BFGS-B of Rosenbrock in 100 dimensions", 0.5, {"adjoint": minimum_ours, "jax": minimum_jax}, tolerance=1e-5
    ),
    Work("tenth derivative of exp(sin(x)) at 10⁶ points", 0.5, {"adjoint": tenth_ours, "jax": tenth_jax}),
    Work(
        "banded Hessian of a trajectory, n = 2,000", 1.0, {"adjoint": hessian_ours, "casadi": hessian_casadi}, unit="µs"
    ),
    *[
        Work(
            f"NUTS on {name}, for each effective sample",
            0.5,
            {"adjoint": sampler_ours(which), "blackjax": sampler_blackjax(which)},
            unit="µs",
            tolerance=0.15,
            returned=True,
        )
        for which, name in (("schools", "eight schools"), ("logistic", "a 1,000×20 logistic regression"))
    ],
]
