"""Large matrices computed block by block, by all threads: Cholesky factors and their derivatives, triangular systems of many
right sides, beside NumPy's kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from adjoint.compiler.schedule.blocks import BLOCKED_FROM
from adjoint.primitives import linalg_kernels as kernels

la = ad.linalg
Backend = Callable[[str], None]
FACTORED, DERIVED = BLOCKED_FROM["cholesky"], BLOCKED_FROM["cholesky_adjoint"]
PRECISION = {"float64": 1e-13, "float32": 1e-5}


@contextmanager
def threads(count: int) -> Iterator[None]:
    before = ad.get_num_threads()
    ad.set_num_threads(count)
    yield
    ad.set_num_threads(before)


def positive(n: int, dtype: str) -> np.ndarray:
    a = np.random.default_rng(n).normal(size=(n, n))
    return (a @ a.T / n + np.eye(n)).astype(dtype)


def with_all_threads(compiled: Any, *given: ad.Tensor) -> np.ndarray:
    """A result, which has the same bits by one, two and three threads."""
    found = []
    for count in (1, 2, 3):
        with threads(count):
            found.append(compiled(*given).numpy())
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    return found[0]


@pytest.mark.parametrize("dtype", list(PRECISION))
@pytest.mark.parametrize("n", [FACTORED - 1, FACTORED, FACTORED + 1, FACTORED + 100, 1030])
def test_factor(n: int, dtype: str, backends: Backend) -> None:
    backends("native")
    a = positive(n, dtype)
    compiled = ad.jit(lambda x: la.cholesky(x * 1) * 1)
    found = with_all_threads(compiled, ad.tensor(a))
    assert "numpy" not in [k.kind for k in ad.execution.explain(compiled).kernels]
    np.testing.assert_allclose(found, kernels.cholesky(a), 0, PRECISION[dtype])
    np.testing.assert_array_equal(found, np.tril(found))


@pytest.mark.parametrize("dtype", list(PRECISION))
@pytest.mark.parametrize("n", [DERIVED, 127, 128, 129, 250, 500, 1030])
def test_cotangent(n: int, dtype: str, backends: Backend) -> None:
    backends("native")
    a, u = positive(n, dtype), np.random.default_rng(1).normal(size=(n, n)).astype(dtype)
    compiled = ad.jit(lambda x, u: ad.vjp(la.cholesky, x)[1](u)[0] * 1)
    found = with_all_threads(compiled, ad.tensor(a), ad.tensor(u))
    assert "numpy" not in [k.kind for k in ad.execution.explain(compiled).kernels]
    wanted = kernels.cholesky_adjoint(kernels.cholesky(a), u)
    np.testing.assert_allclose(found, wanted, 0, 10 * PRECISION[dtype] * np.abs(wanted).max())
    np.testing.assert_array_equal(found, found.T)


def test_the_cotangent_is_a_derivative(backends: Backend) -> None:
    """Beside the change of the factor along a direction."""
    backends("native")
    n, step = FACTORED, 1e-6
    a, u, d = positive(n, "float64"), *np.random.default_rng(2).normal(size=(2, n, n))
    d = d + d.T
    found = ad.jit(lambda x: ad.vjp(la.cholesky, x)[1](ad.tensor(u))[0])(ad.tensor(a)).numpy()
    change = (np.linalg.cholesky(a + step * d) - np.linalg.cholesky(a - step * d)) / (2 * step)
    np.testing.assert_allclose((found * d).sum(), (np.tril(u) * change).sum(), 1e-6)


def test_stacks_and_complex_matrices(backends: Backend) -> None:
    """They are computed as before."""
    n = DERIVED
    given = np.stack([positive(n, "float64"), 2 * positive(n, "float64")])
    for a in (given, given[0] + 0j):
        found = []
        for backend in ("numpy", "native"):
            backends(backend)
            found.append(ad.jit(ad.grad(lambda x: ad.real(la.cholesky(x)).sum()))(ad.tensor(a)).numpy())
        np.testing.assert_allclose(found[1], found[0], 1e-10, 1e-12)


@pytest.mark.parametrize("place", [0, 70, FACTORED])
def test_a_matrix_to_blame(place: int, backends: Backend) -> None:
    backends("native")
    a = positive(FACTORED + 1, "float64")
    compiled = ad.jit(lambda x: la.cholesky(x * 1) * 2)
    before = compiled(ad.tensor(a)).numpy()
    wrong = a.copy()
    wrong[place, place] = -1
    for count in (1, 2):
        with threads(count), pytest.raises(np.linalg.LinAlgError, match="the matrix is not positive definite"):
            compiled(ad.tensor(wrong))
    np.testing.assert_array_equal(compiled(ad.tensor(a)).numpy(), before)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_gives_nan(value: float, backends: Backend) -> None:
    backends("native")
    a = positive(FACTORED, "float64")
    compiled = ad.jit(lambda x: la.cholesky(x * 1))
    for row, column in ((0, 0), (3, 300), (300, 3)):
        wrong = a.copy()
        wrong[row, column] = value
        assert np.isnan(compiled(ad.tensor(wrong)).numpy()).all()
    assert np.isfinite(compiled(ad.tensor(a)).numpy()).all()


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex64"])
@pytest.mark.parametrize("columns", [127, 129, 300, 1500])
def test_many_right_sides(columns: int, dtype: str, backends: Backend) -> None:
    random = np.random.default_rng(columns)
    a, b = random.normal(size=(2, 40, 40)) / 20 + np.eye(40), random.normal(size=(2, 40, columns))
    a, b = [ad.tensor((x + 1j * x if dtype[0] == "c" else x).astype(dtype)) for x in (a, b)]
    for lower, trans in ((True, "N"), (False, "C")):

        def solve(a: Any, b: Any) -> Any:
            return la.solve_triangular(a, b, lower=lower, trans=trans) * 1  # noqa: B023 - compiled here

        backends("numpy")
        wanted = ad.jit(solve)(a, b).numpy()
        backends("native")
        compiled = ad.jit(solve)
        found = with_all_threads(compiled, a, b)
        np.testing.assert_allclose(found, wanted, 0, (1e-12 if dtype == "float64" else 1e-4) * np.abs(wanted).max())


def test_the_first_system_to_blame_is_named(backends: Backend) -> None:
    backends("native")
    a = np.tile(np.eye(40), (3, 1, 1))
    a[1, 5, 5] = a[2, 3, 3] = 0
    compiled = ad.jit(lambda a, b: la.solve_triangular(a * 1, b))
    for count in (1, 2):
        with threads(count), pytest.raises(np.linalg.LinAlgError, match=r"matrix 1 of the batch of shape \(3,\)"):
            compiled(ad.tensor(a), ad.ones((3, 40, 600)))
