"""Training: the loop for those who want one, and the recipes behind `adjoint train`."""

from .fitting import Epoch, History, accuracy, fit, predict
from .mnist import MnistRun, mnist_mlp, mnist_network

__all__ = ["Epoch", "History", "MnistRun", "accuracy", "fit", "mnist_mlp", "mnist_network", "predict"]
