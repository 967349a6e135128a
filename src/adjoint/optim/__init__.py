"""Optimizers, learning rate schedules, averaged weights: PyTorch's names, arguments, formulas and state."""

from adjoint.hints import hinted_module

from .adam import Adam, AdamW
from .adaptive import Adadelta, Adafactor, Adagrad, Adamax, Lion, NAdam, RAdam, SparseAdam
from .averages import (
    SWALR,
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_avg_fn,
    get_swa_multi_avg_fn,
    update_bn,
)
from .classic import ASGD, Rprop
from .lbfgs import LBFGS
from .muon import Muon
from .optimizer import Group, Optimizer
from .policies import ChainedScheduler, CyclicLR, OneCycleLR, ReduceLROnPlateau, SequentialLR
from .rmsprop import RMSprop
from .schedules import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from .sgd import SGD

__getattr__ = hinted_module("adjoint.optim")

__all__ = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "AveragedModel", "ChainedScheduler",
    "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "Group", "LBFGS",
    "LRScheduler", "LambdaLR", "LinearLR", "Lion", "MultiStepLR", "MultiplicativeLR", "Muon", "NAdam", "OneCycleLR",
    "Optimizer", "PolynomialLR", "RAdam", "RMSprop", "ReduceLROnPlateau", "Rprop", "SGD", "SWALR", "SequentialLR",
    "SparseAdam", "StepLR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip
