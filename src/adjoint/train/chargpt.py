"""The recipe `chargpt`: a small transformer that learns to write like a text, character by character."""

from __future__ import annotations

import dataclasses
import math
import os
from pathlib import Path

import numpy as np

from adjoint import _files, data, distributed, nn, optim, plot, random
from adjoint.data.text import read_text
from adjoint.tensors import Tensor
from adjoint.tensors.functions import tensor
from adjoint.transforms.modes import no_grad

from .classifiers import SAVE_EVERY, probabilities
from .fitting import fit
from .folder import check_numbers, prepare, results, save_network
from .history import History
from .networks import CharTransformer
from .progress import Progress

__all__ = ["CharRun", "bits_per_character", "char_loss", "generate", "own_source", "train_chargpt"]

TEST_PIECES = 200  # pieces of the held-out text that are measured after each epoch


@dataclasses.dataclass
class CharRun:
    """What the recipe made: the network, its characters, its history, the loss on held-out text, a sample, and files."""

    model: CharTransformer
    characters: data.Characters
    history: History
    loss: float
    sample: str
    files: dict[str, Path]


def own_source() -> str:
    """The source of adjoint itself: a text that is there wherever adjoint is."""
    root = Path(__file__).parents[1]
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py")))


def train_chargpt(
    text: str | os.PathLike[str] | None = None,
    *,
    epochs: int = 4,
    batch_size: int = 32,
    lr: float = 3e-3,
    seed: int = 0,
    out: str | os.PathLike[str] = "runs/chargpt",
    context: int = 64,
    width: int = 64,
    heads: int = 4,
    layers: int = 2,
    limit: int | None = None,
    sample: int = 400,
    resume: bool = False,
    progress: bool | Progress | None = None,
) -> CharRun:
    """Train a `CharTransformer` on a text file (adjoint's own source by default), and let it write.

    An epoch goes once through the text, in pieces of `context` characters; the last tenth is held out and measured in bits
    for each character. `limit` takes the first so many characters only. AdamW, one cycle up to
    the rate `lr`, gradients clipped at norm 1. Weights, curves, a log, a checkpoint and a text of `sample` characters go
    to `out`. With `resume` it goes on from the checkpoint there.

    Raises ImportError without safetensors and matplotlib, OSError where the text can't be read or `out` not be written,
    ValueError for numbers that make no sense, a text too short, a checkpoint of other settings; FloatingPointError when
    training diverges.
    """
    check_numbers(lr, epochs=epochs, batch_size=batch_size, context=context, width=width, layers=layers, limit=limit)
    out = prepare(out)
    whole = read_text(text) if text is not None else own_source()
    chars = data.characters(text=whole[:limit])
    learnt, held_out = chars.split(0.1)
    loader = data.DataLoader(learnt.contexts(context, stride=context), batch_size, shuffle=True, seed=seed)
    inputs, targets = _test_pieces(held_out, context)
    random.seed(seed)
    options = {
        "vocabulary": len(chars.vocabulary), "context": context, "width": width, "heads": heads, "layers": layers,
    }  # fmt: skip
    model = CharTransformer(**options)
    optimizer = optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    print(f"learning from {len(learnt):,} characters, {len(chars.vocabulary)} different ones", flush=True)
    history = fit(
        model,
        char_loss,
        optimizer,
        loader,
        epochs=epochs,
        schedule=optim.OneCycleLR(optimizer, lr, total_steps=epochs * len(loader), cycle_momentum=False),
        clip_norm=1.0,
        validate=lambda model: {"test bits a character": _measure(model, inputs, targets)},
        compile=True,
        log=[out / "log.jsonl", out / "tensorboard"],
        checkpoint=out / "checkpoint.safetensors",
        checkpoint_every=SAVE_EVERY,
        resume=resume,
        settings={
            "recipe": "chargpt", "epochs": epochs, "batch size": batch_size, "lr": lr, "seed": seed, "limit": limit,
            "characters": chars.vocabulary, **options,
        },
        progress=progress,
        distributed=distributed.world_size() > 1,
    )  # fmt: skip
    out = results(out)
    files = {"weights": out / "weights.safetensors", "loss curve": out / "loss.png", "sample": out / "sample.txt"}
    save_network(files["weights"], model, "chargpt", **options, characters=chars.vocabulary)
    plot.losses(history.losses, files["loss curve"], steps_per_epoch=len(loader), title="Training loss")
    written = generate(model, chars, learnt.decode(learnt.codes[:16]), sample, seed=seed) if sample else ""
    with _files.replacing(files["sample"]) as file:
        file.write(written.encode())
    reached = history.epochs[-1].metrics["test bits a character"]
    outcome = "stopped early after" if history.interrupted else "trained in"
    print(f"{outcome} {history.seconds:.1f} s: {reached:.3f} bits a character on held-out text")
    for kind, path in files.items():
        print(f"{kind:<12} {path}")
    if written:
        print(f"\n{written}")
    return CharRun(model, chars, history, reached, written, files)


def bits_per_character(model: nn.Module, vocabulary: str, text: str | os.PathLike[str] | None = None) -> float:
    """How well a trained `CharTransformer` foretells the last tenth of a text (adjoint's own source by default), in bits.

    Raises ValueError for characters outside of its vocabulary and for a text too short.
    """
    if not isinstance(model, CharTransformer):
        raise TypeError(f"bits_per_character measures a CharTransformer, not {type(model).__name__}")
    whole = read_text(text) if text is not None else own_source()
    codes = data.Characters(vocabulary, np.zeros(0, np.int64)).encode(whole)
    _, held_out = data.Characters(vocabulary, codes).split(0.1)
    return _measure(model, *_test_pieces(held_out, model.context))


def _test_pieces(held_out: data.Characters, context: int) -> tuple[np.ndarray, np.ndarray]:
    inputs, targets = held_out.contexts(min(context, len(held_out) - 1), stride=context)
    return inputs[:TEST_PIECES], targets[:TEST_PIECES]


def _measure(model: nn.Module, inputs: np.ndarray, targets: np.ndarray) -> float:
    with no_grad():
        return float(char_loss(model(tensor(inputs)), targets).item()) / math.log(2)


def char_loss(scores: Tensor, targets: Tensor | np.ndarray) -> Tensor:
    """Cross-entropy in nats for each character: scores (N, T, vocabulary), codes (N, T) of the characters that follow."""
    flat = scores.reshape(-1, scores.shape[-1])
    return nn.functional.cross_entropy(flat, tensor(targets).reshape(-1))


def generate(
    model: CharTransformer,
    characters: data.Characters,
    start: str,
    count: int,
    *,
    temperature: float = 0.8,
    seed: int = 0,
) -> str:
    """`start`, and `count` characters more that the model makes up, each drawn from its softmax(scores / temperature).

    Raises ValueError for an empty start, for characters that aren't in the vocabulary, and for a temperature not positive.
    """
    if not start or not temperature > 0:
        raise ValueError(f"generate: give a start, and a temperature above 0; they are {start!r} and {temperature}")
    codes = characters.encode(start).tolist()
    generator = np.random.default_rng(seed)
    training = model.training
    model.eval()
    try:
        with no_grad():
            for _ in range(count):
                # Always a full window where there is one, so that the structure of the graph comes back.
                window = np.array([codes[-model.context :]])
                scores = model(tensor(window)).numpy()[:, -1] / temperature
                shares = probabilities(scores)[0].cumsum()
                codes.append(min(int(np.searchsorted(shares, generator.random())), len(shares) - 1))
    finally:
        model.train(training)
    return characters.decode(np.array(codes))
