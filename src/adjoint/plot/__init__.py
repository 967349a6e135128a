"""Figures of training and of predictions, drawn by matplotlib (the extra `train`)."""

from .curves import fitted, losses
from .images import predictions

__all__ = ["fitted", "losses", "predictions"]
