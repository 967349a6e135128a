"""Data sets and batches."""

from .idx import read_idx
from .loader import DataLoader
from .mnist import mnist
from .synthetic import moons, spirals

__all__ = ["DataLoader", "mnist", "moons", "read_idx", "spirals"]
