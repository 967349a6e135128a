"""The recipe `moons`: two interleaved half circles told apart, with a picture of where the border runs."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from adjoint import data, distributed, nn, optim, plot, random
from adjoint.transforms.modes import deterministically

from .fitting import fit
from .folder import check_numbers, prepare, results, save_network
from .history import History, percent
from .metrics import accuracy, predict
from .networks import moons_network
from .progress import Progress

__all__ = ["MoonsRun", "train_moons"]


@dataclasses.dataclass
class MoonsRun:
    """What the recipe made: the network, its history, its accuracy on new points, and files by their contents."""

    model: nn.Sequential
    history: History
    accuracy: float
    files: dict[str, Path]


@deterministically()
def train_moons(
    *,
    epochs: int = 40,
    batch_size: int = 32,
    lr: float = 1e-2,
    seed: int = 0,
    out: str | os.PathLike[str] = "runs/moons",
    points: int = 500,
    noise: float = 0.15,
    resume: bool = False,
    progress: bool | Progress | None = None,
) -> MoonsRun:
    """Train a 2-32-32-2 tanh network on `points` points, test it on as many new ones, and draw the border that it finds.

    Adam under half a cosine. Weights, pictures, a log and a checkpoint go to `out`. Raises what `train_classifier` raises.
    """
    check_numbers(lr, epochs=epochs, batch_size=batch_size, points=points)
    out = prepare(out)
    x, y = data.moons(points, noise=noise, seed=seed)
    test_x, test_y = data.moons(points, noise=noise, seed=seed + 1)
    random.seed(seed)
    model = moons_network()
    optimizer = optim.Adam(model.parameters(), lr=lr)
    loader = data.DataLoader((x, y), batch_size, shuffle=True, seed=seed)
    print(f"training on {points:,} points", flush=True)
    settings: dict[str, Any] = {
        "recipe": "moons", "epochs": epochs, "batch size": batch_size, "lr": lr, "seed": seed, "points": points,
        "noise": noise,
    }  # fmt: skip
    history = fit(
        model,
        nn.functional.cross_entropy,
        optimizer,
        loader,
        epochs=epochs,
        schedule=optim.CosineAnnealingLR(optimizer, epochs * len(loader)),
        validate=lambda model: {"test accuracy": accuracy(model, test_x, test_y)},
        compile=True,
        log=[out / "log.jsonl", out / "tensorboard"],
        checkpoint=out / "checkpoint.safetensors",
        resume=resume,
        settings=settings,
        progress=progress,
        distributed=distributed.world_size() > 1,
    )
    out = results(out)
    files = {"weights": out / "weights.safetensors", "loss curve": out / "loss.png", "border": out / "border.png"}
    save_network(files["weights"], model, "moons")
    reached = [epoch.metrics["test accuracy"] for epoch in history.epochs]
    plot.losses(
        history.losses,
        files["loss curve"],
        steps_per_epoch=len(loader),
        accuracy=reached,
        title="Two moons: training loss",
    )
    plot.decision_boundary(lambda plane: predict(model, plane), x, y, files["border"], title="Two moons")
    outcome = "stopped early after" if history.interrupted else "trained in"
    print(f"{outcome} {history.seconds:.1f} s: test accuracy {percent(reached[-1])}")
    for kind, path in files.items():
        print(f"{kind:<12} {path}")
    return MoonsRun(model, history, reached[-1], files)
