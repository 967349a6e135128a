"""Arrays in the midst of zeros that are read in place: what a stencil, its derivative and their neighbours read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.compiler.excerpts import key_of
from adjoint.compiler.fuse.kinds import Host, Move, Nest
from adjoint.compiler.units import write_unit
from adjoint.execution.native.program import compile_nests
from adjoint.execution.numpy_programs import Streaming
from loop_check import check
from loop_oracle import Oracle
from support import some
from test_native import planned

SIDES = (1, 2, 3, 7, 8, 9, 16, 17, 31, 40)


def compared(*outputs: ad.Tensor, exactly: bool = True) -> Any:
    """The fusion of a program whose machine code, loops run one by one and steps run by NumPy agree."""
    plan, leaves, numbers = planned(*outputs)
    program = compile_nests(plan)
    assert program is not None
    for unit in program.fusion.units:
        if not isinstance(unit, Host) and not (isinstance(unit, Nest) and not unit.stored):
            check(write_unit(key_of(program.fusion, unit)[0]).functions)
    with np.errstate(all="ignore"):
        found, steps = program.run(leaves, numbers, True), Streaming(plan).run(leaves, numbers, True)
        loops = Oracle(program.fusion, leaves, numbers).run()
    for a, b, c in zip(found, loops, steps, strict=True):
        np.testing.assert_array_equal(a, b)
        if exactly:
            np.testing.assert_array_equal(a, c)
        else:
            np.testing.assert_allclose(a, c, 1e-5, 1e-5)
    return program.fusion


def stencil(u: Any, widths: tuple[int, ...]) -> Any:
    """The sum of an array's neighbours so far away along each axis, zeros beyond its ends."""
    wide, n = ad.pad(u, [(w, w) for w in widths]), u.shape
    total = u * -2.0
    for axis, w in enumerate(widths):
        for shift in (-w, w):
            total = total + wide[tuple([slice(v + shift * (k == axis), v + shift * (k == axis) + n[k])
                                        for k, v in enumerate(widths)])]  # fmt: skip
    return total


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int8"])
@pytest.mark.parametrize("shape", [(9,), (40,), (1, 8), (17, 31), (64, 64), (3, 5, 9), (2, 3, 4, 17)])
def test_a_stencil_is_one_loop_nest(shape: tuple[int, ...], dtype: str) -> None:
    u = ad.tensor(np.random.default_rng(0).integers(-50, 50, shape).astype(dtype))
    fusion = compared(stencil(u, (1,) * len(shape)))
    assert [type(unit) for unit in fusion.units] == [Nest]


def test_the_derivative_of_a_stencil_writes_no_zeros() -> None:
    u = ad.variable(np.random.default_rng(0).normal(size=(20, 33)))
    (g,) = ad.gradients((stencil(u, (1, 2)) ** 2).sum(), [u])
    fusion = compared(g, exactly=False)
    assert not any(isinstance(unit, Move) for unit in fusion.units)


def test_what_is_read_as_a_whole_is_written_down() -> None:
    u = ad.tensor(np.ones((8, 8), np.float32))
    wide = ad.pad(u, 1)
    fusion = compared(wide.reshape((100,)) + ad.tensor(np.arange(100, dtype=np.float32)))
    assert any(isinstance(unit, Move) for unit in fusion.units)
    fusion = compared(wide, wide[1:, 1:] * 2.0)
    assert any(isinstance(unit, Move) for unit in fusion.units)


def part(random: np.random.Generator, x: Any, shape: tuple[int, ...]) -> Any:
    """An array in the midst of zeros, and of that a part of some shape, which may lie beside it."""
    before = [int(random.integers(0, 5)) for _ in shape]
    after = [max(n - m - b, 0) + int(random.integers(0, 4)) for n, m, b in zip(shape, x.shape, before, strict=True)]
    wide = ad.pad(x, list(zip(before, after, strict=True)))
    starts = [int(random.integers(0, m - n + 1)) for n, m in zip(shape, wide.shape, strict=True)]
    return wide[tuple([slice(a, a + n) for a, n in zip(starts, shape, strict=True)])]


@pytest.mark.parametrize("seed", some(range(60), 3))
def test_random_parts_of_what_lies_in_zeros(seed: int) -> None:
    random = np.random.default_rng(seed)
    dims = int(random.integers(1, 4))
    dtype = str(random.choice(["float32", "float64", "int16", "uint8", "bool"]))
    shape = tuple([int(random.choice(SIDES)) for _ in range(dims)])

    def draw() -> Any:
        own = tuple([int(random.choice([n, 1, n + 2, max(n - 1, 1)])) for n in shape])
        values = random.integers(0, 9, own)
        x = ad.tensor(values.astype(dtype))
        if random.random() < 0.3:
            x = ad.permute_dims(ad.tensor(values.T.copy().astype(dtype)), tuple(range(dims))[::-1])
        if random.random() < 0.3:
            x = ad.flip(x, axis=int(random.integers(dims)))
        if random.random() < 0.3:
            x = x | x[::-1] if dtype == "bool" else x + x[::-1]
        return x

    total = part(random, draw(), shape)
    for _ in range(int(random.integers(1, 5))):
        x = part(random, draw(), shape)
        total = (total ^ x) if dtype == "bool" else (total - x if random.random() < 0.5 else total * x)
        if random.random() < 0.2:
            total = part(random, total, shape)
    outputs = [total]
    if dtype.startswith("float"):
        outputs.append(part(random, total, shape).sum(axis=int(random.integers(dims))))
    compared(*outputs, exactly=False)
    compared(total)


def test_other_extents_share_the_code() -> None:
    """Each of many lengths computes what its steps do, whichever code it runs."""
    for n, m in [(20, 30), (21, 31), (33, 64), (9, 100), (64, 33), (20, 30), (10, 9)]:
        u = ad.variable(np.random.default_rng(n).integers(-9, 9, (n, m)).astype("f8"))
        y = stencil(u, (1, 1))
        compared(y)
        compared(*ad.gradients((y * y).sum(), [u]))


def test_a_scan_of_a_stencil_is_the_loop_by_hand() -> None:
    u = ad.variable(np.random.default_rng(0).normal(size=(24, 40)))

    def step(u: Any, _: Any) -> Any:
        return u + 0.1 * stencil(u, (1, 1)), None

    def by_scan(u: Any) -> Any:
        return (ad.scan(step, u, None, length=7)[0] ** 2).sum()

    def by_hand(u: Any) -> Any:
        for _ in range(7):
            u, _none = step(u, None)
        return (u**2).sum()

    f, g = (ad.jit(ad.value_and_grad(h)) for h in (by_scan, by_hand))
    for _ in range(4):
        (a, da), (b, db) = f(u), g(u)
        np.testing.assert_allclose(a.numpy(), b.numpy(), 1e-12)
        np.testing.assert_allclose(da.numpy(), db.numpy(), 1e-12)


def units_of(fusion: Any) -> list[Any]:
    """The units that do something."""
    return [unit for unit in fusion.units if not (isinstance(unit, Nest) and not unit.stored)]


@pytest.mark.parametrize("shape", [(9,), (64, 64), (17, 31), (3, 5, 9)])
def test_the_derivative_of_a_scaled_stencil_is_one_loop_nest(shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(0)
    u, v = ad.variable(random.normal(size=shape)), ad.tensor(random.normal(size=shape))
    k = ad.tensor(0.3, dtype="float64")
    (g,) = ad.gradients(k * stencil(u, (1,) * len(shape)), [u], v)
    assert len(units_of(compared(g))) == 1


def test_both_forms_of_a_scaled_stencil_divide_by_one_number() -> None:
    """What a loop has computed before it begins is computed in each of its two forms."""
    random = np.random.default_rng(0)
    u, v = ad.variable(random.normal(size=(40, 70))), ad.tensor(random.normal(size=(40, 70)))
    for number in (0.3, 0.0, np.inf):
        k = ad.tensor(number, dtype="float64")
        (g,) = ad.gradients(k * stencil(u, (1, 1)), [u], v)
        compared(g / ad.tensor(3.0, dtype="float64"), (g * g).sum(axis=1, keepdims=True) + g, exactly=False)


@pytest.mark.parametrize("k", [0.0, -0.0, np.inf, -np.inf, np.nan, 0.3, -2.0, 1e-45, -1e-30])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scaled_neighbours_have_the_bits_of_each_product(k: float, dtype: str) -> None:
    """Where the number or the array are anything: zeros of either sign, infinities, NaN, too small to be normal."""
    values = np.array([0.0, -0.0, 1.5, -1e-30, 1e-45, np.inf, -np.inf, np.nan, 1e38, -3.0] * 13).astype(dtype)
    for shape in [(130,), (10, 13)]:
        u = ad.variable(np.zeros(shape, dtype))
        given, number = ad.tensor(values.reshape(shape)), ad.tensor(np.asarray(k, dtype))
        (g,) = ad.gradients(number * stencil(u, (1,) * len(shape)), [u], given)
        plan, leaves, numbers = planned(g)
        fusion = compared(g)
        assert len(units_of(fusion)) == 1
        program = compile_nests(plan)
        assert program is not None
        with np.errstate(all="ignore"):
            (found,), (steps,) = program.run(leaves, numbers, True), Streaming(plan).run(leaves, numbers, True)
        np.testing.assert_array_equal(np.signbit(found) & ~np.isnan(found), np.signbit(steps) & ~np.isnan(steps))


def test_what_others_read_too_is_written_down() -> None:
    random = np.random.default_rng(1)
    x, k = ad.tensor(random.normal(size=(40, 24))), ad.tensor(0.3)
    y = x * k
    compared(y, stencil(y, (1, 1)))  # it is a result
    compared(stencil(y, (1, 1)) @ ad.tensor(random.normal(size=(24, 8))), y @ ad.tensor(random.normal(size=(24, 8))))
    compared(y[1:] - y[:-1], (y[:, 1:] * y[:, :-1]).sum(axis=1), exactly=False)  # neighbours without zeros around them
    compared(stencil(-y, (1, 1)), stencil(x * x, (1, 1)), stencil(y.T, (1, 1)))
    compared(ad.softmax(y[1:], axis=1) + y[:-1], y[::-1] * 2.0, y[:, :1] + y[:, 1:], exactly=False)


# Sums of many parts that meet -------------------------------------------------------------------------------------------


def put(part: Any, at: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    return ad.pad(part, [(a, n - a - m) for a, n, m in zip(at, shape, part.shape, strict=True)])


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
@pytest.mark.parametrize("form", ["line", "rows", "columns", "with a beginning", "from the right"])
def test_many_parts_that_meet_are_a_few_sums(form: str, dtype: str) -> None:
    """The same numbers are added in the same order, whatever they are."""
    random = np.random.default_rng(3)
    shape = (70,) if form not in ("rows", "columns") else (50, 7) if form == "rows" else (6, 60)
    values = random.choice([0.0, -0.0, 1.5, -3.0, 0.1, 7.0], 3000)
    if dtype != "int32" and form == "line":
        values[::50], values[::70] = np.inf, np.nan
    numbers = iter(values.astype(dtype))
    total: Any = ad.tensor(np.full(shape, -0.0, dtype)) * 1 if form == "with a beginning" else None
    axis = 1 if form == "columns" else 0
    for i in range(60):
        width, first = 1 + i % 4, int(random.integers(0, shape[axis] - 4)) if i % 7 == 0 else i % (shape[axis] - 4)
        sizes = tuple([width if k == axis else n for k, n in enumerate(shape)])
        part = ad.tensor(np.array([next(numbers) for _ in range(int(np.prod(sizes)))], dtype).reshape(sizes)) * 1
        whole = put(part, tuple([first if k == axis else 0 for k in range(len(shape))]), shape)
        total = whole if total is None else whole + total if form == "from the right" else total + whole
    plan, leaves, given = planned(total)
    program = compile_nests(plan)
    assert program is not None
    assert sum([step.op.name == "add" for step in program.plan.steps]) <= 8
    with np.errstate(all="ignore"):
        (found,), (steps,) = program.run(leaves, given, True), Streaming(plan).run(leaves, given, True)
        (loops,) = Oracle(program.fusion, leaves, given).run()
    for other in (steps, loops):
        np.testing.assert_array_equal(found, other)
        np.testing.assert_array_equal(np.signbit(found) & ~np.isnan(found), np.signbit(other) & ~np.isnan(other))


def test_parts_that_meet_in_patches_or_are_read_between_are_added_as_they_come() -> None:
    random = np.random.default_rng(4)
    patches: Any = 0.0
    line, between = put(ad.tensor(random.normal(size=3)) * 1.0, (0,), (40,)), []
    for i in range(30):
        patches = patches + put(ad.tensor(random.normal(size=(3, 3))) * 1.0, (i % 5, i % 6), (9, 9))
        line = line + put(ad.tensor(random.normal(size=3)) * 1.0, (i,), (40,))
        if i in (10, 20, 25):
            between.append(line * 2.0)
    compared(patches, line, *between)


def test_the_gradient_of_overlapping_parts_is_numpys() -> None:
    x, weights = np.random.default_rng(5).normal(size=120), np.random.default_rng(6).normal(size=(110, 5))

    def f(x: Any) -> Any:
        return sum([ad.sum(x[i : i + 1 + i % 5] ** 2 * ad.tensor(weights[i, : 1 + i % 5])) for i in range(110)])

    expected = np.zeros_like(x)
    for i in range(110):
        expected[i : i + 1 + i % 5] += 2.0 * x[i : i + 1 + i % 5] * weights[i, : 1 + i % 5]
    np.testing.assert_allclose(ad.jit(ad.grad(f))(ad.tensor(x)).numpy(), expected, 1e-12)
