"""The reference: an entry for every public name, from its signature, its docstring and an executed example.

In a page of ``docs/reference`` a fenced block of language ``{names}`` says which entries stand there:

- ``{names} adjoint.nn``: all public names of that module (lines in it say what its values are);
- ``{names} adjoint.tensors.reductions``: those of `ad` that were defined there, under that section's headline;
- ``{names}`` with lines ``name`` or ``name: what it is`` in it: these. The text is for values, which have no docstring.

A docstring is read as Markdown in which only code marks and lists mean something. Its ``>>>`` lines are the example; where
it has none, `examples.txt` has one for the name.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import adjoint as ad
import pages

FENCE = re.compile(r"^```\{names\} *(?P<source>[^\n]*)\n(?P<lines>.*?)^```$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^# (.+?) -{10,}$", re.MULTILINE)
Show = Callable[[list[pages.Figure]], str]

GONE = object()
FACTS = Path(__file__).with_name("facts.txt")  # written by tests/helpers/operation_facts.py
EXAMPLES = Path(__file__).with_name("examples.txt")


@dataclass(frozen=True)
class Entry:
    """One public name: `ad.…`, what it names, and for a value what it is."""

    name: str
    value: Any
    said: str = ""


# Which names there are ------------------------------------------------------------------------------------------------


def public_modules() -> dict[str, types.ModuleType]:
    """The modules that a user names, by their names below `ad`."""
    found: dict[str, types.ModuleType] = {}
    waiting = [("ad", ad)]
    while waiting:
        name, module = waiting.pop()
        for inner in public_names(module):
            value = getattr(module, inner)
            if isinstance(value, types.ModuleType) and value.__name__.startswith("adjoint."):
                found[f"{name}.{inner}"] = value
                waiting.append((f"{name}.{inner}", value))
    return found


def public_names(module: types.ModuleType) -> list[str]:
    """What a module exports: its `__all__`, or what has no underscore and was made in adjoint."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return list(listed)
    own = [name for name, value in vars(module).items() if _module(value).startswith("adjoint")]
    return [name for name in own if not name.startswith("_")]


def _module(value: Any) -> str:
    return getattr(value, "__module__", None) or ""


def all_public() -> set[str]:
    """The full names of everything public but modules, each under every module that exports it."""
    modules = {"ad": ad, **public_modules()}
    return {
        f"{name}.{inner}"
        for name, module in modules.items()
        for inner in public_names(module)
        if not isinstance(getattr(module, inner), types.ModuleType)
    }


def entries(source: str, lines: str) -> list[Entry]:
    """The entries that a ``{names}`` block asks for."""
    if not source:
        return [named(line) for line in lines.splitlines() if line.strip()]
    module_name, _, section = source.partition(": ")
    module = importlib.import_module(module_name)
    public = {f"adjoint{name[2:]}": name for name in public_modules()}
    if module_name in public:
        name = public[module_name]
        said = {entry.name: entry.said for entry in entries("", lines)}
        listed = [
            Entry(f"{name}.{inner}", getattr(module, inner), said.get(f"{name}.{inner}", ""))
            for inner in public_names(module)
        ]
        return [entry for entry in listed if not isinstance(entry.value, types.ModuleType)]
    return [Entry(f"ad.{name}", getattr(ad, name)) for name in _defined(module, section)]


def named(line: str) -> Entry:
    """The entry of a full name, which `: ` and what it is may follow. Raises BlockError for a name that isn't there."""
    name, _, said = line.partition(": ")
    value = value_of(name.strip())
    if value is GONE:
        raise pages.BlockError(f"the reference has an entry for {name.strip()}, which isn't there")
    return Entry(name.strip(), value, said)


def value_of(name: str) -> Any:
    """What a full name such as `ad.nn.Linear` stands for; GONE if nothing."""
    value: Any = ad
    for part in name.split(".")[1:]:
        value = getattr(value, part, GONE)
    return value


def _defined(module: types.ModuleType, section: str) -> list[str]:
    """The names of `ad` that a module of the source defines, in its order: all, or those below one headline."""
    source = inspect.getsource(module)
    headlines = [(source.count("\n", 0, match.start()), match[1]) for match in SECTION.finditer(source)]
    if section and section not in [title for _, title in headlines]:
        raise pages.BlockError(f"{module.__name__} has no section {section!r}")

    def under(line: int) -> str:
        return next((title for start, title in reversed(headlines) if start < line), "")

    values = {name: getattr(ad, name) for name in ad.__all__}
    own = [
        (inspect.getsourcelines(value)[1], name)
        for name, value in values.items()
        if isinstance(value, (types.FunctionType, type)) and value.__module__ == module.__name__
    ]
    return [name for line, name in sorted(own) if not section or under(line) == section]


def documented(folder: Path) -> Iterator[Entry]:
    """Every entry of the pages in a folder."""
    for path in sorted(folder.glob("*.md")):
        for match in FENCE.finditer(path.read_text()):
            yield from entries(match["source"].strip(), match["lines"])


# What stands in an entry ----------------------------------------------------------------------------------------------


def expand(text: str, show: Show) -> str:
    """A page with its ``{names}`` blocks as entries; `show` writes figures. Runs the examples; raises BlockError."""

    def written(match: re.Match[str]) -> str:
        return "\n".join(render(entry, show) for entry in entries(match["source"].strip(), match["lines"]))

    return FENCE.sub(written, text)


def render(entry: Entry, show: Show) -> str:
    """An entry as a directive of Sphinx's Python domain."""
    value = entry.value
    if inspect.isclass(value):
        kind = "py:exception" if issubclass(value, Exception) else "py:class"
        body = _text(entry, show) + "".join(_members(entry.name, value))
        return _directive("::::::", kind, _class_signature(entry.name, value), body)
    if callable(value):
        body = _text(entry, show) + _facts(entry.name)
        return _directive("::::::", "py:function", _signature(entry.name, value), body)
    return _directive("::::::", "py:data", entry.name, entry.said)


def _directive(fence: str, kind: str, signature: str, body: str) -> str:
    return f"\n{fence}{{{kind}}} {signature}\n{body}\n{fence}\n"


def _members(owner: str, cls: type) -> Iterator[str]:
    """The public methods and properties that a class itself defines; functions of `ad` that are methods too, as a list."""
    shared = []
    for name, value in sorted(vars(cls).items()):
        if name.startswith("_") or not inspect.getdoc(value) or inspect.ismemberdescriptor(value):
            continue
        if cls is ad.Tensor and getattr(ad, name, None) is value:
            shared.append(f"`ad.{name}`")
        elif isinstance(value, property):
            yield _directive(":::::", "py:property", name, prose(inspect.getdoc(value) or ""))
        elif callable(value) or isinstance(value, (classmethod, staticmethod)):
            function = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            doc = inspect.getdoc(function) or ""
            if function.__qualname__.split(".")[0] != cls.__name__:
                continue  # another function under a name of this class
            if name != "forward" and any(name in vars(base) for base in cls.__mro__[1:]):
                continue  # its base tells
            signature = _signature(name, function, method=not isinstance(value, staticmethod))
            yield _directive(":::::", "py:method", signature, with_examples(doc, f"{owner}.{name}"))
    if shared:
        yield "\nThese functions are methods too, with the tensor as first argument: " + ", ".join(shared) + ".\n"


def _signature(name: str, value: Any, *, method: bool = False) -> str:
    """A name with its parameters and their defaults, without annotations."""
    try:
        signature = inspect.signature(value)
    except ValueError:
        return name
    # what catches names from elsewhere takes none of its own
    given = [p for p in signature.parameters.values() if p.name not in ("others", "more")]
    parameters = [p.replace(annotation=p.empty, default=_default(p.default)) for p in given]
    return name + str(signature.replace(parameters=parameters[1 if method else 0 :], return_annotation=signature.empty))


def _class_signature(name: str, cls: type) -> str:
    """A class with what it takes; tensors and exceptions aren't made by calling their class."""
    if cls is ad.Tensor or issubclass(cls, Exception):
        return name
    return name + "()" if cls.__init__ is object.__init__ and not issubclass(cls, tuple) else _signature(name, cls)


class _Shown:
    """A default as it is shown: by the name of a function, else as Python writes it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _default(value: Any) -> Any:
    return _Shown(value.__name__) if callable(value) and value is not inspect.Parameter.empty else value


def _text(entry: Entry, show: Show) -> str:
    doc = inspect.getdoc(entry.value) or ""
    text = with_examples(doc, entry.name)
    example = example_of(entry)
    if ">>>" in doc or example is None:
        return text
    session, figures = run_example(example)
    return f"{text}\n\n```python\n{session}\n```\n" + (show(figures) if figures else "")


@functools.cache
def facts() -> dict[str, str]:
    """What `facts.txt` says of shapes and dtypes, by name."""
    lines = [line for line in FACTS.read_text().splitlines() if not line.startswith("#")]
    return {name: said for name, _, said in (line.partition(": ") for line in lines)}


def _facts(name: str) -> str:
    """What was found of a function's shapes and dtypes, as a paragraph of its own."""
    said = facts().get(name)
    return "" if said is None else f"\n\n{prose(said)}\n"


@functools.cache
def examples() -> dict[str, list[str]]:
    """The statements of `examples.txt` by name."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in EXAMPLES.read_text().splitlines():
        if line.startswith("    "):
            found[name].append(line.strip())
        elif not line.startswith("#"):
            name, _, statement = line.partition(" ")
            found[name] = [statement.strip()]
    return found


def example_of(entry: Entry) -> list[str] | None:
    """The example for a name, or for another name of the same thing."""
    if entry.name in examples():
        return examples()[entry.name]
    return next((lines for name, lines in examples().items() if value_of(name) is entry.value), None)


def run_example(statements: list[str]) -> tuple[str, list[pages.Figure]]:
    """An example as a session, its statements each with what it prints, and the figures it shows. Raises BlockError."""
    page, shown, figures = pages.Page(Path("example.py")), [], []
    page.namespace |= {"ad": ad, "np": np}
    ad.random.seed(0)
    for statement in statements:
        try:
            result = page.run(statement, 0)
        except pages.BlockError as error:
            raise pages.BlockError(f"the example that starts {statements[0]!r}: {error}") from error
        shown.append(f">>> {statement}\n{result.text}".rstrip("\n"))
        figures += result.figures
    return "\n".join(shown), figures


def with_examples(doc: str, name: str) -> str:
    """A docstring as Markdown, its examples as blocks. Runs them, if `name` says whose they are; raises BlockError."""
    if name and ">>>" in doc:
        ad.random.seed(0)
        with pages.fresh_engine():
            pages.run_doctest(doc, {"ad": ad, "np": np, "__name__": "__main__"}, name, None, 0)
    parts = []
    for paragraph in re.split(r"\n\s*\n", doc):
        lines = textwrap.dedent(paragraph).strip("\n")
        if lines.lstrip().startswith(">>>"):
            parts.append(f"```python\n{lines}\n```")
        elif paragraph.startswith("    "):
            parts.append(f"```text\n{lines}\n```")
        else:
            parts.append(prose(lines))
    return "\n\n".join(parts)


def prose(text: str) -> str:
    """Text in which Markdown's marks are only text, but for code between backticks and list items."""
    pieces = re.split(r"(``[^`]+``|`[^`]+`)", text)
    return "".join(piece if i % 2 else re.sub(r"([*_\[\]<>|{}$~#])", r"\\\1", piece) for i, piece in enumerate(pieces))
