"""A small network learns to read handwritten digits, in a plain loop.

Each line of the loop is one that you could replace. `adjoint train mnist-mlp` does this and a little more: it moves the
images about by a pixel, shows a bar, and leaves pictures and a checkpoint.

    python examples/mnist_mlp.py
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import adjoint as ad
from adjoint import nn


def main() -> None:
    """Train, and print loss and test accuracy for each epoch."""
    parser = argparse.ArgumentParser(description="MNIST by a 784-128-64-10 network.")
    parser.add_argument("--quick", action="store_true", help="one epoch of 2,000 images")
    parser.add_argument("--data", help="folder with the four files of MNIST")
    options = parser.parse_args()
    epochs, limit = (1, 2_000) if options.quick else (8, 60_000)

    images, labels = ad.data.mnist(options.data, train=True)
    test_images, test_labels = ad.data.mnist(options.data, train=False)
    images, labels = images[:limit].astype(np.float32) / 255, labels[:limit]
    test_inputs = ad.tensor(test_images.astype(np.float32) / 255)

    ad.random.seed(0)
    model = nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 128),
        nn.ReLU(),
        nn.Linear(128, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )
    optimizer = ad.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    batches = ad.data.DataLoader((images, labels), batch_size=64, shuffle=True, seed=0)
    print(model)

    for epoch in range(epochs):
        started, total = time.perf_counter(), 0.0
        optimizer.lr = 0.1 * (1 - epoch / epochs)
        for x, y in batches:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        with ad.no_grad():
            right = np.mean(model(test_inputs).numpy().argmax(axis=1) == test_labels)
        seconds = time.perf_counter() - started
        print(f"epoch {epoch + 1}  loss {total / len(batches):.4f}  test accuracy {100 * right:.2f} %  {seconds:.1f} s")


if __name__ == "__main__":
    main()
