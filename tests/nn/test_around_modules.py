"""What stands around modules: their names, functional calls, ensembles, compiled modules, vectors of parameters."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from support import double, equal


def network():
    ad.random.seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2)).double()


def drawn(*shape, seed=0):
    return double(np.random.default_rng(seed).normal(size=shape))


def test_parts_by_name():
    model = network()
    assert model.get_submodule("0") is model[0]
    assert model.get_submodule("") is model
    assert model.get_parameter("3.weight") is model[3].weight
    assert model.get_buffer("1.running_mean") is model[1].running_mean
    for call in (
        lambda: model.get_submodule("7"),
        lambda: model.get_parameter("1.running_mean"),
        lambda: model.get_buffer("0.weight"),
    ):
        with pytest.raises(AttributeError, match=r"has no"):
            call()
    layer = nn.Module()
    layer.register_parameter("scale", ad.variable(2.0))
    layer.register_parameter("none", None)
    assert [name for name, _ in layer.named_parameters()] == ["scale"]
    with pytest.raises(TypeError, match="must be a variable"):
        layer.register_parameter("other", ad.tensor(1.0))
    with pytest.raises(KeyError):
        layer.register_parameter("forward", ad.variable(1.0))


def test_devices():
    model = network()
    assert model.to("cpu") is model.cpu() is model.to(device="cpu") is model
    assert model.to("cpu", dtype="float32")[0].weight.dtype == "float32"
    assert model.to("float64")[0].weight.dtype == "float64"
    with pytest.raises(ValueError, match="there is no device 'cuda:0'"):
        model.to("cuda:0")


def test_functional_call_is_a_function_of_its_state():
    model, other, x = network(), network(), drawn(5, 3)
    for parameter in other.parameters():
        parameter.data = parameter + 1.0
    before = {name: value.numpy() for name, value in model.state_dict().items()}
    state = {**dict(other.named_parameters()), **dict(other.named_buffers())}
    equal(nn.functional_call(model.eval(), state, x), other.eval()(x).numpy())
    for name, value in model.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), before[name])

    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def loss(parameters):
        return (nn.functional_call(model, parameters, (x,)) ** 2).sum()

    gradient = ad.grad(loss)(parameters)
    (model(x) ** 2).sum().backward()
    for name, parameter in model.named_parameters():
        equal(gradient[name], parameter.grad.numpy())
    with pytest.raises(ValueError, match=r"no 9\.weight in it"):
        nn.functional_call(model, {"9.weight": x}, x)
    with pytest.raises(ValueError, match="not given"):
        nn.functional_call(model, parameters, x, strict=True)


def test_functional_call_replaces_shared_weights_everywhere():
    class Tied(nn.Module):
        def __init__(self):
            self.a = nn.Linear(2, 2, bias=False)
            self.b = nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    model, x, w = Tied().double(), drawn(1, 2), drawn(2, 2, seed=1)
    equal(nn.functional_call(model, {"a.weight": w}, x), x.numpy() @ w.numpy().T @ w.numpy().T)
    own = model.a.weight.numpy()
    equal(nn.functional_call(model, {"a.weight": w}, x, tie_weights=False), x.numpy() @ w.numpy().T @ own.T)


def test_functional_call_of_a_module_under_two_names():
    """The module itself stays as it is, also where a part of it has another name that isn't given."""

    class Twice(nn.Module):
        def __init__(self):
            self.a = nn.Linear(2, 2, bias=False)
            self.again = self.a
            self.held = nn.ModuleList([self.a, nn.Linear(2, 2)])

        def forward(self, x):
            return self.held[0](self.again(self.a(x)))

    model, w, x = Twice(), drawn(2, 2), drawn(4, 2)
    own, values = model.a.weight, model.a.weight.numpy()
    expected = x.numpy() @ np.linalg.matrix_power(w.numpy().T, 3)
    for name in ("a.weight", "again.weight", "held.0.weight"):
        equal(nn.functional_call(model, {name: w}, x), expected, 1e-5)
    gradient = ad.grad(lambda w: nn.functional_call(model, {"a.weight": w}, x).sum())(w)
    equal(gradient, ad.grad(lambda w: (x @ w.mT @ w.mT @ w.mT).sum())(w).numpy(), 1e-5)
    assert model.a is model.again is model.held[0] and model.a.weight is own
    equal(own, values)


def test_ensembles_are_their_models():
    models = [network().eval() for _ in range(3)]
    for i, model in enumerate(models):
        for parameter in model.parameters():
            parameter.data = parameter * (1.0 + i)
    parameters, buffers = nn.stack_module_state(models)
    x = drawn(5, 3)
    predict = ad.vmap(lambda p, b, x: nn.functional_call(models[0], (p, b), x), in_axes=(0, 0, None))
    equal(predict(parameters, buffers, x), np.stack([model(x).numpy() for model in models]))
    (predict(parameters, buffers, x) ** 2).sum().backward()
    (models[2](x) ** 2).sum().backward()
    equal(parameters["0.weight"].grad[2], models[2][0].weight.grad.numpy())
    with pytest.raises(ValueError, match="names or shapes differ"):
        nn.stack_module_state([nn.Linear(2, 1), nn.Linear(3, 1)])
    with pytest.raises(ValueError, match="some models are in training mode"):
        nn.stack_module_state([nn.Linear(2, 1), nn.Linear(2, 1).eval()])


def test_a_compiled_module_is_still_a_module_to_who_asks():
    model, x = network(), drawn(6, 3)
    fast = ad.jit(model)
    optimizer = ad.optim.SGD(fast.parameters(), lr=0.1)
    equal(fast(x), model(x).numpy())
    fast.eval()
    assert not model.training
    equal(fast(x), model(x).numpy())
    (fast(x) ** 2).sum().backward()
    optimizer.step()
    equal(fast(x), model(x).numpy())
    assert list(fast.state_dict()) == list(model.state_dict())
    fast.load_state_dict(network().state_dict())
    equal(fast(x), model(x).numpy())
    with pytest.raises(AttributeError):
        fast.no_such_thing
    with pytest.raises(AttributeError):
        ad.jit(lambda x: x).parameters


def test_parameters_as_a_vector():
    model = network()
    vector = nn.utils.parameters_to_vector(model.parameters())
    assert vector.shape == (sum(p.size for p in model.parameters()),)
    nn.utils.vector_to_parameters(vector * 2.0, model.parameters())
    equal(nn.utils.parameters_to_vector(model.parameters()), 2 * vector.numpy())
    (nn.utils.parameters_to_vector(model.parameters()) ** 2).sum().backward()
    equal(model[0].weight.grad, 2 * model[0].weight.numpy())
    with pytest.raises(ValueError, match="don't fit a vector"):
        nn.utils.vector_to_parameters(vector[1:], model.parameters())
