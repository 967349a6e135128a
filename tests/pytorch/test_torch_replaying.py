"""Calls that record what an earlier call of their kind did: the same nodes, sites, errors, hooks and modes as the first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint.torch as torch
import adjoint.torch.nn.functional as F
from adjoint.graph import topological

torch.manual_seed(0)
X, Y = torch.randn(3, 4), torch.randn(3, 4)
WEIGHT = torch.nn.Parameter(torch.randn(4))
LINEAR, NORM = torch.nn.Linear(4, 2), torch.nn.LayerNorm(4)

CALLS: dict[str, Any] = {
    "mse_loss": lambda x: F.mse_loss(x, Y),
    "l1_loss": lambda x: F.l1_loss(x, Y, reduction="sum"),
    "smooth_l1_loss": lambda x: F.smooth_l1_loss(x, Y, beta=0.5),
    "huber_loss": lambda x: F.huber_loss(x, Y, delta=2.0),
    "kl_div": lambda x: F.kl_div(x, Y, reduction="batchmean"),
    "softmax": lambda x: F.softmax(x, dim=-1),
    "log_softmax": lambda x: F.log_softmax(x, 1),
    "layer_norm": lambda x: F.layer_norm(x, (4,), WEIGHT),
    "rms_norm": lambda x: F.rms_norm(x, (4,), WEIGHT),
    "group_norm": lambda x: F.group_norm(x, 2, WEIGHT),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
    "attention of three": lambda x: F.scaled_dot_product_attention(x, Y, Y * 2),
    "Linear": LINEAR,
    "LayerNorm": NORM,
}


def recorded(y: Any) -> list[Any]:
    return [
        (n.op, n.type, n.tracked, repr(n.attributes), n.origin.scopes, n.origin.line, n.origin.file)
        for n in topological([y.node], lambda n: n.value is None)
        if n.inputs
    ]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("grad", [True, False])
def test_the_calls_that_follow_record_what_the_first_did(name: str, grad: bool) -> None:
    x = torch.randn(3, 4, requires_grad=True)
    found = []
    with torch.set_grad_enabled(grad):
        for _ in range(70):  # some of them by the function that is written for what comes often
            y = CALLS[name](x)
            found.append((recorded(y), y.requires_grad))
    assert all(f == found[0] for f in found)
    value = y.detach().numpy()
    np.testing.assert_array_equal(CALLS[name](x).detach().numpy(), value)


class Network(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.map = torch.nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return F.softmax(self.map(x), dim=-1)


def test_scopes_and_lines_are_those_of_the_call() -> None:
    network = Network()
    for _ in range(3):
        y = network(X)
    assert y.node.origin.scopes == ("Network", "softmax")
    assert y.node.inputs[1].origin.scopes == ("Network", "Linear")
    first, second = F.softmax(X, 1), F.softmax(
        X, 1)  # fmt: skip
    third = F.softmax(X, 1)
    assert second.node.origin.line in (first.node.origin.line, first.node.origin.line + 1)
    assert third.node.origin.line == first.node.origin.line + 2
    assert third.node.origin.file == __file__


def test_errors_come_as_they_do_the_first_time() -> None:
    for _ in range(3):
        F.mse_loss(X, Y)
        F.layer_norm(X, (4,), WEIGHT)
        LINEAR(X)
        with pytest.raises(RuntimeError, match=r"Linear.*float64.*test_torch_replaying"):
            LINEAR(X.double())
        with pytest.raises(RuntimeError, match=r"layer_norm.*float64"):
            F.layer_norm(X.double(), (4,), WEIGHT)
        with pytest.raises(RuntimeError, match="axis must be 4 long"):
            LINEAR(torch.randn(3, 3))
        with pytest.raises(RuntimeError, match="reduction must be"):
            F.mse_loss(X, Y, reduction="most")


def test_arguments_from_before_are_warned_of_at_each_call() -> None:
    for _ in range(3):
        with pytest.warns(UserWarning, match="deprecated") as seen:
            F.mse_loss(X, Y, size_average=False)
        assert seen[0].filename == __file__


def test_dropout_in_attention_is_drawn_anew() -> None:
    torch.manual_seed(3)
    found = {F.scaled_dot_product_attention(X, Y, Y, dropout_p=0.5).sum().item() for _ in range(6)}
    assert len(found) > 1


def test_a_hook_and_a_forward_of_ones_own_are_called() -> None:
    layer, seen = torch.nn.Linear(4, 2), []
    for _ in range(3):
        layer(X)
    handle = layer.register_forward_hook(lambda module, args, out: seen.append(out.shape))
    layer(X)
    handle.remove()
    layer.forward = lambda x: x * 2
    np.testing.assert_array_equal(layer(X).numpy(), (X * 2).numpy())
    assert seen == [(3, 2)]


def test_a_weight_put_in_place_of_another_counts() -> None:
    layer = torch.nn.Linear(4, 2)
    for _ in range(3):
        layer(X)
    layer.weight = torch.nn.Parameter(torch.zeros(2, 4))
    layer.bias = None
    np.testing.assert_array_equal(layer(X).detach().numpy(), np.zeros((3, 2), "float32"))


def test_dropout_follows_its_mode() -> None:
    layer = torch.nn.Dropout(0.5)
    layer.eval()
    assert layer(X) is X
    layer.train()
    assert (layer(torch.ones(64)) == 0).sum().item() > 0
    step = torch.compile(lambda x: layer(x))
    layer.eval()
    np.testing.assert_array_equal(step(X).numpy(), X.numpy())
    layer.train()
    assert (step(torch.ones(64)) == 0).sum().item() > 0


def test_constants_are_no_kind_of_call() -> None:
    for value in (2.0, 3.0, -1.0):
        full = torch.full((3, 4), value)
        np.testing.assert_allclose(F.mse_loss(full, torch.zeros(3, 4)).item(), value**2)


def test_the_default_dtype_belongs_to_the_kind() -> None:
    numbers = torch.arange(4)
    assert F.softmax(numbers, dim=0).dtype is torch.float32
    with _doubles():
        assert F.softmax(numbers, dim=0).dtype is torch.float64
    assert F.softmax(numbers, dim=0).dtype is torch.float32


class _doubles:
    def __enter__(self) -> None:
        torch.set_default_dtype(torch.float64)

    def __exit__(self, *error: object) -> None:
        torch.set_default_dtype(torch.float32)
