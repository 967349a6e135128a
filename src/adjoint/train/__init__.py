"""Training: the loop for those who want one, checkpoints, and the recipes behind `adjoint train`."""

from .catalogue import NETWORKS, TEXTS, build, example_input
from .checkpoints import DamagedCheckpoint, load_checkpoint, save_checkpoint
from .classifiers import CLASSIFIERS, Classifier, ClassifierRun, probabilities, scaled, train_classifier
from .fitting import fit
from .folder import load_network, save_network
from .history import Epoch, History, percent
from .image_networks import ResidualBlock, ShapeUNet, VariationalAutoencoder, fashion_resnet
from .imaging import ImagingRun, train_unet_shapes, train_vae_mnist, vae_loss
from .metrics import accuracy, confusion_matrix, predict
from .moons import MoonsRun, train_moons
from .networks import CharLSTM, CharTransformer, fashion_cnn, mnist_cnn, mnist_network, moons_network
from .stopping import EarlyStopping
from .tensorboard import TensorBoard, read_events
from .text import TextRun, bits_per_character, char_loss, generate, train_gpt_text, train_lstm_text

__all__ = [
    "CLASSIFIERS", "NETWORKS", "TEXTS", "CharLSTM", "CharTransformer", "Classifier", "ClassifierRun", "DamagedCheckpoint",
    "EarlyStopping", "Epoch", "History", "ImagingRun", "MoonsRun", "ResidualBlock", "ShapeUNet", "TensorBoard", "TextRun",
    "VariationalAutoencoder",
    "accuracy", "bits_per_character", "build", "char_loss",
    "confusion_matrix", "example_input", "fashion_cnn",
    "fashion_resnet", "fit", "generate", "load_checkpoint", "load_network", "mnist_cnn",
    "mnist_network", "moons_network", "percent", "predict", "probabilities", "read_events",
    "save_checkpoint", "save_network", "scaled",
    "train_classifier", "train_gpt_text", "train_lstm_text", "train_moons", "train_unet_shapes", "train_vae_mnist",
    "vae_loss",
]  # fmt: skip
