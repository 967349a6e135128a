"""Layers, losses and optimizers against PyTorch, in float64, to 1e-10."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, optim

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

TOLERANCE = {"rtol": 1e-10, "atol": 1e-10}


def twins(*layers):
    """The same network in both libraries, with the same weights, from layers such as `("Linear", 5, 10)`."""
    ours = nn.Sequential(*[getattr(nn, name)(*arguments) for name, *arguments in layers]).double()
    theirs = torch.nn.Sequential(*[getattr(torch.nn, name)(*arguments) for name, *arguments in layers]).double()
    ours.load_state_dict({name: value.numpy() for name, value in theirs.state_dict().items()})
    return ours, theirs


def assert_same_weights(ours, theirs):
    state = theirs.state_dict()
    assert list(ours.state_dict()) == list(state)
    for name, value in ours.state_dict().items():
        np.testing.assert_allclose(value.numpy(), state[name].numpy(), err_msg=name, **TOLERANCE)


LAYERS = [
    [("Linear", 4, 3)],
    [("Linear", 4, 3, False)],
    [("Linear", 4, 6), ("ReLU",), ("Linear", 6, 2)],
    [("Tanh",)],
    [("Sigmoid",)],
    [("Softplus",)],
    [("SiLU",)],
    [("GELU",)],
    [("GELU", "tanh")],
    [("Softmax", 1)],
    [("LogSoftmax", -1)],
    [("Flatten",), ("Identity",)],
]


@pytest.mark.parametrize("layers", LAYERS, ids=lambda layers: "-".join(layer[0] for layer in layers))
def test_layers(layers):
    torch.manual_seed(0)
    ours, theirs = twins(*layers)
    array = np.random.default_rng(0).standard_normal((5, 4))
    weights = np.random.default_rng(1).standard_normal(theirs(torch.tensor(array)).shape)
    x, x_torch = ad.variable(array), torch.tensor(array, requires_grad=True)
    out, out_torch = ours(x), theirs(x_torch)
    np.testing.assert_allclose(out.numpy(), out_torch.detach().numpy(), **TOLERANCE)
    (out * ad.tensor(weights)).sum().backward()
    (out_torch * torch.tensor(weights)).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), x_torch.grad.numpy(), **TOLERANCE)
    for ours_parameter, theirs_parameter in zip(ours.parameters(), theirs.parameters(), strict=True):
        np.testing.assert_allclose(ours_parameter.grad.numpy(), theirs_parameter.grad.numpy(), **TOLERANCE)


@pytest.mark.parametrize("layers", [*LAYERS[:3], [("Flatten",), ("Sequential",), ("GELU", "tanh"), ("Softmax", 1)]])
def test_repr(layers):
    ours, theirs = twins(*layers)
    assert repr(ours) == repr(theirs)


def test_initialisation_has_the_same_spread():
    torch.manual_seed(0)
    ad.random.seed(0)
    for size in (10, 400):
        ours, theirs = nn.Linear(size, 300), torch.nn.Linear(size, 300)
        for name in ("weight", "bias"):
            a, b = getattr(ours, name).numpy(), getattr(theirs, name).detach().numpy()
            assert a.shape == b.shape
            assert a.dtype == b.dtype
            assert np.abs(a).max() == pytest.approx(np.abs(b).max(), rel=0.05)
            assert a.std() == pytest.approx(b.std(), rel=0.15)


def loss_cases():
    generator = np.random.default_rng(0)
    logits, pixels = 3 * generator.standard_normal((6, 4)), generator.standard_normal((2, 4, 3))
    labels, pixel_labels = generator.integers(0, 4, 6), generator.integers(0, 4, (2, 3))
    shares = generator.dirichlet(np.ones(4), 6)
    return {
        "cross_entropy": [(logits, labels), (pixels, pixel_labels), (logits, shares), (logits[0], labels[0])],
        "nll_loss": [(logits, labels), (pixels, pixel_labels)],
        "mse_loss": [(logits, shares)],
        "l1_loss": [(logits, shares)],
        "binary_cross_entropy_with_logits": [(20 * logits, shares)],
    }


@pytest.mark.parametrize(
    ("name", "case", "reduction"),
    [
        (name, case, r)
        for name, cases in loss_cases().items()
        for case in range(len(cases))
        for r in ("mean", "sum", "none")
    ],
)
def test_losses(name, case, reduction):
    array, target = loss_cases()[name][case]
    x, x_torch = ad.variable(array), torch.tensor(array, requires_grad=True)
    loss = getattr(nn.functional, name)(x, target, reduction=reduction)
    loss_torch = getattr(torch.nn.functional, name)(x_torch, torch.tensor(target), reduction=reduction)
    np.testing.assert_allclose(loss.numpy(), loss_torch.detach().numpy(), **TOLERANCE)
    loss.sum().backward()
    loss_torch.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), x_torch.grad.numpy(), **TOLERANCE)


OPTIMIZERS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.05}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.05}),
    ("Adam", {"lr": 0.01}),
    ("Adam", {"lr": 0.01, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}),
    ("AdamW", {"lr": 0.01, "weight_decay": 0.2}),
    ("AdamW", {}),
]


def steps(ours, theirs, optimizer, optimizer_torch, count, start=0):
    """Train both alike on a regression, with a learning rate that changes."""
    for step in range(start, start + count):
        generator = np.random.default_rng(step)
        x, y = generator.standard_normal((16, 5)), generator.standard_normal((16, 1))
        for group, group_torch in zip(optimizer.param_groups, optimizer_torch.param_groups, strict=True):
            group["lr"] *= 0.97
            group_torch["lr"] *= 0.97
        loss, loss_torch = (
            nn.functional.mse_loss(ours(ad.tensor(x)), y),
            ((theirs(torch.tensor(x)) - torch.tensor(y)) ** 2).mean(),
        )
        optimizer.zero_grad()
        optimizer_torch.zero_grad()
        loss.backward()
        loss_torch.backward()
        optimizer.step()
        optimizer_torch.step()
        assert loss.item() == pytest.approx(loss_torch.item(), rel=1e-10)


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_optimizers_over_twenty_steps(name, options):
    torch.manual_seed(0)
    ours, theirs = twins(("Linear", 5, 10), ("ReLU",), ("Linear", 10, 1))
    optimizer = getattr(optim, name)(ours.parameters(), **options)
    optimizer_torch = getattr(torch.optim, name)(theirs.parameters(), **options)
    steps(ours, theirs, optimizer, optimizer_torch, 20)
    assert_same_weights(ours, theirs)


@pytest.mark.parametrize(("name", "options"), [OPTIMIZERS[3], OPTIMIZERS[5]])
def test_optimizers_go_on_from_the_other_libraries_state(name, options):
    torch.manual_seed(0)
    ours, theirs = twins(("Linear", 5, 10), ("Tanh",), ("Linear", 10, 1))
    optimizer = getattr(optim, name)(ours.parameters(), **options)
    optimizer_torch = getattr(torch.optim, name)(theirs.parameters(), **options)
    steps(ours, theirs, optimizer, optimizer_torch, 5)
    fresh = getattr(optim, name)(ours.parameters())
    state = optimizer_torch.state_dict()
    fresh.load_state_dict(
        {
            "state": {
                number: {key: value.numpy() if torch.is_tensor(value) else value for key, value in entries.items()}
                for number, entries in state["state"].items()
            },
            "param_groups": state["param_groups"],
        }
    )
    steps(ours, theirs, fresh, optimizer_torch, 5, start=5)
    assert_same_weights(ours, theirs)


@pytest.mark.parametrize(("hidden", "activation"), list(itertools.product([64, 10], ["ReLU", "Tanh"])))
def test_a_classifier_trains_alike(hidden, activation):
    torch.manual_seed(1)
    ours, theirs = twins(("Flatten",), ("Linear", 12, hidden), (activation,), ("Linear", hidden, 4))
    optimizer, optimizer_torch = optim.SGD(ours.parameters(), 0.1, 0.9), torch.optim.SGD(theirs.parameters(), 0.1, 0.9)
    generator = np.random.default_rng(0)
    for _ in range(20):
        x, y = generator.standard_normal((8, 3, 4)), generator.integers(0, 4, 8)
        optimizer.zero_grad()
        optimizer_torch.zero_grad()
        nn.functional.cross_entropy(ours(ad.tensor(x)), y).backward()
        torch.nn.functional.cross_entropy(theirs(torch.tensor(x)), torch.tensor(y)).backward()
        optimizer.step()
        optimizer_torch.step()
    assert_same_weights(ours, theirs)
