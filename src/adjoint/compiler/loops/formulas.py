"""What each elementwise primitive and reduction is in native code: a formula over an emitter.

A formula takes the emitter, the step's attributes, its type's dtype name, and its inputs as values. What needs no more than
operations of the emitter stands in the primitive's record (`native`), other formulas by the primitive's name in `LOWERED`. A
primitive that has none, or a dtype that its formula doesn't take, is left to NumPy.
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


def _simple(function: Callable[..., Value]) -> Formula:
    return lambda e, attributes, dtype, *inputs: function(e, *inputs)


def _arithmetic(floating: str, boolean: str | None) -> Formula:
    def formula(e: Emitter, attributes: Any, dtype: str, a: Value, b: Value) -> Value:
        if a.dtype == "bool":
            assert boolean is not None
            return e.operation(boolean, a, b)
        return getattr(e, floating)(a, b)  # type: ignore[no-any-return]

    return formula


def _compare(relation: str) -> Formula:
    return lambda e, attributes, dtype, a, b: e.compare(relation, a, b)


def _scale(e: Emitter, attributes: Any, dtype: str, a: Value, b: Value) -> Value:
    if a.kind != "f":
        return _arithmetic("multiply", "and")(e, attributes, dtype, a, b)
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


def _safe_divide(e: Emitter, attributes: Any, dtype: str, u: Value, b: Value) -> Value:
    return e.select(e.compare("eq", u, 0.0), 0.0, e.divide(u, b))


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


def _sign(e: Emitter, attributes: Any, dtype: str, x: Value) -> Value:
    if x.kind == "u":
        return e.select(e.compare("ne", x, 0), 1, e.constant(0, dtype))
    positive = e.select(e.compare("gt", x, 0), 1, e.constant(0, dtype))
    result = e.select(e.compare("lt", x, 0), -1, positive)
    return e.select(e.compare("uno", x, x), x, result) if x.kind == "f" else result


def _absolute(e: Emitter, attributes: Any, dtype: str, x: Value) -> Value:
    if x.kind == "f":
        return e.absolute(x)
    return e.select(e.compare("lt", x, 0), e.negative(x), x) if x.kind == "i" else x


def _relu(e: Emitter, attributes: Any, dtype: str, x: Value) -> Value:
    if x.dtype == "bool":
        return x
    return e.select(e.compare("le", x, 0), 0, x)  # NaN passes through


def _clip(e: Emitter, attributes: Any, dtype: str, x: Value, low: Value, high: Value) -> Value:
    return vector_math.minimum(e, vector_math.maximum(e, x, low), high)


def _huber(e: Emitter, attributes: Any, dtype: str, x: Value, limit: Value) -> Value:
    near = _clip(e, attributes, dtype, x, e.negative(limit), limit)
    return e.multiply(near, e.subtract(x, e.multiply(near, 0.5)))


def _truth(e: Emitter, x: Value) -> Value:
    return x if x.dtype == "bool" else e.compare("ne", x, 0)


def _logical(name: str) -> Formula:
    return lambda e, attributes, dtype, a, b: e.bitwise(name, _truth(e, a), _truth(e, b))


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


def _remainder(e: Emitter, attributes: Any, dtype: str, a: Value, b: Value) -> Value:
    """With the divisor's sign, as Python's; of integers by 0 it is 0."""
    if a.kind == "f":
        return power_math.remainder(e, a, b)
    _, rest = _divided(e, a, b)
    return e.select(_apart(e, rest, b), e.add(rest, b), rest) if a.kind == "i" else rest


def _floor_divide(e: Emitter, attributes: Any, dtype: str, a: Value, b: Value) -> Value:
    """The quotient rounded down, as Python's; of integers by 0 it is 0."""
    if a.kind == "f":
        return power_math.floor_divide(e, a, b)
    quotient, rest = _divided(e, a, b)
    if a.kind == "i":
        quotient = e.select(_apart(e, rest, b), e.subtract(quotient, 1), quotient)
        quotient = e.select(e.compare("eq", b, -1), e.negative(a), quotient)
    return e.select(e.compare("eq", b, 0), 0, quotient)


def _signbit(e: Emitter, attributes: Any, dtype: str, x: Value) -> Value:
    return e.compare("lt", e.bits(x), 0)


def _isfinite(e: Emitter, attributes: Any, dtype: str, x: Value) -> Value:
    return e.compare("lt", e.absolute(x), math.inf) if x.kind == "f" else e.constant(True, "bool")


def _isinf(e: Emitter, attributes: Any, dtype: str, x: Value) -> Value:
    return e.compare("eq", e.absolute(x), math.inf) if x.kind == "f" else e.constant(False, "bool")


def _isnan(e: Emitter, attributes: Any, dtype: str, x: Value) -> Value:
    return e.compare("uno", x, x) if x.kind == "f" else e.constant(False, "bool")


# Formulas of numbers, which truth values don't have.
OF_NUMBERS: dict[str, Formula] = {
    "subtract": _arithmetic("subtract", None),
    "negative": lambda e, attributes, dtype, x: e.negative(x),
    "sign": _sign,
    "clip": _clip,
    "huber": _huber,
    "less": _compare("lt"),
    "less_equal": _compare("le"),
    "greater": _compare("gt"),
    "greater_equal": _compare("ge"),
    "remainder": _remainder,
    "floor_divide": _floor_divide,
    "maximum": _simple(vector_math.maximum),
    "minimum": _simple(vector_math.minimum),
}

LOWERED: dict[str, Formula] = {
    "add": _arithmetic("add", "or"),
    "multiply": _arithmetic("multiply", "and"),
    "scale": _scale,
    "safe_divide": _safe_divide,
    "abs": _absolute,
    "signbit": _signbit,
    "power_constant": _power_constant,
    "relu": _relu,
    "logical_and": _logical("and"),
    "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
    "logical_not": lambda e, attributes, dtype, x: e.invert(_truth(e, x)),
    "isfinite": _isfinite,
    "isinf": _isinf,
    "isnan": _isnan,
    "astype": half_math.converted,
    **{
        name: _simple(function)
        for module in (vector_math, inverse_math, power_math, special_math)
        for name, function in module.FUNCTIONS.items()
    },
    **OF_NUMBERS,
}


def lowered(name: str) -> Formula | None:
    """The formula of a primitive for real numbers."""
    found = LOWERED.get(name)
    if found is None and name in PRIMITIVES and (native := PRIMITIVES[name].native) is not None:
        return _simple(native)
    return found


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
    """What a step makes of its inputs; a movement passes its one on."""
    dtype = step.type.dtype.name
    formula = formula_of(step.op.name, dtype, [x.dtype for x in inputs])
    return inputs[0] if formula is None else formula(e, step.attributes, dtype, *inputs)


def applied(e: Emitter, name: str, attributes: Any, dtype: str, *inputs: Value) -> Value:
    """What the formula of a primitive gives for real numbers."""
    formula = lowered(name)
    assert formula is not None
    return formula(e, attributes, dtype, *inputs)


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


def _combine_simple(operation: str) -> Callable[[Emitter, Value, Value], Value]:
    return lambda e, a, b: e.operation(operation, a, b)


REDUCTIONS: dict[str, tuple[Callable[[str], Any], Callable[[Emitter, Value, Value], Value]]] = {
    "sum": (lambda dtype: 0, lambda e, a, b: e.add(a, b)),
    "prod": (lambda dtype: 1, lambda e, a, b: e.multiply(a, b)),
    "max": (_lowest, vector_math.maximum),
    "min": (_highest, vector_math.minimum),
    "any": (lambda dtype: False, _combine_simple("or")),
    "all": (lambda dtype: True, _combine_simple("and")),
}


def reduces(name: str, result: str, source: str) -> bool:
    """Whether a reduction is lowered for these dtypes."""
    return name in REDUCTIONS and result in ITEMSIZE and source in ITEMSIZE and not (
        name in ("max", "min") and source == "bool"
    )  # fmt: skip
