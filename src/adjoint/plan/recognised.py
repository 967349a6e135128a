"""Graphs that come back: a function made for one structure says whether a graph has it, and which node is which.

Numbering a graph and comparing its key takes a walk that asks of every node what it may be. Where the same structure was
evaluated many times, a function asks of each node only whether it is what it was: the same in full, so a graph that is recognised
has the key of the one that the function was made for. It is native code, or one of Python's without loops.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

from adjoint import _forks
from adjoint._references import COUNTED_IN_LIST
from adjoint._sources import run_source
from adjoint._tuples import NamedTuple
from adjoint.derive import PULLBACK
from adjoint.graph import ArrayType, Node
from adjoint.plan.canonical import Canonical
from adjoint.plan.executable import Executable
from adjoint.primitives.core import FULL, IDENTITY, LITERALS, VERSION, is_literal
from adjoint.primitives.custom import HOST_CALL

__all__ = ["Recognizer", "comes_with_code", "recognizer"]

MOST = 4000  # nodes that a function of Python's asks,
MOST_NATIVE = 1 << 15  # and native code
CREDIT = 16  # graphs that another structure has, more than this one: then it is asked no more
_importing = _forks.waited_for()  # in the child of a fork in the midst of an import nobody would ever end that
ANY_ATTRIBUTES = frozenset({PULLBACK, VERSION})  # whose attributes are there and in no key


class Expected(NamedTuple):
    """What a node of a graph is. Of `op`, `type` and `tracked` nothing is asked where they are None.

    What is `asked` of its attributes is nothing ("any"), that there are none or some, that they are the same, or of a `number` of
    this class that it is the literal that it was or is free: part of no key. `edges` are the numbers of its inputs, in which a
    number not met before is the next one; None: nothing is asked of them. `given` says that the attributes are given back, for a
    part of them is compared.
    """

    op: Any
    type: Any
    tracked: bool | None
    held: bool
    asked: str
    attributes: Any
    number: type | None
    edges: tuple[int, ...] | None
    leaf: bool
    pulled: bool
    given: bool


class Recognizer:
    """Recognises the graphs that have the structure of one. `credit` is what it has left of being of use. `parts` has, for the
    attributes of which a part is compared, what gives that part, and the part. Native code also says whether the nodes have the
    reference counts that are `noted`, with a plan, in its array `counts`; then `store` puts the results of that plan where they
    belong, where that is simple."""

    __slots__ = (
        "counts", "credit", "edges", "entries", "expected", "kept", "match", "noted", "parts", "roots", "store", "structural"
    )  # fmt: skip

    def __init__(self, c: Canonical, expected: list[Expected], native: bool) -> None:
        self.expected, self.roots = expected, c.roots
        self.kept: Any = None  # while native code is called
        self.counts: Any = None
        self.noted: Any = None
        self.store: Callable[..., bool] | None = None
        self.match: Any = None
        if not (native and self.improve()) and len(expected) <= MOST:
            self.match = _written(expected, c.roots)
        self.entries, self.edges, self.structural = c.entries, c.edges, c.structural
        self.parts = [(e.op.key, e.attributes) for e in expected if e.given]
        self.credit = CREDIT

    def improve(self, met: int = 0) -> bool:
        """Be native code, if there is some by now, or can be for a graph that was met so often."""
        recording = _recording()
        if self.kept is None:
            found = recording.matcher(self.expected, self.roots, met >= recording.FOR_LONG)
            if found is not None:
                self.match, self.counts, self.kept = found
        return self.kept is not None

    def note(self, last: tuple[list[int] | None, Executable | None]) -> None:
        """Note which reference counts the nodes had, as `reference_counts` gives them, for native code to compare, and the plan
        that was taken then."""
        if self.counts is not None:
            counts, plan = last[0], None if last[1] is None else last[1].plan
            held = [-1] if counts is None else [n - COUNTED_IN_LIST + 1 for n in counts]
            self.counts[: len(held)] = held
            is_simple = plan is not None and not plan.forgotten
            self.store = _recording().storer(self.expected, plan.outputs) if is_simple else None  # type: ignore[union-attr]
            self.noted = last

    def look(self, roots: list[Node]) -> Any:
        """What is found of the graph of these roots if it has the structure, else None: the nodes in order, leaves, free numbers,
        their nodes, pullbacks, attributes of which a part was compared; by native code also the leaves' arrays, if they are
        all that, and whether the nodes are held as noted."""
        try:
            found = self.match(roots)
            if found is not None and self.parts:
                for (part, expected), attributes in zip(self.parts, found[5], strict=True):
                    if part(attributes) != expected:
                        found = None
        except ValueError:  # attributes that aren't compared
            found = None
        if found is None:
            self.credit -= 1
        elif self.credit < CREDIT:
            self.credit += 1
        return found

    def entered(self, found: Any) -> Canonical:
        """What was found as a numbered graph, whose nodes note their numbers when somebody asks for them
        (`Canonical.note_numbers`)."""
        order, leaves, numbers, nodes, pullbacks, _, *more = found
        c = Canonical(order[: self.roots], self.structural)
        c.order, c.leaves, c.pullbacks = order, leaves, pullbacks
        c.numbers = list(zip(numbers, nodes, strict=True))
        nodes.clear()  # as many references as there are where all are numbered
        if more:  # native code has found it, which this may be only since
            c.arrays, c.unchanged = more
        c.entries, c.edges = self.entries, self.edges
        return c


def recognizer(c: Canonical, native: bool = True) -> Recognizer | None:
    """What recognises the graphs that have the structure of this one, just numbered; None where that isn't written down. It is
    `native` code, if it may be and there is some."""
    if len(c.order) > MOST and not (native and len(c.order) <= MOST_NATIVE and _recording().is_there()):
        return None
    edges, pullbacks, expected = iter(c.edges), set(c.pullbacks), list[Expected]()
    for node in c.order:
        said = _expected(node, c.structural, node in pullbacks, edges)
        if said is None:
            return None
        expected.append(said)
    made = Recognizer(c, expected, native)
    return None if made.match is None else made


def comes_with_code() -> bool:
    """Whether there is native code for this, without compiling any."""
    return bool(_recording().is_there())


def _recording() -> Any:
    """The module with native code for this, which a short program never needs."""
    with _importing:
        return importlib.import_module("adjoint.runtime.recording")


def _expected(node: Node, structural: bool, pulled: bool, edges: Iterator[int]) -> Expected | None:
    """What a node is; None for one that isn't recognised."""
    op, attributes, tracked, held = node.op, node.attributes, bool(node.tracked), node.value is not None
    if node.inputs and (not held or (structural and tracked)):
        if op is HOST_CALL or (attributes is None and op in ANY_ATTRIBUTES):
            return None
        asked = "any" if op in ANY_ATTRIBUTES else "none" if attributes is None else "same"
        given = asked == "same" and op is not IDENTITY and op.key is not None
        asked = "some" if given or (asked == "same" and op is IDENTITY) else asked
        numbers = tuple([next(edges) for _ in node.inputs])
        # A rule holds what the user gave it: only the part that is compared lasts as long as this.
        kept = op.key(attributes) if asked == "some" and op.key is not None else attributes
        return Expected(op, None, tracked, held, asked, kept, None, numbers, held, pulled, given)
    if held:
        if type(node.type) is not ArrayType:
            return None
        return Expected(None, node.type, tracked, True, "any", None, None, () if structural and tracked else None,
                        True, False, False)  # fmt: skip
    if op is not FULL or type(attributes) not in (float, int, bool):
        return None
    asked = "literal" if is_literal(attributes) else "free"
    return Expected(op, node.type, None, False, asked, attributes, type(attributes), None, False, False, False)


def _written(expected: list[Expected], roots: int) -> Callable[..., Any]:
    """A function of Python's for this, without loops."""
    names: dict[str, Any] = {"LITERALS": LITERALS, "is_literal": is_literal}
    known: dict[int, str] = {}

    def named(x: Any) -> str:
        name = known.get(id(x))
        if name is None:
            name = known[id(x)] = f"k{len(known)}"
            names[name] = x
        return name

    lines, met = [f"{''.join([f'n{i}, ' for i in range(roots)])}= order"], roots
    for i, e in enumerate(expected):
        x = f"n{i}"
        asked = [f"{x}.value is {'' if e.held else 'not '}None"]
        asked += [f"{x}.{name} is not {named(y)}" for name, y in (("op", e.op), ("type", e.type)) if y is not None]
        asked += [] if e.tracked is None else [f"{'not ' if e.tracked else ''}{x}.tracked"]
        asked += _of_attributes(x, e, named)
        asked += [f"{x}.inputs"] if e.edges == () else []
        lines.append(f"if {' or '.join(asked)}: return")
        taken, again = [], []
        for k, j in enumerate(e.edges or ()):
            taken.append(f"n{j}" if j == met else f"i{k}")
            if j == met:
                met += 1
            else:
                again.append(f"i{k} is not n{j}")
        lines += [f"{', '.join(taken)}, = {x}.inputs"] if taken else []
        lines += [f"if {' or '.join(again)}: return"] if again else []
    return _function(expected, lines, names)


def _of_attributes(x: str, e: Expected, named: Callable[[Any], str]) -> list[str]:
    """What is asked of a node's attributes, as conditions under which they are others."""
    a = f"{x}.attributes"
    if e.asked in ("none", "some"):
        return [f"{a} is {'not ' if e.asked == 'none' else ''}None"]
    if e.asked == "same":
        return [f"{a} is None", f"{a} != {named(e.attributes)}"]
    if e.number is None:
        return []
    kind = f"{a}.__class__ is not {named(e.number)}"
    if e.asked == "free":
        return [kind, f"({a} in LITERALS and is_literal({a}))"]
    return [
        kind,
        f"{a} != {named(e.attributes)}",
        *([f"not is_literal({a})"] if e.attributes == 0 else []),
    ]  # 0 and -0 are equal


def _function(expected: list[Expected], lines: list[str], names: dict[str, Any]) -> Callable[..., Any]:
    """The function of these lines, which gives what they found."""
    order = [f"n{i}" for i in range(len(expected))]
    said = list(zip(order, expected, strict=True))
    free = [x for x, e in said if e.asked == "free"]
    found = [order, [x for x, e in said if e.leaf], [f"{x}.attributes" for x in free], free,
             [x for x, e in said if e.pulled], [f"{x}.attributes" for x, e in said if e.given]]  # fmt: skip
    result = ", ".join([f"[{', '.join(some)}]" for some in found])
    body = "\n ".join([*lines, f"if len({{{', '.join(order)}}}) != {len(order)}: return", f"return {result}"])
    run_source(f"def match(order):\n {body}\n", names)
    return names["match"]  # type: ignore[no-any-return]
