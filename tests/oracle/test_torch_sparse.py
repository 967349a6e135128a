"""Sparse matrices beside PyTorch's: products, conversions, and derivatives by their values and by dense operands."""

import numpy as np
import pytest

import adjoint.torch as ours

theirs = pytest.importorskip("torch")
pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore::UserWarning")]

RESULTS = {
    "@": lambda t, s, d: s @ d, "mm": lambda t, s, d: t.mm(s, d), "spmm": lambda t, s, d: t.spmm(s, d),
    "matmul": lambda t, s, d: t.matmul(s, d), "sparse.mm": lambda t, s, d: t.sparse.mm(s, d), "method": lambda t, s, d: s.mm(d),
    "vector": lambda t, s, d: s @ d[:, 0], "transposed": lambda t, s, d: s.t() @ d[1:],
    "from the left": lambda t, s, d: d[1:].t() @ s,
    "dense": lambda t, s, d: s.to_dense(), "coalesced": lambda t, s, d: s.coalesce().values(),
    "element by element": lambda t, s, d: (s * (d.t() + 1)).to_dense(),
    "from the left, so": lambda t, s, d: ((d.t() + 1) * s).to_dense(),
    "scaled": lambda t, s, d: (s * 2).to_dense(),
    "sum of both": lambda t, s, d: (s + s).to_dense(), "dense + sparse": lambda t, s, d: t.eye(3, 4) + s,
    "sum": lambda t, s, d: s.sum(),
    "sparse.sum": lambda t, s, d: t.sparse.sum(s),
}  # fmt: skip


def found(t, f):
    values = t.tensor([1.0, 2.0, 3.0, 4.0, 5.0], requires_grad=True)
    dense = t.arange(12.0).reshape(4, 3).requires_grad_()
    matrix = t.sparse_coo_tensor([[0, 2, 2, 0, 1], [1, 0, 3, 1, 2]], values, (3, 4))  # one position twice
    out = f(t, matrix, dense)
    (out * out).sum().backward()
    return [None if x is None else x.to_dense().tolist() for x in (out.detach(), values.grad, dense.grad)]


@pytest.mark.parametrize("name", RESULTS)
def test_results_and_derivatives(name):
    assert found(ours, RESULTS[name]) == found(theirs, RESULTS[name])


def test_a_normalized_graph():
    def normalized(t):
        edges = np.array([[0, 1, 2, 3], [1, 2, 3, 0]], dtype=np.int32)
        graph = t.eye(4) + t.sparse_coo_tensor(edges, t.ones(4), (4, 4), dtype=t.int64)
        scale = t.diag(t.sqrt(1 / t.sum(graph, dim=1))).to_sparse()
        graph = (scale @ graph @ scale).to_sparse()
        return graph.indices().tolist(), graph.values().tolist(), (graph @ t.ones(4, 2)).tolist(), tuple(graph.size())

    mine, other = normalized(ours), normalized(theirs)
    assert mine[0] == other[0] and mine[3] == other[3]
    for a, b in zip(mine[1:3], other[1:3], strict=True):
        np.testing.assert_allclose(a, b, 1e-6)


@pytest.mark.parametrize("t", [ours, theirs])
def test_what_raises_in_both(t):
    s = t.sparse_coo_tensor([[0, 0], [1, 1]], t.ones(2), (2, 2))
    for mistake in (
        lambda: s.indices(),
        lambda: s.values(),
        lambda: s @ t.ones(3, 3),
        lambda: s.double() @ t.ones(2, 2),
    ):
        with pytest.raises(RuntimeError):
            mistake()


@pytest.mark.parametrize("t", [ours, theirs])
def test_matrices_by_rows_times_dense_ones_element_by_element(t):
    s, d = t.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse_csr(), t.tensor([[5.0, 6.0], [7.0, 8.0]])
    assert (s * d).to_dense().tolist() == (d * s).to_dense().tolist() == [[0.0, 12.0], [21.0, 0.0]]


def test_what_raises_here():
    s = ours.sparse_coo_tensor([[0], [1]], [1.0], (2, 2))
    for mistake in (lambda: s.relu(), lambda: ours.exp(s), lambda: s + 1, lambda: ours.ones(2, 3) * s, lambda: s @ s):
        with pytest.raises((RuntimeError, TypeError, AttributeError)):
            mistake()
    with pytest.raises(RuntimeError, match="would be lost"):
        ours.eye(2).requires_grad_().to_sparse()
    with pytest.raises(RuntimeError, match="outside"):
        ours.sparse_coo_tensor([[2], [0]], [1.0], (2, 2))
