"""Inverse circular and hyperbolic functions as LLVM IR over vectors, in float32 and float64: at most 4 ulp over the whole range.

The argument is brought to a short interval by one division or one root; there a polynomial serves, interpolated at Chebyshev
nodes with 60 digits and turned into powers. The methods are standard: see J.-M. Muller, "Elementary Functions: Algorithms and
Implementation", 3rd edition (2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from adjoint.compiler.loops.build import Emitter, Value
from adjoint.compiler.loops.vector_math import log1p, maximum

# (atan(t)/t - 1) / t² in t², for t up to tan(π/8), and (asin(s)/s - 1) / s² in s², for s up to 1/2; the highest power first
ATAN = {
    "float32": (
        -0.06451928208121749, 0.10743731490791084, -0.1426395559798464, 0.19999540483648964, -0.3333333176116852,
    ),
    "float64": (
        -0.01917688711906226, 0.03923165829558719, -0.0508544973794026, 0.0585814891280221, -0.06664511447381948,
        0.07692183190826087, -0.09090904578123903, 0.11111111015256361, -0.14285714284666542, 0.1999999999999552,
        -0.3333333333333333,
    ),
}  # fmt: skip
ASIN = {
    "float32": (
        0.03369084720283012, 0.017149238357677253, 0.03110066273549457, 0.04459940152851218, 0.07500094543497424,
        0.16666666337430908,
    ),
    "float64": (
        0.028757851367421566, -0.014851887071247204, 0.01740087944269402, 0.005457506718640358, 0.01032281435018578,
        0.011479177415184906, 0.013971212973552933, 0.017352392720869973, 0.02237217294214989, 0.030381944138531247,
        0.04464285714635543, 0.07499999999998433, 0.16666666666666669,
    ),
}  # fmt: skip
# Multiples of π/4 by their number, each as a sum of two floats.
QUARTERS = {
    "float32": {
        0: (0.0, 0.0), 1: (0.7853981852531433, -2.1855694143368964e-08), 2: (1.5707963705062866, -4.371138828673793e-08),
        3: (2.356194496154785, -5.962440319251527e-09), 4: (3.1415927410125732, -8.742277657347586e-08),
    },
    "float64": {
        0: (0.0, 0.0), 1: (0.7853981633974483, 3.061616997868383e-17), 2: (1.5707963267948966, 6.123233995736766e-17),
        3: (2.356194490192345, 9.184850993605148e-17), 4: (3.141592653589793, 1.2246467991473532e-16),
    },
}  # fmt: skip
LN2 = math.log(2)
# From here on x + 1 and x - 1 have x's logarithm but for less than an ulp of what is added to it.
FAR = {"float32": 2.0**13, "float64": 2.0**28}


def _quarter(e: Emitter, dtype: str, large: Value, middle: Value, numbers: tuple[int, int, int]) -> tuple[Value, Value]:
    """A multiple of π/4, in two parts: one where the ratio is large, one where it is middling, one where it is small."""
    parts = []
    for k in (0, 1):
        chosen = [e.constant(QUARTERS[dtype][n][k], dtype) for n in numbers]
        parts.append(e.select(large, chosen[0], e.select(middle, chosen[1], chosen[2])))
    return parts[0], parts[1]


def _regions(e: Emitter, a: Value, b: Value) -> tuple[Value, Value]:
    """Where a/b, both positive, is beyond tan(3π/8), and beyond tan(π/8)."""
    root = math.sqrt(2)
    return e.compare("gt", a, e.multiply(b, root + 1)), e.compare("gt", a, e.multiply(b, root - 1))


def _less_linear(e: Emitter, t: Value, rest: Value) -> Value:
    """atan(t) - t + rest for |t| <= tan(π/8)."""
    z = e.multiply(t, t)
    return e.fma(e.multiply(t, z), e.polynomial(z, ATAN[t.dtype]), rest)


def atan(e: Emitter, x: Value) -> Value:
    size = e.absolute(x)
    one = e.constant(1.0, x.dtype)
    large, middle = _regions(e, size, one)
    above = e.select(large, e.negative(one), e.select(middle, e.subtract(size, 1.0), size))
    below = e.select(large, size, e.select(middle, e.add(size, 1.0), one))
    t = e.divide(above, below)
    base, low = _quarter(e, x.dtype, large, middle, (2, 1, 0))
    return e.copysign(e.add(base, e.add(t, _less_linear(e, t, low))), x)


def atan2(e: Emitter, y: Value, x: Value) -> Value:
    dtype = x.dtype
    a, b = e.absolute(y), e.absolute(x)
    top = maximum(e, a, b)
    huge = 1e37 if dtype == "float32" else 1e300  # a sum of two could overflow
    share = e.select(e.compare("gt", top, huge), 0.25, e.constant(1.0, dtype))
    endless = e.both(e.compare("eq", a, math.inf), e.compare("eq", b, math.inf))
    a = e.select(endless, 1.0, e.multiply(a, share))
    b = e.select(e.either(endless, e.compare("eq", top, 0.0)), 1.0, e.multiply(b, share))
    large, middle = _regions(e, a, b)
    above = e.select(large, e.negative(b), e.select(middle, e.subtract(a, b), a))
    t = e.divide(above, e.select(large, a, e.select(middle, e.add(a, b), b)))
    behind = e.compare("lt", e.bits(x), 0)  # -0.0 too
    t = e.select(behind, e.negative(t), t)
    ahead, back = _quarter(e, dtype, large, middle, (2, 1, 0)), _quarter(e, dtype, large, middle, (2, 3, 4))
    base, low = [e.select(behind, there, here) for here, there in zip(ahead, back, strict=True)]
    return e.copysign(e.add(base, e.add(t, _less_linear(e, t, low))), y)


def _arcsine(e: Emitter, x: Value) -> tuple[Value, Value]:
    """Whether |x| is beyond 1/2; asin(|x|) where it isn't, and acos(|x|) / 2 where it is."""
    size = e.absolute(x)
    outer = e.compare("gt", size, 0.5)
    z = e.select(outer, e.multiply(e.subtract(1.0, size), 0.5), e.multiply(x, x))
    s = e.select(outer, e.intrinsic("sqrt", z), size)
    return outer, e.fma(e.multiply(s, z), e.polynomial(z, ASIN[x.dtype]), s)


def _right_angle_less(e: Emitter, angle: Value) -> Value:
    """π/2 - angle."""
    high, low = QUARTERS[angle.dtype][2]
    return e.subtract(high, e.subtract(angle, low))


def asin(e: Emitter, x: Value) -> Value:
    outer, angle = _arcsine(e, x)
    return e.copysign(e.select(outer, _right_angle_less(e, e.add(angle, angle)), angle), x)


def acos(e: Emitter, x: Value) -> Value:
    outer, angle = _arcsine(e, x)
    negative = e.compare("lt", x, 0.0)
    twice = e.add(angle, angle)
    high, low = QUARTERS[x.dtype][4]
    far = e.select(negative, e.subtract(high, e.subtract(twice, low)), twice)
    return e.select(outer, far, _right_angle_less(e, e.select(negative, e.negative(angle), angle)))


def asinh(e: Emitter, x: Value) -> Value:
    """log1p(a + a² / (1 + √(a² + 1))) for a = |x|, and log(a) + ln 2 where a² may overflow."""
    size = e.absolute(x)
    far = e.compare("gt", size, FAR[x.dtype])
    near = e.select(far, 1.0, size)
    square = e.multiply(near, near)
    root = e.intrinsic("sqrt", e.add(square, 1.0))
    argument = e.add(near, e.divide(square, e.add(root, 1.0)))
    return e.copysign(_log1p_or_far(e, far, size, argument), x)


def acosh(e: Emitter, x: Value) -> Value:
    """log1p(t + √(t (t + 2))) for t = x - 1."""
    far = e.compare("gt", x, FAR[x.dtype])
    t = e.subtract(e.select(far, 2.0, x), 1.0)
    argument = e.add(t, e.intrinsic("sqrt", e.multiply(t, e.add(t, 2.0))))
    result = _log1p_or_far(e, far, x, argument)
    return e.select(e.compare("lt", x, 1.0), math.nan, result)


def _log1p_or_far(e: Emitter, far: Value, x: Value, argument: Value) -> Value:
    result = log1p(e, e.select(far, e.subtract(x, 1.0), argument))
    return e.select(far, e.add(result, LN2), result)


def atanh(e: Emitter, x: Value) -> Value:
    """log1p(2a + 2a a / (1 - a)) / 2 for a = |x|."""
    size = e.absolute(x)
    twice = e.add(size, size)
    argument = e.fma(twice, e.divide(size, e.subtract(1.0, size)), twice)
    result = e.multiply(log1p(e, argument), 0.5)
    return e.copysign(e.select(e.compare("gt", size, 1.0), math.nan, result), x)


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "asin": asin, "acos": acos, "atan": atan, "atan2": atan2, "asinh": asinh, "acosh": acosh, "atanh": atanh,
}  # fmt: skip
