"""LAPACK called within native programs, beside NumPy's: values, gradients, what is to blame, threads, forks, and inside loops."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")
pytest.importorskip("scipy_openblas32")

import adjoint as ad
from support import some

la = ad.linalg
Backend = Callable[[str], None]
TOLERANCES = {"float64": 1e-9, "complex128": 1e-9, "float32": 3e-3, "complex64": 3e-3}
DTYPES = ("float64", "float32", "complex64", "complex128")
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cholesky": lambda a, b: la.cholesky(a @ ad.conj(a.mT)),
    "solve": la.solve,
    "solve transposed": lambda a, b: la.solve(a.mT, b),
    "lower": lambda a, b: la.solve_triangular(a, b, lower=True),
    "upper": lambda a, b: la.solve_triangular(a, b, lower=False, unit_diagonal=True),
    "adjoint": lambda a, b: la.solve_triangular(a, b, lower=True, trans="C"),
    "inv": lambda a, b: la.inv(a),
    "det": lambda a, b: la.det(a / a.shape[-1]),
    "slogdet": lambda a, b: list(la.slogdet(a)),
    "lu_factor": lambda a, b: list(la.lu_factor(a)),
    "lu of a tall matrix": lambda a, b: list(la.lu_factor(a[..., :3])),
    "lu of a wide matrix": lambda a, b: list(la.lu(a[..., :4, :])),
    "qr": lambda a, b: list(la.qr(a)),
    "qr, complete": lambda a, b: list(la.qr(a[..., :3], mode="complete")),
    "eigh": lambda a, b: list(la.eigh(a + ad.conj(a.mT))),
    "eigvalsh": lambda a, b: la.eigvalsh(a + ad.conj(a.mT), UPLO="U"),
    "svd": lambda a, b: list(la.svd(a)),
    "svd, as many as values": lambda a, b: list(la.svd(a[..., :5], full_matrices=False)),
    "svdvals": lambda a, b: la.svdvals(a),
}


def matrices(dtype: str, *shape: int) -> np.ndarray:
    random = np.random.default_rng(len(shape) + shape[-1])
    found = random.normal(size=shape)
    if dtype.startswith("c"):
        found = found + 1j * random.normal(size=shape)
    return (found + 3 * np.sqrt(shape[-2]) * np.eye(*shape[-2:])).astype(dtype)


def listed(found: Any) -> list[ad.Tensor]:
    return found if isinstance(found, list) else [found]


def hosts(f: Any) -> list[str]:
    """The operations of a compiled function that aren't native."""
    return [k.operations[0] for k in ad.execution.explain(f).kernels if k.kind == "numpy"]


# Two of the four dtypes for each function: one of real numbers, one of complex ones.
PAIRS = [(name, dtype) for k, name in enumerate(FUNCTIONS) for dtype in np.roll(DTYPES, k).tolist()]


@pytest.mark.parametrize(("name", "dtype"), some(PAIRS, 2))
def test_values(name: str, dtype: str, backends: Backend) -> None:
    f, tolerance = FUNCTIONS[name], TOLERANCES[dtype]
    for n, lead in ((6 if dtype[0] == "c" else 17, (2, 2)), (21, ()), (34, (3,))):
        given = [ad.tensor(matrices(dtype, *lead, n, k)) for k in (n, 2)]
        found = []
        for backend in ("numpy", "native"):
            backends(backend)
            compiled = ad.jit(lambda a, b: [x + x for x in listed(f(a * 1, b * 1))])
            found.append([x.numpy() for x in compiled(*given)])
            if backend == "native":
                assert not hosts(compiled)
        for a, b in zip(*found, strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_allclose(b, a, tolerance, tolerance * np.abs(a).max())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["lower", "upper", "adjoint"])
def test_one_right_side(name: str, dtype: str, backends: Backend) -> None:
    f, tolerance = FUNCTIONS[name], TOLERANCES[dtype]
    for n, lead in ((40, ()), (70, (3,))):
        given = [ad.tensor(matrices(dtype, *lead, n, k)) for k in (n, 1)]
        found = []
        for backend in ("numpy", "native"):
            backends(backend)
            compiled = ad.jit(lambda a, b: f(a / n, b) + 1)  # noqa: B023 - compiled here
            found.append(compiled(*given).numpy())
        assert not hosts(compiled)
        np.testing.assert_allclose(found[1], found[0], tolerance, tolerance * np.abs(found[0]).max())


@pytest.mark.parametrize("name", ["cholesky", "solve", "lower", "inv", "slogdet", "qr", "lu_factor"])
def test_gradients(name: str, backends: Backend) -> None:
    f = FUNCTIONS[name]
    given = [ad.tensor(matrices("float64", 2, 20, k)) for k in (20, 2)]

    def total(a: Any, b: Any) -> Any:
        return sum(
            [(x**2 * ad.arange(1.0, 1.0 + x.shape[-1])).sum() for x in listed(f(a, b)) if x.dtype.name == "float64"]
        )

    found = []
    for backend in ("numpy", "native"):
        backends(backend)
        compiled = ad.jit(ad.grad(total, argnums=(0, 1)))
        found.append([x.numpy() for x in compiled(*given)])
        if backend == "native":
            assert not hosts(compiled)
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(b, a, 1e-8, 1e-9 * np.abs(a).max())


def test_the_matrix_to_blame_is_named(backends: Backend) -> None:
    n = 33
    a, b = np.tile(np.eye(n), (4, 5, 1, 1)), np.ones((4, 5, n, 1))
    wrong = a.copy()
    wrong[2, 3] = 0
    wrong[3, 1] = 0
    for f, message in (
        (la.solve, "solve: matrix (2, 3) of the batch of shape (4, 5) is singular"),
        (lambda a, b: la.inv(a), "inv: matrix (2, 3) of the batch of shape (4, 5) is singular"),
        (lambda a, b: la.cholesky(a), "cholesky: matrix (2, 3) of the batch of shape (4, 5) is not positive definite"),
        (
            lambda a, b: la.solve_triangular(a, b),
            "solve_triangular: matrix (2, 3) of the batch of shape (4, 5) is singular",
        ),
    ):
        for backend in ("numpy", "native"):
            backends(backend)
            compiled = ad.jit(lambda a, b: f(a * 1, b) * 2)  # noqa: B023 - compiled here
            before = compiled(ad.tensor(a), ad.tensor(b)).numpy()
            for threads in (1, 2):
                old = ad.get_num_threads()
                ad.set_num_threads(threads)
                with pytest.raises(np.linalg.LinAlgError) as caught:
                    compiled(ad.tensor(wrong), ad.tensor(b))
                ad.set_num_threads(old)
                assert message in str(caught.value) and "test_factors.py" in str(caught.value)
            np.testing.assert_array_equal(compiled(ad.tensor(a), ad.tensor(b)).numpy(), before)


def test_what_is_not_finite_gives_nan(backends: Backend) -> None:
    n = 30
    a = np.tile(2 * np.eye(n), (5, 1, 1))
    a[1, 3, 4] = np.nan
    a[3, 0, 0] = np.inf
    for f in (la.inv, la.cholesky, lambda x: la.solve(x, np.ones((n, 1))), lambda x: la.eigh(x)[1], la.svdvals,
              lambda x: la.lu_factor(x)[0], lambda x: la.svd(x)[2]):  # fmt: skip
        for backend in ("numpy", "native"):
            backends(backend)
            found = ad.jit(lambda x: f(x * 1) * 2)(ad.tensor(a)).numpy()  # noqa: B023 - called here
            assert np.isnan(found[[1, 3]]).all() and np.isfinite(np.delete(found, [1, 3], 0)).all()


def test_loops_say_what_a_function_in_c_is_given(backends: Backend) -> None:
    backends("native")
    text = str(ad.execution.explain(la.eigvalsh(ad.tensor(np.eye(20))), stage="loops"))
    assert "eigenvalues_d(%0 + j · 0, %1 + j · 20, null, scratch, " in text


def test_pivots_that_are_no_rows(backends: Backend) -> None:
    """A user may make them up: they are an error, and nothing outside the matrix is touched."""
    packed, b = ad.tensor(np.eye(20)), ad.ones((20, 1))
    for pivots in (np.full(20, 20, np.int32), np.full(20, 1 << 30, np.int32)):
        for backend in ("numpy", "native"):
            backends(backend)
            compiled = ad.jit(lambda packed, pivots, b: la.lu_solve((packed * 1, pivots), b) * 2)
            with pytest.raises(IndexError, match="out of bounds for axis 1 with size 20"):
                compiled(packed, ad.tensor(pivots), b).numpy()


def test_bits_dont_depend_on_threads(backends: Backend) -> None:
    backends("native")
    given = ad.tensor(matrices("float64", 60, 40, 40))
    compiled = ad.jit(lambda a: [la.solve(a * 1, a.mT), *la.svd(a * 2)])
    before, found = ad.get_num_threads(), []
    for threads in (1, 2):
        ad.set_num_threads(threads)
        found.append([x.numpy().tobytes() for x in compiled(given)])
    ad.set_num_threads(before)
    assert found[0] == found[1]


def test_vectors_keep_their_signs_when_they_are_compiled(backends: Backend) -> None:
    """The interpreter, which computes a structure first, gets them of the same library."""
    for dtype in TOLERANCES:
        for n in (3, 20, 70):
            a = ad.tensor(matrices(dtype, 2, n, n))
            found = []
            for backend in ("numpy", "native"):
                backends(backend)
                compiled = ad.jit(lambda a: [x + x for x in (*la.eigh(a * 1), *la.svd(a * 1))])
                found.append([x.numpy() for x in compiled(a)])
            for x, y in zip(*found, strict=True):
                np.testing.assert_array_equal(x, y)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_computes_on(backends: Backend) -> None:
    backends("native")
    a = ad.tensor(matrices("float64", 8, 40, 40))
    compiled = ad.jit(lambda a: la.solve(a * 1, a.mT))
    wanted = compiled(a).numpy().tobytes()
    child = os.fork()
    if child == 0:
        os._exit(0 if compiled(a).numpy().tobytes() == wanted else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_filter_in_a_loop_is_native(backends: Backend) -> None:
    """An extended Kalman filter with 20 states: the loop's body calls LAPACK without going back to Python."""
    n, m, steps = 20, 18, 12
    random = np.random.default_rng(0)
    f, h = np.eye(n) + 0.01 * random.normal(size=(n, n)), random.normal(size=(m, n))

    def likelihood(q: Any, f: Any, ys: Any) -> Any:
        def step(carry: Any, y: Any) -> Any:
            x, p, total = carry
            x, p = x + 0.1 * ad.sin(f @ x), f @ p @ f.mT + q * np.eye(n)
            s, rest = h @ p @ h.T + np.eye(m), y - h @ x
            gain = la.solve(s, h @ p).mT
            change = 0.5 * (rest @ la.solve(s, rest)) + 0.5 * la.slogdet(s)[1]
            return (x + gain @ rest, p - gain @ h @ p, total - change), ()

        return ad.scan(step, (ad.zeros(n), ad.tensor(np.eye(n)), ad.tensor(0.0)), ys)[0][2]

    given = [ad.tensor(x) for x in (0.1, f, random.normal(size=(steps, m)))]
    found = []
    for backend in ("numpy", "native"):
        backends(backend)
        value, gradient = ad.value_and_grad(likelihood, argnums=(0, 1))(*given)
        found.append([value.numpy(), *[g.numpy() for g in gradient]])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(b, a, 1e-9, 1e-10)
