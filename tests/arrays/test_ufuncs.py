"""Universal functions on tensors: `reduce` and `accumulate` of those that aren't sums, and `dtype=`, as NumPy has it."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from support import double

X = np.array([[-1.5, 2.5, 3.0], [0.5, 0.0, -4.0]])
I = np.array([[5, 2, 1], [7, 3, 2]])
KEPT = np.array([[True, False, True], [False, True, True]])
FOLDED = [
    np.subtract, np.divide, np.hypot, np.arctan2, np.fmod, np.left_shift, np.bitwise_and, np.bitwise_xor, np.logical_xor,
    np.power, np.float_power, np.floor_divide, np.remainder, np.greater, np.copysign, np.equal,
]  # fmt: skip


def outcome(call: Any) -> Any:
    with np.errstate(all="ignore"):
        try:
            return np.asarray(call())
        except (TypeError, ValueError) as error:
            return error


@pytest.mark.parametrize("ufunc", FOLDED, ids=lambda u: u.__name__)
def test_what_is_combined_from_the_first_on(ufunc: Any) -> None:
    """where= was replaced by the initial value, which came last."""
    keywords: list[dict[str, Any]] = [
        {}, {"axis": 1}, {"initial": 3}, {"where": KEPT}, {"where": KEPT, "initial": 3},
        {"where": KEPT, "initial": 3, "axis": 1}, {"keepdims": True, "where": KEPT[:1], "initial": 2},
        {"axis": -1, "where": False},
    ]  # fmt: skip
    for x in (X, I, X[:1], I[:, :1], I[:0], X[:0]):
        for given in keywords:
            if np.shape(given.get("where", True)) and x.shape != X.shape:
                continue
            found, expected = (outcome(functools.partial(ufunc.reduce, a, **given)) for a in (ad.tensor(x), x))
            same(found, expected, f"{ufunc.__name__}.reduce {x.shape} {given}")
        found, expected = (outcome(functools.partial(ufunc.accumulate, a)) for a in (ad.tensor(x), x))
        same(found, expected, f"{ufunc.__name__}.accumulate {x.shape}")


def same(found: Any, expected: Any, said: str) -> None:
    if isinstance(expected, Exception):
        assert isinstance(found, Exception), f"{said}: {found}"
    else:
        assert not isinstance(found, Exception), f"{said}: {found!r}"
        assert found.shape == expected.shape and found.dtype.kind == expected.dtype.kind, said
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=said)


def test_the_derivative_of_what_is_combined() -> None:
    x = ad.variable(X, dtype="float64")
    (g,) = ad.gradients(np.subtract.reduce(x, where=KEPT, initial=3.0).sum(), [x])
    np.testing.assert_array_equal(g.numpy(), -1.0 * KEPT)


def test_a_dtype_is_that_of_the_loop() -> None:
    """It cast the inputs of comparisons, and whatever NumPy's casting refuses."""
    x = double(X)
    np.testing.assert_array_equal(np.isnan(double([np.nan, 1.0]), dtype=bool).numpy(), [True, False])
    np.testing.assert_array_equal(np.greater(x, 1.0, dtype=bool).numpy(), X > 1.0)
    np.testing.assert_array_equal(
        np.add(x, x, dtype=int, casting="unsafe").numpy(), np.add(X, X, dtype=int, casting="unsafe")
    )
    assert (
        np.add(x, 1.5, dtype="float32").dtype == "float32" and np.sin(ad.tensor(I), dtype="float64").dtype == "float64"
    )
    for call, text in (
        (lambda: np.add(x, x, dtype=int), "isn't cast"), (lambda: np.sin(ad.tensor(I), dtype="int64"), "gives float32"),
        (lambda: np.add(x * 1j, x, dtype="float64"), "isn't cast"),
        (lambda: np.add(x, x, dtype="float32", casting="safe"), "isn't cast"),
        (lambda: np.matmul(x, x.T, axes=[(0, 1), (0, 1), (0, 1)]), "axes="),
        (lambda: np.add(x, x, signature="ff->f"), "signature="),
        (lambda: np.ldexp(x, x), "integers"),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=rf"{text}.*test_ufuncs\.py:\d+"):
            call()
