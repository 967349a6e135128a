"""Networks: modules with PyTorch's names, arguments, initialisation and `state_dict` keys."""

from . import functional, utils
from .activations import GELU, LogSoftmax, ReLU, Sigmoid, SiLU, Softmax, Softplus, Tanh
from .containers import ModuleList, Sequential
from .linear import Linear
from .losses import BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from .module import KeyMismatch, Module, Parameter
from .shaping import Flatten, Identity

__all__ = [
    "GELU",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "Flatten",
    "Identity",
    "KeyMismatch",
    "L1Loss",
    "Linear",
    "LogSoftmax",
    "MSELoss",
    "Module",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "functional",
    "utils",
]
