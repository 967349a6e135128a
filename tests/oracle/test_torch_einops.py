"""einops on tensors of `adjoint.torch`, and its layers, against the same on PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")
einops = pytest.importorskip("einops")

import adjoint.torch as ours  # noqa: E402

X = np.random.default_rng(0).normal(size=(2, 4, 6, 3)).astype(np.float32)

CALLS = {
    "rearrange": lambda x: einops.rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=2, q=3),
    "rearrange a list": lambda x: einops.rearrange([x[0], x[1]], "b h w c -> h (b w) c"),
    "reduce by mean": lambda x: einops.reduce(x, "b (h p) w c -> b c h", "mean", p=2),
    "reduce by max": lambda x: einops.reduce(x, "b h w c -> b c", "max"),
    "reduce by min": lambda x: einops.reduce(x, "b h w c -> h", "min"),
    "reduce by sum": lambda x: einops.reduce(x, "b h w c -> ()", "sum"),
    "reduce by prod": lambda x: einops.reduce(x, "b h w c -> b h", "prod"),
    "reduce by any": lambda x: einops.reduce(x > 1, "b h w c -> b h", "any"),
    "reduce by all": lambda x: einops.reduce(x > -1, "b h w c -> b h", "all"),
    "repeat": lambda x: einops.repeat(x, "b h w c -> (b two) h new w c", two=2, new=3),
    "einsum": lambda x: einops.einsum(x, x[0, :, 0], "b h w c, h d -> b w d c"),
    "pack": lambda x: einops.pack([x, x[:, 0]], "b * c")[0],
    "unpack": lambda x: einops.unpack(x, [[2], [1, 2]], "b * w c")[1],
}


@pytest.mark.parametrize("name", CALLS)
def test_functions(name):
    """Values and gradients."""
    theirs, mine = torch.tensor(X, requires_grad=True), ours.tensor(X, requires_grad=True)
    expected, value = CALLS[name](theirs), CALLS[name](mine)
    assert isinstance(value, ours.Tensor)
    np.testing.assert_allclose(value.detach().numpy(), expected.detach().numpy(), rtol=1e-5)
    if expected.requires_grad:
        expected.sin().sum().backward()
        value.sin().sum().backward()
        np.testing.assert_allclose(mine.grad.numpy(), theirs.grad.numpy(), rtol=1e-4, atol=1e-6)


LAYERS = {
    "Rearrange": ("Rearrange", ("b h w c -> b c (h w)",), {}),
    "Reduce": ("Reduce", ("b (h 2) w c -> b h c", "mean"), {}),
    "EinMix": ("EinMix", ("b h w c -> b h w d",), {"weight_shape": "c d", "bias_shape": "d", "c": 3, "d": 5}),
    "EinMix that rearranges": (
        "EinMix",
        ("b (h p) w c -> b h (w d)",),
        {"weight_shape": "p c d", "p": 2, "c": 3, "d": 5},
    ),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    """Outputs of modules with the same parameters, within a Sequential."""
    import einops.layers.torch

    import adjoint.torch.einops

    kind, arguments, keywords = LAYERS[name]
    theirs = torch.nn.Sequential(getattr(einops.layers.torch, kind)(*arguments, **keywords))
    mine = ours.nn.Sequential(getattr(adjoint.torch.einops, kind)(*arguments, **keywords))
    assert list(mine.state_dict()) == list(theirs.state_dict())
    mine.load_state_dict({key: ours.tensor(value.numpy()) for key, value in theirs.state_dict().items()})
    value, expected = mine(ours.tensor(X)), theirs(torch.tensor(X))
    np.testing.assert_allclose(value.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)
    assert repr(mine) == repr(theirs)


def test_asnumpy():
    np.testing.assert_array_equal(einops.asnumpy(ours.tensor(X, requires_grad=True)), X)
