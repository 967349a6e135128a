"""Thirty functions in plain NumPy, as textbooks and documentation write them: `ad.grad` differentiates each as it stands."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import adjoint as ad

g = np.random.default_rng(7)
X, Y = g.normal(size=(12, 3)), (g.random(12) > 0.5).astype(float)
T = np.linspace(0.0, 2.0, 12)
SQUARE = g.normal(size=(4, 4))


def logistic_loss(w):
    z = np.dot(X, w)
    return np.mean(np.log1p(np.exp(-np.abs(z))) + np.maximum(z, 0) - z * Y)


def softmax_cross_entropy(w):
    scores = X @ w.reshape(3, 2)
    scores = scores - np.max(scores, axis=1, keepdims=True)
    probabilities = np.exp(scores) / np.sum(np.exp(scores), axis=1, keepdims=True)
    return -np.mean(np.log(probabilities[np.arange(len(X)), Y.astype(int)]))


def gaussian_mixture(p):
    means, scales = p[:2], np.exp(p[2:4])
    weights = np.exp(p[4:]) / np.sum(np.exp(p[4:]))
    densities = weights * np.exp(-0.5 * ((T[:, None] - means) / scales) ** 2) / (scales * np.sqrt(2 * np.pi))
    return -np.sum(np.log(np.sum(densities, axis=1)))


def kalman_filter(p):
    q, r = np.exp(p[0]), np.exp(p[1])
    state, covariance, loss = np.zeros(2), np.eye(2), 0.0
    transition, observe = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    for measured in T[:6]:
        state, covariance = transition @ state, transition @ covariance @ transition.T + q * np.eye(2)
        innovation = measured - observe @ state
        spread = observe @ covariance @ observe.T + r
        gain = covariance @ observe.T @ np.linalg.inv(spread)
        state = state + gain @ innovation
        covariance = (np.eye(2) - gain @ observe) @ covariance
        loss += 0.5 * (np.linalg.slogdet(spread)[1] + innovation @ np.linalg.solve(spread, innovation))
    return loss


def black_scholes(p):
    spot, strike, rate, volatility, years = p
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / (volatility * np.sqrt(years))
    d2 = d1 - volatility * np.sqrt(years)
    cdf = lambda x: 0.5 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))  # noqa: E731
    return spot * cdf(d1) - strike * np.exp(-rate * years) * cdf(d2)


def lennard_jones(p):
    points = p.reshape(-1, 3)
    i, j = np.triu_indices(len(points), 1)
    r2 = np.sum((points[i] - points[j]) ** 2, axis=1)
    return 4 * np.sum(r2**-6 - r2**-3)


def spectral_poisson(f):
    n = len(f)
    k = 2 * np.pi * np.fft.fftfreq(n, 1.0 / n)
    divisor = np.where(k == 0, 1.0, k**2)
    u = np.fft.ifft(np.where(k == 0, 0.0, np.fft.fft(f) / divisor)).real
    return np.sum(u**2)


def cubic_spline(y):
    n, h = len(y), 0.5
    matrix = np.diag(4.0 * np.ones(n - 2)) + np.diag(np.ones(n - 3), 1) + np.diag(np.ones(n - 3), -1)
    second = np.linalg.solve(matrix, 6 / h**2 * (y[2:] - 2 * y[1:-1] + y[:-2]))
    second = np.concatenate([[0.0], second, [0.0]])
    middle = (y[:-1] + y[1:]) / 2 - h**2 / 16 * (second[:-1] + second[1:])
    return np.sum(middle**2)


def ridge_regression(log_penalty):
    w = np.linalg.solve(X.T @ X + np.exp(log_penalty[0]) * np.eye(3), X.T @ Y)
    return np.linalg.norm(X @ w - Y) ** 2


def gaussian_process(p):
    distance = (T[:, None] - T[None, :]) ** 2
    kernel = np.exp(p[0]) * np.exp(-0.5 * distance / np.exp(2 * p[1])) + (np.exp(p[2]) + 1e-3) * np.eye(len(T))
    factor = np.linalg.cholesky(kernel)
    alpha = np.linalg.solve(factor.T, np.linalg.solve(factor, Y))
    return 0.5 * Y @ alpha + np.sum(np.log(np.diagonal(factor)))


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rastrigin(x):
    return 10 * x.size + np.sum(x**2 - 10 * np.cos(2 * np.pi * x))


def ackley(x):
    return -20 * np.exp(-0.2 * np.sqrt(np.mean(x**2))) - np.exp(np.mean(np.cos(2 * np.pi * x))) + 20 + np.e


def huber(w):
    residual = X @ w - Y
    small = np.abs(residual) <= 0.4
    return np.sum(np.where(small, 0.5 * residual**2, 0.4 * (np.abs(residual) - 0.2)))


def quantile_loss(w):
    residual = Y - np.matmul(X, w)
    return np.mean(np.maximum(0.3 * residual, (0.3 - 1) * residual))


def poisson_regression(w):
    rate = np.exp(np.clip(np.inner(X, w), -5, 5))
    return np.sum(rate - Y * np.log(rate))


def runge_kutta(p):
    f = lambda s: np.stack([p[0] * s[0] - p[1] * s[0] * s[1], p[2] * s[0] * s[1] - p[3] * s[1]])  # noqa: E731
    state = np.array([1.0, 0.5])
    for _ in range(8):
        k1 = f(state)
        k2 = f(state + 0.05 * k1)
        k3 = f(state + 0.05 * k2)
        k4 = f(state + 0.1 * k3)
        state = state + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return np.sum(state**2)


def pendulum_energy(p):
    theta, omega = p
    return 0.5 * omega**2 + 9.81 * (1 - np.cos(theta))


def heat_equation(u):
    for _ in range(5):
        u = u + 0.2 * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    return np.var(u)


def total_variation(image):
    image = image.reshape(4, 4)
    return np.sum(np.sqrt(np.diff(image, axis=0)[:, :-1] ** 2 + np.diff(image, axis=1)[:-1] ** 2 + 1e-3))


def convolution_smoothing(signal):
    window = np.hanning(5) / np.sum(np.hanning(5))
    return np.sum((np.convolve(signal, window, mode="same") - T) ** 2)


def power_spectrum(signal):
    spectrum = np.abs(np.fft.rfft(signal - np.mean(signal))) ** 2 + 1e-6
    return -np.sum(spectrum * np.log(spectrum / np.sum(spectrum)))


def principal_components(a):
    data = a.reshape(8, 2)
    centred = data - data.mean(axis=0)
    values = np.linalg.eigvalsh(np.cov(centred, rowvar=False))
    return values[-1] / values.sum()


def sinkhorn(p):
    kernel = np.exp(-(p.reshape(3, 3) ** 2))
    u, v = np.ones(3), np.ones(3)
    for _ in range(6):
        u = 1.0 / (3 * kernel.dot(v))
        v = 1.0 / (3 * kernel.T.dot(u))
    return np.sum(u[:, np.newaxis] * kernel * v[np.newaxis, :] * p.reshape(3, 3))


def simpson(p):
    x = np.linspace(0.0, 1.0, 9)
    y = np.exp(-p[0] * x) * np.sin(p[1] * x)
    return (x[1] - x[0]) / 3 * (y[0] + 4 * y[1:-1:2].sum() + 2 * y[2:-1:2].sum() + y[-1])


def two_layer_network(p):
    w1, b1, w2, b2 = np.split(p, [6, 8, 10])
    hidden = np.tanh(np.dot(X, w1.reshape(3, 2)) + b1)
    output = 1 / (1 + np.exp(-(hidden.dot(w2) + b2)))
    return -np.average(Y * np.log(output) + (1 - Y) * np.log(1 - output))


def self_attention(p):
    x = p.reshape(4, 3)
    scores = np.einsum("id,jd->ij", x, x) / np.sqrt(x.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.linalg.norm(np.tensordot(weights, x, axes=1))


def kepler_orbit(p):
    eccentricity, mean_anomaly = p
    anomaly = mean_anomaly
    for _ in range(8):
        anomaly = anomaly - (anomaly - eccentricity * np.sin(anomaly) - mean_anomaly) / (
            1 - eccentricity * np.cos(anomaly)
        )
    return np.arctan2(np.sqrt(1 - eccentricity**2) * np.sin(anomaly), np.cos(anomaly) - eccentricity)


def rotation_fit(angles):
    a, b = angles
    turn = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    mine = np.vstack([np.hstack([np.cos(a), -np.sin(b)]), np.hstack([np.sin(b), np.cos(a)])])
    return np.trace((mine - turn).T @ (mine - turn))


def polynomial_least_squares(c):
    return np.sum((np.polyval(c, T) - np.sin(T)) ** 2) + 0.1 * np.polyval(np.polyder(c), 0.5) ** 2


def interpolated_yield_curve(rates):
    years = np.array([0.5, 1.5, 2.5, 4.0])
    curve = np.interp(years, np.array([0.0, 1.0, 2.0, 3.0, 5.0]), rates)
    return np.sum(np.cumprod(np.exp(-curve)) * 5.0) - np.median(curve)


def trimmed_mean(x):
    ordered = np.sort(x)
    return np.mean(ordered[1:-1]) + np.percentile(x, 75) - np.percentile(x, 25)


def kullback_leibler(p):
    q, r = np.exp(p[:4]) / np.exp(p[:4]).sum(), np.exp(p[4:]) / np.exp(p[4:]).sum()
    return np.sum(np.where(q > 0, q * np.log(q / r), 0))


FUNCTIONS: list[tuple[Any, np.ndarray]] = [
    (logistic_loss, X[0]), (softmax_cross_entropy, X[:2].ravel()), (gaussian_mixture, np.array([0.5, 1.5, -0.5, 0.1, 0.2, -0.3])),
    (kalman_filter, np.array([-2.0, -1.0])), (black_scholes, np.array([100.0, 95.0, 0.03, 0.2, 0.75])),
    (lennard_jones, np.array([0.0, 0.1, 0.0, 1.1, 0.0, 0.2, 0.1, 1.3, 0.3])), (spectral_poisson, np.sin(T[:8]) + T[:8] ** 2),
    (cubic_spline, np.cos(T[:7])), (ridge_regression, np.array([0.3])), (gaussian_process, np.array([0.1, -0.5, -1.0])),
    (rosenbrock, X[0]), (rastrigin, X[1]), (ackley, X[2]), (huber, X[3]), (quantile_loss, X[4]), (poisson_regression, X[5]),
    (runge_kutta, np.array([1.1, 0.4, 0.1, 0.4])), (pendulum_energy, np.array([0.7, -0.2])), (heat_equation, T[:6] ** 2),
    (total_variation, SQUARE.ravel()), (convolution_smoothing, np.cos(T)), (power_spectrum, T + np.sin(9 * T)),
    (principal_components, g.normal(size=16)), (sinkhorn, np.abs(g.normal(size=9))), (simpson, np.array([0.5, 2.0])),
    (two_layer_network, g.normal(size=11)), (self_attention, g.normal(size=12)), (kepler_orbit, np.array([0.3, 1.2])),
    (rotation_fit, np.array([0.2, 0.5])), (polynomial_least_squares, np.array([0.1, -0.4, 1.0, 0.05])),
    (interpolated_yield_curve, np.array([0.01, 0.015, 0.02, 0.022, 0.025])), (trimmed_mean, g.normal(size=9)),
    (kullback_leibler, g.normal(size=8)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "point"), [pytest.param(f, p, id=f.__name__) for f, p in FUNCTIONS])
def test_as_written(function: Any, point: np.ndarray) -> None:
    assert "ad." not in inspect.getsource(function)
    value, gradient = ad.value_and_grad(function)(point)
    np.testing.assert_allclose(value.item(), function(point), 1e-10)
    steps = np.eye(point.size) * 1e-6
    differences = [(function(point + h) - function(point - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient.numpy(), np.ravel(differences), 2e-5, 1e-7)


def test_there_are_thirty() -> None:
    assert len(FUNCTIONS) >= 30


def newton_square_root(a: Any) -> Any:
    x = a  # another name of the number, which keeps its value
    for _ in range(8):
        x -= (x * x - a) / (2 * x)
    return x


ROOTS = np.sqrt([2.0, 3.0])
NUMBERS: dict[str, tuple[Any, Any]] = {
    "grad": (lambda f: ad.grad(f)(2.0), 0.5 / ROOTS[0]),
    "value_and_grad": (lambda f: ad.value_and_grad(f)(np.float64(2.0))[0], ROOTS[0]),
    "grad of grad": (lambda f: ad.grad(ad.grad(f))(2.0), -0.25 / ROOTS[0] ** 3),
    "grad in a tree": (lambda f: ad.grad(lambda p: f(p["a"]))({"a": 2.0})["a"], 0.5 / ROOTS[0]),
    "jvp": (lambda f: ad.jvp(f, (2.0,), (1.0,))[1], 0.5 / ROOTS[0]),
    "hessian": (lambda f: ad.hessian(f)(2.0), -0.25 / ROOTS[0] ** 3),
    "jet": (lambda f: ad.jet(f, (2.0,), ([1.0, 0.0],))[1][1], -0.25 / ROOTS[0] ** 3),
    "grad of jit": (lambda f: ad.grad(ad.jit(f))(2.0), 0.5 / ROOTS[0]),
    "jit of grad": (lambda f: ad.jit(ad.grad(f))(2.0), 0.5 / ROOTS[0]),
    "grad of checkpoint": (lambda f: ad.grad(ad.checkpoint(f))(2.0), 0.5 / ROOTS[0]),
    "vmap": (lambda f: ad.vmap(f)(np.array([2.0, 3.0])), ROOTS),
    "jit of vmap": (lambda f: ad.jit(ad.vmap(f))(np.array([2.0, 3.0])), ROOTS),
    "vmap of grad": (lambda f: ad.vmap(ad.grad(f))(np.array([2.0, 3.0])), 0.5 / ROOTS),
    "map": (lambda f: ad.map(f, np.array([2.0, 3.0])), ROOTS),
    "scan": (lambda f: ad.scan(lambda c, x: (f(c), x), 16.0, np.zeros(3))[0], np.sqrt(2.0)),
    "unrolled scan": (lambda f: ad.scan(lambda c, x: (f(c), x), 16.0, np.zeros(3), unroll=2)[0], np.sqrt(2.0)),
    "fori_loop": (lambda f: ad.fori_loop(0, 3, lambda i, c: f(c), 16.0), np.sqrt(2.0)),
    "while_loop": (lambda f: ad.while_loop(lambda c: c > 1.5, f, 16.0), np.sqrt(2.0)),
    "cond": (lambda f: ad.cond(True, f, lambda a: a, 2.0), ROOTS[0]),
    "root": (lambda f: ad.root(lambda a: f(a) - 1.5, 2.0).x, 2.25),
    "quad": (lambda f: ad.scipy.quad(f, 1.0, 4.0)[0], 14 / 3),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_not_changed_under_another_name(name: str) -> None:
    compute, expected = NUMBERS[name]
    np.testing.assert_allclose(compute(newton_square_root).numpy(), expected, 1e-4)


def test_tensors_change_under_every_name() -> None:
    a = ad.tensor(2.0)
    x = a
    x += 1
    assert a.item() == 3
