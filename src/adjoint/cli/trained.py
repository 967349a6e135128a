"""`adjoint predict`, `adjoint eval`, `adjoint summary`: what to do with a network."""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import adjoint

from .arguments import Parsers, add_threads, use_threads, whole, wrote

__all__ = ["add"]

DEFAULTS = ("runs/mnist-cnn/weights.safetensors", "runs/mnist-mlp/weights.safetensors")


def add(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Add the three commands."""
    parser = commands.add_parser(
        "predict",
        help="read a handwritten digit in a picture",
        description="Read one handwritten digit in a photo or scan (PNG, and what else Pillow reads). The picture may be light "
        "on dark or dark on light, of any size, unevenly lit: the digit is found, centred and scaled as MNIST has them.",
        epilog="Try: adjoint train mnist-cnn; adjoint predict photo.png",
    )
    parser.add_argument("image", metavar="IMAGE", help="the picture of one digit")
    _add_weights(parser, "of a network that `adjoint train` made")
    parser.add_argument("--out", metavar="PNG", help="write what the network saw, the 28 × 28 pixels, to this file")
    add_threads(parser)
    parser.set_defaults(run=_predict)

    parser = commands.add_parser(
        "eval",
        help="measure a trained network on its test set",
        description="Measure a network that `adjoint train` made on the test images, on held-out text, or on new points.",
    )
    _add_weights(parser, "to measure")
    parser.add_argument("--data", metavar="PATH", help="the folder of the images, or the file of the text")
    parser.add_argument("--out", metavar="PNG", help="write the confusion matrix to this file, as a picture")
    parser.add_argument("--seed", type=whole, default=1, metavar="N", help="of the new points (default: 1)")
    add_threads(parser)
    parser.set_defaults(run=_eval)

    parser = commands.add_parser(
        "summary",
        help="list a network's layers, parameters and operations",
        description="List a network's layers with their outputs' shapes, parameters and floating point operations.",
    )
    parser.add_argument(
        "network", metavar="NETWORK", help="the name of a recipe of `adjoint train`, or a file of weights that it wrote"
    )
    parser.set_defaults(run=_summary)


def _add_weights(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--weights",
        metavar="FILE",
        help=f"the weights {what} (default: the first of {', '.join(DEFAULTS)} that is there)",
    )


def _weights(options: argparse.Namespace) -> str:
    if options.weights is not None:
        return str(options.weights)
    for path in DEFAULTS:
        if Path(path).is_file():
            return path
    raise FileNotFoundError(
        f"there are no weights: {' and '.join(DEFAULTS)} don't exist. Run `adjoint train mnist-cnn` first, or give --weights"
    )


def _predict(options: argparse.Namespace) -> int:
    started = time.perf_counter()
    use_threads(options)
    digit = adjoint.data.digit_from_image(adjoint.data.read_image(options.image))
    path = _weights(options)
    model, name, _ = adjoint.train.load_network(path)
    if name not in adjoint.train.CLASSIFIERS or adjoint.train.CLASSIFIERS[name].classes is not None:
        raise ValueError(f"{path} holds the network {name}, which doesn't read digits")
    shares = adjoint.train.probabilities(adjoint.train.predict(model, digit[None].astype(np.float32) / 255))[0]
    first, second, third = np.argsort(-shares)[:3].tolist()
    print(f"{first}  ({100 * shares[first]:.1f} %)")
    print(f"then {second} ({100 * shares[second]:.1f} %), {third} ({100 * shares[third]:.1f} %)")
    if options.out is not None:
        adjoint.plot.predictions(
            digit[None], [first], path=options.out, confidence=[shares[first]], title="What it saw"
        )
        wrote(options.out)
    print(f"{name}, {time.perf_counter() - started:.1f} s")
    return 0


def _eval(options: argparse.Namespace) -> int:
    started = time.perf_counter()
    use_threads(options)
    path = _weights(options)
    model, name, settings = adjoint.train.load_network(path)
    if name in adjoint.train.TEXTS:
        _eval_text(model, settings, options)
    elif name != "moons" and name not in adjoint.train.CLASSIFIERS:
        raise ValueError(f"{path} holds the network {name}, which tells no classes apart; its training measured it")
    else:
        _eval_classes(model, name, options)
    print(f"{name}, {time.perf_counter() - started:.1f} s")
    return 0


def _eval_text(model: adjoint.nn.Module, settings: Mapping[str, Any], options: argparse.Namespace) -> None:
    if options.out is not None:
        raise ValueError("a text has no confusion matrix; leave --out away")
    bits = adjoint.train.bits_per_character(model, settings["characters"], options.data)
    print(f"{bits:.3f} bits a character, a perplexity of {2**bits:.2f}")


def _eval_classes(model: adjoint.nn.Module, name: str, options: argparse.Namespace) -> None:
    train = adjoint.train
    classes = None
    if name == "moons":
        inputs, labels = adjoint.data.moons(1000, noise=0.15, seed=options.seed)
    else:
        recipe = train.CLASSIFIERS[name]
        images, labels = recipe.images(options.data, train=False)
        inputs, classes = train.scaled(images), recipe.classes
    scores = train.predict(model, inputs)
    loss = adjoint.nn.functional.cross_entropy(adjoint.tensor(scores), labels).item()
    table = train.confusion_matrix(labels, scores)
    print(f"test accuracy {train.percent(np.trace(table) / len(labels))} of {len(labels):,}, loss {loss:.4f}\n")
    print(_table(table, classes))
    if options.out is not None:
        adjoint.plot.confusion_matrix(scores.argmax(axis=1), labels, options.out, names=classes)
        wrote(options.out)


def _table(table: np.ndarray, classes: tuple[str, ...] | None) -> str:
    """A confusion matrix as text, with the share of each class that was told right."""
    names = [str(number) for number in range(len(table))] if classes is None else list(classes)
    left = max(map(len, names))
    width = max(4, len(str(table.max())) + 1)
    lines = [" " * left + "".join(f"{number:>{width}}" for number in range(len(table))) + "   right"]
    for number, (name, row) in enumerate(zip(names, table, strict=True)):
        share = row[number] / row.sum() if row.sum() else math.nan
        cells = "".join(f"{value if value else '·':>{width}}" for value in row)
        lines.append(f"{name:<{left}}{cells}  {100 * share:5.1f} %")
    return "\n".join([*lines, "rows: what it is; columns: what it was taken for", ""])


def _summary(options: argparse.Namespace) -> int:
    train = adjoint.train
    settings: Mapping[str, Any] = {}
    if options.network in train.NETWORKS:
        name = options.network
        settings = {"vocabulary": 96} if name in train.TEXTS else {}
        model = train.build(name, **settings)
    else:
        if not Path(options.network).is_file():
            raise ValueError(f"{options.network!r} is neither a file nor a network: {', '.join(train.NETWORKS)}")
        model, name, settings = train.load_network(options.network)
    print(adjoint.nn.summary(model, train.example_input(name, settings)))
    return 0
