"""Operands of several dtypes, and paddings of few axes: refused where PyTorch refuses them, else with its dtype and values."""

import functools
from typing import Any

import pytest

import adjoint.torch as ours

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle


def calls(t: Any) -> dict[str, Any]:
    nn, f, d = t.nn, t.nn.functional, t.float64

    def of(*shape: int, dtype: Any = d) -> Any:
        return t.ones(*shape, dtype=dtype)

    layers = {
        "RNN": (nn.RNN(4, 3), (2, 3, 4)), "LSTM": (nn.LSTM(4, 3), (2, 3, 4)), "GRU": (nn.GRU(4, 3), (2, 3, 4)),
        "RNNCell": (nn.RNNCell(4, 3), (2, 4)), "LSTMCell": (nn.LSTMCell(4, 3), (2, 4)), "GRUCell": (nn.GRUCell(4, 3), (2, 4)),
        "Linear": (nn.Linear(4, 3), (2, 4)), "Bilinear": (lambda x: nn.Bilinear(4, 4, 3)(x, x), (2, 4)),
        "Conv1d": (nn.Conv1d(4, 2, 3), (2, 4, 5)), "Conv2d": (nn.Conv2d(4, 2, 3), (2, 4, 5, 5)),
        "ConvTranspose2d": (nn.ConvTranspose2d(4, 2, 3), (2, 4, 5, 5)), "PReLU": (nn.PReLU(), (2, 4)),
        "LayerNorm": (nn.LayerNorm(4), (2, 4)), "GroupNorm": (nn.GroupNorm(2, 4), (2, 4, 5)), "RMSNorm": (nn.RMSNorm(4), (2, 4)),
        "BatchNorm1d": (nn.BatchNorm1d(4), (2, 4)), "BatchNorm2d eval": (nn.BatchNorm2d(4).eval(), (2, 4, 5, 5)),
        "BatchNorm1d plain": (nn.BatchNorm1d(4, affine=False), (2, 4)),
        "BatchNorm1d alone": (nn.BatchNorm1d(4, affine=False, track_running_stats=False), (2, 4)),
        "InstanceNorm1d": (nn.InstanceNorm1d(4), (2, 4, 5)),
        "InstanceNorm1d affine": (nn.InstanceNorm1d(4, affine=True), (2, 4, 5)),
    }  # fmt: skip
    made = {f"{k} of float64": lambda m=m, s=s: m(of(*s)) for k, (m, s) in layers.items()}
    for k, (m, s) in layers.items():
        if k not in ("Bilinear", "InstanceNorm1d", "BatchNorm1d alone"):
            made[f"{k} of integers"] = lambda m=m, s=s: m(of(*s, dtype=t.int64))
    double_norm = nn.RMSNorm(4).double()
    made["RMSNorm in float64"] = lambda: double_norm(of(2, 4, dtype=t.float32))
    for k in ("RNN", "LSTM", "GRU"):
        state = of(1, 3, 3)
        made[f"{k}'s state"] = lambda k=k, state=state: layers[k][0](
            t.ones(2, 3, 4), (state, state) if k == "LSTM" else state
        )
    x, y = of(2, 4), t.ones(2, 4)
    operands = {
        "layer_norm": lambda: f.layer_norm(x, (4,), t.ones(4)), "group_norm": lambda: f.group_norm(x, 2, t.ones(4), t.ones(4)),
        "batch_norm": lambda: f.batch_norm(x, t.zeros(4), t.ones(4)), "prelu": lambda: f.prelu(y, of(1)),
        "attention": lambda: f.scaled_dot_product_attention(of(2, 3, 4), t.ones(2, 3, 4), t.ones(2, 3, 4)),
        "bce": lambda: f.binary_cross_entropy(x / 2, y), "bce of integers": lambda: nn.BCELoss()(y / 2, y.long()),
        "bce of logits": lambda: f.binary_cross_entropy_with_logits(x, y),
        "bce of logits and integers": lambda: nn.BCEWithLogitsLoss()(y, y.long()),
        "weights of classes": lambda: nn.CrossEntropyLoss(t.ones(4))(x, t.tensor([0, 1])),
        "weights of nll": lambda: f.nll_loss(x, t.tensor([0, 1]), weight=t.ones(4)),
        "grid_sample": lambda: f.grid_sample(of(1, 1, 3, 3), t.zeros(1, 2, 2, 2), align_corners=False),
        "embedding_bag": lambda: f.embedding_bag(t.tensor([[0, 1]]), t.ones(3, 2), per_sample_weights=of(1, 2), mode="sum"),
        "addmm": lambda: t.addmm(of(2, 2), y, t.ones(4, 2)), "addmv": lambda: t.addmv(of(2), y, t.ones(4)),
        "baddbmm": lambda: t.baddbmm(of(2, 3, 2), t.ones(2, 3, 4), t.ones(2, 4, 2)),
        "addr": lambda: t.addr(of(2, 2), t.ones(2), t.ones(2)),
        "lerp": lambda: t.lerp(x, y, 0.5), "lerp by a tensor": lambda: t.lerp(x, x, t.ones(1)),
        "lerp by a number": lambda: t.lerp(x, x, t.tensor(0.5)), "cdist": lambda: t.cdist(x, y),
        "cross": lambda: t.linalg.cross(of(3), t.ones(3)),
        "index_put": lambda: y.clone().index_put_((t.tensor([0]),), of(4)), "masked_scatter": lambda: y.masked_scatter(y > 0, x),
        "lstsq": lambda: t.linalg.lstsq(of(3, 2), t.ones(3, 1)),
        "cholesky_solve": lambda: t.cholesky_solve(t.ones(2, 1), t.eye(2, dtype=d)),
        "polar": lambda: t.polar(x, y), "assignment": lambda: y.clone().__setitem__(0, x[0]), "mse": lambda: f.mse_loss(x, y),
    }  # fmt: skip
    paddings = {
        f"{mode} {pairs} of {n}": functools.partial(f.pad, t.arange(3.0**n).reshape((3,) * n), (1, 1) * pairs, mode)
        for mode in ("reflect", "replicate", "circular", "constant") for n in (1, 2, 3, 4, 5) for pairs in (1, 2, 3)
    }  # fmt: skip
    images = {
        "ReflectionPad2d": lambda: nn.ReflectionPad2d(1)(x), "ReplicationPad1d": lambda: nn.ReplicationPad1d(1)(of(2, 4, 5, 5)),
        "CircularPad1d": lambda: nn.CircularPad1d(1)(x), "ZeroPad2d": lambda: nn.ZeroPad2d(1)(x),
    }  # fmt: skip
    return made | operands | paddings | images


def result(f: Any) -> Any:
    try:
        out = f()
    except (RuntimeError, ValueError) as error:
        return error
    out = out[0] if isinstance(out, tuple) else out
    return None if out is None else (str(out.dtype).split(".")[-1], tuple(out.shape))


@pytest.mark.filterwarnings("ignore::UserWarning")  # of what mixes dtypes
def test_dtypes_and_paddings_that_pytorch_refuses():
    theirs, mine = calls(torch), calls(ours)
    assert len(theirs) > 130
    wrong = {}
    for name in theirs:
        there, here = result(theirs[name]), result(mine[name])
        if isinstance(there, Exception) != isinstance(here, Exception) or (
            not isinstance(here, Exception) and there != here
        ):
            wrong[name] = there, here
        elif isinstance(here, Exception):
            assert isinstance(here, (type(there), RuntimeError)), name
            assert ".py:" in str(here), name
    assert not wrong
    for name in theirs:
        if (
            " of " in name
            and name.split()[0] in ("reflect", "replicate", "circular")
            and result(theirs[name]).__class__ is tuple
        ):
            assert theirs[name]().tolist() == mine[name]().tolist()
