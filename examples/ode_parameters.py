"""The parameters of a differential equation, found by differentiating through its integration.

Hares h and lynxes l after A. Lotka (1925) and V. Volterra (1926):

    dh/dt = a·h - b·h·l        dl/dt = d·h·l - c·l

Noisy counts of both are given. The equations are integrated from guessed parameters by the method of Runge and Kutta;
how far the result is from the counts is a formula of the parameters like any other, so its gradient tells where to go.

    python examples/ode_parameters.py --out lynxes.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import adjoint as ad

TRUTH = np.array([1.0, 0.4, 0.9, 0.3])  # a, b, c, d
START = np.array([3.0, 1.5])


def rates(state: ad.Tensor, parameters: ad.Tensor) -> ad.Tensor:
    """d(h, l)/dt."""
    hares, lynxes = state[0], state[1]
    a, b, c, d = (parameters[number] for number in range(4))
    return ad.stack([a * hares - b * hares * lynxes, d * hares * lynxes - c * lynxes])


def integrate(parameters: ad.Tensor, steps: int, dt: float) -> ad.Tensor:
    """The states (steps + 1, 2) at times 0, dt, 2 dt and so on: the classical method of fourth order."""
    state = ad.tensor(START)
    states = [state]
    for _ in range(steps):
        k1 = rates(state, parameters)
        k2 = rates(state + dt / 2 * k1, parameters)
        k3 = rates(state + dt / 2 * k2, parameters)
        k4 = rates(state + dt * k3, parameters)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        states.append(state)
    return ad.stack(states)


def main() -> None:
    """Make the counts, fit, compare."""
    parser = argparse.ArgumentParser(description="Fit the parameters of a differential equation.")
    parser.add_argument("--quick", action="store_true", help="a shorter time and fewer steps")
    parser.add_argument("--out", type=Path, default=Path("lynxes.png"), help="where the loss curve goes")
    options = parser.parse_args()
    steps, dt, iterations = (20, 0.2, 80) if options.quick else (40, 0.2, 200)

    with ad.no_grad():
        exact = integrate(ad.tensor(TRUTH), steps, dt).numpy()
    counts = exact + 0.02 * np.random.default_rng(0).standard_normal(exact.shape)

    # Logarithms, because the parameters are positive.
    logs = ad.variable(np.log([0.7, 0.7, 0.7, 0.7]))
    optimizer = ad.optim.Adam([logs], lr=0.15)
    schedule = ad.optim.CosineAnnealingLR(optimizer, iterations)
    losses = []
    for iteration in range(iterations):
        loss = ad.mean((integrate(ad.exp(logs), steps, dt) - counts) ** 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if iteration % max(1, iterations // 8) == 0 or iteration == iterations - 1:
            found = "  ".join(f"{value:.3f}" for value in np.exp(logs.numpy()))
            print(f"iteration {iteration:3}  loss {losses[-1]:.5f}  a, b, c, d = {found}")
    print(f"behind the counts: a, b, c, d = {'  '.join(f'{value:.3f}' for value in TRUTH)}")
    print(f"largest difference {np.abs(np.exp(logs.numpy()) - TRUTH).max():.4f}")
    ad.plot.losses(losses, options.out, title="Parameters of an equation, found by gradient descent")


if __name__ == "__main__":
    main()
