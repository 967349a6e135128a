"""Kinds of arguments, and options that several commands have."""

from __future__ import annotations

import argparse
import sys

import adjoint
from adjoint import _files

__all__ = ["Parsers", "add_threads", "count", "rate", "share", "use_threads", "whole", "wrote"]

Parsers = argparse._SubParsersAction  # argparse gives what `add_subparsers` returns no other name


def count(text: str) -> int:
    """A positive whole number."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return number


def whole(text: str) -> int:
    """A whole number that isn't negative."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 0")
    return number


def rate(text: str) -> float:
    """A positive number."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number


def share(text: str) -> float:
    """A number from 0 up to 1, which it isn't."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of at least 0 and below 1")
    return number


def add_threads(parser: argparse.ArgumentParser) -> None:
    """The option `--threads`."""
    parser.add_argument(
        "--threads", type=count, default=argparse.SUPPRESS, metavar="N",
        help="how many threads compute (default: ADJOINT_NUM_THREADS, else as many as there are cores)",
    )  # fmt: skip


def use_threads(options: argparse.Namespace) -> None:
    """Do what `--threads` asks for. Raises ValueError for more than there can be."""
    if hasattr(options, "threads"):
        adjoint.set_num_threads(options.threads)


def wrote(path: str, more: str = "") -> None:
    """Say what was written: not among it, where that is standard output."""
    print(f"wrote {path}{more}", file=sys.stderr if _files.is_stream(path) else sys.stdout)
