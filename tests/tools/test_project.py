"""The project itself: its version, its layers, what an import costs, that nothing public is undocumented."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import adjoint as ad
from adjoint.tensors.protocols import METHODS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "adjoint").rglob("*.py"))
PUBLIC_MODULES = ["nn", "nn.functional", "nn.init", "optim", "data", "debug", "plot", "train", "cli", "tree", "random"]


def run_python(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout.strip()


def test_version_is_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert ad.__version__ == project["version"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_layers():
    """The contracts in pyproject.toml, as `lint-imports` checks them."""
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as main; main()"],
        cwd=ROOT, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_import_stays_light():
    """`import adjoint` loads none of the packages that only a part of it needs, nor its own heavy parts."""
    heavy = (
        "matplotlib rich safetensors llvmlite torch scipy pygraphviz adjoint.nn adjoint.optim adjoint.train adjoint.cli"
    )
    loaded = run_python(f"import sys, adjoint; print(*[name for name in {heavy.split()} if name in sys.modules])")
    assert loaded == ""


@pytest.mark.parametrize("module", ["nn", "optim", "data", "debug", "plot", "train", "cli"])
def test_optional_packages_stay_out(module):
    """Every part imports without the optional packages; they load when first needed."""
    blocked = "matplotlib rich safetensors pygraphviz torch scipy"
    run_python(f"import sys; sys.modules.update(dict.fromkeys({blocked.split()})); import adjoint.{module}")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_import_hides_in_a_function(path):
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    hidden = {
        inner.lineno for node in functions for inner in ast.walk(node) if isinstance(inner, ast.Import | ast.ImportFrom)
    }
    assert not hidden, f"imports inside functions of {path.name}, lines {sorted(hidden)}"


def test_files_and_functions_are_short():
    """So that one can be read at a sitting: the page on the design, too."""
    texts = {path.relative_to(ROOT): path.read_text() for path in SOURCES}
    assert [str(path) for path, text in texts.items() if text.count("\n") >= 600] == []
    functions = [
        (f"{path}: {node.name}", node.end_lineno - node.lineno + 1)
        for path, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert [name for name, lines in functions if lines > 80] == []
    assert len((ROOT / "docs" / "design.md").read_text().split()) <= 2000


def test_public_names_resolve():
    assert len(set(ad.__all__)) == len(ad.__all__)
    assert [name for name in ad.__all__ if not hasattr(ad, name)] == []
    assert set(ad.__all__) <= set(dir(ad))
    with pytest.raises(AttributeError, match="no_such_name"):
        ad.no_such_name


def test_type_checkers_know_the_public_names():
    """`__all__` is made at run time. They see assignments, and imports with a star or under the name's own."""
    path, known = "src/adjoint/__init__.py", {"__array_api_version__": ""}
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in ad.__all__:
            known[node.id] = ""
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            known |= dict.fromkeys(importlib.import_module(node.module).__all__, node.module)
        elif isinstance(node, ast.ImportFrom):
            known |= {alias.name: node.module for alias in node.names if alias.asname == alias.name}
    unseen = [
        f"from {ad._LAZY_NAMES.get(name, 'adjoint')} import {name} as {name}" for name in {*ad.__all__} - {*known}
    ]
    assert unseen == [], f"write these lines in {path}, below TYPE_CHECKING if the module loads later"
    unlisted = [f'"{name}": "{module}"' for name, module in known.items() if name not in ad.__all__]
    assert unlisted == [], f"say in {path} where these are found when they are first named: _ARRAYS, _LAZY_NAMES"


def test_type_checkers_know_the_methods():
    """Methods are put onto the class at run time, those of elementwise functions by their records."""
    path = "src/adjoint/tensors/tensor.py"
    kind = next(
        x for x in ast.parse((ROOT / path).read_text()).body if isinstance(x, ast.ClassDef) and x.name == "Tensor"
    )
    declared = next(x for x in kind.body if isinstance(x, ast.If))
    known = {x.id for x in ast.walk(declared) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    assert {"erf", "erfc", "clip"} <= {*METHODS}
    assert [f"{name} = _f.{name}" for name in METHODS if name not in known] == [], (
        f"write these lines in Tensor, in {path}"
    )


@pytest.mark.parametrize("name", ["", *PUBLIC_MODULES])
def test_public_names_are_documented(name):
    module = importlib.import_module(f"adjoint.{name}".rstrip("."))
    assert module.__doc__
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    objects = {name: getattr(module, name) for name in names}
    callables = {name: value for name, value in objects.items() if callable(value)}
    assert [name for name, value in callables.items() if not inspect.getdoc(value)] == []


def test_methods_are_documented():
    members = {name: value for name, value in vars(ad.Tensor).items() if not name.startswith("_")}
    members = {name: value for name, value in members.items() if not inspect.ismemberdescriptor(value)}
    assert [name for name, value in members.items() if not inspect.getdoc(value)] == []


@pytest.mark.parametrize("path", [*ROOT.glob("docs/**/*.md"), ROOT / "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_files_that_a_document_names_exist(path):
    text = path.read_text()
    whole = re.findall(r"`((?:src|tests|benchmarks|docs|examples)/[\w/.]+)`", text)
    parts = [name for name in re.findall(r"`([\w/]+/\w+\.py)`", text) if name not in whole]
    assert [name for name in whole if not (ROOT / name).exists()] == []
    assert [name for name in parts if not any(str(source).endswith(f"/{name}") for source in SOURCES)] == []
