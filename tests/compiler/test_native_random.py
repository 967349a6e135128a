"""Random programs, by machine code and by the interpreter: see `random_graphs` and `random_units`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint.compiler.targets.target import tuned
from adjoint.execution.native.program import compile_nests
from adjoint.execution.numpy_programs import Streaming
from adjoint.runtime import llvm
from random_graphs import drawn, planned
from random_units import drawn as drawn_around

THRIFTY, MANY = 40, 2000
PRECISION = {"float32": 2e-3, "float64": 1e-9}  # gradients of chains of some twenty steps


def check(seed: int) -> None:
    plan, leaves, numbers = planned(drawn(seed))
    with np.errstate(all="ignore"):
        expected = Streaming(plan).run(leaves, numbers, True)
    program = compile_nests(plan)
    if program is None:
        return
    found = program.run(leaves, numbers, True)
    for k, (x, y) in enumerate(zip(found, expected, strict=True)):
        assert x.dtype == y.dtype and x.shape == y.shape
        assert agrees(x, y), f"seed {seed}, output {k}: {abs(x - y).max()} of {abs(y).max()}"
    ad.set_num_threads(3)
    for x, y in zip(program.run(leaves, numbers, True), found, strict=True):
        assert x.tobytes() == y.tobytes(), f"seed {seed}: bits depend on threads"


# What is done to large arrays, done to small ones: nothing; units that run tile by tile, and chunks; packed and deep products;
# few elements in registers; stores past caches; extents that aren't in the code; lanes and workspaces; windows.
TUNED: tuple[dict[str, int], ...] = (
    {},
    {"joined_from": 64, "joined_tile": 64, "followed_from": 64, "followed_tile": 64, "shared_from": 1 << 10, "chunk": 1 << 9},
    {"packed_from": 8, "packed_from_if_short": 8, "packed_from_in_batch": 4, "gathered_from": 16, "gathered": 12, "deep": 32,
     "sums": 16, "deep_rows": 6, "twice": 2},
    {"block": 4, "unroll": 2, "column_sums": 2, "for_total": 4, "least_chunks": 2, "shared_from": 256, "chunk": 256},
    {"jammed_from": 64, "jammed_row": 16, "streamed_from": 256, "divided_from": 1, "least_turned": 2, "turned_bytes": 16},
    {"literal": 0, "joined_from": 256, "followed_from": 256, "followed_tile": 256, "shared_from": 1 << 9, "chunk": 1 << 8},
    {"small_matrix": 4, "stacked_matrix": 6, "small_stack": 2, "small_product": 1 << 20, "most_unrolled": 0},
    {"winograd_from": 2, "winograd_least": 1, "winograd_tiles": 5, "pointwise_from": 1, "few_channels": 8, "image_tile": 256,
     "pool_tile": 64, "weight_pixels": 8, "most_by_cells": 4},
)  # fmt: skip


def check_unit(seed: int) -> None:
    """A unit at several sizes, where its code follows from that at others, and with data anew."""
    with tuned(**TUNED[seed % len(TUNED)]):
        check_sizes(seed)


def check_sizes(seed: int) -> None:
    for sizes in (0, 1, 2, 1):
        outputs, tolerance = drawn_around(seed, sizes)
        if not outputs:
            return
        plan, leaves, numbers = planned(outputs)
        with np.errstate(all="ignore"):
            expected = Streaming(plan).run(leaves, numbers, True)
            program = compile_nests(plan)
            if program is None:
                return
            found = program.run(leaves, numbers, True)
            wide = [spread(plan, leaves, numbers, expected)] if not all(map(agrees, found, expected)) else []
        for k, (x, y) in enumerate(zip(found, expected, strict=True)):
            assert x.dtype == y.dtype and x.shape == y.shape
            allowed = max(tolerance, *[100 * w[k] for w in wide], 0.0)
            assert agrees(x, y, allowed), f"seed {seed}, sizes {sizes}, output {k}"
        ad.set_num_threads(3)
        for x, y in zip(program.run(leaves, numbers, True), found, strict=True):
            assert x.tobytes() == y.tobytes(), f"seed {seed}, sizes {sizes}: bits depend on threads"
        ad.set_num_threads(1)


def spread(plan: Any, leaves: list[Any], numbers: list[Any], expected: list[Any]) -> list[float]:
    """How far results move, in proportion to the largest number, as what is given moves by some roundings."""
    random, most = np.random.default_rng(0), [0.0] * len(expected)
    for _ in range(3):
        moved = [
            (a * (1 + 8 * np.finfo(a.dtype).eps * random.normal(size=a.shape))).astype(a.dtype)
            if a.dtype.kind in "fc"
            else a
            for a in leaves
        ]
        for k, (x, y) in enumerate(zip(Streaming(plan).run(moved, numbers, True), expected, strict=True)):
            if x.dtype.kind in "fc":
                size = np.abs(y[np.isfinite(y)]).max(initial=1e-3)
                most[k] = max(most[k], float(np.nan_to_num(np.abs(x - y)).max(initial=0.0) / size))
    return most


def agrees(x: Any, y: Any, tolerance: float | None = None) -> bool:
    """Whether two arrays are the same up to rounding in proportion to the largest number of them."""
    finite = np.isfinite(y)
    if not np.array_equal(np.isfinite(x), finite):
        return False
    size = np.abs(y[finite]).max(initial=1e-3)
    return bool((np.abs(x[finite] - y[finite]) <= (tolerance or PRECISION[y.real.dtype.name]) * size).all())


@pytest.fixture(autouse=True)
def threads() -> Any:
    before = ad.get_num_threads()
    ad.set_num_threads(1)
    yield
    ad.set_num_threads(before)


def test_random_programs() -> None:
    for seed in range(THRIFTY):
        check(seed)


def test_random_units() -> None:
    for seed in range(THRIFTY // 2):
        check_unit(seed)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("bits", [128, 256, 512])
def test_many_random_units(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if bits > llvm.vector_bits():
        pytest.skip("this processor's vectors are shorter")
    monkeypatch.setenv("ADJOINT_VECTOR_BITS", str(bits))
    for seed in range(THRIFTY // 2, MANY // 4):
        check_unit(seed)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("bits", [128, 256, 512])
def test_many_random_programs(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if bits > llvm.vector_bits():
        pytest.skip("this processor's vectors are shorter")
    monkeypatch.setenv("ADJOINT_VECTOR_BITS", str(bits))
    for seed in range(THRIFTY, MANY):
        check(seed)
