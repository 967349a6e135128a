"""The recipes that learn to name images: `mnist-mlp`, `mnist-cnn`, `fashion-cnn`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from adjoint import data, distributed, nn, optim, plot, random
from adjoint.tensors import Tensor
from adjoint.transforms.modes import deterministically

from .fitting import fit
from .folder import check_numbers, prepare, results, save_network
from .history import History, percent
from .image_networks import fashion_resnet
from .metrics import predict
from .networks import fashion_cnn, mnist_cnn, mnist_network
from .progress import Progress

__all__ = ["CLASSIFIERS", "Classifier", "ClassifierRun", "train_classifier"]

GALLERY = 24  # images in the picture, of which up to a third are mistakes
SAVE_EVERY = 500  # steps between two checkpoints of an epoch

Images = Callable[..., tuple[np.ndarray, np.ndarray]]


@dataclasses.dataclass(frozen=True)
class Classifier:
    """A recipe: what learns what, and how. The learning rate is the largest of its schedule."""

    name: str
    title: str
    network: Callable[[], nn.Sequential]
    images: Images
    items: str
    optimizer: Callable[[Iterable[Tensor], float], optim.Optimizer]
    schedule: Callable[[optim.Optimizer, float, int], optim.LRScheduler]
    epochs: int
    lr: float
    batch_size: int = 64
    augment: data.Augmentation | None = None
    classes: tuple[str, ...] | None = None
    does: str = ""


def _momentum(parameters: Iterable[Tensor], lr: float) -> optim.Optimizer:
    return optim.SGD(parameters, lr=lr, momentum=0.9)


def _falling(optimizer: optim.Optimizer, lr: float, steps: int) -> optim.LRScheduler:
    return optim.PolynomialLR(optimizer, total_iters=steps)


def _one_cycle(optimizer: optim.Optimizer, lr: float, steps: int) -> optim.LRScheduler:
    return optim.OneCycleLR(optimizer, lr, total_steps=steps)


CLASSIFIERS = {
    recipe.name: recipe
    for recipe in (
        Classifier(
            "mnist-mlp", "MNIST", mnist_network, data.mnist, "digits", _momentum, _falling, epochs=8, lr=0.1,
            augment=data.Augmentation(pixels=1), does="a 784-128-64-10 relu network that reads handwritten digits",
        ),
        Classifier(
            "mnist-cnn", "MNIST", mnist_cnn, data.mnist, "digits", optim.Adam, _one_cycle, epochs=3, lr=4e-3,
            augment=data.Augmentation(pixels=1), does="a small convolutional network that reads handwritten digits",
        ),
        Classifier(
            "fashion-cnn", "Fashion-MNIST", fashion_cnn, data.fashion_mnist, "articles of clothing", optim.Adam, _one_cycle,
            epochs=6, lr=4e-3, augment=data.Augmentation(mirrored=True), classes=data.FASHION_CLASSES,
            does="a small convolutional network that tells articles of clothing apart",
        ),
        Classifier(
            "resnet-fashion", "Fashion-MNIST", fashion_resnet, data.fashion_mnist, "articles of clothing", optim.Adam,
            _one_cycle, epochs=6, lr=5e-3, augment=data.Augmentation(pixels=1, mirrored=True), classes=data.FASHION_CLASSES,
            does="a residual network that tells articles of clothing apart",
        ),
    )
}  # fmt: skip


@dataclasses.dataclass
class ClassifierRun:
    """What a recipe made: the network, its history, its accuracy on the test images, and files by their contents."""

    model: nn.Sequential
    history: History
    accuracy: float
    files: dict[str, Path]


def _leave(
    recipe: Classifier,
    name: str,
    out: Path,
    model: nn.Sequential,
    history: History,
    steps_per_epoch: int,
    images: np.ndarray,
    labels: np.ndarray,
    scores: np.ndarray,
) -> dict[str, Path]:
    """Write weights and pictures into a folder; the files by what they are."""
    files = {
        "weights": out / "weights.safetensors",
        "loss curve": out / "loss.png",
        "rates": out / "rates.png",
        "predictions": out / "predictions.png",
        "confusion": out / "confusion.png",
    }
    save_network(files["weights"], model, name)
    reached = [epoch.metrics["test accuracy"] for epoch in history.epochs]
    plot.losses(
        history.losses,
        files["loss curve"],
        steps_per_epoch=steps_per_epoch,
        accuracy=reached,
        title=f"{recipe.title}: training loss and test accuracy",
    )
    plot.rates(history.rates, files["rates"], steps_per_epoch=steps_per_epoch, title=f"{recipe.title}: learning rate")
    draw_predictions(recipe, images, scores, labels, files["predictions"])
    plot.confusion_matrix(scores.argmax(axis=1), labels, files["confusion"], names=recipe.classes, title=recipe.title)
    return files


@deterministically()
def train_classifier(
    name: str = "mnist-mlp",
    *,
    epochs: int | None = None,
    batch_size: int | None = None,
    lr: float | None = None,
    seed: int = 0,
    out: str | os.PathLike[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
    limit: int | None = None,
    resume: bool = False,
    progress: bool | Progress | None = None,
) -> ClassifierRun:
    """Train one of `CLASSIFIERS`, print how it goes, and leave weights, pictures, a log and a checkpoint in `out`.

    What isn't given is as the recipe has it; `out` is `runs/` and its name. `folder` is where the images are (see
    `data.mnist`); `limit` takes the first so many training images only. Ctrl-C ends training early and keeps what was
    learnt. With `resume` it goes on from the checkpoint in `out`, to the same weights as without the break.

    Raises ImportError without safetensors and matplotlib, OSError where `out` can't be written, what `data.mnist`
    raises, ValueError for numbers that make no sense or a checkpoint of other settings, FloatingPointError when training
    diverges.
    """
    recipe = CLASSIFIERS[name]
    epochs = recipe.epochs if epochs is None else epochs
    batch_size = recipe.batch_size if batch_size is None else batch_size
    lr = recipe.lr if lr is None else lr
    check_numbers(lr, epochs=epochs, batch_size=batch_size, limit=limit)
    out = prepare(f"runs/{name}" if out is None else out)
    images, labels = recipe.images(folder, train=True)
    test_images, test_labels = recipe.images(folder, train=False)
    inputs, labels = scaled(images[:limit]), labels[:limit]
    test_inputs = scaled(test_images)

    random.seed(seed)
    model = recipe.network()
    optimizer = recipe.optimizer(model.parameters(), lr)
    loader = data.DataLoader(
        (inputs, labels),
        batch_size,
        shuffle=True,
        seed=seed,
        augment=recipe.augment,
        prefetch=recipe.augment is not None,
    )
    print(f"training on {len(inputs):,} {recipe.items}, testing on {len(test_images):,}", flush=True)
    measured: dict[str, Any] = {}

    def validate(model: nn.Module) -> dict[str, float]:
        measured["scores"] = predict(model, test_inputs)
        return {"test accuracy": float((measured["scores"].argmax(axis=1) == test_labels).mean())}

    history = fit(
        model,
        nn.functional.cross_entropy,
        optimizer,
        loader,
        epochs=epochs,
        schedule=recipe.schedule(optimizer, lr, epochs * len(loader)),
        validate=validate,
        compile=True,
        log=[out / "log.jsonl", out / "tensorboard"],
        checkpoint=out / "checkpoint.safetensors",
        checkpoint_every=SAVE_EVERY,
        resume=resume,
        settings={"recipe": name, "epochs": epochs, "batch size": batch_size, "lr": lr, "seed": seed, "limit": limit},
        progress=progress,
        distributed=distributed.world_size() > 1,
    )
    scores = measured["scores"] if measured else predict(model, test_inputs)
    files = _leave(recipe, name, results(out), model, history, len(loader), test_images, test_labels, scores)
    accuracy = history.epochs[-1].metrics["test accuracy"]
    outcome = "stopped early after" if history.interrupted else "trained in"
    print(f"{outcome} {history.seconds:.1f} s: test accuracy {percent(accuracy)}")
    for kind, path in files.items():
        print(f"{kind:<12} {path}")
    return ClassifierRun(model, history, accuracy, files)


def scaled(images: np.ndarray) -> np.ndarray:
    """Pixels from 0 to 1, in float32."""
    return images.astype(np.float32) / 255


def draw_predictions(
    recipe: Classifier, images: np.ndarray, scores: np.ndarray, labels: np.ndarray, path: Path
) -> None:
    """A picture of some images with what they were taken for, some of the mistakes among them."""
    shares = probabilities(scores)
    predicted = scores.argmax(axis=1)
    wrong = np.flatnonzero(predicted != labels)[: GALLERY // 3]
    right = np.flatnonzero(predicted == labels)[: GALLERY - len(wrong)]
    chosen = np.concatenate([right, wrong])
    mistakes = f", and {len(wrong)} mistakes" if len(wrong) else ""
    plot.predictions(
        images[chosen],
        predicted[chosen],
        labels[chosen],
        path,
        confidence=shares[chosen, predicted[chosen]],
        names=recipe.classes,
        title=f"{recipe.title}: {recipe.items} of the test set{mistakes}",
    )


def probabilities(scores: np.ndarray) -> np.ndarray:
    """The softmax of each row of scores, in float64."""
    shares = np.exp(scores.astype(np.float64) - scores.max(axis=1, keepdims=True))
    result: np.ndarray = shares / shares.sum(axis=1, keepdims=True)
    return result
