"""Compiled functions that call host code: by the short way as well, whole or not at all, each host call once."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.tensors.named import wrap

N = 50_000  # elements: results of so many come back to the next call where nobody holds them
Host = Callable[..., Any]


def on_host(f: Host, *args: Any, shape: Any = (N,)) -> Any:
    return ad.host_call(f, *args, shape=shape, dtype="float64")


def leaves(tree: Any) -> list[Any]:
    return tree if isinstance(tree, list) else [tree]


def numbers(k: int) -> np.ndarray:
    return np.random.default_rng(k).normal(size=N)


# Programs with host steps first, last and in between; whose results are host code's, views of these, or both.
PROGRAMS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "between": (
        lambda x, w: on_host(np.sin, x * 2) * w,
        lambda x, w: np.sin(x * 2) * w,
    ),
    "first": (lambda x, w: on_host(np.sin, x) * w, lambda x, w: np.sin(x) * w),
    "last": (lambda x, w: on_host(np.sin, x * w), lambda x, w: np.sin(x * w)),
    "alone": (lambda x, w: on_host(np.sin, x), lambda x, w: np.sin(x)),
    "two": (
        lambda x, w: on_host(np.cos, on_host(np.sin, x * 2, shape=(N,)) * w) + x,
        lambda x, w: np.cos(np.sin(x * 2) * w) + x,
    ),
    "views": (
        lambda x, w: [(y := on_host(np.sin, x * w))[:3], y[100:].reshape(2, -1), y.sum()],
        lambda x, w: [np.sin(x * w)[:3], np.sin(x * w)[100:].reshape(2, -1), np.sin(x * w).sum()],
    ),
    "a result that host code reads": (
        lambda x, w: [(y := x * w), on_host(np.sin, y), on_host(np.cos, y) + 1],
        lambda x, w: [x * w, np.sin(x * w), np.cos(x * w) + 1],
    ),
    "an argument": (lambda x, w: [on_host(lambda x: x, x), x * w], lambda x, w: [x, x * w]),
    "a constant": (
        lambda x, w: on_host(np.multiply, np.arange(N) * 1.0, x * 2) * w,
        lambda x, w: np.arange(N) * x * 2 * w,
    ),
    "a number": (lambda x, w: on_host(np.multiply, 0.5, x, shape=(N,)) * w, lambda x, w: 0.5 * x * w),
    "without arguments": (lambda x, w: on_host(lambda: np.ones(N)) * x, lambda x, w: x),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("kind", ["tensors", "arrays"])
def test_values_of_every_call(name: str, kind: str) -> None:
    program, expected = PROGRAMS[name]
    w = ad.tensor(numbers(0))
    f = ad.jit(lambda x: program(x, w))
    kept = []
    for k in range(6):
        x = numbers(k)
        given = ad.tensor(x) if kind == "tensors" else x.copy()
        out = f(given)
        if kind == "arrays":
            given[:] = np.nan  # the caller's memory
        kept.append((leaves(out), leaves(expected(x, numbers(0)))))
    assert f._way is not None or name == "alone", "host steps take the short way, too"
    for found, wanted in kept:  # all of them: no call writes over what an earlier one gave
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a.numpy(), b, 1e-12, 1e-9)


def training(host: Host) -> tuple[Any, Any]:
    """A step that passes its gradient through host code and updates a large parameter where it lies."""
    w = ad.variable(np.ones(N))

    @ad.jit
    def step(x: Any) -> Any:
        loss = (w * x).sum()
        loss.backward()
        w.data = w.data - 0.5 * on_host(host, w.grad)
        w.grad = None
        return loss

    return w, step


def test_a_call_that_host_code_ends_changes_nothing() -> None:
    calls: list[int] = []

    def host(g: np.ndarray) -> np.ndarray:
        calls.append(1)
        if len(calls) > 5:
            raise KeyError("enough")
        return g * 1

    w, step = training(host)
    x = np.ones(N)
    for k in range(5):
        step(x)
        assert w.numpy()[0] == 1 - 0.5 * (k + 1)
    for _ in range(2):
        before = w.numpy().copy()
        with pytest.raises(KeyError, match="enough"):
            step(x)
        np.testing.assert_array_equal(w.numpy(), before)
        assert w.grad is None
    calls[:] = []
    step(x)
    assert w.numpy()[0] == -2


def test_what_host_code_gets_hold_of_is_not_written_over() -> None:
    """The parameter's own array, which the update may only take when nobody else has it."""
    held: list[Any] = []

    def host(g: np.ndarray) -> np.ndarray:
        held.append(wrap(w.node).numpy())
        return g * 1

    w, step = training(host)
    for _ in range(5):
        step(np.ones(N))
    assert [x[0] for x in held] == [1, 0.5, 0, -0.5, -1]


def test_what_host_code_keeps_of_its_arguments_stays() -> None:
    kept: list[np.ndarray] = []

    def keep(x: np.ndarray) -> np.ndarray:
        kept.append(x)
        return x + 0

    f = ad.jit(lambda x: on_host(keep, ad.exp(ad.sin(x) * 2)) * 3)
    for k in range(5):
        f(ad.tensor(np.full(N, float(k)))).numpy()
    assert [x[0] for x in kept] == pytest.approx(np.exp(np.sin(np.arange(5.0)) * 2))


def test_host_code_that_calls_the_function_itself() -> None:
    depth: list[int] = []

    def host(x: np.ndarray) -> np.ndarray:
        if len(depth) < 2:
            depth.append(1)
            inner = f(ad.tensor(x * 0.5)).numpy()
            depth.pop()
            return inner
        return x * 1

    f = ad.jit(lambda x: on_host(host, x * 2) + 1)
    for k in range(4):
        x = numbers(k)
        np.testing.assert_allclose(f(ad.tensor(x)).numpy(), 2 * x + 3, 1e-12)


def test_an_index_that_fails_behind_host_code_says_so_and_repeats_nothing_outside() -> None:
    calls: list[float] = []

    def host(x: np.ndarray) -> np.ndarray:
        calls.append(float(x))
        return np.array(x * 2, np.int64)

    table = ad.tensor(np.arange(10.0))

    @ad.jit
    def f(x: Any) -> Any:
        return table[ad.host_call(host, x, shape=(), dtype="int64")] * 2

    for k in range(4):
        assert f(ad.tensor(float(k))).item() == 4 * k
    with pytest.raises(IndexError, match=r"out of bounds.*test_jit_hosts.py"):
        f(ad.tensor(7.0)).numpy()
    assert f(ad.tensor(2.0)).item() == 8


def test_an_error_of_host_code_shows_where_it_was_raised_and_is_not_provoked_again() -> None:
    calls: list[int] = []

    def host(x: np.ndarray) -> np.ndarray:
        calls.append(1)
        if x[0] > 2:
            raise ValueError("too much")
        return x * 1

    f = ad.jit(lambda x: on_host(host, x * 2) * 3)
    for k in (0, 0, 0, 1):
        f(ad.full(N, float(k), dtype="float64")).numpy()
    with pytest.raises(ValueError, match=r"too much \(.*test_jit_hosts.py:\d+\)") as caught:
        f(ad.full(N, 4.0, dtype="float64")).numpy()
    assert "in host" in "".join(traceback.format_exception(caught.value))
    assert len(calls) == 5


def test_single_constants_keep_their_shape_in_host_steps() -> None:
    """A loop's first carry may be one number that is the same in every call: it has no axes, however often it is called."""

    unit = ad.tensor(np.eye(8))

    def total(q: ad.Tensor, rows: ad.Tensor) -> ad.Tensor:
        def step(carry: tuple[ad.Tensor, ad.Tensor], y: ad.Tensor) -> tuple[tuple[ad.Tensor, ad.Tensor], tuple[()]]:
            x, found = carry
            return (ad.linalg.solve(unit * q, x) + y, found + (x @ y) * q), ()

        (_, found), _ = ad.scan(step, (ad.zeros(8, dtype="float64"), ad.tensor(0.0, dtype="float64")), rows)
        return found

    f = ad.jit(ad.value_and_grad(total))
    q, rows = ad.tensor(1.0, dtype="float64"), ad.tensor(np.ones((200, 8)))
    assert {np.shape(f(q, rows)[0].numpy()) for _ in range(6)} == {()}
