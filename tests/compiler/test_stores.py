"""What is read of an array that a compiled function fills part by part is what was written there, to the bit."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.execution import replay
from adjoint.execution.tiers import tiers
from adjoint.graph import Node, topological


@pytest.fixture(autouse=True)
def interpreted() -> Iterator[None]:
    before, tiers.backend = tiers.backend, "numpy"
    yield
    tiers.backend = before


def compiled(f: Callable[..., Any], given: list[ad.Tensor], forwards: bool) -> tuple[list[bytes], int]:
    """What a compiled function gives, and how many versions of arrays it makes."""
    versions = [0]
    plain = replay.forwarded

    def counted(roots: Any) -> list[Node] | None:
        found = plain(roots) if forwards else None
        versions[0] += sum([x.op.name == "update_slice" for x in topological(found or roots)])
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay, "forwarded", counted)
        out = ad.jit(lambda *given: f(*given))(*given)
    return [x.numpy().tobytes() for x in ad.tree.flatten(out)[0]], versions[0]


def versions(f: Callable[..., Any], *given: np.ndarray) -> int:
    """How many versions of arrays are left. The results' bits are those of the program as it was recorded."""
    tensors = [ad.tensor(x) for x in given]
    found, left = compiled(f, tensors, True)
    expected, recorded = compiled(f, tensors, False)
    assert found == expected and left <= recorded
    return left


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def row_by_row(x: Any, w: Any) -> Any:
    y = ad.zeros((20, 3), dtype="float64")
    for t in range(1, 20):
        y[t] = ad.tanh(y[t - 1] * w[0] + x[t])
    return (y * y).sum()


def element_by_element(x: Any, w: Any) -> Any:
    y = x * 1.5
    for i in range(1, 6):
        for k in range(3):
            y[i, k] = ad.sin(y[i - 1, k]) * w[k] + y[i, k - 1]
    return (y**2 * x).sum()


def column_by_column(x: Any, w: Any) -> Any:
    y = ad.zeros((3, 20), dtype="float64")
    for t in range(2, 20):
        y[:, t] = y[:, t - 1] - 0.3 * y[:, t - 2] + x[t] * w
    return (y * y).sum()


def of_numbers(x: Any, w: Any) -> Any:
    y = ad.zeros(20, dtype="float64")
    for t in range(20):
        y[t] = ad.exp(-(x[t, 0] ** 2)) * w[1] + (y[t - 1] if t else 0.5)
    return (y[::2] ** 2).sum() + y[-1]


def added_to(x: Any, w: Any) -> Any:
    y = ad.zeros(7, dtype="float64")
    for t in range(20):
        y[t % 7] += x[t, 1] * w[2]
        y[t % 5] = y[t % 5] * 0.9 + y[(t + 1) % 7]
    return (y * y).sum()


@pytest.mark.parametrize("f", [row_by_row, element_by_element, column_by_column, of_numbers, added_to])
def test_arrays_filled_part_by_part(f: Callable[..., Any]) -> None:
    x, w = numbers(20, 3), numbers(3, seed=1)
    assert compiled(f, [ad.tensor(x), ad.tensor(w)], False)[1] >= 15
    assert versions(f, x, w) == 0
    assert versions(ad.value_and_grad(f, argnums=(0, 1)), x, w) == 0
    slope = ad.grad(f)
    assert versions(ad.value_and_grad(lambda x, w: (slope(x, w) ** 2).sum(), argnums=(0, 1)), x, w) == 0


def test_backward_inside() -> None:
    def f(x: Any, w: Any) -> Any:
        row_by_row(x, w).backward()
        return x.grad, w.grad

    x, w = ad.variable(numbers(20, 3)), ad.variable(numbers(3, seed=1))
    found = [y.numpy() for y in ad.jit(f)(x, w)]
    x.grad = w.grad = None
    for a, b in zip(found, f(x, w), strict=True):
        np.testing.assert_array_equal(a, b.numpy())


def test_what_is_read_as_a_whole_on_the_way() -> None:
    def f(x: Any, w: Any) -> Any:
        y = ad.zeros((16, 3), dtype="float64")
        for t in range(16):
            y[t] = x[t] + y.sum() * w[0]
        return (y * y).sum()

    assert versions(ad.value_and_grad(f, argnums=(0, 1)), numbers(16, 3), numbers(3, seed=1)) > 0


def test_signs_of_zeros() -> None:
    def f(x: Any) -> Any:
        y = x * 1.0
        for t in range(12):
            y[t] = -y[t]
        y[3] += x[0]
        return y, 1.0 / y

    versions(f, np.zeros(14))
    versions(f, -np.zeros(14))


def random_program(seed: int) -> tuple[Callable[..., Any], list[np.ndarray]]:
    draw = random.Random(seed)
    n, m = draw.choice([14, 20]), draw.choice([1, 3])
    kind = draw.choice(["rows", "elements", "columns", "mixed", "two rows"])
    draws = [(draw.random(), draw.random(), draw.randrange(n), draw.randrange(m)) for _ in range(n)]
    begins_empty = draw.random() < 0.6

    def f(x: Any, w: Any) -> Any:
        y = ad.zeros((n, m), dtype="float64") if begins_empty else x * 1.5
        for i, (p, q, at, k) in enumerate(draws):
            j = i if p < 0.8 else at
            if kind == "rows" or (kind == "mixed" and p < 0.5):
                y[j] = ad.tanh(y[j - 1] + x[i]) * w[0]
            elif kind == "elements":
                y[j, k] = ad.sin(y[j - 1, k] + x[i, k])
            elif kind == "columns":
                y[:, k] = y[:, (k + 1) % m] * 0.9 + x[:, k] * w[1]
            else:
                y[j : j + 2] = y[j : j + 2] * 0.5 + w[2]
            if q < 0.08:
                y = y * 1.1
            elif q < 0.16:
                y[j] += w[1]
            elif q < 0.22:
                y[0] = (y * 1.0)[j] * 2
        return (y * y * w[1]).sum() + y[2].sum() * w[0] + y[-1, 0]

    return f, [numbers(n, m, seed=seed), numbers(3, seed=seed)]


def test_random_programs() -> None:
    for seed in range(12):
        f, given = random_program(seed)
        versions(ad.value_and_grad(f, argnums=(0, 1)), *given)
        slope = ad.grad(f)
        versions(ad.value_and_grad(lambda x, w, slope=slope: (slope(x, w) ** 2).sum(), argnums=(0, 1)), *given)


@pytest.mark.slow
def test_many_random_programs() -> None:
    for seed in range(12, 400):
        f, given = random_program(seed)
        versions(ad.value_and_grad(f, argnums=(0, 1)), *given)
