"""Laziness, and what evaluation keeps and drops: nothing may grow without end."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from support import double, equal

MEGABYTE = 1 << 20
# Blocks that pending work may take before it is evaluated: it rises and falls, so two looks differ by as much.
PILE = 150_000


@pytest.fixture
def traced() -> Iterator[None]:
    """Every allocation is counted: slow, and knows the large arrays."""
    gc.collect()
    tracemalloc.start()
    yield
    tracemalloc.stop()


def allocated() -> int:
    return tracemalloc.get_traced_memory()[0]


def peak_of(run: Callable[[], None]) -> int:
    """The most memory, above what there was before, that the run had at any time."""
    before = allocated()
    tracemalloc.reset_peak()
    run()
    return tracemalloc.get_traced_memory()[1] - before


def blocks_of(run: Callable[[int], None], rounds: int, steps: int) -> int:
    """The most small objects alive after any of the rounds; nodes and arrays are a few each, and counting is free."""
    most = 0
    for _ in range(rounds):
        run(steps)
        most = max(most, sys.getallocatedblocks())
    return most


def megabyte() -> ad.Tensor:
    return ad.tensor(np.linspace(0.0, 1.0, MEGABYTE // 8))


# ---- laziness --------------------------------------------------------------------------------------------------------


def test_gradients_read_one_by_one_are_computed_together():
    """Whoever reads a gradient will read the others: the reverse pass runs once, and leaves no cycle behind."""
    for _ in range(3):  # interpreted, planned, remembered
        numbers = [ad.variable(0.1 * i) for i in range(20)]
        ad.tanh(sum(x * x for x in numbers)).backward()
        first = numbers[0].grad.item()
        pullback = numbers[1].grad.node.inputs[0]
        assert len(pullback.value) == 20 and pullback.inputs == ()
        together = ad.grad(lambda x: ad.tanh((x * x).sum()))(ad.tensor([0.1 * i for i in range(20)]))
        np.testing.assert_allclose([first, *[x.grad.item() for x in numbers[1:]]], together.numpy(), rtol=1e-6)


def counting(calls: list[int]) -> Callable[[np.ndarray], np.ndarray]:
    def host(array: np.ndarray) -> np.ndarray:
        calls.append(1)
        return array + 1

    return host


@pytest.mark.parametrize(
    "ask",
    [
        ad.Tensor.numpy,
        ad.Tensor.item,
        ad.Tensor.tolist,
        ad.evaluate,
        np.asarray,
        float,
        bool,
        repr,
        "{:.1f}".format,
    ],
)
def test_numbers_appear_when_asked_for_and_once(ask: Callable[[ad.Tensor], Any]) -> None:
    calls: list[int] = []
    x = ad.host_call(counting(calls), double(1.0), shape=(), dtype="float64")
    y = ad.sin(x * 2)
    assert y.shape == () and y.dtype == ad.float64
    assert calls == []
    ask(y)
    assert calls == [1]
    ask(y)
    equal(x, 2.0)
    assert calls == [1]


def test_recording_a_derivative_asks_for_no_numbers() -> None:
    calls: list[int] = []
    w = ad.variable(3.0, dtype="float64")
    x = ad.host_call(counting(calls), double(1.0), shape=(), dtype="float64")
    loss = (w * x) ** 2
    loss.backward()
    w.data -= 0.1 * w.grad
    ad.grad(lambda v: v * x)(double(1.0))
    equal(w, 3.0 - 0.1 * 24.0)
    assert calls == [1]


def test_errors_come_at_once() -> None:
    x, y = ad.ones((2, 3)), ad.ones((4,))
    with pytest.raises(ValueError, match=r"add.*\(2, 3\).*\(4,\)"):
        x + y


# ---- loops -----------------------------------------------------------------------------------------------------------


def test_an_average_updated_80_000_times_unread_stays_small() -> None:
    average, x = ad.zeros((8,)), ad.ones((8,))

    def update(steps: int) -> None:
        nonlocal average
        for _ in range(steps):
            average = average * 0.9999 + x * 0.0001

    before = sys.getallocatedblocks()
    first = blocks_of(update, 20, 2_000) - before
    second = blocks_of(update, 20, 2_000) - before
    assert second < first + PILE and first < 2_000_000
    equal(average, np.full(8, 1 - 0.9999**80_000), 1e-2)


def test_an_average_of_detached_weights_updated_in_place_stays_small() -> None:
    average, w = ad.zeros((8,)), ad.variable(np.ones(8, "float32"))

    def update(steps: int) -> None:
        nonlocal average
        for _ in range(steps):
            average *= 0.9
            average += 0.1 * w.detach()

    before = sys.getallocatedblocks()
    first = blocks_of(update, 20, 1_500) - before
    second = blocks_of(update, 20, 1_500) - before
    assert second < first + PILE and first < 2_000_000
    equal(average, np.ones(8), 1e-4)


def by_data(w: ad.Tensor) -> None:
    w.data -= 0.01 * w.grad
    w.grad = None


def by_assigned_data(w: ad.Tensor) -> None:
    w.data = w.data - 0.01 * w.grad.data
    w.zero_grad()


def under_no_grad(w: ad.Tensor) -> None:
    with ad.no_grad():
        w -= 0.01 * w.grad
    w.grad = None


def by_item(w: ad.Tensor) -> None:
    w.data[:] = w.data - 0.01 * w.grad
    w.zero_grad()


@pytest.mark.parametrize(
    ("step", "steps"), [(by_data, 500), (by_assigned_data, 150), (under_no_grad, 150), (by_item, 150)]
)
def test_a_training_loop_of_10_000_steps_stays_small(step: Callable[[ad.Tensor], None], steps: int) -> None:
    generator = np.random.default_rng(0)
    x, y = ad.tensor(generator.normal(size=(8, 3))), ad.tensor(generator.normal(size=8))
    w = ad.variable(np.zeros(3))
    total = double(0.0)

    def train(steps: int) -> None:
        nonlocal total
        for _ in range(steps):
            loss = ((x @ w - y) ** 2).mean()
            loss.backward()
            total += loss.detach()
            step(w)
        assert np.isfinite(total.item())

    few = blocks_of(train, 20, 50)
    first, second = blocks_of(train, 20, steps), blocks_of(train, 20, steps)
    assert second < first + 5_000  # a plan of the steps that are evaluated together may come to stay
    assert first < few + 100_000
    equal(w, np.linalg.lstsq(x.numpy(), y.numpy(), rcond=None)[0], 1e-2)


def test_gradients_that_are_only_added_to_stay_small() -> None:
    w = ad.variable([1.0, 2.0])

    def accumulate(steps: int) -> None:
        for _ in range(steps):
            (w * w).sum().backward()

    first, second = blocks_of(accumulate, 20, 50), blocks_of(accumulate, 20, 200)
    assert second < first + 5_000
    equal(w.grad, [10_000.0, 20_000.0], 1e-4)


def test_constants_cut_from_a_graph_and_dropped_unread_are_forgotten() -> None:
    w = ad.variable([1.0, 2.0])

    def cut(steps: int) -> None:
        for _ in range(steps):
            (w * 2).detach()
        (w * 3).sum().item()

    first, second = blocks_of(cut, 3, 500), blocks_of(cut, 3, 2_000)
    assert second < first + 5_000


# ---- graphs ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("traced")
def test_an_evaluated_untracked_tensor_drops_what_it_was_made_of() -> None:
    def chain(x: ad.Tensor) -> ad.Tensor:
        for _ in range(20):
            x = ad.sin(x) + 1
            ad.evaluate(x)
        return x

    for _ in range(3):  # the compiler is loaded, plans are kept
        ad.evaluate(chain(megabyte()).sum())
    before = allocated()
    x = chain(megabyte())
    assert allocated() - before < 2.5 * MEGABYTE
    total = x.sum()
    ad.evaluate(total)
    del x
    assert allocated() - before < 0.1 * MEGABYTE
    assert np.isfinite(total.item())


@pytest.mark.usefixtures("traced")
def test_evaluating_a_long_chain_reuses_buffers() -> None:
    x = megabyte()
    y = x
    for _ in range(100):
        y = ad.sin(y) * 1.5 + x
    assert peak_of(lambda: ad.evaluate(y)) < 8 * MEGABYTE


@pytest.mark.usefixtures("traced")
def test_the_first_backward_consumes_what_was_kept_and_a_second_is_right() -> None:
    w = ad.variable(np.linspace(0.0, 1.0, MEGABYTE // 8))
    before = allocated()
    y = w
    for _ in range(20):
        y = ad.tanh(ad.sin(y) * 1.1)
    loss = y.sum()
    value = loss.item()
    del y
    loss.backward()
    first = w.grad.numpy().copy()
    w.grad = None
    assert allocated() - before < 6 * MEGABYTE
    loss.backward()
    np.testing.assert_allclose(w.grad.numpy(), first, 1e-12)
    assert loss.item() == value


@pytest.mark.usefixtures("traced")
def test_a_graph_is_freed_without_the_cycle_collector() -> None:
    gc.disable()
    try:
        before = allocated()
        for _ in range(3):
            w = ad.variable(np.ones(MEGABYTE // 8))
            inner = ad.exp(w * 0.1)
            loss = (inner * w).sum()
            loss.backward(create_graph=True)
            ad.grad(lambda x, w=w: (x * w).sum())(w.detach()).numpy()
            ad.evaluate(loss, w.grad, inner)
            w.grad = None  # a gradient with a graph leads back to its owner
            del inner, loss
        del w
        assert allocated() - before < 0.5 * MEGABYTE
    finally:
        gc.enable()


def test_modules_leave_no_cycles_behind() -> None:
    layer = ad.nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    x = ad.ones((2, 3, 4))
    (layer(x) ** 2).sum().backward()
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            layer.zero_grad()
            (layer(x) ** 2).sum().backward()
        assert gc.collect() == 0
    finally:
        gc.enable()
