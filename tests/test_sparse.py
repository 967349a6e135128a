"""Sparse Jacobians and Hessians against dense ones."""

import numpy as np
import pytest
from scipy import sparse

import adjoint as ad
from support import double

MATRIX = sparse.random_array((7, 9), density=0.2, rng=np.random.default_rng(0), format="csr")
FUNCTIONS = {
    "elementwise": lambda x: ad.sin(x) * x,
    "neighbours": lambda x: x[1:] * x[:-1] ** 2,
    "join": lambda x: ad.concat([x[::2] * x[0], ad.exp(x[3:5])]),
    "sums": lambda x: (ad.reshape(x, (3, 3)) ** 2).sum(axis=1),
    "transpose": lambda x: (ad.reshape(x, (3, 3)).T * ad.reshape(x, (3, 3))[0]).max(axis=0),
    "where": lambda x: ad.where(x > 0.5, x**2, x[::-1]),
    "sparse matrix": lambda x: ad.tanh(MATRIX @ x),
    "dense": lambda x: ad.linalg.solve(ad.reshape(x, (3, 3)) + 3 * ad.eye(3, dtype="float64"), x[:3]),
    "gather": lambda x: x[ad.tensor([2, 0, 2])] * x[1],
    "loop": lambda x: ad.scan(lambda c, v: (c * v + c, c), x[0], x)[1],
    "nothing": lambda x: ad.stop_gradient(x) * 2,
    "bool": lambda x: (x > 0).astype("float64") * x.sum(),
    "matrix product": lambda x: ad.reshape(x, (3, 3)) @ x[:3],
    "cumulative": lambda x: ad.cumulative_sum(x * x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_jacobians_are_dense_ones(name):
    f, x = FUNCTIONS[name], double(np.random.default_rng(1).normal(size=9))
    found = ad.sparse_jacobian(f)(x)
    assert sparse.issparse(found)
    np.testing.assert_allclose(found.toarray(), ad.jacobian(f)(x).numpy(), 1e-12, 1e-14)
    np.testing.assert_allclose(ad.sparse_jacobian(f)(2 * x).toarray(), ad.jacobian(f)(2 * x).numpy(), 1e-12, 1e-14)


def chain(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def test_a_long_banded_hessian():
    x = double(np.linspace(-1, 1, 50))
    hessian = ad.sparse_hessian(chain)
    found = hessian(x)
    assert found.nnz <= 3 * 50
    np.testing.assert_allclose(found.toarray(), ad.hessian(chain)(x).numpy(), 1e-12, 1e-12)
    np.testing.assert_allclose(hessian(2 * x).toarray(), ad.hessian(chain)(2 * x).numpy(), 1e-12, 1e-12)
    long = hessian(double(np.linspace(-1, 1, 3000)))
    assert long.shape == (3000, 3000) and long.nnz <= 9000


def test_what_is_captured_is_read_anew():
    scale = {"by": 2.0}
    jacobian = ad.sparse_jacobian(lambda x: x * scale["by"])
    assert jacobian(ad.ones(2)).toarray()[0, 0] == 2
    scale["by"] = 5.0
    assert jacobian(ad.ones(2)).toarray()[0, 0] == 5


def test_arguments_shapes_and_a_given_pattern():
    f = lambda x, a: a * x**2  # noqa: E731
    found = ad.sparse_jacobian(f)(double([[1.0, 2.0], [3.0, 4.0]]), 3.0)
    np.testing.assert_allclose(found.toarray(), np.diag([6.0, 12.0, 18.0, 24.0]))
    diagonal = ad.sparse_jacobian(
        lambda x: ad.cumulative_sum(x) - ad.cumulative_sum(x) + x, pattern=sparse.eye_array(3)
    )
    assert diagonal(ad.ones(3)).nnz == 3
    with pytest.raises(RuntimeError):
        ad.sparse_jacobian(lambda x: x if x.sum().item() > 0 else -x)(ad.ones(2))
    with pytest.raises(TypeError, match="one tensor"):
        ad.sparse_jacobian(lambda x: (x, x))(ad.ones(2))
