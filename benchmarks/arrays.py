"""Scientists' array code: Gaussian processes, small systems, Fourier transforms, special functions, functions of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Case, Work


def numbers(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


def sums(arrays: Any) -> list[float]:
    return [float(np.abs(np.asarray(a, np.float64)).sum()) for a in arrays]


def jitted(engine: Any, function: Callable[..., Any], *arrays: Any) -> Case:
    """A function and its gradient by the first arrays, compiled, by adjoint or JAX."""
    if engine.__name__ == "jax":
        engine.config.update("jax_enable_x64", True)
        given = [engine.numpy.asarray(a) for a in arrays]
        step = engine.jit(engine.value_and_grad(function))
        return Case(lambda _: engine.block_until_ready(step(*given)), check=lambda: sums(step(*given)))
    given = [engine.tensor(a) for a in arrays]
    step = engine.jit(engine.value_and_grad(function))

    def run(_: Any) -> Any:
        value, gradient = step(*given)
        return value.numpy(), gradient.numpy()

    return Case(run, check=lambda: sums(run(0)))


def buffered(function: Any, given: Any, results: list[Any]) -> Case:
    """A function of CasADi's, called with buffers of its own."""
    buffer, trigger = function.buffer()
    given = given.copy()
    buffer.set_arg(0, given.data)
    for k, x in enumerate(results):
        buffer.set_res(k, x.data)

    def run(_: Any) -> Any:
        assert buffer is not None and given is not None  # CasADi holds their addresses: they stay alive with this
        trigger()
        return results

    return Case(run, check=lambda: sums(run(0)))


def by_torch(torch: Any, function: Callable[..., Any], *arrays: Any) -> Case:
    given = [torch.from_numpy(a) for a in arrays]

    def run(_: Any) -> Any:
        first = given[0].clone().requires_grad_()
        value = function(first, *given[1:])
        return value.detach(), torch.autograd.grad(value, first)[0]

    return Case(run, check=lambda: sums(run(0)))


# The log marginal likelihood of a Gaussian process, by three parameters ---------------------------------------------------

THETA = np.array([0.7, 1.3, 0.2])


def process_data(points: int) -> tuple[Any, Any, Any]:
    x = numbers(0, points, 3)
    squares = ((x[:, None] - x[None]) ** 2).sum(-1)
    return THETA, squares, np.sin(x.sum(1)) + 0.1 * numbers(1, points)


def likelihood_ours(ad: Any) -> Callable[..., Any]:
    la = ad.linalg

    def likelihood(theta: Any, squares: Any, y: Any) -> Any:
        one = ad.eye(y.shape[0], dtype="float64")
        factor = la.cholesky(theta[1] * ad.exp(-0.5 * squares / theta[0] ** 2) + theta[2] * one)
        half = la.solve_triangular(factor, y, lower=True)
        return -0.5 * (half * half).sum() - ad.log(la.diagonal(factor)).sum()

    return likelihood


def likelihood_jax(jax: Any) -> Callable[..., Any]:
    np_, la = jax.numpy, jax.scipy.linalg

    def likelihood(theta: Any, squares: Any, y: Any) -> Any:
        factor = np_.linalg.cholesky(
            theta[1] * np_.exp(-0.5 * squares / theta[0] ** 2) + theta[2] * np_.eye(y.shape[0])
        )
        half = la.solve_triangular(factor, y, lower=True)
        return -0.5 * (half * half).sum() - np_.log(np_.diagonal(factor)).sum()

    return likelihood


def likelihood_torch(torch: Any) -> Callable[..., Any]:
    def likelihood(theta: Any, squares: Any, y: Any) -> Any:
        one = torch.eye(y.shape[0], dtype=torch.float64)
        factor = torch.linalg.cholesky(theta[1] * torch.exp(-0.5 * squares / theta[0] ** 2) + theta[2] * one)
        half = torch.linalg.solve_triangular(factor, y[:, None], upper=False)
        return -0.5 * (half * half).sum() - torch.log(torch.diagonal(factor)).sum()

    return likelihood


def process(points: int) -> dict[str, Callable[[Any], Case]]:
    return {
        "adjoint": lambda ad: jitted(ad, likelihood_ours(ad), *process_data(points)),
        "jax": lambda jax: jitted(jax, likelihood_jax(jax), *process_data(points)),
        "torch": lambda torch: by_torch(torch, likelihood_torch(torch), *process_data(points)),
    }


def hessian(engine: Any, function: Callable[..., Any], *arrays: Any) -> Case:
    """A function's second derivatives by the first array, compiled, by adjoint or JAX."""
    if engine.__name__ == "jax":
        engine.config.update("jax_enable_x64", True)
        given = [engine.numpy.asarray(a) for a in arrays]
        step = engine.jit(engine.hessian(function))
        return Case(lambda _: engine.block_until_ready(step(*given)), check=lambda: sums([step(*given)]))
    given = [engine.tensor(a) for a in arrays]
    step = engine.jit(engine.hessian(function))
    return Case(lambda _: step(*given).numpy(), check=lambda: sums([step(*given)]))


def hessian_torch(torch: Any, function: Callable[..., Any], *arrays: Any) -> Case:
    given = [torch.from_numpy(a) for a in arrays]
    step = torch.func.hessian(function)
    return Case(lambda _: step(*given), check=lambda: sums([step(*given)]))


def process_hessian(points: int) -> dict[str, Callable[[Any], Case]]:
    return {
        "adjoint": lambda ad: hessian(ad, likelihood_ours(ad), *process_data(points)),
        "jax": lambda jax: hessian(jax, likelihood_jax(jax), *process_data(points)),
        "torch": lambda torch: hessian_torch(torch, likelihood_torch(torch), *process_data(points)),
    }


# 10⁵ systems of four equations ----------------------------------------------------------------------------------------


def systems_data(count: int, n: int) -> tuple[Any, Any]:
    return numbers(2, count, n, n) + n * np.eye(n), numbers(3, count, n, 1)


def systems(solve: Callable[..., Any]) -> Callable[..., Any]:
    return lambda a, b: (solve(a, b) ** 2).sum()


def many_systems(count: int, n: int) -> dict[str, Callable[[Any], Case]]:
    return {
        "adjoint": lambda ad: jitted(ad, systems(ad.linalg.solve), *systems_data(count, n)),
        "jax": lambda jax: jitted(jax, systems(jax.numpy.linalg.solve), *systems_data(count, n)),
        "torch": lambda torch: by_torch(torch, systems(torch.linalg.solve), *systems_data(count, n)),
    }


# An extended Kalman filter, 20 states and measurements: its likelihood by the strength of the noise -------------------------


def tracking_data(steps: int = 200, n: int = 20) -> tuple[Any, Any, Any, Any]:
    f, h = np.eye(n) + 0.01 * numbers(10, n, n), numbers(11, n, n)
    return np.array(0.1), f, h, numbers(12, steps, n)


def tracking(np_: Any, scan: Callable[..., Any], solve: Callable[..., Any], slogdet: Callable[..., Any]) -> Any:
    def likelihood(q: Any, f: Any, h: Any, ys: Any) -> Any:
        one = np.eye(f.shape[0])

        def step(carry: Any, y: Any) -> Any:
            x, p = carry
            turned = f @ (one * (1 + 0.1 * np_.cos(x)))  # the derivative of f @ (x + 0.1 sin(x))
            x, p = f @ (x + 0.1 * np_.sin(x)), turned @ p @ turned.T + q * one
            s, rest = h @ p @ h.T + one, y - h @ x
            gain = solve(s, h @ p).T
            change = 0.5 * (rest @ solve(s, rest[:, None])[:, 0] + slogdet(s)[1])
            return (x + gain @ rest, p - gain @ h @ p), change

        return scan(step, (0 * ys[0], one + 0 * f), ys)[1].sum()

    return likelihood


def tracking_ours(ad: Any) -> Case:
    return jitted(ad, tracking(ad, ad.scan, ad.linalg.solve, ad.linalg.slogdet), *tracking_data())


def tracking_jax(jax: Any) -> Case:
    la = jax.numpy.linalg
    return jitted(jax, tracking(jax.numpy, jax.lax.scan, la.solve, la.slogdet), *tracking_data())


# Poisson's equation on a periodic square, by Fourier transforms ---------------------------------------------------------

SIDE = 512


def inverse_squares() -> Any:
    across, along = np.fft.fftfreq(SIDE, 1 / SIDE), np.fft.rfftfreq(SIDE, 1 / SIDE)
    squares = across[:, None] ** 2 + along**2
    squares[0, 0] = np.inf
    return 1 / squares


def poisson(fft: Any, norm: str) -> Callable[..., Any]:
    return lambda right, inverse: (fft.irfft2(-fft.rfft2(right, norm=norm) * inverse, norm=norm) ** 2).sum()


def poisson_ours(ad: Any) -> Case:
    return jitted(ad, poisson(ad.fft, "backward"), numbers(4, SIDE, SIDE), inverse_squares())


def poisson_jax(jax: Any) -> Case:
    return jitted(jax, poisson(jax.numpy.fft, "backward"), numbers(4, SIDE, SIDE), inverse_squares())


def poisson_torch(torch: Any) -> Case:
    return by_torch(torch, poisson(torch.fft, "backward"), numbers(4, SIDE, SIDE), inverse_squares())


# Regression of counts, 10⁶ of them --------------------------------------------------------------------------------------


def counts_data() -> tuple[Any, Any, Any]:
    x = 0.3 * numbers(5, 1_000_000, 4)
    return np.array([0.1, -0.2, 0.3, 0.05]), x, np.random.default_rng(6).poisson(2.0, 1_000_000).astype("float64")


def regression(exp: Any, gammaln: Any) -> Callable[..., Any]:
    def loss(w: Any, x: Any, y: Any) -> Any:
        rate = x @ w
        return (exp(rate) - y * rate + gammaln(y + 1)).mean()

    return loss


def counts_ours(ad: Any) -> Case:
    return jitted(ad, regression(ad.exp, ad.special.gammaln), *counts_data())


def counts_jax(jax: Any) -> Case:
    return jitted(jax, regression(jax.numpy.exp, jax.scipy.special.gammaln), *counts_data())


def counts_torch(torch: Any) -> Case:
    return by_torch(torch, regression(torch.exp, torch.lgamma), *counts_data())


# A chain of 20 exponentials of 4 × 4 matrices -----------------------------------------------------------------------------


def chain(expm: Callable[..., Any]) -> Callable[..., Any]:
    def total(matrices: Any) -> Any:
        product = expm(matrices[0])
        for k in range(1, 20):
            product = product @ expm(matrices[k])
        return (product**2).sum()

    return total


def chain_ours(ad: Any) -> Case:
    return jitted(ad, chain(ad.linalg.expm), 0.3 * numbers(7, 20, 4, 4))


def chain_jax(jax: Any) -> Case:
    return jitted(jax, chain(jax.scipy.linalg.expm), 0.3 * numbers(7, 20, 4, 4))


def chain_torch(torch: Any) -> Case:
    return by_torch(torch, chain(torch.linalg.matrix_exp), 0.3 * numbers(7, 20, 4, 4))


WORKS = [
    *[
        Work(f"Gaussian process of {points:,} points, likelihood and gradient", 0.8, process(points), tolerance=1e-7)
        for points in (500, 2000)
    ],
    Work("Gaussian process of 500 points, Hessian by 3 parameters", 0.8, process_hessian(500), tolerance=1e-6),
    Work("10⁵ systems of 4 equations", 0.3, many_systems(100_000, 4)),
    Work("1,000 systems of 20 equations", 0.8, many_systems(1000, 20)),
    Work(
        "extended Kalman filter, 20 states, 200 steps, gradient",
        0.8,
        {"adjoint": tracking_ours, "jax": tracking_jax},
        tolerance=1e-7,
    ),
    Work(
        "Poisson's equation by FFT, 512×512",
        0.9,
        {"adjoint": poisson_ours, "jax": poisson_jax, "torch": poisson_torch},
    ),
    Work("Poisson regression, 10⁶ counts", 0.5, {"adjoint": counts_ours, "jax": counts_jax, "torch": counts_torch}),
    Work(
        "chain of 20 exponentials of 4×4 matrices", 1.0, {"adjoint": chain_ours, "jax": chain_jax, "torch": chain_torch}
    ),
]
