"""Optimizers, learning rate schedules, averaged weights: PyTorch's names, arguments, formulas and state."""

from adjoint.hints import hinted_module

from .adam import Adam, AdamW
from .averages import AveragedModel, get_ema_avg_fn, update_bn
from .optimizer import Group, Optimizer
from .policies import OneCycleLR, ReduceLROnPlateau, SequentialLR
from .rmsprop import RMSprop
from .schedules import (
    ConstantLR,
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from .sgd import SGD

__getattr__ = hinted_module("adjoint.optim")

__all__ = [
    "SGD", "Adam", "AdamW", "AveragedModel", "ConstantLR", "CosineAnnealingLR", "ExponentialLR", "Group", "LRScheduler",
    "LambdaLR", "LinearLR", "MultiStepLR", "OneCycleLR", "Optimizer", "PolynomialLR", "RMSprop", "ReduceLROnPlateau",
    "SequentialLR", "StepLR", "get_ema_avg_fn", "update_bn",
]  # fmt: skip
