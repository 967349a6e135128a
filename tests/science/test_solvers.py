"""Solvers against SciPy and closed forms: values, derivatives of both orders and modes, vmap, jit, and what fails loudly."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize

import adjoint as ad
from adjoint.solvers.linear import bicgstab, conjugate_gradients
from support import double, equal

MATRIX = np.random.default_rng(0).normal(size=(5, 5)) + 5 * np.eye(5)


@pytest.fixture(autouse=True)
def in_double_precision():
    ad.set_default_dtype("float64")
    yield
    ad.set_default_dtype("float32")


# implicit -------------------------------------------------------------------------------------------------------------


def kepler():
    return ad.implicit(
        lambda e, m: optimize.brentq(lambda x: x - e.item() * np.sin(x) - m.item(), 0, 7, xtol=1e-15),
        lambda x, e, m: x - e * ad.sin(x) - m,
    )


def test_a_solver_of_scipy_differentiates():
    e, m = 0.3, 1.0
    x = kepler()(e, m).item()
    slope = 1 - e * np.cos(x)
    by_e, by_m = ad.grad(kepler(), argnums=(0, 1))(e, m)
    equal(by_e, np.sin(x) / slope, 1e-12)
    equal(by_m, 1 / slope, 1e-12)
    equal(ad.grad(ad.grad(kepler(), 1), 1)(e, m), -e * np.sin(x) / slope**3, 1e-12)
    equal(ad.jvp(kepler(), (e, m), (1.0, 0.0))[1], np.sin(x) / slope, 1e-12)


@pytest.mark.parametrize("linear_solver", [None, bicgstab])
def test_what_the_condition_reads_from_outside_is_differentiated(linear_solver):
    def solved(matrix, b):
        solver = lambda b: np.linalg.solve(matrix.numpy(), b.numpy())  # noqa: E731
        return ad.implicit(solver, lambda x, b: matrix @ x - b, linear_solver=linear_solver)(b)

    b = double([1.0, 2.0, 3.0, 4.0, 5.0])
    expected = ad.jacobian(lambda a, b: ad.linalg.solve(a, b), argnums=(0, 1))(double(MATRIX), b)
    for found, wanted in zip(ad.jacobian(solved, argnums=(0, 1))(double(MATRIX), b), expected, strict=True):
        equal(found, wanted.numpy(), 1e-9)
    square = lambda b: (solved(double(MATRIX), b) ** 2).sum()  # noqa: E731
    inverse = np.linalg.inv(MATRIX)
    equal(ad.hessian(square)(b), 2 * inverse.T @ inverse, 1e-9)
    equal(ad.jacfwd(lambda b: solved(double(MATRIX), b))(b), inverse, 1e-9)


def test_many_unknowns_by_products_alone():
    n = 1100
    matvec = lambda x, d: d * x - 0.3 * ad.roll(x, 1)  # noqa: E731
    d = double(np.linspace(1, 2, n))
    found = ad.implicit(lambda d: ad.ones(n) * 0 + reference(d), lambda x, d: matvec(x, d) - 1)
    point = found(d)
    equal(matvec(point, d), np.ones(n), 1e-9)
    tangent = ad.jvp(found, (d,), (ad.ones(n),))[1]
    step = 1e-6
    equal(tangent, (reference(d + step).numpy() - reference(d - step).numpy()) / (2 * step), 1e-6)


def reference(d):
    n = d.shape[0]
    matrix = np.diag(d.numpy()) - 0.3 * np.roll(np.eye(n), 1, axis=0)
    return double(np.linalg.solve(matrix, np.ones(n)))


def test_iterative_linear_solvers():
    symmetric = MATRIX @ MATRIX.T
    b = double([1.0, -2.0, 0.0, 3.0, 1.0])
    equal(bicgstab(lambda v: double(MATRIX) @ v, b), np.linalg.solve(MATRIX, b.numpy()), 1e-9)
    equal(conjugate_gradients(lambda v: double(symmetric) @ v, b), np.linalg.solve(symmetric, b.numpy()), 1e-9)
    assert ad.isnan(conjugate_gradients(lambda v: double(symmetric) @ v, b, steps=1)).all()


def test_implicit_says_what_is_wrong():
    with pytest.raises(ValueError, match="3 numbers for 2 unknowns"):
        ad.implicit(lambda a: ad.zeros(2), lambda x, a: ad.zeros(3) + a)(1.0)
    with pytest.raises(TypeError, match="the condition is a function"):
        ad.implicit(lambda a: a, 3)
    with pytest.raises(TypeError, match="the solver returned"):
        ad.implicit(lambda a: "x", lambda x, a: x)(1.0)
    undetermined = ad.implicit(lambda a: 0 * a, lambda x, a: 0 * x + a)
    with pytest.raises(np.linalg.LinAlgError):
        ad.grad(undetermined)(1.0).item()


# Roots and fixed points -----------------------------------------------------------------------------------------------


def coupled(x, a):
    return ad.stack([x[0] + 0.5 * (x[0] - x[1]) ** 3 - a, 0.5 * (x[1] - x[0]) ** 3 + x[1]])


def test_root_is_scipys():
    expected = optimize.root(lambda x: coupled(double(x), 1.0).numpy(), [0.0, 0.0], tol=1e-12).x
    found = ad.root(coupled, ad.zeros(2), 1.0)
    assert found.success
    equal(found.x, expected, 1e-9)
    step = 1e-5
    numerical = (ad.root(coupled, ad.zeros(2), 1 + step).x - ad.root(coupled, ad.zeros(2), 1 - step).x) / (2 * step)
    equal(ad.jacobian(lambda a: ad.root(coupled, ad.zeros(2), a).x)(1.0), numerical.numpy(), 1e-7)


def square_root(a):
    return ad.root(lambda x: x * x - a, 1.0).x


def test_root_under_transformations():
    equal(ad.grad(ad.grad(square_root))(4.0), -1 / 32, 1e-9)
    equal(ad.vmap(ad.grad(square_root))(double([4.0, 9.0])), [1 / 4, 1 / 6], 1e-9)
    compiled = ad.jit(ad.grad(square_root))
    equal(compiled(4.0), 1 / 4, 1e-9)
    equal(compiled(16.0), 1 / 8, 1e-9)
    assert len(compiled.traces) == 1
    equal(ad.grad(lambda start: ad.root(lambda x: x * x - 4, start).x)(1.0), 0.0)


def test_a_far_start_and_a_singular_start():
    equal(ad.root(ad.atan, 20.0).x, 0.0)
    found = ad.root(lambda p: {"a": p["a"] ** 3 - p["b"], "b": p["b"] - 8}, {"a": 0.1, "b": 1.0})
    equal(found.x["a"], 2.0, 1e-9)
    flat = ad.root(lambda x: x**3 + x - ad.stack([0.0, 2.0]) + 0 * x.sum(), ad.zeros(2))
    equal(flat.x, [0.0, 1.0], 1e-9)


def test_where_there_is_no_root_the_derivative_is_nan():
    found = ad.root(lambda x: x * x + 1, 1.0)
    assert not found.success
    assert ad.isnan(ad.grad(lambda a: ad.root(lambda x: x * x + a, 1.0).x)(1.0))
    with pytest.raises(ValueError, match="1 numbers for 2 unknowns"):
        ad.root(lambda x: x.sum(), ad.zeros(2))


@pytest.mark.parametrize("history", [0, 2, 5])
def test_fixed_point(history):
    found = ad.fixed_point(lambda x: ad.cos(x), 1.0, history=history)
    expected = optimize.brentq(lambda x: np.cos(x) - x, 0, 1, xtol=1e-15)
    equal(found.x, expected, 1e-8)
    slope = -expected * np.sin(expected) / (1 + np.sin(expected))
    equal(ad.grad(lambda a: ad.fixed_point(lambda x: ad.cos(a * x), 1.0, history=history).x)(1.0), slope, 1e-6)


def test_history_makes_a_fixed_point_quicker():
    plain, mixed = [ad.fixed_point(ad.cos, 1.0, history=k).nit.item() for k in (0, 5)]
    assert mixed < plain / 3


# Minima ---------------------------------------------------------------------------------------------------------------


def valley(x, a):
    return (a - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


@pytest.mark.parametrize("method", ["newton", "l-bfgs"])
def test_minimize(method):
    place = lambda a: ad.minimize(valley, ad.zeros(2), a, method=method).x  # noqa: E731
    equal(place(2.0), [2.0, 4.0], 1e-6)
    equal(ad.jacobian(place)(2.0), [1.0, 4.0], 1e-6)
    equal(ad.jacobian(ad.jacobian(place))(2.0), [0.0, 2.0], 1e-6)
    equal(ad.vmap(place)(double([1.0, 2.0])), [[1.0, 1.0], [2.0, 4.0]], 1e-6)
    equal(ad.jit(place)(3.0), [3.0, 9.0], 1e-6)


def chain(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


@pytest.mark.parametrize("method", ["newton", "l-bfgs"])
def test_a_long_valley_takes_as_many_steps_as_scipy_needs(method):
    found = ad.minimize(chain, ad.zeros(40), method=method)
    assert found.success
    equal(found.x, np.ones(40), 1e-6)
    theirs = optimize.minimize(optimize.rosen, np.zeros(40), jac=optimize.rosen_der, method="L-BFGS-B",
                               options={"gtol": 1e-8, "ftol": 0, "maxiter": 5000, "maxfun": 9999})  # fmt: skip
    assert found.nit <= 1.2 * theirs.nit


def test_newton_leaves_a_saddle():
    saddle = lambda x: x[0] ** 2 - x[1] ** 2 + x[1] ** 4  # noqa: E731
    found = ad.minimize(saddle, double([0.5, 0.01]), method="newton")
    equal(found.x, [0.0, np.sqrt(0.5)], 1e-6)


def test_minimize_over_a_tree_and_what_is_wrong():
    found = ad.minimize(
        lambda p, y: ((p["w"] - y) ** 2).sum() + (p["b"] + 1) ** 2, {"w": ad.zeros(3), "b": 0}, ad.ones(3)
    )
    equal(found.x["w"], np.ones(3))
    equal(found.x["b"], -1.0)
    with pytest.raises(ValueError, match="method is one of"):
        ad.minimize(chain, ad.zeros(3), method="simplex")
    below = ad.minimize(lambda x, a: a * x, 0.0, 1.0, max_steps=20)
    assert not below.success


# Differential equations -----------------------------------------------------------------------------------------------


def predators(y, t, p):
    return ad.stack([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]])


RATES = [1.5, 1.0, 3.0, 1.0]
TIMES = np.linspace(0.0, 6.0, 13)
OPTIONS = [
    ("dopri5", {"rtol": 1e-7, "atol": 1e-7}),
    ("rodas4", {"rtol": 1e-6, "atol": 1e-6}),
    ("rk4", {"substeps": 60}),
]


@pytest.mark.parametrize(("method", "options"), OPTIONS)
def test_odeint_is_scipys(method, options):
    y = ad.odeint(predators, ad.ones(2), TIMES, double(RATES), method=method, **options)
    exact = integrate.solve_ivp(lambda t, y: predators(double(y), t, RATES).numpy(), (0, 6), [1.0, 1.0], "DOP853", TIMES,
                                rtol=1e-11, atol=1e-11)  # fmt: skip
    np.testing.assert_allclose(y.numpy(), exact.y.T, 3e-5)


@pytest.mark.parametrize("derivative", ["steps", "adjoint"])
@pytest.mark.parametrize(("method", "options"), OPTIONS)
def test_derivatives_of_odeint(method, options, derivative):
    def last(y0, times, k):
        return ad.odeint(lambda y, t: -k * t * y, y0, times, method=method, derivative=derivative, **options)[-1]

    args = double(2.0), double([0.5, 1.0, 1.5]), double(0.7)
    grown = 1.5**2 / 2 - 0.5**2 / 2
    value = 2 * np.exp(-0.7 * grown)
    by_y0, by_times, by_k = ad.grad(last, argnums=(0, 1, 2))(*args)
    equal(by_y0, value / 2, 1e-5)
    np.testing.assert_allclose(by_times.numpy(), [0.7 * 0.5 * value, 0, -0.7 * 1.5 * value], 3e-4, 1e-5)
    equal(by_k, -grown * value, 2e-5)
    of_k = lambda k: last(args[0], args[1], k)  # noqa: E731
    equal(ad.grad(ad.grad(of_k))(0.7), grown**2 * value, 1e-4)
    equal(ad.jvp(of_k, (double(0.7),), (double(1.0),))[1], -grown * value, 1e-5)
    equal(ad.vmap(ad.grad(of_k))(double([0.7, 0.1])), [-grown * value, -2 * grown * np.exp(-0.1 * grown)], 1e-5)


@pytest.mark.parametrize(("method", "options"), OPTIONS)
def test_an_adjoint_that_loses_its_way_back_is_nan(method, options):
    """A fast decay can't be solved backwards: what comes back is a rounding error, grown by e^50."""

    def last(k, derivative):
        y0 = double([1.0, 1.0])
        rates = ad.stack([k, 0.5 * k / k])
        return ad.odeint(lambda y, t: -rates * y, y0, [0.0, 1.0], method=method, derivative=derivative, **options)[
            -1
        ].sum()

    for k in (3.0, 50.0):
        exact = -np.exp(-k)
        by_steps, by_adjoint = (ad.grad(lambda k, d=d: last(k, d))(double(k)).item() for d in ("steps", "adjoint"))
        assert abs(by_steps - exact) < 1e-6
        assert abs(by_adjoint - exact) < 1e-5 if k == 3.0 else math.isnan(by_adjoint)


def test_orders_of_the_methods():
    """Halving the step divides the error by 2 to the order."""
    decay = lambda y, t: -y * y * (1 + t)  # noqa: E731
    exact = 1 / (1 + 2 + 2)
    fixed = [abs(ad.odeint(decay, 1.0, [0.0, 2.0], method="rk4", substeps=n)[-1].item() - exact) for n in (20, 40)]
    assert 13 < fixed[0] / fixed[1] < 19
    from adjoint.solvers.steppers import METHODS

    for name, order in (("dopri5", 5), ("rodas4", 4)):
        errors = []
        for n in (8, 16):
            y, t, h = double([1.0]), double(0.0), double(2 / n)
            for _ in range(n):
                y, t = METHODS[name].step(decay, y, decay(y, t), t, h).y, t + h
            errors.append(abs(y.item() - exact))
        assert errors[0] / errors[1] > 2 ** (order - 0.6), name


def test_interpolation_is_as_accurate_as_the_steps():
    times = np.linspace(0, 3, 200)
    for method in ("dopri5", "rodas4"):
        y = ad.odeint(lambda y, t: ad.stack([y[1], -y[0]]), double([0.0, 1.0]), times, method=method)
        np.testing.assert_allclose(y[:, 0].numpy(), np.sin(times), 0, 3e-7)
    back = ad.odeint(lambda y, t: -y, 1.0, -times[1:])
    np.testing.assert_allclose(back.numpy() / back.numpy()[0], np.exp(times[1:] - times[1]), 1e-6)


def test_a_stiff_equation():
    """The reaction of H. Robertson (1966), over eleven orders of magnitude of time."""

    def reaction(y, t):
        slow, fast = 0.04 * y[0] - 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return ad.stack([-slow, slow - fast, fast])

    times = [0.0, 0.4, 4.0, 40.0, 400.0, 4e3, 4e4]
    y = ad.odeint(reaction, double([1.0, 0.0, 0.0]), times, method="rodas4", rtol=1e-7, atol=1e-12).numpy()
    published = [1.0, 9.8517e-01, 9.0552e-01, 7.1583e-01, 4.5052e-01, 1.8320e-01, 3.8983e-02]
    np.testing.assert_allclose(y[:, 0], published, 1e-4)
    np.testing.assert_allclose(y.sum(1), 1.0, 1e-9)


def drop(height, gravity):
    ground = lambda y, t, g: y[0]  # noqa: E731
    start = ad.stack([height, 0.0 * height])
    return ad.odeint(lambda y, t, g: ad.stack([y[1], -g]), start, [0.0, 1.0, 5.0], gravity, event=ground)


def test_an_event_and_its_derivatives():
    states, event = drop(double(10.0), double(9.81))
    time = np.sqrt(20 / 9.81)
    assert event.happened
    equal(event.t, time, 1e-9)
    equal(event.y[1], -9.81 * time, 1e-9)
    assert np.isfinite(states[:2].numpy()).all() and np.isnan(states[2].numpy()).all()
    by_height, by_gravity = ad.grad(lambda h, g: drop(h, g)[1].t, argnums=(0, 1))(10.0, 9.81)
    equal(by_height, time / 20, 1e-8)
    equal(by_gravity, -time / (2 * 9.81), 1e-8)
    equal(ad.grad(ad.grad(lambda h: drop(h, 9.81)[1].t))(10.0), -time / 400, 1e-7)
    _, none = ad.odeint(lambda y, t: -y, 1.0, [0.0, 1.0], event=lambda y, t: y + 1)
    assert not none.happened and ad.isnan(none.t)


def test_dense_output():
    solution = ad.odeint(lambda y, t: -y, 1.0, [0.0, 2.0], dense=True)
    equal(solution(double([0.0, 0.5, 2.0])), np.exp([0.0, -0.5, -2.0]), 1e-7)
    assert ad.isnan(solution(2.1)) and ad.isnan(solution(-0.1))
    slope = ad.grad(lambda k: ad.odeint(lambda y, t: -k * y, 1.0, [0.0, 2.0], dense=True)(1.3))(1.0)
    equal(slope, -1.3 * np.exp(-1.3), 1e-6)
    short = ad.odeint(lambda y, t: -y, 1.0, [0.0, 50.0], dense=True, max_steps=3)
    assert ad.isnan(short(50.0))


def test_a_tree_of_states_and_float32():
    ad.set_default_dtype("float32")
    oscillator = lambda s, t: {"x": s["v"], "v": -s["x"]}  # noqa: E731
    states = ad.odeint(oscillator, {"x": 1.0, "v": ad.zeros(())}, [0.0, 1.0])
    assert states["x"].dtype is ad.float32
    equal(states["x"], np.cos([0.0, 1.0]), 1e-4)


def test_what_is_out_of_reach_is_nan():
    assert ad.isnan(ad.odeint(lambda y, t: -y, 1.0, [0.0, 50.0], max_steps=3)[-1])
    assert ad.isnan(ad.odeint(lambda y, t: y * y, 1.0, [0.0, 2.0])[-1])  # infinite at 1
    assert ad.isnan(ad.jit(lambda t: ad.odeint(lambda y, s: -y, 1.0, t))(double([0.0, 2.0, 1.0]))).all()


def test_odeint_says_what_is_wrong():
    decay = lambda y, t: -y  # noqa: E731
    with pytest.raises(ValueError, match="method is one of 'rk4', 'dopri5', 'rodas4'"):
        ad.odeint(decay, 1.0, [0.0, 1.0], method="lsoda")
    with pytest.raises(ValueError, match="increase or decrease strictly"):
        ad.odeint(decay, 1.0, [0.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="vector of times"):
        ad.odeint(decay, 1.0, 3.0)
    with pytest.raises(TypeError, match="returns 2 numbers for a state of 1"):
        ad.odeint(lambda y, t: ad.stack([y, y]), 1.0, [0.0, 1.0])
    with pytest.raises(ValueError, match="error control"):
        ad.odeint(decay, 1.0, [0.0, 1.0], method="rk4", dense=True)


# Trees as vectors -----------------------------------------------------------------------------------------------------


def test_ravel_tree():
    vector, unravel = ad.ravel_tree({"a": ad.ones((2, 2), dtype="float32"), "b": [3.0, 4]})
    equal(vector, [1, 1, 1, 1, 3, 4])
    back = unravel(vector * 2)
    assert back["a"].dtype is ad.float32 and back["a"].shape == (2, 2) and back["b"][1].dtype is ad.int64
    assert ad.ravel_tree([])[0].shape == (0,)
    with pytest.raises(ValueError, match="6 numbers"):
        unravel(ad.zeros(5))
    with pytest.raises(TypeError, match="the leaf"):
        ad.ravel_tree({"a": "x"})


def test_forward_mode_goes_through_batches_of_the_continuous_adjoint():
    def decayed(b):
        return ad.odeint(lambda y, t: b - y, b * b, [0.0, 0.7], rtol=1e-10, atol=1e-10, derivative="adjoint")[1]

    def f(b):
        return ad.vmap(decayed)(ad.stack([b, b * 0.5])).sum(axis=0)

    b, r = np.array([0.3, -0.6]), np.exp(-0.7)
    slope = (1 - r) * 1.5 + 2 * b * 1.25 * r
    for jacobian in (ad.jacfwd(f), ad.jit(ad.jacfwd(f))):
        np.testing.assert_allclose(
            jacobian(ad.tensor(b, dtype="float64")).numpy(), np.diag(slope), rtol=1e-7, atol=1e-12
        )


def test_no_unknowns_are_solved_at_once():
    for solve in (ad.root, ad.minimize, ad.fixed_point):
        function = (lambda x: ad.sum(x * x)) if solve is ad.minimize else (lambda x: x * x)
        for run in (lambda x: solve(function, x), ad.jit(lambda x: solve(function, x))):  # noqa: B023
            found = run(ad.tensor(np.zeros(0)))
            assert found.x.shape == (0,) and found.success.item()
