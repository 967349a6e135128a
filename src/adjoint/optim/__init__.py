"""Optimizers, learning rate schedules, averaged weights: PyTorch's names, arguments, formulas and state."""

from .adam import Adam, AdamW
from .adaptive import Adadelta, Adafactor, Adagrad, Adamax, Lion, NAdam, RAdam, SparseAdam
from .averages import (
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_avg_fn,
    get_swa_multi_avg_fn,
    update_bn,
)
from .lbfgs import LBFGS
from .muon import Muon
from .optimizer import Group, Optimizer
from .policies import OneCycleLR, ReduceLROnPlateau, SequentialLR
from .rmsprop import RMSprop
from .schedules import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from .sgd import SGD

__all__ = [
    "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "AveragedModel", "ConstantLR", "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts", "ExponentialLR", "Group", "LBFGS", "LRScheduler", "LambdaLR", "LinearLR", "Lion",
    "MultiStepLR", "Muon", "NAdam", "OneCycleLR", "Optimizer", "PolynomialLR", "RAdam", "RMSprop", "ReduceLROnPlateau", "SGD",
    "SequentialLR", "SparseAdam", "StepLR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn",
    "get_swa_multi_avg_fn", "update_bn",
]  # fmt: skip
