"""Autocast on the CPU: which functions and layers compute in which type, and training with it, beside PyTorch."""

import numpy as np
import pytest

import adjoint.torch as own

torch = pytest.importorskip("torch")
pytest.importorskip("ml_dtypes")
pytestmark = pytest.mark.oracle

S, B, IMAGE, VOLUME = (4, 4), (2, 3, 3), (2, 3, 8, 8), (2, 3, 4, 4, 4)
CALLS = {  # by the shapes of their arguments
    (S, S): """torch.mm(*a); torch.matmul(*a); a[0] @ a[1]; torch.inner(*a); torch.linalg.vecdot(*a); torch.tensordot(*a, 1)
        torch.linalg.multi_dot([*a, a[0]]); torch.einsum("ij,jk->ik", *a); torch.einsum("ij,ij->ij", *a)
        torch.einsum("ij,ij->", *a); torch.outer(a[0][0], a[1][0]); torch.mv(a[0], a[1][0]); torch.dot(a[0][0], a[1][0])
        torch.inner(a[0], a[1][0]); torch.kron(*a); F.linear(*a); a[0] + a[1]
        torch.cat(a); torch.stack(a); torch.where(a[0] > 0, *a); torch.cdist(*a); torch.linalg.solve(*a); F.mse_loss(*a)
        F.l1_loss(*a); F.kl_div(*a); F.smooth_l1_loss(*a); F.cross_entropy(*a); F.poisson_nll_loss(*a)
        F.binary_cross_entropy_with_logits(*a); F.cosine_similarity(*a); F.pairwise_distance(*a); torch.polar(*a)""",
    (S,): """torch.exp(*a); torch.softmax(*a, -1); F.gelu(*a); torch.sum(*a); torch.mean(*a); torch.var(*a); torch.prod(*a)
        a[0].prod(0); torch.logsumexp(*a, 0)
        torch.quantile(*a, 0.5); torch.trace(*a); torch.linalg.inv(*a); torch.linalg.svdvals(*a); torch.linalg.eigvalsh(*a)
        torch.fft.fft(*a); torch.linalg.matrix_power(*a, 3); torch.cov(*a); torch.cumsum(*a, 0); torch.linalg.norm(*a)
        F.nll_loss(*a, torch.tensor([0, 1, 2, 3])); torch.pinverse(*a)""",
    (B, B): "torch.bmm(*a); torch.baddbmm(a[0], *a); torch.addbmm(a[0][0], *a); F.scaled_dot_product_attention(a[0], *a)",
    (B, (9, 3)): "F.multi_head_attention_forward(*[a[0]] * 3, 3, 1, a[1], None, None, None, False, 0.0, a[1][:3], None)[0]",
    (IMAGE, (4, 3, 3, 3)): "F.conv2d(*a); F.conv2d(*a, padding=1)",
    (IMAGE, (3, 4, 3, 3)): "F.conv_transpose2d(*a)",
    (IMAGE,): """F.avg_pool2d(*a, 2); F.max_pool2d(*a, 2); F.pad(*a, (1, 1), "constant"); F.interpolate(*a, scale_factor=2)
        F.local_response_norm(*a, 2); F.local_response_norm(a[0][0], 2)
        F.pad(*a, (1, 1, 1, 1), "reflect"); F.pad(*a, (1, 1, 1, 1), "circular"); F.group_norm(*a, 3)""",
    (VOLUME,): "F.avg_pool3d(*a, 2); F.max_pool3d(*a, 2); F.adaptive_avg_pool3d(*a, 2); F.adaptive_max_pool3d(*a, 2)",
    (S, (4,)): "F.prelu(*a); F.layer_norm(a[0], (4,), a[1], a[1]); F.rms_norm(a[0], (4,), a[1])",
}  # fmt: skip
ROWS = [
    (shapes, line.strip()) for shapes, text in CALLS.items() for row in text.splitlines() for line in row.split(";")
]


def made(t, shape, kind):
    x = np.random.default_rng(0).uniform(0.1, 1, shape) + (3 * np.eye(4) if shape == S else 0)
    return t.tensor(x).to(getattr(t, kind))


@pytest.mark.parametrize("shapes, line", ROWS)
def test_a_function_computes_in_the_type_that_its_list_says(shapes, line):
    for kinds in (("float32",) * 2, ("bfloat16",) * 2, ("bfloat16", "float32"), ("float64",) * 2):
        results = []
        for t in (torch, own):
            given = [made(t, shape, kind) for shape, kind in zip(shapes, kinds, strict=False)]
            with t.autocast("cpu", t.bfloat16):
                try:
                    results.append(eval(line, {"torch": t, "F": t.nn.functional, "a": given}))
                except Exception:
                    results.append(None)
        expected, found = results
        if expected is None:  # what PyTorch has no kernel for may have one here
            continue
        assert str(found.dtype).rpartition(".")[2] == str(expected.dtype).rpartition(".")[2], kinds
        near = 1e-10 if kinds[0] == "float64" else 0.04
        wide = "complex128" if expected.dtype.is_complex else "float64"
        np.testing.assert_allclose(
            found.to(getattr(own, wide)).numpy(), expected.to(getattr(torch, wide)).numpy(), near, near
        )


LAYERS = {
    "Linear(4, 4)": S, "Conv1d(3, 4, 3)": (2, 3, 8), "PReLU()": S, "LayerNorm(4)": S, "BatchNorm1d(4)": S,
    "GroupNorm(2, 4)": (2, 4, 5),
    "InstanceNorm1d(4, affine=True)": (2, 4, 5), "LSTM(4, 5)": (3, 2, 4), "GRU(4, 5)": (3, 2, 4), "RNN(4, 5)": (3, 2, 4),
    "LSTMCell(4, 5)": (2, 4), "GRUCell(4, 5)": (2, 4), "TransformerEncoderLayer(4, 2, 8, 0.0)": (3, 2, 4), "Dropout(0.0)": S,
    "MultiheadAttention(4, 2)": (3, 2, 4), "AvgPool3d(2)": VOLUME,
    "LocalResponseNorm(2)": IMAGE, "Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.ReLU())": S,
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_computes_in_the_type_that_its_functions_have(name):
    if name.startswith("LSTM(") and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("PyTorch's own LSTM has no bfloat16 kernel for this processor, and raises")
    torch.manual_seed(0)
    for kind in ("float32", "bfloat16"):
        results, state = [], None
        for t in (torch, own):
            layer = eval(f"nn.{name}", {"nn": t.nn})
            if state is None:
                state = {key: x.numpy() for key, x in layer.state_dict().items()}
            else:
                layer.load_state_dict({key: t.tensor(x) for key, x in state.items()})
            seen = []
            layer.register_forward_hook(lambda layer, given, out, seen=seen: seen.append(1))
            x = made(t, LAYERS[name], kind).requires_grad_()
            with t.autocast("cpu"):
                found = layer(x, x, x) if name.startswith("Multi") else layer(x)
            assert seen == [1]
            first = found if isinstance(found, t.Tensor) else found[0]
            (first * first).sum().backward()
            results.append([first, x.grad, *[p.grad for p in layer.parameters()]])
        for expected, found in zip(*results, strict=True):
            assert str(found.dtype).rpartition(".")[2] == str(expected.dtype).rpartition(".")[2]
            scale = max(1.0, float(expected.detach().abs().max()))
            np.testing.assert_allclose(
                found.detach().double().numpy(), expected.detach().double().numpy(), 0.08, 0.04 * scale
            )


def test_blocks_nest_and_decorate_and_compiled_functions_hear_of_them():
    x = own.ones(2, 2)
    product = own.compile(lambda: x @ x)
    kinds = lambda: {str((x @ x).dtype), str(product().dtype), str(own.mm(x, x).dtype)}  # noqa: E731
    for _ in range(2):
        assert kinds() == {"adjoint.float32"} and not own.is_autocast_enabled("cpu")
        with own.autocast("cpu"):
            assert kinds() == {"adjoint.bfloat16"} and own.is_autocast_enabled("cpu")
            with own.autocast("cpu", enabled=False):
                assert kinds() == {"adjoint.float32"}
            with own.autocast("cpu", own.float16):
                assert kinds() == {"adjoint.float16"} and own.get_autocast_dtype("cpu") is own.float16
            with pytest.warns(UserWarning, match="float32 it is disabled"), own.autocast("cpu", own.float32):
                assert kinds() == {"adjoint.float32"}
            assert own.zeros(2, 2).addmm_(x, x).dtype is own.float32  # what is written in place has its type
            assert own.mm(x, x, out=own.zeros(2, 2)).dtype is own.float32
    assert own.autocast("cpu")(lambda: x @ x)().dtype is own.bfloat16
    with pytest.raises(KeyError), own.autocast("cpu"):
        raise KeyError
    assert kinds() == {"adjoint.float32"}


@pytest.mark.parametrize("t", [torch, own])
def test_an_autocast_reaches_layers_in_every_way_that_they_are_called(t):
    class Called(t.nn.Linear):
        def forward(self, input):
            return super().forward(input) * 2

    x, around = t.rand(2, 4), t.autocast("cpu")
    layers = {"super": Called(4, 3), "normed": t.nn.utils.parametrizations.weight_norm(t.nn.Linear(4, 3))}
    layers["spectral"] = spectral = t.nn.utils.parametrizations.spectral_norm(t.nn.Linear(4, 3))
    layers["hooked"] = hooked = t.nn.Linear(4, 3)
    hooked.register_forward_pre_hook(lambda layer, given: around.__enter__() and None)
    hooked.register_forward_hook(lambda layer, given, out: around.__exit__(None, None, None) or out)
    before = spectral.parametrizations.weight[0]._u.clone()
    assert hooked(x).dtype is t.bfloat16 and layers["super"](x).dtype is t.float32
    with t.autocast("cpu"):
        for name, layer in layers.items():
            out = layer(x)
            assert out.dtype is t.bfloat16, name
            out.float().sum().backward()
            assert all(p.grad.dtype is t.float32 for p in layer.parameters())
    assert (spectral.parametrizations.weight[0]._u != before).any()  # the power iteration went on


@pytest.mark.parametrize("to", [None, "float32", "bfloat16"])
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_functions_say_in_which_types_they_compute(to, device):
    def seen(t):
        found = []
        name = lambda x: str(x.dtype).rpartition(".")[2]  # noqa: E731

        class Product(t.autograd.Function):
            @staticmethod
            @t.amp.custom_fwd(device_type=device, cast_inputs=None if to is None else getattr(t, to))
            def forward(ctx, x):
                ctx.save_for_backward(x)
                found.append([name(x), name(x @ x), t.is_autocast_enabled("cpu")])
                return x @ x

            @staticmethod
            @t.amp.custom_bwd(device_type=device)
            def backward(ctx, gradient):
                (x,) = ctx.saved_tensors
                found.append([name(gradient), name(x @ x), t.is_autocast_enabled("cpu")])
                return gradient

        x = t.ones(2, 2, requires_grad=True)
        with t.autocast("cpu"):
            outside, inside = Product.apply(x * 1), Product.apply(x * 1)
            inside.sum().backward()
        outside.sum().backward()
        Product.apply(x * 1).sum().backward()
        return found

    assert seen(own) == seen(torch)
