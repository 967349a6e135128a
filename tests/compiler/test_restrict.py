"""Of each array the part that is read is computed: rule by rule, in random programs, and in a network that reads its last row."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.execution.numpy_programs import Streaming
from adjoint.execution.tiers import tiers
from adjoint.plan import restrict
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.plan import Plan, build
from adjoint.plan.restrict import restricted
from adjoint.plan.simplify import simplified

F = nn.functional


@pytest.fixture(autouse=True)
def small_arrays_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restrict, "FEWEST", 1)


def planned(*outputs: ad.Tensor) -> tuple[Plan, list[Any], list[Any]]:
    c = canonicalize([y.node for y in outputs])
    plan = build(c, [c.number[y.node] for y in outputs], keep=False, ordered=False)
    return simplified(plan), [value_array(x) for x in c.leaves], [v for v, _ in c.numbers]


def shown(plan: Plan) -> list[str]:
    return [f"{step.op.name} {'×'.join(map(str, step.type.shape))}".strip() for step in plan.steps]


def checked(*outputs: ad.Tensor, exact: bool = False) -> tuple[list[str], list[str]]:
    """The steps before and after; both plans have the same results."""
    plan, leaves, numbers = planned(*outputs)
    before = shown(plan)
    found = restricted(plan)
    assert shown(plan) == before, "the plan itself must stay"
    for step in found.steps:
        assert found.types[step.output] == step.type
    with np.errstate(all="ignore"):
        expected = Streaming(plan).run(leaves, numbers, True)
        results = Streaming(found).run(leaves, numbers, True)
    for one, other in zip(results, expected, strict=True):
        assert np.shape(one) == np.shape(other) and np.asarray(one).dtype == np.asarray(other).dtype
        if exact:
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    return before, shown(found)


def leaf(*shape: int) -> ad.Tensor:
    return ad.tensor(np.random.default_rng(len(shape)).normal(size=shape).astype("f4"))


X, W, COLUMN, BATCH = leaf(6, 4), leaf(4, 5), leaf(6, 1), leaf(3, 6, 4)


def read_twice() -> ad.Tensor:
    y = ad.exp(X)
    return ad.concat([ad.sin(y)[-1:], ad.cos(y)[-1:]])


def parts_that_differ() -> ad.Tensor:
    y = ad.exp(X)
    return ad.sin(y)[-1:] + ad.cos(y)[:1]


def whole_as_well() -> ad.Tensor:
    y = ad.exp(X)
    return ad.concat([ad.sin(y)[-1:], y])


CASES: dict[str, tuple[Callable[[], ad.Tensor], list[str]]] = {
    "elementwise": (lambda: ad.exp(X)[-1:], ["slice 1×4", "exp 1×4"]),
    "from some on, in steps": (lambda: ad.exp(X)[1::2], ["slice 3×4", "exp 3×4"]),
    "broadcast rows": (lambda: (X * leaf(4))[2:3], ["slice 1×4", "multiply 1×4"]),
    "broadcast columns": (lambda: (X * COLUMN)[2:3], ["slice 1×4", "slice 1×1", "multiply 1×4"]),
    "repeated along the axis": (
        lambda: ad.exp(ad.broadcast_to(leaf(1, 4), (6, 4)))[2:3], ["broadcast_to 1×4", "exp 1×4"]),
    "numbers": (lambda: (X * 2.5)[:, :1], ["slice 6×1", "multiply 6×1"]),
    "a slice of it that takes more": (lambda: ad.exp(X)[-1:, 1:3], ["slice 1×4", "exp 1×4", "slice 1×2"]),
    "rows of a product": (lambda: (X @ W)[-1:], ["slice 1×4", "matmul 1×5"]),
    "columns of a product": (lambda: (X @ W)[:, :2], ["slice 4×2", "matmul 6×2"]),
    "matrices of a batch": (lambda: (BATCH @ BATCH.mT)[1:2],
                            ["slice 1×6×4", "permute_dims 1×4×6", "matmul 1×6×6"]),
    "what is summed stays": (lambda: ad.exp(X).sum(0)[:2], ["slice 6×2", "exp 6×2", "sum 2"]),
    "rows of sums": (lambda: ad.exp(X).sum(1)[:2], ["slice 2×4", "exp 2×4", "sum 2"]),
    "extremes": (lambda: ad.exp(BATCH).max((0, 2))[:2], ["slice 3×2×4", "exp 3×2×4", "max 2"]),
    "transposed": (lambda: ad.exp(ad.sin(X).T)[:, :1], ["slice 1×4", "sin 1×4", "permute_dims 4×1", "exp 4×1"]),
    "an axis that stays": (
        lambda: ad.exp(BATCH).reshape((3, 6, 2, 2))[:, -1:], ["slice 3×1×4", "exp 3×1×4", "reshape 3×1×2×2"]),
    "the last row of each text": (
        lambda: (BATCH.reshape((18, 4)) @ W).reshape((3, 6, 5))[:, -1:],
        ["slice 3×1×4", "reshape 3×4", "matmul 3×5", "reshape 3×1×5"]),
    "and on through another product": (
        lambda: (ad.exp((BATCH.reshape((18, 4)) @ W).reshape((3, 6, 5))).reshape((18, 5)) @ W.T).reshape((3, 6, 4))[:, -1],
        ["slice 3×1×4", "reshape 3×4", "matmul 3×5", "reshape 3×1×5", "exp 3×1×5", "reshape 3×5", "permute_dims 5×4",
         "matmul 3×4", "reshape 3×1×4", "reshape 3×4"]),
    "several rows of each text stay": (
        lambda: ad.exp((BATCH.reshape((18, 4)) @ W).reshape((3, 6, 5)))[:, -2:],
        ["reshape 18×4", "matmul 18×5", "reshape 3×6×5", "slice 3×2×5", "exp 3×2×5"]),
    "side by side": (
        lambda: ad.concat([ad.exp(X), ad.sin(X)], axis=1)[:1], ["slice 1×4", "exp 1×4", "sin 1×4", "concat 1×8"]),
    "one behind the other stays": (
        lambda: ad.concat([ad.exp(X), ad.sin(X)])[:1], ["exp 6×4", "sin 6×4", "concat 12×4", "slice 1×4"]),
    "a slice of a slice": (
        lambda: ad.exp(ad.sin(X)[1:])[::3], ["slice 2×4", "sin 2×4", "exp 2×4"]),
    "a slice along another axis": (
        lambda: ad.exp(ad.sin(X)[:, 1:])[:1], ["slice 1×4", "sin 1×4", "slice 1×3", "exp 1×3"]),
    "backwards along another axis": (lambda: ad.exp(X)[-1:, ::-1], ["slice 1×4", "exp 1×4", "slice 1×4"]),
    "backwards stays": (
        lambda: ad.exp(ad.flip(ad.sin(X), axis=0))[:1], ["sin 6×4", "slice 6×4", "slice 1×4", "exp 1×4"]),
    "running sums stay": (
        lambda: ad.cumulative_sum(ad.exp(X), axis=0)[:1], ["exp 6×4", "cumulative_sum 6×4", "slice 1×4"]),
    "rows of a table, whose numbers are checked, stay": (
        lambda: ad.exp(X[ad.tensor([0, 3, 5, 1])])[:1], ["gather 4×4", "slice 1×4", "exp 1×4"]),
    "read twice, the same part": (read_twice, ["slice 1×4", "exp 1×4", "sin 1×4", "cos 1×4", "concat 2×4"]),
    "read twice, other parts": (
        parts_that_differ, ["exp 6×4", "slice 1×4", "sin 1×4", "slice 1×4", "cos 1×4", "add 1×4"]),
    "read as a whole, too": (whole_as_well, ["exp 6×4", "slice 1×4", "sin 1×4", "concat 7×4"]),
    "nearly all": (lambda: ad.exp(X)[1:], ["exp 6×4", "slice 5×4"]),
    "what is given": (lambda: ad.exp(X[:1]), ["slice 1×4", "exp 1×4"]),
    "only moved": (lambda: ad.exp(X.T[:, :1]), ["permute_dims 4×6", "slice 4×1", "exp 4×1"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_steps_compute_what_is_read(case: str) -> None:
    make, expected = CASES[case]
    _, found = checked(make(), exact="matmul" not in " ".join(expected) and "sum" not in " ".join(expected))
    assert sorted(found) == sorted(expected)


def test_every_rule_has_a_case() -> None:
    shrunk = set()
    for make, _ in CASES.values():
        plan, _, _ = planned(make())
        whole = {step.output: step.type for step in plan.steps}
        shrunk.update([s.op for s in restricted(plan).steps if whole.get(s.output, s.type) is not s.type])
    assert set(restrict._RULES) - shrunk <= set(restrict.HANDED_ON) and any([op.combines for op in shrunk])


def test_results_that_are_slices_are_what_is_left() -> None:
    y = ad.exp(X)[-1:]
    before, found = checked(y, ad.sin(y), exact=True)
    assert before == ["exp 6×4", "slice 1×4", "sin 1×4"] and found == ["slice 1×4", "exp 1×4", "sin 1×4"]


def test_what_nothing_is_saved_by_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, _, _ = planned(ad.exp(X)[1:])
    assert restricted(plan) is plan
    plan, _, _ = planned(ad.exp(X)[:1])
    assert restricted(plan) is not plan
    ordered = plan._replace(ordered=True)  # as under `set_deterministic`
    assert restricted(ordered) is ordered
    monkeypatch.setattr(restrict, "FEWEST", 25)
    assert restricted(plan) is plan


def test_errors_and_calls_stay() -> None:
    called: list[int] = []

    def twice(x: Any) -> Any:
        called.append(len(x))
        return x * 2

    y = ad.host_call(twice, ad.exp(X), shape=(6, 4), dtype="float32")
    _, found = checked(ad.sin(y)[:1], exact=True)
    assert called == [6, 6] and found == ["exp 6×4", "host_call 6×4", "slice 1×4", "sin 1×4"]
    pick = ad.jit(lambda x, i: ad.exp(x[i])[:1])
    assert pick(X, ad.tensor([1, 2, 3])).shape == (1, 4)
    with pytest.raises(IndexError, match="index 9"):
        pick(X, ad.tensor([1, 2, 9]))


# A network that reads its last row --------------------------------------------------------------------------------------

WIDTH, HEADS = 16, 2
WEIGHTS = [leaf(WIDTH, n * WIDTH) / 4 for n in (3, 1, 4)] + [leaf(4 * WIDTH, WIDTH) / 8]


def block(x: ad.Tensor) -> ad.Tensor:
    batch, length, width = x.shape
    parts = (F.layer_norm(x, (width,)) @ WEIGHTS[0]).reshape((batch, length, 3, HEADS, width // HEADS))
    q, k, v = [ad.permute_dims(parts[:, :, i], (0, 2, 1, 3)) for i in range(3)]
    mixed = ad.permute_dims(F.scaled_dot_product_attention(q, k, v, is_causal=True), (0, 2, 1, 3))
    x = x + mixed.reshape((batch, length, width)) @ WEIGHTS[1]
    return x + F.gelu(F.layer_norm(x, (width,)) @ WEIGHTS[2]) @ WEIGHTS[3]


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("length", [2, 7, 12])
def test_of_the_last_layer_only_keys_and_values_are_computed_for_all(batch: int, length: int) -> None:
    y = block(block(leaf(batch, length, WIDTH)))[:, -1]
    _, found = checked(y)
    products = [line.split()[1] for line in found if line.startswith("matmul")]
    rows, heads = batch * length, f"{batch}×{HEADS}"
    whole = [
        f"{rows}×48",
        f"{heads}×{length}×{length}",
        f"{heads}×{length}×8",
        f"{rows}×16",
        f"{rows}×64",
        f"{rows}×16",
    ]
    last = [f"{heads}×1×{length}", f"{heads}×1×8", f"{batch}×16", f"{batch}×64", f"{batch}×16"]
    assert products == [*whole, whole[0], *last]


@pytest.mark.skipif(tiers.backend == "numpy", reason="needs native code")
def test_native_code_computes_it_and_says_so() -> None:
    x = leaf(1, 40, WIDTH)
    last = ad.jit(lambda x: block(block(x))[:, -1])
    np.testing.assert_allclose(last(x), block(block(x))[:, -1], rtol=1e-4, atol=1e-5)
    text = ad.execution.explain(last, stage="restrict")
    assert "softmax" in text and f"float32[1, {HEADS}, 1, 40]" in text and "float32[1, 1, 64]" in text
    before = ad.execution.explain(last, stage="simplify")
    assert f"float32[1, {HEADS}, 1, 40]" not in before


def test_derivatives_are_those_of_the_whole() -> None:
    x = ad.variable(leaf(2, 9, WIDTH).numpy())
    found = ad.jit(lambda x: ad.grad(lambda x: (block(block(x))[:, -1] ** 2).sum())(x))(x)
    y = block(block(x))
    (expected,) = ad.gradients((y[:, -1] ** 2).sum(), [x])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    checked(*ad.gradients((block(block(x))[:, -1] ** 2).sum(), [x]))


# Random programs --------------------------------------------------------------------------------------------------------


def drawn(seed: int) -> list[ad.Tensor]:
    """Steps of many kinds, and small parts of the last results."""
    draw = random.Random(seed)
    made = [leaf(*[draw.choice((2, 3, 6, 8)) for _ in range(draw.randint(2, 4))]) for _ in range(2)]
    for _ in range(draw.randint(5, 16)):
        x = draw.choice(made[-3:])
        made.append(step(draw, x))
    return [ad.sin(part(draw, x)) for x in made[-draw.randint(1, 3) :]]


def part(draw: random.Random, x: ad.Tensor) -> ad.Tensor:
    axis = draw.randrange(x.ndim)
    n = x.shape[axis]
    start = draw.randrange(n)
    stop, by = min(n, start + draw.choice((1, 1, 2, 3))), draw.choice((1, 1, 2))
    return x[(slice(None),) * axis + (slice(start, stop, by),)]


def step(draw: random.Random, x: ad.Tensor) -> ad.Tensor:
    axis, kind = draw.randrange(x.ndim), draw.randrange(10)
    if kind < 3:
        return draw.choice([ad.tanh, ad.cos, abs, lambda t: t * 0.5 + 1.0])(x)
    if kind == 3:
        shape = [n if draw.random() < 0.5 else 1 for n in x.shape]
        return x + leaf(*shape)
    if kind == 4:
        return ad.softmax(x, axis=axis)
    if kind == 5:
        return x * draw.choice([ad.sum, ad.max, ad.mean])(x, axis=axis, keepdims=True)
    if kind == 6:
        return x @ leaf(x.shape[-1], draw.choice((3, 4, 8))) * 0.3
    if kind == 7:
        return ad.permute_dims(x, tuple(draw.sample(range(x.ndim), x.ndim)))
    if kind == 8 and x.ndim > 2:
        first = draw.randrange(x.ndim - 1)
        shape = (*x.shape[:first], x.shape[first] * x.shape[first + 1], *x.shape[first + 2 :])
        y = ad.cos(x.reshape(shape))
        return y.reshape(x.shape) if draw.random() < 0.5 else y
    if kind == 9:
        return ad.concat([x, ad.sin(x)], axis=axis)
    return x - part(draw, x)[(slice(None),) * axis + (slice(0, 1),)].sum()


def test_random_programs() -> None:
    changed = 0
    for seed in range(300):
        before, after = checked(*drawn(seed))
        changed += before != after
    assert changed > 150
