"""Jacobians and Hessians whose derivatives stay diagonals: every element is what the dense computation gives, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjoint as ad
from adjoint.execution.native.program import compile_nests
from adjoint.execution.numpy_programs import Streaming
from adjoint.plan import bands
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.plan import Plan, build
from adjoint.plan.simplify import simplified

Function = Callable[[ad.Tensor], ad.Tensor]


def planned(y: ad.Tensor) -> tuple[Plan, list[Any], list[Any]]:
    c = canonicalize([y.node])
    return build(c, [c.number[y.node]], False), [value_array(x) for x in c.leaves], [v for v, _ in c.numbers]


def found(y: ad.Tensor, monkeypatch: pytest.MonkeyPatch, native: bool = True) -> tuple[np.ndarray, Plan]:
    """The value, the same with bands and without, in NumPy and in native code; and the simplified plan."""
    plan, leaves, numbers = planned(y)
    short = simplified(plan)
    with np.errstate(all="ignore"):
        (expected,) = Streaming(plan).run(leaves, numbers, True)
        (value,) = Streaming(short).run(leaves, numbers, True)
    assert np.shape(value) == np.shape(expected) and value.dtype == expected.dtype
    np.testing.assert_array_equal(value, expected)
    there = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(value[there]), np.signbit(expected[there]))
    results = []
    for smallest in (bands.SMALLEST, 1 << 30) if native else ():
        monkeypatch.setattr(bands, "SMALLEST", smallest)
        program = compile_nests(planned(y)[0])
        assert program is not None
        results.append(program.run(leaves, numbers, True)[0])
    monkeypatch.undo()
    if native:
        np.testing.assert_array_equal(*results)
    return expected, short


def sizes(plan: Plan) -> int:
    """The largest array that a step computes, but for the last that puts it together."""
    return max([step.type.size for step in plan.steps if step.op.name != "pieces"], default=0)


def rosenbrock(x: ad.Tensor) -> ad.Tensor:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def heat(x: ad.Tensor) -> ad.Tensor:
    """A step of the heat equation on a grid, with a conductivity that depends on the temperature."""
    across = (1 + x[1:] ** 2) * (x[1:] - x[:-1])
    along = ad.exp(x[:, 1:] * x[:, :-1])
    return x[1:-1, 1:-1] + 0.1 * (across[1:, 1:-1] - across[:-1, 1:-1]) + along[1:-1, 1:] - along[1:-1, :-1]


N = 24
VECTOR = np.random.default_rng(0).normal(size=N)
GRID = np.random.default_rng(1).normal(size=(12, 10))
SPARSE: dict[str, tuple[Function, Any]] = {
    "elements": (ad.jacfwd(lambda x: ad.sin(x) * x**2), VECTOR),
    "the function itself": (ad.jacfwd(lambda x: x), VECTOR),
    "backwards": (ad.jacrev(lambda x: ad.exp(x) / (1 + x)), VECTOR),
    "neighbours": (ad.jacfwd(lambda x: x[1:] * x[:-1] - ad.tanh(x[:-1])), VECTOR),
    "every other": (ad.jacfwd(lambda x: x[::2] * ad.cos(x[1::2])), VECTOR),
    "the ends": (ad.hessian(lambda x: (x[:1] * x[:1] * x[-1:]).sum() + (x**3).sum()), VECTOR),
    "a selection": (ad.jacfwd(lambda x: ad.where(x > 0, ad.sqrt(ad.abs(x)), 3 * x)), VECTOR),
    "corners": (ad.jacfwd(lambda x: ad.relu(x) + ad.maximum(x, 0.25) + ad.abs(x)), VECTOR),
    "a Hessian": (ad.hessian(rosenbrock), VECTOR),
    "a Hessian of infinities": (ad.hessian(rosenbrock), np.where(np.arange(N) % 5 == 2, np.inf, VECTOR)),
    "a Hessian of NaNs": (ad.hessian(rosenbrock), np.where(np.arange(N) % 7 == 2, np.nan, VECTOR)),
    "the third derivative": (ad.jacfwd(lambda x: ad.jvp(ad.grad(lambda y: (ad.exp(y) * y).sum()), (x,), (x,))[1]), VECTOR),
    "a grid": (ad.jacfwd(heat), GRID),
    "a grid's Hessian": (ad.hessian(lambda x: (heat(x) ** 2).sum() + (x**4).sum()), GRID),
    "other shapes": (ad.jacfwd(lambda x: ad.sin(x).reshape((10, 12)) * 2 + ad.exp(x.reshape((120,))).reshape((10, 12))), GRID),
    "a transpose": (ad.jacfwd(lambda x: ad.sin(x.T) * 2), GRID),
    "repeated": (ad.jacfwd(lambda x: ad.sin(ad.broadcast_to(x[:, None], (N, 3)))), VECTOR),
    "joined": (ad.jacfwd(lambda x: ad.concat([x[1:] - x[:-1], x[:1] * x[-1:]])), VECTOR),
    "joined, of either sign": (ad.jacfwd(lambda x: ad.concat([-ad.sin(x), ad.exp(x[3:])])), VECTOR),
    "joined columns": (ad.jacfwd(lambda x: ad.concat([x[:, 1:] ** 2, -ad.sin(x)], axis=1)), GRID),
    "single precision": (ad.jacfwd(lambda x: ad.sin(x) * x.astype("float64")), VECTOR.astype("f")),
}  # fmt: skip

DENSE: dict[str, tuple[Function, Any]] = {
    "a sum in between": (ad.jacfwd(lambda x: x / ad.exp(x).sum()), VECTOR),
    "a product": (ad.jacfwd(lambda x: ad.sin(x[:, None] * x) @ x), VECTOR),
    "a sum over time": (ad.jacrev(lambda x: ad.cumulative_sum(x**2)), VECTOR),
    "crossing diagonals": (ad.jacfwd(lambda x: x[:10] * x[:10].T), GRID),
    "back to front": (ad.jacfwd(lambda x: ad.sin(x) * ad.flip(x)), VECTOR),
    "positions": (ad.jacfwd(lambda x: ad.sin(x)[ad.tensor([3, 3, 0, 7])]), VECTOR),
    "ones where zeros were": (ad.jacfwd(lambda x: x) , VECTOR[:3]),
    "many diagonals": (
        ad.jacfwd(lambda x: sum([x[k : N - 9 + k] * x[9 - k : N - k] for k in range(9)], x[9:] * 1.0)), VECTOR),
    "a norm": (ad.hessian(lambda x: ad.sqrt((x**2).sum())), VECTOR),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::adjoint.PrecisionWarning")
@pytest.mark.parametrize("case", SPARSE)
def test_a_derivative_along_unit_arrays_is_computed_on_its_diagonals(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, x = SPARSE[case]
    value, plan = found(function(ad.tensor(x)), monkeypatch)
    assert sizes(plan) <= 3 * x.size < value.size
    assert sum(step.op.name == "pieces" and step.type.size > 3 * x.size for step in plan.steps) == 1
    np.testing.assert_allclose(ad.jit(function)(ad.tensor(x)).numpy(), value, 1e-6, 1e-12)


@pytest.mark.parametrize("case", DENSE)
def test_what_mixes_examples_is_computed_whole(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, x = DENSE[case]
    found(function(ad.tensor(x)), monkeypatch)


def test_jacobians_of_examples_and_of_several_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = ad.tensor(np.stack([VECTOR, 2 * VECTOR])), ad.tensor(VECTOR + 3)
    found(ad.vmap(ad.hessian(rosenbrock))(x), monkeypatch)
    found(ad.jacfwd(ad.vmap(lambda v: v[1:] * v[:-1]))(x), monkeypatch)
    blocks = ad.hessian(lambda v, w: (v[1:] * w[:-1] ** 2).sum(), argnums=(0, 1))(x[0], y)
    for row in blocks:
        for block in row:
            found(block, monkeypatch)


# Random functions of shapes alone -------------------------------------------------------------------------------------


@st.composite
def movements(draw: Any) -> list[tuple[Any, ...]]:
    """What a function does to its argument, step by step, each with numbers that choose among what is possible."""
    names = ["slice", "join", "turn", "shape", "repeat", "unary", "product", "choose", "shift", "total", "negative"]
    step = st.tuples(st.sampled_from(names), st.integers(0, 5), st.integers(0, 5))
    return draw(st.lists(step, min_size=1, max_size=7))  # type: ignore[no-any-return]


def performed(x: ad.Tensor, steps: list[tuple[Any, ...]]) -> ad.Tensor:
    seen = [x]
    for name, i, j in steps:
        y = seen[-1]
        axis = i % y.ndim if y.ndim else 0
        if name == "slice" and y.ndim and y.shape[axis] > 1:
            n = y.shape[axis]
            index = [slice(None)] * y.ndim
            index[axis] = [slice(1, None), slice(0, n - 1), slice(0, n, 2), slice(j % n, j % n + 1)][j % 4]
            y = y[tuple(index)]
        elif name == "join" and y.ndim and y.size < 200:
            y = ad.concat([y, ad.sin(y)] if j % 2 else [-y, y], axis=axis)
        elif name == "turn":
            y = ad.permute_dims(y, tuple([(a + j) % y.ndim for a in range(y.ndim)]))
        elif name == "shape":
            y = y.reshape([(-1,), (1, -1), (-1, 1), (2, -1)][j % 4]) if y.size % 2 == 0 else y.reshape((-1, 1))
        elif name == "repeat" and y.size < 60:
            y = ad.broadcast_to(y[..., None] if j % 2 else y[None], (*y.shape, 3) if j % 2 else (2, *y.shape))
        elif name == "unary":
            y = [ad.sin, ad.exp, ad.abs, ad.relu, lambda v: v**2, lambda v: 1 / v][j](y)
        elif name == "product":
            others = [z for z in seen if z.shape == y.shape]
            y = y * others[j % len(others)] if j % 2 else y + others[j % len(others)]
        elif name == "choose":
            y = ad.where(y > 0.1, y, ad.exp(y) if j % 2 else 0.0)
        elif name == "shift" and y.ndim and y.shape[0] > 1:
            y = ad.concat([y[1:] - y[:-1], y[:1]]) if j % 2 else ad.concat([y[-1:], y[:-1]])
        elif name == "total" and j == 5:
            y = y - y.sum()
        elif name == "negative":
            y = -y
        seen.append(y)
    return seen[-1]


@given(movements(), st.sampled_from([(6,), (2, 3), (3, 1, 2)]), st.sampled_from(["columns", "rows", "second"]))
def test_random_movements(steps: list[tuple[Any, ...]], shape: tuple[int, ...], which: str) -> None:
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(bands, "SMALLEST", 2)
    monkeypatch.setattr(bands, "SPARSE", 1)
    x = ad.tensor(
        np.random.default_rng(len(steps)).uniform(0.5, 2.0, shape) * np.where(np.arange(6) % 3, 1, -1).reshape(shape)
    )
    f = lambda v: performed(v, steps)  # noqa: E731
    if which == "second":
        y = ad.hessian(lambda v: ad.sin(f(v)).sum())(x)
    else:
        y = (ad.jacfwd if which == "columns" else ad.jacrev)(f)(x)
    found(y, monkeypatch, native=len(steps) <= 3)
    monkeypatch.undo()


def test_a_plan_holds_no_large_constants() -> None:
    matrix = ad.tensor(np.random.default_rng(0).normal(size=(3, 200)))
    y = ad.jacrev(lambda x: matrix.T @ ad.tanh(matrix @ x))(ad.tensor(np.ones(200)))
    plan, leaves, numbers = planned(y)
    short = simplified(plan)
    assert sum([array.nbytes for array in short.constants.values() if 0 not in array.strides]) < 1 << 17
    (value,) = Streaming(short).run(leaves, numbers, True)
    np.testing.assert_array_equal(value, Streaming(plan).run(leaves, numbers, True)[0])
