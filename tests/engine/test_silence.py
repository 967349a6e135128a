"""Plans run without a word of NumPy's, and know when an operation was invalid, whichever way NumPy is told."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.execution import silence


@pytest.fixture(autouse=True, params=["variable", "errstate"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "errstate":
        monkeypatch.setattr(silence, "_settings", None)
    else:
        assert silence._settings is not None


def bad(*values: float) -> Any:
    return np.divide(np.array(values), np.zeros(len(values)))


def test_nothing_is_said_and_all_is_as_before() -> None:
    with np.errstate(all="raise"):
        before = np.geterr()
        assert np.isnan(silence.quietly(bad, 0.0)).all()
        found, invalid = silence.listening(bad, 0.0)
        assert np.isnan(found).all() and invalid
        found, invalid = silence.listening(bad, 1.0)  # divides by zero, which isn't invalid
        assert np.isinf(found).all() and not invalid
        assert silence.listening(np.exp, np.array([1000.0, -1000.0]))[1] is False
        assert np.geterr() == before
        with pytest.raises(FloatingPointError):
            bad(0.0)


def test_each_hears_of_its_own() -> None:
    """One inside of another, one in another thread, and one that an exception ends."""

    def outer() -> bool:
        assert silence.listening(bad, 0.0)[1]
        done: list[bool] = []
        thread = threading.Thread(target=lambda: done.append(silence.listening(bad, 0.0)[1]))
        thread.start()
        thread.join()
        with pytest.raises(ZeroDivisionError):
            silence.listening(lambda: bad(0.0) + 1 / 0)
        return done[0]

    assert silence.listening(outer) == (True, False)
    with np.errstate(all="raise"):
        with pytest.raises(ZeroDivisionError):
            silence.quietly(lambda: 1 / 0)
        assert set(np.geterr().values()) == {"raise"}


@pytest.mark.parametrize("size", [1, 2, 16, 17, 100])
@pytest.mark.parametrize("at", [0, -1])
def test_zero_times_infinity_is_zero_in_the_chain_rule(size: int, at: int) -> None:
    """Whether the results are added up by Python or by NumPy; the structure is interpreted, and planned."""
    values = np.linspace(1.0, 2.0, size)
    values[at] = 0.0
    for _ in range(4):
        x = ad.variable(values)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (slope,) = ad.gradients(ad.where(x > 0, ad.log(x), 0.0).sum(), [x])
            expected = np.where(values > 0, 1 / np.where(values > 0, values, 1.0), 0.0)
            np.testing.assert_allclose(slope.numpy(), expected, rtol=1e-6)


def test_a_numpy_without_such_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np._core.umath, "_extobj_contextvar", None)  # type: ignore[attr-defined]
    assert silence._described() is None
    monkeypatch.undo()
    monkeypatch.setattr(np._core.umath, "_make_extobj", lambda **_: None)  # type: ignore[attr-defined]
    before = np.geterr()
    assert silence._described() is None and np.geterr() == before
    monkeypatch.undo()
    assert silence._described() is not None
