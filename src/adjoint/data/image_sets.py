"""Data sets of labelled images in four IDX files: where they are looked for, how they are fetched and checked."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from . import download as fetching
from . import lookup
from .idx import parse_idx, unzip

__all__ = ["FILES", "ImageSet"]

# Training images, training labels, test images, test labels: all of them are called so.
FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


@dataclasses.dataclass(frozen=True)
class ImageSet:
    """Ten classes of grey images of 28 × 28 pixels, in the format and under the file names of MNIST.

    `folder` is the name of its folder in the cache and in the checkout; `mirrors` are addresses to which a file name is
    added; `checksums` are the SHA-256 of the unzipped files, for the same data travels in differently packed gzip
    files; `others` are checksums of label files that belong to another data set, by that set's name; `places` are
    folders where a system's packages put the files.
    """

    title: str
    folder: str
    mirrors: tuple[str, ...]
    checksums: Mapping[str, str]
    others: Mapping[str, str]
    places: tuple[str, ...] = ()

    def load(self, folder: str | os.PathLike[str] | None, train: bool, download: bool) -> tuple[np.ndarray, np.ndarray]:
        """Images (N, 28, 28) uint8 and labels (N,) int64. Raises what `data.mnist` says."""
        part = "train" if train else "t10k"
        images = self._read(f"{part}-images-idx3-ubyte", folder, download)
        labels = self._read(f"{part}-labels-idx1-ubyte", folder, download)
        if images.ndim != 3 or images.dtype != np.uint8 or labels.ndim != 1 or labels.shape != images.shape[:1]:
            raise ValueError(
                f"{self.title}: images {images.dtype} {images.shape} and labels {labels.shape} don't belong together"
            )
        if labels.size and int(labels.max()) > 9:
            where = int(labels.argmax())
            raise ValueError(
                f"{self.title}: label {int(labels.max())} at {where} is out of range; there are 10 classes"
            )
        return images, labels.astype(np.int64)

    def _read(self, name: str, folder: str | os.PathLike[str] | None, download: bool) -> np.ndarray:
        path = self._find(name, folder, download)
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = unzip(data, path)
        if "labels" in name:  # small; a folder with the files of the other data set is an easy mistake
            other = self.others.get(fetching.sha256(data))
            if other is not None:
                raise ValueError(f"{path} belongs to {other}, not to {self.title}; name the folder of {self.title}")
        return parse_idx(data, path)

    def _find(self, name: str, folder: str | os.PathLike[str] | None, fetch: bool) -> Path:
        found = lookup.find((f"{name}.gz", name), self.folder, folder, f"{self.title} is {listing()}", self.places)
        if found is not None:
            return found
        cache = lookup.cached(self.folder)
        if not fetch:
            raise FileNotFoundError(f"{self.title} is not on this machine: {name}.gz is not in {cache}. {remedy()}")
        return self._fetch(name, cache / f"{name}.gz")

    def _fetch(self, name: str, path: Path) -> Path:
        """Download one file from the first mirror that has it."""
        failures = []
        for mirror in self.mirrors:
            address = mirror + path.name
            try:
                fetching.download(address, path, check=partial(self._check, name, address))
            except ConnectionError as error:
                failures.append(str(error))
            else:
                return path
        raise ConnectionError(f"{self.title} is not on this machine: {'; '.join(failures)}. {remedy()}")

    def _check(self, name: str, address: str, data: bytes) -> None:
        found, expected = fetching.sha256(unzip(data, address)), self.checksums[name]
        if found != expected:
            raise ValueError(
                f"{name}.gz, downloaded from {address}, has the wrong checksum {found}; expected {expected}"
            )


def listing() -> str:
    """The names of the four files."""
    return ", ".join(f"{file}.gz" for file in FILES)


def remedy() -> str:
    """What somebody without a network can do."""
    return f"Put {listing()} into a folder, and give that folder as an argument or in ADJOINT_DATA"
