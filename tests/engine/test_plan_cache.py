"""What is remembered of evaluated graphs stays within so many bytes."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import adjoint as ad
from adjoint.execution.remembered import PlanCache
from adjoint.execution.tiers import tiers

evaluation = importlib.import_module("adjoint.execution.evaluate")


@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_many_lengths_are_remembered_within_a_limit(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if tiers.backend != "auto":
        pytest.skip("the whole suite runs with one backend")
    monkeypatch.setattr(tiers, "backend", backend)
    cache = PlanCache(3_000_000 if backend == "numpy" else 500_000)
    monkeypatch.setattr(evaluation, "_cache", cache)
    for length in range(10, 1500, 50):
        for _ in range(2):
            x = ad.tensor(np.linspace(0, 1, length))
            y = (ad.sin(x) * 2 + ad.exp(x)).sum()
            np.testing.assert_allclose(y.item(), (np.sin(x.numpy()) * 2 + np.exp(x.numpy())).sum(), 1e-12)
        plans = [plan for graph in cache.graphs.values() for plan in graph.plans.values()]
        assert cache.nbytes == sum([plan.remembered for plan in plans]) <= cache.limit or len(plans) == 1
        assert plans[-1].remembered == plans[-1].nbytes > 3 * 8 * length * (backend == "numpy")
    assert 1 < len(plans) < 30 or backend == "numpy"


def test_a_program_that_owns_much_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = PlanCache(1 << 28)
    monkeypatch.setattr(evaluation, "_cache", cache)
    monkeypatch.setattr(tiers, "backend", "numpy")
    x = ad.tensor(np.ones(4000))
    for _ in range(3):
        y = x
        for k in range(50):
            y = ad.sin(y) + ad.exp(y) * k
        y.numpy()
    (plan,) = [plan for graph in cache.graphs.values() for plan in graph.plans.values()]
    assert cache.nbytes == plan.nbytes > plan.program.nbytes >= 3 * 8 * 4000
