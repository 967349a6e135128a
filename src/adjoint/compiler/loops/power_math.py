"""Powers, roots and remainders as LLVM IR over vectors, in float32 and float64: powers and roots at most 4 ulp from what they
should be over the whole range, remainders exact.

Rare arguments (powers of what is not positive and finite, quotients beyond the integers that the dtype has) go lane by lane
through the C library.

A power's logarithm is computed as a sum of two floats: 709 times what rounding it once would leave out is what the result
would be off. See J.-M. Muller, "Elementary Functions: Algorithms and Implementation", 3rd edition (2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from adjoint.compiler.loops import vector_math as v
from adjoint.compiler.loops.build import Emitter, Value

# ln 2, and 2/3, as sums of two: the product of the former's first with an exponent is exact
LN2 = (0.6931471805598903, 5.497923018708371e-14)
TWO_THIRDS = (2 / 3, 3.700743415417188e-17)
# The cube root from 1/2 to 4, within 0.002 of itself; the highest power first.
CUBE_ROOT = (
    0.0014363452109175817, -0.020279205113045675, 0.1158907961168667, -0.3559591501893991, 0.7759412160878565,
    0.4829151149886364,
)  # fmt: skip


def _log_in_two(e: Emitter, x: Value) -> tuple[Value, Value]:
    """The logarithm of a positive finite float64, as a sum of two floats.

    log(1 + f) = 2s + s³ (2/3 + z (2/5 + ...)), with s = f / (2 + f) and z = s².
    """
    n, f, _ = v.split_logarithm(e, x)
    divisor = e.add(f, 2.0)
    lost = e.subtract(f, e.subtract(divisor, 2.0))
    inverse = e.divide(1.0, divisor)
    s = e.multiply(f, inverse)
    rest = e.multiply(e.fma(e.negative(s), lost, e.fma(e.negative(s), divisor, f)), inverse)
    z = e.multiply(s, s)
    tail = e.multiply(z, e.polynomial(z, tuple(2 / (2 * k + 1) for k in range(11, 1, -1))))
    factor = e.add(tail, TWO_THIRDS[0])
    lower = e.add(e.add(e.subtract(TWO_THIRDS[0], factor), tail), TWO_THIRDS[1])
    # s³ times the factor, and what was left out of either
    square_rest = e.fma(e.add(s, s), rest, v.rounding_of(e, s, s, z))
    cube = e.multiply(z, s)
    cube_rest = e.fma(square_rest, s, e.fma(z, rest, v.rounding_of(e, z, s, cube)))
    third = e.multiply(cube, factor)
    third_rest = e.fma(cube_rest, factor, e.fma(cube, lower, v.rounding_of(e, cube, factor, third)))
    # from the largest to the smallest
    total, left = _sum(e, e.multiply(n, LN2[0]), e.add(s, s))
    total, more = _sum(e, total, third)
    small = e.add(e.fma(n, LN2[1], e.add(rest, rest)), third_rest)
    left = e.add(e.add(left, more), small)
    high = e.add(total, left)
    return high, e.add(e.subtract(total, high), left)


def _sum(e: Emitter, a: Value, b: Value) -> tuple[Value, Value]:
    """The sum, and what rounding left out of it, of two of which the first is 0 or the larger."""
    total = e.add(a, b)
    return total, e.subtract(b, e.subtract(total, a))


def _double_power(e: Emitter, x: Value, y: Value) -> Value:
    high, low = _log_in_two(e, x)
    limit = 2.0**70  # beyond it every power is 0, 1 or infinite
    y = v.clamped(e, y, -limit, limit)
    product = e.multiply(y, high)
    rest = e.fma(y, low, v.rounding_of(e, y, high, product))
    rest = e.select(e.compare("gt", e.absolute(product), 800.0), 0.0, rest)
    product = v.clamped(e, product, -746.0, 710.0)
    n, marked = v.rounded(e, product, 1 / math.log(2))
    first, second = v.LN2["float64"]
    near = e.fma(n, -first, product)
    r = e.fma(n, -second, near)
    rest = e.add(e.fma(n, -second, e.subtract(near, r)), rest)
    q = e.multiply(e.multiply(r, r), v.exponential_series(e, r))
    q = e.fma(rest, e.add(e.add(q, r), 1.0), q)
    return v.times_power_of_two(e, e.add(e.add(q, r), 1.0), v.exponent_of(e, marked, "float64"))


def _single_power(e: Emitter, x: Value, y: Value) -> Value:
    """Through float64, with as many terms as float32 needs: all its numbers are normal there."""
    n, f = v.split(e, e.cast(x, "float64"))
    logarithm = e.fma(v.integer_as_float(e, n), math.log(2), e.add(f, v.log_series(e, f, 7)))
    exponent = v.clamped(e, e.multiply(e.cast(y, "float64"), logarithm), -110.0, 90.0)
    n, marked = v.rounded(e, exponent, 1 / math.log(2))
    r = e.fma(n, -math.log(2), exponent)
    p = e.add(e.fma(e.multiply(r, r), v.exponential_series(e, r, 9), r), 1.0)
    return e.cast(e.multiply(p, v.power_of_two(e, v.exponent_of(e, marked, "float64"))), "float32")


def power(e: Emitter, x: Value, y: Value) -> Value:
    result = _double_power(e, x, y) if x.dtype == "float64" else _single_power(e, x, y)
    finite = e.both(e.compare("lt", x, math.inf), e.compare("lt", e.absolute(y), math.inf))
    rare = e.invert(e.both(e.compare("gt", x, 0.0), finite))
    return v.with_library(e, "pow", rare, result, x, y)


def cbrt(e: Emitter, x: Value) -> Value:
    """Halley's iteration, from a polynomial."""
    dtype, size = x.dtype, e.absolute(x)
    tiny = e.compare("lt", size, 2.0 ** (1 - v.BIAS[dtype]))
    lift = 54 if dtype == "float64" else 24
    bits = e.bits(e.select(tiny, e.multiply(size, 2.0**lift), size))
    exponent = e.subtract(e.shift("ashr", bits, v.MANTISSA[dtype]), v.BIAS[dtype])
    _, marked = v.rounded(e, v.integer_as_float(e, exponent), 1 / 3)
    k = v.exponent_of(e, marked, dtype)
    # x = 2**(3k) m with m from 1/2 to 4
    whole = e.add(e.add(k, k), k)
    m = e.from_bits(e.subtract(bits, e.shift("shl", whole, v.MANTISSA[dtype])))
    root = e.polynomial(m, CUBE_ROOT)
    for _ in range(1 if dtype == "float32" else 2):
        cube = e.multiply(e.multiply(root, root), root)
        share = e.divide(e.subtract(m, cube), e.add(e.add(cube, cube), m))
        root = e.fma(root, share, root)
    k = e.subtract(k, e.select(tiny, lift // 3, e.constant(0, k.dtype)))
    result = e.copysign(e.multiply(root, v.power_of_two(e, k)), x)
    ordinary = e.both(e.compare("gt", size, 0.0), e.compare("lt", size, math.inf))
    return e.select(ordinary, result, x)


def hypot(e: Emitter, a: Value, b: Value) -> Value:
    """float32 through float64; float64 scaled by a power of two where squares would leave the range."""
    dtype = a.dtype
    endless = e.either(e.compare("eq", e.absolute(a), math.inf), e.compare("eq", e.absolute(b), math.inf))
    if dtype == "float32":
        p, q = e.cast(a, "float64"), e.cast(b, "float64")
        root = e.cast(e.intrinsic("sqrt", e.fma(p, p, e.multiply(q, q))), "float32")
        return e.select(endless, math.inf, root)
    a, b = e.absolute(a), e.absolute(b)
    large, small = v.maximum(e, a, b), v.minimum(e, a, b)
    high, low = e.compare("gt", large, 2.0**500), e.compare("lt", large, 2.0**-500)
    scale = e.select(high, 2.0**-600, e.select(low, 2.0**600, e.constant(1.0, dtype)))
    back = e.select(high, 2.0**600, e.select(low, 2.0**-600, e.constant(1.0, dtype)))
    large, small = e.multiply(large, scale), e.multiply(small, scale)
    root = e.intrinsic("sqrt", e.fma(large, large, e.multiply(small, small)))
    return e.select(endless, math.inf, e.multiply(root, back))


def fmod(e: Emitter, a: Value, b: Value) -> Value:
    """What is left of a when it is divided by b towards zero: exact, with a's sign.

    The quotient rounded is the true one, or one more where it was rounded up; either leaves a number that the dtype has, as long
    as the quotient is one of its integers.
    """
    x, y = e.absolute(a), e.absolute(b)
    q = e.intrinsic("trunc", e.divide(x, y))
    left = e.fma(e.negative(q), y, x)
    left = e.select(e.compare("lt", left, 0.0), e.add(left, y), left)
    # NaN here where b is 0, and where either is infinite or NaN
    ordinary = e.both(e.compare("lt", q, 2.0 ** v.MANTISSA[a.dtype]), e.compare("lt", y, math.inf))
    return v.with_library(e, "fmod", e.invert(ordinary), e.copysign(left, a), a, b)


def remainder(e: Emitter, a: Value, b: Value) -> Value:
    """As Python's %: with b's sign."""
    rest = fmod(e, a, b)
    other = e.compare("lt", e.bitwise("xor", e.bits(rest), e.bits(b)), 0)
    moved = e.select(other, e.add(rest, b), rest)
    result = e.select(e.compare("eq", rest, 0.0), e.copysign(rest, b), moved)
    return e.select(e.compare("eq", b, 0.0), math.nan, result)


def floor_divide(e: Emitter, a: Value, b: Value) -> Value:
    """As Python's //: the quotient of what a % b leaves, rounded to the integer that it is but for its own rounding."""
    rest = fmod(e, a, b)
    quotient = e.divide(e.subtract(a, rest), b)
    other = e.both(e.compare("ne", rest, 0.0), e.compare("lt", e.bitwise("xor", e.bits(rest), e.bits(b)), 0))
    quotient = e.select(other, e.subtract(quotient, 1.0), quotient)
    floor = e.intrinsic("floor", quotient)
    floor = e.select(e.compare("gt", e.subtract(quotient, floor), 0.5), e.add(floor, 1.0), floor)
    plain = e.divide(a, b)
    result = e.select(e.compare("eq", quotient, 0.0), e.copysign(e.constant(0.0, a.dtype), plain), floor)
    return e.select(e.compare("eq", b, 0.0), plain, result)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "power": power, "cbrt": cbrt, "hypot": hypot, "remainder": remainder, "floor_divide": floor_divide,
}  # fmt: skip
