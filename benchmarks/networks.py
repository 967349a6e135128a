"""What a training step of a network costs: forward, backward and the optimizer's step.

The same builder serves both libraries, since names and arguments are the same; weights and data are made here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.harness import Case, Work

BATCH = 64


def convolutional(nn: Any) -> Any:
    """28×28 images of one channel through two convolutions and two affine layers, to ten scores."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip


def normalized(nn: Any) -> Any:
    """The same sizes with normalization and average pooling: what a residual network's blocks are made of."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(32, 10),
    )  # fmt: skip


def transformer_block(engine: Any, width: int, heads: int, is_causal: bool = False) -> Any:
    """A layer of a transformer with normalization in front, as both libraries write it."""
    nn = engine.nn
    permute = engine.permute_dims if hasattr(engine, "permute_dims") else engine.permute

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            batch, count, _ = x.shape
            parts = self.qkv(self.before(x)).reshape((batch, count, 3, heads, width // heads))
            q, k, v = [permute(parts[:, :, i], (0, 2, 1, 3)) for i in range(3)]
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
            x = x + self.out(permute(mixed, (0, 2, 1, 3)).reshape((batch, count, width)))
            return x + self.down(nn.functional.gelu(self.up(self.between(x))))

    return Block()


def data() -> tuple[Any, Any, Callable[[Sequence[int]], Any]]:
    """Images, their classes, and what draws a weight of a shape."""
    generator = np.random.default_rng(0)
    images = generator.standard_normal((BATCH, 1, 28, 28)).astype(np.float32)
    labels = generator.integers(0, 10, BATCH)
    return images, labels, lambda shape: generator.uniform(-0.05, 0.05, tuple(shape)).astype(np.float32)


def of_adjoint(network: Callable[[Any], Any], compiled: bool) -> Callable[[Any], Case]:
    """Our side: the step under `ad.jit`, or as it stands."""

    def build(ad: Any) -> Case:
        images, labels, draw = data()
        model = network(ad.nn)
        for parameter in model.parameters():
            parameter.data = draw(parameter.shape)
        optimizer = ad.optim.SGD(model.parameters(), lr=0.01)
        x, y = ad.tensor(images), ad.tensor(labels)

        def step(x: Any, y: Any) -> Any:
            loss = ad.nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        run = ad.jit(step) if compiled else step
        return Case(lambda _: run(x, y).item(), check=lambda: [run(x, y).item() for _ in range(3)])

    return build


def of_torch(network: Callable[[Any], Any], compiled: bool = False) -> Callable[[Any], Case]:
    """PyTorch's side, eager or by its compiler."""

    def build(torch: Any) -> Case:
        images, labels, draw = data()
        model = network(torch.nn)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.tensor(draw(parameter.shape)))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        x, y = torch.tensor(images), torch.tensor(labels)
        loss_of = torch.nn.functional.cross_entropy
        forward = torch.compile(lambda: loss_of(model(x), y)) if compiled else lambda: loss_of(model(x), y)

        def step() -> float:
            loss = forward()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.item()  # type: ignore[no-any-return]

        return Case(lambda _: step(), check=lambda: [step() for _ in range(3)])

    return build


def work(name: str, bar: float, network: Callable[[Any], Any], jit: bool) -> Work:
    sides = {"adjoint": of_adjoint(network, jit), "torch": of_torch(network), "torch.compile": of_torch(network, True)}
    return Work(name, bar, sides, tolerance=5e-4)


WORKS = [
    work("CNN step, batch 64, float32", 0.45, convolutional, True),
    work("CNN step without jit", 0.70, convolutional, False),
    work("step of a CNN with batch normalization", 0.80, normalized, True),
]
