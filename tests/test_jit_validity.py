"""Which changes of plain Python state make `ad.jit` trace anew: those of what the function has read, and no others."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, optim

X = np.ones((2, 3), "f")


class Net(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(3, 2)
        self.scale = 2.0
        self.note = "unread"
        self._power = 1

    @property
    def power(self):
        return self._power

    @power.setter
    def power(self, value):
        self._power = value

    def forward(self, x):
        return self.layer(x) * self.scale**self.power


class Elsewhere:
    """A descriptor whose values lie outside of the object."""

    def __init__(self):
        self.values = {}

    def __get__(self, owner, kind=None):
        return self if owner is None else self.values.get(id(owner), 1.0)

    def __set__(self, owner, value):
        self.values[id(owner)] = value


class Counted:
    """A jitted function with the number of its traces."""

    def __init__(self, f):
        self.count = 0

        def counting(*args):
            self.count += (
                1  # an attribute of this object, which the function's own code doesn't mention as an argument's
            )
            return f(*args)

        self.call = ad.jit(counting)

    def __call__(self, *args):
        return self.call(*args)


def warmed(f, *args):
    """A counted function that was called often enough to have a written way."""
    counted = Counted(f)
    for _ in range(3):
        counted(*args)
    assert counted.count == 1
    return counted


UNRELATED = {
    "a module made": lambda net: nn.Linear(2, 2),
    "another module's mode": lambda net: OTHER.train(not OTHER.training),
    "another module's layer": lambda net: setattr(OTHER, "layer", nn.Linear(3, 2)),
    "an attribute that was not read": lambda net: setattr(net, "note", "changed"),
    "a new attribute": lambda net: setattr(net, "best_loss", 0.5),
    "the same number again": lambda net: setattr(net, "scale", float("2")),
    "there and back": lambda net: net.eval().train(),
    "a hook of another module": lambda net: OTHER.register_forward_hook(lambda m, a, y: y * 100),
    "a hook there and gone": lambda net: net.register_forward_hook(lambda m, a, y: y * 100).remove(),
    "a seed": lambda net: ad.random.seed(5),
    "another optimizer": lambda net: optim.SGD(net.parameters(), lr=0.1),
    "the mode where none reads it": lambda net: net.layer.eval(),
}
OTHER = Net()


@pytest.mark.parametrize("name", UNRELATED)
def test_what_was_not_read_may_change(name):
    net = Net()
    predict = warmed(lambda x: net(x), X)
    expected = predict(X).numpy().copy()
    for _ in range(3):
        UNRELATED[name](net)
        np.testing.assert_array_equal(predict(X), expected)
    assert predict.count == 1


RELATED = {
    "an attribute": lambda net: setattr(net, "scale", 3.0),
    "a layer": lambda net: setattr(net, "layer", nn.Linear(3, 2)),
    "a parameter": lambda net: setattr(net.layer, "weight", ad.variable(np.ones((2, 3), "f"))),
    "a parameter taken away": lambda net: setattr(net.layer, "bias", None),
    "a property": lambda net: setattr(net, "power", 2),
    "a hook": lambda net: net.layer.register_forward_hook(lambda m, a, y: y * 100),
    "a hook before": lambda net: net.register_forward_pre_hook(lambda m, a: (a[0] * 2,)),
    "a method of one object": lambda net: setattr(net, "forward", lambda x: x * 7),
    "another child of that name": lambda net: net.add_module("layer", nn.Linear(3, 2)),
}


@pytest.mark.parametrize("name", RELATED)
def test_what_was_read_takes_effect(name):
    net = Net()
    predict = warmed(lambda x: net(x), X)
    RELATED[name](net)
    np.testing.assert_allclose(predict(X), net(ad.tensor(X)), 1e-6)
    assert predict.count == 2
    predict(X)
    predict(X)
    assert predict.count == 2


def test_values_kept_outside_of_the_object_count():
    class Odd(nn.Module):
        factor = Elsewhere()

        def forward(self, x):
            return x * self.factor

    odd = Odd()
    predict = warmed(lambda x: odd(x), X)
    odd.factor = 5.0
    assert predict(X).numpy()[0, 0] == 5
    nn.Linear(1, 1)
    predict(X)
    assert predict.count == 2


def test_containers_and_walks_over_them():
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    predict = warmed(lambda x: net(x), X)
    net.remark = "of no matter"
    predict(X)
    assert predict.count == 1
    net[1] = nn.ReLU()
    np.testing.assert_allclose(predict(X), net(ad.tensor(X)), 1e-6)
    net.append(nn.Tanh())
    np.testing.assert_allclose(predict(X), net(ad.tensor(X)), 1e-6)
    assert predict.count == 3
    total = warmed(lambda: sum([p.sum() for p in net.parameters()], ad.tensor(0.0)))
    net[0].bias = None
    assert total().item() == pytest.approx(sum(p.sum().item() for p in net.parameters()), 1e-5)
    assert total.count == 2


def test_modes_are_traced_once_each():
    drop = nn.Dropout(0.5)
    f = warmed(lambda x: drop(x) * 1, X)
    for _ in range(4):
        drop.eval()
        assert (f(X).numpy() == 1).all()
        drop.train()
        assert set(np.unique(f(X).numpy())) <= {0.0, 2.0}
    assert f.count == 2


def test_replaced_layers_are_not_kept_alive_by_old_traces():
    net = Net()
    predict = warmed(lambda x: net(x), X)
    for _ in range(20):
        net.layer = nn.Linear(3, 2)
        predict(X)
    assert sum(map(len, predict.call.traces.values())) == 1
    for k in range(20):
        net.scale = float(k)
        np.testing.assert_allclose(predict(X), net(ad.tensor(X)), 1e-6)
    assert sum(map(len, predict.call.traces.values())) <= 8


def test_optimizers():
    net = Net()
    optimizer, other = optim.Adam(net.parameters(), lr=0.01), optim.Adam(net.parameters(), lr=0.01)

    def descend(x):
        optimizer.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    step = warmed(descend, X)
    other.weight_decay = 0.1
    other.add_param_group({"params": [ad.variable(1.0)]})
    optimizer.betas = (0.5, 0.9)  # read anew in each call, as the schedules that cycle momentum need it
    optimizer.remark = 3
    step(X)
    assert step.count == 1
    optimizer.add_param_group({"params": [ad.variable(1.0)]})
    step(X)
    assert step.count == 2
    optimizer.param_groups[0]["remark"] = "another entry of a group that was read"
    step(X)
    assert step.count == 3
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    step(X)
    assert optimizer.state[0]["step"] == state["state"][0]["step"] + 1


def test_a_schedule_that_cycles_betas_needs_one_trace():
    results = []
    for jitted in (False, True):
        w = ad.variable([1.0, -2.0])
        optimizer = optim.Adam([w], lr=0.1)
        schedule = optim.OneCycleLR(optimizer, 0.1, total_steps=12)

        def descend(x, w=w, optimizer=optimizer):
            optimizer.zero_grad()
            (w * w * x).sum().backward()
            optimizer.step()

        step = Counted(descend) if jitted else descend
        for _ in range(10):
            step(ad.tensor(1.0))
            schedule.step()
        results.append(w.numpy())
        if jitted:
            assert step.count == 1
    np.testing.assert_allclose(results[1], results[0], 1e-5)


def test_changes_in_another_thread_while_a_function_is_traced_are_seen():
    net = Net()
    read, changed = threading.Event(), threading.Event()

    def f(x):
        y = net(x)
        read.set()
        assert changed.wait(10)
        return y

    def change():
        read.wait(10)
        net.scale = 7.0
        changed.set()

    thread = threading.Thread(target=change)
    thread.start()
    step = ad.jit(f)
    step(X)
    thread.join()
    np.testing.assert_allclose(step(X), net(ad.tensor(X)), 1e-6)


def test_reading_goes_on_as_before_after_a_trace():
    net = Net()
    warmed(lambda x: net(x), X)
    assert type(net).__getattribute__ is object.__getattribute__
    assert optim.SGD(net.parameters(), lr=0.1).lr == 0.1


@pytest.mark.parametrize("one, other", [(1, True), (0, False), (1, 1.0), ((1, "a"), (True, "a")), (2, np.int64(2))])
def test_keys_that_are_equal_and_differ_are_two_structures(one, other):
    seen = []

    @ad.jit
    def f(d):
        (key,) = d
        while isinstance(key, tuple):
            key = key[0]
        seen.append(type(key))
        return d[one] * {int: 1, bool: 2, float: 3, np.int64: 4}[type(key)]

    for key in (one, other, other, one, one, other):
        kind = key[0] if isinstance(key, tuple) else key
        scale = {int: 1, bool: 2, float: 3, np.int64: 4}[type(kind)]
        assert f({key: ad.tensor(2.0)}).item() == 2 * scale
    assert len(seen) == 2
    assert ad.tree.flatten({one: 0})[1] != ad.tree.flatten({other: 0})[1]
    assert ad.tree.flatten({one: 0})[1] == ad.tree.flatten({one: 5})[1]


def test_threads_that_call_compiled_functions_never_draw_the_same_numbers():
    x = ad.tensor(np.zeros(4, "f"))
    generator = ad.random.Generator(5)
    total = ad.tensor(np.zeros(4, "f"))

    @ad.jit
    def draw(x):
        return generator.uniform((4,)) + x

    @ad.jit
    def draw_more(x):
        return generator.uniform((8,))[4:] + x

    @ad.jit
    def add_up(x):
        nonlocal_draw = generator.uniform((4,)) + x
        total.data = total + nonlocal_draw
        return nonlocal_draw * 1

    ways = [draw, draw_more, add_up, lambda x: generator.uniform((4,)) + x]
    for way in (*ways, *ways):
        way(x)
    before, found, calls = generator._counter, [], 250

    def work(first):
        for k in range(calls):
            found.append(ways[(first + k) % 4](x).numpy().tobytes())

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == len(found) == 4 * calls
    assert generator._counter - before == 4 * calls


def test_a_compiled_call_that_fails_draws_nothing():
    generator = ad.random.Generator(5)

    @ad.jit
    def pick(x, index):
        return x[index] + generator.uniform((2,))

    x = ad.tensor(np.arange(3.0))
    pick(x, ad.tensor([0, 1]))
    before = generator._counter
    for _ in range(2):
        with pytest.raises(IndexError):
            pick(x, ad.tensor([0, 9]))
        assert generator._counter == before
    pick(x, ad.tensor([0, 2]))
    assert generator._counter == before + 1
