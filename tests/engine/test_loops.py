"""Loops and branches that are said, beside the same loops written in Python."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.control import repeat, running
from adjoint.control.lean import Trail, reversed_parts
from adjoint.execution.tiers import tiers
from adjoint.graph import topological
from adjoint.machine.scalars import ScalarLoop

DTYPE = "float64"


@pytest.fixture(autouse=True)
def float64():
    before = ad.get_default_dtype()
    ad.set_default_dtype(DTYPE)
    yield
    ad.set_default_dtype(before)


def plain(x):
    return x.numpy() if isinstance(x, ad.Tensor) else np.asarray(x)


def close(a, b, rtol=1e-11):
    leaves_a, one = ad.tree.flatten(a)
    leaves_b, other = ad.tree.flatten(b)
    assert one == other
    for x, y in zip(leaves_a, leaves_b, strict=True):
        np.testing.assert_allclose(plain(x), plain(y), rtol=rtol, atol=1e-12)


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


def test_what_is_computed_alike_is_stacked_once():
    def step(carry, x):
        return carry + ad.sin(x), (
            ad.sin(x),
            2 * ad.sin(x),
            ad.sin(x),
            ad.random.uniform(x.shape),
            ad.random.uniform(x.shape),
        )

    xs = data(5, 3)
    last, (one, two, three, drawn, other) = ad.scan(step, ad.zeros(3), xs)
    assert one.node is three.node and one.node is not two.node
    close(
        (last, one, two, three),
        (np.sin(xs.numpy()).sum(0), np.sin(xs.numpy()), 2 * np.sin(xs.numpy()), np.sin(xs.numpy())),
    )
    assert (drawn.numpy() != other.numpy()).all()

    def said(w, rows):  # in reverse, the cotangents of the rows are a factor of the weight's
        return ad.scan(lambda h, row: (ad.tanh(row + h @ w.T),) * 2, ad.zeros((2, 3)), rows)[1]

    def unrolled(w, rows):
        states = [ad.zeros((2, 3))]
        for row in rows:
            states.append(ad.tanh(row + states[-1] @ w.T))
        return ad.stack(states[1:])

    given = data(3, 3, seed=1), data(5, 2, 3, seed=2)
    found, expected = [ad.vjp(f, *given)[1](data(5, 2, 3, seed=3)) for f in (said, unrolled)]
    close(found, expected)


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


def test_steps_that_are_remembered_differ_in_number_from_time_to_time():
    """Room is made for as many steps as there were the last time; now there are more, as many, or fewer."""
    f = ad.jit(
        ad.value_and_grad(lambda x, n: ad.while_loop(lambda c: c[1] < n, lambda c: (c[0] * x, c[1] + 1), (x, 0))[0])
    )
    for n in (3, 200, 199, 200, 201, 5, 0, 1000, 62, 63, 64, 65, 1000):
        value, slope = f(ad.tensor(1.001), ad.tensor(n))
        close(value, ad.tensor(1.001 ** (n + 1)), 1e-12)
        close(slope, ad.tensor((n + 1) * 1.001**n), 1e-12)


def test_sections_that_are_remembered_differ_in_number_from_time_to_time():
    """The loop remembers where the sections of as many steps as the last time begin; now there are more, as many, or fewer."""
    f = ad.jit(
        ad.value_and_grad(
            lambda x, n: ad.while_loop(lambda c: c[1] < n, lambda c: (c[0] * x, c[1] + 1), (x, 0), memory=100)[0]
        )
    )
    for n in (9000, 9000, 8999, 9001, 9050, 13_000, 13_000, 4500, 101, 100, 99, 5, 0, 9000, 9000, 70_000, 9000, 9000):
        value, slope = f(ad.tensor(1.0001), ad.tensor(n))
        close(value, ad.tensor(1.0001 ** (n + 1)), 1e-10)
        close(slope, ad.tensor((n + 1) * 1.0001**n), 1e-10)


@pytest.mark.parametrize("memory", [None, 100, 400])
def test_a_reverse_pass_goes_on_from_what_the_loop_did(memory, monkeypatch):
    """Once a reverse pass has followed, a loop keeps its carries for the next one, or how many steps there were; it is asked for
    what it did with these very numbers, and what nobody asks for isn't kept again."""
    monkeypatch.setattr(tiers, "backend", "native")
    steps = []
    original = ScalarLoop.run

    def counted(self, arrays, first, step, count):
        done = original(self, arrays, first, step, count)
        steps.append(done)
        return done

    def last(a):
        return ad.while_loop(
            lambda c: c[1] < n, lambda c: (c[0] + 1e-4 * ad.sin(a * c[0]), c[1] + 1), (a, 0), memory=memory
        )[0]

    n = 70_000  # more than native programs go
    both = ad.jit(ad.value_and_grad(last))
    first = [both(ad.tensor(x)) for x in (0.5, 0.75)]
    monkeypatch.setattr(ScalarLoop, "run", counted)
    work = []
    for x, expected in [(0.5, first[0]), (0.75, first[1]), (0.5, first[0])]:
        steps.clear()
        for found, other in zip(both(ad.tensor(x)), expected, strict=True):
            assert found.item() == other.item()
        work.append(sum(steps))
    if memory is None:
        assert work == [2 * n] * 3  # forward, and back
        monkeypatch.setattr(repeat, "MOST_KEPT", 1000 * 16)  # of which no more is kept than of a thousand steps
        steps.clear()
        assert [x.item() for x in both(ad.tensor(0.75))] == [x.item() for x in first[1]]
        assert sum(steps) == 3 * n
    else:  # the reverse pass counts the steps itself where the loop isn't done before it, and runs to its sections' starts
        steps.clear()
        ad.jit(ad.grad(last))(ad.tensor(0.5)).item()
        assert work == [n if memory == 400 else sum(steps)] * 3
        assert memory == 100 or sum(steps) == n + n // 2
    made = []
    monkeypatch.setattr(repeat, "MOST_KEPT", 1 << 24)
    monkeypatch.setattr(repeat, "stack_of", lambda x, count: made.append(count) or running.stack_of(x, count))
    for backward, kept in ((True, False), (False, True), (False, False), (False, False), (True, False), (True, True)):
        made.clear()
        x = ad.variable(0.5)
        y = last(x)
        assert y.item() == first[0][0].item()
        assert bool(made) == (kept and memory is None)
        if backward:
            y.backward()
            assert x.grad.item() == pytest.approx(first[0][1].item(), 1e-12)


def test_newtons_method_has_the_derivative_of_the_root():
    close(ad.grad(newton)(2.0, 1.0), ad.tensor(0.5 / math.sqrt(2)), 1e-7)
    close(
        ad.vmap(ad.grad(newton), in_axes=(0, None))(ad.tensor([2.0, 9.0]), 1.0), ad.tensor([0.5 / 2**0.5, 1 / 6]), 1e-6
    )
    f = ad.jit(ad.grad(newton))
    for a in (2.0, 3.0, 100.0):
        close(f(a, 1.0), ad.tensor(0.5 / math.sqrt(a)), 1e-6)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 31, 100, 257])
@pytest.mark.parametrize("slots", [None, 0, 1, 2, 3, 10, 1000])
def test_the_schedule_visits_every_step_backwards_within_its_memory(count, slots):
    left = count
    for low, high, state in reversed_parts(count, 0, slots, lambda state, low, high: state + high - low):
        assert (state, high) == (low, left)
        assert slots is None or high - low - 1 <= slots
        left = low
    assert left == 0


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 5, 10, 100])
def test_a_trail_keeps_states_at_equal_distances(slots):
    trail, step, kept = Trail(slots), 0, []
    while step < 1000:
        step += trail.keep(step)
        assert trail.states == [k * trail.distance for k in range(len(trail.states))]
        kept.append(len(trail.states))
    assert max(kept) == slots
    assert slots == 1 or min(kept[slots:]) >= slots // 2


def test_ten_thousand_steps_with_a_hundred_carries_are_computed_few_times():
    computed = 0

    def advance(state, low, high):
        nonlocal computed
        computed += high - low
        return state + high - low

    parts = list(reversed_parts(10_000, 0, 100, advance))
    assert sum([high - low for low, high, _ in parts]) == 10_000
    assert computed <= 2 * 10_000  # and each once more, when its part is gone through


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


@pytest.mark.parametrize("bounds", [(0, 5.5), (0.5, 5), (0, float("nan")), (0, "5"), (0, np.ones(2, int)), (0, None)])
def test_bounds_of_fori_loop_are_integers(bounds):
    """5.5 would be 5 in silence, and NaN no turn at all."""
    with pytest.raises(TypeError, match=r"fori_loop: (lower|upper) is "):
        ad.fori_loop(*bounds, lambda i, x: x + i, 1.5)
    with pytest.raises(TypeError, match=r"fori_loop: (lower|upper) is "):
        ad.fori_loop(*[ad.tensor(b) if isinstance(b, float) else b for b in bounds], lambda i, x: x + i, 1.5)


def test_numpys_integers_are_bounds_of_a_scan():
    f = lambda x: ad.fori_loop(np.int64(1), np.int32(4), lambda i, y: y * x + i, x)  # noqa: E731
    assert f(2.0).item() == 27.0
    assert "scan" in {node.op.name for node in topological([f(ad.variable(2.0)).node], lambda x: bool(x.inputs))}


def test_grad_of_a_solution_names_its_fields():
    with pytest.raises(ValueError, match=r"a Solution of x, fun, success, nit; return one of these, such as \.x"):
        ad.grad(lambda a: ad.root(lambda x: x * x - a, 1.0))(2.0)


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


# Native loops -----------------------------------------------------------------------------------------------------------


def both_ways(monkeypatch, f):
    """What f gives step by step, and as native code."""
    found = []
    for backend in ("numpy", "native"):
        monkeypatch.setattr(tiers, "backend", backend)
        found.append(ad.tree.map(lambda x: x.numpy(), f()))
    return found


def random_body(rng):
    """A body of exact operations on three carries of different shapes, and a slice."""
    binary = [ad.add, ad.subtract, ad.multiply, ad.maximum, ad.minimum, ad.divide]
    unary = [ad.negative, ad.abs, ad.square, ad.relu, lambda x: ad.sqrt(ad.abs(x)), lambda x: ad.where(x > 0.3, x, 2.0)]
    moves = [
        lambda x: x[..., ::-1], lambda x: ad.concat([x[..., 1:], x[..., :1]], axis=-1), lambda x: ad.roll(x, 1, axis=-1),
        lambda x: ad.broadcast_to(x[..., :1], x.shape), lambda x: x.max(axis=-1, keepdims=True) + ad.zeros_like(x),
    ]  # fmt: skip
    plan = [(int(rng.integers(3)), int(rng.integers(3)), int(rng.integers(4)), int(rng.integers(6)), int(rng.integers(5)))
            for _ in range(int(rng.integers(3, 12)))]  # fmt: skip

    def body(carry, x):
        values = [*carry]
        for target, other, kind, which, move in plan:
            a, b = values[target], values[other]
            if kind == 0:
                made = unary[which](a)
            elif kind == 1:
                made = moves[move](a)
            else:
                made = binary[which](a, (b.sum() if b.shape != a.shape else b) if kind == 2 else x)
            values[target] = made / (1 + ad.abs(made).max())  # neither explodes nor vanishes
        return tuple(values), {"all": values[0] * x, "max": values[1].max()}

    return body


@pytest.mark.parametrize("seed", range(12))
def test_native_loops_have_the_bits_of_the_interpreter(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    body = random_body(rng)
    dtype = ["float64", "float32"][seed % 2]
    init = tuple(ad.tensor(rng.normal(size=s), dtype=dtype) for s in ((3,), (2, 4), (1,)))
    xs = ad.tensor(rng.normal(size=(9,)), dtype=dtype)

    def run(*args):
        carry, ys = ad.scan(body, args[:3], args[3], reverse=bool(seed % 3))
        return sum([c.sum() for c in carry]) + ys["all"].sum() + ys["max"].sum()

    plain, native = both_ways(monkeypatch, lambda: ad.scan(body, init, xs, reverse=bool(seed % 3)))
    for a, b in zip(ad.tree.flatten(plain)[0], ad.tree.flatten(native)[0], strict=True):
        np.testing.assert_array_equal(a, b)
    tolerance = 1e-10 if dtype == "float64" else 2e-4
    plain, native = both_ways(monkeypatch, lambda: ad.grad(run, (0, 1, 2, 3))(*init, xs))
    for a, b in zip(plain, native, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def test_native_loops_take_integers_bools_and_functions(monkeypatch):
    def body(carry, x):
        n, flag, total = carry
        total = total + ad.where(flag, ad.sin(x) * ad.exp(-x), ad.tanh(x))
        return (n * 3 + 1, (n % 2 == 0) & (x > 0), total), (n, flag)

    xs = data(40)
    plain, native = both_ways(monkeypatch, lambda: ad.scan(body, (1, True, 0.0), xs))
    for a, b in zip(ad.tree.flatten(plain)[0], ad.tree.flatten(native)[0], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)


def test_native_loops_stack_what_is_the_same_everywhere(monkeypatch):
    def run():
        return ad.scan(lambda c, x: (c, (ad.zeros(5), ad.full((2, 2), 3.5), c * 0 + 1, x)), ad.ones(3), ad.arange(4))

    plain, native = both_ways(monkeypatch, run)
    for a, b in zip(ad.tree.flatten(plain)[0], ad.tree.flatten(native)[0], strict=True):
        np.testing.assert_array_equal(a, b)


def test_small_matrices_in_native_loops(monkeypatch):
    a, xs = data(4, 4) * 0.4, data(30, 4, 2, seed=1)

    def run(a):
        return ad.scan(lambda p, x: (a @ p @ a.T + x @ x.T, p.sum()), ad.eye(4), xs)[1].sum()

    plain, native = both_ways(monkeypatch, lambda: [run(a), ad.grad(run)(a), ad.hvp(run, a, a)])
    for x, y in zip(plain, native, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11)


def test_a_million_steps_compile_like_ten_and_differentiate():
    f = lambda r, n: ad.scan(lambda x, _: (r * x * (1 - x), None), 0.5, length=n)[0]  # noqa: E731
    short, long = (ad.jit(ad.grad(lambda r, n=n: f(r, n))) for n in (300, 1_000_000))
    close(long(2.0), ad.tensor(0.25))  # the derivative of the fixed point 1 - 1/r
    close(short(2.0), ad.tensor(0.25))


def test_ctrl_c_ends_a_native_loop_that_would_not_end():
    code = (
        "import adjoint as ad, signal, os, threading, time\n"
        "threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    ad.while_loop(lambda x: x > -1.0, lambda x: x * 0.5, 1.0).item()\n"
        "except KeyboardInterrupt:\n"
        "    print('ended', ad.scan(lambda c, x: (c + x, None), 0.0, ad.ones(300))[0].item())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["ended", "300.0"], done.stderr


def test_a_second_derivative_of_a_loop_inside_a_scan():
    """The reverse pass of the outer loop reads one of several results of the inner one."""

    def nested(k):
        def outer(y, _):
            y = ad.fori_loop(0, 3, lambda i, v: v - 0.1 * k * v * v, y)
            return y, y

        return ad.scan(outer, 1.0, length=2)[0]

    def written_out(k):
        y = ad.tensor(1.0, dtype="float64")
        for _ in range(6):
            y = y - 0.1 * k * y * y
        return y

    point = ad.tensor(1.0, dtype="float64")
    for order in range(1, 4):
        nested, written_out = ad.grad(nested), ad.grad(written_out)
        np.testing.assert_allclose(nested(point).numpy(), written_out(point).numpy(), 1e-6, err_msg=str(order))


def test_a_loop_that_starts_from_numbers_is_compiled():
    halved = ad.jit(lambda x: x + ad.while_loop(lambda v: v * v > 2, lambda v: v / 2, 3.0))
    assert halved(1.0).item() == 1.75


def test_a_loop_in_a_loop_that_comes_back_differentiates_again():
    """The second time its plan saves what the reverse pass reads: outputs of the inner loop, not the loop itself."""
    ad.set_default_dtype("float64")

    def both(w, xs, unroll):
        def inner(c, x):
            return ad.scan(lambda v, i: (ad.tanh(v * w + x * i), None), c, ad.arange(3.0), unroll=unroll)[0], c * w

        c, ys = ad.scan(inner, 0.1, xs, unroll=unroll)
        return c + ys.sum()

    for _ in range(4):
        w, xs = ad.variable(0.5), ad.variable([1.0, -2.0])
        y = both(w, xs, 1)
        value, (w_bar, xs_bar) = y.item(), ad.gradients(y, [w, xs])
        again = both(w, xs, True)
        assert value == pytest.approx(again.item(), rel=1e-14)
        for mine, theirs in zip((w_bar, xs_bar), ad.gradients(again, [w, xs]), strict=True):
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-12)


def test_a_number_to_start_with_gives_way_in_loops_within_loops():
    """Python's numbers take the dtype of what they meet, though only an inner loop meets it."""
    xs = ad.tensor(np.ones(4))

    def halving(c, x):
        return ad.fori_loop(0, 3, lambda i, v: v * 0.5 + x, c)

    found = ad.scan(lambda c, x: (halving(c, x), None), 0.0, xs)[0]
    assert found.dtype == ad.float64 and found.item() == 2 * (1 - 0.5**12)
    total, count = ad.while_loop(
        lambda s: s[1] < 3, lambda s: (ad.scan(lambda c, x: (c + x, None), s[0], xs)[0], s[1] + 1), (0.0, 0)
    )
    assert total.dtype == ad.float64 and (total.item(), count.item()) == (12.0, 3)
    with pytest.raises(TypeError, match="fori_loop: the body returns carry as float64"):
        ad.scan(lambda c, x: (halving(c, x), None), ad.tensor(0.0, dtype="float32"), xs)


def test_a_literal_inside_a_loop_may_be_computed_outside_too():
    z = ad.reshape(ad.zeros(()), (1,))
    y = ad.while_loop(lambda c: c[0] < 20000, lambda c: c + z + 1, ad.ones(1))
    assert z.item() == 0  # from now on the node has a value
    assert y.item() == 20000


@pytest.mark.parametrize("memory", [1, 2, None])
def test_a_loop_that_carries_nothing_on_remembers_little(memory):
    def loss(x, w):
        return ad.scan(lambda c, t: (c, ad.sin(t * w) * c), w * 2, x, memory=memory)[1].sum()

    x, w = np.array([0.1, 0.2, 0.3]), 0.7
    found = ad.jit(ad.grad(loss, argnums=(0, 1)))(ad.tensor(x, dtype="float64"), ad.tensor(w, dtype="float64"))
    np.testing.assert_allclose(found[0].numpy(), np.cos(x * w) * w * 2 * w, 1e-12)
    np.testing.assert_allclose(found[1].numpy(), (2 * np.sin(x * w) + 2 * w * x * np.cos(x * w)).sum(), 1e-12)


CONSTANTS = {"a literal": lambda: ad.ones(3), "a number": lambda: ad.full((3,), 0.7)}
READERS = {
    "scan": lambda z, x: ad.scan(lambda c, _: (ad.sin(c) * z, None), x, length=2)[0],
    "map": lambda z, x: ad.map(lambda t: (t * z)[0], ad.sin(ad.sin(x) * z)),
    "while_loop": lambda z, x: ad.while_loop(lambda c: c.sum() < 9, lambda c: ad.sin(c) * z + 9, x) - 9,
    "cond": lambda z, x: ad.cond(x.sum() > 0, lambda x: ad.sin(x) * z, lambda x: x, x),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("constant", CONSTANTS)
def test_constants_that_loops_and_branches_read_may_be_computed_outside_too(constant, reader):
    z, x = CONSTANTS[constant](), ad.tensor([0.1, 0.2, 0.3])
    total = ad.grad(lambda x: READERS[reader](z, x).sum())
    y, slope = READERS[reader](z, x), total(x)
    each = ad.vmap(lambda x: READERS[reader](z, x))(ad.stack([x, x]))
    n, c = z.numpy(), x.numpy()  # from now on the node has a value
    turns = 1 if reader in ("while_loop", "cond") else 2
    expected = np.sin(c) * n if turns == 1 else np.sin(np.sin(c) * n) * n
    expected_slope = np.cos(c) * n * (1 if turns == 1 else np.cos(np.sin(c) * n) * n)
    np.testing.assert_allclose(slope.numpy(), expected_slope, 1e-5)
    np.testing.assert_allclose(y.numpy(), expected, 1e-5)
    np.testing.assert_allclose(each.numpy(), [expected, expected], 1e-5)
    np.testing.assert_allclose(total(x).numpy(), expected_slope, 1e-5)


@pytest.mark.parametrize("size", [2, 100])
def test_what_is_made_again_is_looked_at_once(size):
    """Each sum reads the one before twice: there are 2^60 ways through them."""

    def loss(x):
        def body(c, _):
            for _ in range(60):
                c = (c + c) - (-c)
            return ad.sin(c * 3.0**-60), None

        return ad.scan(body, x, length=3)[0].sum()

    x = np.linspace(0.1, 1.0, size)
    slope, y = np.ones(size), x
    for _ in range(3):
        slope, y = slope * np.cos(y), np.sin(y)
    np.testing.assert_allclose(ad.grad(loss)(ad.tensor(x)).numpy(), slope, 1e-6)


@pytest.mark.parametrize("around", [lambda f: f, ad.jit])
def test_while_loops_of_no_examples(around):
    f = ad.vmap(lambda b: ad.while_loop(lambda c: c.sum() < 3, lambda c: c + b.max(), b))
    none = ad.zeros((0, 2))
    assert around(f)(none).shape == (0, 2)
    assert around(f)(none).numpy().shape == (0, 2)
    assert around(ad.grad(lambda x: f(x).sum()))(none).numpy().shape == (0, 2)


def test_a_loop_that_reads_nothing() -> None:
    """What it stacks is made of literals, eagerly, compiled and differentiated."""

    def f(x: ad.Tensor) -> ad.Tensor:
        return ad.scan(lambda c, _: (c, ad.ones(3)), x, None, length=4)[1].sum() * x

    for g in (f, ad.jit(f)):
        assert g(ad.tensor(2.0)).item() == 24.0
    for g in (ad.grad(f), ad.jit(ad.grad(f))):
        assert g(ad.tensor(2.0)).item() == 12.0
    np.testing.assert_array_equal(ad.vmap(f)(ad.tensor([1.0, 2.0])).numpy(), [12.0, 24.0])
