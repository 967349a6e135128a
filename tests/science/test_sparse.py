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


RNG = np.random.default_rng(4)
PATTERN = sparse.random_array((40, 40), density=0.06, rng=RNG, format="csr")
COUPLED = sparse.csr_array(PATTERN + PATTERN.T + sparse.eye_array(40))


def coupled(x):
    return (ad.sin(x) * (COUPLED @ ad.cos(x))).sum() + (x**3).sum()


@pytest.mark.parametrize("colouring", ["star", "acyclic", "column"])
@pytest.mark.parametrize("function", [coupled, chain], ids=["coupled", "chain"])
def test_hessians_by_every_colouring(colouring, function):
    hessian, x = ad.sparse_hessian(function, colouring=colouring), double(RNG.normal(size=40))
    np.testing.assert_allclose(hessian(x).toarray(), ad.hessian(function)(x).numpy(), 1e-9, 1e-9)
    np.testing.assert_allclose(hessian(2 * x).toarray(), ad.hessian(function)(2 * x).numpy(), 1e-9, 1e-9)


def test_colours_are_fewer_where_symmetry_helps():
    star_of_spokes = lambda x: (x[0] * x[1:] ** 2).sum()  # noqa: E731
    counts = {}
    for colouring in ("star", "acyclic", "column"):
        hessian = ad.sparse_hessian(star_of_spokes, colouring=colouring)
        hessian(ad.ones(30))
        counts[colouring] = int(hessian.colours.max()) + 1
    assert counts == {"star": 2, "acyclic": 2, "column": 30}
    tridiagonal = ad.sparse_hessian(chain, colouring="acyclic")
    tridiagonal(ad.ones(30))
    assert tridiagonal.colours.max() + 1 == 2


def test_colours_are_what_their_names_promise():
    """Star: every path of four has three colours; acyclic: two colours make no cycle (checked by counting edges of trees)."""
    near = COUPLED.toarray() != 0
    np.fill_diagonal(near, False)
    for colouring in ("star", "acyclic"):
        hessian = ad.sparse_hessian(coupled, colouring=colouring)
        hessian(double(np.ones(40)))
        colours = hessian.colours
        assert not (near & (colours[:, None] == colours)).any()
        for a in range(colours.max() + 1):
            for b in range(a):
                both = np.flatnonzero((colours == a) | (colours == b))
                part = sparse.csr_array(near[np.ix_(both, both)])
                trees, labels = sparse.csgraph.connected_components(part)
                assert part.nnz // 2 == both.size - trees
                if colouring == "star":
                    degrees = np.asarray(part.sum(axis=1)).ravel()
                    assert all((degrees[labels == t] > 1).sum() <= 1 for t in range(trees))


def test_pattern_and_colours_are_kept_and_given():
    hessian, x = ad.sparse_hessian(coupled), double(RNG.normal(size=40))
    with pytest.raises(ValueError, match="found in the first call"):
        hessian.pattern
    first = hessian(x)
    again = ad.sparse_hessian(coupled, pattern=hessian.pattern, colouring=hessian.colours)
    np.testing.assert_array_equal(again(x).toarray(), first.toarray())
    with pytest.raises(ValueError, match=r"share a row|don't determine"):
        ad.sparse_hessian(coupled, colouring=np.zeros(40, int))(x)
    with pytest.raises(ValueError, match="columns of one colour share a row"):
        ad.sparse_jacobian(lambda x: x[1:] * x[:-1], colouring=np.zeros(3, int))(ad.ones(3))
    with pytest.raises(ValueError, match="a colour each"):
        ad.sparse_jacobian(lambda x: x * x, colouring=np.zeros(2, int))(ad.ones(3))
    with pytest.raises(ValueError, match="colouring is 'column' or"):
        ad.sparse_jacobian(lambda x: x, colouring="star")
    assert "40 × 40" in hessian.picture().svg() and len(str(hessian.picture()).splitlines()) == 40


def test_the_hessian_of_a_product_of_two_numbers() -> None:
    f = lambda x: ad.sin(x[1:] * x[:-1]).sum()  # noqa: E731 - used twice
    x = ad.tensor([0.3, 1.1], dtype="float64")
    for colouring in ("star", "acyclic", "column"):
        np.testing.assert_allclose(
            ad.sparse_hessian(f, colouring=colouring)(x).toarray(), ad.hessian(f)(x).numpy(), 1e-12
        )
