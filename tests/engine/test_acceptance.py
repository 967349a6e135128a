"""What the engine was asked to do, point by point, on the numbers that were named."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from support import double, equal

# ---- formulas --------------------------------------------------------------------------------------------------------


def test_a_polynomial_its_derivatives_and_another_value() -> None:
    x, z = ad.variable(2.0), ad.variable(0.0)
    y = 3 * x**3 + 4 * x + 1 + x * z
    assert y.item() == 33
    dx, dz = ad.gradients(y, [x, z])
    assert (dx.item(), dz.item()) == (40, 2)
    (second,) = ad.gradients(dx, [x])
    (third,) = ad.gradients(second, [x])
    assert (second.item(), third.item()) == (36, 18)
    assert (ad.evaluate(y, {x: 3.0}).item(), ad.evaluate(dx, {x: 3.0}).item()) == (94, 85)
    replayed = ad.function([x, z], [y, dx, second])(3.0, 0.0)
    assert [item.item() for item in replayed] == [94, 85, 54]
    y.backward()
    assert (x.grad.item(), z.grad.item()) == (40, 2)


def test_the_same_polynomial_through_functions() -> None:
    def f(x: ad.Tensor, z: ad.Tensor) -> ad.Tensor:
        return 3 * x**3 + 4 * x + 1 + x * z

    point = double(2.0), double(0.0)
    assert [item.item() for item in ad.grad(f, argnums=(0, 1))(*point)] == [40, 2]
    assert ad.grad(ad.grad(f))(*point).item() == 36
    assert ad.grad(ad.grad(ad.grad(f)))(*point).item() == 18


A = np.fromfunction(lambda i, j: np.sin(0.1 * i * j + 1), (5, 4))
B = np.fromfunction(lambda i, j: np.cos(0.2 * i - 0.3 * j + 2), (4, 8))


def by_matmul(a: ad.Tensor, b: ad.Tensor) -> ad.Tensor:
    return ad.sum(ad.tanh(a @ b))


def by_scalars(a: ad.Tensor, b: ad.Tensor) -> ad.Tensor:
    total = double(0.0)
    for i, j in itertools.product(range(5), range(8)):
        entry = a[i, 0] * b[0, j]
        for k in range(1, 4):
            entry = entry + a[i, k] * b[k, j]
        total = total + ad.tanh(entry)
    return total


@pytest.mark.parametrize("product", [by_matmul, by_scalars])
def test_matrix_gradients_to_the_printed_digits(product: Callable[..., ad.Tensor]) -> None:
    a, b = ad.variable(A), ad.variable(B)
    product(a, b).backward()

    # Six printed digits, the last of which the source rounded its own way.
    for row, printed in (
        (a.grad[0], [0.61269, 0.219674, -0.182099, -0.576613]),
        (a.grad[-1], [0.559561, 0.192885, -0.18148, -0.548611]),
        (b.grad[0], [0.147051, 0.777565, 3.37213, 3.06425, 0.656405, 0.126285, 0.0356017, 0.01724]),
    ):
        equal(row, printed, 4e-6)


# ---- fitting ---------------------------------------------------------------------------------------------------------


def test_least_squares_by_gradient_descent_reaches_the_analytic_solution() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(100, 5))
    y = x @ generator.normal(size=5) + 0.05 * generator.normal(size=100)
    w = ad.variable(np.zeros(5))
    for _ in range(1000):
        loss = ((ad.tensor(x) @ w - y) ** 2).mean()
        loss.backward()
        w.data -= 0.1 * w.grad
        w.grad = None
    np.testing.assert_allclose(w.numpy(), np.linalg.solve(x.T @ x, x.T @ y))


def regression() -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Weights of a 5-10-1 relu network, and data for it."""
    generator = np.random.default_rng(1)
    shapes = (5, 10), (10,), (10, 1), (1,)
    weights = [generator.normal(size=shape) * 0.5 for shape in shapes]
    return weights, generator.normal(size=(40, 5)), generator.normal(size=(40, 1))


def trained_by_hand(steps: int = 20, rate: float = 0.05) -> list[np.ndarray]:
    """The regression trained with NumPy, its gradients written out."""
    (w1, b1, w2, b2), x, y = regression()
    for _ in range(steps):
        before = x @ w1 + b1
        hidden = np.maximum(before, 0)
        error = 2 * (hidden @ w2 + b2 - y) / y.size
        back = (error @ w2.T) * (before > 0)
        gradients = x.T @ back, back.sum(0), hidden.T @ error, error.sum(0)
        w1, b1, w2, b2 = (w - rate * g for w, g in zip((w1, b1, w2, b2), gradients, strict=True))
    return [w1, b1, w2, b2]


def trained(steps: int = 20, rate: float = 0.05) -> list[np.ndarray]:
    """The regression trained with the engine."""
    weights, x, y = regression()
    parameters = [ad.variable(weight) for weight in weights]
    w1, b1, w2, b2 = parameters
    for _ in range(steps):
        loss = ((ad.relu(x @ w1 + b1) @ w2 + b2 - y) ** 2).mean()
        loss.backward()
        with ad.no_grad():
            for parameter in parameters:
                parameter -= rate * parameter.grad
                parameter.grad = None
    return [parameter.numpy() for parameter in parameters]


def test_relu_regression_is_what_its_gradients_written_out_give() -> None:
    for found, expected in zip(trained(), trained_by_hand(), strict=True):
        np.testing.assert_allclose(found, expected, 1e-10, 1e-10)


@pytest.mark.oracle
def test_relu_regression_is_pytorchs() -> None:
    import torch

    weights, x, y = regression()
    parameters = [torch.tensor(weight, requires_grad=True) for weight in weights]
    optimizer = torch.optim.SGD(parameters, lr=0.05)
    w1, b1, w2, b2 = parameters
    for _ in range(20):
        optimizer.zero_grad()
        ((torch.relu(torch.tensor(x) @ w1 + b1) @ w2 + b2 - torch.tensor(y)) ** 2).mean().backward()
        optimizer.step()
    for found, expected in zip(trained(), parameters, strict=True):
        np.testing.assert_allclose(found, expected.detach().numpy(), 1e-10, 1e-10)


def test_a_model_trained_by_rebinding_data_in_a_plain_loop(tmp_path: Path) -> None:
    class Model:
        def __init__(self) -> None:
            self.a, self.b, self.c = ad.variable(2.0), ad.variable(0.9), ad.variable(0.1)

        def __call__(self, x: ad.Tensor) -> ad.Tensor:
            return self.a * ad.sin(self.b * x**4 + self.c)

        def parameters(self) -> list[ad.Tensor]:
            return [self.a, self.b, self.c]

    model, x = Model(), ad.linspace(-1.2, 1.2, 100)
    target = ad.sin(x**4) * 4
    losses = []
    for _ in range(600):
        loss = ad.mean((model(x) - target) ** 2)
        loss.backward()
        for param in model.parameters():
            param.data -= param.grad.data * 0.05
            param.grad = None
        losses.append(loss.item())
    assert losses[-1] < 1e-5 < losses[0]
    np.testing.assert_allclose([param.item() for param in model.parameters()], [4, 1, 0], atol=0.02)
    ad.plot.losses(losses, path=tmp_path / "loss.png")
    assert (tmp_path / "loss.png").read_bytes()[:4] == b"\x89PNG"


# ---- shared nodes ----------------------------------------------------------------------------------------------------


def derivative(f: Callable[[ad.Tensor], ad.Tensor], x: float) -> float:
    by_grad = ad.grad(f)(double(x)).item()
    w = ad.variable(x, dtype="float64")
    f(w).backward()
    assert w.grad.item() == by_grad == ad.jvp(f, (double(x),), (double(1.0),))[1].item()
    return by_grad


def test_shared_nodes_and_powers() -> None:
    assert derivative(lambda a: a + a, 3.0) == 2
    assert derivative(lambda a: a * a * a + a, 3.0) == 28
    assert derivative(lambda a: a - a, 3.0) == 0
    np.testing.assert_allclose(derivative(lambda x: x**x, 2.0), 4 * (np.log(2) + 1))
    assert derivative(lambda x: x**0, 0.0) == 0
    assert derivative(lambda x: x**3, -2.0) == 12
    assert derivative(lambda x: x ** double(3.0), -2.0) == 12
    assert derivative(lambda x: x**2, 0.0) == 0 and derivative(lambda x: x**1, 0.0) == 1
    for exponent, slope in ((0.0, 0.0), (1.0, 1.0), (2.0, 0.0), (3.5, 0.0)):
        assert derivative(lambda x, exponent=exponent: x ** double(exponent), 0.0) == slope
    for exponent in (1.0, 2.0):
        assert derivative(lambda y: double(0.0) ** y, exponent) == 0
    assert (double(0.0) ** 0).item() == (double(0.0) ** double(0.0)).item() == 1
    assert (double(-2.0) ** 3).item() == (double(-2.0) ** double(3.0)).item() == -8


def test_sixty_doublings_have_two_to_the_sixty_paths() -> None:
    x = ad.variable(1.0, dtype="float64")
    y = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad.item() == y.item() == 2.0**60

    def doubled(x: ad.Tensor) -> ad.Tensor:
        for _ in range(60):
            x = x + x
        return x

    assert derivative(doubled, 1.0) == 2.0**60
    assert ad.grad(ad.grad(lambda x: doubled(x) * x))(double(1.0)).item() == 2.0**61


# ---- a long chain ----------------------------------------------------------------------------------------------------

CHAIN = """
import math, resource, sys, threading
import adjoint as ad

def peak():
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

def chain(x, length):
    y = x
    for _ in range(length // 2):
        y = ad.sin(y) * 1.0001
    return y

def expected(length, x=0.5):
    slope = 1.0
    for _ in range(length // 2):
        slope *= 1.0001 * math.cos(x)
        x = 1.0001 * math.sin(x)
    return x, slope

def run(length, every_way=False):
    x = ad.variable(0.5, dtype="float64")
    y = chain(x, length)
    value, slope = expected(length)
    assert math.isclose(y.item(), value, rel_tol=1e-9), (y.item(), value)
    assert "0." in repr(y)
    y.backward()
    assert math.isclose(x.grad.item(), slope, rel_tol=1e-6), (x.grad.item(), slope)
    if not every_way:
        return
    (slope,) = ad.gradients(y, [x])
    assert math.isclose(slope.item(), x.grad.item(), rel_tol=1e-12)
    assert ad.evaluate(y, {x: 0.5}).item() == ad.function([x], [y])(0.5)[0].item() == y.item()
    (curvature,) = ad.gradients(slope, [x])
    assert math.isfinite(curvature.item()) and curvature.item() != 0
    _, tangent = ad.jvp(lambda x: chain(x, length), (x,), (ad.tensor(1.0, dtype="float64"),))
    assert math.isclose(tangent.item(), x.grad.item(), rel_tol=1e-12)

def check():
    run(100)
    sys.setrecursionlimit(200)
    run(10_000, every_way=True)
    start = peak()
    run(LENGTH)
    assert (peak() - start) / LENGTH < 3000, (start, peak())  # bytes an operation, forward and backward

# CPython 3.13 needs more stack than its predecessors to free any nest of this depth
threading.stack_size(256 * 1024 if sys.version_info < (3, 13) else 1 << 20)
failed = []
threading.excepthook = lambda report: failed.append(report.exc_value) or sys.__excepthook__(*report[:3])
thread = threading.Thread(target=check)
thread.start()
thread.join()
sys.exit(bool(failed))
"""


@pytest.mark.parametrize("length", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_long_chain(length: int) -> None:
    """Built, evaluated, printed, differentiated, replayed and freed on a 256 KiB stack, in memory linear in length."""
    paths = [str(Path(ad.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-c", f"LENGTH = {length}\n{CHAIN}"]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240)
    assert finished.returncode == 0, finished.stdout + finished.stderr


# ---- zero times infinity ---------------------------------------------------------------------------------------------


def forward(f: Callable[[ad.Tensor], ad.Tensor]) -> Callable[[ad.Tensor], ad.Tensor]:
    return lambda x: ad.jvp(f, (x,), (ad.ones_like(x),))[1]


DEAD: dict[str, tuple[Callable[[ad.Tensor], ad.Tensor], dict[float, tuple[float, float, float]]]] = {
    "square root": (lambda x: ad.where(x > 0, ad.sqrt(x), 0), {0.0: (0, 0, 0), -1.0: (0, 0, 0), 1.0: (1, 0.5, -0.25)}),
    "sine of a reciprocal": (lambda x: ad.where(x > 0, ad.sin(1 / x), 0), {0.0: (0, 0, 0), -1.0: (0, 0, 0)}),
    "log": (lambda x: ad.where(x > 0, ad.log(x), 0.0), {0.0: (0, 0, 0), -1.0: (0, 0, 0), 2.0: (np.log(2), 0.5, -0.25)}),
    "division": (lambda x: ad.where(x != 0, 1 / x, x), {0.0: (0, 1, 0), -1.0: (-1, -1, -2)}),
    "power": (lambda x: ad.where(x > 0, x**-1.5, 2 * x), {0.0: (0, 2, 0), -1.0: (-2, 2, 0)}),
    "log of a square root": (lambda x: ad.where(x > 0, ad.log(ad.sqrt(x)), x**2), {0.0: (0, 0, 2), -1.0: (1, -2, 2)}),
    "exponential of a reciprocal": (lambda x: ad.where(x > 0, ad.exp(1 / x), 0), {0.0: (0, 0, 0), -1.0: (0, 0, 0)}),
    "abs": (lambda x: ad.abs(x) * 3, {0.0: (0, 0, 0), -1.0: (3, -3, 0)}),
    "norm": (lambda x: ad.norm(ad.stack([x, 2 * x])), {0.0: (0, 0, 0), -1.0: (5**0.5, -(5**0.5), 0)}),
    "relu": (lambda x: ad.relu(x) ** 2, {0.0: (0, 0, 0), -1.0: (0, 0, 0), 2.0: (4, 4, 2)}),
    "x log x": (lambda x: ad.where(x == 0, 0, x * ad.log(x)), {0.0: (0, 0, 0), 1.0: (0, 1, 1)}),
    "index": (lambda x: ad.sqrt(ad.stack([x, x + 4]))[1], {0.0: (2, 0.25, -1 / 32)}),
}
COMBINATIONS = list(itertools.product((ad.grad, forward), repeat=2))


@pytest.mark.parametrize("name", DEAD)
@pytest.mark.parametrize("combination", range(4))
def test_a_dead_branch_poisons_no_derivative(name: str, combination: int) -> None:
    f, points = DEAD[name]
    outer, inner = COMBINATIONS[combination]
    for x, (value, first, second) in points.items():
        equal(f(double(x)), value)
        equal(inner(f)(double(x)), first)
        equal(outer(inner(f))(double(x)), second)
        vector = double([x, 1.0, x])
        total = ad.grad(lambda v: ad.stack([f(v[0]), f(v[1]), f(v[2])]).sum())(vector)
        equal(total[0], first)
        if name not in ("norm", "index"):
            equal(ad.grad(lambda v: f(v).sum())(vector)[2], first)


@pytest.mark.parametrize(("outer", "inner"), COMBINATIONS)
def test_one_singular_element_poisons_no_other(outer: Any, inner: Any) -> None:
    """The second derivative of sum(w sqrt(x)) is infinite at x = 0, and is not asked for there."""
    w = double([0.0, 3.0])

    def slope(x: ad.Tensor, w: ad.Tensor = w) -> ad.Tensor:
        """By the second element alone."""
        if inner is ad.grad:
            return ad.grad(lambda x: (w * ad.sqrt(x)).sum())(x)[1]
        return ad.jvp(lambda x: (w * ad.sqrt(x)).sum(), (x,), (double([0.0, 1.0]),))[1]

    x = double([0.0, 4.0])
    if outer is ad.grad:
        equal(ad.grad(slope)(x), [0.0, -3 / 32])
        equal(ad.grad(slope, argnums=1)(x, w), [0.0, 0.25])
    else:
        equal(ad.jvp(slope, (x,), (double([0.0, 1.0]),))[1], -3 / 32)
        equal(ad.jvp(slope, (x, w), (double([0.0, 1.0]), double([1.0, 1.0])))[1], -3 / 32 + 0.25)
