"""Which operations the scripts of pages compute: the keys of their tables of steps, read from the scripts themselves."""

from __future__ import annotations

import re
from importlib import resources

__all__ = ["steps_of"]

# A table is an object that begins and ends a line, `const TABLE = {` or `Object.assign(TABLE, {`; or one entry, `TABLE.name = `.
ENTRIES = r"^(?:const {0} = |Object\.assign\({0}, )\{{(.*?)^\}}"
ENTRY = r"^{0}\.(\w+) = "
TOKEN = re.compile(r"//.*|\w+|[^\w\s]")


def steps_of(script: str, *tables: str) -> frozenset[str]:
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
