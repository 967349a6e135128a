"""Scans over small things among the units of a native program: no step of Python, the same bits, shared code, what stays out."""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.compiler.fuse import scans
from adjoint.compiler.loops import matmul_tiles
from adjoint.execution.tiers import tiers


def kinds(f: Any) -> list[str]:
    """The kinds of a jitted function's units."""
    return [kernel.kind for kernel in ad.execution.explain(f).kernels]


def by_numpy(monkeypatch: pytest.MonkeyPatch, f: Callable[..., Any], *given: Any) -> Any:
    """What the interpreter gives, step by step."""
    with monkeypatch.context() as patch:
        patch.setattr(tiers, "backend", "numpy")
        return ad.jit(lambda *xs: f(*xs))(*given)


def same(found: Any, expected: Any) -> None:
    for x, y in zip(ad.tree.flatten(found)[0], ad.tree.flatten(expected)[0], strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x.numpy(), y.numpy())


def mixed(c: Any, x: Any) -> Any:
    """A step over floats, integers and a bool, which reads a slice and stacks what has other shapes."""
    a, n, flag = c
    b = ad.where(flag, a * x[:3], a / 4 - x[1:])
    return (b, n + 2, ad.sum(b) > n), (b[::-1], n, ad.stack([b[0], x[0]]))


START = (np.linspace(0.0, 1.0, 3), np.array(-3), np.array(True))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 2, 7, 300])
def test_it_gives_what_the_interpreter_gives(monkeypatch, length, reverse):
    xs = np.random.default_rng(length).normal(size=(length, 4))

    def run(*start: Any) -> Any:
        *start, xs = start
        return ad.scan(mixed, tuple(start), xs, reverse=reverse)

    given = [ad.tensor(x) for x in (*START, xs)]
    f = ad.jit(run)
    found = f(*given)
    assert kinds(f) == ["scan"]
    same(found, by_numpy(monkeypatch, run, *given))


def test_a_gradient_is_native_throughout():
    def loss(p: Any, xs: Any) -> Any:
        end, path = ad.scan(lambda c, x: (ad.tanh(p[0] * c + p[1] * x), c * x), ad.zeros((), dtype="float64"), xs)
        return end + ad.mean(path**2)

    p, xs = ad.tensor(np.array([0.7, -0.3])), ad.tensor(np.random.default_rng(0).normal(size=9))
    f = ad.jit(ad.value_and_grad(loss))
    value, slope = f(p, xs)
    assert "scan" in kinds(f) and "numpy" not in kinds(f)

    def plain(p: np.ndarray) -> float:
        c, path = 0.0, []
        for x in xs.numpy():
            path.append(c * x)
            c = np.tanh(p[0] * c + p[1] * x)
        return float(c + np.mean(np.array(path) ** 2))

    np.testing.assert_allclose(value.item(), plain(p.numpy()), 1e-14)
    steps = 1e-6 * np.eye(2)
    expected = [(plain(p.numpy() + h) - plain(p.numpy() - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(slope.numpy(), expected, 1e-7)
    curved = ad.jit(ad.hessian(loss))
    np.testing.assert_allclose(
        curved(p, xs).numpy(), ad.hessian(loss)(p, xs).numpy(), 1e-12
    )  # the second one isn't compiled
    assert "numpy" not in kinds(curved)


def test_operands_that_lie_otherwise_are_put_in_order(monkeypatch):
    table = ad.tensor(np.random.default_rng(1).normal(size=(4, 9)))

    def run(table: Any) -> Any:
        return ad.scan(mixed, (table[1, ::3], ad.tensor(0), table[0, 0] > 0), table[:, 2:].T[::-1])

    f = ad.jit(run)
    found = f(table)
    assert kinds(f)[-1] == "scan"
    same(found, by_numpy(monkeypatch, run, table))


def test_results_that_nobody_reads_are_not_stacked(monkeypatch):
    xs = ad.tensor(np.random.default_rng(2).normal(size=(6, 4)))
    given = [ad.tensor(x) for x in START]

    def run(xs: Any) -> Any:
        (b, _, flag), (_, n, _) = ad.scan(mixed, tuple(given), xs)
        return b * 2, flag, n

    f = ad.jit(run)
    found = f(xs)
    same(found, by_numpy(monkeypatch, run, xs))
    text = str(ad.execution.explain(f, stage="loops"))
    assert "for i from 0" in text and "numpy" not in kinds(f)


def test_lengths_share_their_code():
    def text(length: int) -> str:
        f = ad.jit(lambda a: ad.scan(lambda c, _: (c * 1.25 - a, c * a), a, None, length=length))
        f(ad.tensor(1.5))
        return str(ad.execution.explain(f, stage="llvm")).partition("\n")[2].partition("  }\n")[0]

    assert text(40) == text(3) and "define" in text(41)


def test_what_takes_long_stays_python_s_to_interrupt(monkeypatch):
    monkeypatch.setattr(scans, "MOST_WORK", 1000)
    f = ad.jit(lambda a: ad.scan(lambda c, _: (ad.sin(c) + a, None), a, None, length=900)[0])
    f(ad.tensor(0.5))
    assert "numpy" in kinds(f)  # what takes a result of the loop, which is a step of Python's


@pytest.mark.parametrize("length", [1, 2, 3, 8])
def test_steps_over_larger_arrays_are_programs_within_the_program(length):
    random = np.random.default_rng(length)
    m, h, xs = random.normal(size=(40, 40)) / 8, random.normal(size=40), random.normal(size=(length, 40))

    def run(m: Any, h: Any, xs: Any) -> Any:
        last, path = ad.scan(lambda h, x: (ad.tanh(m @ h + x), (h[::2], ad.sum(h))), h, xs, reverse=True)
        return ad.sum(last) + ad.sum(path[0] ** 2) + path[1] @ path[1], (last, path)

    f = ad.jit(ad.value_and_grad(run, has_aux=True))
    given = [ad.tensor(x) for x in (m, h, xs)]
    for _ in range(2):
        (value, (last, path)), slope = f(*given)
        state, halves, sums = h, [], []
        for x in xs[::-1]:
            halves.append(state[::2])
            sums.append(state.sum())
            state = np.tanh(m @ state + x)
        np.testing.assert_allclose(last.numpy(), state, 1e-12)
        np.testing.assert_allclose(path[0].numpy(), halves[::-1], 1e-12)
        np.testing.assert_allclose(path[1].numpy(), sums[::-1], 1e-12)
        direction = np.random.default_rng(9).normal(size=m.shape)
        ends = [run(ad.tensor(m + t * direction), *given[1:])[0].item() for t in (1e-6, -1e-6)]
        np.testing.assert_allclose(np.sum(slope.numpy() * direction), (ends[0] - ends[1]) / 2e-6, 1e-6)
        np.testing.assert_allclose(value.item(), sum(ends) / 2, 1e-9)
    assert "scan" in kinds(f) and "numpy" not in kinds(f)


def test_carries_of_larger_arrays_that_change_places(monkeypatch):
    xs = ad.tensor(np.random.default_rng(4).normal(size=(5, 300)))

    def step(c: Any, x: Any) -> Any:
        a, b, n = c
        return (b + x, a * 0.5, n + 1), (a, n)

    def run(a: Any, b: Any) -> Any:
        return ad.scan(step, (a, b, ad.tensor(0)), xs)

    f = ad.jit(run)
    found = f(xs[0], xs[1])
    same(found, by_numpy(monkeypatch, run, xs[0], xs[1]))
    assert "numpy" not in kinds(f)


def test_a_scan_among_others_under_vmap_and_inside_another(monkeypatch):
    def inner(a: Any) -> Any:
        return ad.scan(lambda c, x: (c * a + x, c), 0 * a, ad.arange(4, dtype="float64"))[1]

    def run(a: Any) -> Any:
        whole = ad.scan(lambda c, x: (c + ad.sum(inner(x)), c), ad.zeros((), dtype="float64"), a)[0]
        return whole, ad.vmap(inner)(a), inner(a[0]) @ inner(a[1])

    a = ad.tensor(np.linspace(-1.0, 1.0, 5))
    f = ad.jit(run)
    found = f(a)
    same(found[:2], by_numpy(monkeypatch, run, a)[:2])
    assert "numpy" not in kinds(f)


# Choices -------------------------------------------------------------------------------------------------------------------


def test_products_in_a_step_within_a_program_are_in_one_range(monkeypatch):
    """Nobody helps with it; a product that is alone is cut for two threads."""
    if not matmul_tiles.available():
        pytest.skip("no multiplication and addition in one instruction")
    random = np.random.default_rng(6)
    h, w = [ad.tensor(random.normal(size=shape).astype("f4")) for shape in ((32, 128), (128, 512))]

    def step(h: Any, x: Any) -> Any:
        return ad.tanh((h @ w)[:, :128] + x) / 2, None

    f = ad.jit(lambda h: ad.scan(step, h, ad.ones(3))[0])
    found = f(h).numpy()
    assert kinds(f)[-1] == "scan"
    assert "in ranges of 32 rows" in str(ad.execution.explain(f, stage="units"))
    assert "in ranges of 16 rows" in str(ad.execution.explain(h @ w, stage="units"))
    expected = h.numpy()
    for _ in range(3):
        expected = np.tanh((expected @ w.numpy())[:, :128] + 1) / 2
    np.testing.assert_allclose(found, expected, 1e-4, 1e-5)


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "bool"])
def test_a_choice_among_branches_over_larger_arrays_is_a_unit(monkeypatch, dtype):
    """Some compute, some hand on what they are given, in another order, and what is beyond counts as the last, or the first."""
    random = np.random.default_rng(5)
    m, a, b = (ad.tensor(random.normal(size=shape)) for shape in ((30, 30), (30,), (30,)))
    branches = [
        lambda a, b: (b, a, ad.sum(a)),
        lambda a, b: (ad.tanh(m @ a) + b, m @ (m @ b), a @ b),
        lambda a, b: (a, ad.softmax(b), ad.max(b)),
    ][: 2 if dtype == "bool" else 3]

    def run(i: Any, a: Any, b: Any) -> Any:
        x, y, z = ad.switch(i, branches, a, b) if dtype != "bool" else ad.cond(i, branches[1], branches[0], a, b)
        return x, y * 2, z + ad.sum(x)

    f = ad.jit(run)
    slope = ad.jit(ad.grad(lambda i, a, b: ad.sum(run(i, a, b)[0]) + run(i, a, b)[2], argnums=(1, 2)))
    for k in (0, 1) if dtype == "bool" else (0, 1, 2, 7, *(() if dtype == "uint8" else (-3,))):
        i = ad.tensor(np.array(k, dtype))
        same(f(i, a, b), by_numpy(monkeypatch, run, i, a, b))
        chosen = branches[min(max(k, 0), len(branches) - 1)]
        plain = ad.grad(lambda a, b: ad.sum(chosen(a, b)[0]) * 2 + chosen(a, b)[2], argnums=(0, 1))(a, b)  # noqa: B023
        for one, other in zip(slope(i, a, b), plain, strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), 1e-12, 1e-12)
    assert "switch" in kinds(f) and "numpy" not in kinds(f) and "numpy" not in kinds(slope)


def test_branches_may_give_complex_numbers_and_write_nothing():
    """Complex results aren't written out number by number, and a part of an array may be empty."""

    def run(x: Any) -> Any:
        def one(x: Any) -> Any:
            y = x + 0
            y[1:1, 2:2] = ad.sin(x)[1:1, 2:2] * 0.5
            return x.astype("complex128"), ad.log1p(ad.abs(x)) ** 3, y, ad.sin(x), ad.sum(ad.exp(x)[1:1, 2:2] * 0.5)

        def other(x: Any) -> Any:
            return (x * 3).astype("complex128"), ad.sin(x), x * 2, x, x[0, 0]

        return ad.cond(x[0, 0] > 0, one, other, x), ad.cond(
            x[0, 0] > 0, lambda x: one(x)[1:], lambda x: other(x)[1:], x
        )

    f = ad.jit(run)
    x = np.array([[0.3, -0.2], [0.1, 2.0]])
    sine, log = np.sin(x), np.log1p(x.clip(0.2)) ** 3
    log[1, 0] = np.log1p(0.1) ** 3
    (z, *rest), again = f(ad.tensor(x))
    for found in (rest, again):
        for y, expected in zip(found, (log, x, sine, 0.0), strict=True):
            np.testing.assert_allclose(y.numpy(), expected, 1e-14)
    assert z.numpy().tolist() == (x + 0j).tolist()
    (z, *rest), again = f(ad.tensor(-x))
    for found in (rest, again):
        for y, expected in zip(found, (-sine, -2 * x, -x, -0.3), strict=True):
            np.testing.assert_allclose(y.numpy(), expected, 1e-14)
    assert z.numpy().tolist() == (x * -3 + 0j).tolist()


def test_a_choice_within_a_loop_of_programs():
    m = ad.tensor(np.random.default_rng(6).normal(size=(25, 25)) / 5)
    step = lambda c, i: (ad.switch(i, [lambda c: m @ c, lambda c: c, lambda c: ad.tanh(c) - m @ c], c), c[0])  # noqa: E731
    f = ad.jit(lambda c, order: ad.scan(step, c, order))
    order = np.array([0, 2, 1, 2, 0, 5, -1, 1])
    state, firsts = np.linspace(0.0, 1.0, 25), []
    last, found = f(ad.tensor(state), ad.tensor(order))
    for i in order:
        firsts.append(state[0])
        k = min(max(i, 0), 2)
        state = m.numpy() @ state if k == 0 else state if k == 1 else np.tanh(state) - m.numpy() @ state
    np.testing.assert_allclose(last.numpy(), state, 1e-12)
    np.testing.assert_allclose(found.numpy(), firsts, 1e-12)
    assert "numpy" not in kinds(f)


# Loops that end by themselves ----------------------------------------------------------------------------------------------


def collatz(n: Any, x: Any) -> Any:
    """How long the sequence of n is, and a number that depends on its way."""

    def step(c: Any) -> Any:
        n, x, count = c
        odd = n % 2 == 1
        return ad.where(odd, 3 * n + 1, n // 2), ad.where(odd, ad.sin(x), x * 1.25), count + 1

    return ad.while_loop(lambda c: c[0] != 1, step, (n, x, 0))[1:]


def test_a_loop_that_ends_by_itself_is_a_unit(monkeypatch):
    def run(n: Any, x: Any) -> Any:
        (value, count), (slope, _) = collatz(n, x), ad.jvp(lambda x: collatz(n, x), (x,), (ad.ones_like(x),))[1]
        return value, count, slope, ad.grad(lambda x: collatz(n, x)[0])(x)

    f = ad.jit(run)
    x = ad.tensor(np.array(0.3))
    for n in (1, 2, 27, 6171):
        found = f(ad.tensor(n), x)
        same(found, by_numpy(monkeypatch, run, ad.tensor(n), x))
        np.testing.assert_allclose(found[2].numpy(), found[3].numpy(), 1e-12)
    assert set(kinds(f)) <= {"scan", "loops", "while_loop", "loop_reverse"} and "numpy" not in kinds(f)


def test_a_step_of_many_operations_around_a_loop_that_ends_by_itself(monkeypatch):
    """It is worth compiling for that loop's turns, up to a limit; then Python goes from one to the other."""
    times = scans.MOST_OPERATIONS // 2 + 10

    def turning(c: Any, _: Any) -> Any:
        c = ad.while_loop(lambda v: v > 1.0, lambda v: v * 0.5, c)
        for k in range(times):
            c = c * 0.875 + 0.125 * k
        return c, None

    def run(c: Any) -> Any:
        return ad.scan(turning, c, None, length=1)[0]

    given = ad.tensor(100.0, dtype="float64")
    f, slope = ad.jit(run), ad.jit(ad.grad(run))
    same(f(given), by_numpy(monkeypatch, run, given))
    assert slope(given).item() == pytest.approx(0.875**times / 128, 1e-12)
    assert kinds(f) == ["scan"] and "numpy" not in kinds(slope)
    monkeypatch.setattr(scans, "MOST_AROUND_TURNS", scans.MOST_OPERATIONS)
    g = ad.jit(lambda c: run(c + 0))
    same(g(given), f(given))
    assert "numpy" in kinds(g)


def test_a_loop_that_takes_long_goes_on_where_it_can_be_interrupted():
    """Native code leaves it after 65,536 turns, and what is remembered for the reverse pass after 4,096."""
    f = ad.jit(
        ad.value_and_grad(lambda x, n: ad.while_loop(lambda c: c[1] < n, lambda c: (c[0] * x, c[1] + 1), (x, 0))[0])
    )
    for n in (10, 5_000, 100_000, 7, 70_000):
        x = 1.0 + 1e-6
        value, slope = f(ad.tensor(x, dtype="float64"), ad.tensor(n))
        np.testing.assert_allclose([value.item(), slope.item()], [x ** (n + 1), (n + 1) * x**n], 1e-9)


def test_leaves_that_a_step_updates_are_updated_once_when_it_is_done_anew():
    w, turns = ad.tensor(np.ones(40)), ad.tensor(np.array(3))

    def step(n: Any) -> Any:
        halved = ad.while_loop(lambda c: c[1] < n, lambda c: (c[0] * 0.99999, c[1] + 1), (w[0], 0))[0]
        w.data = w * 2 + halved
        turns.data = turns + 1
        return halved

    f, expected = ad.jit(step), np.ones(40)
    for k, n in enumerate((5, 10, 70_000, 90_000, 3)):
        halved = expected[0]
        for _ in range(n):
            halved = halved * 0.99999
        expected = expected * 2 + halved
        np.testing.assert_allclose(f(ad.tensor(n)).item(), halved, 1e-12)
        np.testing.assert_allclose(w.numpy(), expected, 1e-12)
        assert turns.item() == 4 + k


def test_one_without_end_is_interrupted():
    f = ad.jit(lambda x: ad.while_loop(lambda c: c < 100.0, lambda c: c * 0.5, x))
    assert f(ad.tensor(150.0)).item() == 150.0

    class Enough(Exception):
        pass

    def ring(*_: Any) -> None:
        raise Enough

    before = signal.signal(signal.SIGALRM, ring)
    try:
        for _ in range(2):
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            with pytest.raises(Enough):
                f(ad.tensor(1.0)).item()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert f(ad.tensor(150.0)).item() == 150.0


def test_beside_steps_of_python_s_it_stays_one(monkeypatch):
    """All would be done anew otherwise, and what Python does must be done once."""
    calls: list[int] = []

    def noted(x: Any) -> Any:
        calls.append(1)
        return np.asarray(x) * 2

    def run(x: Any) -> Any:
        twice = ad.host_call(noted, x, shape=x.shape, dtype=x.dtype)
        return ad.while_loop(lambda c: c[0] < 1e9, lambda c: (c[0] + c[1], c[1]), (twice, x))[0]

    f = ad.jit(run)
    f(ad.tensor(np.array(1e8)))
    calls.clear()
    assert f(ad.tensor(np.array(1e4))).item() == 1e9
    assert len(calls) == 1


def test_loops_of_several_threads_do_not_meet():
    large = ad.tensor(np.zeros(500))
    one = ad.jit(lambda a: ad.scan(lambda c, _: (c * a + 1, c), a, None, length=50)[1])
    many = ad.jit(lambda a: ad.scan(lambda c, _: (c * a + 1, c[7]), a + large, None, length=50)[1])
    for f in (one, many):
        meet(f)


def meet(f: Any) -> None:
    """Call a function in several threads at once."""
    given = [ad.tensor(x) for x in np.linspace(-0.9, 0.9, 40)]
    f(given[0])
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda a: f(a).numpy(), given * 5))
    for a, path in zip(given * 5, found, strict=True):
        c = a.item()
        for x in path:
            assert x == c
            c = c * a.item() + 1
