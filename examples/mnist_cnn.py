"""A small convolutional network learns to read handwritten digits, with `ad.train.fit`.

`fit` brings what a plain loop (mnist_mlp.py) doesn't: a schedule, a checkpoint after each epoch from which a stopped run
goes on, a log. Stop it with Ctrl-C, then run it with --resume.

    python examples/mnist_cnn.py
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import adjoint as ad
from adjoint import nn


def make_network() -> nn.Sequential:
    """Images (N, 1, 28, 28) to scores (N, 10)."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 7 * 7, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def main() -> None:
    """Train, and print the confusion matrix."""
    parser = argparse.ArgumentParser(description="MNIST by a convolutional network.")
    parser.add_argument("--quick", action="store_true", help="one epoch of 2,000 images")
    parser.add_argument("--data", help="folder with the four files of MNIST")
    parser.add_argument("--out", type=Path, default=Path("runs/example-cnn"), help="where log and checkpoint go")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint")
    options = parser.parse_args()
    epochs, limit = (1, 2_000) if options.quick else (3, 60_000)
    options.out.mkdir(parents=True, exist_ok=True)

    images, labels = ad.data.mnist(options.data, train=True)
    test_images, test_labels = ad.data.mnist(options.data, train=False)
    images, labels = images[:limit, None].astype(np.float32) / 255, labels[:limit]
    test_inputs = test_images[:, None].astype(np.float32) / 255

    ad.random.seed(0)
    model = make_network()
    print(ad.nn.summary(model, (1, 1, 28, 28)))
    # Each image is moved by up to one pixel, another way in each epoch; a thread does it while the network computes.
    batches = ad.data.DataLoader(
        (images, labels), 64, shuffle=True, augment=ad.data.Augmentation(pixels=1), prefetch=True
    )
    optimizer = ad.optim.Adam(model.parameters())
    history = ad.train.fit(
        model,
        nn.functional.cross_entropy,
        optimizer,
        batches,
        epochs=epochs,
        schedule=ad.optim.OneCycleLR(optimizer, 4e-3, epochs=epochs, steps_per_epoch=len(batches)),
        validate=lambda model: {"test accuracy": ad.train.accuracy(model, test_inputs, test_labels)},
        log=options.out / "log.jsonl",
        checkpoint=options.out / "checkpoint.safetensors",
        resume=options.resume,
    )
    table = ad.train.confusion_matrix(test_labels, ad.train.predict(model, test_inputs))
    print(table)
    print(f"{np.trace(table) / table.sum():.2%} of the test digits are right, after {history.seconds:.1f} s")


if __name__ == "__main__":
    main()
