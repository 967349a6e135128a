"""Jacobians, Hessians and products with them; rules given for forward mode; fits that rest on exact derivatives."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
import scipy.optimize

import adjoint as ad
from logistic import logistic_data, newton_logistic
from support import double, equal

MODES = [ad.jacfwd, ad.jacrev, ad.jacobian]


@pytest.mark.parametrize("jacobian", MODES)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (0,), (2, 0, 3)])
def test_shapes(jacobian, shape):
    x = np.random.default_rng(0).normal(size=shape)
    found = jacobian(lambda t: ad.sin(t))(ad.tensor(x))
    equal(found, np.diag(np.cos(x).reshape(-1)).reshape(shape + shape))
    equal(jacobian(lambda t: (t**2).sum())(ad.tensor(x)), 2 * x)
    both = jacobian(lambda t: ad.stack([t.sum(), 3 * t.sum()]))(ad.tensor(x))
    equal(both, np.stack([np.ones(shape), np.full(shape, 3.0)]))
    assert found.dtype == "float64" and not found.requires_grad


@pytest.mark.filterwarnings("ignore::adjoint.PrecisionWarning")
@pytest.mark.parametrize("jacobian", MODES)
def test_containers_and_several_arguments(jacobian):
    p = {"w": double([[1.0, 2.0], [3.0, 4.0]]), "b": (double(5.0), ad.tensor([1, 0]))}
    x = double([1.0, -1.0])

    def f(p, x, scale=1.0):
        y = p["w"] @ x * scale + p["b"][0]
        return {"y": y, "sum": [y.sum()], "constant": double([1.0, 2.0])}

    found = jacobian(f, argnums=(0, -1))(p, x, scale=2.0)
    wrt_p, wrt_x = found["y"]
    equal(wrt_x, 2 * p["w"].numpy())
    equal(wrt_p["w"], 2 * np.einsum("ij,k->ijk", np.eye(2), x.numpy()))
    equal(wrt_p["b"][0], [1.0, 1.0])
    assert wrt_p["b"][1] is None
    equal(found["sum"][0][1], 2 * p["w"].numpy().sum(0))
    equal(found["constant"][1], np.zeros((2, 2)))
    equal(jacobian(f)(p, x)["y"]["w"], np.einsum("ij,k->ijk", np.eye(2), x.numpy()))
    equal(jacobian(lambda m: m.weight @ x)(ad.nn.Linear(2, 2)).weight, np.einsum("ij,k->ijk", np.eye(2), x.numpy()))


@pytest.mark.parametrize("transform", [*MODES, ad.hessian])
def test_the_function_is_called_once(transform):
    calls = []

    def f(x):
        calls.append(0)
        return x**2 if transform is not ad.hessian else (x**2).sum()

    transform(f)(double(np.ones(20))).numpy()
    assert len(calls) == 1


def test_the_cheaper_side():
    """A function whose reverse rule must not run is differentiated forward where it has fewer inputs than outputs."""

    @ad.custom_vjp
    def f(x):
        return ad.stack([x.sum(), x.sum() * 2, x.sum() * 3])

    def forbidden(residuals, cotangent):
        raise AssertionError("reverse mode")

    f.def_vjp(lambda x: (f.function(x), None), forbidden)
    f.def_jvp(lambda primals, tangents: (f.function(*primals), f.function(*tangents)))
    equal(ad.jacobian(f)(double([1.0, 2.0])), [[1, 1], [2, 2], [3, 3]])
    with pytest.raises(AssertionError, match="reverse mode"):
        ad.jacobian(f)(double(np.ones(4)))


@pytest.mark.parametrize("jacobian", MODES)
def test_jacobians_are_differentiable(jacobian):
    x = double([0.5, -1.0, 2.0])
    f = lambda t: ad.stack([t[0] * t[1] ** 2, ad.sin(t[2] * t[0])])  # noqa: E731
    outer = ad.jacrev(jacobian(f))(x)
    expected = np.stack([np.stack(ad.hessian(lambda t, k=k: f(t)[k])(x).numpy()) for k in range(2)])
    equal(outer, expected)
    equal(ad.grad(lambda t: (jacobian(f)(t) ** 2).sum())(x), 2 * np.einsum("ij,ijk", jacobian(f)(x).numpy(), expected))
    xs = ad.stack([x, 2 * x])
    equal(ad.vmap(jacobian(f))(xs), np.stack([jacobian(f)(v).numpy() for v in xs]))


def test_variables_keep_their_connection():
    w = ad.variable(2.0)
    j = ad.jacrev(lambda x: w**2 * x)(ad.tensor([1.0, 2.0]))
    (dw,) = ad.gradients(j.sum(), [w])
    equal(dw, 8.0)
    assert j.requires_grad


def test_holomorphic():
    z = ad.tensor(np.array([1 + 2j, -0.5j]))
    for jacobian in MODES:
        equal(jacobian(lambda v: v**2, holomorphic=True)(z), np.diag(2 * z.numpy()))
        with pytest.raises(TypeError, match="holomorphic"):
            jacobian(lambda v: v**2)(z)
        with pytest.raises(TypeError, match="holomorphic"):
            jacobian(lambda v: v**2, holomorphic=True)(double(1.0))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ad.jacrev(lambda x: x)(3), TypeError, "int64"),
        (lambda: ad.jacrev(lambda x: x > 0)(3.0), TypeError, "bool"),
        (lambda: ad.jacfwd(lambda x: "text")(3.0), TypeError, "returned a str"),
        (lambda: ad.jacobian(lambda x: x, argnums=1)(3.0), ValueError, "argnums 1"),
        (lambda: ad.hvp(lambda x: x**2, (1.0,), (1.0, 2.0)), ValueError, "1 primals but 2"),
        (lambda: ad.linearize(lambda x: x, 1.0)[1](1.0, 2.0), ValueError, "2 tangents"),
        (lambda: ad.linearize(lambda x: x, 1.0)[1](ad.ones(3)), ValueError, r"shape \(3,\)"),
    ],
)
def test_misuse(call, error, message):
    with pytest.raises(error, match=f"{message}.*test_jacobians.py"):
        call()


# Hessians -------------------------------------------------------------------------------------------------------------


def test_hessian_of_several_arguments():
    x, y = double([1.0, 2.0]), {"s": double(3.0), "n": ad.tensor(2)}
    found = ad.hessian(lambda x, y: (x**2).sum() * y["s"] ** 2, argnums=(0, 1))(x, y)
    equal(found[0][0], np.diag([18.0, 18.0]))
    equal(found[0][1]["s"], 12 * x.numpy())
    equal(found[1]["s"][0], 12 * x.numpy())
    equal(found[1]["s"][1]["s"], 10.0)
    assert found[0][1]["n"] is None and found[1]["n"] is None
    equal(ad.hessian(lambda v: ad.stack([v[0] ** 2, v[0] * v[1]]))(x), [[[2, 0], [0, 0]], [[0, 1], [1, 0]]])


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@pytest.mark.parametrize("seed", range(3))
def test_rosenbrock_is_scipys(seed):
    generator = np.random.default_rng(seed)
    x, v = generator.normal(size=100), generator.normal(size=100)

    def close(found, expected):
        np.testing.assert_allclose(found.numpy(), expected, 1e-10, 1e-10 * np.abs(expected).max())

    close(rosenbrock(ad.tensor(x)), scipy.optimize.rosen(x))
    close(ad.grad(rosenbrock)(ad.tensor(x)), scipy.optimize.rosen_der(x))
    close(ad.hessian(rosenbrock)(ad.tensor(x)), scipy.optimize.rosen_hess(x))
    close(ad.hvp(rosenbrock, ad.tensor(x), ad.tensor(v)), scipy.optimize.rosen_hess_prod(x, v))


def test_hvp_of_several_arguments():
    x, y = double([1.0, 2.0]), double(3.0)
    f = lambda x, y: (x**2).sum() * y**2  # noqa: E731
    found = ad.hvp(f, (x, y), (double([1.0, 0.0]), double(2.0)))
    equal(found[0], [18.0 + 24.0, 48.0])
    equal(found[1], 12.0 + 20.0)


def test_gaussian_log_likelihood_gives_the_fisher_matrix():
    """The negative Hessian at the maximum, in (mean, log of the standard deviation), is diag(n / s², 2n)."""
    data = np.random.default_rng(0).normal(3.0, 2.0, 500)
    x = ad.tensor(data)

    def log_likelihood(p):
        mean, log_scale = p[0], p[1]
        return (-(((x - mean) / ad.exp(log_scale)) ** 2) / 2 - log_scale).sum()

    at = double([data.mean(), math.log(data.std())])
    equal(-ad.hessian(log_likelihood)(at), np.diag([500 / data.var(), 1000.0]) + 0.0, 1e-10)


def test_logistic_regression_by_newtons_method():
    """The minimum that SciPy finds."""
    x, y = logistic_data()
    p, slope = newton_logistic(x, y, 1.0)
    assert slope < 1e-11

    def loss(p):
        margin = x @ p[:-1] + p[-1]
        return (np.logaddexp(0, margin) - y * margin).sum() + (p[:-1] ** 2).sum() / 2

    found = scipy.optimize.minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-6})
    np.testing.assert_allclose(p, found.x, 1e-5)


def sums_of_exponentials(p, t):
    return p[0] * ad.exp(-p[1] * t) + p[2] * ad.exp(-p[3] * t) + p[4] * ad.exp(-p[5] * t)


# Three exponentials at 60 points and residuals that don't vanish. Sums of exponentials are nearly dependent (C.
# Lanczos, Applied Analysis, 1956), so that a step by differences instead of the exact Jacobian stalls.
def decay():
    t = np.arange(60) * 0.1
    exact = 1.0 * np.exp(-0.3 * t) + 2.0 * np.exp(-2.0 * t) - 1.5 * np.exp(-8.0 * t)
    return t, exact + 1e-3 * np.cos(7 * np.arange(60))


def fit(start):
    """Gauss-Newton with Levenberg's damping, by the exact Jacobian."""
    t, y = map(ad.tensor, decay())
    residual = lambda p: sums_of_exponentials(p, t) - y  # noqa: E731
    p, damping = np.array(start), 1e-2
    cost = lambda q: float((residual(ad.tensor(q)) ** 2).sum())  # noqa: E731
    for _ in range(2000):
        jacobian, r = ad.jacobian(residual)(ad.tensor(p)).numpy(), residual(ad.tensor(p)).numpy()
        scale = np.sqrt(damping) * np.linalg.norm(jacobian, axis=0)
        step = np.linalg.lstsq(np.vstack([jacobian, np.diag(scale)]), np.append(-r, np.zeros(6)), rcond=None)[0]
        if cost(p + step) < cost(p):
            p, damping = p + step, max(damping / 5, 1e-12)
        else:
            damping *= 4
            if damping > 1e8:
                break
    for _ in range(10):  # rounding hides what the cost gains from the last steps
        j, r = ad.jacobian(residual)(ad.tensor(p)).numpy(), residual(ad.tensor(p)).numpy()
        p = p + np.linalg.lstsq(j, -r, rcond=None)[0]
    return p


def fit_in_fifty_digits(start):
    with mpmath.workdps(50):
        t, y = ([mpmath.mpf(float(v)) for v in column] for column in decay())
        p = mpmath.matrix([mpmath.mpf(float(v)) for v in start])
        for _ in range(200):
            e = [[mpmath.exp(-p[2 * k + 1] * s) for k in range(3)] for s in t]
            r = mpmath.matrix([sum(p[2 * k] * row[k] for k in range(3)) - v for row, v in zip(e, y, strict=True)])
            j = mpmath.matrix([[f for k in range(3) for f in (row[k], -p[2 * k] * s * row[k])]
                               for row, s in zip(e, t, strict=True)])  # fmt: skip
            # Newton's step: Gauss-Newton's matrix and the curvature of the model
            h = j.T * j
            for i, (row, s) in enumerate(zip(e, t, strict=True)):
                for k in range(3):
                    h[2 * k, 2 * k + 1] -= r[i] * s * row[k]
                    h[2 * k + 1, 2 * k] -= r[i] * s * row[k]
                    h[2 * k + 1, 2 * k + 1] += r[i] * p[2 * k] * s * s * row[k]
            step = mpmath.lu_solve(h, -(j.T * r))
            p += step
            if max(abs(v) for v in step) < mpmath.mpf(10) ** -40:
                return np.array([float(v) for v in p])
    raise AssertionError("no convergence")


@pytest.mark.parametrize(
    "start", [(1, 1, 1, 1.5, -1, 10), (5, 0.1, 5, 4, -5, 20), (1, 0.1, 1, 1, -1, 4), (3, 0.01, 3, 0.9, -3, 3)]
)
def test_gauss_newton_reaches_the_minimum(start):
    """From poor starting values, to 9 digits of what 50-digit arithmetic gives."""
    found = fit(start)
    np.testing.assert_allclose(found, fit_in_fifty_digits(found), 1e-9)
    order = np.argsort(found[1::2])
    np.testing.assert_allclose(found[1::2][order], [0.3, 2.0, 8.0], 0.05)


# High orders ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        # by 50-digit arithmetic (mpmath.diff) at 0.7
        (lambda x: ad.exp(ad.sin(x)), "exp_sin"),
        (lambda x: 1 / (1 + x**2), "runge"),
    ],
)
def test_sixth_derivatives(f, expected):
    x = 0.7
    if expected == "runge":  # the imaginary part of a geometric series: d^n/dx^n of Im 1/(x - i)
        exact = (math.factorial(6) * (x - 1j) ** -7).imag
    else:
        s, c = math.sin(x), math.cos(x)
        # Bell's polynomial B_6 of the derivatives of sin, times exp(sin x)
        d = [c, -s, -c, s, c, -s]
        bell = [1.0]
        for n in range(6):
            bell.append(sum(math.comb(n, k) * bell[n - k] * d[k] for k in range(n + 1)))
        exact = bell[6] * math.exp(s)
    derivative = f
    for _ in range(6):
        derivative = ad.grad(derivative)
    np.testing.assert_allclose(derivative(double(x)).item(), exact, 1e-8)
    forward = f
    for _ in range(6):
        forward = lambda v, g=forward: ad.jvp(g, (v,), (1.0,))[1]  # noqa: E731
    np.testing.assert_allclose(forward(double(x)).item(), exact, 1e-8)


# Products and rules ---------------------------------------------------------------------------------------------------


def test_linearize():
    calls = []

    def f(x, p):
        calls.append(0)
        return ad.sin(x) * p["s"], x.sum()

    x, p = double([1.0, 2.0]), {"s": double(3.0), "n": ad.tensor(1)}
    out, push = ad.linearize(f, x, p)
    equal(out[0], 3 * np.sin(x.numpy()))
    assert not out[0].requires_grad
    for scale in (1.0, -2.0):
        tangent = double([scale, 0.5])
        found = push(tangent, {"s": double(scale), "n": None})
        expected = ad.jvp(f, (x, p), (tangent, {"s": double(scale), "n": None}))[1]
        for one, other in zip(found, expected, strict=True):
            equal(one, other.numpy())
    equal(push(None, None)[0], [0.0, 0.0])
    assert len(calls) == 3  # once for linearize, twice for jvp
    linear = ad.linearize(lambda v: v**2, x)[1]
    equal(ad.vmap(linear)(ad.tensor(np.eye(2))), np.diag(2 * x.numpy()))
    equal(ad.grad(lambda v: (ad.linearize(lambda u: u**3, v)[1](double([1.0, 1.0]))).sum())(x), 6 * x.numpy())


def test_custom_jvp():
    calls = []

    @ad.custom_jvp
    def f(x, pair, times=2):
        return {"a": x * pair[0], "b": times * x}

    @f.def_jvp
    def rule(primals, tangents):
        calls.append(0)
        (x, (y, _)), (dx, (dy, dn)) = primals, tangents
        assert dn is None
        return f(*primals), {"a": 10 * (dx * y + x * dy), "b": dx * 2}

    x, y = double([1.0, 2.0]), double([3.0, 4.0])
    total = lambda x, y: f(x, (y, 5))["a"].sum() + f(x, (y, 5))["b"].sum()  # noqa: E731
    found = ad.grad(total, (0, 1))(x, y)
    equal(found[0], 10 * y.numpy() + 2)
    equal(found[1], 10 * x.numpy())
    equal(ad.jvp(total, (x, y), (double([1.0, 0.0]), double([0.0, 1.0])))[1], 30.0 + 2 + 20)
    equal(ad.hessian(lambda v: total(v, v))(x), np.diag([20.0, 20.0]))
    equal(ad.vmap(ad.grad(total))(ad.stack([x, y]), ad.stack([y, x])), [10 * y.numpy() + 2, 10 * x.numpy() + 2])
    equal(ad.jacfwd(lambda v: f(v, (v, 1)))(x)["a"], np.diag(20 * x.numpy()))
    assert f.__name__ == "f"


def test_custom_jvp_mistakes():
    @ad.custom_jvp
    def f(x):
        return x

    with pytest.raises(RuntimeError, match=r"f has no rule yet.*def_jvp"):
        ad.grad(f)(1.0)
    f.def_jvp(lambda primals, tangents: (primals[0], tangents[0] ** 2))
    with pytest.raises(RuntimeError, match="not linear"):
        ad.grad(f)(1.0)
    f.def_jvp(lambda primals, tangents: primals[0])
    with pytest.raises(ValueError, match="pair"):
        ad.grad(f)(1.0)
    f.def_jvp(lambda primals, tangents: (primals[0], ad.ones(3)))
    with pytest.raises(ValueError, match="shape"):
        ad.grad(f)(1.0)


def test_a_rule_for_forward_mode_beside_one_for_reverse():
    @ad.custom_vjp
    def clipped(x):
        return x * 3

    clipped.def_vjp(lambda x: (x * 3, x), lambda x, g: (ad.clip(g, -1, 1),))
    with pytest.raises(RuntimeError, match="def_jvp"):
        ad.jvp(clipped, (double(1.0),), (double(1.0),))[1].item()
    clipped.def_jvp(lambda primals, tangents: (clipped(*primals), 3 * primals[0] * tangents[0]))
    equal(ad.jvp(clipped, (double(2.0),), (double(1.0),))[1], 6.0)
    equal(ad.grad(clipped)(double(2.0)), 1.0)
    equal(ad.grad(lambda x: ad.jvp(clipped, (x,), (double(1.0),))[1])(double(2.0)), 3.0)
    equal(ad.vmap(lambda x: ad.jvp(clipped, (x,), (double(1.0),))[1])(double([1.0, 2.0])), [3.0, 6.0])
