"""Numbers of 16 bits, which are stored, moved and converted, nothing else: registers hold their bits."""

from __future__ import annotations

from typing import Any

from adjoint.compiler.loops.build import HALVES, Emitter, Half, Value

MANTISSA = {"float16": 10, "bfloat16": 7}
INFINITY = 0x7F800000


def converted(e: Emitter, attributes: Any, dtype: str, x: Any) -> Any:
    """NumPy's conversion, from or to numbers of 16 bits by way of float32."""
    if isinstance(x, Half):
        return widened(e, x)
    return Half(e.cast(narrowed(e, x, dtype), "uint16"), dtype) if dtype in HALVES else e.cast(x, dtype)


def widened(e: Emitter, x: Half) -> Value:
    """As float32, exactly."""
    bits = e.cast(x.bits, "int32")
    if x.dtype == "bfloat16":
        return e.from_bits(e.shift("shl", bits, 16))
    size = e.bitwise("and", bits, 0x7FFF)
    sign = e.shift("shl", e.bitwise("xor", bits, size), 16)
    moved = e.shift("shl", size, 13)
    scaled = e.multiply(e.from_bits(moved), 2.0**112)  # of the exponent's bias, and of numbers without a leading one
    whole = e.select(e.compare("ge", size, 0x7C00), e.bitwise("or", moved, INFINITY), e.bits(scaled))
    return e.from_bits(e.bitwise("or", whole, sign))


def narrowed(e: Emitter, x: Value, dtype: str) -> Value:
    """The bits of the nearest number, ties to even."""
    bits, by = e.bits(x), 23 - MANTISSA[dtype]
    size = e.bitwise("and", bits, 0x7FFFFFFF)
    sign = e.shift("lshr", e.bitwise("xor", bits, size), 16)
    odd = e.bitwise("and", e.shift("lshr", size, by), 1)
    nearest = e.add(e.add(size, (1 << (by - 1)) - 1), odd)
    if dtype == "bfloat16":
        found = e.shift("lshr", nearest, by)
    else:
        found = e.shift("lshr", e.subtract(nearest, 112 << 23), by)
        found = e.select(e.compare("ge", size, 0x47800000), 0x7C00, found)  # 2¹⁶ and more are infinite
        small = e.add(e.from_bits(size), 0.5)  # the sum is rounded where the small numbers of float16 are
        found = e.select(e.compare("lt", size, 113 << 23), e.subtract(e.bits(small), 126 << 23), found)
    nan = e.shift("lshr", e.bitwise("or", size, INFINITY | 1 << 22), by)
    if dtype == "float16":
        nan = e.bitwise("and", nan, 0x7FFF)
    found = e.select(e.compare("gt", size, INFINITY), nan, found)
    return e.bitwise("or", found, sign)
