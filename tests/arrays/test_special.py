"""Special functions beyond the table: their whole domains, edges, high orders where forms cancel, SciPy's names, NumPy alone."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
import scipy.special

import adjoint as ad
from adjoint import _optional
from adjoint.primitives import special as primitives
from adjoint.primitives import special_kernels
from derivative_checks import check_derivatives
from support import double, equal

mpmath = pytest.importorskip("mpmath")

EDGES = np.array(
    [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 1e-300, 1e300, -1e300, np.inf, -np.inf, np.nan, -2.5, 40.0, -40.0]
)
ONE = """gammaln digamma gamma erfinv erfcinv erfcx ndtr ndtri log_ndtr entr cbrt exp2 i0 i0e i1 i1e expi spence expit logit
log_expit erf erfc j0 j1 y0 y1 k0 k1 k0e k1e rgamma gammasgn ellipk ellipe dawsn exprel factorial""".split()
TWO = """beta betaln gammainc gammaincc owens_t xlogy xlog1py rel_entr iv kv jv yv ive kve poch binom boxcox boxcox1p kl_div huber
pseudo_huber""".split()


@pytest.mark.parametrize("name", ONE)
def test_the_whole_line_is_scipys(name: str) -> None:
    size = np.logspace(-12, 3, 60)
    x = np.concatenate([EDGES, size, -size, np.linspace(-3, 3, 61)])
    with np.errstate(all="ignore"):
        expected = getattr(scipy.special, name)(x)
    found = getattr(ad.special, name)(ad.tensor(x)).numpy()
    np.testing.assert_allclose(found, expected, rtol=2e-13, atol=1e-300)


@pytest.mark.parametrize("name", TWO)
def test_pairs_of_edges_are_scipys(name: str) -> None:
    values = np.array([0.0, 0.5, 1.0, 2.0, 7.5, 1e3, np.inf, np.nan])
    with np.errstate(all="ignore"):
        expected = getattr(scipy.special, name)(values[:, None], values)
    found = getattr(ad.special, name)(ad.tensor(values)[:, None], ad.tensor(values)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-13)


POINTS = {
    "sinc": [0.0, 1e-9, 0.1, 0.2499, 0.2501, 1.0, 7.3],
    "erfcx": [-3.0, 0.0, 1.0, 7.9, 8.1, 50.0, 1e4],
    "spence": [0.01, 0.79, 0.81, 1.0, 1.0 + 1e-9, 1.19, 1.21, 30.0],
    "log_ndtr": [-1e4, -30.0, -1.0, 0.0, 5.0],
    "i1": [0.0, 1e-9, 0.999, 1.001, 10.0],
    "i1e": [1e-9, 0.999, 1.001, 600.0],
    "digamma": [0.01, 1.4616321449683623, 3.0, -0.5, 1e6],
    "gammaln": [0.01, 1.0, 2.0, 30.0, -1.5],
    "ndtr": [-20.0, 0.0, 3.0],
    "rgamma": [-3.0, -1.0, 0.0, 1e-9, 0.499, 0.501, 4.0],
    "ellipk": [-5.0, -0.21, 0.0, 1e-9, 0.19, 0.21, 0.99],
    "ellipe": [-5.0, -0.21, 0.0, 1e-9, 0.19, 0.21, 0.99],
    "dawsn": [0.0, 1.0, -3.0, 7.9, 8.1, 50.0, 1e4],
    "exprel": [0.0, 1e-9, -0.99, 0.99, 1.01, 30.0],
    "j1": [0.0, 1e-9, 2.0, 30.0],
    "k0e": [0.1, 1.0],
    "lambertw": [-0.3, 0.0, 1e-9, 1.0, 1e6],
    "hyp2f1": [0.0, 0.5],
    "hyp1f1": [-3.0, 0.0, 2.0],
    "shi": [0.0, 0.99, 1.01, 5.0],
    "voigt_profile": [0.0, 1.0, 9.0, 12.0, 300.0],
}
EXACT = {
    "sinc": lambda x: mpmath.sincpi(x),
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "spence": lambda x: mpmath.polylog(2, 1 - x),
    "log_ndtr": lambda x: mpmath.log(mpmath.ncdf(x)),
    "i1": lambda x: mpmath.besseli(1, x),
    "i1e": lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(1, x),
    "digamma": mpmath.digamma,
    "gammaln": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "ndtr": mpmath.ncdf,
    "rgamma": mpmath.rgamma,
    "ellipk": mpmath.ellipk,
    "ellipe": mpmath.ellipe,
    "dawsn": lambda x: mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(-x * x) * mpmath.erfi(x),
    "exprel": lambda x: mpmath.expm1(x) / x if x else mpmath.mpf(1),
    "j1": lambda x: mpmath.besselj(1, x),
    "k0e": lambda x: mpmath.exp(x) * mpmath.besselk(0, x),
    "lambertw": lambda x: mpmath.lambertw(x).real,
    "hyp2f1": lambda x: mpmath.hyp2f1(0.5, 1.5, 2, x),
    "hyp1f1": lambda x: mpmath.hyp1f1(0.5, 2, x),
    "shi": mpmath.shi,
    "voigt_profile": lambda x: (
        (mpmath.exp(-((z := mpmath.mpc(x, 0.3) / mpmath.sqrt(2)) ** 2)) * mpmath.erfc(-1j * z)).real
        / mpmath.sqrt(2 * mpmath.pi)
    ),
}
FUNCTIONS = {
    "hyp2f1": lambda x: ad.special.hyp2f1(0.5, 1.5, 2.0, x),
    "hyp1f1": lambda x: ad.special.hyp1f1(0.5, 2.0, x),
    "shi": lambda x: ad.special.shichi(x)[0],
    "voigt_profile": lambda x: ad.special.voigt_profile(x, 1.0, 0.3),
}


@pytest.mark.parametrize("name", POINTS)
def test_three_derivatives_where_closed_forms_cancel(name: str) -> None:
    functions = [FUNCTIONS.get(name) or getattr(ad.special, name)]
    for _ in range(3):
        functions.append(ad.grad(functions[-1]))
    with mpmath.workdps(60):
        for x in POINTS[name]:
            for order, function in enumerate(functions):
                exact = float(mpmath.diff(EXACT[name], mpmath.mpf(x), order, h=mpmath.mpf(10) ** -16))
                found = function(ad.tensor(x, dtype="float64")).item()
                assert abs(found - exact) <= 1e-9 * abs(exact) + 1e-13, (name, x, order, found, exact)


@pytest.mark.parametrize("name", ["erfcx", "log_ndtr", "ndtri"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_with_numpy_alone(name: str, dtype: str) -> None:
    x = np.concatenate([np.linspace(-20, 20, 401), [0.0, np.inf, -np.inf, np.nan]])
    if name == "ndtri":
        x = np.concatenate([np.linspace(0, 1, 201), np.logspace(-30, -1, 40), [np.nan, -1, 2]])
    x = x.astype(dtype)
    with np.errstate(all="ignore"):
        found, expected = getattr(special_kernels, name)(x), getattr(scipy.special, name)(x.astype("float64"))
        expected = expected.astype(dtype)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-13 if dtype == "float64" else 3e-7, atol=1e-45)


def test_a_missing_scipy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.import_module

    def missing(name: str) -> Any:
        if name.partition(".")[0] == "scipy":
            raise ModuleNotFoundError(name="scipy")
        return found(name)

    gammaln = ad.special.gammaln  # loads the namespace, by the function that is exchanged now
    monkeypatch.setattr(_optional.importlib, "import_module", missing)
    primitives.scipy_function.cache_clear()
    with pytest.raises(ImportError, match=r"special.gammaln needs the package scipy.*pip install 'adjoint\[science\]'"):
        gammaln(ad.tensor(3.0)).numpy()


@pytest.mark.parametrize(
    ("name", "arguments", "which"),
    [("gammainc", (2.0, 1.0), 0), ("iv", (0.5, 1.0), 0), ("zeta", (2.0, 1.0), 0)],
)
def test_a_derivative_that_has_no_closed_form_is_an_error(name: str, arguments: tuple[float, ...], which: int) -> None:
    with pytest.raises(RuntimeError, match=f"special.{name}: there is no derivative by .*stop_gradient"):
        ad.grad(getattr(ad.special, name), which)(*arguments)
    last = len(arguments) - 1
    ad.grad(getattr(ad.special, name), last)(*arguments).numpy()


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match="gammaln: not defined for complex64"):
        ad.special.gammaln(ad.tensor([1j]))
    with pytest.raises(TypeError, match=r"n is a Python integer, got 1\.5"):
        ad.special.polygamma(1.5, 1.0)
    with pytest.raises(ValueError, match="n is at least 0, got -1"):
        ad.special.expn(-1, 1.0)


def test_chain_rules_pass_through_zeros() -> None:
    """0 log 0 is 0, and its cotangent by y is 0 where x is."""
    x, y = ad.tensor([0.0, 2.0]), ad.tensor([0.0, 3.0])
    np.testing.assert_allclose(ad.grad(lambda y: ad.special.xlogy(x, y).sum())(y).numpy(), [0, 2 / 3], rtol=1e-6)
    weights = ad.tensor([1.0, 0.0])
    values = ad.tensor([0.5, np.inf])
    assert ad.special.logsumexp(values, b=weights).item() == 0.5
    np.testing.assert_allclose(ad.grad(lambda v: ad.special.logsumexp(v, b=weights))(values).numpy(), [1, 0])


def test_scipys_and_numpys_names_record() -> None:
    x = ad.variable(np.array([0.3, 0.6]))
    for name in (
        "gammaln",
        "psi",
        "erf",
        "erfinv",
        "ndtr",
        "log_ndtr",
        "i0e",
        "expit",
        "logit",
        "spence",
        "log1p",
        "exp1",
    ):
        found = getattr(scipy.special, name)(x)
        assert isinstance(found, ad.Tensor) and found.requires_grad
        np.testing.assert_allclose(found.numpy(), getattr(scipy.special, name)(x.numpy()), rtol=1e-13)
    np.testing.assert_allclose(scipy.special.xlogy(x, 2.0).numpy(), scipy.special.xlogy(x.numpy(), 2.0))
    for function in (np.sinc, np.exp2, np.cbrt, np.i0):
        found = function(x)
        assert isinstance(found, ad.Tensor) and found.requires_grad
        np.testing.assert_allclose(found.numpy(), function(x.numpy()), rtol=1e-13)


def poisson_loss(w: ad.Tensor, x: ad.Tensor, y: ad.Tensor) -> ad.Tensor:
    rate = x @ w
    return (ad.exp(rate) - y * rate + ad.special.gammaln(y + 1)).mean()


def test_a_poisson_regression_interpreted_and_compiled() -> None:
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(200, 3)), generator.poisson(2.0, 200).astype("float64")
    w = np.array([0.1, -0.2, 0.3])
    check_derivatives(lambda w: [poisson_loss(w, ad.tensor(x), ad.tensor(y))], [w])
    rate = x @ w
    expected = (np.exp(rate) - y * rate + scipy.special.gammaln(y + 1)).mean()
    compiled = ad.jit(ad.value_and_grad(poisson_loss))
    for _ in range(2):
        value, gradient = compiled(ad.tensor(w), ad.tensor(x), ad.tensor(y))
        np.testing.assert_allclose(value.item(), expected, rtol=1e-13)
        np.testing.assert_allclose(gradient.numpy(), (x * (np.exp(rate) - y)[:, None]).mean(0), rtol=1e-10)


def test_lambertws_branches_and_edges() -> None:
    x = np.array([-np.exp(-1.0), -0.3, -1e-9, 0.0, 1e-300, 1e300, np.inf, np.nan, -0.4, -1.0])
    with np.errstate(all="ignore"):
        for k in (0, -1):
            found, expected = ad.special.lambertw(ad.tensor(x), k).numpy(), scipy.special.lambertw(x, k)
            real = (expected.imag == 0) & np.isfinite(expected.real)
            real &= (x < 0) if k else True
            np.testing.assert_allclose(found[real], expected.real[real], rtol=1e-15)
            assert found[0] == -1 and np.isnan(found[-3:]).all()
    assert ad.special.lambertw(0.0, -1).item() == -np.inf and np.isnan(ad.special.lambertw(1.0, -1).item())
    with pytest.raises(ValueError, match="k is 0 or -1"):
        ad.special.lambertw(1.0, 2)


def test_box_and_cox_at_their_edges() -> None:
    assert ad.special.boxcox(0.0, ad.tensor([0.0, 1.0, 2.0, -1.0])).tolist() == [-np.inf, -1.0, -0.5, -np.inf]
    for x, exponent in ((2.0, 0.0), (2.0, 1e-9), (0.5, -2.0), (3.0, 1.0)):
        ad.check_grads(ad.special.boxcox, (double(x), double(exponent)))
        ad.check_grads(ad.special.boxcox1p, (double(x), double(exponent)))


def test_scipys_functions_of_other_names_come_here() -> None:
    x = double([0.7, 1.9])
    for found, expected in (
        (scipy.special.jn(2, x), ad.special.jv(2.0, x)), (scipy.special.kn(1, x), ad.special.k1(x)),
        (scipy.special.zeta(x + 1), ad.special.zeta(x + 1)), (scipy.special.sici(x)[1], ad.special.sici(x)[1]),
        (scipy.special.hyp2f1(0.5, 1.0, 2.0, x / 2), ad.special.hyp2f1(0.5, 1.0, 2.0, x / 2)),
    ):  # fmt: skip
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-14)


def test_softmax_is_over_everything_as_scipys_is() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3))
    for name in ("softmax", "log_softmax"):
        ours, scipys = getattr(ad.special, name), getattr(scipy.special, name)
        for axis in (None, 0, -1, (0, 1)):
            equal(ours(ad.tensor(x), axis=axis), scipys(x, axis=axis))
        equal(ours(x.tolist()), scipys(x))
        equal(ours(0.5), scipys(0.5))
        ad.check_grads(ours, (double(x),), order=2)


def test_riemanns_zeta_is_on_the_whole_line() -> None:
    x = np.array([0.3, -1.0, -2.5, 0.0, 1.0, 2.0, 40.0, np.nan, np.inf])
    equal(ad.special.zeta(ad.tensor(x)), scipy.special.zeta(x))
    equal(scipy.special.zeta(ad.tensor(x)), scipy.special.zeta(x))
    equal(ad.special.zeta(ad.tensor(x), 1.0), scipy.special.zeta(x, 1.0))
    with pytest.raises(RuntimeError, match="closed form"):
        ad.grad(lambda x: ad.special.zeta(x))(double(0.5))


def test_a_voigt_profile_without_its_normal_part_is_cauchys() -> None:
    x, gamma = np.array([0.0, 1.0, 0.0, 0.7, -0.7]), np.array([0.0, 0.0, 2.0, 0.5, 0.5])
    equal(ad.special.voigt_profile(ad.tensor(x), 0.0, ad.tensor(gamma)), scipy.special.voigt_profile(x, 0.0, gamma))
    ad.check_grads(lambda x, g: ad.special.voigt_profile(x, 0.0, g), (double(x[2:]), double(gamma[2:])), order=2)
    equal(ad.special.log_expit(ad.tensor([True, False])), scipy.special.log_expit(np.array([1.0, 0.0])))


def test_hurwitzs_zeta_and_polygamma_of_numbers_far_below_zero() -> None:
    """Its sum has as many terms as there are whole numbers from q to 0; beside that over all whole numbers by mpmath."""
    q = np.array([-31.25, -40.5, -1e9 - 0.75, -1e12 + 0.25])
    for n in (2, 3, 7, 70):
        expected = []
        for x in q:
            part = mpmath.mpf(x) - mpmath.floor(x)
            every = mpmath.zeta(n, part) + (-1) ** n * mpmath.zeta(n, 1 - part)
            expected.append(float(every - (-1) ** n * mpmath.zeta(n, 1 - mpmath.mpf(x))))
        np.testing.assert_allclose(ad.special.zeta(float(n), double(q)).numpy(), expected, rtol=1e-12)
        factor = float((-1) ** n * mpmath.factorial(n - 1))
        np.testing.assert_allclose(
            ad.special.polygamma(n - 1, double(q)).numpy(), factor * np.array(expected), rtol=1e-12
        )
    for order in (3.0, 2.5):
        x = np.array([-50.0, -50.5, -np.inf, np.nan, 2.0])
        equal(ad.special.zeta(order, double(x)), scipy.special.zeta(order, x))


def test_modified_bessel_functions_close_to_zero() -> None:
    """Where SciPy's `iv` loses all (0) and its `ive` is NaN."""
    x = [5e-324, 1e-320, 1e-300, 1e-40, 1e-9]
    for v in (0.5, -0.5, 1.0, 0.25, -1.5, -2.0, 0.0):
        expected = [float(mpmath.besseli(v, y)) for y in x]
        for function in (ad.special.iv, ad.special.ive):
            np.testing.assert_allclose(function(v, double(x)).numpy(), expected, rtol=1e-8)
    for v in (-0.5, -2.5):
        assert ad.special.ive(v, double([0.0, -0.0])).tolist() == [np.inf, np.inf]
    assert ad.grad(ad.special.ive, 1)(double(0.5), double(0.0)).item() == np.inf


def test_the_slope_of_spence_near_0() -> None:
    x = np.array([1e-300, 1e-30, 1e-16, 1e-3, 0.79, 0.81, 1.0, 1.19, 1.21, 3.0])
    slopes = [float(mpmath.log(v) / (1 - mpmath.mpf(v))) if v != 1 else -1.0 for v in x]
    np.testing.assert_allclose(ad.grad(lambda x: ad.special.spence(x).sum())(double(x)).numpy(), slopes, rtol=1e-13)
    bend = ad.grad(ad.grad(ad.special.spence))
    assert bend(1e-30).item() == pytest.approx(1e30)  # (1/x)(1 + …), of log x / (1 - x)


@pytest.mark.parametrize("name", ["iv", "ive"])
def test_modified_bessel_functions_at_0(name: str) -> None:
    """x^v / (2^v Γ(v + 1)): the sign of infinity is that of Γ, and v / x times it the slope."""
    v = np.array([-2.5, -1.5, -0.5, 0.5, 1.0, 1.5, -1.0, 0.0, 2.0])
    f = getattr(ad.special, name)
    for x in (0.0, -0.0):
        values, slopes = f(double(v), x), ad.vmap(ad.grad(f, 1))(double(v), double(np.full(9, x)))
        np.testing.assert_array_equal(values.numpy(), [np.inf, -np.inf, np.inf, 0, 0, 0, 0, 1, 0])
        np.testing.assert_array_equal(slopes.numpy(), [-np.inf, np.inf, -np.inf, np.inf, 0.5, 0, 0.5, 0, 0])


@pytest.mark.parametrize("name", ["erf", "erfc", "gaussian", "normal_cdf", "gelu_derivative"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_blocks_of_large_arrays_have_the_bits_of_the_whole(name: str, dtype: str) -> None:
    kernel = getattr(special_kernels, name)
    x = np.random.default_rng(0).normal(0, 4, (3, special_kernels.BLOCK)).astype(dtype)
    x[1, :4] = np.nan, np.inf, -np.inf, -0.0
    expected = kernel.__wrapped__(x)
    for given in (x, x.T):
        found = kernel(given)
        assert found.dtype == given.dtype and found.shape == given.shape
        assert np.array_equal(found, kernel.__wrapped__(given), equal_nan=True)
    for out in (np.empty_like(x), x.copy(), np.empty_like(x.T).T, np.empty((3, 2 * x.shape[1]), dtype)[:, ::2]):
        assert kernel(x, out) is out
        assert np.array_equal(out, expected, equal_nan=True)
    own = x.copy()
    assert np.array_equal(kernel(own, own), expected, equal_nan=True)


def test_the_incomplete_beta_function_in_single_precision_is_no_infinity() -> None:
    a, b, x = np.array([1000, 1000, 100, 500.0]), np.array([24, 21, 3, 10.0]), np.array([0.8, 0.8, 0.3, 0.9])
    found = ad.special.betainc(*[ad.tensor(v, dtype="float32") for v in (a, b, x)])
    assert found.dtype == "float32"
    np.testing.assert_allclose(found.numpy(), scipy.special.betainc(a, b, x.astype("f4")).astype("f4"), 1e-6)


@pytest.mark.parametrize("a", [0.01, 0.7, 2.5, 300.0])
@pytest.mark.parametrize("b", [0.05, 1.0, 40.0])
def test_the_incomplete_beta_function_by_its_parameters(a: float, b: float) -> None:
    mean = a / (a + b)
    deviation = (mean * (1 - mean) / (a + b + 1)) ** 0.5
    x = np.array([v for v in (1e-9, 0.1, 0.5, 0.9, mean, mean - 4 * deviation, mean + 4 * deviation) if 0 < v < 1])
    by_a, by_b = (
        np.array([ad.grad(ad.special.betainc, k)(double(a), double(b), double(v)).item() for v in x]) for k in (0, 1)
    )
    with mpmath.workdps(80):
        h = mpmath.mpf(10) ** -25

        def value(a: Any, b: Any, v: float) -> Any:
            return mpmath.betainc(a, b, 0, mpmath.mpf(v), regularized=True)

        for one, other, v in zip(by_a, by_b, x, strict=True):
            p, q = mpmath.mpf(a), mpmath.mpf(b)
            assert one == pytest.approx(
                float((value(p + h, q, v) - value(p - h, q, v)) / (2 * h)), rel=1e-9, abs=1e-300
            )
            assert other == pytest.approx(
                float((value(p, q + h, v) - value(p, q - h, v)) / (2 * h)), rel=1e-9, abs=1e-300
            )


def test_the_incomplete_beta_function_by_its_parameters_elsewhere() -> None:
    at = lambda x: [g.item() for g in ad.grad(ad.special.betainc, (0, 1))(double(2.0), double(3.0), double(x))]  # noqa: E731
    assert at(0.0) == at(1.0) == [0.0, 0.0] and np.isnan(at(np.nan)).all()
    point = double([2.0, 3.0, 0.3])
    of_three = lambda v: ad.special.betainc(v[0], v[1], v[2])  # noqa: E731
    hessian = ad.hessian(of_three)(point).numpy()
    central = [
        (ad.grad(of_three)(point + 1e-5 * e) - ad.grad(of_three)(point - 1e-5 * e)).numpy() / 2e-5
        for e in double(np.eye(3))
    ]
    np.testing.assert_allclose(hessian, central, 1e-7, 1e-8)
    np.testing.assert_allclose(hessian, hessian.T, 1e-13)
    single = ad.vmap(ad.grad(ad.special.betainc), (0, None, None))(
        ad.tensor([1.0, 2.0]), ad.tensor(3.0), ad.tensor(0.3)
    )
    assert single.dtype.name == "float32"


@pytest.mark.parametrize(
    ("name", "order", "sign"),
    [("i0e", 0, 1), ("i1e", 1, 1), ("k0e", 0, -1), ("k1e", 1, -1), ("ive", 2.5, 1), ("kve", 2.5, -1)],
)
def test_derivatives_of_scaled_bessel_functions_of_large_numbers(name: str, order: float, sign: int) -> None:
    """Their formulas cancel: from 100 on the asymptotic series is taken."""

    def exact(x: float, k: int) -> float:
        bessel = mpmath.besseli if sign > 0 else mpmath.besselk

        def derivative(j: int) -> Any:  # by DLMF 10.29.5
            return (
                sum(math.comb(j, i) * bessel(order - j + 2 * i, mpmath.mpf(x)) for i in range(j + 1))
                / mpmath.mpf(2 * sign) ** j
            )

        terms = (math.comb(k, j) * (-sign) ** (k - j) * derivative(j) for j in range(k + 1))
        return float(mpmath.exp(-sign * mpmath.mpf(x)) * sum(terms))

    f = getattr(ad.special, name)
    derived = (lambda x: f(order, x)) if "v" in name else f
    with mpmath.workdps(60):
        for k in (1, 2, 3):
            derived = ad.grad(derived)
            for x in (3.0, 99.0, 130.0, 1e4, 1e6):
                assert derived(double(x)).item() == pytest.approx(exact(x, k), rel=1e-9)
                if name in ("i0e", "i1e"):
                    parity = (-1) ** k if order == 0 else -((-1) ** k)
                    assert derived(double(-x)).item() == pytest.approx(parity * exact(x, k), rel=1e-9)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float32", 1e-5)])
def test_relative_entropies_of_numbers_far_apart(dtype: str, tolerance: float) -> None:
    """Of 1e15 and 1e-300 it was inf, for the quotient is."""
    with np.errstate(all="ignore"):
        values = np.array([0, 5e-324, 1e-310, 1e-300, 1e-20, 0.3, 1, 1e15, 1e30, 1e300, np.inf, -1, np.nan]).astype(
            dtype
        )
        x, y = np.meshgrid(values, values)
        expected = scipy.special.rel_entr(x.astype("float64"), y.astype("float64")).astype(dtype)
    np.testing.assert_allclose(ad.special.rel_entr(ad.tensor(x), ad.tensor(y)).numpy(), expected, rtol=tolerance)
