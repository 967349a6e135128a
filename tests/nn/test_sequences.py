"""Recurrent layers, packed sequences, transformers and caches by their formulas, derivatives, states and errors.

PyTorch's numbers are compared with in tests/oracle.
"""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.control import scan
from adjoint.nn import functional as F
from adjoint.nn import recurrent
from adjoint.nn.utils import rnn
from support import double, equal


def drawn(*shape, seed=0):
    return double(np.random.default_rng(seed).normal(size=shape))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_lstm_by_its_formula():
    layer = nn.LSTM(3, 2).double()
    wx, wh, bx, bh = (p.numpy() for p in layer.parameters())
    x = np.random.default_rng(0).normal(size=(4, 1, 3))
    y, (h, c) = layer(double(x))
    state, cell = np.zeros(2), np.zeros(2)
    for t in range(4):
        i, f, g, o = np.split(wx @ x[t, 0] + bx + wh @ state + bh, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        state = sigmoid(o) * np.tanh(cell)
        equal(y[t, 0], state)
    equal(h[0, 0], state)
    equal(c[0, 0], cell)


def test_a_state_carried_from_step_to_step_of_training_needs_one_plan(monkeypatch):
    """Its layer is recorded anew in each step, and the state is cut from the step before: no step computes an earlier one
    again, or walks through what was recorded for it."""
    evaluation, planning = (importlib.import_module(f"adjoint.{name}") for name in ("execution.evaluate", "plan.plan"))
    built, runs, sizes = [], [], []
    plain_build, plain_run, plain_prepare = planning.build, scan.run_loop, evaluation._prepare
    monkeypatch.setattr(evaluation, "build", lambda *a, **k: built.append(1) or plain_build(*a, **k))
    monkeypatch.setattr(scan, "run_loop", lambda *a, **k: runs.append(1) or plain_run(*a, **k))
    monkeypatch.setattr(evaluation, "_prepare", lambda c: sizes.append(len(c.order)) or plain_prepare(c))
    layer, found = nn.LSTM(8, 8, num_layers=2), []
    x, state = ad.ones((recurrent.MOST_RECORDED + 1, 2, 8)), None
    for _ in range(12):
        state = None if state is None else tuple([part.detach() for part in state])
        y, state = layer(x, state)
        loss = (y**2).mean()
        loss.backward()
        loss.item()
        for p in layer.parameters():
            p.data -= 0.1 * p.grad
            p.grad = None
        found.append((len(built), len(runs), max(sizes)))
        for noted in (built, runs, sizes):
            noted.clear()
    assert found[-1][2] == found[-2][2] == found[-3][2]
    assert all([plans == 0 and loops <= 4 for plans, loops, _ in found[-3:]])  # no loop once the step is compiled


def test_what_a_loop_gives_besides_has_its_value_with_the_rest():
    last, totals = ad.scan(lambda t, x: (t + x, t * x), 0.0, ad.tensor([1.0, 2.0, 3.0]))
    assert last.item() == 6 and totals.node.inputs[0].value is not None
    assert totals.tolist() == [0.0, 2.0, 9.0]


def test_gru_by_its_formula():
    layer = nn.GRU(3, 2).double()
    wx, wh, bx, bh = (p.numpy() for p in layer.parameters())
    x = np.random.default_rng(0).normal(size=(4, 1, 3))
    y, _ = layer(double(x))
    state = np.zeros(2)
    for t in range(4):
        (rx, zx, nx), (rh, zh, nh) = np.split(wx @ x[t, 0] + bx, 3), np.split(wh @ state + bh, 3)
        n = np.tanh(nx + sigmoid(rx + rh) * nh)
        z = sigmoid(zx + zh)
        state = (1 - z) * n + z * state
        equal(y[t, 0], state)


@pytest.fixture(params=["recorded", "scanned"])
def way(request, monkeypatch):
    """Layers recorded step by step, and as scans."""
    if request.param == "scanned":
        monkeypatch.setattr(recurrent, "MOST_RECORDED", 0)
    return request.param


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_long_sequences_are_the_cell_step_by_step(name):
    layer, cell = getattr(nn, name)(3, 4).double(), getattr(nn, f"{name}Cell")(3, 4).double()
    cell.load_state_dict({key.removesuffix("_l0"): value for key, value in layer.state_dict().items()})
    x, state = ad.variable(drawn(40, 2, 3)), None
    y, _ = layer(x)
    assert len(list(ad.graph.topological([y.node]))) < 60
    total = 0.0
    for t in range(40):
        state = cell(x[t], state)
        total = total + ((state[0] if name == "LSTM" else state) ** 2).sum()
    equal((y**2).sum(), total.numpy())
    one, other = ad.gradients((y**2).sum(), [x])[0], ad.gradients(total, [x])[0]
    np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_derivatives_of_both_orders(name, way):
    layer = getattr(nn, name)(2, 2, 2, bidirectional=True).double()
    names = [key for key, _ in layer.named_parameters()]

    def f(x, *parameters):
        for key, value in zip(names, parameters, strict=True):
            layer.__dict__[key] = value
        return (layer(x)[0] ** 2).sum()

    ad.check_grads(f, (drawn(3, 1, 2), *[p.detach() for p in layer.parameters()]), order=2)


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_the_input_products_are_one_and_a_batch_is_a_loop(name, way):
    layer = getattr(nn, name)(3, 4).double()
    y, _ = layer(drawn(6, 2, 3))
    products = [n for n in ad.graph.topological([y.node]) if n.op.name == "matmul"]
    assert len(products) == (1 + 6 if way == "recorded" else 1)
    xs = drawn(3, 5, 2, 3)
    equal(ad.vmap(lambda x: layer(x)[0])(xs), np.stack([layer(x)[0].numpy() for x in xs]))


@pytest.mark.parametrize("name", ["RNN", "LSTM", "GRU"])
def test_a_scanned_step_is_recorded_once_and_serves_other_weights_and_modes(name, monkeypatch):
    recorded, plain = [], recurrent.StepOnce._recorded
    monkeypatch.setattr(recurrent.StepOnce, "_recorded", lambda *args: recorded.append(1) or plain(*args))
    layers = [getattr(nn, name)(3, 4).double() for _ in range(2)] + [getattr(nn, name)(3, 4)]
    x = ad.tensor(drawn(40, 2, 3))

    def result(layer):
        return layer(x.astype(layer.weight_hh_l0.dtype))[0]

    with ad.no_grad():  # what is recorded first here has derivatives all the same
        values = [result(layer).numpy() for layer in layers]
    counts = len(recorded)
    found = [ad.gradients((result(layer) ** 2).sum(), [layer.weight_hh_l0])[0].numpy() for layer in layers]
    assert counts == 2 and len(recorded) == 2  # one of float64, one of float32
    monkeypatch.setattr(recurrent, "MOST_RECORDED", 100)
    for layer, value, gradient in zip(layers, values, found, strict=True):
        y = result(layer)
        tolerance = 1e-9 if layer is not layers[2] else 1e-4
        np.testing.assert_allclose(value, y.numpy(), rtol=tolerance, atol=tolerance)
        (expected,) = ad.gradients((y**2).sum(), [layer.weight_hh_l0])
        np.testing.assert_allclose(gradient, expected.numpy(), rtol=tolerance, atol=tolerance)


def test_backwards_is_forwards_from_the_other_end(way):
    layer = nn.GRU(3, 4, bidirectional=True).double()
    one = nn.GRU(3, 4).double()
    state = {
        key.removesuffix("_reverse"): value for key, value in layer.state_dict().items() if key.endswith("_reverse")
    }
    one.load_state_dict(state)
    x = drawn(5, 2, 3)
    equal(layer(x)[0][:, :, 4:], one(ad.flip(x, axis=0))[0].numpy()[::-1])


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_packed_sequence_is_each_sequence_alone(bidirectional):
    layer = nn.LSTM(3, 4, num_layers=2, bidirectional=bidirectional).double()
    sequences = [drawn(n, 3, seed=n) for n in (2, 5, 1, 5, 3)]
    y, (h, c) = layer(rnn.pack_sequence(sequences, enforce_sorted=False))
    outputs = rnn.unpack_sequence(y)
    for i, x in enumerate(sequences):
        alone, (last, cell) = layer(x)
        equal(outputs[i], alone.numpy())
        equal(h[:, i], last.numpy())
        equal(c[:, i], cell.numpy())


def test_cells_are_steps_of_layers():
    for name in ("RNN", "LSTM", "GRU"):
        layer, cell = getattr(nn, name)(3, 4).double(), getattr(nn, f"{name}Cell")(3, 4).double()
        cell.load_state_dict({key.removesuffix("_l0"): value for key, value in layer.state_dict().items()})
        x, state = drawn(5, 2, 3), None
        expected, _ = layer(x)
        for t in range(5):
            state = cell(x[t], state)
            equal(state[0] if name == "LSTM" else state, expected[t].numpy())


def test_dropout_lies_between_layers_and_a_step_is_compiled(way):
    ad.random.seed(0)
    layer = nn.GRU(3, 8, 2, dropout=0.5)
    x = ad.random.normal((4, 2, 3))
    assert (layer(x)[0].numpy() != layer(x)[0].numpy()).any()
    layer.eval()
    step = ad.jit(lambda x: layer(x)[0])
    for _ in range(3):  # without dropout all calls are the same, to the digits of what computes them
        np.testing.assert_allclose(step(x).numpy(), layer(x)[0].numpy(), rtol=1e-5, atol=1e-6)


def test_errors_of_sequences():
    layer = nn.LSTM(3, 4)
    for call, message in [
        (lambda: layer(ad.ones((5, 2, 4))), r"expected \(L, N, 3\).*test_sequences.py"),
        (lambda: layer(ad.ones((5, 2, 3)), ad.ones((1, 2, 4))), "first states must have shape"),
        (lambda: layer(ad.ones((0, 2, 3))), "L not 0"),
        (lambda: nn.LSTM(3, 4, proj_size=4), "proj_size 4 must be below"),
        (lambda: nn.RNN(3, 4, nonlinearity="gelu"), "nonlinearity is 'tanh' or 'relu'"),
        (lambda: nn.GRUCell(3, 4)(ad.ones((2, 3)), ad.ones((2, 3))), "as state"),
        (lambda: rnn.pack_padded_sequence(ad.ones((3, 2)), [1, 3]), "must not rise"),
        (lambda: rnn.pack_padded_sequence(ad.ones((3, 2)), [4, 1]), "don't fit"),
        (lambda: rnn.pack_padded_sequence(ad.ones((3, 2)), [3, 0]), "positive integers"),
    ]:
        with pytest.raises(ValueError, match=f"(?s){message}"):
            call()


# ---------------------------------------------------------------- attention


def test_rotary_positions_see_differences():
    q, k = drawn(1, 6), drawn(1, 6, seed=1)
    for interleaved in (False, True):
        scores = [
            (F.rotary(q, [i], interleaved=interleaved) * F.rotary(k, [i + 3], interleaved=interleaved)).sum().item()
            for i in (0, 5, 40)
        ]
        np.testing.assert_allclose(scores, scores[0], rtol=1e-12)
        equal(F.rotary(q, [0], interleaved=interleaved), q.numpy())
    turned = F.rotary(double([[1.0, 0.0]]), [2]).numpy()
    np.testing.assert_allclose(turned, [[np.cos(2), np.sin(2)]], rtol=1e-12)
    # one pair of features after the other is the same rotation
    mixed = F.rotary(q[:, [0, 2, 4, 1, 3, 5]], [7])
    equal(F.rotary(q, [7], interleaved=True)[:, [0, 2, 4, 1, 3, 5]], mixed.numpy())


@pytest.mark.parametrize("heads", [2, 4])
def test_a_cache_gives_what_causal_attention_gives(heads):
    q, k, v = drawn(2, heads, 6, 4), drawn(2, 2, 6, 4, seed=1), drawn(2, 2, 6, 4, seed=2)
    whole = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True).numpy()
    cache = nn.KeyValueCache(2, 2, 7, 4).double()
    for start, stop in ((0, 3), (3, 4), (4, 6)):
        part = slice(start, stop)
        found = cache.attend(q[:, :, part], k[:, :, part], v[:, :, part], enable_gqa=True)
        np.testing.assert_allclose(found.numpy(), whole[:, :, part], rtol=1e-10)
    assert cache.position.item() == 6
    cache.reset()
    cache.update(np.nan * k[:, :, :3], np.nan * v[:, :, :3])  # what nobody sees any more is without effect
    cache.reset()
    equal(cache.attend(q[:, :, :1], k[:, :, :1], v[:, :, :1], enable_gqa=True), whole[:, :, :1])


def test_a_step_with_a_cache_is_compiled_once():
    cache = nn.KeyValueCache(1, 2, 5, 4)

    @ad.jit
    def step(q, k, v):
        return cache.attend(q, k, v)

    q, k, v = (ad.random.normal((1, 2, 5, 4)) for _ in range(3))
    whole = F.scaled_dot_product_attention(q, k, v, is_causal=True).numpy()
    for t in range(5):
        part = slice(t, t + 1)
        np.testing.assert_allclose(
            step(q[:, :, part], k[:, :, part], v[:, :, part]).numpy(), whole[:, :, part], rtol=1e-4, atol=1e-5
        )
    assert len(step.traces) == 1
    with pytest.raises(IndexError):
        step(q[:, :, :1], k[:, :, :1], v[:, :, :1]).numpy()


def test_rows_of_a_cache_are_written_where_it_lies():
    caches = [nn.KeyValueCache(1, 4, 256, 64) for _ in range(2)]

    @ad.jit
    def step(x):
        for cache in caches:
            x = cache.attend(x, x * 0.5, x)
        return x.argmax()

    x, places = ad.random.normal((1, 4, 1, 64)), []
    with ad.no_grad():
        for t in range(8):
            step(x).item()
            places.append(tuple([cache.values.node.value.ctypes.data for cache in caches]))
            if t == 4:
                kept = caches[1].values.detach()  # what a second name sees must stay
                before = np.array(kept.tolist())
    assert len(set(places[2:5])) == 1
    assert places[5][0] == places[4][0] and places[5][1] != places[4][1]
    equal(kept, before)
    assert caches[0].position.item() == 8 and not caches[0].keys.numpy()[:, :, 8:].any()


def test_transformers_are_their_parts():
    ad.random.seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=True).double()
    x = drawn(2, 5, 8)
    y = layer.norm1(x)
    expected = x + layer.self_attn(y, y, y, is_causal=True, need_weights=False)[0]
    expected = expected + layer.linear2(F.relu(layer.linear1(layer.norm2(expected))))
    equal(layer(x, is_causal=True), expected.numpy())
    stack = nn.TransformerEncoder(layer, 2)
    assert len(list(stack.parameters())) == 2 * len(list(layer.parameters()))
    equal(stack(x, is_causal=True), layer(layer(x, is_causal=True), is_causal=True).numpy())
    model = nn.Transformer(8, 2, 1, 1, 16, dropout=0.0)
    assert model(ad.ones((3, 2, 8)), ad.ones((4, 2, 8))).shape == (4, 2, 8)
    with pytest.raises(ValueError, match="must have 8 features"):
        model(ad.ones((3, 2, 7)), ad.ones((4, 2, 8)))


def test_generation_with_a_cache_is_the_whole_pass():
    """A decoder with rotary positions and grouped queries, token by token in a compiled step and all at once."""
    ad.random.seed(0)

    class Block(nn.Module):
        def __init__(self):
            self.q, self.kv, self.out = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
            self.cache = nn.KeyValueCache(1, 2, 8, 4)

        def forward(self, x, cached):
            n, length, _ = x.shape
            positions = ad.arange(length) + (self.cache.position if cached else 0)
            q = F.rotary(self.q(x).reshape(n, length, 4, 4).swapaxes(1, 2), positions)
            k, v = (part.reshape(n, length, 2, 4).swapaxes(1, 2) for part in ad.split(self.kv(x), 2, axis=-1))
            k = F.rotary(k, positions)
            if cached:
                y = self.cache.attend(q, k, v, enable_gqa=True)
            else:
                y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            return x + self.out(y.swapaxes(1, 2).reshape(n, length, 16))

    blocks = nn.ModuleList([Block(), Block()])

    @ad.jit
    def step(x):
        for block in blocks:
            x = block(x, True)
        return x

    x = ad.random.normal((1, 8, 16))
    whole = x
    for block in blocks:
        whole = block(whole, False)
    with ad.no_grad():
        parts = [step(x[:, t : t + 1]).numpy() for t in range(8)]
    np.testing.assert_allclose(np.concatenate(parts, 1), whole.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_no_sequences(kind):
    layer = kind(3, 4, 2, bidirectional=True)
    y, states = layer(ad.ones((5, 0, 3)))
    assert y.numpy().shape == (5, 0, 8)
    assert {s.numpy().shape for s in (states if isinstance(states, tuple) else (states,))} == {(4, 0, 4)}
    assert all([not g.numpy().any() for g in ad.gradients(y.sum(), list(layer.parameters()))])
