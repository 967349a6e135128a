"""What loops must be like: every name made once, before it is used and where it can be seen, and used as what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from adjoint.compiler.loops import ir as L
from adjoint.compiler.targets.llvm import ITEMSIZE

NUMBER, CONDITION, POINTER, INTEGER = "number", "condition", "pointer", "integer"
Kind = str | tuple[int, int]  # of a vector: bytes of an element (0: a mask's) and lanes
PARAMETERS = {"i64": NUMBER, "i32": NUMBER, "i1": CONDITION, "ptr": POINTER, "ptr noalias": POINTER}


def vector(dtype: str, lanes: int) -> Kind:
    return (0 if dtype == "bool" else ITEMSIZE[dtype], lanes) if lanes else PARAMETERS.get(dtype, NUMBER)


def check(functions: Iterable[L.Function]) -> None:
    """Raise ValueError, with the function and the statement, where loops aren't well formed."""
    known = {function.name: function for function in functions}
    for function in known.values():
        Checking(function, known).run()


class Checking:
    """One function being checked. `kinds` are those of the names that can be seen."""

    def __init__(self, function: L.Function, functions: Mapping[str, L.Function]) -> None:
        self.function = function
        self.functions = functions
        self.kinds: dict[str, Kind] = {}
        self.variables: dict[str, tuple[str, int]] = {}
        self.made: set[str] = set()
        self.repeats = 0
        self.at: Any = None

    def run(self) -> None:
        for type_, name in self.function.parameters:
            self.make(name, PARAMETERS[type_])
        self.block(self.function.body)
        if self.function.result:
            self.need(self.function.result, NUMBER)

    def fail(self, reason: str) -> None:
        raise ValueError(f"in the loops of {self.function.name}: {reason}, in {self.at}")

    def make(self, name: str, kind: Kind) -> None:
        if name in self.made:
            self.fail(f"{name} is made twice")
        self.made.add(name)
        self.kinds[name] = kind

    def need(self, name: str, kind: Kind) -> None:
        if isinstance(name, L.Constant) or name in ("poison", "true", "false"):
            return
        if not name.startswith("%"):
            if kind not in (NUMBER, CONDITION) or not name.lstrip("-").isdigit():
                self.fail(f"{name} is no {kind}")
            return
        found = self.kinds.get(name)
        if found is None:
            self.fail(f"{name} isn't made before, or not where it can be seen")
        elif found != kind and not (kind == INTEGER and found in (NUMBER, "element")):
            self.fail(f"{name} is {_described(found)}, not {_described(kind)}")

    def block(self, body: Iterable[Any]) -> None:
        seen, variables = dict(self.kinds), dict(self.variables)
        for s in body:
            self.at = s
            self.statement(s)
        if body is not self.function.body:  # what is made inside can't be seen outside
            self.kinds, self.variables = seen, variables

    def statement(self, s: Any) -> None:
        kind = s.__class__
        if kind is L.For:
            self.inside(s, (s.start, s.stop, s.step))
        elif kind is L.Repeat:
            self.repeats += 1
            self.inside(s, (s.limit,))
            self.repeats -= 1
            self.make(s.done, NUMBER)
        elif kind is L.When:
            self.need(s.condition, CONDITION)
            self.block(s.body)
        elif kind is L.Leave:
            if not self.repeats:
                self.fail("nothing is repeated here")
        elif kind is L.Call:
            self.call(s)
        elif kind is L.Variable:
            self.make(s.to, "variable")
            self.variables[s.to] = (s.dtype, s.lanes)
        elif kind in (L.Get, L.Set):
            self.variable(s)
        elif kind is L.Lane:
            if self.variables.get(s.variable) != (s.dtype, s.held):
                self.fail(f"{s.variable} is no variable of {s.held} lanes of {s.dtype}")
            self.need(s.number, NUMBER)
            self.make(s.to, vector(s.dtype, s.lanes))
        else:
            needs, makes = RULES[kind](s)
            for name, wanted in needs:
                self.need(name, wanted)
            if makes is not None:
                self.make(s.to, makes)

    def inside(self, s: L.For | L.Repeat, bounds: tuple[str, ...]) -> None:
        for name in bounds:
            self.need(name, NUMBER)
        before = dict(self.kinds)
        self.make(s.to, NUMBER)
        self.block(s.body)
        self.kinds = before

    def variable(self, s: L.Get | L.Set) -> None:
        if self.variables.get(s.variable) != (s.dtype, s.lanes):
            self.fail(f"{s.variable} is no variable of {s.lanes} lanes of {s.dtype}")
        held: Kind = POINTER if s.dtype == "ptr" else NUMBER if not s.lanes else vector(s.dtype, s.lanes)
        if isinstance(s, L.Set):
            self.need(s.value, held)
        else:
            self.make(s.to, held)

    def call(self, s: L.Call) -> None:
        for type_, name in s.inputs:
            if type_ in PARAMETERS:
                self.need(name, PARAMETERS[type_])
        if s.function.startswith("@$"):
            called = self.functions.get(s.function[2:])
            if called is None:
                self.fail(f"there is no function {s.function[2:]}")
            elif [t for t, _ in called.parameters] != [t for t, _ in s.inputs]:
                self.fail(f"{called.name} takes {[t for t, _ in called.parameters]}")
        else:
            self.need(s.function, POINTER)
        if s.to:
            self.make(s.to, NUMBER)


def _described(kind: Kind) -> str:
    if isinstance(kind, str):
        return f"a {kind}"
    return f"{kind[1]} lanes of {kind[0]} bytes" if kind[0] else f"a mask of {kind[1]} lanes"


Rule = tuple[list[tuple[str, Kind]], Kind | None]  # what a statement needs, and what it makes


def _op(s: L.Op) -> Rule:
    own, condition = vector(s.dtype, s.lanes), (0, s.lanes) if s.lanes else CONDITION
    if s.op == "select":
        return [(s.inputs[0], condition), *[(x, own) for x in s.inputs[1:]]], own
    return [(x, own) for x in s.inputs], condition if s.op[:5] in ("fcmp ", "icmp ") else own


def _memory(s: L.Load | L.Store) -> list[tuple[str, Kind]]:
    needs: list[tuple[str, Kind]] = [(s.pointer, POINTER), (s.offset, NUMBER)]
    if isinstance(s.stride, str):
        needs.append((s.stride, (8, s.lanes)))
    if s.mask is not None:
        needs.append((s.mask, (0, s.lanes)))
    return needs


def _position(s: L.Argument | L.Array) -> list[tuple[str, Kind]]:
    return [(s.position, NUMBER)] if isinstance(s.position, str) else []


RULES: Mapping[type, Any] = {
    L.Aligned: lambda s: ([(s.pointer, POINTER)], CONDITION),
    L.Apart: lambda s: ([(s.a, POINTER), (s.b, POINTER)], CONDITION),
    L.Argument: lambda s: (_position(s), NUMBER),
    L.Array: lambda s: (_position(s), POINTER),
    L.Entry: lambda s: ([(s.table, POINTER), (s.position, NUMBER)], POINTER),
    L.At: lambda s: ([(s.pointer, POINTER), (s.offset, NUMBER)], POINTER),
    L.Op: _op,
    L.Cast: lambda s: ([(s.a, vector(s.source, s.lanes))], vector(s.dtype, s.lanes)),
    L.Spread: lambda s: ([(s.scalar, INTEGER if s.dtype == "int64" else "element")], vector(s.dtype, s.lanes)),
    L.First: lambda s: ([(s.a, vector(s.dtype, s.lanes))], "element" if s.dtype != "bool" else CONDITION),
    L.Shuffle: lambda s: ([(x, vector(s.dtype, s.lanes)) for x in (s.a, s.b)], vector(s.dtype, s.lanes)),
    L.Below: lambda s: ([(s.limit, NUMBER)], (0, s.lanes)),
    L.Multiples: lambda s: ([(s.number, NUMBER)], (8, s.lanes)),
    L.AnyLane: lambda s: ([(s.a, (0, s.lanes))], CONDITION),
    L.Library: lambda s: (
        [(s.function, POINTER), *[(x, vector(s.dtype, s.lanes)) for x in s.inputs]],
        vector(s.dtype, s.lanes),
    ),
    L.Load: lambda s: (_memory(s), vector(s.dtype, s.lanes)),
    L.Single: lambda s: ([(s.pointer, POINTER), (s.offset, NUMBER)], vector(s.dtype, s.lanes)),
    L.Store: lambda s: ([(s.value, vector(s.dtype, s.lanes)), *_memory(s)], None),
    L.StoreFirst: lambda s: ([(s.value, vector(s.dtype, s.lanes)), (s.pointer, POINTER), (s.offset, NUMBER)], None),
    L.Fence: lambda s: ([], None),
    L.Prefetch: lambda s: ([(s.pointer, POINTER)], None),
}
