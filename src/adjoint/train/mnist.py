"""The recipe `mnist-mlp`: a small network that learns to read handwritten digits."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from pathlib import Path

import numpy as np

from adjoint import _optional, data, interop, nn, optim, plot, random
from adjoint.api.modes import deterministically

from .fitting import fit
from .history import History, percent
from .metrics import accuracy, predict
from .progress import Progress

__all__ = ["MnistRun", "mnist_mlp", "mnist_network"]

GALLERY = 24  # digits in the picture, of which up to a third are mistakes


@dataclasses.dataclass
class MnistRun:
    """What the recipe made: the network, its history, its accuracy on the test images, and files by their contents."""

    model: nn.Sequential
    history: History
    accuracy: float
    files: dict[str, Path]


def mnist_network() -> nn.Sequential:
    """The 784-128-64-10 relu network: images (N, 28, 28) from 0 to 1, to scores (N, 10)."""
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 128),
        nn.ReLU(),
        nn.Linear(128, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


@deterministically()
def mnist_mlp(
    *,
    epochs: int = 8,
    batch_size: int = 64,
    lr: float = 0.1,
    seed: int = 0,
    out: str | os.PathLike[str] = "runs/mnist-mlp",
    folder: str | os.PathLike[str] | None = None,
    limit: int | None = None,
    progress: bool | Progress | None = None,
) -> MnistRun:
    """Train the 784-128-64-10 network on MNIST, print how it goes, and leave its weights and two pictures in `out`.

    Gradient descent with momentum 0.9 and a learning rate that falls linearly from `lr` to nothing. `folder` is where
    the digits are (see `data.mnist`); `limit` takes the first so many training images only. Ctrl-C ends training early
    and keeps what was learnt.

    Raises ImportError without safetensors and matplotlib, OSError where `out` can't be written, what `data.mnist`
    raises, ValueError for numbers that make no sense, FloatingPointError when training diverges.
    """
    _check(epochs, batch_size, lr, limit)
    # Whatever is missing at the end should be missed before the work.
    _optional.load("safetensors.numpy", purpose="saving weights", extra="train")
    _optional.load("matplotlib.figure", purpose="drawing figures", extra="train")
    out = _writable_folder(out)
    images, labels = data.mnist(folder, train=True)
    test_images, test_labels = data.mnist(folder, train=False)
    images, labels = _scaled(images[:limit]), labels[:limit]
    test_inputs = _scaled(test_images)

    random.seed(seed)
    model = mnist_network()
    optimizer = optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    loader = data.DataLoader((images, labels), batch_size, seed=seed)
    print(f"training on {len(images):,} digits, testing on {len(test_images):,}", flush=True)
    history = fit(
        model,
        nn.functional.cross_entropy,
        optimizer,
        loader,
        epochs=epochs,
        schedule=lambda done: 1 - done,
        validate=lambda model: {"test accuracy": accuracy(model, test_inputs, test_labels)},
        progress=progress,
    )

    files = {
        "weights": out / "weights.safetensors",
        "loss curve": out / "loss.png",
        "predictions": out / "predictions.png",
    }
    interop.save(files["weights"], model)
    reached = [epoch.metrics["test accuracy"] for epoch in history.epochs]
    plot.losses(
        history.losses,
        files["loss curve"],
        steps_per_epoch=len(loader),
        accuracy=reached,
        title="MNIST: training loss and test accuracy",
    )
    _draw_predictions(model, test_images, test_inputs, test_labels, files["predictions"])
    outcome = "stopped early after" if history.interrupted else "trained in"
    print(f"{outcome} {history.seconds:.1f} s: test accuracy {percent(reached[-1])}")
    for name, path in files.items():
        print(f"{name:<12} {path}")
    return MnistRun(model, history, reached[-1], files)


def _check(epochs: int, batch_size: int, lr: float, limit: int | None) -> None:
    for name, value in (("epochs", epochs), ("batch size", batch_size), ("limit", 1 if limit is None else limit)):
        if value < 1:
            raise ValueError(f"the {name} must be at least 1, not {value}")
    if not lr > 0:
        raise ValueError(f"the learning rate must be positive, not {lr}")


def _writable_folder(out: str | os.PathLike[str]) -> Path:
    """Make the folder and try to write into it. Raises OSError that names it."""
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OSError(f"can't write into the folder {folder}: {error.strerror or error}") from error
    return folder


def _scaled(images: np.ndarray) -> np.ndarray:
    """Pixels from 0 to 1, in float32."""
    return images.astype(np.float32) / 255


def _draw_predictions(model: nn.Module, images: np.ndarray, inputs: np.ndarray, labels: np.ndarray, path: Path) -> None:
    scores = predict(model, inputs).astype(np.float64)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    predicted = scores.argmax(axis=1)
    wrong = np.flatnonzero(predicted != labels)[: GALLERY // 3]
    right = np.flatnonzero(predicted == labels)[: GALLERY - len(wrong)]
    chosen = np.concatenate([right, wrong])
    plot.predictions(
        images[chosen],
        predicted[chosen],
        labels[chosen],
        path,
        confidence=shares[chosen, predicted[chosen]],
        title=f"MNIST: digits of the test set, and {len(wrong)} mistakes"
        if len(wrong)
        else "MNIST: digits of the test set",
    )
