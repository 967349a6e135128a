"""What native code calls: products by library, tile by tile, together with the nests that read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint.compiler import linking
from adjoint.compiler.fuse.fusion import Fusion
from adjoint.compiler.fuse.kinds import Nest, Product
from adjoint.compiler.loops import matmul_tiles
from adjoint.compiler.schedule import matmul as product_schedules
from adjoint.compiler.targets.target import tuned, tuning
from adjoint.execution.native import compile_plan
from adjoint.runtime import libraries, llvm, onednn
from test_native import normal, planned

TOLERANCE = {"float32": 2e-5, "float64": 1e-12}


@pytest.fixture(params=["", "oneDNN", "OpenBLAS"], ids=["ours", "oneDNN", "OpenBLAS"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Who computes what it can; kernels of our own are the empty name."""
    if request.param:
        monkeypatch.setattr(matmul_tiles, "available", lambda: False)
    elif not matmul_tiles.available():
        pytest.skip("no multiplication and addition in one instruction")
    if request.param == "OpenBLAS":
        monkeypatch.setitem(onednn.state, "missing", "switched off")
    elif request.param == "oneDNN" and not onednn.available():
        pytest.skip(f"oneDNN: {onednn.missing()}")
    return str(request.param)


def computed(*outputs: ad.Tensor) -> tuple[Fusion, list[Any]]:
    plan, leaves, numbers = planned(*outputs)
    program = compile_plan(plan)
    assert program is not None
    first = program.run(leaves, numbers, False)
    for a, b in zip(first, program.run(leaves, numbers, False), strict=True):
        np.testing.assert_array_equal(a, b)
    return program.fusion, first


def close(found: Any, expected: Any, dtype: str) -> None:
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE[dtype] * scale)


def products(fusion: Fusion) -> list[Product]:
    alone = [unit for unit in fusion.units if isinstance(unit, Product)]
    joined = [p for unit in fusion.units if isinstance(unit, Nest) for p in unit.made]
    return alone + [p for p in joined if isinstance(p, Product)]


SIZES = [
    (64, 784, 128),
    (64, 128, 64),
    (2, 3, 2),
    (1, 50, 40),
    (50, 40, 1),
    (1, 300, 70),
    (70, 300, 1),
    (33, 1, 65),
    (130, 70, 90),
    (512, 100, 513),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_products_in_every_layout(library: str, size: tuple[int, int, int], dtype: str) -> None:
    n, k, m = size
    a, b = normal(n, k, dtype=dtype), normal(k, m, dtype=dtype, seed=1)
    expected = a.astype("float64") @ b.astype("float64")
    left = [ad.tensor(a), ad.tensor(np.ascontiguousarray(a.T)).T, ad.tensor(np.hstack([a, a]))[:, k:]]
    right = [ad.tensor(b), ad.tensor(np.ascontiguousarray(b.T)).T, ad.tensor(np.hstack([b, b]))[:, :m]]
    fusion, found = computed(*[x @ y for x in left for y in right], *[(x @ y).T * 1.0 for x in left for y in right])
    for y in found[:9]:
        close(y, expected, dtype)
    for y in found[9:]:
        close(y, expected.T, dtype)
    chosen = {p.library for p in products(fusion)}
    if not library:
        assert chosen <= {"", "OpenBLAS", "oneDNN"} and (
            min(n, m) < tuning().narrowest or chosen == (set() if k == 1 else {""})
        )
    elif dtype == "float64" or library == "OpenBLAS":
        assert chosen == (set() if k == 1 else {"OpenBLAS"})
    elif min(size) > 1 and n * k * m > 10_000:
        assert chosen == {"oneDNN"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_vector_meets_a_matrix_wherever_both_lie(dtype: str) -> None:
    """By OpenBLAS or, where a row meets rows, by a kernel of ours; strides, flips, parts, and numbers that aren't finite."""
    a, v = normal(200, 90, dtype=dtype), normal(400, dtype=dtype, seed=1)
    a[3, 4], a[5, 6], v[:16] = np.nan, np.inf, 0.0
    w, x = ad.tensor(a), ad.tensor(v)
    formulas: list[Callable[[Any, Any], Any]] = [
        lambda w, x: x[None, ::2] @ w, lambda w, x: x[None, ::-2] @ w, lambda w, x: x[None, :90] @ w.T,
        lambda w, x: w.T @ x[::2][:, None], lambda w, x: w[::2].T @ x[::-4][:, None], lambda w, x: w[:, 5:80] @ x[9:84, None],
        lambda w, x: x[None, :75] @ w[10:85, 20:85], lambda w, x: x[None, :45] @ w[:, ::2].T, lambda w, x: w @ w[7:8].T,
    ]  # fmt: skip
    fusion, found = computed(*[f(w, x) for f in formulas])
    for y, f in zip(found, formulas, strict=True):
        with np.errstate(invalid="ignore"):
            close(y, f(a.astype("float64"), v.astype("float64")), dtype)
    rows = [p.turned() if p.b.shape[-1] == 1 else p for p in products(fusion)]
    together = [p.b.strides[-1] == 1 and matmul_tiles.available() for p in rows]
    assert [p.library == "" for p in products(fusion)] == together and any(together) == matmul_tiles.available()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k", [128, 129, 191, 192, 1000])
def test_rows_that_lie_together_meet_a_vector(k: int, dtype: str) -> None:
    """By a kernel of our own, whole vectors and what is left of them; it reads nothing beyond a row."""
    a, v = normal(50, k + 3, dtype=dtype), normal(k, dtype=dtype, seed=1)
    a[:, k:] = np.nan
    w, x = ad.tensor(a)[:, :k], ad.tensor(v)
    fusion, found = computed(x[None] @ w.T, w @ x[:, None], w[::3] @ x[:, None])
    expected = a[:, :k].astype("float64") @ v
    for y, rows in zip(found, (expected, expected, expected[::3]), strict=True):
        close(y.ravel(), rows, dtype)
    assert {p.library for p in products(fusion)} == ({""} if matmul_tiles.available() else {"OpenBLAS"})
    assert (found[0].ravel() == found[1].ravel()).all()  # the same sums, in the same order


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_batches_of_products(dtype: str) -> None:
    a, b = normal(3, 4, 33, 20, dtype=dtype), normal(3, 4, 17, 20, dtype=dtype, seed=1)
    x, y = ad.tensor(a), ad.tensor(b)
    turned = ad.tensor(np.ascontiguousarray(a.transpose(2, 0, 1, 3))).permute_dims((1, 2, 0, 3))
    shared = ad.tensor(b[0, 0])
    fusion, found = computed(
        x @ y.mT, turned @ y.mT, x @ shared.mT, (x @ y.mT).mT + 1, ad.softmax(x @ y.mT * 0.1, axis=-1)
    )
    expected = a @ b.swapaxes(-1, -2)
    weights = np.exp(expected * 0.1)
    weights /= weights.sum(-1, keepdims=True)
    references = [expected, expected, a @ b[0, 0].T, expected.swapaxes(-1, -2) + 1, weights]
    for z, reference in zip(found, references, strict=True):
        close(z, reference, dtype)
    assert len(products(fusion)) >= 3


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rows", [1000, 1024, 515])
def test_large_products_are_read_tile_by_tile(rows: int, dtype: str) -> None:
    a, w = normal(rows, 48, dtype=dtype), normal(160, 48, dtype=dtype, seed=1)
    c, bias = normal(rows, 160, dtype=dtype, seed=2), normal(160, dtype=dtype, seed=3)
    x, weights, other = ad.tensor(a), ad.tensor(w), ad.tensor(c)
    biased = ad.relu(x @ weights.T + ad.tensor(bias))
    fusion, found = computed(biased, biased.sum(0))
    expected = np.maximum(a @ w.T + bias, 0)
    close(found[0], expected, dtype)
    close(found[1], expected.sum(0), dtype)
    (nest,) = [unit for unit in fusion.units if isinstance(unit, Nest) and unit.products]
    assert nest.tiles, "the product is nowhere as a whole"
    product = x @ weights.T
    fusion, found = computed(ad.softmax(product, axis=-1), product, other - 0.1 * product)  # kept, and read at once
    close(found[1], a @ w.T, dtype)
    close(found[0].sum(-1), np.ones(rows), dtype)
    close(found[2], c - 0.1 * (a @ w.T), dtype)
    both = ad.tanh(x @ weights.T + (other * 2) @ ad.tensor(normal(160, 160, dtype=dtype, seed=4)))
    later = ad.sin(x @ weights.T @ weights * 0.5 + 1)  # deeper than the nest, so that this comes first
    fusion, found = computed(both.reshape((rows, 160)), later)
    close(found[0], np.tanh(a @ w.T + (c * 2) @ normal(160, 160, dtype=dtype, seed=4)), dtype)
    assert max(len(unit.products) for unit in fusion.units if isinstance(unit, Nest)) == 2


@pytest.mark.usefixtures("library")
def test_large_batches_are_read_tile_by_tile() -> None:
    q, k = normal(8, 4, 96, 32, dtype="float32"), normal(8, 4, 96, 32, dtype="float32", seed=1)
    fusion, found = computed(ad.softmax(ad.tensor(q) @ ad.tensor(k).mT, axis=-1))
    weights = np.exp(q @ k.swapaxes(-1, -2))
    close(found[0], weights / weights.sum(-1, keepdims=True), "float32")
    assert any(isinstance(unit, Nest) and unit.tiles for unit in fusion.units)


def test_products_read_transposed_are_computed_that_way() -> None:
    a, b = ad.tensor(normal(40, 30)), ad.tensor(normal(40, 20, seed=1))
    fusion, found = computed((a.T @ b).T * 2)
    close(found[0], (a.numpy().T @ b.numpy()).T * 2, "float64")
    assert products(fusion)[0].shape == (20, 30)
    product = a.T @ b
    fusion, found = computed(product.T * 2, product)
    assert products(fusion)[0].shape == (30, 20)
    close(found[0], (a.numpy().T @ b.numpy()).T * 2, "float64")


def test_a_product_of_many_blocks(library: str) -> None:
    a, b = normal(1030, 300, dtype="float32"), normal(300, 200, dtype="float32", seed=1)
    fusion, found = computed(ad.tensor(a) @ ad.tensor(b))
    close(found[0], a.astype("float64") @ b, "float32")
    assert len(products(fusion)) == 1


@pytest.mark.skipif(not matmul_tiles.available(), reason="a processor without fused multiplication")
@pytest.mark.skipif(libraries.missing() is not None, reason="no OpenBLAS")
@pytest.mark.parametrize("turned", [False, True])
def test_the_more_rows_the_larger_a_matrix_our_kernels_multiply_by(turned: bool) -> None:
    for rows, columns, ours in ((7, 40, True), (7, 41, False), (8, 80, True), (8, 81, False), (90, 81, False)):
        a, b = normal(rows, 60, dtype="float32"), normal(60, columns, dtype="float32", seed=1)
        given = ad.tensor(np.ascontiguousarray(b.T)).mT if turned else ad.tensor(b)
        with tuned(largest=((8, 60 * 80), (0, 60 * 40))):
            fusion, found = computed(ad.tensor(a) @ given)
        (product,) = products(fusion)
        assert product.choice is not None and (product.choice.library == "") == ours
        close(found[0], a.astype("float64") @ b, "float32")


@pytest.mark.skipif(not matmul_tiles.available(), reason="a processor without fused multiplication")
@pytest.mark.skipif(libraries.missing() is not None, reason="no OpenBLAS")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_by_a_narrow_matrix_is_a_tile_of_ours(dtype: str) -> None:
    panel = max(tuning().heights)[0] * llvm.vector_bits() // (8 * np.dtype(dtype).itemsize)
    if panel < 8:
        pytest.skip("panels as narrow as what is small enough for our tiles anyway")
    for columns, ours in ((panel, True), (panel - panel // 4, True), (panel + 1, False), (panel // 2 - 1, False)):
        a, b = normal(3, 1, 700, dtype=dtype), normal(3, 700, columns, dtype=dtype, seed=1)
        with tuned(narrow_from=panel // 2 * np.dtype(dtype).itemsize):
            fusion, found = computed(ad.tensor(a) @ ad.tensor(b))
        (product,) = products(fusion)
        assert product.choice is not None and (product.choice.library == "") == ours
        close(found[0], a.astype("float64") @ b, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 5, 6, 7, 48, 50, 131])
def test_long_products(n: int, dtype: str) -> None:
    """In blocks of their sums, A as it lies or gathered, B packed or not."""
    for k in (513, 768, 1031):
        a, b = normal(n, k, dtype=dtype), normal(k, 37, dtype=dtype, seed=1)
        left = [ad.tensor(a), ad.tensor(np.ascontiguousarray(a.T)).T]
        right = [ad.tensor(b), ad.tensor(np.ascontiguousarray(b.T)).T]
        _, found = computed(*[x @ y for x in left for y in right], *[ad.tanh(x @ y) for x in left for y in right])
        for y in found[:4]:
            close(y, a.astype("float64") @ b, dtype)


def test_sums_of_long_products_are_as_exact_as_numpys() -> None:
    a, b = abs(normal(64, 5000, dtype="float32")), abs(normal(5000, 64, dtype="float32", seed=1))
    exact = a.astype("float64") @ b.astype("float64")
    (found,) = computed(ad.tensor(a) @ ad.tensor(b))[1]
    assert np.abs(found / exact - 1).max() <= 1.5 * np.abs(a @ b / exact - 1).max()


@pytest.mark.parametrize(("m", "lanes", "widest"), [(m, w, v) for m in range(1, 150) for w in (4, 16) for v in (2, 4)])
def test_panels_cover_all_columns_once(m: int, lanes: int, widest: int) -> None:
    found = product_schedules.panels(m, lanes, widest)
    column = 0
    for panel in found:
        assert panel.column == column and 1 <= panel.vectors <= widest and panel.times >= 1
        column += panel.times * panel.vectors * lanes
    assert column - lanes < m <= column and len(found) <= 3
    assert [p.masked for p in found] == [False] * (len(found) - 1) + [bool(m % lanes)]
    assert found[-1].times == 1 or not found[-1].masked


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_attention_is_computed_matrix_by_matrix(dtype: str) -> None:
    q, k, v = [ad.variable(normal(4, 6, 96, 32, dtype=dtype, seed=s)) for s in range(3)]
    weights = ad.softmax(q @ k.mT * 0.2, axis=-1)
    loss = ((weights @ v) ** 2).sum()
    gradients = ad.gradients(loss, [q, k, v])
    a, b, c = [x.numpy() for x in (q, k, v)]
    w = np.exp(a @ b.swapaxes(-1, -2) * 0.2)
    w /= w.sum(-1, keepdims=True)
    out = 2 * (w @ c)
    inner = w * (out @ c.swapaxes(-1, -2))
    scores = 0.2 * (inner - w * inner.sum(-1, keepdims=True))
    expected = [scores @ b, scores.swapaxes(-1, -2) @ a, w.swapaxes(-1, -2) @ out]
    fusion, found = computed(loss, *gradients)
    for y, z in zip(found[1:], expected, strict=True):
        close(y, z, dtype)
    nests = [unit for unit in fusion.units if isinstance(unit, Nest) and unit.followers]
    assert sum(len(nest.followers) for nest in nests) >= 3
    assert any(slot in nest.stored for nest in nests for slot in nest.tiles), (
        "what only products read is nowhere as a whole"
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_matrix_is_packed_once_for_all_products(dtype: str) -> None:
    if not matmul_tiles.available():
        pytest.skip("no multiplication and addition in one instruction")
    x, v, w = [normal(*s, dtype=dtype, seed=k) for k, s in enumerate([(64, 200), (128, 200), (128, 200)])]
    a = ad.tensor(x)
    first = a @ ad.tensor(v).T
    outputs = [first, ad.tanh(first).sum(0), a @ ad.tensor(w).T, ad.tensor(normal(300, 200, dtype=dtype)) @ a.T]
    plan, leaves, numbers = planned(*outputs)
    program = compile_plan(plan)
    assert len(program.table.packed) < len(products(program.fusion)) == 3
    found = program.run(leaves, numbers, False)
    for y, z in zip(
        found, [x @ v.T, np.tanh(x @ v.T).sum(0), x @ w.T, normal(300, 200, dtype=dtype) @ x.T], strict=True
    ):
        close(y, z, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_of_few_rows_by_a_wide_matrix_the_rows_are_packed(dtype: str) -> None:
    if not matmul_tiles.available():
        pytest.skip("no multiplication and addition in one instruction")
    x, v, w = [normal(*s, dtype=dtype, seed=k) for k, s in enumerate([(64, 784), (144, 784), (144, 784)])]
    a = ad.tensor(x)
    outputs = [a @ ad.tensor(v).T, a @ ad.tensor(w).T]
    assert ad.execution.explain(*outputs, stage="units").count("2 chunks") == 2
    plan, leaves, numbers = planned(*outputs)
    program = compile_plan(plan)
    assert [view.shape for view in program.table.packed] == [(784, 64)]
    found = program.run(leaves, numbers, False)
    for y, right in zip(found, (v, w), strict=True):
        close(y, x.astype("float64") @ right.T.astype("float64"), dtype)
        np.testing.assert_array_equal(y, computed(ad.tensor(right) @ a.T)[1][0].T)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_without_libraries_our_kernels_compute_everything(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libraries, "missing", lambda: "switched off")
    monkeypatch.setitem(onednn.state, "missing", "switched off")
    if not matmul_tiles.available():
        pytest.skip("no multiplication and addition in one instruction")
    for n, k, m in ((50, 40, 1), (1, 40, 1), (1, 700, 3), (40, 900, 1200), (3, 1, 2)):
        a, b = normal(n, k, dtype=dtype), normal(k, m, dtype=dtype, seed=1)
        fusion, found = computed(ad.tensor(a) @ ad.tensor(b), ad.exp(ad.tensor(a.T.copy()).T @ ad.tensor(b) * 0.01))
        close(found[0], a.astype("float64") @ b, dtype)
        close(found[1], np.exp(a.astype("float64") @ b * 0.01), dtype)
        assert {p.library for p in products(fusion)} <= {""}


def test_kernels_are_compiled_once_for_all_plans() -> None:
    a, b = ad.tensor(normal(64, 64)), ad.tensor(normal(64, 64, seed=1))
    computed(a @ b)
    before = len(linking._tiles)
    computed((a @ b) * 2 + 1)
    assert len(linking._tiles) == before > 0 or not matmul_tiles.available()
    assert llvm.vector_bits() in {now.vector_bits for _, now in linking._tiles} or not matmul_tiles.available()
