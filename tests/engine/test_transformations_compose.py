"""Transformations of transformations: any three of grad, jvp, vjp, vmap, checkpoint, jit and the Jacobians, over random
programs.

Each is compared with what it means: vmap with a loop, a derivative with one central difference of the exact function an
order lower, checkpoint and jit with nothing at all. What is inside is trusted only as far as it has itself been compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as ad
from support import some

Function = Callable[[ad.Tensor], ad.Tensor]
SIZE, EXAMPLES, STEP = 3, 2, 1e-5

W = ad.tensor(np.random.default_rng(0).normal(size=(SIZE, SIZE)) / 2)
TABLE = ad.tensor(np.array([2, 0, 1, 1]))

# Smooth functions of vectors of three numbers, or of more axes in front; every one keeps the values moderate.
ELEMENTWISE: list[Function] = [
    ad.sin,
    ad.tanh,
    ad.sigmoid,
    lambda x: x * x * 0.5,
    lambda x: ad.exp(-x * x),
    lambda x: x / (2 + ad.cos(x)),
    lambda x: ad.sqrt(1 + x * x),
    lambda x: ad.log(2 + ad.sin(x)),
    lambda x: ad.atan2(x, 2 + ad.cos(x)),
]
MIXING: list[Function] = [
    lambda x: x @ W,
    lambda x: W @ x,
    lambda x: x * x.sum(),
    lambda x: ad.softmax(x) + x,
    lambda x: ad.cumulative_sum(x, axis=0) * 0.5,
    lambda x: x[::-1] * x,
    lambda x: x[TABLE][1:],
    lambda x: ad.where(W[0] > 0, x, ad.sin(x)),
    lambda x: ad.concat([x[1:], x[:1] * 2]),
    lambda x: ad.einsum("i,ij,j->i", x, W, x),
    lambda x: ad.scatter_add(x, TABLE[:2], x[:2] * 0.5),
    lambda x: ad.outer(x, ad.sin(x)).sum(axis=0) * 0.3,
    lambda x: _assigned(x),
    lambda x: x - x.mean() + ad.logsumexp(x),
    lambda x: ad.checkpoint(lambda v: ad.sin(v) * W[1])(x),
    lambda x: ad.vmap(lambda v: ad.sin(v) * v)(x),
]


def _assigned(x):
    y = x * 1
    y[1] = x[0] * x[2]
    return y


programs = st.lists(
    st.one_of(st.sampled_from(range(len(ELEMENTWISE))), st.sampled_from(range(-len(MIXING), 0))), min_size=1, max_size=4
)


def program(steps) -> Function:
    """A function of a vector that gives a vector."""
    functions = [ELEMENTWISE[k] if k >= 0 else MIXING[k] for k in steps]

    def f(x):
        for function in functions:
            x = function(x)
        return x

    return f


def directional(shape, seed):
    return np.random.default_rng([seed, len(shape)]).normal(size=shape)


def value(f: Function, x: np.ndarray) -> np.ndarray:
    return f(ad.tensor(x)).numpy()


def difference(f: Function, x: np.ndarray, direction: np.ndarray) -> np.ndarray:
    return (value(f, x + STEP * direction) - value(f, x - STEP * direction)) / (2 * STEP)


# A transformation: (what it makes of f, what it should be at x, computed from values of f alone) ----------------------


def of_grad(f: Function) -> Function:
    return ad.grad(lambda x: (f(x) * ad.tensor(directional(_shape(f, x), 1))).sum())


def _shape(f, x):
    return ad.vjp(f, x)[0].shape


def expect_grad(f, x):
    u = directional(value(f, x).shape, 1)
    columns = [(difference(f, x, unit) * u).sum() for unit in _units(x)]
    return np.array(columns).reshape(x.shape)


def of_vjp(f: Function) -> Function:
    def pulled(x):
        out, pull = ad.vjp(f, x)
        return pull(ad.tensor(directional(out.shape, 2)))[0]

    return pulled


def expect_vjp(f, x):
    u = directional(value(f, x).shape, 2)
    return np.array([(difference(f, x, unit) * u).sum() for unit in _units(x)]).reshape(x.shape)


def of_jvp(f: Function) -> Function:
    return lambda x: ad.jvp(f, (x,), (ad.tensor(directional(x.shape, 3)),))[1]


def expect_jvp(f, x):
    return difference(f, x, directional(x.shape, 3))


def of_linearize(f: Function) -> Function:
    return lambda x: ad.linearize(f, x)[1](ad.tensor(directional(x.shape, 3)))


def of_vmap(f: Function) -> Function:
    return lambda x: ad.vmap(f)(ad.stack([x, ad.sin(x)])).sum(axis=0)


def expect_vmap(f, x):
    return value(f, x) + value(f, np.sin(x))


def of_checkpoint(f: Function) -> Function:
    return ad.checkpoint(f)


def expect_checkpoint(f, x):
    return value(f, x)


def of_jacobian(jacobian) -> Callable[[Function], Function]:
    def transform(f):
        return lambda x: ad.tensordot(jacobian(f)(x), ad.tensor(directional(x.shape, 4)), axes=x.ndim)

    return transform


def expect_jacobian(f, x):
    return difference(f, x, directional(x.shape, 4))


def _units(x):
    for k in range(x.size):
        unit = np.zeros(x.size)
        unit[k] = 1
        yield unit.reshape(x.shape)


TRANSFORMS = {
    "grad": (of_grad, expect_grad),
    "vjp": (of_vjp, expect_vjp),
    "jvp": (of_jvp, expect_jvp),
    "linearize": (of_linearize, expect_jvp),
    "vmap": (of_vmap, expect_vmap),
    "checkpoint": (of_checkpoint, expect_checkpoint),
    "jit": (ad.jit, expect_checkpoint),
    "jacrev": (of_jacobian(ad.jacrev), expect_jacobian),
    "jacfwd": (of_jacobian(ad.jacfwd), expect_jacobian),
}


@given(
    programs,
    st.lists(st.sampled_from(sorted(TRANSFORMS)), min_size=1, max_size=3),
    st.lists(st.floats(-1.5, 1.5), min_size=SIZE, max_size=SIZE),
)
def test_any_three(steps, names, numbers):
    """The outermost of up to three transformations against what it means for the function that the others made."""
    f = program(steps)
    x = np.array(numbers)
    for name in names[:-1]:
        f = TRANSFORMS[name][0](f)
    transform, expect = TRANSFORMS[names[-1]]
    found, expected = value(transform(f), x), expect(f, x)
    scale = 1 + np.abs(expected).max(initial=0) + np.abs(value(f, x)).max(initial=0)
    np.testing.assert_allclose(found, expected, 1e-6, 2e-6 * scale)


@pytest.mark.parametrize(
    ("inner", "middle", "outer"),
    some(itertools.product(("grad", "jvp", "vmap", "checkpoint", "jit"), sorted(TRANSFORMS), sorted(TRANSFORMS)), 2),
)
def test_every_three_on_one_program(inner, middle, outer):
    """All orders on a program that scans, mixes, gathers and assigns."""
    f = program([0, -4, -8, 3, -6])
    for name in (inner, middle):
        f = TRANSFORMS[name][0](f)
    transform, expect = TRANSFORMS[outer]
    x = np.array([0.3, -0.7, 1.1])
    found, expected = value(transform(f), x), expect(f, x)
    np.testing.assert_allclose(found, expected, 1e-5, 1e-5 * (1 + np.abs(expected).max()))


@given(programs, st.lists(st.floats(-1.5, 1.5), min_size=2 * SIZE, max_size=2 * SIZE))
def test_batches_equal_loops(steps, numbers):
    """vmap of f, of its gradient, its Jacobian and its Hessian, and the gradient of vmap, against Python loops."""
    f = program(steps)
    total = lambda x: (f(x) ** 2).sum()  # noqa: E731
    xs = np.array(numbers).reshape(EXAMPLES, SIZE)
    for g in (f, ad.grad(total), ad.jacobian(f), ad.hessian(total)):
        np.testing.assert_allclose(value(ad.vmap(g), xs), np.stack([value(g, x) for x in xs]), 1e-9, 1e-9)
    outside = value(ad.grad(lambda v: (ad.vmap(f)(v) ** 2).sum()), xs)
    np.testing.assert_allclose(outside, np.stack([value(ad.grad(total), x) for x in xs]), 1e-9, 1e-9)


@given(programs, st.lists(st.floats(-1.5, 1.5), min_size=SIZE, max_size=SIZE))
def test_hessians_by_all_four_ways(steps, numbers):
    f = program(steps)
    total = lambda x: (ad.sin(f(x))).sum()  # noqa: E731
    x = np.array(numbers)
    expected = value(ad.hessian(total), x)
    for outer in (ad.jacfwd, ad.jacrev):
        for inner in (ad.jacfwd, ad.jacrev):
            found = value(outer(inner(total)), x)
            np.testing.assert_allclose(found, expected, 1e-8, 1e-8 * (1 + np.abs(expected).max()))
    np.testing.assert_allclose(expected, expected.T, 1e-8, 1e-8 * (1 + np.abs(expected).max()))
    rows = [value(lambda v, u=u: ad.hvp(total, v, ad.tensor(u)), x) for u in _units(x)]
    np.testing.assert_allclose(np.stack(rows), expected, 1e-8, 1e-8 * (1 + np.abs(expected).max()))


def _branched(f: Function) -> Function:
    return lambda x: ad.cond(x.sum() > -9, f, lambda y: y * 3, x)


COMPILED = ad.jit(ad.cos)
BRANCHES: dict[str, Function] = {
    "compiled": ad.jit(lambda x: ad.sin(x) * x[0]),
    "compiled within": lambda x: COMPILED(x * 2) * x,
    "mapped": lambda x: ad.map(lambda t: ad.sin(x * t).sum() * t, x),
    "scanned": lambda x: ad.scan(lambda c, t: (ad.tanh(c) + t * x, c * t), x, x)[1].sum(axis=0),
    "branched": _branched(_branched(lambda x: ad.map(lambda t: t * x.sum(), x))),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_what_a_branch_holds_is_its_own(name):
    """A compiled function whose trace is older than the branch, and loops over the very thing that is differentiated."""
    f, x = BRANCHES[name], np.array([0.3, -0.2, 0.5])
    total = lambda g: lambda x: (ad.sin(g(x))).sum()  # noqa: E731
    ways = [
        lambda g: g,
        ad.jacfwd,
        ad.jacrev,
        lambda g: ad.hessian(total(g)),
        lambda g: ad.grad(lambda x: ad.grad(total(g))(x).sum()),
        lambda g: lambda x: ad.vmap(lambda v: ad.jvp(g, (x,), (v,))[1])(W),
    ]
    for way in ways:
        expected = value(way(lambda x: f(x) * 1.0), x)
        for compile in (lambda g: g, ad.jit):
            for _ in range(2):
                found = value(compile(way(_branched(f))), x)
                np.testing.assert_allclose(found, expected, 1e-12, 1e-12)
