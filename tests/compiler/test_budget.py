"""What compiling may cost where programs keep coming that differ in extents alone."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint.execution import budget as budgets
from adjoint.execution import prices
from adjoint.execution.budget import FEW, TO_FIND_OUT, Budget
from adjoint.execution.native import kindred
from adjoint.execution.native.program import Native
from adjoint.execution.remembered import PlanCache
from adjoint.execution.tiers import tiers

evaluation = importlib.import_module("adjoint.execution.evaluate")
SIDE = 600  # squares of this side are large enough to be compiled when they come back


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The programs that were run, in order."""
    before, tiers.backend = tiers.backend, "auto"
    monkeypatch.setattr(importlib.import_module("adjoint.execution.tiers"), "budget", Budget())
    evaluation = importlib.import_module("adjoint.execution.evaluate")
    original: Callable[..., Any] = evaluation.run
    found: list[Any] = []

    def run(plan: Any, *rest: Any) -> Any:
        results = original(plan, *rest)
        found.append(plan.program)
        return results

    monkeypatch.setattr(evaluation, "run", run)
    yield found
    tiers.backend = before


def computed(n: int, f: Callable[[ad.Tensor], ad.Tensor]) -> np.ndarray:
    x = ad.tensor(np.linspace(-1, 1, SIDE * n).reshape(SIDE, n))
    return (f(x * 1.5) + x.max(axis=1, keepdims=True)).numpy()


def test_relatives_that_dont_come_back_are_not_compiled_one_by_one(programs: list[Any]) -> None:
    lengths = range(SIDE, SIDE + 4 * FEW)
    with pytest.warns(RuntimeWarning, match=r"nothing but extents.*test_budget\.py") as said:
        for _ in range(2):
            found = [computed(n, ad.sin) for n in lengths]
    assert len(said) == 1
    kinds = [isinstance(program, Native) for program in programs]
    assert FEW <= sum(kinds) <= 2 * (FEW + TO_FIND_OUT) and kinds[0] and not kinds[-1]
    x = np.linspace(-1, 1, SIDE * lengths[-1]).reshape(SIDE, -1)
    np.testing.assert_allclose(found[-1], np.sin(x * 1.5) + x.max(axis=1, keepdims=True), 1e-12)


def test_relatives_that_come_back_are_compiled(programs: list[Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(SIDE, SIDE + 4 * FEW):
            for _ in range(5):
                computed(n, ad.cos)
    assert all(isinstance(program, Native) for program in programs)


def test_what_is_compiled_in_vain_is_compiled_once_as_much_was_lost() -> None:
    made, program = Budget(), type("Program", (), {})()
    for _ in range(FEW):
        assert made.price("a", (None, 0), 0.0) == 0.0
        made.note("a", 0.5, program)
    with pytest.warns(RuntimeWarning, match="8 programs"):
        assert made.price("a", (None, 0), 0.0) == 0.5
    assert made.price("b", (None, 0), 0.0) == 0.0 and made.price("a", (None, 0), np.inf) == np.inf
    program.runs[0] += 10 * budgets.PAYS
    assert made.price("a", (None, 0), 0.0) == 0.0


def test_what_follows_from_relatives_is_made_at_first_sight() -> None:
    """A program is compiled to find out whether others follow from it; then they do, as long as that is cheaper than NumPy."""
    made = Budget()
    programs = [(False, False), (True, True), (True, False)]
    plain, patterned, stamped = (type("Program", (), {"stamped": a, "patterned": b})() for a, b in programs)
    for _ in range(FEW - 1):
        made.spend("a", 0.1)
    assert not made.at_first_sight("a", 1.0) and not made.at_first_sight("b", 0.0)
    made.spend("a", 0.1)  # a few have come, and so more are likely
    assert not made.at_first_sight("a", 0.81 * budgets.EARLY)
    assert made.at_first_sight("a", 0.79 * budgets.EARLY) and made.price("a", (None, 0), 5.0) == 0.0
    made.note("a", 0.5, plain)
    assert made.price("a", (None, 0), 5.0) == 5.0
    assert made.at_first_sight("a", 0.1) and not made.at_first_sight("a", 0.1)  # twice, if nothing follows
    made.note("a", 0.9, patterned)
    assert made.price("a", (None, 0), 5.0) == 0.0
    for _ in range(budgets.TO_FIND_OUT, budgets.TO_MEASURE):
        assert made.at_first_sight("a", 0.1)
        made.note("a", 0.11 * budgets.COMES_BACK, stamped)
    assert not made.at_first_sight("a", 0.1)  # NumPy takes 0.1
    made.note("a", 0.06 * budgets.COMES_BACK, stamped, planned=True)
    assert not made.at_first_sight("a", 0.1)
    made.note("a", 0.09 * budgets.COMES_BACK, stamped)
    assert made.at_first_sight("a", 0.1)


def test_what_numpy_took_lately_decides_at_first_sight() -> None:
    """A sequence that grows takes ever longer."""
    made, program = Budget(), type("Program", (), {"stamped": True, "patterned": False})()
    for _ in range(100):
        made.spend("a", 0.001)
    for _ in range(budgets.TO_MEASURE):
        assert made.at_first_sight("a", 0.0)
        made.note("a", 0.1, program)
    assert not made.at_first_sight("a", 0.0)
    for _ in range(2 * budgets.RECENT):
        made.spend("a", 0.1)
    assert made.at_first_sight("a", 0.0)


def test_relatives_of_a_growing_cache_are_stamped(programs: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """At second sight none of them goes through the compiler's stages, and nobody is told that they are too many."""
    module = importlib.import_module("adjoint.execution.tiers")
    monkeypatch.setattr(module, "SECONDS", 0.0)  # whatever NumPy has taken at first sight, compiling is worth it
    monkeypatch.setattr(module, "SECONDS_PER_STEP", 0.0)
    x, weights = np.linspace(-1, 1, 64 * 64).reshape(64, 64), [np.eye(64) * k for k in range(1, 5)]

    def step(n: int) -> np.ndarray:
        keys = ad.tensor(np.linspace(-1, 1, n * 64).reshape(n, 64))
        h = ad.tensor(x)
        for w in weights:
            h = ad.tanh(h @ ad.tensor(w)) + ad.softmax(h @ keys.mT, -1) @ keys
        return h.numpy()

    lengths = range(100, 100 + 3 * FEW)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = [step(n) for n in lengths]
        for n, expected in zip(lengths, first, strict=True):
            np.testing.assert_allclose(step(n), expected, 1e-12, 1e-12)
    natives = [program for program in programs if isinstance(program, Native)]
    assert any([one is not None and one.known for one in kindred._known])  # nor had they plans of their own
    assert len(natives) > 2 * FEW and sum([program.stamped for program in natives]) >= len(natives) - 2


@pytest.fixture
def fresh_prices(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Prices of a process that has compiled nothing, with an empty cache."""
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(prices, "_known", set())
    monkeypatch.setattr(prices, "_correction", [1.0])
    monkeypatch.setattr(importlib.import_module("adjoint.execution.tiers"), "prices", prices)
    return prices


def test_a_price_goes_by_kinds_and_what_is_known_of_them(fresh_prices: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x = ad.tensor(np.ones((3, 4)))

    def kinds(layers: int, n: int = 4) -> Any:
        h = ad.tensor(np.ones((3, n)))
        for _ in range(layers):
            h = ad.tanh(h) * 2.5 + ad.exp(-h)
        return prices.kinds_of(evaluation.described([h.sum().node])[1])

    few = kinds(1)
    assert few == kinds(9) == kinds(1, 70) and len(few) >= 4  # equal layers and other extents share code
    assert few != prices.kinds_of(evaluation.described([ad.sin(x).sum().node])[1])
    nodes = [ad.sin(x).node, ad.sin(x * 2).node, x.node]
    assert len(prices.kinds_of_nodes(nodes)) == 1
    before = prices.seconds(few, 10)
    assert prices.seconds(few, 1000) > before and not prices.paid(few)
    prices.note(few, 10, before)
    assert prices.seconds(few, 10) < before and not prices.paid(few)
    monkeypatch.setattr(prices, "_known", set())  # another process
    assert prices.paid(few) and not prices.paid(few | {("sin", "float64", (2,))})


def test_what_compiling_took_corrects_prices(fresh_prices: Any) -> None:
    few, others = {("exp", "float32", (1,))}, {("sin", "float32", (1,))}
    before = prices.seconds(others, 1)
    for _ in range(20):
        prices.note(few, 1, 2 * prices.NEW)
    assert before < prices.seconds(others, 1) <= prices.MOST_CORRECTED * before * 1.001
    for _ in range(20):
        prices.note(few, 1, 1e-6)
    assert before > prices.seconds(others, 1) >= before / prices.MOST_CORRECTED / 1.001


@pytest.mark.parametrize("known", ["nothing", "nothing, but it is cheap", "by this process", "by an earlier one"])
def test_what_is_large_is_compiled_once_a_part_of_its_price_was_lost(
    known: str, programs: list[Any], fresh_prices: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prices, "NEW", 0.01 if known == "nothing, but it is cheap" else 1e6)
    monkeypatch.setattr(prices, "KNOWN", 1e-9)
    monkeypatch.setattr(prices, "STEP", 0.0)
    monkeypatch.setattr(importlib.import_module("adjoint.execution.tiers"), "SECONDS", 1e6)  # nothing is tried
    monkeypatch.setattr(tiers, "loading", 0.0)
    monkeypatch.setattr(tiers, "at_once", 0.5)
    monkeypatch.setattr(evaluation, "_cache", PlanCache(1 << 28))
    monkeypatch.setattr(evaluation, "_seen", {})
    x = ad.tensor(np.ones((SIDE, SIDE)))

    def turn() -> Any:
        y = ad.tanh(x * 2.0) + 1.0
        found = prices.kinds_of(evaluation.described([y.node])[1])
        y.numpy()
        return found

    found = turn()
    if known == "by this process":
        prices._known.update(found)
    elif known == "by an earlier one":
        prices._entries().store(prices._entry(found), b"known")
    for _ in range(3):
        turn()
    assert [isinstance(program, Native) for program in programs] == [known != "nothing"] * 3


def test_half_a_second_of_compiling_waits_for_nothing(
    programs: list[Any], fresh_prices: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is huge is compiled at first sight as long as its price is left of that; what it took is taken off."""
    monkeypatch.setattr(tiers, "loading", 0.0)
    monkeypatch.setattr(tiers, "at_once", 0.5)
    monkeypatch.setattr(prices, "NEW", 0.1)
    monkeypatch.setattr(evaluation, "_cache", PlanCache(1 << 28))
    monkeypatch.setattr(evaluation, "_seen", {})
    x = ad.tensor(np.ones((2048, 2048)))
    (ad.tanh(x * 2.0) + 1.0).numpy()
    assert [isinstance(program, Native) for program in programs] == [True]
    assert 0.0 < tiers.at_once < 0.5
    monkeypatch.setattr(tiers, "at_once", 0.1)
    (ad.cos(x - 2.0) / 3.0).numpy()
    assert not any(isinstance(program, Native) for program in programs[1:])
    assert tiers.at_once == 0.1
