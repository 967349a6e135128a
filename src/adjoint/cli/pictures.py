"""`adjoint draw`, `explore` and `playground`: an expression as a picture, as a page to step through, or typed in a page."""

from __future__ import annotations

import argparse

import adjoint

from .arguments import Parsers, wrote
from .expression import assignments, compute

__all__ = ["add"]


def add(commands: Parsers[argparse.ArgumentParser]) -> None:
    """Add the three commands."""
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
    parser = commands.add_parser(
        "playground",
        help="make a page to type formulas in",
        description="Make a page in which one types a formula, drags its numbers, and steps through both passes. It needs "
        "no Python and no network.",
        epilog='Try: adjoint playground "y = tanh(w*x + b)"',
    )
    parser.add_argument("formula", nargs="?", metavar="FORMULA", help="what the page starts with")
    parser.add_argument(
        "--out", metavar="FILE", default="playground.html", help="where to write the page; default: playground.html"
    )
    parser.set_defaults(run=_playground)


def _draw(options: argparse.Namespace) -> int:
    y = compute(options.expression, assignments(options.variables))
    drawing = adjoint.draw(y, options.out, names={"y": y})
    if options.out is None:
        print(drawing)
    else:
        wrote(options.out)
    return 0


def _explore(options: argparse.Namespace) -> int:
    y = compute(options.expression, assignments(options.variables))
    adjoint.explore(y, options.out, names={"y": y})
    wrote(options.out, "; open it in a browser")
    return 0


def _playground(options: argparse.Namespace) -> int:
    adjoint.playground(options.out, formula=options.formula)
    wrote(options.out, "; open it in a browser")
    return 0
