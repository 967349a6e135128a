"""Composites that are recorded from a list the second time: nodes and numbers as if they had been worked out anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.composites import losses, normalization, products, recipes, reductions
from adjoint.execution.evaluate import evaluation_lock, key_of
from adjoint.graph import Node, topological
from adjoint.plan.canonical import canonicalize

F = ad.nn.functional


@pytest.fixture(autouse=True)
def _no_recipes_yet() -> None:
    recipes._recipes.clear()


def array(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


def key(node: Node) -> Any:
    with evaluation_lock():
        return key_of(canonicalize([node]))


LABELS = np.array([0, 2, 1, 1])

# Each makes one result of a fresh (4, 3) variable, in two calls of one kind.
CALLS: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: ad.softmax(x, axis=1),
    "log_softmax": lambda x: ad.log_softmax(x, axis=-1),
    "logsumexp": lambda x: ad.logsumexp(x, axis=0, keepdims=True),
    "mean": lambda x: x.mean(axis=(0, 1)),
    "std": lambda x: x.std(axis=1, correction=1),
    "norm": lambda x: ad.norm(x, axis=1),
    "gelu_tanh": lambda x: ad.gelu(x, approximate="tanh"),
    "cross_entropy": lambda x: F.cross_entropy(x, ad.tensor(LABELS), label_smoothing=0.25),
    "cross_entropy, one ignored": lambda x: F.cross_entropy(x, ad.tensor(LABELS), ignore_index=2),
    "cross_entropy of probabilities": lambda x: F.cross_entropy(x, ad.tensor(np.abs(array(4, 3)))),
    "layer_norm": lambda x: F.layer_norm(x, 3, ad.tensor(array(3)), ad.tensor(array(3, seed=1))),
    "rms_norm": lambda x: F.rms_norm(x, 3),
    "group_norm": lambda x: F.group_norm(x, 1),
    "linear": lambda x: F.linear(x, ad.tensor(array(5, 3)), ad.tensor(array(5))),
    "attention": lambda x: F.scaled_dot_product_attention(
        *[x.reshape(1, 1, 4, 3) + c for c in (0, 1, 2)], is_causal=True
    ),
}


@pytest.mark.usefixtures("equal_bits")
@pytest.mark.parametrize("name", CALLS)
def test_a_recipe_records_what_the_function_records(name: str) -> None:
    call = CALLS[name]
    first, x = call(ad.variable(array(4, 3))), ad.variable(array(4, 3))
    made = len(recipes._recipes)
    again = call(x)
    assert made and len(recipes._recipes) == made, "the second call is of the first one's kind"
    assert key(first.node) == key(again.node)
    nodes = [topological([y.node]) for y in (first, again)]
    assert not [a for a in set(nodes[0]) & set(nodes[1]) if a is not a.type.zero], "every node is new"
    for one, other in zip(*nodes, strict=True):
        assert (one.op, one.type, one.tracked, one.origin.scopes) == (
            other.op,
            other.type,
            other.tracked,
            other.origin.scopes,
        )
    np.testing.assert_array_equal(first.numpy(), again.numpy())
    slope = ad.tensor(array(*again.shape, seed=5))
    recipes._recipes.clear()
    x_anew = ad.variable(array(4, 3))
    for order in range(2):  # the gradient, and the gradient of the gradient's square
        mine, theirs = ad.gradients((again * slope).sum(), [x]), ad.gradients((call(x_anew) * slope).sum(), [x_anew])
        if order:
            mine = ad.gradients((mine[0] * mine[0]).sum(), [x])
            theirs = ad.gradients((theirs[0] * theirs[0]).sum(), [x_anew])
        np.testing.assert_array_equal(mine[0].numpy(), theirs[0].numpy())


def test_what_decides_the_graph_decides_the_recipe() -> None:
    x, data = ad.variable(array(4, 3)), ad.tensor(array(4, 3))
    labels = ad.tensor(LABELS)
    for _ in range(2):
        assert ad.softmax(x, axis=0).numpy().sum(axis=0) == pytest.approx(np.ones(3))
        assert ad.softmax(x, axis=1).numpy().sum(axis=1) == pytest.approx(np.ones(4))
        assert ad.softmax(x, axis=(0, 1)).sum().item() == pytest.approx(1.0)
        assert ad.softmax(x, axis=1).requires_grad and not ad.softmax(data, axis=1).requires_grad
        with ad.no_grad():
            assert not ad.softmax(x, axis=1).requires_grad
        assert ad.mean(ad.tensor([1, 2])).dtype == "float32"
        ad.set_default_dtype("float64")
        try:
            assert ad.mean(ad.tensor([1, 2])).dtype == "float64"
        finally:
            ad.set_default_dtype("float32")
        # labels whose values are known are never looked at from the end; others are
        known, pending = F.nll_loss(x, labels), F.nll_loss(x, labels + 0)
        assert key(known.node) != key(pending.node) and known.item() == pending.item()
        with pytest.raises(IndexError):
            F.nll_loss(x, labels - 1).item()
        with pytest.raises(TypeError):
            ad.softmax(x, axis=1.0)
        with pytest.raises(IndexError):
            ad.softmax(x, axis=2)
        with pytest.raises(ValueError, match="shapes"):
            F.linear(x, x.T)


def test_numbers_of_a_call_keep_their_sign_and_kind() -> None:
    x = ad.tensor(array(4, 3)).node
    given = (0.0, -0.0, 0.5, 0.0, -0.0)
    sums = [y for e in given for y in topological([normalization.rms_norm(x, (3,), None, e)]) if y.op.name == "add"]
    found = [y.inputs[1].attributes for y in sums]
    assert found == [0.0, 0.0, 0.5, 0.0, 0.0]
    assert np.signbit(found).tolist() == [False, True, False, False, True]


def test_arguments_that_are_one_node_or_constants() -> None:
    w = ad.tensor(array(3, 3)).node
    a, b = ad.variable(array(3, 3, seed=1)), ad.variable(array(3, 3, seed=2))
    same = products.linear(a.node, a.node, None)
    assert not recipes._recipes, "which of the two it took can't be told"
    other = products.linear(a.node, b.node, None)
    twice = products.linear(a.node, a.node, None)
    assert len(recipes._recipes) == 1
    np.testing.assert_array_equal(ad.evaluate(wrapped(same)).numpy(), ad.evaluate(wrapped(twice)).numpy())
    np.testing.assert_allclose(ad.evaluate(wrapped(other)).numpy(), a.numpy() @ b.numpy().T, 1e-6)
    for number in (0.0, 2.5):
        found = wrapped(products.linear(w, ad.full((2, 3), number).node, ad.full((2,), number, dtype="float64").node))
        np.testing.assert_allclose(found.numpy(), array(3, 3) @ np.full((3, 2), number) + number, 1e-6)
    assert len(recipes._recipes) == 1, "a constant's number may decide what is recorded"


def wrapped(node: Node) -> Any:
    tensor = object.__new__(ad.Tensor)
    tensor.node = node
    return tensor


def test_recipes_hold_little() -> None:
    large = recipes.LARGEST_CONSTANT + 1
    x, labels = ad.variable(array(large, 2)).node, ad.tensor(np.zeros(large, np.int64)).node
    for _ in range(2):
        node = losses.by_class(x, labels, 1, None, None, "mean", 0.0)
        np.testing.assert_allclose(ad.evaluate(wrapped(node)).item(), -array(large, 2)[:, 0].mean(), 1e-5)
    assert list(recipes._recipes.values()) == [None]
    most, recipes.MOST = recipes.MOST, 4
    try:
        for n in range(1, 20):
            reductions.softmax(ad.tensor(array(n)).node, 0)
            assert len(recipes._recipes) <= 4
    finally:
        recipes.MOST = most
