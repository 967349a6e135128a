"""Figures of training and of predictions, drawn by matplotlib (the extra `train`)."""

from .classes import confusion_matrix, decision_boundary, mistakes
from .curves import losses, rates
from .images import gallery, predictions
from .layers import activations, gradients, histograms, weights

__all__ = [
    "activations", "confusion_matrix", "decision_boundary", "gallery", "gradients", "histograms", "losses", "mistakes",
    "predictions", "rates", "weights",
]  # fmt: skip
