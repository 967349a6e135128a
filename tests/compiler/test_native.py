"""Native programs against the interpreter: the same plans, both ways of running them."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint.compiler import linking, pipeline
from adjoint.compiler.excerpts import key_of
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Host, Move, Nest, Product
from adjoint.compiler.targets.target import tuned
from adjoint.compiler.units import write_unit
from adjoint.execution.native import compile_plan
from adjoint.execution.native.program import Native, compile_nests
from adjoint.execution.numpy_programs import Streaming
from adjoint.execution.tiers import tiers
from adjoint.machine.tape import Tape, compile_tape
from adjoint.plan.canonical import canonicalize, value_array
from adjoint.plan.plan import Plan, build
from adjoint.primitives.core import ops
from adjoint.runtime import llvm, memory, object_cache
from adjoint.runtime.memory import Lifetime, new_array, place
from adjoint.tensors.named import wrap
from loop_oracle import Oracle
from plan_check import check

WIDTHS = [bits for bits in (128, 256, 512) if bits <= llvm.vector_bits()]
Planned = tuple[Plan, list[Any], list[Any]]


def planned(*outputs: ad.Tensor) -> Planned:
    """A plan of the outputs with its leaves and numbers."""
    c = canonicalize([y.node for y in outputs])
    plan = build(c, [c.number[y.node] for y in outputs], False)
    return plan, [value_array(x) for x in c.leaves], [v for v, _ in c.numbers]


def agree(*outputs: ad.Tensor, tolerance: float = 1e-12) -> Fusion:
    """Both programs give the same numbers; the fusion, to look at."""
    plan, leaves, numbers = planned(*outputs)
    with np.errstate(all="ignore"):
        expected = Streaming(plan).run(leaves, numbers, True)
    pipeline.lowered(plan, check)
    program = compile_nests(plan)
    assert program is not None
    for _ in range(2):
        for found, other in zip(program.run(leaves, numbers, False), expected, strict=True):
            assert found.dtype == other.dtype and found.shape == other.shape
            if found.dtype.kind == "f":
                np.testing.assert_allclose(found, other, tolerance, tolerance)
            else:
                np.testing.assert_array_equal(found, other)
    return program.fusion


@pytest.fixture(params=WIDTHS)
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("ADJOINT_VECTOR_BITS", str(request.param))
    return int(request.param)


@pytest.fixture
def native() -> Iterator[None]:
    """Everything compiled when first seen."""
    before, tiers.backend = tiers.backend, "native"
    yield
    tiers.backend = before


def normal(*shape: int, dtype: str = "float64", seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def nests(fusion: Fusion) -> list[Nest]:
    return [unit for unit in fusion.units if isinstance(unit, Nest)]


# ---- loop nests ------------------------------------------------------------------------------------------------------

SHAPES = [(), (1,), (7,), (16,), (1000,), (5, 1), (1, 5), (3, 17), (4, 3, 5), (2, 1, 33)]


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_elementwise_chains_of_every_shape(dtype: str) -> None:
    results = []
    for seed, shape in enumerate(SHAPES):
        x, y = ad.tensor(normal(*shape, dtype=dtype, seed=seed)), ad.tensor(normal(*shape, dtype=dtype, seed=seed + 99))
        results += [ad.tanh(x * y + 0.3) ** 2 * ad.sin(x), ad.where(x > y, x, ad.abs(y)), x < y]
    agree(*results, tolerance=1e-5 if dtype == "float32" else 1e-12)


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2), (1, 2), (0, 1)])
def test_reductions_over_every_choice_of_axes(axis: Any) -> None:
    x, bias = ad.tensor(normal(6, 37, 21)), ad.tensor(normal(21))
    y = x * bias
    results = [f(y, axis=axis) for f in (ad.sum, ad.max, ad.min)]
    results += [ad.any(y > 2.5, axis=axis), ad.all(y < 2.5, axis=axis), ad.sum(y > 0, axis=axis), ad.exp(y)]
    agree(*results)


@pytest.mark.usefixtures("width")
def test_softmax_and_layer_norm_are_one_nest_each() -> None:
    for count in (1, 5, 64, 1000):
        x = ad.tensor(normal(8, count))
        fusion = agree(ad.softmax(x, axis=-1))
        assert len(nests(fusion)) == 1
        mean = ad.mean(x, axis=-1, keepdims=True)
        variance = ad.mean((x - mean) ** 2, axis=-1, keepdims=True)
        assert len(nests(agree((x - mean) / ad.sqrt(variance + 1e-5)))) == 1


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_lies_across_the_rows_in_either_direction(dtype: str) -> None:
    x, y = ad.tensor(normal(70, 90, dtype=dtype)), ad.tensor(normal(90, 70, dtype=dtype))
    turns = [ad.rot90(x, k) for k in (1, 3)]
    flipped = [ad.flip(x, axis=0).T, ad.flip(x, axis=1).T, ad.flip(x, axis=(0, 1)).T]
    agree(*[a * y + 1 for a in (*turns, *flipped)], turns[0] - turns[1], flipped[0] * x.T)
    text = str(ad.execution.explain(turns[0] * y, stage="loops"))
    assert "across" in text


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("shape", [(30, 40), (1, 1), (3, 5, 7)])
@pytest.mark.parametrize("count", [1, 16, 37])
def test_indices_of_rows_and_columns_are_not_written_down(shape: tuple[int, ...], count: int) -> None:
    x, random = ad.tensor(normal(*shape)), np.random.default_rng(count)
    for axis in range(len(shape)):
        wanted = [count if k == axis else n for k, n in enumerate(shape)]
        places = ad.tensor(random.integers(-shape[axis], shape[axis], wanted))
        given = ad.where(places < 5, places, places - 1)  # not known while it is recorded
        fusion = agree(ad.take_along_axis(x, given, axis=axis))
        if len(shape) == 2 and min(shape) > 1 and count > 1:
            assert sum(isinstance(unit, Nest) for unit in fusion.units) == 1  # the places themselves
        plan, leaves, numbers = planned(ad.take_along_axis(x, given, axis=axis))
        (found,) = Oracle(compile_nests(plan).fusion, leaves, numbers).run()  # type: ignore[union-attr]
        expected = np.take_along_axis(x.numpy(), given.numpy(), axis)
        np.testing.assert_array_equal(found, expected)


def test_movements_are_views() -> None:
    x, y = ad.tensor(normal(4, 6, 5)), ad.tensor(normal(5, 6, 4))
    fusion = agree(ad.permute_dims(x, (2, 1, 0)) * y + ad.flip(y, axis=1)[::1])
    assert [type(unit) for unit in fusion.units] == [Nest]
    agree(ad.reshape(ad.permute_dims(x, (2, 0, 1)), (20, 6)), x[::2, 1:4], ad.broadcast_to(x[0], (3, 6, 5)))


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_a_large_result_are_written_side_by_side(dtype: str) -> None:
    for seed, (left, right) in enumerate(
        [((3, 133), (3, 701)), ((1029,), (700,)), ((8,), (65_600,)), ((2, 7), (2, 40_000))]
    ):
        x, y = (
            ad.tensor(normal(*left, 1, dtype=dtype, seed=seed)),
            normal(*right[:-1], 1, right[-1], dtype=dtype, seed=9),
        )
        fusion = agree(x @ ad.tensor(y), ad.tensor(y).mT @ x.mT, x - ad.abs(ad.tensor(y)), tolerance=1e-6)
        assert not any(isinstance(unit, Product) for unit in fusion.units), "nothing is summed"


def test_products_take_transposes_and_batches() -> None:
    a, b = ad.tensor(normal(3, 4, 5)), ad.tensor(normal(3, 6, 5))
    fusion = agree(a @ b.mT, ad.exp(a)[0] @ b[1].T, a[:, ::2] @ b.mT, a[:, :, ::2] @ b.mT[:, ::2])
    assert sum(isinstance(unit, Product) for unit in fusion.units) == 4
    single = ad.tensor(normal(5, 1, dtype="float32"))
    agree(single @ single.T, single.T @ single, tolerance=1e-6)


@pytest.mark.parametrize("shape", [(3, 1, 2000, 4), (3, 8, 300, 4), (2, 4, 513, 4), (5, 3, 7, 9), (4, 16, 16, 33)])
def test_small_matrices_of_a_batch_are_summed_as_others_are(shape: tuple[int, ...]) -> None:
    batch, n, k, m = shape
    a, b = normal(batch, n, k), normal(batch, k, m)
    alone = [(ad.tensor(x) @ ad.tensor(y)).numpy() for x, y in zip(a, b, strict=True)]
    for x in (ad.tensor(a), ad.tensor(a.swapaxes(1, 2).copy()).mT):
        for y in (ad.tensor(b), ad.tensor(b.swapaxes(1, 2).copy()).mT):
            agree(x @ y, tolerance=1e-12)
            np.testing.assert_allclose((x @ y).numpy(), alone, rtol=1e-12, atol=1e-12)


def test_what_has_no_lowering_is_left_to_numpy() -> None:
    x = ad.tensor(normal(4, 5))
    fusion = agree(ad.exp(ad.fft.dct(x * 2, axis=1)) + 1, ad.argmax(x + 1, axis=0), ad.sort(x, axis=1) * 2)
    assert any(isinstance(unit, Host) for unit in fusion.units)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("shape", [(65,), (7, 1), (3, 5, 31), (4, 1000)])
def test_the_place_of_an_extreme_is_found_natively(shape: tuple[int, ...], dtype: str, width: int) -> None:
    x = np.random.default_rng(0).integers(0, 9, shape).astype(dtype)  # most extremes stand several times
    if dtype.startswith("float") and shape[-1] > 1:
        flat = x.reshape(-1)
        flat[:: shape[-1] - 1] = -0.0
        flat[11::29], flat[3] = np.nan, -np.inf
    t = ad.tensor(x)
    fusion = agree(*[f(u, axis=axis) for u in (t,) for f in (ad.argmax, ad.argmin) for axis in range(t.ndim)])
    assert not any(isinstance(unit, Host) for unit in fusion.units)


@pytest.mark.parametrize("to", ["int32", "int64", "int16"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_become_integers_as_in_numpy(dtype: str, to: str) -> None:
    edges = [0.5, -0.5, 1.99, -1.99, -0.0, 2.0**31, -(2.0**31), 2.0**31 - 1, -(2.0**31) - 1, 2.0**63, -(2.0**63), 1e30]
    x = np.concatenate([normal(57) * 100, edges, [np.nan, np.inf, -np.inf]]).astype(dtype)
    if to == "int16":  # which has no native code: what is out of range is nothing that one could lean on
        x = x[:57]
    fusion = agree(ad.tensor(x).astype(to) + 1)
    assert any(isinstance(unit, Host) for unit in fusion.units) == (to == "int16")


def test_what_numpy_passes_on_survives_the_reuse_of_its_memory() -> None:
    x = ad.variable(normal(500))

    def layers(v: ad.Tensor) -> tuple[ad.Tensor, ad.Tensor]:
        return ad.tanh(v * 1.01 + 0.1), ad.sin(v)

    a, b = ad.checkpoint(layers)(ad.fft.dct(x))
    c, d = ad.checkpoint(layers)(ad.fft.dct(a) + b)
    (gradient,) = ad.gradients((c * d).sum(), [x])
    agree(c, gradient)


def test_zero_times_infinity_is_zero_from_the_start() -> None:
    x = ad.variable(np.array([0.0, 1.0, 4.0]))
    (gradient,) = ad.gradients(ad.where(x > 0, ad.sqrt(x), 0.0).sum(), [x])
    agree(gradient)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_sums_are_at_least_as_accurate_as_numpys(dtype: str) -> None:
    values = np.random.default_rng(1).uniform(0, 1, 1_000_003).astype(dtype)
    plan, leaves, numbers = planned(ad.sum(ad.tensor(values) * 1.0))
    program = compile_plan(plan)
    assert program is not None
    exact = float(np.sum(values.astype(np.longdouble)))
    found = float(program.run(leaves, numbers, False)[0])
    assert abs(found - exact) <= max(abs(float(values.sum()) - exact), exact * np.finfo(dtype).eps)


def test_long_sums_keep_infinities() -> None:
    values = np.ones(100_000)
    values[50_000] = np.inf
    agree(ad.sum(ad.tensor(values)), ad.max(ad.tensor(values)))


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("width_of_rows", [3, 10, 37, 64])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_totals_of_chunks(axis: int, dtype: str, width_of_rows: int) -> None:
    """Each chunk has totals of its own where all add to the same ones, and of those alone."""
    shape = (12500 // width_of_rows, width_of_rows)
    shape = (shape[0] // 5, 5, shape[1]) if axis else shape
    x, factor = (ad.tensor(np.abs(8 * normal(*n)).astype(dtype)) for n in (shape, (*shape[:-1], 1)))
    y = x * factor
    results = [ad.sum(y, axis=axis), y, ad.max(y, axis=axis), ad.min(y, axis=axis)]
    with tuned(chunk=1 << 11, shared_from=1 << 12):
        fusion = agree(*results, tolerance=1e-4 if dtype == "float32" else 1e-12)
        (nest,) = nests(fusion)
        written = write_unit(key_of(fusion, nest)[0])
        assert written.chunks > 4
        assert bool(written.arguments.shared) == bool(written.last) == (axis == 0)
        plan, leaves, numbers = planned(*results)
        program = compile_nests(plan)
        assert program is not None
        loops, found = Oracle(program.fusion, leaves, numbers).run(), []
        before = ad.get_num_threads()
        for threads in (1, 2):
            ad.set_num_threads(threads)
            found.append(program.run(leaves, numbers, False))
        ad.set_num_threads(before)
        for one, two, three in zip(*found, loops, strict=True):
            np.testing.assert_array_equal(one, two)
            np.testing.assert_array_equal(one, three)


# ---- moves -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bool"])
def test_moves_of_every_kind(dtype: str) -> None:
    generator = np.random.default_rng(0)
    x, y = (ad.tensor((generator.normal(size=s) * 9).astype(dtype)) for s in ((7, 5, 37), (7, 3, 37)))
    rows, columns = generator.integers(-7, 7, (4, 6)), generator.integers(0, 5, (4, 6))
    flat = ad.permute_dims(x, (2, 0, 1))
    results = [
        ad.concat([x, y, x[:, :2]], axis=1), ad.concat([flat, flat[::-1]], axis=0), ad.stack([x, x], axis=2),
        x[rows], x[rows, columns], flat[columns], ad.take(x, ad.tensor(columns[0]), axis=1), ad.pad(x, ((1, 2), (0, 0), (3, 1))),
    ]  # fmt: skip
    written = x.detach()
    written[1:6:2, ::-1, 3] = y[0, 0, 0]
    scattered = x.detach()
    scattered[rows, columns] = x[0, 0]
    fusion = agree(*results, written, scattered)
    assert not any(isinstance(unit, Host) for unit in fusion.units), [
        u.step.op for u in fusion.units if isinstance(u, Host)
    ]


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int16"])
def test_many_parts_of_few_forms(dtype: str) -> None:
    generator = np.random.default_rng(0)
    x = ad.tensor((generator.normal(size=(40, 6)) * 9).astype(dtype))
    results = [
        ad.stack([x[i] * 2 for i in range(40)]),
        ad.stack([x[(7 * i) % 40] * 2 for i in range(40)], axis=1),
        ad.concat([x[i, : 1 + i % 5] * 2 for i in range(40)]),
        ad.concat([x[i : 2 * i + 1, 0] * 2 for i in range(20)]),
        ad.concat([x[:2] * 2, *[x[i : i + 1] * 3 for i in range(20)], x[5:]]),
        ad.stack([x[i] > 0 for i in range(40)]) if dtype != "complex64" else x,
    ]
    if dtype == "int16":
        agree(*results)
        return
    v = ad.variable(x.numpy())
    takings = [
        [v[(7 * i) % 40] * x[i] for i in range(40)],
        [v[i, (3 * i) % 6] * x[i, 1] for i in range(40)],
        [v[i % 5] * x[i] for i in range(20)],
        [v[i : i + 2, i % 3 : 6] * x[:2, i % 3 : 6] for i in range(30)],
    ]
    for parts in takings:
        total = sum([ad.sum(part) for part in parts], ad.sum(0 * v))
        results += ad.gradients(total if dtype != "complex64" else ad.real(total), [v])
    agree(*results, tolerance=1e-5 if dtype != "float64" else 1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_is_selected_twice_gets_both_cotangents(dtype: str) -> None:
    generator = np.random.default_rng(1)
    table = ad.variable(generator.normal(size=(11, 20)).astype(dtype))
    indices = ad.tensor(generator.integers(-11, 11, 300))
    (gradient,) = ad.gradients((table[indices] ** 2).sum(), [table])
    fusion = agree(gradient, tolerance=1e-5 if dtype == "float32" else 1e-12)
    assert {unit.step.op.name for unit in fusion.units if isinstance(unit, Move)} == {"gather", "scatter_add"}


@pytest.mark.parametrize("extents", [(5,), (3000,), (3, 40)], ids=str)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_latest_of_those_that_meet(extents: tuple[int, ...], dtype: str) -> None:
    """Whatever is in the memory where they meet, which nobody clears."""
    random = np.random.default_rng(len(extents))
    for shape in ((700,), (9, 5), (1,)):
        indices = [ad.tensor(random.integers(-n, n, shape).astype(dtype)) for n in extents]
        numbers = ops.reshape(ops.iota(int(np.prod(shape)), ad.int32), shape)
        fusion = agree(wrap(ops.latest(numbers, [i.node for i in indices], extents)))
        assert not [unit for unit in fusion.units if isinstance(unit, Host)]
        places = np.ravel_multi_index(tuple([i.numpy() % n for i, n in zip(indices, extents, strict=True)]), extents)
        latest = {int(place): k for k, place in enumerate(places.ravel())}
        expected = np.array([latest[int(place)] for place in places.ravel()]).reshape(shape)
        np.testing.assert_array_equal(wrap(ops.latest(numbers, [i.node for i in indices], extents)).numpy(), expected)

        def own(*given: ad.Tensor, numbers: Any = numbers) -> ad.Tensor:
            return wrap(ops.latest(numbers, [i.node for i in given], extents))

        both = [ad.stack([i, ad.flip(i)]) for i in indices]
        for k, found in enumerate(ad.vmap(own)(*both).numpy()):
            np.testing.assert_array_equal(found, own(*[x[k] for x in both]).numpy())


@pytest.mark.parametrize("bad", [5, -6])
def test_the_latest_outside_is_refused(bad: int) -> None:
    made = wrap(ops.latest(ops.iota(3, ad.int32), [ad.tensor([0, bad, 1]).node], (5,)))
    plan, leaves, numbers = planned(made)
    program = compile_nests(plan)
    assert program is not None
    for run in (program.run, Streaming(plan).run):
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 5"):
            run(leaves, numbers, True)


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("bad", [4, -5, 1 << 40])
def test_an_index_out_of_bounds_is_refused_before_anything_is_read(bad: int) -> None:
    x, wrong = ad.tensor(normal(4, 3)), np.array([0, 3, bad, 1])
    with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 4"):
        (x[ad.tensor(wrong)] * 2).numpy()
    np.testing.assert_array_equal((x[ad.tensor(wrong.clip(-4, 3))] * 2).numpy(), 2 * x.numpy()[wrong.clip(-4, 3)])


# ---- programs --------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("native")
def test_a_training_loop_is_the_interpreters() -> None:
    def losses() -> list[float]:
        x, y = ad.tensor(normal(16, 7, seed=1)), ad.tensor(normal(16, 3, seed=2))
        w, b = ad.variable(normal(7, 3, seed=3)), ad.variable(np.zeros(3))
        found = []
        for _ in range(5):
            loss = ((ad.tanh(x @ w + b) - y) ** 2).mean()
            loss.backward()
            for p in (w, b):
                p.data -= 0.1 * p.grad
                p.grad = None
            found.append(loss.item())
        return found

    compiled = losses()
    tiers.backend = "numpy"
    np.testing.assert_allclose(compiled, losses(), 1e-12)


@pytest.mark.usefixtures("native")
def test_threads_share_a_program() -> None:
    inputs = [normal(50, 40, seed=seed) for seed in range(8)]
    expected = [np.sum(np.tanh(x) @ x.T, axis=0) for x in inputs]
    found: list[Any] = [None] * len(inputs)

    def work(k: int) -> None:
        for _ in range(20):
            x = ad.tensor(inputs[k])
            found[k] = ad.sum(ad.tanh(x) @ x.T, axis=0).numpy()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, 1e-11, 1e-11)


def test_results_outlive_the_next_run() -> None:
    plan, leaves, numbers = planned(ad.exp(ad.tensor(normal(9))) * 2.0)
    program = compile_plan(plan)
    assert program is not None
    (first,) = program.run(leaves, numbers, False)
    kept = first.copy()
    program.run([x + 1 for x in leaves], numbers, False)
    np.testing.assert_array_equal(first, kept)


def test_memory_of_a_large_result_returns_when_its_last_view_is_gone() -> None:
    gc.collect()
    memory._returned.clear()  # nothing of this size that another test has left waits before it
    plan, leaves, numbers = planned(ad.exp(ad.tensor(normal(200, 200))) * 2.0)
    program = compile_plan(plan)
    assert program is not None
    (first,) = program.run(leaves, numbers, False)
    address, row, expected = first.ctypes.data, first[3], first[3].copy()
    del first
    (second,) = program.run([x + 1 for x in leaves], numbers, False)
    assert second.ctypes.data != address
    np.testing.assert_array_equal(row, expected)
    del row
    (third,) = program.run(leaves, numbers, False)
    assert third.ctypes.data == address


def test_arrays_that_live_together_do_not_overlap() -> None:
    generator = np.random.default_rng(5)
    for _ in range(50):
        items = []
        for key in range(30):
            first = int(generator.integers(0, 20))
            items.append(Lifetime(key, int(generator.integers(1, 5000)), first, first + int(generator.integers(0, 8))))
        offsets, total = place(items)
        for a in items:
            assert offsets[a.key] + a.size <= total
            for b in items:
                if a.key != b.key and a.first <= b.last and b.first <= a.last:
                    one, other = offsets[a.key], offsets[b.key]
                    assert one + a.size <= other or other + b.size <= one


# ---- the disk cache --------------------------------------------------------------------------------------------------


def test_object_code_is_read_back_and_damage_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJOINT_CACHE", str(tmp_path))
    x = normal(30)

    def compute() -> np.ndarray:
        plan, leaves, numbers = planned(ad.cos(ad.tensor(x)) * 2.5)
        program = compile_plan(plan)
        assert program is not None
        return program.run(leaves, numbers, False)[0]

    def forget() -> None:
        linking.forget()
        gc.collect()

    forget()
    expected = compute()
    index, *_, module = sorted(tmp_path.iterdir(), key=lambda path: path.stat().st_size)
    calls: list[int] = []
    original = llvm.object_code
    monkeypatch.setattr(llvm, "object_code", lambda *a: calls.append(1) or original(*a))
    np.testing.assert_array_equal(compute(), expected)
    forget()
    np.testing.assert_array_equal(compute(), expected)
    assert not calls
    for entry in (index, module):
        sound = entry.read_bytes()
        for damaged in (sound[:20], b"", sound[:-1] + bytes([sound[-1] ^ 1])):
            entry.write_bytes(damaged)
            forget()
            np.testing.assert_array_equal(compute(), expected)
            assert entry.read_bytes()[:32] == sound[:32]
    assert len(calls) == 6


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("ADJOINT_CACHE", str(blocked))
    agree(ad.sin(ad.tensor(normal(5))) + 1.5)


def test_the_cache_stays_within_its_limit(tmp_path: Path) -> None:
    for k in range(10):
        path = tmp_path / f"{k:064x}"
        path.write_bytes(bytes(100))
        os.utime(path, (k, k))
    object_cache.trim(tmp_path, 350)
    assert sorted(int(path.name, 16) for path in tmp_path.iterdir()) == [7, 8, 9]


# ---- the surroundings ------------------------------------------------------------------------------------------------


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_importing_adjoint_does_not_load_llvmlite() -> None:
    result = run_python("import sys, adjoint; assert 'llvmlite' not in sys.modules", ADJOINT_BACKEND="native")
    assert result.returncode == 0, result.stderr


def test_without_llvmlite_one_notice_and_numpy() -> None:
    code = (
        "import sys; sys.modules['llvmlite'] = None\n"
        "import adjoint as ad\n"
        "for k in range(3): print((ad.ones((3,)) * (k + 2.5)).sum().item())"
    )
    result = run_python(code, ADJOINT_BACKEND="native")
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["7.5", "10.5", "13.5"]
    assert result.stderr.count("NumPy alone") == 1


def test_an_unknown_backend_is_named() -> None:
    result = run_python("import adjoint.execution", ADJOINT_BACKEND="cuda")
    assert "numpy, auto, native" in result.stderr


# ---- what is explained -----------------------------------------------------------------------------------------------


def test_a_plan_is_explained_kernel_by_kernel() -> None:
    x, w = ad.tensor(normal(64, 300, dtype="float32")), ad.tensor(normal(300, 50, dtype="float32", seed=1))
    y = ad.softmax(ad.fft.dct(x, axis=1) @ w + 1.5, axis=-1)
    explanation = ad.execution.explain(y)
    assert y.node.value is None, "explaining must not compute"
    if tiers.backend == "numpy":
        assert explanation.backend == "numpy" and len(explanation.kernels) > 5
        return
    assert explanation.backend == "native"
    by_kind = {kernel.kind: kernel for kernel in explanation.kernels}
    assert by_kind["numpy"].operations == ("trigonometric_transform",)
    product = by_kind["product"]
    assert product.flops == 2 * 64 * 300 * 50 and product.bytes == 4 * (64 * 300 + 300 * 50 + 64 * 50)
    softmax = by_kind["loops"]
    assert {"add", "max", "subtract", "exp", "sum"} <= set(softmax.operations) and softmax.bytes >= 2 * 4 * 64 * 50
    assert all(kernel.seconds > 0 for kernel in explanation.kernels)
    text = str(explanation)
    assert (
        "trigonometric_transform" in text
        and "GFLOP/s" in text
        and f"{len(explanation.kernels)} kernels (native)" in text
    )
    y.numpy()
    with pytest.raises(ValueError, match="has been computed"):
        ad.execution.explain(y)
    with pytest.raises(TypeError, match="explain: expected tensors or one compiled function, got float"):
        ad.execution.explain(3.0)


# ---- the tape machine ------------------------------------------------------------------------------------------------


def taped(*outputs: ad.Tensor, tolerance: float = 1e-12) -> Tape | None:
    """The outputs' plan on the tape machine agrees with the interpreter; the tape, None where it refuses."""
    plan, leaves, numbers = planned(*outputs)
    tape = compile_tape(plan)
    if tape is None:
        return None
    with np.errstate(all="ignore"):
        for shift in (0, 1, 0):
            moved = [x + shift if x.dtype.kind == "f" else x for x in leaves]
            others = [v + shift if isinstance(v, float) else v for v in numbers]
            expected = Streaming(plan).run(moved, others, True)
            for found, other in zip(tape.run(moved, others, True), expected, strict=True):
                assert found.dtype == other.dtype and found.shape == other.shape
                np.testing.assert_allclose(found, other, tolerance, tolerance)
    return tape


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (8,), (3, 7), (100,), (33, 17)])
def test_a_tape_is_the_interpreters(dtype: str, shape: tuple[int, ...]) -> None:
    x, w = ad.variable(normal(*shape, dtype=dtype)), ad.variable(normal(*shape, dtype=dtype, seed=1))
    y, z = x, ad.asin(ad.tanh(w) * 0.5)
    for k in range(3):
        y = ad.sin(y * w + 0.25 * k) ** 2 + ad.where(x > w, ad.exp(-ad.abs(y)), ad.maximum(z, 0.5)).reshape(shape)
    chosen = (x > 0) & ~ad.isnan(w)
    total = (y * 2.5).sum() + ad.relu(y).sum()
    gradients = ad.gradients(total, [x, w])
    tape = taped(
        total, y, chosen, chosen.astype("int32").sum(), *gradients, tolerance=2e-5 if dtype == "float32" else 1e-11
    )
    assert tape is not None


def test_what_a_tape_refuses() -> None:
    x = ad.tensor(normal(4, 5))
    assert taped(ad.sin(x).sum(axis=0)) is None
    assert taped(ad.sin(x) @ x.mT) is None
    assert taped(ad.sin(x) + x[0]) is None
    assert taped(ad.cumulative_sum(x, axis=0) * 2) is None


def test_long_plans_of_small_arrays_run_on_the_tape() -> None:
    x = ad.variable(normal(100))
    y = x
    for _ in range(2000):
        y = ad.sin(y) * 1.01 + 0.1
    plan, leaves, numbers = planned(y.sum(), *ad.gradients(y.sum(), [x]))
    with np.errstate(all="ignore"):
        expected = Streaming(plan).run(leaves, numbers, True)
    tape = compile_plan(plan)
    assert isinstance(tape, Tape)
    for found, other in zip(tape.run(leaves, numbers, True), expected, strict=True):
        np.testing.assert_allclose(found, other, 1e-9, 1e-12)


# ---- positions that clip --------------------------------------------------------------------------------------------


def clipped(x: ad.Tensor, value: ad.Tensor, *indices: np.ndarray) -> ad.Tensor:
    return wrap(ops.scatter(x.node, value.node, [ad.tensor(i).node for i in indices], clips=True))


def test_rows_are_written_at_the_nearest_position_inside(width: int) -> None:
    x, value = normal(4, 3, 19), normal(2, 2, 19, seed=1)
    rows, columns = np.array([[-7, 1], [3, 9]]), np.array([[0, -1], [5, 1]], np.int32)
    fusion = agree(clipped(ad.tensor(x), ad.tensor(value), rows, columns) * 1.0)
    assert not any(isinstance(unit, Host) for unit in fusion.units)
    expected = x.copy()
    expected[rows.clip(0, 3), columns.clip(0, 2)] = value
    np.testing.assert_array_equal(clipped(ad.tensor(x), ad.tensor(value), rows, columns).numpy(), expected)


def test_what_clips_is_differentiated_and_mapped() -> None:
    where = np.array([-2, 1, 8])

    def write(x: ad.Tensor, value: ad.Tensor) -> ad.Tensor:
        return clipped(x, value, where)

    x, value = ad.tensor(normal(4, 2)), ad.tensor(normal(3, 2, seed=1))
    ad.check_grads(write, (x, value), order=2)
    several = ad.vmap(write)(ad.stack([x, x * 2]), ad.stack([value, value * 3]))
    np.testing.assert_array_equal(several.numpy()[1], write(x * 2, value * 3).numpy())
    moved = ad.vmap(lambda i: wrap(ops.scatter(x.node, value.node, [i.node], clips=True)))
    places = np.array([[0, 1, 2], [-5, 2, 9]])
    for found, one in zip(moved(ad.tensor(places)).numpy(), places, strict=True):
        np.testing.assert_array_equal(found, clipped(x, value, one).numpy())


# ---- donated leaves --------------------------------------------------------------------------------------------------


def test_a_donated_leaf_gives_its_memory_to_a_result() -> None:
    m, v, g = (ad.tensor(normal(300, 90, seed=k)) for k in range(3))
    plan, leaves, numbers = planned(0.9 * m + 0.1 * g, ad.sqrt(v * v) + g, ad.flip(g, axis=0))
    expected = [
        0.9 * m.numpy() + 0.1 * g.numpy(),
        np.abs(v.numpy()) + g.numpy(),
        g.numpy()[::-1].copy(),
    ]
    at_m, at_v, at_g = ([x is t.node.value for x in leaves].index(True) for t in (m, v, g))
    program = compile_plan(plan)
    assert program is not None
    given = [new_array(x.shape, x.dtype, x.nbytes) for x in leaves]
    for one, other in zip(given, leaves, strict=True):
        one[...] = other
    found = program.run(given, numbers, False, {0, 1, 2})
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, 1e-12, 1e-12)
    assert found[0] is given[at_m], "the average is updated where it lies"
    assert found[1] is given[at_v]
    np.testing.assert_array_equal(given[at_g], leaves[at_g])  # two results read it, one of them back to front
    again = program.run(leaves, numbers, False)
    assert all(again[k] is not leaves[j] for k in range(3) for j in range(3))


@pytest.mark.usefixtures("native")
def test_an_average_is_updated_in_place_only_while_nobody_can_see_it() -> None:
    g, m = normal(400, 100), ad.tensor(np.zeros((400, 100)))
    gradient, expected = ad.tensor(g), np.zeros((400, 100))
    addresses, seen = [], []
    for step in range(12):
        m.data = 0.75 * m + gradient
        expected = 0.75 * expected + g
        if step % 4 == 3:
            seen.append((m.numpy(), expected.copy()))  # pins the memory
        elif step % 4 == 2:
            seen.append((ad.evaluate(m.detach()), expected.copy()))  # a second name
        ad.evaluate(m)
        addresses.append(m.node.value.ctypes.data)
    assert len(set(addresses)) < len(addresses), "the memory was never written over"
    for one, other in seen:
        np.testing.assert_allclose(np.asarray(one), other, 1e-12, 1e-12)
    x = ad.variable(g)
    y = (ad.tanh(m * 1.0) * x).sum()  # a tracked graph reads the average again
    y.item()
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.tanh(expected), 1e-12)


@pytest.mark.usefixtures("native")
def test_an_interrupt_during_an_update_comes_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import signal

    from adjoint.plan import donation

    m, g = ad.tensor(np.zeros((300, 100))), ad.tensor(np.ones((300, 100)))
    for _ in range(3):
        m.data = 0.5 * m + g
        ad.evaluate(m)
    used: list[Native] = []
    whole = Native.run
    with monkeypatch.context() as patched:
        patched.setattr(Native, "run", lambda self, *given: (used.append(self), whole(self, *given))[1])
        m.data = 0.5 * m + g
        ad.evaluate(m)
    program = used[-1]
    assert any(program.shares.values())
    original, calls = program.run, []

    def run(*arguments: Any) -> Any:
        result = original(*arguments)
        calls.append(len(arguments[3]))
        signal.raise_signal(signal.SIGINT)
        return result

    program.run = run
    m.data = 0.5 * m + g
    with pytest.raises(KeyboardInterrupt):
        ad.evaluate(m)
    del program.run
    assert calls == [1] and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    np.testing.assert_array_equal(m.numpy(), np.full((300, 100), 1.9375))
    assert m.numpy().nbytes >= donation.LEAST


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("dtype", ["float32", "complex128", "int16"])
@pytest.mark.parametrize("length", [7, 40, 30_000])
def test_a_row_is_written_into_an_array_where_it_lies(length: int, dtype: str) -> None:
    """The row of an index that is checked there and then; where it is out of bounds, nothing has been written. Long rows are
    written by two threads."""

    def write(row: ad.Tensor, place: ad.Tensor) -> ad.Tensor:
        held[0][place, place * 0] = row
        return row + row

    start = (normal(900, 1, length, seed=1) if length < 99 else normal(9, 1, length, seed=1)).astype(dtype)
    row, expected = ad.tensor((normal(1, length) * 9).astype(dtype)), start.copy()
    held, last = [ad.tensor(start)], len(start) - 1
    function, before = ad.jit(write), ad.get_num_threads()
    try:
        for threads in (1, 2):
            ad.set_num_threads(threads)
            addresses = []
            for step, place in enumerate([3, -2, 0, last, last, -last - 1]):
                function(row, ad.tensor([place])).numpy()
                expected[place] = row.numpy()
                addresses.append(held[0].node.value.ctypes.data)
                for wrong in (last + 1, -last - 2) if step > 3 else ():
                    with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0"):
                        function(row, ad.tensor([wrong]))
                    np.testing.assert_array_equal(held[0].node.value, expected)
            assert len(set(addresses[2:5])) == 1, "the array was copied"
    finally:
        ad.set_num_threads(before)
    seen = held[0].numpy()
    function(row, ad.tensor([1]))
    np.testing.assert_array_equal(seen, expected)  # it has an owner, and is copied


@pytest.mark.usefixtures("native")
def test_some_rows_are_written_into_a_copy() -> None:
    """One of their indices may be out of bounds when others have been used."""
    held = [ad.tensor(normal(500, 40))]

    def write(rows: ad.Tensor, places: ad.Tensor) -> ad.Tensor:
        held[0][places] = rows
        return rows + rows

    function, rows = ad.jit(write), ad.tensor(normal(3, 40, seed=1))
    for _ in range(4):
        function(rows, ad.tensor([3, -1, 7])).numpy()
    expected = np.array(held[0].node.value)
    with pytest.raises(IndexError, match="index 500 is out of bounds"):
        function(rows * 2, ad.tensor([5, 500, 6]))
    np.testing.assert_array_equal(held[0].node.value, expected)


@pytest.mark.parametrize("name", ["remainder", "floor_divide"])
@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
)
def test_quotients_rounded_down_are_numpys(name: str, dtype: str) -> None:
    """Of all signs, by 0 and -1, of the smallest number, infinities and NaN: every bit."""
    if dtype.startswith("float"):
        ends = [0.0, -0.0, 1.0, -1.0, 0.6, -0.6, 5.5, -5.5, 1e30, -1e-30, np.inf, -np.inf, np.nan]
    else:
        ends = [0, 1, 2, 3, 7, np.iinfo(dtype).max, np.iinfo(dtype).min, *([-1, -2, -7] if dtype[0] == "i" else [])]
    values = np.array(ends, dtype)
    a, b = (x.ravel() for x in np.meshgrid(values, values))
    plan, leaves, numbers = planned(getattr(ad, name)(ad.tensor(a), ad.tensor(b)))
    program = compile_nests(plan)
    assert program is not None
    with np.errstate(all="ignore"):
        (found,), expected = program.run(leaves, numbers, True), getattr(np, name)(a, b)
    np.testing.assert_array_equal(found, expected)
    some = ~np.isnan(expected)  # whose sign says nothing
    np.testing.assert_array_equal(np.signbit(found[some]), np.signbit(expected[some]))


def test_what_is_streamed_past_the_caches() -> None:
    """The same bits, whether rows are whole lines of the caches or not, by code that serves both."""
    with tuned(jammed_from=1, streamed_from=1):
        for dtype in ("float32", "float64"):
            outer = ad.jit(lambda x, y: (x * y, x * y + 1))
            for rows, columns in ((19, 320), (16, 1024), (19, 321), (40, 320), (23, 328), (19, 1000)):
                x, y = np.linspace(-1, 3, columns, dtype=dtype), np.linspace(2, 5, rows, dtype=dtype)[:, None]
                product, _ = outer(ad.tensor(x), ad.tensor(y))
                np.testing.assert_array_equal(product.numpy(), x * y)
        assert "(streamed)" in str(ad.execution.explain(ad.tensor(x[:960]) * ad.tensor(y), stage="loops"))
