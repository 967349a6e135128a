"""Threads of native code: the same bits for every number of them, and no harm to whoever else runs."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
import adjoint.runtime
from adjoint.compiler.excerpts import key_of
from adjoint.compiler.extents import Sheet
from adjoint.compiler.fuse.kinds import Product
from adjoint.compiler.programs import SHARED, WAKING
from adjoint.compiler.schedule.chunks import balanced, even, evenly, rows_of_chunk
from adjoint.compiler.schedule.matmul import PARTS
from adjoint.compiler.schedule.schedule import schedule
from adjoint.compiler.targets.target import Sizes, tuned, tuning
from adjoint.compiler.units import write_unit
from adjoint.execution.native import compile_plan
from adjoint.execution.numpy_programs import Streaming
from adjoint.runtime import pool as pool_module
from adjoint.runtime.pool import pool
from derivative_checks import tensors
from drawn_programs import Program, programs
from operation_rows import inexact_arrays
from operations import OPERATIONS
from test_native import normal, planned

COUNTS = (1, 2, 4)


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    before = ad.get_num_threads()
    yield
    ad.set_num_threads(before)


SMALL = {
    "worth_sharing": 0, "worth_helping": 0, "shared_from": 1, "chunk": 8, "block": 4, "ours": Sizes(64, 64, 2),
    "library": Sizes(64, 64, 2), "deep_rows": 2, "joined_from": 1, "joined_tile": 64,
}  # fmt: skip


@pytest.fixture
def small_chunks() -> Iterator[None]:
    """Everything falls into chunks, however small."""
    with tuned(**SMALL):
        yield


shared: list[bool] = []  # whether the programs that were compared call the pool


def same_bits(*outputs: ad.Tensor, tolerance: float = 1e-11) -> list[Any]:
    """The results, equal for every number of threads, and near the interpreter's."""
    plan, leaves, numbers = planned(*outputs)
    with np.errstate(all="ignore"):
        expected = Streaming(plan).run(leaves, numbers, True)
    program = compile_plan(plan)
    if program is None:
        return list(expected)
    results = []
    shared.append(program.launches)
    for count in COUNTS:
        ad.set_num_threads(count)
        results.append(program.run(leaves, numbers, False))
    for others in results[1:]:
        for first, other in zip(results[0], others, strict=True):
            assert first.tobytes() == other.tobytes()
    for found, other in zip(results[0], expected, strict=True):
        if found.dtype.kind in "fc":
            scale = np.abs(other[np.isfinite(other)]).max(initial=1.0)
            np.testing.assert_allclose(found, other, tolerance, tolerance * scale)
        else:
            np.testing.assert_array_equal(found, other)
    return results[0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_nests_in_chunks(dtype: str) -> None:
    tolerance = 1e-5 if dtype == "float32" else 1e-11
    x = ad.variable(normal(300_007, dtype=dtype))
    loss = ad.sum(ad.tanh(x * 1.5 + 0.1) ** 2 * ad.sin(x))
    same_bits(loss, *ad.gradients(loss, [x]), ad.mean(x), ad.max(x), ad.min(x), ad.any(x > 4), tolerance=tolerance)
    y = ad.tensor(normal(700, 333, dtype=dtype, seed=1))
    z = ad.exp(y * 0.1)
    same_bits(
        ad.softmax(z, axis=-1), z.sum(0), z.max(0), z.sum(1), z.sum(), (z > 1).sum(0), z.T + y.T, tolerance=tolerance
    )
    assert all(shared[-2:])
    b = ad.tensor(normal(12, 100, 230, dtype=dtype, seed=2))
    same_bits(
        (b * b).sum((0, 2)), (b * 2).sum(1), ad.sum(b + b[:, :1]), ad.prod(1 + 0.001 * b, axis=0), tolerance=tolerance
    )


COLUMNS = [(1, 300, 8), (5, 1031, 3), (4, 700, 17), (3, 2, 40), (2, 515, 1), (33, 40, 64), (7, 9, 200)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex128"])
@pytest.mark.parametrize("shape", COLUMNS, ids=str)
def test_sums_by_column(shape: tuple[int, int, int], dtype: str, small_chunks: None) -> None:
    """Rows of any length, of which a few are added up at once, in blocks and without."""
    x = (normal(*shape) * 9).astype(dtype)
    given = ad.tensor(x)
    exact = x.astype("complex128" if dtype == "complex128" else "float64")
    found = same_bits(given.sum((0, 1)), (given * given).sum((0, 1)), given.sum(0), given.sum(1), tolerance=1e-5)
    for result, other in zip(found, (exact, exact**2), strict=False):
        scale = np.abs(other).sum((0, 1)).max()
        np.testing.assert_allclose(result, other.sum((0, 1)), 0, (1e-6 if dtype == "float32" else 1e-13) * scale)
    if dtype in ("float32", "float64"):
        y = given - 1
        same_bits(y, y.max((0, 1)), y.min((0, 1)), (y * y).sum((0, 1)), tolerance=1e-5)


def test_short_sums_by_column_stay_in_registers() -> None:
    x = ad.tensor(normal(4096, 8, dtype="float32"))
    text = str(ad.execution.explain(x.sum(0), stage="loops"))
    inner = text[text.index("by 4:") :].split("if")[0]
    assert inner.count("= s") == 4 and "%1" not in inner


def launching(program: Any) -> tuple[bool, list[int]]:
    return program.launches, program.linked.calls[:, 3].tolist()


def test_short_units_are_worth_waking_others_together() -> None:
    """A unit of some microseconds isn't worth it; many in a row are, and then the first one wakes them."""
    x = ad.tensor(normal(64, 250))

    def program(count: int) -> Any:
        y = x
        results = []
        for k in range(count):
            y = ad.softmax(y * (k + 2), axis=-1).sum(0) + x
            results.append(y)
        return compile_plan(planned(*results)[0])

    with tuned(shared_from=1 << 10, chunk=1 << 9):
        few, many = launching(program(1)), launching(program(40))
    assert few == (False, [0] * len(few[1]))
    launches, flags = many
    assert launches and flags.count(SHARED | WAKING) == 1
    assert [flag for flag in flags if flag][0] == SHARED | WAKING and flags.count(SHARED) > 20


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_products_in_tiles(dtype: str) -> None:
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    a, b, bias = [ad.tensor(normal(*s, dtype=dtype, seed=k)) for k, s in enumerate([(700, 260), (260, 300), (300,)])]
    same_bits(ad.relu(a @ b + bias), (a @ b).sum(0), b.T @ a.T, a.T @ a, tolerance=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [(90, 70), (40, 97), (64, 32)], ids=str)
@pytest.mark.parametrize("k", [2300, 4096, 9100])
def test_long_sums_over_rows_in_parts(k: int, size: tuple[int, int], dtype: str) -> None:
    """Whichever matrix has more columns, and whether the last part has as many terms, fewer than a block, or nearly all."""
    a, b = [ad.tensor(normal(k, n, dtype=dtype, seed=n)) for n in size]
    (found,) = same_bits(a.mT @ b, tolerance=1e-3 if dtype == "float32" else 1e-10)
    program = compile_plan(planned(a.mT @ b)[0])
    assert program is not None
    (unit,) = program.fusion.units
    assert write_unit(key_of(program.fusion, unit)[0]).chunks == {2300: 3, 4096: 4, 9100: 8}[k]
    exact = a.numpy().astype("f8").T @ b.numpy().astype("f8")
    unit_in_last_place = np.finfo(dtype).eps
    assert np.abs(found - exact).max() < 30 * k**0.5 * unit_in_last_place
    with tuned(parted_from=1 << 40):
        (by_rows,) = same_bits(a.mT @ b * 1.0, tolerance=1e-3 if dtype == "float32" else 1e-10)
    assert np.abs(found - by_rows).max() < 30 * k**0.5 * unit_in_last_place


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_long_matrices_meet_a_vector_in_parts(dtype: str) -> None:
    """Ranges of rows, and where the sum is long parts of it, whichever way the matrix lies."""
    rows = tuning().parted_vector + 77
    tolerance = 1e-3 if dtype == "float32" else 1e-10
    for columns in (4, 7):
        a, v, w = [
            ad.tensor(normal(*s, dtype=dtype, seed=k)) for k, s in enumerate([(rows, columns), (columns,), (rows,)])
        ]
        same_bits(a @ v, a.mT @ w, w @ a, tolerance=tolerance)
        assert chunks_of(a.mT @ w) == [8] and chunks_of(w @ a) == [8] and chunks_of(a[:3000] @ v) == [1]
    wide, ones = [ad.tensor(x) for x in (normal(5000, 300, dtype=dtype), np.ones(300, dtype))]
    with tuned(dotted_from=1 << 30):
        assert chunks_of(wide @ ones) == [6]
        same_bits(wide @ ones, tolerance=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_meets_a_matrix_in_parts_of_its_rows_or_in_columns(dtype: str) -> None:
    """Whole pieces of memory for each thread; one thread does all columns at once, with the same bits."""
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    for k, m, way in ((200, 128, "row parts"), (131, 157, "row parts"), (9, 9001, "row"), (1003, 70, "row parts")):
        x, w = [ad.tensor(normal(*s, dtype=dtype, seed=n)) for n, s in enumerate([(1, k), (k, m)])]
        assert chunks_of(x @ w) == [2] and chunks_of(x @ w.mT.mT[:, :m]) == [2]
        program = compile_plan(planned(x @ w)[0])
        assert program is not None
        found = [schedule(unit).before[0].way for unit in program.fusion.units if isinstance(unit, Product)]
        assert found == [way]
        row, column, *_ = same_bits(x @ w, w.mT @ x.mT, x[:, ::-1] @ w, x @ w[::-1], tolerance=tolerance)
        assert row.tobytes() == column.tobytes()
    across = ad.tensor(normal(201, 400, dtype=dtype, seed=2))
    assert chunks_of(across[:1] @ across.mT) == [2]
    same_bits(across[:1] @ across.mT, tolerance=tolerance)


VIEWS = {
    "offset": lambda w: w[2:-1, 3:-2],
    "every other row": lambda w: w[::2],
    "every other column": lambda w: w[:, ::2],
    "from the right": lambda w: w[:, ::-1],
    "one row": lambda w: ad.broadcast_to(w[:1], w.shape),
    "one column": lambda w: ad.broadcast_to(w[:, :1], w.shape),
    "a matrix of a batch": lambda w: ad.stack([w, w])[1],
    "a batch of one": lambda w: w.reshape(1, *w.shape),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_row_meets_a_view_of_a_matrix(view: str, dtype: str) -> None:
    """And the row is a view, too; what reads the result, or makes the row, has the same bits for any number of threads."""
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    for k, m in ((131, 157), (9, 9001)):
        w = VIEWS[view](ad.tensor(normal(k, m, dtype=dtype)))
        x = ad.tensor(normal(1, 2 * w.shape[-2] + 5, dtype=dtype, seed=1))[:, 5::2]
        given = x.reshape(1, 1, -1) if w.ndim == 3 else x
        y = given @ w
        same_bits(y, w.mT @ given.mT, ad.relu(y) + 1, y.sum(), tolerance=tolerance)
        same_bits((given * 2) @ w, given @ (w * 0.5), ad.softmax(y, -1) @ w.mT, tolerance=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_infinities_and_nans_of_a_row_by_a_matrix_stay_in_their_columns(dtype: str) -> None:
    """Masked lanes of other columns, and terms beyond the last eight, bring none of their own."""
    for k, m in ((131, 157), (9, 9001), (1003, 70)):
        x, w = [normal(*s, dtype=dtype, seed=n) for n, s in enumerate([(1, k), (k, m)])]
        w[k - 1, m - 1], w[3, 0], w[k // 2, m // 2] = np.inf, -np.inf, np.nan
        x[0, 5] = 0.0
        (found,) = same_bits(ad.tensor(x) @ ad.tensor(w), tolerance=1e-4 if dtype == "float32" else 1e-11)
        np.testing.assert_array_equal(np.flatnonzero(~np.isfinite(found)), [0, m // 2, m - 1])
        assert np.isnan(found[0, m // 2])
        assert (found[0, [0, m - 1]] == [-np.inf * np.sign(x[0, 3]), np.inf * np.sign(x[0, k - 1])]).all()


def test_a_row_by_a_matrix_is_as_exact_as_numpys() -> None:
    x, w = abs(normal(1, 3000, dtype="float32")), abs(normal(3000, 64, dtype="float32", seed=1))
    exact = x.astype("float64") @ w
    (found,) = same_bits(ad.tensor(x) @ ad.tensor(w), tolerance=1e-4)
    assert abs(found - exact).max() <= abs(x @ w - exact).max() + np.spacing(np.float32(exact.max()))


def test_small_products_are_halved() -> None:
    """By their rows, where each thread then has some microseconds to do, with the same bits."""
    a, b = ad.tensor(normal(64, 128, dtype="float32")), ad.tensor(normal(128, 64, dtype="float32", seed=1))
    assert chunks_of(a @ b) == [2] and chunks_of(a[:20] @ b) == [1] and chunks_of(a[:, :60] @ b[:60]) == [1]
    with tuned(ours=tuning().ours._replace(work=1 << 30)):
        assert chunks_of(a @ b) == [1]
        (whole,) = same_bits(a @ b, tolerance=1e-4)
    (halves,) = same_bits(a @ b, tolerance=1e-4)
    assert whole.tobytes() == halves.tobytes()


def test_a_product_in_parts_is_read_when_it_is_whole() -> None:
    """What reads it doesn't run tile by tile; infinities stay where they are."""
    a, b = [normal(3000, n, dtype="float32", seed=n) for n in (300, 250)]
    b[2500, 7] = np.inf
    y = ad.tensor(a).mT @ ad.tensor(b)
    found, total = same_bits(ad.relu(y) + 1, y.sum(0), tolerance=1e-3)
    assert np.isinf(found[:, 7][found[:, 7] != 1]).all() and np.isfinite(np.delete(found, 7, 1)).all()
    assert np.isfinite(np.delete(total, 7)).all()


@pytest.mark.parametrize("turned", [False, True])
def test_all_threads_pack(turned: bool) -> None:
    """The right matrix is packed in parts, more of them than it has panels or fewer."""
    a = ad.tensor(normal(200, 90, dtype="float32"))
    for m in (40, 300, 700):
        b = ad.tensor(normal(*((m, 90) if turned else (90, m)), dtype="float32", seed=1))
        with tuned(worth_helping=0, worth_sharing=0):
            program = compile_plan(planned(ad.matmul(a, b.mT if turned else b))[0])
            assert program is not None
            (product,) = [write_unit(key_of(program.fusion, unit)[0]) for unit in program.fusion.units]
            assert [one.chunks for one in product.first if one.packs] == [PARTS]
            same_bits(ad.matmul(a, b.mT if turned else b), tolerance=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_attention(dtype: str) -> None:
    """Products before and behind a nest, matrix by matrix."""
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    q, k, v = [ad.variable(normal(4, 6, 70, 24, dtype=dtype, seed=s)) for s in range(3)]
    loss = ((ad.softmax(q @ k.mT * 0.2, axis=-1) @ v) ** 2).sum()
    same_bits(loss, *ad.gradients(loss, [q, k, v]), tolerance=tolerance)
    assert shared[-1]


def test_sums_are_as_exact_as_before(small_chunks: None) -> None:
    x = (normal(200_000).astype("float32") + 100).astype("float32")
    (total,) = same_bits(ad.sum(ad.tensor(x) * 1), tolerance=1e-6)
    assert abs(float(total) - x.astype("float64").sum()) <= np.spacing(np.float32(total))


@given(programs())
def test_random_programs(program: Program) -> None:
    with tuned(**SMALL):
        inputs = tensors(program.inputs)
        outputs = program.of_tensors(*inputs)
        same_bits(*[y for y in outputs if y.node.value is None], tolerance=1e-9)


SAMPLE = [op for op in OPERATIONS if op.name in set(
    "add divide power exp log1p erf where sum prod mean max min var softmax logsumexp cumulative_sum sort matmul einsum "
    "tensordot concat take scatter_add permute_dims reshape norm".split()
)]  # fmt: skip


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("operation", SAMPLE, ids=lambda op: op.name)
def test_a_sample_of_the_operations(operation: Any) -> None:
    for number, dtype in enumerate(operation.dtype_names):
        for case in operation.cases[: 1 if number else 4]:  # the kernels of the others differ in the dtype alone
            arguments = operation.draw(case, dtype)
            outputs = operation.of_tensors(case, arguments, tensors(inexact_arrays(arguments)))
            pending = [y for y in outputs if y.node.value is None and y.node.inputs]
            if pending:
                same_bits(*pending, tolerance=1e-4 if dtype in ("float32", "complex64") else 1e-10)


# ---- how many chunks ------------------------------------------------------------------------------------------------


def test_chunks_are_even_in_number() -> None:
    assert [even(n) for n in range(1, 8)] == [1, 2, 4, 4, 6, 6, 8]
    assert [evenly(32, each) for each in (40, 32, 31, 14, 7, 1)] == [32, 32, 16, 8, 6, 1]
    assert [balanced(32, range(n, 2 * n + 1)) for n in (1, 2, 3, 5, 11)] == [16, 16, 8, 4, 2]
    assert balanced(7, range(3, 7)) == 2 and balanced(1, range(1, 3)) == 1 and balanced(10, range(1, 2)) == 10


@given(integers(2, 3000), integers(1, 200), integers(1, 10))
def test_rows_of_chunks(total: int, each: int, height: int) -> None:
    """A few more at most than are asked for, and about as many for each of two threads."""
    rows = rows_of_chunk(total, each, height)
    count = -(-total // rows)
    assert rows == total if each >= total else rows < 2 * each + height
    if each < total:
        first = count // 2 * rows
        assert count > 1 and (total < 12 * height or max(first, total - first) <= 0.65 * total)


def test_rows_of_chunks_follow_from_extents() -> None:
    assert [rows_of_chunk(*given) for given in ((512, 48, 6), (1024, 120, 6), (32, 14, 1), (40, 64, 6))] == [
        42,
        132,
        16,
        40,
    ]
    with Sheet() as sheet:
        n = sheet.symbol(512)
        formula = sheet.formula((rows_of_chunk(n, n // 8, 6),))
    assert [formula((n,)) for n in (512, 1024)] == [(rows_of_chunk(512, 64, 6),), (rows_of_chunk(1024, 128, 6),)]


@pytest.mark.parametrize("rows", [500, 512, 513, 690])
def test_two_threads_have_as_much_to_do(rows: int) -> None:
    """Of products, alone and in tiles, of nests and of convolutions."""
    a, b = ad.tensor(normal(rows, 300, dtype="float32")), ad.tensor(normal(300, 64, dtype="float32"))
    bias = ad.tensor(normal(256, dtype="float32"))
    wide = ad.tensor(normal(300, 256, dtype="float32"))
    x = ad.tensor(normal(rows * 1000))
    images = ad.tensor(normal(32, 8, 32, 32, dtype="float32"))
    weights = ad.tensor(normal(8, 8, 3, 3, dtype="float32"))
    for result in (a @ b, ad.relu(a @ wide + bias), ad.exp(x), ad.nn.functional.conv2d(images, weights, padding=1)):
        chunks = [n for n in chunks_of(result) if n > 1]
        assert chunks and all(n % 2 == 0 or n > 6 for n in chunks)


@pytest.mark.parametrize(("dtype", "line"), [("float32", 16), ("float64", 8)])
def test_rows_that_lie_across_lines_end_with_one(dtype: str, line: int) -> None:
    """Of the left matrix as it lies: no two threads fetch the same line of it."""
    for n in (64, 200, 256):
        a, b = [ad.tensor(normal(512, m, dtype=dtype)) for m in (n, 64)]
        program = compile_plan(planned(a.mT @ b)[0])
        assert program is not None
        (rows,) = [unit.choice.rows for unit in program.fusion.units if isinstance(unit, Product) and unit.choice]
        assert rows < n and rows % line == 0
        same_bits(a.mT @ b, tolerance=1e-4)


def test_chunks_that_leave_many_totals_are_few() -> None:
    """One thread puts them together: that mustn't take as long as what all of them compute."""
    x, w, b = [ad.variable(normal(*shape, dtype="float32")) for shape in ((2048, 700), (700,), (700,))]
    y = ad.nn.functional.layer_norm(x, (700,), w, b)
    same_bits(y, *ad.gradients((y * y).sum(), [x, w, b]), tolerance=1e-4)
    program = compile_plan(planned(*ad.gradients((y * y).sum(), [w, b]))[0])
    assert program is not None
    assert 8 <= max(program.linked.calls[:, 2]) <= 2048 * 700 // (2 * 700 * 32)
    program = compile_plan(planned(ad.exp(x).sum())[0])
    assert program is not None and max(program.linked.calls[:, 2]) > 8


def chunks_of(result: ad.Tensor) -> list[int]:
    program = compile_plan(planned(result)[0])
    assert program is not None
    return [int(program.linked.calls[row, 2]) for _, row in program.linked.spots]


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_all_threads_move(dtype: str) -> None:
    """Rows of each array that is joined; but not where one lies on another, which must come later."""
    a, b = [(normal(300, 40, n) * 9).astype(dtype) for n in (30, 17)]
    joined = ad.concat([ad.tensor(a), ad.tensor(b), ad.tensor(a)], axis=2)
    turned = ad.concat([ad.tensor(a).mT, ad.tensor(b).mT], axis=1)
    along = ad.concat([ad.tensor(a.reshape(-1)), ad.tensor(b.reshape(-1))])
    (found,) = same_bits(joined)
    np.testing.assert_array_equal(found, np.concatenate([a, b, a], 2))
    found, other = same_bits(turned, along)
    np.testing.assert_array_equal(found, np.concatenate([np.swapaxes(a, 1, 2), np.swapaxes(b, 1, 2)], 1))
    np.testing.assert_array_equal(other, np.concatenate([a.reshape(-1), b.reshape(-1)]))
    assert chunks_of(joined) == chunks_of(turned) == chunks_of(along) == [8]
    short = [normal(*shape, seed=k).astype(dtype) for k, shape in enumerate([(3, 7001), (1, 7001), (900, 7001 // 41)])]
    flat = [ad.tensor(x.reshape(-1)) for x in short]
    (found,) = same_bits(ad.concat([flat[1][:5], *flat]))
    np.testing.assert_array_equal(found, np.concatenate([x.reshape(-1) for x in (short[1][0, :5], *short)]))
    many = [ad.tensor(normal(32, 300, seed=k).astype(dtype)) for k in range(21)]
    (found,) = same_bits(ad.concat(many))
    np.testing.assert_array_equal(found, np.concatenate([x.numpy() for x in many]))
    assert chunks_of(ad.concat(many)) == [8]
    x = ad.variable(normal(300, 40, 60))
    parts = ad.gradients(((x[:, :, :20] * 2).sum() + (x[:, :, 20:] ** 2).sum()), [x])
    same_bits(*parts)
    whole = ad.tensor(normal(200, 400))
    written = whole * 1
    written[10:190] = ad.tensor(normal(180, 400, seed=1))
    assert chunks_of(written)[-1] == 1
    same_bits(written)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_all_threads_read_rows(dtype: str) -> None:
    """Which index is to blame depends on none of them: the last one that is out of bounds."""
    for rows, times, length in ((3000, 3000, 65), (40, 3, 60_000), (5, 1400, 128)):
        x = normal(rows, length).astype(dtype)
        which = np.random.default_rng(times).integers(-rows, rows, times)
        taken = ad.jit(lambda x, i: (x * 1)[i] * 1)
        found = []
        for threads in (1, 2, 3):
            ad.set_num_threads(threads)
            found.append(taken(ad.tensor(x), ad.tensor(which)).numpy())
            np.testing.assert_array_equal(found[-1], x[which])
            wrong = which.copy()
            wrong[[0, times // 2]] = rows + 3, -rows - 4
            with pytest.raises(IndexError, match=f"index {-rows - 4} is out of bounds for axis 0 with size {rows}"):
                taken(ad.tensor(x), ad.tensor(wrong))
        assert chunks_of(ad.tensor(x)[ad.tensor(which)]) == [8]


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int16"])
def test_two_threads_write_columns_of_rows(dtype: str) -> None:
    """Of rows that go to the same place the last one counts, or all of them in order; long ones, and such that end within a
    vector."""

    def written(x: Any, rows: Any, which: Any) -> list[Any]:
        y = x * 1
        y[which] = rows
        if dtype == "int16":
            return [y]
        return [y, ad.grad(lambda x: ad.real(x[which] * rows).sum())(x)]

    function = ad.jit(written)
    for count, times, length in ((300, 3000, 201), (40, 30, 6000), (5, 1400, 128)):
        x, rows = [(normal(n, length, seed=n) * 9).astype(dtype) for n in (count, times)]
        which = np.random.default_rng(times).integers(0, count, times)
        expected, sums = x.copy(), np.zeros_like(x)
        expected[which] = rows
        for k, row in zip(which, rows.conj(), strict=True):
            sums[k] += row
        wrong = which.copy()
        wrong[[0, times // 2]] = count + 3, -count - 4
        for threads in (1, 2, 3):
            ad.set_num_threads(threads)
            found = [y.numpy() for y in function(*map(ad.tensor, (x, rows, which)))]
            np.testing.assert_array_equal(found[0], expected)
            assert all(np.array_equal(one, sums) for one in found[1:])
            with pytest.raises(IndexError, match=f"index {-count - 4} is out of bounds for axis 0 with size {count}"):
                function(*map(ad.tensor, (x, rows, wrong)))
        assert all(2 in chunks_of(one) for one in written(*map(ad.tensor, (x, rows, which))))
    short = written(*map(ad.tensor, (x[:, :13], rows[:, :13], which)))
    assert all(2 not in chunks_of(one) for one in short)


def test_two_threads_share_few_rows() -> None:
    """What a product packs is packed once for both."""
    x, w = ad.tensor(normal(32, 128, dtype="float32")), ad.tensor(normal(512, 128, dtype="float32"))
    assert chunks_of(x @ w.mT) == [2]
    assert chunks_of(x[:10] @ w.mT) == [1]
    with tuned(worth_sharing=0, worth_helping=0):
        same_bits(x @ w.mT, x[:23] @ w.mT, x[:25] @ w.mT, tolerance=1e-5)


# ---- the pool -------------------------------------------------------------------------------------------------------


CHUNKS = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
LAUNCH = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_void_p,
    CHUNKS,
    ctypes.c_void_p,
    *[ctypes.c_int64] * 2,
    ctypes.c_void_p,
    ctypes.c_int64,
)


def launched(count: int, limit: int, function: Any) -> None:
    """Run `function(thread, first, last)` on all chunks by so many threads; a thread's number is what its own table is."""
    ad.set_num_threads(limit)
    where = pool.pointer("launch"), pool.pointer("memory"), pool.pointer("functions")
    owns = (ctypes.c_void_p * limit)(*range(1, limit + 1))
    table = (ctypes.c_void_p * 1)(ctypes.addressof(owns))
    chunks = CHUNKS(lambda table, first, last, own, block: function(own - 1, first, last))
    LAUNCH(where[0])(where[1], where[2], chunks, ctypes.addressof(table), count, limit, None, 1)


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 70])
def test_each_chunk_runs_once(limit: int) -> None:
    """Also with more threads than a job has parts."""
    for count in (1, 2, 3, 5, 64, 65, 1000):
        found: list[int] = []
        launched(count, limit, lambda thread, first, last, found=found: found.extend(range(first, last)))
        assert sorted(found) == list(range(count))


def test_a_thread_begins_with_a_part_of_its_own() -> None:
    """And helps with the others' when it has done it."""
    came = threading.Event()
    found: dict[int, list[int]] = {0: [], 1: []}

    def run(thread: int, first: int, last: int) -> None:
        found[thread].append(first)
        if thread:
            came.set()
        else:
            assert came.wait(60)
            time.sleep(0.2)  # the other one goes on with what is left here

    launched(8, 2, run)
    assert found == {0: [0], 1: [4, 5, 6, 7, 1, 2, 3]}


# ---- living with others ---------------------------------------------------------------------------------------------


def work() -> tuple[Any, Any, Any]:
    x = ad.tensor(normal(400_000))
    plan, leaves, numbers = planned(ad.exp(ad.sin(x) * 1.1), ad.sum(ad.cos(x)))
    return compile_plan(plan), leaves, numbers


def test_several_python_threads_at_once() -> None:
    ad.set_num_threads(2)
    program, leaves, numbers = work()
    expected = [x.copy() for x in program.run(leaves, numbers, False)]
    wrong = []

    def run() -> None:
        for _ in range(20):
            for found, other in zip(program.run(leaves, numbers, False), expected, strict=True):
                if found.tobytes() != other.tobytes():
                    wrong.append(found)

    workers = [threading.Thread(target=run) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_threads_end_and_start_again() -> None:
    ad.set_num_threads(3)
    program, leaves, numbers = work()
    expected = program.run(leaves, numbers, False)
    assert len(pool.workers) >= 2
    for _ in range(20):
        pool.stop()
        assert not pool.workers
        found = program.run(leaves, numbers, False)
        np.testing.assert_array_equal(found[0], expected[0])
    time.sleep(0.05)  # asleep now
    np.testing.assert_array_equal(program.run(leaves, numbers, False)[0], expected[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_has_a_pool_of_its_own() -> None:
    ad.set_num_threads(2)
    program, leaves, numbers = work()
    expected = program.run(leaves, numbers, False)
    child = os.fork()
    if not child:
        found = program.run(leaves, numbers, False)
        os._exit(0 if np.array_equal(found[0], expected[0]) and len(pool.workers) == 1 else 1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(program.run(leaves, numbers, False)[0], expected[0])


def run_python(text: str, **environment: str) -> subprocess.CompletedProcess[str]:
    source = str(Path(ad.__file__).parents[1])
    full = {**os.environ, "PYTHONPATH": source, "ADJOINT_BACKEND": "native", **environment}
    return subprocess.run([sys.executable, "-c", text], env=full, capture_output=True, text=True, timeout=100)


def test_a_process_ends_while_threads_sleep_or_spin() -> None:
    text = (
        "import numpy as np, adjoint as ad, threading\n"
        "def run():\n"
        "    for _ in range(k): ad.exp(ad.tensor(np.ones(400_000)) * 1.5).numpy()\n"
        "k = 3; run()\n"
        "k = 10**6; threading.Thread(target=run, daemon=True).start()\n"
        "import time; time.sleep(0.1); print(ad.get_num_threads())\n"
    )
    result = run_python(text, ADJOINT_NUM_THREADS="2")
    assert (result.returncode, result.stdout, result.stderr) == (0, "2\n", "")


def test_what_can_be_set() -> None:
    for wrong in (0, -1, 257, 1.5, True, "2"):
        with pytest.raises(ValueError, match="set_num_threads takes a whole number from 1 to 256"):
            ad.set_num_threads(wrong)  # type: ignore[arg-type]
    result = run_python("import adjoint as ad; ad.get_num_threads()", ADJOINT_NUM_THREADS="many")
    assert "ADJOINT_NUM_THREADS must be a number from 1 to 256, got 'many'" in result.stderr


@pytest.mark.slow
@pytest.mark.skipif(ad.get_num_threads() < 2, reason="takes two cores")
def test_a_process_that_burns_a_core_slows_a_step_at_most_two_and_a_half_times() -> None:
    text = (
        "import time, numpy as np, adjoint as ad\n"
        "a, b = [ad.tensor(np.ones((512, 512), 'float32')) for _ in range(2)]\n"
        "f = ad.function([a], [ad.relu(a @ b + 1) @ b])\n"
        "for _ in range(20): f(a)\n"
        "times = []\n"
        "for _ in range(300):\n"
        "    start = time.perf_counter(); f(a); times.append(time.perf_counter() - start)\n"
        "print(sum(times) / 300)\n"
    )

    def mean() -> float:
        return float(run_python(text, ADJOINT_NUM_THREADS="2").stdout)

    alone = min(mean() for _ in range(3))
    burner = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        beside = min(mean() for _ in range(3))
    finally:
        burner.kill()
        burner.wait()
    assert beside < 2.5 * alone


@pytest.mark.parametrize("name", ["factors", "known_calls", "pool", "programs", "recording", "rows", "stepping"])
def test_native_text_is_that_of_its_source(name: str) -> None:
    """Whoever changes a file in C runs `make native`."""
    folder = Path(adjoint.runtime.__file__).parent
    first = (folder / f"{name}.ll").read_text("utf-8").splitlines()[0]
    source = (folder / f"{name}.c").read_bytes()
    headers = [
        (folder / found.decode()).read_bytes() for found in re.findall(rb'^#include "(.*\.h)"', source, re.MULTILINE)
    ]
    assert first.endswith(hashlib.sha256(b"".join([source, *headers])).hexdigest())


@pytest.mark.parametrize("name", ["known_calls", "pool", "programs", "recording"])
def test_machine_code_is_that_of_its_text(name: str) -> None:
    folder = Path(adjoint.runtime.__file__).parent
    digest = hashlib.sha256((folder / f"{name}.ll").read_bytes()).hexdigest()
    assert (folder / f"{name}.x86_64").read_bytes().startswith(digest.encode())


def test_what_is_in_c_is_compiled_by_make_native_and_listed_for_the_wheel() -> None:
    sources = sorted(path.stem for path in Path(adjoint.runtime.__file__).parent.glob("*.c"))
    root = Path(__file__).parents[2]
    recipe = (root / "Makefile").read_text("utf-8").split("\nnative: ")[1]
    assert f"for name in {' '.join(sources)}; do" in recipe
    listed = ", ".join([f'"{name}"' for name in sources])
    shipped = sorted(path.stem for path in Path(adjoint.runtime.__file__).parent.glob("*.x86_64"))
    assert f"for name in {' '.join(shipped)}; do" in recipe
    ci = (root / ".ci" / "run").read_text("utf-8")
    compiled = ", ".join([f'"{name}"' for name in shipped])
    assert f"written = ({listed})" in ci and f"compiled = ({compiled})" in ci


def test_the_pools_memory_is_as_large_as_its_source_says() -> None:
    source = Path(pool_module.__file__).with_suffix(".c").read_text("utf-8")
    assert f"sizeof(struct pool) == {pool_module.SIZE}" in source
