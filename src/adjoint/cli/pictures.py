"""`adjoint draw` and `adjoint explore`: an expression as a picture, or as a page to step through."""

from __future__ import annotations

import argparse

import adjoint

from .arguments import Parsers
from .expression import assignments, compute

__all__ = ["add"]


def add(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Add the two commands."""
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
