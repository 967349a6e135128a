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
import links
import pages

ROOT = Path(__file__).resolve().parents[2]
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
        pages.run_all(page, text)


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("python", ">>> 1 + 1\n3\n"),
        ("python", "raise ValueError('no')\n"),
        ("python", "import warnings\nwarnings.warn('old', DeprecationWarning)\n"),
        ("console", "$ adjoint draw x*x x=3\n10\n"),
    ],
)
def test_a_block_that_is_wrong_is_caught(language, source):
    with pages.fresh_engine(), pytest.raises(pages.BlockError, match=r"page\.md"):
        pages.Page(Path("page.md")).run(source, 4, language)


TABLE = """
```python
x = 3
```

| there | here | gives |
|---|---|---|
| twice | `x * 2` | `6` |
| a statement | `x = 4` | |
| again | `x * 2` | `8` |
"""


def test_rows_of_a_table_run():
    pages.run_all(pages.Page(Path("page.md")), TABLE)
    assert [line for _, _, line in pages.rows(TABLE)] == [8, 9, 10]


@pytest.mark.parametrize("change", [("`8`", "`9`"), ("`x * 2` | `6`", "`y * 2` | `6`"), ("`x = 4`", "x = 4")])
def test_a_row_that_is_wrong_is_caught(change):
    with pytest.raises(pages.BlockError, match="row"):
        pages.run_all(pages.Page(Path("page.md")), TABLE.replace(*change))


def test_what_a_block_shows():
    page = pages.Page(Path("page.md"))
    assert page.run("x = 3\nprint(x)\nx * x\n", 0).text == "3\n9\n"
    assert page.run("None\n", 0) == pages.Result()
    (drawn,) = page.run("import adjoint as ad\nad.draw(ad.variable(1.0) * 2)\n", 0).figures
    assert drawn.suffix == "svg" and b"<svg" in drawn.content
    (plotted,) = page.run("ad.plot.losses([2.0, 1.0])\n", 0).figures
    assert plotted.suffix == "png" and plotted.content.startswith(b"\x89PNG")


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a id="here" href="b.html#there"></a><a href="#here"></a><a href="c.html"></a>')
    (tmp_path / "b.html").write_text('<script src="https://example.org/x.js"></script><a href="https://example.org">')
    found = sorted(line.partition(": ")[2] for line in links.broken(tmp_path))
    assert found == [
        "b.html#there has no such anchor",
        "c.html isn't there",
        "loads https://example.org/x.js from another site",
    ]


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


OTHERS = {"train.py", "sample.py"}  # of nanoGPT


def test_files_that_the_documents_name_exist():
    files = {
        str(f.relative_to(ROOT)) for part in ("src", "tests", "benchmarks", "docs") for f in (ROOT / part).rglob("*.*")
    }
    missing = []
    for page in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "benchmarks" / "README.md"]:
        for name in re.findall(r"`((?:\w+/)*\w+\.(?:py|js|c|ll))`", page.read_text("utf-8")):
            if not any(f == name or f.endswith("/" + name) for f in files) and name not in OTHERS:
                missing.append(f"{page.name}: {name}")
    assert not missing


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_tables_have_headers(path):
    """Rows behind an empty line are no rows: they are shown as text, and what is code in them isn't run."""
    tables = re.findall(r"(?:^\|[^\n]*\n)+", path.read_text(), re.MULTILINE)
    assert [table for table in tables if not re.match(r"[^\n]*\n\|[-:| ]+\|\n", table)] == []


def test_the_row_of_the_new_operation_keeps_dtypes():
    """The page's row stands in no block that runs."""
    row = re.search(
        r'one\("log_cosh", (lambda x: .*?), special', (ROOT / "docs" / "how" / "add-an-operation.md").read_text()
    )
    reference = eval(row[1])
    for dtype in ("float32", "float64"):
        x = np.array([-2.0, 0.0, 3.0], dtype)
        assert reference(x).dtype == dtype
        np.testing.assert_allclose(reference(x), np.log(np.cosh(x)), atol=1e-6)


def test_a_chapter_doesnt_tell_the_answers_before_its_figure_asks():
    source = 'ad.explore(\n    y,\n    questions=[\n        ("How much?", "40.", 40),\n    ],\n    fold=False,\n)\n'
    assert pages.without_answers(source) == "ad.explore(\n    y,\n    fold=False,\n)\n"
    inline = 'ad.explore(y, questions=[("How much?", "40.", 40)])\n'
    assert pages.without_answers(inline) == inline
