"""MNIST and Fashion-MNIST: 70,000 labelled grey images of 28 × 28 pixels each.

MNIST are handwritten digits (Y. LeCun, C. Cortes and C. Burges; http://yann.lecun.com/exdb/mnist/). Fashion-MNIST are
articles of clothing (H. Xiao, K. Rasul and R. Vollgraf, 2017; https://github.com/zalandoresearch/fashion-mnist; MIT
licence, © Zalando SE).
"""

from __future__ import annotations

import os

import numpy as np

from .image_sets import FILES, ImageSet

__all__ = ["FASHION_CLASSES", "fashion_mnist", "mnist"]

FASHION_CLASSES = (
    "T-shirt/top", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot",
)  # fmt: skip

_SUMS = {
    "MNIST": (
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
    "Fashion-MNIST": (
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
}


def _image_set(title: str, other: str, folder: str, *mirrors: str, places: tuple[str, ...] = ()) -> ImageSet:
    labels = {_SUMS[other][number]: other for number in (1, 3)}
    return ImageSet(title, folder, mirrors, dict(zip(FILES, _SUMS[title], strict=True)), labels, places)


MNIST = _image_set("MNIST", "Fashion-MNIST", "mnist", "https://ossci-datasets.s3.amazonaws.com/mnist/")
FASHION_MNIST = _image_set(
    "Fashion-MNIST",
    "MNIST",
    "fashion-mnist",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    places=("/usr/share/datasets/fashion-mnist",),  # Debian's package dataset-fashion-mnist
)


def mnist(
    folder: str | os.PathLike[str] | None = None, train: bool = True, download: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """The 60,000 training or 10,000 test digits: images (N, 28, 28) uint8, labels (N,) int64.

    A pixel is 0 where the paper is empty and 255 where there is ink.

    The four files of the original distribution, gzipped or not, are looked for in `folder` or its subfolder `mnist`; if
    none is given, in the folder that the environment variable ADJOINT_DATA names; if that isn't set, in `data/mnist` of
    the checkout that adjoint runs from, then in `mnist` of the cache (ADJOINT_CACHE, or `adjoint` in XDG_CACHE_HOME
    or ~/.cache). As a last resort they are downloaded into the cache (11 MB) and checked, unless `download=False`.

    Raises FileNotFoundError when a named folder lacks a file, ValueError when a file is damaged, has the wrong checksum
    or belongs to another data set, ConnectionError when they are nowhere and can't be downloaded.
    """
    return MNIST.load(folder, train, download)


def fashion_mnist(
    folder: str | os.PathLike[str] | None = None, train: bool = True, download: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """The 60,000 training or 10,000 test articles of clothing: images (N, 28, 28) uint8, labels (N,) int64.

    `data.FASHION_CLASSES` names the ten classes. A pixel is 0 in the background. The files are looked for, downloaded
    (31 MB) and checked as `mnist` does, in folders called `fashion-mnist`; and where Debian's package
    dataset-fashion-mnist puts them. Raises what `mnist` raises.
    """
    return FASHION_MNIST.load(folder, train, download)
