"""`checkpoint`: the same derivatives, less memory."""

from __future__ import annotations

import functools
import math
import tracemalloc

import numpy as np
import pytest

import adjoint as ad
from derivative_checks import check_derivatives
from support import double, equal


def layer(h):
    return ad.tanh(h * 1.01 + 0.1)


def chain(h, count):
    for _ in range(count):
        h = layer(h)
    return h


def in_pieces(h, count):
    size = math.isqrt(count)
    for _ in range(count // size):
        h = ad.checkpoint(lambda z: chain(z, size))(h)
    return h


def halving(h, count):
    if count == 1:
        return layer(h)
    h = ad.checkpoint(lambda z: halving(z, count // 2))(h)
    return halving(h, count - count // 2)


@pytest.mark.parametrize("way", [chain, in_pieces, halving])
def test_derivatives_are_the_same(way):
    x = double(np.linspace(-1, 1, 5))
    plain, found = (ad.grad(lambda v, f=f: (f(v, 9) ** 2).sum())(x) for f in (chain, way))
    equal(found, plain.numpy(), 1e-14)
    check_derivatives(lambda v: [way(v, 9)], [x.numpy()])


def peak(way, how):
    """The largest memory of a gradient through 100 layers, in layers."""
    x = np.linspace(-1, 1, 50_000)
    v = ad.variable(x)
    tracemalloc.start()
    try:
        if how == "grad":
            found = ad.grad(lambda z: way(z, 100).sum())(ad.tensor(x)).numpy()
        else:
            y = way(v, 100).sum()
            if how == "value first":
                y.item()
            y.backward()
            found = v.grad.numpy()
        used = tracemalloc.get_traced_memory()[1] / x.nbytes
    finally:
        tracemalloc.stop()
    return used, found


@pytest.mark.parametrize("how", ["grad", "backward", "value first"])
def test_memory_of_a_hundred_layers(how):
    """About 100 arrays without checkpoints, a small multiple of √100 with them, as tracemalloc sees NumPy's memory."""
    plain, expected = peak(chain, how)
    assert plain > 90
    for way in (in_pieces, halving):
        peak(way, how)  # where it is compiled the compiler takes some memory, once
        used, found = peak(way, how)
        np.testing.assert_array_equal(found, expected)
        assert used < 30, way


@pytest.mark.parametrize("called_before", [False, True])
def test_a_compiled_function_is_recomputed_in_every_call(called_before):
    """A compiled function keeps the places of its first trace; what is remembered must be the arguments all the same."""
    w = ad.variable(np.array([1.0, 2.0]))
    inner = ad.jit(lambda x: ad.sin(ad.sin(x * w) * 1.1))
    x = ad.variable(np.array([0.3, 0.4]))
    expected = ad.gradients(inner(x).sum() if called_before else ad.sin(ad.sin(x * w) * 1.1).sum(), [x, w])
    f = ad.checkpoint(lambda x: inner(x) * 2.0)
    for _ in range(3):
        y = f(x)
        _, *remembered = y.node.inputs
        assert {node.op.name for node in remembered} == {"marker", "leaf"}, [node.op.name for node in remembered]
        for got, want in zip(ad.gradients(y.sum(), [x, w]), expected, strict=True):
            np.testing.assert_allclose(got.numpy(), 2 * want.numpy(), rtol=1e-6)


def test_what_is_closed_over():
    w = ad.variable(np.array([1.0, 2.0]))
    h = w * 3
    x = ad.variable(np.array([0.5, -0.5]))
    f = ad.checkpoint(lambda v: ad.sin(v * h) * w)
    y = f(x).sum()
    dx, dw, dh = ad.gradients(y, [x, w, h])
    g = lambda x, w, h: (ad.sin(x * h) * w).sum()  # noqa: E731
    ex, ew, eh = ad.grad(g, (0, 1, 2))(x, w, h)
    equal(dx, ex.numpy())
    equal(dh, eh.numpy())
    equal(dw, (ew + 3 * eh).numpy())
    y.backward()
    equal(w.grad, (ew + 3 * eh).numpy())


def test_containers_and_what_has_no_derivative():
    @ad.checkpoint
    def f(tree, *, scale, flag=None):
        n = tree["n"] + 1
        return {"y": ad.exp(tree["x"]) * scale, "n": n, "same": tree["x"], "constant": double(1.0)}, tree["x"] > 0

    x, scale = double([1.0, -1.0]), double(2.0)
    out, positive = f({"x": x, "n": ad.tensor(3)}, scale=scale)
    assert out["n"].item() == 4 and positive.tolist() == [True, False]

    def total(x, scale):
        out, _ = f({"x": x, "n": 3}, scale=scale)
        return (out["y"] * out["same"]).sum() + out["constant"]

    found = ad.grad(total, (0, 1))(x, scale)
    equal(found[0], 2 * np.exp(x.numpy()) * (1 + x.numpy()))
    equal(found[1], (np.exp(x.numpy()) * x.numpy()).sum())


def test_no_grad_and_stop_gradient_inside():
    @ad.checkpoint
    def f(x):
        with ad.no_grad():
            c = ad.exp(x)
        return c * x + ad.stop_gradient(x**2) * x

    x = double(1.5)
    equal(ad.grad(f)(x), np.exp(1.5) + 1.5**2)
    equal(ad.jvp(f, (x,), (1.0,))[1], np.exp(1.5) + 1.5**2)


def test_random_numbers_are_the_same_again():
    x = double(np.ones(5))
    total = ad.checkpoint(lambda v: v * ad.random.normal((5,), dtype="float64"))
    value, gradient = ad.value_and_grad(lambda v: total(v).sum())(x)
    equal(gradient.sum(), value.numpy())


def test_together_with_other_transforms():
    f = lambda x: ad.sin(x) * ad.exp(x)  # noqa: E731
    g = ad.checkpoint(lambda x: ad.checkpoint(ad.sin)(x) * ad.exp(x))
    x = double([0.3, 0.7])
    equal(ad.vmap(ad.grad(ad.grad(g)))(x), ad.vmap(ad.grad(ad.grad(f)))(x).numpy())
    equal(ad.grad(lambda v: ad.vmap(ad.grad(g))(v).sum())(x), ad.vmap(ad.grad(ad.grad(f)))(x).numpy())
    equal(ad.jacrev(g)(x), ad.jacrev(f)(x).numpy())
    equal(ad.jacfwd(g)(x), ad.jacrev(f)(x).numpy())
    equal(ad.hessian(lambda v: g(v).sum())(x), ad.hessian(lambda v: f(v).sum())(x).numpy())
    equal(ad.checkpoint(ad.grad(lambda v: g(v).sum()))(x), ad.grad(lambda v: f(v).sum())(x).numpy())
    equal(ad.grad(lambda v: ad.checkpoint(ad.vmap(g))(v).sum())(x), ad.grad(lambda v: f(v).sum())(x).numpy())


def test_a_row_at_a_time_recomputes_once():
    """A Jacobian in reverse mode recomputes the checkpointed part once, not once for every row."""
    calls = []

    def counted(a):
        calls.append(a.shape)
        return np.sin(a)

    @ad.checkpoint
    def f(x):
        y = ad.host_call(counted, x, shape=(4,), dtype="float64", vjp=lambda g, a: (g * ad.cos(a),))
        return y * y

    x = double([0.1, 0.2, 0.3, 0.4])
    equal(ad.jacrev(f)(x), np.diag(np.sin(2 * x.numpy())))
    assert set(calls) == {(4,)} and len(calls) <= 2


def test_untracked_results_pass_through():
    f = ad.checkpoint(lambda x: ad.floor(ad.stop_gradient(x)))
    equal(f(double([1.5])), [1.0])
    assert ad.checkpoint(lambda: 3)() == 3


def test_values_seen_inside():
    def f(x):
        y = x * x
        return y if y.item() > 1 else -y

    equal(ad.grad(ad.checkpoint(f))(double(2.0)), 4.0)
    equal(ad.grad(ad.checkpoint(f))(double(0.5)), -1.0)


def test_a_deep_chain_inside():
    x = ad.variable(1.0)
    y = ad.checkpoint(lambda v: chain(v, 5000))(x)
    y.backward()
    z = ad.variable(1.0)
    chain(z, 5000).backward()
    equal(x.grad, z.grad.numpy())


W, START = np.array([1.5, 0.5]), np.array([0.3, 0.4])
LOOPS = {
    "written out": lambda f, c: functools.reduce(lambda c, _: f(c) * 0.5, range(3), c),
    "scan": lambda f, c: ad.scan(lambda c, _: (f(c) * 0.5, None), c, length=3)[0],
    "scan with memory": lambda f, c: ad.scan(lambda c, _: (f(c) * 0.5, None), c, length=3, memory=1)[0],
    "while_loop": lambda f, c: ad.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, f(s[1]) * 0.5), (0, c))[1],
    "fori_loop": lambda f, c: ad.fori_loop(0, 3, lambda _, c: f(c) * 0.5, c),
    "cond": lambda f, c: functools.reduce(
        lambda c, _: ad.cond(c.sum() > -100, lambda c: f(c) * 0.5, lambda c: c, c), range(3), c
    ),
    "scan of cond": lambda f, c: ad.scan(
        lambda c, _: (ad.cond(c.sum() > -100, lambda c: f(c) * 0.5, lambda c: c, c), None), c, length=3
    )[0],
}


@pytest.mark.parametrize("loop", LOOPS)
def test_loops_of_a_checkpoint_that_computes_with_what_is_outside(loop):
    """What doesn't change from step to step is taken out of a loop, out of the checkpoint, too: it was given no cotangent."""

    def value(w, around=lambda f: f):
        f = around(lambda c: c * (ad.sin(w) * 2.0) + ad.exp(w))
        return LOOPS[loop](f, ad.tensor(START)).sum()

    def plain(w):
        c = ad.tensor(START)
        for _ in range(3):
            c = (c * (ad.sin(w) * 2.0) + ad.exp(w)) * 0.5
        return c.sum()

    w, direction = ad.tensor(W), ad.tensor(START)
    for around in (ad.checkpoint, lambda f: ad.checkpoint(ad.jit(f)), lambda f: ad.checkpoint(ad.checkpoint(f))):
        for way in (
            ad.grad,
            ad.hessian,
            lambda f: lambda w: ad.jvp(ad.grad(f), (w,), (direction,))[1],
            lambda f: lambda w: ad.vmap(ad.grad(f))(ad.stack([w, w * 0.5])),
            lambda f: ad.jit(ad.grad(f)),
        ):
            np.testing.assert_allclose(
                way(lambda w, a=around: value(w, a))(w).numpy(), way(plain)(w).numpy(), rtol=1e-6, err_msg=str(around)
            )


def test_products_of_slices_inside_a_checkpoint():
    """Those outside of one are computed for all steps at once; inside, their slices would get no cotangent."""
    m, x = ad.tensor(np.array([[1.0, 2.0], [3.0, 4.0]])), ad.tensor(np.array([1.0, 2.0]))
    f = ad.checkpoint(lambda x: m @ ad.sin(x))
    mapped = ad.grad(lambda x: ad.map(lambda t: f(x * t).sum() * t, x).sum())
    plain = ad.grad(lambda x: ad.stack([(m @ ad.sin(x * x[k])).sum() * x[k] for k in range(2)]).sum())
    np.testing.assert_allclose(mapped(x).numpy(), plain(x).numpy(), rtol=1e-6)
    np.testing.assert_allclose(ad.jacfwd(mapped)(x).numpy(), ad.jacfwd(plain)(x).numpy(), rtol=1e-6)


def test_a_compiled_function_inside_whose_calls_are_written_out():
    """Code that was written for a compiled function's calls was taken for the user's by the next trace that met it."""
    inner = ad.checkpoint(ad.jit(lambda x: ad.sin(x)))
    x = ad.tensor(START)
    for k in range(3):
        expected = ad.sin(x * (k + 1)).numpy()
        for _ in range(3):
            np.testing.assert_allclose(inner(x * (k + 1)).numpy(), expected, rtol=1e-6)
        outer = ad.jit(lambda x, k=k: inner(x * (k + 1)) * 1.0)
        np.testing.assert_allclose(outer(x).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("around", [ad.checkpoint, lambda f: ad.checkpoint(ad.jit(f))])
def test_solvers_of_a_checkpoint_that_computes_with_what_is_outside(around):
    """A solver's condition is closed as a loop's body is: roots had derivatives of 0 by w."""
    start = ad.tensor(START)
    solvers = {
        "fixed_point": lambda g: ad.fixed_point(g, start * 0.0).x,
        "root": lambda g: ad.root(lambda z: g(z) - z, start).x,
        "minimize": lambda g: ad.minimize(lambda z: ((z - g(z)) ** 2).sum() + (z**2).sum() * 0.1, start).x,
        "odeint": lambda g: ad.odeint(lambda y, t: g(y) - y, start, ad.tensor([0.0, 1.0]))[-1],
        "adjoint": lambda g: ad.odeint(lambda y, t: g(y) - y, start, ad.tensor([0.0, 1.0]), derivative="adjoint")[-1],
    }

    def function(w):
        return lambda z: 0.3 * ad.sin(z) * ad.sin(w) + ad.exp(w * 0.1)

    w = ad.tensor(W)
    for name, solve in solvers.items():
        plain, found = [
            ad.grad(lambda w, a=a, s=solve: s(a(function(w))).sum())(w).numpy() for a in (lambda f: f, around)
        ]
        assert np.abs(plain).min() > 0.05
        np.testing.assert_allclose(found, plain, rtol=1e-5, err_msg=name)
