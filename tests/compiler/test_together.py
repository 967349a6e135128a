"""Products over the steps of a recorded loop are computed together, and give what they gave one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.plan.together import together
from test_passes import planned

STEPS, ROWS, WIDTH = 12, 4, 16
random = np.random.default_rng(0)
XS = random.normal(size=(STEPS, ROWS, WIDTH))
W, U = (random.normal(size=(WIDTH, WIDTH)) * 0.3 for _ in range(2))


def recurrent(xs: Any, w: Any, u: Any) -> Any:
    h, total = ad.zeros((ROWS, WIDTH), dtype="float64"), 0.0
    for t in range(STEPS):
        h = ad.tanh(xs[t] @ w.T + h @ u)
        total = total + (h * h).sum()
    return total


def counts(
    *outputs: ad.Tensor, ordered: bool = False
) -> tuple[int, list[np.ndarray[Any, Any]], list[np.ndarray[Any, Any]]]:
    """How many products are left, and the results of the plan and of the joined one."""
    plan, leaves, numbers = planned(*outputs)
    plan = plan._replace(ordered=ordered)
    before = list(plan.steps)
    found = together(plan)
    assert plan.steps == before, "the plan itself must stay"
    runs = [ad.execution.numpy_programs.Streaming(p).run(leaves, numbers, True) for p in (plan, found)]
    return sum(step.op.name == "matmul" for step in found.steps), runs[0], runs[1]


def test_a_recurrent_layer_has_few_products_but_those_of_its_state() -> None:
    xs, w, u = (ad.variable(x) for x in (XS, W, U))
    loss = recurrent(xs, w, u)
    loss.backward(create_graph=True)
    left, expected, found = counts(loss, xs.grad, w.grad, u.grad)
    # of the state, one for each step there and back; the others are one each
    assert 2 * (STEPS - 1) <= left <= 2 * STEPS + 4
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
    everything, _, _ = counts(loss, xs.grad, w.grad, u.grad, ordered=True)
    assert everything > 5 * STEPS


def compiled(function: Callable[..., Any], *arrays: Any) -> list[np.ndarray[Any, Any]]:
    both = ad.jit(ad.value_and_grad(function, argnums=tuple(range(len(arrays)))))
    value, gradients = both(*map(ad.tensor, arrays))
    return [value.numpy(), *[g.numpy() for g in gradients]]


def test_it_is_off_under_set_deterministic() -> None:
    found = compiled(recurrent, XS, W, U)
    ad.set_deterministic(True)
    try:
        text = ad.execution.explain(recurrent(*map(ad.tensor, (XS, W, U))), stage="together")
        assert text.count("matmul") == 2 * STEPS
        exact = compiled(recurrent, XS, W, U)
    finally:
        ad.set_deterministic(False)
    for one, other in zip(found, exact, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def numbered(count: int, *shape: int) -> list[ad.Tensor]:
    return [ad.tensor(random.normal(size=shape)) for _ in range(count)]


def chain(u: ad.Tensor) -> list[ad.Tensor]:
    """Products with the same matrix that depend on each other."""
    h = numbered(1, 4, 16)[0]
    for _ in range(10):
        h = h @ u
    return [h]


def side_by_side(u: ad.Tensor) -> list[ad.Tensor]:
    return [ad.exp(x) @ u for x in numbered(10, 4, 16)]


def one_depends(u: ad.Tensor) -> list[ad.Tensor]:
    found = [x @ u for x in numbered(9, 4, 16)]
    return [*found, ad.exp(found[3]) @ u]


def summed(u: ad.Tensor) -> list[ad.Tensor]:
    a, b = numbered(10, 16, 3), numbered(10, 3, 16)
    return [sum((x @ y for x, y in zip(a, b, strict=True)), u)]


def summed_transposed(u: ad.Tensor) -> list[ad.Tensor]:
    a, b = numbered(10, 3, 16), numbered(10, 3, 16)
    return [sum(((x.T @ y).T for x, y in zip(a, b, strict=True)), u)]


def same_left(u: ad.Tensor) -> list[ad.Tensor]:
    (a,), b = numbered(1, 16, 3), numbered(10, 3, 16)
    total = sum((a @ y for y in b), u)
    return [total, *[ad.exp(y) for y in b]]


def shared(u: ad.Tensor) -> list[ad.Tensor]:
    """Sums of products of matrices that are also multiplied with one, in another order."""
    a, b = numbered(10, 4, 16), numbered(10, 4, 16)
    return [sum((x.T @ y for x, y in zip(a[::-1], b, strict=True)), u), *[x @ u for x in a]]


def read_elsewhere(u: ad.Tensor) -> list[ad.Tensor]:
    parts = [x @ y for x, y in zip(numbered(10, 16, 3), numbered(10, 3, 16), strict=True)]
    return [sum(parts, u), parts[4]]


def few(u: ad.Tensor) -> list[ad.Tensor]:
    return [x @ u for x in numbered(5, 4, 16)]


@pytest.mark.parametrize(
    ("make", "left"),
    [(chain, 10), (side_by_side, 1), (one_depends, 10), (summed, 1), (summed_transposed, 1), (same_left, 1), (shared, 2),
     (read_elsewhere, 2), (few, 5)],
)  # fmt: skip
def test_what_is_joined_and_what_is_not(make: Callable[[ad.Tensor], list[ad.Tensor]], left: int) -> None:
    count, expected, found = counts(*make(ad.tensor(U)))
    assert count == left
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_slices_of_one_array_need_no_copy() -> None:
    xs, w = ad.tensor(XS), ad.tensor(W)
    plan, _, _ = planned(*[xs[t] @ w for t in range(STEPS)])
    plan = plan._replace(ordered=False)
    names = [step.op.name for step in together(plan).steps]
    assert "concat" not in names
    assert names.count("matmul") == 1
