"""Layers under transformations: the derivative of their gradients, compiled and checkpointed, and `vmap`, against PyTorch."""

from __future__ import annotations

import pytest

import adjoint as ad
from adjoint import tree
from twins import close, drawn, pair_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

# name, arguments, options, shapes of the inputs
LAYERS = [
    ("Linear", (3, 4), {}, [(2, 3)]),
    ("Bilinear", (3, 2, 4), {}, [(5, 3), (5, 2)]),
    ("Conv1d", (2, 4, 3), {"stride": 2, "padding": 1, "groups": 2}, [(2, 2, 7)]),
    ("Conv1d", (2, 3, 3), {"padding": 2, "padding_mode": "reflect"}, [(2, 2, 5)]),
    ("Conv2d", (2, 3, 3), {"padding": 1}, [(2, 2, 6, 5)]),
    ("Conv2d", (4, 4, 3), {"groups": 4, "dilation": 2, "padding": "same"}, [(1, 4, 5, 6)]),
    ("Conv3d", (1, 2, 2), {"padding": (1, 0, 1)}, [(1, 1, 3, 3, 2)]),
    ("ConvTranspose1d", (2, 3, 3), {"stride": 2, "padding": 1, "output_padding": 1}, [(2, 2, 4)]),
    ("ConvTranspose2d", (2, 4, 2), {"stride": 2, "groups": 2}, [(1, 2, 3, 3)]),
    ("ConvTranspose3d", (1, 2, 2), {"stride": (1, 2, 1), "dilation": 2}, [(1, 1, 2, 2, 3)]),
    ("BatchNorm1d", (3,), {}, [(4, 3, 5)]),
    ("BatchNorm2d", (2,), {"affine": False, "momentum": None}, [(3, 2, 3, 2)]),
    ("BatchNorm3d", (2,), {"track_running_stats": False}, [(2, 2, 2, 1, 3)]),
    ("InstanceNorm2d", (2,), {"affine": True}, [(2, 2, 3, 3)]),
    ("LayerNorm", ((3, 4),), {}, [(2, 3, 4)]),
    ("GroupNorm", (2, 4), {}, [(3, 4, 5)]),
    ("RMSNorm", (4,), {"eps": 1e-3}, [(3, 4)]),
    ("LocalResponseNorm", (3,), {"alpha": 0.5, "k": 2.0}, [(2, 5, 3)]),
    ("MaxPool1d", (3,), {"stride": 2, "padding": 1}, [(2, 2, 7)]),
    ("MaxPool2d", (3,), {"stride": 2, "dilation": 2, "ceil_mode": True}, [(2, 2, 8, 7)]),
    ("MaxPool3d", (2,), {}, [(1, 2, 4, 2, 3)]),
    ("AvgPool1d", (2,), {"ceil_mode": True, "padding": 1, "count_include_pad": False}, [(2, 2, 5)]),
    ("AvgPool2d", (2,), {"divisor_override": 3}, [(1, 2, 4, 5)]),
    ("AvgPool3d", (2,), {"stride": 1}, [(1, 1, 3, 2, 3)]),
    ("LPPool2d", (3, 2), {}, [(1, 2, 4, 4)]),
    ("AdaptiveAvgPool2d", ((2, 3),), {}, [(1, 2, 5, 4)]),
    ("AdaptiveMaxPool1d", (3,), {}, [(2, 2, 7)]),
    ("AdaptiveMaxPool2d", ((3, 2),), {}, [(1, 2, 5, 4)]),
    *[
        ("Upsample", (), {"size": (5, 7), "mode": mode, **more}, [(1, 2, 3, 4)])
        for mode, more in (("nearest", {}), ("bilinear", {"align_corners": True}), ("bicubic", {}))
    ],
    ("PixelShuffle", (2,), {}, [(1, 8, 2, 3)]),
    ("Unfold", (2,), {"padding": 1, "stride": 2}, [(1, 2, 4, 3)]),
    ("Fold", ((4, 5), 2), {}, [(1, 8, 12)]),
    ("ReflectionPad2d", (1,), {}, [(1, 2, 3, 3)]),
    ("ReplicationPad1d", ((2, 1),), {}, [(2, 2, 3)]),
    ("CircularPad2d", (1,), {}, [(1, 2, 3, 3)]),
    ("RNN", (3, 4), {"num_layers": 2, "nonlinearity": "relu"}, [(5, 2, 3)]),
    ("LSTM", (3, 4), {"bidirectional": True, "batch_first": True}, [(2, 5, 3)]),
    ("LSTM", (3, 4), {"proj_size": 2}, [(4, 2, 3)]),
    ("GRU", (3, 4), {"num_layers": 2, "bidirectional": True}, [(4, 2, 3)]),
    ("RNNCell", (3, 4), {}, [(2, 3)]),
    ("LSTMCell", (3, 4), {}, [(2, 3)]),
    ("GRUCell", (3, 4), {}, [(2, 3), (2, 4)]),
    ("TransformerEncoderLayer", (4, 2, 6), {"dropout": 0.0, "norm_first": True, "activation": "gelu"}, [(3, 2, 4)]),
    ("TransformerDecoderLayer", (4, 2, 6), {"dropout": 0.0, "batch_first": True}, [(2, 3, 4), (2, 5, 4)]),
    ("CosineSimilarity", (), {}, [(3, 4), (3, 4)]),
    ("PairwiseDistance", (), {"p": 3.0}, [(3, 4), (3, 4)]),
    *[
        (name, args, {}, [(3, 4)])
        for name, args in (
            ("ReLU", ()), ("LeakyReLU", (0.2,)), ("PReLU", ()), ("ELU", (0.7,)), ("SELU", ()), ("CELU", (0.5,)), ("GELU", ()),
            ("GELU", ("tanh",)), ("SiLU", ()), ("Mish", ()), ("Sigmoid", ()), ("Tanh", ()), ("Softplus", (3.0, 2.0)),
            ("Softsign", ()), ("Hardtanh", (-0.5, 0.7)), ("Hardswish", ()), ("ReLU6", ()), ("GLU", ()),
            ("Softmax", (1,)), ("LogSoftmax", (0,)), ("Softmin", (1,)), ("LogSigmoid", ()), ("Tanhshrink", ()),
            ("Softshrink", (0.3,)), ("Hardshrink", (0.3,)), ("Threshold", (0.1, 2.0)),
        )
    ],
    *[
        (name, (), options, [(4, 3), (4, 3)])
        for name, options in (
            ("MSELoss", {}), ("L1Loss", {}), ("SmoothL1Loss", {"beta": 0.5}), ("HuberLoss", {"delta": 0.7}),
            ("BCEWithLogitsLoss", {}), ("KLDivLoss", {"log_target": True, "reduction": "batchmean"}),
            ("PoissonNLLLoss", {}),
        )
    ],
    ("TripletMarginLoss", (), {}, [(4, 3)] * 3),
]  # fmt: skip
IDS = [f"{number}-{layer[0]}" for number, layer in enumerate(LAYERS)]


def first(out):
    """The first tensor of an output."""
    while isinstance(out, tuple):
        out = out[0]
    return out


@pytest.mark.parametrize(("name", "args", "options", "shapes"), LAYERS, ids=IDS)
def test_derivatives_of_gradients(name, args, options, shapes):
    ours, theirs = pair_of(name, *args, **options)
    arrays = [drawn(shape, k) for k, shape in enumerate(shapes)]

    inputs = [torch.tensor(a, requires_grad=True) for a in arrays]
    wanted = [*inputs, *theirs.parameters()]
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):  # the others have no second derivatives
        y = first(theirs(*inputs))
    weights = drawn(tuple(y.shape), 99)
    found = torch.autograd.grad((y * y * torch.tensor(weights)).sum(), wanted, create_graph=True)
    directions = [drawn(tuple(g.shape), 50 + k) for k, g in enumerate(found)]
    along = sum((g * torch.tensor(d)).sum() for g, d in zip(found, directions, strict=True))
    expected = torch.autograd.grad(along, wanted, allow_unused=True)
    expected = [torch.zeros_like(w) if g is None else g for w, g in zip(wanted, expected, strict=True)]

    def loss(module, *inputs):
        y = first(module(*inputs))
        return (y * y * ad.tensor(weights)).sum()

    def twice(call):
        def slope(module, *inputs):
            gradients = ad.grad(lambda m, *x: loss(call(m), *x), argnums=tuple(range(len(inputs) + 1)))(module, *inputs)
            leaves = [*gradients[1:], *tree.flatten(gradients[0])[0]]
            return sum((g * ad.tensor(d)).sum() for g, d in zip(leaves, directions, strict=True))

        return ad.grad(slope, argnums=tuple(range(len(arrays) + 1)))

    plain = twice(lambda m: m)
    for derivative in (plain, ad.jit(plain), twice(lambda m: ad.checkpoint(m))):
        state = {key: value.numpy() for key, value in ours.state_dict().items()}
        of_module, *of_inputs = derivative(ours, *map(ad.variable, arrays))
        for g, wished, what in zip([*of_inputs, *tree.flatten(of_module)[0]], expected, range(99), strict=False):
            close(g, wished, "float64", f"{derivative}, {what}")
        ours.load_state_dict(state)


@pytest.mark.parametrize(("name", "args", "options", "shapes"), LAYERS, ids=IDS)
def test_under_vmap(name, args, options, shapes):
    ours, theirs = pair_of(name, *args, **options, train=False)
    arrays = [drawn((3, *shape), k) for k, shape in enumerate(shapes)]
    each = [[torch.tensor(a[k], requires_grad=True) for a in arrays] for k in range(3)]
    outputs = [first(theirs(*x)) for x in each]
    weights = drawn(tuple(outputs[0].shape), 99)
    sum((y * y * torch.tensor(weights)).sum() for y in outputs).backward()

    def loss(*x):
        y = first(ours(*x))
        return (y * y * ad.tensor(weights)).sum(), y

    batched = ad.vmap(ad.grad(loss, argnums=tuple(range(len(shapes))), has_aux=True))
    for f in (batched, ad.jit(batched)):
        gradients, y = f(*map(ad.tensor, arrays))
        close(y, torch.stack(outputs), "float64", "output")
        for number, gradient in enumerate(gradients):
            close(gradient, torch.stack([x[number].grad for x in each]), "float64", f"input {number}")
