"""Elementary functions as LLVM IR over vectors, in float32 and float64: at most 4 ulp over the whole range.

Every function reduces its argument to a short interval and sums a series there. The intervals are short enough for
Taylor's coefficients; only the error functions have fitted ones. Rare arguments (huge angles) go lane by lane through the C
library.

The methods are standard: see J.-M. Muller, "Elementary Functions: Algorithms and Implementation", 3rd edition (2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from adjoint.compiler.loops.build import BITS_OF, ITEMSIZE, Emitter, Value
from adjoint.primitives import special_kernels as cody
from adjoint.runtime.llvm import has_ldexp

# ln 2 and pi/2 as sums of floats, each far more accurate than one float. In the first part of ln 2 the last bits are
# zero, so that its product with an exponent is exact.
LN2 = {
    "float32": (0.693145751953125, 1.4286068203094172e-06),
    "float64": (6.93147180369123816490e-01, 1.90821492927058770002e-10),
}
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
REST_OF_LN2 = {"float32": -1.9046542121259336e-09, "float64": 2.3190468138462996e-17}  # what ln 2 rounded leaves out
# 1/ln 2, 1/ln 10 and log10(2) as sums of two; that of log10(2) as that of ln 2
INVERSE_LN2 = {
    "float32": (1.4426950216293335, 1.925963033500011e-08),
    "float64": (1.4426950408889634, 2.0355273740931033e-17),
}
INVERSE_LN10 = {
    "float32": (0.4342944920063019, -1.0103049952192578e-08),
    "float64": (0.4342944819032518, 1.098319650216765e-17),
}
LOG10_2 = {
    "float32": (0.301025390625, 4.605039066518657e-06),
    "float64": (0.30102999566395283, 2.8363394551044964e-14),
}
MANTISSA = {"float32": 23, "float64": 52}
BIAS = {"float32": 127, "float64": 1023}
# 1.5 times 2 to the mantissa's length: adding it rounds to an integer, which then stands in the lowest bits
MAGIC = {"float32": 1.5 * 2**23, "float64": 1.5 * 2**52}
INFINITY = math.inf


def rounded(e: Emitter, x: Value, factor: float = 1.0) -> tuple[Value, Value]:
    """The integer nearest to a multiple of x as a float and (in its lowest bits) as an integer; it must have two digits less
    than the mantissa."""
    shifted = e.add(x, MAGIC[x.dtype]) if factor == 1.0 else e.fma(x, factor, MAGIC[x.dtype])
    return e.subtract(shifted, MAGIC[x.dtype]), e.bits(shifted)


def power_of_two(e: Emitter, n: Value) -> Value:
    """2**n for integers n in the range of normal exponents, or what `rounded` marked with it: the mark is shifted out."""
    dtype = "float32" if n.dtype == "int32" else "float64"
    return e.from_bits(e.shift("shl", e.add(n, BIAS[dtype]), MANTISSA[dtype]))


def exponent_of(e: Emitter, marked: Value, dtype: str) -> Value:
    """The signed integer in the lowest bits that `rounded` leaves."""
    integer = BITS_OF[dtype]
    return e.subtract(marked, e.bits(e.constant(MAGIC[dtype], dtype))) if marked.dtype == integer else marked


def times_power_of_two(e: Emitter, p: Value, n: Value) -> Value:
    """p 2**n in two steps, so that subnormal results are rounded once and overflow comes only when due; in one where the
    processor can, with the same result."""
    if has_ldexp():
        return e.ldexp(p, n)
    half = e.shift("ashr", n, 1)
    return e.multiply(e.multiply(p, power_of_two(e, half)), power_of_two(e, e.subtract(n, half)))


def _reduced_exponent(e: Emitter, x: Value) -> tuple[Value, Value]:
    """n and r with x = n ln 2 + r, |r| <= ln(2)/2."""
    high, low = LN2[x.dtype]
    n, marked = rounded(e, x, 1 / math.log(2))
    r = e.fma(n, -low, e.fma(n, -high, x))
    return exponent_of(e, marked, x.dtype), r


def exponential_series(e: Emitter, r: Value, last: int = 0) -> Value:
    """(exp(r) - 1 - r) / r**2, by the powers up to that of exp(r) given, or as many as the dtype needs: a polynomial in r**2
    whose coefficients are pairs of terms, so that what waits for each other is half as long."""
    last = last or (7 if r.dtype == "float32" else 13)
    square = e.multiply(r, r)
    pairs = [e.fma(r, 1 / math.factorial(k), 1 / math.factorial(k - 1)) for k in range(last, 2, -2)]
    result = pairs[0]
    for pair in pairs[1:]:
        result = e.fma(result, square, pair)
    return result


def clamped(e: Emitter, x: Value, low: float, high: float) -> Value:
    """x limited to a range; NaN stays."""
    x = e.select(e.compare("lt", x, low), low, x)
    return e.select(e.compare("gt", x, high), high, x)


def exp(e: Emitter, x: Value) -> Value:
    low, high = (-104.0, 89.0) if x.dtype == "float32" else (-746.0, 710.0)
    # what is 0 doesn't go through the series: computing with subnormal numbers takes a processor a hundred times as long
    vanishes = e.compare("lt", x, low)
    x = e.select(vanishes, 0.0, e.select(e.compare("gt", x, high), high, x))
    n, r = _reduced_exponent(e, x)
    p = e.add(e.fma(e.multiply(r, r), exponential_series(e, r), r), 1.0)
    return e.select(vanishes, 0.0, times_power_of_two(e, p, n))


def _decay(e: Emitter, x: Value) -> Value:
    """exp(-|x|), of what is seldom so large that it is nearly 0."""
    limit = 104.0 if x.dtype == "float32" else 746.0
    size = e.absolute(x)
    n, q = _exponential_less_one(e, e.negative(e.select(e.compare("gt", size, limit), limit, size)))
    return times_power_of_two(e, e.add(q, 1.0), n)


def exp2(e: Emitter, x: Value) -> Value:
    low, high = (-151.0, 129.0) if x.dtype == "float32" else (-1076.0, 1025.0)
    vanishes = e.compare("lt", x, low)  # see `exp`
    x = e.select(vanishes, 0.0, e.select(e.compare("gt", x, high), high, x))
    n, marked = rounded(e, x)
    part = e.subtract(x, n)
    r = e.multiply(part, math.log(2))
    lost = e.fma(part, REST_OF_LN2[x.dtype], rounding_of(e, part, math.log(2), r))
    p = e.add(e.add(e.fma(e.multiply(r, r), exponential_series(e, r), lost), r), 1.0)
    return e.select(vanishes, 0.0, times_power_of_two(e, p, exponent_of(e, marked, x.dtype)))


def rounding_of(e: Emitter, a: Value, b: Value | float, product: Value) -> Value:
    """What rounding left out of the product of a and b."""
    return e.fma(a, b, e.negative(product))


def expm1(e: Emitter, x: Value) -> Value:
    bounds = (-20.0, 89.0) if x.dtype == "float32" else (-40.0, 710.0)
    n, q = _exponential_less_one(e, clamped(e, x, *bounds))
    # exp(x) - 1 = 2**n (q + (1 - 2**-n)); 2**-n is 0 to rounding where it would leave the normal range
    least = 1 - BIAS[x.dtype]
    inverse = power_of_two(e, e.select(e.compare("lt", e.negative(n), least), least, e.negative(n)))
    result = times_power_of_two(e, e.add(q, e.subtract(1.0, inverse)), n)
    return e.select(e.compare("eq", x, 0.0), x, result)


def _exponential_less_one(e: Emitter, x: Value) -> tuple[Value, Value]:
    """n and q = exp(r) - 1 with x = n ln 2 + r."""
    n, r = _reduced_exponent(e, x)
    return n, e.fma(e.multiply(r, r), exponential_series(e, r), r)


def split_logarithm(e: Emitter, x: Value) -> tuple[Value, Value, Value]:
    """n and f with x = 2**n (1 + f), 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x; and the series of log(1+f)."""
    dtype = x.dtype
    tiny = e.compare("lt", x, 2.0 ** (1 - BIAS[dtype]))
    lift = MANTISSA[dtype] + 1
    n, f = split(e, e.select(tiny, e.multiply(x, 2.0**lift), x))
    n = e.select(tiny, e.subtract(n, lift), n)
    return integer_as_float(e, n), f, log_series(e, f, 5 if dtype == "float32" else 11)


def split(e: Emitter, x: Value) -> tuple[Value, Value]:
    """n, as an integer, and f, for positive normal x."""
    bits = e.bits(x)
    threshold = e.bits(e.constant(math.sqrt(0.5), x.dtype))
    n = e.shift("ashr", e.subtract(bits, threshold), MANTISSA[x.dtype])
    return n, e.subtract(e.from_bits(e.subtract(bits, e.shift("shl", n, MANTISSA[x.dtype]))), 1.0)


def integer_as_float(e: Emitter, n: Value) -> Value:
    """A small integer as a float, by its bits: not every processor converts 64-bit integers."""
    dtype = "float32" if n.dtype == "int32" else "float64"
    magic = e.constant(MAGIC[dtype], dtype)
    return e.subtract(e.from_bits(e.add(n, e.bits(magic))), magic)


def log_series(e: Emitter, f: Value, last: int) -> Value:
    """log(1+f) - f, with s = f/(2+f): log(1+f) = 2 atanh(s), so that it is s (f²/2 + R) - f²/2."""
    s = e.divide(f, e.add(f, 2.0))
    z = e.multiply(s, s)
    r = e.multiply(z, e.polynomial(z, tuple(2 / (2 * k + 1) for k in range(last, 0, -1))))
    half_square = e.multiply(e.multiply(f, f), 0.5)
    return e.subtract(e.multiply(s, e.add(half_square, r)), half_square)


def _log_of(e: Emitter, x: Value, correction: Value | None = None) -> Value:
    high, low = LN2[x.dtype]
    n, f, series = split_logarithm(e, x)
    small = e.fma(n, low, series)
    if correction is not None:
        small = e.add(small, correction)
    return e.fma(n, high, e.add(f, small))


def _log_edges(e: Emitter, x: Value, result: Value) -> Value:
    """The logarithm of zero, of negative numbers, of infinity and NaN."""
    result = e.select(e.compare("eq", x, INFINITY), INFINITY, result)
    result = e.select(e.compare("eq", x, 0.0), -INFINITY, result)
    invalid = e.either(e.compare("lt", x, 0.0), e.compare("uno", x, x))
    return e.select(invalid, math.nan, result)


def log(e: Emitter, x: Value) -> Value:
    return _log_edges(e, x, _log_of(e, x))


def log1p(e: Emitter, x: Value) -> Value:
    total = e.add(x, 1.0)
    # what rounding 1 + x lost, relative to it
    lost = e.divide(
        e.select(e.compare("gt", e.absolute(x), 1.0), _lost(e, total, x, 1.0), _lost(e, total, 1.0, x)), total
    )
    result = _log_edges(e, total, _log_of(e, total, lost))
    small = e.compare("lt", e.absolute(x), 1e-4 if x.dtype == "float32" else 1e-9)
    series = e.fma(e.multiply(x, x), e.fma(x, 1 / 3, -0.5), x)
    return e.select(small, series, result)


def _log_to(e: Emitter, x: Value, inverse: tuple[float, float], unit: tuple[float, float]) -> Value:
    """The logarithm to a base whose own logarithm is 1/inverse and that of 2 unit: within about half an ulp, so that powers of
    the base have whole ones."""
    n, f, series = split_logarithm(e, x)
    product = e.multiply(f, inverse[0])
    rest = e.fma(series, inverse[0], e.fma(f, inverse[1], rounding_of(e, f, inverse[0], product)))
    whole = e.multiply(n, unit[0])  # exact
    total = e.add(whole, product)  # of which whole is 0, or the larger
    rest = e.add(rest, e.subtract(product, e.subtract(total, whole)))
    return _log_edges(e, x, e.add(total, e.fma(n, unit[1], rest)))


def log2(e: Emitter, x: Value) -> Value:
    return _log_to(e, x, INVERSE_LN2[x.dtype], (1.0, 0.0))


def log10(e: Emitter, x: Value) -> Value:
    return _log_to(e, x, INVERSE_LN10[x.dtype], LOG10_2[x.dtype])


def _lost(e: Emitter, total: Value, large: Value | float, small: Value | float) -> Value:
    remains = e.subtract(total, large)
    return e.subtract(small, remains)


def _angle(e: Emitter, x: Value) -> tuple[Value, Value, Value | None]:
    """The quadrant (in the lowest two bits) and the angle within it, for a float64 with its rounding error beside it."""
    wide = e.cast(x, "float64")
    n, quadrant = rounded(e, wide, 2 / math.pi)
    first = e.fma(n, -HALF_PI[0], wide)
    if x.dtype == "float32":
        return e.cast(quadrant, "int32"), e.cast(e.fma(n, -HALF_PI[1], first), "float32"), None
    product = e.multiply(n, HALF_PI[1])
    product_error = e.fma(n, HALF_PI[1], e.negative(product))
    r = e.subtract(first, product)
    error = e.subtract(e.subtract(e.subtract(first, r), product), product_error)
    return quadrant, r, e.fma(n, -HALF_PI[2], error)


def _sine_series(e: Emitter, r: Value, z: Value, error: Value | None) -> Value:
    last = 4 if r.dtype == "float32" else 8
    p = e.polynomial(z, tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(last, 0, -1)))
    cubic = e.multiply(e.multiply(z, r), p)
    if error is not None:  # sin(r + d) = sin(r) + d cos(r)
        cubic = e.add(cubic, e.fma(e.multiply(z, error), -0.5, error))
    return e.add(r, cubic)


def _cosine_series(e: Emitter, r: Value, z: Value, error: Value | None) -> Value:
    last = 5 if r.dtype == "float32" else 9
    p = e.polynomial(z, tuple((-1) ** k / math.factorial(2 * k) for k in range(last, 1, -1)))
    half = e.multiply(z, 0.5)
    leading = e.subtract(1.0, half)
    rest = e.subtract(e.subtract(1.0, leading), half)
    rest = e.fma(e.multiply(z, z), p, rest)
    if error is not None:
        rest = e.subtract(rest, e.multiply(r, error))
    return e.add(leading, rest)


def _series(e: Emitter, x: Value) -> tuple[Value, Value, Value]:
    key = ("angle", x.name)
    if key not in e.known:  # a sine and a cosine of the same angle, as in a derivative, share their work
        quadrant, r, error = _angle(e, x)
        z = e.multiply(r, r)
        e.known[key] = (quadrant, _sine_series(e, r, z, error), _cosine_series(e, r, z, error))
    return e.known[key]  # type: ignore[no-any-return]


def _is_huge(e: Emitter, x: Value) -> Value:
    """Angles that reduction by three parts of pi/2 can't serve."""
    return e.compare("gt", e.absolute(x), 1e8 if x.dtype == "float32" else 1e6)


def with_library(e: Emitter, name: str, rare: Value, result: Value, *arguments: Value) -> Value:
    """The result, with the C library's where the arguments are rare."""
    slot = e.variable(result)
    with e.when_any(rare):
        e.set(slot, e.select(rare, e.library(name, *arguments), result))
    return e.get(slot, result.dtype)


def _turned(e: Emitter, quadrant: Value, sine: Value, cosine: Value, by: int) -> Value:
    """sin(r + (quadrant + by) pi/2)."""
    q = e.add(quadrant, by) if by else quadrant
    odd = e.compare("ne", e.bitwise("and", q, 1), 0)
    value = e.select(odd, cosine, sine)
    sign = e.shift("shl", e.bitwise("and", q, 2), 8 * ITEMSIZE[value.dtype] - 2)  # known before the value is
    return e.from_bits(e.bitwise("xor", e.bits(value), sign))


def sin(e: Emitter, x: Value) -> Value:
    result = _turned(e, *_series(e, x), 0)
    result = e.select(e.compare("eq", x, 0.0), x, result)
    return with_library(e, "sin", _is_huge(e, x), result, x)


def cos(e: Emitter, x: Value) -> Value:
    return with_library(e, "cos", _is_huge(e, x), _turned(e, *_series(e, x), 1), x)


def tan(e: Emitter, x: Value) -> Value:
    quadrant, sine, cosine = _series(e, x)
    odd = e.compare("ne", e.bitwise("and", quadrant, 1), 0)
    result = e.divide(e.select(odd, e.negative(cosine), sine), e.select(odd, sine, cosine))
    result = e.select(e.compare("eq", x, 0.0), x, result)
    return with_library(e, "tan", _is_huge(e, x), result, x)


def tanh(e: Emitter, x: Value) -> Value:
    size = e.absolute(x)
    limit = 10.0 if x.dtype == "float32" else 20.0
    size = e.select(e.compare("gt", size, limit), limit, size)
    n, q = _exponential_less_one(e, e.add(size, size))
    power = power_of_two(e, n)  # from 1 to 2**58: exp(2x) - 1 in one step
    t = e.fma(q, power, e.subtract(power, 1.0))
    return e.copysign(e.divide(t, e.add(t, 2.0)), x)


def _exponential(e: Emitter, x: Value) -> tuple[Value, Value, Value]:
    """|x|, and n and exp(r) - 1 with |x| = n ln 2 + r, for |x| as far as half its exponential is finite."""
    size = e.absolute(x)
    limit = 90.0 if x.dtype == "float32" else 711.0
    return size, *_exponential_less_one(e, e.select(e.compare("gt", size, limit), limit, size))


def sinh(e: Emitter, x: Value) -> Value:
    """(t + t / (t + 1)) / 2 with t = exp(|x|) - 1, and exp(|x|) / 2 where that is the same."""
    size, n, q = _exponential(e, x)
    far = e.compare("gt", size, 12.0 if x.dtype == "float32" else 22.0)
    power = power_of_two(e, e.select(far, 0, n))
    t = e.fma(q, power, e.subtract(power, 1.0))
    near = e.multiply(e.add(t, e.divide(t, e.add(t, 1.0))), 0.5)
    return e.copysign(e.select(far, times_power_of_two(e, e.add(q, 1.0), e.subtract(n, 1)), near), x)


def cosh(e: Emitter, x: Value) -> Value:
    _, n, q = _exponential(e, x)
    half = times_power_of_two(e, e.add(q, 1.0), e.subtract(n, 1))
    return e.add(half, e.divide(0.25, half))


def sigmoid(e: Emitter, x: Value) -> Value:
    same = e.known.get(("negative", x.name), x)  # that of -x, as in a derivative, shares the exponential
    key = ("sigmoid", same.name)
    if key not in e.known:
        t = _decay(e, same)
        e.known[key] = t, e.add(t, 1.0)
    t, whole = e.known[key]
    return e.divide(e.select(e.compare("lt", x, 0.0), t, 1.0), whole)


def silu(e: Emitter, x: Value) -> Value:
    return e.multiply(x, sigmoid(e, x))


def silu_derivative(e: Emitter, x: Value) -> Value:
    """With s = 1 / (1 + t) and t = exp(-|x|): s (1 + |x| s t) for positive x, t s (1 - |x| s) for negative."""
    size = e.absolute(x)
    size = e.select(e.compare("gt", size, 800.0), 800.0, size)  # where t is 0
    t = _decay(e, x)
    s = e.divide(1.0, e.add(t, 1.0))
    below, ts = e.compare("lt", x, 0.0), e.multiply(t, s)
    slope = e.fma(e.multiply(size, s), e.select(below, -1.0, t), 1.0)
    return e.multiply(e.select(below, ts, s), slope)


def exp_of_difference(e: Emitter, a: Value, b: Value) -> Value:
    """exp(-|a - b|), 1 where both are the same infinity."""
    return exp(e, e.negative(e.select(e.compare("eq", a, b), 0.0, e.absolute(e.subtract(a, b)))))


def logaddexp(e: Emitter, a: Value, b: Value) -> Value:
    larger = maximum(e, a, b)
    return e.add(larger, log1p(e, exp_of_difference(e, a, b)))


def softplus(e: Emitter, x: Value) -> Value:
    return e.add(maximum(e, x, e.constant(0.0, x.dtype)), log1p(e, exp(e, e.negative(e.absolute(x)))))


def maximum(e: Emitter, a: Value, b: Value) -> Value:
    """The larger; NaN where either is."""
    chosen = e.select(e.compare("gt", a, b), a, b)
    return e.select(e.compare("uno", a, a), a, chosen) if a.kind == "f" else chosen


def minimum(e: Emitter, a: Value, b: Value) -> Value:
    """The smaller; NaN where either is."""
    chosen = e.select(e.compare("lt", a, b), a, b)
    return e.select(e.compare("uno", a, a), a, chosen) if a.kind == "f" else chosen


def rational(e: Emitter, x: Value, p: tuple[float, ...], q: tuple[float, ...]) -> Value:
    return e.divide(e.polynomial(x, p), e.polynomial(x, q))


def _gaussian(e: Emitter, x: Value, share: float = 1.0) -> Value:
    """exp(-share x²) for a power of two as share, put right for what rounding x² leaves out."""
    square = e.multiply(x, x)
    result = exp(e, e.multiply(square, -share))
    return e.fma(result, e.multiply(e.fma(e.negative(x), x, square), share), result)


def gaussian(e: Emitter, x: Value) -> Value:
    """exp(-x²/2)."""
    size = e.absolute(x)
    size = e.select(e.compare("gt", size, 60.0), 60.0, size)  # where it is 0 already, and the square finite
    return _gaussian(e, size, 0.5)


# For float32, erfc(x) exp(x²) (x + 1.5) as a polynomial in (x - 1.5) / (x + 1.5) for x from 0.45 to 10.2, within 7e-9 of
# itself, and erf(x) / x as one in x² up to 1, within 1.3e-9: least squares weighted until the errors level out (C. Lawson,
# 1961). The change of variable is that of M. Shepherd and J. Laframboise, Mathematics of Computation 36 (1981).
SCALED_TAIL = (
    -0.0004488683470415328, 0.0007788200212340222, 0.0020099201308043674, -0.0008086446086705283, -0.009513312611100574,
    -0.008116740629446173, 0.04777273056181219, 0.07562154980841256, -0.5078501115184523, 0.9647562518914495,
)  # fmt: skip
CENTRE = (
    7.853788918667501e-05, -0.0008010173745383794, 0.005188325659364796, -0.0268538109957873, 0.11283585129333766,
    -0.37612625822852974, 1.1283791657265951,
)  # fmt: skip


def _single_tail(e: Emitter, size: Value) -> Value:
    """erfc(size) for float32, 0.45 <= size."""
    size = e.select(e.compare("gt", size, 10.2), 10.2, size)  # erfc(10.2) is 0 in float32
    # 1 / (size + 1.5) as if it had been rounded once: its error would pass to the result twice
    total = e.add(size, 1.5)
    back = e.subtract(total, size)
    rest = e.add(e.subtract(size, e.subtract(total, back)), e.subtract(1.5, back))
    inverse = e.divide(1.0, total)
    minus = e.negative(inverse)
    inverse = e.fma(inverse, e.fma(minus, rest, e.fma(minus, total, 1.0)), inverse)
    scaled = e.polynomial(e.multiply(e.subtract(size, 1.5), inverse), SCALED_TAIL)
    return e.multiply(_gaussian(e, size), e.multiply(scaled, inverse))


def _single_erf(e: Emitter, x: Value) -> Value:
    size = e.absolute(x)
    centre = e.multiply(x, e.polynomial(e.multiply(x, x), CENTRE))
    outer = e.copysign(e.subtract(1.0, _single_tail(e, size)), x)
    return e.select(e.compare("gt", size, 1.0), outer, centre)


def _single_erfc(e: Emitter, x: Value) -> Value:
    size = e.absolute(x)
    centre = e.subtract(1.0, e.multiply(x, e.polynomial(e.multiply(x, x), CENTRE)))
    tail = _single_tail(e, size)
    outer = e.select(e.compare("lt", x, 0.0), e.subtract(2.0, tail), tail)
    return e.select(e.compare("gt", size, 0.5), outer, centre)


def _by_range(e: Emitter, x: Value) -> tuple[Value, Value, Value]:
    """By Cody's three ranges (see primitives.special_kernels), for float64: |x|, erf(x) near 0, erfc(|x|) exp(x²) farther out."""
    size = e.absolute(x)
    square = e.multiply(x, x)
    small = e.multiply(x, rational(e, square, cody.SMALL_P, cody.SMALL_Q))
    middle = rational(e, size, cody.MIDDLE_P, cody.MIDDLE_Q)
    inverse = e.divide(1.0, square)
    tail = e.subtract(cody.INVERSE_SQRT_PI, e.multiply(inverse, rational(e, inverse, cody.LARGE_P, cody.LARGE_Q)))
    return size, small, e.select(e.compare("lt", size, 4.0), middle, e.divide(tail, size))


def erf(e: Emitter, x: Value) -> Value:
    """For float32 by two polynomials."""
    if x.dtype == "float32":
        return _single_erf(e, x)
    size, small, scaled = _by_range(e, x)
    large = e.subtract(1.0, e.multiply(_gaussian(e, size), scaled))
    large = e.select(e.compare("gt", size, 6.0), 1.0, large)
    return e.select(e.compare("gt", size, 0.46875), e.copysign(large, x), small)


def erfc(e: Emitter, x: Value, bell: Value | None = None) -> Value:
    """For float32 by two polynomials: the tail keeps its relative accuracy. `bell`: exp(-x²) of a float64, where it is known
    better than x."""
    if x.dtype == "float32":
        return _single_erfc(e, x)
    size, small, scaled = _by_range(e, x)
    large = e.multiply(_gaussian(e, size) if bell is None else bell, scaled)
    large = e.select(e.compare("gt", size, 28.0), 0.0, large)  # at infinity the quotients are NaN
    large = e.select(e.compare("lt", x, 0.0), e.subtract(2.0, large), large)
    return e.select(e.compare("gt", size, 0.46875), large, e.subtract(1.0, small))


# For float32, Φ(-x) exp(x²/2) (x + 2.5) as a polynomial in (x - 2) / (x + 2.5) for x from 0 to 14.5, within 1.6e-8 of itself:
# found as SCALED_TAIL is.
NORMAL_TAIL = (
    -0.0004059321417233732, -0.000356817013782762, 0.001862383142531496, 0.0035783668547327975,
    -0.005224265631490527, -0.022961680463215853, 0.022298540306322678, 0.15768150500331904, -0.5139910418338541,
    0.7564589953205447,
)  # fmt: skip


def _single_normal_tail(e: Emitter, x: Value, bell: Value) -> Value:
    """Φ(-|x|) for float32."""
    size = e.absolute(x)
    size = e.select(e.compare("gt", size, 14.5), 14.5, size)  # where it is 0
    total = e.add(size, 2.5)
    rest = e.subtract(2.5, e.subtract(total, size))
    inverse = e.divide(1.0, total)
    scaled = e.polynomial(e.multiply(e.subtract(size, 2.0), inverse), NORMAL_TAIL)
    quotient = e.multiply(scaled, inverse)  # whose roundings, and that of the sum, are put right
    minus = e.negative(quotient)
    return e.multiply(bell, e.fma(e.fma(minus, rest, e.fma(minus, total, scaled)), inverse, quotient))


def _normal(e: Emitter, x: Value) -> tuple[Value, Value]:
    """exp(-x²/2) and Φ(x), which share their work where both are asked for."""
    key = ("normal", x.name)
    if key not in e.known:
        bell = gaussian(e, x)
        if x.dtype == "float32":
            tail = _single_normal_tail(e, x, bell)
            share = e.select(e.compare("lt", x, 0.0), tail, e.subtract(1.0, tail))
        else:  # with exp(-x²/2) from x itself: -x/√2 rounded would cost x² ulp of the tail
            share = e.multiply(erfc(e, e.multiply(x, -math.sqrt(0.5)), bell), 0.5)
        e.known[key] = bell, share
    return e.known[key]  # type: ignore[no-any-return]


def normal_cdf(e: Emitter, x: Value) -> Value:
    return _normal(e, x)[1]


def gelu(e: Emitter, x: Value) -> Value:
    return e.multiply(x, _normal(e, x)[1])


def gelu_derivative(e: Emitter, x: Value) -> Value:
    """Φ(x) + x exp(-x²/2) / √(2π)."""
    bell, share = _normal(e, x)
    return e.fma(e.multiply(clamped(e, x, -60.0, 60.0), 1 / math.sqrt(2 * math.pi)), bell, share)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "exp": exp, "expm1": expm1, "log": log, "log1p": log1p, "sin": sin, "cos": cos, "tan": tan, "tanh": tanh,
    "sigmoid": sigmoid, "softplus": softplus, "logaddexp": logaddexp, "erf": erf, "erfc": erfc,
    "gaussian": gaussian, "gelu": gelu, "gelu_derivative": gelu_derivative, "silu": silu,
    "silu_derivative": silu_derivative, "exp2": exp2, "log2": log2, "log10": log10, "sinh": sinh, "cosh": cosh,
}  # fmt: skip
