"""The recipes `lstm-text` and `gpt-text`: networks that learn to write like a text, character by character."""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from adjoint import _files, data, distributed, nn, optim, plot, random
from adjoint.data.text import read_text
from adjoint.tensors import Tensor
from adjoint.tensors.functions import tensor
from adjoint.transforms.modes import deterministically, no_grad

from .classifiers import SAVE_EVERY, probabilities
from .fitting import fit
from .folder import check_numbers, prepare, results, save_network
from .history import History
from .networks import CharLSTM, CharTransformer
from .progress import Progress

__all__ = [
    "TextRun", "bits_per_character", "char_loss", "generate", "own_source", "train_gpt_text", "train_lstm_text",
]  # fmt: skip

TEST_PIECES = 200  # pieces of the held-out text that are measured after each epoch
LOOKED_AT = 32  # characters of the held-out text in the picture of the attention
START = 16  # characters of the text that the sample goes on from


@dataclasses.dataclass
class TextRun:
    """What a recipe made: the network, its characters, its history, bits a character on held-out text, a sample, and files."""

    model: CharLSTM | CharTransformer
    characters: data.Characters
    history: History
    bits: float
    sample: str
    files: dict[str, Path]


@dataclasses.dataclass(frozen=True)
class _Wish:
    """What is asked of a run, whatever the network."""

    recipe: str
    text: str | os.PathLike[str] | None
    epochs: int
    batch_size: int
    lr: float
    seed: int
    context: int
    limit: int | None
    sample: int
    temperature: float
    resume: bool
    progress: bool | Progress | None


def own_source() -> str:
    """The source of adjoint itself: a text that is there wherever adjoint is."""
    root = Path(__file__).parents[1]
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py")))


@deterministically()
def train_lstm_text(
    text: str | os.PathLike[str] | None = None,
    *,
    epochs: int = 3,
    batch_size: int = 32,
    lr: float = 5e-3,
    seed: int = 0,
    out: str | os.PathLike[str] = "runs/lstm-text",
    context: int = 64,
    width: int = 128,
    layers: int = 2,
    dropout: float = 0.0,
    limit: int | None = None,
    sample: int = 400,
    temperature: float = 0.8,
    resume: bool = False,
    progress: bool | Progress | None = None,
) -> TextRun:
    """Train a `CharLSTM` on a text file (adjoint's own source by default), and let it write.

    An epoch goes once through the text, in pieces of `context` characters, each read from a state of zeros; the last tenth is
    held out and measured in bits for each character. `limit` takes the first so many characters only. AdamW, one cycle up to
    the rate `lr`, gradients clipped at norm 1. To `out` go weights, a log, a checkpoint, the loss, a sample of `sample`
    characters, which are drawn at `temperature` (below 1 the likely ones are likelier), the sample with the probability of each
    character as a picture, and the characters' vectors. With `resume` it goes on from the checkpoint there.

    Raises ImportError without safetensors and matplotlib, OSError where the text can't be read or `out` not be written,
    ValueError for numbers that make no sense, a text too short, a checkpoint of other settings; FloatingPointError when
    training diverges.
    """
    wish = _Wish("lstm-text", text, epochs, batch_size, lr, seed, context, limit, sample, temperature, resume, progress)
    return _run(wish, CharLSTM, out, width=width, layers=layers, dropout=dropout)


@deterministically()
def train_gpt_text(
    text: str | os.PathLike[str] | None = None,
    *,
    epochs: int = 4,
    batch_size: int = 32,
    lr: float = 3e-3,
    seed: int = 0,
    out: str | os.PathLike[str] = "runs/gpt-text",
    context: int = 64,
    width: int = 64,
    heads: int = 4,
    layers: int = 2,
    dropout: float = 0.0,
    limit: int | None = None,
    sample: int = 400,
    temperature: float = 0.8,
    resume: bool = False,
    progress: bool | Progress | None = None,
) -> TextRun:
    """Train a `CharTransformer` on a text file (adjoint's own source by default), and let it write.

    As `train_lstm_text`, with one picture more: what each head looks at in a line of the held-out text. Raises what that
    raises.
    """
    wish = _Wish("gpt-text", text, epochs, batch_size, lr, seed, context, limit, sample, temperature, resume, progress)
    return _run(wish, CharTransformer, out, context=context, width=width, heads=heads, layers=layers, dropout=dropout)


def _run(wish: _Wish, network: Callable[..., Any], out: str | os.PathLike[str], **options: Any) -> TextRun:
    """Train, write, draw."""
    _check(wish, options)
    out = prepare(out)
    whole = (read_text(wish.text) if wish.text is not None else own_source())[: wish.limit]
    chars = data.characters(text=whole)
    learnt, held_out = chars.split(0.1)
    loader = data.DataLoader(
        learnt.contexts(wish.context, stride=wish.context), wish.batch_size, shuffle=True, seed=wish.seed
    )
    inputs, targets = _test_pieces(held_out, wish.context)
    random.seed(wish.seed)
    options = {"vocabulary": len(chars.vocabulary), **options}
    model = network(**options)
    optimizer = optim.AdamW(model.parameters(), lr=wish.lr, weight_decay=0.01)
    print(f"learning from {len(learnt):,} characters, {len(chars.vocabulary)} different ones", flush=True)
    history = fit(
        model,
        char_loss,
        optimizer,
        loader,
        epochs=wish.epochs,
        schedule=optim.OneCycleLR(optimizer, wish.lr, total_steps=wish.epochs * len(loader), cycle_momentum=False),
        clip_norm=1.0,
        validate=lambda model: {"test bits a character": _measure(model, inputs, targets)},
        compile=True,
        log=[out / "log.jsonl", out / "tensorboard"],
        checkpoint=out / "checkpoint.safetensors",
        checkpoint_every=SAVE_EVERY,
        resume=wish.resume,
        settings={
            "recipe": wish.recipe, "epochs": wish.epochs, "batch size": wish.batch_size, "lr": wish.lr, "seed": wish.seed,
            "limit": wish.limit, "context": wish.context, "characters": chars.vocabulary,
            "text": hashlib.sha256(whole.encode()).hexdigest(), **options,
        },
        progress=wish.progress,
        distributed=distributed.world_size() > 1,
    )  # fmt: skip
    return _left(wish, model, history, chars, learnt, held_out, len(loader), results(out), options)


def _check(wish: _Wish, options: dict[str, Any]) -> None:
    """Raise ValueError for numbers that make no sense."""
    counts = {name: options[name] for name in ("width", "heads", "layers") if name in options}
    check_numbers(
        wish.lr, epochs=wish.epochs, batch_size=wish.batch_size, context=wish.context, limit=wish.limit, **counts
    )
    if options["width"] % options.get("heads", 1):
        raise ValueError(f"the width {options['width']} must be a multiple of the heads, which are {options['heads']}")
    if wish.sample < 0 or not wish.temperature > 0:
        raise ValueError(
            f"the sample must have at least 0 characters, at a temperature above 0; not {wish.sample} at {wish.temperature}"
        )


def _left(
    wish: _Wish, model: Any, history: History, chars: data.Characters, learnt: data.Characters, held_out: data.Characters,
    steps_per_epoch: int, out: Path, options: dict[str, Any],
) -> TextRun:  # fmt: skip
    """Write weights, a sample and pictures, and tell of them."""
    files = {"weights": out / "weights.safetensors", "loss curve": out / "loss.png"}
    save_network(files["weights"], model, wish.recipe, **options, characters=chars.vocabulary)
    reached = [epoch.metrics["test bits a character"] for epoch in history.epochs]
    plot.losses(
        history.losses,
        files["loss curve"],
        steps_per_epoch=steps_per_epoch,
        held_out=[bits * math.log(2) for bits in reached],
        title="Training loss, nats for each character",
    )
    written = ""
    if wish.sample:
        files |= {"sample": out / "sample.txt", "probabilities": out / "sample.png"}
        start = learnt.decode(learnt.codes[:START])
        written, shares = _written(model, chars, start, wish.sample, wish.temperature, wish.seed)
        with _files.replacing(files["sample"]) as file:
            file.write(written.encode())
        plot.text(written, shares, files["probabilities"], title=f"What it wrote, from {START} characters of the text")
    model.eval()
    if len(chars.vocabulary) > 1:
        files["characters"] = out / "characters.png"
        names = list(chars.vocabulary)
        plot.embedding(model.head.weight.numpy(), names, files["characters"], groups=[_kind(c) for c in names],
                       title="The characters, by what foretells them")  # fmt: skip
    if isinstance(model, CharTransformer):
        files["attention"] = out / "attention.png"
        codes = held_out.codes[: min(LOOKED_AT, model.context)]
        with no_grad():
            weights = model.looked_at(tensor(codes)).numpy()
        plot.attention(weights, list(chars.decode(codes)), files["attention"], title="What each character looks at")
    outcome = "stopped early after" if history.interrupted else "trained in"
    print(f"{outcome} {history.seconds:.1f} s: {reached[-1]:.3f} bits a character on held-out text")
    for kind, path in files.items():
        print(f"{kind:<13} {path}")
    if written:
        print(f"\n{written}")
    return TextRun(model, chars, history, reached[-1], written, files)


def _kind(character: str) -> str:
    """What a character is, for the colours of the picture."""
    if character.isalpha():
        if character.isupper():
            return "capitals"
        # A letter with an accent is taken for what stands below it.
        return "vowels" if unicodedata.normalize("NFD", character)[0] in "aeiou" else "other letters"
    return "digits" if character.isdecimal() else "blanks" if character.isspace() else "signs"


def bits_per_character(model: nn.Module, vocabulary: str, text: str | os.PathLike[str] | None = None) -> float:
    """How well a trained network foretells the last tenth of a text (adjoint's own source by default), in bits.

    The network is a `CharTransformer`, measured in pieces of its context, or a `CharLSTM`, in pieces of 64 characters. Raises
    TypeError for another, ValueError for characters outside of its vocabulary and for a text too short.
    """
    found = _of_text(model, "bits_per_character measures")
    whole = read_text(text) if text is not None else own_source()
    codes = data.Characters(vocabulary, np.zeros(0, np.int64)).encode(whole)
    _, held_out = data.Characters(vocabulary, codes).split(0.1)
    return _measure(found, *_test_pieces(held_out, getattr(found, "context", 64)))


def _test_pieces(held_out: data.Characters, context: int) -> tuple[np.ndarray, np.ndarray]:
    if len(held_out) < 2:
        raise ValueError(f"the last tenth of the text is {len(held_out)} characters; to measure something takes 2")
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
    model: nn.Module,
    characters: data.Characters,
    start: str,
    count: int,
    *,
    temperature: float = 0.8,
    seed: int = 0,
) -> str:
    """`start`, and `count` characters more that the model makes up, each drawn from its softmax(scores / temperature).

    The model is a `CharTransformer`, which sees the last `context` characters, or a `CharLSTM`. Raises TypeError for another,
    ValueError for an empty start, for characters that aren't in the vocabulary, and for a temperature not positive.
    """
    return _written(_of_text(model, "generate writes by"), characters, start, count, temperature, seed)[0]


def _of_text(model: nn.Module, what: str) -> CharLSTM | CharTransformer:
    if not isinstance(model, CharLSTM | CharTransformer):
        raise TypeError(f"{what} a CharTransformer or a CharLSTM, not {type(model).__name__}")
    return model


def _written(
    model: CharLSTM | CharTransformer, characters: data.Characters, start: str, count: int, temperature: float, seed: int
) -> tuple[str, np.ndarray]:  # fmt: skip
    """What `generate` gives, and the probability with which each character was drawn: NaN for those of the start."""
    if not start or not temperature > 0:
        raise ValueError(f"generate: give a start, and a temperature above 0; they are {start!r} and {temperature}")
    codes = characters.encode(start).tolist()
    chosen = [math.nan] * len(codes)
    generator = np.random.default_rng(seed)
    training = model.training
    model.eval()
    try:
        read = model.reader()
        for _ in range(count):
            shares = probabilities(read(codes)[None] / temperature)[0]
            bounds = shares.cumsum()
            codes.append(min(int(np.searchsorted(bounds, generator.random())), len(shares) - 1))
            chosen.append(float(shares[codes[-1]]))
    finally:
        model.train(training)
    return characters.decode(np.array(codes)), np.array(chosen)
