"""Every elementwise function at zeros, infinities, NaN, subnormal and huge numbers: NumPy's kernels, native code and many digits.

Values and gradients, float32 and float64. NumPy and native code agree on what is NaN, infinite and a negative zero; both are
within a few units in the last place of mpmath's values wherever mathematics has one. The sign of a derivative that is zero
is left open.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.execution.native import compile_plan
from adjoint.execution.numpy_programs import Streaming
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.plan import build
from operations import ELEMENTWISE

mpmath = pytest.importorskip("mpmath")
Real = Any
LIMIT = 8.0  # units in the last place
DTYPES = ["float32", "float64"]


def both(*outputs: ad.Tensor) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The values by NumPy's kernels and by native code."""
    c = canonicalize([y.node for y in outputs])
    plan = build(c, [c.number[y.node] for y in outputs], False)
    leaves, numbers = [value_array(x) for x in c.leaves], [v for v, _ in c.numbers]
    with np.errstate(all="ignore"):
        numpys = [np.array(x) for x in Streaming(plan).run(leaves, numbers, True)]
        program = compile_plan(plan)
        assert program is not None
        return numpys, [np.array(x) for x in program.run(leaves, numbers, True)]


def points(dtype: str, *more: float) -> np.ndarray:
    info = np.finfo(dtype)
    huge = 1e30 if dtype == "float32" else 1e200
    sizes = [0.0, float(info.tiny), 0.5, 1.0, 2.5, huge, np.inf, *more]
    return np.array([*sizes, *[-v for v in sizes], np.nan], dtype)


def more_points(dtype: str) -> np.ndarray:
    info = np.finfo(dtype)
    huge = 1e30 if dtype == "float32" else 1e200
    return points(
        dtype, 3 * float(info.smallest_subnormal), 1e-10, 0.25, 3.0, 9.0, 30.0, 120.0, huge**0.5, float(info.max)
    )


def exact(function: Callable[..., Real], *x: np.floating) -> Real | None:
    """The value in many digits; None where there is none, or none that is real."""
    if not all(np.isfinite(v) for v in x):
        return None
    try:
        found = mpmath.mpmathify(function(*[mpmath.mpf(float(v)) for v in x]))
    except (ZeroDivisionError, ValueError, OverflowError):
        return None
    found = found.real if found.imag == 0 else None
    return found if found is None or mpmath.isfinite(found) else None


def distance(found: np.floating, true: Real) -> float:
    """Units in the last place; an overflow may be the largest number as well as infinity."""
    info = np.finfo(found.dtype)
    if abs(true) > float(info.max):
        return 0.0 if abs(found) >= info.max and (found > 0) == (true > 0) else np.inf
    if not np.isfinite(found):
        return np.inf
    with np.errstate(all="ignore"):
        unit = np.spacing(np.minimum(np.abs(found.dtype.type(true)), info.max / 2))
    unit = max(float(unit), float(info.smallest_subnormal))
    return float(abs(mpmath.mpf(float(found)) - true) / unit)


def alike(one: np.floating, other: np.floating, signed: bool) -> bool:
    if np.isnan(one) or np.isnan(other) or np.isinf(one) or np.isinf(other):
        return bool(np.isnan(one) == np.isnan(other) and (np.isnan(one) or one == other))
    return not signed or one != 0 or other != 0 or bool(np.signbit(one) == np.signbit(other))


def compare(
    name: str, x: list[np.ndarray], numpys: np.ndarray, native: np.ndarray, true: Any, limit: float = LIMIT
) -> None:
    signed = name.startswith("value")
    for i, arguments in enumerate(zip(*x, strict=True)):
        call = f"{name} at {[float(v) for v in arguments]}: NumPy {numpys[i]}, native {native[i]}"
        assert alike(numpys[i], native[i], signed), call
        expected = None if true is None else exact(true, *arguments)
        if expected is not None:
            assert max(distance(numpys[i], expected), distance(native[i], expected)) <= limit, (
                f"{call}, true {expected}"
            )


def sigma(x: Real) -> Real:
    return 1 / (1 + mpmath.exp(-x))


def bell(x: Real) -> Real:
    return mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)


def normal(x: Real) -> Real:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def inside(x: Real, low: Real = -mpmath.inf, high: Real = mpmath.inf) -> Real:
    """x; a ValueError outside a domain, where the function goes on in the complex plane or nowhere."""
    if not low < x < high:
        raise ValueError
    return x


sqrt, exp, log, cosh = mpmath.sqrt, mpmath.exp, mpmath.log, mpmath.cosh
# The function and its derivative.
UNARY: dict[str, tuple[Callable[[Real], Real] | None, Callable[[Real], Real]]] = {
    "exp": (exp, exp), "expm1": (mpmath.expm1, exp), "log": (log, lambda x: 1 / x),
    "log1p": (mpmath.log1p, lambda x: 1 / (1 + x)),
    "log2": (lambda x: log(x, 2), lambda x: 1 / (x * log(2))), "log10": (lambda x: log(x, 10), lambda x: 1 / (x * log(10))),
    "sqrt": (sqrt, lambda x: 1 / (2 * sqrt(x))), "square": (lambda x: x * x, lambda x: 2 * x),
    "reciprocal": (lambda x: 1 / x, lambda x: -1 / x**2), "negative": (lambda x: -x, lambda x: -1),
    "positive": (lambda x: x, lambda x: 1),
    "sin": (mpmath.sin, mpmath.cos), "cos": (mpmath.cos, lambda x: -mpmath.sin(x)),
    "tan": (mpmath.tan, lambda x: 1 + mpmath.tan(x) ** 2), "asin": (mpmath.asin, lambda x: 1 / sqrt(1 - x * x)),
    "acos": (mpmath.acos, lambda x: -1 / sqrt(1 - x * x)), "atan": (mpmath.atan, lambda x: 1 / (1 + x * x)),
    "sinh": (mpmath.sinh, cosh), "cosh": (cosh, mpmath.sinh), "tanh": (mpmath.tanh, lambda x: 1 / cosh(x) ** 2),
    "asinh": (mpmath.asinh, lambda x: 1 / sqrt(1 + x * x)),
    "acosh": (mpmath.acosh, lambda x: 1 / (sqrt(inside(x, 1) - 1) * sqrt(x + 1))),
    "atanh": (mpmath.atanh, lambda x: 1 / (1 - x * x)),
    "erf": (mpmath.erf, lambda x: 2 / sqrt(mpmath.pi) * exp(-x * x)),
    "erfc": (mpmath.erfc, lambda x: -2 / sqrt(mpmath.pi) * exp(-x * x)),
    "sigmoid": (sigma, lambda x: sigma(x) * sigma(-x)), "softplus": (lambda x: mpmath.log1p(exp(x)), sigma),
    "gelu": (lambda x: x * normal(x), lambda x: normal(x) + x * bell(x)),
    "silu": (lambda x: x * sigma(x), lambda x: sigma(x) + x * sigma(x) * sigma(-x)),
    "abs": (abs, mpmath.sign), "sign": (mpmath.sign, lambda x: 0), "relu": (lambda x: max(x, 0), lambda x: int(x > 0)),
    "floor": (mpmath.floor, lambda x: 0), "ceil": (mpmath.ceil, lambda x: 0),
    "trunc": (None, lambda x: 0), "round": (None, lambda x: 0),
}  # fmt: skip
EXPONENTS = (0, 0.5, -0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 7, -1, -2, -3)
# Rounded to 1 already: 1 - tanh² is right to the last place of 1, not of itself.
ABSOLUTE = {"tanh"}


def differentiated(function: Callable[..., ad.Tensor], *x: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Value and gradients, by NumPy and by native code."""
    inputs = [ad.variable(v) for v in x]
    y = function(*inputs)
    found = ad.gradients(y.sum(), inputs) if y.requires_grad else [None] * len(inputs)
    return both(y, *[ad.zeros_like(v) if g is None else g for g, v in zip(found, inputs, strict=True)])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*UNARY, *[f"power {p}" for p in EXPONENTS]])
def test_functions_of_one_number(name: str, dtype: str) -> None:
    x = more_points(dtype)
    if name in UNARY:
        (value, derivative), function = UNARY[name], getattr(ad, name)
    else:
        p = next(p for p in EXPONENTS if name == f"power {p}")
        function = lambda t: t**p  # noqa: E731
        value, derivative = lambda t: mpmath.power(t, p), lambda t: p * mpmath.power(t, p - 1) if p else mpmath.mpf(0)
    numpys, native = differentiated(function, x)
    with mpmath.workprec(1400):
        compare(f"value of {name}", [x], numpys[0], native[0], value)
        if name in ABSOLUTE:
            for found in (numpys[1], native[1]):
                expected = [float(derivative(mpmath.mpf(float(v)))) for v in x[np.isfinite(x)]]
                np.testing.assert_allclose(found[np.isfinite(x)], expected, 0, float(np.finfo(dtype).eps))
        else:
            compare(f"gradient of {name}", [x], numpys[1], native[1], derivative)


def share(chosen: Callable[[Real, Real], bool]) -> Callable[[Real, Real], Real]:
    return lambda a, b: 0.5 if a == b else int(chosen(a, b))


Binary = Callable[[Real, Real], Real]
# The function and its derivatives by both.
BINARY: dict[str, tuple[Binary | None, Binary | None, Binary | None]] = {
    "add": (lambda a, b: a + b, lambda a, b: 1, lambda a, b: 1),
    "subtract": (lambda a, b: a - b, lambda a, b: 1, lambda a, b: -1),
    "multiply": (lambda a, b: a * b, lambda a, b: b, lambda a, b: a),
    "divide": (lambda a, b: a / b, lambda a, b: 1 / b, lambda a, b: -a / b**2),
    "power": (mpmath.power, lambda a, b: b * mpmath.power(a, b - 1), lambda a, b: mpmath.power(a, b) * log(inside(a, 0))),
    # mpmath knows no negative zero
    "atan2": (lambda y, x: mpmath.atan2(inside(abs(y), 0) and y, x),
              lambda y, x: x / (x * x + y * y), lambda y, x: -y / (x * x + y * y)),
    "hypot": (mpmath.hypot, lambda a, b: a / mpmath.hypot(a, b), lambda a, b: b / mpmath.hypot(a, b)),
    "logaddexp": (lambda a, b: max(a, b) + mpmath.log1p(exp(-abs(a - b))),
                  lambda a, b: sigma(a - b), lambda a, b: sigma(b - a)),
    "maximum": (max, share(lambda a, b: a > b), share(lambda a, b: b > a)),
    "minimum": (min, share(lambda a, b: a < b), share(lambda a, b: b < a)),
    "remainder": (lambda a, b: a - mpmath.floor(a / b) * b, lambda a, b: 1, lambda a, b: -mpmath.floor(a / b)),
    "floor_divide": (lambda a, b: mpmath.floor(a / b), lambda a, b: 0, lambda a, b: 0),
    "copysign": (None, None, None),
    "nextafter": (None, lambda a, b: 1, lambda a, b: 0),
}  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_numbers(name: str, dtype: str) -> None:
    a, b = (np.array(v) for v in zip(*itertools.product(points(dtype), repeat=2), strict=True))
    numpys, native = differentiated(getattr(ad, name), a, b)
    with mpmath.workprec(700 if name in ("power", "remainder", "floor_divide") else 200):
        for i, true in enumerate(BINARY[name]):
            if name == "power" and i == 1:  # y - 1 is y, and as even or odd, above 2**53
                true = lambda x, y: BINARY["power"][1](x, inside(abs(y), 0, 2**24) and y)  # noqa: E731
            compare(
                f"{['value', 'first gradient', 'second gradient'][i]} of {name}", [a, b], numpys[i], native[i], true
            )


def test_every_elementwise_row_of_the_table_is_here() -> None:
    real = {operation.name for operation in ELEMENTWISE if "f" in operation.dtypes}
    without_derivative = {
        "logical_not", "isfinite", "isinf", "isnan", "signbit", "equal", "not_equal", "less", "less_equal",
        "greater", "greater_equal",
    }  # fmt: skip
    # The identity of real numbers, selections, casts; and power by its other name.
    shared = {"conj", "real", "where", "clip", "astype", "pow"}
    assert real - set(UNARY) - set(BINARY) - without_derivative - shared == set()


COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_gives_a_bool_is_numpys(dtype: str) -> None:
    a, b = (np.array(v) for v in zip(*itertools.product(more_points(dtype), repeat=2), strict=True))
    x, y = ad.tensor(a), ad.tensor(b)
    outputs = [getattr(ad, name)(x, y) for name in COMPARISONS]
    outputs += [getattr(ad, name)(x) for name in ("isfinite", "isinf", "isnan", "signbit", "logical_not")]
    expected = [getattr(np, name)(a, b) for name in COMPARISONS]
    expected += [getattr(np, name)(a) for name in ("isfinite", "isinf", "isnan", "signbit", "logical_not")]
    for found in both(*outputs):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


# Single findings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("of", ["number", "array", "column"])
def test_a_power_of_one_half_is_no_root(of: str, dtype: str) -> None:
    x = ad.tensor(np.array([[-np.inf, -0.0, 4.0], [0.0, -1.0, np.inf]], dtype))
    half: Any = {
        "number": 0.5,
        "array": ad.full((2, 3), 0.5, dtype=dtype),
        "column": ad.full((2, 1), 0.5, dtype=dtype),
    }[of]
    for (found,) in both(x**half):
        np.testing.assert_array_equal(found, [[np.inf, 0, 2], [0, np.nan, np.inf]])
        assert not np.signbit(found[0, 1])


def test_a_power_of_one_half_of_one_number() -> None:
    for value, expected in ((-np.inf, np.inf), (-0.0, 0.0)):
        found = (ad.tensor(value) ** ad.tensor(0.5)).item(), (ad.tensor(value) ** 0.5).item()
        assert found == (expected, expected) and not np.signbit(found).any()


@pytest.mark.parametrize("infinity", [-np.inf, np.inf])
def test_equal_infinities_share_the_gradient_of_logaddexp(infinity: float) -> None:
    x = np.array([infinity, 1.0, 1.0]), np.array([infinity, 1.0, infinity])
    (_, a, b), native = differentiated(ad.logaddexp, *x)
    for one, other in zip((a, b), native[1:], strict=True):
        np.testing.assert_array_equal(one[:2], [0.5, 0.5])
        np.testing.assert_array_equal(one, other)
    second = ad.grad(lambda t: ad.grad(lambda s: ad.logaddexp(s, 1.0))(t))(ad.tensor(1.0))
    assert second.item() == 0.25, "ties of finite numbers are no corner"


@pytest.mark.parametrize("dtype", DTYPES)
def test_gelu_keeps_the_digits_of_its_tail(dtype: str) -> None:
    x = np.linspace(-13.0 if dtype == "float32" else -37.0, 6.0, 150).astype(dtype)
    numpys, native = differentiated(ad.gelu, x)
    with mpmath.workprec(200):
        for i, true in enumerate(UNARY["gelu"]):
            away = np.abs(x + 0.7518) > 0.2 if i else np.full(x.shape, True)  # from where the derivative is zero
            compare("gelu", [x[away]], numpys[i][away], native[i][away], true)


EQUAL = [
    (100_000, 1e8, "float32"),
    (100_000, 0.1, "float64"),
    (1000, 1e15, "float32"),
    (3, 0.1, "float32"),
    (77_777, -3e7, "float32"),
]


@pytest.mark.parametrize(("count", "number", "dtype"), EQUAL)
def test_equal_numbers_have_no_variance(count: int, number: float, dtype: str) -> None:
    x = ad.variable(np.full(count, number, dtype))
    spread, deviation = ad.var(x), ad.std(x)
    (gradient,) = ad.gradients(spread, [x])
    for found in both(spread, deviation, gradient):
        assert found[0] <= (1e-7 if dtype == "float32" else 1e-15) ** 2 * number**2 / 10 and found[1] >= 0
        assert np.abs(found[2]).max() <= 1e-7 * abs(number) / count


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_variance_far_from_zero_is_that_of_the_deviations(dtype: str) -> None:
    generator = np.random.default_rng(0)
    x = (generator.normal(size=(3, 20_000)) + np.array([[0.0], [100.0], [-3000.0]])).astype(dtype)
    expected = np.var(x.astype(np.longdouble), axis=1)
    for (found,) in both(ad.var(ad.tensor(x), axis=1)):
        np.testing.assert_allclose(found, expected.astype("float64"), 3e-6 if dtype == "float32" else 1e-14)


def test_a_variance_of_nothing_left_to_divide_by_keeps_its_curvature() -> None:
    """The second derivative at equal numbers is that of a parabola, however rounding fell."""
    for number in (0.1, 1.0, 1e6):
        hessian = ad.hessian(ad.var)(ad.tensor(np.full(3, number)))
        np.testing.assert_allclose(hessian.numpy(), 2 / 3 * (np.eye(3) - 1 / 3), 1e-9, 1e-12)


@pytest.mark.parametrize("number", [0.0, -0.0, 1.5, 0, 7, False, True, 0j, complex(0.0, -0.0), float("nan")])
def test_a_constant_that_is_asked_for_keeps_every_bit(number):
    shape = (70, 3)
    zeros, made = ad.zeros(shape, dtype="float16"), ad.full(shape, number)
    ad.evaluate([made, zeros])
    found = made.numpy()
    assert found.tobytes() == np.full(shape, number, found.dtype).tobytes()
    assert not zeros.numpy().any() and zeros.numpy().shape == shape
