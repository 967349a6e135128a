"""Data sets, batches, and images changed at random."""

from adjoint.hints import hinted_module

from .augment import Augmentation
from .collate import default_collate, default_convert
from .datasets import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    ImageFolder,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
    read_csv,
    read_parquet,
)
from .digits import digits
from .idx import read_idx
from .loader import DataLoader
from .mnist import FASHION_CLASSES, fashion_mnist, mnist
from .nist import REGRESSIONS, Regression, regression
from .samplers import (
    BatchSampler,
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)
from .scans import digit_from_image, read_image
from .shakespeare import shakespeare
from .synthetic import moons, shapes, spirals
from .text import Characters, characters, tokenizer
from .workers import WorkerInfo, get_worker_info

__getattr__ = hinted_module("adjoint.data")

__all__ = [
    # batches
    "DataLoader", "default_collate", "default_convert", "get_worker_info", "WorkerInfo", "Augmentation",
    # data sets of one's own
    "Dataset", "IterableDataset", "TensorDataset", "Subset", "ConcatDataset", "ChainDataset", "random_split", "ImageFolder",
    "read_csv", "read_parquet", "read_idx", "read_image",
    # orders
    "Sampler", "SequentialSampler", "RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler", "DistributedSampler",
    "BatchSampler",
    # data
    "FASHION_CLASSES", "REGRESSIONS", "Characters", "Regression", "characters", "digit_from_image", "digits", "fashion_mnist",
    "mnist", "moons", "regression", "shakespeare", "shapes", "spirals", "tokenizer",
]  # fmt: skip
