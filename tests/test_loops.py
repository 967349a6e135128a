"""Loops and branches that are said, beside the same loops written in Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint.control.lean import Trail, reversed_steps

DTYPE = "float64"


@pytest.fixture(autouse=True)
def float64():
    before = ad.get_default_dtype()
    ad.set_default_dtype(DTYPE)
    yield
    ad.set_default_dtype(before)


def close(a, b, rtol=1e-11):
    leaves_a, one = ad.tree.flatten(a)
    leaves_b, other = ad.tree.flatten(b)
    assert one == other
    for x, y in zip(leaves_a, leaves_b, strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=rtol, atol=1e-12)


def data(*shape, seed=0):
    return ad.tensor(np.random.default_rng(seed).normal(size=shape))


def slices(xs, t):
    return ad.tree.map(lambda x: x[t], xs)


def python_scan(f, init, xs, length=None, reverse=False, **_):
    count = length if xs is None else ad.tree.flatten(xs)[0][0].shape[0]
    carry, found = init, []
    for t in range(count - 1, -1, -1) if reverse else range(count):
        carry, y = f(carry, None if xs is None else slices(xs, t))
        found.append(y)
    if reverse:
        found.reverse()
    return carry, ad.tree.map(lambda *parts: ad.stack(list(parts)), *found)


# Programs: (function of a loop and parameters, parameters) --------------------------------------------------------------


def logistic(loop, r):
    end, path = loop(lambda x, _: (r * x * (1 - x), x), 0.3, None, length=7)
    return end + (path**2).sum()


def network(loop, w, v, xs):
    def step(h, x):
        h = ad.tanh(x @ v + h @ w)
        return h, {"h": h, "norm": (h * h).sum()}

    h, ys = loop(step, ad.zeros((2, 3)), xs)
    return (h * ys["h"]).sum() + ys["norm"].sum()


def two_carries(loop, a, xs):
    def step(carry, x):
        (p, q), count = carry
        p, q = q * ad.sin(p) + x["u"], p + a * x["v"]
        return ((p, q), count + 1), (p * count, q)

    ((p, q), count), ys = loop(step, ((a, a * 2), 0), {"u": xs, "v": xs * xs})
    return p * q * count + (ys[0] * ys[1]).sum()


def passes_on(loop, a, xs):
    (a, total), _ = loop(lambda c, x: ((c[0], c[1] * c[0] + x), None), (a, 0.0), xs)
    return total * a


def swaps(loop, a, b):
    (a, b), path = loop(lambda c, _: ((c[1], c[0] * c[1]), c[0]), (a, b), None, length=5)
    return a + 2 * b + path.sum()


def matrix_power(loop, m):
    return loop(lambda x, _: (m @ x, x.sum()), ad.eye(3), None, length=4)[0].sum()


def selected(loop, x):
    return loop(lambda c, _: (ad.where(c > 1, ad.sqrt(c), c * 3), c), x, None, length=6)[0].sum()


PROGRAMS = {
    "logistic": (logistic, (ad.tensor(3.1, dtype=DTYPE),)),
    "network": (network, (data(3, 3), data(4, 3, seed=1), data(5, 2, 4, seed=2))),
    "two_carries": (two_carries, (ad.tensor(0.7, dtype=DTYPE), data(6, seed=3))),
    "passes_on": (passes_on, (ad.tensor(0.7, dtype=DTYPE), data(4, seed=4))),
    "swaps": (swaps, (ad.tensor(1.1, dtype=DTYPE), ad.tensor(0.9, dtype=DTYPE))),
    "matrix_power": (matrix_power, (data(3, 3, seed=5),)),
    "selected": (selected, (ad.tensor([0.2, 1.5, 7.0], dtype=DTYPE),)),
}
OPTIONS = [
    {},
    {"reverse": True},
    {"unroll": 2},
    {"unroll": 3, "reverse": True},
    {"memory": 1},
    {"memory": 3, "reverse": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_and_derivatives_are_those_of_the_python_loop(name, options):
    program, arguments = PROGRAMS[name]

    def said(*args):
        return program(lambda f, init, xs, **more: ad.scan(f, init, xs, **more, **options), *args)

    def written(*args):
        return program(lambda f, init, xs, **more: python_scan(f, init, xs, **more, **options), *args)

    every = tuple(range(len(arguments)))
    close(said(*arguments), written(*arguments))
    close(ad.grad(said, every)(*arguments), ad.grad(written, every)(*arguments))
    tangents = tuple(data(*x.shape, seed=9) for x in arguments)
    close(ad.jvp(said, arguments, tangents), ad.jvp(written, arguments, tangents))


@pytest.mark.parametrize("options", [{}, {"memory": 2}], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name, options):
    program, arguments = PROGRAMS[name]

    def said(*args):
        return program(lambda f, init, xs, **more: ad.scan(f, init, xs, **more, **options), *args)

    def written(*args):
        return program(python_scan, *args)

    tangents = tuple(data(*x.shape, seed=9) for x in arguments)
    close(ad.hvp(said, arguments, tangents), ad.hvp(written, arguments, tangents), 1e-9)
    if ad.tree.flatten(arguments[0])[0][0].size < 4:
        close(ad.hessian(said)(*arguments), ad.hessian(written)(*arguments), 1e-9)
        both = [ad.grad(lambda x, f=f: (ad.grad(f)(x, *arguments[1:]) ** 2).sum()) for f in (said, written)]
        close(both[0](arguments[0]), both[1](arguments[0]), 1e-9)


@pytest.mark.parametrize("options", [{}, {"memory": 2}], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_under_vmap_jit_and_checkpoint(name, options):
    program, arguments = PROGRAMS[name]
    first, *rest = arguments

    def said(*args):
        return program(lambda f, init, xs, **more: ad.scan(f, init, xs, **more, **options), *args)

    batch = ad.stack([first, first * 0.5, first + 0.1])
    alone = ad.stack([ad.grad(said)(batch[i], *rest) for i in range(3)])
    axes = (0, *[None] * len(rest))
    close(ad.vmap(ad.grad(said), in_axes=axes)(batch, *rest), alone)
    close(ad.grad(lambda x: ad.vmap(said, in_axes=axes)(x, *rest).sum())(batch), alone)
    compiled = ad.jit(ad.value_and_grad(said))
    for scale in (1.0, 0.9, 1.1):
        close(compiled(first * scale, *rest), ad.value_and_grad(said)(first * scale, *rest))
    close(ad.grad(ad.checkpoint(said))(*arguments), ad.grad(said)(*arguments))


def test_backward_reads_what_the_loop_has_kept():
    w = ad.variable(0.5)
    y = ad.scan(lambda x, _: (ad.sin(x * w), None), 1.0, length=10)[0]
    assert math.isclose(y.item(), 0.5**0 * y.item())
    y.backward()
    x = ad.variable(0.5)
    z = ad.tensor(1.0)
    for _ in range(10):
        z = ad.sin(z * x)
    z.backward()
    close(w.grad, x.grad)


def test_a_loop_of_no_steps():
    assert ad.scan(lambda c, x: (c + x, c), 2.0, ad.zeros(0))[0].item() == 2.0
    assert ad.scan(lambda c, x: (c + x, c * x), 2.0, ad.zeros((0, 3)).sum(1))[1].shape == (0,)
    assert ad.grad(lambda c: ad.scan(lambda c, x: (c * x, c), c, ad.zeros(0))[0])(3.0).item() == 1.0
    assert ad.while_loop(lambda x: x < 0, lambda x: x * 2, 3.0).item() == 3.0
    assert ad.grad(lambda c: ad.while_loop(lambda x: x < 0, lambda x: x * 2, c))(3.0).item() == 1.0


# while_loop -------------------------------------------------------------------------------------------------------------


def collatz(x):
    def body(carry):
        n, count, path = carry
        return ad.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1, path * 1.01 + ad.astype(n, DTYPE) * x

    return ad.while_loop(lambda c: c[0] != 1, body, (27, 0, x))


def newton(a, x):
    step = lambda c: (c[0] - (c[0] ** 2 - a) / (2 * c[0]), c[0])  # noqa: E731
    return ad.while_loop(lambda c: abs(c[0] - c[1]) > 1e-9, step, (x, x + 1))[0]


def squares(loop, x):
    return loop(lambda c: c[0] < 10.0, lambda c: (c[0] * c[0], c[1] * ad.sin(c[0])), (x, x))[1]


def python_while(cond, body, init):
    while cond(init):
        init = body(init)
    return init


def test_integers_and_numbers_together():
    n, count, path = collatz(ad.tensor(0.5))
    assert (n.item(), count.item()) == (1, 111)
    numbers, k, expected = 0.5, 27, 0.0
    terms = []
    while k != 1:
        terms.append(k)
        k = k // 2 if k % 2 == 0 else 3 * k + 1
    expected, slope = 0.5, 1.0
    for k in terms:
        expected, slope = expected * 1.01 + k * numbers, slope * 1.01 + k
    close(path, ad.tensor(expected))
    close(ad.grad(lambda x: collatz(x)[2])(0.5), ad.tensor(slope))


@pytest.mark.parametrize("memory", [None, 1, 2, 100])
def test_while_loop_differentiates_in_both_modes_to_any_order(memory):
    def said(x):
        return squares(lambda c, b, i: ad.while_loop(c, b, i, memory=memory), x)

    def written(x):
        return squares(python_while, x)

    for order in range(4):
        for x in (1.5, 2.0, 1.01):
            close(said(x), written(x), 1e-8)
        if order < 2:
            close(ad.jvp(said, (1.5,), (1.0,)), ad.jvp(written, (1.5,), (1.0,)), 1e-8)
        xs = ad.tensor([1.5, 2.0, 1.01])
        close(ad.vmap(said)(xs), ad.stack([ad.asarray(written(x)) for x in (1.5, 2.0, 1.01)]), 1e-8)
        said, written = ad.grad(said), ad.grad(written)


def test_newtons_method_has_the_derivative_of_the_root():
    close(ad.grad(newton)(2.0, 1.0), ad.tensor(0.5 / math.sqrt(2)), 1e-7)
    close(
        ad.vmap(ad.grad(newton), in_axes=(0, None))(ad.tensor([2.0, 9.0]), 1.0), ad.tensor([0.5 / 2**0.5, 1 / 6]), 1e-6
    )
    f = ad.jit(ad.grad(newton))
    for a in (2.0, 3.0, 100.0):
        close(f(a, 1.0), ad.tensor(0.5 / math.sqrt(a)), 1e-6)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 31, 100, 257])
@pytest.mark.parametrize("slots", [None, 1, 2, 3, 10, 1000])
def test_the_schedule_visits_every_step_backwards_within_its_memory(count, slots):
    remembered = 0

    def advance(state, k):
        assert state == k
        return k + 1

    found = []
    for k, state in reversed_steps(0, count, 0, slots, advance):
        assert state == k
        found.append(k)
    assert found == list(range(count))[::-1]
    trail = Trail(slots)
    for k in range(count):
        trail.pass_by(k, k)
        remembered = max(remembered, len(trail.states))
    assert slots is None or remembered <= slots
    assert [k for k, state in trail.back(count, advance) if state == k] == list(range(count))[::-1]


def test_ten_thousand_steps_with_a_hundred_carries_are_computed_few_times():
    computed = 0

    def advance(state, k):
        nonlocal computed
        computed += 1
        return state + 1

    assert sum(1 for _ in reversed_steps(0, 10_000, 0, 100, advance)) == 10_000
    assert computed <= 3 * 10_000
    computed = 0
    trail = Trail(100)
    for k in range(10_000):
        trail.pass_by(k, k)
    assert sum(1 for _ in trail.back(10_000, advance)) == 10_000
    assert computed <= 3 * 10_000


# cond, switch, and the others -------------------------------------------------------------------------------------------


def test_only_the_branch_that_is_taken_is_computed():
    calls = []

    def noted(name):
        def host(x):
            calls.append(name)
            return x

        return lambda x: ad.host_call(host, x, shape=(), dtype=DTYPE, vjp=lambda g, x: (g,))

    out = ad.cond(ad.tensor(1.0) > 0, noted("yes"), noted("no"), 2.0)
    assert out.item() == 2.0
    assert calls == ["yes"]


def test_a_branch_that_is_not_taken_poisons_nothing():
    f = lambda x: ad.cond(x > 0, lambda x: ad.sqrt(x) * ad.log(x), lambda x: x * 0, x)  # noqa: E731
    assert ad.grad(f)(-1.0).item() == 0
    close(ad.vmap(ad.grad(f))(ad.tensor([-1.0, 0.0, 4.0])), ad.tensor([0.0, 0.0, 0.25 * math.log(4.0) + 0.5]))


def test_branches_close_over_tensors():
    a, b = ad.variable(2.0), ad.variable(3.0)
    for index, expected in enumerate([(12.0, 0.0), (3.0, 2.0), (0.0, 27.0)]):
        y = ad.switch(index, [lambda: a**3, lambda: a * b, lambda: b**3])
        found = ad.gradients(y, [a, b])
        close(found, [ad.tensor(x) for x in expected])
        second = ad.gradients(found[0] + found[1], [a, b])
        close(second, [ad.tensor(x) for x in [(12.0, 0.0), (1.0, 1.0), (0.0, 18.0)][index]])
    assert ad.switch(-3, [lambda: a, lambda: b]).item() == 2.0
    assert ad.switch(9, [lambda: a, lambda: b]).item() == 3.0


def test_switch_under_vmap_and_forward_mode():
    branches = [lambda x: x, lambda x: x**2, lambda x: ad.sin(x)]
    f = lambda k, x: ad.switch(k, branches, x)  # noqa: E731
    ks = ad.tensor([2, 0, 1, 7])
    close(ad.vmap(f, in_axes=(0, None))(ks, 3.0), ad.tensor([math.sin(3), 3.0, 9.0, math.sin(3)]))
    close(ad.vmap(f, in_axes=(None, 0))(1, ad.tensor([2.0, 3.0])), ad.tensor([4.0, 9.0]))
    close(ad.jvp(lambda x: f(1, x), (3.0,), (1.0,))[1], ad.tensor(6.0))
    close(ad.vmap(ad.grad(f, 1), in_axes=(0, None))(ks, 3.0), ad.tensor([math.cos(3), 1.0, 6.0, math.cos(3)]))


def test_loops_in_loops():
    def inner(x):
        return ad.scan(lambda c, _: (c * x + 1, None), x, length=3)[0]

    def said(x):
        return ad.scan(lambda c, t: (ad.cond(t > 2, inner, lambda c: c * 2, c) / 10, None), x, ad.arange(5))[0]

    def written(x):
        for t in range(5):
            y = x
            for _ in range(3):
                y = y * x + 1
            x = (y if t > 2 else x * 2) / 10
        return x

    for f, g in (
        (said, written),
        (ad.grad(said), ad.grad(written)),
        (ad.grad(ad.grad(said)), ad.grad(ad.grad(written))),
    ):
        close(f(1.3), ad.asarray(g(1.3)), 1e-10)
    close(ad.vmap(ad.grad(said))(ad.tensor([1.3, 0.4])), ad.stack([ad.grad(written)(1.3), ad.grad(written)(0.4)]))


def test_random_numbers_differ_from_step_to_step_and_from_example_to_example():
    ad.random.seed(3)
    _, ys = ad.scan(lambda c, _: (c, ad.random.normal((2,))), 0.0, length=50)
    assert len(np.unique(ys.numpy())) == 100
    close(ys, ys)
    ad.random.seed(3)
    close(ad.scan(lambda c, _: (c, ad.random.normal((2,))), 0.0, length=50)[1], ys)
    zs = ad.vmap(lambda x: ad.scan(lambda c, _: (c, x + ad.random.uniform(())), 0.0, length=5)[1])(ad.zeros(4))
    assert len(np.unique(zs.numpy())) == 20


def test_map_and_fori_loop_and_associative_scan():
    xs = data(4, 3)
    close(ad.map(lambda x: (x * x.sum(), x[0]), xs), ad.vmap(lambda x: (x * x.sum(), x[0]))(xs))
    assert ad.fori_loop(2, 6, lambda i, x: x * i, 1).item() == 120
    bounded = lambda n, x: ad.fori_loop(0, n, lambda i, c: c * x, 1.0)  # noqa: E731
    close(ad.grad(bounded, 1)(ad.tensor(5), 2.0), ad.tensor(80.0))
    for n in range(1, 10):
        x = data(2, n)
        for reverse in (False, True):
            found = ad.associative_scan(lambda a, b: a * b, x, axis=1, reverse=reverse)
            expected = np.cumprod(x.numpy()[:, ::-1] if reverse else x.numpy(), axis=1)
            close(found, ad.tensor(expected[:, ::-1] if reverse else expected))


# What is refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ad.scan(lambda c, x: (ad.concat([c, c]), x), ad.zeros(2), ad.zeros(3)), TypeError, "keeps its shape"),
        (lambda: ad.scan(lambda c, x: (ad.astype(c, "float32"), x), ad.zeros(2), ad.zeros(3)), TypeError, "float32"),
        (lambda: ad.scan(lambda c, x: ([c], x), ad.zeros(2), ad.zeros(3)), TypeError, "the body returns the carry"),
        (lambda: ad.scan(lambda c, x: c, 0.0, ad.zeros(3)), TypeError, r"returns \(carry, y\)"),
        (lambda: ad.scan(lambda c, x: (c, x), 0.0), ValueError, "xs or length"),
        (lambda: ad.scan(lambda c, x: (c, x[0]), 0.0, (ad.zeros(3), ad.zeros(4))), ValueError, "4 slices where 3"),
        (lambda: ad.scan(lambda c, x: (c, x), 0.0, ad.zeros(())), ValueError, "no axis"),
        (lambda: ad.scan(lambda c, x: (c, x), 0.0, ad.zeros(3), memory=0), ValueError, "memory"),
        (lambda: ad.scan(lambda c, x: (c, x), 0.0, ad.zeros(3), unroll=0), ValueError, "unroll"),
        (lambda: ad.scan(lambda c, x: (c, x), "no", ad.zeros(3)), TypeError, "a str"),
        (lambda: ad.while_loop(lambda c: c > 0, lambda c: c - 1, ad.zeros(3)), TypeError, "one bool"),
        (lambda: ad.cond(True, lambda: ad.zeros(2), lambda: ad.zeros(3)), TypeError, "the branches return"),
        (lambda: ad.switch(1.5, [lambda: 1]), TypeError, "one integer"),
        (lambda: ad.switch(0, []), ValueError, "no branches"),
        (lambda: ad.associative_scan(ad.add, ad.zeros(3), axis=2), ValueError, "no axis 2"),
        (lambda: ad.scan(lambda c, x: (c + 1 if c > 0 else c, x), 0.0, ad.zeros(3)), RuntimeError, "ad.while_loop"),
    ],
)
def test_what_is_refused_is_said(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_pythons_numbers_take_the_dtype_of_what_the_body_returns():
    total, _ = ad.scan(lambda c, x: (c + x, None), 0, ad.tensor([1.5, 2.5], dtype="float32"))
    assert total.dtype == ad.float32
    assert total.item() == 4.0


def test_what_nobody_reads_is_not_stacked():
    big = ad.ones((50, 1000))
    stacks = []
    original = np.empty

    def noted(shape, *args, **keywords):
        if tuple(np.atleast_1d(shape))[:1] == (50,):
            stacks.append(shape)
        return original(shape, *args, **keywords)

    w = ad.variable(2.0)
    y = ad.scan(lambda c, x: (ad.sin(c * w) + x, c), ad.zeros(1000), big)[0]
    np.empty = noted
    try:
        with ad.no_grad():
            y.sum().item()
    finally:
        np.empty = original
    assert len(stacks) <= 2  # what the reverse pass will read, and not the ys
