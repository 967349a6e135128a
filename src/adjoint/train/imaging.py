"""The recipes `vae-mnist`, which makes digits up, and `unet-shapes`, which says of each pixel what it belongs to."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np

from adjoint import data, distributed, nn, optim, plot, random
from adjoint.tensors import Tensor
from adjoint.tensors.functions import exp, sigmoid, square, sum, tensor
from adjoint.transforms.modes import deterministically, no_grad

from .classifiers import SAVE_EVERY, scaled
from .fitting import fit
from .folder import check_numbers, prepare, results, save_network
from .history import History, percent
from .image_networks import ShapeUNet, VariationalAutoencoder
from .progress import Progress

__all__ = ["ImagingRun", "train_unet_shapes", "train_vae_mnist", "vae_loss"]

MEASURED = 1000  # test images that are measured after each epoch
SIZE = 32  # of the images of shapes


@dataclasses.dataclass
class ImagingRun:
    """What a recipe made: the network, its history, what it reached on test images, and files by their contents."""

    model: nn.Module
    history: History
    reached: float
    files: dict[str, Path]


def vae_loss(outputs: tuple[Tensor, Tensor, Tensor], images: Any) -> Tensor:
    """The bound on -log p(image) in nats, a mean over images: what the pixels cost, and how far the codes are from normal.

    `outputs` are those of a `VariationalAutoencoder` for `images` (N, 28, 28).
    """
    logits, means, log_variances = outputs
    pixels = nn.functional.binary_cross_entropy_with_logits(logits, images, reduction="sum")
    codes = 0.5 * sum(square(means) + exp(log_variances) - log_variances - 1.0)
    loss: Tensor = (pixels + codes) / logits.shape[0]
    return loss


def _trained(
    name: str, model: nn.Module, loss: Any, arrays: tuple[np.ndarray, np.ndarray], out: Path, validate: Any,
    epochs: int, batch_size: int, lr: float, seed: int, resume: bool, progress: bool | Progress | None, **settings: Any,
) -> tuple[History, int]:  # fmt: skip
    """The history of training by Adam under one cycle, and the steps of an epoch."""
    optimizer = optim.Adam(model.parameters(), lr=lr)
    loader = data.DataLoader(arrays, batch_size, shuffle=True, seed=seed)
    history = fit(
        model,
        loss,
        optimizer,
        loader,
        epochs=epochs,
        schedule=optim.OneCycleLR(optimizer, lr, total_steps=epochs * len(loader), cycle_momentum=False),
        validate=validate,
        compile=True,
        log=[out / "log.jsonl", out / "tensorboard"],
        checkpoint=out / "checkpoint.safetensors",
        checkpoint_every=SAVE_EVERY,
        resume=resume,
        settings={"recipe": name, "epochs": epochs, "batch size": batch_size, "lr": lr, "seed": seed, **settings},
        progress=progress,
        distributed=distributed.world_size() > 1,
    )
    plot.losses(history.losses, results(out) / "loss.png", steps_per_epoch=len(loader), title=f"{name}: training loss")
    return history, len(loader)


def _told(history: History, reached: str, files: dict[str, Path]) -> None:
    outcome = "stopped early after" if history.interrupted else "trained in"
    print(f"{outcome} {history.seconds:.1f} s: {reached}")
    for kind, path in files.items():
        print(f"{kind:<16} {path}")


@deterministically()
def train_vae_mnist(
    *,
    epochs: int = 6,
    batch_size: int = 128,
    lr: float = 3e-3,
    seed: int = 0,
    out: str | os.PathLike[str] = "runs/vae-mnist",
    folder: str | os.PathLike[str] | None = None,
    limit: int | None = None,
    code: int = 10,
    resume: bool = False,
    progress: bool | Progress | None = None,
) -> ImagingRun:
    """Train a `VariationalAutoencoder` on MNIST's digits, and let it copy, make up and blend digits.

    Adam under one cycle. Weights, a checkpoint, a log, the loss and three pictures go to `out`: test digits above their copies,
    digits of random codes, and the codes between pairs of digits. Raises what `train_classifier` raises.
    """
    check_numbers(lr, epochs=epochs, batch_size=batch_size, limit=limit, code=code)
    out = prepare(out)
    images, test = [scaled(data.mnist(folder, train=part)[0]) for part in (True, False)]
    images = images[:limit]
    random.seed(seed)
    model = VariationalAutoencoder(code)
    print(f"training on {len(images):,} digits", flush=True)

    def measured(model: nn.Module) -> dict[str, float]:
        return {"test nats": float(vae_loss(model(tensor(test[:MEASURED])), tensor(test[:MEASURED])).item())}

    history, _ = _trained(
        "vae-mnist", model, vae_loss, (images, images), out, measured, epochs, batch_size, lr, seed, resume, progress,
        limit=limit, code=code,
    )  # fmt: skip
    out = results(out)
    files = {
        "weights": out / "weights.safetensors", "loss curve": out / "loss.png", "copies": out / "copies.png",
        "made up": out / "made-up.png", "between": out / "between.png",
    }  # fmt: skip
    save_network(files["weights"], model, "vae-mnist", code=code)
    _draw_digits(model.eval(), test, files, seed)
    reached = history.epochs[-1].metrics["test nats"]
    _told(history, f"{reached:.1f} nats for each test image", files)
    return ImagingRun(model, history, reached, files)


@no_grad()
def _draw_digits(model: VariationalAutoencoder, test: np.ndarray, files: dict[str, Path], seed: int) -> None:
    logits, means, _ = model(tensor(test[:12]))
    rows = np.concatenate([test[:12], sigmoid(logits).numpy()])
    plot.gallery(rows, files["copies"], columns=12, title="Test digits, and what came through the code")
    generator = np.random.default_rng(seed)
    drawn = tensor(generator.standard_normal((48, means.shape[1])).astype(np.float32))
    plot.gallery(sigmoid(model.decoder(drawn)).numpy(), files["made up"], columns=12, title="Digits of random codes")
    ends = means.numpy()
    shares = np.linspace(0, 1, 12, dtype=np.float32)[:, None]
    between = np.concatenate([(1 - shares) * ends[k] + shares * ends[k + 1] for k in (0, 2, 4, 6)])
    pictures = sigmoid(model.decoder(tensor(between))).numpy()
    plot.gallery(pictures, files["between"], columns=12, title="From one test digit's code to another's")


@deterministically()
def train_unet_shapes(
    *,
    epochs: int = 10,
    batch_size: int = 16,
    lr: float = 1e-2,
    seed: int = 0,
    out: str | os.PathLike[str] = "runs/unet-shapes",
    images: int = 1000,
    width: int = 8,
    resume: bool = False,
    progress: bool | Progress | None = None,
) -> ImagingRun:
    """Train a `ShapeUNet` to say of each pixel of noisy images whether it is of a disc, a square, a triangle or of nothing.

    The images are `data.shapes`, other ones for the test. Adam under one cycle. Weights, a checkpoint, a log, the loss and a
    picture of test images with what they are taken for go to `out`. Raises what `train_classifier` raises.
    """
    check_numbers(lr, epochs=epochs, batch_size=batch_size, images=images, width=width)
    out = prepare(out)
    inputs, labels = data.shapes(images, SIZE, seed=seed)
    test, truth = data.shapes(200, SIZE, seed=seed + 1)
    random.seed(seed)
    model = ShapeUNet(4, width)
    print(f"training on {images:,} images", flush=True)
    seen: dict[str, np.ndarray] = {}

    def measured(model: nn.Module) -> dict[str, float]:
        seen["classes"] = model(tensor(test)).numpy().argmax(axis=1)
        hit = seen["classes"] == truth
        overlap = [(hit & (truth == k)).sum() / ((seen["classes"] == k) | (truth == k)).sum() for k in range(4)]
        return {"test overlap": float(np.mean(overlap)), "test accuracy": float(hit.mean())}

    history, _ = _trained(
        "unet-shapes", model, nn.functional.cross_entropy, (inputs, labels), out, measured, epochs, batch_size, lr, seed,
        resume, progress, images=images, width=width,
    )  # fmt: skip
    out = results(out)
    files = {"weights": out / "weights.safetensors", "loss curve": out / "loss.png", "shapes": out / "shapes.png"}
    save_network(files["weights"], model, "unet-shapes", width=width)
    if not seen:  # a run that was finished before
        with no_grad():
            measured(model.eval())
    rows = np.concatenate([test[:12], truth[:12] / 3, seen["classes"][:12] / 3])
    plot.gallery(rows, files["shapes"], columns=12, title="Test images, what is there, and what it was taken for")
    metrics = history.epochs[-1].metrics
    _told(history, f"overlap {metrics['test overlap']:.3f}, {percent(metrics['test accuracy'])} of the pixels", files)
    return ImagingRun(model, history, metrics["test overlap"], files)
