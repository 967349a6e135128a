"""Which program runs a structure: NumPy's or a native one, and when that may depend on what ran before."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.execution.native import missing
from adjoint.execution.native.program import Native
from adjoint.execution.tiers import tiers
from adjoint.plan.executable import Executable
from adjoint.tensors import pending

compiles = pytest.mark.skipif(missing() is not None, reason="the native parts are not installed")


@pytest.fixture
def automatic() -> Iterator[None]:
    before, tiers.backend = tiers.backend, "auto"
    yield
    tiers.backend = before


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[Executable]:
    """The plans that were run, in order."""
    found: list[Executable] = []
    evaluation = importlib.import_module("adjoint.execution.evaluate")
    original: Callable[..., Any] = evaluation.run
    monkeypatch.setattr(tiers, "loading", 0.0)  # whichever test loads the compiler
    monkeypatch.setattr(evaluation, "run", lambda plan, *rest: found.append(plan) or original(plan, *rest))
    return found


def formula(shape: tuple[int, ...], number: float) -> np.ndarray:
    x = ad.tensor(np.linspace(-1, 1, int(np.prod(shape))).reshape(shape))
    return (ad.sin(x * number) ** 2 + ad.exp(-x) @ ad.cos(x).mT).numpy()


@compiles
@pytest.mark.usefixtures("automatic")
def test_what_comes_back_often_is_compiled(plans: list[Executable]) -> None:
    results = [formula((3, 3), 1.25 + k) for k in range(2000)]
    kinds = [isinstance(plan.program, Native) for plan in plans]
    assert kinds[-1] and len({id(plan) for plan in plans}) == 1
    x = np.linspace(-1, 1, 9).reshape(3, 3)
    for k in (0, 1, 1000, 1999):
        np.testing.assert_allclose(results[k], np.sin(x * (1.25 + k)) ** 2 + np.exp(-x) @ np.cos(x).T, 1e-12)


def test_masked_kernels_run_where_the_steps_of_a_plan_are_gone(
    plans: list[Executable], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiers, "backend", "numpy")
    for _ in range(4):
        x, factor = ad.variable([-1.0, 2.0]), ad.tensor([np.inf, 3.0])
        (gradient,) = ad.gradients(ad.sum(ad.where(x > 0, x * factor, 0.0)), [x])
        assert gradient.numpy().tolist() == [0.0, 3.0]
    assert plans and plans[-1].plan.steps == () and plans[-1].masking.some


@compiles
@pytest.mark.usefixtures("automatic")
def test_what_is_large_is_compiled_the_second_time_and_what_is_huge_the_first(plans: list[Executable]) -> None:
    for _ in range(2):
        formula((300, 300), 1.75)
    assert [isinstance(plan.program, Native) for plan in plans] == [True]
    plans.clear()
    formula((1100, 1100), 1.75)
    assert [isinstance(plan.program, Native) for plan in plans] == [True]


@compiles
@pytest.mark.usefixtures("automatic")
@pytest.mark.parametrize(("length", "side", "native"), [(1200, 8, False), (1200, 128, True), (4000, 128, True)])
def test_a_long_graph_is_compiled_at_first_if_its_arrays_are_as_large_as_a_short_one_s(
    length: int, side: int, native: bool, plans: list[Executable]
) -> None:
    x = ad.variable(np.linspace(-1, 1, side * side, dtype="float32").reshape(side, side))
    for _ in range(length // 2):
        x = ad.sin(x) + 0.5
    expected = np.linspace(-1, 1, side * side, dtype="float32")
    for _ in range(length // 2):
        expected = np.sin(expected) + np.float32(0.5)
    np.testing.assert_allclose(x.detach().numpy().ravel(), expected, 1e-3)
    assert [isinstance(plan.program, Native) for plan in plans] == [True] * native


@compiles
@pytest.mark.usefixtures("automatic")
def test_what_a_loop_leaves_pending_is_cut_after_equal_numbers_of_turns(plans: list[Executable]) -> None:
    pending.recorded_since[:] = [0, 0]  # what tests before left pending isn't waited for
    x, y = ad.zeros((200, 300)), ad.zeros((200, 300))
    for _ in range(2500):  # nobody reads: now and then what is pending is evaluated for the sake of memory
        for weight in (0.9, 0.8):
            x = x * weight + 0.5
        y = ad.cos(y * 0.5)
    turns = list(plans)
    found = {id(plan) for plan in turns}
    assert len(turns) >= 8 and len(found) <= 4  # each chain's first graph begins with zeros
    assert all(isinstance(plan.program, Native) for plan in turns[2:])
    plans.clear()
    np.testing.assert_allclose(x.numpy(), np.full((200, 300), 0.9 / 0.28), 1e-5)
    np.testing.assert_allclose(y.numpy(), np.full((200, 300), 0.90036722), 1e-5)


@pytest.mark.usefixtures("automatic")
@pytest.mark.parametrize("shape", [(4, 4), (64, 64), (120, 120)])
def test_deterministic_means_equal_bits_from_the_start(shape: tuple[int, ...], plans: list[Executable]) -> None:
    ad.set_deterministic()
    assert ad.is_deterministic()
    results = [formula(shape, 0.875) for _ in range(40)]
    assert len({plan.program.__class__ for plan in plans}) == 1 and len(plans) == 40
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    ad.set_deterministic(False)
    assert not ad.is_deterministic()
    formula(shape, 0.875)
    formula(shape, 0.875)
    assert plans[-1] is not plans[0], "a plan made for one mode must not serve the other"


def test_training_twice_gives_equal_bits_under_deterministic() -> None:
    ad.set_deterministic()

    def train() -> list[np.ndarray]:
        ad.random.seed(3)
        model = ad.nn.Sequential(ad.nn.Linear(20, 64), ad.nn.Tanh(), ad.nn.Linear(64, 5))
        optimizer = ad.optim.Adam(model.parameters(), lr=0.01)
        x, y = ad.random.normal((64, 20)), ad.random.integers(0, 5, (64,))
        for _ in range(8):
            optimizer.zero_grad()
            ad.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        return [p.numpy() for p in model.parameters()]

    for one, other in zip(train(), train(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_mode_is_every_threads() -> None:
    ad.set_deterministic()
    seen: list[bool] = []
    thread = threading.Thread(target=lambda: seen.append(ad.is_deterministic()))
    thread.start()
    thread.join()
    assert seen == [True]


@pytest.mark.parametrize("backend", ["auto", "native"])
def test_without_the_native_parts_one_notice_and_numpy(backend: str) -> None:
    code = (
        "import sys; sys.modules['llvmlite'] = sys.modules['scipy_openblas32'] = None\n"
        "import adjoint as ad\n"
        "for k in range(400): (ad.ones((600, 1000)) * (k + 0.5)).sum().item()\n"
        "for k in range(4): print((ad.ones((600, 1000)) * (k + 2.5)).sum().item())\n"
        "for k in range(4): print((ad.ones((3,)) * (k + 2.5)).mean().item())"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "ADJOINT_BACKEND": backend},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["1500000.0", "2100000.0", "2700000.0", "3300000.0", "2.5", "3.5", "4.5", "5.5"]
    assert result.stderr.count("computes with NumPy alone") == 1 and "pip install llvmlite" in result.stderr


@compiles
@pytest.mark.usefixtures("automatic")
def test_the_compiler_is_loaded_when_that_was_lost_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "loading", 0.1)
    assert tiers.patience(0.0) == 0.0  # without a price: it is compiled at once
    assert tiers.patience(0.03) == pytest.approx(0.07)  # of one plan
    assert tiers.patience(0.05) == pytest.approx(0.02)  # of another
    assert tiers.patience(0.06) == 0.0 == tiers.patience(0.01)
    monkeypatch.setattr(tiers, "loading", 0.1)
    ad.jit(lambda x: x + 1)(np.ones(3))  # is compiled for good, and loads it
    assert tiers.loading == 0.0


def test_a_short_program_of_small_arrays_loads_no_compiler() -> None:
    program = (
        "import sys, adjoint as ad\n"
        "x = ad.ones((4, 4))\n"
        "for k in range(60): (ad.sin(x * (1.5 + k)) @ x).sum().item()\n"
        "print(any(name in sys.modules for name in ('llvmlite', 'adjoint.execution.native')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, "ADJOINT_BACKEND": "auto"}
    )
    assert done.stdout.strip() == "False", done.stderr
