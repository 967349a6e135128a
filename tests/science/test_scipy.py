"""SciPy's solvers take tensors and functions made here as they are; `ad.scipy`'s results differentiate."""

import importlib.util
import subprocess
import sys
import types

import numpy as np
import pytest
from scipy import integrate, optimize, sparse

import adjoint as ad
from adjoint.scipy.evaluating import WithGradient, compiled
from support import double, equal


@pytest.fixture(autouse=True)
def in_double_precision():
    ad.set_default_dtype("float64")
    yield
    ad.set_default_dtype("float32")


def chain(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


START = np.array([-1.2, 1.0, 0.5])
GRADIENT = "CG BFGS Newton-CG L-BFGS-B TNC SLSQP trust-constr dogleg trust-ncg trust-exact trust-krylov".split()
HESSIAN = "Newton-CG trust-constr dogleg trust-ncg trust-exact trust-krylov".split()


@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell", "COBYLA", *GRADIENT])
def test_minimize_takes_derivatives_as_they_are(method):
    options = {"jac": ad.grad(chain)} if method in GRADIENT else {}
    if method in HESSIAN:
        options["hess"] = ad.hessian(chain)
    start = START if method != "dogleg" else np.array([1.01, 1.02, 1.04])
    if method == "COBYLA":
        options["options"] = {"maxiter": 50}
    found = optimize.minimize(chain, start, method=method, **options)
    assert isinstance(found.x, np.ndarray)
    assert found.fun < (chain(start).item() if method in ("COBYLA", "TNC") else 1e-6)


@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS", "SLSQP", "TNC"])
def test_minimize_takes_a_compiled_value_and_gradient_and_a_tensor(method):
    found = optimize.minimize(ad.jit(ad.value_and_grad(chain)), double(START), jac=True, method=method)
    assert found.fun < (1 if method == "TNC" else 1e-6)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-constr", "trust-ncg", "trust-krylov"])
def test_minimize_takes_products_with_the_hessian(method):
    products = {"hessp": lambda x, p: ad.hvp(chain, x, p)}
    found = optimize.minimize(chain, START, jac=ad.grad(chain), method=method, **products)
    np.testing.assert_allclose(found.x, np.ones(3), 0, 1e-3)


def residuals(x):
    return ad.stack([10 * (x[1] - x[0] ** 2), 1 - x[0], x[2] - 1])


def test_other_solvers_take_them():
    jacobian = ad.jacobian(residuals)
    for method in ("trf", "dogbox", "lm"):
        equal(optimize.least_squares(residuals, START, jac=jacobian, method=method).x, np.ones(3), 1e-6)
    for method in ("hybr", "lm"):
        equal(optimize.root(residuals, START, jac=jacobian, method=method).x, np.ones(3), 1e-6)
    equal(optimize.fsolve(residuals, START, fprime=jacobian), np.ones(3), 1e-6)
    cubic = lambda x: x**3 - 2  # noqa: E731
    slope = ad.grad(cubic)
    equal(optimize.newton(cubic, 1.0, fprime=slope, fprime2=ad.grad(slope)), 2 ** (1 / 3))
    equal(optimize.newton(cubic, np.array([1.0, 2.0]), fprime=ad.vmap(slope)), [2 ** (1 / 3)] * 2)
    start = {"jac": ad.grad(chain)}
    assert optimize.basinhopping(chain, START, minimizer_kwargs=start, niter=2, rng=0).fun < 1
    limit = optimize.NonlinearConstraint(lambda x: ad.asarray(x) ** 2, 0, 0.25, jac=ad.jacobian(lambda x: x**2),
                                         hess=lambda x, v: ad.hessian(lambda x: (x**2 * v).sum())(x))  # fmt: skip
    bounded = optimize.minimize(chain, np.zeros(3), method="trust-constr", jac=ad.grad(chain), hess=ad.hessian(chain),
                                constraints=[limit])  # fmt: skip
    assert bounded.x.max() <= 0.5 + 1e-6
    t = np.linspace(0, 4, 20)
    fitted, _ = optimize.curve_fit(lambda t, a, b: a * ad.exp(-b * ad.asarray(t)), t, 2 * np.exp(-0.7 * t))
    equal(fitted, [2.0, 0.7], 1e-6)


@pytest.mark.parametrize("method", ["RK45", "Radau", "BDF", "LSODA"])
def test_integrators_take_them(method):
    field = lambda t, y: ad.stack([ad.asarray(y)[1], -ad.asarray(y)[0]])  # noqa: E731
    jacobian = {"jac": lambda t, y: ad.jacobian(lambda y: field(t, y))(y)} if method != "RK45" else {}
    found = integrate.solve_ivp(field, (0, 1), double([1.0, 0.0]), method, rtol=1e-8, atol=1e-8, **jacobian)
    np.testing.assert_allclose(found.y[0, -1], np.cos(1), 1e-5)
    equal(integrate.quad(ad.grad(ad.sin), 0, 1)[0], np.sin(1))


def test_a_tracked_tensor_does_not_leave_by_a_solver():
    weight = ad.variable(1.0)
    with pytest.raises(RuntimeError, match="is tracked"):
        optimize.minimize(chain, START, jac=lambda x: weight * ad.grad(chain)(x), method="L-BFGS-B")


# Sparse matrices ------------------------------------------------------------------------------------------------------

MATRIX = sparse.csr_array(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 3.0], [0.0, 4.0, 5.0]]))
DENSE = MATRIX.toarray()


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.csr_matrix, sparse.dok_array]
)
def test_products_with_sparse_matrices(kind):
    matrix = kind(MATRIX)
    x, wide, y = np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(3, 2), np.arange(4.0)
    equal(matrix @ double(x), DENSE @ x)
    equal(matrix @ double(wide), DENSE @ wide)
    equal(double(y) @ matrix, y @ DENSE)
    equal(double(np.ones((2, 4))) @ matrix, np.ones((2, 4)) @ DENSE)
    equal(ad.jacobian(lambda x: matrix @ x)(double(x)), DENSE)
    equal(ad.jacfwd(lambda y: y @ matrix)(double(y)), DENSE.T)
    equal(ad.hessian(lambda x: ((matrix @ x) ** 2).sum())(double(x)), 2 * DENSE.T @ DENSE)
    equal(ad.vmap(lambda x: matrix @ x)(double(wide.T)), wide.T @ DENSE.T)
    equal(ad.vmap(lambda w: matrix @ w)(double([wide, 2 * wide])), [DENSE @ wide, 2 * DENSE @ wide])
    equal(ad.jit(lambda x: matrix @ x)(double(x)), DENSE @ x)
    equal(matrix @ ad.tensor(1j * x), 1j * DENSE @ x)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.dok_array, sparse.csr_matrix])
def test_sparse_matrices_in_sums_and_quotients(kind):
    matrix, x = kind(MATRIX), np.arange(1.0, 13.0).reshape(4, 3)
    for both in (lambda a, x: a + x, lambda a, x: x + a, lambda a, x: a - x, lambda a, x: x - a):
        equal(both(matrix, double(x)), both(DENSE, x))
        equal(ad.vmap(lambda x, both=both: both(matrix, x))(double([x, 2 * x])), [both(DENSE, x), both(DENSE, 2 * x)])
        slope = ad.grad(lambda x, both=both: (both(matrix, x) ** 2).sum())(double(x))
        equal(slope, 2 * both(DENSE, x) * both(0.0, 1.0))
    if kind is sparse.csr_matrix:  # whose * is a product
        equal(matrix * double(x.T), DENSE @ x.T)
        equal(double(x.T) * matrix, x.T @ DENSE)
        equal(ad.grad(lambda v: (matrix * v).sum())(double([1.0, 2.0, 3.0])), DENSE.sum(0))
    else:
        equal(ad.grad(lambda x: (x * matrix).sum())(double(x)), DENSE)
    with pytest.raises((TypeError, ValueError)):
        matrix + double(np.ones(5))


def test_a_sparse_matrix_that_is_changed_later_and_wrong_shapes():
    matrix = MATRIX.copy()
    product = matrix @ ad.ones(3)
    matrix.data[:] = 0
    equal(product, DENSE.sum(1))
    equal(matrix @ ad.ones(3), np.zeros(4))
    with pytest.raises(ValueError, match=r"sparse matrix of shape \(4, 3\)"):
        MATRIX @ ad.ones(4)


# ad.scipy -------------------------------------------------------------------------------------------------------------


def valley(x, a):
    return (a - x["p"]) ** 2 + 10 * (x["q"] - x["p"] ** 2) ** 2


@pytest.mark.parametrize(
    "method", [None, "L-BFGS-B", "Nelder-Mead", "Newton-CG", "trust-constr", "trust-exact", "SLSQP"]
)
def test_a_minimum_differentiates(method):
    place = lambda a: ad.scipy.minimize(valley, {"p": 0.0, "q": 0.0}, (a,), method, tol=1e-10).x["q"]  # noqa: E731
    equal(place(2.0), 4.0, 1e-4)
    equal(ad.grad(place)(2.0), 4.0, 1e-4)
    equal(ad.grad(ad.grad(place))(2.0), 2.0, 1e-3)


@pytest.mark.parametrize("method", ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", "Newton-CG", "trust-constr"])
def test_minimize_goes_the_way_of_scipys_own(method):
    both = compiled(ad.value_and_grad(chain))
    hess = {"hess": compiled(ad.hessian(chain))} if method in HESSIAN else {}
    theirs = optimize.minimize(lambda v: (float(both(v)[0]), both(v)[1]), START, jac=True, method=method, **hess)
    ours = ad.scipy.minimize(chain, START, method=method)
    assert ours.x.numpy().tobytes() == theirs.x.tobytes() and ours.nfev == theirs.nfev


def test_a_gradient_is_that_of_the_point_it_is_asked_for():
    both = WithGradient(compiled(ad.value_and_grad(chain)))
    point = START.copy()
    assert both.value(point) == chain(double(START)).item()
    equal(both.gradient(START), ad.grad(chain)(double(START)), 0)
    point[0] = 3.0  # in place, as some methods do
    equal(both.gradient(point), ad.grad(chain)(double(point)), 0)


def test_bounds_and_constraints():
    nearest = lambda a: ad.scipy.minimize(lambda x, a: ((x - a) ** 2).sum(), ad.zeros(2), (a,), bounds=(0.0, 1.0)).x  # noqa: E731
    equal(nearest(double([0.5, 2.0])), [0.5, 1.0], 1e-6)
    equal(ad.jacobian(nearest)(double([0.5, 2.0])), [[1.0, 0.0], [0.0, 0.0]], 1e-6)
    circle = {"type": "eq", "fun": lambda x, a: (x**2).sum() - 1}
    on_circle = lambda a: ad.scipy.minimize(lambda x, a: -(x * a).sum(), ad.ones(2), (a,), constraints=circle).x  # noqa: E731
    unit = np.array([0.6, 0.8])
    np.testing.assert_allclose(
        ad.jacobian(on_circle)(double([3.0, 4.0])).numpy(), (np.eye(2) - np.outer(unit, unit)) / 5, 1e-4
    )
    below = {"type": "ineq", "fun": lambda x, a: a - x}
    equal(
        ad.grad(lambda a: ad.scipy.minimize(lambda x, a: (x - 3) ** 2, 0.0, (a,), constraints=[below]).x)(1.0),
        1.0,
        1e-6,
    )
    equal(ad.grad(lambda a: ad.scipy.minimize(lambda x, a: (x - 3) ** 2, 0.0, (a,), constraints=[below]).x)(5.0), 0.0)
    with pytest.raises(TypeError, match="a constraint is a dictionary"):
        ad.scipy.minimize(lambda x: x * x, 0.0, constraints=[{"fun": 3}])


def test_bounds_and_constraints_in_scipys_words():
    """Objects of SciPy's as constraints, their own arguments, bounds of leaves, and what is refused."""
    bowl = lambda x, a: ((x - a) ** 2).sum()  # noqa: E731
    line = optimize.LinearConstraint(sparse.csr_array([[1.0, 1.0]]), 1.0, 1.0)
    for method in ("SLSQP", "trust-constr"):
        found = lambda a, m=method: ad.scipy.minimize(bowl, [0.0, 0.0], (a,), m, constraints=line).x  # noqa: E731
        np.testing.assert_allclose(found(double([1.0, 0.2])).numpy(), [0.9, 0.1], atol=1e-4)
        slopes = ad.jacobian(found)(double([1.0, 0.2])).numpy()
        np.testing.assert_allclose(slopes, [[0.5, -0.5], [-0.5, 0.5]], atol=1e-6)
    ring = optimize.NonlinearConstraint(lambda x, a: ad.stack([(x**2).sum(), x[0]]), [1.0, -np.inf], [4.0, 0.5])
    edge = ad.scipy.minimize(bowl, [0.1, 0.2], (double([3.0, 0.0]),), constraints=[ring]).x
    np.testing.assert_allclose(edge.numpy(), [0.5, np.sqrt(0.75)], atol=1e-4)
    fixed = {"type": "eq", "fun": lambda x, c: x[0] - c, "args": (2.0,)}
    at = ad.scipy.minimize(bowl, [1, 1], (double(0.0),), constraints=fixed).x
    np.testing.assert_allclose(at.numpy(), [2.0, 0.0], atol=1e-3)
    start = {"p": 0.0, "q": double([0.0, 0.0])}
    far = lambda x: (x["p"] - 5) ** 2 + ((x["q"] - 5) ** 2).sum()  # noqa: E731
    held = ad.scipy.minimize(far, start, bounds=({"p": 0.0, "q": -1.0}, {"p": 1.0, "q": 2.0})).x
    equal(held["q"], [2.0, 2.0])
    equal(held["p"], 1.0)
    bounded = ad.scipy.least_squares(lambda p: p - 3.0, [1.0, 1.0], bounds=([0.0, 0.0], [1.5, 5.0])).x
    np.testing.assert_allclose(bounded.numpy(), [1.5, 3.0], atol=1e-6)


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"bounds": [(0.5, None)]}, ValueError, "1 bounds for 3 unknowns"),
        ({"bounds": ([0.0, 0.0], [1.0, 1.0])}, ValueError, "2 bounds for 3 unknowns"),
        ({"jac": True}, TypeError, "leave out jac="),
        ({"constraints": [len]}, TypeError, "a constraint is a dictionary"),
    ],
)
def test_what_minimize_refuses(keywords, error, message):
    with pytest.raises(error, match=message):
        ad.scipy.minimize(lambda x: (x**2).sum(), [1.0, 1.0, 1.0], **keywords)


def test_what_needs_one_number_or_values():
    with pytest.raises(ValueError, match=r"returns shape \(3,\), not one number"):
        ad.scipy.minimize(lambda x: x**2, [1.0, 1.0, 1.0])
    best = lambda a: ad.scipy.minimize(lambda x: (x - a) ** 2, 0.0).x  # noqa: E731
    with pytest.raises(RuntimeError, match=r"ad\.minimize does the same"):
        ad.jit(best)(ad.ones(()))
    with pytest.raises(RuntimeError, match=r"ad\.minimize does the same"):
        ad.vmap(best)(ad.ones(2))


@pytest.mark.parametrize("loss", ["soft_l1", "huber", "cauchy", "arctan"])
def test_robust_fits_differentiate(loss):
    t, y = np.linspace(0, 1, 8), np.array([1.0, 1.3, 1.5, 5.0, 2.2, 2.4, 2.8, 2.9])
    exact = {"loss": loss, "f_scale": 0.3, "xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
    slope = lambda a: ad.scipy.least_squares(lambda p: p[0] * t + p[1] - y - a * t**2, [1.0, 1.0], **exact).x[0]  # noqa: E731
    difference = (slope(0.3001) - slope(0.2999)).item() / 2e-4
    np.testing.assert_allclose(ad.grad(slope)(0.3).item(), difference, rtol=1e-4)
    with pytest.raises(TypeError, match="loss is one of"):
        ad.scipy.least_squares(lambda p: p, [1.0], loss=lambda z: z)


def test_least_squares_and_root():
    t, y = double(np.linspace(0, 1, 5)), double([1.0, 1.6, 2.7, 4.4, 7.5])
    fit = lambda y: ad.scipy.least_squares(lambda p, y: p[0] * ad.exp(p[1] * t) - y, ad.ones(2), (y,), xtol=1e-14).x  # noqa: E731
    slopes = ad.jacobian(fit)(y).numpy()
    for i in range(5):
        moved = np.zeros(5)
        moved[i] = 1e-4
        np.testing.assert_allclose(slopes[:, i], ((fit(y + moved) - fit(y - moved)) / 2e-4).numpy(), 1e-4, 1e-6)
    square = lambda a: ad.scipy.root(lambda x, a: x**2 - a, 1.0, (a,)).x  # noqa: E731
    equal(ad.grad(square)(4.0), 0.25, 1e-9)
    equal(ad.grad(ad.grad(square))(4.0), -1 / 32, 1e-9)
    nowhere = ad.scipy.root(lambda x, a: x**2 + a, 1.0, (1.0,))
    assert not nowhere.success
    assert ad.isnan(ad.grad(lambda a: ad.scipy.root(lambda x, a: x**2 + a, 1.0, (a,)).x)(1.0))


@pytest.mark.parametrize("method", ["RK45", "BDF"])
def test_an_initial_value_problem(method):
    run = lambda k: ad.scipy.solve_ivp(lambda t, y, k: {"x": -k * y["x"]}, (0, 1), {"x": 1.0}, method, [0.5, 1.0], (k,))  # noqa: E731
    np.testing.assert_allclose(run(2.0).y["x"].numpy(), np.exp([-1.0, -2.0]), 1e-4)
    np.testing.assert_allclose(ad.jacobian(lambda k: run(k).y["x"])(2.0).numpy(), [-0.5 / np.e, -np.exp(-2)], 1e-3)
    with pytest.raises(RuntimeError, match="no derivative"):
        ad.grad(ad.grad(lambda k: run(k).y["x"][-1]))(2.0)
    with pytest.raises(RuntimeError, match="no derivative"):
        ad.jvp(lambda k: run(k).y["x"], (double(2.0),), (double(1.0),))


def test_states_lie_as_scipys_and_differentiate_without_chosen_times():
    oscillate = lambda t, y, k: ad.stack([y[1], -k * y[0]])  # noqa: E731
    run = lambda k, **given: ad.scipy.solve_ivp(oscillate, (0, 2), [1.0, 0.0], args=(k,), **given)  # noqa: E731
    theirs = integrate.solve_ivp(lambda t, y: [y[1], -4.0 * y[0]], (0, 2), [1.0, 0.0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(run(4.0).y.numpy(), theirs.y, rtol=1e-9)
    np.testing.assert_allclose(ad.grad(lambda k: run(k).y[0, -1])(4.0).item(), -np.sin(4.0) / 2, rtol=1e-3)  # cos(√k t)
    by_time = lambda T: ad.scipy.solve_ivp(lambda t, y: -y, (0, T), 1.0, t_eval=ad.stack([T])).y[0]  # noqa: E731
    np.testing.assert_allclose(ad.grad(by_time)(1.0).item(), -np.exp(-1), rtol=1e-4)
    half = lambda t, y, k: y[0] - 0.5  # noqa: E731
    half.terminal = True
    stopped = run(4.0, t_eval=[0.1, 0.2, 1.0], events=half)
    assert stopped.t.tolist() == [0.1, 0.2] and stopped.y.shape == (2, 2)
    with pytest.raises(ValueError, match="gives 1 numbers for a state of 2"):
        ad.scipy.solve_ivp(lambda t, y: y[:1], (0, 1), [1.0, 2.0])
    with pytest.raises(RuntimeError, match="solve_ivp with t_eval"):
        ad.jit(lambda k: run(k).y)(double(4.0))


def test_integrals_and_solutions_within_traces():
    decay = lambda k: ad.scipy.solve_ivp(lambda t, y: -k * y, (0, 2), np.ones(2), t_eval=[1.0]).y.sum()  # noqa: E731
    laplace = lambda s: ad.scipy.quad(lambda x: ad.exp(-s * x), 0, np.inf)[0]  # noqa: E731
    for f, at, slope in ((decay, 1.0, -2 * np.exp(-1)), (laplace, 2.0, -0.25)):
        np.testing.assert_allclose(ad.jit(ad.grad(f))(double(at)).item(), slope, rtol=1e-4)
        np.testing.assert_allclose(ad.vmap(ad.grad(f))(double([at, at])).numpy(), [slope, slope], rtol=1e-4)
    equal(ad.taylor(laplace, double(2.0), 2)[2], 1 / 8, 1e-9)


def test_an_integral():
    laplace = lambda s: ad.scipy.quad(lambda x, s: ad.exp(-s * x), 0, np.inf, (s,))[0]  # noqa: E731
    equal(laplace(2.0), 0.5)
    equal(ad.grad(laplace)(2.0), -0.25)
    equal(ad.grad(ad.grad(laplace))(2.0), 0.25)
    moving = lambda b: ad.scipy.quad(lambda x: ad.sin(x * b), 0, b)[0]  # noqa: E731
    equal(ad.grad(moving)(1.0), 2 * np.sin(1) - (1 - np.cos(1)))
    with pytest.raises(ValueError, match="not one number"):
        ad.scipy.quad(lambda x: ad.stack([x, x]), 0, 1)


def spring(x):
    return ((x[1:] - x[:-1]) ** 4).sum() + ((x - 1.0) ** 2).sum()


CIRCLE = {"type": "ineq", "fun": lambda x: 3.0 - x[5:9] ** 2 * 8}
SUM = {"type": "eq", "fun": lambda x: x[:3].sum() - 2.5}


class StandIn:
    """cyipopt's documented interface, where cyipopt isn't: the arguments of `Problem`, the names and shapes of what it calls, and
    what `solve` gives. SciPy's trust-constr does the work, from the same derivatives."""

    def __init__(self, n, m, problem_obj, lb, ub, cl, cu):
        self.n, self.m, self.calls, self.bounds, self.limits = n, m, problem_obj, (lb, ub), (cl, cu)
        self.options = {}

    def add_option(self, name, value):
        self.options[name] = value

    def jacobian(self, x):
        rows, columns = self.calls.jacobianstructure()
        dense = np.zeros((self.m, self.n))
        np.add.at(dense, (rows, columns), self.calls.jacobian(x))
        return dense

    def hessian(self, x, multipliers, factor):
        rows, columns = self.calls.hessianstructure()
        assert (rows >= columns).all()  # IPOPT wants the lower triangle
        lower = np.zeros((self.n, self.n))
        np.add.at(lower, (rows, columns), self.calls.hessian(x, multipliers, factor))
        return lower + np.tril(lower, -1).T

    def solve(self, x):
        x, y = np.array(x), np.random.default_rng(0).normal(size=self.m)
        slope = lambda x: 0.7 * self.calls.gradient(x) + y @ self.jacobian(x)  # noqa: E731
        differences = [(slope(x + 1e-5 * e) - slope(x - 1e-5 * e)) / 2e-5 for e in np.eye(self.n)]
        np.testing.assert_allclose(self.hessian(x, y, 0.7), differences, atol=1e-6)
        none = np.zeros(self.m)
        found = optimize.minimize(
            self.calls.objective, x, jac=self.calls.gradient, hess=lambda x: self.hessian(x, none, 1.0),
            method="trust-constr", bounds=optimize.Bounds(*self.bounds),
            constraints=optimize.NonlinearConstraint(
                self.calls.constraints, *self.limits, self.jacobian, lambda x, v: self.hessian(x, v, 0.0)
            ),
        )  # fmt: skip
        return found.x, {"obj_val": found.fun, "status": 0, "status_msg": b"solved", "mult_g": none}


@pytest.mark.parametrize("method", ["trust-constr", "ipopt", "slsqp"])
def test_sparse_curvature_feeds_the_solvers(method, monkeypatch):
    """Against SLSQP with differences. IPOPT is the real one where cyipopt is installed."""
    if method == "ipopt" and importlib.util.find_spec("cyipopt") is None:
        monkeypatch.setitem(sys.modules, "cyipopt", types.SimpleNamespace(Problem=StandIn))
    sparse = {} if method == "slsqp" else {"sparse": True}
    start, constraints = np.full(12, 0.5), [CIRCLE, SUM]
    found = ad.scipy.minimize(spring, start, method=method, constraints=constraints, bounds=(-2.0, 1.02), **sparse)
    plain = [{"type": c["type"], "fun": lambda x, c=c: c["fun"](x)} for c in constraints]
    by_numpy = lambda x: ((x[1:] - x[:-1]) ** 4).sum() + ((x - 1.0) ** 2).sum()  # noqa: E731
    expected = optimize.minimize(
        by_numpy, start, method="slsqp", bounds=[(-2, 1.02)] * 12, constraints=plain, tol=1e-12
    )
    np.testing.assert_allclose(found.x.numpy(), expected.x, atol=2e-3)
    assert found.fun.item() == pytest.approx(expected.fun, rel=1e-4)


def test_an_integration_far_from_time_zero():
    """Its span is short beside its times, and one of these is where it begins; traced, and with its derivative."""
    times = [1e6, 1e6 + 1, 1e6 + 2]
    run = lambda k: ad.scipy.solve_ivp(lambda t, y: -k * y, (1e6, 1e6 + 2), 1.0, t_eval=times).y  # noqa: E731
    k = ad.tensor(0.5, dtype="float64")
    for found in (run(k), ad.jit(run)(k)):
        np.testing.assert_allclose(found.numpy(), np.exp([0.0, -0.5, -1.0]), rtol=1e-5)
    for slope in (ad.grad(lambda k: run(k)[-1])(k), ad.jit(ad.grad(lambda k: run(k)[-1]))(k)):
        np.testing.assert_allclose(slope.item(), -2 * np.exp(-1.0), rtol=1e-5)


def test_scipy_is_loaded_in_a_trace():
    """What it asks of the environment as it is imported is none of the function's business."""
    program = (
        "import adjoint as ad; "
        "f = ad.jit(lambda k: ad.scipy.solve_ivp(lambda t, y: -k * y, (0, 1), 1.0, t_eval=[1.0]).y[-1]); "
        "print(round(f(ad.tensor(1.0)).item(), 4))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "0.3679", done.stderr


def test_an_adjoint_that_loses_its_way_back_is_nan():
    def last(k, times):
        found = ad.scipy.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), double([1.0]), t_eval=times, rtol=1e-8, atol=1e-8)
        return found.y[0, -1]

    for times in (None, [0.0, 0.5, 1.0], [1.0]):
        equal(ad.grad(lambda k, t=times: last(k, t))(double(3.0)), -np.exp(-3.0), 1e-6)
        lost = ad.grad(lambda k, t=times: last(k, t))(double(50.0)).item()
        assert abs(lost) < 1e-8 if times is None else np.isnan(lost)  # SciPy's own steps are short enough
