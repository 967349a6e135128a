"""Small matrices in native code, beside NumPy's LAPACK: values, gradients, what is to blame, and inside loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad

la = ad.linalg
# Sizes of matrices, the stacks they are in, and which are left to `slow`.
SIZES: tuple[tuple[str, int, tuple[int, ...], bool], ...] = (
    ("float64", 1, (), False), ("float64", 3, (3,), True), ("float64", 4, (2, 5), False), ("float64", 16, (67,), True),
    ("float64", 21, (9,), False), ("float32", 2, (), True), ("float32", 7, (3,), False),
)  # fmt: skip
FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "solve": (la.solve, 3),
    "solve by columns": (lambda a, b: la.solve(a.mT, b), 3),
    "inv": (la.inv, 0),
    "cholesky": (lambda a: la.cholesky(a @ a.mT + 0.5 * ad.eye(a.shape[-1], dtype=a.dtype)), 0),
    "solve_triangular": (lambda a, b: la.solve_triangular(a, b, lower=True), 2),
    "upper": (lambda a, b: la.solve_triangular(a.mT, b, lower=False, unit_diagonal=True), 2),
    "det": (lambda a: la.det(a / 2), 0),
    "slogdet": (lambda a: la.slogdet(a)[1] * la.slogdet(a)[0], 0),
    "expm": (lambda a: la.expm(a / 3), 0),
    "matmul": (lambda a, b: a @ b, 2),
}


def with_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    return ad.jit(lambda *a: (f(*a), *ad.grad(lambda *x: (f(*x) ** 2).sum(), argnums=tuple(range(len(a))))(*a)))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("dtype", "n", "lead"),
    [pytest.param(*size, marks=[pytest.mark.slow] if slow else []) for *size, slow in SIZES],
    ids=str,
)
def test_values_and_gradients(
    name: str, dtype: str, n: int, lead: tuple[int, ...], backends: Callable[[str], None]
) -> None:
    f, columns = FUNCTIONS[name]
    tolerance = {"float64": 1e-9, "float32": 2e-3}[dtype]
    random = np.random.default_rng(n)
    arrays = [random.normal(size=(*lead, n, n)) + (1 + n / 2) * np.eye(n)]
    if columns:
        arrays.append(random.normal(size=(*lead, n, columns)))
    given = [ad.tensor(x.astype(dtype)) for x in arrays]
    found = []
    for backend in ("numpy", "native"):
        backends(backend)
        step = with_gradient(f)
        found.append([x.numpy() for x in step(*given)])
        if backend == "native" and not (name == "det" and n > 3):  # whose derivative is LAPACK's
            assert "numpy" not in ad.execution.explain(step, stage="units")
    for a, b in zip(*found, strict=True):
        assert a.dtype == b.dtype == dtype and a.shape == b.shape
        np.testing.assert_allclose(b, a, tolerance, tolerance * np.abs(a).max(initial=1e-3))


def test_the_first_matrix_to_blame_is_named(backends: Callable[[str], None]) -> None:
    backends("native")
    a = np.tile(np.eye(3), (40, 50, 1, 1))
    a[30, 7, 1, 1] = 0
    a[31, 9] = 0
    for function, problem in ((la.inv, "inv: matrix (30, 7)"), (la.cholesky, "cholesky: matrix (30, 7)")):
        compiled = ad.jit(function)
        compiled(ad.tensor(np.tile(np.eye(3), (40, 50, 1, 1))))
        for threads in (1, 2):
            before = ad.get_num_threads()
            ad.set_num_threads(threads)
            with pytest.raises(np.linalg.LinAlgError, match=problem.replace("(", r"\(").replace(")", r"\)")):
                compiled(ad.tensor(a))
            ad.set_num_threads(before)
        np.testing.assert_array_equal(compiled(ad.tensor(np.tile(np.eye(3), (40, 50, 1, 1)))).numpy()[0, 0], np.eye(3))


@pytest.mark.parametrize("n", [3, 12, 30])
def test_what_is_not_finite_gives_nan(n: int, backends: Callable[[str], None]) -> None:
    backends("native")
    a = np.tile(2 * np.eye(n), (9, 1, 1))
    a[4, 0, 1] = np.nan
    a[5, n - 1, n - 1] = np.inf
    for function in (la.inv, la.cholesky, lambda x: la.solve(x, np.ones((n, 1)))):
        found = ad.jit(function)(ad.tensor(a)).numpy()
        assert np.isnan(found[4:6]).all()
        assert np.isfinite(np.delete(found, [4, 5], 0)).all()


def test_pivots(backends: Callable[[str], None]) -> None:
    """Zeros and tiny numbers on the diagonal, and each lane with an order of its own."""
    backends("native")
    random = np.random.default_rng(3)
    for n in (4, 11):
        a = np.stack([random.permutation(np.eye(n)) * 10.0 ** random.integers(-3, 3, n) for _ in range(30)])
        a += 1e-6 * random.normal(size=a.shape)
        x = random.normal(size=(30, n, 1))
        np.testing.assert_allclose(
            ad.jit(la.solve)(ad.tensor(a), ad.tensor(a @ x)).numpy(), np.linalg.solve(a, a @ x), 1e-7, 1e-9
        )
        sign, size = ad.jit(la.slogdet)(ad.tensor(a))
        wanted = np.linalg.slogdet(a)
        np.testing.assert_array_equal(sign.numpy(), wanted[0])
        np.testing.assert_allclose(size.numpy(), wanted[1], 1e-10, 1e-10)
    flat = ad.jit(la.slogdet)(ad.tensor(np.zeros((3, 5, 5))))
    assert flat[0].numpy().tolist() == [0, 0, 0] and np.isneginf(flat[1].numpy()).all()


def test_exponentials_of_every_size(backends: Callable[[str], None]) -> None:
    """Each lane is halved as often as it needs, and what overflows or isn't finite stops."""
    backends("native")
    scipy_linalg = pytest.importorskip("scipy.linalg")
    a = np.random.default_rng(0).normal(size=(9, 3, 3)) * np.logspace(-9, 1.5, 9)[:, None, None]
    np.testing.assert_allclose(ad.jit(la.expm)(ad.tensor(a)).numpy(), scipy_linalg.expm(a), 1e-11)
    wild = np.stack([np.full((2, 2), np.inf), np.full((2, 2), np.nan), np.eye(2), 1e5 * np.eye(2)])
    found = ad.jit(la.expm)(ad.tensor(wild)).numpy()
    assert np.isnan(found[:2]).all() and np.isfinite(found[2]).all() and not np.isfinite(found[3, 0, 0])


def kalman(steps: int, n: int = 6, m: int = 3) -> tuple[Callable[..., Any], list[ad.Tensor]]:
    """The log likelihood of a linear filter, whose step has products, a Cholesky factor and solutions."""
    random = np.random.default_rng(1)
    f = 0.9 * np.eye(n) + 0.05 * random.normal(size=(n, n))
    h, ys = random.normal(size=(m, n)), random.normal(size=(steps, m))

    def likelihood(f: Any, h: Any, ys: Any) -> Any:
        def step(carry: Any, y: Any) -> Any:
            x, p = carry
            x, p = f @ x, f @ p @ f.mT + 0.1 * np.eye(n)
            factor = la.cholesky(h @ p @ h.mT + 0.5 * np.eye(m))
            white = la.solve_triangular(factor, (y - h @ x)[:, None], lower=True)
            gain = la.cho_solve((factor, True), h @ p)
            change = 0.5 * (white**2).sum() + ad.log(la.diagonal(factor)).sum()
            return (x + (gain.mT @ (y - h @ x)[:, None])[:, 0], p - gain.mT @ h @ p), change

        return ad.scan(step, (ad.zeros(n), ad.tensor(np.eye(n))), ys)[1].sum()

    return likelihood, [ad.tensor(x) for x in (f, h, ys)]


def test_a_filter_in_a_loop(backends: Callable[[str], None]) -> None:
    likelihood, given = kalman(30)
    found = []
    for backend in ("numpy", "native"):
        backends(backend)
        value, gradient = ad.value_and_grad(likelihood, argnums=(0, 1, 2))(*given)
        found.append([value.numpy(), *[g.numpy() for g in gradient]])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(b, a, 1e-9, 1e-10)
