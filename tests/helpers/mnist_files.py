"""Small files in the form of MNIST, for tests that must not need the real ones."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np


def idx_bytes(array: np.ndarray) -> bytes:
    """An array of bytes in the IDX format."""
    header = bytes([0, 0, 0x08, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return header + np.ascontiguousarray(array, np.uint8).tobytes()


def write_mnist(folder: Path, train: int = 300, test: int = 100) -> Path:
    """Four gzip files of ten classes that are easy to tell apart: a bright square at a place of its own, and noise."""
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(0)
    for part, count in (("train", train), ("t10k", test)):
        labels = np.arange(count) % 10
        images = generator.integers(0, 60, (count, 28, 28), dtype=np.uint8)
        for image, label in zip(images, labels, strict=True):
            row, column = divmod(int(label), 4)
            image[2 + 8 * row : 8 + 8 * row, 1 + 7 * column : 6 + 7 * column] = 255
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx_bytes(images), 1))
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx_bytes(labels)))
    return folder
