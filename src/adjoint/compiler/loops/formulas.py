"""What each elementwise primitive and reduction is in native code: a formula over an emitter.

A formula takes the emitter and its inputs as values. What needs no more than operations of the emitter stands in the
primitive's record (`native`), other formulas by the primitive's name in `LOWERED`; those in `KNOWING` are told the step's
attributes and its type's dtype name, too. A primitive that has none, or a dtype that its formula doesn't take, is left to NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from adjoint.compiler.loops import complex_math, half_math, inverse_math, power_math, special_math, vector_math
from adjoint.compiler.loops import ir as L
from adjoint.compiler.loops.build import BYTES, HALVES, ITEMSIZE, Emitter, Value
from adjoint.graph import PRIMITIVES
from adjoint.plan.plan import Step
from adjoint.runtime.llvm import has_fma

Formula = Callable[..., Value]


def _multiply(e: Emitter, a: Value, b: Value) -> Value:
    return e.both(a, b) if a.dtype == "bool" else e.multiply(a, b)


def _scale(e: Emitter, a: Value, b: Value) -> Value:
    if a.kind != "f":
        return _multiply(e, a, b)
    if e.lanes == 1 and (_is_ordinary(e, a) or _is_ordinary(e, b)) and has_fma():
        return scaled_plainly(e, a, b)
    # processors with masks compare under one, and multiply under what that gives
    alive = e.both(e.compare("ne", a, 0.0), e.compare("ne", b, 0.0))
    return e.select(alive, e.multiply(a, b), 0.0)


def _is_ordinary(e: Emitter, a: Value) -> bool:
    """Whether a number is known to be finite and not zero."""
    if isinstance(a.name, L.Constant):
        return is_ordinary(a.name.value)
    return a.name in e.ordinary


def is_ordinary(x: float) -> bool:
    """Whether a number is finite and not zero."""
    return x != 0 and math.isfinite(x)


def is_plain(e: Emitter, b: Value) -> Value:
    """Whether a number is finite and not zero."""
    return e.both(e.compare("lt", e.absolute(b), math.inf), e.compare("ne", b, 0.0))


def scaled_plainly(e: Emitter, a: Value, b: Value) -> Value:
    """`scale` where one of both is finite and not zero, every bit as by its own formula: adding zero to an exact product makes
    -0 to 0, which `scale` gives where the other is zero, and changes nothing else, not even -0 where a product is too small."""
    return e.fma(a, b, 0.0)


def _power_constant(e: Emitter, exponent: Any, dtype: str, x: Value) -> Value:
    if exponent in (2, 3):
        square = e.multiply(x, x)
        return square if exponent == 2 else e.multiply(square, x)
    if x.kind != "f":
        result = e.constant(1, dtype)
        for _ in range(int(exponent)):
            result = e.multiply(result, x)
        return result
    if exponent == -1:
        return e.divide(1.0, x)
    if exponent == 0:
        return e.constant(1.0, dtype)
    if exponent == 0.5:  # unlike the root, the power of -inf is inf, and that of -0 is 0
        root = e.intrinsic("sqrt", x)
        root = e.select(e.compare("eq", x, 0.0), 0.0, root)
        return e.select(e.compare("eq", x, -math.inf), math.inf, root)
    if float(exponent).is_integer() and 0 < exponent <= 4:
        square = e.multiply(x, x)
        return e.multiply(square, square)
    return power_math.power(e, x, e.constant(exponent, dtype))


def _sign(e: Emitter, x: Value) -> Value:
    if x.kind == "u":
        return e.select(e.compare("ne", x, 0), 1, e.constant(0, x.dtype))
    positive = e.select(e.compare("gt", x, 0), 1, e.constant(0, x.dtype))
    result = e.select(e.compare("lt", x, 0), -1, positive)
    return e.select(e.compare("uno", x, x), x, result) if x.kind == "f" else result


def _absolute(e: Emitter, x: Value) -> Value:
    if x.kind == "f":
        return e.absolute(x)
    return e.select(e.compare("lt", x, 0), e.negative(x), x) if x.kind == "i" else x


def _clip(e: Emitter, x: Value, low: Value, high: Value) -> Value:
    return vector_math.minimum(e, vector_math.maximum(e, x, low), high)


def _huber(e: Emitter, x: Value, limit: Value) -> Value:
    near = _clip(e, x, e.negative(limit), limit)
    return e.multiply(near, e.subtract(x, e.multiply(near, 0.5)))


def _truth(e: Emitter, x: Value) -> Value:
    return x if x.dtype == "bool" else e.compare("ne", x, 0)


def _logical(name: str) -> Formula:
    return lambda e, a, b: e.bitwise(name, _truth(e, a), _truth(e, b))


def _divided(e: Emitter, a: Value, b: Value) -> tuple[Value, Value]:
    """The quotient and remainder of integers towards zero, of a 1 in the place of divisors that processors refuse: 0 and -1."""
    if b.kind != "i":
        by = e.select(e.compare("eq", b, 0), 1, b)
        return e.operation("udiv", a, by), e.operation("urem", a, by)
    by = e.select(e.either(e.compare("eq", b, 0), e.compare("eq", b, -1)), 1, b)
    return e.operation("sdiv", a, by), e.operation("srem", a, by)


def _apart(e: Emitter, rest: Value, b: Value) -> Value:
    """Whether a remainder towards zero isn't zero, and has another sign than the divisor."""
    return e.both(e.compare("ne", rest, 0), e.bitwise("xor", e.compare("lt", rest, 0), e.compare("lt", b, 0)))


def _remainder(e: Emitter, a: Value, b: Value) -> Value:
    """With the divisor's sign, as Python's; of integers by 0 it is 0."""
    if a.kind == "f":
        return power_math.remainder(e, a, b)
    _, rest = _divided(e, a, b)
    return e.select(_apart(e, rest, b), e.add(rest, b), rest) if a.kind == "i" else rest


def _floor_divide(e: Emitter, a: Value, b: Value) -> Value:
    """The quotient rounded down, as Python's; of integers by 0 it is 0."""
    if a.kind == "f":
        return power_math.floor_divide(e, a, b)
    quotient, rest = _divided(e, a, b)
    if a.kind == "i":
        quotient = e.select(_apart(e, rest, b), e.subtract(quotient, 1), quotient)
        quotient = e.select(e.compare("eq", b, -1), e.negative(a), quotient)
    return e.select(e.compare("eq", b, 0), 0, quotient)


def _of_floats(formula: Formula, otherwise: bool) -> Formula:
    """A question that has one answer for all numbers but floats."""
    return lambda e, x: formula(e, x) if x.kind == "f" else e.constant(otherwise, "bool")


# Formulas of numbers, which truth values don't have.
OF_NUMBERS: dict[str, Formula] = {
    "subtract": lambda e, a, b: e.subtract(a, b),
    "negative": lambda e, x: e.negative(x),
    "sign": _sign,
    "clip": _clip,
    "huber": _huber,
    "less": lambda e, a, b: e.compare("lt", a, b),
    "less_equal": lambda e, a, b: e.compare("le", a, b),
    "greater": lambda e, a, b: e.compare("gt", a, b),
    "greater_equal": lambda e, a, b: e.compare("ge", a, b),
    "remainder": _remainder,
    "floor_divide": _floor_divide,
    "maximum": vector_math.maximum,
    "minimum": vector_math.minimum,
}
KNOWING: dict[str, Formula] = {
    "power_constant": _power_constant,
    "astype": half_math.converted,
}
LOWERED: dict[str, Formula] = {
    "add": lambda e, a, b: e.either(a, b) if a.dtype == "bool" else e.add(a, b),
    "multiply": _multiply,
    "scale": _scale,
    "safe_divide": lambda e, u, b: e.select(e.compare("eq", u, 0.0), 0.0, e.divide(u, b)),
    "abs": _absolute,
    "signbit": lambda e, x: e.compare("lt", e.bits(x), 0),
    "relu": lambda e, x: x if x.dtype == "bool" else e.select(e.compare("le", x, 0), 0, x),  # NaN passes through
    "logical_and": _logical("and"),
    "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
    "logical_not": lambda e, x: e.invert(_truth(e, x)),
    "isfinite": _of_floats(lambda e, x: e.compare("lt", e.absolute(x), math.inf), otherwise=True),
    "isinf": _of_floats(lambda e, x: e.compare("eq", e.absolute(x), math.inf), otherwise=False),
    "isnan": _of_floats(lambda e, x: e.compare("uno", x, x), otherwise=False),
    **vector_math.FUNCTIONS, **inverse_math.FUNCTIONS, **power_math.FUNCTIONS, **special_math.FUNCTIONS,
    **KNOWING, **OF_NUMBERS,
}  # fmt: skip


def lowered(name: str) -> Formula | None:
    """The formula of a primitive for real numbers."""
    found = LOWERED.get(name)
    return PRIMITIVES[name].native if found is None and name in PRIMITIVES else found


def has_formula(name: str) -> bool:
    """Whether a primitive has a formula, for numbers of some dtype."""
    return name in complex_math.FORMULAS or lowered(name) is not None


def is_complex(result: str, inputs: Iterable[str]) -> bool:
    """Whether complex numbers are among the dtypes of an operation."""
    return result[0] == "c" or any([d[0] == "c" for d in inputs])


def formula_of(name: str, result: str, inputs: Iterable[str]) -> Formula | None:
    """The formula of a primitive for dtypes; None where it is a movement, which passes its input on."""
    return complex_math.FORMULAS.get(name) if is_complex(result, inputs) else lowered(name)


def computed(e: Emitter, step: Step, inputs: Sequence[Value]) -> Value:
    """What a step makes of its inputs."""
    return applied(e, step.op.name, step.attributes, step.type.dtype.name, *inputs)


def applied(e: Emitter, name: str, attributes: Any, dtype: str, *inputs: Value) -> Value:
    """What a primitive makes of its inputs; a movement passes its one on."""
    formula = formula_of(name, dtype, [x.dtype for x in inputs])
    if formula is None:
        return inputs[0]
    return formula(e, attributes, dtype, *inputs) if name in KNOWING else formula(e, *inputs)


def is_lowered(name: str, attributes: Any, result: str, inputs: Sequence[str]) -> bool:
    """Whether a primitive has a formula for these dtypes (names)."""
    if not HALVES.isdisjoint((result, *inputs)):
        chosen = name == "where" and [*inputs] == ["bool", result, result]
        return chosen or (name == "astype" and "float32" in (result, *inputs))
    if is_complex(result, inputs):
        return name in complex_math.FORMULAS and all(d in BYTES for d in (result, *inputs)) and not (
            (name == "astype" and result[0] in "iu") or (name == "power_constant" and attributes not in (2, 3))
        )  # fmt: skip
    if lowered(name) is None or result not in ITEMSIZE or not ITEMSIZE.keys() >= set(inputs):
        return False
    if name in ("add", "multiply", "scale"):
        return True
    if name == "astype":
        return not inputs[0].startswith("float") or result in ("float32", "float64", "int32", "int64", "bool")
    if name == "power":
        return result.startswith("float")
    if name == "polygamma":
        return result.startswith("float") and attributes == 1
    if name == "power_constant" and not result.startswith("float"):
        return isinstance(exponent := attributes, int) and 0 <= exponent <= 8
    return inputs[0] != "bool" or name not in OF_NUMBERS


# Reductions: what to start from, and how two partial results combine ---------------------------------------------------


def _lowest(dtype: str) -> Any:
    if dtype.startswith("float"):
        return -math.inf
    return -(1 << (8 * ITEMSIZE[dtype] - 1)) if dtype.startswith("int") else 0


def _highest(dtype: str) -> Any:
    if dtype.startswith("float"):
        return math.inf
    return (1 << (8 * ITEMSIZE[dtype] - dtype.startswith("int"))) - 1


REDUCTIONS: dict[str, tuple[Callable[[str], Any], Callable[[Emitter, Value, Value], Value]]] = {
    "sum": (lambda dtype: 0, lambda e, a, b: e.add(a, b)),
    "prod": (lambda dtype: 1, lambda e, a, b: e.multiply(a, b)),
    "max": (_lowest, vector_math.maximum),
    "min": (_highest, vector_math.minimum),
    "any": (lambda dtype: False, lambda e, a, b: e.either(a, b)),
    "all": (lambda dtype: True, lambda e, a, b: e.both(a, b)),
}


def reduces(name: str, result: str, source: str) -> bool:
    """Whether a reduction is lowered for these dtypes."""
    return name in REDUCTIONS and result in ITEMSIZE and source in ITEMSIZE and not (
        name in ("max", "min") and source == "bool"
    )  # fmt: skip
