"""How a jitted function's call gets into native code: as a function of Python's own, or by ctypes where there is none."""

from __future__ import annotations

import copy
import sys
from collections import OrderedDict, UserDict

import numpy as np
import pytest

import adjoint as ad
from adjoint.execution import is_ours
from adjoint.execution.native import frames
from adjoint.execution.tiers import tiers
from adjoint.runtime import entries
from adjoint.tracer import compiled, guards, write_results
from adjoint.tracer.write_step import UNUSUAL
from support import in_threads

X = np.arange(6, dtype="f").reshape(2, 3)


@pytest.fixture(params=["entries", "ctypes", "lists"])
def way(request, monkeypatch):
    """How a call gets there, or that its names are gone through in lists."""
    if request.param == "lists":
        monkeypatch.setattr(write_results, "MANY", 0)
        monkeypatch.setattr(compiled, "CALLS_OF_MANY", 1)
    if request.param == "ctypes":
        monkeypatch.setattr(entries, "made", lambda *given: None)
    elif frames.LAYOUT is None:
        pytest.skip("an interpreter whose objects have another layout")
    return request.param


def station_of(f):
    (trace,) = [trace for found in f.compiled.values() for trace in found]
    return trace.step[1]


def test_which_way_a_call_goes(way):
    f = ad.jit(lambda x: x * x + 1)
    f(X)
    assert (station_of(f).enter is None) is (way == "ctypes")
    np.testing.assert_array_equal(f(X + 1).numpy(), (X + 1) ** 2 + 1)


def test_training_both_ways(way):
    model = ad.nn.Linear(3, 2)
    model.weight.data, model.bias.data = ad.tensor(X / 10), ad.tensor(np.zeros(2, "f"))
    optimizer = ad.optim.Adam(model.parameters(), lr=0.1)

    @ad.jit
    def step(x, rate):
        loss = (model(x) ** 2).sum() * rate
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    losses = [step(X, rate).item() for rate in (1.0, 1.0, 0.5, -0.0, 0.0, 1.0)]
    assert losses[0] > losses[1] > losses[5] and losses[3:5] == [0, 0]
    assert len(step.traces) == 1
    optimizer.lr = 0.0
    before = model.weight.numpy().copy()
    step(X, 1.0)
    np.testing.assert_array_equal(model.weight.numpy(), before)


def test_an_index_out_of_bounds_raises_and_changes_nothing(way):
    table, total = ad.tensor(np.arange(4.0)), ad.variable(0.0)

    @ad.jit
    def take(k):
        total.data += 1.0
        return table[k] * 2

    for _ in range(2):
        assert take(np.array([1, 2])).tolist() == [2, 4]
    for _ in range(2):
        assert take._way[0](np.array([1, 4])) is UNUSUAL
        with pytest.raises(IndexError, match=r"index 4 is out of bounds .*test_jit_entries"):
            take(np.array([1, 4]))
    assert total.item() == 2 and take(np.array([3, 0])).tolist() == [6, 0]


def test_draws_are_given_back_where_a_call_fails(way):
    generator, table = ad.random.Generator(0), ad.tensor(np.arange(4.0))

    @ad.jit
    def noisy(k):
        return table[k] + generator.uniform((2,))

    first = noisy(np.array([0, 0])).numpy()
    with pytest.raises(IndexError):
        noisy(np.array([0, 4]))
    second = noisy(np.array([0, 0])).numpy()
    other = ad.random.Generator(0)
    np.testing.assert_array_equal(first, other.uniform((2,)).numpy())
    np.testing.assert_array_equal(second, other.uniform((2,)).numpy())


def test_a_program_that_another_thread_runs_is_not_entered():
    f = ad.jit(lambda x: x * 3)
    f(X)
    station = station_of(f)
    if station.enter is None:
        pytest.skip("an interpreter whose objects have another layout")
    station.busy.value = 1
    assert f._way[0](X) is UNUSUAL and station.busy.value == 1
    np.testing.assert_array_equal(f(X).numpy(), X * 3)  # the general way
    station.busy.value = 0
    assert f._way[0](X) is not UNUSUAL and station.busy.value == 0


def test_threads_that_call_at_once(way):
    w = ad.tensor(np.eye(64, dtype="f"))
    f = ad.jit(lambda x: ad.tanh(x @ w) @ w)  # lets others run meanwhile
    wrong: list[int] = []

    def call(k: int) -> None:
        x = np.full((64, 64), k / 10, "f")
        wanted = np.tanh(x)
        wrong.extend([k for _ in range(200) if not np.allclose(f(x).numpy(), wanted, 1e-5)])

    f(np.zeros((64, 64), "f"))
    in_threads(call, 4)
    assert not wrong


def test_calls_count_references_right(way):
    class Scaled:
        one, two, three, four, by = 1, 2, 3, 4, 2.0

    scaled = Scaled()
    scaled.__dict__.update(one=1, two=2, three=3, four=4, by=2.0)
    f = ad.jit(lambda x: x * scaled.by * scaled.one * scaled.two * scaled.three * scaled.four)
    f(X), f(X)
    before = [sys.getrefcount(x) for x in (X, None, True, False)]
    for _ in range(5000):
        f(X)
    after = [sys.getrefcount(x) for x in (X, None, True, False)]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 1000


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_a_step_with_many_names_is_written_in_lists(momentum):
    layers = [ad.nn.Linear(3, 3) for _ in range(30)]
    model = ad.nn.Sequential(*layers)
    other = copy.deepcopy(model)

    def stepping(model):
        optimizer = ad.optim.SGD(model.parameters(), lr=0.1, momentum=momentum)

        def step(x):
            loss = (model(x) ** 2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        return step

    step, kept = ad.jit(stepping(model)), None
    plain = stepping(other)
    for k in range(8):
        written = step._way is not None
        assert written is (k >= compiled.CALLS_OF_MANY and tiers.backend != "numpy")
        if k == 6:  # of one name, somebody has the value
            kept = layers[3].weight.detach(), layers[3].weight.numpy().copy()
        np.testing.assert_allclose(step(X).item(), plain(X).item(), rtol=1e-5)
    np.testing.assert_array_equal(kept[0].numpy(), kept[1])
    assert len(step.traces) == 1
    for x, y in zip(model.parameters(), other.parameters(), strict=True):
        np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-4, atol=1e-6)


class Held(ad.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.third, self.power, self.word = 1.0, 2.0, 300, 2, "plus"

    def forward(self, x):
        x = x * self.first + self.second * self.third
        return x**self.power if self.word == "plus" else -x


def test_entries_of_dictionaries_are_looked_up(way):
    model = Held()
    f = ad.jit(model)
    assert len([guard for guard in traced_guards(f, X) if guard.is_entry]) >= guards.FEW
    np.testing.assert_array_equal(f(X).numpy(), (X + 600) ** 2)
    vars(model).update(first=float("1"), third=int("300"), word="".join(["pl", "us"]))  # equal, and other objects
    assert f._way[0](X) is not UNUSUAL
    vars(model)["third"] = 300.0  # equal, of another class
    assert f._way[0](X) is UNUSUAL
    np.testing.assert_array_equal(f(X).numpy(), (X + 600) ** 2)
    vars(model)["word"] = "minus"
    np.testing.assert_array_equal(f(X).numpy(), -(X + 600))
    vars(model)["second"] = -0.0
    np.testing.assert_array_equal(f(X).numpy(), -X)
    vars(model)["second"] = 0.0
    assert f._way[0](X) is UNUSUAL
    f(X)
    del vars(model)["word"]
    assert f._way[0](X) is UNUSUAL
    with pytest.raises(AttributeError, match="word"):
        f(X)
    model.word = "plus"
    np.testing.assert_array_equal(f(X).numpy(), X**2)


def scaled_by(factor):
    def scaled(x):
        return factor * x

    def change(number):
        nonlocal factor
        factor = number

    return scaled, change


def test_many_guards_of_one_condition_are_compared_together():
    made = [scaled_by(1.0) for _ in range(guards.MANY)]
    parts = [scaled for scaled, _ in made]

    def total(x):
        return sum([part(x) for part in parts])

    f = ad.jit(total)
    conditions = [guard.condition for guard in traced_guards(f, X)]
    assert len(conditions) - len(set(conditions)) >= guards.MANY - 1
    (compiled,) = [c for found in f.compiled.values() for c in found]
    for k in (0, guards.MANY // 2, guards.MANY - 1):
        assert compiled.guards.hold()
        made[k][1](3.0)
        assert not compiled.guards.hold()
        np.testing.assert_array_equal(f(X).numpy(), total(ad.tensor(X)).numpy())
        made[k][1](1.0)
        np.testing.assert_array_equal(f(X).numpy(), total(ad.tensor(X)).numpy())
    assert len(f.traces) == 4


def traced_guards(f, x):
    f(x)
    (compiled,) = [c for found in f.compiled.values() for c in found]
    return list(compiled.guards.all.values())


class Other(dict):
    def __getitem__(self, key):
        return super().__getitem__(key) * 2


@pytest.mark.parametrize("kind", [dict, OrderedDict, UserDict, Other])
def test_entries_of_other_mappings(way, kind):
    held = kind(a=1.0, b=2.0, c=3.0, d=4.0, e=5.0)
    f = ad.jit(lambda x: x * held["a"] + held["b"] * held["c"] + held["d"] * held["e"])
    for a in (1.0, 1.0, 7.0, 1.0):
        held["a"] = a
        by = 2 if kind is Other else 1
        np.testing.assert_array_equal(f(X).numpy(), X * by * a + by * by * 26)


def test_a_key_that_cannot_be_compared_is_an_entry_that_is_gone(way):
    held = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    known = list(held.items())
    holds = frames.holding([(held, key, value) for key, value in known])
    if way == "ctypes":
        assert holds is None
        return

    class Odd:
        def __hash__(self):
            return hash("a")

        def __eq__(self, other):
            raise RuntimeError("not to be compared")

    assert holds() is True
    held.pop("a")
    assert holds() is False
    held[Odd()] = 0.0
    assert holds() is False  # and no error is left behind
    held.clear()
    held.update(known)
    assert holds() is True and frames.holding([])() is True
    held["d"] = float("4")
    assert holds() is False


def test_what_is_compared_lives_as_long_as_the_function_of_a_call(way):
    def made():
        constants = {name: float(f"1{k}") for k, name in enumerate("abcdef")}
        f = ad.jit(lambda x: sum((x * constants[name] for name in "abcdef"), 0.0))
        f(X)
        return f._way[0], sum(constants.values())

    step, total = made()  # the jitted function is gone
    for _ in range(3):
        out = step(X)
        assert out is UNUSUAL or np.array_equal(out.numpy(), X * np.float32(total))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_of_a_call(way, dtype):
    x = np.array([1.0, -2.0], dtype)
    f = ad.jit(lambda x, a, b: (x * a + b, x * b))
    for a in (2.0, 2.0, -0.0, 0.0, float("inf"), float("nan"), 1e-320, 0.1, 1e-46, 3e38):
        for b in (a, 0.5, -0.0):
            with np.errstate(all="ignore"):
                wanted = x * x.dtype.type(a) + x.dtype.type(b), x * x.dtype.type(b)
            for found, right in zip(f(x, a, b), wanted, strict=True):
                assert found.numpy().tobytes() == right.tobytes() or (
                    np.isnan(right).all() and np.isnan(found.numpy()).all()
                )
    assert len(f.traces) == 1
    if way == "entries":
        assert len(station_of(f).packs) == 1


def test_numbers_of_several_dtypes(way):
    f = ad.jit(lambda x, y, z, a: (x * a, y * a, z * a))
    x, y, z = np.ones(2, "f"), np.ones(2), np.ones(2, "F")
    for a in (2.0, 0.1, -0.0, 2.0):
        found = f(x, y, z, a)
        for part, given in zip(found, (x, y, z), strict=True):
            np.testing.assert_array_equal(part.numpy(), given * given.dtype.type(a))
    g = ad.jit(lambda x, y, a: (x * a, y * a))
    for a in (2.0, 0.1, -0.0, 2.0):
        for part, given in zip(g(x, y, a), (x, y), strict=True):
            np.testing.assert_array_equal(part.numpy(), given * given.dtype.type(a))
    if way == "entries":
        assert len(station_of(g).packs) == 2


def test_a_number_that_its_dtype_cannot_hold_is_computed_in_the_general_way():
    f = ad.jit(lambda x, a: x * a)
    f(X, 1.5)
    station = station_of(f)
    if not station.packs:
        pytest.skip("an interpreter whose objects have another layout")
    step = f._way[0]
    (pack, _) = station.packs[0]
    name = next(name for name, value in step.__globals__.items() if value == pack)

    def too_large(*numbers):
        raise OverflowError("too large")

    step.__globals__[name] = too_large
    assert step(X, 2.5) is UNUSUAL
    np.testing.assert_array_equal(f(X, 2.5).numpy(), X * 2.5)


def test_whose_memory_arrays_lie_in(way):
    large = ad.evaluate(ad.ones((1 << 16,)) * 2).node.value
    arrays = [np.zeros(3), np.ones((2, 2), "f"), large]
    strange = [np.zeros(3)[1:], np.frombuffer(bytearray(8)), np.ma.masked_array([1.0]), None, ad.tensor([1.0]).numpy()]
    strange.append(np.zeros(3))
    strange[-1].flags.writeable = False
    if way == "ctypes":
        assert frames.owned(1) is None
        return
    for count in range(4):
        assert frames.owned(count)(tuple(arrays[:count])) is True
    for x in (*arrays, *strange):
        assert frames.owned(1)((x,)) is is_ours(x)
        assert frames.owned(3)((arrays[0], x, arrays[1])) is is_ours(x)


def test_a_value_that_somebody_sees_is_not_written_over(way):
    model = ad.nn.Linear(3, 2)
    optimizer = ad.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    @ad.jit
    def step(x):
        loss = (model(x) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(4):
        before = model.weight.numpy()
        copied, node = before.copy(), model.bias.node
        bias = node.value.copy()
        step(X)
        np.testing.assert_array_equal(before, copied)
        np.testing.assert_array_equal(node.value, bias)
        assert not np.array_equal(model.weight.numpy(), copied)
    del before, node
    place = model.weight.node.value.ctypes.data
    step(X)
    assert model.weight.node.value.ctypes.data == place  # nobody saw it
