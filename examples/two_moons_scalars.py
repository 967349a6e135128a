"""Two moons told apart by a network whose every number is a tensor of its own.

The same engine that multiplies matrices takes a formula of thousands of scalars: each neuron below is a sum of products
of 0-d tensors, written as one would on paper. Compare with two lines of `ad.nn` in mnist_mlp.py.

    python examples/two_moons_scalars.py
"""

from __future__ import annotations

import argparse

import numpy as np

import adjoint as ad


def make_layer(inputs: int, outputs: int, generator: np.random.Generator) -> list[list[ad.Tensor]]:
    """For each output its weights, the last of which is the bias."""
    scale = 1 / np.sqrt(inputs)
    return [[ad.variable(generator.uniform(-scale, scale)) for _ in range(inputs + 1)] for _ in range(outputs)]


def neuron(weights: list[ad.Tensor], inputs: list) -> ad.Tensor:
    """The weighted sum of the inputs, plus the bias."""
    total = weights[-1]
    for weight, value in zip(weights[:-1], inputs, strict=True):
        total = total + weight * value
    return total


def score(network: list, point: np.ndarray) -> ad.Tensor:
    """Above zero for one moon, below for the other."""
    values = [float(coordinate) for coordinate in point]
    for layer in network[:-1]:
        values = [ad.relu(neuron(weights, values)) for weights in layer]
    return neuron(network[-1][0], values)


def main() -> None:
    """Train, and print how many points are on the right side."""
    parser = argparse.ArgumentParser(description="Two moons with scalar tensors.")
    parser.add_argument("--quick", action="store_true", help="fewer points and steps")
    options = parser.parse_args()
    count, steps = (20, 5) if options.quick else (60, 100)

    points, labels = ad.data.moons(count, noise=0.1, seed=0)
    signs = 2 * labels - 1
    generator = np.random.default_rng(1)
    network = [make_layer(2, 8, generator), make_layer(8, 8, generator), make_layer(8, 1, generator)]
    params = [weight for layer in network for weights in layer for weight in weights]
    print(f"{len(params)} weights, {count} points")

    for step in range(steps):
        scores = [score(network, point) for point in points]
        # The hinge loss: every point at least 1 on its own side, and a little weight decay.
        loss = sum(ad.relu(1 - int(sign) * value) for sign, value in zip(signs, scores, strict=True)) / count
        loss = loss + 1e-4 * sum(param * param for param in params)
        ad.evaluate(loss, *scores)
        right = np.mean([value.item() * sign > 0 for sign, value in zip(signs, scores, strict=True)])
        loss.backward()
        lr = 1.0 * (1 - step / steps)
        for param in params:
            param.data -= lr * param.grad
            param.grad = None
        if step % max(1, steps // 10) == 0 or step == steps - 1:
            print(f"step {step:3}  loss {loss.item():.4f}  accuracy {100 * right:.1f} %")


if __name__ == "__main__":
    main()
