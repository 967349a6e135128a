"""Ctrl-C anywhere: what was interrupted can be evaluated again, what comes after is right, and nothing stays behind."""

from __future__ import annotations

import contextvars
import gc
import importlib
import inspect
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import optim, tracing
from adjoint.execution import numpy_programs
from adjoint.execution.native import relatives
from adjoint.execution.tiers import tiers
from adjoint.graph import collector
from adjoint.runtime import llvm
from adjoint.runtime.blas import single_threaded
from interrupting import Interrupter

pytestmark = pytest.mark.skipif(
    not hasattr(sys, "settrace") or sys.gettrace() is not None, reason="another tracer is on"
)

evaluation = importlib.import_module("adjoint.execution.evaluate")
NODE = inspect.getattr_static(ad.Tensor, "node")
POINTS = np.linspace(0.1, 1, 40)
LARGE = np.linspace(0.1, 1, 1 << 15)  # large enough for its memory to become a result's


def forget() -> None:
    """Let every structure be new."""
    evaluation._cache.graphs.clear()
    evaluation._cache.nbytes = 0
    evaluation._seen.clear()


def f(x: ad.Tensor) -> ad.Tensor:
    return (ad.sin(x) * 2 + ad.exp(x) / x).sum()


VALUE, SLOPE = (np.sin(POINTS) * 2 + np.exp(POINTS) / POINTS).sum(), (
    np.cos(POINTS) * 2 + np.exp(POINTS) / POINTS - np.exp(POINTS) / POINTS**2
)  # fmt: skip


def gradients_are_right(times: int = 3) -> None:
    for _ in range(times):
        x = ad.variable(POINTS)
        y = f(x)
        y.backward()
        np.testing.assert_allclose(x.grad.numpy(), SLOPE, 1e-12)
        np.testing.assert_allclose(y.item(), VALUE, 1e-12)


Scenario = tuple[Callable[[], Any], Callable[[], Any]]  # what is interrupted, and the check


def evaluations(times: int) -> Scenario:
    """The same structure so many times: it is interpreted, then planned or compiled, then run."""
    forget()
    made: list[ad.Tensor] = []

    def action() -> None:
        for _ in range(times):
            x = ad.variable(POINTS)
            y = f(x)
            made.append(y)
            y.backward()
            x.grad.numpy()
            y.item()

    def check() -> None:
        for y in made:
            np.testing.assert_allclose(y.item(), VALUE, 1e-12)
        gradients_are_right()

    return action, check


def scalars() -> Scenario:
    """A graph for `Grouped` or the tape machine."""
    forget()
    made = []

    def total() -> ad.Tensor:
        xs = [ad.variable(k / 8.0, dtype="float64") for k in range(1, 9)]
        y = xs[0] * 0
        for x in xs * 5:
            y = y + ad.sin(x) * x
        made.append(y)
        return y

    expected = 5 * sum(np.sin(k / 8) * k / 8 for k in range(1, 9))

    def action() -> None:
        for _ in range(2):
            total().item()

    def check() -> None:
        for _ in range(2):
            total()
        for y in made:
            np.testing.assert_allclose(y.item(), expected, 1e-12)

    return action, check


def updates() -> Scenario:
    """A tensor whose memory its own update takes over."""
    m, g = ad.tensor(np.full(LARGE.shape, 2.0)), ad.tensor(LARGE)

    def step() -> None:
        m.data = 0.5 * m + g
        ad.evaluate(m)

    for _ in range(3):
        step()

    def once() -> None:
        step()

    expected = m.numpy()[0], 0.5 * m.numpy()[0] + LARGE[0]

    def check() -> None:
        values = m.numpy()
        assert values[0] in expected, "half a step"
        whole = values[0] == expected[1]
        start = np.full(LARGE.shape, 2.0)
        for _ in range(3 + whole):
            start = 0.5 * start + LARGE
        np.testing.assert_allclose(values, start, 1e-12)

    return once, check


def training() -> Scenario:
    """A compiled step: traced, written out, run."""
    forget()
    w = ad.variable(np.ones(3))
    optimizer = optim.SGD([w], lr=0.5, momentum=0.5)

    @ad.jit
    def step(x: ad.Tensor) -> ad.Tensor:
        optimizer.zero_grad()
        loss = ((w - x) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss

    def action() -> None:
        for _ in range(2):
            step(ad.tensor(np.zeros(3)))

    def check() -> None:
        found = [float(w.numpy()[0])]
        step(ad.tensor(np.zeros(3)))
        found.append(float(w.numpy()[0]))
        ways = []
        value, momentum = 1.0, 0.0
        for _ in range(4):
            ways.append(value)
            momentum = 0.5 * momentum + 2 * value
            value -= 0.5 * momentum
        assert found in ([ways[0], ways[1]], [ways[1], ways[2]], [ways[2], ways[3]]), found

    return action, check


def replays() -> Scenario:
    forget()
    x = ad.variable(POINTS)
    y = f(x)

    def action() -> None:
        g = ad.function([x], [y, *ad.gradients(y, [x])])
        g(POINTS)
        ad.evaluate(y, {x: POINTS})

    def check() -> None:
        np.testing.assert_allclose(ad.evaluate(y, {x: POINTS}).item(), VALUE, 1e-12)
        value, slope = ad.function([x], [y, *ad.gradients(y, [x])])(POINTS)
        np.testing.assert_allclose(value.item(), VALUE, 1e-12)
        np.testing.assert_allclose(slope.numpy(), SLOPE, 1e-12)

    return action, check


def transforms() -> Scenario:
    forget()
    points = POINTS[:4]

    def cubes(x: ad.Tensor) -> ad.Tensor:
        return (x**3).sum()

    def action() -> None:
        ad.grad(cubes)(ad.tensor(points)).numpy()
        ad.jvp(cubes, (points,), (points,))[1].numpy()
        ad.hessian(cubes)(ad.tensor(points)).numpy()
        ad.vmap(ad.grad(cubes))(ad.tensor(points.reshape(2, 2))).numpy()

    def check() -> None:
        np.testing.assert_allclose(ad.hessian(cubes)(ad.tensor(points)).numpy(), np.diag(6 * points), 1e-12)
        np.testing.assert_allclose(ad.grad(cubes)(ad.tensor(points)).numpy(), 3 * points**2, 1e-12)

    return action, check


def modes() -> Scenario:
    forget()

    def action() -> None:
        w = ad.variable(1.0)
        with ad.no_grad(), ad.enable_grad(), ad.no_grad():
            w -= 0.5
        ad.no_grad()(lambda: w * 2)()
        with tracing.paused():
            ad.nn.functional.softmax(w * ad.ones((3,)), 0)

    return action, gradients_are_right


def draws() -> Scenario:
    forget()
    generator = ad.random.Generator(3)
    first = ad.random.Generator(3).uniform((6,)).numpy()

    def action() -> None:
        generator.normal((6,)).numpy()
        generator.permutation(5).numpy()

    def check() -> None:
        generator.seed(3)
        np.testing.assert_array_equal(generator.uniform((6,)).numpy(), first)

    return action, check


def relatives_of_a_plan() -> Scenario:
    """A second length, from which the third one's plan follows."""
    forget()
    relatives._known.clear()
    relatives._first.clear()

    def long(n: int) -> float:
        x = ad.tensor(np.linspace(0.1, 1.0, n))
        for _ in range(4):
            x = ad.sin(x) * x.sum() + ad.cos(x)
            x = x.reshape((n, 1)) @ x.reshape((1, n)) @ x
        return float(x.sum().item())

    expected = {n: long(n) for n in (21, 22, 25)}
    forget()
    relatives._known.clear()
    relatives._first.clear()
    long(21)

    def action() -> None:
        for n in (22, 25):
            long(n)

    def check() -> None:
        for n, value in expected.items():
            np.testing.assert_allclose(long(n), value, 1e-10)

    return action, check


def accumulated() -> Scenario:
    """What was updated in place, and nobody has read, is evaluated with an optimizer's step."""
    forget()

    def action() -> None:
        w, total = ad.variable(np.ones(3)), ad.tensor(np.zeros(3))
        optimizer = optim.SGD([w], lr=0.25)
        for _ in range(3):
            optimizer.zero_grad()
            ((w - POINTS[:3]) ** 2).sum().backward()
            total += ad.tensor(POINTS[:3]) * 2
            optimizer.step()
        np.testing.assert_allclose(total.numpy(), 6 * POINTS[:3], 1e-12)

    return action, gradients_are_right


# The backend, and what is interrupted.
SCENARIOS: dict[str, tuple[str, Callable[[], Scenario]]] = {
    "interpreted": ("auto", lambda: evaluations(1)),
    "planned": ("numpy", lambda: evaluations(3)),
    "compiled": ("native", lambda: evaluations(2)),
    "grouped": ("numpy", scalars),
    "on the tape": ("native", scalars),
    "in place": ("native", updates),
    "trained": ("native", training),
    "replayed": ("native", replays),
    "transformed": ("auto", transforms),
    "modes": ("auto", modes),
    "drawn": ("auto", draws),
    "related": ("native", relatives_of_a_plan),
    "accumulated": ("auto", accumulated),
}


@pytest.fixture(autouse=True)
def interrupts_arrive() -> Iterator[None]:
    """A shell has processes in the background ignore SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def nothing_is_collected() -> Iterator[None]:
    """What a handler raises in a finalizer is printed by Python and forgotten, and what earlier tests have left has some."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def backend() -> Iterator[Callable[[str], None]]:
    before = tiers.backend

    def choose(name: str) -> None:
        if before == "auto":  # else the whole suite runs with one backend
            tiers.backend = name

    yield choose
    tiers.backend = before


def left_behind(before: contextvars.Context) -> list[str]:
    """What an interrupt has left switched, held or exchanged. Each context variable was set before, if only to its default."""
    changed = [x.name for x, value in contextvars.copy_context().items() if before.get(x, "unset") is not value]
    found = {
        "the collector is off": not gc.isenabled(),
        f"other values of {changed}": bool(changed),
        "SIGINT has another handler": signal.getsignal(signal.SIGINT) is not signal.default_int_handler,
        "BLAS stays on one thread": single_threaded.inside != 0,
        "a function is being traced": tracing.active() is not None,
        "tensors are watched": inspect.getattr_static(ad.Tensor, "node") is not NODE,
    }
    done = []
    other = threading.Thread(target=lambda: done.append((ad.tensor(POINTS) * 3).numpy()), daemon=True)
    other.start()
    other.join(10)
    found["a lock is held"] = not done
    return [what for what, is_so in found.items() if is_so]


def tidy() -> None:
    """Put back what an interrupt has left behind that can't come in truth, besides context variables."""
    gc.enable()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    single_threaded.inside = 0
    for lock in (evaluation.evaluation_lock(), llvm.lock):
        while lock._is_owned():
            lock.release()


def sweep(scenario: Callable[[], Scenario], possible: bool, most: int) -> None:
    """Interrupt at so many of the instructions, evenly spread, or at all if there aren't more."""
    action, check = scenario()
    action()
    check()
    action, check = scenario()
    never = Interrupter(sys.maxsize, possible)
    never(action)
    step = max(1, never.count // most)
    for at in range(step // 2, never.count, step):
        context = contextvars.copy_context()
        action, check = scenario()
        interrupt = Interrupter(at, possible)
        if possible:
            interrupt(action)
        else:  # in a context of its own: one that can't come in truth may leave any setting as it was inside of a block
            contextvars.copy_context().run(interrupt, action)
        if not interrupt.came:  # the ways differ a little from one time to the next
            continue
        if possible:
            assert interrupt.raised, interrupt.place
            assert left_behind(context) == [], interrupt.place
        else:
            tidy()
        try:
            check()
        except BaseException as error:
            error.add_note(f"after an interrupt before {interrupt.place}, the instruction number {at} of {never.count}")
            raise


@pytest.mark.parametrize("name", SCENARIOS)
def test_interrupts_here_and_there(name: str, backend: Callable[[str], None]) -> None:
    chosen, scenario = SCENARIOS[name]
    backend(chosen)
    sweep(scenario, True, 12)
    sweep(scenario, False, 5)


@pytest.mark.parametrize("name", ["planned", "compiled", "interpreted"])
def test_a_handler_that_evaluates_what_it_interrupts(name: str, backend: Callable[[str], None]) -> None:
    """It gets its values, and so does what it has interrupted."""
    chosen, scenario = SCENARIOS[name]
    backend(chosen)
    seen: list[int] = []

    def handler(number: int, frame: Any) -> None:
        tracer = sys.gettrace()
        sys.settrace(None)
        with ad.enable_grad():  # it may come in between where gradients are switched off for a moment
            gradients_are_right(1)  # the very structure that is being evaluated
        seen.append(number)
        sys.settrace(tracer)

    action, check = scenario()
    never = Interrupter(sys.maxsize, True)
    never(action)
    signal.signal(signal.SIGINT, handler)
    came = 0
    for at in range(0, never.count, max(1, never.count // 12)):
        action, check = scenario()
        interrupt = Interrupter(at, True)
        interrupt(action)
        assert not interrupt.raised
        came += interrupt.came
        check()
    assert len(seen) == came > 2  # after the first time Python 3.13 tells tracers of fewer instructions


def test_an_interrupt_leaves_the_collector_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it comes, where many objects were made too: nothing stays frozen."""
    monkeypatch.setattr(collector, "MANY", -1)
    at, frozen, went_on, context = 0, gc.get_freeze_count(), True, contextvars.copy_context()
    while went_on:
        interrupt = Interrupter(at, True)
        interrupt(lambda: collector.without_collector(list))
        assert left_behind(context) == [] and gc.get_freeze_count() == frozen, interrupt.place
        at, went_on = at + 1, interrupt.came
    assert at > 5 or sys.version_info >= (3, 12)  # which tells tracers of fewer instructions


def test_a_handler_computes_while_threads_of_products_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes in the thread that holds the lock, and must not wait for it."""
    threads, came = [4], []

    def handler(number: int, frame: Any) -> None:
        came.append(single_threaded(lambda: threads[0]))

    def set_threads(n: int) -> None:
        signal.signal(signal.SIGINT, handler if not came else signal.SIG_IGN)
        signal.raise_signal(signal.SIGINT)
        threads[0] = n

    monkeypatch.setattr(single_threaded, "looked", True)
    monkeypatch.setattr(single_threaded, "functions", (lambda: threads[0], set_threads))
    assert single_threaded(lambda: threads[0]) == 1 and threads == [4]
    assert len(came) == 1 and single_threaded.inside == 0


@pytest.mark.parametrize("name", ["planned", "compiled", "interpreted", "related", "accumulated"])
@pytest.mark.usefixtures("nothing_is_collected")
def test_what_a_handler_raises_is_not_lost(name: str, backend: Callable[[str], None]) -> None:
    """As where an alarm ends what takes too long."""
    chosen, scenario = SCENARIOS[name]
    backend(chosen)
    never = Interrupter(sys.maxsize, True)
    never(scenario()[0])

    def handler(number: int, frame: Any) -> None:
        raise TimeoutError("too long")

    signal.signal(signal.SIGINT, handler)
    came = 0
    for at in range(0, never.count, max(1, never.count // (15 if name == "related" else 60))):
        action, check = scenario()
        interrupt = Interrupter(at, True)
        raised = False
        try:
            interrupt(action)
        except TimeoutError:
            raised = True
        assert raised == interrupt.came, interrupt.place
        came += raised
        check()
    assert came > 2


@pytest.mark.parametrize("kind", [numpy_programs.Bound, numpy_programs.Grouped])
def test_a_run_in_the_middle_of_a_run(kind: Any, backend: Callable[[str], None]) -> None:
    """As when a signal's handler evaluates the structure that is just being run by plan."""
    backend("numpy")
    forget()

    def total(scale: float) -> ad.Tensor:
        if kind is numpy_programs.Bound:
            return (ad.sin(ad.tensor(POINTS) * scale) * 2 + ad.exp(ad.tensor(POINTS) * scale)).sum()
        xs = [ad.tensor(k * scale, dtype="float64") for k in range(1, 200)]
        ys = [ad.sin(x) * x for x in xs]
        while len(ys) > 1:
            ys = [a + b for a, b in zip(ys[::2], ys[1::2], strict=False)] + ys[len(ys) // 2 * 2 :]
        return ys[0]

    expected = {scale: total(scale).item() for scale in (0.25, 0.5)}
    assert total(0.25).item() == expected[0.25]
    (plan,) = [p for graph in evaluation._cache.graphs.values() for p in graph.plans.values()]
    assert type(plan.program) is kind
    calls, found = plan.program.calls[0], []

    def handler() -> None:
        if len(found) == at:
            found.append(None)  # in the run in the middle it has nothing to do
            found[at] = total(0.5).item()

    for at in range(len(calls) + 1):
        calls.insert(at, (handler, ()))
        assert total(0.25).item() == expected[0.25]
        assert found[at] == expected[0.5]
        del calls[at]


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", SCENARIOS)
def test_interrupts_wherever_handlers_run(name: str, backend: Callable[[str], None]) -> None:
    chosen, scenario = SCENARIOS[name]
    backend(chosen)
    sweep(scenario, True, 5_000)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", SCENARIOS)
def test_interrupts_at_every_instruction(name: str, backend: Callable[[str], None]) -> None:
    chosen, scenario = SCENARIOS[name]
    backend(chosen)
    sweep(scenario, False, 5_000)
