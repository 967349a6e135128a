"""Which operations the scripts of pages compute: the keys of their tables of steps, read from the scripts themselves."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from importlib import resources
from typing import NamedTuple

__all__ = ["BEFORE", "Computed", "computed"]

TABLES = ("UNARY", "BINARY", "TERNARY", "OF_ATTRIBUTES", "ARRAY_STEPS")
# The scripts with the steps of rare operations are in a page that needs them; each may use those of the scripts before it.
RARE = ("special", "integrals", "hypergeometric", "systems", "spectra", "complex", "eigenvalues")
BEFORE = {
    "eigenvalues": ("complex",),
    "integrals": ("special",),
    "hypergeometric": ("special",),
    "spectra": ("systems",),
}
# What hands an input on, or isn't computed: of any numbers, and of real ones alone.
HANDED_ON = frozenset("marker stop_gradient reshape after select_output custom checkpoint full".split())
NORMALIZED = frozenset("softmax standardized rms_normalized batch_normalized".split())

# A table is an object that begins and ends a line, `const TABLE = {` or `Object.assign(TABLE, {`; or one entry, `TABLE.name = `.
ENTRIES = r"^(?:const {0} = |Object\.assign\({0}, )\{{(.*?)^\}}"
ENTRY = r"^{0}\.(\w+) = "
TOKEN = re.compile(r"//.*|\w+|[^\w\s]")


class Computed(NamedTuple):
    """What pages compute.

    elementary: in every page. scripts: in a page with this script. operations: all of them. complex: where an input or the
    result is complex. factored: what is found by iterations. cubic: how often each number of the result, or of what is
    factored, is multiplied by a row or column.
    """

    elementary: frozenset[str]
    scripts: Mapping[str, frozenset[str]]
    operations: frozenset[str]
    complex: frozenset[str]
    factored: frozenset[str]
    cubic: Mapping[str, int]


@functools.cache
def computed() -> Computed:
    """What pages compute, read when a page is first made."""
    elementary = HANDED_ON.union(NORMALIZED, _steps("elementwise", *TABLES), _steps("array_steps", *TABLES))
    scripts = {script: _steps(script, *TABLES) for script in RARE}
    of_pairs = _steps("complex", "AS_REAL", "ofPairs", "COMPLEX_STEPS") | _steps("eigenvalues", "COMPLEX_STEPS")
    factored = scripts["spectra"] | scripts["eigenvalues"]
    cubic = dict.fromkeys("matmul cholesky solve_triangular solve solve_factored inv".split(), 1)
    return Computed(
        elementary,
        scripts,
        elementary.union(*scripts.values()),
        HANDED_ON.union(scripts["complex"], of_pairs),
        factored,
        cubic | dict.fromkeys(factored - {"inverse_gaps"}, 40),
    )


def _steps(script: str, *tables: str) -> frozenset[str]:
    """The operations for which tables of a script have a step."""
    text = resources.files("adjoint.picture").joinpath(f"scripts/{script}.js").read_text("utf-8")
    names = f"(?:{'|'.join(tables)})"
    found = set(re.findall(ENTRY.format(names), text, re.M))
    for entries in re.findall(ENTRIES.format(names), text, re.M | re.S):
        found |= _keys(entries)
    return frozenset(found)


def _keys(entries: str) -> set[str]:
    """The names with which the entries of an object begin, but for those that are spread from others."""
    found, depth, begins = set(), 0, True
    for token in TOKEN.findall(entries):
        if token.startswith("//"):
            continue
        if begins and token.isidentifier():
            found.add(token)
        depth += (token in "([{") - (token in ")]}")
        begins = token == "," and depth == 0
    return found
