"""Linear regression by gradient descent, checked against the exact solution.

A hundred points in five dimensions, the targets a linear function of them with a little noise. Gradient descent on the
mean squared error and the normal equations must end at the same weights.

    python examples/linear_regression.py
"""

from __future__ import annotations

import argparse

import numpy as np

import adjoint as ad


def make_data(count: int, features: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, targets, and the weights behind them, in float64."""
    generator = np.random.default_rng(seed)
    points = generator.standard_normal((count, features))
    weights = generator.standard_normal(features)
    return points, points @ weights + noise * generator.standard_normal(count), weights


def descend(points: np.ndarray, targets: np.ndarray, steps: int, rate: float) -> np.ndarray:
    """The weights after that many steps, from zero."""
    x, y = ad.tensor(points), ad.tensor(targets)
    w = ad.variable(np.zeros(points.shape[1]))
    for step in range(steps):
        loss = ad.mean((x @ w - y) ** 2)
        if step % max(1, steps // 5) == 0:
            print(f"step {step:4}  loss {loss.item():.6f}")
        loss.backward()
        w.data -= rate * w.grad
        w.grad = None
    return w.numpy()


def main() -> None:
    """Fit, and compare."""
    parser = argparse.ArgumentParser(description="Linear regression by gradient descent.")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()

    points, targets, truth = make_data(count=100, features=5, noise=0.05, seed=0)
    found = descend(points, targets, steps=300 if options.quick else 1000, rate=0.1)
    exact, *_ = np.linalg.lstsq(points, targets)
    print("behind the data ", truth.round(4))
    print("gradient descent", found.round(4))
    print("exact solution  ", exact.round(4))
    print(f"largest difference {np.abs(found - exact).max():.1e}")


if __name__ == "__main__":
    main()
