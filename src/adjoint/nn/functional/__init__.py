"""The functions behind the modules of `adjoint.nn`, with PyTorch's names and arguments."""

from adjoint.hints import hinted_module

from .activations import (
    elu,
    gelu,
    hardtanh,
    leaky_relu,
    log_softmax,
    logsigmoid,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softplus,
    tanh,
)
from .attention import dropout, embedding, one_hot, scaled_dot_product_attention
from .images import adaptive_avg_pool2d, avg_pool2d, conv2d, max_pool2d
from .linear import linear
from .losses import (
    binary_cross_entropy_with_logits,
    check_reduction,
    cross_entropy,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from .normalization import batch_norm, group_norm, layer_norm, rms_norm

__getattr__ = hinted_module("adjoint.nn.functional")

__all__ = [
    "adaptive_avg_pool2d", "avg_pool2d", "batch_norm", "binary_cross_entropy_with_logits", "check_reduction", "conv2d",
    "cross_entropy", "dropout", "elu", "embedding", "gelu", "group_norm", "hardtanh", "huber_loss", "kl_div", "l1_loss",
    "layer_norm", "leaky_relu", "linear", "log_softmax", "logsigmoid", "max_pool2d", "mish", "mse_loss", "nll_loss", "one_hot",
    "relu", "relu6", "rms_norm", "scaled_dot_product_attention", "selu", "sigmoid", "silu", "smooth_l1_loss", "softmax",
    "softplus", "tanh",
]  # fmt: skip
