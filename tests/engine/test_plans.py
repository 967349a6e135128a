"""A structure seen before is not planned again: what is run from memory must be what was asked for now."""

from __future__ import annotations

import importlib
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.execution import single
from adjoint.execution.tiers import tiers
from adjoint.graph import PRIMITIVES
from adjoint.plan.canonical import canonicalize
from adjoint.plan.order import ordered
from adjoint.plan.plan import built
from support import double, equal

evaluation = importlib.import_module("adjoint.execution.evaluate")
X, Y = np.array([-1.0, 0.5, 2.0]), np.array([0.0, -0.5, 3.0])


def cube(lib: Any, x: Any) -> Any:
    return lib.reshape(lib.stack([x, x * 2, x * 3] * 3), (3, 3, 3))


def shared(lib: Any, x: Any, y: Any) -> Any:
    once = lib.sin(x)
    return once + once


# Groups of programs that look alike: each differs from the others in one small thing that must not be forgotten.
ALIKE: dict[str, list[Callable[[Any, Any, Any], Any]]] = {
    "a constant": [lambda lib, x, y, c=c: x * c + y for c in (0.0, -0.0, 1.0, 2.0, 2.5, -1.0, 1, True, np.inf)],
    "a constant that is compared": [lambda lib, x, y, c=c: lib.where(x > c, x, y) for c in (0.0, 0.5, 1, -1.0)],
    "an exponent": [lambda lib, x, y, p=p: (x * x + 0.5) ** p for p in (2, 2.0, 3, 1, True, 0, -1.0, 0.5, 1.5)],
    "the sign of zero": [lambda lib, x, y, c=c: lib.copysign(lib.maximum(x, c), c) for c in (0.0, -0.0)],
    "aliasing": [lambda lib, x, y: x * y, lambda lib, x, y: x * x, lambda lib, x, y: y * y, lambda lib, x, y: y * x],
    "order": [lambda lib, x, y: x - y, lambda lib, x, y: y - x, lambda lib, x, y: (x - y) - x, lambda lib, x, y: x - (y - x)],
    "an axis": [lambda lib, x, y, a=a: lib.sum(lib.reshape(lib.stack([x, y, x]), (3, 3)), axis=a) for a in (0, 1, (0, 1), None)],
    "keepdims": [lambda lib, x, y, k=k: lib.sum(lib.stack([x, y, x]), axis=0, keepdims=k) - x for k in (True, False)],
    "a slice": [lambda lib, x, y, s=s: lib.stack([x, y])[s] for s in (0, 1, -1, slice(None, None, -1), (0, 1), ..., None)],
    "an index array": [lambda lib, x, y, i=i: x[i] for i in ([0, 1], [1, 0], [0, 0], [True, False, True], [True, True, False])],
    "a permutation": [lambda lib, x, y, p=p: lib.permute_dims(cube(lib, x), p) + y for p in itertools.permutations(range(3))],
    "a shape": [lambda lib, x, y, s=s: lib.broadcast_to(x, s) * 2 for s in ((3,), (1, 3), (2, 3), (3, 3))],
    "which is the sum": [lambda lib, x, y: lib.sum(x) * y, lambda lib, x, y: x * lib.sum(y), lambda lib, x, y: lib.sum(x * y)],
    "a shift": [lambda lib, x, y, n=n: lib.roll(x, n) + y for n in (0, 1, -1, 2)],
    "sharing": [lambda lib, x, y: lib.sin(x) + lib.sin(x), shared, lambda lib, x, y: lib.sin(x) + lib.sin(y)],
}  # fmt: skip


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_programs_that_look_alike_are_not_mistaken_for_each_other(name: str, dtype: str) -> None:
    programs = ALIKE[name]
    points = [(X, Y), (Y, X), (X + 1, Y * 0.5)]
    for x, y in (*points, *points):
        x, y = x.astype(dtype), y.astype(dtype)
        for program in programs:
            with np.errstate(all="ignore"):
                expected = np.asarray(program(np, x, y))
            found = program(ad, ad.tensor(x), ad.tensor(y)).numpy()
            assert found.dtype == expected.dtype and found.shape == expected.shape
            np.testing.assert_allclose(found, expected, 1e-5 if dtype == "float32" else 1e-12)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("name", ALIKE)
def test_gradients_of_programs_that_look_alike(name: str) -> None:
    """By ``backward``, whose reverse pass is remembered, and by ``vjp``, whose reverse pass is recorded."""
    for repeat in range(3):
        for program in ALIKE[name]:
            x, y = ad.variable(X + repeat), ad.variable(Y - repeat)
            ad.sum(program(ad, x, y)).backward()
            for owner, other in ((x, 0), (y, 1)):
                out, pullback = ad.vjp(lambda *v, p=program: p(ad, *v), double(X + repeat), double(Y - repeat))
                expected = pullback(ad.ones_like(out))[other].numpy()
                found = np.zeros(3) if owner.grad is None else owner.grad.numpy()
                np.testing.assert_allclose(found, expected, 1e-12)


def test_dtypes_are_part_of_the_structure() -> None:
    for _ in range(3):
        for name in ("float32", "float64", "int64", "int8", "complex64"):
            x = ad.ones((3,), dtype=name)
            assert (x + x * 2).numpy().dtype == name
            assert ad.sum(x * 3).numpy().dtype == np.sum(np.ones(3, name)).dtype


def test_what_is_asked_for_is_part_of_the_structure() -> None:
    for repeat in range(4):
        x = double(X + repeat)
        a = ad.sin(x)
        b = a * 2
        c = b + a
        expected = np.sin(X + repeat)
        if repeat % 2:
            ad.evaluate(c, a)
        else:
            ad.evaluate(b)
        equal(b, expected * 2, 1e-12)
        equal(c, expected * 3, 1e-12)
        equal(a, expected, 1e-12)


def test_tracking_is_part_of_the_structure() -> None:
    for _ in range(3):
        for tracked in ((True, False), (False, True), (True, True)):
            x, y = (ad.tensor(array, requires_grad=flag) for array, flag in zip((X, Y), tracked, strict=True))
            ((x * y + x) ** 2).sum().backward()
            slope = 2 * (X * Y + X)
            for owner, flag, expected in ((x, tracked[0], slope * (Y + 1)), (y, tracked[1], slope * X)):
                assert (owner.grad is not None) == flag
                if flag:
                    equal(owner.grad, expected, 1e-12)


def test_a_loop_with_changing_numbers() -> None:
    w, expected = ad.variable(1.0, dtype="float64"), 1.0
    for step in range(50):
        rate = 1 / (step + 1)
        loss = (w - step) ** 2 * rate
        loss.backward()
        w.data -= 0.1 * w.grad
        w.grad = None
        expected -= 0.1 * 2 * (expected - step) * rate
    equal(w, expected, 1e-12)


def test_a_replayed_graph_keeps_the_values_it_was_recorded_with() -> None:
    w, x = ad.variable(2.0), ad.variable(3.0)
    inner = x * 2
    y = inner * w
    replay, from_inside = ad.function([x], [y]), ad.function([inner, w], [y])
    w.data -= 1.0
    equal(replay(5.0)[0], 20.0)
    equal(from_inside(7.0, 3.0)[0], 21.0)
    equal(y, 12.0)


# What hides a NaN: a result can be right only if zero times NaN was zero all along.
HIDES: dict[str, tuple[Callable[[ad.Tensor], ad.Tensor], list[float]]] = {
    "greater": (lambda g: g > -1, [1, 1]),
    "equal": (lambda g: g == 0, [1, 0]),
    "isfinite": (ad.isfinite, [1, 1]),
    "sign bit": (ad.signbit, [0, 0]),
    "logical_not": (ad.logical_not, [1, 0]),
    "power 0": (lambda g: g**0, [1, 1]),
    "power of one": (lambda g: ad.ones_like(g) ** g, [1, 1]),
    "hypot": (lambda g: ad.hypot(g + np.inf, g), [np.inf, np.inf]),
    "copysign": (lambda g: ad.copysign(ad.ones_like(g), g), [1, 1]),
    "cast": (lambda g: g.astype("int32"), [0, 4]),
    "argsort": (ad.argsort, [0, 1]),
    "where": (lambda g: ad.where(g > -1, 1.0, 2.0), [1, 1]),
    "mask": (lambda g: g[g > -1], [0, 4]),
}


@pytest.mark.parametrize("name", HIDES)
def test_a_nan_in_a_dead_branch_is_not_hidden_by_what_follows(name: str) -> None:
    hide, expected = HIDES[name]
    gradient = ad.grad(lambda x: ad.where(ad.isnan(x), 0.0, x * x).sum())
    for _ in range(3):
        equal(hide(gradient(double([np.nan, 2.0]))), expected)


def test_the_cotangent_is_an_input_of_the_plan() -> None:
    for v in (3.0, 3.0, 3.0, 5.0, 7.0):
        z = ad.variable(np.array(3 + 4j))
        ad.abs(z).backward(v)
        np.testing.assert_allclose(z.grad.numpy(), v * (0.6 + 0.8j), 1e-12)


def test_the_sign_of_an_imaginary_zero_is_part_of_the_key() -> None:
    for value, root in ((-1 + 0j, 1j),) * 3 + ((complex(-1, -0.0), -1j),):
        found = ad.sqrt(ad.full((3,), value, dtype="complex128")).numpy()
        np.testing.assert_allclose(found, np.full(3, root), 1e-12)


def test_what_somebody_holds_is_computed_each_time_anew() -> None:
    x = ad.variable(X)
    for k in range(12):
        inner = ad.sin(x)
        other = inner * 2.0
        y = other + inner
        held = {0: None, 1: inner, 2: other}[k % 3]
        del inner, other
        ad.evaluate(y)
        np.testing.assert_allclose(y.numpy(), 3 * np.sin(X), 1e-6)
        if held is not None:
            assert held.node.value is not None, "its value came with the evaluation"
            np.testing.assert_allclose(held.numpy(), (k % 3) * np.sin(X), 1e-6)
        del held, y


def test_a_reverse_pass_found_after_what_holds_a_value_already() -> None:
    for _ in range(4):
        x = ad.variable(X)
        inner = ad.sin(x)
        inner.numpy()
        loss = (inner * inner).sum()
        cut = inner.detach() * 2.0  # reads the held value before the walk meets the reverse pass
        loss.backward()
        assert x.grad is not None
        ad.evaluate(cut, x.grad, loss)
        np.testing.assert_allclose(x.grad.numpy(), 2 * np.sin(X) * np.cos(X), 1e-6)
        np.testing.assert_allclose(cut.numpy(), 2 * np.sin(X), 1e-6)


def test_graphs_that_share_nodes_are_numbered_in_turn() -> None:
    x = ad.variable(X)
    for _ in range(3):
        shared = ad.exp(x)
        first, second = shared * 2.0, shared + ad.cos(shared)
        for one, other in ((first, second), (second, first)):
            c = canonicalize([one.node])
            d = canonicalize([other.node, one.node])
            assert [c.order[c.number[n]] is n for n in c.order] == [True] * len(c.order)
            assert len(set(d.order)) == len(d.order) and set(c.order) < set(d.order)
            assert [n in d for n in d.order] == [True] * len(d.order) and shared.node in d
        np.testing.assert_allclose(first.numpy(), 2 * np.exp(X), 1e-6)
        np.testing.assert_allclose(second.numpy(), np.exp(X) + np.cos(np.exp(X)), 1e-6)


def met(monkeypatch: pytest.MonkeyPatch, act: Callable[[], Any]) -> None:
    """Act once in the middle of the next numbering of a graph with a slice in it, as a finalizer may."""
    acts = [act]

    def key(attributes: Any) -> Any:
        if acts:
            acts.pop()()
        return attributes

    monkeypatch.setattr(PRIMITIVES["slice"], "key", key)


def test_a_leaf_that_a_finalizer_numbers_meanwhile_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def formula(a: ad.Tensor, b: ad.Tensor, c: ad.Tensor) -> ad.Tensor:
        return a * 3.25 + (b[1:] + 7.5) * (c - b * 0.125).sum()

    x, y = ad.variable([1.0]), ad.variable([2.0, 4.0])
    for _ in range(3):
        aside = sum([ad.tensor(float(k)) * 1.5 for k in range(5)], ad.tensor(1.0)) * (x + 1)
        with monkeypatch.context() as patch:
            met(patch, aside.numpy)
            assert formula(x, y, x).item() == 3.25 + 11.5 * 1.25
    for _ in range(3):
        assert formula(x, y, ad.variable([3.0])).item() == 3.25 + 11.5 * 5.25


@pytest.mark.parametrize("function", ["reference_counts", "key_of"])
def test_values_that_a_finalizer_computes_meanwhile_are_no_constants(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = importlib.import_module("adjoint.execution.evaluate")
    plain = getattr(evaluate, function)

    def formula(a: ad.Tensor) -> tuple[ad.Tensor, ad.Tensor]:
        inner = a * 2.75
        return inner, ad.exp(inner + 1.5) - inner

    for k in range(4):
        inner, y = formula(ad.tensor(0.5))
        acts = [inner.numpy] if k < 2 else []

        def meanwhile(x: Any, acts: Any = acts) -> Any:
            found = plain(x)
            if acts:
                acts.pop()()
            return found

        with monkeypatch.context() as patch:
            patch.setattr(evaluate, function, meanwhile)
            assert y.item() == pytest.approx(np.exp(2.875) - 1.375)
    for k in range(4):
        assert formula(ad.tensor(float(k)))[1].item() == pytest.approx(np.exp(2.75 * k + 1.5) - 2.75 * k)


def test_of_two_evaluations_at_once_the_first_value_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate = importlib.import_module("adjoint.execution.evaluate")
    prepare = evaluate._prepare
    for _ in range(3):  # interpreted, and by plan
        x = ad.variable(X)
        y = ad.exp(x) * ad.sin(x)
        faster: list[Any] = []

        def prepared(c: Any, y: ad.Tensor = y, faster: list[Any] = faster) -> Any:
            work = prepare(c)

            def compute() -> list[Any]:
                if not faster:
                    faster.append(None)
                    y.numpy()
                    faster[0] = y.node.value
                found: list[Any] = work.compute()
                return found

            return work._replace(compute=compute)

        with monkeypatch.context() as patch:
            patch.setattr(evaluate, "_prepare", prepared)
            ad.evaluate(y)
        assert y.node.value is faster[0]


def test_host_code_may_come_back_to_its_own_plan() -> None:
    def before(n: Any) -> Any:
        return np.array(1.0 if n <= 1 else factorial(ad.tensor(n - 1)).item())

    def factorial(n: ad.Tensor) -> ad.Tensor:
        return n * ad.host_call(before, n, shape=(), dtype=ad.float64)

    def later() -> None:
        found.extend([factorial(ad.tensor(np.float64(n))).item() for n in (5, 5, 6)])

    found: list[float] = []
    thread = threading.Thread(target=later, daemon=True)
    thread.start()
    thread.join(20)
    assert found == [120, 120, 720]


def test_a_finalizer_that_evaluates_the_same_structure_doesnt_wait_for_itself() -> None:
    code = """
import gc
import adjoint as ad
from adjoint.execution import numpy_programs

def value(k):
    y = ad.tensor([1.0, 2.0]) * k
    for _ in range(20):
        y = ad.sin(y) + k
    return y.sum().item()

class Loud:
    def __init__(self):
        self.me = self
    def __del__(self):
        print(value(0.25) == expected)

def busy(self, *arguments):  # so that a collection falls due in the middle of a run
    fill(self, *arguments)
    lists = [[] for _ in range(3000)]

expected = [value(0.25) for _ in range(20)][-1]
fill, numpy_programs.Bound.fill = numpy_programs.Bound.fill, busy
gc.disable()
Loud()
gc.enable()
value(0.5)
gc.collect()
"""
    environment = {**os.environ, "ADJOINT_BACKEND": "numpy"}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.returncode, result.stdout.strip()) == (0, "True"), result.stderr


def test_gradients_of_weights_come_as_reverse_mode_has_them() -> None:
    """Asked for in the order of the layers, each is computed beside the cotangent of its layer, the last layer's first; and a new
    weight after all that reads the old one, so that it can lie there."""
    generator = np.random.default_rng(0)
    weights = [ad.variable(generator.normal(size=(40, 40)), name=f"w{k}") for k in range(6)]
    y = ad.tensor(generator.normal(size=(30, 40)))
    for w in weights:
        y = ad.tanh(y @ w)
    gradients = ad.gradients((y * y).sum(), weights)
    updated = [w.detach() - 0.1 * g for w, g in zip(weights, gradients, strict=True)]
    c = canonicalize([x.node for x in [*gradients, *updated]])
    plan, builder = built(c, list(range(c.roots)), False)
    slots = builder.slot_of
    place = {step.output: k for k, step in enumerate(plan.steps)}
    products = [k for k, step in enumerate(plan.steps) if step.op.name == "matmul"]
    at = [place[slots[x.node]] for x in gradients]
    assert at == sorted(at, reverse=True)
    for mine, before in itertools.pairwise(at):  # nothing but the cotangent of the layer between
        assert sum(before < k < mine for k in products) <= 1
    known = {step.output: step for step in plan.steps}
    for w, new in zip(weights, updated, strict=True):
        leaf = slots[w.node]
        views = {slot for slot, step in known.items() if step.op.view and step.inputs == (leaf,)} | {leaf}
        readers = [k for k, step in enumerate(plan.steps) if step.op.name == "matmul" and views & set(step.inputs)]
        assert len(readers) in (1, 2) and place[slots[new.node]] > max(readers)
    found = ad.evaluate(*gradients)
    alone = [ad.gradients((y * y).sum(), [w])[0].numpy() for w in weights]
    for x, expected in zip(found, alone, strict=True):
        np.testing.assert_array_equal(x.numpy(), expected)


class Counted(list[Any]):
    """A list that counts how often it is read."""

    reads = 0

    def __getitem__(self, place: Any) -> Any:
        self.reads += 1
        return super().__getitem__(place)


def test_the_order_of_many_results_of_one_chain_is_found_by_looking_at_each_once() -> None:
    """Asked for from the last to the first, each is made element by element of all before it."""

    def reads(count: int) -> int:
        x = ad.tensor(np.ones((40, 40)))
        y, results = x, []
        for _ in range(count):
            y = ad.sin(y) * x
            results.append(y)
        c = canonicalize([result.node for result in reversed(results)])
        plan, _ = built(c, list(range(c.roots)), False)
        types = Counted(plan.types)
        found = ordered(plan.steps, [slot for _, _, slot, _ in plan.outputs], types, len(plan.leaf_types))
        assert len(found) == 2 * count
        return types.reads

    assert reads(200) <= 2 * reads(100)


SINGLE = {
    "a number beside it": lambda x: x * 3.0,
    "elementwise": lambda x: ad.exp(x),
    "two tensors": lambda x: ad.maximum(x, ad.tensor([2.0, 0.0, 5.0])),
    "a cast": lambda x: x.astype("float64"),
    "a view": lambda x: ad.reshape(x, (3, 1)),
    "a slice": lambda x: x[1:],
    "parts": lambda x: ad.concat([x, x]),
    "a broadcast": lambda x: ad.broadcast_to(x, (2, 3)),
}


@pytest.mark.skipif(tiers.backend == "native", reason="everything is compiled")
@pytest.mark.parametrize("what", SINGLE)
def test_one_small_operation_needs_no_plan(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = np.array([1.0, 2.0, 3.0], "f4")
    expected = ad.jit(SINGLE[what])(ad.tensor(given)).numpy()
    monkeypatch.setattr(evaluation, "_prepare", None)  # what makes plans
    monkeypatch.setattr(single, "WATCHED", [])  # constants of functions that other tests have compiled
    for _ in range(3):
        y = SINGLE[what](ad.tensor(given))
        np.testing.assert_array_max_ulp(y.numpy(), expected, 1)
        assert y.node.value.base is None and not y.node.inputs
    x = ad.variable(given)
    tracked = SINGLE[what](x)
    np.testing.assert_array_equal(tracked.numpy(), y.numpy())
    monkeypatch.undo()
    tracked.sum().backward()
    assert x.grad is not None and x.grad.shape == x.shape


def test_one_small_operation_lies_in_memory_as_its_plan_lays_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ad.set_deterministic(True)
    given = np.arange(32, dtype="f4").reshape(4, 8)
    for f in (lambda x: ad.permute_dims(x, (1, 0)), lambda x: ad.broadcast_to(x, (2, 4, 4)), lambda x: x[:, ::-2]):
        x = ad.tensor(given[:, :4])
        alone, planned = f(x), f(x)
        alone.numpy()
        with monkeypatch.context() as patch:
            patch.setattr(evaluation, "compute_single", lambda node: False)
            planned.numpy()
        assert alone.node.value.strides == planned.node.value.strides


def test_a_version_of_what_has_a_value_forgets_what_that_was_computed_from() -> None:
    p = ad.variable([1.0, 2.0])
    for _ in range(3):
        q = p * 0.5
        p.data = q
        q.numpy()
        p.numpy()
        assert not p.node.inputs


def test_what_is_unusual_is_planned_though_it_is_small() -> None:
    zero, infinite = ad.tensor(0.0), ad.tensor(np.inf)
    x = ad.variable([0.0, 1.0])
    (ad.sqrt(x) * ad.tensor([0.0, 1.0])).sum().backward()  # zero times infinity is zero in a chain rule
    np.testing.assert_array_equal(x.grad.numpy(), [0.0, 0.5])
    assert np.isnan((zero * infinite).item())
    calls = []
    ad.host_call(lambda a: [calls.append(1), a][1], zero, shape=(), dtype="float32").item()
    assert calls == [1]
    with pytest.raises(IndexError, match=r"test_plans\.py"):
        ad.tensor([1.0, 2.0])[ad.tensor([5])].numpy()
