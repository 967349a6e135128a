"""Calls: a few elementwise operations as one node, as an optimizer records the update of a parameter."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
import adjoint.torch as torch
from adjoint import optim
from adjoint.batch import Batch
from adjoint.derive import expand
from adjoint.execution import prices
from adjoint.graph import array_type, topological
from adjoint.optim import alike
from adjoint.plan.canonical import canonicalize
from adjoint.plan.plan import build
from adjoint.primitives.callees import CALL, CalledStep, call, callee_of
from adjoint.primitives.core import full, placeholder
from adjoint.tensors.named import wrap
from adjoint.tensors.pending import evaluated_soon

ADD, MULTIPLY, SUBTRACT, SQRT = [ad.graph.PRIMITIVES[name] for name in ("add", "multiply", "subtract", "sqrt")]
A, B = np.linspace(1, 2, 6, dtype="f4").reshape(2, 3), np.linspace(3, 9, 6, dtype="f4").reshape(2, 3)


def example(type_):
    """(√(a + b), a - b·√(a + b), a·√(a + b)), of which the second has a step of its own."""
    steps = [
        CalledStep(op, None, places, type_, None, 0)
        for op, places in (
            (ADD, (0, 1)),
            (SQRT, (2,)),
            (MULTIPLY, (1, 3)),
            (SUBTRACT, (0, 4)),
            (MULTIPLY, (0, 3)),
            (MULTIPLY, (6, 1)),
        )
    ]
    return callee_of(2, steps, [3, 5, 7])


def outputs(a, b):
    return call(example(a.type), [a, b])


def expected(a, b):
    root = np.sqrt(a + b)
    return [root, a - b * root, a * root * b]


def calls_in(*roots):
    return [x for x in topological(roots, lambda x: x.value is None) if x.op is CALL]


@pytest.fixture(params=("numpy", "native", "auto"))
def backend(request, monkeypatch):
    monkeypatch.setattr(ad.execution.tiers.tiers, "backend", request.param)
    return request.param


@pytest.mark.usefixtures("backend")
def test_values_of_a_call():
    """At first sight, by a plan, and natively; what is asked for alone, too."""
    for _ in range(4):
        found = [wrap(x) for x in outputs(ad.tensor(A).node, ad.tensor(B).node)]
        assert len(calls_in(*[x.node for x in found])) == 1
        for x, y in zip(found, expected(A, B), strict=True):
            np.testing.assert_allclose(x.numpy(), y, rtol=1e-6)


@pytest.mark.usefixtures("backend")
def test_one_output_is_read_when_the_others_are_held():
    """The call has its values then, for whoever reads another output later."""
    for _ in range(3):
        found = [wrap(x) for x in outputs(ad.tensor(A).node, ad.tensor(B).node)]
        np.testing.assert_allclose((found[1] * 2).numpy(), 2 * expected(A, B)[1], rtol=1e-6)
        np.testing.assert_allclose((found[0] + found[2]).numpy(), expected(A, B)[0] + expected(A, B)[2], rtol=1e-6)


@pytest.mark.usefixtures("backend")
@pytest.mark.parametrize("shape", [(2, 3), ()])
def test_calls_of_constants(shape):
    kind = array_type(shape, ad.float32)
    for _ in range(3):
        for a, b in ((0.5, 2.0), (1.0, 0.0)):
            found = [wrap(x).numpy() for x in outputs(full(a, kind), full(b, kind))]
            for x, y in zip(found, expected(np.full(shape, a, "f4"), np.full(shape, b, "f4")), strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-6)


def test_a_call_is_written_out_where_a_graph_is_read():
    a, b = ad.tensor(A).node, ad.tensor(B).node
    roots = outputs(a, b)
    plain = expand(roots)
    assert calls_in(*roots) and not calls_in(*plain)
    assert [x.op for x in topological(plain, lambda x: x.value is None)][2:4] == [ADD, SQRT]
    for x, y in zip(plain, expected(A, B), strict=True):
        np.testing.assert_allclose(wrap(x).numpy(), y, rtol=1e-6)


def test_a_batch_of_calls():
    kind = array_type((2, 3), ad.float32)
    a, b = placeholder(kind, "a", False), ad.tensor(B).node
    many = np.stack([A, 2 * A, 3 * A])
    found = Batch(3, {a: ad.tensor(many).node}).expand(outputs(a, b))
    for x, y in zip(found, expected(many, B), strict=True):
        np.testing.assert_allclose(wrap(x).numpy(), y, rtol=1e-6)


def test_equal_callees_are_one():
    kind = array_type((2, 3), ad.float32)
    assert example(kind) is example(kind)
    assert example(kind) is not example(array_type((2, 3), ad.float64))


def test_few_operations_are_recorded_themselves():
    kind = array_type((2, 3), ad.float32)
    short = callee_of(
        2, [CalledStep(ADD, None, (0, 1), kind, None, 0), CalledStep(SQRT, None, (2,), kind, None, 0)], [3]
    )
    (found,) = call(short, [ad.tensor(A).node, ad.tensor(B).node])
    assert found.op is SQRT and not calls_in(found)


# Updates --------------------------------------------------------------------------------------------------------------

OPTIMIZERS = {
    "sgd": lambda w: optim.SGD(w, lr=0.1),
    "momentum": lambda w: optim.SGD(w, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    "dampening": lambda w: optim.SGD(w, lr=0.1, momentum=0.9, dampening=0.1),
    "adam": lambda w: optim.Adam(w, lr=0.1, weight_decay=0.1),
    "adamw": lambda w: optim.AdamW(w, lr=0.1, amsgrad=True, maximize=True),
    "rmsprop": lambda w: optim.RMSprop(w, centered=True, momentum=0.5),
    "nadam": lambda w: optim.NAdam(w),
    "radam": lambda w: optim.RAdam(w, betas=(0.9, 0.9)),  # whose rule changes after some steps
    "lion": lambda w: optim.Lion(w),
    "adagrad": lambda w: optim.Adagrad(w),
    "sparse adam": lambda w: optim.SparseAdam(w),
    "adadelta": lambda w: optim.Adadelta(w),
    "adamax": lambda w: optim.Adamax(w),
    "asgd": lambda w: optim.ASGD(w, t0=4),
    "rprop": lambda w: optim.Rprop(w),
    "a rate that is a tensor": lambda w: optim.Adam(w, lr=ad.tensor(0.1)),
}


def trained(make, compiled):
    """The bits of parameters and states after steps with hyperparameters that change."""
    generator = np.random.default_rng(0)
    parameters = [ad.variable(generator.normal(size=s).astype("f4")) for s in ((3, 4), (4,), (3, 4), (), (2, 700))]
    optimizer = make(parameters)

    def step(k):
        optimizer.zero_grad()
        sum([ad.square(w * (i + 1) - k).sum() for i, w in enumerate(parameters)]).backward()
        optimizer.step()

    step = ad.jit(step) if compiled else step
    for k in range(12):
        if not isinstance(optimizer.lr, ad.Tensor) and k in (3, 5):
            optimizer.lr = optimizer.lr / 2 if k == 3 else 1
        step(float(k))
    kept = [x for entries in optimizer.state for x in entries.values()]
    return [x.numpy().tobytes() if isinstance(x, ad.Tensor) else x for x in (*parameters, *kept)]


@pytest.mark.usefixtures("equal_bits")
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_updates_that_are_calls_have_the_same_bits(name, compiled, monkeypatch):
    """As where each parameter's update is recorded anew, by the optimizer's own rule."""
    found = trained(OPTIMIZERS[name], compiled)
    monkeypatch.setattr(alike.Updates, "repeat", lambda *given: False)
    assert trained(OPTIMIZERS[name], compiled) == found


def recorded(optimizer):
    """What a step records, before it is evaluated."""
    with ad.no_grad(), evaluated_soon():
        return [x.node for x in optimizer._updates()]


def test_an_update_is_one_node():
    parameters = [ad.variable(np.ones(s, "f4")) for s in ((4, 5), (4, 5), (3,))]
    optimizer = optim.AdamW(parameters)
    for _ in range(2):
        sum([(w * w).sum() for w in parameters]).backward()
        optimizer.step()
    sum([(w * w).sum() for w in parameters]).backward()
    nodes = [x for x in topological(recorded(optimizer), lambda x: x.value is None) if x.value is None]
    assert len([x for x in nodes if x.op is CALL]) == 3
    assert not [x for x in nodes if x.op is SQRT]
    written = topological(expand([w.node for w in parameters]), lambda x: x.value is None)
    assert len([x for x in written if x.op is SQRT]) == 3
    assert {x.origin.file.split("/")[-1] for x in written if x.op is SQRT} == {"adam.py"}


def plan_of(roots):
    c = canonicalize(roots)
    return build(c, list(range(c.roots)), False)


def test_a_plan_has_a_call_as_one_step_until_its_steps_are_asked_for():
    a, b = [ad.tensor(np.tile(x, (40, 40))).node for x in (A, B)]
    whole = full(2.0, array_type(a.shape, a.dtype))
    roots = [*outputs(a, b), *outputs(a, whole), *outputs(whole, whole)]
    plan = plan_of([*roots, (wrap(roots[0]) @ wrap(a).mT).node])
    calls = [step for step in plan.joined if step.op is CALL]
    count, elements = plan.length, sum(plan.sizes())
    assert len(calls) == 3
    assert len(plan.joined) < count
    steps = plan.steps
    assert len(steps) == count == plan.length
    assert sum([step.type.size for step in steps]) == elements
    assert CALL not in [step.op for step in steps]
    for k, (of_call, step) in enumerate([(x.output, y) for x in calls for y in steps if y.output in x.output]):
        assert step.output == of_call[k % 6]
    made = {step.output for step in steps} | set(range(len(plan.leaf_types) + len(plan.number_types)))
    assert all([made.issuperset(set(step.inputs) - plan.constants.keys()) for step in steps])


def test_kinds_of_operations_are_found_with_calls_as_they_are_and_in_no_order():
    a, b = [ad.tensor(np.tile(x, (40, 40))).node for x in (A, B)]
    line = ad.tensor(A[0]).node
    whole = full(2.0, array_type(a.shape, a.dtype))
    plan = plan_of([*outputs(a, b), *outputs(b, a), *outputs(a, whole), *outputs(line, line)])
    found = prices.kinds_of(plan)
    assert not plan.in_order and "joined" not in vars(plan)
    assert CALL in [step.op for step in plan.placed]
    assert len(plan.steps) == plan.length
    assert CALL not in [step.op for step in plan.steps]
    assert found == prices.kinds_of(plan)  # what is known of them doesn't depend on who has asked for steps


def test_the_steps_of_a_call_follow_each_other():
    """Whatever is asked for first of what it gives: so a parameter and its moments are computed by one loop."""
    a, b = [ad.tensor(np.tile(x, (40, 40))).node for x in (A, B)]
    deep = [wrap(x) for x in outputs(a, b)]
    later = ad.tanh(ad.exp(deep[0]) * 2) * deep[1]
    steps = plan_of([deep[2].node, later.node, deep[1].node, deep[0].node]).steps
    names = [step.op.name for step in steps]
    start = names.index("add")
    assert names[start : start + 6] == ["add", "sqrt", "multiply", "subtract", "multiply", "multiply"]


@pytest.mark.parametrize("name", ["momentum", "adam", "adamw", "rmsprop", "rprop"])
def test_the_first_step_has_the_structure_of_all_others(name):
    """What is remembered begins with values, and not as constants."""
    keys = []
    w = ad.variable(np.ones((4, 5), "f4"))
    optimizer = OPTIMIZERS[name]([w])
    for _ in range(3):
        w.grad = ad.tensor(np.full((4, 5), 2, "f4"))
        c = canonicalize(recorded(optimizer))
        keys.append((c.entries, c.edges))
        assert np.isfinite(w.numpy()).all()
        ad.evaluate([x for x in optimizer.state[0].values() if isinstance(x, ad.Tensor)])
    assert keys[0] == keys[1] == keys[2]


def test_a_rule_that_is_replaced_is_followed(monkeypatch):
    """A class's rule, or an optimizer's own."""

    def moved(optimizer):
        w.grad = ad.ones(3)
        before = w.numpy().copy()
        optimizer.step()
        return (before - w.numpy()).tolist()

    w = ad.variable(np.zeros(3, "f4"))
    one, other = optim.SGD([w], lr=1.0), optim.SGD([w], lr=1.0)
    assert moved(one) == [1, 1, 1]
    one.update = lambda parameter, gradient, state, group: parameter - 3 * gradient
    assert moved(one) == [3, 3, 3] and moved(other) == [1, 1, 1]
    monkeypatch.setattr(optim.SGD, "update", lambda self, parameter, gradient, state, group: parameter - 5 * gradient)
    assert moved(other) == [5, 5, 5]


@pytest.mark.parametrize("name", ("SGD", "Adam", "AdamW", "RMSprop", "NAdam", "Rprop"))
def test_optimizers_under_pytorchs_names_repeat_updates(monkeypatch, name):
    """As the core's do, with the same bits; a subclass of the user's is run in each step."""
    repeated, repeat = [], alike.Update.repeat
    monkeypatch.setattr(alike.Update, "repeat", lambda *given: repeated.append(given) or repeat(*given))

    def trained(kind, weight):
        optimizer, repeated[:] = kind([weight], lr=0.1), []
        for k in range(3):
            optimizer.zero_grad()
            (weight * weight * (k + 1.0)).sum().backward()
            optimizer.step()
        return len(repeated), weight.tolist()

    kind = getattr(torch.optim, name)
    own = type("Own", (kind,), {"__module__": __name__})
    expected = trained(getattr(optim, name), ad.variable([1.0, -2.0]))
    assert trained(kind, torch.nn.Parameter(torch.tensor([1.0, -2.0]))) == expected and expected[0] == 3
    assert trained(own, torch.nn.Parameter(torch.tensor([1.0, -2.0])))[0] == 0


def test_hyperparameters_that_are_no_numbers_leave_updates_as_they_are():
    w = ad.variable(np.zeros(3, "f4"))
    optimizer = optim.SGD([w], lr=np.float32(0.5))
    for k in range(3):
        w.grad = ad.ones(3)
        optimizer.step()
        assert w.numpy().tolist() == [-0.5 * (k + 1)] * 3


def test_a_state_that_grows_is_recorded_by_the_rule():
    """amsgrad is turned on after a step: the state gets one more tensor."""
    w = ad.variable(np.ones(3, "f4"))
    optimizer = optim.Adam([w], lr=0.1)
    for k in range(4):
        optimizer.param_groups[0]["amsgrad"] = k > 0
        w.grad = ad.ones(3)
        optimizer.step()
    assert list(optimizer.state[0]) == ["step", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"]
    np.testing.assert_allclose(w.numpy(), 0.6, rtol=1e-5)


def test_kinds_that_are_remembered_stay_few(monkeypatch):
    monkeypatch.setattr(alike, "_recipes", {})
    monkeypatch.setattr(alike, "MOST", 4)
    for n in range(1, 12):
        w = ad.variable(np.ones(n, "f4"))
        w.grad = ad.ones(n)
        optim.SGD([w]).step()
        assert 0 < len(alike._recipes) <= 4


def test_conditions_on_numbers_have_ways_of_their_own(monkeypatch):
    """RAdam's rule changes with the count, and comes back with another optimizer: two ways are recorded, once each."""
    called = []
    recorded = alike._recorded
    monkeypatch.setattr(alike, "_recipes", {})
    monkeypatch.setattr(alike, "_recorded", lambda *given: called.append(given) or recorded(*given))
    for _ in range(2):
        w = ad.variable(np.ones(3, "f4"))
        optimizer = optim.RAdam([w], betas=(0.9, 0.99))
        for _ in range(12):
            w.grad = ad.ones(3)
            optimizer.step()
    assert len(called) == 2
    assert [len(found) for found in alike._recipes.values()] == [2]


@pytest.mark.parametrize("written_out", [False, True])
def test_a_compiled_loop_of_steps(written_out):
    """With the reverse pass as a pending pullback or as graph."""
    w, v = ad.variable(np.eye(24, dtype="f4")), ad.variable(np.eye(24, dtype="f4") * 1.5)
    optimizer = optim.Adam([w, v], lr=0.01)

    def many(count):
        for _ in range(count):
            loss = ad.square(w @ v - 2).sum()
            if written_out:
                w.grad, v.grad = ad.gradients(loss, [w, v])
            else:
                optimizer.zero_grad()
                loss.backward()
            optimizer.step()
        return loss

    def from_the_start(f):
        w.data, v.data = ad.eye(24), ad.eye(24) * 1.5
        optimizer.state = [{} for _ in range(2)]
        return f(100).item()

    np.testing.assert_allclose(from_the_start(ad.jit(many)), from_the_start(many), rtol=1e-4)
