"""Optimizers by their formulas, their state, and what they refuse."""

from __future__ import annotations

import gc
import types

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, optim, tracing
from adjoint.graph import topological
from adjoint.optim import alike
from adjoint.tensors import pending

START = np.array([1.0, -2.0, 3.0])


def run(make, steps=5, start=START):
    """The parameter after some steps on the loss w⁴/4, whose gradient is w³."""
    w = ad.variable(start)
    optimizer = make([w])
    for _ in range(steps):
        optimizer.zero_grad()
        (w**4 / 4).sum().backward()
        optimizer.step()
    return w.numpy()


def sgd_by_hand(steps, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
    w, velocity = START.copy(), None
    for _ in range(steps):
        direction = w**3 + weight_decay * w
        if momentum:
            velocity = direction if velocity is None else momentum * velocity + (1 - dampening) * direction
            direction = direction + momentum * velocity if nesterov else velocity
        w = w - lr * direction
    return w


def adam_by_hand(steps, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
    w, m, v = START.copy(), 0.0, 0.0
    for t in range(1, steps + 1):
        g = w**3
        if decoupled:
            w = w * (1 - lr * weight_decay)
        else:
            g = g + weight_decay * w
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        w = w - lr * (m / (1 - betas[0] ** t)) / (np.sqrt(v / (1 - betas[1] ** t)) + eps)
    return w


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight_decay": 0.1},
        {"momentum": 0.9},
        {"momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1},
        {"momentum": 0.9, "nesterov": True},
    ],
)
def test_sgd(options):
    found = run(lambda params: optim.SGD(params, lr=0.01, **options))
    np.testing.assert_allclose(found, sgd_by_hand(5, 0.01, **options), rtol=1e-13)


@pytest.mark.parametrize("options", [{}, {"betas": (0.8, 0.99), "eps": 1e-3}, {"weight_decay": 0.1}])
@pytest.mark.parametrize("kind", [optim.Adam, optim.AdamW])
def test_adam(kind, options):
    options = {"weight_decay": 0.0, **options}
    found = run(lambda params: kind(params, lr=0.01, **options))
    np.testing.assert_allclose(found, adam_by_hand(5, 0.01, decoupled=kind is optim.AdamW, **options), rtol=1e-12)


def test_hyperparameters_change_between_steps():
    w = ad.variable(0.0, dtype="float64")
    optimizer = optim.SGD([w], lr=1.0)
    for rate in (1.0, 0.5, 0.25):
        optimizer.lr = rate
        optimizer.zero_grad()
        (-w).backward()
        optimizer.step()
    assert w.item() == 1.75
    assert optimizer.lr == 0.25
    assert optimizer.param_groups[0]["lr"] == 0.25
    optimizer.param_groups[0]["lr"] = 2.0
    optimizer.step()
    assert w.item() == 3.75


def test_groups_have_hyperparameters_of_their_own():
    a, b = ad.variable(0.0), ad.variable(0.0)
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=1.0)
    (-a - b).backward()
    optimizer.step()
    assert (a.item(), b.item()) == (1.0, 0.5)
    with pytest.raises(AttributeError, match=r"differ in lr: \[1.0, 0.5\]"):
        _ = optimizer.lr
    optimizer.lr = 0.1
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.1]


def test_parameters_without_gradient_stay():
    a, b = ad.variable(1.0), ad.variable(1.0)
    optimizer = optim.Adam([a, b], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (a * a).backward()
        optimizer.step()
    assert b.item() == 1
    assert a.item() < 1
    (b * b).backward()
    optimizer.step()
    assert b.item() == pytest.approx(0.9)  # its own first step, whatever the others have done


def test_a_step_records_nothing_and_keeps_what_was_recorded():
    w = ad.variable([1.0, 2.0])
    optimizer = optim.SGD([w], lr=0.5, momentum=0.9)
    loss = (w * w).sum()
    loss.backward()
    optimizer.step()
    assert w.requires_grad
    assert w.creator is None
    np.testing.assert_array_equal(w.numpy(), [0, 0])
    assert loss.item() == 5
    w.grad = None
    loss.backward()
    np.testing.assert_array_equal(w.grad.numpy(), [2, 4])


def test_float32_stays_float32():
    found = run(lambda params: optim.Adam(params, lr=0.01), start=START.astype(np.float32))
    assert found.dtype == np.float32


def make_model():
    ad.random.seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()


def train(model, optimizer, steps, start=0):
    for step in range(start, start + steps):
        x = np.random.default_rng(step).standard_normal((8, 3))
        loss = nn.functional.mse_loss(model(ad.tensor(x)), x[:, :1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@pytest.mark.parametrize("make", [lambda p: optim.SGD(p, 0.1, 0.9), lambda p: optim.Adam(p, 0.01)], ids=["SGD", "Adam"])
def test_state_resumes_exactly(make):
    ad.set_deterministic()
    whole = make_model()
    train(whole, make(whole.parameters()), 10)

    first = make_model()
    optimizer = make(first.parameters())
    train(first, optimizer, 5)
    state, weights = optimizer.state_dict(), first.state_dict()
    train(first, optimizer, 3, start=5)  # goes on, and must not change what was saved

    for _ in range(2):  # twice, because going on must not change the state that was loaded either
        second = make_model()
        second.load_state_dict(weights)
        resumed = make(second.parameters())
        resumed.load_state_dict(state)
        train(second, resumed, 5, start=5)
        for a, b in zip(whole.parameters(), second.parameters(), strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_state_has_the_form_of_pytorch():
    model = make_model()
    optimizer = optim.Adam(model.parameters(), lr=0.01)
    train(model, optimizer, 2)
    state = optimizer.state_dict()
    assert sorted(state["state"]) == [0, 1, 2, 3]
    assert set(state["state"][0]) == {"step", "exp_avg", "exp_avg_sq"}
    assert state["param_groups"][0]["params"] == [0, 1, 2, 3]
    assert state["param_groups"][0]["lr"] == 0.01


def test_a_state_that_does_not_fit():
    one = optim.SGD([ad.variable(1.0)], 0.1, 0.9)
    two = optim.SGD([ad.variable([1.0]), ad.variable([2.0])], 0.1, 0.9)
    with pytest.raises(ValueError, match=r"groups of \[1\] parameters, the state groups of \[2\]"):
        one.load_state_dict(two.state_dict())
    other = optim.SGD([ad.variable([1.0, 2.0]), ad.variable([2.0])], 0.1, 0.9)
    for group in other.param_groups:
        for parameter in group["params"]:
            parameter.sum().backward()
    other.step()
    with pytest.raises(ValueError, match=r"momentum_buffer of parameter 0 has shape \(2,\), the parameter \(1,\)"):
        two.load_state_dict(other.state_dict())


def test_the_epoch_counts_changes():
    optimizer = optim.SGD([ad.variable(1.0)], lr=0.1, momentum=0.9)
    for change in (
        lambda: setattr(optimizer, "nesterov", True),
        lambda: optimizer.param_groups[0].__setitem__("nesterov", False),
        lambda: optimizer.add_param_group({"params": [ad.variable(2.0)]}),
    ):
        before = tracing.epoch
        change()
        assert tracing.epoch > before
    before = tracing.epoch
    optimizer.lr = 0.2  # a number is read anew by whoever needs it
    assert tracing.epoch == before


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda w: optim.SGD([]), ValueError, "SGD got no parameters"),
        (lambda w: optim.SGD([w, w]), ValueError, "twice"),
        (lambda w: optim.SGD([w * 2]), TypeError, "a computed tensor"),
        (lambda w: optim.SGD([w.numpy()]), TypeError, "ndarray"),
        (lambda w: optim.SGD([w], lr=-1), ValueError, "lr must not be negative"),
        (lambda w: optim.SGD([w], lr=float("nan")), ValueError, "lr must not be negative; it is nan"),
        (lambda w: optim.SGD([w], momentum=ad.tensor(0.9)), TypeError, "momentum is made of numbers, not of tensors"),
        (lambda w: optim.Adam([w], betas=(ad.tensor(0.9), 0.99)), TypeError, "betas is made of numbers"),
        (lambda w: optim.SGD([w], lr="0.1"), TypeError, "SGD: lr must be a number; it is '0.1'"),
        (lambda w: optim.SGD([w], lr=None), TypeError, "SGD: lr must be a number; it is None"),
        (lambda w: optim.SGD(nn.Linear(1, 1)), TypeError, r"not a Linear; give it model\.parameters\(\)"),
        (lambda w: optim.SGD([w], momentum=-1), ValueError, "momentum"),
        (lambda w: optim.SGD([w], nesterov=True), ValueError, "nesterov"),
        (lambda w: optim.Adam([w], betas=(0.9, 1.0)), ValueError, "betas"),
        (lambda w: optim.Adam([{"params": [w], "momentum": 0.9}]), TypeError, "no hyperparameter momentum"),
        (lambda w: optim.SGD([w]).learning_rate, AttributeError, "learning_rate"),
    ],
)
def test_mistakes_are_told(make, error, text):
    with pytest.raises(error, match=text):
        make(ad.variable([1.0]))


def test_repr():
    assert "group 0: 1 parameters, lr=0.1" in repr(optim.SGD([ad.variable(1.0)], lr=0.1))


def test_momentum_starts_from_the_gradient_but_is_not_the_gradient():
    w = ad.variable([1.0])
    optimizer = optim.SGD([w], lr=0.1, momentum=0.5)
    (3 * w).sum().backward()
    gradient = w.grad
    optimizer.step()
    optimizer.step()
    assert gradient.item() == w.grad.item() == 3


def test_five_thousand_steps_do_not_grow():
    w = ad.variable(np.ones(3))
    optimizer = optim.Adam([w], lr=1e-3)

    def steps(count):
        for _ in range(count):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
        gc.collect()
        return len(gc.get_objects())

    before = steps(2_500)  # by then the compiler is loaded, whose modules are many objects
    assert steps(5_000) < before + 500


def test_a_step_is_one_evaluation_however_much_it_records(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    original = pending.evaluate
    monkeypatch.setattr(
        pending, "evaluate", lambda nodes, **options: (calls.append(len(nodes)), original(nodes, **options))
    )
    monkeypatch.setattr(pending, "LONG_PENDING", 4)
    parameters = [ad.variable(np.ones((300, 300))) for _ in range(20)]
    optimizer = ad.optim.Adam(parameters, lr=0.5)
    sum([(p * p).sum() for p in parameters]).backward()
    calls.clear()
    optimizer.step()
    assert calls == [60], "parameters and both moments, at once"
    for p in parameters:
        np.testing.assert_allclose(p.numpy(), 0.5, 1e-4)
    assert pending.recorded_since[0] < pending.LOOK_AFTER


MORE = {
    "Adagrad": {"lr": 0.1, "lr_decay": 0.1}, "Adadelta": {}, "Adamax": {"lr": 0.1}, "NAdam": {"lr": 0.1}, "Lion": {"lr": 0.05},
    "RAdam": {"lr": 0.1, "betas": (0.9, 0.9)}, "SparseAdam": {"lr": 0.1}, "Adafactor": {"lr": 0.5}, "Muon": {"lr": 0.1},
    "ASGD": {"lr": 0.1, "t0": 2}, "Rprop": {"lr": 0.1},
}  # fmt: skip


WITH_NUMBERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9},
    "Adam": {"amsgrad": True},
    "RMSprop": {"momentum": 0.9, "centered": True},
    **MORE,
}


@pytest.mark.parametrize("name", sorted(set(WITH_NUMBERS) - {"Muon", "SparseAdam"}))
def test_the_state_of_a_parameter_that_is_one_number(name):
    """What is kept of it are tensors without axes, and no Python numbers."""

    def stepped(w, optimizer):
        optimizer.zero_grad()
        (w * w).backward()
        optimizer.step()
        return w.item()

    w = ad.variable(2.0, dtype="float64")
    optimizer = getattr(optim, name)([w], **WITH_NUMBERS[name])
    for _ in range(3):
        stepped(w, optimizer)
    other = ad.variable(w.item(), dtype="float64")
    resumed = getattr(optim, name)([other], **WITH_NUMBERS[name])
    resumed.load_state_dict(optimizer.state_dict())
    assert [stepped(other, resumed) for _ in range(3)] == [stepped(w, optimizer) for _ in range(3)]


@pytest.mark.parametrize("name", MORE)
def test_compiled_steps_and_restored_states_are_the_same(name):
    start = np.random.default_rng(0).normal(size=(4, 3))

    def trained(compiled, restored):
        w = ad.variable(start)
        optimizer = getattr(optim, name)([w], **MORE[name])

        def step():
            optimizer.zero_grad()
            loss = ((w - 1.0) ** 2).sum()
            loss.backward()
            optimizer.step()
            return loss

        run = ad.jit(step) if compiled else step
        losses = [run().item() for _ in range(6)]
        if restored:
            state, other = optimizer.state_dict(), getattr(optim, name)([w], **MORE[name])
            other.load_state_dict(state)
            optimizer = other
            run = step
        losses += [run().item() for _ in range(6)]
        return losses

    plain = trained(False, False)
    assert plain[-1] < plain[0]
    np.testing.assert_allclose(trained(True, False), plain, rtol=1e-9)
    np.testing.assert_allclose(trained(False, True), plain, rtol=1e-12)


def test_lion_by_hand():
    w, m = START.copy(), 0.0
    for _ in range(5):
        g = w**3
        w = w * (1 - 0.01 * 0.2) - 0.01 * np.sign(0.9 * m + 0.1 * g)
        m = 0.99 * m + 0.01 * g
    np.testing.assert_allclose(run(lambda p: optim.Lion(p, lr=0.01, weight_decay=0.2)), w, rtol=1e-12)


def test_muon_makes_steps_orthogonal():
    w = ad.variable(np.zeros((3, 5)))
    w.grad = ad.tensor(np.random.default_rng(0).normal(size=(3, 5)))
    optim.Muon([w], lr=1.0, weight_decay=0.0).step()
    values = np.linalg.svd(w.numpy(), compute_uv=False)
    assert (values > 0.6).all()
    assert (values < 1.3).all()
    with pytest.raises(ValueError, match="Muon trains matrices"):
        optim.Muon([ad.variable([1.0])])


def test_sparse_adam_leaves_unused_rows():
    table = ad.variable(np.ones((4, 2)))
    optimizer = optim.SparseAdam([table], lr=0.1)
    for rows in ([0, 2], [2]):
        optimizer.zero_grad()
        (nn.functional.embedding(ad.tensor(rows), table) ** 2).sum().backward()
        optimizer.step()
    np.testing.assert_array_equal(table.numpy()[[1, 3]], 1.0)
    moments = optimizer.state[0]["exp_avg"].numpy()
    np.testing.assert_allclose(moments[0], 0.2, rtol=1e-12)  # which one step without gradient would have made smaller


def test_a_closure_computes_the_loss():
    w = ad.variable(START)
    optimizer = optim.SGD([w], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (w**2).sum()
        loss.backward()
        return loss

    with ad.no_grad():  # a closure has gradients all the same
        assert optimizer.step(closure).item() == 14.0
    assert optimizer.step() is None
    np.testing.assert_allclose(w.numpy(), START * 0.8 - 0.2 * START * 1.0)


def test_lbfgs_finds_the_minimum_of_rosenbrock_and_goes_on_from_its_state():
    x = ad.variable(np.full(5, -1.0))
    optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe", max_iter=25)

    @ad.jit
    def compute():
        loss = ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()
        loss.backward()
        return loss

    def closure():
        optimizer.zero_grad()
        return compute()

    optimizer.step(closure)
    other = optim.LBFGS([x], line_search_fn="strong_wolfe", max_iter=50)
    other.load_state_dict(optimizer.state_dict())
    optimizer = other
    optimizer.step(closure)
    np.testing.assert_allclose(x.numpy(), 1.0, atol=1e-5)
    with pytest.raises(TypeError, match="step takes a function"):
        optimizer.step()
    with pytest.raises(ValueError, match="one group of parameters"):
        optim.LBFGS([{"params": [ad.variable(1.0)]}, {"params": [ad.variable(1.0)]}])


def test_maximize_goes_up_and_other_keywords_change_nothing():
    w, v = ad.variable([1.0, 2.0]), ad.variable([1.0, 2.0])
    up = optim.AdamW([w], lr=0.1, maximize=True, foreach=True, capturable=True, fused=None)
    down = optim.AdamW([v], lr=0.1)

    @ad.jit
    def step():
        up.zero_grad()
        down.zero_grad()
        (w**3).sum().backward()
        (-(v**3)).sum().backward()
        up.step()
        down.step()

    for _ in range(3):
        step()
    np.testing.assert_array_equal(w.numpy(), v.numpy())
    assert w.numpy()[0] > 1.2
    up.param_groups[0]["maximize"] = False
    step()
    assert w.numpy()[0] < v.numpy()[0]
    assert "maximize" not in repr(down)
    assert "foreach=True" in repr(up)


def test_keywords_that_an_optimizer_has_not():
    w = ad.variable(1.0)
    with pytest.raises(TypeError, match=r"SGD has no capturable=; it has lr, .*maximize, foreach"):
        optim.SGD([w], capturable=True)
    with pytest.raises(ValueError, match="a step is no operation of the graph"):
        optim.Adam([w], differentiable=True)
    with pytest.raises(TypeError, match=r"Adam has no speed=; it has lr, betas"):
        optim.Adam([w], speed=2)


def test_the_counts_of_steps_are_one_number_while_they_are_equal() -> None:
    """What an optimizer's step computes of its counts is computed once for all parameters; where they part, each has its own."""

    def trained(compiled: bool) -> list[np.ndarray]:
        weights = [ad.variable(np.arange(3.0, dtype="f4") + k) for k in range(3)]
        optimizer = ad.optim.Adam(weights, lr=0.1)

        def step(x):
            loss = sum([(w * x).square().sum() for w in weights])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        run = ad.jit(step) if compiled else step
        for k in range(6):
            if k == 3:  # from here on the first has another count
                optimizer.state[0]["step"] = 7
            run(ad.tensor([1.0, 2.0, 3.0]))
        if compiled:
            reasons = [x.reason for x in run.traces]
            assert len(reasons) == 2 and "State['step']" in reasons[1], reasons
        return [w.numpy() for w in weights]

    for x, y in zip(trained(True), trained(False), strict=True):
        np.testing.assert_allclose(x, y, rtol=2e-6)


def test_a_number_of_a_step_is_given_to_its_program_once() -> None:
    """However many parameters of a shape an optimizer updates by it."""

    def free(count: int) -> int:
        weights = [ad.variable(np.arange(3.0, dtype="f4") + k) for k in range(count)]
        optimizer = ad.optim.AdamW(weights, lr=0.1)

        def step(x):
            loss = sum([(w * x).square().sum() for w in weights])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        run = ad.jit(step)
        run(ad.tensor([1.0, 2.0, 3.0]))
        return len(run.replay().unknowns)

    assert free(2) == free(5)


ALIKE = {
    "SGD": lambda ps: optim.SGD(ps, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "plain SGD": lambda ps: optim.SGD(ps, lr=0.1),
    "Adam": lambda ps: optim.Adam(ps, lr=0.1, weight_decay=0.1),
    "AMSGrad": lambda ps: optim.Adam(ps, lr=0.1, amsgrad=True, maximize=True),
    "AdamW": lambda ps: optim.AdamW(ps, lr=0.1),
    "Adagrad": lambda ps: optim.Adagrad(ps, lr=0.1, lr_decay=0.01),
    "RMSprop": lambda ps: optim.RMSprop(ps, lr=0.01, momentum=0.5, centered=True),
    "Lion": lambda ps: optim.Lion(ps, lr=0.1),
}


@pytest.mark.parametrize("compiled", (False, True))
@pytest.mark.parametrize("name", ALIKE)
def test_parameters_that_are_alike(name, compiled):
    """Beside others they are updated as each would be alone: of equal types, where some lack a gradient now and then, one is
    constant, and hyperparameters change. In a compiled function too."""
    shapes = [(3,), (3,), (2, 3), (3,), (2, 3), (), (3,)]
    starts = [np.random.default_rng(k).normal(size=shape).astype("f4") for k, shape in enumerate(shapes)]

    def updated(together):
        parameters = [ad.variable(start, name=f"w{k}") for k, start in enumerate(starts)]
        groups = [parameters] if together else [[w] for w in parameters]
        optimizers = [ALIKE[name](group) for group in groups]

        def step(number):
            for optimizer in optimizers:
                optimizer.zero_grad()
            used = [w for k, w in enumerate(parameters) if (k + number) % 5 or number == 0]
            loss = sum([(w**4 / 4).sum() if k else w.sum() for k, w in enumerate(used)])
            loss.backward()
            for optimizer in optimizers:
                optimizer.step()

        run = ad.jit(step) if together and compiled else step
        for number in (0, 0, 0, 1, 2, 3, 4, 0, 0):
            if number == 4:
                for optimizer in optimizers:
                    optimizer.lr = 0.05
            run(number)
        states = [entries for optimizer in optimizers for entries in optimizer.state]
        kept = [[x.numpy() if isinstance(x, ad.Tensor) else x for x in entries.values()] for entries in states]
        return [w.numpy() for w in parameters], kept, [w.name for w in parameters]

    (values, states, names), (alone, others, _) = updated(True), updated(False)
    assert names == [f"w{k}" for k in range(len(shapes))]
    for found, expected in zip([values, *states], [alone, *others], strict=True):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, 1e-5, 1e-7)  # natively or not


def test_constants_are_recorded_once_for_parameters_that_are_alike():
    """The graph of a step has as many for twenty parameters as for two."""

    def constants(count):
        parameters = [ad.variable(np.ones((4, 5), "f4")) for _ in range(count)]
        optimizer = optim.AdamW(parameters, lr=0.1)
        sum([(w * w).sum() for w in parameters]).backward()
        optimizer.step()
        sum([(w * w).sum() for w in parameters]).backward()
        with ad.no_grad():
            turns, _ = optimizer._turns()
            known = alike.Updates(optimizer)
            for turn in turns:
                optimizer._update(turn, known)
            found = topological([w.node for w in parameters], lambda x: x.value is None)
            return len([x for x in found if x.op.name == "full" and x.value is None])

    assert constants(20) == constants(2)


def test_updates_are_recorded_once_for_parameters_that_are_alike(monkeypatch):
    """All steps of twenty parameters, compiled ones too, call the rule once for each type, whatever the counts are."""
    recorded, called = alike._recorded, []
    monkeypatch.setattr(alike, "_recorded", lambda *given: called.append(given) or recorded(*given))
    monkeypatch.setattr(alike, "_recipes", {})

    def calls(count, late):
        parameters = [ad.variable(np.ones((4, 5), "f4")) for _ in range(count + late)]
        optimizer = optim.AdamW(parameters, lr=0.1)
        sum([(w * w).sum() for w in parameters[:count]]).backward()
        optimizer.step()

        @ad.jit
        def step():
            optimizer.zero_grad()
            sum([(w * w).sum() for w in parameters]).backward()
            optimizer.step()

        step()
        step()
        assert [entries["step"] for entries in optimizer.state] == [3] * count + [2] * late
        return len(called)

    assert calls(20, 0) == calls(2, 0) == calls(3, 1) == 1
    other = ad.variable(np.ones(3, "f4"))
    optimizer = optim.AdamW([other])
    (other * other).sum().backward()
    optimizer.step()
    assert len(called) == 2


@pytest.mark.parametrize("whose, compiled", (("the class", False), ("the optimizer", False), ("the optimizer", True)))
def test_a_rule_that_is_put_in_its_place_is_run_in_each_step(monkeypatch, whose, compiled):
    """It may read what changes from step to step."""
    update, factor = optim.SGD.update, [1.0]

    def rule(self, parameter, gradient, state, group):
        return update(self, parameter, gradient * factor[0], state, group)

    weight = ad.variable(np.zeros(2, "f4"))
    optimizer = optim.SGD([weight], lr=1.0)
    if whose == "the class":
        monkeypatch.setattr(optim.SGD, "update", rule)
    else:
        monkeypatch.setattr(optimizer, "update", types.MethodType(rule, optimizer), raising=False)

    def step():
        optimizer.zero_grad()
        weight.sum().backward()
        optimizer.step()

    step = ad.jit(step) if compiled else step
    for total in (1.0, 11.0, 111.0):
        step()
        factor[0] *= 10.0
        assert weight.tolist() == [-total, -total]


@pytest.mark.usefixtures("equal_bits")
@pytest.mark.parametrize("dtype", ("float32", "float64", "bfloat16"))
@pytest.mark.parametrize(
    "make", (optim.Adam, optim.Muon, optim.Adafactor, lambda w, lr: optim.SGD(w, lr, momentum=0.9))
)
def test_a_rate_that_is_a_tensor(make, dtype):
    """Changed by hand, by a schedule, by the compiled function itself and by a state, beside the same as a number."""

    def trained(rate, compiled):
        weights = [ad.variable(np.linspace(-1, 2, 12).reshape(shape), dtype=dtype) for shape in ((3, 4), (4, 3))]
        optimizer = make(weights, lr=rate)
        schedule = ad.optim.StepLR(optimizer, 1, 0.5)

        def step():
            optimizer.zero_grad()
            loss = ad.square(weights[0] @ weights[1]).sum()
            loss.backward()
            optimizer.step()
            if isinstance(rate, ad.Tensor):
                rate.data = rate * 0.75
            return loss

        step = ad.jit(step) if compiled else step
        for number in range(6):
            step()
            if not isinstance(rate, ad.Tensor):
                optimizer.lr *= 0.75
            if number == 3:
                schedule.step()
        if compiled:
            assert [trace.reason for trace in step.traces] == ["the first call"]
        assert {w.dtype.name for w in weights} == {dtype}
        optimizer.load_state_dict(optimizer.state_dict())
        assert optimizer.param_groups[0]["lr"] is rate or not isinstance(rate, ad.Tensor)
        return [w.astype("float64").numpy() for w in weights]

    expected = trained(0.05, False)
    within = {"float32": 3e-6, "float64": 1e-7, "bfloat16": 0.02}[dtype]  # the rate has 32 bits
    for rate, compiled in ((0.05, True), (ad.tensor(0.05), False), (ad.tensor(0.05), True)):
        for ours, theirs in zip(trained(rate, compiled), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, within, within)


def test_a_rate_that_is_no_number():
    w = ad.variable([1.0, 2.0])
    for rate, message in (
        (ad.tensor([0.1, 0.2]), "lr is one floating number"),
        (ad.tensor(1), "lr is one floating number"),
        (ad.tensor(-0.1), "must not be negative"),
    ):
        with pytest.raises(ValueError, match=message):
            optim.SGD([w], lr=rate)
    optimizer = optim.ASGD([w], lr=ad.tensor(0.1))
    w.grad = ad.ones(2)
    optimizer.step()
    with pytest.raises(RuntimeError, match="a value is needed here"):
        ad.jit(optimizer.step)()


def test_parameters_come_with_their_names():
    model = ad.nn.Linear(2, 1)
    optimizer = ad.optim.Adam(model.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    before = model.weight.numpy().copy()
    model(ad.ones((3, 2))).sum().backward()
    optimizer.step()
    assert (model.weight.numpy() != before).all()
    saved = optimizer.state_dict()
    assert saved["param_groups"][0]["param_names"] == ["weight", "bias"]
    other = ad.optim.Adam(model.parameters(), lr=0.5)
    other.load_state_dict(saved)
    assert other.lr == 0.1 and "param_names" not in other.param_groups[0]
    with pytest.raises(ValueError, match="1 of 2 have one"):
        ad.optim.SGD([("weight", model.weight), model.bias], lr=0.1)
    with pytest.raises(ValueError, match="or of none"):
        optimizer.add_param_group({"params": [ad.variable(1.0)]})
    with pytest.raises(TypeError, match="is a str"):
        ad.optim.SGD([(1, model.weight)], lr=0.1)


def test_a_misspelt_hyperparameter_of_a_group_raises():
    with pytest.raises(TypeError, match="no hyperparameter lrr"):
        ad.optim.SGD([{"params": [ad.variable(1.0)], "lrr": 1.0}], lr=0.1)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_lbfgs_keeps_as_many_changes_as_its_history_has(size):
    x = ad.variable([2.0, -1.5, 0.5])
    optimizer = ad.optim.LBFGS([x], lr=0.1, max_iter=3, history_size=size)

    def closure():
        optimizer.zero_grad()
        loss = (x**4).sum() + (x * ad.tensor([1.0, 2.0, 3.0]) * x).sum()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(closure)
    assert {len(optimizer._states[0][name]) for name in ("old_dirs", "old_stps", "ro")} == {size}
