"""Small words that most tests use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import plot


def double(values: Any) -> ad.Tensor:
    """A float64 tensor, untracked."""
    return ad.tensor(values, dtype="float64")


def equal(actual: Any, expected: Any, tolerance: float = 1e-6) -> None:
    """Same shape and nearly the same values; ``None`` is no gradient."""
    assert actual is not None
    found = actual.numpy() if isinstance(actual, ad.Tensor) else np.asarray(actual)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, tolerance, 1e-12)


def some(values: Iterable[Any], every: int) -> list[Any]:
    """Parameters of a test: every so many of the values, and the others under `slow`. Tuples are several parameters.

    Of a product take a number that has no factor in common with the lengths of its last lists: then every value of each list
    stays, with others of the other lists.
    """
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)), marks=[pytest.mark.slow] if number % every else []
        )
        for number, value in enumerate(values)
    ]


def in_threads(work: Callable[[int], object], count: int) -> None:
    """Call `work` with each number below `count`, each in a thread of its own, all at the same time."""
    threads = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures take long, and another test looks at them."""
    for name in (
        "losses", "rates", "predictions", "confusion_matrix", "decision_boundary", "gallery", "text", "attention", "embedding",
    ):  # fmt: skip
        monkeypatch.setattr(plot, name, lambda *unused, **ignored: None)
