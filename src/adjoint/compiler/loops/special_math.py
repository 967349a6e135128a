"""Special functions as LLVM IR over vectors: float64 within 4 ulp over the whole range of positive arguments, float32 through
float64.

The series are Taylor's (log gamma at 2, digamma at its zero, Bessel functions at 0), Stirling's for large arguments, and
Chebyshev series of sqrt(x) exp(-x) I(x) in 16/x - 1 for x > 8, computed with 60 digits and turned into powers. Coefficients
stand lowest first. Formulas: NIST Digital Library of Mathematical Functions, 5.5, 5.7, 5.11, 10.25, 10.40.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from adjoint.compiler.loops import vector_math
from adjoint.compiler.loops.build import Emitter, Value
from adjoint.primitives import special_kernels as cody

# log gamma(2 + z) / z
LOG_GAMMA = (
    0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986,
    0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425, -0.00022315475845357939,
    9.945751278180853e-05, -4.492623673813314e-05, 2.050721277567069e-05, -9.439488275268397e-06,
    4.374866789907488e-06, -2.039215753801366e-06, 9.55141213040742e-07, -4.492469198764566e-07,
    2.1207184805554665e-07, -1.0043224823968099e-07, 4.7698101693639804e-08, -2.2711094608943164e-08,
    1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09, -1.1921401405860912e-09,
    5.731367241678862e-10, -2.7595228851242334e-10, 1.330476437424449e-10, -6.4229645638381e-11,
)  # fmt: skip
# B(2k) / (2k (2k - 1)), B(2k) / 2k, and B(2k), k = 1, 2, ...
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400, 43867 / 244188)
DIGAMMA_STIRLING = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160, 43867 / 14364)
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)
# The zero of digamma as a sum of two floats, and digamma(zero + h) / h
ZERO = (1.4616321449683622, 9.549995429965697e-17)
DIGAMMA = (
    0.9676722454476212, -0.4427631689835921, 0.258499760955651, -0.16394270544240652, 0.10782405069126237,
    -0.07219956125645471, 0.04880428816414311, -0.03316112647484736, 0.022597648232218104, -0.01542476590494896,
    0.010538791616612175, -0.007204534386356869, 0.004926781395729853, -0.003369801655439328, 0.002305126326734928,
    -0.0015769367714301972, 0.0010788252019162967, -0.0007380709389960052, 0.000504953265834602,
    -0.0003454680251063077, 0.00023635601564027053, -0.00016170622091974803, 0.0001106337276874741,
    -7.569179582195066e-05, 5.178575795222081e-05, -3.5430070947659604e-05, 2.424006611860132e-05,
    -1.6584242271854135e-05, 1.134638458466385e-05, -7.762817668462094e-06, 5.3110609208898636e-06,
    -3.6336507898010456e-06, 2.486022733129538e-06, -1.7008538854332607e-06, 1.1636675363548843e-06,
    -7.96142543124197e-07, 5.446941930669446e-07, -3.7266161283438227e-07, 2.549626552021554e-07,
)  # fmt: skip
# sqrt(x) exp(-x) I(x) of orders 0 and 1 in 16/x - 1
I0_FAR = (
    0.4021765094450081, 0.003360551983667893, 0.00013621607439233397, 1.1143033787537153e-05, 1.4838475432345007e-06,
    2.9735996765876267e-07, 8.87226944343699e-08, 3.932421635261789e-08, 2.1542697342456025e-08,
    7.568418456721669e-09, -6.709029656225637e-09, -1.3481194694085218e-08, -5.573331421610012e-09,
    7.804341709047513e-09, 7.92317806979789e-09, -4.105474296383355e-09, -6.93899627720982e-09,
    2.5104822109222873e-09, 4.9905012775902334e-09, -1.7049042206851104e-09, -2.871865993820918e-09,
    1.0330923446909862e-09, 1.2061857017231527e-09, -4.6249915654891986e-10, -3.210161204221311e-10,
    1.293802543507233e-10, 4.005227764863093e-11, -1.670144899968157e-11,
)  # fmt: skip
I1_FAR = (
    0.38939845902587233, -0.009749577193235767, -0.00021923576383430914, -1.5038547197354613e-05,
    -1.8349101091858603e-06, -3.4838567916538774e-07, -1.0001340021780371e-07, -4.312763448777348e-08,
    -2.3368016560658254e-08, -8.440797904183998e-09, 6.694265612407784e-09, 1.4102948620020783e-08,
    6.14985231157688e-09, -7.8820818441857e-09, -8.401102179738338e-09, 3.9979506252996396e-09, 7.268242563538968e-09,
    -2.3850028551292767e-09, -5.2022217601823894e-09, 1.6147396010109107e-09, 2.9887350377570034e-09,
    -9.851329561461436e-10, -1.2547972491973786e-09, 4.442705832778442e-10, 3.339867355634982e-10,
    -1.2498967248835442e-10, -4.1681089783384256e-11, 1.620193680242616e-11,
)  # fmt: skip
# I₀(x) and I₁(x) / x in x²
I0_NEAR = tuple(0.25**k / math.factorial(k) ** 2 for k in range(25))
I1_NEAR = tuple(0.5 * 0.25**k / (math.factorial(k) * math.factorial(k + 1)) for k in range(25))

# M. Wichura's quotients for the inverse of the normal distribution function (algorithm AS 241, Appl. Statist. 37 (1988),
# 477-484): in the middle, out to p = exp(-25), and beyond. In the middle, the quotient is split: it is √(2π) + (p - 1/2)² times
# the one that stands here, so that its rounding counts less.
WICHURA = (
    ((4.874765941399949, 176.9004440290075, 2358.3059454499726, 14221.483431164574, 38579.049157932066,
      40495.70688542128, 10591.799914467105),
     (1.0, 42.313330701600911252, 687.1870074920579083, 5394.1960214247511077, 21213.794301586595867,
      39307.89580009271061, 28729.085735721942674, 5226.495278852545925)),
    ((1.42343711074968357734, 4.6303378461565452959, 5.7694972214606914055, 3.64784832476320460504,
      1.27045825245236838258, 0.24178072517745061177, 0.0227238449892691845833, 7.7454501427834140764e-4),
     (1.0, 2.05319162663775882187, 1.6763848301838038494, 0.68976733498510000455, 0.14810397642748007459,
      0.0151986665636164571966, 5.475938084995344946e-4, 1.05075007164441684324e-9)),
    ((6.6579046435011037772, 5.4637849111641143699, 1.7848265399172913358, 0.29656057182850489123,
      0.026532189526576123093, 0.0012426609473880784386, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
     (1.0, 0.59983220655588793769, 0.13692988092273580531, 0.0148753612908506148525, 7.868691311456132591e-4,
      1.8463183175100546818e-5, 1.4215117583164458887e-7, 2.04426310338993978564e-15)),
)  # fmt: skip

Function = Callable[..., Value]


def _wide(function: Function) -> Function:
    """The function in float64, whatever the dtype."""

    def widened(e: Emitter, x: Value) -> Value:
        return e.cast(function(e, e.cast(x, "float64")), x.dtype)

    return widened


def _ascending(e: Emitter, x: Value, coefficients: tuple[float, ...]) -> Value:
    return e.polynomial(x, coefficients[::-1])


@_wide
def gammaln(e: Emitter, x: Value) -> Value:
    """The logarithm of gamma for x > 0; the C library's elsewhere, lane by lane."""
    small = e.compare("lt", x, 8.0)
    near = e.select(small, x, 1.75)
    # x = 2 + z + n for x >= 1.5, z = x - 1 above 1/2, z = x below: gamma(x) is gamma(2 + z) by a product of what lies between
    up = e.compare("ge", near, 1.5)
    tiny = e.compare("lt", near, 0.5)
    n = e.select(up, e.intrinsic("floor", e.subtract(near, 1.5)), 0.0)
    z = e.subtract(e.subtract(near, n), 2.0)
    z = e.select(up, z, e.select(tiny, near, e.subtract(near, 1.0)))
    product = e.constant(1.0, x.dtype)
    for i in range(1, 7):
        product = e.select(e.compare("ge", n, float(i)), e.multiply(product, e.subtract(near, float(i))), product)
    product = e.select(up, product, e.select(tiny, e.fma(near, near, near), near))
    logarithm = vector_math.log(e, e.select(small, product, x))
    between = e.fma(z, _ascending(e, z, LOG_GAMMA), e.select(up, logarithm, e.negative(logarithm)))
    inverse = e.divide(1.0, x)
    rest = e.fma(inverse, _ascending(e, e.multiply(inverse, inverse), STIRLING), 0.5 * math.log(2 * math.pi) - 0.5)
    far = e.fma(e.subtract(x, 0.5), e.subtract(logarithm, 1.0), rest)
    result = e.select(small, between, far)
    positive = e.both(e.compare("gt", x, 0.0), e.compare("lt", x, math.inf))
    result = vector_math.with_library(e, "lgamma", e.invert(positive), result, x)
    return e.select(e.compare("eq", x, -math.inf), -math.inf, result)  # as SciPy has it


@_wide
def digamma(e: Emitter, x: Value) -> Value:
    """The derivative of the logarithm of gamma; negative x by reflection."""
    low = e.compare("le", x, 0.0)
    y = e.select(low, e.subtract(1.0, x), x)
    small = e.compare("lt", y, 8.0)
    near = e.select(small, y, 1.5)
    below = e.compare("lt", near, 1.0)
    n = e.select(below, -1.0, e.subtract(e.intrinsic("floor", near), 1.0))
    # the sum of 1 / (x - i) over what lies between x and [1, 2), as one quotient
    top, bottom = e.constant(0.0, x.dtype), e.constant(1.0, x.dtype)
    for i in range(1, 7):
        inside, factor = e.compare("ge", n, float(i)), e.subtract(near, float(i))
        top = e.select(inside, e.fma(top, factor, bottom), top)
        bottom = e.select(inside, e.multiply(bottom, factor), bottom)
    quotient = e.divide(e.select(below, -1.0, top), e.select(below, near, bottom))
    h = e.subtract(e.subtract(e.subtract(near, n), ZERO[0]), ZERO[1])
    between = e.fma(h, _ascending(e, h, DIGAMMA), quotient)
    inverse = e.divide(1.0, y)
    square = e.multiply(inverse, inverse)
    rest = e.fma(square, _ascending(e, square, DIGAMMA_STIRLING), e.multiply(inverse, 0.5))
    far = e.subtract(vector_math.log(e, e.select(small, 8.0, y)), rest)
    result = e.select(small, between, far)
    # digamma(x) = digamma(1 - x) - π / tan(πx); the angle is exact but for one rounding
    turn = e.subtract(x, e.intrinsic("rint", x))
    turn = e.select(e.compare("lt", e.absolute(turn), 0.5), turn, 0.5)  # of NaN too
    tangent = vector_math.tan(e, e.multiply(turn, math.pi))
    reflected = e.subtract(result, e.divide(math.pi, tangent))
    pole = e.both(e.compare("eq", turn, 0.0), e.compare("ne", x, 0.0))
    reflected = e.select(e.either(pole, e.compare("eq", x, -math.inf)), math.nan, reflected)
    reflected = e.select(e.compare("eq", x, 0.0), e.negative(e.divide(1.0, x)), reflected)
    return e.select(low, reflected, e.select(e.compare("eq", x, math.inf), math.inf, result))


@_wide
def trigamma(e: Emitter, x: Value) -> Value:
    """The derivative of digamma: the terms 1 / (x + i)² before x + 9, and Euler's and Maclaurin's sum of the others; negative x
    by reflection."""
    low = e.compare("le", x, 0.0)
    y = e.select(low, e.subtract(1.0, x), x)
    small = e.compare("lt", y, 9.0)
    near = e.select(small, y, 1.0)
    terms = e.constant(0.0, x.dtype)
    for i in (7, 5, 3, 1):  # two terms as one quotient, the smallest first
        a, b = e.add(near, float(i)), e.add(near, float(i + 1))
        product = e.multiply(a, b)
        terms = e.add(terms, e.divide(e.fma(a, a, e.multiply(b, b)), e.multiply(product, product)))
    terms = e.add(terms, e.divide(1.0, e.multiply(near, near)))
    inverse = e.divide(1.0, e.select(small, e.add(near, 9.0), y))
    square = e.multiply(inverse, inverse)
    rest = e.fma(square, e.fma(inverse, _ascending(e, square, BERNOULLI), 0.5), inverse)
    result = e.select(small, e.add(terms, rest), rest)
    # trigamma(x) = (π / sin(πx))² - trigamma(1 - x); the angle is exact but for one rounding
    turn = e.subtract(x, e.intrinsic("rint", x))
    turn = e.select(e.compare("lt", e.absolute(turn), 0.5), turn, 0.5)  # of NaN too
    quotient = e.divide(math.pi, vector_math.sin(e, e.multiply(turn, math.pi)))
    reflected = e.subtract(e.multiply(quotient, quotient), result)
    return e.select(low, e.select(e.compare("eq", x, -math.inf), math.inf, reflected), result)


def _bessel(near: tuple[float, ...], far: tuple[float, ...], odd: bool) -> Function:
    """The kind of exp(-|x|) times a modified Bessel function of the first kind."""

    @_wide
    def scaled(e: Emitter, x: Value) -> Value:
        size = e.absolute(x)
        small = e.compare("le", size, 8.0)
        inside = e.select(small, size, 8.0)
        sums = _ascending(e, e.multiply(inside, inside), near)
        if odd:
            sums = e.multiply(sums, inside)
        close = e.multiply(sums, vector_math.exp(e, e.negative(inside)))
        outside = e.select(small, 8.0, size)
        inverse = e.divide(16.0, outside)
        away = e.divide(_ascending(e, e.subtract(inverse, 1.0), far), e.intrinsic("sqrt", outside))
        result = e.select(small, close, away)
        result = e.select(e.compare("uno", x, x), x, result)
        return e.copysign(result, x) if odd else result

    return scaled


def _scaled_tail(e: Emitter, size: Value) -> Value:
    """exp(x²) erfc(x) for x > 0.46875, float64: Cody's quotients."""
    capped = e.select(e.compare("gt", size, 1e100), 1e100, size)  # where the squares are finite
    inverse = e.divide(1.0, e.multiply(capped, capped))
    large = vector_math.rational(e, inverse, cody.LARGE_P, cody.LARGE_Q)
    tail = e.subtract(cody.INVERSE_SQRT_PI, e.multiply(inverse, large))
    close = e.select(e.compare("lt", size, 4.0), size, 4.0)
    middle = vector_math.rational(e, close, cody.MIDDLE_P, cody.MIDDLE_Q)
    return e.select(e.compare("lt", size, 4.0), middle, e.divide(tail, size))


@_wide
def log_ndtr(e: Emitter, x: Value) -> Value:
    """The logarithm of the normal distribution function."""
    left = e.select(e.compare("lt", x, -1.0), x, -1.0)
    size = e.multiply(left, -math.sqrt(0.5))
    logarithm = vector_math.log(e, e.multiply(_scaled_tail(e, size), 0.5))
    below = e.fma(e.multiply(left, left), -0.5, logarithm)
    right = e.select(e.compare("lt", x, -1.0), -1.0, x)
    above = vector_math.log1p(e, e.negative(vector_math.normal_cdf(e, e.negative(right))))
    below = e.select(e.compare("eq", x, -math.inf), -math.inf, below)
    result = e.select(e.compare("lt", x, -1.0), below, above)
    return e.select(e.compare("uno", x, x), x, result)


def _by_logarithm(logarithm: Function) -> Function:
    def product(e: Emitter, x: Value, y: Value) -> Value:
        nothing = e.both(e.compare("eq", x, 0.0), e.invert(e.compare("uno", y, y)))
        return e.select(nothing, 0.0, e.multiply(x, logarithm(e, y)))

    return product


def _quantile(e: Emitter, middle: Value, tail: Value, share: float = 1.0) -> Value:
    """The normal quantile of p, by a factor, from p - 1/2 and the smaller of p and 1 - p, each of them exact."""
    inner = e.compare("le", e.absolute(middle), 0.425)
    square = e.multiply(middle, middle)
    near = e.subtract(0.180625, square)
    e.known = {}
    depth = e.intrinsic("sqrt", e.negative(vector_math.log(e, e.select(inner, 0.25, tail))))
    far = e.compare("gt", depth, 5.0)
    ratios = []
    for x, (above, below) in zip((near, e.subtract(depth, 1.6), e.subtract(depth, 5.0)), WICHURA, strict=True):
        numerator = _ascending(e, x, tuple([share * c for c in above]))
        ratios.append(e.divide(numerator, _ascending(e, x, below)))
    outer = e.select(far, ratios[2], ratios[1])
    outer = e.select(e.compare("eq", tail, 0.0), math.inf, outer)
    ratio = e.fma(square, ratios[0], math.sqrt(2 * math.pi * share * share))
    return e.select(inner, e.multiply(middle, ratio), e.copysign(outer, middle))


@_wide
def ndtri(e: Emitter, p: Value) -> Value:
    """The inverse of the normal distribution function; NaN outside of 0 and 1."""
    lower = e.compare("lt", p, 0.5)
    found = _quantile(e, e.subtract(p, 0.5), e.select(lower, p, e.subtract(1.0, p)))
    inside = e.both(e.compare("ge", p, 0.0), e.compare("le", p, 1.0))
    return e.select(inside, found, math.nan)


@_wide
def erfinv(e: Emitter, x: Value) -> Value:
    """The inverse of the error function; NaN outside of -1 and 1."""
    half = e.multiply(x, 0.5)
    found = _quantile(e, half, e.multiply(e.subtract(1.0, e.absolute(x)), 0.5), math.sqrt(0.5))
    return e.select(e.compare("le", e.absolute(x), 1.0), found, math.nan)


@_wide
def erfcinv(e: Emitter, x: Value) -> Value:
    """The inverse of the complementary error function; NaN outside of 0 and 2."""
    lower = e.compare("lt", x, 1.0)
    tail = e.multiply(e.select(lower, x, e.subtract(2.0, x)), 0.5)
    found = _quantile(e, e.multiply(e.subtract(1.0, x), 0.5), tail, math.sqrt(0.5))
    inside = e.both(e.compare("ge", x, 0.0), e.compare("le", x, 2.0))
    return e.select(inside, found, math.nan)


def sinc(e: Emitter, x: Value) -> Value:
    """sin(πx) / (πx), as NumPy computes it."""
    angle = e.multiply(x, math.pi)
    return e.select(e.compare("eq", x, 0.0), 1.0, e.divide(vector_math.sin(e, angle), angle))


FUNCTIONS: dict[str, Function] = {
    "ndtri": ndtri,
    "erfinv": erfinv,
    "erfcinv": erfcinv,
    "gammaln": gammaln,
    "digamma": digamma,
    "polygamma": trigamma,  # of order 1: see `formulas.is_lowered`
    "sinc": sinc,
    "i0e": _bessel(I0_NEAR, I0_FAR, odd=False),
    "i1e": _bessel(I1_NEAR, I1_FAR, odd=True),
    "ndtr": vector_math.normal_cdf,
    "log_ndtr": log_ndtr,
    "xlogy": _by_logarithm(vector_math.log),
    "xlog1py": _by_logarithm(vector_math.log1p),
}
