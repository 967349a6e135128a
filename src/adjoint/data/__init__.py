"""Data sets, batches, and images changed at random."""

from adjoint.hints import hinted_module

from .augment import Augmentation
from .digits import digits
from .idx import read_idx
from .loader import DataLoader
from .mnist import FASHION_CLASSES, fashion_mnist, mnist
from .scans import digit_from_image, read_image
from .synthetic import moons, spirals
from .text import Characters, characters

__getattr__ = hinted_module("adjoint.data")

__all__ = [
    "FASHION_CLASSES", "Augmentation", "Characters", "DataLoader", "characters", "digit_from_image", "digits",
    "fashion_mnist", "mnist", "moons", "read_idx", "read_image", "spirals",
]  # fmt: skip
