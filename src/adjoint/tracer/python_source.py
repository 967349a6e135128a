"""Python functions written out line by line, and what takes nested containers apart and puts them together in them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from adjoint._sources import run_source
from adjoint.tree import Structure

__all__ = ["Writer", "closed", "open_containers"]

Step = Callable[..., Any]
OPENED = (list, tuple, dict)


class Writer:
    """Lines of a function, and the objects that they refer to."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.objects: dict[str, Any] = {}
        self._names: dict[int, str] = {}

    def name(self, value: Any) -> str:
        """The name of an object in the function."""
        found = self._names.get(id(value))
        if found is None:
            found = self._names[id(value)] = f"o{len(self._names)}"
            self.objects[found] = value
        return found

    def add(self, *lines: str) -> None:
        """Lines at the function's outer level."""
        self.lines += ["    " + line for line in lines]

    def unless(self, condition: str) -> None:
        """Take the general way unless a condition holds."""
        self.add(f"if not ({condition}): return UNUSUAL")

    def unpack(self, names: Sequence[str], values: str) -> None:
        """Name each of the values that an expression gives."""
        if names:
            self.add(f"{', '.join(names)}, = {values}")

    def function(self, parameters: Sequence[str]) -> Step:
        """The function."""
        source = "\n".join([f"def step({', '.join(parameters)}):", *self.lines])
        run_source(source, self.objects)
        made: Step = self.objects["step"]
        return made


def open_containers(w: Writer, structure: Structure) -> list[str] | None:
    """Lines that take positional arguments apart into leaves named a0, a1, ..., in order; the names of the parameters. None
    where there are keywords, or containers other than lists, tuples and dicts. `structure` is that of the arguments in a
    list, and the keywords in a dict."""
    positional, keywords = structure.children
    if keywords.children:
        return None
    leaves, containers = itertools.count(), itertools.count()

    def named(parts: Sequence[Structure]) -> list[str]:
        """Names for parts side by side, those inside them still to be named."""
        return [f"p{next(containers)}" for _ in parts]

    parameters = named(positional.children)
    pending = list(zip(parameters, positional.children, strict=True))[::-1]
    while pending:  # depth first, as leaves are counted
        held, part = pending.pop()
        if part.kind is None:
            w.add(f"a{next(leaves)} = {held}")
        elif part.kind is type(None):
            w.unless(f"{held} is None")
        elif part.kind in OPENED:
            w.unless(f"type({held}) is {part.kind.__name__} and len({held}) == {len(part.children)}")
            if part.kind is dict:
                w.unless(f"tuple({held}) == {w.name(part.keys)}")
            names = named(part.children)
            if names:
                w.add(f"{', '.join(names)}, = {held}{'.values()' if part.kind is dict else ''}")
            pending += list(zip(names, part.children, strict=True))[::-1]
        else:
            return None
    return parameters


def closed(w: Writer, structure: Structure, leaves: Iterator[str]) -> str:
    """An expression for a container around leaves."""
    kind = structure.kind
    if kind is None:
        return next(leaves)
    if kind not in OPENED:
        given = [next(leaves) for _ in range(structure.count)]
        return f"{w.name(structure.unflatten)}([{', '.join(given)}])"
    parts = [closed(w, child, leaves) for child in structure.children]
    if kind is dict:
        assert isinstance(structure.keys, tuple)
        items = [f"{w.name(key)}: {part}" for key, part in zip(structure.keys, parts, strict=True)]
        return f"{{{', '.join(items)}}}"
    return f"[{', '.join(parts)}]" if kind is list else f"({''.join([part + ', ' for part in parts])})"
