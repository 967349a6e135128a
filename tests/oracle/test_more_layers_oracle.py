"""Layers and functions of sequences, volumes and upsampling against PyTorch: outputs, gradients, state, text."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.nn import functional as F
from twins import agree, close, drawn, pair_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

SIGNAL, IMAGE, VOLUME = (2, 4, 9), (2, 4, 8, 7), (2, 4, 6, 5, 7)

LAYERS = [
    ("Conv1d", (4, 6, 3), {}, SIGNAL),
    ("Conv1d", (4, 6, 3), {"stride": 2, "padding": 2, "dilation": 2, "groups": 2}, SIGNAL),
    ("Conv1d", (4, 3, 5), {"padding": "same", "bias": False}, (4, 9)),
    ("Conv1d", (4, 6, 4), {"padding": 3, "padding_mode": "circular"}, SIGNAL),
    ("Conv1d", (4, 6, 3), {"padding": "same", "padding_mode": "replicate"}, SIGNAL),
    ("Conv2d", (4, 6, 3), {"padding": (1, 2), "padding_mode": "reflect"}, IMAGE),
    ("Conv2d", (4, 6, 3), {"padding": (1, 2), "padding_mode": "circular", "stride": 2}, IMAGE),
    ("Conv2d", (4, 6, 3), {"padding": (1, 2), "padding_mode": "replicate", "groups": 2}, IMAGE),
    ("Conv3d", (4, 6, 3), {}, VOLUME),
    ("Conv3d", (4, 6, (1, 2, 3)), {"stride": (2, 1, 2), "padding": (0, 1, 2), "groups": 2}, VOLUME),
    ("Conv3d", (4, 5, 1), {}, VOLUME),
    ("Conv3d", (4, 4, (2, 1, 2)), {"dilation": (2, 1, 3), "groups": 4, "bias": False}, (4, 6, 5, 7)),
    ("Conv3d", (4, 2, 3), {"padding": 1, "padding_mode": "reflect"}, VOLUME),
    ("ConvTranspose1d", (4, 6, 3), {}, SIGNAL),
    ("ConvTranspose1d", (4, 6, 4), {"stride": 3, "padding": 1, "output_padding": 2, "groups": 2}, SIGNAL),
    ("ConvTranspose1d", (4, 3, 2), {"dilation": 4, "output_padding": 3, "stride": 2}, (4, 9)),
    ("ConvTranspose2d", (4, 6, 3), {}, IMAGE),
    ("ConvTranspose2d", (4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1}, IMAGE),
    ("ConvTranspose2d", (4, 6, (2, 3)), {"stride": (1, 3), "groups": 2, "bias": False, "dilation": (3, 1)}, IMAGE),
    ("ConvTranspose2d", (4, 6, 2), {"stride": 2, "padding": (0, 1), "output_padding": (1, 0)}, (4, 8, 7)),
    ("ConvTranspose3d", (4, 6, 2), {"stride": 2}, (2, 4, 3, 2, 3)),
    ("ConvTranspose3d", (4, 6, 3), {"stride": (1, 2, 2), "padding": 1, "output_padding": (0, 1, 0)}, (2, 4, 3, 2, 3)),
    ("MaxPool1d", (2,), {}, SIGNAL), ("MaxPool1d", (3,), {"stride": 2, "padding": 1, "ceil_mode": True}, SIGNAL),
    ("MaxPool1d", (2,), {"dilation": 3, "stride": 1}, (4, 9)),
    ("MaxPool3d", (2,), {}, VOLUME), ("MaxPool3d", ((1, 2, 3),), {"stride": 2, "padding": (0, 1, 1)}, VOLUME),
    ("MaxPool3d", (2,), {"dilation": 2, "stride": (1, 2, 1), "ceil_mode": True}, (4, 6, 5, 7)),
    ("AvgPool1d", (2,), {}, SIGNAL), ("AvgPool1d", (3,), {"stride": 2, "padding": 1, "ceil_mode": True}, SIGNAL),
    ("AvgPool1d", (3,), {"stride": 2, "padding": 1, "count_include_pad": False}, (4, 9)),
    ("AvgPool3d", (2,), {}, VOLUME), ("AvgPool3d", ((1, 2, 3),), {"stride": 2, "padding": (0, 1, 1), "ceil_mode": True}, VOLUME),
    ("AvgPool3d", (2,), {"divisor_override": 5}, VOLUME),
    ("LPPool1d", (2, 3), {}, SIGNAL), ("LPPool2d", (3.0, 2), {"ceil_mode": True}, IMAGE),
    ("LPPool2d", (1, (2, 3)), {"stride": 2}, IMAGE), ("LPPool3d", (2, 2), {}, VOLUME),
    ("AdaptiveAvgPool1d", (3,), {}, SIGNAL), ("AdaptiveAvgPool1d", (4,), {}, SIGNAL), ("AdaptiveAvgPool1d", (1,), {}, (4, 9)),
    ("AdaptiveAvgPool3d", (1,), {}, VOLUME), ("AdaptiveAvgPool3d", ((3, None, 4),), {}, VOLUME),
    ("AdaptiveAvgPool3d", ((3, 5, 1),), {}, VOLUME),
    ("AdaptiveMaxPool1d", (3,), {}, SIGNAL), ("AdaptiveMaxPool1d", (4,), {"return_indices": False}, SIGNAL),
    ("AdaptiveMaxPool2d", ((3, 4),), {}, IMAGE), ("AdaptiveMaxPool2d", ((None, 12),), {}, IMAGE),
    ("AdaptiveMaxPool3d", ((4, 2, 3),), {}, VOLUME), ("AdaptiveMaxPool3d", (1,), {}, (4, 6, 5, 7)),
    ("InstanceNorm1d", (4,), {}, SIGNAL), ("InstanceNorm1d", (4,), {"affine": True}, (4, 9)),
    ("InstanceNorm2d", (4,), {"affine": True, "track_running_stats": True}, IMAGE),
    ("InstanceNorm3d", (4,), {"track_running_stats": True, "momentum": 0.3, "eps": 0.1}, VOLUME),
    ("BatchNorm3d", (4,), {}, VOLUME), ("BatchNorm3d", (4,), {"momentum": None}, VOLUME),
    ("LocalResponseNorm", (3,), {}, IMAGE), ("LocalResponseNorm", (2,), {"alpha": 0.5, "beta": 0.3, "k": 2.0}, SIGNAL),
    ("LocalResponseNorm", (9,), {"alpha": 0.5}, VOLUME),
    ("PixelShuffle", (2,), {}, (2, 8, 3, 5)), ("PixelUnshuffle", (2,), {}, (2, 3, 4, 6)), ("ChannelShuffle", (2,), {}, IMAGE),
    ("Unfold", (2,), {}, IMAGE), ("Unfold", ((2, 3),), {"stride": 2, "padding": 1, "dilation": 2}, IMAGE),
    ("Fold", ((4, 5), 2), {}, (2, 8, 12)), ("Fold", ((5, 6), (3, 2)), {"padding": 1, "stride": 2}, (2, 12, 12)),
    ("Unflatten", (1, (2, 2)), {}, IMAGE), ("Unflatten", (-1, (7, -1)), {}, IMAGE),
    ("Bilinear", (4, 3, 5), {}, (6, 4), (6, 3)), ("Bilinear", (4, 3, 5), {"bias": False}, (2, 3, 4), (2, 3, 3)),
    ("CosineSimilarity", (), {}, (5, 4), (5, 4)), ("CosineSimilarity", (), {"dim": -1}, (2, 1, 4), (3, 4)),
    ("PairwiseDistance", (), {}, (5, 4), (5, 4)), ("PairwiseDistance", (1.0,), {"keepdim": True}, (2, 5, 4), (5, 4)),
    ("PairwiseDistance", (3.0,), {"eps": 0.1}, (4,), (4,)),
    *(("Upsample", (), options, shape) for shape, options in [
        (SIGNAL, {"scale_factor": 2}), (SIGNAL, {"size": 7}), (IMAGE, {"scale_factor": (2, 3)}), (VOLUME, {"scale_factor": 1.7}),
        (IMAGE, {"size": (5, 11)}), (IMAGE, {"size": (5, 11), "mode": "nearest-exact"}),
        (SIGNAL, {"scale_factor": 1.7, "mode": "linear"}), (SIGNAL, {"size": 5, "mode": "linear", "align_corners": True}),
        (IMAGE, {"scale_factor": 2, "mode": "bilinear"}), (IMAGE, {"size": (5, 1), "mode": "bilinear", "align_corners": True}),
        (IMAGE, {"scale_factor": (1.3, 0.7), "mode": "bilinear", "recompute_scale_factor": True}),
        (IMAGE, {"scale_factor": (1.3, 0.7), "mode": "bicubic"}), (IMAGE, {"size": 12, "mode": "bicubic", "align_corners": True}),
        (VOLUME, {"scale_factor": 2, "mode": "trilinear"}), (VOLUME, {"size": (3, 9, 4), "mode": "trilinear"})]),
    ("UpsamplingNearest2d", (), {"scale_factor": 2}, IMAGE), ("UpsamplingBilinear2d", (), {"size": (9, 15)}, IMAGE),
    *((f"{kind}Pad{rank}d", (padding,), {}, shape) for kind in ("Reflection", "Replication", "Circular", "Zero")
        for rank, padding, shape in [
            (1, 2, SIGNAL), (1, (3, 1), (4, 9)), (2, (1, 2, 3, 0), IMAGE), (3, (1, 2, 3, 0, 4, 2), VOLUME)]),
    ("ConstantPad2d", ((1, -2, 3, 0), 1.5), {}, IMAGE), ("ConstantPad1d", (2, -1.0), {}, SIGNAL),
    ("ConstantPad3d", (1, 0.5), {}, VOLUME), ("ZeroPad2d", ((-1, 2, 0, -3),), {}, IMAGE),
    ("GLU", (), {}, (3, 8)), ("GLU", (1,), {}, IMAGE), ("Softmax2d", (), {}, IMAGE), ("Softmin", (1,), {}, IMAGE),
    ("PReLU", (), {}, IMAGE), ("PReLU", (4,), {}, IMAGE), ("PReLU", (4,), {"init": 0.1}, (3, 4)), ("PReLU", (), {}, (5,)),
    *((name, (), options, (40, 6)) for name, options in [
        ("Hardsigmoid", {}), ("Hardswish", {}), ("Softsign", {}), ("Tanhshrink", {}), ("Softshrink", {}),
        ("Softshrink", {"lambd": 0.2}), ("Hardshrink", {}), ("Hardshrink", {"lambd": 1.0}), ("CELU", {}),
        ("CELU", {"alpha": 0.5}),
        ("Threshold", {"threshold": 0.1, "value": -3.0})]),
]  # fmt: skip


def identify(value):
    return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel:UserWarning")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("row", LAYERS, ids=identify)
def test_layers(row, dtype):
    name, arguments, options, *shapes = row
    if (name, dtype) == ("Hardsigmoid", "float64"):
        return  # PyTorch's gradient is a sixth in 32 bits
    ours, theirs = pair_of(name, *arguments, dtype=dtype, **options)
    agree(ours, theirs, shapes, dtype, calls=2)
    if name not in ("CosineSimilarity", "PairwiseDistance", "RReLU"):
        assert repr(ours) == repr(theirs)
    if "Norm" in name:
        agree(ours.eval(), theirs.eval(), shapes, dtype)


@pytest.mark.parametrize("slope", [True, False])
def test_rrelu_in_evaluation(slope):
    ours, theirs = pair_of("RReLU", 0.1, 0.4, train=False)
    agree(ours, theirs, [(20, 3)], "float64")
    assert repr(ours) == repr(theirs)


def both(call, *arrays):
    """A function of tensors in both libraries, with gradients of all floating arrays."""
    ours = [ad.variable(a) if a.dtype.kind == "f" else ad.tensor(a) for a in arrays]
    theirs = [torch.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    y, y_torch = call(F, *ours), call(torch.nn.functional, *theirs)
    close(y, y_torch, "float64")
    weights = drawn(tuple(y_torch.shape), 50)
    (y * ad.tensor(weights)).sum().backward()
    (y_torch * torch.tensor(weights)).sum().backward()
    for x, x_torch in zip(ours, theirs, strict=True):
        if x.requires_grad:
            if x.grad is None or x_torch.grad is None:  # which stands for zeros
                assert all(g is None or not np.asarray(g).any() for g in (x.grad, x_torch.grad))
            else:
                close(x.grad, x_torch.grad, "float64")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("lead", "extents", "sizes", "counts"),
    [
        ((2, 3), (7, 9), (2, 3), (4, 5)), ((3,), (6, 5), (1, 2), (6, 1)), ((1, 2), (8, 8), (3, 3), (6, 2)),
        ((2, 3), (7, 6, 5), (2, 1, 2), (3, 4, 2)), ((2,), (5, 9, 4), (1, 2, 1), (1, 7, 3)),
    ],
)  # fmt: skip
def test_fractional_max_pools(lead, extents, sizes, counts, dtype):
    rank = len(extents)
    x = drawn((*lead, *extents), 3).astype(dtype)
    samples = np.random.default_rng(4).random((lead[0] if len(lead) == 2 else 1, lead[-1], rank)).astype(dtype)
    ours, theirs = ad.variable(x), torch.tensor(x, requires_grad=True)
    name = f"fractional_max_pool{rank}d"
    y, places = getattr(F, name)(ours, sizes, counts, None, True, ad.tensor(samples))
    y_torch, places_torch = getattr(torch.nn.functional, name)(theirs, sizes, counts, None, True, torch.tensor(samples))
    np.testing.assert_array_equal(places.numpy(), places_torch.numpy())
    np.testing.assert_array_equal(y.numpy(), y_torch.detach().numpy())
    (y * y).sum().backward()
    (y_torch * y_torch).sum().backward()
    close(ours.grad, theirs.grad, dtype)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("size", [(3, 4), (7, 5), (20, 3), (8, 7)])
def test_antialias(mode, corners, size):
    both(lambda f, x: f.interpolate(x, size, mode=mode, antialias=True, align_corners=corners), drawn((2, 3, 8, 7)))


def test_antialias_by_a_factor():
    for factor in (0.37, 1.9, (0.5, 0.8)):
        both(
            lambda f, x, factor=factor: f.interpolate(x, scale_factor=factor, mode="bilinear", antialias=True),
            drawn((2, 3, 18, 17)),
        )


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "linear", "area"])
def test_interpolation_in_any_size(mode):
    draw = np.random.default_rng(0)
    for extent, count in draw.integers(1, 60, (40, 2)).tolist():
        both(lambda f, x, count=count: f.interpolate(x, count, mode=mode), drawn((1, 2, extent)))
    for extent, factor in zip(draw.integers(2, 60, 40).tolist(), draw.uniform(0.5, 3, 40).tolist(), strict=True):
        # to as many and to twice as many pixels, PyTorch's gradient of "nearest" is that of a factor of 1 or 2
        if mode != "area" and int(extent * factor) not in (extent, 2 * extent):
            both(lambda f, x, factor=factor: f.interpolate(x, scale_factor=factor, mode=mode), drawn((1, 2, extent)))


GRIDS = [*itertools.product(["bilinear", "nearest", "bicubic"], ["zeros", "border", "reflection"], [False, True])]


@pytest.mark.parametrize(("mode", "padding", "corners"), GRIDS, ids=str)
def test_grid_sample(mode, padding, corners):
    grid = np.random.default_rng(1).uniform(-1.9, 1.9, (2, 6, 5, 2))
    both(lambda f, x, g: f.grid_sample(x, g, mode, padding, corners), drawn((2, 3, 7, 4)), grid)
    both(lambda f, x, g: f.grid_sample(x, g, mode, padding, corners), drawn((2, 3, 1, 4)), grid)
    if mode != "bicubic":
        points = np.random.default_rng(1).uniform(-1.9, 1.9, (2, 3, 4, 5, 3))
        both(lambda f, x, g: f.grid_sample(x, g, mode, padding, corners), drawn((2, 3, 5, 7, 4)), points)


@pytest.mark.parametrize("corners", [False, True])
def test_affine_grid(corners):
    both(lambda f, theta: f.affine_grid(theta, (2, 3, 4, 5), align_corners=corners), drawn((2, 2, 3)))
    both(lambda f, theta: f.affine_grid(theta, (2, 3, 4, 5, 2), align_corners=corners), drawn((2, 3, 4)))


def test_positions_of_the_maxima_and_back():
    for rank, shape in ((1, (2, 3, 9)), (2, (2, 3, 9, 8)), (3, (2, 3, 7, 5, 6))):
        array = np.random.default_rng(0).permutation(int(np.prod(shape))).reshape(shape).astype("float64")
        for name, arguments in (("max_pool", (2,)), ("max_pool", (3, 2, 1)), ("adaptive_max_pool", (3,))):
            y, places = getattr(F, f"{name}{rank}d")(ad.tensor(array), *arguments, return_indices=True)
            expected = getattr(torch.nn.functional, f"{name}{rank}d")(
                torch.tensor(array), *arguments, return_indices=True
            )
            np.testing.assert_array_equal(y.numpy(), expected[0].numpy())
            np.testing.assert_array_equal(places.numpy(), expected[1].numpy())
        y, places = getattr(torch.nn.functional, f"max_pool{rank}d")(torch.tensor(array), 2, return_indices=True)
        for size in (shape[2:], shape):

            def unpool(f, x, i, rank=rank, size=size):
                return getattr(f, f"max_unpool{rank}d")(x, i, 2, output_size=size)

            both(unpool, y.numpy(), places.numpy())
        even = array[(..., *[slice(n // 2 * 2) for n in shape[2:]])]
        y, places = getattr(torch.nn.functional, f"max_pool{rank}d")(torch.tensor(even), 2, return_indices=True)
        ours, theirs = getattr(nn, f"MaxUnpool{rank}d")(2), getattr(torch.nn, f"MaxUnpool{rank}d")(2)
        assert repr(ours) == repr(theirs)
        close(ours(ad.tensor(y.numpy()), ad.tensor(places.numpy())), theirs(y, places), "float64")


def test_transposed_convolution_to_a_size():
    ours, theirs = pair_of("ConvTranspose2d", 3, 2, 3, stride=3, padding=1)
    x = drawn((2, 3, 4, 5))
    for size in ((10, 14), (11, 15), (2, 2, 12, 13)):
        close(ours(ad.tensor(x), size), theirs(torch.tensor(x), list(size)), "float64")


def test_embedding_options():
    indices = np.array([[0, 4, 2, 4], [4, 0, 0, 1]])
    for options in ({"max_norm": 1.0}, {"max_norm": 0.5, "norm_type": 1.0}, {"scale_grad_by_freq": True},
                    {"scale_grad_by_freq": True, "padding_idx": 0, "max_norm": 1.2}):  # fmt: skip
        ours, theirs = pair_of("Embedding", 6, 3, **options)
        agree(ours, theirs, [], "float64", rest=(indices,), calls=2)
        assert repr(ours) == repr(theirs)
    table = drawn((5, 3))
    for freeze in (True, False):
        ours = nn.Embedding.from_pretrained(table, freeze=freeze, padding_idx=2)
        theirs = torch.nn.Embedding.from_pretrained(torch.tensor(table), freeze=freeze, padding_idx=2)
        close(ours(indices), theirs(torch.tensor(indices)), "float64")
        assert ours.weight.requires_grad is theirs.weight.requires_grad


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("padding", [None, 1])
def test_embedding_bag(mode, padding):
    ours, theirs = pair_of("EmbeddingBag", 7, 3, mode=mode, padding_idx=padding)
    assert repr(ours) == repr(theirs)
    flat, offsets = np.array([0, 4, 1, 4, 6, 1, 1, 2]), np.array([0, 3, 3, 5])
    agree(ours, theirs, [], "float64", rest=(flat.reshape(2, 4),))
    agree(ours, theirs, [], "float64", rest=(flat, offsets))
    ours, theirs = pair_of("EmbeddingBag", 7, 3, mode=mode, padding_idx=padding, include_last_offset=True)
    agree(ours, theirs, [], "float64", rest=(flat, np.array([0, 3, 3, 5, 8])))
    if mode == "sum":
        ours, theirs = pair_of("EmbeddingBag", 7, 3, mode=mode, padding_idx=padding)
        shares = drawn((8,))
        one = ours(flat, offsets, per_sample_weights=ad.tensor(shares))
        close(
            one, theirs(torch.tensor(flat), torch.tensor(offsets), per_sample_weights=torch.tensor(shares)), "float64"
        )


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("last", [False, True])
def test_embedding_bag_of_offsets_that_a_compiled_function_is_given(mode, last):
    ours, theirs = pair_of("EmbeddingBag", 7, 3, mode=mode, padding_idx=1, include_last_offset=last)
    weighted = mode == "sum"
    compiled = ad.jit(lambda i, o, s: ours(i, o, s if weighted else None))
    gradient = ad.jit(lambda i, o, s: ad.grad(lambda m: (m(i, o, s if weighted else None) ** 2).sum())(ours).weight)
    shares = drawn((8,))
    for flat, offsets in (([0, 4, 1, 4, 6, 1, 1, 2], [0, 3, 3, 5]), ([4, 4, 4, 0, 1, 1, 6, 3], [0, 0, 4, 6])):
        offsets += [8] * last
        given = ad.tensor(flat), ad.tensor(offsets), ad.tensor(shares)
        expected = theirs(torch.tensor(flat), torch.tensor(offsets), torch.tensor(shares) if weighted else None)
        close(compiled(*given), expected, "float64")
        theirs.zero_grad()
        expected.square().sum().backward()
        close(gradient(*given), theirs.weight.grad, "float64")
    assert len(compiled.traces) == len(gradient.traces) == 1
    for wrong in ([1, 2, 3, 4], [0, 3, 2, 4], [0, 2, 3, 9]):
        with pytest.raises(ValueError, match="offsets"):
            ours(flat, wrong + [9] * last)
        with pytest.raises(IndexError):
            compiled(ad.tensor(flat), ad.tensor(wrong + [9] * last), ad.tensor(shares)).numpy()


def test_functions():
    x, y = drawn((5, 4)), drawn((5, 4), 1)
    both(lambda f, a: f.normalize(a), x)
    both(lambda f, a: f.normalize(a, p=1.0, dim=0), x)
    both(lambda f, a: f.normalize(a * 0), x)
    both(lambda f, a, b: f.cosine_similarity(a, b), x, y)
    both(lambda f, a: f.cosine_similarity(a, a * 0), x)
    both(lambda f, a, b: f.pairwise_distance(a, b), x, y)
    both(lambda f, a: f.pdist(a), x)
    both(lambda f, a: f.softmin(a, dim=0), x)
    both(lambda f, a: f.pad(a, (1, 2)), x)
    both(lambda f, a: f.pad(a, (1, -1, -2, 3), value=2.5), x)
    both(lambda f, a: f.pad(a[None], (1, 2, 2, 1), mode="reflect"), x)
    for name in ("relu", "relu6", "elu", "selu", "celu", "silu", "mish", "leaky_relu", "hardtanh", "hardswish"):
        both(lambda f, a: getattr(f, name)(a, inplace=False), x)  # noqa: B023


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("mask", [None, (5, 5), (1, 6, 5, 5), (2, 1, 5, 5)])
def test_grouped_queries(causal, mask):
    if causal and mask is not None:
        return
    q, k, v = drawn((2, 6, 5, 4)), drawn((2, 3, 5, 4), 1), drawn((2, 3, 5, 2), 2)
    given = () if mask is None else (drawn(mask, 3),)
    both(
        lambda f, q, k, v, *m: f.scaled_dot_product_attention(q, k, v, *m, is_causal=causal, enable_gqa=True),
        q, k, v, *given,
    )  # fmt: skip


LOSSES = [
    ("BCELoss", ["shares"], ["target"], [{}, {"weight": True}]),
    ("PoissonNLLLoss", [(6, 4)], ["counts"], [{}, {"full": True}]),
    ("PoissonNLLLoss", ["shares"], ["counts"], [{"log_input": False}, {"log_input": False, "full": True, "eps": 0.1}]),
    ("GaussianNLLLoss", [(6, 4), (6, 4), "shares"], [], [{}, {"full": True}, {"eps": 0.5}]),
    ("GaussianNLLLoss", [(6, 4), (6, 4), "column"], [], [{}]),
    ("HingeEmbeddingLoss", [(6, 4)], ["signs"], [{}, {"margin": 0.3}]),
    ("SoftMarginLoss", [(6, 4)], ["signs"], [{}]),
    ("MarginRankingLoss", [(6, 4), (6, 4)], ["signs"], [{}, {"margin": 0.4}]),
    ("CosineEmbeddingLoss", [(6, 4), (6, 4)], ["sign"], [{}, {"margin": -0.4}]),
    ("CosineEmbeddingLoss", [(4,), (4,)], ["one"], [{}]),
    ("TripletMarginLoss", [(6, 4), (6, 4), (6, 4)], [], [{}, {"margin": 0.2, "p": 1.0}, {"swap": True}]),
    ("TripletMarginWithDistanceLoss", [(6, 4), (6, 4), (6, 4)], [], [{}, {"swap": True, "margin": 2.0}]),
    ("MultiMarginLoss", [(6, 4)], ["labels"], [{}, {"p": 2, "margin": 0.5}, {"weight": True}]),
    ("MultiMarginLoss", [(4,)], ["label"], [{}]),
    ("MultiLabelMarginLoss", [(6, 4)], ["lists"], [{}]),
    ("MultiLabelMarginLoss", [(4,)], ["list"], [{}]),
    ("MultiLabelSoftMarginLoss", [(6, 4)], ["bits"], [{}, {"weight": True}]),
]
GIVEN = {
    "target": np.random.default_rng(4).uniform(0, 1, (6, 4)), "counts": np.arange(24.0).reshape(6, 4) % 5,
    "signs": np.where(drawn((6, 4), 8) > 0, 1.0, -1.0), "sign": np.array([1, -1, 1, 1, -1, -1]), "one": np.array(-1),
    "labels": np.array([0, 3, 1, 1, 2, 3]), "label": np.array(2), "list": np.array([3, 0, -1, 1]),
    "lists": np.array([[3, 0, -1, 1], [-1, 0, 0, 0], [0, 1, 2, 3], [2, -1, -1, -1], [1, 2, 3, -1], [0, -1, 3, 3]]),
    "bits": (drawn((6, 4), 9) > 0).astype("float64"),
}  # fmt: skip
CASES = [(name, shapes, rest, options) for name, shapes, rest, many in LOSSES for options in many]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(("name", "shapes", "rest", "options"), CASES, ids=str)
def test_losses(name, shapes, rest, options, reduction):
    drawn_as = {
        "shares": lambda i: np.random.default_rng(i).uniform(0.05, 0.95, (6, 4)),
        "column": lambda i: GIVEN["target"][:, :1],
    }
    arrays = [drawn_as[s](i) if isinstance(s, str) else drawn(s, i) for i, s in enumerate(shapes)]
    weight = np.array([0.5, 1.0, 2.0, 0.1])
    mine, other = dict(options), dict(options)
    if "weight" in options:
        mine["weight"], other["weight"] = ad.tensor(weight), torch.tensor(weight)
    ours = getattr(nn, name)(reduction=reduction, **mine)
    theirs = getattr(torch.nn, name)(reduction=reduction, **other)
    xs, xs_torch = [ad.variable(a) for a in arrays], [torch.tensor(a, requires_grad=True) for a in arrays]
    out = ours(*xs, *(ad.tensor(GIVEN[r]) for r in rest))
    out_torch = theirs(*xs_torch, *(torch.tensor(GIVEN[r]) for r in rest))
    close(out, out_torch, "float64")
    weights = drawn(tuple(out_torch.shape), 99)
    (out * ad.tensor(weights)).sum().backward()
    (out_torch * torch.tensor(weights)).sum().backward()
    for x, x_torch in zip(xs, xs_torch, strict=True):
        close(x.grad, x_torch.grad, "float64")
    assert repr(ours).split("(")[0] == repr(theirs).split("(")[0]


def test_binary_cross_entropy_of_certain_probabilities():
    p, t = np.array([0.0, 1.0, 0.0, 1.0, 1e-20]), np.array([1.0, 0.0, 0.0, 1.0, 1.0])
    x, x_torch = ad.variable(p), torch.tensor(p, requires_grad=True)
    loss = F.binary_cross_entropy(x, t, reduction="none")
    loss_torch = torch.nn.functional.binary_cross_entropy(x_torch, torch.tensor(t), reduction="none")
    close(loss, loss_torch, "float64")
    loss.sum().backward()
    loss_torch.sum().backward()
    np.testing.assert_allclose(x.grad.numpy()[:2], x_torch.grad.numpy()[:2], rtol=1e-8)
    np.testing.assert_allclose(x.grad.numpy()[2:], [1, -1, -1e20])  # exact, where PyTorch has 0, 0 and -1e12


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("blank", [0, 3])
def test_ctc(reduction, blank):
    classes = [c for c in range(5) if c != blank]
    draw = np.random.default_rng(0)
    targets = draw.choice(classes, (4, 6))
    targets[0, :3] = classes[0]  # repeated classes need a blank between them
    inputs, sizes = np.array([12, 9, 12, 3]), np.array([4, 6, 1, 0])
    logits = drawn((12, 4, 5))
    flat = np.concatenate([row[:n] for row, n in zip(targets, sizes, strict=True)])
    for labels in (targets, flat):
        x, x_torch = ad.variable(logits), torch.tensor(logits, requires_grad=True)
        loss = F.ctc_loss(ad.log_softmax(x), labels, inputs, sizes, blank, reduction)
        loss_torch = torch.nn.functional.ctc_loss(
            torch.log_softmax(x_torch, -1),
            torch.tensor(labels),
            torch.tensor(inputs),
            torch.tensor(sizes),
            blank,
            reduction,
        )
        close(loss, loss_torch, "float64")
        loss.sum().backward()
        loss_torch.sum().backward()
        close(x.grad, x_torch.grad, "float64")


def test_ctc_of_what_cannot_be():
    logits, sizes = drawn((3, 2, 4)), np.array([5, 2])
    targets = np.array([[1, 2, 3, 1, 2], [1, 2, 0, 0, 0]])
    for zero in (False, True):
        x, x_torch = ad.variable(logits), torch.tensor(logits, requires_grad=True)
        loss = nn.CTCLoss(reduction="none", zero_infinity=zero)(ad.log_softmax(x), targets, [3, 3], sizes)
        loss_torch = torch.nn.CTCLoss(reduction="none", zero_infinity=zero)(
            torch.log_softmax(x_torch, -1), torch.tensor(targets), torch.tensor([3, 3]), torch.tensor(sizes)
        )
        np.testing.assert_allclose(loss.numpy(), loss_torch.detach().numpy(), rtol=1e-10)
        if zero:
            loss.sum().backward()
            loss_torch.sum().backward()
            close(x.grad, x_torch.grad, "float64")
    one = F.ctc_loss(ad.log_softmax(ad.tensor(logits[:, 1])), targets[1], 3, 2, reduction="none")
    assert one.shape == ()
    np.testing.assert_allclose(one.item(), loss_torch[1].item(), rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Conv1d", (8, 12, 3)), ("Conv3d", (4, 8, 3)), ("ConvTranspose2d", (12, 8, 3)),
        ("ConvTranspose1d", (12, 8, 5, 1, 0, 0, 4)),
        ("Bilinear", (20, 15, 10)), ("PReLU", (4,)), ("EmbeddingBag", (50, 30)), ("InstanceNorm2d", (5, 1e-5, 0.1, True, True)),
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
        assert one.std() == pytest.approx(other.std(), rel=0.4)
        assert np.abs(one).max() == pytest.approx(np.abs(other).max(), rel=0.4)


def test_dropout_of_channels_and_statistics():
    ad.random.seed(0)
    for rank, shape in ((1, (200, 50, 4)), (2, (200, 50, 2, 2)), (3, (200, 50, 1, 2, 2))):
        y = getattr(nn, f"Dropout{rank}d")(0.3)(ad.ones(shape)).numpy().reshape(200, 50, -1)
        assert (y == y[:, :, :1]).all()
        assert np.unique(y).tolist() == [0.0, np.float32(1 / 0.7)]
        assert (y == 0).mean() == pytest.approx(0.3, abs=0.02)
    x = ad.random.normal((400, 400))
    for layer in (nn.AlphaDropout(0.3), nn.FeatureAlphaDropout(0.3)):
        y = layer(x).numpy()
        assert y.mean() == pytest.approx(0, abs=0.02)
        assert y.std() == pytest.approx(1, abs=0.02)
        lowest = torch.nn.AlphaDropout(0.3)(torch.zeros(1000)).min().item()
        assert nn.AlphaDropout(0.3)(ad.zeros(1000)).numpy().min() == pytest.approx(lowest, rel=1e-5)
        assert layer.eval()(x) is x
