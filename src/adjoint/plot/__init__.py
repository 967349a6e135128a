"""Figures of training and of predictions, drawn by matplotlib (the extra `train`)."""

from .curves import losses
from .images import predictions

__all__ = ["losses", "predictions"]
