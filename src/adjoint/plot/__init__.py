"""Figures of training and of predictions, drawn by matplotlib (the extra `train`)."""

from .classes import confusion_matrix, decision_boundary, mistakes
from .curves import losses, rates
from .images import gallery, predictions
from .layers import activations, gradients, histograms, weights
from .letters import attention, embedding, text

__all__ = [
    "activations", "attention", "confusion_matrix", "decision_boundary", "embedding", "gallery", "gradients", "histograms",
    "losses", "mistakes", "predictions", "rates", "text", "weights",
]  # fmt: skip
