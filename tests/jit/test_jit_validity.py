"""Which changes of plain Python state make `ad.jit` trace anew: those of what the function has read, and no others."""

from __future__ import annotations

import cProfile
import functools
import gc
import importlib
import logging
import sys
import threading
import time
import types
import warnings
import weakref

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, optim
from adjoint.tracer import observing

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
        self.call = ad.jit(f)

    def __call__(self, *args):
        return self.call(*args)

    @property
    def count(self):
        return len(self.call.traces)


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
    with pytest.warns(RuntimeWarning, match=r"5 times: Net\.layer has changed"):
        for _ in range(20):
            net.layer = nn.Linear(3, 2)
            predict(X)
    assert sum(map(len, predict.call.compiled.values())) == 1
    for k in range(20):
        net.scale = float(k)
        np.testing.assert_allclose(predict(X), net(ad.tensor(X)), 1e-6)
    assert sum(map(len, predict.call.compiled.values())) <= 8


def test_what_lru_cache_has_kept():
    rate = [1.0]

    @functools.lru_cache(2)
    def kept(k):
        return rate[0] + k

    step = warmed(lambda x: x * kept(0), X)
    rate[0] = 2.0
    np.testing.assert_array_equal(step(X).numpy(), X)  # traced anew, with what is kept
    for _ in range(2):
        np.testing.assert_array_equal(step(X).numpy(), X)
    kept(1)  # another one, and none is let go
    count = step.count
    np.testing.assert_array_equal(step(X).numpy(), X)
    assert step.count == count
    kept.cache_clear()
    kept(0)
    np.testing.assert_array_equal(step(X).numpy(), 2 * X)
    rate[0] = 3.0
    np.testing.assert_array_equal(step(X).numpy(), 2 * X)
    kept(1), kept(2)  # which push the first one out
    np.testing.assert_array_equal(step(X).numpy(), 3 * X)


def test_methods_of_our_classes_that_are_replaced(monkeypatch):
    layer = nn.Linear(3, 2)
    optimizer, weight = optim.SGD([ad.variable(np.ones(2, "f4"))], lr=0.5), layer.weight
    parameter = optimizer.param_groups[0]["params"][0]

    @ad.jit
    def step(x):
        optimizer.zero_grad()
        parameter.sum().backward()
        optimizer.step()
        return layer(x)

    plain = step(X)
    monkeypatch.setattr(optim.SGD, "update", lambda self, parameter, gradient, state, group: parameter - 4 * gradient)
    monkeypatch.setattr(nn.Linear, "forward", lambda self, x: x @ self.weight.T * 0)
    assert not step(X).numpy().any() and parameter.tolist() == [-3.5, -3.5]
    monkeypatch.undo()
    np.testing.assert_array_equal(step(X).numpy(), plain.numpy())
    assert parameter.tolist() == [-4.0, -4.0] and layer.weight is weight


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
    @ad.jit
    def f(d):
        (key,) = d
        while isinstance(key, tuple):
            key = key[0]
        return d[one] * {int: 1, bool: 2, float: 3, np.int64: 4}[type(key)]

    for key in (one, other, other, one, one, other):
        kind = key[0] if isinstance(key, tuple) else key
        scale = {int: 1, bool: 2, float: 3, np.int64: 4}[type(kind)]
        assert f({key: ad.tensor(2.0)}).item() == 2 * scale
    assert len(f.traces) == 2
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


# How often it is traced, and why ------------------------------------------------------------------------------------------


def test_traces_say_why_and_where():
    scale = [2.0]
    net = Net()
    f = ad.jit(lambda x, n=1: net(x) * scale[0] * n)
    f(X)
    scale[0] = 3.0
    f(X)
    net.scale = 1.5
    f(X)
    f(np.ones((5, 3), "f"))
    f(X, 2)
    f(X)
    assert [x.reason for x in f.traces] == [
        "the first call",
        "the list scale has changed",
        "Net.scale has changed",
        "argument 0 is an array float32[5, 3] and was an array float32[2, 3]",
        "arguments in another structure",
    ]
    assert all("test_jit_validity.py:" in x.line for x in f.traces)


def test_who_is_traced_again_and_again_is_told_once():
    config = {"rate": 0.1}
    f = ad.jit(lambda x: x * config["rate"])
    with pytest.warns(RuntimeWarning) as found:
        for k in range(12):
            config["rate"] = 0.1 * k
            assert f(X).numpy()[0, 0] == pytest.approx(0.1 * k)
    (warning,) = found
    assert "5 times: config['rate'] has changed" in str(warning.message)
    assert warning.filename == __file__ and f"{__file__}:{warning.lineno}" in str(warning.message)
    assert len(f.traces) == 12


def test_one_tensor_for_several_arguments():
    w = ad.variable(np.ones(3))

    @ad.jit
    def step(x, y, rest):
        w.data = w + (x * y).sum() * 0.0
        return x * 2.0 + y + rest["x"]

    a, b = ad.tensor([1.0, 2.0, 3.0], dtype="float64"), ad.tensor([5.0, 5.0, 5.0], dtype="float64")
    for _ in range(3):
        for x, y, z in ((a, a, a), (a, b, a), (b, b, a), (a, b, b), (ad.tensor(a), a, b)):
            np.testing.assert_array_equal(step(x, y, {"x": z}), x.numpy() * 2 + y.numpy() + z.numpy())
    assert len(step.traces) == 5
    assert any(x.reason.startswith("argument 1 is the same tensor as argument 0") for x in step.traces)

    @ad.jit
    def both(p, q):
        p += 1.0
        q *= 2.0
        return p

    for x, y in ((a, a), (a, b), (a, a)):
        before, other = x.numpy().copy(), y.numpy().copy()
        assert both(x, y) is x
        np.testing.assert_array_equal(x, (before + 1) * 2 if x is y else before + 1)
        np.testing.assert_array_equal(y, x if x is y else other * 2)
    assert len(both.traces) == 2


def test_a_tensor_that_is_captured_too_costs_no_new_trace():
    w = ad.variable(3.0)
    f = ad.jit(lambda v: (v * w).backward())
    for _ in range(4):
        w.grad = None
        f(w)
        assert w.grad.item() == 6
    assert len(f.traces) == 1


# Arrays, threads, profilers ---------------------------------------------------------------------------------------------------


def test_large_arrays_are_read_only_as_long_as_somebody_has_read_them():
    array = np.ones(100_000)
    view = array[::2]
    f = ad.jit(lambda x: x * view.mean())
    assert f(X).numpy()[0, 0] == 1
    for a in (array, view):
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 2.0
    del f
    gc.collect()
    array[0] = 2.0
    view[1] = 3.0
    failing = ad.jit(lambda: array.mean() + undefined_name)  # noqa: F821
    with pytest.raises(NameError):
        failing()
    array[0] = 3.0
    given = np.ones(100_000)
    total = ad.jit(lambda x: x.sum())
    total(given)
    given[0] = 5.0
    assert total(given).item() == 100_004


def test_arrays_in_memory_of_others():
    buffer = bytearray(8 * 100_000)
    array = np.frombuffer(buffer)
    f = ad.jit(lambda x: x * array.mean())
    with pytest.raises(RuntimeError, match=r"the array array of 800000 bytes lies in memory.*test_jit_validity"):
        f(X)
    fixed = np.frombuffer(bytes(buffer))
    assert ad.jit(lambda x: x * fixed.mean())(X).numpy()[0, 0] == 0


def test_too_much_to_compare():
    numbers = list(range(200_000))
    with pytest.raises(RuntimeError, match=r"numbers holds 200000 elements.*tuple"):
        ad.jit(lambda x: x * len(numbers))(X)
    fixed = tuple(numbers)
    assert ad.jit(lambda x: x * len(fixed))(X).numpy()[0, 0] == 200_000
    arrays = [np.ones(1) for _ in range(6000)]
    with pytest.raises(RuntimeError, match=r"reaches more than 5000 things that may change, arrays\[\d+\]"):
        ad.jit(lambda x: x * len(arrays))(X)


def test_threads_see_changes_that_were_made_before():
    state = {"n": [0.0]}
    f = ad.jit(lambda: X[0, 0] * state["n"][0] + ad.tensor(0.0))
    wrong, stop = [], threading.Event()

    def work():
        while not stop.is_set():
            before = state["n"][0]
            found = f().item()
            if not before <= found <= state["n"][0]:
                wrong.append((before, found, state["n"][0]))

    threads = [threading.Thread(target=work) for _ in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for thread in threads:
            thread.start()
        try:
            for k in range(60):
                state["n"][0] = float(k)
                assert f().item() == k
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    assert wrong == []


def test_a_profiler_goes_on_after_a_trace():
    heard = []

    def listen(frame, event, argument):
        heard.append(event)

    sys.setprofile(listen)
    try:
        ad.jit(lambda x: x * 2)(X)
        kept = sys.getprofile()
    finally:
        sys.setprofile(None)
    assert kept is listen and heard
    profiler = cProfile.Profile()
    profiler.enable()
    ad.jit(lambda x: x * 3)(X)
    sorted([2, 1])
    profiler.disable()
    assert any("sorted" in str(entry.code) for entry in profiler.getstats())


def test_what_is_refused_stays_refused_where_the_function_catches_it():
    def f(x):
        try:
            return x * time.time()
        except RuntimeError:
            return x

    with pytest.raises(RuntimeError, match=r"f: time\.time gives something else in each call.*test_jit_validity"):
        ad.jit(f)(X)


def test_logging_and_printing_are_done_while_tracing(capsys):
    def f(x):
        print("traced")
        logging.getLogger("adjoint.test").info("traced")
        return x * 2

    f = ad.jit(f)
    assert f(X).numpy()[0, 0] == f(X).numpy()[0, 0] == 2
    assert capsys.readouterr().out == "traced\n"


def test_what_a_refused_function_has_changed_is_undone():
    history, table, members, many = [], {"n": 0}, {1}, list(range(20))
    holder = types.SimpleNamespace(n=0)
    count = 0

    def f(x):
        nonlocal count
        history.append(x * 2)
        table["n"] += 1
        table["last"] = x
        members.add(x.shape)
        many[3:5] = [x]
        holder.n += 1
        holder.new = x
        count += 1
        return x

    jitted = ad.jit(f)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="changes while the function is traced"):
            jitted(X)
    assert (history, table, members, many) == ([], {"n": 0}, {1}, list(range(20)))
    assert vars(holder) == {"n": 0} and count == 0


def test_a_walk_that_reads_attributes_of_what_it_has_seen() -> None:
    """Reading them is noted, and leads to more."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x):
            return nn.functional.relu(self.layer(x)).sum()

    model = Model()
    optimizer = optim.SGD(model.parameters(), lr=0.1)

    @ad.jit
    def step(x):
        loss = model(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    first, second = (step(ad.tensor([1.0, 2.0, 3.0])).item() for _ in range(2))
    assert second < first or first == 0


def listens_after(call):
    """Whether a trace hears what follows a call: reading a clock is refused."""
    with pytest.raises(RuntimeError, match=r"time\.time gives something else"):
        ad.jit(lambda x: (call(x), x * time.time())[1])(X)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x * 2 + x[0, 0] - -x,
        lambda x: ad.stack([x, x])[..., 0].sum(axis=0, keepdims=True),
        lambda x: ad.concat((x, np.ones(x.shape)), axis=-1).reshape(-1),
        lambda x: ad.where(x > 0, x, 0.0) @ x.T,
        lambda x: ad.softmax(x, axis=-1).max(),
        lambda x: ad.nn.functional.relu(x),
        lambda x: nn.LayerNorm(x.shape[-1])(x),
        lambda x: ad.linalg.norm(x),
        lambda x: ad.value_and_grad(lambda x: (x * x).sum())(x),
        lambda x: ad.vmap(lambda row: row.sum())(x),
        lambda x: ad.scan(lambda c, r: (c + r, c), x[0], x),
    ],
)
def test_a_trace_listens_again_after_an_operation(call):
    listens_after(call)


def test_a_trace_listens_to_what_an_operation_calls():
    class Measured:
        def __array__(self, dtype=None, copy=None):
            return np.full(X.shape, time.time())

    for f in (lambda x: x + Measured(), lambda x: ad.stack([x, Measured()]), lambda x: ad.maximum(x, Measured())):
        with pytest.raises(RuntimeError, match=r"time\.time gives something else"):
            ad.jit(f)(X)


def test_a_trace_listens_where_an_error_is_caught():
    def f(x):
        try:
            return x + ad.zeros((7, 7, 7))
        except ValueError:
            return x * time.time()

    with pytest.raises(RuntimeError, match=r"time\.time gives something else"):
        ad.jit(f)(X)
    kept = []

    def g(x):
        try:
            x + ad.zeros((7, 7, 7))
        except ValueError as error:
            kept.append(error)  # and its frames with it

    with pytest.raises(RuntimeError, match="kept"):
        ad.jit(lambda x: (g(x), x * 2)[1])(X)


class Timed(nn.Linear):
    def forward(self, x):
        return super().forward(x) * time.time()


def hooked():
    layer = nn.Linear(3, 2)
    layer.register_forward_hook(lambda module, args, output: output * time.time())
    return layer


def with_forward_of_its_own():
    layer = nn.Linear(3, 2)
    layer.forward = lambda x: x * time.time()
    return layer


@pytest.mark.parametrize(
    "made", [lambda: Timed(3, 2), hooked, with_forward_of_its_own, lambda: nn.Sequential(Timed(3, 2))]
)
def test_a_trace_listens_to_the_users_code_in_a_layer(made):
    layer = made()
    with pytest.raises(RuntimeError, match=r"time\.time gives something else"):
        ad.jit(lambda x: layer(x))(np.ones((1, 3), "f"))


def test_a_trace_listens_to_what_the_user_has_put_in_a_layers_function(monkeypatch):
    layer = nn.Linear(3, 2)
    monkeypatch.setattr(nn.functional, "linear", lambda x, w, b: x * time.time())
    with pytest.raises(RuntimeError, match=r"time\.time gives something else"):
        ad.jit(lambda x: layer(x))(np.ones((1, 3), "f"))


@pytest.mark.skipif(not observing.CAN_PAUSE, reason="exchanging a listener costs more than listening")
def test_a_plain_layer_is_not_listened_to(monkeypatch):
    layer, heard = nn.Linear(3, 2), []
    enter = observing.Observer._enter
    monkeypatch.setattr(
        observing.Observer, "_enter", lambda self, frame, code: (heard.append(code), enter(self, frame, code))[1]
    )
    f = ad.jit(lambda x: layer(x))
    f(np.ones((1, 3), "f"))
    assert nn.Module.__call__.__code__ in heard and nn.Linear.forward.__code__ not in heard
    layer.weight.data = layer.weight * 2  # what it reads is noted all the same
    layer.bias = None
    np.testing.assert_allclose(f(np.ones((1, 3), "f")).numpy(), layer(ad.ones((1, 3))).numpy(), rtol=1e-6)


def test_rules_of_the_users_are_listened_to():
    @ad.custom_vjp
    def square(x):
        return x * x

    square.def_vjp(lambda x: (x * x, x), lambda x, u: (2 * x * u * time.time(),))
    with pytest.raises(RuntimeError, match=r"time\.time gives something else"):
        ad.jit(ad.grad(lambda x: square(x).sum()))(X)


def test_a_deep_network_is_looked_at_layer_by_layer() -> None:
    """The state of many layers is compared together; what changes in one of them counts, and no more than it did."""

    class Layer(nn.Module):
        def __init__(self, k: int) -> None:
            super().__init__()
            self.kind, self.factor = ("double", "triple")[k % 2], 1 + k % 3
            self.weight = nn.Parameter(ad.ones(2))

        def forward(self, x: ad.Tensor) -> ad.Tensor:
            return x * self.weight + (self.factor if self.kind == "double" else -self.factor)

    model = nn.Sequential(*[Layer(k) for k in range(60)])
    run = ad.jit(lambda x: model(x))
    x = ad.tensor([1.0, 2.0])

    def agree(traces: int) -> None:
        assert run(x).tolist() == model(x).tolist() and len(run.traces) == traces

    with ad.no_grad():
        agree(1)
        agree(1)
        model[37].kind = "triple" if model[37].kind == "double" else "double"
        agree(2)
        model[58].factor = 10
        agree(3)
        model[58].factor = int("1" + "0")  # an equal number
        agree(3)
        model[3].weight = nn.Parameter(ad.full(2, 3.0))
        agree(4)


def test_another_tensor_in_a_buffers_place_is_told_what_to_write():
    class Scaled(ad.nn.Module):
        def __init__(self, write):
            super().__init__()
            self.register_buffer("scale", ad.ones(2))
            self.write = write

        def forward(self, x):
            self.write(self)
            return x * self.scale

    def rebind(m):
        m.scale = m.scale * 1.5

    def in_place(m):
        m.scale *= 1.5

    def by_data(m):
        m.scale.data = m.scale * 1.5

    with pytest.raises(RuntimeError, match=r"Scaled.scale changes while .*`self.scale.data = ...`, or in place"):
        ad.jit(Scaled(rebind))(ad.ones(2))
    for write in (in_place, by_data):
        f = ad.jit(Scaled(write))
        assert [f(ad.ones(2)).tolist()[0] for _ in range(3)] == [1.5, 2.25, 3.375]


def test_an_attribute_that_hides_that_of_the_class_of_a_class() -> None:
    class Kinds(type):
        rate = 2.0

    class Base(metaclass=Kinds):
        pass

    class Model(Base):
        pass

    def f(x: ad.Tensor) -> ad.Tensor:
        return x * Model.rate  # type: ignore[attr-defined]

    jitted, x = ad.jit(f), ad.tensor([1.0, 2.0])
    for owner, rate in ((None, 2.0), (Kinds, 3.0), (Base, 4.0), (Model, 5.0)):
        if owner is not None:
            owner.rate = rate  # type: ignore[attr-defined]
        assert jitted(x).tolist() == [rate, 2 * rate]
    for owner, rate in ((Model, 4.0), (Base, 3.0)):
        del owner.rate  # type: ignore[attr-defined]
        assert jitted(x).tolist() == [rate, 2 * rate]


def test_modules_that_a_function_looks_up_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = types.ModuleType("settings_by_name")
    monkeypatch.setitem(sys.modules, "settings_by_name", settings)
    name = "settings_by_name"
    for f in (
        lambda x: x * importlib.import_module("settings_by_name").rate,
        lambda x: x * importlib.import_module("settings_" + "by_name").rates["first"],
        lambda x: x * __import__("settings_by_name").rate,
        lambda x: x * sys.modules[name].double(0.5 * sys.modules[name].rate),
    ):
        settings.rate, settings.rates, settings.double = 2.0, {"first": 2.0}, lambda v: 2 * v  # type: ignore[attr-defined]
        jitted, x = ad.jit(f), ad.tensor([1.0, 2.0])
        assert jitted(x).tolist() == jitted(x).tolist() == [2, 4]
        settings.rate = settings.rates["first"] = 3.0  # type: ignore[attr-defined]
        assert jitted(x).tolist() == jitted(x).tolist() == [3, 6]


class Held(nn.Module):
    def __init__(self, held):
        super().__init__()
        self.held = held

    def forward(self, x):
        return x * self.held.scale[0] if hasattr(self.held, "scale") else x + self.held.sum()


def test_what_stands_for_a_tensor_tells_nothing_of_others_of_its_class():
    """Attributes are guarded like the first one of their name and class, but not of what passes for another object."""
    tensor, other = ad.tensor([1.0, 2.0]), type("Other", (), {})()
    other.scale = [2.0]
    one, two = Held(weakref.proxy(tensor)), Held(weakref.proxy(other))
    assert ad.jit(lambda x: one(x))(ad.tensor([1.0])).tolist() == [4.0]
    with pytest.raises(RuntimeError, match=r"Held\.held is a ProxyType"):
        ad.jit(lambda x: two(one(x)))(ad.tensor([1.0]))


def test_attributes_of_many_layers_of_a_kind_are_each_guarded():
    layers = [nn.LayerNorm(2) for _ in range(4)]
    step = ad.jit(lambda x: [layer(x) for layer in layers])
    x = ad.tensor([0.0, 1e-3])
    before = [y.tolist() for y in step(x)]
    for k, layer in enumerate(layers):
        layer.eps = 1.0 + k
        after = [y.tolist() for y in step(x)]
        assert after == [layer(x).tolist() for layer in layers]
        assert after[k] != before[k] and after[k + 1 :] == before[k + 1 :]


def test_what_the_forward_rule_alone_reads_is_guarded():
    """Our code calls a custom function's rules, so that no code of the user's mentions them."""
    held = {"scale": ad.tensor([2.0])}
    times = ad.custom_vjp(lambda x: x)
    times.def_vjp(lambda x: (x * held["scale"], None), lambda _, g: (g * held["scale"],))
    step = ad.jit(ad.value_and_grad(lambda x: times(x).sum()))
    x = ad.tensor([3.0])
    assert [y.tolist() for y in step(x)] == [6.0, [2.0]]
    held["scale"] = ad.tensor([5.0])
    assert [y.tolist() for y in step(x)] == [15.0, [5.0]]
    times.def_vjp(lambda x: (x, None), lambda _, g: (g,))
    assert [y.tolist() for y in step(x)] == [3.0, [1.0]]


def test_what_a_vectorized_function_reads_is_guarded():
    held = {"scale": ad.tensor(2.0)}
    times = ad.vectorize(lambda a: a * held["scale"])
    step = ad.jit(lambda x: times(x))
    assert step(ad.tensor([3.0])).tolist() == [6.0]
    held["scale"] = ad.tensor(5.0)
    assert step(ad.tensor([3.0])).tolist() == [15.0]


def test_parameters_of_distributions_are_guarded():
    turned = ad.stats.Affine(1.0, 2.0)
    held = ad.stats.Transformed(ad.stats.Normal(0.0, 1.0), turned)
    density = ad.jit(lambda x: held.log_prob(x))
    x = ad.tensor(1.0)
    assert density(x).item() == held.log_prob(x).item()
    held.base.loc = ad.tensor(3.0)
    assert density(x).item() == held.log_prob(x).item()
    turned.scale = ad.tensor(7.0)
    assert density(x).item() == held.log_prob(x).item()
    held.base = ad.stats.Normal(5.0, 1.0)
    assert density(x).item() == held.log_prob(x).item()
