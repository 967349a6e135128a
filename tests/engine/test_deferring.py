"""Gradients by function are one node until somebody looks at them or differentiates them again."""

from __future__ import annotations

import inspect
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.derive import PULLBACK
from adjoint.graph import topological

POINT = np.linspace(0.3, 0.9, 5)


def wave(x, sin=np.sin):
    y = x
    for k in range(20):
        y = sin(y) * (1.0 + 0.01 * k) + x
    return (y * y).sum()


def slope(at, order=1, step=1e-5):
    """The derivative of the wave along (1, 1, ...) by differences."""
    if order == 0:
        return wave(at)
    return (slope(at + step, order - 1, step * 10) - slope(at - step, order - 1, step * 10)) / (2 * step)


def deferred(t):
    return any(x.op is PULLBACK for x in topological([t.node]))


def test_a_gradient_is_one_node_and_right():
    x = ad.variable(POINT)
    (g,) = ad.gradients(wave(x, ad.sin), [x])
    assert deferred(g)
    assert g.sum().item() == pytest.approx(slope(POINT), rel=1e-7)
    for found in (
        ad.grad(lambda x: wave(x, ad.sin))(POINT),
        ad.value_and_grad(lambda x: wave(x, ad.sin))(POINT)[1],
        ad.vjp(lambda x: wave(x, ad.sin), POINT)[1](1.0)[0],
    ):
        assert deferred(found)
        assert not found.requires_grad
        np.testing.assert_array_equal(found.numpy(), g.numpy())


def test_the_value_and_its_gradient_forget_their_graph():
    value, gradient = ad.value_and_grad(lambda x: wave(x, ad.sin))(POINT)
    assert value.item() == pytest.approx(wave(POINT))
    assert gradient.numpy().shape == (5,)
    assert value.node.inputs == gradient.node.inputs == ()


@pytest.mark.parametrize("evaluated", [False, True])
def test_what_is_differentiated_again_is_written_out(evaluated):
    x = ad.variable(POINT)
    (g,) = ad.gradients(wave(x, ad.sin), [x])
    if evaluated:
        g.numpy()
    (h,) = ad.gradients(g.sum(), [x])
    expected = ad.grad(lambda x: ad.grad(lambda x: wave(x, ad.sin))(x).sum())(POINT)
    np.testing.assert_allclose(h.numpy(), expected.numpy(), rtol=1e-12)
    assert h.sum().item() == pytest.approx(slope(POINT, 2, 1e-4), rel=1e-4)
    g.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), h.numpy(), rtol=1e-12)
    tangent = ad.jvp(lambda x: ad.grad(lambda x: wave(x, ad.sin))(x), (POINT,), (np.ones(5),))[1]
    np.testing.assert_allclose(tangent.numpy(), h.numpy(), rtol=1e-12)


def test_what_a_function_reads_from_outside_is_differentiated_too():
    w = ad.variable(np.float64(0.7))
    g = ad.grad(lambda x: wave(x * w, ad.sin))(POINT)
    assert deferred(g)
    assert g.requires_grad
    (found,) = ad.gradients(g.sum(), [w])
    step = 1e-6
    above, below = (ad.grad(lambda x, v=v: wave(x * v, ad.sin))(POINT).sum().item() for v in (0.7 + step, 0.7 - step))
    assert found.item() == pytest.approx((above - below) / (2 * step), rel=1e-6)
    with ad.no_grad():
        cut = ad.grad(lambda x: wave(x * w, ad.sin))(POINT)
    assert not cut.requires_grad
    np.testing.assert_array_equal(cut.numpy(), g.numpy())


def test_a_gradient_by_a_gradient():
    x = ad.variable(POINT)
    (g,) = ad.gradients(wave(x, ad.sin), [x])
    (found,) = ad.gradients((g**3).sum(), [g])
    np.testing.assert_allclose(found.numpy(), 3 * g.numpy() ** 2, rtol=1e-12)


def test_other_values_reach_through_it():
    x = ad.variable(POINT)
    y = wave(x, ad.sin)
    (g,) = ad.gradients(y, [x])
    other = ad.grad(lambda x: wave(x, ad.sin))(2 * POINT).numpy()
    f = ad.function([x], [g, 2 * g])
    for first in (True, False):
        np.testing.assert_allclose(f(2 * POINT)[0].numpy(), other, rtol=1e-12)
        np.testing.assert_allclose(f(2 * POINT)[1].numpy(), 2 * other, rtol=1e-12)
        np.testing.assert_allclose(ad.evaluate(3 * g, {x: 2 * POINT}).numpy(), 3 * other, rtol=1e-12)
        if first:
            g.numpy()


def test_several_inputs_and_those_it_does_not_depend_on():
    x, w, z = ad.variable(POINT), ad.variable(np.float64(0.5)), ad.variable(np.ones(3))
    found = ad.gradients(wave(x * w, ad.sin), [x, z, w, x])
    assert not found[1].requires_grad
    np.testing.assert_array_equal(found[1].numpy(), np.zeros(3))
    np.testing.assert_array_equal(found[0].numpy(), found[3].numpy())
    np.testing.assert_allclose((found[0] * x).sum().item(), (found[2] * w).item(), rtol=1e-12)


def test_inside_of_traced_functions_nothing_waits():
    x = ad.variable(POINT)

    def step(carry, _):
        (g,) = ad.gradients(wave(carry * x, ad.sin), [x])
        return carry - 0.01 * g, ad.grad(lambda c: wave(c, ad.sin))(carry).sum()

    def unrolled(n):
        carry = ad.tensor(POINT)
        sums = []
        for _ in range(n):
            carry, y = step(carry.detach(), None)  # in a scan, what is carried on doesn't depend on x
            sums.append(y.item())
        return carry.numpy(), sums

    carry, ys = ad.scan(step, ad.tensor(POINT), length=3)
    np.testing.assert_allclose(carry.numpy(), unrolled(3)[0], rtol=1e-10)
    np.testing.assert_allclose(ys.numpy(), unrolled(3)[1], rtol=1e-10)
    both = ad.vmap(ad.grad(lambda x: wave(x, ad.sin)))(np.stack([POINT, 2 * POINT]))
    np.testing.assert_allclose(both.numpy()[1], ad.grad(lambda x: wave(x, ad.sin))(2 * POINT).numpy(), rtol=1e-12)
    jitted = ad.jit(ad.grad(lambda x: wave(x, ad.sin)))(POINT)
    np.testing.assert_allclose(jitted.numpy(), both.numpy()[0], rtol=1e-12)


def test_steps_of_descent_that_are_differentiated_themselves():
    def loss(w):
        return sum(((w - k) ** 2 * (0.05 + 0.01 * k) for k in range(8)), 0.0 * w)

    rate = ad.variable(np.float64(0.3))
    there = ad.variable(np.float64(20.0))
    for _ in range(60):
        (g,) = ad.gradients(loss(there), [there])
        there = there - rate / 50 * g
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)  # no nested call for each step
    try:
        (found,) = ad.gradients(there, [rate])
    finally:
        sys.setrecursionlimit(limit)

    def last(rate):
        at = 20.0
        for _ in range(60):
            at = at - rate / 50 * sum(2 * (at - k) * (0.05 + 0.01 * k) for k in range(8))
        return at

    assert found.item() == pytest.approx((last(0.3 + 1e-6) - last(0.3 - 1e-6)) / 2e-6, rel=1e-6)


def test_it_is_shown_as_what_it_stands_for():
    x = ad.variable(POINT, name="x")
    (g,) = ad.gradients(wave(x, ad.sin), [x])
    assert "grad_fn=Add" in repr(g)
    assert deferred(g)
    assert "pullback" not in str(ad.explain(g.sum(), x)).lower()
