"""Searches and orders within native programs, beside NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.execution.native.program import compile_nests
from adjoint.runtime import llvm
from loop_oracle import Oracle
from test_native import planned

Backend = Callable[[str], None]
WIDTHS = [bits for bits in (128, 256, 512) if bits <= llvm.vector_bits()]
DTYPES = ("float32", "float64", "int64", "uint32", "int8")
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0)


def drawn(dtype: str, *shape: int) -> np.ndarray[Any, Any]:
    """Numbers of which many are equal; of floats some are NaN, infinite, or zeros of both signs."""
    generator = np.random.default_rng((*shape, len(dtype)))
    x = np.asarray(generator.normal(size=shape).round(1) * 20).astype("int64").astype(dtype)
    if x.dtype.kind == "f":
        x = np.where(generator.random(shape) < 0.3, generator.choice(SPECIAL, shape), x).astype(dtype)
    return x


def kinds(f: Any) -> set[str]:
    """Of which kinds a compiled function's kernels are."""
    return {kernel.kind for kernel in ad.execution.explain(f).kernels}


@pytest.mark.parametrize("dtype", DTYPES)
def test_searches(dtype: str, backends: Backend) -> None:
    backends("native")
    f = ad.jit(lambda r, v: (ad.searchsorted(r, v, side="left"), ad.searchsorted(r, v, side="right")))
    for n, shape in ((1, (1,)), (5, (3, 7)), (8, ()), (17, (40,)), (300, (9, 5))):
        rows, values = np.sort(drawn(dtype, n)), drawn(dtype, *shape)
        found = f(ad.tensor(rows), ad.tensor(values))
        for one, side in zip(found, ("left", "right"), strict=True):
            np.testing.assert_array_equal(one.numpy(), np.searchsorted(rows, values, side))
        assert kinds(f) <= {"order", "loops"}


def test_each_example_searches_a_row_of_its_own(backends: Backend) -> None:
    backends("native")
    rows, values = np.sort(drawn("float64", 6, 37)), drawn("float64", 6, 2, 21)
    f = ad.jit(ad.vmap(lambda r, v: ad.searchsorted(r, v, side="right")))
    wanted = [np.searchsorted(r, v, "right") for r, v in zip(rows, values, strict=True)]
    np.testing.assert_array_equal(f(ad.tensor(rows), ad.tensor(values)).numpy(), wanted)
    assert "order" in kinds(f) and "numpy" not in kinds(f)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_orders(dtype: str, descending: bool, backends: Backend) -> None:
    backends("native")
    for shape in ((1,), (3, 7), (20, 16), (2, 1, 5), (4, 17, 3), (600, 2), (2, 600)):
        x = drawn(dtype, *shape)
        for axis in range(len(shape)):
            f = ad.jit(lambda x, axis=axis: ad.argsort(x, axis=axis, descending=descending))
            wanted = np.argsort(np.flip(x, axis) if descending else x, axis, kind="stable")
            if descending:
                wanted = np.flip(shape[axis] - 1 - wanted, axis)
            np.testing.assert_array_equal(f(ad.tensor(x)).numpy(), wanted)
            if dtype in ("float32", "float64"):
                assert ("numpy" in kinds(f)) == (shape[axis] == 600)  # long lines are NumPy's


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_their_code_is_what_the_loops_say(
    dtype: str, bits: int, monkeypatch: pytest.MonkeyPatch, backends: Backend
) -> None:
    backends("native")
    monkeypatch.setenv("ADJOINT_VECTOR_BITS", str(bits))
    rows, outputs = ad.tensor(np.sort(drawn(dtype, 21))), []
    for shape in ((13,), (3, 11), (2, 9, 3)):
        x = ad.tensor(drawn(dtype, *shape))
        axis = len(shape) // 2
        outputs += [ad.searchsorted(rows, x, side=side) for side in ("left", "right")]
        outputs += [ad.argsort(x, axis=axis), ad.sort(x, axis=axis, descending=True)]
    plan, leaves, numbers = planned(*outputs)
    program = compile_nests(plan)
    assert program is not None
    found, loops = program.run(leaves, numbers, True), Oracle(program.fusion, leaves, numbers).run()
    for one, other in zip(found, loops, strict=True):
        np.testing.assert_array_equal(one, other)


def test_sorted_rows_have_their_derivative(backends: Backend) -> None:
    backends("native")
    x, weights = drawn("int64", 30, 13) + np.linspace(0, 0.5, 13), np.arange(13.0)
    f = ad.jit(ad.grad(lambda x: ad.sum(ad.sort(x, axis=1) * weights)))
    wanted = np.argsort(np.argsort(x, 1, kind="stable"), 1).astype(float)  # an element's rank is its weight
    np.testing.assert_array_equal(f(ad.tensor(x)).numpy(), wanted)


def test_two_threads_search_as_one(backends: Backend) -> None:
    backends("native")
    rows, values, before = (
        ad.tensor(np.sort(drawn("float64", 3000))),
        ad.tensor(drawn("float64", 200, 1003)),
        ad.get_num_threads(),
    )
    f, found = ad.jit(lambda r, v: (ad.searchsorted(r, v), ad.argsort(v[:, :33]))), []
    for threads in (1, 2):
        ad.set_num_threads(threads)
        found.append([y.numpy() for y in f(rows, values)])
    ad.set_num_threads(before)
    np.testing.assert_array_equal(found[0][0], np.searchsorted(rows.numpy(), values.numpy()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("largest", [True, False])
def test_the_first_of_an_order(dtype: str, largest: bool, backends: Backend) -> None:
    """They are ranks like all of it, where lines are short."""
    for shape, count, axis in (((65,), 65, -1), ((3, 40), 5, -1), ((30, 2, 5), 7, 0), ((4, 1), 1, 1), ((2, 64), 63, 1)):
        f = ad.jit(lambda x, count=count, axis=axis: ad.topk(x, count, axis=axis, largest=largest))
        x = ad.tensor(drawn(dtype, *shape))
        results = []
        for backend in ("numpy", "native"):
            backends(backend)
            results.append([y.numpy() for y in ad.jit(f)(x)])
        for one, other in zip(*results, strict=True):
            np.testing.assert_array_equal(one, other)
        if dtype != "int8" and llvm.vector_bits() == 512 and x.dtype.itemsize * shape[axis] <= 512:
            g = ad.jit(lambda x, f=f: f(x))
            g(x)
            assert "order" in kinds(g) and "numpy" not in kinds(g)
