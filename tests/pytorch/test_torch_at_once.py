"""What is computed at once, of few elements of data, is what is recorded otherwise; and no recipe keeps it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint.torch as torch
import adjoint.torch.nn.functional as F
from adjoint.torch import _now, _random

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 5)).astype(np.float32)
AT = RNG.integers(0, 4, (3, 5))
ROWS = np.array([2, -1, 0, 2])
SRC = RNG.standard_normal((3, 6)).astype(np.float32)

READS: dict[str, Any] = {
    "rows": (lambda x: x[torch.tensor(ROWS)], lambda: X[ROWS]),
    "places": (lambda x: x[torch.tensor(ROWS), torch.tensor([0, 1, 2, -5])], lambda: X[ROWS, [0, 1, 2, -5]]),
    "two axes": (lambda x: x[torch.tensor(AT)], lambda: X[AT]),
    "mask": (lambda x: x[torch.tensor(X > 0)], lambda: X[X > 0]),
    "mask of rows": (lambda x: x[torch.tensor(X[:, 0] > 0)], lambda: X[X[:, 0] > 0]),
    "gather": (lambda x: torch.gather(x, 0, torch.tensor(AT)), lambda: np.take_along_axis(X, AT, 0)),
    "gather of a part": (
        lambda x: x.gather(-1, torch.tensor(AT[:, :2])),
        lambda: np.take_along_axis(X[:3], AT[:, :2], 1),
    ),
    "index_select": (lambda x: x.index_select(1, torch.tensor([4, 0])), lambda: X[:, [4, 0]]),
    "take": (lambda x: torch.take(x, torch.tensor([[7, 0], [19, 3]])), lambda: X.ravel()[[[7, 0], [19, 3]]]),
}


def written(value: Any) -> Any:
    out = X.copy()
    for i in range(3):
        for j in range(5):
            out[AT[i, j], j] = value if np.ndim(value) == 0 else value[i, j]
    return out


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("tracked", [False, True])
def test_elements_are_read_as_numpy_reads_them(name: str, tracked: bool) -> None:
    ours, numpys = READS[name]
    found = ours(torch.tensor(X, requires_grad=tracked))
    assert tracked or found.node.value is not None
    np.testing.assert_array_equal(found.detach().numpy(), numpys())


@pytest.mark.parametrize("value", [SRC, 2.5])
@pytest.mark.parametrize("tracked", [False, True])
def test_the_last_of_what_is_put_at_a_position_stays(value: Any, tracked: bool) -> None:
    x = torch.tensor(X, requires_grad=tracked)
    found = x.scatter(0, torch.tensor(AT), value if isinstance(value, float) else torch.tensor(value))
    assert tracked or found.node.value is not None
    np.testing.assert_array_equal(found.detach().numpy(), written(value))
    np.testing.assert_array_equal(x.detach().numpy(), X)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: x[torch.tensor([4])], IndexError),
        (lambda x: x[torch.tensor([0]), torch.tensor([-6])], IndexError),
        (lambda x: x[torch.tensor([True, False])], IndexError),
        (lambda x: torch.gather(x, 0, torch.tensor([[4]])), RuntimeError),
        (lambda x: torch.gather(x, 0, torch.tensor([[-1]])), RuntimeError),
        (lambda x: torch.gather(x, 2, torch.tensor([[0]])), IndexError),
        (lambda x: torch.gather(x, 0, torch.zeros((1, 6), dtype=torch.int64)), RuntimeError),
        (lambda x: x.index_select(0, torch.tensor([-1])), IndexError),
        (lambda x: x.scatter(0, torch.tensor([[4]]), 1.0), RuntimeError),
        (lambda x: x.scatter(0, torch.tensor([[0, 0, 0]]), torch.tensor([[1.0]])), RuntimeError),
        (lambda x: x.scatter_reduce(0, torch.tensor([[0, 0, 0]]), torch.tensor([[1.0]]), "sum"), RuntimeError),
    ],
)
def test_positions_outside_raise(call: Any, error: type[Exception]) -> None:
    for tracked in (False, True):
        with pytest.raises(error):
            call(torch.tensor(X, requires_grad=tracked))


def draws() -> list[Any]:
    torch.manual_seed(3)
    x = torch.tensor(np.linspace(0, 1, 77, dtype=np.float32))
    drawn = [
        torch.randint(0, 100, (13,)), torch.randint(-5, 2**40, (4, 5)), torch.randint(3, (0,)), torch.randperm(9000),
        torch.bernoulli(x), torch.normal(x, x + 1), torch.empty(33).uniform_(-2, 5), torch.rand(5), torch.randn(7),
    ]  # fmt: skip
    return [y.numpy() for y in drawn]


def test_draws_are_those_that_are_recorded(monkeypatch: Any) -> None:
    found = draws()
    monkeypatch.setattr(_random, "_at_once", lambda: False)
    for now, later in zip(found, draws(), strict=True):
        assert now.dtype == later.dtype
        np.testing.assert_allclose(now, later, rtol=1e-6)


@pytest.mark.parametrize("rows", [(), (3,)])
def test_multinomial_draws_as_often_as_the_weights_say(rows: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    weights = torch.tensor([0.0, 1.0, 3.0]).expand(*rows, 3)
    found = torch.multinomial(weights, 200, replacement=True).numpy()
    assert found.shape == (*rows, 200) and not (found == 0).any()
    assert abs((found == 2).mean() - 0.75) < 0.1
    for wrong in ([1.0, -1.0], [0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]):
        with pytest.raises(RuntimeError):
            torch.multinomial(torch.tensor(wrong), 1, replacement=True)


def test_a_recipe_holds_nothing_that_was_computed_of_data() -> None:
    weight = torch.tensor(RNG.standard_normal((2, 3, 3)).astype(np.float32))
    for _ in range(6):  # it indexes its second operand
        x, y = (torch.tensor(RNG.standard_normal((4, 3)).astype(np.float32)) for _ in range(2))
        before = _now.times[0]
        found = F.bilinear(x, y, weight).numpy()
        assert _now.times[0] > before
        expected = np.einsum("na,oab,nb->no", x.numpy(), weight.numpy(), y.numpy())
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


PAIRS: dict[str, Any] = {
    "max": lambda x: torch.max(x, 1),
    "min": lambda x: torch.min(x, -1, keepdim=True),
    "sort": lambda x: torch.sort(x, 0, descending=True),
    "topk": lambda x: torch.topk(x, 2),
    "kthvalue": lambda x: torch.kthvalue(x, 2, 0),
    "median": lambda x: torch.median(x, 1),
    "nanmedian": lambda x: torch.nanmedian(x, 0, keepdim=True),
    "cummax": lambda x: torch.cummax(x, 1),
    "cummin": lambda x: torch.cummin(x, 0),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("tracked", [False, True])
def test_values_and_positions_of_every_call_are_its_own(name: str, tracked: bool) -> None:
    kinds = set()
    for seed in range(70):  # the first, those from its recipe, and those by the function written of that
        a = np.random.default_rng(seed).standard_normal((4, 5)).astype(np.float32)
        x = torch.tensor(a, requires_grad=tracked)
        found = PAIRS[name](x)
        values, places = found
        kinds.add((type(found), values.node.op, values.requires_grad, places.requires_grad, values.shape))
        axis = 1 if name in ("max", "min", "topk", "median", "cummax") else 0
        at = places.numpy() if places.ndim == 2 else np.expand_dims(places.numpy(), axis)
        taken = np.take_along_axis(a, at, axis).reshape(tuple(values.shape))
        np.testing.assert_array_equal(values.detach().numpy(), taken)
        if tracked and seed % 23 == 0:
            values.sum().backward()
            counted = np.zeros_like(a)
            for index in np.ndindex(at.shape):
                counted[(at[index], index[1]) if axis == 0 else (index[0], at[index])] += 1
            np.testing.assert_array_equal(x.grad.numpy(), counted)
    assert len(kinds) == 1 and next(iter(kinds))[2:4] == (tracked, False)


def test_equal_words_stay_in_order() -> None:
    words = np.array([3, 1, 3, 1, 2, 1] * 20, np.uint64)
    np.testing.assert_array_equal(_random._order_of(words), words.argsort(kind="stable"))
