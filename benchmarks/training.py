"""What an epoch costs with everything in it: shuffling, batches, the step, the loss read after each step.

The network and sizes are those of `adjoint train mnist-mlp`, a tenth of MNIST's 60,000 images, made here. PyTorch's side is
its usual loop: `DataLoader` over a `TensorDataset`, which gathers a batch from single examples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Case, Work

IMAGES, BATCH = 6_400, 64


def data() -> tuple[np.ndarray, np.ndarray, Callable[[Any], np.ndarray]]:
    """Images, their classes, and what draws a weight of a shape."""
    generator = np.random.default_rng(0)
    images = generator.random((IMAGES, 28, 28), np.float32)
    labels = generator.integers(0, 10, IMAGES)
    return images, labels, lambda shape: generator.uniform(-0.05, 0.05, tuple(shape)).astype(np.float32)


def network(nn: Any) -> Any:
    """784-128-64-10 with relu."""
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


def prepared(ad: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Images, labels, the network, its optimizer, and a loader of shuffled batches."""
    images, labels, draw = data()
    model = network(ad.nn)
    for parameter in model.parameters():
        parameter.data = draw(parameter.shape)
    optimizer = ad.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    return images, labels, model, optimizer, ad.data.DataLoader((images, labels), BATCH, shuffle=True)


def plain_loop(ad: Any) -> Case:
    """A loop of one's own around `ad.jit`."""
    images, labels, model, optimizer, loader = prepared(ad)
    start = model.state_dict()

    def descend(x: Any, y: Any) -> Any:
        loss = ad.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    step = ad.jit(descend)

    def epoch(_: int) -> Any:
        model.load_state_dict(start)
        return sum(step(x, y).item() for x, y in loader)

    return Case(epoch, check=lambda: [ad.nn.functional.cross_entropy(model(images[:BATCH]), labels[:BATCH]).item()])


def fitted(ad: Any) -> Case:
    """`ad.train.fit`, as the commands use it."""
    images, labels, model, optimizer, loader = prepared(ad)
    start = model.state_dict()
    loss = ad.nn.functional.cross_entropy

    class Silent:  # no line of text for each sample
        def start(self, *_: Any) -> None: ...
        def advance(self, *_: Any) -> None: ...
        def line(self, *_: Any) -> None: ...
        def close(self) -> None: ...

    def epoch(_: int) -> Any:
        model.load_state_dict(start)
        return ad.train.fit(model, loss, optimizer, loader, compile=True, progress=Silent()).epochs[0].loss

    return Case(epoch, check=lambda: [loss(model(images[:BATCH]), labels[:BATCH]).item()])


def of_torch(torch: Any) -> Case:
    """PyTorch's usual loop."""
    images, labels, draw = data()
    model = network(torch.nn)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.tensor(draw(parameter.shape)))
    start = {name: value.clone() for name, value in model.state_dict().items()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.tensor(images), torch.tensor(labels)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=BATCH, shuffle=True)
    loss_of = torch.nn.functional.cross_entropy

    def epoch(_: int) -> float:
        model.load_state_dict(start)
        total = 0.0
        for inputs, targets in loader:
            loss = loss_of(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total

    return Case(epoch, check=lambda: [loss_of(model(x[:BATCH]), y[:BATCH]).item()])


WORKS = [
    Work("a tenth of an MNIST epoch, MLP", 0.40, {"adjoint": plain_loop, "torch": of_torch}, tolerance=1e-4),
    Work("the same with train.fit", 0.40, {"adjoint": fitted, "torch": of_torch}, tolerance=1e-4),
]
