"""MNIST: 70,000 handwritten digits of 28 × 28 pixels (LeCun, Cortes and Burges; http://yann.lecun.com/exdb/mnist/)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from adjoint import _files

from . import download as fetching
from .idx import read_idx, unzip

__all__ = ["mnist"]

MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist/"

# Checksums are of the unzipped files: the same digits travel in differently packed gzip files.
FILES = {
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}


def mnist(
    folder: str | os.PathLike[str] | None = None, train: bool = True, download: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """The 60,000 training or 10,000 test digits: images (N, 28, 28) uint8, labels (N,) int64.

    A pixel is 0 where the paper is empty and 255 where there is ink.

    The four files of the original distribution, gzipped or not, are looked for in `folder` or its subfolder `mnist`; if
    none is given, in the folder that the environment variable ADJOINT_DATA names; if that isn't set, in `data/mnist` of
    the checkout that adjoint runs from, then in `mnist` of the cache (ADJOINT_CACHE, or `adjoint` in XDG_CACHE_HOME
    or ~/.cache). As a last resort they are downloaded into the cache (11 MB) and checked, unless `download=False`.

    Raises FileNotFoundError when a named folder lacks a file, ValueError when a file is damaged, ConnectionError when
    they are nowhere and can't be downloaded.
    """
    part = "train" if train else "t10k"
    images = read_idx(_find(f"{part}-images-idx3-ubyte", folder, download))
    labels = read_idx(_find(f"{part}-labels-idx1-ubyte", folder, download))
    if images.ndim != 3 or images.dtype != np.uint8 or labels.shape != images.shape[:1]:
        raise ValueError(f"MNIST: images {images.dtype} {images.shape} and labels {labels.shape} don't belong together")
    if labels.size and int(labels.max()) > 9:
        raise ValueError(f"MNIST: there is a label {int(labels.max())}; labels are digits")
    return images, labels.astype(np.int64)


def _find(name: str, folder: str | os.PathLike[str] | None, fetch: bool) -> Path:
    named = folder if folder is not None else os.environ.get("ADJOINT_DATA") or None
    if named is not None:
        found = _within(Path(named), name)
        if found is None:
            source = "" if folder is not None else " (from ADJOINT_DATA)"
            if not Path(named).is_dir():
                raise FileNotFoundError(f"the data folder {named}{source} doesn't exist")
            raise FileNotFoundError(f"the data folder {named}{source} lacks {name}.gz; MNIST is {_listing()}")
        return found
    cache = _files.cache_folder() / "mnist"
    for place in (_checkout(), cache):
        found = _within(place, name) if place is not None else None
        if found is not None:
            return found
    if not fetch:
        raise FileNotFoundError(f"MNIST is not on this machine: {name}.gz is not in {cache}. {_remedy()}")
    path = cache / f"{name}.gz"
    try:
        fetching.download(MIRROR + path.name, path, check=lambda data: _check(path.name, data))
    except ConnectionError as error:
        raise ConnectionError(f"MNIST is not on this machine: {error}. {_remedy()}") from error
    return path


def _within(folder: Path, name: str) -> Path | None:
    candidates = [place / file for place in (folder, folder / "mnist") for file in (f"{name}.gz", name)]
    return next((path for path in candidates if path.is_file()), None)


def _checkout() -> Path | None:
    """The data folder of the repository, if this file lies in one."""
    root = Path(__file__).resolve().parents[3]
    return root / "data" / "mnist" if (root / "pyproject.toml").is_file() else None


def _check(name: str, data: bytes) -> None:
    found, expected = fetching.sha256(unzip(data, name)), FILES[name.removesuffix(".gz")]
    if found != expected:
        raise ValueError(f"{name}, downloaded from {MIRROR}, has the wrong checksum {found}; expected {expected}")


def _listing() -> str:
    return ", ".join(f"{file}.gz" for file in FILES)


def _remedy() -> str:
    return f"Put {_listing()} into a folder, and give that folder as an argument or in ADJOINT_DATA"
