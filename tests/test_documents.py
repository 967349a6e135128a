"""Documents and docstrings run: what they say a line prints is what it prints.

Documents are executed as the documentation's build does (`docs/_extension/pages.py` says how). The pages that train for
seconds are left to `make docs`, which executes all of them, and to `make test-all`.
"""

import doctest
import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
import pages

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "benchmarks" / "README.md",
]
TRAINING = {f"engines/{name}.md" for name in ("scalars", "functions", "lazy-matrices", "neurons")}


def name_of(path):
    return str(path.relative_to(ROOT)).removeprefix("docs/")


def executed():
    for path in DOCUMENTS:
        yield pytest.param(path, id=name_of(path), marks=[pytest.mark.slow] if name_of(path) in TRAINING else [])


@pytest.mark.parametrize("path", list(executed()))
def test_document(path):
    text = path.read_text()
    page = pages.Page(path)
    with pages.fresh_engine():
        for _, source, line in pages.blocks(text):
            page.run(source, line)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_within_the_project_resolve(path):
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text)
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
    report = []
    for test in tests:
        ad.random.seed(0)
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False).run(test, out=report.append)
    assert report == [], "".join(report)
