"""Every layer and loss over its options against PyTorch: outputs, gradients, running statistics, text, weights both ways."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.nn import functional as F
from adjoint.primitives import convolution_kernels as kernels
from twins import TOLERANCE, agree, close, drawn, pair_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

CONVOLUTIONS = [
    ((3, 4, 3), {}, (2, 3, 7, 8)),
    ((4, 6, (3, 2)), {"stride": (2, 1), "padding": (1, 0), "groups": 2}, (2, 4, 8, 7)),
    ((4, 8, 3), {"padding": "same", "dilation": 2, "groups": 4}, (1, 4, 6, 5)),
    ((2, 3, (4, 2)), {"padding": "same", "bias": False}, (3, 2, 6, 5)),
    ((2, 3, 1), {"padding": "valid", "stride": 3}, (2, 2, 7, 7)),
    ((2, 3, 1), {}, (2, 2, 5, 4)),
    ((3, 5, 5), {"stride": 4, "padding": 2}, (2, 3, 9, 11)),
    ((3, 2, 3), {}, (3, 5, 5)),
]
POOLS = [
    ("MaxPool2d", (2,), {}), ("MaxPool2d", (3,), {"stride": 2, "padding": 1}), ("MaxPool2d", ((2, 3), (1, 2)), {}),
    ("MaxPool2d", (3,), {"stride": 2, "ceil_mode": True}), ("MaxPool2d", (2,), {"dilation": 2, "stride": 1}),
    ("MaxPool2d", (3,), {"stride": 2, "padding": 1, "ceil_mode": True, "dilation": (1, 2)}),
    ("AvgPool2d", (2,), {}), ("AvgPool2d", (3,), {"stride": 2, "padding": 1}), ("AvgPool2d", ((2, 3), (1, 2)), {}),
    ("AvgPool2d", (3,), {"stride": 2, "padding": 1, "ceil_mode": True}),
    ("AvgPool2d", (3,), {"stride": 2, "padding": 1, "count_include_pad": False, "ceil_mode": True}),
    ("AvgPool2d", (2,), {"divisor_override": 3}), ("AdaptiveAvgPool2d", (1,), {}), ("AdaptiveAvgPool2d", ((3, 5),), {}),
    ("AdaptiveAvgPool2d", ((None, 4),), {}), ("AdaptiveAvgPool2d", ((12, 3),), {}),
]  # fmt: skip
NORMS = [
    *(("BatchNorm2d", (3,), options, (4, 3, 5, 2)) for options in (
        {}, {"momentum": 0.3, "eps": 0.1}, {"momentum": None}, {"affine": False}, {"bias": False},
        {"track_running_stats": False})),
    ("BatchNorm1d", (4,), {}, (6, 4)), ("BatchNorm1d", (4,), {"momentum": None}, (6, 4, 3)),
    ("LayerNorm", (6,), {}, (3, 4, 6)), ("LayerNorm", ((4, 6),), {"eps": 0.1}, (3, 4, 6)),
    ("LayerNorm", (6,), {"elementwise_affine": False}, (3, 6)), ("LayerNorm", (6,), {"bias": False}, (3, 6)),
    ("RMSNorm", (6,), {}, (3, 4, 6)), ("RMSNorm", ((4, 6),), {"eps": 0.1}, (3, 4, 6)),
    ("RMSNorm", (6,), {"elementwise_affine": False}, (3, 6)),
    ("GroupNorm", (2, 6), {}, (3, 6, 4, 5)), ("GroupNorm", (2, 6), {"affine": False}, (3, 6)),
    ("GroupNorm", (1, 4), {"eps": 0.1}, (2, 4, 7)),
]  # fmt: skip
ACTIVATIONS = [
    ("ReLU", {}), ("ReLU6", {}), ("LeakyReLU", {}), ("LeakyReLU", {"negative_slope": 0.3}), ("ELU", {}),
    ("ELU", {"alpha": 2.0}), ("SELU", {}), ("GELU", {}), ("GELU", {"approximate": "tanh"}), ("SiLU", {}), ("Mish", {}),
    ("Sigmoid", {}), ("LogSigmoid", {}), ("Tanh", {}), ("Hardtanh", {}), ("Hardtanh", {"min_val": -0.5, "max_val": 2.0}),
    ("Softplus", {}), ("Softplus", {"beta": 3.0}), ("Softplus", {"threshold": 0.5}),
    ("Softmax", {"dim": 1}), ("LogSoftmax", {"dim": -1}),
]  # fmt: skip


def identify(value):
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel:UserWarning")
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("arguments", "options", "shape"), CONVOLUTIONS, ids=identify)
def test_convolution(arguments, options, shape, dtype):
    ours, theirs = pair_of("Conv2d", *arguments, dtype=dtype, **options)
    agree(ours, theirs, [shape], dtype)
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("name", "arguments", "options"), POOLS, ids=identify)
def test_pooling(name, arguments, options, dtype):
    ours, theirs = pair_of(name, *arguments, dtype=dtype, **options)
    agree(ours, theirs, [(2, 3, 8, 9)], dtype)
    assert repr(ours) == repr(theirs)


def test_positions_of_the_maxima():
    for options in ({"stride": 2, "padding": 1, "dilation": 2}, {"stride": 1}, {"ceil_mode": True}):
        array = np.random.default_rng(0).integers(0, 3, (2, 3, 9, 8)).astype("float32")  # with many ties
        y, indices = F.max_pool2d(ad.tensor(array), (3, 2), return_indices=True, **options)
        y_torch, indices_torch = torch.nn.functional.max_pool2d(
            torch.tensor(array), (3, 2), return_indices=True, **options
        )
        np.testing.assert_array_equal(y.numpy(), y_torch.numpy())
        np.testing.assert_array_equal(indices.numpy(), indices_torch.numpy())


@pytest.mark.parametrize("seed", range(40))
def test_convolutions_of_any_geometry(seed):
    """Kernels, strides, paddings, dilations and groups drawn at random, in tiles of any size."""
    draw = np.random.default_rng(seed)
    groups, n = int(draw.integers(1, 4)), int(draw.integers(1, 4))
    channels, outputs = groups * int(draw.integers(1, 4)), groups * int(draw.integers(1, 4))
    sizes, stride, padding, dilation = (
        tuple(map(int, draw.integers(a, b, 2))) for a, b in ((1, 6), (1, 4), (0, 4), (1, 4))
    )
    least = [max(d * (k - 1) + 1 - 2 * p, 1) for k, p, d in zip(sizes, padding, dilation, strict=True)]
    shape = (n, channels, *(m + int(draw.integers(0, 9)) for m in least))
    arrays = [drawn(shape, 1), drawn((outputs, channels // groups, *sizes), 2), drawn((outputs,), 3)]
    ours, theirs = [ad.variable(a) for a in arrays], [torch.tensor(a, requires_grad=True) for a in arrays]
    before, kernels.TILE = kernels.TILE, int(draw.integers(100, 20000))
    try:
        y = F.conv2d(*ours, stride, padding, dilation, groups)
        y_torch = torch.nn.functional.conv2d(*theirs, stride, padding, dilation, groups)
        close(y, y_torch, "float64")
        cotangent = drawn(y.shape, 4)
        y.backward(ad.tensor(cotangent))
        y_torch.backward(torch.tensor(cotangent))
        for x, x_torch in zip(ours, theirs, strict=True):
            close(x.grad, x_torch.grad, "float64")
    finally:
        kernels.TILE = before


def test_second_derivatives_of_convolution_and_pooling():
    x, w, b, v = (drawn(shape, seed) for seed, shape in enumerate([(2, 2, 6, 6), (4, 1, 3, 3), (4,), (2, 2, 6, 6)]))

    def network(library, x, w, b):
        y = library.conv2d(x, w, b, stride=1, padding=1, groups=2)
        return (library.avg_pool2d(library.max_pool2d(y * y, 2), 2, 1) ** 2).sum()

    inputs = [torch.tensor(a, requires_grad=True) for a in (x, w, b)]
    first = torch.autograd.grad(network(torch.nn.functional, *inputs), inputs, create_graph=True)
    second = torch.autograd.grad((first[0] * torch.tensor(v)).sum(), inputs)
    ours = ad.vjp(lambda *a: ad.grad(lambda *a: network(F, *a), (0, 1, 2))(*a)[0], *map(ad.tensor, (x, w, b)))[1]
    for one, other in zip(ours(ad.tensor(v)), second, strict=True):
        close(one, other, "float64")


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("train", [True, False])
@pytest.mark.parametrize(("name", "arguments", "options", "shape"), NORMS, ids=identify)
def test_normalization(name, arguments, options, shape, train, dtype):
    ours, theirs = pair_of(name, *arguments, dtype=dtype, **options)
    agree(ours, theirs, [shape], dtype, calls=3)
    agree(ours.train(train), theirs.train(train), [shape], dtype, calls=2)
    assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("name", "options"), ACTIVATIONS, ids=identify)
def test_activations(name, options, dtype):
    ours, theirs = pair_of(name, dtype=dtype, **options)
    agree(ours, theirs, [(40, 6)], dtype)
    assert repr(ours) == repr(theirs)


def test_embedding():
    for padding in (None, 0, -1):
        ours, theirs = pair_of("Embedding", 5, 3, padding_idx=padding)
        indices = np.array([[0, 4, 2], [4, 0, 0]])
        agree(ours, theirs, [], "float64", rest=(indices,))
        assert repr(ours) == repr(theirs)
    assert not nn.Embedding(4, 2, padding_idx=1).weight.numpy()[1].any()


MASKS = {
    "none": {},
    "causal": {"attn_mask": np.triu(np.ones((5, 5), bool), 1)},
    "floating": {"attn_mask": drawn((5, 5))},
    "each head": {"attn_mask": drawn((8, 5, 5))},
    "padding": {"key_padding_mask": np.array([[0, 0, 0, 1, 1], [0, 1, 0, 0, 1]], bool)},
    "both": {
        "key_padding_mask": np.array([[0, 0, 0, 1, 1], [0, 1, 0, 0, 0]], bool),
        "attn_mask": np.triu(np.ones((5, 5), bool), 1),
    },
}


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("mask", MASKS)
def test_attention(mask, batch_first, dtype):
    for options in ({}, {"bias": False}, {"kdim": 6, "vdim": 3}):
        ours, theirs = pair_of("MultiheadAttention", 8, 4, batch_first=batch_first, dtype=dtype, **options)
        shapes = [(2, 5, 8), (2, 5, options.get("kdim", 8)), (2, 5, options.get("vdim", 8))]
        shapes = shapes if batch_first else [(s[1], s[0], s[2]) for s in shapes]
        masks = {k: ad.tensor(v if v.dtype == bool else v.astype(dtype)) for k, v in MASKS[mask].items()}
        for more in ({"average_attn_weights": False}, {}, {"need_weights": False}):
            agree(ours, theirs, shapes, dtype, keywords={**masks, **more})


def test_self_attention_and_one_example():
    ours, theirs = pair_of("MultiheadAttention", 6, 2)
    array = drawn((4, 6))
    x, x_torch = ad.variable(array), torch.tensor(array, requires_grad=True)
    (out, weights), (out_torch, weights_torch) = ours(x, x, x), theirs(x_torch, x_torch, x_torch)
    close(out, out_torch, "float64")
    close(weights, weights_torch, "float64")
    out.sum().backward()
    out_torch.sum().backward()
    close(x.grad, x_torch.grad, "float64")
    close(ours.in_proj_weight.grad, theirs.in_proj_weight.grad, "float64")
    assert ours.state_dict().keys() == theirs.state_dict().keys()


@pytest.mark.parametrize(
    ("mask", "options"),
    [(None, {"is_causal": True}), *itertools.product([None, "bool", "floating", "nothing seen"], [{}, {"scale": 0.3}])],
)
def test_scaled_dot_product_attention(mask, options):
    shapes = [(2, 3, 4, 6), (2, 3, 5, 6), (2, 3, 5, 2)]
    arrays = [drawn(shape, seed) for seed, shape in enumerate(shapes)]
    masks = {
        None: None, "bool": np.random.default_rng(0).random((4, 5)) < 0.7, "floating": drawn((2, 1, 4, 5)),
        "nothing seen": np.array([[True] * 5, [False] * 5, [True] * 5, [False] * 5]),
    }  # fmt: skip
    given = masks[mask]
    ours = [ad.variable(a) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    out = F.scaled_dot_product_attention(*ours, None if given is None else ad.tensor(given), **options)
    out_torch = torch.nn.functional.scaled_dot_product_attention(
        *theirs, None if given is None else torch.tensor(given), **options
    )
    close(out, out_torch, "float64")
    (out**2).sum().backward()
    (out_torch**2).sum().backward()
    for x, x_torch in zip(ours, theirs, strict=True):
        close(x.grad, x_torch.grad, "float64")


# ---------------------------------------------------------------- losses

LABELS = np.array([0, 3, 1, 1, 2, 3])
PIXELS = np.random.default_rng(1).integers(0, 4, (2, 3, 2))
SHARES = np.random.default_rng(2).dirichlet(np.ones(4), 6)
SOME = np.where(LABELS == 1, -100, LABELS)
BY_CLASS = [
    *itertools.product(["cross_entropy"], [((6, 4), LABELS), ((2, 4, 3, 2), PIXELS), ((6, 4), SHARES), ((6, 4), SOME)],
        [{}, {"weight": True}, {"label_smoothing": 0.2}, {"weight": True, "label_smoothing": 0.3}]),
    *itertools.product(["nll_loss"], [((6, 4), LABELS), ((2, 4, 3, 2), PIXELS), ((6, 4), SOME)], [{}, {"weight": True}]),
    ("cross_entropy", ((6, 4), LABELS), {"ignore_index": 3}), ("nll_loss", ((6, 4), LABELS), {"ignore_index": 3}),
    ("cross_entropy", ((4,), np.array(2)), {}), ("nll_loss", ((4,), np.array(2)), {}),
]  # fmt: skip


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(("name", "data", "options"), BY_CLASS)
def test_losses_by_class(name, data, options, reduction, dtype):
    shape, target = data
    array, options = 3 * drawn(shape, 0, dtype), dict(options)
    if target.dtype.kind == "f":
        target = target.astype(dtype)
    weight = np.array([0.5, 2.0, 0.1, 1.0], dtype) if options.pop("weight", None) else None
    x, x_torch = ad.variable(array), torch.tensor(array, requires_grad=True)
    both = {"reduction": reduction, **options}
    loss = getattr(F, name)(x, target, None if weight is None else ad.tensor(weight), **both)
    loss_torch = getattr(torch.nn.functional, name)(
        x_torch, torch.tensor(target), None if weight is None else torch.tensor(weight), **both
    )
    close(loss, loss_torch, dtype)
    loss.sum().backward()
    loss_torch.sum().backward()
    close(x.grad, x_torch.grad, dtype)


WEIGHTS = np.linspace(0.1, 2.0, 24).reshape(6, 4)
PAIRWISE = [
    ("mse_loss", {}), ("l1_loss", {}), ("huber_loss", {}), ("huber_loss", {"delta": 0.4}), ("smooth_l1_loss", {}),
    ("mse_loss", {"weight": WEIGHTS}), ("l1_loss", {"weight": WEIGHTS}), ("huber_loss", {"delta": 0.4, "weight": WEIGHTS}),
    ("smooth_l1_loss", {"beta": 0.3}), ("smooth_l1_loss", {"beta": 0.0}),
    ("binary_cross_entropy_with_logits", {}),
    ("binary_cross_entropy_with_logits", {"weight": np.array([[1.0], [0.3]] * 3)}),
    ("binary_cross_entropy_with_logits", {"pos_weight": np.array([1.0, 0.2, 3.0, 4.0])}),
    ("kl_div", {}), ("kl_div", {"log_target": True}),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides:UserWarning")
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none", "batchmean"])
@pytest.mark.parametrize(("name", "options"), PAIRWISE)
def test_pairwise_losses(name, options, reduction, dtype):
    if reduction == "batchmean" and name != "kl_div":
        reduction = "mean"
    array, target = 3 * drawn((6, 4), 0, dtype), SHARES.astype(dtype)
    if name == "kl_div":
        target[0, 0] = 0
        array = np.log(np.random.default_rng(3).dirichlet(np.ones(4), 6)).astype(dtype)
        target = np.log(target + 0.1) if options else target
    arrays = {k: v.astype(dtype) for k, v in options.items() if isinstance(v, np.ndarray)}
    plain = {**{k: v for k, v in options.items() if k not in arrays}, "reduction": reduction}
    x, x_torch = ad.variable(array), torch.tensor(array, requires_grad=True)
    t, t_torch = ad.variable(target), torch.tensor(target, requires_grad=True)
    loss = getattr(F, name)(x, t, **plain, **{k: ad.tensor(v) for k, v in arrays.items()})
    loss_torch = getattr(torch.nn.functional, name)(
        x_torch, t_torch, **plain, **{k: torch.tensor(v) for k, v in arrays.items()}
    )
    close(loss, loss_torch, dtype)
    loss.sum().backward()
    loss_torch.sum().backward()
    close(x.grad, x_torch.grad, dtype)
    if name != "kl_div" or options:  # elsewhere the target 0 has an infinite derivative
        close(t.grad, t_torch.grad, dtype)


# ---------------------------------------------------------------- weights, initialisation


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Conv2d", (8, 12, 3)), ("Conv2d", (8, 12, 5, 1, 0, 1, 4)), ("Embedding", (50, 30)),
        ("MultiheadAttention", (24, 4)), ("BatchNorm2d", (5,)), ("LayerNorm", ((4, 5),)), ("GroupNorm", (2, 6)),
        ("RMSNorm", (6,)),
    ],
)  # fmt: skip
def test_initialisation_has_the_same_distribution(name, arguments):
    torch.manual_seed(0)
    ours, theirs = getattr(nn, name)(*arguments), getattr(torch.nn, name)(*arguments)
    state = theirs.state_dict()
    assert list(ours.state_dict()) == list(state)
    for key, value in ours.state_dict().items():
        one, other = value.numpy(), state[key].numpy()
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        assert one.mean() == pytest.approx(other.mean(), abs=float(0.4 * other.std()) + 1e-6)
        assert one.std() == pytest.approx(other.std(), rel=0.4)
        assert np.abs(one).max() == pytest.approx(np.abs(other).max(), rel=0.4)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("uniform_", {"a": -1.0, "b": 3.0}), ("normal_", {"mean": 0.1, "std": 0.3}), ("constant_", {"val": 0.25}),
        ("zeros_", {}), ("ones_", {}), ("eye_", {}), ("xavier_uniform_", {"gain": 2.0}), ("xavier_normal_", {}),
        ("kaiming_uniform_", {"mode": "fan_out", "nonlinearity": "relu"}), ("kaiming_normal_", {"a": 0.2}),
        ("orthogonal_", {"gain": 1.5}), ("trunc_normal_", {"std": 0.7, "a": -1.0, "b": 0.5}),
    ],
)  # fmt: skip
def test_init(name, options):
    torch.manual_seed(0)
    one = getattr(nn.init, name)(ad.variable(np.zeros((60, 90), "float32")), **options).numpy()
    other = getattr(torch.nn.init, name)(torch.zeros(60, 90), **options).numpy()
    assert one.dtype == other.dtype
    assert one.mean() == pytest.approx(other.mean(), abs=float(0.05 * other.std()) + 1e-6)
    assert one.std() == pytest.approx(other.std(), rel=0.05)
    assert one.min() == pytest.approx(other.min(), rel=0.35)
    for gain, slope in [("relu", None), ("tanh", None), ("selu", None), ("leaky_relu", 0.3), ("linear", None)]:
        assert nn.init.calculate_gain(gain, slope) == pytest.approx(torch.nn.init.calculate_gain(gain, slope))


def test_weights_go_both_ways_through_a_file(tmp_path):
    from safetensors.torch import load_file, save_file

    def network(library):
        return library.Sequential(
            library.Conv2d(1, 4, 3), library.BatchNorm2d(4), library.ReLU(), library.MaxPool2d(2), library.Flatten(),
            library.Linear(36, 8), library.LayerNorm(8), library.Linear(8, 3),
        )  # fmt: skip

    torch.manual_seed(1)
    ours, theirs = network(nn), network(torch.nn)
    array = drawn((5, 1, 8, 8), 0, "float32")
    theirs(torch.tensor(array))  # moves the running statistics
    save_file(theirs.state_dict(), tmp_path / "theirs.safetensors")
    ours.load_state_dict(ad.load(tmp_path / "theirs.safetensors"))
    close(ours.eval()(ad.tensor(array)), theirs.eval()(torch.tensor(array)), "float32")
    ours.train()(ad.tensor(array))
    ad.save(tmp_path / "ours.safetensors", ours)
    theirs.load_state_dict(load_file(tmp_path / "ours.safetensors"))
    close(ours.eval()(ad.tensor(array)), theirs.eval()(torch.tensor(array)), "float32")
    assert theirs[1].num_batches_tracked.item() == 2
