"""PyTorch as the outside oracle: gradients of operations, layers, losses and optimizers must be its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

pytestmark = pytest.mark.oracle


@pytest.fixture(scope="module")
def torch() -> Any:
    import torch

    torch.set_num_threads(1)
    return torch


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def positive(*shape: int) -> np.ndarray:
    return np.abs(normal(*shape)) + 0.2


def complex_normal(*shape: int, seed: int = 0) -> np.ndarray:
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 7)


X, Y, Z = normal(2, 3), normal(2, 3, seed=1), complex_normal(2, 3)
TIES = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [0.0, -1.0, 0.0]])
IMAGES = normal(2, 3, 6, 5)
WHERE = np.array([[0, 2], [1, 1]])
FORMULA = "bij,kj->ikb"


def powers(x: Any) -> Any:
    return x**2 + x**3 + x**0 + x**1


def indexed(x: Any) -> Any:
    return x[:, [0, 0, 2]] * x[1, ::2].sum()


def quotient(x: Any, y: Any) -> Any:
    return x * y / (y + 2)


Row = tuple[Callable[..., Any], Callable[..., Any], list[np.ndarray]]


def named(names: str, inputs: list[np.ndarray], prefix: str = "", functional: bool = False) -> dict[str, Row]:
    """Rows for functions that both libraries call by the same name."""

    def theirs(name: str) -> Callable[..., Any]:
        return lambda t, *x: getattr(t.nn.functional if functional else t, name)(*x)

    return {prefix + name: (getattr(ad, name), theirs(name), inputs) for name in names.split()}


# Name: the engine's function, PyTorch's (given torch), and the inputs.
SAME: dict[str, Row] = {
    **named("sin cos tan asin acos atan sinh cosh tanh asinh atanh exp expm1 log1p erf relu sigmoid", [X * 0.4]),
    **named("abs sign square floor ceil round trunc", [X * 3]),
    **named("log log2 log10 sqrt reciprocal", [positive(2, 3)]),
    **named("softplus gelu silu", [X * 3], functional=True),
    **named("atan2 hypot logaddexp maximum minimum copysign multiply divide", [X, Y]),
    "remainder": (ad.remainder, lambda t, x, y: t.remainder(x, y), [X * 5, positive(2, 3)]),
    "power": (ad.power, lambda t, x, y: t.pow(x, y), [positive(2, 3), Y]),
    "power at zero": (powers, lambda t, x: powers(x), [np.array([0.0, -2.0])]),
    "softmax": (lambda x: ad.softmax(x, axis=0), lambda t, x: t.softmax(x, 0), [X]),
    "log_softmax": (lambda x: ad.log_softmax(x, axis=1), lambda t, x: t.log_softmax(x, 1), [X]),
    "logsumexp": (lambda x: ad.logsumexp(x, axis=1), lambda t, x: t.logsumexp(x, 1), [X]),
    "var": (lambda x: ad.var(x, axis=1, correction=1), lambda t, x: t.var(x, 1), [X]),
    "std": (lambda x: ad.std(x, axis=0), lambda t, x: t.std(x, 0, correction=0), [X]),
    "prod": (lambda x: ad.prod(x, axis=1), lambda t, x: t.prod(x, 1), [TIES]),
    "cumulative_prod": (lambda x: ad.cumulative_prod(x, axis=1), lambda t, x: t.cumprod(x, 1), [TIES]),
    "max with ties": (lambda x: ad.max(x, axis=1), lambda t, x: t.amax(x, 1), [TIES]),
    "min with ties": (lambda x: ad.min(x), lambda t, x: t.amin(x, (0, 1)), [TIES]),
    "maximum with ties": (lambda x: ad.maximum(x, x[0]), lambda t, x: t.maximum(x, x[0]), [TIES]),
    "clip at its bounds": (lambda x: ad.clip(x, -1.0, 2.0), lambda t, x: t.clip(x, -1.0, 2.0), [TIES]),
    "abs at zero": (ad.abs, lambda t, x: t.abs(x), [TIES]),
    "norm": (lambda x: ad.norm(x, axis=1), lambda t, x: t.linalg.vector_norm(x, dim=1), [X]),
    "norm at zero": (ad.norm, lambda t, x: t.linalg.vector_norm(x), [np.zeros(3)]),
    "sort": (lambda x: ad.sort(x, axis=1, descending=True), lambda t, x: t.sort(x, 1, descending=True)[0], [X]),
    **named("matmul", [normal(4, 2, 3), normal(3, 2)]),
    "einsum": (lambda *x: ad.einsum(FORMULA, *x), lambda t, *x: t.einsum(FORMULA, *x), [normal(4, 2, 3), normal(5, 3)]),
    "take_along_axis": (
        lambda x: ad.take_along_axis(x, ad.tensor(WHERE), axis=1), lambda t, x: t.take_along_dim(x, t.tensor(WHERE), 1),
        [X]),
    "unfold": (
        lambda x: ad.unfold(x, (3, 2), stride=2, padding=1),
        lambda t, x: t.nn.functional.unfold(x, (3, 2), stride=2, padding=1), [IMAGES]),
    "unfold, dilated": (
        lambda x: ad.unfold(x, 2, dilation=(2, 1)), lambda t, x: t.nn.functional.unfold(x, 2, dilation=(2, 1)),
        [IMAGES]),
    "fold": (
        lambda x: ad.fold(x, (6, 5), 2, padding=1), lambda t, x: t.nn.functional.fold(x, (6, 5), 2, padding=1),
        [normal(2, 12, 42)]),
    "index": (indexed, lambda t, x: indexed(x), [X]),
    **named("abs exp log sqrt sin cos tanh square reciprocal conj real imag sinh", [Z], "complex "),
    "complex sign": (ad.sign, lambda t, x: t.sgn(x), [Z]),
    "complex quotient": (quotient, lambda t, *x: quotient(*x), [Z, complex_normal(2, 3, seed=3)]),
    "complex by real": (ad.multiply, lambda t, x, y: x * y, [X, Z]),
    "complex power": (ad.power, lambda t, x, y: x**y, [Z, complex_normal(2, 3, seed=3)]),
    **named("matmul", [Z, complex_normal(3, 2)], "complex "),
    "complex prod": (lambda x: ad.prod(x, axis=1), lambda t, x: t.prod(x, 1), [Z]),
    "complex norm": (lambda x: ad.norm(x, axis=1), lambda t, x: t.linalg.vector_norm(x, dim=1), [Z]),
    "complex vecdot": (ad.vecdot, lambda t, x, y: t.linalg.vecdot(x, y), [Z, complex_normal(2, 3, seed=3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_value_and_gradients_are_pytorchs(name: str, torch: Any) -> None:
    ours, theirs, inputs = SAME[name]
    mine, other = [ad.variable(x) for x in inputs], [torch.tensor(x, requires_grad=True) for x in inputs]
    output, expected = ours(*mine), theirs(torch, *other)
    np.testing.assert_allclose(output.numpy(), expected.detach().resolve_conj().numpy(), 1e-10, 1e-12)
    weights = complex_normal(*output.shape) if expected.is_complex() else normal(*output.shape)
    output.backward(ad.tensor(weights))
    expected.backward(torch.tensor(weights))
    for found, wanted in zip(mine, other, strict=True):
        assert found.grad.dtype == str(wanted.grad.dtype).removeprefix("torch.")
        np.testing.assert_allclose(found.grad.numpy(), wanted.grad.resolve_conj().numpy(), 1e-9, 1e-11)


@pytest.mark.parametrize("name", ["softmax", "matmul", "std", "prod", "power", "unfold", "complex quotient"])
def test_second_order_is_pytorchs(name: str, torch: Any) -> None:
    ours, theirs, inputs = SAME[name]
    mine, other = [ad.variable(x) for x in inputs], [torch.tensor(x, requires_grad=True) for x in inputs]
    first = ad.gradients((ad.abs(ours(*mine)) ** 3).sum(), mine)
    second = ad.gradients(sum((ad.abs(g) ** 2).sum() for g in first), mine)
    first = torch.autograd.grad((theirs(torch, *other).abs() ** 3).sum(), other, create_graph=True)
    expected = torch.autograd.grad(sum((g.abs() ** 2).sum() for g in first), other)
    for found, wanted in zip(second, expected, strict=True):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), 1e-8, 1e-9)


OPTIMIZERS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 0.1},
    "SGD with momentum": {"lr": 0.1, "momentum": 0.9},
    "SGD with everything": {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01, "nesterov": True},
    "Adam": {"lr": 0.01},
    "Adam with everything": {"lr": 0.01, "betas": (0.8, 0.99), "eps": 1e-6, "weight_decay": 0.01},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_classifier_trains_as_in_pytorch(name: str, torch: Any) -> None:
    """The same weights, batches, losses and optimizer: the same weights after 30 steps."""
    kind, options = name.split()[0], OPTIMIZERS[name]
    ad.set_default_dtype("float64")

    def layers(nn: Any) -> list[Any]:
        return [nn.Flatten(), nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 5), nn.Tanh(), nn.Linear(5, 4)]

    mine = ad.nn.Sequential(*layers(ad.nn))
    other = torch.nn.Sequential(*layers(torch.nn)).double()
    assert {key: tuple(value.shape) for key, value in mine.state_dict().items()} == {
        key: tuple(value.shape) for key, value in other.state_dict().items()
    }
    mine.load_state_dict({key: value.numpy() for key, value in other.state_dict().items()})
    x, labels = normal(64, 2, 3), np.random.default_rng(0).integers(0, 4, 64)
    optimizer = getattr(ad.optim, kind)(mine.parameters(), **options)
    reference = getattr(torch.optim, kind)(other.parameters(), **options)
    for step in range(30):
        batch = slice(step % 4 * 16, step % 4 * 16 + 16)
        optimizer.zero_grad()
        output = mine(ad.tensor(x[batch]))
        loss = ad.nn.functional.cross_entropy(output, ad.tensor(labels[batch]))
        loss = loss + ad.nn.functional.mse_loss(output, ad.zeros_like(output))
        loss.backward()
        optimizer.step()
        reference.zero_grad()
        output = other(torch.tensor(x[batch]))
        expected = torch.nn.functional.cross_entropy(output, torch.tensor(labels[batch]))
        expected = expected + torch.nn.functional.mse_loss(output, torch.zeros_like(output))
        expected.backward()
        reference.step()
        np.testing.assert_allclose(loss.item(), expected.item(), 1e-9)
    for (key, found), (other_key, wanted) in zip(mine.named_parameters(), other.named_parameters(), strict=True):
        assert key == other_key
        np.testing.assert_allclose(found.numpy(), wanted.detach().numpy(), 1e-8, 1e-10)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_are_pytorchs(reduction: str, torch: Any) -> None:
    labels = np.array([2, 0])
    for name, target in (("cross_entropy", labels), ("mse_loss", Y)):
        mine, other = ad.variable(X), torch.tensor(X, requires_grad=True)
        found = getattr(ad.nn.functional, name)(mine, ad.tensor(target), reduction=reduction)
        expected = getattr(torch.nn.functional, name)(other, torch.tensor(target), reduction=reduction)
        np.testing.assert_allclose(found.numpy(), expected.detach().numpy(), 1e-12)
        found.sum().backward()
        expected.sum().backward()
        np.testing.assert_allclose(mine.grad.numpy(), other.grad.numpy(), 1e-12)
