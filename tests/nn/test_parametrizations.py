"""Parametrized weights: what they are made of, and what a module, an optimizer and a compiled step make of them."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.nn.utils import parametrizations, parametrize
from support import equal


class Symmetric(nn.Module):
    def forward(self, x):
        return ad.triu(x) + ad.triu(x, k=1).mT


class Doubled(nn.Module):
    def forward(self, x):
        return 2 * x

    def right_inverse(self, x):
        return x / 2


def test_a_tensor_computed_from_another():
    layer = nn.Linear(3, 3)
    weight, before = layer.weight, layer.weight.numpy()
    assert parametrize.register_parametrization(layer, "weight", Symmetric()) is layer
    assert (type(layer).__name__, isinstance(layer, nn.Linear)) == ("ParametrizedLinear", True)
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    assert layer.parametrizations.weight.original is weight  # which an optimizer may hold
    expected = np.triu(before) + np.triu(before, 1).T
    equal(layer.weight, expected)
    parametrize.register_parametrization(layer, "weight", Doubled())
    equal(layer.weight, 2 * expected)
    with pytest.raises(RuntimeError, match="Symmetric defines no right_inverse"):
        layer.weight = ad.ones((3, 3))
    parametrize.remove_parametrizations(layer, "weight")
    assert (type(layer), layer.weight, layer.weight.is_leaf) == (nn.Linear, weight, True)
    equal(layer.weight, 2 * expected)
    assert list(layer.state_dict()) == ["bias", "weight"]


def test_assigning_goes_through_the_inverse():
    layer = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Doubled())
    parametrize.register_parametrization(layer, "bias", Doubled())
    layer.weight = ad.tensor([[2.0, 4.0], [6.0, 8.0]])
    equal(layer.parametrizations.weight.original, [[1.0, 2.0], [3.0, 4.0]])
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    equal(layer.weight, [[1.0, 2.0], [3.0, 4.0]])
    assert parametrize.is_parametrized(layer, "bias")
    assert not parametrize.is_parametrized(layer, "weight")
    parametrizations.weight_norm(layer, "weight")
    with pytest.raises(ValueError, match="from several tensors"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)


def test_what_is_refused():
    class Grown(nn.Module):
        def forward(self, x):
            return ad.concat([x, x])

    layer = nn.Linear(2, 2)
    with pytest.raises(ValueError, match=r"Grown makes float32\[2, 2\] into float32\[4, 2\]"):
        parametrize.register_parametrization(layer, "weight", Grown())
    assert type(layer) is nn.Linear
    assert layer.weight.shape == (2, 2)
    with pytest.raises(ValueError, match="no parameter or buffer 'speed'"):
        parametrize.register_parametrization(layer, "speed", Doubled())
    with pytest.raises(ValueError, match="orthogonal_map is one of"):
        parametrizations.orthogonal(layer, orthogonal_map="random")
    with pytest.raises(ValueError, match="is no matrix"):
        parametrizations.orthogonal(layer, "bias")


@pytest.mark.usefixtures("equal_bits")
@pytest.mark.parametrize("name", parametrizations.__all__)
def test_training_compiled_and_not(name):
    def trained(compiled):
        ad.random.seed(0)
        layer = nn.Linear(3, 3)
        getattr(parametrizations, name)(layer)
        optimizer = ad.optim.Adam(layer.parameters(), lr=0.05)
        x = ad.tensor(np.random.default_rng(0).normal(size=(5, 3)).astype("f4"))

        def step():
            optimizer.zero_grad()
            loss = ((layer(x) - x) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        step = ad.jit(step) if compiled else step
        losses = [step().item() for _ in range(20)]
        return layer, losses

    layer, losses = trained(True)
    np.testing.assert_allclose(losses, trained(False)[1], 1e-4)
    assert losses[-1] < losses[0]
    state = {key: value.numpy() for key, value in layer.state_dict().items()}
    other = getattr(parametrizations, name)(nn.Linear(3, 3))
    other.load_state_dict(state)
    equal(other.eval()(ad.ones((1, 3))), layer.eval()(ad.ones((1, 3))).numpy())
    copy = nn.functional_call(layer, {"bias": ad.zeros(3)}, ad.ones((1, 3)))
    equal(copy + layer.bias, layer(ad.ones((1, 3))).numpy(), 1e-5)


def test_compiled_functions_see_new_parametrizations():
    layer = nn.Linear(2, 2, bias=False)
    f = ad.jit(lambda x: layer(x))
    x = ad.ones((1, 2))
    plain = f(x).numpy()
    parametrize.register_parametrization(layer, "weight", Doubled(), unsafe=True)
    equal(f(x), plain)
    layer.parametrizations.weight.original.data += 1.0
    equal(f(x), plain + 4)
    parametrize.remove_parametrizations(layer, "weight")
    equal(f(x), plain + 4)


def test_a_compiled_function_where_values_are_kept():
    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    fast, x = ad.jit(lambda x: layer(x) @ layer.weight), ad.ones((1, 3))
    expected = layer(x).numpy() @ layer.weight.numpy()
    with parametrize.cached():
        for _ in range(3):
            equal(fast(x), expected, 1e-6)
            equal(layer(x) @ layer.weight, expected, 1e-6)
            for k in (1.0, 2.0):  # copies of the module, whose weights aren't those of the copy before
                state = {"parametrizations.weight.original": k * ad.ones((3, 3)), "bias": ad.zeros(3)}
                equal(nn.functional_call(layer, state, x), np.full((1, 3), 3 * k))


def test_a_length_along_no_axis():
    for dim in (2, -3):
        with pytest.raises(IndexError, match=f"weight has 2 axes; there is no {dim}"):
            parametrizations.weight_norm(nn.Linear(2, 3), dim=dim)
