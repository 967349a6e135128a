"""Numbers that remember how they follow from extents, and what was decided by them.

A function of extents is called once with a `Size` for each of those that vary. What it computes of them is noted line by line,
and so is each question that it asks of them (`n < 8`): the notes are a `Formula`, which gives the function's results for other
extents without calling it, or says that some question has another answer there. So a decision that depends on extents is a
condition of the result, wherever in the code it is made, and nobody has to list them.

Whatever needs the number itself (a text in which it stands, `range`, an array of NumPy, an operation that isn't among those
below) fixes it: the formula then holds for that number alone. Nothing can read it unnoticed, for a `Size` says that it is an
`int` and is none: functions in C must ask it for its value, too. It has no hash, since a table that doesn't find it would have
compared it with nothing, but where nothing is decided by that (`Sheet.hashing`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adjoint import shapes

Values = tuple[int, ...]


class Unfollowed(TypeError):
    """What is computed can't be followed in what it does with extents."""


class Sheet:
    """The notes on some extents. Each number on it has a name; a number computed twice is one."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.symbols: list[str] = []
        self.known: dict[Any, Any] = {}
        self.asked: set[Any] = set()
        self.types: dict[Any, list[Any]] = {}  # of arrays, by dtype and rank: see `graph.array_type`
        self.functions: dict[str, Callable[..., Any]] = {}  # that formulas call
        self.hashed = False  # whether its numbers have hashes now

    def __enter__(self) -> Sheet:
        shapes.following[0] += 1
        return self

    def __exit__(self, *exception: object) -> None:
        shapes.following[0] -= 1

    def symbol(self, value: int) -> Size:
        """An extent that varies."""
        name = f"s{len(self.symbols)}"
        self.symbols.append(name)
        return Size(value, name, self)

    def own(self, number: Any) -> None:
        """Raise AssertionError if a number stands on another sheet."""
        if isinstance(number, Following) and number.sheet is not self:
            raise AssertionError("two numbers follow from extents of different programs")

    @contextmanager
    def hashing(self) -> Iterator[None]:
        """Here tables only tell numbers apart: nothing is decided by one that isn't found, and one that is found was compared."""
        before, self.hashed = self.hashed, True
        try:
            yield
        finally:
            self.hashed = before

    def made(self, sign: str, value: Any, text: str) -> Any:
        """The number that an operation gives: its value, and how it is computed."""
        found = self.known.get(text)
        if found is None:
            name = f"t{len(self.known)}"
            self.lines.append(f"{name} = {text}")
            found = self.known[text] = (Size if type(value) is int else Ratio)(value, name, self)
        return found

    def called(self, function: Callable[..., int], x: Any) -> Any:
        """The number that a function of numbers and tuples of them gives, which formulas call, too."""
        self.functions[function.__name__] = function
        return self.made(function.__name__, function(plain(x)), f"{function.__name__}({self.written(x)})")

    def written(self, x: Any) -> str:
        """What makes a number, or a tuple."""
        if not isinstance(x, tuple):
            return _text(x)
        kind, inner = type(x), "".join([f"{self.written(one)}, " for one in x])
        if kind is tuple:
            return f"({inner})"
        self.functions[kind.__name__] = kind
        return f"{kind.__name__}({inner})"

    def ask(self, text: str, answer: bool) -> bool:
        """Note a question and its answer, which is given back."""
        if text not in self.asked:
            self.asked.add(text)
            self.lines.append(f"if {'not ' if answer else ''}({text}): return None")
        return answer

    def formula(self, results: Any) -> Formula:
        """How the results follow: numbers, and tuples and lists of them."""
        written = _Results()
        text = written.text(results)
        body = [f"({', '.join([*self.symbols, ''])}) = values", *self.lines, *written.lines(), f"return {text}"]
        lines = "".join([f"    {line}\n" for line in body])
        return Formula(f"def formula(values):\n{lines}", {**self.functions, **written.names})


class Formula:
    """Results as a function of the extents that vary: its text, and what this refers to."""

    def __init__(self, text: str, names: dict[str, Any]) -> None:
        self.text, self.names = text, names
        self.function: Callable[[Values], Any] | None = None

    def __reduce__(self) -> Any:
        return Formula, (self.text, self.names)

    def __str__(self) -> str:
        return self.text

    def __call__(self, values: Values) -> Any:
        """The results for other extents; None where some question has another answer."""
        if self.function is None:
            space = dict(self.names)
            exec(compile(self.text, "<formula of extents>", "exec"), space)
            self.function = space["formula"]
        return self.function(values)


LONG = 8  # numbers: longer tuples of them are picked from one of all that are needed, which compiles faster


class _Results:
    """What makes the results again. Tuples that are equal are one. `names` are what its text refers to."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.tuples: dict[tuple[str, ...], str] = {}
        self.made: list[str] = []
        self.places: dict[str, int] = {}  # of numbers that long tuples have

    def lines(self) -> list[str]:
        """What comes before the results."""
        return [f"v = ({', '.join(self.places)}, )", *self.made] if self.places else self.made

    def text(self, x: Any) -> str:
        if not isinstance(x, (tuple, list)):
            return _text(x)
        kind, inner = type(x), [self.text(one) for one in x]
        if kind in (tuple, list) and all([type(one) is int or isinstance(one, Following) for one in x]):
            return (
                self.flat(inner) if kind is tuple else f"[*{self.flat(inner)}]" if len(inner) > LONG else _list(inner)
            )
        if kind is list:
            return _list(inner)
        if kind is not tuple:
            self.names[kind.__name__] = kind
            return f"{kind.__name__}({', '.join(inner)})"
        return f"({', '.join(inner)},)" if x else "()"

    def flat(self, numbers: list[str]) -> str:
        """What makes a tuple of numbers."""
        if not numbers:
            return "()"
        key = tuple(numbers)
        found = self.tuples.get(key)
        if found is None:
            found = self.tuples[key] = f"u{len(self.tuples)}"
            if len(key) <= LONG:
                self.made.append(f"{found} = ({', '.join(key)},)")
            else:
                places = [self.places.setdefault(number, len(self.places)) for number in key]
                self.names[f"pick_{found}"] = operator.itemgetter(*places)
                self.made.append(f"{found} = pick_{found}(v)")
        return found


def _list(inner: list[str]) -> str:
    return f"[{', '.join(inner)}]"


def plain(x: Any) -> Any:
    """The number itself, of numbers, tuples and lists of them: nothing is noted."""
    if isinstance(x, (tuple, list)):
        return type(x)(map(plain, x)) if type(x) in (tuple, list) else type(x)(*map(plain, x))
    return x.value if isinstance(x, Following) else x


def occurs(n: Any) -> bool:
    """Whether a number isn't zero, for who writes code that does nothing where it is zero: so code for other numbers serves that,
    too, and only the lack of such code is a condition."""
    return (type(n) is Size and n.value != 0) or bool(n)


def smaller(a: Any, b: Any) -> Any:
    """The smaller of two numbers, without a question which one that is."""
    return _either("min", min, a, b)


def larger(a: Any, b: Any) -> Any:
    """The larger one."""
    return _either("max", max, a, b)


def _either(name: str, function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    one = a if isinstance(a, Following) else b
    if not isinstance(one, Following) or a is b:
        return function(a, b)
    one.sheet.own(a)
    one.sheet.own(b)
    return one.sheet.made(name, function(_of(a), _of(b)), f"{name}({_text(a)}, {_text(b)})")


def followed(function: Callable[..., int], x: Any) -> Any:
    """The number that a function of numbers and tuples of them gives: where these follow from extents, so does it."""
    sheet = next(_sheets(x), None)
    return function(x) if sheet is None else sheet.called(function, x)


def _sheets(x: Any) -> Iterator[Sheet]:
    """The sheets of all numbers that follow from extents, in tuples of tuples."""
    for one in x:
        if isinstance(one, tuple):
            yield from _sheets(one)
        elif isinstance(one, Following):
            yield one.sheet


def holds_sizes(x: Any) -> bool:
    """Whether a number that follows from extents is among these, or in tuples among them."""
    return any([holds_sizes(one) for one in x]) if isinstance(x, tuple) else type(x) is Size or type(x) is Ratio


def _text(x: Any) -> str:
    return x.name if isinstance(x, Following) else repr(x)


def _of(x: Any) -> Any:
    return x.value if isinstance(x, Following) else x


def _two(sign: str, compute: Callable[[Any, Any], Any], turned: bool = False) -> Callable[[Any, Any], Any]:
    """An operation of two numbers; `turned` if the second is the one whose method it is."""

    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        self.sheet.own(other)
        a, b = (other, self) if turned else (self, other)
        if type(b) is int:
            if b == 1 and sign in ("*", "//"):
                return a
            if b == 0 and sign in "+-":
                return a
        if type(a) is int and ((a == 1 and sign == "*") or (a == 0 and sign == "+")):
            return b
        return self.sheet.made(sign, compute(_of(a), _of(b)), f"{_text(a)} {sign} {_text(b)}")

    return method


def _asking(sign: str, compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    """A comparison."""

    def method(self: Any, other: Any) -> Any:
        if other is self:
            return sign in ("==", "<=", ">=")
        if not isinstance(other, (int, float)):
            return NotImplemented
        self.sheet.own(other)
        return self.sheet.ask(f"{self.name} {sign} {_text(other)}", compare(self.value, _of(other)))

    return method


def _fixing(name: str) -> Callable[..., Any]:
    """A method that needs the number itself."""

    def method(self: Any, *arguments: Any) -> Any:
        return getattr(self.fixed(), name)(*[x.fixed() if isinstance(x, Following) else x for x in arguments])

    return method


class Following:
    """A number that follows from extents."""

    __slots__ = ("name", "sheet", "value")
    kind: type = int

    def __init__(self, value: Any, name: str, sheet: Sheet) -> None:
        self.value = value
        self.name = name
        self.sheet = sheet

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What its value is, for whoever asks by `isinstance`."""
        return type(self).kind

    def fixed(self) -> Any:
        """The number itself, on the condition that it is that."""
        self.sheet.ask(f"{self.name} == {self.value!r}", True)
        return self.value

    def __bool__(self) -> bool:
        return self.sheet.ask(f"{self.name} != 0", self.value != 0)

    def __hash__(self) -> int:
        if not self.sheet.hashed:
            raise Unfollowed("a number that follows from extents has no hash")
        return hash(self.value)

    def __getattr__(self, name: str) -> Any:
        # reached for what this class doesn't define: `bit_length`, `is_integer`
        if name.startswith("__") or not hasattr(type(self).kind, name):
            raise AttributeError(f"{type(self).kind.__name__!r} object has no attribute {name!r}")
        return getattr(self.fixed(), name)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __neg__(self) -> Any:
        return self.sheet.made("-", -self.value, f"-{self.name}")

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.sheet.made("abs", abs(self.value), f"abs({self.name})")

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self


class Size(Following):
    """A whole number that follows from extents."""

    __slots__ = ()

    def __index__(self) -> int:
        found: int = self.fixed()
        return found


class Ratio(Following):
    """A number with a fraction that follows from extents."""

    __slots__ = ()
    kind = float


_TWO: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "add": ("+", operator.add),
    "sub": ("-", operator.sub),
    "mul": ("*", operator.mul),
    "floordiv": ("//", operator.floordiv),
    "mod": ("%", operator.mod),
    "truediv": ("/", operator.truediv),
}
_ASKING: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "lt": ("<", operator.lt),
    "le": ("<=", operator.le),
    "gt": (">", operator.gt),
    "ge": (">=", operator.ge),
    "eq": ("==", operator.eq),
    "ne": ("!=", operator.ne),
}
_FIXING = (
    "int str repr format float complex round trunc floor ceil pow rpow invert and rand or ror xor rxor lshift rlshift rshift "
    "rrshift"
)

for _kind in (Size, Ratio):
    for _name, (_sign, _function) in _TWO.items():
        setattr(_kind, f"__{_name}__", _two(_sign, _function))
        setattr(_kind, f"__r{_name}__", _two(_sign, _function, turned=True))
    for _name, (_sign, _function) in _ASKING.items():
        setattr(_kind, f"__{_name}__", _asking(_sign, _function))
    for _name in _FIXING.split():
        if hasattr(_kind.kind, f"__{_name}__"):
            setattr(_kind, f"__{_name}__", _fixing(f"__{_name}__"))
