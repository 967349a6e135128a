"""Division of rows by one number: every bit as the processor divides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("llvmlite")

import adjoint as ad
from adjoint.compiler.targets.target import NEVER, tuned
from adjoint.execution.native.program import compile_nests
from adjoint.execution.numpy_programs import Streaming
from test_native import planned

ROWS, COLUMNS = 261, 1031


@pytest.fixture(autouse=True, params=["by a reciprocal", "one by one"])
def division(request: pytest.FixtureRequest) -> Iterator[None]:
    """As processors divide that take long for it, and as others do."""
    with tuned(divided_from=4 if request.param == "by a reciprocal" else NEVER):
        yield


def special(dtype: str) -> np.ndarray:
    f, near = np.finfo(dtype), 2.0 ** (50 if dtype == "float32" else 450)
    edges = [f.smallest_subnormal, f.tiny, f.max, 1.0, 3.0, near, np.nextafter(f.dtype.type(near), f.max), 1 / near,
             np.nextafter(f.dtype.type(1 / near), f.dtype.type(0)), 0.0, np.inf]  # fmt: skip
    return np.array([*edges, *[-x for x in edges], np.nan], dtype)


def operands(kind: str, dtype: str, *shape: int) -> np.ndarray:
    random = np.random.default_rng(shape[0])
    if kind == "bits":
        unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
        return random.integers(0, np.iinfo(unsigned).max, shape, unsigned, endpoint=True).view(dtype)
    if kind == "close to powers of two":  # there a product with the reciprocal is furthest from the quotient
        steps = random.integers(0, 64, shape) * np.finfo(dtype).eps
        near = np.where(random.random(shape) < 0.5, 1 + steps, 2 - steps)
        return (near * 2.0 ** random.integers(-20, 20, shape)).astype(dtype)
    x = random.normal(size=shape).astype(dtype)
    x.ravel()[: special(dtype).size] = special(dtype)
    return x


def same_bits(output: ad.Tensor) -> None:
    plan, leaves, numbers = planned(output)
    program = compile_nests(plan)
    assert program is not None
    (found,) = program.run(leaves, numbers, False)
    plan, leaves, numbers = planned(output)
    with np.errstate(all="ignore"):
        (expected,) = Streaming(plan).run(leaves, numbers, True)
    ordinary = ~np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), ~ordinary)
    assert found[ordinary].tobytes() == expected[ordinary].tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["bits", "close to powers of two", "special"])
def test_quotients(kind: str, dtype: str) -> None:
    x = operands(kind, dtype, ROWS, COLUMNS)
    by = operands(kind, dtype, ROWS + 1, 1)[1:]
    same_bits(ad.tensor(x) / ad.tensor(by))
    same_bits(ad.tensor(x) / (ad.tensor(by) * 1.5))
    same_bits(ad.tensor(x) / ad.tensor(by[9, 0]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_side_by_side_and_gradients(dtype: str) -> None:
    with tuned(jammed_from=1):
        rows_side_by_side(dtype)


def rows_side_by_side(dtype: str) -> None:
    x, by = operands("special", dtype, 1, COLUMNS), operands("special", dtype, ROWS, 1)
    left, right = ad.tensor(x), ad.tensor(by)
    same_bits(left / right)
    ones = ad.variable(np.ones((ROWS, COLUMNS), dtype))
    same_bits(ad.gradients((ones / right * left).sum(), [ones])[0])  # 0 where the numerator is
