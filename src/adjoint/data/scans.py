"""A photo or scan of one digit, made to look like a digit of MNIST: ink on paper, centred, 28 × 28."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from adjoint import _optional

__all__ = ["digit_from_image", "read_image"]

MOST_PIXELS = 1 << 26  # that a picture may have: they take up to 16 bytes each
LARGEST = 256  # pixels: a larger picture is made smaller before anything is looked for in it
BOX, SIDE = 20, 28  # MNIST's digits fit a box of 20 pixels, and have their centre of mass in the middle of 28
WEAKEST = 0.08  # the least contrast, as a share of black against white, that is taken for ink
SPECK = 0.1  # parts with less than this share of the ink of the largest part are dirt


def read_image(path: str | os.PathLike[str]) -> np.ndarray:
    """A picture as grey levels (height, width), float32 from 0 (black) to 1 (white); what is transparent is white.

    PNG, and what else Pillow reads. Raises FileNotFoundError, ValueError for a file that isn't a picture, ImportError
    without matplotlib, whose reader it is.
    """
    reader = _optional.load("matplotlib.image", purpose="reading pictures", extra="train")
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no picture {path}")
    _check_size(path)
    try:
        array = np.asarray(reader.imread(os.fspath(path)))
    except Exception as error:  # Pillow and matplotlib raise various kinds for what they can't read
        raise ValueError(f"{path} isn't a picture that can be read: {error}") from error
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise ValueError(f"{path} isn't a picture of grey levels or colours: it has the shape {array.shape}")
    levels = array.astype(np.float32) / (np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 1)
    if levels.ndim == 2:
        return levels
    channels = levels.shape[2]
    grey: np.ndarray
    # The weights of ITU-R BT.601 for red, green and blue; one or two channels are grey, and grey with opacity.
    grey = levels[..., :3] @ np.array([0.299, 0.587, 0.114], np.float32) if channels >= 3 else levels[..., 0]
    if channels in (2, 4):
        opacity = levels[..., -1]
        grey = grey * opacity + (1 - opacity)
    return grey


def _check_size(path: str | os.PathLike[str]) -> None:
    """Raise ValueError for a picture of too many pixels: a small file may unpack to gigabytes."""
    pillow = _optional.load("PIL.Image", purpose="reading pictures", extra="train")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Pillow's own limit, which is larger
            with pillow.open(path) as picture:
                width, height = picture.size
    except pillow.DecompressionBombError as error:
        raise ValueError(f"{path} has too many pixels: {error}") from error
    except Exception:  # the reader says what is wrong with it
        return
    if width * height > MOST_PIXELS:
        raise ValueError(
            f"{path} has {width} × {height} pixels; more than {MOST_PIXELS:,} are not read: make the picture smaller"
        )


def digit_from_image(grey: np.ndarray) -> np.ndarray:
    """The digit in a picture (height, width) of grey levels from 0 to 1, as MNIST would have it: (28, 28) uint8.

    The paper may be lighter or darker than the ink, and unevenly lit. What differs from the paper is taken for ink,
    specks and what touches the edge are left out where there is something else, the rest is scaled into a box of 20 × 20
    and put so that its centre of mass is in the middle: 0 is paper, 255 ink. Raises ValueError for a picture that
    is too small, or has nothing on it.
    """
    grey = np.asarray(grey, np.float64)
    if grey.ndim != 2 or min(grey.shape) < 8:
        raise ValueError(f"the picture is too small for a digit: {' × '.join(map(str, grey.shape))} pixels")
    shrink = max(grey.shape) / LARGEST
    if shrink > 1:
        grey = _resized(grey, *(max(8, round(size / shrink)) for size in grey.shape))
    ink = _ink(grey)
    threshold = _otsu(ink)
    if ink.max() < WEAKEST:
        raise ValueError("there is no digit in the picture: nothing on it differs from the paper")
    ink = np.where(_parts_of_digit(ink, ink > threshold), ink, 0)
    rows, columns = (np.flatnonzero(ink.max(axis=axis) > threshold) for axis in (1, 0))
    digit = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    scale = BOX / max(digit.shape)
    digit = _resized(digit, *(max(1, round(size * scale)) for size in digit.shape))
    digit = np.clip(digit / np.quantile(digit[digit > 0.3 * digit.max()], 0.8), 0, 1)
    pixels: np.ndarray = np.rint(255 * _centred(digit)).astype(np.uint8)
    return pixels


def _ink(grey: np.ndarray) -> np.ndarray:
    """How much each pixel differs from the paper, in the direction in which the ink does; 0 for paper.

    The paper's brightness is a polynomial of the second degree in the plane, fitted three times to the pixels that are
    near the fit before: light that falls from one side isn't ink.
    """
    y, x = np.mgrid[-1 : 1 : grey.shape[0] * 1j, -1 : 1 : grey.shape[1] * 1j]
    terms = np.stack([np.ones_like(x), x, y, x * y, x * x, y * y], axis=-1).reshape(-1, 6)
    flat = grey.ravel()
    paper = np.full(flat.shape, np.median(np.concatenate([grey[0], grey[-1], grey[:, 0], grey[:, -1]])))
    for terms_used in (1, 3, 6):
        distance = np.abs(flat - paper)
        near = distance <= max(0.1, float(np.quantile(distance, 0.5)))
        weights, *_ = np.linalg.lstsq(terms[near][:, :terms_used], flat[near], rcond=None)
        paper = terms[:, :terms_used] @ weights
    difference = flat - paper
    # Ink is the side with the strong deviations.
    sign = 1 if np.sum(np.maximum(difference, 0) ** 2) > np.sum(np.maximum(-difference, 0) ** 2) else -1
    ink: np.ndarray = np.maximum(sign * difference, 0).reshape(grey.shape)
    return ink


def _otsu(values: np.ndarray) -> float:
    """The threshold that parts values best into two groups (N. Otsu, 1979), halved: the soft edge of a stroke is ink too."""
    counts, edges = np.histogram(values, 64)
    centres = (edges[:-1] + edges[1:]) / 2
    below, above = np.cumsum(counts)[:-1], np.cumsum(counts[::-1])[::-1][1:]
    sums = np.cumsum(counts * centres)
    means = sums[:-1] / np.maximum(below, 1), (sums[-1] - sums[:-1]) / np.maximum(above, 1)
    return float(edges[1:-1][np.argmax(below * above * (means[0] - means[1]) ** 2)]) / 2


def _parts_of_digit(ink: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The mask without specks, and without what touches the picture's edge unless that is all there is."""
    labels = _connected(mask)
    numbers = np.unique(labels[mask])
    mass = {number: float(ink[labels == number].sum()) for number in numbers.tolist()}
    rim = np.zeros(ink.shape, bool)
    rim[[0, -1]], rim[:, [0, -1]] = True, True
    touching = set(labels[rim & mask].tolist())
    inside = [number for number in mass if number not in touching]
    # A stroke that runs out of the picture is the digit all the same, if what is inside is little against it.
    if not inside or max(mass[number] for number in inside) < SPECK * max(mass.values()):
        inside = list(mass)
    least = SPECK * max(mass[number] for number in inside)
    return np.isin(labels, [number for number in inside if mass[number] >= least])


def _connected(mask: np.ndarray) -> np.ndarray:
    """A number for each connected part of a mask (8 neighbours): every pixel takes the largest number near it, repeatedly."""
    labels = np.where(mask, np.arange(1, mask.size + 1).reshape(mask.shape), 0)
    while True:
        before = labels
        for axis in (0, 1):
            # Along an axis at once: a running maximum that starts again after each gap, in both directions.
            for flip in (False, True):
                line = np.flip(labels, axis) if flip else labels
                line = _running_maximum(line, axis)
                labels = np.flip(line, axis) if flip else line
        around = np.pad(labels, 1)
        height, width = labels.shape
        nearest = np.max([around[r : r + height, c : c + width] for r in (0, 2) for c in (0, 2)], axis=0)
        labels = np.where(mask, np.maximum(labels, nearest), 0)
        if np.array_equal(labels, before):
            return labels


def _running_maximum(labels: np.ndarray, axis: int) -> np.ndarray:
    # A gap lifts all that follows above everything before it, so the maximum can't pass it.
    lift = np.cumsum(labels == 0, axis=axis) * (labels.size + 1)
    return np.where(labels > 0, np.maximum.accumulate(labels + lift, axis=axis) - lift, 0)


def _centred(digit: np.ndarray) -> np.ndarray:
    """The digit on paper of 28 × 28, its centre of mass in the middle, as near as whole pixels and the paper's edge allow."""
    canvas = np.zeros((SIDE, SIDE))
    corner = []
    for axis, size in enumerate(digit.shape):
        mass = digit.sum(axis=1 - axis)
        centre = float(mass @ np.arange(size)) / float(mass.sum())
        corner.append(int(np.clip(round(SIDE / 2 - centre), 0, SIDE - size)))
    top, left = corner
    canvas[top : top + digit.shape[0], left : left + digit.shape[1]] = digit
    return canvas


def _resized(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """The image in another size, each pixel the mean around its place under a triangle as wide as the scale asks for."""
    resized: np.ndarray = _triangle(image.shape[0], height) @ image @ _triangle(image.shape[1], width).T
    return resized


def _triangle(old: int, new: int) -> np.ndarray:
    scale = old / new
    places = (np.arange(new)[:, None] + 0.5) * scale - 0.5
    weights = np.maximum(1 - np.abs(np.arange(old) - places) / max(scale, 1.0), 0)
    matrix: np.ndarray = weights / weights.sum(axis=1, keepdims=True)
    return matrix
