"""Networks: modules with PyTorch's names, arguments, initialisation and `state_dict` keys."""

from adjoint.hints import hinted_module

from . import functional, init, utils
from .activations import (
    ELU,
    GELU,
    SELU,
    Hardtanh,
    LeakyReLU,
    LogSigmoid,
    LogSoftmax,
    Mish,
    ReLU,
    ReLU6,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from .attention import MultiheadAttention
from .containers import ModuleDict, ModuleList, Sequential
from .embedding import Embedding
from .images import AdaptiveAvgPool2d, AvgPool2d, Conv2d, MaxPool2d
from .linear import Linear
from .losses import (
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    HuberLoss,
    KLDivLoss,
    L1Loss,
    MSELoss,
    NLLLoss,
    SmoothL1Loss,
)
from .module import KeyMismatch, Module, Parameter
from .normalization import BatchNorm1d, BatchNorm2d, GroupNorm, LayerNorm, RMSNorm
from .regularization import Dropout
from .shaping import Flatten, Identity
from .summaries import Summary, summary

__getattr__ = hinted_module("adjoint.nn")

__all__ = [
    # parts
    "Module", "Parameter", "KeyMismatch", "Sequential", "ModuleList", "ModuleDict", "Flatten", "Identity",
    "functional", "init", "utils", "summary", "Summary",
    # layers
    "Linear", "Conv2d", "MaxPool2d", "AvgPool2d", "AdaptiveAvgPool2d", "BatchNorm1d", "BatchNorm2d", "LayerNorm", "RMSNorm",
    "GroupNorm", "Dropout", "Embedding", "MultiheadAttention",
    # activations
    "ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "GELU", "SiLU", "Mish", "Sigmoid", "LogSigmoid", "Tanh", "Hardtanh", "Softplus",
    "Softmax", "LogSoftmax",
    # losses
    "CrossEntropyLoss", "NLLLoss", "BCEWithLogitsLoss", "MSELoss", "L1Loss", "HuberLoss", "SmoothL1Loss", "KLDivLoss",
]  # fmt: skip
