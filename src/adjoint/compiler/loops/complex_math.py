"""Complex numbers in loops: two vectors, of real and of imaginary parts, and what is elementwise on them.

In memory the parts of a number lie side by side, as NumPy has them. `Emitter.load` takes them apart and `Emitter.store` puts them
together, so in between complex arithmetic is arithmetic of real vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.compiler.loops.build import Complex, Emitter, Value


def is_zero(e: Emitter, a: Complex) -> Value:
    return e.both(e.compare("eq", a.re, 0.0), e.compare("eq", a.im, 0.0))


def add(e: Emitter, a: Complex, b: Complex) -> Complex:
    return Complex(e.add(a.re, b.re), e.add(a.im, b.im), a.dtype)


def subtract(e: Emitter, a: Complex, b: Complex) -> Complex:
    return Complex(e.subtract(a.re, b.re), e.subtract(a.im, b.im), a.dtype)


def conjugate(e: Emitter, a: Complex) -> Complex:
    return Complex(a.re, e.negative(a.im), a.dtype)


def scaled(e: Emitter, a: Complex, by: float) -> Complex:
    """a times a number."""
    return a if by == 1 else Complex(e.multiply(a.re, by), e.multiply(a.im, by), a.dtype)


def multiply(e: Emitter, a: Complex, b: Complex) -> Complex:
    real = e.subtract(e.multiply(a.re, b.re), e.multiply(a.im, b.im))
    return Complex(real, e.add(e.multiply(a.re, b.im), e.multiply(a.im, b.re)), a.dtype)


def scale(e: Emitter, a: Complex, b: Complex) -> Complex:
    return e.choose_complex(e.either(is_zero(e, a), is_zero(e, b)), 0.0, multiply(e, a, b))


def divide(e: Emitter, a: Complex, b: Complex) -> Complex:
    """By Smith's rule (Comm. ACM 5 (1962), 435), as NumPy does: nothing overflows on the way."""
    flat = e.compare("ge", e.absolute(b.re), e.absolute(b.im))
    large, small = e.select(flat, b.re, b.im), e.select(flat, b.im, b.re)
    ratio = e.divide(small, large)
    scale = e.divide(1.0, e.add(large, e.multiply(small, ratio)))
    first, second = e.select(flat, a.re, a.im), e.select(flat, a.im, a.re)
    turn = e.subtract(second, e.multiply(first, ratio))
    real = e.multiply(e.add(first, e.multiply(second, ratio)), scale)
    found = Complex(real, e.multiply(e.select(flat, turn, e.negative(turn)), scale), a.dtype)
    nothing = e.absolute(b.re)
    return e.choose_complex(is_zero(e, b), Complex(e.divide(a.re, nothing), e.divide(a.im, nothing), a.dtype), found)


def safe_divide(e: Emitter, u: Complex, b: Complex) -> Complex:
    return e.choose_complex(is_zero(e, u), 0.0, divide(e, u, b))


def absolute(e: Emitter, a: Complex) -> Value:
    """The larger part by √(1 + (smaller / larger)²): neither overflows nor underflows."""
    x, y = e.absolute(a.re), e.absolute(a.im)
    bigger = e.compare("gt", y, x)
    large, small = e.select(bigger, y, x), e.select(bigger, x, y)
    ratio = e.select(e.compare("eq", small, 0.0), 0.0, e.divide(small, large))
    found = e.multiply(large, e.intrinsic("sqrt", e.fma(ratio, ratio, 1.0)))
    infinite = e.either(e.compare("eq", x, float("inf")), e.compare("eq", y, float("inf")))
    either = e.add(x, y)  # a NaN in one part
    return e.select(infinite, float("inf"), e.select(e.compare("uno", either, either), either, found))


def sign(e: Emitter, a: Complex) -> Complex:
    """The number by its absolute value; of an infinite part the sign, of two of them NaN."""
    size = absolute(e, a)
    parts, infinite = [], []
    for part in (a.re, a.im):
        ends = e.compare("eq", e.absolute(part), float("inf"))
        one = e.copysign(e.constant(1.0, part.dtype), part)
        parts.append(e.select(ends, one, e.divide(part, size)))
        infinite.append(ends)
    found = Complex(parts[0], parts[1], a.dtype)
    undefined = e.both(*infinite)
    found = e.choose_complex(undefined, complex(float("nan"), float("nan")), found)
    return e.choose_complex(is_zero(e, a), 0.0, found)


def _power_constant(e: Emitter, exponent: Any, dtype: str, a: Complex) -> Complex:
    square = multiply(e, a, a)
    return square if exponent == 2 else multiply(e, square, a)


FORMULAS: dict[str, Callable[..., Any]] = {
    "add": add, "subtract": subtract, "multiply": multiply, "scale": scale, "divide": divide, "safe_divide": safe_divide,
    "abs": absolute, "sign": sign, "conj": conjugate, "power_constant": _power_constant,  # 2 and 3
    "astype": lambda e, attributes, dtype, a: e.cast(a, dtype),
    "negative": lambda e, a: Complex(e.negative(a.re), e.negative(a.im), a.dtype),
    "real": lambda e, a: a.re,
    "imag": lambda e, a: a.im,
    "where": lambda e, c, a, b: e.choose_complex(c, a, b),
}  # fmt: skip
