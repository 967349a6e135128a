"""Loops over bodies of large arrays: native code goes from step to step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.execution.native import inner, stepping
from adjoint.execution.native.sweeps import pieces_of
from adjoint.execution.tiers import tiers


@pytest.fixture(autouse=True)
def native() -> Iterator[None]:
    """Everything compiled when first seen."""
    before, tiers.backend = tiers.backend, "native"
    yield
    tiers.backend = before


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps native code went at a time, or goes within a program that was made."""
    found: list[int] = []
    run, frame = stepping.Stepper.run, inner.LoopPart.frame

    def noted(self: stepping.Stepper, *arguments: Any) -> Any:
        result = run(self, *arguments)
        found.append(-1 if result is None else len(arguments[-1]))
        return result

    def made(self: inner.LoopPart, length: int, reverse: bool) -> Any:
        found.append(length)
        return frame(self, length, reverse)

    monkeypatch.setattr(stepping.Stepper, "run", noted)
    monkeypatch.setattr(inner.LoopPart, "frame", made)
    return found


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def cell(w: Any, h: Any, x: Any) -> tuple[Any, Any]:
    new = ad.tanh(h @ w + x)
    return new, new * x


def by_hand(w: Any, h: Any, xs: Any, reverse: bool = False) -> tuple[Any, Any]:
    ys = []
    for t in range(len(xs))[:: -1 if reverse else 1]:
        h, y = cell(w, h, xs[t])
        ys.append(y)
    return h, ad.stack(ys[::-1] if reverse else ys)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_wide_scan_is_the_loop_by_hand(reverse: bool, runs: list[int]) -> None:
    w, h, xs = normal(24, 24) * 0.2, normal(16, 24, seed=1), normal(9, 16, 24, seed=2)

    def said(w: Any, h: Any, xs: Any) -> Any:
        last, ys = ad.scan(lambda h, x: cell(w, h, x), h, xs, reverse=reverse)
        return (last * last).sum() + (ys * ys).sum()

    def plain(w: Any, h: Any, xs: Any) -> Any:
        last, ys = by_hand(w, h, xs, reverse)
        return (last * last).sum() + (ys * ys).sum()

    given = [ad.tensor(x) for x in (w, h, xs)]
    found, expected = (ad.value_and_grad(f, (0, 1, 2))(*given) for f in (said, plain))
    np.testing.assert_allclose(found[0].item(), expected[0].item(), 1e-12)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-9, 1e-12)
    assert max(runs) >= 7 and -1 not in runs


def test_steps_have_the_bits_of_steps_by_themselves(runs: list[int]) -> None:
    w, h, xs = ad.tensor(normal(24, 24) * 0.2), ad.tensor(normal(16, 24, seed=1)), ad.tensor(normal(9, 16, 24, seed=2))
    last, ys = ad.scan(lambda h, x: cell(w, h, x), h, xs)
    one, state = [], h
    for t in range(9):
        state, y = ad.scan(lambda h, x: cell(w, h, x), state, xs[t : t + 1])
        one.append(y[0])
    assert np.array_equal(last.numpy(), state.numpy())
    assert np.array_equal(ys.numpy(), np.stack([y.numpy() for y in one]))
    assert runs


def test_what_a_body_passes_on(runs: list[int]) -> None:
    """Carries that change places or stay, results that are a slice, a carry, or one of each other."""
    a, b, c = (ad.tensor(normal(20, 20, seed=k)) for k in range(3))
    xs = ad.tensor(normal(7, 20, 20, seed=3))

    def body(carry: Any, x: Any) -> Any:
        a, b, c = carry
        new = a * 0.5 + x
        return (b, new, c), (new, x, a, new)

    last, ys = ad.scan(body, (a, b, c), xs)
    p, q, kept = a.numpy(), b.numpy(), []
    for x in xs.numpy():
        new = p * 0.5 + x
        kept.append((new, x, p, new))
        p, q = q, new
    for found, expected in zip(last, (p, q, c.numpy()), strict=True):
        np.testing.assert_allclose(found.numpy(), expected, 1e-14)
    for k, y in enumerate(ys):
        np.testing.assert_allclose(y.numpy(), np.stack([row[k] for row in kept]), 1e-14)
    assert runs


def test_results_that_are_views(runs: list[int]) -> None:
    """Carries and what is stacked as transposes, reshapes, slices and repetitions of what the body computes, or is given."""
    a, b, xs = ad.tensor(normal(20, 30) * 0.2), ad.tensor(normal(30, 20, seed=1)), ad.tensor(normal(7, 30, 20, seed=2))
    given = normal(20, 10, seed=3)

    def body(carry: Any, x: Any) -> Any:
        a, b, row = carry
        new = ad.tanh(a @ b + 0.1)  # (20, 20)
        wide = ad.concat([new, row], 1)  # (20, 30)
        ys = x.T, new.reshape(400), new[:, 2], new[1:5, ::2], ad.broadcast_to(new[0], (2, 20))
        return (wide, wide.T, row * 0.5), ys

    last, ys = ad.scan(body, (a, b, ad.tensor(given)), xs)
    ad.evaluate([*last, *ys])
    p, q, row, kept = a.numpy(), b.numpy(), given, []
    for x in xs.numpy():
        new = np.tanh(p @ q + 0.1)
        kept.append((x.T, new.reshape(400), new[:, 2], new[1:5, ::2], np.broadcast_to(new[0], (2, 20))))
        p = np.concatenate([new, row], 1)
        q, row = p.T, row * 0.5
    for found, expected in zip(last, (p, q, row), strict=True):
        np.testing.assert_allclose(found.numpy(), expected, 1e-12)
    for k, y in enumerate(ys):
        np.testing.assert_allclose(y.numpy(), np.stack([values[k] for values in kept]), 1e-12)
    assert runs == [7]


def test_what_is_given_keeps_its_values(runs: list[int]) -> None:
    h, xs = normal(16, 24), normal(8, 16, 24, seed=1)
    given, slices = ad.tensor(h), ad.tensor(xs)
    ad.scan(lambda h, x: (h * 0.5 + x, h), given, slices)[0].numpy()
    assert np.array_equal(given.numpy(), h) and np.array_equal(slices.numpy(), xs)
    assert runs


def test_an_index_out_of_bounds_is_told(runs: list[int]) -> None:
    table = ad.tensor(normal(5, 300))
    places = ad.tensor([0, 1, 2, 3, 4, 7, 0, 1])
    total = ad.scan(lambda h, i: (h + table[i], None), ad.zeros(300, dtype="float64"), places)[0]
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        total.numpy()
    good = ad.scan(lambda h, i: (h + table[i], None), ad.zeros(300, dtype="float64"), places % 5)[0]
    np.testing.assert_allclose(good.numpy(), table.numpy()[places.numpy() % 5].sum(axis=0), 1e-12)


def test_a_loop_within_its_own_body(runs: list[int]) -> None:
    """The same body at two depths: the outer loop's steps run one by one, the inner one's natively."""
    w = ad.tensor(normal(20, 20) * 0.1)

    def inner(h: Any) -> Any:
        return ad.scan(lambda h, _: (ad.tanh(h @ w), None), h, length=6)[0]

    h = ad.tensor(normal(20, 20, seed=1))
    found = ad.scan(lambda h, _: (inner(h), None), h, length=6)[0]
    expected = h.numpy()
    for _ in range(36):
        expected = np.tanh(expected @ w.numpy())
    np.testing.assert_allclose(found.numpy(), expected, 1e-12)
    assert runs


def test_memory_of_few_carries(runs: list[int]) -> None:
    w, h = normal(20, 20) * 0.2, normal(16, 20, seed=1)
    xs = normal(40, 16, 20, seed=2)

    def loss(memory: int | None) -> Any:
        def f(w: Any, h: Any, xs: Any) -> Any:
            return (ad.scan(lambda h, x: (ad.tanh(h @ w + x), None), h, xs, memory=memory)[0] ** 2).sum()

        return ad.grad(f, (0, 1, 2))(ad.tensor(w), ad.tensor(h), ad.tensor(xs))

    for one, other in zip(loss(4), loss(None), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-9, 1e-12)
    assert runs


def test_a_loop_that_starts_from_a_literal() -> None:
    """A step with several results whose inputs are all known numbers."""
    found = ad.while_loop(lambda x: x < 2.0, lambda x: x * 2.0, 1.0)
    assert found.item() == 2.0


# ---- sweeps: reverse passes within little memory -----------------------------------------------------------------------


def pendulum(a: Any, carry: Any, x: Any) -> tuple[Any, Any]:
    angle, speed = carry
    new = angle + 0.01 * speed, speed - 0.01 * (a[0] * ad.sin(angle) + a[1] * speed + x)
    return new, new[0] * x


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("length", "memory"), [(7, 3), (40, 12), (300, 34), (300, 40), (1000, 40), (500, 2)])
def test_a_scan_within_few_carries(length: int, memory: int, reverse: bool) -> None:
    given = [ad.tensor(np.array([9.81, 0.1])), ad.tensor(1.0, dtype="float64"), ad.tensor(normal(length) * 0.1)]

    def gradients(memory: int | None) -> list[Any]:
        def loss(a: Any, start: Any, xs: Any) -> Any:
            (angle, speed), ys = ad.scan(
                lambda c, x: pendulum(a, c, x), (start, 0 * start), xs, reverse=reverse, memory=memory
            )
            return angle * speed + (ys * ys).sum()

        return [x.numpy() for x in ad.grad(loss, (0, 1, 2))(*given)]

    for one, other in zip(gradients(memory), gradients(None), strict=True):
        np.testing.assert_allclose(one, other, 1e-10, 1e-13)


@pytest.mark.parametrize(("length", "memory"), [(0, 3), (1, 1), (50, 9), (777, 30), (2000, 64), (900, 3)])
def test_a_while_loop_within_few_carries(length: int, memory: int) -> None:
    def gradient(memory: int | None) -> tuple[Any, Any]:
        def end(a: Any) -> Any:
            def body(c: Any) -> Any:
                return *pendulum(a, c[:2], 0.0)[0], c[2] + 1

            return ad.while_loop(lambda c: c[2] < length, body, (1.0 + 0 * a[0], 0 * a[0], 0), memory=memory)[0]

        (g,) = ad.grad(end, (0,))(ad.tensor(np.array([9.81, 0.1])))
        twice = ad.grad(lambda a: ad.grad(end)(a)[0])(ad.tensor(np.array([9.81, 0.1])))
        return g.numpy(), twice.numpy()

    for one, other in zip(gradient(memory), gradient(None), strict=True):
        np.testing.assert_allclose(one, other, 1e-10, 1e-13)


def test_slices_in_another_order_in_memory() -> None:
    """What is stacked in the reverse pass lies in C order, whatever the slices do."""
    xs = normal(3, 400).T
    tiers.backend = "auto"

    def loss(xs: Any, memory: int | None) -> Any:
        xs = xs.mT
        return (
            ad.scan(lambda c, x: (c * 0.5 + x * x, None), ad.zeros(3, dtype="float64"), xs, memory=memory)[0] ** 2
        ).sum()

    found, expected = (ad.grad(loss)(ad.tensor(xs.T), m).numpy() for m in (20, None))
    np.testing.assert_allclose(found, expected, 1e-12)


@pytest.mark.parametrize("slots", range(2, 40))
def test_pieces_fit_into_their_slots(slots: int) -> None:
    for count in (1, 2, 5, 30, 100, 390, 400, 2000):
        piece = pieces_of(count, slots)
        if piece is not None:
            assert piece >= 1 and piece + -(-count // piece) <= slots
        else:
            assert (slots // 2) * (slots - slots // 2) < count or count + 1 > slots


def test_carries_written_in_place_are_as_if_they_were_not(runs: list[int]) -> None:
    """Some carries may be written over what they are made of; some are read elsewhere in the same step, or change places."""
    x, y, z = (normal(40, 33, seed=k) for k in range(3))

    def step(carry: Any, _: Any) -> Any:
        x, y, z, kept, first, second = carry
        moved = ad.concat([y[1:], y[:1]]) * 0.5
        return (x * 0.9 + y, moved + z[::-1], z + 0.1 * x.sum(axis=0), z + 0.1, second, first * 1.5), kept + x

    def by_hand(*carry: Any) -> Any:
        ys = []
        for _ in range(9):
            carry, y = step(carry, None)
            ys.append(y)
        return carry, ad.stack(ys)

    given = tuple(map(ad.tensor, (x, y, z, x, y, z)))
    found, stacked = ad.jit(lambda *carry: ad.scan(step, carry, None, length=9))(*given)
    expected, expected_stacked = by_hand(*given)
    assert runs
    for a, b in zip((*found, stacked), (*expected, expected_stacked), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-12)


def test_a_constant_number_that_a_loop_carries_keeps_its_shape() -> None:
    @ad.jit
    def f(x: Any) -> Any:
        start = x, ad.tensor(np.int64(2))
        (x, i), _ = ad.scan(lambda c, _: ((c[0] * 0.5, c[1] * 3 + 1), None), start, None, length=3)
        return x.sum(), i

    for _ in range(3):
        _, i = f(ad.tensor(np.ones(3)))
        assert i.numpy().shape == ()
        assert i.item() == 67
