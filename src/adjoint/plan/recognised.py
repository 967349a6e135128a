"""Graphs that come back: a function written for one structure says whether a graph has it, and which node is which.

Numbering a graph and comparing its key takes a walk that asks of every node what it may be. Where the same structure was
evaluated many times, a function without loops asks of each node only whether it is what it was: the same in full, so a graph
that is recognised has the key of the one that the function was written for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint._sources import run_source
from adjoint.derive import PULLBACK
from adjoint.graph import ArrayType
from adjoint.plan.canonical import Canonical
from adjoint.primitives.core import FULL, IDENTITY, LITERALS, VERSION, is_literal
from adjoint.primitives.custom import HOST_CALL

__all__ = ["Recognizer", "recognizer"]

MOST = 4000  # nodes
CREDIT = 16  # graphs that another structure has, more than this one: then it is asked no more
ANY_ATTRIBUTES = frozenset({PULLBACK, VERSION})  # whose attributes are there and in no key


class Recognizer:
    """Recognises the graphs that have the structure of one. `credit` is what it has left of being of use."""

    __slots__ = ("credit", "edges", "entries", "match", "structural")

    def __init__(self, c: Canonical, match: Callable[..., Any]) -> None:
        self.match = match
        self.entries, self.edges, self.structural = c.entries, c.edges, c.structural
        self.credit = CREDIT

    def recognises(self, c: Canonical) -> bool:
        """Whether a graph, of which the roots alone are numbered, has the structure; then its order is known, and the nodes note
        their numbers when somebody asks for them (`Canonical.note_numbers`)."""
        found = self.match(c.order)
        if found is None:
            self.credit -= 1
            return False
        self.credit = min(self.credit + 1, CREDIT)
        c.order, c.leaves, c.numbers, c.pullbacks = found
        c.entries, c.edges, c.structural = self.entries, self.edges, self.structural
        return True


def recognizer(c: Canonical) -> Recognizer | None:
    """What recognises the graphs that have the structure of this one, just numbered; None where that isn't written down."""
    count = len(c.order)
    if count > MOST:
        return None
    names: dict[str, Any] = {"LITERALS": LITERALS, "is_literal": is_literal, "float": float}
    known: dict[int, str] = {}

    def named(x: Any) -> str:
        name = known.get(id(x))
        if name is None:
            name = known[id(x)] = f"k{len(known)}"
            names[name] = x
        return name

    lines = [f"{''.join([f'n{i}, ' for i in range(c.roots)])}= order"]
    leaves, numbers, met = [], [], c.roots
    edges = iter(c.edges)
    for i, node in enumerate(c.order):
        held, x = node.value is not None, f"n{i}"
        is_not = "not " if node.tracked else ""
        if node.inputs and (not held or (c.structural and node.tracked)):
            asked = [
                f"{x}.op is not {named(node.op)}",
                f"{x}.value is {'' if held else 'not '}None",
                f"{is_not}{x}.tracked",
            ]
            attributes, key = node.attributes, node.op.key
            if node.op is HOST_CALL or (attributes is None and node.op in ANY_ATTRIBUTES):
                return None
            if attributes is None:
                asked.append(f"{x}.attributes is not None")
            elif node.op is IDENTITY:
                asked.append(f"{x}.attributes is None")
            elif node.op not in ANY_ATTRIBUTES:
                asked.append(f"(a := {x}.attributes) is None")
                asked.append(
                    f"a != {named(attributes)}" if key is None else f"{named(key)}(a) != {named(key(attributes))}"
                )
            taken, again = [], []
            for k in range(len(node.inputs)):
                j = next(edges)
                if j == met:
                    taken.append(f"n{j}")
                    met += 1
                else:
                    taken.append(f"i{k}")
                    again.append(f"i{k} is not n{j}")
            lines += [f"if {' or '.join(asked)}: return", f"{', '.join(taken)}, = {x}.inputs"]
            if again:
                lines.append(f"if {' or '.join(again)}: return")
            if held:
                leaves.append(x)
        elif held:
            if type(node.type) is not ArrayType:
                return None
            asked = [f"{x}.value is None", f"{x}.type is not {named(node.type)}", f"{is_not}{x}.tracked"]
            if c.structural and node.tracked:
                asked.append(f"{x}.inputs")
            lines.append(f"if {' or '.join(asked)}: return")
            leaves.append(x)
        elif node.op is FULL and type(node.attributes) in (float, int, bool):
            value = node.attributes
            asked = [f"{x}.op is not {named(FULL)}", f"{x}.value is not None", f"{x}.type is not {named(node.type)}"]
            asked.append(f"(v{i} := {x}.attributes).__class__ is not {named(type(value))}")
            if is_literal(value):
                asked.append(f"v{i} != {named(value)}")
                asked += [f"not is_literal(v{i})"] if value == 0 else []  # 0 and -0 are equal
            else:
                asked.append(f"(v{i} in LITERALS and is_literal(v{i}))")
                numbers.append(f"(v{i}, {x})")
            lines.append(f"if {' or '.join(asked)}: return")
        else:
            return None
    return Recognizer(c, _match(c, lines, leaves, numbers, names))


def _match(c: Canonical, lines: list[str], leaves: list[str], numbers: list[str], names: dict[str, Any]) -> Any:
    """The function of these lines, which gives what they found."""
    order = [f"n{i}" for i in range(len(c.order))]
    pullbacks = set(c.pullbacks)
    pulled = [name for name, x in zip(order, c.order, strict=True) if x in pullbacks]
    found = ", ".join([f"[{', '.join(some)}]" for some in (order, leaves, numbers, pulled)])
    body = "\n  ".join([*lines, f"if len({{{', '.join(order)}}}) != {len(order)}: return", f"return {found}"])
    run_source(f"def match(order):\n try:\n  {body}\n except ValueError: return\n", names)
    return names["match"]
