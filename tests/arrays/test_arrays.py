"""Functions of everyday use beyond the table of operations: corners, second derivatives, batches, errors."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from support import double, equal

generator = np.random.default_rng(3)


def test_quantiles_are_differentiable_in_their_place() -> None:
    x = double([3.0, 1.0, 2.0, 10.0])
    equal(ad.grad(lambda q: ad.quantile(x, q))(double(0.5)), 3.0)
    ad.check_grads(lambda x, q: ad.quantile(x, q), (x, double([0.2, 0.55])))
    with pytest.raises(ValueError, match=r"1\.5 is outside of \[0, 1\].*test_arrays\.py"):
        ad.quantile(x, 1.5)
    with pytest.raises(ValueError, match="method is one of linear"):
        ad.quantile(x, 0.5, method="cubic")
    equal(ad.median(double([ad.inf, ad.inf, 1.0])), np.inf)


@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_products_of_segments_are_right_with_zeros_in_every_order(zeros: int) -> None:
    values = np.array([2.0, 3.0, 5.0, 7.0])
    values[:zeros] = 0.0
    ids = np.array([0, 0, 0, 1])

    def product(x):
        return ad.segment_prod(x, ids)[0]

    def plain(x):
        return x[0] * x[1] * x[2]

    x = double(values)
    equal(ad.grad(product)(x), ad.grad(plain)(x).numpy())
    equal(ad.hessian(product)(x), ad.hessian(plain)(x).numpy())


def test_equal_extremes_share_the_derivative() -> None:
    x = double([1.0, 5.0, 5.0, 2.0])
    equal(ad.grad(lambda x: ad.segment_max(x, [0, 0, 0, 1]).sum())(x), [0.0, 0.5, 0.5, 1.0])
    equal(ad.segment_max(ad.tensor([1, 2]), [0, 0], 2), [2, np.iinfo(np.int64).min])


def test_running_log_of_a_sum_has_no_overflow() -> None:
    x = double([-ad.inf, -1000.0, 0.0, 1000.0, 999.0, -ad.inf])
    gradient = ad.grad(lambda x: ad.logcumsumexp(x).sum())(x)
    assert np.isfinite(gradient.numpy()).all()
    ad.check_grads(lambda x: ad.logcumsumexp(x, axis=1), (double(generator.normal(size=(2, 4)) * 20),), order=2)


def test_histograms_under_jit_and_vmap_with_known_edges() -> None:
    x = generator.normal(size=(3, 50))
    edges = np.linspace(-2, 2, 6)
    expected = [np.histogram(row, edges)[0] for row in x]
    equal(ad.vmap(lambda row: ad.histogram(row, edges)[0])(ad.tensor(x)), expected)
    equal(ad.jit(lambda row: ad.histogram(row, 4, (-1.0, 1.0))[0])(ad.tensor(x[0])), np.histogram(x[0], 4, (-1, 1))[0])
    w = double(np.ones(50))
    equal(ad.grad(lambda w: ad.histogram(x[0], edges, weights=w)[0][2])(w), (x[0] >= edges[2]) & (x[0] < edges[3]))
    with pytest.raises(ValueError, match="increase"):
        ad.histogram(x, [1.0, 0.0])


def test_index_add_takes_any_index_of_numpys() -> None:
    x, index = generator.normal(size=(4, 5)), (np.array([[0], [2], [0]]), np.array([1, 1]))
    expected = x.copy()
    np.add.at(expected, index, 2.0)
    equal(ad.index_add(ad.tensor(x), index, 2.0), expected)
    ad.check_grads(lambda x, v: ad.index_add(x, (slice(None), [0, 0, 3]), v), (double(x), double([1.0, 2.0, 3.0])))
    equal(ad.index_add(double(x), (slice(0, 2),), 1.0, reduce="max"), np.concatenate([np.maximum(x[:2], 1.0), x[2:]]))


def test_functions_of_parts_are_batched() -> None:
    a, b = double(generator.normal(size=(3, 1, 2))), double(generator.normal(size=(4, 2)))
    inner = ad.vectorize(lambda u, v: (u * v).sum(), signature="(n),(n)->()")
    equal(inner(a, b), np.vectorize(np.dot, signature="(n),(n)->()")(a.numpy(), b.numpy()))
    ad.check_grads(inner, (a, b))
    equal(ad.vectorize(lambda u, v: u + v)(double([[1.0], [2.0]]), double([10.0, 20.0])), [[11, 21], [12, 22]])
    split = ad.apply_along_axis(lambda v: ad.diag(v), 0, double([[1.0, 2.0], [3.0, 4.0]]))
    equal(split, np.apply_along_axis(np.diag, 0, np.array([[1.0, 2.0], [3.0, 4.0]])))
    with pytest.raises(ValueError, match="2 arguments, 1 are given"):
        inner(a)


def test_interpolation_is_differentiable_in_everything() -> None:
    places, values = double([0.0, 1.0, 3.0]), double([1.0, -1.0, 2.0])
    ad.check_grads(ad.interp, (double([0.3, 2.0, -1.0, 5.0]), places, values))
    equal(ad.grad(lambda x: ad.interp(x, places, values))(double(1.0)), 1.5)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: ad.diag(ad.ones((1, 1, 1))), "one or two axes"),
        (lambda: ad.topk(ad.ones(2), 3), "3 of 2 elements"),
        (lambda: ad.interp(1.0, ad.ones(2), ad.ones(3)), "equally long"),
        (lambda: ad.gradient(ad.ones(1)), "shorter than 2"),
        (lambda: ad.cdist(ad.ones((1, 2)), ad.ones((1, 3))), r"got \(1, 2\) and \(1, 3\)"),
        (lambda: ad.pad(ad.ones(2), 1, "mirror"), "mode is one of"),
        (lambda: ad.rot90(ad.ones((2, 2)), axes=(0, 0)), "one axis"),
        (lambda: ad.scatter_reduce(ad.ones(2), [0], 1.0, reduce="median"), "not 'median'"),
        (lambda: ad.segment_sum(ad.ones(2), [0]), "one for each"),
        (lambda: ad.select([], []), "0 conditions"),
        (lambda: ad.bincount(ad.tensor([-1])), "negative"),
        (lambda: ad.block([[ad.ones(1)], ad.ones(1)]), "different depths"),
        (lambda: ad.average(ad.ones((2, 3)), axis=0, weights=ad.ones(3)), r"\(3,\) for axis 0"),
    ],
)
def test_messages_name_the_line(wrong, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        wrong()
    assert "test_arrays.py" in str(caught.value)


def test_methods_of_numpys() -> None:
    x = generator.normal(size=(3, 4))
    t = ad.tensor(x)
    for name, arguments in (
        ("cumsum", (1,)), ("cumprod", ()), ("ravel", ()), ("trace", ()), ("diagonal", (1,)), ("copy", ()),
        ("compress", ([True, False, True], 0)), ("conjugate", ()),
    ):  # fmt: skip
        equal(getattr(t, name)(*arguments), getattr(x, name)(*arguments))
    assert (t.itemsize, t.nbytes) == (x.itemsize, x.nbytes)
    equal(
        ad.tensor([2, 0, 1]).choose(ad.arange(9).reshape(3, 3)), np.array([2, 0, 1]).choose(np.arange(9).reshape(3, 3))
    )
    equal(ad.tensor(x + 1j).H, (x + 1j).conj().T)
    t.put([0, -1], [5.0, 6.0])
    x.put([0, -1], [5.0, 6.0])
    equal(t, x)
    t.fill(2.0)
    equal(t, np.full((3, 4), 2.0))
    twin = t.copy()
    twin[0, 0] = 9.0
    assert t[0, 0].item() == 2.0


def test_segments_of_bools_are_counted() -> None:
    equal(ad.segment_sum(ad.tensor([True, True, False]), [0, 0, 1]), [2, 0])
    equal(ad.segment_prod(ad.tensor([True, True, False]), [0, 0, 1]), [1, 0])


@pytest.mark.parametrize("q", [0.0, 0.25, 1 / 3, 0.5, 1.0])
def test_infinite_numbers_have_quantiles(q) -> None:
    """The one that doesn't count at a place may be infinite; between a number and an infinite one lies the infinite one."""
    inf = np.inf
    for numbers, low, high in [([-inf, 1.0, 2.0], -inf, 1.0), ([1.0, 2.0, inf], 1.0, 2.0), ([-inf, 5.0], -inf, 5.0)]:
        found = ad.quantile(ad.tensor(numbers, dtype="float64"), q).item()
        exact = {0.0: numbers[0], 0.5: numbers[1] if len(numbers) == 3 else -inf, 1.0: numbers[-1]}
        assert found == exact[q] if q in exact else low <= found <= high
        assert not (q not in exact and low == -inf and found != -inf)
    assert ad.median(ad.tensor([3.0, -inf, 1.0])).item() == 1.0
    assert ad.grad(ad.median)(ad.tensor([3.0, -inf, 1.0])).tolist() == [0.0, 0.0, 1.0]


def test_full_refuses_to_lose_an_imaginary_part() -> None:
    with pytest.raises(TypeError, match=r"full: \(1\+2j\) has an imaginary part, and float32 none"):
        ad.full((2,), 1 + 2j, dtype="float32")
    assert ad.full((2,), 1 + 0j, dtype="float32").numpy().tolist() == [1.0, 1.0]
    assert (
        ad.full((1,), 2j, dtype="complex64").numpy().tolist() == [2j] and ad.full((1,), 2j, dtype="bool").numpy().all()
    )


@pytest.mark.parametrize("shape", [(50_000,), (200, 300)])
def test_sums_of_products_of_everything_are_read_as_they_lie(shape):
    x, y = (np.random.default_rng(seed).normal(size=shape).astype("float32") for seed in (0, 1))
    exact = float(np.sum(x.astype("float64") * y))
    a, b = ad.variable(x), ad.variable(y)
    letters = "ij"[: len(shape)]
    found = [ad.tensordot(a, b, axes=len(shape)), ad.einsum(f"{letters},{letters}->", a, b)]
    found += [a @ b] if len(shape) == 1 else [ad.einsum("ij,ij->i", a, b).sum()]
    for product in found:
        assert "matmul" not in str(ad.execution.explain(product, stage="units"))
        assert abs(product.item() - exact) < 1e-3
        (slope,) = ad.gradients(product, [a])
        np.testing.assert_array_equal(slope.numpy(), y)
