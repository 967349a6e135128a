"""Documents and docstrings run: what they say a line prints is what it prints.

In a document every block of language ``python`` is executed, from top to bottom in one namespace: with ``>>>`` as a
doctest, else as a script. A block in another language is text.
"""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint.graph.node import PRIMITIVES

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "benchmarks" / "README.md",
]
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
    """The names of the modules that have an example."""
    sources = ROOT / "src"
    for file in sorted(sources.rglob("*.py")):
        if ">>>" in file.read_text():
            yield ".".join(file.relative_to(sources).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", list(documented_modules()))
def test_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    tests = doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs={"ad": ad, "np": np})
    written = len(re.findall(r"^\s*>>> ", inspect.getsource(module), re.MULTILINE))
    assert sum(len(test.examples) for test in tests) == written, "some examples are out of doctest's sight"
    for test in tests:
        ad.random.seed(0)
        run_doctest(test)
