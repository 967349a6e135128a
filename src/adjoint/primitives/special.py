"""Special functions: elementwise primitives whose kernels are SciPy's, or NumPy's where these are short.

The formulas of derivatives are those of the NIST Digital Library of Mathematical Functions (https://dlmf.nist.gov): 5.2, 5.12
(gamma, beta), 6.2 (exponential integrals), 7.2, 7.10 (error functions), 8.8, 8.17 (incomplete gamma and beta), 10.6, 10.29
(Bessel functions), 25.11 (zeta). Where one divides by what becomes 0, a Taylor series stands in for it nearby.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import _optional
from adjoint.graph import Node, Primitive, record
from adjoint.primitives import special_kernels
from adjoint.primitives.core import FULL, binary, inexact, match, ops, register, unary, zeros

# Kernels --------------------------------------------------------------------------------------------------------------


@functools.cache
def scipy_function(name: str) -> Any:
    """A function of scipy.special. Raises ImportError that names the extra."""
    return getattr(_optional.load("scipy.special", purpose=f"special.{name}", extra="science"), name)


def kernel_of(function: Callable[[], Callable[..., Any]], count: int = 1) -> Callable[..., Any]:
    """A kernel of one to four arrays, and `out` behind them, that looks its function up when called."""
    if count == 1:
        return lambda x, out=None: function()(x, out=out)
    if count == 2:
        return lambda x, y, out=None: function()(x, y, out=out)
    if count == 3:
        return lambda x, y, z, out=None: function()(x, y, z, out=out)
    return lambda w, x, y, z, out=None: function()(w, x, y, z, out=out)


def by_scipy(name: str, count: int = 1) -> Callable[..., Any]:
    """A kernel that is SciPy's function of that name."""
    return kernel_of(lambda: scipy_function(name), count)


def either(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's function of one array where SciPy is installed, else ours."""

    @functools.cache
    def chosen() -> Callable[..., Any]:
        module = _optional.try_load("scipy.special")
        return own if module is None else getattr(module, name)

    return kernel_of(chosen)


def finished(function: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    """A kernel from a function of arrays: its result in the dtype of its input, and in `out` if given."""

    def computed(*arrays: Any, out: Any = None) -> Any:
        with np.errstate(all="ignore"):
            result = np.asarray(function(*arrays), np.asarray(arrays[0]).dtype)
        if out is None:
            return result
        np.copyto(out, result)
        return out

    return kernel_of(lambda: computed, count)


# Pieces of rules ------------------------------------------------------------------------------------------------------


def unknown_derivative(name: str, argument: str) -> Callable[..., Node]:
    """The rule for an argument by which no closed form is known: it raises RuntimeError."""

    def rule(u: Node, out: Node, *inputs: Node) -> Node:
        raise RuntimeError(f"special.{name}: there is no derivative by {argument} in closed form; make it a constant with "
                           "ad.stop_gradient")  # fmt: skip

    return rule


def polynomial(x: Node, coefficients: tuple[float, ...]) -> Node:
    """c₀ + c₁ x + c₂ x² + … by Horner's rule."""
    total = ops.full(coefficients[-1], x.type)
    for c in reversed(coefficients[:-1]):
        total = ops.add(ops.multiply(total, x), c)
    return total


def near(x: Node, bound: float, series: Callable[[Node], Node], formula: Callable[[Node], Node]) -> Node:
    """`series(x)` where |x| < bound, `formula(x)` elsewhere; neither sees the other's arguments."""
    small = ops.less(ops.abs(x), bound)
    inside = series(ops.where(small, x, zeros(x.type)))
    return ops.where(small, inside, formula(ops.where(small, ops.full(1.0, x.type), x)))


def real(name: str, x: Node) -> Node:
    """A floating operand. Raises TypeError for a complex one."""
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: not defined for complex numbers")
    return inexact(x)


def times(u: Node, *factors: Any) -> Node:
    """A cotangent times factors: a zero stays zero beside infinite nodes."""
    for f in factors:
        u = ops.scale(u, f) if type(f) is Node else ops.multiply(u, f)
    return u


def _exp(x: Node) -> Node:
    return ops.exp(x)


# Gamma and beta functions ---------------------------------------------------------------------------------------------

gammaln = unary("gammaln", by_scipy("gammaln"), lambda u, out, x: times(u, digamma(x)), kinds="f")
digamma = unary("digamma", by_scipy("digamma"), lambda u, out, x: times(u, polygamma(x, 1)), kinds="f")
gamma = unary("gamma", by_scipy("gamma"), lambda u, out, x: times(u, out, digamma(x)), kinds="f")


# SciPy sums one term for each whole number below 0, which never ends at -1e12: from here on by reflection.
FAR_BELOW = -30.0


def _zeta(x: Any, q: Any) -> Any:
    """Hurwitz' zeta function: of q far below 0 and whole x the sum over all whole numbers, less that over those below q."""
    zeta_of = scipy_function("zeta")
    x, q = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(q, np.float64))
    far = (q < FAR_BELOW) & (x > 1) & (x == np.floor(x)) & (q != np.floor(q))
    if not far.any():
        return zeta_of(x, q)
    part = np.where(far, q - np.floor(q), 0.25)
    sign = 1 - 2 * np.fmod(x, 2)  # what an odd power makes of the other side
    every = zeta_of(x, part) + sign * zeta_of(x, 1 - part)  # 0 halfway between two numbers, if x is odd
    return np.where(far, every - sign * zeta_of(x, np.where(far, 1 - q, 1.0)), zeta_of(x, np.where(far, 1.0, q)))


def _polygamma_kernel(n: int, type: Any) -> Any:
    factor = (-1.0) ** (n + 1) * math.factorial(n)
    return finished(lambda x: factor * _zeta(n + 1, x))


POLYGAMMA = Primitive(
    "polygamma",
    _polygamma_kernel,
    (lambda u, out, x: times(u, polygamma(x, out.attributes + 1)),),
    elementwise=True,
)


@register
def polygamma(x: Node, n: int) -> Node:
    """The n-th derivative of digamma."""
    x = real("polygamma", x)
    return digamma(x) if n == 0 else record(POLYGAMMA, (x,), n, x.type)


beta = binary(
    "beta",
    by_scipy("beta", 2),
    lambda u, out, a, b: times(u, out, ops.subtract(digamma(a), digamma(ops.add(a, b)))),
    lambda u, out, a, b: times(u, out, ops.subtract(digamma(b), digamma(ops.add(a, b)))),
    kinds="f",
)
betaln = binary(
    "betaln",
    by_scipy("betaln", 2),
    lambda u, out, a, b: times(u, ops.subtract(digamma(a), digamma(ops.add(a, b)))),
    lambda u, out, a, b: times(u, ops.subtract(digamma(b), digamma(ops.add(a, b)))),
    kinds="f",
)


def _gamma_density(a: Node, x: Node) -> Node:
    return _exp(ops.subtract(ops.subtract(xlogy(ops.subtract(a, 1), x), x), gammaln(a)))


gammainc = binary(
    "gammainc",
    by_scipy("gammainc", 2),
    unknown_derivative("gammainc", "a"),
    lambda u, out, a, x: times(u, _gamma_density(a, x)),
    kinds="f",
)
gammaincc = binary(
    "gammaincc",
    by_scipy("gammaincc", 2),
    unknown_derivative("gammaincc", "a"),
    lambda u, out, a, x: ops.negative(times(u, _gamma_density(a, x))),
    kinds="f",
)


def _beta_density(a: Node, b: Node, x: Node) -> Node:
    powers = ops.add(xlogy(ops.subtract(a, 1), x), xlog1py(ops.subtract(b, 1), ops.negative(x)))
    return _exp(ops.subtract(powers, betaln(a, b)))


def _betainc(*arrays: Any) -> Any:
    """In double precision: in single SciPy's overflows on the way to what is about 0, betainc(1000, 24, 0.8) is infinite."""
    return scipy_function("betainc")(*[np.asarray(x, np.float64) for x in arrays])


BETAINC = Primitive(
    "betainc",
    lambda attributes, type: finished(_betainc, 3),
    (
        lambda u, out, a, b, x: times(u, ops.betainc_slope(a, b, x, ops.subtract(1.0, x))),
        lambda u, out, a, b, x: ops.negative(times(u, ops.betainc_slope(b, a, ops.subtract(1.0, x), x))),
        lambda u, out, a, b, x: times(u, _beta_density(a, b, x)),
    ),
    elementwise=True,
)


@register
def betainc(a: Any, b: Any, x: Any) -> Node:
    """The regularized incomplete beta function."""
    a, b, x = (real("betainc", n) for n in match("betainc", a, b, x))
    return record(BETAINC, (a, b, x), None, x.type)


# Of one argument SciPy's function is Riemann's, continued to the whole line.
riemann_zeta = unary("riemann_zeta", by_scipy("zeta"), unknown_derivative("zeta", "x"), kinds="f")
zeta = binary(
    "zeta",
    finished(_zeta, 2),
    unknown_derivative("zeta", "x"),
    lambda u, out, x, q: ops.negative(times(u, x, zeta(ops.add(x, 1), q))),
    kinds="f",
)

# Error functions and the normal distribution --------------------------------------------------------------------------

HALF_ROOT_PI = math.sqrt(math.pi) / 2
erfinv = unary(
    "erfinv", by_scipy("erfinv"), lambda u, out, x: times(u, HALF_ROOT_PI, _exp(ops.multiply(out, out))), kinds="f"
)
erfcinv = unary(
    "erfcinv", by_scipy("erfcinv"), lambda u, out, x: times(u, -HALF_ROOT_PI, _exp(ops.multiply(out, out))), kinds="f"
)

# g(x) = 1 - sqrt(pi) x erfcx(x) for large x: the sum of (-1)^(k+1) (2k-1)!! / (2x²)^k (DLMF 7.12.1)
TAIL = (0.0, *((-1.0) ** (k + 1) * math.prod(range(1, 2 * k, 2)) for k in range(1, 20)))


def _erfcx_slope(x: Node) -> Node:
    """2 x erfcx(x) - 2/sqrt(pi), which cancels for large x: there by its asymptotic series."""
    far = ops.greater(x, 8.0)
    large = ops.where(far, x, ops.full(8.0, x.type))
    series = polynomial(ops.divide(0.5, ops.multiply(large, large)), TAIL)
    close = ops.where(far, zeros(x.type), x)
    direct = ops.subtract(ops.multiply(ops.multiply(close, erfcx(close)), 2.0), 1 / HALF_ROOT_PI)
    return ops.where(far, ops.multiply(series, -1 / HALF_ROOT_PI), direct)


erfcx = unary("erfcx", either("erfcx", special_kernels.erfcx), lambda u, out, x: times(u, _erfcx_slope(x)), kinds="f")
ndtr = unary(
    "ndtr",
    either("ndtr", finished(lambda x: 0.5 * special_kernels.erfc(-np.asarray(x, np.float64) * math.sqrt(0.5)))),
    lambda u, out, x: times(u, 1 / math.sqrt(2 * math.pi), _exp(ops.multiply(ops.multiply(x, x), -0.5))),
    kinds="f",
)
ndtri = unary(
    "ndtri",
    either("ndtri", special_kernels.ndtri),
    lambda u, out, x: times(u, math.sqrt(2 * math.pi), _exp(ops.multiply(ops.multiply(out, out), 0.5))),
    kinds="f",
)
log_ndtr = unary(
    "log_ndtr",
    either("log_ndtr", special_kernels.log_ndtr),
    lambda u, out, x: ops.safe_divide(ops.multiply(u, math.sqrt(2 / math.pi)), erfcx(ops.multiply(x, -math.sqrt(0.5)))),
    kinds="f",
)
owens_t = binary(
    "owens_t",
    by_scipy("owens_t", 2),
    lambda u, out, h, a: times(
        u,
        -0.5 / math.sqrt(2 * math.pi),
        _exp(ops.multiply(ops.multiply(h, h), -0.5)),
        ops.erf(ops.multiply(ops.multiply(a, h), math.sqrt(0.5))),
    ),
    lambda u, out, h, a: ops.safe_divide(
        times(u, 0.5 / math.pi, _exp(ops.multiply(ops.multiply(ops.multiply(h, h), _one_more(a)), -0.5))), _one_more(a)
    ),
    kinds="f",
)


def _one_more(a: Node) -> Node:
    return ops.add(ops.multiply(a, a), 1)


# Logarithms of products -----------------------------------------------------------------------------------------------


def _by_log(x: Any, y: Any, log: Any) -> Any:
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * log(y))


xlogy = binary(
    "xlogy",
    finished(lambda x, y: _by_log(x, y, np.log), 2),
    lambda u, out, x, y: times(u, ops.log(y)),
    lambda u, out, x, y: ops.safe_divide(times(u, x), y),
    kinds="f",
    swallows=True,
)
xlog1py = binary(
    "xlog1py",
    finished(lambda x, y: _by_log(x, y, np.log1p), 2),
    lambda u, out, x, y: times(u, ops.log1p(y)),
    lambda u, out, x, y: ops.safe_divide(times(u, x), ops.add(y, 1)),
    kinds="f",
    swallows=True,
)
entr = unary(
    "entr",
    finished(
        lambda x: np.where(
            x > 0, -x * np.log(np.where(x > 0, x, 1)), np.where(x == 0, 0.0, np.where(x < 0, -np.inf, x))
        )
    ),
    lambda u, out, x: ops.negative(times(u, ops.add(ops.log(x), 1))),
    kinds="f",
    swallows=True,
)


def _relative_entropy(x: Any, y: Any) -> Any:
    inside = (x > 0) & (y > 0)
    x_inside, y_inside = np.where(inside, x, 1), np.where(inside, y, 1)
    ratio, info = x_inside / y_inside, np.finfo(x.dtype)
    # beside a quotient that overflows or has lost digits the logarithms are far apart
    far = (ratio < info.tiny) | (ratio > info.max)
    logarithm = np.where(far, np.log(x_inside) - np.log(y_inside), np.log(np.where(far, 1, ratio)))
    value = np.where(inside, x * logarithm, np.inf)
    value = np.where((x == 0) & (y >= 0), 0.0, value)
    return np.where(np.isnan(x) | np.isnan(y), np.nan, value)


rel_entr = binary(
    "rel_entr",
    finished(_relative_entropy, 2),
    lambda u, out, x, y: times(u, ops.add(ops.log(ops.divide(x, y)), 1)),
    lambda u, out, x, y: ops.negative(ops.safe_divide(times(u, x), y)),
    kinds="f",
    swallows=True,
)

# Elementary ones ------------------------------------------------------------------------------------------------------

SINC = tuple((-1.0) ** k * math.pi ** (2 * k) * 2 * k / math.factorial(2 * k + 1) for k in range(1, 12))


def _sinc_slope(x: Node) -> Node:
    def series(t: Node) -> Node:
        return ops.multiply(t, polynomial(ops.multiply(t, t), SINC))

    def formula(t: Node) -> Node:
        return ops.divide(ops.subtract(ops.cos(ops.multiply(t, math.pi)), sinc(t)), t)

    return near(x, 0.25, series, formula)


sinc = unary("sinc", finished(np.sinc), lambda u, out, x: times(u, _sinc_slope(x)), kinds="f")
cbrt = unary(
    "cbrt",
    np.cbrt,
    lambda u, out, x: ops.safe_divide(u, ops.multiply(ops.multiply(out, out), 3.0)),
    kinds="f",
)
exp2 = unary("exp2", np.exp2, lambda u, out, x: times(u, math.log(2), out), kinds="f")

# Bessel functions -----------------------------------------------------------------------------------------------------

# I₁(x)/x = ½ Σ (x²/4)^k / (k! (k+1)!)
I1_SERIES = tuple(0.5 * 0.25**k / (math.factorial(k) * math.factorial(k + 1)) for k in range(12))


def _i1_quotient(x: Node) -> Node:
    return near(x, 1.0, lambda t: polynomial(ops.multiply(t, t), I1_SERIES), lambda t: ops.divide(i1(t), t))


def _i1e_quotient(x: Node) -> Node:
    def series(t: Node) -> Node:
        return ops.multiply(polynomial(ops.multiply(t, t), I1_SERIES), _exp(ops.negative(ops.abs(t))))

    return near(x, 1.0, series, lambda t: ops.divide(i1e(t), t))


def far_slope(x: Node, order: Any, formula: Node, kind: float, turned: float = 0.0) -> Node:
    """The derivative of e^-x I_v(x) (kind 1) or of e^x K_v(x) (kind -1), v being `order`, a node or a number: for large x by the
    asymptotic series, sqrt(1/2πx) Σ (-1)^k a_k / x^k or sqrt(π/2x) Σ a_k / x^k with a_k = Π (4v² - (2j-1)²) / (8^k k!) (DLMF
    10.40), else as the formula has it, whose terms cancel there. That of -x is `turned` times that of x, where this is given."""
    square: Any = ops.multiply(ops.multiply(order, order), 4.0) if type(order) is Node else 4.0 * order * order
    size, bound = ops.abs(x) if turned else x, ops.add(ops.full(FAR, x.type), square)
    far = ops.greater(size, bound)
    inverse = ops.divide(1.0, ops.where(far, size, bound))
    factors = [((2 * k - 1) ** 2, -kind * (k + 0.5) / ((k - 0.5) * 8 * k)) for k in range(1, TERMS)]
    if type(order) is Node:
        term = total = ops.full(0.5, x.type)
        for odd, factor in factors:
            term = ops.multiply(term, ops.multiply(ops.multiply(ops.subtract(square, float(odd)), factor), inverse))
            total = ops.add(total, term)
    else:
        products = itertools.accumulate(((square - odd) * factor for odd, factor in factors), operator.mul, initial=0.5)
        total = polynomial(inverse, tuple(products))
    constant = math.sqrt(0.5 / math.pi) if kind > 0 else math.sqrt(0.5 * math.pi)
    power = ops.multiply(inverse, ops.multiply(ops.sqrt(inverse), -constant))
    slope = ops.multiply(power, total)
    return ops.where(far, ops.multiply(slope, ops.sign(x)) if turned < 0 else slope, formula)


FAR, TERMS = 100.0, 13


i0 = unary("i0", by_scipy("i0"), lambda u, out, x: times(u, i1(x)), kinds="f")
i1 = unary("i1", by_scipy("i1"), lambda u, out, x: times(u, ops.subtract(i0(x), _i1_quotient(x))), kinds="f")
i0e = unary(
    "i0e",
    by_scipy("i0e"),
    lambda u, out, x: times(u, far_slope(x, 0, ops.subtract(i1e(x), ops.multiply(ops.sign(x), out)), 1.0, -1.0)),
    kinds="f",
)
i1e = unary(
    "i1e",
    by_scipy("i1e"),
    lambda u, out, x: times(
        u,
        far_slope(x, 1, ops.subtract(ops.subtract(i0e(x), _i1e_quotient(x)), ops.multiply(ops.sign(x), out)), 1.0, 1.0),
    ),
    kinds="f",
)


def _moved(v: Node, by: float) -> Node:
    """An order plus a number. One that was moved before is moved further, or back to what it was: so derivatives of high order
    read each function once."""
    if v.op.name == "add" and v.inputs[1].op is FULL and v.inputs[1].value is None:
        v, by = v.inputs[0], by + v.inputs[1].attributes
    return ops.add(v, by) if by else v


def _neighbours(function: str, first: float, second: float) -> Callable[..., Node]:
    """The rule for x: the functions of the orders below and above, by these factors."""

    def rule(u: Node, out: Node, v: Node, x: Node) -> Node:
        below, above = getattr(ops, function)(_moved(v, -1.0), x), getattr(ops, function)(_moved(v, 1.0), x)
        return times(u, ops.add(ops.multiply(below, first), ops.multiply(above, second)))

    return rule


def near_zero(name: str, v: Any, x: Any) -> Any:
    """SciPy's `iv` or `ive`, which lose what they have for tiny x (0, or NaN), and at 0 infinity or its sign;
    there the series' first term (DLMF 10.25.2)."""
    found = scipy_function(name)(v, x)
    lost = (np.abs(x) < 1e-8) & np.isfinite(v) & ((found == 0) | (x == 0) | (np.isnan(found) & (x >= 0)))
    if not lost.any():
        return found
    order = np.where(v == np.floor(v), np.abs(v), v)
    power = np.power(np.where(x == 0, np.abs(x), x), order)
    return np.where(lost, power * np.power(0.5, order) * scipy_function("rgamma")(order + 1), found)


for _name, _kernel, _first, _second in (
    ("iv", finished(functools.partial(near_zero, "iv"), 2), 0.5, 0.5),
    ("kv", by_scipy("kv", 2), -0.5, -0.5),
    ("jv", by_scipy("jv", 2), 0.5, -0.5),
    ("yv", by_scipy("yv", 2), 0.5, -0.5),
):
    binary(
        _name,
        _kernel,
        unknown_derivative(_name, "the order v"),
        _neighbours(_name, _first, _second),
        kinds="f",
    )

# Integrals ------------------------------------------------------------------------------------------------------------

expi = unary("expi", by_scipy("expi"), lambda u, out, x: ops.safe_divide(times(u, _exp(x)), x), kinds="f")


def _expn_rule(u: Node, out: Node, x: Node) -> Node:
    n = out.attributes
    if n == 0:  # exp(-x)/x, whose derivative is written out
        return ops.negative(times(u, out, ops.add(ops.divide(1, x), 1)))
    return ops.negative(times(u, expn(x, n - 1)))


EXPN = Primitive(
    "expn",
    lambda n, type: finished(functools.partial(scipy_function("expn"), n)),
    (_expn_rule,),
    elementwise=True,
)


@register
def expn(x: Node, n: int) -> Node:
    """The exponential integral of order n."""
    x = real("expn", x)
    return record(EXPN, (x,), n, x.type)


LOG_QUOTIENT = tuple((-1.0) ** k / (k + 1) for k in range(22))


def _spence_slope(x: Node) -> Node:
    """log(x) / (1 - x), which is -1 at 1."""
    w = ops.subtract(x, 1)
    small = ops.less(ops.abs(w), 0.2)
    series = polynomial(ops.where(small, w, zeros(x.type)), LOG_QUOTIENT)
    far = ops.where(small, ops.full(2.0, x.type), x)  # of x itself: w has lost a small one
    return ops.negative(ops.where(small, series, ops.divide(ops.log(far), ops.subtract(far, 1))))


spence = unary("spence", by_scipy("spence"), lambda u, out, x: times(u, _spence_slope(x)), kinds="f")
