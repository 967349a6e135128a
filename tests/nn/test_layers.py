"""Layers, losses and initialisation by their formulas, their derivatives, their states and their errors.

PyTorch's numbers are compared with in tests/oracle.
"""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import nn
from adjoint.graph import topological
from adjoint.nn import functional as F
from support import double, equal


def drawn(*shape, seed=0):
    return double(np.random.default_rng(seed).normal(size=shape))


LAYERS = {
    "Conv2d": (lambda: nn.Conv2d(2, 4, 3, stride=2, padding=1, groups=2), (2, 2, 5, 4), (2, 4, 3, 2)),
    "Conv2d same": (
        lambda: nn.Conv2d(2, 3, (2, 3), padding="same", dilation=2, bias=False),
        (1, 2, 5, 4),
        (1, 3, 5, 4),
    ),
    "MaxPool2d": (lambda: nn.MaxPool2d(2, padding=1), (2, 2, 4, 3), (2, 2, 3, 2)),
    "AvgPool2d": (lambda: nn.AvgPool2d((2, 3), 1), (1, 2, 4, 4), (1, 2, 3, 2)),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d((2, 1)), (1, 2, 5, 3), (1, 2, 2, 1)),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(3), (4, 3), (4, 3)),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(2), (2, 2, 3, 2), (2, 2, 3, 2)),
    "BatchNorm2d in use": (lambda: nn.BatchNorm2d(2).eval(), (1, 2, 3, 2), (1, 2, 3, 2)),
    "LayerNorm": (lambda: nn.LayerNorm((3, 2)), (2, 3, 2), (2, 3, 2)),
    "RMSNorm": (lambda: nn.RMSNorm(4), (3, 4), (3, 4)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), (2, 4, 3), (2, 4, 3)),
    "Dropout in use": (lambda: nn.Dropout(0.4).eval(), (3, 4), (3, 4)),
    "LeakyReLU": (lambda: nn.LeakyReLU(0.2), (3, 4), (3, 4)),
    "ELU": (lambda: nn.ELU(0.7), (3, 4), (3, 4)),
    "SELU": (nn.SELU, (3, 4), (3, 4)),
    "Mish": (nn.Mish, (3, 4), (3, 4)),
    "LogSigmoid": (nn.LogSigmoid, (3, 4), (3, 4)),
    "Softplus": (lambda: nn.Softplus(3.0), (3, 4), (3, 4)),
    "Hardtanh": (lambda: nn.Hardtanh(-0.5, 0.7), (3, 4), (3, 4)),
    "ReLU6": (nn.ReLU6, (3, 4), (3, 4)),
    "Conv1d": (
        lambda: nn.Conv1d(2, 4, 3, stride=2, padding=1, groups=2, padding_mode="circular"),
        (2, 2, 6),
        (2, 4, 3),
    ),
    "Conv3d": (
        lambda: nn.Conv3d(1, 2, (2, 1, 3), stride=(1, 2, 1), padding=(1, 0, 1)),
        (1, 1, 2, 3, 3),
        (1, 2, 3, 2, 3),
    ),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(2, 1, 3, 2, 1, 1), (2, 2, 3), (2, 1, 6)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(2, 2, 2, stride=2, groups=2), (1, 2, 2, 3), (1, 2, 4, 6)),
    "MaxPool1d": (lambda: nn.MaxPool1d(2, padding=1), (2, 2, 5), (2, 2, 3)),
    "MaxPool3d": (lambda: nn.MaxPool3d((1, 2, 2), 1), (1, 2, 2, 3, 3), (1, 2, 2, 2, 2)),
    "AvgPool3d": (lambda: nn.AvgPool3d(2, ceil_mode=True), (1, 1, 3, 2, 3), (1, 1, 2, 1, 2)),
    "LPPool2d": (lambda: nn.LPPool2d(2, 2), (1, 2, 4, 4), (1, 2, 2, 2)),
    "AdaptiveAvgPool3d": (lambda: nn.AdaptiveAvgPool3d((2, 1, 3)), (1, 1, 3, 2, 4), (1, 1, 2, 1, 3)),
    "AdaptiveMaxPool2d": (lambda: nn.AdaptiveMaxPool2d((2, 3)), (1, 2, 3, 5), (1, 2, 2, 3)),
    "FractionalMaxPool2d": (
        lambda: nn.FractionalMaxPool2d(2, (2, 3), None, False, ad.full((1, 2, 2), 0.4)),
        (1, 2, 4, 5),
        (1, 2, 2, 3),
    ),
    "FractionalMaxPool3d": (
        lambda: nn.FractionalMaxPool3d(1, (2, 1, 2), None, False, ad.full((1, 2, 3), 0.7)),
        (1, 2, 4, 2, 5),
        (1, 2, 2, 1, 2),
    ),
    "Upsample bicubic": (lambda: nn.Upsample((3, 5), mode="bicubic"), (1, 1, 3, 3), (1, 1, 3, 5)),
    "Upsample nearest": (lambda: nn.Upsample(scale_factor=2), (1, 1, 3, 3), (1, 1, 6, 6)),
    "ReflectionPad1d": (lambda: nn.ReflectionPad1d((2, 1)), (2, 4), (2, 7)),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), (1, 4, 2, 3), (1, 1, 4, 6)),
    "Unfold": (lambda: nn.Unfold(2, padding=1), (1, 2, 3, 2), (1, 8, 12)),
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(2, affine=True), (2, 2, 4), (2, 2, 4)),
    "LocalResponseNorm": (lambda: nn.LocalResponseNorm(3, alpha=0.5), (2, 4, 3), (2, 4, 3)),
    "PReLU": (lambda: nn.PReLU(3), (4, 3), (4, 3)),
    "GLU": (nn.GLU, (3, 4), (3, 2)),
    "CELU": (lambda: nn.CELU(0.5), (3, 4), (3, 4)),
    "Hardswish": (nn.Hardswish, (3, 4), (3, 4)),
    "Softsign": (nn.Softsign, (3, 4), (3, 4)),
    "Softshrink": (nn.Softshrink, (3, 4), (3, 4)),
    "Unflatten": (lambda: nn.Unflatten(1, (2, -1)), (3, 4), (3, 2, 2)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_shapes_and_derivatives_of_both_orders(name):
    """By the input and by all parameters, against differences; the output's shape is known before any value."""
    make, shape, expected = LAYERS[name]
    layer = make().double()
    names = [key for key, _ in layer.named_parameters()]
    x = drawn(*shape, seed=1)
    assert layer(x).shape == expected

    def f(x, *parameters):
        copy = make().double()
        for key, value in zip(names, parameters, strict=True):
            owner, attribute = (copy, key)
            owner.__dict__[attribute] = value
        return copy(x) ** 2

    ad.check_grads(f, (x, *[p.detach() for p in layer.parameters()]), order=2)


@pytest.mark.parametrize("name", LAYERS)
def test_layers_are_batched(name):
    make, shape, _ = LAYERS[name]
    layer = make().double()
    if isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d):
        layer.eval()  # in training the running statistics would differ between examples
    xs = drawn(3, *shape)
    equal(ad.vmap(layer)(xs), np.stack([layer(x).numpy() for x in xs]))


# ---------------------------------------------------------------- images


def test_convolution_by_hand():
    x = double(np.arange(9.0).reshape(1, 1, 3, 3))
    kernel = double([[[[1.0, 0.0], [0.0, -1.0]]]])
    equal(F.conv2d(x, kernel)[0, 0], np.full((2, 2), -4.0))  # x[i, j] - x[i+1, j+1]
    equal(F.conv2d(x, kernel, double([1.0]), padding=1)[0, 0, 0], [1.0, 0.0, -1.0, -1.0 + 1.0 - 0.0 + 1.0])


def test_convolution_refuses_what_it_lacks():
    with pytest.raises(ValueError, match="padding_mode is one of zeros, reflect, replicate, circular; not 'mirror'"):
        nn.Conv2d(1, 1, 3, padding_mode="mirror")
    with pytest.raises(ValueError, match="padding_mode is one of zeros; not 'reflect'"):
        nn.ConvTranspose2d(1, 1, 3, padding_mode="reflect")
    with pytest.raises(ValueError, match=r"output_padding \(2,\) must be smaller than stride \(2,\) or dilation"):
        F.conv_transpose1d(ad.ones((1, 1, 4)), ad.ones((1, 1, 2)), stride=2, output_padding=2)
    with pytest.raises(ValueError, match="expected volumes of shape"):
        nn.Conv3d(1, 1, 3)(ad.ones((1, 5, 5)))
    with pytest.raises(ValueError, match="3 to 4 channels don't divide into 2 groups"):
        nn.Conv2d(3, 4, 3, groups=2)
    with pytest.raises(ValueError, match="needs stride 1"):
        nn.Conv2d(1, 1, 3, stride=2, padding="same")
    with pytest.raises(ValueError, match=r"takes 2 channels.*has 3"):
        nn.Conv2d(2, 1, 3)(ad.ones((1, 3, 5, 5)))


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1}, {"stride": 3, "dilation": 2, "groups": 2}])
def test_transposed_convolution_is_the_adjoint(rank, options):
    """⟨conv(x), u⟩ = ⟨x, convᵀ(u)⟩, where what no window reads gets nothing."""
    x, w = drawn(2, 4, *(7, 8, 9)[:rank]), drawn(6, 4 // options.get("groups", 1), *(2, 3, 2)[:rank], seed=1)
    y = getattr(F, f"conv{rank}d")(x, w, **options)
    u = drawn(*y.shape, seed=2)
    back = getattr(F, f"conv_transpose{rank}d")(u, w, **options)
    rest = [n - m for n, m in zip(x.shape[2:], back.shape[2:], strict=True)]
    beyond = getattr(F, f"conv_transpose{rank}d")(u, w, **options, output_padding=tuple(max(n, 0) for n in rest))
    assert beyond.shape == x.shape
    equal((y * u).sum(), (x * beyond).sum().numpy())


def test_transposed_convolution_writes_windows():
    kernel = double([[[1.0, 2.0, 3.0]]])
    equal(F.conv_transpose1d(double([[[1.0, 10.0]]]), kernel, stride=2)[0, 0], [1.0, 2.0, 13.0, 20.0, 30.0])
    # an output_padding above the stride is allowed up to the dilation: what no window reaches is the bias
    found = F.conv_transpose1d(double([[[1.0]]]), kernel, double([5.0]), dilation=3, output_padding=2)
    equal(found[0, 0], [6.0, 5.0, 5.0, 7.0, 5.0, 5.0, 8.0, 5.0, 5.0])


def test_pixels_that_are_not_finite_stay_where_they_are():
    x = np.ones((1, 1, 8, 8))
    x[0, 0, 2, 3] = np.inf
    for call in (
        lambda x: F.interpolate(x, 16, mode="nearest"),
        lambda x: F.adaptive_avg_pool2d(x, (3, 5)),
        lambda x: F.interpolate(x, (5, 5), mode="bilinear", antialias=True),
    ):
        y = call(double(x)).numpy()
        assert not np.isfinite(y).all()
        assert np.isfinite(y[0, 0, -1]).all()
        assert np.isfinite(y[0, 0, :, -1]).all()


def test_interpolation_by_hand():
    x = double([[[0.0, 2.0, 4.0]]])
    equal(F.interpolate(x, 6)[0, 0], [0.0, 0.0, 2.0, 2.0, 4.0, 4.0])
    equal(F.interpolate(x, 5, mode="linear", align_corners=True)[0, 0], [0.0, 1.0, 2.0, 3.0, 4.0])
    equal(F.interpolate(x, 6, mode="linear")[0, 0], [0.0, 0.5, 1.5, 2.5, 3.5, 4.0])
    equal(F.interpolate(double([[[0.0, 2.0, 4.0, 6.0]]]), 2, mode="area")[0, 0], [1.0, 5.0])
    with pytest.raises(ValueError, match="either size or scale_factor"):
        F.interpolate(x)
    with pytest.raises(ValueError, match=r"mode 'bilinear' takes 2 axes.*test_layers.py"):
        F.interpolate(x, 3, mode="bilinear")
    with pytest.raises(ValueError, match="align_corners goes with"):
        F.interpolate(x, 3, align_corners=True)


def test_sampling_at_the_pixels_themselves():
    x = drawn(2, 3, 4, 5)
    theta = double(np.tile([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], (2, 1, 1)))
    for corners in (False, True):
        grid = F.affine_grid(theta, x.shape, corners)
        for mode in ("bilinear", "nearest", "bicubic"):
            equal(F.grid_sample(x, grid, mode, align_corners=corners), x.numpy())
    flipped = F.affine_grid(theta * double([[-1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]), x.shape)
    equal(F.grid_sample(x, flipped), x.numpy()[..., ::-1])
    away = F.grid_sample(x, double(np.full((2, 1, 1, 2), np.nan)), align_corners=True)
    assert away.shape == (2, 3, 1, 1)  # no index comes of a point that is no number
    away.numpy()


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_derivatives_of_sampling(mode, padding):
    grid = double(np.random.default_rng(0).uniform(-1.3, 1.3, (1, 2, 3, 2)))
    ad.check_grads(lambda x, g: F.grid_sample(x, g, mode, padding) ** 2, (drawn(1, 1, 3, 4), grid), order=2)


def test_padding_by_hand():
    x = double([[1.0, 2.0, 3.0, 4.0]])
    equal(F.pad(x, (2, 1), "reflect"), [[3.0, 2.0, 1.0, 2.0, 3.0, 4.0, 3.0]])
    equal(F.pad(x, (2, 1), "replicate"), [[1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 4.0]])
    equal(F.pad(x, (2, 1), "circular"), [[3.0, 4.0, 1.0, 2.0, 3.0, 4.0, 1.0]])
    equal(F.pad(x, (-1, 1, 1, 0), value=9.0), [[9.0, 9.0, 9.0, 9.0], [2.0, 3.0, 4.0, 9.0]])
    for widths, mode, message in [
        ((4, 0), "reflect", "needs more than there are, 4"), ((5, 0), "circular", "as many as there are"),
        ((1,), "constant", "no pairs"), ((-3, -2), "constant", "less than nothing"), ((1, 1), "mirror", "mode is one of"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=message):
            F.pad(x, widths, mode)


# ---------------------------------------------------------------- normalization


def test_batch_norm_keeps_running_statistics():
    norm = nn.BatchNorm1d(2, momentum=0.25).double()
    x = drawn(8, 2).numpy()
    mean, variance = np.zeros(2), np.ones(2)
    for step in range(1, 4):
        y = norm(double(step * x))
        equal(y, (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5 / step**2))
        mean += 0.25 * (step * x.mean(0) - mean)
        variance += 0.25 * (step**2 * x.var(0, ddof=1) - variance)
    equal(norm.running_mean, mean)
    equal(norm.running_var, variance)
    assert norm.num_batches_tracked.item() == 3
    before = norm.state_dict()
    equal(norm.eval()(double(x)), (x - mean) / np.sqrt(variance + 1e-5))
    for key, value in norm.state_dict().items():
        equal(value, before[key].numpy())
    norm.reset_running_stats()
    equal(norm.running_mean, np.zeros(2))
    assert norm.num_batches_tracked.item() == 0


@pytest.mark.parametrize(
    ("layer", "shape"),
    (
        (nn.BatchNorm1d(3), (0, 3)),
        (nn.BatchNorm1d(3, momentum=None), (0, 3, 4)),
        (nn.BatchNorm2d(3), (2, 3, 0, 4)),
        (nn.InstanceNorm1d(3, affine=True, track_running_stats=True), (0, 3, 4)),
        (nn.InstanceNorm2d(3, affine=True, track_running_stats=True), (2, 3, 4, 0)),
    ),
)
def test_a_batch_of_nothing_teaches_nothing(layer, shape):
    x = ad.variable(np.zeros(shape, np.float32))
    for f in (layer, ad.jit(layer)):
        y = f(x)
        assert y.shape == shape
    y.sum().backward()
    assert x.grad.shape == shape
    equal(layer.weight.grad, np.zeros(3))
    equal(layer.running_mean, np.zeros(3))
    equal(layer.running_var, np.ones(3))


def test_a_state_of_an_earlier_version_where_a_layer_has_two_names():
    model = nn.Sequential(nn.BatchNorm1d(2))
    model.add_module("again", model[0])
    model(ad.ones((3, 2)))
    state = {name: value for name, value in model.state_dict().items() if "batches" not in name}
    assert len(state) == 8
    model.load_state_dict(state)
    assert model[0].num_batches_tracked.item() == 2  # the state says nothing of it


def test_batch_norm_of_all_batches_and_of_none():
    norm = nn.BatchNorm1d(1, momentum=None).double()
    for value in (1.0, 2.0, 6.0):
        norm(double([[value - 1], [value + 1]]))
    assert norm.running_mean.item() == pytest.approx(3.0)
    free = nn.BatchNorm1d(1, track_running_stats=False, affine=False).eval()
    assert free.state_dict() == {}
    equal(free(ad.tensor([[0.0], [2.0]])), [[-1.0], [1.0]], 1e-4)


def test_running_statistics_do_not_pile_up():
    """They get their values with the loss, whether or not anybody looks at them."""
    for first in (nn.Identity(), nn.Linear(3, 3)):
        norm = nn.BatchNorm1d(3)
        model = nn.Sequential(first, norm, nn.Linear(3, 1))
        optimizer = ad.optim.SGD(model.parameters(), 0.01)
        for _ in range(20):
            loss = (model(ad.tensor(np.ones((4, 3), "float32"))) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss.item()
        for buffer in norm.buffers():
            assert len(topological([buffer.node], lambda node: node.value is None)) < 60


def test_running_statistics_under_vmap():
    norm = nn.BatchNorm1d(2)
    xs = ad.tensor(np.ones((3, 4, 2), "float32"))
    with pytest.raises(RuntimeError, match="under vmap every example"):
        ad.vmap(norm)(xs)
    equal(norm.running_mean, np.zeros(2))
    assert ad.vmap(norm.eval())(xs).shape == xs.shape
    assert ad.vmap(nn.BatchNorm1d(2, track_running_stats=False))(xs).shape == xs.shape
    norm.train()  # what is the same for all examples is no trouble
    ad.vmap(lambda y: y * norm(xs[0]).sum())(ad.ones(3))
    equal(norm.running_mean, np.full(2, 0.1))


def test_a_compiled_step_keeps_statistics_and_draws():
    """Under jit running statistics move, dropout draws anew and labels may be ignored, as without."""
    data = np.random.default_rng(0)
    x, labels = data.normal(size=(5, 6, 1, 6, 6)), data.integers(0, 3, (5, 6))
    labels[3, 2] = -100

    def train(compiled):
        ad.random.seed(0)
        model = nn.Sequential(
            nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.3), nn.Flatten(),
            nn.Linear(12, 4), nn.BatchNorm1d(4, momentum=None), nn.LayerNorm(4), nn.Linear(4, 3),
        ).double()  # fmt: skip
        optimizer = ad.optim.SGD(model.parameters(), 0.05, 0.9)

        def step(x, y):
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss

        step = ad.jit(step) if compiled else step
        losses = [step(ad.tensor(a), ad.tensor(b)).item() for a, b in zip(x, labels, strict=True)]
        return losses, {name: value.numpy() for name, value in model.state_dict().items()}

    (losses, state), (expected, expected_state) = train(True), train(False)
    np.testing.assert_allclose(losses, expected, 1e-10)
    for name, value in expected_state.items():
        np.testing.assert_allclose(state[name], value, 1e-9, 1e-10, err_msg=name)


def test_normalization_by_formula():
    x = drawn(2, 4, 3).numpy()
    centered = x - x.mean((1, 2), keepdims=True)
    equal(F.layer_norm(double(x), (4, 3)), centered / np.sqrt((centered**2).mean((1, 2), keepdims=True) + 1e-5))
    equal(F.rms_norm(double(x), 3, eps=0.1), x / np.sqrt((x**2).mean(2, keepdims=True) + 0.1))
    grouped = x.reshape(2, 2, 6)
    centered = grouped - grouped.mean(2, keepdims=True)
    expected = centered / np.sqrt((centered**2).mean(2, keepdims=True) + 1e-5)
    equal(F.group_norm(double(x), 2), expected.reshape(x.shape))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.BatchNorm2d(2)(ad.ones((3, 2))), r"expected shape \(N, C, H, W\), got \(3, 2\)"),
        (lambda: nn.BatchNorm1d(2)(ad.ones((3, 4))), "has 4 channels; the weight has shape"),
        (lambda: nn.BatchNorm1d(2)(ad.ones((1, 2))), "more than one value"),
        (lambda: F.batch_norm(ad.ones((3, 2)), None, None), "running_mean and running_var are needed"),
        (lambda: nn.LayerNorm(4)(ad.ones((2, 3))), r"must have the shape \(4,\); its shape is \(2, 3\)"),
        (lambda: nn.RMSNorm((2, 3))(ad.ones((3,))), r"must have the shape \(2, 3\)"),
        (lambda: F.layer_norm(ad.ones((2, 3)), 3, ad.ones(2)), r"the weight must have shape \(3,\); it has \(2,\)"),
        (lambda: nn.GroupNorm(2, 3), "3 channels don't divide into 2 groups"),
        (lambda: F.group_norm(ad.ones((2, 4)), 3), "4 channels don't divide into 3 groups"),
        (lambda: nn.Dropout(1.5), "a probability"),
        (lambda: nn.MultiheadAttention(6, 4), "6 features don't divide into 4 heads"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---------------------------------------------------------------- dropout, embedding, attention


def test_dropout_drops_a_share_and_keeps_the_mean():
    x = ad.variable(np.ones((300, 300)))
    y = nn.Dropout(0.3)(x)
    values = y.numpy()
    assert set(np.unique(values)) == {0.0, 1 / 0.7}
    assert values.mean() == pytest.approx(1.0, abs=0.02)
    equal(ad.gradients(y.sum(), [x])[0], values)
    assert not np.array_equal(nn.Dropout(0.3)(x).numpy(), values)
    ad.random.seed(3)
    first = F.dropout(x, 0.5).numpy()
    ad.random.seed(3)
    np.testing.assert_array_equal(F.dropout(x, 0.5).numpy(), first)
    assert nn.Dropout(0.3).eval()(x) is x
    assert F.dropout(x, 0.0) is x
    equal(F.dropout(x, 1.0), np.zeros((300, 300)))


def test_embedding_takes_rows():
    table = nn.Embedding(5, 3, padding_idx=1).double()
    indices = np.array([[1, 4], [4, 0]])
    y = table(indices)
    equal(y, table.weight.numpy()[indices])
    (y**2).sum().backward()
    expected = np.zeros((5, 3))
    np.add.at(expected, indices, 2 * table.weight.numpy()[indices])
    equal(table.weight.grad, np.where(np.arange(5)[:, None] == 1, 0, expected))
    with pytest.raises(IndexError, match=r"index 5 at \[0, 1\] is out of range for 5 rows.*test_layers.py"):
        table(np.array([[0, 5]]))
    with pytest.raises(IndexError, match=r"index -1 at \[0\]"):
        table(np.array([-1]))
    with pytest.raises(TypeError, match="must be integers"):
        table(ad.ones(2))


def test_one_hot():
    equal(F.one_hot([0, 2], 4), [[1, 0, 0, 0], [0, 0, 1, 0]])
    assert F.one_hot(np.array([[1], [3]])).shape == (2, 1, 4)
    with pytest.raises(IndexError, match=r"class number 4 at \[1\] is out of range for 4 classes"):
        F.one_hot([0, 4], 4)


def reference_attention(q, k, v, seen):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    powers = np.where(seen, np.exp(scores), 0)
    return powers / np.maximum(powers.sum(-1, keepdims=True), 1e-300) @ v


def test_attention_by_formula():
    q, k, v = (drawn(2, 3, n, 4, seed=n) for n in (5, 6, 6))
    arrays = [t.numpy() for t in (q, k, v)]
    everything, causal = np.ones((5, 6), bool), np.tri(5, 6, dtype=bool)
    equal(F.scaled_dot_product_attention(q, k, v), reference_attention(*arrays, everything))
    equal(F.scaled_dot_product_attention(q, k, v, is_causal=True), reference_attention(*arrays, causal))
    mask = np.random.default_rng(0).random((5, 6)) < 0.6
    mask[2] = False  # this query sees nothing, and gives 0
    found = F.scaled_dot_product_attention(q, k, v, ad.tensor(mask))
    equal(found, reference_attention(*arrays, mask))
    with pytest.raises(TypeError, match="a mask is bool"):
        F.scaled_dot_product_attention(q, k, v, ad.tensor(mask.astype(int)))
    both = F.scaled_dot_product_attention(q, k, v, ad.tensor(mask), is_causal=True)
    equal(both, reference_attention(*arrays, mask & causal))
    floating = np.where(mask, 0.0, -np.inf)
    equal(F.scaled_dot_product_attention(q, k, v, double(floating), is_causal=True), both.numpy())
    for given in (ad.tensor(mask), double(floating)):
        gradient = ad.grad(lambda q, m=given: (F.scaled_dot_product_attention(q, k, v, m) ** 2).sum())(q).numpy()
        assert np.isfinite(gradient).all()
        assert not gradient[:, :, 2].any()
    ad.check_grads(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, ad.tensor(mask), is_causal=True),
        [t[0, 0] for t in (q, k, v)],
    )
    with pytest.raises(ValueError, match=r"\(\.\.\., L, E\).*got"):
        F.scaled_dot_product_attention(q, k[..., :2], v)


def test_heads_and_masks():
    attention = nn.MultiheadAttention(8, 2, batch_first=True).double()
    x = drawn(3, 5, 8)
    plain, weights = attention(x, x, x)
    assert (plain.shape, weights.shape) == ((3, 5, 8), (3, 5, 5))
    equal(weights.sum(axis=-1), np.ones((3, 5)))
    hidden = ~np.tri(5, dtype=bool)
    causal, _ = attention(x, x, x, is_causal=True)
    equal(attention(x, x, x, attn_mask=ad.tensor(hidden))[0], causal.numpy())
    padding = np.zeros((3, 5), bool)
    padding[:, 3:] = True
    short, _ = attention(x, x[:, :3], x[:, :3])
    equal(attention(x, x, x, key_padding_mask=ad.tensor(padding))[0], short.numpy())
    separate, none = attention(x, x * 1, x * 1, need_weights=False)  # three products instead of one
    equal(separate, plain.numpy())
    assert none is None
    sideways = nn.MultiheadAttention(8, 2).double()
    sideways.load_state_dict(attention.state_dict())
    equal(sideways(*[x.swapaxes(0, 1)] * 3)[0], plain.swapaxes(0, 1).numpy())
    equal(attention(x[0], x[0], x[0])[0], plain[0].numpy())
    assert attention(x, x, x, average_attn_weights=False)[1].shape == (3, 2, 5, 5)


def test_dropped_weights_in_attention():
    attention = nn.MultiheadAttention(4, 2, dropout=0.5, batch_first=True)
    x = ad.ones((20, 6, 4))
    _, weights = attention(x, x, x, average_attn_weights=False)
    assert 0.4 < (weights.numpy() == 0).mean() < 0.6
    _, weights = attention.eval()(x, x, x, average_attn_weights=False)
    assert (weights.numpy() > 0).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda a, x: a(x, x[:, :, :2], x), ValueError, r"must have \(4, 4, 4\) features; they have \(4, 2, 4\)"),
        (lambda a, x: a(x, x[:1], x[:1]), ValueError, "2 examples of queries, 1 of 3 keys"),
        (lambda a, x: a(x, x[0], x[0]), ValueError, r"expected shapes such as \(N, L, E\)"),
        (lambda a, x: a(x, x, x, attn_mask=ad.zeros((2, 2))), ValueError, r"attn_mask must have the shape \(3, 3\)"),
        (lambda a, x: a(x, x, x, key_padding_mask=ad.zeros((3, 3))), ValueError, r"must have the shape \(2, 3\)"),
        (lambda a, x: a(x, x, x, attn_mask=ad.zeros((3, 3), dtype="int32")), TypeError, "bool or floating"),
    ],
)
def test_errors_of_attention(call, error, message):
    with pytest.raises(error, match=message):
        call(nn.MultiheadAttention(4, 2, batch_first=True), ad.ones((2, 3, 4)))


# ---------------------------------------------------------------- losses


def log_probabilities(logits):
    shifted = logits - logits.max(1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(1, keepdims=True))


def test_cross_entropy_with_weights_smoothing_and_ignored_classes():
    logits, labels, weight = drawn(5, 3), np.array([0, 2, 1, 2, 0]), np.array([1.0, 0.5, 2.0])
    scores = log_probabilities(logits.numpy())
    each = -scores[np.arange(5), labels]
    shares = weight[labels]
    equal(F.cross_entropy(logits, labels, double(weight)), (each * shares).sum() / shares.sum())
    equal(F.cross_entropy(logits, labels, double(weight), reduction="none"), each * shares)
    smooth = 0.7 * each + 0.3 * -scores.mean(1)
    equal(F.cross_entropy(logits, labels, label_smoothing=0.3), smooth.mean())
    kept = labels != 2
    equal(F.cross_entropy(logits, labels, ignore_index=2), each[kept].mean())
    equal(F.cross_entropy(logits, np.where(kept, labels, -100)), each[kept].mean())
    equal(F.cross_entropy(logits, labels, ignore_index=2, reduction="none"), each * kept)
    equal(
        F.nll_loss(double(scores), labels, double(weight), ignore_index=2, reduction="sum"),
        (each * shares * kept).sum(),
    )
    module = nn.CrossEntropyLoss(weight, ignore_index=2, label_smoothing=0.1)
    assert list(module.state_dict()) == ["weight"]
    equal(
        module(logits, labels),
        F.cross_entropy(logits, labels, double(weight), ignore_index=2, label_smoothing=0.1).numpy(),
    )
    gradient = ad.grad(lambda x: F.cross_entropy(x, labels, ignore_index=2))(logits).numpy()
    assert not gradient[~kept].any()
    ad.check_grads(lambda x: module(x, labels), (logits,))
    with pytest.raises(IndexError, match=r"class number 3 at \[1\] is out of range for 3 classes.*test_layers.py"):
        F.cross_entropy(logits, [0, 3, 1, 1, 1])
    with pytest.raises(ValueError, match=r"3 classes need a weight of shape \(3,\); its shape is \(2,\)"):
        F.cross_entropy(logits, labels, ad.ones(2))
    with pytest.raises(ValueError, match="label_smoothing is a share"):
        F.cross_entropy(logits, labels, label_smoothing=2.0)


def test_labels_that_are_not_known_yet():
    """Under vmap, where no label has a value, the answer is that of a loop."""
    logits, labels = drawn(4, 3, 5), np.array([[0, 1, -100], [4, 4, 2], [1, -100, -100], [3, 2, 1]])
    found = ad.vmap(F.cross_entropy)(logits, ad.tensor(labels))
    equal(found, [F.cross_entropy(logits[i], labels[i]).item() for i in range(4)])


def test_losses_by_formula():
    p, t = drawn(3, 4), double(np.random.default_rng(1).dirichlet(np.ones(4), 3))
    d = p.numpy() - t.numpy()
    equal(F.huber_loss(p, t, delta=0.5), np.where(abs(d) < 0.5, d**2 / 2, 0.5 * (abs(d) - 0.25)).mean())
    equal(F.smooth_l1_loss(p, t, beta=0.5), np.where(abs(d) < 0.5, d**2, abs(d) - 0.25).mean())
    equal(F.smooth_l1_loss(p, t, beta=0.0), abs(d).mean())
    equal(F.kl_div(p, t, "batchmean"), (t.numpy() * (np.log(t.numpy()) - p.numpy())).sum() / 3)
    equal(F.kl_div(p, ad.log(t), log_target=True), F.kl_div(p, t).numpy())
    assert F.kl_div(p, double(np.eye(4)[:3]), "sum").item() == pytest.approx(-np.trace(p.numpy()[:, :3]))
    s = 1 / (1 + np.exp(-p.numpy()))
    for positive, weight in (
        (None, None),
        (double([1.0, 2.0, 0.5, 3.0]), None),
        (double([2.0] * 4), double([[1.0], [0.0], [2.0]])),
    ):
        expected = -(1 if positive is None else positive.numpy()) * t.numpy() * np.log(s) - (1 - t.numpy()) * np.log(
            1 - s
        )
        expected = expected * (1 if weight is None else weight.numpy())
        equal(F.binary_cross_entropy_with_logits(p, t, weight, pos_weight=positive), expected.mean())
        module = nn.BCEWithLogitsLoss(weight, pos_weight=positive, reduction="none")
        equal(module(p, t), expected)
    for module in (nn.HuberLoss(delta=0.4), nn.SmoothL1Loss(beta=0.4), nn.KLDivLoss(reduction="batchmean")):
        ad.check_grads(module, (p, t))
    with pytest.raises(ValueError, match="'batchmean' or 'none', not 'max'"):
        nn.KLDivLoss(reduction="max")
    with pytest.raises(ValueError, match=r"pos_weight of shape \(3,\) does not broadcast"):
        F.binary_cross_entropy_with_logits(p, t, pos_weight=ad.ones(3))
    with pytest.raises(ValueError, match="delta must be positive"):
        F.huber_loss(p, t, delta=0.0)


# ---------------------------------------------------------------- initialisation


@pytest.mark.usefixtures("equal_bits")
def test_initialisation_in_place():
    w = ad.variable(np.zeros((30, 50), "float32"))
    assert nn.init.constant_(w, 2.5) is w
    equal(w, np.full((30, 50), 2.5))
    assert w.requires_grad
    equal(nn.init.eye_(w), np.eye(30, 50))
    equal(nn.init.zeros_(nn.init.ones_(w)), np.zeros((30, 50)))
    nn.init.orthogonal_(w, 2.0)
    np.testing.assert_allclose((w @ w.T).numpy(), 4 * np.eye(30), 0, 1e-4)
    bound = np.sqrt(6 / 80)
    assert 0.95 * bound < np.abs(nn.init.xavier_uniform_(w).numpy()).max() <= bound
    assert nn.init.xavier_normal_(w).numpy().std() == pytest.approx(np.sqrt(2 / 80), rel=0.05)
    assert np.abs(nn.init.kaiming_uniform_(w, mode="fan_out", nonlinearity="relu").numpy()).max() <= np.sqrt(6 / 30)
    assert nn.init.kaiming_normal_(w, nonlinearity="relu").numpy().std() == pytest.approx(np.sqrt(2 / 50), rel=0.05)
    same = [nn.init.normal_(w, generator=ad.random.Generator(5)).numpy() for _ in range(2)]
    np.testing.assert_array_equal(*same)
    for call in (lambda: nn.init.xavier_uniform_(ad.variable([1.0])), lambda: nn.init.orthogonal_(ad.variable([1.0]))):
        with pytest.raises(ValueError, match="two axes or more"):
            call()
    with pytest.raises(ValueError, match="unknown activation 'swish'"):
        nn.init.calculate_gain("swish")


@pytest.mark.parametrize(("low", "high"), [(-2.0, 2.0), (-0.1, 0.3), (1.5, 4.0), (-9.0, 9.0)])
def test_truncated_normal_numbers(low, high):
    import scipy.stats

    w = nn.init.trunc_normal_(ad.variable(np.zeros(20000)), 0.0, 1.0, low, high).numpy()
    assert low <= w.min() and w.max() <= high
    assert scipy.stats.kstest(w, scipy.stats.truncnorm(low, high).cdf).pvalue > 1e-3


def test_the_inverse_error_function():
    import scipy.special

    y = np.concatenate([np.linspace(-0.999999, 0.999999, 1001), [1e-12, 0.0]])
    np.testing.assert_allclose(nn.init._inverse_erf(y), scipy.special.erfinv(y), 1e-9, 1e-15)


def test_a_negative_variance_is_told_or_nan():
    x, target = drawn(4), drawn(4, seed=1)
    with pytest.raises(ValueError, match="must not be negative"):
        F.gaussian_nll_loss(x, target, double([-1.0, 1.0, 1.0, 1.0]))
    each = F.gaussian_nll_loss(x, target, x * 0 - double([-1.0, 1.0, -1.0, -2.0]), reduction="none")
    equal(ad.isnan(each), [False, True, False, False])
