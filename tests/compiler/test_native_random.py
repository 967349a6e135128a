"""Random programs, by machine code and by the interpreter: see `random_graphs`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint.execution.native.program import compile_nests
from adjoint.execution.numpy_programs import Streaming
from adjoint.runtime import llvm
from random_graphs import drawn, planned

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


def agrees(x: Any, y: Any) -> bool:
    """Whether two arrays are the same up to rounding in proportion to the largest number of them."""
    finite = np.isfinite(y)
    if not np.array_equal(np.isfinite(x), finite):
        return False
    size = np.abs(y[finite]).max(initial=1e-3)
    return bool((np.abs(x[finite] - y[finite]) <= PRECISION[y.dtype.name] * size).all())


@pytest.fixture(autouse=True)
def threads() -> Any:
    before = ad.get_num_threads()
    ad.set_num_threads(1)
    yield
    ad.set_num_threads(before)


def test_random_programs() -> None:
    for seed in range(THRIFTY):
        check(seed)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("bits", [128, 256, 512])
def test_many_random_programs(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if bits > llvm.vector_bits():
        pytest.skip("this processor's vectors are shorter")
    monkeypatch.setenv("ADJOINT_VECTOR_BITS", str(bits))
    for seed in range(THRIFTY, MANY):
        check(seed)
