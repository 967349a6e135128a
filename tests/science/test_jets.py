"""Taylor mode against nested derivatives and closed forms."""

import math

import mpmath
import numpy as np
import pytest

import adjoint as ad
from adjoint.graph import topological
from support import double, equal


@pytest.fixture(autouse=True)
def in_double_precision():
    ad.set_default_dtype("float64")
    yield
    ad.set_default_dtype("float32")


def matrix(x):
    return ad.stack([[2 + x, x * x], [x * x, 3 + x]])


FUNCTIONS = {
    "exp": ad.exp, "sin": ad.sin, "tanh": ad.tanh, "sqrt": ad.sqrt, "log": ad.log, "erf": ad.erf, "atan": ad.atan,
    "sigmoid": ad.sigmoid, "softplus": ad.softplus, "gammaln": lambda x: ad.special.gammaln(x),
    "quotient": lambda x: ad.sin(x) / (1 + x * x), "power": lambda x: x**2.5, "self power": lambda x: x**x,
    "where": lambda x: ad.where(x > 0, x**3, x), "relu": lambda x: ad.relu(x) * x, "abs": lambda x: abs(x) ** 3,
    "maximum": lambda x: ad.maximum(x, 0.1) ** 2, "floor": lambda x: ad.floor(x) * x + x,
    "hypot": lambda x: ad.hypot(x, x * x + 1),
    "matmul": lambda x: (matrix(x) @ ad.stack([ad.sin(x), x])).sum(), "inv": lambda x: ad.linalg.inv(matrix(x))[0, 1],
    "slogdet": lambda x: ad.linalg.slogdet(matrix(x))[1], "eigvalsh": lambda x: ad.linalg.eigvalsh(matrix(x))[0],
    "cholesky": lambda x: ad.linalg.cholesky(matrix(x))[1, 1], "prod": lambda x: ad.prod(ad.stack([x, x + 1, x * x])),
    "softmax": lambda x: ad.softmax(ad.stack([x, x * x]))[0], "logsumexp": lambda x: ad.logsumexp(ad.stack([x, x * x])),
    "gather": lambda x: ad.stack([x, x * x, ad.cos(x)])[ad.tensor([2, 0])].sum(),
    "fft": lambda x: (ad.fft.fft(ad.stack([x, x * x, ad.sin(x), x])) ** 2).real[1],
    "scan": lambda x: ad.scan(lambda c, _: (ad.sin(c) * x, None), x, length=3)[0],
    "while_loop": lambda x: ad.while_loop(lambda c: c > 0.2, lambda c: c * ad.sin(x), x),
    "cond": lambda x: ad.cond(x > 0, lambda: ad.exp(x) * x, lambda: x),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_coefficients_are_nested_derivatives(name):
    f = FUNCTIONS[name]
    for k, c in enumerate(ad.taylor(f, 0.7, 4)):
        np.testing.assert_allclose(c.item() * math.factorial(k), f(double(0.7)).item(), 1e-8, 1e-8)
        f = ad.grad(f)


def test_a_high_order_is_exact():
    f = lambda x: ad.exp(ad.sin(x))  # noqa: E731
    found = [c.item() for c in ad.taylor(f, 0.7, 20)]
    expected = mpmath.taylor(lambda x: mpmath.exp(mpmath.sin(x)), mpmath.mpf(0.7), 20)
    np.testing.assert_allclose(found, [float(c) for c in expected], 1e-9)


def test_the_graph_grows_with_the_square_of_the_order():
    def size(order):
        x = ad.variable(0.7)
        tensors = ad.taylor(lambda x: ad.exp(ad.sin(x)), x, order)
        from adjoint.graph import topological

        return len(topological([tensors[-1].node]))

    assert size(40) < 4.5 * size(20)


def test_a_curve_through_several_arguments():
    """d/dt and d²/dt² of f(x(t), y(t)) by the chain rule."""
    f = lambda p: p["x"] ** 2 * ad.sin(p["y"])  # noqa: E731
    point = {"x": double(1.5), "y": double(0.3)}
    first, second = {"x": double(2.0), "y": double(-1.0)}, {"x": double(0.5), "y": None}
    value, (d1, d2) = ad.jet(f, (point,), ([first, second],))
    curve = lambda t: f({"x": 1.5 + 2 * t + 0.25 * t * t, "y": 0.3 - t})  # noqa: E731
    equal(value, curve(double(0.0)).item())
    equal(d1, ad.grad(curve)(0.0).item())
    equal(d2, ad.grad(ad.grad(curve))(0.0).item())


def test_jets_under_transformations():
    f = lambda x: ad.exp(ad.sin(x))  # noqa: E731
    third = lambda x: ad.taylor(f, x, 3)[3]  # noqa: E731
    fourth = 4 * ad.taylor(f, 0.7, 4)[4].item()
    equal(ad.grad(third)(0.7), fourth)
    equal(ad.jvp(third, (double(0.7),), (double(1.0),))[1], fourth)
    equal(ad.jit(third)(0.7), third(0.7).item())
    points = double([0.7, 0.1])
    equal(ad.vmap(third)(points), [third(0.7).item(), third(0.1).item()])
    equal(third(points), [third(0.7).item(), third(0.1).item()])


def test_a_taylor_integrator():
    """y' = y² with y(0) = 1 is 1/(1 - t): one step of order 12, coefficient by coefficient."""
    coefficients = [1.0]
    for k in range(12):
        derivatives = [math.factorial(i) * c for i, c in enumerate(coefficients)][1:] or [0.0]
        _, found = ad.jet(lambda y: y * y, (1.0,), (derivatives,))
        value = ad.tensor(1.0) if k == 0 else found[k - 1] / math.factorial(k)
        coefficients.append(value.item() / (k + 1))
    np.testing.assert_allclose(coefficients, np.ones(13), 1e-10)


def test_jets_say_what_is_wrong():
    with pytest.raises(ValueError, match="as many derivatives"):
        ad.jet(lambda x, y: x * y, (1.0, 2.0), ([1.0], [1.0, 0.0]))
    with pytest.raises(ValueError, match="shape"):
        ad.jet(lambda x: x, (ad.ones(2),), ([ad.ones(3)],))
    with pytest.raises(ValueError, match="from 0 on"):
        ad.taylor(ad.exp, 0.0, -1)
    with pytest.raises(TypeError, match=r"for trees there is ad\.jet"):
        ad.taylor(lambda p: p[0], [1.0], 2)
    assert len(ad.taylor(ad.exp, 0.0, 0)) == 1
    equal(ad.taylor(lambda x: ad.stop_gradient(x) * x, 2.0, 2)[1], 2.0)


WEIGHT = np.random.default_rng(0).normal(size=(3, 3)) * 0.4
SLICES = np.random.default_rng(1).normal(size=(7, 3))


def step(w, a, carry, x):
    h, s, n = carry
    new = ad.tanh(h @ w + x * a)
    return (new, s + (new * x).sum(), n + 1), (new * ad.exp(-s), s)


def start():
    return ad.zeros(3, dtype="float64"), ad.tensor(0.0, dtype="float64"), 0


def said(a, reverse=False, moving=False, memory=None):
    w, xs = ad.tensor(WEIGHT) * ad.cos(a), ad.tensor(SLICES) * (a if moving else 1)
    (h, s, _), (y, t) = ad.scan(lambda c, x: step(w, a, c, x), start(), xs, reverse=reverse, memory=memory)
    return h.sum() + s * y.sum() + t.sum()


def written_out(a, reverse=False, moving=False, memory=None):
    w, xs = ad.tensor(WEIGHT) * ad.cos(a), ad.tensor(SLICES) * (a if moving else 1)
    carry, ys, ts = start(), [], []
    for i in range(6, -1, -1) if reverse else range(7):
        carry, (y, t) = step(w, a, carry, xs[i])
        ys.append(y.sum())
        ts.append(t)
    return carry[0].sum() + carry[1] * sum(ys) + sum(ts)


def numbers(series):
    return [float(c) for c in series]


@pytest.mark.parametrize("how", [{}, {"reverse": True}, {"moving": True}, {"memory": 2}], ids=str)
def test_a_scan_has_the_series_of_its_steps(how):
    a = ad.tensor(0.7, dtype="float64")
    expected = numbers(ad.taylor(lambda a: written_out(a, **how), a, 6))
    np.testing.assert_allclose(numbers(ad.taylor(lambda a: said(a, **how), a, 6)), expected, rtol=1e-11)
    np.testing.assert_allclose(
        numbers(ad.jit(lambda a: ad.taylor(lambda a: said(a, **how), a, 6))(a)), expected, rtol=1e-11
    )


def test_series_through_scans_in_scans_and_gradients_of_scans():
    a = ad.tensor(0.7, dtype="float64")

    def nested(x):
        inner = lambda c: ad.scan(lambda d, k: (ad.sin(d) + k * x, None), c, ad.tensor(np.arange(3.0)))[0]  # noqa: E731
        return ad.scan(lambda c, _: (inner(c), None), x, length=4)[0]

    def unrolled(x):
        c = x
        for k in [0.0, 1.0, 2.0] * 4:
            c = ad.sin(c) + k * x
        return c

    np.testing.assert_allclose(numbers(ad.taylor(nested, a, 6)), numbers(ad.taylor(unrolled, a, 6)), rtol=1e-11)
    expected = numbers(ad.taylor(ad.grad(written_out), a, 3))
    np.testing.assert_allclose(numbers(ad.taylor(ad.grad(said), a, 3)), expected, rtol=1e-10)
    slope = ad.grad(lambda a: ad.taylor(said, a, 3)[3])(a)
    np.testing.assert_allclose(slope.item(), 4 * numbers(ad.taylor(written_out, a, 4))[4], rtol=1e-10)
    batch = ad.vmap(lambda a: ad.taylor(said, a, 3)[3])(ad.tensor(np.array([0.7, 0.1])))
    each = [numbers(ad.taylor(written_out, ad.tensor(x, dtype="float64"), 3))[3] for x in (0.7, 0.1)]
    np.testing.assert_allclose(batch.numpy(), each, rtol=1e-10)


def test_the_work_through_a_scan_grows_with_the_square_of_the_order():
    def nodes(order):
        found = ad.taylor(lambda x: ad.scan(lambda c, _: (ad.sin(c) * 1.1, None), x, length=50)[0], 0.3, order)
        loops = [x for x in topological([found[-1].node]) if x.op.name == "scan"]
        return max(len(topological(x.attributes.body.outputs)) for x in loops)

    assert nodes(16) < 4.5 * nodes(8)  # four times, and less for what is linear


def repeated(x, memory=None):
    def once(carry):
        c, total, n = carry
        return ad.sin(c) * x + 0.1 * c, total + c * x, n + 1

    c, total, _ = ad.while_loop(lambda c: c[2] < 6, once, (x * 1.0, x * x, 0), memory=memory)
    return c * total


def repeated_by_hand(x):
    c, total = x, x * x
    for _ in range(6):
        c, total = ad.sin(c) * x + 0.1 * c, total + c * x
    return c * total


def powers(x):
    def until(n):
        return ad.fori_loop(ad.tensor(0), n, lambda i, c: c * ad.cos(x) + i, x)

    return ad.cond(x > 0, lambda: until(ad.tensor(5)) * x, lambda: x)


def powers_by_hand(x):
    c = x
    for i in range(5):
        c = c * ad.cos(x) + i
    return c * x


def chosen(x):
    return ad.switch(2, [lambda y: y, lambda y: -y, lambda y: ad.exp(ad.sin(y)) * x], x * x)


def mapped(x):
    return ad.map(lambda k: ad.tanh(k * x), ad.tensor(np.arange(4.0))).sum()


def prefixes(x):
    return ad.associative_scan(ad.multiply, ad.stack([x, ad.sin(x), x + 1, ad.exp(x)])).sum()


def prefixes_by_hand(x):
    a = x * ad.sin(x)
    return x + a + a * (x + 1) + a * (x + 1) * ad.exp(x)


LOOPS = {
    "while_loop": (repeated, repeated_by_hand),
    "while_loop with little memory": (lambda x: repeated(x, 2), repeated_by_hand),
    "fori_loop in cond": (powers, powers_by_hand),
    "switch": (chosen, lambda x: ad.exp(ad.sin(x * x)) * x),
    "map": (mapped, lambda x: ad.tanh(x) + ad.tanh(2 * x) + ad.tanh(3 * x)),
    "associative_scan": (prefixes, prefixes_by_hand),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_or_branch_has_the_series_of_its_steps(name):
    said, unrolled = LOOPS[name]
    a = ad.tensor(0.7, dtype="float64")
    expected = numbers(ad.taylor(unrolled, a, 8))
    np.testing.assert_allclose(numbers(ad.taylor(said, a, 8)), expected, rtol=1e-11)
    np.testing.assert_allclose(numbers(ad.jit(lambda a: ad.taylor(said, a, 8))(a)), expected, rtol=1e-11)
    np.testing.assert_allclose(
        numbers(ad.taylor(ad.grad(said), a, 5)), numbers(ad.taylor(ad.grad(unrolled), a, 5)), rtol=1e-10
    )
    slope = ad.grad(lambda a: ad.taylor(said, a, 3)[3])(a)
    np.testing.assert_allclose(slope.item(), 4 * expected[4], rtol=1e-10)
    batch = ad.vmap(lambda a: ad.taylor(said, a, 3)[3])(ad.tensor(np.array([0.7, 0.1])))
    np.testing.assert_allclose(batch.numpy()[0], expected[3], rtol=1e-10)


def deep(order, f):
    """How many nodes the coefficient of an order has, those of loops and branches included."""
    found = topological([ad.taylor(f, 0.3, order)[-1].node])
    inner = [getattr(x.attributes, "body", None) for x in found]
    bodies = [b for b in inner if b is not None] + [b for x in found if x.op.name == "switch" for b in x.attributes]
    return len(found) + sum([len(topological(b.outputs)) for b in bodies])


WORK = {
    "while_loop": repeated,
    "gradient of while_loop": ad.grad(repeated),
    "cond": lambda x: ad.cond(x > 0, lambda: ad.exp(ad.sin(x)), lambda: x),
    "solve": lambda x: ad.linalg.solve(matrix(x), ad.stack([x, ad.sin(x)]))[0],
    "large solve": lambda x: ad.linalg.solve(matrix(x)[0, 1] + ad.eye(18) * 9, ad.ones(18) * x)[0],
    "triangular": lambda x: ad.linalg.solve_triangular(matrix(x), ad.stack([x, ad.sin(x)])[:, None])[0, 0],
    "cholesky": FUNCTIONS["cholesky"], "eigh": lambda x: ad.linalg.eigh(matrix(x))[1][0, 0] ** 2,
    "qr": lambda x: abs(ad.linalg.qr(matrix(x))[1][1, 1]), "lu": lambda x: ad.linalg.det(matrix(x)),
    "svd": lambda x: ad.linalg.svd(matrix(x)).U[0, 0] ** 2, "expm": lambda x: ad.linalg.expm(matrix(x))[0, 1],
    "sqrtm": lambda x: ad.linalg.sqrtm(matrix(x))[0, 1], "prod": FUNCTIONS["prod"],
    "cumulative_prod": lambda x: ad.cumulative_prod(ad.stack([x, x + 1, x * x, ad.sin(x)])).sum(),
    "jv": lambda x: ad.special.jv(0.0, x),
}  # fmt: skip


@pytest.mark.parametrize("name", WORK)
def test_the_work_does_not_grow_exponentially(name):
    """From order 5 to order 10 a polynomial of degree 3 grows eight times, 2ⁿ 32 times."""
    assert deep(10, WORK[name]) < 8.5 * deep(5, WORK[name])


@pytest.mark.parametrize("name", ["solve", "triangular", "eigh", "qr", "svd", "expm", "sqrtm", "cumulative_prod", "jv"])
def test_coefficients_of_factors_and_systems(name):
    f = WORK[name]
    for k, c in enumerate(ad.taylor(f, 0.3, 4)):
        np.testing.assert_allclose(c.item() * math.factorial(k), f(double(0.3)).item(), 1e-7, 1e-7)
        f = ad.grad(f)


@pytest.mark.parametrize(
    "how", [{}, {"method": "rk4", "substeps": 10}, {"method": "rodas4"}, {"derivative": "adjoint"}], ids=str
)
def test_series_through_an_integration(how):
    """y' = -a y from 1 to time 1: exp(-a)."""
    times = ad.tensor(np.array([0.0, 0.5, 1.0]))
    found = ad.taylor(lambda a: ad.odeint(lambda y, t: -a * y, 1.0, times, **how)[-1], 0.7, 5)
    expected = [math.exp(-0.7) * (-1) ** k / math.factorial(k) for k in range(6)]
    np.testing.assert_allclose(numbers(found), expected, atol=1e-6)


def of_a_rule(kind):
    """sin by a rule of its own, or by NumPy."""
    if kind == "host_call":
        return lambda x: ad.host_call(np.sin, x, shape=x.shape, dtype="float64", vjp=lambda u, x: (u * ad.cos(x),))
    if kind == "checkpoint":
        return ad.checkpoint(ad.sin)
    made = (ad.custom_vjp if kind == "custom_vjp" else ad.custom_jvp)(lambda x: ad.sin(x))
    if kind == "custom_vjp":
        made.def_vjp(lambda x: (ad.sin(x), x), lambda x, u: (u * ad.cos(x),))
    else:
        made.def_jvp(lambda xs, ts: (ad.sin(xs[0]), ad.cos(xs[0]) * ts[0]))
    return made


@pytest.mark.parametrize("kind", ["custom_vjp", "custom_jvp", "checkpoint", "host_call"])
def test_series_through_rules_of_ones_own(kind):
    own = of_a_rule(kind)
    f = lambda x: ad.exp(own(x * x))  # noqa: E731
    xs = ad.tensor([0.3, 0.7], dtype="float64")
    expected = [c.numpy() for c in ad.taylor(lambda x: ad.exp(ad.sin(x * x)), xs, 4)]
    batched = ad.jit(ad.vmap(lambda x: ad.taylor(f, x, 4)))
    for found in ([c.numpy() for c in ad.taylor(f, xs, 4)], [c.numpy() for c in batched(xs)]):
        np.testing.assert_allclose(found, expected, rtol=1e-10)
    with pytest.raises(RuntimeError, match="no derivative"):
        ad.taylor(lambda x: ad.host_call(np.sin, x, shape=x.shape, dtype="float64"), xs, 2)


def test_series_of_functions_that_differ_in_their_rules_alone():
    plain, other = ad.custom_vjp(lambda x: ad.sin(x)), ad.custom_vjp(lambda x: ad.sin(x))
    plain.def_vjp(lambda x: (ad.sin(x), x), lambda x, u: (u * ad.cos(x),))
    other.def_vjp(lambda x: (ad.sin(x), x), lambda x, u: (2 * u * ad.cos(x),))
    first = ad.taylor(lambda x: plain(x) + 10 * other(x), double(0.3), 1)[1]
    np.testing.assert_allclose(first.item(), 21 * math.cos(0.3))
