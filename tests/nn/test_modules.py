"""Hooks, dictionaries of modules, freezing, and summaries."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, tracing


def small():
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 5))


# ---------------------------------------------------------------- hooks


def test_hooks_see_and_replace_what_goes_in_and_out():
    linear, seen = nn.Linear(2, 2), []
    x = ad.ones((1, 2))
    plain = linear(x).numpy()
    with linear.register_forward_pre_hook(lambda module, args: seen.append((module, args))):
        linear(x)
    assert len(seen) == 1 and seen[0][0] is linear and seen[0][1][0] is x
    linear(x)
    assert len(seen) == 1  # taken out at the end of the block
    handle = linear.register_forward_pre_hook(lambda module, args: args[0] * 0)
    np.testing.assert_allclose(linear(x).numpy(), linear.bias.numpy()[None])
    handle.remove()
    handle.remove()
    first = linear.register_forward_hook(lambda module, args, output: output + 1)
    second = linear.register_forward_hook(lambda module, args, output: output * 2)
    np.testing.assert_allclose(linear(x).numpy(), 2 * (plain + 1), rtol=1e-6)
    third = linear.register_forward_hook(lambda module, args, output: output - output, prepend=True)
    np.testing.assert_allclose(linear(x).numpy(), [[2.0, 2.0]])
    for handle in (first, second, third):
        handle.remove()
    np.testing.assert_array_equal(linear(x).numpy(), plain)


def test_hooks_with_keywords():
    class Scaled(nn.Module):
        def forward(self, x, factor=1.0):
            return x * factor

    module, seen = Scaled(), []
    wrong = module.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(TypeError, match="returns None or"), wrong:
        module(ad.ones(1))
    with (
        module.register_forward_pre_hook(lambda m, a, k: (a, {"factor": 5.0}), with_kwargs=True),
        module.register_forward_pre_hook(lambda m, a, k: None, with_kwargs=True),
        module.register_forward_hook(lambda m, a, k, y: seen.append((k, y.item())), with_kwargs=True),
    ):
        module(ad.ones(1), factor=2.0)
    assert seen == [({"factor": 5.0}, 5.0)]


def test_a_hook_is_a_change_that_compiled_functions_see():
    linear, before = nn.Linear(1, 1), tracing.epoch
    handle = linear.register_forward_hook(lambda module, args, output: None)
    assert tracing.epoch > before
    before = tracing.epoch
    handle.remove()
    assert tracing.epoch > before


def test_gradients_flow_through_hooks_and_copies_keep_them():
    linear = nn.Linear(2, 1)
    linear.register_forward_hook(lambda module, args, output: output * 3)
    gradient = ad.grad(lambda m: m(ad.ones((1, 2))).sum())(linear)
    np.testing.assert_allclose(gradient.weight.numpy(), [[3.0, 3.0]])


# ---------------------------------------------------------------- dictionaries


def test_modules_by_name():
    modules = nn.ModuleDict({"first": nn.Linear(2, 3), "second": nn.ReLU()})
    modules["third"] = nn.Linear(3, 1)
    assert (list(modules), len(modules), "second" in modules, "fourth" in modules) == (
        ["first", "second", "third"], 3, True, False,
    )  # fmt: skip
    assert list(modules.state_dict()) == ["first.weight", "first.bias", "third.weight", "third.bias"]
    assert modules.pop("second").__class__ is nn.ReLU
    assert modules.keys() == ["first", "third"]
    assert modules.values()[1] is modules["third"]
    modules.update([("more", nn.Identity())])
    assert [name for name, _ in modules.items()] == ["first", "third", "more"]
    assert repr(nn.ModuleDict({"a": nn.ReLU()})) == "ModuleDict(\n  (a): ReLU()\n)"
    modules.clear()
    assert len(modules) == 0
    with pytest.raises(KeyError, match="no module 'first'; there are none"):
        modules["first"]
    with pytest.raises(KeyError, match="can't be called 'keys'"):
        modules["keys"] = nn.ReLU()
    with pytest.raises(TypeError, match="must be a Module"):
        modules["number"] = 3


# ---------------------------------------------------------------- freezing


def test_frozen_layers_get_no_gradient_and_cost_none():
    model = small()
    model[0].requires_grad_(False)
    loss = model(ad.ones((2, 1, 8, 8))).sum()
    loss.backward()
    assert model[0].weight.grad is None
    assert model[4].weight.grad is not None
    report = model.summary((2, 1, 8, 8))
    assert (report.trainable, report.frozen) == (185, 40)
    assert "225 parameters, 40 of them frozen" in str(report)


# ---------------------------------------------------------------- summaries


def test_summary_counts():
    model = small().train()
    report = nn.summary(model, (2, 1, 8, 8))
    assert [(row.name, row.kind, row.shapes) for row in report.rows] == [
        ("", "Sequential", ((2, 5),)), ("0", "Conv2d", ((2, 4, 6, 6),)), ("1", "ReLU", ((2, 4, 6, 6),)),
        ("2", "MaxPool2d", ((2, 4, 3, 3),)), ("3", "Flatten", ((2, 36),)), ("4", "Linear", ((2, 5),)),
    ]  # fmt: skip
    assert [row.parameters for row in report.rows] == [225, 40, 0, 0, 0, 185]
    pixels = 2 * 4 * 6 * 6
    work = [2 * 9 * pixels + pixels, pixels, pixels, 0, 2 * 36 * 10 + 10]
    assert [row.flops for row in report.rows] == [sum(work), *work]
    assert report.flops == sum(work)
    lines = str(report).splitlines()
    assert lines[0].split() == ["layer", "output", "parameters", "flops"]
    assert lines[3].split() == ["0:", "Conv2d", "(2,", "4,", "6,", "6)", "40", "5,472"]
    assert model.training and model[1].training


def test_summary_changes_nothing_and_computes_nothing():
    norm = nn.BatchNorm1d(3)
    model = nn.Sequential(nn.Embedding(10, 3), nn.Flatten(0, 1), norm, nn.Dropout(0.5))
    model[3].eval()
    state = ad.random.default_generator.state.numpy()
    report = model.summary((2, 7), dtype="int64")
    assert report.rows[-1].shapes == ((14, 3),)
    assert norm.num_batches_tracked.item() == 0
    assert [module.training for module in model] == [True, True, True, False]
    np.testing.assert_array_equal(ad.random.default_generator.state.numpy(), state)
    huge = nn.Sequential(nn.Linear(1000, 1000), nn.ReLU()).summary((1_000_000, 1000))  # 4 GB, were it computed
    assert huge.flops == 2 * 10**12 + 2 * 10**9


def test_summary_of_calls_that_repeat_and_of_several_inputs():
    class Twice(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(3, 3, bias=False)
            self.unused = nn.Linear(1, 1)

        def forward(self, x, y):
            return self.layer(self.layer(x)) + y, y

    report = nn.summary(Twice(), (2, 3), ad.ones((2, 3)))
    assert [(row.name, row.flops) for row in report.rows] == [("", 78), ("layer", 72), ("unused", 0)]
    assert report.rows[0].shapes == ((2, 3), (2, 3))
    assert "not called" in str(report)
    attention = nn.MultiheadAttention(4, 2, batch_first=True)
    x = ad.ones((1, 3, 4))
    assert nn.summary(attention, x, x, x).flops > 2 * 3 * 4 * 16
    with pytest.raises(TypeError, match="give the shape of the input"):
        nn.summary(Twice())
    with pytest.raises(ValueError, match="last axis must be 3 long"):
        nn.summary(Twice(), (2, 4), (2, 4))
    assert Twice()._hooks is None


@pytest.mark.parametrize("name", ["forward", "training", "parameters"])
def test_a_buffer_or_a_child_hides_nothing_that_modules_have(name):
    linear = nn.Linear(1, 1)
    with pytest.raises(KeyError, match=f"Linear has an attribute '{name}' already"):
        linear.register_buffer(name, ad.ones(1))
    if name != "training":
        with pytest.raises(KeyError, match=f"Linear has an attribute '{name}' already"):
            linear.add_module(name, nn.Tanh())
    assert linear(ad.ones(1)).shape == (1,)


def test_a_linear_layer_takes_lists():
    linear = nn.Linear(2, 1)
    assert linear([[1.0, 2.0]]).tolist() == linear(ad.tensor([[1.0, 2.0]])).tolist()
