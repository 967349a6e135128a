"""Three numbers learn the shape of a curve: a·sin(b·x^c) is fitted to 4·sin(x⁴).

No network and no optimizer: three variables, a formula, and a loop that moves each variable against its gradient.

    python examples/three_weights.py --out three_weights.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import adjoint as ad


def main() -> None:
    """Fit, print the weights, and draw the loss."""
    parser = argparse.ArgumentParser(description="Fit a·sin(b·x^c) to 4·sin(x⁴).")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    parser.add_argument("--out", type=Path, default=Path("three_weights.png"), help="where the loss curve goes")
    options = parser.parse_args()
    steps = 300 if options.quick else 3000

    points = np.linspace(0.05, 1.35, 100)
    x, y = ad.tensor(points), ad.tensor(4 * np.sin(points**4))
    params = [ad.variable(value, dtype="float64", name=name) for name, value in [("a", 2.0), ("b", 1.3), ("c", 3.0)]]
    a, b, c = params

    lr = 0.01
    losses = []
    for step in range(steps):
        loss = ad.mean((a * ad.sin(b * x**c) - y) ** 2)
        losses.append(loss.item())
        loss.backward()
        for param in params:
            param.data -= param.grad.data * lr
            param.grad = None
        if step % max(1, steps // 10) == 0:
            print(f"step {step:4}  loss {losses[-1]:.2e}")

    print("  ".join(f"{param.name} = {param.item():.4f}" for param in params), f" loss {losses[-1]:.2e}")
    ad.plot.losses(losses, options.out, title="Fitting a·sin(b·x^c) to 4·sin(x⁴)")
    print(f"loss curve: {options.out}")


if __name__ == "__main__":
    main()
