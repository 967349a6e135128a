"""`adjoint train RECIPE`."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Callable
from typing import Any

import adjoint

from .arguments import Parsers, add_threads, count, rate, share, use_threads, whole

__all__ = ["INTERRUPTED", "add"]

INTERRUPTED = 130  # what a shell reports for a command that Ctrl-C ended

LEAVES = (
    "Leaves weights and a checkpoint (safetensors), pictures (PNG) and logs (lines of JSON, TensorBoard) in a folder. "
)
LEAVES += "Ctrl-C ends it early and keeps what was learnt; --resume goes on, to the same weights as without the break."

FILES = "the four files of {title} (default: ADJOINT_DATA, the checkout, the cache, or a download)"


def add(commands: Parsers[argparse.ArgumentParser], asked: bool) -> None:
    """Add the command, with its recipes where it is the one that was asked for: they are imported for that."""
    train = commands.add_parser("train", help="train a network", description="Train a network by a recipe.")
    if asked:
        _add_recipes(train.add_subparsers(metavar="RECIPE", required=True))


def _add_recipes(recipes: Parsers[argparse.ArgumentParser]) -> None:
    for name, recipe in adjoint.train.CLASSIFIERS.items():
        parser = _recipe(
            recipes, name, recipe.does, _classifier, epochs=recipe.epochs, batch_size=recipe.batch_size, lr=recipe.lr
        )
        parser.set_defaults(name=name)
        parser.add_argument("--data", metavar="FOLDER", help=f"where to find {FILES.format(title=recipe.title)}")
        parser.add_argument(
            "--limit", type=count, metavar="N", help="use only the first N training images, for a quick try"
        )
    _add_texts(recipes)
    parser = _recipe(recipes, "vae-mnist", "an autoencoder that copies digits, blends them and makes them up", _vae,
                     epochs=6, batch_size=128, lr=3e-3)  # fmt: skip
    parser.add_argument("--data", metavar="FOLDER", help=f"where to find {FILES.format(title='MNIST')}")
    parser.add_argument(
        "--limit", type=count, metavar="N", help="use only the first N training images, for a quick try"
    )
    parser.add_argument("--code", type=count, default=10, metavar="N", help="numbers of a code (default: 10)")
    parser = _recipe(recipes, "unet-shapes", "a U-Net that tells what each pixel of noisy images belongs to", _unet,
                     epochs=10, batch_size=16, lr=1e-2)  # fmt: skip
    parser.add_argument("--images", type=count, default=1000, metavar="N", help="images to learn from (default: 1000)")
    parser.add_argument("--width", type=count, default=8, metavar="N", help="channels of the first level (default: 8)")
    parser = _recipe(recipes, "moons", "a small network that tells two interleaved half circles apart", _moons,
                     epochs=40, batch_size=32, lr=1e-2)  # fmt: skip
    parser.add_argument("--points", type=count, default=500, metavar="N", help="points to learn from (default: 500)")
    parser.add_argument("--noise", type=rate, default=0.15, metavar="DEVIATION", help="their noise (default: 0.15)")


def _add_texts(recipes: Parsers[argparse.ArgumentParser]) -> None:
    for name, does, network, epochs, lr, width in (
        ("lstm-text", "a recurrent network that learns to write like a text", "LSTMs", 3, 5e-3, 128),
        ("gpt-text", "a small transformer that learns to write like a text", "layers of the transformer", 4, 3e-3, 64),
    ):
        parser = _recipe(recipes, name, does, _text, epochs=epochs, batch_size=32, lr=lr)
        parser.set_defaults(name=name)
        source = parser.add_mutually_exclusive_group()
        source.add_argument("--data", metavar="FILE", help="a text in UTF-8 (default: the source of adjoint itself)")
        source.add_argument(
            "--shakespeare", action="store_true",
            help="learn from a megabyte of Shakespeare's plays (ADJOINT_DATA, the cache, or a download)",
        )  # fmt: skip
        parser.add_argument("--limit", type=count, metavar="N", help="use only the first N characters, for a quick try")
        numbers = [
            ("--context", 64, "how many characters it sees at once"),
            ("--width", width, "features of each character"),
            ("--layers", 2, network),
        ]
        for option, default, does in [*numbers, ("--heads", 4, "parts of the attention")][
            : 4 if name == "gpt-text" else 3
        ]:
            parser.add_argument(option, type=count, default=default, metavar="N", help=f"{does} (default: {default})")
        parser.add_argument(
            "--dropout",
            type=share,
            default=0.0,
            metavar="SHARE",
            help="features that are left out by chance (default: 0)",
        )
        parser.add_argument(
            "--sample", type=whole, default=400, metavar="N", help="characters to write at the end (default: 400)"
        )
        parser.add_argument(
            "--temperature", type=rate, default=0.8, metavar="T",
            help="how daring it writes: below 1 likely characters are likelier (default: 0.8)",
        )  # fmt: skip


def _recipe(
    recipes: Parsers[argparse.ArgumentParser],
    name: str,
    does: str,
    run: Callable[[argparse.Namespace], Any],
    *,
    epochs: int,
    batch_size: int,
    lr: float,
) -> argparse.ArgumentParser:
    """A recipe's parser with the options that all of them have."""
    parser = recipes.add_parser(name, help=does, description=f"Train {does}. {LEAVES}")
    for option, kind, default, metavar, does_it in (
        ("--epochs", count, epochs, "N", "how often to go through the data"),
        ("--batch-size", count, batch_size, "N", "examples for each step"),
        ("--lr", rate, lr, "RATE", "the largest learning rate"),
        ("--seed", whole, 0, "N", "decides the first weights and the order"),
        ("--out", str, f"runs/{name}", "FOLDER", "where the results go"),
    ):
        parser.add_argument(option, type=kind, default=default, metavar=metavar, help=f"{does_it} (default: {default})")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on from the checkpoint in that folder, with the settings that it was made with",
    )
    add_threads(parser)
    parser.add_argument(
        "--workers", type=count, metavar="N", help="train by so many processes together (extra: mpi, or ray)"
    )
    parser.add_argument(
        "--engine", choices=("mpi", "ray"), default="mpi", help="what starts the workers (default: mpi)"
    )
    parser.add_argument("--address", help="of the Ray cluster; auto is the one that this machine is part of")
    parser.set_defaults(run=lambda options: _run(run, options))
    return parser


def _run(train: Callable[[argparse.Namespace], Any], options: argparse.Namespace) -> int:
    if options.engine == "ray" and options.workers is None:
        options.workers = os.cpu_count() or 1
    if options.workers is not None and adjoint.distributed.world_size() == 1:
        return _by_workers(options)
    use_threads(options)
    if adjoint.distributed.world_size() == 1:
        return INTERRUPTED if train(options).history.interrupted else 0
    try:
        with contextlib.ExitStack() as stack:
            if adjoint.distributed.rank():  # one speaks for all
                stack.enter_context(contextlib.redirect_stdout(stack.enter_context(open(os.devnull, "w"))))
            return INTERRUPTED if train(options).history.interrupted else 0
    except Exception as error:  # the others would wait for this one
        raise adjoint.distributed.DistributedError(f"rank {adjoint.distributed.rank()}: {error}") from error


def _by_workers(options: argparse.Namespace) -> int:
    """Start the workers with the same arguments but those that say how."""
    given, skipped = [], False
    for argument in options.arguments:
        if skipped or argument.startswith(("--workers=", "--engine=", "--address=")):
            skipped = False
        elif argument in ("--workers", "--engine", "--address"):
            skipped = True
        else:
            given.append(argument)
    return adjoint.distributed.launch(
        options.main, given, options.workers, engine=options.engine, address=options.address, again=["--resume"]
    )


def _common(options: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(options, name) for name in ("epochs", "batch_size", "lr", "seed", "out", "resume")}


def _classifier(options: argparse.Namespace) -> Any:
    return adjoint.train.train_classifier(options.name, folder=options.data, limit=options.limit, **_common(options))


def _text(options: argparse.Namespace) -> Any:
    train = adjoint.train.train_lstm_text if options.name == "lstm-text" else adjoint.train.train_gpt_text
    names = ("limit", "context", "width", "heads", "layers", "dropout", "sample", "temperature")
    own = {name: getattr(options, name) for name in names if hasattr(options, name)}
    text = adjoint.data.shakespeare() if options.shakespeare else options.data
    return train(text, **own, **_common(options))


def _vae(options: argparse.Namespace) -> Any:
    own = {"folder": options.data, "limit": options.limit, "code": options.code}
    return adjoint.train.train_vae_mnist(**own, **_common(options))


def _unet(options: argparse.Namespace) -> Any:
    return adjoint.train.train_unet_shapes(images=options.images, width=options.width, **_common(options))


def _moons(options: argparse.Namespace) -> Any:
    return adjoint.train.train_moons(points=options.points, noise=options.noise, **_common(options))
