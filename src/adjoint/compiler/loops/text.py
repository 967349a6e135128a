"""Loops for people: what is used once stands where it is used, addresses are elements of named arrays, numbers are written out.

    for i from 0 to 1000 by 16:
      v = x[i..+16] · 2.0
      y[i..+16] = v + 1.0

`x[i..+16]` are 16 elements side by side, with `by 3` three apart, with `if m` those where a mask is on; `x[i]` is one for all
lanes. Numbers that a kernel reads from its block of arguments are shown as they are for the unit at hand, and branches that
these decide are left out.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from adjoint._tuples import NamedTuple
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.matmul_tiles import LISTS
from adjoint.compiler.tables import Arguments, Function, Listed, Number, Shared, Start

COUNTERS = "ijklmnpqrstuvw"  # by depth
INLINE = 48  # characters of an address or number that is written out wherever it is used
LONGEST = 80  # of anything that has no line of its own
SIGNS = {
    "fadd": "+", "fsub": "-", "fmul": "·", "fdiv": "/", "add": "+", "sub": "-", "mul": "·", "and": "&", "or": "|", "xor": "^",
    "shl": "<<", "lshr": ">>>", "ashr": ">>", "udiv": "//", "urem": "%", "sdiv": "//", "srem": "%",
}  # fmt: skip
RELATIONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
COMPUTE: dict[str, Callable[[int, int], Any]] = {  # of numbers that are known
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "+": operator.add, "-": operator.sub, "·": operator.mul,
}  # fmt: skip
ASSOCIATIVE = frozenset("+·&|")
MEMORY = "memory"
HIDDEN = ("%table", "%own", "%args")  # which every function gets


class Text(NamedTuple):
    """What stands for a name: `sign` is the operator at its top, if there is one; `reads` the variables whose value of this
    moment it is, or `MEMORY`."""

    text: str
    sign: str = ""
    reads: frozenset[str] = frozenset()


class Place(NamedTuple):
    """A pointer: an array, and an element of it. `reads` is the variable that it is, if it is one."""

    array: str
    offset: Text
    reads: frozenset[str] = frozenset()


ZERO = Text("0")


def functions_text(
    functions: Iterable[L.Function], arguments: Arguments | None = None, names: Callable[[int], str] | None = None
) -> str:
    """All functions of a kernel, and the lists that it hands on. `names` gives the array behind each number of a place."""
    named = names or (lambda number: f"a{number}")
    written = [Writing(function, arguments, names) for function in functions]
    texts = [one.text() for one in written]
    kinds = {number: kind for one in written for number, kind in one.lists.items()}
    lists = [] if arguments is None else [_list_text(k, one, named, kinds) for k, one in enumerate(arguments.lists)]
    return "\n\n".join([*lists, *texts])


def _list_text(number: int, items: Iterable[Any], names: Callable[[int], str], kinds: Mapping[int, str]) -> str:
    """A list: what each entry is, if a kernel of `LISTS` goes through it, else in lines that end with functions."""
    words = [str(x.name if isinstance(x, Function) else names(x.root) if isinstance(x, Start) else x) for x in items]
    if number in kinds:
        return "\n".join([f"list{number}:", *_entries(iter(words), LISTS[kinds[number]], {}, "  ")])
    lines = [""]
    for word, x in zip(words, items, strict=True):
        lines[-1] += f" {word}"
        if isinstance(x, Function):
            lines.append("")
    return "\n  ".join([f"list{number}:", *[line.strip() for line in lines if line]])


def _entries(words: Iterator[str], entries: Sequence[Any], known: dict[str, str], indent: str) -> list[str]:
    """The words by what they are called, those that come repeatedly further in."""
    lines: list[str] = []
    line: list[str] = []
    for entry in entries:
        if isinstance(entry, str):
            known[entry] = next(words)
            line.append(f"{entry} {known[entry]}")
            continue
        lines += [indent + ", ".join(line)] * bool(line)
        line = []
        for _ in range(int(known[entry.times])):
            lines += _entries(words, entry.entries, known, indent + "  ")
    return [*lines, *[indent + ", ".join(line)] * bool(line)]


class Writing:
    """One function being written."""

    def __init__(self, function: L.Function, arguments: Arguments | None, names: Callable[[int], str] | None) -> None:
        self.function = function
        self.names = names or (lambda number: f"a{number}")
        self.numbers = {} if arguments is None else _values(arguments)
        self.uses = Counter(_used(function.body))
        self.left = Counter(self.uses)
        self.values: dict[str, Text] = {}
        self.places: dict[str, Place] = {}
        self.lists: dict[int, str] = {}  # through which kernels of `LISTS` go, by their numbers
        self.waiting: dict[str, Text] = {}  # read, and written where they are used unless that comes too late
        self.lines: list[str] = []
        self.depth = 0
        self.loops = 0
        self.made: dict[str, str] = {}  # names for people

    def text(self) -> str:
        parameters = ", ".join([name[1:] for _, name in self.function.parameters if name not in HIDDEN])
        self.lines.append(f"{self.function.name}({parameters}):")
        self.block(self.function.body)
        return "\n".join(self.lines)

    def out(self, text: str) -> None:
        self.lines.append("  " * (self.depth + 1) + text)

    def block(self, body: Iterable[Any]) -> None:
        for s in body:
            WRITE[s.__class__](self, s)
        self.settle(None)

    def name(self, to: str) -> str:
        found = self.made.get(to)
        if found is None:
            found = self.made[to] = f"v{len(self.made) + 1}" if to.startswith("%v") else to.lstrip("%@")
        return found

    # Values

    def of(self, name: str) -> Text:
        """What stands for a name or constant."""
        self.waiting.pop(name, None)
        found = self.values.get(name)
        if found is not None:
            return found
        if isinstance(name, L.Constant):
            return Text(_number(name.value))
        return Text(name if not name.startswith("%") else self.name(name))

    def let(self, to: str, text: Text, address: bool = False) -> None:
        """Note what a name stands for, in a line of its own if it is used several times, or long."""
        if len(text.text) <= LONGEST and (self.uses[to] <= 1 or (address and len(text.text) <= INLINE)):
            self.values[to] = text
            # What a loop only reads isn't to be read as if it were made in it again and again.
            if self.uses[to] and (text.reads or not address):
                self.waiting[to] = text
            return
        self.fix(to, text)

    def fix(self, to: str, text: Text) -> None:
        self.out(f"{self.name(to)} = {text.text}")
        self.values[to] = Text(self.name(to))

    def settle(self, changed: str | None) -> None:
        """Write what was read of a variable, or of memory, before it changes."""
        for to, text in list(self.waiting.items()):
            if changed is None or changed in text.reads:
                del self.waiting[to]
                self.fix(to, text)

    def combined(self, sign: str, a: Text, b: Text) -> Text:
        """Two operands with an operator between them."""
        reads = a.reads | b.reads
        if sign == "+" and a.text == "0" and not reads:
            return b
        if sign == "+" and b.text == "0" and not reads:
            return a
        if sign == "·" and b.text == "1" and not reads:
            return a
        same = sign in ASSOCIATIVE
        left = a.text if not a.sign or _binds(a.sign, sign) or (a.sign == sign and same) else f"({a.text})"
        right = b.text if not b.sign or _binds(b.sign, sign) else f"({b.text})"
        return Text(f"{left} {sign} {right}", sign, reads)

    def said(self, pattern: str, *names: str, sign: str = "") -> Text:
        """What stands for some names, in a pattern."""
        given = [self.of(x) for x in names]
        return Text(pattern.format(*[x.text for x in given]), sign, frozenset().union(*[x.reads for x in given]))

    def called(self, name: str, *inputs: str) -> Text:
        return self.said(f"{name}({', '.join(['{}'] * len(inputs))})", *inputs)

    # Addresses

    def place(self, pointer: str) -> Place:
        self.left[pointer] -= 1
        found = self.places.get(pointer)
        return found if found is not None else Place(self.name(pointer), ZERO)

    def where(self, pointer: str) -> str:
        """The element that a pointer leads to."""
        array, start, _ = self.place(pointer)
        return f"{array}[{start.text}]"

    def led_to(self, pointer: str) -> str:
        """A pointer."""
        array, start, _ = self.place(pointer)
        return array if start.text == "0" else f"{array} + {start.text}"

    def moved(self, variable: str) -> None:
        """Write the pointers that a variable has led to, and that are still to be used, before it changes."""
        for to, (array, offset, reads) in list(self.places.items()):
            if variable in reads and self.left[to] > 0:
                self.out(f"{self.name(to)} = {array}" + (f" + {offset.text}" if offset.text != "0" else ""))
                self.places[to] = Place(self.name(to), ZERO)

    def element(self, pointer: str, offset: str, lanes: int = 0, stride: Any = 1, mask: str | None = None) -> Text:
        array, start, reads = self.place(pointer)
        at = self.combined("+", start, self.of(offset))
        span = f"..+{lanes}" if lanes else ""
        apart = ""
        if lanes and stride != 1:
            apart = f" by {self.of(stride).text if isinstance(stride, str) else stride}"
        under = "" if mask is None else f" if {self.of(mask).text}"
        return Text(f"{array}[{at.text}{span}{apart}{under}]", "", at.reads | reads | {MEMORY})

    def lane(self, s: L.Lane) -> Text:
        number = self.of(s.number)
        return Text(f"{self.name(s.variable)}[{number.text}]", "", number.reads | {s.variable})


def _binds(inner: str, outer: str) -> bool:
    """Whether an operator binds more closely than the one around it."""
    ranks = {"·": 3, "/": 3, "//": 3, "%": 3, "+": 2, "-": 2, "<<": 1, ">>": 1, ">>>": 1, "&": 0, "|": 0, "^": 0}
    return ranks.get(inner, -1) > ranks.get(outer, -1)


def _number(value: Any) -> str:
    if isinstance(value, tuple):
        return f"first {sum(value)} lanes"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.9g}" if value != int(value or 0) or abs(value) > 1e6 else f"{value:.1f}"
    return str(value)


def _values(arguments: Arguments) -> dict[int, Any]:
    """What stands at each position of a unit's block."""
    return {
        position: arguments.numbers[key.number] if isinstance(key, Number) else key
        for key, position in arguments.positions.items()
    }


def _used(body: Iterable[Any]) -> list[str]:
    """The names that statements mention, as often as they do."""
    found: list[str] = []
    stack: list[Any] = [*body]
    while stack:
        s = stack.pop()
        if isinstance(s, str):
            if s.startswith("%"):
                found.append(s)
        elif isinstance(s, tuple):
            fields = getattr(s, "_fields", None)
            skip = {"to", "done"} if fields else set()
            stack += [x for name, x in zip(fields, s, strict=True) if name not in skip] if fields else s
    return found


# Statements --------------------------------------------------------------------------------------------------------------


def _relation(relation: str) -> str:
    return RELATIONS[relation if relation in RELATIONS else relation[1:]]


def _argument(w: Writing, s: L.Argument) -> None:
    if isinstance(s.position, str):
        w.let(s.to, Text(f"list[{w.of(s.position).text}]"))
        return
    found = w.numbers.get(s.position)
    if isinstance(found, Listed):
        w.values[s.to] = Text(f"list{found.number}")
    else:
        w.values[s.to] = Text(str(found)) if isinstance(found, int) else Text(f"argument{s.position}")


def _array(w: Writing, s: L.Array) -> None:
    what = s.what
    if isinstance(s.position, str):
        name = f"list[{w.of(s.position).text}]"
    elif isinstance(what, Start):
        name = w.names(what.root)
    elif isinstance(what, Function):
        name = what.name if isinstance(what.name, str) else str(what.name)
    elif isinstance(what, Shared):
        name = f"<{what.purpose}>"
    else:
        name = type(what).__name__.lower()
    w.places[s.to] = Place(name, ZERO)


def _entry(w: Writing, s: L.Entry) -> None:
    name = "scratch" if s.table == "%own" and s.position == "0" else f"{s.table[1:]}{w.of(s.position).text}"
    w.places[s.to] = Place(name, ZERO)


def _at(w: Writing, s: L.At) -> None:
    array, start, reads = w.place(s.pointer)
    w.places[s.to] = Place(array, w.combined("+", start, w.of(s.offset)), reads)


def _op(w: Writing, s: L.Op) -> None:
    op, *flags = s.op.split()
    if op == "select":
        w.let(s.to, w.said("({1} if {0} else {2})", *s.inputs))
        return
    number, given = not s.lanes, [w.of(x) for x in s.inputs]
    (a, *_), known = given, number and all([x.text.lstrip("-").isdigit() for x in given])
    if op == "fneg":
        found = Text(f"-{a.text}" if not a.sign else f"-({a.text})", "", a.reads)
    elif op.startswith("llvm."):
        found = w.called("min" if number else op[5:], *s.inputs)
    elif flags == ["uno"]:
        found = w.said("isnan({})" if a.text == given[1].text else "isnan({}, {})", *s.inputs)
    elif op.endswith("cmp"):
        sign = _relation(flags[0])
        text = str(COMPUTE[sign](*[int(x.text) for x in given])) if known else f"{a.text} {sign} {given[1].text}"
        found = Text(text, "test") if number else w.said(f"({{}} {sign} {{}})", *s.inputs)
    elif s.dtype == "i1":
        found, number = w.said("{} and {}", *s.inputs, sign="test"), False
    elif known and SIGNS[op] in COMPUTE:
        found = Text(str(COMPUTE[SIGNS[op]](*[int(x.text) for x in given])))
    else:
        found = w.combined(SIGNS[op], *given)
    w.let(s.to, found, number)


def _shuffle(w: Writing, s: L.Shuffle) -> None:
    by, whole = s.order[0], s.b == "poison"
    turned = whole and all(k == (n + by) % s.lanes for n, k in enumerate(s.order))
    order = by if turned else s.order
    w.let(s.to, w.said(f"rotate({{}}, {order})", s.a) if whole else w.said(f"shuffle({{}}, {{}}, {order})", s.a, s.b))


def _store(w: Writing, s: L.Store) -> None:
    value, where = w.of(s.value), w.element(s.pointer, s.offset, s.lanes, s.stride, s.mask)
    w.settle(MEMORY)
    w.out(f"{where.text} = {value.text}{'  (streamed)' if s.streamed else ''}")


def _store_first(w: Writing, s: L.StoreFirst) -> None:
    value, where = w.of(s.value), w.element(s.pointer, s.offset)
    w.settle(MEMORY)
    w.out(f"{where.text} = {value.text}" if isinstance(s.value, L.Constant) else f"{where.text} = first({value.text})")


def _variable(w: Writing, s: L.Variable) -> None:
    w.made[s.to] = f"p{s.to[2:]}" if s.dtype == "ptr" else f"s{s.to[2:]}"


def _get(w: Writing, s: L.Get) -> None:
    if s.dtype == "ptr":
        w.places[s.to] = Place(w.name(s.variable), ZERO, frozenset([s.variable]))
        return
    w.let(s.to, Text(w.name(s.variable), "", frozenset([s.variable])))


def _set(w: Writing, s: L.Set) -> None:
    value = w.led_to(s.value) if s.dtype == "ptr" else w.of(s.value).text
    w.settle(s.variable)
    if s.dtype == "ptr":
        w.moved(s.variable)
    w.out(f"{w.name(s.variable)} = {value}")


def _nested(w: Writing, head: str, body: Iterable[Any]) -> None:
    w.settle(None)
    w.out(head)
    w.depth += 1
    w.block(body)
    w.depth -= 1


def _repeated(w: Writing, counter: str, bounds: str, body: Iterable[Any]) -> None:
    w.made[counter] = COUNTERS[min(w.loops, len(COUNTERS) - 1)]
    w.loops += 1
    _nested(w, f"for {w.name(counter)} from {bounds}:", body)
    w.loops -= 1


def _for(w: Writing, s: L.For) -> None:
    start, stop, step = [w.of(x).text for x in (s.start, s.stop, s.step)]
    _repeated(w, s.to, f"{start} to {stop}{f' by {step}' if step != '1' else ''}", s.body)


def _when(w: Writing, s: L.When) -> None:
    condition = w.of(s.condition).text
    if condition == "True":
        w.settle(None)
        w.block(s.body)
    elif condition != "False":
        _nested(w, f"if {condition}:", s.body)


def _repeat(w: Writing, s: L.Repeat) -> None:
    _repeated(w, s.to, f"0 to {w.of(s.limit).text}, maybe never", s.body)


def _leave(w: Writing, s: L.Leave) -> None:
    condition = w.of(s.condition)
    w.settle(None)
    w.out(f"leave unless {condition.text}")


def _call(w: Writing, s: L.Call) -> None:
    function = s.function[2:] if s.function.startswith("@$") else w.place(s.function).array
    given = []
    for type_, x in s.inputs:
        if type_.startswith("ptr"):
            if x not in HIDDEN:
                given.append(w.led_to(x))
        else:
            given.append(w.of(x).text)
    kind = function.partition("_")[0]
    if kind in LISTS:
        w.lists[int(given[0].removeprefix("list"))] = kind
    w.settle(MEMORY)
    made = f"{w.name(s.to)} = " if s.to else ""
    w.out(f"{made}{function}({', '.join(given)})")


WRITE: Mapping[type, Callable[[Writing, Any], None]] = {
    L.Argument: _argument, L.Array: _array, L.Entry: _entry, L.At: _at, L.Op: _op,
    L.Shuffle: _shuffle, L.Store: _store, L.StoreFirst: _store_first, L.Variable: _variable, L.Get: _get, L.Set: _set,
    L.For: _for, L.When: _when, L.Call: _call, L.Repeat: _repeat, L.Leave: _leave,
    L.Aligned: lambda w, s: w.let(s.to, Text(f"{w.where(s.pointer)} begins a line of the caches", "test")),
    L.Apart: lambda w, s: w.let(s.to, Text(f"{w.where(s.a)} and {w.where(s.b)} lie apart", "test")),
    L.Below: lambda w, s: w.values.update({s.to: w.said("first {} lanes", s.limit)}),
    L.Multiples: lambda w, s: w.values.update({s.to: w.of(s.number)}),
    L.Prefetch: lambda w, s: w.out(f"prefetch {w.where(s.pointer)}"),
    L.Cast: lambda w, s: w.let(s.to, w.of(s.a) if not s.lanes else w.called("bits" if s.op == "bitcast" else s.dtype, s.a)),
    L.Spread: lambda w, s: w.let(s.to, w.of(s.scalar)),
    L.First: lambda w, s: w.let(s.to, w.called("first", s.a)),
    L.AnyLane: lambda w, s: w.let(s.to, w.called("any", s.a)),
    L.Library: lambda w, s: w.let(s.to, w.called(s.name, *s.inputs)),
    L.Load: lambda w, s: w.let(s.to, w.element(s.pointer, s.offset, s.lanes, s.stride, s.mask)),
    L.Single: lambda w, s: w.let(s.to, w.element(s.pointer, s.offset)),
    L.Lane: lambda w, s: w.let(s.to, w.lane(s)),
    L.Fence: lambda w, s: w.out("fence"),
}  # fmt: skip
