"""Graphs that differ in extents alone: the program of one of them tells what the others' would be, before they have a plan.

The second graph of a structure is planned with the numbers that differ from the first one's as sizes (see `compiler.extents`),
and this plan goes through the compiler's stages (see `relatives`). So for a third graph the conditions are asked and the formulas
computed, and neither a plan is built nor does a stage run. A pattern is made only if the plan with sizes is, step by step, the
one that the second graph has without.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

from adjoint.compiler.extents import Sheet, Unfollowed, Values, plain
from adjoint.compiler.families import Kindred, Symbols
from adjoint.compiler.linking import settings
from adjoint.execution.native.program import TAPE_FROM
from adjoint.execution.native.relatives import MOST_PATTERNS, WORTH, Pattern, Types, attributes_of, put, taken
from adjoint.execution.native.remembered import Remembered
from adjoint.execution.numpy_programs import is_tiny
from adjoint.graph import ArrayType, Node
from adjoint.plan.canonical import Canonical
from adjoint.plan.executable import Executable
from adjoint.plan.plan import Plan, build
from adjoint.primitives.core import FULL

MOST_NODES = 1 << 17  # of structures that are remembered

Wanted = tuple[int, ...]


class Kin(Kindred[tuple[Pattern, Plan]]):
    """The graphs of one structure, which the first of them has, of which the same nodes are wanted."""

    def __init__(self, c: Canonical, wanted: Wanted) -> None:
        """Raises Unfollowed for graphs of which that can't be told."""
        order = c.order
        if c.pullbacks or c.structural:
            raise Unfollowed("a reverse pass is pending")
        if not all([x.type.__class__ is ArrayType for x in order]):
            raise Unfollowed("something has several values")
        if any([x.value is None and not x.inputs and x.op is not FULL for x in order]):
            raise Unfollowed("something has neither inputs nor a value")
        self.wanted = wanted
        self.ops = [x.op for x in order]
        self.pending = [x.value is None for x in order]
        self.plain = [x.attributes is None for x in order]
        self.dtypes = [x.type.dtype for x in order]
        self.ranks = [x.type.ndim for x in order]
        self.edges, self.entries = c.edges, c.entries
        self.places: list[int] = []  # the entries that are types
        self.others: dict[int, int] = {}  # the nodes whose attributes have numbers, and which entries these are
        self.kinds: dict[int, Any] = {}  # of each, what there is besides
        self.own: dict[int, list[int]] = {}  # and its numbers
        self.loose: list[int] = []  # those of these nodes whose numbers aren't the same in all graphs
        self.note_places(c)
        self.hold()
        super().__init__(self.joined(c, self.own))
        self.reason = ""

    def note_places(self, c: Canonical) -> None:
        """Find where in the entries there are types, and attributes that have numbers (see `canonical.canonicalize`)."""
        at = 0
        for i, node in enumerate(c.order):
            if node.value is None and node.inputs:
                at += 2
                if node.attributes is not None:
                    numbers: list[int] = []
                    kind = taken(attributes_of(node), numbers)
                    if numbers:
                        self.others[i], self.kinds[i], self.own[i] = at, kind, numbers
                    at += 1
                at += node.op.variadic
            else:
                self.places.append(at + 1)
                at += 2 if node.value is not None else 3
        if at != len(c.entries):
            raise Unfollowed("a graph with other entries")

    def hold(self) -> None:
        """Note the entries that are the same in all graphs."""
        different = {*self.places, *[self.others[i] for i in self.loose]}
        self.fixed = itemgetter(*[k for k in range(len(self.entries)) if k not in different], 0)
        self.base = self.fixed(self.entries)

    @staticmethod
    def joined(c: Canonical, own: Mapping[int, Sequence[int]]) -> Values:
        """All numbers of a graph, of which those in attributes are given, by node."""
        return (*chain.from_iterable([x.type.shape for x in c.order]), *chain.from_iterable(own.values()))

    def numbers(self, c: Canonical, wanted: Wanted) -> Values | None:
        """The numbers in a graph; None if its structure is another one, or something else is wanted of it."""
        order = c.order
        if (
            c.pullbacks
            or c.structural
            or wanted != self.wanted
            or len(c.entries) != len(self.entries)
            or c.edges != self.edges
            or [x.op for x in order] != self.ops
            or [x.value is None for x in order] != self.pending
            or [x.attributes is None for x in order] != self.plain
            or not all([x.type.__class__ is ArrayType for x in order])
            or [x.type.dtype for x in order] != self.dtypes
            or [x.type.ndim for x in order] != self.ranks
        ):
            return None
        if self.fixed(c.entries) != self.base:  # maybe because one attribute more is different
            self.loose = [i for i, at in self.others.items() if i in self.loose or c.entries[at] != self.entries[at]]
            self.hold()
            if self.fixed(c.entries) != self.base:
                return None
        own = dict(self.own)
        try:
            for i in self.loose:
                own[i] = []
                if taken(attributes_of(order[i]), own[i]) != self.kinds[i]:
                    return None
        except Unfollowed:
            return None
        return self.joined(c, own)

    def stamped(self, c: Canonical, numbers: Values) -> Executable | None:
        """The plan of one of these graphs, with its program, if a pattern serves it."""
        found = self.serving(numbers)
        return None if found is None else _with_program(*found[0], c, found[1])

    def followed(self, c: Canonical, numbers: Values) -> Executable | None:
        """The plan of one of these graphs, from which a pattern is made."""
        self.met(numbers)
        if self.reason or not self.varying or len(self.known) >= MOST_PATTERNS:
            return None
        own = build(c, self.wanted, keep=False, ordered=False)
        if len(own.steps) < WORTH:
            self.reason = "Unfollowed: it is short"
        if self.reason or _is_interpreted(own):
            return None
        try:
            with Sheet() as sheet:
                symbols = Symbols(sheet, self.first, numbers, self.varying)
                sized = _with_sizes(c, self, symbols.given, sheet)
                plan = build(sized, self.wanted, keep=False, ordered=False)
                if _is_interpreted(plan) or not _is_like(plan, own):
                    raise Unfollowed("the plan with sizes is another one")
                pattern = Pattern(plan, symbols, sheet)
        except Exception as error:  # whatever it is, the graph is planned by itself
            self.reason = f"{type(error).__name__}: {error}"
            return None
        pattern.introduce(self.first)
        own = own.with_steps(())
        self.known.insert(0, (pattern.followed, (pattern, own)))
        found = _with_program(pattern, own, c, pattern.results)
        found.program.patterned = True  # type: ignore[union-attr]
        return found


def _with_sizes(c: Canonical, kin: Kin, numbers: Sequence[Any], sheet: Sheet) -> Canonical:
    """A copy of a graph with other numbers, sizes among them."""
    left = iter(numbers)
    types_of = Types(sheet, left)
    types = [types_of(x.type) for x in c.order]
    attributes = {i: put(attributes_of(c.order[i]), left) for i in kin.others}
    made = copy.copy(c)
    made.places = None
    number = c.number
    order: list[Any] = [None] * len(c.order)
    for i, x in reversed(list(enumerate(c.order))):
        given = attributes.get(i, None if x.attributes is None or kin.pending[i] is False else x.attributes)
        order[i] = Node(x.op, (), given, types[i], x.site, x.offset, x.tracked, x.value)
    for i, x in enumerate(c.order):
        order[i].number = i
        if kin.pending[i]:
            order[i].inputs = tuple([order[number[y]] for y in x.inputs])
    made.order = order
    made.leaves = [order[number[x]] for x in c.leaves]
    made.numbers = [(value, order[number[x]]) for value, x in c.numbers]
    made.alike = [(order[number[x]], place) for x, place in c.alike]
    return made


def _is_like(plan: Plan, own: Plan) -> bool:
    """Whether a plan with sizes is a graph's own."""

    def described(p: Plan) -> Any:
        steps = [(step.op, plain(attributes_of(step)), step.inputs, step.output) for step in p.steps]
        types = [(t.dtype, plain(t.shape)) for t in p.types]
        constants = [(slot, array.dtype, array.tobytes()) for slot, array in p.constants.items()]
        rest = (p.outputs, p.masking, p.has_products, p.has_algebra, p.forgotten)
        return (steps, types, constants, rest, len(p.leaf_types), len(p.number_types))

    return not any([array.ndim for array in own.constants.values()]) and bool(described(plan) == described(own))


def _is_interpreted(plan: Plan) -> bool:
    """Whether the machine for tiny arrays may take a plan."""
    return plan.length >= TAPE_FROM and is_tiny(plan)


def _with_program(pattern: Pattern, plan: Plan, c: Canonical, results: Any) -> Executable:
    plan = plan._replace(leaf_types=[x.type for x in c.leaves], number_types=[x.type for _, x in c.numbers])
    return Executable(plan, program=pattern.stamped(plan, results))


def _kin_of(c: Canonical, wanted: Wanted) -> Kin | None:
    try:
        return Kin(c, wanted)
    except Unfollowed:
        return None


_known: Remembered[Kin | None] = Remembered(MOST_NODES)


def executable_of_kin(c: Canonical, wanted: Wanted, kind: Any, follow: bool) -> Executable | bool | None:
    """The plan of a graph, with a program that follows from others' of this kind; None where it doesn't, True if the graph is the
    first of its kind, from which others may follow. With `follow`, time may be spent on finding out how."""
    kind = (kind, hash(tuple([x.op for x in c.order])), settings())
    if kind not in _known:
        made = _kin_of(c, wanted)
        _known.put(kind, made, 1 if made is None else len(made.ops))
        return True if made is not None else None
    kin = _known.get(kind)
    numbers = None if kin is None else kin.numbers(c, wanted)
    if kin is None or numbers is None:
        return None
    found = kin.stamped(c, numbers)
    return kin.followed(c, numbers) if found is None and follow else found
