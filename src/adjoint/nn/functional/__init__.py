"""The functions behind the modules of `adjoint.nn`, with PyTorch's names and arguments."""

from .activations import gelu, log_softmax, relu, sigmoid, silu, softmax, softplus, tanh
from .images import adaptive_avg_pool2d, avg_pool2d, conv2d, max_pool2d
from .linear import linear
from .losses import (
    binary_cross_entropy_with_logits,
    check_reduction,
    cross_entropy,
    l1_loss,
    mse_loss,
    nll_loss,
)

__all__ = [
    "adaptive_avg_pool2d",
    "avg_pool2d",
    "binary_cross_entropy_with_logits",
    "check_reduction",
    "conv2d",
    "cross_entropy",
    "gelu",
    "l1_loss",
    "linear",
    "log_softmax",
    "max_pool2d",
    "mse_loss",
    "nll_loss",
    "relu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "tanh",
]
