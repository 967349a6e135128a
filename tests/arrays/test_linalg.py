"""Linear algebra beyond the table: singular and repeated, empty and not finite, large and small, NumPy alone, compiled."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import adjoint as ad
from adjoint.primitives import lapack, linalg_kernels
from derivative_checks import check_derivatives

la = ad.linalg


def normal(*shape: int, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    generator = np.random.default_rng([seed, *shape])
    values = generator.normal(size=shape)
    return (values + 1j * generator.normal(size=shape) if dtype.startswith("c") else values).astype(dtype)


def tensor(*shape: int, seed: int = 0, dtype: str = "float64") -> ad.Tensor:
    return ad.tensor(normal(*shape, seed=seed, dtype=dtype))


# ---- errors that name the matrix -------------------------------------------------------------------------------------


def message(function: Any) -> str:
    with pytest.raises(np.linalg.LinAlgError) as caught:
        function()
    return str(caught.value)


def test_an_error_names_the_matrix_of_the_batch_and_the_line() -> None:
    a = np.stack([np.eye(3)] * 4)
    a[2] = 0
    text = message(lambda: la.inv(ad.tensor(a)).numpy())
    assert "inv: matrix 2 of the batch of shape (4,) is singular" in text and "test_linalg.py" in text
    text = message(lambda: la.cholesky(ad.tensor(a.reshape(2, 2, 3, 3) - 0.5)).numpy())
    assert "cholesky: matrix (0, 0) of the batch of shape (2, 2) is not positive definite" in text
    text = message(lambda: la.solve(ad.tensor(np.zeros((30, 30))), ad.tensor(np.ones(30))).numpy())
    assert "solve: the matrix is singular" in text
    text = message(lambda: la.solve_triangular(ad.tensor(a), ad.tensor(np.ones((4, 3, 1)))).numpy())
    assert "solve_triangular: matrix 2 of the batch of shape (4,) is singular" in text
    assert "logm: the matrix is singular" in message(lambda: la.logm(ad.tensor(a[2])).numpy())
    assert "give it as complex128" in message(lambda: la.sqrtm(ad.tensor(-a[0])).numpy())
    root = la.sqrtm(ad.tensor(-a[0] + 0j)).numpy()
    np.testing.assert_allclose(root, 1j * np.eye(3), atol=1e-15)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: la.inv(ad.ones((2, 3))), r"inv: expected square matrices, \(..., n, n\), got shape \(2, 3\)"),
        (lambda: la.svd(ad.ones(3)), r"svd: expected matrices, \(..., m, n\), got shape \(3,\)"),
        (lambda: la.solve(ad.eye(3), ad.ones((2, 3))), r"did you mean b\[..., None\]"),
        (lambda: la.solve(ad.ones((2, 3, 3)), ad.ones((4, 3, 1))), "do not broadcast"),
        (lambda: la.eigh(ad.eye(2), UPLO="X"), "UPLO is 'L' or 'U'"),
        (lambda: la.qr(ad.eye(2), mode="raw"), "mode is 'reduced', 'complete' or 'r'"),
        (lambda: la.matrix_norm(ad.eye(2), ord=3), "ord is 'fro'"),
        (lambda: la.solve_triangular(ad.eye(2), ad.ones(2), trans=True), "trans is 0 or 'N'"),
        (lambda: la.cross(ad.ones(2), ad.ones(2)), "three components"),
        (lambda: la.multi_dot([ad.eye(2)]), "at least two"),
    ],
)
def test_wrong_arguments(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text) as caught:
        call()
    assert "test_linalg.py" in str(caught.value)


# ---- not finite, empty, integer --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["inv", "cholesky", "det", "eigvalsh", "svdvals", "eigvals", "expm", "logm", "sqrtm", "pinv"]
)
def test_a_matrix_that_is_not_finite_gives_nan_and_leaves_the_others_alone(name: str) -> None:
    a = np.stack([2 * np.eye(3)] * 2)
    a[1, 0, 0] = np.nan
    found = getattr(la, name)(ad.tensor(a)).numpy()
    alone = getattr(la, name)(ad.tensor(a[0])).numpy()
    np.testing.assert_allclose(found[0], alone)
    assert np.isnan(found[1]).any()


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize(
    "shapes", [((40, 30), (30, 50)), ((3, 40, 30), (3, 30, 20)), ((300, 1), (1, 300)), ((2, 3), (3, 4))]
)
def test_products_of_integers_are_numpys_to_the_bit(dtype: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    limits, draw = np.iinfo(dtype), np.random.default_rng(0)
    for low, high in ((limits.min, limits.max), (max(limits.min, -90), 90), (0, 1)):  # the widest ones wrap around
        a, b = [draw.integers(low, high, s, dtype=dtype, endpoint=True) for s in shapes]
        found = (ad.tensor(a) @ ad.tensor(b)).numpy()
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, np.matmul(a, b))


def test_integers_and_lists_are_taken_as_the_default_dtype() -> None:
    assert la.inv([[2, 0], [0, 4]]).dtype == ad.float32
    np.testing.assert_allclose(la.inv([[2, 0], [0, 4]]).numpy(), [[0.5, 0], [0, 0.25]])


# ---- repeated eigenvalues and singular values ------------------------------------------------------------------------

DOUBLE = np.diag([1.0, 1.0, 3.0])
TURN = np.linalg.qr(normal(3, 3))[0]
REPEATED = [np.eye(3), DOUBLE, TURN @ DOUBLE @ TURN.T, np.zeros((3, 3))]


def invariants(x: ad.Tensor) -> list[ad.Tensor]:
    w = la.eigvalsh((x + x.mT) / 2)
    return [w.sum(), (w * w).sum(), ad.exp(w).sum()]


@pytest.mark.parametrize("point", REPEATED)
def test_functions_of_all_eigenvalues_where_some_coincide(point: np.ndarray) -> None:
    check_derivatives(invariants, [point], order=1)


@pytest.mark.parametrize("point", REPEATED)
def test_functions_of_matrices_need_no_gaps(point: np.ndarray) -> None:
    check_derivatives(lambda x: [la.expm(x)], [point])
    check_derivatives(lambda x: [la.sqrtm(x + 2 * np.eye(3)), la.logm(x + 2 * np.eye(3))], [point])


@pytest.mark.parametrize("point", [np.eye(3), TURN @ np.diag([2.0, 2.0, 5.0]), np.eye(4)[:, :2], 2 * np.eye(2, 3)])
def test_norms_and_pseudoinverses_where_singular_values_coincide(point: np.ndarray) -> None:
    check_derivatives(lambda x: [la.matrix_norm(x, ord="nuc"), la.pinv(x)], [point])


def test_a_projector_onto_equal_eigenvalues_has_its_derivative() -> None:
    def projector(x: ad.Tensor) -> list[ad.Tensor]:
        v = la.eigh((x + x.mT) / 2).eigenvectors[:, :2]
        return [v @ v.mT]

    with pytest.warns(RuntimeWarning, match="values coincide"):
        check_derivatives(projector, [REPEATED[2]], order=1)


def test_the_polar_factor_has_its_derivative_where_singular_values_coincide() -> None:
    def factor(x: ad.Tensor) -> list[ad.Tensor]:
        u, _, vh = la.svd(x, full_matrices=False)
        return [u @ vh]

    with pytest.warns(RuntimeWarning, match="values coincide"):
        check_derivatives(factor, [TURN], order=1)


def test_eigenvectors_of_equal_eigenvalues_have_a_finite_cotangent_and_say_so() -> None:
    def chosen(x: ad.Tensor) -> ad.Tensor:
        w, v = la.eigh(x)
        return (w * ad.tensor(np.arange(3.0)) + v[0]).sum()

    with pytest.warns(RuntimeWarning, match="values coincide"):
        found = ad.grad(chosen)(ad.tensor(np.eye(3))).numpy()
    np.testing.assert_allclose(found, np.diag([0.0, 1.0, 2.0]), atol=1e-15)


def test_values_alone_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ad.grad(lambda x: la.svdvals(x).sum() + la.eigvalsh(x).sum() + la.matrix_norm(x, ord="nuc"))(ad.eye(4)).numpy()


# ---- singular --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_the_determinants_derivative_is_the_cofactors_where_it_is_zero(n: int, rank: int) -> None:
    singular = normal(n, min(n - 1, rank)) @ normal(min(n - 1, rank), n, seed=1)
    check_derivatives(lambda x: [la.det(x)], [singular], order=2)


@pytest.mark.parametrize("n", [4, 5, 9])
@pytest.mark.parametrize("lost", [0, 1, 2])
@pytest.mark.parametrize("imaginary", [0.0, 0.5])
def test_second_derivatives_of_determinants_are_those_of_the_polynomial(n: int, lost: int, imaginary: float) -> None:
    """Of det(A + tE), a polynomial in t, also where A is singular but for rounding."""
    a = normal(n, n - lost) @ normal(n - lost, n, seed=1) * (1 + imaginary * 1j)
    a, e = a if imaginary else a.real, normal(n, n, seed=2)
    points = np.cos(np.arange(n + 1) * np.pi / n)
    values = [np.linalg.det(a + t * e) for t in points]
    expected = np.polynomial.Polynomial.fit(points, values, n).convert().coef[2] * 2
    for part, theirs in ((ad.real, np.real(expected)), (ad.imag, np.imag(expected))):
        if part is ad.real or imaginary:
            along = ad.hvp(lambda x, part=part: part(la.det(x)), ad.tensor(a), ad.tensor(e.astype(a.dtype)))
            found = np.sum(np.conj(along.numpy()) * e).real
            np.testing.assert_allclose(found, theirs, 1e-7, 1e-9 * np.abs(values).max())


def test_higher_derivatives_of_a_determinant() -> None:
    a, e = normal(5, 5), normal(5, 5, seed=1)
    points = np.linspace(-1, 1, 6)
    curve = np.polynomial.Polynomial.fit(points, [np.linalg.det(a + t * e) for t in points], 5).convert()
    f = lambda t: la.det(a + t * e)  # noqa: E731 - differentiated again and again
    for _ in range(5):
        f, curve = ad.grad(f), curve.deriv()
        np.testing.assert_allclose(f(ad.tensor(0.0, dtype="float64")).item(), curve(0.0), 1e-9)
    singular = np.outer(np.arange(5.0), np.ones(5))
    third = ad.grad(ad.grad(ad.grad(lambda t: la.det(singular + t * e))))
    with pytest.raises(np.linalg.LinAlgError, match="det: the matrix is singular, where its third"):
        third(ad.tensor(0.0, dtype="float64")).item()


def test_what_cannot_be_diagonalized_has_no_derivative_of_eigenvalues() -> None:
    block = np.diag([2.0] * 4) + np.diag([1.0] * 3, 1)
    for f in (lambda x: ad.real(la.eigvals(x) ** 2).sum(), lambda x: ad.abs(la.eig(x)[1]).sum()):
        with pytest.raises(np.linalg.LinAlgError, match="eig: the matrix can't be diagonalized"):
            ad.grad(f)(ad.tensor(block)).numpy()
    apart = block + np.diag([0.0, 0.1, 0.2, 0.3])
    check_derivatives(lambda x: [ad.real(la.eigvals(x) ** 2).sum()], [apart], order=1)


def test_equal_eigenvalues_of_general_matrices_say_so() -> None:
    with pytest.warns(RuntimeWarning, match="values coincide"):
        ad.hvp(lambda x: ad.real(la.eigvals(x) ** 2).sum(), ad.eye(3), ad.ones((3, 3))).numpy()


def test_the_pseudoinverse_and_the_nuclear_norm_at_lower_rank() -> None:
    left, right = normal(4, 2), normal(2, 3, seed=1)
    check_derivatives(lambda a, b: [la.pinv(a @ b)], [left, right])
    gradient = ad.grad(lambda x: la.matrix_norm(x, ord="nuc"))(ad.tensor(left @ right)).numpy()
    u, _, vh = np.linalg.svd(left @ right)
    np.testing.assert_allclose(gradient, u[:, :2] @ vh[:2], atol=1e-12)


# ---- sizes, environments ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_systems_larger_than_a_block_to_second_order(dtype: str) -> None:
    a, b = normal(30, 30, dtype=dtype) + 8 * np.eye(30), normal(30, dtype=dtype)
    check_derivatives(lambda a, b: [la.solve(a, b)], [a, b])


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_the_blocked_reverse_pass_of_cholesky(dtype: str) -> None:
    a, u = normal(2, 150, 150, dtype=dtype), normal(2, 150, 150, seed=1, dtype=dtype)
    factor = np.linalg.cholesky(a @ np.conj(a.swapaxes(-1, -2)) + 150 * np.eye(150))
    whole = linalg_kernels._cholesky_adjoint(factor, u)
    np.testing.assert_allclose(
        linalg_kernels.cholesky_adjoint(factor, u), whole, rtol=0, atol=1e-13 * np.abs(whole).max()
    )
    definite = lambda x: x @ ad.conj(x).mT + 70 * ad.eye(70, dtype="float64")  # noqa: E731 - beside its only use
    check_derivatives(lambda x: [la.cholesky(definite(x))[60:, 60:]], [a[0, :70, :70]])


@pytest.fixture(params=[False, True], ids=["NumPy alone", "with OpenBLAS"])
def environment(request: Any, monkeypatch: pytest.MonkeyPatch) -> bool:
    if not request.param:
        monkeypatch.setattr(lapack._openblas, "library", lambda: None)
    elif lapack._openblas.library() is None:
        pytest.skip("scipy-openblas32 isn't here")
    return bool(request.param)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(7, 7), (40, 40), (3, 33, 33), (100, 4, 4)])
def test_what_numpy_lacks(environment: bool, shape: tuple[int, ...], dtype: str) -> None:
    a, precision = normal(*shape, dtype=dtype) + np.eye(shape[-1], dtype=dtype), np.finfo(dtype).eps
    x = tensor(*shape[:-1], 3, seed=5, dtype=dtype)
    packed, pivots = lapack.lu(a)
    lower, upper = np.tril(packed, -1) + np.eye(shape[-1]), np.triu(packed)
    assert np.abs(lower).max() <= 1.5  # pivots are the largest of their columns
    np.testing.assert_allclose(lower @ upper, lapack.permute_rows(a, pivots, False), atol=1e3 * precision)
    for trans, matrix in enumerate((a, a.swapaxes(-1, -2), np.conj(a.swapaxes(-1, -2)))):
        found = la.lu_solve((ad.tensor(packed), ad.tensor(pivots)), ad.tensor(matrix) @ x, trans=trans).numpy()
        np.testing.assert_allclose(found, x.numpy(), atol=1e5 * precision)
    t, z = lapack.schur(lapack.stacked(a)[0])
    np.testing.assert_allclose(z @ t @ np.conj(z.T), lapack.stacked(a)[0], atol=300 * precision)
    assert not np.tril(t, -1).any()


@pytest.mark.parametrize("name", ["logm", "sqrtm"])
def test_functions_of_matrices_that_have_too_few_eigenvectors(environment: bool, name: str) -> None:
    block = 2 * np.eye(4) + np.eye(4, k=1)
    np.testing.assert_allclose(
        getattr(la, name)(ad.tensor(block)).numpy(), getattr(scipy.linalg, name)(block), atol=1e-14
    )
    check_derivatives(lambda x: [getattr(la, name)(x)], [block], order=1)


@pytest.mark.parametrize("size", [1e-8, 1e-3, 0.1, 1.0, 5.0, 50.0])
def test_the_exponential_over_sizes(size: float) -> None:
    a, e = size * normal(5, 5), normal(5, 5, seed=1)
    value, slope = scipy.linalg.expm_frechet(a, e)
    found, tangent = ad.jvp(la.expm, (ad.tensor(a),), (ad.tensor(e),))
    np.testing.assert_allclose(found.numpy(), value, rtol=0, atol=1e-13 * max(size, 1) * np.abs(value).max())
    np.testing.assert_allclose(tangent.numpy(), slope, rtol=0, atol=1e-12 * max(size, 1) * np.abs(slope).max())


def test_matrices_of_one_batch_are_scaled_each_for_itself() -> None:
    a = np.stack([normal(3, 3) * s for s in (1e-3, 1.0, 30.0)])
    found = la.expm(ad.tensor(a)).numpy()
    for one, other in zip(found, a, strict=True):
        np.testing.assert_allclose(one, scipy.linalg.expm(other), rtol=1e-11, atol=1e-12 * np.abs(one).max())


# ---- transformations and compiled code -------------------------------------------------------------------------------


def likelihood(theta: ad.Tensor, x: ad.Tensor, y: ad.Tensor) -> ad.Tensor:
    """The log marginal likelihood of a Gaussian process, without its constant."""
    gaps = (x[:, None] - x[None, :]) / theta[0]
    factor = la.cholesky(theta[1] * ad.exp(-0.5 * gaps * gaps) + theta[2] * ad.eye(len(x), dtype="float64"))
    weights = la.cho_solve((factor, True), y)
    return -0.5 * (y @ weights) - ad.log(la.diagonal(factor)).sum()


def test_a_gaussian_process_interpreted_planned_and_compiled() -> None:
    x, y = ad.tensor(np.linspace(0, 5, 40)), tensor(40)
    theta = ad.tensor(np.array([0.7, 1.3, 0.2]))
    check_derivatives(lambda t: [likelihood(t, x, y)], [theta.numpy()])
    one = ad.grad(likelihood)(theta, x, y).numpy()
    again = [ad.grad(likelihood)(theta, x, y).numpy() for _ in range(3)]
    compiled = ad.jit(ad.grad(likelihood))
    found = [compiled(theta, x, y).numpy() for _ in range(3)]
    for other in (*again, *found):
        np.testing.assert_allclose(other, one, rtol=1e-10)
    curvature = ad.jit(ad.hessian(likelihood))(theta, x, y).numpy()
    np.testing.assert_allclose(curvature, ad.hessian(likelihood)(theta, x, y).numpy(), rtol=1e-8)


def test_results_with_names_come_out_of_transformations() -> None:
    a = tensor(3, 4, 4) + 4 * ad.eye(4, dtype="float64")
    w, v = ad.vmap(lambda x: la.eigh(x + x.mT))(a)
    np.testing.assert_allclose((v * w[:, None, :] @ v.mT).numpy(), (a + a.mT).numpy(), atol=1e-12)
    compiled = ad.jit(lambda x: la.slogdet(x))(a)
    np.testing.assert_allclose(compiled.logabsdet.numpy(), np.linalg.slogdet(a.numpy()).logabsdet)


def test_one_matrix_under_vmap_is_factored_once() -> None:
    a, b = tensor(20, 20) + 5 * ad.eye(20, dtype="float64"), tensor(6, 20)
    y = ad.vmap(lambda v: la.solve(a, v))(b)
    assert y.node.op.name != "solve_factored"
    np.testing.assert_allclose(y.numpy(), np.linalg.solve(a.numpy(), b.numpy().T).T, atol=1e-12)
    small = ad.jacobian(lambda v: la.solve(a[:4, :4] + 0.0, v))(b[0, :4]).numpy()
    np.testing.assert_allclose(small, np.linalg.inv(a.numpy()[:4, :4]), atol=1e-12)


def test_numpys_names_record(monkeypatch: pytest.MonkeyPatch) -> None:
    x = ad.variable(normal(4, 4) + 4 * np.eye(4))
    plain = x.numpy()
    for function, arguments in (
        (np.linalg.inv, ()), (np.linalg.det, ()), (np.linalg.svd, (False,)), (np.linalg.svd, (True, False)),
        (np.linalg.pinv, (1e-12,)), (np.linalg.matrix_rank, ()), (np.linalg.qr, ("r",)), (np.linalg.norm, ("nuc",)),
        (np.linalg.eigvals, ()), (np.linalg.cond, ()), (np.linalg.matrix_power, (3,)), (np.linalg.multi_dot, ()),
        (np.trace, ()), (np.diagonal, (1,)), (np.kron, (np.ones(2),)), (np.linalg.solve, (np.ones(4),)),
    ):  # fmt: skip
        given = ([x, x],) if function is np.linalg.multi_dot else (x, *arguments)
        wanted = ([plain, plain],) if function is np.linalg.multi_dot else (plain, *arguments)
        found, expected = function(*given), function(*wanted)
        for one, other in zip(*(y if isinstance(y, tuple) else (y,) for y in (found, expected)), strict=True):
            assert isinstance(one, ad.Tensor)
            np.testing.assert_allclose(one.numpy(), other, rtol=1e-9, atol=1e-12)
    batch = ad.tensor(normal(2, 3, 4))
    np.testing.assert_allclose(np.trace(batch).numpy(), np.trace(batch.numpy()))
    np.testing.assert_allclose(
        np.cross(batch[..., :3], batch[..., 1:]).numpy(), np.cross(*(batch.numpy()[..., i : i + 3] for i in (0, 1)))
    )


def test_the_namespace_is_loaded_when_it_is_named() -> None:
    import subprocess
    import sys

    code = "import sys, adjoint as ad; before = 'adjoint.linalg' in sys.modules; ad.linalg.inv; print(before)"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout.strip() == b"False"


def test_a_product_goes_into_an_operation_with_several_results():
    """Compiled: what reads a product need not have one shape."""
    a = ad.tensor(np.random.default_rng(0).normal(size=(5, 3)))
    expected = np.linalg.slogdet(a.numpy().T @ a.numpy())[1]
    determinant = ad.jit(lambda a: ad.linalg.slogdet(a.T @ a)[1])
    for _ in range(3):
        assert determinant(a).item() == pytest.approx(expected)
    gradient = ad.jit(ad.grad(lambda a: ad.linalg.slogdet(a.T @ a)[1]))(a)
    np.testing.assert_allclose(gradient.numpy(), 2 * np.linalg.pinv(a.numpy()).T, rtol=1e-10)


def test_factors_are_a_pair():
    """A stack of two matrices isn't taken for one."""
    stack, b = ad.ones((2, 1, 1)), ad.ones((1,))
    for solve in (ad.linalg.cho_solve, ad.linalg.lu_solve):
        with pytest.raises(TypeError, match=r"solve: the factors are a pair, .*; got Tensor .*test_linalg.py:\d+"):
            solve(stack, b)


def test_what_is_not_finite_has_no_rank():
    stack = ad.tensor(np.stack([np.eye(2), np.full((2, 2), np.nan)]))
    for rank in (ad.linalg.matrix_rank, np.linalg.matrix_rank, ad.jit(ad.linalg.matrix_rank)):
        with pytest.raises(np.linalg.LinAlgError, match="matrix 1 of the batch"):
            rank(stack).numpy()
        with pytest.raises(np.linalg.LinAlgError, match="NaN"):
            rank(ad.tensor([[np.inf, 0.0], [0.0, 1.0]])).numpy()
        assert rank(stack[0]).item() == 2
    assert np.isnan(ad.linalg.lstsq(stack[1], stack[1]).x.numpy()).all()
