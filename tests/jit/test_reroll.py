"""Loops in Python that a compiled function recorded become scans: the same values, as many programs as steps are equal."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.control import reroll
from adjoint.execution.replay import Replay
from adjoint.execution.tiers import tiers
from adjoint.graph import Node, topological
from adjoint.plan import listing, stores
from adjoint.plan.listing import Only

STEPS = 40


@pytest.fixture(autouse=True)
def everything_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Small graphs are looked at too, and run on NumPy, where what is the same operation gives the same bits."""
    monkeypatch.setattr(reroll, "WORTH", Only(100, None, 8))
    monkeypatch.setattr(reroll, "WORTH_AGAIN", Only(60, None, 8))
    monkeypatch.setattr(reroll, "FEWEST_NUMBERS", 0)
    monkeypatch.setattr(reroll, "GAP", 12)
    monkeypatch.setattr(reroll, "LEFT", 0.95)
    monkeypatch.setattr(reroll, "NODES_A_SCAN", 1)
    monkeypatch.setattr(reroll, "NUMBERS_A_SCAN", 1)
    before, tiers.backend = tiers.backend, "numpy"
    ad.set_deterministic(True)
    yield
    ad.set_deterministic(False)
    tiers.backend = before


def compiled(f: Callable[..., Any], *given: Any, found: list[Any] | None = None) -> list[np.ndarray]:
    """What a compiled function gives. Into `found` come the lengths of the scans that its replay's graph has, sorted; without it,
    loops stay written out."""
    plain = Replay.__init__

    def noted(self: Replay, roots: Any, leaves: Any, rewritten: Any = None) -> None:
        def rewriting(nodes: list[Node], *rest: Any) -> Any:
            made = rewritten(nodes, *rest)
            if found is not None:
                found.extend(sorted([x.attributes.length for x in topological(made or []) if x.op.name == "scan"]))
            return made

        plain(self, roots, leaves, None if found is None else rewriting)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Replay, "__init__", noted)
        g = ad.jit(f)
        for _ in range(2):
            out = g(*given)
    return [x.numpy() for x in ad.tree.flatten(out)[0]]


def lengths(f: Callable[..., Any], *given: Any, exact: bool = True) -> list[int]:
    """How many steps the loops of a function have. What it gives must be what it gives without them, to the bit if `exact`."""
    tensors = [ad.tensor(x) for x in given]
    found: list[Any] = []
    rerolled = compiled(f, *tensors, found=found)
    expected = compiled(f, *tensors)
    for a, b in zip(rerolled, expected, strict=True):
        if exact:
            assert a.tobytes() == b.tobytes()
        else:
            np.testing.assert_allclose(a, b, 1e-11, 1e-13)
    return found


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape) * 0.5


def by(step: Callable[[Any, Any, int], Any], steps: int = STEPS) -> Callable[[Any, Any], Any]:
    """The sum of the squares of all states of a loop."""

    def loss(state: Any, data: Any) -> Any:
        total = 0.0
        for t in range(steps):
            state = step(state, data, t)
            total = total + (state**2).sum()
        return total

    return loss


READS: dict[str, Callable[[Any, Any, int], Any]] = {
    "each row": lambda s, x, t: ad.tanh(s + x[t]),
    "the row before and the one behind": lambda s, x, t: ad.tanh(s * x[t] + x[t + 2] - ad.sin(x[t + 1])),
    "from the end": lambda s, x, t: ad.tanh(s + x[-1 - t]),
    "every second row": lambda s, x, t: ad.tanh(s - x[2 * t + 1]),
    "windows": lambda s, x, t: ad.tanh(s + ad.sum(x[t : t + 3] * x[t : t + 3], axis=0)),
    "blocks": lambda s, x, t: ad.tanh(s + x[2 * t : 2 * t + 2].sum(axis=0)),
    "one number": lambda s, x, t: ad.tanh(s + x[t, 1]),
    "columns": lambda s, x, t: ad.tanh(s + x[1, t % 1 : 3] * x[t]),
    "numbers that differ": lambda s, x, t: ad.tanh(s + 0.01 * t * x[3]),
    "no row": lambda s, x, t: ad.sin(s) + x[0],
}


@pytest.mark.parametrize("name", READS)
def test_what_steps_read(name: str) -> None:
    f = by(READS[name])
    data = numbers(2 * STEPS + 4, 3)
    forward = lengths(f, numbers(3), data)
    assert forward and min(forward) >= STEPS - 3
    both = lengths(ad.value_and_grad(f, argnums=(0, 1)), numbers(3), data)
    assert len(both) >= 2 and min(both) >= STEPS - 6


def test_second_derivatives() -> None:
    f = by(READS["the row before and the one behind"])
    slope = ad.grad(lambda s, x: (ad.grad(f, argnums=1)(s, x) ** 2).sum(), argnums=(0, 1))
    assert len(lengths(slope, numbers(2), numbers(STEPS + 4, 2))) >= 4


def test_states_of_several_steps_ago() -> None:
    def f(state: Any, data: Any) -> Any:
        before = [state, state * 0.5, state - 1.0]
        for t in range(3 * STEPS):
            before = [*before[1:], ad.tanh(before[0] * before[2] + data[t])]
        return (before[-1] * before[-3]).sum()

    assert lengths(ad.value_and_grad(f, argnums=(0, 1)), numbers(3), numbers(3 * STEPS, 3))


@pytest.mark.parametrize("order", [1, -1, 2])
def test_results_of_all_steps(order: int) -> None:
    def f(state: Any, data: Any) -> Any:
        states = []
        for t in range(3 * STEPS):
            state = ad.tanh(state + data[t])
            states.append(state)
        return (ad.stack(states[::order]) * data[: len(states[::order])]).sum() + (states[3] * states[20]).sum()

    assert lengths(ad.value_and_grad(f, argnums=(0, 1)), numbers(3), numbers(3 * STEPS, 3))


def test_rows_of_a_list() -> None:
    def f(state: Any, data: Any) -> Any:
        for row in data:
            state = ad.where(state > 0.2, state * row, state - row)
        return state.sum()

    assert lengths(ad.value_and_grad(f, argnums=(0, 1)), numbers(3), numbers(STEPS, 3))


def recurrent(w: Any, u: Any, data: Any) -> Any:
    state, total = data[0], 0.0
    for t in range(len(data)):
        state = ad.tanh(w @ state + u @ data[t])
        total = total + (state**2).sum()
    return total


def test_products_over_the_steps_are_one_product() -> None:
    given = numbers(4, 4), numbers(4, 4, seed=1), numbers(STEPS, 4, seed=2)
    f = ad.value_and_grad(recurrent, argnums=(0, 1, 2))
    lengths(f, *given)
    ad.set_deterministic(False)
    found = lengths(f, *given, exact=False)
    assert len(found) == 2  # forwards and back; the gradients of the matrices and of the data are products of all steps


def test_loops_in_loops() -> None:
    def f(state: Any, data: Any) -> Any:
        total = 0.0
        for i in range(24):
            for j in range(100):
                state = ad.tanh(state + data[i, j])
            total = total + (state**2).sum()
            state = 0.5 * state
        return total

    found = lengths(ad.value_and_grad(f, argnums=(0, 1)), numbers(2), numbers(24, 100, 2))
    assert min(found) <= 24 and max(found) >= 97
    assert len(found) < 24  # most of them lie in the outer loop's body


def training(rerolls: bool) -> list[float]:
    """The losses of a network trained in a compiled function, by backward() and an optimizer."""
    w, b = ad.variable(numbers(4, 4)), ad.variable(numbers(4, seed=1))
    optimizer = ad.optim.Adam([w, b], lr=0.05)

    @ad.jit
    def step(data: Any) -> Any:
        state, total = data[0], 0.0
        for t in range(STEPS):
            state = ad.tanh(w @ state + data[t] + b)
            total = total + (state**2).sum()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        return total

    with pytest.MonkeyPatch.context() as patch:
        if not rerolls:
            patch.setattr(reroll, "WORTH", Only(1 << 60, None, 8))
        return [step(ad.tensor(numbers(STEPS, 4, seed=2))).item() for _ in range(4)]


def test_training_by_backward() -> None:
    losses = training(True)
    assert losses[-1] < losses[0] and losses == training(False)


def test_hooks_on_the_way() -> None:
    def f(w: Any, data: Any) -> Any:
        state = w * 1.0
        state.register_hook(lambda g: 2 * g)
        for t in range(STEPS):
            state = ad.tanh(state + data[t])
        state.sum().backward()
        return w.grad

    w, data = ad.variable(numbers(3)), ad.tensor(numbers(STEPS, 3, seed=1))
    found = ad.jit(f)(w, data).numpy()
    w.grad = None
    np.testing.assert_allclose(found, f(w, data).numpy(), 1e-12)


def test_training_steps_in_a_loop() -> None:
    def run(jitted: bool) -> list[np.ndarray]:
        w = ad.variable(numbers(4, 2))
        optimizer = ad.optim.SGD([w], lr=0.05, momentum=0.9)

        def steps(data: Any) -> Any:
            for t in range(30):
                loss = ((data[t] @ w) ** 2).sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            return loss

        f = ad.jit(steps) if jitted else steps
        return [np.append(f(ad.tensor(numbers(30, 3, 4, seed=1))).numpy(), w.numpy()) for _ in range(3)]

    np.testing.assert_allclose(run(True), run(False), 1e-12)


def test_longer_loops_have_plans_as_long() -> None:
    sizes = []
    for steps in (100, 300):
        f = ad.jit(ad.value_and_grad(recurrent, argnums=(0, 1, 2)))
        plans: list[Any] = []
        plain = Replay.__init__
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                Replay,
                "__init__",
                lambda self, *a, plain=plain, plans=plans: (plain(self, *a), plans.append(self.executable.plan))[0],
            )
            f(*map(ad.tensor, (numbers(4, 4), numbers(4, 4, seed=1), numbers(steps, 4, seed=2))))
        sizes.append(len(plans[0].steps))
    assert sizes[0] == sizes[1] < 400


def test_it_is_explained() -> None:
    f = ad.jit(by(READS["each row"]))
    f(ad.tensor(numbers(3)), ad.tensor(numbers(STEPS, 3)))
    assert f"{STEPS - 1} times" in str(ad.execution.explain(f)) or f"{STEPS} times" in str(ad.execution.explain(f))


@pytest.mark.parametrize(
    "step",
    [
        lambda s, x, t: ad.tanh(s + x[t * t % 7]),
        lambda s, x, t: ad.tanh(s + ad.random.normal((3,), dtype="float64") * x[t]),
        lambda s, x, t: ad.tanh(s + x[t]) if t % 5 else ad.sin(s),
    ],
)
def test_irregular_steps_stay_as_they_are(step: Callable[[Any, Any, int], Any]) -> None:
    ad.random.seed(3)
    f, x, s = by(step), ad.tensor(numbers(STEPS, 3)), ad.tensor(numbers(3))
    ad.random.seed(3)
    first = ad.jit(f)(s, x).numpy()
    ad.random.seed(3)
    np.testing.assert_allclose(first, f(s, x).numpy(), 1e-12)


def test_host_calls_keep_their_number_and_order() -> None:
    seen: list[int] = []

    def note(x: Any) -> Any:
        seen.append(len(seen))
        return x

    def f(state: Any, data: Any) -> Any:
        for t in range(STEPS):
            state = ad.tanh(ad.host_call(note, state, shape=(3,), dtype="float64") + data[t])
        return state.sum()

    g = ad.jit(f)
    g(ad.tensor(numbers(3)), ad.tensor(numbers(STEPS, 3))).numpy()
    assert len(seen) == STEPS


def random_loop(seed: int) -> tuple[Callable[..., Any], list[np.ndarray], tuple[int, ...]]:
    """A random loop, what it is given, and by which of these it is differentiated."""
    draw = random.Random(seed)
    steps, shape = draw.choice([16, 24, 41]), draw.choice([(3,), (1,), (), (2, 3)])
    given = [
        numbers(*shape),
        numbers(3 * steps + 8, *shape, seed=1),
        numbers(3, 3, seed=2),
        numbers(*shape, seed=3),
        numbers(steps + 4),
    ]
    kinds: list[Callable[..., Any]] = [
        lambda x, t, data, *_: x + data[t],
        lambda x, t, data, *_: x * 0.5 + ad.sin(data[t + 3]) * data[t],
        lambda x, t, data, *_: x - data[2 * t + 1] * x * 0.1,
        lambda x, t, data, *_: x + data[steps + 5 - t],
        lambda x, t, data, *_: x + ad.sum(data[t : t + 3], axis=0),
        lambda x, t, data, *_: x + data[t] * data[t + 1] - data[t + 2],
        lambda x, t, data, w, *_: x @ w if x.ndim and x.shape[-1] == 3 else ad.tanh(x),
        lambda x, t, data, w, b, *_: x * b,
        lambda x, t, *_: x + 0.01 * t + ad.cos(x) * t,
        lambda x, t, data, w, b, c: x * c[t],
        lambda x, t, *_: ad.where(x > 0.1, x, 0.5 * x),
        lambda x, t, *_: x / (1 + ad.sum(x * x)),
    ]
    body = [draw.choice(kinds) for _ in range(draw.randint(2, 5))]
    ending = draw.choice(["last", "sum", "all", "backwards", "some"])

    def f(state: Any, *others: Any) -> Any:
        states, total = [], 0.0
        for t in range(steps):
            for part in body:
                state = part(state, t, *others)
            state = ad.tanh(state)
            states.append(state)
            total = total + (state**2).sum()
        data, b = others[0], others[2]
        if ending == "last":
            return (state * b).sum()
        if ending == "all":
            return (ad.stack(states) * data[:steps]).sum()
        if ending == "backwards":
            return (ad.stack(states[::-1]) * data[:steps]).sum() + total * state.sum()
        return total if ending == "sum" else (states[3] * states[steps // 2]).sum() + ad.stack(states[2::3]).sum()

    return f, given, tuple(sorted(draw.sample(range(5), draw.randint(1, 5))))


def check(seed: int) -> bool:
    f, given, places = random_loop(seed)
    ad.set_deterministic(seed % 2 == 0)
    return bool(lengths(ad.value_and_grad(f, argnums=places), *given, exact=seed % 2 == 0))


def test_random_loops() -> None:
    assert sum([check(seed) for seed in range(30)]) >= 20


@pytest.mark.slow
def test_many_random_loops() -> None:
    for seed in range(30, 1000):
        check(seed)


def test_native_loops() -> None:
    tiers.backend = "native"
    for seed in (1, 3, 5):
        check(seed)


@pytest.mark.parametrize("own, walked", [(1, False), (400, True)])
def test_a_walk_ends_where_most_nodes_lie_near_parameters(own: int, walked: bool) -> None:
    y = ad.tensor(np.ones(3))
    for k in range(1200):
        if k % own == 0:
            w = ad.tensor(np.ones(3))
        y = ad.sin(y) * w
    writes, count = stores._counted([y.node])
    found = listing.numbered([y.node], Only(0, None, 3), 256, count / 2 + 1)
    assert writes == 0 and (found is not None) is walked
    assert found is None or len(found.order) == count
