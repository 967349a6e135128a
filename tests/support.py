"""Small words that most tests use."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad


def double(values: Any) -> ad.Tensor:
    """A float64 tensor, untracked."""
    return ad.tensor(values, dtype="float64")


def equal(actual: Any, expected: Any, tolerance: float = 1e-6) -> None:
    """Same shape and nearly the same values; ``None`` is no gradient."""
    assert actual is not None
    found = actual.numpy() if isinstance(actual, ad.Tensor) else np.asarray(actual)
    assert found.shape == np.shape(expected)
    np.testing.assert_allclose(found, expected, tolerance, 1e-12)
