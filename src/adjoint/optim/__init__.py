"""Optimizers: PyTorch's names, arguments, formulas and state."""

from .adam import Adam, AdamW
from .optimizer import Group, Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Group", "Optimizer"]
