"""The command `adjoint`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence

import adjoint

from . import pictures, trained, training
from .training import INTERRUPTED

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (those of the process by default), and return its exit code.

    What the user can mend (a missing file, a bad number, a full disk) is told in one line on standard error, with exit
    code 1; wrong usage has exit code 2, Ctrl-C 130.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = _parser("train" in given).parse_args(given)
    options.arguments, options.main = given, main
    try:
        code: int = options.run(options)
    except KeyboardInterrupt:
        print("adjoint: stopped", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has gone, as `| head` does; the interpreter would complain once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OSError, ImportError, ValueError, ArithmeticError, MemoryError) as error:
        # What follows is the line of the user's code that an error comes from, which here is the command itself.
        told = re.sub(r" \([^()]+:\d+\)$", "", str(error))
        if isinstance(error, FileNotFoundError) and error.errno and error.strerror == os.strerror(error.errno):
            told = f"there is no file {error.filename}"
        print(f"adjoint: error: {told or 'out of memory'}", file=sys.stderr)
        return 1
    return code


def _parser(training_asked: bool) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="adjoint",
        description="An automatic differentiation engine that you can see through.",
        epilog="Try: adjoint train mnist-mlp --epochs 3",
    )
    parser.add_argument("--version", action="version", version=f"adjoint {adjoint.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    training.add(commands, training_asked)
    trained.add(commands)
    pictures.add(commands)
    return parser
