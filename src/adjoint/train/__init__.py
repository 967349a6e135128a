"""Training: the loop for those who want one, checkpoints, and the recipes behind `adjoint train`."""

from .checkpoints import DamagedCheckpoint, load_checkpoint, save_checkpoint
from .fitting import fit
from .history import Epoch, History
from .metrics import accuracy, confusion_matrix, predict
from .mnist import MnistRun, mnist_mlp, mnist_network
from .stopping import EarlyStopping

__all__ = [
    "DamagedCheckpoint", "EarlyStopping", "Epoch", "History", "MnistRun", "accuracy", "confusion_matrix", "fit",
    "load_checkpoint", "mnist_mlp", "mnist_network", "predict", "save_checkpoint",
]  # fmt: skip
