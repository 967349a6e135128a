"""The machine for single numbers, and the repetition that is found in what it runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.execution.native import compile_plan
from adjoint.execution.numpy_programs import Streaming
from adjoint.execution.tiers import tiers
from adjoint.machine.machine import NumberMachine, compile_numbers
from adjoint.machine.numbers import write_out
from adjoint.machine.repetition import Loop, find_loops, printed, stretches
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.plan import Plan, build
from adjoint.runtime import llvm


@pytest.fixture(autouse=True)
def native() -> Iterator[None]:
    """Everything compiled when first seen."""
    before, tiers.backend = tiers.backend, "native"
    yield
    tiers.backend = before


def normal(*shape: int, dtype: str = "float64", seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def planned(*outputs: ad.Tensor) -> tuple[Plan, list[Any], list[Any]]:
    """The plan of the outputs, with the values that go in."""
    c = canonicalize([x.node for x in outputs])
    plan = build(c, list(dict.fromkeys([c.number[x.node] for x in outputs])), False)
    return plan, [value_array(x) for x in c.leaves], [v for v, _ in c.numbers]


def ran(*outputs: ad.Tensor, tolerance: float = 0.0) -> NumberMachine | None:
    """The machine that has run the outputs' plan, as the interpreter does; None where it refuses."""
    plan, leaves, numbers = planned(*outputs)
    machine = compile_numbers(plan)
    if machine is None:
        return None
    with np.errstate(all="ignore"):
        for shift in (0, 1, 0):
            moved = [x + x.dtype.type(shift) if x.dtype.kind == "f" else x for x in leaves]
            others = [v + shift if isinstance(v, float) else v for v in numbers]
            expected = Streaming(plan).run(moved, others, True)
            for found, other in zip(machine.run(moved, others, True), expected, strict=True):
                other = np.asarray(other)
                assert found.dtype == other.dtype and found.shape == other.shape
                if tolerance:
                    np.testing.assert_allclose(found, other, tolerance, tolerance)
                else:
                    same_bits(found, other)
    return machine


def same_bits(found: Any, expected: Any) -> None:
    """Equal bit for bit, but for the bits of a NaN."""
    assert np.array_equal(found, expected, equal_nan=True), (found, expected)
    if found.dtype.kind == "f":
        known = ~np.isnan(found)
        assert np.array_equal(np.signbit(found)[known], np.signbit(expected)[known]), (found, expected)


# ---- what is written out ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 7)])
def test_elementwise_steps_are_the_interpreters(dtype: str, shape: tuple[int, ...]) -> None:
    x, w = ad.variable(normal(*shape, dtype=dtype)), ad.variable(normal(*shape, dtype=dtype, seed=1))
    y, z = x, ad.asin(ad.tanh(w) * 0.5)
    for k in range(3):
        y = ad.sin(y * w + 0.25 * k) ** 2 + ad.where(x > w, ad.exp(-ad.abs(y)), ad.maximum(z, 0.5)).reshape(shape)
    chosen = (x > 0) & ~ad.isnan(w)
    total = (y * 2.5).sum() + ad.relu(y).sum()
    gradients = ad.gradients(total, [x, w])
    counted = chosen.astype("int32").sum()
    assert ran(total, y, chosen, counted, *gradients, tolerance=1e-5 if dtype == "float32" else 1e-11) is not None


def test_what_moves_elements_gives_no_operation() -> None:
    x = ad.tensor(normal(3, 4))
    rows = ad.stack([x[k] for k in (2, 0, 1)])
    joined = ad.concat([rows.mT, x[:, ::-1].mT], axis=1)[1:, 2:].reshape(-1)
    padded = ad.pad(x[1], (1, 1))
    plan, _, _ = planned(joined, padded)
    assert write_out(plan).size == 0
    assert ran(joined * 2.0, padded * 3.0) is not None


def test_reductions_and_small_products() -> None:
    x = ad.variable(normal(4, 5))
    a, b = x.sum(axis=0), x.max(axis=1)
    product = x @ x.mT
    third = ad.matmul(ad.stack([x, x + 1.0]), ad.stack([x.mT, x.mT]))
    total = (product * product).sum() + third.sum()
    found = ran(a, b, x.min(), x.prod(axis=0), (x > 0).any(), (x > 0).all(axis=0), product, third, total,
                *ad.gradients(total, [x]), tolerance=1e-12)  # fmt: skip
    assert found is not None


def test_integers_and_bools() -> None:
    n, m = ad.tensor(np.arange(-4, 4)), ad.tensor(np.arange(8, dtype=np.uint8))
    small = ad.tensor(np.arange(-4, 4, dtype=np.int8))
    outputs = (n * n - 3, n < 2, small + small, m * 3, (n > 0) ^ (m > 4), ad.where(n > 0, n, -n), n.sum(), small.sum(),
               (n & 3) | 8, n.astype("float32") / 3, m.astype("int64").max())  # fmt: skip
    assert ran(*outputs) is not None


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324])
def test_what_is_left_out_changes_no_bit(value: float) -> None:
    """Zeros added, ones multiplied by, products that are zero."""
    x, y = ad.variable(np.array([value, 2.0])), ad.variable(np.array([-value, -0.0]))
    spread = ad.stack([x[0], x[1], ad.tensor(0.0, dtype="float64")]) + ad.stack(
        [y[1], ad.tensor(0.0, dtype="float64"), y[0]]
    )
    z = x[0] * y[0] + x[0] + x[1] * y[1]
    plain = (x + 0.0, x - 0.0, x * 1.0, x / 1.0, 0.0 + x, x + -0.0, 1.0 * x, x[0] * 1.0 + 0.0)
    assert ran(spread, *plain) is not None
    g = ad.gradients(z, [x, y])
    plan, leaves, numbers = planned(z, *g)
    with np.errstate(all="ignore"):
        machine = compile_numbers(plan)
        assert machine is not None
        pairs = zip(machine.run(leaves, numbers, True), Streaming(plan).run(leaves, numbers, True), strict=True)
        assert all(np.array_equal(found, other, equal_nan=True) for found, other in pairs)


def test_what_the_machine_refuses() -> None:
    x = ad.tensor(normal(4, 5))
    assert ran(ad.cumulative_sum(x, axis=0) * 2) is None
    assert ran(ad.tensor(normal(20_000)) * 2) is None
    assert ran(x[ad.tensor([2, 0]), ad.tensor([3, 3])] * 2) is None
    assert ran(ad.tensor(normal(3)) * (1 + 2j)) is None


# ---- repetition ------------------------------------------------------------------------------------------------------


def field(p: Any, y: Any) -> Any:
    return ad.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def runge_kutta(p: Any, y: Any, h: float = 0.01) -> Any:
    a = field(p, y)
    b = field(p, y + h / 2 * a)
    c = field(p, y + h / 2 * b)
    d = field(p, y + h * c)
    return y + h / 6 * (a + 2 * b + 2 * c + d)


def orbit(steps: int) -> tuple[ad.Tensor, ad.Tensor]:
    p = ad.variable(np.array([1.5, 1.0, 1.0, 3.0]))
    y = ad.tensor((1.0, 1.0), dtype="float64")
    for _ in range(steps):
        y = runge_kutta(p, y)
    return y.sum(), p


def test_the_steps_of_a_python_loop_are_found() -> None:
    end, p = orbit(40)
    plan, _, _ = planned(end, *ad.gradients(end, [p]))
    program = write_out(plan)
    forward, back = find_loops(program)
    assert forward.period == 58 and forward.times >= 38
    assert (
        back.times >= 36 and program.size - forward.period * forward.times - back.period * back.times < 6 * back.period
    )
    text = printed(stretches(program, [forward, back]))
    assert f"{forward.times} times: 58 operations (multiply·36 add·14 subtract·8)" in text
    assert ran(end, *ad.gradients(end, [p])) is not None


def test_longer_loops_share_the_code_of_shorter_ones() -> None:
    machines = []
    for steps in (40, 90):
        end, p = orbit(steps)
        machines.append(ran(end, *ad.gradients(end, [p])))
    codes = [[body.addresses for body in m.bodies] for m in machines if m is not None]
    assert codes[0] == codes[1]


def test_a_loop_is_where_the_stretch_was() -> None:
    """Nothing before, between and behind loops is lost, whatever is read from there."""
    x = ad.variable(np.array([0.5, 1.25]))
    kept, y = [], x[0]
    for k in range(100):
        y = y * x[1] - y * y * 0.25
        if k % 7 == 3:
            kept.append(y)
    z = x[1] * kept[3]
    for k in range(80):
        z = z * 0.5 + kept[k % 3] * y
    total = z + kept[0] * kept[-1]
    assert ran(total, *kept, *ad.gradients(total, [x])) is not None


def test_what_was_made_several_steps_before() -> None:
    """A linear recurrence of order 3, and one of order 7, which isn't carried in registers."""
    for order in (3, 7):
        x = ad.variable(np.array([0.3, -0.2, 0.1]))
        made = [x[k % 3] * (1.0 + k) for k in range(order)]
        for _ in range(200):
            made.append(made[-1] * 0.5 + made[-order] * x[0] - made[-2] * x[1])
        machine = ran(made[-1], made[-2], *ad.gradients(made[-1], [x]))
        assert machine is not None and machine.repeats


def test_data_that_advances_with_the_steps() -> None:
    data, w = ad.tensor(normal(120, 2)), ad.variable(np.array([0.5, -0.25, 0.125]))
    loss = ad.tensor(0.0, dtype="float64")
    for k in range(120):
        r = data[k, 0] * w[0] + data[119 - k, 1] * w[1] + w[2] - float(k) / 7
        loss = loss + r * r
    machine = ran(loss, *ad.gradients(loss, [w]))
    assert machine is not None and machine.repeats


@pytest.mark.parametrize("factor", [0.75, -2.0, 1e-300, 0.0, np.inf, np.nan])
def test_cotangents_times_constants(factor: float) -> None:
    """Zeros, infinities, NaN and numbers too small for a product, by constants that are ordinary and others."""

    def total(x: Any) -> Any:
        state = [x[k] for k in range(7)]
        for _ in range(60):
            state = [y * factor - x[k] * y for k, y in enumerate(state)]
        return (ad.stack(state) * ad.tensor([1.0, 0.0, -0.0, 1e-20, np.inf, -3.0, 0.0])).sum()

    x = ad.tensor(np.array([0.0, -0.0, 1.5, -np.inf, np.nan, 1e-310, 1e200]))
    f = ad.jit(ad.value_and_grad(total))
    found = [y.numpy() for y in f(x)]
    assert ("@llvm.fma" in ad.execution.explain(f, stage="llvm")) == (
        np.isfinite(factor) and factor != 0 and llvm.has_fma()
    )
    tiers.backend = "numpy"
    for one, other in zip(found, ad.value_and_grad(total)(x), strict=True):
        same_bits(one, other.numpy())


def test_several_dtypes_are_carried() -> None:
    x = ad.variable(np.float32(0.75))
    y, n, odd = x, ad.tensor(1, dtype="int32"), ad.tensor(False)
    wide = ad.tensor(1.0, dtype="float64")
    for _ in range(150):
        n = ad.where(odd, n * 3 + 1, n - 2)
        odd = ~odd ^ (n > 40)
        y = ad.where(odd, y * 0.5 + x, y - 0.25 * x)
        wide = wide * 0.875 + y.astype("float64")
    machine = ran(y, n, odd, wide, *ad.gradients(wide, [x]))
    assert machine is not None and machine.repeats


def test_nested_loops() -> None:
    """Time steps by neurons: whichever is found, every number is what the interpreter gives."""
    w = ad.variable(normal(5, 5))
    h = [ad.tensor(0.1 * k, dtype="float64") for k in range(5)]
    for _ in range(30):
        new = []
        for i in range(5):
            s = w[i, 0] * h[0]
            for j in range(1, 5):
                s = s + w[i, j] * h[j]
            new.append(ad.minimum(s, 1.0) * 0.5)
        h = new
    total = h[0] * h[1] + h[4]
    machine = ran(total, *ad.gradients(total, [w]))
    assert machine is not None and machine.repeats


OPERATIONS: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: ad.where(a > b, a, b * 0.5),
    lambda a, b: ad.minimum(a, b), lambda a, b: ad.maximum(a, -b), lambda a, b: a * 0.75 + 0.125,
    lambda a, b: ad.sqrt(ad.abs(a) + 1.0), lambda a, b: ad.stack([a, b])[1] - 0.5 * a, lambda a, b: a / (b * b + 1.5),
    lambda a, b: ad.where(ad.abs(a) < 2.0, a, 0.25 * b), lambda a, b: ad.stack([a, b, a * b]).sum(),
]  # fmt: skip


def random_loop(seed: int) -> tuple[ad.Tensor, ad.Tensor]:
    """Some nested loops over a state of several numbers, with conditions and an end that only some numbers see."""
    choose = random.Random(seed)
    x = ad.variable(np.array([choose.choice([-1.5, -0.5, 0.0, 0.5, 1.25]) for _ in range(3)]))
    state = [x[k] for k in range(3)]
    bodies = [[(choose.choice(OPERATIONS), choose.randrange(3), choose.randrange(3), choose.randrange(3))
               for _ in range(choose.randrange(2, 6))] for _ in range(2)]  # fmt: skip
    inner, outer, ends = choose.randrange(1, 6), choose.randrange(10, 50), choose.randrange(5, 40)
    kept = []
    for t in range(outer):
        for f, i, j, k in bodies[0]:
            state[i] = f(state[j], state[k])
        for _ in range(inner):
            for f, i, j, k in bodies[1]:
                state[i] = f(state[j], state[k])
        state = [ad.where(ad.abs(s) < 8.0, s, s * 0.0625) for s in state]
        if t == ends:
            kept.append(state[0])
    total = state[0] + state[1] * 0.5 - state[2]
    for y in kept:
        total = total + y
    return total, x


@pytest.mark.parametrize("seed", range(16))
def test_random_loops_are_the_interpreters(seed: int) -> None:
    """Values, first and second derivatives, to the bit."""
    total, x = random_loop(seed)
    (g,) = ad.gradients(total, [x])
    second = ad.gradients((g * ad.tensor([1.0, -0.5, 0.25])).sum(), [x])
    assert ran(total, g, *second) is not None


def test_the_pass_finds_what_it_is_given() -> None:
    """Overlapping candidates: loops never share an operation, and stay inside the program."""
    total, x = random_loop(3)
    plan, _, _ = planned(total, *ad.gradients(total, [x]))
    program = write_out(plan)
    at = 0
    for loop in find_loops(program):
        assert isinstance(loop, Loop) and at <= loop.start and loop.times >= 4
        at = loop.stop
        case = program.case[loop.start : loop.stop].reshape(loop.times, loop.period)
        operands = program.operands[loop.start : loop.stop].reshape(loop.times, loop.period, 3)
        assert (case == case[0]).all() and (np.diff(operands, 2, axis=0) == 0).all()
    assert at <= program.size


# ---- where it runs ---------------------------------------------------------------------------------------------------


def test_a_long_loop_under_jit_runs_on_the_machine() -> None:
    def end(p: Any) -> Any:
        y = ad.tensor((1.0, 1.0), dtype="float64")
        for _ in range(60):
            y = runge_kutta(p, y)
        return y.sum()

    p = np.array([1.5, 1.0, 1.0, 3.0])
    f = ad.jit(ad.value_and_grad(end))
    value, gradient = f(ad.tensor(p))
    plan, _, _ = planned(*(lambda v: (v, *ad.gradients(v, [q])))(end(q := ad.variable(p))))
    assert isinstance(compile_plan(plan, for_good=True), NumberMachine)
    expected, again = ad.value_and_grad(end)(ad.tensor(p))
    np.testing.assert_allclose(value.item(), expected.item(), 1e-14)
    np.testing.assert_allclose(gradient.numpy(), again.numpy(), 1e-13)
    other, _ = f(ad.tensor(p * 1.01))
    np.testing.assert_allclose(other.item(), end(ad.tensor(p * 1.01)).item(), 1e-13)


def test_numbers_that_change_are_other_plans() -> None:
    """Under jit the many numbers of a long loop are constants of its plan; a changed one gives another."""
    step = [0.01]

    @ad.jit
    def end(p: Any) -> Any:
        y = ad.tensor((1.0, 1.0), dtype="float64")
        for _ in range(60):
            y = runge_kutta(p, y, step[0])
        return y.sum()

    p = ad.tensor(np.array([1.5, 1.0, 1.0, 3.0]))
    found = [end(p).item()]
    step[0] = 0.02
    found.append(end(p).item())
    step[0] = 0.01
    found.append(end(p).item())
    assert found[0] == found[2] != found[1]


def test_a_run_in_the_middle_of_a_run() -> None:
    end, p = orbit(30)
    plan, leaves, numbers = planned(end)
    machine = compile_numbers(plan)
    assert machine is not None
    (expected,) = machine.run(leaves, numbers, True)
    machine.running = True
    other = [x * 2 if x.shape == (4,) else x for x in leaves]
    (between,) = machine.run(other, numbers, True)
    machine.running = False
    (after,) = machine.run(leaves, numbers, True)
    assert between != expected and after == expected
    assert p.shape == (4,)


def test_explain_says_what_repeats() -> None:
    end, p = orbit(60)
    text = str(ad.execution.explain(end, *ad.gradients(end, [p])))
    assert "59 times" in text and "once" in text and "multiply·36 add·14 subtract·8" in text


# ---- what NumPy computes in between ----------------------------------------------------------------------------------


def test_what_has_no_form_is_cut_out() -> None:
    x, places = ad.variable(normal(6)), ad.tensor([4, 0, 2])
    y = x[0]
    for _ in range(60):
        y = y * x[1] - 0.25 * y * y
    sums = ad.cumulative_sum(ad.stack([y, x[2], y * x[3]]), axis=0)
    taken = (x * y)[places]
    z = sums[2] + taken.sum() + sums[0] * ad.floor_divide(x[4], 0.5)
    for _ in range(60):
        z = z * 0.5 + sums[1] * y
    machine = ran(z, sums, taken, *ad.gradients(z, [x]), tolerance=1e-13)
    assert machine is not None and machine.hosted and not machine.alone and machine.repeats
    wide = ad.cumulative_sum(ad.stack([z + float(k) for k in range(250)]), axis=0)
    assert ran(wide * 2.0, tolerance=1e-12) is not None  # equal elements side by side are no loop
    for dtype in ("float32", "int64"):
        data = ad.tensor(np.arange(5).astype(dtype))
        total = data[0]
        for _ in range(80):
            total = total * 2 - data[1]
            total = ad.where(total > 100, total - 99, total)
        ordered = ad.sort(ad.stack([total, data[2], data[1] - total]))
        assert ran(ordered, ordered[0] + 1, total, tolerance=1e-6) is not None


def test_an_error_in_between_is_told_and_leaves_the_machine_whole() -> None:
    places, table = ad.tensor([1, 3]), ad.tensor(normal(4))
    y = table[0]
    for _ in range(100):
        y = y * 0.5 + table[1]
    plan, leaves, numbers = planned((table * y)[places])
    machine = compile_numbers(plan)
    assert machine is not None and machine.hosted
    (expected,) = machine.run(leaves, numbers, True)
    with pytest.raises(IndexError):
        machine.run([x + 9 if x.dtype.kind == "i" else x for x in leaves], numbers, True)
    assert np.array_equal(machine.run(leaves, numbers, True)[0], expected)
