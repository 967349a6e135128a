"""Hooks of tensors and modules: what a reverse pass calls on its way."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from support import double, equal


def test_a_hook_sees_and_replaces_the_gradient_of_a_computed_tensor():
    seen = []
    x = ad.variable([3.0, 4.0])
    y = x * 2.0
    loss = (y * y).sum()
    first = y.register_hook(lambda g: seen.append(g.numpy()))  # `loss` refers to y already
    second = y.register_hook(lambda g: g / 10.0)
    y.retain_grad()
    assert (repr(y), y.creator.name) == ("Tensor([6., 8.], grad_fn=Multiply)", "multiply")
    loss.backward()
    equal(seen, [[12.0, 16.0]])
    equal(y.grad, np.array([1.2, 1.6], "f4"))
    equal(x.grad, np.array([2.4, 3.2], "f4"))
    equal(ad.gradients((y * y).sum(), [y])[0], np.array([1.2, 1.6], "f4"))
    second.remove()
    second.remove()
    first.remove()
    x.grad = None
    (y * y).sum().backward()
    assert len(seen) == 2
    equal(x.grad, [24.0, 32.0])


def test_a_hook_after_retain_grad_and_a_name():
    x = ad.variable(2.0)
    y = x * x
    y.retain_grad()
    y.name = "y"
    y.register_hook(lambda g: g * 3)
    (5 * y).backward()
    assert (y.grad.item(), x.grad.item(), y.name) == (15.0, 60.0, "y")


def test_a_pass_that_began_before_the_hook_does_not_call_it():
    x = ad.variable(np.arange(1000.0))
    y = x * 2.0
    (y * y).sum().backward()  # nothing is computed yet
    y.register_hook(lambda g: g * 100)
    equal(x.grad, 8 * np.arange(1000.0))


@pytest.mark.parametrize("again", (False, True))
def test_a_variables_hook_gets_what_backward_found(again):
    seen = []
    w = ad.variable([1.0, 2.0])
    handle = w.register_hook(lambda g: seen.append(g.numpy()) or g * 2)
    (w * w).sum().backward(create_graph=again)
    w.data -= 1.0  # the hook belongs to the versions to come too
    (w * w).sum().backward(create_graph=again)
    equal(seen, [[2.0, 4.0], [0.0, 2.0]])
    equal(w.grad, [4.0, 12.0])
    equal(ad.gradients((w * w).sum(), [w])[0], [0.0, 4.0])
    with handle:
        pass
    w.grad = None
    (w * w).sum().backward()
    equal(w.grad, [0.0, 2.0])


def test_hooks_are_differentiated_again():
    x = ad.variable(3.0)
    y = x * x
    y.register_hook(lambda g: g * y)
    (y * 1.0).backward(create_graph=True)  # y · 2x = 2x³
    gradient = x.grad
    x.grad = None
    assert gradient.item() == 54.0
    gradient.backward()
    assert x.grad.item() == 2 * 9 + (2 * 3) * 9 * (2 * 3)  # on the way through y its hook is called again


def test_hooks_inside_transformations():
    def f(x):
        y = ad.sin(x)
        y.register_hook(lambda g: 2 * g)
        x.register_hook(lambda g: g + 1)
        return (y * x).sum()

    def expected(x):
        return 2 * x * np.cos(x) + np.sin(x) + 1

    x = double(np.linspace(0, 2, 6).reshape(2, 3))
    equal(ad.grad(f)(x[0]), expected(x[0].numpy()), 1e-12)
    equal(ad.jit(ad.grad(f))(x[0]), expected(x[0].numpy()), 1e-12)
    equal(ad.vmap(ad.grad(f))(x), expected(x.numpy()), 1e-12)
    equal(ad.grad(lambda x: ad.vmap(f)(x).sum())(x), expected(x.numpy()), 1e-12)
    tangent = double(np.ones(3))
    y = x[0].numpy()
    equal(ad.jvp(f, (x[0],), (tangent,))[1], (y * np.cos(y) + np.sin(y)).sum(), 1e-12)  # forward mode calls none

    def looped(x):
        def step(carry, _):
            inner = carry * x
            inner.register_hook(lambda g: g * 0.5)
            return inner, None

        return ad.scan(step, x, None, length=3)[0]

    assert ad.grad(looped)(double(2.0)).item() == pytest.approx(8 * 0.5 + 8 * 0.25 + 8 * 0.125 + 8 * 0.125)


def test_what_a_hook_may_return():
    x = ad.variable([1.0, 2.0])
    for value, error, message in (
        (ad.ones(3), ValueError, r"got a gradient of shape \(2,\) and returned shape \(3,\)"),
        ("text", TypeError, "returns a gradient or None, not a str"),
    ):
        y = x * 1.0
        y.register_hook(lambda g, value=value: value)
        with pytest.raises(error, match=message):
            y.sum().backward()
    with pytest.raises(RuntimeError, match="not tracked"):
        ad.tensor(1.0).register_hook(print)
    with pytest.raises(TypeError, match="can't be"):
        x.register_hook(3)
    with pytest.raises(RuntimeError, match="only a variable"):
        (x * 1.0).register_post_accumulate_grad_hook(print)


def test_descent_in_the_reverse_pass():
    def trained(inside):
        ad.random.seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
        optimizers = {id(p): ad.optim.Adam([p], lr=0.1) for p in model.parameters()}

        def descend(p):
            optimizers[id(p)].step()
            optimizers[id(p)].zero_grad()

        if inside:
            for p in model.parameters():
                p.register_post_accumulate_grad_hook(descend)
        for _ in range(3):
            (model(double(np.ones((2, 3)))) ** 2).sum().backward()
            if not inside:
                for p in model.parameters():
                    descend(p)
        assert all(p.grad is None for p in model.parameters())
        return [p.numpy() for p in model.parameters()]

    for a, b in zip(trained(True), trained(False), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_hook_is_a_change_that_compiled_functions_see():
    w = ad.variable(2.0)
    factor = ad.tensor(3.0)

    @ad.jit
    def step():
        w.grad = None
        (w * w).backward()
        return w.grad

    assert step().item() == step().item() == 4.0
    handle = w.register_hook(lambda g: g * factor)
    assert step().item() == step().item() == 12.0
    factor.data += 1.0
    assert step().item() == 16.0
    handle.remove()
    assert step().item() == 4.0

    @ad.jit
    def register():
        w.register_hook(lambda g: g)
        return w * 1.0

    with pytest.raises(RuntimeError, match="the hooks of a tensor changes"):
        register()


def test_hooks_hold_no_variable():
    w = ad.variable(2.0)
    w.register_post_accumulate_grad_hook(lambda w: None)
    gone = weakref.ref(w)
    gc.disable()
    try:
        del w
        assert gone() is None
    finally:
        gc.enable()


# ---------------------------------------------------------------- modules


def pair():
    ad.random.seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    return model, double(np.arange(6.0).reshape(2, 3) / 6)


def test_backward_hooks_see_and_replace_gradients():
    model, x = pair()
    seen = []
    model[1].register_full_backward_hook(lambda m, into, out: seen.append((into, out)))
    x.requires_grad_()
    model(x).sum().backward()
    ((into,), (out,)) = seen[0]
    equal(out, np.ones((2, 2)) @ model[2].weight.numpy(), 1e-12)
    slope = 1 - np.tanh(model[0](x).numpy()) ** 2
    equal(into, out.numpy() * slope, 1e-12)
    equal(x.grad, into.numpy() @ model[0].weight.numpy(), 1e-12)

    before = x.grad.numpy()
    handles = [
        model[1].register_full_backward_pre_hook(lambda m, out: (out[0] * 2,)),
        model[1].register_full_backward_hook(lambda m, into, out: (into[0] * 5,)),
    ]
    x.grad = None
    model(x).sum().backward()
    equal(x.grad, 10 * before, 1e-12)
    for handle in handles:
        handle.remove()
    x.grad = None
    model(x).sum().backward()
    equal(x.grad, before, 1e-12)


def test_backward_hooks_where_nothing_or_several_go_in():
    class Two(nn.Module):
        def forward(self, a, text, b):
            return {"sum": a + b, "product": a * b, "text": text}

    seen = []
    module = Two()
    module.register_full_backward_hook(lambda m, into, out: seen.append((into, out)))
    a, b = ad.variable(2.0), ad.variable(3.0)
    module(a, "text", b)["product"].backward()
    (first, text, second), out = seen[0]
    assert (first.item(), text, second.item()) == (3.0, None, 2.0)
    assert (len(out), out[0], out[1].item()) == (3, None, 1.0)

    linear = nn.Linear(2, 1)
    linear.register_full_backward_hook(lambda m, into, out: seen.append((into, out)))
    linear(ad.ones((1, 2))).sum().backward()
    assert seen[1][0] == (None,)
    assert seen[1][1][0].item() == 1.0
    linear.register_full_backward_hook(lambda m, into, out: (None, None))
    with pytest.raises(TypeError, match="returned 2 gradients in place of 1"):
        linear(ad.ones((1, 2))).sum().backward()


def test_backward_hooks_under_transformations():
    model, x = pair()
    plain = ad.grad(lambda x: (model(x) ** 2).sum())(x).numpy()
    model[1].register_full_backward_hook(lambda m, into, out: (into[0] * 3,))
    equal(ad.grad(lambda x: (model(x) ** 2).sum())(x), 3 * plain, 1e-12)
    equal(ad.jit(ad.grad(lambda x: (model(x) ** 2).sum()))(x), 3 * plain, 1e-12)
    equal(ad.vmap(ad.grad(lambda x: (model(x) ** 2).sum()))(x), 3 * plain, 1e-12)
    equal(ad.grad(lambda x: (ad.vmap(model)(x) ** 2).sum())(x), 3 * plain, 1e-12)

    @ad.jit
    def step(x):
        model.zero_grad()
        (model(x) ** 2).sum().backward()
        return model[0].weight.grad

    once = step(x).numpy()
    handle = model[1].register_full_backward_hook(lambda m, into, out: (into[0] * 2,))
    equal(step(x), 2 * once, 1e-12)
    handle.remove()
    equal(step(x), once, 1e-12)


def test_planning_calls_no_hook():
    """A value that is asked for, time and again, from a hooked tensor that has its own already: no reverse pass runs."""
    calls = []
    for _ in range(4):
        x = ad.variable(np.full(1000, 0.5, np.float32))
        y = ad.sin(x)
        y.register_hook(lambda g: calls.append(g.shape))
        y.numpy()
        z = ad.exp(y) * y
        assert z.numpy()[0] == pytest.approx(0.7744, abs=1e-3) and calls == []
    z.sum().backward()
    assert calls == [(1000,)]


@pytest.mark.parametrize("kind", ("register_forward_pre_hook", "register_forward_hook"))
def test_a_hook_that_takes_itself_out(kind):
    """The handle is removed while the module is called, which goes on with the hooks that are left."""
    layer, calls, x = nn.Linear(2, 2), [], ad.ones((1, 2))
    expected = layer(x).numpy()

    def once(*_):
        calls.append("once")
        handle.remove()

    handle = getattr(layer, kind)(once)
    equal(layer(x), expected)
    equal(layer(x), expected)
    assert calls == ["once"]

    def adds(*_):
        added.append(layer.register_forward_hook(lambda m, args, y: y * 3))
        handle.remove()

    added = []
    handle = getattr(layer, kind)(adds)
    assert layer(x).shape == (1, 2) and len(added) == 1
    equal(layer(x), 3 * expected)


@pytest.mark.usefixtures("equal_bits")
def test_hooks_of_all_modules_in_compiled_functions():
    model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
    compiled, x = ad.jit(lambda x: model(x).sum()), ad.ones(3)
    before = model(x).sum().item()
    assert compiled(x).item() == before
    with nn.register_module_forward_hook(lambda module, args, y: y + 1 if isinstance(module, nn.ReLU) else None):
        assert compiled(x).item() == model(x).sum().item() == before + 2
    assert compiled(x).item() == before
    with pytest.raises(RuntimeError, match="the hooks of all modules changes while"):
        ad.jit(lambda x: nn.register_module_forward_pre_hook(print) and x)(x)


def test_a_hook_called_after_an_error_may_fail_too():
    layer, seen = nn.Linear(3, 2), []

    def fail(module, args, output):
        seen.append(output)
        raise KeyError("a hook fails")

    layer.register_forward_hook(fail, always_call=True)
    layer.register_forward_hook(lambda module, args, output: seen.append(output), always_call=True)
    with pytest.warns(UserWarning, match="a hook fails"), pytest.raises(ValueError, match="Linear"):
        layer(ad.ones(5))
    assert seen == [None, None]


def test_a_state_that_is_refused_changes_nothing():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    before = {key: value.numpy().copy() for key, value in model.state_dict().items()}
    state = {key: value + 1 for key, value in before.items() if key != "1.bias"}
    seen = []
    handle = model.register_load_state_dict_post_hook(lambda *given: seen.append(model[0].weight.numpy().copy()))
    with pytest.raises(ValueError, match=r"missing: 1\.bias"):
        model.load_state_dict(state)
    equal(seen[0], state["0.weight"])
    handle.remove()
    handle = model[1].register_load_state_dict_pre_hook(lambda *given: given[-1].append(f"not {given[2]}"))
    with pytest.raises(ValueError, match=r"not 1\."):
        model.load_state_dict(before)
    handle.remove()
    for key, value in model.state_dict().items():
        equal(value, before[key])
    model.register_state_dict_post_hook(lambda module, state, prefix, metadata: state)
    with pytest.raises(RuntimeError, match="returns None"):
        model.state_dict()
