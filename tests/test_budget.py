"""What compiling may cost where programs keep coming that differ in extents alone."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint.execution import budget as budgets
from adjoint.execution.budget import FEW, Budget
from adjoint.execution.native.program import Native
from adjoint.execution.tiers import tiers

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
    assert FEW <= sum(kinds) <= 2 * FEW + 1 and kinds[0] and not kinds[-1]
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
