"""Recurrent layers, packed sequences and transformers against PyTorch."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.nn.utils import rnn
from twins import close, drawn, pair_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

KINDS = [("RNN", {}), ("RNN", {"nonlinearity": "relu"}), ("LSTM", {}), ("LSTM", {"proj_size": 2}), ("GRU", {})]
OPTIONS = [
    {}, {"num_layers": 2}, {"bidirectional": True}, {"num_layers": 3, "bidirectional": True, "batch_first": True},
    {"bias": False, "num_layers": 2},
]  # fmt: skip


def one_or_all(states):
    return states[0] if len(states) == 1 else tuple(states)


def flat(value):
    """The tensors of nested tuples."""
    if isinstance(value, tuple):
        return [x for item in value for x in flat(item)]
    return [value]


def compare(ours, theirs, call, arrays, dtype="float64"):
    """Outputs and gradients of a function of a module and tensors, in both libraries."""
    xs, xs_torch = [ad.variable(a) for a in arrays], [torch.tensor(a, requires_grad=True) for a in arrays]
    outs, outs_torch = flat(call(ours, *xs)), flat(call(theirs, *xs_torch))
    assert len(outs) == len(outs_torch)
    for number, (y, y_torch) in enumerate(zip(outs, outs_torch, strict=True)):
        close(y, y_torch, dtype, f"output {number}")
    for module in (ours, theirs):
        module.zero_grad()
    shares = [drawn(tuple(y.shape), 30 + i, dtype) for i, y in enumerate(outs_torch)]
    sum((y * ad.tensor(w)).sum() for y, w in zip(outs, shares, strict=True)).backward()
    sum((y * torch.tensor(w)).sum() for y, w in zip(outs_torch, shares, strict=True)).backward()
    for number, (x, x_torch) in enumerate(zip(xs, xs_torch, strict=True)):
        close(x.grad, x_torch.grad, dtype, f"gradient of input {number}")
    named = dict(theirs.named_parameters())
    assert [name for name, _ in ours.named_parameters()] == list(named)
    for name, parameter in ours.named_parameters():
        close(parameter.grad, named[name].grad, dtype, f"gradient of {name}")


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
@pytest.mark.parametrize(("kind", "options"), [*itertools.product(KINDS, OPTIONS)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_recurrent_layers(kind, options, dtype):
    name, more = kind
    ours, theirs = pair_of(name, 3, 4, dtype=dtype, **more, **options)
    if name != "RNN":
        assert repr(ours) == repr(theirs)
    layers = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    shapes = [(layers, 2, more.get("proj_size", 4)), (layers, 2, 4)][: 2 if name == "LSTM" else 1]
    x = drawn((5, 2, 3), 1, dtype)
    states = [drawn(shape, 2 + i, dtype) for i, shape in enumerate(shapes)]
    if options.get("batch_first"):
        x = x.swapaxes(0, 1)
    compare(ours, theirs, lambda m, x: m(x), [x], dtype)
    compare(ours, theirs, lambda m, x, *s: m(x, one_or_all(s)), [x, *states], dtype)
    alone = [s[:, 0] for s in states]
    compare(ours, theirs, lambda m, x, *s: m(x, one_or_all(s)), [drawn((5, 3), 1, dtype), *alone], dtype)
    compare(ours, theirs, lambda m, x: m(x), [drawn((1, 3), 1, dtype)], dtype)


@pytest.mark.parametrize(("name", "more"), [("RNN", {}), ("LSTM", {"proj_size": 2}), ("GRU", {"num_layers": 2})])
@pytest.mark.parametrize("lengths", [[5, 3, 3, 1], [2, 5, 1, 4], [4, 4, 4, 4]])
def test_packed_sequences(name, more, lengths):
    ours, theirs = pair_of(name, 3, 4, bidirectional=True, **more)
    libraries = {nn.Module: rnn, torch.nn.Module: torch.nn.utils.rnn}

    def call(module, x, *states):
        library = next(value for key, value in libraries.items() if isinstance(module, key))
        given = library.pack_padded_sequence(x, lengths, enforce_sorted=False)
        y, last = module(given, one_or_all(states) if states else None)
        padded, found = library.pad_packed_sequence(y, padding_value=-1.0)
        assert [int(n) for n in found] == lengths
        return padded, last

    layers = 2 * more.get("num_layers", 1)
    shapes = [(layers, 4, more.get("proj_size", 4)), (layers, 4, 4)][: 2 if name == "LSTM" else 1]
    compare(ours, theirs, call, [drawn((5, 4, 3))])
    compare(ours, theirs, call, [drawn((5, 4, 3)), *[drawn(s, 3 + i) for i, s in enumerate(shapes)]])


def test_packing():
    sequences = [drawn((n, 2), n) for n in (2, 5, 3, 5, 1)]
    mine = rnn.pack_sequence([ad.tensor(s) for s in sequences], enforce_sorted=False)
    other = torch.nn.utils.rnn.pack_sequence([torch.tensor(s) for s in sequences], enforce_sorted=False)
    close(mine.data, other.data, "float64")
    assert mine.batch_sizes.numpy().tolist() == other.batch_sizes.tolist()
    restored = rnn.unpack_sequence(mine)
    for one, array in zip(restored, sequences, strict=True):
        np.testing.assert_array_equal(one.numpy(), array)
    for side in ("left", "right"):
        close(
            rnn.pad_sequence([ad.tensor(s) for s in sequences], padding_value=7.0, padding_side=side),
            torch.nn.utils.rnn.pad_sequence([torch.tensor(s) for s in sequences], padding_value=7.0, padding_side=side),
            "float64",
        )
    padded, lengths = rnn.pad_packed_sequence(mine, total_length=7)
    padded_torch, lengths_torch = torch.nn.utils.rnn.pad_packed_sequence(other, total_length=7)
    close(padded, padded_torch, "float64")
    assert lengths.numpy().tolist() == lengths_torch.tolist()


@pytest.mark.parametrize(
    ("name", "more"),
    [("RNNCell", {}), ("RNNCell", {"nonlinearity": "relu", "bias": False}), ("LSTMCell", {}), ("GRUCell", {})],
)
def test_cells(name, more):
    ours, theirs = pair_of(name, 3, 4, **more)
    assert repr(ours) == repr(theirs)
    for shape in ((2, 3), (3,)):
        parts = 2 if name == "LSTMCell" else 1
        states = [drawn((*shape[:-1], 4), 1 + i) for i in range(parts)]
        compare(ours, theirs, lambda m, x: m(x), [drawn(shape)])
        compare(ours, theirs, lambda m, x, *s: m(x, one_or_all(s)), [drawn(shape), *states])


def test_first_values():
    for name in ("RNN", "LSTM", "GRU"):
        ours, theirs = (
            getattr(nn, name)(20, 30, 2, bidirectional=True),
            getattr(torch.nn, name)(20, 30, 2, bidirectional=True),
        )
        state = theirs.state_dict()
        assert list(ours.state_dict()) == list(state)
        for key, value in ours.state_dict().items():
            assert value.shape == tuple(state[key].shape)
            assert np.abs(value.numpy()).max() == pytest.approx(30**-0.5, rel=0.15)


MASKS = {
    "none": {}, "causal": {"src_mask": np.triu(np.full((5, 5), -np.inf), 1)},
    "padding": {"src_key_padding_mask": np.array([[0, 0, 0, 1, 1], [0, 0, 0, 0, 1]], bool)},
}  # fmt: skip


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    "options", [{}, {"norm_first": True, "activation": "gelu"}, {"batch_first": True, "bias": False}], ids=str
)
def test_encoder_layers(mask, options):
    ours, theirs = pair_of("TransformerEncoderLayer", 8, 2, 12, dropout=0.0, **options)
    x = drawn((2, 5, 8) if options.get("batch_first") else (5, 2, 8))
    mine = {k: ad.tensor(v) for k, v in MASKS[mask].items()}
    other = {k: torch.tensor(v) for k, v in MASKS[mask].items()}
    compare(ours, theirs, lambda m, x: m(x, **(mine if isinstance(m, nn.Module) else other)), [x])


@pytest.mark.parametrize(
    "options", [{}, {"norm_first": True, "activation": "gelu"}, {"batch_first": True, "bias": False}], ids=str
)
def test_decoder_layers(options):
    ours, theirs = pair_of("TransformerDecoderLayer", 8, 2, 12, dropout=0.0, **options)
    first = options.get("batch_first")
    x, memory = drawn((2, 5, 8) if first else (5, 2, 8)), drawn((2, 3, 8) if first else (3, 2, 8), 1)
    compare(ours, theirs, lambda m, x, y: m(x, y), [x, memory])
    masks = {
        "tgt_mask": np.triu(np.full((5, 5), -np.inf), 1),
        "memory_key_padding_mask": np.array([[0, 0, 1.0], [0, 1, 0]]) > 0,
    }
    mine, other = ({k: f(v) for k, v in masks.items()} for f in (ad.tensor, torch.tensor))
    compare(ours, theirs, lambda m, x, y: m(x, y, **(mine if isinstance(m, nn.Module) else other)), [x, memory])


def stacks(library):
    layer = library.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True)
    return library.TransformerEncoder(layer, 3, library.LayerNorm(8))


def test_stacks():
    theirs, ours = stacks(torch.nn).double(), stacks(nn).double()
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    compare(ours, theirs, lambda m, x: m(x), [drawn((2, 5, 8))])
    assert len({id(p) for p in ours.parameters()}) == len(list(theirs.parameters()))


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
def test_transformer():
    options = {
        "num_encoder_layers": 2,
        "num_decoder_layers": 2,
        "dim_feedforward": 12,
        "dropout": 0.0,
        "norm_first": True,
    }
    ours, theirs = pair_of("Transformer", 8, 2, **options)
    causal = ours.generate_square_subsequent_mask(4)
    np.testing.assert_array_equal(causal.numpy(), theirs.generate_square_subsequent_mask(4).numpy())

    def call(m, src, tgt):
        mask = causal.astype("float64") if isinstance(m, nn.Module) else torch.tensor(causal.numpy()).double()
        return m(src, tgt, tgt_mask=mask)

    compare(ours, theirs, call, [drawn((5, 2, 8)), drawn((4, 2, 8), 1)])
    fresh = torch.nn.Transformer(8, 2, **options).state_dict()
    for key, value in nn.Transformer(8, 2, **options).state_dict().items():
        assert np.abs(value.numpy()).max() == pytest.approx(fresh[key].abs().max().item(), rel=0.4, abs=1e-6)


@pytest.mark.parametrize(
    "options", [{"add_bias_kv": True}, {"add_zero_attn": True}, {"add_bias_kv": True, "add_zero_attn": True}]
)
def test_attention_with_more_keys(options):
    ours, theirs = pair_of("MultiheadAttention", 8, 2, **options)
    arrays = [drawn((5, 2, 8)), drawn((4, 2, 8), 1), drawn((4, 2, 8), 2)]
    compare(ours, theirs, lambda m, q, k, v: m(q, k, v, average_attn_weights=False), arrays)
    masks = {
        "key_padding_mask": np.array([[0, 0, 1, 1], [0, 1, 0, 0]]) > 0,
        "attn_mask": np.triu(np.ones((5, 4)), 1) > 0,
    }
    mine, other = ({k: f(v) for k, v in masks.items()} for f in (ad.tensor, torch.tensor))
    compare(ours, theirs, lambda m, q, k, v: m(q, k, v, **(mine if isinstance(m, nn.Module) else other)), arrays)
