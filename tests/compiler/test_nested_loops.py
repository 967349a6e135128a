"""Branches and loops inside loops over small things, which are compiled into them: values and derivatives, what isn't chosen,
loops that take long, dtypes."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.compiler.loops.build import literal
from adjoint.control import running
from adjoint.execution.tiers import tiers
from adjoint.machine import within

STEPS = 40


@pytest.fixture
def step_by_step(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps Python does, loop by loop, of those that it is asked for."""
    done: list[int] = []
    original = running._step_by_step

    def counted(*given: Any) -> Any:
        results = original(*given)
        done.append(results[1])
        return results

    monkeypatch.setattr(running, "_step_by_step", counted)
    monkeypatch.setattr(tiers, "backend", "native")
    return done


def central(f: Callable[[np.ndarray], float], x: np.ndarray, h: float = 1e-6) -> np.ndarray:
    """Central differences of a function of NumPy."""
    found = np.empty_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        found[i] = (f(up) - f(down)) / (2 * h)
    return found


def check(loss: Callable[[Any], Any], by_hand: Callable[[np.ndarray], float], x: np.ndarray) -> None:
    """Value, gradient, tangent and curvature of a compiled function, beside NumPy's value and its differences."""
    given = ad.tensor(x)
    value, slope = ad.jit(ad.value_and_grad(loss))(given)
    np.testing.assert_allclose(value.item(), by_hand(x), 1e-12)
    expected = central(by_hand, x)
    np.testing.assert_allclose(slope.numpy(), expected, 1e-6, 1e-6)
    v = np.cos(np.arange(x.size, dtype=float)).reshape(x.shape)
    tangent = ad.jit(lambda x: ad.jvp(loss, (x,), (ad.tensor(v),))[1])(given)
    np.testing.assert_allclose(tangent.item(), np.sum(expected * v), 1e-6, 1e-6)
    second = ad.jit(ad.grad(lambda x: ad.sum(ad.grad(loss)(x) * ad.tensor(v))))(given)
    gradient = ad.jit(ad.grad(loss))
    curved = central(lambda y: float(np.sum(gradient(ad.tensor(y)).numpy() * v)), x)
    np.testing.assert_allclose(second.numpy(), curved, 1e-5, 1e-5)


def test_a_branch_in_a_loop(step_by_step: list[int]) -> None:
    def loss(x: Any) -> Any:
        def step(c: Any, t: Any) -> Any:
            c = ad.cond(ad.sum(c) > 0.3 * t, lambda c: 0.9 * c - 0.1 * ad.sin(c), lambda c: c + 0.1 * ad.cos(c) * x, c)
            return c, c[0]

        final, firsts = ad.scan(step, x, ad.arange(STEPS, dtype="float64") % 3)
        return ad.sum(final) + ad.sum(firsts**2)

    def by_hand(x: np.ndarray) -> float:
        c, total = x, 0.0
        for t in range(STEPS):
            c = 0.9 * c - 0.1 * np.sin(c) if c.sum() > 0.3 * (t % 3) else c + 0.1 * np.cos(c) * x
            total += c[0] ** 2
        return float(c.sum() + total)

    check(loss, by_hand, np.array([0.5, -0.2, 0.31]))
    assert not step_by_step


def test_a_sine_and_a_cosine_of_one_number_share_their_work(step_by_step: list[int]) -> None:
    """Where both are computed, and not where one is in a branch."""

    @ad.jit
    def final(c: Any) -> Any:
        def step(c: Any, t: Any) -> Any:
            d = ad.cond(t > 0.5, lambda c: ad.cos(c), lambda c: 0.5 * c, c)
            return 0.5 * ad.sin(c) + 0.25 * ad.cos(c) + 0.1 * d, None

        return ad.scan(step, c, ad.arange(STEPS, dtype="float64") % 2)[0]

    c = 0.7
    found = final(ad.tensor(c, dtype="float64")).item()
    for t in range(STEPS):
        c = 0.5 * np.sin(c) + 0.25 * np.cos(c) + 0.1 * (np.cos(c) if t % 2 else 0.5 * c)
    assert found == pytest.approx(c, 1e-12)
    assert not step_by_step
    text = ad.execution.explain(final, stage="llvm")
    assert text.count(literal(2 / np.pi, "float64")) == 2  # reductions of an angle: in the branch, and behind it


def test_a_choice_of_several_by_the_step(step_by_step: list[int]) -> None:
    """Indices beyond the branches choose the first or the last."""

    def loss(x: Any) -> Any:
        branches = [lambda c: 0.9 * c + 0.1, ad.tanh, lambda c: c - 0.1 * c * x]
        return ad.sum(ad.fori_loop(0, STEPS, lambda i, c: ad.switch(i % 5 - 1, branches, c), x))

    def by_hand(x: np.ndarray) -> float:
        c = x
        for i in range(STEPS):
            k = min(max(i % 5 - 1, 0), 2)
            c = 0.9 * c + 0.1 if k == 0 else np.tanh(c) if k == 1 else c - 0.1 * c * x
        return float(c.sum())

    check(loss, by_hand, np.array([0.4, -0.7]))
    assert not step_by_step


@pytest.mark.parametrize("memory", [None, 3])
def test_a_loop_that_ends_by_itself_in_a_loop(step_by_step: list[int], memory: int | None) -> None:
    """Newton's square root, each time as many turns as it takes, between none and many."""

    def loss(x: Any) -> Any:
        def step(c: Any, t: Any) -> Any:
            wanted = c * c + 1.0 + t
            options = {} if memory is None else {"memory": memory}
            root = ad.while_loop(lambda r: ad.max(ad.abs(r * r - wanted)) > 1e-12, lambda r: 0.5 * (r + wanted / r),
                                 ad.where(t > 2.0, ad.sqrt(wanted), wanted), **options)  # fmt: skip
            return c + 0.01 * root, None

        return ad.sum(ad.scan(step, x, ad.arange(STEPS, dtype="float64") % 4)[0])

    def by_hand(x: np.ndarray) -> float:
        c = x
        for t in range(STEPS):
            c = c + 0.01 * np.sqrt(c * c + 1.0 + t % 4)
        return float(c.sum())

    given = ad.tensor(np.array([0.4, -0.7]))
    value, slope = ad.jit(ad.value_and_grad(loss))(given)
    np.testing.assert_allclose(value.item(), by_hand(given.numpy()), 1e-10)
    # of the steps where the loop takes no turn the derivative is that of its beginning, the root
    np.testing.assert_allclose(slope.numpy(), central(by_hand, given.numpy()), 1e-6)
    assert not step_by_step


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [4, 150])
def test_a_scan_in_a_loop(step_by_step: list[int], reverse: bool, length: int) -> None:
    """A short one with slices and stacks; a long one without."""

    def loss(x: Any) -> Any:
        def inner(a: Any, part: Any) -> Any:
            a = ad.sin(a + x[0]) + (0.0 if part is None else part)
            return a, a * a

        def step(c: Any, _: Any) -> Any:
            if length > 100:
                return 0.5 * ad.scan(lambda a, _: (inner(a, None)[0], None), c, None, length=length)[0], None
            a, squares = ad.scan(inner, c[0], ad.stack([c[1], c[0], c[1], x[1]]), reverse=reverse)
            return ad.stack([0.3 * a, 0.1 * squares[1] - 0.2 * squares[3]]), None

        return ad.sum(ad.scan(step, x, None, length=STEPS)[0])

    def by_hand(x: np.ndarray) -> float:
        c = x
        for _ in range(STEPS):
            if length > 100:
                for _ in range(length):
                    c = np.sin(c + x[0])
                c = 0.5 * c
                continue
            a, squares = c[0], [0.0] * 4
            parts = [c[1], c[0], c[1], x[1]]
            for k in reversed(range(4)) if reverse else range(4):
                a = np.sin(a + x[0]) + parts[k]
                squares[k] = a * a
            c = np.array([0.3 * a, 0.1 * squares[1] - 0.2 * squares[3]])
        return float(c.sum())

    check(loss, by_hand, np.array([0.4, -0.7]))


def test_what_is_not_chosen_poisons_nothing(step_by_step: list[int]) -> None:
    """Roots of negative numbers, quotients by zero and loops without end in the other branch."""

    def step(c: Any, t: Any) -> Any:
        def dangerous(c: Any) -> Any:
            endless = ad.while_loop(lambda r: r < 0.5, lambda r: r * 0.5, ad.abs(c) * 0.1)
            return ad.sqrt(c - 10.0) / t + ad.log(-c * c) + endless

        return ad.cond(t < 0.0, dangerous, lambda c: c * 0.9 + t, c), None

    f = ad.jit(ad.value_and_grad(lambda x: ad.scan(step, x, ad.zeros(STEPS, dtype="float64"))[0]))
    value, slope = f(ad.tensor(1.0, dtype="float64"))
    np.testing.assert_allclose([value.item(), slope.item()], [0.9**STEPS] * 2, 1e-13)
    assert not step_by_step


@pytest.mark.parametrize(("limit", "most"), [("MOST_TURNS", 5), ("MOST_REMEMBERED", 4)])
def test_loops_that_take_too_long_are_done_by_python(
    step_by_step: list[int], monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(within, limit, most)
    name = "sin" if limit == "MOST_TURNS" else "tanh"  # bodies that are equal are compiled once

    def loss(x: Any) -> Any:
        def step(c: Any, t: Any) -> Any:
            count, c = ad.while_loop(
                lambda s: s[0] < t, lambda s: (s[0] + 1, s[1] + 0.01 * most * getattr(ad, name)(s[1])), (0, c)
            )
            return c * 0.99, count

        c, counts = ad.scan(step, x, ad.arange(STEPS) % 9)
        return c + ad.sum(counts)

    def by_hand(x: np.ndarray) -> float:
        c, counts = float(x), 0
        for t in range(STEPS):
            for _ in range(t % 9):
                c = c + 0.01 * most * getattr(np, name)(c)
            counts += t % 9
            c *= 0.99
        return c + counts

    x = np.array(0.7)
    value, slope = ad.jit(ad.value_and_grad(loss))(ad.tensor(x))
    np.testing.assert_allclose(value.item(), by_hand(x), 1e-12)
    np.testing.assert_allclose(slope.item(), central(by_hand, x), 1e-6)
    assert sum(step_by_step) == sum([t % 9 >= most for t in range(STEPS)])


def test_a_condition_after_a_loop_that_took_too_long(step_by_step: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop around ends by itself, too: whether it does is asked again."""
    monkeypatch.setattr(within, "MOST_TURNS", 7)

    def outer(x: Any) -> Any:
        def step(s: Any) -> Any:
            i, c = s
            return i + 1, ad.while_loop(lambda r: r > 1.0, lambda r: r * 0.8, c) + 1.0 * i

        return ad.while_loop(lambda s: s[0] < 12, step, (0, x))

    count, found = ad.jit(outer)(ad.tensor(2.0, dtype="float64"))
    c = 2.0
    for i in range(12):
        while c > 1.0:
            c *= 0.8
        c += 1.0 * i
    assert count.item() == 12
    np.testing.assert_allclose(found.item(), c, 1e-13)
    assert sum(step_by_step) > 2


def test_carries_of_other_dtypes(step_by_step: list[int]) -> None:
    def step(s: Any, t: Any) -> Any:
        up, count, c = s
        up, c = ad.cond(up, lambda c: (c < 20, c + t), lambda c: (c < -5, c - 3), c)
        count = ad.while_loop(lambda n: n * n < c, lambda n: n + 1, ad.astype(count % 3, "int32"))
        return (up, count, c), (up, count)

    start = (ad.tensor(True), ad.tensor(0, dtype="int32"), ad.tensor(1, dtype="int64"))
    (_, _, c), (ups, counts) = ad.jit(lambda *s: ad.scan(step, s, ad.arange(STEPS)))(*start)
    up, count, value = True, 0, 1
    for t in range(STEPS):
        up, value = (value < 20, value + t) if up else (value < -5, value - 3)
        count %= 3
        while count * count < value:
            count += 1
        assert (bool(ups[t].item()), int(counts[t].item())) == (up, count)
    assert c.item() == value
    assert not step_by_step


def test_each_example_of_a_batch_goes_its_own_way() -> None:
    def f(x: Any) -> Any:
        def step(c: Any, t: Any) -> Any:
            c = ad.while_loop(lambda r: r > 1.0, lambda r: r * 0.7, c)
            return ad.cond(c > 0.8, lambda c: c * 1.5, lambda c: c + x, c), None

        return ad.scan(step, x, None, length=STEPS)[0]

    points = ad.tensor([0.3, 2.0, 0.9, 0.05], dtype="float64")
    both = ad.value_and_grad(f)
    values, slopes = ad.jit(ad.vmap(both))(points)
    for x, value, slope in zip(points, values, slopes, strict=True):
        np.testing.assert_allclose([value.item(), slope.item()], [y.item() for y in ad.jit(both)(x)], 1e-12)


class Enough(Exception):
    """Raised by the alarm."""


def test_a_loop_without_end_is_interrupted() -> None:
    def step(c: Any, _: Any) -> Any:
        return ad.while_loop(lambda r: r < 1.0, lambda r: r * 0.5, c), None

    def ring(*_: Any) -> None:
        raise Enough

    f = ad.jit(lambda x: ad.scan(step, x, None, length=STEPS)[0])
    f(ad.tensor(2.0)).item()  # ends at once, and is compiled
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Enough):
            f(ad.tensor(0.5)).item()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert f(ad.tensor(3.0)).item() == 3.0


# Branches of larger arrays ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(300,), (20, 30)])
def test_a_branch_of_larger_arrays(step_by_step: list[int], shape: tuple[int, ...]) -> None:
    """A loop whose body has little branches runs natively once that is compiled, its reverse pass as well."""

    def loss(x: Any) -> Any:
        def step(c: Any, t: Any) -> Any:
            branches = [
                lambda c, t: 0.9 * c,
                lambda c, t: c - 0.1 * ad.sin(c) + t * ad.mean(c),
                lambda c, t: c[::-1] + 0.01,
            ]
            c = ad.switch(t, branches, c, t)
            return ad.cond(
                ad.sum(c) > 5.0, lambda c: (c * 0.5, c.sum()), lambda c: (c, ad.tensor(1.0, dtype="float64")), c
            )

        final, sums = ad.scan(step, x, ad.arange(STEPS) % 5 - 1)
        return ad.sum(final * x) + ad.sum(ad.sin(sums))

    def by_hand(x: np.ndarray) -> float:
        c, total = x, 0.0
        for t in np.arange(STEPS) % 5 - 1:
            c = 0.9 * c if t <= 0 else c - 0.1 * np.sin(c) + t * np.mean(c) if t == 1 else c[::-1] + 0.01
            total += np.sin(c.sum()) if c.sum() > 5.0 else np.sin(1.0)
            c = 0.5 * c if c.sum() > 5.0 else c
        return float((c * x).sum() + total)

    x = np.random.default_rng(0).normal(size=shape)
    v = np.random.default_rng(1).normal(size=shape)
    f = ad.jit(ad.value_and_grad(loss))
    for _ in range(3):
        value, slope = f(ad.tensor(x))
        np.testing.assert_allclose(value.item(), by_hand(x), 1e-11)
        difference = (by_hand(x + 1e-6 * v) - by_hand(x - 1e-6 * v)) / 2e-6
        np.testing.assert_allclose(np.sum(slope.numpy() * v), difference, 1e-6, 1e-6)
    assert sum(step_by_step) <= 8


def test_what_is_not_chosen_shows_nowhere() -> None:
    x = ad.tensor(np.array([-1.0, 0.0, 2.0]))
    k = ad.tensor(0)

    def f(x: Any, k: Any) -> Any:
        return ad.switch(k, [lambda x: x * 2.0, lambda x: ad.log(x) / x, lambda x: ad.sqrt(x) * np.inf], x)

    both = ad.jit(lambda x, k: (f(x, k), ad.grad(lambda x: f(x, k).sum())(x)))
    with np.errstate(all="raise"):
        for _ in range(3):
            value, slope = both(x, k)
            np.testing.assert_array_equal(value.numpy(), [-2.0, 0.0, 4.0])
            np.testing.assert_array_equal(slope.numpy(), [2.0, 2.0, 2.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(both(x, ad.tensor(7))[0].numpy(), np.sqrt([-1.0, 0.0, 2.0]) * np.inf)
        np.testing.assert_array_equal(both(x, ad.tensor(-3))[0].numpy(), [-2.0, 0.0, 4.0])


def test_what_may_fail_or_takes_long_stays_a_branch() -> None:
    rows, matrix = ad.tensor(np.arange(12.0).reshape(4, 3)), ad.tensor(np.zeros((3, 3)))

    def f(i: Any, flag: Any) -> Any:
        return ad.cond(flag, lambda: ad.linalg.solve(matrix, rows[i]).sum(), lambda: rows.sum())

    fast = ad.jit(f)
    for _ in range(3):
        assert fast(ad.tensor(99), ad.tensor(False)).item() == 66.0


# Loops that end by themselves over larger arrays ---------------------------------------------------------------------------


def solved(matrix: Any, b: Any) -> Any:
    """A system by conjugate gradients, and how many steps they take."""

    def step(s: Any) -> Any:
        n, x, r, p, size = s
        q = matrix @ p
        a = size / (p @ q)
        r = r - a * q
        return n + 1, x + a * p, r, r @ r / size * p + r, r @ r

    start = (0, 0.0 * b, b, b, b @ b)
    return ad.while_loop(lambda s: s[4] > 1e-24, step, start)[:2]


def test_a_loop_over_larger_arrays_ends_by_itself(step_by_step: list[int]) -> None:
    random = np.random.default_rng(0)
    m = random.normal(size=(40, 40))
    matrix = m @ m.T / 40 + np.eye(40)
    weights = random.normal(size=40)
    both = ad.jit(lambda a, b: (solved(a, b)[0], *ad.value_and_grad(lambda b: solved(a, b)[1] @ ad.tensor(weights))(b)))
    for seed in (1, 2, 3, 4):
        b = np.random.default_rng(seed).normal(size=40) if seed < 4 else np.zeros(40)  # the last takes no step
        count, value, slope = both(ad.tensor(matrix), ad.tensor(b))
        np.testing.assert_allclose(value.item(), weights @ np.linalg.solve(matrix, b), 1e-9, 1e-9)
        assert (count.item() == 0) == (seed == 4) and count.item() < 40
        if seed < 4:
            np.testing.assert_allclose(slope.numpy(), np.linalg.solve(matrix, weights), 1e-6)
    assert sum(step_by_step) <= 12  # before the programs were compiled


def test_a_step_beyond_the_end_that_fails_is_not_noticed(step_by_step: list[int]) -> None:
    """Native code computes a step beside the condition: one that reads out of bounds is refused only if it is done."""
    table = np.random.default_rng(0).normal(size=(9, 300))

    def total(most: Any, table: Any) -> Any:
        step = lambda s: (s[0] + 1, s[1] + table[s[0]])  # noqa: E731
        return ad.while_loop(lambda s: s[0] < most, step, (0, ad.zeros(300, dtype="float64")))

    f = ad.jit(total)
    for most in (9, 9, 4, 0):
        count, found = f(ad.tensor(most), ad.tensor(table))
        assert count.item() == most
        np.testing.assert_allclose(found.numpy(), table[:most].sum(axis=0), 1e-12, 1e-12)
    with pytest.raises(IndexError):
        f(ad.tensor(10), ad.tensor(table))[1].numpy()
    assert f(ad.tensor(9), ad.tensor(table))[0].item() == 9


def test_a_carry_that_is_the_condition() -> None:
    def f(x: Any) -> Any:
        step = lambda s: (ad.sum(s[1]) < 100.0, s[1] * 1.5 + 0.1, s[0])  # noqa: E731
        return ad.while_loop(lambda s: s[0], step, (ad.tensor(True), x, ad.tensor(False)))

    x = np.linspace(0.0, 1.0, 300)
    going, expected, before = True, x, False
    while going:
        going, expected, before = bool(expected.sum() < 100.0), expected * 1.5 + 0.1, going
    compiled = ad.jit(f)
    for _ in range(4):
        found = compiled(ad.tensor(x))
        assert (bool(found[0].item()), bool(found[2].item())) == (going, before)
        np.testing.assert_allclose(found[1].numpy(), expected, 1e-13)


def test_a_loop_over_larger_arrays_without_end_is_interrupted(step_by_step: list[int]) -> None:
    def ring(*_: Any) -> None:
        raise Enough

    f = ad.jit(lambda x: ad.while_loop(lambda c: ad.sum(c) < 1e6, lambda c: c * 0.5, x))
    f(ad.tensor(np.full(500, 1e9))).numpy()
    before = signal.signal(signal.SIGALRM, ring)
    try:
        for _ in range(2):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Enough):
                f(ad.tensor(np.ones(500))).numpy()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_array_equal(f(ad.tensor(np.full(500, 1e9))).numpy(), np.full(500, 1e9))
