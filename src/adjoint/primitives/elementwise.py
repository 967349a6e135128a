"""Elementwise primitives: arithmetic, functions, comparisons, logic.

Each rule gives the cotangent of one input from the cotangent u of the output. The rules are symmetric in the sense that
transposing them gives forward mode, and they treat zero times infinity in a chain rule as zero: products of a cotangent
with a derivative go through `scale`, quotients through `safe_divide`, and selections select.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.dtypes import default_dtype
from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives import elementwise_kernels as kernels
from adjoint.primitives import special_kernels
from adjoint.primitives.core import (
    BOOL,
    binary,
    cast,
    conform,
    conjugate,
    constant,
    match,
    ops,
    register,
    unary,
    zeros,
)

# The two products of the chain rule -----------------------------------------------------------------------------------


scale = binary(
    "scale",
    np.multiply,
    lambda u, out, a, b: scale(u, conjugate(b)),
    lambda u, out, a, b: scale(u, conjugate(a)),
    masked=kernels.masked_multiply,
    cheap=True,
    symbol="×",
    light=True,
    exact=True,
    bilinear=True,
)
safe_divide = binary(
    "safe_divide",
    np.divide,
    lambda u, out, a, b: safe_divide(u, conjugate(b)),
    lambda u, out, a, b: negative(safe_divide(scale(u, conjugate(out)), conjugate(b))),
    kinds="fc",
    masked=kernels.masked_divide,
    symbol="÷",
    exact=True,
    quotient=True,
)

# Arithmetic -----------------------------------------------------------------------------------------------------------


def _power_constant_rule(u: Node, out: Node, x: Node) -> Node | None:
    p = out.attributes
    if p == 0:
        return None
    if p == 1:
        return u
    return scale(scale(u, p), conjugate(power_constant(x, p - 1)))


add = binary(
    "add",
    np.add,
    lambda u, out, a, b: u,
    lambda u, out, a, b: u,
    cheap=True,
    symbol="+",
    light=True,
    exact=True,
    linear=True,
)
subtract = binary(
    "subtract", np.subtract, lambda u, out, a, b: u, lambda u, out, a, b: negative(u),
    kinds="iufc", cheap=True, symbol="−", light=True, exact=True, linear=True,
)  # fmt: skip
multiply = binary(  # the most frequent rule of all: no call to find out that a real number is its own conjugate
    "multiply",
    np.multiply,
    lambda u, out, a, b: scale(u, b if b.type.real_inexact else conjugate(b)),
    lambda u, out, a, b: scale(u, a if a.type.real_inexact else conjugate(a)),
    cheap=True,
    symbol="×",
    light=True,
    exact=True,
    bilinear=True,
)
divide = binary(
    "divide",
    np.divide,
    lambda u, out, a, b: safe_divide(u, conjugate(b)),
    lambda u, out, a, b: negative(safe_divide(scale(u, conjugate(out)), conjugate(b))),
    kinds="fc",
    symbol="÷",
    exact=True,
    quotient=True,
    native=lambda e, a, b: e.divide(a, b),
)
remainder = binary(
    "remainder",
    np.remainder,
    lambda u, out, a, b: u,
    lambda u, out, a, b: negative(scale(u, floor_divide(a, b))),
    kinds="iuf",
    symbol="mod",
)
floor_divide = binary("floor_divide", np.floor_divide, kinds="iuf", symbol="//")
power = binary(
    "power",
    kernels.power,
    lambda u, out, x, y: scale(scale(u, conjugate(y)), conjugate(power(x, subtract(y, 1)))),
    lambda u, out, x, y: scale(scale(u, conjugate(out)), conjugate(log(x))),
    kinds="iufc",
    symbol="^",
)
POWER_CONSTANT = Primitive("power_constant", kernels.power_by, (_power_constant_rule,), elementwise=True, symbol="^")


@register
def power_constant(x: Node, exponent: float) -> Node:
    """x to a Python number. An integer array with a fractional or negative exponent becomes floating."""
    kind = x.type.dtype.kind
    if kind == "b" or (kind in "iu" and (type(exponent) is not int or exponent < 0)):
        x = cast(x, default_dtype())
    return x if exponent == 1 else record(POWER_CONSTANT, (x,), exponent, x.type)


negative = unary(
    "negative",
    np.negative,
    lambda u, out, x: negative(u),
    kinds="iufc",
    cheap=True,
    symbol="−",
    light=True,
    exact=True,
    linear=True,
)
absolute = unary(
    "abs",
    np.abs,
    lambda u, out, x: scale(conform_like(u, x), sign(x)),
    kinds="biufc",
    result="real",
    symbol="|·|",
    light=True,
    exact=True,
)
sign = unary("sign", np.sign, lambda u, out, x: _sign_rule(u, out, x), kinds="iufc", swallows=False)
signbit = unary("signbit", np.signbit, kinds="f", result="bool", swallows=True)


def conform_like(u: Node, x: Node) -> Node:
    """u cast to the type of x."""
    return conform(u, x.type)


def _sign_rule(u: Node, out: Node, x: Node) -> Node | None:
    if x.type.dtype.kind != "c":
        return None
    # z/|z| = s: a change dz turns it by i s Im(conj(s) dz)/|z|, whose adjoint is below
    turning = imag(multiply(conj(out), u))
    return scale(multiply(conform_like(safe_divide(turning, absolute(x)), x), out), 1j)


# Powers and exponentials ----------------------------------------------------------------------------------------------

LN2, LN10 = math.log(2.0), math.log(10.0)

exp = unary("exp", np.exp, lambda u, out, x: scale(u, conjugate(out)))
expm1 = unary("expm1", np.expm1, lambda u, out, x: scale(u, conjugate(exp(x))))
log = unary("log", np.log, lambda u, out, x: safe_divide(u, conjugate(x)))
log1p = unary("log1p", np.log1p, lambda u, out, x: safe_divide(u, conjugate(add(x, 1))))
log2 = unary("log2", np.log2, lambda u, out, x: safe_divide(multiply(u, 1 / LN2), conjugate(x)))
log10 = unary("log10", np.log10, lambda u, out, x: safe_divide(multiply(u, 1 / LN10), conjugate(x)))
sqrt = unary(
    "sqrt",
    np.sqrt,
    lambda u, out, x: safe_divide(multiply(u, 0.5), conjugate(out)),
    symbol="√",
    exact=True,
    native=lambda e, x: e.intrinsic("sqrt", x),
)

# Trigonometric and hyperbolic functions -------------------------------------------------------------------------------

sin = unary("sin", np.sin, lambda u, out, x: scale(u, conjugate(cos(x))))
cos = unary("cos", np.cos, lambda u, out, x: negative(scale(u, conjugate(sin(x)))))
tan = unary("tan", np.tan, lambda u, out, x: scale(u, conjugate(add(multiply(out, out), 1))))
asin = unary("asin", np.arcsin, lambda u, out, x: safe_divide(u, conjugate(_one_minus_square_root(x))))
acos = unary(
    "acos",
    np.arccos,
    lambda u, out, x: negative(safe_divide(u, conjugate(_one_minus_square_root(x)))),
)
atan = unary("atan", np.arctan, lambda u, out, x: safe_divide(u, conjugate(add(multiply(x, x), 1))))
sinh = unary("sinh", np.sinh, lambda u, out, x: scale(u, conjugate(cosh(x))))
cosh = unary("cosh", np.cosh, lambda u, out, x: scale(u, conjugate(sinh(x))))
tanh = unary("tanh", np.tanh, lambda u, out, x: scale(u, conjugate(subtract(1, multiply(out, out)))))
asinh = unary("asinh", np.arcsinh, lambda u, out, x: safe_divide(u, _root_of_square_plus_one(x)))
acosh = unary(
    "acosh",
    np.arccosh,
    lambda u, out, x: safe_divide(u, conjugate(multiply(sqrt(subtract(x, 1)), sqrt(subtract(x, -1))))),
)
atanh = unary("atanh", np.arctanh, lambda u, out, x: safe_divide(u, conjugate(multiply(subtract(1, x), add(x, 1)))))


def _root_of_square_plus_one(x: Node) -> Node:
    # x² of a huge number would be infinite; x² + 1 would lose the sign of an imaginary zero, by which roots choose a side
    return hypot(x, 1) if x.type.real_inexact else conjugate(sqrt(subtract(multiply(x, x), -1)))


def _one_minus_square_root(x: Node) -> Node:
    # (1-x)(1+x) keeps the digits that 1-x² loses near one; two roots keep the complex branch, whose side on a cut is the sign of
    # an imaginary zero: 1-x and x+1 would lose it
    if x.type.real_inexact:
        return multiply(sqrt(subtract(1, x)), sqrt(add(x, 1)))
    return multiply(sqrt(negative(subtract(x, 1))), sqrt(subtract(x, -1)))


atan2 = binary(
    "atan2",
    np.arctan2,
    lambda u, out, y, x: _over_radius(scale(u, _over_radius(x, y, x)), y, x),
    lambda u, out, y, x: negative(_over_radius(scale(u, _over_radius(y, y, x)), y, x)),
    kinds="f",
)
hypot = binary(
    "hypot",
    np.hypot,
    lambda u, out, a, b: scale(u, safe_divide(a, out)),
    lambda u, out, a, b: scale(u, safe_divide(b, out)),
    kinds="f",
)


def _over_radius(v: Node, y: Node, x: Node) -> Node:
    return safe_divide(v, hypot(y, x))


# Activations and special functions ------------------------------------------------------------------------------------


def _gaussian_rule(sign_of_rule: float) -> Any:
    factor = sign_of_rule * 2.0 / math.sqrt(math.pi)
    return lambda u, out, x: scale(multiply(u, factor), exp(negative(multiply(x, x))))


sigmoid = unary(
    "sigmoid", kernels.sigmoid, lambda u, out, x: scale(u, multiply(out, sigmoid(negative(x)))), kinds="f", shares=True
)
softplus = unary("softplus", kernels.softplus, lambda u, out, x: scale(u, sigmoid(x)), kinds="f")
relu = unary(
    "relu",
    kernels.relu,
    lambda u, out, x: where(greater(x, 0), u, zeros(u.type)),
    kinds="biuf",
    cheap=True,
    light=True,
    exact=True,
)
erf = unary("erf", special_kernels.erf, _gaussian_rule(1.0), kinds="f")
erfc = unary("erfc", special_kernels.erfc, _gaussian_rule(-1.0), kinds="f")
logaddexp = binary(
    "logaddexp",
    np.logaddexp,
    lambda u, out, a, b: scale(u, sigmoid(_difference(a, b))),
    lambda u, out, a, b: scale(u, sigmoid(_difference(b, a))),
    kinds="f",
)


def _difference(a: Node, b: Node) -> Node:
    """a - b, and 0 where both are the same infinity: equals share."""
    return where(logical_and(isinf(a), equal(a, b)), zeros(a.type), subtract(a, b))


# By exp(-x²/2) from x itself: rounding -x/√2 first would cost x² units in the last place of the normal distribution's tail.
gaussian = unary(
    "gaussian", special_kernels.gaussian, lambda u, out, x: negative(scale(u, multiply(x, out))), kinds="f"
)
gelu = unary("gelu", special_kernels.gelu, lambda u, out, x: scale(u, gelu_derivative(x)), kinds="f")
gelu_derivative = unary(
    "gelu_derivative",
    special_kernels.gelu_derivative,
    lambda u, out, x: scale(multiply(u, 1 / math.sqrt(2 * math.pi)), scale(gaussian(x), subtract(2, multiply(x, x)))),
    kinds="f",
)


silu = unary("silu", kernels.silu, lambda u, out, x: scale(u, silu_derivative(x)), kinds="f")
silu_derivative = unary(
    "silu_derivative",
    kernels.silu_derivative,
    lambda u, out, x: scale(
        u, scale(multiply(sigmoid(x), sigmoid(negative(x))), add(multiply(x, subtract(1, multiply(sigmoid(x), 2))), 2))
    ),
    kinds="f",
)

# Rounding -------------------------------------------------------------------------------------------------------------


def _rounding(name: str, kernel: Any, kinds: str = "f") -> Any:
    rounded = unary(name, kernel, kinds=kinds, native=lambda e, x: e.intrinsic(kernel.__name__, x))
    return register(lambda x: rounded(x) if x.type.dtype.kind in "fc" else x, name)  # integers are round already


floor = _rounding("floor", np.floor)
ceil = _rounding("ceil", np.ceil)
trunc = _rounding("trunc", np.trunc)
rint = _rounding("round", np.rint, "fc")

# Choosing -------------------------------------------------------------------------------------------------------------


WHERE = Primitive(
    "where",
    lambda attributes, type: kernels.where,
    (
        None,
        lambda u, out, c, a, b: where(c, u, zeros(u.type)),
        lambda u, out, c, a, b: where(c, zeros(u.type), u),
    ),
    elementwise=True,
    cheap=True,
    swallows=True,
    moves=True,
    symbol="?",
    light=True,
    exact=True,
    native=lambda e, c, a, b: e.select(c, a, b),
)
CLIP = Primitive(
    "clip",
    lambda attributes, type: kernels.clip,
    (
        lambda u, out, x, low, high: where(logical_and(greater_equal(x, low), less_equal(x, high)), u, zeros(u.type)),
        lambda u, out, x, low, high: where(logical_and(less(x, low), less_equal(low, high)), u, zeros(u.type)),
        lambda u, out, x, low, high: where(logical_or(greater(x, high), greater(low, high)), u, zeros(u.type)),
    ),
    elementwise=True,
    cheap=True,
)


@register
def where(c: Node, a: Any, b: Any) -> Node:
    """a where c, else b, elementwise."""
    if c.type.dtype.kind != "b":
        c = not_equal(c, 0)
    if type(a) is not Node and type(b) is not Node:
        a = constant(a, array_type((), type_of_pair(a, b)))
    a, b = (a, b) if type(a) is Node and type(b) is Node and a.type is b.type else match("where", a, b)
    if c.type.shape != a.type.shape:
        shape = match("where", c, cast(a, c.type.dtype))[0].type.shape
        c, a, b = ops.broadcast_to(c, shape), ops.broadcast_to(a, shape), ops.broadcast_to(b, shape)
    return record(WHERE, (c, a, b), None, a.type)


def type_of_pair(a: Any, b: Any) -> Any:
    """The dtype of two Python scalars together."""
    return match("where", constant(a, array_type((), BOOL)), b)[0].type.dtype


@register
def clip(x: Node, low: Any, high: Any) -> Node:
    """x limited to [low, high]; where low > high the result is high."""
    x, low, high = match("clip", x, low, high)
    if x.type.dtype.kind == "c":
        raise TypeError(f"clip: complex numbers have no order; given shape {x.type.shape}")
    return record(CLIP, (x, low, high), None, x.type)


def _extreme_rule(first: Any, strictly: Any) -> Any:
    def rule(u: Node, out: Node, a: Node, b: Node) -> Node:
        mine, other = (a, b) if first else (b, a)
        tie = where(equal(a, b), multiply(u, 0.5), zeros(u.type))
        return where(strictly(mine, other), u, tie)

    return rule


maximum = binary(
    "maximum",
    lambda a, b, out=None: np.maximum(a, b, out=out),
    _extreme_rule(first=True, strictly=lambda a, b: greater(a, b)),
    _extreme_rule(first=False, strictly=lambda a, b: greater(a, b)),
    kinds="biuf",
    cheap=True,
    exact=True,
)
minimum = binary(
    "minimum",
    lambda a, b, out=None: np.minimum(a, b, out=out),
    _extreme_rule(first=True, strictly=lambda a, b: less(a, b)),
    _extreme_rule(first=False, strictly=lambda a, b: less(a, b)),
    kinds="biuf",
    cheap=True,
    exact=True,
)


def _copysign_rule(u: Node, out: Node, a: Node, b: Node) -> Node:
    return where(equal(signbit(a), signbit(b)), u, negative(u))


copysign = binary(
    "copysign", np.copysign, _copysign_rule, kinds="f", swallows=True, native=lambda e, a, b: e.copysign(a, b)
)

nextafter = binary("nextafter", np.nextafter, lambda u, out, a, b: u, kinds="f", moves=True)  # the dtype's own

# Comparisons, logic, bits ---------------------------------------------------------------------------------------------

BITS: dict[str, Any] = {"kinds": "biu", "cheap": True}
TO_BOOL: dict[str, Any] = {"result": "bool", "cheap": True, "swallows": True}
TRUTH = TO_BOOL | {"light": True, "exact": True}

equal = binary("equal", np.equal, symbol="=", native=lambda e, a, b: e.compare("eq", a, b), **TRUTH)
not_equal = binary("not_equal", np.not_equal, symbol="≠", native=lambda e, a, b: e.compare("ne", a, b), **TRUTH)
less = binary("less", np.less, kinds="biuf", symbol="<", **TRUTH)
less_equal = binary("less_equal", np.less_equal, kinds="biuf", symbol="≤", **TRUTH)
greater = binary("greater", np.greater, kinds="biuf", symbol=">", **TRUTH)
greater_equal = binary("greater_equal", np.greater_equal, kinds="biuf", symbol="≥", **TRUTH)
logical_and = binary("logical_and", np.logical_and, symbol="∧", **TRUTH)
logical_or = binary("logical_or", np.logical_or, symbol="∨", **TRUTH)
logical_xor = binary("logical_xor", np.logical_xor, **TRUTH)
logical_not = unary("logical_not", np.logical_not, kinds="biufc", symbol="¬", **TRUTH)
bitwise_and = binary(
    "bitwise_and", np.bitwise_and, symbol="&", light=True, native=lambda e, a, b: e.bitwise("and", a, b), **BITS
)
bitwise_or = binary(
    "bitwise_or", np.bitwise_or, symbol="|", light=True, native=lambda e, a, b: e.bitwise("or", a, b), **BITS
)
bitwise_xor = binary(
    "bitwise_xor", np.bitwise_xor, symbol="^", light=True, native=lambda e, a, b: e.bitwise("xor", a, b), **BITS
)
bitwise_left_shift = binary("bitwise_left_shift", np.left_shift, kinds="iu", symbol="<<")
bitwise_right_shift = binary("bitwise_right_shift", np.right_shift, kinds="iu", symbol=">>")
bitwise_invert = unary("bitwise_invert", np.invert, symbol="~", native=lambda e, x: e.invert(x), **BITS)
isfinite = unary("isfinite", np.isfinite, kinds="biufc", **TO_BOOL)
isinf = unary("isinf", np.isinf, kinds="biufc", **TO_BOOL)
isnan = unary("isnan", np.isnan, kinds="biufc", **TO_BOOL)

# Complex numbers ------------------------------------------------------------------------------------------------------

conj = unary("conj", np.conjugate, lambda u, out, x: conjugate(u), kinds="c", symbol="conj", linear=True)
real = unary("real", kernels.real, lambda u, out, x: cast(u, x.dtype), kinds="c", result="real", linear=True)
imag = unary(
    "imag", kernels.imag, lambda u, out, x: multiply(cast(u, x.dtype), 1j), kinds="c", result="real", linear=True
)
