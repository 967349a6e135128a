"""Documents and docstrings run: what they say a line prints is what it prints.

In a document every ```` ```python ```` block is executed, from top to bottom in one namespace: one with ``>>>`` as a doctest, another as a
script. A block in no language, or in another one, is text.
"""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.graph.node import PRIMITIVES

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.ELLIPSIS


def run_doctest(test):
    report = []
    doctest.DocTestRunner(optionflags=OPTIONS, verbose=False).run(test, out=report.append, clear_globs=False)
    if report:
        pytest.fail("".join(report), pytrace=False)


@pytest.fixture
def no_primitive_stays():
    """What a document adds to the engine goes when it ends."""
    known = set(PRIMITIVES)
    yield
    for name in PRIMITIVES.keys() - known:
        del PRIMITIVES[name]


@pytest.mark.usefixtures("no_primitive_stays")
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_document(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = path.read_text()
    namespace = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        source, line = block[1], text.count("\n", 0, block.start(1))
        if ">>>" in source:
            test = doctest.DocTestParser().get_doctest(source, namespace, path.name, str(path), line)
            test.globs = namespace
            run_doctest(test)
        else:
            exec(compile("\n" * line + source, str(path), "exec"), namespace)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_within_the_project_resolve(path):
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", path.read_text())
    assert [link for link in links if not (path.parent / link).exists()] == []


def documented_modules():
    """The modules that have an example, found without importing any."""
    for module in pkgutil.walk_packages([str(ROOT / "src" / "adjoint")], "adjoint."):
        parts = ROOT / "src" / Path(*module.name.split("."))
        file = parts / "__init__.py" if module.ispkg else parts.with_suffix(".py")
        if ">>>" in file.read_text():
            yield module.name


@pytest.mark.parametrize("name", list(documented_modules()))
def test_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tests = doctest.DocTestFinder(exclude_empty=True).find(
        importlib.import_module(name), extraglobs={"ad": ad, "np": np}
    )
    assert any(test.examples for test in tests), "its examples are out of doctest's sight"
    for test in tests:
        ad.random.seed(0)
        run_doctest(test)


def test_public_names_made_by_tables():
    """Functions and methods that doctest can't find in a module's source (made from the table of operations) run too."""
    objects = [getattr(ad, name) for name in ad.__all__] + [member for _, member in inspect.getmembers(ad.Tensor)]
    seen = set()
    for value in objects:
        text = inspect.getdoc(value) if callable(value) else None
        if text and ">>>" in text and text not in seen:
            seen.add(text)
            run_doctest(doctest.DocTestParser().get_doctest(text, {"ad": ad, "np": np}, value.__name__, None, None))
