"""Parametrized weights against PyTorch's: values, gradients and state."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

CASES = [
    ("weight_norm", ("Linear", (4, 3)), {}),
    ("weight_norm", ("Linear", (4, 3)), {"dim": 1}),
    ("weight_norm", ("Linear", (4, 3)), {"dim": None}),
    ("weight_norm", ("Conv2d", (4, 3, 2)), {}),
    ("spectral_norm", ("Linear", (4, 3)), {}),
    ("spectral_norm", ("Conv2d", (4, 3, 2)), {"n_power_iterations": 3}),
    ("spectral_norm", ("ConvTranspose2d", (4, 3, 2)), {}),
    ("spectral_norm", ("Linear", (4, 3)), {"name": "bias"}),
    *[("orthogonal", ("Linear", size), {"orthogonal_map": kind, "use_trivialization": fixed})
      for size in ((4, 4), (4, 3), (3, 4)) for kind in (None, "matrix_exp", "cayley", "householder") for fixed in (True, False)],
]  # fmt: skip


@pytest.mark.parametrize(("function", "layer", "options"), CASES, ids=str)
def test_parametrizations(function, layer, options):
    kind, sizes = layer
    generator = np.random.default_rng(0)
    ours = getattr(ad.nn, kind)(*sizes).double()
    theirs = getattr(torch.nn, kind)(*sizes).double()
    getattr(ad.nn.utils.parametrizations, function)(ours, **options)
    getattr(torch.nn.utils.parametrizations, function)(theirs, **options)
    state = theirs.state_dict()
    assert list(ours.state_dict()) == list(state)
    if function == "orthogonal":  # another place on the manifold than the first
        key = "parametrizations.weight.original"
        noise = torch.tensor(generator.standard_normal(state[key].shape))
        reflected = options["orthogonal_map"] == "householder" or (
            options["orthogonal_map"] is None and sizes != (4, 4)
        )
        wide = noise.shape[0] < noise.shape[1]
        state[key] = state[key] + (noise if not reflected else noise.triu(1) if wide else noise.tril(-1))
        theirs.load_state_dict(state)
    ours.load_state_dict({key: value.numpy() for key, value in state.items()})
    x = generator.standard_normal((2, sizes[0]) if kind == "Linear" else (2, sizes[0], 5, 5))
    for _ in range(2):  # spectral norms go on with their iteration
        found, expected = ours(ad.tensor(x)), theirs(torch.tensor(x))
        np.testing.assert_allclose(found.numpy(), expected.detach().numpy(), 1e-10, 1e-12)
    (found**3).sum().backward()
    (expected**3).sum().backward()
    for (name, a), (name_torch, b) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        assert name == name_torch
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), 1e-9, 1e-11, err_msg=name)
    for key, value in theirs.state_dict().items():
        np.testing.assert_allclose(ours.state_dict()[key].numpy(), value.numpy(), 1e-10, 1e-12, err_msg=key)
