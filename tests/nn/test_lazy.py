"""Lazy layers: what they become with their first input or a state."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from support import equal

LAYERS = [
    (nn.LazyLinear, (5,), {}, nn.Linear, (2, 7)),
    (nn.LazyLinear, (5, False), {}, nn.Linear, (2, 3, 7)),
    (nn.LazyConv1d, (4, 3), {"padding": 1}, nn.Conv1d, (2, 6, 8)),
    (nn.LazyConv2d, (4, 3), {"groups": 2}, nn.Conv2d, (2, 6, 8, 8)),
    (nn.LazyConv2d, (4, 3), {}, nn.Conv2d, (6, 8, 8)),
    (nn.LazyConv3d, (4, 2), {}, nn.Conv3d, (2, 6, 4, 4, 4)),
    (nn.LazyConvTranspose1d, (4, 3), {}, nn.ConvTranspose1d, (2, 6, 8)),
    (nn.LazyConvTranspose2d, (4, 3), {"groups": 2, "bias": False}, nn.ConvTranspose2d, (2, 6, 8, 8)),
    (nn.LazyConvTranspose3d, (4, 2), {}, nn.ConvTranspose3d, (2, 6, 4, 4, 4)),
    (nn.LazyBatchNorm1d, (), {"eps": 1e-3}, nn.BatchNorm1d, (4, 6)),
    (nn.LazyBatchNorm2d, (), {}, nn.BatchNorm2d, (4, 6, 3, 3)),
    (nn.LazyBatchNorm3d, (), {"affine": False}, nn.BatchNorm3d, (4, 6, 3, 3, 3)),
    (nn.LazyInstanceNorm1d, (1e-5, 0.1, False, False), {}, nn.InstanceNorm1d, (4, 6, 5)),
    (nn.LazyInstanceNorm2d, (1e-5, 0.1, True, False), {}, nn.InstanceNorm2d, (4, 6, 5, 5)),
    (nn.LazyInstanceNorm3d, (), {"track_running_stats": True, "affine": False}, nn.InstanceNorm3d, (4, 6, 3, 3, 3)),
]


@pytest.mark.usefixtures("equal_bits")
@pytest.mark.parametrize(
    ("lazy", "args", "kwargs", "ordinary", "shape"), LAYERS, ids=lambda x: getattr(x, "__name__", None)
)
def test_they_become_ordinary_layers(lazy, args, kwargs, ordinary, shape):
    layer, again = lazy(*args, **kwargs), lazy(*args, **kwargs)
    assert (type(layer).__name__, layer.has_uninitialized_params()) == (lazy.__name__, True)
    assert repr(layer).startswith(lazy.__name__)
    held = list(layer.parameters())
    x = ad.tensor(np.random.default_rng(0).normal(size=shape).astype("f4"))
    size = shape[-1] if ordinary is nn.Linear else shape[-1 - ordinary.rank] if hasattr(ordinary, "rank") else shape[1]
    ad.random.seed(0)
    expected = ordinary(size, *args, **kwargs)
    ad.random.seed(0)
    found = layer(x)
    assert type(layer) is ordinary
    assert repr(layer) == repr(expected)
    np.testing.assert_allclose(found.numpy(), expected(x).numpy(), 1e-6)
    assert [id(p) for p in layer.parameters()] == [id(p) for p in held]  # an optimizer may hold them
    again.load_state_dict(expected.state_dict())
    if again.state_dict():
        assert type(again) is ordinary
    expected.eval()
    np.testing.assert_allclose(again.eval()(x).numpy(), expected(x).numpy(), 1e-5, 1e-6)


def test_training_from_the_start():
    model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
    optimizer = ad.optim.Adam(model.parameters(), lr=0.01)
    seen = []
    model[4].register_forward_hook(lambda m, args, y: seen.append(type(m)))
    model[4].eval()
    x, losses = ad.tensor(np.random.default_rng(0).normal(size=(8, 1, 6, 6)).astype("f4")), []
    for _ in range(10):
        optimizer.zero_grad()
        loss = (model(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    assert set(seen) == {nn.Linear}
    assert not model[4].training
    fresh = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
    fresh.load_state_dict(model.state_dict())
    equal(fresh.eval()(x), model.eval()(x).numpy())


@pytest.mark.parametrize("lazy", (nn.LazyInstanceNorm1d, nn.LazyInstanceNorm2d, nn.LazyInstanceNorm3d))
def test_instance_norms_have_pytorchs_defaults(lazy):
    layer = lazy()
    layer(ad.ones((2, 3, *[4] * int(lazy.__name__[-2]))))
    assert list(layer.state_dict()) == ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]


@pytest.mark.usefixtures("equal_bits")
def test_parameters_that_have_no_shape_yet():
    layer = nn.LazyLinear(3)
    w = layer.weight
    for use in (
        lambda: w.sum(),
        lambda: ad.sum(w * w),
        lambda: 1 + w,
        lambda: w.numpy(),
        lambda: w.shape,
        lambda: np.asarray(w),
        lambda: w.backward(),
        lambda: ad.grad(lambda m: m.weight.sum())(layer),
        lambda: ad.jit(lambda: layer.weight.sum())(),
        lambda: sum(p.size for p in layer.parameters()),
    ):
        with pytest.raises(ValueError, match="before the first input"):
            use()
    assert (repr(w), w.dtype, w.requires_grad, w.grad) == ("<UninitializedTensor>", ad.float32, True, None)
    assert ad.draw(ad.variable(2.0) * 3.0).dot  # which looks for names around it
    again = copy.deepcopy(layer)
    restored = pickle.loads(pickle.dumps(layer))
    layer.bias.requires_grad_(False)
    optimizer = ad.optim.SGD(layer.parameters(), lr=0.1)
    optimizer.zero_grad()
    layer.double()
    y = layer(ad.ones((2, 4), dtype="float64"))
    assert (y.dtype, layer.weight.dtype, layer.bias.dtype) == (ad.float64,) * 3
    assert layer.weight is w
    assert type(w) is ad.Tensor
    assert not layer.bias.requires_grad
    y.sum().backward()
    before = w.numpy().copy()
    optimizer.step()
    equal(w, before - 0.1 * 2)
    for other in (again, restored):
        assert isinstance(other, nn.LazyLinear)
        assert other(ad.ones((2, 4))).dtype is ad.float32


def test_their_arguments_are_shown():
    shown = [repr(x) for x in (nn.LazyLinear(3), nn.LazyConv2d(4, 3, padding=1), nn.LazyBatchNorm1d())]
    assert shown == ["LazyLinear(3)", "LazyConv2d(4, 3, padding=1)", "LazyBatchNorm1d()"]


def test_what_they_refuse():
    with pytest.raises(ValueError, match="has no axis 1"):
        nn.LazyConv2d(4, 3)(ad.ones(3))
    with pytest.raises(ValueError, match="don't divide"):
        nn.LazyConv2d(4, 3, groups=2)(ad.ones((1, 3, 5, 5)))
    with pytest.raises(TypeError):
        nn.LazyLinear(4, speed=2)
    model, state = nn.Sequential(nn.ReLU(), nn.LazyLinear(3)), {"1.weight": ad.ones((3, 2)), "1.bias": ad.zeros(3)}
    for refused in (
        lambda: nn.functional_call(model, state, ad.ones((1, 2))),
        lambda: nn.stack_module_state([model, model]),
        lambda: nn.utils.parametrizations.weight_norm(model[1]),
    ):
        with pytest.raises(ValueError, match=r"LazyLinear\(3\).* has seen no input"):
            refused()
    layer = nn.LazyLinear(3)
    with pytest.raises(RuntimeError, match="the size of LazyLinear changes while"):
        ad.jit(layer)(ad.ones((2, 4)))
    layer(ad.ones((2, 4)))
    assert ad.jit(layer)(ad.ones((2, 4))).shape == (2, 3)
