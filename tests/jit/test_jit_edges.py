"""`ad.jit` at its edges: unusual numbers, arguments, names and objects, each beside what the function itself gives."""

from __future__ import annotations

import copy
import math
import pickle
from collections import OrderedDict, defaultdict, namedtuple

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn, optim
from adjoint.execution.native import frames
from adjoint.tracer.write_step import UNUSUAL

X = np.array([1.0, 2.0], "f")
SCALE = 2.0


@ad.jit
def doubled(x):
    return x * 2


NUMBERS = {
    "isinstance": lambda s: X[0] * s if isinstance(s, float) else ad.tensor(100.0),
    "numpy function": lambda s: ad.tensor(X) * np.exp(-s) * np.float64(3) * (np.float32(2) * s),
    "numpy array": lambda s: ad.tensor(X) * np.array([s, s + 1]) + np.array([s, 1.0]),
    "tensor": lambda s: ad.tensor(s) * ad.asarray(s, dtype="float64") + ad.tensor([s, 2 * s]),
    "variable": lambda s: ad.grad(lambda x: x**3)(s),
    "divmod": lambda s: ad.tensor(divmod(s, 0.3)) + ad.tensor(divmod(2.0, s)),
    "complex": lambda s: ad.tensor(X) * (1j * s) + complex(s, 1),
    "is_integer": lambda s: ad.tensor(1.0 if s.is_integer() else 2.0),
    "guarded division": lambda s: ad.tensor(X) * (1.0 / s if s != 0 else 5.0),
    "copied": lambda s: ad.tensor(X) * copy.deepcopy({"s": s})["s"] * math.trunc(s + 1),
    "sign of zero": lambda s: ad.tensor(X) * math.copysign(1.0, s),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_floats_are_floats_to_who_asks(name):
    f = NUMBERS[name]
    jitted = ad.jit(f)
    for s in (0.5, 0.5, 2.0, 0.25, 0.0, -0.0):
        if s == 0 and name == "divmod":
            continue
        found, wanted = np.asarray(jitted(s)), np.asarray(f(s))
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, 1e-6)


def test_what_a_number_has_not_is_said_of_a_float():
    with pytest.raises(AttributeError, match="'float' object has no attribute 'shape'"):
        ad.jit(lambda s: s.shape)(1.0)


def test_guards_hold_in_the_written_step():
    f = ad.jit(lambda x, s: x * (1.0 / s if s else 5.0))
    for s in (2.0, 2.0, 0.0):
        assert f(X, s)[0].item() == (1 / s if s else 5)


@pytest.mark.parametrize("length", [1, 80])  # the longer one runs on the tape
def test_numbers_that_differ_in_the_sign_of_zero(length):
    def f(x, s):
        for _ in range(length):
            x = x + 1.0
        return x / s

    jitted = ad.jit(f)
    for s in (0.0, 0.0, -0.0, 0.0, -0.0, -0.0):
        assert jitted(X[0], s).item() == math.copysign(math.inf, s)
        assert jitted(x=X[0], s=s).item() == math.copysign(math.inf, s)


@pytest.mark.parametrize("rate", [np.float64(0.5), np.float32(0.5), 1, True])
def test_hyperparameters_of_other_types(rate):
    w = ad.variable(2.0)
    optimizer = optim.SGD([w], lr=rate)

    @ad.jit
    def step(x):
        (w * x).backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(3):
        step(np.float32(1))
    for _ in range(3):
        step(ad.tensor(1.0))
    assert w.item() == 2 - 6 * float(rate)


def test_names_in_inner_functions_and_names_that_come_later_are_watched():
    global SCALE, UNKNOWN_YET

    @ad.jit
    def f(x):
        return sum([x[k] * SCALE for k in range(2)])

    @ad.jit
    def g(x):
        return x.sum() * UNKNOWN_YET

    UNKNOWN_YET = 2.0
    assert (f(X).item(), g(X).item()) == (6, 6)
    SCALE = UNKNOWN_YET = 3.0
    assert (f(X).item(), g(X).item()) == (9, 9)
    SCALE = 2.0


def test_rebinding_a_name_of_the_surroundings_is_an_error():
    total = ad.tensor(0.0)

    @ad.jit
    def wrong(x):
        nonlocal total
        total = total + x.sum()

    with pytest.raises(RuntimeError, match="what the name 'total' refers to changes"):
        wrong(X)

    counted = ad.tensor(0.0)

    @ad.jit
    def right(x):
        nonlocal counted
        counted += x.sum()

    right(X)
    right(X)
    assert counted.item() == 6


def test_generators_and_coroutines_are_refused():
    def generator(x):
        yield x

    async def coroutine(x):
        return x

    for f in (generator, coroutine):
        with pytest.raises(TypeError, match=rf"jit: {f.__name__} is a generator or a coroutine.*test_jit_edges"):
            ad.jit(f)


def test_static_arguments_are_compared_by_content():
    @ad.jit(static_argnums=1)
    def f(x, s):
        return x * s[0]

    s = [2.0]
    assert f(X, s).tolist() == [2, 4]
    s[0] = 3.0
    assert f(X, s).tolist() == [3, 6]
    s = np.array([5.0, 1.0])
    assert f(X, s).tolist() == [5, 10]
    s[0] = 7.0
    assert f(X, s).tolist() == [7, 14]
    for k in range(3):
        f(X, (2.0 + 0 * k,))
    assert len(f.traces) == 5
    for wrong in (-1, 5, "x", (1.0,)):
        with pytest.raises((TypeError, ValueError), match="static_argnums"):
            ad.jit(lambda x, s: x, static_argnums=wrong)


def test_static_arguments_by_name():
    def scaled(x, n, *, table=(1.0,), **more):
        assert type(n) is float and type(table[0]) is float and type(more.get("s", 0.0)) is float
        return x * n * table[0] + more.get("s", 0.0)

    for f in (
        ad.jit(scaled, static_argnames=("n", "table", "s")),
        ad.jit(static_argnums=1, static_argnames=["table", "s"])(scaled),
    ):
        assert f(X, 2.0).tolist() == f(X, n=2.0).tolist() == f(n=2.0, x=X).tolist() == [2, 4]
        table = [3.0]
        assert f(X, 1.0, table=table).tolist() == [3, 6]
        table[0] = 5.0
        assert f(X, 1.0, table=table).tolist() == [5, 10]
        count = len(f.traces)
        assert f(X, 1.0, table=[5.0]).tolist() == [5, 10] and len(f.traces) == count
        assert f(X, 1.0, s=2.0).tolist() == [3, 4] and f(X, 1.0, s=4.0).tolist() == [5, 6]
        assert f(np.array([1.0, 2.0]), n=2.0).tolist() == ad.vmap(lambda _, g=f: g(X, n=2.0))(X)[0].tolist() == [2, 4]
    again = copy.deepcopy(ad.jit(scaled, static_argnames="n"))
    assert again(X, 2.0).tolist() == [2, 4]
    for wrong in ("k", ("n", "k"), 1, None):
        with pytest.raises(ValueError, match="static_argnames are names of arguments, here x, n"):
            ad.jit(lambda x, n: x, static_argnames=wrong)

    class Scale:
        def __init__(self):
            self.k = 2.0

        @ad.jit(static_argnames="n")
        def by(self, x, n):
            assert type(n) is float
            return x * n * self.k

    scale = Scale()
    assert scale.by(X, 3.0).tolist() == scale.by(X, n=3.0).tolist() == [6, 12]
    assert ad.jit(Scale().by, static_argnames="n")(X, n=1.0).tolist() == [2, 4]


def test_containers_whose_contents_would_not_be_seen():
    f = ad.jit(lambda d: d["x"] * 2)
    d = OrderedDict(x=ad.tensor(1.0))
    assert f(d).item() == 2
    d["x"] = ad.tensor(5.0)
    assert f(d).item() == 10
    assert type(ad.jit(lambda d: d)(d)) is OrderedDict
    with pytest.raises(TypeError, match="defaultdict, whose contents can change"):
        f(defaultdict(int, x=ad.tensor(1.0)))


def test_the_written_step_takes_containers_apart():
    Pair = namedtuple("Pair", "x y")

    def f(p, batch):
        kind = batch["kind"]
        x = p[0] @ p[1]["w"] + batch["x"]
        return {
            "sum": x.sum() * kind,
            "both": (x, [p[1]["w"]]),
            "none": None,
            "kind": kind,
            "one": (x + 1,),
            "empty": (),
        }

    def arguments(seed, w=4, keys=("x", "kind"), kind=2):
        made = np.random.default_rng(seed)
        values = {"x": made.normal(size=w), "kind": kind}
        weight = ad.tensor(made.normal(size=(3, w)))
        return [ad.tensor(made.normal(size=(2, 3))), {"w": weight, "rest": (None, [])}], {k: values[k] for k in keys}

    jitted = ad.jit(f)
    usual = [arguments(seed) for seed in range(4)]
    first, last = arguments(9), arguments(10)
    unusual = [arguments(5, w=6), arguments(6, keys=("kind", "x")), arguments(7, kind=3), arguments(8, kind=True)]
    unusual += [[tuple(first[0]), first[1]], [[last[0][0], last[0][1] | {"rest": (None, ())}], last[1]]]
    for args in [*usual, *[x for pair in zip(unusual, usual * 2, strict=False) for x in pair]]:
        found, wanted = jitted(*args), f(*args)
        assert ad.tree.flatten(found)[1] == ad.tree.flatten(wanted)[1] and type(found["kind"]) is type(wanted["kind"])
        for one, other in zip(ad.tree.flatten(found)[0], ad.tree.flatten(wanted)[0], strict=True):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), 1e-12)
        assert found["both"][1][0] is args[0][1]["w"]
    assert len(jitted.traces) == 1 + len(unusual)
    assert jitted._way is not None, "containers take the short way, too"
    assert ad.jit(lambda p: p.x * p.y)(Pair(ad.tensor(2.0), ad.tensor(3.0))).item() == 6
    with pytest.raises(IndexError):
        jitted([usual[0][0][0]], usual[0][1])


def test_a_large_result_is_written_over_only_when_nobody_has_it():
    f = ad.jit(lambda x: (x * 2.0, x.sum()))
    x = ad.tensor(np.arange(41_300.0))
    held, addresses = [], set()
    for k in range(12):
        y, _ = f(x + float(k))
        addresses.add(y.numpy().ctypes.data)
        if k % 4 == 1:
            held.append((k, y))
        elif k % 4 == 2:
            held.append((k, y.numpy()[::-1][::-1]))
        elif k % 4 == 3:
            held.append((k, f(y / 2.0)[0]))
    for k, y in held:
        np.testing.assert_array_equal(np.asarray(y), 2 * (np.arange(41_300.0) + k))
    z = x
    for _ in range(5):
        z = f(z)[0]
    np.testing.assert_array_equal(z.numpy(), 32 * np.arange(41_300.0))
    free = {f(x)[0].numpy().ctypes.data for _ in range(5)}
    assert len(free) <= 2, "memory that nobody holds is used again"


def test_arrays_are_tensors_also_where_the_function_itself_is_called():
    total = lambda x: x.sum() if isinstance(x, ad.Tensor) else None  # noqa: E731
    assert ad.jit(total, check=True)(X).item() == 3
    inner = ad.jit(total)
    assert ad.jit(lambda y: inner(X) * y)(ad.tensor(2.0)).item() == 6


def test_a_generator_made_inside_goes_on():
    def f(x):
        generator = ad.random.Generator(5)
        return x + generator.normal((4,)), generator.uniform((4,))

    for found, wanted in zip(ad.jit(f)(np.zeros(4)), f(np.zeros(4)), strict=True):
        np.testing.assert_allclose(found, wanted, 1e-6)


@pytest.mark.parametrize("schedule", [optim.LinearLR, lambda o: optim.ReduceLROnPlateau(o, patience=0)])
def test_schedules_go_on_outside(schedule):
    w = ad.variable(1.0)
    optimizer = optim.SGD([w], lr=0.1)
    rates = schedule(optimizer)
    with pytest.raises(RuntimeError, match=r"changes while the function is traced.*test_jit_edges"):
        ad.jit(lambda s: rates.step() if schedule is optim.LinearLR else rates.step(s))(1.0)
    assert rates.last_epoch == 0


def test_copies_and_pickles():
    class Net(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(2, 2)
            self.run = ad.jit(self.forward)

        def forward(self, x):
            return self.layer(x)

    net = Net()
    before = net.run(X).tolist()
    other = copy.deepcopy(net)
    other.layer.weight.data = other.layer.weight * 0
    other.layer.bias.data = other.layer.bias * 0
    assert (net.run(X).tolist(), other.run(X).tolist()) == (before, [0, 0])
    doubled(X)
    assert pickle.loads(pickle.dumps(doubled)) is doubled
    again = pickle.loads(pickle.dumps(ad.jit(math.hypot, static_argnums=(0, 1))))
    assert again(3.0, 4.0) == 5


def test_running_statistics_that_nobody_reads_do_not_pile_up():
    norm = nn.BatchNorm1d(2)
    f = ad.jit(lambda x: norm(x).sum())
    for _ in range(5):
        f(np.ones((3, 2), "f")).backward()
    pending = norm.running_mean.node
    assert pending.value is None
    f(np.ones((3, 2), "f"))
    assert pending.value is not None
    assert norm.running_mean.numpy() == pytest.approx(1 - 0.9**6)


def test_a_step_that_is_running_already_is_not_waited_for():
    w = ad.variable(0.0)

    @ad.jit
    def step(x):
        w.data = w + x

    step(X[0])
    step(ad.tensor(1.0))
    compiled = [c for found in step.compiled.values() for c in found if c.step is not None]
    for c in compiled:
        with c.step[1].lock:
            step(ad.tensor(1.0))
    assert w.item() == 2 + len(compiled)


def test_numbers_below_zero_are_no_classes_and_no_rows():
    scores = ad.tensor(np.eye(3))
    table = nn.Embedding(3, 2)
    loss = ad.jit(lambda y: nn.functional.cross_entropy(scores, y))
    rows = ad.jit(lambda i: table(i).detach())
    for f in (loss, rows):
        for _ in range(2):
            f(np.array([0, 1, 2]))
        with pytest.raises(IndexError, match=r"out of bounds.*test_jit_edges"):
            f(np.array([0, -1, 2]))
    assert loss(np.array([0, -100, 2])).item() == pytest.approx(math.log(math.e + 2) - 1)
    pending = ad.tensor([1, 2, 0]) - 1
    with pytest.raises(IndexError, match="out of bounds"):
        nn.functional.cross_entropy(scores, pending).item()


class Scaler:
    """Not a module: its attributes are plain."""

    def __init__(self):
        self.scale = 2.0
        self.weight = ad.variable(1.0)
        self.calls = self.unused = 0

    @ad.jit
    def apply(self, x):
        return x * self.weight * self.scale

    @ad.jit
    def count(self, x):
        self.calls += 1
        return x


def test_attributes_of_a_plain_object():
    scaler = Scaler()
    x = ad.tensor(3.0)
    assert scaler.apply(x).item() == 6
    scaler.unused += 1
    assert scaler.apply(x).item() == 6
    assert len(Scaler.apply.traces) == 1
    scaler.scale = 5.0
    assert scaler.apply(x).item() == 15
    scaler.weight = ad.variable(2.0)
    assert scaler.apply(x).item() == 30
    with pytest.raises(RuntimeError, match=r"Scaler\.calls changes while the function is traced"):
        scaler.count(x)


def test_an_array_that_the_function_changes_stays_the_callers():
    @ad.jit
    def f(x):
        x += 1
        x[0] = 5
        return x, x * 2

    for x in (np.zeros(2), np.zeros(2), np.ones(2)):
        changed, doubled = f(x)
        assert changed.tolist() == [5, x[1] + 1]
        assert doubled.tolist() == [10, 2 * x[1] + 2]
        assert x.tolist() in ([0, 0], [1, 1])
    tensor = ad.zeros(2)
    assert f(tensor)[0] is tensor
    assert tensor.tolist() == [5, 1]


@pytest.mark.parametrize("check", [False, True])
def test_modules_made_inside_come_out(check):
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    f = ad.jit(lambda x: (ad.grad(lambda m: (m(x) ** 2).sum())(model), model), check=check)
    for k in range(3):
        x = ad.tensor(X) + k
        gradient, same = f(x)
        wanted = ad.grad(lambda m, x=x: (m(x) ** 2).sum())(model)
        assert same is model
        assert type(gradient) is nn.Sequential and gradient is not model
        assert [name for name, _ in gradient.named_parameters()] == [name for name, _ in model.named_parameters()]
        for a, b in zip(gradient.parameters(), wanted.parameters(), strict=True):
            np.testing.assert_allclose(a, b, 1e-5, 1e-6)
    assert len(f.traces) == 1


def test_tensors_at_the_address_of_one_that_is_gone():
    """What a function makes and lets go of is no reason to take another tensor for its own."""
    given = [ad.tensor([float(k)]) for k in range(50)]

    @ad.jit
    def f(x):
        for _ in range(200):
            x = x + 0 * (x * 2 - x)  # addresses are used again and again
        fresh = [y * 1 for y in given]
        for y in fresh:
            x = x + y
        x += 1
        return x

    assert f(ad.tensor([1.0])).tolist() == [sum(range(50)) + 2.0]
    given[3] += 10.0
    assert f(ad.tensor([1.0])).tolist() == [sum(range(50)) + 12.0]


def test_a_tensor_made_in_a_traced_function_may_start_to_require_a_gradient():
    @ad.jit
    def f(x):
        y = x.detach() * 2
        y.requires_grad_(True)
        (y * y).sum().backward()
        return y.grad

    assert f(ad.tensor([3.0])).tolist() == [12.0]
    w = ad.tensor([3.0])
    with pytest.raises(RuntimeError, match="requires_grad of a tensor changes"):
        ad.jit(lambda x: w.requires_grad_(True) * x)(ad.tensor([1.0]))


def test_results_that_are_one_array_in_several_shapes() -> None:
    rng = np.random.default_rng(0)
    m, v = rng.normal(size=(5, 7)), rng.normal(size=7)
    expected = m @ v
    alone = ad.jit(lambda m, v: m @ v)
    both = ad.jit(lambda m, v: (lambda y: (y, y[:, None], y.reshape((1, 5)), y[:3]))(m @ v))
    for k in range(1, 5):
        np.testing.assert_allclose(alone(ad.tensor(m * k), ad.tensor(v)).numpy(), k * expected)
        flat, column, row, part = both(ad.tensor(m * k), ad.tensor(v))
        assert (flat.shape, column.shape, row.shape, part.shape) == ((5,), (5, 1), (1, 5), (3,))
        for found in (flat, column.reshape((5,)), row[0]):
            np.testing.assert_allclose(found.numpy(), k * expected)
        np.testing.assert_allclose(part.numpy(), k * expected[:3])


def unaligned(x):
    """A copy of which no element begins at a multiple of its size."""
    found = np.frombuffer(bytearray(x.nbytes + 1), x.dtype, x.size, 1).reshape(x.shape)
    found[...] = x
    assert not found.flags.aligned
    return found


@pytest.mark.parametrize("sees", [True, False])
def test_arrays_out_of_order_are_put_in_order_and_nothing_happens_twice(monkeypatch, sees):
    """The native program looks at the arrays itself, or Python does where their layout isn't known."""
    if not sees:
        monkeypatch.setattr(frames, "LAYOUT", None)
    elif frames.LAYOUT is None:
        pytest.skip("an interpreter whose objects have another layout")
    w = ad.variable(np.ones((3, 3), "f"))
    total = ad.variable(np.zeros((3, 3), "f"))

    @ad.jit
    def step(x):
        total.data += w * x
        return (w @ x)[0]

    x, wanted = np.arange(9, dtype="f").reshape(3, 3), np.zeros((3, 3), "f")
    strided = np.zeros((3, 6), "f")[:, ::2]
    for given in (x, x, x, x.T, x, unaligned(x), x, strided + x, np.asfortranarray(x), x[::-1], x):
        np.testing.assert_array_equal(step(given).numpy(), given.sum(axis=0))
        wanted += given
        np.testing.assert_array_equal(total.numpy(), wanted)
    assert step._way[0](x.T) is UNUSUAL
    np.testing.assert_array_equal(total.numpy(), wanted)
    w.data = ad.tensor(np.ones((3, 3), "f")) * 2.0  # pending: it has no array yet
    np.testing.assert_array_equal(step(x).numpy(), 2 * x.sum(axis=0))
    assert len(step.traces) == 1


def test_a_graph_with_constants_is_given_all_its_arrays_at_once():
    table = ad.tensor(np.arange(12.0, dtype="f").reshape(3, 4))
    f = ad.jit(lambda x, k: (table @ x + ad.tensor(np.arange(3, dtype="f")), x * k))
    x = np.arange(4, dtype="f")
    for k in (1.0, 2.0, 3.0):
        a, b = f(x, k)
        np.testing.assert_array_equal(a.numpy(), table.numpy() @ x + np.arange(3))
        np.testing.assert_array_equal(b.numpy(), x * k)


def test_a_history_given_to_a_tensor_from_outside_is_named() -> None:
    w, kept = ad.variable(2.0), ad.tensor([1.0, 2.0])

    @ad.jit
    def scaled(x: ad.Tensor) -> ad.Tensor:
        kept[...] = x * w
        return x

    with pytest.raises(RuntimeError, match=r"scaled: a tensor from outside .* a history"):
        scaled(ad.tensor([3.0, 4.0]))
    assert kept.tolist() == [1.0, 2.0] and not kept.requires_grad
