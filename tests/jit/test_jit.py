"""`ad.jit`: what a jitted function gives and changes is what the function gives and changes; and when it is traced anew."""

from __future__ import annotations

import gc
import math
import sys
import threading

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, optim

X = np.random.default_rng(0).normal(size=(16, 4)).astype("f")
Y = np.random.default_rng(1).integers(0, 3, 16)

OPTIMIZERS = {
    "sgd": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "dampening": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5),
    "adam": lambda p: optim.Adam(p, lr=0.01),
    "adamw": lambda p: optim.AdamW(p, lr=0.01, betas=(0.8, 0.99)),
}


def traces(jitted) -> int:
    """How often the function was traced, as far as it remembers."""
    return sum(map(len, jitted.compiled.values()))


def network():
    ad.random.seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))


def training(make, jitted, steps=7):
    """Losses, parameters and the optimizer after some steps, with its learning rate changed on the way."""
    model = network()
    optimizer = make(list(model.parameters()))

    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    run = ad.jit(step) if jitted else step
    losses = []
    for k in range(steps):
        if k == 4:
            optimizer.lr *= 0.5
        losses.append(run(X, Y).item() if jitted else run(ad.tensor(X), ad.tensor(Y)).item())
    return losses, [p.numpy() for p in model.parameters()], optimizer, run


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_is_the_same(name):
    losses, parameters, optimizer, _ = training(OPTIMIZERS[name], False)
    found, others, other, step = training(OPTIMIZERS[name], True)
    np.testing.assert_allclose(found, losses, 1e-6)
    for a, b in zip(others, parameters, strict=True):
        np.testing.assert_allclose(a, b, 1e-5, 1e-6)
    for a, b in zip(other.state, optimizer.state, strict=True):
        assert list(a) == list(b)
        for key in a:
            np.testing.assert_allclose(np.asarray(a[key]), np.asarray(b[key]), 1e-5, 1e-6)
    assert traces(step) == (2 if name == "dampening" else 1)  # the first step with dampening is another one


def test_gradients_are_left_for_the_caller():
    w = ad.variable([1.0, 2.0])

    @ad.jit
    def loss(x):
        y = (w * x).sum()
        y.backward()
        return y

    loss(np.ones(2, "f"))
    assert w.grad.tolist() == [1, 1]
    held = w.grad
    loss(np.full(2, 2.0, "f"))  # there is a gradient now: another trace, which adds
    assert w.grad.tolist() == [3, 3]
    assert held.tolist() == [1, 1]
    loss(np.ones(2, "f"))
    assert w.grad.tolist() == [4, 4]
    assert traces(loss) == 2
    w.grad = None
    loss(np.ones(2, "f"))
    assert w.grad.tolist() == [1, 1]


def test_gradients_that_are_cleared_without_a_look_are_gone():
    w, x = ad.variable([1.0, 2.0]), ad.tensor([3.0, 4.0])
    optimizer = optim.SGD([w], 0.1)

    def clear(x):
        w.grad = None

    def clear_and_give_back(x):
        w.grad = None
        return x

    def clear_and_read(x):
        optimizer.zero_grad()
        return (w * x).sum()

    def clear_an_argument(w):
        w.grad = None
        return w * 2

    for f, argument in ((clear, x), (clear_and_give_back, x), (clear_and_read, x), (clear_an_argument, w)):
        compiled = ad.jit(f)
        for given in (None, x, x, None, x):
            w.grad = given
            compiled(argument)
            assert w.grad is None


def test_gradients_changed_in_place_change_for_all_who_hold_them():
    w = ad.variable([1.0, 2.0])
    (w * 3).sum().backward()
    held = w.grad

    @ad.jit
    def halve():
        w.grad *= 0.5

    halve()
    halve()
    assert w.grad.tolist() == [0.75, 0.75]
    assert held.tolist() == [1.5, 1.5]  # `w.grad = ...` made a tensor of its own


def test_accumulation_over_microbatches():
    w = ad.variable(2.0)
    optimizer = optim.SGD([w], lr=1.0)

    @ad.jit
    def step(x):
        for part in x:
            (w * part).backward()
        optimizer.step()
        optimizer.zero_grad()

    step(np.array([1.0, 2.0, 3.0], "f"))
    assert w.item() == -4
    assert w.grad is None


def test_floats_are_traced_and_conditions_on_them_remembered():
    @ad.jit
    def f(x, s):
        assert isinstance(s, float)
        return x * s if s > 1 else x + s**2

    x = ad.tensor(2.0)
    assert [f(x, s).item() for s in (3.0, 4.0, 0.5, 5.0, 0.25)] == [6, 8, 2.25, 10, 2.0625]
    assert [x.reason for x in f.traces] == ["the first call", "what Python has read of argument 1 has changed"]


def test_functions_of_a_float_are_traced_for_each_value():
    f = ad.jit(lambda x, s: x * math.sqrt(s))
    assert [f(ad.tensor(1.0), s).item() for s in (4.0, 9.0, 4.0)] == [2, 3, 2]
    assert traces(f) == 2


def test_arithmetic_on_unknown_numbers_is_pythons():
    def plain(s, t):
        return (
            (s + 1) * t / 3 - s // t + s % t,
            -s,
            abs(t),
            2**s,
            s * 0.1 + t,
            (1 - t**2) ** 0.5,
            +s,
            7 - s,
            float("inf") * s,
        )

    f = ad.jit(plain)
    for s, t in ((3.5, 0.25), (2.0, -0.75), (0.3, 0.9)):
        assert f(s, t) == plain(s, t)
    assert traces(f) == 1
    with pytest.raises(ZeroDivisionError):
        f(1.0, 0.0)


def test_static_arguments():
    @ad.jit
    def f(x, n, mode="sum"):
        return getattr(ad, mode)(x * n)

    x = ad.tensor([1.0, 2.0])
    assert [f(x, 2).item(), f(x, 3).item(), f(x, 2).item(), f(x, 2, mode="max").item(), f(x, True).item()] == [
        6,
        9,
        6,
        4,
        3,
    ]
    assert [x.reason for x in f.traces] == [
        "the first call",
        "argument 1 is 3 and was 2",
        "arguments in another structure",
        "arguments in another structure",
    ]
    g = ad.jit(lambda x, s: x * s, static_argnums=1)
    assert [g(x, s).tolist() for s in (0.5, 2.0, 0.5)] == [[0.5, 1], [2, 4], [0.5, 1]]
    assert traces(g) == 2


def test_new_shapes_and_dtypes_are_traced_and_old_traces_forgotten():
    f = ad.jit(lambda x: x.sum())
    for n in (1, 2, 1, 3):
        assert f(np.ones(n)).item() == n
    assert traces(f) == 3
    assert f(np.ones(2, "f")).dtype == ad.float32
    with pytest.warns(
        RuntimeWarning,
        match=r"<lambda> is traced anew again and again \(16 times: argument 0.*padded to a few shapes.*test_jit\.py",
    ):
        for n in range(100):
            f(np.ones(n))
    assert traces(f) == 64
    assert f(np.ones(2, np.float16)).dtype == ad.float16
    with pytest.raises(TypeError, match="unknown dtype"):
        f(np.ones(2, np.longdouble))
    assert f(np.ones(3, ">f8")).item() == 3


def test_containers_go_in_and_come_out():
    @ad.jit
    def f(batch, scale, *, offset):
        return {"sum": batch["x"] + batch["y"][0] * scale, "rest": (batch["y"][1], None, "text", 3), "offset": offset}

    x, y, z = (ad.tensor([v]) for v in (1.0, 2.0, 3.0))
    for scale in (2.0, 3.0):
        out = f({"x": x, "y": [y, z]}, scale, offset=z)
        assert out["sum"].tolist() == [1 + 2 * scale]
        assert out["rest"][1:] == (None, "text", 3)
        assert out["rest"][0] is z and out["offset"] is z
    assert traces(f) == 1


def test_methods():
    class Counter(nn.Module):
        def __init__(self, start):
            self.register_buffer("count", ad.tensor(float(start)))

        @ad.jit
        def forward(self, x):
            self.count += 1
            return x * self.count

    first, second = Counter(0), Counter(10)
    assert [first(ad.tensor(2.0)).item(), first(ad.tensor(2.0)).item(), second(ad.tensor(2.0)).item()] == [2, 4, 22]
    assert [first.count.item(), second.count.item()] == [2, 11]


def test_variables_and_tensors_as_arguments():
    @ad.jit
    def descend(w, x):
        loss = (w * x) ** 2
        loss.backward()
        w.data -= 0.1 * w.grad
        w.grad = None
        return w, loss

    for start in (1.0, 5.0):
        w = ad.variable(start)
        same, loss = descend(w, ad.tensor(2.0))
        assert same is w and w.requires_grad and w.grad is None
        assert loss.item() == (2 * start) ** 2
        assert w.item() == pytest.approx(start * 0.2)
    assert traces(descend) == 1
    with pytest.raises(RuntimeError, match="backward"):
        descend(ad.tensor(1.0), 2.0)


def test_an_argument_that_the_function_knows_already():
    w = ad.variable(3.0)

    @ad.jit
    def f(v):
        (v * w).backward()

    f(ad.variable(2.0))
    assert w.grad.item() == 2
    w.grad = None
    f(w)  # the derivative of w²
    assert w.grad.item() == 6

    total = ad.tensor(0.0)

    @ad.jit
    def add(a, b):
        a += 1.0
        b += 10.0

    add(total, other := ad.tensor(0.0))
    assert (total.item(), other.item()) == (1, 10)
    add(total, total)
    assert total.item() == 12


def test_random_numbers_go_on():
    generator, other = ad.random.Generator(5), ad.random.Generator(5)
    draw = ad.jit(lambda x: x + generator.normal((3,)) * generator.uniform((3,)))
    found = [draw(np.zeros(3, "f")).tolist() for _ in range(4)]
    wanted = [(other.normal((3,)) * other.uniform((3,))).tolist() for _ in range(4)]
    np.testing.assert_allclose(found, wanted, 1e-6)
    assert generator.state.tolist() == other.state.tolist()
    generator.seed(9), other.seed(9)
    np.testing.assert_allclose(draw(np.zeros(3, "f")), other.normal((3,)) * other.uniform((3,)), 1e-6)


def test_what_changes_between_calls_takes_effect():
    class Switch(nn.Module):
        def __init__(self):
            self.inner = nn.Linear(1, 1, bias=False)

        def forward(self, x):
            return self.inner(x) * (2 if self.training else 1)

    model = Switch()
    model.inner.weight.data = ad.tensor([[3.0]])
    run = ad.jit(lambda x: model(x))
    x = ad.ones((1,))
    assert run(x).item() == 6
    model.eval()
    assert run(x).item() == 3
    model.inner.weight.data = ad.tensor([[5.0]])
    assert run(x).item() == 5
    model.inner = nn.Linear(1, 1, bias=False)
    model.inner.weight.data = ad.tensor([[7.0]])
    assert run(x).item() == 7
    model.double()
    assert run(ad.ones((1,), dtype="float64")).dtype == ad.float64
    model = Switch()
    model.inner.weight.data = ad.tensor([[11.0]])
    assert run(x).item() == 22  # the name is in the function's closure
    model.inner.weight.requires_grad_(False)
    assert not run(x).requires_grad


def test_hyperparameters_need_no_new_trace():
    w = ad.variable(1.0)
    optimizer = optim.SGD([w], lr=1.0)

    @ad.jit
    def step():
        w.grad = ad.tensor(1.0)
        optimizer.step()

    for lr in (1.0, 0.5, 0.25):
        optimizer.param_groups[0]["lr"] = lr
        step()
    assert w.item() == 1 - 1.75
    assert traces(step) == 1
    optimizer.param_groups[0]["weight_decay"] = 0.5  # the step asks whether there is any
    step()
    assert traces(step) == 2
    assert w.item() == pytest.approx(-0.75 - 0.25 * (1 - 0.375))


def test_plain_python_state_must_not_change():
    class Wrong(nn.Module):
        def __init__(self):
            self.steps = 0

        def forward(self, x):
            self.steps += 1
            return x

    with pytest.raises(RuntimeError, match=r"Wrong\.steps changes while.*test_jit\.py:\d+"):
        ad.jit(Wrong())(ad.tensor(1.0))
    with pytest.raises(RuntimeError, match="seed of a random generator"):
        ad.jit(lambda: ad.random.seed(3))()
    w = ad.variable(1.0)
    with pytest.raises(RuntimeError, match="requires_grad of a tensor changes"):
        ad.jit(lambda: w.requires_grad_(False))()
    assert w.requires_grad


def test_modules_made_inside_are_the_functions_own():
    def f(x):
        layer = nn.ReLU()
        layer.note = "mine"
        return layer(x)

    assert ad.jit(f)(ad.tensor([-1.0, 1.0])).tolist() == [0, 1]


def test_a_value_needed_by_python_is_an_error_at_the_users_line():
    def f(x):
        if x > 0:
            return x
        return -x

    with pytest.raises(RuntimeError, match=r"'argument 0 of f' has none.*test_jit\.py:\d+"):
        ad.jit(f)(ad.tensor(1.0))
    w = ad.variable(1.0, name="weight")
    with pytest.raises(RuntimeError, match="the variable 'weight' has none"):
        ad.jit(lambda: w.item())()
    assert "traced" in ad.jit(lambda x: repr(x * w))(ad.tensor(1.0))
    assert w.item() == 1  # nothing is left of the trace


def test_an_error_inside_names_the_users_line_and_changes_nothing():
    w = ad.variable([1.0, 2.0])

    @ad.jit
    def f(x):
        w.data = w * 2
        return w @ x

    with pytest.raises(ValueError, match=r"test_jit\.py:\d+"):
        f(ad.ones((3,)))
    assert w.tolist() == [1, 2]
    table = ad.tensor([1.0, 2.0])
    pick = ad.jit(lambda i: table[i] * 2 - table[i])
    assert pick(np.array([1])).tolist() == [2]
    for _ in range(2):
        with pytest.raises(IndexError, match=r"index 5 is out of bounds.*test_jit\.py:\d+"):
            pick(np.array([5]))
    assert pick(np.array([-1])).tolist() == [2]


def test_pure_functions_are_differentiated_from_outside():
    w = ad.variable([1.0, 2.0, 3.0], dtype="float64")

    def f(x):
        return ad.sin(w * x).sum()

    jitted = ad.jit(f)
    x = ad.variable([0.1, 0.2, 0.3], dtype="float64")
    for _ in range(2):
        w.grad = x.grad = None
        jitted(x).backward()
        np.testing.assert_allclose(x.grad, w.numpy() * np.cos(w.numpy() * x.numpy()))
        np.testing.assert_allclose(w.grad, x.numpy() * np.cos(w.numpy() * x.numpy()))
    assert traces(jitted) == 1
    ad.check_grads(jitted, (x.detach(),), order=3)
    np.testing.assert_allclose(ad.hessian(jitted)(x.detach()), ad.hessian(f)(x.detach()))
    points = ad.tensor(np.random.default_rng(0).normal(size=(5, 3)))
    np.testing.assert_allclose(ad.vmap(jitted)(points), ad.vmap(f)(points))
    np.testing.assert_allclose(ad.jit(ad.vmap(ad.grad(jitted)))(points), ad.vmap(ad.grad(f))(points))
    np.testing.assert_allclose(ad.jit(ad.hessian(f))(points[0]), ad.hessian(f)(points[0]))


def test_buffers_change_in_a_differentiated_function():
    class Normal(nn.Module):
        def __init__(self):
            self.weight = ad.variable(2.0)
            self.register_buffer("mean", ad.tensor(0.0))

        def forward(self, x):
            self.mean.data = self.mean * 0.5 + (x * self.weight).mean().detach() * 0.5
            return (x - self.mean) * self.weight

    results = []
    for wrap in (lambda f: f, ad.jit):
        model = Normal()
        run = wrap(lambda x, model=model: model(x).sum())
        for k in range(3):
            run(ad.tensor([1.0 + k, 2.0])).backward()
        results.append((model.mean.item(), model.weight.grad.item()))
    np.testing.assert_allclose(results[1], results[0], 1e-6)


@pytest.mark.parametrize("detached", [True, False])
def test_frozen_variables_change_in_a_differentiated_function(detached):
    """As the second network that follows a first one slowly does."""
    results = []
    for wrap in (lambda f: f, ad.jit):
        fast, slow = ad.variable([1.0, 2.0]), ad.variable([0.0, 0.0])
        slow.grad = ad.tensor([7.0, 7.0])
        slow.requires_grad = False

        @wrap
        def run(x, fast=fast, slow=slow):
            slow.data = slow * 0.5 + (fast.detach() if detached else ad.tensor([1.0, 2.0])) * 0.5
            return ((x * fast - slow) ** 2).sum()

        values = []
        for k in range(4):
            loss = run(ad.tensor([1.0 + k, 2.0]))
            if k % 2:
                loss.backward()
                fast.data = fast - 0.1 * fast.grad
            values += [slow.tolist(), loss.item(), fast.tolist(), slow.grad.tolist(), slow.requires_grad]
        results.append(values)
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, 1e-6)


def test_inside_other_traces_the_function_itself_is_called():
    inner = ad.jit(lambda x: x * 2)
    outer = ad.jit(lambda x: inner(x) + 1)
    assert outer(ad.tensor(3.0)).item() == 7
    assert traces(inner) == 0
    assert ad.vmap(inner)(ad.ones((4,))).tolist() == [2] * 4


def test_no_grad_is_another_trace():
    w = ad.variable(2.0)
    f = ad.jit(lambda x: w * x)
    assert f(ad.tensor(3.0)).requires_grad
    with ad.no_grad():
        assert not f(ad.tensor(3.0)).requires_grad
    assert traces(f) == 2


def test_arrays_are_read_in_each_call_and_never_shared():
    f = ad.jit(lambda x: (x, x.reshape(4), x.T, x + 0))
    x = np.arange(4.0).reshape(2, 2)
    out = f(x)
    x[:] = 9
    for y in out:  # tensors, the argument itself too: the function was given one
        assert type(y) is ad.Tensor and y.numpy().ravel().tolist() in ([0, 1, 2, 3], [0, 2, 1, 3])
    for _ in range(3):
        out = f(x)
        assert out[0].tolist() == [[9, 9]] * 2 and out[1].tolist() == [9] * 4
        x[:] = 5
        assert out[0].tolist() == [[9, 9]] * 2
        x[:] = 9


def test_pending_tensors_are_evaluated_first():
    f = ad.jit(lambda x: x * state)
    state = ad.tensor(2.0)
    state += 1
    assert f(ad.tensor(2.0) * 5).item() == 30


def test_tensors_made_inside():
    def f(x):
        a = ad.tensor([1.0, 2.0])
        b = ad.tensor(x, dtype="float64")
        v = ad.variable(x)
        (v * v).sum().backward()
        a += 1
        return a * x, b, v.grad, ad.zeros(2), ad.asarray(x)

    out = ad.jit(f)(np.array([3.0, 4.0], "f"))
    assert [t.tolist() for t in out] == [[6, 12], [3, 4], [6, 8], [0, 0], [3, 4]]
    assert out[1].dtype == ad.float64


def test_host_calls_run_in_each_call():
    seen = []

    def double(x):
        seen.append(float(x.sum()))
        return x * 2

    f = ad.jit(lambda x: ad.host_call(double, x, shape=(2,), dtype="float64", vjp=lambda g, x: g * 2).sum())
    assert [f(np.full(2, v)).item() for v in (1.0, 2.0)] == [4, 8]
    assert seen == [2, 4]
    assert ad.grad(f)(ad.tensor([1.0, 1.0], dtype="float64")).tolist() == [2, 2]


def test_checking_finds_what_python_computed():
    limit = sys.getrecursionlimit()  # a function in C, which reads what nobody else can see
    checked = ad.jit(lambda x: x * sys.getrecursionlimit(), check=True)
    assert checked(ad.tensor(1.0)).item() == limit
    try:
        sys.setrecursionlimit(limit + 1)
        with pytest.raises(RuntimeError, match="result 0 differs between the function and its compiled graph"):
            checked(ad.tensor(1.0))
    finally:
        sys.setrecursionlimit(limit)
    losses, parameters, _, _ = training(OPTIMIZERS["adamw"], False)
    model = network()
    optimizer = OPTIMIZERS["adamw"](list(model.parameters()))

    @ad.jit(check=True)
    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for k in range(7):
        optimizer.lr *= 0.5 if k == 4 else 1
        assert step(X, Y).item() == pytest.approx(losses[k], 1e-6)
    for p, q in zip(model.parameters(), parameters, strict=True):
        np.testing.assert_allclose(p, q, 1e-5, 1e-6)


def test_backward_reaches_no_further_than_the_function():
    w = ad.variable(2.0)
    h = w * 3
    f = ad.jit(lambda x: (h * x).backward())
    with pytest.raises(RuntimeError, match="was computed from variables outside"):
        f(ad.tensor(1.0))
    assert ad.jit(lambda x: h * x)(ad.tensor(5.0)).item() == 30
    ad.jit(lambda x: h * x)(ad.tensor(5.0)).backward()
    assert w.grad.item() == 15


def test_other_threads_see_nothing_of_a_trace():
    started, finish = threading.Event(), threading.Event()
    w = ad.variable(1.0)
    found = []

    def other():
        started.wait(10)
        with ad.no_grad():
            found.append((w * 2).item())
        finish.set()

    def f(x):
        w.data = w + x
        started.set()
        assert finish.wait(10)
        return w * 10

    thread = threading.Thread(target=other)
    thread.start()
    assert ad.jit(f)(ad.tensor(1.0)).item() == 20
    thread.join()
    assert found == [2]
    assert w.item() == 2


def test_a_step_leaves_nothing_behind():
    _, _, _, step = training(OPTIMIZERS["adamw"], True)
    for _ in range(3):
        step(X, Y)
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(300):
        step(X, Y)
    gc.collect()
    assert sys.getallocatedblocks() - before < 200


def test_wrong_use():
    with pytest.raises(TypeError, match="expected a function, got int"):
        ad.jit(3)
    w = ad.variable([1.0, 2.0])

    @ad.jit
    def grow():
        w.data = ad.concat([w, w])

    with pytest.raises(ValueError, match="shape"):
        grow()
    assert w.tolist() == [1, 2]


# The written step: values that somebody else holds stay as they are --------------------------------------------------


def descending():
    """A variable, and a jitted function that takes a step down x²/2 from it."""
    w = ad.variable(np.arange(1.0, 5.0))

    @ad.jit
    def step(rate):
        loss = (w * w).sum() / 2
        loss.backward()
        w.data = w - rate * w.grad
        w.grad = None
        return loss

    return w, step


def test_values_that_somebody_holds_stay_as_they_are():
    w, step = descending()
    expected = w.numpy().copy()
    held = []
    for k in range(12):
        held.append((w.numpy(), expected.copy()))
        held.append((w.detach(), expected.copy()))
        if k % 3 == 0:
            held.append((w * 1, expected.copy()))  # pending, on the graph of the old value
        if k % 4 == 1:
            held.clear()
        step(0.5)
        expected *= 0.5
        np.testing.assert_array_equal(w, expected)
        for value, was in held:
            np.testing.assert_array_equal(value, was)


def test_constants_that_a_call_replaces_are_not_kept():
    up, down, read = ad.zeros(5), ad.full(5, -0.0), ad.zeros(5)
    before = [x.node for x in (up, down, read)]

    @ad.jit
    def step(x):
        up.data = up + x
        down.data = 1 / down
        return read + 1

    np.testing.assert_array_equal(step(ad.ones(5)).numpy(), np.ones(5))
    np.testing.assert_array_equal(up.numpy(), np.ones(5))
    np.testing.assert_array_equal(down.numpy(), np.full(5, -np.inf))  # -0 isn't taken for 0
    assert [node.value is None for node in before] == [True, True, False]
    step(ad.ones(5))
    np.testing.assert_array_equal(up.numpy(), np.full(5, 2.0))
    np.testing.assert_array_equal(down.numpy(), np.full(5, -0.0))


def test_two_jitted_functions_share_a_variable():
    w, step = descending()
    total = ad.jit(lambda: w.detach().sum())
    for k in range(6):
        assert total().item() == pytest.approx(10 * 0.5**k)
        step(0.5)
        assert total().item() == pytest.approx(5 * 0.5**k)


def test_values_given_from_outside_between_steps():
    w, step = descending()
    step(0.5)
    step(0.5)
    mine = np.array([1.0, 2.0, 3.0, 4.0])
    w.data = ad.asarray(mine, copy=False)
    step(0.5)
    step(0.5)
    assert mine.tolist() == [1, 2, 3, 4]
    assert w.tolist() == [0.25, 0.5, 0.75, 1]
    w.data = ad.tensor(np.arange(8.0))[::2]  # not in order in memory
    step(0.5)
    assert w.tolist() == [0, 1, 2, 3]
    w.data = w * 2  # not computed yet
    step(0.5)
    assert w.tolist() == [0, 1, 2, 3]


def test_calls_of_other_kinds_in_between():
    f = ad.jit(lambda x, s: (x * s, s + 1))
    for x, s in [
        (np.ones(2), 2.0),
        (np.ones(2), 3.0),
        (np.ones(3), 2.0),
        (np.ones((4, 2))[:, 0], 2.0),
        (np.ones(2), 4.0),
    ]:
        out, number = f(x, s)
        assert out.tolist() == [s] * len(x)
        assert number == s + 1
    assert f(x=np.ones(2), s=5.0)[0].tolist() == [5, 5]
    assert f(ad.ones(2), 5.0)[0].tolist() == [5, 5]
    with pytest.raises(TypeError, match="argument"):
        f(np.ones(2))
    with ad.no_grad():
        assert f(np.ones(2), 6.0)[0].tolist() == [6, 6]


def test_one_function_from_several_threads():
    w = ad.tensor(np.arange(50_000.0))
    f = ad.jit(lambda x: ad.sin(w * x).sum())
    expected = [np.sin(np.arange(50_000.0) * k).sum() for k in range(8)]
    f(np.array(1.0))
    wrong = []

    def work(k):
        for _ in range(30):
            found = f(np.array(float(k))).item()
            if abs(found - expected[k]) > 1e-6:
                wrong.append((k, found))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
