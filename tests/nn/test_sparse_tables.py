"""Tables of which a step uses few rows: their gradients stay rows, and optimizers write into the table where it lies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.composites.rows import rows_of
from adjoint.primitives.indexing import SCATTER_ADD
from adjoint.runtime.memory import address

ROWS, WIDTH = 3000, 24
OPTIMIZERS = {
    "SGD": lambda p: ad.optim.SGD(p, lr=0.1),
    "Adagrad": lambda p: ad.optim.Adagrad(p, lr=0.1),
    "SparseAdam": lambda p: ad.optim.SparseAdam(p, lr=0.01),
    "Adam": lambda p: ad.optim.Adam(p, lr=0.01, weight_decay=0.01, amsgrad=True),
    "AdamW": lambda p: ad.optim.AdamW(p, lr=0.01),
}


def batches(count: int = 4, most: int = ROWS, size: tuple[int, ...] = (40, 3)) -> list[ad.Tensor]:
    generator = np.random.default_rng(1)
    return [ad.tensor(generator.integers(0, most, size)) for _ in range(count)]


def table(sparse: bool, rows: int = ROWS) -> nn.Embedding:
    values = np.random.default_rng(0).normal(size=(rows, WIDTH)).astype(np.float32)
    return nn.Embedding(rows, WIDTH, sparse=sparse, _weight=ad.tensor(values))


def trained(name: str, sparse: bool, jit: bool, most: int = ROWS, read: bool = False) -> tuple[nn.Embedding, Any]:
    layer = table(sparse)
    optimizer = OPTIMIZERS[name](layer.parameters())

    def step(x: ad.Tensor) -> ad.Tensor:
        loss = (ad.tanh(layer(x)) * layer(x[:, :1]) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        if read:
            np.asarray(layer.weight.grad.numpy())
        optimizer.step()
        return loss

    compiled = ad.jit(step) if jit else step
    for x in batches(most=most):
        compiled(x).item()
    return layer, optimizer


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("name", ["SGD", "Adagrad", "SparseAdam"])
@pytest.mark.parametrize("most", [ROWS, 12])
def test_rows_give_what_whole_gradients_give(name: str, jit: bool, most: int) -> None:
    dense, sparse = (trained(name, sparse, jit, most)[0].weight.numpy() for sparse in (False, True))
    np.testing.assert_allclose(sparse, dense, rtol=2e-5, atol=2e-6)
    assert (sparse != table(True).weight.numpy()).any(axis=1).sum() > 5


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_it_makes_no_difference_whether_a_gradient_was_read(name: str) -> None:
    """That is: whether it is known by its rows or not."""
    (found, optimizer), (read, other), (compiled, _) = (
        trained(name, True, False), trained(name, True, False, read=True), trained(name, True, True)
    )  # fmt: skip
    np.testing.assert_allclose(found.weight.numpy(), read.weight.numpy(), rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(found.weight.numpy(), compiled.weight.numpy(), rtol=2e-5, atol=2e-6)
    for key, value in optimizer.state[0].items():
        np.testing.assert_allclose(value, other.state[0][key], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_other_rows_stay_as_they_are(name: str) -> None:
    layer, optimizer = trained(name, True, True, most=100)
    before = table(True).weight.numpy()
    np.testing.assert_array_equal(layer.weight.numpy()[100:], before[100:])
    assert (layer.weight.numpy()[:100] != before[:100]).any()
    for value in optimizer.state[0].values():
        if isinstance(value, ad.Tensor) and name != "Adagrad":
            assert not value.numpy()[100:].any() and value.numpy()[:100].any()


def test_adam_on_rows_by_hand() -> None:
    x = ad.tensor([3, 5, 3])
    layer = table(True)
    optimizer = ad.optim.Adam(layer.parameters(), lr=0.1)
    w, average, square = layer.weight.numpy().astype(float), np.zeros((ROWS, WIDTH)), np.zeros((ROWS, WIDTH))
    for t in (1, 2, 3):
        optimizer.zero_grad()
        (layer(x) ** 2).sum().backward()
        optimizer.step()
        for row, times in ((3, 2), (5, 1)):
            g = 2 * times * w[row]
            average[row] += 0.1 * (g - average[row])
            square[row] = 0.999 * square[row] + 0.001 * g * g
            w[row] -= 0.1 / (1 - 0.9**t) * average[row] / (np.sqrt(square[row] / (1 - 0.999**t)) + 1e-8)
        np.testing.assert_allclose(layer.weight.numpy(), w, rtol=1e-4, atol=1e-5)


def test_gradients_stay_rows_until_they_are_read() -> None:
    layer, x = table(True), batches(1)[0]
    for times in (1, 2):
        (layer(x) ** 2).sum().backward()
        (layer(x[:4]) * 2.0).sum().backward()
        node = layer.weight.grad.node
        assert node.op is SCATTER_ADD and node.value is None and rows_of(node) is not None
        w = layer.weight.numpy()
        expected = np.zeros_like(w)
        np.add.at(expected, x.numpy(), 2 * w[x.numpy()])
        np.add.at(expected, x[:4].numpy(), np.float32(2.0))
        if times == 2:
            np.testing.assert_allclose(layer.weight.grad.numpy(), 2 * expected, rtol=1e-5, atol=1e-5)


def test_a_compiled_step_leaves_a_gradient_behind() -> None:
    layer, x = table(True), batches(1)[0]

    @ad.jit
    def step(x: ad.Tensor) -> ad.Tensor:
        loss = (layer(x) ** 2).sum()
        layer.zero_grad()
        loss.backward()
        return loss

    for _ in range(3):
        step(x)
        node = layer.weight.grad.node
        assert node.op is SCATTER_ADD and node.value is None
    expected = np.zeros((ROWS, WIDTH), np.float32)
    np.add.at(expected, x.numpy(), 2 * layer.weight.numpy()[x.numpy()])
    np.testing.assert_allclose(layer.weight.grad.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_a_table_that_is_also_a_matrix_has_a_whole_gradient() -> None:
    found = []
    for sparse in (False, True):
        layer, x = table(sparse), batches(1)[0]
        optimizer = ad.optim.SGD(layer.parameters(), lr=0.1)
        ad.softmax(layer(x).sum(axis=1) @ layer.weight.mT, -1)[:, :5].sum().backward()
        optimizer.step()
        found.append(layer.weight.numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-5, atol=1e-6)


def test_padding_bags_and_no_rows_at_all() -> None:
    bag = nn.EmbeddingBag(50, 4, mode="sum", sparse=True, padding_idx=3)
    optimizer = ad.optim.SparseAdam(bag.parameters())
    before = bag.weight.numpy().copy()
    bag(ad.tensor([[3, 1], [1, 2]])).sum().backward()
    optimizer.step()
    assert ((bag.weight.numpy() != before).any(axis=1)).nonzero()[0].tolist() == [1, 2]
    layer = table(True)
    (layer(ad.tensor(np.zeros((0,), np.int64))).sum() + (layer.weight * 0.0).sum()).backward()
    ad.optim.SparseAdam(layer.parameters()).step()
    np.testing.assert_array_equal(layer.weight.numpy(), table(True).weight.numpy())


@pytest.mark.parametrize("name", ["SGD", "SparseAdam"])
def test_tables_are_updated_where_they_lie(name: str) -> None:
    pytest.importorskip("llvmlite")
    layer, other = table(True, 1 << 14), table(True, 1 << 14)
    optimizer = OPTIMIZERS[name]([*layer.parameters(), *other.parameters()])

    @ad.jit
    def step(x: ad.Tensor, y: ad.Tensor) -> ad.Tensor:
        loss = (layer(x) * other(y) * other(x)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    x, y = batches(2)
    places = []
    for _ in range(5):
        step(x, y).item()
        held = [
            layer.weight,
            other.weight,
            *[v for s in optimizer.state for v in s.values() if isinstance(v, ad.Tensor)],
        ]
        places.append([address(t.node.value) for t in held])
    assert places[2] == places[3] == places[4]
    before = [t.numpy().copy() for t in held]
    with pytest.raises(IndexError, match="out of bounds"):
        step(x, ad.tensor(np.where(y.numpy() == y.numpy()[-1, -1], 1 << 14, y.numpy())))
    for t, values in zip(held, before, strict=True):
        np.testing.assert_array_equal(t.numpy(), values)


def test_slices_are_written_where_an_array_lies() -> None:
    pytest.importorskip("llvmlite")
    buffer = ad.tensor(np.zeros((200, 1000), np.float32))

    @ad.jit
    def step(x: ad.Tensor) -> ad.Tensor:
        buffer[3:5] = ad.sin(x)
        return x.sum()

    x = ad.tensor(np.ones((2, 1000), np.float32))
    places = []
    for _ in range(4):
        step(x)
        places.append(address(buffer.node.value))
    assert places[1] == places[2] == places[3]
    expected = np.zeros((200, 1000), np.float32)
    expected[3:5] = np.sin(np.float32(1.0))
    np.testing.assert_allclose(buffer.numpy(), expected, rtol=1e-6)
