"""Executes the Python blocks of a document, from top to bottom in one namespace.

A block of language ``python`` with ``>>>`` in it is a doctest: what stands under a line is compared with what it prints.
Any other ``python`` block is a script: what it prints is its output, and so is the value of a last line that is an
expression; a picture, a matplotlib figure or an explorer page there is a figure. What follows the word ``python`` is the
figure's caption. In a block of language ``console`` the lines ``$ adjoint ...`` are executed and compared with what stands
under them. Warnings are errors. A block in another language is text.

A table whose header is ``| ... | here | gives |`` has code in its second column, which the tests run in the page's namespace,
between the blocks; what it gives, where the third column says it, is compared.

The documentation's build shows the results (`executed.py`); the tests only want that all blocks run
(`tests/tools/test_documents.py`).
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import shlex
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import adjoint as ad
from adjoint import primitives
from adjoint.graph import PRIMITIVES

BLOCK = re.compile(
    r"^```(?P<language>python|console)(?: +(?P<caption>[^\n]+))?\n(?P<source>.*?)^```$", re.MULTILINE | re.DOTALL
)
COMMAND = re.compile(r"^\$ adjoint (?P<arguments>.*)\n(?P<printed>(?:(?!\$ ).*\n)*)", re.MULTILINE)


TABLE = re.compile(r"^\|[^\n]*\| here \| gives \|\n\|[-| ]+\|\n(?P<rows>(?:\|[^\n]*\|\n)+)", re.MULTILINE)
ROW = re.compile(r"^\| (?:.* )?\| `(?P<code>[^`\n]+)` \| (?:`(?P<gives>[^`\n]+)` )?\|$", re.MULTILINE)


class BlockError(Exception):
    """A block that fails, or prints something else than it says."""


@dataclass(frozen=True)
class Figure:
    """Something to look at: the content of a file with this suffix."""

    suffix: str
    content: bytes


@dataclass(frozen=True)
class Result:
    """What a block printed and showed. A doctest's output stands in the document already."""

    text: str = ""
    figures: list[Figure] = field(default_factory=list)


def without_answers(source: str) -> str:
    """A block as its reader sees it: the questions that its figure asks are left out, since their answers stand beside them.

    What stands on lines of its own is left out; questions within a line are what the block is about.
    """
    lines = source.splitlines(keepends=True)
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call):
            continue
        for keyword in call.keywords:
            first, last = keyword.lineno - 1, keyword.value.end_lineno or keyword.lineno
            if keyword.arg == "questions" and last - first > 1 and lines[first].lstrip().startswith("questions="):
                lines[first:last] = [""] * (last - first)
    return "".join(lines)


class Page:
    """The namespace in which the blocks of one document run. Line numbers in errors are those of the document."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.namespace: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}

    def run(self, source: str, line: int, language: str = "python") -> Result:
        """Run one block, whose first line comes after `line` lines. Raises BlockError."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            if language == "console":
                self._run_commands(source, line)
                return Result()
            if ">>>" in source:
                run_doctest(source, self.namespace, self.path.name, str(self.path), line)
                return Result()
            return self._run_script(source, line)

    def run_row(self, code: str, gives: str | None, line: int) -> None:
        """Run the code of a table's row, and compare what it gives. Raises BlockError."""
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("error")
                try:
                    found: Any = repr(eval(code, self.namespace))
                except SyntaxError:  # a statement
                    exec(code, self.namespace)
                    found = None
        except Exception as error:
            raise BlockError(f"{self.path}, row at line {line}: {code}\n{traceback.format_exc()}") from error
        if gives is not None and found != gives:
            raise BlockError(f"{self.path}, row at line {line}: {code}\nexpected {gives}\ngot      {found}")

    def _run_script(self, source: str, line: int) -> Result:
        printed = io.StringIO()
        try:
            tree = ast.parse("\n" * line + source, str(self.path))
            last = tree.body[-1] if tree.body else None
            if isinstance(last, ast.Expr):
                del tree.body[-1]
            with contextlib.redirect_stdout(printed):
                exec(compile(tree, str(self.path), "exec"), self.namespace)
                value = None
                if isinstance(last, ast.Expr):
                    value = eval(compile(ast.Expression(last.value), str(self.path), "eval"), self.namespace)
        except Exception as error:
            raise BlockError(f"{self.path}, block at line {line + 1}:\n{traceback.format_exc()}") from error
        figures = figures_of(value)
        if value is not None and not figures:
            print(repr(value), file=printed)
        return Result(printed.getvalue(), figures)

    def _run_commands(self, source: str, line: int) -> None:
        for match in COMMAND.finditer(source):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                status = ad.cli.main(shlex.split(match["arguments"]))
            if status or printed.getvalue().rstrip() != match["printed"].rstrip():
                raise BlockError(
                    f"{self.path}, block at line {line + 1}: adjoint {match['arguments']}\nexpected\n{match['printed']}\n"
                    f"got, with exit status {status},\n{printed.getvalue()}"
                )


def blocks(text: str) -> Iterator[tuple[re.Match[str], str, int]]:
    """The blocks of a document that run: where each stands, its source, and how many lines come before that."""
    for match in BLOCK.finditer(text):
        yield match, match["source"], text.count("\n", 0, match.start("source"))


def rows(text: str) -> Iterator[tuple[str, str | None, int]]:
    """The rows of tables that run: the code, what it gives if that is said, and the number of the line."""
    for table in TABLE.finditer(text):
        first = text.count("\n", 0, table.start("rows")) + 1
        for number, row in enumerate(table["rows"].splitlines()):
            match = ROW.match(row)
            if match is None:
                raise BlockError(f"line {first + number} is no row of code: {row}")
            yield match["code"], match["gives"], first + number


def run_all(page: Page, text: str) -> None:
    """Run the blocks and rows of a page in their order."""
    steps: list[tuple[int, Any]] = [
        (line, (page.run, source, line, match["language"])) for match, source, line in blocks(text)
    ]
    steps += [(line, (page.run_row, code, gives, line)) for code, gives, line in rows(text)]
    for _, (run, *arguments) in sorted(steps, key=lambda step: step[0]):
        run(*arguments)


def run_doctest(source: str, namespace: dict[str, Any], name: str, path: str | None, line: int) -> None:
    """Run a doctest in a namespace, which keeps what it defines. Raises BlockError with doctest's report."""
    test = doctest.DocTestParser().get_doctest(source, namespace, name, path, line)
    test.globs = namespace
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(test, out=report.append, clear_globs=False)
    if report:
        raise BlockError("".join(report))


def figures_of(value: Any) -> list[Figure]:
    """The figures that a value is, or that a list of them has; none for anything else."""
    if isinstance(value, (list, tuple)) and value:
        each = [figures_of(item) for item in value]
        return [figure for figures in each for figure in figures] if all(each) else []
    if isinstance(value, ad.Drawing):
        return [Figure("svg", value.render("svg"))]
    if isinstance(value, ad.Exploration):
        return [Figure("html", value.html.encode())]
    if hasattr(value, "savefig"):
        content = io.BytesIO()
        value.savefig(content, format="png", dpi=144, bbox_inches="tight")
        return [Figure("png", content.getvalue())]
    return []


@contextlib.contextmanager
def fresh_engine() -> Iterator[None]:
    """An empty current folder and the engine as it is at first, for a document; what it changes is undone at its end."""
    for module in pkgutil.iter_modules(primitives.__path__):  # those that load when first named belong to no page
        importlib.import_module(f"{primitives.__name__}.{module.name}")
    dtype, known, before = ad.get_default_dtype(), set(PRIMITIVES), Path.cwd()
    ad.random.seed(0)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            ad.set_default_dtype(dtype)
            for name in PRIMITIVES.keys() - known:
                del PRIMITIVES[name]
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")
