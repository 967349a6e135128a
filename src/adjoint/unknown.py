"""Python numbers whose value is known only when a compiled function runs: learning rates, step counts, arguments.

While a function is traced an `Unknown` stands for such a number. Arithmetic on it is written down in a `Ledger` as lines of
Python, which the compiled function runs with the numbers of its call: so they are computed as they always are, in Python's
double precision. Where Python needs to know (`if lr > 0.1`, `math.sqrt(lr)`) the trace's own number answers, and the answer
becomes a condition: another answer in a later call means that the function is traced anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from adjoint._sources import run_source

__all__ = ["Ledger", "Unknown"]


class Ledger:
    """The arithmetic of one trace. Inputs are `c[0], c[1], ...`, intermediate results `t0, t1, ...`."""

    def __init__(self) -> None:
        self.lines: dict[str, str] = {}  # expression -> the name of its result
        self.conditions: dict[str, None] = {}
        self.about: dict[str, Sequence[int]] = {}  # the inputs of a condition in which they aren't written
        self.constants: list[Any] = []
        self.inputs = 0

    def new_input(self, value: float) -> Unknown:
        """An unknown for the next input, which is `value` in this trace."""
        self.inputs += 1
        return Unknown(self, value, f"c[{self.inputs - 1}]")

    def new_inputs(self, values: Sequence[int]) -> Unknown:
        """One unknown for several inputs, which are the same number, on the condition that they stay so."""
        places = range(self.inputs, self.inputs + len(values))
        self.inputs += len(values)
        self.constants.append(itemgetter(*places))
        condition = f"len({{*k[{len(self.constants) - 1}](c)}}) == 1"
        self.require(condition)
        self.about[condition] = places
        return Unknown(self, values[0], f"c[{places[0]}]")

    def result(self, value: float, expression: str) -> Unknown:
        """An unknown computed from others."""
        name = self.lines.setdefault(expression, f"t{len(self.lines)}")
        return Unknown(self, value, name)

    def require(self, condition: str) -> None:
        """Note what must hold for the trace to be right."""
        self.conditions.setdefault(condition)

    def literal(self, value: Any) -> str:
        """A known number in an expression."""
        if type(value) in (int, float) and value - value == 0:  # finite: Python writes it exactly
            return f"({value!r})"
        self.constants.append(value)
        return f"k[{len(self.constants) - 1}]"

    def broken(self, values: list[Any], labels: list[str]) -> str:
        """The first condition that doesn't hold for these inputs, in words."""
        known: dict[str, Any] = {"k": self.constants, "c": values}
        try:
            for expression, name in self.lines.items():
                exec(f"{name} = {expression}", known)
            for condition in self.conditions:
                if not eval(condition, known):
                    named = [k for k in range(self.inputs) if f"c[{k}]" in condition]
                    among = named or self.about.get(condition) or range(self.inputs)
                    return " and ".join(dict.fromkeys([labels[k] for k in among]))
        except ArithmeticError:
            pass
        return "a number"

    def function(self, wanted: list[Any]) -> Callable[[list[Any]], list[Any] | None]:
        """A function from the inputs to the wanted numbers, unknown or not; None where a condition doesn't hold."""
        # what is known stays out of the text, so that calls of other lengths have the same one
        known = [x for x in wanted if type(x) is not Unknown]
        places = iter(range(len(known)))
        results = [x.name if type(x) is Unknown else f"w[{next(places)}]" for x in wanted]
        body = [f"    {name} = {expression}" for expression, name in self.lines.items()]
        if self.conditions:
            body.append(f"    if not ({' and '.join(self.conditions)}): return None")
        source = "\n".join(["def numbers(c):", *body, f"    return [{', '.join(results)}]"])
        namespace: dict[str, Any] = {"k": self.constants, "w": known}
        run_source(source, namespace)
        found: Callable[[list[Any]], list[Any] | None] = namespace["numbers"]
        return found


class Unknown:
    """A number that the compiled function reads anew in each call. `value` is what it is in this trace."""

    __slots__ = ("ledger", "name", "value")

    def __init__(self, ledger: Ledger, value: Any, name: str) -> None:
        self.ledger = ledger
        self.value = value
        self.name = name

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The type of its value, so that `isinstance(lr, float)` says what it says in a call that isn't traced."""
        return type(self.value)

    def __getattr__(self, name: str) -> Any:
        # reached for what this class doesn't define: `is_integer`, `hex`
        if name.startswith("__") or not hasattr(type(self.value), name):
            raise AttributeError(f"{type(self.value).__name__!r} object has no attribute {name!r}")
        return getattr(self.known(), name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.known(), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        # NumPy computes at once
        if any(hasattr(x, "backward") for x in inputs):
            return NotImplemented
        return getattr(ufunc, method)(*[x.known() if type(x) is Unknown else x for x in inputs], **keywords)

    @property
    def real(self) -> Unknown:
        """The number itself."""
        return self

    @property
    def imag(self) -> float:
        """Always 0."""
        return 0.0

    def known(self) -> Any:
        """Its value, on the condition that it stays the same."""
        # written so that NaN equals itself, and 0.0 not -0.0
        literal = self.ledger.literal(self.value)
        same = f"{self.name} == {literal}"
        if self.value == 0:
            same += f" and str({self.name}) == {str(self.value)!r}"
        self.ledger.require(f"({same} or {self.name} != {self.name} and {literal} != {literal})")
        return self.value

    def __bool__(self) -> bool:
        truth = bool(self.value)
        self.ledger.require(self.name if truth else f"not {self.name}")
        return truth

    def __float__(self) -> float:
        return float(self.known())

    def __int__(self) -> int:
        return int(self.known())

    def __index__(self) -> int:
        if not isinstance(self.value, int):
            raise TypeError(f"a float can't be an index: {self.value}")
        return int(self.known())

    def __complex__(self) -> complex:
        return complex(self.known())

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __trunc__(self) -> int:
        return int(self.known())

    def __copy__(self) -> Unknown:
        return self  # as a float's copy is

    def __deepcopy__(self, memo: Any) -> Unknown:
        return self

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.known(), digits)

    def __neg__(self) -> Unknown:
        return self.ledger.result(-self.value, f"-{self.name}")

    def __pos__(self) -> Unknown:
        return self

    def __abs__(self) -> Unknown:
        return self.ledger.result(abs(self.value), f"abs({self.name})")

    # Text and tables are made of the value: another one gives another text.

    def __hash__(self) -> int:
        return hash(self.known())

    def __format__(self, spec: str) -> str:
        return format(self.known(), spec)

    def __repr__(self) -> str:
        return repr(self.known())


def _binary(symbol: str, compute: Callable[[Any, Any], Any], reflected: bool) -> Any:
    def method(self: Unknown, other: Any) -> Any:
        if type(other) is Unknown:
            value, name = other.value, other.name
        elif isinstance(other, (int, float)):
            value, name = other, self.ledger.literal(other)
        elif isinstance(other, (complex, np.ndarray, np.generic)):  # computed at once
            return compute(other, self.known()) if reflected else compute(self.known(), other)
        else:
            return NotImplemented
        a, b = ((value, name), (self.value, self.name)) if reflected else ((self.value, self.name), (value, name))
        return self.ledger.result(compute(a[0], b[0]), f"{a[1]} {symbol} {b[1]}")

    return method


def _comparison(symbol: str, compute: Callable[[Any, Any], Any]) -> Any:
    def method(self: Unknown, other: Any) -> Any:
        if type(other) is Unknown:
            value, name = other.value, other.name
        elif isinstance(other, (int, float)):
            value, name = other, self.ledger.literal(other)
        else:
            return NotImplemented
        truth = bool(compute(self.value, value))
        self.ledger.require(f"{'' if truth else 'not '}({self.name} {symbol} {name})")
        return truth

    return method


_ARITHMETIC: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "add": ("+", lambda a, b: a + b),
    "sub": ("-", lambda a, b: a - b),
    "mul": ("*", lambda a, b: a * b),
    "truediv": ("/", lambda a, b: a / b),
    "floordiv": ("//", lambda a, b: a // b),
    "mod": ("%", lambda a, b: a % b),
    "pow": ("**", lambda a, b: a**b),
}
_COMPARISONS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "lt": ("<", lambda a, b: a < b),
    "le": ("<=", lambda a, b: a <= b),
    "gt": (">", lambda a, b: a > b),
    "ge": (">=", lambda a, b: a >= b),
    "eq": ("==", lambda a, b: a == b),
    "ne": ("!=", lambda a, b: a != b),
}
for _name, (_symbol, _compute) in _ARITHMETIC.items():
    setattr(Unknown, f"__{_name}__", _binary(_symbol, _compute, reflected=False))
    setattr(Unknown, f"__r{_name}__", _binary(_symbol, _compute, reflected=True))
for _name, (_symbol, _compute) in _COMPARISONS.items():
    setattr(Unknown, f"__{_name}__", _comparison(_symbol, _compute))
