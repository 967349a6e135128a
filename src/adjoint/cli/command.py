"""The command `adjoint`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import adjoint

from .expression import assignments, compute

__all__ = ["main"]

INTERRUPTED = 130  # what a shell reports for a command that Ctrl-C ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (those of the process by default), and return its exit code.

    What the user can mend (a missing file, a bad number, a full disk) is told in one line on standard error, with exit
    code 1; wrong usage has exit code 2, Ctrl-C 130.
    """
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except KeyboardInterrupt:
        print("adjoint: stopped", file=sys.stderr)
        return INTERRUPTED
    except (OSError, ImportError, ValueError, ArithmeticError) as error:
        print(f"adjoint: error: {error}", file=sys.stderr)
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="adjoint",
        description="An automatic differentiation engine that you can see through.",
        epilog="Try: adjoint train mnist-mlp --epochs 3",
    )
    parser.add_argument("--version", action="version", version=f"adjoint {adjoint.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    train = commands.add_parser("train", help="train a network", description="Train a network by a recipe.")
    recipes = train.add_subparsers(metavar="RECIPE", required=True)
    _add_mnist_mlp(recipes)
    _add_pictures(commands)
    return parser


def _add_pictures(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    for name, run, does, out in (
        ("draw", _draw, "draw an expression with its derivatives", "svg, png, pdf, dot or txt, by its suffix; default: a tree"),
        ("explore", _explore, "make a page to step through an expression and its derivatives", "the page, an HTML file"),
    ):  # fmt: skip
        parser = commands.add_parser(
            name,
            help=does,
            description=f"{does[0].upper()}{does[1:]}. The expression is arithmetic as in Python, with functions such as sin, "
            "exp and relu; it is read, never executed.",
            epilog=f'Try: adjoint {name} "3*x**3 + 4*x + 1 + x*z" x=2 z=0'
            + (" --out y.html" if name == "explore" else ""),
        )
        parser.add_argument("expression", metavar="EXPRESSION", help='such as "3*x**3 + 4*x + 1 + x*z"')
        parser.add_argument("variables", nargs="*", metavar="NAME=VALUE", help="such as x=2 or w=[1,2]")
        parser.add_argument("--out", metavar="FILE", required=name == "explore", help=f"where to write it: {out}")
        parser.set_defaults(run=run)


def _draw(options: argparse.Namespace) -> int:
    y = compute(options.expression, assignments(options.variables))
    drawing = adjoint.draw(y, options.out, names={"y": y})
    if options.out is None:
        print(drawing)
    else:
        print(f"wrote {options.out}")
    return 0


def _explore(options: argparse.Namespace) -> int:
    y = compute(options.expression, assignments(options.variables))
    adjoint.explore(y, options.out, names={"y": y})
    print(f"wrote {options.out}; open it in a browser")
    return 0


def _add_mnist_mlp(recipes: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = recipes.add_parser(
        "mnist-mlp",
        help="a 784-128-64-10 relu network that reads handwritten digits",
        description="Train a 784-128-64-10 relu network on the handwritten digits of MNIST. Leaves the weights "
        "(safetensors) and pictures (PNG) of the loss curve and of some predictions in a folder.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--epochs", type=_count, default=8, metavar="N", help="how often to go through the training images"
    )
    parser.add_argument("--batch-size", type=_count, default=64, metavar="N", help="images for each step")
    parser.add_argument(
        "--lr", type=_rate, default=0.1, metavar="RATE", help="learning rate at the start; it falls to 0"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="decides the first weights and the order")
    parser.add_argument("--out", default="runs/mnist-mlp", metavar="FOLDER", help="where the results go")
    parser.add_argument(
        "--data", default=argparse.SUPPRESS, metavar="FOLDER",
        help="where the four files of MNIST are (default: ADJOINT_DATA, the checkout, the cache, or a download)",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=_count, default=argparse.SUPPRESS, metavar="N",
        help="use only the first N training images, for a quick try",
    )  # fmt: skip
    parser.set_defaults(run=_train_mnist_mlp)


def _train_mnist_mlp(options: argparse.Namespace) -> int:
    run = adjoint.train.mnist_mlp(
        epochs=options.epochs,
        batch_size=options.batch_size,
        lr=options.lr,
        seed=options.seed,
        out=options.out,
        folder=getattr(options, "data", None),
        limit=getattr(options, "limit", None),
    )
    return INTERRUPTED if run.history.interrupted else 0


def _count(text: str) -> int:
    """A positive whole number."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return number


def _rate(text: str) -> float:
    """A positive number."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number
