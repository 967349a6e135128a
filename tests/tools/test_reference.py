"""The reference is whole: every public name has an entry, a docstring and an example, and every example is of a name that is."""

import inspect
from pathlib import Path

import pytest

import adjoint as ad
import operation_facts
import pages
import reference

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"
ENTRIES = list(reference.documented(FOLDER))


def test_every_public_name_has_an_entry():
    """`ad.save` is `ad.interop.save`: one entry is enough for both names."""
    names = {entry.name for entry in ENTRIES}
    values = {id(entry.value) for entry in ENTRIES if callable(entry.value)}
    missing = [n for n in reference.all_public() - names if id(reference.value_of(n)) not in values]
    assert sorted(missing) == [], "add them to a page of docs/reference"


def test_no_name_has_two_entries():
    names = [entry.name for entry in ENTRIES]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_every_entry_says_what_it_is():
    mute = [e.name for e in ENTRIES if not (inspect.getdoc(e.value) if callable(e.value) else e.said)]
    assert mute == []


def test_every_callable_has_an_example():
    callables = [entry for entry in ENTRIES if callable(entry.value)]
    without = [e.name for e in callables if ">>>" not in inspect.getdoc(e.value) and not reference.example_of(e)]
    assert without == [], "give the docstring an example, or add a line to docs/_extension/examples.txt"


def test_no_example_is_idle():
    used = {entry.name for entry in ENTRIES}
    assert [name for name in reference.examples() if name not in used] == []
    assert [n for n in reference.examples() if ">>>" in (inspect.getdoc(reference.value_of(n)) or "")] == []


@pytest.mark.parametrize("name", reference.examples())
def test_example_runs(name):
    with pages.fresh_engine():
        session, figures = reference.run_example(reference.examples()[name])
    assert figures or len(session.splitlines()) > len(reference.examples()[name]), "it shows nothing"


def test_what_is_said_of_shapes_and_dtypes_is_so():
    known = operation_facts.FACTS.read_text()
    assert known == operation_facts.text(), "run python tests/helpers/operation_facts.py"


def test_nearly_every_function_says_its_shapes_and_dtypes():
    """Those left have no arrays to take, or a function among their arguments; their docstrings say it."""
    spaces = {"ad.linalg.": ad.linalg, "ad.fft.": ad.fft, "ad.special.": ad.special}
    functions = [f"{start}{name}" for start, space in spaces.items() for name in space.__all__]
    mute = [n for n in functions if inspect.isfunction(reference.value_of(n)) and n not in reference.facts()]
    assert mute == [
        "ad.linalg.cho_solve",
        "ad.linalg.lu_solve",
        "ad.fft.fftfreq",
        "ad.fft.next_fast_len",
        "ad.fft.rfftfreq",
    ]


def test_an_entry_shows_them():
    shown = reference.render(reference.named("ad.special.gammaln"), lambda figures: "")
    assert "Shapes: (2, 3) → (2, 3)" in shown and "complex raises TypeError" in shown
