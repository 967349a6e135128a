"""One network split over processes: the first layer by columns, the second by rows (M. Shoeybi et al., "Megatron-LM", 2019).

Each rank holds a part of the hidden units and trains it. The hidden values never meet: ranks exchange the outputs, which they add
up, and in the reverse pass the cotangents of the inputs. Alone, one rank holds all units; the losses are the same up to rounding.

    python examples/split_layer.py
    mpiexec -n 2 python examples/split_layer.py
"""

from __future__ import annotations

import argparse

import numpy as np

import adjoint as ad


def part_of(array: np.ndarray, axis: int) -> ad.Tensor:
    """This rank's part of an array, as a variable."""
    rank, size = ad.distributed.rank(), ad.distributed.world_size()
    return ad.variable(np.split(array, size, axis)[rank])


class SplitNetwork(ad.nn.Module):
    """Two affine layers with a tanh between, of which each rank has `hidden / size` units. `hidden` must be divisible."""

    def __init__(self, inputs: int, hidden: int, outputs: int, seed: int) -> None:
        generator = np.random.default_rng(seed)  # all ranks draw the whole network, so that their parts fit together
        first, second = generator.normal(size=(inputs, hidden)), generator.normal(size=(hidden, outputs))
        self.first = part_of(first.astype(np.float32) / inputs**0.5, axis=1)
        self.second = part_of(second.astype(np.float32) / hidden**0.5, axis=0)

    def forward(self, x: ad.Tensor) -> ad.Tensor:
        """The outputs, the same on all ranks."""
        hidden = ad.tanh(ad.distributed.replicate(x) @ self.first)
        return ad.distributed.all_reduce(hidden @ self.second, replicated=True)


def main() -> None:
    """Fit a product of a sine and a cosine."""
    parser = argparse.ArgumentParser(description="A network split over processes.")
    parser.add_argument("--quick", action="store_true", help="fewer steps")
    options = parser.parse_args()

    points = np.random.default_rng(0).uniform(-2, 2, (256, 2)).astype(np.float32)
    x, y = ad.tensor(points), ad.tensor(np.sin(2 * points[:, :1]) * np.cos(points[:, 1:]))
    model = SplitNetwork(inputs=2, hidden=64, outputs=1, seed=1)
    optimizer = ad.optim.Adam(model.parameters(), lr=0.03)

    @ad.jit
    def descend(x: ad.Tensor, y: ad.Tensor) -> ad.Tensor:
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    steps = 60 if options.quick else 600
    for step in range(steps + 1):
        loss = descend(x, y).item()
        if step % (steps // 5) == 0 and ad.distributed.rank() == 0:
            print(f"step {step:4}  loss {loss:.5f}", flush=True)
    if ad.distributed.rank() == 0:
        mine = sum(p.size for p in model.parameters())
        print(f"each of {ad.distributed.world_size()} ranks holds {mine} weights")


if __name__ == "__main__":
    main()
