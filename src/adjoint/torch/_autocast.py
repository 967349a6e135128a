"""Inside of `torch.autocast("cpu")`: which functions and layers compute in 16 bits, and which in float32.

A function that is listed is given its floating operands of 32 bits or less in that type; what it calls itself isn't asked
again. What isn't listed promotes as ever. The lists are those of PyTorch's autocast for CPUs. Until an autocast is entered
nothing looks: `NARROW` is empty then.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adjoint import tree
from adjoint.dtypes import AUTOCAST, DTYPES, DType, float32
from adjoint.graph import NARROW
from adjoint.nn.module import Module
from adjoint.nn.utils.parametrize import is_parametrized, type_before_parametrizations
from adjoint.tensors.conversion import dtype_of

from ._tensor import Core, cast_tensor

__all__ = ["apart", "custom_bwd", "custom_fwd", "for_products", "listening", "narrowed"]

NARROWED = frozenset(
    """addbmm addmm affine_grid baddbmm bmm chain_matmul conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
        conv_transpose3d corrcoef cov linear matmul matrix_power mm multi_dot prelu scaled_dot_product_attention tensordot
        vecdot""".split()
)
WIDENED = frozenset(
    """adaptive_avg_pool3d adaptive_max_pool3d adaptive_max_pool3d_with_indices avg_pool3d binary_cross_entropy
        binary_cross_entropy_with_logits cdist cholesky cholesky_ex cholesky_inverse cholesky_solve cond cosine_embedding_loss
        cross_entropy ctc_loss eig eigh eigvals eigvalsh fft fft2 fftn fractional_max_pool2d fractional_max_pool3d geqrf
        grid_sample hfft hfft2 hfftn hinge_embedding_loss householder_product huber_loss ifft ifft2 ifftn ihfft ihfft2 ihfftn
        inv inv_ex inverse irfft irfft2 irfftn kl_div l1_loss lstsq lu_solve margin_ranking_loss matrix_rank max_pool3d
        max_unpool1d max_unpool2d max_unpool3d mse_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss
        nanquantile nll_loss orgqr ormqr pinverse poisson_nll_loss polar prod qr quantile rfft rfft2 rfftn smooth_l1_loss
        soft_margin_loss solve stft svd svdvals tensorinv tensorsolve trace triangular_solve triplet_margin_loss
        view_as_complex""".split()
)
NORMS = frozenset("batch_norm group_norm instance_norm layer_norm rms_norm".split())  # whose parameters stay in float32

NAMES = {  # of layers, by what one of their functions is called
    "linear": """Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LSTM Linear MultiheadAttention PReLU
        RNN RNNCell""",
    "gru": "GRU GRUCell LSTMCell",
    "local_response_norm": "LocalResponseNorm",
    "layer_norm": """BatchNorm1d BatchNorm2d BatchNorm3d GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d
        LayerNorm SyncBatchNorm""",
    "mse_loss": """AdaptiveAvgPool3d AdaptiveMaxPool3d AvgPool3d CTCLoss CosineEmbeddingLoss FractionalMaxPool2d
        FractionalMaxPool3d HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss MarginRankingLoss
        MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d
        MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss PoissonNLLLoss SmoothL1Loss SoftMarginLoss
        TripletMarginLoss""",
}
LAYERS = {name: like for like, names in NAMES.items() for name in names.split()}
OF_PADDING = {"reflect": (1, 2), "replicate": (1, 2, 3)}  # the numbers of axes padded in float32, by mode


def _cast(values: Any, dtype: DType) -> Any:
    """Tensors of 32 bits or less among these as a dtype."""

    def cast(x: Any) -> Any:
        own = x.dtype if isinstance(x, Core) else None
        return (
            cast_tensor(x, dtype)
            if own is not None and own.kind == "f" and own.itemsize < 8 and own is not dtype
            else x
        )

    return tree.map(cast, values)


def for_products(values: Any) -> Any:
    """Operands of products of matrices, in containers, as the autocast that is around has them."""
    dtype = AUTOCAST.get()
    return values if dtype is None else _cast(values, dtype)


def _products(args: tuple[Any, ...]) -> bool:
    """Whether operands of `einsum` are multiplied along an axis that is summed over, as by a product of matrices."""
    if not args or not isinstance(args[0], str) or len(args) < 2:
        return len(args) > 2
    inputs, _, output = args[0].replace(" ", "").partition("->")
    parts = inputs.split(",")
    if "->" not in args[0]:
        output = "".join([letter for letter in set(inputs) if inputs.count(letter) == 1])
    return any(
        [sum([letter in part for part in parts]) > 1 for letter in set(inputs) - set(output) if letter.isalpha()]
    )


def _policy(name: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """Whether a call is narrowed, widened, or a norm; "" for another."""
    if name == "einsum":
        return "narrowed" if _products(args) else ""
    if name == "inner":
        ranks = [x.ndim for x in (*args, *keywords.values()) if isinstance(x, Core)]
        return "narrowed" if min(ranks, default=0) and max(ranks) > 1 else ""  # as `tensordot`; vectors' is a sum
    if name == "local_response_norm":  # averages over volumes, where there are two axes and more
        return "widened" if (args[0] if args else keywords["input"]).ndim > 3 else ""
    if name == "pad":
        mode = keywords.get("mode", args[2] if len(args) > 2 else "constant")
        count = len(keywords.get("pad", args[1] if len(args) > 1 else ())) // 2
        return "widened" if count in OF_PADDING.get(mode, ()) else ""
    return "narrowed" if name in NARROWED else "widened" if name in WIDENED else "norm" if name in NORMS else ""


def under(dtype: DType | None, f: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    """What a function gives within an autocast to a dtype, or without one."""
    before = AUTOCAST.get()
    try:
        AUTOCAST.set(dtype)
        return f(*args, **keywords)
    finally:
        AUTOCAST.set(before)


apart = functools.partial(under, None)


def narrowed(f: Callable[..., Any], name: str | None = None) -> Callable[..., Any]:
    """A function, by its own name or another, as the autocast that is around has it."""
    dtype = AUTOCAST.get()
    if dtype is None:
        return f

    def called(*args: Any, **keywords: Any) -> Any:
        policy = _policy(name or f.__name__, args, keywords)
        if not policy:
            return f(*args, **keywords)
        if policy != "norm":
            args, keywords = _cast((args, keywords), dtype if policy == "narrowed" else float32)
            return apart(f, *args, **keywords)
        first = args[0] if args else keywords["input"]
        if first.dtype.itemsize >= 4:
            return apart(f, *args, **keywords)
        args, keywords = _cast((args, keywords), float32)
        return cast_tensor(apart(f, *args, **keywords), first.dtype)

    return called


def _narrow(layer: Any, dtype: DType) -> Any:
    """A layer like this one, with its tensors of 32 bits, also those that something computes, as a dtype."""
    own = dict(layer.__dict__)
    if is_parametrized(layer):
        own |= {name: getattr(layer, name) for name in own.pop("parametrizations")._kinds}
    kind: Any = type_before_parametrizations(layer)
    other = kind.__new__(kind)
    inner = own.get("out_proj")  # of attention
    other.__dict__.update({name: _cast(x, dtype) if isinstance(x, Core) else x for name, x in own.items()})
    if isinstance(inner, Module):
        other.__dict__["out_proj"] = _narrow(inner, dtype)
    return other


def custom_fwd(fwd: Any = None, *, device_type: Any = "cuda", cast_inputs: Any = None) -> Any:
    """A Function's forward that remembers for its backward which autocast was around; with `cast_inputs` it is given its tensors
    in that type, and computes as if none were."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def called(ctx: Any, *args: Any, **keywords: Any) -> Any:
        around = AUTOCAST.get() if str(device_type) == "cpu" else None
        ctx._autocast = around.name if around is not None and cast_inputs is None else ""
        if around is None or cast_inputs is None:
            return fwd(ctx, *args, **keywords)
        args, keywords = _cast((args, keywords), dtype_of(cast_inputs))
        return apart(fwd, ctx, *args, **keywords)

    return called


def custom_bwd(bwd: Any = None, *, device_type: Any = "cuda") -> Any:
    """A Function's backward, within the autocast that was around its forward."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def called(ctx: Any, *args: Any, **keywords: Any) -> Any:
        if str(device_type) != "cpu":
            return bwd(ctx, *args, **keywords)
        return under(DTYPES.get(ctx._autocast), bwd, ctx, *args, **keywords)

    return called


def listening(layer: str, forward: Callable[..., Any]) -> Callable[..., Any]:
    """The forward pass of a layer of PyTorch's, which computes as the autocast that is around has it."""
    name = LAYERS.get(layer)
    if name is None:
        return forward

    @functools.wraps(forward)
    def called(self: Any, *args: Any, **keywords: Any) -> Any:
        dtype = AUTOCAST.get() if NARROW else None
        if dtype is None:
            return forward(self, *args, **keywords)
        if name not in ("linear", "gru"):
            return narrowed(functools.partial(forward, self), name)(*args, **keywords)
        given, named = _cast((args, keywords), dtype)
        floating = [x for x in tree.flatten(args)[0] if isinstance(x, Core) and x.dtype.kind == "f"]
        found = apart(forward, _narrow(self, dtype), *given, **named)
        return _cast(found, float32) if name == "gru" and floating and floating[0].dtype is float32 else found

    return called
