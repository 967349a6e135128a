"""Plans of many equal layers follow from shorter ones: unit for unit, place for place and bit for bit as planned in full."""

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.compiler.tables import Start
from adjoint.execution.native import layers, relatives
from adjoint.execution.native.program import compile_nests
from adjoint.plan import shortened
from adjoint.plan.matching import Loop

WIDTH, BATCH = 24, 16


class Block(nn.Module):
    """A residual block."""

    def __init__(self, width=WIDTH, rate=0.0):
        super().__init__()
        self.norm, self.first, self.second = (
            nn.LayerNorm(width),
            nn.Linear(width, 2 * width),
            nn.Linear(2 * width, width),
        )
        self.drop = nn.Dropout(rate)

    def forward(self, x):
        return x + self.drop(self.second(nn.functional.gelu(self.first(self.norm(x)))))


class Attention(nn.Module):
    """A block with attention."""

    def __init__(self):
        super().__init__()
        self.norm, self.three, self.out, self.rest = (
            nn.LayerNorm(WIDTH),
            nn.Linear(WIDTH, 3 * WIDTH),
            nn.Linear(WIDTH, WIDTH),
            Block(),
        )

    def forward(self, x):
        q, k, v = ad.split(self.three(self.norm(x)), 3, axis=-1)
        x = x + self.out(ad.softmax(q @ k.mT * 0.2, axis=-1) @ v)
        return self.rest(x)


class Deep(nn.Module):
    """Layers one after the other; what each gives may be read by others."""

    def __init__(self, made, wrapped=lambda f, x: f(x), exits=False):
        super().__init__()
        self.layers, self.head = nn.ModuleList(made), nn.Linear(WIDTH, 3)
        self.wrapped, self.exits = wrapped, exits

    def forward(self, x):
        outs = []
        for layer in self.layers:
            x = self.wrapped(layer, x)
            outs.append(x)
        read = outs if self.exits else outs[-1:]
        return sum([ad.mean(ad.square(self.head(x) - 1)) for x in read])


class Tied(nn.Module):
    """Embeddings that are read at both ends."""

    def __init__(self, count):
        super().__init__()
        self.table, self.layers = nn.Embedding(11, WIDTH), nn.ModuleList([Block() for _ in range(count)])

    def forward(self, x):
        tokens = ad.argmax(x, axis=-1) % 11
        y = self.table(tokens)
        for layer in self.layers:
            y = layer(y)
        return nn.functional.cross_entropy(y @ self.table.weight.mT, tokens)


def perceptron(count):
    return [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()) for _ in range(count)]


def odd(count):
    made = [Block() for _ in range(count)]
    made[count // 2] = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Sigmoid())
    return made


FOLLOWED = {
    "residual": lambda: Deep([Block() for _ in range(24)]),
    "attention": lambda: Deep([Attention() for _ in range(17)]),
    "tied": lambda: Tied(21),
    "dropout": lambda: Deep([Block(rate=0.2) for _ in range(20)]),
    "an odd one in the midst": lambda: Deep(odd(48)),
    "checkpointed": lambda: Deep([Block() for _ in range(20)], lambda f, x: ad.checkpoint(f)(x)),
}
PLANNED_IN_FULL = {  # for a nest has something of every layer
    "perceptron": lambda: Deep(perceptron(60)),
    "one layer again and again": lambda: Deep([Block()] * 30),
    "exits": lambda: Deep([Block() for _ in range(22)], exits=True),
}


def sgd(model):
    return ad.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)


def adam(model):
    return ad.optim.Adam(model.parameters(), lr=0.01, amsgrad=True)


def groups(model):
    own = list(model.parameters())
    kinds = [
        {"params": [p for p in own if p.ndim > 1]},
        {"params": [p for p in own if p.ndim < 2], "weight_decay": 0.0},
    ]
    return ad.optim.AdamW(kinds, lr=0.01, weight_decay=0.1)


def step_of(network, optimizer, clip=None):
    ad.random.seed(3)
    model = network()
    optimizer = optimizer(model)

    def step(x):
        optimizer.zero_grad()
        loss = model(x)
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        return loss

    return model, step


def bits(network, optimizer, clip=None):
    """What three steps leave behind, to the bit."""
    model, step = step_of(network, optimizer, clip)
    step = ad.jit(step)
    x = ad.tensor(np.random.default_rng(0).normal(size=(BATCH, WIDTH)).astype("f4"))
    losses = [step(x).numpy().tobytes() for _ in range(3)]
    return losses + [p.numpy().tobytes() for p in model.parameters()]


@pytest.fixture
def followed(monkeypatch):
    """Plans are shortened from a few steps on; the list of pairs: a program planned in full, and one that follows."""
    monkeypatch.setattr(shortened, "WORTH", 200)
    monkeypatch.setattr(shortened, "VARIED", 4)
    monkeypatch.setattr(shortened, "SAVED", 0.1)
    pairs = []

    def both(plan):
        made = layers.compile_layers(plan)
        if made is not None:
            pairs.append((compile_nests(plan), made))
        return made

    monkeypatch.setattr(relatives, "compile_layers", both)
    return pairs


def assert_alike(full, made):
    """Both programs make the same calls with the same arguments, of arrays at the same places: but for these arrays' names."""
    one, other = full.linked, made.linked
    assert one.spots == other.spots
    calls = []
    for linker in (one, other):
        found = linker.calls.copy()
        found[:, 1] -= linker.arguments.ctypes.data
        calls.append(found.tolist())
    assert calls[0] == calls[1]
    assert one.arguments.tolist() == other.arguments.tolist()
    names = {}
    for (key, at), (its, there) in zip(full.table.positions.items(), made.table.positions.items(), strict=True):
        assert at == there
        if type(key) is Start:
            assert key.offset == its.offset
            assert names.setdefault(key.root, its.root) == its.root
        else:
            assert key == its
    assert len(set(names.values())) == len(names)

    def named(x):
        return names.get(x, x) if type(x) is int else x

    a, b = full.outline, made.outline
    assert {named(x): k for x, k in a.produced.items()} == b.produced
    assert {named(x): named(y) for x, y in a.handed_on.items()} == b.handed_on
    assert {named(x): leaves for x, leaves in a.shares.items() if leaves} == {x: y for x, y in b.shares.items() if y}
    assert [named(x) for x in a.fresh] == b.fresh
    assert [named(x) for x in a.as_they_come] == b.as_they_come
    assert {named(x): at for x, at in full.offsets.items()} == made.offsets
    assert full.moves.tolist() == made.moves.tolist()
    assert full.inner.tolist() == made.inner.tolist()


def assert_equal_bits(run, followed, monkeypatch):
    """What follows from a shorter plan is what is planned in full, and gives its bits; whether anything followed."""
    found = run()
    for full, made in followed:
        assert_alike(full, made)
    monkeypatch.setattr(relatives, "compile_layers", lambda plan: None)
    assert run() == found
    return bool(followed)


@pytest.mark.parametrize("optimizer", [sgd, adam, groups])
@pytest.mark.parametrize("name", FOLLOWED)
def test_a_program_of_layers_is_the_one_planned_in_full(name, optimizer, followed, monkeypatch):
    assert assert_equal_bits(lambda: bits(FOLLOWED[name], optimizer), followed, monkeypatch)


@pytest.mark.parametrize("name", PLANNED_IN_FULL)
def test_what_takes_from_every_layer_is_planned_in_full(name, followed, monkeypatch):
    assert not assert_equal_bits(lambda: bits(PLANNED_IN_FULL[name], groups), followed, monkeypatch)


def test_a_deep_network_is_shortened_and_keeps_its_other_ways(monkeypatch):
    """Without a change to what is worth it: the program follows, is explained in full, and serves other extents."""
    made = []

    def deep():  # no other test has a plan of this structure
        return Deep([Attention() for _ in range(24)])

    def noted(plan):
        made.append(layers.compile_layers(plan))
        return made[-1]

    monkeypatch.setattr(relatives, "compile_layers", noted)
    _, step = step_of(deep, groups)
    step = ad.jit(step)
    values = np.random.default_rng(0).normal(size=(BATCH, WIDTH)).astype("f4")
    step(values)
    assert any(program is not None for program in made), [type(x) for x in made]
    text = ad.execution.explain(step, stage="units")
    assert text.count("  product ") + text.count("before: product") > 24 * 9
    _, plain = step_of(deep, groups)
    plain(values)
    for size in (BATCH - 2, BATCH, BATCH - 5):
        np.testing.assert_allclose(step(values[:size]).item(), plain(values[:size]).item(), rtol=1e-3)


class Odd(Deep):
    """Layers of which one in the midst is read by something else, too."""

    def __init__(self, read):
        super().__init__([Block() for _ in range(24)])
        self.read = read

    def forward(self, x):
        outs = [x]
        for layer in self.layers:
            outs.append(layer(outs[-1]))
        return ad.mean(ad.square(self.head(outs[-1]))) + self.read(self.layers, outs)


IRREGULAR = {
    "a weight": lambda layers, outs: ad.sum(layers[11].second.weight) * 0.1,
    "what a layer gives": lambda layers, outs: ad.mean(ad.sin(outs[12])),
    "what all layers give": lambda layers, outs: ad.mean(ad.concat(outs, axis=0)),
    "what every second gives": lambda layers, outs: sum([ad.mean(x) for x in outs[::2]]),
    "all weights": lambda layers, outs: sum([ad.sum(ad.abs(x.first.weight)) for x in layers]) * 0.01,
    "products by one matrix": lambda layers, outs: sum([ad.mean(x @ layers[3].first.weight.mT) for x in outs]),
}


@pytest.mark.parametrize("name", IRREGULAR)
def test_layers_of_which_more_is_read(name, followed, monkeypatch):
    assert_equal_bits(lambda: bits(lambda: Odd(IRREGULAR[name]), sgd), followed, monkeypatch)


def test_results_of_the_midst(followed, monkeypatch):
    """Some layers' values and weights are results, of no regular choice."""

    def run():
        ad.random.seed(3)
        model = Deep([Block() for _ in range(24)])
        value = np.random.default_rng(0).normal(size=(BATCH, WIDTH)).astype("f4")
        x = ad.variable(value)
        outs = [x]
        for layer in model.layers:
            outs.append(layer(outs[-1]))
        wanted = [outs[-1], outs[5], outs[12], outs[13], *ad.gradients(ad.sum(outs[-1]), [x, outs[11]])]
        return [y.numpy().tobytes() for y in ad.function([x], wanted)(value)]

    assert_equal_bits(run, followed, monkeypatch)


@pytest.mark.parametrize("own", [False, True])
def test_steps_of_the_host_in_each_layer(own, followed, monkeypatch):
    """Each layer calls Python: all of them one function, or each a function of its own, which is called in its turn."""
    functions = [lambda x, k=k: np.sin(x) * np.float32(k) for k in range(30)] if own else [np.sin] * 30

    def run():
        value = np.random.default_rng(0).normal(size=(BATCH, WIDTH)).astype("f4")
        x = ad.variable(value)
        y = x
        for f in functions:
            called = ad.host_call(f, y @ ad.ones((WIDTH, WIDTH)), shape=y.shape, dtype="float32")
            y = y * 0.5 + ad.softmax(called, axis=-1) - ad.mean(y, axis=0)
        return ad.function([x], [y])(value)[0].numpy().tobytes()

    assert_equal_bits(run, followed, monkeypatch)


def test_clipped_gradients(followed, monkeypatch):
    assert_equal_bits(lambda: bits(FOLLOWED["residual"], sgd, clip=0.1), followed, monkeypatch)


OPERATIONS = (
    ad.tanh,
    ad.sigmoid,
    nn.functional.relu,
    lambda x: x - ad.mean(x, axis=-1, keepdims=True),
    lambda x: ad.softmax(x, axis=-1),
    lambda x: ad.cumsum(x, axis=-1),
    lambda x: ad.concat([x[:, 12:], x[:, :12]], axis=-1),
    lambda x: ad.reshape(ad.reshape(x, (4, 4, WIDTH)).mT, (BATCH, WIDTH)),
    lambda x: ad.flip(x, axis=0),
    lambda x: x * 0.5 + 0.0,
    lambda x: ad.where(x > 0, x, 0.1 * x),
    lambda x: x[ad.argsort(ad.sum(x, axis=1))],
    lambda x: x @ (x.mT @ x) * 0.01,
    lambda x: ad.pad(x[2:], ((1, 1), (0, 0))),
)


class Random(nn.Module):
    """A layer of a few operations."""

    def __init__(self, operations, linear, skips):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH) if linear else nn.Identity()
        self.operations, self.skips = operations, skips
        self.linear = nn.ModuleList([nn.Linear(WIDTH, WIDTH, bias=k % 2 == 0) for k in range(linear)])

    def forward(self, x, far):
        y = self.norm(x)
        for k, operation in enumerate(self.operations):
            y = operation(y)
            if k < len(self.linear):
                y = self.linear[k](y)
        return (x, x + y, x + y + far)[self.skips] if self.skips else y


class Stack(nn.Module):
    """Random layers, which may read what the one before the last gave."""

    def __init__(self, random):
        super().__init__()
        operations = [OPERATIONS[k] for k in random.integers(len(OPERATIONS), size=random.integers(1, 6))]
        linear, skips, count = random.integers(3), random.integers(3), int(random.integers(14, 30))
        self.layers = nn.ModuleList([Random(operations, linear, skips) for _ in range(count)])
        if random.random() < 0.3:
            self.layers[int(random.integers(count))] = Random([ad.sin], 1, 0)
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, x):
        far = x
        for layer in self.layers:
            x, far = layer(x, far), x
        return ad.mean(ad.square(self.head(x)))


def of_input(network):
    """The gradient by the input, to the bit."""
    ad.random.seed(3)
    model = network()
    value = np.random.default_rng(0).normal(size=(BATCH, WIDTH)).astype("f4")
    x = ad.variable(value)
    (found,) = ad.function([x], ad.gradients(model(x), [x]))(value)
    return found.numpy().tobytes()


@pytest.mark.parametrize("trained", [True, False])
def test_random_programs(trained, followed, monkeypatch):
    several = 0
    for seed in range(24):
        random = np.random.default_rng(seed)
        optimizer = (sgd, adam, groups)[random.integers(3)]

        def network(seed=seed):
            return Stack(np.random.default_rng(seed))

        def run(network=network, optimizer=optimizer):
            return bits(network, optimizer) if trained else of_input(network)

        with monkeypatch.context() as patch:
            several += assert_equal_bits(run, followed, patch)
        followed.clear()
    assert several > (3 if trained else 10)


def test_loops_begin_where_steps_do():
    """What a call gives are several entries of one step, of which none may be left out alone."""
    steps = np.array([0, -1, 1, *[k // 3 + 2 for k in range(30)]])
    entries = shortened.Entries(steps, steps, steps, steps[:, None])
    for first, start, times in ((3, 3, 10), (4, 6, 8), (5, 6, 8)):
        assert shortened._whole_steps(entries, Loop(first, 3, (33 - first) // 3)) == Loop(start, 3, times)
